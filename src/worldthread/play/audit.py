"""Memory audited against truth: after every step, what the memory holds is compared with the true state.

*Precision* is the share of checkable statements held that are true now. *Recall* is the share of facts that are true
now and have been observable that the memory holds. Both are pooled over all steps. A *stale step* is one statement that
was true once, is false now, and is still held after a step.

What was observable does not come from the reader that is judged: a true fact counts when the thing that it is about is
in view by the true state (in the player's room, not inside something closed; or carried) and the step's text names it,
with the word that tells the property. A fact stays expected until it ceases to be true.

The correspondence between propositions and statements is ``audit_mapping.toml`` beside this module.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, TypeAlias

from worldthread.envs.base import Proposition, Truth
from worldthread.extract.base import GameStep
from worldthread.extract.game import vocabulary as v
from worldthread.extract.game.commands import direction_of
from worldthread.graph import GraphView
from worldthread.names import normalise_name

Key: TypeAlias = tuple[str, str, str]
"""A normalised (subject, relation, object)."""

_STEMS: Final = {
    "sliced": "slice", "diced": "dice", "chopped": "chop", "fried": "fr", "roasted": "roast", "grilled": "grill",
    "burned": "burn",
}  # fmt: skip
_MAY_STAY_SILENT: Final = frozenset({"uncut", "raw"})
_PLACES: Final = frozenset({"at", "in", "on"})


@dataclass(frozen=True)
class AuditResult:
    """Figures of one run, pooled over its steps.

    Args:
        steps: steps audited.
        held: checkable statements held, summed over steps.
        true: those of them that were true.
        expected: facts that were true and had been observable, summed over steps.
        found: those of them that were held.
        stale_steps: statements once true, false now and still held, summed over steps.
        wrong_steps: statements held that were never true, summed over steps.
        statements: all facts held, checkable or not, summed over steps.
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
    def precision(self) -> float:
        """``true / held``; 1 when nothing was held."""
        return self.true / self.held if self.held else 1.0

    @property
    def recall(self) -> float:
        """``found / expected``; 1 when nothing was expected."""
        return self.found / self.expected if self.expected else 1.0

    @property
    def mapped(self) -> float:
        """The share of facts held that could be checked; 1 when none was held."""
        return self.held / self.statements if self.statements else 1.0

    def __add__(self, other: AuditResult) -> AuditResult:
        """Pool two runs."""
        return AuditResult(*(a + b for a, b in zip(_figures(self), _figures(other), strict=True)))

    def summary(self) -> dict[str, float | int]:
        """The figures as they stand in reports."""
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
"""The neutral element of pooling."""


class Expectation:
    """What a memory should hold after each step: the facts that are true and have been observable.

    Attributes:
        facts: what is expected after the last step.
        ever_true: every fact that was true after some step.
    """

    def __init__(self) -> None:
        self.facts: frozenset[Key] = frozenset()
        self.ever_true: set[Key] = set()
        self._room: str | None = None

    def observe(self, step: GameStep, truth: Truth) -> frozenset[Key]:
        """Take in one step, the opening one included: the facts that a memory may hold after it."""
        required, allowed = true_facts(truth.propositions)
        self.ever_true |= allowed
        before, self._room = self._room, _player_room(truth.propositions)
        observable = _observable(step, truth.propositions, required, before, self._room)
        self.facts = (self.facts | observable) & required
        return allowed

    def copy(self) -> Expectation:
        """The same, to go on from independently."""
        other = Expectation()
        other.facts, other.ever_true, other._room = self.facts, set(self.ever_true), self._room
        return other


class Auditor:
    """Compares a memory with the truth, step by step.

    Call :meth:`observe` after every step, the opening one included; :meth:`result` at any time. :attr:`mistakes` lists
    what was wrong or missed, for people.
    """

    def __init__(self, *, keep_mistakes: int = 200) -> None:
        self._keep = keep_mistakes
        self._expectation = Expectation()
        self._totals = NOTHING_AUDITED
        self.mistakes: list[tuple[int, str, Key]] = []
        """(turn, "wrong", "stale" or "missed", fact), each mistake once."""
        self._seen_mistakes: set[tuple[str, Key]] = set()

    def observe(self, step: GameStep, truth: Truth, view: GraphView) -> None:
        """Audit the memory behind ``view`` after ``step`` left the world in the state ``truth``."""
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
        self._note(step.turn, "stale", stale)
        self._note(step.turn, "wrong", wrong - stale)
        self._note(step.turn, "missed", missed)

    def mark(self) -> Expectation:
        """Where the audit stands, to come back to."""
        return self._expectation.copy()

    def go_back(self, mark: Expectation) -> None:
        """The player is back where the audit stood at ``mark``; what was counted since stays counted."""
        self._expectation = mark.copy()

    def _note(self, turn: int, what: str, keys: Iterable[Key]) -> None:
        for key in sorted(keys):
            if (what, key) not in self._seen_mistakes and len(self.mistakes) < self._keep:
                self._seen_mistakes.add((what, key))
                self.mistakes.append((turn, what, key))

    def result(self) -> AuditResult:
        """The figures so far."""
        return self._totals


