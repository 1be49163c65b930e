"""What a build of the graph will ask of models, and what of it is known.

Extraction and the texts of the documents are counted from the very prompts and texts. What depends
on replies that nobody has yet is a span: lengths of replies, and, while a chunk is not extracted,
summaries, reports and what is embedded of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from holodeck.lib.contracts import EstimateRow, Span
from holodeck.lib.graphrag.community_context import MAX_INPUT_TOKENS
from holodeck.lib.graphrag.embed import BATCH_BYTES, BATCH_TEXTS
from holodeck.lib.graphrag.expect import (
    COMMUNITIES,
    DESCRIPTION_TOKENS,
    ENTITIES,
    ENTITY_TOKENS,
    REPORT_CONTEXT,
    REPORT_REPLY,
    SUMMARY_INPUT,
    SUMMARY_REPLY,
    Names,
    extraction_reply,
    linked,
    names_in,
)
from holodeck.lib.graphrag.rehearse import MARK, NOTHING_FOUND, Rehearsal
from holodeck.lib.graphrag.thinkers import index_prompts
from holodeck.lib.replies.untrusted import DATA_NOTICE
from holodeck.lib.resources import ResolvedTool
from holodeck.lib.tokens import count_tokens
from holodeck.lib.unasked import Asked, batches_of
from holodeck.models.tool import GraphRAGConfig

__all__ = ["estimate_rows"]

NOTHING = Span()
UNITS = "text_unit_text"
_BYTES_OF_TOKEN = 5


@dataclass(frozen=True, kw_only=True)
class _Step:
    """What one step will ask, whoever is asked."""

    calls: Span
    input_tokens: Span
    output_tokens: Span = NOTHING


def estimate_rows(rehearsal: Rehearsal, resolved: ResolvedTool) -> list[EstimateRow]:
    """Return a row for each step that asks for something, without prices."""
    return _Estimating(rehearsal, resolved).rows()


class _Estimating:
    """The rows of one estimate, step by step."""

    def __init__(self, rehearsal: Rehearsal, resolved: ResolvedTool) -> None:
        self._found = rehearsal
        self._graphrag = resolved.tool.graphrag or GraphRAGConfig()
        self._resolved = resolved
        self._prompts = index_prompts(self._graphrag)
        model = self._graphrag.indexing_model
        self._longest = math.inf if model is None else model.max_tokens or math.inf
        self._names = names_in(rehearsal.open_texts)
        self._new_names = names_in(rehearsal.new_texts)
        self._is_open = bool(rehearsal.open_texts)

    def rows(self) -> list[EstimateRow]:
        """Return the rows of all steps that ask for something."""
        extract = self._asked("extract", self._new_names)
        claims = self._asked("claims", names_in(self._found.claim_texts))
        glean = self._glean(extract.output_tokens + claims.output_tokens)
        summarize = self._summarize()
        report = self._report()
        steps = {
            "extract": extract,
            "glean": glean,
            "claims": claims,
            "summarize": summarize,
            "report": report,
        }
        model = self._graphrag.indexing_model
        rows = [
            EstimateRow(
                step=name,
                provider="" if model is None else model.provider,
                model="" if model is None else model.name or "",
                calls=step.calls,
                input_tokens=step.input_tokens,
                output_tokens=step.output_tokens,
            )
            for name, step in steps.items()
        ]
        rows += self._embeddings(report)
        return [row for row in rows if row.calls.high]

    # --- chunks -------------------------------------------------------------------------------

    def _asked(self, purpose: str, names: Names) -> _Step:
        """Return the first prompts of chains, which are known."""
        calls, tokens = self._counted(purpose)
        return _Step(
            calls=Span.exactly(calls),
            input_tokens=Span.exactly(tokens),
            output_tokens=self._cut(extraction_reply(names, calls), calls) if calls else NOTHING,
        )

    def _glean(self, first: Span) -> _Step:
        """Return the further passes: their prompts hold the replies before them."""
        calls, tokens = self._counted("glean")
        if not calls:
            return _Step(calls=NOTHING, input_tokens=NOTHING)
        most = self._graphrag.gleanings
        # Of more than one pass, one and the question whether there is more were rehearsed.
        times = 1 if most == 1 else (2 * most - 1) / 2
        high = calls * times
        reply = first.high / 2 + calls * 80
        return _Step(
            calls=Span(low=calls, high=high),
            input_tokens=Span(
                low=tokens - calls * count_tokens(NOTHING_FOUND),
                high=tokens * times + (first.high + reply * (most - 1)) * (2 * most - 1),
            ),
            output_tokens=self._cut(Span(low=calls, high=reply * times), high),
        )

    # --- the graph ----------------------------------------------------------------------------

    def _summarize(self) -> _Step:
        calls, tokens = self._counted("summarize")
        more = self._more_summaries()
        template = self._template("summarize")
        return _Step(
            calls=Span(low=calls, high=calls + more),
            input_tokens=Span(low=tokens, high=tokens + more * (template + SUMMARY_INPUT)),
            output_tokens=self._cut(
                Span(low=calls * SUMMARY_REPLY.low, high=(calls + more) * SUMMARY_REPLY.high),
                calls + more,
            ),
        )

    def _more_summaries(self) -> float:
        """Return how many summaries may be due that nobody knows of yet."""
        if not self._is_open:
            return 0.0
        names, graphrag = self._names, self._graphrag
        # Each name may be one more description of a thing that is known.
        is_known = bool(self._found.descriptions)
        if graphrag.summarize == "always":
            often = names.repeated(1 if is_known else 2)
            return often + linked(often)
        if is_known:
            return 2 * names.distinct
        times = max(2, math.ceil(graphrag.summary_threshold / DESCRIPTION_TOKENS))
        return 2.0 * names.repeated(times) + 1

    def _report(self) -> _Step:
        """Return the reports; with open chunks any community may still become another."""
        asked = self._found.requests("report")
        if not self._is_open:
            calls = Span.exactly(len(asked))
            low: float = sum(each.input_tokens for each in asked)
            template = self._template("report")
            high = sum(_longest_report_prompt(each, template) for each in asked)
        else:
            template = self._template("report")
            more = self._names.distinct * ENTITIES * COMMUNITIES
            calls = Span(high=self._found.communities + more)
            low = 0.0
            high = calls.high * (template + REPORT_CONTEXT)
        return _Step(
            calls=calls,
            input_tokens=Span(low=low, high=high),
            output_tokens=self._cut(
                Span(low=calls.low * REPORT_REPLY.low, high=calls.high * REPORT_REPLY.high),
                calls.high,
            ),
        )

    # --- vectors ------------------------------------------------------------------------------

    def _embeddings(self, report: _Step) -> list[EstimateRow]:
        units = self._found.texts.get(UNITS, [])
        batches = batches_of(units)
        texts, tokens = self._graph_texts(report)
        together = math.ceil((len(units) + texts.low) / BATCH_TEXTS)
        # A batch is full by its texts or by its bytes; the last one is seldom full.
        most = texts.high / BATCH_TEXTS + tokens.high * _BYTES_OF_TOKEN / BATCH_BYTES
        graph = _Step(
            calls=Span(low=max(0, together - batches), high=math.ceil(most)),
            input_tokens=tokens,
        )
        known = _Step(
            calls=Span.exactly(batches), input_tokens=Span.exactly(sum(map(count_tokens, units)))
        )
        return [
            self._embedding("embed", known, Span.exactly(len(units))),
            self._embedding("embed graph", graph, texts),
        ]

    def _graph_texts(self, report: _Step) -> tuple[Span, Span]:
        """Return how many texts of entities and reports are embedded, and their tokens."""
        entities = self._found.texts.get("entity_description", [])
        reports = self._found.texts.get("community_full_content", [])
        known = [text for text in [*entities, *reports] if MARK not in text]
        waiting = sum(MARK in text for text in entities)
        tokens = sum(map(count_tokens, known))
        more = self._names.distinct * ENTITIES if self._is_open else 0.0
        return (
            Span.exactly(len(known) + waiting)
            + Span(low=report.calls.low / 2, high=report.calls.high)  # two may read the same
            + Span(high=more),
            Span.exactly(tokens)
            + Span(low=waiting * ENTITY_TOKENS.low, high=waiting * SUMMARY_REPLY.high)
            + Span(low=report.output_tokens.low / 2, high=report.output_tokens.high)
            + Span(high=more * ENTITY_TOKENS.high),
        )

    def _embedding(self, step: str, asked: _Step, texts: Span) -> EstimateRow:
        model = self._resolved.embedding
        return EstimateRow(
            step=step,
            provider=model.provider,
            model=model.name or "",
            calls=asked.calls,
            input_tokens=asked.input_tokens,
            texts=texts,
        )

    # --- what they share ----------------------------------------------------------------------

    def _counted(self, purpose: str) -> tuple[int, int]:
        """Return requests of a purpose and their tokens."""
        requests = self._found.requests(purpose)
        return len(requests), sum(each.input_tokens for each in requests)

    def _template(self, name: str) -> int:
        """Return the tokens of a prompt in which nothing stands yet."""
        return count_tokens(DATA_NOTICE + self._prompts[name])

    def _cut(self, tokens: Span, calls: float) -> Span:
        """Return tokens of replies, none longer than the settings allow."""
        most = self._longest * calls if calls else 0.0
        return Span(low=min(tokens.low, most), high=min(tokens.high, most))


def _longest_report_prompt(asked: Asked, template: int) -> float:
    """Return how long a prompt may become once what it waits for is there."""
    marks = asked.request.messages[0].content.count(MARK)
    most = max(template + MAX_INPUT_TOKENS, asked.input_tokens)
    return min(asked.input_tokens + marks * SUMMARY_REPLY.high, most)
