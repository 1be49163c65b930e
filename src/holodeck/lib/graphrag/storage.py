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
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from holodeck.errors import ConfigError, TableNotFoundError
from holodeck.lib.contracts import BuildAccount
from holodeck.lib.documents import OWN_FOLDER_MARK
from holodeck.lib.foreign_tables import OLD_PREFIX, find_foreign_tables, table_files
from holodeck.lib.graphrag.foreign import ForeignIndex, find_foreign
from holodeck.lib.indexes.files import DERIVED_FILE, MEMO_FILE
from holodeck.lib.indexes.folder import IndexFolder
from holodeck.lib.indexes.leases import Lease, NoLease
from holodeck.lib.indexes.record import IndexRecord
from holodeck.lib.paths import resolve_own_dir
from holodeck.lib.readers.options import read_options
from holodeck.lib.readers.source import source_hash
from holodeck.models.config import ExecutionConfig

if TYPE_CHECKING:
    import pandas as pd

    from holodeck.models.tool import VectorstoreTool

__all__ = ["GraphRAGStorage", "IndexMetadata"]

ENTITY_VECTORS = "entity_description.lance"


@dataclass(frozen=True, kw_only=True)
class IndexMetadata(IndexRecord):
    """What an index says of itself: the content of ``index.meta``.

    Attributes:
        graphrag_version: The library that built it.
        merged_entity_count: Spellings of names that were joined to another spelling.
        calls: Answered model calls by purpose.
        account: What became of every piece of the build.
        step_warnings: Those of the warnings that are not of what was read.
    """

    entity_count: int = 0
    relationship_count: int = 0
    community_count: int = 0
    graphrag_version: str = ""
    document_count: int = 0
    text_unit_count: int = 0
    report_count: int = 0
    merged_entity_count: int = 0
    calls: Mapping[str, int] = field(default_factory=dict)
    account: BuildAccount = field(default_factory=BuildAccount)
    step_warnings: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """What the index holds."""
        return {
            **super().counts,
            "documents": self.document_count,
            "text_units": self.text_unit_count,
            "entities": self.entity_count,
            "relationships": self.relationship_count,
            "communities": self.community_count,
            "reports": self.report_count,
        }


