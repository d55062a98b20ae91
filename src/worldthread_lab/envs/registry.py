"""The registry of games: versioned ids that point to factories, which are imported when a world is made.

A factory has this signature, where ``spec`` is the registered :class:`GameSpec`::

    def make_something(
        spec: GameSpec,
        *,
        seed: int,
        goal: str | None,
        max_moves: int | None,
        cache_dir: Path | None,
        **options: Any,
    ) -> Environment

``max_moves`` has its default already: ``None`` means no limit. ``options`` are those of ``spec``, overridden by those
passed to :func:`make`; Python raises ``TypeError`` for options that the factory does not take.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal

from worldthread.errors import InputError, MissingExtraError, UnknownGameError
from worldthread.support.foreign_code import require_allowed
from worldthread.support.settings import Setting, settings_of
from worldthread_lab.envs.base import Environment
from worldthread_lab.envs.files import GAMES_VARIABLE, find_game_file, is_in_game_folder, near_names
from worldthread_lab.envs.spec import GameSpec

FILE_MAX_MOVES = 500
"""Default limit of moves in a game from a file, since such a game need not end by itself."""

__all__ = [
    "FILE_MAX_MOVES",
    "GAMES_VARIABLE",
    "game_settings",
    "games",
    "make",
    "register",
    "require_known_game",
    "spec_of",
]

_NO_SETTINGS = frozenset({"name", "id", "spec", "seed", "goal", "max_moves", "cache_dir", "file"})
"""Arguments of factories that are no settings: a play gives them, or they name files."""

_ID = re.compile(r"(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)-v(?P<version>[1-9][0-9]*)")


_registry: dict[str, GameSpec] = {}


def register(
    id: str,
    entry_point: str,
    *,
    title: str,
    description: str,
    extra: str | None = None,
    package: str | None = None,
    default_max_moves: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> GameSpec:
    """Add a game to the registry, for :func:`make` and :func:`games`.

    Args:
        id: versioned id of the form ``name-v1``.
        entry_point: ``"module:factory"``; the module documentation shows the factory's signature.
        title: a few words for lists.
        description: the task in one or two sentences.
        extra: the extra of worldthread that installs the engine.
        package: the importable name of the engine's package.
        default_max_moves: limit of moves when :func:`make` gets none; ``None``: no limit.
        options: keyword arguments for the factory, which those of :func:`make` override.

    Returns:
        The new entry of the registry.

    Raises:
        InputError: the id is not of the form ``name-v1`` (lower case, words joined by hyphens) or is taken, or the
            entry point is not of the form ``module:factory``.
    """
    if not _ID.fullmatch(id):
        raise InputError(f"the id of a game looks like 'my-game-v1' (lower case, a version at the end), not {id!r}")
    if id in _registry:
        raise InputError(f"the id {id!r} is taken; give a changed game the next version")
    module, colon, factory = entry_point.partition(":")
    if not (module and colon and factory):
        raise InputError(f"the entry point of a game looks like 'package.module:factory', not {entry_point!r}")
    spec = GameSpec(id, entry_point, title, description, extra, package, default_max_moves, dict(options or {}))
    _registry[id] = spec
    return spec


def games() -> list[GameSpec]:
    """Return every registered game, sorted by name and version."""
    return sorted(_registry.values(), key=lambda spec: (spec.name, spec.version))


def spec_of(id: str) -> GameSpec:
    """Return the registry entry of a game.

    Args:
        id: a registered id, or its name without the version, which means the newest version.

    Returns:
        The entry.

    Raises:
        UnknownGameError: no game has this id; the message lists similar ids.
    """
    if id in _registry:
        return _registry[id]
    versions = [spec for spec in _registry.values() if spec.name == id]
    if versions:
        return max(versions, key=lambda spec: spec.version)
    raise UnknownGameError(f"no game is called {id!r}.{near_names(id, [spec.id for spec in games()])}")


def require_known_game(id: str, allow_code: Collection[str] = ()) -> None:
    """Check that a game which a file names is one that the user chose, without opening it.

    A game file is a program. Registered games may be named by anybody, and so may the game files in the folders of
    ``$WORLDTHREAD_GAMES``; the path of any other file must be allowed.

    Args:
        id: as for :func:`make`.
        allow_code: the ids of game files that the user allowed.

    Raises:
        UnknownGameError: there is no such game.
        InputError: the game file is not allowed; the message says what to add.
    """
    scheme, colon, name = id.partition(":")
    if not colon:
        spec_of(id)
    elif scheme in _OPENERS and not is_in_game_folder(name):
        require_allowed(id, allow_code, f"the game file {id!r}")


def make(
    id: str,
    *,
    seed: int = 0,
    goal: str | None = None,
    max_moves: float | None = None,
    cache_dir: str | Path | None = None,
    **options: Any,
) -> Environment:
    """Make a world to play in.

    Args:
        id: one of three forms. A registered id: ``treasure-hunt-v1``, or ``treasure-hunt`` for the newest version.
            ``textworld:FILE``: the path of a ``.z8`` game with its ``.json`` beside it, or a bare ``NAME`` for
            ``NAME.z8`` in a folder of ``$WORLDTHREAD_GAMES`` or in its subfolder ``textworld``; a game with a table of
            right places beside it (``NAME_places.json``) is scored by that table, see
            :func:`worldthread_lab.envs.cleaning.open_cleaning`. ``jericho:FILE``: the path of a Z-machine story, or a
            bare ``NAME`` (subfolder ``jericho``).
        seed: 0 or more. Generated games are built from it; in a game file it seeds the engine's random generator.
        goal: the task in words, for games that state none or state it badly; appended to the first observation.
        max_moves: the episode is truncated after this many moves, 1 or more. ``None``: the game's own limit
            (:attr:`GameSpec.default_max_moves`; for game files :data:`FILE_MAX_MOVES`); ``math.inf``: no limit.
        cache_dir: folder for generated games and valid actions; by default
            :func:`worldthread.files.paths.default_cache_dir`.
        options: keyword arguments for the factory of the game. Z-machine games take ``valid_actions="jericho"`` for
            jericho's own list, ``valid_actions=False`` for none, which saves the time to find them, and
            ``inventory=False``; they and NetHack take ``stochastic=True``, with which random events differ after each
            reset (:attr:`Environment.is_stochastic`); cooking games and TextWorld files take ``rename_cooking=True``
            (:class:`worldthread_lab.envs.renamed.RenamedCooking`).

    Returns:
        The world, not reset yet. Close it after use.

    Raises:
        UnknownGameError: there is no such game or kind of file; the message lists similar names.
        GameFileError: the file is absent, or is not a game that the engine can run.
        MissingExtraError: the engine is not installed.
        InputError: an argument cannot be used.
    """
    if not isinstance(id, str) or not id.strip():
        raise InputError(f"the id of a game must be a non-empty string, not {id!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or more, not {seed!r}")
    folder = None if cache_dir is None else Path(cache_dir)
    scheme, colon, rest = id.partition(":")
    if colon:
        if scheme not in _OPENERS:
            kinds = " and ".join(f"'{kind}:FILE'" for kind in _OPENERS)
            raise UnknownGameError(f"no kind of game is called {scheme!r}; known kinds: {kinds}")
        opener = _OPENERS[scheme]
        known = settings_of(opener, without=_NO_SETTINGS)
        others = sorted(set(options) - set(known))
        if others:
            raise InputError(f"a {scheme} file takes no option but {', '.join(known)}, and got {', '.join(others)}")
        limit = _limit(max_moves, FILE_MAX_MOVES)
        return opener(rest, id=id, seed=seed, goal=goal, max_moves=limit, cache_dir=folder, **options)
    spec = spec_of(id)
    if not spec.installed and spec.extra is not None and spec.package is not None:
        raise MissingExtraError(f"the game {spec.id!r}", extra=spec.extra, package=spec.package)
    limit = _limit(max_moves, spec.default_max_moves)
    return _factory(spec)(spec, seed=seed, goal=goal, max_moves=limit, cache_dir=folder, **{**spec.options, **options})


def game_settings(id: str) -> dict[str, Setting]:
    """Return the settings of a game: the options that :func:`make` takes for it.

    Args:
        id: as for :func:`make`.

    Returns:
        The settings by name, with their defaults and meanings.

    Raises:
        UnknownGameError: there is no such game or kind of file.
    """
    scheme, colon, _ = id.partition(":")
    if colon:
        if scheme not in _OPENERS:
            raise UnknownGameError(f"no kind of game is called {scheme!r}; known kinds: {', '.join(_OPENERS)}")
        return settings_of(_OPENERS[scheme], without=_NO_SETTINGS)
    spec = spec_of(id)
    factory = _OPENERS["jericho"] if spec.package == "jericho" else _factory(spec)
    found = settings_of(factory, without=_NO_SETTINGS)
    return {name: replace(one, default=spec.options.get(name, one.default)) for name, one in found.items()}


def _factory(spec: GameSpec) -> Callable[..., Environment]:
    factory: Callable[..., Environment] = resolve_name(spec.entry_point)
    return factory


def _limit(given: float | None, default: int | None) -> int | None:
    if given is None:
        return default
    if isinstance(given, int | float) and not isinstance(given, bool):
        if given == math.inf:
            return None
        if given >= 1 and given == int(given):
            return int(given)
    raise InputError(f"max_moves must be a whole number, 1 or more, or math.inf for no limit, not {given!r}")


def _open_textworld(
    name: str,
    *,
    id: str,
    seed: int,
    goal: str | None,
    max_moves: int | None,
    cache_dir: Path | None,
    rename_cooking: bool = False,
) -> Environment:
    """Open a TextWorld file; ``cache_dir`` is ignored.

    Args:
        name: the path of the game, or its name.
        id: the id of the environment.
        seed: seeds the engine's random generator.
        goal: the task in words.
        max_moves: the limit of moves.
        cache_dir: ignored.
        rename_cooking: offer ``cook X with stove`` as ``fry X``, with the oven as ``roast X``, with the BBQ as
            ``grill X``.

    Returns:
        The environment.
    """
    from worldthread_lab.envs.cleaning import open_cleaning, places_file
    from worldthread_lab.envs.renamed import RenamedCooking
    from worldthread_lab.envs.textworld import open_textworld

    path = find_game_file(name, subfolder="textworld", suffixes=(".z8",))
    opener = open_cleaning if places_file(path).is_file() else open_textworld
    environment = opener(path, id=id, seed=seed, goal=goal, max_moves=max_moves)
    return RenamedCooking(environment) if rename_cooking else environment


def _open_jericho(
    name: str,
    *,
    id: str,
    seed: int,
    goal: str | None,
    max_moves: int | None,
    cache_dir: Path | None,
    valid_actions: bool | Literal["jericho"] = True,
    inventory: bool = True,
    stochastic: bool = False,
) -> Environment:
    """Open a Z-machine file.

    Args:
        name: the path of the game, or its name.
        id: the id of the environment.
        seed: seeds the engine's random generator.
        goal: the task in words.
        max_moves: the limit of moves.
        cache_dir: the folder in which valid actions are cached.
        valid_actions: true: worldthread's list of valid actions; "jericho": jericho's own, as published agents had it
            (needs the extra language); false: none. A list takes up to some seconds for a new state.
        inventory: whether the world looks at the inventory after every move; false: the player has to ask for it.
        stochastic: whether random events differ after each reset, so that no way back is sure.

    Returns:
        The environment.
    """
    from worldthread_lab.envs.jericho import open_jericho

    return open_jericho(
        name,
        id=id,
        seed=seed,
        goal=goal,
        max_moves=max_moves,
        cache_dir=cache_dir,
        valid_actions=valid_actions,
        inventory=inventory,
        stochastic=stochastic,
    )


_OPENERS: Mapping[str, Callable[..., Environment]] = {"jericho": _open_jericho, "textworld": _open_textworld}
"""For each kind of game file: the function that opens it."""


_HUNT = "worldthread_lab.envs.treasure_hunt:make_treasure_hunt"
_COOKING = "worldthread_lab.envs.cooking:make_cooking"
_CLEANING = "worldthread_lab.envs.cleaning:make_cleaning"


_SCIENCE = (
    ("boil", "Boil a substance."),
    ("melt", "Melt a substance."),
    ("freeze", "Freeze a substance."),
    ("change-the-state-of-matter-of", "Change the state of a substance."),
    ("use-thermometer", "Measure the temperature of a substance."),
    ("measure-melting-point-known-substance", "Measure the melting point of a substance that is named."),
    ("measure-melting-point-unknown-substance", "Measure the melting point of an unknown substance."),
    ("power-component", "Power an electrical component."),
    ("power-component-renewable-vs-nonrenewable-energy", "Power a component with the right kind of energy."),
    ("test-conductivity", "Find out whether a thing conducts electricity."),
    ("test-conductivity-of-unknown-substances", "Find out whether an unknown substance conducts electricity."),
    ("find-living-thing", "Find a living thing and bring it to a box."),
    ("find-non-living-thing", "Find a thing that is not alive and bring it to a box."),
    ("find-plant", "Find a plant and bring it to a box."),
    ("find-animal", "Find an animal and bring it to a box."),
    ("grow-plant", "Grow a plant from seed."),
    ("grow-fruit", "Grow a fruit."),
    ("chemistry-mix", "Make a substance by mixing others."),
    ("chemistry-mix-paint-secondary-color", "Mix two paints to a colour."),
    ("chemistry-mix-paint-tertiary-color", "Mix paints to a colour in two steps."),
    ("lifespan-longest-lived", "Find the animal that lives longest."),
    ("lifespan-shortest-lived", "Find the animal that lives shortest."),
    ("lifespan-longest-lived-then-shortest-lived", "Find the animals that live longest and shortest."),
    ("identify-life-stages-1", "Find the stages of the life of a plant."),
    ("identify-life-stages-2", "Find the stages of the life of an animal."),
    ("inclined-plane-determine-angle", "Find out which of two slopes is steeper."),
    ("inclined-plane-friction-named-surfaces", "Find out which of two named surfaces has more friction."),
    ("inclined-plane-friction-unnamed-surfaces", "Find out which of two unknown surfaces has more friction."),
    ("mendelian-genetics-known-plant", "Find out whether a trait of a plant is dominant."),
    ("mendelian-genetics-unknown-plant", "Find out whether a trait of an unknown plant is dominant."),
)
"""The tasks of ScienceWorld."""


def _register_builtin() -> None:
    register(
        "tiny-v1",
        "worldthread_lab.envs.fake:make_tiny",
        title="Tiny house",
        description="Find the key, open the locked chest, take the gem. Four rooms; needs no game engine.",
        default_max_moves=50,
    )
    hunts = (
        ("treasure-hunt-v1", "Treasure Hunt", "12 rooms and lockers, 4 keys, 7 points", 150),
        ("treasure-hunt-hard-v1", "Treasure Hunt, hard", "16 rooms and lockers, 5 keys, 8 points", 150),
        (
            "treasure-hunt-hardest-v1",
            "Treasure Hunt, hardest",
            "36 rooms and lockers, 7 keys, distracting things everywhere, 10 points",
            400,
        ),
    )
    for id, title, size, limit in hunts:
        register(
            id,
            _HUNT,
            title=title,
            description=f"Follow the chain of keys, lockers and notes to the treasure. {size}.",
            extra="games",
            package="textworld",
            default_max_moves=limit,
        )
    for id, title, limit in (
        ("cooking-v1", "Cooking", 150),
        ("cooking-hard-v1", "Cooking, hard", 150),
        ("cooking-hardest-v1", "Cooking, hardest", 200),
        ("cooking-level1-v1", "Cooking, level 1", 60),
        ("cooking-level2-v1", "Cooking, level 2", 60),
        ("cooking-level3-v1", "Cooking, level 3", 60),
        ("cooking-level4-v1", "Cooking, level 4", 60),
    ):
        register(
            id,
            _COOKING,
            title=title,
            description="Read the recipe, gather the ingredients, prepare them as it says, and eat the meal.",
            extra="games",
            package="textworld",
            default_max_moves=limit,
        )
    for name, title, description in (
        ("zork1", "Zork I", "Bring the treasures of the Great Underground Empire home to the trophy case."),
        ("zork3", "Zork III", "Find the Dungeon Master and take his place."),
        ("enchanter", "Enchanter", "Learn spells and overthrow the warlock Krill."),
        ("detective", "Detective", "Find out who murdered the mayor."),
        ("balances", "Balances", "Put the world back into balance with spells."),
        ("pentari", "Pentari", "A captain's weekend off in Bostwin, and an intruder in the palace."),
        ("deephome", "Deephome", "Prepare the abandoned city of the dwarves for the return of its people."),
        ("temple", "The Temple", "Find the way out of a nightmare city, and stop what is about to wake."),
        ("ludicorp", "The Ludicorp Mystery", "Find out why the office is deserted."),
        ("ztuu", "Zork: The Undiscovered Underground", "Explore newly found caves for the Grand Inquisitor."),
        ("lostpig", "Lost Pig", "Find the pig and bring it back to the farm."),
    ):
        register(
            f"{name}-v1",
            "worldthread_lab.envs.jericho:make_jericho",
            title=title,
            description=f"{description} Needs the game's file in $WORLDTHREAD_GAMES.",
            extra="games",
            package="jericho",
            default_max_moves=FILE_MAX_MOVES,
            options={"file": name},
        )
    register(
        "cleaning-v1",
        _CLEANING,
        title="Cleaning",
        description="Find the things that lie in the wrong room and put them where they belong.",
        extra="games",
        package="textworld",
        default_max_moves=200,
    )
    register(
        "nethack-v1",
        "worldthread_lab.envs.nethack:make_nethack",
        title="NetHack",
        description="Go down into the dungeon as deep as you can, and stay alive.",
        extra="nethack",
        package="nle",
        default_max_moves=1000,
    )
    for name, title, description in (
        ("arithmetic", "Arithmetic", "Solve a problem, and put as many things as that is into a box."),
        ("coin", "Coin Collector", "Search the house for a coin and take it."),
        ("cookingworld", "Cooking World", "Read the recipe, gather the ingredients, prepare and eat the meal."),
        ("mapreader", "Map Reader", "Bring a coin from one place to another, by a map."),
        ("peckingorder", "Pecking Order", "Follow a book of instructions that goes on changing."),
        ("simonsays", "Simon Says", "Do what Simon says."),
        ("sorting", "Sorting", "Put things into a box, the smallest quantity first."),
        ("twc", "TextWorld Common Sense", "Put things where they are usually kept."),
    ):
        register(
            f"textworldexpress-{name}-v1",
            "worldthread_lab.envs.textworld_express:make_textworld_express",
            title=f"{title} (TextWorldExpress)",
            description=description,
            extra="worlds",
            package="textworld_express",
            default_max_moves=100,
        )
    for task, description in _SCIENCE:
        register(
            f"scienceworld-{task}-v1",
            "worldthread_lab.envs.scienceworld:make_scienceworld",
            title="ScienceWorld",
            description=description,
            extra="worlds",
            package="scienceworld",
            default_max_moves=100,
        )


_register_builtin()
