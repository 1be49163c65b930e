"""Documents → a generation of tables and vectors: the knowledge graph."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from holodeck.errors import IndexingError
from holodeck.lib.chunking import ChunkEnds
from holodeck.lib.contracts import (
    EstimateRow,
    Failure,
    ProgressListener,
    RetryFailed,
    Spending,
)
from holodeck.lib.graphrag.build import STEPS
from holodeck.lib.graphrag.callbacks import IndexingCallbacks
from holodeck.lib.graphrag.estimate import estimate_rows
from holodeck.lib.graphrag.failures import failed_last_time, is_retried
from holodeck.lib.graphrag.fingerprint import config_hash, shaping_settings
from holodeck.lib.graphrag.graph_index import PROMPTS_FILE
from holodeck.lib.graphrag.library import library_version
from holodeck.lib.graphrag.open_index import derive_index
from holodeck.lib.graphrag.order import BuildOrder, run_order, step_memo
from holodeck.lib.graphrag.prepare import write_prepared
from holodeck.lib.graphrag.prompts import SEARCH_PROMPTS, read_prompts
from holodeck.lib.graphrag.rehearse import imagined, rehearse
from holodeck.lib.graphrag.settings_file import write_settings_file
from holodeck.lib.graphrag.storage import GraphRAGStorage, IndexMetadata
from holodeck.lib.graphrag.tables import ALWAYS, OURS, read_columns, read_rows, write_rows
from holodeck.lib.graphrag.take_over import take_over
from holodeck.lib.graphrag.thinkers import INDEXING, open_claim_steps, open_index_steps
from holodeck.lib.graphrag.worker_process import BuildOutcome, build_in_child
from holodeck.lib.indexes.corpus import Corpus
from holodeck.lib.indexes.files import MEMO_FILE
from holodeck.lib.indexes.indexer import Indexer, PaidModel
from holodeck.lib.indexes.space import free_bytes
from holodeck.lib.indexes.threads import to_its_end
from holodeck.lib.resources import ResolvedTool, Resources, resolve_tool
from holodeck.lib.unasked import UnaskedResources
from holodeck.models.config import ExecutionConfig
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool

__all__ = ["BuildOutcome", "GraphRAGIndexer", "IndexingCallbacks", "IndexingError"]


class GraphRAGIndexer(Indexer[IndexMetadata]):
    """Builds the index of one tool, aside, and publishes it in one step.

    Args:
        tool_config: The tool.
        storage: Where its index lies.
        resolved: The tool with its models filled in; default: filled in without an agent.
        execution: Time budgets and concurrency.
        resources: Where models come from.
        in_process: Build in this process instead of a child.
        on_progress: Told how far the build is.
        wait_for_builder: Wait while another process builds this index, at most as long as a build
            may take, instead of failing at once.
        free_bytes: Says how much room there is in a folder.
    """

    embedding_settings: ClassVar[tuple[str, ...]] = ("graphrag.embedding_model",)

    def __init__(
        self,
        tool_config: VectorstoreTool,
        storage: GraphRAGStorage,
        *,
        resolved: ResolvedTool | None = None,
        execution: ExecutionConfig | None = None,
        resources: Resources | None = None,
        in_process: bool = False,
        on_progress: ProgressListener | None = None,
        wait_for_builder: bool = True,
        free_bytes: Callable[[Path], int] = free_bytes,
    ) -> None:
        self.tool_config = tool_config
        self.storage = storage
        self._in_process = in_process
        self._callbacks = IndexingCallbacks(tool_config.name, on_progress)
        chosen = execution or ExecutionConfig()
        self._cache_dir = storage.cache_dir_for(chosen)
        super().__init__(
            resolved or resolve_tool(tool_config),
            storage,
            execution=chosen,
            resources=resources or Resources(chosen, cache_dir=self._cache_dir),
            on_progress=self._callbacks,
            wait_for_builder=wait_for_builder,
            free_bytes=free_bytes,
        )

    @property
    def _graphrag(self) -> GraphRAGConfig:
        return self._tool.graphrag or GraphRAGConfig()

    @property
    def chunking(self) -> tuple[int, int, ChunkEnds]:
        """Size of a chunk and overlap of two, in tokens."""
        graphrag = self._graphrag
        return graphrag.chunk_size, graphrag.chunk_overlap, self._tool.chunk_ends

    def shaping_settings(self) -> Mapping[str, str]:
        """Return every setting, prompt and version that shapes the index, by its YAML name."""
        return shaping_settings(self._resolved, self._resources)

    def is_given(self, force: bool = False) -> bool:
        """Tell whether the library's own command line built the index.

        Raises:
            ConfigError: ``force``, and it did.
        """
        if force:
            self.storage.refuse_foreign()
        return self.storage.is_foreign

    def paid_models(self) -> list[PaidModel]:
        """Return the indexing and the embedding model."""
        embedding = self._resolved.embedding
        where = self._resolved.embedding_where
        models = [PaidModel(settings=embedding, kind="embedding", where=where)]
        indexing = self._graphrag.indexing_model
        if indexing is not None:
            models.insert(0, PaidModel(settings=indexing, kind="chat", where=INDEXING))
        return models

    def check(self) -> None:
        """Find what is missing of what builds, before a document is read."""
        super().check()
        open_claim_steps(self._resolved, open_index_steps(self._resolved, self._resources))

    def foreign_version(self, record: IndexMetadata) -> str | None:
        """Return which version of the library built the index, where it is another one."""
        version = library_version()
        if record.graphrag_version == version:
            return None
        built_with = record.graphrag_version or "of an unknown version"
        return f"it was built with graphrag {built_with}, and graphrag {version} is installed"

    def stale_piece(self, record: IndexMetadata, retry_failed: RetryFailed) -> str | None:
        """Return which pieces failed last time and are asked for again."""
        return failed_last_time(record.account.failures, retry_failed)

    def holds(self, record: IndexMetadata, corpus: Corpus) -> bool:
        """Tell whether the texts are those of the index, wherever they stand now."""
        if record.account.failures or self._execution.cache is not True:
            return False
        indexed = read_columns(self.storage.output_dir, "text_units", ["id"])["id"]
        return indexed == [unit.id for unit in corpus.prepared.text_units]

    def finish(self, record: IndexMetadata) -> None:
        """Write the settings file of the library's command line, where one is asked for."""
        if self._graphrag.settings_file:
            write_settings_file(self._resolved, self.storage, record)

    def needed_bytes(self, corpus: Corpus, width: int) -> int:
        """Estimate: tables, what is derived and what is remembered are 45 times the text.

        On 295 passages with dense facts, of 530 bytes each, 42 were measured. A chunk brings 28
        vectors, measured 26: its own, its entities' and those of reports, nearly all kept twice,
        for the library in LanceDB and for a search. What models reply is kept elsewhere.
        """
        return 45 * corpus.text_bytes + len(corpus.prepared.text_units) * 28 * 4 * width

    async def estimate_rows(self, corpus: Corpus) -> list[EstimateRow]:
        """Return what the steps will ask of models, as far as it is known."""
        resources = UnaskedResources(self._execution, cache_dir=self._cache_dir, imagine=imagined)
        try:
            rehearsal = await rehearse(
                corpus.prepared,
                self._resolved,
                resources,
                known_failures=self._known_failures(corpus),
                vector_width=corpus.vector_width,
                memo=step_memo(self._memo_file(corpus), config_hash(corpus.settings)),
            )
            return estimate_rows(rehearsal, self._resolved)
        finally:
            await resources.close()

    async def fill(self, corpus: Corpus) -> IndexMetadata:
        """Write every table and vector of the generation, or take over what is the same."""
        tables, vectors = self.storage.generation_dirs(corpus.generation)
        tables.mkdir(parents=True)
        vectors.mkdir(parents=True)
        held = await to_its_end(take_over, corpus, self.storage)
        if held is not None:
            self._resources.paid.note_uses_of(held.generation)
            return _placed(corpus, held)
        self._callbacks.pipeline_start([step.workflow for step in STEPS])
        await to_its_end(_write_start, corpus, tables, vectors)
        outcome = BuildOutcome()
        if corpus.prepared.text_units:
            try:
                outcome = await self._carry_out(corpus, tables, vectors)
            except IndexingError as error:
                self._callbacks.pipeline_error(error)
                if type(error) is not IndexingError:  # one of a kind of its own speaks for itself
                    raise
                raise IndexingError(f"GraphRAG indexing failed: {error}") from error
        self._callbacks.pipeline_end(())
        return await to_its_end(_metadata, corpus, tables, outcome)

    async def _carry_out(self, corpus: Corpus, tables: Path, vectors: Path) -> BuildOutcome:
        """Run the steps, in a child process unless the models are objects of this one."""
        order = BuildOrder(
            resolved=self._resolved,
            execution=self._execution.model_copy(
                update={"max_cost": self._resources.left_of_cap()}
            ),
            environ=self._resources.reach.environ,
            storage_dir=self.storage.storage_dir,
            source=corpus.source,
            output=tables,
            vectors=vectors,
            cache_dir=self._cache_dir,
            log_file=self.storage.logs_dir / f"build-{corpus.generation}.log",
            vector_width=corpus.vector_width,
            known_failures=self._known_failures(corpus),
            memo=self._memo_file(corpus),
            settings_hash=config_hash(corpus.settings),
        )
        if not self._in_process:
            return await build_in_child(order, self._watch.tell)
        build = await run_order(order, self._resources, self._watch.tell)
        return BuildOutcome(
            counts=build.counts, warnings=tuple(build.warnings), account=build.account
        )

    def _memo_file(self, corpus: Corpus) -> Path | None:
        """Return what the published generation was made of, unless all is to be made again."""
        record = self.storage.get_metadata()
        if record is None or corpus.force or self._execution.cache is not True:
            return None
        return self.storage.generation_dirs(record.generation)[0] / MEMO_FILE

    def _known_failures(self, corpus: Corpus) -> tuple[Failure, ...]:
        """Return what failed in the last build and is not to be asked for again.

        Other settings, or no cache, ask for everything.
        """
        metadata = self.storage.get_metadata()
        if metadata is None or self._execution.cache is not True:
            return ()
        if metadata.config_hash != config_hash(corpus.settings):
            return ()
        return tuple(
            failure
            for failure in metadata.account.failures
            if not is_retried(failure, corpus.retry_failed)
        )


