"""A process that can spell every file name and every word of the command line."""

from __future__ import annotations

import os
import sys

__all__ = ["restart_in_utf8"]


def restart_in_utf8() -> None:
    """Start this process anew in Python's UTF-8 mode where the locale knows ASCII only.

    There, names of files come as escaped bytes, which databases and table formats refuse.
    """
    if sys.getfilesystemencoding() == "ascii":
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606  # itself
