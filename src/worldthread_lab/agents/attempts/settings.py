"""The tuned numbers of the agents that play in attempts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class AttemptSettings:
    """How long the parts of the prompts of ReAct, Reflexion, ICRL, IGE and GLoW are.

    All numbers are characters unless their line says otherwise; four are about one token. Every one was chosen by hand
    and not tuned; they bound the prompts of long plays. What the papers state (the size of the frontier, the number of
    explorations, windows) is an argument of the agent.

    Args:
        text_limits: an observation in a trajectory: the first, largest of these with which the trajectory fits.
        last_text_limit: the observation that a decision is about.
        action_limit: an action in a trajectory.
        lesson_limit: each part of a lesson.
        part_limit: the fixed words of a part of a prompt, around what it quotes.
        line_limit: a line of a world memory (GLoW).
        list_entries: entries of a list of a world memory; a number.
        offered_states: states of the archive that the model may choose from at once; a number.
        state_text_limit: the observation of an archived state.
        state_inventory_limit: the inventory of an archived state.
        offers_all: whether every archived state that fits can be chosen, without the memory's name of its place, as in
            the GLoW paper; else the best ones of every place, at most ``offered_states``.
    """

    text_limits: tuple[int, ...] = (600, 300, 150, 80, 40)
    last_text_limit: int = 4000
    action_limit: int = 120
    lesson_limit: int = 2000
    part_limit: int = 1000
    line_limit: int = 700
    list_entries: int = 8
    offered_states: int = 40
    state_text_limit: int = 300
    state_inventory_limit: int = 200
    offers_all: bool = False


DEFAULT_SETTINGS: Final = AttemptSettings()
"""The settings with which the figures in ``docs/results.md`` were measured."""
