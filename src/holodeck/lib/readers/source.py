"""A source as a whole: its documents, what was skipped and why, and its hash."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from holodeck.errors import ConfigError, ReadError
from holodeck.lib.documents import Document, SkippedFile
from holodeck.lib.filenames import shown
from holodeck.lib.imports import load_object
from holodeck.lib.readers import READERS, Reader
from holodeck.lib.readers.content_hashes import ContentHashes
from holodeck.lib.readers.options import ReadOptions
from holodeck.lib.readers.survey import Survey, survey
from holodeck.lib.readers.time_limit import run_within, too_slow
from holodeck.lib.readers.walk import FoundFile

__all__ = ["ReadOptions", "SourceReading", "read_source", "source_hash"]

logger = logging.getLogger(__name__)

_NOTES_OF_A_FILE = 20


@dataclass(frozen=True, kw_only=True)
class SourceReading:
    """What was read from a source.

    Attributes:
        documents: By path, then page or record.
        skipped: What is not among them, and why, by path.
        notes: What readers had to tolerate, as ``path: note``; the first twenty of a file.
        files: Paths that ``documents`` come from.
        source_hash: As ``source_hash`` gives it.
    """

    documents: tuple[Document, ...]
    skipped: tuple[SkippedFile, ...]
    notes: tuple[str, ...]
    files: tuple[str, ...]
    source_hash: str


def source_hash(
    root: Path,
    options: ReadOptions,
    *,
    readers: Mapping[str, Reader] = READERS,
    hashes: ContentHashes | None = None,
) -> str:
    """Return the SHA-256 over relative path and bytes of every file that would be read.

    Nothing is parsed. Files without a reader do not count, nor those whose extra is missing:
    installing it changes the hash.

    Raises:
        SourceNotFoundError: There is nothing at ``root``.
    """
    return survey(root, options, readers=readers, hashes=hashes).source_hash


def read_source(
    root: Path,
    options: ReadOptions,
    *,
    readers: Mapping[str, Reader] = READERS,
    hashes: ContentHashes | None = None,
) -> SourceReading:
    """Return the documents of every file below ``root`` that has a reader.

    One file that cannot be read is skipped with its reason and never stops the others.

    Raises:
        SourceNotFoundError: There is nothing at ``root``.
        ReadError: ``options.strict``, and files were skipped; the message lists them all.
        ConfigError: No file has the fields that YAML names.
    """
    # The hash comes first: a file that changes in between then differs from it at the next run.
    surveyed = survey(root, options, readers=readers, hashes=hashes)
    skipped = list(surveyed.skipped)
    documents: list[Document] = []
    files: list[str] = []
    unlike: list[ConfigError] = []
    for found, reader in surveyed.readable:
        try:
            documents += _read_file(found, reader, options)
            files.append(found.path)
        except ReadError as error:
            skipped.append(SkippedFile(path=found.path, reason=str(error)))
        except ConfigError as error:
            unlike.append(error)
            skipped.append(
                SkippedFile(path=found.path, reason=error.message.removeprefix(f"{found.path} "))
            )
    if unlike and not files:
        raise unlike[0]  # a slip in the setting, not a file of another kind
    skipped.sort()
    if options.strict and skipped:
        raise ReadError(_strict_message(root, skipped))
    return SourceReading(
        documents=tuple(documents),
        skipped=tuple(skipped),
        notes=(*_unheeded(surveyed, options, readers), *_notes(documents)),
        files=tuple(files),
        source_hash=surveyed.source_hash,
    )


def _read_file(found: FoundFile, reader: Reader, options: ReadOptions) -> Sequence[Document]:
    """Return the documents of a file.

    Raises:
        ReadError: With the reason why there are none.
    """
    try:
        read = load_object(reader.function)
        documents: list[Document] = run_within(
            options.file_timeout, lambda: read(found.file, found.path, options)
        )
    except (ReadError, ConfigError):
        raise
    except TimeoutError as error:
        raise ReadError(too_slow(options.file_timeout)) from error
    except Exception as error:
        logger.debug("the reader of %s failed", found.path, exc_info=True)
        raise ReadError(f"its reader failed: {type(error).__name__}: {error}") from error
    if not documents:
        raise ReadError("no text")
    return documents


def _unheeded(
    surveyed: Survey, options: ReadOptions, readers: Mapping[str, Reader]
) -> Iterator[str]:
    """Yield which settings of reading count for no file of the source."""
    heeded = {reader.heeds for _, reader in surveyed.readable}
    for setting in ("delimiter", "record_path"):
        if getattr(options, setting) is not None and setting not in heeded:
            types = " or ".join(e for e, reader in readers.items() if reader.heeds == setting)
            yield f"{setting} has no effect: there is no {types} file in the source"


def _notes(documents: Iterable[Document]) -> list[str]:
    by_path: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        by_path[document.place.path] += document.notes
    lines: list[str] = []
    for path, notes in by_path.items():
        lines += [f"{path}: {note}" for note in notes[:_NOTES_OF_A_FILE]]
        if len(notes) > _NOTES_OF_A_FILE:
            lines.append(f"{path}: and {len(notes) - _NOTES_OF_A_FILE} more notes")
    return lines


def _strict_message(root: Path, skipped: Sequence[SkippedFile]) -> str:
    lines = "".join(f"\n  {file}" for file in skipped)
    return (
        f"{len(skipped)} file(s) of {shown(str(root))!r} cannot be read, and 'strict' is set. "
        f"Mend or remove them, or set strict: false:{lines}"
    )
