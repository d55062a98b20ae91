"""Looking back on one attempt, and what was learned from several (Reflexion; Shinn et al. 2023)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

from worldthread.agents.attempts.trajectories import AttemptTrajectory
from worldthread.agents.prompting import shorten

LESSON_LIMIT: Final = 2000
"""Characters of each part of a lesson."""


class Reflection(msgspec.Struct, forbid_unknown_fields=True):
    """The answer to "what is to be learned from this attempt?".

    Args:
        diagnosis: what the attempt showed.
        plan: what to do in the next one.
    """

    diagnosis: str
    plan: str


@dataclass(frozen=True)
class Lesson:
    """A reflection, and the attempt that it is about."""

    attempt: AttemptTrajectory
    reflection: Reflection


def render_lessons(lessons: Iterable[Lesson], limit: int) -> str:
    """Lessons in order, in at most ``limit`` characters; each gets the same share."""
    listed = list(lessons)
    share = min(LESSON_LIMIT, limit // (2 * len(listed)) - 60) if listed else 0
    return (
        "\n".join(
            f"Attempt {lesson.attempt.number} (best score {lesson.attempt.value:g}): "
            f"{shorten(lesson.reflection.diagnosis, share)}\n  Plan: {shorten(lesson.reflection.plan, share)}"
            for lesson in listed
        )
        or "(none)"
    )
