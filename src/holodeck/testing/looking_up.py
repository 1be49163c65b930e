"""A model that looks things up, as an agent's model does."""

from __future__ import annotations

import json
from collections.abc import Callable

from holodeck.lib.contracts import ToolCall
from holodeck.testing.replies import Reply, ServerRequest

__all__ = ["looks_up"]


def looks_up(tool: str, answer: str | Callable[[str], str]) -> Callable[[ServerRequest], Reply]:
    """Return how a model replies that puts each question to a tool before it answers.

    Args:
        tool: Name of the tool; it gets the question as ``query``.
        answer: What is said when the tool has answered, or what makes it of the question.
    """

    def reply(request: ServerRequest) -> Reply:
        messages = request.body["messages"]
        question = str([said["content"] for said in messages if said["role"] == "user"][-1])
        if messages[-1]["role"] == "tool":
            return Reply(text=answer if isinstance(answer, str) else answer(question))
        arguments = json.dumps({"query": question})
        return Reply(tool_calls=(ToolCall(id="c1", name=tool, arguments=arguments),))

    return reply
