"""Parses plans and actions as the chat model of AriGraph's agent writes them: JSON with the keys of its prompts.

Unusable pieces are in the failures and repaired ones in the repairs (see :mod:`worldthread_lab.arigraph.text`).
An action that cannot be parsed is never replaced by another one.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from worldthread.names import normalise_name
from worldthread.support.text import one_line
from worldthread_lab.arigraph.json_repair import JsonAnswer, Members, parse_object
from worldthread_lab.arigraph.text import Failure, FailureReason, Repair, RepairKind

GO_TO: Final = "go to "
"""The beginning of an action that walks to a known room."""

_SUB_GOAL: Final = re.compile(r"sub_?goal(?:_?[0-9]+)?", re.IGNORECASE)
_WEIGHT: Final = re.compile(r"[0-9]*\.?[0-9]+%?")


@dataclass(frozen=True)
class ParsedSubGoal:
    """A step of a plan.

    Args:
        goal: what to do next.
        reason: why; may be empty.
    """

    goal: str
    reason: str = ""


@dataclass(frozen=True)
class ParsedPlan:
    """A plan as a model writes it.

    Args:
        main_goal: the task in the model's words; empty when it is missing.
        sub_goals: in the order of the text, the most urgent first.
        emotion: the mood that the model names; empty when it names none.
        emotion_reason: its reason for the mood.
        repairs: what was repaired.
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
    """An action with its weight.

    Args:
        action: the action.
        weight: how much the model favours it, at least 0; a single action has weight 1.
    """

    action: str
    weight: float = 1.0


