"""Python functions as tools."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

import holodeck
from holodeck.errors import ConfigError
from holodeck.lib.test_runner.functions import LONGEST_TEXT, PythonFunction, find_function_problem
from holodeck.models.function_tool import FunctionTool

MODULE = '''\
from __future__ import annotations

import asyncio
import sys
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


def find_none() -> str:
    """Look for the first of nothing."""
    return next(each for each in [] if each)


class MuteError(Exception):
    """An error that cannot be said."""

    def __str__(self) -> str:
        raise ValueError("no words")


def fail_mutely() -> str:
    """Fail without a word."""
    raise MuteError


def sleep() -> str:
    """Take long."""
    time.sleep(0.5)
    return "late"


def untold(x: int) -> int:
    return x


def leave() -> str:
    """End the process."""
    sys.exit(3)


async def leave_later() -> str:
    """End the process, after a while."""
    sys.exit(4)


async def leave_after_one() -> object:
    """Count to one, then end the process."""
    yield 1
    sys.exit(5)


class Leaving:
    """What ends the process when it is looked at."""

    def __str__(self) -> str:
        sys.exit(6)


def leave_by_its_result() -> object:
    """End the process by what it returns."""
    return Leaving()


class LeavingError(Exception):
    """What ends the process when it is told."""

    __str__ = Leaving.__str__


def leave_by_its_error() -> object:
    """End the process by what it raises."""
    raise LeavingError


def interrupt() -> str:
    """Pretend that somebody pressed Ctrl-C."""
    raise KeyboardInterrupt


async def cancelled() -> str:
    """Work on something that was cancelled."""
    raise asyncio.CancelledError


def late() -> object:
    """Hand on what is still to be awaited."""
    return asyncio.sleep(0, "late")


def numbers() -> object:
    """Count."""
    yield 1
    yield 2


async def more_numbers() -> object:
    """Count, slowly."""
    yield 3


def huge() -> str:
    """Say much."""
    return "x" * 3_000_000


def half() -> str:
    """Cut a character in two."""
    return "a\\ud800b"


def several(*words: str) -> str:
    """Take any number of words."""
    return " ".join(words)


class Shop:
    """A shop."""

    def __call__(self, number: int) -> int:
        return number


shop = Shop()
first, second = nothing, nothing


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
        ("shop:find_none", {}, "it raised StopIteration"),
        ("shop:fail_mutely", {}, "MuteError: it cannot say why"),
    ],
    ids=["out of range", "missing", "unknown", "no object", "raises", "finds none", "mute"],
)
async def test_a_failure_is_its_answer(
    folder: Path, function: str, arguments: dict[str, object] | str, told: str
) -> None:
    """The model reads what went wrong, and the use is marked as failed."""
    use = await tool(function, folder).call(arguments)
    assert use.failed
    assert told in use.text


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("shop:leave", "wanted to end the process (SystemExit: 3)"),
        ("shop:interrupt", "wanted to end the process (KeyboardInterrupt"),
        ("shop:leave_later", "wanted to end the process (SystemExit: 4)"),
        ("shop:leave_after_one", "wanted to end the process (SystemExit: 5)"),
        ("shop:leave_by_its_result", "SystemExit: 6"),
        ("shop:leave_by_its_error", "it cannot say why"),
        ("shop:cancelled", "its work was cancelled"),
    ],
)
async def test_one_that_would_end_the_talk_fails_only_itself(
    folder: Path, function: str, told: str
) -> None:
    """Neither the process nor the turn ends by what a function does."""
    use = await tool(function, folder).call({})
    assert use.failed
    assert told in use.text


@pytest.mark.parametrize(
    ("function", "text"),
    [("shop:late", "late"), ("shop:numbers", "[1,2]"), ("shop:more_numbers", "[3]")],
)
async def test_what_is_still_to_come_is_waited_for(folder: Path, function: str, text: str) -> None:
    """An awaitable, and all that a generator yields."""
    assert (await tool(function, folder).call({})).text == text


async def test_every_result_can_be_sent(folder: Path) -> None:
    """What would fill a context is cut and says so; half a character is replaced."""
    found = (await tool("shop:huge", folder).call({})).text
    assert len(found) < LONGEST_TEXT + 100
    assert found.endswith("[cut here: these are the first 100,000 of 3,000,000 characters]")
    assert (await tool("shop:half", folder).call({})).text == "a?b"


async def test_an_object_that_can_be_called_is_a_function(folder: Path) -> None:
    """Its call gives the schema; a name that is bound with another is found too."""
    assert (await tool("shop:shop", folder).call({"number": 3})).text == "3"
    assert "nothing" in (await tool("shop:second", folder).call({})).text


async def test_modules_of_a_package_know_each_other(folder: Path) -> None:
    """Relative imports, imports while a function works, and one state for all functions."""
    package = folder / "goods"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "stock.py").write_text('LIST = ["lamp"]\n', encoding="utf-8")
    (package / "find.py").write_text(
        "from .stock import LIST\n\n"
        'def add(what: str) -> None:\n    """Add."""\n    LIST.append(what)\n\n'
        'def show() -> str:\n    """Show."""\n    import neighbour\n'
        "    return ' '.join([*LIST, neighbour.WORD])\n",
        encoding="utf-8",
    )
    await tool("goods.find:add", folder).call({"what": "bed"})
    assert (await tool("goods.find:show", folder).call({})).text == "lamp bed chair"


async def test_one_that_takes_too_long_is_left_behind(folder: Path) -> None:
    """The limit is the tool's, and its setting is named; the loop is not blocked meanwhile."""
    slow = tool("shop:sleep", folder, timeout=0.05)
    use, _ = await asyncio.gather(slow.call({}), asyncio.sleep(0))
    assert use.failed
    assert "execution.tool_timeout" in use.text


def test_one_that_never_ends_keeps_no_process_alive(folder: Path) -> None:
    """The thread that was left behind ends with the process."""
    (folder / "stuck.py").write_text(
        'import threading\n\ndef wait() -> None:\n    """Wait."""\n    threading.Event().wait()\n',
        encoding="utf-8",
    )
    script = (
        "import asyncio\nfrom pathlib import Path\n"
        "from holodeck.lib.test_runner.functions import PythonFunction\n"
        "from holodeck.models.function_tool import FunctionTool\n"
        "config = FunctionTool(name='t', type='function', function='stuck:wait')\n"
        "use = asyncio.run(PythonFunction(config, Path('.'), timeout=0.1).call({}))\n"
        "print(use.text)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "execution.tool_timeout" in done.stdout


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("stock:find", "no module 'stock'"),
        ("shop:missing", "defines no 'missing'"),
        ("shop:CONSTANT", "not a function"),
        ("shop:positional", "positional"),
        ("shop:several", "positional"),
        ("shop:Shop", "not a function"),
        ("leaves:f", "SystemExit"),
        ("broken:f", "cannot be read as Python"),
        ("raises:f", "ZeroDivisionError"),
    ],
)
def test_one_that_cannot_be_used_is_a_configuration_error(
    folder: Path, function: str, told: str
) -> None:
    """The message says what is wrong with the module or the name."""
    (folder / "broken.py").write_text("def f(:\n", encoding="utf-8")
    (folder / "leaves.py").write_text("raise SystemExit\ndef f(): pass\n", encoding="utf-8")
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
