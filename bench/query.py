"""A warm query besides the model: ours in both rankings, the library's, a numpy floor.

Generated indexes: 2 relationships and 0.33 text units an entity, 23% as many communities, vectors
of 1,536 numbers, one hub of degree 5,000 (a quarter of the entities where there are fewer). The
floor is the dot product with all entity vectors and a partial sort. ``held`` is the library's
engine made once, ``api`` the same with its tables converted at every call, as its API does. Every
run asks another question; what is printed is the least of the runs, CPU over wall in milliseconds,
and how many times the floor the CPU is. Opening is measured in a process of its own. ``global`` is
everything but the model: reports, batches, prompts and replies of an instant one.
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

from holodeck.lib.contracts import ChatRequest
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.local_context import RANKINGS, LocalQuestion, select_local
from holodeck.lib.graphrag.open_index import DERIVED_FILE, derive_index, open_generation
from holodeck.lib.graphrag.prompted_answer import PromptedAnswerSteps
from holodeck.lib.graphrag.select_reports import reports_of_level
from holodeck.lib.graphrag.tables import write_rows, write_vectors
from holodeck.lib.ranking.fuse import best_rows
from holodeck.lib.ranking.vectors import Vectors
from holodeck.lib.tokens import encoding
from holodeck.models.llm import ModelSettings
from holodeck.testing import ScriptedChat

SIZES = (1_000, 10_000, 100_000)
WIDTH = 1_536
HUB_DEGREE = 5_000
RUNS = 10
SLOW_RUNS = 3
SLOW_SIZE = 20_000
NEAREST = 10
LEVEL = 2
WORDS = tuple(f"word{number}" for number in range(5_000))

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
        _write(folder, size)
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
    print(f"{'CPU/wall ms':<12}" + "".join(f"{name:>24}" for name in ("floor", *queries)))
    for name, near in (("local", 0.5), ("local, hub", 1.0)):
        cells = [f"{floor[0]:.2f}/{floor[1]:.2f}"]
        for which, query in queries.items():
            asked = _asked(index.entity_vectors.matrix, near)
            # The library takes seconds, at a hub of a great index minutes.
            slow = 1 if size > SLOW_SIZE else SLOW_RUNS + 1
            some = asked if which in RANKINGS else asked[:slow]
            cpu, wall = _least(query, some)
            cells.append(f"{cpu:.2f}/{wall:.2f} {cpu / floor[0]:.1f}x")
        print(f"{name:<12}" + "".join(f"{cell:>24}" for cell in cells), flush=True)
    _measure_global(index)


def _floor(matrix: NDArray[np.float32]) -> tuple[float, float]:
    return _least(
        lambda asked: best_rows(np.vecdot(matrix, asked.vector), 2 * NEAREST), _asked(matrix, 0.5)
    )


def _measure_global(index: GraphIndex) -> None:
    """Print what a global query takes besides the model, at the broadest level and at all."""
    points = json.dumps({"points": [{"description": "p [Data: Reports (1)]", "score": 5}]})
    templates = {
        "local": "{context_data}",
        "map": "{context_data} {max_length}",
        "reduce": "{report_data} {response_type} {max_length}",
    }
    for level in (0, LEVEL):
        calls = 0

        def reply(request: ChatRequest) -> str:
            nonlocal calls
            calls += 1
            return points if request.purpose == "map" else "done"

        def query(asked: LocalQuestion, level: int = level) -> None:
            nonlocal calls
            calls = 0
            steps = PromptedAnswerSteps(
                chat=ScriptedChat(reply),
                settings=ModelSettings(),
                prompts=templates,
                response_type="",
            )
            reports = reports_of_level(index, min(level, index.deepest_level)).reports
            asyncio.run(steps.answer_global(asked.text, reports))

        assert index.entity_vectors is not None
        cpu, wall = _least(query, _asked(index.entity_vectors.matrix, 0.5)[: SLOW_RUNS + 1])
        print(f"global, level {level}: {cpu:.1f}/{wall:.1f} ms, {calls} calls", flush=True)


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


def _write(folder: Path, size: int) -> NDArray[np.float32]:
    """Write the tables and vectors of a generated index; entity 0 is the hub."""
    chance = np.random.default_rng(size)
    units = max(1, size // 3)

    def text(words: int) -> str:
        return " ".join(WORDS[number] for number in chance.integers(0, len(WORDS), words))

    hub = min(HUB_DEGREE, size // 4)
    ends = chance.integers(0, size, (2 * size, 2))
    ends[:hub, 0] = 0
    ends = ends[ends[:, 0] != ends[:, 1]]
    of_edge = chance.integers(0, units, len(ends))
    of_entity = chance.integers(0, units, (size, 2))
    edges_of: list[list[str]] = [[] for _ in range(units)]
    for number, unit in enumerate(of_edge.tolist()):
        edges_of[unit].append(f"r{number}")
    degrees = np.bincount(ends.reshape(-1), minlength=size)
    write_rows(
        folder,
        "entities",
        [
            {
                "id": f"e{number}",
                "human_readable_id": number,
                "title": f"entity {number}",
                "type": "thing",
                "description": text(25),
                "text_unit_ids": [f"u{unit}" for unit in set(of_entity[number].tolist())],
                "frequency": 1,
                "degree": int(degrees[number]),
            }
            for number in range(size)
        ],
    )
    write_rows(
        folder,
        "relationships",
        [
            {
                "id": f"r{number}",
                "human_readable_id": number,
                "source": f"entity {source}",
                "target": f"entity {target}",
                "description": text(15),
                "weight": 1.0,
                "combined_degree": int(degrees[source] + degrees[target]),
                "text_unit_ids": [f"u{of_edge[number]}"],
            }
            for number, (source, target) in enumerate(ends.tolist())
        ],
    )
    write_rows(
        folder,
        "text_units",
        [
            {
                "id": f"u{number}",
                "human_readable_id": number,
                "text": text(200),
                "n_tokens": 400,
                "document_id": "d",
                "relationship_ids": edges_of[number],
            }
            for number in range(units)
        ],
    )
    write_rows(folder, "documents", [{"id": "d", "title": "d.txt"}])
    _write_communities(folder, size, text)
    (folder / "prompts.json").write_text("{}", encoding="utf-8")
    return _write_vectors(folder, size, units, chance)


def _write_communities(folder: Path, size: int, text: Callable[[int], str]) -> None:
    """Divide the entities in two levels: 3% and 20% as many communities."""
    rows: list[dict[str, Any]] = []
    for level, count in ((0, size * 3 // 100), (1, size // 5)):
        for part in range(count):
            members = [f"e{number}" for number in range(part, size, count)]
            rows.append({"level": level, "parent": -1, "entity_ids": members, "size": len(members)})
    for number, row in enumerate(rows):
        row |= {"id": f"c{number}", "human_readable_id": number, "community": number}
        row |= {"title": f"Community {number}"}
    write_rows(folder, "communities", rows)
    write_rows(
        folder,
        "community_reports",
        [
            {
                "id": f"p{row['community']}",
                "human_readable_id": row["community"],
                "community": row["community"],
                "level": row["level"],
                "title": text(4),
                "summary": text(20),
                "full_content": text(170),
                "rank": float(row["community"] % 10),
            }
            for row in rows
        ],
    )


def _write_vectors(
    folder: Path, size: int, units: int, chance: np.random.Generator
) -> NDArray[np.float32]:
    # As wide as what embedding models give, and as uneven: half of the variance along 130 axes.
    scale = (1 / np.sqrt(np.arange(WIDTH) + 10)).astype(np.float32)
    made = []
    for table, letter, count in (("entity_description", "e", size), ("text_unit_text", "u", units)):
        matrix = chance.standard_normal((count, WIDTH), dtype=np.float32) * scale
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        ids = [f"{letter}{number}" for number in range(count)]
        write_vectors(folder / "vectors", table, ids, [matrix], WIDTH)
        made.append(matrix)
    return made[0]
