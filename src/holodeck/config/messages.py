"""Pydantic's errors → problems in our words, with their line.

A value is shown only where it is a short scalar of a setting that holds no secret, and never when
it came from a variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from holodeck.config.environment import variables_in
from holodeck.config.fields import bounds, field_at, model_at, nearest_key
from holodeck.config.lines import YamlSettings
from holodeck.config.problems import FieldPath, Problem, field_name, field_path
from holodeck.models.any_tool import TOOL_KIND_ERROR, TOOL_TAGS
from holodeck.models.llm import UNION_TAGS

__all__ = ["demanded", "explain"]

_SECRET = ("api_key", "api_base", "endpoint")
_LONGEST_SHOWN = 40

# Beginning of pydantic's name of an error → what the setting must be.
_KINDS = (
    ("string_type", "text (put it in quotes)"),
    ("string_unicode", "text without half characters (\\ud800 to \\udfff)"),
    ("int_", "a whole number"),
    ("float_", "a number"),
    ("finite_number", "a finite number"),
    ("bool_", "true or false"),
    ("model_", "a mapping (lines of 'key: value')"),
    ("dict_", "a mapping (lines of 'key: value')"),
    ("tuple_", "a list (lines that begin with '- ')"),
    ("list_", "a list (lines that begin with '- ')"),
)
_STRUCTURE = ("model_", "dict_", "tuple_", "list_")
_OUT_OF_BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


def explain(
    errors: Sequence[ErrorDetails], root: type[BaseModel], settings: YamlSettings
) -> list[Problem]:
    """Return one problem for each error of validating ``settings`` by ``root``."""
    above = {place[:end] for place in map(_location, errors) for end in range(len(place))}
    return [
        _problem(error, root, settings)
        for error in errors
        # A list whose items are wrong is also "too short"; the items say enough.
        if error["type"] != "too_short" or _location(error) not in above
    ]


def demanded(error: ErrorDetails) -> str:
    """Say what a value must be that no field describes, as an option of the command line."""
    kind, rule = error["type"], error.get("ctx", {})
    if kind == "value_error":
        return str(rule.get("error", error["msg"]))
    if kind in _OUT_OF_BOUNDS:
        words, key = _OUT_OF_BOUNDS[kind]
        return f"must be {words} {rule[key]}, not {error['input']}"
    found = _kind_named(kind)
    return f"must be {found}, not {error['input']!r}" if found else error["msg"]


def _location(error: ErrorDetails) -> FieldPath:
    return tuple(part for part in error["loc"] if part not in (*UNION_TAGS, *TOOL_TAGS))


def _problem(error: ErrorDetails, root: type[BaseModel], settings: YamlSettings) -> Problem:
    kind, location = error["type"], _location(error)
    if kind in ("value_error", TOOL_KIND_ERROR):
        message = str(error.get("ctx", {}).get("error", error["msg"]))
        path = _blamed(message, location, root, settings)
        return _placed(message + _variables(path, settings), path, settings)
    if kind == "missing":
        field = field_at(root, location, settings.data)
        about = "" if field is None else f" ({field.description})"
        message = f"{location[-1]} is required{about}; add it"
        return _placed(message, location, settings)
    if kind == "extra_forbidden":
        model = model_at(root, location[:-1], settings.data)
        message = "unknown key" if model is None else nearest_key(model, str(location[-1]))
        return _placed(message, location, settings)
    path = _known(location, settings)
    return _placed(
        _demand(error, path, field_at(root, path, settings.data)) + _value(error, path, settings),
        path,
        settings,
    )


def _demand(error: ErrorDetails, path: FieldPath, field: FieldInfo | None) -> str:
    kind, rule = error["type"], error.get("ctx", {})
    name = field_name(path[-2:] if path and isinstance(path[-1], int) else path[-1:]) or "the file"
    if kind == "literal_error":
        return f"{name} must be {rule['expected']}"
    if kind in _OUT_OF_BOUNDS:
        return f"{name} must be {bounds(field)}"
    if kind in ("string_too_short", "too_short"):
        return f"{name} must not be empty"
    if kind == "string_too_long":
        return f"{name} must have at most {rule['max_length']} characters"
    if kind == "string_pattern_mismatch" and field is not None:
        return f"{name} must keep to its form ({field.description})"
    wanted = _kind_named(kind)
    return f"{name} must be {wanted}" if wanted else f"{name}: {error['msg']}"


def _kind_named(kind: str) -> str | None:
    return next((wanted for beginning, wanted in _KINDS if kind.startswith(beginning)), None)


def _value(error: ErrorDetails, path: FieldPath, settings: YamlSettings) -> str:
    if path in settings.expanded:
        return _variables(path, settings)
    value = error["input"]
    is_secret = any(part in _SECRET for part in path) or error["type"].startswith(_STRUCTURE)
    if is_secret or not isinstance(value, str | int | float):
        return ""
    shown = repr(value) if isinstance(value, str) else str(value).lower()
    return f", not {shown}" if len(shown) <= _LONGEST_SHOWN and value != "" else ""


def _variables(path: FieldPath, settings: YamlSettings) -> str:
    names = variables_in(settings.expanded.get(path, ""))
    return f" (it comes from {', '.join(f'${{{name}}}' for name in names)})" if names else ""


def _blamed(
    message: str, location: FieldPath, root: type[BaseModel], settings: YamlSettings
) -> FieldPath:
    """Return the setting that a validator's message begins with, else the validated mapping.

    Where that setting is left to its default, the first other one named is where the mend goes.
    """
    first = re.match(r"[a-z_]+(\[\d+\])?(\.[a-z_]+)*", message)
    begins = location + field_path(first[0]) if first else location
    if begins in settings.lines:
        return begins
    if field_at(root, begins, settings.data) is None:
        return location
    return next(_named(message, location, settings), location)


def _named(message: str, location: FieldPath, settings: YamlSettings) -> Iterator[FieldPath]:
    for word in re.findall(r"[a-z_]+", message):
        if (*location, word) in settings.lines:
            yield (*location, word)


def _known(location: FieldPath, settings: YamlSettings) -> FieldPath:
    """Cut what pydantic appends to a path to say which side of a union it tried."""
    while location and location not in settings.lines:
        location = location[:-1]
    return location


def _placed(message: str, path: FieldPath, settings: YamlSettings) -> Problem:
    line = settings.lines.get(path, settings.lines.get(_known(path, settings)))
    return Problem(message=message, line=line, path=path)
