"""An index that the library's own command line built: opened where it lies, and left as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holodeck.config.loader import load_agent
from holodeck.config.paths import find_path_problems
from holodeck.errors import ConfigError, SearchError, TableNotFoundError
from holodeck.lib.contracts import Answer, AnswerContext, ContextReport
from holodeck.lib.graphrag.search import create_search_engine
from holodeck.lib.graphrag.storage import GraphRAGStorage
from holodeck.lib.graphrag.tables import write_rows, write_vectors
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool
from holodeck.testing.resources import FixedResources
from holodeck.testing.words import WordEmbedder, word_vector
from holodeck.tools.vectorstore_tool import VectorStoreTool

pytestmark = pytest.mark.unit

TEXT = "Ann runs Orion in Oslo."


def write_foreign(folder: Path, release: str = "3.x", *, vectors: bool = True) -> Path:
    """Write a small index with the names and columns of a release, and nothing of ours."""
    folder.mkdir(parents=True, exist_ok=True)
    entity = {"human_readable_id": 0, "type": "person", "text_unit_ids": ["u"], "degree": 1}
    entities = [{**entity, "id": f"e{name}", "title": name} for name in ("Ann", "Orion")]
    edge = {"id": "r", "human_readable_id": 0, "source": "Ann", "target": "Orion", "weight": 1.0}
    community = {"id": "c", "community": 0, "level": 0, "parent": -1, "title": "Orion"}
    report = {**community, "summary": "s", "full_content": "Ann runs Orion.", "rank": 5.0}
    unit = {"id": "u", "human_readable_id": 0, "text": TEXT, "document_id": "d"}
    write_rows(folder, "documents", [{"id": "d", "title": "a.txt", "text": TEXT}])
    write_rows(folder, "text_units", [{**unit, "relationship_ids": ["r"]}])
    write_rows(folder, "entities", entities)
    write_rows(folder, "relationships", [{**edge, "combined_degree": 2, "text_unit_ids": ["u"]}])
    members = {"entity_ids": ["eAnn", "eOrion"], "text_unit_ids": ["u"]}
    write_rows(folder, "communities", [{**community, **members}])
    write_rows(folder, "community_reports", [report])
    if release == "2.x":
        units = pq.read_table(folder / "text_units.parquet").drop_columns(["document_id"])
        several = pa.array([["d"]], pa.list_(pa.string()))
        units = units.append_column("document_ids", several)
        pq.write_table(units, folder / "text_units.parquet")
    if vectors:
        prefix = "default-" if release == "2.x" else ""
        names = ["entity_description", "text_unit_text"]
        for name, texts in zip(names, (["Ann", "Orion"], [TEXT]), strict=True):
            stored = prefix + (name.replace("_", "-") if prefix else name)
            rows = np.array([word_vector(text, 256) for text in texts], dtype=np.float32)
            ids = ["eAnn", "eOrion"] if name.startswith("entity") else ["u"]
            write_vectors(folder / "lancedb", stored, ids, [rows], 256)
    return folder


def rename_as_before_release_2(folder: Path, *, as_folders: bool) -> None:
    for file in sorted(folder.glob("*.parquet")):
        old = folder / f"create_final_{file.name}"
        if as_folders:
            old = folder / f"create_final_{file.stem}" / "part-0.parquet"
            old.parent.mkdir()
        file.rename(old)


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Answering:
    """Answers with what it is given."""

    async def answer_local(self, question: str, context: AnswerContext) -> Answer:
        return Answer(text=", ".join(entity.title for entity in context.entities))

    async def answer_global(self, question: str, reports: Sequence[ContextReport]) -> Answer:
        return Answer(text=reports[0].content)


def config(storage: Path) -> VectorstoreTool:
    return VectorstoreTool.model_validate(
        {
            "name": "theirs",
            "source": "nowhere",
            "engine": "graphrag",
            "graphrag": {"storage_dir": str(storage)},
        }
    )


def tool(storage: Path, base: Path) -> VectorStoreTool:
    resources = FixedResources(embedder=WordEmbedder(), steps=Answering())
    return VectorStoreTool(config(storage), base_dir=str(base), resources=resources)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return the folder of a project."""
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.mark.parametrize("release", ["3.x", "2.x"])
@pytest.mark.parametrize("below", [".", "output"])
async def test_it_answers_where_it_lies_and_nothing_is_written_there(
    tmp_path: Path, base: Path, release: str, below: str
) -> None:
    """Tables in the folder or in its ``output``; no document is needed, and none is read."""
    theirs = tmp_path / "theirs"
    write_foreign(theirs / below, release)
    before = content(theirs)
    opened = tool(theirs, base)
    await opened.initialize()
    local = await opened.retrieve("Who is Ann?")
    themes = await opened.retrieve("What are the themes?", mode="global")
    counts = opened.engine.index_stats
    await opened.close()

    assert local.response.startswith("Ann")
    assert [str(source) for source in local.sources] == ["a.txt"]
    assert themes.response == "Ann runs Orion."
    assert (counts["entities"], counts["text_units"], counts["files"]) == (2, 1, 1)
    assert content(theirs) == before
    assert list((base / ".holodeck").rglob("search.arrays"))


