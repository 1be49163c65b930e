"""Where an index lies, what it says of itself, and how one generation replaces another.

Layout below ``storage_dir``::

    index.meta              the commit record: JSON, replaced last, names the current generation
    output/<generation>/    the tables
    lancedb/<generation>/   the vectors
    logs/                   one log a build
    .holodeck-folder        marks the folder as ours, so that it is never read as documents

This module works without the graphrag library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from holodeck.errors import ConfigError, TableNotFoundError
from holodeck.lib.contracts import BuildAccount, Failure
from holodeck.lib.documents import OWN_FOLDER_MARK
from holodeck.lib.indexes.generations import Generations
from holodeck.lib.indexes.leases import Lease
from holodeck.lib.indexes.record import read_record, write_record
from holodeck.lib.paths import resolve_storage_dir
from holodeck.lib.readers.options import read_options
from holodeck.lib.readers.source import source_hash

if TYPE_CHECKING:
    import pandas as pd

    from holodeck.models.tool import VectorstoreTool

__all__ = ["GraphRAGStorage", "IndexMetadata"]

ENTITY_VECTORS = "entity_description.lance"
_OLD_PREFIX = "create_final_"


@dataclass(frozen=True, kw_only=True)
class IndexMetadata:
    """What an index says of itself: the content of ``index.meta``.

    Attributes:
        source_hash: SHA-256 over relative path and bytes of the files that are indexed.
        indexed_at: UTC, ISO 8601, with offset.
        file_count: Files that the documents came from.
        config_hash: SHA-256 over ``settings``.
        settings: Each setting that shapes the index, by its YAML name.
        generation: Folder name below ``output/`` and ``lancedb/``.
        skipped: Files that are not in the index, by relative path, and why.
        warnings: What the builder of the index should know.
        account: What became of every piece of the build.
    """

    tool_name: str
    source_path: str
    source_hash: str
    indexed_at: str
    file_count: int
    entity_count: int = 0
    relationship_count: int = 0
    community_count: int = 0
    graphrag_version: str = ""
    config_hash: str = ""
    document_count: int = 0
    text_unit_count: int = 0
    report_count: int = 0
    merged_entity_count: int = 0
    vector_size: int = 0
    generation: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    calls: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    account: BuildAccount = field(default_factory=BuildAccount)

    def to_dict(self) -> dict[str, Any]:  # Any: JSON
        """Return the fields as JSON types."""
        return {**asdict(self), "warnings": list(self.warnings)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> IndexMetadata:
        """Read what ``to_dict`` wrote; keys of a later version are left aside.

        Raises:
            TypeError: A field without a default is missing.
        """
        known = {item.name for item in fields(cls)}
        content = {key: value for key, value in data.items() if key in known}
        content["warnings"] = tuple(content.get("warnings", ()))
        content["account"] = _account(content.get("account", {}))
        return cls(**content)


def _account(data: Mapping[str, Any]) -> BuildAccount:  # Any: JSON
    """Read the account."""
    content = _known(BuildAccount, data)
    failures = tuple(Failure(**_known(Failure, each)) for each in content.get("failures", ()))
    return BuildAccount(**{**content, "failures": failures})


def _known(kind: type[BuildAccount | Failure], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of ``kind``; keys of a later version are left aside.

    Raises:
        TypeError: There is something else where they should be.
    """
    if not isinstance(data, Mapping):
        raise TypeError(f"{kind.__name__} is read from a mapping, not from {type(data).__name__}")
    names = {item.name for item in fields(kind)}
    return {key: value for key, value in data.items() if key in names}


