"""Builds indexes for a test, in a process of its own that imports the library once.

Each line on standard input is an order as JSON; for each, a line of JSON is printed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from typing import Any

from holodeck.lib.graphrag.engine import GraphRAGEngine
from holodeck.lib.graphrag.library import bare_process, quiet_environment
from holodeck.models.config import ExecutionConfig
from holodeck.models.llm import LLMProvider
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool

reasons: list[str] = []


class _Reasons(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if record.msg.startswith("building the index"):
            reasons.append(record.getMessage())


async def build(order: dict[str, Any]) -> dict[str, Any]:
    """Build or update one index and say what was done and why."""
    reasons.clear()
    engine = GraphRAGEngine(
        VectorstoreTool(
            name="k",
            engine="graphrag",
            source="docs",
            graphrag=GraphRAGConfig.model_validate(order["settings"]),
        ),
        order["base"],
        ExecutionConfig(concurrency=4),
        agent_model=LLMProvider.model_validate(
            {"provider": "openai", "name": "gpt-4o", "api_base": order["url"], "api_key": "k"}
        ),
        environ={},
        in_process=True,
    )
    await engine.initialize()
    storage = engine.storage
    await engine.close()
    return {
        "built": engine.was_built,
        "why": " ".join(reasons),
        "tables": str(storage.output_dir),
        "vectors": str(storage.vectors_dir),
        "record": json.loads(storage.metadata_path.read_text(encoding="utf-8")),
    }


def main() -> None:
    """Carry out orders until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    quiet_environment()
    bare_process()
    logger = logging.getLogger("holodeck")
    logger.setLevel(logging.INFO)
    logger.addHandler(_Reasons())
    for line in sys.stdin:
        print(json.dumps(asyncio.run(build(json.loads(line)))), file=answers)


if __name__ == "__main__":
    main()
