"""Replay the published logs of AriGraph's agent through the faithful reader and our graph, and print the figures.

    python benchmarks/replay_ariadne.py [DATA] [--json]

``DATA`` is a folder with ``ariadne_logs`` and, if at hand, ``musique_logs``; by default ``data`` of
``$WORLDTHREAD_SHARED``, else of ``../shared``.
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
    parser = argparse.ArgumentParser(description="Replay the published logs of AriGraph's agent.")
    parser.add_argument("data", type=Path, nargs="?", default=shared / "data")
    parser.add_argument("--json", action="store_true")
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
