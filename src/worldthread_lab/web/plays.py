"""Plays that browsers watch, each in a thread of its own and stored as a run."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from worldthread import __version__
from worldthread.errors import InputError, NotFoundError, UnknownGameError, WorldthreadError
from worldthread.files.paths import make_private_folder
from worldthread.installation import install_command
from worldthread.memory.memory import Memory
from worldthread.models.config import FAKE_MODEL, model_name
from worldthread.stores import DEFAULT_NAMESPACE
from worldthread.web.answers import escape_surrogates
from worldthread_lab.agents import AGENTS, Agent, agent_class, agent_options
from worldthread_lab.agents.memory_modules import MEMORY_MODULES
from worldthread_lab.envs import GameSpec, games
from worldthread_lab.envs.files import find_game_file, game_files
from worldthread_lab.game import vocabulary as v
from worldthread_lab.play.loop import Play
from worldthread_lab.play.run import PERSON, Run, file_name
from worldthread_lab.play.run_files import play_in
from worldthread_lab.play.run_model import prompt_length
from worldthread_lab.play.run_page import map_drawing
from worldthread_lab.play.runs import require_playable
from worldthread_lab.play.step_record import StepRecord
from worldthread_lab.web.event_stream import EventStream, Watchers
from worldthread_lab.web.play_control import PlayControl, Stopped
from worldthread_lab.web.play_settings import Part, chosen_settings, settings_as_json

_MAX_RUNNING: Final = 6
_MAX_FINISHED: Final = 30  # finished plays whose events are kept in RAM
_SHUTDOWN_SECONDS: Final = 0.4  # the longest wait for all running moves when the server ends
_log = logging.getLogger(__name__)


_Number = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]
_Whole = Annotated[int, msgspec.Meta(ge=-(10**9), le=10**9)]
_Text = Annotated[str, msgspec.Meta(max_length=200)]
SettingName = Annotated[str, msgspec.Meta(max_length=100)]
SettingValue = bool | _Whole | _Number | _Text | list[_Whole | _Number | _Text] | None


class PlayRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A request to begin a play."""

    game: Annotated[str, msgspec.Meta(max_length=200)]
    agent: Annotated[str, msgspec.Meta(max_length=40)] = "explorer"
    module: Annotated[str, msgspec.Meta(max_length=40)] = ""
    seed: Annotated[int, msgspec.Meta(ge=0, lt=2**31)] = 0
    steps: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None
    delay: Annotated[float, msgspec.Meta(ge=0, le=60)] = 0.5
    fake_model: bool = False
    budget_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    budget_dollars: Annotated[float, msgspec.Meta(ge=0)] | None = None
    hold: bool = False
    settings: dict[Part, dict[SettingName, SettingValue]] = {}


class LivePlay:
    """One play; :meth:`Plays.begin` creates and begins it.

    Args:
        id: the id of the play for browsers.
        run: the game, the player, and the settings.
        folder: stores the run.
        model: name of the model; see :func:`worldthread_lab.play.run_model.recorded_model`.
        request: the request to begin the play.
        watchers: the watchers of all plays.

    Attributes:
        events: the events for watchers.
        control: pauses and resumes the play, and takes moves of a person.
        state: ``preparing``, ``playing``, ``ended``, ``stopped`` or ``failed``.
    """

    def __init__(
        self, id: str, run: Run, folder: Path, model: str | None, request: PlayRequest, watchers: Watchers
    ) -> None:
        self.id = id
        self.run = run
        self.folder = folder
        self.events = EventStream(watchers)
        self.state = "preparing"
        self._model = model
        self.control = PlayControl(delay=request.delay, by_hand=run.agent == PERSON, on_change=self._publish_state)
        if request.hold:
            self.control.pause()
        self._thread = threading.Thread(target=self._work, name=f"play {folder.name}", daemon=True)

    @property
    def is_over(self) -> bool:
        """Whether the play has ended, for whatever reason."""
        return self.state in ("ended", "stopped", "failed")

    @property
    def is_human(self) -> bool:
        """Whether a person makes all moves."""
        return self.run.agent == PERSON

    def begin(self) -> None:
        """Start to play in a thread of its own."""
        self._publish_state()
        self._thread.start()

    def stop(self, wait: float = 0.0) -> None:
        """End the play, and wait up to ``wait`` seconds for the end."""
        self.control.stop()
        self._thread.join(wait)

    def as_json(self) -> dict[str, Any]:
        """Return the run and the state of the play as data for JSON."""
        run, control = self.run, self.control
        return {
            "id": self.id,
            "game": run.game,
            "agent": run.agent,
            "module": run.memory,
            "model": run.model,
            "seed": run.seed,
            "name": self.folder.name,
            "state": self.state,
            "held": control.is_paused,
            "by_hand": control.by_hand,
            "asking": control.is_asking,
            "delay": control.delay,
            "can_undo": self.is_human,
        }

    # -- in the thread that plays -------------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            summary = self._play()
            self.events.add("end", {"summary": summary})
            self.state = "ended"
        except Stopped:
            self.state = "stopped"
        except WorldthreadError as error:
            self.events.add("problem", {"message": escape_surrogates(str(error))})
            self.state = "failed"
        except Exception as error:
            _log.exception("the play in %s failed", self.folder)
            self.events.add("problem", {"message": escape_surrogates(f"{type(error).__name__}: {error}")})
            self.state = "failed"
        finally:
            self._publish_state()
            self.events.end()

    def _play(self) -> dict[str, Any]:
        require_playable(self.run, self._model)
        more: dict[str, Any] = {}
        if self.is_human:
            more = {"read": self._read, "show": _show_nothing}
        file = self.folder / "memory.worldthread"
        header = {"memory": file.name, "namespace": DEFAULT_NAMESPACE}
        with Memory(file, model="none") as memory:
            return play_in(
                self.folder, self.run, self._model, name=self.folder.name, memory=memory.record,
                graph=memory.record.graph, header=header, watch=self._watched, **more,
            )  # fmt: skip

    @contextmanager
    def _watched(self, play: Play) -> Iterator[Callable[[StepRecord], None]]:
        if not self.is_human:
            decide = play.agent.decide
            # the play inspects the class of its agent, so a wrapper object would not do
            play.agent.decide = lambda: self.control.decide(decide)  # type: ignore[method-assign]
        self.state = "playing"
        self._publish_state()

        def show(record: StepRecord) -> None:
            self.events.add("step", {**record.as_json(), "label": record.label})
            self.events.set_snapshot(_snapshot(play, record))
            self.control.wait()

        yield show

    def _read(self, _: str) -> str:
        """Return the next move of a person who plays without an agent."""
        line = self.control.next_line()
        assert line is not None  # there is no agent to decide
        return line

    def _publish_state(self) -> None:
        self.events.add("state", self.as_json())


