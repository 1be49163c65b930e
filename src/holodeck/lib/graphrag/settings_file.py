"""A settings file for the library's own command line, over the current generation; without keys.

``graphrag query --root STORAGE_DIR --method local "..."`` reads it; the key is
``GRAPHRAG_API_KEY``.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from holodeck.lib.graphrag.storage import GraphRAGStorage, IndexMetadata
from holodeck.lib.graphrag.values import LOCAL, MAP, REDUCE
from holodeck.lib.resources import ResolvedTool
from holodeck.lib.whole_text import write_whole
from holodeck.models.llm import ModelSettings

__all__ = ["SETTINGS_FILE", "write_settings_file"]

SETTINGS_FILE = "settings.yaml"

_PROVIDERS = {"openai": "openai", "azure_openai": "azure", "ollama": "ollama"}
"""Our provider → the library's name of it."""


def write_settings_file(
    resolved: ResolvedTool, storage: GraphRAGStorage, metadata: IndexMetadata
) -> None:
    """Write the file over the generation that ``metadata`` names; JSON, which is YAML too."""
    tables, vectors = storage.generation_dirs(metadata.generation)
    graphrag = resolved.tool.graphrag
    search = graphrag.search_model if graphrag is not None else None
    content = {
        "completion_models": {"default_completion_model": _model(search or ModelSettings())},
        "embedding_models": {"default_embedding_model": _model(resolved.embedding)},
        "input_storage": _folder(metadata.source_path),
        "output_storage": _folder(str(tables)),
        "update_output_storage": _folder(str(storage.storage_dir / "update")),
        "reporting": _folder(str(storage.logs_dir)),
        "cache": {"type": "none", "storage": {"type": "memory"}},
        "vector_store": {
            "type": "lancedb",
            "db_uri": str(vectors),
            "vector_size": metadata.vector_size,
        },
        "local_search": {
            "text_unit_prop": LOCAL.text_unit_share,
            "community_prop": LOCAL.community_share,
            "top_k_entities": LOCAL.entities,
            "top_k_relationships": LOCAL.relationships,
            "max_context_tokens": LOCAL.context_tokens,
        },
        "global_search": {"map_max_length": MAP.words, "reduce_max_length": REDUCE.words},
    }
    text = json.dumps(content, indent=2, ensure_ascii=False)
    write_whole(storage.storage_dir / SETTINGS_FILE, f"{text}\n")


def _model(settings: ModelSettings) -> dict[str, Any]:
    content: dict[str, Any] = {
        "model_provider": _PROVIDERS[settings.provider],
        "model": settings.name,
        "api_key": "${GRAPHRAG_API_KEY}",
        "api_base": _without_password(settings.api_base),
        "api_version": settings.api_version,
    }
    if settings.provider == "azure_openai":
        content["azure_deployment_name"] = settings.deployment_name or settings.name
    return {key: value for key, value in content.items() if value is not None}


def _without_password(url: str | None) -> str | None:
    """Return a URL without ``user:password@``: that is a key too."""
    if url is None or "@" not in url:
        return url
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _folder(path: str) -> dict[str, str]:
    return {"type": "file", "base_dir": path}
