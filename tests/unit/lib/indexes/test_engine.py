"""A third engine: what it has to write itself, and what the frames do for it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from holodeck.errors import (
    ConfigError,
    IndexingError,
    NotInitializedError,
    ReadError,
    SearchError,
)
from holodeck.lib.chunking import ChunkEnds
from holodeck.lib.contracts import EstimateRow, ProgressListener
from holodeck.lib.indexes.builder_lock import builder_lock
from holodeck.lib.indexes.corpus import Corpus
from holodeck.lib.indexes.engine import IndexEngine
from holodeck.lib.indexes.folder import IndexFolder
from holodeck.lib.indexes.indexer import Indexer, PaidModel
from holodeck.lib.indexes.leases import Lease
from holodeck.lib.indexes.record import IndexRecord
from holodeck.lib.readers.time_limit import too_slow
from holodeck.lib.resources import resolve_tool
from holodeck.lib.results import SearchResult
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import ModelSettings
from holodeck.models.tool import VectorstoreTool
from holodeck.testing.resources import FixedResources
from holodeck.testing.words import WordEmbedder

pytestmark = pytest.mark.unit


class LineIndexer(Indexer[IndexRecord]):
    """Keeps the texts in one file."""

    embedding_settings: ClassVar[tuple[str, ...]] = ()

    @property
    def chunking(self) -> tuple[int, int, ChunkEnds]:
        return 50, 0, "sentences"

    def paid_models(self) -> Sequence[PaidModel]:
        return ()

    async def estimate_rows(self, corpus: Corpus) -> list[EstimateRow]:
        return []

    def shaping_settings(self) -> Mapping[str, str]:
        return {"chunk_ends": self._tool.chunk_ends}

    def check(self) -> None:
        pass

    def needed_bytes(self, corpus: Corpus, width: int) -> int:
        return corpus.text_bytes

    async def fill(self, corpus: Corpus) -> IndexRecord:
        texts = [unit.text for unit in corpus.prepared.text_units]
        if "broken" in texts:
            raise IndexingError("a text is broken")
        (folder,) = self._folder.generations.folders(corpus.generation)
        folder.mkdir(parents=True)
        (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
        return IndexRecord(**corpus.record_fields(), warnings=tuple(corpus.warnings))


class LineEngine(IndexEngine[IndexRecord, list[str]]):
    """Finds the texts that hold a word."""

    name: ClassVar[str] = "default"
    modes: ClassVar[tuple[str, ...]] = ("word", "stuck")
    faster: ClassVar[str] = "a faster machine"

    def make_folder(self, base_dir: Path) -> IndexFolder[IndexRecord]:
        return IndexFolder(self.config, base_dir, record_type=IndexRecord, parts=["texts"])

    def make_indexer(
        self, *, in_process: bool, on_progress: ProgressListener | None, wait_for_builder: bool
    ) -> LineIndexer:
        return LineIndexer(
            self._resolved,
            self._folder,
            execution=self._execution,
            resources=self._resources,
            on_progress=on_progress,
            wait_for_builder=wait_for_builder,
        )

    @property
    def default_mode(self) -> str:
        return "word"

    def open_generation(self, record: IndexRecord) -> list[str]:
        (folder,) = self._folder.generations.folders(record.generation)
        texts: list[str] = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
        return texts

    async def answer(
        self, content: list[str], query: str, *, mode: str, answer: bool
    ) -> SearchResult:
        if mode == "stuck":
            await asyncio.Event().wait()
        found = [text for text in content if query in text]
        return SearchResult(response="\n".join(found), search_mode=mode)

    def render(self, query: str, result: SearchResult) -> str:
        return result.response


def engine(
    folder: Path, *, search_timeout: float = 5.0, file_timeout: float = 60.0, **settings: Any
) -> LineEngine:
    return LineEngine(
        VectorstoreTool(name="atlas", source="docs", **settings),
        str(folder),
        ExecutionConfig(search_timeout=search_timeout, file_timeout=file_timeout),
        resources=FixedResources(embedder=WordEmbedder()),
    )


def record_file(folder: Path) -> Path:
    (found,) = (folder / ".holodeck").rglob("index.meta")
    return found


def write(folder: Path, text: str) -> None:
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "a.txt").write_text(text, encoding="utf-8")


async def test_the_frames_build_open_follow_and_answer(tmp_path: Path) -> None:
    """An engine that only fills, opens and answers is built once and follows its index."""
    write(tmp_path, "ann runs orion")
    reader, builder = engine(tmp_path), engine(tmp_path)
    await reader.initialize()
    built = reader.was_built
    await builder.initialize()

    assert (built, builder.was_built) == (True, False)
    assert await reader.search("orion") == "ann runs orion"
    assert reader.index_stats == {"files": 1}

    write(tmp_path, "bob runs orion")
    await engine(tmp_path).initialize()
    assert await reader.search("orion") == "bob runs orion"
    assert builder.status().stale_reason is None
    await reader.close()
    await builder.close()


async def test_the_frames_say_why_an_index_is_stale(tmp_path: Path) -> None:
    """No index, no source, other settings, a missing folder, other documents: in this order."""
    assert (
        engine(tmp_path).status().stale_reason == f"the source {tmp_path / 'docs'} does not exist"
    )
    write(tmp_path, "ann runs orion")
    assert engine(tmp_path).status().stale_reason == "there is no index yet"
    await engine(tmp_path).initialize()
    assert engine(tmp_path).status().stale_reason is None
    changed = engine(tmp_path, chunk_ends="words").status().stale_reason
    assert changed == "settings changed (chunk_ends: sentences → words)"
    write(tmp_path, "bob runs orion")
    assert engine(tmp_path).status().stale_reason == "the documents changed"


async def test_the_skipped_files_are_those_of_the_folder(tmp_path: Path) -> None:
    """One more, one renamed, one gone: said by the next ``initialize``, which builds nothing."""
    write(tmp_path, "ann runs orion")
    await engine(tmp_path).initialize()
    (tmp_path / "docs" / "void.txt").touch()
    await engine(tmp_path).initialize()
    generation = json.loads(record_file(tmp_path).read_text(encoding="utf-8"))["generation"]
    photo = tmp_path / "docs" / "photo.xyz"
    photo.touch()
    reasons, skipped = [], []
    for change in (photo.touch, lambda: photo.rename(photo.with_name("dog.xyz"))):
        change()
        reasons.append(engine(tmp_path).status().stale_reason)
        opened = engine(tmp_path)
        await opened.initialize()
        skipped.append(sorted(opened.status().skipped))
        assert not opened.was_built
        await opened.close()
    (tmp_path / "docs" / "dog.xyz").unlink()
    await engine(tmp_path).initialize()

    assert reasons == ["other files are skipped"] * 2
    assert skipped == [["photo.xyz", "void.txt"], ["dog.xyz", "void.txt"]]
    assert list(engine(tmp_path).status().skipped) == ["void.txt"]
    assert engine(tmp_path).status().stale_reason is None
    last = json.loads(record_file(tmp_path).read_text(encoding="utf-8"))["generation"]
    assert last == generation


async def test_who_cannot_write_the_list_of_skipped_files_is_told_and_searches(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The index is as it must be: only what it says of other files is old."""
    write(tmp_path, "ann runs orion")
    await engine(tmp_path).initialize()
    (tmp_path / "docs" / "photo.xyz").touch()
    record_file(tmp_path).with_name(f"index.meta.{os.getpid()}.tmp").mkdir()
    reader = engine(tmp_path)
    await reader.initialize()

    assert await reader.search("orion") == "ann runs orion"
    assert "other files are skipped" in caplog.text
    assert reader.status().stale_reason == "other files are skipped"
    await reader.close()


