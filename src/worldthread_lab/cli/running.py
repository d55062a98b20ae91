"""The options that ``play`` and ``sweep`` share, and the runs that they describe."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from worldthread import __version__
from worldthread.errors import InputError

if TYPE_CHECKING:
    from worldthread_lab.play.run import Run

_PARTS: Final = ("agent", "memory", "game")
"""The parts of a play that have settings."""

PlayerModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="The chat model of the agent, such as gpt-4o-mini; [bold]fake[/bold] answers at random, without a server. "
        "Default: $WORLDTHREAD_MODEL.",
    ),
]
AgentOption = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="Short for --set agent.NAME=VALUE. Repeatable."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PART.NAME=VALUE",
        help="A setting of the agent, its memory module or the game: agent.temperature=0.2, memory.width=5, "
        "game.valid_actions=false. Repeatable. [bold]worldthread settings[/bold] lists them.",
    ),
]
SettingsFileOption = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        metavar="FILE",
        help="A TOML file of settings, with the sections agent, memory and game. --set overrides it.",
    ),
]
DecisionsOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="The limit of decisions; a [bold]go to[/bold] of many moves is one."),
]
PromptsOption = Annotated[
    Path | None,
    typer.Option(
        "--prompts",
        envvar="WORLDTHREAD_PROMPTS",
        metavar="PATH",
        help="Prompts that replace those of the package: a file or a folder; see [bold]worldthread prompts[/bold].",
    ),
]
BudgetTokensOption = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Stop a play when its model has used N tokens.")
]
BudgetDollarsOption = Annotated[
    float | None, typer.Option(min=0, metavar="DOLLARS", help="Stop a play when its model has cost this much.")
]
AllowCodeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-code",
        metavar="NAME",
        help="Let the run use code that is not part of worldthread: the module of an agent, or the game file of a run "
        "that you did not play yourself. Repeatable.",
    ),
]


def names_in(texts: Sequence[str], option: str) -> list[str]:
    """Split the comma-separated names of a repeatable option.

    Args:
        texts: the values of the option.
        option: the name of the option, for the error message.

    Returns:
        The names, each once.

    Raises:
        InputError: the option was given without a name.
    """
    found = list(dict.fromkeys(name for text in texts for part in text.split(",") if (name := part.strip())))
    if texts and not found:
        raise InputError(f"{option} needs a name")
    return found


def seeds_in(text: str) -> list[int]:
    """Parse seeds such as ``1-50`` or ``3,7-9``; both ends of a range are included.

    Args:
        text: the value of ``--seeds``.

    Returns:
        The seeds, each once.

    Raises:
        InputError: the text is not of this form.
    """
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if match is None:
            raise InputError(f"--seeds must be numbers such as 1-50 or 3,7-9, not {text!r}")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise InputError(f"--seeds {part.strip()}: the last seed must not be smaller than the first")
        found += range(first, last + 1)
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class PlaySettings:
    """The settings of plays, each by name.

    Args:
        agent: those of agents.
        memory: those of memory modules.
        game: those of games.
    """

    agent: dict[str, Any] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)
    game: dict[str, Any] = field(default_factory=dict)


def settings_in(
    pairs: Sequence[str] | None, given: Sequence[str] | None = None, file: Path | None = None
) -> PlaySettings:
    """Parse the settings of plays.

    Args:
        pairs: the values of ``--option``, of the form ``NAME=VALUE``.
        given: the values of ``--set``, of the form ``PART.NAME=VALUE``.
        file: a TOML file with a table for each part, whose settings the others override.

    Returns:
        The settings; a value that is valid JSON (a number, ``true``, ``null``, ``[1, 2]``) is decoded, any other is
        text.

    Raises:
        InputError: a pair is not of this form, a part is unknown, or the file cannot be read.
    """
    settings = PlaySettings() if file is None else _settings_of_file(file)
    for pair in (*(f"agent.{pair}" for pair in pairs or ()), *(given or ())):
        name, equals, value = pair.partition("=")
        part, _, setting = name.strip().partition(".")
        if not equals or part not in _PARTS or not setting.isidentifier():
            raise InputError(
                f"a setting must be PART.NAME=VALUE, such as agent.temperature=0.2 (or --option temperature=0.2), not "
                f"{pair!r}; parts are: {', '.join(_PARTS)}"
            )
        try:
            getattr(settings, part)[setting] = json.loads(value)
        except ValueError:
            getattr(settings, part)[setting] = value
    return settings


def _settings_of_file(file: Path) -> PlaySettings:
    try:
        with file.open("rb") as stream:
            parts = tomllib.load(stream)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the settings in {file}: {error}") from error
    for part, settings in parts.items():
        if part not in _PARTS or not isinstance(settings, dict):
            raise InputError(f"{file}: {part!r} is not a section of settings; sections are: {', '.join(_PARTS)}")
    return PlaySettings(**parts)


def prompts_of_run(path: Path | None) -> str:
    """Return the prompts that replace those of the package, as a run holds them."""
    from worldthread.models.prompts import PromptSet, load_prompts

    return (PromptSet() if path is None else load_prompts(path)).as_json()


def runs_of(
    games: Sequence[str],
    agents: Sequence[str],
    memories: Sequence[str],
    seeds: Sequence[int],
    attempts: Sequence[int],
    *,
    model: str | None,
    settings: PlaySettings,
    budget_tokens: int | None = None,
    budget_dollars: float | None = None,
    allow_code: Collection[str] = (),
    **fields: Any,
) -> list[Run]:
    """Return every combination of games, agents, memory modules, seeds and attempts that makes a difference.

    An agent without a memory module plays once for all modules, and an agent without a seed once for all attempts. Each
    setting goes to the agents that accept it.

    Args:
        games: names that :func:`worldthread_lab.envs.make` accepts.
        agents: names that :func:`worldthread_lab.agents.agent_class` accepts.
        memories: names of memory modules; empty: the default of each agent.
        seeds: the seeds of the games.
        attempts: the seeds of the agents.
        model: the name of the model; ``None``: use the environment and the configuration file.
        settings: the settings of agents, memory modules and games. Each goes to those that have it.
        budget_tokens: the limit of tokens of each run with a model.
        budget_dollars: the limit of dollars of each run with a model.
        allow_code: see :func:`worldthread_lab.agents.agent_class`.
        fields: further fields of every :class:`~worldthread_lab.play.run.Run`.

    Returns:
        The runs.

    Raises:
        InputError: an agent does not exist or is not allowed, or no agent, memory module or game accepts a setting
            or memory module.
        ModelError, GameError, MissingExtraError: see :func:`~worldthread_lab.play.runs.require_playable`.
    """
    from worldthread.models.config import model_name
    from worldthread.support.settings import settings_of
    from worldthread_lab.agents import agent_class, agent_options, agent_settings
    from worldthread_lab.agents.memory_modules import memory_module_class
    from worldthread_lab.envs import spec_of
    from worldthread_lab.envs.registry import game_settings
    from worldthread_lab.play.run import Run
    from worldthread_lab.play.run_model import prompt_length
    from worldthread_lab.play.runs import default_module, require_playable

    kinds = {agent: agent_class(agent, allow_code) for agent in agents}
    known = {agent: agent_options(kind) for agent, kind in kinds.items()}
    of_agents = {agent: agent_settings(kind) for agent, kind in kinds.items()}
    _require_known("agent", settings.agent, of_agents)
    if memories and not any("memory_module" in options for options in known.values()):
        raise InputError(f"{' and '.join(agents)}: no agent here uses a memory module; leave out {memories[0]!r}")
    defaults = {default_module(kind) for kind in kinds.values()} - {None}
    used = {str(name) for name in memories or defaults}
    of_modules = {name: settings_of(memory_module_class(name)) for name in sorted(used)}
    _require_known("memory module", settings.memory, of_modules)
    ids = list(dict.fromkeys(game if ":" in game else spec_of(game).id for game in games))
    of_games = {game: game_settings(game) if settings.game else {} for game in ids}
    _require_known("game", settings.game, of_games)
    selected = model_name(model) if any(kind.asks_model for kind in kinds.values()) else ""
    runs: list[Run] = []
    for game in ids:
        game_options = _json({name: value for name, value in settings.game.items() if name in of_games[game]})
        for agent in agents:
            options = known[agent]
            own = {name: value for name, value in settings.agent.items() if name in of_agents[agent]}
            more = dict(fields, version=__version__, options=_json(own), game_options=game_options)
            if kinds[agent].asks_model:
                more["options"] = _json(prompt_length(kinds[agent], model) | own)
                more |= {"model": selected, "budget_tokens": budget_tokens, "budget_dollars": budget_dollars}
            modules = list(memories) if memories and "memory_module" in options else [""]
            for module in modules:
                first = len(runs)
                name = module or default_module(kinds[agent])
                of_module = of_modules.get(name or "", {})
                more["memory_options"] = _json({n: v for n, v in settings.memory.items() if n in of_module})
                runs += [
                    Run(game, agent, seed, memory=module, attempt=attempt, **more)
                    for seed in seeds
                    for attempt in (attempts if "seed" in options else attempts[:1])
                ]
                require_playable(runs[first], model, allow_code=allow_code)
    return runs


def _require_known(what: str, given: Mapping[str, Any], known: Mapping[str, Collection[str]]) -> None:
    """Check that each setting is one of an agent, memory module or game that plays."""
    for name in given:
        if not any(name in settings for settings in known.values()):
            listed = "; ".join(f"{owner}: {', '.join(settings) or 'none'}" for owner, settings in known.items())
            raise InputError(f"no {what} here has the setting {name!r}; settings are: {listed or 'none'}")


def _json(settings: Mapping[str, Any]) -> str:
    import orjson

    try:
        return orjson.dumps(settings, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError as error:
        raise InputError(f"settings must be numbers, texts, true or false: {error}") from None