@dataclass(frozen=True)
class _AuditRule:
    proposition: tuple[str, ...]
    condition: tuple[str, ...] | None
    fact: tuple[str, str, str]
    required: bool
    optional_with: tuple[str, ...] | None


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files("worldthread.play").joinpath("audit_mapping.toml").read_text("utf-8"))


@cache
def _rules() -> dict[tuple[str, int], list[_AuditRule]]:
    """Rules by predicate and number of arguments, with the values of {direction} and {state} filled in."""
    rules: dict[tuple[str, int], list[_AuditRule]] = {}
    for entry in _table()["rule"]:
        patterns = [*entry["proposition"], *entry.get("and", ()), *entry["fact"]]
        variable = next((n for n in _table()["values"] if any(f"{{{n}}}" in p for p in patterns)), None)
        for value in _table()["values"][variable] if variable else [""]:

            def fill(parts: list[str], variable: str | None = variable, value: str = value) -> tuple[str, ...]:
                return tuple(p.replace(f"{{{variable}}}", value) for p in parts)

            subject, relation, object_ = fill(entry["fact"])
            rule = _AuditRule(
                fill(entry["proposition"]),
                fill(entry["and"]) if "and" in entry else None,
                (subject, relation, object_),
                entry.get("required", True),
                fill(entry["optional_with"]) if "optional_with" in entry else None,
            )
            rules.setdefault((rule.proposition[0], len(rule.proposition)), []).append(rule)
    return rules


def _bind(pattern: tuple[str, ...], proposition: Proposition, bound: dict[str, str]) -> dict[str, str] | None:
    result = dict(bound)
    for part, value in zip(pattern, proposition, strict=True):
        if not part.startswith("$"):
            if part != value:
                return None
        elif result.setdefault(part, value) != value:
            return None
    return result


def can_be_audited(truth: Truth) -> bool:
    """Whether a true state tells enough to judge a memory by.

    One that tells only where things are does not: all that a memory knows of ways out and of what is open would count
    as wrong.
    """
    return any(p[0] not in _PLACES and (p[0], len(p)) in _rules() for p in truth.propositions)


@lru_cache(maxsize=8)
def true_facts(propositions: frozenset[Proposition]) -> tuple[frozenset[Key], frozenset[Key]]:
    """What a memory should hold of a true state, and what it may hold: facts as normalised keys."""
    required: set[Key] = set()
    allowed: set[Key] = set()
    rules = _rules()
    by_shape: dict[tuple[str, int], list[Proposition]] = {}
    for proposition in propositions:
        by_shape.setdefault((proposition[0], len(proposition)), []).append(proposition)
    for shape, group in by_shape.items():
        for proposition in group:
            first = True  # of several rules with literals, the first that fits speaks for the proposition
            for rule in rules.get(shape, ()):
                bound = _bind(rule.proposition, proposition, {})
                if bound is None:
                    continue
                literal = any(not part.startswith("$") for part in rule.proposition[1:])
                if literal or first:
                    for full in _satisfied(rule, bound, by_shape):
                        subject, relation, object_ = (normalise_name(full.get(p, p)) for p in rule.fact)
                        key = (subject, relation, object_)
                        allowed.add(key)
                        if rule.required and not _is_optional(rule, full, propositions):
                            required.add(key)
                first = first and not literal
    return frozenset(required), frozenset(allowed)


def _is_optional(rule: _AuditRule, bound: dict[str, str], propositions: frozenset[Proposition]) -> bool:
    return rule.optional_with is not None and tuple(bound.get(p, p) for p in rule.optional_with) in propositions


