"""The default engine: what it stores, what it answers, and how it fails."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import holodeck
from holodeck.errors import (
    ConfigError,
    EmptyQueryError,
    IndexBusyError,
    IndexingError,
    SearchError,
    TableNotFoundError,
)
from holodeck.lib.contracts import Progress
from holodeck.lib.indexes.builder_lock import builder_lock
from holodeck.lib.vectorstore.engine import VectorEngine
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool
from holodeck.testing.resources import FixedResources
from holodeck.testing.words import WordEmbedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH = 1024


class StuckEmbedder(WordEmbedder):
    """Never answer."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        await asyncio.Event().wait()
        raise AssertionError


class PatientEmbedder(WordEmbedder):
    """Answers when it is told to."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.set()
        await self.may_answer.wait()
        return await super().embed(texts)


class SameForAll(WordEmbedder):
    """Takes all texts for one."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return await super().embed(["orion ann"] * len(texts))


def write(folder: Path, **files: str) -> None:
    """Write ``name_txt="text"`` as ``docs/name.txt``."""
    for name, text in files.items():
        file = folder / "docs" / name.replace("_", ".")
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")


def engine(
    folder: Path,
    embedder: WordEmbedder | None = None,
    *,
    execution: ExecutionConfig | None = None,
    wait_for_builder: bool = True,
    **settings: Any,
) -> VectorEngine:
    return VectorEngine(
        VectorstoreTool(name="atlas", source="docs", **settings),
        str(folder),
        execution,
        resources=FixedResources(embedder=embedder or WordEmbedder(WIDTH)),
        wait_for_builder=wait_for_builder,
    )


async def build(folder: Path, **settings: Any) -> WordEmbedder:
    """Build and close; return the embedder."""
    embedder = WordEmbedder(WIDTH)
    built = engine(folder, embedder, **settings)
    await built.initialize()
    await built.close()
    return embedder


