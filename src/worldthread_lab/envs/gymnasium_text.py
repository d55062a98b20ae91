"""Text worlds of other projects that are made like Gymnasium's: ``reset`` and ``step`` with observation, reward, info.

:class:`GymnasiumText` is the one adapter. A world needs what starts its engine, and the names under which the engine's
``info`` holds the score, the valid actions and the rest; :mod:`~worldthread_lab.envs.textworld_express` and
:mod:`~worldthread_lab.envs.scienceworld` are the examples.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from worldthread.errors import EpisodeOverError, GameError, WorldthreadError
from worldthread_lab.envs.base import NO_OUTPUT, Environment, Info, Truth, require_action, require_running


@dataclass(frozen=True)
class InfoNames:
    """Under which names the ``info`` of an engine holds what an :class:`~worldthread_lab.envs.base.Info` has.

    What is absent from an ``info`` is as if it had no name.

    Args:
        score: the points so far; without it the rewards are summed up.
        valid_actions: a list of actions.
        inventory: the text of the inventory.
        goal: the task in words, read at the reset.
        won: whether the task is done; without it, whether the episode ended with the largest score.
        lost: whether the task can no longer be done; without it, whether the episode ended with a score below 0.
    """

    score: str = "score"
    valid_actions: str = "admissible_commands"
    inventory: str = "inventory"
    goal: str = "objective"
    won: str = "won"
    lost: str = "lost"


@dataclass(frozen=True)
class EngineWording:
    """The words of an engine in those of the other text worlds, so that agents and memory need not know the engine.

    Args:
        text: returns an observation in the words that are usual, a place with its title on a line of its own.
        commands: patterns of usual commands -> what the engine calls them, as for :func:`re.sub`; the first that
            matches a whole command counts.
    """

    text: Callable[[str], str]
    commands: Mapping[str, str]


class GymnasiumText(Environment):
    """A text world whose engine is made like Gymnasium's.

    ``step`` of the engine may return four values (observation, reward, done, info) or five (observation, reward,
    terminated, truncated, info), and ``reset`` an observation with or without info. The task is put before the first
    observation. Only this class counts moves; one step is one move.

    Args:
        start: starts the engine; called with the first :meth:`reset`.
        id: the id of the environment.
        seed: the seed of :meth:`reset` when it gets none.
        goal: the task in words, instead of the engine's own.
        max_moves: the episode is truncated after this many moves; ``None``: no limit.
        names: where the info of the engine has what.
        max_score: the largest possible score; ``None`` when it is not known.
        valid_actions: whether to pass on the list of valid actions, where there is one.
        wording: other words for texts and commands; ``None``: those of the engine.
    """

    def __init__(
        self,
        start: Callable[[], Any],
        *,
        id: str,
        seed: int = 0,
        goal: str | None = None,
        max_moves: int | None = None,
        names: InfoNames | None = None,
        max_score: float | None = None,
        valid_actions: bool = True,
        wording: EngineWording | None = None,
    ) -> None:
        self.id = id
        self._start = start
        self._seed = seed
        self._goal = goal
        self._max_moves = max_moves
        self._names = names or InfoNames()
        self._max_score = max_score
        self._valid_actions = valid_actions
        self._wording = wording
        self._engine: Any = None
        self._info = Info()
        self._running = False
        self._was_reset = False

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        if self._engine is None:
            self._engine = self._start()
        chosen = self._seed if seed is None else seed
        began = self._ask(lambda: self._begin(self._engine, chosen))
        observation, raw = began if isinstance(began, tuple) else (began, {})
        own_goal = str(raw.get(self._names.goal) or "").strip()
        goal = own_goal if self._goal is None else self._goal
        self._info = self._read(raw, moves=0, goal=goal, reward=0.0, before=0.0, ended=False)
        self._running = self._was_reset = True
        shown = self._shown(observation, raw)
        return f"{goal}\n\n{shown}" if goal else shown, self._info

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        require_running(self._running, self._was_reset)
        require_action(action)
        before = self._info
        result = self._ask(lambda: self._engine.step(self._command(action.strip())))
        if not isinstance(result, tuple) or len(result) not in (4, 5):
            raise GameError(f"the engine of {self.id} must answer a step with 4 or 5 values, not {result!r:.200}")
        observation, reward, raw = result[0], float(result[1]), result[-1]
        ended = bool(result[2])
        moves = before.moves + 1
        self._info = self._read(raw, moves=moves, goal=before.goal, reward=reward, before=before.score, ended=ended)
        terminated = ended or self._info.won or self._info.lost
        is_over = (len(result) == 5 and bool(result[3])) or (self._max_moves is not None and moves >= self._max_moves)
        truncated = not terminated and is_over
        self._running = not (terminated or truncated)
        change = float(self._info.score - before.score)
        return self._shown(observation, raw), change, terminated, truncated, self._info

    def truth(self) -> Truth:
        if not self._was_reset:
            raise EpisodeOverError("there is no true state yet: call reset() first")
        return Truth(frozenset())

    def close(self) -> None:
        if self._engine is not None and hasattr(self._engine, "close"):
            self._engine.close()
        self._engine = None
        self._running = False

    def _ask(self, call: Callable[[], Any]) -> Any:
        """Return what the engine answers to a call; whatever it raises becomes a :class:`GameError`."""
        try:
            return call()
        except WorldthreadError:
            raise
        except Exception as error:
            # written down now: an error of Java cannot be read any more when its Java has ended
            message = " ".join(str(error).split("\tat ")[0].split())
        raise GameError(f"the engine of {self.id} failed: {message:.300}")

    def _begin(self, engine: Any, seed: int) -> Any:
        """Begin an episode of a seed; return what the engine's reset returned."""
        return engine.reset(seed=seed)

    def _command(self, action: str) -> str:
        """Return an action as the engine calls it."""
        for pattern, own in self._wording.commands.items() if self._wording is not None else ():
            found = re.fullmatch(pattern, action, re.I)
            if found is not None:
                return found.expand(own)
        return action

    def _shown(self, observation: Any, raw: Mapping[str, Any]) -> str:
        """Return an observation, which came with an info, as agents read it."""
        if not isinstance(observation, str):
            raise GameError(f"the engine of {self.id} must observe text, not {type(observation).__name__}")
        text = self._worded(observation)
        return text.strip("\n") if text.strip() else NO_OUTPUT

    def _worded(self, text: str) -> str:
        return text if self._wording is None else self._wording.text(text)

    def _read(
        self, raw: Mapping[str, Any], *, moves: int, goal: str, reward: float, before: float, ended: bool
    ) -> Info:
        """Return what an info of the engine says.

        Args:
            raw: the info.
            moves: the moves so far.
            goal: the task.
            reward: the reward of the step.
            before: the score before it.
            ended: whether the engine ended the episode.

        Returns:
            The info.
        """
        names = self._names
        score = raw[names.score] if raw.get(names.score) is not None else before + reward
        actions: Sequence[str] | None = raw.get(names.valid_actions) if self._valid_actions else None
        inventory = raw.get(names.inventory)
        if isinstance(inventory, str):
            inventory = self._worded(inventory).strip()
        is_most = self._max_score is not None and score >= self._max_score
        won = bool(raw[names.won]) if names.won in raw else ended and is_most
        lost = bool(raw[names.lost]) if names.lost in raw else ended and score < 0
        return Info(
            score=score,
            max_score=self._max_score,
            valid_actions=None if actions is None else tuple(sorted({a.strip() for a in actions if a.strip()})),
            inventory=inventory or None,
            goal=goal,
            moves=moves,
            won=won,
            lost=lost and not won,
        )


def start_with_java(name: str, start: Callable[[], Any]) -> Any:
    """Start an engine that runs in Java.

    Args:
        name: the name of the engine, for the messages.
        start: starts it.

    Returns:
        The engine.

    Raises:
        GameError: there is no Java, or it could not start the engine.
    """
    if shutil.which("java") is None:
        raise GameError(
            f"{name} runs in Java, and no command 'java' was found. On Debian or Ubuntu: apt-get install "
            "default-jre-headless"
        )
    try:
        return start()
    except Exception as error:  # py4j passes on whatever the output of a broken Java makes of its port
        raise GameError(f"Java could not start {name}: {error!r:.300}") from error


class OnJava:
    """An engine behind py4j, with a ``close`` that waits for the end of its Java.

    Args:
        engine: the engine; all else is asked of it.
    """

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def close(self) -> None:
        """End the engine, and its Java even if that is stuck."""
        process = self._engine._gateway.java_process
        with suppress(Exception):  # a Java that Ctrl-C has ended already does not answer
            self._engine.close()
        try:
            process.wait(timeout=5)
        except Exception:
            process.kill()
            process.wait()
