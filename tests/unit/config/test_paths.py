"""Paths that cannot work are found before anything is read or built."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import holodeck
from holodeck.cli.agents import check_agent
from holodeck.config.loader import load_agent
from holodeck.config.paths import find_path_problems, validate_paths
from holodeck.errors import ConfigError, SourceNotFoundError

WriteAgent = Callable[[str], Path]

HEAD = "name: a\nmodel: {provider: openai}\ntools:\n"  # lines 1-3


def graph_tool(name: str, source: str, *settings: str) -> str:
    """Return a tool of 5 lines and one more for each of its ``graphrag`` settings."""
    lines = [f"  - name: {name}", f"    source: {source}", "    engine: graphrag"]
    lines += ["    graphrag:", "      search_mode: local", *(f"      {line}" for line in settings)]
    return "\n".join(lines) + "\n"


def check(file: Path) -> None:
    """Load the agent and look at its paths."""
    validate_paths(load_agent(file, environ={}))


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Return a folder of documents beside the agent's file."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text("Ada leads.", encoding="utf-8")
    return folder


@pytest.mark.parametrize("source", ["docs", "docs/", "docs/a.txt", "."])
def test_documents_that_are_there_pass_and_nothing_is_made(
    source: str, docs: Path, write_agent: WriteAgent
) -> None:
    """A folder or a single file will do; looking creates no folder."""
    check(write_agent(HEAD + f"  - {{name: t, source: {source}}}\n" + graph_tool("g", source)))

    assert sorted(path.name for path in docs.parent.iterdir()) == ["agent.yaml", "docs"]


def test_missing_documents_are_a_missing_file(write_agent: WriteAgent, tmp_path: Path) -> None:
    """The error is of both kinds, names the whole path and points to the setting."""
    file = write_agent(HEAD + "  - name: t\n    source: nowhere\n")

    with pytest.raises(SourceNotFoundError, match="Source path not found: ") as caught:
        check(file)

    assert str(tmp_path / "nowhere") in str(caught.value)
    assert isinstance(caught.value, FileNotFoundError)
    assert (caught.value.line, caught.value.field) == (5, "tools[0].source")


@pytest.mark.parametrize("path", [r'"a\0b"', "circle", "~nobody-of-this-name/x", "n" * 300])
@pytest.mark.parametrize("setting", ["source", "storage_dir"])
@pytest.mark.usefixtures("docs")
def test_a_path_that_no_system_could_open_is_placed(
    path: str, setting: str, write_agent: WriteAgent, tmp_path: Path
) -> None:
    """A NUL, links in a circle, no such home or a name too long: an error with its line."""
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    source, storage = (path, "i") if setting == "source" else ("docs", path)
    file = write_agent(HEAD + graph_tool("g", source, f"storage_dir: {storage}"))

    with pytest.raises(ConfigError) as caught:
        check(file)

    assert caught.value.line == (5 if setting == "source" else 9)


@pytest.mark.parametrize("storage", ["docs", "docs/.", ".", "..", "/", "link"])
def test_an_index_over_the_documents_is_refused(
    storage: str, docs: Path, write_agent: WriteAgent
) -> None:
    """Neither the source itself nor a folder above it may hold the index, by any spelling."""
    (docs.parent / "link").symlink_to(docs)
    file = write_agent(HEAD + graph_tool("g", "docs", f"storage_dir: {storage}"))

    with pytest.raises(ConfigError, match="is or holds the documents") as caught:
        check(file)

    assert (caught.value.line, caught.value.field) == (9, "tools[0].graphrag.storage_dir")


@pytest.mark.usefixtures("docs")
def test_an_index_over_another_tools_documents_is_refused(write_agent: WriteAgent) -> None:
    """A marked folder is never read, so the other tool would find nothing."""
    text = graph_tool("g", "docs/a.txt", "storage_dir: other") + graph_tool("h", "other/x")
    file = write_agent(HEAD + text)
    (file.parent / "other" / "x").mkdir(parents=True)

    with pytest.raises(ConfigError, match="is or holds the documents"):
        check(file)


@pytest.mark.usefixtures("docs")
def test_an_index_inside_the_documents_is_fine(write_agent: WriteAgent) -> None:
    """HoloDeck marks its own folders and never reads them as documents."""
    check(write_agent(HEAD + graph_tool("g", "docs", "storage_dir: docs/.index")))


@pytest.mark.parametrize(
    "difference", ["chunk_size: 400", "max_gleanings: 0", "entity_types: [ship]"]
)
@pytest.mark.usefixtures("docs")
def test_two_indexes_cannot_share_a_folder(difference: str, write_agent: WriteAgent) -> None:
    """Each build would throw the other's index away."""
    text = graph_tool("g", "docs", "storage_dir: i") + graph_tool(
        "h", "docs", "storage_dir: i", difference
    )

    with pytest.raises(ConfigError, match="tool 'g'") as caught:
        check(write_agent(HEAD + text))

    assert caught.value.field == "tools[1].graphrag.storage_dir"


