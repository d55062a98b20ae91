"""Extracts a room from its description: the things in it, where they lie, its exits and its doors.

==============================================  ==================================================================
sentence in the description of a hall           facts
==============================================  ==================================================================
You can see a locked chest nearby.              (chest, is in, Hall), (chest, is, locked), (chest, is a, container)
On the desk you can make out a lamp.            (lamp, is on, desk), (desk, is a, supporter)
The safe contains a ruby and some string.       (ruby, is in, safe), (string, is in, safe), (safe, is, open)
There is a hat on the floor.                    (hat, is in, Hall)
You should try going west.                      (Hall, has exit, west)
There is a closed oak door leading east.        (oak door, leads east from, Hall), (oak door, is, closed)
==============================================  ==================================================================
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact, Statement
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.commands import direction_of
from worldthread_lab.game.english import (
    ADJECTIVE_STATES,
    COOKING_STATES,
    VAGUE,
    MentionedThing,
    noun_phrase,
    sentences,
)
from worldthread_lab.game.listing import extract_listings
from worldthread_lab.game.statement_collector import StatementCollector

_COMPASS: Final = "|".join(d for d in sorted(v.OPPOSITE, key=len, reverse=True) if d not in ("in", "out"))

# what presents a thing: the article of its noun phrase follows directly
_PRESENTS: Final = re.compile(
    r"(?:\b(?:see|seeing|make out|notice|spot|discover|find|finding|reveal|reveals|revealing|here's|here is|"
    r"it's|it's just|it is|follow it to|fall onto|other than|over there,?|there's|there is|there are|at)"
    r"|\bover there!|\bgreat\. here's)\s+(?P<rest>(?:an?|some)\s+.+)$",
    re.I,
)
_AT_HAND: Final = re.compile(
    r"^(?P<rest>(?:an?|some|the)\s+.+?)\s+(?:is|are|stands?|lies|sits?)\s+"
    r"(?:here|in the room|nearby|close by|in the corner|right (?:there|here)(?: by you)?)\b",
    re.I,
)
_ON_FLOOR: Final = re.compile(
    r"\b(?:there (?:is|are)|you (?:can )?see)\s+(?P<list>.+?)\s+on the (?:floor|ground)\b",
    re.I,
)
_SHOWN: Final = r"(?:you (?:can )?(?:also )?(?:see|make out|notice|find)|there (?:is|are)|(?:is|are|lies|sits))"
_LIST: Final = r"\s+(?P<list>(?:an?|some)\s.+)$"
_ON: Final = re.compile(rf"\bon the (?P<where>.+?),? {_SHOWN}{_LIST}", re.I)
_LISTED_ON: Final = re.compile(
    r"\byou (?:can )?(?:see|make out)\s+(?P<list>(?:an?|some)\s.+?)\s+on the (?P<where>.+)$",
    re.I,
)
_IN: Final = re.compile(rf"\b(?:in|inside) the (?P<where>.+?),? {_SHOWN}{_LIST}", re.I)
CONTAINS: Final = re.compile(
    r"^(?:the|your) (?P<where>.+?) "
    rf"(?:contains|is filled with|reveals inside it|holds|shelters|offers you|reveals to you){_LIST}",
    re.I,
)
"""Pattern of "The safe contains a ruby and some string"; the group ``list`` enumerates the contents."""

_BARE: Final = re.compile(
    r"\b(?:nothing|isn't a thing|hasn't got anything|has nothing|not a thing|taken everything) (?:on|off)\b",
    re.I,
)

_DOOR: Final = re.compile(rf"\bthere is (?P<door>an? .+?) (?:leading|to the) (?P<direction>{_COMPASS})\b", re.I)
_NO_DOOR: Final = frozenset({"exit", "way", "path", "passage", "opening"})
_WAY_WORDS: Final = re.compile(
    r"\b(?:exits?|entranceway|try going|you can go|go|going|leave by|path|passages?|doorway|way|trail|"
    r"road|stairs|staircase|stairway|steps|tunnel|leads?|leading)\b",
    re.I,
)
_NO_WAY: Final = re.compile(
    r"\b(?:no (?:way|exit|door|path)|can(?:no|')t|cannot|boarded|blocks|blocked by (?!one\b)|"
    r"unlikely|impossible|unable|couldn't|could not)\b",
    re.I,
)
_ANY_DIRECTION: Final = re.compile(rf"\b(?P<direction>{_COMPASS})(?:ern|ward|wards)?\b", re.I)
_TWO_WORDS: Final = re.compile(r"\b(north|south)[ -](east|west)\b", re.I)
_CLAUSE: Final = re.compile(r",? (?:which|where|while)\b|, (?=\w+ing\b)", re.I)
_NO_WAY_NOUN: Final = re.compile(
    rf"\b(?:{_COMPASS})(?:ern)? (?:towers?|walls?|sides?|corners?|ends?|edges?|banks?|shores?|parts?|half|winds?)\b",
    re.I,
)
"""A direction that says which part of something is meant."""
# "up" and "down" are rarely directions ("show up in a corridor")
_VERTICAL: Final = re.compile(
    r"\b(?:leads?|leading|goes|go|going|climbs?|exits?)"
    r"(?: (?:back|further|steeply|straight|both|either|on|north|south|east|west|or|and))* (?:up|down)"
    r"\b(?! (?:the|an?|your|its) (?!(?:\w+ )?(?:stairs|staircase|stairway|steps|ladder|chute|shaft)))"
    r"|\b(?:stairs|staircase|stairway|ladder|steps)\b[\w ]{0,20}\b(?:up|down)",
    re.I,
)
_UP_NORTH: Final = re.compile(r"\b(?:up|down)(?= (?:to (?:the )?)?(?:north|south|east|west)\w*)", re.I)
"""A slope on the way to a side: "a path goes up north-west"."""
_FOR_NOW: Final = re.compile(
    r"\bfirst\b|\b(?:have|need|ought|want) to (?:get|stand|climb|step|let|put|drop|open|untie|move|leave)\b|"
    r"\bget (?:off|out|down|up)\b|\bhardly ride\b|\bdismount\b|\btoo (?:heavily|much|many|loaded)\b|\bnot while\b|"
    r"\bwhile (?:you|it|the)\b|\b(?:in|blocks|blocking|bars|barring) (?:your|the) way\b",
    re.I,
)
"""What bars a way that is known for now only: the player must get off something first, or somebody stands there."""
_NUMBER: Final = re.compile(r" \(\d+\)$")
_DIED: Final = re.compile(r"\byou (?:have |are )?(?:died|dead|killed)\b", re.I)
_LEFT_VEHICLE: Final = re.compile(r"\byou (?:get|climb|step|are) (?:in|into|out|off|on|onto)\b", re.I)
_NO_WAY_BACK: Final = re.compile(
    r"\b(?:no (?:way|path|going) back|(?:unlikely|impossible|unable|not possible|can(?:no|')t|cannot|never|couldn't)\b"
    r"[^.!?]{0,60}\b(?:back|return|climb|up|down))\b",
    re.I,
)
_REFUSED: Final = re.compile(
    r"\b(?:you can(?:'t|not) go (?:that way|there|in that direction)|"
    r"(?:there is |there's )?no (?:exit|door|way|path)(?: to go)? (?:in )?(?:that (?:direction|way)|there))",
    re.I,
)


def extract_move(
    action: str,
    text: str,
    before: str | None,
    after: str,
    view: GraphView,
    collector: StatementCollector,
    *,
    exits_are_listed: bool,
    is_doubtful: bool = False,
) -> None:
    """Add how two rooms lie to each other when ``action`` moved from one to the other.

    The way that was taken is known now. The way back is presumed, unless something is known of it already or the text
    says that there is none. It is known where games with marked titles, which list every exit of a room on a grid,
    list it. A way that led elsewhere before leads differently: no room is said to lie there any more.

    Args:
        action: the command.
        text: the whole observation.
        before: the room before the command; ``None`` when it is not known.
        after: the room after it.
        view: what the memory holds before the step.
        collector: takes the statements; it has the exits of the room already.
        exits_are_listed: whether the game marks titles.
        is_doubtful: whether one of the rooms may be another than the one of its name, so that the way is presumed.
    """
    direction = direction_of(action)
    if direction is None or before in (None, v.DARKNESS) or _DIED.search(text):
        return
    if direction in ("in", "out") and _LEFT_VEHICLE.search(text):
        return  # what the player was in may have moved since the player entered it
    here, there = normalise_name(before), normalise_name(after)
    if here == there:
        _end_ways(direction, before, view, collector, "the way leads back to where it begins")
        return
    collector.add(v.exit_of(before, direction))
    if view.facts(before, v.LEADS_DIFFERENTLY, direction):
        return
    if any(fact.key[0] != there for fact in view.facts(relation=f"is {direction} of", object=before)):
        collector.add(Fact(before, v.LEADS_DIFFERENTLY, direction))
        _end_ways(direction, before, view, collector, "the way leads to different rooms")
        return
    _end_replaced(direction, before, after, view, collector)
    if is_doubtful and not view.holds(v.presumed_link(after, direction, before)):
        collector.add(v.presumed_link(after, direction, before))
        return
    collector.add(v.link(after, direction, before))
    back = v.OPPOSITE[direction]
    is_known = (
        view.facts(relation=f"is {back} of", object=after)
        or view.facts(after, v.HAS_NO_EXIT, back)
        or view.facts(after, v.WAS_REFUSED, back)
        or view.facts(after, v.LEADS_DIFFERENTLY, back)
    )
    if is_known or _NO_WAY_BACK.search(text):
        return
    if exits_are_listed and v.exit_of(after, back) in collector.statements:
        collector.add(v.link(before, back, after))
    else:
        collector.add(v.presumed_link(before, back, after))


def _end_replaced(direction: str, before: str, after: str, view: GraphView, collector: StatementCollector) -> None:
    """Presume the ways to a room again when another room of its title lies now where it lay.

    The room changed so much that it goes by a new name, and so the other ways to it may lead to the new one.
    """
    if not view.facts(before, v.WAS_REFUSED, direction):
        return
    title, there = _title_of(after), normalise_name(after)
    earlier = {
        statement.subject
        for version in view.timeline(before)
        if isinstance(statement := version.statement, Fact)
        and statement.key[1:] == (f"is {direction} of", normalise_name(before))
        and statement.key[0] != there
        and _title_of(statement.subject) == title
    }
    for room in sorted(earlier):
        for relation, way in v.DIRECTION_OF.items():
            for fact in [*view.facts(room, relation), *view.facts(relation=relation, object=room)]:
                collector.end([fact], "another room lies there now")
                collector.add(v.presumed_link(fact.subject, way, fact.object))


def _title_of(room: str) -> str:
    return _NUMBER.sub("", normalise_name(room))


def extract_refused_move(
    action: str, text: str, room: str | None, view: GraphView, collector: StatementCollector
) -> None:
    """Add that ``room`` has no exit where ``action`` wanted to go, when ``text`` says so; end the ways that failed.

    Args:
        action: the command, after which the player is where the player was.
        text: the observation.
        room: the room; ``None`` when it is not known.
        view: what the memory holds before the step.
        collector: takes the statements.
    """
    direction = direction_of(action)
    if direction is None or room is None:
        return
    if _REFUSED.search(text):
        collector.add(v.exit_of(room, direction, exists=False))
    # a door in the way is known by itself
    if not view.facts(relation=f"leads {direction} from", object=room):
        walked = () if _FOR_NOW.search(text) is None else view.facts(relation=f"is {direction} of", object=room)
        if not walked:
            _end_ways(direction, room, view, collector, "it was tried and led nowhere")


def _end_ways(direction: str, room: str | None, view: GraphView, collector: StatementCollector, reason: str) -> None:
    """End what is known or presumed of a way out of ``room``."""
    for relation in (f"is {direction} of", f"may be {direction} of"):
        ways = view.facts(relation=relation, object=room)
        collector.end(ways, reason)
        if ways and room is not None:
            collector.add(Fact(room, v.WAS_REFUSED, direction))


def extract_room(room: str, description: str, collector: StatementCollector, *, lists_things: bool = False) -> None:
    """Add that the player is in ``room``, and what its description states.

    Args:
        room: the name of the room.
        description: the text below its title.
        collector: takes the statements.
        lists_things: whether to read where things are in any wording (:mod:`~worldthread_lab.game.listing`), and
            from the sentences of this module only exits and doors.
    """
    collector.add(v.place(v.PLAYER, v.IS_IN, room))
    collector.add(v.kind(room, "room"))
    if lists_things:
        for statement in _doors_and_exits(room, description, collector.adjectives is COOKING_STATES):
            collector.add(statement)
        extract_listings(room, description, collector, describes_room=True)
        return
    latest: str | None = None  # the thing that "it" means
    for sentence in sentences(description):
        latest = _extract_sentence(sentence, room, latest, collector) or latest


@lru_cache(maxsize=2048)  # games print the same descriptions again and again
def _doors_and_exits(room: str, description: str, is_cooking: bool) -> tuple[Statement, ...]:
    collector = StatementCollector(COOKING_STATES if is_cooking else ADJECTIVE_STATES)
    for sentence in sentences(description):
        if not _extract_door(sentence, room, collector):
            _extract_exits(sentence, room, collector)
    return tuple(collector.statements)


def _extract_sentence(sentence: str, room: str, latest: str | None, collector: StatementCollector) -> str | None:
    """Add what one sentence of a description states.

    Args:
        sentence: the sentence.
        room: the room that is described.
        latest: the thing that "it" means; ``None`` when no thing was presented yet.
        collector: takes the statements.

    Returns:
        The thing that the sentence presents; ``None`` for none.
    """
    if _extract_door(sentence, room, collector):
        return None
    if _extract_exits(sentence, room, collector):
        return None
    if floor := _ON_FLOOR.search(sentence):
        collector.add_places(collector.mentioned_things(floor["list"]), v.IS_IN, room)
        return None
    holder = _extract_contents(sentence, latest, collector)
    if holder is not None:
        return holder
    if latest is not None and _BARE.search(sentence):
        collector.add(v.kind(latest, "supporter"))
    return _extract_presented(sentence, room, collector)


def _extract_door(sentence: str, room: str, collector: StatementCollector) -> bool:
    """Add the door that a sentence names with its direction; return whether it names one."""
    door = _DOOR.search(sentence)
    named = (
        None if door is None else collector.mentioned_thing(noun_phrase(re.sub(r"^an? ", "", door["door"], flags=re.I)))
    )
    if door is None or named is None or normalise_name(named.name).split()[-1] in _NO_DOOR:
        return False
    direction = door["direction"].lower()
    collector.add(v.exit_of(room, direction))
    collector.add(v.door_of(named.name, direction, room))
    collector.add(v.kind(named.name, "door"))
    for value in named.states:
        collector.add(v.state(named.name, value))
    return True


def _extract_exits(sentence: str, room: str, collector: StatementCollector) -> bool:
    """Add the exits that a sentence names; return whether it names any."""
    if not _WAY_WORDS.search(sentence) or _NO_WAY.search(sentence):
        return False
    directions = []
    sentence = _UP_NORTH.sub("", _TWO_WORDS.sub(r"\1\2", sentence))
    for clause in _CLAUSE.split(_NO_WAY_NOUN.sub("", sentence)):
        if _WAY_WORDS.search(clause):
            is_vertical = _VERTICAL.search(clause) is not None
            found = [match["direction"].lower() for match in _ANY_DIRECTION.finditer(clause)]
            directions += [direction for direction in found if is_vertical or direction not in ("up", "down")]
    for direction in directions:
        collector.add(v.exit_of(room, direction))
    return bool(directions)


def _extract_contents(sentence: str, latest: str | None, collector: StatementCollector) -> str | None:
    """Add what a sentence says to be in or on a thing; return that thing, ``None`` when there is none."""
    for pattern, relation, kind in (
        (_ON, v.IS_ON, "supporter"),
        (_LISTED_ON, v.IS_ON, "supporter"),
        (CONTAINS, v.IS_IN, "container"),
        (_IN, v.IS_IN, "container"),
    ):
        match = pattern.search(sentence)
        holder = collector.mentioned_thing(noun_phrase(match["where"])) if match is not None else None
        if match is None or holder is None or normalise_name(holder.name) in ("room", "corner"):
            continue
        if normalise_name(holder.name) == "it":
            if latest is None:
                continue
            holder = MentionedThing(latest)
        collector.add_places(collector.mentioned_things(match["list"]), relation, holder.name)
        collector.add(v.kind(holder.name, kind))
        if relation == v.IS_IN:  # what is inside can be seen, so it is open
            collector.add(v.state(holder.name, v.OPEN))
        return holder.name
    return None


def _extract_presented(sentence: str, room: str, collector: StatementCollector) -> str | None:
    """Add the things that a sentence presents ("you notice an old safe"); return the last one, ``None`` for none."""
    presented = _AT_HAND.match(sentence)
    for match in _PRESENTS.finditer(sentence):
        presented = match
        while inner := _PRESENTS.search(presented["rest"]):  # the last one in a sentence is what it leads up to
            presented = inner
    if presented is None:
        return None
    latest = None
    for found in collector.mentioned_things(presented["rest"]):
        if normalise_name(found.name) != normalise_name(room) and not VAGUE.fullmatch(found.name):
            collector.add_places([found], v.IS_IN, room)
            latest = found.name
    return latest
