"""Tokens of lines, remembered whatever the numbers of their records are.

Records are numbered in the order of their ids, so that one more moves the numbers of all behind it:
nearly every line differs from that of before, by numbers only.
"""

from __future__ import annotations

import re

from holodeck.lib.indexes.step_memo import StepMemo, memo_key
from holodeck.lib.tokens import count_tokens

__all__ = ["CountedLines"]

_DIGITS = re.compile(r"[0-9]+(?=[),|])")
_BEFORE = "(,| "
_OF_A_TOKEN = 3
"""Digits that are one token: a run of digits is cut into so many, whatever stands around it."""


class CountedLines:
    """Counts as ``count_tokens`` does.

    Args:
        memo: Of what was counted before.
    """

    def __init__(self, memo: StepMemo) -> None:
        self._memo = memo

    def __call__(self, line: str) -> int:
        """Return the tokens of a line."""
        more = 0

        def one(digits: re.Match[str]) -> str:
            nonlocal more
            start = digits.start()
            if start and line[start - 1] not in _BEFORE:
                return digits[0]  # a letter or another figure before it may belong to it
            more += (len(digits[0]) - 1) // _OF_A_TOKEN
            return "0"

        alike = _DIGITS.sub(one, line)
        key = memo_key("tokens", alike)
        known: int | None = self._memo.get(key)
        if known is None:
            known = count_tokens(alike)
            self._memo.put(key, known)
        return known + more
