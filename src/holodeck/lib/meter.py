"""What was asked of models and what it took, by purpose: the place where money is computed."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from holodeck.lib.contracts import ChatReply, ChatRequest, MeterRow, Spent, ToolCall, Usage
from holodeck.lib.prices import Price
from holodeck.lib.spending import total
from holodeck.lib.tokens import count_tokens

__all__ = ["Meter", "accounted", "prompt_tokens", "record_call", "used"]


def used(request: ChatRequest, reply: ChatReply) -> Usage:
    """Return the tokens of a call: as the server says, else counted, for one that says nothing."""
    if reply.usage.input_tokens or reply.usage.output_tokens:
        return reply.usage
    return Usage(
        input_tokens=prompt_tokens(request),
        output_tokens=count_tokens(reply.text) + _call_tokens(reply.tool_calls),
    )


def prompt_tokens(request: ChatRequest) -> int:
    """Count what a request holds: its messages, the calls in them, the tools on offer."""
    said = sum(
        count_tokens(message.content) + _call_tokens(message.tool_calls)
        for message in request.messages
    )
    return said + sum(
        count_tokens(f"{tool.name}{tool.description}{json.dumps(tool.parameters)}")
        for tool in request.tools
    )


def _call_tokens(calls: Sequence[ToolCall]) -> int:
    return sum(count_tokens(call.name) + count_tokens(call.arguments) for call in calls)


class Meter:
    """Counts for any number of models; may be used from several threads."""

    def __init__(self) -> None:
        self._spent: dict[tuple[str, str, str], Spent] = {}
        self._lock = threading.Lock()

    def record(
        self, *, provider: str, model: str, purpose: str, usage: Usage, price: Price | None = None
    ) -> None:
        """Count one answered call; ``price`` is ``None`` where nobody knows it."""
        key = (provider, model, purpose)
        spent = Spent(
            calls=1,
            usage=usage,
            cost=0.0 if price is None else price.of(usage),
            unpriced=int(price is None),
        )
        with self._lock:
            self._spent[key] = self._spent.get(key, Spent()) + spent

    def rows(self) -> tuple[MeterRow, ...]:
        """Return the counts by provider, model and purpose, sorted: what a price is made from."""
        with self._lock:
            counted = sorted(self._spent.items())
        return tuple(
            MeterRow(provider=provider, model=model, purpose=purpose, spent=spent)
            for (provider, model, purpose), spent in counted
        )

    def usage(self) -> dict[str, Spent]:
        """Return the counts by purpose, over all models."""
        by_purpose: dict[str, Spent] = {}
        for row in self.rows():
            by_purpose[row.purpose] = by_purpose.get(row.purpose, Spent()) + row.spent
        return by_purpose

    def total(self) -> Spent:
        """Return the counts over everything."""
        return total(self.rows())


_ACCOUNT: ContextVar[Meter | None] = ContextVar("account", default=None)


@contextmanager
def accounted() -> Iterator[Meter]:
    """Count what is asked inside, wherever its models come from, in a meter of its own too.

    Not around a ``yield`` of a generator, whose caller would be counted as well.
    """
    meter = Meter()
    token = _ACCOUNT.set(meter)
    try:
        yield meter
    finally:
        _ACCOUNT.reset(token)


def record_call(
    meter: Meter, *, provider: str, model: str, purpose: str, usage: Usage, price: Price | None
) -> None:
    """Count one answered call in its model's meter, and in that of whoever keeps account of it."""
    for each in (meter, _ACCOUNT.get()):
        if each is not None:
            each.record(provider=provider, model=model, purpose=purpose, usage=usage, price=price)