def _snapshot(play: Play, record: StepRecord) -> dict[str, Any]:
    """Return the state after a step: the map, what is carried, the goal, and the cost."""
    view = play.graph.view()
    costs = play.costs() if play.model is not None else {"cost_usd": None}
    goal = record.info.goal or " ".join(thesis.text for thesis in view.theses(about=v.GOAL))
    return {
        "map": map_drawing(view),
        "carried": [fact.subject for fact in view.facts(relation=v.IS_IN, object=v.INVENTORY)],
        "goal": goal,
        "max_score": record.info.max_score,
        "max_moves": play.max_moves,
        "won": record.info.won,
        "lost": record.info.lost,
        "over": record.percept.ended,
        "audit": record.audit.summary() if record.audit is not None else None,
        "tokens": _tokens(play),
        "cost_usd": costs["cost_usd"],
    }


def _tokens(play: Play) -> int | None:
    if play.model is None:
        return None
    usage = play.model.meter.overall().usage
    return usage.prompt_tokens + usage.completion_tokens


class Plays:
    """All plays of a server. Thread-safe.

    Args:
        folder: stores the runs, each in a folder of its own.
        id_of: returns the id of the run in a folder; its play has the same, so that an address outlives the server.
        model: name of the chat model for agents; ``None`` for the one that the environment configures.

    Attributes:
        watchers: those who watch the plays.
    """

    def __init__(self, folder: Path, id_of: Callable[[Path], str], model: str | None = None) -> None:
        self._folder = folder
        self._id_of = id_of
        self._model = model
        self._lock = threading.Lock()
        self._plays: dict[str, LivePlay] = {}
        self.watchers = Watchers()

    def choices(self) -> dict[str, Any]:
        """Return the games, agents and memory modules to choose from."""
        listed: list[dict[str, Any]] = [
            {"name": spec.name, "title": spec.title, "description": spec.description,
             "max_moves": spec.default_max_moves, "missing": None if spec.installed else spec.extra,
             "needs_file": not _has_file(spec)}
            for spec in games()
        ]  # fmt: skip
        listed += [
            {
                "name": name,
                "title": name,
                "description": "A game file.",
                "max_moves": None,
                "missing": None,
                "needs_file": False,
            }
            for name in _file_games()
        ]
        classes = {name: agent_class(name) for name in sorted(AGENTS)}
        agents = [
            {
                "name": name,
                "about": _about(class_),
                "asks_model": class_.asks_model,
                "takes_module": "memory_module" in agent_options(class_),
            }
            for name, class_ in classes.items()
        ]
        missing = [one["missing"] for one in listed if one["missing"]]
        return {
            "games": listed,
            "agents": agents,
            "modules": list(MEMORY_MODULES),
            "model": self._model_name(),
            "install": install_command(missing) if missing else "",
        }

    def _model_name(self) -> str:
        try:
            return model_name(self._model)
        except WorldthreadError:  # reported when a play needs the model
            return ""

    def settings(self, game: str, agent: str, module: str) -> dict[str, Any]:
        """Return what can be set of a play; see :func:`~worldthread_lab.web.play_settings.settings_as_json`.

        Args:
            game: the game, as :meth:`choices` names it.
            agent: the name of the agent.
            module: the name of the memory module; empty for the agent's own.

        Returns:
            The settings by part, ready for JSON.

        Raises:
            InputError: there is no such game, agent or memory module.
        """
        run, _ = self._run_of(PlayRequest(game, agent, module, fake_model=True))
        return settings_as_json(run.game, agent, module)

    def begin(self, request: PlayRequest) -> LivePlay:
        """Begin a play.

        Args:
            request: the game, the player, and the settings.

        Returns:
            The play, which has begun.

        Raises:
            InputError: there is no such game or agent, or too many plays are running.
            WorldthreadError: the model cannot be used as configured.
        """
        run, model = self._run_of(request)
        with self._lock:
            if sum(not play.is_over for play in self._plays.values()) >= _MAX_RUNNING:
                raise InputError(f"{_MAX_RUNNING} plays are running already: stop one first")
            for play in [play for play in self._plays.values() if play.is_over][:-_MAX_FINISHED]:
                del self._plays[play.id]
            folder = _new_folder(self._folder, run)
            live = LivePlay(self._id_of(folder), run, folder, model, request, self.watchers)
            self._plays[live.id] = live
        live.begin()
        return live

    def _run_of(self, request: PlayRequest) -> tuple[Run, str | None]:
        by_name = {spec.name: spec.id for spec in games()}
        game = by_name.get(request.game, request.game)
        if request.game not in by_name and request.game not in _file_games():
            raise InputError(f"no game is called {request.game!r}")
        if request.agent not in AGENTS:
            raise InputError(f"no agent is called {request.agent!r}")
        class_ = agent_class(request.agent)
        if request.module and ("memory_module" not in agent_options(class_) or request.module not in MEMORY_MODULES):
            raise InputError(f"{request.agent} has no memory module called {request.module!r}")
        model = FAKE_MODEL if request.fake_model else self._model
        asked = prompt_length(class_, model) if class_.asks_model else {}
        more: dict[str, Any] = chosen_settings(game, request.agent, request.module, request.settings, asked)
        if class_.asks_model:
            more |= {
                "model": model_name(model),
                "budget_tokens": request.budget_tokens,
                "budget_dollars": request.budget_dollars,
            }
        run = Run(
            game, request.agent, request.seed, steps=request.steps, version=__version__, memory=request.module, **more
        )  # fmt: skip
        return run, model

    def play(self, id_: str) -> LivePlay:
        """Return the play with an id.

        Args:
            id_: the id.

        Returns:
            The play.

        Raises:
            NotFoundError: there is no such play.
        """
        with self._lock:
            if id_ in self._plays:
                return self._plays[id_]
        raise NotFoundError("this play does not exist, or is no longer kept")

    def listed(self) -> list[dict[str, Any]]:
        """Return all plays as data for JSON, the latest first."""
        with self._lock:
            return [play.as_json() for play in reversed(self._plays.values())]

    def stop(self) -> None:
        """Let all plays and their watchers end, without waiting for them."""
        self.watchers.close()
        with self._lock:
            plays = list(self._plays.values())
        for play in plays:
            play.control.stop()

    def close(self) -> None:
        """Stop all plays, and keep their moves so far. May be called again.

        A move that takes longer than a moment is not waited for: the play can be resumed before it.
        """
        self.stop()
        with self._lock:
            plays = list(self._plays.values())
        end = time.monotonic() + _SHUTDOWN_SECONDS
        for play in plays:
            play.stop(max(end - time.monotonic(), 0))


