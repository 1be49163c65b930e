"""Record commands on a real terminal of 80 columns, and put what they leave there into the pages.

    make captures          # or: python docs/captures/record.py

A page says where, between ``<!-- capture: NAME -->`` and ``<!-- end -->``. Times and the folder are
made the same in every recording; everything else is as it was.
"""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyte

from holodeck.config.templates import make_agent
from holodeck.testing import ModelServer, looks_up

DOCS = Path(__file__).resolve().parents[1]
COLUMNS, ROWS = 80, 24
TEMPORARY = Path("/tmp")
PATIENCE = 90
"""Seconds without a word after which a command is given up."""
REACTION = 0.3
"""Seconds from a prompt to what is typed: a Ctrl-C between prompt and read would wake nobody."""

IN_FOREGROUND = """
import fcntl, runpy, sys, termios
fcntl.ioctl(sys.stdin, termios.TIOCSCTTY, 0)  # so that Ctrl-C reaches it, as from a shell
runpy.run_module("holodeck", run_name="__main__", alter_sys=True)
"""
LOCAL_MODES = 3  # the place of lflag in what tcgetattr returns
SHOWN_FOLDER = "/home/ann/agents"  # as long as the temporary folder, so that lines break alike
ANSWER = (
    "William Thomson, professor at the University of Glasgow, invented the mirror galvanometer "
    "(william-thomson.txt). A spot of light moves in it with the faintest current."
)


@dataclass(frozen=True, kw_only=True)
class Screen:
    """What a command left on a terminal.

    Attributes:
        lines: Everything that was written, also what has left the screen at its top.
        has_colour: Whether any of it is coloured.
        ended_its_line: Whether what comes next begins a line.
        code: The exit code.
    """

    lines: list[str]
    has_colour: bool
    ended_its_line: bool
    code: int


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A command, and where it is run.

    Attributes:
        page: The page that shows it.
        command: As it is typed; the first word is ``holodeck``.
        prepare: Makes the project in an empty folder, and returns the folder to type it in.
        typed: What is typed at each prompt that follows.
    """

    page: str
    command: str
    prepare: Callable[[Path, ModelServer], Path]
    typed: tuple[str, ...] = ()


def _embedded(folder: Path, _: ModelServer) -> Path:
    return make_agent(folder / "my-agent", "graphrag", "embedded").folder


def _vector(folder: Path, _: ModelServer) -> Path:
    return make_agent(folder / "my-agent", "vector", "embedded").folder


def _examples(folder: Path, _: ModelServer) -> Path:
    ignored = shutil.ignore_patterns(".holodeck")
    shutil.copytree(DOCS.parent / "examples", folder / "examples", ignore=ignored)
    return folder


def _openai(folder: Path, server: ModelServer) -> Path:
    made = make_agent(folder / "with-openai", "vector", "openai").folder
    settings = f"OPENAI_API_KEY=any\nOPENAI_BASE_URL={server.url}\n"
    (made / ".env").write_text(settings, encoding="utf-8")
    server.reply(
        "chat", looks_up("knowledge", ANSWER), when=lambda request: bool(request.body.get("tools"))
    )
    return made


SCENES: Mapping[str, Scene] = {
    "index": Scene(page="quickstart.md", command="holodeck index", prepare=_embedded),
    "estimate": Scene(
        page="graph-engine.md",
        command="holodeck index examples/agents/openai.yaml --estimate",
        prepare=_examples,
    ),
    "chat": Scene(
        page="agents.md",
        command="holodeck chat",
        prepare=_openai,
        typed=("Who invented the mirror galvanometer?\n", "/sources\n", "/quit\n"),
    ),
    "test": Scene(page="agent-tests.md", command="holodeck test --parallel 1", prepare=_vector),
    "compare": Scene(
        page="agent-tests.md",
        command="holodeck test --parallel 1 --compare default --compare graphrag",
        prepare=_vector,
    ),
}
"""Name of the capture → how it comes about."""


@contextmanager
def stage(scene: Scene) -> Iterator[Path]:
    """Make a scene's project, and take it away afterwards."""
    with tempfile.TemporaryDirectory(dir=TEMPORARY) as folder, ModelServer() as server:
        yield scene.prepare(Path(folder), server)


