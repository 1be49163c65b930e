"""The base of every model of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, model_validator

__all__ = ["StrictModel"]


class StrictModel(BaseModel):
    """Frozen, and an unknown key is an error: a setting is never parsed and ignored.

    An input never stands in an error's text, since it may be a key.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _truth_is_no_number(cls, data: Any) -> Any:  # Any: what YAML holds
        # Pydantic takes true for 1, so that "max_retries: yes" would mean one.
        if isinstance(data, Mapping):
            for name, field in cls.model_fields.items():
                kinds = {field.annotation, *get_args(field.annotation)}
                if isinstance(data.get(name), bool) and kinds & {int, float}:
                    raise ValueError(f"{name} must be a number, not true or false")
        return data
