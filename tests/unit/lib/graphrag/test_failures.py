"""Which failures a next build asks again for."""

from __future__ import annotations

import pytest

from holodeck.errors import AuthenticationError, ConfigError, IndexingError
from holodeck.lib.contracts import Failure, RetryFailed
from holodeck.lib.graphrag.failures import failed_last_time, failure_of, summed_up

pytestmark = pytest.mark.unit

PASSING = Failure(what="chunk", id="u1", cause="timeout", passing=True)
LASTING = Failure(what="chunk", id="u2", cause="refused")
REPORT = Failure(what="report", id="r1", cause="not JSON", passing=True)


@pytest.mark.parametrize(
    ("retry_failed", "reason"),
    [
        (False, None),
        ("passing", "1 chunk and 1 report failed last time"),
        (True, "2 chunks and 1 report failed last time"),
    ],
)
def test_what_failed_makes_an_index_stale_only_for_who_asks_again(
    retry_failed: RetryFailed, reason: str | None
) -> None:
    """On demand nothing is retried; the command retries what may pass; on request all of it."""
    assert failed_last_time((PASSING, LASTING, REPORT), retry_failed) == reason
    assert failed_last_time((), retry_failed) is None


def test_the_most_frequent_causes_are_told_first() -> None:
    """Three are shown with their counts, and how many more there are."""
    causes = ["a", "b", "b", "c", "d", "e"]
    failures = [Failure(what="chunk", id=str(n), cause=cause) for n, cause in enumerate(causes)]

    assert summed_up(failures) == "b (2); a; c; and 2 other cause(s)"


def test_a_full_disk_is_not_the_models_fault() -> None:
    """What cannot be kept ends the build in its own words; a wrong key is the model's."""
    with pytest.raises(IndexingError, match=r"cannot go on: the disk is full\. What was kept"):
        failure_of(ConfigError("the disk is full"), "chunk", "u1")
    with pytest.raises(IndexingError, match=r"the model .* cannot be used: no such key"):
        failure_of(AuthenticationError("no such key"), "chunk", "u1")
