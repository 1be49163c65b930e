"""Provider ``embedded``: no key, no server, no download.

It has no language model: vectors come from word vectors inside a package, and everything that a
model would write is quoted from the documents instead.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from holodeck.errors import ConfigError
from holodeck.lib.contracts import Embedder
from holodeck.lib.extras import require_extra
from holodeck.lib.providers.static_vectors import WIDTHS, shared_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from holodeck.lib.providers.access import ModelAccess

__all__ = ["WordLlamaEmbedder"]


class WordLlamaEmbedder(Embedder):
    """Static word vectors, averaged over a text: fast, and blind to word order.

    Raises:
        ConfigError: The model is not ``wordllama``, or its width is not one of ``WIDTHS``.
        MissingExtraError: The extra ``embedded`` is not installed.
    """

    def __init__(self, access: ModelAccess) -> None:
        if access.name != "wordllama":
            raise ConfigError(
                f"provider: embedded has one embedding model, 'wordllama', and no "
                f"{access.name!r}: write 'wordllama' or leave the name out",
                field=access.where,
            )
        width = 256 if access.dimensions is None else access.dimensions
        if width not in WIDTHS:
            raise ConfigError(
                f"the embedding model 'wordllama' has vectors of 64, 128 or 256 numbers, "
                f"not {width}: choose one of these or leave the width out",
                field=access.where,
            )
        require_extra("embedded", "provider: embedded")
        self.provider = access.provider
        self.name = access.name
        self._width = width

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text; reads the vectors at the first call."""
        return await asyncio.to_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        return shared_vectors().embed(texts, self._width)
