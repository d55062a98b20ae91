"""Measure the prompts for reading on recorded texts, without a model, and check what was read wrong in the record.

    python benchmarks/replay_reading.py [CALLS] [--show]

CALLS is a file of recorded calls (JSON Lines, gzip) of the first version of the prompts, as in
../shared/data/strong_model; by default the one in $WORLDTHREAD_SHARED. The eleven passages (eight texts, one of them a
chat of four messages) are taken from it and read into a memory with the present version, each at its date. The answers
are written by hand (below) after the recorded ones: they show what the prompt lets a model say, not what a model will
say. Tokens are counted as the meter estimates them: a token for each four characters of messages and answers, without
the schema. The prompts of the first version are rebuilt too and compared with the recorded ones byte for byte.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from worldthread import Fact, Memory
from worldthread.extract.model import FirstModelExtractor
from worldthread.models.chat import ChatRequest
from worldthread.models.fake_chat import FakeChat
from worldthread.models.meter import CHARACTERS_PER_TOKEN
from worldthread.models.request_key import recorded_request

_PASSAGE = re.compile(r"\[passage (\S+)\]\n(.*)\n\[end of passage \1\]", re.DOTALL)

EMPLOYER, HEAD, SEAT = "employer of Anna", "chief executive of Voltaris", "seat of Voltaris"
OWNER, STAFF, HOME = "owner of Voltaris", "number of employees of Voltaris", "home of Anna"


def fact(line: str, aspect: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a fact from "subject | relation | object", in the form that carries no more than it needs."""
    names = dict(zip(("subject", "relation", "object"), line.split(" | "), strict=True))
    if "never" in more:
        return {"never": True, **names}
    if more:
        return {"from": more.get("begin"), "until": more.get("until"), "aspect": aspect, **names}
    return names if aspect is None else {"aspect": aspect, **names}


def thesis(text: str, *objects: str) -> dict[str, Any]:
    """Return a thesis."""
    return {"text": text, "objects": list(objects)}


def one(facts: list[Any], *theses: Any, changed: tuple[str, ...] = (), same: tuple[Any, ...] = ()) -> dict[str, Any]:
    """Return the answer about one text."""
    return {"facts": facts, "theses": list(theses), "same": list(same), "changed": list(changed)}


