"""Tokens of lines whose records are numbered anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holodeck.lib.graphrag.counted_lines import CountedLines
from holodeck.lib.indexes.step_memo import StepMemo
from holodeck.lib.tokens import count_tokens

pytestmark = pytest.mark.unit

_number = st.integers(0, 10**9).map(str)
_piece = st.one_of(
    _number,
    st.sampled_from(["|", ", ", " (", ")", "(", " ", "\n", "Entities (", "²", "٣", "Ⅳ", "é", "'s"]),
    st.text(max_size=4),
)
_line = st.lists(_piece, max_size=12).map("".join)


def test_every_run_of_three_digits_is_one_token() -> None:
    """What the counting of numbers rests on."""
    numbers = [f"{number:0{width}}" for width in (1, 2, 3) for number in range(10**width)]

    assert {count_tokens(number) for number in numbers} == {1}


@given(lines=st.lists(_line, min_size=1, max_size=8))
@settings(max_examples=300, deadline=None)
def test_a_line_is_counted_as_it_is_whatever_was_counted_before(lines: list[str]) -> None:
    """Figures of any script, at any place, beside anything."""
    count = CountedLines(StepMemo())

    assert [count(line) for line in lines] == [count_tokens(line) for line in lines]


def test_other_numbers_are_not_counted_again(tmp_path: Path) -> None:
    """A line of before with the numbers of now takes nothing but a look."""
    memo = StepMemo()
    CountedLines(memo)("7|Ann|runs Orion [Data: Entities (3, 99), Reports (7)]|2\n")
    memo.write(tmp_path / "steps.memo")
    again = StepMemo(tmp_path / "steps.memo")
    line = "1012|Ann|runs Orion [Data: Entities (1234567, 8), Reports (12)]|2\n"

    assert CountedLines(again)(line) == count_tokens(line)
    again.write(tmp_path / "after.memo")
    assert (tmp_path / "after.memo").read_bytes() == (tmp_path / "steps.memo").read_bytes()
