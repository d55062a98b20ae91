"""The list of valid actions: those that make sense with what the observation describes."""

from __future__ import annotations

from collections.abc import Iterator

from worldthread_lab.envs.nethack.game import Game, Stats
from worldthread_lab.envs.nethack.items import plain_name
from worldthread_lab.envs.nethack.level import DIRECTIONS, NEIGHBOURS, direction_of
from worldthread_lab.envs.nethack.skills import beside
from worldthread_lab.envs.nethack.terrain import GlyphKind, Ground
from worldthread_lab.envs.nethack.view import View
from worldthread_lab.envs.nethack.words import without_article

_ALWAYS = ("explore", "inventory", "look", "rest", "search", "wait")


def valid_actions(game: Game, view: View) -> tuple[str, ...]:
    """Return the valid actions.

    The list is not complete: the player can also drop carried things, throw and zap them in any direction, go to known
    places that the observation does not describe, and try every direction. Harmful actions are left out: praying
    without need, which angers the gods, and the stairs out of the dungeon, which end the game.

    Args:
        game: the game.
        view: the part of the level that the observation describes.

    Returns:
        The actions, sorted and without duplicates.
    """
    if game.console.question is not None:
        return ("no", "yes")
    found = {*_ALWAYS, *_steps(game, view), *_with_belongings(game), *_with_floor(game)}
    if is_in_trouble(game.stats):
        found.add("pray")
    if not game.swallowed:
        found.update(_with_doors(game), _walks(game, view))
    return tuple(sorted(found))


def is_in_trouble(stats: Stats) -> bool:
    """Whether the gods would help: few hit points, or weakness from hunger (NetHack's ``in_trouble``)."""
    low = stats.hit_points <= 5 or stats.hit_points * 7 <= stats.most_hit_points
    return low or stats.hunger.startswith(("weak", "faint"))


def _is_way_out(game: Game) -> bool:
    return game.stats.depth == 1 and game.stats.dungeon == 0


def _steps(game: Game, view: View) -> list[str]:
    free = {square for square, cost in view.paths.cost.items() if cost == 1} - game.obstacles()
    directions = [name for name, square in NEIGHBOURS[game.here].items() if square in free]
    # where the player sees nothing, every direction may work
    return [f"go {direction}" for direction in (DIRECTIONS if game.swallowed else directions or DIRECTIONS)]


def _with_floor(game: Game) -> Iterator[str]:
    ground = game.level.ground[game.here]
    if ground in (Ground.DOWN, Ground.HOLE):
        yield "go down"
    elif ground == Ground.UP and not _is_way_out(game):
        yield "go up"
    if game.things_here:
        yield "pick up"
    for thing in game.things_here:
        name = plain_name(thing)
        yield f"pick up {name}"
        if "corpse" in name:
            yield f"eat {name}"


def _with_belongings(game: Game) -> Iterator[str]:
    for item in game.items():
        for verb in item.verbs():
            yield f"{verb} {item.name}"


def _with_doors(game: Game) -> Iterator[str]:
    level = game.level
    for square in beside([game.here], straight=True):
        direction = direction_of(game.here, square)
        if level.ground[square] == Ground.CLOSED_DOOR:
            yield from (f"open {direction}", f"kick {direction}")
        elif level.ground[square] == Ground.OPEN_DOOR:
            yield f"close {direction}"


def _walks(game: Game, view: View) -> Iterator[str]:
    for monster in view.monsters:
        if monster.sort != GlyphKind.PET:
            yield f"fight {without_article(monster.name)}"
    for feature in view.features:
        if view.steps_to(feature.square) is None:
            continue
        if feature.ground == Ground.DOWN:
            yield "descend"
        elif feature.ground == Ground.UP and not _is_way_out(game):
            yield "ascend"
        if feature.ground != Ground.TRAP:
            yield f"move to {plain_name(feature.name)}"
        if feature.ground is None and game.level.shows(feature.square) == GlyphKind.THING:
            yield f"pick up {plain_name(feature.name)}"
    places = [*([view.place] if view.place is not None else []), *view.other_places()]
    for place in places:
        if place is not view.place and any(view.paths.reaches(square) for square in place.squares):
            yield f"move to {game.level.name_of(place)}"
        for door in view.doors_of(place):
            if door.square != game.here and view.steps_to(door.square) is not None:
                yield f"move to {door.name}"
        if place is view.place:
            yield from (f"explore {direction}" for direction in view.passages(place))
