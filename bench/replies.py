"""Recorded replies of real models through the parser: records read and dropped, counted twice.

The second count is by regular expressions that share nothing with the parser. Then the replies are
spoiled at random, and none may raise or lose a record without a reason.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path

from holodeck.errors import ProviderError
from holodeck.lib.contracts import Extraction
from holodeck.lib.graphrag.merge import merge
from holodeck.lib.graphrag.parse import RecordReader
from holodeck.lib.graphrag.parse_report import parse_report

RECORDING = Path("carol") / "recorded_llm.json"
MUTATIONS = 10_000
PIECES = (
    "<|>", "<||>", "< | >", "|", "##", "(", ")", '"', "\n", "<|COMPLETE|>", "<think>", "</think>",
    "```", "{{", "}}", "entity", '("entity"', '"relationship"', "NONE", "\x00", "é", "9" * 50,
)  # fmt: skip
# Independent of the parser: an opening bracket, a word, whatever quotes, and a delimiter.
_RECORD = re.compile(r"""\(\s*["'“]?\w+["'”]?\s*<\|""")


def run(data: Path | None) -> None:
    """Print both counts of each reply that they differ in, and the sums."""
    if data is None or not (data / RECORDING).is_file():
        print("needs --data with carol/recorded_llm.json")
        return
    recorded = json.loads((data / RECORDING).read_text(encoding="utf-8"))
    replies = [entry["return"] for entry in recorded.values()]
    extractions = [reply for reply in replies if "<|" in reply]
    _count_records(extractions)
    _count_reports([reply for reply in replies if '"findings"' in reply])
    _mutate(extractions)


def _count_records(replies: list[str]) -> None:
    reader = RecordReader()
    found: list[tuple[str, Extraction]] = []
    totals: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    repairs: Counter[str] = Counter()
    print(f"{'reply':>5}{'kept':>7}{'dropped':>9}{'regex':>7}{'differ':>8}")
    for number, reply in enumerate(replies):
        parsed = reader.read(reply)
        kept = len(parsed.extraction.entities) + len(parsed.extraction.relationships)
        dropped = sum(parsed.extraction.dropped.values())
        expected = len(_RECORD.findall(reply))
        difference = kept + dropped - expected
        print(f"{number:>5}{kept:>7}{dropped:>9}{expected:>7}{difference or '':>8}")
        totals.update(kept=kept, dropped=dropped, regex=expected, differ=abs(difference))
        reasons.update(parsed.extraction.dropped)
        repairs.update(parsed.extraction.repairs)
        if parsed.is_cut:
            reasons["reply cut off"] += 1
        found.append((str(number), parsed.extraction))
    print(
        f"{'sum':>5}{totals['kept']:>7}{totals['dropped']:>9}{totals['regex']:>7}"
        f"{totals['differ']:>8}"
    )
    graph = merge(found)
    print(f"dropped: {dict(reasons)}; mended: {dict(repairs)}")
    print(
        f"merged: {len(graph.entities)} entities, {len(graph.relationships)} relationships, "
        f"{graph.merged_spellings} spellings joined, dropped: {dict(graph.dropped)}"
    )


def _count_reports(replies: list[str]) -> None:
    read = findings = expected = 0
    repairs: Counter[str] = Counter()
    for reply in replies:
        expected += len(re.findall(r'"explanation"\s*:', reply))
        try:
            report = parse_report(reply)
        except ProviderError as error:
            repairs[f"lost: {error}"] += 1
            continue
        read += 1
        findings += len(report.findings)
        repairs.update(report.repairs)
    print(
        f"reports: {read} of {len(replies)} read, {findings} findings, {expected} by regular "
        f"expression; {dict(repairs)}"
    )


def _mutate(replies: list[str]) -> None:
    chance = random.Random(0)
    reader = RecordReader()
    unexplained = seen = 0
    for _ in range(MUTATIONS):
        text = chance.choice(replies)[:1500]
        for _ in range(chance.randint(1, 8)):
            at = chance.randint(0, len(text))
            piece = chance.choice(PIECES)
            text = text[:at] + piece + text[at + chance.choice((0, 0, len(piece), 30)) :]
        parsed = reader.read(text)
        kept = len(parsed.extraction.entities) + len(parsed.extraction.relationships)
        seen += parsed.seen
        unexplained += parsed.seen - kept - sum(parsed.extraction.dropped.values())
    print(f"mutated: {MUTATIONS} replies, {seen} records, {unexplained} without a reason")
