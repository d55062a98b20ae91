"""One thing under several names, what is lit, what descriptions speak of, and what appears and goes."""

from __future__ import annotations

import pytest

from worldthread.extract.base import GameStep
from worldthread.graph import GraphView, TemporalGraph
from worldthread.types import Episode, Fact
from worldthread_lab.game.extractor import GameExtractor
from worldthread_lab.game.phrases import without_what_follows
from worldthread_lab.game.scenery import spoken_of

HALL = "Great Hall\nThis is a hall of grey stone, with a way to the north. The roof leaks a little.\n"
NOTHING = "You are empty-handed."


def view_of(*steps: GameStep) -> GraphView:
    graph, extractor = TemporalGraph(), GameExtractor()
    for turn, step in enumerate(steps):
        graph.add(Episode(step.text, turn, extraction=extractor.extract(step, graph.view())))
    return graph.view()


def test_what_a_command_named_and_the_game_moved_is_one_thing() -> None:
    view = view_of(
        GameStep(f"{HALL}A battery-powered brass torch is here.", None, NOTHING),
        GameStep("Taken.", "get flashlight", "You are carrying:\n  A brass torch"),
    )
    assert view.holds(Fact("brass torch", "is called", "flashlight"))
    assert view.facts(relation="is in", object="Great Hall") == [Fact("player", "is in", "Great Hall")]


def test_an_older_name_of_a_thing_stays_one_of_its_names() -> None:
    view = view_of(
        GameStep(f"{HALL}There is a large coil of twine here.", None, NOTHING),
        GameStep("Taken.", "take twine", "You are carrying:\n  A ball of twine"),
    )
    assert view.holds(Fact("ball of twine", "is called", "large coil of twine"))


def test_what_moved_by_itself_has_no_name_of_a_command() -> None:
    view = view_of(
        GameStep(f"{HALL}There is a hat here.\nThere is a stick here.", None, NOTHING),
        GameStep("Taken.", "take all", "You are carrying:\n  A hat\n  A stick"),
        GameStep("You can't see any such thing.", "take cane", "You are carrying:\n  A hat\n  A stick"),
    )
    assert view.facts(relation="is called") == []


def test_what_holds_a_thing_goes_by_the_name_of_the_thing_that_lies_here() -> None:
    view = view_of(GameStep(f"{HALL}There is a jar here.\nThe glass jar contains:\n  A quantity of ink"))
    assert view.holds(Fact("quantity of ink", "is in", "jar"))
    assert view.holds(Fact("jar", "is called", "glass jar"))


@pytest.mark.parametrize(
    ("command", "answer", "state"),
    [
        ("light lamp", "The old lamp is now on.", "on"),
        ("turn on lamp", "You switch the old lamp on.", "on"),
        ("light lamp", "A bright light shines.", "on"),
        ("wait", "The old lamp flickers and goes out.", "off"),
        ("douse lamp", "The flame is extinguished.", "off"),
        ("light lamp", "You can't light the old lamp with that.", None),
        ("light lamp", "If the old lamp were lit, you would see more.", None),
        ("open lamp", "You don't see how to get the lamp open or out.", None),
    ],
)
def test_what_is_on_and_off(command: str, answer: str, state: str | None) -> None:
    carried = "You are carrying:\n  An old lamp"
    view = view_of(GameStep(HALL, None, carried), GameStep(answer, command, carried))
    assert view.value("old lamp", "is") == state


def test_what_was_listed_as_giving_light_and_is_listed_without_that_is_off() -> None:
    lit = view_of(GameStep(HALL, None, "You are carrying:\n  A lamp (providing light)\n  A hat"))
    out = view_of(
        GameStep(HALL, None, "You are carrying:\n  A lamp (providing light)\n  A hat"),
        GameStep("Time passes.", "wait", "You are carrying:\n  A lamp\n  A hat"),
    )
    assert lit.value("lamp", "is") == "on"
    assert lit.value("hat", "is") is None
    assert out.value("lamp", "is") == "off"


def test_somebody_in_a_line_of_their_own_is_here_with_what_they_hold() -> None:
    view = view_of(GameStep(f"{HALL}A sullen porter, clutching a broom, blocks the way out."))
    assert view.holds(Fact("sullen porter", "is in", "Great Hall"))
    assert view.holds(Fact("broom", "is in", "sullen porter"))


