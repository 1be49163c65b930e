"""What a judge model says of an answer."""

from __future__ import annotations

from pydantic import BaseModel, Field

from holodeck.lib.test_runner.judge import Judge
from holodeck.lib.test_runner.scores import Sample
from holodeck.models.evaluation import Metric

__all__ = ["faithfulness", "geval", "relevancy"]


class _Statement(BaseModel):
    statement: str
    supported: bool


class _Statements(BaseModel):
    statements: list[_Statement]


class _Grade(BaseModel):
    score: float = Field(ge=0, le=10)
    reason: str = ""


async def faithfulness(sample: Sample, metric: Metric, judge: Judge) -> tuple[float, str]:
    """Share of the answer's statements that follow from the context it was made from.

    The measure of RAGAS (Es et al., 2023), in one call.
    """
    context = sample.turn.context
    if not context:
        return 0.0, "no tool gave any context that the answer could rest on"
    found = await judge.ask(
        "List every statement of fact that the answer makes, and say of each whether it follows "
        "from the context alone, without knowledge from elsewhere. Answer with JSON: "
        '{"statements": [{"statement": "...", "supported": true}]}. An answer that states no fact '
        "has an empty list.",
        {"context": context, "answer": sample.answer},
        _Statements,
    )
    if not found.statements:
        return 1.0, "the answer states nothing"
    unsupported = [each.statement for each in found.statements if not each.supported]
    share = 1 - len(unsupported) / len(found.statements)
    return share, f"not supported: {'; '.join(unsupported)}" if unsupported else "all supported"


async def relevancy(sample: Sample, metric: Metric, judge: Judge) -> tuple[float, str]:
    """How well the answer meets the question, right or wrong."""
    grade = await judge.ask(
        "Grade how directly and completely the answer meets the question, whether or not it is "
        'true: 0 not at all, 10 fully. Answer with JSON: {"score": 0, "reason": "..."}',
        {"question": sample.turn.question, "answer": sample.answer},
        _Grade,
    )
    return grade.score / 10, grade.reason


async def geval(sample: Sample, metric: Metric, judge: Judge) -> tuple[float, str]:
    """How well the answer meets criteria in words, after G-Eval (Liu et al., 2023)."""
    sections = {"question": sample.turn.question, "answer": sample.answer}
    if sample.expected.ground_truth is not None:
        sections["right answer"] = sample.expected.ground_truth
    if sample.turn.context:
        sections["context"] = sample.turn.context
    grade = await judge.ask(
        f"Grade the answer by these criteria: {metric.criteria}\nThink through the criteria step "
        "by step, then grade: 0 not met at all, 10 fully met. Answer with JSON: "
        '{"score": 0, "reason": "..."}',
        sections,
        _Grade,
    )
    return grade.score / 10, grade.reason
