"""What became of the pieces of a build, in words and as JSON."""

from __future__ import annotations

import pytest

from holodeck.cli.summary import status_json, status_lines
from holodeck.lib.contracts import BuildAccount, Failure, IndexStatus
from holodeck.models.tool import VectorstoreTool

pytestmark = pytest.mark.unit

ACCOUNT = BuildAccount(
    chunks={"done": 400, "repaired": 7, "empty": 0, "failed": 2},
    repairs={"fence taken off": 7},
    dropped={"entity without a name": 3, "relationship without an end": 1},
    claims=5,
    merged=12,
    isolated=1,
    reports_missing=1,
    failures=(
        Failure(what="chunk", id="u1", place="a.txt", cause="timeout", passing=True),
        Failure(what="chunk", id="u2", place="b.pdf, page 2", cause="filtered"),
        Failure(what="report", id="r1", place="community 3", cause="not JSON", passing=True),
    ),
)


def test_every_loss_is_told_with_its_mend() -> None:
    """Chunks by state, records by reason, merges, missing reports, what failed where, and what
    asks again for which of them.
    """
    status = IndexStatus(location="/i", account=ACCOUNT)

    assert list(status_lines(status)) == [
        "  chunks: 400 done, 7 repaired, 2 failed",
        "  repaired: 7 (7 fence taken off)",
        "  records dropped: 4 (3 entity without a name, 1 relationship without an end)",
        "  claims: 5",
        "  spellings merged: 12",
        "  entities without relationships: 1",
        "  reports missing: 1",
        "    chunk of a.txt: timeout (may pass)",
        "    chunk of b.pdf, page 2: filtered (will not pass by itself)",
        "    report of community 3: not JSON (may pass)",
        "  mend: 'holodeck index' asks again for 2 of them",
        "  mend: 'holodeck index --retry-failed' asks again for 1 refused",
        "  index: /i",
    ]


def test_an_account_without_losses_is_one_line() -> None:
    """What is nothing is not printed."""
    status = IndexStatus(location="/i", account=BuildAccount(chunks={"done": 3, "failed": 0}))

    assert list(status_lines(status)) == ["  chunks: 3 done", "  index: /i"]


def test_a_program_gets_the_whole_account() -> None:
    """Every failure with its id, place, cause and whether it may pass."""
    tool = VectorstoreTool(name="t", source="docs")
    account = status_json(tool, IndexStatus(location="/i", account=ACCOUNT))["account"]

    assert account["chunks"]["failed"] == 2
    assert account["failures"][1] == {
        "what": "chunk",
        "id": "u2",
        "place": "b.pdf, page 2",
        "cause": "filtered",
        "passing": False,
    }
    assert status_json(tool, IndexStatus(location="/i"))["account"] is None
