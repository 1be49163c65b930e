"""The base of every model of the configuration."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["StrictModel"]


class StrictModel(BaseModel):
    """Frozen, and an unknown key is an error: a setting is never parsed and ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
