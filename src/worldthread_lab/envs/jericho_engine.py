"""The Z-machine of jericho: runs a game, saves and restores its whole state, lists its objects, and tries commands.

It calls jericho's compiled interpreter directly and uses jericho's Python layer only to load the game. An engine is one
game in progress and may be used from one thread only.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import threading
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from worldthread.errors import GameFileError, MissingExtraError

SUFFIXES = (".z5", ".z8", ".z3", ".z4", ".z6", ".z7")
"""Suffixes of Z-machine stories."""

_ANY_SEED = 1
_WORD_BYTES = 2
_READ_KEY = 246
"""Opcode that waits for a single key; 228 waits for a line."""
_CHANGE_WORDS = 64
"""Length of each half of the interpreter's report of a change: the objects and addresses, and their new values."""
_COMMAND_SECONDS = 10.0
"""A command takes a few milliseconds in the known games; after this time it counts as an endless loop."""


class EngineState(NamedTuple):
    """The whole state of a game.

    Args:
        ram: dynamic memory of the game.
        stack: the used part of the stack, from its top.
        registers: program counter, stack pointer, frame pointer, frame count, next opcode.
        chance: state of the random generator: number, interval, counter.
    """

    ram: bytes
    stack: bytes
    registers: tuple[int, int, int, int, int]
    chance: tuple[int, int, int]


class GameObject(NamedTuple):
    """An object of the game's tree. ``parent``, ``sibling`` and ``child`` are numbers of objects, 0 for none."""

    number: int
    name: str
    parent: int
    sibling: int
    child: int


class CommandTrial(NamedTuple):
    """The effect of a command that was tried and undone.

    Args:
        change: its effect on the world, as bytes that are equal for equal effects; ``None`` when it changes nothing.
        reply: what the game prints.
        took_time: whether the game counted a move. Commands that the parser rejects take no time.
        chance: the number of the random generator afterwards.
    """

    change: bytes | None
    reply: bytes
    took_time: bool
    chance: int

    @property
    def rejection(self) -> bytes | None:
        """The parser's reply when it rejected the words; ``None`` when it accepted them."""
        return None if self.took_time or self.change is not None else self.reply


