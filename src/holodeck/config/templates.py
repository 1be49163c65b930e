"""A new agent with sample documents, written from the templates that ship with the package."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, get_args

from holodeck.errors import ConfigError
from holodeck.lib.paths import resolve_path
from holodeck.models.llm import ProviderName

__all__ = ["TEMPLATES", "NewAgent", "TemplateName", "make_agent"]

TemplateName = Literal["graphrag", "vector"]
TEMPLATES: tuple[TemplateName, ...] = get_args(TemplateName)

_IGNORE_FILE = ".gitignore"


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
    """Write an agent's file, sample documents and a ``.gitignore`` into ``folder``.

    Raises:
        ConfigError: Something of that name is already there, or cannot be written. Then nothing
            was written at all.
    """
    target = resolve_path(folder, Path.cwd())
    contents = _contents(template, provider)
    for name in ("agent.yaml", "docs"):
        if (target / name).exists():
            raise ConfigError(
                f"{target / name} is already there and is left as it is: name another folder, as "
                "in 'holodeck init my-agent'"
            )
    kept = _unfit_ignore_file(target, contents)
    if (target / _IGNORE_FILE).exists():
        del contents[_IGNORE_FILE]
    made = _write_all({target / name: text for name, text in contents.items()})
    return NewAgent(folder=target, files=made, kept_ignore_file=kept)


def _contents(template: TemplateName, provider: ProviderName) -> dict[str, str]:
    """Return name → text of every file of the new agent."""
    root = files("holodeck.data") / "templates"
    model = _text(root / "models" / f"{provider}.yaml").rstrip()
    documents = sorted((root / "docs").iterdir(), key=lambda document: document.name)
    return {
        "agent.yaml": _text(root / f"{template}.yaml").replace("{model}", model),
        **{f"docs/{document.name}": _text(document) for document in documents},
        _IGNORE_FILE: _text(root / "gitignore"),
    }


def _text(file: Traversable) -> str:
    return file.read_text(encoding="utf-8")


def _unfit_ignore_file(folder: Path, contents: Mapping[str, str]) -> Path | None:
    """Return the ``.gitignore`` that is there, unless it holds the lines of ours."""
    file = folder / _IGNORE_FILE
    if not file.is_file():
        return None
    lines = {line.strip().strip("/") for line in file.read_bytes().decode("latin-1").splitlines()}
    wanted = {line.strip("/") for line in contents[_IGNORE_FILE].split()}
    return None if wanted <= lines else file


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
