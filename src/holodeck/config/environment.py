"""Variables: the process's, those of a ``.env`` file, and ``${NAME}`` in a text."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from dotenv.parser import parse_stream

from holodeck.config.files import read_text
from holodeck.errors import ConfigError

__all__ = ["VariableError", "expand", "read_environment", "variables_in"]

logger = logging.getLogger(__name__)

_VARIABLE = re.compile(r"(?P<escape>\$\$\{)|\$\{(?P<inside>[^}]*)(?P<end>\}?)")
_INSIDE = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?", re.DOTALL)


class VariableError(ValueError):
    """A ``${...}`` that cannot be replaced; the message never holds a value."""


def read_environment(folder: Path, process: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of ``folder/.env`` and of the process, whose own win.

    The values of ``.env`` are taken as they are written; ``${...}`` inside one is not replaced.
    Lines that give no value are left out, with one warning that names them and says nothing of
    what stands there, since it may be a key.

    Raises:
        ConfigError: There is a ``.env`` and it cannot be read.
    """
    file = folder / ".env"
    if not file.exists():
        return dict(process)
    if file.is_dir():
        raise ConfigError("is a folder, where a file of variables is expected", file=file)
    found = list(parse_stream(StringIO(read_text(file))))
    broken = [str(binding.original.line) for binding in found if binding.error]
    if broken:
        logger.warning(
            "%s: what begins in line %s is not NAME=value and is left out: mend it (quotes that "
            "are not closed?), or put a # before it",
            file,
            ", ".join(broken),
        )
    named = {each.key: each.value for each in found if each.key and each.value is not None}
    return named | dict(process)


def variables_in(text: str) -> tuple[str, ...]:
    """Return the names of the variables that ``text`` asks for."""
    insides = (match["inside"] for match in _VARIABLE.finditer(text) if not match["escape"])
    names = (_INSIDE.fullmatch(inside) for inside in insides)
    return tuple(match["name"] for match in names if match)


def expand(text: str, environment: Mapping[str, str]) -> str:
    """Replace ``${NAME}`` and ``${NAME:-default}``; ``$${`` stands for ``${`` itself.

    As in a shell, the default counts where the variable is unset or empty.

    Raises:
        VariableError: A variable is unset, cannot be used, or its form is not known.
    """
    whole = _VARIABLE.fullmatch(text.strip()) is not None

    def replace(match: re.Match[str]) -> str:
        if match["escape"]:
            return "${"
        inside = _INSIDE.fullmatch(match["inside"])
        if not match["end"] or inside is None or "${" in (inside["default"] or ""):
            raise VariableError(
                "a '${...}' is not understood: write ${NAME}, ${NAME:-default}, or $${ for the "
                "two characters themselves"
            )
        return _value(inside["name"], inside["default"], environment, whole=whole)

    return _VARIABLE.sub(replace, text)


def _value(name: str, default: str | None, environment: Mapping[str, str], *, whole: bool) -> str:
    value = environment.get(name)
    if default is not None and not value:
        return default
    if value is None:
        raise VariableError(
            f"the environment variable {name} is not set: set it, add it to the .env file beside "
            f"the agent's, or write ${{{name}:-default}}"
        )
    if whole and not value.strip():
        raise VariableError(
            f"the environment variable {name} is set but empty: give it a value, or write "
            f"${{{name}:-default}}"
        )
    if "${" in value:
        raise VariableError(
            f"the value of the environment variable {name} holds '${{', which is not replaced "
            "again: write the value out"
        )
    return value
