"""An open engine and an index that is replaced under it."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from holodeck.lib.contracts import Answer, AnswerContext, ContextReport
from holodeck.lib.graphrag.engine import GraphRAGEngine
from holodeck.lib.graphrag.storage import GraphRAGStorage, IndexMetadata
from holodeck.lib.graphrag.tables import ALWAYS, write_rows, write_vectors
from holodeck.lib.results import SearchResult
from holodeck.models.tool import VectorstoreTool
from holodeck.testing.resources import FixedResources
from holodeck.testing.words import WordEmbedder, word_vector

pytestmark = pytest.mark.unit

CONFIG = VectorstoreTool(name="k", source="docs", engine="graphrag")


class Patient:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def answer_local(self, question: str, context: AnswerContext) -> Answer:
        self.asked.set()
        await self.may_answer.wait()
        return Answer(text="yes")

    async def answer_global(self, question: str, reports: Sequence[ContextReport]) -> Answer:
        return Answer(text="yes")


def publish(folder: Path, generation: str, text: str) -> None:
    """Commit an index of one entity and one text, as a builder in another process does."""
    storage = GraphRAGStorage(CONFIG, folder)
    tables, vectors = storage.generation_dirs(generation)
    tables.mkdir(parents=True)
    vectors.mkdir(parents=True)
    for table in ALWAYS:
        write_rows(tables, table, [])
    write_rows(
        tables,
        "entities",
        [{"id": "e", "human_readable_id": 0, "title": "Ann", "text_unit_ids": ["u"]}],
    )
    unit = {"id": "u", "human_readable_id": 0, "text": text, "document_id": "d"}
    write_rows(tables, "text_units", [unit])
    write_rows(tables, "sources", [{"text_unit_id": "u", "path": "a.txt"}])
    row = np.array([word_vector("Ann:", 256)], dtype=np.float32)
    write_vectors(vectors, "entity_description", ["e"], [row], 256)
    (tables / "prompts.json").write_text("{}", encoding="utf-8")
    storage.save_metadata(
        IndexMetadata(
            tool_name="k",
            source_path="docs",
            source_hash="",
            indexed_at="",
            file_count=1,
            entity_count=1,
            generation=generation,
        )
    )


def texts(result: SearchResult) -> list[str]:
    return [source.text for source in result.sources]


async def opened(folder: Path, steps: Patient | None = None) -> GraphRAGEngine:
    (folder / "docs").mkdir()
    publish(folder, "000001", "Ann runs Orion")
    resources = FixedResources(embedder=WordEmbedder(), steps=steps or Patient())
    engine = GraphRAGEngine(CONFIG, str(folder), resources=resources)
    await engine.open_existing()
    return engine


async def test_a_search_after_a_replacement_sees_the_new_index(tmp_path: Path) -> None:
    """An open engine answers from what is committed, without being opened again."""
    engine = await opened(tmp_path)
    before = await engine.retrieve("Ann", answer=False)
    publish(tmp_path, "000002", "Ann runs Vega")
    after = await asyncio.gather(*(engine.retrieve("Ann", answer=False) for _ in range(10)))
    await engine.close()

    assert texts(before) == ["Ann runs Orion"]
    assert [texts(result) for result in after] == [["Ann runs Vega"]] * 10


async def test_a_running_search_finishes_on_the_index_it_began_with(tmp_path: Path) -> None:
    """Context, answer and sources are of one generation."""
    steps = Patient()
    engine = await opened(tmp_path, steps)
    running = asyncio.create_task(engine.retrieve("Ann"))
    await steps.asked.wait()
    publish(tmp_path, "000002", "Ann runs Vega")
    later = await engine.retrieve("Ann", answer=False)
    steps.may_answer.set()
    first = await running
    await engine.close()

    assert (texts(first), texts(later)) == (["Ann runs Orion"], ["Ann runs Vega"])


async def test_an_index_that_was_cleared_stays_open(tmp_path: Path) -> None:
    """What was opened is kept until there is something newer."""
    engine = await opened(tmp_path)
    engine.storage.metadata_path.unlink()
    result = await engine.retrieve("Ann", answer=False)
    await engine.close()

    assert texts(result) == ["Ann runs Orion"]


async def test_a_replaced_generation_is_given_back(tmp_path: Path) -> None:
    """Who opened the new one holds no lease on the old one: it can be swept."""
    engine = await opened(tmp_path)
    publish(tmp_path, "000002", "Ann runs Vega")
    await engine.retrieve("Ann", answer=False)
    engine.storage.sweep()
    await engine.close()

    assert not engine.storage.generation_dirs("000001")[0].exists()


async def test_a_search_reads_no_table(tmp_path: Path) -> None:
    """Tables and vectors are read when the index is opened, never for a question."""
    engine = await opened(tmp_path)
    for folder in engine.storage.generation_dirs("000001"):
        shutil.rmtree(folder)
    result = await engine.retrieve("Ann", answer=False)
    await engine.close()

    assert texts(result) == ["Ann runs Orion"]


async def test_many_threads_search_while_the_index_is_replaced(tmp_path: Path) -> None:
    """Ten loops in ten threads on one engine: each answer is of the old index or of the new one."""
    engine = await opened(tmp_path)
    begun = threading.Barrier(11)

    def search_again_and_again() -> list[list[str]]:
        begun.wait()
        return [texts(asyncio.run(engine.retrieve("Who is Ann?", answer=False))) for _ in range(10)]

    with ThreadPoolExecutor(10) as threads:
        running = [threads.submit(search_again_and_again) for _ in range(10)]
        begun.wait()
        publish(tmp_path, "000002", "Ann runs Vega")
        found = [texts for each in running for texts in each.result()]
    after = texts(await engine.retrieve("Ann", answer=False))
    await engine.close()

    assert len(found) == 100
    assert {tuple(each) for each in found} <= {("Ann runs Orion",), ("Ann runs Vega",)}
    assert after == ["Ann runs Vega"]
