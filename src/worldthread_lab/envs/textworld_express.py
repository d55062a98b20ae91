"""The games of TextWorldExpress as environments. Needs the extra ``worlds``, and Java.

https://github.com/cognitiveailab/TextWorldExpress, Apache License 2.0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from worldthread.errors import EpisodeOverError, InputError
from worldthread_lab.envs.base import Proposition, Truth
from worldthread_lab.envs.gymnasium_text import EngineWording, GymnasiumText, InfoNames, OnJava, start_with_java
from worldthread_lab.envs.spec import GameSpec

PREFIX: Final = "textworldexpress-"
"""What the ids of these games begin with; the engine's own name of the game follows."""

_NAMES: Final = InfoNames(valid_actions="validActions", goal="taskDescription", won="tasksuccess", lost="taskfailure")
_DONE: Final = {
    "fry": "fried", "roast": "roasted", "grill": "grilled", "slice": "sliced", "dice": "diced", "chop": "chopped",
}  # fmt: skip
_SIDES: Final = ("north", "south", "east", "west")
_SIDE: Final = "(north|south|east|west)"
_NO_LIMIT: Final = 2**31 - 1

_REWORDED: Final = (
    (re.compile(r"\AYou are in the ([^.\n]+)\.\s*"), r"-= \1 =-\n"),
    (re.compile(r"There is also\b"), "There is"),
    (re.compile(r"\b(an?|some) ([^.,\n]+?) that has ([^.\n]+?) on it\b"), r"\1 \2. On the \2 you see \3"),
    (re.compile(r"\b(?:(an) open|A) ([^.,\n]+), that contains ([^.\n]+)", re.I), r"an open \2. The \2 contains \3"),
    (
        re.compile(rf"Through (an? open [^,\n]+), to the {_SIDE} you see ([^.\n]+)\.", re.I),
        r"There is \1 leading \2, to \3.",
    ),
    (re.compile(rf"To the {_SIDE} you see (an? [^.\n]* door)\.", re.I), r"There is \2 leading \1."),
    (re.compile(rf"To the {_SIDE} you see (the [^.\n]+)\.", re.I), r"There is an exit to the \1, to \2."),
    (re.compile(r"\b(You open the [^.,\n]+), revealing the ([^.\n]+)\."), r"\1. The \2 is behind it."),
)
"""What the engine prints, and how TextWorld would say it."""
_EMPTY_HANDS: Final = re.compile(r"Your inventory is currently empty\.")
_CARRIED: Final = re.compile(r"\AInventory\b[^:\n]*:\s*")


def _usual_text(text: str) -> str:
    """Return a text of the engine in the words of TextWorld; also a text of the inventory."""
    if _CARRIED.match(text):
        things = _CARRIED.sub("", text)
        return "You are carrying nothing." if _EMPTY_HANDS.search(things) else f"You are carrying:\n  {things.strip()}"
    for pattern, words in _REWORDED:
        text = pattern.sub(words, text)
    return text


_WORDING: Final = EngineWording(
    _usual_text,
    {
        rf"(?:go |walk )?{_SIDE}": r"move \1",
        r"l|look": "look around",
        r"i": "inventory",
        r"take (.+?) from .+": r"take \1",
        r"put (.+) on (.+)": r"put \1 in \2",
        r"insert (.+) into (.+)": r"put \1 in \2",
        r"cook (.+) with (.+)": r"cook \1 in \2",
        r"(chop|slice|dice) (.+) with .+": r"\1 \2",
    },
)


class TextWorldExpress(GymnasiumText):
    """A game of TextWorldExpress.

    Args:
        game: the engine's name of the game.
        parameters: what the game is generated with, in the engine's form, such as ``numLocations=3,includeDoors=0``.
        fold: the seeds of which set are meant: the things of a game differ between the sets.
        options: those of :class:`~worldthread_lab.envs.gymnasium_text.GymnasiumText`.
    """

    def __init__(self, game: str, parameters: str, fold: str, **options: Any) -> None:
        super().__init__(_start, names=_NAMES, max_score=1.0, **options)
        self._game = game
        self._parameters = parameters
        self._fold = fold

    def truth(self) -> Truth:
        if not self._was_reset or self._engine is None:
            raise EpisodeOverError("there is no true state yet: call reset() first")
        game = self._engine.server.game()
        return Truth(frozenset(_propositions(game)) if _has_places(game) else frozenset())

    def _begin(self, engine: Any, seed: int) -> Any:
        try:
            return engine.reset(
                seed=seed % 2**31, gameFold=self._fold, gameName=self._game, gameParams=self._parameters
            )
        except ValueError as error:
            raise InputError(f"{self.id} cannot be generated with {self._parameters!r}: {error}") from error


