"""The seam where a server's failures become errors of ours, whatever client met them.

Each provider has one small subclass that reads its own client's exceptions (``openai_errors``,
``ollama_errors``); what a status means and what a message says is here.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

from holodeck.errors import (
    AuthenticationError,
    ContentFilterError,
    ContextLengthError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
)
from holodeck.lib.providers import PROVIDER_TABLE
from holodeck.lib.providers.access import ModelAccess

__all__ = ["Refusal", "Seam", "wait_told_by"]

_SAID_LENGTH = 300
_SHORT = 8
"""Characters below which a secret is masked where it stands alone only."""
_PASSING = (408, 409)
_FILTER_CODES = ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation")
# Compatible servers send the sentence without the code.
_LENGTH_SIGNS = (
    "context_length_exceeded",
    "maximum context length",
    "context window",
    "exceeds the context length",
    "exceeds maximum context length",
)


def wait_told_by(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait that a reply's headers ask for, if they do.

    ``retry-after-ms`` goes before ``Retry-After``, which may be seconds or a moment; a moment
    counts from the server's own ``Date``, so that a wrong clock here does no harm.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    told = headers.get("retry-after")
    if told is None:
        return None
    seconds = _number(told)
    if seconds is not None:
        return max(0.0, seconds)
    moment = _moment(told)
    if moment is None:
        return None
    now = _moment(headers.get("date"))
    return max(0.0, moment - (time.time() if now is None else now))


def _number(text: str | None) -> float | None:
    try:
        number = None if text is None else float(text)
    except ValueError:
        return None
    return number if number is not None and math.isfinite(number) else None


def _moment(text: str | None) -> float | None:
    try:
        return None if text is None else parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An answer that is an error.

    Attributes:
        status: The HTTP status.
        said: The server's own words.
        code: The vendor's error code, where it sends one.
        headers: The reply's headers, names in any case that the mapping understands.
    """

    status: int
    said: str
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Seam:
    """Makes the errors of one model, without any secret in them.

    Attributes:
        access: The model that was asked.
        url: The server's URL without credentials.
        secrets: Texts that no message may hold; a server may echo them.
    """

    access: ModelAccess
    url: str
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def translate(self, error: Exception, purpose: str) -> ProviderError:
        """Return the error of ours for ``error``, which a call for ``purpose`` raised.

        It does not keep ``error`` as its cause: a client's error holds the request's headers,
        the server's words and with them, at worst, the key.
        """
        raise NotImplementedError("each provider reads its own client's errors")

    # --- what a subclass says differently -----------------------------------------------------

    @property
    def start_advice(self) -> str:
        """What to do when nobody answers."""
        return f"check {self.access.where}.api_base and that the server runs"

    @property
    def missing_advice(self) -> str:
        """What to do when the server does not know the model."""
        return f"check {self.access.where}.name and {self.access.where}.api_base"

    @property
    def length_advice(self) -> str:
        """What to do when the model cannot take so long a request."""
        return "use smaller chunks or a smaller context, or a model that takes more"

    # --- the errors ---------------------------------------------------------------------------

    def unusable(self, why: str, *, retryable: bool = True) -> ProviderError:
        """Return the error for a reply that came and cannot be used."""
        return ProviderError(
            f"{self._subject} sent no usable reply: {self.clean(why)}", retryable=retryable
        )

    def filtered(self, said: str, *, status: int | None = None) -> ContentFilterError:
        """Return the error for a text that the server would not answer."""
        return ContentFilterError(
            f"{self._subject} refused this text: {self.clean(said)}", status=status
        )

    def too_long(self, said: str, *, status: int | None = None) -> ContextLengthError:
        """Return the error for a request that is longer than the model takes."""
        return ContextLengthError(
            f"{self._subject} cannot take a request this long ({self.clean(said)}): "
            f"{self.length_advice}",
            status=status,
        )

    def late(self, purpose: str) -> ProviderTimeoutError:
        """Return the error for an answer that did not come in time."""
        return ProviderTimeoutError(
            f"{self._subject} did not answer a call for {purpose!r} within "
            f"{self.access.timeout:g} s: raise {self.access.timeout_setting}, or see whether the "
            "server is overloaded",
            retryable=True,
        )

    def unsendable(self) -> ProviderError:
        """Return the error for a request that no client can write down."""
        # Not what the client says: it quotes the header, and with it the key.
        return ProviderError(
            f"{self._subject} cannot be asked: {self.access.where}.api_key or a text holds "
            "characters that cannot be sent"
        )

    def unreachable(self, reason: str) -> ProviderError:
        """Return the error for a server that nobody answered at."""
        return ProviderError(
            f"{self._subject} cannot be reached ({self.clean(reason)}): {self.start_advice}",
            retryable=True,
        )

    def broken_off(self, reason: str) -> ProviderError:
        """Return the error for a reply that began, and whose connection ended before it did."""
        return self.unusable(f"it broke off ({reason}): ask again")

    def refused(self, refusal: Refusal) -> ProviderError:
        """Return the error that the status, the code and the words of an answer stand for."""
        status, code = refusal.status, refusal.code
        said = f"{status}: {self.clean(refusal.said)}"
        if status in (401, 403):
            return AuthenticationError(
                f"{self._subject} does not accept the API key ({said}): {self._key_hint}",
                status=status,
            )
        if status == 429:
            return self._limited(said, code, wait_told_by(refusal.headers))
        if code in _FILTER_CODES:
            return self.filtered(said, status=status)
        if any(sign in f"{code} {said}".lower() for sign in _LENGTH_SIGNS):
            return self.too_long(said, status=status)
        if status == 404:
            return ProviderError(
                f"{self._subject} was not found ({said}): {self.missing_advice}", status=status
            )
        if status in _PASSING or status >= 500:
            return ProviderError(
                f"{self._subject} failed ({said}): try again later",
                retryable=True,
                status=status,
                retry_after=wait_told_by(refusal.headers),
            )
        return ProviderError(
            f"{self._subject} refused the request ({said}): check the settings of "
            f"{self.access.where}",
            status=status,
        )

    def _limited(self, said: str, code: str, wait: float | None) -> RateLimitError:
        if code == "insufficient_quota":
            return RateLimitError(
                f"{self._subject}: the account's quota is used up ({said}): waiting does not "
                "help, see the account's billing",
                status=429,
            )
        return RateLimitError(
            f"{self._subject} limits the rate of calls ({said}): lower execution.concurrency, "
            "or run again later",
            retryable=True,
            status=429,
            retry_after=wait,
        )

    @property
    def _subject(self) -> str:
        access = self.access
        return f"{access.provider} model {access.name!r} at {self.url} ({access.where})"

    @property
    def _key_hint(self) -> str:
        rows = {str(name): row for name, row in PROVIDER_TABLE.items()}
        variable = rows[self.access.provider].key_variable if self.access.provider in rows else None
        setting = f"{self.access.where}.api_key"
        return f"set {setting}" if variable is None else f"set {variable} or {setting}"

    def clean(self, text: str) -> str:
        """Return ``text`` on one line, cut, without secrets."""
        for secret in self.secrets:
            found = re.escape(secret)
            # A short one, as servers of one's own take, stands in many words by chance.
            whole = found if len(secret) >= _SHORT else rf"(?<!\w){found}(?!\w)"
            text = re.sub(whole, "***", text)
        text = " ".join(text.split())
        return text if len(text) <= _SAID_LENGTH else text[:_SAID_LENGTH] + "…"
