"""The process that builds, and the processes that read meanwhile."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")
pytest.importorskip("wordllama", reason="needs the extra embedded")

from holodeck.errors import IndexingError
from holodeck.lib.contracts import Progress
from holodeck.lib.graphrag.engine import GraphRAGEngine
from holodeck.lib.graphrag.storage import GraphRAGStorage
from holodeck.lib.graphrag.worker_process import build_environment
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool

pytestmark = [pytest.mark.integration, pytest.mark.slow]

TOOL = VectorstoreTool(name="k", engine="graphrag", source="docs")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def engine(
    base: Path,
    on_progress: Callable[[Progress], None] | None = None,
    execution: ExecutionConfig | None = None,
) -> GraphRAGEngine:
    return GraphRAGEngine(
        TOOL,
        str(base),
        execution,
        agent_model=LLMProvider(provider="embedded"),
        on_progress=on_progress,
    )


def write(base: Path, name: str, text: str) -> None:
    (base / "docs").mkdir(exist_ok=True)
    (base / "docs" / name).write_text(text, encoding="utf-8")


def run(code: str, base: Path) -> str:
    """Run Python code in a process of its own; return what it prints."""
    child = subprocess.run(
        [sys.executable, "-c", code, str(base)],
        env=ENVIRONMENT,
        capture_output=True,
        encoding="utf-8",
        check=True,
        cwd=base,
    )
    return child.stdout


def kill_children(_progress: Progress) -> None:
    for pid in children():
        os.kill(pid, signal.SIGKILL)


def children() -> set[int]:
    """Return the processes that build, of this test process."""
    found = subprocess.run(
        ["pgrep", "-P", str(os.getpid()), "-f", "holodeck.lib.graphrag.worker"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return {int(line) for line in found.stdout.split()}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder whose documents are indexed, to be copied."""
    base = tmp_path_factory.mktemp("indexed")
    write(base, "a.txt", "Ann Lee runs Orion Labs in Paris. Orion Labs bought Vega Works.")
    graph = engine(base)
    asyncio.run(graph.initialize())
    asyncio.run(graph.close())
    return base


