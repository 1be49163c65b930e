"""How many tokens of context an Ollama model is asked for: never fewer than the call needs.

Ollama cuts a longer prompt without a word, and loads the model anew when the number changes. So
one number is kept for each model of a server: it fits the longest call that was expected or made
yet, is a power of two and only ever grows while the process lives.
"""

from __future__ import annotations

import math
import threading

from holodeck.lib.contracts import ChatRequest
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.seam import Seam
from holodeck.lib.tokens import count_tokens

__all__ = ["SMALLEST_CONTEXT", "ContextSize", "prompt_tokens"]

SMALLEST_CONTEXT = 8192
"""What is asked for at least: most calls of a build fit, so that the model is loaded once."""

ANSWER_TOKENS = 2048
"""Room for an answer whose length is not limited."""

LEAST_ANSWER_TOKENS = 256
"""Without this room for an unlimited answer a call is not worth making."""

SAFETY = 1.25
"""Tokens of the model's own vocabulary to one of cl100k_base, at the worst that is expected."""

_TOKENS_AROUND_A_MESSAGE = 8

_lock = threading.Lock()
_grown: dict[tuple[str, str], int] = {}
"""(server, model) → the size in use; for the process, since the loaded model is one for it."""


def prompt_tokens(request: ChatRequest) -> int:
    """Return about how many tokens the request is, tools and calls included."""
    texts = [message.content for message in request.messages]
    texts += [call.arguments for message in request.messages for call in message.tool_calls]
    texts += [f"{tool.name} {tool.description} {tool.parameters}" for tool in request.tools]
    return sum(count_tokens(text) + _TOKENS_AROUND_A_MESSAGE for text in texts)


def _with_room(prompt: int, answer: int | None) -> int:
    return math.ceil(prompt * SAFETY) + (answer or ANSWER_TOKENS)


class ContextSize:
    """The size for one model's calls.

    Args:
        access: Whose ``context_size``, where it is given, is the size.
        seam: Makes the error for a call that cannot fit.
    """

    def __init__(self, access: ModelAccess, seam: Seam) -> None:
        self._fixed = access.context_size
        self._seam = seam
        self._key = (seam.url, access.name)

    def fit(self, prompt: int, answer: int | None, limit: int | None) -> int:
        """Return the size to ask for.

        Args:
            prompt: Tokens of the prompt, as ``prompt_tokens`` counts.
            answer: Greatest length of the answer, where there is one.
            limit: The most that the model takes, where it is known.

        Raises:
            ContextLengthError: The call cannot fit.
        """
        most = min(self._fixed or math.inf, limit or math.inf)
        needed = prompt + (answer or LEAST_ANSWER_TOKENS)
        if needed > most:
            raise self._seam.too_long(
                f"about {prompt} tokens and {answer or 'at least 256'} for the answer, where "
                f"{self._named(most)}"
            )
        if self._fixed is not None:
            return min(self._fixed, limit or self._fixed)
        return self._grow_to(_with_room(prompt, answer), limit)

    def expect(self, prompt: int, answer: int | None) -> None:
        """Let every size from now on hold such a call, as far as the model goes."""
        if self._fixed is None:
            self._grow_to(_with_room(prompt, answer), None)

    def grow(self, size: int, limit: int | None, said: str) -> int:
        """Return a larger size than ``size``, into which a prompt did not fit after all.

        Raises:
            ContextLengthError: There is none.
        """
        if self._fixed is not None or (limit is not None and size >= limit):
            raise self._seam.too_long(f"{said}; {self._named(size)}")
        return self._grow_to(size + 1, limit)

    def _grow_to(self, wanted: int, limit: int | None) -> int:
        rounded = max(SMALLEST_CONTEXT, 1 << (wanted - 1).bit_length())
        with _lock:
            size = max(rounded, _grown.get(self._key, 0))
            size = size if limit is None else min(size, limit)
            _grown[self._key] = size
            return size

    def _named(self, size: float) -> str:
        setting = f"{self._seam.access.where}.context_size"
        is_setting = self._fixed is not None and size >= self._fixed
        return f"{setting} is {size:.0f}" if is_setting else f"the model takes {size:.0f}"
