"""Names and verbs by a spaCy pipeline that the user installed and named; none is downloaded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from holodeck.errors import ConfigError
from holodeck.lib.providers.extractive.extract import ReadSentence
from holodeck.lib.providers.extractive.installed import require_pipeline
from holodeck.lib.providers.extractive.names import Mention, find_names
from holodeck.lib.providers.extractive.sentences import split_sentences

__all__ = ["SpacyReader", "verbs_between"]

_KINDS = {
    "PERSON": "person",
    "PER": "person",
    "ORG": "organization",
    "GPE": "location",
    "LOC": "location",
    "FAC": "location",
    "EVENT": "event",
}
_NO_NAMES = frozenset(
    ("DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL", "LANGUAGE", "NORP")
)
_SUBJECTS = frozenset(("nsubj", "nsubjpass", "sb"))
_OBJECTS = frozenset(("dobj", "obj", "iobj", "dative", "attr", "pobj", "obl", "agent", "oa"))
_BETWEEN = frozenset(("prep", "agent", "case", "conj", "compound", "appos"))


class SpacyReader:
    """Reads a text with a pipeline, loaded at the first text; the rules add what it misses.

    Args:
        name: An installed pipeline package or a folder that holds a pipeline.
        where: The setting that names it, for messages.
    """

    def __init__(self, name: str, where: str) -> None:
        require_pipeline(name, where)
        self._name = name
        self._where = where
        self._pipeline: Any = None  # Any: spaCy is optional
        self._one_at_a_time = Lock()

    @property
    def version(self) -> str:
        """What tells one release of the pipeline from another, without loading it."""
        folder = Path(self._name)
        if not folder.is_dir():
            spec = find_spec(self._name)
            folder = Path((spec and spec.origin) or self._name).parent
        meta = next(iter(sorted(folder.rglob("meta.json"))), None)
        told = hashlib.sha256(meta.read_bytes()).hexdigest()[:16] if meta else "unknown"
        return f"spacy {version('spacy')}, {self._name} {told}"

    def __call__(self, text: str) -> list[ReadSentence]:
        """Return the sentences of ``text`` with the names and the verbs between them."""
        sentences = split_sentences(text)
        by_rule = find_names(sentences)
        with self._one_at_a_time:  # a pipeline may not be used by two threads
            documents = list(self._loaded().pipe(sentences))
        return [
            _read(document, mentions) for document, mentions in zip(documents, by_rule, strict=True)
        ]

    def _loaded(self) -> Any:  # Any: spaCy is optional
        if self._pipeline is None:
            import spacy

            try:
                self._pipeline = spacy.load(self._name)
            except (OSError, ValueError, ImportError) as error:
                raise ConfigError(
                    f"the spaCy pipeline {self._name!r} cannot be loaded ({error}): install a "
                    f"release of it that fits spaCy {version('spacy')}, or use name: extractive",
                    field=self._where,
                ) from error
        return self._pipeline


def _read(document: Any, by_rule: Sequence[Mention]) -> ReadSentence:
    """Join what the pipeline found with the names by rule that it has no word of."""
    spans = [span for span in document.ents if span.label_ not in _NO_NAMES and span.text.strip()]
    mentions = {
        (span.start_char, span.end_char): Mention(
            name=_bare(span.text),
            start=span.start_char,
            end=span.end_char,
            kind=_KINDS.get(span.label_, "concept"),
        )
        for span in spans
        if _bare(span.text)
    }
    taken = [(span.start_char, span.end_char) for span in document.ents]
    for mention in by_rule:
        if all(mention.end <= start or mention.start >= end for start, end in taken):
            mentions[(mention.start, mention.end)] = mention
    ordered = [mentions[place] for place in sorted(mentions)]
    return ReadSentence(
        text=document.text, mentions=ordered, verbs=dict(verbs_between(document, ordered))
    )


def _bare(name: str) -> str:
    words = name.replace("’s", "'s").removesuffix("'s").split()
    if len(words) > 1 and words[0].casefold() in ("the", "a", "an"):
        words = words[1:]
    return " ".join(words)


def verbs_between(
    document: Any, mentions: Sequence[Mention]
) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield (who, whom) with the verb that links the two mentions, as the parse has it."""
    if not document.has_annotation("DEP"):
        return
    roots = [_root(document, mention) for mention in mentions]
    for subject, subject_root in enumerate(roots):
        if subject_root is None or subject_root.dep_ not in _SUBJECTS:
            continue
        for target, target_root in enumerate(roots):
            if target_root is None or target == subject:
                continue
            if _verb_above(target_root) == subject_root.head:
                # "Zork was sold by Zelda": who did it stands behind "by".
                is_doer = target_root.head.dep_ == "agent"
                pair = (target, subject) if is_doer else (subject, target)
                yield pair, subject_root.head.text


def _root(document: Any, mention: Mention) -> Any:
    span = document.char_span(mention.start, mention.end, alignment_mode="expand")
    return None if span is None or len(span) == 0 else span.root


def _verb_above(token: Any) -> Any:
    """Return the verb that ``token`` is an object of, through prepositions and lists."""
    for _ in range(6):
        if token.dep_ in _OBJECTS and token.head.pos_ in ("VERB", "AUX"):
            return token.head
        if token.dep_ not in _OBJECTS | _BETWEEN:
            return None
        if token.dep_ in _BETWEEN and token.head.pos_ in ("VERB", "AUX") and token.dep_ != "conj":
            return token.head
        token = token.head
    return None
