"""JSON Schema of ``agent.yaml``, for editors: completion, hints and red lines while one types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from holodeck.config.fields import aliases
from holodeck.models.agent import AgentConfig
from holodeck.models.base import StrictModel
from holodeck.models.tool import NOT_WITH_GRAPHRAG, VectorstoreTool

__all__ = ["agent_schema"]

Schema = dict[str, Any]  # Any: JSON

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_VARIABLE: Schema = {
    "type": "string",
    "pattern": r"^\$\{",
    "description": "A variable: ${NAME} or ${NAME:-default}",
}
_RULES_OF_SCALARS = ("enum", "const", "pattern", "maxLength")


def agent_schema() -> Schema:
    """Return the schema; wherever a value has a form, ``${NAME}`` may stand for it."""
    schema = AgentConfig.model_json_schema()
    models = {model.__name__: model for model in _models(StrictModel)}
    for name, definition in ((AgentConfig.__name__, schema), *schema["$defs"].items()):
        definition["properties"] = {
            setting: _with_variable(_without_title(rules))
            for setting, rules in definition["properties"].items()
        }
        # An editor shows it as it stands: marks of another format would be noise.
        definition["description"] = definition["description"].replace("``", "")
        _add_aliases(definition, models[name])
    _add_engine_rules(schema["$defs"][VectorstoreTool.__name__])
    return {"$schema": _DIALECT, **schema, "title": "HoloDeck agent"}


def _models(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for model in base.__subclasses__():
        yield model
        yield from _models(model)


def _add_engine_rules(tool: Schema) -> None:
    """Mark the settings of the other engine."""
    is_graph: Schema = {"properties": {"engine": {"const": "graphrag"}}, "required": ["engine"]}
    is_default: Schema = {"properties": {"engine": {"const": "default"}}}
    foreign = dict.fromkeys(NOT_WITH_GRAPHRAG, False)
    tool["allOf"] = [
        {"if": is_graph, "then": {"properties": foreign}},
        {"if": is_default, "then": {"properties": {"graphrag": {"type": "null"}}}},
    ]


def _without_title(setting: Schema) -> Schema:
    # Pydantic's titles are the names once more; an editor would show them above the description.
    return {key: value for key, value in setting.items() if key != "title"}


def _with_variable(setting: Schema) -> Schema:
    if "anyOf" in setting:
        if any(_has_form(choice) for choice in setting["anyOf"]):
            return {**setting, "anyOf": [*setting["anyOf"], _VARIABLE]}
        return setting
    if not _has_form(setting):
        return setting
    about: Schema = {key: setting[key] for key in ("description", "default") if key in setting}
    rules = {key: value for key, value in setting.items() if key not in about}
    return {**about, "anyOf": [rules, _VARIABLE]}


def _has_form(setting: Schema) -> bool:
    """Tell whether a scalar of this schema may not be just any text."""
    if setting.get("type") in ("integer", "number", "boolean"):
        return True
    return any(rule in setting for rule in _RULES_OF_SCALARS)


def _add_aliases(definition: Schema, model: type[BaseModel]) -> None:
    for name, field in model.model_fields.items():
        for alias in aliases(field):
            if alias != name:
                about = f"Another name of {name}"
                definition["properties"][alias] = {
                    **definition["properties"][name],
                    "description": about,
                }
