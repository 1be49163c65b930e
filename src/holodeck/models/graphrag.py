"""What a tool with ``engine: graphrag`` may say of its graph."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from holodeck.models.base import StrictModel
from holodeck.models.chunks import refuse_overlap
from holodeck.models.llm import EmbeddingModel, ModelSettings
from holodeck.models.texts import Line

__all__ = ["DEFAULT_ENTITY_TYPES", "GraphRAGConfig", "GraphRAGModelConfig"]

DEFAULT_ENTITY_TYPES = ("organization", "person", "location", "event", "concept")
LEAN_REPORT_THRESHOLD = 250


class GraphRAGModelConfig(ModelSettings):
    """LLM configuration for GraphRAG operations."""

    name: Line | None = Field(default="gpt-4o-mini", description="Model name")


class GraphRAGConfig(StrictModel):
    """Configuration for GraphRAG engine."""

    search_mode: Literal["local", "global"] = Field(
        default="local",
        description=(
            "Search mode: 'local' for questions about things, 'global' for questions about the "
            "whole of the documents"
        ),
    )
    community_level: int = Field(
        default=2,
        ge=0,
        le=5,
        description=(
            "Deepest level of the community hierarchy to use. 0 is the root: the broadest and "
            "cheapest; a higher level is finer and costs more. For every entity its finest "
            "community of at most this level counts"
        ),
    )
    ranking: Literal["graph", "library"] = Field(
        default="graph",
        description=(
            "How local search fills its context: 'graph' ranks texts by a walk over the graph that "
            "starts at what resembles the question; 'library' gives the context that Microsoft's "
            "graphrag library builds. Takes effect without a new index"
        ),
    )
    dynamic_community_selection: bool = Field(
        default=False,
        description=(
            "Global search: have the search model rate reports from the broadest down and read "
            "only those that help; cheaper where most of the documents have nothing to do with a "
            "question. Takes effect without a new index"
        ),
    )
    indexing_model: GraphRAGModelConfig | None = Field(
        default=None,
        description="LLM for indexing: extraction, summaries, reports; default: the agent's",
    )
    search_model: GraphRAGModelConfig | None = Field(
        default=None, description="LLM for search queries; default: the agent's"
    )
    embedding_model: EmbeddingModel | None = Field(
        default=None,
        description=(
            "Embedding model: its name, or a block with provider, name and server; default: the "
            "tool's embedding_model, else the provider's"
        ),
    )
    storage_dir: Line | None = Field(
        default=None,
        description="Folder of the index; default: .holodeck/graphrag/{tool_name}/",
    )
    chunk_size: int = Field(
        default=300, ge=50, le=2000, description="Tokens per text unit for indexing"
    )
    chunk_overlap: int = Field(default=100, ge=0, description="Tokens that text units overlap by")
    entity_types: tuple[Line, ...] | None = Field(
        default=None,
        min_length=1,
        description=f"Entity types to extract; default: {', '.join(DEFAULT_ENTITY_TYPES)}",
    )
    profile: Literal["full", "lean"] = Field(
        default="full",
        description=(
            "What building costs: 'full' asks with the graphrag library's prompts; 'lean' with "
            "short ones of HoloDeck's, in one pass over each chunk (max_gleanings: 0) and without "
            "a model for small reports (report_threshold: 250), unless these are set"
        ),
    )
    max_gleanings: int = Field(
        default=1,
        ge=0,
        le=5,
        description="Additional model passes over each chunk; default with profile: lean: 0",
    )
    skip_claim_extraction: bool = Field(
        default=True, description="Skip claim (covariate) extraction: faster and cheaper indexing"
    )
    max_failed_share: float = Field(
        default=0.05,
        ge=0.0,
        le=1.0,
        description=(
            "Share of the chunks that a model may fail on before the build fails and publishes "
            "nothing; below it the index says what it lacks"
        ),
    )
    summarize: Literal["auto", "always"] = Field(
        default="auto",
        description=(
            "When several descriptions of one thing become one: 'auto' where they are longer than "
            "summary_threshold, 'always' wherever there is more than one, as the library does"
        ),
    )
    summary_threshold: int = Field(
        default=200,
        ge=0,
        le=100_000,
        description="Tokens of joined descriptions that are kept as they are with summarize: auto",
    )
    report_threshold: int = Field(
        default=0,
        ge=0,
        le=8000,
        description=(
            "Tokens of a community's records up to which they are quoted as its report, without a "
            "model; default with profile: lean: 250"
        ),
    )
    communities: Literal["leiden", "stable"] = Field(
        default="stable",
        description=(
            "How entities are grouped into communities: 'stable' so that a document more or less "
            "changes few of them, and few reports are paid for again; 'leiden' as the graphrag "
            "library groups them, where one document may change many"
        ),
    )
    response_type: Line = Field(
        default="multiple paragraphs",
        description=(
            "Form and language of answers, in words, as in 'one paragraph, in Chinese'; the "
            "embedded provider quotes the documents and cannot follow it"
        ),
    )

    settings_file: bool = Field(
        default=False,
        description=(
            "Write settings.yaml beside the index, for the graphrag library's own command line; it "
            "holds ${GRAPHRAG_API_KEY} and no key"
        ),
    )

    @property
    def gleanings(self) -> int:
        """Additional passes over each chunk, as set or as the profile has it."""
        is_lean = self.profile == "lean" and "max_gleanings" not in self.model_fields_set
        return 0 if is_lean else self.max_gleanings

    @property
    def quoted_tokens(self) -> int:
        """Tokens of records that are their report, as set or as the profile has it."""
        is_lean = self.profile == "lean" and "report_threshold" not in self.model_fields_set
        return LEAN_REPORT_THRESHOLD if is_lean else self.report_threshold

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> GraphRAGConfig:
        refuse_overlap(self.chunk_size, self.chunk_overlap)
        return self

    @model_validator(mode="after")
    def _threshold_is_asked(self) -> GraphRAGConfig:
        if self.summarize == "always" and "summary_threshold" in self.model_fields_set:
            raise ValueError(
                "summary_threshold has no effect with summarize: always, which looks at no length: "
                "remove it, or use summarize: auto"
            )
        return self
