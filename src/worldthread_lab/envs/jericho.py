"""Z-machine games such as Zork as environments, run by the interpreter of jericho.

Needs the extra ``games``, and the game's file: worldthread ships none. The file must be the release that jericho knows,
since jericho reads the score and the end of the game from memory addresses that differ between releases.

Fields of :class:`~worldthread_lab.envs.base.Info`:

- ``state``: see :mod:`worldthread_lab.envs.jericho_state`. It ignores moves, clocks and the random generator, so that
  walking to a room and back can lead to the same state again.
- ``valid_actions``: by default :mod:`worldthread_lab.envs.jericho_actions`, on request jericho's own list
  (:mod:`worldthread_lab.envs.jericho_list`), or none. They are found by trying hundreds or thousands of commands, which
  takes some 10 ms to some seconds, and cached for every state, in memory and on disk.
- ``inventory``: what the command ``inventory`` would print now; the command is tried and undone. On request ``None``.
"""

from __future__ import annotations

import random
import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import orjson

from worldthread.errors import EpisodeOverError, GameFileError, InputError, UnknownGameError
from worldthread_lab.envs.base import (
    ENGINE_COMMAND,
    NO_OUTPUT,
    ONE_ACTION_AT_A_TIME,
    Info,
    Proposition,
    RestorableEnvironment,
    Truth,
    require_action,
    require_running,
)
from worldthread_lab.envs.files import GAMES_VARIABLE, find_game_file
from worldthread_lab.envs.jericho_actions import ActionFinder
from worldthread_lab.envs.jericho_cache import ActionCache
from worldthread_lab.envs.jericho_engine import SUFFIXES, EngineState, GameObject, JerichoEngine, require_jericho
from worldthread_lab.envs.jericho_list import JerichoActionLister
from worldthread_lab.envs.jericho_state import StateDigest, learn_noise
from worldthread_lab.envs.spec import GameSpec
from worldthread_lab.envs.zmachine_objects import TrueTree, read_tree

ActionList: TypeAlias = bool | Literal["jericho"]
"""Which list of valid actions a game has: ``True`` for worldthread's, ``"jericho"`` for jericho's own, ``False`` for
none."""
JERICHO_LIST: Final = "jericho"

_LONGEST_SAVED = 1 << 28  # bytes of an unpacked state, most of which is what the player did and read
_LONGEST_ACTION = 98
"""Most characters in a line: the interpreter writes longer lines beyond the end of a game's buffer."""

_SAVED = struct.Struct("<8s5ii2iI")
"""Header of a saved state: start of the game's digest, registers, random generator, length of the memory after it."""

_BOUNDARY = re.compile(r"[.,;:!?\"]|\b(?:and|then)\b")
"""What some games read as the start of another command."""
_SEPARATOR = re.compile(r"[.]|\bthen\b")
_ENGINE_VERBS = frozenset(
    {
        *("save", "restore", "restart", "quit", "q", "undo", "verify", "version", "$verify", "$ve", "$#"),
        *("script", "unscript", "noscript", "transcript", "record", "recording", "replay", "#record", "#command"),
        *("#random", "#unrecord", "random"),
        # debugging commands that some games still contain: they show or change the true state
        *("abstract", "actions", "changes", "daemons", "gonear", "goto", "messages", "purloin", "routines", "scope"),
        *("showheap", "showme", "showobj", "showverb", "timers", "trace", "tree"),
        # these print the way to win
        *("clue", "clues", "hint", "hints", "walkthru", "walkthrough"),
    }
)
_LAST_QUESTION = re.compile(r"\n+Would you like to RESTART, [^\n]*\Z")
_VICTORY = re.compile(r"\*\*\*\s+you have won\s+\*\*\*", re.IGNORECASE)
_TOO_LONG = f"The line is longer than the {_LONGEST_ACTION} characters that the game reads; it was not passed on."
_LEAVE = "q"
"""The key that leaves every menu, and that continues where the game waits for any key."""
_MAX_KEYS = 20
_MAX_CACHED_STATES = 10_000
"""States that are cached in memory: some 30 MB."""