def message(number: int, facts: list[Any], *theses: Any, changed: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the answer about one message."""
    return {"number": number, "facts": facts, "theses": list(theses), "changed": list(changed)}


TEXTS: dict[str, tuple[str, str]] = {
    "The battery maker": ("2024-03-04", "news 1"),
    "Anna: I've finally": ("2024-05-01T10:00", "chat"),
    "Marc: Nice": ("2024-05-01T10:02", "chat"),
    "Anna: Of course": ("2024-05-01T10:03", "chat"),
    "Anna: Moved": ("2024-05-20T18:30", "chat"),
    "Meeting of": ("2024-06-10", "notes 1"),
    "Atlas team,": ("2024-06-24", "notes 2"),
    "Helene Brandt wohnt": ("2024-07-20", "Portrait"),
    "Nordvik has": ("2024-09-05", "news 2"),
    "Anna called": ("2025-01-14", "diary"),
    "Voltaris has": ("2025-02-03", "news 3"),
}
"""Date and source of each passage by its beginning, as the recorded questions show them."""

READ: dict[str, dict[str, Any]] = {
    "The battery maker": one(
        [
            fact("Voltaris | is a | battery maker"),
            fact("Pierre Castel | is chief executive of | Voltaris", HEAD, until="2024-03-31"),
            fact("Helene Brandt | is chief executive of | Voltaris", HEAD, begin="2024-04-01"),
            fact("Voltaris | employs | 1,200 people", STAFF),
            fact("Voltaris | has its seat in | Leipzig", SEAT),
            fact("Voltaris | is owned by | Nordvik", OWNER),
            fact("Nordvik | is a | Norwegian fund"),
            fact("Helene Brandt | is aged | 46", "age of Helene Brandt"),
            fact("Helene Brandt | heads | Dresden plant of Silux", None, until="2024-02"),
            fact("Silux | is a | chip maker"),
        ]
    ),
    "Anna: I've finally": {
        "messages": [
            message(
                1,
                [
                    fact("Anna | has found a flat in | Ghent"),
                    fact("Anna | lives in | Ghent", HOME, begin="2024-05-15"),
                    fact("Anna | stays with | Jonas", None, until="2024-05-14"),
                    fact("Anna | stays in | Bruges", None, until="2024-05-14"),
                    fact("Jonas | is brother of | Anna"),
                    fact("Jonas | lives in | Bruges", "home of Jonas"),
                ],
            ),
            message(
                3,
                [
                    fact("Anna | owns dog | Rex"),
                    fact("Rex | goes wherever goes | Anna"),
                    fact("Rex | is allergic to | chicken"),
                ],
            ),
            message(
                4,
                [
                    fact("Anna | has address | Coupure 12", "address of Anna"),
                    fact("Anna | quit at | Delvaux"),
                    fact("Anna | works for | Barco", EMPLOYER, begin="2024-06"),
                ],
                changed=("Anna",),
            ),
        ],
        "same": [{"name": "Anna's dog", "same_as": "Rex"}],
    },
    "Meeting of": one(
        [
            *(fact(f"{name} | is member of | Atlas team") for name in ("Priya", "Tom", "Marc")),
            fact("Tom | is responsible for | Atlas parser", "responsible for Atlas parser"),
            fact("Atlas release | is planned for | 15 July 2024", "date of Atlas release"),
            fact("Marc | looks for | new test server"),
            fact("hydra | is test server of | Atlas team", "test server of Atlas team", until="2024-06-14"),
            fact("Atlas team | uses | PostgreSQL"),
            fact("Atlas team | rejected | SQLite"),
            fact("next Atlas meeting | is on | 24 June 2024", "date of next Atlas meeting"),
            fact("next Atlas meeting | is led by | Priya"),
        ],
        thesis("Tom takes over the Atlas parser from Priya.", "Tom", "Atlas parser", "Priya"),
        changed=("Atlas parser", "Atlas release", "hydra"),
    ),
    "Atlas team,": one(
        [
            fact("Marc | has left | Atlas team"),
            fact("Tom | is responsible for | Atlas parser", never=True),
            fact("Priya | is responsible for | Atlas parser", "responsible for Atlas parser"),
            fact("Atlas release | is planned for | 15 July 2024", "date of Atlas release"),
            fact("medusa | is test server of | Atlas team", "test server of Atlas team"),
            fact("Sara | is member of | Atlas team", None, begin="2024-08"),
            fact("Sara | is | designer"),
        ],
        changed=("Marc", "Atlas parser", "new test server"),
    ),
    "Helene Brandt wohnt": one(
        [
            fact("Helene Brandt | lives in | Leipzig", "home of Helene Brandt", begin="2024-07"),
            fact("Helene Brandt | lived in | Dresden", None, until="2024-06"),
            fact("Helene Brandt | is married to | Paul Brandt"),
            fact("Paul Brandt | is | Architekt"),
            fact("Paul Brandt | works in | Dresden"),
            fact("Paul Brandt | commutes to | Dresden"),
            *(
                fact(f"{who} Brandt | has daughter | {name}")
                for who in ("Helene", "Paul")
                for name in ("Lena", "Sophie")
            ),
            *(fact(f"Helene Brandt | speaks | {name}") for name in ("Deutsch", "Französisch", "Norwegisch")),
        ],
        thesis("Helene Brandt lived in Dresden for twelve years.", "Helene Brandt", "Dresden"),
    ),
    "Nordvik has": one(
        [
            fact("Voltaris | is owned by | Kansai Electric", OWNER, begin="2024-09-01"),
            fact("Nordvik | sold | Voltaris", None, begin="2024-09-01"),
            fact("Kansai Electric | is a | Japanese group"),
            fact("Voltaris | employs | 1,200 people", never=True),
            fact("Voltaris | employs | 850 people", STAFF),
            fact("Voltaris | has its seat in | Berlin", SEAT, begin="2025-01"),
        ],
        thesis("Helene Brandt stays chief executive of Voltaris after its sale.", "Helene Brandt", "Voltaris"),
        changed=("Nordvik",),
    ),
    "Anna called": one(
        [
            fact("Anna | is engaged to | Pieter", None, begin="2025-01-11"),
            fact("Anna | wants to marry in spring 2025 | Pieter"),
            fact("Rex | died at the age of | 13"),
            fact("Rex | died in | week before 14 January 2025", None, begin="2025-01-06"),
            fact("Anna | is head of projection at | Barco", "position of Anna"),
            fact("Anna | is learning | Italian"),
            *(fact(f"Anna | speaks | {name}") for name in ("Dutch", "French", "English")),
        ],
        changed=("Rex",),
    ),
    "Voltaris has": one(
        [
            fact("Voltaris | has its seat in | Berlin", SEAT, begin="2025-01-02"),
            fact("Helene Brandt | is chief executive of | Voltaris", HEAD, until="2025-02-28"),
            fact("Tomas Lindqvist | is chief executive of | Voltaris", HEAD, begin="2025-03-01"),
            fact("Tomas Lindqvist | runs | Dresden plant of Silux", None, until="2025-02-28"),
            fact("Helene Brandt | once ran | Dresden plant of Silux"),
        ],
    ),
}
"""Answers about statements, by the beginning of the (first) passage."""

ENDED: dict[str, dict[str, str]] = {
    "Anna: Moved": {"Anna, has found a flat in, Ghent": "2024-05-20"},
    "Atlas team,": {
        "Marc, is member of, Atlas team": "2024-06-24",
        "Marc, looks for, new test server": "2024-06-24",
        "Tom takes over the Atlas parser from Priya.": "never",
    },
    "Anna called": {
        "Anna, owns dog, Rex": "2025-01-07",
        "Rex, goes wherever goes, Anna": "2025-01-07",
        "Rex, is allergic to, chicken": "2025-01-07",
    },
}
"""What the answers about endings end, by the beginning of the passage: the last day, or never."""

CHECKS: list[tuple[str, str, str, bool]] = [
    ("Rex died last week: Anna owns her dog no more", "2025-01-14", "Anna | owns dog | Rex", False),
    ("... and owned it before", "2024-12-01", "Anna | owns dog | Rex", True),
    ("works from June: not in May", "2024-05-25", "Anna | works for | Barco", False),
    ("... but in June", "2024-06-01", "Anna | works for | Barco", True),
    ("never employed 1,200: not before the correction", "2024-04-01", "Voltaris | employs | 1,200 people", False),
    ("... nor after it", "2024-10-01", "Voltaris | employs | 1,200 people", False),
    ("relations of the German text in English", "2024-08-01", "Helene Brandt | lives in | Leipzig", True),
    ("chief executive in March 2024", "2024-03-20", "Pierre Castel | is chief executive of | Voltaris", True),
    ("chief executive in April 2024", "2024-04-20", "Helene Brandt | is chief executive of | Voltaris", True),
    ("... the one before no more", "2024-04-20", "Pierre Castel | is chief executive of | Voltaris", False),
    ("chief executive in March 2025", "2025-03-10", "Tomas Lindqvist | is chief executive of | Voltaris", True),
    ("... the one before no more", "2025-03-10", "Helene Brandt | is chief executive of | Voltaris", False),
    ("sold: the owner before no more", "2024-09-05", "Voltaris | is owned by | Nordvik", False),
    ("the seat until 2025", "2024-12-01", "Voltaris | has its seat in | Leipzig", True),
    ("... and no more in 2025", "2025-01-20", "Voltaris | has its seat in | Leipzig", False),
    ("stays with Jonas until the 15th", "2024-05-16", "Anna | stays with | Jonas", False),
    ("Marc left the team", "2024-06-26", "Marc | is member of | Atlas team", False),
    ("the parser was never Tom's", "2024-06-15", "Tom | is responsible for | Atlas parser", False),
    ("... but Priya's", "2024-06-26", "Priya | is responsible for | Atlas parser", True),
    ("the old test server is off", "2024-06-20", "hydra | is test server of | Atlas team", False),
]
"""What is checked, when, of which fact, and whether it held then."""


def recorded(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the recorded calls about reading."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for call in map(json.loads, lines):
            if call["messages"][0]["content"].startswith(("You turn a passage", "A memory holds statements")):
                yield call


def beginning(text: str) -> str:
    """Return which of :data:`TEXTS` begins a text."""
    return next(begin for begin in TEXTS if text.startswith(begin))


def scripted(request: ChatRequest) -> str:
    """Return the answer that is written by hand for a request."""
    body = request.messages[-1].content
    found = _PASSAGE.search(body)
    assert found is not None
    begin = beginning(found[2].removeprefix("1. "))
    if request.purpose == "extract":
        return json.dumps(READ[begin], ensure_ascii=False)
    listed = (line.partition(". ") for line in body.split("\nStored:\n")[1].splitlines())
    last_days = ENDED.get(begin, {})
    items = [
        {"old": int(number), "until": None if day == "never" else day, "never": day == "never", "reason": "by the text"}
        for number, _, statement in listed
        if (day := last_days.get(statement)) is not None
    ]
    return json.dumps({"ended": items})


def share_of_first_prompts(calls: list[dict[str, Any]]) -> str:
    """Return how many of the recorded prompts for statements the first version still makes, byte for byte."""
    same = 0
    asked = [call for call in calls if call["messages"][0]["content"].startswith("You turn a passage")]
    for call in asked:
        mark, text = _PASSAGE.search(call["messages"][-1]["content"]).groups()  # type: ignore[union-attr]
        model = FakeChat([call["answer"]])
        FirstModelExtractor(model).extract(text)
        request = recorded_request(model.requests[0])
        assert model.requests[0].mark is not None
        own = [m.content.replace(model.requests[0].mark.recorded, mark) for m in request.messages]
        same += own == [m["content"] for m in call["messages"]]
    return f"{same} of {len(asked)}"


def main() -> None:
    shared = Path(os.environ.get("WORLDTHREAD_SHARED") or Path(__file__).parents[2] / "shared")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", type=Path, nargs="?", default=shared / "data" / "strong_model" / "calls.jsonl.gz")
    parser.add_argument("--show", action="store_true", help="print every prompt and every answer")
    options = parser.parse_args()
    calls = list(recorded(options.calls))
    passages = {
        beginning(found[2]): found[2]
        for call in calls
        if (found := _PASSAGE.search(call["messages"][-1]["content"]))
        and "Asked for" in call["messages"][-1]["content"]
    }
    model = FakeChat(scripted)
    with Memory(model=model, embedder="fake") as memory:
        chat = [begin for begin, (_, source) in TEXTS.items() if source == "chat"]
        for begin, (at, source) in TEXTS.items():
            if begin == chat[0]:
                said = [passages[one].partition(": ") for one in chat]
                times = [TEXTS[one][0] for one in chat]
                memory.remember(
                    [
                        {"role": who, "content": text, "timestamp": t}
                        for (who, _, text), t in zip(said, times, strict=True)
                    ],
                    source=source,
                )
            elif begin not in chat:
                memory.remember(passages[begin], at=at, source=source)
        results = []
        for what, when, line, held in CHECKS:
            names = line.split(" | ")
            holds = memory.view(when).holds(Fact(names[0], names[1], names[2]))
            results.append((what, when, line, holds == held))
        relations = {fact.relation for fact in memory.view().facts()}
        unread = len(memory.unread())
    before = {"extract": 0.0, "outdated": 0.0}
    for call in calls:
        purpose = "extract" if call["messages"][0]["content"].startswith("You turn") else "outdated"
        size = sum(len(one["content"]) for one in call["messages"]) + len(call["answer"])
        before[purpose] += size / CHARACTERS_PER_TOKEN
    after = {"extract": 0.0, "outdated": 0.0}
    for request in model.requests:
        if options.show:
            print("=====", request.purpose, *(one.content for one in request.messages), scripted(request), sep="\n")
        size = sum(len(one.content) for one in request.messages) + len(scripted(request))
        after[request.purpose] += size / CHARACTERS_PER_TOKEN
    print(f"{'tokens, recorded prompts':40}{sum(before.values()):8.0f}  {before}")
    print(f"{'tokens, present prompts':40}{sum(after.values()):8.0f}  {after}")
    print(f"{'share':40}{sum(after.values()) / sum(before.values()):8.3f}")
    made = [sum(request.purpose == purpose for request in model.requests) for purpose in ("extract", "outdated")]
    print(f"{'calls: statements, endings':40}{made} (recorded: [11, 9]); not read: {unread}")
    print(f"{'prompts of the first version, unchanged':40}{share_of_first_prompts(calls)}")
    print(f"{'relations that hold at the end':40}{', '.join(sorted(relations))}")
    for what, when, line, right in results:
        print(f"{'right' if right else 'WRONG':7}{what} ({when}: {line})")


if __name__ == "__main__":
    main()
