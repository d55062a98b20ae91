"""A cache of the valid actions of Z-machine games on disk, shared by processes and plays.

There is one SQLite file for each game file, versions of the action finder and the state digest, and version of jericho.
The first result for a state is kept, so that later lookups return the same actions whatever the random generator and
the game's clocks are then.
"""

from __future__ import annotations

import importlib.metadata
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock

from worldthread.errors import GenerationError
from worldthread.files.paths import CACHE_VARIABLE, default_cache_dir
from worldthread_lab.envs.jericho_actions import FINDER_VERSION
from worldthread_lab.envs.jericho_state import DIGEST_VERSION

MAX_STATES: Final = 200_000
"""States that are cached for a game (about 60 MB); each process finds the actions of further ones anew."""

_WAIT_SECONDS = 60.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS actions (state BLOB PRIMARY KEY, list BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS noise (only INTEGER PRIMARY KEY CHECK (only = 1), mask BLOB NOT NULL);
"""


class ActionCache:
    """The cached valid actions and the noise mask of one game file.

    Every method but :meth:`close` raises :class:`~worldthread.errors.GenerationError` when the file cannot be used.

    Args:
        game: digest of the game file, as hexadecimal text.
        cache_dir: root of the cache; default :func:`~worldthread.files.paths.default_cache_dir`.

    Raises:
        GenerationError: the folder cannot be written, or the file is damaged.
    """

    def __init__(self, game: str, cache_dir: Path | None = None) -> None:
        folder = (cache_dir or default_cache_dir()) / "jericho"
        version = f"{FINDER_VERSION}.{DIGEST_VERSION}-jericho{importlib.metadata.version('jericho')}"
        self.path = folder / f"{game[:16]}-{version}.sqlite"
        with self._translate_errors():
            folder.mkdir(parents=True, exist_ok=True)
            # one process at a time: two processes that create the same file may find it locked
            with FileLock(self.path.with_suffix(".lock")):
                self._database = sqlite3.connect(
                    self.path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
                )
                self._database.execute("PRAGMA journal_mode = WAL")
                # a crash of the machine may lose the last entries, which are then found again
                self._database.execute("PRAGMA synchronous = OFF")
                self._database.executescript(_SCHEMA)
            (self._count,) = self._database.execute("SELECT count(*) FROM actions").fetchone()

    def noise(self, learn: Callable[[], bytes]) -> bytes:
        """Return the noise mask of the game; ``learn`` computes it on first use."""
        with self._translate_errors():
            row = self._database.execute("SELECT mask FROM noise").fetchone()
            if row is None:
                self._database.execute("INSERT OR IGNORE INTO noise VALUES (1, ?)", (zlib.compress(learn()),))
                row = self._database.execute("SELECT mask FROM noise").fetchone()
        return zlib.decompress(row[0])

    def actions(self, state: bytes, find: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        """Return the valid actions of a state; ``find`` computes them on first use.

        Args:
            state: the digest of the state, and after it what tells one list of its actions from another.
            find: finds the actions.

        Returns:
            The actions.
        """
        with self._translate_errors():
            cached = self._cached(state)
            if cached is not None:
                return cached
            found = find()
            if self._count >= MAX_STATES:
                return found
            added = self._database.execute(
                "INSERT OR IGNORE INTO actions VALUES (?, ?)", (state, zlib.compress("\n".join(found).encode()))
            )
            self._count += 1
            return found if added.rowcount else (self._cached(state) or found)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise GenerationError(
                f"cannot keep valid actions in {self.path}: {error}; delete the file if it is damaged, or name another "
                f"folder in ${CACHE_VARIABLE}"
            ) from error

    def _cached(self, state: bytes) -> tuple[str, ...] | None:
        row = self._database.execute("SELECT list FROM actions WHERE state = ?", (state,)).fetchone()
        if row is None:
            return None
        text = zlib.decompress(row[0]).decode()
        return tuple(text.split("\n")) if text else ()

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        self._database.close()
