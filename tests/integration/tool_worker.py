"""Builds and asks the tools of agents' files in this process, one after the other.

A process of its own for many small builds: the graph library takes seconds to import and changes
its whole process. Each line of stdin is a job, each line of stdout its result, both as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from holodeck.config.loader import load_agent
from holodeck.errors import HolodeckError
from holodeck.lib.graphrag.library import bare_process, quiet_environment
from holodeck.tools.vectorstore_tool import VectorStoreTool


async def work(file: Path, environ: Mapping[str, str], question: str) -> dict[str, Any]:
    """Build, ask as the tool is set, and where that can be, ask globally."""
    agent = load_agent(file, environ=environ)
    tool = VectorStoreTool(
        agent.tool_config(),
        str(agent.base_dir),
        agent.config.execution,
        agent_model=agent.config.model,
        environ=agent.environment,
        in_process=True,
    )
    try:
        await tool.initialize()
        first = await tool.retrieve(question)
        has_overview = "global" in tool.engine.modes
        overall = (
            await tool.retrieve("What is this about?", mode="global") if has_overview else None
        )
        return {"first": first, "overall": overall, "status": tool.status()}
    except HolodeckError as error:
        return {"error": str(error), "status": tool.status()}
    finally:
        await tool.close()


def main() -> None:
    """Do the jobs until stdin ends."""
    results = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # whatever else prints is no result
    quiet_environment()
    bare_process()
    for line in sys.stdin:
        job = json.loads(line)
        result = asyncio.run(work(Path(job["file"]), job["environ"], job["question"]))
        results.write(json.dumps(to_jsonable_python(result)) + "\n")
        results.flush()


if __name__ == "__main__":
    main()
