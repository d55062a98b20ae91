"""Decides which room a title means, as a player with a pencil does: several rooms of a game may have one title.

A room is known by its title, by the ways that were walked to it and by its descriptions, of which digests are kept.
Most games describe a room in full on the first visit only, some on every visit; which of the two this game does is
learned when the player comes back to a room by a known way. Where known rooms are described briefly, a description in
full means a room that was never visited, even when its words are those of another: this tells the rooms of a maze
apart. The second room of a title is called "Maze (2)", and so on. Where the player may be in one of several rooms, and
nothing tells which, the place of the player is not known until the next title tells.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.commands import direction_of

BRIEFLY: Final = "briefly"
"""How a game describes known rooms: with the title and what changed."""
IN_FULL: Final = "in full"
"""How a game describes known rooms: as on the first visit."""
_NEW: Final = "\0new"
_UNDECIDED: Final = "\0undecided"

_NUMBER: Final = re.compile(r" \(\d+\)$")
_SHORTEST_DESCRIPTION: Final = 40
"""Characters. A shorter line below a title reports what is there or what happens."""
_SHORTEST_OPENING: Final = 30
"""Characters by which a description begins like that of another room or not."""
_LOOKS: Final = re.compile(r"\s*(?:look|l|examine|x|search)\b", re.I)
_OPENS_DESCRIPTION: Final = re.compile(
    r"^(?:this|these|you are|you're|you have (?:entered|come|reached)|it is|here)\b", re.I
)
_WAYS: Final = re.compile(
    r"\b(?:north|south|east|west|exits?|leads?|leading|passages?|doorways?|tunnels?|stairs|staircase|stairway)", re.I
)
_FEWEST_LOOK_ALIKES: Final = 2
_MOST_LOOK_ALIKES: Final = 24
"""Rooms of one title that look alike; where there are more, no further one is told apart."""
_SENTENCE_BORDER: Final = re.compile(r"(?<=[.!?])\s+")
_MOST_REPORTS: Final = 2
"""Lines that report an event and may stand between a title and the description."""
_REPORTS: Final = re.compile(
    r"^(?:there (?:is|are)|you (?:can )?(?:also )?see)\b|\b(?:is|are|lies?|sits?|stands?|hangs?) here\b.*$|:$", re.I
)


def title_of(room: str) -> str:
    """Return the title of a room from the name of the room ("Maze" for "Maze (2)"), normalised."""
    return _NUMBER.sub("", normalise_name(room))


def shows_set_apart(description: str) -> bool:
    """Return whether a game sets what it reports of a room apart from the description, by a blank line.

    Args:
        description: the text below a title. Where a known room is described briefly, a blank line follows the title.
    """
    if description.startswith("\n"):
        return bool(description.strip())
    return any(_REPORTS.search(part) for part in description.split("\n\n")[1:])


def description_digest(description: str, *, is_set_apart: bool = False) -> str | None:
    """Return a digest of the line that describes a room; ``None`` where none does.

    Args:
        description: the text below the title.
        is_set_apart: whether the game sets reports apart from descriptions (:func:`shows_set_apart`), so that the line
            below a title is a description, however short.

    Returns:
        Two groups of eight hexadecimal digits, of its opening and of the whole line; the words count only.
    """
    for line in description.splitlines()[: _MOST_REPORTS + 1]:
        line = line.strip()
        if not line and description.strip():
            break  # a blank line ends a description
        sentences = _SENTENCE_BORDER.split(line)
        if is_set_apart and line and (len(sentences) > 1 or not _REPORTS.search(line)):
            return f"{_digest(_opening(sentences))}-{_digest(line)}"
        if len(line) < _SHORTEST_DESCRIPTION or (_REPORTS.search(line) and len(sentences) == 1):
            continue
        # a report of an event may be as long, but hardly opens like this, or tells ways in several sentences
        if _OPENS_DESCRIPTION.search(line) or (len(sentences) > 1 and _WAYS.search(line)):
            return f"{_digest(_opening(sentences))}-{_digest(line)}"
    return None


def _opening(sentences: list[str]) -> str:
    opening = ""
    for sentence in sentences:  # "You are outside." may be said of many rooms
        opening += f" {sentence}"
        if len(opening) > _SHORTEST_OPENING:
            break
    return opening


SET_APART: Final = Fact(v.KNOWN_ROOMS, v.HAVE, "descriptions set apart")
"""Held when the game sets reports apart from descriptions by a blank line."""


def carried_to(room: str) -> Fact:
    """Return that the player came to a room for the first time without walking there."""
    return Fact(room, v.WAS_REACHED, "without a way")


def _digest(text: str) -> str:
    words = " ".join(re.findall(r"\w+", text.casefold()))
    return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def _is_like(digest: str, others: set[str]) -> bool:
    """Whether one of the others begins with the same words: the rest may tell of a change in the room."""
    return any(other[:8] == digest[:8] for other in others)


class RoomFinder:
    """Finds the room that a text describes among the known rooms.

    Args:
        view: what the memory holds before the step.
        before: the room before the step; ``None`` when it is not known.
        action: the command; ``None`` for the opening text.
    """

    def __init__(self, view: GraphView, before: str | None, action: str | None) -> None:
        self._view = view
        self._before = None if before is None or normalise_name(before) == v.DARKNESS else normalise_name(before)
        self._direction = None if action is None else direction_of(action)
        self._looks = action is None or _LOOKS.match(action) is not None
        self._habit = view.value(v.KNOWN_ROOMS, v.ARE_DESCRIBED)
        self.habit: str | None = None
        """How the game describes known rooms, when this step shows it."""
        self.digest: str | None = None
        """Of the description, once a room was sought (:meth:`find`)."""

    def _digest_of(self, description: str) -> str | None:
        return description_digest(description, is_set_apart=self._view.holds(SET_APART))

    def find(self, title: str, description: str) -> str | None:
        """Return the name of the room.

        Args:
            title: the title of the room, as written.
            description: the text below it.

        Returns:
            The name of a known room, the title, or a new name made from it; ``None`` when it may be one of several
            known rooms as well as another.
        """
        digest = self.digest = self._digest_of(description)
        known = {normalise_name(name): name for name in self._namesakes(title)}
        if not known:
            return title
        if self._direction is None:
            found = self._without_a_move(known, digest)
        else:
            found = self._by_the_map(known, digest) or self._by_the_text(known, digest, description)
        return self._new_name(title) if found == _NEW else known.get(found)

    def is_doubtful(self, room: str, description: str) -> bool:
        """Return whether a room that was walked to may be another than the known one of its name.

        That is so when the player was only ever carried to the known room, no way to or from it was walked, and the
        text does not describe the room: where the player was carried may be a dream or a trance.

        Args:
            room: the name that was found.
            description: the text below the title.
        """
        if self._direction is None or not self._view.holds(carried_to(room)) or self._digest_of(description):
            return False
        return not any(
            self._view.facts(relation=relation, object=room) or self._view.facts(room, relation)
            for relation in v.DIRECTION_OF
        )

    def _namesakes(self, title: str) -> Iterator[str]:
        """Yield the known rooms of a title."""
        name, number = title, 1
        while self._view.holds(v.kind(name, "room")):
            yield name
            number += 1
            name = f"{title} ({number})"

    def _new_name(self, title: str) -> str:
        return f"{title} ({1 + len(list(self._namesakes(title)))})"

    def _digests(self, room: str) -> set[str]:
        return {fact.key[2] for fact in self._view.facts(room, v.IS_DESCRIBED_BY)}

    def _without_a_move(self, known: dict[str, str], digest: str | None) -> str:
        """Return the room after an action that is no move: the same room, or where something carried the player."""
        here = self._before if self._before in known else None
        alike = self._alike(known, digest)
        if here is not None and (digest is None or here in alike or not self._digests(here)):
            return here
        if len(alike) == 1:
            return alike[0]
        if digest is not None and self._habit == BRIEFLY and not self._looks and all(map(self._digests, known)):
            return _NEW
        if here is not None:
            return here
        return next(iter(known)) if len(known) == 1 else _UNDECIDED

    def _alike(self, known: dict[str, str], digest: str | None) -> list[str]:
        """Return the known rooms whose descriptions begin as this one does."""
        return [room for room in known if digest is not None and _is_like(digest, self._digests(room))]

    def _by_the_map(self, known: dict[str, str], digest: str | None) -> str | None:
        """Return the room to which the way that was taken leads, unless the text speaks against it."""
        if self._before is None:
            return None
        for relation, walked in ((f"is {self._direction} of", True), (f"may be {self._direction} of", False)):
            for fact in self._view.facts(relation=relation, object=self._before):
                there = fact.key[0]
                if there not in known:
                    continue
                digests = self._digests(there)
                has_look_alikes = self._has_look_alikes(known)
                if has_look_alikes and not walked and self._before in known and self._is_twisted(known):
                    continue
                if has_look_alikes and digest in digests and self._habit == BRIEFLY:
                    continue  # rooms that look alike say nothing of how known rooms are described
                # a room that was visited is described again only when it changed
                is_first = digest is not None and (not _is_like(digest, digests) or (digest in digests and not walked))
                is_other = self._habit == BRIEFLY or (not walked and not _is_like(digest or "", digests))
                if is_first and digests and is_other:
                    continue
                if digest is None and digests:
                    self.habit = BRIEFLY
                elif digest in digests:
                    self.habit = IN_FULL
                return there
        return None

    def _by_the_text(self, known: dict[str, str], digest: str | None, description: str) -> str:
        """Return the room that the text suits best where the map does not tell."""
        alike = self._alike(known, digest)
        if digest is not None and self._habit != IN_FULL:
            if self._habit == BRIEFLY or not alike:
                is_walk = self._before is not None and self._direction not in ("in", "out")
                changed = [r for r in alike if is_walk and r != self._before and digest not in self._digests(r)]
                return changed[0] if len(changed) == len(known) == 1 else _NEW
            if self._before is None or self._direction in ("in", "out"):
                return _NEW
            alike = [room for room in alike if room != self._before and not self._leads_back_elsewhere(room)]
            return alike[0] if len(alike) == 1 else _NEW
        if digest is not None:
            if not alike or alike == [self._before]:
                return _NEW
            if len(alike) > 1:
                room = self._told_by_things(alike, description)
                if room is not None:
                    return room
                # two names for one room do no harm; one name for two rooms does
                return _NEW if len(known) < _MOST_LOOK_ALIKES else _UNDECIDED
            return alike[0]
        if not any(map(self._digests, known)):  # rooms that are never described: only ways tell them apart
            possible = [room for room in known if not self._leads_back_elsewhere(room)]
            if not possible:
                return _NEW
            return possible[0] if len(possible) == 1 and self._before is not None else _UNDECIDED
        if len(known) > 1 and (self._before is None or self._direction in ("in", "out")):
            return _UNDECIDED
        if self._has_look_alikes(known) and self._is_twisted(known):
            return self._told_by_things(list(known), description) or _UNDECIDED
        suits = {room: self._suits(room, description) for room in known}
        best = [room for room in known if suits[room] == max(suits.values())]
        return best[0] if len(best) == 1 else _UNDECIDED

    def _has_look_alikes(self, known: dict[str, str]) -> bool:
        """Return whether several of the known rooms have one description, as the rooms of a maze have."""
        if len(known) < _FEWEST_LOOK_ALIKES:
            return False
        digests = Counter(digest for room in known for digest in self._digests(room))
        return max(digests.values(), default=0) >= _FEWEST_LOOK_ALIKES

    def _is_twisted(self, known: dict[str, str]) -> bool:
        """Return whether a way back between the known rooms turned out not to be the opposite way."""
        for room in known:
            if self._view.facts(room, v.WAS_REFUSED) or self._view.facts(room, v.LEADS_DIFFERENTLY):
                return True
            for relation, direction in v.DIRECTION_OF.items():
                back = f"is {v.OPPOSITE[direction]} of"
                for way in self._view.facts(relation=relation, object=room):
                    returns = self._view.facts(relation=back, object=way.subject) if way.key[0] in known else ()
                    if any(fact.key[0] != room for fact in returns):
                        return True
        return False

    def _told_by_things(self, rooms: list[str], description: str) -> str | None:
        """Return the one room of several in which lies what the text names; ``None`` when things do not tell."""
        suits = {room: self._suits(room, description) for room in rooms}
        best = [room for room in rooms if suits[room] == max(suits.values())]
        return best[0] if len(best) == 1 and suits[best[0]] > 0 else None

    def _leads_back_elsewhere(self, room: str) -> bool:
        """Whether the way back from a room is known, or presumed, to lead elsewhere than to the room before."""
        back = v.OPPOSITE[self._direction or "north"]
        if any(fact.key[0] != self._before for fact in self._view.facts(relation=f"is {back} of", object=room)):
            return True
        # what is only presumed may have become another room of its title
        title = title_of(self._before or "")
        presumed = self._view.facts(relation=f"may be {back} of", object=room)
        return any(fact.key[0] != self._before and title_of(fact.key[0]) != title for fact in presumed)

    def _suits(self, room: str, description: str) -> int:
        """Return how well a room fits: what lies there is named, the way back is right, and it is another room."""
        text = f" {' '.join(re.findall(r'[a-z0-9]+', description.casefold()))} "
        things = [
            fact.key[0]
            for fact in self._view.facts(relation=v.IS_IN, object=room)
            if fact.key[0] != v.PLAYER and not self._wanders(fact.key[0])
        ]
        named = sum(2 if f" {thing} " in text else -1 for thing in things)
        return named - 2 * self._leads_back_elsewhere(room) - (room == self._before)

    def _wanders(self, thing: str) -> bool:
        """Return whether somebody was seen in several rooms, so that being named here is no evidence."""
        places = {
            statement.key[2]
            for version in self._view.timeline(thing)
            if isinstance(statement := version.statement, Fact)
            and statement.key[:2] == (thing, v.IS_IN)
            and self._view.holds(v.kind(statement.object, "room"))
        }
        return len(places) > 1
