"""A game in progress: the screen, what was seen of every level, and the creatures and things in view."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from worldthread_lab.envs.nethack.console import Chooser, Console, Reply
from worldthread_lab.envs.nethack.engine import COLUMNS, NetHackEngine
from worldthread_lab.envs.nethack.items import InventoryItem
from worldthread_lab.envs.nethack.level import DIRECTIONS, NEIGHBOURS, Level, LevelRegion, distance
from worldthread_lab.envs.nethack.terrain import NOTABLE, GlyphKind, Ground

# numbers of NLE's blstats
_X, _Y, _SCORE, _HP, _MAX_HP, _DEPTH, _GOLD, _POWER, _MAX_POWER, _ARMOR = 0, 1, 9, 10, 11, 12, 13, 14, 15, 16
_EXPERIENCE, _TURN, _HUNGER, _BURDEN, _DUNGEON, _LEVEL, _CONDITION = 18, 20, 21, 22, 23, 24, 25

_BRANCHES: Final = ("", "Gehennom ", "Mines ", "Quest ", "Sokoban ", "Ludios ", "Tower ", "Planes ")
_HUNGERS: Final = ("satiated", "not hungry", "hungry", "weak from hunger", "fainting", "fainted", "starved")
_BURDENS: Final = ("unburdened", "burdened", "stressed", "strained", "overtaxed", "overloaded")
_CONDITIONS: Final = (
    "turning to stone", "turning into slime", "being strangled", "sick from food", "terminally ill", "blind", "deaf",
    "stunned", "confused", "hallucinating", "levitating", "flying", "riding",
)  # fmt: skip
BLIND: Final = "blind"

_GROUND_HERE: Final = (
    (r"(?:staircase|ladder) down$", Ground.DOWN), (r"(?:staircase|ladder) up$", Ground.UP),
    (r"^open door$", Ground.OPEN_DOOR), (r"^(?:doorway|broken door)$", Ground.DOORWAY),
    (r"\b(?:fountain|altar|throne|sink|grave)\b", Ground.FEATURE), (r"^(?:trap door|hole)$", Ground.HOLE),
)  # fmt: skip
_SEES: Final = re.compile(r"You (?:see|feel) here (?P<thing>.+?)\.(?:\s|$)")
_STANDS_ON: Final = re.compile(r"There is an? (?P<name>[^.]+) here\.")
_LEAVE_SHUT: Final = re.compile(r"Closed for inventory|stop damaging that door")
_LIST: Final = re.compile(r"Things that (?:are|you feel) here:?\s*\n(?P<list>(?:.|\n)*)")


@dataclass(frozen=True)
class Stats:
    """The numbers of the bottom lines, and NetHack's number for the branch of the dungeon."""

    hit_points: int
    most_hit_points: int
    power: int
    most_power: int
    armor_class: int
    experience: int
    gold: int
    score: int
    turn: int
    depth: int
    dungeon: int
    hunger: str
    burden: str
    conditions: tuple[str, ...]


@dataclass(frozen=True)
class Monster:
    """A creature that the map shows.

    Args:
        square: its square.
        name: its name by the command ``;``, such as ``"peaceful gnome"``.
        sort: :attr:`GlyphKind.PET`, :attr:`GlyphKind.UNSEEN` or :attr:`GlyphKind.MONSTER`.
    """

    square: int
    name: str
    sort: GlyphKind

    @property
    def is_hostile(self) -> bool:
        return self.sort == GlyphKind.MONSTER and not self.name.startswith(("peaceful ", "tame "))


@dataclass(frozen=True)
class VisibleFeature:
    """Something on the map that can be named and walked to: a thing, or notable ground (stairs, a fountain, a trap)."""

    square: int
    name: str
    ground: Ground | None = None


