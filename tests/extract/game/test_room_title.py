"""Titles of rooms: lines that are written like a name, above a description or as the name of a known room."""

from __future__ import annotations

import pytest

from worldthread_lab.game.room_identity import description_digest, shows_set_apart
from worldthread_lab.game.room_title import find_room_title

DESCRIPTION = "A long bare room with a window in the east wall and nothing else at all."
TITLES = [
    "No Man's Land",
    "Deck 3: Galley",
    "What Remains of the Kitchen",
    "12 Acacia Avenue",
    "'Tween Decks",
    "Hall \u2013 East End",
    "The Library, by Night",
    "But Still the Attic",
    "The Upper Landing of the East Wing of the House",
    "(Under the Stairs)",
    "Quay, Berth B (Oily)",
]
NO_TITLES = [
    "Done.\nAn almost inaudible voice tells you a secret, and then it is quiet again.",
    "Ouch!\nThe door hits you on the nose, and you stagger back into the corridor.",
    "You see: A Lamp\nIt is a lamp of brass, and somebody has polished it very recently.",
    "Nothing But Sand.\nYou dig for a while and stop, since there is nothing at all to be found.",
]


@pytest.mark.parametrize("title", TITLES)
def test_a_title_is_found_above_a_description_and_later_alone(title: str) -> None:
    described = find_room_title(f"{title}\n{DESCRIPTION}\n\nYou can see a cup here.", "north", lambda name: False)
    known = find_room_title(f"{title}\n\nYou can see a cup here.", "north", lambda name: name == title)
    assert described is not None
    assert known is not None
    assert described.name == known.name == title


@pytest.mark.parametrize("text", NO_TITLES)
def test_an_answer_is_no_title(text: str) -> None:
    assert find_room_title(text, "north", lambda name: False) is None


def test_what_the_player_is_on_is_no_part_of_a_title_with_an_aside() -> None:
    title = find_room_title(f"Quay, Berth B (Oily) (on the handcart)\n{DESCRIPTION}", "east", lambda name: False)
    assert title is not None
    assert (title.name, title.inside) == ("Quay, Berth B (Oily)", ("on", "handcart"))


def test_a_short_description_counts_where_reports_are_set_apart() -> None:
    assert shows_set_apart("\n\nA cup is here.")
    assert shows_set_apart("Dust. More dust.\n\nYou can see a cup here.")
    assert not shows_set_apart("Dust. More dust.\n\nA bell tolls.")
    assert not shows_set_apart("There is a cup here.")
    short = "Twisted and low."
    assert description_digest(short) is None
    assert description_digest(short, is_set_apart=True) == description_digest(f"{short}\n\nX", is_set_apart=True)
    assert description_digest("A cup is here.", is_set_apart=True) is None, "a report"
