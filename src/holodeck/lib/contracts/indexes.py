"""What is told of an index: while it is built, and afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from holodeck.lib.contracts.spending import Spending, Spent

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "BuildAccount",
    "Failure",
    "IndexPlaces",
    "IndexStatus",
    "Progress",
    "ProgressListener",
    "RetryFailed",
]


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
