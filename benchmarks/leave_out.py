"""Measure what each part of the reader with a parser buys, by leaving it out.

    python benchmarks/leave_out.py facts [--without PART ...]
    python benchmarks/leave_out.py endings [--without PART ...]

``facts`` reads the messages in training/held_back, whose writers no rule was written for, and compares what is stated
with the labels: a fact and a label are the same where their subjects share half of their words, and their relations
and objects, too. ``endings`` counts the changes, look-alikes and corrections of ``bench_language.py`` (unseen halves).
Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any, Final

import bench_language
from bench_reader import HELD_BACK, counted

import worldthread.extract.parsed.extractor as reader

SETS: Final = ("changes", "changes_third", "changes_plain", "corrections")


def _nothing(*_: Any, **__: Any) -> tuple[()]:
    return ()


def _none(*_: Any, **__: Any) -> None:
    return None


def _module(**values: Any) -> None:
    for name, value in values.items():
        assert hasattr(reader, name), name
        setattr(reader, name, value)


def _passages(**values: Any) -> None:
    for name, value in values.items():
        assert hasattr(reader._ParsedPassageExtractor, name), name
        setattr(reader._ParsedPassageExtractor, name, value)


def _without_dated_sentences() -> None:
    _passages(_with_dated_sentence=lambda _self, _doc, stated, *_: stated, _of_clauses_with_times=_nothing)


PARTS: Final[dict[str, Callable[[], None]]] = {
    "simple_sentences": lambda: _passages(_of_simple_sentences=lambda _self, _doc, _simple, _persons, stated: stated),
    "whole_clauses": lambda: _passages(_of_whole_clauses=_nothing),
    "plain_sentences": lambda: _module(_plainly=_nothing),
    "dated_sentences": _without_dated_sentences,
    "dated": lambda: _module(with_dated=lambda _doc, read, *_: read.facts),
    "segments": lambda: _passages(_of_clauses_alone=_nothing),
    "assertions": lambda: _passages(_asserted=_nothing),
    "sole_statements": lambda: _module(sole_statement=_nothing, living_alone=_nothing),
    "completeness": lambda: _module(whole_facts=lambda _doc, _read, stated, *_: stated),
    "probable": lambda: _module(probable_facts=lambda readings, **_: tuple(one.stated for one in readings)),
    "fact_judge": lambda: _module(meant_facts=lambda facts, *_: facts, fact_judge=_none),
    "joined_objects": lambda: _module(without_joined_clause=lambda _doc, one: one),
    "persons_within": lambda: _module(with_person_within=lambda _doc, _read, _found, referents: referents),
    "figurative": lambda: _module(_is_figurative=lambda _: False),
    "phrased_endings": lambda: _module(phrased_endings=_nothing),
    "withheld_endings": lambda: _module(withheld=_nothing),
    "amendments": lambda: _module(amendment_of=_none),
    "corrections": lambda: _module(correction_of=_none),
    "changes": lambda: _module(changes_of=_nothing),
    "contradicted_facts": lambda: _module(contradicted_facts=_nothing),
}


def facts() -> dict[str, int]:
    """Count what is stated of the messages that were held back."""
    return counted(reader.ParsedExtractor(), [HELD_BACK / "g.jsonl", HELD_BACK / "l.jsonl"])


def endings() -> dict[str, dict[str, int]]:
    """Count the changes, look-alikes and corrections that are judged right and wrong."""
    verdicts = [verdict for part in SETS for verdict in bench_language.PARTS[part]("unseen")]
    table = bench_language.figures(verdicts)
    return {part: {name: row[name] for name in ("entries", "right", "wrong")} for part, row in table.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("facts", "endings"))
    parser.add_argument("--without", choices=PARTS, nargs="+", default=[], help="the parts that are left out")
    options = parser.parse_args()
    for part in options.without:
        PARTS[part]()
    found = facts() if options.what == "facts" else endings()
    print(json.dumps({"without": options.without, **found}))


if __name__ == "__main__":
    main()
