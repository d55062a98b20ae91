"""Trajectories, the best of them, and their texts for prompts, which never exceed a length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from worldthread_lab.agents.attempts.settings import DEFAULT_SETTINGS, AttemptSettings
from worldthread_lab.agents.prompting import shorten

GAP: Final = "moves left out"
"""What a line says that stands for moves which did not fit."""
_GAP_LENGTH: Final = 40
"""Characters of a line "... (12 moves left out)" with its line break, at most."""


@dataclass(frozen=True)
class TrajectoryStep:
    """An action and the state to which it led.

    Args:
        moment: the number of the state (:attr:`worldthread_lab.agents.base.Percept.moment`).
        action: the action; ``None`` for the beginning.
        text: the observation.
        score: points so far.
        reward: points of this step.
        place: the room of the player in the memory, as written; empty when unknown.
        inventory: what is carried, in the world's words or the names in the memory.
        state: a digest of the whole state of the world; ``None`` when the world has none.
        ended: whether the game is over here.
    """

    moment: int
    action: str | None
    text: str
    score: float
    reward: float = 0.0
    place: str = ""
    inventory: str = ""
    state: str | None = None
    ended: bool = False


@dataclass(frozen=True)
class AttemptTrajectory:
    """The steps from the beginning of the world to the end of one attempt.

    Args:
        number: the number of the attempt; 1 for the first.
        steps: at least the one of the beginning.
        start: index of the step in whose state the attempt began; the steps before it are those of earlier attempts.
    """

    number: int
    steps: tuple[TrajectoryStep, ...]
    start: int = 0

    @property
    def value(self) -> float:
        """The highest score after a move (GLoW paper, section 3.1: the maximum cumulative reward, t in [1, T])."""
        return max((step.score for step in self.steps[1:]), default=self.steps[0].score)

    @property
    def moves_to_value(self) -> int:
        """Moves from the beginning until the highest score was first reached."""
        return next((n for n, step in enumerate(self.steps) if n and step.score == self.value), 0)

    @property
    def actions(self) -> tuple[str | None, ...]:
        """The actions of the steps; the first is ``None``, for the beginning."""
        return tuple(step.action for step in self.steps)


class Frontier:
    """The ``k`` trajectories of the highest value (GLoW paper, equation 1).

    Of equal values the one that was reached in fewer moves comes first, then the older one. A trajectory with the same
    actions as one in the frontier is not added.

    Args:
        k: the size of the frontier, at least 1.

    Attributes:
        trajectories: the best first.
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self.trajectories: tuple[AttemptTrajectory, ...] = ()

    def add(self, trajectory: AttemptTrajectory) -> None:
        """Add a trajectory if it is among the best."""
        if any(trajectory.actions == known.actions for known in self.trajectories):
            return
        ranked = sorted((*self.trajectories, trajectory), key=lambda t: (-t.value, t.moves_to_value, t.number))
        self.trajectories = tuple(ranked[: self.k])


