"""What an index cost, over all its builds."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from holodeck.lib.contracts import MeterRow, Spent, Usage
from holodeck.lib.indexes.ledger import Bookkeeper, Ledger
from holodeck.lib.spending import summed


def row(purpose: str, calls: int = 1, *, cost: float = 0.5, unpriced: int = 0) -> MeterRow:
    usage = Usage(input_tokens=10 * calls, output_tokens=calls)
    spent = Spent(calls=calls, usage=usage, cost=cost, unpriced=unpriced)
    return MeterRow(provider="openai", model="gpt-4o", purpose=purpose, spent=spent)


def test_notes_add_up(tmp_path: Path) -> None:
    """The sums of all notes by purpose, those of other processes too; none is no cost."""
    ledger = Ledger(tmp_path / "spending.jsonl")
    assert ledger.rows() == ()

    ledger.add([row("extract", 2), row("report", unpriced=1, cost=0.0)])
    Ledger(tmp_path / "spending.jsonl").add([row("extract", 3)])

    assert ledger.rows() == (
        row("extract", 5, cost=1.0),
        row("report", unpriced=1, cost=0.0),
    )


def test_compacting_keeps_the_sums(tmp_path: Path) -> None:
    """One line for each sum is left of many."""
    path = tmp_path / "spending.jsonl"
    ledger = Ledger(path)
    ledger.compact()
    for _ in range(5):
        ledger.add([row("extract")])
    before = ledger.rows()

    ledger.compact()

    assert ledger.rows() == before
    assert len(path.read_text("utf-8").splitlines()) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_half_a_line_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A note that a kill cut off is warned of, and the next one stands on a line of its own."""
    path = tmp_path / "spending.jsonl"
    ledger = Ledger(path)
    ledger.add([row("extract")])
    with path.open("ab") as stream:
        stream.write(b'{"provider": "open')
    ledger.add([row("extract")])

    with caplog.at_level(logging.WARNING):
        assert ledger.rows() == (row("extract", 2, cost=1.0),)
    assert len(caplog.records) == 1


def test_notes_that_cannot_be_read_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What an index cost is no reason not to search it."""
    (tmp_path / "spending.jsonl").mkdir()

    assert Ledger(tmp_path / "spending.jsonl").rows() == ()
    assert "what earlier builds cost is not known" in caplog.text


def test_a_bookkeeper_notes_what_is_new(tmp_path: Path) -> None:
    """What was counted before it began is not its business; nothing is noted twice."""
    ledger = Ledger(tmp_path / "spending.jsonl")
    counted = [row("extract", 2, cost=1.0)]
    keeper = Bookkeeper(ledger, lambda: tuple(counted))
    keeper.note()
    assert ledger.rows() == ()

    counted[0] = row("extract", 5, cost=2.5)
    counted.append(row("report"))
    keeper.note()
    keeper.note()
    keeper.note_now_and_then()  # not a while ago

    assert ledger.rows() == keeper.spent == (row("extract", 3, cost=1.5), row("report"))


def test_rows_of_one_model_and_purpose_are_one() -> None:
    """Sums are sorted by provider, model and purpose."""
    assert summed([row("b"), row("a"), row("b")]) == (row("a"), row("b", 2, cost=1.0))
