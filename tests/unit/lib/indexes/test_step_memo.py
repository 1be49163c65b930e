"""What the steps of a build made of what, remembered for the next build."""

from __future__ import annotations

from pathlib import Path

import pytest

from holodeck.lib.indexes.step_memo import StepMemo, memo_key
from holodeck.lib.providers.reply_store import ReplyStore

pytestmark = pytest.mark.unit


def written(folder: Path, values: dict[str, object], about: str = "s") -> Path:
    """Return the file of a build that made these values."""
    memo = StepMemo(None, about)
    for key, value in values.items():
        memo.put(key, value)
    path = folder / "steps.memo"
    memo.write(path)
    return path


def test_what_a_build_made_is_known_to_the_next(tmp_path: Path) -> None:
    """Values come back as they were put, whatever characters are in them."""
    values = {"a:1": 0, "b:2": {"text": "x\n\t\u2028\ud800 \r"}, "c:3": [1, "", None]}

    memo = StepMemo(written(tmp_path, values), "s")

    assert {key: memo.get(key) for key in values} == values
    assert memo.get("d:4") is None


def test_what_is_not_used_again_is_forgotten(tmp_path: Path) -> None:
    """The file holds what one build used: it grows with the index and not with its history."""
    path = written(tmp_path, {"a:1": 1, "b:2": 2})
    memo = StepMemo(path, "s")
    memo.get("b:2")
    memo.put("c:3", 3)
    memo.write(path)

    after = StepMemo(path, "s")

    assert [after.get(key) for key in ("a:1", "b:2", "c:3")] == [None, 2, 3]


def test_the_file_depends_on_what_is_in_it_alone(tmp_path: Path) -> None:
    """Whether a value was known or made anew, and in which order, shows nowhere."""
    first = written(tmp_path, {"a:1": 1, "b:2": 2}).read_bytes()
    memo = StepMemo(tmp_path / "steps.memo", "s")
    memo.put("b:2", 2)
    memo.get("a:1")
    memo.write(tmp_path / "again.memo")

    assert (tmp_path / "again.memo").read_bytes() == first


def test_a_file_that_is_not_whole_or_of_other_settings_is_as_good_as_none(tmp_path: Path) -> None:
    """Cut anywhere, changed in any byte, missing, a folder, or of other settings."""
    path = written(tmp_path, {"a:1": 1, "b:2": [2, 3]})
    content = path.read_bytes()
    spoiled = [content[:end] for end in range(len(content))]
    spoiled += [content[:at] + b"\x00" + content[at + 1 :] for at in range(len(content))]
    for each in spoiled:
        path.write_bytes(each)
        memo = StepMemo(path, "s")
        assert (memo.get("a:1"), memo.get("b:2")) == (None, None), each
    path.write_bytes(content)

    assert StepMemo(path, "s").get("a:1") == 1
    assert StepMemo(path, "other").get("a:1") is None
    assert StepMemo(tmp_path / "missing", "s").get("a:1") is None
    assert StepMemo(tmp_path, "s").get("a:1") is None


def test_a_file_that_cannot_be_written_stops_no_build(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It costs the next update time; that is said."""
    memo = StepMemo()
    memo.put("a:1", 1)
    memo.write(tmp_path / "missing" / "steps.memo")

    assert "the next update takes longer" in caplog.text


async def test_the_replies_that_a_value_was_read_in_stay_in_use(tmp_path: Path) -> None:
    """They are noted when it is made and known again when it is remembered; others are not."""
    asked: list[str] = []
    with ReplyStore(tmp_path / "replies.sqlite") as store:

        async def ask() -> str:
            asked.append("once")
            store.put("asked", "yes", "kind")
            return store.get("asked") or ""

        store.put("other", "no", "kind")
        first = StepMemo(None, "s")
        assert await first.asked("a:1", ask, str, str) == "yes"
        first.write(tmp_path / "steps.memo")
        second = StepMemo(tmp_path / "steps.memo", "s")
        assert await second.asked("a:1", ask, str, str) == "yes"

    assert asked == ["once"]
    assert second.reply_keys == {"asked"}


async def test_what_is_not_to_be_remembered_is_asked_again(tmp_path: Path) -> None:
    """A value whose form is nothing, as of a failure."""
    asked: list[int] = []

    async def ask() -> int:
        asked.append(1)
        return len(asked)

    memo = StepMemo()
    found = [await memo.asked("a:1", ask, lambda value: None, int) for _ in range(2)]

    assert found == [1, 2]


def test_keys_tell_parts_apart_wherever_they_end() -> None:
    """Kind, parts and their order count, and no text that runs over into the next."""
    keys = [memo_key("k", *parts) for parts in (["ab", "c"], ["a", "bc"], ["c", "ab"], ["abc"])]

    assert len({*keys, memo_key("l", "ab", "c")}) == 5
    assert memo_key("k", "ab", "c") == keys[0]
