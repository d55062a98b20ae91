"""Parts of prompts: texts of bounded length, the task, the valid actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from worldthread.models.chat import Message
from worldthread.models.prompts import load_prompt
from worldthread.support.text import one_line
from worldthread_lab.agents.base import Percept
from worldthread_lab.agents.valid_actions import valid_actions_text

TASK_LIMIT: Final = 1000
"""Characters of the task in a prompt, at most; chosen by hand."""
_CUT: Final = " [...] "


def prompt(name: str, version: int = 1, /, **values: str) -> tuple[Message, ...]:
    """Return the messages of a prompt of the agents, its placeholders filled with ``values``."""
    return load_prompt("worldthread_lab.agents", name, version).messages(**values)


def prompt_part(name: str, version: int = 1, /, **values: str) -> str:
    """Return the text of a prompt with one section, to be joined with others: some models accept one user message."""
    (message,) = prompt(name, version, **values)
    return message.content


def shorten(text: str, limit: int) -> str:
    """Shorten a text to one line by leaving out its middle.

    Args:
        text: any text.
        limit: characters of the line, at least 10.

    Returns:
        The text on one line, of at most ``limit`` characters.
    """
    line = one_line(text)
    if len(line) <= limit:
        return line
    kept = limit - len(_CUT)
    return line[: (kept + 1) // 2] + _CUT + line[len(line) - kept // 2 :]


def first_lines(lines: Iterable[str], limit: int) -> str:
    """Return the first of ``lines`` that together, with line breaks, take at most ``limit`` characters."""
    kept: list[str] = []
    for line in lines:
        limit -= len(line) + 1
        if limit < 0:
            break
        kept.append(line)
    return "\n".join(kept)


def task_text(goal: str) -> str:
    """Return the task in words, in at most :data:`TASK_LIMIT` characters."""
    return shorten(goal, TASK_LIMIT) or "None is stated. Find out what there is to do, and score points."


def score_text(percept: Percept, before: Percept | None) -> str:
    """Return the score, the highest possible one, and what the last action did to it.

    Args:
        percept: the present state.
        before: the state in which the agent decided last; ``None`` for the beginning.

    Returns:
        The text, such as ``"7 of 22 (your last choice: +1)"``.
    """
    highest = f" of {percept.max_score:g}" if percept.max_score else ""
    change = 0.0 if before is None else percept.score - before.score
    return f"{percept.score:g}{highest}" + (f" (your last choice: {change:+g})" if change else "")


def offered_text(actions: tuple[str, ...] | None, limit: int, *, lists_all: bool = True) -> str:
    """Return the valid actions as every prompt lists them, in about ``limit`` characters, and how many are left out."""
    if actions is None:
        return valid_actions_text(None)
    shown: list[str] = []
    for action in actions:
        limit -= len(action) + 3
        if limit < 0:
            break
        shown.append(action)
    missing = len(actions) - len(shown)
    return valid_actions_text(shown, lists_all=lists_all) + (f"\n({missing} more are not shown.)" if missing else "")
