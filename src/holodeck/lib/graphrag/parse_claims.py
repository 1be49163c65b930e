"""A model's claims reply → claims, and what became of every record in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holodeck.lib.contracts import Claim, FoundClaims
from holodeck.lib.graphrag.names import absurdity, name_key, tidy_name
from holodeck.lib.graphrag.parse import prose
from holodeck.lib.graphrag.records import closed_body, split_fields, surplus, without_brackets
from holodeck.lib.replies.marks import DELIMITER, end_marker, without_end_marker
from holodeck.lib.replies.reply_text import ReplyForm, read_answer
from holodeck.lib.replies.untrusted import Neutraliser, restored

__all__ = ["ClaimReader", "ParsedClaims", "join_claims"]

_FIELDS = (
    "subject",
    "object",
    "type",
    "status",
    "start_date",
    "end_date",
    "description",
    "source_text",
)
_LONG = ("description", "source_text")
_MARK = r"[ \t]*(?:[-*•]|\d{1,3}[.)])?[ \t*`]{0,9}"
_END_OF_FIRST = rf"(?={DELIMITER})"
_START = re.compile(
    rf"(?:^|##|(?<=[)\]}}]))[,;]?{_MARK}(?P<open>[(\[{{（])"
    rf"(?P<first>\s{{0,9}}[^\n|｜]{{0,200}}?){_END_OF_FIRST}",
    re.MULTILINE,
)
# Without brackets a record is a line; where some have them, such a line is in the middle of one.
_BARE_START = re.compile(
    rf"(?:^|##){_MARK}(?P<open>)(?P<first>[^\n|｜]{{1,200}}?){_END_OF_FIRST}", re.MULTILINE
)
_DELIMITER = re.compile(DELIMITER)
_BETWEEN = re.compile(r"\s*##|\n")


@dataclass(frozen=True, kw_only=True)
class ParsedClaims(ReplyForm):
    """What one reply says."""

    found: FoundClaims


class ClaimReader:
    """Reads the replies to one prompt.

    Args:
        prompt: The prompt as a template: the records in it are its examples and its pattern.
    """

    def __init__(self, prompt: str = "") -> None:
        self._sections = Neutraliser(prompt)
        examples = [_fields(prompt, match, len(prompt))[0] for match in _starts(prompt)]
        self._examples = frozenset(name_key(fields[0]) for fields in examples)

    def read(self, reply: str, text: str = "") -> ParsedClaims:
        """Return the claims of one reply.

        Args:
            reply: What the model wrote.
            text: The text that it read: an example of the prompt that is in it is no echo.
        """
        answer = read_answer(reply)
        starts = _starts(answer.text)
        stops = [*(match.start() for match in starts[1:]), len(answer.text)]
        marker = end_marker(answer.text)
        end = self._sections.section_after(answer.text, marker.end()) if marker else stops[-1]
        said = name_key(text)
        claims: list[Claim] = []
        dropped: Counter[str] = Counter()
        repairs = Counter(answer.repairs)
        is_cut = False
        for match, stop in zip(starts, stops, strict=False):
            fields, is_closed = _fields(answer.text, match, stop)
            is_cut = not is_closed and match is starts[-1] and marker is None
            claim = _claim(fields, repairs) if match.start() < end else _BEYOND
            if isinstance(claim, Claim) and self._is_echo(claim, said):
                claim = "that repeats an example of the prompt"
            if is_cut:
                claim = "cut off in the middle"
            if isinstance(claim, Claim):
                claims.append(claim)
            else:
                dropped[f"claim {claim}"] += 1
        return ParsedClaims(
            found=FoundClaims(claims=tuple(claims), dropped=dict(dropped), repairs=dict(repairs)),
            seen=len(starts),
            dropped=dict(dropped),
            is_ended=marker is not None,
            is_bare=not any(mark.isalnum() for mark in without_end_marker(answer.text)),
            is_cut=is_cut,
        )

    def _is_echo(self, claim: Claim, said: str) -> bool:
        key = name_key(claim.subject)
        return key in self._examples and not all(word in said for word in key.split())


_BEYOND = "of a text that the model made up after its end"


def _starts(text: str) -> list[re.Match[str]]:
    """Return where records begin.

    A line whose first field closes more brackets than it opens, and a bracket without a separator
    before it, may also belong to a record that is not yet complete.
    """
    found: list[re.Match[str]] = []
    for match in _START.finditer(text):
        since = text[found[-1].start() : match.start()] if found else ""
        is_whole = not found or len(_DELIMITER.findall(since)) >= len(_FIELDS) - 1
        is_apart = text[match.start()] == "#" or text[match.start() - 1 : match.start()] == "\n"
        if is_whole or (is_apart and surplus(match["first"]) >= 0):
            found.append(match)
    return found or list(_BARE_START.finditer(text))


def _fields(text: str, match: re.Match[str], stop: int) -> tuple[list[str], bool]:
    """Return the fields of a record, and whether it is closed."""
    skipped = len(match["first"]) - len(without_brackets(match["first"]))
    body = text[match.start("first") + skipped : stop]
    marker = end_marker(body)
    body = body if marker is None else body[: marker.start()]
    is_closed = True
    if match.group("open"):
        body, is_closed = closed_body(body)
    else:
        body = _BETWEEN.split(body, maxsplit=1)[0].rstrip(")")
    fields = [part.strip() for part in split_fields(body)[0]]
    if len(fields) > len(_FIELDS) and name_key(fields[0]) == "claim":
        fields = fields[1:]
    return [restored(part) for part in fields], is_closed


def _claim(fields: Sequence[str], repairs: Counter[str]) -> Claim | str:
    """Return the claim, or the reason why it is none."""
    if len(fields) > len(_FIELDS):
        repairs["extra field"] += 1
        fields = [*fields[: len(_FIELDS) - 1], " ".join(fields[len(_FIELDS) - 1 :])]
    elif len(fields) < len(_FIELDS):
        repairs["missing field"] += 1
    named = dict(zip(_FIELDS, fields, strict=False))
    known = {name: _known(name, part) for name, part in named.items()}
    why_not = absurdity(known.get("subject", ""))
    if why_not is not None:
        return why_not
    if not known.get("description"):
        return "without a description"
    return Claim(**known)


def _known(name: str, field: str) -> str:
    """Return a field; the model writes NONE for what it does not know."""
    plain = prose([field]) if name in _LONG else tidy_name(field)
    return "" if plain.strip("*").upper() == "NONE" else plain


def join_claims(parts: Iterable[FoundClaims]) -> FoundClaims:
    """Return several passes over one text as one."""
    every = list(parts)
    dropped: Counter[str] = Counter()
    repairs: Counter[str] = Counter()
    for part in every:
        dropped.update(part.dropped)
        repairs.update(part.repairs)
    return FoundClaims(
        claims=tuple(claim for part in every for claim in part.claims),
        dropped=dict(dropped),
        repairs=dict(repairs),
    )
