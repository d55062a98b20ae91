"""Where things are, in the wordings of many games, and what ends without a sentence that says so."""

from __future__ import annotations

import pytest

from worldthread.extract.base import GameStep
from worldthread.graph import GraphView, TemporalGraph
from worldthread.types import Episode, Fact
from worldthread_lab.game.extractor import GameExtractor
from worldthread_lab.game.listing import extract_listings, items
from worldthread_lab.game.statement_collector import StatementCollector

ROOM = "Shed\nThis is a shed full of tools, and the only way out of it is the door to the south."


def placed(text: str) -> set[tuple[str, str, str]]:
    collector = StatementCollector({})
    extract_listings("Shed", text, collector)
    return {s.key for s in collector.statements if isinstance(s, Fact) and s.key[1] in ("is in", "is on")}


def view_after(*steps: GameStep) -> GraphView:
    graph, extractor = TemporalGraph(), GameExtractor()
    for turn, step in enumerate(steps):
        graph.add(Episode(f"{turn} {step.text}", turn, extraction=extractor.extract(step, graph.view())))
    return graph.view()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("There is a rake here.", {("rake", "is in", "shed")}),
        ("A rusty rake is here.", {("rusty rake", "is in", "shed")}),
        ("You can also see a rake and some seeds here.", {("rake", "is in", "shed"), ("seeds", "is in", "shed")}),
        ("Mo see rake (bent) and old hat here.", {("rake", "is in", "shed"), ("old hat", "is in", "shed")}),
        ("In middle of room, there old stove.", {("old stove", "is in", "shed")}),
        ("There tall metal box over in corner.", {("tall metal box", "is in", "shed")}),
        ("A jar is standing on the bench.", {("jar", "is on", "bench")}),
        ("On the bench is a tall jar, smelling of paint.", {("tall jar", "is on", "bench")}),
        ("In the crate are a saw and a file.", {("saw", "is in", "crate"), ("file", "is in", "crate")}),
        ("Lying in one corner of the room is a long rope.", {("long rope", "is in", "shed")}),
        ("A coil of wire is lying on the floor.", {("coil of wire", "is in", "shed")}),
        ("The jar contains:\n  A brush\n  Two nails", {("brush", "is in", "jar"), ("nails", "is in", "jar")}),
        (
            "You can see a cup (in which is some tea) here.",
            {("cup", "is in", "shed"), ("tea", "is in", "cup")},
        ),
        ("The rake remains among the boulders.", {("rake", "is in", "shed")}),
        ("Beside you on the branch is a tiny hut.", {("tiny hut", "is in", "shed")}),
        ("Wedged within the crate is a file.", {("file", "is in", "crate")}),
        ("There is a tired and weary goat here.", {("tired and weary goat", "is in", "shed")}),
        ("There is an object which looks like a can of paint here.", {("can of paint", "is in", "shed")}),
        ("There is a note of some kind on the bench.", {("note", "is on", "bench")}),
        ("A rake stands in the shed.", {("rake", "is in", "shed")}),
        ("On top of crate there jar (that hum).", {("jar", "is on", "crate")}),
        ("Old grey pole lean against wall.", {("old grey pole", "is in", "shed")}),
        (
            "On the bench are a saw and a jar, inside which is some glue.",
            {
                ("saw", "is on", "bench"),
                ("jar", "is on", "bench"),
                ("glue", "is in", "jar"),
            },
        ),
        (
            "You can see two hats (a red hat and a torn hat) here.",
            {
                ("red hat", "is in", "shed"),
                ("torn hat", "is in", "shed"),
            },
        ),
        (
            "The smoke clears, and these appear:\n  A brush\n  A nail",
            {
                ("brush", "is in", "shed"),
                ("nail", "is in", "shed"),
            },
        ),
        ("To the west is a tower, and on the east is a gate.", set()),
        ("The walls are lined with hooks and a lamp hangs on the rail.", set()),
        ("You can see the hills quite clearly.", set()),
        ("There is no door here.", set()),
        ("The wind is howling in the trees.", set()),
    ],
)
def test_a_sentence_tells_where_things_are(text: str, expected: set[tuple[str, str, str]]) -> None:
    assert placed(text) == expected


def test_an_enumeration_keeps_adjectives_and_states() -> None:
    assert [(found.name, found.states) for found in items("a box (which is closed), a saw and a pair of shoes")] == [
        ("box", ("closed",)),
        ("saw", ()),
        ("pair of shoes", ()),
    ]


