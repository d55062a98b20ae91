"""TextWorld games (a ``.z8`` file with a ``.json`` beside it) as environments. Needs the extra ``games``."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
import struct
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from worldthread.errors import EpisodeOverError, GameFileError, GenerationError, MissingExtraError
from worldthread_lab.envs.base import (
    ENGINE_COMMAND,
    NO_OUTPUT,
    ONE_ACTION_AT_A_TIME,
    Environment,
    Info,
    Proposition,
    Truth,
    require_action,
    require_running,
)
from worldthread_lab.envs.cache import cached_game
from worldthread_lab.envs.spec import GameSpec

_LONGEST_ACTION = 198
"""The interpreter reads this many bytes of a line and drops the rest."""

_STATUS_LINE = re.compile(r"\n?>?[ ]{8,}-= .* =-[ ]*-?\d+/\d+\Z")
_PROMPT = re.compile(r"\n>[ ]*\Z")
_LAST_QUESTION = re.compile(r"\n+Would you like to RESTART, [^\n]*\?[ ]*\Z")
_CENTRED = re.compile(r"^ {8,}(?=\*\*\* )", re.MULTILINE)
# the engine prints its name in letters made of dollar signs; the task or the room follows
_BANNER_LINE = re.compile(r"[ ]{4,}[ _|\\/$<>-]*(?:\$\$|________|\\ {2}\|)[ _|\\/$<>-]*")

# the engine compares only the first nine letters of a word
_ENGINE_WORD = re.compile(r"(?<![a-z])(?:print_sta|tw-)")
_ENGINE_VERBS = frozenset(
    {
        *("save", "restore", "restart", "quit", "q", "undo", "verify", "version"),
        *("script", "transcript", "noscript", "unscript", "enable", "disable", "restrict"),
    }
)
_SEPARATOR = re.compile(r"[.]|\bthen\b")
_TOO_LONG = f"The line is longer than the {_LONGEST_ACTION} bytes that the game reads; it was not passed on."


class TextWorldEnvironment(Environment):
    """A TextWorld game.

    Every step is one move. Commands to the engine itself (saving, restarting, printing its state) are not passed on,
    since they would write files or show the true state; lines with several commands are not passed on either. The
    observation then says so.

    Args:
        locate: returns the path of the game for a seed; every :meth:`reset` calls it.
        id: the id of the environment.
        seed: the seed of :meth:`reset` when it gets none.
        goal: the task in words, instead of the game's own.
        max_moves: the episode is truncated after this many moves; ``None``: no limit.

    Raises:
        MissingExtraError: textworld is not installed.
    """

    def __init__(
        self,
        locate: Callable[[int], Path],
        *,
        id: str,
        seed: int = 0,
        goal: str | None = None,
        max_moves: int | None = None,
    ) -> None:
        require_textworld(f"the game {id!r}")
        self.id = id
        self._locate = locate
        self._seed = seed
        self._goal = goal
        self._max_moves = max_moves
        self._path: Path | None = None
        self._engine: Any = None
        self._state: Any = None
        self._info = Info()
        self._engine_score = 0
        self._running = False

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        chosen = self._seed if seed is None else seed
        path = self._locate(chosen)
        if self._engine is None or path != self._path:
            self.close()
            self._engine, self._path = _start(path), path
        self._engine.seed(chosen % 2**31)
        self._state = self._engine.reset()
        self._engine_score = self._state.score or 0
        own_goal = (self._state.objective or "").strip()
        goal = self._goal if self._goal is not None else own_goal
        self._info = self._read_info(goal=goal, moves=0, score=self._engine_score)
        self._running = True
        observation = clean_feedback(self._state.feedback)
        if goal and goal != own_goal:
            observation = f"{observation}\n\n{goal}"
        return observation, self._info

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        require_running(self._running, self._state is not None)
        require_action(action)
        before = self._info
        refusal = _refusal(action)
        if refusal is not None:
            observation = refusal
            self._info = replace(before, moves=before.moves + 1)
        else:
            self._state, _, _ = self._engine.step(action)
            observation = clean_feedback(self._state.feedback) or NO_OUTPUT
            if self._state.score is not None:
                self._engine_score = self._state.score
            self._info = self._read_info(goal=before.goal, moves=before.moves + 1, score=self._engine_score)
        terminated = self._info.won or self._info.lost or bool(self._state.done)
        truncated = not terminated and self._max_moves is not None and self._info.moves >= self._max_moves
        self._running = not (terminated or truncated)
        return observation, float(self._info.score - before.score), terminated, truncated, self._info

    def truth(self) -> Truth:
        if self._state is None:
            raise EpisodeOverError("there is no true state yet: call reset() first")
        game = self._state.game
        metadata: Mapping[str, Any] = game.metadata
        return Truth(
            frozenset(_proposition(fact) for fact in self._state.facts),
            tuple(metadata.get("walkthrough", ())),
            metadata.get("optimal_moves"),
        )

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
        self._engine = self._path = self._state = None
        self._running = False

    def _read_info(self, *, goal: str, moves: int, score: int) -> Info:
        state = self._state
        return Info(
            score=score,
            max_score=state.max_score if state.max_score and state.max_score > 0 else None,
            valid_actions=tuple(sorted(set(state.admissible_commands))),
            inventory=state.inventory,
            goal=goal,
            moves=moves,
            won=bool(state.won),
            lost=bool(state.lost),
        )


def open_textworld(
    path: Path, *, id: str, seed: int = 0, goal: str | None = None, max_moves: int | None = None
) -> TextWorldEnvironment:
    """Open a TextWorld game: a ``.z8`` file with its ``.json`` beside it.

    Args:
        path: the ``.z8`` file.
        id: the id of the environment.
        seed: seed of :meth:`~worldthread_lab.envs.base.Environment.reset` when it gets none.
        goal: the task in words, instead of the game's own.
        max_moves: the episode is truncated after this many moves; ``None``: no limit.

    Returns:
        The world.

    Raises:
        GameFileError: a file is absent, or is not a game that the engine can run.
        MissingExtraError: textworld is not installed.
    """
    check_game_file(path)
    return TextWorldEnvironment(lambda _: path, id=id, seed=seed, goal=goal, max_moves=max_moves)


def generated_textworld(
    spec: GameSpec,
    build: Callable[[int, Path], None],
    *,
    version: str,
    seed: int,
    goal: str | None,
    max_moves: int | None,
    cache_dir: Path | None,
    environment: type[TextWorldEnvironment] | None = None,
) -> TextWorldEnvironment:
    """Make a TextWorld game that is generated for each seed and kept in the cache.

    Args:
        spec: the registered game.
        build: writes the game of a seed to a path ending in ``.z8``; see :func:`compile_game`.
        version: version of the generator; a new one makes the games anew, and so does a new version of textworld.
        seed: seed of :meth:`~worldthread_lab.envs.base.Environment.reset` when it gets none.
        goal: the task in words, instead of the game's own.
        max_moves: the episode is truncated after this many moves; ``None``: no limit.
        cache_dir: root of the cache; default :func:`worldthread.files.paths.default_cache_dir`.
        environment: the class of the result; ``None``: :class:`TextWorldEnvironment`.

    Returns:
        The world.
    """
    require_textworld(f"the game {spec.id!r}")
    generator = f"{version}-textworld{importlib.metadata.version('textworld')}"

    def locate(chosen: int) -> Path:
        return cached_game(
            spec.id, chosen, generator=generator, build=lambda path: build(chosen, path), cache_dir=cache_dir
        )

    kind = environment or TextWorldEnvironment
    return kind(locate, id=spec.id, seed=seed, goal=goal, max_moves=max_moves)


def compile_game(game: Any, path: Path) -> None:
    """Write a ``textworld.Game`` to a ``.z8`` file and its metadata to the ``.json`` beside it.

    Args:
        game: the game.
        path: the path to write, ending in ``.z8``.

    Raises:
        GenerationError: the compiler refused the game.
    """
    import textworld
    from textworld.generator.inform7 import CouldNotCompileGameError

    options = textworld.GameOptions()
    options.path = str(path)
    options.force_recompile = True
    # sorted, so that the same game is the same text in every process
    game.grammar.options.names_to_exclude = sorted(name for name in game.grammar.options.names_to_exclude if name)
    try:
        textworld.generator.compile_game(game, options)
    except CouldNotCompileGameError as error:
        raise GenerationError(f"the compiler refused the game: {str(error).strip()[:2000]}") from error
    path.with_suffix(".ni").unlink(missing_ok=True)


def require_textworld(purpose: str) -> None:
    """Raise :class:`MissingExtraError` when textworld is not installed."""
    if importlib.util.find_spec("textworld") is None:
        raise MissingExtraError(purpose, extra="games", package="textworld")


def check_game_file(path: Path) -> None:
    """Raise an error for a file that the engine cannot run, since the engine would crash on it.

    Args:
        path: the ``.z8`` file.

    Raises:
        GameFileError: the file is absent, damaged, of another kind, or has no ``.json`` beside it.
    """
    if path.suffix == ".ulx":
        raise GameFileError(f"{path}: Glulx games (.ulx) need a TextWorld older than 1.7; make the game again as .z8")
    if path.suffix != ".z8":
        raise GameFileError(f"{path}: a TextWorld game is a file that ends in .z8")
    if not path.is_file():
        raise GameFileError(f"{path}: no such file")
    story = path.read_bytes()
    if len(story) < 64 or story[0] != 8:
        raise GameFileError(f"{path}: not a Z-machine story of version 8")
    # Z-Machine Standard 1.1, section 11.1: length in units of 8 bytes, checksum of all bytes after the header
    units, checksum = struct.unpack_from(">HH", story, 0x1A)
    if len(story) < units * 8 or sum(story[64 : units * 8]) % 65536 != checksum:
        raise GameFileError(f"{path}: the file is damaged (its checksum or its length is wrong)")
    companion = path.with_suffix(".json")
    if not companion.is_file():
        raise GameFileError(f"{path}: the file {companion.name}, which TextWorld writes beside the game, is missing")


def clean_feedback(text: str) -> str:
    """Remove the engine's banner, prompt and status line, and blank lines at both ends."""
    text = _STATUS_LINE.sub("", text.rstrip())
    text = _CENTRED.sub("", _LAST_QUESTION.sub("", _PROMPT.sub("", text).rstrip()))
    lines = [line.rstrip() for line in text.split("\n")]
    banner = [number for number, line in enumerate(lines) if _BANNER_LINE.fullmatch(line)]
    if len(banner) >= 8:
        del lines[banner[0] : banner[-1] + 1]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _start(path: Path) -> Any:
    check_game_file(path)
    import textworld

    wanted = textworld.EnvInfos(
        inventory=True, admissible_commands=True, facts=True, score=True, max_score=True, won=True, lost=True
    )
    try:
        with warnings.catch_warnings():
            # the interpreter warns that it does not know the game, but TextWorld's own metadata are sufficient
            warnings.simplefilter("ignore")
            engine = textworld.start(str(path), wanted)
    except (json.JSONDecodeError, KeyError, ValueError, TypeError, AttributeError) as error:
        companion = path.with_suffix(".json")
        raise GameFileError(f"{companion}: not the metadata of a TextWorld game ({error!r})") from error

    _repair_tracking(engine)
    return engine


