"""The vocabulary of houses: large enough, and unambiguous for the engine."""

from __future__ import annotations

from itertools import permutations

from worldthread_lab.envs.household import ALWAYS, HOUSEHOLD

PIECES = [piece for furniture in HOUSEHOLD.values() for piece in furniture]
THINGS = [thing for piece in PIECES for thing in piece.things]
NAMES = [*HOUSEHOLD, *(piece.name for piece in PIECES), *THINGS]


def test_the_vocabulary_is_large_enough() -> None:
    assert len(HOUSEHOLD) >= 14
    assert len(PIECES) >= 35
    assert len(THINGS) >= 120
    assert set(ALWAYS) <= set(HOUSEHOLD)


def test_every_room_can_hold_misplaced_things_and_every_piece_its_own() -> None:
    assert all(any(piece.kind == "supporter" for piece in furniture) for furniture in HOUSEHOLD.values())
    assert all(len(piece.things) >= 2 for piece in PIECES)


def test_every_thing_has_one_right_place() -> None:
    assert len(set(THINGS)) == len(THINGS)
    assert len({name.casefold() for name in NAMES}) == len(NAMES)


def test_no_name_can_be_taken_for_another() -> None:
    # the parser accepts some of the words of a name, and reads nine letters of each
    words = {name: frozenset(word[:9] for word in name.casefold().split()) for name in NAMES}
    objects = [name for name in NAMES if name not in HOUSEHOLD]
    assert [(one, other) for one, other in permutations(objects, 2) if words[one] <= words[other]] == []


def test_names_can_be_parsed() -> None:
    prepositions = {"in", "into", "on", "onto", "with", "from", "of", "to", "at", "and"}
    assert [name for name in NAMES if prepositions & set(name.casefold().split())] == []
    assert [name for name in NAMES if name.startswith(("P", "I"))] == []


def test_furniture_is_named_by_the_relation_of_its_kind() -> None:
    relations = {(piece.kind, piece.relation) for piece in PIECES}
    assert relations == {("supporter", "on"), ("open", "in"), ("closed", "in")}
