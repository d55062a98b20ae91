"""The labelled messages: how they are stored and checked.

Check the labels of a file::

    python training/messages.py training/messages/*.jsonl
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from worldthread.extract.reader.events import KINDS, TIME_KINDS


class Labelled(NamedTuple):
    """A message with what a careful reader noted of it.

    Args:
        writer: who wrote it; whole writers are kept back for measuring.
        time: when it was written, in ISO 8601.
        speaker: who says it, as called in the events.
        before: up to two earlier turns of the talk, each as "name: text".
        text: the message.
        events: the lines of LABELS.md, in the order of the message.
    """

    writer: str
    time: str
    speaker: str
    before: tuple[str, ...]
    text: str
    events: tuple[str, ...]


def read(path: Path) -> Iterator[Labelled]:
    """Yield the messages of a file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        before, events = tuple(row["before"]), tuple(row["events"])
        yield Labelled(path.stem, row["time"], row["speaker"], before, row["text"], events)


def problem_of(event: str) -> str | None:
    """Return what is wrong with the form of an event; ``None`` when nothing is."""
    parts = [part.strip() for part in event.split("|")]
    if len(parts) not in (4, 5):
        return "not four or five parts"
    if parts[0] not in KINDS:
        return f"no such kind: {parts[0]!r}"
    if not all(parts):
        return "an empty part"
    if len(parts) == 5 and not re.match(rf"(?:{'|'.join(TIME_KINDS[1:])}): \S", parts[4]):
        return f"no such time: {parts[4]!r}"
    return None


def main() -> None:
    for name in sys.argv[1:]:
        messages = list(read(Path(name)))
        kinds = Counter(event.partition(" | ")[0] for message in messages for event in message.events)
        empty = sum(not message.events for message in messages)
        print(f"{name}: {len(messages)} messages, {empty} with nothing to note, {kinds.total()} events {dict(kinds)}")
        for number, message in enumerate(messages, 1):
            for event in message.events:
                problem = problem_of(event)
                if problem is not None:
                    sys.exit(f"{name}, line {number}: {problem}: {event}")


if __name__ == "__main__":
    main()
