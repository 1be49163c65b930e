"""Python functions as tools."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from holodeck.errors import ConfigError
from holodeck.lib.test_runner.functions import PythonFunction, find_function_problem
from holodeck.models.function_tool import FunctionTool

MODULE = '''\
from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

import neighbour


@dataclass
class Order:
    """What was ordered."""

    number: int
    items: list[str]


def find_order(number: Annotated[int, Field(ge=1, description="Of the order")]) -> Order:
    """Look an order up."""
    return Order(number, ["lamp", neighbour.WORD])


async def greet(name: str = "you") -> str:
    """Greet somebody."""
    return f"Hello, {name}"


def nothing() -> None:
    """Do nothing."""


def fail() -> str:
    """Fail."""
    raise KeyError("shelf 9")


def sleep() -> str:
    """Take long."""
    time.sleep(0.5)
    return "late"


def untold(x: int) -> int:
    return x


def positional(x: int, /) -> int:
    """Take what no model can give."""
    return x


CONSTANT = 3
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a module that imports its neighbour."""
    (tmp_path / "shop.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "neighbour.py").write_text('WORD = "chair"\n', encoding="utf-8")
    return tmp_path


def tool(function: str, folder: Path, *, timeout: float = 30.0, **more: str) -> PythonFunction:
    """Return the function as a tool."""
    config = FunctionTool(name="tool", type="function", function=function, **more)
    return PythonFunction(config, folder, timeout=timeout)


async def test_what_it_returns_becomes_text(folder: Path) -> None:
    """Text stays as it is, anything else is JSON, nothing is said to be nothing."""
    assert (await tool("shop:greet", folder).call({"name": "Ann"})).text == "Hello, Ann"
    found = await tool("shop:find_order", folder).call('{"number": 7}')
    assert found.text == '{"number":7,"items":["lamp","chair"]}'
    assert "nothing" in (await tool("shop:nothing", folder).call({})).text


def test_the_signature_is_the_schema(folder: Path) -> None:
    """Types, limits, descriptions and defaults reach the model; a docstring describes the tool."""
    order = tool("shop:find_order", folder)
    assert order.description == "Look an order up."
    assert order.parameters["properties"] == {
        "number": {"type": "integer", "minimum": 1, "description": "Of the order"}
    }
    assert order.parameters["required"] == ["number"]
    assert tool("shop:greet", folder).parameters["properties"] == {
        "name": {"type": "string", "default": "you"}
    }


def test_yaml_may_describe_it_otherwise(folder: Path) -> None:
    """A description in YAML goes before the docstring, and stands in for a missing one."""
    assert tool("shop:untold", folder, description="Echo").description == "Echo"
    with pytest.raises(ConfigError, match="no docstring"):
        tool("shop:untold", folder)


@pytest.mark.parametrize(
    ("function", "arguments", "told"),
    [
        ("shop:find_order", {"number": 0}, "number: Input should be greater than or equal to 1"),
        ("shop:find_order", {}, "number: Missing required argument"),
        ("shop:find_order", {"number": 1, "colour": "red"}, "colour: Unexpected keyword argument"),
        ("shop:find_order", "[1]", "one JSON object"),
        ("shop:fail", {}, "KeyError: 'shelf 9'"),
    ],
    ids=["out of range", "missing", "unknown", "no object", "raises"],
)
async def test_a_failure_is_its_answer(
    folder: Path, function: str, arguments: dict[str, object] | str, told: str
) -> None:
    """The model reads what went wrong, and the use is marked as failed."""
    use = await tool(function, folder).call(arguments)
    assert use.failed
    assert told in use.text


async def test_one_that_takes_too_long_is_left_behind(folder: Path) -> None:
    """The limit is the tool's, and its setting is named; the loop is not blocked meanwhile."""
    slow = tool("shop:sleep", folder, timeout=0.05)
    use, _ = await asyncio.gather(slow.call({}), asyncio.sleep(0))
    assert use.failed
    assert "execution.tool_timeout" in use.text


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("stock:find", "no module 'stock'"),
        ("shop:missing", "defines no 'missing'"),
        ("shop:CONSTANT", "not a function"),
        ("shop:positional", "positional"),
        ("broken:f", "cannot be read as Python"),
        ("raises:f", "ZeroDivisionError"),
    ],
)
def test_one_that_cannot_be_used_is_a_configuration_error(
    folder: Path, function: str, told: str
) -> None:
    """The message says what is wrong with the module or the name."""
    (folder / "broken.py").write_text("def f(:\n", encoding="utf-8")
    (folder / "raises.py").write_text("1 / 0\ndef f(): pass\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=told):
        tool(function, folder, description="any")


def test_looking_for_it_runs_none_of_it(folder: Path) -> None:
    """What ``validate`` asks is answered from the text of the file."""
    (folder / "trap.py").write_text("raise SystemExit\ndef f(): pass\n", encoding="utf-8")
    config = FunctionTool(name="t", type="function", function="trap:f", description="any")
    assert find_function_problem(config, folder) is None


@pytest.mark.parametrize("function", ["../up:f", "a/b:f", "os", "a:b:c", "a.b", ":f", "a:"])
def test_a_name_is_never_a_path(function: str) -> None:
    """Only dotted names with one colon pass."""
    with pytest.raises(ValueError, match="function"):
        FunctionTool(name="t", type="function", function=function)
