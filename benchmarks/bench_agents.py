"""Play every agent with a chat model in games of every kind, and replay the recordings.

    python benchmarks/bench_agents.py [--model NAME] [--steps 40] [--out FOLDER]

Without --model the fake player answers at random with whatever fits the schema. With --model the usual configuration
applies (WORLDTHREAD_BASE_URL and so on). Prints a JSON line for every agent and game: decisions, the share of actions
that the world offered, unusable answers, calls and tokens, and the milliseconds of a decision without model and world
(p50, p95). Then replays every run from its recording, which must give the same bytes without a call of the model.
Zork 1 is searched for in $WORLDTHREAD_GAMES; it and NetHack are left out when they are missing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

AGENTS = ("ariadne", "react", "reflexion", "icrl", "ige", "glow", "reflact")
GAMES = ("treasure-hunt", "cooking", "zork1", "nethack")
COLUMNS = ("moves", "decisions", "best_score", "valid_share", "invalid", "unparsable", "model_calls", "prompt_tokens")


def is_available(game: str) -> bool:
    from worldthread.errors import WorldthreadError
    from worldthread_lab.envs import make

    try:
        make(game, seed=1).close()
    except WorldthreadError as error:
        print(f"{game} is left out: {error}", file=sys.stderr)
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="fake", help="the chat model; fake answers at random")
    parser.add_argument("--steps", type=int, default=40, help="moves of a run (default: 40)")
    parser.add_argument("--agents", default=",".join(AGENTS), help="names with commas between them")
    parser.add_argument("--games", default=",".join(GAMES), help="names with commas between them")
    parser.add_argument("--max-tokens", type=int, help="tokens of an answer, at most")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: 2)")
    parser.add_argument("--out", type=Path, help="folder for the runs; a sweep in it is resumed")
    given = parser.parse_args()
    games = [game for game in given.games.split(",") if is_available(game)]
    worldthread = [str(Path(sys.executable).with_name("worldthread"))]
    with tempfile.TemporaryDirectory() as folder:
        out = given.out or Path(folder)
        command = [*worldthread, "sweep", *games, "--agent", given.agents, "--seeds", "1", "--steps", str(given.steps)]
        command += ["--model", given.model, "--jobs", str(given.jobs), "--no-audit", "--out", str(out)]
        if given.max_tokens is not None:
            command += ["--option", f"max_tokens={given.max_tokens}"]
        swept = subprocess.run(command, check=False)
        same = different = 0
        for file in sorted(out.rglob("summary.json")):
            summary = json.loads(file.read_bytes())
            replayed = subprocess.run([*worldthread, "replay", str(file.parent)], check=False, capture_output=True)
            same, different = same + (replayed.returncode == 0), different + (replayed.returncode != 0)
            line = {"agent": summary["agent"], "game": summary["game"], "model": summary["model"]}
            line |= {column: summary[column] for column in COLUMNS}
            print(json.dumps(line | {"overhead_ms": summary["overhead_ms"], "replayed": replayed.returncode == 0}))
        print(json.dumps({"replayed the same": same, "replayed otherwise": different}))
    sys.exit(swept.returncode or bool(different))


if __name__ == "__main__":
    main()
