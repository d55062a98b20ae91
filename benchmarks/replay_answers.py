"""Measure the prompts for answers on recorded questions, without a model.

    python benchmarks/replay_answers.py [CALLS] [--show N]

CALLS is a file of recorded calls (JSON Lines, gzip) of the first version of the prompt, as in
../shared/data/strong_model; by default the one in $WORLDTHREAD_SHARED. The hits of every question are rebuilt from its
prompt and asked again with the present version. The answer to it is the recorded one; where it was a refusal, a model
would first name what to look up, so one look-up is counted that finds five more passages (those of the prompt of
another question, because the real ones are not known). Tokens are counted as the meter estimates them: a token for each
four characters of messages and answers, without the schema.
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

from worldthread.answering.answer import AnswerContext, answer
from worldthread.models.chat import ChatRequest
from worldthread.models.fake_chat import FakeChat
from worldthread.models.meter import CHARACTERS_PER_TOKEN
from worldthread.types import Episode, Fact, Hit, Recall, Thesis

_ENTRY = re.compile(r"^(\d+)\. ", re.MULTILINE)
_ORIGIN = re.compile(r"\((?P<at>\d[^,()]*)(?:, (?P<source>[^()]*))?\) ")
_SINCE = re.compile(r" \((?:since|from) [^()]*\)$")


def recorded(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the recorded calls about questions."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for call in map(json.loads, lines):
            if call["messages"][0]["content"].startswith("You answer questions from a list of numbered statements"):
                yield call


def rebuilt(call: dict[str, Any]) -> tuple[str, list[Hit]]:
    """Return the question of a call and its hits; whether a statement was a fact is known by its place."""
    body = call["messages"][-1]["content"]
    listed, _, question = body.removeprefix("Statements:\n").rpartition("\n\nQuestion: ")
    parts = _ENTRY.split(listed)[1:]
    hits: list[Hit] = []
    for text in (part.rstrip("\n") for part in parts[1::2]):
        if found := _ORIGIN.match(text):
            at = float(found["at"]) if found["at"].isdigit() else 1.7e9
            hits.append(
                Hit(Episode(text[found.end() :].replace("\n    ", "\n"), at, found["source"] or ""), 1, "episode")
            )
        elif text.endswith((".", "?", "!", ";)")) or _SINCE.sub("", text).endswith((".", ";", ":", '"', "'")):
            hits.append(Hit(Thesis(_SINCE.sub("", text)), 1, "thesis"))
        else:
            words = _SINCE.sub("", text).split()
            third = max(len(words) // 3, 1)
            names = (" ".join(words[:third]), " ".join(words[third : 2 * third]), " ".join(words[2 * third :]))
            hits.append(Hit(Fact(names[0] or "-", names[1] or "-", names[2] or "-"), 1, "fact"))
    return question.strip(), hits


def tokens(request: ChatRequest, text: str) -> float:
    """Return the tokens of a call as the meter estimates them."""
    return (sum(len(message.content) for message in request.messages) + len(text)) / CHARACTERS_PER_TOKEN


def measure(calls: list[dict[str, Any]], show: int | None) -> dict[str, Any]:
    """Return the tokens of both versions."""
    before = after = 0.0
    asked = kept = cited = refused = 0
    passages = [[hit for hit in rebuilt(call)[1] if hit.kind == "episode"][:5] for call in calls]
    for place, call in enumerate(calls):
        question, hits = rebuilt(call)
        said = json.loads(call["answer"])
        before += sum(len(m["content"]) for m in call["messages"]) / CHARACTERS_PER_TOKEN
        before += len(call["answer"]) / CHARACTERS_PER_TOKEN
        refusal = {**said, "answer": None, "support": "none", "sources": [], "look_up": []}
        first = {**said, "support": "stated", "look_up": []}
        if said["answer"] is None:
            first = {**refusal, "look_up": [question[:40]]}
        answers = iter([json.dumps(first, ensure_ascii=False), json.dumps(refusal, ensure_ascii=False)])
        given: list[str] = []

        def reply(request: ChatRequest, answers: Iterator[str] = answers, given: list[str] = given) -> str:
            given.append(next(answers))
            return given[-1]

        model = FakeChat(reply)
        more = tuple(passages[(place + 1) % len(passages)])
        context = AnswerContext(lambda query, more=more: Recall(query, more), 1)  # type: ignore[misc]
        answer(Recall(question, tuple(hits)), model, max_tokens=3000, context=context)
        after += sum(map(tokens, model.requests, given))
        asked += len(model.requests)
        refused += said["answer"] is None
        for number in said["sources"]:
            cited += 1
            source = hits[number - 1].item
            text = source.text if isinstance(source, Episode | Thesis) else str(source).replace(", ", " ")
            kept += text.strip().splitlines()[-1][:60] in model.requests[0].messages[-1].content
        if place == show:
            print(*(message.content for message in model.requests[0].messages), sep="\n---\n")
    return {
        "questions": len(calls),
        "refused at first": refused,
        "tokens, recorded prompts": round(before),
        "tokens, present prompts": round(after),
        "share": round(after / before, 3),
        "tokens a question": round(after / len(calls)),
        "calls": asked,
        "cited sources that are still shown": f"{kept} of {cited}",
    }


def main() -> None:
    shared = Path(os.environ.get("WORLDTHREAD_SHARED") or Path(__file__).parents[2] / "shared")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", type=Path, nargs="?", default=shared / "data" / "strong_model" / "calls.jsonl.gz")
    parser.add_argument("--show", type=int, metavar="N", help="print the prompt of question N, counted from 0")
    options = parser.parse_args()
    for name, value in measure(list(recorded(options.calls)), options.show).items():
        print(f"{name:38}{value}")


if __name__ == "__main__":
    main()
