"""How the modes rank: by hand where a hand can."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from holodeck.errors import SearchError
from holodeck.lib.documents import content_id
from holodeck.lib.ranking.vectors import LEAST_NUMBERS
from holodeck.lib.vectorstore.modes import SEARCH_MODES
from holodeck.lib.vectorstore.search import RANKINGS, Question, Ranked, find
from holodeck.lib.vectorstore.store import ChunkStore, open_store, write_store
from holodeck.models.tool import VectorstoreTool
from holodeck.testing.words import word_vector

from .conftest import WIDTH, MakeStore, units

BOTH, MEANT, SAID = "orion ann", "lyra vega", "orion bob carl dora"


def question(text: str, meant: str | None = None) -> Question:
    """A question with the words ``text`` and the meaning ``meant``."""
    vector = np.array(word_vector(meant or text, WIDTH), dtype=np.float32)
    return Question(text=text, vector=vector)


def ids(store: ChunkStore, found: list[Ranked]) -> list[str]:
    """The ids of what was found."""
    return [store.ids[hit.row] for hit in found]


@pytest.fixture
def store(make_store: MakeStore) -> ChunkStore:
    """Three chunks: one near by words and meaning, one by meaning alone, one by words alone."""
    return make_store([BOTH, MEANT, SAID])


def test_hybrid_is_the_mean_of_cosine_and_share_of_the_best_bm25(store: ChunkStore) -> None:
    """What is found by one half alone has 0 in the other; no chunk is lost."""
    asked = question("orion", meant="ann lyra")
    keyword = dict(zip(store.ids, store.matches("orion").tolist(), strict=True))

    found = find(store, asked, "hybrid", top_k=5)

    assert ids(store, found) == [content_id(text) for text in (BOTH, SAID, MEANT)]
    assert [hit.score for hit in found] == pytest.approx(
        [
            (0.5 + 1) / 2,
            keyword[content_id(SAID)] / keyword[content_id(BOTH)] / 2,
            0.5 / 2,
        ],
        abs=1e-6,
    )


def test_each_mode_goes_by_its_own_half(store: ChunkStore) -> None:
    """Vector search knows no words, keyword search no meaning."""
    asked = question("orion", meant="lyra")

    assert ids(store, find(store, asked, "vector", top_k=5)) == [content_id(MEANT)]
    assert ids(store, find(store, asked, "keyword", top_k=5)) == [
        content_id(BOTH),
        content_id(SAID),
    ]


@pytest.mark.parametrize("mode", SEARCH_MODES)
def test_the_least_similarity_is_a_cosine_in_every_mode(store: ChunkStore, mode: str) -> None:
    """A passage found by its words alone is measured like the others."""
    asked = question("orion", meant="orion ann")

    found = find(store, asked, mode, top_k=5, least_similarity=0.4)

    assert ids(store, found) == [content_id(BOTH)]  # SAID: 1 / sqrt(2 * 4) = 0.35


def test_equals_are_ordered_by_id(make_store: MakeStore) -> None:
    """Of texts that fit equally well the same ones are returned, always."""
    equals = [f"ann word{number}" for number in range(150)]
    store = make_store([*equals, *(f"ann bob word{number}" for number in range(150))])
    first = sorted(content_id(text) for text in equals)[:5]

    assert ids(store, find(store, question("ann"), "vector", top_k=5)) == first


@pytest.mark.parametrize("mode", SEARCH_MODES)
def test_what_is_allowed_is_found_behind_any_number_that_is_not(
    make_store: MakeStore, mode: str
) -> None:
    """However many fit better, the best of those that may be returned are."""
    store = make_store([*(f"ann word{number}" for number in range(300)), "ann bob carl dora"])
    wanted = content_id("ann bob carl dora")
    allowed = np.array([key == wanted for key in store.ids])

    found = find(store, question("ann"), mode, top_k=5, allowed=allowed)

    assert ids(store, found) == [wanted]


@pytest.mark.parametrize("mode", SEARCH_MODES)
def test_what_is_near_enough_is_found_behind_any_number_that_is_not(
    make_store: MakeStore, mode: str
) -> None:
    """However many passages have the words, the one that also means the question is found."""
    far = [f"orion orion bob carl dora word{number}" for number in range(300)]
    near = "lyra ann orion vega some more names that only make it long"
    store = make_store([*far, near])

    found = find(store, question("orion", meant=near), mode, top_k=5, least_similarity=0.9)

    assert ids(store, found) == [content_id(near)]


def test_many_vectors_are_found_as_by_looking_at_all(tmp_path: Path) -> None:
    """Where looks are rough first, the best ten and their scores are those of an exact look."""
    width = 2_048
    count = LEAST_NUMBERS // width + 1
    scale = 1 / np.sqrt(np.arange(width) + 3)
    matrix = (np.random.default_rng(1).standard_normal((count, width)) * scale).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    write_store(tmp_path / "store", units([f"word{number}" for number in range(count)]), matrix)
    store = open_store(tmp_path / "store")

    for row in range(0, count, count // 10):
        vector = matrix[row] + np.float32(0.5) * matrix[row - 7]
        exact = matrix @ vector
        best = np.argsort(-exact)[:10]
        found = find(store, Question(text="?", vector=vector), "vector", top_k=10)
        assert [hit.row for hit in found] == best.tolist()
        assert [hit.score for hit in found] == pytest.approx(exact[best].tolist(), abs=1e-5)
    assert not np.allclose(store.similarities(vector), exact, atol=1e-4)


def test_only_so_many_are_returned(store: ChunkStore) -> None:
    """The best ones."""
    assert ids(store, find(store, question("orion ann"), "hybrid", top_k=1)) == [content_id(BOTH)]


def test_a_mode_that_needs_a_vector_says_so(store: ChunkStore) -> None:
    """A question that was not embedded is an error, never a search for something else."""
    with pytest.raises(SearchError, match="not embedded"):
        find(store, Question(text="orion"), "vector", top_k=1)


def test_yaml_and_the_table_know_the_same_modes() -> None:
    """A mode that YAML accepts exists, and the other way round; the default is the first."""
    field = VectorstoreTool.model_fields["mode"]

    assert field.annotation is not None
    assert list(SEARCH_MODES) == list(RANKINGS) == list(field.annotation.__args__)
    assert field.default == next(iter(SEARCH_MODES))
