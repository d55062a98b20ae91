"""The description of a run: everything that determines one play."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import msgspec
import orjson

from worldthread.decoding import convert
from worldthread.errors import InputError

_MAX_NUMBER: Final = 2**53
"""The largest number of a run that is read from a file, so that every reader of JSON understands it."""


@dataclass(frozen=True)
class Run:
    """Everything that determines one play.

    Args:
        game: the game, in a form that :func:`worldthread.envs.make` accepts.
        agent: the agent, in a form that :func:`worldthread.agents.agent_class` accepts.
        seed: the seed of the game.
        steps: the limit of moves; ``None``: the game's own limit.
        audit: whether the memory is compared with the true state of the world.
        valid_actions: whether the agent sees the list of valid actions.
        version: the version of worldthread; a sweep plays runs of other versions again.
        memory: the memory module that the agent uses (its argument ``memory_module``); empty: the agent's default.
        attempt: the seed of the agent; 0 for the first attempt.
        model: the name of the chat model; empty without one.
        options: further arguments of the agent, as a JSON object with sorted keys.
        goal: a task for the player that replaces the game's own.
        budget_tokens: the number of tokens that the model may use; ``None``: no limit.
        budget_dollars: the amount in dollars that the model may cost; ``None``: no limit.
    """

    game: str
    agent: str
    seed: int
    steps: int | None = None
    audit: bool = True
    valid_actions: bool = True
    version: str = ""
    memory: str = ""
    attempt: int = 0
    model: str = ""
    options: str = "{}"
    goal: str | None = None
    budget_tokens: int | None = None
    budget_dollars: float | None = None

    @property
    def player(self) -> str:
        """The agent and its memory module, such as ``ariadne+worldthread``."""
        return f"{self.agent}+{self.memory}" if self.memory else self.agent

    @property
    def folder(self) -> Path:
        """The folder of the run within that of a sweep: a readable name and a digest of all settings."""
        digest = hashlib.blake2b(orjson.dumps(asdict(self), option=orjson.OPT_SORT_KEYS), digest_size=4).hexdigest()
        attempt = f"-attempt{self.attempt}" if self.attempt else ""
        return Path(file_name(self.game), file_name(self.player), f"seed{self.seed}{attempt}-{digest}")


def decode_run(settings: object) -> Run:
    """Return the run that the fields of a file describe.

    Args:
        settings: the fields by name, from JSON.

    Returns:
        The run.

    Raises:
        InputError: a field is unknown or missing, has another type, or is a number that no run can have.
    """
    if not isinstance(settings, dict):
        raise InputError("the settings of a run must be an object")
    known = {field.name for field in fields(Run)}
    if unknown := sorted(str(name) for name in settings.keys() - known):
        raise InputError(f"a run has no setting {unknown[0]!r}")
    try:
        convert(settings, Run)
    except msgspec.ValidationError as error:
        raise InputError(str(error)) from None
    try:
        options = orjson.loads(settings.get("options", "{}"))
    except orjson.JSONDecodeError as error:
        raise InputError(f"the options must be a JSON object: {error}") from None
    if not isinstance(options, dict):
        raise InputError("the options must be a JSON object")
    for name in ("seed", "attempt", "steps", "budget_tokens", "budget_dollars"):
        number = settings.get(name)
        if number is not None and not 0 <= number < _MAX_NUMBER:
            raise InputError(f"{name} must be a number from 0, not {number!r}")
    decoded: dict[str, Any] = settings
    return Run(**decoded)  # not the converted one: it would hold 5.0 for 5


def file_name(text: str) -> str:
    """Return ``text`` as a file name of at most 60 letters, digits, dots, hyphens, plus signs and underscores.

    Args:
        text: a name; of a game file such as ``textworld:games/hunt.z8`` only the engine and the stem are used.

    Returns:
        The file name; ``"run"`` when nothing is left of the text.
    """
    kind, colon, rest = text.partition(":")
    text = f"{kind}-{Path(rest).stem}" if colon else text
    return re.sub(r"[^A-Za-z0-9_.+-]+", "-", text).strip("-.")[-60:] or "run"
