"""Whether a spaCy pipeline is there, found out without loading spaCy."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from holodeck.errors import ConfigError, MissingExtraError

__all__ = ["require_pipeline"]


def require_pipeline(name: str, where: str) -> None:
    """Raise unless ``name`` is an installed pipeline package or a folder that holds one.

    Args:
        name: What the setting says.
        where: Dotted path of the setting, for messages.

    Raises:
        MissingExtraError: spaCy is not installed.
        ConfigError: There is no such pipeline.
    """
    if find_spec("spacy") is None:
        raise MissingExtraError(
            f"the spaCy pipeline {name!r} needs the package 'spacy', which is not installed. Add "
            "it with 'pip install spacy', or use name: extractive",
            field=where,
        )
    if not _is_package(name) and not _is_folder(name):
        raise ConfigError(
            f"provider: embedded has no model {name!r}: it is neither 'extractive' nor an "
            "installed spaCy pipeline nor a folder with one. Install it (spaCy's own: "
            f"python -m spacy download {name}) and write the name of its module, or use "
            "name: extractive",
            field=where,
        )


def _is_package(name: str) -> bool:
    spec = find_spec(name) if name.isidentifier() else None
    folders = [] if spec is None else spec.submodule_search_locations or []
    return any((Path(folder) / "meta.json").is_file() for folder in folders)


def _is_folder(name: str) -> bool:
    try:
        return (Path(name) / "config.cfg").is_file()
    except (OSError, ValueError):  # too long for a path, or a NUL in it
        return False