@pytest.fixture
def built(indexed: Path, tmp_path: Path) -> Path:
    """Return a folder of one's own whose documents are indexed."""
    shutil.copytree(indexed, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_a_build_takes_its_memory_from_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the user has chosen another of Arrow's allocators."""
    code = "import pyarrow; print(pyarrow.default_memory_pool().backend_name)"

    def allocator() -> str:
        words = [sys.executable, "-c", code]
        return subprocess.check_output(words, env=build_environment(), text=True).strip()

    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    assert allocator() == "system"
    other = pa.supported_memory_backends()[0]
    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", other)
    assert allocator() == other


async def test_a_build_imports_what_it_needs_alone(tmp_path: Path) -> None:
    """No server's client, no model's, no workflow of the library's own, until it is asked for."""
    write(tmp_path, "a.txt", "Ann Lee runs Orion Labs.")
    code = (
        "import asyncio, json, sys\n"
        "from pathlib import Path\n"
        "from holodeck.lib.graphrag.indexer import GraphRAGIndexer\n"
        "from holodeck.lib.graphrag.library import bare_process\n"
        "from holodeck.lib.graphrag.storage import GraphRAGStorage\n"
        "from holodeck.lib.resources import resolve_tool\n"
        "from holodeck.models.llm import LLMProvider\n"
        "from holodeck.models.tool import VectorstoreTool\n"
        "bare_process(), bare_process()\n"
        "base = Path(sys.argv[1])\n"
        "tool = VectorstoreTool(name='k', engine='graphrag', source=str(base / 'docs'))\n"
        "resolved = resolve_tool(tool, LLMProvider(provider='embedded'))\n"
        "storage = GraphRAGStorage(tool, base)\n"
        "build = GraphRAGIndexer(tool, storage, resolved=resolved, in_process=True)\n"
        "asyncio.run(build.build_index(base / 'docs'))\n"
        "needed = {'graphrag.index.run.utils', 'lancedb'} & set(sys.modules)\n"
        "spared = {'litellm', 'spacy', 'graphrag.index.workflows.create_communities',\n"
        "          'lance_namespace_urllib3_client.api'} & set(sys.modules)\n"
        "import lance_namespace_urllib3_client as clients\n"
        "print(json.dumps([sorted(needed), sorted(spared), clients.ApiClient.__name__]))\n"
    )
    needed, spared, asked = json.loads(await asyncio.to_thread(run, code, tmp_path))

    assert needed == ["graphrag.index.run.utils", "lancedb"]
    assert spared == []
    assert asked == "ApiClient"


async def test_a_search_imports_no_library(built: Path) -> None:
    """Opening an index and asking it loads neither the library nor what comes with it."""
    code = (
        "import asyncio, json, sys\n"
        "from holodeck.lib.graphrag.engine import GraphRAGEngine\n"
        "from holodeck.models.llm import LLMProvider\n"
        "from holodeck.models.tool import VectorstoreTool\n"
        "async def main():\n"
        "    tool = VectorstoreTool(name='k', engine='graphrag', source='docs')\n"
        "    model = LLMProvider(provider='embedded')\n"
        "    graph = GraphRAGEngine(tool, sys.argv[1], agent_model=model)\n"
        "    await graph.initialize()\n"
        "    local = await graph.search('Who runs Orion Labs?')\n"
        "    whole = await graph.search('What are the main themes?', mode='global')\n"
        "    heavy = {'graphrag', 'litellm', 'spacy', 'nest_asyncio2'} & set(sys.modules)\n"
        "    print(json.dumps([sorted(heavy), graph.was_built, local, whole]))\n"
        "asyncio.run(main())\n"
    )
    heavy, was_built, local, whole = json.loads(await asyncio.to_thread(run, code, built))

    assert heavy == []
    assert was_built is False
    assert "Ann Lee" in local
    assert "- a.txt" in local
    assert "- a.txt" in whole


async def test_a_cancelled_build_ends_its_process_and_leaves_the_old_index(built: Path) -> None:
    """Cancelling stops the child; the published index is the one of before."""
    before = GraphRAGStorage(TOOL, built).get_metadata()
    write(built, "b.txt", "Bob Ray founded Altair Group.")
    started = asyncio.Event()
    loop = asyncio.get_running_loop()

    def tell(_progress: Progress) -> None:
        loop.call_soon_threadsafe(started.set)

    graph = engine(built, tell)
    task = asyncio.create_task(graph.initialize())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    storage = GraphRAGStorage(TOOL, built)
    assert children() == set()
    assert storage.get_metadata() == before
    assert [f.name for f in (storage.storage_dir / "output").iterdir()] == ["000001"]

    await graph.initialize()
    assert graph.was_built
    await graph.close()


async def test_a_build_process_that_dies_is_an_error_that_says_so(built: Path) -> None:
    """A killed child is no result: the old index answers, and the next build finishes."""
    write(built, "b.txt", "Bob Ray founded Altair Group.")
    graph = engine(built, kill_children)
    with pytest.raises(IndexingError, match="ended without a result"):
        await graph.initialize()

    again = engine(built)
    await again.initialize()
    assert again.index_stats["files"] == 2
    await again.close()


def test_a_build_ends_when_its_parent_is_killed(built: Path) -> None:
    """No orphan goes on spending; the index of before answers, and the next build finishes."""
    write(built, "b.txt", "Bob Ray founded Altair Group.")
    code = (
        "import asyncio, os, sys\n"
        "from holodeck.lib.graphrag.engine import GraphRAGEngine\n"
        "from holodeck.models.llm import LLMProvider\n"
        "from holodeck.models.tool import VectorstoreTool\n"
        "tool = VectorstoreTool(name='k', engine='graphrag', source='docs')\n"
        "def report(progress):\n"
        "    print(progress.step, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        "graph = GraphRAGEngine(tool, sys.argv[1], agent_model=LLMProvider(provider='embedded'),"
        " on_progress=report)\n"
        "asyncio.run(graph.initialize())\n"
    )
    parent = subprocess.run(
        [sys.executable, "-c", code, str(built)],
        env={**ENVIRONMENT, "HOLODECK_TEST_MARK": str(built)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert parent.returncode == -signal.SIGKILL

    deadline = time.monotonic() + 60
    while _marked(str(built)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _marked(str(built)) == []
    assert GraphRAGStorage(TOOL, built).has_valid_index()

    async def rebuild() -> dict[str, int]:
        graph = engine(built)
        await graph.initialize()
        stats = graph.index_stats
        await graph.close()
        return stats

    assert asyncio.run(rebuild())["files"] == 2


def _marked(mark: str) -> list[str]:
    """Return the processes whose environment holds the mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"HOLODECK_TEST_MARK={mark}".encode() in variables:
            found.append(folder.name)
    return found


async def test_a_build_has_a_time_budget_of_its_own(tmp_path: Path) -> None:
    """``execution.index_timeout`` stops a build and is named; nothing is left half made."""
    write(tmp_path, "a.txt", "Ann Lee runs Orion Labs.")
    graph = engine(tmp_path, execution=ExecutionConfig(index_timeout=0.01))
    with pytest.raises(IndexingError, match=r"execution\.index_timeout"):
        await graph.initialize()

    assert children() == set()
    assert graph.storage.get_metadata() is None


async def test_an_open_engine_follows_a_rebuild_by_another(built: Path) -> None:
    """What is published beside an open index answers the next question, alone and whole."""
    reader = engine(built)
    await reader.initialize()
    before = await reader.retrieve("Who runs Orion Labs?", answer=False)
    write(built, "a.txt", "Cara Fox runs Orion Labs in Paris.")
    builder = engine(built)
    await builder.initialize()

    after = await reader.retrieve("Who runs Orion Labs?", answer=False)
    new = await builder.retrieve("Who runs Orion Labs?", answer=False)
    await reader.close()
    await builder.close()

    assert "Ann Lee" in before.context
    assert after.context == new.context
    assert "Cara Fox" in new.context
    assert "Ann Lee" not in new.context


def test_every_setting_arrives_in_the_librarys_configuration(tmp_path: Path) -> None:
    """What YAML and the plan say is what the library's object holds, wherever it has a field."""
    code = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from holodeck.lib.graphrag.config import build_graphrag_config\n"
        "from holodeck.models.tool import GraphRAGConfig, VectorstoreTool\n"
        "tool = VectorstoreTool(name='k', engine='graphrag', source='d', graphrag=GraphRAGConfig("
        "chunk_size=77, chunk_overlap=7, entity_types=('ship',), max_gleanings=3,"
        " skip_claim_extraction=False))\n"
        "config = build_graphrag_config(tool, Path('/s'), Path('/i'), vector_size=12)\n"
        "plain = build_graphrag_config(VectorstoreTool(name='k', engine='graphrag', source='d'),"
        " Path('/s'), Path('/i'))\n"
        "print(json.dumps([c.model_dump(mode='json') for c in (config, plain)]))\n"
    )
    config, plain = json.loads(run(code, tmp_path))

    assert (config["chunking"]["size"], config["chunking"]["overlap"]) == (77, 7)
    assert config["extract_graph"]["entity_types"] == ["ship"]
    assert config["extract_graph"]["max_gleanings"] == 3
    assert config["extract_claims"]["enabled"] is True
    assert config["vector_store"]["vector_size"] == 12
    assert config["output_storage"]["base_dir"] == "/s/output"
    assert plain["extract_graph"]["entity_types"] == [
        "organization",
        "person",
        "location",
        "event",
        "concept",
    ]
    assert plain["chunking"]["encoding_model"] == "cl100k_base"
    assert plain["local_search"]["text_unit_prop"] == 0.5
    assert plain["local_search"]["community_prop"] == 0.1
    assert plain["local_search"]["top_k_entities"] == 10
    assert plain["local_search"]["max_context_tokens"] == 12_000
    assert plain["global_search"]["map_max_length"] == 1000
    assert plain["global_search"]["reduce_max_length"] == 2000
    assert plain["community_reports"]["max_length"] == 2000
    assert plain["community_reports"]["max_input_length"] == 8000
    assert plain["cluster_graph"] == {
        **plain["cluster_graph"],
        "max_cluster_size": 10,
        "use_lcc": False,
    }
    assert list(tmp_path.iterdir()) == []


def test_a_source_may_be_one_file(tmp_path: Path) -> None:
    """It is indexed as a folder with that file would be."""
    write(tmp_path, "one.txt", "Ada Lovelace met Charles Babbage in London.")
    tool = VectorstoreTool(name="k", engine="graphrag", source="docs/one.txt")
    graph = GraphRAGEngine(tool, str(tmp_path), agent_model=LLMProvider(provider="embedded"))

    asyncio.run(graph.initialize())
    result = asyncio.run(graph.retrieve("Who met Charles Babbage?", answer=False))
    asyncio.run(graph.close())

    assert {source.path for source in result.sources} == {"one.txt"}
