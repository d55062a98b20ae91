"""Runs: one play each, with everything that decides how it goes, in a folder of its own.

What a folder holds: ``trajectory.jsonl`` (:mod:`worldthread.play.trajectory`), ``recording.jsonl`` when the agent asks
a model (:mod:`worldthread.models.recording_file`), and ``summary.json`` once the play came to its end.

An agent's play follows from what it perceives, from its arguments and from the answers of its model. So a run that was
cut off goes on by being played again from its beginning: the recording gives the answers that it holds, each line that
is in the trajectory is compared and not written again, and from where the files end it is played live. A replay is the
same without going on.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from worldthread.agents import Agent, AgentMemory, Decision, agent_class, agent_options
from worldthread.errors import FormatError, InputError, ModelConfigError, ReplayError
from worldthread.graph import TemporalGraph
from worldthread.models.meter import UsageTotals
from worldthread.play.loop import Play, StepRecord
from worldthread.play.run_model import RunModel
from worldthread.play.trajectory import TRAJECTORY_FILE, TrajectoryComparison, TrajectoryWriter, read_trajectory

if TYPE_CHECKING:
    from worldthread.models.chat import ChatModel
    from worldthread.models.config import ChatConfig

RECORDING_FILE: Final = "recording.jsonl"
SUMMARY_FILE: Final = "summary.json"
FAKE_MODEL: Final = "fake"
"""The name of a model that needs none: it answers at random, and repeatably, whatever fits what is asked for."""

ORACLE: Final = "oracle"
"""The memory module that is told the truth. It is no agent's memory: it measures what one could be worth at most."""

_RESERVED: Final = frozenset(
    {"run", "model", "seed", "memory_module", "use_valid_actions", "read", "show", "typed", "truth"}
)
"""Arguments of agents that are given by other means than :attr:`Run.options`."""


@dataclass(frozen=True)
class Run:
    """One play: everything that decides how it goes.

    Args:
        game: as :func:`worldthread.envs.make` takes it.
        agent: name of the agent, as :func:`worldthread.agents.agent_class` takes it.
        seed: of the game.
        steps: limit of moves; ``None``: the game's own.
        audit: whether the memory is compared with the truth.
        valid_actions: whether the agent sees the list of valid actions.
        version: of worldthread; what another version played is played again.
        memory: name of the memory module that the agent asks (its argument ``memory_module``); empty: its own choice,
        or
            none.
        attempt: seed of the agent; 0 for the first attempt.
        model: name of the chat model; empty without one.
        options: further arguments of the agent, as a JSON object with sorted keys.
        goal: a task told to the player instead of the game's own.
        budget_tokens: tokens that the model may use; ``None`` for any number.
        budget_dollars: dollars that the model may cost; ``None`` for any sum.
    """

    game: str
    agent: str
    seed: int
    steps: int | None = None
    audit: bool = True
    valid_actions: bool = True
    version: str = ""
    memory: str = ""
    attempt: int = 0
    model: str = ""
    options: str = "{}"
    goal: str | None = None
    budget_tokens: int | None = None
    budget_dollars: float | None = None

    @property
    def player(self) -> str:
        """Agent and memory module, such as ``ariadne+worldthread``."""
        return f"{self.agent}+{self.memory}" if self.memory else self.agent

    @property
    def folder(self) -> Path:
        """Where the run lies within the folder of a sweep: a name for people, and the digest of all settings."""
        digest = hashlib.blake2b(orjson.dumps(asdict(self), option=orjson.OPT_SORT_KEYS), digest_size=4).hexdigest()
        attempt = f"-attempt{self.attempt}" if self.attempt else ""
        return Path(file_name(self.game), file_name(self.player), f"seed{self.seed}{attempt}-{digest}")

    def require_playable(self, argument: str | None = None) -> None:
        """Look at names and settings, before the first of many plays.

        Args:
            argument: names the model; see :func:`recorded_model`.

        Raises:
            InputError: there is no such agent, it takes no such argument, or a budget is not above 0.
            ModelConfigError: the agent asks a model, and none can be reached as configured; or its price is not known,
                and there is a budget of dollars.
            GameError, MissingExtraError: there is no such game, or its engine is not installed.
        """
        with ExitStack() as stack:
            model = None
            if self.model:
                inner, settings = _configured(self, argument, stack)
                model = RunModel(inner, max_tokens=self.budget_tokens, max_dollars=self.budget_dollars, **settings)
            stack.enter_context(opened(self, model=model))


