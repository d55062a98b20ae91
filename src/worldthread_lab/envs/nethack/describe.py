"""The text of an observation: the messages, the player's surroundings, and the player's state.

Each sentence is about one thing and gives its place relative to the player. The title of a room or corridor stands on a
line of its own, and the lines after it are about that place.
"""

from __future__ import annotations

from worldthread.support.text import count_of
from worldthread_lab.envs.nethack.engine import COLUMNS
from worldthread_lab.envs.nethack.game import Game
from worldthread_lab.envs.nethack.level import AROUND, LevelRegion
from worldthread_lab.envs.nethack.terrain import DOORS, Ground
from worldthread_lab.envs.nethack.view import Door, View
from worldthread_lab.envs.nethack.words import capital, enumerate_words, offset, with_article

_DUNGEONS = (
    "the Dungeons of Doom", "Gehennom", "the Gnomish Mines", "the Quest", "Sokoban", "Fort Ludios", "Vlad's Tower",
    "the Elemental Planes",
)  # fmt: skip


def observation(game: Game, view: View, messages: list[str]) -> str:
    """Return the whole text of an observation.

    Args:
        game: the game.
        view: the part of the level to describe.
        messages: the game's messages since the last observation.

    Returns:
        Paragraphs separated by blank lines.
    """
    parts = ["\n".join([*messages, *_walked(game), *_joined(game)])]
    if not game.swallowed:
        parts.append("\n".join(remembered(game, view)))
        parts.append("\n".join(scene(game, view)))
    parts.append(status(game))
    if game.console.question is not None:
        parts.append(f"The game asks: {game.console.question} Answer yes or no.")
    return "\n\n".join(part for part in parts if part)


def scene(game: Game, view: View) -> list[str]:
    """Describe the present place: its title, then a sentence for each thing in it."""
    place, level = view.place, game.level
    title = "somewhere" if place is None else level.name_of(place)
    lines = [f"-= {capital(title)} =-", *_right_here(game)]
    for monster in view.monsters:
        near = (
            "close by" if monster.square in AROUND[game.here] else "nearby" if view.is_inside(monster) else "in sight"
        )
        lines.append(f"{capital(with_article(monster.name))} is {near}, {offset(game.here, monster.square)}.")
    for feature in view.features_in(place):
        where = offset(game.here, feature.square)
        if feature.ground in (Ground.UP, Ground.DOWN):
            lines.append(f"There is {_leading(feature.name)}, {where} of you.")
        else:
            lines.append(f"{capital(with_article(feature.name))} {_is(feature.name)} nearby, {where}.")
    if place is not None:
        lines += _exits(game, view, place)
    return lines


def remembered(game: Game, view: View) -> list[str]:
    """Describe the other places of the level, in a line each."""
    lines = []
    for place in view.other_places():
        costs = view.paths.cost
        steps = min((costs[square] for square in place.squares if square in costs), default=None)
        where = "no way there is known" if steps is None else f"{count_of(steps, 'step')} away"
        held = [with_article(feature.name) for feature in view.features_in(place)]
        held += [_door_phrase(door) for door in view.doors_of(place)]
        if view.passages(place):
            held.append("an unexplored part" if place.kind == "room" else "an unexplored passage")
        lines.append(f"{capital(game.level.name_of(place))} ({where}): {', '.join(held) or 'nothing of note'}.")
    return [f"The map of {game.level.name} shows also:", *lines] if lines else []


def status(game: Game) -> str:
    """Return the numbers of the bottom lines in words."""
    stats = game.stats
    row, column = divmod(game.here, COLUMNS)
    state = ", ".join([stats.hunger, stats.burden, *stats.conditions])
    return (
        f"Status: {stats.hit_points} of {stats.most_hit_points} hit points, {stats.power} of {stats.most_power} power, "
        f"armor class {stats.armor_class}, experience level {stats.experience}, {stats.gold} gold, {state}. "
        f"Turn {stats.turn}, dungeon level {stats.depth} in {_DUNGEONS[stats.dungeon]}, column {column}, row {row}, "
        f"score {stats.score}."
    )


def inventory(game: Game) -> str:
    """Return the text of the inventory, with a line for each thing."""
    items = game.items()
    if not items:
        return "You are carrying nothing."
    return "\n".join(["You are carrying:", *(f"  {item.text}" for item in items)])


def _right_here(game: Game) -> list[str]:
    lines = []
    ground = game.level.ground[game.here]
    name = game.level.ground_names.get(game.here)
    if ground in DOORS:
        lines.append(f"You stand in {game.level.door_name(game.here)}.")
    elif name is not None and ground in (Ground.UP, Ground.DOWN):
        lines.append(f"There is {_leading(name)}, right under you.")
    elif name is not None:
        lines.append(f"{capital(with_article(name))} is right here.")
    lines += [f"{capital(with_article(thing))} {_is(thing)} right here." for thing in game.things_here]
    if game.writing_here:
        lines.append(game.writing_here)
    return lines


def _exits(game: Game, view: View, place: LevelRegion) -> list[str]:
    doors = view.doors_of(place)
    passages = view.passages(place)
    lines = []
    for door in doors:
        if door.square != game.here:
            leading = f" leading {door.direction}" if door.direction else ""
            unexplored = ", unexplored" if door.unexplored else ""
            name = with_article(f"{door.state} {door.name}".strip())
            lines.append(f"There is {name}{leading}, {offset(game.here, door.square)} of you{unexplored}.")
    if place.kind == "room" and passages:
        lines.append(f"Part of the room is unexplored, to the {enumerate_words(list(passages))}.")
    elif place.kind == "corridor":
        for direction, steps in passages.items():
            lines.append(f"There is an unexplored passage leading {direction}, {count_of(steps, 'step')} away.")
    if not doors and not passages:
        lines.append("You know of no exit.")
    return lines


def _door_phrase(door: Door) -> str:
    state = f"{'unexplored ' if door.unexplored else ''}{door.state}".strip()
    return with_article(f"{state} {door.name.partition(' of ')[0]}".strip())


def _leading(name: str) -> str:
    """Return ``"a staircase leading down"`` for ``"staircase down"``."""
    noun, _, direction = name.rpartition(" ")
    return f"{with_article(noun)} leading {direction}"


def _is(name: str) -> str:
    plural = name[:1].isdigit() or (name.startswith("some ") and name.endswith("s"))
    return "are" if plural else "is"


def _walked(game: Game) -> list[str]:
    """Describe the path of the player through rooms, corridors and doors."""
    level = game.level
    names: list[str] = []
    for square in game.path:
        place = level.place_at(square)
        if level.ground[square] in DOORS:
            name = level.door_name(square)
        elif place is not None:
            name = level.name_of(place)
        else:
            continue
        if not names or names[-1] != name:
            names.append(name)
    if len(names) < 2:
        return []
    through = f" through {enumerate_words(names[1:-1])}" if len(names) > 2 else ""
    return [f"You walk from {names[0]}{through} to {names[-1]}."]


def _joined(game: Game) -> list[str]:
    lines = [f"{capital(part)} turns out to be part of {whole}." for part, whole in game.level.joined]
    game.level.joined.clear()
    return lines