def run_python(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        check=False,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def index_of(folder: Path) -> Path:
    return folder / ".holodeck" / "vectorstore" / "atlas"


async def test_passages_come_with_scores_places_and_context(tmp_path: Path) -> None:
    """A text that stands in two files is one passage and two sources; the context is the texts."""
    write(tmp_path, a_txt="ann runs orion", b_txt="ann runs orion", c_txt="bob runs vega")
    opened = engine(tmp_path)
    await opened.initialize()

    result = await opened.retrieve("orion")

    assert opened.index_stats == {"files": 3, "documents": 2, "chunks": 2}
    assert [passage.text for passage in result.passages] == ["ann runs orion"]
    assert [str(source) for source in result.sources] == ["a.txt", "b.txt"]
    assert {source.text for source in result.sources} == {"ann runs orion"}
    assert result.context == "ann runs orion"
    assert result.search_mode == "hybrid"
    assert result.response == str(result)
    assert result.response.startswith(
        "Found 1 result(s):\n\n[1] Score: 0.79 | Source: a.txt; b.txt"
    )
    assert await opened.search("orion") == result.response
    await opened.close()


async def test_without_an_answer_there_are_passages_only(tmp_path: Path) -> None:
    """``answer=False`` gives context and sources, and no text made from them."""
    write(tmp_path, a_txt="ann runs orion")
    opened = engine(tmp_path)
    await opened.initialize()

    result = await opened.retrieve("orion", answer=False)

    assert (result.response, result.context) == ("", "ann runs orion")
    await opened.close()


async def test_more_places_than_are_printed_are_counted(tmp_path: Path) -> None:
    """Five places stand in the text, all of them in the result."""
    write(tmp_path, **{f"f{number}_txt": "ann runs orion" for number in range(7)})
    opened = engine(tmp_path)
    await opened.initialize()

    result = await opened.retrieve("orion")

    assert "f4.txt; and 2 more" in result.response
    assert len(result.sources) == 7
    await opened.close()


async def test_settings_of_the_search_have_their_effect(tmp_path: Path) -> None:
    """``top_k``, ``mode`` and ``min_similarity_score`` decide what is returned."""
    write(tmp_path, a_txt="orion ann", b_txt="orion bob carl dora", c_txt="lyra")
    await build(tmp_path)

    async def found(**settings: Any) -> list[str]:
        opened = engine(tmp_path, **settings)
        await opened.initialize()
        assert not opened.was_built
        result = await opened.retrieve("orion ann")
        await opened.close()
        return [str(source) for source in result.sources]

    assert await found() == ["a.txt", "b.txt"]
    assert await found(top_k=1) == ["a.txt"]
    assert await found(min_similarity_score=0.9, mode="keyword") == ["a.txt"]
    assert await found(mode="vector", min_similarity_score=0.3) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
async def test_a_least_similarity_that_nothing_reaches_is_said(tmp_path: Path, mode: str) -> None:
    """With what the nearest passage has, so that the user knows what to set."""
    write(tmp_path, a_txt="orion ann", b_txt="orion bob carl dora")
    await build(tmp_path)
    opened = engine(tmp_path, min_similarity_score=0.99)
    await opened.initialize()
    result = await opened.retrieve("orion eve", mode=mode)
    await opened.close()

    assert result.passages == ()
    assert result.notes == (
        "no passage reaches min_similarity_score 0.99: the nearest has 0.50. Lower it, or ask in "
        "the documents' words",
    )


async def test_a_file_where_the_index_has_a_folder_is_named(tmp_path: Path) -> None:
    """By a search of what is there and by a build, and it is not deleted."""
    write(tmp_path, a_txt="orion ann")
    await build(tmp_path)
    folder = index_of(tmp_path) / "generations"
    shutil.rmtree(folder)
    folder.write_text("mine", encoding="utf-8")
    opened = engine(tmp_path)

    with pytest.raises(TableNotFoundError, match=r"generations.* cannot be opened \(Not a dir"):
        await opened.open_existing()
    with pytest.raises(ConfigError, match=r"generations\); free that path"):
        await opened.initialize()
    assert folder.read_text(encoding="utf-8") == "mine"


async def test_near_passages_without_a_word_of_the_question_are_told_apart(tmp_path: Path) -> None:
    """Keyword search finds none of them, however near they are: it is not the limit that failed."""
    write(tmp_path, a_txt="orion ann")
    await build(tmp_path)
    opened = engine(tmp_path, SameForAll(WIDTH), min_similarity_score=0.5)
    await opened.initialize()
    (note,) = (await opened.retrieve("zoe", mode="keyword")).notes
    await opened.close()

    assert note.startswith("no passage that shares a word with the question reaches min_sim")


async def test_keyword_search_asks_no_model(tmp_path: Path) -> None:
    """Words are looked up without an embedding, unless a least similarity needs one."""
    write(tmp_path, a_txt="orion ann")
    await build(tmp_path)

    for limit, embedded in ((None, []), (0.1, ["orion"])):
        embedder = WordEmbedder(WIDTH)
        opened = engine(tmp_path, embedder, min_similarity_score=limit)
        await opened.initialize()
        assert (await opened.retrieve("orion", mode="keyword")).passages
        assert embedder.embedded == embedded
        await opened.close()


async def test_only_new_texts_are_embedded(tmp_path: Path) -> None:
    """An edit costs the edited text; a copy, a rename, a deletion and a new name cost nothing."""
    write(tmp_path, a_txt="ann runs orion", b_txt="bob runs vega")
    assert sorted((await build(tmp_path)).embedded) == ["ann runs orion", "bob runs vega"]

    write(tmp_path, a_txt="cara runs orion")
    assert (await build(tmp_path)).embedded == ["cara runs orion"]

    write(tmp_path, copy_txt="cara runs orion")
    (tmp_path / "docs" / "b.txt").rename(tmp_path / "docs" / "z.txt")
    (tmp_path / "docs" / "a.txt").unlink()
    assert (await build(tmp_path)).embedded == []

    opened = engine(tmp_path)
    await opened.initialize()
    assert [str(s) for s in (await opened.retrieve("orion vega")).sources] == ["copy.txt", "z.txt"]
    await opened.close()


async def test_chunks_of_an_older_version_of_a_file_are_gone(tmp_path: Path) -> None:
    """A file of five chunks that becomes one of two leaves exactly two."""
    words = [f"word{number}" for number in range(1000)]
    write(tmp_path, a_txt=" ".join(words[:110]))
    counts = []
    for end in (110, 110, 40):
        write(tmp_path, a_txt=" ".join(words[:end]))
        opened = engine(tmp_path, chunk_size=50, chunk_overlap=0)
        await opened.initialize()
        counts.append(opened.index_stats["chunks"])
        await opened.close()

    assert counts == [5, 5, 2]


async def test_new_chunk_settings_are_named_and_unchanged_texts_keep_their_vectors(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says which setting builds the index anew."""
    caplog.set_level("INFO")
    write(tmp_path, a_txt="ann runs orion")
    await build(tmp_path)

    embedder = await build(tmp_path, chunk_size=400)

    assert "settings changed (chunk_size: 512 → 400)" in caplog.text
    assert embedder.embedded == []


async def test_another_model_of_the_same_width_embeds_everything_anew(tmp_path: Path) -> None:
    """Equal widths do not make two models one."""
    write(tmp_path, a_txt="ann runs orion")
    await build(tmp_path)

    assert (await build(tmp_path, embedding_model="other")).embedded == ["ann runs orion"]


async def test_a_model_that_changed_its_width_is_an_error_until_forced(tmp_path: Path) -> None:
    """A search and an update both say that the model is another one; force mends it."""
    write(tmp_path, a_txt="ann runs orion")
    await build(tmp_path)
    narrow = engine(tmp_path, WordEmbedder(64))
    await narrow.initialize()
    with pytest.raises(SearchError, match=r"64 numbers and the index holds vectors of 1024"):
        await narrow.retrieve("orion")

    write(tmp_path, b_txt="bob runs vega")
    updated = engine(tmp_path, WordEmbedder(64))
    with pytest.raises(IndexingError, match="another model under the same name"):
        await updated.initialize()
    await updated.initialize(force_reindex=True)

    assert len((await updated.retrieve("runs")).passages) == 2
    await narrow.close()
    await updated.close()


async def test_force_embeds_anew_and_repeats_an_open_engine(tmp_path: Path) -> None:
    """A rebuild that is asked for is done, also when all is open and up to date."""
    write(tmp_path, a_txt="ann runs orion")
    embedder = WordEmbedder(WIDTH)
    opened = engine(tmp_path, embedder)
    await opened.initialize()

    await opened.initialize(force_reindex=True)

    assert opened.was_built
    assert embedder.embedded == ["ann runs orion", "ann runs orion"]
    await opened.close()


def spoil(path: Path) -> None:
    path.write_bytes(b"damaged")


def loop(path: Path) -> None:
    """Make every look at a file fail with an error that is not "no such file"."""
    path.unlink()
    path.symlink_to(path)


@pytest.mark.parametrize("damage", [spoil, loop])
async def test_an_unreadable_store_is_named_and_written_anew_once(
    damage: Callable[[Path], None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A look-up that fails is told, and is never "nothing was found".

    Nothing is taken over, no chunk is left twice, and the next starts are ordinary ones.
    """
    write(tmp_path, a_txt="ann runs orion")
    await build(tmp_path)
    manifests = sorted(index_of(tmp_path).rglob("*.manifest"))
    for manifest in manifests:
        damage(manifest)
    write(tmp_path, b_txt="bob runs vega")
    embedder = WordEmbedder(WIDTH)

    for _ in range(3):
        opened = engine(tmp_path, embedder)
        await opened.initialize()
        assert opened.index_stats["chunks"] == 2
        await opened.close()

    assert str(manifests[0]) in caplog.text
    assert sorted(embedder.embedded) == ["ann runs orion", "bob runs vega"]


def derived_of(folder: Path) -> Path:
    (found,) = index_of(folder).rglob("search.arrays")
    return found


def change(path: Path, old: bytes, new: bytes) -> None:
    """Change bytes of a file and not its size, as a failing disk does."""
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
@pytest.mark.parametrize("is_open", [False, True])
async def test_damage_of_what_was_prepared_is_mended_by_the_search_that_reads_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: str, is_open: bool
) -> None:
    """It is derived again of the table, with a warning; nothing is built, embedded or wrong."""
    write(tmp_path, a_txt="ann runs orion", b_txt="bob runs vega")
    await build(tmp_path)
    whole = derived_of(tmp_path).read_bytes()
    opened = engine(tmp_path)
    if is_open:
        await opened.initialize()
    change(derived_of(tmp_path), b"ann runs orion", b"ann owns orion")
    if not is_open:
        await opened.initialize()

    for _ in range(2):
        result = await opened.retrieve("who runs orion", mode=mode)
        assert result.passages[0].text == "ann runs orion"

    assert caplog.text.count("making it again") == 1
    assert derived_of(tmp_path).read_bytes() == whole
    assert not opened.was_built
    await opened.close()


async def test_a_search_that_finds_table_and_preparation_damaged_says_so(tmp_path: Path) -> None:
    """Neither an answer from damaged bytes nor a traceback: the file, and a mend that mends."""
    write(tmp_path, a_txt="ann runs orion")
    await build(tmp_path)
    change(derived_of(tmp_path), b"ann runs orion", b"ann owns orion")
    (data,) = index_of(tmp_path).rglob("chunks.lance/data/*.lance")
    change(data, b"ann runs orion", b"ann owns orion")
    opened = engine(tmp_path)
    await opened.initialize()

    with pytest.raises(TableNotFoundError, match=r"\.lance holds other bytes .*'holodeck index'"):
        await opened.retrieve("orion")
    await opened.close()
    await build(tmp_path)
    opened = engine(tmp_path)
    await opened.initialize()
    assert (await opened.retrieve("orion")).passages[0].text == "ann runs orion"
    await opened.close()


async def test_a_table_that_changed_unseen_is_never_taken_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A search that reads no table does not see it; the build that would take vectors over does."""
    write(tmp_path, a_txt="ann runs orion")
    await build(tmp_path)
    (data,) = index_of(tmp_path).rglob("chunks.lance/data/*.lance")
    change(data, b"ann runs orion", b"ann owns orion")
    opened = engine(tmp_path)
    await opened.initialize()
    assert (await opened.retrieve("orion")).passages[0].text == "ann runs orion"
    await opened.close()
    write(tmp_path, b_txt="bob runs vega")

    embedded = (await build(tmp_path)).embedded

    assert sorted(embedded) == ["ann runs orion", "bob runs vega"]
    assert f"{data} holds other bytes" in caplog.text


async def test_what_was_not_prepared_is_derived_of_the_table(tmp_path: Path) -> None:
    """Byte for byte what the build wrote, whatever comes with a place."""
    write(
        tmp_path,
        a_csv="id,text,kind\n7,ann runs orion,person\n8,bob runs vega,\n",
        b_txt="ann runs orion",
    )
    settings: dict[str, Any] = {"vector_field": "text", "id_field": "id", "meta_fields": ["kind"]}
    await build(tmp_path, **settings)
    whole = derived_of(tmp_path).read_bytes()
    derived_of(tmp_path).unlink()

    opened = engine(tmp_path, **settings)
    await opened.initialize()

    assert derived_of(tmp_path).read_bytes() == whole
    assert not opened.was_built
    await opened.close()


SEARCH = """
import asyncio, sys
from holodeck.lib.vectorstore.engine import VectorEngine
from holodeck.models.tool import VectorstoreTool
from holodeck.testing.resources import FixedResources
from holodeck.testing.words import WordEmbedder

async def search(mode):
    tool = VectorstoreTool(name="atlas", source="docs")
    engine = VectorEngine(tool, sys.argv[1], resources=FixedResources(embedder=WordEmbedder(1024)))
    await engine.initialize()
    assert not engine.was_built
    print((await engine.retrieve("orion", mode=mode)).passages[0].text)

for mode in ("hybrid", "vector", "keyword"):
    asyncio.run(search(mode))
print(sorted({"lancedb", "lance", "pyarrow", "pandas"} & {n.split(".")[0] for n in sys.modules}))
"""


async def test_a_search_of_an_unchanged_index_imports_no_database(tmp_path: Path) -> None:
    """Opening and searching read what was prepared: LanceDB and Arrow take a second to import."""
    write(tmp_path, a_txt="ann runs orion")
    await build(tmp_path)

    done = run_python(SEARCH, str(tmp_path))

    assert done.returncode == 0
    assert done.stdout.splitlines() == [*["ann runs orion"] * 3, "[]"]


CRASH = """
import asyncio, os, sys
from holodeck.lib.vectorstore.embed import BATCH
from holodeck.lib.vectorstore.engine import VectorEngine
from holodeck.models.tool import VectorstoreTool
from holodeck.testing.resources import FixedResources
from holodeck.testing.words import WordEmbedder

class Crash(WordEmbedder):
    async def embed(self, texts):
        if self.embedded:
            os._exit(7)
        return await super().embed(texts)

tool = VectorstoreTool(name="atlas", source="docs")
resources = FixedResources(embedder=Crash(1024))
asyncio.run(VectorEngine(tool, sys.argv[1], resources=resources).initialize())
"""


def crash(folder: Path) -> int:
    """Build in a process that dies at its second batch; return its exit code."""
    return run_python(CRASH, str(folder)).returncode


async def test_a_killed_build_leaves_the_old_index_and_the_next_goes_on(tmp_path: Path) -> None:
    """A process that dies holds no lock and publishes nothing; what it embedded is kept."""
    write(tmp_path, a_txt="ann runs orion")
    await build(tmp_path)
    write(tmp_path, **{f"f{number}_txt": f"word{number}" for number in range(300)})

    assert crash(tmp_path) == 7

    status = engine(tmp_path).status()
    assert (status.counts["files"], status.stale_reason) == (1, "the documents changed")
    assert len((await build(tmp_path)).embedded) == 300 - 256
    assert engine(tmp_path).status().counts["files"] == 301
    assert [path.name for path in index_of(tmp_path).iterdir() if path.name == "unfinished"] == []


async def test_a_running_search_keeps_its_index_for_the_time_of_two_rebuilds(
    tmp_path: Path,
) -> None:
    """Texts are read lazily: what a search began with stays until it ends, then it goes."""
    write(tmp_path, a_txt="ann runs orion")
    embedder = PatientEmbedder(WIDTH)
    reader = engine(tmp_path, embedder)
    await build(tmp_path)
    await reader.initialize()
    running = asyncio.create_task(reader.retrieve("orion"))
    await embedder.asked.wait()
    for number in range(2):
        write(tmp_path, a_txt=f"cara{number} runs orion")
        await build(tmp_path)
        keyword = await reader.retrieve("orion", mode="keyword")
        assert keyword.context == f"cara{number} runs orion"
    generations = index_of(tmp_path) / "generations"
    assert (generations / "000001").is_dir()

    embedder.may_answer.set()
    assert (await running).context == "ann runs orion"
    await reader.close()
    write(tmp_path, a_txt="dora runs orion")
    await build(tmp_path)
    assert [path.name for path in generations.iterdir()] == ["000004"]


async def test_an_engine_that_opens_anew_gives_the_old_generation_back(tmp_path: Path) -> None:
    """Rebuilding an open engine again and again does not pile up generations."""
    write(tmp_path, a_txt="ann runs orion")
    opened = engine(tmp_path)
    await opened.initialize()
    for _ in range(3):
        await opened.initialize(force_reindex=True)

    generations = index_of(tmp_path) / "generations"
    assert sorted(path.name for path in generations.iterdir()) == ["000003", "000004"]
    await opened.close()


async def test_a_build_that_is_cancelled_while_it_stores_publishes_nothing(tmp_path: Path) -> None:
    """The thread that writes ends before the lock is given back, and leaves the index as it was."""
    write(tmp_path, a_txt="ann runs orion")

    def cancel_at_the_end(progress: Progress) -> None:
        if progress.step == "store":
            building.cancel()

    cancelled = VectorEngine(
        VectorstoreTool(name="atlas", source="docs"),
        str(tmp_path),
        resources=FixedResources(embedder=WordEmbedder(WIDTH)),
        on_progress=cancel_at_the_end,
    )
    building = asyncio.create_task(cancelled.initialize())
    with pytest.raises(asyncio.CancelledError):
        await building

    after = engine(tmp_path, wait_for_builder=False)
    assert after.status().indexed_at is None
    await after.initialize()
    assert after.was_built
    assert (await after.retrieve("orion")).passages
    await after.close()


async def test_a_second_builder_waits_or_fails_at_once(tmp_path: Path) -> None:
    """As it was told; who waited looks again and builds nothing when it need not."""
    write(tmp_path, a_txt="ann runs orion")
    first, second = engine(tmp_path), engine(tmp_path)

    await asyncio.gather(first.initialize(), second.initialize())
    assert sorted([first.was_built, second.was_built]) == [False, True]

    write(tmp_path, a_txt="cara runs orion")
    async with builder_lock(index_of(tmp_path) / ".lock", "atlas", wait_seconds=0):
        with pytest.raises(IndexBusyError, match=f"process {os.getpid()} on "):
            await engine(tmp_path, wait_for_builder=False).initialize()
    await first.close()
    await second.close()


async def test_a_build_and_a_search_have_their_time(tmp_path: Path) -> None:
    """Each budget is kept and named; a build out of time publishes nothing."""
    write(tmp_path, a_txt="ann runs orion")
    budget = ExecutionConfig(index_timeout=0.01, search_timeout=0.01)
    slow = engine(tmp_path, StuckEmbedder(WIDTH), execution=budget)
    with pytest.raises(IndexingError, match=r"longer than 0\.01 s.*execution\.index_timeout"):
        await slow.initialize()
    assert engine(tmp_path).status().indexed_at is None

    await build(tmp_path)
    await slow.initialize()
    with pytest.raises(SearchError, match=r"longer than 0\.01 s.*execution\.search_timeout"):
        await slow.retrieve("orion")
    await slow.close()


@pytest.mark.parametrize(
    ("in_the_way", "error", "told"),
    [
        ("unfinished", IndexingError, "could not be written.*unfinished.*build again"),
        (
            "generations",
            ConfigError,
            "cannot be kept in.*generations.*free that path or set database",
        ),
        ("logs", ConfigError, "cannot be kept in.*logs.*free that path"),
    ],
)
async def test_a_folder_that_cannot_be_written_is_an_error(
    tmp_path: Path, in_the_way: str, error: type[Exception], told: str
) -> None:
    """What the system says is in the message, with the mend; nothing is published."""
    write(tmp_path, a_txt="ann runs orion")
    index_of(tmp_path).mkdir(parents=True)
    (index_of(tmp_path) / in_the_way).touch()

    with pytest.raises(error, match=told):
        await engine(tmp_path).initialize()
    assert engine(tmp_path).status().indexed_at is None


async def test_half_a_character_in_a_document_stops_nobody(tmp_path: Path) -> None:
    """JSON can spell what no text can hold; the record is indexed all the same."""
    write(tmp_path, a_json='[{"name": "Ann \\ud800 runs Orion"}]', b_txt="bob runs vega")
    opened = engine(tmp_path)
    await opened.initialize()

    assert [str(source) for source in (await opened.retrieve("orion")).sources] == ["a.json, row 1"]
    await opened.close()


async def test_an_index_without_text_answers_and_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing to read is a finished, empty index; nobody is asked for a vector."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "blank.md").write_text("\n\t \u3000", encoding="utf-8")
    embedder = WordEmbedder(WIDTH)
    opened = engine(tmp_path, embedder)
    await opened.initialize()

    text = await opened.search("orion")

    assert text.startswith(
        "No relevant results found for query: orion\n\n*Note: the index is empty"
    )
    assert opened.index_stats == {"files": 0, "documents": 0, "chunks": 0}
    assert opened.status().warnings == ("no file of the source gave any text: the index is empty",)
    assert list(opened.status().skipped) == ["blank.md"]
    assert embedder.embedded == []
    await opened.close()


async def test_a_question_is_checked_before_it_is_embedded(tmp_path: Path) -> None:
    """Blank: an error. Too long: cut, with a note. Unknown words: a note, and words still count."""
    write(tmp_path, a_txt="ann runs orion")
    embedder = WordEmbedder(WIDTH)
    opened = engine(tmp_path, embedder)
    await opened.initialize()
    with pytest.raises(EmptyQueryError):
        await opened.search(" \n")
    with pytest.raises(
        ConfigError, match="no search mode 'global': use one of hybrid, vector, key"
    ):
        await opened.search("orion", mode="global")

    long = await opened.search("zyzzyva " * 5_000)
    assert "cut to its first 8000 characters" in long
    assert len(long) < 9_000
    assert len(embedder.embedded[-1]) == 8_000
    assert (await opened.retrieve("🙂")).notes == (
        "the embedding model knows no word of the question, so nothing could be found by meaning",
    )
    assert (await opened.search("zyzzyva")) == "No relevant results found for query: zyzzyva"
    await opened.close()


def test_another_engine_is_refused(tmp_path: Path) -> None:
    """A tool for the graph engine is not answered by this one."""
    tool = VectorstoreTool(name="atlas", source="docs", engine="graphrag")

    with pytest.raises(ConfigError, match="requires engine='default'"):
        VectorEngine(tool, str(tmp_path))


async def test_dimensions_reach_the_embedding_model(tmp_path: Path) -> None:
    """``embedding_dimensions`` is the width of what is stored."""
    write(tmp_path, a_txt="ann runs orion")
    opened = VectorEngine(
        VectorstoreTool(name="atlas", source="docs", embedding_dimensions=64),
        str(tmp_path),
        agent_model=LLMProvider(provider="embedded"),
    )
    await opened.initialize()

    assert '"vector_size": 64' in (index_of(tmp_path) / "index.meta").read_text(encoding="utf-8")
    assert (await opened.retrieve("orion")).passages
    await opened.close()
