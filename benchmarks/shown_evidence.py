"""Measure, without a model, of how many questions the whole evidence is in what a model is shown.

    python benchmarks/shown_evidence.py [--data FOLDER] [--memory FOLDER] [--passages 7] [--json]

Asks the questions of musique_train over a memory of all its passages, as `worldthread bench qa` does, and counts the
gold passages among the quotations of the first prompt, and after look-ups. What a model would look up is not known
without one; the data has, for each link of a question, a question of its own. It stands for the query of the look-up,
with the names that earlier links give: of the first link whose passage is not shown yet, and of what follows from it if
there is a second look-up. Answers are not looked at.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from worldthread.answering import quotations as quoting
from worldthread.models.meter import CHARACTERS_PER_TOKEN
from worldthread.types import Episode, Hit
from worldthread_lab.bench.datasets import load
from worldthread_lab.bench.qa.dataset_memory import open_memory
from worldthread_lab.cli.answering import bench_embedder

_EARLIER = re.compile(r"#(\d)")
_LOOK_UPS = 2
_MAX_TOKENS = 3000


def link_query(links: Sequence[dict[str, Any]], number: int) -> str:
    """Return the question of a link, with the answers of earlier links for "#1"."""
    text = str(links[number]["question"]).replace(" >> ", " ")
    return _EARLIER.sub(lambda found: str(links[int(found[1]) - 1]["answer"]), text)


def sources(shown: Sequence[quoting.Quotation]) -> set[str]:
    return {one.hit.item.source for one in shown if isinstance(one.hit.item, Episode)}


def main() -> None:
    shared = Path(os.environ.get("WORLDTHREAD_SHARED") or Path(__file__).parents[2] / "shared")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=shared / "data" / "multihop")
    parser.add_argument("--memory", type=Path, default=Path("runs/qa"), help="folder of the memory; built if missing")
    parser.add_argument("--passages", type=int, default=quoting.PASSAGES, help="the most passages shown at first")
    parser.add_argument("--more", type=int, default=quoting.LOOK_UP_PASSAGES, help="the most passages of a look-up")
    parser.add_argument("-k", type=int, default=10, help="hits of each kind")
    parser.add_argument("--only", help="numbers of questions with commas between them, from 0; default: all")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON document")
    options = parser.parse_args()
    with gzip.open(options.data / "musique_train.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    numbers = range(len(rows)) if options.only is None else [int(part) for part in options.only.split(",")]
    dataset = load("musique_train", options.data, None, 0)
    memory, _, _ = open_memory(dataset, "none", options.memory, bench_embedder(None, cache=True))
    counts: Counter[str] = Counter()
    ranks: Counter[int] = Counter()
    with memory:

        def hits_of(query: str) -> tuple[Hit, ...]:
            return memory.recall(query, k=options.k, only_current=False).hits

        for number in numbers:
            row = rows[number]
            hop = f"{row['type'][0]} hops"
            gold = set(map(str, row["gold_ids"]))
            hits = hits_of(row["question"])
            order = [hit.item.source for hit in hits if isinstance(hit.item, Episode)]
            ranks.update(order.index(id_) + 1 if id_ in order else 0 for id_ in gold)
            shown = quoting.quotations(row["question"], hits, max_tokens=_MAX_TOKENS, passages=options.passages)
            counts["characters at first"] += sum(len(one.text) for one in shown)
            counts[f"{hop}: questions"] += 1
            look_ups = 0
            while not gold <= sources(shown) and look_ups < _LOOK_UPS:
                links = row["decomposition"]
                missing = next(n for n, link in enumerate(links) if str(link["gold_id"]) not in sources(shown))
                query = link_query(links, missing)
                more = quoting.quotations(
                    f"{row['question']} {query}", hits_of(query), max_tokens=_MAX_TOKENS // 2, known=shown,
                    passages=options.more, statements=quoting.LOOK_UP_STATEMENTS,
                )  # fmt: skip
                counts["characters of look-ups"] += sum(len(one.text) for one in more)
                shown = [*shown, *more]
                look_ups += 1
            counts["look-ups"] += look_ups
            if gold <= sources(shown):
                for allowed in range(look_ups, _LOOK_UPS + 1):
                    counts[f"all evidence, {allowed} look-ups allowed"] += 1
                    counts[f"{hop}: all evidence, {allowed} look-ups allowed"] += 1
    figures = {
        "questions": len(numbers),
        **dict(sorted(counts.items())),
        "tokens shown at first, each": round(counts["characters at first"] / CHARACTERS_PER_TOKEN / len(numbers)),
        "rank of gold passages (0: not found)": dict(sorted(ranks.items())),
    }
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:44}{value}")


if __name__ == "__main__":
    main()
