"""Asks the questions of ``benchmarks/asking`` without a model, and counts right answers and right refusals.

    python benchmarks/bench_asking.py --half development --show-failures
    python benchmarks/bench_asking.py --half held_back
    python benchmarks/bench_asking.py --half details_development
    python benchmarks/bench_asking.py --half details_held_back

An answer is right when it has one of the expected words and at most four words more, so that a whole sentence does
not count; and "found" when it has one of them at all. Of the half that is held back, only counts are printed.
"""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path
from typing import Any, Final

from worldthread import Memory

HALVES: Final = ("development", "held_back", "details_development", "details_held_back")
FOLDER: Final = Path(__file__).parent / "asking"
LONGER: Final = 4
AT: Final = "2024-05-02"


def filled(memory: Memory, row: dict[str, Any]) -> None:
    """Remember what a row of the file says."""
    for subject, relation, object_, at in row.get("facts", ()):
        memory.remember([(subject, relation, object_)], at=at)
    for text in row.get("texts", ()):
        memory.remember(text, at=AT)
    messages = [{"speaker": speaker, "content": content} for speaker, content in row.get("messages", ())]
    if messages:
        memory.remember(messages, at=AT, source="talk")


def outcome(text: str | None, expected: list[str]) -> str:
    """Return what an answer is: right, found, wrong, refused, or rightly refused."""
    if text is None:
        return "refused" if expected else "rightly refused"
    fitting = [answer for answer in expected if answer.casefold() in text.casefold()]
    if not fitting:
        return "wrong" if expected else "answered"
    return "right" if any(len(text.split()) <= len(answer.split()) + LONGER for answer in fitting) else "found"


def main() -> None:
    """Print the counts of one half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=HALVES, default="development")
    parser.add_argument("--show-failures", action="store_true", help="of a development half only")
    options = parser.parse_args()
    if options.show_failures and options.half.endswith("held_back"):
        parser.error("failures are shown of the development halves only")
    counts: dict[str, int] = {}
    rows = tomllib.loads((FOLDER / f"{options.half}.toml").read_text(encoding="utf-8"))["memories"]
    for row in rows:
        with Memory(model="none") as memory:
            filled(memory, row)
            for question in row["questions"]:
                answer = memory.ask(question["question"])
                what = outcome(answer.text, question["answers"])
                counts[what] = counts.get(what, 0) + 1
                if options.show_failures and what not in ("right", "rightly refused"):
                    print(f"{what}: {question['question']} -> {answer.text} ({answer.confidence:.2f})")
    print(options.half, dict(sorted(counts.items())))


if __name__ == "__main__":
    main()
