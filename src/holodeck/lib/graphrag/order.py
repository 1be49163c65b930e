"""What is to be built, as data that crosses to the child process, and the carrying out of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from holodeck.lib.contracts import Failure, Progress
from holodeck.lib.graphrag.build import STEPS, Build
from holodeck.lib.graphrag.config import build_graphrag_config
from holodeck.lib.graphrag.library import run_workflows
from holodeck.lib.graphrag.open_index import DERIVED_VERSION, derive_index
from holodeck.lib.graphrag.thinkers import open_claim_steps, open_index_steps
from holodeck.lib.imports import load_object
from holodeck.lib.indexes.files import MEMO_FILE
from holodeck.lib.indexes.step_memo import StepMemo
from holodeck.lib.resources import ResolvedTool, Resources
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import ModelSettings
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool

__all__ = ["BuildOrder", "run_order", "step_memo"]


@dataclass(frozen=True, kw_only=True)
class BuildOrder:
    """One generation to build from the prepared tables in ``output``.

    Attributes:
        environ: The providers' variables, which may come from a ``.env`` file.
        vector_width: Of the vectors that the embedding model gives, where it was asked.
        known_failures: What failed in the last build and is not asked for again.
        memo: What the steps of the published generation made of what; ``None``: all is made anew.
        settings_hash: What a memo of the same settings is known by.
    """

    resolved: ResolvedTool
    execution: ExecutionConfig
    environ: Mapping[str, str]
    storage_dir: Path
    source: Path
    output: Path
    vectors: Path
    cache_dir: Path
    log_file: Path
    vector_width: int | None = None
    known_failures: Sequence[Failure] = ()
    memo: Path | None = None
    settings_hash: str = ""

    def to_json(self) -> str:
        """Return the order as one line. It may hold keys: it goes through a pipe, never a file."""
        return json.dumps(
            {
                "tool": _dump(self.resolved.tool),
                "embedding": _dump(self.resolved.embedding),
                "execution": _dump(self.execution),
                "environ": dict(self.environ),
                "vector_width": self.vector_width,
                "known_failures": [asdict(failure) for failure in self.known_failures],
                "memo": None if self.memo is None else str(self.memo),
                "settings_hash": self.settings_hash,
                "paths": {
                    name: str(getattr(self, name))
                    for name in (
                        "storage_dir",
                        "source",
                        "output",
                        "vectors",
                        "cache_dir",
                        "log_file",
                    )
                },
            }
        )

    @classmethod
    def from_json(cls, text: str) -> BuildOrder:
        """Read what ``to_json`` wrote."""
        data = json.loads(text)
        return cls(
            resolved=ResolvedTool(
                tool=VectorstoreTool.model_validate(data["tool"]),
                embedding=ModelSettings.model_validate(data["embedding"]),
            ),
            execution=ExecutionConfig.model_validate(data["execution"]),
            environ=data["environ"],
            vector_width=data["vector_width"],
            known_failures=tuple(Failure(**failure) for failure in data["known_failures"]),
            memo=None if data["memo"] is None else Path(data["memo"]),
            settings_hash=data["settings_hash"],
            **{name: Path(path) for name, path in data["paths"].items()},
        )


def _dump(model: Any) -> dict[str, Any]:
    """Return the set fields of a model as JSON, secrets in clear."""
    return {
        key: _plain(value)
        for key, value in model.model_dump(exclude_unset=True).items()
        if value is not None
    }


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, dict):
        # None is kept here: temperature: null means that none is sent.
        return {key: _plain(item) for key, item in value.items()}
    return value


def step_memo(file: Path | None, settings_hash: str) -> StepMemo:
    """Return what the steps of a build with these settings made of what."""
    return StepMemo(file, f"{DERIVED_VERSION} {settings_hash}")


async def run_order(
    order: BuildOrder, resources: Resources, report: Callable[[Progress], None]
) -> Build:
    """Build the generation; its tables and vectors stand when this returns.

    Raises:
        CostLimitError: The next call could pass ``max_cost`` of the order.
        IndexingError: A step failed.
    """
    with resources.capped(order.execution.max_cost):
        return await _run_order(order, resources, report)


async def _run_order(
    order: BuildOrder, resources: Resources, report: Callable[[Progress], None]
) -> Build:
    steps = open_index_steps(order.resolved, resources)
    graphrag = order.resolved.tool.graphrag or GraphRAGConfig()
    build = Build(
        output=order.output,
        vectors=order.vectors,
        steps=steps,
        claims=open_claim_steps(order.resolved, steps),
        embedder=resources.embedder(
            order.resolved.embedding, "embedding_model", width=order.vector_width
        ),
        concurrency=order.execution.concurrency,
        report=report,
        max_failed_share=graphrag.max_failed_share,
        summarize=graphrag.summarize,
        summary_threshold=graphrag.summary_threshold,
        report_threshold=graphrag.quoted_tokens,
        communities=graphrag.communities,
        known_failures={(each.what, each.id): each for each in order.known_failures},
        memo=step_memo(order.memo, order.settings_hash),
    )
    config = build_graphrag_config(
        order.resolved.tool,
        order.storage_dir,
        # The library makes it a folder if it is none; documents are read before it runs.
        order.source if order.source.is_dir() else order.source.parent,
        output_dir=order.output,
        vectors_dir=order.vectors,
    )

    chosen = [step for step in STEPS if build.claims is not None or not step.only_with_claims]

    def bound(function: str) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            await load_object(function)(build)

        return run

    try:
        await run_workflows(config, {step.workflow: bound(step.function) for step in chosen})
    finally:
        await build.embedding.close()
    # Here and not at the first search: it takes a while, and the store is open in this process.
    written = build.embedding.written
    await asyncio.to_thread(derive_index, order.output, order.vectors, build.memo, written)
    build.memo.write(order.output / MEMO_FILE)
    resources.paid.note_keys(build.memo.reply_keys)
    return build
