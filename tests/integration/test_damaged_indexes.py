"""An index whose files are not as they were written, whatever its engine."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")
pytest.importorskip("wordllama", reason="needs the extra embedded")

from holodeck.errors import HolodeckError
from holodeck.lib.contracts import SearchEngine
from holodeck.lib.engines import ENGINES, engine_class
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool

pytestmark = [pytest.mark.integration, pytest.mark.slow]

PLACES = {"default": "vectorstore", "graphrag": "graphrag"}


def engine(name: Any, base: Path) -> SearchEngine:
    made: SearchEngine = engine_class(name)(  # type: ignore[call-arg]  # every engine takes these
        VectorstoreTool(name="k", source="docs", engine=name),
        str(base),
        agent_model=LLMProvider(provider="embedded"),
    )
    return made


async def build(name: str, base: Path) -> None:
    opened = engine(name, base)
    await opened.initialize()
    await opened.close()


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a folder for each engine whose documents are indexed."""
    found = {}
    for name in ENGINES:
        base = found[name] = tmp_path_factory.mktemp(name)
        (base / "docs").mkdir()
        text = "Ann Lee runs Orion Labs in Paris. Orion Labs bought Vega Works."
        (base / "docs" / "a.txt").write_text(text, encoding="utf-8")
        asyncio.run(build(name, base))
    return found


@pytest.fixture
def base(name: str, projects: dict[str, Path], tmp_path: Path) -> Path:
    """Return a copy of an engine's folder."""
    shutil.copytree(projects[name], tmp_path / "project")
    return tmp_path / "project"


every_engine = pytest.mark.parametrize("name", list(ENGINES))
graph_engine = pytest.mark.parametrize("name", ["graphrag"])


def index_of(name: str, base: Path) -> Path:
    return base / ".holodeck" / PLACES[name] / "k"


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def garble(path: Path) -> None:
    path.write_bytes(b"\xa5" * path.stat().st_size)


def garble_unprepared(path: Path) -> None:
    """Also remove what is derived of the table: while it is there, a search reads no table."""
    garble(path)
    for derived in path.parents[2].glob("search.arrays"):
        derived.unlink()


def alter_unprepared(path: Path) -> None:
    """Let a table say something else in as many bytes, and nothing that is derived of it."""
    content = path.read_bytes()
    assert b"a.txt" in content
    path.write_bytes(content.replace(b"a.txt", b"b.txt"))
    (path.parent / "search.arrays").unlink()


def remove(path: Path) -> None:
    path.unlink()


def remove_folder(path: Path) -> None:
    shutil.rmtree(path)


Damage = Callable[[Path], None]

MENDED = ("output/000001/entities.parquet", "lancedb/000001")
"""What is mended of the graph engine's, whose builds take seconds; every damage is named."""

DAMAGES: list[tuple[str, str, Damage]] = [
    ("graphrag", "output/000001/entities.parquet", cut),
    ("graphrag", "output/000001/text_units.parquet", empty),
    ("graphrag", "output/000001/sources.parquet", remove),
    ("graphrag", "output/000001/sources.parquet", alter_unprepared),
    ("graphrag", "output/000001/prompts.json", cut),
    ("graphrag", "output/000001", remove_folder),
    ("graphrag", "lancedb/000001", remove_folder),
    ("graphrag", "lancedb/000001/entity_description.lance", remove_folder),
    ("graphrag", "lancedb/000001/text_unit_text.lance/data/*.lance", cut),
    ("default", "generations/000001", remove_folder),
    ("default", "generations/000001/chunks.lance", remove_folder),
    ("default", "generations/000001/chunks.lance/_versions/*.manifest", empty),
    ("default", "generations/000001/chunks.lance/_versions/*.manifest", garble_unprepared),
    ("default", "generations/000001/chunks.lance/data/*.lance", cut),
    ("default", "generations/000001/chunks.lance/data/*.lance", garble_unprepared),
]


@pytest.mark.parametrize(
    ("name", "what", "damage"), DAMAGES, ids=[f"{what}-{d.__name__}" for _, what, d in DAMAGES]
)
async def test_a_damaged_file_is_named_and_mended(
    name: str, base: Path, what: str, damage: Damage, caplog: pytest.LogCaptureFixture
) -> None:
    """As it is it is refused; ``initialize`` says which file it is, and builds once."""
    damaged = sorted(index_of(name, base).glob(what))
    assert damaged
    for path in damaged:
        damage(path)
    with pytest.raises(HolodeckError, match=r"'holodeck index'") as refused:
        await engine(name, base).open_existing()
    assert refused.value.exit_code == 3
    assert str(damaged[0]) in str(refused.value)
    if name == "graphrag" and what not in MENDED:
        return
    mended = engine(name, base)
    with caplog.at_level(logging.WARNING, logger="holodeck"):
        await mended.initialize()
    result = await mended.retrieve("Who runs Orion Labs?", answer=False)
    again = engine(name, base)
    await again.initialize()

    assert str(damaged[0]) in caplog.text
    assert "the index is damaged" in caplog.text
    assert mended.was_built
    assert not again.was_built
    assert "Ann Lee" in result.context
    assert await again.retrieve("Who runs Orion Labs?", answer=False) == result
    for opened in (mended, again):
        await opened.close()


