"""Tools that an agent may use, as YAML declares them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from holodeck.models.base import StrictModel
from holodeck.models.chunks import refuse_overlap
from holodeck.models.graphrag import DEFAULT_ENTITY_TYPES, GraphRAGConfig, GraphRAGModelConfig
from holodeck.models.llm import EmbeddingModel
from holodeck.models.reranker import RerankerConfig
from holodeck.models.texts import Encoding, Line, Prose

__all__ = [
    "DEFAULT_ENTITY_TYPES",
    "NOT_WITH_GRAPHRAG",
    "GraphRAGConfig",
    "GraphRAGModelConfig",
    "VectorstoreTool",
]

# Names that some system reserves for devices, whatever the ending.
_RESERVED_NAME = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)$")

NOT_WITH_GRAPHRAG: Mapping[str, str] = {
    "top_k": "the graph engine takes as many records as its context holds; remove it",
    "min_similarity_score": "the graph engine ranks by the graph; remove it",
    "filter": "the graph engine searches all documents; remove it",
    "database": "use graphrag.storage_dir",
    "vector_field": "the graph engine reads whole records; remove it",
    "id_field": "the graph engine reads whole records; remove it",
    "meta_fields": "the graph engine reads whole records; remove it",
    "field_separator": "the graph engine reads whole records; remove it",
    "delimiter": "the delimiter of a table is detected; remove it",
    "record_path": "the graph engine reads whole records; remove it",
    "record_prefix": "the graph engine reads whole records; remove it",
    "meta_prefix": "the graph engine reads whole records; remove it",
    "chunk_size": "use graphrag.chunk_size",
    "chunk_overlap": "use graphrag.chunk_overlap",
    "mode": "use graphrag.search_mode",
    "rerank": "reranking belongs to engine: default; remove it",
    "reranker": "reranking belongs to engine: default; remove it",
    "rerank_top_n": "reranking belongs to engine: default; remove it",
    "embedding_dimensions": "the width comes from the embedding model; remove it",
}
"""Settings of the default engine → what to use instead with ``engine: graphrag``."""


_NEEDS: Mapping[str, str] = {
    "id_field": "vector_field",
    "meta_fields": "vector_field",
    "field_separator": "vector_field",
    "record_prefix": "record_path",
    "meta_prefix": "record_path",
}
"""Setting → the one without which it has no effect."""


def _refuse_loose_fields(data: Mapping[str, Any]) -> None:  # Any: what YAML holds
    for setting, needed in _NEEDS.items():
        if data.get(setting) is not None and data.get(needed) is None:
            raise ValueError(f"{setting} has no effect without {needed}: add it, or remove this")
    database = data.get("database")
    if isinstance(database, str) and "://" in database:
        raise ValueError(
            "database is the address of a remote store, which this version cannot use: name a "
            "folder"
        )
    if data.get("field_separator") is not None and isinstance(data.get("vector_field"), str):
        raise ValueError(
            "field_separator has no effect with one vector_field: name several, or remove it"
        )


class VectorstoreTool(StrictModel):
    """Vectorstore tool for semantic search over documents."""

    name: str = Field(
        min_length=1,
        max_length=64,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$",
        description=(
            "Name of the tool: what a model calls and the folder of its index is named by; "
            "letters, digits, '-' and '_', the first a letter or digit"
        ),
    )
    type: Literal["vectorstore"] = Field(default="vectorstore", description="Kind of tool")
    description: Prose = Field(
        default="Search over documents",
        description="What the tool is good for, in the words that the agent's model reads",
    )
    source: Line = Field(description="File or folder of documents")
    engine: Literal["default", "graphrag"] = Field(
        default="default",
        description="'default' for vector and full-text search, 'graphrag' for a knowledge graph",
    )
    graphrag: GraphRAGConfig | None = Field(
        default=None, description="Settings of engine: graphrag"
    )
    strict: bool = Field(default=False, description="Treat a file that cannot be read as an error")
    allow_external_links: bool = Field(
        default=False, description="Follow links that leave the source folder"
    )
    encoding_fallback: Encoding | None = Field(
        default="cp1252",
        description=(
            "Encoding of text files that are neither UTF-8 nor marked as another; null skips them"
        ),
    )
    embedding_model: EmbeddingModel | None = Field(
        default=None,
        description=(
            "Embedding model: its name, or a block with provider, name and server; default: the "
            "provider's"
        ),
    )
    embedding_dimensions: int | None = Field(
        default=None,
        ge=1,
        le=65_536,
        description="Width of the vectors, for models that offer several",
    )
    chunk_size: int = Field(default=512, ge=50, le=8000, description="Tokens per chunk")
    chunk_overlap: int = Field(default=50, ge=0, description="Tokens that chunks overlap by")
    chunk_ends: Literal["sentences", "words"] = Field(
        default="sentences",
        description=(
            "Where a chunk ends, for both engines: 'sentences' ends it with a sentence or line "
            "if one ends in its last eighth, and keeps a heading with what it heads; 'words' keeps "
            "words whole and no more"
        ),
    )
    mode: Literal["hybrid", "vector", "keyword"] = Field(
        default="hybrid", description="How engine: default searches"
    )
    top_k: int = Field(default=5, ge=1, le=100, description="Passages returned")
    min_similarity_score: float | None = Field(
        default=None, ge=0.0, le=1.0, description="Least cosine similarity of a passage"
    )
    filter: dict[str, str | int] | None = Field(
        default=None,
        min_length=1,
        description=(
            "What a search of engine: default may look at: 'path' (a pattern, as people/*.md), "
            "'page', 'row', 'id', or any field of a record, with the value that it must have"
        ),
    )
    database: Line | None = Field(
        default=None,
        description="Folder of the vector store; default: .holodeck/vectorstore/{tool_name}/",
    )
    vector_field: Line | Annotated[tuple[Line, ...], Field(min_length=1)] | None = Field(
        default=None,
        description=(
            "Field of a record that is its text, or a list of several; then only files of records "
            "are read (CSV, TSV, JSON, JSON lines, Excel)"
        ),
    )
    id_field: Line | None = Field(
        default=None, description="Field that identifies a record; needs vector_field"
    )
    meta_fields: tuple[Line, ...] | None = Field(
        default=None, min_length=1, description="Fields that come with a hit; needs vector_field"
    )
    field_separator: str | None = Field(
        default=None, description="What joins several vector fields; default: a line end"
    )
    delimiter: str | None = Field(
        default=None,
        min_length=1,
        max_length=1,
        description="What separates the cells of a CSV file; default: it is found out",
    )
    record_path: Line | None = Field(
        default=None,
        description="Where the list of records is in a JSON file, as data.items; default: its top",
    )
    record_prefix: Line | None = Field(
        default=None, description="Put before the fields of records at record_path"
    )
    meta_prefix: Line | None = Field(
        default=None, description="Put before the values that stand around record_path"
    )
    rerank: bool = Field(
        default=False, description="Order anew what was found, by a model that reads the passages"
    )
    reranker: RerankerConfig | None = Field(
        default=None, description="The reranking model; default: provider: embedded"
    )
    rerank_top_n: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="Passages that are reranked; default: 50. The best top_k of them are returned",
    )

    @field_validator("filter", mode="before")
    @classmethod
    def _as_documents_have_it(cls, value: Any) -> Any:  # Any: YAML
        if not isinstance(value, Mapping):
            return value
        for name, wanted in value.items():
            if not str(name).strip():
                raise ValueError("a condition has no name: write NAME: VALUE")
            if not isinstance(wanted, bool | str | int):
                raise ValueError(  # noqa: TRY004  # pydantic takes no TypeError
                    f"the value of {name!r} may have been written in several ways: put it in "
                    "quotes, as it stands in the documents"
                )
        return {
            name: str(wanted).lower() if isinstance(wanted, bool) else wanted
            for name, wanted in value.items()
        }

    @field_validator("name")
    @classmethod
    def _name_is_a_folder_everywhere(cls, name: str) -> str:
        if _RESERVED_NAME.match(name):
            raise ValueError(
                f"name {name!r} is a reserved file name on some systems; choose another"
            )
        return name

    @model_validator(mode="before")
    @classmethod
    def _graph_settings_fit_the_engine(cls, data: Any) -> Any:  # Any: what YAML holds
        if not isinstance(data, Mapping):
            return data
        engine = data.get("engine", "default")
        if engine == "graphrag":
            for field, instead in NOT_WITH_GRAPHRAG.items():
                if field in data:
                    raise ValueError(f"{field} has no effect with engine: graphrag: {instead}")
            if data.get("graphrag") is None:
                return {**data, "graphrag": GraphRAGConfig()}
        elif engine == "default":
            if data.get("graphrag") is not None:
                raise ValueError(
                    "graphrag configuration is only valid when engine='graphrag': set it, or "
                    "remove the graphrag block"
                )
            _refuse_loose_fields(data)
        return data

    @model_validator(mode="after")
    def _reranking_is_asked(self) -> VectorstoreTool:
        for setting in ("reranker", "rerank_top_n"):
            if getattr(self, setting) is not None and not self.rerank:
                raise ValueError(f"{setting} has no effect without rerank: true: add it")
        if self.rerank_top_n is not None and self.rerank_top_n < self.top_k:
            raise ValueError(
                f"rerank_top_n ({self.rerank_top_n}) must be at least top_k ({self.top_k}): raise "
                "it, or lower top_k"
            )
        return self

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> VectorstoreTool:
        refuse_overlap(self.chunk_size, self.chunk_overlap)
        return self
