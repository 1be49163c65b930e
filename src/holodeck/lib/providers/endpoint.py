"""The address of a model's server, apart from the credentials that may stand in it."""

from __future__ import annotations

import base64
import ipaddress
import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from holodeck.errors import ConfigError
from holodeck.lib.providers.access import ModelAccess

__all__ = ["Endpoint", "endpoint_of"]

_CALLS = ("/chat/completions", "/embeddings")


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where calls go.

    Attributes:
        url: Base URL without credentials and without a slash at its end; safe to print.
        password: Of ``user:password@``, to be kept out of messages.
        authorization: The ``Authorization`` header that ``user:password@`` stands for.
    """

    url: str
    password: str | None = field(default=None, repr=False)
    authorization: str | None = field(default=None, repr=False)

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine, where no proxy leads."""
        host = urlsplit(self.url).hostname or ""
        if host == "localhost":
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


def endpoint_of(
    access: ModelAccess,
    default: str,
    *,
    version_path: str = "/v1",
    dropped: re.Pattern[str] | None = None,
    given: str | None = None,
) -> Endpoint:
    """Return where ``access`` leads; ``default`` where it names no server.

    A URL without a path gets ``version_path``; a path is taken as it stands, but a slash or the
    address of a single call (``/chat/completions``, ``/embeddings``) at its end is dropped, and
    what ``dropped`` matches. ``given`` goes before what ``access`` says.

    Raises:
        ConfigError: It is not a URL that can be used.
    """
    parts = urlsplit(given or access.api_base or default)
    _check(parts, access)
    path = parts.path.rstrip("/")
    for call in _CALLS:
        path = path.removesuffix(call)
    if dropped is not None:
        path = dropped.sub("", path)
    host = parts.netloc.rpartition("@")[2]
    url = urlunsplit((parts.scheme, host, path or version_path, "", ""))
    if parts.username is None:
        return Endpoint(url=url)
    user, password = unquote(parts.username), unquote(parts.password or "")
    encoded = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
    return Endpoint(url=url, password=password, authorization=f"Basic {encoded}")


def _check(parts: SplitResult, access: ModelAccess) -> None:
    field_name = f"{access.where}.api_base"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            "the server's URL must begin with http:// or https:// and a host", field=field_name
        )
    try:
        _ = parts.port
    except ValueError as error:
        raise ConfigError(
            "what follows the ':' of the server's URL must be a port, a number up to 65535",
            field=field_name,
        ) from error
    if parts.query or parts.fragment:
        raise ConfigError("the server's URL must end with its path: drop '?…'", field=field_name)
