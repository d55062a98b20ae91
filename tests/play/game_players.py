"""Agents for tests of plays, runs and sweeps: scripted, restless, slow."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, ClassVar

from worldthread.models.chat import Message
from worldthread.types import Episode
from worldthread_lab.agents.base import AgentMemory, Decision, PerceivingAgent, Percept
from worldthread_lab.agents.model_agent import Choice, ModelAgent
from worldthread_lab.agents.valid_actions import valid_actions_text
from worldthread_lab.envs.base import Info, RestorableEnvironment
from worldthread_lab.envs.fake import ScriptedHouse, ScriptedWorld, tiny_house


def back(moment: int) -> Decision:
    return Decision("", "back", return_to=moment)


def act(action: str, **more: Any) -> Decision:
    return Decision(action, "scripted", **more)


class Scripted(PerceivingAgent):
    """Follows a script and keeps its percepts; stops at the end of the script."""

    name = "scripted"

    def __init__(self, memory: AgentMemory, script: Iterable[Decision | str]) -> None:
        super().__init__(memory)
        self._script = [act(item) if isinstance(item, str) else item for item in script][::-1]
        self.percepts: list[Percept] = []

    def perceive(self, percept: Percept) -> Episode:
        self.percepts.append(percept)
        return super().perceive(percept)

    def decide(self) -> Decision:
        return self._script.pop() if self._script else Decision("", "no more", finished=True)


class Returning(Scripted):
    """The same, and it returns to earlier states."""

    returns: ClassVar[bool] = True


class Restless(ModelAgent):
    """Asks its model for every move; sometimes makes a bad decision or returns to some earlier state."""

    name = "restless"
    returns: ClassVar[bool] = True

    def __init__(self, memory: AgentMemory, model: Any, *, pause: float = 0.0, **options: Any) -> None:
        super().__init__(memory, model, **options)
        self._chance = random.Random(self.seed)
        self._pause = pause

    def _choose(self) -> Decision:
        time.sleep(self._pause)
        percept = self.percept
        assert percept is not None
        chance = self._chance.random()
        if percept.ended or (chance < 0.15 and not percept.returned):
            return Decision("", "restless", return_to=self._chance.randrange(len(self._episodes)))
        if chance < 0.25:
            return Decision("", "", problem="no idea")
        prompt = f"{percept.step.text}\n{valid_actions_text(self.offered or ())}\nmoves left: {percept.moves_left}"
        choice = self.ask("act", (Message("user", prompt),), Choice)
        return self.act(choice.action, choice.thought)


class Slow(Restless):
    """The same with a pause before every decision, long enough to be killed in it."""

    name = "slow"

    def __init__(self, memory: AgentMemory, model: Any, **options: Any) -> None:
        super().__init__(memory, model, pause=0.02, **options)


class Savable(ScriptedWorld, RestorableEnvironment):
    """A house that saves its state, and counts how often."""

    def __init__(
        self, draw: Callable[[int], ScriptedHouse] = tiny_house, *, digests: bool = True, **options: Any
    ) -> None:
        super().__init__(draw, **options)
        self._digests = digests
        self._kept: list[Any] = []
        self.saves = 0
        self.restores = 0
        self.resets = 0

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        self.resets += 1
        return super().reset(seed)

    def _read_info(self, rules: Any, state: Any, *, goal: str, moves: int) -> Info:
        info = super()._read_info(rules, state, goal=goal, moves=moves)
        return replace(info, state=str(hash(state))) if self._digests else info

    def save(self) -> bytes:
        self.saves += 1
        self._kept.append((self._state, self._info, self._running))
        return str(len(self._kept) - 1).encode()

    def restore(self, saved: bytes) -> tuple[str, Info]:
        self.restores += 1
        self._state, self._info, self._running = self._kept[int(saved)]
        assert self._rules is not None
        assert self._state is not None
        return self._rules.describe(self._state), self._info
