"""An index after any history of changes, and one that was built from nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

import lancedb
import pyarrow.parquet as pq
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from holodeck.lib.graphrag.open_index import derive_index
from holodeck.testing import ModelServer
from holodeck.testing.replies import ServerRequest

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(1200)]

PATHS = ("a.txt", "b.md", "sub/c.txt", "sub/deep/d.txt", "e.txt")
PEOPLE = ("Ann Lee", "Bob Ray", "Cara Fox", "Dan Orr")
THINGS = ("Orion", "Vega", "Lyra", "Draco")
VERBS = ("runs", "built", "sold")

SHAPING: dict[str, tuple[object, ...]] = {
    "chunk_size": (50, 70),
    "max_gleanings": (0, 1),
    "entity_types": (["person"], ["person", "thing"]),
    "summary_threshold": (200, 5),
    "skip_claim_extraction": (True, False),
    "profile": ("full", "lean"),
    "report_threshold": (0, 60),
}
NEUTRAL: dict[str, tuple[object, ...]] = {
    "search_mode": ("local", "global"),
    "community_level": (0, 3),
    "search_model": ({"name": "gpt-4o"}, {"name": "gpt-4o-mini"}),
}
FIRST = {name: values[0] for name, values in (SHAPING | NEUTRAL).items()} | {"chunk_overlap": 4}
UNTOLD = ("generation", "indexed_at", "calls", "source_path", "files", "spending")
"""What an index says of its build and not of its content."""

_sentence = st.builds(
    "{} {} {}.".format, st.sampled_from(PEOPLE), st.sampled_from(VERBS), st.sampled_from(THINGS)
)
_text = st.lists(_sentence, min_size=1, max_size=20).map(" ".join)
_path = st.sampled_from(PATHS)
_setting = st.sampled_from(
    [(name, value) for name, values in (SHAPING | NEUTRAL).items() for value in values]
)
_step = st.one_of(
    st.tuples(st.just("write"), _path, _text),
    st.tuples(st.just("write"), _path, _text),
    st.tuples(st.just("delete"), _path),
    st.tuples(st.just("move"), _path, _path),
    st.tuples(st.just("copy"), _path, _path),
    st.tuples(st.just("touch"), _path),
    st.tuples(st.just("set"), _setting),
)
HISTORIES = st.lists(_step, min_size=1, max_size=5)

EVERY_STEP: list[tuple[Any, ...]] = [
    ("write", "b.md", "Ann Lee built Vega. Bob Ray runs Orion. Cara Fox sold Lyra."),
    ("move", "b.md", "sub/c.txt"),
    ("copy", "a.txt", "e.txt"),
    ("set", ("skip_claim_extraction", False)),
    ("set", ("profile", "lean")),
    ("set", ("search_mode", "global")),
    ("delete", "a.txt"),
    ("delete", "e.txt"),
]
"""A history that is always walked."""

Step = tuple[Any, ...]
Built = dict[str, Any]  # Any: JSON


class Builder:
    """The process that builds."""

    def __init__(self, url: str) -> None:
        self._url = url
        script = Path(__file__).with_name("index_builder.py")
        self._process = subprocess.Popen(
            [sys.executable, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def build(self, base: Path, chosen: Mapping[str, object]) -> Built:
        """Build or update the index of ``base/docs``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"base": str(base), "url": self._url, "settings": chosen}
        print(json.dumps(order), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            assert self._process.stderr is not None
            pytest.fail(self._process.stderr.read()[-3000:])
        found: Built = json.loads(line)
        return found

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """Return a server whose replies are a function of the request."""
    with ModelServer(embedding_width=16) as running:
        yield running


@pytest.fixture(scope="module")
def builder(server: ModelServer) -> Iterator[Builder]:
    """Return the process that builds at the server."""
    process = Builder(server.url)
    yield process
    process.close()


def content(built: Built) -> dict[str, Any]:
    """Return everything that an index holds: tables byte for byte, vectors, and its record."""
    tables, vectors = Path(built["tables"]), lancedb.connect(built["vectors"])
    # What a search maps is derived from these, and says which files it was derived from.
    files = {path.name: path.read_bytes() for path in tables.iterdir() if path.suffix != ".arrays"}
    # What is remembered names the replies that it was read in: those of all passes, or the last.
    lines = files.pop("steps.memo", b"").splitlines()[1:]
    remembered = [line.partition(b"\t")[0] for line in lines]
    names = vectors.list_tables().tables
    rows = {name: vectors.open_table(name).to_arrow().to_pydict() for name in sorted(names)}
    record = {key: value for key, value in built["record"].items() if key not in UNTOLD}
    return {**files, "vectors": rows, "record": record, "remembered": remembered}


def dangling(built: Built, docs: Path) -> list[str]:
    """Return every reference to something that is not there."""
    tables = {
        path.stem: pq.read_table(path).to_pylist()
        for path in Path(built["tables"]).glob("*.parquet")
    }
    ids = {name: {row.get("id") for row in rows} for name, rows in tables.items()}
    titles = {row["title"] for row in tables["entities"]}
    paths = {path.relative_to(docs).as_posix() for path in docs.rglob("*") if path.is_file()}
    lists = [
        ("entities", "text_unit_ids", ids["text_units"]),
        ("relationships", "text_unit_ids", ids["text_units"]),
        ("communities", "entity_ids", ids["entities"]),
        ("communities", "relationship_ids", ids["relationships"]),
        ("communities", "text_unit_ids", ids["text_units"]),
        ("text_units", "entity_ids", ids["entities"]),
        ("text_units", "relationship_ids", ids["relationships"]),
        ("text_units", "covariate_ids", ids.get("covariates", set())),
        ("documents", "text_unit_ids", ids["text_units"]),
    ]
    single = [
        ("relationships", "source", titles),
        ("relationships", "target", titles),
        ("text_units", "document_id", ids["documents"]),
        ("sources", "text_unit_id", ids["text_units"]),
        ("sources", "path", paths),
        ("documents", "title", paths),
        ("aliases", "entity_id", ids["entities"]),
    ]
    return [
        f"{table}.{column}: {value}"
        for table, column, known in lists
        for row in tables[table]
        for value in row[column] or ()
        if value not in known
    ] + [
        f"{table}.{column}: {row[column]}"
        for table, column, known in single
        for row in tables[table]
        if row[column] not in known
    ]


@dataclass
class History:
    """A project that is changed step by step.

    Attributes:
        extracted: What was extracted so far: settings that stand in the prompt, and the text.
    """

    base: Path
    chosen: dict[str, object] = field(default_factory=lambda: dict(FIRST))
    extracted: set[tuple[str, str]] = field(default_factory=set)

    @property
    def docs(self) -> Path:
        return self.base / "docs"

    def apply(self, step: Step) -> str:
        """Change the project; return what that costs: anything, nothing, or a setting's name."""
        kind, *rest = step
        if kind == "set":
            ((name, value),) = rest
            old, self.chosen[name] = self.chosen[name], value
            return "nothing" if name in NEUTRAL or old == value else f"graphrag.{name}"
        path = self.docs / rest[0]
        if kind == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rest[1], encoding="utf-8")
            return "anything"
        if not path.exists():
            return "nothing"
        if kind == "delete":
            path.unlink()
            return "anything"
        if kind == "touch":
            os.utime(path, (1, 1))
            return "nothing"
        other = self.docs / rest[1]
        if other.exists():
            return "nothing"
        other.parent.mkdir(parents=True, exist_ok=True)
        (shutil.move if kind == "move" else shutil.copyfile)(path, other)
        return "nothing"

    def new_extractions(self, built: Built) -> int:
        """Return how many texts of the index were never extracted before with these settings."""
        names = ("entity_types", "profile")  # a further pass goes on from what is kept
        prompt = json.dumps([self.chosen[name] for name in names])
        units = pq.read_table(Path(built["tables"]) / "text_units.parquet", columns=["text"])
        now = {(prompt, text) for text in units["text"].to_pylist()}
        new = now - self.extracted
        self.extracted |= now
        return len(new)


