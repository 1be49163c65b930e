"""Each setting of YAML is changed alone, and its effect is seen on the wire or in what is stored.

A setting without a row here, or without a test named here that shows its effect, fails.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from pydantic import BaseModel, TypeAdapter

import holodeck
from holodeck.lib.contracts import IndexStatus
from holodeck.lib.graphrag.tables import read_rows
from holodeck.lib.results import SearchResult
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import EmbeddingModelConfig, LLMProvider
from holodeck.models.tool import GraphRAGConfig, GraphRAGModelConfig, VectorstoreTool
from holodeck.testing import Fault, ModelServer, ServerRequest

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.xdist_group("settings arrive")]

TESTS = Path(__file__).parents[1]


def people() -> str:
    """Return a text whose graph has two levels: companies of departments, each of six people."""
    names = ("Ann", "Bob", "Cid", "Dora", "Eve", "Finn")
    places = ("Labs", "Mills", "Ports")
    sentences = []
    for company in ("Acme", "Bolt"):
        for place in places:
            for name, other in zip(names, names[1:] + names[:1], strict=True):
                sentences.append(f"{name} {company}{place} works for {company} {place}.")
                sentences.append(f"{name} {company}{place} knows {other} {company}{place}.")
        sentences += [f"{name} {company}Labs knows {name} {company}Mills." for name in names[:5]]
    return " ".join([*sentences, "Acme Labs knows Bolt Mills."])


PEOPLE = people()
QUESTION = "Who works for Acme Labs?"


@dataclass(frozen=True)
class Setup:
    """What a row starts from; both runs, plain and changed, have it.

    Attributes:
        faults: What goes wrong at the server.
        latency: Seconds before each answer.
        also: Further settings, by dotted path.
    """

    engine: str = "graphrag"
    provider: str = "openai"
    faults: tuple[Fault, ...] = ()
    latency: float = 0.0
    also: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a build and two questions came to."""

    folder: Path
    requests: Mapping[str, list[ServerRequest]]
    in_flight: int = 0
    first: SearchResult | None = None
    overall: SearchResult | None = None
    status: IndexStatus | None = None
    error: str = ""

    def texts(self, kind: str) -> str:
        """Return all that requests of this kind said."""
        return "\n".join(request.text for request in self.requests.get(kind, ()))

    def count(self, kind: str) -> int:
        """Return the number of requests of this kind."""
        return len(self.requests.get(kind, ()))

    def rows(self, table: str, column: str) -> list[Any]:
        """Return a column of a table of the index."""
        (found,) = self.folder.rglob(f"{table}.parquet")
        return [row[column] for row in read_rows(found.parent, table, [column])]

    def files(self, pattern: str) -> list[str]:
        """Return the files that were made, relative to the agent's."""
        return sorted(
            file.relative_to(self.folder).as_posix() for file in self.folder.rglob(pattern)
        )


class Worker:
    """The process that builds and asks."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("tool_worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])},
            text=True,
        )

    def do(self, file: Path, environ: Mapping[str, str]) -> dict[str, Any]:
        """Return what became of the agent in ``file`` (Any: fields of ``Outcome``)."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        job = {"file": str(file), "environ": environ, "question": QUESTION}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the worker ended: its trace is on stderr"
        result: dict[str, Any] = json.loads(answer)
        for name in ("first", "overall"):
            if result.get(name) is not None:
                result[name] = TypeAdapter(SearchResult).validate_python(result[name])
        result["status"] = TypeAdapter(IndexStatus).validate_python(result["status"])
        return result

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    """The one process of all rows."""
    process = Worker()
    yield process
    process.close()


