"""Cut a document into chunks by tokens: pure, linear in the length of the text, and lossless.

What holds for every result, whatever the script of the text:

- a chunk has at most ``chunk_size`` tokens, counted over its text alone;
- ``"".join(chunk.text[chunk.overlap:] for chunk in chunks)`` is the document's text. Blank runs
  that fill a chunk up, so that no character fits beside them, are the one exception: nobody pays
  for a chunk without a word in it;
- with ``sentences``, a chunk ends where a sentence or a line does, if one does within its last
  eighth, and never between a heading (``# …``) and what it heads, if there is text before it that
  is no heading;
- no cut goes through a character, nor through what a reader sees as one (an emoji family, a letter
  with its marks), unless that one alone is longer than a chunk;
- every chunk adds something to read, so none repeats only what the one before ends with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import regex

from holodeck.errors import ConfigError
from holodeck.lib.documents import Chunk, Document
from holodeck.lib.tokens import encoding

__all__ = [
    "CHUNKING_VERSION",
    "ChunkEnds",
    "Cut",
    "Encode",
    "chunk_document",
    "chunks_at",
    "find_cuts",
]

CHUNKING_VERSION: int = 5
"""Raised when the same text and settings give other chunks; part of every config hash."""

ChunkEnds = Literal["sentences", "words"]

Encode = Callable[[str], Sequence[int]]
"""Text → tokens; special tokens in the text are plain text."""

# A byte is a token at worst, and a character has four bytes at worst.
_LEAST_CHUNK_SIZE = 4
# The tokenizer's regular expression overflows its stack on a blank run of about a million.
_MOST_CHARACTERS = 100_000

# A flag is a pair of letters of its own kind. Left to \X, each of a run of them is looked at with
# all before it, to know which of a pair it is: twice the flags, four times the work. What may
# follow the last pair, as a mark, is left to it.
_GRAPHEME = regex.compile(r"[\U0001F1E6-\U0001F1FF]{2}(?=[\U0001F1E6-\U0001F1FF])|\X")
_SENTENCE_END = re.compile(r"""[.!?…]["'”’)\]]*\s+|[。！？；][”’」』）\s]*|\n\s*""")
_WORD_END = re.compile(r"\s+")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+\S")
# Between two of these a cluster always ends, except between CR and LF: a short cut to a boundary.
_PLAIN = re.compile(r"[\x00-\u02ff\u0370-\u0482\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]{2}")
_SHORT_CUT = 64


def chunk_document(
    document: Document,
    chunk_size: int,
    chunk_overlap: int,
    ends: ChunkEnds = "sentences",
    *,
    encode: Encode | None = None,
) -> list[Chunk]:
    """Return the chunks of ``document`` in its order; the same input gives the same chunks.

    Args:
        document: Its text is cut.
        chunk_size: Most tokens of a chunk.
        chunk_overlap: Most tokens that a chunk repeats from the one before.
        ends: Where chunks end, if they can.
        encode: In place of the encoding of ``lib.tokens``; must give the same tokens.

    Raises:
        ConfigError: The settings admit no progress.
    """
    cuts = find_cuts(document.text, chunk_size, chunk_overlap, ends, encode=encode)
    return chunks_at(document, cuts)


class Cut(NamedTuple):
    """A chunk as offsets into its document: it adds ``[new, end)`` and repeats ``[start, new)``."""

    start: int
    new: int
    end: int
    n_tokens: int


def chunks_at(document: Document, cuts: Iterable[Cut]) -> list[Chunk]:
    """Return the chunks of a document whose cuts are known."""
    text, document_id = document.text, document.id
    return [
        Chunk(
            document_id=document_id,
            text=text[cut.start : cut.end],
            n_tokens=cut.n_tokens,
            overlap=cut.new - cut.start,
        )
        for cut in cuts
    ]


