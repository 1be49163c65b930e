"""What the steps of a build made of what, so that an update makes it of nothing but what changed.

A value is a function of what its key was hashed from and of the settings of the index: whether it
is remembered or made again decides nothing but the time. The file lies beside the tables of a
generation and holds what that generation was made of, so that it grows with the index and not with
its history. One that is missing, damaged or of other settings is as good as an empty one.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from holodeck.lib.resources import noting_keys
from holodeck.lib.whole_text import replacing

__all__ = ["StepMemo", "memo_key"]

logger = logging.getLogger(__name__)

Item = TypeVar("Item")

_FORM = b"holodeck steps 1"


def memo_key(kind: str, *parts: str) -> str:
    """Return the key of what is made of these parts, in this order."""
    lengths = ",".join([str(len(part)) for part in parts])
    content = "".join((lengths, "\n", *parts)).encode("utf-8", "surrogatepass")
    return f"{kind}:{blake2b(content, digest_size=16).hexdigest()}"


class StepMemo:
    """The values of a build, and those of the one before.

    Args:
        before: File of the build before; ``None``: nothing is known.
        about: What the values hang on besides their keys.
    """

    def __init__(self, before: Path | None = None, about: str = "") -> None:
        self._about = about
        self._before = {} if before is None else _read(before, about)
        self._used: dict[str, str] = {}
        self.reply_keys: set[str] = set()
        """Keys of the kept replies that remembered values were read in."""

    def get(self, key: str) -> Any | None:  # Any: JSON
        """Return what was put under ``key``; ``None``: it is not known."""
        line = self._used.get(key) or self._before.get(key)
        if line is None:
            return None
        self._used[key] = line
        return json.loads(line)

    def put(self, key: str, value: Any) -> None:  # Any: JSON
        """Remember a value that is not ``None``."""
        self._used[key] = json.dumps(value, separators=(",", ":"))

    async def asked(
        self,
        key: str,
        ask: Callable[[], Awaitable[Item]],
        to_json: Callable[[Item], Any],  # Any: JSON; ``None``: not to be remembered
        from_json: Callable[[Any], Item],  # Any: JSON
    ) -> Item:
        """Return what a model answered, with the kept replies that it was read in noted as used."""
        known = self.get(key)
        if known is not None:
            self.reply_keys.update(known["replies"])
            return from_json(known["value"])
        with noting_keys() as replies:
            found = await ask()
        value = to_json(found)
        if value is not None:
            self.put(key, {"replies": sorted(replies), "value": value})
        return found

    def write(self, path: Path) -> None:
        """Write what was got and put, and nothing else, in one step.

        A disk that has no room for it costs the next update time, and no more.
        """
        pairs = sorted(self._used.items())
        lines = "".join([f"{key}\t{value}\n" for key, value in pairs]).encode("ascii")
        try:
            with replacing(path) as staged:
                staged.write_bytes(_header(lines, self._about) + lines)
        except OSError as error:
            logger.warning("%s cannot be written (%s): the next update takes longer", path, error)


def _header(lines: bytes, about: str) -> bytes:
    return b"%s %d %s\n" % (_FORM, zlib.crc32(lines), about.encode())


def _read(path: Path, about: str) -> dict[str, str]:
    """Return the lines by their keys; none where the file is not whole and of ``about``."""
    try:
        header, end, lines = path.read_bytes().partition(b"\n")
    except OSError:
        return {}
    if header + end != _header(lines, about):
        return {}
    pairs = (line.partition("\t") for line in lines.decode("ascii").split("\n")[:-1])
    return {key: value for key, _, value in pairs}
