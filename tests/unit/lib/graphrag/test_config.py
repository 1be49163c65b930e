"""A library that does not hold what it was told is refused."""

from __future__ import annotations

import pytest

from holodeck.errors import ConfigError
from holodeck.lib.graphrag.config import refuse_ignored

HELD = {"chunking": {"size": 300, "kinds": ["a"], "more": 1}, "more": None}


def test_what_is_held_passes() -> None:
    """What the library adds by itself does not matter."""
    refuse_ignored({"chunking": {"size": 300, "kinds": ["a"]}}, HELD)


@pytest.mark.parametrize(
    ("ours", "said"),
    [
        ({"chunkings": {"size": 300}}, "does not know the setting 'chunkings'"),
        ({"chunking": {"sise": 300}}, "does not know the setting 'chunking.sise'"),
        ({"chunking": {"size": 301}}, "holds 300 for 'chunking.size' instead of 301"),
        ({"chunking": {"kinds": ["b"]}}, "for 'chunking.kinds'"),
    ],
)
def test_what_is_ignored_or_changed_is_refused(ours: dict[str, object], said: str) -> None:
    """The library takes unknown keys in silence: a setting would be lost in its next version."""
    with pytest.raises(ConfigError, match="install a version that") as caught:
        refuse_ignored(ours, HELD)

    assert said in str(caught.value)
