"""The memory of the AriGraph paper: learning, both searches, the map; and its own logs, replayed through the agent."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldthread.errors import InputError
from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.models.chat import ChatRequest
from worldthread.models.fake_chat import FakeChat
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.agents.ariadne import Ariadne
from worldthread_lab.agents.base import Percept
from worldthread_lab.agents.memory_modules import Situation
from worldthread_lab.agents.memory_modules.arigraph import AriGraphModule

SEEN = {
    "-= Kitchen =-\nA table, on it a note. Exits: east.": (
        "Kitchen, contains, table; note, is on, table; kitchen, has exit, east"
    ),
    "-= Hall =-\nA locked chest. Exits: west, north.": (
        "hall, contains, chest; chest, is, locked; hall, has exit, west; hall, has exit, north"
    ),
    "You unlock the chest.": "chest, is, unlocked; what, ever",
    "-= Kitchen =-\nA table, on it a note.": "kitchen, contains, table; note, is on, table",
}
ACTIONS = (None, "go east", "unlock chest", "go west")


def player(items: Callable[[str], dict[str, int]] | None = None, **settings: Any) -> tuple[Ariadne, FakeChat]:
    def answer(request: ChatRequest) -> str:
        text = request.messages[-1].content
        if request.purpose == "items":
            named = {"chest": 1} if items is None else items(text)
            return json.dumps({"items": [{"name": name, "depth": depth} for name, depth in named.items()]})
        if request.purpose == "extract":
            return next(triplets for seen, triplets in SEEN.items() if f"sees:\n{seen}\n\nTriplets" in text)
        return '[["chest, is, locked" -> "chest, is, unlocked"]]'

    model = FakeChat(answer)
    make: Callable[[Any], AriGraphModule] = lambda context: AriGraphModule(context, **settings)  # noqa: E731 - settings are of the test
    return Ariadne(TemporalGraph(), model, memory_module=make, embedder="fake"), model


def through(agent: Ariadne, moves: int) -> list[str]:
    """What is recalled after each of the first moments, when only the present one is shown besides."""
    recalled = []
    for turn, (text, action) in enumerate(zip(SEEN, ACTIONS, strict=True)):
        if turn < moves:
            agent.perceive(Percept(GameStep(text, action, turn=turn), moment=turn, before=turn - 1 if turn else None))
            now = agent.memory_module.path[-1].episode
            recalled.append(agent.memory_module.recall(Situation("", text, plan="open the chest", shown=(now,))))
    return recalled


def test_it_learns_what_the_model_extracts_and_ends_what_is_replaced() -> None:
    agent, model = player()
    through(agent, 3)
    memory = agent.memory_module
    assert isinstance(memory, AriGraphModule)
    assert {str(fact) for fact in memory.graph.view().facts()} == {
        "kitchen, contains, table", "note, is on, table", "kitchen, has exit, east", "hall, contains, chest",
        "hall, has exit, west", "hall, has exit, north", "chest, is, unlocked",
        "hall, is east of, kitchen", "kitchen, is west of, hall",
    }  # fmt: skip
    assert memory.graph.versions(Fact("chest", "is", "locked"))[0].reason == "replaced by: chest, is, unlocked"
    assert Counter(request.purpose for request in model.requests) == Counter(items=3, extract=3, outdated=1)
    outdated = model.requests[-1].messages[-1].content
    assert '"chest, is, locked"' in outdated.partition("New:")[0]
    asked = [request.messages[-1].content for request in model.requests if request.purpose == "extract"]
    assert "in use:\n(none so far)\n" in asked[0]
    assert "in use:\nkitchen, has exit, east\n" in asked[2], "what was found last"
    assert agent.failures == Counter(extract=1), "'what, ever' is no triplet"
    temperatures = {request.purpose: request.temperature for request in model.requests}
    assert temperatures == {"items": 0.7, "extract": 0.001, "outdated": 0.001}


def test_semantic_search_goes_as_deep_as_the_item_says_and_as_wide_as_set() -> None:
    by_depth = {}
    for depth in (1, 2):
        agent, _ = player(lambda text, depth=depth: {"chest": depth}, width=1)  # type: ignore[misc]
        by_depth[depth] = through(agent, 4)[-1]
    assert "Triplets from the memory that may matter now:\n- hall, contains, chest" in by_depth[1]
    triplets = [text.partition("\n\n")[0].splitlines()[1:] for text in by_depth.values()]
    assert len(triplets[0]) == 1 < len(triplets[1])
    agent, _ = player(lambda text: {"note": 1, "table": 1, "kitchen": 1})
    last = through(agent, 4)[-1]
    assert "note, is on, table" not in last.partition("Past")[0], "this observation said so itself"
    assert "- kitchen, has exit, east" in last


def test_episodic_search_by_equation_1() -> None:
    agent, _ = player(lambda text: {"chest": 1}, width=2, moments=1)
    text = through(agent, 4)[-1]
    found = [line.removeprefix("- ") for line in text.partition("\n\n")[0].splitlines()[1:]]
    assert found == ["hall, contains, chest", "chest, is, unlocked"]
    scores = {1: 1 / 6 * math.log(6), 2: 1 / 1 * math.log(1)}  # 4 triplets and 2 of the move; 1 triplet
    assert max(scores, key=scores.__getitem__) == 1
    assert "Past observations that may matter now:\n- [move 1] > go east\n  -= Hall =-" in text
    assert "[move 2]" not in text
    without, _ = player(lambda text: {"chest": 1}, moments=0)
    assert "Past observations" not in through(without, 4)[-1]


def test_what_is_shown_besides_is_not_recalled() -> None:
    agent, _ = player()
    through(agent, 3)
    shown = tuple(seen.episode for seen in agent.memory_module.path)
    text = agent.memory_module.recall(Situation("", "You unlock the chest.", plan="", shown=shown))
    assert "Past observations" not in text


def test_an_answer_without_items_recalls_nothing_and_still_learns() -> None:
    agent, _ = player(lambda text: {"chest": 7})
    assert through(agent, 2)[-1] == ""
    assert agent.failures == Counter(items=2)
    memory = agent.memory_module
    assert isinstance(memory, AriGraphModule)
    assert memory.graph.view().holds(Fact("chest", "is", "locked"))


def test_two_ways_that_look_alike_and_were_read_differently_do_not_mix() -> None:
    readings = iter(["hall, is, dark", "hall, is, bright", "hall, is, small"])

    def answer(request: ChatRequest) -> str:
        return {"items": '{"items": []}', "outdated": "[]"}.get(request.purpose) or next(readings)

    agent = Ariadne(TemporalGraph(), FakeChat(answer), memory_module="arigraph", embedder="fake")
    memory = agent.memory_module
    assert isinstance(memory, AriGraphModule)
    start = GameStep("-= Hall =-\nAn exit.")
    for percept in (
        Percept(start),
        Percept(GameStep("Time passes.", "wait", turn=1), moment=1, before=0),
        Percept(start, returned=True),
        Percept(GameStep("Time passes.", "sit", turn=1), moment=2, before=0),
    ):
        agent.perceive(percept)
        memory.recall(Situation("", "here"))
    assert {str(fact) for fact in memory.graph.view().facts()} == {"hall, is, dark", "hall, is, small"}
    agent.perceive(Percept(GameStep("Time passes.", "wait", turn=1), moment=1, before=0, returned=True))
    memory.recall(Situation("", "here"))
    assert {str(fact) for fact in memory.graph.view().facts()} == {"hall, is, dark", "hall, is, bright"}


def test_the_map_is_that_of_the_triplets() -> None:
    agent, _ = player()
    through(agent, 3)
    assert agent.memory_module.unexplored() == [("hall", "north")]
    assert agent.places() == ["kitchen"]
    decision = agent.act("go to kitchen", "back")
    assert (decision.action, decision.is_new) == ("go west", True)
    through_again, _ = player()
    through(through_again, 4)
    assert through_again.places() == ["hall"]
    assert through_again.memory_module.unexplored() == [("hall", "north")]


def test_ways_that_are_told_in_other_words_are_exits_too() -> None:
    agent, _ = player()
    through(agent, 1)
    memory = agent.memory_module
    assert isinstance(memory, AriGraphModule)
    told = [("has an unguarded exit to", "south"), ("path leads", "to the north"), ("leads north to", "attic"),
            ("is near", "west"), ("has exit", "trapdoor")]  # fmt: skip
    facts = tuple(Fact("kitchen", relation, object_) for relation, object_ in told)
    memory.graph.add(Episode("told", 0.5, extraction=Extraction("test", facts)))
    assert memory.unexplored() == [("kitchen", "east"), ("kitchen", "north"), ("kitchen", "south")]


def test_triplets_less_similar_than_a_limit_are_not_found() -> None:
    assert any("chest" in recalled for recalled in through(player()[0], 3))
    agent, _ = player(least=1.01)
    assert through(agent, 3) == ["", "", ""]


@pytest.mark.parametrize("settings", [{"width": 0}, {"moments": -1}])
def test_settings_that_make_no_sense_are_refused(settings: dict[str, int]) -> None:
    with pytest.raises(InputError, match="width must be"):
        player(**settings)


@pytest.mark.parametrize("attempt", [1, 2, 3])
def test_a_published_log_replayed_through_the_agent(attempt: int, shared: Path) -> None:
    """The model's logged answers give the logged graph, and most of what was retrieved from it."""
    with gzip.open(shared / "data/ariadne_logs/hunt_arigraph.jsonl.gz", "rt") as lines:
        steps = [step for step in map(json.loads, lines) if step["attempt"] == attempt]
    at: dict[str, Any] = {}

    def answer(request: ChatRequest) -> str:
        if request.purpose == "items":
            items = [{"name": name, "depth": depth} for name, depth in list(at["crucial_items"].items())[:12]]
            return json.dumps({"items": items})
        if request.purpose == "extract":
            return "; ".join(map(", ".join, at["new_triplets"]))
        return at["outdated_raw"] or "[]"

    agent = Ariadne(TemporalGraph(), FakeChat(answer), memory_module="arigraph", embedder="fake")
    memory = agent.memory_module
    assert isinstance(memory, AriGraphModule)
    action, theirs, common = None, 0, 0
    for turn, step in enumerate(steps):
        at = step
        text = step["observation"].split("$$$")[-1]
        agent.perceive(Percept(GameStep(text, action, turn=turn), moment=turn, before=turn - 1 if turn else None))
        now = agent.memory_module.path[-1].episode
        recalled = memory.recall(Situation("", text, plan=step["plan"] or "", shown=(now,)))
        found = {Fact(*line[2:].split(", ")) for line in recalled.partition("\n\n")[0].splitlines()[1:]}
        logged = {Fact(*triplet) for triplet in step["associated"]}
        theirs, common = theirs + len(logged), common + len(found & logged)
        action = step["action_taken"]
    ours, graph = set(memory.graph.view().facts()), {Fact(*triplet) for triplet in steps[-1]["graph"]}
    assert not ours - graph
    assert len(graph - ours) <= 4, "triplets that were deleted and extracted again in one step, which is not logged"
    assert len(graph) > 60
    assert not agent.failures
    assert common / theirs > 0.75, "with another embedder than theirs"