def write_documents(folder: Path) -> None:
    """Write what every reader setting can be seen by."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    (docs / "people.txt").write_text(PEOPLE, encoding="utf-8")
    (docs / "café.txt").write_bytes("Zoé Brontë works for Acme Corp.".encode("cp1252"))
    (folder / "other").mkdir()
    (folder / "other" / "ship.txt").write_text("Ann Lee works for Orion Ltd.", encoding="utf-8")
    (docs / "linked").symlink_to(folder / "other")


def settings_of(setup: Setup, path: str, value: Any) -> dict[str, Any]:
    """Return an agent with one setting changed; an empty path changes none (Any: YAML)."""
    agent: dict[str, Any] = {
        "name": "a",
        "model": {"provider": setup.provider, "name": "gpt-4o"},
        "tools": [{"name": "k", "engine": setup.engine, "source": "docs"}],
    }
    for where, what in (*setup.also, *([(path, value)] if path else ())):
        place: Any = agent
        *above, last = where.split(".")
        for part in above:
            place = place[int(part)] if part.isdigit() else place.setdefault(part, {})
        place[last] = what
    return agent


def run(worker: Worker, setup: Setup, folder: Path, path: str = "", value: Any = None) -> Outcome:
    """Build and ask twice, by way of a file, and return what was seen."""
    write_documents(folder)
    with ModelServer(faults=setup.faults, latency=setup.latency) as server:
        if isinstance(value, str):
            value = value.replace("{localhost}", server.root.replace("127.0.0.1", "localhost"))
        file = folder / "agent.yaml"
        file.write_text(yaml.safe_dump(settings_of(setup, path, value)), encoding="utf-8")
        environ = {
            "OPENAI_API_KEY": "of-environment",
            "OPENAI_BASE_URL": server.url,
            "AZURE_OPENAI_API_KEY": "of-environment",
            "AZURE_OPENAI_ENDPOINT": server.root,
            "OLLAMA_HOST": server.root,
        }
        outcome = worker.do(file, environ)
        requests: dict[str, list[ServerRequest]] = {}
        for request in server.requests:
            requests.setdefault(request.kind, []).append(request)
        return Outcome(
            folder=folder,
            requests=requests,
            in_flight=server.counts.total.in_flight_max,
            **outcome,
        )


_plain: dict[Setup, Outcome] = {}


@pytest.fixture
def plain(worker: Worker, setup: Setup, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What happens where the setting is left to its default; worked out once for each setup."""
    if setup not in _plain:
        _plain[setup] = run(worker, setup, tmp_path_factory.mktemp("plain"))
    return _plain[setup]


# --- models ---------------------------------------------------------------------------------------

INDEXING = ("extract", "glean", "report")
SEARCHING = ("local", "map", "reduce")
KINDS = (*INDEXING, *SEARCHING, "embedding")
CONNECTION = ("provider", "api_key", "api_base", "api_version")


@dataclass(frozen=True)
class ModelSetting:
    """A setting of a model, and what a request shows of it."""

    value: Any
    read: Callable[[ServerRequest], object]
    before: object
    after: object
    provider: str = "openai"


MODEL_SETTINGS = {
    "provider": ModelSetting("ollama", lambda r: r.path.startswith("/api/"), False, True),
    "name": ModelSetting("another", lambda r: r.model == "another", False, True),
    "temperature": ModelSetting(0.7, lambda r: r.body.get("temperature"), 0.0, 0.7),
    "max_tokens": ModelSetting(2321, lambda r: r.body.get("max_tokens"), None, 2321),
    "context_size": ModelSetting(
        65_536, lambda r: r.body["options"]["num_ctx"] == 65_536, False, True, "ollama"
    ),
    "api_key": ModelSetting(
        "mine", lambda r: r.headers["authorization"], "Bearer of-environment", "Bearer mine"
    ),
    "api_base": ModelSetting(
        "{localhost}", lambda r: r.headers["host"].partition(":")[0], "127.0.0.1", "localhost"
    ),
    "api_version": ModelSetting(
        "2031-01-01", lambda r: r.query["api-version"], "2024-10-21", "2031-01-01", "azure_openai"
    ),
    "deployment_name": ModelSetting(
        "mine", lambda r: "/deployments/mine/" in r.path, False, True, "azure_openai"
    ),
}
"""Setting → how it is changed and read; the same for each of the four places of a model."""

ROLES: dict[str, tuple[type[BaseModel], str, tuple[str, ...]]] = {
    # place: its model, its path in YAML, the calls that are its own
    "agent": (LLMProvider, "model", (*INDEXING, *SEARCHING)),
    "indexing": (GraphRAGModelConfig, "tools.0.graphrag.indexing_model", INDEXING),
    "search": (GraphRAGModelConfig, "tools.0.graphrag.search_model", SEARCHING),
    "embedding": (EmbeddingModelConfig, "tools.0.graphrag.embedding_model", ("embedding",)),
    "tool's embedding": (EmbeddingModelConfig, "tools.0.embedding_model", ("embedding",)),
}


