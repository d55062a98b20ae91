"""The world memories of GLoW: values of key states, and what is better to do in one state."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from worldthread_lab.agents.attempts.settings import DEFAULT_SETTINGS, AttemptSettings
from worldthread_lab.agents.prompting import first_lines, shorten


class KeyState(msgspec.Struct, forbid_unknown_fields=True):
    """A landmark of the world with its values (GLoW paper, equation 2).

    Args:
        state: how to recognise it.
        achieved: v, the highest score of the trajectories that pass it.
        potential: v', the score that seems to be within reach from it.
        reason: why.
    """

    state: str
    achieved: float
    potential: float
    reason: str


class GlobalMemory(msgspec.Struct, forbid_unknown_fields=True):
    """What comparing the trajectories of the frontier shows: W_global of the GLoW paper."""

    rewards: list[str]
    obstacles: list[str]
    states: list[KeyState]
    goals: list[str]


class Advantage(msgspec.Struct, forbid_unknown_fields=True):
    """What an action is worth in a state, compared with what else can be done there."""

    action: str
    is_better: bool
    effect: str


class StateAdvantages(msgspec.Struct, forbid_unknown_fields=True):
    """What was learned of one state (GLoW paper, section 3.2)."""

    state: str
    advantages: list[Advantage]
    best: str


class LocalMemory(msgspec.Struct, forbid_unknown_fields=True):
    """What comparing the attempts from one state shows: W_local of the GLoW paper."""

    states: list[StateAdvantages]
    insights: list[str]


def render_global_memory(memory: GlobalMemory, limit: int, settings: AttemptSettings = DEFAULT_SETTINGS) -> str:
    """Return a global memory as text for a prompt.

    Args:
        memory: the memory.
        limit: characters of the text.
        settings: the number of entries of a list, and their length.

    Returns:
        The key states, those of the highest value first, then obstacles, points and goals.
    """
    shown = settings.list_entries
    ranked = sorted(memory.states, key=lambda state: -max(state.potential, state.achieved))
    states = [
        f"achieved {state.achieved:g}, potential {state.potential:g}: {state.state} ({state.reason})"
        for state in ranked[:shown]
    ]
    return _lists(
        [
            ("Key states", states),
            ("Obstacles", memory.obstacles[:shown]),
            ("Points", memory.rewards[:shown]),
            ("Goals", memory.goals[:shown]),
        ],
        limit,
        settings.line_limit,
    )


def render_local_memory(memory: LocalMemory, limit: int, settings: AttemptSettings = DEFAULT_SETTINGS) -> str:
    """Return a local memory as text for a prompt.

    Args:
        memory: the memory.
        limit: characters of the text.
        settings: the number of entries of a list, and their length.

    Returns:
        For each state what to do and what to avoid, then the other insights.
    """
    shown = settings.list_entries
    states = [
        (
            f"At: {state.state}",
            [
                f"best: {state.best}",
                *(f"{'do' if a.is_better else 'avoid'}: {a.action} -> {a.effect}" for a in state.advantages[:shown]),
            ],
        )
        for state in memory.states[:shown]
    ]
    return _lists([*states, ("Beyond that", memory.insights[:shown])], limit, settings.line_limit)


def _lists(lists: Iterable[tuple[str, list[str]]], limit: int, line_limit: int) -> str:
    """Return lists under their titles; the lines that do not fit are left out."""
    lines = [
        line
        for title, entries in lists
        if entries
        for line in (f"{shorten(title, line_limit)}:", *(f"- {shorten(entry, line_limit)}" for entry in entries))
    ]
    return first_lines(lines, limit) or "(nothing was found)"
