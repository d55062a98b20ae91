"""A world in plain Python for tests and first steps. It needs no engine, and its texts read like those of TextWorld.

:class:`ScriptedWorld` runs any :class:`ScriptedHouse`; ``tiny-v1`` is a house of four rooms, drawn from its seed.
"""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from worldthread.errors import EpisodeOverError, InputError
from worldthread.names import normalise_name
from worldthread.support.text import one_line
from worldthread_lab.envs.base import Environment, Info, Proposition, Truth, require_action, require_running
from worldthread_lab.envs.houses import grow_house
from worldthread_lab.envs.spec import GameSpec

CARRIED = "I"
"""The place of things that the player carries."""


@dataclass(frozen=True)
class ScriptedHouse:
    """The definition of a scripted world. All names are unique.

    Args:
        exits: for each room, the room that each direction leads to.
        start: room in which the player starts.
        containers: room of each container.
        supporters: room of each supporter.
        things: for each thing that can be carried, the room, container or supporter where it is, or :data:`CARRIED`.
        locks: state of each container: ``open``, ``closed`` or ``locked``.
        keys: for each container with a lock, the thing that fits.
        texts: the text that examining a thing prints.
        rewards: points for taking a thing for the first time.
        prize: the thing that wins the game when it is carried.
        goal: the task in words.

    Raises:
        InputError: a name is used twice, or something is in a place that does not exist.
    """

    exits: Mapping[str, Mapping[str, str]]
    start: str
    things: Mapping[str, str]
    prize: str
    goal: str
    containers: Mapping[str, str] = field(default_factory=dict)
    supporters: Mapping[str, str] = field(default_factory=dict)
    locks: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    rewards: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [*self.exits, *self.containers, *self.supporters, *self.things]
        keys = [normalise_name(name) for name in names]
        twice = sorted({name for name, key in zip(names, keys, strict=True) if keys.count(key) > 1})
        if twice:
            raise InputError(f"names of a house must be unique: {', '.join(twice)}")
        rooms = {self.start, *self.containers.values(), *self.supporters.values()}
        rooms.update(there for exits in self.exits.values() for there in exits.values())
        holders = {*self.exits, *self.containers, *self.supporters, CARRIED}
        things = {self.prize, *self.keys.values(), *self.rewards}
        boxes = {*self.locks, *self.keys}
        absent = sorted(
            (rooms - set(self.exits))
            | (set(self.things.values()) - holders)
            | (things - set(self.things))
            | (boxes - set(self.containers))
        )
        if absent:
            raise InputError(f"a house must hold every place that it names: {', '.join(absent)} is missing")


@dataclass(frozen=True)
class _State:
    """The mutable part: room of the player, place of each thing, state of each container, things that gave points."""

    room: str
    places: tuple[tuple[str, str], ...]
    locks: tuple[tuple[str, str], ...]
    rewarded: frozenset[str] = frozenset()

    def place(self, thing: str) -> str:
        return dict(self.places)[thing]

    def lock(self, container: str) -> str:
        return dict(self.locks)[container]

    def moved(self, thing: str, place: str) -> _State:
        return replace(self, places=tuple((name, place if name == thing else old) for name, old in self.places))

    def turned(self, container: str, lock: str) -> _State:
        return replace(self, locks=tuple((name, lock if name == container else old) for name, old in self.locks))


