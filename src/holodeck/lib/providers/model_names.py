"""What a model's name tells of it."""

from __future__ import annotations

import re

__all__ = ["counts_thoughts"]

_THINKING = re.compile(r"^(o[134]|gpt-5)")


def counts_thoughts(model: str) -> bool:
    """Tell whether the model's thoughts count as output; it refuses the older name of the limit."""
    family = model.rpartition("/")[2]  # gateways put the vendor's name before it
    return _THINKING.match(family) is not None
