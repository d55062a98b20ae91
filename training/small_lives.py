"""Small lives with questions: how they are stored and checked.

Check files::

    python training/small_lives.py training/answers/*.jsonl
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from worldthread.answering.pointing import Told

DAY: Final = 86_400.0


class Question(NamedTuple):
    """A question about what was told.

    Args:
        text: the question.
        now: the time that it is about.
        told: all messages up to then.
        source: the number of the message that answers; -1 for none.
        answer: the words of the message that answer; "yes" or "no"; empty for no answer.
    """

    text: str
    now: float
    told: tuple[Told, ...]
    source: int
    answer: str


def seconds(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


def questions_of(path: Path) -> Iterator[Question]:
    """Yield the questions of a file of small lives; what was asked without a time, some days after the last message."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        life = json.loads(line)
        told = tuple(Told(one.get("by", "user"), one["text"], seconds(one["at"])) for one in life["messages"])
        chance = random.Random(f"{path.stem} {number}")
        for row in life["questions"]:
            last = told[-1].at + DAY * chance.randint(1, 60)
            now = seconds(row["asked"]) if "asked" in row else last
            known = tuple(one for one in told if one.at <= now)
            if known:
                yield Question(row["question"], now, known, row.get("in", -1), row.get("answer") or "")


def problems_of(life: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a small life."""
    messages = life["messages"]
    days = [one["at"] for one in messages]
    if days != sorted(days):
        yield "the messages are not in order of time"
    for row in life["questions"]:
        answer, source = row.get("answer"), row.get("in")
        if answer is None:
            if source is not None:
                yield f"no answer, but a message: {row['question']}"
        elif not isinstance(source, int) or not 0 <= source < len(messages):
            yield f"no such message: {row['question']}"
        elif "asked" in row and days[source] > row["asked"]:
            yield f"asked before it was told: {row['question']}"
        elif answer not in ("yes", "no") and answer not in messages[source]["text"]:
            yield f"the answer does not stand in the message: {row['question']}"


def main() -> None:
    for name in sys.argv[1:]:
        lives = [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]
        answers = Counter(
            row["answer"] if row["answer"] in ("yes", "no", None) else "words"
            for one in lives
            for row in one["questions"]
        )
        print(f"{name}: {len(lives)} lives, {answers.total()} questions, {dict(answers)}")
        for number, life in enumerate(lives, 1):
            for problem in problems_of(life):
                sys.exit(f"{name}, line {number}: {problem}")


if __name__ == "__main__":
    main()
