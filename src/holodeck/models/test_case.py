"""What an agent is asked in a test, and what is expected of it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from holodeck.models.base import StrictModel
from holodeck.models.evaluation import Metric
from holodeck.models.texts import Line, Prose

__all__ = ["Case", "CaseFile", "CaseTurn", "ExpectedTool"]


class ExpectedTool(StrictModel):
    """A tool that must be called."""

    name: Line = Field(description="Name of the tool in this file")
    arguments: dict[str, Any] | None = Field(
        default=None,
        description="Arguments that one of the calls must have had; further ones do not matter",
    )
    count: int | None = Field(
        default=None, ge=0, description="How often it must be called; default: at least once"
    )

    @model_validator(mode="after")
    def _no_arguments_of_no_call(self) -> ExpectedTool:
        if self.count == 0 and self.arguments is not None:
            raise ValueError(
                "arguments have no effect with count: 0, which expects no call at all: remove one"
            )
        return self


def _as_block(value: Any) -> Any:  # Any: what YAML holds
    return {"name": value} if isinstance(value, str) else value


class _Expected(StrictModel):
    """What is expected of one answer."""

    ground_truth: Prose | None = Field(
        default=None, description="A right answer, for the metrics that compare"
    )
    expected_tools: (
        tuple[
            Annotated[
                ExpectedTool,
                BeforeValidator(_as_block, json_schema_input_type=str | ExpectedTool),
            ],
            ...,
        ]
        | None
    ) = Field(
        default=None,
        description=(
            "Tools that must be called, by name, or as a block with arguments and count; an empty "
            "list: none at all"
        ),
    )
    expected_sources: tuple[Line, ...] | None = Field(
        default=None,
        min_length=1,
        description="Files that the tools must find, relative to the source ('log.pdf, page 2')",
    )
    evaluations: tuple[Metric, ...] | None = Field(
        default=None, description="How this answer is judged; default: the agent's evaluations"
    )


class CaseTurn(_Expected):
    """One question of a conversation."""

    input: Prose = Field(description="What the agent is asked")


class Case(_Expected):
    """A test case: one question, or a conversation of several."""

    name: Line = Field(description="Name of the case in reports")
    input: Prose | None = Field(default=None, description="What the agent is asked")
    turns: tuple[CaseTurn, ...] | None = Field(
        default=None, min_length=1, description="A conversation, in place of 'input'"
    )

    @property
    def all_turns(self) -> tuple[CaseTurn, ...]:
        """The questions with what is expected of each."""
        if self.turns is not None:
            return self.turns
        one = {name: getattr(self, name) for name in CaseTurn.model_fields}
        return (CaseTurn(**one),)

    @model_validator(mode="after")
    def _exactly_one_form(self) -> Case:
        if (self.input is None) == (self.turns is None):
            raise ValueError("a test case needs exactly one of 'input' and 'turns'")
        if self.turns is not None:
            for name in _Expected.model_fields:
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"{name} stands beside 'turns': move it into the turn that it is for"
                    )
        return self


class CaseFile(StrictModel):
    """A file of test cases."""

    test_cases: tuple[Case, ...] = Field(min_length=1, description="The cases")
