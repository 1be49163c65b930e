"""How an agent's work is carried out: time budgets, concurrency, retries, cache."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from holodeck.models.base import StrictModel
from holodeck.models.texts import Line

__all__ = ["ExecutionConfig"]

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
    verbose: bool = Field(default=False, description="Log every step")
    quiet: bool = Field(default=False, description="Log warnings only")

    @model_validator(mode="after")
    def _is_loud_or_quiet(self) -> ExecutionConfig:
        if self.verbose and self.quiet:
            raise ValueError("verbose and quiet exclude each other: keep one")
        return self
