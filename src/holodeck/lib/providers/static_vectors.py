"""The word vectors that ship inside the wordllama wheel, read from its two files.

The package itself is not imported: its loader looks for the files in the wrong folder and then
downloads them, it configures the root logger, and its padded batches take gigabytes for long texts.
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from holodeck.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["WIDTHS", "StaticVectors", "installed_folder", "load_vectors", "shared_vectors"]

WIDTHS = (64, 128, 256)
"""The vectors were trained so that their first 64 or 128 numbers are good vectors by themselves."""

# Of wordllama 0.4.0.post1.
_WEIGHTS = (
    "weights/l2_supercat_256.safetensors",
    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
)
_TOKENIZER = (
    "tokenizers/l2_supercat_tokenizer_config.json",
    "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
)
_BLOCK = 8192  # tokens that are summed at once: 8 MB


class StaticVectors:
    """A table of token vectors; the vector of a text is the mean over its tokens, of length 1."""

    def __init__(self, table: NDArray[np.float32], tokenizer: Any) -> None:  # Any: has no types
        self._table = table
        self._tokenizer = tokenizer

    def embed(self, texts: Sequence[str], width: int = 256) -> NDArray[np.float32]:
        """Return one row per text; a text without a known word gets a row of zeros.

        Each text is taken by itself, so that a row does not depend on its neighbours.
        """
        rows = np.zeros((len(texts), width), dtype=np.float32)
        for row, text in enumerate(texts):
            if text.strip():
                rows[row] = self._embed_one(text, width)
        return rows

    def _embed_one(self, text: str, width: int) -> NDArray[np.float32]:
        # A lone surrogate is no text to the tokenizer; one text at a time keeps it from starting
        # threads, which a later fork would warn of.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        tokens = self._tokenizer.encode(clean, add_special_tokens=False).ids
        total = np.zeros(width, dtype=np.float32)
        for start in range(0, len(tokens), _BLOCK):
            total += self._table[tokens[start : start + _BLOCK], :width].sum(axis=0)
        length = float(np.linalg.norm(total))
        return total / np.float32(length) if length > 0 else total


def installed_folder() -> Path:
    """Return the folder of the installed package, without importing it."""
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(
            "the embedded vectors need the package 'wordllama', which is not installed: "
            "add it with 'pip install holodeck[embedded]'"
        )
    return Path(spec.submodule_search_locations[0])


def load_vectors(folder: Path) -> StaticVectors:
    """Read the vectors below ``folder`` after checking that both files are the known ones.

    Raises:
        ConfigError: A file is missing or is not the one of the supported release.
    """
    # Here, since the two packages are only there with the extra.
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    weights = load(_verified(folder, *_WEIGHTS))["embedding.weight"]
    tokenizer = Tokenizer.from_str(_verified(folder, *_TOKENIZER).decode("utf-8"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return StaticVectors(np.ascontiguousarray(weights, dtype=np.float32), tokenizer)


def _verified(folder: Path, name: str, sha256: str) -> bytes:
    path = folder / name
    mend = "reinstall it: pip install --force-reinstall 'wordllama==0.4.0.post1'"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"the embedded vectors cannot be read from {path} ({error.strerror}): {mend}"
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ConfigError(
            f"the embedded vectors in {path} are not those of the supported release "
            f"(SHA-256 differs): {mend}"
        )
    return content


_shared: StaticVectors | None = None
_loading = Lock()


def shared_vectors() -> StaticVectors:
    """Return the installed vectors, read once for the process (32 MB)."""
    global _shared
    with _loading:
        if _shared is None:
            _shared = load_vectors(installed_folder())
        return _shared
