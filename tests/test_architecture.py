"""House rules that hold for every file: who may import whom, and how files are opened."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import holodeck
from holodeck.lib.imports import load_object

ROOT = Path(holodeck.__file__).parent

BASE_MODULES = (
    "documents",
    "results",
    "contracts",
    "extras",
    "filenames",
    "foreign_tables",
    "tokens",
    "imports",
    "paths",
    "prices",
    "quantities",
    "questions",
    "meter",
    "spending",
    "streams",
    "whole_text",
)
BASE = frozenset({"errors", "models", "base"})
WORK = BASE | {"readers", "chunking", "resources", "indexes", "ranking", "replies"}
ROOMS: dict[str, frozenset[str]] = {
    # room: the rooms below it, which it may import
    "errors": frozenset(),
    "data": frozenset(),
    "models": frozenset({"errors"}),
    "base": BASE | {"data"},
    "config": BASE | {"providers", "resources"},
    "readers": BASE,
    "chunking": BASE,
    "providers": BASE,
    "resources": BASE | {"providers"},
    "indexes": BASE | {"chunking", "readers", "resources"},
    "replies": BASE,
    "ranking": BASE | {"indexes"},
    "vectorstore": WORK,
    "graphrag": WORK,
    "engines": BASE,
    "tools": WORK | {"engines"},
    "testing": WORK | {"providers", "engines", "tools", "config"},
    "test_runner": WORK | {"engines", "tools", "config"},
    "cli": WORK | {"engines", "tools", "config", "test_runner"},
}
"""The table of the design: imports go down only, and the two engines never meet."""

ROOM_OF_MODULE = {
    **dict.fromkeys(BASE_MODULES, "base"),
    "resolution": "resources",
    "paid_replies": "resources",
    "preflight": "resources",
    "reach": "resources",
    "reply_caches": "resources",
    "unasked": "resources",
    "unused_settings": "resources",
}
"""Modules directly below ``lib`` whose room has another name."""

ONLY_IN: dict[str, tuple[str, ...]] = {
    # library: the only files that may import it (a folder stands for what lies below it)
    "graphrag": ("lib/graphrag/library.py", "lib/graphrag/config.py"),
    "graphrag_llm": ("lib/graphrag/library.py", "lib/graphrag/config.py"),
    "graphrag_storage": ("lib/graphrag/library.py", "lib/graphrag/config.py"),
    "graphrag_vectors": ("lib/graphrag/library.py", "lib/graphrag/config.py"),
    "graphrag_cache": ("lib/graphrag/library.py", "lib/graphrag/config.py"),
    "pandas": ("lib/graphrag/library.py", "lib/graphrag/storage.py"),
    "litellm": (),
    "lancedb": ("lib/vectorstore", "lib/graphrag"),
    "openai": ("lib/providers",),
    "pydantic_ai": ("lib/test_runner",),
    "pypdf": ("lib/readers",),
    "markitdown": ("lib/readers",),
    "openpyxl": ("lib/readers",),
    "tiktoken": ("lib/tokens.py",),
    "rouge_score": ("lib/test_runner/metrics",),
    "sacrebleu": ("lib/test_runner/metrics",),
    "wordllama": ("lib/providers",),
    "typer": ("cli",),
    "rich": ("cli",),
    "yaml": ("config",),
    "dotenv": ("config",),
}

HEAVY = (
    "graphrag",
    "lancedb",
    "litellm",
    "numpy",
    "openai",
    "pandas",
    "pyarrow",
    "pydantic_ai",
    "spacy",
    "wordllama",
)
"""What takes long to import and waits until there is work for it."""

FILES = sorted(ROOT.rglob("*.py"))


def name_of(file: Path) -> str:
    """Return how messages name a file of the package."""
    return file.relative_to(ROOT).as_posix()


def module_of(file: Path) -> str:
    """Return the dotted name of a file of the package."""
    parts = ["holodeck", *file.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str | None:
    """Return the room of a module of ours; ``None`` for the packages that only hold rooms."""
    parts = module.split(".")[1:]
    if parts and parts[0] == "lib":
        parts = parts[1:]
        if parts:
            return ROOM_OF_MODULE.get(parts[0], parts[0])
    return parts[0] if parts and parts[0] != "__main__" else None


def is_module(name: str) -> bool:
    """Tell whether ``name`` is a module of ours, by its file."""
    path = ROOT.joinpath(*name.split(".")[1:])
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def imports_of(file: Path) -> Iterator[tuple[int, str]]:
    """Yield line and module of every import of a file."""
    package = module_of(file).split(".")
    if file.name != "__init__.py":
        package = package[:-1]
    yield from imports_in(file.read_text(encoding="utf-8"), package)


def imports_in(source: str, package: list[str]) -> Iterator[tuple[int, str]]:
    """Yield line and module of every import, those inside functions and for types included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                whole = f"{module}.{alias.name}"
                ours = whole.startswith("holodeck.") and is_module(whole)
                yield node.lineno, whole if ours else module


