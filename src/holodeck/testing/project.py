"""A small project that engines are tested on: who does what, each fact in one place."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from holodeck.lib.documents import Place
from holodeck.testing.pdf import write_pdf

__all__ = ["FACTS", "SKIPPED", "Fact", "change_documents", "copy_project", "write_documents"]


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A question, the name that answers it, and the one place where that stands."""

    question: str
    answer: str
    place: Place


FACTS = {
    "text": Fact(
        question="Who runs the Orion project?", answer="Ann Lee", place=Place(path="ann.txt")
    ),
    "renamed": Fact(
        question="Who runs the Vega project?", answer="Bob Ray", place=Place(path="bob.md")
    ),
    "row": Fact(
        question="Who repairs the Draco?", answer="Erik Dahl", place=Place(path="crew.csv", row=2)
    ),
    "page": Fact(
        question="Who sold the Hydra station?",
        answer="Gro Lund",
        place=Place(path="log.pdf", page=2),
    ),
}
"""What the documents say, by what it shows."""

CHANGED = Fact(question=FACTS["text"].question, answer="Cara Holm", place=Place(path="ann.txt"))
"""What stands in place of the fact ``text`` after ``change_documents``."""

MOVED = Place(path="archive/robert.md")
"""Where the fact ``renamed`` stands after ``change_documents``."""

SKIPPED = "picture.xyz"
"""The file among the documents that nobody can read."""


def write_documents(folder: Path) -> None:
    """Write four documents, and a file that is none, to ``folder/docs``."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    _write(docs / "ann.txt", "Ann Lee runs the Orion project. The Orion project flies to Jupiter.")
    _write(docs / "bob.md", "Bob Ray runs the Vega project. The Vega project sails to Bergen.")
    _write(docs / "crew.csv", "name,task\nDora Nes,steers the Lyra\nErik Dahl,repairs the Draco\n")
    write_pdf(
        docs / "log.pdf",
        ["Finn Moe built the Hydra station.", "Gro Lund sold the Hydra station to Norway."],
    )
    _write(docs / SKIPPED, "not a text")


def change_documents(folder: Path) -> None:
    """Edit one document, rename one and delete one; the PDF stays."""
    docs = folder / "docs"
    _write(docs / "ann.txt", "Cara Holm runs the Orion project. The Orion project flies to Saturn.")
    (docs / "archive").mkdir()
    (docs / "bob.md").rename(docs / MOVED.path)
    (docs / "crew.csv").unlink()


def copy_project(project: Path, folder: Path) -> Path:
    """Copy documents and indexes, with new times; return ``folder``."""
    shutil.copytree(project, folder, copy_function=shutil.copyfile)
    for file in folder.rglob("*"):
        os.utime(file, (1, 1))
    return folder


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
