"""HoloDeck's settings → the library's configuration object."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holodeck.errors import ConfigError
from holodeck.lib.graphrag.communities import MAX_COMMUNITY_SIZE
from holodeck.lib.graphrag.library import PROVIDER_TYPE, quiet_environment
from holodeck.lib.graphrag.reports import MAX_INPUT_TOKENS
from holodeck.lib.graphrag.values import LOCAL, MAP, REDUCE, REPORT_WORDS
from holodeck.lib.tokens import ENCODING_NAME
from holodeck.models.llm import EmbeddingModelConfig, ModelSettings
from holodeck.models.tool import DEFAULT_ENTITY_TYPES, GraphRAGConfig, VectorstoreTool

if TYPE_CHECKING:
    from graphrag.config.models.graph_rag_config import GraphRagConfig

__all__ = ["DEFAULT_ENTITY_TYPES", "build_graphrag_config", "refuse_ignored"]

Settings = dict[str, Any]  # Any: what the library's settings file may hold


def build_graphrag_config(
    tool_config: VectorstoreTool,
    storage_dir: Path,
    input_dir: Path,
    *,
    output_dir: Path | None = None,
    vectors_dir: Path | None = None,
    vector_size: int = 256,
) -> GraphRagConfig:
    """Build the library's configuration; it holds no key.

    Args:
        tool_config: A tool with ``engine: graphrag``, its models filled in.
        storage_dir: Root of the index.
        input_dir: The documents' folder.
        output_dir: Folder of the tables; default: ``storage_dir/output``.
        vectors_dir: Folder of the vectors; default: ``storage_dir/lancedb``.
        vector_size: Width of the embedding model's vectors.

    Raises:
        ConfigError: Also a ``ValueError``: there are no graphrag settings, or the installed
            library does not know a setting of ours (it ignores such keys in silence).
    """
    graphrag = tool_config.graphrag
    if graphrag is None:
        raise ConfigError(
            f"tool {tool_config.name!r} has no graphrag settings: set engine: graphrag"
        )
    quiet_environment()
    from graphrag.config.models.graph_rag_config import GraphRagConfig

    settings: Settings = {
        **_models(graphrag),
        **_folders(storage_dir, input_dir, output_dir or storage_dir / "output"),
        "vector_store": {
            "type": "lancedb",
            "db_uri": str(vectors_dir or storage_dir / "lancedb"),
            "vector_size": vector_size,
        },
        **_indexing(graphrag),
        **_searching(),
    }
    config = GraphRagConfig(**settings)
    refuse_ignored(settings, config.model_dump(mode="json"))
    return config


def _models(graphrag: GraphRAGConfig) -> Settings:
    """Return the models; all of them lead to HoloDeck's own provider, which holds the keys."""
    return {
        "completion_models": {
            "indexing": _model(graphrag.indexing_model),
            "search": _model(graphrag.search_model),
        },
        "embedding_models": {
            "embedding": {
                "type": PROVIDER_TYPE,
                "model_provider": PROVIDER_TYPE,
                "model": _embedding_name(graphrag.embedding_model),
            }
        },
    }


def _folders(storage_dir: Path, input_dir: Path, tables: Path) -> Settings:
    return {
        "input_storage": _folder(input_dir),
        "output_storage": _folder(tables),
        "update_output_storage": _folder(storage_dir / "update"),
        "reporting": _folder(storage_dir / "logs"),
        # The library makes the folder of a cache even when there is none.
        "cache": {"type": "none", "storage": {"type": "memory"}},
    }


def _indexing(graphrag: GraphRAGConfig) -> Settings:
    return {
        "chunking": {
            "type": "tokens",
            "size": graphrag.chunk_size,
            "overlap": graphrag.chunk_overlap,
            "encoding_model": ENCODING_NAME,
        },
        "extract_graph": {
            "completion_model_id": "indexing",
            "entity_types": list(graphrag.entity_types or DEFAULT_ENTITY_TYPES),
            "max_gleanings": graphrag.gleanings,
        },
        "summarize_descriptions": {"completion_model_id": "indexing"},
        "extract_claims": {
            "enabled": not graphrag.skip_claim_extraction,
            "completion_model_id": "indexing",
            "max_gleanings": graphrag.gleanings,
        },
        "cluster_graph": {"max_cluster_size": MAX_COMMUNITY_SIZE, "use_lcc": False},
        "community_reports": {
            "completion_model_id": "indexing",
            "max_length": REPORT_WORDS,
            "max_input_length": MAX_INPUT_TOKENS,
        },
        "embed_text": {"embedding_model_id": "embedding"},
    }


def _searching() -> Settings:
    return {
        "local_search": {
            "completion_model_id": "search",
            "embedding_model_id": "embedding",
            "text_unit_prop": LOCAL.text_unit_share,
            "community_prop": LOCAL.community_share,
            "top_k_entities": LOCAL.entities,
            "top_k_relationships": LOCAL.relationships,
            "max_context_tokens": LOCAL.context_tokens,
        },
        "global_search": {
            "completion_model_id": "search",
            "map_max_length": MAP.words,
            "reduce_max_length": REDUCE.words,
        },
    }


def _model(settings: ModelSettings | None) -> Settings:
    return {
        "type": PROVIDER_TYPE,
        "model_provider": PROVIDER_TYPE,
        "model": (settings.name if settings else None) or "default",
    }


def _embedding_name(chosen: str | EmbeddingModelConfig | None) -> str:
    name = chosen.name if isinstance(chosen, EmbeddingModelConfig) else chosen
    return name or "default"


def _folder(path: Path) -> dict[str, str]:
    return {"type": "file", "base_dir": str(path)}


def refuse_ignored(ours: Mapping[str, Any], held: Mapping[str, Any], where: str = "") -> None:
    """Refuse a library whose object does not hold what was set: it ignores unknown keys.

    Args:
        ours: What was set.
        held: What the library's object holds.
        where: Dotted path of both, with a dot at its end.

    Raises:
        ConfigError: Names the setting.
    """
    for key, value in ours.items():
        path = f"{where}{key}"
        if key not in held:
            raise ConfigError(
                f"the installed graphrag library does not know the setting {path!r}: install a "
                "version that holodeck[graphrag] allows"
            )
        if isinstance(value, Mapping):
            refuse_ignored(value, held[key], f"{path}.")
        elif held[key] != value:
            raise ConfigError(
                f"the installed graphrag library holds {held[key]!r} for {path!r} instead of "
                f"{value!r}: install a version that holodeck[graphrag] allows"
            )
