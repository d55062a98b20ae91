"""Sentences of many wordings, by the cause of mistakes that they try: some seen by who wrote the rules, some not."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from worldthread.extract.base import GameStep
from worldthread.graph import GraphView, TemporalGraph
from worldthread.names import normalise_name
from worldthread.types import Episode
from worldthread_lab.game.extractor import GameExtractor

START = "Shed\nThis is a shed full of tools, and the only way out of it is the door to the south."
CASES: list[dict[str, Any]] = [
    case
    for name in ("wordings.toml", "wordings_of_strangers.toml", "wordings_of_scenes.toml")
    for case in tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))["case"]
]


def view_after(case: dict[str, Any]) -> GraphView:
    """Return the memory after a shed was entered and the steps of a case were played."""
    graph, extractor = TemporalGraph(), GameExtractor()
    steps = [GameStep(START, None, case.get("had"))]
    for turn, (action, text) in enumerate(case["steps"], 1):
        inventory = case.get("carried") if turn == len(case["steps"]) else case.get("had")
        steps.append(GameStep(text, action, inventory, turn=turn))
    for step in steps:
        episode = Episode(f"{step.turn} {step.text}", step.turn, extraction=extractor.extract(step, graph.view()))
        graph.add(episode)
    return graph.view()


def is_held(view: GraphView, words: str) -> bool:
    subject, relation, object_ = (normalise_name(part.strip()) for part in words.split("|"))
    return bool(view.facts(subject, relation, object_))


def mistakes(case: dict[str, Any]) -> list[str]:
    """Return what the memory lacks, and what it holds and should not."""
    view = view_after(case)
    missed = [f"missed: {words}" for words in case["holds"] if not is_held(view, words)]
    return missed + [f"wrong: {words}" for words in case["fails"] if is_held(view, words)]


def identity(case: dict[str, Any]) -> str:
    return f"{case['cause']}-{case['part']}-{case['steps'][-1][1][:30]}"


@pytest.mark.parametrize("case", CASES, ids=identity)
def test_wording(case: dict[str, Any]) -> None:
    assert bool(mistakes(case)) == case.get("missed", False)
