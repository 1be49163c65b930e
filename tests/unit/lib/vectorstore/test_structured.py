"""Records whose fields YAML names, and searches that look at some of the documents only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holodeck.errors import ConfigError, ReadError
from holodeck.lib.contracts import IndexStatus
from holodeck.lib.results import SearchResult
from holodeck.models.tool import VectorstoreTool
from holodeck.testing import FixedResources, WordEmbedder
from holodeck.tools.vectorstore_tool import VectorStoreTool

TABLE = (
    "sku;name;note;price\n"
    '7;Lamp;"Bright ""sun""\nlamp";12\n'
    "7;Chair;A wooden chair;30\n"
    "8;Table\n"
    "9;Shelf;A long shelf;5;extra\n"
    ";;;1\n"
)
NESTED = {
    "shop": "Nord",
    "data": {"city": "Oslo", "items": [{"sku": "1", "note": "A red lamp"}, {"sku": "2"}]},
}


def tool(folder: Path, **settings: Any) -> VectorStoreTool:
    """Return a tool over ``folder/docs``."""
    config = VectorstoreTool.model_validate({"name": "shop", "source": "docs", **settings})
    return VectorStoreTool(config, str(folder), resources=FixedResources(embedder=WordEmbedder()))


async def ask(folder: Path, question: str, **settings: Any) -> tuple[SearchResult, str]:
    """Index, ask, and return the result and its text."""
    made = tool(folder, **settings)
    try:
        await made.initialize()
        return await made.retrieve(question), await made.search(question)
    finally:
        await made.close()


async def indexed(folder: Path, **settings: Any) -> IndexStatus:
    """Index, and return what the index says of itself."""
    made = tool(folder, **settings)
    try:
        await made.initialize()
        return made.status()
    finally:
        await made.close()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder with a table and a text."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "p.csv").write_text(TABLE, encoding="utf-8")
    (folder / "read me.txt").write_text("A lamp is a lamp.", encoding="utf-8")
    return folder


FIELDS = {"vector_field": ["name", "note"], "id_field": "sku", "meta_fields": ["price"]}


async def test_a_hit_shows_id_content_and_metadata(docs: Path) -> None:
    """The text is the vector fields alone; what comes with it is beside it."""
    result, text = await ask(docs.parent, "bright lamp", **FIELDS, field_separator=" | ")

    passage = result.passages[0]
    assert passage.text == 'Lamp | Bright "sun"\nlamp'
    assert (passage.source.record_id, dict(passage.source.metadata)) == ("7", {"price": "12"})
    assert text.split("\n\n")[1].startswith("[1] Score: ")
    assert "| Source: p.csv, row 1 | Id: 7\nLamp | Bright" in text
    assert "Metadata: price: 12" in text


async def test_odd_rows_are_tolerated_and_told(docs: Path) -> None:
    """Short and long rows, ids that stand twice, rows without text, and files that are no table."""
    made = tool(docs.parent, **FIELDS)
    await made.initialize()
    state = made.status()
    result = await made.retrieve("shelf")
    await made.close()

    told = " ".join(state.warnings)
    for words in ("row 3: 2 cell(s)", "row 4: 5 cell(s)", "id '7' is also that of row 1", "row 5"):
        assert words in told
    assert "no list of records" in state.skipped["read me.txt"]
    assert state.counts["chunks"] == 4
    assert result.passages[0].source.record_id == "9"


@pytest.mark.parametrize("setting", ["vector_field", "id_field", "meta_fields"])
async def test_a_field_that_is_not_there_is_told_before_anything_is_embedded(
    setting: str, docs: Path
) -> None:
    """The file and the fields that it has are in the message."""
    settings: dict[str, Any] = {**FIELDS, setting: ["text"] if setting == "meta_fields" else "text"}
    embedder = WordEmbedder()
    config = VectorstoreTool.model_validate({"name": "shop", "source": "docs", **settings})
    made = VectorStoreTool(config, str(docs.parent), resources=FixedResources(embedder=embedder))
    with pytest.raises(ConfigError, match=r"p\.csv has no field 'text'; its fields are sku, name"):
        await made.initialize()
    await made.close()


async def test_a_file_of_other_fields_costs_itself_alone(docs: Path) -> None:
    """It is skipped with the fields that it has; in a strict source it is an error."""
    (docs / "z.csv").write_text("word,number\nlamp,3\n", encoding="utf-8")
    state = await indexed(docs.parent, **FIELDS)

    assert state.skipped["z.csv"].startswith("has no field 'name'")
    assert "its fields are word, number" in state.skipped["z.csv"]
    with pytest.raises(ReadError, match=r"z\.csv"):
        await indexed(docs.parent, strict=True, **FIELDS)


@pytest.mark.parametrize(
    ("setting", "value", "types"),
    [("record_path", "a", ".json"), ("delimiter", ";", ".csv or .tsv")],
)
async def test_a_setting_that_no_file_heeds_is_said(
    setting: str, value: str, types: str, tmp_path: Path
) -> None:
    """It counts once a file of that type is there."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("a lamp", encoding="utf-8")
    before = await indexed(tmp_path, **{setting: value})
    (tmp_path / "docs" / "b.json").write_text('{"a": ["a lamp"]}', encoding="utf-8")
    (tmp_path / "docs" / "b.csv").write_text("name;text\n1;a lamp\n", encoding="utf-8")
    after = await indexed(tmp_path, **{setting: value})

    told = f"{setting} has no effect: there is no {types} file in the source"
    assert told in before.warnings
    assert told not in after.warnings


