"""Count the labelled facts of messages that an extractor states, and what it states beside them.

    python benchmarks/bench_reader.py [FILE ...] [--extractor NAME] [--least P ...]

The messages are those of training/held_back, or of the files given. A fact and a label are the same where their
subjects share half of their words, and their relations and objects, too: a hint only, for the judgement of people is
stricter in some and milder in other cases. With --least the trained reader states what it is so sure of. Prints a line
of JSON for each limit.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from worldthread import Fact
from worldthread.extract.base import Extractor
from worldthread.extract.groups import EpisodeGroup, GroupExtractor
from worldthread.extract.reader.extractor import ReaderExtractor
from worldthread.extract.registry import EXTRACTORS, extractor
from worldthread.types import Episode

HELD_BACK: Final = Path(__file__).parents[1] / "training" / "held_back"
SAME: Final = 0.5
_COMMON: Final = frozenset(["a", "an", "the", "to", "of", "in", "at", "is", "are", "was", "has", "have", "had"])
_ENDINGS: Final = ("ing", "ied", "ies", "ed", "es", "s")


def words(text: str) -> Counter[str]:
    """Return the words of a text that tell, without their endings."""
    found = []
    for word in re.findall(r"\w[\w'’.:-]*", text.lower().replace("'s", " ")):
        ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) > 2), "")
        found.append(word.removesuffix(ending))
    return Counter(word for word in found if word not in _COMMON) or Counter(found)


def shared(first: Counter[str], second: Counter[str]) -> float:
    """Return how much of two texts is the same, in [0, 1]: the F1 of their words."""
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


def are_same(stated: tuple[str, str, str], label: tuple[str, str, str]) -> bool:
    """Return whether a fact says what a label says."""
    subjects = shared(words(stated[0]), words(label[0]))
    objects = shared(words(stated[2]), words(label[2]))
    rest = shared(words(" ".join(stated[1:])), words(" ".join(label[1:])))
    return subjects >= SAME and objects >= 0.3 and subjects * rest >= SAME


def messages(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def facts_of(reads: Extractor, message: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the facts that an extractor states of a message, without their times."""
    at = datetime.fromisoformat(message["time"]).replace(tzinfo=UTC).timestamp()
    episode = Episode(f"{message['speaker']}: {message['text']}", at, speaker=message["speaker"])
    if isinstance(reads, GroupExtractor):
        [extraction] = reads.extract_group(EpisodeGroup((episode,), tuple(message["before"])))
    else:
        extraction = reads.extract(episode.text, message["speaker"], at)
    return [(one.subject, one.relation, one.object) for one in extraction.statements if isinstance(one, Fact)]


def counted(reads: Extractor, paths: Sequence[Path]) -> dict[str, int]:
    counts = Counter[str]()
    for message in messages(paths):
        stated = facts_of(reads, message)
        parts = [[part.strip() for part in event.split("|")] for event in message["events"]]
        labels = [(subject, relation, thing) for _, subject, relation, thing, *_ in parts]
        counts["labels"] += len(labels)
        counts["stated"] += len(stated)
        counts["labels_found"] += sum(any(are_same(fact, label) for fact in stated) for label in labels)
        counts["stated_as_labelled"] += sum(any(are_same(fact, label) for label in labels) for fact in stated)
    return dict(counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*", default=sorted(HELD_BACK.glob("*.jsonl")))
    parser.add_argument("--extractor", choices=sorted(EXTRACTORS), default="reader")
    parser.add_argument("--least", type=float, nargs="+", default=[])
    parser.add_argument("--folder", type=Path, help="another model of the trained reader")
    options = parser.parse_args()
    folder = {} if options.folder is None else {"folder": options.folder}
    for least in options.least or [None]:
        limit = {} if least is None else {"least": least}
        made = ReaderExtractor(**folder, **limit) if options.extractor == "reader" else extractor(options.extractor)
        assert made is not None
        print(json.dumps({"extractor": options.extractor, **limit, **counted(made, options.files)}), flush=True)


if __name__ == "__main__":
    main()