@pytest.mark.usefixtures("docs")
def test_one_index_can_serve_two_tools(write_agent: WriteAgent) -> None:
    """What differs in the search alone does not divide an index."""
    text = graph_tool("g", "docs", "storage_dir: i") + graph_tool(
        "h", "docs/", "storage_dir: ./i", "community_level: 0", "response_type: one line"
    )

    check(write_agent(HEAD + text))


@pytest.mark.usefixtures("docs")
def test_an_index_inside_another_is_refused(write_agent: WriteAgent) -> None:
    """An index folder is one tool's alone."""
    text = graph_tool("g", "docs") + graph_tool(
        "h", "docs", "storage_dir: .holodeck/graphrag/g/output"
    )

    with pytest.raises(ConfigError, match="overlaps that of tool 'g'"):
        check(write_agent(HEAD + text))


@pytest.mark.usefixtures("docs")
def test_a_file_where_a_folder_must_be_is_named(write_agent: WriteAgent, tmp_path: Path) -> None:
    """The file in the way is told from the folder that was wanted."""
    (tmp_path / ".holodeck").write_text("", encoding="utf-8")
    file = write_agent(HEAD + graph_tool("g", "docs"))

    with pytest.raises(ConfigError, match="is a file, where the folder") as caught:
        check(file)

    assert (caught.value.line, caught.value.field) == (4, "tools[0]")


def test_a_cache_that_cannot_be_made_is_named(write_agent: WriteAgent, tmp_path: Path) -> None:
    """The cache folder is looked at as well, unless the cache is off."""
    (tmp_path / "c").write_text("", encoding="utf-8")
    head = "name: a\nmodel: {}\nexecution:\n  cache_dir: c\n"

    with pytest.raises(ConfigError, match="is a file") as caught:
        check(write_agent(head))
    assert (caught.value.line, caught.value.field) == (4, "execution.cache_dir")
    check(write_agent(head + "  cache: false\n"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_named(docs: Path, write_agent: WriteAgent) -> None:
    """Found out before the first document is read, not after the last is paid for."""
    locked = docs.parent / "locked"
    locked.mkdir(mode=0o555)

    with pytest.raises(ConfigError, match="cannot be written to"):
        check(write_agent(HEAD + graph_tool("g", "docs", "storage_dir: locked/i")))


def test_missing_instructions_are_found(write_agent: WriteAgent) -> None:
    """The file of the instructions is one of the agent's paths."""
    with pytest.raises(ConfigError, match="does not exist"):
        check(write_agent("name: a\nmodel: {}\ninstructions: {file: no.md}\n"))


def test_names_in_any_script_work_under_any_locale(write_agent: WriteAgent, tmp_path: Path) -> None:
    """Where Python would read and spell files in ASCII, UTF-8 files and names still work."""
    (tmp_path / "문서").mkdir()
    file = write_agent(
        HEAD + graph_tool("g", "문서", "storage_dir: 색인") + "    description: Café 🚀\n"
    )
    code = (
        "import sys\n"
        "from holodeck.config.loader import load_agent\n"
        "from holodeck.config.paths import validate_paths\n"
        "agent = load_agent(sys.argv[1])\n"
        "validate_paths(agent)\n"
        "print(sys.getfilesystemencoding(), ascii(agent.config.tools[0].description))\n"
    )
    locale = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}

    done = subprocess.run(
        [sys.executable, "-c", code, str(file)],
        capture_output=True,
        text=True,
        env={**os.environ, **locale, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])},
    )

    assert done.stderr == ""
    assert done.stdout == "ascii 'Caf\\xe9 \\U0001f680'\n"


