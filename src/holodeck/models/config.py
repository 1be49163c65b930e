"""How an agent's work is carried out: time budgets, concurrency, retries, cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from holodeck.models.base import StrictModel
from holodeck.models.texts import Line

__all__ = ["ExecutionConfig", "ModelPrice"]


class ModelPrice(StrictModel):
    """What a model costs, in USD per million tokens; a reranker by its searches."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["input"]},
                {
                    "required": ["search"],
                    "properties": {"output": {"type": "null"}, "max_output": {"type": "null"}},
                },
            ]
        }
    )

    input: float | None = Field(
        default=None, ge=0, description="USD per million tokens of what is sent or embedded"
    )
    output: float | None = Field(
        default=None,
        ge=0,
        description="USD per million tokens of what is answered; an embedding model has none",
    )
    search: float | None = Field(
        default=None,
        ge=0,
        description="USD per thousand search units of a reranker; it has no other price",
    )
    max_output: int | None = Field(
        default=None,
        ge=1,
        description=(
            "Tokens of the model's greatest reply, which max_cost reserves where the model's "
            "settings have no max_tokens; default: the price table's, else 16384"
        ),
    )

    @model_validator(mode="after")
    def _is_a_price(self) -> ModelPrice:
        of_tokens = (self.input, self.output, self.max_output)
        is_by_search = self.search is not None and of_tokens == (None, None, None)
        is_by_tokens = self.search is None and self.input is not None
        if not (is_by_search or is_by_tokens):
            raise ValueError(
                "a price is {input: …, output: …} of a language model, {input: …} of an embedding "
                "model or {search: …} of a reranker: give one of them"
            )
        return self


LONGEST = 31_536_000.0
"""A year in seconds; clocks and sockets fail on much larger numbers."""


class ExecutionConfig(StrictModel):
    """The agent's ``execution:`` block."""

    llm_timeout: float = Field(
        default=60.0, gt=0, le=LONGEST, description="Seconds for one model call"
    )
    index_timeout: float | None = Field(
        default=None,
        gt=0,
        le=LONGEST,
        description="Seconds for one whole build of an index; default: no limit",
    )
    search_timeout: float = Field(
        default=120.0, gt=0, le=LONGEST, description="Seconds for one search"
    )
    file_timeout: float = Field(
        default=60.0,
        gt=0,
        le=LONGEST,
        description="Seconds for reading one file; a slower one is skipped",
    )
    tool_timeout: float = Field(
        default=150.0, gt=0, le=LONGEST, description="Seconds for one call of a tool by an agent"
    )
    max_model_calls: int = Field(
        default=12, ge=1, le=1000, description="Calls of an agent's own model in one turn"
    )
    max_tool_calls: int = Field(default=20, ge=1, le=1000, description="Calls of tools in one turn")
    concurrency: int = Field(default=25, ge=1, le=1000, description="Model calls in flight at once")
    max_retries: int = Field(
        default=5, ge=0, le=100, description="Times a failed model call is tried again; 0: never"
    )
    retry_budget: float = Field(
        default=120.0,
        ge=0,
        le=LONGEST,
        description="Seconds that the waits between the tries of one call may add up to",
    )
    cache: bool | Literal["renew"] = Field(
        default=True,
        description="Keep paid replies, so that nothing is paid for twice; renew: ask again for "
        "what a build needs, and replace what was kept",
    )
    cache_dir: Line | None = Field(
        default=None, description="Folder of the reply cache; default: .holodeck/cache"
    )
    max_cost: float | None = Field(
        default=None,
        gt=0,
        description=(
            "USD that one build, or one run of test cases, may cost at most: it stops before the "
            "call that would pass it and keeps what was paid for, and the next build goes on; "
            "default: no limit"
        ),
    )
    confirm_above: float = Field(
        default=1.0,
        ge=0,
        description=(
            "USD above which 'search', 'chat' and 'test' ask on a terminal before they build an "
            "index; an unknown price is above it"
        ),
    )
    prices: Mapping[Annotated[str, Field(min_length=1)], ModelPrice] = Field(
        default_factory=dict,
        description=(
            "Prices of models that the price table does not know, or knows wrongly, by name of "
            "the model or of its deployment ('provider/name' where two providers have one)"
        ),
    )
    verbose: bool = Field(default=False, description="Log every step")
    quiet: bool = Field(default=False, description="Log warnings only")

    @model_validator(mode="after")
    def _is_loud_or_quiet(self) -> ExecutionConfig:
        if self.verbose and self.quiet:
            raise ValueError("verbose and quiet exclude each other: keep one")
        return self