def _write_start(corpus: Corpus, tables: Path, vectors: Path) -> None:
    """Write what a build starts from; without any text, that is all there is."""
    write_prepared(corpus.prepared, tables)
    prompts = json.dumps(read_prompts(SEARCH_PROMPTS), ensure_ascii=False)
    (tables / PROMPTS_FILE).write_text(prompts, encoding="utf-8")
    if not corpus.prepared.text_units:
        for table in ALWAYS:
            if not (tables / f"{table}.parquet").exists():
                write_rows(tables, table, [])
        derive_index(tables, vectors)


def _placed(corpus: Corpus, held: IndexMetadata) -> IndexMetadata:
    """Return what an index says whose texts only stand elsewhere; nothing was asked for it."""
    return replace(
        held,
        **corpus.record_fields(),
        document_count=len(corpus.prepared.documents),
        warnings=(*corpus.warnings, *held.step_warnings),
        calls={},
        spending=Spending(),
        files={},
    )


def _metadata(corpus: Corpus, tables: Path, outcome: BuildOutcome) -> IndexMetadata:
    counts = {name: len(read_rows(tables, name, ["id"])) for name in ALWAYS if name not in OURS}
    warnings = list(outcome.warnings)
    if corpus.prepared.text_units and not counts["entities"]:
        warnings.append("no entities were found in the documents: the graph is empty")
    return IndexMetadata(
        **corpus.record_fields(),
        entity_count=counts["entities"],
        relationship_count=counts["relationships"],
        community_count=counts["communities"],
        report_count=counts["community_reports"],
        document_count=counts["documents"],
        text_unit_count=counts["text_units"],
        merged_entity_count=outcome.counts.get("merged_entities", 0),
        vector_size=outcome.counts.get("vector_size", 0),
        graphrag_version=library_version(),
        calls=outcome.calls,
        warnings=(*corpus.warnings, *warnings),
        step_warnings=tuple(warnings),
        account=outcome.account,
        spending=outcome.spending,
    )
