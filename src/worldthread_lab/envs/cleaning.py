"""The cleaning task: find the things that lie in the wrong room and put them where they belong.

It follows the AriGraph paper (appendix E): nine rooms, eleven misplaced things among many others. The rooms, the
furniture and the things are drawn from :mod:`worldthread_lab.envs.household`. The engine keeps no score for this task;
:class:`TidyingScore` computes it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from worldthread.errors import GameFileError
from worldthread_lab.envs.base import Info, Proposition, Truth
from worldthread_lab.envs.household import ALWAYS, HOUSEHOLD
from worldthread_lab.envs.houses import HouseMap, grow_house, opposite
from worldthread_lab.envs.spec import GameSpec
from worldthread_lab.envs.textworld import TextWorldEnvironment, check_game_file, compile_game, generated_textworld

GENERATOR_VERSION: Final = "1"
"""Version of everything that decides a game besides its seed and the version of textworld: this module, the table of
:mod:`worldthread_lab.envs.household` and the maps of :mod:`worldthread_lab.envs.houses`."""

ROOMS: Final = 9
MISPLACED: Final = 11

GOAL: Final = (
    "Tidy up this house. Some things lie where they do not belong, in the wrong room. Find them, and put each on or in "
    "the piece of furniture where such a thing is kept. You get a point for picking up a misplaced thing and a point "
    "for putting it in its right place; moving a thing that is in its right place costs a point."
)
"""The task in words."""

Place: TypeAlias = tuple[str, str]
"""``("on", supporter)``, ``("in", container)``, ``("in", "I")`` when carried, or ``("at", room)`` on the floor."""


class TidyingScore:
    """The score of a house that is being tidied, computed from the places of things alone.

    - +1 when a misplaced thing leaves the place where it lay at the start, once for each thing.
    - +1 when a misplaced thing comes to where it belongs, once for each thing.
    - -1 each time a thing leaves the place where it belongs: for a misplaced thing the place in ``belongs``, for any
      other thing the place where it was at the start. Putting the thing back earns no second point, so moving it back
      and forth gains nothing, and the score can become negative.

    Walking, looking, opening, and moving a thing from one wrong place to another do not change the score.

    Args:
        belongs: right place of every misplaced thing.
        start: place of every thing at the start.
    """

    def __init__(self, belongs: Mapping[str, Place], start: Mapping[str, Place]) -> None:
        self.score = 0
        self.max_score = 2 * len(belongs)
        self._belongs = belongs
        self._start = dict(start)
        self._places = self._start
        self._picked_up: set[str] = set()
        self._put_right: set[str] = set()

    @property
    def tidy(self) -> bool:
        """Whether every misplaced thing is where it belongs now."""
        return all(self._places.get(thing) == place for thing, place in self._belongs.items())

    def update(self, places: Mapping[str, Place]) -> None:
        """Update the score with the places of things after an action."""
        for thing, first in self._start.items():
            before, now = self._places.get(thing), places.get(thing)
            if now == before:
                continue
            if before == self._belongs.get(thing, first):
                self.score -= 1
            if thing in self._belongs:
                if thing not in self._picked_up:
                    self._picked_up.add(thing)
                    self.score += 1
                if now == self._belongs[thing] and thing not in self._put_right:
                    self._put_right.add(thing)
                    self.score += 1
        self._places = dict(places)


class CleaningEnvironment(TextWorldEnvironment):
    """A TextWorld game scored by :class:`TidyingScore`; won when every misplaced thing is where it belongs.

    :meth:`truth` contains a proposition ``("belongs", thing, relation, place)`` for every misplaced thing; the agent
    never sees the right places.

    Args:
        belongs: right place of every misplaced thing; ``None``: the metadata of the game contains them.
        locate, id, seed, goal, max_moves: see :class:`worldthread_lab.envs.textworld.TextWorldEnvironment`.
    """

    def __init__(
        self,
        locate: Callable[[int], Path],
        *,
        id: str,
        seed: int = 0,
        goal: str | None = None,
        max_moves: int | None = None,
        belongs: Mapping[str, Place] | None = None,
    ) -> None:
        super().__init__(locate, id=id, seed=seed, goal=goal, max_moves=max_moves)
        self._given = belongs
        self._belongs: Mapping[str, Place] = {}
        self._tidying: TidyingScore | None = None

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        self._tidying = None
        return super().reset(seed)

    def truth(self) -> Truth:
        truth = super().truth()
        right = {("belongs", thing, *place) for thing, place in self._belongs.items()}
        return replace(truth, propositions=truth.propositions | right)

    def _read_info(self, *, goal: str, moves: int, score: int) -> Info:
        info = super()._read_info(goal=goal, moves=moves, score=score)
        places = _places(super().truth().propositions)
        if self._tidying is None:
            self._belongs = self._right_places(places)
            self._tidying = TidyingScore(self._belongs, places)
        else:
            self._tidying.update(places)
        return replace(info, score=self._tidying.score, max_score=self._tidying.max_score, won=self._tidying.tidy)

    def _right_places(self, places: Mapping[str, Place]) -> Mapping[str, Place]:
        if self._given is None:
            table = self._state.game.metadata["belongs"].items()
            return {thing: (relation, where) for thing, (relation, where) in table}
        holders = places.keys() | {where for _, where in places.values()}
        absent = sorted((self._given.keys() - places.keys()) | ({where for _, where in self._given.values()} - holders))
        if absent:
            raise GameFileError(f"{self._path}: the table of right places names what is not in the game: {absent}")
        in_place = sorted(thing for thing, place in self._given.items() if places[thing] == place)
        if in_place:
            raise GameFileError(f"{self._path}: the table of right places names what is not misplaced: {in_place}")
        return self._given


def make_cleaning(
    spec: GameSpec, *, seed: int, goal: str | None, max_moves: int | None, cache_dir: Path | None
) -> TextWorldEnvironment:
    """Make a house to clean, generated from ``seed``: :data:`ROOMS` rooms, :data:`MISPLACED` misplaced things."""
    return generated_textworld(
        spec,
        lambda chosen, path: build_house(draw_house(chosen), chosen, path),
        version=GENERATOR_VERSION,
        seed=seed,
        goal=goal,
        max_moves=max_moves,
        cache_dir=cache_dir,
        environment=CleaningEnvironment,
    )


def places_file(path: Path) -> Path:
    """Return the path of the table of right places of a game: ``house_places.json`` beside ``house.z8``."""
    return path.with_name(f"{path.stem}_places.json")


def open_cleaning(
    path: Path, *, id: str, seed: int = 0, goal: str | None = None, max_moves: int | None = None
) -> CleaningEnvironment:
    """Open a TextWorld game to clean: a ``.z8`` file with its ``.json`` and its :func:`places_file` beside it.

    The table of right places is a JSON object whose ``belongs`` is ``{thing: [relation, place]}``, with the relation
    ``"on"``, ``"in"`` or ``"at"`` (the floor of a room) and names as the game prints them.

    Args:
        path: the ``.z8`` file.
        id: the id of the environment.
        seed: seed of :meth:`~worldthread_lab.envs.base.Environment.reset` when it gets none.
        goal: the task in words; ``None``: :data:`GOAL`.
        max_moves: the episode is truncated after this many moves; ``None``: no limit.

    Returns:
        The world. Its first reset raises :class:`~worldthread.errors.GameFileError` when the table does not fit the
        game.

    Raises:
        GameFileError: a file is absent or cannot be used.
        MissingExtraError: textworld is not installed.
    """
    check_game_file(path)
    belongs = _read_places(places_file(path))
    task = GOAL if goal is None else goal
    return CleaningEnvironment(lambda _: path, id=id, seed=seed, goal=task, max_moves=max_moves, belongs=belongs)


def _read_places(path: Path) -> dict[str, Place]:
    try:
        table = json.loads(path.read_text("utf-8"))["belongs"].items()
        belongs = {thing: (relation, where) for thing, (relation, where) in table}
    except OSError as error:
        raise GameFileError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise GameFileError(f"{path}: not a table of right places ({error!r})") from error
    if not belongs:
        raise GameFileError(f"{path}: the table of right places is empty")
    for thing, (relation, where) in belongs.items():
        if relation not in ("on", "in", "at") or not isinstance(where, str):
            raise GameFileError(f"{path}: {thing!r} belongs 'on', 'in' or 'at' a named place, not {[relation, where]}")
    return belongs


def _places(propositions: Iterable[Proposition]) -> dict[str, Place]:
    """Return the place of everything that has one, without the player."""
    found = (proposition for proposition in propositions if proposition[0] in ("at", "on", "in"))
    return {thing: (relation, where) for relation, thing, where in found if thing != "P"}


@dataclass(frozen=True)
class CleaningHouse:
    """A house to clean.

    Args:
        plan: the map; the player starts in room 0.
        rooms: names of the rooms, by number.
        start: place of every thing at the start.
        belongs: right place of every misplaced thing.
    """

    plan: HouseMap
    rooms: tuple[str, ...]
    start: Mapping[str, Place]
    belongs: Mapping[str, Place]

    @property
    def walkthrough(self) -> tuple[str, ...]:
        """Commands that win with full score, always going on to the nearest room with something to take or to put."""
        room_of = {piece.name: number for number, room in enumerate(self.rooms) for piece in HOUSEHOLD[room]}
        room_of.update({room: number for number, room in enumerate(self.rooms)})
        shut = {piece.name for room in self.rooms for piece in HOUSEHOLD[room] if piece.kind == "closed"}
        lying = {thing: self.start[thing] for thing in self.belongs}
        carried: dict[str, Place] = {}
        commands: list[str] = []
        here = 0
        while lying or carried:
            wanted = {room_of[where] for _, where in (*lying.values(), *carried.values())}
            path = min((self.plan.path(here, room) for room in sorted(wanted)), key=len)
            commands.extend(f"go {direction}" for direction in path)
            for direction in path:
                here = self.plan.exits[here][direction]
            for thing, (relation, where) in list(carried.items()):
                if room_of[where] == here:
                    if where in shut:
                        commands.append(f"open {where}")
                        shut.remove(where)
                    commands.append(f"put {thing} on {where}" if relation == "on" else f"insert {thing} into {where}")
                    del carried[thing]
            for thing, (relation, where) in list(lying.items()):
                if room_of[where] == here:
                    commands.append(f"take {thing}" if relation == "at" else f"take {thing} from {where}")
                    carried[thing] = self.belongs[thing]
                    del lying[thing]
        return tuple(commands)


def draw_house(seed: int) -> CleaningHouse:
    """Draw the house of a seed, the same in every process.

    Every piece of furniture holds one or two things of its own. The misplaced things belong to different pieces of
    furniture; each lies on the floor or on a supporter of a room other than its own.

    Args:
        seed: decides the house.

    Returns:
        The house.
    """
    rng = random.Random(seed)
    plan = grow_house(ROOMS, loops=2, rng=rng)
    others = [room for room in HOUSEHOLD if room not in ALWAYS]
    rooms = [*ALWAYS, *rng.sample(others, ROOMS - len(ALWAYS))]
    rng.shuffle(rooms)
    pieces = [(room, piece) for room in rooms for piece in HOUSEHOLD[room]]
    start: dict[str, Place] = {}
    belongs: dict[str, Place] = {}
    for room, piece in rng.sample(pieces, MISPLACED):
        thing = rng.choice(piece.things)
        belongs[thing] = (piece.relation, piece.name)
        wrong = rng.choice([other for other in rooms if other != room])
        supporters: list[Place] = [("on", other.name) for other in HOUSEHOLD[wrong] if other.kind == "supporter"]
        start[thing] = rng.choice([("at", wrong), *supporters])
    for _, piece in pieces:
        own = [thing for thing in piece.things if thing not in belongs]
        for thing in rng.sample(own, min(len(own), rng.randint(1, 2))):
            start[thing] = (piece.relation, piece.name)
    return CleaningHouse(plan, tuple(rooms), start, belongs)


def build_house(house: CleaningHouse, seed: int, path: Path) -> None:
    """Compile the house with TextWorld to ``path`` (``.z8``); ``seed`` decides the wording of the descriptions."""
    import textworld

    options = textworld.GameOptions()
    # TextWorld draws four seeds from this one; only that of the grammar is used here
    options.seeds = seed % 2**32
    maker = textworld.GameMaker(options)
    rooms = [maker.new_room(name) for name in house.rooms]
    for here, exits in enumerate(house.plan.exits):
        for direction, there in exits.items():
            if here < there:
                maker.connect(rooms[here].exits[direction], rooms[there].exits[opposite(direction)])
    maker.set_player(rooms[0])

    holders = dict(zip(house.rooms, rooms, strict=True))
    for room in house.rooms:
        for piece in HOUSEHOLD[room]:
            holder = maker.new("s" if piece.kind == "supporter" else "c", piece.name)
            if piece.kind != "supporter":
                holder.add_property(piece.kind)
            holders[room].add(holder)
            holders[piece.name] = holder
    for thing, (_, where) in house.start.items():
        holders[where].add(maker.new("o", thing))

    game = maker.build()
    game.objective = GOAL
    game.metadata["walkthrough"] = list(house.walkthrough)
    game.metadata["belongs"] = {thing: list(place) for thing, place in house.belongs.items()}
    compile_game(game, path)
