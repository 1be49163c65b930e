"""What is wrong with an object that somebody else made."""

from __future__ import annotations

from pydantic import ValidationError

__all__ = ["problems_in"]


def problems_in(error: ValidationError, whole: str) -> str:
    """Say in one line what is wrong with which field; ``whole`` names the object itself."""
    return "; ".join(
        f"{'.'.join(str(part) for part in item['loc']) or whole}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)
    )