def find_cuts(
    text: str,
    chunk_size: int,
    chunk_overlap: int,
    ends: ChunkEnds = "sentences",
    *,
    encode: Encode | None = None,
) -> list[Cut]:
    """Return where a text is cut; arguments as for ``chunk_document``.

    Raises:
        ConfigError: The settings admit no progress.
    """
    if chunk_size < _LEAST_CHUNK_SIZE:
        raise ConfigError(
            f"chunk_size ({chunk_size}) must be at least {_LEAST_CHUNK_SIZE}: a single character "
            "can take that many tokens"
        )
    if not 0 <= chunk_overlap < chunk_size:
        raise ConfigError(
            f"chunk_overlap ({chunk_overlap}) must be at least 0 and smaller than chunk_size "
            f"({chunk_size}): lower the overlap or raise the size"
        )
    encode = encode or encoding().encode_ordinary
    cutter = _Cutter(text, chunk_size, chunk_overlap, encode, ends)
    return [Cut(span.start, span.new, span.end, len(span.tokens)) for span in cutter.spans()]


@dataclass(frozen=True)
class _Span:
    """A ``Cut`` with its tokens."""

    start: int
    new: int
    end: int
    tokens: Sequence[int]


class _Cutter:
    def __init__(self, text: str, size: int, overlap: int, encode: Encode, ends: ChunkEnds) -> None:
        self._text = text
        self._size = size
        self._overlap = overlap
        self._encode = encode
        self._ends = ends
        self._content_end = len(text.rstrip())
        # Characters per token, to guess how much text has to be looked at; follows the text.
        self._density = 4.0

    def spans(self) -> Iterator[_Span]:
        done = 0
        last: _Span | None = None
        while done < self._content_end:
            span = self._next(done, last)
            done = span.end
            if self._is_blank(span.new, span.end):
                rest = self._text[done : done + _MOST_CHARACTERS]
                done += len(rest) - len(rest.lstrip())
                last = None
                continue
            yield span
            last = span
            self._density = (span.end - span.start) / len(span.tokens)

    def _is_blank(self, start: int, end: int) -> bool:
        return not self._text[start:end].strip()

    def _leaves_blank_tail(self, span: _Span) -> bool:
        return self._content_end <= span.end < len(self._text)

    def _next(self, done: int, last: _Span | None) -> _Span:
        """Return the next chunk, with as much overlap as lets it add something to read."""
        best: _Span | None = None
        for start in self._starts(done, last):
            span = self._fit(start, done)
            if span is None:
                continue
            if self._is_blank(done, span.end):
                if start == done and best is None:
                    return span
                continue
            best = best or span
            if not self._leaves_blank_tail(span):
                return span
        if best is None:
            raise AssertionError("a chunk without overlap has room for a character")
        return self._make_room_for_tail(best)

    def _make_room_for_tail(self, span: _Span) -> _Span:
        """End ``span`` early, so that the blank tail of the text follows a letter."""
        tail = self._content_end
        while True:
            tail = _boundary_before(self._text, span.new, tail - 1)
            if self._is_blank(span.new, tail) or len(self._text) - tail > _MOST_CHARACTERS:
                return span
            if len(self._encode(self._text[tail:])) > self._size:
                return span
            tokens = self._encode(self._text[span.start : tail])
            if len(tokens) <= self._size:  # a word cut in two may take more tokens than the whole
                return _Span(span.start, span.new, tail, tokens)

    # --- where a chunk ends ---------------------------------------------------------------------

    def _fit(self, start: int, done: int) -> _Span | None:
        """Return the longest good chunk from ``start``; None when it cannot get past ``done``."""
        hard = self._hard_end(start)
        while True:
            end = self._good_end(done, hard)
            if start < done and end <= done:
                return None
            if start == done and self._is_blank(done, end):
                end = hard  # what follows the blanks, if any, is a cluster longer than the rest
            tokens = self._encode(self._text[start:end])
            if len(tokens) <= self._size:
                return _Span(start, done, end, tokens)
            hard = start + _characters(self._text[start:end], tokens[: self._size])

    def _hard_end(self, start: int) -> int:
        limit = min(len(self._text), start + _MOST_CHARACTERS)
        width = int(self._density * self._size * 1.2) + 16
        while True:
            stop = min(start + width, limit)
            window = self._text[start:stop]
            tokens = self._encode(window)
            if len(tokens) > self._size:
                return start + _characters(window, tokens[: self._size])
            if stop == limit:
                return stop
            width *= 2

    def _good_end(self, done: int, hard: int) -> int:
        """Return the best end at or before ``hard``: of a sentence or a line, else of a word."""
        if hard <= done or hard == len(self._text):
            return hard
        if self._ends == "words":
            return self._end_by(done, hard, (_WORD_END,))
        return self._before_heading(done, self._end_by(done, hard, (_SENTENCE_END, _WORD_END)))

    def _end_by(self, done: int, hard: int, patterns: Sequence[re.Pattern[str]]) -> int:
        low = hard - (hard - done) // 8
        for pattern in patterns:
            ends = [match.end() for match in pattern.finditer(self._text, low, hard)]
            if ends:
                end = _boundary_before(self._text, done, ends[-1])
                if end > done:
                    return end
        return _boundary_before(self._text, done, hard)

    def _before_heading(self, done: int, end: int) -> int:
        """Return ``end``, or where the headings begin that the chunk would end with or within.

        Of headings alone the last one goes: else each were a chunk.
        """
        earlier, last = end, end
        while True:
            content_end = done + len(self._text[done:earlier].rstrip())
            line = self._text.rfind("\n", 0, content_end) + 1
            is_heading = _HEADING.match(self._text, line) is not None
            if line <= done or not is_heading:
                break
            last = line if earlier == end else last
            earlier = line
        if line <= done and is_heading:
            earlier = last
        return end if self._is_blank(done, earlier) else earlier

    # --- where a chunk starts -------------------------------------------------------------------

    def _starts(self, done: int, last: _Span | None) -> Iterator[int]:
        """Yield starts from the full overlap down to none."""
        if last is not None:
            budget = min(self._overlap, len(last.tokens) - 1)
            while budget > 0:
                yield self._overlap_start(last, budget)
                budget //= 2
        yield done

    def _overlap_start(self, last: _Span, budget: int) -> int:
        """Return where the last ``budget`` tokens of ``last`` or fewer start, at a word."""
        start, tokens = last.start, last.tokens
        while len(tokens) > budget:
            # Rounding down may stop inside the last token to be left out: step over it.
            dropped = _characters(self._text[start : last.end], tokens[: len(tokens) - budget])
            start = self._word_start(last, start + max(dropped, 1))
            if start >= last.end:
                return last.end
            tokens = self._encode(self._text[start : last.end])
        return last.end if self._is_blank(start, last.end) else start

    def _word_start(self, last: _Span, position: int) -> int:
        text, end = self._text, last.end
        if not text[position - 1].isspace():
            word = _WORD_END.search(text, position, position + (end - position) // 4)
            if word:
                position = word.end()
        boundary = _boundary_before(text, last.start, position)
        if boundary == position:
            return position
        cluster = _GRAPHEME.match(text, boundary, end)
        return cluster.end() if cluster else end


def _characters(text: str, tokens: Sequence[int]) -> int:
    """Return how many whole characters of ``text`` its first tokens cover."""
    covered = len(encoding().decode_bytes(tokens))
    data = text.encode()
    if len(data) == len(text):
        return covered
    while covered < len(data) and data[covered] & 0xC0 == 0x80:
        covered -= 1
    return len(data[:covered].decode())


def _boundary_before(text: str, known: int, position: int) -> int:
    """Return the last boundary between clusters at or before ``position``.

    Args:
        text: The whole text.
        known: A boundary, from which clusters are counted if there is no short cut.
        position: Offset into ``text``.
    """
    if position <= known or position >= len(text):
        return position
    start = known
    for offset in range(position, max(known, position - _SHORT_CUT), -1):
        pair = text[offset - 1 : offset + 1]
        if pair != "\r\n" and _PLAIN.fullmatch(pair):
            start = offset
            break
    boundary = start
    # Whether a cluster ends shows in the next character, so one more is enough.
    for match in _GRAPHEME.finditer(text, start, position + 1):
        if match.end() > position:
            break
        boundary = match.end()
    return boundary
