"""Both engines read the same files, report the same others, and index no junk."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")
pytest.importorskip("wordllama", reason="needs the extra embedded")
pypdf = pytest.importorskip("pypdf", reason="needs the extra documents")

from holodeck.models.llm import LLMProvider
from holodeck.models.tool import VectorstoreTool
from holodeck.tools.vectorstore_tool import VectorStoreTool

pytestmark = [pytest.mark.integration, pytest.mark.slow]

WORD_BODY = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    "<w:body><w:p><w:r><w:t>Bob Ray founded Orion Labs in 1999.</w:t></w:r></w:p></w:body>"
    "</w:document>"
)
JUNK = ("%PDF", "PK\x03", "PNG", "\x00", "\ufeff")
NOTES = "Ann Lee wrote the notes of Orion Labs."

READ = {
    "notes.docx": None,
    "table.md": b"| who | what |\n|---|---|\n| Cara Poe | Vega Works |\n",
    "bom.txt": b"\xef\xbb\xbf" + NOTES.encode(),
    "wide.txt": ("\ufeff" + NOTES + " Dora too.").encode("utf-16-le"),
    "big-endian.txt": ("\ufeff" + NOTES + " Eve too.").encode("utf-16-be"),
    "odd 'name' 北京; $(x) [1].txt": b"Fay Moe has an odd name.",
}
"""Name → content; ``None``: made by the fixture."""

SKIPPED = {
    "scan.pdf": "no extractable text",
    "locked.pdf": "no extractable text",
    "empty.txt": "empty or blank",
    "blank.txt": "empty or blank",
    "zip.txt": "a zip archive",
    "nul.txt": "control characters",
    "picture.md": "a picture",
    "fake.docx": "not a readable Word document",
    "fake.pdf": "not a readable PDF",
}
"""Name → what the reason says."""


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of odd files."""
    folder = tmp_path_factory.mktemp("odd") / "docs"
    folder.mkdir()
    for name, content in READ.items():
        if content is not None:
            (folder / name).write_bytes(content)
    with ZipFile(folder / "notes.docx", "w") as archive:
        archive.writestr("word/document.xml", WORD_BODY)
    for name, password in (("scan.pdf", None), ("locked.pdf", "secret")):
        writer = pypdf.PdfWriter()
        writer.add_blank_page(width=100, height=100)
        if password:
            writer.encrypt(password, algorithm="RC4-128")
        writer.write(folder / name)
    (folder / "empty.txt").touch()
    (folder / "blank.txt").write_text(" \n\t\n", encoding="utf-8")
    (folder / "zip.txt").write_bytes((folder / "notes.docx").read_bytes())
    (folder / "nul.txt").write_bytes(b"abc\x00\x01\x02def" * 50)
    (folder / "picture.md").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    (folder / "fake.docx").write_bytes(b"no archive")
    (folder / "fake.pdf").write_bytes(b"%PDF-1.4 and no more")
    (folder / "loop").symlink_to(".")
    (folder / "dead.txt").symlink_to("nowhere")
    return folder


@pytest.mark.parametrize("engine", ["default", "graphrag"])
async def test_what_can_be_read_is_found_and_what_cannot_is_told(engine: Any, docs: Path) -> None:
    """No chunk holds bytes of a file's format; each file that gave no text has its reason."""
    config = VectorstoreTool(name=engine, source="docs", engine=engine)
    opened = VectorStoreTool(
        config,
        str(docs.parent),
        agent_model=LLMProvider(provider="embedded"),
    )
    await opened.initialize()
    state = opened.status()
    found = {}
    for name, question in (
        ("notes.docx", "Who founded Orion Labs in 1999?"),
        ("table.md", "Who is at Vega Works? Cara Poe"),
        ("bom.txt", "Who wrote the notes of Orion Labs?"),
        ("wide.txt", "Dora"),
        ("odd 'name' 北京; $(x) [1].txt", "Fay Moe odd name"),
    ):
        result = await opened.retrieve(question, answer=False)
        found[name] = {source.path for source in result.sources}
        assert not [junk for junk in JUNK if junk in result.context]
    await opened.close()

    assert all(name in paths for name, paths in found.items())
    for name, words in SKIPPED.items():
        assert words in state.skipped[name]
    assert state.counts["files"] == len(READ)
