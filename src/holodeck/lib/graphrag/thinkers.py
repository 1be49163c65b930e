"""Who thinks for an index and its answers: the provider's own steps, or prompts to its model."""

from __future__ import annotations

from collections.abc import Mapping

from holodeck.errors import ConfigError
from holodeck.lib.contracts import AnswerSteps, ClaimSteps, IndexSteps
from holodeck.lib.graphrag.lean_prompts import LEAN_PROMPTS
from holodeck.lib.graphrag.prompted_answer import PromptedAnswerSteps
from holodeck.lib.graphrag.prompted_index import PROMPTED_VERSION, PromptedIndexSteps
from holodeck.lib.graphrag.prompts import INDEX_PROMPTS, read_prompts
from holodeck.lib.resources import ResolvedTool, Resources
from holodeck.models.tool import DEFAULT_ENTITY_TYPES, GraphRAGConfig, GraphRAGModelConfig

__all__ = [
    "INDEXING",
    "SEARCH",
    "index_prompts",
    "open_answer_steps",
    "open_claim_steps",
    "open_index_steps",
    "steps_version",
]

INDEXING = "graphrag.indexing_model"
SEARCH = "graphrag.search_model"


def open_index_steps(resolved: ResolvedTool, resources: Resources) -> IndexSteps:
    """Return who extracts, summarises and reports for this tool."""
    graphrag, settings = _settings(resolved, "indexing_model")
    entity_types = tuple(graphrag.entity_types or DEFAULT_ENTITY_TYPES)
    native: IndexSteps | None = resources.steps(settings, INDEXING, entity_types=entity_types)
    if native is not None:
        return native
    return PromptedIndexSteps(
        chat=resources.chat(settings, INDEXING),
        settings=settings,
        prompts=index_prompts(graphrag),
        entity_types=entity_types,
        max_gleanings=graphrag.gleanings,
        chunk_tokens=graphrag.chunk_size,
        memo=resources.paid.of(settings),
    )


def index_prompts(graphrag: GraphRAGConfig) -> Mapping[str, str]:
    """Return the prompts that an index is built with."""
    library = read_prompts(INDEX_PROMPTS)
    return {**library, **LEAN_PROMPTS} if graphrag.profile == "lean" else library


def open_claim_steps(resolved: ResolvedTool, steps: IndexSteps) -> ClaimSteps | None:
    """Return who finds claims; ``None`` where claims are skipped.

    Raises:
        ConfigError: Claims are asked for and the indexing model cannot find any.
    """
    graphrag, settings = _settings(resolved, "indexing_model")
    if graphrag.skip_claim_extraction:
        return None
    if isinstance(steps, ClaimSteps):
        return steps
    raise ConfigError(
        f"provider {settings.provider!r} cannot extract claims: set skip_claim_extraction: true, "
        "or an indexing_model of another provider",
        field="graphrag.skip_claim_extraction",
    )


def steps_version(resolved: ResolvedTool, resources: Resources) -> str:
    """Return what the thinking depends on besides settings; needs no key and calls no model."""
    _, settings = _settings(resolved, "indexing_model")
    native: IndexSteps | None = resources.steps(settings, INDEXING)
    return PROMPTED_VERSION if native is None else native.version


def open_answer_steps(
    resolved: ResolvedTool, resources: Resources, prompts: Mapping[str, str]
) -> AnswerSteps:
    """Return who answers for this tool.

    Args:
        resolved: The tool, its models filled in.
        resources: Where models come from.
        prompts: The search prompts that were kept beside the index.
    """
    graphrag, settings = _settings(resolved, "search_model")
    native: AnswerSteps | None = resources.steps(settings, SEARCH)
    if native is not None:
        return native
    return PromptedAnswerSteps(
        chat=resources.chat(settings, SEARCH),
        settings=settings,
        prompts=prompts,
        response_type=graphrag.response_type,
    )


def _settings(resolved: ResolvedTool, which: str) -> tuple[GraphRAGConfig, GraphRAGModelConfig]:
    graphrag = resolved.tool.graphrag
    settings = None if graphrag is None else getattr(graphrag, which)
    if graphrag is None or settings is None:
        raise ConfigError(
            f"tool {resolved.tool.name!r} has no graphrag.{which}: its settings were not filled in"
        )
    return graphrag, settings
