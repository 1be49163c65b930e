"""``ranking: library`` and the library's own LocalSearch, beside each other."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from holodeck.lib.graphrag.local_context import LocalQuestion, select_local
from holodeck.lib.graphrag.open_index import open_index
from holodeck.lib.graphrag.tables import write_rows
from holodeck.lib.graphrag.values import LOCAL, LocalValues

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(find_spec("graphrag") is None, reason="the graphrag library is the oracle"),
]

SCRIPT = Path(__file__).with_name("library_contexts.py")
DATA = os.environ.get("HOLODECK_DATA", "")
"""A folder with data from outside: it holds the index ``dulce/index`` of the library's makers."""

TEXTS = (
    "plain words",
    'a "quoted" word',
    "a | bar",
    "two\nlines",
    "  blanks before, a blank after ",
    "谁领导了猎户座项目",
    "🚀 👩‍🚀",
    "مشروع",
    "ends with blank lines\n\n",
    "\r\nfirst line empty",
    "dots... and <|endoftext|>",
)
WIDTH = 16


@dataclass(frozen=True, kw_only=True)
class Job:
    """Questions put to one index."""

    tables: Path
    vectors: Path
    questions: list[dict[str, Any]]


def contexts_of_the_library(*jobs: Job) -> list[list[str]]:
    """Return what the library builds for the questions."""
    request = [
        {"tables": str(job.tables), "vectors": str(job.vectors), "questions": job.questions}
        for job in jobs
    ]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT)],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    contexts: list[list[str]] = json.loads(done.stdout)
    return contexts


def our_contexts(job: Job) -> list[str]:
    """Return what we build for the questions."""
    index = open_index(job.tables, job.vectors)
    return [
        select_local(
            index,
            LocalQuestion(
                text="a question",
                vector=np.asarray(question["vector"], dtype=np.float32),
                level=question["level"],
            ),
            "library",
            LocalValues(context_tokens=question["tokens"]),
        ).context.text
        for question in job.questions
    ]


def assert_equal(*jobs: Job) -> None:
    """Compare context by context, so that a difference is one text against another."""
    for job, theirs in zip(jobs, contexts_of_the_library(*jobs), strict=True):
        ours = our_contexts(job)
        assert len(ours) == len(theirs) == len(job.questions) > 0
        for question, our, their in zip(job.questions, ours, theirs, strict=True):
            assert our == their, {key: question[key] for key in ("level", "tokens")}


def questions(vectors: NDArray[np.float32]) -> list[dict[str, Any]]:
    """Return every vector at several levels and budgets."""
    return [
        {"vector": vector.tolist(), "level": level, "tokens": tokens}
        for vector, level, tokens in zip(
            np.repeat(vectors, 6, axis=0),
            [0, 1, 2, 3, 5, 2] * len(vectors),
            [12_000, 300, 2_000, 12_000, 600, 20] * len(vectors),
            strict=True,
        )
    ]


