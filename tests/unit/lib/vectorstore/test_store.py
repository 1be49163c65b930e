"""What was written is found: exactly by vector, by words of any script, with all places."""

from __future__ import annotations

import json
from pathlib import Path

import lancedb
import numpy as np
import pytest

from holodeck.errors import IndexingError, TableNotFoundError
from holodeck.lib.documents import Document, Place, content_id
from holodeck.lib.indexes.files import DERIVED_FILE
from holodeck.lib.indexes.text_units import prepare
from holodeck.lib.vectorstore.store import open_store, write_store
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

    chunks = store.read([store.ids.index(bob), store.ids.index(ann)])

    assert [chunk.text for chunk in chunks] == ["Bob runs Vega", "Ann runs Orion"]
    assert [at.place for at in chunks[1].places] == [Place(path="0.txt"), Place(path="2.txt")]
    assert len(store.ids) == 2
    assert store.read([]) == []


def test_similarity_is_the_exact_cosine(make_store: MakeStore) -> None:
    """Scores are those computed by hand, of all chunks and of some."""
    texts = ["ann orion", "ann bob vega lyra", "zoe"]
    store = make_store(texts)
    by_hand = dict(zip(map(content_id, texts), (1.0, 8**-0.5, 0.0), strict=True))
    expected = [by_hand[key] for key in store.ids]

    assert store.similarities(vector("ann orion")) == pytest.approx(expected, abs=1e-6)
    found = store.cosines(np.array([2, 0]), vector("ann orion"))
    assert found == pytest.approx([expected[2], expected[0]], abs=1e-6)


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

    assert [store.ids[row] for row in store.matches(question).nonzero()[0]] == [content_id(text)]


def test_a_rarer_word_weighs_more(make_store: MakeStore) -> None:
    """BM25: of two passages with one asked word each, the one with the rarer word is first."""
    texts = ["orion comes", "ann goes", "ann sings", "ann reads"]
    store = make_store(texts)

    scores = dict(zip(store.ids, store.matches("ann orion").tolist(), strict=True))

    orion, *anns = (scores[content_id(text)] for text in texts)
    assert orion > anns[0] > 0
    assert len(set(anns)) == 1


@pytest.mark.parametrize("question", ["zyzzyva", '" ( * :', "-"])
def test_what_is_nowhere_is_not_found(make_store: MakeStore, question: str) -> None:
    """Nothing is read as an operator."""
    assert not make_store(["Ann runs Orion"]).matches(question).any()


def test_an_empty_store_answers_with_nothing(make_store: MakeStore) -> None:
    """No chunks is an ordinary store."""
    store = make_store([])

    assert store.ids == []
    assert store.width == 0
    assert store.matches("ann").tolist() == []


def test_opening_changes_nothing(make_store: MakeStore, tmp_path: Path) -> None:
    """Reading a store writes no file and deletes none."""
    make_store(["Ann runs Orion"])
    before = files_below(tmp_path)

    open_store(tmp_path / "store").similarities(vector("ann"))

    assert files_below(tmp_path) == before


def test_a_damaged_store_is_an_error_with_the_mend(make_store: MakeStore, tmp_path: Path) -> None:
    """A store that cannot be opened is neither empty nor a traceback."""
    make_store(["Ann runs Orion"])
    (tmp_path / "store" / DERIVED_FILE).unlink()
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


def test_a_record_of_many_chunks_is_stored_once(tmp_path: Path) -> None:
    """Its fields come with every chunk, and take the room of one, in table and arrays."""
    fields = {f"field{number}": f"word{number}" for number in range(2_000)}
    record = Document(place=Place(path="log.json"), text=" ".join(fields.values()), metadata=fields)
    prepared = prepare([record], 50, 0)
    store = tmp_path / "store"
    vectors = np.ones((len(prepared.text_units), 2), dtype=np.float32)
    write_store(store, prepared.text_units, vectors, prepared.records)
    assert len(prepared.text_units) > 100
    table = lancedb.connect(str(store)).open_table("chunks").to_arrow()
    places = [place for places in table["places"].to_pylist() for place in places]
    assert [json.loads(at["metadata"]) for at in places if at["metadata"]] == [fields]
    assert (store / DERIVED_FILE).stat().st_size < 1_000_000

    for derived_again in (False, True):
        if derived_again:
            (store / DERIVED_FILE).unlink()
        opened = open_store(store)
        for chunk in opened.read([0, len(opened) - 1]):
            assert [dict(at.record.metadata) for at in chunk.places] == [fields]
        assert opened.owners(opened.wanted({"field7": "word7"})).all()
