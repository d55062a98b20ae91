"""Ends what a step shows to be no longer so: other names of one thing, things that are gone, changed or taken.

* A thing that is said to be somewhere under a new name is no longer in this room under an older one ("long grey coat"
  and "grey coat"), unless the text speaks of both.
* What the player puts somewhere leaves the inventory and lies there, by the command.
* What the command named and the game does not know here is not here.
* What the text says of comings and goings and of what becomes of things (:mod:`~worldthread_lab.game.events`).
* What was carried once, and lay in this room, is gone when a description of the room does not name it.
"""

from __future__ import annotations

import re
from typing import Final

from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.events import (
    Movement,
    Putting,
    changes,
    emptied,
    laid_down,
    movements,
    puttings,
    revealed,
    taken_first,
    takings,
    without_speech,
)
from worldthread_lab.game.listing import divided, is_abstract, is_part_of_building, is_part_of_room, items
from worldthread_lab.game.statement_collector import StatementCollector
from worldthread_lab.game.words import words

_PUT_DOWN: Final = re.compile(r"(?:drop|put down|leave|throw|discard)\b|put .+ down$", re.I)
_PUT: Final = re.compile(
    r"(?:put|place|insert|drop|hang|throw|lay|set|stick|pour|tip|empty|stuff|shove|slip|slide|load) "
    r"(?P<thing>.+?) (?P<preposition>onto|on|into|inside|in) "
    r"(?:the |an? )?(?P<where>.+)$",
    re.I,
)
_FASTENS: Final = re.compile(
    r"(?:tie|attach|fasten|hook|fix|lash|clip|chain|moor|nail|pin|screw|bolt) (?P<thing>.+?) "
    r"(?:to|onto|on|around|round|over) (?P<where>.+)$",
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


_FROM_WHERE_ONE_STANDS: Final = re.compile(
    r"\b(?:close by|nearby|in sight), \d+ (?:north|south|east|west)|\b\d+ (?:north|south|east|west) of you\b"
)
_IN_DOORWAY: Final = re.compile(r"\byou (?:stand|are) in (?:the |an? )?[\w ]*door", re.I)
_TAKEN: Final = re.compile(r"\W*taken\b", re.I)
_TAKES_ALL: Final = re.compile(r"(?:take|get|pick up|grab) (?:all|everything)\b", re.I)
_COLLECTION: Final = re.compile(
    r"^(?:[\w'-]+ )*?(?:set|pair|bunch|pile|heap|stack|bundle|coil|couple|group|handful|armful|pinch|wisp|tuft|sheaf|"
    r"sheet|ball|skein|hank|bar|lump|length) of "
)
"""Words by which a name counts things that may also go by their own name alone; a piece of a thing is not the thing."""


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
    _tell_events(action, text, room, view, collector, said)
    is_missing = action is not None and not describes_room and _NOT_HERE.search(text) is not None
    here = None if room is None else normalise_name(room)
    is_back = describes_room and room is not None and view.holds(v.kind(room, "room"))
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
        _end_other_names(action, new, at_hand, places, collector)
        if action is not None and _TAKES_ALL.match(action):
            _end_what_all_was(new, at_hand, collector)
        _keep_known_places(new, near, places, collector)
        named = _NAMES.match(action) if action is not None and is_missing else None
        thing = "" if named is None else normalise_name(named["thing"])
        collector.end([fact for name, fact in at_hand.items() if are_alike(name, thing)], "it is not here")
    if is_back and here is not None:
        _end_what_is_not_shown(here, text, view, collector, said)


def _end_what_is_not_shown(
    room: str, text: str, view: GraphView, collector: StatementCollector, said: dict[str, Fact]
) -> None:
    """End that something is in a room, or in or on a thing there, that the text of the room does not name.

    That is so of what was carried once and lay in the room, and of what an earlier text of this room named: any, when
    the description is printed again; below the bare title, what was named there before, too.

    Args:
        room: the room of the player, normalised.
        text: the observation.
        view: what the memory holds before the step.
        collector: has the statements of the step, and takes the endings.
        said: where the step says that things are.
    """
    spoken = set(re.findall(r"[a-z0-9']+", text.casefold()))
    lying = [fact for fact in view.facts(relation=v.IS_IN, object=room) if fact.key[0] != v.PLAYER]
    shown: set[str] | None = None
    movable = False
    gone: set[str] = set()  # what is in or on a thing goes with it
    named = {fact.key[2] for fact in view.facts(relation=v.IS_ON) if _is_named(fact.key[2], spoken)}
    for holder in (room, *dict.fromkeys((*(fact.key[0] for fact in lying), *sorted(named)))):
        for fact in lying if holder == room else () if holder in gone else view.facts(object=holder):
            name = fact.key[0]
            if (
                fact.key[1] not in (v.IS_IN, v.IS_ON)
                or name in said
                or fact in collector.endings
                or _is_named(fact.subject, spoken)
            ):
                continue
            was_carried = _was_carried(name, view)
            if holder != room or not was_carried:
                if shown is None:
                    shown, movable = _shown_in(room, view, collector)
                if (movable and not was_carried) or shown.isdisjoint(sources_of(fact, view)):
                    continue
                if _is_closed(holder, view, collector):
                    continue
            gone.add(name)
            collector.end([fact], "it is not there any more")


def _is_named(name: str, spoken: set[str]) -> bool:
    """Return whether a text may name a thing by its last word, or somebody by any word of the name."""
    if name[:1].isupper():
        return not spoken.isdisjoint(normalise_name(name).split())
    parts = normalise_name(name).split(" of ")
    return any(part.split()[-1] in spoken or part.split()[-1].removesuffix("s") in spoken for part in parts)


def _shown_in(room: str, view: GraphView, collector: StatementCollector) -> tuple[set[str], bool]:
    """Return the episodes whose text would name again what is there still: displays of the room as full as this one.

    Also returns whether that is so only of what can be carried: the description begins as before and goes on otherwise.
    """
    displays = set(sources_of(v.kind(room, "room"), view))
    known = view.facts(room, v.IS_DESCRIBED_BY)
    described = [s for s in collector.statements if isinstance(s, Fact) and s.key[:2] == (room, v.IS_DESCRIBED_BY)]
    if described:
        opening = described[0].key[2].split("-")[0]
        is_alike = any(fact.key[2].split("-")[0] == opening for fact in known)
        return displays if is_alike else set(), not view.holds(described[0])
    return displays.difference(*(sources_of(fact, view) for fact in known)), False


def sources_of(fact: Fact, view: GraphView) -> list[str]:
    """Return the episodes that assert a fact that holds."""
    return [source for version in view.versions(fact) if version.ended_by is None for source in version.sources]


def _is_closed(thing: str, view: GraphView, collector: StatementCollector) -> bool:
    states = [s.key[2] for s in collector.statements if isinstance(s, Fact) and s.key[:2] == (thing, v.IS)]
    states = states or [fact.key[2] for fact in view.facts(thing, v.IS)]
    return v.CLOSED in states or v.LOCKED in states


def end_what_is_not_seen(room: str, text: str, view: GraphView, collector: StatementCollector) -> None:
    """End that something is in a room whose description tells from where the player stands and does not name it.

    "A jackal is close by, 1 east" comes from a game that tells at every step of all that is in sight: what is named no
    more was picked up, died, left, or goes by a longer name.

    Args:
        room: the room of the player.
        text: the observation.
        view: what the memory holds before the step.
        collector: has the statements of the step, and takes the endings.
    """
    if not _FROM_WHERE_ONE_STANDS.search(text) or _IN_DOORWAY.search(text):
        return  # from a doorway not all of a room is in sight
    said = {s.key[0] for s in collector.statements if isinstance(s, Fact) and s.key[1] in (v.IS_IN, v.IS_ON)}
    here = normalise_name(room)
    gone = [fact for fact in view.facts(relation=v.IS_IN, object=here) if fact.key[0] not in (*said, v.PLAYER)]
    collector.end(gone, "it is not seen there any more")


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
    asked = thing_put_away(action)
    meant = [fact for fact in gone if asked is not None and are_alike(fact.key[0], asked)]
    gone = meant or gone  # what is gone besides is gone for another reason
    put = _PUT.match(action)
    if put is not None and normalise_name(put["where"]) not in ("ground", "floor"):
        where = _known_name(normalise_name(put["where"]), view)
        relation = v.IS_ON if put["preposition"].lower() in ("on", "onto") else v.IS_IN
        for fact in gone:
            if fact.key[0] != where:
                collector.add(v.place(fact.subject, relation, where))
    elif (_PUT_DOWN.match(action) or _is_fastened_here(action, view)) and room is not None:
        for fact in gone:
            collector.add(v.place(fact.subject, v.IS_IN, room))


def _is_fastened_here(action: str, view: GraphView) -> bool:
    """Return whether a command ties a thing to something that is not carried."""
    fastens = _FASTENS.match(action)
    if fastens is None:
        return False
    carried = view.facts(relation=v.IS_IN, object=v.INVENTORY)
    return not any(are_alike(fact.key[0], normalise_name(fastens["where"])) for fact in carried)


def thing_put_away(action: str) -> str | None:
    """Return the thing that a command puts somewhere, normalised; ``None`` for another command."""
    put = _PUT.match(action) or _FASTENS.match(action)
    if put is not None:
        return normalise_name(put["thing"])
    named = _NAMES.match(action) if _PUT_DOWN.match(action) else None
    return None if named is None else normalise_name(named["thing"])


def name_taken(action: str) -> str | None:
    """Return the thing that a command takes, normalised; ``None`` for another command."""
    asked = _TAKES.match(action)
    return None if asked is None else normalise_name(asked["thing"])


def are_alike(name: str, other: str) -> bool:
    """Return whether two names may be of one thing: one has all words of the other, and both end with the same word."""
    one, two = _words_of_thing(name), _words_of_thing(other)
    return bool(one and two) and one[-1] == two[-1] and (set(one) <= set(two) or set(two) <= set(one))


def _words_of_thing(name: str) -> list[str]:
    """Return the words of a name without what it is of, or of what it counts ("keys" for "set of keys")."""
    name = name.replace("-", " ")  # a nasty-looking knife is a nasty knife
    return _COLLECTION.sub("", name).split(" of ")[0].split() if " of " in name else name.split()


def _end_other_names(
    action: str | None,
    new: dict[str, Fact],
    at_hand: dict[str, Fact],
    places: dict[str, Fact],
    collector: StatementCollector,
) -> None:
    """End what is known in this room, or carried, of things that the step names differently."""
    # what was known under its own name has no other: "take suit" says nothing of the suit rack
    taken = [name for name, fact in new.items() if fact.key[2] == v.INVENTORY and name not in places]
    asked = _TAKES.match(action) if action is not None and len(taken) == 1 else None
    word = normalise_name(asked["thing"]).split()[-1] if asked is not None else None
    if word is not None and word not in taken[0].split():
        word = None
    for name, fact in at_hand.items():
        by_command = word is not None and word in name.split() and fact.key[2] != v.INVENTORY
        alike = taken[0] if by_command else next((other for other in new if are_alike(name, other)), None)
        if alike is not None:
            collector.rename([fact], new[alike].subject)


def _end_what_was_asked_for(
    action: str, new: dict[str, Fact], at_hand: dict[str, Fact], collector: StatementCollector
) -> None:
    """End that a thing lies here which was asked for, and which the inventory calls by quite another name."""
    # "scraps" may be asked for as "scrap"
    asked = _TAKES.match(action)
    taken = [name for name, fact in new.items() if fact.key[2] == v.INVENTORY]
    if asked is None or len(taken) != 1:
        return
    lying = [fact for name, fact in at_hand.items() if fact.key[2] != v.INVENTORY]
    name = normalise_name(asked["thing"])
    meant = [fact for fact in lying if are_alike(fact.key[0], name)]
    if not meant:
        word = name.split()[-1].removesuffix("s")
        meant = [fact for fact in lying if word in [part.removesuffix("s") for part in fact.key[0].split()]]
    if len(meant) == 1:
        collector.rename(meant, new[taken[0]].subject)


def _end_what_all_was(new: dict[str, Fact], at_hand: dict[str, Fact], collector: StatementCollector) -> None:
    """End that a thing lies here of which everything was taken, and which shares a word with one thing taken."""
    taken = [name for name, fact in new.items() if fact.key[2] == v.INVENTORY]
    lying = [fact for name, fact in at_hand.items() if fact.key[2] != v.INVENTORY and fact not in collector.endings]
    for name in taken:
        if any(are_alike(name, fact.key[0]) for fact in lying):
            continue
        shared = [fact for fact in lying if set(fact.key[0].split()) & set(name.split()) - {"of", "and"}]
        if len(shared) == 1:
            collector.rename(shared, new[name].subject)


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
            and old not in collector.endings
        ):
            collector.drop(fact)