@pytest.mark.parametrize(
    ("role", "name", "setup"),
    [
        pytest.param(role, name, Setup(provider=MODEL_SETTINGS[name].provider), id=f"{role}-{name}")
        for role, (model, _, _) in ROLES.items()
        for name in model.model_fields
    ],
)
def test_a_setting_of_a_model_shows_in_its_own_calls_alone(
    worker: Worker, role: str, name: str, plain: Outcome, setup: Setup, tmp_path: Path
) -> None:
    """The models for indexing, search and vectors never stand in for each other."""
    setting = MODEL_SETTINGS[name]
    _, path, kinds = ROLES[role]
    if role == "agent" and name in CONNECTION:
        kinds = (*kinds, "embedding")  # vectors come from the agent's server

    changed = run(worker, setup, tmp_path, f"{path}.{name}", setting.value)

    assert changed.error == ""
    for kind in KINDS:
        read = {
            setting.read(request) for request in changed.requests[kind] if _is_asked(kind, name)
        }
        before = {
            setting.read(request) for request in plain.requests[kind] if _is_asked(kind, name)
        }
        assert read == ({setting.after} if kind in kinds and before else before), kind
        assert before <= {setting.before}, kind


def _is_asked(kind: str, name: str) -> bool:
    """Tell whether requests of this kind can have the setting at all."""
    return kind != "embedding" or name in EmbeddingModelConfig.model_fields


@pytest.mark.parametrize("setup", [Setup()])
def test_no_temperature_is_sent_where_it_is_null(
    worker: Worker, setup: Setup, tmp_path: Path
) -> None:
    """Reasoning models refuse the field; they have their own name for the limit, too."""
    block = {"name": "o3-mini", "temperature": None, "max_tokens": 4321}

    outcome = run(worker, setup, tmp_path, "tools.0.graphrag.indexing_model", block)

    for request in outcome.requests["extract"]:
        assert "temperature" not in request.body
        assert "max_tokens" not in request.body
        assert request.body["max_completion_tokens"] == 4321


