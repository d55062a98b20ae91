"""Run every attack at full numbers, and print the table promise x trials x violations.

    python benchmarks/hardening/report.py [--part 1.0] [--only NAME]

``--part 0.1`` makes a tenth of the trials. The table is Markdown, for docs/results.md. The exit code is 1 when a
promise was broken. What the attacks say while they run goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple


class Attack(NamedTuple):
    """A script of this folder.

    Args:
        name: the script.
        trials: how many trials are made.
        unit: what a trial is.
        promise: what must hold in each of them.
    """

    name: str
    trials: int
    unit: str
    promise: str


ATTACKS = (
    Attack(
        "simulate", 1200, "runs of three processes with faults",
        "whatever fails, the file holds every acknowledged change and no part of another; readers see whole changes; "
        "what was forgotten is in no file",
    ),
    Attack(
        "kills", 1000, "kills",
        "`kill -9` at random moments loses nothing that was acknowledged, and leaves nothing half done",
    ),
    Attack(
        "interrupts", 2000, "interrupts",
        "after Ctrl-C the same object shows what its file holds, holds no lock, and goes on working",
    ),
    Attack(
        "deadlocks", 1, "pairs of public calls",
        "two threads, or coroutines, never wait for each other for ever",
    ),
    Attack(
        "histories", 10_000, "histories",
        "the graph is the fold of what is left, and recall is that of a memory made anew",
    ),
)  # fmt: skip


def run(attack: Attack, part: float) -> dict[str, Any]:
    """Run an attack in a process of its own, and return its result."""
    trials = max(1, round(attack.trials * part))
    script = Path(__file__).with_name(f"{attack.name}.py")
    command = [sys.executable, str(script), "--json", "--trials", str(trials)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    try:
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise SystemExit(f"{attack.name} ended with {done.returncode}:\n{done.stdout}") from None
    return result


def main() -> int:
    """Run the attacks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", type=float, default=1.0, help="this part of all trials")
    parser.add_argument("--only", choices=[attack.name for attack in ATTACKS], help="one of the attacks")
    arguments = parser.parse_args()
    rows, violations = [], []
    for attack in ATTACKS:
        if arguments.only not in (None, attack.name):
            continue
        print(f"== {attack.name}", file=sys.stderr, flush=True)
        result = run(attack, arguments.part)
        notes = ", ".join(f"{name} {count:,}" for name, count in sorted(result["notes"].items()))
        print(f"{result['trials']:,} trials in {result['seconds']:.0f} s of processor time: {notes}", file=sys.stderr)
        command = f"`python benchmarks/hardening/{attack.name}.py`"
        count = len(result["violations"])
        rows.append(f"| {attack.promise} | {result['trials']:,} {attack.unit} | {count:,} | {command} |")
        violations += [f"{attack.name} {seed}: {what}" for seed, what in result["violations"]]
    print("| promise | trials | violations | command |\n|---|---|---|---|")
    print(*rows, sep="\n")
    for violation in violations[:50]:
        print(violation, file=sys.stderr)
    return bool(violations)


if __name__ == "__main__":
    sys.exit(main())
