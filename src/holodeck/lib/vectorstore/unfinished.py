"""Vectors of a build that was stopped before it was published: the next one goes on from them."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["UnfinishedVectors"]

logger = logging.getLogger(__name__)


class UnfinishedVectors:
    """A folder with one file for each batch that was embedded.

    Args:
        folder: Of this embedding model alone.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> tuple[list[str], list[NDArray[np.float32]]]:
        """Return ids and vectors; a file that cannot be read is dropped with a warning."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        ids: list[str] = []
        vectors: list[NDArray[np.float32]] = []
        for file in self._files():
            try:
                batch = pq.read_table(file)
                found = batch["id"].to_pylist()
                matrix = batch["vector"].combine_chunks().flatten().to_numpy()
            except (OSError, KeyError, pa.ArrowException) as error:
                logger.warning(
                    "%s is damaged (%s) and was dropped: its texts are embedded again",
                    file,
                    type(error).__name__,
                )
                file.unlink(missing_ok=True)
                continue
            ids += found
            vectors += list(matrix.reshape(len(found), -1))
        return ids, vectors

    def add(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep a batch; once this returns, a crash does not lose it."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._folder.mkdir(parents=True, exist_ok=True)
        column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
        number = len(self._files()) + 1
        staged = self._folder / "staged"
        pq.write_table(pa.table({"id": pa.array(list(ids), pa.string()), "vector": column}), staged)
        staged.replace(self._folder / f"{number:06d}-{ids[0]}.parquet")

    def clear(self) -> None:
        """Forget everything."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("*.parquet"))
