"""Skills: actions that take several turns of the game, and stop when something happens.

A skill ends early when a hostile creature comes into view or next to the player, when the player is hurt, when the
player's hunger, burden, conditions or level change, and when the game asks a question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Final

from worldthread_lab.envs.nethack.engine import COLUMNS
from worldthread_lab.envs.nethack.game import Game, Monster, key_towards
from worldthread_lab.envs.nethack.items import fits
from worldthread_lab.envs.nethack.level import AROUND, distance
from worldthread_lab.envs.nethack.paths import ShortestPaths
from worldthread_lab.envs.nethack.terrain import GlyphKind, Ground
from worldthread_lab.envs.nethack.words import capital, with_article

_MOST_STEPS: Final = 200
_MOST_BLOWS: Final = 20
_MOST_WAITS: Final = 3
_REST_TURNS: Final = 50
_REST_CHUNK: Final = 5
_STUCK: Final = 8


class SkillMonitor:
    """Detects the events that end a skill.

    A creature that stays where it is ends a skill only twice: when the player first sees it there, and when the player
    first comes next to it.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._level = game.level
        self._hit_points = game.stats.hit_points
        self._state = self._condition()
        self._known = Counter(monster.name for monster in self._hostile())
        self._known_beside = Counter(monster.name for monster in self._beside())
        self._remember()

    def stops(self) -> bool:
        """Whether to stop; adds the reason to the messages, unless the game's own message gives it."""
        game = self._game
        if game.is_interrupted or game.level is not self._level:
            return True
        is_hurt = game.stats.hit_points < self._hit_points
        self._hit_points = game.stats.hit_points
        if is_hurt:
            game.say("You stop, for you are hurt.")
        elif not self.meets():
            name = _newcomer(self._beside(), self._known_beside, self._level.passed)
            if name is None:
                return self._condition() != self._state
            game.say(f"You stop, for {with_article(name)} is next to you.")
        self._remember()
        return True

    def meets(self) -> bool:
        """Whether another hostile creature came into view; adds a message if so."""
        name = _newcomer(self._hostile(), self._known, self._level.met)
        if name is not None:
            self._game.say(f"You stop, for {with_article(name)} comes into view.")
        return name is not None

    def _hostile(self) -> list[Monster]:
        return [monster for monster in self._game.monsters() if monster.is_hostile]

    def _beside(self) -> list[Monster]:
        return [monster for monster in self._hostile() if distance(self._game.here, monster.square) == 1]

    def _remember(self) -> None:
        self._level.met.update((monster.square, monster.name) for monster in self._hostile())
        self._level.passed.update((monster.square, monster.name) for monster in self._beside())

    def _condition(self) -> tuple[str, str, tuple[str, ...]]:
        stats = self._game.stats
        return stats.hunger, stats.burden, stats.conditions


def _newcomer(monsters: list[Monster], known: Counter[str], reported: set[tuple[int, str]]) -> str | None:
    """Return the name of a creature that was not there before and was not reported at the same square earlier."""
    more = Counter(monster.name for monster in monsters) - known
    unreported = Counter(monster.name for monster in monsters if (monster.square, monster.name) not in reported)
    return min(more & unreported, default=None)


def walk(game: Game, targets: Collection[int], monitor: SkillMonitor, *, push: bool = False) -> bool:
    """Walk to the nearest of some squares.

    When creatures block the only path, the player goes as far as possible and waits a few turns for them.

    Args:
        game: the game.
        targets: squares.
        monitor: ends the walk early.
        push: whether the player may push boulders.

    Returns:
        Whether the player reached one of the squares; if not, the messages say why.
    """
    stuck = waited = 0
    for _ in range(_MOST_STEPS):
        if game.here in targets:
            return True
        paths = ShortestPaths(game.level, game.here, occupied=game.obstacles(), push=push)
        if (target := paths.nearest(set(targets) - game.obstacles())) is None:
            paths = ShortestPaths(game.level, game.here, push=push)
            target = paths.nearest(targets)
        if target is None or stuck == _STUCK:
            game.say("You know of no way there." if target is None else "You cannot get there.")
            return False
        for wanted in paths.steps_to(target):
            in_way = next((monster.name for monster in game.monsters() if monster.square == wanted), None)
            if wanted not in game.obstacles():
                stuck = 0 if step(game, wanted) else stuck + 1
            elif waited < _MOST_WAITS:
                waited += 1
                game.press("s")
            else:
                game.say(f"{capital(with_article(in_way or 'something'))} is in your way.")
                return False
            if monitor.stops():
                return False
            if game.here != wanted:
                break
    return False


