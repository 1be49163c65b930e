"""Why a search found nothing: what its reader should know, and can change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from holodeck.lib.vectorstore.search import Choice, Question, rank_by_vector

if TYPE_CHECKING:
    from holodeck.lib.vectorstore.store import ChunkStore, Flags

__all__ = ["nothing_is_near", "nothing_passes"]

_SHOWN = 5


def nothing_passes(store: ChunkStore, wanted: Mapping[str, str | int]) -> str:
    """Say which condition of a filter no place of the documents meets, and what there is."""
    said = f"nothing in the documents passes the filter {_said(wanted)}"
    for name, value in wanted.items():
        if not store.wanted({name: value}).any():
            return f"{said}: {_unmet(store, name, value)}"
    return f"{said}: each condition is met somewhere, and all of them at no place"


def _unmet(store: ChunkStore, name: str, value: str | int) -> str:
    if name == "path":
        return f"no path fits {value}; there are {_some(store.paths)}"
    if name in store.fields:
        return f"no record has {value} as its {name}"
    known = f"have the fields {', '.join(sorted(store.fields))}" if store.fields else "have none"
    return f"no document has a {name} of {value}; of fields, the records {known}"


def _said(wanted: Mapping[str, str | int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in wanted.items())


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {more:,} more" if more > 0 else shown


def nothing_is_near(
    store: ChunkStore, question: Question, limit: float, allowed: Flags | None
) -> str:
    """Say how far the nearest passage stays below a least similarity."""
    _, cosines = rank_by_vector(store, question, Choice(count=1, allowed=allowed))
    if len(cosines) and cosines[0] >= limit:
        return (
            f"no passage that shares a word with the question reaches min_similarity_score "
            f"{limit:g}: ask in the documents' words, or search in another mode"
        )
    nearest = f"{cosines[0]:.2f}" if len(cosines) else "0 or less"
    return (
        f"no passage reaches min_similarity_score {limit:g}: the nearest has {nearest}. Lower it, "
        "or ask in the documents' words"
    )
