"""A chat model in the process that says what a test wants said."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from holodeck.lib.contracts import ChatModel, ChatReply, ChatRequest

__all__ = ["ScriptedChat"]

Scripted = str | ChatReply | Exception


class ScriptedChat(ChatModel):
    """Answer from a list, in order, or from a function of the request.

    An exception in the script is raised in place of a reply. A list that has run out raises
    ``AssertionError``: the test asked more often than it meant to.

    Attributes:
        requests: Every request, in order.
    """

    provider = "testing"

    def __init__(
        self,
        script: Iterable[Scripted] | Callable[[ChatRequest], Scripted],
        *,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.requests: list[ChatRequest] = []
        self._answer = script if callable(script) else _in_order(script)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer as scripted."""
        self.requests.append(request)
        answer = self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        return ChatReply(text=answer) if isinstance(answer, str) else answer


def _in_order(script: Iterable[Scripted]) -> Callable[[ChatRequest], Scripted]:
    answers = list(script)
    remaining = iter(answers)

    def answer(request: ChatRequest) -> Scripted:
        for scripted in remaining:
            return scripted
        return AssertionError(
            f"the script holds {len(answers)} replies, and one more was asked for "
            f"(purpose {request.purpose!r})"
        )

    return answer