class GraphRAGStorage(IndexFolder[IndexMetadata]):
    """The folder of one tool's index.

    Args:
        tool_config: The tool; its ``graphrag.storage_dir`` names the folder.
        base_dir: What relative paths resolve against; default: the working directory.
    """

    setting = "graphrag.storage_dir"
    derived = (DERIVED_FILE, MEMO_FILE)

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
        super().__init__(
            tool_config,
            Path(base_dir) if base_dir is not None else Path.cwd(),
            record_type=IndexMetadata,
            parts=[self.OUTPUT_DIR, self.VECTORS_DIR],
        )

    # --- places -------------------------------------------------------------------------------

    @property
    def storage_dir(self) -> Path:
        """Root of this tool's index."""
        return self.root

    @property
    def output_dir(self) -> Path:
        """The folder that holds the current tables."""
        return find_foreign_tables(self.root) or self._current(self.OUTPUT_DIR)

    @property
    def vectors_dir(self) -> Path:
        """The LanceDB folder of the current generation."""
        foreign = self.foreign
        return self._current(self.VECTORS_DIR) if foreign is None else foreign.vectors

    @property
    def is_foreign(self) -> bool:
        """Whether the library's own command line built the index that is here."""
        return find_foreign_tables(self.root) is not None

    @property
    def foreign(self) -> ForeignIndex | None:
        """The index that the library's own command line built here; ``None``: there is none.

        Raises:
            TableNotFoundError: A table of it cannot be read.
        """
        return find_foreign(self.root)

    @property
    def derived_file(self) -> Path:
        """Where what is derived of a foreign index lies: in a folder of ours."""
        return resolve_own_dir(self._tool, self._base_dir) / "foreign" / DERIVED_FILE

    @property
    def cache_dir(self) -> Path:
        """The folder of the reply cache, where ``execution`` says nothing of it."""
        return self.cache_dir_for(ExecutionConfig())

    def cache_dir_for(self, execution: ExecutionConfig) -> Path:
        """Return the folder of the reply cache: the project's, or this index's own.

        An explicit ``storage_dir`` has its own, unless ``execution.cache_dir`` names one.
        """
        graphrag = self._tool.graphrag
        named = graphrag is not None and graphrag.storage_dir
        if execution.cache_dir is None and named and not self.is_foreign:
            return self.root / self.CACHE_DIR
        return super().cache_dir_for(execution)

    @property
    def metadata_path(self) -> Path:
        """The commit record."""
        return self.record_path

    def _current(self, folder: str) -> Path:
        metadata = super().record()
        root = self.storage_dir / folder
        return root / metadata.generation if metadata and metadata.generation else root

    def generation_dirs(self, generation: str) -> tuple[Path, Path]:
        """Return the folders of a generation's tables and vectors."""
        tables, vectors = self.generations.folders(generation)
        return tables, vectors

    def lease(self, generation: str) -> Lease:
        """Keep a generation from being swept; what others built never is."""
        return super().lease(generation) if generation else NoLease()

    def refuse_foreign(self) -> None:
        """Let nothing be written beside an index of others.

        Raises:
            ConfigError: There is one.
        """
        foreign = self.foreign
        if foreign is not None:
            raise ConfigError(
                f"{foreign.tables} holds an index that graphrag {foreign.version} built, which is "
                "only read: set another graphrag.storage_dir to build one with HoloDeck",
                field=self.setting,
            )

    def ensure_directories(self) -> None:
        """Create the folders, that of the reply cache too, and mark those that are ours.

        Raises:
            ConfigError: Something that is not a folder is in the way, or it cannot be written; or
                an index of others is there.
        """
        self.refuse_foreign()
        self.create()
        self.make(self.cache_dir)
        (self.cache_dir / OWN_FOLDER_MARK).touch()

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

    def damage(self, record: IndexMetadata, *, by_content: bool = False) -> str | None:
        """Return what is wrong with the first file of the index that is damaged, or ``None``."""
        if record.files:
            return super().damage(record, by_content=by_content)
        missing = self.missing_table()
        if missing is None and not self._table_files("sources"):
            missing = "sources"
        if missing is not None:
            return f"table {missing!r} is not in {self.output_dir}"
        if record.entity_count and not (self.vectors_dir / ENTITY_VECTORS).is_dir():
            return f"{ENTITY_VECTORS} is not in {self.vectors_dir}"
        return None

    def get_metadata(self) -> IndexMetadata | None:
        """Return the commit record, or ``None`` (with a warning when it is damaged)."""
        return self.record()

    def record(self) -> IndexMetadata | None:
        """Return the commit record, or what the tables of a foreign index say of it.

        Raises:
            TableNotFoundError: A table of a foreign index cannot be read.
        """
        foreign = self.foreign
        if foreign is None:
            return super().record()
        return IndexMetadata(
            tool_name=self.tool_name,
            source_path="",
            source_hash="",
            indexed_at=foreign.indexed_at,
            file_count=foreign.rows["documents"],
            document_count=foreign.rows["documents"],
            text_unit_count=foreign.rows["text_units"],
            entity_count=foreign.rows["entities"],
            relationship_count=foreign.rows["relationships"],
            community_count=foreign.rows["communities"],
            report_count=foreign.rows["community_reports"],
            graphrag_version=foreign.version,
            warnings=(foreign.notice,),
        )

    def save_metadata(self, metadata: IndexMetadata) -> None:
        """Commit: replace the record in one step, so that a reader sees the old or the new."""
        self.commit(metadata)

    # --- change detection -----------------------------------------------------------------------

    def compute_source_hash(self, source_path: Path) -> str:
        """Return the SHA-256 over relative path and bytes of the files that are indexed."""
        return source_hash(Path(source_path), read_options(self._tool))

    def needs_reindex(self, source_path: Path) -> bool:
        """Tell whether there is no whole index, or the documents changed since it was built.

        Settings are not looked at. An index of others is never built anew.
        """
        if self.is_foreign:
            return False
        metadata = self.get_metadata()
        return (
            metadata is None
            or self.damage(metadata) is not None
            or self.compute_source_hash(source_path) != metadata.source_hash
        )

    def clear_index(self) -> None:
        """Delete the index and keep the reply cache, which was paid for.

        Raises:
            ConfigError: The index is of others.
        """
        self.refuse_foreign()
        self.metadata_path.unlink(missing_ok=True)
        self.ledger.clear()
        self.sweep()
        self.ensure_directories()

    # --- tables ---------------------------------------------------------------------------------

    def _table_files(self, table: str) -> list[Path]:
        """Return the files of a table, in today's or in the older ``create_final_*`` spelling."""
        return table_files(self.output_dir, table)

    def get_table_path(self, table_name: str) -> Path:
        """Return the file of a table, the folder of its parts, or where its file would be."""
        files = self._table_files(table_name)
        if not files:
            return self.output_dir / f"{table_name.removeprefix(OLD_PREFIX)}.parquet"
        parent = files[0].parent
        return files[0] if parent == self.output_dir else parent

    def load_table(self, table_name: str) -> pd.DataFrame:
        """Return a table of the current index.

        Raises:
            TableNotFoundError: Also a ``FileNotFoundError``; missing or damaged.
        """
        import pandas as pd

        files = self._table_files(table_name)
        if not files:
            raise TableNotFoundError.of(f"table {table_name!r} not found in {self.output_dir}")
        try:
            frames = [pd.read_parquet(file) for file in files]
        except (OSError, ValueError) as error:
            raise TableNotFoundError.of(
                f"table {table_name!r} in {self.output_dir} is damaged ({type(error).__name__})"
            ) from error
        return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
