"""Office files as the archives that they are: opened only when they can be what they say."""

from __future__ import annotations

import zlib
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from holodeck.errors import ReadError
from holodeck.lib.readers.opening import read_bytes

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET

__all__ = ["office_bytes", "tag_of"]

_OLD_FORMAT = b"\xd0\xcf\x11\xe0"
# What unpacks to more is no letter: it was made to fill the memory.
_MOST_BYTES = 200_000_000


def office_bytes(file: Path, kind: str, main_part: str) -> BytesIO:
    """Return the content of a file of the Office Open XML family, fit to be handed to a library.

    Args:
        file: Where it is.
        kind: What it should be, for messages (``"PowerPoint file"``).
        main_part: A member that every file of this kind has.

    Raises:
        ReadError: It cannot be opened, is locked, broken, of another kind, or hostile.
    """
    content = read_bytes(file)
    if content.startswith(_OLD_FORMAT):
        raise ReadError(
            "locked by a password, or of an old format: no extractable text; save it in today's "
            "format without a password"
        )
    try:
        with ZipFile(BytesIO(content)) as archive:
            _check(archive, kind, main_part)
    except (BadZipFile, EOFError, RuntimeError, NotImplementedError, zlib.error) as error:
        # RuntimeError: a member is encrypted; NotImplementedError: of unknown compression.
        raise ReadError(f"not a readable {kind}: {error}") from error
    return BytesIO(content)


def tag_of(element: ET.Element) -> str:
    """Return its tag without the namespace, which differs between the forms of the standard."""
    return element.tag.rpartition("}")[2]


def _check(archive: ZipFile, kind: str, main_part: str) -> None:
    members = archive.infolist()
    if main_part not in {member.filename for member in members}:
        raise ReadError(f"not a readable {kind}: it has no {main_part}")
    # Pictures and films may be of any size: nobody unpacks them.
    texts = [member for member in members if member.filename.endswith((".xml", ".rels"))]
    if sum(member.file_size for member in texts) > _MOST_BYTES:
        raise ReadError(f"not a readable {kind}: it unpacks to more than any text")
    for member in texts:
        xml = archive.read(member)
        # Office writes no document type; with one, entities could unfold without end.
        if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
            raise ReadError(f"not a readable {kind}: {member.filename} declares a document type")
