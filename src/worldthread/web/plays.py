"""Plays that go on while browsers watch, each in a thread of its own and kept as a run."""

from __future__ import annotations

import logging
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from worldthread import __version__
from worldthread.agents import AGENTS, agent_class, agent_options
from worldthread.agents.memory_modules import MEMORY_MODULES
from worldthread.envs import games
from worldthread.envs.files import game_files
from worldthread.errors import InputError, NotFoundError, WorldthreadError
from worldthread.extract.game import vocabulary as v
from worldthread.memory import Memory
from worldthread.play.loop import Play
from worldthread.play.run_files import play_in
from worldthread.play.run_model import FAKE_MODEL, model_name
from worldthread.play.run_page import map_drawing
from worldthread.play.runs import Run, file_name
from worldthread.play.step_record import StepRecord
from worldthread.stores import DEFAULT_NAMESPACE
from worldthread.web.event_stream import EventStream
from worldthread.web.play_control import PlayControl, Stopped

_MOST_GOING: Final = 6
_MOST_KEPT: Final = 30  # plays that came to their end and can still be looked at as if they went on
_LAST_MOVE: Final = 3.0  # seconds for the move that is under way when the server ends
_HUMAN: Final = "human"
_log = logging.getLogger(__name__)


class PlayRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What a browser asks to be played."""

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


class LivePlay:
    """One play. Made and begun by :meth:`Plays.begin`.

    Args:
        id: by which browsers know it.
        run: what is played.
        folder: where it is kept.
        argument: names the model; see :func:`worldthread.play.run_model.recorded_model`.
        wanted: how it begins.
    """

    def __init__(self, id: str, run: Run, folder: Path, argument: str | None, wanted: PlayRequest) -> None:
        self.id = id
        self.run = run
        self.folder = folder
        self.feed = EventStream()
        self.state = "preparing"
        self._argument = argument
        self.wheel = PlayControl(delay=wanted.delay, by_hand=run.agent == _HUMAN, on_change=self._tell_state)
        if wanted.hold:
            self.wheel.hold()
        self._thread = threading.Thread(target=self._work, name=f"play {folder.name}", daemon=True)

    @property
    def is_over(self) -> bool:
        """Whether it came to its end, in whatever way."""
        return self.state in ("ended", "stopped", "failed")

    def begin(self) -> None:
        """Play, in a thread of its own."""
        self._tell_state()
        self._thread.start()

    def stop(self, wait: float = 0.0) -> None:
        """End the play, and wait some seconds for that."""
        self.wheel.stop()
        self._thread.join(wait)

    def told(self) -> dict[str, Any]:
        """What it is, ready for JSON."""
        run, wheel = self.run, self.wheel
        return {
            "id": self.id,
            "game": run.game,
            "agent": run.agent,
            "module": run.memory,
            "model": run.model,
            "seed": run.seed,
            "name": self.folder.name,
            "state": self.state,
            "held": wheel.is_held,
            "by_hand": wheel.by_hand,
            "asking": wheel.is_asking,
            "delay": wheel.delay,
            "can_undo": run.agent == _HUMAN,
        }

    # -- in its thread ------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            summary = self._play()
            self.feed.add("end", {"summary": summary})
            self.state = "ended"
        except Stopped:
            self.state = "stopped"
        except WorldthreadError as error:
            self.feed.add("problem", {"message": _writable(str(error))})
            self.state = "failed"
        except Exception as error:
            _log.exception("the play in %s failed", self.folder)
            self.feed.add("problem", {"message": _writable(f"{type(error).__name__}: {error}")})
            self.state = "failed"
        finally:
            self._tell_state()
            self.feed.end()

    def _play(self) -> dict[str, Any]:
        self.run.require_playable(self._argument)
        more: dict[str, Any] = {}
        if self.run.agent == _HUMAN:
            more = {"read": self._read, "show": _unheard}
        file = self.folder / "memory.worldthread"
        header = {"memory": file.name, "namespace": DEFAULT_NAMESPACE}
        with Memory(file, model="none") as memory:
            return play_in(
                self.folder, self.run, self._argument, name=self.folder.name, memory=memory.record,
                graph=memory.record.graph,
                header=header, watch=self._watched, **more,
            )  # fmt: skip

    @contextmanager
    def _watched(self, play: Play) -> Iterator[Callable[[StepRecord], None]]:
        if self.run.agent != _HUMAN:
            decide = play.agent.decide
            # the play looks at the class of its agent, which no wrapper would have
            play.agent.decide = lambda: self.wheel.decide(decide)  # type: ignore[method-assign]
        self.state = "playing"
        self._tell_state()

        def show(record: StepRecord) -> None:
            self.feed.add("step", {**record.as_json(), "label": record.label})
            self.feed.show(_picture(play, record))
            self.wheel.wait()

        yield show

    def _read(self, _: str) -> str:
        """For a person who plays alone: the next line."""
        line = self.wheel.line()
        assert line is not None  # nobody else could decide
        return line

    def _tell_state(self) -> None:
        self.feed.add("state", self.told())


def _picture(play: Play, record: StepRecord) -> dict[str, Any]:
    """How things stand after a step: the map, what is carried, the goal, and what was spent."""
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
    """All plays of a server. May be used from several threads.

    Args:
        folder: where they are kept, each in a folder of its own.
        model: names the chat model that agents may ask; ``None`` for what the environment says.
    """

    def __init__(self, folder: Path, model: str | None = None) -> None:
        self._folder = folder
        self._model = model
        self._lock = threading.Lock()
        self._plays: dict[str, LivePlay] = {}

    def choices(self) -> dict[str, Any]:
        """What can be played, and by whom."""
        listed: list[dict[str, Any]] = [
            {"name": spec.name, "title": spec.title, "description": spec.description,
             "max_moves": spec.default_max_moves, "missing": None if spec.installed else spec.extra}
            for spec in games()
        ]  # fmt: skip
        listed += [
            {"name": name, "title": name, "description": "A game file.", "max_moves": None, "missing": None}
            for name in _file_games()
        ]
        kinds = {name: agent_class(name) for name in sorted(AGENTS)}
        agents = [
            {"name": name, "asks_model": kind.asks_model, "takes_module": "memory_module" in agent_options(kind)}
            for name, kind in kinds.items()
        ]
        return {"games": listed, "agents": agents, "modules": list(MEMORY_MODULES), "model": self._model_name()}

    def _model_name(self) -> str:
        try:
            return model_name(self._model)
        except WorldthreadError:  # said when an agent is to ask it
            return ""

    def begin(self, wanted: PlayRequest) -> LivePlay:
        """Begin a play.

        Raises:
            InputError: there is no such game or agent, or too many plays go on.
            WorldthreadError: no model can be reached as configured.
        """
        run, argument = self._run_of(wanted)
        with self._lock:
            if sum(not play.is_over for play in self._plays.values()) >= _MOST_GOING:
                raise InputError(f"{_MOST_GOING} plays go on already: stop one first")
            for play in [play for play in self._plays.values() if play.is_over][:-_MOST_KEPT]:
                del self._plays[play.id]
            live = LivePlay(secrets.token_hex(8), run, _new_folder(self._folder, run), argument, wanted)
            self._plays[live.id] = live
        live.begin()
        return live

    def _run_of(self, wanted: PlayRequest) -> tuple[Run, str | None]:
        by_name = {spec.name: spec.id for spec in games()}
        game = by_name.get(wanted.game, wanted.game)
        if wanted.game not in by_name and wanted.game not in _file_games():
            raise InputError(f"no game is called {wanted.game!r}")
        if wanted.agent not in AGENTS:
            raise InputError(f"no agent is called {wanted.agent!r}")
        kind = agent_class(wanted.agent)
        if wanted.module and ("memory_module" not in agent_options(kind) or wanted.module not in MEMORY_MODULES):
            raise InputError(f"{wanted.agent} asks no memory module called {wanted.module!r}")
        argument = FAKE_MODEL if wanted.fake_model else self._model
        more: dict[str, Any] = {}
        if kind.asks_model:
            more = {"model": model_name(argument), "budget_tokens": wanted.budget_tokens}
            more["budget_dollars"] = wanted.budget_dollars
        run = Run(
            game, wanted.agent, wanted.seed, steps=wanted.steps, version=__version__, memory=wanted.module, **more
        )  # fmt: skip
        return run, argument

    def play(self, id_: str) -> LivePlay:
        """A play by its id.

        Raises:
            NotFoundError: there is no such play.
        """
        with self._lock:
            if id_ in self._plays:
                return self._plays[id_]
        raise NotFoundError("there is no such play (any more)")

    def listed(self) -> list[dict[str, Any]]:
        """All of them, the latest first."""
        with self._lock:
            return [play.told() for play in reversed(self._plays.values())]

    def close(self) -> None:
        """Stop all plays: they are kept as far as they went. May be called again."""
        with self._lock:
            plays = list(self._plays.values())
        for play in plays:
            play.wheel.stop()
        for play in plays:
            play.stop(_LAST_MOVE)


def _file_games() -> list[str]:
    """Games of the folders in ``$WORLDTHREAD_GAMES``, by the names under which they can be played."""
    return [f"textworld:{file.stem}" for file in game_files(subfolder="textworld", suffixes=(".z8",))]


def _new_folder(folder: Path, run: Run) -> Path:
    """A folder for a run that is new, named as people would."""
    name = f"{file_name(run.game)}-{re.sub(':.*', '', file_name(run.player))}-seed{run.seed}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        number = 1
        while True:
            made = folder / (name if number == 1 else f"{name}-{number}")
            try:
                made.mkdir()
            except FileExistsError:
                number += 1
            else:
                return made
    except OSError as error:
        raise InputError(f"cannot make the folder {error.filename or folder}: {error.strerror}") from error


def _writable(text: str) -> str:
    """``text`` with escapes for what UTF-8 cannot write."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _unheard(_: str) -> None:
    """A browser shows the steps themselves."""