async def test_strict_holds_for_an_index_that_is_there(tmp_path: Path) -> None:
    """It is no setting of the index; a file that comes later, or was skipped before, is refused."""
    write(tmp_path, "ann runs orion")
    await engine(tmp_path).initialize()
    assert engine(tmp_path, strict=True).status().stale_reason is None

    for name in ("photo.xyz", "void.txt"):
        (tmp_path / "docs" / name).touch()
        await engine(tmp_path).initialize()
        with pytest.raises(ReadError, match=name):
            await engine(tmp_path, strict=True).initialize()
        (tmp_path / "docs" / name).unlink()


async def test_more_time_for_a_file_reads_again_what_had_too_little(tmp_path: Path) -> None:
    """A file skipped for its time is tried when ``file_timeout`` is another one."""
    write(tmp_path, "ann runs orion")
    await engine(tmp_path).initialize()
    path = record_file(tmp_path)
    record = json.loads(path.read_text(encoding="utf-8"))
    record["skipped"] = {"a.txt": too_slow(60)}
    path.write_text(json.dumps(record), encoding="utf-8")

    same = engine(tmp_path).status().stale_reason
    more = engine(tmp_path, file_timeout=90.0).status().stale_reason

    assert same is None
    assert more == "execution.file_timeout changed, and a file was skipped for its time"


async def test_a_build_that_fails_leaves_the_index_and_no_rubbish(tmp_path: Path) -> None:
    """Half a generation is deleted, and the old one answers."""
    write(tmp_path, "ann runs orion")
    await engine(tmp_path).initialize()
    write(tmp_path, "broken")
    with pytest.raises(IndexingError, match="broken"):
        await engine(tmp_path).initialize()

    old = engine(tmp_path)
    await old.open_existing()
    assert await old.search("orion") == "ann runs orion"
    texts = tmp_path / ".holodeck" / "vectorstore" / "atlas" / "texts"
    assert [path.name for path in texts.iterdir()] == ["000001"]
    await old.close()


