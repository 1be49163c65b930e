"""One store of ``bench vector`` in a process of its own: ``python -m bench.vector_subjects``."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

NEAREST = 10
AT_ONCE = 50_000
TABLE = "plain"

Times = tuple[float, float]
Ask = Callable[[Any, str], list[tuple[int, str]]]  # Any: a vector of numpy
"""A vector and words → row and text of the best chunks."""


def main() -> None:
    """Write, or open and ask, what the first argument names."""
    subject, folder = sys.argv[1], Path(sys.argv[2])
    if subject in WRITERS:
        WRITERS[subject](folder)
    else:
        print(json.dumps(_measure(folder, *SUBJECTS[subject])), flush=True)
    os._exit(0)  # one process of a hundred died in LanceDB's threads while Python ended


def _measure(
    folder: Path, imports: Callable[[], object], opener: Callable[[Path], Ask], by_vector: bool
) -> dict[str, Any]:
    clock = _Clock()
    imports()
    imported = clock.lap()
    import numpy as np

    questions, nearest = np.load(folder / "questions.npy"), np.load(folder / "nearest.npy")
    words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
    before = _memory()
    clock.lap()
    ask = opener(folder)
    answers = [ask(questions[0], words[0])]
    opened = clock.lap()
    laps = []
    for vector, text in zip(questions[1:], words[1:], strict=True):
        clock.lap()
        answers.append(ask(vector, text))
        laps.append(clock.lap())
    after = _memory()
    assert all(text for found in answers for _, text in found)
    shares = [
        len({row for row, _ in found} & set(true.tolist())) / NEAREST
        for found, true in zip(answers, nearest, strict=True)
    ]
    return {
        "import": imported,
        "open": opened,
        "warm": [min(lap[0] for lap in laps), min(lap[1] for lap in laps)],
        "recall": float(np.mean(shares)) if by_vector else None,
        "held": max(after[0] - before[0], 0),
        "mapped": max(after[1] - before[1], 0),
    }


class _Clock:
    def __init__(self) -> None:
        self._at = time.process_time(), time.perf_counter()

    def lap(self) -> Times:
        """Return CPU and wall seconds since the last lap."""
        before, self._at = self._at, (time.process_time(), time.perf_counter())
        return self._at[0] - before[0], self._at[1] - before[1]


def _memory() -> tuple[int, int]:
    """Return what the process holds by itself and what it maps of files, in MB; 0 elsewhere."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    sizes = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Rss")}
    return int(sizes.get("RssAnon", 0)) // 1024, int(sizes.get("RssFile", 0)) // 1024


# --- numpy --------------------------------------------------------------------------------------


def _import_numpy() -> None:
    import numpy as np  # noqa: F401


def _open_numpy(folder: Path) -> Ask:
    import numpy as np

    matrix = np.load(folder / "matrix.npy", mmap_mode="r")

    def ask(vector: Any, _words: str) -> list[tuple[int, str]]:
        scores = np.vecdot(matrix, vector)
        best = np.argpartition(scores, -NEAREST)[-NEAREST:]
        return [(row, "no texts here") for row in best[np.argsort(-scores[best])].tolist()]

    return ask


# --- ours ---------------------------------------------------------------------------------------


def _import_ours() -> None:
    import holodeck.lib.vectorstore.search
    import holodeck.lib.vectorstore.store  # noqa: F401


def _open_ours(mode: str) -> Callable[[Path], Ask]:
    def opener(folder: Path) -> Ask:
        from holodeck.lib.vectorstore.search import Question, find
        from holodeck.lib.vectorstore.store import open_store

        store = open_store(folder / "ours")

        def ask(vector: Any, words: str) -> list[tuple[int, str]]:
            found = find(store, Question(text=words, vector=vector), mode, top_k=NEAREST)
            rows = [hit.row for hit in found]
            return [(row, chunk.text) for row, chunk in zip(rows, store.read(rows), strict=True)]

        return ask

    return opener


# --- LanceDB ------------------------------------------------------------------------------------


def _import_lance() -> None:
    import lancedb  # noqa: F401


def _table(folder: Path) -> Any:  # Any: LanceDB ships no types
    import lancedb

    return lancedb.connect(str(folder / "lance")).open_table(TABLE)


def _open_lance(exactly: bool) -> Callable[[Path], Ask]:
    def opener(folder: Path) -> Ask:
        table = _table(folder)

        def ask(vector: Any, _words: str) -> list[tuple[int, str]]:
            query = table.search(vector, vector_column_name="vector").metric("cosine")
            if exactly:
                query = query.bypass_vector_index()
            return _rows(query, "_distance")

        return ask

    return opener


def _open_lance_words(folder: Path) -> Ask:
    table = _table(folder)
    return lambda _vector, words: _rows(table.search(words, query_type="fts"), "_score")


def _rows(query: Any, score: str) -> list[tuple[int, str]]:
    rows = query.select(["row", "text", score]).limit(NEAREST).to_arrow().to_pylist()
    return [(row["row"], row["text"]) for row in rows]


def _write_lance(folder: Path) -> None:
    import lancedb
    import numpy as np
    import pyarrow as pa

    matrix = np.load(folder / "matrix.npy", mmap_mode="r")
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    schema = pa.schema(
        [
            ("row", pa.int64()),
            ("text", pa.string()),
            ("vector", pa.list_(pa.float32(), matrix.shape[1])),
        ]
    )

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, len(matrix), AT_ONCE):
            part = np.ascontiguousarray(matrix[start : start + AT_ONCE])
            columns = [
                pa.array(range(start, start + len(part)), pa.int64()),
                pa.array(texts[start : start + len(part)], pa.string()),
                pa.FixedSizeListArray.from_arrays(pa.array(part.reshape(-1)), part.shape[1]),
            ]
            yield pa.record_batch(columns, schema=schema)

    content = pa.RecordBatchReader.from_batches(schema, batches())
    lancedb.connect(str(folder / "lance")).create_table(TABLE, content)


def _index_lance(folder: Path) -> None:
    from lancedb.index import IvfPq

    _table(folder).create_index("vector", config=IvfPq(distance_type="cosine"))


def _index_lance_words(folder: Path) -> None:
    from lancedb.index import FTS

    _table(folder).create_index("text", config=FTS())


WRITERS: dict[str, Callable[[Path], None]] = {
    "write lance": _write_lance,
    "write lance ANN": _index_lance,
    "write lance FTS": _index_lance_words,
}

SUBJECTS: dict[str, tuple[Callable[[], object], Callable[[Path], Ask], bool]] = {
    "numpy": (_import_numpy, _open_numpy, True),
    "ours, vector": (_import_ours, _open_ours("vector"), True),
    "ours, keyword": (_import_ours, _open_ours("keyword"), False),
    "ours, hybrid": (_import_ours, _open_ours("hybrid"), False),
    "lance": (_import_lance, _open_lance(exactly=True), True),
    "lance ANN": (_import_lance, _open_lance(exactly=False), True),
    "lance FTS": (_import_lance, _open_lance_words, False),
}


if __name__ == "__main__":
    main()
