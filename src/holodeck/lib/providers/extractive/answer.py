"""A question and what was found for it → an answer of quoted sentences with their sources."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import regex

from holodeck.lib.contracts import Answer, AnswerContext, ContextReport
from holodeck.lib.providers.extractive.cite import cite, without_references
from holodeck.lib.providers.extractive.question import is_about_everything
from holodeck.lib.providers.extractive.rank import inverse_frequencies, jaccard, pick, text_rank
from holodeck.lib.providers.extractive.sentences import prose_share, split_sentences
from holodeck.lib.providers.extractive.words import content_terms, sentence_key

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]

__all__ = ["NOTE", "NOTHING_FOUND", "RELEVANT", "answer_from_context", "answer_from_reports"]

NOTE = (
    "extractive mode: sentences are quoted from the documents; set a language model for written "
    "answers"
)
NOTHING_FOUND = "Nothing relevant to the question was found in the documents."

RELEVANT = 0.25
"""Score from which a sentence is quoted. It errs towards quoting: a question asked of texts that
have nothing to do with it may still get a quotation, whose source then shows why."""
_MEANS_THE_SAME = 0.5  # cosine from which a sentence needs no word of the question

_SENTENCES = 5
_ALWAYS = 3  # relevant sentences that are quoted even when the first is far better
_FAR_BELOW = 0.75  # share of the best score under which a fourth and fifth are left out
_SAME_SOURCE = 0.5  # likeness of two sentences of one report: an answer should draw on several
_RANK_BONUS = 0.1  # what a report of the highest rank gains
_COMPARED = 2000  # sentences whose meaning is compared; the best by words when there are more
_CENTRAL = 300  # sentences among which the most central is looked for
_HEADING = regex.compile(r"^#.*$", regex.MULTILINE)
_PRONOUN = regex.compile(r"(?:He|She|It|They|His|Her|Its|Their|This|These)\b")


@dataclass
class _Candidate:
    """A sentence that may be quoted, and every record that has it."""

    text: str
    position: int
    bonus: float
    records: list[tuple[str, int]]
    terms: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.terms = frozenset(content_terms(self.text))


@dataclass(frozen=True, kw_only=True)
class _Record:
    table: str
    number: int
    text: str
    bonus: float = 0.0


def answer_from_context(question: str, context: AnswerContext, embed: Embed) -> Answer:
    """Answer from the sentences of everything that the context holds."""
    tables = {
        "Sources": [(each.number, each.text) for each in context.text_units],
        "Entities": [(each.number, each.description) for each in context.entities],
        "Relationships": [(each.number, each.description) for each in context.relationships],
        "Reports": [(each.number, _said_in(each)) for each in context.reports],
    }
    records = [
        _Record(table=table, number=number, text=text)
        for table, rows in tables.items()
        for number, text in rows
    ]
    return _answer(question, records, embed, spread=False)


def answer_from_reports(question: str, reports: Sequence[ContextReport], embed: Embed) -> Answer:
    """Answer from the sentences of community reports, several of them where they have an answer."""
    is_overview = is_about_everything(question)
    records = [
        _Record(
            table="Reports",
            number=report.number,
            text=(is_overview and report.summary) or _said_in(report),
            bonus=_RANK_BONUS * min(10.0, max(0.0, report.rank)) / 10,
        )
        for report in sorted(reports, key=lambda report: (-report.rank, report.number))
    ]
    return _answer(question, records, embed, spread=True)


def _said_in(report: ContextReport) -> str:
    """Return the text of a report without its headings, which only announce what follows."""
    return _HEADING.sub("", report.content).strip() or report.summary or report.title


def _answer(question: str, records: Sequence[_Record], embed: Embed, *, spread: bool) -> Answer:
    candidates = _candidates(records)
    if is_about_everything(question):
        candidates = candidates[:_CENTRAL]
        scores = _centrality(candidates)
    else:
        candidates, scores = _relevance(question, candidates, embed)
    chosen = pick(
        scores,
        _SENTENCES,
        lambda left, right: _likeness(candidates[left], candidates[right], spread=spread),
    )
    chosen = [
        at
        for place, at in enumerate(chosen)
        if place < _ALWAYS or scores[at] >= _FAR_BELOW * scores[chosen[0]]
    ]
    quoted = [candidates[at] for at in chosen]
    text = " ".join(f"{each.text} {cite(each.records)}" for each in _in_reading_order(quoted))
    return Answer(text=text or NOTHING_FOUND, notes=(NOTE,))


def _candidates(records: Iterable[_Record]) -> list[_Candidate]:
    """Return the distinct sentences of the records in order."""
    candidates: dict[str, _Candidate] = {}
    for record in records:
        for text in _quotable(without_references(record.text)):
            key = sentence_key(text)
            origin = (record.table, record.number)
            if not key:
                continue
            if key in candidates:
                candidates[key].records.append(origin)
                continue
            candidates[key] = _Candidate(
                text=text, position=len(candidates), bonus=record.bonus, records=[origin]
            )
    return list(candidates.values())


def _quotable(text: str) -> list[str]:
    """Return the sentences; one that begins with a pronoun is quoted with the one before it."""
    quotable, before = [], ""
    for sentence in split_sentences(text):
        needs_before = before and _PRONOUN.match(sentence) and not _PRONOUN.match(before)
        quotable.append(f"{before} {sentence}" if needs_before else sentence)
        # A heading or a record before "he" or "it" would not read as one with it.
        before = sentence if prose_share(sentence) == 1.0 else ""
    return quotable


def _centrality(candidates: Sequence[_Candidate]) -> list[float]:
    ranks = text_rank([sorted(candidate.terms) for candidate in candidates])
    highest = float(ranks.max()) if len(ranks) else 1.0
    return [
        float(rank) / highest * _readable_alone(candidate.text) + candidate.bonus
        for rank, candidate in zip(ranks, candidates, strict=True)
    ]


def _readable_alone(text: str) -> float:
    """Return how well a quotation reads without what was before it."""
    return prose_share(text) * (0.6 if _PRONOUN.match(text) else 1.0)


def _relevance(
    question: str, candidates: Sequence[_Candidate], embed: Embed
) -> tuple[list[_Candidate], list[float]]:
    """Return the relevant candidates with their scores.

    A score is half the cosine of the meanings and half the share of the question's words, each
    weighed by its rarity among the candidates.
    """
    wanted = frozenset(content_terms(question))
    weights = inverse_frequencies([candidate.terms for candidate in candidates])
    unknown = math.log(1 + max(1, len(candidates)))
    total = sum(weights.get(term, unknown) for term in sorted(wanted))
    shares = {
        candidate.position: sum(weights[term] for term in sorted(wanted & candidate.terms)) / total
        if total
        else 0.0
        for candidate in candidates
    }
    compared = sorted(candidates, key=lambda each: (-shares[each.position], each.position))
    compared = sorted(compared[:_COMPARED], key=lambda each: each.position)
    vectors = embed([question, *(candidate.text for candidate in compared)])
    cosines = (vectors[1:] @ vectors[0]).tolist()
    relevant, scores = [], []
    for candidate, cosine in zip(compared, cosines, strict=True):
        share = shares[candidate.position]
        score = (cosine + share) / 2
        if score >= RELEVANT and (share > 0 or cosine >= _MEANS_THE_SAME):
            relevant.append(candidate)
            scores.append(score + candidate.bonus)
    return relevant, scores


def _likeness(left: _Candidate, right: _Candidate, *, spread: bool) -> float:
    if left.text in right.text or right.text in left.text:
        return 1.0
    same = spread and left.records[0] == right.records[0]
    return max(jaccard(left.terms, right.terms), _SAME_SOURCE if same else 0.0)


def _in_reading_order(quoted: Sequence[_Candidate]) -> list[_Candidate]:
    """Keep what one record says together and in its order; the best record comes first."""
    places: dict[tuple[str, int], int] = {}
    for candidate in quoted:
        places.setdefault(candidate.records[0], len(places))
    return sorted(quoted, key=lambda each: (places[each.records[0]], each.position))
