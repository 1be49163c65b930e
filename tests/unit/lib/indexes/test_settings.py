"""A changed setting is seen, and named."""

from __future__ import annotations

from holodeck.lib.indexes.settings import (
    as_settings,
    changed_settings,
    config_hash,
    differ_by_release_alone,
    differ_in_texts_alone,
)


def test_equal_settings_have_equal_hashes() -> None:
    """The order of the settings is nothing; any value is something."""
    assert config_hash({"a": "1", "b": "2"}) == config_hash({"b": "2", "a": "1"})
    assert config_hash({"a": "1"}) != config_hash({"a": "2"})


def test_each_difference_is_named() -> None:
    """Changed, new and vanished settings are told apart, each with both values."""
    old = as_settings({"chunk_size": 300, "strict": False, "gone": None})
    new = as_settings({"chunk_size": 500, "strict": False, "model": "Ä"})

    assert changed_settings(old, new) == [
        "chunk_size: 300 → 500",
        "gone: null → unset",
        'model: unset → "Ä"',
    ]


def test_what_only_shapes_texts_is_told_from_what_shapes_the_index() -> None:
    """Equal chunks are an equal index after one kind of change, and not after the other."""
    old = as_settings({"chunk_size": 300, "delimiter": None, "embedding_model": "a"})

    assert differ_in_texts_alone(old, old)
    assert differ_in_texts_alone(old, {**old, "chunk_size": "500", "delimiter": '";"'})
    assert not differ_in_texts_alone(old, {**old, "chunk_size": "500", "embedding_model": '"b"'})


def test_what_a_release_changes_is_told_from_what_a_user_sets() -> None:
    """The versions of our own steps are nobody's setting."""
    old = as_settings({"chunk_size": 300, "chunking": 4, "step extract_graph": 4})

    assert differ_by_release_alone(old, {**old, "chunking": "5", "step extract_graph": "5"})
    assert not differ_by_release_alone(old, {**old, "chunking": "5", "chunk_size": "500"})
