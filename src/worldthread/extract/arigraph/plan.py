"""Plans and actions as a chat model of AriGraph's agent writes them: JSON with the keys that its prompts ask for.

What could not be used is in the failures, what was mended in the repairs (see
:mod:`worldthread.extract.arigraph.text`). No action is ever put in the place of one that could not be read.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from worldthread.extract.arigraph.json_repair import JsonAnswer, Members, read_object
from worldthread.extract.arigraph.text import Failure, FailureReason, Repair, RepairKind
from worldthread.names import normalise_name
from worldthread.text import one_line

GO_TO: Final = "go to "
"""Begins an action that walks to a known room."""

_SUB_GOAL: Final = re.compile(r"sub_?goal(?:_?[0-9]+)?", re.IGNORECASE)
_WEIGHT: Final = re.compile(r"[0-9]*\.?[0-9]+%?")


@dataclass(frozen=True)
class ParsedSubGoal:
    """What to do next, and why; the reason may be empty."""

    goal: str
    reason: str = ""


@dataclass(frozen=True)
class ParsedPlan:
    """A plan.

    Args:
        main_goal: the task in the model's words; empty when it is missing.
        sub_goals: in the order of the text, the most urgent first.
        emotion: a mood that the model claims; empty when it claims none.
        emotion_reason: what it gives as its cause.
        repairs: what was mended.
        failures: what could not be used.
    """

    main_goal: str = ""
    sub_goals: tuple[ParsedSubGoal, ...] = ()
    emotion: str = ""
    emotion_reason: str = ""
    repairs: tuple[Repair, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True)
class WeightedAction:
    """An action and how much the model favours it, at least 0; a lone action has weight 1."""

    action: str
    weight: float = 1.0


@dataclass(frozen=True)
class ActionAnswer:
    """The action to take, or several with their weights.

    Args:
        choices: in the order of the text; actions that were not offered are in the failures instead.
        reason: why, in the model's words; empty when it gives none.
        sub_goal: the sub-goal that it serves; empty when none is given.
        repairs: what was mended.
        failures: what could not be used.
    """

    choices: tuple[WeightedAction, ...] = ()
    reason: str = ""
    sub_goal: str = ""
    repairs: tuple[Repair, ...] = ()
    failures: tuple[Failure, ...] = ()

    @property
    def action(self) -> str | None:
        """The action with the greatest weight, the first of equals; ``None`` when there is none."""
        return max(self.choices, key=lambda choice: choice.weight).action if self.choices else None


def parse_plan(text: str) -> ParsedPlan:
    """A plan: ``main_goal``, ``plan_steps`` of ``sub_goal_N`` and ``reason``, ``your_emotion``.

    A reason belongs to the sub-goal before it, or to the next when it comes first.

    Raises:
        InputError: ``text`` is not a string.
    """
    answer = read_object(text)
    if answer.value is None:
        return ParsedPlan(repairs=answer.repairs, failures=answer.failures)
    taker = _AnswerParser(answer)
    steps: list[tuple[str, Any]] = []
    emotion: list[tuple[str, Any]] = []
    found: dict[str, str] = {}
    for key, value in answer.value.pairs:
        if key == "main_goal":
            taker.take_text(found, key, value)
        elif key == "plan_steps" and isinstance(value, list):
            steps += [pair for step in value for pair in taker.members("plan_steps", step)]
        elif key == "your_emotion" and isinstance(value, Members):
            emotion += value.pairs
        elif _SUB_GOAL.fullmatch(key) or key == "reason":
            steps.append((key, value))
        else:
            taker.refuse(key, value, known=key in ("plan_steps", "your_emotion"))
    for key, value in emotion:
        if key in ("your_current_emotion", "reason_behind_emotion"):
            taker.take_text(found, key, value)
        else:
            taker.refuse(key, value)
    sub_goals = _sub_goals(steps, taker)
    if "main_goal" not in found:
        taker.failures.append(Failure(text, FailureReason.NO_MAIN_GOAL))
    if not sub_goals:
        taker.failures.append(Failure(text, FailureReason.NO_SUB_GOAL))
    return ParsedPlan(
        found.get("main_goal", ""),
        sub_goals,
        found.get("your_current_emotion", ""),
        found.get("reason_behind_emotion", ""),
        answer.repairs,
        tuple(taker.failures),
    )


def _sub_goals(steps: list[tuple[str, Any]], taker: _AnswerParser) -> tuple[ParsedSubGoal, ...]:
    goals: list[ParsedSubGoal] = []
    waiting = ""
    for key, value in steps:
        if not isinstance(value, str):
            taker.refuse(key, value, known=bool(_SUB_GOAL.fullmatch(key)) or key == "reason")
        elif _SUB_GOAL.fullmatch(key) and value.strip():
            goals.append(ParsedSubGoal(value, waiting))
            waiting = ""
        elif key == "reason" and goals and not goals[-1].reason:
            goals[-1] = ParsedSubGoal(goals[-1].goal, value)
        elif key == "reason" and not waiting:
            waiting = value
        else:
            taker.refuse(key, value, known=bool(_SUB_GOAL.fullmatch(key)))
    if waiting:
        taker.refuse("reason", waiting)
    return tuple(goals)


def parse_action(text: str, offered: Collection[str] | None = None, rooms: Collection[str] = ()) -> ActionAnswer:
    """The action of ``{"action_to_take": ..., "reason_for_action": ...}``, or ``{action: weight, ...}``.

    Args:
        text: the answer.
        offered: the actions that are possible; ``None`` when that is not known and any will do.
        rooms: rooms that "go to <room>" may name besides, compared by normalised names.

    Raises:
        InputError: ``text`` is not a string.
    """
    answer = read_object(text)
    taker = _AnswerParser(answer)
    if answer.value is None:
        plain = text.strip().strip("\"'`.").strip()
        if offered is not None and plain and (action := _offered(plain, offered, rooms)) is not None:
            return ActionAnswer(
                (WeightedAction(action),), repairs=(*answer.repairs, Repair(text, RepairKind.PLAIN_TEXT))
            )
        return ActionAnswer(repairs=answer.repairs, failures=answer.failures)
    found: dict[str, str] = {}
    wanted: list[WeightedAction] = []
    for key, value in answer.value.pairs:
        if key in ("action_to_take", "reason_for_action", "sub_goal_to_solve"):
            taker.take_text(found, key, value)
        elif (weight := _weight(value)) is not None:
            wanted.append(WeightedAction(key, weight))
        else:
            taker.refuse(key, value)
    if "action_to_take" in found:
        for choice in wanted:
            taker.refuse(choice.action, choice.weight)
        wanted = [WeightedAction(found["action_to_take"])]
    repairs = list(answer.repairs)
    choices: list[WeightedAction] = []
    for choice in wanted:
        action = choice.action if offered is None else _offered(choice.action, offered, rooms)
        if action is None or not action.strip():
            taker.failures.append(Failure(choice.action, FailureReason.NOT_OFFERED))
            continue
        if action != choice.action:
            repairs.append(Repair(choice.action, RepairKind.OTHER_WRITING))
        choices.append(WeightedAction(action, choice.weight))
    if not wanted:
        taker.failures.append(Failure(text, FailureReason.NO_ACTION))
    reason, sub_goal = found.get("reason_for_action", ""), found.get("sub_goal_to_solve", "")
    return ActionAnswer(tuple(choices), reason, sub_goal, tuple(repairs), tuple(taker.failures))


def _offered(action: str, offered: Collection[str], rooms: Collection[str]) -> str | None:
    """The offered action that is meant: the very same, else the only one in other letters or spaces."""
    if action in offered:
        return action
    key = _folded(action)
    same = {candidate for candidate in offered if _folded(candidate) == key}
    if len(same) == 1:
        return same.pop()
    known_room = key.startswith(GO_TO) and normalise_name(key[len(GO_TO) :]) in {normalise_name(room) for room in rooms}
    return action if known_room and not same else None


def _folded(action: str) -> str:
    return one_line(action.casefold())


def _weight(value: Any) -> float | None:
    """A weight written as a number, a numeral or a percentage; ``None`` for anything else."""
    if isinstance(value, str) and _WEIGHT.fullmatch(value.strip()):
        numeral = value.strip()
        return float(numeral[:-1]) / 100 if numeral.endswith("%") else float(numeral)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100:
        return float(value)
    return None


class _AnswerParser:
    """Collects the failures of one answer while its members are taken."""

    def __init__(self, answer: JsonAnswer) -> None:
        self.failures = list(answer.failures)

    def take_text(self, found: dict[str, str], key: str, value: Any) -> None:
        """``value`` as the text of ``key``; a second text for one key, or no text, is a failure."""
        if isinstance(value, str) and value.strip() and key not in found:
            found[key] = value
        else:
            self.refuse(key, value, known=key not in found)

    def members(self, key: str, value: Any) -> tuple[tuple[str, Any], ...]:
        """The members of an object; anything else is a failure."""
        if isinstance(value, Members):
            return value.pairs
        self.refuse(key, value, known=True)
        return ()

    def refuse(self, key: str, value: Any, *, known: bool = False) -> None:
        """``key`` was not asked for, or is ``known`` and its value is of the wrong kind."""
        self.failures.append(
            Failure(f"{key}: {value}", FailureReason.WRONG_TYPE if known else FailureReason.UNKNOWN_KEY)
        )
