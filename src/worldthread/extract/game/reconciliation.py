"""Ends what a step shows to be no longer so although no sentence says it: other names of one thing, and things gone.

* A thing that is said to be somewhere under a new name is no longer in this room under an older one ("long grey coat"
  and "grey coat"), unless the text speaks of both.
* What the player puts somewhere leaves the inventory and lies there, by the command.
* What the command named and the game does not know here is not here.
* What was carried once, and lay in this room, is gone when a description of the room does not name it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from worldthread.extract.game import vocabulary as v
from worldthread.extract.game.statement_collector import StatementCollector
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact

_PUT_DOWN: Final = re.compile(r"(?:drop|put down|leave|throw|discard)\b", re.I)
_PUT: Final = re.compile(
    r"(?:put|place|insert|drop|hang|throw|lay|set|stick) (?P<thing>.+?) (?P<preposition>onto|on|into|inside|in) "
    r"(?:the |an? )?(?P<where>.+)$",
    re.I,
)
_TAKES: Final = re.compile(
    r"(?:take|get|pick up|grab|steal|remove|wear) (?:the |an? )?(?P<thing>[\w' -]+?)(?: (?:from|out|off|up) .*)?$", re.I
)
_NAMES: Final = re.compile(
    r"\w+ (?:at |up |on |the |an? )*(?P<thing>[\w' -]+?)(?: (?:from|with|on|in|into|to|at) .*)?$"
)
_NOT_HERE: Final = re.compile(
    r"\b(?:can(?:no|')?t|can not|do(?:n't| not)|not) (?:see|find)\b[^.!?\n]*\b(?:such|any|that|here)\b"
    r"|\b(?:there is|there's) no [\w' -]+ here\b|\b(?:isn't|aren't|is not|are not) here\b",
    re.I,
)


_TAKEN: Final = re.compile(r"\W*taken\b", re.I)
_BEING: Final = r"(?P<who>[A-Za-z][\w-]*(?: [a-z][\w-]*)?)"
_COMES: Final = re.compile(
    rf"(?:^|(?<=[.!?] )|(?<=\n))(?:(?:The|An?) )?{_BEING} "
    r"(?:comes? (?:\w+ )?(?:in|with|behind|after|up|from)|follows? you|(?:walks?|runs?) in|enters|arrives|joins you|"
    r"appears)\b"
)
_GOES: Final = re.compile(
    rf"\b(?:[Tt]he|[Aa]n?) {_BEING} (?:suddenly |then |quickly |slowly |finally )?"
    r"(?:disappears|vanishes|(?:has|is) (?:gone|disappeared|vanished|dead)|dies|departs|"
    r"leaves(?! (?:the|an?|his|her|you))|(?:flies|walks|runs) (?:away|off|out)|goes away|crumbles|evaporates|"
    r"is destroyed)\b"
)
_KILLS: Final = re.compile(
    r"(?:kill|attack|hit|stab|slay|fight|shoot) (?:the |an? )?(?P<who>[\w' -]+?)(?: with .*)?$", re.I
)
_IS_DEAD: Final = re.compile(r"\b(?:dies|dead|lifeless|slain|killed|last breath|final blow|carcass|corpse)\b", re.I)
_NOBODY: Final = frozenset({"you", "it", "he", "she", "they", "which", "that", "who", "there", "nothing", "something"})


def reconcile(
    action: str | None,
    text: str,
    room: str | None,
    describes_room: bool,
    view: GraphView,
    collector: StatementCollector,
) -> None:
    """End what the step shows to be no longer so.

    Args:
        action: the command; ``None`` for the opening text.
        text: the observation.
        room: where the player is after the step; ``None`` when it is not known.
        describes_room: whether the text has the room's title.
        view: what the memory holds before the step.
        collector: has the statements of the step, and takes the endings.
    """
    said = {s.key[0]: s for s in collector.statements if isinstance(s, Fact) and s.key[1] in (v.IS_IN, v.IS_ON)}
    new = {name: fact for name, fact in said.items() if name != v.PLAYER and not view.holds(fact)}
    for who, arrives in _movements(action, text):
        _move(who, room if arrives else None, view, collector)
    is_missing = action is not None and not describes_room and _NOT_HERE.search(text) is not None
    here = None if room is None else normalise_name(room)
    if new or is_missing:
        known = [fact for relation in (v.IS_IN, v.IS_ON) for fact in view.facts(relation=relation)]
        places = {fact.key[0]: fact for fact in known if fact.key[0] != v.PLAYER}
        near = dict.fromkeys((fact.key[0] for fact in view.facts(relation=v.IS_A, object="room")), False)
        near |= {v.INVENTORY: True} | ({} if here is None else {here: True})
        at_hand = {
            name: fact for name, fact in places.items() if name not in said and _is_near(fact.key[2], near, places)
        }
        if action is not None and _TAKEN.match(text):
            _end_what_was_asked_for(action, new, at_hand, collector)
        _end_other_names(action, new, at_hand, collector)
        _keep_known_places(new, near, places, collector)
        named = _NAMES.match(action) if action is not None and is_missing else None
        thing = "" if named is None else normalise_name(named["thing"])
        collector.end([fact for name, fact in at_hand.items() if are_alike(name, thing)], "it is not here")
    if describes_room and here is not None:
        words = set(re.findall(r"[a-z0-9']+", text.casefold()))
        for fact in view.facts(relation=v.IS_IN, object=here):
            name = fact.key[0]
            if name not in said and not words & set(name.split()) and _was_carried(name, view):
                collector.end([fact], "it is not there any more")


def place_of_what_is_gone(
    gone: list[Fact], action: str, room: str | None, view: GraphView, collector: StatementCollector
) -> None:
    """Add where things are that the last command put down or put somewhere.

    Args:
        gone: the facts that they were carried.
        action: the command.
        room: where the player is; ``None`` when it is not known.
        view: what the memory holds before the step.
        collector: takes the statements.
    """
    put = _PUT.match(action)
    if put is not None and normalise_name(put["where"]) not in ("ground", "floor"):
        where = _known_name(normalise_name(put["where"]), view)
        relation = v.IS_ON if put["preposition"].lower() in ("on", "onto") else v.IS_IN
        for fact in gone:
            if fact.key[0] != where:
                collector.add(v.place(fact.subject, relation, where))
    elif _PUT_DOWN.match(action) and room is not None:
        for fact in gone:
            collector.add(v.place(fact.subject, v.IS_IN, room))


def are_alike(name: str, other: str) -> bool:
    """Return whether two names may be of one thing: one has all words of the other, and both end with the same word."""
    one, two = name.split(" of ")[0].split(), other.split(" of ")[0].split()
    return bool(one and two) and one[-1] == two[-1] and (set(one) <= set(two) or set(two) <= set(one))


def _end_other_names(
    action: str | None, new: dict[str, Fact], at_hand: dict[str, Fact], collector: StatementCollector
) -> None:
    """End what is known in this room, or carried, of things that the step names differently."""
    taken = [name for name, fact in new.items() if fact.key[2] == v.INVENTORY]
    asked = _TAKES.match(action) if action is not None and len(taken) == 1 else None
    word = normalise_name(asked["thing"]).split()[-1] if asked is not None else None
    if word is not None and word not in taken[0].split():
        word = None
    for name, fact in at_hand.items():
        by_command = word is not None and word in name.split() and fact.key[2] != v.INVENTORY
        if by_command or any(are_alike(name, other) for other in new):
            collector.end([fact], "goes by another name")


def _end_what_was_asked_for(
    action: str, new: dict[str, Fact], at_hand: dict[str, Fact], collector: StatementCollector
) -> None:
    """End that a thing lies here which was asked for, and which the inventory calls by quite another name."""
    asked = _TAKES.match(action)
    taken = [name for name, fact in new.items() if fact.key[2] == v.INVENTORY]
    if asked is None or len(taken) != 1:
        return
    lying = [fact for name, fact in at_hand.items() if fact.key[2] != v.INVENTORY]
    meant = [fact for fact in lying if are_alike(fact.key[0], normalise_name(asked["thing"]))]
    if len(meant) == 1:
        collector.end(meant, "goes by another name")


def _keep_known_places(
    new: dict[str, Fact], near: dict[str, bool], places: dict[str, Fact], collector: StatementCollector
) -> None:
    """Drop places that are no things, such as a collection, of what is known to be in or on a thing of this room."""
    holders = {fact.key[2] for fact in places.values()}
    for name, fact in new.items():
        old, where = places.get(name), fact.key[2]
        if (
            old is not None
            and where not in near
            and where not in places
            and where not in holders
            and _is_near(old.key[2], near, places)
            and old.key[2] != v.INVENTORY
        ):
            collector.drop(fact)


def _movements(action: str | None, text: str) -> Iterator[tuple[str, bool]]:
    """Yield who comes, or goes away or ends, as a text says, and whether it comes."""
    for pattern, arrives in ((_COMES, True), (_GOES, False)):
        for match in pattern.finditer(text):
            who = normalise_name(match["who"])
            if who not in _NOBODY:
                yield who, arrives
    struck = _KILLS.match(action) if action is not None else None
    if struck is not None and _IS_DEAD.search(text):
        yield normalise_name(struck["who"]), False


def _move(who: str, room: str | None, view: GraphView, collector: StatementCollector) -> None:
    """Add where somebody known is who came, or end where somebody was who went."""
    known = [
        fact
        for relation in (v.IS_IN, v.IS_ON)
        for fact in view.facts(relation=relation)
        if (fact.key[0] == who or fact.key[0].split()[0] == who or are_alike(fact.key[0], who))
        and fact.key[0] != v.PLAYER
    ]
    if len({fact.key[0] for fact in known}) != 1:
        return
    if room is None:
        collector.end(known, "it went away")
    else:
        collector.add(v.place(known[0].subject, v.IS_IN, room))


def _is_near(place: str, near: dict[str, bool], places: dict[str, Fact]) -> bool:
    """Whether a place is the inventory, this room, in one of them, or a thing of which no place is known.

    Args:
        place: the place.
        near: what is decided already, rooms among it; takes what is found.
        places: where things are.

    Returns:
        Whether it is; recorded in ``near`` too.
    """
    if place not in near:
        near[place] = False  # for things that are said to be in each other
        inside = places.get(place)
        near[place] = inside is None or _is_near(inside.key[2], near, places)
    return near[place]


def _was_carried(name: str, view: GraphView) -> bool:
    carried = (name, v.IS_IN, v.INVENTORY)
    return any(isinstance(s := version.statement, Fact) and s.key == carried for version in view.timeline(name))


def _known_name(name: str, view: GraphView) -> str:
    """Return the known thing that a name in a command means; the name itself when there is not exactly one."""
    facts = [fact for relation in (v.IS_IN, v.IS_ON) for fact in view.facts(relation=relation)]
    known = {part for fact in facts for part in (fact.key[0], fact.key[2]) if part != name}
    found = [other for other in sorted(known) if are_alike(name, other)]
    return found[0] if len(found) == 1 else name
