"""The tuned numbers of reflact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from worldthread.errors import InputError


@dataclass(frozen=True)
class ReflActSettings:
    """When :class:`~worldthread_lab.agents.reflact.agent.ReflAct` calls its helpers, and how long prompts are.

    The helpers, their periods and the scores of the critic follow the description of the zorkclaw agent. Numbers that
    it states are marked "as in zorkclaw"; the others were chosen by hand. Nothing was tuned on games.

    Args:
        version: of the prompts and of the helpers: 3, or one before, as runs of earlier releases have it: 2 has every
            section of the prompt, also those without content, and says twice what the game says now; 1 also asks for
            hints whenever it enters a room, never lets them expire, and makes each summary from the last moves, old and
            new.
        critic: what happens to an action that the critic rejects: with ``"ask"`` the model reads why, and chooses
            again; with ``"replace"``, as zorkclaw describes, an untried action is done in its place without a call.
        hard_loop: equal actions in a row after which "look" is done without a call, whatever came of them; 0 for
            never. zorkclaw describes 3.
        hint_moves: moves in a room after which its hints expire; a number. By hand.
        memory_questions: questions to the memory before a command, at most. By hand.
        summary_every: moves from one summary to the next, when the score does not change. As in zorkclaw.
        summary_moves: last moves that a summary is made of; a number. As in zorkclaw.
        shown_moves: last moves that every prompt shows; a number. As in zorkclaw.
        talk_moves: last moves in the room that the prompt about a conversation shows; a number. By hand.
        hints: hints that are kept for a room; a number. By hand.
        text_limit: an observation in a list of moves, in characters. By hand.
        action_limit: an action, in characters. By hand.
        outcomes_limit: the list of what was done in a room, in characters. By hand.
        tried_limit: the list of actions tried in a room, in characters. By hand.
        summary_limit: the summary, in characters. By hand.
        objective_limit: the objective, in characters. By hand.
        observation_limit: the present observation, in characters. By hand.
        memory_limit: an answer of the memory, in characters. By hand.
        actions_limit: the list of valid actions, in characters. By hand.
        kept_outcomes: outcomes of actions kept of a room; that actions were tried is kept of all. As in zorkclaw.
        max_repeats: times in a row after which the critic rejects an action that led nowhere. By hand.
        loop_revisits: earlier visits of the present state from which on the critic is stricter and a warning says
            LOOP; a number. As in zorkclaw.
        action_window: last actions among which repeats are counted; a number. By hand.
        frequent_action: times within that window from which on a warning names the action. By hand.
        stuck_moves: moves without a change of the score after which a note, a warning and an alarm are given. As in
            zorkclaw.
        talk_actions: actions of talk in a room from which on a conversation may be stalled; a number. As in zorkclaw.
        talk_patience: moves without a change of the score from which on it may be. As in zorkclaw.
        talk_pause: least number of moves between two thoughts about one conversation. By hand.
    """

    version: int = 3
    critic: Literal["ask", "replace"] = "ask"
    hard_loop: int = 0
    hint_moves: int = 8
    memory_questions: int = 2
    summary_every: int = 5
    summary_moves: int = 30
    shown_moves: int = 10
    talk_moves: int = 10
    hints: int = 5
    text_limit: int = 400
    action_limit: int = 120
    outcomes_limit: int = 4000
    tried_limit: int = 2000
    summary_limit: int = 1500
    objective_limit: int = 300
    observation_limit: int = 4000
    memory_limit: int = 2500
    actions_limit: int = 6000
    kept_outcomes: int = 40
    max_repeats: int = 3
    loop_revisits: int = 3
    action_window: int = 10
    frequent_action: int = 4
    stuck_moves: tuple[int, int, int] = (10, 20, 30)
    talk_actions: int = 5
    talk_patience: int = 10
    talk_pause: int = 5

    def __post_init__(self) -> None:
        if self.version not in (1, 2, 3):
            raise InputError(f"version must be 1, 2 or 3, not {self.version}")
        if self.critic not in ("ask", "replace"):
            raise InputError(f"critic must be 'ask' or 'replace', not {self.critic!r}")
        if self.hard_loop < 0:
            raise InputError(f"hard_loop must be a number of actions, or 0 for never, not {self.hard_loop}")


FORMER_SETTINGS: Final = {rules: ReflActSettings(version=rules) for rules in (1, 2)}
"""The settings of plays by earlier rules of play, by these (:data:`worldthread_lab.play.run.RULES`)."""

DEFAULT_SETTINGS: Final = ReflActSettings()
"""The settings of the agent unless told otherwise."""
