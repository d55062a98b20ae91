"""Translation of actions in words to keys and skills.

An action may take no turn of the game, one, or many. An action that cannot be understood or done takes none, and the
observation says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from worldthread.support.text import one_line
from worldthread_lab.envs.nethack.console import Reply
from worldthread_lab.envs.nethack.describe import inventory
from worldthread_lab.envs.nethack.engine import ESCAPE
from worldthread_lab.envs.nethack.explore import KICK, explore
from worldthread_lab.envs.nethack.game import Game, key_towards
from worldthread_lab.envs.nethack.items import find_item, fits, words_of
from worldthread_lab.envs.nethack.level import DIRECTIONS
from worldthread_lab.envs.nethack.skills import SkillMonitor, beside, descend, fight, rest, walk
from worldthread_lab.envs.nethack.targets import find_door, find_squares, find_thing, read_direction

_PRAY: Final = 0x80 | ord("p")
_SEARCH: Final = "10s"
_MOST_CORPSES: Final = 20
_SELF, _UP, _DOWN = ".", "<", ">"

_ANSWERS: Final = {"yes": "y", "y": "y", "no": "n"}

_ITEM_KEYS: Final = {
    "eat": "e", "quaff": "q", "read": "r", "wear": "W", "take off": "T", "put on": "P", "remove": "R", "wield": "w",
    "drop": "d",
}  # fmt: skip
_AIMED_KEYS: Final = {"throw": "t", "zap": "z", "apply": "a"}
_HELP: Final = (
    "Actions are: go DIRECTION, move to NAME, explore, explore DIRECTION, descend, ascend, fight NAME or DIRECTION, "
    "pick up NAME, open, close or kick DIRECTION, eat, quaff, read, wear, take off, put on, remove, wield or drop "
    "NAME, throw, zap or apply NAME DIRECTION, search, wait, rest, look, inventory, pray, pay."
)


def perform(game: Game, action: str) -> None:
    """Perform an action; the game's messages are in ``game.console.messages`` afterwards.

    While the game asks a question, ``yes`` and ``no`` answer it; any other action first declines it.

    Args:
        game: the game.
        action: the action in words.
    """
    text = one_line(action.lower())
    if game.console.question is not None:
        key = _ANSWERS.get(text)
        game.press(key or ESCAPE)
        if key is not None:
            return
    name = max((name for name in _NAMES if text == name or text.startswith(f"{name} ")), key=len, default=None)
    if name is not None:
        _VERBS[_NAMES[name]](game, text[len(name) :].strip())
    elif (direction := read_direction(text)) is not None:
        _go(game, direction)
    elif text in _ANSWERS:
        game.say("Nothing was asked.")
    else:
        game.say(f"That is not understood. {_HELP}")


# -- without an object ------------------------------------------------------------------------------------------------


def _plain(keys: str | int, *replies: Reply) -> Callable[[Game, str], None]:
    def press(game: Game, rest_of_text: str) -> None:
        if rest_of_text:
            game.say(f"That is not understood. {_HELP}")
        else:
            game.press(keys, replies=replies)

    return press


def _look(game: Game, _: str) -> None:
    """Do nothing: the observation describes everything anyway."""


def _inventory(game: Game, _: str) -> None:
    game.say(inventory(game))


# -- moving -----------------------------------------------------------------------------------------------------------


def _go(game: Game, text: str) -> None:
    direction = read_direction(text)
    if direction is None:
        game.say(f"{text!r} is no direction. Directions are {', '.join(DIRECTIONS)}, up and down.")
    else:
        game.press(DIRECTIONS[direction][2])


def _move_to(game: Game, name: str) -> None:
    squares = find_squares(game, name)
    if not squares:
        game.say(f"You know of no {name or 'such thing'} on this level.")
    elif game.here in squares:
        game.say("You are there already.")
    else:
        walk(game, squares, SkillMonitor(game))


def _explore(game: Game, text: str) -> None:
    direction = read_direction(text) if text else None
    if text and direction is None:
        game.say(f"{text!r} is no direction. Directions are {', '.join(DIRECTIONS)}.")
    else:
        explore(game, direction)


# -- with what is near ------------------------------------------------------------------------------------------------


def _fight(game: Game, name: str) -> None:
    direction = read_direction(name)
    if direction is not None:
        game.press("F" + DIRECTIONS[direction][2])
    elif name:
        fight(game, name)
    else:
        game.say("Fight what? Say a creature or a direction.")


def _towards(keys: str) -> Callable[[Game, str], None]:
    """Make the action of a command with a direction, or with a door, which the player first walks up to."""

    def act(game: Game, text: str) -> None:
        direction = read_direction(text)
        key = DIRECTIONS[direction][2] if direction is not None else None
        door = find_door(game.level, text)
        if door is not None and (door in beside([game.here], straight=True) or walk_beside(game, door)):
            key = key_towards(game.here, door)
        if key is not None:
            game.press(keys, replies=[("In what direction", key)])
        elif door is None:
            game.say(f"{text!r} is no direction, and no door that you know of.")

    def walk_beside(game: Game, door: int) -> bool:
        return walk(game, beside([door], straight=True), SkillMonitor(game))

    return act


def _pick_up(game: Game, name: str) -> None:
    if name and not any(fits(name, thing) for thing in game.things_here):
        square = find_thing(game, name)
        if square is None:
            game.say(f"You see no {name} to pick up.")
            return
        if not walk(game, [square], SkillMonitor(game)):
            return

    chosen: list[str] = []

    def choose(lines: list[str]) -> str:
        entries = [match for line in lines if (match := re.match(r"(?P<letter>\w) - (?P<text>.+)", line))]
        wanted = [entry["letter"] for entry in entries if not name or fits(name, entry["text"])]
        if name:
            wanted = wanted[: 1 - len(chosen)]  # only one, on all pages together
        chosen.extend(wanted)
        return "".join(wanted)

    game.press(",", choose=choose)


# -- with what is carried ---------------------------------------------------------------------------------------------


def _use(verb: str) -> Callable[[Game, str], None]:
    keys = _ITEM_KEYS[verb]

    def use(game: Game, name: str) -> None:
        # the player eats corpses and drinks from fountains where they are
        here = {"eat": game.things_here, "quaff": (game.level.ground_names.get(game.here, ""),)}.get(verb, ())
        is_here = any(fits(name, thing) for thing in here)
        item = find_item(name, game.items(), verb)
        if not is_here and item is None:
            game.say(f"You have no {name or 'such thing'} to {verb}.")
            return
        replies = [
            *[(r"here; eat|^Drink from", "n")] * _MOST_CORPSES,
            (r"^What do you want to", ESCAPE if item is None else item.letter),
            (r"^Which ring-finger", "r"),
        ]
        if is_here:
            words = "".join(rf"(?=.*{re.escape(word)})" for word in words_of(name))
            replies.insert(0, (rf"(?i)^{words}.* here; eat|^Drink from", "y"))
        game.press(keys, replies=replies)

    return use


def _aim(verb: str) -> Callable[[Game, str], None]:
    def aim(game: Game, text: str) -> None:
        name, _, last = text.rpartition(" ")
        direction = read_direction(last)
        keys = {"up": _UP, "down": _DOWN, "me": _SELF, "myself": _SELF}
        key = DIRECTIONS[direction][2] if direction is not None else keys.get(last)
        item = find_item(name.removesuffix(" at") if key is not None and name else text, game.items(), verb)
        if item is None:
            game.say(f"You have no {text or 'such thing'} to {verb}.")
            return
        game.press(
            _AIMED_KEYS[verb],
            replies=[(r"^What do you want to", item.letter), (r"^In what direction", key or ESCAPE)],
        )

    return aim


_VERBS: Final[dict[str, Callable[[Game, str], None]]] = {
    "go": _go,
    "up": _plain(_UP),
    "down": _plain(_DOWN),
    "move to": _move_to,
    "explore": _explore,
    "descend": lambda game, _: descend(game),
    "ascend": lambda game, _: descend(game, up=True),
    "fight": _fight,
    "open": _towards("o"),
    "close": _towards("c"),
    "kick": _towards(KICK),
    "pick up": _pick_up,
    **{verb: _use(verb) for verb in _ITEM_KEYS},
    **{verb: _aim(verb) for verb in _AIMED_KEYS},
    "search": _plain(_SEARCH),
    "wait": _plain("s"),
    "rest": lambda game, _: rest(game),
    "look": _look,
    "inventory": _inventory,
    "pray": _plain(_PRAY, (r"^Are you sure you want to pray", "y")),
    "pay": _plain("p", (r"^(?:Itemized billing|Pay)", "y")),
}

_NAMES: Final = {
    **{verb: verb for verb in _VERBS},
    "drink": "quaff", "take": "pick up", "get": "pick up", "attack": "fight", "kill": "fight",
    "walk to": "move to", "go to": "move to", "go down": "down", "go up": "up", "i": "inventory", "l": "look",
}  # fmt: skip
"""The names of each command; the longest name that matches an action is used."""
