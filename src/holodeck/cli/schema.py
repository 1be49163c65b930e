"""``holodeck schema``: the JSON Schema of agent.yaml, for editors."""

from __future__ import annotations

from holodeck.cli.output import show_json

__all__ = ["schema"]


def schema() -> None:
    """Print the JSON Schema of agent.yaml, for editors."""
    from holodeck.config.schema import agent_schema

    show_json(agent_schema())