class GraphRAGStorage:
    """The folder of one tool's index.

    Args:
        tool_config: The tool; its ``graphrag.storage_dir`` names the folder.
        base_dir: What relative paths resolve against; default: the working directory.
    """

    METADATA_FILE = "index.meta"
    OUTPUT_DIR = "output"
    VECTORS_DIR = "lancedb"
    LOGS_DIR = "logs"
    CACHE_DIR = "cache"

    REQUIRED_TABLES: ClassVar[list[str]] = [
        "entities",
        "relationships",
        "communities",
        "community_reports",
        "text_units",
    ]

    def __init__(self, tool_config: VectorstoreTool, base_dir: Path | None = None) -> None:
        self.tool_name = tool_config.name
        self._tool_config = tool_config
        self._base_dir = Path(base_dir) if base_dir is not None else Path.cwd()
        self._storage_dir = resolve_storage_dir(tool_config, self._base_dir)
        self._generations = Generations(
            self._storage_dir / self.OUTPUT_DIR, self._storage_dir / self.VECTORS_DIR
        )

    # --- places -------------------------------------------------------------------------------

    @property
    def storage_dir(self) -> Path:
        """Root of this tool's index."""
        return self._storage_dir

    @property
    def output_dir(self) -> Path:
        """The folder that holds the current tables."""
        return self._current(self.OUTPUT_DIR)

    @property
    def vectors_dir(self) -> Path:
        """The LanceDB folder of the current generation."""
        return self._current(self.VECTORS_DIR)

    @property
    def cache_dir(self) -> Path:
        """The folder of the reply cache: the project's, or this index's own.

        An explicit ``storage_dir`` has its own.
        """
        graphrag = self._tool_config.graphrag
        if graphrag is not None and graphrag.storage_dir:
            return self.storage_dir / self.CACHE_DIR
        return self._base_dir / ".holodeck" / "cache"

    @property
    def logs_dir(self) -> Path:
        """The folder of the build logs."""
        return self.storage_dir / self.LOGS_DIR

    @property
    def metadata_path(self) -> Path:
        """The commit record."""
        return self.storage_dir / self.METADATA_FILE

    @property
    def lock_path(self) -> Path:
        """The file that the one builder holds a lock on."""
        return self.storage_dir / ".lock"

    def _current(self, folder: str) -> Path:
        metadata = self.get_metadata()
        root = self.storage_dir / folder
        return root / metadata.generation if metadata and metadata.generation else root

    def generation_dirs(self, generation: str) -> tuple[Path, Path]:
        """Return the folders of a generation's tables and vectors."""
        tables, vectors = self._generations.folders(generation)
        return tables, vectors

    def ensure_directories(self) -> None:
        """Create the folders and mark the root as ours.

        Raises:
            ConfigError: Something that is not a folder is in the way, or it cannot be written.
        """
        try:
            for folder in (
                self.storage_dir,
                self.storage_dir / self.OUTPUT_DIR,
                self.storage_dir / self.VECTORS_DIR,
                self.cache_dir,
                self.logs_dir,
            ):
                folder.mkdir(parents=True, exist_ok=True)
            for folder in (self.storage_dir, self.cache_dir):
                (folder / OWN_FOLDER_MARK).touch()
        except OSError as error:
            raise ConfigError(
                f"the index of tool {self.tool_name!r} cannot be kept in {self.storage_dir}: "
                f"{error.strerror or error} ({error.filename}); free that path or set "
                "graphrag.storage_dir",
                field="graphrag.storage_dir",
            ) from error

    # --- the commit record ----------------------------------------------------------------------

    def has_valid_index(self) -> bool:
        """Tell whether every required table of the current index is there and not empty."""
        return self.missing_table() is None

    def missing_table(self) -> str | None:
        """Return the first required table that is not there, or ``None``."""
        for table in self.REQUIRED_TABLES:
            if not self._table_files(table):
                return table
        return None

    def _missing_part(self, metadata: IndexMetadata) -> str | None:
        """Return the first part, beside the required tables, without which a search fails."""
        if not self._table_files("sources"):
            return "sources"
        if metadata.entity_count and not (self.vectors_dir / ENTITY_VECTORS).is_dir():
            return ENTITY_VECTORS
        return None

    def get_metadata(self) -> IndexMetadata | None:
        """Return the commit record, or ``None`` (with a warning when it is damaged)."""
        return read_record(self.metadata_path, IndexMetadata.from_dict)

    def save_metadata(self, metadata: IndexMetadata) -> None:
        """Commit: replace the record in one step, so that a reader sees the old or the new."""
        write_record(self.metadata_path, metadata.to_dict())

    # --- change detection -----------------------------------------------------------------------

    def compute_source_hash(self, source_path: Path) -> str:
        """Return the SHA-256 over relative path and bytes of the files that are indexed."""
        return source_hash(Path(source_path), read_options(self._tool_config))

    def needs_reindex(self, source_path: Path) -> bool:
        """Tell whether the documents changed since the last build, or there was none."""
        return self.stale_reason(source_path) is not None

    def stale_reason(self, source_path: Path) -> str | None:
        """Return why the index must be built again, or ``None``; settings are not looked at."""
        metadata = self.get_metadata()
        if metadata is None:
            return "there is no index yet"
        missing = self.missing_table() or self._missing_part(metadata)
        if missing is not None:
            return f"{missing!r} of the index is missing"
        if self.compute_source_hash(source_path) != metadata.source_hash:
            return "the documents changed"
        return None

    # --- generations ----------------------------------------------------------------------------

    def new_generation(self) -> str:
        """Return a generation name that no build of this index used before."""
        return self._generations.new(self._current_generation())

    def lease(self, generation: str) -> Lease:
        """Keep a generation from being swept until the lease is released."""
        return self._generations.lease(generation)

    def sweep(self) -> None:
        """Delete generations that are not current and that no reader holds.

        Only folders that a build of ours named (digits) are looked at.
        """
        self._generations.sweep(self._current_generation())

    def _current_generation(self) -> str:
        metadata = self.get_metadata()
        return metadata.generation if metadata else ""

    def clear_index(self) -> None:
        """Delete the index and keep the reply cache, which was paid for."""
        self.metadata_path.unlink(missing_ok=True)
        self.sweep()
        self.ensure_directories()

    # --- tables ---------------------------------------------------------------------------------

    def _table_files(self, table: str) -> list[Path]:
        """Return the files of a table, in today's or in the older ``create_final_*`` spelling."""
        name = table.removeprefix(_OLD_PREFIX)
        for spelling in (name, _OLD_PREFIX + name):
            file = self.output_dir / f"{spelling}.parquet"
            if file.is_file() and file.stat().st_size:
                return [file]
            parts = sorted((self.output_dir / spelling).glob("*.parquet"))
            if parts:
                return parts
        return []

    def load_table(self, table_name: str) -> pd.DataFrame:
        """Return a table of the current index.

        Raises:
            TableNotFoundError: Also a ``FileNotFoundError``; missing or damaged.
        """
        import pandas as pd

        files = self._table_files(table_name)
        if not files:
            raise TableNotFoundError(
                f"table {table_name!r} not found in {self.output_dir}: build the index with "
                "'holodeck index'"
            )
        try:
            frames = [pd.read_parquet(file) for file in files]
        except (OSError, ValueError) as error:
            raise TableNotFoundError(
                f"table {table_name!r} in {self.output_dir} is damaged "
                f"({type(error).__name__}): build the index again with 'holodeck index --force'"
            ) from error
        return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