def perform(scene: Scene, folder: Path, **variables: str) -> Screen:
    """Carry a scene out in a folder of its own, which ``stage`` made."""
    raw, code = _typed_on_terminal(scene, folder, variables)
    temporary = str(next(each for each in (folder, *folder.parents) if each.parent == TEMPORARY))
    raw = raw.replace(temporary.encode(), SHOWN_FOLDER.encode())
    screen = pyte.HistoryScreen(COLUMNS, ROWS, history=10_000)
    pyte.ByteStream(screen).feed(raw)
    rows = [*screen.history.top, *(screen.buffer[row] for row in range(ROWS))]
    lines = ["".join(row[column].data for column in range(COLUMNS)).rstrip() for row in rows]
    has_colour = any(cell.fg != "default" for row in rows for cell in row.values())
    return Screen(
        lines=_without_blank_end(lines),
        has_colour=has_colour,
        ended_its_line=screen.cursor.x == 0,
        code=code,
    )


def _without_blank_end(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def _typed_on_terminal(
    scene: Scene, folder: Path, variables: Mapping[str, str]
) -> tuple[bytes, int]:
    """Return everything that the terminal got, and the exit code."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (ROWS, COLUMNS))
    _keep_output_at_interrupts(theirs)
    child = subprocess.Popen(
        [sys.executable, "-c", IN_FOREGROUND, *scene.command.split()[1:]],
        cwd=folder,
        env=_environment() | variables,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    got, left = b"", list(scene.typed)
    try:
        while piece := _read(ours):
            got += piece
            if left and got.endswith(b"\n> "):
                time.sleep(REACTION)
                os.write(ours, left.pop(0).encode())
        return got, child.wait(PATIENCE)
    finally:
        child.kill()
        child.wait()
        os.close(ours)


def _keep_output_at_interrupts(terminal: int) -> None:
    """Let Ctrl-C throw nothing away: what answers it may be written before the terminal does."""
    modes = termios.tcgetattr(terminal)
    modes[LOCAL_MODES] |= termios.NOFLSH
    termios.tcsetattr(terminal, termios.TCSANOW, modes)


def _read(terminal: int) -> bytes:
    """Return what was written since; nothing at the end, or when nothing has come for long."""
    try:
        ready, _, _ = select.select([terminal], [], [], PATIENCE)
        return os.read(terminal, 65_536) if ready else b""
    except OSError:  # Linux says so when the other side is closed
        return b""


def _environment() -> dict[str, str]:
    """Return what a user's shell would have, and nothing of whoever records."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    source = os.pathsep.join([str(DOCS.parent / "src"), os.environ.get("PYTHONPATH", "")])
    return {**kept, "LANG": "C.UTF-8", "TERM": "xterm-256color", "PYTHONPATH": source}


def settled(lines: list[str]) -> list[str]:
    """Return the lines with the times that every recording shows."""
    return [_settled(line) for line in lines]


def _settled(line: str) -> str:
    line = re.sub(r"\d:\d\d:\d\d|-:--:--", "0:00:00", line)
    line = re.sub(r"\d+\.\d( ?)s\b", r"0.1\1s", line)
    if line.startswith((" passed ", " failed ")):  # a row of a table; its last cell is a time
        return re.sub(r" +\d+\.\d$", _aligned("0.1"), line)
    if line.startswith(" seconds a case"):
        return re.sub(r" +\d+\.\d\d", _aligned("0.10"), line)
    return line


def _aligned(text: str) -> Callable[[re.Match[str]], str]:
    return lambda match: text.rjust(len(match[0]))


def shown(scene: Scene, screen: Screen) -> str:
    """Return a capture as a page holds it."""
    return "\n".join(["```text", f"$ {scene.command}", *settled(screen.lines), "```"])


def block(name: str) -> re.Pattern[str]:
    """Return what finds the place of a capture in a page."""
    return re.compile(rf"(<!-- capture: {name} -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> int:
    """Record every scene anew."""
    for name, scene in SCENES.items():
        with stage(scene) as folder:
            text = shown(scene, perform(scene, folder))
        page = DOCS / scene.page
        old = page.read_text("utf-8")
        new, count = block(name).subn(lambda match, text=text: f"{match[1]}{text}\n{match[2]}", old)
        if count != 1:
            print(f"{scene.page} has no place for the capture {name}")
            return 1
        page.write_text(new, encoding="utf-8")
        print(f"{scene.page}: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