async def test_the_frames_refuse_for_every_engine(tmp_path: Path) -> None:
    """Before it is open, for a mode that is not there, out of time: one message each."""
    write(tmp_path, "ann runs orion")
    opened = engine(tmp_path, search_timeout=0.01)
    with pytest.raises(NotInitializedError, match=r"call initialize\(\) first"):
        await opened.search("orion")
    with pytest.raises(SearchError, match=r"no index in .*no index yet"):
        await opened.open_existing()
    await opened.initialize()
    with pytest.raises(ConfigError, match="no search mode 'global': use one of word, stuck"):
        await opened.search("orion", mode="global")
    with pytest.raises(SearchError, match=r"longer than 0\.01 s.*a faster machine"):
        await opened.search("orion", mode="stuck")
    await opened.close()
    with pytest.raises(ConfigError, match="requires engine='default'"):
        LineEngine(VectorstoreTool(name="atlas", source="docs", engine="graphrag"), os.devnull)


def index_of(folder: Path) -> Path:
    return folder / ".holodeck" / "vectorstore" / "atlas"


def leave_rubbish(folder: Path) -> None:
    """Leave what a killed build leaves."""
    (index_of(folder) / "texts" / "000007").mkdir(parents=True, exist_ok=True)
    (index_of(folder) / "index.meta.1234.tmp").touch()


async def test_what_a_killed_build_left_is_swept_though_nothing_is_built(tmp_path: Path) -> None:
    """The next one that may build sweeps, also where the index is up to date, but not under it."""
    write(tmp_path, "ann runs orion")
    reader = engine(tmp_path)
    await reader.initialize()
    leave_rubbish(tmp_path)
    lease = Lease(index_of(tmp_path) / "texts" / "000007")
    again = engine(tmp_path)
    await again.initialize()
    held = sorted(path.name for path in (index_of(tmp_path) / "texts").iterdir())
    lease.release()
    leave_rubbish(tmp_path)
    async with builder_lock(index_of(tmp_path) / ".lock", "atlas", wait_seconds=0):
        await engine(tmp_path).initialize()  # another one builds: what is there may be its own
    built = sorted(path.name for path in (index_of(tmp_path) / "texts").iterdir())
    await engine(tmp_path).initialize()

    assert (held, built) == (["000001", "000007"], ["000001", "000007"])
    assert [path.name for path in (index_of(tmp_path) / "texts").iterdir()] == ["000001"]
    assert list(index_of(tmp_path).glob("*.tmp")) == []
    assert not again.was_built
    assert await reader.search("orion") == "ann runs orion"


async def test_a_build_never_takes_the_name_of_one_that_was_killed(tmp_path: Path) -> None:
    """Its process may still be writing there for a moment."""
    write(tmp_path, "ann runs orion")
    leave_rubbish(tmp_path)
    await engine(tmp_path).initialize()

    assert [path.name for path in (index_of(tmp_path) / "texts").iterdir()] == ["000008"]


async def test_a_build_has_a_log(tmp_path: Path) -> None:
    """Why it was begun, each step, and how it ended."""
    write(tmp_path, "ann runs orion")
    await engine(tmp_path).initialize()
    write(tmp_path, "broken")
    with pytest.raises(IndexingError):
        await engine(tmp_path).initialize()

    logs = [
        [line.split(" ", 1)[1] for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted((index_of(tmp_path) / "logs").iterdir())
    ]
    assert logs == [
        [
            "building the index of tool 'atlas': there is no index yet",
            "read",
            "chunk (1)",
            "publish (1)",
            "published: 1 file",
        ],
        [
            "building the index of tool 'atlas': the documents changed",
            "read",
            "chunk (1)",
            "nothing was published: IndexingError: a text is broken",
        ],
    ]


class CountingResources(FixedResources):
    """Counts the questions to models."""

    def __init__(self) -> None:
        super().__init__(embedder=WordEmbedder())
        self.asked = 0

    async def probe_embedder(
        self, settings: ModelSettings, where: str, dimensions: int | None = None
    ) -> int | None:
        self.asked += 1
        return 4


def counted(folder: Path, resources: FixedResources, free: int = 10**12) -> LineIndexer:
    return LineIndexer(
        resolve_tool(VectorstoreTool(name="atlas", source="docs")),
        engine(folder).make_folder(folder),
        execution=ExecutionConfig(),
        resources=resources,
        free_bytes=lambda folder: free,
    )


async def test_a_full_disk_is_found_before_a_model_is_asked(tmp_path: Path) -> None:
    """What is needed is estimated from the texts; the message says it, and what is free."""
    write(tmp_path, "ann runs orion")
    resources = CountingResources()
    with pytest.raises(IndexingError, match=r"needs about 20 MB in .*atlas, and 20 MB are free"):
        await counted(tmp_path, resources, 20_000_013).build_index(tmp_path / "docs")
    assert resources.asked == 0

    await counted(tmp_path, resources, 20_000_014).build_index(tmp_path / "docs")
    assert resources.asked == 1


async def test_a_source_without_text_asks_no_model(tmp_path: Path) -> None:
    """There is nothing that a model would be needed for."""
    write(tmp_path, " ")
    resources = CountingResources()
    await counted(tmp_path, resources).build_index(tmp_path / "docs")

    assert resources.asked == 0
