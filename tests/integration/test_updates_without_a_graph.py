"""An index of the default engine after any history of changes, and one built from nothing."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lancedb
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from holodeck.lib.indexes.arrays import map_arrays
from holodeck.lib.indexes.files import DERIVED_FILE
from holodeck.lib.vectorstore.derive import DERIVED_VERSION
from holodeck.lib.vectorstore.table import table_mark
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool
from holodeck.testing import ModelServer
from holodeck.tools.vectorstore_tool import VectorStoreTool

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]

PATHS = ("a.txt", "b.md", "sub/c.txt", "sub/deep/d.md", "e.csv")
SHAPING: dict[str, tuple[object, ...]] = {
    "chunk_size": (50, 70),
    "chunk_overlap": (0, 9),
    "chunk_ends": ("sentences", "words"),
    "vector_field": (None, "said"),
}
NEUTRAL: dict[str, tuple[object, ...]] = {
    "top_k": (5, 2),
    "min_similarity_score": (None, 0.2),
    "description": ("Who runs what", "Who built what"),
}
FIRST = {name: values[0] for name, values in (SHAPING | NEUTRAL).items()}
UNTOLD = ("generation", "indexed_at", "source_path", "files", "spending")
"""What an index says of its build and not of its content."""

_sentence = st.builds(
    "{} {} {}.".format,
    st.sampled_from(("Ann Lee", "Bob Ray", "Zoë Ødegård", "王小明")),
    st.sampled_from(("runs", "built", "sold")),
    st.sampled_from(("Orion", "Vega", "Lyra", "Draco")),
)
_text = st.lists(_sentence, max_size=30).map(" ".join)  # without a sentence: an empty file
_path = st.sampled_from(PATHS)
_step = st.one_of(
    st.tuples(st.just("write"), _path, _text),
    st.tuples(st.just("write"), _path, _text),
    st.tuples(st.just("delete"), _path),
    st.tuples(st.just("move"), _path, _path),
    st.tuples(st.just("copy"), _path, _path),
    st.tuples(st.just("touch"), _path),
    st.sampled_from(
        [("set", name, one) for name, values in (SHAPING | NEUTRAL).items() for one in values]
    ),
)

Step = tuple[Any, ...]
EVERY_STEP: list[Step] = [
    ("write", "b.md", "# Who\n\nAnn Lee built Vega. " * 12),
    ("move", "b.md", "sub/c.txt"),
    ("copy", "a.txt", "sub/deep/d.md"),
    ("touch", "a.txt"),
    ("set", "chunk_ends", "words"),
    ("write", "e.csv", "Ann Lee runs Orion. Bob Ray sold Vega."),
    ("set", "vector_field", "said"),
    ("set", "top_k", 2),
    ("delete", "a.txt"),
    ("delete", "sub/c.txt"),
    ("delete", "sub/deep/d.md"),
    ("write", "e.csv", ""),
]
"""A history that is always walked; it ends without a text."""


@dataclass
class History:
    """A project that is changed step by step."""

    base: Path
    server: ModelServer
    chosen: dict[str, object] = field(default_factory=lambda: dict(FIRST))

    def apply(self, step: Step) -> bool:
        """Change the project; tell whether there may be something to embed for it."""
        kind, name, *rest = step
        if kind == "set":
            old, self.chosen[name] = self.chosen[name], rest[0]
            return name in SHAPING and old != rest[0]
        path = self.base / "docs" / name
        if kind == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = rest[0].replace(". ", ".\n")
            path.write_text(f"said\n{lines}" if path.suffix == ".csv" else rest[0], "utf-8")
            return True
        if not path.exists():
            return False
        if kind == "delete":
            path.unlink()
        elif kind == "touch":
            os.utime(path, (1, 1))
        else:
            other = self.base / "docs" / rest[0]
            if not other.exists() and other.suffix == path.suffix:
                other.parent.mkdir(parents=True, exist_ok=True)
                (shutil.move if kind == "move" else shutil.copyfile)(path, other)
        return False

    def build(self) -> dict[str, Any]:
        """Build or update, and return everything that the index holds."""
        given = {"name": "k", "source": "docs", **self.chosen}
        tool = VectorStoreTool(
            VectorstoreTool.model_validate({k: v for k, v in given.items() if v is not None}),
            str(self.base),
            agent_model=LLMProvider.model_validate(
                {"provider": "openai", "name": "m", "api_base": self.server.url, "api_key": "k"}
            ),
            environ={},
        )
        asyncio.run(tool.initialize())
        asyncio.run(tool.close())
        return self.content()

    def content(self) -> dict[str, Any]:
        root = self.base / ".holodeck" / "vectorstore" / "k"
        record = json.loads((root / "index.meta").read_text("utf-8"))
        folder = root / "generations" / record["generation"]
        about = {"version": DERIVED_VERSION, "table": table_mark(folder)}
        arrays = map_arrays(folder / DERIVED_FILE, about) or {}
        rows = None
        assert bool(arrays) == bool(record["chunk_count"])
        if arrays:
            rows = lancedb.connect(folder).open_table("chunks").to_arrow().to_pydict()
        return {
            "record": {key: value for key, value in record.items() if key not in UNTOLD},
            "arrays": {name: (array.dtype, array.tolist()) for name, array in arrays.items()},
            "rows": rows,
        }


def walk(server: ModelServer, base: Path, steps: list[Step]) -> None:
    """Take a history step by step, and compare each time with an index built from nothing."""
    history = History(base / "history", server)
    paid: Counter[str] = Counter()
    for number, step in enumerate([("write", "a.txt", "Ann Lee runs Orion."), *steps]):
        costs = history.apply(step)
        server.reset_counts()
        updated = history.build()
        texts = [text for each in server.requests if each.kind != "probe" for text in each.texts]
        assert costs or not server.requests, step
        paid.update(texts)
        assert not [text for text, count in paid.items() if count > 1], "embedded twice"

        fresh = History(base / f"fresh-{number}", server, history.chosen)
        shutil.copytree(history.base / "docs", fresh.base / "docs")
        assert updated == fresh.build(), step


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """Return a server whose vectors are a function of the text."""
    with ModelServer(embedding_width=16) as running:
        yield running


@example(EVERY_STEP)
@given(st.lists(_step, min_size=1, max_size=5))
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_an_update_leaves_what_a_build_from_nothing_leaves(
    server: ModelServer, steps: list[Step]
) -> None:
    """Chunks, places, vectors and words, in this order; what was embedded once is never again."""
    with tempfile.TemporaryDirectory() as base:
        walk(server, Path(base), steps)
