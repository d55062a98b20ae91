"""Every agent with a chat model on worlds of every kind: does it play, and does its recording play the same again?

    python benchmarks/bench_agents.py [--model NAME] [--steps 40] [--out FOLDER]

Without --model the fake player answers, which fits any schema and knows nothing. With one, the usual configuration
holds (WORLDTHREAD_BASE_URL and so on). Prints a line for every agent and game: decisions, the share of actions that
the world offered, answers that could not be used, calls and tokens, and milliseconds of a decision without model and
world (p50, p95). Then every run is replayed from its recording, which must give the same bytes without a call.
Zork 1 is looked for in $WORLDTHREAD_GAMES, and left out with NetHack when it is not at hand.
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


def is_there(game: str) -> bool:
    from worldthread.envs import make
    from worldthread.errors import WorldthreadError

    try:
        make(game, seed=1).close()
    except WorldthreadError as error:
        print(f"without {game}: {error}", file=sys.stderr)
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="fake", help="who answers")
    parser.add_argument("--steps", type=int, default=40, help="moves of a run")
    parser.add_argument("--agents", default=",".join(AGENTS))
    parser.add_argument("--games", default=",".join(GAMES))
    parser.add_argument("--max-tokens", type=int, help="limit of an answer")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--out", type=Path, help="folder that keeps the runs; one that was begun goes on")
    given = parser.parse_args()
    games = [game for game in given.games.split(",") if is_there(game)]
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