async def test_it_is_opened_without_building_too(tmp_path: Path, base: Path) -> None:
    """``open_existing`` and the search classes of the contract find the same index."""
    opened = tool(write_foreign(tmp_path / "theirs"), base)
    await opened.open_existing()
    result = await opened.retrieve("Who is Ann?")
    await opened.close()
    storage = GraphRAGStorage(config(tmp_path / "theirs"), base)
    bare = create_search_engine(config(tmp_path / "theirs"), storage)
    await bare.initialize()

    assert result.response.startswith("Ann")
    assert storage.has_valid_index()
    assert storage.output_dir == tmp_path / "theirs"
    assert list(storage.load_table("entities")["title"]) == ["Ann", "Orion"]
    assert not storage.needs_reindex(base / "nowhere")
    assert not (tmp_path / "theirs" / "search.arrays").exists()


@pytest.mark.parametrize(("release", "old"), [("3.x", False), ("2.x", False), ("1.x", True)])
def test_its_state_names_the_release_that_built_it(
    tmp_path: Path, base: Path, release: str, old: bool
) -> None:
    """It is never stale: who built it updates it."""
    theirs = write_foreign(tmp_path / "theirs", release)
    if old:
        rename_as_before_release_2(theirs, as_folders=False)
    status = tool(theirs, base).status()

    assert status.stale_reason is None
    assert status.counts["entities"] == 2
    assert status.indexed_at is not None
    assert any(f"built by graphrag {release}" in warning for warning in status.warnings)


async def test_it_is_neither_built_anew_nor_cleared(tmp_path: Path, base: Path) -> None:
    """Whatever is asked for: the message names whose it is and the setting."""
    theirs = write_foreign(tmp_path / "theirs")
    before = content(theirs)
    opened, storage = tool(theirs, base), GraphRAGStorage(config(theirs), base)
    with pytest.raises(ConfigError, match=r"graphrag 3\.x built.*graphrag\.storage_dir"):
        await opened.initialize(force_ingest=True)
    await opened.initialize(retry_failed=True)
    await opened.close()
    with pytest.raises(ConfigError, match=r"graphrag 3\.x built"):
        await opened.estimate(force_ingest=True)
    assert (await opened.estimate()).reason is None
    for refused in (storage.clear_index, storage.ensure_directories):
        with pytest.raises(ConfigError, match=r"graphrag 3\.x built"):
            refused()

    assert not opened.engine.was_built
    assert content(theirs) == before


@pytest.mark.parametrize("as_folders", [False, True], ids=["files", "folders of parts"])
async def test_older_names_of_tables_are_searched_too(
    tmp_path: Path, base: Path, as_folders: bool
) -> None:
    """``create_final_*``, where the columns are those that a search needs."""
    theirs = write_foreign(tmp_path / "theirs")
    rename_as_before_release_2(theirs, as_folders=as_folders)
    opened = tool(theirs, base)
    await opened.initialize()
    result = await opened.retrieve("Who is Ann?")
    await opened.close()

    assert result.response.startswith("Ann")