def file_name(text: str) -> str:
    """``text`` as the name of a file: letters, digits, dots, hyphens, plus signs and underscores; at most 60.

    A game file is called by its name, without the folders that it lies in.
    """
    kind, colon, rest = text.partition(":")
    text = f"{kind}-{Path(rest).stem}" if colon else text
    return re.sub(r"[^A-Za-z0-9_.+-]+", "-", text).strip("-.")[-60:] or "run"


def make_player(
    run: Run, memory: AgentMemory, *, name: str = "play", model: ChatModel | None = None, **more: Any
) -> Agent:
    """The agent of a run, fresh.

    Args:
        run: names the agent and its arguments.
        memory: where its percepts go.
        name: of the play, the source of its episodes.
        model: given to an agent that asks one.
        more: further arguments of the agent.

    Raises:
        InputError: there is no such agent, or it takes no such argument.
        ModelConfigError: the agent asks a model, and none is given.
    """
    kind = agent_class(run.agent)
    known = agent_options(kind)
    try:
        options = orjson.loads(run.options)
    except orjson.JSONDecodeError as error:
        raise InputError(f"the options of an agent are a JSON object, not {run.options!r}: {error}") from None
    own = sorted(known - _RESERVED)
    for option in options:
        if option not in own:
            raise InputError(f"the agent {run.agent!r} takes no option {option!r}; it takes {', '.join(own) or 'none'}")
    given: dict[str, Any] = {"run": name, "use_valid_actions": run.valid_actions, "seed": run.attempt}
    if kind.asks_model:
        if model is None:
            raise ModelConfigError(
                f"the agent {run.agent!r} asks a chat model: name one with --model, or in $WORLDTHREAD_MODEL "
                f"(--model {FAKE_MODEL} tries it without)"
            )
        given["model"] = model
    if run.memory:
        if "memory_module" not in known:
            raise InputError(f"the agent {run.agent!r} asks no memory module: leave {run.memory!r} out")
        given["memory_module"] = run.memory
    make: Callable[..., Agent] = kind
    return make(memory, **{name: value for name, value in given.items() if name in known}, **options, **more)


def limit_of(run: Run) -> int | None:
    """How many moves a run allows: its own limit, else that of the game; ``None``: any number."""
    from worldthread.envs import spec_of
    from worldthread.envs.registry import FILE_MAX_MOVES

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
    **more: Any,
) -> Iterator[Play]:
    """A run, ready to be played.

    Args:
        run: what is to be played.
        name: of the play, the source of its episodes.
        memory: where the agent's percepts go; ``None``: a graph in RAM.
        graph: the graph behind ``memory``.
        model: given to an agent that asks one.
        more: further arguments of the agent.

    Raises:
        InputError, GameError, MissingExtraError, ModelConfigError: see :meth:`Run.require_playable`.
    """
    from worldthread.envs import make

    if memory is None or graph is None:
        memory = graph = TemporalGraph()
    # the play counts the moves: a world that is gone back in counts those of the way alone
    with make(run.game, seed=run.seed, goal=run.goal, max_moves=math.inf) as env:
        if run.memory == ORACLE:
            more["truth"] = lambda: env.truth().propositions
        agent = make_player(run, memory, name=name, model=model, **more)
        yield Play(env, agent, graph, run.seed, limit_of(run), run.audit, model)


# -- the model of a run -----------------------------------------------------------------------------------------------


def model_name(argument: str | None) -> str:
    """The name of the chat model that an argument, the environment and the configuration file ask for; may be empty.

    Raises:
        FormatError, InputError, ModelConfigError: see :func:`worldthread.models.config.load_config`.
    """
    if argument == FAKE_MODEL:
        return FAKE_MODEL
    from worldthread.models.config import load_config

    config = load_config(argument)
    if config.replay is not None:
        from worldthread.models.recording_file import read_recording

        return read_recording(config.replay).model
    return config.model or ""


