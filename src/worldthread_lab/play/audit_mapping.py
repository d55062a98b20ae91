"""The correspondence between the true state of a world and the statements of a memory.

The rules are in ``audit_mapping.toml`` beside this module. They turn the propositions of the engine into facts as
normalised keys, and define which facts of a memory can be checked at all.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, TypeAlias

from worldthread.names import normalise_name
from worldthread_lab.envs.base import Proposition, Truth
from worldthread_lab.game import vocabulary as v

Key: TypeAlias = tuple[str, str, str]
"""A normalised (subject, relation, object)."""


_PLACES: Final = frozenset({"at", "in", "on"})


@dataclass(frozen=True)
class _AuditRule:
    """One ``[[rule]]`` of the mapping file, for one value of its variable."""

    proposition: tuple[str, ...]
    condition: tuple[str, ...] | None
    fact: tuple[str, str, str]
    required: bool
    optional_with: tuple[str, ...] | None


@cache
def _table() -> dict[str, Any]:
    """Return the mapping file, parsed."""
    return tomllib.loads(files("worldthread_lab.play").joinpath("audit_mapping.toml").read_text("utf-8"))


@cache
def _rules() -> dict[tuple[str, int], list[_AuditRule]]:
    """Return the rules by predicate and number of arguments, with the values of {direction} and {state} filled in."""
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
    """Return ``bound`` with the variables of a matching pattern added; ``None`` when the pattern does not match."""
    result = dict(bound)
    for part, value in zip(pattern, proposition, strict=True):
        if not part.startswith("$"):
            if part != value:
                return None
        elif result.setdefault(part, value) != value:
            return None
    return result


def can_be_audited(truth: Truth) -> bool:
    """Return whether a true state holds enough to judge a memory by.

    A state that holds only the places of things does not: everything that a memory knows about exits and about what is
    open would count as wrong.

    Args:
        truth: the true state.

    Returns:
        Whether some rule other than those for places applies to it.
    """
    return any(p[0] not in _PLACES and (p[0], len(p)) in _rules() for p in truth.propositions)


@lru_cache(maxsize=8)
def true_facts(propositions: frozenset[Proposition]) -> tuple[frozenset[Key], frozenset[Key]]:
    """Return the facts of a true state that a memory should hold, and those that it may hold, as normalised keys."""
    required: set[Key] = set()
    allowed: set[Key] = set()
    rules = _rules()
    by_shape: dict[tuple[str, int], list[Proposition]] = {}
    for proposition in propositions:
        by_shape.setdefault((proposition[0], len(proposition)), []).append(proposition)
    for shape, group in by_shape.items():
        for proposition in group:
            first = True  # among rules with literals, only the first that matches applies to the proposition
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
    """Yield every binding under which the condition of a rule holds."""
    if rule.condition is None:
        yield bound
        return
    for other in by_shape.get((rule.condition[0], len(rule.condition)), ()):
        full = _bind(rule.condition, other, bound)
        if full is not None:
            yield full


def is_checkable(key: Key, allowed: frozenset[Key]) -> bool:
    """Return whether the mapping decides if a fact is true in a state that allows the facts ``allowed``."""
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
    """Return whether a checkable fact is true in a state that allows the facts ``allowed``."""
    subject, relation, object_ = key
    denied = _table()["absent"].get(relation)
    return (subject, denied, object_) not in allowed if denied else key in allowed
