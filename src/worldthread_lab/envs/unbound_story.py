"""Stories that jericho has no bindings of, run by its interpreter: for audits of games that it does not know.

Bindings tell jericho where in its memory a game keeps the score, what it prints at its end, and which object is the
player. Without them there are no points, no end but the question of the game itself, and no lists of actions; but the
tree of objects is in every story at the same place, so that a memory can be checked against it once it is known which
object is the player (:func:`worldthread_lab.play.unbound_plays.find_player`).

The interpreter prints the status line into the text. It is known by the row of spaces with which it is drawn.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from worldthread_lab.envs.base import NO_OUTPUT
from worldthread_lab.envs.jericho import clean_text, leave_pauses, listed, ways_out
from worldthread_lab.envs.jericho_engine import EngineState, JerichoEngine
from worldthread_lab.envs.zmachine_objects import TrueTree, read_tree

_LATE_STATUS_LINE: Final = re.compile(r"\n?>? {20,}[^\n]*\Z")
_EARLY_STATUS_LINE: Final = re.compile(r"\A *>?[^\n]* {20,}[^\n]*(?:\n|\Z)")
"""Stories up to version 3 do not draw it: the interpreter does, before it reads a line, so that it comes first."""
_LAST_EARLY_VERSION: Final = 3
_LAST_QUESTION: Final = re.compile(r"\bwould you like to (?:restart|start over)\b", re.IGNORECASE)


class UnboundStory:
    """A Z-machine story of which nothing is known but its file.

    Args:
        path: the story file.
        seed: the seed of the random generator.

    Attributes:
        player: the number of the player's object; 0 until it is set.
        is_over: whether the story has asked what to do after its end, or the interpreter has halted.

    Raises:
        GameFileError: the file is absent or no story.
        MissingExtraError: jericho is not installed.
    """

    def __init__(self, path: Path, *, seed: int = 1) -> None:
        self._engine = JerichoEngine(path, must_be_known=False)
        self._seed = seed
        self._is_early = self._engine.story[0] <= _LAST_EARLY_VERSION
        self.player = 0
        self.is_over = False

    @property
    def story(self) -> bytes:
        """The story file."""
        return self._engine.story

    def reset(self) -> str:
        """Begin the story, and return its opening text."""
        return self._read(self._engine.reset(self._seed))

    def step(self, command: str) -> str:
        """Enter a command, and return what is printed."""
        return self._read(self._engine.step(command.strip()))

    def tree(self) -> TrueTree:
        """Return the tree of objects."""
        return read_tree(self.story, self._engine.memory(), self.player)

    def ways(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """Return where each direction leads from here, as :func:`worldthread_lab.envs.jericho.ways_out` does."""
        return {} if self.is_over else ways_out(self._engine, self.player, self._clean)

    def inventory(self) -> str | None:
        """Return what the command ``inventory`` would list now; ``None`` where the story waits for a key or is over."""
        if self.is_over or self._engine.awaits_key:
            return None
        now = self.save()
        printed = self._clean(self._engine.step("inventory"))
        self.restore(now)
        return listed(printed)

    def save(self) -> EngineState:
        """Return the present state."""
        return self._engine.save()

    def restore(self, state: EngineState) -> None:
        """Go back to a state that is not an end."""
        self._engine.restore(state)
        self.is_over = False

    def close(self) -> None:
        """Release the memory of the story."""
        self._engine.close()

    def _read(self, printed: str) -> str:
        text = leave_pauses(self._engine, printed, self._clean) or NO_OUTPUT
        self.is_over = self._engine.over or _LAST_QUESTION.search(text) is not None
        return clean_text(text)

    def _clean(self, printed: str) -> str:
        printed = _EARLY_STATUS_LINE.sub("", printed) if self._is_early else _LATE_STATUS_LINE.sub("", printed)
        return printed.strip("\n")