@dataclass(frozen=True)
class ActionAnswer:
    """The action to take, or several with their weights.

    Args:
        choices: in the order of the text; actions that were not offered are among the failures instead.
        reason: why, in the model's words; empty when it names none.
        sub_goal: the sub-goal that the action serves; empty when the model names none.
        repairs: what was repaired.
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
    """Return the plan of an answer: ``main_goal``, ``plan_steps`` of ``sub_goal_N`` and ``reason``, ``your_emotion``.

    A reason belongs to the sub-goal before it, or to the next one when it comes first.

    Args:
        text: the answer.

    Returns:
        The plan with repairs and failures.

    Raises:
        InputError: ``text`` is not a string.
    """
    answer = parse_object(text)
    if answer.value is None:
        return ParsedPlan(repairs=answer.repairs, failures=answer.failures)
    parser = _AnswerParser(answer)
    steps: list[tuple[str, Any]] = []
    emotion: list[tuple[str, Any]] = []
    found: dict[str, str] = {}
    for key, value in answer.value.pairs:
        if key == "main_goal":
            parser.take_text(found, key, value)
        elif key == "plan_steps" and isinstance(value, list):
            steps += [pair for step in value for pair in parser.members("plan_steps", step)]
        elif key == "your_emotion" and isinstance(value, Members):
            emotion += value.pairs
        elif _SUB_GOAL.fullmatch(key) or key == "reason":
            steps.append((key, value))
        else:
            parser.refuse(key, value, known=key in ("plan_steps", "your_emotion"))
    for key, value in emotion:
        if key in ("your_current_emotion", "reason_behind_emotion"):
            parser.take_text(found, key, value)
        else:
            parser.refuse(key, value)
    sub_goals = _sub_goals(steps, parser)
    if "main_goal" not in found:
        parser.failures.append(Failure(text, FailureReason.NO_MAIN_GOAL))
    if not sub_goals:
        parser.failures.append(Failure(text, FailureReason.NO_SUB_GOAL))
    return ParsedPlan(
        found.get("main_goal", ""),
        sub_goals,
        found.get("your_current_emotion", ""),
        found.get("reason_behind_emotion", ""),
        answer.repairs,
        tuple(parser.failures),
    )


def _sub_goals(steps: list[tuple[str, Any]], parser: _AnswerParser) -> tuple[ParsedSubGoal, ...]:
    goals: list[ParsedSubGoal] = []
    next_reason = ""
    for key, value in steps:
        if not isinstance(value, str):
            parser.refuse(key, value, known=bool(_SUB_GOAL.fullmatch(key)) or key == "reason")
        elif _SUB_GOAL.fullmatch(key) and value.strip():
            goals.append(ParsedSubGoal(value, next_reason))
            next_reason = ""
        elif key == "reason" and goals and not goals[-1].reason:
            goals[-1] = ParsedSubGoal(goals[-1].goal, value)
        elif key == "reason" and not next_reason:
            next_reason = value
        else:
            parser.refuse(key, value, known=bool(_SUB_GOAL.fullmatch(key)))
    if next_reason:
        parser.refuse("reason", next_reason)
    return tuple(goals)


def parse_action(text: str, offered: Collection[str] | None = None, rooms: Collection[str] = ()) -> ActionAnswer:
    """Return the action of ``{"action_to_take": ..., "reason_for_action": ...}`` or of ``{action: weight, ...}``.

    Args:
        text: the answer.
        offered: the possible actions; ``None`` when they are not known, so that any action is accepted.
        rooms: rooms that "go to <room>" may name in addition, compared by normalised names.

    Returns:
        The action or actions with repairs and failures.

    Raises:
        InputError: ``text`` is not a string.
    """
    answer = parse_object(text)
    parser = _AnswerParser(answer)
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
            parser.take_text(found, key, value)
        elif (weight := _weight(value)) is not None:
            wanted.append(WeightedAction(key, weight))
        else:
            parser.refuse(key, value)
    if "action_to_take" in found:
        for choice in wanted:
            parser.refuse(choice.action, choice.weight)
        wanted = [WeightedAction(found["action_to_take"])]
    repairs = list(answer.repairs)
    choices: list[WeightedAction] = []
    for choice in wanted:
        action = choice.action if offered is None else _offered(choice.action, offered, rooms)
        if action is None or not action.strip():
            parser.failures.append(Failure(choice.action, FailureReason.NOT_OFFERED))
            continue
        if action != choice.action:
            repairs.append(Repair(choice.action, RepairKind.OTHER_WRITING))
        choices.append(WeightedAction(action, choice.weight))
    if not wanted:
        parser.failures.append(Failure(text, FailureReason.NO_ACTION))
    reason, sub_goal = found.get("reason_for_action", ""), found.get("sub_goal_to_solve", "")
    return ActionAnswer(tuple(choices), reason, sub_goal, tuple(repairs), tuple(parser.failures))


def _offered(action: str, offered: Collection[str], rooms: Collection[str]) -> str | None:
    """Return the offered action that is meant: the same text, else the only one that differs in case and spaces."""
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
    """Return a weight that is a number, a numeral or a percentage; ``None`` for anything else."""
    if isinstance(value, str) and _WEIGHT.fullmatch(value.strip()):
        numeral = value.strip()
        return float(numeral[:-1]) / 100 if numeral.endswith("%") else float(numeral)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100:
        return float(value)
    return None


class _AnswerParser:
    """Takes the members of one answer and collects the failures."""

    def __init__(self, answer: JsonAnswer) -> None:
        self.failures = list(answer.failures)

    def take_text(self, found: dict[str, str], key: str, value: Any) -> None:
        """Take ``value`` as the text of ``key``; a second text for one key, or no text, is a failure."""
        if isinstance(value, str) and value.strip() and key not in found:
            found[key] = value
        else:
            self.refuse(key, value, known=key not in found)

    def members(self, key: str, value: Any) -> tuple[tuple[str, Any], ...]:
        """Return the members of an object; anything else is a failure."""
        if isinstance(value, Members):
            return value.pairs
        self.refuse(key, value, known=True)
        return ()

    def refuse(self, key: str, value: Any, *, known: bool = False) -> None:
        """Record a failure: ``key`` is not in the format or, when ``known``, its value is of the wrong type."""
        self.failures.append(
            Failure(f"{key}: {value}", FailureReason.WRONG_TYPE if known else FailureReason.UNKNOWN_KEY)
        )
