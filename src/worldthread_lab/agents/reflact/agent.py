"""Reflect, then act: the model compares the objective with the state of the world before every action.

After ReflAct (arXiv:2505.15182) and the zorkclaw agent, whose helpers it has: a summary, hints, a critic, a check of
conversations, and a loop detector. The memory is a worldthread memory; rules answer the questions to it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

import msgspec

from worldthread.errors import AnswerError
from worldthread.models.chat import ChatModel, Message
from worldthread.types import Episode
from worldthread_lab.agents.base import AgentMemory, Decision, Percept
from worldthread_lab.agents.model_agent import ModelAgent
from worldthread_lab.agents.prompting import first_lines, offered_text, prompt, score_text, shorten, task_text
from worldthread_lab.agents.reflact.critic import (
    ActionOutcome,
    CriticVerdict,
    RoomLog,
    action_key,
    is_rejected,
    judge,
    suggestion,
)
from worldthread_lab.agents.reflact.lookup import QUESTIONS, carried, look_up, surroundings
from worldthread_lab.agents.reflact.loop_detector import LoopDetector, talk_is_stalled
from worldthread_lab.agents.reflact.settings import DEFAULT_SETTINGS, FORMER_SETTINGS, ReflActSettings
from worldthread_lab.agents.worldmap import WorldMap
from worldthread_lab.game.commands import direction_of

MEMORY: Final = "memory:"
"""The start of an action that is a question to the memory."""
PROMPT_CHARACTERS: Final = 40_000
"""The most characters of a prompt, without the model's own answers in it; it follows from the default settings."""
NOTHING: Final = "(nothing yet)"
SHOWN_BELOW: Final = "(see below)"
"""Stands for an answer of the game that the prompt shows as what it says now."""


class Reflected(msgspec.Struct, forbid_unknown_fields=True):
    """The answer to "what next?", in the order in which it shall be thought."""

    reflection: str
    objective: str
    action: str


class Summary(msgspec.Struct, forbid_unknown_fields=True):
    """What happened so far."""

    summary: str


class Hints(msgspec.Struct, forbid_unknown_fields=True):
    """What to try first in a room."""

    actions: list[str]


class TalkHint(msgspec.Struct, forbid_unknown_fields=True):
    """What a conversation waits for, and the command to try."""

    needs: str
    next: str


