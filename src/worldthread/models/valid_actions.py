"""How a prompt lists the actions that can be chosen: written in one way, so that what was offered can be read back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

HEADING: Final = "Valid actions:"
_NONE: Final = "(none)"
_UNTOLD: Final = "(no list is given: use a short command, as text games understand it)"
_BLOCK: Final = re.compile(rf"^{HEADING}[ \t]*(?P<line>[^\n]*)(?P<items>(?:\n- [^\n]*)*)", re.MULTILINE)


def valid_actions_text(actions: Iterable[str] | None) -> str:
    """The part of a prompt that lists ``actions``, one a line; ``None`` says that no list is given.

    >>> print(valid_actions_text(["go north", "take key"]))
    Valid actions:
    - go north
    - take key
    """
    if actions is None:
        return f"{HEADING} {_UNTOLD}"
    lines = [f"- {' '.join(action.split())}" for action in actions]
    return "\n".join([HEADING, *lines]) if lines else f"{HEADING} {_NONE}"


def valid_actions_in(text: str) -> tuple[str, ...] | None:
    """The actions that a prompt lists last: what :func:`valid_actions_text` wrote, or a line with commas between them.

    ``None`` when it lists none, or says that no list is given.

    >>> valid_actions_in("You are lost. Valid actions: jump, sing")
    >>> valid_actions_in("You are lost.\\nValid actions: jump, sing")
    ('jump', 'sing')
    """
    blocks = list(_BLOCK.finditer(text))
    if not blocks:
        return None
    line, items = blocks[-1]["line"].strip(), blocks[-1]["items"]
    if items:
        return tuple(item.removeprefix("- ").strip() for item in items.strip("\n").split("\n"))
    if line in ("", _NONE, _UNTOLD):
        return None
    return tuple(action.strip() for action in line.split(",") if action.strip())
