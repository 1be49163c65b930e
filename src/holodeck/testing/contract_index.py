"""Rules of the contract about building an index and keeping it up to date."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from holodeck.errors import IndexingError, SearchError
from holodeck.testing.contract_base import ContractBase, Project, ask
from holodeck.testing.project import (
    CHANGED,
    FACTS,
    MOVED,
    SKIPPED,
    change_documents,
    write_documents,
)
from holodeck.tools.vectorstore_tool import VectorStoreTool

__all__ = ["IndexRules"]

Updated = tuple[Project, VectorStoreTool]


class IndexRules(ContractBase):
    """Building, updating, failing."""

    def test_initialize_builds(self, built: Project) -> None:
        """The first ``initialize`` builds an index of every file that can be read."""
        assert built.was_built
        assert built.stats["files"] == 4
        assert self.make_tool(built.folder).status().skipped.keys() == {SKIPPED}

    def test_a_graph_holds_entities(self, built: Project) -> None:
        """An engine with a graph finds entities and relationships in plain sentences."""
        self.needs("has_graph")

        assert built.stats["entities"] > 0
        assert built.stats["relationships"] > 0

    def test_initialize_opens(self, project: Path) -> None:
        """A tool is initialised by ``initialize`` and not before."""
        tool = self.make_tool(project)
        before = tool.is_initialized, tool.index_stats

        asyncio.run(tool.initialize())

        assert before == (False, {})
        assert tool.is_initialized
        asyncio.run(tool.close())

    def test_an_unchanged_project_costs_nothing(self, built: Project, project: Path) -> None:
        """New times, another folder, another process: nothing is built, no model is asked."""
        again = self.build(project)

        assert not again.was_built
        assert again.embedded == ()
        assert again.stats == built.stats
        assert self.make_tool(project).status().stale_reason is None

    def test_status_tells_what_initialize_would_do(self, built: Project, project: Path) -> None:
        """Before, between and after builds ``status`` says what is there and why it is stale."""
        change_documents(project)
        stale = self.make_tool(project).status()
        nothing = self.make_tool(project / "docs").status()

        assert stale.stale_reason == "the documents changed"
        assert stale.counts == built.stats
        assert stale.indexed_at is not None
        assert nothing.indexed_at is None
        assert nothing.stale_reason is not None

    def test_an_estimate_says_what_initialize_would_do(self, project: Path) -> None:
        """It gives the reason of ``status``, none for an index that is there, and opens nothing."""
        tool = self.make_tool(project)
        fresh = asyncio.run(tool.estimate())
        change_documents(project)
        changed = asyncio.run(tool.estimate())

        assert fresh.reason is None
        assert fresh.rows == ()
        assert changed.reason == tool.status().stale_reason
        assert changed.chunks > 0
        assert not tool.is_initialized
        assert tool.engine.places.index.is_dir()
        asyncio.run(tool.close())

    def test_an_index_is_opened_as_it_is(self, project: Path, tmp_path: Path) -> None:
        """Stale or not, nothing is built; where there is no index it is an error."""
        change_documents(project)
        tool = self.make_tool(project)
        asyncio.run(tool.open_existing())

        assert FACTS["text"].answer in ask(tool, FACTS["text"].question, answer=False).context
        assert not tool.engine.was_built
        asyncio.run(tool.close())
        with pytest.raises(SearchError, match="no index"):
            asyncio.run(self.make_tool(tmp_path / "nothing").open_existing())

    def test_a_changed_document_is_read_again(self, updated: Updated) -> None:
        """The new fact is found, the old one is nowhere."""
        project, _ = updated
        tool = self.make_tool(project.folder)
        asyncio.run(tool.initialize())

        context = ask(tool, CHANGED.question, answer=False).context

        assert project.was_built
        assert CHANGED.answer in context
        assert FACTS["text"].answer not in context
        asyncio.run(tool.close())

    def test_a_renamed_document_is_found_under_its_new_name(self, updated: Updated) -> None:
        """Its text is not embedded again, and no source names the old path."""
        project, _ = updated
        tool = self.make_tool(project.folder)
        asyncio.run(tool.initialize())

        places = [source.place for source in ask(tool, FACTS["renamed"].question).sources]

        assert MOVED in places
        assert FACTS["renamed"].place not in places
        assert not any(FACTS["renamed"].answer in text for text in project.embedded)
        asyncio.run(tool.close())

    def test_a_deleted_document_is_gone(self, updated: Updated) -> None:
        """Neither its text nor its name is in any context."""
        project, _ = updated
        tool = self.make_tool(project.folder)
        asyncio.run(tool.initialize())

        result = ask(tool, FACTS["row"].question, answer=False)

        assert FACTS["row"].answer not in result.context
        assert FACTS["row"].place.path not in {source.path for source in result.sources}
        assert project.stats["files"] == 3
        asyncio.run(tool.close())

    def test_a_reader_answers_from_one_whole_index(self, updated: Updated) -> None:
        """A tool that is open answers its next question from the index that replaced its own."""
        _, reader = updated

        context = ask(reader, FACTS["text"].question, answer=False).context

        assert CHANGED.answer in context
        assert FACTS["text"].answer not in context

    def test_a_failed_build_leaves_the_old_index(self, built: Project, project: Path) -> None:
        """What was published before still is, and the next build is not told it was done."""
        change_documents(project)
        with pytest.raises(IndexingError):
            asyncio.run(self.make_failing_tool(project).initialize())

        status = self.make_tool(project).status()

        assert status.counts == built.stats
        assert status.stale_reason == "the documents changed"

    def test_force_builds_again(self, project: Path) -> None:
        """Also when all is up to date and the tool is initialised."""
        tool = self.make_tool(project)
        asyncio.run(tool.initialize())
        before = tool.engine.was_built

        asyncio.run(tool.initialize(force_ingest=True))

        assert not before
        assert tool.engine.was_built
        assert FACTS["text"].answer in ask(tool, FACTS["text"].question).context
        asyncio.run(tool.close())

    def test_another_embedding_model_is_noticed(self, project: Path) -> None:
        """Also one whose vectors have the same width; the reason names the setting."""
        self.needs("names_embedders")

        reason = self.make_tool(project, embedding_model="another").status().stale_reason

        assert reason is not None
        assert "embedding_model" in reason

    def test_another_embedding_model_embeds_everything(self, built: Project, project: Path) -> None:
        """No vector of the old model is left."""
        self.needs("takes_embedder")

        again = self.build(project, embedding_model="another")

        assert sorted(again.embedded) == sorted(built.embedded)

    def test_an_update_equals_a_fresh_build(self, updated: Updated, tmp_path: Path) -> None:
        """The index holds as much as one that was built from nothing."""
        self.needs("takes_embedder")
        write_documents(tmp_path)
        change_documents(tmp_path)

        assert self.build(tmp_path).stats == updated[0].stats

    @pytest.mark.parametrize("files", [(), ("empty.txt", "blank.md", SKIPPED)])
    def test_nothing_to_read_is_a_finished_index(
        self, tmp_path: Path, files: tuple[str, ...]
    ) -> None:
        """It is opened, says that it is empty, names each file, and is not built again."""
        docs = tmp_path / "docs"
        docs.mkdir()
        for name in files:
            (docs / name).write_text("\n\t \u3000" if name == "blank.md" else "", encoding="utf-8")
        first = self.build(tmp_path)
        tool = self.make_tool(tmp_path)
        asyncio.run(tool.initialize())

        text = asyncio.run(tool.search("Who runs the Orion project?"))

        assert first.was_built
        assert first.stats["files"] == 0
        assert not tool.engine.was_built
        assert "index is empty" in text or "index holds no" in text
        assert any("empty" in warning for warning in tool.status().warnings)
        assert tool.status().skipped.keys() == set(files)
        asyncio.run(tool.close())

    def test_all_documents_deleted_is_an_empty_index(self, project: Path) -> None:
        """Nothing of what was deleted is found, and nothing is asked of a model."""
        for file in (project / "docs").iterdir():
            file.unlink()

        after = self.build(project)

        assert after.was_built
        assert after.embedded == ()
        assert {name for name, count in after.stats.items() if count} == set()

    def test_a_missing_source_is_an_error(self, tmp_path: Path) -> None:
        """A folder that is not there is no empty folder; the message names it."""
        with pytest.raises(FileNotFoundError, match="docs"):
            asyncio.run(self.make_tool(tmp_path).initialize())
