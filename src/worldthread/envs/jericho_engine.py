"""The Z-machine of jericho: one game in memory, its whole state in and out, its objects, and trials of commands.

Everything here is plain calls of jericho's compiled interpreter; its Python layer only loads the game. One engine is
one game in progress, to be used from one thread.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from worldthread.errors import GameFileError, MissingExtraError

SUFFIXES = (".z5", ".z8", ".z3", ".z4", ".z6", ".z7")
"""Endings of Z-machine stories."""

_WORD_BYTES = 2
_READ_KEY = 246
"""Opcode that waits for a single key; a line is awaited by 228."""
_CHANGE_WORDS = 64
"""Length of each half of what the interpreter tells of a change: objects and addresses, and what became of them."""
_COMMAND_SECONDS = 10.0
"""A command takes a few milliseconds in the known games: one that takes so long is caught in a loop."""


class EngineState(NamedTuple):
    """All that decides what happens next.

    Args:
        ram: dynamic memory of the game.
        stack: the part of the stack in use, from its top.
        registers: program counter, stack pointer, frame pointer, frame count, next opcode.
        chance: of the generator of random numbers: number, interval, counter.
    """

    ram: bytes
    stack: bytes
    registers: tuple[int, int, int, int, int]
    chance: tuple[int, int, int]


class GameObject(NamedTuple):
    """An object of the game's tree; numbers of others are 0 where there is none."""

    number: int
    name: str
    parent: int
    sibling: int
    child: int


class CommandTrial(NamedTuple):
    """What a command would do.

    Args:
        change: what it does to the world, as bytes that are equal for equal changes; ``None`` when it changes nothing.
        reply: what the game prints.
        took_time: whether the game counted a move. What its parser rejects takes no time.
        chance: the state of chance afterwards.
    """

    change: bytes | None
    reply: bytes
    took_time: bool
    chance: int

    @property
    def rejection(self) -> bytes | None:
        """What the parser printed when it did not accept the words; ``None`` when it did."""
        return None if self.took_time or self.change is not None else self.reply


