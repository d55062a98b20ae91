"""Reflections on attempts, and the lessons of several (Reflexion; Shinn et al. 2023)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from worldthread_lab.agents.attempts.settings import DEFAULT_SETTINGS, AttemptSettings
from worldthread_lab.agents.attempts.trajectories import AttemptTrajectory
from worldthread_lab.agents.prompting import shorten


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
    """A reflection and its attempt."""

    attempt: AttemptTrajectory
    reflection: Reflection


def render_lessons(lessons: Iterable[Lesson], limit: int, settings: AttemptSettings = DEFAULT_SETTINGS) -> str:
    """Return lessons in order as text for a prompt.

    Args:
        lessons: the oldest first.
        limit: characters; each lesson gets an equal share.
        settings: the length of a part of a lesson.

    Returns:
        The text, of at most ``limit`` characters.
    """
    listed = list(lessons)
    share = min(settings.lesson_limit, limit // (2 * len(listed)) - 60) if listed else 0
    return (
        "\n".join(
            f"Attempt {lesson.attempt.number} (best score {lesson.attempt.value:g}): "
            f"{shorten(lesson.reflection.diagnosis, share)}\n  Plan: {shorten(lesson.reflection.plan, share)}"
            for lesson in listed
        )
        or "(none)"
    )
