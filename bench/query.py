"""A warm query besides the model: ours in both rankings, the library's, a numpy floor.

The floor is the dot product with all entity vectors of a generated index (``generated``) and a
partial sort. ``held`` is the library's engine made once, ``api`` the same with its tables converted
at every call, as its API does. Every run asks another question; what is printed is the least of the
runs, CPU over wall in milliseconds, and how many times the floor the CPU is. Opening is measured in
a process of its own. ``global`` is everything but the model: reports, batches, prompts and replies
of an instant one.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.generated import WIDTH, WORDS, write_index
from holodeck.lib.contracts import ChatRequest
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.local_context import RANKINGS, LocalQuestion, select_local
from holodeck.lib.graphrag.open_index import DERIVED_FILE, derive_index, open_generation
from holodeck.lib.graphrag.prompted_answer import PromptedAnswerSteps
from holodeck.lib.graphrag.select_reports import reports_of_level
from holodeck.lib.ranking.fuse import best_rows
from holodeck.lib.ranking.vectors import Vectors
from holodeck.lib.tokens import encoding
from holodeck.models.llm import ModelSettings
from holodeck.testing import ScriptedChat

SIZES = (1_000, 10_000, 100_000)
RUNS = 30
SLOW_RUNS = 3
SLOW_SIZE = 20_000
NEAREST = 10
LEVEL = 2

Query = Callable[[LocalQuestion], object]


def run(_data: Path | None) -> None:
    """Print a table for each size.

    HOLODECK_BENCH_SIZES=1000,10000 asks for these only, HOLODECK_BENCH_API=0 leaves the column
    ``api`` out, HOLODECK_BENCH_FOLDER keeps the generated indexes.
    """
    wanted = os.environ.get("HOLODECK_BENCH_SIZES")
    kept = os.environ.get("HOLODECK_BENCH_FOLDER")
    for size in map(int, wanted.split(",")) if wanted else SIZES:
        with tempfile.TemporaryDirectory() as folder:
            _measure(Path(kept or folder) / str(size), size)


def _measure(folder: Path, size: int) -> None:
    if not folder.exists():
        folder.mkdir(parents=True)
        write_index(folder, size)
    if not (folder / DERIVED_FILE).exists():
        start = time.process_time()
        derive_index(folder, folder / "vectors")
        print(f"prepared in {time.process_time() - start:.1f} CPU s")
    index = open_generation(folder, folder / "vectors")
    print(f"\n{size:,} entities: {_opening(folder)}; {_recall(index)}")
    assert index.entity_vectors is not None
    floor = _floor(np.array(index.entity_vectors.matrix))
    queries: dict[str, Query] = {
        ranking: lambda asked, r=ranking: select_local(index, asked, r)  # type: ignore[misc]
        for ranking in RANKINGS
    }
    if find_spec("graphrag"):
        logging.getLogger("graphrag").setLevel(logging.ERROR)  # it warns at each full context
        queries["held"], queries["api"] = _library(folder)
        if os.environ.get("HOLODECK_BENCH_API") == "0":
            del queries["api"]
    print(f"{'CPU/wall ms':<12}" + "".join(f"{name:>28}" for name in ("floor", *queries)))
    for name, near in (("local", 0.5), ("local, hub", 1.0)):
        cells = [f"{floor[0]:.2f}/{floor[1]:.2f}"]
        for which, query in queries.items():
            asked = _asked(index.entity_vectors.matrix, near)
            # The library takes seconds, at a hub of a great index minutes.
            slow = 1 if size > SLOW_SIZE else SLOW_RUNS + 1
            some = asked if which in RANKINGS else asked[:slow]
            cpu, wall = _least(query, some)
            cells.append(f"{cpu:.2f}/{wall:.2f} {cpu / floor[0]:.1f}x")
        print(f"{name:<12}" + "".join(f"{cell:>28}" for cell in cells), flush=True)
    _measure_global(index, floor[0])


def _floor(matrix: NDArray[np.float32]) -> tuple[float, float]:
    return _least(
        lambda asked: best_rows(np.vecdot(matrix, asked.vector), 2 * NEAREST), _asked(matrix, 0.5)
    )


def _measure_global(index: GraphIndex, floor: float) -> None:
    """Print what a global query takes besides the model, at the broadest level and at the finest.

    Of a great index, whose reports fill hundreds of prompts, one run after the first is enough.
    """
    assert index.entity_vectors is not None
    runs = 2 if len(index.entities) > SLOW_SIZE else SLOW_RUNS + 1
    asked = _asked(index.entity_vectors.matrix, 0.5)[:runs]
    for level in sorted({0, min(LEVEL, index.deepest_level)}):
        query = _GlobalQuery(index, level)
        cpu, wall = _least(query, asked)
        print(
            f"global, level {level}: {cpu:.1f}/{wall:.1f} ms {cpu / floor:.1f}x, least of "
            f"{len(asked) - 1}: {query.reports} reports in {query.calls} calls of the model, "
            f"{1000 * cpu / query.reports:.0f} us a report",
            flush=True,
        )


class _GlobalQuery:
    """A global query with an instant model; ``reports`` and ``calls`` are of the last one."""

    def __init__(self, index: GraphIndex, level: int) -> None:
        self._index = index
        self._level = level
        self.reports = self.calls = 0

    def __call__(self, asked: LocalQuestion) -> None:
        self.calls = 0
        reports = reports_of_level(self._index, self._level).reports
        self.reports = len(reports)
        steps = PromptedAnswerSteps(
            chat=ScriptedChat(self._reply),
            settings=ModelSettings(),
            prompts={
                "local": "{context_data}",
                "map": "{context_data} {max_length}",
                "reduce": "{report_data} {response_type} {max_length}",
            },
            response_type="",
        )
        asyncio.run(steps.answer_global(asked.text, reports))

    def _reply(self, request: ChatRequest) -> str:
        self.calls += 1
        return _POINTS if request.purpose == "map" else "done"


_POINTS = json.dumps({"points": [{"description": "p [Data: Reports (1)]", "score": 5}]})


def _asked(matrix: NDArray[np.float32], near_hub: float) -> list[LocalQuestion]:
    """Return questions near an entity, or near the hub; one more than there are runs."""
    chance = np.random.default_rng(3)
    questions = []
    for _ in range(RUNS + 1):
        row = 0 if near_hub == 1.0 else int(chance.integers(1, len(matrix)))
        vector = matrix[row] + 0.5 * matrix[int(chance.integers(1, len(matrix)))]
        words = " ".join(WORDS[number] for number in chance.integers(0, len(WORDS), 3))
        questions.append(
            LocalQuestion(
                text=f"{words} and entity {row}",
                vector=(vector / np.linalg.norm(vector)).astype(np.float32),
                level=LEVEL,
            )
        )
    return questions


def _least(query: Query, asked: list[LocalQuestion]) -> tuple[float, float]:
    """Return the least CPU and wall time of the runs in milliseconds; the first warms up.

    A single one is not warmed up for.
    """
    if len(asked) > 1:
        query(asked[0])
    cpu, wall = [], []
    for question in asked[1:] or asked:
        start = time.process_time(), time.perf_counter()
        query(question)
        cpu.append(time.process_time() - start[0])
        wall.append(time.perf_counter() - start[1])
    return 1000 * min(cpu), 1000 * min(wall)


_OPEN = """
import sys, time
from pathlib import Path
start = time.process_time(), time.perf_counter()
from holodeck.lib.graphrag.local_context import LocalQuestion, select_local
from holodeck.lib.graphrag.open_index import open_generation
imported = time.process_time() - start[0], time.perf_counter() - start[1]
folder = Path(sys.argv[1])
start = time.process_time(), time.perf_counter()
index = open_generation(folder, folder / "vectors")
opened = time.process_time() - start[0], time.perf_counter() - start[1]
start = time.process_time(), time.perf_counter()
vector = index.entity_vectors.matrix[5]
select_local(index, LocalQuestion(text="word7 and entity 5", vector=vector, level=2), "graph")
first = time.process_time() - start[0], time.perf_counter() - start[1]
# Not ru_maxrss: it begins with what the parent held.
status = Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
peak = next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), 0)
print("imports %.2f/%.2f s, opened in %.2f/%.2f s, first query %.2f/%.2f s, %d MB at most"
      % (*imported, *opened, *first, peak))
