"""Index the example documents and answer a local and a global question: no key, no network.

``make demo`` runs it. Nothing is left behind: the index goes to a temporary folder.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOCAL = "Which ship carried Ernest Shackleton to Antarctica in 1907?"
GLOBAL = "What are the main themes of these documents?"


def main() -> int:
    """Run the commands that a reader of the README would type."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "polar"
        shutil.copytree(HERE / "polar", project, ignore=shutil.ignore_patterns(".holodeck"))
        for command in (
            ["index"],
            ["search", "--mode", "local", LOCAL],
            ["search", "--mode", "global", GLOBAL],
        ):
            shown = " ".join(f'"{part}"' if " " in part else part for part in command)
            print(f"\n$ holodeck {shown}", flush=True)
            code = subprocess.call([sys.executable, "-m", "holodeck", *command], cwd=project)
            if code:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
