"""What a tool's YAML may say."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from pydantic import ValidationError

from holodeck.models.agent import AgentConfig
from holodeck.models.llm import LLMProvider, ModelSettings
from holodeck.models.tool import (
    DEFAULT_ENTITY_TYPES,
    GraphRAGConfig,
    GraphRAGModelConfig,
    VectorstoreTool,
)


def tool(**settings: Any) -> VectorstoreTool:
    """Return a tool with these settings (Any: fields of the tool)."""
    return VectorstoreTool.model_validate({"name": "t", "source": "docs", **settings})


def refusal(**settings: Any) -> str:
    """Return the message of the one error that these settings are refused with."""
    with pytest.raises(ValidationError) as caught:
        tool(**settings)
    (error,) = caught.value.errors()
    return error["msg"]


def test_defaults_are_the_documented_ones() -> None:
    """The values that the documents promise where the user sets nothing."""
    graph = GraphRAGConfig()

    assert tool().engine == "default"
    assert tool().graphrag is None
    assert (graph.search_mode, graph.community_level) == ("local", 2)
    assert (graph.chunk_size, graph.chunk_overlap, graph.max_gleanings) == (300, 100, 1)
    assert graph.skip_claim_extraction is True
    assert (graph.max_failed_share, graph.summarize) == (0.05, "auto")
    assert graph.summary_threshold == 200
    assert graph.communities == "stable"
    assert (graph.indexing_model, graph.search_model) == (None, None)
    assert (graph.embedding_model, graph.storage_dir, graph.entity_types) == (None, None, None)
    assert DEFAULT_ENTITY_TYPES == ("organization", "person", "location", "event", "concept")
    assert GraphRAGModelConfig().name == "gpt-4o-mini"
    assert (GraphRAGModelConfig().provider, GraphRAGModelConfig().temperature) == ("openai", 0.0)


def test_engine_graphrag_brings_its_default_settings() -> None:
    """The five lines of a minimal tool are enough, also with an empty block."""
    assert tool(engine="graphrag").graphrag == GraphRAGConfig()
    assert tool(engine="graphrag", graphrag=None).graphrag == GraphRAGConfig()
    assert tool(engine="graphrag", graphrag={}).graphrag == GraphRAGConfig()


def test_graphrag_settings_need_the_engine() -> None:
    """Settings that could have no effect are refused."""
    with pytest.raises(ValueError, match="only valid when engine='graphrag'"):
        VectorstoreTool(name="t", source="docs", graphrag=GraphRAGConfig())
    with pytest.raises(ValueError, match="only valid when engine='graphrag'"):
        VectorstoreTool(name="t", source="docs", engine="default", graphrag=GraphRAGConfig())


@pytest.mark.parametrize(
    "name",
    [
        "../../etc",
        "a/b",
        "a\\b",
        "..",
        ".",
        ".hidden",
        "C:x",
        "CON",
        "con",
        "nul",
        "LPT1",
        "",
        " ",
        "a b",
        "x\0y",
        "x\n",
        "-x",
        "é",
        "n" * 65,
        "n" * 300,
    ],
)
def test_a_name_that_is_no_plain_folder_is_refused(name: str) -> None:
    """A name becomes a folder and a function; nothing else of a path may stand in it."""
    refusal(name=name)


@pytest.mark.parametrize("name", ["a", "knowledge_graph", "Docs-2", "2024", "COM", "n" * 64])
def test_a_plain_name_is_fine(name: str) -> None:
    """Letters, digits, hyphens and underscores, up to 64."""
    assert tool(name=name).name == name


@pytest.mark.parametrize("other", ["docs", "Docs", "DOCS"])
def test_names_must_differ_by_more_than_case(other: str) -> None:
    """On some systems their indexes would be one folder."""
    with pytest.raises(ValidationError, match=r"tools\[1\]\.name"):
        AgentConfig(name="a", model=LLMProvider(), tools=(tool(name="docs"), tool(name=other)))


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"chunk_size": 50}, "chunk_overlap (100) must be smaller than chunk_size (50)"),
        ({"chunk_size": 100}, "chunk_overlap (100) must be smaller than chunk_size (100)"),
        ({"chunk_overlap": 300}, "chunk_overlap (300) must be smaller than chunk_size (300)"),
        ({"chunk_overlap": 299}, "chunk_overlap (299) leaves 1 new token(s)"),
        ({"chunk_overlap": 291}, "chunk_overlap (291) leaves 9 new token(s)"),
    ],
)
def test_an_overlap_must_leave_room_for_new_text(sizes: dict[str, int], said: str) -> None:
    """A splitter that never comes forward is refused at load, naming both settings."""
    message = refusal(engine="graphrag", graphrag=sizes)

    assert said in message
    assert "chunk_size (" in message


def test_the_default_engine_checks_its_overlap_too() -> None:
    """The rule is one for both engines."""
    assert "chunk_overlap (512) must be smaller than chunk_size (512)" in refusal(chunk_overlap=512)


@pytest.mark.parametrize("sizes", [(50, 0), (50, 40), (300, 290), (2000, 100)])
def test_an_overlap_that_leaves_ten_tokens_is_fine(sizes: tuple[int, int]) -> None:
    """The limits themselves are allowed."""
    graph = GraphRAGConfig(chunk_size=sizes[0], chunk_overlap=sizes[1])

    assert (graph.chunk_size, graph.chunk_overlap) == sizes


@pytest.mark.parametrize(
    ("field", "least", "most"),
    [("community_level", 0, 5), ("max_gleanings", 0, 5), ("chunk_size", 50, 2000)],
)
def test_numbers_stay_within_their_limits(field: str, least: int, most: int) -> None:
    """Both limits are allowed, one step beyond is not."""
    for value in (least, most):
        graph = tool(engine="graphrag", graphrag={"chunk_overlap": 0, field: value}).graphrag
        assert getattr(graph, field) == value
    for value in (least - 1, most + 1):
        refusal(engine="graphrag", graphrag={"chunk_overlap": 0, field: value})


@pytest.mark.parametrize(
    ("setting", "value", "instead"),
    [
        ("top_k", 5, "remove it"),
        ("min_similarity_score", 0.5, "remove it"),
        ("database", "x", "graphrag.storage_dir"),
        ("vector_field", "x", "remove it"),
        ("id_field", "x", "remove it"),
        ("meta_fields", ["x"], "remove it"),
        ("field_separator", "x", "remove it"),
        ("delimiter", ",", "remove it"),
        ("record_path", "x", "remove it"),
        ("record_prefix", "x", "remove it"),
        ("meta_prefix", "x", "remove it"),
        ("chunk_size", 512, "graphrag.chunk_size"),
        ("chunk_overlap", 50, "graphrag.chunk_overlap"),
        ("mode", "hybrid", "graphrag.search_mode"),
        ("rerank", False, "remove it"),
        ("reranker", {}, "remove it"),
        ("rerank_top_n", 3, "remove it"),
        ("embedding_dimensions", 256, "remove it"),
    ],
)
def test_a_setting_of_the_other_engine_names_what_to_use(
    setting: str, value: Any, instead: str
) -> None:
    """Also where the value is the default: what is written must have an effect (Any: a value)."""
    message = refusal(engine="graphrag", **{setting: value})

    assert f"{setting} has no effect with engine: graphrag" in message
    assert instead in message


def test_the_tools_embedding_model_goes_with_graphrag() -> None:
    """It is the one setting of the tool that both engines use."""
    assert tool(engine="graphrag", embedding_model="e").embedding_model == "e"


def test_an_unknown_key_is_refused_on_every_level() -> None:
    """A misspelled setting is never parsed and ignored."""
    refusal(enginee="graphrag")
    refusal(engine="graphrag", graphrag={"chunksize": 300})
    refusal(engine="graphrag", graphrag={"indexing_model": {"nam": "x"}})


def test_endpoint_is_another_name_of_api_base() -> None:
    """Both spellings reach the server, for every provider."""
    assert ModelSettings.model_validate({"endpoint": "http://h"}).api_base == "http://h"
    assert ModelSettings(api_base="http://h").api_base == "http://h"


def test_no_temperature_can_be_asked_for() -> None:
    """``null`` sends none, which is not the same as leaving the setting out."""
    assert ModelSettings.model_validate({"temperature": None}).temperature is None
    assert ModelSettings().temperature == 0.0


@pytest.mark.parametrize("key", ["", "  ", "${OPENAI_API_KEY}"])
def test_a_key_must_be_one(key: str) -> None:
    """Blank and unreplaced keys are refused where they are written."""
    with pytest.raises(ValidationError, match="api_key is empty or a variable"):
        ModelSettings.model_validate({"api_key": key})


def test_no_input_stands_in_an_error_or_a_repr() -> None:
    """A key in the wrong place, or a good one in a log, is not shown."""
    with pytest.raises(ValidationError) as caught:
        ModelSettings.model_validate({"api_key": ["CANARY"], "temperature": "CANARY"})
    assert "CANARY" not in str(caught.value)
    assert "CANARY" not in repr(ModelSettings.model_validate({"api_key": "CANARY"}))


def test_settings_cannot_be_changed_after_they_were_checked() -> None:
    """A model is frozen: what was validated is what is used."""
    with pytest.raises(ValidationError, match="frozen"):
        tool().top_k = 0  # type: ignore[misc]  # that it is read-only is the point


def test_true_is_no_number() -> None:
    """YAML's ``yes`` where a number is wanted would silently mean 1."""
    assert "community_level must be a number" in refusal(
        engine="graphrag", graphrag={"community_level": True}
    )
    assert tool(strict=True).strict is True


def test_a_condition_of_a_filter_is_written_as_the_documents_have_it() -> None:
    """YAML's true is the text that a record holds; what it may have rewritten is refused."""
    assert tool(filter={"ok": True, "page": 2, "path": "a/*"}).filter == {
        "ok": "true",
        "page": 2,
        "path": "a/*",
    }
    for value in (1.5, None, ["a"], dt.date(2024, 1, 2)):
        assert "put it in quotes" in refusal(filter={"price": value})
    assert "has no name" in refusal(filter={"": "x"})
