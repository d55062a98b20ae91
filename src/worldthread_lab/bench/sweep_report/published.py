"""Figures from published tables for comparison with ours, read from ``published.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, Final

import orjson

from worldthread_lab.play.run import Run

SWITCHES: Final = ("use_mar", "use_global_memory", "use_frontier")
"""Settings of the agent ``glow`` that Table 2 of its paper turns off."""
EXPLORATIONS: Final = 3
"""Default number of attempts of the agent ``glow`` from one state."""

Figure = float | tuple[float, float]
"""A mean, or a mean with its standard deviation."""


@cache
def published() -> dict[str, Any]:
    """Return the tables of the file."""
    return tomllib.loads(files("worldthread_lab.bench.sweep_report").joinpath("published.toml").read_text("utf-8"))


def plain_name(game: str) -> str:
    """Return a game without kind, folders, extension and version: ``zork1`` for ``jericho:games/zork1.z5``."""
    name = re.sub(r".*[:/\\]", "", game)
    return re.sub(r"(\.z\d|\.ulx|-v\d+)$", "", name)


def settings_of(player: Run) -> dict[str, Any]:
    """Return the options of a player's agent."""
    settings: dict[str, Any] = orjson.loads(player.options)
    return settings


def switched_off(player: Run) -> frozenset[str]:
    """Return the parts that a ``glow`` player turns off; empty for any other agent."""
    if player.agent != "glow":
        return frozenset()
    settings = settings_of(player)
    return frozenset(name for name in SWITCHES if not settings.get(name, True))


def explorations_of(player: Run) -> int:
    """Return the number of attempts that a ``glow`` player makes from one state."""
    number = settings_of(player).get("explorations", EXPLORATIONS)
    return number if type(number) is int else EXPLORATIONS


def without_ablation(player: Run) -> Run:
    """Return the full ``glow`` player of which a player is an ablation; any other player unchanged."""
    if player.agent != "glow":
        return player
    rest = {name: value for name, value in settings_of(player).items() if name not in (*SWITCHES, "explorations")}
    return replace(player, options=orjson.dumps(rest, option=orjson.OPT_SORT_KEYS).decode())


def is_varied(player: Run) -> bool:
    """Return whether a ``glow`` player makes a different number of attempts from one state than the default."""
    return player.agent == "glow" and explorations_of(player) != EXPLORATIONS


def is_ablation(player: Run) -> bool:
    """Return whether a player belongs in Table 2 or 3 of the GLoW paper rather than Table 1."""
    return bool(switched_off(player)) or is_varied(player)


def is_set_as_published(player: Run, paper: str, varied: Collection[str]) -> bool:
    """Return whether a player has the settings of a paper, so that their figures can be compared.

    Args:
        player: the player.
        paper: the name of the paper in the tables.
        varied: options of the agent that the paper varies, which may have any value.
    """
    wanted = published()[paper]["settings"]
    options = {name: value for name, value in settings_of(player).items() if name not in varied}
    changed = (player.goal, player.budget_tokens, player.budget_dollars, player.decisions)
    return (
        options == wanted["options"]
        and orjson.loads(player.game_options) == wanted["game_options"]
        and (player.memory_options, player.prompts) == ("{}", "{}")
        and player.valid_actions
        and all(value is None for value in changed)
    )


def _is_as_in_glow(player: Run) -> bool:
    return is_set_as_published(player, "glow", (*SWITCHES, "explorations"))


def published_model(player: Run) -> str:
    """Return the model of the GLoW paper to compare a player with: the same model, else the paper's first."""
    known: list[str] = list(published()["glow"]["models"])
    name = player.model.rpartition("/")[2].casefold()
    fitting = [model for model in known if name.startswith(model)]
    return max(fitting, key=len) if fitting else known[0]


def glow_score(player: Run, game: str) -> Figure | None:
    """Return the best score of such a player in a game in the GLoW paper."""
    if is_ablation(player) or not _is_as_in_glow(player):
        return None
    scores = published()["glow"]["best_score"][published_model(player)]
    return _figure(scores.get(player.agent, {}).get(plain_name(game)))


def method_score(method: str, game: str) -> Figure | None:
    """Return the best score of a method that is not one of our agents."""
    return _figure(published()["glow"]["methods"]["best_score"][method].get(plain_name(game)))


def ablation_score(player: Run, game: str) -> Figure | None:
    """Return the best score of ``glow`` without the parts that a player turns off."""
    if not _is_as_in_glow(player):
        return None
    off = switched_off(player)
    for row in published()["glow"]["ablations"]["rows"]:
        if frozenset(row["off"]) == off:
            return _figure(row["best_score"].get(plain_name(game)))
    return None


def explorations_score(player: Run, game: str) -> Figure | None:
    """Return the best score of ``glow`` with the number of attempts from one state that a player makes."""
    if not _is_as_in_glow(player):
        return None
    scores = published()["glow"]["explorations"]["best_score"]
    return _figure(scores.get(str(explorations_of(player)), {}).get(plain_name(game)))


def glow_costs(player: Run) -> dict[str, float] | None:
    """Return tokens (``input``, ``output``, ``total``) and ``dollars`` of a run of 1,000 moves in the GLoW paper."""
    if is_ablation(player) or not _is_as_in_glow(player):
        return None
    costs: dict[str, float] | None = published()["glow"]["costs"].get(published_model(player), {}).get(player.agent)
    return costs


def arigraph_game(game: str) -> str | None:
    """Return our name of a game's row in the tables of the AriGraph paper."""
    name = plain_name(game)
    return next((kind for kind, names in published()["arigraph"]["games"].items() if name in names), None)


def memory_score(player: Run, game: str) -> Figure | None:
    """Return the normalised score of ``ariadne`` with a memory module in the AriGraph paper."""
    if player.agent != "ariadne" or not is_set_as_published(player, "arigraph", ("explore",)):
        return None
    module = player.memory if settings_of(player).get("explore", True) else f"{player.memory}, explore=false"
    return _figure(published()["arigraph"]["normalized"].get(module, {}).get(arigraph_game(game)))


def other_memory_score(name: str, game: str) -> Figure | None:
    """Return the normalised score of a method in the AriGraph paper that is not one of our players."""
    return _figure(published()["arigraph"]["others"][name].get(arigraph_game(game)))


def _figure(value: Any) -> Figure | None:
    if isinstance(value, list):
        mean, deviation = value
        return float(mean), float(deviation)
    return None if value is None else float(value)
