"""Where an index lies and how one generation replaces another."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from holodeck.errors import ConfigError, TableNotFoundError
from holodeck.lib.contracts import BuildAccount, Failure
from holodeck.lib.documents import OWN_FOLDER_MARK
from holodeck.lib.graphrag.storage import GraphRAGStorage, IndexMetadata
from holodeck.lib.graphrag.tables import SCHEMAS, write_rows
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool

pytestmark = pytest.mark.unit


def tool(storage_dir: Path | None = None) -> VectorstoreTool:
    graphrag = GraphRAGConfig(storage_dir=str(storage_dir) if storage_dir else None)
    return VectorstoreTool(
        name="test_storage",
        type="vectorstore",
        source="data/",
        description="Test",
        engine="graphrag",
        graphrag=graphrag,
    )


def metadata(**changes: object) -> IndexMetadata:
    fields: dict[str, object] = {
        "tool_name": "test",
        "source_path": "/data/docs",
        "source_hash": "abc123",
        "indexed_at": "2024-01-01T00:00:00+00:00",
        "file_count": 10,
        "entity_count": 100,
    }
    return IndexMetadata.from_dict({**fields, **changes})


def publish(storage: GraphRAGStorage, **changes: object) -> str:
    """Publish an empty generation and return its name."""
    generation = storage.new_generation()
    tables, vectors = storage.generation_dirs(generation)
    tables.mkdir(parents=True)
    vectors.mkdir(parents=True)
    for table in SCHEMAS:
        write_rows(tables, table, [])
    storage.save_metadata(metadata(**{"entity_count": 0, **changes, "generation": generation}))
    return generation


def test_storage_directory_structure(tmp_path: Path) -> None:
    """The folders that the contract names are made where ``storage_dir`` says."""
    storage = GraphRAGStorage(tool(tmp_path / "graphrag"))
    storage.ensure_directories()

    assert storage.storage_dir == tmp_path / "graphrag"
    assert storage.output_dir.exists()
    assert storage.cache_dir.exists()
    assert storage.logs_dir.exists()


def test_index_metadata_serialization() -> None:
    """What is written is what is read."""
    restored = IndexMetadata.from_dict(json.loads(json.dumps(metadata().to_dict())))

    assert restored == metadata()
    assert restored.entity_count == 100


def test_what_became_of_a_build_is_read_as_it_was_written() -> None:
    """Every failure comes back whole; what a later version adds to one is left aside."""
    failure = Failure(what="chunk", id="u1", place="a.pdf, page 2", cause="no", passing=True)
    account = BuildAccount(chunks={"done": 3, "failed": 1}, merged=2, failures=(failure,))
    written = json.loads(json.dumps(replace(metadata(), account=account).to_dict()))
    written["account"]["failures"][0]["later"] = written["account"]["later"] = 1

    assert IndexMetadata.from_dict(written).account == account


@pytest.mark.parametrize("account", [[], "x", {"failures": ["x"]}])
def test_a_damaged_account_is_no_index(account: object, tmp_path: Path) -> None:
    """It is warned of like any damaged record, and never a crash."""
    storage = GraphRAGStorage(tool(), tmp_path)
    publish(storage)
    record = json.loads(storage.metadata_path.read_text(encoding="utf-8"))
    text = json.dumps({**record, "account": account})
    storage.metadata_path.write_text(text, encoding="utf-8")

    assert storage.get_metadata() is None


def test_the_default_folder_is_named_by_the_tool(tmp_path: Path) -> None:
    """Without ``storage_dir`` the index lies below the base folder; the cache is the project's."""
    storage = GraphRAGStorage(tool(), tmp_path)

    assert storage.storage_dir == tmp_path / ".holodeck" / "graphrag" / "test_storage"
    assert storage.cache_dir == tmp_path / ".holodeck" / "cache"


def test_the_folders_are_marked_as_ours(tmp_path: Path) -> None:
    """A marked folder is never read as documents, wherever it lies."""
    storage = GraphRAGStorage(tool(), tmp_path)
    storage.ensure_directories()

    assert (storage.storage_dir / OWN_FOLDER_MARK).exists()
    assert (storage.cache_dir / OWN_FOLDER_MARK).exists()


def test_a_file_in_the_way_is_a_configuration_error(tmp_path: Path) -> None:
    """The message names the path and the setting; nothing is deleted."""
    (tmp_path / "graphrag").write_text("mine", encoding="utf-8")

    with pytest.raises(ConfigError, match=r"graphrag\.storage_dir"):
        GraphRAGStorage(tool(tmp_path / "graphrag")).ensure_directories()

    assert (tmp_path / "graphrag").read_text(encoding="utf-8") == "mine"


