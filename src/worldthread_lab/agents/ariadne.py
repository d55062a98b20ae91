"""Ariadne (Anokhin et al. 2024): an agent that recalls, plans and acts, with one of several memory modules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import Meta

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph
from worldthread.models import Embedder
from worldthread.models.chat import ChatModel, Message
from worldthread.models.prompts import load_prompt
from worldthread.support.text import one_line
from worldthread.types import Episode
from worldthread_lab.agents.base import AgentMemory, Decision, Percept
from worldthread_lab.agents.memory_modules import MemoryModuleFactory, ModuleContext, Situation, make_memory_module
from worldthread_lab.agents.memory_modules.base import joined, listed, render_step, render_steps
from worldthread_lab.agents.model_agent import Choice, ModelAgent
from worldthread_lab.agents.prompting import score_text, shorten
from worldthread_lab.agents.worldmap import WorldMap
from worldthread_lab.game import vocabulary
from worldthread_lab.game.refusals import is_refusal
from worldthread_lab.game.room_title import find_room_title

RECENT: Final = 5
"""Earlier decisions that every prompt shows, as in the published code."""
PROBLEMS: Final = 2
"""Unusable choices in this state that a prompt quotes; it names the number of all. Chosen by hand, not tuned."""
CALLS: Final = ("one", "three")
"""The values of the argument ``calls``."""
TEXT_LIMIT: Final = 600
"""Default length of an observation among the last moves with one call, in characters. Chosen by hand, not tuned."""
LEAST_TEXT_LIMIT: Final = 20
"""The least value of the argument ``text_limit``."""
_WORDS_OF_GOAL: Final = 4  # a shorter goal is not left out of observations
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


class SubGoals(msgspec.Struct, forbid_unknown_fields=True):
    """The plan of :class:`Ariadne` with one call.

    Args:
        sub_goals: what to reach, in order.
        explore: whether the first of them need unexplored places.
    """

    sub_goals: Annotated[list[str], Meta(min_length=1, max_length=8)]
    explore: bool

    def __str__(self) -> str:
        return "\n".join(f"{number}. {one_line(goal)}" for number, goal in enumerate(self.sub_goals, 1))


class PlannedChoice(msgspec.Struct, forbid_unknown_fields=True):
    """The answer of :class:`Ariadne` with one call, in the order in which it shall be thought.

    Args:
        thought: the reasons.
        done: numbers of the sub-goals that are reached, from 1.
        plan: the new plan; ``None`` keeps the old one.
        action: the command.
    """

    thought: str
    done: Annotated[list[int], Meta(max_length=8)]
    plan: SubGoals | None
    action: str


class Exploration(msgspec.Struct, forbid_unknown_fields=True):
    """Whether a plan asks for exploring."""

    explore: bool


class Ariadne(ModelAgent):
    """Recalls from its memory module before every choice, keeps a plan, and acts on it.

    The memory module (:mod:`worldthread_lab.agents.memory_modules`) recalls what matters now. Then, with one call
    ("act"), the model gives a reason, the sub-goals that are reached, and an action: a valid one, or ``go to <place>``
    where the memory module has a map. It is asked for a new plan when there is none, the room is new, the last action
    failed or a sub-goal was reached; at any other time it may give one. Unexplored exits are listed when the plan says
    that it needs them, and without a plan. Every prompt holds the task, the score and what the last choice did to it,
    what is seen now, and the last states in which the agent decided (without the steps of a ``go to``); of rooms whose
    things the memory module lists, the description is not repeated.

    ``calls="three"`` is the agent of the paper: the model says whether the plan asks for exploring ("explore", when
    there are unexplored exits), revises the plan ("plan"; an unusable plan leaves the old one in place), and acts
    ("act").

    With a memory module that has no map it neither walks nor lists unexplored exits, like the baselines of the paper.

    Args:
        memory: takes the episodes.
        model: the chat model.
        memory_module: a name of :data:`worldthread_lab.agents.memory_modules.MEMORY_MODULES`, or a factory of one.
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
        calls: calls of the model for each decision, beside those of the memory module: ``"one"`` or ``"three"``.
        text_limit: an observation among the last moves, in characters, with one call; the present one is shown whole.
        memory_settings: settings of the memory module that ``memory_module`` names, by name.

    Raises:
        InputError: there is no such memory module, it needs an argument that is missing, ``calls`` is neither of the
            two, or a number is too small.
    """

    name: Final = "ariadne"
    walks: ClassVar[bool] = True
    former_options: ClassVar[Mapping[int, Mapping[str, Any]]] = {1: {"calls": "three"}}

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
        calls: str = "one",
        text_limit: int = TEXT_LIMIT,
        memory_settings: Mapping[str, Any] | None = None,
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
        if calls not in CALLS:
            raise InputError(f"calls must be {' or '.join(map(repr, CALLS))}, not {calls!r}")
        if text_limit < LEAST_TEXT_LIMIT:
            raise InputError(f"text_limit must be at least {LEAST_TEXT_LIMIT}, not {text_limit}")
        context = ModuleContext(memory, self, embedder, truth)
        self.memory_module = (
            make_memory_module(memory_module, context, memory_settings)
            if isinstance(memory_module, str)
            else memory_module(context)
        )
        self.plan: Plan | SubGoals | None = None
        self.calls = calls
        self._recent = recent
        self._explore = explore
        self._goal = ""
        self._decided: set[str] = set()  # ids of the episodes after which it decided
        self._problems: list[str] = []  # of the choices in this state so far
        self._text_limit = text_limit
        self._percepts: list[Percept] = []  # by number of the state
        self._rooms: set[str] = set()  # those in which it decided
        self._goal_reached = False  # by the last choice
        self._before: Percept | None = None  # the state in which it decided last

    def perceive(self, percept: Percept) -> Episode:
        episode = super().perceive(percept)
        self.memory_module.observe(percept, episode)
        self._goal = percept.step.goal or self._goal
        if len(self._percepts) == percept.moment:
            self._percepts.append(percept)
        if percept.problem:
            self._problems.append(percept.problem)
        else:
            self._problems.clear()
        return episode

    @property
    def module_graph(self) -> TemporalGraph | None:
        return self.memory_module.graph

    def module_episodes(self) -> tuple[Episode, ...]:
        return self.memory_module.graph_episodes()

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
            brief=self.calls == "one",
        )
        self._decided.add(path[-1].id)
        memory = self.memory_module.recall(situation)
        if self.calls == "one":
            return self._choose_with_one_call(recent, memory)
        exits = self._exits_to_explore()
        self.plan = self._revised_plan(self._render(recent, path[-1], memory, exits))
        messages = _prompt(
            "ariadne_act",
            situation=joined(self._render(recent, path[-1], memory, exits), _under("The plan", str(self.plan or ""))),
            actions=self.actions_text(),
        )
        answer = self.ask("act", messages, Choice)
        return replace(self.act(answer.action, answer.thought), recalled=self.memory_module.recalled)

    # -- one call -----------------------------------------------------------------------------------------------------

    def _choose_with_one_call(self, recent: tuple[Episode, ...], memory: str) -> Decision:
        assert self.percept is not None
        plan = self.plan if isinstance(self.plan, SubGoals) else None
        wanted = self._why_plan()
        messages = _prompt(
            "ariadne",
            situation=self._brief_situation(recent, memory, plan),
            planning=f"A new plan is wanted: {wanted}." if wanted else "Keep the plan, unless it cannot be kept.",
            actions=self.actions_text(),
        )
        self._before = self.percept
        answer = self.ask("act", messages, PlannedChoice)
        self._take_plan(plan, answer)
        return replace(self.act(answer.action, answer.thought), recalled=self.memory_module.recalled)

    def _why_plan(self) -> str:
        """Return why a new plan is wanted; empty when it is not."""
        assert self.percept is not None
        here = WorldMap(self.memory.view()).here
        is_new, before = here is not None and here not in self._rooms, self._before
        if here is not None:
            self._rooms.add(here)
        if self.plan is None:
            return "there is none"
        if self._goal_reached:
            return "a sub-goal was reached"
        if is_new:
            return "this place is new"
        if before is not None and (self.percept.problem or _failed(before, self.percept)):
            return "the last command failed"
        return ""

    def _take_plan(self, plan: SubGoals | None, answer: PlannedChoice) -> None:
        """Take the new plan, or the old one without what is reached."""
        self._goal_reached = False
        if answer.plan is not None:
            self.plan = answer.plan
        elif plan is not None and (done := {n for n in answer.done if 1 <= n <= len(plan.sub_goals)}):
            left = [goal for number, goal in enumerate(plan.sub_goals, 1) if number not in done]
            self.plan = SubGoals(left, plan.explore) if left else None
            self._goal_reached = True

    def _brief_situation(self, recent: tuple[Episode, ...], memory: str, plan: SubGoals | None) -> str:
        """Return the working memory for one call: what the memory lists is not repeated."""
        assert self.percept is not None
        exits = self.memory_module.unexplored() if self._explore and (plan is None or plan.explore) else []
        shown = {episode.id for episode in recent}
        path = self.path_to(self.percept.moment)
        moves = [self._brief_step(number) for number in path[:-1] if self._episodes[number].id in shown]
        problems = [shorten(problem, self._text_limit) for problem in self._problems[-PROBLEMS:]]
        return joined(
            _under("The task", self._goal or "None is stated. Find out what there is to do, and score points."),
            f"Score: {score_text(self.percept, self._before)}",
            _under("Your plan", "" if plan is None else str(plan)),
            _under("From memory", memory),
            listed(
                "Ways that nobody took yet:",
                [f"{room}: {', '.join(ways)}" for room, ways in _by_room(exits)],
            ),
            _under("Your last moves", "\n".join(moves)),
            _under("Now", self._present(path[-1])),
            listed(f"Your choices here that could not be used, {len(self._problems)} so far, of late:", problems),
        )

    def _brief_step(self, number: int) -> str:
        """Return an earlier move on one line, without the description of a room that the memory lists."""
        percept = self._percepts[number]
        before = None if percept.before is None else self._percepts[percept.before]
        text = self._without_goal(percept.step.text)
        if percept.lists_all and self.memory_module.lists_rooms:  # else its description tells more than facts do
            title = find_room_title(text, percept.step.action, self._is_room)
            text = text if title is None else f"{title.before.strip()} ({title.name})".strip()
        gained = 0.0 if before is None else percept.score - before.score
        points = f" [{gained:+g} points]" if gained else ""
        command = f"> {percept.step.action}" if percept.step.action else "The game begins"
        return f"[move {percept.step.turn:g}] {command}{points}: {shorten(text, self._text_limit)}"

    def _is_room(self, name: str) -> bool:
        return bool(self.memory.view().facts(name, vocabulary.IS_A, "room"))

    def _present(self, number: int) -> str:
        step = self._percepts[number].step
        command = f"> {step.action}\n" if step.action else ""
        inventory = f"\n\n{step.inventory}" if step.inventory else ""
        return f"[move {step.turn:g}] {command}{self._without_goal(step.text).strip()}{inventory}"

    def _without_goal(self, text: str) -> str:
        # a goal of a word or two, such as one's own "lamp", is a part of what is seen
        return text.replace(self._goal, "").rstrip() if len(self._goal.split()) >= _WORDS_OF_GOAL else text

    # -- three calls --------------------------------------------------------------------------------------------------

    def _exits_to_explore(self) -> list[tuple[str, str]]:
        """Return the unexplored exits that prompts list."""
        exits = self.memory_module.unexplored() if self._explore else []
        if not exits or self.plan is None:
            return exits
        answer = self.ask_optional("explore", _prompt("ariadne_explore", plan=str(self.plan)), Exploration)
        return exits if answer is not None and answer.explore else []

    def _revised_plan(self, situation: str) -> Plan | SubGoals | None:
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
    return load_prompt("worldthread_lab.agents", name, version).messages(**values)


def _failed(before: Percept, now: Percept) -> bool:
    """Return whether the command between two states was refused, and changed nothing that the agent perceives."""
    unchanged = now.score == before.score and now.step.inventory == before.step.inventory
    return unchanged and (now.state is None or now.state == before.state) and is_refusal(now.step.text)


def _by_room(exits: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Return the directions of exits by room, in the order of the rooms."""
    found: dict[str, list[str]] = {}
    for room, direction in exits:
        found.setdefault(room, []).append(direction)
    return list(found.items())


def _under(heading: str, text: str) -> str:
    return f"{heading}:\n{text}" if text else ""
