"""The encoding that ships with the package is tiktoken's own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from holodeck.lib.tokens import ENCODING_NAME, count_tokens, encoding, is_longer_than

TEXTS = (
    "Ada Lovelace leads Analytical Ltd. since 1843; it's 12345678 £.",
    "范围内产生的二氧化碳排放量 👨‍👩‍👧‍👦 مرحبا बालक",
    "  \n\t \r\n   trailing   ",
    "<|endoftext|> as text",
)

# The name under which tiktoken looks for the ranks in its cache folder.
CACHED_RANKS = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"

ASK_TIKTOKEN = """
import hashlib, json, sys, tiktoken
own = tiktoken.get_encoding("cl100k_base")
ranks = sorted((token.hex(), rank) for token, rank in own._mergeable_ranks.items())
print(json.dumps({
    "pattern": own._pat_str,
    "special": own._special_tokens,
    "ranks": hashlib.sha256(json.dumps(ranks).encode()).hexdigest(),
    "ids": [own.encode_ordinary(text) for text in json.load(sys.stdin)],
}))
"""


@pytest.mark.integration
def test_the_encoding_equals_the_tokenizers_own_definition(tmp_path: Path) -> None:
    """Pattern, special tokens, ranks and ids are those of ``tiktoken.get_encoding``."""
    ranks = (files("holodeck.data") / "cl100k_base.tiktoken").read_bytes()
    (tmp_path / CACHED_RANKS).write_bytes(ranks)
    child = subprocess.run(
        [sys.executable, "-c", ASK_TIKTOKEN],
        input=json.dumps(TEXTS),
        env={**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path), "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    # tiktoken offers no public way to its definition.
    ours = encoding()
    our_ranks = sorted((token.hex(), rank) for token, rank in ours._mergeable_ranks.items())
    assert json.loads(child.stdout) == {
        "pattern": ours._pat_str,
        "special": ours._special_tokens,
        "ranks": hashlib.sha256(json.dumps(our_ranks).encode()).hexdigest(),
        "ids": [ours.encode_ordinary(text) for text in TEXTS],
    }


@pytest.mark.unit
def test_the_encoding_is_loaded_once() -> None:
    """Everybody shares one encoding: its ranks take time to load."""
    assert encoding() is encoding()
    assert encoding().name == ENCODING_NAME == "cl100k_base"


@pytest.mark.unit
def test_special_tokens_count_as_text() -> None:
    """A document that holds ``<|endoftext|>`` is counted, not refused."""
    assert count_tokens("<|endoftext|>") == 7
    assert count_tokens("") == 0


@pytest.mark.parametrize("text", ["", "word", "word " * 9, "ü" * 20, "x" * 1000, "a" * 8])
def test_longer_is_what_the_count_says(text: str) -> None:
    """Also where nothing had to be counted."""
    count = count_tokens(text)

    assert [is_longer_than(text, limit) for limit in (count - 1, count, count + 1)] == [
        True,
        False,
        False,
    ]
