"""The default replies to the graph prompts, shown the installed library's own prompts."""

from __future__ import annotations

import json
from importlib import util
from pathlib import Path
from types import ModuleType

import pytest

from holodeck.testing import ServerRequest, classify
from holodeck.testing.graph_replies import GRAPH_REPLIES, capitalised_names


def _prompts(name: str) -> ModuleType:
    """Load one of the library's prompt files by itself: importing the library takes seconds."""
    found = util.find_spec("graphrag")
    if found is None or found.origin is None:
        pytest.skip("the graphrag library is not installed")
    path = Path(found.origin).parent / "prompts" / f"{name}.py"
    spec = util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _request(*turns: str, system: str | None = None) -> ServerRequest:
    messages = [{"role": "system", "content": system}] if system else []
    roles = ("user", "assistant")
    messages += [{"role": roles[n % 2], "content": turn} for n, turn in enumerate(turns)]
    bare = ServerRequest(path="/v1/chat/completions", headers={}, body={"messages": messages})
    return ServerRequest(path=bare.path, headers={}, body=bare.body, kind=classify(bare))


def _reply(request: ServerRequest) -> str:
    source = GRAPH_REPLIES[request.kind]
    reply = source(request) if callable(source) else source
    assert isinstance(reply, str)
    return reply


def _extraction_prompt(text: str) -> str:
    prompt: str = _prompts("index/extract_graph").GRAPH_EXTRACTION_PROMPT
    return prompt.format(entity_types="PERSON,ORGANIZATION", input_text=text)


def test_names_are_runs_of_capitalised_words() -> None:
    """Function words at the head of a sentence are no names; a comma ends a name."""
    sentence = "The baker Ann Lee met Bob, Cara and R&D of Orion's board."

    assert capitalised_names(sentence) == ["ANN LEE", "BOB", "CARA", "R&D", "ORION"]


def test_extraction_speaks_the_librarys_format() -> None:
    """Entities and the relationships of neighbours, from the real text and not the examples."""
    request = _request(_extraction_prompt("Ann runs Orion. Bob rests."))

    assert request.kind == "extract"
    assert _reply(request) == "\n##\n".join(
        [
            '("entity"<|>ANN<|>PERSON<|>Ann runs Orion.)',
            '("entity"<|>ORION<|>PERSON<|>Ann runs Orion.)',
            '("entity"<|>BOB<|>PERSON<|>Bob rests.)',
            '("relationship"<|>ANN<|>ORION<|>Ann runs Orion.<|>1)\n<|COMPLETE|>',
        ]
    )


def test_gleaning_finds_nothing_more() -> None:
    """A later turn of an extraction is answered with the end marker alone."""
    again = _prompts("index/extract_graph").CONTINUE_PROMPT

    request = _request(_extraction_prompt("Ann."), "...", again)

    assert (request.kind, _reply(request)) == ("glean", "<|COMPLETE|>")


def test_a_summary_keeps_every_description() -> None:
    """Descriptions are joined in their order."""
    prompt: str = _prompts("index/summarize_descriptions").SUMMARIZE_PROMPT
    described = json.dumps(["Ann bakes.", "Ann runs."])

    request = _request(prompt.format(entity_name="ANN", description_list=described, max_length=9))

    assert (request.kind, _reply(request)) == ("summarize", "Ann bakes. Ann runs.")


def test_a_report_is_json_about_its_entities() -> None:
    """All five fields are there; the findings cite a record of the prompt."""
    prompt: str = _prompts("index/community_report").COMMUNITY_REPORT_PROMPT
    table = "-----Entities-----\nid,entity,description\n3,ANN,a baker\n4,ORION,a bakery"

    request = _request(prompt.format(input_text=table, max_report_length=99))
    report = json.loads(_reply(request))

    assert request.kind == "report"
    assert report["title"] == "Community of ANN, ORION"
    assert set(report) == {"title", "summary", "rating", "rating_explanation", "findings"}
    assert "[Data: Entities (3)]" in report["findings"][0]["explanation"]


def test_map_cites_the_reports_it_got() -> None:
    """One point a report, with its number."""
    prompt: str = _prompts("query/global_search_map_system_prompt").MAP_SYSTEM_PROMPT
    table = "id|title|content\n7|Bakeries|Ann runs Orion\n9|Stars|Vega shines"

    request = _request("What?", system=prompt.format(context_data=table, max_length=9))

    assert request.kind == "map"
    assert json.loads(_reply(request)) == {
        "points": [
            {"description": "Bakeries [Data: Reports (7)]", "score": 50},
            {"description": "Stars [Data: Reports (9)]", "score": 50},
        ]
    }


def test_reduce_cites_what_map_cited() -> None:
    """The references of the points are kept."""
    prompt: str = _prompts("query/global_search_reduce_system_prompt").REDUCE_SYSTEM_PROMPT
    points = "----Analyst 1----\nBakeries [Data: Reports (17)]"

    request = _request(
        "What?", system=prompt.format(report_data=points, response_type="text", max_length=9)
    )

    assert request.kind == "reduce"
    assert _reply(request) == "The reports say this [Data: Reports (17)]."


def test_local_cites_the_first_source() -> None:
    """An answer from tables cites a row of the sources."""
    prompt: str = _prompts("query/local_search_system_prompt").LOCAL_SEARCH_SYSTEM_PROMPT
    table = "-----Entities-----\nid|entity\n1|ANN\n\n-----Sources-----\nid|text\n5|Ann runs Orion."

    request = _request("Who?", system=prompt.format(context_data=table, response_type="text"))

    assert request.kind == "local"
    assert _reply(request) == "The documents say this [Data: Sources (5)]."


def test_everything_else_is_chat() -> None:
    """A conversation without such a phrase is chat; addresses tell the rest."""
    models = ServerRequest(path="/v1/models", headers={}, body={})
    vectors = ServerRequest(path="/v1/embeddings", headers={}, body={"input": "Entity_types:"})

    assert _request("hi").kind == "chat"
    assert (classify(models), classify(vectors)) == ("models", "embedding")
