"""Which fields of a record are its text, and which come with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from holodeck.errors import ConfigError

__all__ = ["Structure"]


@dataclass(frozen=True, kw_only=True)
class Structure:
    """How records are read where YAML names their fields.

    Attributes:
        vector_fields: The fields whose values are the text, in order.
        separator: What joins them.
        id_field: The field that identifies a record.
        meta_fields: The fields that come with a hit.
    """

    vector_fields: tuple[str, ...]
    separator: str = "\n"
    id_field: str | None = None
    meta_fields: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """Every field that YAML names."""
        own = () if self.id_field is None else (self.id_field,)
        return tuple(dict.fromkeys((*self.vector_fields, *own, *self.meta_fields)))

    def check(self, path: str, available: Sequence[str]) -> None:
        """Find out whether a file has every field that is named.

        Raises:
            ConfigError: It lacks one; the message lists those that it has.
        """
        known = set(available)
        missing = [
            name for name in self.named if name not in known and not self._opens(name, known)
        ]
        if missing:
            has = ", ".join(dict.fromkeys(available)) or "none"
            raise ConfigError(
                f"{path} has no field {', '.join(map(repr, missing))}; its fields are {has}: mend "
                "vector_field, id_field or meta_fields",
                field=self._setting_of(missing[0]),
            )

    def _setting_of(self, name: str) -> str:
        """Return the setting in which a field is named."""
        if name in self.vector_fields:
            return "vector_field"
        return "id_field" if name == self.id_field else "meta_fields"

    def _opens(self, name: str, known: Iterable[str]) -> bool:
        """Whether a field may be an object; an id is one value."""
        return name != self.id_field and any(_is_below(other, name) for other in known)

    def text_of(self, fields: Mapping[str, str]) -> str:
        """Return the text of a record; fields that it leaves blank are left out."""
        found = (_values(fields, name).values() for name in self.vector_fields)
        return self.separator.join(value for values in found for value in values)

    def metadata_of(self, fields: Mapping[str, str]) -> dict[str, str]:
        """Return what comes with a record."""
        return {k: v for name in self.meta_fields for k, v in _values(fields, name).items()}

    def id_of(self, fields: Mapping[str, str]) -> str | None:
        """Return the id of a record, if it has one."""
        return None if self.id_field is None else fields.get(self.id_field)


def _values(fields: Mapping[str, str], name: str) -> dict[str, str]:
    """Return the field; of one that is an object in this record, all that lies in it."""
    if name in fields:
        return {name: fields[name]}
    return {other: value for other, value in fields.items() if _is_below(other, name)}


def _is_below(other: str, name: str) -> bool:
    return other.startswith(f"{name}.")
