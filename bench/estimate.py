"""The estimate of a build beside what the loopback server then counts, on three kinds of text.

The example documents; 300 encyclopedia passages with facts that a model once found in them; a
novella that no constant was fitted to. Extraction and the texts of the documents must agree within
2%, the rest within its range, before anything is known and once the chunks are extracted.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bench.musique import fingerprint, passage_mark
from holodeck.errors import IndexingError
from holodeck.lib.contracts import Estimate, Span
from holodeck.lib.tokens import count_tokens
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool
from holodeck.testing import Fault, ModelServer, Reply
from holodeck.testing.graph_replies import GRAPH_REPLIES
from holodeck.testing.replies import ReplySource, ServerRequest
from holodeck.tools.vectorstore_tool import VectorStoreTool

EXAMPLES = Path(__file__).parents[1] / "examples" / "polar"
PASSAGES = 300
CLOSE = 0.02
STEPS = ("extract", "glean", "summarize", "report")

Replies = Mapping[str, ReplySource]


def run(data: Path | None) -> None:
    """Print a table for each corpus; the two from outside need their data.

    Raises:
        SystemExit: An estimate was wrong.
    """
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, docs, replies in _corpora(data, Path(folder)):
            wrong += _measure(name, docs, replies, Path(folder) / f"{name} index")
    if wrong:
        raise SystemExit("wrong: " + "; ".join(wrong))


def _corpora(data: Path | None, work: Path) -> Iterator[tuple[str, Path, Replies]]:
    yield "polar", EXAMPLES, {}
    if data is None:
        print("the others need --data DIR")
        return
    passages = json.loads((data / "musique" / "corpus.json").read_text(encoding="utf-8"))
    docs = work / "musique"
    docs.mkdir()
    for number, passage in enumerate(passages[:PASSAGES]):
        text = f"{passage['title']}\n{passage['text']}"
        (docs / f"{number:04}.txt").write_text(text, encoding="utf-8")
    yield "musique", docs, {"extract": _recorded_facts(data / "musique")}
    yield "carol", data / "carol" / "a_christmas_carol.txt", {}


def _recorded_facts(folder: Path) -> Callable[[ServerRequest], str]:
    """Return what a model once found in each passage, as it is asked for now."""
    docs = json.loads((folder / "openie.json").read_text(encoding="utf-8"))["docs"]
    facts = {passage_mark(doc["passage"]): doc for doc in docs}

    def reply(request: ServerRequest) -> str:
        text = fingerprint(request.user_texts[0].rpartition("Text:")[2])
        doc = facts.get(text[:60])
        return "<|COMPLETE|>" if doc is None else _as_records(doc)

    return reply


def _as_records(doc: dict[str, Any]) -> str:
    triples = [tuple(map(str, triple)) for triple in doc["extracted_triples"] if len(triple) == 3]
    names = dict.fromkeys(map(str, doc["extracted_entities"]))
    records = [
        f'("entity"<|>{name}<|>thing<|>'
        + ". ".join(" ".join(triple) for triple in triples if name in (triple[0], triple[2]))
        + ")"
        for name in names
    ] + [f'("relationship"<|>{s}<|>{o}<|>{s} {p} {o}<|>1)' for s, p, o in triples]
    return "\n##\n".join([*records, "<|COMPLETE|>"])


@contextmanager
def _serving(replies: Replies) -> Iterator[ModelServer]:
    """Serve the replies with their tokens counted as OpenAI counts them."""

    def counted(source: ReplySource) -> ReplySource:
        def reply(request: ServerRequest) -> Reply:
            said = source(request) if callable(source) else source
            if not isinstance(said, str):
                raise TypeError("replies here are texts")
            sent = sum(map(count_tokens, request.texts))
            return Reply(text=said, prompt_tokens=sent, completion_tokens=count_tokens(said))

        return reply

    with ModelServer() as server:
        for kind in STEPS:
            server.reply(kind, counted(replies.get(kind, GRAPH_REPLIES[kind])))
        yield server


def _measure(name: str, docs: Path, replies: Replies, work: Path) -> list[str]:
    work.mkdir()
    with _serving(replies) as server:
        tool = VectorStoreTool(
            VectorstoreTool(
                name=name, engine="graphrag", source=str(docs), graphrag=GraphRAGConfig()
            ),
            str(work),
            agent_model=LLMProvider.model_validate(
                {"name": "gpt-4o-mini", "api_base": server.url, "api_key": "k"}
            ),
            environ={},
        )
        return asyncio.run(_compare(name, tool, server))


async def _compare(name: str, tool: VectorStoreTool, server: ModelServer) -> list[str]:
    before = await tool.estimate()
    server.fault(Fault(kind="report", status=400))
    with suppress(IndexingError):  # without reports: chunks are paid for, what is left is known
        await tool.initialize()
    server.heal()
    so_far = list(server.requests)
    narrowed = await tool.estimate()
    refused = {kind: server.counts[kind].calls for kind in ("report", "probe")}
    await tool.initialize()
    await tool.close()
    later = server.requests[len(so_far) :]

    wrong = _table(f"{name}: before", before, server, refused)
    print(f"\n{name}: once extracted")
    (reports,) = [row for row in narrowed.rows if row.step == "report"]
    asked = sum(request.kind == "report" for request in later)
    wrong += _line(f"{name} reports", "report calls", reports.calls, asked)
    wrong += _line(
        f"{name} report prompts",
        "report tokens in",
        reports.input_tokens,
        server.counts["report"].prompt_tokens,
    )
    return wrong


def _table(
    title: str, estimate: Estimate, server: ModelServer, refused: Mapping[str, int]
) -> list[str]:
    print(f"\n{title}: {estimate.documents:,} documents, {estimate.chunks:,} chunks")
    rows = {row.step: row for row in estimate.rows}
    texts = [
        text for request in server.requests if request.kind == "embedding" for text in request.texts
    ]
    spent = {kind: server.counts[kind] for kind in STEPS}
    extract = spent["extract"]
    wrong = _line(title, "extract calls", rows["extract"].calls, extract.calls, is_close=True)
    wrong += _line(
        title,
        "extract tokens in",
        rows["extract"].input_tokens,
        extract.prompt_tokens,
        is_close=True,
    )
    units = rows["embed"]
    documents = sum(map(count_tokens, texts[: round(units.texts.low)]))
    wrong += _line(title, "embed tokens", units.input_tokens, documents, is_close=True)
    for kind in STEPS:
        calls = spent[kind].calls - refused.get(kind, 0)
        wrong += _line(title, f"{kind} calls", rows[kind].calls, calls)
        wrong += _line(
            title, f"{kind} tokens out", rows[kind].output_tokens, spent[kind].completion_tokens
        )
    embedded = Span() + units.texts + rows["embed graph"].texts
    wrong += _line(title, "texts embedded", embedded, len(texts))
    sent = sum(each.prompt_tokens for each in spent.values()) + sum(map(count_tokens, texts))
    said = sum(each.completion_tokens for each in spent.values())
    wrong += _line(title, "all tokens in", estimate.input_tokens, sent)
    return wrong + _line(title, "all tokens out", estimate.output_tokens, said)


def _line(title: str, what: str, span: Span, counted: int, *, is_close: bool = False) -> list[str]:
    """Print an estimate beside its count; return what is wrong with it."""
    if is_close:
        share = abs(span.low - counted) / max(counted, 1)
        is_right = span.is_exact and share <= CLOSE
        verdict = f"{share:.1%} off"
    else:
        is_right = span.low <= counted <= span.high
        verdict = "within" if is_right else "OUT OF RANGE"
    print(f"  {what:<22}{span.low:>14,.0f}{span.high:>14,.0f}{counted:>14,}  {verdict}")
    return [] if is_right else [f"{title}, {what}"]
