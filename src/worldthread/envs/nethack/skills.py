"""Skills: actions that take several turns of the game, and stop when something happens.

A skill ends early when a hostile creature comes into view or next to the player, when the player is hurt or changes in
another way that matters (hunger, conditions, level), and when the game asks something.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Final

from worldthread.envs.nethack.engine import COLUMNS
from worldthread.envs.nethack.game import Game, Monster, key_towards
from worldthread.envs.nethack.items import fits
from worldthread.envs.nethack.level import AROUND, distance
from worldthread.envs.nethack.paths import ShortestPaths
from worldthread.envs.nethack.terrain import GlyphKind, Ground
from worldthread.envs.nethack.words import capital, with_article

_MOST_STEPS: Final = 200
_MOST_BLOWS: Final = 20
_MOST_WAITS: Final = 3
_REST_TURNS: Final = 50
_REST_CHUNK: Final = 5
_STUCK: Final = 8


class SkillMonitor:
    """Notices what should end a skill.

    A creature that stays where it is ends skills once: when it is first seen there, and when the player first comes
    next to it.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._level = game.level
        self._hit_points = game.stats.hit_points
        self._state = self._condition()
        self._known = Counter(one.name for one in self._hostile())
        self._known_beside = Counter(one.name for one in self._beside())
        self._remember()

    def stops(self) -> bool:
        """Whether to stop; says why, unless what the game said is reason enough."""
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
        """Whether another hostile creature came into view; says so."""
        name = _newcomer(self._hostile(), self._known, self._level.met)
        if name is not None:
            self._game.say(f"You stop, for {with_article(name)} comes into view.")
        return name is not None

    def _hostile(self) -> list[Monster]:
        return [one for one in self._game.monsters() if one.is_hostile]

    def _beside(self) -> list[Monster]:
        return [one for one in self._hostile() if distance(self._game.here, one.square) == 1]

    def _remember(self) -> None:
        self._level.met.update((one.square, one.name) for one in self._hostile())
        self._level.passed.update((one.square, one.name) for one in self._beside())

    def _condition(self) -> tuple[str, str, tuple[str, ...]]:
        stats = self._game.stats
        return stats.hunger, stats.burden, stats.conditions


def _newcomer(monsters: list[Monster], known: Counter[str], told: set[tuple[int, str]]) -> str | None:
    """One of these creatures that were not there before, and were not told of at the same place earlier."""
    more = Counter(one.name for one in monsters) - known
    untold = Counter(one.name for one in monsters if (one.square, one.name) not in told)
    return min(more & untold, default=None)


def walk(game: Game, targets: Collection[int], watch: SkillMonitor, *, push: bool = False) -> bool:
    """Walk to the nearest of some squares. Whether one was reached; if not, why is said.

    Where creatures that are not to be fought stand in the only way, go as far as possible and wait a while for them.
    """
    stuck = waited = 0
    for _ in range(_MOST_STEPS):
        if game.here in targets:
            return True
        ways = ShortestPaths(game.level, game.here, occupied=game.obstacles(), push=push)
        if (target := ways.nearest(set(targets) - game.obstacles())) is None:
            ways = ShortestPaths(game.level, game.here, push=push)
            target = ways.nearest(targets)
        if target is None or stuck == _STUCK:
            game.say("You know of no way there." if target is None else "You cannot get there.")
            return False
        for wanted in ways.steps_to(target):
            in_way = next((one.name for one in game.monsters() if one.square == wanted), None)
            if wanted not in game.obstacles():
                stuck = 0 if step(game, wanted) else stuck + 1
            elif waited < _MOST_WAITS:
                waited += 1
                game.press("s")
            else:
                game.say(f"{capital(with_article(in_way or 'something'))} is in your way.")
                return False
            if watch.stops():
                return False
            if game.here != wanted:
                break
    return False


def step(game: Game, wanted: int) -> bool:
    """Step onto a neighbouring square; whether the player moved at all. Remembers what turns out to be impossible."""
    origin, level, turn = game.here, game.level, game.stats.turn
    game.step_to(wanted)
    if game.here != origin or game.level is not level:
        return True
    level.balked[origin, wanted] += 1
    # a pet may have been in the way; and when time has passed, one may have to climb out of a pit first
    is_refused = game.stats.turn == turn and level.shows(wanted) != GlyphKind.PET
    if is_refused or level.balked[origin, wanted] == _STUCK:
        level.shut.add((origin, wanted))
    return False


def descend(game: Game, *, up: bool = False) -> None:
    """Walk to the nearest known way down (or up) and take it."""
    kinds = (Ground.UP,) if up else (Ground.DOWN, Ground.HOLE)
    word = "up" if up else "down"
    targets = game.level.ground_squares(*kinds)
    if not targets:
        game.say(f"You know of no way {word} on this level yet.")
    elif walk(game, targets, SkillMonitor(game)):
        game.press("<" if up else ">")


def fight(game: Game, name: str) -> None:
    """Go up to the nearest creature that fits the name and hit it until it is gone.

    Where no way is known, wait for it to come. Ends also when the player has less than a third of the hit points left,
    or another creature comes into view.
    """
    watch = SkillMonitor(game)
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
        if game.is_interrupted or game.stats.hit_points <= third or watch.meets():
            return
        target = _creature(game, name)
        if target is None:
            return


def _creature(game: Game, name: str) -> Monster | None:
    """The nearest creature that fits; hostile ones first, tame ones only when called so."""
    found = [one for one in game.monsters() if fits(name, one.name)]
    found = [one for one in found if not one.name.startswith("tame ") or "tame" in name]
    return min(found, key=lambda one: not one.is_hostile, default=None)


def rest(game: Game) -> None:
    """Wait until all hit points are back, something happens, or 50 turns have passed."""
    watch = SkillMonitor(game)
    for _ in range(0, _REST_TURNS, _REST_CHUNK):
        said = game.press(f"{_REST_CHUNK}s")
        if watch.stops() or "You stop searching" in said or game.stats.hit_points == game.stats.most_hit_points:
            return


def beside(squares: Collection[int], *, straight: bool = False) -> set[int]:
    """Squares next to some; ``straight``: not diagonally."""
    return {one for square in squares for one in AROUND[square] if not straight or abs(one - square) in (1, COLUMNS)}