@pytest.mark.usefixtures("docs")
def test_all_that_is_wrong_is_found_at_once(write_agent: WriteAgent) -> None:
    """One look lists the problems of every tool; one tool's alone are found when it is named."""
    agent = load_agent(
        write_agent(
            HEAD + graph_tool("g", "away") + graph_tool("h", "gone") + graph_tool("i", "docs")
        )
    )

    def fields(tool_name: str | None) -> list[str | None]:
        return [problem.field for problem in find_path_problems(agent, tool_name)]

    assert fields(None) == ["tools[0].source", "tools[1].source"]
    assert fields("h") == ["tools[1].source"]
    assert fields("i") == []


@pytest.mark.usefixtures("docs")
def test_what_is_in_the_way_of_index_and_cache_is_named_once(
    write_agent: WriteAgent, tmp_path: Path
) -> None:
    """Both lie in .holodeck by default: one file there is one problem."""
    (tmp_path / ".holodeck").write_text("", encoding="utf-8")

    problems = find_path_problems(load_agent(write_agent(HEAD + graph_tool("g", "docs"))))

    assert [problem.field for problem in problems] == ["tools[0]"]


@pytest.mark.parametrize("cache", ["docs", ".", "/"])
@pytest.mark.usefixtures("docs")
def test_a_cache_over_the_documents_is_refused(cache: str, write_agent: WriteAgent) -> None:
    """A folder that holds the cache is marked as HoloDeck's own, and its documents not read."""
    text = HEAD + graph_tool("g", "docs") + f"execution:\n  cache_dir: {cache}\n"

    with pytest.raises(
        ConfigError, match=r"the cache folder .* is or holds the documents"
    ) as caught:
        check(write_agent(text))

    assert (caught.value.line, caught.value.field) == (10, "execution.cache_dir")
    check(write_agent(text.replace(f"cache_dir: {cache}", "cache_dir: docs/.cache")))


@pytest.mark.usefixtures("docs")
def test_every_tool_that_shares_a_folder_is_named_once(write_agent: WriteAgent) -> None:
    """Of four tools in two folders, one inside the other, each but the first is told."""
    tools = [
        graph_tool(name, "docs", f"storage_dir: {folder}", f"chunk_size: {size}")
        for name, folder, size in (
            ("a", "i", 300),
            ("b", "i", 400),
            ("c", "i/in", 300),
            ("d", "j", 300),
        )
    ]

    problems = find_path_problems(load_agent(write_agent(HEAD + "".join(tools)), environ={}))

    assert [problem.field for problem in problems] == [
        "tools[1].graphrag.storage_dir",
        "tools[2].graphrag.storage_dir",
    ]


def calls_to_check(number: int, write_agent: WriteAgent) -> int:
    """Return how many functions are called to load and check an agent of so many tools."""
    text = HEAD + "".join(
        graph_tool(f"t{one}", "docs", "<<: {chunk_size: 400}") for one in range(number)
    )
    file = write_agent(text)
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        check_agent(load_agent(file, environ={"OPENAI_API_KEY": "k"}))
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.usefixtures("docs")
def test_the_work_of_checking_grows_with_the_number_of_tools(write_agent: WriteAgent) -> None:
    """Twice the tools are twice the calls, not four times: a thousand tools are no trouble."""
    calls_to_check(1, write_agent)  # what happens once: imports, patterns
    few, twice, four_times = (calls_to_check(number, write_agent) for number in (20, 40, 80))

    assert four_times - twice <= 2.1 * (twice - few)
