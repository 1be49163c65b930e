"""The end of the process while a function of the agent's is still running."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

__all__ = ["leave_threads_behind"]


def leave_threads_behind(code: int) -> None:
    """End the process here where a function was left behind running.

    The interpreter would end its thread wherever that is, and a library's code that cannot be
    unwound there aborts the process: the exit code would be lost.

    Args:
        code: The exit code.
    """
    if threading.active_count() == 1:
        return
    from holodeck.lib.test_runner.left_behind import NAME

    if any(thread.name == NAME for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(code)
