"""The contracts between the rooms: models, embedders, the thinking steps, engines.

A provider, an engine or a fake is whatever has these methods. All of them may be awaited from any
running loop and from several at once; ``close`` releases what was opened and may be called twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

from holodeck.errors import ProviderError
from holodeck.lib.results import SearchResult

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Answer",
    "AnswerContext",
    "AnswerSteps",
    "BuildAccount",
    "Candidate",
    "ChatDelta",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "Claim",
    "ClaimSteps",
    "CommunityContext",
    "ContextClaim",
    "ContextEntity",
    "ContextRelationship",
    "ContextReport",
    "ContextTextUnit",
    "Embedder",
    "Entity",
    "Estimate",
    "EstimateRow",
    "Extraction",
    "Failure",
    "Finding",
    "FoundClaims",
    "IndexPlaces",
    "IndexStatus",
    "IndexSteps",
    "Memo",
    "Message",
    "MeterRow",
    "Progress",
    "ProgressListener",
    "RatingSteps",
    "Relationship",
    "Report",
    "Reranker",
    "RetryFailed",
    "SearchEngine",
    "Span",
    "Spending",
    "Spent",
    "Tool",
    "ToolCall",
    "Usage",
]


# --- chat models ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A function that the model wants called; ``arguments`` is JSON as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A function that the model may call; ``parameters`` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]  # Any: JSON Schema


@dataclass(frozen=True, kw_only=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """What is asked of a chat model.

    Attributes:
        messages: The conversation, oldest first.
        purpose: What the call is for (``extract``, ``report``, ``answer`` …): metering, logs and
            progress are kept by it; it is not sent.
        temperature: ``None`` sends none, since some models refuse the field.
        max_tokens: Greatest length of the reply in tokens; ``None`` leaves it to the server.
        json: Whether the reply must be a JSON object.
        tools: What the model may call.
    """

    messages: tuple[Message, ...]
    purpose: str = "chat"
    temperature: float | None = None
    max_tokens: int | None = None
    json: bool = False
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens that a call took, as the server counted them."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, kw_only=True)
class Spent:
    """Answered calls, their tokens and their price.

    Attributes:
        cost: USD for the calls whose price is known.
        unpriced: Calls whose price is not known.
    """

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    unpriced: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            calls=self.calls + other.calls,
            usage=self.usage + other.usage,
            cost=self.cost + other.cost,
            unpriced=self.unpriced + other.unpriced,
        )

    def __sub__(self, other: Spent) -> Spent:
        return Spent(
            calls=self.calls - other.calls,
            usage=Usage(
                input_tokens=self.usage.input_tokens - other.usage.input_tokens,
                output_tokens=self.usage.output_tokens - other.usage.output_tokens,
            ),
            cost=self.cost - other.cost,
            unpriced=self.unpriced - other.unpriced,
        )


@dataclass(frozen=True, kw_only=True)
class MeterRow:
    """What one model took for one purpose."""

    provider: str
    model: str
    purpose: str
    spent: Spent


@dataclass(frozen=True, kw_only=True)
class ChatReply:
    """What the model answered; an empty ``text`` without tool calls is no answer."""

    text: str
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ChatDelta:
    """A piece of a streamed reply; the last one carries ``reply``, the whole."""

    text: str = ""
    reply: ChatReply | None = None


class ChatModel(ABC):
    """A language model that answers a conversation."""

    provider: str
    name: str

    @abstractmethod
    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer the request.

        Raises:
            ProviderError: The server refused, failed or could not be reached; ``retryable`` says
                whether the same call may succeed later.
        """

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatDelta]:
        """Answer piece by piece; a model that cannot stream sends the whole as one piece."""
        reply = await self.complete(request)
        yield ChatDelta(text=reply.text, reply=reply)

    def expect(self, prompt_tokens: int, answer_tokens: int | None = None) -> None:  # noqa: B027  # most models take any length as it comes
        """Be told how long the longest request to come will be.

        A server that gives a model room for so many tokens can then do it once, not request by
        request.

        Args:
            prompt_tokens: About how many tokens its messages have.
            answer_tokens: Its ``max_tokens``.
        """

    async def close(self) -> None:  # noqa: B027  # most models hold nothing
        """Release connections."""


class Memo(Protocol):
    """Where replies are kept by what they were asked with."""

    def get(self, key: str) -> str | None:
        """Return what was kept under ``key``."""
        ...

    def put(self, key: str, value: str, kind: str) -> None:
        """Keep ``value``; it is durable when this returns."""
        ...


