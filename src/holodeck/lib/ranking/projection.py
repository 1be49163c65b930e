"""Rough looks at many vectors: over few axes, then over more, so that few are measured whole.

Vectors are projected to the axes along which most of them lie. A first look goes over the leading
axes and all vectors, a second one over the other axes and the likeliest. Whether that finds what it
should is tried out on the vectors themselves; where it does not, there is no projection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holodeck.lib.indexes.arrays import Arrays
from holodeck.lib.ranking.fuse import best_rows

__all__ = ["LEAST_RECALL", "MEASURED", "Look", "Projection", "find_projection"]

SHARPENED = 3_000
"""Vectors that look best at first and are looked at again; of few vectors, a quarter."""
MEASURED = 200
"""Vectors that look best then and are measured whole."""
AXES = 256
"""Axes at the most; half as many as a vector has numbers, where that is less."""
LOOKS = ((48, 128), (80, AXES), (128, AXES))
"""How many axes the first look goes over, and how many both: what is tried, the shortest first."""
LEAST_RECALL = 0.995
"""Share of the nearest ten that a projection must lead to."""
NEAREST = 10
TRIED = 96
"""Questions that a projection is tried with."""
SAMPLE = 8_192
"""Vectors that the axes are found by."""
TURNS = 2
"""Rounds of orthogonal iteration; any axes near the leading ones serve."""
AT_ONCE = 65_536
"""Vectors whose scores for all of these questions are held at once."""
BLOCK = 64
"""Vectors of a block. Blocks are multiplied one by one: so small, that none is given to threads,
which cost more than they save and wait for one another on a busy machine."""
GUESSED = 4_096
"""Scores by which it is guessed what the likeliest reach."""

Floats = NDArray[np.float32]
Places = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class Look:
    """What a projection says of one question.

    Attributes:
        scores: Rough dot product with every vector.
        mean: Of the exact dot products, about.
        spread: Standard deviation of the exact dot products, about.
    """

    scores: Floats
    mean: float
    spread: float


@dataclass(frozen=True, kw_only=True)
class Projection:
    """Vectors by what they are along a few axes.

    Attributes:
        axes: At right angles, of length 1.
        first: What the vectors are along the leading axes, in blocks of so many vectors, axis by
            axis; the last block is filled up with zeros.
        second: What each is along the other axes.
        center: Mean of the vectors.
        squares: Mean square of what they are along each axis; then of what they are along any other
            direction.
    """

    axes: Floats
    first: Floats
    second: Floats
    center: Floats
    squares: Floats

    @classmethod
    def of(cls, matrix: Floats, axes: Floats, rough: Floats, leading: int) -> Projection:
        """Return vectors that were projected to axes, the leading ones for the first look."""
        count, width = matrix.shape
        first = np.zeros((-(-count // BLOCK) * BLOCK, leading), dtype=np.float32)
        first[:count] = rough[:, :leading]
        along = np.einsum("ij,ij->j", rough, rough) / count
        whole = float(np.vecdot(matrix, matrix).mean())
        other = max(0.0, whole - float(along.sum())) / max(1, width - len(axes))
        return cls(
            axes=axes,
            first=np.ascontiguousarray(first.reshape(-1, BLOCK, leading).transpose(0, 2, 1)),
            second=np.ascontiguousarray(rough[:, leading:]),
            center=matrix.mean(axis=0),
            squares=np.append(along, other).astype(np.float32),
        )

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Projection:
        """Return what ``arrays`` of another one said."""
        return cls(**{name: arrays[name] for name in cls.__dataclass_fields__})

    @property
    def arrays(self) -> Arrays:
        """The projection as arrays."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def leading(self) -> int:
        """How many axes the first look goes over."""
        return int(self.first.shape[1])

    def look(self, query: Floats) -> Look:
        """Look at all vectors, and again at the likeliest."""
        along = np.vecdot(self.axes, query)
        leading = self.leading
        scores: Floats = np.matmul(along[:leading], self.first).reshape(-1)[: len(self.second)]
        sharpened = min(SHARPENED, len(scores) // 4)
        likely = np.flatnonzero(scores >= _reached_by(scores, sharpened))
        scores[likely] += np.vecdot(self.second[likely], along[leading:])
        mean, spread = self._moments(query, along)
        return Look(scores=scores, mean=mean, spread=spread)

    def _moments(self, query: Floats, along: Floats) -> tuple[float, float]:
        """Return about what mean and standard deviation the exact dot products have."""
        mean = float(np.vecdot(self.center, query))
        known = float(np.vecdot(self.squares[:-1], along * along))
        rest = max(0.0, float(np.vecdot(query, query)) - float(np.vecdot(along, along)))
        square = known + rest * float(self.squares[-1])
        return mean, float(np.sqrt(max(0.0, square - mean * mean)))


def _reached_by(scores: Floats, count: int) -> float:
    """Return what about ``count`` of the scores reach."""
    sample = scores[:: max(1, len(scores) // GUESSED)]
    place = len(sample) - max(1, count * len(sample) // len(scores))
    return float(np.partition(sample, place)[place])


def find_projection(matrix: Floats) -> Projection | None:
    """Return the projection that leads to the nearest by the shortest first look, if there is one.

    Args:
        matrix: Not empty.
    """
    axes = _leading_axes(matrix[:: max(1, len(matrix) // SAMPLE)])
    rough = matrix @ axes.T
    queries = np.stack(list(_questions_like(matrix)))
    nearest = _nearest(matrix, queries)
    for leading, both in LOOKS:
        if leading < len(axes):
            projection = Projection.of(matrix, axes[:both], rough[:, :both], leading)
            found = [best_rows(projection.look(query).scores, MEASURED) for query in queries]
            shares = [np.isin(*pair).mean() for pair in zip(nearest, found, strict=True)]
            if np.mean(shares) >= LEAST_RECALL:
                return projection
    return None


def _nearest(matrix: Floats, queries: Floats) -> Places:
    """Return the places of the nearest vectors for each query, in any order."""
    places = np.zeros((len(queries), 0), dtype=np.intp)
    scores = np.zeros((len(queries), 0), dtype=np.float32)
    for start in range(0, len(matrix), AT_ONCE):
        found = queries @ matrix[start : start + AT_ONCE].T
        here = np.broadcast_to(np.arange(start, start + found.shape[1]), found.shape)
        scores = np.concatenate((scores, found), axis=1)
        places = np.concatenate((places, here), axis=1)
        best = np.argpartition(scores, -min(NEAREST, scores.shape[1]), axis=1)[:, -NEAREST:]
        scores = np.take_along_axis(scores, best, axis=1)
        places = np.take_along_axis(places, best, axis=1)
    return places


def _questions_like(matrix: Floats) -> Iterator[Floats]:
    """Yield vectors such as questions have: of one thing, or between two, nearer to one or not."""
    chance = np.random.default_rng(0)
    for number in range(TRIED):
        one, other = matrix[chance.integers(0, len(matrix), 2)]
        yield one + np.float32(number % 3 / 2) * other


def _leading_axes(sample: Floats) -> Floats:
    """Return the axes along which most of the sample lies, the foremost first."""
    width = sample.shape[1]
    chance = np.random.default_rng(0)
    axes = chance.standard_normal((width, min(AXES, width // 2))).astype(np.float32)
    for _ in range(TURNS):
        axes = np.linalg.qr(sample.T @ (sample @ axes))[0].astype(np.float32)
    _, turn = np.linalg.eigh((sample @ axes).T @ (sample @ axes))
    return np.ascontiguousarray((axes @ turn[:, ::-1]).T.astype(np.float32))
