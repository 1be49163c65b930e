"""What is indexed, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holodeck.lib.contracts import IndexStatus
    from holodeck.models.tool import VectorstoreTool

__all__ = ["counted", "status_json", "status_lines"]


def status_lines(status: IndexStatus) -> Iterator[str]:
    """Yield what an index holds and what its reader should know, indented."""
    if status.indexed_at is not None:
        yield f"  {counted(status)}"
    if status.skipped:
        yield f"  {_number(len(status.skipped), 'files')} skipped:"
        for path, reason in status.skipped.items():
            yield f"    {path}: {reason}"
    for warning in status.warnings:
        yield f"  warning: {warning}"
    yield f"  index: {status.location}"


def counted(status: IndexStatus) -> str:
    """Return the counts in words: ``4 files, 1 entity``."""
    return ", ".join(_number(count, name) for name, count in status.counts.items())


def status_json(tool: VectorstoreTool, status: IndexStatus) -> dict[str, Any]:  # Any: JSON
    """Return the status of a tool's index as ``--json`` prints it."""
    return {
        "name": tool.name,
        "engine": tool.engine,
        "location": status.location,
        "indexed_at": status.indexed_at,
        "up_to_date": status.stale_reason is None,
        "stale_reason": status.stale_reason,
        "counts": dict(status.counts),
        "skipped": dict(status.skipped),
        "warnings": list(status.warnings),
    }


def _number(count: int, plural: str) -> str:
    words = plural.replace("_", " ")
    if count == 1:
        words = words.removesuffix("ies") + "y" if words.endswith("ies") else words[:-1]
    return f"{count:,} {words}"
