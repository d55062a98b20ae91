"""Answers questions to the memory by rules: where something is, exits, what is carried."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from worldthread.errors import InputError, NotFoundError
from worldthread.graph import GraphView
from worldthread.names import match_name, normalise_name
from worldthread.support.text import one_line
from worldthread.types import Fact
from worldthread_lab.agents.whereabouts import Whereabouts
from worldthread_lab.agents.worldmap import WorldMap
from worldthread_lab.game import vocabulary as v

QUESTIONS: Final = (
    "where am i",
    "where is THING",
    "what do i carry",
    "exits from ROOM",
    "unexplored exits",
    "unexplored exits from ROOM",
    "about THING",
)
"""The questions that can be asked. Without a room, exits are those of this room, unexplored ones those of all rooms."""

SHOWN: Final = 12
"""Entries of an answer, at most; chosen by hand, not tuned."""

_HERE: Final = re.compile(r"^where am i\b|^where (?:is|are) (?:the )?(?:player|you|we|i)\b")
_CARRIED: Final = re.compile(r"\binventory\b|\bcarry(?:ing)?\b|\bdo i have\b|\bhave i\b|\bi hold\b")
_EXITS: Final = re.compile(
    r"^(?:what |which |list |are |the |known |any )*(?P<new>unexplored )?(?:exits?|ways?(?: out)?)\b"
    r"(?:.*?\b(?:from|of|in|at)\s+(?P<room>.+))?$"
)
_WHERE: Final = re.compile(r"^where(?:'s| is| are| was| were)\s+(?P<thing>.+)$")
_ABOUT: Final = re.compile(r"^(?:what (?:do i know|is known) )?about\s+(?P<thing>.+)$")
_THIS_ROOM: Final = frozenset({"", "here", "this room", "this place", "current room", "room"})


def look_up(view: GraphView, question: str) -> str:
    """Answer one of :data:`QUESTIONS` in words; the text of the error when there is no answer."""
    try:
        return answer(view, question)
    except (InputError, NotFoundError) as error:
        return str(error)


def answer(view: GraphView, question: str) -> str:
    """Answer one of :data:`QUESTIONS` in words.

    Args:
        view: what the memory holds.
        question: the question. A thing or a room may be named in part, as long as every word is one of its name.

    Returns:
        The answer.

    Raises:
        InputError: this is not one of the questions.
        NotFoundError: nothing of that name is known.
    """
    asked = one_line(question.casefold()).rstrip("?.! ")
    world = WorldMap(view)
    if _HERE.search(asked):
        return f"You are in {world.here}." if world.here else "It is not known where you are."
    if _CARRIED.search(asked):
        return f"You carry: {', '.join(carried(view)) or 'nothing that is known'}."
    if found := _EXITS.match(asked):
        return _exits(world, found["room"], only_new=found["new"] is not None)
    if found := _WHERE.match(asked):
        return _where(view, world, found["thing"])
    if found := _ABOUT.match(asked):
        return _about(view, found["thing"])
    raise InputError(f"The memory does not understand {question[:100]!r}. It can be asked: {'; '.join(QUESTIONS)}.")


def carried(view: GraphView) -> tuple[str, ...]:
    """Return the names of what is carried, as written."""
    return tuple(fact.subject for fact in view.facts(relation=v.IS_IN, object=v.INVENTORY))


def surroundings(view: GraphView, *, says_what_is_unknown: bool = False) -> list[str]:
    """Return a few lines about the present room, and about the rooms with unexplored exits.

    Args:
        view: what the memory holds.
        says_what_is_unknown: whether to say of things and ways that none is known, as earlier prompts do.

    Returns:
        The lines.
    """
    world = WorldMap(view)
    if world.here is None:
        return ["It is not known where you are."]
    if not says_what_is_unknown:
        return _known_surroundings(view, world, world.here)
    things = [fact.subject for fact in view.facts(relation=v.IS_IN, object=world.here) if fact.key[0] != v.PLAYER]
    elsewhere = sorted({exit_.room for exit_ in world.unexplored} - {world.here})
    lines = [
        f"You are in {world.here}. You carry: {', '.join(carried(view)[:SHOWN]) or 'nothing that is known'}.",
        f"Here: {', '.join(things[:SHOWN]) or 'nothing that is known'}.",
        _exits(world, "", only_new=False),
    ]
    if elsewhere:
        lines.append(f"Ways that were never taken also lead from: {', '.join(elsewhere[:SHOWN])}.")
    return lines


def _known_surroundings(view: GraphView, world: WorldMap, here: str) -> list[str]:
    things = [fact.subject for fact in view.facts(relation=v.IS_IN, object=here) if fact.key[0] != v.PLAYER]
    new = [exit_.direction for exit_ in world.unexplored if exit_.room == here]
    known = [f"{direction} to {there}" for direction, there in sorted(world.exits.get(here, {}).items())]
    elsewhere = sorted({exit_.room for exit_ in world.unexplored} - {here})
    found = [
        ("You carry", carried(view)),
        ("Here", things),
        ("Ways from here that were never taken", new),
        ("Ways from here that are known", known),
        ("Ways that were never taken also lead from", elsewhere),
    ]
    return [f"You are in {here}.", *(f"{what}: {', '.join(names[:SHOWN])}." for what, names in found if names)]


def _exits(world: WorldMap, name: str | None, *, only_new: bool) -> str:
    if only_new and name is None:
        found = [f"{exit_.direction} from {exit_.room}" for exit_ in world.unexplored]
        return f"Ways never taken: {', '.join(found[:SHOWN]) or 'none is known'}."
    rooms = (
        (world.here,) if normalise_name(name or "here") in _THIS_ROOM or not name else matching_names(name, world.rooms)
    )
    if not rooms:
        raise NotFoundError(f"No room called {name!r} is known.")
    room = rooms[0]
    if room is None:
        return "It is not known where you are."
    new = [exit_.direction for exit_ in world.unexplored if exit_.room == room]
    lines = [f"Ways from {room} that were never taken: {', '.join(new[:SHOWN]) or 'none is known'}."]
    if not only_new:
        known = [f"{direction} to {there}" for direction, there in sorted(world.exits.get(room, {}).items())]
        lines.append(f"Ways from {room} that are known: {', '.join(known[:SHOWN]) or 'none'}.")
    return " ".join(lines)


def _where(view: GraphView, world: WorldMap, name: str) -> str:
    whereabouts = Whereabouts(view, world)
    things = whereabouts.called(name)
    answers = [whereabouts.told(thing) for thing in things]
    rooms = matching_names(name, world.rooms) if not things else match_name(name, world.rooms)
    if not things and normalise_name(name) not in rooms:  # "troll" is not the troll room
        answers += [f"No thing called {name!r} is known."] if rooms else []
    answers += [f"{room} is a room; from here: {_way_to(world, room)}." for room in rooms]
    if not answers:
        raise NotFoundError(f"Nothing called {name!r} is known.")
    return " ".join(answers[:SHOWN])


def _way_to(world: WorldMap, room: str) -> str:
    path, is_walked = world.path(room), True
    if path is None:
        path, is_walked = world.path(room, presumed=True), False
    if path is None:
        return "no way is known"
    if not path:
        return "you are there"
    return " then ".join(path) if is_walked else f"perhaps {' then '.join(path)}, by ways that were never walked so"


def _about(view: GraphView, name: str) -> str:
    found = [statement for key in _named(view, name) for statement in view.about(key)]
    # what serves to draw the map tells a reader nothing
    told = [one for one in found if not isinstance(one, Fact) or one.relation not in v.BOOKKEEPING]
    statements = [str(statement) for statement in told]
    return "; ".join(statements[:SHOWN]) + "."


def matching_names(name: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the names that a name may mean.

    Args:
        name: as a person or a model writes it.
        known: normalised names.

    Returns:
        Those equal to ``name``, else those that differ in grammatical number, else those with all of its words.
    """
    found = match_name(name, known)
    if found:
        return found
    words = set(normalise_name(name).split())
    return tuple(sorted(key for key in known if words and words <= set(key.split())))


def _named(view: GraphView, name: str) -> tuple[str, ...]:
    told = [fact for fact in view.facts() if fact.relation not in v.BOOKKEEPING]
    keys = matching_names(name, {key for fact in told for key in (fact.key[0], fact.key[2])})
    keys = keys or Whereabouts(view, WorldMap(view)).called(name)
    if not keys:
        raise NotFoundError(f"Nothing called {name!r} is known.")
    return keys[:SHOWN]
