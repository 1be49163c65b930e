"""Rules of the contract about answering, from any loop and in any state."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holodeck.errors import ConfigError, EmptyQueryError
from holodeck.lib.extras import has_extra
from holodeck.lib.questions import LONGEST_QUESTION
from holodeck.testing.contract_base import ContractBase, ask
from holodeck.testing.project import FACTS, Fact
from holodeck.tools.vectorstore_tool import VectorStoreTool

__all__ = ["SearchRules"]

QUESTION = FACTS["text"].question


class SearchRules(ContractBase):
    """Answering."""

    @pytest.mark.parametrize("fact", FACTS.values(), ids=FACTS)
    def test_a_fact_is_found_with_its_source(self, opened: VectorStoreTool, fact: Fact) -> None:
        """The context holds the fact; among the sources is its file, with its page or row."""
        if fact.place.page is not None and not has_extra("documents"):
            pytest.skip("the extra 'documents' is not installed")

        result = ask(opened, fact.question)

        assert fact.answer in result.context
        assert fact.place in [source.place for source in result.sources]

    def test_the_text_for_an_agent_names_sources(self, opened: VectorStoreTool) -> None:
        """``search`` returns the answer, and the file that it stands in."""
        text = asyncio.run(opened.search(QUESTION))

        assert FACTS["text"].answer in text
        assert "ann.txt" in text

    def test_an_answer_is_made(self, opened: VectorStoreTool) -> None:
        """An engine that answers does so in a text that is shorter than its context."""
        self.needs("supports_answers")

        result = ask(opened, QUESTION)

        assert FACTS["text"].answer in result.response
        assert len(result.response) < len(result.context)

    def test_no_answer_is_made_unasked(self, opened: VectorStoreTool) -> None:
        """``answer=False`` gives the same context and sources, and no response."""
        asked, bare = ask(opened, QUESTION), ask(opened, QUESTION, answer=False)

        assert bare.response == ""
        assert bare.context == asked.context
        assert {str(s) for s in bare.sources} == {str(s) for s in asked.sources}

    def test_every_mode_answers(self, opened: VectorStoreTool) -> None:
        """Each mode that an engine lists works, and the result says which it was."""
        modes = opened.engine.modes

        assert [ask(opened, QUESTION, mode=mode).search_mode for mode in modes] == list(modes)

    def test_an_unknown_mode_is_refused(self, opened: VectorStoreTool) -> None:
        """The message lists the modes there are."""
        with pytest.raises(ConfigError) as caught:
            ask(opened, QUESTION, mode="telepathy")

        assert all(mode in str(caught.value) for mode in ("telepathy", *opened.engine.modes))

    @pytest.mark.parametrize("blank", ["", " \n", "\u3000"])
    def test_a_blank_question_is_refused(self, opened: VectorStoreTool, blank: str) -> None:
        """Nothing is searched for nothing."""
        with pytest.raises(EmptyQueryError):
            ask(opened, blank)

    @pytest.mark.parametrize(
        "odd", ["?", "🙂", "zyzzyva", "a\ud800b", "\x00", "' OR 1=1 --", "(((*"]
    )
    def test_an_odd_question_has_an_ordinary_answer(
        self, opened: VectorStoreTool, odd: str
    ) -> None:
        """No question makes an engine fail."""
        assert asyncio.run(opened.search(odd)).strip()

    def test_a_long_question_is_cut_with_a_note(self, opened: VectorStoreTool) -> None:
        """The note says to how much; the answer is an ordinary one."""
        result = ask(opened, f"{QUESTION} " * 1_500)

        assert any(str(LONGEST_QUESTION) in note for note in result.notes)
        assert FACTS["text"].answer in result.context

    def test_searches_run_side_by_side(self, opened: VectorStoreTool) -> None:
        """Each of several at once gets what it would get alone."""
        questions = [fact.question for fact in FACTS.values()] * 3

        async def together() -> list[str]:
            return await asyncio.gather(*(opened.search(question) for question in questions))

        assert asyncio.run(together()) == [asyncio.run(opened.search(q)) for q in questions]

    def test_a_worker_thread_may_search(self, opened: VectorStoreTool) -> None:
        """The tool belongs to no thread."""
        expected = asyncio.run(opened.search(QUESTION))

        with ThreadPoolExecutor(1) as thread:
            found = thread.submit(asyncio.run, opened.search(QUESTION)).result()

        assert found == expected

    def test_a_cancelled_search_harms_nobody(self, opened: VectorStoreTool) -> None:
        """The next one gets its answer, in the same loop and in another."""

        async def cancel_and_search() -> str:
            task = asyncio.create_task(opened.search(QUESTION))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
            return await opened.search(QUESTION)

        expected = asyncio.run(opened.search(QUESTION))
        assert asyncio.run(cancel_and_search()) == expected
        assert asyncio.run(opened.search(QUESTION)) == expected

    def test_the_sync_forms_work_inside_a_running_loop(self, project: Path) -> None:
        """As in a notebook: from opening to closing."""
        tool = self.make_tool(project)

        async def in_a_notebook() -> str:
            tool.initialize_sync()
            text = tool.search_sync(QUESTION)
            tool.close_sync()
            return text

        assert FACTS["text"].answer in asyncio.run(in_a_notebook())

    def test_search_before_initialize_is_an_error(self, project: Path) -> None:
        """A tool never answers from nothing, nor by another engine."""
        tool = self.make_tool(project)

        with pytest.raises(RuntimeError, match="initialize"):
            ask(tool, QUESTION)
        with pytest.raises(RuntimeError, match="initialize"):
            asyncio.run(tool.engine.search(QUESTION))

    def test_a_closed_tool_may_be_closed_and_opened_again(self, project: Path) -> None:
        """Closing twice is fine, searching in between is an error, opening builds nothing."""
        tool = self.make_tool(project)
        asyncio.run(tool.initialize())
        asyncio.run(tool.close())
        asyncio.run(tool.close())
        with pytest.raises(RuntimeError, match="initialize"):
            asyncio.run(tool.search(QUESTION))

        asyncio.run(tool.initialize())

        assert not tool.engine.was_built
        assert FACTS["text"].answer in ask(tool, QUESTION).context
        asyncio.run(tool.close())
