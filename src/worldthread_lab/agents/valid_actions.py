"""The list of valid actions in a prompt: written in one form, so that it can be read back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from worldthread.support.text import one_line

HEADING: Final = "Valid actions:"
_NONE: Final = "(none)"
_NO_LIST: Final = "(no list is given: use a short command, as text games understand it)"
_NOT_ALL: Final = "(The list is not complete: any other command that makes sense here may be given.)"
_BLOCK: Final = re.compile(rf"^{HEADING}[ \t]*(?P<line>[^\n]*)(?P<items>(?:\n- [^\n]*)*)", re.MULTILINE)


def valid_actions_text(actions: Iterable[str] | None, *, lists_all: bool = True) -> str:
    """Write the part of a prompt that lists the valid actions.

    Args:
        actions: the actions, one for each line; ``None`` if they are not known.
        lists_all: whether the world accepts hardly any other action; else the text says that others are welcome.

    Returns:
        The text, without a line end.

    >>> print(valid_actions_text(["go north", "take key"]))
    Valid actions:
    - go north
    - take key
    """
    if actions is None:
        return f"{HEADING} {_NO_LIST}"
    lines = [f"- {one_line(action)}" for action in actions]
    text = "\n".join([HEADING, *lines]) if lines else f"{HEADING} {_NONE}"
    return text if lists_all else f"{text}\n{_NOT_ALL}"


def valid_actions_in(text: str) -> tuple[str, ...] | None:
    r"""Read the last list of valid actions in a prompt.

    Args:
        text: the prompt; its list was written by :func:`valid_actions_text`, or is one line with commas.

    Returns:
        The actions; ``None`` if the prompt lists none, or says that no list is given.

    >>> valid_actions_in("You are lost. Valid actions: jump, sing")
    >>> valid_actions_in("You are lost.\nValid actions: jump, sing")
    ('jump', 'sing')
    """
    blocks = list(_BLOCK.finditer(text))
    if not blocks:
        return None
    line, items = blocks[-1]["line"].strip(), blocks[-1]["items"]
    if items:
        return tuple(item.removeprefix("- ").strip() for item in items.strip("\n").split("\n"))
    if line in ("", _NONE, _NO_LIST):
        return None
    return tuple(action.strip() for action in line.split(",") if action.strip())
