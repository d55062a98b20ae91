"""What was done and seen, as a model is told it: steps, trajectories, and the best of them; never longer than asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from worldthread.agents.prompting import shorten

TEXT_LIMITS: Final = (600, 300, 150, 80, 40)
"""Characters of an observation in a trajectory: the first of these with which the trajectory fits."""
ACTION_LIMIT: Final = 120
LAST_TEXT_LIMIT: Final = 4000
"""Characters of the observation that a decision is about."""
_GAP_ROOM: Final = 40  # what a line "... (12 moves left out)" takes, and its line break


@dataclass(frozen=True)
class TrajectoryStep:
    """One moment of a world, and how it was reached.

    Args:
        moment: its number, see :attr:`worldthread.agents.base.Percept.moment`.
        action: what led here; ``None`` for the beginning.
        text: the observation.
        score: points so far.
        reward: points of this step.
        place: room of the player as the memory has it, as written; empty when unknown.
        inventory: what is carried: in the world's words, or the names that the memory has.
        state: digest of the whole state of the world; ``None`` when the world has none.
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
    """What happened from the beginning of the world to the end of one attempt.

    Args:
        number: 1 for the first that was made.
        steps: at least the one of the beginning.
        start: index of the step from which the attempt went on; the steps before are those of earlier attempts.
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
        """What was done, ``None`` for the beginning first."""
        return tuple(step.action for step in self.steps)


class Frontier:
    """The ``k`` trajectories of the highest value (GLoW paper, equation 1).

    Of equal values the one that got there in fewer moves comes first, then the older one. A trajectory with the very
    actions of one that is held is not taken in.

    Args:
        k: at least 1.
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self.trajectories: tuple[AttemptTrajectory, ...] = ()
        """The best first."""

    def add(self, trajectory: AttemptTrajectory) -> None:
        """Take in a trajectory, if it is among the best."""
        if any(trajectory.actions == known.actions for known in self.trajectories):
            return
        ranked = sorted((*self.trajectories, trajectory), key=lambda t: (-t.value, t.moves_to_value, t.number))
        self.trajectories = tuple(ranked[: self.k])


def render_steps(
    steps: Sequence[TrajectoryStep],
    limit: int,
    *,
    start: int = 0,
    remarks: Mapping[int, Sequence[str]] | None = None,
) -> str:
    """Steps in order, a line each, in at most ``limit`` characters.

    Observations lose their middle until all fits. When even that is too long, moves are left out, the oldest first, and
    those that changed the score last. The last observation is told at greater length than the others.

    Args:
        steps: at least one.
        limit: characters, at least 100.
        start: index of the step from which the attempt went on; when above 0, a line marks it.
        remarks: by moment, what to tell below the step: thoughts, answers that could not be used.
    """
    for each in TEXT_LIMITS:
        last = min(max(each, limit // 4), LAST_TEXT_LIMIT)
        blocks = [
            _block(step, last if number == len(steps) - 1 else each, (remarks or {}).get(step.moment, ()), each)
            + ("\n(from here on: this attempt)" if number == start and start else "")
            for number, step in enumerate(steps)
        ]
        if sum(map(len, blocks)) + len(blocks) <= limit:
            return "\n".join(blocks)
    wanted = [step.reward != 0 or 0 < number == start for number, step in enumerate(steps)]
    return _left_out(blocks, wanted, limit)


def render_trajectory(trajectory: AttemptTrajectory, limit: int, *, whole: bool = True) -> str:
    """A trajectory under a heading that names its scores, in at most ``limit`` characters (at least 200).

    Args:
        trajectory: what to tell.
        limit: characters.
        whole: from the beginning of the world; else only from the step where the attempt went on.
    """
    steps = trajectory.steps
    if not whole:  # how the state was reached in which the attempt began is no part of the attempt
        steps = (replace(steps[trajectory.start], action=None, reward=0.0), *steps[trajectory.start + 1 :])
    last = trajectory.steps[-1]
    end = "; the game ended there" if last.ended else ""
    heading = (
        f"Trajectory {trajectory.number}: best score {trajectory.value:g}, last score {last.score:g}, "
        f"{len(steps) - 1} moves{end}"
    )
    return heading + "\n" + render_steps(steps, limit - len(heading) - 1)


def render_trajectories(trajectories: Iterable[AttemptTrajectory], limit: int, *, whole: bool = True) -> str:
    """Trajectories in the order given, in at most ``limit`` characters; what one leaves over, the next ones get."""
    left = limit
    told: list[str] = []
    listed = list(trajectories)
    for number, trajectory in enumerate(listed):
        told.append(render_trajectory(trajectory, left // (len(listed) - number) - 2, whole=whole))
        left -= len(told[-1]) + 2
    return "\n\n".join(told)


def _block(step: TrajectoryStep, text_limit: int, remarks: Sequence[str], remark_limit: int) -> str:
    gained = f", {step.reward:+g}" if step.reward else ""
    head = f"[{step.score:g}{gained}]"
    done = f" > {shorten(step.action, ACTION_LIMIT)}:" if step.action is not None else ""
    lines = [f"{head}{done} {shorten(step.text, text_limit)}", *(f"  ({shorten(r, remark_limit)})" for r in remarks)]
    return "\n".join(lines)


def _left_out(blocks: Sequence[str], wanted: Sequence[bool], limit: int) -> str:
    """As many blocks as fit: the last, then those that are wanted, then the others; each backwards from the end."""
    numbers = range(len(blocks) - 1, -1, -1)
    kept: set[int] = set()
    left = limit - _GAP_ROOM
    for number in sorted(numbers, key=lambda n: (n != len(blocks) - 1, not wanted[n], -n)):
        needed = len(blocks[number]) + 1 + _GAP_ROOM
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
            lines.append(f"... ({gap} moves left out)")
        lines.append(block)
        gap = 0
    if gap:
        lines.append(f"... ({gap} moves left out)")
    return "\n".join(lines)