class JerichoEngine:
    """A game file, loaded and begun.

    Args:
        path: of the story.

    Raises:
        GameFileError: the file is absent, or is no game whose score and end jericho can tell.
        MissingExtraError: jericho is not installed.
    """

    def __init__(self, path: Path) -> None:
        require_jericho(f"the game {path.name!r}")
        check_story(path)
        import jericho

        self.story = path.read_bytes()
        self.digest = hashlib.sha256(self.story).hexdigest()
        known_by = hashlib.md5(self.story, usedforsecurity=False).hexdigest()
        # asked before it is loaded: at a damaged story, the interpreter ends the process
        if known_by not in jericho.defines.BINDINGS_DICT:
            raise GameFileError(
                f"{path}: jericho knows no game with this content, so its score and its end could not be told; get the "
                f"release that jericho supports (this file's MD5 is {known_by})"
            )
        # any seed: every reset gives one
        self._frotz: Any = jericho.FrotzEnv(str(path), seed=1)
        self.own_seed: int = self._frotz.bindings["seed"]
        self.walkthrough: tuple[str, ...] = _single_commands(self._frotz.get_walkthrough())
        dictionary = self._frotz.get_dictionary()
        self.words: frozenset[str] = frozenset(word.word for word in dictionary)
        self.nouns: frozenset[str] = frozenset(word.word for word in dictionary if word.is_noun)
        self.word_length = max(map(len, self.words))
        self.templates: tuple[str, ...] = tuple(dict.fromkeys(self._frotz.act_gen.templates))
        self._library: Any = self._frotz.frotz_lib
        # calls that keep Python's lock, which for small ones is faster than to release it and take it again
        self._quick: Any = ctypes.PyDLL("", handle=self._library._handle)
        self._quick.get_score.restype = ctypes.c_short
        self.max_score = int(self._library.get_max_score())
        self._seed = 1
        self._ram = (ctypes.c_ubyte * self._library.getRAMSize())()
        self._stack = (ctypes.c_ubyte * self._library.getStackSize())()
        self._objects: Any = (jericho.jericho.ZObject * (self._library.get_num_world_objs() + 1))()
        self._special = (ctypes.c_ubyte * max(1, self._library.get_special_ram_size()))()
        self._halted = ctypes.c_int.in_dll(self._library, "emulator_halted")
        self._guard = _Guard(self._halted)
        weakref.finalize(self, self._guard.ended.set)

    @property
    def object_count(self) -> int:
        """Objects in the game's tree."""
        return len(self._objects) - 1

    @property
    def ram_size(self) -> int:
        """Bytes of dynamic memory."""
        return len(self._ram)

    def reset(self, seed: int) -> str:
        """Begin anew with this seed of chance, 0 or more: the opening text."""
        self._seed = seed
        self._frotz.close()
        opening: bytes = self._library.setup(self._frotz.story_file, seed, self.story, len(self.story))
        return opening.decode("cp1252", "replace")

    def step(self, line: str) -> str:
        """Enter a line, or its first character where the game waits for a key: what the game prints.

        A game that loops without end is halted.
        """
        # the interpreter takes bytes above ASCII for special keys, and keeps the characters that a key left over
        entered = line[0] if self.awaits_key else line
        return self._enter(entered.encode("ascii", "replace")).decode("cp1252", "replace")

    def _enter(self, line: bytes) -> bytes:
        with self._guard:
            printed: bytes = self._library.step(line + b"\n")
        return printed

    @property
    def awaits_key(self) -> bool:
        """Whether the game waits for a single key."""
        return bool(self._library.get_opcode() == _READ_KEY)

    @property
    def score(self) -> int:
        """Points so far."""
        return int(self._library.get_score())

    @property
    def won(self) -> bool:
        """Whether the last text told of victory."""
        return bool(self._library.victory() > 0)

    @property
    def over(self) -> bool:
        """Whether the last text told of another end, or the interpreter has halted."""
        return bool(self._library.game_over() > 0)

    @property
    def player(self) -> int:
        """Number of the player's object."""
        return int(self._frotz.player_obj_num)

    def save(self) -> EngineState:
        """The state as it is."""
        quick = self._quick
        quick.getRAM(self._ram)
        quick.getStack(self._stack)
        top = quick.getSP()
        registers = (quick.getPC(), top, quick.getFP(), quick.getFrameCount(), quick.get_opcode())
        # the interpreter draws from the lower 31 bits, which depend on themselves alone
        chance = (quick.getRngA(), quick.getRngInterval(), quick.getRngCounter())
        return EngineState(bytes(self._ram), bytes(self._stack)[top * _WORD_BYTES :], registers, chance)

    def restore(self, state: EngineState) -> None:
        """Go to a state of this game. What was printed last is forgotten, and with it whether the game is over."""
        if self._halted.value:
            self.reset(self._seed)
        size = len(self._stack)
        ctypes.memmove(self._ram, state.ram, len(state.ram))
        ctypes.memset(self._stack, 0, size)
        ctypes.memmove(ctypes.byref(self._stack, size - len(state.stack)), state.stack, len(state.stack))
        self._put(self._ram, self._stack, state.registers, state.chance)
        self._library.set_narrative_text(b"")

    def _put(
        self, ram: Any, stack: Any, registers: tuple[int, int, int, int, int], chance: tuple[int, int, int]
    ) -> None:
        quick = self._quick
        quick.setRng(*chance)
        quick.setRAM(ram)
        quick.setStack(stack)
        program, top, frame, frames, opcode = registers
        quick.setPC(program)
        quick.setSP(top)
        quick.setFP(frame)
        quick.set_opcode(opcode)
        quick.setFrameCount(frames)

    def things(self) -> list[GameObject]:
        """All objects, each at the index that is its number; those that the game does not name have an empty name."""
        ctypes.memset(self._objects, 0, ctypes.sizeof(self._objects))
        self._library.get_world_objects(self._objects, 0)
        return [
            GameObject(thing.num, thing._name.decode("cp1252", "replace"), thing.parent, thing.sibling, thing.child)
            for thing in self._objects
        ]

    def world_bytes(self) -> bytes:
        """The tree of objects without what jericho counts as noise in this game, and its special memory."""
        ctypes.memset(self._objects, 0, ctypes.sizeof(self._objects))
        self._library.get_world_objects(self._objects, 1)
        self._library.get_special_ram(self._special)
        return bytes(self._objects) + bytes(self._special)

    @contextmanager
    def trials(self, chance: int | None = None) -> Iterator[CommandTrials]:
        """Try commands from the present state, which is the state again at the end.

        Args:
            chance: the state of chance in the trials, instead of the present one.
        """
        start = self.save()
        try:
            yield CommandTrials(self, start if chance is None else start._replace(chance=(chance, 0, 0)))
        finally:
            self.restore(start)

    def close(self) -> None:
        """Release the game's memory. Safe to call twice; :meth:`reset` loads it again."""
        self._frotz.close()


