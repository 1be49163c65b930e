"""Generated indexes of any size: entities, relationships, text units, communities and vectors.

There are 2 relationships and 0.33 text units an entity, 23% as many communities, vectors of 1,536
numbers, and one hub of degree 5,000 (a quarter of the entities where there are fewer).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from holodeck.lib.graphrag.tables import write_rows, write_vectors

__all__ = ["WIDTH", "WORDS", "write_index"]

WIDTH = 1_536
HUB_DEGREE = 5_000
WORDS = tuple(f"word{number}" for number in range(5_000))


def write_index(folder: Path, size: int) -> None:
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
    _write_vectors(folder, size, units, chance)


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


def _write_vectors(folder: Path, size: int, units: int, chance: np.random.Generator) -> None:
    # As wide as what embedding models give, and as uneven: half of the variance along 130 axes.
    scale = (1 / np.sqrt(np.arange(WIDTH) + 10)).astype(np.float32)
    for table, letter, count in (("entity_description", "e", size), ("text_unit_text", "u", units)):
        matrix = chance.standard_normal((count, WIDTH), dtype=np.float32) * scale
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        ids = [f"{letter}{number}" for number in range(count)]
        write_vectors(folder / "vectors", table, ids, [matrix], WIDTH)
