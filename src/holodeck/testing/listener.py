"""A loopback listener in a thread of its own, closed without a trace."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable

from holodeck.testing.http import Connection, HttpRequest

__all__ = ["Listener"]

_START_SECONDS = 10.0


class Listener:
    """Hands every request on its connections to ``answer``, which answers on the connection.

    Args:
        answer: Runs on the listener's loop, many at once.
        port: 0 takes a free one; the port in use once started.
    """

    def __init__(
        self, answer: Callable[[HttpRequest, Connection], Awaitable[None]], port: int
    ) -> None:
        self.port = port
        self._answer = answer
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stop = asyncio.Event()
        self._started = threading.Event()
        self._failure: OSError | None = None

    @property
    def is_running(self) -> bool:
        """Whether requests are taken."""
        return self._loop is not None

    def start(self) -> None:
        """Listen; returns when the port is open.

        Raises:
            OSError: The port is taken.
        """
        self._started.clear()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="model-server", daemon=True)
        self._thread.start()
        self._started.wait(_START_SECONDS)
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Hang up on everybody and stop; may be called twice."""
        loop, self._loop = self._loop, None
        if loop is None or self._thread is None:
            return
        loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def call(self, function: Callable[[], None]) -> None:
        """Have ``function`` called on the listener's loop.

        Raises:
            RuntimeError: It is not running.
        """
        if self._loop is None:
            raise RuntimeError("the server is not running: use 'with ModelServer() as server'")
        self._loop.call_soon_threadsafe(function)

    def _run(self) -> None:
        try:
            # On Windows the default loop cannot watch a socket.
            with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
                runner.run(self._listen())
        except OSError as error:  # start() raises it in the caller's thread
            self._failure = error
        finally:
            self._started.set()

    async def _listen(self) -> None:
        with socket.create_server(("127.0.0.1", self.port), backlog=512) as listening:
            listening.setblocking(False)
            self.port = listening.getsockname()[1]
            loop = self._loop = asyncio.get_running_loop()
            self._started.set()
            serving: set[asyncio.Task[None]] = set()
            # Accepted in a callback, not a task: a cancelled task could lose a socket it was given
            # (and on 3.11 asyncio.start_server loses one that comes while it closes).
            loop.add_reader(listening, self._accept, listening, serving)
            await self._stop.wait()
            loop.remove_reader(listening)
        await asyncio.sleep(0)  # a task that has not begun would never close its socket
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    def _accept(self, listening: socket.socket, serving: set[asyncio.Task[None]]) -> None:
        try:
            client, _ = listening.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return  # the client has gone again
        client.setblocking(False)
        task = asyncio.create_task(self._serve(client))
        serving.add(task)
        task.add_done_callback(serving.discard)

    async def _serve(self, client: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=client)
        connection = Connection(reader, writer)
        try:
            while connection.is_open:
                request = await connection.receive()
                if request is None:
                    break
                await self._answer(request, connection)
        except ConnectionError:
            pass  # the client has gone: nobody is left to be answered
        finally:
            await connection.close()
