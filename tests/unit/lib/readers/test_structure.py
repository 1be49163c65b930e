"""The fields that YAML names, in records of any shape."""

from __future__ import annotations

import pytest

from holodeck.errors import ConfigError
from holodeck.lib.readers.structure import Structure

pytestmark = pytest.mark.unit

STRUCTURE = Structure(
    vector_fields=("title", "body"), separator=" | ", id_field="id", meta_fields=("author",)
)


def test_a_named_field_that_is_an_object_comes_with_all_that_lies_in_it() -> None:
    """Nothing of it is lost, whether this record holds a value or an object there."""
    plain = {"title": "Cables", "body": "Laid in 1866.", "author": "Ann"}
    nested = {
        "title": "Ships",
        "body.first": "Built in 1858.",
        "body.then": "Sold in 1864.",
        "author.name": "Bob",
        "author.place": "Valentia",
        "authority": "none",
    }

    assert STRUCTURE.text_of(plain) == "Cables | Laid in 1866."
    assert STRUCTURE.metadata_of(plain) == {"author": "Ann"}
    assert STRUCTURE.text_of(nested) == "Ships | Built in 1858. | Sold in 1864."
    assert STRUCTURE.metadata_of(nested) == {"author.name": "Bob", "author.place": "Valentia"}


def test_a_column_with_a_dot_in_its_name_is_a_column_of_its_own() -> None:
    """A name that is there means that field alone."""
    fields = {"title": "Cables", "title.short": "C."}

    assert STRUCTURE.text_of(fields) == "Cables"


def test_a_field_of_which_parts_are_there_is_there_but_an_id_is_one_value() -> None:
    """The check before anything is embedded takes objects for what they are."""
    STRUCTURE.check("a.json", ["id", "title", "body.first", "author.name"])
    with pytest.raises(ConfigError, match="has no field 'id'") as refused:
        STRUCTURE.check("a.json", ["id.number", "title", "body", "author"])
    assert refused.value.field == "id_field"


@pytest.mark.parametrize(
    ("missing", "setting"),
    [("body", "vector_field"), ("id", "id_field"), ("author", "meta_fields")],
)
def test_the_setting_that_names_a_missing_field_is_named(missing: str, setting: str) -> None:
    """The message leads to the line that is to be mended."""
    with pytest.raises(ConfigError) as refused:
        STRUCTURE.check("a.csv", [name for name in STRUCTURE.named if name != missing])
    assert refused.value.field == setting
