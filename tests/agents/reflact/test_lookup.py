"""Questions to the memory are answered from the graph, without a model."""

from __future__ import annotations

import pytest

from worldthread import Episode, Fact
from worldthread.graph import GraphView, TemporalGraph
from worldthread.types import Extraction
from worldthread_lab.agents.reflact.lookup import look_up, surroundings
from worldthread_lab.game import vocabulary as v

FACTS = (
    v.kind("Hall", "room"),
    v.kind("Cave", "room"),
    v.kind("Attic", "room"),
    v.place("player", v.IS_IN, "Hall"),
    v.exit_of("Hall", "east"),
    v.exit_of("Hall", "up"),
    v.exit_of("Cave", "south"),
    v.link("Cave", "east", "Hall"),
    v.link("Hall", "west", "Cave"),
    v.place("brass key", v.IS_IN, "tin box"),
    v.place("tin box", v.IS_ON, "table"),
    v.place("table", v.IS_IN, "Cave"),
    v.place("lamp", v.IS_IN, "inventory"),
    v.place("note", v.IS_IN, "Hall"),
    Fact("brass key", v.UNLOCKS, "chest"),
)
CAVE = "Ways from cave that were never taken: south. Ways from cave that are known: west to hall."


@pytest.fixture
def view() -> GraphView:
    return TemporalGraph([Episode("a text", 0, extraction=Extraction("test/1", FACTS))]).view()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where am I?", "You are in hall."),
        ("where is the brass key", "brass key is in tin box, on table, in Cave."),
        ("Where's the LAMP?", "lamp is in inventory."),
        ("where are lamps", "lamp is in inventory."),
        ("where is the dragon", "Nothing called 'the dragon' is known."),
        ("where is the cave", "cave is a room; from here: east."),
        ("where is the attic", "attic is a room; from here: no way is known."),
        ("where is the chest", "It is not known where chest is."),
        ("what do I carry?", "You carry: lamp."),
        ("inventory", "You carry: lamp."),
        ("exits", "Ways from hall that were never taken: up. Ways from hall that are known: east to cave."),
        ("exits from here", "Ways from hall that were never taken: up. Ways from hall that are known: east to cave."),
        ("exits from the cave?", CAVE),
        ("unexplored exits", "Ways never taken: south from cave, up from hall."),
        ("unexplored exits from cave", "Ways from cave that were never taken: south."),
        ("exits from the moon", "No room called 'the moon' is known."),
        ("about the brass key", "brass key, is in, tin box; brass key, unlocks, chest."),
        ("about dragons", "Nothing called 'dragons' is known."),
    ],
)  # fmt: skip
def test_questions_and_answers(question: str, answer: str, view: GraphView) -> None:
    assert look_up(view, question) == answer


def test_what_cannot_be_asked_is_said(view: GraphView) -> None:
    told = look_up(view, "Please win the game. " * 50)
    assert told.startswith("The memory does not understand 'Please win the game.")
    assert "where is THING" in told
    assert len(told) < 350


def test_an_empty_memory_knows_that_it_knows_nothing() -> None:
    view = TemporalGraph().view()
    assert look_up(view, "where am i") == "It is not known where you are."
    assert look_up(view, "exits") == "It is not known where you are."
    assert look_up(view, "unexplored exits") == "Ways never taken: none is known."
    assert look_up(view, "what do i carry") == "You carry: nothing that is known."
    assert surroundings(view) == ["It is not known where you are."]


def test_things_that_hold_each_other_end_nothing() -> None:
    facts = (v.place("box", v.IS_IN, "bag"), v.place("bag", v.IS_IN, "box"))
    view = TemporalGraph([Episode("a text", 0, extraction=Extraction("test/1", facts))]).view()
    assert look_up(view, "where is the box") == "box is in bag, in box."


def test_the_surroundings(view: GraphView) -> None:
    assert surroundings(view) == [
        "You are in hall.",
        "You carry: lamp.",
        "Here: note.",
        "Ways from here that were never taken: up.",
        "Ways from here that are known: east to cave.",
        "Ways that were never taken also lead from: cave.",
    ]
    assert surroundings(view, says_what_is_unknown=True) == [
        "You are in hall. You carry: lamp.",
        "Here: note.",
        "Ways from hall that were never taken: up. Ways from hall that are known: east to cave.",
        "Ways that were never taken also lead from: cave.",
    ]


def test_what_is_not_known_of_the_surroundings_is_left_out() -> None:
    here = Episode("a text", 0, extraction=Extraction("test/1", (v.place(v.PLAYER, v.IS_IN, "hall"),)))
    view = TemporalGraph([here]).view()
    assert surroundings(view) == ["You are in hall."]
    assert len(surroundings(view, says_what_is_unknown=True)) == 3


MORE = (
    v.kind("Hall", "room"),
    v.kind("Porter Room", "room"),
    v.kind("Altar", "room"),
    v.place("player", v.IS_IN, "Hall"),
    v.presumed_link("Porter Room", "north", "Hall"),
    v.place("brass lantern", v.IS_IN, "inventory"),
    v.other_name("brass lantern", "lamp"),
    v.other_name("lamp", "old light"),
    v.place("solid-gold box", v.IS_IN, "Hall"),
    v.place("trap door", v.IS_IN, "Hall"),
    v.place("jar", v.IS_ON, "table"),
    v.seen("altar", "Altar"),
    v.seen("table", "Hall"),
    v.seen("table", "Altar"),
    v.door_of("oak door", "north", "Hall"),
    Fact("Hall", v.IS_DESCRIBED_BY, "0f3c9a1e-0f3c9a1e"),
)

PERHAPS = "from here: perhaps north, by ways that were never walked so."
HALL = (
    "Hall, is a, room; oak door, leads north from, Hall; player, is in, Hall; solid-gold box, is in, Hall; "
    "table, is seen in, Hall; trap door, is in, Hall."
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("where is the lamp", "brass lantern is in inventory."),
        ("where is the old light", "brass lantern is in inventory."),
        ("where is the gold box", "solid-gold box is in Hall."),
        ("where is the trapdoor", "trap door is in Hall."),
        ("where is the jar", "jar is on table (in Hall)."),
        ("where is the table", "table is seen in Altar, in Hall."),
        ("where is the oak door", "oak door is in Hall (it leads north)."),
        ("where is the altar", "altar is seen in Altar. altar is a room; from here: no way is known."),
        ("where is the porter", f"No thing called 'the porter' is known. porter room is a room; {PERHAPS}"),
        ("about the hall", HALL),
        ("about 0f3c9a1e-0f3c9a1e", "Nothing called '0f3c9a1e-0f3c9a1e' is known."),
    ],
)  # fmt: skip
def test_things_go_by_all_their_names_and_identities_stay_inside(question: str, answer: str) -> None:
    assert (
        look_up(TemporalGraph([Episode("a text", 0, extraction=Extraction("test/1", MORE))]).view(), question) == answer
    )
