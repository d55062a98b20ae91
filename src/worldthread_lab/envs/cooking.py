"""Cooking games: find the recipe, gather its ingredients, cut and cook them as it says, eat the meal.

The games come from TextWorld's own generator ``tw-cooking``, with the settings of the AriGraph paper (appendix E):
three sizes of a house, and the four levels of the paper's comparison with reinforcement learning.

==================  =====  ===========  ===  ====  ============  =============  =========
id                  rooms  ingredients  cut  cook  closed doors  carry at most  max score
==================  =====  ===========  ===  ====  ============  =============  =========
cooking-v1          9      3            yes  yes   no            no limit       11
cooking-hard-v1     12     4            yes  yes   no            no limit       14
cooking-hardest-v1  12     5            yes  yes   yes           5 things       17
cooking-level1-v1   1      1            yes  no    no            no limit       4
cooking-level2-v1   1      1            yes  yes   no            no limit       5
cooking-level3-v1   9      1            no   no    no            no limit       3
cooking-level4-v1   6      3            yes  yes   no            no limit       11
==================  =====  ===========  ===  ====  ============  =============  =========

There is one point for each ingredient found, each right cut, each right cooking, for the meal and for eating it. In
games without cutting or cooking, the ingredients are already as the recipe wants them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from worldthread_lab.envs.base import Environment
from worldthread_lab.envs.renamed import RenamedCooking
from worldthread_lab.envs.spec import GameSpec
from worldthread_lab.envs.textworld import compile_game, generated_textworld

GENERATOR_VERSION: Final = "1"
"""Version of everything that decides a game besides its seed and the version of textworld."""

GOAL: Final = (
    "You are hungry. Read the cookbook in the kitchen: its recipe lists the ingredients and how to prepare each. "
    "Find the ingredients, prepare each exactly as the recipe says, then prepare the meal in the kitchen and eat it. "
    "To fry something, cook it with the stove; to roast it, cook it with the oven; to grill it, cook it with the BBQ. "
    "Slicing, chopping and dicing need a knife. Leave alone what is already as the recipe wants it: an ingredient "
    "that is cooked twice, prepared in another way or eaten is lost, and the meal with it."
)
"""The task in words, with the use of each appliance, which the recipe does not explain."""


def _settings(
    *, rooms: int, ingredients: int, cut: bool, cook: bool, closed: bool = False, limited: bool = False
) -> Mapping[str, Any]:
    """Return settings of ``tw-cooking``; every ingredient has to be found, the player carries none at the start."""
    return {
        "go": rooms,
        "recipe": ingredients,
        "take": ingredients,
        "cut": cut,
        "cook": cook,
        "open": closed,
        "drop": limited,
        "recipe_seed": 0,
        "split": None,
    }


TASKS: Final[Mapping[str, Mapping[str, Any]]] = {
    "cooking-v1": _settings(rooms=9, ingredients=3, cut=True, cook=True),
    "cooking-hard-v1": _settings(rooms=12, ingredients=4, cut=True, cook=True),
    "cooking-hardest-v1": _settings(rooms=12, ingredients=5, cut=True, cook=True, closed=True, limited=True),
    "cooking-level1-v1": _settings(rooms=1, ingredients=1, cut=True, cook=False),
    "cooking-level2-v1": _settings(rooms=1, ingredients=1, cut=True, cook=True),
    "cooking-level3-v1": _settings(rooms=9, ingredients=1, cut=False, cook=False),
    "cooking-level4-v1": _settings(rooms=6, ingredients=3, cut=True, cook=True),
}
"""Settings of ``tw-cooking`` by id."""


def make_cooking(
    spec: GameSpec,
    *,
    seed: int,
    goal: str | None,
    max_moves: int | None,
    cache_dir: Path | None,
    rename_cooking: bool = False,
) -> Environment:
    """Make a cooking game; the factory of the ids in :data:`TASKS`.

    Args:
        spec: the registered game.
        seed: seed of :meth:`~worldthread_lab.envs.base.Environment.reset` when it gets none.
        goal: the task in words, instead of :data:`GOAL`.
        max_moves: the episode is truncated after this many moves; ``None``: no limit.
        cache_dir: root of the cache of generated games.
        rename_cooking: wrap the game in :class:`~worldthread_lab.envs.renamed.RenamedCooking`.

    Returns:
        The world.
    """
    environment = generated_textworld(
        spec,
        partial(_build, spec.id),
        version=GENERATOR_VERSION,
        seed=seed,
        goal=goal,
        max_moves=max_moves,
        cache_dir=cache_dir,
    )
    return RenamedCooking(environment) if rename_cooking else environment


def generate(id: str, seed: int) -> Any:
    """Generate the ``textworld.Game`` of an id and a seed, the same in every process, with a walkthrough."""
    import textworld
    from textworld.challenges.tw_cooking import cooking

    # the id is part of the seed: otherwise games of different sizes would share rooms and recipe
    dice = random.Random(f"{id}/{seed}")
    options = textworld.GameOptions()
    options.seeds = {part: dice.randrange(2**16) for part in ("map", "objects", "quest", "grammar")}
    game = cooking.make(dict(TASKS[id]), options)
    for quest in game.quests:
        # the challenge lists these events in the order of a set, which differs between processes
        quest.fail_events = tuple(sorted(quest.fail_events, key=_condition_text))
    game.objective = GOAL
    return game


def _build(id: str, seed: int, path: Path) -> None:
    compile_game(generate(id, seed), path)


def _condition_text(event: Any) -> list[str]:
    return sorted(str(proposition) for proposition in event.condition.preconditions)
