"""What one document more changes: the communities of both schemes on a graph of recorded facts.

The graph of all passages beside the graph of all but one, for a seeded sample of passages. A report
is written again when what it is written from, to the letter of the prompt, was in no prompt of the
graph with one passage less; where a broad one is written from finer ones, theirs are replayed too.
Then the time for generated graphs of ten times the entities.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.musique import RecordedFacts
from bench.replay import passages
from holodeck.lib.contracts import CommunityContext, Embedder, Report
from holodeck.lib.documents import content_id
from holodeck.lib.graphrag.build import Build
from holodeck.lib.graphrag.communities import (
    MAX_COMMUNITY_SIZE,
    SCHEMES,
    Community,
    Edge,
    Scheme,
    cluster,
    find_communities,
)
from holodeck.lib.graphrag.components import Group, connected_components
from holodeck.lib.graphrag.extract import extract_graph
from holodeck.lib.graphrag.leiden_groups import leiden_groups
from holodeck.lib.graphrag.reports import write_reports
from holodeck.lib.graphrag.tables import read_rows, write_rows
from holodeck.lib.graphrag.write_context import report_context

PASSAGES = (300, 1000)
SAMPLE = 40
SEED = 5
GENERATED = (10_000, 100_000)


class _NoVectors(Embedder):
    """Embeds nothing: reports do not look at vectors."""

    provider = "bench"
    name = "none"

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.zeros((len(texts), 1), dtype=np.float32)


class _Asked(RecordedFacts):
    """Remembers what every report was written from."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.prompts: set[str] = set()

    async def report(self, community: CommunityContext) -> Report:
        self.prompts.add(report_context(community))
        return await super().report(community)


@dataclass(frozen=True, kw_only=True)
class _Grouped:
    """What a scheme makes of a graph."""

    communities: Sequence[Community]
    edges: Sequence[Edge]
    prompts: frozenset[str]
    seconds: float

    @property
    def contents(self) -> frozenset[tuple[str, ...]]:
        """The members of every community."""
        return frozenset(community.members for community in self.communities)


def run(data: Path | None) -> None:
    """Print both schemes side by side for every number of passages, then their growth."""
    if data is None:
        print("needs --data DIR, a folder that holds musique/")
        return
    for count in PASSAGES:
        texts = passages(data / "musique", count)
        steps = _Asked(data / "musique")
        whole = asyncio.run(_group(steps, texts))
        print(f"\n{count} passages, {len(whole['stable'].edges):,} relationships")
        for scheme, grouped in whole.items():
            reports = len(grouped.communities)
            print(f"\n{scheme}: {reports:,} reports, {grouped.seconds:.2f} CPU seconds")
            _print_levels(grouped.communities, grouped.edges)
        print("\nleiden over all components at once, to compare with")
        edges = [edge for part in connected_components(whole["leiden"].edges) for edge in part]
        _print_levels(leiden_groups(edges, MAX_COMMUNITY_SIZE), edges)
        _print_changes(steps, texts, whole)
    _print_growth()


async def _group(steps: _Asked, texts: Sequence[str]) -> dict[Scheme, _Grouped]:
    """Build the graph of the texts and its reports, with both schemes."""
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder)
        build = Build(output=tables, vectors=tables, steps=steps, embedder=_NoVectors())
        rows = [{"id": content_id("text", text), "text": text} for text in texts]
        write_rows(tables, "text_units", sorted(rows, key=lambda row: row["id"]))
        write_rows(tables, "sources", [])
        await extract_graph(build)
        edges = read_rows(tables, "relationships", ["source", "target", "weight"])
        weighted = [(edge["source"], edge["target"], edge["weight"]) for edge in edges]
        return {
            scheme: await _report(steps, replace(build, communities=scheme), weighted)
            for scheme in SCHEMES
        }


async def _report(steps: _Asked, build: Build, edges: Sequence[Edge]) -> _Grouped:
    began = time.process_time()
    communities = find_communities(edges, build.communities)
    seconds = time.process_time() - began
    steps.prompts = set()
    await cluster(build)
    await write_reports(build)
    return _Grouped(
        communities=communities,
        edges=edges,
        prompts=frozenset(steps.prompts),
        seconds=seconds,
    )


