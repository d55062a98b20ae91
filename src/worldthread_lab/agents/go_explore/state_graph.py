"""One graph over all branches of a play: distinct rooms, the exits between them, and what was tried where.

The memory of an agent that returns to earlier states holds only the branch on which it stands. The state graph keeps
what the agent saw on all of them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Set
from dataclasses import InitVar, dataclass, field
from operator import attrgetter
from typing import Final, NamedTuple

from worldthread_lab.agents.base import walk_back
from worldthread_lab.agents.go_explore.commands import form
from worldthread_lab.agents.go_explore.settings import DEFAULT_SETTINGS, GoExploreSettings
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.commands import direction_of

_WORD: Final = re.compile(r"[a-z]+")
_REMARK: Final = re.compile(
    r"(?:An?|Some|There (?:is|are)|On|In|Inside|Sitting|Lying|Your|You (?:can )?(?:also )?(?:see|hear)) "
)
_DARK: Final = "dark "
"""Begins the name of a room that was too dark to see: ``dark cellar/go east`` lies beyond that exit."""


@dataclass(eq=False)
class StateVisit:
    """A state of the play, as the graph keeps it.

    Args:
        moment: its number (:attr:`~worldthread_lab.agents.base.Percept.moment`).
        before: the visit in which the action was done that led here; ``None`` for the beginning.
        action: that action; ``None`` for the beginning.
        title: normalised name of the room in the memory.
        actions: what can be tried here.
        score: points so far.
        ended: whether the game is over.
        carried: normalised names of what is carried.
        text: the world's answer.
        state: equal for equal states of the world.
        settings: the numbers by which a description is recognised.

    Attributes:
        room: name of the room, distinct from others of its title.
        achieved: bits of the achievements made on the path here.
        clutter: how many useless actions were done on the path here.
        is_clutter: whether the action that led here changed the world and was of no use.
        is_news: whether its text was never read before.
        exits: the actions here that are moves in a direction.
        description: the words of the room's description.
        is_described: whether that description is long enough to be one.
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
    settings: InitVar[GoExploreSettings] = field(default=DEFAULT_SETTINGS, kw_only=True)

    def __post_init__(self, settings: GoExploreSettings) -> None:
        self.exits = frozenset(action for action in self.actions if direction_of(action))
        title = re.escape(self.title).replace("\\ ", r"\W+")
        found = re.search(rf"(?im)^\W*{title}\W*\n(.+)$", self.text)
        text = found[1] if found else ""
        self.description = frozenset(_WORD.findall(text[: settings.described_characters].lower()))
        is_long = len(self.description) >= settings.min_description_words
        self.is_described = found is not None and is_long and not _REMARK.match(text)
        if self.before is not None:
            self.achieved, self.clutter = self.before.achieved, self.before.clutter

    @property
    def is_dark(self) -> bool:
        """Whether it was too dark to see the room."""
        return self.title.startswith(_DARK)

    @property
    def place(self) -> tuple[str, int]:
        """The room, and the bits of what was achieved on the path to it."""
        return self.room, self.achieved

    @property
    def quality(self) -> tuple[float, int, int]:
        """A key that is higher for better visits: points, then achievements, then few useless actions."""
        return self.score, self.achieved.bit_count(), -self.clutter

    def path_back(self) -> Iterator[StateVisit]:
        """Yield this visit and those before it, the beginning last."""
        return walk_back(self, attrgetter("before"))


def best_of_places(visits: Iterable[StateVisit]) -> dict[tuple[str, int], StateVisit]:
    """Return by :attr:`StateVisit.place` the visit of the highest quality, the last one of equals."""
    best: dict[tuple[str, int], StateVisit] = {}
    for visit in visits:
        _keep_best(best, visit)
    return best


def _keep_best(best: dict[tuple[str, int], StateVisit], visit: StateVisit) -> None:
    known = best.get(visit.place)
    if known is None or visit.quality >= known.quality:
        best[visit.place] = visit


class StateAction(NamedTuple):
    """An action in a room."""

    room: str
    action: str


class Route(NamedTuple):
    """How to reach a room: the number of moves, and the first action; ``None`` in the room itself."""

    moves: int
    action: str | None


@dataclass
class _SameTitleRoom:
    """One of the rooms of a title: its descriptions, and its sets of exits."""

    descriptions: list[frozenset[str]] = field(default_factory=list)
    exits: list[frozenset[str]] = field(default_factory=list)

    def record(self, visit: StateVisit, kept: int, *, is_telling: bool) -> None:
        """Keep the description and the exits of a visit, up to ``kept`` of each."""
        for known, new in ((self.descriptions, visit.description), (self.exits, visit.exits)):
            if (is_telling or known is self.exits) and new not in known and len(known) < kept:
                known.append(new)


