"""The tasks of ScienceWorld as environments. Needs the extra ``worlds``, and Java.

https://github.com/allenai/ScienceWorld, Apache License 2.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from worldthread.errors import EpisodeOverError, InputError
from worldthread_lab.envs.base import Info, Proposition, Truth
from worldthread_lab.envs.gymnasium_text import EngineWording, GymnasiumText, InfoNames, OnJava, start_with_java
from worldthread_lab.envs.spec import GameSpec

PREFIX: Final = "scienceworld-"
"""What the ids of these games begin with; the engine's own name of the task follows."""

_NAMES: Final = InfoNames(valid_actions="valid", inventory="inv", goal="taskDesc")
_NO_LIMIT: Final = 2**31 - 1

_TITLE: Final = re.compile(
    r"^This (?:room|outside location) is called the (?P<place>[^.\n]+)\. (?:In it|Here),? you see:\s*$", re.M
)
_LISTED: Final = re.compile(r"^\t(?P<thing>an? .+?)\.? *$", re.M)
_HOLDS: Final = re.compile(r"(?P<holder>[\w' -]+) \(containing (?P<things>[^()]+)\)")
_IS_NOTHING: Final = re.compile(r" ?(?:In|On) the [\w' -]+ is: nothing\b\.?")
_MOVED: Final = re.compile(r"You move to the [^.\n]+\.\s*\Z")


def _listed(line: str) -> str:
    """Return a line of the list of things in a place as sentences; what things hold in parentheses follows."""
    line = _IS_NOTHING.sub("", line).replace("(containing nothing)", "").replace("a substance called ", "some ")
    held: list[str] = []

    def aside(found: re.Match[str]) -> str:
        holder = found["holder"]
        held.append(f" The {re.sub(r'^ ?(?:an?|some) ', '', holder).strip()} contains {found['things']}.")
        return holder

    line = _HOLDS.sub(aside, line).replace(" is: ", " is ").rstrip(". ")
    return f"You see {line}.{''.join(held)}"


def _usual_text(text: str) -> str:
    """Return a text with a title for the place, and with sentences for what is there."""
    if _TITLE.search(text) is None:
        return text
    text = _TITLE.sub(lambda found: f"-= {found['place']} =-", text)
    return _LISTED.sub(lambda found: _listed(found["thing"]), text)


_WORDING: Final = EngineWording(
    _usual_text,
    {
        r"l|look": "look around",
        r"i": "inventory",
        r"examine (.+)": r"look at \1",
        r"take (.+?)(?: from .+)?": r"pick up \1",
        r"put (.+) on (.+)": r"move \1 to \2",
        r"insert (.+) into (.+)": r"move \1 to \2",
    },
)


class ScienceWorld(GymnasiumText):
    """A task of ScienceWorld.

    Args:
        task: the engine's name of the task.
        simplifications: how the task is made easier, in the engine's form; ``easy``: in every way.
        fold: the set whose variations the seeds count.
        options: those of :class:`~worldthread_lab.envs.gymnasium_text.GymnasiumText`.
    """

    def __init__(self, task: str, simplifications: str, fold: str, **options: Any) -> None:
        super().__init__(_start, names=_NAMES, max_score=100, **options)
        self._task = task
        self._simplifications = simplifications
        self._fold = fold
        self._looks: dict[str, str] = {}  # place -> how it was described last

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        # an engine numbers all objects that it ever made, and its lists follow the numbers: only a new one repeats
        self.close()
        return super().reset(seed)

    def truth(self) -> Truth:
        if not self._was_reset or self._engine is None:
            raise EpisodeOverError("there is no true state yet: call reset() first")
        return Truth(frozenset(_propositions(self._engine.getObjectTree(), self._looks)))

    def _begin(self, engine: Any, seed: int) -> Any:
        try:
            engine.load(self._task, 0, self._simplifications)
            variations = getattr(engine, f"get_variations_{self._fold}")()
            engine.load(self._task, variations[seed % len(variations)], self._simplifications)
        except ValueError as error:
            raise InputError(f"{self.id} cannot be played with {self._simplifications!r}: {error}") from error
        self._looks.clear()
        return engine.reset()

    def _shown(self, observation: Any, raw: Mapping[str, Any]) -> str:
        look = raw["look"]
        place = _TITLE.search(look)
        if place is not None:
            self._looks[place["place"]] = look
        if self._wording is not None and _MOVED.match(observation):
            observation = f"{observation}\n\n{look}"  # the engine describes a place only to who looks around
        return super()._shown(observation, raw)


def make_scienceworld(
    spec: GameSpec,
    *,
    seed: int,
    goal: str | None,
    max_moves: int | None,
    cache_dir: Path | None,
    simplifications: str = "",
    fold: Literal["train", "dev", "test"] = "train",
    valid_actions: bool = True,
    as_printed: bool = False,
) -> ScienceWorld:
    """Make a task of ScienceWorld.

    Args:
        spec: the registered game.
        seed: the number of the variation, counted around.
        goal: the task in words.
        max_moves: the limit of moves.
        cache_dir: ignored.
        simplifications: how the task is made easier, in the engine's form, such as "openDoors,teleportAction"; "easy":
            in every way.
        fold: the set of variations: train, dev or test.
        valid_actions: whether the world lists valid actions, some hundred in each state.
        as_printed: whether texts and commands are exactly the engine's; else a place has a title and is described when
            it is entered, and usual commands such as "examine stove" work too.

    Returns:
        The environment.
    """
    return ScienceWorld(
        spec.name.removeprefix(PREFIX),
        simplifications,
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
        from scienceworld import ScienceWorldEnv

        return ScienceWorldEnv(envStepLimit=_NO_LIMIT)

    return OnJava(start_with_java("ScienceWorld", start))


def _propositions(universe: Mapping[str, Any], looks: Mapping[str, str]) -> Iterator[Proposition]:
    """Yield where the player and the things are in the places that the player has seen, and what is open anywhere.

    Names are not unique (there is air everywhere, and an orange in many a kitchen), so where things are in places that
    the player has not seen is left out. The tree has no ways between places.

    Args:
        universe: a tree of objects with the places on its first level.
        looks: place -> its description. It tells what the tree does not: what lies on a thing and not in it, and the
            stage of life under which an animal is listed ("dove egg").

    Yields:
        The propositions.
    """
    for place in universe["contents"].values():
        inside = _inside(place, looks.get(place["name"], ""), is_place=True)
        is_seen = place["name"] in looks
        yield from (proposition for proposition in inside if is_seen or proposition[0] in ("open", "closed"))


def _inside(holder: Mapping[str, Any], look: str, *, is_place: bool = False) -> Iterator[Proposition]:
    """Yield the places of all that a place or thing holds, and whether things are open."""
    for thing in holder["contents"].values():
        name, here = thing["name"], holder["name"]
        if thing["propLife"] is not None:
            listed = re.search(rf"^\tan? ((?:[\w-]+ )?{re.escape(name)}(?: [\w-]+)?)$", look, re.M)
            name = listed[1] if listed is not None else name
        if name == "agent":
            yield ("at", "P", here)
        elif here == "agent":
            yield from (("in", carried["name"], "I") for carried in thing["contents"].values())
        elif here != "inventory":
            relation = "at" if is_place else "on" if f"On the {here} is:" in look else "in"
            yield (relation, name, here)
        container = thing["propContainer"]
        if container is not None and container["isClosable"]:
            yield ("open" if container["isOpen"] else "closed", name)
        yield from _inside(thing, look)