def _print_levels(found: Sequence[Community | Group], edges: Sequence[Edge]) -> None:
    """Print what every entity's finest community of at most each level comes to."""
    print(f"{'level':>7}{'groups':>9}{'mean':>8}{'greatest':>10}{'modularity':>12}")
    for level in range(max(community.level for community in found) + 1):
        finest: dict[str, int] = {}
        for number, community in enumerate(found):  # broader ones first
            if community.level <= level:
                finest |= dict.fromkeys(community.members, number)
        sizes = Counter(finest.values())
        mean, greatest = len(finest) / len(sizes), max(sizes.values())
        quality = modularity(edges, finest)
        print(f"{level:>7}{len(sizes):>9,}{mean:>8.1f}{greatest:>10,}{quality:>12.3f}")


def modularity(edges: Sequence[Edge], group: Mapping[str, int]) -> float:
    """Return the share of weight inside groups, less what chance would put there."""
    inside = 0.0
    strength: dict[int, float] = defaultdict(float)
    for source, target, weight in edges:
        strength[group[source]] += weight
        strength[group[target]] += weight
        if group[source] == group[target]:
            inside += weight
    total = sum(strength.values())
    return 2 * inside / total - sum(each**2 for each in strength.values()) / total**2


def _print_changes(steps: _Asked, texts: Sequence[str], whole: Mapping[Scheme, _Grouped]) -> None:
    """Print what the last document of a build asks for, each of a sample having been the last."""
    asked: dict[Scheme, list[int]] = {scheme: [] for scheme in whole}
    regrouped: dict[Scheme, list[int]] = {scheme: [] for scheme in whole}
    for left_out in sorted(random.Random(SEED).sample(range(len(texts)), SAMPLE)):
        before = asyncio.run(_group(steps, [*texts[:left_out], *texts[left_out + 1 :]]))
        for scheme, grouped in whole.items():
            asked[scheme].append(len(grouped.prompts - before[scheme].prompts))
            regrouped[scheme].append(len(grouped.contents - before[scheme].contents))
    print(f"\none document more, {SAMPLE} times")
    print(f"{'':<9}{'reports again: mean':>20}{'max':>6}{'share':>9}{'other members: mean':>21}")
    shares = {}
    for scheme, counts in asked.items():
        shares[scheme] = np.mean(counts) / len(whole[scheme].communities)
        print(
            f"{scheme:<9}{np.mean(counts):>20.1f}{max(counts):>6}{shares[scheme]:>9.2%}"
            f"{np.mean(regrouped[scheme]):>21.1f}"
        )
    means = np.mean(asked["leiden"]) / np.mean(asked["stable"])
    print(f"leiden asks for {means:.1f} times as many reports again as stable")


def _print_growth() -> None:
    print(f"\n{'entities':>9}" + "".join(f"{scheme:>10}" for scheme in SCHEMES) + "  CPU seconds")
    for entities in GENERATED:
        edges = generated_graph(entities)
        times = []
        for scheme in SCHEMES:
            began = time.process_time()
            find_communities(edges, scheme)
            times.append(time.process_time() - began)
        print(f"{entities:>9,}" + "".join(f"{seconds:>10.2f}" for seconds in times))


def generated_graph(entities: int) -> list[Edge]:
    """Return facts about one thing after another: most name something new, some a known one.

    What was named early is named more often, so that there are hubs.
    """
    numbers = random.Random(SEED)  # a shape, not a secret
    titles: list[str] = []

    def new() -> str:
        titles.append(f"entity {len(titles)}")
        return titles[-1]

    edges: list[Edge] = []
    while len(titles) < entities:
        subject = new()
        for _ in range(9):
            is_known = numbers.random() < 0.22
            known = titles[int(len(titles) * numbers.random() ** 2)]
            edges.append((subject, known if is_known and known != subject else new(), 1.0))
    return edges