def _tell_events(
    action: str | None,
    text: str,
    room: str | None,
    view: GraphView,
    collector: StatementCollector,
    said: dict[str, Fact],
) -> None:
    """Add and end what the text says of comings and goings, of what others do, and of what becomes of things."""
    places = KnownPlaces(view)
    text = without_speech(text)
    for movement in movements(action, text):
        found = places.called(movement.who)
        if not movement.arrives and movement.end >= 0:
            _end_what_was_said(movement, text, room, found, collector, said)
        if len({fact.key[0] for fact in found}) > 1:
            first = normalise_name(movement.who)
            if any(fact.key[0].split()[0] != first for fact in found):
                continue
            found.sort(key=lambda fact: -len(fact.key[0]))  # "Charles" and "Charles Brown" are one
            collector.rename(found[1:], found[0].subject)
            found = found[:1]
        if not movement.arrives:
            put = _PUT.match(action) if action is not None else None
            for fact in found:
                if put is not None and fact.key[0] in said and are_alike(fact.key[0], normalise_name(put["thing"])):
                    collector.drop(said.pop(fact.key[0]))  # it was put into a river, and is gone
            collector.end([fact for fact in found if fact.key[0] not in said], "it went away")
            here = view.facts(relation=v.IS_SEEN_IN, object=room) if room is not None else []
            seen = [fact for fact in here if are_alike(fact.key[0], normalise_name(movement.who))]
            collector.end(seen, "it went away")
            if movement.end < 0:  # killed or broken: what it held is no longer in it
                for fact in (*found, *seen):
                    collector.end(view.facts(relation=v.IS_IN, object=fact.key[0]), "what held it is gone")
        elif room is not None and found:
            collector.add(v.place(found[0].subject, v.IS_IN, room))
        elif room is not None and movement.is_sure and not _is_no_being(movement.who):
            collector.add(v.place(movement.who, v.IS_IN, room))
    taken: Fact | None = None
    for taking in takings(text):
        found = [fact for fact in places.called(taking.what) if fact.key[0] not in said]
        if len(found) != 1:
            continue
        taken = found[0]
        takers = [] if not taking.who else places.named_in(taking.who, room)
        if len(takers) == 1 and takers[0].key[0] != taken.key[0]:
            collector.add(v.place(taken.subject, v.IS_IN, takers[0].subject))
        collector.end([taken], "somebody took it")
    for putting in puttings(text):
        _put(putting, action, taken, room, places, collector, said)
    for what, result in changes(text):
        found = [fact for fact in places.called(what) if fact.key[0] not in said]
        if len(found) == 1:
            collector.end(found, "it became another thing")
            if found[0].key[2] != v.INVENTORY:
                for thing in items(result)[:1]:
                    collector.add(v.place(thing.name, found[0].relation, found[0].object))
    for what in emptied(text):
        holders = {fact.key[2] for fact in places.all() if are_alike(fact.key[2], normalise_name(what))}
        if len(holders) == 1:
            collector.end(view.facts(relation=v.IS_IN, object=holders.pop()), "it is empty")
    if room is not None:
        for thing in [thing for listed in laid_down(text) for thing in items(listed)]:
            if not _is_no_being(thing.name):
                collector.add(v.place(thing.name, v.IS_IN, room))
        for listed in revealed(action, text):
            holding, inside = divided(listed)
            for thing in items(holding)[:1]:
                if is_part_of_building(thing.name):  # a trap door, a staircase
                    collector.add(v.seen(thing.name, room))
                    collector.add_states(thing)
                    continue
                collector.add(v.place(thing.name, v.IS_IN, room))
                if inside is not None:
                    for content in items(inside[1]):
                        collector.add(v.place(content.name, inside[0], thing.name))


