"""What is indexed, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from holodeck.cli.cost_lines import spending_json, spending_lines
from holodeck.lib.quantities import counts_in_words, number_of

if TYPE_CHECKING:
    from holodeck.lib.contracts import BuildAccount, IndexStatus
    from holodeck.models.tool import VectorstoreTool

__all__ = ["counted", "status_json", "status_lines"]

_SHOWN_FAILURES = 5


def status_lines(status: IndexStatus) -> Iterator[str]:
    """Yield what an index holds and what its reader should know, indented."""
    if status.indexed_at is not None:
        yield f"  {counted(status)}"
    if status.skipped:
        yield f"  {number_of(len(status.skipped), 'files')} skipped:"
        for path, reason in status.skipped.items():
            yield f"    {path}: {reason}"
    if status.account is not None:
        yield from _account_lines(status.account)
    if status.spending is not None:
        yield from spending_lines(status.spending)
    for warning in status.warnings:
        yield f"  warning: {warning}"
    yield f"  index: {status.location}"


def counted(status: IndexStatus) -> str:
    """Return the counts in words: ``4 files, 1 entity``."""
    return counts_in_words(status.counts)


def status_json(tool: VectorstoreTool, status: IndexStatus) -> dict[str, Any]:  # Any: JSON
    """Return the status of a tool's index as ``--json`` prints it."""
    return {
        "name": tool.name,
        "engine": tool.engine,
        "location": status.location,
        "indexed_at": status.indexed_at,
        "up_to_date": status.stale_reason is None,
        "stale_reason": status.stale_reason,
        "counts": dict(status.counts),
        "skipped": dict(status.skipped),
        "warnings": list(status.warnings),
        "account": None if status.account is None else asdict(status.account),
        "spending": spending_json(status.spending),
    }


def _account_lines(account: BuildAccount) -> Iterator[str]:
    """Yield what became of the pieces of a build; what is nothing is left out."""
    if any(account.chunks.values()):
        yield f"  chunks: {_by_reason(account.chunks)}"
    for name, counts in (("repaired", account.repairs), ("records dropped", account.dropped)):
        if counts:
            yield f"  {name}: {sum(counts.values()):,} ({_by_reason(counts)})"
    if account.claims:
        yield f"  claims: {account.claims:,}"
    if account.merged:
        yield f"  spellings merged: {account.merged:,}"
    if account.isolated:
        yield f"  entities without relationships: {account.isolated:,}"
    if account.reports_missing:
        yield f"  reports missing: {account.reports_missing:,}"
    for failure in account.failures[:_SHOWN_FAILURES]:
        may_pass = "may pass" if failure.passing else "will not pass by itself"
        yield f"    {failure.what} of {failure.place or failure.id}: {failure.cause} ({may_pass})"
    if len(account.failures) > _SHOWN_FAILURES:
        yield f"    and {len(account.failures) - _SHOWN_FAILURES:,} more (all with --json)"
    yield from _mend(account)


def _mend(account: BuildAccount) -> Iterator[str]:
    passing = sum(failure.passing for failure in account.failures)
    lasting = len(account.failures) - passing
    if passing:
        yield f"  mend: 'holodeck index' asks again for {passing:,} of them"
    if lasting:
        yield f"  mend: 'holodeck index --retry-failed' asks again for {lasting:,} refused"


def _by_reason(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in counts.items() if count)
