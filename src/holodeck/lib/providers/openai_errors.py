"""What the OpenAI client raises, as errors of ours: each is mapped here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass

import httpx
import openai

from holodeck.errors import ProviderError
from holodeck.lib.providers.http_client import BROKEN_OFF
from holodeck.lib.providers.seam import Refusal, Seam, wait_told_by

__all__ = ["CLIENT_ERRORS", "ErrorSeam", "wait_told_by"]

CLIENT_ERRORS = (openai.OpenAIError, httpx.HTTPError, TimeoutError, ValueError)
"""What a call of the client may raise; ValueError: a body that claims to be JSON and is none."""


@dataclass(frozen=True, kw_only=True)
class ErrorSeam(Seam):
    """Reads the OpenAI client's errors."""

    def translate(self, error: Exception, purpose: str) -> ProviderError:
        """Return the error of ours for ``error``, which a call for ``purpose`` raised."""
        if isinstance(error, openai.APIStatusError):
            return self.refused(_refusal(error))
        cause = error.__cause__ or error
        if isinstance(cause, UnicodeEncodeError | httpx.LocalProtocolError):
            return self.unsendable()
        connecting = isinstance(cause, httpx.ConnectTimeout)
        late = isinstance(error, openai.APITimeoutError | httpx.TimeoutException | TimeoutError)
        if late and not connecting:
            return self.late(purpose)
        if isinstance(error, BROKEN_OFF) or isinstance(cause, BROKEN_OFF):
            return self.broken_off(str(cause) or type(cause).__name__)
        if isinstance(error, openai.APIConnectionError | httpx.HTTPError):
            return self.unreachable(str(cause) or type(cause).__name__)
        return self.unusable(str(error))


def _refusal(error: openai.APIStatusError) -> Refusal:
    body = error.body
    if isinstance(body, dict):
        said = str(body.get("message") or body.get("detail") or body)
    else:
        said = error.response.text or error.message
    return Refusal(
        status=error.status_code,
        said=said,
        code=str(error.code or error.type or ""),
        headers=error.response.headers,
    )