_DIRECTIONS = {
    "north": "n", "south": "s", "east": "e", "west": "w", "northeast": "ne", "northwest": "nw", "southeast": "se",
    "southwest": "sw", "up": "u", "down": "d", "in": "in", "out": "out",
}  # fmt: skip
"""Directions, with the words that every game knows for them."""


class JerichoEnvironment(RestorableEnvironment):
    """A Z-machine game.

    Every step is one move. Commands to the engine itself (saving, restarting, debugging) are not passed on, and neither
    are lines with several commands, except for orders to someone (``robot, push button then go east``). The observation
    then says so.

    Args:
        path: the story file.
        id: the id of the environment.
        seed: the seed of :meth:`reset` when it gets none. 0 is the game's own seed, with which its walkthrough wins.
        goal: the task in words; these games state none themselves.
        max_moves: the episode is truncated after this many moves; ``None``: no limit.
        cache_dir: root of the cache of valid actions; default :func:`worldthread.files.paths.default_cache_dir`.
        valid_actions: which valid actions to list; with ``False``, ``Info.valid_actions`` is ``None``.
        inventory: whether to look at the inventory after every move; without, ``Info.inventory`` is ``None``.
        stochastic: whether random events differ after each :meth:`reset`; else the seed decides them.

    Raises:
        GameFileError: the file is absent, or is not a release that jericho knows.
        GenerationError: the cache in ``cache_dir`` cannot be used.
        InputError: there is no such list of valid actions.
        MissingExtraError: jericho is not installed, or for its own list spaCy's English model.
    """

    lists_all_actions = False

    def __init__(
        self,
        path: Path,
        *,
        id: str,
        seed: int = 0,
        goal: str | None = None,
        max_moves: int | None = None,
        cache_dir: Path | None = None,
        valid_actions: ActionList = True,
        inventory: bool = True,
        stochastic: bool = False,
    ) -> None:
        if not isinstance(valid_actions, bool) and valid_actions != JERICHO_LIST:
            raise InputError(
                f"valid_actions must be true (the list of worldthread), {JERICHO_LIST!r} (jericho's own list) or "
                f"false (none), not {valid_actions!r}"
            )
        self.id = id
        self._engine = JerichoEngine(path)
        self._finder: ActionFinder | JerichoActionLister | None = None
        if valid_actions == JERICHO_LIST:
            self._finder = JerichoActionLister(self._engine)
        elif valid_actions:
            self._finder = ActionFinder(self._engine)
        self._shows_inventory = inventory
        self._cache = ActionCache(self._engine.digest, cache_dir)
        self._digest = StateDigest(self._engine, self._cache.noise(lambda: learn_noise(self._engine)))
        self._known: dict[bytes, tuple[str | None, tuple[str, ...] | None]] = {}
        self.is_stochastic = stochastic
        self._resets = 0
        self._seed = seed
        self._chosen = seed
        self._goal = goal or ""
        self._max_moves = max_moves
        self._refused = frozenset(word[: self._engine.word_length] for word in _ENGINE_VERBS)
        self._was_reset = False
        self._running = False
        self._observation = ""
        self._info = Info()

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        chosen = self._seed if seed is None else seed
        self._chosen = chosen
        chance = chosen or self._engine.own_seed
        if self.is_stochastic and self._resets:
            chance = random.Random(f"{chance} {self._resets}").randrange(1, 2**31)
        self._resets += 1
        observation = self._skip_pauses(self._engine.reset(chance % 2**31))
        self._was_reset = self._running = True
        self._info = self._read_info(observation, moves=0)
        self._observation = f"{observation}\n\n{self._goal}" if self._goal else observation
        return self._observation, self._info

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        require_running(self._running, self._was_reset)
        require_action(action)
        before = self._info
        refusal = None if self._engine.awaits_key else self._refusal(action)
        if refusal is not None:
            self._observation = refusal
            self._info = replace(before, moves=before.moves + 1)
        else:
            self._observation = self._skip_pauses(self._engine.step(action.strip()))
            self._info = self._read_info(self._observation, moves=before.moves + 1)
        terminated = self._info.won or self._info.lost
        truncated = not terminated and self._max_moves is not None and self._info.moves >= self._max_moves
        self._running = not (terminated or truncated)
        return self._observation, float(self._info.score - before.score), terminated, truncated, self._info

    def save(self) -> bytes:
        if not self._was_reset:
            raise EpisodeOverError("there is no state to save yet: call reset() first")
        engine = self._engine
        state = engine.save()
        info = self._info
        result = orjson.dumps(
            [
                self._observation,
                info.score,
                info.valid_actions,
                info.inventory,
                info.moves,
                info.won,
                info.lost,
                info.state,
                self._running,
                self._chosen,
            ]
        )
        head = _SAVED.pack(bytes.fromhex(engine.digest[:16]), *state.registers, *state.chance, len(state.ram))
        body = _xor_story(state.ram, engine.story) + struct.pack("<H", len(state.stack)) + state.stack + result
        return head + zlib.compress(body, 9)

    def restore(self, saved: bytes) -> tuple[str, Info]:
        state, result = self._unpack(saved)
        observation, score, valid_actions, inventory, moves, won, lost, digest, running, chosen = result
        self._engine.restore(state)
        self._was_reset = True
        self._running = running
        self._chosen = chosen
        self._observation = observation
        self._info = Info(
            score=score,
            max_score=self._engine.max_score,
            valid_actions=None if valid_actions is None else tuple(valid_actions),
            inventory=inventory,
            goal=self._goal,
            moves=moves,
            won=won,
            lost=lost,
            state=digest,
        )
        return observation, self._info

    def truth(self) -> Truth:
        """Return the place of everything, as ``("in", thing, holder)`` and ``("at", "P", place)``.

        Returns:
            The propositions, with ``"I"`` as the holder of carried things. The walkthrough is given for the seed 0
            only: with another seed, random events may prevent it.

        Raises:
            EpisodeOverError: before ``reset``.
        """
        if not self._was_reset:
            raise EpisodeOverError("there is no true state yet: call reset() first")
        walkthrough = self._engine.walkthrough if self._chosen == 0 else ()
        return Truth(frozenset(_propositions(self._engine.things(), self._engine.player)), walkthrough)

    @property
    def story(self) -> bytes:
        """The story file."""
        return self._engine.story

    def true_tree(self) -> TrueTree:
        """Return the tree of objects, which is for audits and tests and never for an agent.

        Raises:
            EpisodeOverError: before ``reset``.
        """
        if not self._was_reset:
            raise EpisodeOverError("there is no true state yet: call reset() first")
        return read_tree(self._engine.story, self._engine.memory(), self._engine.player)

    def true_ways(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """Return where each direction leads from here, for audits and tests and never for an agent.

        Every direction is tried and undone.

        Returns:
            By direction the objects in which the player is afterwards, as numbers, from the inside out, and what is
            printed; empty when the game is over or waits for a key.

        Raises:
            EpisodeOverError: before ``reset``.
        """
        if not self._was_reset:
            raise EpisodeOverError("there is no true state yet: call reset() first")
        return {} if not self._running else ways_out(self._engine, self._engine.player, clean_text)

    def close(self) -> None:
        self._engine.close()
        self._cache.close()
        self._was_reset = self._running = False

    def _read_info(self, observation: str, *, moves: int) -> Info:
        engine = self._engine
        over, score = engine.over, engine.score
        # jericho searches for another spelling of this line in some games
        won = engine.won or (over and _VICTORY.search(observation) is not None)
        now = engine.save()
        digest = self._digest.of(now)
        inventory, actions = (None, ()) if won or over else self._inventory_and_actions(now, digest)
        return Info(
            score=score,
            max_score=engine.max_score,
            valid_actions=actions if self._finder else None,
            inventory=inventory,
            goal=self._goal,
            moves=moves,
            won=won,
            lost=over and not won,
            state=digest.hex(),
        )

    def _skip_pauses(self, printed: str) -> str:
        return leave_pauses(self._engine, printed, clean_text) or NO_OUTPUT

    def _inventory_and_actions(self, now: EngineState, digest: bytes) -> tuple[str | None, tuple[str, ...] | None]:
        """Return the inventory and the valid actions of a state in which the game is not over."""
        if digest not in self._known:
            if len(self._known) >= _MAX_CACHED_STATES:
                del self._known[next(iter(self._known))]
            self._known[digest] = self._inventory(now), self._valid_actions(digest)
        return self._known[digest]

    def _inventory(self, now: EngineState) -> str | None:
        if self._engine.awaits_key or not self._shows_inventory:
            return None
        printed = self._engine.step("inventory")
        self._engine.restore(now)
        return listed(printed)

    def _valid_actions(self, digest: bytes) -> tuple[str, ...] | None:
        finder = self._finder
        if finder is None:
            return None
        if self._engine.awaits_key:
            return (_LEAVE,)
        # seeded from the state, so that the result does not depend on how the player came here
        chance = int.from_bytes(digest[:4], "little") >> 1
        own = finder.version.encode() if isinstance(finder, JerichoActionLister) else b""
        return self._cache.actions(digest + own, lambda: finder.find(chance))

    def _unpack(self, saved: bytes) -> tuple[EngineState, list[Any]]:
        engine = self._engine
        try:
            digest, *numbers, size = _SAVED.unpack_from(saved)
            unpacker = zlib.decompressobj()
            body = unpacker.decompress(saved[_SAVED.size :], _LONGEST_SAVED)
        except (TypeError, struct.error, zlib.error) as error:
            raise InputError("this is not a state that the game has saved") from error
        if not unpacker.eof or unpacker.unused_data:
            raise InputError("this is not the whole of a state that the game has saved, or more than it")
        if digest != bytes.fromhex(engine.digest[:16]) or size != engine.ram_size:
            raise InputError(f"this state was saved in another game than {self.id!r}")
        (length,) = struct.unpack_from("<H", body, size)
        start = size + 2
        state = EngineState(
            _xor_story(body[:size], engine.story), body[start : start + length], tuple(numbers[:5]), tuple(numbers[5:])
        )
        return state, orjson.loads(body[start + length :])

    def _refusal(self, action: str) -> str | None:
        if len(action) > _LONGEST_ACTION:
            return _TOO_LONG
        line = action.casefold()
        if "\\" in line or any(self._is_for_engine(part.split()) for part in _BOUNDARY.split(line)):
            return ENGINE_COMMAND
        commands = [command for command in _SEPARATOR.split(line) if command.strip()]
        return ONE_ACTION_AT_A_TIME if len(commands) > 1 and "," not in commands[0] else None

    def _is_for_engine(self, words: list[str]) -> bool:
        while words and words[0] in ("oops", "o"):  # the next word replaces a word of the previous line
            words = words[1:]
        return bool(words) and words[0][: self._engine.word_length] in self._refused


def open_jericho(
    name: str,
    *,
    id: str,
    seed: int = 0,
    goal: str | None = None,
    max_moves: int | None = None,
    cache_dir: Path | None = None,
    valid_actions: ActionList = True,
    inventory: bool = True,
    stochastic: bool = False,
) -> JerichoEnvironment:
    """Open a Z-machine game.

    Args:
        name: the path of the story, or a bare name to search for in the folders of ``$WORLDTHREAD_GAMES``.
        id: as :class:`JerichoEnvironment`, like all further arguments.
        seed: seed of :meth:`JerichoEnvironment.reset` when it gets none.
        goal: the task in words.
        max_moves: the episode is truncated after this many moves; ``None``: no limit.
        cache_dir: root of the cache of valid actions.
        valid_actions: which valid actions to list.
        inventory: whether to look at the inventory after every move.
        stochastic: whether random events differ after each reset.

    Returns:
        The world.

    Raises:
        UnknownGameError: no file has this bare name.
        GameFileError, GenerationError, InputError, MissingExtraError: as :class:`JerichoEnvironment`.
    """
    require_jericho(f"the game {id!r}")
    return JerichoEnvironment(
        find_game_file(name, subfolder="jericho", suffixes=SUFFIXES),
        id=id,
        seed=seed,
        goal=goal,
        max_moves=max_moves,
        cache_dir=cache_dir,
        valid_actions=valid_actions,
        inventory=inventory,
        stochastic=stochastic,
    )


def make_jericho(spec: GameSpec, *, file: str, **arguments: Any) -> JerichoEnvironment:
    """Make one of the registered Z-machine games.

    Args:
        spec: the registered game.
        file: name of the game's file, without its suffix.
        **arguments: as :func:`open_jericho`.

    Returns:
        The world.

    Raises:
        GameFileError: no folder of ``$WORLDTHREAD_GAMES`` contains the file.
    """
    try:
        return open_jericho(file, id=spec.id, **arguments)
    except UnknownGameError as error:
        raise GameFileError(
            f"the game {spec.id!r} needs the file {file}{SUFFIXES[0]} (or {', '.join(SUFFIXES[1:])}), which "
            f"worldthread does not ship: set ${GAMES_VARIABLE} to the folder where it lies. {error}"
        ) from error


def leave_pauses(engine: JerichoEngine, printed: str, clean: Callable[[str], str]) -> str:
    """Leave menus and pauses that wait for a key.

    Args:
        engine: the game.
        printed: what it printed last.
        clean: makes a text of what is printed.

    Returns:
        All that was printed.
    """
    texts = [clean(printed)]
    while engine.awaits_key and len(texts) <= _MAX_KEYS and not (engine.over or engine.won):
        texts.append(clean(engine.step(_LEAVE)))
    return "\n\n".join(filter(None, texts))


def ways_out(engine: JerichoEngine, player: int, clean: Callable[[str], str]) -> dict[str, tuple[tuple[int, ...], str]]:
    """Try every direction from the state of a game, which is restored.

    Args:
        engine: the game.
        player: the number of the player's object.
        clean: makes a text of what is printed.

    Returns:
        By direction the objects in which the player is afterwards, as numbers, from the inside out, and what is
        printed; empty when the game waits for a key.
    """
    if engine.awaits_key:
        return {}
    now = engine.save()
    found = {}
    for direction, word in _DIRECTIONS.items():
        reply = clean(engine.step(word))
        tree = read_tree(engine.story, engine.memory(), player)
        found[direction] = (tree.holders(player), reply)
        engine.restore(now)
    return found


def clean_text(printed: str) -> str:
    """Remove the prompt, the last question, blank lines at both ends, and repeated blank lines."""
    lines = [line.rstrip() for line in printed.split("\n")]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    return _LAST_QUESTION.sub("", text.removesuffix(">").rstrip())


def listed(printed: str) -> str:
    """Return the list that the command ``inventory`` printed: its first line and the indented lines after it.

    Later lines report events during the command, which is undone.

    Args:
        printed: what the game printed.

    Returns:
        The lines of the list.
    """
    lines = clean_text(printed).split("\n")
    kept = lines[:1]
    for line in lines[1:]:
        if not line.startswith(" "):
            break
        kept.append(line)
    return "\n".join(kept)


def _xor_story(ram: bytes, story: bytes) -> bytes:
    """Return memory as its difference from the story file, or back: nearly all zeros, which compress well."""
    size = len(ram)
    return (int.from_bytes(ram, "little") ^ int.from_bytes(story[:size], "little")).to_bytes(size, "little")


def _propositions(things: list[GameObject], player: int) -> set[Proposition]:
    counts: dict[str, int] = {}
    for thing in things:
        counts[thing.name] = counts.get(thing.name, 0) + 1

    def name(number: int) -> str:
        thing = things[number]
        return thing.name if counts[thing.name] == 1 else f"{thing.name} (object {number})"

    facts: set[Proposition] = set()
    for thing in things:
        if not thing.name or not 0 < thing.parent < len(things) or not things[thing.parent].name:
            continue
        if thing.number == player:
            facts.add(("at", "P", name(thing.parent)))
        else:
            facts.add(("in", name(thing.number), "I" if thing.parent == player else name(thing.parent)))
    return facts
