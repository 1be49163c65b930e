"""What the loopback server sees of a request, and which reply it gives."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from holodeck.lib.contracts import ToolCall

__all__ = [
    "Reply",
    "ReplyRules",
    "ReplySource",
    "Scores",
    "ScriptExhaustedError",
    "ServerRequest",
    "Vectors",
    "classify",
    "prompt_hash",
]

Json = dict[str, Any]  # Any: JSON

_DEPLOYMENT = re.compile(r"^/openai/deployments/([^/]+)/")
_PROBE_TEXT = "ping"


@dataclass(frozen=True, kw_only=True)
class ServerRequest:
    """One request as the server received it.

    Attributes:
        kind: What ``classify`` made of it.
        path: Path of the URL.
        headers: Names in lower case.
        body: The JSON body; empty for a GET.
        query: What follows ``?`` in the URL.
    """

    path: str
    headers: Mapping[str, str]
    body: Json
    kind: str = ""
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def model(self) -> str:
        """The model that was asked; at Azure's addresses the deployment."""
        deployment = _DEPLOYMENT.match(self.path)
        return unquote(deployment[1]) if deployment else str(self.body.get("model", ""))

    @property
    def is_chat(self) -> bool:
        """Whether a conversation is to be answered."""
        return self.path.endswith(("/chat/completions", "/api/chat"))

    @property
    def is_embedding(self) -> bool:
        """Whether vectors are asked for."""
        return self.path.endswith(("/embeddings", "/api/embed"))

    @property
    def is_rerank(self) -> bool:
        """Whether passages are to be scored for a question."""
        return self.path.endswith("/rerank")

    @property
    def answered_as(self) -> str:
        """The kind whose rules answer: vectors are vectors, also for a probe."""
        return "embedding" if self.kind == "probe" and self.is_embedding else self.kind

    @property
    def texts(self) -> tuple[str, ...]:
        """The contents of all messages, or the texts to embed."""
        if "messages" in self.body:
            return tuple(_content(message) for message in self.body["messages"])
        if self.is_rerank:
            return tuple(str(text) for text in self.body.get("documents", ()))
        given = self.body.get("input", ())
        return (given,) if isinstance(given, str) else tuple(str(text) for text in given)

    @property
    def text(self) -> str:
        """All of ``texts``, joined by line ends."""
        return "\n".join(self.texts)

    @property
    def user_texts(self) -> tuple[str, ...]:
        """The contents of the user's messages."""
        messages = self.body.get("messages", ())
        return tuple(_content(message) for message in messages if message.get("role") == "user")


def _content(message: Json) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the model says.

    Attributes:
        text: ``None`` is a null content.
        finish_reason: Default: ``tool_calls`` where there are some, else ``stop``.
        refusal: The vendor's field of this name.
        prompt_tokens: Default: a quarter of the request's characters.
        completion_tokens: Default: a quarter of the reply's characters.
    """

    text: str | None = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    refusal: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


Vectors = Sequence[Sequence[float]]
Scores = Sequence[float]
Answered = str | Reply | Vectors | Scores
ReplySource = Answered | Callable[[ServerRequest], Answered]
"""A reply (for ``embedding`` one vector a text, for ``rerank`` one score a passage), or a function
that makes it."""


class ScriptExhaustedError(Exception):
    """A list of replies ran out."""


_EXTRACTION_PHRASES = ("Entity_types:", "entity_types")
_PHRASES = (
    ("claims", "Claim description:"),
    ("summarize", "Description List"),
    ("report", '"findings"'),
    ("reduce", "Analyst Reports"),
    ("map", '"points"'),
    ("rate", '"rating": <number'),
    ("rate", "relevancy rating"),
    ("local", "Data tables"),
)


def classify(request: ServerRequest) -> str:
    """Return what a request is for, by phrases of the graphrag library's prompts.

    One of ``extract``, ``glean`` (a later turn of an extraction), ``claims``, ``summarize``,
    ``report``, ``map``, ``reduce``, ``rate``, ``local``, ``embedding``, ``rerank``, ``models``
    (whatever is asked about models and not of one), ``probe`` (the one word before a build),
    ``chat``.
    Only a fake may look at the text of a prompt.
    """
    if request.is_rerank:
        return "rerank"
    if not (request.is_chat or request.is_embedding):
        return "models"
    if request.texts == (_PROBE_TEXT,):
        return "probe"
    if request.is_embedding:
        return "embedding"
    opening = "\n".join(request.texts[:1] + request.user_texts[:1])
    extraction = any(phrase in opening for phrase in _EXTRACTION_PHRASES)
    if extraction or "Claim description:" in opening:
        if len(request.user_texts) > 1:
            return "glean"
        return "extract" if extraction else "claims"
    return next((kind for kind, phrase in _PHRASES if phrase in request.text), "chat")


def prompt_hash(messages: Sequence[Mapping[str, Any]]) -> str:  # Any: JSON
    """Return the SHA-256 by which a recording names a conversation: roles and contents only."""
    turns = [[message.get("role"), _content(dict(message))] for message in messages]
    return hashlib.sha256(json.dumps(turns, ensure_ascii=False).encode("utf-8")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class _Rule:
    kind: str | None
    when: Callable[[ServerRequest], bool]
    source: ReplySource

    def fits(self, request: ServerRequest) -> bool:
        return self.kind in (None, request.kind, request.answered_as) and self.when(request)


@dataclass(kw_only=True)
class ReplyRules:
    """The table of rules; the newest that matches answers, then the defaults by kind."""

    defaults: Mapping[str, ReplySource] = field(default_factory=dict)
    _rules: list[_Rule] = field(default_factory=list)

    def add(
        self, kind: str | None, when: Callable[[ServerRequest], bool], source: ReplySource
    ) -> None:
        """Answer requests of ``kind`` (``None``: any) for which ``when`` holds from ``source``."""
        self._rules.insert(0, _Rule(kind=kind, when=when, source=source))

    def has(self, request: ServerRequest) -> bool:
        """Tell whether a rule, and not a default, answers ``request``."""
        return any(rule.fits(request) for rule in self._rules)

    def answer(self, request: ServerRequest) -> Answered:
        """Return the reply to ``request``.

        Raises:
            ScriptExhaustedError: The rule is a list that has run out.
        """
        source = self._source(request)
        return source(request) if callable(source) else source

    def _source(self, request: ServerRequest) -> ReplySource:
        for rule in self._rules:
            if rule.fits(request):
                return rule.source
        return self.defaults.get(request.answered_as, self.defaults.get("chat", "ok"))


def in_order(replies: Sequence[str | Reply]) -> Callable[[ServerRequest], str | Reply]:
    """Return a reply source that gives ``replies`` one after the other."""
    remaining = iter(replies)

    def source(request: ServerRequest) -> str | Reply:
        for reply in remaining:
            return reply
        raise ScriptExhaustedError(
            f"{len(replies)} replies were given for {request.kind!r}, one more was asked for"
        )

    return source


def recorded(recordings: Mapping[str, str | Reply], request: ServerRequest) -> str | Reply | None:
    """Return the recording of ``request``: by ``prompt_hash``, else by the longest substring."""
    if "messages" not in request.body:
        return None
    exact = recordings.get(prompt_hash(request.body["messages"]))
    if exact is not None:
        return exact
    found = [key for key in recordings if key in request.text]
    return recordings[max(found, key=len)] if found else None
