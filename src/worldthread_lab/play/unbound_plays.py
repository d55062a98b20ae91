"""Plays of stories that jericho has no bindings of, for the audit: along a file of commands, and by a wanderer.

The wanderer needs no list of valid actions, which only games with bindings have. It tries, and undoes, every direction
and, drawn by chance, some commands with a few verbs and the things in reach, and mostly takes one of those that change
the tree of objects more than waiting does: of these, one that it chose least often in this place. One command in five
is any of them, so that what changes nothing is read, too. It never does what ends the story.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from worldthread.errors import GameFileError, InputError
from worldthread.extract.base import GameStep
from worldthread_lab.envs.unbound_story import UnboundStory
from worldthread_lab.envs.zmachine_objects import StoryObjects, TrueTree
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.commands import direction_of
from worldthread_lab.play.true_step import TrueStep

_VERBS: Final = (
    *("take", "drop", "open", "close", "enter", "wear", "take off", "switch on", "switch off", "push", "pull", "turn"),
    *("examine", "search", "read"),
)
_VERBS_WITH_TWO: Final = ("put {} in {}", "put {} on {}")
_UNCHANGING_SHARE: Final = 0.2
_MOST_TRIED: Final = 40
"""How many commands with things the wanderer tries before it chooses."""


def read_commands(path: Path) -> tuple[str, ...]:
    """Read a walkthrough: one command in each line; empty lines, and lines that begin with ``#``, are left out.

    Args:
        path: the file.

    Returns:
        The commands.

    Raises:
        InputError: the file cannot be read, or holds no command.
    """
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the walkthrough {path}: {error}") from error
    commands = tuple(line.removeprefix(">").strip() for line in lines if line and not line.startswith("#"))
    if not commands:
        raise InputError(f"{path} holds no commands")
    return commands


def play_commands(story: UnboundStory, commands: tuple[str, ...], most: int | None = None) -> list[TrueStep]:
    """Play commands, and record what is on screen and what is true. The player's object is found first.

    Args:
        story: the story.
        commands: the commands.
        most: the largest number of steps; ``None`` for all.

    Returns:
        The opening and one entry for each command up to the end of the story.

    Raises:
        GameFileError: no object moves as the player does.
    """
    set_player(story, commands)
    played = [_true_step(story, story.reset())]
    for turn, command in enumerate(commands[:most], 1):
        text = story.step(command)
        if story.is_over:
            break
        played.append(_true_step(story, text, command, turn))
    return played


def set_player(story: UnboundStory, commands: tuple[str, ...]) -> None:
    """Play commands to find the object of the player.

    Args:
        story: the story; it is left in another state.
        commands: the commands.

    Raises:
        GameFileError: no object moves as the player does.
    """
    story.reset()
    trees = [story.tree()]
    for command in commands:
        story.step(command)
        if story.is_over:
            break
        trees.append(story.tree())
    story.player = find_player(trees, commands[: len(trees) - 1])


def find_player(trees: Sequence[TrueTree], commands: Sequence[str]) -> int:
    """Find the object of the player: it goes elsewhere with directions, and things come to it.

    Args:
        trees: the tree of objects at the beginning of a play and after each command.
        commands: the commands.

    Returns:
        The number of the object.

    Raises:
        GameFileError: no object moves when the player goes.
    """
    went: Counter[int] = Counter()
    got: Counter[int] = Counter()
    for (before, after), command in zip(pairwise(trees), commands, strict=True):
        moved = [n for n, parent in enumerate(after.parents) if parent != before.parents[n]]
        if direction_of(command) is not None:
            went.update(moved)
        else:
            got.update({after.parents[n] for n in moved})
    if not went:
        raise GameFileError("no object moves when the player goes somewhere, so that the player cannot be found")
    return max(went, key=lambda n: (went[n] + got[n], -n))


def wander(story: UnboundStory, steps: int, seed: int) -> list[TrueStep]:
    """Let the wanderer play, and record what is on screen and what is true.

    Args:
        story: the story, with its player (:func:`set_player`).
        steps: the number of commands.
        seed: seeds the choices of the wanderer.

    Returns:
        The opening and one entry for each command.
    """
    chance = random.Random(seed)
    reader = StoryObjects(story.story)
    names = {n: thing.name for n, thing in reader.objects().items() if thing.words}
    chosen: Counter[tuple[int, str]] = Counter()
    played = [_true_step(story, story.reset())]
    for turn in range(1, steps + 1):
        command = _choose(story, names, chosen, chance)
        text = story.step(command)
        played.append(_true_step(story, text, command, turn))
    return played


def _choose(story: UnboundStory, names: dict[int, str], chosen: Counter[tuple[int, str]], chance: random.Random) -> str:
    tree, now = story.tree(), story.save()
    place = _around(tree)[-1]
    things = _in_reach(tree, names)
    carried = [names[n] for n in things if tree.parents[n] == tree.player]
    called = list(dict.fromkeys(names[n] for n in things))
    handling = [f"{verb} {name}" for name in called for verb in _VERBS]
    handling += [form.format(one, two) for one in carried for two in called if one != two for form in _VERBS_WITH_TWO]
    commands = [*v.OPPOSITE, *chance.sample(handling, min(len(handling), _MOST_TRIED))]
    story.step("wait")
    waited = story.tree()
    story.restore(now)
    harmless: list[str] = []
    changing: list[str] = []
    for command in commands:
        story.step(command)
        if not story.is_over:
            harmless.append(command)
            if story.tree() not in (tree, waited):
                changing.append(command)
        story.restore(now)
    offered = changing if changing and chance.random() >= _UNCHANGING_SHARE else harmless or ["wait"]
    least = min(chosen[place, command] for command in offered)
    command = chance.choice([command for command in offered if chosen[place, command] == least])
    chosen[place, command] += 1
    return command


def _in_reach(tree: TrueTree, names: dict[int, str]) -> list[int]:
    """Return the things with a name in the room of the player, without the player and what the player is in."""
    around = _around(tree)
    return [n for n in names if n != tree.player and n not in around and around[-1] in tree.holders(n)]


def _around(tree: TrueTree) -> list[int]:
    """Return what the player is in, the room last; 0 alone where it is nowhere."""
    return [n for n in tree.holders(tree.player) if n != tree.room_holder()] or [0]


def _true_step(story: UnboundStory, text: str, command: str | None = None, turn: int = 0) -> TrueStep:
    return TrueStep(GameStep(text, command, story.inventory(), turn=turn), story.tree(), story.ways())
