"""What calls of models take, and what a build is expected to take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Estimate", "EstimateRow", "MeterRow", "Span", "Spending", "Spent", "Usage"]


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