def _is_no_being(name: str) -> bool:
    return is_abstract(name) or normalise_name(name).split()[-1] in words("no_things")


def _end_what_was_said(
    movement: Movement,
    text: str,
    room: str | None,
    found: list[Fact],
    collector: StatementCollector,
    said: dict[str, Fact],
) -> None:
    """Drop that somebody is here whom the text names for the last time when it says that they go."""
    who = normalise_name(movement.who)
    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, who.split()))})\b", re.I)
    if room is None or named.search(text, movement.end):
        return
    here = [name for name, fact in said.items() if fact.key[2] == normalise_name(room) and name != v.PLAYER]
    alike = [name for name in here if name == who or name.split()[0] == who or are_alike(name, who)]
    if len(alike) == 1:
        collector.drop(said.pop(alike[0]))
        collector.end([fact for fact in found if fact.key[0] == alike[0]], "it went away")


def end_what_was_taken_first(
    action: str, text: str, room: str | None, view: GraphView, collector: StatementCollector
) -> None:
    """End where things were that the game took by itself for the command, and that are not carried after it.

    Args:
        action: the command.
        text: the observation.
        room: where the player is; ``None`` when it is not known.
        view: what the memory holds before the step.
        collector: has the statements of the step, the inventory among them, and takes the endings.
    """
    places = KnownPlaces(view)
    carried = {s.key[0] for s in collector.statements if isinstance(s, Fact) and s.key[1:] == (v.IS_IN, v.INVENTORY)}
    for name in taken_first(text):
        found = [fact for fact in places.called(name) if fact.key[0] not in carried]
        if len(found) == 1 and not any(are_alike(normalise_name(name), other) for other in carried):
            put = _PUT.match(action) or _PUT_DOWN.match(action)
            if put is not None:
                place_of_what_is_gone(found, action, room, view, collector)
            collector.end(found, "it was taken")


