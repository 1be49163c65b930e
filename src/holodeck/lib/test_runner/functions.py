"""A Python function of the agent's folder as a tool."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from pydantic import PydanticUserError, TypeAdapter
from pydantic_core import ArgsKwargs, to_json

from holodeck.errors import ConfigError
from holodeck.lib.documents import content_id
from holodeck.lib.test_runner.agent_tools import AgentTool, JsonObject, without_titles
from holodeck.lib.test_runner.left_behind import in_thread_of_its_own, not_ending_the_process
from holodeck.lib.test_runner.turns import ToolUse
from holodeck.models.function_tool import FunctionTool

__all__ = ["LONGEST_TEXT", "PythonFunction", "find_function_problem"]

LONGEST_TEXT = 100_000
"""Characters of a result that a model is shown; what is longer would fill its context."""


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
        with not_ending_the_process():
            text = _as_text(await self._found(arguments))
        return ToolUse(name=self.name, arguments=arguments, text=text)

    async def _found(self, arguments: JsonObject) -> Any:  # Any: what a function returns
        # Here and not in the thread: one that is left behind must not be inside the validator,
        # which cannot be unwound when the process ends.
        positional, named = self._adapter.validate_python(ArgsKwargs((), arguments))
        work = partial(self._function, *positional, **named)
        if inspect.iscoroutinefunction(self._function):
            found = await work()
        else:
            found = await in_thread_of_its_own(lambda: _all_of(work()))
        if inspect.isawaitable(found):  # a plain function may hand one on
            found = await found
        if inspect.isasyncgen(found):
            found = [each async for each in found]
        return found


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
        case ast.Assign() | ast.AnnAssign():
            yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
        case ast.Import() | ast.ImportFrom():
            yield from (alias.asname or alias.name for alias in node.names)
        case ast.If() | ast.Try() | ast.TryStar() | ast.With() | ast.For() | ast.Match():
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
        module = _import(module_name, base_dir.resolve())
    except (Exception, SystemExit) as error:  # the user's module may raise anything
        raise ConfigError(
            f"module {module_name!r} cannot be imported ({type(error).__name__}: {error})",
            field="function",
        ) from error
    function = getattr(module, name, None)
    if not callable(function) or isinstance(function, type):
        raise ConfigError(
            f"{config.function!r} is not a function: name one after the colon", field="function"
        )
    is_object = not inspect.isroutine(function) and not isinstance(function, partial)
    return function.__call__ if is_object else function  # type: ignore[no-any-return]  # callable() tells no more


def _import(name: str, folder: Path) -> ModuleType:
    """Import a module of the folder below a name of its own: no installed one is in its way."""
    root = f"holodeck_agent_{content_id(str(folder))[:12]}"
    if root not in sys.modules:
        package = ModuleType(root)
        package.__path__ = [str(folder)]
        sys.modules[root] = package
        # The last place is for what functions import of their neighbours while they work.
        sys.path.append(str(folder))
    importlib.invalidate_caches()
    with _importable(folder):
        return importlib.import_module(f"{root}.{name}")


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let a module import its neighbours while it is loaded, before any that is installed."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _adapt(
    function: Callable[..., Any], config: FunctionTool
) -> tuple[TypeAdapter[Any], JsonObject]:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(cast("Any", _recorder(function)))
        schema = adapter.json_schema()
    except (PydanticUserError, NameError, TypeError) as error:
        raise ConfigError(
            f"the signature of {config.function!r} cannot be told to a model "
            f"({str(error).splitlines()[0]}): annotate its arguments with types that JSON has, and "
            "take no *args",
            field="function",
        ) from error
    if schema.get("type") != "object":
        raise ConfigError(
            f"{config.function!r} takes positional arguments, which a model cannot give: name "
            "every argument",
            field="function",
        )
    return adapter, without_titles(schema)


def _recorder(function: Callable[..., Any]) -> Callable[..., Any]:  # Any: of any signature
    """Return what looks like the function and returns what it would be called with."""

    @wraps(function)
    def record(*positional: Any, **named: Any) -> tuple[Any, Any]:  # Any: as above
        return positional, named

    if isinstance(function, partial):
        record.__annotations__ = getattr(function.func, "__annotations__", {})
    return record


def _all_of(found: Any) -> Any:  # Any: what a function returns
    return list(found) if inspect.isgenerator(found) else found


def _as_text(found: Any) -> str:  # Any: what a function returns
    if found is None or (isinstance(found, str) and not found):
        return "done; the function returned nothing"
    text = found if isinstance(found, str) else to_json(found, fallback=str).decode()
    sendable = text.encode("utf-8", "replace").decode()
    if len(sendable) <= LONGEST_TEXT:
        return sendable
    return (
        f"{sendable[:LONGEST_TEXT]}\n[cut here: these are the first {LONGEST_TEXT:,} of "
        f"{len(sendable):,} characters]"
    )