def _has_file(spec: GameSpec) -> bool:
    """Return whether the file that a game needs is found; ``True`` for a game that needs none."""
    name = spec.options.get("file")
    if name is None:
        return True
    from worldthread_lab.envs.jericho_engine import SUFFIXES

    try:
        find_game_file(name, subfolder="jericho", suffixes=SUFFIXES)
    except UnknownGameError:
        return False
    return True


def _about(kind: type[Agent]) -> str:
    """Return the first sentences of what is said of an agent."""
    return " ".join((kind.__doc__ or "").split("\n\n", 1)[0].replace("``", "").split())


def _file_games() -> list[str]:
    """Return the names of the games in the folders of ``$WORLDTHREAD_GAMES``."""
    return [f"textworld:{file.stem}" for file in game_files(subfolder="textworld", suffixes=(".z8",))]


def _new_folder(folder: Path, run: Run) -> Path:
    """Create a folder with a readable name for a new run."""
    name = f"{file_name(run.game)}-{re.sub(':.*', '', file_name(run.player))}-seed{run.seed}"
    try:
        make_private_folder(folder)
        number = 1
        while True:
            new = folder / (name if number == 1 else f"{name}-{number}")
            try:
                make_private_folder(new, exist_ok=False)
            except FileExistsError:
                number += 1
            else:
                return new
    except OSError as error:
        raise InputError(f"cannot create the folder {error.filename or folder}: {error.strerror}") from error


def _show_nothing(_: str) -> None:
    """Print nothing, since the browser shows the steps."""
