"""Reflect, then act: every action follows from holding the objective against the state of the world.

After ReflAct (arXiv:2505.15182) and the zorkclaw agent, whose helpers it has: a summary, hints, a critic, an eye on
conversations, and watches for loops. The memory is a worldthread memory, and questions to it are answered by rules.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from worldthread.agents.base import AgentMemory, Decision, Percept
from worldthread.agents.model_agent import ModelAgent
from worldthread.agents.prompting import first_lines, offered_text, prompt, shorten, task_text
from worldthread.agents.reflact.critic import ActionOutcome, CriticVerdict, RoomLog, is_rejected, judge, suggestion
from worldthread.agents.reflact.lookup import QUESTIONS, carried, look_up, surroundings
from worldthread.agents.reflact.loop_detector import LoopDetector, talk_is_stalled
from worldthread.agents.worldmap import WorldMap
from worldthread.errors import AnswerError
from worldthread.extract.game.commands import direction_of
from worldthread.models.chat import ChatModel, Message
from worldthread.types import Episode

MEMORY: Final = "memory:"
"""How an action begins that asks the memory."""
MEMORY_QUESTIONS: Final = 2
"""Questions to the memory before a command, at most."""
SUMMARY_EVERY: Final = 5
SUMMARY_MOVES: Final = 30
TOLD_MOVES: Final = 10
TALK_MOVES: Final = 10
HINTS: Final = 5
TEXT_LIMIT: Final = 400
DEED_LIMIT: Final = 120
DEEDS_LIMIT: Final = 4000
TRIED_LIMIT: Final = 2000
SUMMARY_LIMIT: Final = 1500
OBJECTIVE_LIMIT: Final = 300
OBSERVATION_LIMIT: Final = 4000
MEMORY_LIMIT: Final = 2500
ACTIONS_LIMIT: Final = 6000
PROMPT_CHARACTERS: Final = 40_000
"""No prompt is longer, apart from the model's own answers that it is shown."""
NOTHING: Final = "(nothing yet)"


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
    """Plays one game from its beginning to its end, with a persistent objective.

    Each decision is one call of the model, and one more for each question to the memory (two at most) and when the
    critic is against the action. Besides it calls the model for a summary (after 5 moves or a change of the score), for
    hints (in another room than before), and about a conversation that leads nowhere; of these an answer that cannot be
    used is counted in :attr:`failures`, told in the reason of the decision, and done without.

    The critic (:func:`~worldthread.agents.reflact.critic.judge`) never changes an action: the model is told once why it
    is against one, and what was not tried yet, and what it chooses then is done.

    Args:
        memory: where percepts go and knowledge comes from.
        model: answers.
        options: those of :class:`~worldthread.agents.model_agent.ModelAgent`.
    """

    name: Final = "reflact"

    def __init__(self, memory: AgentMemory, model: ChatModel, **options: Any) -> None:
        super().__init__(memory, model, **options)
        self.objective = ""
        self.summary = ""
        self.hints: tuple[str, ...] = ()
        self.talk: TalkHint | None = None
        self.log = RoomLog()
        self.watch = LoopDetector()
        self.verdicts: Counter[str] = Counter()
        """How often the critic ``rejected`` an action, and the model then ``changed`` it or ``kept`` to it."""
        self.questions = 0
        """Questions that the memory was asked."""
        self._goal = ""
        self._room = ""
        self._carried: frozenset[str] = frozenset()
        self._recent: deque[ActionOutcome] = deque(maxlen=SUMMARY_MOVES)
        self._problem = ""  # why nothing was done last time
        self._summarised = 0  # moves at the last summary
        self._new_score = False  # since the last summary
        self._new_room = True  # since the last hints
        self._talk_looked: int | None = None  # moves when this conversation was thought about last

    def perceive(self, percept: Percept) -> Episode:
        before = self.percept
        episode = super().perceive(percept)
        self._problem = percept.problem
        if percept.problem:
            return episode
        self._goal = self._goal or percept.step.goal
        view = self.memory.view()
        room, holds = WorldMap(view).here or "", frozenset(carried(view))
        moved = room != self._room
        action = percept.step.action
        if action is not None and before is not None:
            # rooms may bear one name: a direction that changed the state of the world has led somewhere
            moved = moved or (direction_of(action) is not None and percept.state != before.state)
            gained, lost = tuple(sorted(holds - self._carried)), tuple(sorted(self._carried - holds))
            deed = ActionOutcome(action, percept.step.text, percept.score - before.score, moved, gained, lost)
            self.log.note(self._room, deed)
            self._recent.append(deed)
            self._new_score = self._new_score or deed.reward != 0
        self.watch.see(action, percept.score, percept.state)
        if moved:
            self._new_room, self.hints, self.talk, self._talk_looked = True, (), None, None
        self._room, self._carried = room, holds
        return episode

    def _choose(self) -> Decision:
        self._summarise()
        self._find_hints()
        self._think_about_talk()
        answer, messages = self._answered(self._messages())
        verdict = self._verdict(answer.action)
        if is_rejected(verdict, self.watch.revisits):
            self.verdicts["rejected"] += 1
            first = answer.action
            untried = suggestion(self.log.tried(self._room), offered=self.offered, hinted=self.hints)
            told = prompt(
                "reflact_rejected",
                action=shorten(first, DEED_LIMIT),
                reason=verdict.reason,
                instead=f' What was not tried here is, for example, "{untried}".' if untried else "",
            )
            answer, _ = self._answered((*messages, _said(answer), *told))
            outcome = "kept" if answer.action == first else "changed"
            self.verdicts[outcome] += 1
            self.remark(f"the critic was against {shorten(first, DEED_LIMIT)!r}, since {verdict.reason}: {outcome}")
        return self.act(answer.action, f"{answer.reflection} (objective: {self.objective})")

    def _answered(self, messages: tuple[Message, ...]) -> tuple[Reflected, tuple[Message, ...]]:
        """The model's answer with a command, and the messages before it; questions to the memory are answered.

        Raises:
            AnswerError: it asked on and on, or gave no answer that can be used.
        """
        for left in range(MEMORY_QUESTIONS, -1, -1):
            answer = self.ask("act", messages, Reflected)
            self.objective = shorten(answer.objective, OBJECTIVE_LIMIT) or self.objective
            action = answer.action.strip()
            if not action.casefold().startswith(MEMORY):
                return answer, messages
            if left:
                self.questions += 1
                found = shorten(look_up(self.memory.view(), action[len(MEMORY) :].strip()), MEMORY_LIMIT)
                more = "Ask once more, or give a command." if left > 1 else "Give a command now."
                messages = (*messages, _said(answer), *prompt("reflact_memory", answer=found, left=more))
        self.failures["act"] += 1
        raise AnswerError(f"the model asked its memory {MEMORY_QUESTIONS + 1} times, and gave no command", text=action)

    def _verdict(self, action: str) -> CriticVerdict:
        return judge(action, self.log.deeds(self._room), recent=tuple(self._recent), offered=self.offered)

    # -- helpers ------------------------------------------------------------------------------------------------------

    def _summarise(self) -> None:
        if not self._recent or not (self._new_score or self.watch.moves - self._summarised >= SUMMARY_EVERY):
            return
        self._summarised, self._new_score = self.watch.moves, False
        messages = prompt(
            "reflact_summary", task=self._task, before=self.summary or NOTHING, moves=_told(self._recent, TEXT_LIMIT)
        )
        found = self.advice("summarise", messages, Summary)
        if found is not None:
            self.summary = shorten(found.summary, SUMMARY_LIMIT)

    def _find_hints(self) -> None:
        if not self._new_room:
            return
        self._new_room = False
        messages = prompt(
            "reflact_hints",
            task=self._task,
            observation=self._observation,
            tried=self._tried_here,
            actions=offered_text(self.offered, ACTIONS_LIMIT),
        )
        found = self.advice("hint", messages, Hints)
        if found is not None:
            self.hints = tuple(shorten(action, DEED_LIMIT) for action in found.actions[:HINTS])

    def _think_about_talk(self) -> None:
        deeds = self.log.deeds(self._room)
        since = None if self._talk_looked is None else self.watch.moves - self._talk_looked
        if not talk_is_stalled((deed.action for deed in deeds), self.watch.since_score, since):
            return
        self._talk_looked = self.watch.moves
        told = _told(deeds[-TALK_MOVES:], TEXT_LIMIT)
        found = self.advice("talk", prompt("reflact_talk", task=self._task, deeds=told), TalkHint)
        if found is not None:
            self.talk = found

    # -- what is told -------------------------------------------------------------------------------------------------

    def _messages(self) -> tuple[Message, ...]:
        assert self.percept is not None
        warnings = self.watch.warnings()
        if self._problem:
            warnings.append(f"Nothing was done with your last answer: {shorten(self._problem, TEXT_LIMIT)}")
        talk = self.talk
        return prompt(
            "reflact",
            task=self._task,
            questions="\n".join(f"- {MEMORY} {question}" for question in QUESTIONS),
            objective=self.objective or NOTHING,
            summary=self.summary or NOTHING,
            moves=_told(list(self._recent)[-TOLD_MOVES:], TEXT_LIMIT),
            tried=self._tried_here,
            deeds=first_lines(_lines(reversed(self.log.deeds(self._room)), DEED_LIMIT), DEEDS_LIMIT) or NOTHING,
            memory=first_lines(surroundings(self.memory.view()), MEMORY_LIMIT),
            hints=", ".join(self.hints) or NOTHING,
            talk=f"{shorten(talk.needs, TEXT_LIMIT)} Try: {shorten(talk.next, DEED_LIMIT)}" if talk else NOTHING,
            warnings="\n".join(warnings) or "No loop was noticed.",
            score=f"{self.percept.score:g}",
            observation=self._observation,
            actions=offered_text(self.offered, ACTIONS_LIMIT),
        )

    @property
    def _task(self) -> str:
        return task_text(self._goal)

    @property
    def _observation(self) -> str:
        assert self.percept is not None
        return shorten(self.percept.step.text, OBSERVATION_LIMIT)

    @property
    def _tried_here(self) -> str:
        return shorten(", ".join(self.log.tried(self._room)), TRIED_LIMIT) or NOTHING


def _said(answer: Reflected) -> Message:
    return Message("assistant", msgspec.json.encode(answer).decode())


def _told(deeds: Iterable[ActionOutcome], limit: int) -> str:
    return "\n".join(_lines(deeds, limit)) or NOTHING


def _lines(deeds: Iterable[ActionOutcome], limit: int) -> Iterator[str]:
    """Deeds, a line each, with observations of at most ``limit`` characters."""
    for deed in deeds:
        came = [f"{deed.reward:+g} points"] if deed.reward else []
        came += [f"gained {', '.join(deed.gained)}"] if deed.gained else []
        came += [f"lost {', '.join(deed.lost)}"] if deed.lost else []
        came += ["led elsewhere"] if deed.moved else []
        effect = f" [{shorten('; '.join(came), DEED_LIMIT)}]" if came else ""
        yield f"> {shorten(deed.action, DEED_LIMIT)}: {shorten(deed.text, limit)}{effect}"