"""


def _opening(folder: Path) -> str:
    """Return what opening takes, in a process of its own."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", _OPEN, str(folder)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        env=environ,
    )
    return done.stdout.strip()


def _recall(index: GraphIndex) -> str:
    """Return how vectors are searched, and what of the nearest ten is found, by new questions."""
    vectors = index.entity_vectors
    assert vectors is not None
    if vectors.projection is None:
        return "searched exactly"
    found = [_found(vectors, asked.vector) for asked in _asked(vectors.matrix, 0.5)]
    looks = f"{vectors.projection.leading}, then {len(vectors.projection.axes)} axes"
    return f"looked at over {looks}, recall@10 {np.mean(found):.3f}"


def _found(vectors: Vectors, query: NDArray[np.float32]) -> float:
    true = best_rows(np.vecdot(vectors.matrix, query), NEAREST)
    near = vectors.likeness(query, np.zeros(len(vectors.rows), dtype=np.float32))
    return float(np.isin(true, best_rows(near, NEAREST)).mean())


def _library(folder: Path) -> tuple[Query, Query]:
    """Return the library's local query, held and as by its API; importing it patches this process.

    Its API is given tables and converts them at every call; that is all that is done here, with no
    model around it.
    """
    import pandas as pd
    from graphrag.query.indexer_adapters import (
        read_indexer_entities,
        read_indexer_relationships,
        read_indexer_reports,
        read_indexer_text_units,
    )
    from graphrag.query.structured_search.local_search.mixed_context import LocalSearchMixedContext
    from graphrag_llm.tokenizer.tokenizer import Tokenizer
    from graphrag_vectors.lancedb import LanceDBVectorStore

    class OurTokens(Tokenizer):
        def __init__(self) -> None: ...

        def encode(self, text: str) -> list[int]:
            return encoding().encode_ordinary(text)

        def decode(self, tokens: list[int]) -> str:
            return encoding().decode(tokens)

    names = ("entities", "communities", "community_reports", "text_units", "relationships")
    tables = {name: pd.read_parquet(folder / f"{name}.parquet") for name in names}
    given: Any = SimpleNamespace(vector=None)
    embedder: Any = SimpleNamespace(
        embedding=lambda input: SimpleNamespace(first_embedding=given.vector)  # noqa: A006
    )

    def converted() -> LocalSearchMixedContext:
        store = LanceDBVectorStore(
            db_uri=str(folder / "vectors"), index_name="entity_description", vector_size=WIDTH
        )
        store.connect()
        communities = tables["communities"]
        return LocalSearchMixedContext(
            entities=read_indexer_entities(tables["entities"], communities, LEVEL),
            entity_text_embeddings=store,
            text_embedder=embedder,
            text_units=read_indexer_text_units(tables["text_units"]),
            community_reports=read_indexer_reports(tables["community_reports"], communities, LEVEL),
            relationships=read_indexer_relationships(tables["relationships"]),
            covariates={"claims": []},
            tokenizer=OurTokens(),
        )

    kept = converted()

    def query(builder: LocalSearchMixedContext, vector: NDArray[np.float32]) -> object:
        given.vector = vector.tolist()
        return builder.build_context(
            query="?",
            max_context_tokens=12_000,
            community_prop=0.1,
            include_entity_rank=True,
            include_relationship_weight=True,
        )

    return (
        lambda asked: query(kept, asked.vector),
        lambda asked: query(converted(), asked.vector),
    )
