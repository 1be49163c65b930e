"""Global search with a model: points from batches of reports, then one answer from the points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holodeck.errors import ContextLengthError, ProviderError, SearchError
from holodeck.lib.contracts import Answer, ContextReport
from holodeck.lib.graphrag.asking import Asker, Said, question_too_long
from holodeck.lib.graphrag.causes import causes_of
from holodeck.lib.graphrag.points import Chosen, Point, choose_points, points_in
from holodeck.lib.graphrag.refusals import is_of_all
from holodeck.lib.graphrag.side_by_side import side_by_side
from holodeck.lib.graphrag.values import CONCURRENCY, LEAST_DATA, MAP, REDUCE, TRIES
from holodeck.lib.graphrag.write_context import report_batch
from holodeck.lib.quantities import number_of
from holodeck.lib.tokens import count_tokens

__all__ = ["NOTHING_RELEVANT", "MapReduce"]

NOTHING_RELEVANT = "Nothing relevant to this question was found in the documents."
TOO_LONG = "a report and the question are longer than the model takes"
REFUSALS = 3
"""Times that no more than a report was refused for its length, after which it is not asked for."""


@dataclass(frozen=True, kw_only=True)
class _Part:
    """What became of one batch: its points, or why there are none."""

    points: Sequence[Point] = ()
    unusable: int = 0
    is_cut: bool = False
    lost: str = ""


class MapReduce:
    """One question to all reports.

    Args:
        asker: Asks the search model.
        question: What is asked.
        response_type: Form and language of the answer, in words.
    """

    def __init__(self, asker: Asker, question: str, response_type: str) -> None:
        self._asker = asker
        self._question = question
        self._response_type = response_type
        self._refused: list[int] = []
        """Tokens of the batches that were too long for the model."""

    async def answer(self, reports: Sequence[ContextReport]) -> Answer:
        """Map over batches of reports, then reduce their points to one answer.

        Raises:
            SearchError: No batch could be read; "nothing relevant" is an answer, this is not.
        """
        room = self._asker.room("map", self._question, MAP.words, MAP.data_tokens)
        found = await side_by_side(self._read, _batches(reports, room), CONCURRENCY)
        parts = [part for each in found for part in each]
        lost = [part.lost for part in parts if part.lost]
        if parts and len(lost) == len(parts):
            raise SearchError(
                f"global search failed: {len(lost)} of {len(parts)} batches of reports were lost "
                f"({causes_of(lost)}); try another search_model, or ask again later"
            )
        notes = tuple(_map_notes(parts, lost))
        points = [point for part in parts for point in part.points if point.score > 0]
        if not points:
            return Answer(text=_nothing_relevant(len(lost), len(parts)), notes=notes)
        reduced = await self._reduce(points)
        return Answer(text=reduced.text, notes=(*notes, *reduced.notes))

    async def _read(self, batch: Sequence[ContextReport]) -> list[_Part]:
        """Return the points of a batch; of its halves where the whole is too long for the model."""
        size = sum(map(_tokens, batch))
        if self._would_be_refused(size, len(batch)):
            return await self._divided(batch)
        lost = ""
        for _ in range(TRIES):
            try:
                return [await self._points(batch)]
            except ContextLengthError:
                self._refused.append(size)
                return await self._divided(batch)
            except _UnreadableError as error:
                lost = str(error)
            except ProviderError as error:
                if is_of_all(error):
                    raise
                lost = str(error)
                if not error.retryable:
                    break
        return [_Part(lost=lost)]

    def _would_be_refused(self, size: int, reports: int) -> bool:
        # A single report is not given up for one that was refused: a model counts otherwise.
        needed = 1 if reports > 1 else REFUSALS
        return sum(refused <= size for refused in self._refused) >= needed

    async def _divided(self, batch: Sequence[ContextReport]) -> list[_Part]:
        if len(batch) == 1:
            return [_Part(lost=TOO_LONG)]
        middle = len(batch) // 2
        return [*await self._read(batch[:middle]), *await self._read(batch[middle:])]

    async def _points(self, batch: Sequence[ContextReport]) -> _Part:
        reply = await self._asker.ask(
            "map",
            self._question,
            {"context_data": report_batch(batch)},
            max_length=str(MAP.words),
        )
        read = points_in(reply.text)
        if read is None:
            raise _UnreadableError("the reply was not the JSON that was asked for")
        is_cut = reply.is_cut or read.is_cut
        if is_cut and not read.points:
            raise _UnreadableError(
                "the reply broke off before its first point; raise graphrag.search_model.max_tokens"
            )
        return _Part(points=read.points, unusable=read.unusable, is_cut=is_cut)

    async def _reduce(self, points: Sequence[Point]) -> Answer:
        """Return the answer; from ever fewer points where they are too long for the model."""
        budget = self._asker.room("reduce", self._question, REDUCE.words, REDUCE.data_tokens)
        budget = max(budget, LEAST_DATA)
        while True:
            chosen = choose_points(points, budget)
            try:
                said = await self._join(chosen.text)
            except ContextLengthError as error:
                size = count_tokens(chosen.text)
                budget = min(budget, size) // 2
                if budget < LEAST_DATA:
                    raise question_too_long(error, size) from error
            else:
                return Answer(text=said.text, notes=(*_notes_on(chosen), *said.notes))

    async def _join(self, points: str) -> Said:
        return await self._asker.answer(
            "reduce",
            self._question,
            {"report_data": points},
            response_type=self._response_type,
            max_length=str(REDUCE.words),
        )


class _UnreadableError(Exception):
    """A reply is not what was asked for."""


def _nothing_relevant(lost: int, parts: int) -> str:
    if not lost:
        return NOTHING_RELEVANT
    return (
        f"Nothing relevant to this question was found in what could be read: {lost} of {parts} "
        "batches of reports were lost."
    )


def _map_notes(parts: Sequence[_Part], lost: Sequence[str]) -> Iterator[str]:
    if lost:
        yield (
            f"{len(lost)} of {len(parts)} batches of reports could not be read ({causes_of(lost)})"
        )
    cut = sum(part.is_cut for part in parts)
    if cut:
        yield (
            f"the points from {cut} of {len(parts)} batches of reports break off, "
            "and those that would have followed are missing: raise "
            "graphrag.search_model.max_tokens"
        )
    unusable = sum(part.unusable for part in parts)
    if unusable:
        yield (
            f"{number_of(unusable, 'points')} of the model's had no text or no score from 0 to 100 "
            "and could not be used"
        )


def _notes_on(chosen: Chosen) -> Iterator[str]:
    if chosen.left_out:
        yield (
            f"{chosen.left_out} of {chosen.shown + chosen.left_out} points from the reports did "
            "not fit into the last prompt and were left out, low scores first"
        )
    if chosen.cut:
        yield f"of {number_of(chosen.cut, 'long points')} only the beginning was used"


def _tokens(report: ContextReport) -> int:
    return report.tokens or count_tokens(report_batch([report]))


def _batches(reports: Sequence[ContextReport], most: int) -> list[list[ContextReport]]:
    """Cut the reports, kept in order, into batches of at most so many tokens."""
    batches: list[list[ContextReport]] = []
    left = 0
    for report in reports:
        size = _tokens(report)
        if not batches or size > left:
            batches.append([])
            left = most
        batches[-1].append(report)
        left -= size
    return batches
