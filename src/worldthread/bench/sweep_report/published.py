"""Figures of published tables, to stand beside our own: ``published.toml``."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, Final

import orjson

from worldthread.play.run import Run

SWITCHES: Final = ("use_mar", "use_global_memory", "use_frontier")
"""Settings of the agent ``glow`` that Table 2 of its paper turns off."""
EXPLORATIONS: Final = 3
"""Attempts from one state, as the agent ``glow`` makes them unless told otherwise."""

Figure = float | tuple[float, float]
"""A mean, or a mean with its standard deviation."""


@cache
def published() -> dict[str, Any]:
    """The tables, as the file holds them."""
    return tomllib.loads(files("worldthread.bench.sweep_report").joinpath("published.toml").read_text("utf-8"))


def plain_name(game: str) -> str:
    """A game without kind, folders, ending and version: ``zork1`` of ``zork1-v1`` and ``jericho:games/zork1.z5``."""
    name = re.sub(r".*[:/\\]", "", game)
    return re.sub(r"(\.z\d|\.ulx|-v\d+)$", "", name)


def settings_of(player: Run) -> dict[str, Any]:
    """The arguments of an agent."""
    settings: dict[str, Any] = orjson.loads(player.options)
    return settings


def switched_off(player: Run) -> frozenset[str]:
    """Which parts a ``glow`` plays without; none of any other agent."""
    if player.agent != "glow":
        return frozenset()
    settings = settings_of(player)
    return frozenset(name for name in SWITCHES if not settings.get(name, True))


def explorations_of(player: Run) -> int:
    """How many attempts a ``glow`` makes from one state."""
    return int(settings_of(player).get("explorations", EXPLORATIONS))


def whole(player: Run) -> Run:
    """The ``glow`` that a player is an ablation of; any other player as it is."""
    if player.agent != "glow":
        return player
    rest = {name: value for name, value in settings_of(player).items() if name not in (*SWITCHES, "explorations")}
    return replace(player, options=orjson.dumps(rest, option=orjson.OPT_SORT_KEYS).decode())


def is_varied(player: Run) -> bool:
    """Whether a player is a ``glow`` that makes another number of attempts from one state than usual."""
    return player.agent == "glow" and explorations_of(player) != EXPLORATIONS


def is_ablation(player: Run) -> bool:
    """Whether a player belongs into Table 2 or 3 of the GLoW paper rather than 1."""
    return bool(switched_off(player)) or is_varied(player)


def model_beside(player: Run) -> str:
    """The model of the GLoW paper whose figures stand beside a player: its own one, else the paper's first."""
    known: list[str] = list(published()["glow"]["models"])
    name = player.model.rpartition("/")[2].casefold()
    fitting = [model for model in known if name.startswith(model)]
    return max(fitting, key=len) if fitting else known[0]


def glow_score(player: Run, game: str) -> Figure | None:
    """The best score that the GLoW paper has of such a player in a game."""
    if is_ablation(player):
        return None
    scores = published()["glow"]["best_score"][model_beside(player)]
    return _figure(scores.get(player.agent, {}).get(plain_name(game)))


def method_score(method: str, game: str) -> Figure | None:
    """The best score of a method that is none of our agents."""
    return _figure(published()["glow"]["methods"]["best_score"][method].get(plain_name(game)))


def ablation_score(off: frozenset[str], game: str) -> Figure | None:
    """The best score of ``glow`` without some of its parts."""
    for row in published()["glow"]["ablations"]["rows"]:
        if frozenset(row["off"]) == off:
            return _figure(row["best_score"].get(plain_name(game)))
    return None


def explorations_score(number: int, game: str) -> Figure | None:
    """The best score of ``glow`` with another number of attempts from one state."""
    scores = published()["glow"]["explorations"]["best_score"]
    return _figure(scores.get(str(number), {}).get(plain_name(game)))


def glow_costs(player: Run) -> dict[str, float] | None:
    """Tokens (``input``, ``output``, ``total``) and ``dollars`` of a run of 1,000 moves."""
    if is_ablation(player):
        return None
    costs: dict[str, float] | None = published()["glow"]["costs"].get(model_beside(player), {}).get(player.agent)
    return costs


def arigraph_game(game: str) -> str | None:
    """What the AriGraph paper's tables call a game, in our words."""
    name = plain_name(game)
    return next((kind for kind, names in published()["arigraph"]["games"].items() if name in names), None)


def memory_score(player: Run, game: str) -> Figure | None:
    """The normalised score that the AriGraph paper has of ``ariadne`` with a memory module."""
    if player.agent != "ariadne":
        return None
    module = player.memory if settings_of(player).get("explore", True) else f"{player.memory}, explore=false"
    return _figure(published()["arigraph"]["normalized"].get(module, {}).get(arigraph_game(game)))


def other_memory_score(name: str, game: str) -> Figure | None:
    """The same of what has no counterpart among our players."""
    return _figure(published()["arigraph"]["others"][name].get(arigraph_game(game)))


def _figure(value: Any) -> Figure | None:
    if isinstance(value, list):
        mean, deviation = value
        return float(mean), float(deviation)
    return None if value is None else float(value)
