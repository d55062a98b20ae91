"""Count how many of the facts that short texts should give are stated: news, mails, notes and documentation.

    python benchmarks/prose_yield.py benchmarks/language/prose_development.toml [--show]

The texts bring the words of their facts, written before any rule: a fact counts as found when its subject, relation and
object have the words on the left of the bar, and all its words and days those on the right. What is stated beside them
is counted as other; it is not judged. --show prints what is missed and what is stated.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections import Counter
from pathlib import Path

from draw_facts import Draw, facts_of, interval, mail_texts, sentences

WORD = re.compile(r"[\w'/.-]*\w")


def words(text: str) -> set[str]:
    """Return the words of a text in lower case."""
    return set(WORD.findall(text.lower()))


def states(draw: Draw, expected: str) -> bool:
    """Return whether a fact says what is expected."""
    subject, _, rest = expected.partition(" | ")
    stated = str(draw.version.statement)
    return words(subject) <= words(stated) and words(rest) <= words(f"{stated} {interval(draw.version)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", action="store_true", help="print what is missed and what is stated")
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    kinds: dict[str, None] = {}
    for row in tomllib.loads(options.file.read_text(encoding="utf-8"))["text"]:
        kind = row["kind"]
        kinds.setdefault(kind)
        for text in mail_texts(row["content"], str(options.file)):
            found = facts_of(text)
            hits = {fact: [d for d in found if states(d, fact)] for fact in row["facts"]}
            used = {id(draw) for draws in hits.values() for draw in draws}
            counts[kind, "found"] += sum(bool(draws) for draws in hits.values())
            counts[kind, "expected"] += len(hits)
            counts[kind, "facts"] += len(found)
            counts[kind, "other"] += sum(id(draw) not in used for draw in found)
            counts[kind, "sentences"] += sum(len(sentences(part)) for part in text.parts)
            if options.show:
                for fact in (fact for fact, draws in hits.items() if not draws):
                    print(f"{kind}: missed {fact}")
                for draw in found:
                    print(f"{kind}: {'states' if id(draw) in used else 'other'} {draw.version.statement}")
    for kind in kinds:
        found_facts, expected, facts, other, size = (
            counts[kind, what] for what in ("found", "expected", "facts", "other", "sentences")
        )
        print(f"{kind}: {found_facts} of {expected} found; {facts} facts of {size} sentences, {other} others")


if __name__ == "__main__":
    main()
