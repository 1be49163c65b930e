"""What the library logs, on stderr: warnings always, phases where they matter, all with -v."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from holodeck.cli.output import say
from holodeck.cli.session import Verbosity

__all__ = ["start_logging"]

_LEVELS: Mapping[Verbosity, int] = {
    "quiet": logging.WARNING,
    "normal": logging.WARNING,
    "phases": logging.INFO,
    "verbose": logging.DEBUG,
}


class _SayHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Print the record, its level first where the user should act."""
        mark = f"{record.levelname.lower()}: " if record.levelno >= logging.WARNING else ""
        say(mark + self.format(record))


def start_logging(verbosity: Verbosity) -> None:
    """Print what the library logs; a second call changes the level."""
    logger = logging.getLogger("holodeck")
    if not any(isinstance(handler, _SayHandler) for handler in logger.handlers):
        logger.addHandler(_SayHandler())
    logger.setLevel(_LEVELS[verbosity])
