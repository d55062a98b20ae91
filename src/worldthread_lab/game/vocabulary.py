"""The relations with which games are described, shared by extractors, agents and audits.

Every constructor gives the fact its *aspect*, the single-valued property that it states, so that a newer value ends
the older one: a thing is in one place, a door has one state. Facts without an aspect hold until an episode ends them.

========================================  ============================================  ==========================
fact                                      meaning                                       aspect
========================================  ============================================  ==========================
(player, is in, kitchen)                  where the player is                           place of player
(key 1, is in, room a)                    on the floor of a room                        place of key 1
(key 1, is in, white locker)              inside a container                            place of key 1
(key 1, is in, inventory)                 carried                                       place of key 1
(knife, is on, counter)                   on a supporter                                place of knife
(kitchen, is a, room)                     kind: room, container, supporter, door, key   none
(room a, has exit, west)                  a way out, open or through a door             exit west of room a
(room a, has no exit, west)               no way out: tried, or a text says so          exit west of room a
(room b, is west of, room a)              going west from room a leads to room b        west of room a
(room b, may be west of, room a)          presumed: only the opposite way was walked    west of room a
(room a, leads differently, west)         the way led to several rooms                  none
(room a, was refused, west)               a way that was known or presumed there failed none
(oak door, leads west from, room a)       the way west of room a goes through the door  door west of room a
(oak door, is, locked)                    open, closed or locked                        lock state of oak door
(temple, was reached, without a way)      first seen when something carried the player    none
(lamp, is, on)                            on or off, of what gives light or is switched light state of lamp
(brass lantern, is called, lamp)          another name: a text or a command uses it     none
(white house, is seen in, west of house)  a description of the room speaks of it        none
(potato, is, roasted)                     raw, fried, roasted, grilled or burned        heat state of potato
(potato, is, diced)                       uncut, sliced, diced or chopped               cut state of potato
(key 2, unlocks, red locker)              a text says so, or it was tried               none
(key 2, does not unlock, blue locker)     tried in vain                                 none
(recipe, needs, potato)                   an ingredient                                 none
(potato, must be, diced)                  a direction of the recipe                     none
(recipe, asks to, prepare meal)           any other direction, as a command             none
(maze, is described by, 0f3c9a1e)         a digest of the first line of a description    none
(known rooms, have, plain titles)         the game does not mark the titles of rooms    none
(known rooms, are described, briefly)     how the game describes rooms that it showed   description of known rooms
========================================  ============================================  ==========================

Fixed names: :data:`PLAYER`, :data:`INVENTORY`, :data:`RECIPE`, :data:`DARKNESS`, where the player is when it is too
dark to see, and :data:`GOAL`, the object of the theses that say what the task is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from worldthread.names import normalise_name
from worldthread.types import Fact

PLAYER: Final = "player"
INVENTORY: Final = "inventory"
RECIPE: Final = "recipe"
GOAL: Final = "goal"
DARKNESS: Final = "darkness"
KNOWN_ROOMS: Final = "known rooms"

IS_IN: Final = "is in"
IS_ON: Final = "is on"
IS: Final = "is"
IS_CALLED: Final = "is called"
IS_SEEN_IN: Final = "is seen in"
IS_A: Final = "is a"
HAS_EXIT: Final = "has exit"
HAS_NO_EXIT: Final = "has no exit"
LEADS_DIFFERENTLY: Final = "leads differently"
WAS_REFUSED: Final = "was refused"
WAS_REACHED: Final = "was reached"
IS_DESCRIBED_BY: Final = "is described by"
ARE_DESCRIBED: Final = "are described"
HAVE: Final = "have"
UNLOCKS: Final = "unlocks"
DOES_NOT_UNLOCK: Final = "does not unlock"
NEEDS: Final = "needs"
MUST_BE: Final = "must be"
ASKS_TO: Final = "asks to"

OPPOSITE: Final[dict[str, str]] = {
    "north": "south", "south": "north", "east": "west", "west": "east",
    "northeast": "southwest", "southwest": "northeast", "northwest": "southeast", "southeast": "northwest",
    "up": "down", "down": "up", "in": "out", "out": "in",
}  # fmt: skip
"""Every direction, with the one that leads back."""

DIRECTION_OF: Final[dict[str, str]] = {f"is {direction} of": direction for direction in OPPOSITE}
"""Relation of a link between rooms, with its direction."""

PRESUMED_DIRECTION_OF: Final[dict[str, str]] = {f"may be {direction} of": direction for direction in OPPOSITE}
"""Relation of a way between rooms that was not walked, with its direction."""

BOOKKEEPING: Final = frozenset(
    {
        *PRESUMED_DIRECTION_OF,
        LEADS_DIFFERENTLY,
        WAS_REFUSED,
        WAS_REACHED,
        IS_DESCRIBED_BY,
        ARE_DESCRIBED,
        HAVE,
        IS_CALLED,
    }
)
"""Relations that serve to draw the map and to find things by their names, and tell a reader nothing else."""

DOOR_LEADS: Final[dict[str, str]] = {f"leads {direction} from": direction for direction in OPPOSITE}
"""Relation of a door to a room, with the direction in which it leads."""

OPEN: Final = "open"
CLOSED: Final = "closed"
LOCKED: Final = "locked"
LOCK_STATES: Final = frozenset({OPEN, CLOSED, LOCKED})
ON: Final = "on"
OFF: Final = "off"
LIGHT_STATES: Final = frozenset({ON, OFF})
HEAT_STATES: Final = frozenset({"raw", "fried", "roasted", "grilled", "burned", "cooked"})
CUT_STATES: Final = frozenset({"uncut", "sliced", "diced", "chopped"})

KINDS: Final = frozenset({"room", "container", "supporter", "door", "key"})

_made_once = lru_cache(maxsize=8192)
"""Facts of a game are made again at every step: each is checked and normalised once."""


@_made_once
def place(thing: str, relation: str, where: str) -> Fact:
    """Return that ``thing`` is in or on ``where``; ``relation`` is :data:`IS_IN` or :data:`IS_ON`."""
    return Fact(thing, relation, where, aspect=f"place of {normalise_name(thing)}")


@_made_once
def kind(thing: str, of: str) -> Fact:
    """Return that ``thing`` is a room, container, supporter, door or key (see :data:`KINDS`)."""
    return Fact(thing, IS_A, of)


@_made_once
def other_name(thing: str, name: str) -> Fact:
    """Return that ``thing`` also goes by ``name``."""
    return Fact(thing, IS_CALLED, name)


@_made_once
def seen(thing: str, room: str) -> Fact:
    """Return that a description of ``room`` speaks of ``thing``, which may be seen in other rooms, too."""
    return Fact(thing, IS_SEEN_IN, room)


@_made_once
def exit_of(room: str, direction: str, *, exists: bool = True) -> Fact:
    """Return that ``room`` has, or does not have, an exit in ``direction``."""
    aspect = f"exit {direction} of {normalise_name(room)}"
    return Fact(room, HAS_EXIT if exists else HAS_NO_EXIT, direction, aspect=aspect)


@_made_once
def link(there: str, direction: str, here: str) -> Fact:
    """Return that going ``direction`` from room ``here`` leads to room ``there``."""
    return Fact(there, f"is {direction} of", here, aspect=f"{direction} of {normalise_name(here)}")


@_made_once
def presumed_link(there: str, direction: str, here: str) -> Fact:
    """Return that going ``direction`` from room ``here`` is presumed to lead to room ``there``."""
    return Fact(there, f"may be {direction} of", here, aspect=f"{direction} of {normalise_name(here)}")


def door_of(door: str, direction: str, room: str) -> Fact:
    """Return that the exit of ``room`` in ``direction`` goes through ``door``.

    A side of a room has one door, but where doors have numbers, there may be several.
    """
    aspect = f"door {direction} of {normalise_name(room)}"
    if any(character.isdecimal() for character in door):
        aspect = f"{normalise_name(door)}, {aspect}"
    return Fact(door, f"leads {direction} from", room, aspect=aspect)


@_made_once
def state(thing: str, value: str) -> Fact:
    """Return that ``thing`` is in a state.

    Args:
        thing: the name of the thing.
        value: a word of :data:`LOCK_STATES`, :data:`LIGHT_STATES`, :data:`HEAT_STATES` or :data:`CUT_STATES`, each of
            which is one aspect, or any other word, which has no aspect.

    Returns:
        The fact (``thing``, is, ``value``).
    """
    if value in LOCK_STATES:
        family = "lock"
    elif value in LIGHT_STATES:
        family = "light"
    elif value in HEAT_STATES:
        family = "heat"
    elif value in CUT_STATES:
        family = "cut"
    else:
        return Fact(thing, IS, value)
    return Fact(thing, IS, value, aspect=f"{family} state of {normalise_name(thing)}")
