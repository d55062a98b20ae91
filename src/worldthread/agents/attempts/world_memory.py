"""What GLoW keeps of its trajectories: values of key states of the world, and what is better to do from one state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from worldthread.agents.prompting import first_lines, shorten

LINE_LIMIT: Final = 700
"""Characters of a line that tells something learned."""
SHOWN: Final = 8
"""Entries of a list that are told, at most."""


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


def render_global_memory(memory: GlobalMemory, limit: int) -> str:
    """The key states, those of the highest value first, and what else was found: the first eight of each, in at most
    ``limit`` characters.
    """
    ranked = sorted(memory.states, key=lambda state: -max(state.potential, state.achieved))
    states = [
        f"achieved {state.achieved:g}, potential {state.potential:g}: {state.state} ({state.reason})"
        for state in ranked[:SHOWN]
    ]
    return _lists(
        [
            ("Key states", states),
            ("Obstacles", memory.obstacles[:SHOWN]),
            ("Points", memory.rewards[:SHOWN]),
            ("Goals", memory.goals[:SHOWN]),
        ],
        limit,
    )


def render_local_memory(memory: LocalMemory, limit: int) -> str:
    """State after state, what to do there and what to leave, and what else was found: the first eight of each, in at
    most ``limit`` characters.
    """
    states = [
        (
            f"At: {state.state}",
            [
                f"best: {state.best}",
                *(f"{'do' if a.is_better else 'avoid'}: {a.action} -> {a.effect}" for a in state.advantages[:SHOWN]),
            ],
        )
        for state in memory.states[:SHOWN]
    ]
    return _lists([*states, ("Beyond that", memory.insights[:SHOWN])], limit)


def _lists(lists: Iterable[tuple[str, list[str]]], limit: int) -> str:
    """Lists under their titles; the lines that no longer fit are left out."""
    lines = [
        line
        for title, entries in lists
        if entries
        for line in (f"{shorten(title, LINE_LIMIT)}:", *(f"- {shorten(entry, LINE_LIMIT)}" for entry in entries))
    ]
    return first_lines(lines, limit) or "(nothing was found)"
