"""What a tool's settings leave out is filled in here, and nowhere else.

The agent's model fills each field that ``indexing_model``, ``search_model`` and the embedding
model do not set themselves; a block that names another provider starts from that provider's
defaults instead. Where there is no agent, a block that is written stands in for it: the other one
takes its provider, server and key, so that a tool with a server of its own never reaches another.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from holodeck.errors import ConfigError
from holodeck.lib.providers import PROVIDER_TABLE, ProviderRow, provider_row
from holodeck.lib.unused_settings import (
    find_embedding_problems,
    find_graph_problems,
    find_unused_settings,
)
from holodeck.models.llm import EmbeddingModelConfig, LLMProvider, ModelSettings, ProviderName
from holodeck.models.tool import GraphRAGConfig, GraphRAGModelConfig, VectorstoreTool

__all__ = ["ResolvedTool", "find_setting_problems", "resolve_tool"]

logger = logging.getLogger(__name__)

Table = Mapping[ProviderName, ProviderRow]
Role = Literal["indexing", "search"]
Say = Callable[[str], None]

_CONNECTION = ("api_key", "api_base", "api_version")


@dataclass(frozen=True, kw_only=True)
class ResolvedTool:
    """A tool with nothing left to fill in.

    Attributes:
        tool: The configuration; with ``engine: graphrag`` both models are set, and the name of
            the embedding model stands in both of its places.
        embedding: How the embedding model is reached.
        embedding_where: Dotted path of the setting that chose it, counted from the tool.
    """

    tool: VectorstoreTool
    embedding: ModelSettings
    embedding_where: str = "embedding_model"

    @property
    def embedding_id(self) -> str:
        """What vectors of two models that must not stand side by side differ in."""
        model = self.embedding
        deployment = f" ({model.deployment_name})" if model.deployment_name else ""
        return f"{model.provider}/{model.name}{deployment}"


def resolve_tool(
    tool: VectorstoreTool,
    agent_model: LLMProvider | None = None,
    *,
    table: Table = PROVIDER_TABLE,
) -> ResolvedTool:
    """Return the tool with every model filled in; what was filled in is logged once.

    Raises:
        ConfigError: This version does not know a provider, or a provider cannot follow a setting.
    """
    resolved = _resolve(tool, agent_model, table, _log_once)
    for problem in _problems(tool, agent_model, resolved, table):
        raise problem
    return resolved


def find_setting_problems(
    tool: VectorstoreTool,
    agent_model: LLMProvider | None = None,
    *,
    table: Table = PROVIDER_TABLE,
) -> list[ConfigError]:
    """Return everything that ``resolve_tool`` would raise, one after the other.

    ``field`` of each is counted from the tool, or begins with ``model`` for the agent's own.
    """
    try:
        resolved = _resolve(tool, agent_model, table, _say_nothing)
    except ConfigError as error:
        return [error]
    return list(_problems(tool, agent_model, resolved, table))


def _problems(
    tool: VectorstoreTool, agent_model: LLMProvider | None, resolved: ResolvedTool, table: Table
) -> Iterator[ConfigError]:
    """Yield what is wrong with each block, by the provider that it turned out to be of."""
    if agent_model is not None:
        yield from find_unused_settings(agent_model, agent_model.provider, "model", table)
    yield from find_embedding_problems(tool, resolved.embedding, table)
    written, filled = tool.graphrag, resolved.tool.graphrag
    if written is None or filled is None:
        return
    for role in ("indexing_model", "search_model"):
        block, model = getattr(written, role), getattr(filled, role)
        if block is not None:
            yield from find_unused_settings(block, model.provider, f"graphrag.{role}", table)
    yield from find_graph_problems(written, filled, resolved.embedding, table)


def _resolve(
    tool: VectorstoreTool, agent_model: LLMProvider | None, table: Table, say: Say
) -> ResolvedTool:
    graph = None if tool.graphrag is None else _resolve_graph(tool, agent_model, table, say)
    near = agent_model or (None if graph is None else graph.indexing_model)
    embedding, where = _resolve_embedding(tool, near, table, say)
    update: dict[str, Any] = {"embedding_model": embedding.name}  # Any: fields of the tool
    if graph is not None:
        update["graphrag"] = graph.model_copy(update={"embedding_model": embedding.name})
    return ResolvedTool(
        tool=tool.model_copy(update=update), embedding=embedding, embedding_where=where
    )


def _resolve_embedding(
    tool: VectorstoreTool, near: ModelSettings | None, table: Table, say: Say
) -> tuple[ModelSettings, str]:
    """Return how the embedding model is reached, and the setting that chose it.

    The nearest setting counts as a whole: ``graphrag.embedding_model``, else the tool's. What a
    block leaves out is the agent's server and key, unless it names another provider.
    """
    nearest = None if tool.graphrag is None else tool.graphrag.embedding_model
    where = "embedding_model" if nearest is None else "graphrag.embedding_model"
    chosen = nearest or tool.embedding_model
    block = (
        chosen if isinstance(chosen, EmbeddingModelConfig) else EmbeddingModelConfig(name=chosen)
    )
    provider: ProviderName = block.provider or ("openai" if near is None else near.provider)
    default = provider_row(provider, where, table).embedding_default
    if block.name is None:
        say(f"tool {tool.name!r}: embedding model {default} ({provider}, its default)")
    filled: dict[str, Any] = {}  # Any: fields of the model
    if near is not None and near.provider == provider:
        filled = {name: getattr(near, name) for name in _CONNECTION}
    filled |= {name: getattr(block, name) for name in block.model_fields_set}
    filled |= {"provider": provider, "name": block.name or default}
    return ModelSettings(**filled), where


def _resolve_graph(
    tool: VectorstoreTool, agent_model: LLMProvider | None, table: Table, say: Say
) -> GraphRAGConfig:
    graph = tool.graphrag or GraphRAGConfig()
    indexing, search = graph.indexing_model, graph.search_model
    return graph.model_copy(
        update={
            "indexing_model": _fill(
                tool.name, "indexing", indexing, agent_model or _stand_in(search), table, say
            ),
            "search_model": _fill(
                tool.name, "search", search, agent_model or _stand_in(indexing), table, say
            ),
        }
    )


def _stand_in(block: GraphRAGModelConfig | None) -> ModelSettings | None:
    """Return what one block gives the other where there is no agent.

    The model's name goes along only with a server of one's own, which knows no others.
    """
    if block is None:
        return None
    fields = ("provider", *_CONNECTION, *(("name",) if block.api_base else ()))
    return ModelSettings(
        **{name: getattr(block, name) for name in fields if name in block.model_fields_set}
    )


def _fill(
    tool_name: str,
    role: Role,
    block: GraphRAGModelConfig | None,
    base: ModelSettings | None,
    table: Table,
    say: Say,
) -> GraphRAGModelConfig:
    """Return ``block`` with its unset fields from ``base``, else from the provider's row."""
    own = {} if block is None else {name: getattr(block, name) for name in block.model_fields_set}
    provider: ProviderName = own.get("provider", "openai" if base is None else base.provider)
    row = provider_row(provider, f"graphrag.{role}_model", table)
    filled: dict[str, Any] = {"provider": provider}  # Any: fields of the block
    if base is not None and base.provider == provider:
        filled |= {name: getattr(base, name) for name in base.model_fields_set}
        if own.get("name", base.name) != base.name:
            filled.pop("deployment_name", None)  # it serves the other model
    taken = filled.get("name") is not None
    filled |= own
    if filled.get("name") is None:
        filled["name"] = row.index_default if role == "indexing" else row.chat_default
    if own.get("name") is None:
        other = "the agent's model" if isinstance(base, LLMProvider) else "the other model"
        source = f"from {other}" if taken else "its default"
        say(f"tool {tool_name!r}: {role} model {filled['name']} ({provider}, {source})")
    return GraphRAGModelConfig(**filled)


def _say_nothing(message: str) -> None:
    """Looking for problems fills nothing in, so there is nothing to log."""


@lru_cache(maxsize=256)
def _log_once(message: str) -> None:
    logger.info("%s", message)
