"""Text for a terminal: broken between words, also while it is still being made."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TextIO

__all__ = ["Fitter", "fitted", "width_of"]

_RUNS = re.compile(r"\n|[ \t]+|[^ \t\n]+")
_MARKER = re.compile(r"[-*•]|\d{1,3}[.)]")
_FENCE = "```"
_FIRST_WIDE = "\u1100"
"""No character before it is two cells wide."""


def width_of(stream: TextIO) -> int | None:
    """Return the columns of the terminal behind a stream; ``None`` where there is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def fitted(text: str, width: int) -> str:
    """Return a whole text for a terminal of so many columns."""
    fitter = Fitter(width)
    return fitter.feed(text) + fitter.flush()


class Fitter:
    """Breaks lines between words as they come; code and tables stay as they are.

    Lines that go on are indented like the text of their list or block. A word that is longer than
    a line is left to the terminal.

    Args:
        width: Columns of the terminal.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._is_code = False
        self._word = ""
        self._begin_line()

    def _begin_line(self) -> None:
        self._column = 0
        self._blanks = ""
        self._hanging = 0
        self._is_first = True
        self._is_verbatim = self._is_code

    def feed(self, text: str) -> str:
        """Return what can be written of a piece; the word at its end waits for the next one."""
        return "".join(self._pieces(text))

    def flush(self) -> str:
        """Return the word that waits."""
        return self._place()

    def _pieces(self, text: str) -> Iterator[str]:
        for run in _RUNS.findall(text):
            if run == "\n":
                yield self._place() + self._blanks + "\n"
                self._begin_line()
            elif run[0] in " \t":
                yield self._place()
                self._blanks += run.expandtabs(4)
            else:
                yield from self._characters(run)

    def _characters(self, run: str) -> Iterator[str]:
        """Take a run without blanks; a wide script may be broken before each character."""
        if max(run) < _FIRST_WIDE:
            self._word += run
            return
        for character in run:
            if character >= _FIRST_WIDE and _cells(character) == 2:
                yield self._place()
                self._word = character
                yield self._place()
            else:
                self._word += character

    def _place(self) -> str:
        """Return the word that waits with what goes before it, and go on behind it."""
        word, blanks = self._word, self._blanks
        if not word:
            return ""
        self._word = self._blanks = ""
        if self._is_first:
            self._look_at_beginning(word, len(blanks))
        cells = _cells(word)
        end = self._column + len(blanks) + cells
        fits_below = self._hanging + cells <= self._width
        if self._is_verbatim or end <= self._width or not fits_below or not self._column:
            self._column = end
            return blanks + word
        self._column = self._hanging + cells
        return "\n" + " " * self._hanging + word

    def _look_at_beginning(self, word: str, indent: int) -> None:
        self._is_first = False
        if word.startswith(_FENCE):
            self._is_code = not self._is_code
            self._is_verbatim = True
        self._is_verbatim = self._is_verbatim or word.startswith("|")
        if _MARKER.fullmatch(word):
            self._hanging = indent + len(word) + 1
        elif indent:
            self._hanging = indent + 2


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
