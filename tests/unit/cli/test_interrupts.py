"""Signals and closed streams, which only a process of its own shows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import holodeck
from holodeck.cli.interrupts import MESSAGE

pytestmark = pytest.mark.unit

if sys.platform == "win32":
    pytest.skip("this system has other signals", allow_module_level=True)

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])}
SAID = f"error: {MESSAGE}\n".encode()

KILL = "import os, sys\nfrom holodeck.cli import main\n"
"""How each of these processes begins; the signal comes at a place that the test names."""

PLACES = {
    "import": """
class Finder:
    def find_spec(self, name, path, target=None):
        if name == "holodeck.cli.app":
            os.kill(os.getpid(), SIGNAL)
sys.meta_path.insert(0, Finder())
sys.exit(main())
""",
    "command": """
class Finder:
    def find_spec(self, name, path, target=None):
        if name == "holodeck.tools.checks":
            os.kill(os.getpid(), SIGNAL)
sys.meta_path.insert(0, Finder())
sys.exit(main())
""",
    "work": """
import asyncio, typer
from holodeck.cli.work import carry_out
app = typer.Typer()
cleaned = []
@app.command()
def work():
    async def wait():
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), SIGNAL)
        try:
            await asyncio.Event().wait()
        finally:
            os.write(1, b"cleaned\\n")
    carry_out(wait())
sys.argv = ["holodeck"]
sys.exit(main(commands=app))
""",
    "a thread that does not end": """
import asyncio, threading, typer
from holodeck.cli.work import carry_out
app = typer.Typer()
@app.command()
def work():
    async def wait():
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), SIGNAL)
        await asyncio.to_thread(threading.Event().wait)
    carry_out(wait())
sys.argv = ["holodeck"]
sys.exit(main(commands=app))
""",
    "a second time while it cleans up": """
import asyncio, typer
from holodeck.cli.work import carry_out
app = typer.Typer()
@app.command()
def work():
    async def wait():
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), SIGNAL)
        try:
            await asyncio.Event().wait()
        finally:
            os.kill(os.getpid(), SIGNAL)
            await asyncio.Event().wait()
    carry_out(wait())
sys.argv = ["holodeck"]
sys.exit(main(commands=app))
""",
}


def run(code: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("place", PLACES)
def test_an_interrupted_process_says_so_in_one_line(
    place: str, number: signal.Signals, tmp_path: Path
) -> None:
    """While it imports, loads, works or waits for a thread: exit code 130 and no trace."""
    (tmp_path / "agent.yaml").write_text("name: a\nmodel: {provider: embedded}\n", encoding="utf-8")
    code = KILL + PLACES[place].replace("SIGNAL", str(int(number)))

    done = run(code, "validate", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (130, SAID)
    assert done.stdout == (b"cleaned\n" if place == "work" else b"")


@pytest.mark.parametrize("place", ["work", "a thread that does not end"])
def test_last_words_are_said_once_and_stand_alone(place: str, tmp_path: Path) -> None:
    """Whether the work cleans up in time or not; nothing else is printed by then."""
    code = KILL + PLACES[place].replace("SIGNAL", str(int(signal.SIGINT)))
    words = "last_words=lambda: bool(os.write(2, b'so far'))"
    code = code.replace("carry_out(wait())", f"carry_out(wait(), {words})")
    code = code.replace("import asyncio", "import asyncio, sys", 1)

    done = run(code, "validate", cwd=tmp_path)

    assert done.returncode == 130
    said = b"so far" if place != "work" else b"so far" + SAID
    assert done.stderr == said


def test_an_interruption_is_a_document_too(tmp_path: Path) -> None:
    """A program that asked for JSON gets it, whenever the signal comes."""
    code = KILL + PLACES["import"].replace("SIGNAL", str(int(signal.SIGINT)))

    done = run(code, "status", "--json", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (130, b"")
    assert json.loads(done.stdout) == {
        "error": {
            "type": "Interrupted",
            "message": MESSAGE,
            "file": None,
            "line": None,
            "field": None,
        }
    }


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """A shell starts background jobs with Ctrl-C ignored."""
    code = KILL + PLACES["import"].replace("SIGNAL", str(int(signal.SIGINT)))
    code = f"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{code}"

    assert run(code, "--version", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("redirected", [">&-", "2>&-", "<&- >&- 2>&-", "| head -c 0"])
@pytest.mark.parametrize("words", ["schema", "status --json", "nonsense"])
def test_a_stream_that_is_closed_is_no_crash(words: str, redirected: str, tmp_path: Path) -> None:
    """The exit code is that of the command; what is still open gets no trace."""
    (tmp_path / "agent.yaml").write_text(
        "name: a\nmodel: {provider: embedded}\ntools: [{name: k, source: .}]\n", encoding="utf-8"
    )
    command = f"set -o pipefail; {sys.executable} -m holodeck {words} {redirected}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, check=False
    )

    assert done.returncode == (2 if words == "nonsense" else 0)
    assert b"Traceback" not in done.stderr
    assert b"Error" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("words", ["schema", "status --json", "init --provider nobody --json"])
def test_a_result_that_cannot_be_written_is_an_error(words: str, tmp_path: Path) -> None:
    """A full disk under a redirected result or JSON error is told, once, as text; the code is 3."""
    command = f"{sys.executable} -m holodeck {words} > /dev/full"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, check=False
    )

    assert done.returncode == 3
    assert done.stderr == b"error: the result could not be written: No space left on device\n"
