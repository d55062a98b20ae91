"""Measure the extraction of prose without a model: passages of 100 words per second, and one long line.

Passages come from a JSON Lines file (gzip or plain; with "text" and optionally "title", or conversations with
"sessions" of turns), or are generated without one.

    python benchmarks/bench_prose.py [FILE] [--messages N] [--json]

With --messages, the first N texts are read as messages instead, by rule and by parser in turns: processor time a
message, the time of the parser's first use and the resident memory that it adds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import time
from pathlib import Path

from worldthread.extract.base import Extractor
from worldthread.extract.parsed.extractor import ParsedExtractor
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.types import Fact, Thesis

GENERATED = (
    "Place {n}\nPlace {n} is a town in Region {r}, founded in {y} by Anna Lee. She was born in Harbour City and moved "
    "to Place {n} as a child. The town has a museum, two schools and an old bridge across the river. Its mayor is Bob "
    "Hill, who was elected in May 2015; critics say that he may leave before the next election. "
)
LINE = 10_000_000  # characters
FIRST = "My sister lives in Ghent."  # makes the parser load
NOW = 1_700_000_000.0  # seconds since 1970
TURNS = 3


def passages(file: Path | None) -> list[str]:
    """Return the texts, with the title in the first line if there is one."""
    if file is None:
        return [GENERATED.format(n=n, r=n % 7, y=1800 + n % 200) for n in range(2000)]
    data = file.read_bytes()
    lines = (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    if rows and "sessions" in rows[0]:
        return [
            turn["text"] for row in rows for session in row["sessions"] for turn in session["turns"] if turn["text"]
        ]
    return [f"{row['title']}\n{row['text']}" if "title" in row else str(row["text"]) for row in rows]


def resident_megabytes() -> float:
    """Return the memory of this process that is in RAM (Linux only)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def seconds_to_read(extractor: Extractor, messages: list[str]) -> float:
    """Return the processor time to read messages of one speaker."""
    start = time.process_time()
    for message in messages:
        extractor.extract(f"Anna: {message}", "Anna", NOW)
    return time.process_time() - start


def read_messages(messages: list[str]) -> dict[str, float]:
    """Read messages by rule and by parser; the best of three turns counts."""
    rules = ProseExtractor()
    seconds_to_read(rules, [FIRST])
    before = resident_megabytes()
    first = seconds_to_read(ParsedExtractor(), [FIRST])
    # A new parser each turn: one keeps what it has read.
    turns = [(seconds_to_read(rules, messages), seconds_to_read(ParsedExtractor(), messages)) for _ in range(TURNS)]
    by_rule, by_parser = (min(seconds) for seconds in zip(*turns, strict=True))
    hundreds = sum(len(message.split()) for message in messages) / 100
    return {
        "messages": len(messages),
        "words_per_message": round(100 * hundreds / len(messages), 1),
        "milliseconds_per_message_by_rule": round(1000 * by_rule / len(messages), 2),
        "milliseconds_per_message_by_parser": round(1000 * by_parser / len(messages), 2),
        "passages_of_100_words_per_cpu_second_by_rule": round(hundreds / by_rule, 1),
        "passages_of_100_words_per_cpu_second_by_parser": round(hundreds / by_parser, 1),
        "seconds_for_first_use_of_parser": round(first, 2),
        "megabytes_that_the_parser_adds": round(resident_megabytes() - before, 1),
    }


def show(result: dict[str, float], as_json: bool) -> None:
    """Print what was measured as JSON or as a table."""
    if as_json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name.replace('_', ' '):48} {value}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="JSON Lines file of passages")
    parser.add_argument("--messages", type=int, metavar="N", help="read the first N texts as messages")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    texts = passages(options.file)
    if options.messages:
        show(read_messages(texts[: options.messages]), options.json)
        return
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
    show(result, options.json)


if __name__ == "__main__":
    main()
