"""What converters to Markdown leave behind that is no text."""

from __future__ import annotations

import re

__all__ = ["without_pictures"]

_PICTURE = re.compile(r"!\[([^\]]*)\]\((?:[^()]|\([^()]*\))*\)")


def without_pictures(markdown: str) -> str:
    """Return the text with the description of each picture in place of the picture."""
    return _PICTURE.sub(lambda match: match[1].strip(), markdown)
