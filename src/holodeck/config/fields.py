"""What the models know of a setting: its owner, its field, its nearest names."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, get_args, get_origin

from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo

from holodeck.config.problems import FieldPath

__all__ = ["aliases", "bounds", "field_at", "model_at", "nearest_key"]


def model_at(root: type[BaseModel], path: FieldPath) -> type[BaseModel] | None:
    """Return the model of the mapping at ``path``, or ``None`` where there is none."""
    model: type[BaseModel] | None = root
    is_key = False
    for part in path:
        if isinstance(part, int) or is_key:
            is_key = False
            continue  # the field of a list or of a mapping already led to the model of its items
        field = None if model is None else model.model_fields.get(part)
        model = None if field is None else _model_in(field.annotation)
        is_key = field is not None and get_origin(field.annotation) is Mapping
    return model


def field_at(root: type[BaseModel], path: FieldPath) -> FieldInfo | None:
    """Return the field at ``path``; for an item of a list the field of the list."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    model = model_at(root, path[:-1]) if path else None
    return None if model is None else model.model_fields.get(str(path[-1]))


def _model_in(annotation: Any) -> type[BaseModel] | None:  # Any: a type expression
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_model_in(argument) for argument in get_args(annotation))
    return next((model for model in found if model is not None), None)


def aliases(field: FieldInfo) -> tuple[str, ...]:
    """Return the other names that YAML may use for a field."""
    choices = field.validation_alias
    if not isinstance(choices, AliasChoices):
        return ()
    return tuple(choice for choice in choices.choices if isinstance(choice, str))


def nearest_key(model: type[BaseModel], key: str) -> str:
    """Return the advice for a key that ``model`` does not know."""
    for name, field in model.model_fields.items():
        if key in (name, *aliases(field)):
            return f"{' and '.join(aliases(field))} are one setting; keep one of them"
    near = get_close_matches(key.lower(), model.model_fields, n=1)
    if near:
        return f"unknown key {key!r}; did you mean {near[0]!r}?"
    return f"unknown key {key!r}; the keys here are {', '.join(model.model_fields)}"


def bounds(field: FieldInfo | None) -> str | None:
    """Return the range of a number as messages say it (``0-5``, ``at least 1``)."""
    found: dict[str, float] = {}
    for rule in () if field is None else field.metadata:
        for kind in ("ge", "gt", "le", "lt"):
            if hasattr(rule, kind):
                found[kind] = getattr(rule, kind)
    if "ge" in found and "le" in found:
        return f"{found['ge']:g}-{found['le']:g}"
    words = {"ge": "at least", "gt": "greater than", "le": "at most", "lt": "less than"}
    return " and ".join(f"{words[kind]} {limit:g}" for kind, limit in found.items()) or None
