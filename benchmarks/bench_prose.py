"""Measure the extraction of prose without a model: passages of 100 words per second, and one long line.

Passages come from a JSON Lines file (gzip or plain; with "text" and optionally "title"), or are generated without one.

    python benchmarks/bench_prose.py [FILE] [--json]
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from pathlib import Path

from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.types import Fact, Thesis

GENERATED = (
    "Place {n}\nPlace {n} is a town in Region {r}, founded in {y} by Anna Lee. She was born in Harbour City and moved "
    "to Place {n} as a child. The town has a museum, two schools and an old bridge across the river. Its mayor is Bob "
    "Hill, who was elected in May 2015; critics say that he may leave before the next election. "
)
LINE = 10_000_000  # characters


def passages(file: Path | None) -> list[str]:
    """Return the texts, with the title in the first line if there is one."""
    if file is None:
        return [GENERATED.format(n=n, r=n % 7, y=1800 + n % 200) for n in range(2000)]
    data = file.read_bytes()
    lines = (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return [f"{row['title']}\n{row['text']}" if "title" in row else str(row["text"]) for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="JSON Lines file of passages")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    texts = passages(options.file)
    extractor = ProseExtractor()
    extractor.extract(texts[0])  # loads the word lists
    wall, cpu = time.perf_counter(), time.process_time()
    extractions = [extractor.extract(text) for text in texts]
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    hundreds = sum(len(text.split()) for text in texts) / 100
    line = " ".join(texts).replace("\n", " ")
    line = (line * (LINE // len(line) + 1))[:LINE]
    start = time.perf_counter()
    long_extraction = extractor.extract(line)
    result = {
        "passages": len(texts),
        "passages_of_100_words_per_second": round(hundreds / wall, 1),
        "passages_of_100_words_per_cpu_second": round(hundreds / cpu, 1),
        "facts": sum(isinstance(s, Fact) for r in extractions for s in r.statements),
        "theses": sum(isinstance(s, Thesis) for r in extractions for s in r.statements),
        "endings": sum(len(r.endings) for r in extractions),
        "seconds_for_one_line_of_10_MB": round(time.perf_counter() - start, 1),
        "statements_of_that_line": len(long_extraction.statements),
    }
    if options.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name.replace('_', ' '):42} {value}")


if __name__ == "__main__":
    main()
