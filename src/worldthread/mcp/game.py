"""A game that the clients of one server play, and the file in which its plays are kept, if they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from worldthread.envs import make, spec_of
from worldthread.errors import GameError
from worldthread.mcp.game_play import GamePlay
from worldthread.memory import Memory
from worldthread.play.runs import file_name
from worldthread.stores import SQLiteStore
from worldthread.types import Episode

_WAIT: Final = 60.0  # seconds for another writer of the file
_LAST_MOVE: Final = 5.0  # seconds at the end, for a move that is under way


T = TypeVar("T")


class PlayRecord:
    """A play in a namespace of its own of a file, which is open for the length of a change only.

    Args:
        path: the file, made when it does not exist.
        run: name of the play; that of the namespace follows from it.

    Raises:
        StoreError: the file cannot be opened; the message says why.
    """

    def __init__(self, path: Path, run: str) -> None:
        self._path = path
        self._run = run
        self._namespace: str | None = None
        self._kept: set[str] = set()
        with self._opened(self._free_name()):  # what is wrong with the file is told before the game begins
            pass

    def keep(self, episodes: Iterable[Episode]) -> None:
        """Let the namespace hold exactly these episodes, of which the first must always be the same.

        Raises:
            StoreError: they could not be written; the next call makes up for it.
        """
        wanted = {episode.id: episode for episode in episodes}
        if wanted.keys() == self._kept:
            return
        while self._namespace is None:
            name = self._free_name()
            with self._opened(name) as memory:
                if not len(memory.record.graph):  # else another server was quicker
                    self._kept = {memory.record.add(next(iter(wanted.values()))).id}
                    self._namespace = name
        with self._opened(self._namespace) as memory:
            for gone in self._kept - wanted.keys():
                memory.forget(gone)
                self._kept.discard(gone)
            memory.record.add_many(episode for id_, episode in wanted.items() if id_ not in self._kept)
            self._kept = set(wanted)

    def _opened(self, namespace: str) -> Memory:
        return Memory(self._path, namespace=namespace, model="none", wait=_WAIT)

    def _free_name(self) -> str:
        is_there = self._path.exists() and self._path.stat().st_size > 0
        taken = set(SQLiteStore.namespaces(self._path)) if is_there else set()
        number = 1
        while (name := self._run if number == 1 else f"{self._run}-{number}") in taken:
            number += 1
        return name


class SharedGame:
    """A game and the play of it that goes on, on a thread of their own: what is asked is done in turn.

    The play is begun by the first call, since making a game may take a while.

    Args:
        id: as :func:`worldthread.envs.make` takes it.
        seed: of the game, or of its chance.
        path: file to keep the plays in, each in a namespace of its own; ``None``: they are gone in the end.

    Raises:
        GameError, MissingExtraError: there is no such game, or it cannot be played here.
        StoreError: the file cannot be opened.
        InputError: an argument cannot be used.
    """

    def __init__(self, id: str, *, seed: int = 0, path: Path | None = None) -> None:
        self.id = id if ":" in id else spec_of(id).id
        self.seed = seed
        self.path = None if path is None else path.expanduser().absolute()
        self._play: GamePlay | None = None
        self._is_closed = False
        # engines want to be used by the thread that made them
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="game")
        self._env = self._thread.submit(make, self.id, seed=seed, max_moves=math.inf).result()
        try:
            self._record = self._new_record(seed)
        except BaseException:
            self.close()
            raise

    def ask(self, work: Callable[[GamePlay], T]) -> Future[T]:
        """Do something with the play, after all that was asked before. What came of it is kept, even of an error.

        The future raises what ``work`` raises, :class:`~worldthread.errors.GameError` when the play could not be begun
        or the server is ending, and :class:`~worldthread.errors.StoreError` when it could not be kept, for which the
        next call makes up.
        """
        return self._thread.submit(self._with_play, work)

    def begin_anew(self, seed: int | None, work: Callable[[GamePlay], T]) -> Future[T]:
        """Leave the play, if there is one, for another with this seed, and do something with that, as :meth:`ask` does.

        Args:
            seed: ``None``: the same as before.
            work: what is done.
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
        """Let a move that is under way finish, for some seconds, and release everything. May be called again."""
        self._is_closed = True
        with suppress(TimeoutError):  # then the engine is at work, and ends with the process
            self._thread.submit(self._release).result(_LAST_MOVE)

    def _with_play(self, work: Callable[[GamePlay], T]) -> T:
        if self._is_closed:
            raise GameError("the server is ending: nothing was done")
        if self._play is None:
            self._play = GamePlay(self._env, seed=self.seed, run=_run(self.id, self.seed))
        try:
            return work(self._play)
        finally:
            if self._record is not None:
                self._record.keep(self._play.episodes())

    def _release(self) -> None:
        if self._play is not None:
            self._play.close()
            self._play = None
        self._env.close()

    def _new_record(self, seed: int) -> PlayRecord | None:
        return None if self.path is None else PlayRecord(self.path, _run(self.id, seed))


def _run(id: str, seed: int) -> str:
    return f"{file_name(id)}-seed{seed}"