def walk(server: ModelServer, builder: Builder, base: Path, steps: list[Step]) -> None:
    """Take a history step by step, and compare each time with an index built from nothing."""
    history = History(base / "history")
    history.apply(("write", "a.txt", "Ann Lee runs Orion. Bob Ray sold Vega."))
    paid: Counter[str] = Counter()
    for number, step in enumerate([("touch", "a.txt"), *steps]):
        cost = history.apply(step) if number else "anything"
        server.reset_counts()
        built = builder.build(history.base, history.chosen)
        asked = [request for request in server.requests if request.kind != "probe"]
        if cost == "nothing":
            assert not server.requests, step
        if cost.startswith("graphrag."):
            assert cost in built["why"], step
        if step[0] == "set" and cost == "nothing":
            assert not built["built"], step
        extractions = sum(request.kind == "extract" for request in asked)
        assert extractions == history.new_extractions(built), step
        for request in asked:
            paid.update(_units(request))
        assert not [unit for unit, count in paid.items() if count > 1], "paid for twice"
        assert not dangling(built, history.docs), step
        assert_prepared(built, base / f"copy-{number}")

        fresh = base / f"fresh-{number}"
        shutil.copytree(history.docs, fresh / "docs")
        assert content(built) == content(builder.build(fresh, history.chosen)), step


def _units(request: ServerRequest) -> list[str]:
    """Return what is paid for: each text to embed, or a conversation as a whole."""
    return (
        [f"{request.kind}: {text}" for text in request.texts]
        if request.is_embedding
        else [f"{request.kind}: {json.dumps(request.body['messages'])}"]
    )