class Embedder(ABC):
    """A model that maps texts to vectors of one width."""

    provider: str
    name: str

    @abstractmethod
    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, in order: an array of shape ``(len(texts), width)``.

        Every row has length 1 (L2), or is zero for a text that the model knows no word of.

        Raises:
            ProviderError: As for ``ChatModel.complete``; also when the widths differ.
        """

    def kept(self, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Return the rows that are known without a call, by text."""
        return {}

    async def close(self) -> None:  # noqa: B027  # most embedders hold nothing
        """Release connections."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A passage that a search found, with the search's own score (higher is better)."""

    text: str
    score: float


class Reranker(ABC):
    """A model that says how well passages answer a question."""

    provider: str
    name: str

    @abstractmethod
    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """Return one score for each candidate, in their order; higher is better.

        Raises:
            ProviderError: As for ``ChatModel.complete``.
        """

    async def close(self) -> None:  # noqa: B027  # some hold nothing
        """Release connections."""


# --- the thinking steps of the graph engine -----------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Entity:
    """A thing that a text names; ``type`` is one of the configured types or the model's own."""

    title: str
    type: str
    description: str


@dataclass(frozen=True, kw_only=True)
class Relationship:
    """Two entities that a text connects; a greater ``weight`` is a stronger connection."""

    source: str
    target: str
    description: str
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """What one chunk says.

    Attributes:
        entities: In order of appearance; a name may occur more than once.
        relationships: Their ends need not be among ``entities``.
        dropped: Records that could not be used, by reason.
        repairs: What was mended to read them, and how often.
        incomplete: Why a further pass over the chunk failed; what is here is from the others.
    """

    entities: tuple[Entity, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    repairs: Mapping[str, int] = field(default_factory=dict)
    incomplete: ProviderError | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a text asserts of an entity; dates are as the text or the model gives them.

    Attributes:
        subject: The entity that it is about.
        object: The entity that reports it or is affected; empty when unknown.
        status: ``TRUE``, ``FALSE`` or ``SUSPECTED``.
        source_text: The quotation that it rests on.
    """

    subject: str
    object: str = ""
    type: str = ""
    status: str = ""
    start_date: str = ""
    end_date: str = ""
    description: str = ""
    source_text: str = ""


@dataclass(frozen=True, kw_only=True)
class FoundClaims:
    """What one chunk asserts.

    Attributes:
        claims: In order of appearance.
        dropped: Records that could not be used, by reason.
        repairs: What was mended to read them, and how often.
        incomplete: Why a further pass over the chunk failed; what is here is from the others.
    """

    claims: tuple[Claim, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    repairs: Mapping[str, int] = field(default_factory=dict)
    incomplete: ProviderError | None = None


@dataclass(frozen=True, kw_only=True)
class ContextClaim:
    """A claim as an answer refers to it."""

    number: int
    claim: Claim


@dataclass(frozen=True, kw_only=True)
class ContextEntity:
    """An entity as a prompt or an answer refers to it; ``number`` is the reference."""

    number: int
    title: str
    description: str
    type: str = ""
    degree: int = 0


@dataclass(frozen=True, kw_only=True)
class ContextRelationship:
    """A relationship as a prompt or an answer refers to it."""

    number: int
    source: str
    target: str
    description: str
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True)
class ContextReport:
    """A community report as an answer refers to it; ``rank`` is its importance, 0 to 10.

    Attributes:
        tokens: Of the report in a batch; 0: not counted.
    """

    number: int
    title: str
    content: str
    rank: float = 0.0
    summary: str = ""
    tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class ContextTextUnit:
    """A text unit as an answer refers to it."""

    number: int
    text: str


@dataclass(frozen=True, kw_only=True)
class CommunityContext:
    """A community as a report is written from it; records are numbered 1..n within it."""

    entities: tuple[ContextEntity, ...]
    relationships: tuple[ContextRelationship, ...]
    sub_reports: tuple[ContextReport, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One insight of a report."""

    summary: str
    explanation: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a community is about; ``rating`` is its importance, 0 to 10.

    Attributes:
        repairs: What was mended to read it.
    """

    title: str
    summary: str
    findings: tuple[Finding, ...] = ()
    rating: float = 0.0
    rating_explanation: str = ""
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AnswerContext:
    """What an answer may be made from, as records and as the text that a prompt holds.

    References in an answer (``[Data: Sources (3)]``) are the ``number`` of a record.
    """

    text: str = ""
    entities: tuple[ContextEntity, ...] = ()
    relationships: tuple[ContextRelationship, ...] = ()
    claims: tuple[ContextClaim, ...] = ()
    reports: tuple[ContextReport, ...] = ()
    text_units: tuple[ContextTextUnit, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer and what its reader should know of how it was made."""

    text: str
    notes: tuple[str, ...] = ()


class IndexSteps(Protocol):
    """Who thinks while an index is built: a language model behind prompts, or rules."""

    @property
    def version(self) -> str:
        """What the output depends on besides input and settings; part of an index's hash."""
        ...

    async def extract(self, text: str) -> Extraction:
        """Return what one chunk says."""
        ...

    async def summarize(self, subject: str, descriptions: Sequence[str]) -> str:
        """Return one description of ``subject`` made from several."""
        ...

    async def report(self, community: CommunityContext) -> Report:
        """Return what a community is about."""
        ...


@runtime_checkable
class ClaimSteps(Protocol):
    """Who finds claims; a provider without a language model does not."""

    async def claims(self, text: str) -> FoundClaims:
        """Return what one chunk asserts of entities."""
        ...


class AnswerSteps(Protocol):
    """Who thinks when a question is asked."""

    async def answer_local(self, question: str, context: AnswerContext) -> Answer:
        """Answer from the entities, relationships, reports and text units of the context."""
        ...

    async def answer_global(self, question: str, reports: Sequence[ContextReport]) -> Answer:
        """Answer from all reports of a level: map over batches of them, then reduce."""
        ...


@runtime_checkable
class RatingSteps(Protocol):
    """Who says which reports are worth reading; a provider without a language model does not."""

    async def rate_reports(
        self, question: str, reports: Sequence[ContextReport]
    ) -> Sequence[float | None]:
        """Return how much each report helps to answer, 0 to 5; ``None``: it could not be said."""
        ...


# --- engines ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a build is.

    Attributes:
        step: What is being done, in the words of the summary (``extract``, ``reports`` …).
        done: Items of this step that are finished.
        total: Items of this step, or ``None`` when not known.
        spent: What the build asked of models so far; ``None``: not said here.
    """

    step: str
    done: int = 0
    total: int | None = None
    spent: Spent | None = None


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What an index cost.

    Attributes:
        build: What the build that published it asked of models.
        total: What all builds did since the index was last cleared, unfinished ones too.
        taken: Replies and vectors that the build took from what was kept.
    """

    build: tuple[MeterRow, ...] = ()
    total: tuple[MeterRow, ...] = ()
    taken: int = 0


ProgressListener = Callable[[Progress], None]


RetryFailed = bool | Literal["passing"]
"""Which pieces that failed in the last build are asked for again: none, all, or those whose
failure may pass by itself."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A piece of an index that no model could be made to give.

    Attributes:
        what: ``chunk``, ``claims``, ``summary`` or ``report``.
        id: Id of the text unit or of the community; the name of the entity that a summary is of.
        place: Where the text stands.
        cause: What the model or its server did.
        passing: Whether the same call may succeed later.
    """

    what: str
    id: str
    place: str = ""
    cause: str = ""
    passing: bool = False


@dataclass(frozen=True, kw_only=True)
class BuildAccount:
    """What became of every piece of a build.

    Attributes:
        chunks: ``done``, ``repaired``, ``empty`` and ``failed`` chunks.
        repairs: What was mended in replies, and how often.
        dropped: Records that could not be used, by reason.
        claims: Claims that the index holds.
        merged: Spellings of names that were joined to another spelling.
        isolated: Entities without relationships.
        reports_missing: Communities whose report could not be written.
        failures: Everything that failed.
    """

    chunks: Mapping[str, int] = field(default_factory=dict)
    repairs: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    claims: int = 0
    merged: int = 0
    isolated: int = 0
    reports_missing: int = 0
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Span:
    """A number that is known to lie between two; ``low`` is ``high`` where it is known."""

    low: float = 0.0
    high: float = 0.0

    @classmethod
    def exactly(cls, number: float) -> Span:
        """Return the span of a number that is known."""
        return cls(low=number, high=number)

    @property
    def is_exact(self) -> bool:
        """Whether the number is known."""
        return self.low == self.high

    def __add__(self, other: Span) -> Span:
        return Span(low=self.low + other.low, high=self.high + other.high)

    def __mul__(self, factor: float) -> Span:
        return Span(low=self.low * factor, high=self.high * factor)


@dataclass(frozen=True, kw_only=True)
class EstimateRow:
    """What one step of a build will ask of one model.

    Attributes:
        step: ``extract``, ``glean``, ``claims``, ``summarize``, ``report``, ``embed`` (texts of
            the documents), ``embed graph`` (entities and reports) or ``probe``.
        calls: Requests, further tries not counted.
        texts: To embed.
        cost: USD; ``None``: nobody knows the price.
    """

    step: str
    provider: str
    model: str
    calls: Span
    input_tokens: Span
    output_tokens: Span = field(default_factory=Span)
    texts: Span = field(default_factory=Span)
    cost: Span | None = None


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What the next build will take; what is kept from before is not counted.

    Attributes:
        reason: Why there is something to build; ``None``: the index is up to date.
        documents: Distinct texts of documents.
        chunks: Distinct texts of chunks.
        rows: By step; a step that asks for nothing has none.
    """

    reason: str | None
    documents: int = 0
    chunks: int = 0
    rows: Sequence[EstimateRow] = ()

    @property
    def calls(self) -> Span:
        """Requests of all steps."""
        return sum((row.calls for row in self.rows), Span())

    @property
    def input_tokens(self) -> Span:
        """Tokens that will be sent or embedded."""
        return sum((row.input_tokens for row in self.rows), Span())

    @property
    def output_tokens(self) -> Span:
        """Tokens that will be answered."""
        return sum((row.output_tokens for row in self.rows), Span())

    @property
    def cost(self) -> Span | None:
        """USD; ``None`` where the price of a model is not known."""
        known = [row.cost for row in self.rows if row.cost is not None]
        return sum(known, Span()) if len(known) == len(self.rows) else None

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Models whose price nobody knows, as ``provider/model``."""
        names = (f"{row.provider}/{row.model}" for row in self.rows if row.cost is None)
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True, kw_only=True)
class IndexPlaces:
    """Where an index lies.

    Attributes:
        index: Its folder.
        replies: Folder of the replies that were paid for; other indexes may share it.
    """

    index: Path
    replies: Path


