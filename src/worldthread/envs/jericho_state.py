"""Which states of a Z-machine game are the same: a digest that leaves out what passes by itself.

No two moments of such a game have the same memory: it counts moves, its parser keeps the last line, clocks tick, a
thief wanders. jericho's own digest therefore takes the tree of objects alone (without a few wanderers), and overlooks
what a game notes elsewhere: that a button was pressed, a riddle answered, a door unlocked. The digest here takes the
tree as jericho does, *and* the rest of the memory without the bytes that change while the player does nothing.

Those bytes are learnt once for each game file, always alike: the game's walkthrough is played, and at each of its
moments the player waits, looks, asks for the unknown, examines and moves things about. A byte that thereby changed
although the tree of objects did not is noise from then on. So a lamp that burns down, or a pursuer that draws nearer,
does not make a new state until the tree of objects changes. Nothing of the walkthrough is kept but this.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.envs.jericho_actions import ActionFinder
from worldthread.envs.jericho_engine import EngineState, JerichoEngine

DIGEST_VERSION: Final = "1"
"""Version of what decides which states are the same."""

_IDLE = ("wait", "look", "inventory", "zq " * 24)
"""The last is unknown to every game, and long enough to fill what its parser keeps of a line."""
_LONGEST_LINE = 90
_MOVED = struct.Struct("<4i")


class StateDigest:
    """Tells states apart.

    Args:
        engine: with the game.
        noise: what :func:`learn_noise` found.
    """

    def __init__(self, engine: JerichoEngine, noise: bytes) -> None:
        self._engine = engine
        kept = np.frombuffer(noise, np.uint8) == 0
        first, last = _object_table(engine)
        kept[first:last] = False
        self._kept: NDArray[np.intp] = np.flatnonzero(kept)

    def of(self, state: EngineState) -> bytes:
        """16 bytes for the state in which the engine is; equal for the same state only, but for noise."""
        digest = hashlib.blake2b(self._engine.world_bytes(), digest_size=16)
        digest.update(np.frombuffer(state.ram, np.uint8)[self._kept].tobytes())
        program, top, _, _, opcode = state.registers
        # where the program waits tells whether it asks for a command, or which of two things was meant
        digest.update(_MOVED.pack(program, top, opcode, self._engine.score))
        return digest.digest()


def learn_noise(engine: JerichoEngine) -> bytes:
    """A byte for each byte of the game's memory: 0 where a change matters, 1 where it is noise.

    The engine is left in another state.
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
        # what it does may matter, even when the tree of objects does not show it
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
    """First byte and end of the tree of objects: Z-Machine Standard 1.1, section 12."""
    story = engine.story
    defaults, size = (31, 9) if story[0] <= 3 else (63, 14)
    first = int.from_bytes(story[0x0A:0x0C], "big") + 2 * defaults
    return first, first + size * engine.object_count