class CommandTrials:
    """Commands tried from one state, each as if it were the only one; see :meth:`JerichoEngine.trials`.

    Args:
        engine: in that state; it is left in any.
        start: the state.

    Attributes:
        chance: the state of chance before each trial.
    """

    def __init__(self, engine: JerichoEngine, start: EngineState) -> None:
        self.chance = start.chance[0]
        self._engine = engine
        self._start = start
        self._score = engine._quick.get_score()
        self._moves = engine._quick.get_moves()
        self._ram = (ctypes.c_ubyte * len(start.ram)).from_buffer_copy(start.ram)
        unused = bytes(len(engine._stack) - len(start.stack))
        self._stack = (ctypes.c_ubyte * len(engine._stack)).from_buffer_copy(unused + start.stack)
        self._what = (ctypes.c_uint16 * _CHANGE_WORDS)()
        self._became = (ctypes.c_uint16 * _CHANGE_WORDS)()

    def attempt(self, line: bytes, chance: int | None = None) -> CommandTrial:
        """What this line would do; a line that halts the interpreter, or loops without end, changes nothing.

        Args:
            line: in ASCII.
            chance: the state of chance before it, instead of :attr:`chance`.
        """
        engine, start = self._engine, self._start
        quick = engine._quick
        engine._put(
            self._ram, self._stack, start.registers, start.chance if chance is None else (chance, *start.chance[1:])
        )
        reply = engine._enter(line)
        if engine._halted.value:
            engine.restore(start)
            return CommandTrial(None, reply, True, self.chance)
        change = None
        # what is taken on the way is offered as an action of its own
        if (
            quick.world_changed() > 0
            or quick.get_score() != self._score
            or quick.game_over() > 0
            or quick.victory() > 0
        ) and b"(Taken)" not in reply:
            ctypes.memset(self._what, 0, _CHANGE_WORDS * _WORD_BYTES)
            ctypes.memset(self._became, 0, _CHANGE_WORDS * _WORD_BYTES)
            quick.get_cleaned_world_diff(self._what, self._became)
            change = bytes(self._what) + bytes(self._became)
        return CommandTrial(change, reply, quick.get_moves() != self._moves, quick.getRngA())


class _Guard:
    """Halts the interpreter when a call within ``with`` takes too long.

    One thread looks from time to time; a timer for each call would cost more than the call.
    """

    def __init__(self, halted: Any) -> None:
        self.ended = threading.Event()
        self._halted = halted
        self._calls = 0
        self._is_busy = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="worldthread-jericho", daemon=True)
            self._thread.start()
        self._calls += 1
        self._is_busy = True

    def __exit__(self, *exc: object) -> None:
        self._is_busy = False

    def _watch(self) -> None:
        seen = -1
        while not self.ended.wait(_COMMAND_SECONDS):
            if self._is_busy and self._calls == seen:
                # the interpreter looks at this flag after every instruction
                self._halted.value = 1
            seen = self._calls


def _single_commands(walkthrough: list[str]) -> tuple[str, ...]:
    """One command a line; what is said to someone may hold several."""
    lines = [[line] if "," in line else line.split(" THEN ") for line in walkthrough if line]
    return tuple(command for line in lines for command in line)


def require_jericho(purpose: str) -> None:
    """Raise :class:`MissingExtraError` when jericho is not installed."""
    if importlib.util.find_spec("jericho") is None:
        raise MissingExtraError(purpose, extra="games", package="jericho")


def check_story(path: Path) -> None:
    """Refuse what is no Z-machine story.

    Raises:
        GameFileError: saying what is wrong with the file.
    """
    if not path.is_file():
        raise GameFileError(f"{path}: no such file")
    with path.open("rb") as file:
        head = file.read(64)
    if len(head) < 64 or not 3 <= head[0] <= 8:
        raise GameFileError(f"{path}: not a Z-machine story (.z3 to .z8)")
