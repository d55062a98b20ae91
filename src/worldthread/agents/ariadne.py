"""Ariadne (Anokhin et al. 2024): an agent that recalls, plans and acts, with one of several memory modules."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from worldthread.agents.base import AgentMemory, Decision, Percept
from worldthread.agents.memory_modules import MemoryModuleFactory, ModuleContext, Situation, make_memory_module
from worldthread.agents.memory_modules.base import joined, listed, render_step, render_steps
from worldthread.agents.model_agent import Choice, ModelAgent
from worldthread.agents.worldmap import WorldMap
from worldthread.errors import InputError
from worldthread.models import Embedder
from worldthread.models.chat import ChatModel, Message
from worldthread.models.prompts import load_prompt
from worldthread.types import Episode

RECENT: Final = 5
"""Earlier decisions that every prompt shows, as in the published code."""
PROBLEMS: Final = 2
"""Unusable choices in this state that a prompt quotes; it names the number of all. Chosen by hand, not tuned."""
TEMPERATURE: Final = 0.2
"""Temperature of all answers, as the published code has it for plans."""


class SubGoal(msgspec.Struct, forbid_unknown_fields=True):
    """A step of a plan: what to reach, and why, or how far it has come."""

    goal: str
    reason: str


class Plan(msgspec.Struct, forbid_unknown_fields=True):
    """A plan, in the order in which it shall be thought.

    Args:
        changes: what of the plan before is kept and what is changed, and why.
        main_goal: the task in the model's words.
        sub_goals: the most urgent first.
        emotion: a mood that the model claims.
        emotion_reason: what it gives as its cause.
    """

    changes: str
    main_goal: str
    sub_goals: Annotated[list[SubGoal], Meta(min_length=1, max_length=8)]
    emotion: str
    emotion_reason: str

    def __str__(self) -> str:
        goals = [f"{number}. {step.goal} ({step.reason})" for number, step in enumerate(self.sub_goals, 1)]
        return "\n".join(
            [f"Main goal: {self.main_goal}", *goals, f"Mood: {self.emotion} ({self.emotion_reason})"],
        )


class Exploration(msgspec.Struct, forbid_unknown_fields=True):
    """Whether a plan asks for exploring."""

    explore: bool


class Ariadne(ModelAgent):
    """Before every choice it recalls from its memory module, revises its plan, and then acts by the plan (ReAct).

    1. The memory module recalls what matters now (:mod:`worldthread.agents.memory_modules`).
    2. When it knows unexplored exits and there is a plan, the model says whether the plan asks for exploring; prompts
       list those exits only then. Without a plan they do.
    3. The model revises the plan: sub-goals with reasons. An unusable plan leaves the old one in place.
    4. The model gives a reason and an action: a valid one, or ``go to <place>`` where the memory module has a map.

    Calls of the model for each decision: "act", "plan", mostly "explore", and those of the memory module. Every prompt
    holds the goal, the observation and the last states in which it decided (without the steps of a ``go to``). With a
    memory module that has no map it neither walks nor lists unexplored exits, like the baselines of the paper.

    Args:
        memory: takes the episodes.
        model: the chat model.
        memory_module: a name of :data:`worldthread.agents.memory_modules.MEMORY_MODULES`, or a factory of one.
        run: the name of the play, used as the source of its episodes.
        use_valid_actions: whether prompts list the valid actions when the world gives them.
        temperature: of the answers about exploring, planning and acting; 0 or more. The published code has 0.2, and 1
            for the action when it does not explore.
        seed: sent to the model with every request.
        max_tokens: limit of one answer; ``None`` leaves it to the server.
        recent: earlier decisions that every prompt shows; 0 or more.
        explore: ``False`` never lists unexplored exits ("without exploration" in the paper).
        embedder: for memory modules that search: an embedder, or the name of one; ``None`` takes the default.
        truth: for the memory module "oracle" only: returns the propositions that hold now.

    Raises:
        InputError: there is no such memory module, it needs an argument that is missing, or ``recent`` is below 0.
    """

    name: Final = "ariadne"
    walks: ClassVar[bool] = True

    def __init__(
        self,
        memory: AgentMemory,
        model: ChatModel,
        *,
        memory_module: str | MemoryModuleFactory = "worldthread",
        run: str = "play",
        use_valid_actions: bool = True,
        temperature: float = TEMPERATURE,
        seed: int = 0,
        max_tokens: int | None = None,
        recent: int = RECENT,
        explore: bool = True,
        embedder: Embedder | str | None = None,
        truth: Callable[[], Collection[tuple[str, ...]]] | None = None,
    ) -> None:
        super().__init__(
            memory,
            model,
            run=run,
            use_valid_actions=use_valid_actions,
            temperature=temperature,
            seed=seed,
            max_tokens=max_tokens,
        )
        if recent < 0:
            raise InputError(f"recent must be at least 0, not {recent}")
        context = ModuleContext(memory, self, embedder, truth)
        self.memory_module = (
            make_memory_module(memory_module, context) if isinstance(memory_module, str) else memory_module(context)
        )
        self.plan: Plan | None = None
        self._recent = recent
        self._explore = explore
        self._goal = ""
        self._decided: set[str] = set()  # ids of the episodes after which it decided
        self._problems: list[str] = []  # of the choices in this state so far

    def perceive(self, percept: Percept) -> Episode:
        episode = super().perceive(percept)
        self.memory_module.observe(percept, episode)
        self._goal = self._goal or percept.step.goal
        if percept.problem:
            self._problems.append(percept.problem)
        else:
            self._problems.clear()
        return episode

    def world_map(self) -> WorldMap | None:
        return self.memory_module.world_map()

    def _choose(self) -> Decision:
        percept = self.percept
        assert percept is not None
        path = self.episodes_to(percept.moment)
        recent = tuple(episode for episode in path[:-1] if episode.id in self._decided)
        recent = recent[max(len(recent) - self._recent, 0) :]
        situation = Situation(
            self._goal,
            percept.step.text,
            percept.step.inventory or "",
            "" if self.plan is None else str(self.plan),
            (*recent, path[-1]),
        )
        self._decided.add(path[-1].id)
        memory = self.memory_module.recall(situation)
        exits = self._exits_to_explore()
        self.plan = self._revised_plan(self._render(recent, path[-1], memory, exits))
        messages = _prompt(
            "ariadne_act",
            situation=joined(self._render(recent, path[-1], memory, exits), _under("The plan", str(self.plan or ""))),
            actions=self.actions_text(),
        )
        answer = self.ask("act", messages, Choice)
        return replace(self.act(answer.action, answer.thought), recalled=self.memory_module.recalled)

    def _exits_to_explore(self) -> list[tuple[str, str]]:
        """Return the unexplored exits that prompts list."""
        exits = self.memory_module.unexplored() if self._explore else []
        if not exits or self.plan is None:
            return exits
        answer = self.ask_optional("explore", _prompt("ariadne_explore", plan=str(self.plan)), Exploration)
        return exits if answer is not None and answer.explore else []

    def _revised_plan(self, situation: str) -> Plan | None:
        before = "(none so far)" if self.plan is None else str(self.plan)
        messages = _prompt("ariadne_plan", situation=joined(situation, _under("The plan before", before)))
        return self.ask_optional("plan", messages, Plan) or self.plan

    def _render(self, recent: tuple[Episode, ...], now: Episode, memory: str, exits: list[tuple[str, str]]) -> str:
        """Return the working memory: what the model reads before it plans and before it acts."""
        return joined(
            _under("The task", self._goal or "None is stated. Find out what there is to do."),
            _under("From memory", memory),
            listed("Ways that were seen and never taken:", [f"{direction} from {room}" for room, direction in exits]),
            _under("The last moves", render_steps(recent)),
            _under("Now", render_step(now)),
            listed(
                f"Your choices here that could not be used, {len(self._problems)} so far, of late:",
                self._problems[-PROBLEMS:],
            ),
        )


def _prompt(name: str, version: int = 1, /, **values: str) -> tuple[Message, ...]:
    return load_prompt("worldthread.agents", name, version).messages(**values)


def _under(heading: str, text: str) -> str:
    return f"{heading}:\n{text}" if text else ""
