"""Find the files below a source: in a stable order, each once, and never HoloDeck's own."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holodeck.errors import SourceNotFoundError
from holodeck.lib.documents import OWN_FOLDER_MARK, SkippedFile
from holodeck.lib.filenames import readable_name, shown
from holodeck.lib.paths import openable

__all__ = ["FoundFile", "Walk", "walk"]

_TEMPORARY_ENDINGS = (".tmp", ".swp", "~")
_TEMPORARY_STARTS = ("~$", ".~lock")
_SYSTEM_FILES = frozenset({"thumbs.db", "desktop.ini"})


@dataclass(frozen=True, kw_only=True, order=True)
class FoundFile:
    """A regular file: its path relative to the source, with ``/``, and where to open it."""

    path: str
    file: Path


@dataclass(frozen=True, kw_only=True)
class Walk:
    """What lies below a source, each list in the order of its paths."""

    files: tuple[FoundFile, ...]
    skipped: tuple[SkippedFile, ...]


def walk(root: Path, *, allow_external_links: bool = False) -> Walk:
    """Return the files below ``root``, or ``root`` itself when it is a file.

    Hidden and temporary files and folders are passed over in silence, where "hidden" counts from
    the root down; so are folders that HoloDeck marked as its own, and links to what is found
    anyway. What a user could miss (dead links, links that leave the root, what cannot be opened
    or named) is in ``skipped``.

    Raises:
        SourceNotFoundError: There is nothing at ``root``.
    """
    opened = openable(root)
    try:
        mode = opened.stat().st_mode
    except OSError as error:
        raise SourceNotFoundError(
            f"Source path not found: {shown(str(opened))} ({_why(error)}); relative paths count "
            "from the agent file's folder: correct 'source' or create it"
        ) from error
    walker = _Walker(_real(opened), allow_external_links)
    if stat.S_ISDIR(mode):
        walker.walk_source()
    else:
        walker.add_file(readable_name(opened.name) or shown(opened.name), _real(opened))
    return Walk(files=tuple(sorted(walker.files)), skipped=tuple(sorted(walker.skipped)))


class _Walker:
    """One walk. Links wait until all real files are known, so that a file's own name wins."""

    def __init__(self, root: Path, allow_external_links: bool) -> None:
        self._root = root
        self._allow_external_links = allow_external_links
        self._seen: set[Path] = set()
        self._links: list[tuple[str, Path]] = []
        self.files: list[FoundFile] = []
        self.skipped: list[SkippedFile] = []

    def walk_source(self) -> None:
        if _is_own(self._root):
            self._skip(".", "a folder of HoloDeck's own, which is never read as documents")
            return
        self._walk_folder("", self._root)
        while self._links:
            # Links found behind a link are looked at in their turn.
            links, self._links = sorted(self._links), []
            for path, link in links:
                self._follow(path, link)

    def add_file(self, path: str, file: Path) -> None:
        if file in self._seen:
            return
        self._seen.add(file)
        try:
            mode = file.stat().st_mode
        except OSError as error:
            self._skip(path, f"it cannot be opened: {_why(error)}")
            return
        if stat.S_ISREG(mode):
            self.files.append(FoundFile(path=path, file=file))
        else:
            self._skip(path, "not a regular file (a pipe, a socket or a device)")

    def _skip(self, path: str, reason: str) -> None:
        self.skipped.append(SkippedFile(path=path, reason=reason))

    def _walk_folder(self, path: str, folder: Path) -> None:
        waiting = [(path, folder)]
        while waiting:
            path, folder = waiting.pop()
            if folder not in self._seen and not _is_own(folder):
                self._seen.add(folder)
                waiting += self._list(path, folder)

    def _list(self, path: str, folder: Path) -> Iterator[tuple[str, Path]]:
        """Yield the folders in ``folder``; note its files and links."""
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            self._skip(f"{path}/" if path else ".", f"the folder cannot be opened: {_why(error)}")
            return
        for entry in entries:
            if entry.name.startswith("."):
                continue
            name = readable_name(entry.name)
            inner = f"{path}/{name or shown(entry.name)}".removeprefix("/")
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and _is_temporary(entry.name):
                continue
            if name is None:
                self._skip(inner, "its name is not one line of UTF-8 text: rename it")
            elif entry.is_symlink():
                self._links.append((inner, Path(entry.path)))
            elif is_folder:
                yield inner, Path(entry.path)
            else:
                self.add_file(inner, Path(entry.path))

    def _follow(self, path: str, link: Path) -> None:
        target = _real(link)
        try:
            mode = target.stat().st_mode
        except OSError as error:
            self._skip(path, f"a link that leads nowhere: {_why(error)}")
            return
        if not (self._allow_external_links or target.is_relative_to(self._root)):
            self._skip(
                path,
                "a link that leaves the source: set allow_external_links, or copy the file there",
            )
        elif any(_is_own(folder) for folder in target.parents):
            return
        elif stat.S_ISDIR(mode):
            self._walk_folder(path, target)
        else:
            self.add_file(path, target)


def _real(path: Path) -> Path:
    # Path.resolve raises RuntimeError on a loop of links.
    return Path(os.path.realpath(path))


def _is_own(folder: Path) -> bool:
    return os.path.lexists(folder / OWN_FOLDER_MARK)


def _is_temporary(name: str) -> bool:
    lower = name.lower()
    return (
        lower.endswith(_TEMPORARY_ENDINGS)
        or lower.startswith(_TEMPORARY_STARTS)
        or lower in _SYSTEM_FILES
    )


def _why(error: OSError) -> str:
    return error.strerror or type(error).__name__
