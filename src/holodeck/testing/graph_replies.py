"""Default replies to the graph prompts: rules in place of a language model.

Entities are the capitalised words of a text; a relationship holds between two that follow each
other in a sentence. The same request always gets the same reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise

from holodeck.testing.replies import ReplySource, ServerRequest

__all__ = ["GRAPH_REPLIES", "capitalised_names"]

_COMPLETE = "<|COMPLETE|>"
_FUNCTION_WORDS = """
A An And As At But By For From He Her His How I If In It Its No Not Of On Or She So That The Their
There These They This To Was We What When Where Which Who Why With You
"""
_NOT_NAMES = frozenset(_FUNCTION_WORDS.split())
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"[\w&'’-]+|[^\w\s]")
_ROW = re.compile(r'^[ \t]*(\d+)[ \t]*[,|][ \t]*"?([^,|"\n]+)', flags=re.MULTILINE)
_REPORT_REFERENCE = re.compile(r"\[Data: Reports \(([^)]*)\)\]")
_LISTED_DESCRIPTIONS = re.compile(r"Description List:\s*(\[.*\])", flags=re.DOTALL)


def capitalised_names(sentence: str) -> list[str]:
    """Return the runs of capitalised words, upper-cased, in order and without repeats."""
    names: list[str] = []
    run: list[str] = []
    for word in [*_WORD.findall(sentence), "."]:
        if word[0].isupper() and word not in _NOT_NAMES:
            run.append(word.removesuffix("'s").removesuffix("’s"))
            continue
        if run:
            names.append(" ".join(run).upper())
        run = []
    return list(dict.fromkeys(name for name in names if len(name) > 1))


def _real_text(request: ServerRequest) -> str:
    """Return the document's part of a prompt: what follows its last ``Text:``."""
    prompt = request.user_texts[0] if request.user_texts else request.text
    text = prompt.rpartition("Text:")[2]
    return text.partition("######")[0].strip()


def _entity_type(request: ServerRequest) -> str:
    listed = request.text.rpartition("Entity_types:")[2].partition("\n")[0]
    return listed.partition(",")[0].strip(" []'\"").upper() or "CONCEPT"


def _extract(request: ServerRequest) -> str:
    kind = _entity_type(request)
    entities: dict[str, str] = {}
    pairs: dict[tuple[str, str], str] = {}
    for sentence in _sentences(_real_text(request)):
        names = capitalised_names(sentence)
        for name in names:
            entities.setdefault(name, sentence)
        for pair in pairwise(names):
            pairs.setdefault(pair, sentence)
    records = [
        f'("entity"<|>{name}<|>{kind}<|>{sentence})' for name, sentence in entities.items()
    ] + [
        f'("relationship"<|>{source}<|>{target}<|>{sentence}<|>1)'
        for (source, target), sentence in pairs.items()
    ]
    return "\n##\n".join(records) + f"\n{_COMPLETE}"


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(text):
        clean = sentence.replace("##", " ").replace("<|", " ").replace("|>", " ").strip()
        if clean:
            yield clean


def _claims(request: ServerRequest) -> str:
    records = [
        f"({name}<|>NONE<|>MENTION<|>TRUE<|>NONE<|>NONE<|>{name} is named<|>{sentence})"
        for sentence in _sentences(_real_text(request))
        for name in capitalised_names(sentence)[:1]
    ]
    return "\n##\n".join(records) + f"\n{_COMPLETE}"


def _summarize(request: ServerRequest) -> str:
    found = _LISTED_DESCRIPTIONS.search(request.text)
    if found is None:
        return request.text.rpartition("Description List")[2].strip(" :\n#")
    try:
        descriptions = json.loads(found.group(1))
    except ValueError:
        return found.group(1)
    return " ".join(str(description) for description in descriptions)


def _report(request: ServerRequest) -> str:
    rows = _ROW.findall(request.text.rpartition("Text:")[2])
    names = list(dict.fromkeys(name.strip() for _, name in rows))[:3] or ["nothing"]
    number = rows[0][0] if rows else "1"
    subject = ", ".join(names)
    finding = {
        "summary": f"{names[0]} is central",
        "explanation": f"{subject} belong together [Data: Entities ({number})].",
    }
    report = {
        "title": f"Community of {subject}",
        "summary": f"This community is about {subject}.",
        "rating": 5.0,
        "rating_explanation": "Every community is rated the same.",
        "findings": [finding],
    }
    return json.dumps(report, ensure_ascii=False)


def _section(request: ServerRequest, heading: str) -> str:
    """Return what a search prompt holds below ``heading``, without the repeated instructions."""
    return request.text.rpartition(heading)[2].partition("---Goal---")[0]


def _map(request: ServerRequest) -> str:
    rows = _ROW.findall(_section(request, "Data tables"))
    points = [
        {"description": f"{title.strip()} [Data: Reports ({number})]", "score": 50}
        for number, title in dict(rows[:5]).items()
    ]
    return json.dumps({"points": points}, ensure_ascii=False)


def _reduce(request: ServerRequest) -> str:
    context = _section(request, "Analyst Reports")
    numbers = list(dict.fromkeys(_REPORT_REFERENCE.findall(context))) or ["0"]
    return f"The reports say this [Data: Reports ({', '.join(numbers[:5])})]."


def _local(request: ServerRequest) -> str:
    context = _section(request, "Data tables")
    sources = _ROW.findall(context.rpartition("-Sources-")[2])
    number = sources[0][0] if sources else "0"
    return f"The documents say this [Data: Sources ({number})]."


GRAPH_REPLIES: dict[str, ReplySource] = {
    "extract": _extract,
    "glean": _COMPLETE,
    "claims": _claims,
    "summarize": _summarize,
    "report": _report,
    "map": _map,
    "reduce": _reduce,
    "rate": json.dumps({"reason": "Everything is relevant.", "rating": 5}),
    "local": _local,
    "chat": "ok",
}
"""Kind → what answers it when a test says nothing else."""
