"""Write down what the rules hold and end: the pairs on which a model for what ends is trained and measured.

    python benchmarks/endings_by_rule.py FOLDER [--only a b ... l development conversations patterns] [--first SCENES]

Writes into the folder:

* ``scenes_a.json`` ...: the scenes of a writer (``benchmarks/language/training/changes_*.jsonl``), each with the facts
  that the rules take from what was said before, the message that states them, and whether the rules end them. Prints
  how many of these facts end rightly and wrongly. --first reads only the first scenes of a writer.
* ``development.json``: the changes, look-alikes and corrections of ``bench_language.py`` with their facts. The unseen
  half of the fifth set takes part, by decision; that of no other set is read.
* ``conversations.json``: for 200 turns each of four conversations of LoCoMo ($WORLDTHREAD_DATA) every fact of the
  speaker, and of whom the turn names.
* ``patterns.json``: pairs made from patterns.

``tune_changes.py`` reads them, which needs PyTorch and not the rules.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench_language import FIRST, LATER, has_words, new_memory, read, tell, tell_all, unended, with_days
from rich.progress import track
from train_changes import FOLDER, GROUPS, Patterns

from worldthread import Fact
from worldthread.extract.parsed.learned_endings import named_facts
from worldthread.extract.parsed.statement_texts import statement_text

SETS = ("changes", "changes_own", "changes_third", "changes_plain", "changes_varied", "changes_fifth", "corrections")
TURNS, CONVERSATIONS = 200, 4


def scene(told: dict[str, Any]) -> dict[str, Any]:
    """Return a scene with its facts that hold when it is told what has changed."""
    found: dict[Fact, int] = {}
    with new_memory() as memory:
        for place, text in enumerate(told["before"]):
            tell(memory, text, FIRST, told["speaker"])
            for fact in memory.view().facts():
                found.setdefault(fact, place)
        held = unended(memory, LATER)
        tell(memory, told["now"], LATER, told["speaker"])
        last = unended(memory, LATER)
    facts = [
        {"place": place, "statement": statement_text(fact, told["speaker"]), "ruled": fact not in last}
        for fact, place in found.items()
        if fact in held
    ]
    return {**told, "facts": facts}


def scenes(writer: str, first: int | None = None) -> list[dict[str, Any]]:
    lines = (FOLDER / f"changes_{writer}.jsonl").read_text(encoding="utf-8").splitlines()[:first]
    return [scene(json.loads(line)) for line in track(lines, f"writer {writer}", transient=True)]


def counted(told: list[dict[str, Any]]) -> str:
    """Return how many facts of scenes end rightly and wrongly, in words."""
    facts = [
        (one["place"] in scene["ended"] + scene["corrected"], one["ruled"]) for scene in told for one in scene["facts"]
    ]
    count = Counter(facts)
    right, wrong = count[True, True], count[False, True]
    over, held = right + count[True, False], wrong + count[False, False]
    return f"{right} of {over} facts that end are ended, and {wrong} of {held} that hold"


def entries(name: str, half: str) -> Iterator[tuple[str, str, Any, str, str, list[str]]]:
    """Yield kind, speaker, messages before, message, words of what ends and of what does not."""
    data = read(name, half)
    plain = name in ("changes", "changes_own")
    for entry in data.get("changes", ()):
        speaker, (before, now, words, *others) = ("user", entry) if plain else (entry[1], entry[2:])
        yield "change", speaker, before, now, words, others
    for entry in data["look_alikes"]:
        before, now, speaker = (*entry, "user")[:3] if plain else (*entry[1:], entry[0])
        yield "look-alike", speaker, before, now, "", []
    for entry in data.get("corrections", ()):
        speaker, (before, now, words) = ("user", entry) if plain else (entry[0], entry[1:])
        yield "correction", speaker, before, now, words, []


def development() -> Iterator[dict[str, Any]]:
    """Yield the entries of the development sets, each with the facts that hold and whether the rules end them."""
    halves = [(name, "development") for name in SETS] + [("changes_fifth", "unseen")]
    for name, half in halves:
        for kind, speaker, before, now, words, others in entries(name, half):
            with new_memory() as memory:
                tell_all(memory, before, FIRST, speaker)
                first = [statement for statement in unended(memory, LATER) if isinstance(statement, Fact)]
                tell(memory, now, LATER, speaker)
                last = unended(memory, LATER)
            facts = [
                {
                    "statement": statement_text(fact, speaker),
                    "hit": bool(words) and has_words(with_days(fact), words),
                    "other": any(has_words(fact, other) for other in others),
                    "ruled": fact not in last,
                }
                for fact in sorted(first, key=str)
            ]
            yield {"set": f"{name} {half}", "kind": kind, "speaker": speaker, "now": now, "facts": facts}


def conversations() -> Iterator[dict[str, Any]]:
    """Yield every pair of a turn and a fact that holds, with the number of the turn."""
    path = Path(os.environ["WORLDTHREAD_DATA"]) / "locomo" / "dev.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows[:CONVERSATIONS]:
        turns = [
            (datetime.strptime(session["date_time"].upper(), "%I:%M %p ON %d %B, %Y").replace(tzinfo=UTC), turn)
            for session in row["sessions"]
            for turn in session["turns"]
        ]
        with new_memory() as memory:
            for number, (at, turn) in enumerate(turns[:TURNS]):
                speaker, text, view = turn["speaker"], turn["text"], memory.view()
                for fact in dict.fromkeys([*view.facts(subject=speaker), *named_facts(text, speaker, view)]):
                    pair = {"speaker": speaker, "now": text, "statement": statement_text(fact, speaker)}
                    yield {"conversation": row["id"], "turn": number, "fact": str(fact), **pair}
                tell(memory, text, at, speaker)


def patterns() -> Iterator[dict[str, Any]]:
    for row in Patterns().rows(GROUPS, 1):
        yield {"speaker": "user", "statement": row.statement, "now": row.message, "label": row.label}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=[*"abcdef", "development", "conversations", "patterns"])
    parser.add_argument("--first", type=int, help="how many scenes of a writer are read")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    others = {"development": development, "conversations": conversations, "patterns": patterns}
    for name in options.only:
        found = list(others[name]()) if name in others else scenes(name, options.first)
        path = options.folder / (f"{name}.json" if name in others else f"scenes_{name}.json")
        path.write_text(json.dumps(found), encoding="utf-8")
        print(f"{path.name}: {len(found)}{'' if name in others else f'; {counted(found)}'}", flush=True)


if __name__ == "__main__":
    main()
