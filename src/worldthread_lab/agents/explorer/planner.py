"""A small planner: which operators to apply, and in which order, to make some facts hold.

A state is a set of literals (normalised facts), the room of the player, and how much more can be carried. An operator
can be applied in its room when its needs hold; it adds and removes literals and costs one move, and walking costs the
moves of the path. A* search (Hart, Nilsson and Raphael 1968) finds a shortest plan, with the number of goals that are
left as lower bound. An operator that adds a goal, rules nothing out and can be applied in the present room is applied
at once, as waiting cannot make it cheaper. The search is guided best when the goal also names what must hold on the way
and is never removed.
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
    """An action with its needs and effects.

    Args:
        action: the command.
        room: where it can be done; ``None`` for anywhere.
        needs: literals that must hold.
        adds: literals that hold afterwards.
        removes: literals that no longer hold afterwards.
        reason: why, for people.
        takes: how many more things are carried afterwards; negative for fewer.
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
    """One operator of a plan, and the room in which it is applied."""

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
    """Find a shortest plan that makes ``goal`` hold.

    Args:
        here: the room of the player.
        holds: what holds now.
        goal: what must hold in the end.
        operators: what can be done.
        distance: returns the moves from one room to another; infinite when there is no path.
        room_to_carry: how many more things can be carried now.
        max_states: how many states may be expanded.

    Returns:
        The steps, none when the goal holds; ``None`` when there is no plan, or none within ``max_states`` states.
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
            walk = distance(room, place)
            if walk == math.inf:
                continue
            after = ((literals - operator.removes) | operator.adds) & relevant
            new_state = (place, after, space - operator.takes)
            if new_state not in seen:
                spent = cost + walk + 1
                entry = (spent + len(goal - after), next(order), spent, new_state, (*steps, PlanStep(operator, place)))
                heapq.heappush(queue, entry)
    return None


def _harmless(goal: frozenset[Literal], operators: Sequence[Operator]) -> set[Operator]:
    """Return the operators that may be applied at once in the present room without making any plan longer.

    Args:
        goal: what must hold in the end.
        operators: what can be done.

    Returns:
        Those that add one goal, which no operator removes or adds together with something else, and that remove
        nothing that another operator needs and no goal.
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
