"""The folder of one tool's index: its record, its lock, its generations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from holodeck.errors import ConfigError, IndexingError, TableNotFoundError
from holodeck.lib.documents import OWN_FOLDER_MARK
from holodeck.lib.indexes.files import FileMark, find_damage, mark_files
from holodeck.lib.indexes.generations import Generations
from holodeck.lib.indexes.leases import Lease
from holodeck.lib.indexes.ledger import LEDGER_FILE, Ledger
from holodeck.lib.indexes.record import IndexRecord, read_record, write_record
from holodeck.lib.paths import check_writable, resolve_cache_dir, resolve_storage_dir

if TYPE_CHECKING:
    from holodeck.models.config import ExecutionConfig
    from holodeck.models.tool import VectorstoreTool

__all__ = ["DAMAGED", "IndexFolder"]

DAMAGED = "the index is damaged: "
"""How the reason begins by which a damaged index is built again."""

Record = TypeVar("Record", bound=IndexRecord)


class IndexFolder(Generic[Record]):
    """Where one tool's index lies.

    Attributes:
        setting: The setting that names the folder; ``None``: there is none.
        derived: Names of files of a generation that are made again where they are missing.

    Args:
        tool: The tool.
        base_dir: What relative paths resolve against.
        record_type: What ``index.meta`` holds.
        parts: Folders below the root that each hold a part of every generation.
    """

    setting: ClassVar[str | None] = None
    derived: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        tool: VectorstoreTool,
        base_dir: Path,
        *,
        record_type: type[Record],
        parts: Sequence[str],
    ) -> None:
        self.tool_name = tool.name
        self.root = resolve_storage_dir(tool, base_dir)
        self.generations = Generations(*(self.root / part for part in parts))
        self._tool = tool
        self._base_dir = base_dir
        self._record_type = record_type

    # --- places -------------------------------------------------------------------------------

    @property
    def record_path(self) -> Path:
        """The commit record."""
        return self.root / "index.meta"

    @property
    def ledger(self) -> Ledger:
        """What the index cost since it was last cleared."""
        return Ledger(self.root / LEDGER_FILE)

    @property
    def lock_path(self) -> Path:
        """The file that the one builder holds a lock on."""
        return self.root / ".lock"

    @property
    def logs_dir(self) -> Path:
        """The folder of the build logs."""
        return self.root / "logs"

    def cache_dir_for(self, execution: ExecutionConfig) -> Path:
        """Return the folder of the paid replies: the project's, unless a setting says otherwise."""
        return resolve_cache_dir(execution, self._base_dir)

    def folders(self) -> tuple[Path, ...]:
        """Return every folder that a build writes to, the root first."""
        return (self.root, *self.generations.roots, self.logs_dir)

    def create(self) -> None:
        """Create the folders, write to each of them, and mark the root as ours.

        Raises:
            ConfigError: Something that is not a folder is in the way, or it cannot be written.
        """
        self._refuse_control_characters()
        self.make(*self.folders())
        if not (self.root / OWN_FOLDER_MARK).exists():
            (self.root / OWN_FOLDER_MARK).touch()

    def _refuse_control_characters(self) -> None:
        # LanceDB (0.38) cannot open a path that holds one.
        found = next((sign for sign in str(self.root) if sign < " " or sign == "\x7f"), None)
        if found is not None:
            raise ConfigError(
                f"the index of tool {self.tool_name!r} cannot be kept in {str(self.root)!r}: the "
                f"path holds the control character {found!r}; rename that folder"
                f"{self._or_elsewhere}",
                field=self.setting,
            )

    @property
    def _or_elsewhere(self) -> str:
        return f" or set {self.setting}" if self.setting else ""

    def make(self, *folders: Path) -> None:
        """Create folders of the index and write to them.

        Raises:
            ConfigError: Something that is not a folder is in the way, or it cannot be written.
        """
        try:
            for folder in folders:
                folder.mkdir(parents=True, exist_ok=True)
                check_writable(folder)
        except OSError as error:
            raise ConfigError(
                f"the index of tool {self.tool_name!r} cannot be kept in {self.root}: "
                f"{error.strerror or error} ({error.filename}); free that path{self._or_elsewhere}",
                field=self.setting,
            ) from error

    # --- the record ---------------------------------------------------------------------------

    def record(self) -> Record | None:
        """Return the commit record, or ``None`` (with a warning when it is damaged)."""
        return read_record(self.record_path, self._record_type.from_dict)

    def published(self) -> Record:
        """Return the commit record.

        Raises:
            IndexingError: There is no index.
        """
        record = self.record()
        if record is None:
            raise IndexingError(
                f"the index of tool {self.tool_name!r} vanished while it was opened: run "
                "'holodeck index' again"
            )
        return record

    def commit(self, record: Record) -> None:
        """Publish a generation: from here on it is the index."""
        write_record(self.record_path, record.to_dict())

    def stamp(self) -> tuple[int, int] | None:
        """Return what changes whenever an index is committed; ``None`` without an index."""
        try:
            status = self.record_path.stat()
        except OSError:
            return None
        return (status.st_ino, status.st_mtime_ns)

    def no_record_reason(self) -> str:
        """Return why there is no record: nothing was built, or it is damaged."""
        if not os.path.lexists(self.record_path):
            return "there is no index yet"
        return f"{DAMAGED}{self.record_path} cannot be read"

    def damage(self, record: Record, *, by_content: bool = False) -> str | None:
        """Return what is wrong with the first file of the index that is damaged, or ``None``.

        Args:
            record: The record that names the files.
            by_content: Read every byte, and not only the sizes.
        """
        if record.files:
            return find_damage(self.root, record.files, by_content=by_content)
        for folder in self.generations.folders(record.generation):
            if not folder.is_dir():
                return f"{folder} cannot be found"
        return None

    def check(self, record: Record, *, by_content: bool = False) -> None:
        """Raise where a file is not as its record says; what others built says nothing of files.

        Raises:
            TableNotFoundError: A file is missing, or not as it was written.
        """
        damage = find_damage(self.root, record.files, by_content=by_content)
        if damage is not None:
            raise TableNotFoundError.of(damage)

    def mark_files(self, generation: str) -> dict[str, FileMark]:
        """Return a mark of every file of a generation; they are on the disk then."""
        self.generations.make_lease_file(generation)
        folders = self.generations.folders(generation)
        return mark_files(self.root, folders, leave_out=self.derived)

    # --- generations ----------------------------------------------------------------------------

    def new_generation(self) -> str:
        """Return a name that no generation has or had."""
        record = self.record()
        return self.generations.new(record.generation if record else "")

    def lease(self, generation: str) -> Lease:
        """Keep a generation from being swept until the lease is released."""
        return self.generations.lease(generation)

    def discard(self, generation: str) -> None:
        """Delete half a generation; one that was published meanwhile stays."""
        record = self.record()
        if record is None or record.generation != generation:
            self.generations.delete(generation)

    def sweep(self) -> None:
        """Delete generations and staged files that nobody needs or reads, and nothing else."""
        record = self.record()
        self.generations.sweep(record.generation if record else "")
        for staged in self._staged():
            staged.unlink(missing_ok=True)

    def tidy(self) -> None:
        """Delete what a published generation was made from and replaces."""
        self.sweep()

    def has_leftovers(self) -> bool:
        """Tell whether there is something that ``tidy`` may delete."""
        record = self.record()
        current = record.generation if record else ""
        return self.generations.has_old(current) or any(self._staged())

    def _staged(self) -> Iterator[Path]:
        """Yield files that were written and not put in their place: their writer was killed."""
        return self.root.glob("*.[0-9]*.tmp")