def _put(
    putting: Putting,
    action: str | None,
    taken: Fact | None,
    room: str | None,
    places: KnownPlaces,
    collector: StatementCollector,
    said: dict[str, Fact],
) -> None:
    """Add where somebody else puts a thing: one that is known, or one that an article presents."""
    if room is None or is_part_of_room(putting.where):
        return
    if putting.what is None:
        named = _NAMES.match(action) if taken is None and action is not None else None
        found = [taken] if taken is not None else ([] if named is None else places.called(named["thing"]))
        name = found[0].subject if len(found) == 1 else None
    else:
        found = places.called(putting.what)
        name = found[0].subject if len(found) == 1 else None if found else putting.what
    if name is not None and not is_abstract(name):
        place = v.place(name, v.IS_ON if putting.is_on else v.IS_IN, putting.where)
        held = said.get(normalise_name(name))
        is_theirs = held is not None and held.key[2].split()[0] in normalise_name(putting.who).split()
        # taken or held first, then put there
        collector.add(place, override=is_theirs or (putting.what is None and taken is not None))


class KnownPlaces:
    """Where things and people are as the memory holds it, looked up when it is first asked for.

    Args:
        view: what the memory holds.
    """

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._facts: list[Fact] | None = None

    def all(self) -> list[Fact]:
        """Return every place of a thing."""
        if self._facts is None:
            facts = [fact for relation in (v.IS_IN, v.IS_ON) for fact in self._view.facts(relation=relation)]
            self._facts = [fact for fact in facts if fact.key[0] != v.PLAYER]
        return self._facts

    def called(self, name: str) -> list[Fact]:
        """Return the places of what a name in a sentence may mean."""
        name = normalise_name(name)
        return [
            fact
            for fact in self.all()
            if fact.key[0] == name or fact.key[0].split()[0] == name or are_alike(fact.key[0], name)
        ]

    def named_in(self, words: str, room: str | None) -> list[Fact]:
        """Return the places of what lies or stands in a room and has the last word of its name in a text."""
        text = set(re.findall(r"[\w'-]+", words.casefold()))
        here = None if room is None else normalise_name(room)
        return [fact for fact in self.all() if fact.key[2] == here and fact.key[0].split()[-1] in text]


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
    return bool(view.versions(v.place(name, v.IS_IN, v.INVENTORY)))


def _known_name(name: str, view: GraphView) -> str:
    """Return the known thing that a name in a command means; the name itself when there is not exactly one."""
    facts = [fact for relation in (v.IS_IN, v.IS_ON) for fact in view.facts(relation=relation)]
    known = {part for fact in facts for part in (fact.key[0], fact.key[2]) if part != name}
    found = [other for other in sorted(known) if are_alike(name, other)]
    found = found or [other for other in sorted(known) if set(name.split()) < set(other.split())]
    return found[0] if len(found) == 1 else name