@dataclass(frozen=True, kw_only=True)
class IndexStatus:
    """What is indexed and how fresh it is.

    Attributes:
        location: Folder of the index.
        indexed_at: UTC, ISO 8601; ``None`` when there is no index.
        stale_reason: Why the next ``initialize`` would build; ``None``: up to date.
        counts: What the index holds, ``files`` among it.
        skipped: Files that are not in the index, by relative path, and why.
        warnings: What else was tolerated.
        account: What became of every piece of the last build; ``None``: there are no pieces.
        spending: What it cost; ``None``: nobody kept account.
    """

    location: str
    indexed_at: str | None = None
    stale_reason: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    account: BuildAccount | None = None
    spending: Spending | None = None


class SearchEngine(ABC):
    """One way to index documents and to search them; the tool holds exactly one."""

    modes: ClassVar[tuple[str, ...]]
    """The search modes that the engine offers; the first is what YAML gets by default."""

    mode_help: ClassVar[Mapping[str, str]] = {}
    """What each mode is for, in words that a model chooses by; empty: an agent's model has no use
    for the choice."""

    @property
    @abstractmethod
    def is_initialized(self) -> bool:
        """Whether ``search`` may be called."""

    @property
    @abstractmethod
    def index_stats(self) -> dict[str, int]:
        """Counts of what the index holds, ``files`` among them; empty before ``initialize``."""

    @property
    @abstractmethod
    def was_built(self) -> bool:
        """Whether the last ``initialize`` built; ``False``: the index was up to date."""

    @property
    @abstractmethod
    def places(self) -> IndexPlaces:
        """Where the index lies, or will."""

    @abstractmethod
    def status(self) -> IndexStatus:
        """Say what is indexed and how fresh it is; calls no model and opens no table."""

    @abstractmethod
    async def initialize(
        self, force_reindex: bool = False, *, retry_failed: RetryFailed = False
    ) -> None:
        """Build or update the index when the documents or settings changed, then open it.

        ``force_reindex`` builds even when nothing changed, also when already initialised;
        ``retry_failed`` also when pieces of the last build failed, to ask for them again.

        Raises:
            FileNotFoundError: The source does not exist.
            IndexingError: The index could not be built; the old one is untouched.
        """

    @abstractmethod
    async def estimate(
        self, force_reindex: bool = False, *, retry_failed: RetryFailed = False
    ) -> Estimate:
        """Say what ``initialize`` would ask of models, and what that costs.

        No model is asked, no key is needed and no file is written.

        Raises:
            FileNotFoundError: The source does not exist.
        """

    @abstractmethod
    async def open_existing(self) -> None:
        """Open the index that is there, stale or not; nothing is built.

        Raises:
            SearchError: There is no index.
        """

    @abstractmethod
    async def retrieve(
        self, query: str, *, mode: str | None = None, answer: bool = True
    ) -> SearchResult:
        """Answer ``query`` in ``mode`` (default: the configured one).

        With ``answer=False`` no answer is made: context and sources only.

        Raises:
            NotInitializedError: ``initialize`` was not called.
            SearchError: The question could not be answered.
        """

    @abstractmethod
    def render(self, query: str, result: SearchResult) -> str:
        """Return what ``retrieve`` gave for a question as the text that an agent reads."""

    async def search(self, query: str, *, mode: str | None = None) -> str:
        """Answer ``query`` as the text that an agent reads; raises what ``retrieve`` raises."""
        return self.render(query, await self.retrieve(query, mode=mode))

    @abstractmethod
    async def close(self) -> None:
        """Release what was opened."""