async def test_records_are_found_where_the_path_says(tmp_path: Path) -> None:
    """Fields keep their prefix, and what stands around the list may come with a hit."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.json").write_text(json.dumps(NESTED), encoding="utf-8")
    result, _ = await ask(
        tmp_path,
        "red lamp",
        record_path="data.items",
        record_prefix="item.",
        meta_prefix="of ",
        vector_field="item.note",
        id_field="item.sku",
        meta_fields=["of shop", "of data.city"],
    )

    (passage,) = result.passages
    assert (passage.text, passage.source.record_id) == ("A red lamp", "1")
    assert dict(passage.source.metadata) == {"of shop": "Nord", "of data.city": "Oslo"}
    with pytest.raises(ConfigError, match=r"no 'things' at data \(there: city, items\)"):
        await ask(tmp_path, "lamp", record_path="data.things")


async def test_a_delimiter_that_is_given_is_not_guessed(tmp_path: Path) -> None:
    """A table whose cells hold another delimiter is read as it is said to be."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.csv").write_text("a|b\nx,y|lamp,z\n", encoding="utf-8")
    result, _ = await ask(tmp_path, "lamp", delimiter="|")

    assert result.passages[0].text == "a: x,y\nb: lamp,z"


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        ({"path": "p.*", "sku": "7"}, {1, 2}),
        ({"row": 2}, {2}),
        ({"price": "5"}, {4}),
        ({"path": "other/*"}, set()),
        ({"path": "p.csv", "row": "1"}, {1}),
        ({"row": 10**30}, set()),
        ({"row": "01"}, set()),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
async def test_a_filter_leaves_only_what_has_the_values(
    wanted: dict[str, str | int], rows: set[int], mode: str, docs: Path
) -> None:
    """By path, place and field, in every mode; the best of what is left is found."""
    (docs / "more.csv").write_text("sku;note\n" + "7;A lamp and a chair\n" * 3, encoding="utf-8")
    result, _ = await ask(docs.parent, "lamp chair shelf", filter=wanted, mode=mode, top_k=50)

    found = {source.row for source in result.sources if source.path == "p.csv"}
    assert found <= rows
    assert {source.path for source in result.sources} <= {"p.csv"} or "row" in wanted
    assert (mode == "keyword" and not rows) or bool(found) == bool(rows)


async def test_a_path_may_hold_what_patterns_are_made_of(tmp_path: Path) -> None:
    """A file that is named in full is that file."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a[1].txt").write_text("A lamp", encoding="utf-8")
    (tmp_path / "docs" / "a1.txt").write_text("A lamp too", encoding="utf-8")
    result, _ = await ask(tmp_path, "lamp", filter={"path": "a[1].txt"})

    assert sorted(source.path for source in result.sources) == ["a1.txt", "a[1].txt"]


async def test_a_path_is_found_however_its_accents_are_written(tmp_path: Path) -> None:
    """Some systems write an accented letter of a name as two characters; keyboards give one."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "cafe\u0301.txt").write_text("A lamp", encoding="utf-8")
    for wanted in ("caf\u00e9.txt", "cafe\u0301.txt", "caf\u00e9*"):
        result, _ = await ask(tmp_path, "lamp", filter={"path": wanted})
        assert len(result.passages) == 1


async def test_a_piece_of_a_record_does_not_bring_the_whole(tmp_path: Path) -> None:
    """What a model reads of the other fields is cut, and says so; the result holds them whole."""
    (tmp_path / "docs").mkdir()
    record = {"title": "Log", "body": "A lamp is lit. " * 400}
    record |= {f"field{number}": "x" for number in range(30)}
    (tmp_path / "docs" / "log.json").write_text(json.dumps(record), encoding="utf-8")
    result, text = await ask(tmp_path, "lamp", chunk_size=100, chunk_overlap=0, top_k=1)

    assert dict(result.passages[0].source.metadata) == record
    assert len(text) < 2_500
    assert " more characters); field" in text
    assert "more fields" in text


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"prize": "5"}, "prize=5: no document has a prize of 5; of fields, the records have the"),
        ({"price": "12", "path": "q*"}, "path=q*: no path fits q*; there are p.csv"),
        ({"page": 7}, "page=7: no document has a page of 7"),
        ({"price": "99999"}, "price=99999: no record has 99999 as its price"),
    ],
)
async def test_a_filter_that_nothing_passes_says_so(
    docs: Path, wanted: dict[str, str | int], said: str
) -> None:
    """Which condition is not met, and what there is: a slip in a name is no empty answer."""
    result, _ = await ask(docs.parent, "lamp", filter=wanted)

    assert result.passages == ()
    (note,) = result.notes
    assert note.startswith("nothing in the documents passes the filter ")
    assert said in note


def test_what_would_be_ignored_is_refused() -> None:
    """Settings that need another one, and a store that is no folder."""
    for settings, told in (
        ({"id_field": "x"}, "id_field has no effect without vector_field"),
        ({"meta_prefix": "x"}, "meta_prefix has no effect without record_path"),
        ({"vector_field": "x", "field_separator": " "}, "field_separator has no effect with one"),
        ({"database": "s3://bucket/x"}, "remote store"),
        ({"delimiter": ";;"}, "at most 1 character"),
    ):
        with pytest.raises(ValueError, match=told):
            VectorstoreTool.model_validate({"name": "shop", "source": "docs", **settings})


async def test_a_database_is_the_folder_of_the_index(docs: Path) -> None:
    """Relative to the agent's folder, as every path."""
    await ask(docs.parent, "lamp", database="stores/mine")

    assert (docs.parent / "stores" / "mine" / "index.meta").is_file()