def _satisfied(
    rule: _AuditRule, bound: dict[str, str], by_shape: dict[tuple[str, int], list[Proposition]]
) -> Iterator[dict[str, str]]:
    if rule.condition is None:
        yield bound
        return
    for other in by_shape.get((rule.condition[0], len(rule.condition)), ()):
        full = _bind(rule.condition, other, bound)
        if full is not None:
            yield full


def is_checkable(key: Key, allowed: frozenset[Key]) -> bool:
    """Whether the mapping can tell if a fact is true in a state that allows the facts ``allowed``."""
    subject, relation, object_ = key
    table = _table()
    if relation == v.IS:
        families = table["checkable"]["states"].values()
        return any(object_ in family and any((subject, v.IS, s) in allowed for s in family) for family in families)
    if relation == v.IS_A:
        return object_ in table["checkable"]["kinds"]
    if relation in v.DIRECTION_OF or relation in v.DOOR_LEADS or relation in table["absent"]:
        return True
    return relation in table["checkable"]["relations"]


def is_true(key: Key, allowed: frozenset[Key]) -> bool:
    """Whether a checkable fact is true in a state that allows the facts ``allowed``."""
    subject, relation, object_ = key
    denied = _table()["absent"].get(relation)
    return (subject, denied, object_) not in allowed if denied else key in allowed


def _player_room(propositions: frozenset[Proposition]) -> str | None:
    return next((normalise_name(p[2]) for p in propositions if p[0] == "at" and p[1] == "P"), None)


def _in_view(propositions: frozenset[Proposition], room: str | None) -> set[str]:
    """Normalised names of the things in the player's room, not inside something closed, or carried."""
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
    """Facts that are true and that this step showed, by the true state and the words of its text."""
    text = " ".join(part for part in (step.text, step.inventory, step.goal) if part)
    spaced = f" {re.sub(r'[^a-z0-9]+', ' ', text.casefold())} "
    sentences = [f" {re.sub(r'[^a-z0-9]+', ' ', s.casefold())} " for s in re.split(r"[.!?\n]", text)]
    acted = f" {re.sub(r'[^a-z0-9]+', ' ', (step.action or '').casefold())} "
    in_view = _in_view(propositions, room)
    direction = direction_of(step.action) if step.action else None

    def named(name: str, where: str = spaced) -> bool:
        return f" {re.sub(r'[^a-z0-9]+', ' ', name)} " in where

    def told(name: str, word: str) -> bool:
        name = re.sub(r"[^a-z0-9]+", " ", name)
        # "a locked old chest", "you roasted the potato", "the chest is locked"; not "locked in the chest"
        pattern = rf"\b{word}\w*(?: (?!in |on |into |with |from )\w+){{0,3}} {name} | {name} (?:is|are) {word}"
        return any(re.search(pattern, s) for s in sentences)

    lists_recipe = re.search(r"^\s*ingredients\s*:", step.text, re.I | re.M) is not None
    found: set[Key] = set()
    for key in required:
        subject, relation, object_ = key
        if subject == v.PLAYER:
            shown = True
        elif relation in (v.IS_IN, v.IS_ON):
            shown = subject in in_view and named(subject)
        elif relation == v.HAS_EXIT:
            shown = subject == room and named(subject) and any(
                re.search(rf"\b{object_}\b", s) for s in sentences
            )  # fmt: skip
        elif relation in v.DIRECTION_OF:
            way = v.DIRECTION_OF[relation]
            moved = before is not None and room is not None and before != room and direction is not None
            shown = moved and (
                (way == direction and (subject, object_) == (room, before))
                or (direction is not None and way == v.OPPOSITE[direction] and (subject, object_) == (before, room))
            )
        elif relation in v.DOOR_LEADS:
            way = v.DOOR_LEADS[relation]
            shown = object_ == room and any(named(subject, s) and f" {way} " in s for s in sentences)
        elif relation == v.IS:
            stem = _STEMS.get(object_, object_)
            shown = object_ not in _MAY_STAY_SILENT and subject in in_view and told(subject, stem)
        elif relation == v.UNLOCKS:
            shown = any(named(subject, s) and named(object_, s) and "unlock" in s for s in sentences) or (
                named(subject, acted) and named(object_, acted) and told(object_, "unlock")
            )
        elif relation == v.NEEDS:
            shown = lists_recipe and named(object_)
        else:
            shown = object_ in _STEMS and lists_recipe and told(subject, _STEMS[object_])
        if shown:
            found.add(key)
    return found