def test_the_record_decides_which_tables_are_current(tmp_path: Path) -> None:
    """A generation that is being built is not seen; ``output_dir`` is the published one's."""
    storage = GraphRAGStorage(tool(tmp_path))
    first = publish(storage)
    second = storage.new_generation()
    storage.generation_dirs(second)[0].mkdir()

    assert storage.output_dir == tmp_path / "output" / first
    assert storage.has_valid_index()

    assert publish(storage) > second
    assert storage.output_dir.name > second


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"tool_name": 1}', "\x00\xff"],
    ids=["empty", "list", "cut", "short", "bytes"],
)
def test_a_damaged_record_is_no_index(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A corrupt or foreign ``index.meta`` counts as no index, with a warning and no crash."""
    storage = GraphRAGStorage(tool(tmp_path))
    storage.metadata_path.write_bytes(content.encode("latin-1"))

    with caplog.at_level(logging.WARNING):
        assert storage.get_metadata() is None
    assert "counts as no index" in caplog.text


def test_a_record_of_a_later_version_is_read() -> None:
    """Keys that this version does not know are left aside."""
    assert IndexMetadata.from_dict({**metadata().to_dict(), "later": 1}) == metadata()


def test_the_record_is_utf8_whatever_the_locale(tmp_path: Path) -> None:
    """Names in any script come back as they were."""
    storage = GraphRAGStorage(tool(tmp_path))
    storage.save_metadata(metadata(source_path="문서 🚀"))

    assert "문서 🚀" in storage.metadata_path.read_bytes().decode("utf-8")
    assert storage.get_metadata() == metadata(source_path="문서 🚀")


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    """An index without one of its tables is not valid and says which."""
    storage = GraphRAGStorage(tool(tmp_path))
    generation = publish(storage)
    (storage.generation_dirs(generation)[0] / "entities.parquet").unlink()

    assert storage.missing_table() == "entities"
    with pytest.raises(FileNotFoundError, match="'entities' not found"):
        storage.load_table("entities")


def test_a_damaged_table_is_a_file_not_found(tmp_path: Path) -> None:
    """A table that cannot be read says so, and what to do."""
    storage = GraphRAGStorage(tool(tmp_path))
    generation = publish(storage)
    (storage.generation_dirs(generation)[0] / "entities.parquet").write_bytes(b"PAR1 cut")

    with pytest.raises(TableNotFoundError, match="damaged"):
        storage.load_table("entities")


@pytest.mark.parametrize("as_folder", [False, True], ids=["file", "folder"])
def test_older_spellings_of_tables_are_read(tmp_path: Path, as_folder: bool) -> None:
    """``create_final_*`` tables of older releases load by either name, file or folder of parts."""
    storage = GraphRAGStorage(tool(tmp_path))
    output = tmp_path / "output"
    place = output / "create_final_entities" if as_folder else output
    place.mkdir(parents=True)
    write_rows(place, "entities", [{"id": "1", "title": "Ann"}])
    if not as_folder:
        (output / "entities.parquet").rename(output / "create_final_entities.parquet")

    assert list(storage.load_table("entities")["title"]) == ["Ann"]
    assert list(storage.load_table("create_final_entities")["title"]) == ["Ann"]


def test_a_generation_that_is_read_is_not_swept(tmp_path: Path) -> None:
    """Old generations go when no reader is left, and never the current one."""
    storage = GraphRAGStorage(tool(tmp_path))
    old = publish(storage)
    lease = storage.lease(old)
    current = publish(storage)

    storage.sweep()
    assert storage.generation_dirs(old)[0].exists()

    lease.release()
    storage.sweep()
    assert not storage.generation_dirs(old)[0].exists()
    assert not storage.generation_dirs(old)[1].exists()
    assert storage.generation_dirs(current)[0].exists()


def test_clearing_keeps_the_cache_and_what_is_not_ours(tmp_path: Path) -> None:
    """Only generations and the record go: the cache was paid for, other files are the user's."""
    storage = GraphRAGStorage(tool(tmp_path))
    publish(storage)
    storage.ensure_directories()
    (storage.cache_dir / "replies.sqlite").write_bytes(b"paid")
    (tmp_path / "output" / "notes").mkdir()
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")

    storage.clear_index()

    assert not storage.has_valid_index()
    assert storage.get_metadata() is None
    assert (storage.cache_dir / "replies.sqlite").read_bytes() == b"paid"
    assert (tmp_path / "output" / "notes").exists()
    assert (tmp_path / "mine.txt").exists()


def test_missing_vectors_make_an_index_stale(tmp_path: Path) -> None:
    """What a search would silently miss is built again: vectors and the places of the texts."""
    docs = tmp_path / "docs"
    docs.mkdir()
    storage = GraphRAGStorage(tool(tmp_path / "index"))
    source_hash = storage.compute_source_hash(docs)
    generation = publish(storage, entity_count=3, source_hash=source_hash)
    vectors = storage.generation_dirs(generation)[1] / "entity_description.lance"

    assert storage.needs_reindex(docs)
    vectors.mkdir()
    assert not storage.needs_reindex(docs)
    (storage.output_dir / "sources.parquet").unlink()
    assert storage.needs_reindex(docs)


def test_change_is_a_matter_of_content(tmp_path: Path) -> None:
    """A touch changes nothing, an edit of the same size does."""
    docs = tmp_path / "docs"
    docs.mkdir()
    file = docs / "a.txt"
    file.write_text("Ann runs Orion", encoding="utf-8")
    storage = GraphRAGStorage(tool(tmp_path / "index"))

    before = storage.compute_source_hash(docs)
    publish(storage, source_hash=before)
    file.touch()
    assert not storage.needs_reindex(docs)

    file.write_text("Bob runs Orion", encoding="utf-8")
    assert storage.needs_reindex(docs)
