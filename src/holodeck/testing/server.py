"""A model's server on loopback that speaks the wire formats of OpenAI, Azure and Ollama.

    with ModelServer() as server:
        server.reply("chat", "Ann runs Orion.")
        ...  # point api_base at server.url
        assert server.counts["chat"].calls == 1

``python -m holodeck.testing.server`` starts one, prints its URL and runs until it is interrupted.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from holodeck.testing.answering import Answering, Latency
from holodeck.testing.counts import Counts
from holodeck.testing.faults import Fault, FaultPlan
from holodeck.testing.graph_replies import GRAPH_REPLIES
from holodeck.testing.http import Connection, HttpRequest
from holodeck.testing.listener import Listener
from holodeck.testing.replies import (
    Reply,
    ReplyRules,
    ReplySource,
    ServerRequest,
    classify,
    in_order,
    recorded,
)

__all__ = ["ModelServer"]


class ModelServer:
    """Answer chat, embedding and model-list requests by rules, with faults on demand.

    A context manager, for ``with`` as well as ``async with``; it runs in a thread of its own.

    Args:
        faults: What goes wrong; ``fault`` adds more.
        latency: Seconds before each answer, for all kinds or by kind.
        api_key: When given, any other key is answered with 401.
        embedding_width: Width of the vectors where the request names none.
        models: The models it serves, others are 404; default: any.
        classify: What a request is for; the default knows the graphrag library's prompts.
        port: 0 takes a free one.
        context_length: The most tokens that a model takes, as Ollama's addresses say and do;
            ``None``: they do not say.
        obeys_truncate: Whether they refuse a chat that they may not cut, as newer servers do.

    Attributes:
        requests: Every request, in order of arrival, with its headers.
        cuts: The requests that Ollama's address cut to its context without a word.
        counts: Calls, tokens and greatest number in flight, by kind.
    """

    def __init__(
        self,
        *,
        faults: Sequence[Fault] = (),
        latency: Latency = 0.0,
        api_key: str | None = None,
        embedding_width: int = 256,
        models: Sequence[str] | None = None,
        classify: Callable[[ServerRequest], str] = classify,
        port: int = 0,
        context_length: int | None = 131_072,
        obeys_truncate: bool = False,
    ) -> None:
        self.requests: list[ServerRequest] = []
        self.cuts: list[ServerRequest] = []
        self.counts = Counts()
        self._classify = classify
        self._rules = ReplyRules(defaults=GRAPH_REPLIES)
        self._faults = FaultPlan(tuple(faults))
        self._answering = Answering(
            rules=self._rules,
            faults=self._faults,
            latency=latency,
            api_key=api_key,
            embedding_width=embedding_width,
            models=None if models is None else tuple(models),
            context_length=context_length,
            obeys_truncate=obeys_truncate,
            cuts=self.cuts,
        )
        self._listener = Listener(self._answer, port)

    # --- what it answers ------------------------------------------------------------------------

    def reply(
        self,
        kind: str | None,
        source: ReplySource,
        *,
        containing: str = "",
        when: Callable[[ServerRequest], bool] | None = None,
    ) -> None:
        """Answer requests of ``kind`` (``None``: any) from ``source``.

        The newest rule that fits wins. For ``embedding`` the source gives one vector a text.

        Args:
            kind: As ``classify`` says it.
            source: A text, a ``Reply``, vectors, or a function of the request.
            containing: Only requests whose text holds this.
            when: Only requests for which this is true.
        """

        def fits(request: ServerRequest) -> bool:
            return containing in request.text and (when is None or when(request))

        self._rules.add(kind, fits, source)

    def replay(
        self, recordings: Mapping[str, str | Reply] | Sequence[str | Reply], kind: str | None = None
    ) -> None:
        """Answer conversations from recordings.

        A mapping answers the requests that it knows, by ``prompt_hash`` of the messages or by a
        substring of their text; a sequence answers one request of ``kind`` after the other, and
        one too many with an error.
        """
        if not isinstance(recordings, Mapping):
            self._rules.add(kind, lambda request: "messages" in request.body, in_order(recordings))
            return
        known = dict(recordings)
        self._rules.add(
            kind,
            lambda request: recorded(known, request) is not None,
            lambda request: recorded(known, request) or "",
        )

    def fault(self, fault: Fault) -> None:
        """Let something go wrong from now on."""
        self._faults.add(fault)

    def heal(self) -> None:
        """Forget all faults."""
        self._faults.clear()

    def reset_counts(self) -> None:
        """Begin ``counts`` and ``requests`` anew; rules and faults stay."""
        self.counts = Counts()
        self.requests = []

    # --- when it answers ------------------------------------------------------------------------

    def pause(self) -> None:
        """Take requests in and answer none until ``resume``."""
        self._listener.call(self._answering.gate.clear)

    def resume(self) -> None:
        """Answer again, what has waited first."""
        self._listener.call(self._answering.gate.set)

    def wait_for(self, calls: int, kind: str | None = None, *, timeout: float = 30.0) -> None:
        """Return when so many requests (of ``kind``) have arrived; blocks the calling thread.

        Raises:
            TimeoutError: They did not arrive in time.
        """
        end = time.monotonic() + timeout
        while self._arrived(kind) < calls:
            if time.monotonic() > end:
                raise TimeoutError(
                    f"{self._arrived(kind)} of {calls} requests arrived in {timeout:g} s"
                )
            time.sleep(0.002)

    def _arrived(self, kind: str | None) -> int:
        return (self.counts.total if kind is None else self.counts[kind]).calls

    # --- life -----------------------------------------------------------------------------------

    @property
    def root(self) -> str:
        """The server's URL without a path: Azure's endpoint, and where Ollama listens."""
        if not self._listener.is_running:
            raise RuntimeError("the server is not running: use 'with ModelServer() as server'")
        return f"http://127.0.0.1:{self._listener.port}"

    @property
    def url(self) -> str:
        """What an OpenAI client takes as its base URL."""
        return f"{self.root}/v1"

    def start(self) -> Self:
        """Listen; returns when the port is open."""
        self._listener.start()
        return self

    def close(self) -> None:
        """Hang up on everybody and stop; may be called twice."""
        self._listener.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def _answer(self, received: HttpRequest, connection: Connection) -> None:
        body = json.loads(received.body) if received.body else {}
        bare = ServerRequest(
            path=received.path, headers=received.headers, body=body, query=received.query
        )
        request = replace(bare, kind=self._classify(bare))
        self.requests.append(request)
        counted = self.counts.of(request.kind)
        for count in counted:
            count.begin()
        try:
            await self._answering.answer(request, connection, counted, len(self.requests))
        finally:
            for count in counted:
                count.end()


def main() -> None:
    """Run a server until it is interrupted."""
    with ModelServer() as server:
        print(server.url, flush=True)  # noqa: T201  # the URL is what the command is for
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