def write(content: bytes) -> Damage:
    def damage(path: Path) -> None:
        path.write_bytes(content)

    return damage


def replace_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "mine").touch()


def make_a_count_a_word(path: Path) -> None:
    change_record(path, file_count="many")


def forget_the_settings(path: Path) -> None:
    change_record(path, settings=None)


RECORDS: dict[str, Damage] = {
    "a list": write(b"[]"),
    "NULs": write(bytes(100)),
    "cut": cut,
    "empty": empty,
    "a folder": replace_by_a_folder,
    "a wrong type": make_a_count_a_word,
    "no settings": forget_the_settings,
}


def change_record(path: Path, **fields: object) -> None:
    """Change fields of a record; ``...`` removes one."""
    content = {**json.loads(path.read_text(encoding="utf-8")), **fields}
    kept = {key: value for key, value in content.items() if value is not ...}
    path.write_text(json.dumps(kept), encoding="utf-8")


@every_engine
@pytest.mark.parametrize("damage", RECORDS.values(), ids=RECORDS)
async def test_a_damaged_record_is_named_and_mended(
    name: str, base: Path, damage: Damage, caplog: pytest.LogCaptureFixture
) -> None:
    """The state names ``index.meta``, a search of it as it is is refused, a build mends it."""
    record = index_of(name, base) / "index.meta"
    damage(record)
    reason = engine(name, base).status().stale_reason
    with pytest.raises(HolodeckError, match=r"index\.meta cannot be read.*'holodeck index'"):
        await engine(name, base).open_existing()
    assert reason == f"the index is damaged: {record} cannot be read"
    assert f"{record} is not an index record of ours" in caplog.text
    if name == "graphrag" and damage is not replace_by_a_folder:
        return
    mended = engine(name, base)
    await mended.initialize()
    result = await mended.retrieve("Who runs Orion Labs?", answer=False)
    await mended.close()

    assert mended.was_built
    assert "Ann Lee" in result.context
    assert record.is_file()
    assert len(list(record.parent.glob("*.set-aside-1/mine"))) == (damage is replace_by_a_folder)


@every_engine
async def test_keys_of_a_later_version_are_left_aside(name: str, base: Path) -> None:
    """An index that a later version committed is as good as one of ours."""
    change_record(index_of(name, base) / "index.meta", a_later_key={"x": [1]})

    assert engine(name, base).status().stale_reason is None


@pytest.mark.parametrize("name", ["default"])
async def test_a_lock_that_is_a_folder_is_set_aside(name: str, base: Path) -> None:
    """What is in the way of a file of ours is moved, and the build goes on."""
    lock = index_of(name, base) / ".lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()
    opened = engine(name, base)
    await opened.initialize(force_reindex=True)
    await opened.close()

    assert opened.was_built
    assert lock.is_file()
    assert lock.with_name(".lock.set-aside-1").is_dir()


@every_engine
async def test_a_record_that_was_changed_by_hand_is_named(name: str, base: Path) -> None:
    """A hash without a changed setting is not explained by an empty list of settings."""
    change_record(index_of(name, base) / "index.meta", config_hash="0")

    reason = engine(name, base).status().stale_reason
    assert reason == "the config_hash of the index is not that of its settings"


@graph_engine
async def test_another_version_of_the_library_is_named(name: str, base: Path) -> None:
    """An index that another version built says which it was, and is stale."""
    change_record(index_of(name, base) / "index.meta", graphrag_version="2.7.0", config_hash="0")
    reason = engine(name, base).status().stale_reason

    assert reason is not None
    assert reason.startswith("it was built with graphrag 2.7.0, and graphrag 3.")


@graph_engine
@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("communities", "parent"),
        ("community_reports", "full_content"),
        ("entities", "degree"),
        ("sources", "page"),
    ],
)
async def test_a_table_without_a_column_is_named_and_mended(
    name: str, base: Path, table: str, column: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where the record says nothing of the files, the message names table and column."""
    index = index_of(name, base)
    path = index / "output" / "000001" / f"{table}.parquet"
    pq.write_table(pq.read_table(path).drop_columns([column]), path)
    change_record(index / "index.meta", files=...)
    with pytest.raises(HolodeckError, match=f"table '{table}' .* no column '{column}'"):
        await engine(name, base).open_existing()
    if table != "communities":
        return
    mended = engine(name, base)
    with caplog.at_level(logging.WARNING, logger="holodeck"):
        await mended.initialize()
    await mended.close()

    assert mended.was_built
    assert f"table '{table}'" in caplog.text


@graph_engine
async def test_old_names_of_tables_are_read(name: str, base: Path) -> None:
    """Tables under the names of an older release are opened and answer, no file is missed."""
    output = index_of(name, base) / "output" / "000001"
    (output / "search.arrays").unlink()
    for path in output.glob("*.parquet"):
        path.rename(path.with_name(f"create_final_{path.name}"))
    change_record(index_of(name, base) / "index.meta", files=..., graphrag_version="0.3.6")

    opened = engine(name, base)
    await opened.open_existing()
    result = await opened.retrieve("Who runs Orion Labs?")
    await opened.close()

    assert result.sources
