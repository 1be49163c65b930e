"""Many texts, each vector paid for once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from holodeck.errors import ProviderError
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.embedding_cache import BatchedEmbedder, CachedEmbedder
from holodeck.lib.providers.limits import LimitedEmbedder
from holodeck.lib.providers.openai import OpenAIEmbedder
from holodeck.lib.providers.reply_store import ReplyStore
from holodeck.testing import Fault, ModelServer, WordEmbedder
from holodeck.testing.words import word_vector


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ReplyStore]:
    """Return an empty store."""
    with ReplyStore(tmp_path / "replies.sqlite") as opened:
        yield opened


async def test_each_distinct_text_is_asked_for_once(store: ReplyStore) -> None:
    """Repeats within a call and over calls cost nothing, and rows keep the order of the texts."""
    inner = WordEmbedder(width=16)
    embedder = CachedEmbedder(inner, store)

    first = await embedder.embed(["Bob", "Ann", "Bob"])
    second = await CachedEmbedder(inner, store).embed(["Ann", "Cara", "Bob"])

    assert inner.embedded == ["Bob", "Ann", "Cara"]
    rows = {name: word_vector(name, 16) for name in ("Ann", "Bob", "Cara")}
    expected = np.array([rows["Bob"], rows["Ann"], rows["Bob"]], dtype=np.float32)
    assert np.array_equal(first, expected)
    assert np.array_equal(second[2], expected[0])


async def test_another_model_or_width_has_vectors_of_its_own(store: ReplyStore) -> None:
    """A changed model of the same width is not answered from the old one's vectors."""
    old, new = WordEmbedder(width=8, name="old"), WordEmbedder(width=8, name="new")

    await CachedEmbedder(old, store).embed(["Ann"])
    await CachedEmbedder(new, store).embed(["Ann"])
    await CachedEmbedder(new, store, dimensions=8).embed(["Ann"])

    assert (old.embedded, new.embedded) == (["Ann"], ["Ann", "Ann"])


async def test_batches_that_arrived_are_kept(
    model_server: ModelServer, access: ModelAccess, store: ReplyStore
) -> None:
    """When a later batch fails, the next run asks for the missing texts only."""
    texts = [f"word{number}" for number in range(300)]
    model_server.fault(Fault(status=500, containing="word299", first=1))
    embedder = CachedEmbedder(LimitedEmbedder(OpenAIEmbedder(access), 1), store)

    with pytest.raises(ProviderError):
        await embedder.embed(texts)
    model_server.reset_counts()
    vectors = await embedder.embed(texts)

    assert vectors.shape == (300, 256)
    assert [len(request.texts) for request in model_server.requests] == [300 - 256]
    await embedder.close()


async def test_a_width_that_changed_under_its_name_is_refused(store: ReplyStore) -> None:
    """Kept and new vectors of different widths are never mixed; the message names both."""
    await CachedEmbedder(WordEmbedder(width=8), store).embed(["Ann"])

    said = r"\[16\] numbers, and the kept ones have \[8\].*holodeck index --force"
    with pytest.raises(ProviderError, match=said):
        await CachedEmbedder(WordEmbedder(width=16), store).embed(["Ann", "Bob"])


async def test_kept_vectors_of_another_width_than_is_due_are_replaced(store: ReplyStore) -> None:
    """They are asked for again, and only they; what replaced them is then served."""
    await CachedEmbedder(WordEmbedder(width=8), store).embed(["Ann", "Bob"])
    await CachedEmbedder(WordEmbedder(width=16), store, width=16).embed(["Bob"])
    inner = WordEmbedder(width=16)

    renewing = CachedEmbedder(inner, store, width=16)
    kept = renewing.kept(["Ann", "Bob"])
    vectors = await renewing.embed(["Ann", "Bob"])
    again = await CachedEmbedder(inner, store).embed(["Ann", "Bob"])

    assert list(kept) == ["Bob"]
    assert inner.embedded == ["Ann"]
    assert vectors.shape == (2, 16)
    assert np.array_equal(vectors, again)


async def test_a_deployment_has_vectors_of_its_own(store: ReplyStore) -> None:
    """Another model may be deployed there, whatever it is called here."""
    inner = WordEmbedder(width=8, name="m")

    await CachedEmbedder(inner, store, model="east").embed(["Ann"])
    await CachedEmbedder(inner, store, model="west").embed(["Ann"])
    await CachedEmbedder(inner, store, model="east").embed(["Ann"])

    assert inner.embedded == ["Ann", "Ann"]


async def test_no_texts_make_no_call(store: ReplyStore) -> None:
    """Nothing in, no rows out."""
    inner = WordEmbedder(width=8)

    assert (await CachedEmbedder(inner, store, dimensions=8).embed([])).shape == (0, 8)
    assert (await BatchedEmbedder(inner).embed([])).shape == (0, 8)


async def test_batches_go_out_at_once_and_come_back_in_order(
    model_server: ModelServer, access: ModelAccess
) -> None:
    """Several batches are in flight together."""
    texts = [f"word{number}" for number in range(600)]
    embedder = BatchedEmbedder(OpenAIEmbedder(access))
    model_server.pause()
    embedding = asyncio.ensure_future(embedder.embed(texts))
    await asyncio.to_thread(model_server.wait_for, 3)
    model_server.resume()

    expected = np.array([word_vector(text, 256) for text in texts], dtype=np.float32)
    assert np.array_equal(await embedding, expected)
    await embedder.close()


async def test_a_text_that_is_being_asked_for_is_waited_for(
    model_server: ModelServer, access: ModelAccess, store: ReplyStore
) -> None:
    """Two calls at once that share texts pay for each text once."""
    embedder = CachedEmbedder(OpenAIEmbedder(access), store)
    model_server.pause()
    both = asyncio.gather(embedder.embed(["Ann", "Bob"]), embedder.embed(["Bob", "Cara", "Ann"]))
    await asyncio.to_thread(model_server.wait_for, 2)
    model_server.resume()
    first, second = await both

    asked = sorted(text for request in model_server.requests for text in request.texts)
    assert asked == ["Ann", "Bob", "Cara"]
    assert np.array_equal(second[[2, 0]], first)
    await embedder.close()


async def test_who_waits_for_a_failure_asks_for_itself(
    model_server: ModelServer, access: ModelAccess, store: ReplyStore
) -> None:
    """A failed or cancelled call leaves its texts to those who waited for them."""
    embedder = CachedEmbedder(OpenAIEmbedder(access), store)
    model_server.fault(Fault(status=400, first=1))
    model_server.pause()
    failing = asyncio.ensure_future(embedder.embed(["Ann"]))
    await asyncio.to_thread(model_server.wait_for, 1)
    waiting = asyncio.ensure_future(embedder.embed(["Ann"]))
    cancelled = asyncio.ensure_future(embedder.embed(["Ann"]))
    await asyncio.sleep(0)
    cancelled.cancel()
    model_server.resume()

    with pytest.raises(ProviderError):
        await failing
    assert (await waiting).shape == (1, 256)
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    assert len(model_server.requests) == 2
    await embedder.close()


async def test_repeats_are_asked_for_once_where_nothing_is_kept() -> None:
    """Without a store, too, a text is in a call once; its row stands wherever the text does."""
    inner = WordEmbedder(width=8)

    rows = await BatchedEmbedder(inner).embed(["Ann", "Bob", "Ann"])

    assert inner.embedded == ["Ann", "Bob"]
    assert np.array_equal(rows[0], rows[2])
    assert not np.array_equal(rows[0], rows[1])
