"""Tokens by the cl100k_base encoding, from ranks that ship with the package: never a download."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

import tiktoken

from holodeck.errors import ConfigError

__all__ = ["ENCODING_NAME", "count_tokens", "cut_to_tokens", "encoding", "is_longer_than"]

ENCODING_NAME = "cl100k_base"

_RANKS_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
# The pattern and the special tokens are those of tiktoken's own definition of the encoding;
# a test compares the two.
_PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)
_SPECIAL_TOKENS = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}


@cache
def encoding() -> tiktoken.Encoding:
    """Return the encoding.

    Raises:
        ConfigError: The ranks are missing or were changed; there is no approximation.
    """
    path = files("holodeck.data") / "cl100k_base.tiktoken"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"the token ranks {path} cannot be read ({error}): reinstall holodeck"
        ) from error
    if hashlib.sha256(content).hexdigest() != _RANKS_SHA256:
        raise ConfigError(f"the token ranks {path} are damaged: reinstall holodeck")
    ranks = {
        base64.b64decode(token): int(rank)
        for token, rank in (line.split() for line in content.splitlines() if line)
    }
    return tiktoken.Encoding(
        ENCODING_NAME, pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens=_SPECIAL_TOKENS
    )


def count_tokens(text: str) -> int:
    """Return the tokens of ``text``; strings like ``<|endoftext|>`` count as plain text."""
    return len(encoding().encode_ordinary(text))


def is_longer_than(text: str, limit: int) -> bool:
    """Tell whether ``text`` has more than ``limit`` tokens."""
    # A token has a byte at least: a short text needs no counting.
    return len(text.encode("utf-8", "surrogatepass")) > limit and count_tokens(text) > limit


def cut_to_tokens(text: str, limit: int) -> str:
    """Return the beginning of ``text`` that is at most ``limit`` tokens long."""
    tokens = encoding().encode_ordinary(text)
    if len(tokens) <= limit:
        return text
    # A token may end inside a character, whose beginning is then left out.
    return encoding().decode_bytes(tokens[:limit]).decode("utf-8", "ignore")
