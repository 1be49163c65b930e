"""The embedder of provider ``embedded``."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holodeck
from holodeck.errors import ConfigError
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.embedded import WordLlamaEmbedder
from holodeck.lib.providers.static_vectors import installed_folder, load_vectors, shared_vectors

pytestmark = pytest.mark.unit

ACCESS = ModelAccess(provider="embedded", name="wordllama")
TEXTS = ["The whale surfaced at dawn.", "猎户座项目", "", " \n\t", "a " * 3000, "\ud800", "😀"]

OFFLINE = """
import asyncio, sys

def guard(event, arguments):
    if event.startswith("socket."):
        raise SystemExit(f"a socket was used: {event}")

from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.embedded import WordLlamaEmbedder

async def main():
    sys.addaudithook(guard)  # the loop has made its own pair by now
    rows = await WordLlamaEmbedder(ModelAccess(provider="embedded", name="wordllama")).embed(["x"])
    print(rows.shape)

asyncio.run(main())
print("wordllama" in sys.modules, __import__("logging").getLogger().handlers)
"""


async def test_rows_have_length_one_and_the_order_of_the_texts() -> None:
    """Every text gets the row it would get alone, of length 1, or of zeros when it is blank."""
    rows = await WordLlamaEmbedder(ACCESS).embed(TEXTS)
    alone = np.concatenate([await WordLlamaEmbedder(ACCESS).embed([text]) for text in TEXTS])

    assert rows.shape == (len(TEXTS), 256)
    assert rows.dtype == np.float32
    assert np.array_equal(rows, alone)
    lengths = np.linalg.norm(rows, axis=1)
    assert np.allclose(lengths, [1, 1, 0, 0, 1, 1, 1], atol=1e-5)


async def test_nothing_in_gives_an_empty_array_of_the_right_width() -> None:
    """No texts give an array of no rows that still has the model's width."""
    assert (await WordLlamaEmbedder(ACCESS).embed([])).shape == (0, 256)


async def test_similar_texts_are_nearer_than_unrelated_ones() -> None:
    """Vectors carry meaning: a paraphrase without a shared content word beats another topic."""
    rows = await WordLlamaEmbedder(ACCESS).embed(
        [
            "The doctor treated the patient.",
            "A physician cured sick people.",
            "Stocks fell sharply.",
        ]
    )

    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.1


async def test_a_smaller_width_is_honoured() -> None:
    """The configured width is the width of the vectors, which still have length 1."""
    access = ModelAccess(provider="embedded", name="wordllama", dimensions=64)
    rows = await WordLlamaEmbedder(access).embed(["whale"])

    assert rows.shape == (1, 64)
    assert np.linalg.norm(rows[0]) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "dimensions", "said"),
    [("text-embedding-3-small", None, "write 'wordllama'"), ("wordllama", 300, "64, 128 or 256")],
)
def test_what_the_model_cannot_do_is_refused(name: str, dimensions: int | None, said: str) -> None:
    """Another model or width is a configuration error that says where it was set and the mend."""
    access = ModelAccess(
        provider="embedded", name=name, dimensions=dimensions, where="tools[0].embedding_model"
    )
    with pytest.raises(ConfigError, match=said) as caught:
        WordLlamaEmbedder(access)

    assert str(caught.value).startswith("tools[0].embedding_model: ")


@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_damaged_vectors_are_refused(tmp_path: Path, damage: str) -> None:
    """A file that is not the released one is refused with the way to reinstall it."""
    for name in ("weights", "tokenizers"):
        shutil.copytree(installed_folder() / name, tmp_path / name)
    tokenizer = tmp_path / "tokenizers" / "l2_supercat_tokenizer_config.json"
    if damage == "changed":
        tokenizer.write_bytes(tokenizer.read_bytes() + b" ")
    else:
        tokenizer.unlink()

    with pytest.raises(ConfigError, match="pip install --force-reinstall"):
        load_vectors(tmp_path)


def test_no_socket_is_opened_and_no_log_is_configured() -> None:
    """Embedding opens no socket, imports no downloader and leaves the root logger alone."""
    child = {**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])}
    result = subprocess.run(
        [sys.executable, "-c", OFFLINE], capture_output=True, text=True, check=False, env=child
    )

    assert (result.stderr, result.stdout) == ("", "(1, 256)\nFalse []\n")


def test_vectors_equal_those_of_the_package_itself() -> None:
    """Reading the files ourselves gives what the package's own loader gives."""
    texts = ["Robert Falcon Scott reached the South Pole.", "猎户座项目", "naïve café"]
    script = (
        "import json, sys; from pathlib import Path; import wordllama\n"
        "model = wordllama.WordLlama.load(\n"
        "    cache_dir=Path(wordllama.__file__).parent, disable_download=True)\n"
        "print(json.dumps(model.embed(json.loads(sys.argv[1]), norm=True).tolist()))"
    )
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, json.dumps(texts)],
        capture_output=True,
        text=True,
        check=True,
    )

    expected = np.array(json.loads(result.stdout), dtype=np.float32)
    assert np.allclose(shared_vectors().embed(texts), expected, atol=1e-5)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(st.characters(), max_size=40), max_size=5))
def test_no_text_gives_anything_but_numbers(texts: list[str]) -> None:
    """Any text at all gives finite numbers, and a row of length 1 or 0."""
    rows = asyncio.run(WordLlamaEmbedder(ACCESS).embed(texts))

    lengths = np.linalg.norm(rows, axis=1)
    assert np.isfinite(rows).all()
    assert ((np.abs(lengths - 1) < 1e-5) | (lengths == 0)).all()
