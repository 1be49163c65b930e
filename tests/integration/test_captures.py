"""The pages show what a terminal of 80 columns shows."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

if sys.platform == "win32":
    pytest.skip("this system has no terminals of that kind", allow_module_level=True)

pytestmark = [pytest.mark.integration, pytest.mark.slow]

DOCS = Path(__file__).resolve().parents[2] / "docs"
recorder = runpy.run_path(str(DOCS / "captures" / "record.py"))
SCENES: Mapping[str, Any] = recorder["SCENES"]
stage: Callable[[Any], AbstractContextManager[Path]] = recorder["stage"]
perform: Callable[..., Any] = recorder["perform"]
shown: Callable[[Any, Any], str] = recorder["shown"]


HEAVY = ("compare",)  # builds for both engines; the page's own commands do so in 'make test' too


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.heavy) if name in HEAVY else name for name in SCENES],
)
def test_a_page_shows_what_the_terminal_shows(name: str) -> None:
    """Recorded anew, a capture is what its page holds; ``make captures`` writes it there."""
    scene = SCENES[name]
    with stage(scene) as folder:
        screen = perform(scene, folder)

    (found,) = recorder["block"](name).finditer((DOCS / scene.page).read_text("utf-8"))
    assert (screen.code, screen.has_colour) == (0, name != "estimate")  # which draws no bar
    assert found[0].splitlines()[1:-1] == shown(scene, screen).splitlines()


def test_a_terminal_without_colour_says_the_same() -> None:
    """NO_COLOR takes the colours of bars and answers away and not a word."""
    scene = SCENES["chat"]
    with stage(scene) as folder:
        screen = perform(scene, folder, NO_COLOR="1")

    assert not screen.has_colour
    assert shown(scene, screen) in (DOCS / scene.page).read_text("utf-8")


@pytest.mark.parametrize(
    ("typed", "end"),
    [
        (("\x03", "\x03"), ["> ^C", "stopped; Ctrl-C once more, or /quit, leaves", "> ^C"]),
        (("\x04",), [">"]),
    ],
    ids=["Ctrl-C", "Ctrl-D"],
)
def test_a_chat_that_is_left_ends_its_line(typed: tuple[str, ...], end: list[str]) -> None:
    """What is said next, by us or by a shell, never stands behind the prompt."""
    scene = replace(SCENES["test"], command="holodeck chat", typed=typed)
    with stage(scene) as folder:
        screen = perform(scene, folder)

    assert screen.lines[-len(end) :] == end
    assert screen.ended_its_line
