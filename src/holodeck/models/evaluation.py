"""How answers are judged."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from holodeck.models.base import StrictModel
from holodeck.models.llm import LLMProvider
from holodeck.models.texts import Line, Prose

__all__ = ["JUDGED", "YES_OR_NO", "Evaluations", "Metric", "MetricName"]

MetricName = Literal[
    "contains",
    "regex",
    "equality",
    "numeric",
    "f1",
    "rouge_l",
    "bleu",
    "expected_tools",
    "source_recall",
    "source_precision",
    "faithfulness",
    "relevancy",
    "geval",
]

YES_OR_NO: frozenset[str] = frozenset(
    {"contains", "regex", "equality", "numeric", "expected_tools"}
)
"""Metrics that are 0 or 1: without a threshold they must be 1."""

JUDGED: frozenset[str] = frozenset({"faithfulness", "relevancy", "geval"})
"""Metrics that ask a language model."""

_SETTINGS: dict[str, tuple[MetricName, ...]] = {
    "values": ("contains",),
    "pattern": ("regex",),
    "case_sensitive": ("contains", "regex", "equality"),
    "tolerance": ("numeric",),
    "criteria": ("geval",),
    "name": ("geval",),
}
"""Setting → the metrics that it means something to."""


class Metric(StrictModel):
    """One way to judge an answer, and from where on it passes."""

    metric: MetricName = Field(description="What is measured")
    threshold: float | None = Field(
        default=None,
        ge=0.0,
        le=1.0,
        description=(
            "Least value that passes. Without one a value is reported and passes nothing; "
            "contains, regex, equality, numeric and expected_tools must then hold"
        ),
    )
    values: tuple[Prose, ...] | None = Field(
        default=None,
        min_length=1,
        description="What the answer must contain, all of it; default: the ground truth",
    )
    pattern: str | None = Field(
        default=None, min_length=1, description="Regular expression that the answer must match"
    )
    case_sensitive: bool = Field(default=False, description="Tell large letters from small ones")
    tolerance: float = Field(
        default=0.0, ge=0.0, description="How far the number may be from that of the ground truth"
    )
    criteria: Prose | None = Field(
        default=None, description="What a judge model must look at, in words"
    )
    name: Line | None = Field(
        default=None, description="Name of the criteria in reports; default: geval"
    )

    @property
    def label(self) -> str:
        """The name in reports."""
        return self.name or self.metric

    @property
    def limit(self) -> float | None:
        """Least value that passes; ``None``: reported only."""
        if self.threshold is None and self.metric in YES_OR_NO:
            return 1.0
        return self.threshold

    @field_validator("pattern")
    @classmethod
    def _is_an_expression(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            import regex

            try:
                regex.compile(pattern)
            except regex.error as error:
                raise ValueError(f"pattern is no regular expression: {error}") from error
        return pattern

    @model_validator(mode="after")
    def _settings_fit(self) -> Metric:
        for setting, metrics in _SETTINGS.items():
            if setting in self.model_fields_set and self.metric not in metrics:
                raise ValueError(
                    f"{setting} has no effect with metric: {self.metric}; it belongs to "
                    f"{', '.join(metrics)}: remove it"
                )
        if self.metric == "regex" and self.pattern is None:
            raise ValueError("metric: regex needs a pattern: add one")
        if self.metric == "geval" and self.criteria is None:
            raise ValueError("metric: geval needs criteria: say what the judge must look at")
        return self


class Evaluations(StrictModel):
    """How the answers of all test cases are judged; a case's own list stands in its place."""

    judge: LLMProvider | None = Field(
        default=None,
        description="Model that judges for faithfulness, relevancy and geval; default: the agent's",
    )
    metrics: tuple[Metric, ...] = Field(default=(), description="What is measured")
