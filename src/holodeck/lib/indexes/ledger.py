"""What an index cost since it was last cleared: a file beside it, one line a note.

Lines are appended while a build runs, so that a failed, stopped or killed one is in the sum too.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from holodeck.lib.contracts import MeterRow, Spent, Usage
from holodeck.lib.spending import summed, total
from holodeck.lib.whole_text import replacing

__all__ = ["LEDGER_FILE", "Bookkeeper", "Ledger"]

logger = logging.getLogger(__name__)

LEDGER_FILE = "spending.jsonl"

_NOTE_SECONDS = 1.0
"""Between two notes of a running build: what a kill may leave out."""

_Key = tuple[str, str, str]


class Ledger:
    """The notes of one index.

    Args:
        path: The file; made with the first note.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self) -> tuple[MeterRow, ...]:
        """Return the sums by provider, model and purpose; what cannot be read is left out."""
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            logger.warning(
                "what earlier builds cost is not known: %s cannot be read (%s)", self._path, error
            )
            return ()
        return summed(row for line in lines if (row := self._parse(line)) is not None)

    def add(self, rows: Sequence[MeterRow]) -> None:
        """Note what was spent; a file that ends in half a line goes on with a new one."""
        lines = [json.dumps(_to_json(row), ensure_ascii=False) for row in rows]
        if not lines:
            return
        with self._path.open("a+b") as stream:
            stream.seek(0, os.SEEK_END)
            if stream.tell():
                stream.seek(-1, os.SEEK_END)
                if stream.read(1) != b"\n":
                    stream.write(b"\n")
            stream.write(("\n".join(lines) + "\n").encode("utf-8"))

    def compact(self) -> None:
        """Write one line for each sum, in one step; nobody may be adding meanwhile."""
        rows = self.rows()
        if rows:
            with replacing(self._path) as staged:
                staged.unlink(missing_ok=True)  # of a killed process of this number
                Ledger(staged).add(rows)

    def clear(self) -> None:
        """Forget everything."""
        self._path.unlink(missing_ok=True)

    def _parse(self, line: str) -> MeterRow | None:
        if not line.strip():
            return None
        try:
            return _from_json(json.loads(line))
        except (ValueError, TypeError, KeyError):
            logger.warning("a line of %s is damaged and is not in the sum", self._path)
            return None


class Bookkeeper:
    """Notes what a meter counts, from now on.

    Args:
        ledger: Where.
        rows: Returns the meter's rows.
    """

    def __init__(self, ledger: Ledger, rows: Callable[[], Sequence[MeterRow]]) -> None:
        self._ledger = ledger
        self._rows = rows
        self._begun = self._noted = _by_key(rows())
        self._next = time.monotonic() + _NOTE_SECONDS
        self._noting = threading.Lock()

    @property
    def total(self) -> Spent:
        """What was counted since this began, over everything."""
        return total(self.spent)

    @property
    def spent(self) -> tuple[MeterRow, ...]:
        """What was counted since this began."""
        return _difference(_by_key(self._rows()), self._begun)

    def note_now_and_then(self) -> None:
        """Note what is new, if the last note was a while ago."""
        if time.monotonic() >= self._next:
            self.note()

    def note(self) -> None:
        """Note what is new."""
        with self._noting:
            now = _by_key(self._rows())
            self._ledger.add(_difference(now, self._noted))
            self._noted = now
            self._next = time.monotonic() + _NOTE_SECONDS


def _by_key(rows: Sequence[MeterRow]) -> dict[_Key, Spent]:
    return {(row.provider, row.model, row.purpose): row.spent for row in rows}


def _difference(now: dict[_Key, Spent], before: dict[_Key, Spent]) -> tuple[MeterRow, ...]:
    return _as_rows(
        {
            key: spent - before.get(key, Spent())
            for key, spent in now.items()
            if spent != before.get(key)
        }
    )


def _as_rows(sums: dict[_Key, Spent]) -> tuple[MeterRow, ...]:
    return tuple(
        MeterRow(provider=provider, model=model, purpose=purpose, spent=sums[key])
        for key in sorted(sums)
        for provider, model, purpose in [key]
    )


def _to_json(row: MeterRow) -> dict[str, str | int | float]:
    return {
        "provider": row.provider,
        "model": row.model,
        "purpose": row.purpose,
        "calls": row.spent.calls,
        "input_tokens": row.spent.usage.input_tokens,
        "output_tokens": row.spent.usage.output_tokens,
        "cost": row.spent.cost,
        "unpriced": row.spent.unpriced,
    }


def _from_json(data: dict[str, str | int | float]) -> MeterRow:
    return MeterRow(
        provider=str(data["provider"]),
        model=str(data["model"]),
        purpose=str(data["purpose"]),
        spent=Spent(
            calls=int(data["calls"]),
            usage=Usage(
                input_tokens=int(data["input_tokens"]), output_tokens=int(data["output_tokens"])
            ),
            cost=float(data["cost"]),
            unpriced=int(data["unpriced"]),
        ),
    )