class _Rules:
    """The rules of a house: a pure function from a state and a command to the next state and the text printed."""

    def __init__(self, house: ScriptedHouse) -> None:
        self.house = house
        self._names = {
            normalise_name(name): name for name in (*house.containers, *house.supporters, *house.things, *house.exits)
        }
        self._commands: tuple[tuple[re.Pattern[str], Callable[..., tuple[_State, str]]], ...] = tuple(
            (re.compile(pattern), do)
            for pattern, do in (
                (r"l|look", lambda state: (state, self.describe(state))),
                (r"i|inventory", lambda state: (state, self.inventory(state))),
                (r"(?:go )?(north|south|east|west)", self._go),
                (r"go .+", lambda state: (state, "You can't go that way.")),
                (r"(?:take|get) (.+) from (.+)", self._take),
                (r"(?:take|get|pick up) (.+)", self._take),
                (r"drop (.+)", self._drop),
                (r"(?:put|insert) (.+) (?:on|in|into) (.+)", self._put),
                (r"open (.+)", self._open),
                (r"close (.+)", self._close),
                (r"(unlock) (.+) with (.+)", self._turn_key),
                (r"(lock) (.+) with (.+)", self._turn_key),
                (r"(?:x|examine|read) (.+)", self._examine),
            )
        )

    def start(self) -> _State:
        house = self.house
        locks = tuple((name, house.locks.get(name, "open")) for name in house.containers)
        return _State(house.start, tuple(house.things.items()), locks)

    def do(self, state: _State, command: str) -> tuple[_State, str]:
        words = one_line(command.casefold())
        for pattern, do in self._commands:
            match = pattern.fullmatch(words)
            if match:
                return do(state, *match.groups())
        return state, "That's not a verb I recognise."

    def score(self, state: _State) -> int:
        return sum(self.house.rewards[thing] for thing in state.rewarded)

    def valid_actions(self, state: _State) -> tuple[str, ...]:
        """Return every command that is possible now, without those that would only repeat a text, sorted."""
        actions = {"look", "inventory", *(f"go {direction}" for direction in self.house.exits[state.room])}
        near = self._visible(state)
        carried = [thing for thing, place in state.places if place == CARRIED]
        actions.update(f"examine {name}" for name in near)
        for thing, place in state.places:
            if thing in near and place == state.room:
                actions.add(f"take {thing}")
            elif thing in near and place != CARRIED:
                actions.add(f"take {thing} from {place}")
        actions.update(f"drop {thing}" for thing in carried)
        for name in near:
            if name in self.house.supporters:
                actions.update(f"put {thing} on {name}" for thing in carried)
            elif name in self.house.containers:
                actions.update(self._container_actions(state, name, carried))
        return tuple(sorted(actions))

    def _container_actions(self, state: _State, name: str, carried: list[str]) -> set[str]:
        lock, key = state.lock(name), self.house.keys.get(name)
        if lock == "open":
            return {f"close {name}", *(f"insert {thing} into {name}" for thing in carried)}
        actions = {f"open {name}"} if lock == "closed" else set()
        if key in carried:
            actions.add(f"{'lock' if lock == 'closed' else 'unlock'} {name} with {key}")
        return actions

    def describe(self, state: _State) -> str:
        """Return the description of the player's room."""
        room = state.room
        sights = []
        for name in (name for name, where in self.house.containers.items() if where == room):
            lock = state.lock(name)
            held = self._held(state, name) if lock == "open" else []
            sights.append(f"You see {_article('opened' if lock == 'open' else lock)} {name}.")
            if lock == "open":
                sights.append(f"The {name} contains {_list(held)}." if held else f"The {name} is empty.")
        for name in (name for name, where in self.house.supporters.items() if where == room):
            held = self._held(state, name)
            sights.append(f"You see {_article(name)}.")
            sights.append(f"On the {name} you see {_list(held)}." if held else f"There is nothing on the {name}.")
        exits = [f"There is an exit to the {direction}." for direction in self.house.exits[room]]
        floor = self._held(state, room)
        parts = (
            f"-= {room} =-\nYou are in the {room}.",
            " ".join(sights),
            " ".join(exits),
            f"There is {_list(floor)} on the floor." if floor else "",
        )
        return "\n\n".join(part for part in parts if part)

    def inventory(self, state: _State) -> str:
        """Return the text of the inventory."""
        carried = self._held(state, CARRIED)
        return f"You are carrying: {_list(carried)}." if carried else "You are carrying nothing."

    def propositions(self, state: _State) -> frozenset[Proposition]:
        """Return the true state, with the predicates of TextWorld."""
        house = self.house
        facts: set[Proposition] = {("at", "P", state.room)}
        for thing, place in state.places:
            relation = "on" if place in house.supporters else "at" if place in house.exits else "in"
            facts.add((relation, thing, place))
        facts.update(("at", name, room) for name, room in (*house.containers.items(), *house.supporters.items()))
        facts.update((lock, name) for name, lock in state.locks)
        facts.update(("match", key, container) for container, key in house.keys.items())
        for here, exits in house.exits.items():
            facts.update((f"{direction}_of", there, here) for direction, there in exits.items())
            facts.update(("free", here, there) for there in exits.values())
        return frozenset(facts)

    def _held(self, state: _State, holder: str) -> list[str]:
        return [thing for thing, place in state.places if place == holder]

    def _visible(self, state: _State) -> set[str]:
        fixed = {**self.house.containers, **self.house.supporters}
        here = {name for name, room in fixed.items() if room == state.room}
        closed = {name for name, lock in state.locks if lock != "open"}
        return here | {
            thing for thing, place in state.places if place in (state.room, CARRIED) or place in here - closed
        }

    def _find(self, state: _State, words: str) -> str | None:
        name = self._names.get(normalise_name(words))
        return name if name in self._visible(state) else None

    def _go(self, state: _State, direction: str) -> tuple[_State, str]:
        there = self.house.exits[state.room].get(direction)
        if there is None:
            return state, "You can't go that way."
        state = replace(state, room=there)
        return state, self.describe(state)

    def _take(self, state: _State, words: str, source: str | None = None) -> tuple[_State, str]:
        thing = self._find(state, words)
        if thing is None or (source is not None and self._find(state, source) is None):
            return state, _UNSEEN
        if thing not in self.house.things:
            return state, "That's fixed in place."
        place = state.place(thing)
        if place == CARRIED:
            return state, f"You already have the {thing}."
        if source is not None and self._find(state, source) != place:
            return state, f"The {thing} isn't there now."
        if place == state.room:
            taken = f"You pick up the {thing} from the ground."
        else:
            taken = f"You take the {thing} from the {place}."
        state = state.moved(thing, CARRIED)
        points = self.house.rewards.get(thing, 0)
        if points and thing not in state.rewarded:
            state = replace(state, rewarded=state.rewarded | {thing})
            taken += f"\n\nYour score has just gone up by {'one point' if points == 1 else f'{points} points'}."
        return state, taken

    def _drop(self, state: _State, words: str) -> tuple[_State, str]:
        thing = self._find(state, words)
        if thing is None:
            return state, _UNSEEN
        if thing not in self.house.things or state.place(thing) != CARRIED:
            return state, f"You need to take the {thing} first."
        return state.moved(thing, state.room), f"You drop the {thing} on the ground."

    def _put(self, state: _State, words: str, where: str) -> tuple[_State, str]:
        thing, holder = self._find(state, words), self._find(state, where)
        if thing is None or holder is None:
            return state, _UNSEEN
        if thing not in self.house.things or state.place(thing) != CARRIED:
            return state, f"You need to take the {thing} first."
        if holder in self.house.supporters:
            return state.moved(thing, holder), f"You put the {thing} on the {holder}."
        if holder not in self.house.containers:
            return state, f"The {holder} can't hold things."
        if state.lock(holder) != "open":
            return state, f"The {holder} is closed."
        return state.moved(thing, holder), f"You put the {thing} into the {holder}."

    def _open(self, state: _State, words: str) -> tuple[_State, str]:
        name = self._find(state, words)
        if name is None:
            return state, _UNSEEN
        if name not in self.house.containers:
            return state, f"You can't open the {name}."
        if state.lock(name) == "open":
            return state, "That's already open."
        if state.lock(name) == "locked":
            return state, f"The {name} is locked."
        held = self._held(state, name)
        return state.turned(name, "open"), f"You open the {name}{f', revealing {_list(held)}' if held else ''}."

    def _close(self, state: _State, words: str) -> tuple[_State, str]:
        name = self._find(state, words)
        if name is None:
            return state, _UNSEEN
        if name not in self.house.containers:
            return state, f"You can't close the {name}."
        if state.lock(name) != "open":
            return state, "That's already closed."
        return state.turned(name, "closed"), f"You close the {name}."

    def _turn_key(self, state: _State, verb: str, words: str, tool: str) -> tuple[_State, str]:
        name, key = self._find(state, words), self._find(state, tool)
        if name is None or key is None:
            return state, _UNSEEN
        if name not in self.house.containers:
            return state, f"The {name} has no lock."
        if key not in self.house.things or state.place(key) != CARRIED:
            return state, f"You need to take the {key} first."
        if state.lock(name) != ("locked" if verb == "unlock" else "closed"):
            return state, f"The {name} is {state.lock(name)}."
        if self.house.keys.get(name) != key:
            return state, "That doesn't seem to fit the lock."
        return state.turned(name, "closed" if verb == "unlock" else "locked"), f"You {verb} the {name}."

    def _examine(self, state: _State, words: str) -> tuple[_State, str]:
        name = self._find(state, words)
        if name is None:
            return state, _UNSEEN
        text = self.house.texts.get(name, f"The {name} looks ordinary.")
        if name in self.house.containers:
            text += f" It is {state.lock(name)}."
        shows = name in self.house.supporters or (name in self.house.containers and state.lock(name) == "open")
        held = self._held(state, name) if shows else []
        if held:
            where = "On" if name in self.house.supporters else "In"
            text += f"\n\n{where} the {name} {'is' if len(held) < 2 else 'are'} {_list(held)}."
        return state, text


