"""What is in the way of a file of ours is moved, never deleted: it may be somebody's."""

from __future__ import annotations

import logging
from itertools import count
from pathlib import Path

__all__ = ["set_aside"]

logger = logging.getLogger(__name__)


def set_aside(path: Path) -> None:
    """Give what is at ``path`` another name beside it."""
    free = next(
        place
        for number in count(1)
        if not (place := path.with_name(f"{path.name}.set-aside-{number}")).exists()
    )
    try:
        path.rename(free)
    except FileNotFoundError:  # another process was faster
        return
    logger.warning("%s was in the way of a file of the index: it is now %s", path, free.name)
