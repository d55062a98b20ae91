"""Ariadne (Anokhin et al. 2024): an agent that is reminded, plans, and acts; its memory is one of several."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from worldthread.agents.base import AgentMemory, Decision, Percept
from worldthread.agents.memory_modules import MemoryModuleFactory, ModuleContext, Situation, make_memory_module
from worldthread.agents.memory_modules.base import joined, listed, told, told_all
from worldthread.agents.model_agent import Choice, ModelAgent
from worldthread.agents.worldmap import WorldMap
from worldthread.errors import InputError
from worldthread.models import Embedder
from worldthread.models.chat import ChatModel, Message
from worldthread.models.prompts import load_prompt
from worldthread.types import Episode

RECENT: Final = 5
"""Earlier moments that every prompt shows, as in the published code."""
PROBLEMS: Final = 2
"""Choices that could not be used at this moment, as far as the prompts tell them; they tell the number of all."""
TEMPERATURE: Final = 0.2


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
    """Before every choice it is reminded by its memory module, revises its plan, and then acts by it (ReAct).

    1. The memory module says what it knows that matters now (:mod:`worldthread.agents.memory_modules`).
    2. Where it knows of ways that nobody took yet, and there is a plan, the model says whether the plan asks for
       exploring; only then are those ways shown. Without a plan they are.
    3. The model revises the plan: sub-goals with reasons. A plan that cannot be used leaves the old one in place.
    4. The model gives a reason and an action: of the valid ones, or ``go to <place>`` where the memory module has a
    map.

    Calls a decision: "act", "plan", mostly "explore", and those of the memory module. Goal, observation and the last
    moments (those at which it decided, not the steps of a ``go to``) are in every prompt. With a memory module that has
    no map it neither walks nor is it shown unexplored exits: such are the baselines of the paper.

    Args:
        memory: where percepts go.
        model: answers.
        memory module: a name of :data:`worldthread.agents.memory_modules.MEMORY_MODULES`, or what makes one.
        run: name of the play, the source of its episodes.
        use_valid_actions: whether the model is told the list of valid actions when the world gives one.
        temperature: of what is explored, planned and done. The published code has .2, and 1 for the action where it
            does not explore.
        seed: asked of the model with every request.
        max_tokens: limit of one answer; ``None`` leaves it to the server.
        recent: how many earlier moments every prompt shows; 0 or more.
        explore: ``False`` never shows unexplored exits ("without exploration").
        embedder: for memory modules that search: an embedder, or the name of one; ``None`` takes the default.
        truth: for the memory module "oracle" alone: gives the propositions that hold now.

    Raises:
        InputError: there is no such memory module, it needs what is not given, or ``recent`` is below 0.
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
        means = ModuleContext(memory, self, embedder, truth)
        self.memory_module = (
            make_memory_module(memory_module, means) if isinstance(memory_module, str) else memory_module(means)
        )
        self.plan: Plan | None = None
        self._recent = recent
        self._explore = explore
        self._goal = ""
        self._decided: set[str] = set()  # ids of the episodes after which it decided
        self._problems: list[str] = []  # of the choices at this moment so far

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
        way = self.way_to(percept.moment)
        recent = tuple(episode for episode in way[:-1] if episode.id in self._decided)
        recent = recent[max(len(recent) - self._recent, 0) :]
        situation = Situation(
            self._goal,
            percept.step.text,
            percept.step.inventory or "",
            "" if self.plan is None else str(self.plan),
            (*recent, way[-1]),
        )
        self._decided.add(way[-1].id)
        memory = self.memory_module.recall(situation)
        exits = self._exits_to_explore()
        self.plan = self._revised_plan(self._render(recent, way[-1], memory, exits))
        messages = _prompt(
            "ariadne_act",
            situation=joined(self._render(recent, way[-1], memory, exits), _under("The plan", str(self.plan or ""))),
            actions=self.actions_text(),
        )
        answer = self.ask("act", messages, Choice)
        return replace(self.act(answer.action, answer.thought), recalled=self.memory_module.recalled)

    def _exits_to_explore(self) -> list[tuple[str, str]]:
        """The unexplored exits that the model shall see."""
        exits = self.memory_module.unexplored() if self._explore else []
        if not exits or self.plan is None:
            return exits
        answer = self.advice("explore", _prompt("ariadne_explore", plan=str(self.plan)), Exploration)
        return exits if answer is not None and answer.explore else []

    def _revised_plan(self, told_so_far: str) -> Plan | None:
        before = "(none so far)" if self.plan is None else str(self.plan)
        messages = _prompt("ariadne_plan", situation=joined(told_so_far, _under("The plan before", before)))
        return self.advice("plan", messages, Plan) or self.plan

    def _render(self, recent: tuple[Episode, ...], now: Episode, memory: str, exits: list[tuple[str, str]]) -> str:
        """What the model is told before it plans and before it acts: the working memory."""
        return joined(
            _under("The task", self._goal or "None is stated. Find out what there is to do."),
            _under("From memory", memory),
            listed("Ways that were seen and never taken:", [f"{direction} from {room}" for room, direction in exits]),
            _under("The last moves", told_all(recent)),
            _under("Now", told(now)),
            listed(
                f"Your choices here that could not be used, {len(self._problems)} so far, of late:",
                self._problems[-PROBLEMS:],
            ),
        )


def _prompt(name: str, version: int = 1, /, **values: str) -> tuple[Message, ...]:
    return load_prompt("worldthread.agents", name, version).messages(**values)


def _under(heading: str, text: str) -> str:
    return f"{heading}:\n{text}" if text else ""
