"""A reader is waited for no longer than its budget."""

from __future__ import annotations

from threading import Event, current_thread

import pytest

from holodeck.lib.readers.time_limit import run_within

pytestmark = pytest.mark.unit


def test_work_in_time_gives_its_result() -> None:
    """What the work returns is returned."""
    assert run_within(60, lambda: [1]) == [1]


def test_an_error_of_the_work_is_raised() -> None:
    """What the work raises is raised where it was asked for."""
    nothing: dict[str, int] = {}

    with pytest.raises(KeyError, match="lost"):
        run_within(60, lambda: nothing["lost"])


def test_work_that_does_not_end_is_left_behind() -> None:
    """The caller goes on, and the thread left behind does not keep the process alive."""
    release = Event()
    daemons: list[bool] = []

    def wait() -> None:
        daemons.append(current_thread().daemon)
        release.wait()

    with pytest.raises(TimeoutError, match=r"not done after 0\.05 s"):
        run_within(0.05, wait)

    release.set()
    assert daemons in ([True], [])
