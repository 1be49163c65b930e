"""What the models know of a setting: its owner, its field, its nearest names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, get_args, get_origin

from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo

from holodeck.config.problems import FieldPath

__all__ = ["aliases", "as_written", "bounds", "field_at", "model_at", "nearest_key"]


def model_at(root: type[BaseModel], path: FieldPath, data: object = None) -> type[BaseModel] | None:
    """Return the model of the mapping at ``path``, or ``None`` where there is none.

    Args:
        root: The model of the whole.
        path: Where to look.
        data: What the file says: the ``type`` in it chooses where there are several models.
    """
    models: tuple[type[BaseModel], ...] = (root,)
    model: type[BaseModel] | None = root
    is_key = False
    for part in path:
        data = _item(data, part)
        if is_key:
            is_key = False  # the field of a mapping already led to the model of its items
        elif not isinstance(part, int):
            field = None if model is None else model.model_fields.get(part)
            models = () if field is None else tuple(_models_in(field.annotation))
            is_key = field is not None and get_origin(field.annotation) is Mapping
        model = _chosen(models, data)
    return model


def field_at(root: type[BaseModel], path: FieldPath, data: object = None) -> FieldInfo | None:
    """Return the field at ``path``; for an item of a list the field of the list."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    model = model_at(root, path[:-1], data) if path else None
    return None if model is None else model.model_fields.get(str(path[-1]))


def as_written(
    root: type[BaseModel], path: FieldPath, lines: Mapping[FieldPath, int], data: object = None
) -> FieldPath:
    """Return ``path`` by the name that the file gives the setting, where it has several."""
    field = None if path in lines else field_at(root, path, data)
    others = () if field is None else aliases(field)
    return next(((*path[:-1], name) for name in others if (*path[:-1], name) in lines), path)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:  # Any: a type expression
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    for argument in get_args(annotation):
        yield from _models_in(argument)


def _chosen(models: tuple[type[BaseModel], ...], data: object) -> type[BaseModel] | None:
    """Return the model whose ``type`` the data names, else the first."""
    kind = _item(data, "type")
    for model in models:
        field = model.model_fields.get("type")
        if field is not None and kind in get_args(field.annotation):
            return model
    return models[0] if models else None


def _item(data: object, part: str | int) -> object:
    if isinstance(part, int):
        return data[part] if isinstance(data, list) and part < len(data) else None
    return data.get(part) if isinstance(data, Mapping) else None


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
        return f"{_number(found['ge'])}-{_number(found['le'])}"
    words = {"ge": "at least", "gt": "greater than", "le": "at most", "lt": "less than"}
    return " and ".join(f"{words[kind]} {_number(limit)}" for kind, limit in found.items()) or None


def _number(limit: float) -> str:
    return f"{limit:,.0f}" if limit == int(limit) else f"{limit:g}"
