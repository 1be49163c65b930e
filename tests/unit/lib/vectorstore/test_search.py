"""How the modes rank: by hand where a hand can."""

from __future__ import annotations

import numpy as np
import pytest

from holodeck.errors import SearchError
from holodeck.lib.documents import content_id
from holodeck.lib.vectorstore.search import SEARCH_MODES, Question, find
from holodeck.lib.vectorstore.store import ChunkStore
from holodeck.models.tool import VectorstoreTool
from holodeck.testing.words import word_vector

from .conftest import WIDTH, MakeStore

BOTH, MEANT, SAID = "orion ann", "lyra vega", "orion bob carl dora"


def question(text: str, meant: str | None = None) -> Question:
    """A question with the words ``text`` and the meaning ``meant``."""
    vector = np.array(word_vector(meant or text, WIDTH), dtype=np.float32)
    return Question(text=text, vector=vector)


@pytest.fixture
def store(make_store: MakeStore) -> ChunkStore:
    """Three chunks: one near by words and meaning, one by meaning alone, one by words alone."""
    return make_store([BOTH, MEANT, SAID])


def test_hybrid_is_the_mean_of_cosine_and_share_of_the_best_bm25(store: ChunkStore) -> None:
    """What is found by one half alone has 0 in the other; no chunk is lost."""
    asked = question("orion", meant="ann lyra")
    keyword = {hit.id: hit.score for hit in store.matching(["orion"], 5)}

    found = find(store, asked, "hybrid", top_k=5)

    assert [hit.id for hit in found] == [content_id(text) for text in (BOTH, SAID, MEANT)]
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

    assert [hit.id for hit in find(store, asked, "vector", top_k=5)] == [content_id(MEANT)]
    assert [hit.id for hit in find(store, asked, "keyword", top_k=5)] == [
        content_id(BOTH),
        content_id(SAID),
    ]


@pytest.mark.parametrize("mode", SEARCH_MODES)
def test_the_least_similarity_is_a_cosine_in_every_mode(store: ChunkStore, mode: str) -> None:
    """A passage found by its words alone is measured like the others."""
    asked = question("orion", meant="orion ann")

    found = find(store, asked, mode, top_k=5, least_similarity=0.4)

    assert [hit.id for hit in found] == [content_id(BOTH)]  # SAID: 1 / sqrt(2 * 4) = 0.35


def test_only_so_many_are_returned(store: ChunkStore) -> None:
    """The best ones."""
    assert [hit.id for hit in find(store, question("orion ann"), "hybrid", top_k=1)] == [
        content_id(BOTH)
    ]


def test_a_mode_that_needs_a_vector_says_so(store: ChunkStore) -> None:
    """A question that was not embedded is an error, never a search for something else."""
    with pytest.raises(SearchError, match="not embedded"):
        find(store, Question(text="orion"), "vector", top_k=1)


def test_yaml_and_the_table_know_the_same_modes() -> None:
    """A mode that YAML accepts exists, and the other way round; the default is the first."""
    field = VectorstoreTool.model_fields["mode"]

    assert field.annotation is not None
    assert list(SEARCH_MODES) == list(field.annotation.__args__)
    assert field.default == next(iter(SEARCH_MODES))
