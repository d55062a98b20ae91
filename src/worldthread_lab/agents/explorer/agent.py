"""An agent without a model: it does what its memory says is possible, and otherwise explores.

In order of preference it takes what the goal or a lock calls for, uses a key where the list of valid actions, a text or
a name says that it fits, reads what carries text, opens what is closed, and walks to the nearest unexplored exit. All
its knowledge of the world is in the memory; it keeps itself only which of its attempts failed.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from worldthread.errors import AgentError
from worldthread.graph import GraphView
from worldthread.models import embedder
from worldthread.names import normalise_name
from worldthread.types import Episode
from worldthread_lab.agents.base import AgentMemory, Decision, PerceivingAgent, Percept
from worldthread_lab.agents.explorer.meal import meal_problem
from worldthread_lab.agents.explorer.planner import plan
from worldthread_lab.agents.explorer.settings import DEFAULT_SETTINGS, ExplorerSettings
from worldthread_lab.agents.explorer.tidying import Tidier
from worldthread_lab.agents.worldmap import Exit, WorldMap, shown_name
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.english import is_legible, sentences

_KEY: Final = re.compile(r"\bkeys?\b")
_FETCH: Final = re.compile(r"\b(?:get|take|find|fetch|bring|obtain|collect|retrieve|recover|steal)\b", re.I)
_TIDY: Final = re.compile(
    r"\b(?:where (?:it|they) belongs?|tidy|wrong (?:place|room)s?|out of place|misplaced)\b", re.I
)
_WRONG_ROOM: Final = re.compile(r"\bwrong rooms?\b", re.I)
_MISPLACED: Final = re.compile(
    r"\b(?:out of (?:(?:its|their|the) (?:(?:right|proper|usual) )?)?place|misplaced|the wrong (?:place|room|spot)"
    r"|do(?:es)?(?:n't| not) (?:really )?belong"
    r"|(?:belongs?|kept|stored|go(?:es)?) (?:elsewhere|somewhere else|in another))\b",
    re.I,
)
"""What a world says of a thing that would be better elsewhere."""
_ALL_TIDY: Final = Decision("look", "everything seems to be where it belongs", finished=True)
_HOLDERS: Final = frozenset({"container", "supporter"})
_TOO_MANY: Final = re.compile(r"\b(?:too many things|too much|hands are full|can't carry (?:any )?more)\b", re.I)
_COMMON: Final = frozenset({"key", "keys", "the", "of", "a", "an", "small", "large", "old", "new"})


@dataclass(frozen=True)
class Errand:
    """Something worth doing in a room.

    Args:
        room: normalised name of the room.
        action: what to do there.
        reason: why.
        urgency: errands of a higher urgency are done first, wherever they are.
    """

    room: str
    action: str
    reason: str
    urgency: int = 0


class Explorer(PerceivingAgent):
    """Does what its memory says is left to do, and explores otherwise.

    Args:
        memory: takes the episodes, and answers with what is known.
        run: the name of the play, used as the source of its episodes.
        use_valid_actions: whether to use the list of valid actions when the world gives one.
        settings: the order of errands, and the numbers of planning and tidying.
    """

    name = "explorer"

    def __init__(
        self,
        memory: AgentMemory,
        *,
        run: str = "play",
        use_valid_actions: bool = True,
        settings: ExplorerSettings = DEFAULT_SETTINGS,
    ) -> None:
        super().__init__(memory, run=run)
        self.settings = settings
        self._use_valid_actions = use_valid_actions
        self._valid: frozenset[str] | None = None
        self._failed: set[tuple[str, str]] = set()  # (room, action) without an effect
        self._done: set[str] = set()  # actions not to repeat: texts read, things examined
        self._last: tuple[str, str] | None = None  # (room, action)
        self._errand: Errand | None = None
        self._tidier: Tidier | None = None
        self._destinations: dict[str, str] = {}  # misplaced thing -> where it seems to belong
        self._misplaced: dict[str, set[str]] = {}  # what a text calls misplaced -> the places that were no better
        self._rewarded: set[str] = set()  # things that brought points when they were put somewhere
        self._says_when_right = False  # whether a description has changed when a thing came to its place
        self._put: str | None = None  # the thing that the last action put somewhere
        self._tried: dict[str, list[str]] = {}  # moved to see whether it brings points -> where it was, where it came
        self._tidying_is_useless = False  # whether this brought nothing
        self._taken: tuple[str, str, set[str]] | None = None  # what was taken, from where, what is not its place
        self._paid: dict[str, set[str]] = {}  # what brought points when it was taken -> the places that brought none
        self._score = 0.0
        self._capacity = math.inf  # how many things can be carried, once the world has said so
        self._known: frozenset[tuple[str, str, str]] = frozenset()  # the snapshot after the last percept
        self._refused: dict[tuple[str, str], frozenset[tuple[str, str, str]]] = {}  # what was known at a refusal
        self._learned: set[tuple[str, str, str]] = set()  # everything that was ever known
        self._learned_before = -1  # how much that was when everything had been tried

    def perceive(self, percept: Percept) -> Episode:
        episode = super().perceive(percept)
        offered = percept.valid_actions if self._use_valid_actions else None
        self._valid = None if offered is None else frozenset(offered)
        known = self._snapshot()
        if self._last is not None and known == self._known:
            self._failed.add(self._last)
            self._refused[self._last] = known
            if _TOO_MANY.search(percept.step.text):
                self._capacity = len(self.memory.view().facts(relation=v.IS_IN, object=v.INVENTORY))
                self._failed.discard(self._last)  # it will succeed with a free hand
                del self._refused[self._last]
        self._known = known
        self._learned |= known
        if self._last is not None and self._last[1].startswith("examine "):
            self._note_description(normalise_name(self._last[1].removeprefix("examine ")), percept.step.text)
        if self._put is not None and percept.score > self._score:  # whatever its description goes on saying
            self._misplaced.pop(self._put, None)
            self._rewarded.add(self._put)
        elif self._put in self._tried:
            self._tried[self._put].append(self._destinations[self._put])
        self._note_points(percept.score - self._score)
        self._score = percept.score
        return episode

    def _note_points(self, gained: float) -> None:
        """Note what the points say, where tidying is the task: whether a thing was misplaced, and whether it is now."""
        if self._taken is not None:
            thing, origin, wrong = self._taken
            if gained > 0:
                self._paid[thing] = wrong
            elif gained < 0:
                self._destinations[thing] = origin  # it was where it belongs, and goes back
        if self._put in self._paid:
            if gained > 0:
                del self._paid[self._put]
            else:
                self._paid[self._put].add(self._destinations.pop(self._put))  # another guess

    def _note_description(self, thing: str, text: str) -> None:
        """Note whether the description of a thing says that it is misplaced, also after it was moved."""
        place = self._destinations.get(thing)
        if thing in self._rewarded or not _MISPLACED.search(text):
            self._says_when_right |= self._misplaced.pop(thing, None) is not None
            return
        tried = self._misplaced.setdefault(thing, set())
        # a description that never changes, in a world without points, says nothing against the place
        if place is not None and (self._says_when_right or self._rewarded):
            tried.add(place)
            if len(tried) < self.settings.places_tried:
                del self._destinations[thing]  # another guess

    def decide(self) -> Decision:
        if self.percept is None:
            raise AgentError("the agent was asked to decide before it perceived anything")
        view = self.memory.view()
        world = WorldMap(view)
        self._put = self._taken = None
        decision = self._choose(view, world)
        self._last = (world.here or "", decision.action)
        return decision

    def _snapshot(self) -> frozenset[tuple[str, str, str]]:
        """Return what a useful action changes: where the player is, what is carried, and the states of things."""
        view = self.memory.view()
        relations = (v.IS_IN, v.IS_ON, v.IS, v.UNLOCKS, v.NEEDS, v.HAS_EXIT)
        return frozenset(fact.key for relation in relations for fact in view.facts(relation=relation))

    # -- choosing ---------------------------------------------------------------------------------------------------

    def _choose(self, view: GraphView, world: WorldMap) -> Decision:
        if world.here is None:
            return self._find_out_where()
        distances = world.distances(presumed=True)
        errands = [
            errand
            for errand in self._errands(view, world)
            if errand.room in distances and (errand.room, errand.action) not in self._failed
        ]
        if errands:
            best = min(errands, key=lambda e: (-e.urgency, distances[e.room], e.action))
            if best.room == world.here:
                self._errand = None
                if best.action.startswith(("examine ", "read ")):
                    self._done.add(best.action)
                return Decision(best.action, best.reason)
            return self._walk(best, world)
        step = self._for_the_meal(view, world)
        if step is not None:
            return step
        exits = self._reachable_exits(world, distances)
        if exits:
            return self._explore(exits[0], world)
        step = self._put_away(view, world)
        if step is not None:
            return step
        if any(_TIDY.search(thesis.text) for thesis in view.theses(about=v.GOAL)):
            return self._tidy_as_asked(view, world)
        step = self._try_once(view, world, ("open", "examine")) or self._tidy_up(view, world, self._misplaced)
        step = step or self._try_to_tidy(view, world)
        if step is not None:
            return step
        if self._destinations:  # nobody said what to do, so what was tidied is not taken away again
            return _ALL_TIDY
        return self._try_once(view, world, ("take",)) or self._last_resort(world)

    def _furniture(self, view: GraphView, world: WorldMap) -> tuple[dict[str, str], dict[str, str]]:
        """Return what can hold things: name -> whether it is a container or a supporter; and name -> its room."""
        kinds = {fact.key[0]: fact.key[2] for fact in view.facts(relation=v.IS_A) if fact.key[2] in _HOLDERS}
        return kinds, {name: room for name in kinds if (room := self._room_of(name, view, world)) is not None}

    def _put_away(self, view: GraphView, world: WorldMap) -> Decision | None:
        """Return the next move that brings a carried thing to where it seems to belong."""
        for thing, place in self._destinations.items():
            if view.value(thing, v.IS_IN) == v.INVENTORY:
                kinds, rooms = self._furniture(view, world)
                self._done.discard(f"examine {thing}")  # its description will say whether the guess was right
                if place in world.rooms:
                    back = Errand(place, f"drop {shown_name(thing, view)}", f"{thing} lay there")
                    return self._walk(back, world) if place != world.here else Decision(back.action, back.reason)
                shown = shown_name(place, view)
                verb = f"insert {thing} into" if kinds.get(place) == "container" else f"put {thing} on"
                errand = Errand(rooms[place], f"{verb} {shown}", f"{thing} seems to belong there")
                if (errand.room, errand.action) in self._failed:  # the world refused: leave it in that room
                    return Decision(f"drop {thing}", f"{thing} cannot be put on or in {shown}")
                if rooms[place] != world.here:
                    return self._walk(errand, world)
                self._put = thing
                return Decision(errand.action, errand.reason)
        return None

    def _tidy_as_asked(self, view: GraphView, world: WorldMap) -> Decision:
        """Return the next move of tidying: of what is known to be misplaced first, then of what seems to be."""
        known = set(self._destinations)
        elsewhere = any(_WRONG_ROOM.search(thesis.text) for thesis in view.theses(about=v.GOAL))
        step = self._tidy_up(view, world, self._paid) or self._tidy_up(view, world, elsewhere=elsewhere)
        for thing in self._destinations.keys() - known - self._paid.keys():
            origin = self._place_of(thing, view)
            _, rooms = self._furniture(view, world)
            room = rooms.get(origin, origin)
            beside = {place for place in rooms if elsewhere and rooms[place] == room}
            self._taken = thing, origin, {origin, *beside}
        return step or _ALL_TIDY

    def _tidy_up(
        self,
        view: GraphView,
        world: WorldMap,
        misplaced: Mapping[str, Collection[str]] | None = None,
        margin: float | None = None,
        elsewhere: bool = False,
    ) -> Decision | None:
        """Return the next move towards the thing that is misplaced most surely.

        Args:
            view: what the memory holds.
            world: the map.
            misplaced: only these things are moved, and not to these places; ``None``: whatever seems to be misplaced.
            margin: how much better another place must fit; ``None``: that of the settings.
            elsewhere: whether what is misplaced is in the wrong room, so that what fits its own room best stays.

        Returns:
            The move; ``None`` when everything seems to be where it belongs.
        """
        if misplaced is not None and not misplaced:
            return None
        kinds, rooms = self._furniture(view, world)
        if self._tidier is None:
            self._tidier = Tidier(embedder(), self.settings.tidying)
        where = {
            fact.key[0]: fact
            for relation in (v.IS_IN, v.IS_ON)
            for fact in view.facts(relation=relation)
            if fact.key[0] not in kinds and fact.key[0] != v.PLAYER and fact.key[2] != v.INVENTORY
        }
        suggestions = self._tidier.suggest(
            {name: fact.key[2] for name, fact in where.items()}, rooms, misplaced, margin
        )
        for suggestion in suggestions:
            fact = where[suggestion.thing]
            room = self._room_of(fact.key[0], view, world)
            source = "" if fact.key[2] in world.rooms else f" from {fact.object}"
            errand = Errand(room or "", f"take {fact.subject}{source}", f"{fact.subject} seems to be out of place")
            tried = (errand.room, errand.action) in self._failed
            if suggestion.thing in self._destinations or tried or errand.room not in world.distances(presumed=True):
                continue  # nothing is moved twice
            if elsewhere and rooms[suggestion.place] == room:
                continue
            if errand.room != world.here:
                return self._walk(errand, world)
            self._errand = None
            self._destinations[suggestion.thing] = suggestion.place
            return Decision(errand.action, errand.reason)
        return None

    def _try_to_tidy(self, view: GraphView, world: WorldMap) -> Decision | None:
        """Return the next move of finding out whether the world gives points for tidying, when nobody states a task.

        What seems to be misplaced is brought to where it seems to belong. When that brings points, the rest is too, and
        what brought none is tried in further places. What brought none anywhere is brought back.
        """
        if self._tidying_is_useless or view.theses(about=v.GOAL):
            return None
        unpaid = [thing for thing, places in self._tried.items() if thing not in self._rewarded and len(places) > 1]
        if self._rewarded or len(unpaid) < self.settings.tidying_trials:
            before = set(self._destinations)
            step = self._tidy_up(view, world)
            if step is None and not self._rewarded:
                step = self._tidy_up(view, world, margin=0.0)  # a few tries cost little
            for thing in self._destinations.keys() - before:
                self._tried[thing] = [self._place_of(thing, view)]
            if step is not None:
                return step
        most = self.settings.places_tried if self._rewarded else 0
        for thing in unpaid:
            places = self._tried[thing]
            origin = places[0]
            if view.value(thing, v.IS_IN) == v.INVENTORY or (len(places) > 1 and places[-1] == origin):
                continue
            if len(places) <= most:
                self._destinations.pop(thing, None)
                step = self._tidy_up(view, world, {thing: places})
                if step is not None:
                    return step
            here = self._place_of(thing, view)
            room = self._room_of(thing, view, world)
            if room is None or here == origin or room not in world.distances(presumed=True):
                continue
            source = "" if here in world.rooms else f" from {shown_name(here, view)}"
            errand = Errand(room, f"take {shown_name(thing, view)}{source}", f"{thing} was no worse where it was")
            if (errand.room, errand.action) in self._failed:
                continue
            self._destinations[thing] = origin
            if room != world.here:
                return self._walk(errand, world)
            self._errand = None
            return Decision(errand.action, errand.reason)
        if not self._rewarded:
            self._tidying_is_useless = True
            for thing in self._tried:
                self._destinations.pop(thing, None)
        return None

    @staticmethod
    def _place_of(thing: str, view: GraphView) -> str:
        """Return what the thing is in or on, as a normalised name; empty when it is not known."""
        places = view.facts(thing, v.IS_IN) or view.facts(thing, v.IS_ON)
        return places[0].key[2] if places else ""

    def _for_the_meal(self, view: GraphView, world: WorldMap) -> Decision | None:
        """Return the next step of a plan for the meal of a recipe; while things are missing, only take what is here."""
        problem = meal_problem(
            view,
            world,
            lambda thing: self._room_of(thing, view, world),
            hands_are_full=self._capacity < math.inf,
        )
        if problem is None or world.here is None:
            return None
        carried = len(view.facts(relation=v.IS_IN, object=v.INVENTORY))
        if problem.missing:
            for operator in problem.useful:
                if operator.room == world.here and carried < self._capacity:
                    return Decision(operator.action, operator.reason)
            return None
        steps = plan(
            world.here,
            problem.holds,
            problem.goal,
            problem.operators,
            functools.partial(world.distance, presumed=True),
            room_to_carry=self._capacity - carried,
            max_states=self.settings.planned_states,
        )
        if not steps:
            return None
        step = steps[0]
        if step.room != world.here:
            return self._walk(Errand(step.room, step.operator.action, step.operator.reason), world)
        self._errand = None
        return Decision(step.operator.action, step.operator.reason)

    def _walk(self, errand: Errand, world: WorldMap) -> Decision:
        """Return the next move towards an errand; a fresh decision when it is another errand than before."""
        path = world.path(errand.room, presumed=True)
        assert path
        is_new = errand != self._errand
        self._errand = errand
        door = world.doors.get((world.here or "", path[0]))
        reason = f"going to {errand.room}: {errand.reason}"
        if world.is_shut(door):
            return Decision(f"open {door}", reason, is_new)
        return Decision(f"go {path[0]}", reason, is_new)

    def _explore(self, goal: Exit, world: WorldMap) -> Decision:
        reason = f"the way {goal.direction} out of {goal.room} is unexplored"
        if goal.room != world.here:
            return self._walk(Errand(goal.room, f"go {goal.direction}", reason), world)
        is_new = self._errand is None or self._errand.action != f"go {goal.direction}"
        self._errand = None
        if world.is_shut(goal.door):
            return Decision(f"open {goal.door}", reason, is_new)
        return Decision(f"go {goal.direction}", reason, is_new)

    def _reachable_exits(self, world: WorldMap, distances: dict[str, int]) -> list[Exit]:
        """Return unexplored exits, the best first: those to new rooms before presumed ones, near before far."""
        exits = [
            exit_
            for exit_ in world.unexplored
            if exit_.room in distances
            and exit_.direction not in world.presumed.get(exit_.room, {})  # walked when something lies that way
            and not world.is_locked(exit_.door)
            and (exit_.room, f"go {exit_.direction}") not in self._failed
        ]
        return sorted(exits, key=lambda e: (e.presumed is not None, distances[e.room], e.room, e.direction))

    # -- errands ----------------------------------------------------------------------------------------------------

    def _errands(self, view: GraphView, world: WorldMap) -> Iterator[Errand]:
        carried = {fact.key[0]: fact.subject for fact in view.facts(relation=v.IS_IN, object=v.INVENTORY)}
        yield from self._offered(view, world)
        yield from self._to_take(view, world, carried)
        yield from self._to_read(view, world, carried)
        yield from self._to_unlock(view, world, carried)
        yield from self._to_open(view, world)

    def _offered(self, view: GraphView, world: WorldMap) -> Iterator[Errand]:
        """Yield what the world offers here: to unlock, and to open what may hold something."""
        doors = set(world.doors.values())
        for action in sorted(self._valid or ()):
            verb, _, thing = action.partition(" ")
            if world.here is None or normalise_name(thing) in doors:
                continue
            if verb == "unlock":
                yield Errand(world.here, action, "a key fits", urgency=self.settings.offered_unlock_urgency)
            elif verb == "open":
                yield Errand(world.here, action, f"{thing} can be opened", urgency=self.settings.open_urgency)

    def _to_take(self, view: GraphView, world: WorldMap, carried: dict[str, str]) -> Iterator[Errand]:
        wanted = self._wanted(view)
        for relation in (v.IS_IN, v.IS_ON):
            for fact in view.facts(relation=relation):
                name, _, where = fact.key
                if name in carried or not (name in wanted or _KEY.search(name)) or name == v.PLAYER:
                    continue
                if where in world.rooms:
                    yield Errand(
                        where, f"take {fact.subject}", f"{fact.subject} is wanted", urgency=self.settings.take_urgency
                    )
                elif (room := self._room_of(where, view, world)) and not self._is_barred(where, view):
                    action = f"take {fact.subject} from {fact.object}"
                    yield Errand(room, action, f"{fact.subject} is wanted", urgency=self.settings.take_urgency)

    def _wanted(self, view: GraphView) -> set[str]:
        """Return the names of things that the goal asks to get, and of keys that open something.

        Args:
            view: what the memory holds.

        Returns:
            Normalised names. Without a goal, what is locked away is assumed to be worth having.
        """
        goals = view.theses(about=v.GOAL)
        asked = " ".join(normalise_name(s) for thesis in goals for s in sentences(thesis.text) if _FETCH.search(s))
        named = {
            fact.key[0]
            for relation in (v.IS_IN, v.IS_ON)
            for fact in view.facts(relation=relation)
            if re.search(rf"\b{re.escape(fact.key[0])}\b", asked)
        }
        fixed = {fact.key[2] for fact in view.facts(relation=v.UNLOCKS)}
        kinds = {
            f.key[0] for k in ("container", "supporter", "door", "room") for f in view.facts(relation=v.IS_A, object=k)
        }
        if not goals:
            inside = {f.key[0] for lock in fixed for f in view.facts(relation=v.IS_IN, object=lock)}
            named |= {name for name in inside if not is_legible(name)}
        named = {name for name in named if not is_legible(name)}  # it is enough to read them
        return (named - fixed - kinds) | {fact.key[0] for fact in view.facts(relation=v.UNLOCKS)}

    def _to_read(self, view: GraphView, world: WorldMap, carried: dict[str, str]) -> Iterator[Errand]:
        for relation in (v.IS_IN, v.IS_ON):
            for fact in view.facts(relation=relation):
                action = f"examine {fact.subject}"
                if not is_legible(fact.key[0]) or action in self._done:
                    continue
                where = fact.key[2]
                room = world.here if where == v.INVENTORY else self._room_of(where, view, world)
                if room is not None and not self._is_barred(where, view):
                    yield Errand(room, action, f"{fact.subject} may say something", urgency=self.settings.read_urgency)

    def _to_unlock(self, view: GraphView, world: WorldMap, carried: dict[str, str]) -> Iterator[Errand]:
        unlocks = view.facts(relation=v.UNLOCKS)
        keys_known = {fact.key[0] for fact in unlocks}
        locks_known = {fact.key[2] for fact in unlocks}
        for fact in unlocks:
            room = self._room_of(fact.key[2], view, world)
            if room is not None and fact.key[0] in carried and self._may_be_locked(fact.key[2], view):
                action = f"unlock {shown_name(fact.key[2], view)} with {carried[fact.key[0]]}"
                yield Errand(room, action, f"{fact.subject} unlocks {fact.object}", urgency=self.settings.open_urgency)
        for key, shown in carried.items():
            if key in keys_known or not _KEY.search(key):
                continue
            for lock in self._locks(key, view):
                if lock in locks_known or view.facts(key, v.DOES_NOT_UNLOCK, lock):
                    continue
                room = self._room_of(lock, view, world)
                if room is None or not self._may_be_locked(lock, view):
                    continue
                action = f"unlock {shown_name(lock, view)} with {shown}"
                if _share_a_word(key, lock):
                    yield Errand(room, action, f"{shown} and {lock} sound alike", urgency=self.settings.open_urgency)
                elif room == world.here and self._valid is None:
                    yield Errand(room, action, f"{shown} may fit {lock}", urgency=self.settings.try_key_urgency)

    def _to_open(self, view: GraphView, world: WorldMap) -> Iterator[Errand]:
        doors = set(world.doors.values())
        for fact in view.facts(relation=v.IS, object=v.CLOSED):
            room = self._room_of(fact.key[0], view, world)
            if room is not None and fact.key[0] not in doors and not view.facts(fact.key[0], v.IS, v.LOCKED):
                yield Errand(
                    room,
                    f"open {shown_name(fact.key[0], view)}",
                    f"{fact.subject} is closed",
                    urgency=self.settings.open_urgency,
                )

    def _locks(self, key: str, view: GraphView) -> list[str]:
        """Return what ``key`` may fit: what is locked, and what shares a distinctive word with its name."""
        locked = {fact.key[0] for fact in view.facts(relation=v.IS, object=v.LOCKED)}
        carried = {fact.key[0] for fact in view.facts(relation=v.IS_IN, object=v.INVENTORY)}
        placed = {fact.key[0] for relation in (v.IS_IN, v.IS_ON) for fact in view.facts(relation=relation)}
        return sorted(
            locked | {name for name in placed - carried if _share_a_word(key, name) and not _KEY.search(name)}
        )

    def _may_be_locked(self, thing: str, view: GraphView) -> bool:
        return not (view.facts(thing, v.IS, v.OPEN) or view.facts(thing, v.IS, v.CLOSED))

    def _is_barred(self, container: str, view: GraphView) -> bool:
        return bool(view.facts(container, v.IS, v.CLOSED) or view.facts(container, v.IS, v.LOCKED))

    def _room_of(self, thing: str, view: GraphView, world: WorldMap) -> str | None:
        """Return the room in which ``thing`` is, through everything that holds it; ``None`` when it is not known."""
        seen: set[str] = set()
        while thing not in world.rooms:
            if thing in seen:
                return None
            seen.add(thing)
            places = view.facts(thing, v.IS_IN) or view.facts(thing, v.IS_ON)
            if not places:
                doors = [room for (room, _), door in world.doors.items() if door == thing]
                return min(doors) if doors else None
            thing = places[0].key[2]
            if thing == v.INVENTORY:
                return world.here
        return thing

    # -- when nothing better is known -------------------------------------------------------------------------------

    def _try_once(self, view: GraphView, world: WorldMap, verbs: Sequence[str]) -> Decision | None:
        """Return the nearest of the attempts with some verbs that was not made yet."""
        here = world.here or ""
        for errand in self._attempts(view, world, verbs):
            if errand.action in self._done or (errand.room, errand.action) in self._failed:
                continue
            if errand.room != here:
                return replace(self._walk(errand, world), stuck=True)
            self._errand = None
            self._done.add(errand.action)
            return Decision(errand.action, errand.reason, stuck=True)
        return None

    def _last_resort(self, world: WorldMap) -> Decision:
        """Return whatever is offered here and was not done yet."""
        here = world.here or ""
        for action in self._last_resorts(world):
            if (here, action) not in self._failed:
                self._failed.add((here, action))
                return Decision(action, "nothing better is left to try", stuck=True)
        return self._begin_again("nothing is left to try")

    def _attempts(self, view: GraphView, world: WorldMap, verbs: Sequence[str]) -> Iterator[Errand]:
        """Yield every verb with every known thing, verb by verb, the nearest things first."""
        distances = world.distances(presumed=True)
        known = []
        for relation in (v.IS_IN, v.IS_ON):
            for fact in view.facts(relation=relation):
                room = self._room_of(fact.key[0], view, world)
                if fact.key[0] != v.PLAYER and room in distances and not self._is_barred(fact.key[2], view):
                    known.append((distances[room], fact.subject, room))
        for verb in verbs:
            for _, name, room in sorted(known):
                yield Errand(room, f"{verb} {name}", f"nothing better to do: {verb} {name}")

    def _last_resorts(self, world: WorldMap) -> Iterator[str]:
        yield from sorted(self._valid or (), key=lambda action: (action.startswith("go "), action))
        if self._valid is None:
            yield from (
                f"go {direction}" for direction in v.OPPOSITE if direction not in world.exits.get(world.here or "", {})
            )

    def _find_out_where(self) -> Decision:
        """Choose an action when the texts have not said where the player is."""
        for action in ("look", *(sorted(self._valid or ()))):
            if ("", action) not in self._failed:
                return Decision(action, "where am I?", stuck=True)
        return self._begin_again("where am I?")

    def _begin_again(self, reason: str) -> Decision:
        """Try everything once more, but not what would be refused again; stop when the last round taught nothing."""
        if len(self._learned) == self._learned_before:
            return Decision("look", "nothing is left to learn", stuck=True, finished=True)
        self._learned_before = len(self._learned)
        # the world may have changed since then, unless all that is known of it is the same
        self._failed = {attempt for attempt, known in self._refused.items() if known == self._known}
        return Decision("look", reason, stuck=True)


def _share_a_word(key: str, lock: str) -> bool:
    """Return whether the names of a key and a lock share a distinctive word ("golden key", "golden locker")."""
    return bool((set(key.split()) - _COMMON) & (set(lock.split()) - _COMMON))