@pytest.mark.parametrize(
    "text",
    ["Mo have:\n  lamp (on fire)\n  sack\n    apple", "You are holding:\n  a lamp\n  a sack (open)\n    an apple"],
)
def test_an_inventory_is_read_by_its_shape(text: str) -> None:
    view = view_after(GameStep(ROOM, inventory=text))
    assert {fact.key[0] for fact in view.facts(relation="is in", object="inventory")} == {"lamp", "sack"}
    assert view.value("apple", "is in") == "sack"
    later = view_after(GameStep(ROOM, inventory=text), GameStep("Time passes.", "wait", "Mo not have any thing."))
    assert not later.facts(relation="is in", object="inventory")


def test_a_group_in_an_inventory_holds_nothing_and_a_container_does() -> None:
    coins = "  three coins:\n    a gold coin\n    a beautiful, shiny coin\n"
    text = f"You are carrying:\n{coins}  a sack\n  The sack contains:\n    a pear"
    view = view_after(GameStep(ROOM, inventory=text))
    carried = {fact.key[0] for fact in view.facts(relation="is in", object="inventory")}
    assert carried == {"gold coin", "beautiful, shiny coin", "sack"}
    assert view.value("pear", "is in") == "sack"


def test_what_is_taken_under_another_name_is_no_longer_where_it_was() -> None:
    start = GameStep(f"{ROOM}\nOn the bench is an long grey coat.\nIn the nest is a large egg with stripes.")
    view = view_after(start, GameStep("Taken.", "take coat", "You are carrying:\n  a grey coat"))
    assert not view.facts("long grey coat", "is on")
    view = view_after(start, GameStep("Taken.", "get egg", "You are carrying:\n  a striped egg"))
    assert not view.facts("large egg", "is in")
    assert view.holds(Fact("long grey coat", "is on", "bench"))


def test_what_leaves_the_hands_lies_where_the_command_put_it() -> None:
    start = GameStep(f"{ROOM}\nAn oak bench is here.", inventory="You are carrying:\n  a saw")
    empty = "You are empty-handed."
    assert view_after(start, GameStep("Done.", "put saw on bench", empty)).holds(Fact("saw", "is on", "oak bench"))
    assert view_after(start, GameStep("Dropped.", "drop saw", empty)).value("saw", "is in") == "Shed"
    assert not view_after(start, GameStep("It dissolves.", "eat saw", empty)).facts("saw", "is in")


def test_what_the_game_does_not_see_here_is_not_here() -> None:
    start = GameStep(f"{ROOM}\nThere is a rake here.")
    view = view_after(start, GameStep("You can't see any such thing.", "take rake"))
    assert not view.facts("rake", "is in")


def test_what_was_dropped_and_is_not_listed_any_more_is_gone() -> None:
    carried = "You are carrying:\n  a saw"
    view = view_after(
        GameStep(ROOM, inventory=carried),
        GameStep("Dropped.", "drop saw", "You are empty-handed."),
        GameStep("Yard\nThis is a yard.", "south"),
        GameStep("Shed\nThere is a rake here.", "north"),
    )
    assert not view.facts("saw", "is in")


def test_a_thing_that_the_inventory_calls_quite_differently_is_no_longer_where_it_was() -> None:
    start = GameStep(f"{ROOM}\nThere is a spray can here.", inventory="You are empty-handed.")
    view = view_after(start, GameStep("Taken.", "get can", "You are carrying:\n  a bottle of Moth Killer"))
    assert not view.facts("spray can", "is in")


def test_a_list_of_what_lies_in_a_known_thing_moves_nothing() -> None:
    view = view_after(
        GameStep(f"{ROOM}\nAn oak chest is here.", inventory="You are carrying:\n  a saw"),
        GameStep("Done.", "put saw in chest", "You are empty-handed."),
        GameStep(f"{ROOM}\nYour collection of tools consists of:\n  A saw", "look", "You are empty-handed."),
    )
    assert view.value("saw", "is in") == "oak chest"


def test_who_comes_and_who_goes() -> None:
    start = GameStep(f"{ROOM}\nMartha Reed is here.\nA brown goat is here.")
    yard = GameStep("Yard\nThis is a yard, and the shed is to the north.\n\nMartha comes walking behind you.", "south")
    view = view_after(start, yard)
    assert view.value("Martha Reed", "is in") == "Yard"
    assert view.value("brown goat", "is in") == "Shed"
    assert not view_after(start, GameStep("The goat runs away.", "wait")).facts("brown goat", "is in")
    killed = GameStep("One last blow, and it falls dead.", "kill goat with saw")
    assert not view_after(start, killed).facts("brown goat", "is in")
