"""The cost of an index beside the model's: ours and the library's own, over the same replies.

A loopback server replays recorded facts. Each builder is a process of its own that has imported
everything before; client CPU is its user and system time from the first document to the published
index. The server's time is nobody's.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.replay import Server, passages, serving
from holodeck.lib.graphrag.worker_process import build_environment

PASSAGES = 295
LATENCY = 0.3
GROWTH = (300, 1000, 3000)
OURS = "ours"
RIVALS = ("library, unprofiled", "library")

Measured = Mapping[str, Any]  # Any: numbers, and the counts of calls


@dataclass(frozen=True, kw_only=True)
class Builder:
    """A builder that has warmed up."""

    process: subprocess.Popen[str]
    server: Server
    warm_up: Measured

    def index(self, docs: Path) -> Measured:
        """Build or update, and return what it took."""
        self.server.reset()
        found = _say(self.process, str(docs))
        return {**found, "calls": self.server.counts()}


def _say(process: subprocess.Popen[str], line: str) -> dict[str, Any]:
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the builder has no pipes")
    print(line, file=process.stdin, flush=True)
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


@contextmanager
def building(
    name: str, server: Server, work: Path, settings: Mapping[str, object] | None = None
) -> Iterator[Builder]:
    """Run a builder in a process of its own."""
    arguments = [name, server.url, str(work), json.dumps(settings or {})]
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = build_environment() if name == OURS else {**os.environ, "PYTHONPATH": paths}
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.builders", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        env=environment,
    )
    try:
        warm_up = _say(process, json.dumps(_WARM_UP[0]))
        yield Builder(process=process, server=server, warm_up=warm_up)
    finally:
        if process.stdin is not None:
            process.stdin.close()
        process.wait()


_WARM_UP: list[str] = []


def write(folder: Path, texts: Sequence[str]) -> Path:
    """Write a file for each text."""
    folder.mkdir(parents=True)
    for number, text in enumerate(texts):
        (folder / f"{number:05}.txt").write_text(text, encoding="utf-8")
    return folder


def total(measured: Measured, what: str) -> int:
    """Return calls or tokens over all kinds, the word asked beforehand left out."""
    counts: Mapping[str, Mapping[str, int]] = measured["calls"]
    return sum(each[what] for kind, each in counts.items() if kind not in ("probe", "models"))


def by_kind(measured: Measured) -> str:
    """Return the calls by kind."""
    counts: Mapping[str, Mapping[str, int]] = measured["calls"]
    kinds = [f"{each['calls']} {kind}" for kind, each in sorted(counts.items()) if kind != "probe"]
    return ", ".join(kinds) or "none"


HEAD = (
    f"{'':24}{'CPU s':>8}{'wall s':>8}{'calls':>7}{'ms/call':>9}{'M tokens':>10}"
    f"{'peak MB':>9}{'disk MB':>9}{'at once':>9}"
)


def line(name: str, found: Measured) -> str:
    """Return a measurement as a line under ``HEAD``."""
    calls = total(found, "calls")
    tokens = (total(found, "tokens_in") + total(found, "tokens_out")) / 1e6
    counts: Mapping[str, Mapping[str, int]] = found["calls"]
    at_once = max((each["at_once"] for each in counts.values()), default=0)
    return (
        f"{name:24}{found['cpu']:8.2f}{found['wall']:8.1f}{calls:7}"
        f"{1000 * found['cpu'] / max(calls, 1):9.2f}{tokens:10.2f}{found['peak_mb']:9.0f}"
        f"{found['disk_mb']:9.1f}{at_once:9}"
    )


def compare(data: Path, work: Path) -> None:
    """Build the same passages with every builder, in turn, without latency and with some."""
    docs = write(work / "compared", passages(data, PASSAGES))
    for latency in (0.0, LATENCY):
        print(f"\n{PASSAGES} passages, {1000 * latency:.0f} ms a call\n{HEAD}")
        found: dict[str, Measured] = {}
        for name in (OURS, *RIVALS):
            place = work / f"{name} {latency}"
            with serving(data, latency) as server, building(name, server, place) as builder:
                found[name] = builder.index(docs)
            print(line(name, found[name]), flush=True)
            print(f"{'':24}{by_kind(found[name])}; imports {builder.warm_up['cpu']:.1f} CPU s")
        for name in RIVALS:
            cpu = found[name]["cpu"] / found[OURS]["cpu"]
            wall = found[name]["wall"] / found[OURS]["wall"]
            print(f"{name} / ours: {cpu:.1f} x CPU, {wall:.1f} x wall")


def lean(data: Path, work: Path) -> None:
    """Build the same passages as cheaply as the graph allows."""
    docs = write(work / "lean-docs", passages(data, PASSAGES))
    print(f"\n{PASSAGES} passages, by profile\n{HEAD}")
    for profile in ("full", "lean"):
        place = work / f"profile {profile}"
        settings = {"profile": profile}
        with serving(data, 0) as server, building(OURS, server, place, settings) as builder:
            found = builder.index(docs)
        print(line(profile, found), flush=True)
        print(f"{'':24}{by_kind(found)}")


def grow(data: Path, work: Path) -> None:
    """Build ever more passages."""
    print(f"\ngrowth\n{HEAD}")
    for count in GROWTH:
        docs = write(work / f"growth-{count}", passages(data, count))
        place = work / f"grown-{count}"
        with serving(data, 0) as server, building(OURS, server, place) as builder:
            print(line(f"{count} passages", builder.index(docs)), flush=True)
        shutil.rmtree(place)


def update(data: Path, work: Path) -> None:
    """Change one document of 300 at a time, as a user would."""
    texts = passages(data, 301)
    docs = write(work / "changed", texts[:300])
    changes: dict[str, Callable[[], object]] = {
        "one more": lambda: (docs / "more.txt").write_text(texts[300], encoding="utf-8"),
        "one edited": lambda: (docs / "00007.txt").write_text(f"Again 2. {texts[7]}", "utf-8"),
        "one deleted": lambda: (docs / "00009.txt").unlink(),
        "one renamed": lambda: (docs / "00011.txt").rename(docs / "other.txt"),
    }
    print(f"\nupdates of 300 passages\n{HEAD}")
    with serving(data, 0) as server, building(OURS, server, work / "updated") as builder:
        first = builder.index(docs)
        print(line("first build", first), flush=True)
        a_call = first["cpu"] / total(first, "calls")
        for name, change in changes.items():
            change()
            found = builder.index(docs)
            print(line(name, found), flush=True)
            beside = found["cpu"] - a_call * total(found, "calls")
            print(f"{'':24}{by_kind(found)}; {beside:.2f} CPU s beside these calls")


def run(data: Path | None) -> None:
    """Print all tables."""
    folder = None if data is None else data / "musique"
    if folder is None or not (folder / "openie.json").is_file():
        print("needs --data with musique/openie.json")
        return
    _WARM_UP[:] = passages(folder, 1)
    with tempfile.TemporaryDirectory() as work:
        for part in (compare, lean, update, grow):
            part(folder, Path(work))
