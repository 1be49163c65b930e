"""The walk over entities, relationships and text units."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from holodeck.lib.graphrag.spread import GREAT, Spread, spread_over
from holodeck.lib.ranking.fuse import best_rows

pytestmark = pytest.mark.unit


def chain(weights: tuple[float, ...] = (1.0, 1.0)) -> Spread:
    """Return entities 0 – 1 – 2 with a text unit each, and a text unit that names nobody."""
    return spread_over(
        entities=3,
        units=4,
        sources=np.array([0, 1]),
        targets=np.array([1, 2]),
        weights=np.array(weights),
        mentioned=np.array([0, 1, 2]),
        mentions=np.array([0, 1, 2]),
    )


def walk(spread: Spread, seeds: list[float]) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Walk from every node that has a seed."""
    return spread.walk(np.arange(len(seeds)), np.array(seeds))


def test_a_walk_is_at_one_place_at_a_time() -> None:
    """The shares are a distribution, as far as the last steps are still to come."""
    entities, units = walk(chain(), [1.0, 0, 0, 0, 0, 0, 0])

    assert entities.sum() + units.sum() == pytest.approx(1.0)


def test_what_is_nearer_is_met_more_often() -> None:
    """Each step away from the seed costs; what nothing leads to is never met."""
    _, units = walk(chain(), [1.0, 0, 0, 0, 0, 0, 0])

    assert units[0] > units[1] > units[2] > units[3] == 0


def test_a_heavier_relationship_is_walked_more_often() -> None:
    """The weight of a relationship is the share of the steps that take it."""
    _, even = walk(chain(), [0, 1.0, 0, 0, 0, 0, 0])
    _, heavy = walk(chain((9.0, 1.0)), [0, 1.0, 0, 0, 0, 0, 0])

    assert even[0] == pytest.approx(even[2])
    assert heavy[0] > heavy[2]


def test_a_text_unit_that_names_nobody_is_found_as_a_seed() -> None:
    """Passages without entities are walked from like all others."""
    entities, units = walk(chain(), [0, 0, 0, 0, 0, 0, 1.0])

    assert units[3] > 0
    assert not entities.any()


def test_a_walk_from_nowhere_meets_nothing() -> None:
    """Zero seeds and an empty graph give zeros, not a division by zero."""
    empty = spread_over(
        entities=0,
        units=0,
        sources=np.zeros(0, dtype=np.int64),
        targets=np.zeros(0, dtype=np.int64),
        weights=np.zeros(0),
        mentioned=np.zeros(0, dtype=np.int64),
        mentions=np.zeros(0, dtype=np.int64),
    )

    assert not any(part.any() for part in walk(chain(), [0.0] * 7))
    assert all(part.size == 0 for part in walk(empty, []))


def great(nodes: int) -> Spread:
    """Return groups of ten that hang together loosely, and a hub that half of the graph names."""
    chance = np.random.default_rng(5)
    near = np.arange(3 * nodes) % nodes
    sources = np.concatenate((near, np.arange(nodes), np.zeros(nodes // 2, dtype=np.int64)))
    targets = np.concatenate(
        (
            near // 10 * 10 + chance.integers(0, 10, len(near)),
            chance.integers(0, nodes, nodes),
            chance.integers(1, nodes, nodes // 2),
        )
    )
    return spread_over(
        entities=nodes,
        units=nodes // 3,
        sources=sources,
        targets=targets,
        weights=np.ones(len(sources)),
        mentioned=np.arange(nodes),
        mentions=np.arange(nodes) // 3 % (nodes // 3),
    )


def test_a_great_graph_is_walked_near_the_seeds_and_gives_what_the_whole_walk_gives() -> None:
    """The exact walk is the oracle: of the twenty texts that lead, one at most is another."""
    spread = great(9_000)
    assert len(spread.steps.rows) > GREAT
    shared = []
    for seed in range(1, 9_000, 900):
        nodes = np.array([seed, seed + 20, seed + 300, spread.entities + seed // 4])
        weights = np.array([3.0, 2, 1, 1])
        _, units = spread.walk(nodes, weights)
        _, exact = spread.walk(nodes, weights, least=0)
        leading = [set(best_rows(each, 20).tolist()) for each in (units, exact)]
        shared.append(len(leading[0] & leading[1]) / 20)

    assert np.mean(shared) >= 0.95


def test_a_walk_near_the_seeds_loses_only_what_is_less_than_the_least() -> None:
    """With next to no least, a walk that is followed near its seeds is the whole walk."""
    spread = great(900)
    nodes, weights = np.array([5, 700, 5, 950]), np.array([1.0, 2.0, 0.5, 1.0])
    near = np.concatenate(spread.walk(nodes, weights, least=1e-300))
    whole = np.concatenate(spread.walk(nodes, weights, least=0))

    assert near == pytest.approx(whole, abs=1e-12)