@pytest.mark.parametrize(("column", "release"), [("degree", "1.x"), ("title", "0.x")])
async def test_tables_that_are_too_old_are_refused_with_their_release(
    tmp_path: Path, base: Path, column: str, release: str
) -> None:
    """The message names the release, what is missing and what can be read; nothing is built."""
    theirs = write_foreign(tmp_path / "theirs")
    entities = pq.read_table(theirs / "entities.parquet")
    names = ["name" if name == "title" else name for name in entities.column_names]
    changed = entities.rename_columns(names) if column == "title" else entities.drop_columns(column)
    pq.write_table(changed, theirs / "entities.parquet")
    rename_as_before_release_2(theirs, as_folders=False)
    opened = tool(theirs, base)

    with pytest.raises(TableNotFoundError, match=f"no column '{column}'.*graphrag {release}") as no:
        await opened.initialize()
    await opened.close()

    assert "2.x and 3.x can be read" in str(no.value)
    assert "build it again with the library" in str(no.value)


async def test_without_vectors_only_local_search_is_refused(tmp_path: Path, base: Path) -> None:
    """They may lie in a store elsewhere: global search needs none, and local search says so."""
    opened = tool(write_foreign(tmp_path / "theirs", vectors=False), base)
    await opened.initialize()
    with pytest.raises(SearchError, match=r"no vectors of them.*ask with --mode global"):
        await opened.retrieve("Who is Ann?")
    themes = await opened.retrieve("Themes?", mode="global")
    await opened.close()

    assert themes.response == "Ann runs Orion."


async def test_an_embedding_model_of_another_width_is_told(tmp_path: Path, base: Path) -> None:
    """The one that the index was built with has to be named."""
    resources = FixedResources(embedder=WordEmbedder(width=8), steps=Answering())
    theirs = write_foreign(tmp_path / "theirs")
    opened = VectorStoreTool(config(theirs), base_dir=str(base), resources=resources)
    await opened.initialize()
    with pytest.raises(SearchError, match=r"of 8 numbers.*of 256: name the model that it was"):
        await opened.retrieve("Who is Ann?")
    await opened.close()


def test_a_damaged_table_is_told_and_left(tmp_path: Path, base: Path) -> None:
    """The mend is the library's, since HoloDeck does not build this index."""
    theirs = write_foreign(tmp_path / "theirs")
    (theirs / "relationships.parquet").write_bytes(b"PAR1 cut")
    before = content(theirs)
    opened = tool(theirs, base)

    with pytest.raises(TableNotFoundError, match=r"relationships.*again with the graphrag library"):
        asyncio.run(opened.initialize())

    assert content(theirs) == before


def test_its_project_needs_no_documents_and_its_cache_is_ours(tmp_path: Path, base: Path) -> None:
    """Nothing is read as a document and nothing written beside it, so neither is looked at."""
    theirs = write_foreign(tmp_path / "theirs")
    (base / "agent.yaml").write_text(
        f"""name: a
model: {{provider: embedded}}
tools:
  - {{name: theirs, type: vectorstore, engine: graphrag, source: nowhere,
     graphrag: {{storage_dir: {theirs}}}}}
  - {{name: again, type: vectorstore, engine: graphrag, source: elsewhere,
     graphrag: {{storage_dir: {theirs}}}}}
""",
        encoding="utf-8",
    )
    storage = GraphRAGStorage(config(theirs), base)

    assert find_path_problems(load_agent(base / "agent.yaml", environ={})) == []
    assert storage.cache_dir_for(ExecutionConfig()) == base / ".holodeck" / "cache"


async def test_the_embedded_provider_reads_it_too(tmp_path: Path, base: Path) -> None:
    """Global search calls no model there: every report is at hand."""
    opened = VectorStoreTool(
        config(write_foreign(tmp_path / "theirs")),
        base_dir=str(base),
        agent_model=LLMProvider(provider="embedded"),
    )
    await opened.initialize()
    result = await opened.retrieve("Who runs Orion?", mode="global")
    await opened.close()

    assert "Ann runs Orion" in result.response
