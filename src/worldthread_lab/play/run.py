"""The description of a run: everything that determines one play."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import msgspec
import orjson

from worldthread.errors import InputError
from worldthread.files.decoding import convert
from worldthread.models.prompts import PromptSet, decode_prompts

RULES: Final = 4
"""The present rules of plays and agents. Runs of older rules are played again as they were played.

1: a play counts an action as invalid that is not on the list of valid actions, and goes on after a win when the agent
returns and asks a model; Ariadne makes three calls for each decision; ReflAct asks for hints whenever it enters a room,
and makes each summary from the last moves, old and new.
2: the prompts of ReflAct have every section, also those without content, and say twice what the game says now.
3: the prompts of ICRL hold all trajectories, not the last ten.
"""

PERSON: Final = "human"
"""The name of the agent of a play that a person makes."""

_MAX_NUMBER: Final = 2**53
"""The largest number of a run that is read from a file, so that every reader of JSON understands it."""


@dataclass(frozen=True)
class Run:
    """Everything that determines one play.

    Args:
        game: the game, in a form that :func:`worldthread_lab.envs.make` accepts.
        agent: the agent, in a form that :func:`worldthread_lab.agents.agent_class` accepts.
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
        decisions: the limit of decisions; ``None``: no limit.
        memory_options: settings of the memory module, as a JSON object with sorted keys.
        game_options: settings of the game (options of :func:`worldthread_lab.envs.make`), as a JSON object with sorted
            keys.
        prompts: prompts that replace those of the package, as :meth:`~worldthread.models.prompts.PromptSet.as_json`
            writes them.
        rules: the rules of play, from 1 to :data:`RULES`.
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
    decisions: int | None = None
    memory_options: str = "{}"
    game_options: str = "{}"
    prompts: str = "{}"
    rules: int = RULES

    @property
    def player(self) -> str:
        """The agent and its memory module, such as ``ariadne+worldthread``."""
        return f"{self.agent}+{self.memory}" if self.memory else self.agent

    @property
    def folder(self) -> Path:
        """The folder of the run within that of a sweep: a readable name and a digest of all settings."""
        digest = hashlib.blake2b(
            orjson.dumps(run_settings(self), option=orjson.OPT_SORT_KEYS), digest_size=4
        ).hexdigest()
        attempt = f"-attempt{self.attempt}" if self.attempt else ""
        return Path(file_name(self.game), file_name(self.player), f"seed{self.seed}{attempt}-{digest}")


_LATER: Final = ("decisions", "memory_options", "game_options", "prompts")
"""Fields that runs of :data:`RULES` 1 do not have."""


def run_settings(run: Run) -> dict[str, Any]:
    """Return the fields of a run by name, as files hold them: fields that are not used are left out if they are new."""
    settings = asdict(run)
    unused = [name for name in _LATER if settings[name] in (None, "{}")]
    for name in [*unused, *(["rules"] if run.rules == 1 else [])]:
        del settings[name]
    return settings


def run_prompts(run: Run) -> PromptSet:
    """Return the prompts of a run that replace those of the package."""
    return decode_prompts(run.prompts)


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
    for name in ("options", "memory_options", "game_options"):
        decode_options(settings.get(name, "{}"), "the options" if name == "options" else name)
    decode_prompts(settings.get("prompts", "{}"))
    rules = settings.get("rules", 1)
    if not 1 <= rules <= RULES:
        raise InputError(f"the rules of a run must be a number from 1 to {RULES}, not {rules!r}: use a newer release")
    for name in ("seed", "attempt", "steps", "decisions", "budget_tokens", "budget_dollars"):
        number = settings.get(name)
        if number is not None and not 0 <= number < _MAX_NUMBER:
            raise InputError(f"{name} must be a number from 0, not {number!r}")
    decoded: dict[str, Any] = {**settings, "rules": rules}
    return Run(**decoded)  # not the converted one: it would hold 5.0 for 5


def decode_options(text: str, what: str) -> dict[str, Any]:
    """Return the options that a JSON object holds.

    Args:
        text: the JSON object.
        what: the name of the options, for the error message.

    Returns:
        The options by name.

    Raises:
        InputError: the text is not a JSON object.
    """
    try:
        options = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{what} must be a JSON object: {error}") from None
    if not isinstance(options, dict):
        raise InputError(f"{what} must be a JSON object")
    return options


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
