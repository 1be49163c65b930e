"""Which failures end a build at once, which cost it one piece, and how many it may lose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from holodeck.errors import CostLimitError, HolodeckError, IndexingError, ProviderError
from holodeck.lib.contracts import Failure, RetryFailed
from holodeck.lib.graphrag.build import Build
from holodeck.lib.graphrag.refusals import is_no_answer, is_of_all

__all__ = [
    "KEPT",
    "MEND",
    "FailureGate",
    "failed_last_time",
    "failure_of",
    "is_retried",
    "later_failure",
    "said_of",
    "summed_up",
    "warning_of_losses",
]

KEPT = "What was paid for is kept"
MEND = "'holodeck index' asks again for what may pass, 'holodeck index --retry-failed' for all"
_WARNED_SHARE = 0.05
"""Share of unusable records above which the summary warns; below it they are counted."""
_LATER_CALL = "a further pass failed, and what the first one found is in the index"
_SHOWN_CAUSES = 3
_SHOWN_PLACES = 3
_LONGEST_CAUSE = 300
_PIECE = {"chunk": "chunks", "claims": "chunks", "summary": "summaries", "report": "reports"}


def failure_of(error: HolodeckError, what: str, key: str, place: str = "") -> Failure:
    """Return the failure of one piece.

    Raises:
        CostLimitError: It was not asked for, because of the cap.
        IndexingError: The next piece would fail alike: a wrong key, a model that is not there, a
            quota that is used up, settings that the server refuses, or an error of no model.
    """
    if isinstance(error, CostLimitError):
        raise error
    if not isinstance(error, ProviderError):
        raise IndexingError(
            f"the build cannot go on: {error}. What was kept before is not asked for again, what "
            "was being answered then is: mend it and run 'holodeck index' again to go on"
        ) from error
    if is_of_all(error):
        raise IndexingError(
            f"the model that builds the index cannot be used: {error}. {KEPT}: mend it and run "
            "'holodeck index' again to go on"
        ) from error
    cause = " ".join(str(error).split())
    # A page in place of an answer, as from a proxy, is no word of the model's: it may pass.
    passing = error.retryable or is_no_answer(error)
    return Failure(what=what, id=key, place=place, cause=cause[:_LONGEST_CAUSE], passing=passing)


def later_failure(error: HolodeckError, what: str, key: str, place: str) -> Failure:
    """Return the failure of a further pass over a piece of which the first one is in the index."""
    failure = failure_of(error, what, key, place)
    return replace(failure, cause=f"{_LATER_CALL}: {failure.cause}")


def warning_of_losses(dropped: Mapping[str, int], total: int, records: str) -> Iterator[str]:
    """Yield the warning that many records could not be used; few are only counted."""
    lost = sum(dropped.values())
    if lost > _WARNED_SHARE * total:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(dropped.items()))
        yield (
            f"{lost} of {total} {records} could not be used: {reasons}. A larger "
            "indexing_model follows the format better"
        )


class FailureGate:
    """Takes the failures of one step's chunks, and ends the build when they are too many.

    Args:
        build: The build; its list of failures is filled.
        total: Chunks of the step.
    """

    def __init__(self, build: Build, total: int) -> None:
        self._build = build
        self._total = total
        self._failed: list[Failure] = []

    def known(self, what: str, key: str, place: str) -> bool:
        """Tell whether a piece failed in the last build and is to be left, and count it."""
        failure = self._build.known_failures.get((what, key))
        if failure is None:
            return False
        self.add(replace(failure, place=place))
        return True

    def add(self, failure: Failure) -> None:
        """Count a failure.

        Raises:
            IndexingError: There are more than ``max_failed_share`` allows. The rest is not asked
                for: what fails too often fails for a reason.
        """
        self._failed.append(failure)
        # A share that was meant as a count may lie a hair below it: 0.07 * 100 is 7.000…1.
        if len(self._failed) > self._build.max_failed_share * self._total + 1e-9:
            raise self._too_many()

    def close(self, succeeded: int) -> None:
        """Add what failed to the build's account.

        Raises:
            IndexingError: Every chunk failed.
        """
        if not self._failed:
            return
        if not succeeded:
            raise self._too_many()
        failed = sorted(self._failed, key=lambda failure: (failure.place, failure.id))
        self._build.failures.extend(failed)
        self._build.warnings.append(f"{said_of(failed, self._total)}. {MEND}")

    def _too_many(self) -> IndexingError:
        places = sorted({failure.place for failure in self._failed if failure.place})
        share = self._build.max_failed_share
        return IndexingError(
            f"{said_of(self._failed, self._total)}. That is more than graphrag.max_failed_share "
            f"({share:g}) allows, or all, so nothing was published "
            f"({', '.join(places[:_SHOWN_PLACES])}). {KEPT}: run 'holodeck index' again to ask "
            "for the rest, or raise graphrag.max_failed_share"
        )


def is_retried(failure: Failure, retry_failed: RetryFailed) -> bool:
    """Tell whether a piece that failed in the last build is asked for again."""
    return failure.passing if retry_failed == "passing" else bool(retry_failed)


def failed_last_time(failures: Sequence[Failure], retry_failed: RetryFailed) -> str | None:
    """Return ``3 chunks and 1 report failed last time``, or ``None`` where none is retried."""
    again = Counter(
        "chunk" if failure.what == "claims" else failure.what
        for failure in failures
        if is_retried(failure, retry_failed)
    )
    if not again:
        return None
    counts = [
        f"{count} {what if count == 1 else _PIECE[what]}" for what, count in sorted(again.items())
    ]
    return f"{' and '.join(counts)} failed last time"


def said_of(failures: Sequence[Failure], total: int) -> str:
    """Return ``3 of 412 chunks failed: cause (2), cause``."""
    what = _PIECE[failures[0].what]
    claims = " (claims)" if failures[0].what == "claims" else ""
    return f"{len(failures)} of {total} {what} failed{claims}: {summed_up(failures)}"


def summed_up(failures: Sequence[Failure]) -> str:
    """Return the most frequent causes, with their counts."""
    causes: Mapping[str, int] = Counter(failure.cause for failure in failures)
    ranked = sorted(causes, key=lambda cause: (-causes[cause], cause))
    shown = [
        f"{cause} ({causes[cause]})" if causes[cause] > 1 else cause.rstrip(".")
        for cause in ranked[:_SHOWN_CAUSES]
    ]
    more = len(ranked) - len(shown)
    return "; ".join(shown) + (f"; and {more} other cause(s)" if more else "")
