"""Several descriptions of one thing → one: the best sentences, each said once."""

from __future__ import annotations

from collections.abc import Sequence

from holodeck.lib.providers.extractive.rank import jaccard, pick, text_rank
from holodeck.lib.providers.extractive.sentences import (
    ends_a_sentence,
    prose_share,
    split_sentences,
)
from holodeck.lib.providers.extractive.words import content_terms, sentence_key

__all__ = ["best_sentences", "distinct_sentences", "summarize"]

_SENTENCES = 3
_RANKED = 300  # sentences that are compared with each other; the rest comes too late to matter


def summarize(subject: str, descriptions: Sequence[str]) -> str:
    """Return up to three sentences about ``subject``, those that name it first."""
    sentences = distinct_sentences(descriptions)
    names = set(content_terms(subject))
    naming = {
        sentence: bool(names) and names <= set(content_terms(sentence)) for sentence in sentences
    }
    named = [sentence for sentence in sentences if naming[sentence]]
    others = [sentence for sentence in sentences if not naming[sentence]]
    chosen = best_sentences(named, _SENTENCES)
    return " ".join([*chosen, *best_sentences(others, _SENTENCES - len(chosen))])


def distinct_sentences(texts: Sequence[str]) -> list[str]:
    """Return the sentences of ``texts`` in order without copies."""
    kept: dict[str, str] = {}
    for text in texts:
        for sentence in split_sentences(text):
            kept.setdefault(sentence_key(sentence), sentence)
    kept.pop("", None)  # marks without a letter say nothing
    return list(kept.values())


def best_sentences(sentences: Sequence[str], count: int) -> list[str]:
    """Return the ``count`` most central sentences in their own order, none saying another's."""
    # A heading or a fragment would run into the next sentence: it serves where nothing else does.
    closed = [each for each in sentences if ends_a_sentence(each)] or sentences
    candidates = list(closed[:_RANKED])
    terms = [content_terms(sentence) for sentence in candidates]
    ranks = text_rank(terms)
    # Ranks add up to 1: brought to the scale of the likeness that they are weighed against.
    scores = ranks / ranks.max() if len(ranks) else ranks
    scores = [
        float(score) * prose_share(sentence)
        for score, sentence in zip(scores, candidates, strict=True)
    ]
    chosen = pick(scores, count, lambda left, right: jaccard(terms[left], terms[right]))
    return [candidates[at] for at in sorted(chosen)]
