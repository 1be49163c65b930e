"""Which optional packages belong to which extra: the only place that knows."""

from __future__ import annotations

from importlib.util import find_spec

from holodeck.errors import MissingExtraError

__all__ = ["EXTRAS", "has_extra", "require_extra"]

EXTRAS: dict[str, tuple[str, ...]] = {
    "graphrag": ("graphrag", "graphrag_llm", "graphrag_storage", "graphrag_vectors"),
    "embedded": ("wordllama", "safetensors", "textblob"),
    "documents": ("pypdf", "markitdown", "pptx", "openpyxl"),
    "agents": ("pydantic_ai",),
    "evaluation": ("rouge_score", "sacrebleu"),
}
"""Extra → the top-level modules that it brings."""


def has_extra(extra: str) -> bool:
    """Tell whether every package of ``extra`` is installed, without importing any."""
    return all(find_spec(module) is not None for module in EXTRAS[extra])


def require_extra(extra: str, why: str) -> None:
    """Raise unless ``extra`` is installed.

    Args:
        extra: A key of ``EXTRAS``.
        why: What needs it, as the subject of a sentence (``"engine: graphrag"``).

    Raises:
        MissingExtraError: Names the extra and how to add it.
    """
    missing = [module for module in EXTRAS[extra] if find_spec(module) is None]
    if missing:
        raise MissingExtraError(
            f"{why} needs the package {missing[0]!r}, which is not installed. Add it with "
            f"'pip install holodeck[{extra}]' (in a checkout: pip install -e '.[{extra}]')"
        )
