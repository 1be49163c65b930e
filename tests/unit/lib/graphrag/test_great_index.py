"""Local search over 20,000 entities, 60,000 relationships and a hub with 5,000 of them.

What a question costs is counted, not timed: files that are opened, calls that Python makes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from holodeck.lib.graphrag.graph_index import GraphIndex
from holodeck.lib.graphrag.local_context import RANKINGS, LocalQuestion, select_local
from holodeck.lib.graphrag.open_index import derive_index, open_generation
from holodeck.lib.graphrag.tables import write_rows, write_vectors
from holodeck.lib.graphrag.values import LOCAL_VALUES
from holodeck.lib.tokens import count_tokens

pytestmark = [pytest.mark.unit, pytest.mark.xdist_group("great index")]  # it is made once

ENTITIES, EDGES, REPORTS, HUB_DEGREE = 20_000, 60_000, 2_000, 5_000
UNITS = ENTITIES // 4
WIDTH = 32
HUB = 0

_opened: list[str] = []
"""Files that were opened since a test emptied this."""


def _note_opened(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        _opened.append(str(arguments[0]))


sys.addaudithook(_note_opened)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> GraphIndex:
    folder = tmp_path_factory.mktemp("great")
    chance = np.random.default_rng(1)
    ends = chance.integers(1, ENTITIES, (EDGES, 2))
    ends[:HUB_DEGREE, 0] = HUB
    degrees = np.bincount(ends.reshape(-1), minlength=ENTITIES)
    write_rows(
        folder,
        "entities",
        [
            {
                "id": f"e{row}",
                "human_readable_id": row,
                "title": f"Thing {row}",
                "description": f"made in town {row % 700}",
                "text_unit_ids": [f"u{row % UNITS}"],
                "degree": int(degrees[row]),
            }
            for row in range(ENTITIES)
        ],
    )
    write_rows(
        folder,
        "relationships",
        [
            {
                "id": f"r{row}",
                "human_readable_id": row,
                "source": f"Thing {source}",
                "target": f"Thing {target}",
                "description": f"shipped in {row % 300}",
                "weight": 1.0,
                "combined_degree": int(degrees[source] + degrees[target]),
                "text_unit_ids": [f"u{row % UNITS}"],
            }
            for row, (source, target) in enumerate(ends.tolist())
        ],
    )
    texts = [{"id": f"u{row}", "text": f"Ledger {row}. " + "x y z " * 60} for row in range(UNITS)]
    write_rows(folder, "text_units", texts)
    write_rows(
        folder,
        "sources",
        [{"text_unit_id": f"u{row}", "path": f"{row}.txt"} for row in range(UNITS)],
    )
    members = [[f"e{row}" for row in range(part, ENTITIES, REPORTS)] for part in range(REPORTS)]
    communities = [
        {"community": part, "level": 0, "entity_ids": each} for part, each in enumerate(members)
    ]
    write_rows(folder, "communities", communities)
    reports = [
        {"community": part, "title": f"Group {part}", "full_content": "of things " * 20}
        for part in range(REPORTS)
    ]
    write_rows(folder, "community_reports", reports)
    (folder / "prompts.json").write_text("{}", encoding="utf-8")
    for table, letter, count in (
        ("entity_description", "e", ENTITIES),
        ("text_unit_text", "u", UNITS),
    ):
        matrix = chance.standard_normal((count, WIDTH), dtype=np.float32)
        ids = [f"{letter}{row}" for row in range(count)]
        write_vectors(folder / "vectors", table, ids, [matrix], WIDTH)
    derive_index(folder, folder / "vectors")
    return open_generation(folder, folder / "vectors")


def asked(index: GraphIndex, entity: int) -> LocalQuestion:
    """Return a question about an entity."""
    assert index.entity_vectors is not None
    text = f"Who shipped Thing {entity}?"
    return LocalQuestion(text=text, vector=index.entity_vectors.matrix[entity], level=2)


@pytest.mark.parametrize("ranking", RANKINGS)
def test_a_warm_question_opens_no_file(index: GraphIndex, ranking: str) -> None:
    """What was read once serves all questions: of twenty, none opens a file."""
    select_local(index, asked(index, 7), ranking)
    _opened.clear()
    for entity in range(HUB, 20):
        assert select_local(index, asked(index, entity), ranking).text_units
    Path(__file__).open().close()

    assert _opened == [__file__]


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("entity", [HUB, 7])
def test_no_question_goes_through_all_records(index: GraphIndex, ranking: str, entity: int) -> None:
    """Fewer calls than there are relationships, also about a hub: no loop goes over a table."""
    question = asked(index, entity)
    select_local(index, question, ranking)
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        select_local(index, question, ranking)
    finally:
        sys.setprofile(None)

    assert 100 < calls < EDGES


def test_a_hub_takes_its_share_of_a_context_and_no_more(index: GraphIndex) -> None:
    """Of 5,000 relationships those are shown that fit, and the texts keep their part."""
    context = select_local(index, asked(index, HUB), "graph").context
    values = LOCAL_VALUES["graph"]
    graph, texts = context.text.split("-----Sources-----")

    assert context.entities[0].title == f"Thing {HUB}"
    assert any(f"Thing {HUB}" in (edge.source, edge.target) for edge in context.relationships)
    assert count_tokens(graph) <= (1 - values.text_unit_share) * values.context_tokens
    assert count_tokens(texts) >= 0.9 * values.text_unit_share * values.context_tokens
    assert count_tokens(context.text) <= values.context_tokens
