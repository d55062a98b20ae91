"""A game that the clients of one server play, and the file in which its plays are kept, if they are."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from worldthread.bench.runs import file_name
from worldthread.envs import make, spec_of
from worldthread.errors import GameError
from worldthread.mcp.game_play import GamePlay
from worldthread.memory import Memory
from worldthread.stores import SQLiteStore
from worldthread.types import Episode

_WAIT: Final = 60.0  # seconds for another writer of the file
_LAST_MOVE: Final = 5.0  # seconds at the end, for a move that is under way


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
                if not len(memory.graph):  # else another server was quicker
                    self._kept = {memory.add(next(iter(wanted.values()))).id}
                    self._namespace = name
        with self._opened(self._namespace) as memory:
            for gone in self._kept - wanted.keys():
                memory.forget(gone)
                self._kept.discard(gone)
            memory.add_many(episode for id_, episode in wanted.items() if id_ not in self._kept)
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
    """A game and the play of it that goes on. Begun by the first call, since making a game may take a while.

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
        self._env = make(self.id, seed=seed, max_moves=math.inf)
        try:
            self._record = self._new_record(seed)
        except BaseException:
            self._env.close()
            raise
        self._play: GamePlay | None = None
        self._turn = threading.Lock()
        self._closed = False

    @contextmanager
    def playing(self) -> Iterator[GamePlay]:
        """The play, while nobody else can touch it. What came of the block is kept when it ends, even in an error.

        Raises:
            GameError: it could not be begun, or the server is ending.
            StoreError: it could not be kept; the next block makes up for it.
        """
        with self._turn:
            play = self._begun()
            try:
                yield play
            finally:
                if self._record is not None:
                    self._record.keep(play.episodes())

    def begin_anew(self, seed: int | None = None) -> None:
        """Leave the play, if there is one, for another with this seed; ``None``: the same seed.

        Raises:
            GameError: the game of this seed could not be made, or the server is ending.
            StoreError: the file cannot be opened.
        """
        with self._turn:
            chosen = self.seed if seed is None else seed
            record = self._new_record(chosen)
            if self._play is not None:
                self._play.close()
            self._play, self._record, self.seed = None, record, chosen
            self._begun()

    def close(self) -> None:
        """Let a move that is under way finish, for some seconds, and release everything. May be called again."""
        self._closed = True
        if not self._turn.acquire(timeout=_LAST_MOVE):
            return  # the engine is at work: it ends with the process
        try:
            if self._play is not None:
                self._play.close()
                self._play = None
            self._env.close()
        finally:
            self._turn.release()

    def _begun(self) -> GamePlay:
        if self._closed:
            raise GameError("the server is ending: nothing was done")
        if self._play is None:
            self._play = GamePlay(self._env, seed=self.seed, run=_run(self.id, self.seed))
        return self._play

    def _new_record(self, seed: int) -> PlayRecord | None:
        return None if self.path is None else PlayRecord(self.path, _run(self.id, seed))


def _run(id: str, seed: int) -> str:
    return f"{file_name(id)}-seed{seed}"