@contextmanager
def recorded_model(run: Run, argument: str | None, folder: Path) -> Iterator[RunModel]:
    """The model of a run; its calls are recorded in the folder, and what is recorded there is not asked again.

    Answers come from no cache: tokens and seconds of a run would mean nothing.

    Args:
        run: names the model, and its budget.
        argument: what was asked for; ``None``: what the environment and the configuration file say.
        folder: of the run.

    Raises:
        ModelConfigError: no such model can be reached as configured.
        InputError: the recording holds calls of another model, or a budget is not above 0.
        StoreLockedError: another process plays in the folder.
    """
    from worldthread.models.recording import RecordingChat

    with ExitStack() as stack:
        inner, settings = _configured(run, argument, stack)
        path = folder / RECORDING_FILE
        recording = stack.enter_context(RecordingChat(inner, path, resume=True, with_costs=True))
        yield RunModel(recording, max_tokens=run.budget_tokens, max_dollars=run.budget_dollars, **settings)


def _configured(run: Run, argument: str | None, stack: ExitStack) -> tuple[ChatModel, dict[str, Any]]:
    """The model itself, and with which prices it is reckoned."""
    if argument == FAKE_MODEL:
        from worldthread.models.fake_player import FakePlayer

        return FakePlayer(run.attempt), {"local": True}
    from worldthread.models.config import load_config
    from worldthread.models.configured import ConfiguredChat

    config = load_config(argument, cache=False)
    if config.model is None and config.replay is None:
        raise ModelConfigError(f"the run asks the model {run.model!r}, and no model is configured: name it (--model)")
    chat = ConfiguredChat(replace(config, record=None, budget_tokens=None, budget_dollars=None))
    stack.callback(chat.close)
    return chat, _prices(config)


def _prices(config: ChatConfig) -> dict[str, Any]:
    from worldthread.models.prices import load_prices

    return {"prices": load_prices().with_own(config.prices), "local": config.local}


def replayed_model(run: Run, folder: Path) -> RunModel:
    """The model of a run that is replayed: its recording answers, and no call is made.

    Raises:
        FormatError, StoreError: the recording cannot be read.
    """
    from worldthread.models.config import load_config
    from worldthread.models.recording import ReplayChat

    chat = ReplayChat(folder / RECORDING_FILE, with_costs=True)
    settings = {"local": True} if run.model == FAKE_MODEL else _prices(load_config())
    return RunModel(chat, max_tokens=run.budget_tokens, max_dollars=run.budget_dollars, **settings)


# -- in a folder ------------------------------------------------------------------------------------------------------


def header_of(run: Run, name: str, **more: Any) -> dict[str, Any]:
    """What the header of a trajectory tells: all that is needed to play it again."""
    settings = asdict(run)
    release = settings.pop("version")
    shown = {"game": run.game, "agent": run.agent, "seed": run.seed}
    return {**shown, "name": name, "settings": settings, "release": release, **more}


def run_of(header: dict[str, Any], path: Path) -> tuple[Run, str]:
    """The run that a header tells of, and the name of its play.

    Raises:
        FormatError: it is not the header of a run that can be played again.
    """
    try:
        return Run(**header["settings"], version=header["release"]), header["name"]
    except (KeyError, TypeError) as error:
        raise FormatError(f"the header does not tell what was played: {error}", path=path, line=1) from error