class StateGraph:
    """Rooms, exits and tried actions of all visits, added in the order of their numbers.

    For each visit call :meth:`locate`, then :meth:`record`.

    Args:
        mazes: names whose rooms are distinguished by their exits. :meth:`locate` finds them.
        doubted: titles for which every new text means another room. :meth:`locate` finds them.
        settings: the numbers by which rooms are distinguished.

    Attributes:
        rooms: all rooms that were seen.
        states: for every state in which the game goes on, the best visit.
        untried: for every action in a room, the best visit in whose state it was not tried.
        tried: for every state, the actions that were tried, and the visit to which each led first.
        trials: how often an action was tried in a room, in any state.
        forms: how many actions of a form (:func:`~worldthread_lab.agents.go_explore.commands.form`) were tried in a
            room.
        tried_with: bits of the achievements with which an action was tried in a room.
        deaths: how often an action in a room ended the game.
        achieved: bits of the achievements with which a room was seen.
        offered: actions that were offered in a room.
        all_offer_actions: whether something can be tried in every state in which the game goes on.
        exits_version: changes whenever the exits change, and with them the routes.
    """

    def __init__(
        self,
        mazes: frozenset[str] = frozenset(),
        doubted: frozenset[str] = frozenset(),
        settings: GoExploreSettings = DEFAULT_SETTINGS,
    ) -> None:
        self.mazes = mazes
        self.doubted = doubted
        self.settings = settings
        self.rooms: set[str] = set()
        self.states: dict[Hashable, StateVisit] = {}
        self.untried: dict[StateAction, StateVisit] = {}
        self.tried: dict[Hashable, dict[str, StateVisit]] = {}
        self.trials: Counter[StateAction] = Counter()
        self.forms: Counter[StateAction] = Counter()
        self.tried_with: defaultdict[StateAction, int] = defaultdict(int)
        self.deaths: Counter[StateAction] = Counter()
        self.achieved: defaultdict[str, int] = defaultdict(int)
        self.offered: defaultdict[str, set[str]] = defaultdict(set)
        self._led_to: defaultdict[str, dict[str, Counter[str]]] = defaultdict(dict)
        self._entrances: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)  # (action, room it was done in)
        self._same_title: defaultdict[str, dict[str, _SameTitleRoom]] = defaultdict(dict)
        self._rooms_of_states: dict[Hashable, str] = {}
        self._destinations: defaultdict[str, dict[str, str]] = defaultdict(dict)  # where each exit led most often
        self.all_offer_actions = True
        self.exits_version = 0
        self._exits: dict[str, list[tuple[str, str]]] = {}  # see :meth:`_exits_from`
        self._routes: dict[str, dict[str, Route]] = {}
        self._reachable: dict[str, frozenset[str]] = {}
        self._best_visits: dict[tuple[str, int], StateVisit] | None = {}  # ``None``: to be found anew
        self._first_visits: dict[tuple[float, int], StateVisit] | None = {}  # ``None``: to be found anew
        self._returns_tried = 0  # exits that were assumed to lead back, and tried
        self._returns_found = 0
        self._lead_back = self._exits_lead_back()

    # -- recording ----------------------------------------------------------------------------------------------------

    def locate(self, visit: StateVisit) -> bool:
        """Set the room of a visit, and check that no two rooms were taken for one.

        A move from a room into the same room with other exits was a move between two rooms of a maze; a room from
        which one move leads into several others may be several rooms.

        Args:
            visit: follows the visits that were recorded.

        Returns:
            ``False`` when two rooms were taken for one. Then :attr:`mazes` or :attr:`doubted` has grown, and a new
            graph is needed.
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
            known = self.destination(before.room, visit.action)
            if known is not None and known != visit.room and not known.startswith(_DARK):
                self.doubted |= {before.title}
                return False
        return True

    def record(self, visit: StateVisit) -> None:
        """Add a visit that was located."""
        before = visit.before
        if before is not None and visit.action is not None:
            self._record_action(before, visit.action, visit)
        self.rooms.add(visit.room)
        self.achieved[visit.room] |= visit.achieved
        if not visit.ended:
            self._record_state(visit)
        self._check_exits({visit.room} if before is None else {before.room, visit.room})

    def _record_action(self, before: StateVisit, action: str, visit: StateVisit) -> None:
        state_action = StateAction(before.room, action)
        self.trials[state_action] += 1
        self.tried_with[state_action] |= before.achieved
        if self.trials[state_action] == 1:
            self.forms[StateAction(before.room, form(action))] += 1
            self._count_return(before, visit)
        if visit.ended:
            self.deaths[state_action] += 1
        elif visit.room != before.room:
            self._record_exit(before.room, action, visit.room)
        if state_action in self.untried and self.untried[state_action].state == before.state:
            del self.untried[state_action]

    def _record_state(self, visit: StateVisit) -> None:
        self.all_offer_actions &= bool(visit.actions)
        known = self.states.get(visit.state)
        if known is None or visit.quality > known.quality:
            self.states[visit.state] = visit
            if known is not None:
                self._best_visits = self._first_visits = None
            else:
                if self._best_visits is not None:
                    _keep_best(self._best_visits, visit)
                if self._first_visits is not None:
                    self._first_visits.setdefault((visit.score, visit.achieved), visit)
        self.offered[visit.room].update(visit.actions)
        tried = self.tried[visit.state]
        for action in visit.actions:
            if action not in tried:
                best = self.untried.get(StateAction(visit.room, action))
                if best is None or visit.quality >= best.quality:
                    self.untried[StateAction(visit.room, action)] = visit

    def _record_exit(self, room: str, action: str, there: str) -> None:
        led_to = self._led_to[room].setdefault(action, Counter())
        led_to[there] += 1
        self._destinations[room][action] = max(led_to, key=led_to.__getitem__)
        self._entrances[there].add((action, room))

    def _count_return(self, before: StateVisit, visit: StateVisit) -> None:
        expected = {room for _, room in self._opposite_entrances(before.room, visit.action or "")}
        if expected:
            self._returns_tried += 1
            self._returns_found += visit.room in expected

    def _room_of(self, visit: StateVisit) -> str:
        if visit.is_dark:
            return visit.title
        room = self._room_of_title(visit)
        if room in self.mazes:
            return f"{room}|{','.join(sorted(visit.exits))}"
        return room

    def _room_of_title(self, visit: StateVisit) -> str:
        """Return which room of its title a visit is in: by the exit taken, else the description, else the exits."""
        known = self._same_title[visit.title]
        room = None
        if known:
            room = self._by_exit(visit, known) or self._by_description(visit, known) or self._by_return(visit, known)
        if room is None and (not known or self._is_telling(visit)):
            room = f"{visit.title}#{len(known)}" if known else visit.title
            known[room] = _SameTitleRoom()
        if room is None:
            # of equally similar rooms, the last one
            room = max(reversed(known), key=lambda name: max(_jaccard(e, visit.exits) for e in known[name].exits))
        known[room].record(visit, self.settings.kept_descriptions, is_telling=self._is_telling(visit))
        return room

    def _is_telling(self, visit: StateVisit) -> bool:
        return visit.is_described or (visit.title in self.doubted and bool(visit.description))

    def _by_exit(self, visit: StateVisit, known: dict[str, _SameTitleRoom]) -> str | None:
        before = visit.before
        if before is None or visit.action is None:
            return None
        if direction_of(visit.action) is None and _title(before.room) in known:
            return _title(before.room)
        led_to = self._led_to[before.room].get(visit.action, Counter())
        return next((_title(room) for room, _ in led_to.most_common() if _title(room) in known), None)

    def _by_description(self, visit: StateVisit, known: dict[str, _SameTitleRoom]) -> str | None:
        similarity, has_exits, room = max(
            ((_similarity(visit, other), visit.exits in other.exits, name) for name, other in known.items()),
            key=lambda found: found[:2],
        )
        settings = self.settings
        least = settings.same_room_similarity if has_exits else settings.same_room_similarity_other_exits
        return room if similarity >= least else None

    def _by_return(self, visit: StateVisit, known: dict[str, _SameTitleRoom]) -> str | None:
        if visit.before is None:
            return None
        return next(
            (
                _title(room)
                for _, room in sorted(self._opposite_entrances(visit.before.room, visit.action or ""))
                if _title(room) in known
                and not (
                    self._is_telling(visit)
                    and _similarity(visit, known[_title(room)]) <= self.settings.other_room_similarity
                )
            ),
            None,
        )

    # -- states -------------------------------------------------------------------------------------------------------

    def best_visits(self) -> dict[tuple[str, int], StateVisit]:
        """Return by :attr:`StateVisit.place` the best visit of all states in which the game goes on.

        Returns:
            The same as :func:`best_of_places`; it must not be changed.
        """
        if self._best_visits is None:
            self._best_visits = best_of_places(self.states.values())
        return self._best_visits

    def first_visits(self) -> Collection[StateVisit]:
        """Return of the visits of all states with the same score and achievements the first, in the order of states."""
        if self._first_visits is None:
            self._first_visits = {}
            for visit in self.states.values():
                self._first_visits.setdefault((visit.score, visit.achieved), visit)
        return self._first_visits.values()

    # -- routes -------------------------------------------------------------------------------------------------------

    def destination(self, room: str, action: str) -> str | None:
        """Return the room to which an action led from a room most often; ``None`` when it never left the room."""
        return self._destinations[room].get(action)

    def entrances(self, room: str) -> Set[tuple[str, str]]:
        """Return the actions that ever led into a room from another, each with the room in which it was done."""
        return self._entrances[room]

    def leads_back(self, room: str, action: str) -> bool:
        """Return whether an action is a move in the direction opposite to one that led into the room."""
        return any(True for _ in self._opposite_entrances(room, action))

    def _opposite_entrances(self, room: str, action: str) -> Iterator[tuple[str, str]]:
        """Yield the actions that led into a room by the opposite direction of an action, each with its room."""
        direction = direction_of(action)
        if direction is not None:
            for entrance, there in self._entrances[room]:
                if direction_of(entrance) == v.OPPOSITE[direction]:
                    yield entrance, there

    def routes(self, room: str, blocked: frozenset[StateAction] = frozenset()) -> dict[str, Route]:
        """Find the shortest routes to every room that can be reached (breadth-first search).

        Args:
            room: the start; it is reached in no moves.
            blocked: exits that must not be taken.

        Returns:
            By room the route over exits that were taken, or that are assumed to lead back.
        """
        if not blocked and room in self._routes:
            return self._routes[room]
        found = {room: Route(0, None)}
        waiting = deque([room])
        while waiting:
            here = waiting.popleft()
            moves, first = found[here]
            for action, there in self._exits_from(here):
                if there not in found and (not blocked or StateAction(here, action) not in blocked):
                    found[there] = Route(moves + 1, first or action)
                    waiting.append(there)
        if not blocked:
            self._routes[room] = found
        return found

    def reachable(self, room: str) -> frozenset[str]:
        """Return the rooms that can be reached from a room, with the room itself."""
        if room not in self._reachable:
            self._reachable[room] = frozenset(self.routes(room))
        return self._reachable[room]

    def _check_exits(self, rooms: set[str]) -> None:
        """Forget the routes if the exits of rooms in which something was recorded have changed."""
        lead_back = self._exits_lead_back()
        if lead_back != self._lead_back:
            self._lead_back = lead_back
            rooms = set(self._exits)
        exits = {room: self._find_exits(room) for room in rooms & self._exits.keys()}  # no route uses any other
        if any(found != self._exits[room] for room, found in exits.items()):
            self._exits |= exits
            self._routes.clear()
            self._reachable.clear()
            self.exits_version += 1

    def _exits_lead_back(self) -> bool:
        """Return whether an untried exit opposite to one that was taken is assumed to lead back."""
        # as if two exits of three had led back before
        share = (self._returns_found + 2) / (self._returns_tried + 3)
        return share >= self.settings.min_return_share

    def _exits_from(self, room: str) -> list[tuple[str, str]]:
        """Return the exits that were taken and those assumed to lead back: actions, and where they lead."""
        if room not in self._exits:
            self._exits[room] = self._find_exits(room)
        return self._exits[room]

    def _find_exits(self, room: str) -> list[tuple[str, str]]:
        taken = self._destinations[room]
        exits = sorted(taken.items())
        for entrance, there in sorted(self._entrances[room]) if self._lead_back else ():
            direction = direction_of(entrance)
            if direction is None:
                continue
            exits += [
                (action, there)
                for action in sorted(self.offered[room])
                if direction_of(action) == v.OPPOSITE[direction]
                and action not in taken
                and not self.trials[StateAction(room, action)]
            ]
        return exits


def dark_title(before: StateVisit, action: str) -> str:
    """Return the title of a dark room: the exit that led there names it, and only a move in a direction leads out.

    Args:
        before: the visit before.
        action: what led to the dark room, or was done in it.

    Returns:
        The title.
    """
    if before.is_dark and direction_of(action) is None:
        return before.title
    return f"{_DARK}{before.title}/{action}"


def _title(room: str) -> str:
    """Return a room's name without the exits by which rooms of a maze are distinguished."""
    return room.split("|")[0]


def _similarity(visit: StateVisit, room: _SameTitleRoom) -> float:
    return max((_jaccard(words, visit.description) for words in room.descriptions), default=0.0)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))