def make_textworld_express(
    spec: GameSpec,
    *,
    seed: int,
    goal: str | None,
    max_moves: int | None,
    cache_dir: Path | None,
    parameters: str = "",
    fold: Literal["train", "dev", "test"] = "train",
    valid_actions: bool = True,
    as_printed: bool = False,
) -> TextWorldExpress:
    """Make a game of TextWorldExpress.

    Args:
        spec: the registered game.
        seed: decides the game.
        goal: the task in words.
        max_moves: the limit of moves.
        cache_dir: ignored.
        parameters: what the game is generated with, in the engine's form, such as "numLocations=3,includeDoors=0";
            empty: as the engine does by itself.
        fold: the set of games: train, dev or test.
        valid_actions: whether the world lists valid actions.
        as_printed: whether texts and commands are exactly the engine's; else places have titles and ways out are told
            as in TextWorld, and usual commands such as "go east" work too.

    Returns:
        The environment.
    """
    return TextWorldExpress(
        spec.name.removeprefix(PREFIX),
        parameters,
        fold,
        id=spec.id,
        seed=seed,
        goal=goal,
        max_moves=max_moves,
        valid_actions=valid_actions,
        wording=None if as_printed else _WORDING,
    )


def _start() -> OnJava:
    def start() -> Any:
        from textworld_express import TextWorldExpressEnv

        return TextWorldExpressEnv(envStepLimit=_NO_LIMIT)

    return OnJava(start_with_java("TextWorldExpress", start))


def _has_places(game: Any) -> bool:
    """Return whether a game has rooms, with methods that tell them; some take place in a single one, or in none."""
    return any(method.getName() == "locations" for method in game.getClass().getMethods())


def _propositions(game: Any) -> Iterator[Proposition]:
    """Yield what holds in a game of the engine, as TextWorld would say it."""
    yield ("at", "P", game.agentLocation().name())
    for carried in _contents(json.loads(game.agentInventory().toJSON())):
        yield ("in", carried["name"], "I")
        yield from _of_thing(carried)
    for room in game.locations():
        here = room.name()
        for thing in _contents(json.loads(room.toJSON())):
            yield ("at", thing["name"], here)
            yield from _of_thing(thing)
        for side in _SIDES:
            there, door = (getattr(room, f"{kind}{side.capitalize()}")() for kind in ("location", "door"))
            if there is None:
                continue
            yield (f"{side}_of", there.name(), here)
            if door is not None:
                name = door.getDescription()
                yield ("link", here, name, there.name())
                yield ("open" if door.isOpen() else "closed", name)


def _contents(thing: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(thing["contents"].values())


def _of_thing(thing: Mapping[str, Any]) -> Iterator[Proposition]:
    """Yield the states of a thing, and what it holds."""
    name = thing["name"]
    if thing["isOpenable"]:
        yield ("open" if thing["isOpen"] else "closed", name)
    if thing["readText"]:
        yield from _recipe(thing["readText"])
    if thing["needsCooking"] and thing["isRaw"]:
        yield ("needs_cooking", name)
    for state in _DONE.values():
        if thing[f"is{state.capitalize()}"]:
            yield (state, name)
    # what cannot be opened is a surface, but for a box
    relation = "in" if thing["isOpenable"] or name == "box" else "on"
    for inside in _contents(thing):
        yield (relation, inside["name"], name)
        yield from _of_thing(inside)


def _recipe(text: str) -> Iterator[Proposition]:
    """Yield what a recipe asks for; nothing for another text. Each ingredient is its own slot of the recipe."""
    found = re.search(r"Ingredients:\n(.+?)\n\s*\n.*Directions:\n(.+)", text, re.S)
    if found is None:
        return
    for food in found[1].split("\n"):
        yield ("base", food.strip(), f"slot of {food.strip()}")
    for line in found[2].split("\n"):
        verb, _, food = line.strip().partition(" the ")
        if verb in _DONE:
            yield (_DONE[verb], f"slot of {food}")
