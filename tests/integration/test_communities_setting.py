"""How communities are made is a setting: its effect in the table and in an estimate."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("graphrag", reason="needs the extra graphrag")

from holodeck.lib.graphrag.communities import SCHEMES, Scheme, find_communities
from holodeck.lib.graphrag.engine import GraphRAGEngine
from holodeck.lib.graphrag.prepare import prepare
from holodeck.lib.graphrag.rehearse import imagined, rehearse
from holodeck.lib.graphrag.tables import read_rows
from holodeck.lib.indexes.step_memo import StepMemo
from holodeck.lib.readers.options import ReadOptions
from holodeck.lib.readers.source import read_source
from holodeck.lib.resources import resolve_tool
from holodeck.lib.unasked import UnaskedResources
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.xdist_group("settings arrive")]


async def test_communities_are_made_as_set(tmp_path: Path) -> None:
    """The table and the rehearsal of an estimate hold what the setting asks for.

    Another value is another index, and says so.
    """
    (tmp_path / "docs").mkdir()
    route = [f"Port {chr(65 + n)}{chr(97 + n)}o" for n in range(14)]
    for number, (start, end) in enumerate(pairwise(route)):
        text = f"From {start} the ferry sails to {end}."
        (tmp_path / "docs" / f"{number:02}.txt").write_text(text, encoding="utf-8")
    found: dict[Scheme, list[tuple[int, int]]] = {}
    for scheme in SCHEMES:
        config = VectorstoreTool(
            name="k",
            engine="graphrag",
            source="docs",
            graphrag=GraphRAGConfig(communities=scheme),
        )
        agent = LLMProvider(provider="embedded")
        graph = GraphRAGEngine(config, str(tmp_path), agent_model=agent)
        why = graph.indexer.stale_reason(tmp_path / "docs")
        await graph.initialize()
        tables = graph.storage.output_dir
        rows = read_rows(tables, "communities", ["level", "size"])
        found[scheme] = [(row["level"], row["size"]) for row in rows]
        edges = read_rows(tables, "relationships", ["source", "target", "weight"])
        wanted = find_communities([(e["source"], e["target"], e["weight"]) for e in edges], scheme)
        await graph.close()
        rehearsal = await rehearse(
            prepare(read_source(tmp_path / "docs", ReadOptions()).documents, 300, 100),
            resolve_tool(config, agent),
            UnaskedResources(ExecutionConfig(), cache_dir=None, imagine=imagined),
            memo=StepMemo(),
        )

        assert found[scheme] == [(each.level, len(each.members)) for each in wanted]
        assert rehearsal.communities == len(wanted)

    assert len(found["leiden"]) != len(found["stable"])
    assert why == 'settings changed (graphrag.communities: "leiden" → "stable")'
