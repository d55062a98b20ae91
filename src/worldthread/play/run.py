"""The description of a run: everything that determines one play."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson


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
