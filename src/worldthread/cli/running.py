"""What the commands that play share: their options, and the runs that follow from them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from worldthread import __version__
from worldthread.errors import InputError

if TYPE_CHECKING:
    from worldthread.play.runs import Run

PlayerModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="The chat model of agents that ask one; [bold]fake[/bold] answers at random. Default: $WORLDTHREAD_MODEL.",
    ),
]
AgentOption = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="A setting of the agent, such as temperature=0.2; repeatable."),
]
BudgetTokensOption = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Tokens that the model may use in one play.")
]
BudgetDollarsOption = Annotated[float | None, typer.Option(min=0, metavar="SUM", help="Dollars that it may cost.")]


def names_in(texts: Sequence[str], option: str) -> list[str]:
    """Names separated by commas, of an option that may be given several times; each once.

    Raises:
        InputError: the option was given, and names nothing.
    """
    found = list(dict.fromkeys(name for text in texts for part in text.split(",") if (name := part.strip())))
    if texts and not found:
        raise InputError(f"{option} wants a name")
    return found


def seeds_in(text: str) -> list[int]:
    """Seeds from text such as ``1-50`` or ``3,7-9``.

    Raises:
        InputError: the text names no seeds.
    """
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if match is None:
            raise InputError(f"--seeds wants numbers such as 1-50 or 3,7-9, not {text!r}")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise InputError(f"--seeds {part.strip()}: the last seed is before the first")
        found += range(first, last + 1)
    return list(dict.fromkeys(found))


def settings_in(pairs: Sequence[str] | None) -> dict[str, Any]:
    """Settings from ``NAME=VALUE``: a value is JSON where it can be read as such (numbers, true, null), else text.

    Raises:
        InputError: one is not of that form.
    """
    import json

    settings: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or not name.strip().isidentifier():
            raise InputError(f"--option wants NAME=VALUE, such as temperature=0.2, not {pair!r}")
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
    **fields: Any,
) -> list[Run]:
    """Every combination, as far as it makes a difference to the agent.

    An agent that asks no memory module is played once for all of them, one that takes no seed once for all attempts,
    and settings go to the agents that take them.

    Args:
        games: as :func:`worldthread.envs.make` takes them.
        agents: as :func:`worldthread.agents.agent_class` takes them.
        memories: names of memory modules; none: each agent's own choice.
        seeds: of the games.
        attempts: seeds of the agents.
        model: names the model; ``None``: what the environment and the configuration file say.
        settings: arguments of the agents.
        budget_tokens, budget_dollars: of each run that asks a model.
        fields: of every :class:`~worldthread.play.runs.Run`.

    Raises:
        InputError: a name or a setting is of no agent.
        ModelError, GameError, MissingExtraError: see :meth:`Run.require_playable`.
    """
    import orjson

    from worldthread.agents import agent_class, agent_options
    from worldthread.envs import spec_of
    from worldthread.play.run_model import model_name
    from worldthread.play.runs import Run

    kinds = {agent: agent_class(agent) for agent in agents}
    known = {agent: agent_options(kind) for agent, kind in kinds.items()}
    for setting in settings:
        if not any(setting in options for options in known.values()):
            raise InputError(f"{' and '.join(agents)}: no such agent takes the setting {setting!r} (--option)")
    if memories and not any("memory_module" in options for options in known.values()):
        raise InputError(f"{' and '.join(agents)}: no such agent asks a memory module; leave {memories[0]!r} out")
    asked = model_name(model) if any(kind.asks_model for kind in kinds.values()) else ""
    runs: list[Run] = []
    for game in dict.fromkeys(game if ":" in game else spec_of(game).id for game in games):
        for agent in agents:
            options = known[agent]
            own = {name: value for name, value in settings.items() if name in options}
            more = dict(fields, version=__version__, options=orjson.dumps(own, option=orjson.OPT_SORT_KEYS).decode())
            if kinds[agent].asks_model:
                more |= {"model": asked, "budget_tokens": budget_tokens, "budget_dollars": budget_dollars}
            modules = list(memories) if memories and "memory_module" in options else [""]
            for module in modules:
                begun = len(runs)
                runs += [
                    Run(game, agent, seed, memory=module, attempt=attempt, **more)
                    for seed in seeds
                    for attempt in (attempts if "seed" in options else attempts[:1])
                ]
                runs[begun].require_playable(model)
    return runs
