"""The audit of a memory: after every step, compare what the memory holds with the true state of the world.

*Precision* is the share of the checkable statements in the memory that are true now. *Recall* is the share of the facts
that are true now and have been observable that the memory holds. Both are pooled over all steps. A *stale step* is one
statement that was true once, is false now, and is still in the memory after a step.

Whether a fact was observable does not depend on the extractor that is judged. A true fact counts as observable when its
subject is in view according to the true state (in the player's room and not inside something closed, or carried) and
the text of the step names the subject together with the word for the property. A fact stays expected until it stops
being true.

:mod:`worldthread_lab.play.audit_mapping` relates propositions to statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from worldthread.extract.base import GameStep
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread_lab.envs.base import Proposition, Truth
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.commands import direction_of
from worldthread_lab.play.audit_mapping import Key, is_checkable, is_true, true_facts

_STEMS: Final = {
    "sliced": "slice", "diced": "dice", "chopped": "chop", "fried": "fr", "roasted": "roast", "grilled": "grill",
    "burned": "burn",
}  # fmt: skip
_MAY_STAY_SILENT: Final = frozenset({"uncut", "raw"})


class AuditShares:
    """The precision and recall of audits that count what was held and what was expected."""

    held: int
    true: int
    expected: int
    found: int

    @property
    def precision(self) -> float:
        """``true / held``; 1 when nothing was held."""
        return self.true / self.held if self.held else 1.0

    @property
    def recall(self) -> float:
        """``found / expected``; 1 when nothing was expected."""
        return self.found / self.expected if self.expected else 1.0


@dataclass(frozen=True)
class AuditResult(AuditShares):
    """Figures of one run, pooled over its steps.

    Args:
        steps: the number of audited steps.
        held: checkable statements in the memory, summed over steps.
        true: the part of ``held`` that was true.
        expected: facts that were true and had been observable, summed over steps.
        found: the part of ``expected`` that the memory held.
        stale_steps: statements that were true once, are false now and are still held, summed over steps.
        wrong_steps: statements in the memory that were never true, summed over steps.
        statements: all facts in the memory, checkable or not, summed over steps.
    """

    steps: int
    held: int
    true: int
    expected: int
    found: int
    stale_steps: int
    wrong_steps: int
    statements: int

    @property
    def mapped(self) -> float:
        """The share of the facts held that could be checked; 1 when nothing was held."""
        return self.held / self.statements if self.statements else 1.0

    def __add__(self, other: AuditResult) -> AuditResult:
        """Return the pooled figures of two runs."""
        return AuditResult(*(a + b for a, b in zip(_figures(self), _figures(other), strict=True)))

    def summary(self) -> dict[str, float | int]:
        """Return the figures of a report, ready for JSON."""
        return {
            "precision": round(self.precision, 5),
            "recall": round(self.recall, 5),
            "stale_steps": self.stale_steps,
            "wrong_steps": self.wrong_steps,
            "mapped": round(self.mapped, 5),
            "steps": self.steps,
        }


def _figures(result: AuditResult) -> tuple[int, ...]:
    return (
        result.steps,
        result.held,
        result.true,
        result.expected,
        result.found,
        result.stale_steps,
        result.wrong_steps,
        result.statements,
    )


NOTHING_AUDITED: Final = AuditResult(0, 0, 0, 0, 0, 0, 0, 0)
"""The neutral element of adding results."""


class Expectation:
    """The facts that a memory should hold after each step: those that are true and have been observable.

    Attributes:
        facts: the facts expected after the last step.
        ever_true: every fact that was true after some step.
    """

    def __init__(self) -> None:
        self.facts: frozenset[Key] = frozenset()
        self.ever_true: set[Key] = set()
        self._room: str | None = None

    def observe(self, step: GameStep, truth: Truth) -> frozenset[Key]:
        """Process one step (the opening step included) and return the facts that a memory may hold after it."""
        required, allowed = true_facts(truth.propositions)
        self.ever_true |= allowed
        before, self._room = self._room, _player_room(truth.propositions)
        observable = _observable(step, truth.propositions, required, before, self._room)
        self.facts = (self.facts | observable) & required
        return allowed

    def copy(self) -> Expectation:
        """Return an independent copy."""
        other = Expectation()
        other.facts, other.ever_true, other._room = self.facts, set(self.ever_true), self._room
        return other


class Auditor:
    """Compares a memory with the truth, step by step.

    Call :meth:`observe` after every step, the opening step included, and :meth:`result` at any time.

    Args:
        keep_mistakes: the largest number of entries in :attr:`mistakes`.

    Attributes:
        mistakes: triples of turn, kind ("wrong", "stale" or "missed") and fact, each mistake once.
    """

    def __init__(self, *, keep_mistakes: int = 200) -> None:
        self._keep = keep_mistakes
        self._expectation = Expectation()
        self._totals = NOTHING_AUDITED
        self.mistakes: list[tuple[int, str, Key]] = []
        self._seen_mistakes: set[tuple[str, Key]] = set()

    def observe(self, step: GameStep, truth: Truth, view: GraphView) -> None:
        """Audit the memory that ``view`` shows, after ``step`` left the world in the state ``truth``."""
        allowed = self._expectation.observe(step, truth)
        expected = self._expectation.facts
        facts = view.facts()
        keys = [fact.key for fact in facts]
        checkable = {key for key in keys if is_checkable(key, allowed)}
        wrong = {key for key in checkable if not is_true(key, allowed)}
        stale = wrong & self._expectation.ever_true
        missed = expected.difference(keys)
        self._totals += AuditResult(
            steps=1,
            held=len(checkable),
            true=len(checkable) - len(wrong),
            expected=len(expected),
            found=len(expected) - len(missed),
            stale_steps=len(stale),
            wrong_steps=len(wrong) - len(stale),
            statements=len(facts),
        )
        self._add_mistakes(step.turn, "stale", stale)
        self._add_mistakes(step.turn, "wrong", wrong - stale)
        self._add_mistakes(step.turn, "missed", missed)

    def expectation(self) -> Expectation:
        """Return a copy of the current expectation, for :meth:`go_back`."""
        return self._expectation.copy()

    def go_back(self, expectation: Expectation) -> None:
        """Continue from an earlier expectation, when the player returns to an earlier state; the counts stay."""
        self._expectation = expectation.copy()

    def _add_mistakes(self, turn: int, kind: str, keys: Iterable[Key]) -> None:
        for key in sorted(keys):
            if (kind, key) not in self._seen_mistakes and len(self.mistakes) < self._keep:
                self._seen_mistakes.add((kind, key))
                self.mistakes.append((turn, kind, key))

    def result(self) -> AuditResult:
        """Return the figures so far."""
        return self._totals


def _player_room(propositions: frozenset[Proposition]) -> str | None:
    """Return the normalised name of the player's room."""
    return next((normalise_name(p[2]) for p in propositions if p[0] == "at" and p[1] == "P"), None)


