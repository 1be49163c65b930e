"""The default engine beside plain LanceDB and a numpy scan: writing, opening, asking, memory.

First how fast documents are read, cut into chunks and stored when embedding takes no time. Then,
for generated chunks of 40 words whose vectors are as uneven as embeddings are: each store is
written once and opened in a process of its own, which asks 10 questions after one to warm up. Every
question wants the texts of the 10 best chunks. Printed are CPU over wall: of imports, of opening
and the first question together, and the least of a warm question in milliseconds; how many times
the CPU of the numpy scan of the same run that is; the share of the truly nearest ten that were
found; and the memory that the process holds by itself and maps of files, in MB.

``lance`` is an exact scan, ``lance ANN`` goes by the index that LanceDB makes by default when the
rows are there, ``lance FTS`` by its full-text index. The numpy scan reads a mapped matrix.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.contracts import Embedder
from holodeck.lib.documents import Place, content_id
from holodeck.lib.indexes.text_units import TextUnit
from holodeck.lib.ranking.fuse import best_rows
from holodeck.lib.vectorstore.engine import VectorEngine
from holodeck.lib.vectorstore.store import write_store
from holodeck.models.tool import VectorstoreTool
from holodeck.testing.resources import FixedResources

SIZES = (10_000, 100_000, 1_000_000)
WIDTHS = (256, 1_536)
DOCUMENTS = 1_000
DOCUMENT_WORDS = 1_500
CHUNK_WORDS = 40
QUESTIONS = 11
NEAREST = 10
AT_ONCE = 50_000
WORDS = np.array([f"word{number}" for number in range(20_000)])
ROOM = 4.5
"""Times the vectors that a run keeps on the disk, which is also what it may need of memory once."""

Floats = NDArray[np.float32]

SUBJECTS = (
    "numpy",
    "ours, vector",
    "lance",
    "lance ANN",
    "ours, keyword",
    "lance FTS",
    "ours, hybrid",
)


def run(_data: Path | None) -> None:
    """Print the speed of building, and a table for each size and width.

    HOLODECK_BENCH_SIZES=10000,100000 asks for these only. A size that the disk or the memory has no
    room for is left out, which is said.
    """
    wanted = os.environ.get("HOLODECK_BENCH_SIZES")
    with _folder() as folder:
        _measure_building(folder)
    for size in map(int, wanted.split(",")) if wanted else SIZES:
        for width in WIDTHS:
            with _folder() as folder:
                if _has_room(folder, size * width * 4):
                    _measure(folder, size, width)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _has_room(folder: Path, needed: int) -> bool:
    free = shutil.disk_usage(folder).free
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if ROOM * needed < free and 2 * needed < memory:
        return True
    print(f"\nleft out: vectors of {needed / 1e9:.1f} GB, {free / 1e9:.0f} GB of disk are free")
    return False


# --- building -----------------------------------------------------------------------------------


class InstantEmbedder(Embedder):
    """Gives every text one of a few vectors, at once."""

    provider = "bench"
    name = "instant"

    def __init__(self, width: int) -> None:
        self._rows = _vectors(np.random.default_rng(1), 1_000, width)

    async def embed(self, texts: Sequence[str]) -> Floats:
        """Return one row per text."""
        return self._rows[[hash(text) % len(self._rows) for text in texts]]


def _measure_building(folder: Path) -> None:
    chance = np.random.default_rng(0)
    (folder / "docs").mkdir()
    for number in range(DOCUMENTS):
        _write_document(folder, number, chance)
    for what, change in (
        ("built", lambda: None),
        ("nothing new", lambda: None),
        ("one document more", lambda: _write_document(folder, DOCUMENTS, chance)),
    ):
        change()
        engine = VectorEngine(
            VectorstoreTool(name="bench", source="docs"),
            str(folder),
            resources=FixedResources(embedder=InstantEmbedder(WIDTHS[-1])),
        )
        start = time.process_time(), time.perf_counter()
        asyncio.run(engine.initialize())
        cpu, wall = time.process_time() - start[0], time.perf_counter() - start[1]
        stats = engine.index_stats
        print(
            f"{what}: {stats['files']:,} documents, {stats['chunks']:,} chunks in "
            f"{cpu:.2f}/{wall:.2f} s "
            f"({stats['files'] / cpu:,.0f} documents, {stats['chunks'] / cpu:,.0f} chunks a CPU s)"
        )
        asyncio.run(engine.close())


def _write_document(folder: Path, number: int, chance: np.random.Generator) -> None:
    sentences = (" ".join(each) for each in _words(chance, DOCUMENT_WORDS // 15, 15))
    text = ". ".join(sentences)
    (folder / "docs" / f"{number}.txt").write_text(text, encoding="utf-8")


# --- stores -------------------------------------------------------------------------------------


def _words(chance: np.random.Generator, rows: int, each: int) -> NDArray[np.str_]:
    """Return words as often as a language has them: a few everywhere, most seldom."""
    ranks = np.exp(chance.random((rows, each)) * np.log(len(WORDS))).astype(np.int64) - 1
    return WORDS[ranks]


def _vectors(chance: np.random.Generator, rows: int, width: int) -> Floats:
    # Most of the variance lies along few axes, as in what embedding models give.
    scale = (1 / np.sqrt(np.arange(width) + 10)).astype(np.float32)
    matrix = chance.standard_normal((rows, width), dtype=np.float32) * scale
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix


def _measure(folder: Path, size: int, width: int) -> None:
    print(f"\n{size:,} chunks x {width:,} numbers ({size * width * 4 / 1e6:,.0f} MB of vectors)")
    texts, matrix = _generate(folder, size, width)
    written = {"ours": lambda: _write_ours(folder, texts, matrix)}
    for name in ("lance", "lance ANN", "lance FTS"):
        written[name] = partial(_say, f"write {name}", folder)
    for name, write in written.items():
        start = time.process_time(), time.perf_counter(), _children()
        write()
        cpu = time.process_time() - start[0] + _children() - start[2]
        print(f"{name} written in {cpu:.1f}/{time.perf_counter() - start[1]:.1f} s", flush=True)
    _print_table(folder)


def _generate(folder: Path, size: int, width: int) -> tuple[list[str], Floats]:
    """Write vectors, texts in the order of their ids, questions and their answers."""
    chance = np.random.default_rng(0)
    matrix = np.lib.format.open_memmap(
        folder / "matrix.npy", mode="w+", dtype=np.float32, shape=(size, width)
    )
    texts: list[str] = []
    for start in range(0, size, AT_ONCE):
        rows = min(AT_ONCE, size - start)
        matrix[start : start + rows] = _vectors(chance, rows, width)
        texts += (" ".join(each) for each in _words(chance, rows, CHUNK_WORDS))
    matrix.flush()
    texts.sort(key=content_id)
    (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    questions = np.stack([_question(matrix, chance) for _ in range(QUESTIONS)])
    np.save(folder / "questions.npy", questions)
    nearest = [best_rows(np.vecdot(matrix, each), NEAREST) for each in questions]
    np.save(folder / "nearest.npy", np.stack(nearest))
    words = [" ".join(each) for each in _words(chance, QUESTIONS, 6)]
    (folder / "words.json").write_text(json.dumps(words), encoding="utf-8")
    return texts, matrix


def _question(matrix: Floats, chance: np.random.Generator) -> Floats:
    one, other = matrix[chance.integers(0, len(matrix), 2)]
    vector = one + np.float32(0.5) * other
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def _write_ours(folder: Path, texts: Sequence[str], matrix: Floats) -> None:
    units = [
        TextUnit(
            id=content_id(text),
            text=text,
            n_tokens=CHUNK_WORDS,
            document_id="d",
            places=(Place(path=f"{number // 100}.txt"),),
        )
        for number, text in enumerate(texts)
    ]
    write_store(folder / "ours", units, matrix)


# --- asking -------------------------------------------------------------------------------------


def _print_table(folder: Path) -> None:
    print(
        f"{'CPU/wall':<14}{'import s':>14}{'open+first s':>16}{'warm ms':>18}{'x numpy':>9}"
        f"{'recall':>8}{'held MB':>9}{'mapped MB':>11}"
    )
    floor = 0.0
    for subject in SUBJECTS:
        found = _say(subject, folder)
        floor = floor or found["warm"][0]
        recall = f"{found['recall']:.3f}" if found["recall"] is not None else ""
        warm = f"{1000 * found['warm'][0]:.2f}/{1000 * found['warm'][1]:.2f}"
        print(
            f"{subject:<14}{_times(found['import']):>14}{_times(found['open']):>16}{warm:>18}"
            f"{found['warm'][0] / floor:>9.2f}{recall:>8}{found['held']:>9,}{found['mapped']:>11,}",
            flush=True,
        )


def _times(pair: Sequence[float]) -> str:
    return f"{pair[0]:.2f}/{pair[1]:.2f}"


def _say(subject: str, folder: Path) -> dict[str, Any]:  # Any: numbers
    """Run a part of the bench in a process of its own and return what it measured."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.vector_subjects", subject, str(folder)],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    found: dict[str, Any] = json.loads(done.stdout or "{}")
    return found


def _children() -> float:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