# --- everything else ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One setting, changed alone.

    Attributes:
        path: Where it stands in YAML; ``0`` is the tool.
        value: What it is changed to.
        look: What shows its effect.
        before: What is seen where it is left to its default.
        after: What is seen where it is changed.
        setup: What both runs share.
    """

    path: str
    value: Any
    look: Callable[[Outcome], object]
    before: object
    after: object
    setup: Setup = field(default_factory=Setup)


VECTOR = Setup(engine="default")
SMALL_CHUNKS = (("tools.0.graphrag.chunk_size", 60), ("tools.0.graphrag.chunk_overlap", 10))
ONE_FAILS = Fault(kind="extract", first=1, code="content_filter")
BUSY_ONCE = Fault(kind="embedding", first=2, status=503, retry_after_ms=150)


def graph(name: str, *rest: Any, **more: Any) -> Row:
    """Return a row of the graph engine."""
    return Row(f"tools.0.graphrag.{name}", *rest, **more)


def tool(name: str, *rest: Any, **more: Any) -> Row:
    """Return a row of the tool, with the default engine."""
    return Row(f"tools.0.{name}", *rest, **{"setup": VECTOR, **more})


def execution(name: str, *rest: Any, **more: Any) -> Row:
    """Return a row of the block ``execution``, with the default engine."""
    return Row(f"execution.{name}", *rest, **{"setup": VECTOR, **more})


def paths_found(outcome: Outcome) -> set[str]:
    """Return the documents of the passages that the first question found."""
    return {source.path for source in outcome.first.sources} if outcome.first else set()


def passages(outcome: Outcome) -> int:
    return len(outcome.first.passages) if outcome.first else -1


def models_of(*kinds: str) -> Callable[[Outcome], object]:
    return lambda outcome: {r.model for kind in kinds for r in outcome.requests[kind]}


ENTITY_TYPES = "Entity_types: organization,person,location,event,concept"
RECORD_PATH = ".holodeck/graphrag/k/index.meta"

ROWS: dict[type[BaseModel], dict[str, Row]] = {
    GraphRAGConfig: {
        "search_mode": graph(
            "search_mode",
            "global",
            lambda o: o.first.search_mode if o.first else "",
            "local",
            "global",
        ),
        "community_level": graph(
            "community_level",
            0,
            lambda o: o.overall.communities_used == o.rows("communities", "level").count(0),
            False,
            True,
        ),
        "dynamic_community_selection": graph(
            "dynamic_community_selection", True, lambda o: o.count("rate") > 0, False, True
        ),
        "indexing_model": graph(
            "indexing_model", {"name": "m"}, models_of("extract", "report"), {"gpt-4o"}, {"m"}
        ),
        "search_model": graph(
            "search_model", {"name": "m"}, models_of(*SEARCHING), {"gpt-4o"}, {"m"}
        ),
        "embedding_model": graph(
            "embedding_model", "m", models_of("embedding"), {"text-embedding-3-small"}, {"m"}
        ),
        "storage_dir": graph(
            "storage_dir",
            "kept/here",
            lambda o: o.files("index.meta"),
            [RECORD_PATH],
            ["kept/here/index.meta"],
        ),
        "chunk_size": graph(
            "chunk_size",
            150,
            lambda o: 150 < max(o.rows("text_units", "n_tokens")) <= 300,
            True,
            False,
        ),
        "chunk_overlap": graph(
            "chunk_overlap", 0, lambda o: sum(o.rows("text_units", "n_tokens")) > 1000, True, False
        ),
        "entity_types": graph(
            "entity_types",
            ["ship", "glacier"],
            lambda o: (
                ENTITY_TYPES in o.texts("extract"),
                "types: ship,glacier" in o.texts("extract"),
            ),
            (True, False),
            (False, True),
        ),
        "max_gleanings": graph(
            "max_gleanings", 0, lambda o: o.count("glean") / o.count("extract"), 1.0, 0.0
        ),
        "profile": graph("profile", "lean", lambda o: o.count("glean") > 0, True, False),
        "report_threshold": graph(
            "report_threshold", 8000, lambda o: o.count("report") > 0, True, False
        ),
        "skip_claim_extraction": graph(
            "skip_claim_extraction",
            False,
            lambda o: (o.count("claims") > 0, len(o.files("covariates.parquet"))),
            (False, 0),
            (True, 1),
        ),
        "max_failed_share": graph(
            "max_failed_share",
            0.9,
            lambda o: "max_failed_share" in o.error,
            True,
            False,
            setup=Setup(faults=(ONE_FAILS,)),
        ),
        "summarize": graph("summarize", "always", lambda o: o.count("summarize") > 0, False, True),
        "summary_threshold": graph(
            "summary_threshold", 0, lambda o: o.count("summarize") > 0, False, True
        ),
        "response_type": graph(
            "response_type",
            "one line, in Chinese",
            lambda o: [
                (words in o.texts("local"), words in o.texts("reduce"))
                for words in ("multiple paragraphs", "one line, in Chinese")
            ],
            [(True, True), (False, False)],
            [(False, False), (True, True)],
        ),
        "settings_file": graph(
            "settings_file",
            True,
            lambda o: o.files("settings.yaml"),
            [],
            [".holodeck/graphrag/k/settings.yaml"],
        ),
    },
    VectorstoreTool: {
        "name": tool(
            "name",
            "other",
            lambda o: sorted(
                {Path(name).parts[2] for name in o.files(".holodeck/vectorstore/*/*")}
            ),
            ["k"],
            ["other"],
        ),
        "source": tool("source", "other", paths_found, {"people.txt", "café.txt"}, {"ship.txt"}),
        "engine": tool(
            "engine",
            "graphrag",
            lambda o: (o.count("extract") > 0, passages(o) > 0),
            (False, True),
            (True, False),
        ),
        "graphrag": tool(
            "graphrag",
            {"max_gleanings": 0},
            lambda o: o.count("glean") > 0,
            True,
            False,
            setup=Setup(),
        ),
        "strict": tool(
            "strict",
            True,
            lambda o: ("café.txt" in o.status.skipped, "café.txt" in o.error),
            (True, False),
            (False, True),
            setup=Setup(engine="default", also=(("tools.0.encoding_fallback", None),)),
        ),
        "allow_external_links": tool(
            "allow_external_links", True, lambda o: "Ann Lee" in o.texts("embedding"), False, True
        ),
        "encoding_fallback": tool(
            "encoding_fallback",
            "cp437",
            lambda o: ("Zoé Brontë" in o.texts("embedding"), "ZoΘ Bront" in o.texts("embedding")),
            (True, False),
            (False, True),
        ),
        "embedding_model": tool(
            "embedding_model", "m", models_of("embedding"), {"text-embedding-3-small"}, {"m"}
        ),
        "embedding_dimensions": tool(
            "embedding_dimensions",
            12,
            lambda o: {r.body.get("dimensions") for r in o.requests["embedding"]},
            {None},
            {12},
        ),
        "chunk_size": tool("chunk_size", 100, lambda o: o.status.counts["chunks"] > 5, False, True),
        "chunk_overlap": tool(
            "chunk_overlap",
            0,
            lambda o: len(o.texts("embedding")) > 3000,
            True,
            False,
        ),
        "chunk_ends": tool(
            "chunk_ends",
            "words",
            lambda o: all(
                text.rstrip().endswith((".", "?"))
                for request in o.requests["embedding"]
                for text in request.texts
            ),
            True,
            False,
        ),
        "mode": tool("mode", "keyword", lambda o: QUESTION in o.texts("embedding"), True, False),
        "top_k": tool("top_k", 1, passages, 3, 1),
        "min_similarity_score": tool(
            "min_similarity_score", 0.999, lambda o: passages(o) < 3, False, True
        ),
    },
    ExecutionConfig: {
        "concurrency": execution(
            "concurrency",
            1,
            lambda o: o.in_flight > 1,
            True,
            False,
            setup=Setup(latency=0.05, also=SMALL_CHUNKS),
        ),
        "max_retries": execution(
            "max_retries",
            0,
            lambda o: (o.count("embedding") > 1, "503" in o.error),
            (True, False),
            (False, True),
            setup=Setup(engine="default", faults=(BUSY_ONCE,)),
        ),
        "retry_budget": execution(
            "retry_budget",
            0.1,
            lambda o: "503" in o.error,
            False,
            True,
            setup=Setup(engine="default", faults=(BUSY_ONCE,)),
        ),
        "cache": execution("cache", False, lambda o: len(o.files("replies.sqlite")), 1, 0),
        "cache_dir": execution(
            "cache_dir",
            "kept",
            lambda o: o.files("replies.sqlite"),
            [".holodeck/cache/replies.sqlite"],
            ["kept/replies.sqlite"],
        ),
    },
}

SHOWN_BY: dict[str, str] = {
    **dict.fromkeys(
        (f"VectorstoreTool.{name}" for name in ("vector_field", "id_field", "meta_fields")),
        "unit/lib/vectorstore/test_structured.py::test_a_hit_shows_id_content_and_metadata",
    ),
    "VectorstoreTool.field_separator": (
        "unit/lib/vectorstore/test_structured.py::test_a_hit_shows_id_content_and_metadata"
    ),
    **dict.fromkeys(
        (f"VectorstoreTool.{name}" for name in ("record_path", "record_prefix", "meta_prefix")),
        "unit/lib/vectorstore/test_structured.py::test_records_are_found_where_the_path_says",
    ),
    "VectorstoreTool.delimiter": (
        "unit/lib/vectorstore/test_structured.py::test_a_delimiter_that_is_given_is_not_guessed"
    ),
    "VectorstoreTool.database": (
        "unit/lib/vectorstore/test_structured.py::test_a_database_is_the_folder_of_the_index"
    ),
    "VectorstoreTool.filter": (
        "unit/lib/vectorstore/test_structured.py::test_a_filter_leaves_only_what_has_the_values"
    ),
    **dict.fromkeys(
        (
            "VectorstoreTool.rerank",
            "VectorstoreTool.reranker",
            "VectorstoreTool.rerank_top_n",
        ),
        "unit/lib/vectorstore/test_rerank.py::test_passages_come_in_the_order_of_the_reranker",
    ),
    "VectorstoreTool.description": (
        "unit/lib/test_runner/test_model_agent.py::test_tools_are_offered_by_their_names_in_yaml"
    ),
    "GraphRAGConfig.ranking": (
        "integration/test_settings_arrive.py::test_the_ranking_decides_what_an_answer_is_made_from"
    ),
    "GraphRAGConfig.communities": (
        "integration/test_communities_setting.py::test_communities_are_made_as_set"
    ),
    "ExecutionConfig.llm_timeout": (
        "integration/test_provider_settings.py::test_a_build_fails_after_the_time_of_the_setting"
    ),
    "ExecutionConfig.index_timeout": (
        "unit/lib/vectorstore/test_engine.py::test_a_build_and_a_search_have_their_time"
    ),
    "ExecutionConfig.search_timeout": (
        "unit/lib/vectorstore/test_engine.py::test_a_build_and_a_search_have_their_time"
    ),
    "ExecutionConfig.file_timeout": (
        "unit/lib/readers/test_source.py::"
        "test_a_slow_reader_is_skipped_and_a_new_type_is_one_file_and_one_row"
    ),
    "ExecutionConfig.tool_timeout": (
        "unit/lib/test_runner/test_functions.py::test_one_that_takes_too_long_is_left_behind"
    ),
    "ExecutionConfig.max_model_calls": (
        "unit/lib/test_runner/test_model_agent.py::test_a_turn_ends_at_its_limits"
    ),
    "ExecutionConfig.max_tool_calls": (
        "unit/lib/test_runner/test_model_agent.py::test_a_turn_ends_at_its_limits"
    ),
    "ExecutionConfig.max_cost": ("integration/test_cost_cap.py::test_vectors_are_capped_and_kept"),
    "ExecutionConfig.confirm_above": (
        "integration/test_on_demand.py::test_a_small_price_is_not_asked_about"
    ),
    "ExecutionConfig.prices": ("integration/test_cost_cap.py::test_vectors_are_capped_and_kept"),
    "ExecutionConfig.verbose": (
        "unit/cli/test_commands.py::test_what_is_logged_follows_option_then_file"
    ),
    "ExecutionConfig.quiet": (
        "unit/cli/test_commands.py::test_what_is_logged_follows_option_then_file"
    ),
}
"""Setting → the test elsewhere that shows its effect."""

NO_EFFECT_TO_SHOW: dict[str, str] = {
    "VectorstoreTool.type": "it has one value; it tells this kind of tool from others",
}
"""Setting → why there is nothing to see."""


@pytest.mark.parametrize(
    ("row", "setup"),
    [
        pytest.param(row, row.setup, id=f"{model.__name__}.{name}")
        for model, rows in ROWS.items()
        for name, row in rows.items()
    ],
)
def test_a_setting_that_is_changed_alone_has_its_effect(
    worker: Worker, row: Row, setup: Setup, plain: Outcome, tmp_path: Path
) -> None:
    """The default does one thing, the changed setting another."""
    changed = run(worker, setup, tmp_path, row.path, row.value)

    assert (row.look(plain), row.look(changed)) == (row.before, row.after), changed.error


@pytest.mark.parametrize("setup", [Setup()])
def test_the_ranking_decides_what_an_answer_is_made_from(
    worker: Worker, setup: Setup, plain: Outcome, tmp_path: Path
) -> None:
    """Another ranking is another context, over the same index; the same one is the same."""
    path = "tools.0.graphrag.ranking"
    contexts = [
        run(worker, setup, tmp_path / ranking, path, ranking).first
        for ranking in ("graph", "library")
    ]

    assert plain.first is not None
    assert [found is not None and found.context == plain.first.context for found in contexts] == [
        True,
        False,
    ]


@pytest.mark.parametrize("setup", [Setup()])
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("extract", ENTITY_TYPES),
        ("report", "report length to 2000 words"),
        ("map", "response length to 1000 words"),
        ("reduce", "response length to 2000 words"),
    ],
)
def test_the_engines_own_values_stand_in_the_prompts(kind: str, words: str, plain: Outcome) -> None:
    """Where the user sets nothing, the plan's values are asked for, not the library's."""
    assert all(words in request.text for request in plain.requests[kind])


def shown(model: type[BaseModel]) -> list[str]:
    """Return the settings of a model whose effect is shown, or that have none to show."""
    names = [*ROWS.get(model, {})]
    if model in {of_model for of_model, _, _ in ROLES.values()}:
        names += [name for name in model.model_fields if name in MODEL_SETTINGS]
    elsewhere = (*SHOWN_BY, *NO_EFFECT_TO_SHOW)
    return names + [
        one.partition(".")[2] for one in elsewhere if one.startswith(model.__name__ + ".")
    ]


@pytest.mark.parametrize(
    "model",
    [
        GraphRAGConfig,
        GraphRAGModelConfig,
        EmbeddingModelConfig,
        LLMProvider,
        ExecutionConfig,
        VectorstoreTool,
    ],
)
def test_every_setting_is_shown_once(model: type[BaseModel]) -> None:
    """A new setting needs a row above, or the name of the test that shows its effect."""
    assert sorted(shown(model)) == sorted(model.model_fields)


@pytest.mark.parametrize("test", sorted(set(SHOWN_BY.values())))
def test_what_is_said_to_show_a_setting_is_there(test: str) -> None:
    """The named test exists."""
    file, _, name = test.partition("::")

    assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8")
