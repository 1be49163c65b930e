"""Embedding many texts: in batches, at once, each vector paid for once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holodeck.errors import ProviderError
from holodeck.lib.contracts import Embedder
from holodeck.lib.providers.batches import map_or_cancel, split_into_batches
from holodeck.lib.providers.reply_keys import vector_key
from holodeck.lib.providers.reply_store import ReplyStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["BatchedEmbedder", "CachedEmbedder"]


class BatchedEmbedder(Embedder):
    """Hand texts on in batches, all at once: each is retried, limited and counted by itself.

    Each distinct text is asked for once a call.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.provider = embedder.provider
        self.name = embedder.name
        self._embedder = embedder

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, in order."""
        import numpy as np

        distinct = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        batches = list(split_into_batches(list(distinct))) or [texts]
        rows = await map_or_cancel(self._embedder.embed, batches)
        widths = {each.shape[1] for each in rows}
        if len(widths) > 1:
            raise ProviderError(
                f"{self.provider} model {self.name!r} returned vectors of different widths: "
                f"{sorted(widths)}"
            )
        return np.concatenate(rows)[[distinct[text] for text in texts]]

    async def close(self) -> None:
        """Close the embedder."""
        await self._embedder.close()


class CachedEmbedder(Embedder):
    """Ask only for vectors that are not kept yet, each distinct text once, batch by batch.

    A batch is kept when it arrives, so a run that fails later does not pay for it again. A text
    that another call asks for already is waited for.

    Args:
        embedder: Asked in batches, several at once.
        store: Stays open; its owner closes it.
        model: What the server calls the model, where that is not the embedder's name.
        dimensions: The width that the embedder asks its model for, where it asks for one.
        width: Of the vectors that are due, where it is known: a kept one of another width is of
            another model that had the same name, and is asked for again and replaced.
    """

    def __init__(
        self,
        embedder: Embedder,
        store: ReplyStore,
        *,
        model: str | None = None,
        dimensions: int | None = None,
        width: int | None = None,
    ) -> None:
        self.provider = embedder.provider
        self.name = embedder.name
        self._embedder = embedder
        self._store = store
        self._model = model or embedder.name
        self._dimensions = dimensions
        self._in_flight: dict[str, Future[None]] = {}
        self._claiming = threading.Lock()
        self._width = width

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, in order.

        Raises:
            ProviderError: Also when the model now returns another width than the kept vectors.
        """
        import numpy as np

        keys = {text: self.key_of(text) for text in texts}
        kept = self._kept(list(keys.values()))
        missing = [text for text, key in keys.items() if key not in kept]

        async def fill(batch: Sequence[str]) -> dict[str, NDArray[np.float32]]:
            rows = await self._embedder.embed(batch)
            fresh = {keys[text]: row for text, row in zip(batch, rows, strict=True)}
            self._check_width(kept, fresh)
            self._store.put_vectors(fresh, f"{self.provider}/{self.name}")
            return fresh

        while missing:
            with self._claimed(missing) as (ours, others):
                for fresh in await map_or_cancel(fill, list(split_into_batches(ours))):
                    kept.update(fresh)
            for other in others:
                await asyncio.wrap_future(other)
            left = [text for text in missing if keys[text] not in kept]
            kept.update(self._kept([keys[text] for text in left]))
            missing = [text for text in left if keys[text] not in kept]  # the others failed
        if not texts:
            return np.zeros((0, self._dimensions or 0), dtype=np.float32)
        return np.stack([kept[keys[text]] for text in texts])

    @contextmanager
    def _claimed(self, texts: Sequence[str]) -> Iterator[tuple[list[str], list[Future[None]]]]:
        """Yield the texts that nobody asks for now, and whom to wait for of the others."""
        with self._claiming:
            others = {text: self._in_flight[text] for text in texts if text in self._in_flight}
            ours = [text for text in texts if text not in others]
            done: Future[None] = Future()
            done.set_running_or_notify_cancel()  # who waits and is cancelled leaves it alone
            self._in_flight.update(dict.fromkeys(ours, done))
        try:
            yield ours, list(dict.fromkeys(others.values()))
        finally:
            with self._claiming:
                for text in ours:
                    del self._in_flight[text]
            done.set_result(None)

    def kept(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the rows that are kept, by text."""
        keys = {text: self.key_of(text) for text in texts}
        rows = self._kept(list(keys.values()))
        return {text: rows[key] for text, key in keys.items() if key in rows}

    def key_of(self, text: str) -> str:
        """Return the key under which the vector of ``text`` is kept."""
        return vector_key(self.provider, self._model, self._dimensions, text)

    def _kept(self, keys: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        found = self._store.get_vectors(keys)
        if self._width is None:
            return found
        return {key: row for key, row in found.items() if len(row) == self._width}

    def _check_width(
        self, kept: dict[str, NDArray[np.float32]], fresh: dict[str, NDArray[np.float32]]
    ) -> None:
        old = {len(row) for row in kept.values()}
        new = {len(row) for row in fresh.values()}
        if old and old != new:
            raise ProviderError(
                f"{self.provider} model {self.name!r} returns vectors of {sorted(new)} numbers, "
                f"and the kept ones have {sorted(old)}: the server's model has changed under its "
                "name. Embed everything anew with 'holodeck index --force'"
            )

    async def close(self) -> None:
        """Close the embedder."""
        await self._embedder.close()