_UNSEEN = "You can't see any such thing."


def shortest_win(house: ScriptedHouse) -> tuple[str, ...]:
    """Find a shortest list of commands that wins, by breadth-first search.

    The search tries only the actions that can help: going, opening, unlocking, and taking keys and the prize.

    Args:
        house: the house to win.

    Returns:
        The commands; empty when the house cannot be won.
    """
    rules = _Rules(house)
    wanted = {house.prize, *house.keys.values()}
    start = rules.start()
    came_from: dict[_State, tuple[_State, str] | None] = {start: None}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        if state.place(house.prize) == CARRIED:
            path: list[str] = []
            step = came_from[state]
            while step is not None:
                path.append(step[1])
                step = came_from[step[0]]
            return tuple(reversed(path))
        for action in rules.valid_actions(state):
            verb, _, rest = action.partition(" ")
            if verb in ("go", "open", "unlock") or (verb == "take" and rest.partition(" from ")[0] in wanted):
                after, _ = rules.do(state, action)
                if after not in came_from:
                    came_from[after] = (state, action)
                    queue.append(after)
    return ()


class ScriptedWorld(Environment):
    """A world without an engine, defined by a :class:`ScriptedHouse`.

    Args:
        draw: returns the house of a seed; the same house for the same seed.
        id: the id of the environment.
        seed: the seed of :meth:`reset` when it gets none.
        goal: the task in words, instead of the house's own.
        max_moves: the episode is truncated after this many moves; ``None``: no limit.
    """

    def __init__(
        self,
        draw: Callable[[int], ScriptedHouse],
        *,
        id: str = "scripted",
        seed: int = 0,
        goal: str | None = None,
        max_moves: int | None = None,
    ) -> None:
        self.id = id
        self._draw = draw
        self._seed = seed
        self._goal = goal
        self._max_moves = max_moves
        self._rules: _Rules | None = None
        self._walkthrough: tuple[str, ...] | None = None
        self._state: _State | None = None
        self._info = Info()
        self._running = False

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        self._rules = _Rules(self._draw(self._seed if seed is None else seed))
        self._state = self._rules.start()
        self._walkthrough = None
        goal = self._rules.house.goal if self._goal is None else self._goal
        self._info = self._read_info(self._rules, self._state, goal=goal, moves=0)
        self._running = True
        observation = self._rules.describe(self._state)
        return f"{observation}\n\n{goal}" if goal else observation, self._info

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        require_running(self._running, self._state is not None)
        require_action(action)
        rules, state = self._world()
        before = self._info
        self._state, observation = rules.do(state, action)
        self._info = self._read_info(rules, self._state, goal=before.goal, moves=before.moves + 1)
        terminated = self._info.won
        truncated = not terminated and self._max_moves is not None and self._info.moves >= self._max_moves
        self._running = not (terminated or truncated)
        return observation, float(self._info.score - before.score), terminated, truncated, self._info

    def truth(self) -> Truth:
        rules, state = self._world()
        if self._walkthrough is None:
            self._walkthrough = shortest_win(rules.house)
        return Truth(rules.propositions(state), self._walkthrough, len(self._walkthrough) or None)

    def _world(self) -> tuple[_Rules, _State]:
        if self._rules is None or self._state is None:
            raise EpisodeOverError("there is no state yet: call reset() first")
        return self._rules, self._state

    def _read_info(self, rules: _Rules, state: _State, *, goal: str, moves: int) -> Info:
        return Info(
            score=rules.score(state),
            max_score=sum(rules.house.rewards.values()) or None,
            valid_actions=rules.valid_actions(state),
            inventory=rules.inventory(state),
            goal=goal,
            moves=moves,
            won=state.place(rules.house.prize) == CARRIED,
        )


