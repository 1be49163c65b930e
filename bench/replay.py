"""A model server that replays recorded facts, as a process of its own beside what is measured.

    python -m bench.replay DATA LATENCY

It prints its URL; then each line on its standard input is a command: ``reset`` begins the counts
anew, ``counts`` prints them as JSON. It ends with its input.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from bench.musique import WIDTH, passage_mark
from holodeck.testing import ModelServer
from holodeck.testing.replies import ServerRequest

__all__ = ["Replay", "Server", "passages", "serving"]

END = "<|COMPLETE|>"
_AGAIN = re.compile(r"\AAgain (\d+)\.\s*")
_ROW = re.compile(r'^\d+,("(?:[^"]|"")*"|[^,\n]*),(.*)$', flags=re.MULTILINE)
_FINDINGS = 5


def passages(data: Path, count: int) -> list[str]:
    """Return ``count`` passages, those of the first questions first, then told again as of others.

    A passage that is told again is another text about other things, so that any number of chunks
    has facts that were recorded once.
    """
    questions = json.loads((data / "questions.json").read_text(encoding="utf-8"))
    corpus = json.loads((data / "corpus.json").read_text(encoding="utf-8"))
    asked = [
        f"{each['title']}\n{each['paragraph_text']}"
        for question in questions
        for each in question["paragraphs"]
    ]
    others = [f"{each['title']}\n{each['text']}" for each in corpus]
    distinct = list({passage_mark(text): text for text in [*asked, *others]}.values())
    found = list(distinct)
    for again in range(2, 2 + count // len(distinct)):
        found += [f"Again {again}. {text}" for text in distinct]
    return found[:count]


class Replay:
    """Answers extraction and report prompts; whatever else is asked, the server's defaults do."""

    def __init__(self, data: Path) -> None:
        self._data = data

    @cached_property
    def _facts(self) -> dict[str, dict[str, Any]]:
        docs = json.loads((self._data / "openie.json").read_text(encoding="utf-8"))["docs"]
        return {passage_mark(doc["passage"]): doc for doc in docs}

    def extract(self, request: ServerRequest) -> str:
        """Return the recorded facts of a passage as records."""
        prompt = request.user_texts[0]
        text = prompt.rpartition("Text:")[2].partition("######")[0].strip()
        again = _AGAIN.match(text)
        suffix = f" {again[1]}" if again else ""
        doc = self._facts[passage_mark(text[again.end() :] if again else text)]
        triples = [
            tuple(map(str, triple)) for triple in doc["extracted_triples"] if len(triple) == 3
        ]
        records = []
        for name in dict.fromkeys(map(str, doc["extracted_entities"])):
            said = ". ".join(" ".join(triple) for triple in triples if name in triple[::2])
            records.append(f'("entity"<|>{name}{suffix}<|>CONCEPT<|>{said})')
        for source, said, target in triples:
            records.append(
                f'("relationship"<|>{source}{suffix}<|>{target}{suffix}<|>{source} {said} {target}'
                "<|>1)"
            )
        return "\n##\n".join(records) + f"\n{END}"

    def report(self, request: ServerRequest) -> str:
        """Return a report that says what is said of the first records."""
        rows = _ROW.findall(request.text.rpartition("Text:")[2]) or [("nothing", "")]
        names = [name.strip('"') for name, _ in rows]
        findings = [
            {"summary": f"{name} matters here", "explanation": f"{said} [Data: Entities (1)]."}
            for name, (_, said) in zip(names, rows[:_FINDINGS], strict=False)
        ]
        report = {
            "title": ", ".join(names[:3]),
            "summary": f"This community is about {', '.join(names[:10])}.",
            "rating": 5.0,
            "rating_explanation": "Every community is rated the same.",
            "findings": findings,
        }
        return json.dumps(report, ensure_ascii=False)


class Server:
    """The handle of a server process."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self._process = process
        self.url = url

    def reset(self) -> None:
        """Begin the counts anew."""
        self._said("reset")

    def counts(self) -> dict[str, dict[str, int]]:
        """Return kind → calls, tokens in and out, and the greatest number in flight."""
        found: dict[str, dict[str, int]] = json.loads(self._said("counts"))
        return found

    def _said(self, command: str) -> str:
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the server has no pipes")
        print(command, file=self._process.stdin, flush=True)
        return self._process.stdout.readline()


@contextmanager
def serving(data: Path, latency: float) -> Iterator[Server]:
    """Run a server in a process of its own."""
    command = [sys.executable, "-m", "bench.replay", str(data), str(latency)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=environment,
    )
    try:
        if process.stdout is None:
            raise RuntimeError("the server has no pipes")
        yield Server(process, process.stdout.readline().strip())
    finally:
        if process.stdin is not None:
            process.stdin.close()
        process.wait()


def main(arguments: Sequence[str]) -> None:
    """Serve until the input ends."""
    replay = Replay(Path(arguments[0]))
    with ModelServer(latency=float(arguments[1]), embedding_width=WIDTH) as server:
        server.reply("extract", replay.extract)
        server.reply("report", replay.report)
        print(server.url, flush=True)
        for line in sys.stdin:
            if line.strip() == "reset":
                server.reset_counts()
                print("{}", flush=True)
                continue
            counts = {
                kind: {
                    "calls": counted.calls,
                    "tokens_in": counted.prompt_tokens,
                    "tokens_out": counted.completion_tokens,
                    "at_once": counted.in_flight_max,
                }
                for kind, counted in server.counts.items()
            }
            print(json.dumps(counts), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
