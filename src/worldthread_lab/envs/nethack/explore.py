"""The skill of exploring a level: chooses what to look at next in order to see all of it.

The targets are, the nearest first, and each kind only when none of the previous kind is left: squares that show
something new; closed doors that were not tried; and then the cheapest of forcing doors, pushing boulders, and searching
for hidden doors and passages.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Final, TypeAlias

from worldthread_lab.envs.nethack.game import Game, key_towards
from worldthread_lab.envs.nethack.level import AROUND, NEIGHBOURS, Level, direction_of, distance
from worldthread_lab.envs.nethack.paths import ShortestPaths
from worldthread_lab.envs.nethack.skills import SkillMonitor, beside, step, walk
from worldthread_lab.envs.nethack.terrain import DOORS, Ground
from worldthread_lab.envs.nethack.words import enumerate_words, with_article

KICK: Final = "\x04"
_MOST_LEGS: Final = 100
_KICKS: Final = 6
_SEARCH: Final = "10s"

# cost of each last resort beside the walk, in steps; searching costs about one step for each turn
_UNTRIED: Final = -1000
_KICK_AGAIN: Final = 8
_PUSH_AGAIN: Final = 30
_SEARCH_FIRST: Final = 22
_SEARCH_AGAIN: Final = 14
# value of a promising place to search
_DEAD_END: Final = 60
_DEPTH_BEHIND_WALL: Final = 30


def explore(game: Game, direction: str | None = None) -> None:
    """Walk to unexplored parts of the level until the player sees a new room or thing, or nothing open is left.

    If nothing open is left at the start, the player forces a door, pushes a boulder, or searches.

    Args:
        game: the game.
        direction: begin with what lies in this direction.
    """
    monitor = SkillMonitor(game)
    known = {(feature.square, feature.name) for feature in game.features()}
    level = game.level
    for leg in range(_MOST_LEGS):
        paths = ShortestPaths(level, game.here, occupied=game.obstacles())
        target = paths.nearest(_frontier(game, paths, direction if leg == 0 else None))
        if target is None:
            if leg == 0 and direction is not None:
                game.say(f"You know of nothing unexplored to the {direction}.")
            elif leg == 0:
                _try_harder(game, monitor, paths)
            return
        before = game.here, game.stats.turn
        if not _go_and_look(game, paths.steps_to(target), monitor):
            return
        if before == (game.here, game.stats.turn):
            game.say("Something is in your way.")
            return
        if level.ground[game.here] != Ground.CORRIDOR and _is_new_room(game):
            return
        if any((feature.square, feature.name) not in known for feature in game.features()):
            return


def _is_new_room(game: Game) -> bool:
    place = game.place()
    return place is not None and place.kind == "room" and not place.entered


def _frontier(game: Game, paths: ShortestPaths, direction: str | None) -> list[int]:
    level, occupied = game.level, game.obstacles()
    return [
        square
        for square in paths.cost
        if level.is_walkable(square)
        and square not in occupied
        and level.is_frontier(square)
        and (direction is None or direction_of(game.here, square) == direction)
    ]


def _go_and_look(game: Game, route: list[int], monitor: SkillMonitor) -> bool:
    """Walk while the end of the route promises something new; return ``False`` when exploring must stop."""
    level = game.level
    for square in route:
        if square in game.obstacles():
            return True
        step(game, square)
        if monitor.stops():
            return False
        if game.here != square or not level.is_frontier(route[-1]):
            return True
    return True


def _try_harder(game: Game, monitor: SkillMonitor, paths: ShortestPaths) -> None:
    """Force a door, wait for creatures in the way, push a boulder, or search, when nothing else is left."""
    level = game.level
    free = paths.cost.keys() - game.obstacles()
    plans = [*_door_plans(level, paths, free), *_hindered_plans(game, paths), *_search_plans(level, paths, free)]
    _, what, square = min(plans, default=(0, "", game.here))
    if what == "door":
        if walk(game, beside([square], straight=True), monitor):
            force(game, square, monitor)
    elif what == "search":
        if walk(game, [square], monitor):
            game.say("Nothing unexplored is left within reach, so you search for hidden doors and passages.")
            game.press(_SEARCH)
            level.searched.update((square, *AROUND[square]))
    elif what:
        level.pushed[square] += 1
        walk(game, [square], monitor, push=what == "boulder")
    else:
        near = {monster.name for monster in game.monsters() if monster.square in beside(paths.cost.keys())}
        hindrance = (
            f" In the way may be {enumerate_words([with_article(name) for name in sorted(near)])}." if near else ""
        )
        game.say(f"There is nothing left to explore within reach.{hindrance}")


def force(game: Game, door: int, monitor: SkillMonitor) -> None:
    """Open a closed door next to the player; kick it if it is locked, until it opens or something happens."""
    level = game.level
    key = key_towards(game.here, door)
    level.forced[door] += 1
    said = game.press("o", replies=[("In what direction", key)])
    if "locked" not in said or level.leave_shut:
        return
    for _ in range(_KICKS):
        if monitor.stops() or level.ground[door] != Ground.CLOSED_DOOR:
            return
        game.press(KICK, replies=[("In what direction", key)])


_Plan: TypeAlias = tuple[int, str, int]
"""Cost, what to do, and the square where to do it."""


def _door_plans(level: Level, paths: ShortestPaths, free: Set[int]) -> Iterator[_Plan]:
    for door in level.ground_squares(Ground.CLOSED_DOOR):
        tries = level.forced[door]
        reach = min((paths.cost[neighbour] for neighbour in beside([door], straight=True) & free), default=None)
        if reach is not None and not (level.leave_shut and tries):
            yield (reach + (_KICK_AGAIN * tries or _UNTRIED), "door", door)


def _hindered_plans(game: Game, paths: ShortestPaths) -> Iterator[_Plan]:
    """Yield the squares that could be explored without creatures, or without boulders, in the way."""
    level = game.level
    without = {
        "creature": ShortestPaths(level, game.here),
        "boulder": ShortestPaths(level, game.here, occupied=game.obstacles(), push=True),
    }
    for what, others in without.items():
        for square, cost in others.cost.items():
            if square not in paths.cost and level.is_walkable(square) and level.is_frontier(square):
                yield (cost + _PUSH_AGAIN * level.pushed[square], what, square)


def _search_plans(level: Level, paths: ShortestPaths, free: Set[int]) -> Iterator[_Plan]:
    """Yield the squares where something may be hidden: dead ends, and walls with much unknown space behind them."""
    for square in free:
        if not level.is_walkable(square):
            continue
        hidden = _DEAD_END if _is_dead_end(level, square) else max(_unknown_behind_walls(level, square), default=0)
        if hidden:
            effort = _SEARCH_FIRST + _SEARCH_AGAIN * level.searched[square]
            yield (paths.cost[square] + effort - hidden, "search", square)


def _is_dead_end(level: Level, square: int) -> bool:
    """Whether a corridor or a doorway leads nowhere: all squares beside it that lead on touch each other."""
    if level.ground[square] not in (Ground.CORRIDOR, *DOORS):
        return False
    on = [
        neighbour
        for neighbour in AROUND[square]
        if level.is_walkable(neighbour) or level.ground[neighbour] == Ground.CLOSED_DOOR
    ]
    return all(distance(neighbour, other) <= 1 for neighbour in on for other in on)


def _unknown_behind_walls(level: Level, square: int) -> Iterator[int]:
    """Yield for each wall beside a square the number of unseen squares behind it, up to a limit."""
    for name in ("north", "south", "east", "west"):
        wall = NEIGHBOURS[square].get(name)
        if wall is None or level.ground[wall] != Ground.WALL:
            continue
        depth, behind = 0, NEIGHBOURS[wall].get(name)
        while behind is not None and level.ground[behind] == Ground.UNKNOWN:
            depth, behind = depth + 1, NEIGHBOURS[behind].get(name)
        # a smaller depth leaves no space for a corridor and a room
        yield min(depth, _DEPTH_BEHIND_WALL) if depth > 2 else 0
