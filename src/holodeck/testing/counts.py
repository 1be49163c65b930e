"""What a model's server was asked for, by kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Counts", "KindCount"]


@dataclass
class KindCount:
    """Requests of one kind.

    Attributes:
        calls: Requests that arrived, failed ones too.
        prompt_tokens: Of the answered ones.
        completion_tokens: Of the answered ones.
        in_flight: Being answered now.
        in_flight_max: Greatest number that was being answered at once.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    in_flight: int = 0
    in_flight_max: int = 0

    def begin(self) -> None:
        """Count a request in."""
        self.calls += 1
        self.in_flight += 1
        self.in_flight_max = max(self.in_flight_max, self.in_flight)

    def end(self) -> None:
        """Count a request out."""
        self.in_flight -= 1

    def spend(self, prompt_tokens: int, completion_tokens: int) -> None:
        """Count the tokens of an answer."""
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens


class Counts(Mapping[str, KindCount]):
    """Kind → its counts; a kind that was never asked for has zeros. ``total`` is over all."""

    def __init__(self) -> None:
        self._kinds: dict[str, KindCount] = {}
        self.total = KindCount()

    def __getitem__(self, kind: str) -> KindCount:
        return self._kinds.get(kind, KindCount())

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    def of(self, kind: str) -> tuple[KindCount, KindCount]:
        """Return the counts that a request of ``kind`` adds to."""
        return self._kinds.setdefault(kind, KindCount()), self.total
