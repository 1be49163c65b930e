"""What a model's server may do wrong, and to which requests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from holodeck.testing.replies import ServerRequest

__all__ = ["Fault", "FaultPlan"]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that goes wrong with the requests that it matches.

    Which requests: those of ``kind`` (``None``: any) whose text holds ``containing``; of these the
    first ``first``, or every ``every``-th, or all.

    Attributes:
        status: HTTP status to answer with; the body is the vendor's for that status.
        code: The vendor's error code where a status has several (``insufficient_quota``,
            ``content_filter``, ``context_length_exceeded`` …); alone it implies its status.
        message: Text of the error in place of the vendor's.
        retry_after: ``Retry-After``: seconds as a number, or a moment as an HTTP date.
        retry_after_ms: The header of this name, in milliseconds.
        hang: Seconds of silence before anything else happens.
        cut_stream: The connection closes in the middle of the reply.
        malformed: The model's text ends in the middle (embeddings: the last vector is too short).
        fenced: The model's text stands in a Markdown fence.
        empty: The model's text is empty.
        not_json: The HTTP body is a web page, as from a proxy or a wrong address.
    """

    kind: str | None = None
    containing: str | None = None
    first: int | None = None
    every: int | None = None
    status: int | None = None
    code: str | None = None
    message: str | None = None
    retry_after: float | datetime | None = None
    retry_after_ms: int | None = None
    hang: float = 0.0
    cut_stream: bool = False
    malformed: bool = False
    fenced: bool = False
    empty: bool = False
    not_json: bool = False

    def matches(self, request: ServerRequest) -> bool:
        """Tell whether the fault is meant for ``request``, whatever its turn."""
        if self.kind is not None and self.kind != request.kind:
            return False
        return self.containing is None or self.containing in request.text

    def strikes(self, turn: int) -> bool:
        """Tell whether the ``turn``-th matching request (from 1) is one of those to fail."""
        if self.first is not None:
            return turn <= self.first
        return self.every is None or turn % self.every == 0


class FaultPlan:
    """The faults of a server and how often each was matched."""

    def __init__(self, faults: tuple[Fault, ...] = ()) -> None:
        self._faults: list[Fault] = list(faults)
        self._turns: list[int] = [0] * len(faults)

    def add(self, fault: Fault) -> None:
        """Add one; earlier faults go before later ones."""
        self._faults.append(fault)
        self._turns.append(0)

    def clear(self) -> None:
        """Forget all: the server is healthy."""
        self._faults.clear()
        self._turns.clear()

    def pick(self, request: ServerRequest) -> Fault | None:
        """Return the fault that ``request`` meets, counting its turn with every matching one."""
        struck = None
        for number, fault in enumerate(self._faults):
            if not fault.matches(request):
                continue
            self._turns[number] += 1
            if struck is None and fault.strikes(self._turns[number]):
                struck = fault
        return struck
