"""What was found out about the states of a game, on disk: found once, shared by processes and plays.

One SQLite file for each game file, versions of what finds it, and version of jericho. What was kept first for a state
stays: whoever asks again gets the same answer, whatever chance and clock have come to since.
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

from worldthread.envs.jericho_actions import FINDER_VERSION
from worldthread.envs.jericho_state import DIGEST_VERSION
from worldthread.errors import GenerationError
from worldthread.paths import CACHE_VARIABLE, default_cache_dir

MOST_STATES: Final = 200_000
"""States that are kept for a game (about 60 MB): further ones are found anew by each process."""

_WAIT_SECONDS = 60.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS actions (state BLOB PRIMARY KEY, list BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS noise (only INTEGER PRIMARY KEY CHECK (only = 1), mask BLOB NOT NULL);
"""


class ActionCache:
    """The valid actions of states, and the noise, of one game file.

    Args:
        game: digest of the game file.
        cache_dir: root of the cache; default :func:`~worldthread.paths.default_cache_dir`.

    Raises:
        GenerationError: the folder cannot be written, or the file is damaged; by every method, too.
    """

    def __init__(self, game: str, cache_dir: Path | None = None) -> None:
        folder = (cache_dir or default_cache_dir()) / "jericho"
        version = f"{FINDER_VERSION}.{DIGEST_VERSION}-jericho{importlib.metadata.version('jericho')}"
        self.path = folder / f"{game[:16]}-{version}.sqlite"
        with self._telling():
            folder.mkdir(parents=True, exist_ok=True)
            # one process at a time, since two that make the same file may find it locked
            with FileLock(self.path.with_suffix(".lock")):
                self._database = sqlite3.connect(
                    self.path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
                )
                self._database.execute("PRAGMA journal_mode = WAL")
                # a crash of the machine may lose what was kept last, which is then found again
                self._database.execute("PRAGMA synchronous = OFF")
                self._database.executescript(_SCHEMA)
            (self._count,) = self._database.execute("SELECT count(*) FROM actions").fetchone()

    def noise(self, learn: Callable[[], bytes]) -> bytes:
        """The noise of the game, learnt on first use."""
        with self._telling():
            row = self._database.execute("SELECT mask FROM noise").fetchone()
            if row is None:
                self._database.execute("INSERT OR IGNORE INTO noise VALUES (1, ?)", (zlib.compress(learn()),))
                row = self._database.execute("SELECT mask FROM noise").fetchone()
        return zlib.decompress(row[0])

    def actions(self, state: bytes, find: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        """The valid actions of a state, found on first use."""
        with self._telling():
            kept = self._kept(state)
            if kept is not None:
                return kept
            found = find()
            if self._count >= MOST_STATES:
                return found
            added = self._database.execute(
                "INSERT OR IGNORE INTO actions VALUES (?, ?)", (state, zlib.compress("\n".join(found).encode()))
            )
            self._count += 1
            return found if added.rowcount else (self._kept(state) or found)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise GenerationError(
                f"cannot keep valid actions in {self.path}: {error}; delete the file if it is damaged, or name another "
                f"folder in ${CACHE_VARIABLE}"
            ) from error

    def _kept(self, state: bytes) -> tuple[str, ...] | None:
        row = self._database.execute("SELECT list FROM actions WHERE state = ?", (state,)).fetchone()
        if row is None:
            return None
        text = zlib.decompress(row[0]).decode()
        return tuple(text.split("\n")) if text else ()

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        self._database.close()
