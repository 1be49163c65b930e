"""Local and global search over an opened index. Nothing here imports the graphrag library."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from holodeck.errors import ConfigError, ContextLengthError, NotInitializedError, SearchError
from holodeck.lib.contracts import Answer, AnswerContext, AnswerSteps, RatingSteps, WindowedSteps
from holodeck.lib.graphrag.asking import question_too_long
from holodeck.lib.graphrag.cited import cited_records, shown_in
from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.local_context import LocalQuestion, LocalSelection, select_local
from holodeck.lib.graphrag.open_index import open_storage
from holodeck.lib.graphrag.select_reports import (
    ReportSelection,
    rated_reports,
    reports_of_level,
)
from holodeck.lib.graphrag.thinkers import open_answer_steps
from holodeck.lib.graphrag.values import LEAST_DATA, LOCAL_VALUES, LocalValues
from holodeck.lib.graphrag.write_context import report_batch
from holodeck.lib.questions import accept_question
from holodeck.lib.resources import ResolvedTool, Resources, resolve_tool
from holodeck.lib.results import SearchResult, Source
from holodeck.lib.tokens import count_tokens
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holodeck.lib.graphrag.storage import GraphRAGStorage

__all__ = [
    "SEARCH_MODES",
    "BaseSearchEngine",
    "GlobalSearchEngine",
    "LocalSearchEngine",
    "SearchError",
    "SearchResult",
    "create_search_engine",
]

NO_TEXT = (
    "The index is empty: no file of the source gave any text, so there is nothing to search. "
    "'holodeck status' lists the files that were skipped, and why."
)
NO_ENTITIES = (
    "The index holds no entities: nothing in the documents named a thing that could be extracted, "
    "so there is nothing to search."
)
TEXTS_ALONE = (
    "the index holds no entities, since nothing in the documents named a thing that could be "
    "extracted: texts alone were searched"
)
NO_REPORTS = (
    "The index holds no community reports: the documents name no two things that are related, so "
    "there are no communities to report on. Local search still answers from single entities."
)
NOTHING_HELPS = (
    "No community report was rated as helpful for this question: ask it in other words, or without "
    "dynamic_community_selection."
)

NOTHING_FITS = "no record of the index fits the context: what was asked could not be looked up"

_ANEW = ", or embed everything anew with 'holodeck index --force'"


class BaseSearchEngine(ABC):
    """One mode of search.

    Args:
        tool_config: The tool.
        storage: Its index.
        resolved: The tool with its models filled in; default: filled in without an agent.
        resources: Where models come from; default: the environment.
        index: An index that is open already; default: ``initialize`` opens the current one.
    """

    mode: str

    def __init__(
        self,
        tool_config: VectorstoreTool,
        storage: GraphRAGStorage,
        *,
        resolved: ResolvedTool | None = None,
        resources: Resources | None = None,
        index: GraphIndex | None = None,
    ) -> None:
        self.tool_config = tool_config
        self.storage = storage
        self._resolved = resolved or resolve_tool(tool_config)
        self._resources = resources or Resources()
        self._index = index
        self._answers: AnswerSteps | None = None

    async def initialize(self) -> None:
        """Open the index, unless it was handed in.

        Raises:
            TableNotFoundError: A table is missing or damaged.
        """
        if self._index is None:
            self._index = open_storage(self.storage)

    async def search(self, query: str, *, answer: bool = True) -> SearchResult:
        """Answer a question; without ``answer``, return context and sources only.

        Raises:
            NotInitializedError: ``initialize`` was not called.
            EmptyQueryError: There is no question.
            SearchError: The question could not be answered.
        """
        index = self._ensure_initialized()
        question, notes = accept_question(query)
        return await self._search(index, question, notes, answer)

    @abstractmethod
    async def _search(
        self, index: GraphIndex, question: str, notes: tuple[str, ...], answer: bool
    ) -> SearchResult: ...

    def _ensure_initialized(self) -> GraphIndex:
        if self._index is None:
            raise NotInitializedError(
                f"search engine for {self.tool_config.name!r} is not initialized: call "
                "initialize() first"
            )
        return self._index

    async def _vector_of(self, question: str, index: GraphIndex) -> NDArray[np.float32]:
        """Return the question's vector.

        Raises:
            SearchError: It cannot be compared with the vectors of the index.
        """
        if index.entity_vectors is None and len(index.entities):
            raise SearchError(
                f"the index of tool {self.tool_config.name!r} holds entities and no vectors of "
                "them, which local search needs: ask with --mode global (search_mode: global)"
            )
        due = index.vector_width
        embedder = self._resources.embedder(self._resolved.embedding, "embedding_model", width=due)
        vector: NDArray[np.float32] = (await embedder.embed([question]))[0]
        if due is not None and len(vector) != due:
            raise SearchError(
                f"the embedding model {embedder.name!r} ({embedder.provider}) gives vectors of "
                f"{len(vector)} numbers, and the index of tool {self.tool_config.name!r} holds "
                f"vectors of {due}: name the model that it was built with as embedding_model"
                f"{'' if self.storage.is_foreign else _ANEW}"
            )
        return vector

    def _answer_steps(self, index: GraphIndex) -> AnswerSteps:
        if self._answers is None:
            self._answers = open_answer_steps(self._resolved, self._resources, index.prompts)
        return self._answers

    @property
    def _graphrag(self) -> GraphRAGConfig:
        return self.tool_config.graphrag or GraphRAGConfig()


class LocalSearchEngine(BaseSearchEngine):
    """For questions about things: from the entities that a question is about to their texts."""

    mode = "local"

    async def _search(
        self, index: GraphIndex, question: str, notes: tuple[str, ...], answer: bool
    ) -> SearchResult:
        if not len(index.entities):
            # The library's ranking goes from entities; ours looks at the texts themselves too.
            if self._graphrag.ranking == "library" or index.unit_vectors is None:
                return SearchResult(response=_nothing(index), search_mode=self.mode, notes=notes)
            notes = (*notes, TEXTS_ALONE)
        query = await self._vector_of(question, index)
        asked = LocalQuestion(text=question, vector=query, level=self._graphrag.community_level)
        values = LOCAL_VALUES[self._graphrag.ranking]
        if answer:
            selection, given = await self._answered(index, asked, values)
        else:
            selection, given = await self._select(index, asked, values), Answer(text="")
        context = selection.context
        cited = cited_records(given.text, index, shown_in(context))
        return SearchResult(
            response=given.text,
            search_mode=self.mode,
            sources=tuple(_sources(index, cited.ordered("Sources", selection.text_units))),
            entities_used=len(context.entities),
            communities_used=len(context.reports),
            context=context.text,
            references=cited.titles,
            reference_sources=cited.sources,
            notes=(*notes, *_shortness(context), *given.notes, *cited.notes),
        )

    async def _select(
        self, index: GraphIndex, asked: LocalQuestion, values: LocalValues
    ) -> LocalSelection:
        # Off the loop: other searches go on meanwhile.
        return await asyncio.to_thread(select_local, index, asked, self._graphrag.ranking, values)

    async def _answered(
        self, index: GraphIndex, asked: LocalQuestion, values: LocalValues
    ) -> tuple[LocalSelection, Answer]:
        """Answer; where the context is too long for the model, from ever less of it.

        Raises:
            ContextLengthError: Nothing is short enough.
        """
        steps, most = self._answer_steps(index), values.context_tokens
        tokens = most
        if isinstance(steps, WindowedSteps):
            tokens = max(steps.context_room(asked.text, most), LEAST_DATA)
        while True:
            selection = await self._select(index, asked, replace(values, context_tokens=tokens))
            try:
                given = await steps.answer_local(asked.text, selection.context)
            except ContextLengthError as error:
                if tokens // 2 < LEAST_DATA:
                    size = count_tokens(selection.context.text)
                    raise question_too_long(error, size) from error
                tokens //= 2
                continue
            return selection, replace(given, notes=(*_narrowness(tokens, most), *given.notes))


class GlobalSearchEngine(BaseSearchEngine):
    """For questions about the whole: over the reports of all communities of a level."""

    mode = "global"

    async def _search(
        self, index: GraphIndex, question: str, notes: tuple[str, ...], answer: bool
    ) -> SearchResult:
        if not index.reports:
            said = NO_REPORTS if len(index.entities) else _nothing(index)
            return SearchResult(response=said, search_mode=self.mode, notes=notes)
        selection = await self._select(index, question)
        reports = selection.reports
        if not reports:
            said, notes = NOTHING_HELPS, (*notes, *selection.notes)
            return SearchResult(response=said, search_mode=self.mode, notes=notes)
        given = Answer(text="")
        if answer:
            given = await self._answer_steps(index).answer_global(question, reports)
        shown = {"Reports": {report.number: report.title for report in reports}}
        cited = cited_records(given.text, index, shown)
        units = dict.fromkeys(
            unit
            for number in cited.ordered("Reports", [report.number for report in reports])
            for unit in index.communities.texts_of(number)
        )
        return SearchResult(
            response=given.text,
            search_mode=self.mode,
            sources=tuple(_sources(index, units)),
            communities_used=len(reports),
            context=report_batch(reports),
            references=cited.titles,
            reference_sources=cited.sources,
            notes=(*notes, *selection.notes, *given.notes, *cited.notes),
        )

    async def _select(self, index: GraphIndex, question: str) -> ReportSelection:
        level = min(self._graphrag.community_level, index.deepest_level)
        if not self._graphrag.dynamic_community_selection:
            return await asyncio.to_thread(reports_of_level, index, level)
        return await rated_reports(index, level, question, self._rating_steps(index))

    def _rating_steps(self, index: GraphIndex) -> RatingSteps:
        steps = self._answer_steps(index)
        if isinstance(steps, RatingSteps):
            return steps
        raise ConfigError(
            "dynamic_community_selection needs a search_model that can rate reports, and this "
            "provider has no language model: set dynamic_community_selection: false, or a "
            "search_model of another provider",
            field="graphrag.dynamic_community_selection",
        )


SEARCH_MODES: dict[str, type[BaseSearchEngine]] = {
    "local": LocalSearchEngine,
    "global": GlobalSearchEngine,
}
"""Mode → its engine."""


def create_search_engine(
    tool_config: VectorstoreTool, storage: GraphRAGStorage
) -> BaseSearchEngine:
    """Return the engine of the configured ``search_mode``."""
    graphrag = tool_config.graphrag or GraphRAGConfig()
    return SEARCH_MODES[graphrag.search_mode](tool_config, storage)


def _sources(index: GraphIndex, text_units: Iterable[int]) -> list[Source]:
    """Return the places of the text units."""
    units = index.text_units
    return [
        Source(place=place, text_unit_id=units.ids[row], reference=row, text=units.texts[row])
        for row in text_units
        for place in units.places[row]
    ]


def _shortness(context: AnswerContext) -> tuple[str, ...]:
    """Return a note where the budget is too small for a single record."""
    return () if context.text else (NOTHING_FITS,)


def _narrowness(tokens: int, most: int) -> tuple[str, ...]:
    """Return a note where the model takes less context than an answer should have."""
    if tokens == most:
        return ()
    return (
        f"the answer is made from {tokens:,} tokens of context in place of {most:,}: the search "
        "model takes no more",
    )


def _nothing(index: GraphIndex) -> str:
    """Return why there is nothing to search: no text at all, or no entity in it."""
    return NO_ENTITIES if len(index.text_units) else NO_TEXT