def step(game: Game, wanted: int) -> bool:
    """Step onto a neighbouring square; return whether the player moved. Records steps that prove impossible."""
    origin, level, turn = game.here, game.level, game.stats.turn
    game.step_to(wanted)
    if game.here != origin or game.level is not level:
        return True
    level.failed_steps[origin, wanted] += 1
    # a pet may have been in the way; and when time has passed, the player may have to climb out of a pit first
    is_refused = game.stats.turn == turn and level.shows(wanted) != GlyphKind.PET
    if is_refused or level.failed_steps[origin, wanted] == _STUCK:
        level.impossible_steps.add((origin, wanted))
    return False


def descend(game: Game, *, up: bool = False) -> None:
    """Walk to the nearest known stairs, ladder or hole down (or stairs or ladder up) and take it."""
    kinds = (Ground.UP,) if up else (Ground.DOWN, Ground.HOLE)
    word = "up" if up else "down"
    targets = game.level.ground_squares(*kinds)
    if not targets:
        game.say(f"You know of no way {word} on this level yet.")
    elif walk(game, targets, SkillMonitor(game)):
        game.press("<" if up else ">")


def fight(game: Game, name: str) -> None:
    """Go up to the nearest creature with this name and hit it until it is gone.

    Where no path is known, wait for it to come. The fight ends also when the player has a third of the hit points or
    less, or another creature comes into view.

    Args:
        game: the game.
        name: words of the creature's name.
    """
    monitor = SkillMonitor(game)
    third = game.stats.most_hit_points // 3
    target = _creature(game, name)
    if target is None:
        game.say(f"You see no {name} to fight.")
        return
    waited = 0
    for _ in range(_MOST_BLOWS):
        if distance(game.here, target.square) == 1:
            game.press("F" + key_towards(game.here, target.square))
        elif steps := ShortestPaths(game.level, game.here, occupied=game.obstacles()).steps_to(target.square):
            step(game, steps[0])
        elif waited < _MOST_WAITS:
            waited += 1
            game.press("s")
        else:
            game.say(f"You wait for the {target.name} in vain, and know of no way to it.")
            return
        if game.is_interrupted or game.stats.hit_points <= third or monitor.meets():
            return
        target = _creature(game, name)
        if target is None:
            return


def _creature(game: Game, name: str) -> Monster | None:
    """Return the nearest creature with this name; hostile ones first, tame ones only when the name says "tame"."""
    found = [monster for monster in game.monsters() if fits(name, monster.name)]
    found = [monster for monster in found if not monster.name.startswith("tame ") or "tame" in name]
    return min(found, key=lambda monster: not monster.is_hostile, default=None)


def rest(game: Game) -> None:
    """Wait until all hit points are back, something happens, or 50 turns have passed."""
    monitor = SkillMonitor(game)
    for _ in range(0, _REST_TURNS, _REST_CHUNK):
        said = game.press(f"{_REST_CHUNK}s")
        if monitor.stops() or "You stop searching" in said or game.stats.hit_points == game.stats.most_hit_points:
            return


def beside(squares: Collection[int], *, straight: bool = False) -> set[int]:
    """Return the squares next to any of these; with ``straight``, without diagonal neighbours."""
    return {
        neighbour
        for square in squares
        for neighbour in AROUND[square]
        if not straight or abs(neighbour - square) in (1, COLUMNS)
    }