class ReflAct(ModelAgent):
    """Plays one game from its beginning to its end, with a persistent objective and a critic of its actions.

    Each decision is one call of the model, and one more for each question to the memory (two at most) and when the
    critic rejects the action. It also calls the model for the record (after 5 moves or a change of the score, about the
    moves since the last time; what is new is added, and a record that grew too long is written anew), for hints (once
    a room; a hint that was tried is not shown again, and all expire after some moves there), and about a conversation
    that leads nowhere. It can do without these answers: an unusable one is counted in :attr:`failures` and mentioned
    in the reason of the decision.

    The critic (:func:`~worldthread_lab.agents.reflact.critic.judge`) changes no action unless the settings say so: the
    model reads once why the action was rejected, and what was not tried yet, and what it chooses then is done.

    Args:
        memory: takes the episodes, and answers with what is known.
        model: the chat model.
        settings: when helpers are called, and how long the parts of prompts are.
        options: those of :class:`~worldthread_lab.agents.model_agent.ModelAgent`.
    """

    name: Final = "reflact"
    former_options: ClassVar[Mapping[int, Mapping[str, Any]]] = {
        rules: {"settings": settings} for rules, settings in FORMER_SETTINGS.items()
    }

    def __init__(
        self,
        memory: AgentMemory,
        model: ChatModel,
        *,
        settings: ReflActSettings = DEFAULT_SETTINGS,
        **options: Any,
    ) -> None:
        super().__init__(memory, model, **options)
        self.settings = settings
        self.objective = ""
        self.summary = ""
        self._hints: dict[str, tuple[str, ...]] = {}  # by room
        self._hints_left: Counter[str] = Counter()  # moves in the room until they expire
        self.talk: TalkHint | None = None
        self.log = RoomLog(settings)
        self.loop_detector = LoopDetector(settings)
        self.verdicts: Counter[str] = Counter()
        """How often the critic ``rejected`` an action, and how often the model then ``changed`` or ``kept`` it, or the
        critic ``replaced`` it; and how often a loop was ``broken`` by a look."""
        self.questions = 0
        """How many questions the memory was asked."""
        self._goal = ""
        self._room = ""
        self._carried: frozenset[str] = frozenset()
        self._recent: deque[ActionOutcome] = deque(maxlen=settings.summary_moves)
        self._unrecorded: deque[ActionOutcome] = deque(maxlen=settings.summary_moves)  # since the last summary
        self._decided_on: Percept | None = None
        self._problem = ""  # why the last decision had no effect
        self._summarised = 0  # number of moves at the last summary
        self._new_score = False  # since the last summary
        self._new_room = True  # since the last hints
        self._talk_looked: int | None = None  # number of moves when the model was last asked about this conversation

    def perceive(self, percept: Percept) -> Episode:
        before = self.percept
        episode = super().perceive(percept)
        self._problem = percept.problem
        if percept.problem:
            return episode
        self._goal = percept.step.goal or self._goal
        view = self.memory.view()
        room, holds = WorldMap(view).here or "", frozenset(carried(view))
        moved = room != self._room
        action = percept.step.action
        if action is not None and before is not None:
            # rooms may share a name: a move in a direction that changed the state of the world led somewhere
            moved = moved or (direction_of(action) is not None and percept.state != before.state)
            gained, lost = tuple(sorted(holds - self._carried)), tuple(sorted(self._carried - holds))
            outcome = ActionOutcome(action, percept.step.text, percept.score - before.score, moved, gained, lost)
            self.log.record(self._room, outcome)
            self._recent.append(outcome)
            self._unrecorded.append(outcome)
            self._hints_left[self._room] -= 1
            self._new_score = self._new_score or outcome.reward != 0
        self.loop_detector.record(action, percept.score, percept.state)
        if moved:
            self._new_room, self.talk, self._talk_looked = True, None, None
            if self.settings.version == 1:
                self._hints.clear()
        self._room, self._carried = room, holds
        return episode

    def _choose(self) -> Decision:
        self._summarise()
        self._find_hints()
        self._check_conversation()
        if self.loop_detector.is_hard_loop:
            self.verdicts["broken"] += 1
            return self.act("look", f"the last {self.settings.hard_loop} actions were equal: a look breaks the loop")
        answer, messages = self._answered(self._messages())
        verdict = self._verdict(answer.action)
        if is_rejected(verdict, self.loop_detector.revisits, self.settings):
            self.verdicts["rejected"] += 1
            first = answer.action
            rejected = shorten(first, self.settings.action_limit)
            untried = suggestion(self.log.tried(self._room), offered=self.offered, hinted=self.hints)
            if self.settings.critic == "replace" and untried is not None:
                self.verdicts["replaced"] += 1
                return self.act(untried, f"in place of {rejected!r}: {verdict.reason} (objective: {self.objective})")
            objection = prompt(
                "reflact_rejected",
                action=rejected,
                reason=verdict.reason,
                instead=f' What was not tried here is, for example, "{untried}".' if untried else "",
            )
            answer, _ = self._answered((*messages, _as_message(answer), *objection))
            outcome = "kept" if answer.action == first else "changed"
            self.verdicts[outcome] += 1
            self.remark(f"the critic was against {rejected!r}, since {verdict.reason}: {outcome}")
        return self.act(answer.action, f"{answer.reflection} (objective: {self.objective})")

    def _answered(self, messages: tuple[Message, ...]) -> tuple[Reflected, tuple[Message, ...]]:
        """Ask the model for a command, and answer its questions to the memory.

        Args:
            messages: the prompt.

        Returns:
            The answer with a command, and the messages before it.

        Raises:
            AnswerError: the model only asked questions, or gave no answer that can be used.
        """
        most = self.settings.memory_questions
        for left in range(most, -1, -1):
            answer = self.ask("act", messages, Reflected)
            self.objective = shorten(answer.objective, self.settings.objective_limit) or self.objective
            action = answer.action.strip()
            if not action.casefold().startswith(MEMORY):
                return answer, messages
            if left:
                self.questions += 1
                found = shorten(look_up(self.memory.view(), action[len(MEMORY) :].strip()), self.settings.memory_limit)
                more = "Ask once more, or give a command." if left > 1 else "Give a command now."
                messages = (*messages, _as_message(answer), *prompt("reflact_memory", answer=found, left=more))
        self.failures["act"] += 1
        raise AnswerError(f"the model asked its memory {most + 1} times, and gave no command", text=action)

    def _verdict(self, action: str) -> CriticVerdict:
        return judge(
            action,
            self.log.outcomes(self._room),
            recent=tuple(self._recent),
            offered=self.offered,
            settings=self.settings,
        )

    # -- helpers ------------------------------------------------------------------------------------------------------

    def _summarise(self) -> None:
        if not self._recent or not (
            self._new_score or self.loop_detector.moves - self._summarised >= self.settings.summary_every
        ):
            return
        self._summarised, self._new_score = self.loop_detector.moves, False
        if self.settings.version > 1:
            self._add_to_record()
            return
        messages = prompt(
            "reflact_summary", task=self._task, before=self.summary or NOTHING, moves=self._render(self._recent)
        )
        found = self.ask_optional("summarise", messages, Summary)
        if found is not None:
            self.summary = shorten(found.summary, self.settings.summary_limit)

    def _add_to_record(self) -> None:
        """Add what is new to the summary, or have it written anew when it is too long."""
        is_long = len(self.summary) > self.settings.summary_limit
        name = "reflact_summary" if is_long else "reflact_addition"
        moves = self._render(self._unrecorded)
        messages = prompt(name, task=self._task, before=self.summary or NOTHING, moves=moves)
        found = self.ask_optional("summarise", messages, Summary)
        if found is None:
            return  # the moves stay for the next time
        self._unrecorded.clear()
        new = shorten(found.summary, self.settings.summary_limit)
        self.summary = new if is_long else "\n".join(filter(None, (self.summary, new)))

    @property
    def hints(self) -> tuple[str, ...]:
        """The hints for the present room that hold: in version 2 those that were not tried, until they expire."""
        found = self._hints.get(self._room, ())
        if self.settings.version == 1:
            return found
        tried = set(map(action_key, self.log.tried(self._room)))
        return (
            tuple(hint for hint in found if action_key(hint) not in tried) if self._hints_left[self._room] > 0 else ()
        )

    def _find_hints(self) -> None:
        if not self._new_room:
            return
        self._new_room = False
        if self.settings.version > 1 and self._room in self._hints:
            return
        messages = prompt(
            "reflact_hints",
            task=self._task,
            observation=self._observation,
            tried=self._tried_here,
            actions=offered_text(self.offered, self.settings.actions_limit, lists_all=self.lists_all),
        )
        found = self.ask_optional("hint", messages, Hints)
        if found is not None:
            self._hints_left[self._room] = self.settings.hint_moves
            self._hints[self._room] = tuple(
                shorten(action, self.settings.action_limit) for action in found.actions[: self.settings.hints]
            )

    def _check_conversation(self) -> None:
        outcomes = self.log.outcomes(self._room)
        since = None if self._talk_looked is None else self.loop_detector.moves - self._talk_looked
        actions = (outcome.action for outcome in outcomes)
        if not talk_is_stalled(actions, self.loop_detector.since_score, since, self.settings):
            return
        self._talk_looked = self.loop_detector.moves
        lines = self._render(outcomes[-self.settings.talk_moves :])
        found = self.ask_optional("talk", prompt("reflact_talk", task=self._task, deeds=lines), TalkHint)
        if found is not None:
            self.talk = found

    # -- prompts ------------------------------------------------------------------------------------------------------

    def _messages(self) -> tuple[Message, ...]:
        assert self.percept is not None
        if self.settings.version < 3:
            return self._messages_with_all_sections()
        before, self._decided_on = self._decided_on, self.percept
        return prompt(
            "reflact",
            self.settings.version,
            task=self._task,
            questions="\n".join(f"- {MEMORY} {question}" for question in QUESTIONS),
            known=self._known(),
            score=score_text(self.percept, before),
            observation=self._observation,
            actions=offered_text(self.offered, self.settings.actions_limit, lists_all=self.lists_all),
        )

    def _known(self) -> str:
        """Return what is known beside the present observation, each section under its heading."""
        settings, talk = self.settings, self.talk
        moves = list(self._recent)[-settings.shown_moves :]
        shown = set(map(id, moves))
        earlier = [outcome for outcome in reversed(self.log.outcomes(self._room)) if id(outcome) not in shown]
        lines = list(_lines(moves, settings.text_limit, settings.action_limit))
        if moves and self.percept is not None and moves[-1].text == self.percept.step.text:
            lines[-1:] = _lines([replace(moves[-1], text=SHOWN_BELOW)], settings.text_limit, settings.action_limit)
        needs, suggested = (talk.needs, talk.next) if talk else ("", "")
        conversation = f"{shorten(needs, settings.text_limit)} Try: {shorten(suggested, settings.action_limit)}"
        tried = shorten(", ".join(self.log.tried(self._room)), settings.tried_limit)
        results = first_lines(_lines(earlier, settings.action_limit, settings.action_limit), settings.outcomes_limit)
        warnings = self.loop_detector.warnings()
        if self._problem:
            warnings.append(f"Nothing was done with your last answer: {shorten(self._problem, settings.text_limit)}")
        sections = (
            ("Present objective: ", self.objective),
            ("What happened so far:\n", self.summary),
            ("The last moves:\n", "\n".join(lines)),
            ("Tried in this room: ", tried),
            ("What came of it before the last moves:\n", results),
            ("From memory:\n", first_lines(surroundings(self.memory.view()), settings.memory_limit)),
            ("Worth trying here, and not tried yet: ", ", ".join(self.hints)),
            ("About the conversation here: ", conversation if talk else ""),
            ("", "\n".join(warnings)),
        )
        return "\n\n".join(heading + text for heading, text in sections if text)

    def _messages_with_all_sections(self) -> tuple[Message, ...]:
        """Return the messages of the versions before."""
        assert self.percept is not None
        settings = self.settings
        here = _lines(reversed(self.log.outcomes(self._room)), settings.action_limit, settings.action_limit)
        warnings = self.loop_detector.warnings()
        if self._problem:
            warnings.append(f"Nothing was done with your last answer: {shorten(self._problem, settings.text_limit)}")
        talk = self.talk
        before, self._decided_on = self._decided_on, self.percept
        return prompt(
            "reflact",
            settings.version,
            task=self._task,
            questions="\n".join(f"- {MEMORY} {question}" for question in QUESTIONS),
            objective=self.objective or NOTHING,
            summary=self.summary or NOTHING,
            moves=self._render(list(self._recent)[-self.settings.shown_moves :]),
            tried=self._tried_here,
            deeds=first_lines(here, settings.outcomes_limit) or NOTHING,
            memory=first_lines(surroundings(self.memory.view(), says_what_is_unknown=True), self.settings.memory_limit),
            hints=", ".join(self.hints) or NOTHING,
            talk=f"{shorten(talk.needs, settings.text_limit)} Try: {shorten(talk.next, settings.action_limit)}"
            if talk
            else NOTHING,
            warnings="\n".join(warnings) or "No loop was noticed.",
            score=f"{self.percept.score:g}" if settings.version == 1 else score_text(self.percept, before),
            observation=self._observation,
            actions=offered_text(self.offered, self.settings.actions_limit, lists_all=self.lists_all),
        )

    @property
    def _task(self) -> str:
        return task_text(self._goal)

    @property
    def _observation(self) -> str:
        assert self.percept is not None
        return shorten(self.percept.step.text, self.settings.observation_limit)

    @property
    def _tried_here(self) -> str:
        return shorten(", ".join(self.log.tried(self._room)), self.settings.tried_limit) or NOTHING

    def _render(self, outcomes: Iterable[ActionOutcome]) -> str:
        lines = _lines(outcomes, self.settings.text_limit, self.settings.action_limit)
        return "\n".join(lines) or NOTHING


def _as_message(answer: Reflected) -> Message:
    return Message("assistant", msgspec.json.encode(answer).decode())


def _lines(outcomes: Iterable[ActionOutcome], text_limit: int, action_limit: int) -> Iterator[str]:
    """Yield outcomes of actions, a line each, with texts of limited length."""
    for outcome in outcomes:
        effects = [f"{outcome.reward:+g} points"] if outcome.reward else []
        effects += [f"gained {', '.join(outcome.gained)}"] if outcome.gained else []
        effects += [f"lost {', '.join(outcome.lost)}"] if outcome.lost else []
        effects += ["led elsewhere"] if outcome.moved else []
        effect = f" [{shorten('; '.join(effects), action_limit)}]" if effects else ""
        yield f"> {shorten(outcome.action, action_limit)}: {shorten(outcome.text, text_limit)}{effect}"
