"""Which files of a source are read and which are not, found without parsing any."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from holodeck.lib.documents import SkippedFile
from holodeck.lib.extras import has_extra
from holodeck.lib.readers import READERS, Reader
from holodeck.lib.readers.content_hashes import ContentHashes
from holodeck.lib.readers.options import ReadOptions
from holodeck.lib.readers.walk import FoundFile, walk

__all__ = ["Survey", "survey"]


@dataclass(frozen=True, kw_only=True)
class Survey:
    """The files of a source.

    Attributes:
        readable: Those that a reader is there for, in the order of their paths.
        skipped: All others, and why.
        source_hash: SHA-256 over relative path and bytes of the readable ones, as hex.
    """

    readable: tuple[tuple[FoundFile, Reader], ...]
    skipped: tuple[SkippedFile, ...]
    source_hash: str


def survey(
    root: Path,
    options: ReadOptions,
    *,
    readers: Mapping[str, Reader] = READERS,
    hashes: ContentHashes | None = None,
) -> Survey:
    """Look through a source.

    Raises:
        SourceNotFoundError: There is nothing at ``root``.
    """
    readable, skipped = _sorted_out(root, options, readers)
    return Survey(
        readable=tuple(readable),
        skipped=tuple(skipped),
        source_hash=_hash(readable, hashes or ContentHashes()),
    )


def _sorted_out(
    root: Path, options: ReadOptions, readers: Mapping[str, Reader]
) -> tuple[list[tuple[FoundFile, Reader]], list[SkippedFile]]:
    """Return the files that have a reader that works here, and all others with the reason."""
    found = walk(root, allow_external_links=options.allow_external_links)
    readable: list[tuple[FoundFile, Reader]] = []
    skipped = list(found.skipped)
    for file in found.files:
        ending = PurePosixPath(file.path).suffix.lower()
        reader = readers.get(ending)
        if reader is None:
            reason = f"no reader for {ending or 'a file without an ending'}"
        elif reader.extra is not None and not has_extra(reader.extra):
            reason = (
                f"reading {ending} needs an extra: pip install 'holodeck[{reader.extra}]' (in a "
                f"checkout: pip install -e '.[{reader.extra}]')"
            )
        elif options.structure is not None and not reader.has_records:
            reason = f"vector_field is set, and a {ending} file is no list of records"
        else:
            readable.append((file, reader))
            continue
        skipped.append(SkippedFile(path=file.path, reason=reason))
    return readable, skipped


def _hash(files: Sequence[tuple[FoundFile, Reader]], hashes: ContentHashes) -> str:
    total = hashlib.sha256()
    for found, _ in files:
        try:
            part = hashes.of(found.file)
        except OSError:
            # Reading it fails too, and lists it; when it becomes readable, the hash changes.
            part = "unreadable"
        path = found.path.encode()
        total.update(f"{len(path)}:".encode() + path + part.encode() + b"\n")
    hashes.forget_others(found.file for found, _ in files)
    return total.hexdigest()
