"""Whatever a command does, its user gets one message and the right exit code."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
import typer

from holodeck.cli import main
from holodeck.cli.interrupts import MESSAGE
from holodeck.cli.output import ReaderGoneError, show
from holodeck.errors import (
    ConfigError,
    CostLimitError,
    EvaluationError,
    HolodeckError,
    IndexingError,
    MissingKeyError,
    SearchError,
)

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def log_as_before() -> Iterator[None]:
    """Take back what a command line does to the library's logger."""
    logger = logging.getLogger("holodeck")
    level, handlers = logger.level, list(logger.handlers)
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers


def commands_that_raise(error: BaseException, *, is_verbose: bool = False) -> typer.Typer:
    """Return a command line of one command, which fails."""
    app = typer.Typer(rich_markup_mode=None, add_completion=False)

    @app.command()
    def fail(context: typer.Context, as_json: bool = typer.Option(False, "--json")) -> None:
        if is_verbose:
            context.obj.verbosity = "verbose"
        raise error

    return app


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (HolodeckError("m"), 3),
        (ConfigError("m"), 2),
        (MissingKeyError("m"), 2),
        (IndexingError("m"), 3),
        (SearchError("m"), 3),
        (CostLimitError("m"), 5),
        (EvaluationError("m"), 4),
    ],
)
def test_an_error_of_ours_is_one_line_and_its_code(
    error: HolodeckError, code: int, capsys: Captured
) -> None:
    """The code says what kind of failure it was; there is no trace."""
    assert main([], commands=commands_that_raise(error, is_verbose=True)) == code

    assert capsys.readouterr() == ("", "error: m\n")


def test_an_unexpected_error_is_one_line(capsys: Captured) -> None:
    """It says what happened and how to see more."""
    assert main([], commands=commands_that_raise(KeyError("title"))) == 3

    assert capsys.readouterr() == (
        "",
        "error: unexpected KeyError: 'title'; run with -v for the trace\n",
    )


def test_the_trace_is_shown_when_asked_for(capsys: Captured) -> None:
    """With -v the whole trace stands before the line."""
    assert main([], commands=commands_that_raise(KeyError("title"), is_verbose=True)) == 3

    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "error: unexpected KeyError: 'title'"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), typer.Abort()])
def test_an_interruption_is_one_line(error: BaseException, capsys: Captured) -> None:
    """Ctrl-C is no crash."""
    assert main([], commands=commands_that_raise(error)) == 130

    assert capsys.readouterr() == (
        "",
        f"error: {MESSAGE}\n",
    )


@pytest.mark.parametrize(
    ("error", "code", "document"),
    [
        (
            ConfigError("m", line=3, field="tools[0].source"),
            2,
            {"type": "ConfigError", "message": "m", "line": 3, "field": "tools[0].source"},
        ),
        (SearchError("m"), 3, {"type": "SearchError", "message": "m", "line": None, "field": None}),
        (
            ValueError("m"),
            3,
            {
                "type": "ValueError",
                "message": "unexpected ValueError: m; run with -v for the trace",
                "line": None,
                "field": None,
            },
        ),
    ],
)
def test_an_error_is_a_document_too(
    error: Exception, code: int, document: dict[str, object], capsys: Captured
) -> None:
    """A program that asked for JSON gets JSON, with the place in parts."""
    assert main(["--json"], commands=commands_that_raise(error)) == code

    out, err = capsys.readouterr()
    assert json.loads(out) == {"error": {"file": None, **document}}
    assert err == ""


def test_a_reader_that_has_had_enough_is_no_failure(capsys: Captured) -> None:
    """``| head`` ends the command in silence."""
    assert main([], commands=commands_that_raise(ReaderGoneError())) == 0

    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["idnex"], "No such command 'idnex'"),
        (["index", "--what"], "No such option: --what"),
        (["index", "a.yaml", "-a", "b.yaml"], "two agents are named, 'a.yaml' and 'b.yaml'"),
        (["search"], "Missing argument 'QUERY'"),
        (["-v", "-q", "schema"], "-v and -q exclude each other"),
        (["init", "--provider", "nobody"], "'--provider': 'nobody' is not one of 'embedded'"),
        (["test", "--limit", "0"], "'--limit': must be at least 1, not 0 (see"),
        (["test", "--parallel", "two"], "'--parallel': must be a whole number, not 'two' (see"),
        (["test", "--max-cost", "much"], "'--max-cost': must be a number, not 'much' (see"),
    ],
)
def test_bad_usage_is_told(words: list[str], told: str, capsys: Captured) -> None:
    """Wrong words are a configuration error, in text and as JSON."""
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err.splitlines()[-1]

    assert main([*words, "--json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["error"]["type"] == "UsageError"


def test_a_question_may_look_like_an_option(capsys: Captured) -> None:
    """What stands after ``--`` asks for nothing."""
    assert main(["search", "-a", "nowhere.yaml", "--", "--json"]) == 2

    assert capsys.readouterr().err.startswith("error: ")


def test_no_words_show_the_help(capsys: Captured) -> None:
    """Whoever types the name alone learns what there is."""
    main([])

    assert "validate" in "".join(capsys.readouterr())


def test_the_version_is_told(capsys: Captured) -> None:
    """``--version`` needs no command."""
    assert main(["--version"]) == 0

    assert capsys.readouterr().out.startswith("holodeck ")


def test_control_characters_reach_a_file_as_they_are(capsys: Captured) -> None:
    """Only a terminal would obey them; what is piped is the document's own text."""
    show("a\x1b[2Jb [red]:smile:")

    assert capsys.readouterr().out == "a\x1b[2Jb [red]:smile:\n"
