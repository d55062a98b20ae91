"""The game that the clients of one server play, and the file that stores its plays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar

from worldthread.errors import GameError, InputError
from worldthread.memory.memory import Memory
from worldthread.stores import SQLiteStore
from worldthread.types import Episode
from worldthread_lab.envs import make, spec_of
from worldthread_lab.envs.registry import game_settings
from worldthread_lab.mcp.game_play import GamePlay
from worldthread_lab.play.run import file_name

_LOCK_SECONDS: Final = 60.0  # the longest wait for another writer of the file
_SHUTDOWN_SECONDS: Final = 5.0  # the longest wait for a running move when the server ends

ListOfActions: TypeAlias = Literal["ours", "jericho", "none"]
"""Whose list of valid actions is told."""
_LISTS: Final[dict[ListOfActions, Any]] = {"ours": True, "jericho": "jericho", "none": False}

T = TypeVar("T")


class PlayRecord:
    """Stores a play in a namespace of its own; the file is open only while something changes.

    Args:
        path: the file; created if it does not exist.
        run: name of the play; the name of the namespace is derived from it.

    Raises:
        StoreError: the file cannot be opened; the message says why.
    """

    def __init__(self, path: Path, run: str) -> None:
        self._path = path
        self._run = run
        self._namespace: str | None = None
        self._stored: set[str] = set()
        with self._opened(self._free_name()):  # report a file that cannot be used before the game begins
            pass

    def store(self, episodes: Iterable[Episode]) -> None:
        """Make the namespace hold exactly these episodes.

        Args:
            episodes: the episodes in order; the first must be the same in every call.

        Raises:
            StoreError: the file could not be written; the next call writes what is missing.
        """
        wanted = {episode.id: episode for episode in episodes}
        if wanted.keys() == self._stored:
            return
        while self._namespace is None:
            name = self._free_name()
            with self._opened(name) as memory:
                if not len(memory.record.graph):  # else another server has just taken the name
                    self._stored = {memory.record.add(next(iter(wanted.values()))).id}
                    self._namespace = name
        with self._opened(self._namespace) as memory:
            for undone in self._stored - wanted.keys():
                memory.forget(undone)
                self._stored.discard(undone)
            memory.record.add_many(episode for id_, episode in wanted.items() if id_ not in self._stored)
            self._stored = set(wanted)

    def _opened(self, namespace: str) -> Memory:
        return Memory(self._path, namespace=namespace, model="none", wait=_LOCK_SECONDS)

    def _free_name(self) -> str:
        has_content = self._path.exists() and self._path.stat().st_size > 0
        taken = set(SQLiteStore.namespaces(self._path)) if has_content else set()
        number = 1
        while (name := self._run if number == 1 else f"{self._run}-{number}") in taken:
            number += 1
        return name


class SharedGame:
    """A game and its current play, on a thread of their own, which runs calls one after another.

    The first call begins the play, since this can take a while.

    Args:
        id: the id of the game; see :func:`worldthread_lab.envs.make`.
        seed: seeds the game, or its random generator.
        path: the file that stores the plays, each in a namespace of its own; ``None`` to keep them in RAM only.
        valid_actions: whose list of valid actions the client of a Z-machine game is told, ``"ours"``, ``"jericho"`` or
            ``"none"``; ``None`` for what the game does by itself.

    Raises:
        GameError: there is no such game, or it cannot be played here.
        MissingExtraError: the game needs an extra that is not installed.
        StoreError: the file cannot be opened.
        InputError: an argument is invalid.
    """

    def __init__(
        self, id: str, *, seed: int = 0, path: Path | None = None, valid_actions: ListOfActions | None = None
    ) -> None:
        self.id = id if ":" in id else spec_of(id).id
        if valid_actions is not None and "valid_actions" not in game_settings(self.id):
            raise InputError(f"the game {self.id} is no Z-machine game: its list of valid actions cannot be chosen")
        self.valid_actions = valid_actions
        options = {} if valid_actions is None else {"valid_actions": _LISTS[valid_actions]}
        self.seed = seed
        self.path = None if path is None else path.expanduser().absolute()
        self._play: GamePlay | None = None
        self._is_closed = False
        # engines must be used by the thread that created them
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="game")
        self._env = self._thread.submit(make, self.id, seed=seed, max_moves=math.inf, **options).result()
        try:
            self._record = self._new_record(seed)
        except BaseException:
            self.close()
            raise

    def submit(self, work: Callable[[GamePlay], T]) -> Future[T]:
        """Call ``work`` with the play, after all earlier calls, and store the play, also after an error.

        Args:
            work: what to do with the play.

        Returns:
            The result of ``work``. The future raises what ``work`` raises, :class:`~worldthread.errors.GameError` if
            the play could not be begun or the server is ending, and :class:`~worldthread.errors.StoreError` if the
            play could not be stored, which the next call makes up for.
        """
        return self._thread.submit(self._with_play, work)

    def restart(self, seed: int | None, work: Callable[[GamePlay], T]) -> Future[T]:
        """End the play, if there is one, begin another, and call ``work`` with it as :meth:`submit` does.

        Args:
            seed: seeds the new play; ``None`` for the same seed as before.
            work: what to do with the new play.

        Returns:
            The result of ``work``; see :meth:`submit`.
        """

        def begin() -> T:
            chosen = self.seed if seed is None else seed
            record = self._new_record(chosen)
            if self._play is not None:
                self._play.close()
            self._play, self._record, self.seed = None, record, chosen
            return self._with_play(work)

        return self._thread.submit(begin)

    def close(self) -> None:
        """Wait a few seconds for a running move, and release everything. May be called again."""
        self._is_closed = True
        with suppress(TimeoutError):  # then the engine still runs, and ends with the process
            self._thread.submit(self._release).result(_SHUTDOWN_SECONDS)

    def _with_play(self, work: Callable[[GamePlay], T]) -> T:
        if self._is_closed:
            raise GameError("the server is ending: nothing was done")
        if self._play is None:
            self._play = GamePlay(self._env, seed=self.seed, run=_run(self.id, self.seed))
        try:
            return work(self._play)
        finally:
            if self._record is not None:
                self._record.store(self._play.episodes())

    def _release(self) -> None:
        if self._play is not None:
            self._play.close()
            self._play = None
        self._env.close()

    def _new_record(self, seed: int) -> PlayRecord | None:
        return None if self.path is None else PlayRecord(self.path, _run(self.id, seed))


def _run(id: str, seed: int) -> str:
    return f"{file_name(id)}-seed{seed}"