def class_names_of(file: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of every ``holodeck.module:Name`` that stands in a file."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            module, colon, name = node.value.partition(":")
            if colon and name.isidentifier() and module.startswith("holodeck."):
                yield node.lineno, node.value


def test_every_file_has_a_room() -> None:
    """A new room is a decision: it gets a row in the table, with what it may import."""
    rooms = {name_of(file): room_of(module_of(file)) for file in FILES}

    assert [name for name, room in rooms.items() if room is not None and room not in ROOMS] == []


def test_the_table_has_no_circle() -> None:
    """Every room stands above all that it may import (base modules may import one another)."""
    placed: set[str] = set()
    left = {room: below - {room} for room, below in ROOMS.items()}
    while left:
        ready = {room for room, below in left.items() if below <= placed}
        assert ready, f"these rooms import each other: {sorted(left)}"
        placed |= ready
        left = {room: below for room, below in left.items() if room not in ready}


def test_the_page_shows_the_table() -> None:
    """``docs/architecture.md`` says of every room what it may import, and nothing else."""
    page = (ROOT.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    groups = {"*base*": BASE, "*work*": WORK, "nothing": frozenset[str]()}
    shown: dict[str, frozenset[str]] = {}
    for rooms, below in re.findall(r"^\| (`.*`) \| (.*) \|$", page, flags=re.MULTILINE):
        named = [groups.get(word, frozenset({word.strip("`")})) for word in below.split(", ")]
        shown |= {room: frozenset().union(*named) for room in rooms.replace("`", "").split(", ")}

    assert shown == ROOMS


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_imports_go_down_only(file: Path) -> None:
    """A file imports its own room and the rooms below it, nothing above or beside."""
    room = room_of(module_of(file))
    if room is None:
        return  # a package that only holds rooms; the topmost names what is public in them
    allowed = ROOMS.get(room, frozenset()) | {room}

    wrong = [
        f"line {line}: {module}"
        for line, module in imports_of(file)
        if module.split(".")[0] == "holodeck"
        and (target := room_of(module)) is not None
        and target not in allowed
    ]

    assert wrong == []


def test_the_rule_about_imports_sees_every_spelling() -> None:
    """Inside functions, for types only, relative or of a whole module: an import is an import."""
    source = (
        "import holodeck.errors, os\n"
        "from holodeck.lib import extras, nothing\n"
        "from holodeck.errors import ConfigError\n"
        "from . import results\n"
        "from ..models.tool import VectorstoreTool\n"
        "if TYPE_CHECKING:\n"
        "    import numpy as np\n"
        "def work():\n"
        "    from pandas import DataFrame\n"
    )

    assert sorted(imports_in(source, ["holodeck", "lib"])) == [
        (1, "holodeck.errors"),
        (1, "os"),
        (2, "holodeck.lib"),
        (2, "holodeck.lib.extras"),
        (3, "holodeck.errors"),
        (4, "holodeck.lib.results"),
        (5, "holodeck.models.tool"),
        (7, "numpy"),
        (9, "pandas"),
    ]


def test_base_modules_import_without_circle() -> None:
    """Within the base there is an order too."""
    left = {
        module_of(file): {
            module
            for _, module in imports_of(file)
            if module.startswith("holodeck.lib.") and module != module_of(file)
        }
        for file in FILES
        if room_of(module_of(file)) == "base"
    }
    while left:
        ready = {module for module, below in left.items() if not below & left.keys()}
        assert ready, f"these modules import each other: {sorted(left)}"
        left = {module: below for module, below in left.items() if module not in ready}


@pytest.mark.parametrize("library", ONLY_IN)
def test_a_library_stays_behind_its_door(library: str) -> None:
    """What may change under us is imported where one change mends it."""
    doors = ONLY_IN[library]
    wrong = [
        f"{name_of(file)}:{line}"
        for file in FILES
        if not any(name_of(file) == door or name_of(file).startswith(door + "/") for door in doors)
        for line, module in imports_of(file)
        if module.split(".")[0] == library
    ]

    assert wrong == []


@pytest.mark.parametrize(
    ("place", "name"),
    [
        pytest.param(f"{name_of(file)}:{line}", name, id=f"{name_of(file)}:{name}")
        for file in FILES
        for line, name in class_names_of(file)
    ],
)
def test_a_class_named_in_a_table_exists(place: str, name: str) -> None:
    """``module:Class`` in a table is checked here, not when a user chooses it."""
    module, _, attribute = name.partition(":")

    assert is_module(module), f"{place} names {module}, which is not there"
    assert hasattr(import_module(module), attribute), f"{place} names {name}"


def loaded_by(code: str) -> set[str]:
    """Return the heavy packages that a fresh interpreter holds after ``code``."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT.parent)},
    )
    return {module.split(".")[0] for module in done.stdout.split()} & set(HEAVY)


def test_what_is_heavy_is_importable_here() -> None:
    """The rule below could not fail for a package that is not installed (some are nobody's)."""
    assert find_spec("numpy") is not None
    assert loaded_by("import numpy") == {"numpy"}


@pytest.mark.parametrize(
    "code",
    [
        "import holodeck",
        "from holodeck import AgentConfig, ConfigError, SearchResult, VectorstoreTool, load_agent",
        "import holodeck.config.paths, holodeck.config.schema",
        "import holodeck.lib.resources",
    ],
)
def test_a_light_import_stays_light(code: str) -> None:
    """Looking at a configuration loads nothing that only work needs."""
    assert loaded_by(code) == set()


@pytest.mark.parametrize("name", [name for name in holodeck.__all__ if name != "__version__"])
def test_a_public_name_is_there(name: str) -> None:
    """What the package lists can be imported from it, and is what its place holds."""
    assert getattr(holodeck, name) is load_object(holodeck._PLACES[name])


def test_public_names_are_listed_once() -> None:
    """The list, the places and ``dir`` agree; an unknown name is an ordinary error."""
    assert {*holodeck._PLACES, "__version__"} == set(holodeck.__all__)
    assert dir(holodeck) == sorted(holodeck.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = holodeck.nothing


def opened_by_locale(file: Path) -> Iterator[int]:
    """Yield the line of every call that opens a text file without saying its encoding."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or any(k.arg == "encoding" for k in node.keywords):
            continue
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        modes = [*node.args[:2], *(k.value for k in node.keywords if k.arg == "mode")]
        is_binary = any(
            isinstance(mode, ast.Constant) and isinstance(mode.value, str) and "b" in mode.value
            for mode in modes
        )
        of_module = isinstance(called, ast.Attribute) and getattr(called.value, "id", "") == "os"
        if (name in ("read_text", "write_text") and not _is_ours(called)) or (
            name in ("open", "fdopen", "NamedTemporaryFile", "TemporaryFile")
            and not is_binary
            and not (of_module and name == "open")
        ):
            yield node.lineno


def _is_ours(called: ast.expr) -> bool:
    """Tell whether a bare name is called: our own function, which says the encoding itself."""
    return isinstance(called, ast.Name)


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_text_files_are_opened_with_their_encoding(file: Path) -> None:
    """The locale of a machine never decides how our files are read."""
    assert list(opened_by_locale(file)) == []


def test_the_rule_about_encodings_sees_what_it_forbids(tmp_path: Path) -> None:
    """Each spelling that depends on the locale is found, each that does not is left alone."""
    file = tmp_path / "example.py"
    lines = {
        "open(p)": True,
        "open(p, 'w')": True,
        "p.open()": True,
        "p.read_text()": True,
        "p.write_text(t)": True,
        "os.fdopen(f, 'w')": True,
        "tempfile.NamedTemporaryFile('w')": True,
        "open(p, 'rb')": False,
        "p.open('rb')": False,
        "open(p, mode='wb')": False,
        "open(p, encoding='utf-8')": False,
        "p.read_text(encoding='utf-8')": False,
        "os.open(p, os.O_RDONLY)": False,
        "read_text(p)": False,
    }
    file.write_text("\n".join(lines), encoding="utf-8")

    found = set(opened_by_locale(file))

    assert found == {number for number, bad in enumerate(lines.values(), start=1) if bad}
