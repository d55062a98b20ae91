"""Permission to run what is not part of worldthread.

Run files, requests of pages and arguments of tools name registered agents, worlds and modules. Anything else that they
name would run as the user, so the user must allow it by name.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection

from worldthread.errors import InputError


def require_allowed(name: str, allow_code: Collection[str], what: str) -> None:
    """Check that the user allowed a module or a game file to run.

    Args:
        name: the dotted name of the module, or the id of the game file.
        allow_code: the names that the user allowed.
        what: what needs it, in words that begin the error message.

    Raises:
        InputError: the name is not allowed; the message says what to add. Or ``allow_code`` is a single text.
    """
    if isinstance(allow_code, str):
        raise InputError(f"allow_code must be a list of names, such as [{allow_code!r}], not a text")
    if name not in allow_code:
        raise InputError(
            f"{what} is not part of worldthread and would run with your rights. If you trust {name}, add "
            f"--allow-code {shlex.quote(name)} (from Python: allow_code=[{name!r}])"
        )
