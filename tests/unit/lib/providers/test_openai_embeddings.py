"""Embeddings over the OpenAI wire format, against the loopback server."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from holodeck.errors import ProviderError
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.openai import OpenAIEmbedder
from holodeck.testing import Fault, ModelServer
from holodeck.testing.words import word_vector


async def test_rows_come_in_order_and_have_length_one(
    model_server: ModelServer, access: ModelAccess
) -> None:
    """One row a text, scaled to length 1 whatever the server sends."""
    model_server.reply(
        "embedding", lambda request: [[3.0, 4.0 * len(text)] for text in request.texts]
    )
    embedder = OpenAIEmbedder(access)

    vectors = await embedder.embed(["a", "bb"])

    expected = np.array([[0.6, 0.8], [3 / 73**0.5, 8 / 73**0.5]], dtype=np.float32)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, rtol=1e-6)
    await embedder.close()


async def test_many_texts_are_sent_in_batches(
    model_server: ModelServer, access: ModelAccess
) -> None:
    """At most 256 texts a call, and the rows are those of the texts."""
    texts = [f"word{number}" for number in range(600)]
    embedder = OpenAIEmbedder(dataclasses.replace(access, dimensions=512))

    vectors = await embedder.embed(texts)

    sizes = [len(request.texts) for request in model_server.requests]
    assert sizes == [256, 256, 88]
    expected = np.array([word_vector(text, 512) for text in texts], dtype=np.float32)
    assert np.array_equal(vectors, expected)
    assert model_server.requests[0].body["dimensions"] == 512
    await embedder.close()


async def test_an_empty_text_has_a_row(model_server: ModelServer, access: ModelAccess) -> None:
    """The vendor refuses an empty text, so a space is sent; no texts make no call."""
    embedder = OpenAIEmbedder(access)

    vectors = await embedder.embed(["Ann", ""])
    none = await embedder.embed([])

    assert model_server.requests[0].texts == ("Ann", " ")
    assert (vectors.shape, none.shape) == ((2, 256), (0, 256))
    assert len(model_server.requests) == 1
    await embedder.close()


async def test_a_vector_of_another_width_names_its_text(
    model_server: ModelServer, access: ModelAccess
) -> None:
    """Within a reply, and from one call to the next, the width may not change."""
    model_server.fault(Fault(malformed=True, containing="Bob"))
    embedder = OpenAIEmbedder(access)

    with pytest.raises(ProviderError, match=r"text 2 of 2 \('Bob'\) has 255 .* 256 are due"):
        await embedder.embed(["Ann", "Bob"])
    await embedder.embed(["Ann"])
    model_server.reply("embedding", [[1.0, 0.0]])
    with pytest.raises(ProviderError, match=r"'Cara'\) has 2 .* 256 are due"):
        await embedder.embed(["Cara"])
    await embedder.close()


async def test_a_width_that_was_asked_for_is_due(
    model_server: ModelServer, access: ModelAccess
) -> None:
    """A server that ignores the dimensions is found out."""
    model_server.reply("embedding", [[1.0, 0.0]])
    embedder = OpenAIEmbedder(dataclasses.replace(access, dimensions=3))

    with pytest.raises(ProviderError, match="has 2 numbers, and 3 are due"):
        await embedder.embed(["Ann"])
    await embedder.close()


@pytest.mark.parametrize("vectors", [[], [[1.0], [1.0]], [[float("nan")]], [[]]])
async def test_vectors_that_cannot_be_used_are_refused(
    model_server: ModelServer, access: ModelAccess, vectors: list[list[float]]
) -> None:
    """Too few, too many, not numbers or nothing: never a row of something else."""
    model_server.reply("embedding", vectors)
    embedder = OpenAIEmbedder(access)

    with pytest.raises(ProviderError, match="sent no usable reply"):
        await embedder.embed(["Ann"])
    await embedder.close()


async def test_a_zero_vector_stays_zero(model_server: ModelServer, access: ModelAccess) -> None:
    """A text without a known word has no direction."""
    embedder = OpenAIEmbedder(access)

    assert not (await embedder.embed(["?!"])).any()
    await embedder.close()


async def test_a_web_page_is_no_embedding(model_server: ModelServer, access: ModelAccess) -> None:
    """Something else behind the URL is named."""
    model_server.fault(Fault(not_json=True))
    embedder = OpenAIEmbedder(access)

    with pytest.raises(ProviderError, match="no embeddings: check the URL"):
        await embedder.embed(["Ann"])
    await embedder.close()