def render_steps(
    steps: Sequence[TrajectoryStep],
    limit: int,
    settings: AttemptSettings = DEFAULT_SETTINGS,
    *,
    start: int = 0,
    remarks: Mapping[int, Sequence[str]] | None = None,
) -> str:
    """Return steps in order as text for a prompt, a line each.

    Observations lose their middle until the text fits. If it is still too long, moves are left out, the oldest first,
    and those that changed the score last. The last observation is longer than the others.

    Args:
        steps: at least one.
        limit: characters of the text, at least 100.
        settings: the lengths of observations and actions.
        start: index of the step in whose state the attempt began; when above 0, a line marks it.
        remarks: by number of the state, lines to add below the step: thoughts, problems of answers.

    Returns:
        The text, of at most ``limit`` characters.
    """
    for each in settings.text_limits:
        last = min(max(each, limit // 4), settings.last_text_limit)
        blocks = [
            _block(
                step,
                last if number == len(steps) - 1 else each,
                (remarks or {}).get(step.moment, ()),
                each,
                settings.action_limit,
            )
            + ("\n(from here on: this attempt)" if number == start and start else "")
            for number, step in enumerate(steps)
        ]
        if sum(map(len, blocks)) + len(blocks) <= limit:
            return "\n".join(blocks)
    wanted = [step.reward != 0 or 0 < number == start for number, step in enumerate(steps)]
    return _fitting(blocks, wanted, limit)


def render_trajectory(
    trajectory: AttemptTrajectory,
    limit: int,
    settings: AttemptSettings = DEFAULT_SETTINGS,
    *,
    whole: bool = True,
) -> str:
    """Return a trajectory as text for a prompt, under a heading with its scores.

    Args:
        trajectory: the trajectory.
        limit: characters of the text, at least 200.
        settings: the lengths of observations and actions.
        whole: from the beginning of the world; else only from the state in which the attempt began.

    Returns:
        The text, of at most ``limit`` characters.
    """
    steps = trajectory.steps
    if not whole:  # the path to the state in which the attempt began is not part of the attempt
        steps = (replace(steps[trajectory.start], action=None, reward=0.0), *steps[trajectory.start + 1 :])
    last = trajectory.steps[-1]
    end = "; the game ended there" if last.ended else ""
    heading = (
        f"Trajectory {trajectory.number}: best score {trajectory.value:g}, last score {last.score:g}, "
        f"{len(steps) - 1} moves{end}"
    )
    return heading + "\n" + render_steps(steps, limit - len(heading) - 1, settings)


def render_trajectories(
    trajectories: Iterable[AttemptTrajectory],
    limit: int,
    settings: AttemptSettings = DEFAULT_SETTINGS,
    *,
    whole: bool = True,
) -> str:
    """Return trajectories in the order given as text for a prompt.

    Args:
        trajectories: the trajectories.
        limit: characters of the text; what one trajectory does not need goes to the next ones.
        settings: the lengths of observations and actions.
        whole: from the beginning of the world; else only from the states in which the attempts began.

    Returns:
        The text, of at most ``limit`` characters.
    """
    left = limit
    texts: list[str] = []
    listed = list(trajectories)
    for number, trajectory in enumerate(listed):
        texts.append(render_trajectory(trajectory, left // (len(listed) - number) - 2, settings, whole=whole))
        left -= len(texts[-1]) + 2
    return "\n\n".join(texts)


def _block(step: TrajectoryStep, text_limit: int, remarks: Sequence[str], remark_limit: int, action_limit: int) -> str:
    gained = f", {step.reward:+g}" if step.reward else ""
    head = f"[{step.score:g}{gained}]"
    action = f" > {shorten(step.action, action_limit)}:" if step.action is not None else ""
    lines = [f"{head}{action} {shorten(step.text, text_limit)}", *(f"  ({shorten(r, remark_limit)})" for r in remarks)]
    return "\n".join(lines)


def _fitting(blocks: Sequence[str], wanted: Sequence[bool], limit: int) -> str:
    """Join as many blocks as fit: the last one, then the wanted ones, then the others, each from the end backwards."""
    numbers = range(len(blocks) - 1, -1, -1)
    kept: set[int] = set()
    left = limit - _GAP_LENGTH
    for number in sorted(numbers, key=lambda n: (n != len(blocks) - 1, not wanted[n], -n)):
        needed = len(blocks[number]) + 1 + _GAP_LENGTH
        if needed <= left:
            kept.add(number)
            left -= needed
    lines: list[str] = []
    gap = 0
    for number, block in enumerate(blocks):
        if number not in kept:
            gap += 1
            continue
        if gap:
            lines.append(f"... ({gap} {GAP})")
        lines.append(block)
        gap = 0
    if gap:
        lines.append(f"... ({gap} {GAP})")
    return "\n".join(lines)
