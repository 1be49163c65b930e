"""Which settings an index was shaped by, and which of them changed since."""

from __future__ import annotations

from holodeck.lib.chunking import CHUNKING_VERSION
from holodeck.lib.documents import content_id
from holodeck.lib.graphrag.build import STEPS
from holodeck.lib.graphrag.library import library_version
from holodeck.lib.graphrag.thinkers import index_prompts, steps_version
from holodeck.lib.indexes.settings import as_settings, changed_settings, config_hash
from holodeck.lib.readers import READERS_VERSION
from holodeck.lib.resources import ResolvedTool, Resources
from holodeck.lib.tokens import ENCODING_NAME
from holodeck.models.tool import DEFAULT_ENTITY_TYPES, GraphRAGConfig

__all__ = ["changed_settings", "config_hash", "shaping_settings"]


def shaping_settings(resolved: ResolvedTool, resources: Resources) -> dict[str, str]:
    """Return every setting, prompt and version that shapes the index, by its YAML name.

    Settings of the search (mode, level, search model) are not among them.
    """
    tool = resolved.tool
    graphrag = tool.graphrag or GraphRAGConfig()
    model = graphrag.indexing_model
    settings: dict[str, object] = {
        "encoding_fallback": tool.encoding_fallback,
        "chunk_ends": tool.chunk_ends,
        "graphrag.chunk_size": graphrag.chunk_size,
        "graphrag.chunk_overlap": graphrag.chunk_overlap,
        "graphrag.entity_types": list(graphrag.entity_types or DEFAULT_ENTITY_TYPES),
        "graphrag.profile": graphrag.profile,
        "graphrag.max_gleanings": graphrag.gleanings,
        "graphrag.skip_claim_extraction": graphrag.skip_claim_extraction,
        "graphrag.summarize": graphrag.summarize,
        "graphrag.summary_threshold": graphrag.summary_threshold,
        "graphrag.report_threshold": graphrag.quoted_tokens,
        "graphrag.communities": graphrag.communities,
        "graphrag.embedding_model": resolved.embedding_id,
        "tokenizer": ENCODING_NAME,
        "graphrag library": library_version(),
        "prompts": content_id(*index_prompts(graphrag).values()),
        "readers": READERS_VERSION,
        "chunking": CHUNKING_VERSION,
        "thinking": steps_version(resolved, resources),
        **{f"step {step.workflow}": step.version for step in STEPS},
    }
    if model is not None:
        settings |= {
            "graphrag.indexing_model": f"{model.provider}/{model.name}",
            "graphrag.indexing_model.temperature": model.temperature,
            "graphrag.indexing_model.max_tokens": model.max_tokens,
            "graphrag.indexing_model.deployment_name": model.deployment_name,
        }
    return as_settings(settings)
