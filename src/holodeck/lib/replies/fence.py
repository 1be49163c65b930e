"""Text that somebody else wrote, put into a prompt as data that cannot end its section."""

from __future__ import annotations

import re
from dataclasses import dataclass

from holodeck.lib.documents import content_id
from holodeck.lib.replies.untrusted import Neutraliser

__all__ = ["Fence", "Fenced"]

_TAG = re.compile(r"<(?=\s*/?\s*data\b)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Fenced:
    """A text between two marks that are made of the text itself, so that none can hold its own.

    Attributes:
        opening: The line that begins it.
        closing: The line that ends it.
        block: Both lines and, between them, the text.
    """

    opening: str
    closing: str
    block: str


class Fence:
    """Fences text for one prompt.

    Args:
        prompt: The prompt as a template: nothing in a fenced text looks like its headings.
    """

    def __init__(self, prompt: str) -> None:
        self._neutral = Neutraliser(prompt)

    def __call__(self, text: str) -> Fenced:
        """Return the text between its marks."""
        mark = content_id(text)[:12]
        opening, closing = f"<data {mark}>", f"</data {mark}>"
        plain = _TAG.sub("‹", self._neutral(text))
        return Fenced(opening=opening, closing=closing, block=f"{opening}\n{plain}\n{closing}")
