"""Why some of many calls failed, in a line."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["causes_of"]

_SHOWN = 3


def causes_of(failures: Sequence[str]) -> str:
    """Return the distinct causes, a few of them."""
    causes = list(dict.fromkeys(failures))
    more = [f"and {len(causes) - _SHOWN} more causes"] if len(causes) > _SHOWN else []
    return "; ".join([*causes[:_SHOWN], *more])
