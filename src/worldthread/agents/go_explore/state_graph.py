"""One map over all branches of a play: rooms told apart, the ways between them, and what was tried where.

The memory of an agent that returns holds the branch on which it stands. What it saw on the others, the chart keeps.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from worldthread.agents.go_explore.commands import form
from worldthread.extract.game import vocabulary as v
from worldthread.extract.game.commands import direction_of

_WORD: Final = re.compile(r"[a-z]+")
_DESCRIBED: Final = 200
"""Characters of a description that are compared."""
_FEWEST_WORDS: Final = 9
"""Different words from which on a paragraph is taken for the description of a room, not for a remark about a thing."""
_REMARK: Final = re.compile(
    r"(?:An?|Some|There (?:is|are)|On|In|Inside|Sitting|Lying|Your|You (?:can )?(?:also )?(?:see|hear)) "
)
_ALIKE: Final = 0.7
"""Jaccard similarity of two descriptions of one room with the same exits, at least."""
_THE_SAME: Final = 0.95
"""The same when exits differ: doors open and close."""
_UNLIKE: Final = 0.4
"""That of two rooms, at most, for which the way between them tells that they are one."""
_KEPT: Final = 6
"""Descriptions and sets of exits that are kept of a room."""
_LEAD_BACK: Final = 0.5
"""Share of the ways that lead back, at least, for one that was not tried to be taken for one of these."""
_DARK: Final = "dark "
"""Begins the name of a room that was not seen for darkness: ``dark cellar/go east`` lies beyond that way."""


@dataclass(eq=False)
class StateVisit:
    """A moment, as the chart keeps it.

    Args:
        moment: its number.
        before: the visit from which the action led here; ``None`` for the beginning.
        action: that action.
        title: normalised name of the room in the memory.
        actions: what can be tried here.
        score: points so far.
        ended: the game is over.
        carried: normalised names of what is carried.
        text: what the world told.
        state: equal for equal states of the world.

    Attributes:
        room: the room, told apart from others of its title.
        achieved: the bits of the feats that were done on the way here.
        clutter: how much was done on the way that was of no use.
        is_clutter: the action that led here changed the world and was of no use.
        is_news: its text was never read before.
    """

    moment: int
    before: StateVisit | None
    action: str | None
    title: str
    actions: tuple[str, ...]
    score: float
    ended: bool
    carried: frozenset[str]
    text: str
    state: Hashable
    room: str = ""
    achieved: int = 0
    clutter: int = 0
    is_clutter: bool = False
    is_news: bool = False
    exits: frozenset[str] = field(init=False)
    description: frozenset[str] = field(init=False)
    is_described: bool = field(init=False)

    def __post_init__(self) -> None:
        self.exits = frozenset(action for action in self.actions if direction_of(action))
        title = re.escape(self.title).replace("\\ ", r"\W+")
        found = re.search(rf"(?im)^\W*{title}\W*\n(.+)$", self.text)
        self.description = frozenset(_WORD.findall(found[1][:_DESCRIBED].lower())) if found else frozenset()
        self.is_described = found is not None and len(self.description) >= _FEWEST_WORDS and not _REMARK.match(found[1])
        if self.before is not None:
            self.achieved, self.clutter = self.before.achieved, self.before.clutter

    @property
    def is_dark(self) -> bool:
        """Whether it was too dark to see the room."""
        return self.title.startswith(_DARK)

    @property
    def place(self) -> tuple[str, int]:
        """The room with what was achieved before one stood there."""
        return self.room, self.achieved

    @property
    def quality(self) -> tuple[float, int, int]:
        """Ascending: points, feats, and little of no use on the way."""
        return self.score, self.achieved.bit_count(), -self.clutter

    def way(self) -> Iterator[StateVisit]:
        """This visit and those before it, the beginning last."""
        at: StateVisit | None = self
        while at is not None:
            yield at
            at = at.before


def best_of_places(visits: Iterable[StateVisit]) -> dict[tuple[str, int], StateVisit]:
    """By :attr:`StateVisit.place` the visit of the highest quality; of those that are as good, the last one."""
    best: dict[tuple[str, int], StateVisit] = {}
    for visit in visits:
        known = best.get(visit.place)
        if known is None or visit.quality >= known.quality:
            best[visit.place] = visit
    return best


class StateAction(NamedTuple):
    """An action in a room."""

    room: str
    action: str


class Route(NamedTuple):
    """How to get somewhere: in how many moves, and the action that begins the way; ``None`` when one is there."""

    moves: int
    action: str | None


@dataclass
class _Namesake:
    """One of the rooms that bear a title: how it was described, and which exits it had."""

    descriptions: list[frozenset[str]] = field(default_factory=list)
    exits: list[frozenset[str]] = field(default_factory=list)

    def note(self, visit: StateVisit, *, is_telling: bool) -> None:
        for kept, seen in ((self.descriptions, visit.description), (self.exits, visit.exits)):
            if (is_telling or kept is self.exits) and seen not in kept and len(kept) < _KEPT:
                kept.append(seen)


class StateGraph:
    """Rooms, ways and trials of all visits, given in the order of their moments: :meth:`locate`, then :meth:`record`.

    Args:
        mazes: names whose rooms are told apart by their exits. :meth:`locate` finds them.
        doubted: titles of which every text that is new means another room. :meth:`locate` finds them.

    Attributes:
        rooms: all rooms that were seen.
        states: for every state in which the game goes on, the best visit.
        untested: for every action in a room, the best visit in whose state it was not tried.
        tried: for every state, the actions that were tried, and the visit to which each led first.
        tests: how often an action was tried in a room, in any state.
        forms: how many actions of a form (:func:`~worldthread.agents.go_explore.commands.form`) were tried in a room.
        tested_with: bits of the feats with which it was.
        deaths: how often it ended the game.
        achieved: bits of the feats with which a room was seen.
        offered: actions that were offered in a room.
    """

    def __init__(self, mazes: frozenset[str] = frozenset(), doubted: frozenset[str] = frozenset()) -> None:
        self.mazes = mazes
        self.doubted = doubted
        self.rooms: set[str] = set()
        self.states: dict[Hashable, StateVisit] = {}
        self.untested: dict[StateAction, StateVisit] = {}
        self.tried: dict[Hashable, dict[str, StateVisit]] = {}
        self.tests: Counter[StateAction] = Counter()
        self.forms: Counter[StateAction] = Counter()
        self.tested_with: defaultdict[StateAction, int] = defaultdict(int)
        self.deaths: Counter[StateAction] = Counter()
        self.achieved: defaultdict[str, int] = defaultdict(int)
        self.offered: defaultdict[str, set[str]] = defaultdict(set)
        self._ways: defaultdict[str, dict[str, Counter[str]]] = defaultdict(dict)
        self._ways_in: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)  # (action, room from which)
        self._namesakes: defaultdict[str, dict[str, _Namesake]] = defaultdict(dict)
        self._rooms_of_states: dict[Hashable, str] = {}
        self._leads: defaultdict[str, dict[str, str]] = defaultdict(dict)  # where each way led most often
        self._onward: dict[str, list[tuple[str, str]]] = {}  # see :meth:`_ways_from`
        self._routes: dict[str, dict[str, Route]] = {}
        self._tested_back = 0  # ways that should lead back
        self._led_back = 0

    # -- taking in ----------------------------------------------------------------------------------------------------

    def locate(self, visit: StateVisit) -> bool:
        """Tell which room a visit is in. ``False``: rooms were taken for one, and a new chart is needed.

        A move that leads from a room into the same one with other exits, was one from room to room; and a room from
        which a move leads into several others may be several.
        """
        visit.room = self._rooms_of_states.get(visit.state) or self._room_of(visit)
        self._rooms_of_states[visit.state] = visit.room
        self.tried.setdefault(visit.state, {})
        before = visit.before
        if before is None or visit.action is None:
            return True
        self.tried[before.state].setdefault(visit.action, visit)
        if direction_of(visit.action) is None or visit.ended or visit.is_dark or before.state == visit.state:
            return True
        if before.room == visit.room:
            name = _title(visit.room)
            if before.exits != visit.exits and name not in self.mazes:
                self.mazes |= {name}
                return False
        elif before.title not in self.doubted and not before.is_dark:
            known = self.leads(before.room, visit.action)
            if known is not None and known != visit.room and not known.startswith(_DARK):
                self.doubted |= {before.title}
                return False
        return True

    def record(self, visit: StateVisit) -> None:
        """Take in a visit that was located."""
        before = visit.before
        if before is not None and visit.action is not None:
            trial = StateAction(before.room, visit.action)
            self.tests[trial] += 1
            self.tested_with[trial] |= before.achieved
            if self.tests[trial] == 1:
                self.forms[StateAction(before.room, form(visit.action))] += 1
                self._forget_routes()  # what should lead back may not
                self._learn_of_ways_back(before, visit)
            if visit.ended:
                self.deaths[trial] += 1
            elif visit.room != before.room:
                self._record_way(before.room, visit.action, visit.room)
            if trial in self.untested and self.untested[trial].state == before.state:
                del self.untested[trial]
        self.rooms.add(visit.room)
        self.achieved[visit.room] |= visit.achieved
        if visit.ended:
            return
        known = self.states.get(visit.state)
        if known is None or visit.quality > known.quality:
            self.states[visit.state] = visit
        fresh = set(visit.actions) - self.offered[visit.room]
        self.offered[visit.room] |= fresh
        if any(map(direction_of, fresh)):
            self._forget_routes()  # there may be a way back
        tried = self.tried[visit.state]
        for action in visit.actions:
            if action not in tried:
                best = self.untested.get(StateAction(visit.room, action))
                if best is None or visit.quality >= best.quality:
                    self.untested[StateAction(visit.room, action)] = visit

    def _record_way(self, room: str, action: str, there: str) -> None:
        led = self._ways[room].setdefault(action, Counter())
        led[there] += 1
        most_often = max(led, key=led.__getitem__)
        entrance = (action, room)
        if self._leads[room].get(action) != most_often or entrance not in self._ways_in[there]:
            self._leads[room][action] = most_often
            self._ways_in[there].add(entrance)
            self._forget_routes()

    def _learn_of_ways_back(self, before: StateVisit, visit: StateVisit) -> None:
        expected = {room for _, room in self._ways_back(before.room, visit.action or "")}
        if expected:
            self._tested_back += 1
            self._led_back += visit.room in expected

    def _room_of(self, visit: StateVisit) -> str:
        if visit.is_dark:
            return visit.title
        room = self._namesake(visit)
        if room in self.mazes:
            return f"{room}|{','.join(sorted(visit.exits))}"
        return room

    def _namesake(self, visit: StateVisit) -> str:
        """Which of the rooms of its title: as the way here tells, else as described, else as exits are alike."""
        known = self._namesakes[visit.title]
        room = None
        if known:
            room = self._by_way(visit, known) or _by_description(visit, known) or self._by_way_back(visit, known)
        if room is None and (not known or self._is_telling(visit)):
            room = f"{visit.title}#{len(known)}" if known else visit.title
            known[room] = _Namesake()
        if room is None:
            # of those that are as much alike, the last one
            room = max(reversed(known), key=lambda name: max(_jaccard(e, visit.exits) for e in known[name].exits))
        known[room].note(visit, is_telling=self._is_telling(visit))
        return room

    def _is_telling(self, visit: StateVisit) -> bool:
        return visit.is_described or (visit.title in self.doubted and bool(visit.description))

    def _by_way(self, visit: StateVisit, known: dict[str, _Namesake]) -> str | None:
        before = visit.before
        if before is None or visit.action is None:
            return None
        if direction_of(visit.action) is None and _title(before.room) in known:
            return _title(before.room)
        taken = self._ways[before.room].get(visit.action, Counter())
        return next((_title(room) for room, _ in taken.most_common() if _title(room) in known), None)

    def _by_way_back(self, visit: StateVisit, known: dict[str, _Namesake]) -> str | None:
        if visit.before is None:
            return None
        return next(
            (
                _title(room)
                for _, room in sorted(self._ways_back(visit.before.room, visit.action or ""))
                if _title(room) in known
                and not (self._is_telling(visit) and _likeness(visit, known[_title(room)]) <= _UNLIKE)
            ),
            None,
        )

    # -- ways ---------------------------------------------------------------------------------------------------------

    def leads(self, room: str, action: str) -> str | None:
        """The room to which an action led from a room most often; ``None`` when it never left it."""
        return self._leads[room].get(action)

    def is_way_back(self, room: str, action: str) -> bool:
        """Whether an action is a move in the direction opposite to one that led into the room."""
        return any(True for _ in self._ways_back(room, action))

    def _ways_back(self, room: str, action: str) -> Iterator[tuple[str, str]]:
        """The ways into a room by the direction opposite to that of an action: actions, and from where."""
        direction = direction_of(action)
        if direction is not None:
            for entrance, there in self._ways_in[room]:
                if direction_of(entrance) == v.OPPOSITE[direction]:
                    yield entrance, there

    def routes(self, room: str, blocked: frozenset[StateAction] = frozenset()) -> dict[str, Route]:
        """Every room that can be reached from ``room``, by ways that were taken or that should lead back.

        Args:
            room: where to begin; it is reached in no moves.
            blocked: ways that are not taken.
        """
        if not blocked and room in self._routes:
            return self._routes[room]
        found = {room: Route(0, None)}
        waiting = deque([room])
        while waiting:
            here = waiting.popleft()
            moves, first = found[here]
            for action, there in self._ways_from(here):
                if there not in found and (not blocked or StateAction(here, action) not in blocked):
                    found[there] = Route(moves + 1, first or action)
                    waiting.append(there)
        if not blocked:
            self._routes[room] = found
        return found

    def _forget_routes(self) -> None:
        self._routes.clear()
        self._onward.clear()

    def _ways_from(self, room: str) -> list[tuple[str, str]]:
        """Ways that were taken, and those that should lead back: actions, and where they lead."""
        if room not in self._onward:
            self._onward[room] = self._find_ways_from(room)
        return self._onward[room]

    def _find_ways_from(self, room: str) -> list[tuple[str, str]]:
        taken = self._leads[room]
        ways = sorted(taken.items())
        # as if two ways of three had led back before
        lead_back = (self._led_back + 2) / (self._tested_back + 3) >= _LEAD_BACK
        for entrance, there in sorted(self._ways_in[room]) if lead_back else ():
            direction = direction_of(entrance)
            if direction is None:
                continue
            ways += [
                (action, there)
                for action in sorted(self.offered[room])
                if direction_of(action) == v.OPPOSITE[direction]
                and action not in taken
                and not self.tests[StateAction(room, action)]
            ]
        return ways


def dark_title(before: StateVisit, action: str) -> str:
    """The title of a place in the dark: the way there names it; what is done in it does not lead out of it."""
    if before.is_dark and direction_of(action) is None:
        return before.title
    return f"{_DARK}{before.title}/{action}"


def _title(room: str) -> str:
    """A room's name without the exits by which rooms of a maze are told apart."""
    return room.split("|")[0]


def _by_description(visit: StateVisit, known: dict[str, _Namesake]) -> str | None:
    alike, has_exits, room = max(
        ((_likeness(visit, namesake), visit.exits in namesake.exits, name) for name, namesake in known.items()),
        key=lambda found: found[:2],
    )
    return room if alike >= (_ALIKE if has_exits else _THE_SAME) else None


def _likeness(visit: StateVisit, namesake: _Namesake) -> float:
    return max((_jaccard(words, visit.description) for words in namesake.descriptions), default=0.0)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))
