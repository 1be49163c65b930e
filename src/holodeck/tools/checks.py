"""What a tool's models and engine lack, found without a call and without importing a provider."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ParamSpec

from holodeck.errors import ConfigError
from holodeck.lib.engines import ENGINE_EXTRAS
from holodeck.lib.extras import require_extra
from holodeck.lib.resolution import find_setting_problems, resolve_tool
from holodeck.lib.resources import Resources
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import EmbeddingModelConfig, LLMProvider
from holodeck.models.reranker import RerankerConfig
from holodeck.models.tool import VectorstoreTool

__all__ = ["find_model_problems"]

Arguments = ParamSpec("Arguments")


def find_model_problems(
    tool: VectorstoreTool,
    *,
    agent_model: LLMProvider,
    execution: ExecutionConfig | None = None,
    environ: Mapping[str, str] | None = None,
    is_asked: bool = False,
) -> list[ConfigError]:
    """Return an error for every key, server or package that is missing.

    ``field`` of each is counted from the tool (``graphrag.search_model.api_key``), or begins with
    ``model`` where the agent's own model is to blame.

    Args:
        tool: What YAML says.
        agent_model: The model that the tool's models inherit from.
        execution: The agent's.
        environ: Where keys are looked for; default: the process's variables.
        is_asked: Whether a cost cap is to hold for questions too, as in a test.
    """
    found: dict[str, ConfigError] = {}
    resources = Resources(execution, environ=environ)
    for error in _problems(tool, agent_model, resources, is_asked=is_asked):
        found.setdefault(str(error), error)
    return list(found.values())


def _problems(
    tool: VectorstoreTool, agent_model: LLMProvider, resources: Resources, *, is_asked: bool
) -> Iterator[ConfigError]:
    if tool.engine in ENGINE_EXTRAS:
        yield from _caught(
            "engine", require_extra, ENGINE_EXTRAS[tool.engine], f"engine: {tool.engine}"
        )
    unfit = find_setting_problems(tool, agent_model)
    if unfit:
        yield from unfit
        return
    resolved = resolve_tool(tool, agent_model)
    for role in ("indexing_model", "search_model"):
        settings = getattr(resolved.tool.graphrag, role, None)
        if settings is not None:
            is_own = getattr(tool.graphrag, role) is not None
            where = f"graphrag.{role}" if is_own else "model"
            yield from _caught(where, resources.check, settings, where)
            if role == "indexing_model" or is_asked:
                yield from _caught(where, resources.reach.require_price, settings, "chat", where)
    chosen = getattr(tool.graphrag, "embedding_model", None) or tool.embedding_model
    has_block = isinstance(chosen, EmbeddingModelConfig)
    where = resolved.embedding_where if has_block else "model"
    yield from _caught(where, resources.check, resolved.embedding, where)
    yield from _caught(where, resources.reach.require_price, resolved.embedding, "embedding", where)
    if tool.rerank:
        reranker = tool.reranker or RerankerConfig()
        yield from _caught("reranker", resources.check_reranker, reranker)
        if is_asked:
            yield from _caught("reranker", resources.reach.require_reranker_price, reranker)


def _caught(
    field: str, check: Callable[Arguments, None], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Iterator[ConfigError]:
    """Yield the error of a check, if there is one, blamed on ``field`` where it blames nothing."""
    try:
        check(*args, **kwargs)
    except ConfigError as error:
        error.field = error.field or field
        yield error