def test_what_was_deleted_or_edited_answers_no_more(
    server: ModelServer, builder: Builder, tmp_path: Path
) -> None:
    """It is gone from every table, the vectors and the search; deleting alone is an update too."""
    history = History(tmp_path)
    history.apply(("write", "a.txt", "Ann Lee runs Orion."))
    history.apply(("write", "b.txt", "Bob Ray runs Vega."))
    names = [named(builder.build(tmp_path, history.chosen))]
    history.apply(("write", "a.txt", "Cara Fox runs Orion."))
    names.append(named(builder.build(tmp_path, history.chosen)))
    history.apply(("delete", "b.txt"))
    server.reset_counts()
    built = builder.build(tmp_path, history.chosen)
    asked = {request.kind for request in server.requests}

    assert [*names, named(built)] == [
        {"ANN LEE", "BOB RAY", "ORION", "VEGA"},
        {"BOB RAY", "CARA FOX", "ORION", "VEGA"},
        {"CARA FOX", "ORION"},
    ]
    tables = Path(built["tables"]).glob("*.parquet")
    said = " ".join(str(pq.read_table(path).to_pylist()) for path in tables).upper()
    assert not [name for name in ("BOB", "VEGA", "ANN") if name in said]
    assert "CARA FOX" in said
    assert not asked & {"extract", "glean", "summarize"}
    assert not dangling(built, history.docs)
    vectors = lancedb.connect(built["vectors"]).open_table("entity_description").to_arrow()
    assert vectors.num_rows == 2


def named(built: Built) -> set[str]:
    """Return the names of the entities."""
    entities = pq.read_table(Path(built["tables"]) / "entities.parquet", columns=["title"])
    return {str(title).upper() for title in entities["title"].to_pylist()}


def assert_prepared(built: Built, folder: Path) -> None:
    """What a search maps is, to the byte, what is derived of the tables and vectors alone."""
    tables, vectors = folder / "tables", folder / "vectors"
    shutil.copytree(built["tables"], tables)
    shutil.copytree(built["vectors"], vectors)
    prepared = (tables / "search.arrays").read_bytes()
    derive_index(tables, vectors)
    assert (tables / "search.arrays").read_bytes() == prepared


def inodes(built: Built) -> dict[str, int]:
    """Return which file on the disk each file of a generation is, ids in names left out."""
    folders = (Path(built["tables"]), Path(built["vectors"]))
    return {
        path.relative_to(folder).as_posix(): path.stat().st_ino
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def test_a_rename_takes_the_graph_over_as_it_is(
    server: ModelServer, builder: Builder, tmp_path: Path
) -> None:
    """Only the tables that say where texts stand are written, and what a search maps of them."""
    history = History(tmp_path)
    history.apply(("write", "a.txt", "Ann Lee runs Orion. Bob Ray sold Vega."))
    history.apply(("write", "b.md", "Cara Fox built Vega."))
    before = inodes(builder.build(tmp_path, history.chosen))
    history.apply(("move", "a.txt", "sub/c.txt"))

    after = inodes(builder.build(tmp_path, history.chosen))

    written = {name for name, inode in after.items() if before.get(name) != inode}
    assert written == {
        *(f"{table}.parquet" for table in ("documents", "sources", "text_units")),
        "search.arrays",
    }
    assert before.keys() == after.keys()


def test_what_is_damaged_is_never_taken_over(
    server: ModelServer, builder: Builder, tmp_path: Path
) -> None:
    """A table that holds other bytes than were written is made again, from what is kept."""
    history = History(tmp_path / "history")
    history.apply(("write", "a.txt", "Ann Lee runs Orion. Bob Ray sold Vega."))
    table = Path(builder.build(history.base, history.chosen)["tables"]) / "relationships.parquet"
    content_before = table.read_bytes()
    table.write_bytes(content_before[:-40] + bytes(30) + content_before[-10:])
    history.apply(("move", "a.txt", "e.txt"))
    server.reset_counts()

    built = builder.build(history.base, history.chosen)

    assert not server.requests
    shutil.copytree(history.docs, tmp_path / "fresh" / "docs")
    assert content(built) == content(builder.build(tmp_path / "fresh", history.chosen))


@given(steps=HISTORIES)
@example(steps=EVERY_STEP)
@settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_an_update_leaves_what_a_build_from_nothing_leaves(
    server: ModelServer, builder: Builder, steps: list[Step]
) -> None:
    """Tables, vectors, ids and order are those of a fresh build, and only what is new is paid for.

    A rename, a move, a copy, a touch and a setting that shapes nothing ask for nothing; a setting
    that shapes the index is named; no text is extracted or embedded twice, no prompt asked twice;
    nothing refers to what is gone.
    """
    with tempfile.TemporaryDirectory() as base:
        walk(server, builder, Path(base), steps)


@pytest.mark.heavy
@given(steps=st.lists(_step, min_size=4, max_size=15))
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_so_does_a_long_history(server: ModelServer, builder: Builder, steps: list[Step]) -> None:
    """As above, over more and longer histories, others each time."""
    with tempfile.TemporaryDirectory() as base:
        walk(server, builder, Path(base), steps)
