"""Pieces of prompts: texts of bounded length, the task, the valid actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from worldthread.models.chat import Message
from worldthread.models.prompts import load_prompt
from worldthread.models.valid_actions import valid_actions_text
from worldthread.text import one_line

TASK_LIMIT: Final = 1000
_CUT: Final = " [...] "


def prompt(name: str, version: int = 1, /, **values: str) -> tuple[Message, ...]:
    """The messages of a prompt of the agents."""
    return load_prompt("worldthread.agents", name, version).messages(**values)


def prompt_part(name: str, version: int = 1, /, **values: str) -> str:
    """The text of a prompt with one section, to become a part of a message: some models want one message of a user."""
    (message,) = prompt(name, version, **values)
    return message.content


def shorten(text: str, limit: int) -> str:
    """``text`` on one line, of at most ``limit`` characters (at least 10): what is too long loses its middle."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    kept = limit - len(_CUT)
    return line[: (kept + 1) // 2] + _CUT + line[len(line) - kept // 2 :]


def first_lines(lines: Iterable[str], limit: int) -> str:
    """The first of ``lines`` that together take at most ``limit`` characters."""
    kept: list[str] = []
    for line in lines:
        limit -= len(line) + 1
        if limit < 0:
            break
        kept.append(line)
    return "\n".join(kept)


def task_text(goal: str) -> str:
    """The task in words, in at most 1,000 characters."""
    return shorten(goal, TASK_LIMIT) or "None is stated. Find out what there is to do, and score points."


def offered_text(actions: tuple[str, ...] | None, limit: int) -> str:
    """The valid actions as every prompt lists them, in about ``limit`` characters; how many are left out is said."""
    if actions is None:
        return valid_actions_text(None)
    shown: list[str] = []
    for action in actions:
        limit -= len(action) + 3
        if limit < 0:
            break
        shown.append(action)
    missing = len(actions) - len(shown)
    return valid_actions_text(shown) + (f"\n({missing} more are not shown.)" if missing else "")
