"""The description of a run: the game, the agent and every setting that determines one play."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final

from worldthread.errors import InputError, ModelConfigError
from worldthread.graph import TemporalGraph
from worldthread.models.config import FAKE_MODEL
from worldthread.models.prompts import use_prompts
from worldthread.support.settings import as_arguments, require_settings, settings_of
from worldthread_lab.agents import Agent, AgentMemory, agent_class, agent_options, agent_settings
from worldthread_lab.agents.memory_modules import memory_module_class
from worldthread_lab.play.loop import Play
from worldthread_lab.play.run import Run, decode_options, run_prompts
from worldthread_lab.play.run_model import RunModel, configured_model

if TYPE_CHECKING:
    from worldthread.models.chat import ChatModel


ORACLE: Final = "oracle"
"""The memory module that gets the true state: not a memory, but an upper bound for what a memory can achieve."""


def require_playable(run: Run, argument: str | None = None, *, allow_code: Collection[str] = ()) -> None:
    """Check all names and settings, for example before the first of many plays.

    Args:
        run: the run.
        argument: the name of the model as given by the caller; see
            :func:`~worldthread_lab.play.run_model.recorded_model`.
        allow_code: see :func:`worldthread_lab.agents.agent_class`.

    Raises:
        InputError: the agent does not exist, is not allowed or does not accept an argument, or a budget is not above 0.
        ModelConfigError: the agent needs a model, and none can be reached as configured; or the run has a budget in
            dollars, and the price of the model is not known.
        GameError: the game does not exist.
        MissingExtraError: the engine of the game is not installed.
    """
    with ExitStack() as stack:
        model = None
        if run.model:
            inner, settings = configured_model(run, argument, stack)
            model = RunModel(inner, max_tokens=run.budget_tokens, max_dollars=run.budget_dollars, **settings)
        stack.enter_context(opened(run, model=model, allow_code=allow_code))


def make_player(
    run: Run,
    memory: AgentMemory,
    *,
    name: str = "play",
    model: ChatModel | None = None,
    allow_code: Collection[str] = (),
    **more: Any,
) -> Agent:
    """Create the agent of a run.

    Args:
        run: the run, which names the agent and its arguments.
        memory: the memory to which the agent adds its episodes.
        name: the name of the play, which is the source of its episodes.
        model: the chat model, passed to an agent that calls one.
        allow_code: see :func:`worldthread_lab.agents.agent_class`.
        more: further arguments of the agent.

    Returns:
        The agent.

    Raises:
        InputError: the agent does not exist, or does not accept an argument.
        ModelConfigError: the agent needs a model, and none is given.
    """
    kind = agent_class(run.agent, allow_code)
    known, settings = agent_options(kind), agent_settings(kind)
    options = decode_options(run.options, "the options of an agent")
    require_settings(f"the agent {run.agent!r}", settings, options)
    options = as_arguments(kind, settings, options)
    options = {**kind.former_options.get(run.rules, {}), **options}
    given: dict[str, Any] = {"run": name, "use_valid_actions": run.valid_actions, "seed": run.attempt}
    if kind.asks_model:
        if model is None:
            raise ModelConfigError(
                f"the agent {run.agent!r} needs a chat model: give --model NAME or set $WORLDTHREAD_MODEL "
                f"(--model {FAKE_MODEL} answers at random, to try the agent without a model)"
            )
        given["model"] = model
    if run.memory:
        if "memory_module" not in known:
            raise InputError(f"the agent {run.agent!r} does not use a memory module: leave out {run.memory!r}")
        given["memory_module"] = run.memory
    if module_options := decode_options(run.memory_options, "the settings of a memory module"):
        module = run.memory or default_module(kind)
        if module is None:
            raise InputError(f"the agent {run.agent!r} does not use a memory module: leave out its settings")
        require_settings(f"the memory module {module!r}", settings_of(memory_module_class(module)), module_options)
        given["memory_settings"] = module_options
    make: Callable[..., Agent] = kind
    return make(memory, **{name: value for name, value in given.items() if name in known}, **options, **more)


def default_module(kind: type[Agent]) -> str | None:
    """Return the name of the memory module that an agent uses unless told otherwise; ``None`` when it uses none."""
    if "memory_module" not in agent_options(kind):
        return None
    return str(settings_of(kind)["memory_module"].default)


def limit_of(run: Run) -> int | None:
    """Return the limit of moves of a run: its own, else that of the game; ``None``: no limit."""
    from worldthread_lab.envs import spec_of
    from worldthread_lab.envs.registry import FILE_MAX_MOVES

    if run.steps is not None:
        return run.steps
    return FILE_MAX_MOVES if ":" in run.game else spec_of(run.game).default_max_moves


@contextmanager
def opened(
    run: Run,
    *,
    name: str = "play",
    memory: AgentMemory | None = None,
    graph: TemporalGraph | None = None,
    model: RunModel | None = None,
    allow_code: Collection[str] = (),
    **more: Any,
) -> Iterator[Play]:
    """Open the game of a run and create its agent.

    Args:
        run: the run.
        name: the name of the play, which is the source of its episodes.
        memory: the memory to which the agent adds its episodes; ``None``: a graph in RAM.
        graph: the graph of ``memory``.
        model: the chat model, passed to an agent that calls one.
        allow_code: see :func:`worldthread_lab.agents.agent_class`.
        more: further arguments of the agent.

    Yields:
        The play, before its first step.

    Raises:
        InputError, GameError, MissingExtraError, ModelConfigError: see
            :func:`~worldthread_lab.play.runs.require_playable`.
    """
    from worldthread_lab.envs import make
    from worldthread_lab.envs.registry import game_settings

    if memory is None or graph is None:
        memory = graph = TemporalGraph()
    options = decode_options(run.game_options, "the settings of a game")
    require_settings(f"the game {run.game!r}", game_settings(run.game), options)
    # the play enforces the limit of moves: after a return, the world counts only the moves on the path to its state
    with (
        use_prompts(run_prompts(run)),
        make(run.game, seed=run.seed, goal=run.goal, max_moves=math.inf, **options) as env,
    ):
        if run.memory == ORACLE:
            more["truth"] = lambda: env.truth().propositions
        agent = make_player(run, memory, name=name, model=model, allow_code=allow_code, **more)
        yield Play(env, agent, graph, run.seed, limit_of(run), run.audit, model, run.decisions, run.rules)
