"""A conversation at the terminal: questions in, answers and what led to them out."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from holodeck.cli.output import Pieces, guarded_results, say, say_error, show_json
from holodeck.cli.session import Session
from holodeck.cli.transcript import Transcript
from holodeck.cli.turn_lines import answered_line, called_line, sources_lines, spent_lines
from holodeck.errors import HolodeckError
from holodeck.lib.spending import price_hint, said_spent, total
from holodeck.lib.test_runner.turns import (
    Event,
    TextPiece,
    ToolAnswered,
    ToolCalled,
    TurnDone,
    turn_as_json,
)

if TYPE_CHECKING:
    from holodeck.lib.contracts import MeterRow
    from holodeck.lib.test_runner.agent_factory import Agent
    from holodeck.lib.test_runner.conversation import Conversation
    from holodeck.lib.test_runner.turns import Turn

__all__ = ["Talk"]

FAILED = 3
INTERRUPTED = 130

_HELP = "/tools /sources /reset /quit; Ctrl-C stops a turn, a second one leaves"


class Talk:
    """What one person and the agent say to each other in one call of the command line.

    Answers go to stdout, everything else to stderr. A turn that fails is told and the talk goes on.

    Args:
        session: This call of the command line.
        agent: The agent, its indexes open.
        runner: Runs every turn in one loop, so that connections are kept.
        as_json: Print one JSON document at the end, and nothing before.
    """

    def __init__(
        self, session: Session, agent: Agent, runner: asyncio.Runner, *, as_json: bool
    ) -> None:
        self._session = session
        self._agent = agent
        self._runner = runner
        self._as_json = as_json
        self._conversation: Conversation = agent.conversation()
        self._transcript = Transcript()
        self._line: Pieces | None = None

    def say_once(self, message: str) -> int:
        """Say one thing and return the exit code; an error is the caller's."""
        try:
            turn = self._run(message)
        except (HolodeckError, KeyboardInterrupt):
            self._end_line()
            self._tell_spent(self._conversation.last_spent)
            raise
        if self._as_json:
            show_json(turn_as_json(turn))
        return 0 if turn.stopped is None else FAILED

    def go_on(self) -> int:
        """Talk until ``/quit``, the end of the input or a second Ctrl-C; return the exit code."""
        is_terminal = sys.stdin.isatty()
        if is_terminal and not self._session.is_quiet:
            say(f"{self._agent.loaded.config.name}: {_HELP}")
        code, was_interrupted = 0, False
        while True:
            try:
                line = self._read(is_terminal)
                if line is None or line == "/quit":
                    if was_interrupted and not is_terminal:  # nobody chose to leave
                        code = INTERRUPTED
                    break
                if line and not self._command(line) and not self._answer(line) and not is_terminal:
                    code = FAILED
                was_interrupted = False
            except KeyboardInterrupt:
                if is_terminal and self._line is None:
                    say("")  # the terminal showed ^C behind the prompt
                self._end_line()
                if was_interrupted:
                    code = INTERRUPTED
                    break
                was_interrupted = True
                say("stopped; Ctrl-C once more, or /quit, leaves")
        spent = self._transcript.spent
        if len(self._transcript) > 1 and spent:
            self._note(f"together: {said_spent(total(spent))}")
        if self._as_json:
            show_json(self._transcript.as_json())
        return code

    def _read(self, is_terminal: bool) -> str | None:
        """Return the next line; ``None`` at the end of the input."""
        if is_terminal:
            say_prompt = "> " if not self._as_json else ""
            try:
                return input(say_prompt).strip()
            except EOFError:
                say("")  # whatever comes next does not stand behind the prompt
                return None
        line = sys.stdin.readline()
        return line.strip() if line else None

    def _command(self, line: str) -> bool:
        """Carry out a command of the talk; tell whether it was one."""
        if not line.startswith("/"):
            return False
        word = line.split()[0]
        if word == "/tools":
            for tool in self._agent.tools:
                say(f"{tool.name}: {tool.description}")
            if not self._agent.tools:
                say("the agent has no tools")
        elif word == "/sources":
            turns = self._conversation.turns
            for text in sources_lines(turns[-1] if turns else None):
                say(text)
        elif word == "/reset":
            self._conversation.reset()
            say("forgotten what was said")
        else:
            say(f"there is no command {word}: {_HELP}")
        return True

    def _answer(self, question: str) -> bool:
        """Answer one question; tell whether that went well."""
        try:
            turn = self._run(question)
        except KeyboardInterrupt:
            self._keep_unanswered(question, "interrupted")
            raise
        except HolodeckError as error:
            self._end_line()
            say_error(str(error))
            self._keep_unanswered(question, str(error))
            return False
        self._transcript.add(turn)
        return turn.stopped is None

    def _keep_unanswered(self, question: str, why: str) -> None:
        """Keep a question without an answer, with what it took all the same."""
        spent = self._conversation.last_spent
        self._tell_spent(spent)
        self._transcript.add_unanswered(question, why, spent)

    def _tell_spent(self, spent: Sequence[MeterRow]) -> None:
        """Tell what a turn without an answer took."""
        if spent:
            self._note(f"({said_spent(total(spent))})")
        self._note_prices(spent)

    def _note_prices(self, spent: Sequence[MeterRow]) -> None:
        unknown = self._transcript.unknown_prices(spent)
        if unknown:
            self._note(price_hint(unknown))

    def _run(self, question: str) -> Turn:
        with guarded_results():
            return self._runner.run(self._turn(question))

    async def _turn(self, question: str) -> Turn:
        async with aclosing(self._conversation.stream(question)) as events:
            async for event in events:
                self._tell(event)
                if isinstance(event, TurnDone):
                    return event.turn
        raise AssertionError("a turn ended without its last event")

    def _tell(self, event: Event) -> None:
        match event:
            case TextPiece(text=text):
                if not self._as_json:
                    self._line = self._line or Pieces()
                    self._line.show(text)
            case ToolCalled():
                self._note(called_line(event))
            case ToolAnswered():
                self._note(answered_line(event.use))
            case TurnDone(turn=turn):
                self._end_line()
                if turn.stopped is not None:
                    say_error(turn.stopped)
                for text in turn.notes:
                    self._note(f"note: {text}")
                for text in spent_lines(turn):
                    self._note(text)
                self._note_prices(turn.spent)

    def _note(self, text: str) -> None:
        if not self._session.is_quiet:
            self._end_line()
            say(text)

    def _end_line(self) -> None:
        if self._line is not None:
            line, self._line = self._line, None
            line.end()
