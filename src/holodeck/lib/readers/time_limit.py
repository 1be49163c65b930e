"""Wait for a reader no longer than its time budget."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import TypeVar

__all__ = ["has_more_time", "run_within", "too_slow"]

Result = TypeVar("Result")


def too_slow(seconds: float) -> str:
    """Return why a file is skipped that could not be read in this time."""
    return (
        f"reading it took more than {seconds:g} s: raise execution.file_timeout, or split the file"
    )


def has_more_time(reason: str, seconds: float) -> bool:
    """Tell whether a file was skipped for its time, and the limit is another one now."""
    is_for_time = reason.startswith("reading it took more than ")
    return is_for_time and reason != too_slow(seconds)


def run_within(seconds: float, work: Callable[[], Result]) -> Result:
    """Return what ``work`` returns, or raise what it raises.

    A thread cannot be stopped from outside: work that takes too long is left behind in a daemon
    thread, which does not keep the process alive.

    Raises:
        TimeoutError: It took longer than ``seconds``.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001  # handed to the caller, whatever it is
            errors.append(error)

    thread = Thread(target=run, name="holodeck-reader", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f"not done after {seconds:g} s")
    return results[0]
