"""Each text unit asked about, the failed ones left out and accounted for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from holodeck.errors import HolodeckError, ProviderError
from holodeck.lib.graphrag.build import Build, map_bounded
from holodeck.lib.graphrag.failures import FailureGate, failure_of, later_failure
from holodeck.lib.graphrag.places import read_places

__all__ = ["ask_units"]


class _Found(Protocol):
    @property
    def incomplete(self) -> ProviderError | None:
        """Why a further pass over the text failed."""
        ...


Found = TypeVar("Found", bound=_Found)


async def ask_units(
    build: Build,
    units: Sequence[Mapping[str, Any]],
    ask: Callable[[str], Awaitable[Found]],
    *,
    what: str,
    step: str,
) -> list[Found | None]:
    """Return what each unit's text gave, in their order; ``None`` for one that failed.

    Args:
        build: Whose account is filled.
        units: Rows with ``id`` and ``text``.
        ask: Asks about one text.
        what: What a failed piece is called: ``chunk`` or ``claims``.
        step: What progress calls the work.

    Raises:
        IndexingError: Too many failed, or the model cannot be used at all.
    """
    places = read_places(build.output)
    gate = FailureGate(build, len(units))

    async def one(unit: Mapping[str, Any]) -> Found | None:
        key = unit["id"]
        place = places.get(key, "")
        if gate.known(what, key, place):
            return None
        try:
            found = await ask(unit["text"])
        except HolodeckError as error:
            gate.add(failure_of(error, what, key, place))
            return None
        if found.incomplete is not None:
            gate.add(later_failure(found.incomplete, what, key, place))
        return found

    results = await map_bounded(one, units, build, step)
    gate.close(sum(found is not None for found in results))
    return results
