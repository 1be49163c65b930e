"""What a search works on: derived of tables, in one file that is made when it is missing.

The tables are the truth. The file tells which tables it is of, and is made again where they are
others or it is damaged.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from holodeck.lib.indexes.arrays import about_arrays, write_arrays
from holodeck.lib.indexes.checked_arrays import Arrays

__all__ = ["make_derived", "open_derived"]

logger = logging.getLogger(__name__)


OpenFile = Callable[[Path, Mapping[str, str]], Arrays | None]


def open_derived(
    path: Path, about: Mapping[str, str], derive: Callable[[], Arrays], open_file: OpenFile
) -> Arrays:
    """Return what is derived: from its file, made where there is none that fits, or from memory.

    Args:
        path: The file.
        about: What tells the tables from others, and the ``version`` of what is derived.
        derive: Reads the tables.
        open_file: Opens the file; ``None`` where it does not fit.
    """
    arrays = open_file(path, about)
    if arrays is not None:
        return arrays
    if about_arrays(path).get("version", about["version"]) != about["version"]:
        logger.info("%s is of another release: making it again", path)
    elif path.exists():
        logger.warning("%s does not fit its tables or is damaged: making it again", path)
    return make_derived(path, about, derive, open_file)


def make_derived(
    path: Path, about: Mapping[str, str], derive: Callable[[], Arrays], open_file: OpenFile
) -> Arrays:
    """Return what is derived, made now whatever is there; arguments as of ``open_derived``."""
    arrays = derive()
    try:
        write_arrays(path, arrays, about)
    except OSError as error:
        logger.warning("%s cannot be written (%s): searching from memory", path, error)
        return arrays
    return open_file(path, about) or arrays
