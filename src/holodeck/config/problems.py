"""What is wrong with a configuration, gathered into one error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from holodeck.errors import ConfigError

__all__ = ["FieldPath", "Problem", "field_name", "field_path", "joined_error", "problems_error"]

MOST_LISTED = 50
"""Problems that one message shows; one slip may make thousands."""

FieldPath = tuple[str | int, ...]
"""Keys and list positions from the top of the file to a setting."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing to mend; ``path`` is empty where no setting is to blame."""

    message: str
    line: int | None = None
    path: FieldPath = ()


def field_name(path: FieldPath) -> str:
    """Return the path as messages print it: ``tools[0].graphrag.chunk_size``."""
    name = ""
    for part in path:
        name += f"[{part}]" if isinstance(part, int) else f".{part}"
    return name.removeprefix(".")


def field_path(name: str) -> FieldPath:
    """Return the path that ``field_name`` made ``name`` from."""
    parts = re.findall(r"[^.\[\]]+", name)
    return tuple(int(part) if part.isdigit() else part for part in parts)


def problems_error(problems: Sequence[Problem], file: Path) -> ConfigError:
    """Return one error that places the first problem of the file and lists the others."""
    ordered = sorted(problems, key=lambda problem: problem.line or 0)
    return joined_error([_error(problem, file) for problem in ordered])


def joined_error(errors: Sequence[ConfigError]) -> ConfigError:
    """Return the only error, or one that places the first and lists them, up to a screen."""
    if len(errors) == 1:
        return errors[0]
    first = errors[0]
    listed = [f"  {error}" for error in errors[:MOST_LISTED]]
    if len(errors) > MOST_LISTED:
        listed.append(f"  and {len(errors) - MOST_LISTED} more")
    message = f"{len(errors)} problems:\n" + "\n".join(listed)
    return ConfigError(message, file=first.file, line=first.line, field=first.field)


def _error(problem: Problem, file: Path) -> ConfigError:
    return ConfigError(
        problem.message, file=file, line=problem.line, field=field_name(problem.path) or None
    )
