"""Text units → the ids of what they state."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from holodeck.lib.contracts import CommunityContext, Extraction, Report
from holodeck.lib.graphrag.build import Build
from holodeck.lib.graphrag.link_text_units import link_text_units
from holodeck.lib.graphrag.tables import read_rows, write_rows
from holodeck.testing.words import WordEmbedder

pytestmark = pytest.mark.unit


class Nobody:
    """Is never asked to think."""

    version = "1"

    async def extract(self, text: str) -> Extraction:
        raise NotImplementedError

    async def summarize(self, subject: str, descriptions: Sequence[str]) -> str:
        raise NotImplementedError

    async def report(self, community: CommunityContext) -> Report:
        raise NotImplementedError


async def test_a_text_unit_names_what_names_it(tmp_path: Path) -> None:
    """In the order of the other table; what the unit held besides stays."""
    units = [{"id": key, "human_readable_id": n, "text": key * 2} for n, key in enumerate("ab")]
    write_rows(tmp_path, "text_units", units)
    links = {"y": ["a", "b"], "x": ["b"]}
    rows = [{"id": key, "text_unit_ids": named} for key, named in links.items()]
    write_rows(tmp_path, "entities", rows)
    write_rows(tmp_path, "relationships", [{"id": "r", "text_unit_ids": ["a"]}])
    build = Build(output=tmp_path, vectors=tmp_path, steps=Nobody(), embedder=WordEmbedder())
    await link_text_units(build)

    found = read_rows(tmp_path, "text_units")
    assert [(u["id"], u["text"], u["entity_ids"], u["relationship_ids"]) for u in found] == [
        ("a", "aa", ["y"], ["r"]),
        ("b", "bb", ["y", "x"], []),
    ]
    assert [unit["covariate_ids"] for unit in found] == [[], []]
