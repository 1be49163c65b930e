"""A new agent with sample documents, written from the templates that ship with the package."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, get_args

from holodeck.errors import ConfigError
from holodeck.lib.filenames import readable_name, shown
from holodeck.lib.paths import resolve_path
from holodeck.models.llm import ProviderName

__all__ = ["TEMPLATES", "NewAgent", "TemplateName", "make_agent"]

TemplateName = Literal["graphrag", "vector"]
TEMPLATES: tuple[TemplateName, ...] = get_args(TemplateName)

_IGNORE_FILE = ".gitignore"
_KEPT = (_IGNORE_FILE, "README.md")
"""What a project may have already: ours is left out then."""
_LONGEST_NAME = 255
_EXAMPLE = "'holodeck init my-agent'"


@dataclass(frozen=True, kw_only=True)
class NewAgent:
    """What was made.

    Attributes:
        folder: Where it lies.
        files: The new files.
        kept_ignore_file: A ``.gitignore`` that was there, was left alone and lacks our lines.
    """

    folder: Path
    files: tuple[Path, ...]
    kept_ignore_file: Path | None = None


def make_agent(folder: str | Path, template: TemplateName, provider: ProviderName) -> NewAgent:
    """Write an agent with documents, test cases and what else a project has into ``folder``.

    A ``README.md`` or ``.gitignore`` that is there is left as it is.

    Raises:
        ConfigError: The name is odd, something else of the agent is already there, or it cannot
            be written. Then nothing was written at all.
    """
    _check_name(str(folder))
    target = resolve_path(folder, Path.cwd())
    contents = _contents(template, provider)
    _check_room(target, contents)
    kept = _unfit_ignore_file(target, contents[_IGNORE_FILE])
    for name in _KEPT:
        if (target / name).exists():
            del contents[name]
    made = _write_all({target / name: text for name, text in contents.items()})
    return NewAgent(folder=target, files=made, kept_ignore_file=kept)


def _check_name(name: str) -> None:
    """Refuse what is hardly meant, or makes trouble in a shell or in a store.

    Raises:
        ConfigError: Says what is odd.
    """
    parts = Path(name).parts
    if not name.strip():
        problem = "is empty"
    elif any(readable_name(part) is None for part in parts):
        problem = "holds a line break, a control character or bytes that are no text"
    elif any(part != part.strip() for part in parts):
        problem = "begins or ends with a blank"
    elif any(len(os.fsencode(part)) > _LONGEST_NAME for part in parts):
        problem = f"is longer than {_LONGEST_NAME} bytes, the most that systems take"
    elif any(part.startswith("-") for part in parts):
        problem = "begins with '-', as an option does"
    else:
        return
    raise ConfigError(
        f"the folder's name '{shown(name)}' {problem}: name another, as in {_EXAMPLE}"
    )


def _check_room(target: Path, contents: Mapping[str, str]) -> None:
    """Refuse a place where something of the agent's name is.

    Raises:
        ConfigError: Names the first of them.
    """
    if target.exists() and not target.is_dir():
        raise ConfigError(f"{target} is a file: name another folder, as in {_EXAMPLE}")
    for name in dict.fromkeys(Path(each).parts[0] for each in contents):
        if name not in _KEPT and (target / name).exists():
            raise ConfigError(
                f"{target / name} is already there and is left as it is: name another folder, as "
                f"in {_EXAMPLE}"
            )


def _contents(template: TemplateName, provider: ProviderName) -> dict[str, str]:
    """Return name → text of every file of the new agent."""
    root = files("holodeck.data") / "templates"
    model = _text(root / "models" / f"{provider}.yaml").rstrip()
    documents = sorted((root / "docs").iterdir(), key=lambda document: document.name)
    return {
        "agent.yaml": _text(root / f"{template}.yaml").replace("{model}", model),
        "cases.yaml": _text(root / "cases.yaml"),
        **{f"docs/{document.name}": _text(document) for document in documents},
        ".env.example": _text(root / "env" / f"{provider}.txt"),
        "README.md": _text(root / "README.md"),
        _IGNORE_FILE: _text(root / "gitignore"),
    }


def _text(file: Traversable) -> str:
    return file.read_text(encoding="utf-8")


def _unfit_ignore_file(folder: Path, ours: str) -> Path | None:
    """Return the ``.gitignore`` that is there, unless it holds the lines of ours."""
    file = folder / _IGNORE_FILE
    if not file.is_file():
        return None
    lines = {line.strip().strip("/") for line in file.read_bytes().decode("latin-1").splitlines()}
    return None if {line.strip("/") for line in ours.split()} <= lines else file


def _write_all(texts: Mapping[Path, str]) -> tuple[Path, ...]:
    """Write every file, or none and no folder."""
    with ExitStack() as undo:
        for file, text in texts.items():
            try:
                _make_folder(file.parent, undo)
                with file.open("x", encoding="utf-8", newline="\n") as stream:
                    undo.callback(file.unlink)
                    stream.write(text)
            except OSError as error:
                raise ConfigError(
                    f"{file} cannot be written ({error.strerror}): name another folder"
                ) from error
        undo.pop_all()
    return tuple(texts)


def _make_folder(folder: Path, undo: ExitStack) -> None:
    if not folder.exists():
        _make_folder(folder.parent, undo)
        folder.mkdir()
        undo.callback(folder.rmdir)
