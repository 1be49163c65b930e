"""A Python function of the agent's folder as a tool."""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from pydantic import PydanticUserError, TypeAdapter
from pydantic_core import ArgsKwargs, to_json

from holodeck.errors import ConfigError
from holodeck.lib.test_runner.agent_tools import AgentTool, JsonObject, without_titles
from holodeck.lib.test_runner.turns import ToolUse
from holodeck.models.function_tool import FunctionTool

__all__ = ["PythonFunction", "find_function_problem"]


class PythonFunction(AgentTool):
    """A callable that YAML names as ``module:name``.

    Its signature gives the schema; ``Annotated[str, Field(description=…)]`` describes an argument.
    A plain function runs in a thread of its own.

    Args:
        config: What YAML says.
        base_dir: Folder of the agent's file: the module lies in it.
        timeout: Seconds for one call; a plain function that takes longer is left behind running.

    Raises:
        ConfigError: The module or the function is not there, cannot be imported, or takes what
            no model can give.
    """

    def __init__(self, config: FunctionTool, base_dir: Path, *, timeout: float) -> None:
        self._function = _load(config, base_dir)
        told = config.description or inspect.getdoc(self._function)
        if not told:
            raise ConfigError(
                f"function {config.function!r} has no docstring: describe it with 'description', "
                "for the model to know what it is good for",
                field="description",
            )
        super().__init__(name=config.name, description=told, timeout=timeout)
        self._adapter, self._schema = _adapt(self._function, config)

    @property
    def parameters(self) -> JsonObject:
        """JSON Schema of the arguments."""
        return self._schema

    async def _call(self, arguments: JsonObject) -> ToolUse:
        work = ArgsKwargs((), arguments)
        if inspect.iscoroutinefunction(self._function):
            found = await self._adapter.validate_python(work)
        else:
            found = await asyncio.to_thread(self._adapter.validate_python, work)
        return ToolUse(name=self.name, arguments=arguments, text=_as_text(found))


def find_function_problem(config: FunctionTool, base_dir: Path) -> str | None:
    """Say why the function cannot be there, from the file's text alone: none of it runs."""
    file = _file_of(config, base_dir)
    if file is None:
        module = config.function.partition(":")[0]
        return f"there is no module {module!r} in {base_dir}: put the file there or mend the name"
    try:
        tree = ast.parse(file.read_bytes(), filename=str(file))
    except (OSError, SyntaxError, ValueError) as error:
        return f"{file} cannot be read as Python ({error})"
    name = config.function.partition(":")[2]
    names = {bound for node in tree.body for bound in _bound_names(node)}
    if name not in names and "*" not in names:
        return f"{file} defines no {name!r}: mend the name after the colon"
    return None


def _bound_names(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Assign():
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Import() | ast.ImportFrom():
            yield from (alias.asname or alias.name for alias in node.names)
        case ast.If() | ast.Try():
            yield "*"  # what is bound there depends on the run


def _file_of(config: FunctionTool, base_dir: Path) -> Path | None:
    parts = config.function.partition(":")[0].split(".")
    place = base_dir.joinpath(*parts)
    for file in (place.with_suffix(".py"), place / "__init__.py"):
        if file.is_file():
            return file
    return None


def _load(config: FunctionTool, base_dir: Path) -> Callable[..., Any]:  # Any: the user's function
    problem = find_function_problem(config, base_dir)
    if problem is not None:
        raise ConfigError(problem, field="function")
    module_name, _, name = config.function.partition(":")
    try:
        with _importable(base_dir):
            module = _import(module_name, _file_of(config, base_dir))
    except Exception as error:  # the user's module may raise anything
        raise ConfigError(
            f"module {module_name!r} cannot be imported ({type(error).__name__}: {error})",
            field="function",
        ) from error
    function = getattr(module, name, None)
    if not callable(function):
        raise ConfigError(
            f"{config.function!r} is not a function: name one after the colon", field="function"
        )
    return function  # type: ignore[no-any-return]  # callable() tells no more


def _import(name: str, file: Path | None) -> Any:  # Any: a module
    """Import the file under a name of its own, so that no installed module is in its way."""
    own_name = f"holodeck_agent_functions.{abs(hash(file))}.{name}".replace(".", "_")
    assert file is not None
    spec = importlib.util.spec_from_file_location(own_name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[own_name] = module  # dataclasses and pydantic look their module up
    spec.loader.exec_module(module)
    return module


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let a module import its neighbours while it is loaded."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _adapt(
    function: Callable[..., Any], config: FunctionTool
) -> tuple[TypeAdapter[Any], JsonObject]:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(cast("Any", function))
        schema = adapter.json_schema()
    except (PydanticUserError, NameError, TypeError) as error:
        raise ConfigError(
            f"the signature of {config.function!r} cannot be told to a model ({error}): annotate "
            "its arguments with types that JSON has",
            field="function",
        ) from error
    if schema.get("type") != "object":
        raise ConfigError(
            f"{config.function!r} takes positional arguments, which a model cannot give: name "
            "every argument",
            field="function",
        )
    return adapter, without_titles(schema)


def _as_text(found: Any) -> str:  # Any: what a function returns
    if isinstance(found, str):
        return found
    if found is None:
        return "done; the function returned nothing"
    return to_json(found, fallback=str).decode()
