"""Every name that is taken from the graphrag library.

This (with ``config``) is the one module to look at when its version is raised.

Only its api, command line, settings and tables are kept stable by its makers. Importing it takes
seconds, patches asyncio for the process and removes log handlers, so it happens in the child
process that builds, never in the caller's.
"""

from __future__ import annotations

import gc
import importlib.util
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import TYPE_CHECKING, Any

from holodeck.errors import IndexingError

if TYPE_CHECKING:
    from graphrag.config.models.graph_rag_config import GraphRagConfig

__all__ = [
    "PROVIDER_TYPE",
    "LeidenNode",
    "bare_process",
    "hierarchical_leiden",
    "library_version",
    "quiet_environment",
    "run_workflows",
]

PROVIDER_TYPE = "holodeck"
"""The type of every model in the library's configuration: it never reaches a server itself."""

logger = logging.getLogger(__name__)

SEED = 0xDEADBEEF
"""The library's own default seed of Leiden."""


def library_version() -> str:
    """Return the installed version, without importing; empty when there is none."""
    try:
        return version("graphrag")
    except PackageNotFoundError:
        return ""


def quiet_environment() -> None:
    """Keep the library and what it imports from the network and from the terminal.

    litellm fetches a price map when imported; lance warns of each table that it creates.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LANCE_LOG", "error")


def bare_process() -> None:
    """Leave out what the library does to a process and a build has no use for.

    Only for a process that does nothing else with the library.
    """
    _leave_asyncio_alone()
    _leave_out_unused_workflows()
    _leave_out_remote_catalogs()
    # A build makes many small objects and hardly a cycle: each look for one goes through them all.
    gc.set_threshold(100_000, 20, 100)


def _leave_asyncio_alone() -> None:
    """Keep the library from replacing asyncio's loop and tasks by slower ones.

    It does so when imported, to call its own models from within a running loop; ours are awaited.
    """
    untouched = ModuleType("nest_asyncio2")
    untouched.apply = lambda loop=None: None  # type: ignore[attr-defined]  # what is called of it
    sys.modules.setdefault("nest_asyncio2", untouched)


def _leave_out_unused_workflows() -> None:
    """Keep the package of the library's workflows from importing all of them.

    Its ``__init__`` imports every workflow and with them litellm and spaCy, 5 of the 6 CPU seconds
    that an import takes; the workflows that run here need neither.
    """
    _put_off("graphrag.index.workflows")


def _leave_out_remote_catalogs() -> None:
    """Keep LanceDB from importing clients of servers that list tables, half of what it imports.

    The package's ``__init__`` makes one of each kind; LanceDB itself imports its modules, and of
    them those alone that describe a request.
    """
    _put_off("lance_namespace_urllib3_client")


def _put_off(package: str) -> None:
    """Let a package's modules be imported; its ``__init__`` runs when a name of it is asked for.

    ``importlib.util.LazyLoader`` would run it for the first of its modules.
    """
    spec = None if package in sys.modules else importlib.util.find_spec(package)
    if spec is None or spec.loader is None:
        return
    loader, bare = spec.loader, importlib.util.module_from_spec(spec)

    def run(name: str) -> Any:  # Any: what the package holds
        if name.startswith("__"):
            raise AttributeError(name)
        del bare.__dict__["__getattr__"]
        loader.exec_module(bare)
        return getattr(bare, name)

    bare.__dict__["__getattr__"] = run
    sys.modules[package] = bare


@dataclass(frozen=True, kw_only=True)
class LeidenNode:
    """Where hierarchical Leiden put an entity on one level."""

    title: str
    level: int
    cluster: int
    parent: int | None


def hierarchical_leiden(
    edges: Sequence[tuple[str, str, float]], max_cluster_size: int
) -> list[LeidenNode]:
    """Cluster a connected graph; the seed is fixed, so equal edges in equal order give one result.

    Source: Traag, Waltman, van Eck: From Louvain to Leiden (2019), as implemented by
    graspologic-native, with the library's parameters.
    """
    from graphrag.graphs.hierarchical_leiden import hierarchical_leiden as leiden

    return [
        LeidenNode(
            title=node.node, level=node.level, cluster=node.cluster, parent=node.parent_cluster
        )
        for node in leiden(list(edges), max_cluster_size=max_cluster_size, random_seed=SEED)
    ]


async def run_workflows(
    config: GraphRagConfig, steps: Mapping[str, Callable[[], Awaitable[None]]]
) -> None:
    """Run our steps, in order, as workflows of the library's registry, by its names for them.

    Its ``build_index`` is not used: it traces every allocation and returns errors instead of
    raising them.

    Raises:
        IndexingError: A workflow failed; the message names it.
    """
    quiet_environment()
    from graphrag.callbacks.noop_workflow_callbacks import NoopWorkflowCallbacks
    from graphrag.index.run.utils import create_run_context
    from graphrag.index.typing.workflow import WorkflowFunctionOutput
    from graphrag.index.workflows.factory import PipelineFactory
    from graphrag_cache import create_cache
    from graphrag_storage import create_storage
    from graphrag_storage.tables.table_provider_factory import create_table_provider

    def registered(function: Callable[[], Awaitable[None]]) -> Any:  # Any: the library's type
        async def workflow(_config: Any, _context: Any) -> Any:
            await function()
            return WorkflowFunctionOutput(result=None)

        return workflow

    method = "holodeck"
    for name, function in steps.items():
        PipelineFactory.register(f"{method}:{name}", registered(function))
    PipelineFactory.register_pipeline(method, [f"{method}:{name}" for name in steps])
    output = create_storage(config.output_storage)
    context = create_run_context(
        input_storage=create_storage(config.input_storage),
        output_storage=output,
        output_table_provider=create_table_provider(config.table_provider, output),
        cache=create_cache(config.cache),
        callbacks=NoopWorkflowCallbacks(),
        state={},
    )
    for name, workflow in PipelineFactory.create_pipeline(config, method).run():
        plain = name.removeprefix(f"{method}:")
        try:
            await workflow(config, context)
        except IndexingError:
            raise
        except Exception as error:  # the library raises whatever its dependencies do
            raise IndexingError(
                f"the step {plain!r} failed: {type(error).__name__}: {error}. The index as it was "
                "still answers, and what was paid for is kept; run 'holodeck index' again"
            ) from error
