"""A small planner: what to do, in which order, to make some facts hold.

States are sets of literals (normalised facts) and the room of the player. An operator can be used in its room when its
needs hold; it adds and removes literals and costs one move; walking costs the moves of the way. The plan found is a
shortest one: A* search (Hart, Nilsson and Raphael 1968) with the number of goals that are left as lower bound, where
a wanted operator that closes no way and can be used on the spot is used at once: waiting cannot make it cheaper. So
name as goals, beside what is wanted in the end, what must hold on the way to it and what nothing removes.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

Literal: TypeAlias = tuple[str, str, str]
"""A normalised (subject, relation, object)."""


@dataclass(frozen=True)
class Operator:
    """Something that can be done.

    Args:
        action: the command.
        room: where it can be done; ``None``: anywhere.
        needs: literals that must hold.
        adds: literals that hold afterwards.
        removes: literals that hold no more afterwards.
        reason: why, for people.
        takes: how many more things are carried afterwards (negative: fewer).
    """

    action: str
    room: str | None
    needs: frozenset[Literal]
    adds: frozenset[Literal]
    removes: frozenset[Literal]
    reason: str
    takes: int = 0


@dataclass(frozen=True)
class PlanStep:
    """One operator of a plan, and the room in which it is used."""

    operator: Operator
    room: str


def plan(
    here: str,
    holds: frozenset[Literal],
    goal: frozenset[Literal],
    operators: Sequence[Operator],
    distance: Callable[[str, str], float],
    *,
    room_to_carry: float = math.inf,
    max_states: int = 20_000,
) -> list[PlanStep] | None:
    """A shortest plan that makes ``goal`` hold; ``None`` when there is none, or none within ``max_states`` states.

    Args:
        here: the room of the player.
        holds: what holds now.
        goal: what shall hold.
        operators: what can be done.
        distance: moves from one room to another; infinite when there is no way.
        room_to_carry: how many more things can be carried now.
        max_states: how many states may be looked at.
    """
    relevant = goal | {literal for operator in operators for literal in (*operator.needs, *operator.removes)}
    harmless = _harmless(goal, operators)
    start = (here, holds & relevant, room_to_carry)
    order = count()
    queue: list[tuple[float, int, float, tuple[str, frozenset[Literal], float], tuple[PlanStep, ...]]] = [
        (len(goal - holds), next(order), 0.0, start, ())
    ]
    seen: set[tuple[str, frozenset[Literal], float]] = set()
    while queue and len(seen) < max_states:
        _, _, cost, state, steps = heapq.heappop(queue)
        room, literals, space = state
        if goal <= literals:
            return list(steps)
        if state in seen:
            continue
        seen.add(state)
        usable = [o for o in operators if o.needs <= literals and o.takes <= space and not o.adds <= literals]
        here_and_now = (o for o in usable if o.room in (None, room) and (o.takes <= 0 or space == math.inf))
        at_once = next((o for o in here_and_now if o in harmless), None)
        for operator in [at_once] if at_once is not None else usable:
            place = operator.room or room
            way = distance(room, place)
            if way == math.inf:
                continue
            after = ((literals - operator.removes) | operator.adds) & relevant
            new_state = (place, after, space - operator.takes)
            if new_state not in seen:
                spent = cost + way + 1
                entry = (spent + len(goal - after), next(order), spent, new_state, (*steps, PlanStep(operator, place)))
                heapq.heappush(queue, entry)
    return None


def _harmless(goal: frozenset[Literal], operators: Sequence[Operator]) -> set[Operator]:
    """Operators that may be used as soon as they can be used on the spot, without making any plan longer.

    They add one goal that no operator removes and that no operator adds together with something else, and what they
    remove is of no use to any other operator and is no goal.
    """
    removed = {literal for operator in operators for literal in operator.removes}
    added_together = {literal for operator in operators if len(operator.adds) > 1 for literal in operator.adds}
    settled = goal - removed - added_together
    return {
        operator
        for operator in operators
        if len(operator.adds) == 1
        and operator.adds <= settled
        and not operator.removes & goal
        and not any(operator.removes & other.needs for other in operators if other is not operator)
    }