def tiny_house(seed: int) -> ScriptedHouse:
    """Draw a house of four rooms: a key in a closed box, on a table or on the floor, and a gem in a locked chest."""
    rng = random.Random(seed)
    rooms = rng.sample(("Kitchen", "Library", "Bedroom", "Workshop", "Attic", "Parlour"), 4)
    plan = grow_house(len(rooms), loops=0, rng=rng)
    exits = {
        rooms[number]: {direction: rooms[there] for direction, there in ways.items()}
        for number, ways in enumerate(plan.exits)
    }
    metal = rng.choice(("brass", "iron", "silver"))
    wood = rng.choice(("oak", "cherry", "willow"))
    key, chest = f"{metal} key", f"{wood} chest"
    far, near = rng.sample(rooms[1:], 2)
    return ScriptedHouse(
        exits=exits,
        start=rooms[0],
        containers={chest: far, "tin box": near},
        supporters={"table": rng.choice(rooms)},
        things={
            key: rng.choice(("tin box", "table", near)),
            "gem": chest,
            "note": "table",
            "apple": rng.choice(rooms),
            "lantern": rng.choice(rooms),
        },
        locks={chest: "locked", "tin box": "closed"},
        keys={chest: key},
        texts={"note": f"The note says: The {key} opens the {chest}."},
        rewards={key: 1, "gem": 1},
        prize="gem",
        goal=f"Get the gem. It is locked in the {chest}; find the {key}.",
    )


def make_tiny(
    spec: GameSpec, *, seed: int, goal: str | None, max_moves: int | None, cache_dir: Path | None
) -> Environment:
    """Make ``tiny-v1``; ``cache_dir`` is ignored."""
    return ScriptedWorld(tiny_house, id=spec.id, seed=seed, goal=goal, max_moves=max_moves)


def _article(name: str) -> str:
    return f"{'an' if name[0].casefold() in 'aeiou' else 'a'} {name}"


def _list(names: list[str]) -> str:
    listed = [_article(name) for name in names]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
