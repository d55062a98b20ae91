"""A digest of the states of Z-machine games that ignores what changes by itself.

The memory of such a game is never the same twice: it counts moves, its parser stores the last line, clocks tick, a
thief wanders. jericho's own digest therefore covers only the tree of objects (without a few wanderers), and misses what
a game stores elsewhere: that a button was pressed, a riddle answered, a door unlocked. The digest here covers the same
tree *and* the rest of the memory, without the bytes that change while the player does nothing.

Those bytes are learnt once for each game file, with the same result every time: the game's walkthrough is played, and
in each of its states the player waits, looks, enters an unknown word, examines and moves things. A byte that one of
these commands changes while the tree of objects stays the same is noise. So a lamp that burns down, or a pursuer that
comes closer, does not make a new state until the tree of objects changes. Only this mask is kept of the walkthrough.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread_lab.envs.jericho_actions import ActionFinder
from worldthread_lab.envs.jericho_engine import EngineState, JerichoEngine

DIGEST_VERSION: Final = "1"
"""Version of everything that decides which states are the same."""

_IDLE = ("wait", "look", "inventory", "zq " * 24)
"""Commands that do nothing. The last is unknown to every game, and long enough to fill the parser's buffer."""
_LONGEST_LINE = 90
_POSITION = struct.Struct("<4i")


class StateDigest:
    """Computes digests of states.

    Args:
        engine: the game.
        noise: the mask from :func:`learn_noise`.
    """

    def __init__(self, engine: JerichoEngine, noise: bytes) -> None:
        self._engine = engine
        kept = np.frombuffer(noise, np.uint8) == 0
        first, last = _object_table(engine)
        kept[first:last] = False
        self._kept: NDArray[np.intp] = np.flatnonzero(kept)

    def of(self, state: EngineState) -> bytes:
        """Return 16 bytes for the engine's current state, equal for states that differ only in noise.

        Args:
            state: the engine's current state, as :meth:`JerichoEngine.save` returned it.

        Returns:
            The digest.
        """
        digest = hashlib.blake2b(self._engine.world_bytes(), digest_size=16)
        digest.update(np.frombuffer(state.ram, np.uint8)[self._kept].tobytes())
        program, top, _, _, opcode = state.registers
        # the program counter differs between waiting for a command and asking which of two things was meant
        digest.update(_POSITION.pack(program, top, opcode, self._engine.score))
        return digest.digest()


def learn_noise(engine: JerichoEngine) -> bytes:
    """Learn which bytes of the game's memory are noise, as the module documentation describes.

    Args:
        engine: the game; it is left in another state.

    Returns:
        One byte for each byte of the game's memory: 0 where a change matters, 1 where it is noise.
    """
    noise = np.zeros(engine.ram_size, np.bool_)
    finder = ActionFinder(engine)
    engine.reset(engine.own_seed)
    for number, command in enumerate(engine.walkthrough):
        state, world = engine.save(), engine.world_bytes()
        things = engine.things()
        names = list(dict.fromkeys(name.words for name in finder.names(things)))
        elsewhere = things[number % len(things)].name
        for line in (*_IDLE, f"examine {elsewhere}", *_handling(names, number)):
            engine.step(line[:_LONGEST_LINE])
            if not (engine.over or engine.won) and engine.world_bytes() == world:
                noise |= np.frombuffer(engine.save().ram, np.uint8) != np.frombuffer(state.ram, np.uint8)
            engine.restore(state)
        # not counted as noise: a command of the walkthrough may matter even when the tree of objects stays the same
        engine.step(command)
        if engine.over or engine.won:
            break
    return noise.astype(np.uint8).tobytes()


def _handling(names: list[str], number: int) -> list[str]:
    if not names:
        return []
    one, two, three = (names[(number + shift) % len(names)] for shift in range(3))
    return [f"examine {one}", f"put {one} on {two}", f"take {three} from {two}"]


def _object_table(engine: JerichoEngine) -> tuple[int, int]:
    """Return the first byte and the end of the tree of objects (Z-Machine Standard 1.1, section 12)."""
    story = engine.story
    defaults, size = (31, 9) if story[0] <= 3 else (63, 14)
    first = int.from_bytes(story[0x0A:0x0C], "big") + 2 * defaults
    return first, first + size * engine.object_count