def _in_view(propositions: frozenset[Proposition], room: str | None) -> set[str]:
    """Return the normalised names of things that are carried, or in the player's room and not in something closed."""
    held_by: dict[str, set[str]] = {}
    shut = {normalise_name(p[1]) for p in propositions if p[0] in ("closed", "locked")}
    for p in propositions:
        if p[0] in ("at", "in", "on") and len(p) == 3 and p[1] != "P":
            held_by.setdefault(normalise_name(p[2]), set()).add(normalise_name(p[1]))
    found: set[str] = set()
    queue = [normalise_name("I"), *([room] if room else [])]
    while queue:
        holder = queue.pop()
        if holder in shut:
            continue
        for name in held_by.get(holder, set()) - found:
            found.add(name)
            queue.append(name)
    return found


def _observable(
    step: GameStep, propositions: frozenset[Proposition], required: frozenset[Key], before: str | None, room: str | None
) -> set[Key]:
    """Return the required facts that this step showed, according to the true state and the words of its text."""
    text = " ".join(part for part in (step.text, step.inventory, step.goal) if part)
    spaced = f" {re.sub(r'[^a-z0-9]+', ' ', text.casefold())} "
    sentences = [f" {re.sub(r'[^a-z0-9]+', ' ', s.casefold())} " for s in re.split(r"[.!?\n]", text)]
    acted = f" {re.sub(r'[^a-z0-9]+', ' ', (step.action or '').casefold())} "
    in_view = _in_view(propositions, room)
    direction = direction_of(step.action) if step.action else None

    def named(name: str, where: str = spaced) -> bool:
        return f" {re.sub(r'[^a-z0-9]+', ' ', name)} " in where

    def described(name: str, word: str) -> bool:
        name = re.sub(r"[^a-z0-9]+", " ", name)
        # "a locked old chest", "you roasted the potato", "the chest is locked"; not "locked in the chest"
        pattern = rf"\b{word}\w*(?: (?!in |on |into |with |from )\w+){{0,3}} {name} | {name} (?:is|are) {word}"
        return any(re.search(pattern, s) for s in sentences)

    lists_recipe = re.search(r"^\s*ingredients\s*:", step.text, re.I | re.M) is not None
    found: set[Key] = set()
    for key in required:
        subject, relation, object_ = key
        if subject == v.PLAYER:
            is_shown = True
        elif relation in (v.IS_IN, v.IS_ON):
            is_shown = subject in in_view and named(subject)
        elif relation == v.HAS_EXIT:
            is_shown = subject == room and named(subject) and any(
                re.search(rf"\b{object_}\b", s) for s in sentences
            )  # fmt: skip
        elif relation in v.DIRECTION_OF:
            towards = v.DIRECTION_OF[relation]
            moved = before is not None and room is not None and before != room and direction is not None
            is_shown = moved and (
                (towards == direction and (subject, object_) == (room, before))
                or (direction is not None and towards == v.OPPOSITE[direction] and (subject, object_) == (before, room))
            )
        elif relation in v.DOOR_LEADS:
            leads = v.DOOR_LEADS[relation]
            is_shown = object_ == room and any(named(subject, s) and f" {leads} " in s for s in sentences)
        elif relation == v.IS:
            stem = _STEMS.get(object_, object_)
            is_shown = object_ not in _MAY_STAY_SILENT and subject in in_view and described(subject, stem)
        elif relation == v.UNLOCKS:
            is_shown = any(named(subject, s) and named(object_, s) and "unlock" in s for s in sentences) or (
                named(subject, acted) and named(object_, acted) and described(object_, "unlock")
            )
        elif relation == v.NEEDS:
            is_shown = lists_recipe and named(object_)
        else:
            is_shown = object_ in _STEMS and lists_recipe and described(subject, _STEMS[object_])
        if is_shown:
            found.add(key)
    return found