def _repair_tracking(engine: Any) -> None:
    """Make TextWorld's tracking of the state follow every action that takes a thing.

    When a thing is taken from a container or a supporter, the game reports ``take X`` as "removing X from Y", but
    ``get X`` and ``take X and Z`` as "taking X", which TextWorld recognises only for a thing on the floor. Its facts
    and commands would be wrong from then on.

    Args:
        engine: the engine, whose tracking is patched in place.
    """
    from textworld.envs.wrappers.tw_inform7 import StateTracking

    tracker = engine
    while not isinstance(tracker, StateTracking):
        tracker = tracker._wrapped_env
    inform7 = tracker._inform7
    detect = inform7.detect_action

    def detect_action(event: str, actions: Any) -> Any:
        known = detect(event, actions)
        return known if known is not None else next((action for action in actions if takes(action, event)), None)

    def takes(action: Any, event: str) -> bool:
        added = [_proposition(inform7.get_human_readable_fact(fact)) for fact in action.added]
        return any(
            fact[0] == "in" and fact[-1] == "I" and f"taking the {fact[1]}".lower() == event.lower() for fact in added
        )

    inform7.detect_action = detect_action


def _proposition(fact: Any) -> Proposition:
    return (fact.name, *(argument.name for argument in fact.arguments))


def _refusal(action: str) -> str | None:
    if len(action.encode("utf-8")) > _LONGEST_ACTION:
        return _TOO_LONG
    commands = [command.split() for command in _SEPARATOR.split(action.casefold())]
    if any(_is_for_engine(words) for words in commands):
        return ENGINE_COMMAND
    return ONE_ACTION_AT_A_TIME if sum(map(bool, commands)) > 1 else None


def _is_for_engine(words: list[str]) -> bool:
    while words and words[0] in ("oops", "o"):  # the next word replaces a word of the previous line
        words = words[1:]
    return bool(words) and (words[0] in _ENGINE_VERBS or any(_ENGINE_WORD.search(word) for word in words))
