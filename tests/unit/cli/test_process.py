"""What only a process of its own shows: imports, locales, pipes, terminals, signals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import holodeck

SOURCE = Path(holodeck.__file__).parents[1]
HEAVY = {"graphrag", "litellm", "pandas", "pyarrow", "lancedb", "openai", "spacy", "numpy"}
HEAD = "name: a\nmodel: {provider: embedded}\ntools:\n  - name: g\n    engine: graphrag\n"


def run(
    *words: str, cwd: Path, environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "holodeck", *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(SOURCE), **(environ or {})},
        capture_output=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["index", "--help"]])
def test_help_loads_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    """Help answers at once: no engine, no model library, not even the settings are loaded."""
    code = (
        "import sys\nfrom holodeck.cli import main\n"
        f"assert main({words!r}) == 0\nprint('LOADED', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )

    loaded = set(done.stdout.partition("LOADED")[2].split())
    assert "holodeck.cli.run" in loaded
    assert loaded & HEAVY == set()
    assert "holodeck.config.loader" not in loaded


@pytest.mark.parametrize(
    ("yaml", "told"),
    [
        (None, ["agent.yaml", "does not exist", "holodeck init"]),
        (HEAD + "    source: nowhere\n", ["agent.yaml:6", "tools[0].source", "not found"]),
        (HEAD + "    source: docs\n    chunksize: 3\n", ["agent.yaml:7", "'chunk_size'"]),
        (HEAD + "    source: ${NO_SUCH_DOCS}\n", ["agent.yaml:6", "NO_SUCH_DOCS is not set"]),
        (
            HEAD + "    source: docs\n    graphrag:\n      community_level: 9\n",
            ["agent.yaml:8", "community_level must be 0-5, not 9"],
        ),
        (
            HEAD + "    source: docs\n    graphrag: {chunk_size: 100, chunk_overlap: 100}\n",
            ["agent.yaml:7", "chunk_overlap (100) must be smaller than chunk_size (100)"],
        ),
        (
            HEAD + "    source: docs\n    graphrag: {storage_dir: docs/a.txt/index}\n",
            ["agent.yaml:7", "storage_dir", "is a file, where the folder"],
        ),
    ],
    ids=["file", "source", "key", "variable", "level", "overlap", "storage"],
)
def test_a_mistake_is_one_message_and_leaves_nothing(
    yaml: str | None, told: list[str], tmp_path: Path
) -> None:
    """It says what, why and what next; exit code 2, no trace, and no file was made."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Ada met Bob.", encoding="utf-8")
    if yaml is not None:
        (tmp_path / "agent.yaml").write_text(yaml, encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))

    done = run("-q", "index", cwd=tmp_path)

    message = done.stderr.decode("utf-8")
    assert (done.returncode, done.stdout) == (2, b"")
    assert message.count("\n") == 1
    assert message.startswith("error: ")
    assert [part for part in told if part not in message] == []
    assert sorted(tmp_path.rglob("*")) == before


def test_an_ascii_locale_spells_everything(tmp_path: Path) -> None:
    """Names and texts of any script are read, found and printed where the locale knows ASCII."""
    folder = tmp_path / "프로젝트"
    (folder / "문서").mkdir(parents=True)
    (folder / "에이전트.yaml").write_text(
        "name: 삼성 🚀\nmodel: {provider: embedded}\n"
        "tools: [{name: g, engine: graphrag, source: 문서, description: 🚀}]\n",
        encoding="utf-8",
    )
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    text = run("validate", "에이전트.yaml", cwd=folder, environ=locale)
    document = run("validate", "에이전트.yaml", "--json", cwd=folder, environ=locale)

    assert "agent 삼성 🚀, provider embedded" in text.stdout.decode("utf-8")
    assert json.loads(document.stdout)["tools"][0]["source"] == str(folder / "문서")


def test_a_stream_that_cannot_spell_a_text_escapes_it(tmp_path: Path) -> None:
    """No output ends in an encoding error, and JSON stays JSON."""
    (tmp_path / "agent.yaml").write_text(
        "name: 삼성\nmodel: {provider: embedded}\n", encoding="utf-8"
    )
    ascii_streams = {"PYTHONIOENCODING": "ascii"}

    text = run("validate", cwd=tmp_path, environ=ascii_streams)
    document = run("validate", "--json", cwd=tmp_path, environ=ascii_streams)

    assert rb"agent \uc0bc\uc131" in text.stdout
    assert json.loads(document.stdout.decode("ascii"))["agent"] == "삼성"


@pytest.mark.parametrize("words", [["schema"], ["--help"], ["index", "--help"]])
def test_a_closed_pipe_is_silent(words: list[str], tmp_path: Path) -> None:
    """Whoever stops reading early sees no complaint."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "holodeck", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writing)

    assert (done.returncode, done.stderr) == (0, b"")


def on_a_terminal(code: str, tmp_path: Path, **environ: str) -> str:
    """Run Python code with all streams on a terminal; return what the terminal got."""
    pty = pytest.importorskip("pty", reason="this system has no terminals of that kind")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "TERM": "xterm", **environ}
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as child:
        os.close(theirs)
        got = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux says so when the other side is closed
                break
            if not piece:
                break
            got += piece
    os.close(ours)
    assert child.returncode == 0, got
    return got.decode("utf-8")


def test_a_terminal_never_obeys_a_document(tmp_path: Path) -> None:
    """Control characters are shown, not carried out; brackets and colons are no markup."""
    code = "from holodeck.cli.output import show\nshow('a\\x1b[2Jb\\r\\n[red]:smile:')"

    assert on_a_terminal(code, tmp_path) == "a\\x1b[2Jb\r\n[red]:smile:\r\n"


@pytest.mark.parametrize(("environ", "is_red"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_for_terminals_that_want_it(
    environ: dict[str, str], is_red: bool, tmp_path: Path
) -> None:
    """The mark of an error is coloured, unless the user said no."""
    code = "from holodeck.cli.output import say_error\nsay_error('m')"

    got = on_a_terminal(code, tmp_path, **environ)

    assert ("\x1b[31m" in got) is is_red
    assert "error:" in got


def test_progress_is_a_bar_on_a_terminal(tmp_path: Path) -> None:
    """Each step has a row with its count, and its name is no markup."""
    code = (
        "from holodeck.cli.progress import show_progress\n"
        "from holodeck.cli.session import Session\n"
        "from holodeck.lib.contracts import Progress\n"
        "with show_progress(Session()) as listen:\n"
        "    listen(Progress(step='[b]extract', done=1, total=4))\n"
        "    listen(Progress(step='[b]extract', done=4, total=4))\n"
        "    listen(Progress(step='publish'))\n"
    )

    got = on_a_terminal(code, tmp_path)

    assert "[b]extract" in got
    assert "4/4" in got
    assert "publish" in got
