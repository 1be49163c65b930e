"""Kinds of text that a setting may be, each with the reason when a text is none.

No reason quotes the text: it may hold a password.
"""

from __future__ import annotations

import codecs
import ipaddress
import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationInfo

__all__ = ["Encoding", "Line", "Prose", "ServerUrl", "check_key", "check_server_url"]

# Line ends and tabs belong to prose; all other controls come from a slip or a binary file.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_CONTROL_OR_BREAK = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

# Text to Python, but no encoding of documents.
_NO_DOCUMENTS = ("idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape")
_HOST_LABEL = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")


def _named(info: ValidationInfo) -> str:
    return info.field_name or "the text"


def _one_line(text: str, info: ValidationInfo) -> str:
    if not text.strip():
        raise ValueError(f"{_named(info)} is blank: write a value, or remove the setting")
    found = _CONTROL_OR_BREAK.search(text)
    if found is not None:
        raise ValueError(
            f"{_named(info)} must be one line without control characters, and holds "
            f"U+{ord(found[0]):04X}: take it out"
        )
    return text


def _prose(text: str, info: ValidationInfo) -> str:
    if not text.strip():
        raise ValueError(f"{_named(info)} is blank: write a text, or remove the setting")
    found = _CONTROL.search(text)
    if found is not None:
        raise ValueError(
            f"{_named(info)} holds the control character U+{ord(found[0]):04X}: take it out"
        )
    return text


def _encoding(name: str, info: ValidationInfo) -> str:
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):  # ValueError: a NUL in the name
        codec = None
    # The attribute is what ``bytes.decode`` itself goes by; there is no public one.
    if codec is None or not codec._is_text_encoding or codec.name in _NO_DOCUMENTS:
        raise ValueError(
            f"{_named(info)} is no encoding of text that Python knows: use a name such as cp1252, "
            "latin-1, shift_jis or gb18030, or null to skip files that are not UTF-8"
        )
    if codec.name in ("utf-8", "utf-8-sig"):
        raise ValueError(
            f"{_named(info)} is for what is not UTF-8, which is always tried first: name another "
            "encoding, or null to skip such files"
        )
    return name


def check_server_url(url: str) -> str | None:
    """Return why no server can have this address, or ``None``; a scheme may be missing.

    What only some providers take, such as an address without a scheme, is theirs to refuse.
    """
    if _CONTROL_OR_BREAK.search(url) or any(character.isspace() for character in url.strip()):
        return "holds a space or a control character"
    try:
        parts = urlsplit(url.strip() if "://" in url else f"http://{url.strip()}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return "has a host or port that cannot be read: a port is 1-65535, [...] an IPv6 address"
    if parts.scheme not in ("http", "https"):
        return "must begin with http:// or https://"
    if port == 0:
        return "has port 0, where nothing can listen"
    if host is None:
        # Ollama's tools take ":11434" for this machine.
        return None if port is not None and "://" not in url else "names no host"
    if parts.query or parts.fragment:
        return "must end with its path: drop '?' or '#' and what follows"
    return None if _is_host(host) else f"names no possible host ({_HOST_RULE})"


_HOST_RULE = "letters, digits, '-' and '.'; parts of at most 63 characters, none of them empty"


def _is_host(host: str) -> bool:
    if ":" in host or re.fullmatch(r"[\d.]+", host):
        try:
            ipaddress.ip_address(host.partition("%")[0])
        except ValueError:
            return False
        return True
    try:
        ascii_host = host.encode("idna").decode("ascii")
    except UnicodeError:
        return False
    if not host.isascii() and not all(c.isalnum() or c in "-." for c in host):
        return False
    return len(ascii_host) <= 253 and all(
        _HOST_LABEL.fullmatch(label) for label in ascii_host.removesuffix(".").split(".")
    )


def _server_url(url: str, info: ValidationInfo) -> str:
    problem = check_server_url(url)
    if problem is not None:
        raise ValueError(
            f"{_named(info)} {problem}; write the server's URL, as in http://localhost:8000/v1"
        )
    return url.strip()


def check_key(key: str) -> str | None:
    """Return why this can be no API key, or ``None``; blanks around it are not part of it."""
    if not key.strip() or "${" in key:
        return "is empty or a variable that was not replaced"
    if not key.strip().isascii() or _CONTROL_OR_BREAK.search(key.strip()):
        return "holds a character that no request can carry"
    return None


Line = Annotated[str, Field(min_length=1), AfterValidator(_one_line)]
"""One line that says something: a name, a path, a version."""

Prose = Annotated[str, Field(min_length=1), AfterValidator(_prose)]
"""Words for a reader, on any number of lines."""

Encoding = Annotated[str, Field(min_length=1), AfterValidator(_encoding)]
"""What ``bytes.decode`` takes for documents."""

ServerUrl = Annotated[str, Field(min_length=1), AfterValidator(_server_url)]
"""Where a server could be."""