def write_index(folder: Path, size: int, *, claims: bool, isolated: bool = False) -> Path:
    """Write an index of ``size`` entities, one of them connected with a third of the others."""
    chance = random.Random(size)
    folder.mkdir()

    def text() -> str:
        return " ".join(chance.choices(TEXTS, k=chance.randint(1, 12)))

    units = [f"u{number}" for number in range(max(2, size // 3))]
    names = [f"{chance.choice(TEXTS)} {number}" for number in range(size)]
    pairs = {(0, other) for other in range(1, size, 3)}
    pairs |= {tuple(chance.sample(range(size), 2)) for _ in range(2 * size)}  # type: ignore[misc]
    edges: list[dict[str, Any]] = [
        {
            "id": f"r{number}",
            "human_readable_id": number,
            "source": names[source],
            "target": names[target],
            "description": text(),
            "weight": float(chance.randint(0, 9)),
            "combined_degree": chance.randint(1, 9),
            "text_unit_ids": chance.sample(units, 1),
        }
        for number, (source, target) in enumerate(sorted(pairs))
    ]
    write_rows(folder, "relationships", edges)
    write_rows(
        folder,
        "entities",
        [
            {
                "id": f"e{number}",
                "human_readable_id": number,
                "title": name,
                "type": "thing",
                "description": text(),
                "text_unit_ids": chance.sample(units, chance.randint(1, 2)),
                "frequency": 1,
                "degree": chance.randint(0, 9),
            }
            for number, name in enumerate(names)
        ],
    )
    write_rows(
        folder,
        "text_units",
        [
            {
                "id": unit,
                "human_readable_id": number,
                "text": text(),
                "n_tokens": 1,
                "document_id": "d",
                "entity_ids": [],
                "relationship_ids": [row["id"] for row in edges if unit in row["text_unit_ids"]],
                "covariate_ids": [],
            }
            for number, unit in enumerate(units)
        ],
    )
    write_rows(folder, "documents", [{"id": "d", "title": "d.txt", "text_unit_ids": units}])
    _write_communities(folder, size, chance, text, isolated=isolated)
    if claims:
        _write_claims(folder, names, chance, text)
    return _write_vectors(folder, size)


def _write_communities(
    folder: Path, size: int, chance: random.Random, text: Any, *, isolated: bool
) -> None:
    """Divide the entities into 2, then 6, then 18; some communities have no report."""
    members = range(size // 4 if isolated else 0, size)
    communities = [
        {
            "community": 0,
            "level": level,
            "parent": -1,
            "entity_ids": [f"e{number}" for number in members if number % parts == part],
            "text_unit_ids": [],
        }
        for level, parts in enumerate((2, 6, 18))
        for part in range(parts)
    ]
    chance.shuffle(communities)
    for number, row in enumerate(communities):
        row |= {"id": f"c{number}", "human_readable_id": number, "community": number}
        row |= {"title": f"Community {number}"}
    write_rows(folder, "communities", communities)
    write_rows(
        folder,
        "community_reports",
        [
            {
                "id": f"p{row['community']}",
                "human_readable_id": row["community"],
                "community": row["community"],
                "level": row["level"],
                "title": text(),
                "summary": text(),
                "full_content": text(),
                "rank": float(chance.randint(0, 2)),
            }
            for row in communities
            if chance.random() < 0.8
        ],
    )


def _write_claims(folder: Path, names: list[str], chance: random.Random, text: Any) -> None:
    write_rows(
        folder,
        "covariates",
        [
            {
                "id": f"k{number}",
                "human_readable_id": number,
                "covariate_type": "claim",
                "type": "deed",
                "description": text(),
                "subject_id": chance.choice(names),
                "object_id": chance.choice(("NONE", "")),
                "status": "TRUE",
                "start_date": "",
                "end_date": "NONE",
                "source_text": text(),
                "text_unit_id": "u0",
            }
            for number in range(len(names) // 2)
        ],
    )


def _write_vectors(folder: Path, size: int) -> Path:
    import lancedb
    import pyarrow as pa

    (folder / "prompts.json").write_text("{}", encoding="utf-8")
    store = folder / "store"
    flat = pa.array(_random_vectors(size).reshape(-1))
    column = pa.FixedSizeListArray.from_arrays(flat, WIDTH)
    ids = pa.array([f"e{number}" for number in range(size)])
    lancedb.connect(str(store)).create_table(
        "entity_description", pa.table({"id": ids, "vector": column})
    )
    return store


def _random_vectors(count: int, seed: int = 1) -> NDArray[np.float32]:
    """Return vectors of different lengths, as a careless embedding model gives them."""
    vectors: NDArray[np.float32] = (
        np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)
    )
    return vectors


def generated(folder: Path, size: int, *, claims: bool, vectors: int) -> Job:
    """Return questions put to a generated index."""
    tables = folder / f"tables-{size}"
    store = write_index(tables, size, claims=claims)
    asked = questions(_random_vectors(vectors, seed=2))
    return Job(tables=tables, vectors=store, questions=asked)


def test_the_context_is_the_library_s(tmp_path: Path) -> None:
    """Byte for byte, at every level and budget, with claims and without, in any script."""
    assert_equal(
        generated(tmp_path, 3, claims=False, vectors=2),
        generated(tmp_path, 40, claims=True, vectors=3),
        generated(tmp_path, 400, claims=False, vectors=3),
    )


@pytest.mark.heavy
def test_the_context_of_a_great_index_is_the_library_s(tmp_path: Path) -> None:
    """Ten thousand entities, one of them connected with thousands."""
    assert_equal(generated(tmp_path, 10_000, claims=True, vectors=1))


def test_an_entity_without_a_community_is_found_where_the_library_forgets_it(
    tmp_path: Path,
) -> None:
    """Named exception: the library drops such entities at any level, and keeps them without one."""
    tables = tmp_path / "tables"
    store = write_index(tables, 40, claims=False, isolated=True)
    vector = _random_vectors(1, seed=3)[0].tolist()

    def job(level: int | None) -> Job:
        question = {"vector": vector, "level": level, "tokens": 12_000}
        return Job(tables=tables, vectors=store, questions=[question])

    (forgetting,), (keeping,) = contexts_of_the_library(job(2), job(None))

    assert our_contexts(job(2)) == [keeping]
    assert keeping != forgetting


@pytest.mark.skipif(not DATA, reason="HOLODECK_DATA names no folder with data from outside")
def test_an_index_of_the_library_s_makers_gives_the_library_s_context() -> None:
    """A foreign index opens where it lies; its contexts are what the library makes of it."""
    tables = Path(DATA) / "dulce" / "index"
    index = open_index(tables, tables / "lancedb")
    assert index.entity_vectors is not None
    matrix = index.entity_vectors.matrix
    asked = questions(np.stack([matrix[:5].mean(axis=0), matrix[7], -matrix[9]]))

    assert_equal(Job(tables=tables, vectors=tables / "lancedb", questions=asked))
    assert {str(place) for places in index.text_units.places for place in places} == {"dulce.txt"}


def test_the_values_are_those_of_the_comparison() -> None:
    """What the library is given above is what a user gets who sets nothing."""
    assert LocalValues(context_tokens=12_000) == LOCAL
