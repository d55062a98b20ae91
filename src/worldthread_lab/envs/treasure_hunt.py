"""Treasure Hunt, a task of the AriGraph paper (appendix E): a chain of keys, lockers and notes.

The first key lies in the first room. Every locker of the chain holds the next key and a note that says which locker
that key opens; the last key is golden, and the golden locker holds the treasure. All other lockers stay locked: they
have no keys. In the hard games the first key's locker is in the room farthest from the first, so that the player finds
the second key late. The hardest game also has things, furniture and open boxes that have nothing to do with the task.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from worldthread_lab.envs.base import Environment
from worldthread_lab.envs.houses import HouseMap, grow_house, opposite
from worldthread_lab.envs.spec import GameSpec
from worldthread_lab.envs.textworld import compile_game, generated_textworld

GENERATOR_VERSION = "2"

GOLDEN_LOCKER = "Golden locker"
GOLDEN_KEY = "Golden key"
TREASURE = "treasure"


@dataclass(frozen=True)
class HuntSize:
    """The parameters of a variant.

    Args:
        rooms: number of rooms, each with one locker.
        keys: length of the chain, including the golden key.
        loops: number of openings beyond those that connect the house.
        first_locker_distance: the first key's locker is in a farthest room, at least this many moves from the first
            room; 0: in any room but the first.
        furnished: each room has distracting things, and the rooms are named like the rooms of a house.
    """

    rooms: int
    keys: int
    loops: int
    first_locker_distance: int = 0
    furnished: bool = False


SIZES = {
    "treasure-hunt": HuntSize(rooms=12, keys=4, loops=1),
    "treasure-hunt-hard": HuntSize(rooms=16, keys=5, loops=1, first_locker_distance=7),
    "treasure-hunt-hardest": HuntSize(rooms=36, keys=7, loops=4, first_locker_distance=9, furnished=True),
}

# The game's parser compares only the first nine letters of a word. TextWorld replaces names that begin with a capital
# P or I, which it takes for variables of its own.
_COLOURS = (
    "Amber", "Azure", "Beige", "Black", "Blue", "Bronze", "Brown", "Charcoal", "Cobalt", "Copper", "Coral", "Cream",
    "Crimson", "Cyan", "Emerald", "Green", "Grey", "Jade", "Khaki", "Lavender", "Lemon", "Lilac", "Magenta", "Maroon",
    "Mauve", "Mint", "Mustard", "Navy", "Olive", "Orange", "Red", "Ruby", "Saffron", "Sapphire", "Scarlet", "Silver",
    "Tan", "Teal", "Topaz", "Turquoise", "Umber", "Vanilla", "Violet", "White", "Yellow",
)  # fmt: skip
_ROOMS = (
    "Archive", "Armoury", "Attic", "Balcony", "Ballroom", "Bathroom", "Bedroom", "Billiard Room", "Boiler Room",
    "Breakfast Room", "Cellar", "Chapel", "Conservatory", "Corridor", "Courtyard", "Dining Room", "Drawing Room",
    "Dressing Room", "Foyer", "Gallery", "Games Room", "Garage", "Greenhouse", "Guest Chamber", "Gymnasium", "Kitchen",
    "Larder", "Laundry", "Library", "Living Room", "Loft", "Music Room", "Nursery", "Observatory", "Office", "Sauna",
    "Scullery", "Sitting Room", "Storeroom", "Studio", "Study", "Veranda", "Vestibule", "Wine Vault", "Workshop",
)  # fmt: skip
_FURNITURE = (
    "oak table", "pine bench", "marble shelf", "steel rack", "wicker chair", "velvet sofa", "birch desk", "iron bed",
    "glass counter", "walnut sideboard", "bamboo stool", "leather armchair", "maple workbench", "brass stand",
    "stone pedestal", "cedar bookcase", "folding table", "rocking chair", "mahogany dresser", "corner shelf",
    "padded footstool", "tiled windowsill", "plywood trestle", "ebony nightstand",
)  # fmt: skip
_BOXES = (
    "wicker basket", "cardboard carton", "tin bucket", "canvas hamper", "wooden crate", "enamel basin", "clay bowl",
    "straw tray", "zinc tub", "plastic bin", "pewter cauldron", "felt pouch",
)  # fmt: skip
_THINGS = (
    "apple", "banjo", "beaker", "blanket", "bonnet", "bottle", "brush", "button", "camera", "candle", "cap", "carpet",
    "cassette", "clarinet", "clock", "coaster", "coin", "comb", "compass", "cork", "cup", "cushion", "dice", "doll",
    "drum", "duster", "eraser", "fan", "feather", "flute", "fork", "funnel", "globe", "glove", "goblet", "hammer",
    "handkerchief", "harmonica", "hat", "helmet", "hourglass", "jug", "kettle", "kite", "ladle", "lantern", "magnet",
    "mallet", "mask", "mitten", "mug", "napkin", "necklace", "needle", "otter figurine", "paperclip", "pear", "pebble",
    "pencil", "pillow", "pincushion", "pipe", "plate", "postcard", "puppet", "puzzle", "quill", "racket", "ribbon",
    "ruler", "sandal", "saucer", "scarf", "seashell", "shawl", "sieve", "slipper", "soap", "sock", "sponge", "spoon",
    "stamp", "stapler", "teapot", "thermos", "thimble", "torch", "towel", "trumpet", "umbrella", "vase", "violin",
    "wallet", "whistle", "wig", "yoyo",
)  # fmt: skip


_Holders: TypeAlias = dict[int, tuple[str, tuple[str, ...]]]


@dataclass(frozen=True)
class HuntPlan:
    """A treasure hunt before it becomes a game. A room and its locker have the same number.

    Args:
        house: the map; the player starts in room 0.
        rooms: names of the rooms, by number.
        lockers: names of the lockers, by number.
        keys: names of the keys, in the order of the chain.
        chain: for each key in turn, the room of the locker that it opens; the last is the golden locker's.
        things: names of portable distracting things on the floor, by room.
        supporters: distracting furniture by room: its name, and the names of the things on it.
        boxes: open containers by room: the name, and the names of the things in it.
    """

    house: HouseMap
    rooms: tuple[str, ...]
    lockers: tuple[str, ...]
    keys: tuple[str, ...]
    chain: tuple[int, ...]
    things: dict[int, tuple[str, ...]]
    supporters: _Holders
    boxes: _Holders

    @property
    def goal(self) -> str:
        """The task in words."""
        return (
            f"Somewhere in this house a {TREASURE} is hidden: get it. It is locked in the {GOLDEN_LOCKER}, and only "
            f"the {GOLDEN_KEY} opens that one. Begin with {self.keys[0]}, which lies where you start: it opens the "
            f"{self.lockers[self.chain[0]]}. In each locker that you open there is another key, with a note that says "
            "which locker that key opens; read the notes."
        )

    @property
    def walkthrough(self) -> tuple[str, ...]:
        """A shortest list of commands that wins.

        The chain fixes the order of the places, and no action at any of them can be left out, so that the shortest
        paths between them make the shortest walkthrough.
        """
        commands = [f"take {self.keys[0]}"]
        room = 0
        finds = (*self.keys[1:], TREASURE)
        for key, target, find in zip(self.keys, self.chain, finds, strict=True):
            locker = self.lockers[target]
            commands += [f"go {direction}" for direction in self.house.path(room, target)]
            commands += [f"unlock {locker} with {key}", f"open {locker}", f"take {find} from {locker}"]
            room = target
        return tuple(commands)


def plan_hunt(size: HuntSize, seed: int) -> HuntPlan:
    """Draw the treasure hunt of a size and a seed, the same in every process."""
    rng = random.Random(seed)
    house = grow_house(size.rooms, loops=size.loops, rng=rng)
    while max(house.distances(0)) < size.first_locker_distance:
        house = grow_house(size.rooms, loops=size.loops, rng=rng)
    others = list(range(1, size.rooms))
    if size.first_locker_distance:
        distances = house.distances(0)
        first = rng.choice([room for room in others if distances[room] == max(distances)])
    else:
        first = rng.choice(others)
    rest = rng.sample([room for room in range(size.rooms) if room != first], size.keys - 1)
    chain = (first, *rest)
    colours = rng.sample(_COLOURS, size.rooms)
    lockers = [f"{colour} locker" for colour in colours]
    lockers[chain[-1]] = GOLDEN_LOCKER
    keys = (*(f"Key {number}" for number in range(1, size.keys)), GOLDEN_KEY)
    if not size.furnished:
        rooms = tuple(f"Room {chr(ord('A') + number)}" for number in range(size.rooms))
        return HuntPlan(house, rooms, tuple(lockers), keys, chain, {}, {}, {})
    rooms = tuple(rng.sample(_ROOMS, size.rooms))
    things, supporters, boxes = _furnish(size.rooms, rng)
    return HuntPlan(house, rooms, tuple(lockers), keys, chain, things, supporters, boxes)


def _furnish(rooms: int, rng: random.Random) -> tuple[dict[int, tuple[str, ...]], _Holders, _Holders]:
    """Draw two distracting things for each room.

    Both lie on the floor, or one of them is a piece of furniture or an open box that holds the other. With 36 rooms and
    lockers, the 72 things nearly fill the memory of the game's virtual machine.

    Args:
        rooms: number of rooms.
        rng: source of randomness.

    Returns:
        The ``things``, ``supporters`` and ``boxes`` of a :class:`HuntPlan`.
    """
    names = rng.sample(_THINGS, len(_THINGS))
    furniture = rng.sample(_FURNITURE, rooms * 10 // 36)
    containers = rng.sample(_BOXES, rooms * 6 // 36)
    holding = rng.sample(range(rooms), len(furniture) + len(containers))
    supporters: _Holders = {room: (name, (names.pop(),)) for room, name in zip(holding, furniture, strict=False)}
    boxes: _Holders = {
        room: (name, (names.pop(),)) for room, name in zip(holding[len(furniture) :], containers, strict=True)
    }
    things: dict[int, tuple[str, ...]] = {
        room: (names.pop(), names.pop()) for room in range(rooms) if room not in holding
    }
    return things, supporters, boxes


def build_hunt(plan: HuntPlan, seed: int, path: Path) -> None:
    """Compile the plan with TextWorld to ``path`` (``.z8``); ``seed`` decides the wording of the descriptions."""
    import textworld
    from textworld import GameMaker
    from textworld.generator.game import Event, Quest

    options = textworld.GameOptions()
    # TextWorld draws four seeds from this one; only that of the grammar is used here
    options.seeds = seed % 2**32
    maker = GameMaker(options)
    rooms = [maker.new_room(name) for name in plan.rooms]
    for here, exits in enumerate(plan.house.exits):
        for direction, there in exits.items():
            if here < there:
                maker.connect(rooms[here].exits[direction], rooms[there].exits[opposite(direction)])
    maker.set_player(rooms[0])

    lockers = []
    for room, name in zip(rooms, plan.lockers, strict=True):
        locker = maker.new("c", name)
        locker.add_property("locked")
        room.add(locker)
        lockers.append(locker)
    keys = [maker.new("k", name) for name in plan.keys]
    rooms[0].add(keys[0])
    for key, target in zip(keys, plan.chain, strict=True):
        maker.add_fact("match", key, lockers[target])
    for number, (key, target, holder) in enumerate(
        zip(keys[1:], plan.chain[1:], plan.chain[:-1], strict=True), start=2
    ):
        text = f"{key.name} opens the {plan.lockers[target]}."
        lockers[holder].add(key, maker.new("o", f"Note {number}", desc=f"The note says: {text}"))
    treasure = maker.new("o", TREASURE)
    lockers[plan.chain[-1]].add(treasure)

    for number, things in plan.things.items():
        rooms[number].add(*(maker.new("o", name) for name in things))
    for kind, holders in (("s", plan.supporters), ("c", plan.boxes)):
        for number, (name, held) in holders.items():
            holder = maker.new(kind, name)
            if kind == "c":
                holder.add_property("open")
            rooms[number].add(holder)
            holder.add(*(maker.new("o", thing) for thing in held))

    def carried(thing: Any, reward: int) -> Quest:
        event = Event(conditions={maker.new_fact("in", thing, maker.inventory)})
        return Quest(win_events=[event], reward=reward)

    maker.quests = [*(carried(key, 1) for key in keys), carried(treasure, 3)]
    game = maker.build()
    game.objective = plan.goal
    game.metadata["walkthrough"] = list(plan.walkthrough)
    game.metadata["optimal_moves"] = len(plan.walkthrough)
    compile_game(game, path)


def make_treasure_hunt(
    spec: GameSpec, *, seed: int, goal: str | None, max_moves: int | None, cache_dir: Path | None
) -> Environment:
    """Make one of the registered treasure hunts."""
    size = SIZES[spec.name]
    return generated_textworld(
        spec,
        lambda chosen, path: build_hunt(plan_hunt(size, chosen), chosen, path),
        version=GENERATOR_VERSION,
        seed=seed,
        goal=goal,
        max_moves=max_moves,
        cache_dir=cache_dir,
    )
