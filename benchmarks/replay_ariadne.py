"""Replay the published logs of AriGraph's agent with the faithful extractor and our graph.

    python benchmarks/replay_ariadne.py [DATA] [--json]

Prints how many steps our graph reproduces, the causes of all differences, and how the texts of the model are parsed.
DATA is a folder with ariadne_logs and optionally musique_logs; by default data in $WORLDTHREAD_SHARED, else in
../shared.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from rich.console import Console

from worldthread.bench.arigraph.logs import format_report, replay


def main() -> None:
    shared = Path(os.environ.get("WORLDTHREAD_SHARED") or Path(__file__).parents[2] / "shared")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=shared / "data", help="folder of the logs")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    questions = options.data / "musique_logs"
    with Console(stderr=True).status("reading the logs") as status:
        report = replay(
            options.data / "ariadne_logs",
            questions if questions.is_dir() else None,
            watch=lambda phase: status.update(f"replaying: {phase}"),
        )
    print(json.dumps(report.to_dict(), indent=1) if options.json else format_report(report))


if __name__ == "__main__":
    main()