class JerichoEngine:
    """A game that is loaded and started.

    Args:
        path: the story file.
        must_be_known: whether jericho has to know the game. Of another one it can tell neither the score nor the end,
            nor which object is the player, and it lists no objects and no templates.

    Raises:
        GameFileError: the file is absent, or is not a game whose score and end jericho can read.
        MissingExtraError: jericho is not installed.
    """

    def __init__(self, path: Path, *, must_be_known: bool = True) -> None:
        require_jericho(f"the game {path.name!r}")
        check_story(path)
        import jericho

        self.story = path.read_bytes()
        self.digest = hashlib.sha256(self.story).hexdigest()
        known_by = hashlib.md5(self.story, usedforsecurity=False).hexdigest()
        # checked before loading: a damaged story makes the interpreter end the process
        if must_be_known and known_by not in jericho.defines.BINDINGS_DICT:
            raise GameFileError(
                f"{path}: jericho knows no game with this content, so its score and its end cannot be read; get the "
                f"release that jericho supports (this file's MD5 is {known_by})"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jericho.UnsupportedGameWarning)
            # any seed: every reset passes its own
            self._frotz: Any = jericho.FrotzEnv(str(path), seed=_ANY_SEED)
        bindings = self._frotz.bindings
        self.own_seed: int = bindings.get("seed", _ANY_SEED)
        self.walkthrough: tuple[str, ...] = _single_commands(self._frotz.get_walkthrough()) if bindings else ()
        dictionary = self._frotz.get_dictionary()
        self.words: frozenset[str] = frozenset(word.word for word in dictionary)
        self.nouns: frozenset[str] = frozenset(word.word for word in dictionary if word.is_noun)
        self.word_length = max(map(len, self.words))
        self.templates: tuple[str, ...] = tuple(dict.fromkeys(self._frotz.act_gen.templates)) if bindings else ()
        self._library: Any = self._frotz.frotz_lib
        # calls that keep Python's lock: for short calls, releasing and taking it again costs more
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
    def frotz(self) -> Any:
        """Jericho's own object of this game, on the same interpreter; who uses it restores the state."""
        return self._frotz

    @property
    def object_count(self) -> int:
        """Number of objects in the game's tree."""
        return len(self._objects) - 1

    @property
    def ram_size(self) -> int:
        """Number of bytes of dynamic memory."""
        return len(self._ram)

    def reset(self, seed: int) -> str:
        """Restart the game with a seed of the random generator, 0 or more, and return the opening text."""
        self._seed = seed
        self._frotz.close()
        opening: bytes = self._library.setup(self._frotz.story_file, seed, self.story, len(self.story))
        return opening.decode("cp1252", "replace")

    def step(self, line: str) -> str:
        """Enter a line, or only its first character where the game waits for a key.

        A game that loops without end is halted.

        Args:
            line: the line, without a line break.

        Returns:
            What the game prints.
        """
        # the interpreter reads bytes above ASCII as special keys, and keeps characters that it did not read as a key
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
        """Whether the last text announced victory."""
        return bool(self._library.victory() > 0)

    @property
    def over(self) -> bool:
        """Whether the last text announced another end, or the interpreter has halted."""
        return bool(self._library.game_over() > 0)

    @property
    def player(self) -> int:
        """Number of the player's object."""
        return int(self._frotz.player_obj_num)

    def save(self) -> EngineState:
        """Return the current state."""
        quick = self._quick
        quick.getRAM(self._ram)
        quick.getStack(self._stack)
        top = quick.getSP()
        registers = (quick.getPC(), top, quick.getFP(), quick.getFrameCount(), quick.get_opcode())
        # the interpreter draws from the lower 31 bits, which do not depend on the others
        chance = (quick.getRngA(), quick.getRngInterval(), quick.getRngCounter())
        return EngineState(bytes(self._ram), bytes(self._stack)[top * _WORD_BYTES :], registers, chance)

    def restore(self, state: EngineState) -> None:
        """Go to a state of this game. The last text is cleared, and with it :attr:`won` and :attr:`over`."""
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
        """Return all objects, indexed by their number; objects without a name have an empty name."""
        ctypes.memset(self._objects, 0, ctypes.sizeof(self._objects))
        self._library.get_world_objects(self._objects, 0)
        return [
            GameObject(thing.num, thing._name.decode("cp1252", "replace"), thing.parent, thing.sibling, thing.child)
            for thing in self._objects
        ]

    def memory(self) -> bytes:
        """Return the dynamic memory."""
        self._quick.getRAM(self._ram)
        return bytes(self._ram)

    def world_bytes(self) -> bytes:
        """Return the tree of objects without what jericho counts as noise in this game, and its special memory."""
        ctypes.memset(self._objects, 0, ctypes.sizeof(self._objects))
        self._library.get_world_objects(self._objects, 1)
        self._library.get_special_ram(self._special)
        return bytes(self._objects) + bytes(self._special)

    @contextmanager
    def trials(self, chance: int | None = None) -> Iterator[CommandTrials]:
        """Try commands from the current state, which is restored at the end.

        Args:
            chance: the number of the random generator before each trial; ``None``: the current one.

        Yields:
            The trials.
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
    """Tries commands from one state, each independently of the others; see :meth:`JerichoEngine.trials`.

    Args:
        engine: the game, in that state; each trial leaves it in another state.
        start: the state.

    Attributes:
        chance: the number of the random generator before each trial.
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
        """Try a line. A line that halts the interpreter, or loops without end, counts as changing nothing.

        Args:
            line: the line, in ASCII.
            chance: the number of the random generator before it; ``None``: :attr:`chance`.

        Returns:
            The effect of the line.
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
        # a command that first takes the thing by itself is left out: taking it is an action of its own
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

    One thread checks from time to time; a timer for each call would cost more than the call.
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
                # the interpreter checks this flag after every instruction
                self._halted.value = 1
            seen = self._calls


def _single_commands(walkthrough: list[str]) -> tuple[str, ...]:
    """Split lines with several commands; orders to someone stay whole."""
    lines = [[line] if "," in line else line.split(" THEN ") for line in walkthrough if line]
    return tuple(command for line in lines for command in line)


def require_jericho(purpose: str) -> None:
    """Raise :class:`MissingExtraError` when jericho is not installed."""
    if importlib.util.find_spec("jericho") is None:
        raise MissingExtraError(purpose, extra="games", package="jericho")


def check_story(path: Path) -> None:
    """Raise an error for a file that is not a Z-machine story.

    Args:
        path: the file.

    Raises:
        GameFileError: the file is absent or not a story of the versions 3 to 8.
    """
    if not path.is_file():
        raise GameFileError(f"{path}: no such file")
    with path.open("rb") as file:
        head = file.read(64)
    if len(head) < 64 or not 3 <= head[0] <= 8:
        raise GameFileError(f"{path}: not a Z-machine story (.z3 to .z8)")
