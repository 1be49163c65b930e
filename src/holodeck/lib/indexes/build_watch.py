"""A build that is watched: what it does is told, logged and accounted for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from holodeck.lib.contracts import MeterRow, Progress, ProgressListener, Spending, Spent
from holodeck.lib.indexes.build_log import BuildLog
from holodeck.lib.indexes.ledger import Bookkeeper, Ledger
from holodeck.lib.spending import summed

__all__ = ["BuildWatch"]


class BuildWatch:
    """What is known of the builds of one index while they run.

    Args:
        ledger: Where is noted what is spent.
        rows: Returns what this process has spent so far.
        listener: Told of progress.
    """

    def __init__(
        self,
        ledger: Ledger,
        rows: Callable[[], Sequence[MeterRow]],
        listener: ProgressListener | None,
    ) -> None:
        self._ledger = ledger
        self._rows = rows
        self._listener = listener or (lambda progress: None)
        self._keeper: Bookkeeper | None = None
        self.log: BuildLog | None = None
        """Of the build that runs; it is given a line for each step."""

    @contextmanager
    def accounted(self) -> Iterator[None]:
        """Note what is spent meanwhile, however it ends."""
        self._ledger.compact()
        self._keeper = Bookkeeper(self._ledger, self._rows)
        try:
            yield
        finally:
            self._keeper.note()
            self.log = None

    def tell(self, progress: Progress) -> None:
        """Hand on what is done, with what was spent for it here and where it was done."""
        if self.log is not None:
            self.log.note_step(progress)
        if self._keeper is not None:
            self._keeper.note_now_and_then()
            spent = self._keeper.total + (progress.spent or Spent())
            progress = replace(progress, spent=spent)
        self._listener(progress)

    def spending(self, elsewhere: Spending, taken: int) -> Spending:
        """Return what the build cost, here and in another process, and all builds so far.

        Args:
            elsewhere: What another process spent on it and took of what was kept.
            taken: Kept replies that were taken here.
        """
        here = () if self._keeper is None else self._keeper.spent
        if self._keeper is not None:
            self._keeper.note()
        return Spending(
            build=summed([*here, *elsewhere.build]),
            total=self._ledger.rows(),
            taken=taken + elsewhere.taken,
        )
