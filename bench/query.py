"""A warm query besides the model: ours in both rankings, the library's held engine, a numpy floor.

Generated indexes: 2 relationships and 0.33 text units an entity, 23% as many communities, vectors
of 1,536 numbers, one hub. The floor is the dot product with all entity vectors and a partial sort.
CPU in milliseconds, the least of the runs; all in one process, one after the other.
"""

from __future__ import annotations

import logging
import os
import resource
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.local_context import RANKINGS, LocalQuestion, select_local
from holodeck.lib.graphrag.open_index import open_index
from holodeck.lib.graphrag.tables import write_rows, write_vectors
from holodeck.lib.ranking.fuse import best_rows
from holodeck.lib.tokens import encoding

SIZES = (1_000, 10_000)
WIDTH = 1_536
HUB_DEGREE = 5_000
RUNS = 5
LEVEL = 2
WORDS = tuple(f"word{number}" for number in range(5_000))


def run(_data: Path | None) -> None:
    """Print a table for each size; HOLODECK_BENCH_SIZES=100000 asks for another."""
    wanted = os.environ.get("HOLODECK_BENCH_SIZES")
    for size in map(int, wanted.split(",")) if wanted else SIZES:
        with tempfile.TemporaryDirectory() as folder:
            _measure(Path(folder), size)


def _measure(folder: Path, size: int) -> None:
    vectors = _write(folder, size)
    start = time.process_time()
    index = open_index(folder, folder / "vectors")
    opened = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"\n{size:,} entities: opened in {opened:.2f} CPU s, {memory:,} MB at most")
    near_hub = vectors[0] + 0.01
    rows = {"any": vectors[size // 2] + 0.01, "hub": near_hub / np.linalg.norm(near_hub)}
    floor = _least(lambda: best_rows(vectors @ rows["any"], 20))
    logging.getLogger("graphrag").setLevel(logging.ERROR)  # it warns at each full context
    theirs = _held(folder) if find_spec("graphrag") else None
    print(f"{'query':<8}{'floor':>9}" + "".join(f"{name:>16}" for name in (*RANKINGS, "theirs")))
    for name, vector in rows.items():
        cells = [_least(lambda r=ranking, v=vector: _ours(index, v, r)) for ranking in RANKINGS]
        cells += [_least(lambda v=vector: theirs(v))] if theirs else []
        print(
            f"{name:<8}{floor:>9.2f}"
            + "".join(f"{cell:>9.2f} {cell / floor:>5.1f}x" for cell in cells)
        )


def _ours(index: GraphIndex, vector: NDArray[np.float32], ranking: str) -> None:
    words = " ".join(WORDS[number] for number in (7, 77, 777))
    asked = LocalQuestion(text=f"{words} and entity 7", vector=vector, level=LEVEL)
    select_local(index, asked, ranking)


def _least(call: Callable[[], object]) -> float:
    """Return the least CPU time of the runs in milliseconds, after one that warms up."""
    call()
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def _held(folder: Path) -> Callable[[NDArray[np.float32]], object]:
    """Return the library's context builder, made once; importing it patches this process."""
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

    def table(name: str) -> pd.DataFrame:
        return pd.read_parquet(folder / f"{name}.parquet")

    store = LanceDBVectorStore(
        db_uri=str(folder / "vectors"), index_name="entity_description", vector_size=WIDTH
    )
    store.connect()
    given: Any = SimpleNamespace(vector=None)
    embedder: Any = SimpleNamespace(
        embedding=lambda input: SimpleNamespace(first_embedding=given.vector)  # noqa: A006
    )
    communities = table("communities")
    builder = LocalSearchMixedContext(
        entities=read_indexer_entities(table("entities"), communities, LEVEL),
        entity_text_embeddings=store,
        text_embedder=embedder,
        text_units=read_indexer_text_units(table("text_units")),
        community_reports=read_indexer_reports(table("community_reports"), communities, LEVEL),
        relationships=read_indexer_relationships(table("relationships")),
        covariates={"claims": []},
        tokenizer=OurTokens(),
    )

    def query(vector: NDArray[np.float32]) -> object:
        given.vector = vector.tolist()
        return builder.build_context(
            query="?",
            max_context_tokens=12_000,
            community_prop=0.1,
            include_entity_rank=True,
            include_relationship_weight=True,
        )

    return query


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
