"""What was written is found: exactly by vector, by words of any script, with all places."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from holodeck.errors import IndexingError, TableNotFoundError
from holodeck.lib.documents import Place, content_id
from holodeck.lib.ranking.terms import question_terms
from holodeck.lib.vectorstore.store import Ranked, open_store, write_store
from holodeck.testing.words import word_vector

from .conftest import WIDTH, MakeStore, units


def vector(text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(word_vector(text, WIDTH), dtype=np.float32)


def files_below(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_chunks_come_back_in_the_asked_order_with_their_places(make_store: MakeStore) -> None:
    """A text that stands twice is stored once; page and row survive as what they are."""
    store = make_store(["Ann runs Orion", "Bob runs Vega", "Ann runs Orion"])
    ann, bob = content_id("Ann runs Orion"), content_id("Bob runs Vega")

    chunks = store.read([bob, ann])

    assert [chunk.text for chunk in chunks] == ["Bob runs Vega", "Ann runs Orion"]
    assert [at.place for at in chunks[1].places] == [Place(path="0.txt"), Place(path="2.txt")]
    assert len(store.ids) == 2
    assert store.read([]) == []


def test_nearest_is_the_exact_cosine(make_store: MakeStore) -> None:
    """Scores are those computed by hand; what shares nothing with the question is left out."""
    store = make_store(["ann orion", "ann bob vega lyra", "zoe"])

    assert store.nearest(vector("ann orion"), 10) == [
        Ranked(id=content_id("ann orion"), score=1.0),
        Ranked(id=content_id("ann bob vega lyra"), score=round(1 / 8**0.5, 6)),
    ]


def test_equals_are_ordered_by_id(make_store: MakeStore) -> None:
    """Of texts that fit equally well the same ones are returned, always."""
    equals = [f"ann word{number}" for number in range(150)]
    store = make_store([*equals, *(f"ann bob word{number}" for number in range(150))])
    first = sorted(content_id(text) for text in equals)[:5]

    assert [hit.id for hit in store.nearest(vector("ann"), 5)] == first


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which ship sailed?", "The ships were sailing home"),
        ("arger", "Ärger über die Straße"),
        ("STRASSE", "Ärger über die Straße"),
        ("京大", "北京大学的历史"),
        ("大学在哪里", "北京大学的历史"),
        ("데이터", "데이터베이스"),
        ("ทะเล", "เขาไปทะเล"),
        ("Москва", "город Москва"),
        ("the", "the"),
    ],
)
def test_words_are_found_in_any_script(make_store: MakeStore, question: str, text: str) -> None:
    """English endings, accents and case do not matter; nor that a script has no blanks."""
    store = make_store([text, "zoe eats figs", "猫は寝る"])

    assert [hit.id for hit in store.matching(question_terms(question), 5)] == [content_id(text)]


def test_a_rarer_word_weighs_more(make_store: MakeStore) -> None:
    """BM25: of two passages with one asked word each, the one with the rarer word is first."""
    store = make_store(["orion comes", "ann goes", "ann sings", "ann reads"])

    hits = store.matching(["ann", "orion"], 5)

    assert hits[0].id == content_id("orion comes")
    assert len(hits) == 4
    assert hits[1].score == hits[2].score == hits[3].score
    assert [hit.id for hit in hits[1:]] == sorted(hit.id for hit in hits[1:])


@pytest.mark.parametrize("terms", [[], ["zyzzyva"], ["a:b", '"', "(", "*", "AND"]])
def test_what_is_nowhere_is_not_found(make_store: MakeStore, terms: list[str]) -> None:
    """No term is read as an operator, and none at all finds nothing."""
    assert make_store(["Ann runs Orion"]).matching(terms, 5) == []


def test_an_empty_store_answers_with_nothing(make_store: MakeStore) -> None:
    """No chunks is an ordinary store."""
    store = make_store([])

    assert store.ids == ()
    assert store.width == 0
    assert store.matching(["ann"], 5) == []


def test_opening_changes_nothing(make_store: MakeStore, tmp_path: Path) -> None:
    """Reading a store writes no file and deletes none."""
    make_store(["Ann runs Orion"])
    before = files_below(tmp_path)

    open_store(tmp_path / "store").nearest(vector("ann"), 1)

    assert files_below(tmp_path) == before


def test_a_damaged_store_is_an_error_with_the_mend(make_store: MakeStore, tmp_path: Path) -> None:
    """A store that cannot be opened is neither empty nor a traceback."""
    make_store(["Ann runs Orion"])
    for file in (tmp_path / "store").rglob("*.manifest"):
        file.write_bytes(b"damaged")

    with pytest.raises(TableNotFoundError, match="'holodeck index'"):
        open_store(tmp_path / "store")
    with pytest.raises(TableNotFoundError):
        open_store(tmp_path / "nowhere")


def test_a_store_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """The message says that nothing was lost."""
    (tmp_path / "file").touch()

    with pytest.raises(IndexingError, match="The old index is untouched"):
        write_store(tmp_path / "file" / "store", units(["a"]), np.ones((1, 2), dtype=np.float32))