def play_in(
    folder: Path,
    run: Run,
    argument: str | None = None,
    *,
    name: str = "play",
    memory: AgentMemory | None = None,
    graph: TemporalGraph | None = None,
    header: dict[str, Any] | None = None,
    watch: Callable[[Play], AbstractContextManager[Callable[[StepRecord], None]]] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Play a run to its end in its folder, going on with what is there: its figures, as ``summary.json`` holds them.

    Args:
        folder: of the run; made when it does not exist.
        run: what is to be played.
        argument: names the model; see :func:`recorded_model`.
        name: of the play, the source of its episodes.
        memory, graph: see :func:`opened`. The memory must be empty, also in a run that goes on.
        header: more for the header of the trajectory.
        watch: gives what is called with every step, those included that are in the trajectory already.
        more: further arguments of the agent.

    Raises:
        FormatError: the trajectory in the folder is not that of this run; the message tells the line.
        StoreLockedError: another process plays in the folder.
        StoreError: the folder cannot be written.
        ModelError: the model could not be asked: played again, the run goes on from there.
    """
    needs_model = agent_class(run.agent).asks_model
    with ExitStack() as stack:
        told = header_of(run, name, asked_for=argument, **(header or {}))
        trajectory = stack.enter_context(TrajectoryWriter(folder / TRAJECTORY_FILE, told, resume=True))
        model = stack.enter_context(recorded_model(run, argument, folder)) if needs_model else None
        play = stack.enter_context(opened(run, name=name, memory=memory, graph=graph, model=model, **more))
        show = stack.enter_context(watch(play)) if watch else None
        for record in play:
            trajectory.write(record.as_json())
            if show is not None:
                show(record)
        trajectory.finish(play.summary())
        figures = asdict(play.auditor.result()) if play.audit else None
        names = {"memory_module": run.memory, "attempt": run.attempt}
        summary = {**play.summary(), **names, **play.costs(), "audit_figures": figures}
    write_summary(folder, summary)
    return summary


def write_summary(folder: Path, summary: dict[str, Any]) -> None:
    """Write ``summary.json``: it is whole on the disk when this returns, or not there at all."""
    draft = folder / f"{SUMMARY_FILE}.draft"
    with draft.open("wb") as file:
        file.write(orjson.dumps(summary, option=orjson.OPT_INDENT_2) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / SUMMARY_FILE)


def read_summary(folder: Path) -> dict[str, Any] | None:
    """The figures of a run that came to its end; ``None`` for any other.

    Raises:
        FormatError: the file is damaged.
    """
    path = folder / SUMMARY_FILE
    try:
        summary: dict[str, Any] = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except orjson.JSONDecodeError as error:
        raise FormatError(f"not the figures of a run: {error}", path=path) from error
    return summary


@dataclass(frozen=True)
class ReplayResult:
    """What a replay came to.

    Args:
        lines: lines of the trajectory that came out byte for byte the same, the header included.
        moves: moves that were played.
        is_complete: whether the trajectory tells of a play that came to its end; else it was played as far as it goes.
        model_requests: requests that the recording answered; no call was made.
        difference: what came out differently in the first line that is not the same, or why nothing did; ``None`` when
            all of it is the same.
    """

    lines: int
    moves: int
    is_complete: bool
    model_requests: int
    difference: str | None = None


def replay(folder: Path) -> ReplayResult:
    """Play a run again from its recording, without any call of a model, and compare it with its trajectory.

    Raises:
        InputError: the folder holds no run.
        FormatError, StoreError: a file cannot be understood.
    """
    path = folder / TRAJECTORY_FILE
    comparison = TrajectoryComparison(path)
    run, name = run_of(comparison.header, path)
    is_typed = run.agent == "human"
    more: dict[str, Any] = {"typed": typed_in(path), "show": _unheard, "read": _ended} if is_typed else {}
    model = replayed_model(run, folder) if agent_class(run.agent).asks_model else None
    comparison.take(orjson.dumps(comparison.header))
    difference = None
    with opened(run, name=name, model=model, **more) as play:
        try:
            _compare(play, comparison)
        except (FormatError, ReplayError) as error:
            difference = str(error)
        used = model.meter.overall() if model else UsageTotals()
        return ReplayResult(
            comparison.compared, play.moves, comparison.is_complete, used.calls + used.reused, difference
        )


def _compare(play: Play, comparison: TrajectoryComparison) -> None:
    if not comparison.left:
        return
    for record in play:
        comparison.take(orjson.dumps(record.as_json()))
        if not comparison.left and not comparison.is_complete:
            return
    comparison.take(orjson.dumps({"summary": play.summary()}))
    comparison.require_end()


def typed_in(path: Path) -> list[Decision]:
    """The decisions that a trajectory tells of, as a person made them."""
    return [
        Decision(step["action"] or "", "typed", return_to=step["return_to"])
        for step in read_trajectory(path).steps
        if step["reason"] is not None
    ]


def _unheard(text: str) -> None:
    """Shows nothing."""


def _ended(prompt: str) -> str:
    """After all that was typed, the input is at its end."""
    raise EOFError
