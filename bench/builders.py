"""One builder of an index in a process of its own, measured from the first document to publish.

    python -m bench.builders BUILDER URL WORK [SETTINGS]

What it imports, also while it builds, is imported before by a build of one passage. Then each line
on its standard input (the first is the passage) is a folder of documents to index; for each it
prints a measurement as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from holodeck.lib.graphrag.library import bare_process, quiet_environment

__all__ = ["BUILDERS", "CONCURRENCY"]

CHUNK = 2000  # tokens: a passage is one chunk
CONCURRENCY = 25
MODEL, EMBEDDING_MODEL = "gpt-4o-mini", "text-embedding-3-small"


async def ours(docs: Path, work: Path, url: str, settings: dict[str, Any]) -> None:
    """Build or update with this package, in this process."""
    from holodeck.lib.graphrag.indexer import GraphRAGIndexer
    from holodeck.lib.graphrag.storage import GraphRAGStorage
    from holodeck.lib.resources import Resources, resolve_tool
    from holodeck.models.config import ExecutionConfig
    from holodeck.models.llm import LLMProvider
    from holodeck.models.tool import GraphRAGConfig, VectorstoreTool

    tool = VectorstoreTool(
        name="bench",
        engine="graphrag",
        source=str(docs),
        graphrag=GraphRAGConfig.model_validate(
            {"chunk_size": CHUNK, "chunk_overlap": 0, **settings}
        ),
    )
    model = LLMProvider.model_validate(
        {"provider": "openai", "name": MODEL, "api_base": url, "api_key": "k"}
    )
    execution = ExecutionConfig(concurrency=CONCURRENCY)
    storage = GraphRAGStorage(tool, work)
    resources = Resources(execution, environ={}, cache_dir=storage.cache_dir)
    indexer = GraphRAGIndexer(
        tool,
        storage,
        resolved=resolve_tool(tool, model),
        execution=execution,
        resources=resources,
        in_process=True,
    )
    await indexer.build_index(docs)
    await resources.close()


async def library(docs: Path, work: Path, url: str, settings: dict[str, Any]) -> None:
    """Build with the library's own ``build_index``."""
    import pandas as pd
    from graphrag.api import build_index
    from graphrag.config.models.graph_rag_config import GraphRagConfig

    def folder(name: str) -> dict[str, str]:
        return {"type": "file", "base_dir": str(work / name)}

    model = {"model_provider": "openai", "api_key": "k", "api_base": url}
    config = GraphRagConfig.model_validate(
        {
            "completion_models": {"default_completion_model": {**model, "model": MODEL}},
            "embedding_models": {"default_embedding_model": {**model, "model": EMBEDDING_MODEL}},
            "concurrent_requests": CONCURRENCY,
            "input_storage": folder("input"),
            "output_storage": folder("output"),
            "update_output_storage": folder("update"),
            "reporting": folder("logs"),
            "cache": {"type": "json", "storage": folder("cache")},
            "vector_store": {
                "type": "lancedb",
                "db_uri": str(work / "lancedb"),
                "vector_size": 1536,
            },
            "chunking": {
                "type": "tokens",
                "size": CHUNK,
                "overlap": 0,
                "encoding_model": "cl100k_base",
            },
            "cluster_graph": {"use_lcc": False},
        }
    )
    frame = pd.DataFrame(_texts(docs), columns=["id", "text"])
    frame["title"] = frame["id"]
    for result in await build_index(config, input_documents=frame):
        if result.error is not None:
            raise result.error


def _texts(docs: Path) -> list[tuple[str, str]]:
    return [(file.name, file.read_text(encoding="utf-8")) for file in sorted(docs.glob("*.txt"))]


async def library_unprofiled(docs: Path, work: Path, url: str, settings: dict[str, Any]) -> None:
    """Build with the library's own ``build_index``, its memory profiler left out."""
    from types import SimpleNamespace

    from graphrag.index.run import profiling

    profiling.tracemalloc = SimpleNamespace(  # type: ignore[assignment]  # what is measured
        start=lambda: None,
        stop=lambda: None,
        get_traced_memory=lambda: (0, 0),
        get_tracemalloc_memory=lambda: 0,
    )
    await library(docs, work, url, settings)


Builder = Callable[[Path, Path, str, dict[str, Any]], Awaitable[None]]
BUILDERS: dict[str, Builder] = {
    "ours": ours,
    "library": library,
    "library, unprofiled": library_unprofiled,
}
"""What is compared."""


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _disk_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def _measured(work: Callable[[], Awaitable[None]]) -> dict[str, float]:
    cpu, wall = _cpu_seconds(), time.monotonic()
    asyncio.run(_awaited(work))
    return {"cpu": _cpu_seconds() - cpu, "wall": time.monotonic() - wall, "peak_mb": _peak_mb()}


async def _awaited(work: Callable[[], Awaitable[None]]) -> None:
    await work()


def main(arguments: Sequence[str]) -> None:
    """Warm up, then build what standard input names."""
    name, url, work = arguments[0], arguments[1], Path(arguments[2])
    settings = json.loads(arguments[3]) if len(arguments) > 3 else {}
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # what the builder prints is no measurement
    quiet_environment()
    if name == "ours":
        bare_process()  # as the process does that a build runs in
    build = BUILDERS[name]
    warm = work / "warm" / "docs"
    warm.mkdir(parents=True)
    (warm / "a.txt").write_text(json.loads(sys.stdin.readline()), encoding="utf-8")
    first = _measured(lambda: build(warm, work / "warm", url, settings))
    print(json.dumps(first), file=answers)
    for line in sys.stdin:
        docs = Path(line.strip())
        found = _measured(lambda docs=docs: build(docs, work / "index", url, settings))  # type: ignore[misc]
        print(json.dumps({**found, "disk_mb": _disk_mb(work / "index")}), file=answers)


if __name__ == "__main__":
    main(sys.argv[1:])