class Game:
    """One game, from its first turn to its last.

    Attributes:
        console: the keyboard and the messages.
        level: what is known of the player's level.
        here: the player's square.
        things_here: the things that lie on it.
        writing_here: the text that is engraved on it.
        path: the squares of this level on which the player was since the action began.
        swallowed: whether the player is inside a creature and sees nothing else.
    """

    def __init__(self, engine: NetHackEngine) -> None:
        self.engine = engine
        self.console = Console(engine)
        self._levels: dict[tuple[int, int], Level] = {}
        self._whereabouts: tuple[int, int] | None = None
        self.swallowed = False
        self._monsters: list[Monster] | None = None
        self.path: list[int] = []
        self.things_here: tuple[str, ...] = ()
        self.writing_here = ""
        self.refresh()
        self.look_down()

    # -- acting -----------------------------------------------------------------------------------------------------

    def press(self, keys: str | int, *, replies: Sequence[Reply] = (), choose: Chooser | None = None) -> str:
        """Press keys, read the messages, and update the map; return the messages."""
        said = self.console.press(keys, replies=replies, choose=choose)
        self.refresh()
        if _LEAVE_SHUT.search(said):
            self.level.leave_shut = True
        return said

    def say(self, text: str) -> None:
        """Add a sentence to the messages."""
        self.console.messages.append(text)

    def begin_action(self) -> None:
        """Begin a new action: restart :attr:`path` at the player's square."""
        self.path = [self.here]

    @property
    def is_over(self) -> bool:
        """Whether the game has ended and printed its last texts."""
        return self.engine.over or self.engine.ending

    @property
    def is_interrupted(self) -> bool:
        """Whether the game is over, asks a question, or the player is swallowed, so that no skill can go on."""
        return self.is_over or self.console.question is not None or self.swallowed

    def step_to(self, square: int) -> str:
        """Try to step onto a neighbouring square, without attacking peaceful creatures; return the messages."""
        return self.press(key_towards(self.here, square), replies=[("Really (?:attack|step)", "n")])

    def refresh(self) -> None:
        """Update everything from the screen."""
        if self.is_over:
            return
        self._monsters = None
        stats = self.engine.stats
        self.here = int(stats[_Y]) * COLUMNS + int(stats[_X])
        self.stats = self._read_stats()
        whereabouts = (int(stats[_DUNGEON]), int(stats[_LEVEL]))
        if whereabouts != self._whereabouts:
            self._whereabouts = whereabouts
            self.path.clear()
        if whereabouts not in self._levels:
            self._levels[whereabouts] = Level(f"{_BRANCHES[whereabouts[0]]}level {self.stats.depth}")
        self.level = self._levels[whereabouts]
        self.path.append(self.here)
        self.swallowed = not self.level.look(self.engine, self.here)

    def look_down(self) -> None:
        """Look at the things and the ground here with the command ``:``, which takes time only for a blind player."""
        self.things_here, self.writing_here = (), ""
        if self.is_over or self.console.question or self.swallowed or BLIND in self.stats.conditions:
            return
        before = len(self.console.messages)
        self.console.press(":")
        text = "\n".join(self.console.messages[before:])
        del self.console.messages[before:]
        if (match := _STANDS_ON.search(text)) is not None:
            for pattern, ground in _GROUND_HERE:
                if re.search(pattern, match["name"]):
                    self.level.learn(self.here, ground)
                    self.level.ground_names[self.here] = match["name"]
        if (match := _SEES.search(text)) is not None:
            self.things_here = (match["thing"],)
        elif (match := _LIST.search(text)) is not None:
            self.things_here = tuple(line.strip() for line in match["list"].splitlines() if line.strip())
        self.writing_here = " ".join(re.findall(r"(?:Something is|Some text has been|You read:)[^\n]*", text))

    # -- creatures and things ---------------------------------------------------------------------------------------

    def monsters(self) -> list[Monster]:
        """Return the creatures on the map, the nearest first, without the player."""
        if self._monsters is None:
            found = [
                Monster(square, self._describe(square) or "unseen creature", self.level.shows(square))
                for square in self.level.squares_of(GlyphKind.MONSTER, GlyphKind.PET, GlyphKind.UNSEEN)
                if square != self.here and not self.swallowed
            ]
            self._monsters = sorted(found, key=lambda monster: (distance(self.here, monster.square), monster.square))
        return self._monsters

    def features(self) -> list[VisibleFeature]:
        """Return things and notable ground, the nearest first, without those on the player's square."""
        level = self.level
        found = [
            VisibleFeature(square, self._describe(square))
            for square in level.squares_of(GlyphKind.THING, GlyphKind.BOULDER)
        ]
        for square in level.ground_squares(*NOTABLE):
            ground = Ground(level.ground[square])
            if level.shows(square) == GlyphKind.GROUND:
                level.ground_names[square] = self._describe(square)
            if square in level.ground_names:
                found.append(VisibleFeature(square, level.ground_names[square], ground))
        return sorted(
            (feature for feature in found if feature.square != self.here and feature.name),
            key=lambda feature: (distance(self.here, feature.square), feature.square),
        )

    def place(self) -> LevelRegion | None:
        """Return the room or corridor in which the player is."""
        return self.level.place_at(self.here)

    def items(self) -> list[InventoryItem]:
        """Return the things that the player carries."""
        return [InventoryItem(*entry) for entry in self.engine.inventory()]

    def obstacles(self) -> set[int]:
        """Return the squares of creatures that do not swap places with the player."""
        return {monster.square for monster in self.monsters() if monster.sort != GlyphKind.PET}

    def _describe(self, square: int) -> str:
        return self.engine.description(*divmod(square, COLUMNS))

    def _read_stats(self) -> Stats:
        stats = [int(number) for number in self.engine.stats]
        return Stats(
            hit_points=stats[_HP],
            most_hit_points=stats[_MAX_HP],
            power=stats[_POWER],
            most_power=stats[_MAX_POWER],
            armor_class=stats[_ARMOR],
            experience=stats[_EXPERIENCE],
            gold=stats[_GOLD],
            score=stats[_SCORE],
            turn=stats[_TURN],
            depth=stats[_DEPTH],
            dungeon=stats[_DUNGEON],
            hunger=_HUNGERS[stats[_HUNGER]],
            burden=_BURDENS[stats[_BURDEN]],
            conditions=tuple(name for bit, name in enumerate(_CONDITIONS) if stats[_CONDITION] >> bit & 1),
        )


def key_towards(origin: int, target: int) -> str:
    """Return NetHack's key for the step from a square to a neighbouring one."""
    name = next(name for name, square in NEIGHBOURS[origin].items() if square == target)
    return DIRECTIONS[name][2]
