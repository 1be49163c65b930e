"""What is indexed, in words."""

from __future__ import annotations

from holodeck.cli.summary import counted, status_lines
from holodeck.lib.contracts import IndexStatus


def test_counts_are_words() -> None:
    """One is singular, thousands are grouped, and names are read, not spelled as in code."""
    status = IndexStatus(
        location="/i", counts={"files": 1, "text_units": 1234, "entities": 1, "communities": 0}
    )

    assert counted(status) == "1 file, 1,234 text units, 1 entity, 0 communities"


def test_losses_are_always_said() -> None:
    """Each skipped file has its reason, each warning its line."""
    status = IndexStatus(
        location="/i",
        indexed_at="2026-01-01T00:00:00+00:00",
        counts={"files": 2},
        skipped={"scan.pdf": "no extractable text"},
        warnings=("row 3 is short",),
    )

    assert list(status_lines(status)) == [
        "  2 files",
        "  1 file skipped:",
        "    scan.pdf: no extractable text",
        "  warning: row 3 is short",
        "  index: /i",
    ]
