"""The options that ``play`` and ``sweep`` share, and the runs that they describe."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from worldthread import __version__
from worldthread.errors import InputError

if TYPE_CHECKING:
    from worldthread.play.run import Run

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
    typer.Option("--option", metavar="NAME=VALUE", help="A setting of the agent, such as temperature=0.2. Repeatable."),
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


def settings_in(pairs: Sequence[str] | None) -> dict[str, Any]:
    """Parse settings of the form ``NAME=VALUE``.

    Args:
        pairs: the values of ``--option``.

    Returns:
        The settings; a value that is valid JSON (a number, ``true``, ``null``) is decoded, any other is text.

    Raises:
        InputError: a pair is not of this form.
    """
    import json

    settings: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or not name.strip().isidentifier():
            raise InputError(f"--option must be NAME=VALUE, such as temperature=0.2, not {pair!r}")
        try:
            settings[name.strip()] = json.loads(value)
        except ValueError:
            settings[name.strip()] = value
    return settings


def runs_of(
    games: Sequence[str],
    agents: Sequence[str],
    memories: Sequence[str],
    seeds: Sequence[int],
    attempts: Sequence[int],
    *,
    model: str | None,
    settings: dict[str, Any],
    budget_tokens: int | None = None,
    budget_dollars: float | None = None,
    allow_code: Collection[str] = (),
    **fields: Any,
) -> list[Run]:
    """Return every combination of games, agents, memory modules, seeds and attempts that makes a difference.

    An agent without a memory module plays once for all modules, and an agent without a seed once for all attempts. Each
    setting goes to the agents that accept it.

    Args:
        games: names that :func:`worldthread.envs.make` accepts.
        agents: names that :func:`worldthread.agents.agent_class` accepts.
        memories: names of memory modules; empty: the default of each agent.
        seeds: the seeds of the games.
        attempts: the seeds of the agents.
        model: the name of the model; ``None``: use the environment and the configuration file.
        settings: arguments of the agents.
        budget_tokens: the limit of tokens of each run with a model.
        budget_dollars: the limit of dollars of each run with a model.
        allow_code: see :func:`worldthread.agents.agent_class`.
        fields: further fields of every :class:`~worldthread.play.run.Run`.

    Returns:
        The runs.

    Raises:
        InputError: an agent does not exist or is not allowed, or no agent accepts a setting or memory module.
        ModelError, GameError, MissingExtraError: see :func:`~worldthread.play.runs.require_playable`.
    """
    import orjson

    from worldthread.agents import agent_class, agent_options
    from worldthread.envs import spec_of
    from worldthread.play.run import Run
    from worldthread.play.run_model import model_name
    from worldthread.play.runs import require_playable

    kinds = {agent: agent_class(agent, allow_code) for agent in agents}
    known = {agent: agent_options(kind) for agent, kind in kinds.items()}
    for setting in settings:
        if not any(setting in options for options in known.values()):
            raise InputError(f"{' and '.join(agents)}: no agent here has the setting {setting!r} (--option)")
    if memories and not any("memory_module" in options for options in known.values()):
        raise InputError(f"{' and '.join(agents)}: no agent here uses a memory module; leave out {memories[0]!r}")
    selected = model_name(model) if any(kind.asks_model for kind in kinds.values()) else ""
    runs: list[Run] = []
    for game in dict.fromkeys(game if ":" in game else spec_of(game).id for game in games):
        for agent in agents:
            options = known[agent]
            own = {name: value for name, value in settings.items() if name in options}
            more = dict(fields, version=__version__, options=orjson.dumps(own, option=orjson.OPT_SORT_KEYS).decode())
            if kinds[agent].asks_model:
                more |= {"model": selected, "budget_tokens": budget_tokens, "budget_dollars": budget_dollars}
            modules = list(memories) if memories and "memory_module" in options else [""]
            for module in modules:
                first = len(runs)
                runs += [
                    Run(game, agent, seed, memory=module, attempt=attempt, **more)
                    for seed in seeds
                    for attempt in (attempts if "seed" in options else attempts[:1])
                ]
                require_playable(runs[first], model, allow_code=allow_code)
    return runs
