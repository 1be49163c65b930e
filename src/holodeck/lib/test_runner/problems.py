"""What is wrong with objects and code that somebody else made."""

from __future__ import annotations

from pydantic import ValidationError

__all__ = ["problems_in", "said"]


def problems_in(error: ValidationError, whole: str) -> str:
    """Say in one line what is wrong with which field; ``whole`` names the object itself."""
    return "; ".join(
        f"{'.'.join(str(part) for part in item['loc']) or whole}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)
    )


def said(error: BaseException) -> str:
    """Return an error of somebody's code in words, also one that cannot say what it is."""
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001  # its own code too
        text = "it cannot say why"
    return f"{type(error).__name__}: {text}".removesuffix(": ")
