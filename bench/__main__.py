"""Run the benchmarks: ``python -m bench [NAME ...] [--data DIR]``."""

from __future__ import annotations

import argparse
from pathlib import Path

from bench import communities, estimate, fusion, gold, index, query, replies, retrieval, vector

BENCHES = {
    "estimate": estimate.run,
    "gold": gold.run,
    "replies": replies.run,
    "retrieval": retrieval.run,
    "fusion": fusion.run,
    "query": query.run,
    "index": index.run,
    "communities": communities.run,
    "vector": vector.run,
}
"""Name → function of the folder with data from outside, or None."""


def main() -> None:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *BENCHES], default=[])
    parser.add_argument("--data", type=Path, help="a folder with data from outside")
    options = parser.parse_args()
    for name in options.names or BENCHES:
        print(f"\n== {name}\n")
        BENCHES[name](options.data)


if __name__ == "__main__":
    main()