def test_who_was_killed_holds_nothing() -> None:
    view = view_of(
        GameStep(f"{HALL}A sullen porter, clutching a broom, blocks the way out."),
        GameStep("The porter dies.", "kill porter"),
    )
    assert view.facts(relation="is in") == [Fact("player", "is in", "Great Hall")]


def test_a_door_that_is_revealed_is_closed_and_opens() -> None:
    steps = (
        GameStep(f"{HALL}There is a heavy mat here."),
        GameStep("The mat slides aside, revealing the dusty frame of a closed trap door.", "move mat"),
    )
    shut = view_of(*steps)
    opened = view_of(*steps, GameStep("The door opens to reveal a ladder.", "open trapdoor"))
    assert shut.holds(Fact("trap door", "is seen in", "Great Hall"))
    assert shut.value("trap door", "is") == "closed"
    assert opened.value("trap door", "is") == "open"


def test_more_than_one_thing_lies_on_the_ends_of_another() -> None:
    view = view_of(GameStep(f"{HALL}There is a shelf here.\nOn the two ends of the shelf are burning tapers."))
    assert view.holds(Fact("burning tapers", "is on", "shelf"))


def test_parts_are_on_what_was_looked_at() -> None:
    view = view_of(
        GameStep(HALL, None, "You are carrying:\n  A music box"),
        GameStep("The music box is small. On the surface are a crank and a slot.", "examine it"),
    )
    assert view.holds(Fact("crank", "is on", "music box"))
    assert not any(fact.key[0] == "it" for fact in view.facts())


def test_what_a_later_description_leaves_out_is_seen_no_more() -> None:
    words = "This is a hall of grey stone, with {} in the roof. A way leads on to the north, past the gardens."
    view = view_of(
        GameStep(f"Great Hall\n{words.format('a bright window')}\n"),
        GameStep(f"Great Hall\n{words.format('a gaping hole')}\n", "look"),
    )
    seen = [fact.subject for fact in view.facts(relation="is seen in")]
    assert "gaping hole" in seen
    assert "bright window" not in seen


@pytest.mark.parametrize(
    ("description", "names"),
    [
        ("You are west of a white house, with a boarded front door.", ("white house", "boarded front door")),
        ("A path winds through the trees to the old mill.", ("trees",)),
        ("This is a cave. A dark chimney leads down.", ("dark chimney",)),
        ("You are in a cave. There is no door here.", ()),
        ("Lily pads float on a pond, which is overgrown with tall reeds.", ("lily pads", "pond", "tall reeds")),
        ('A sign says "Beware of the dog". The rusted gate stands open.', ("sign", "rusted gate")),
        ("There are some low branches at the edge of the old north gate.", ("low branches", "old north gate")),
    ],
)
def test_what_a_description_speaks_of(description: str, names: tuple[str, ...]) -> None:
    assert spoken_of(description, "Field") == names


@pytest.mark.parametrize(
    ("name", "left"),
    [("dark chimney leads down", None), ("large egg encrusted", "large egg"), ("shed", "shed"), ("bar above", "bar")],
)  # fmt: skip
def test_a_name_ends_where_another_word_begins(name: str, left: str | None) -> None:
    assert without_what_follows(name) == left


def test_memory_of_the_same_steps_is_the_same() -> None:
    steps = (
        GameStep(f"{HALL}A battery-powered brass torch is here.", None, NOTHING),
        GameStep("Taken.", "get flashlight", "You are carrying:\n  A brass torch"),
        GameStep("The brass torch is now on.", "light flashlight", "You are carrying:\n  A brass torch"),
    )
    assert view_of(*steps).facts() == view_of(*steps).facts()


def test_what_was_seen_and_is_taken_under_another_name_is_seen_no_more() -> None:
    view = view_of(
        GameStep("Great Hall\nThis is a hall of grey stone. An old brass lantern glows near the way to the north.\n"),
        GameStep("Taken.", "take lantern", "You are carrying:\n  A lamp"),
    )
    assert view.facts(relation="is seen in") == []
    assert view.holds(Fact("lamp", "is called", "old brass lantern"))
