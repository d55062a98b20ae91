"""A cache of answers of chat models in a file, so that no request is paid for twice."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol

import msgspec
from filelock import FileLock

from worldthread.decoding import convert
from worldthread.errors import (
    ClosedError,
    DamagedFileError,
    FileVersionError,
    ForeignFileError,
    StoreError,
)
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest
from worldthread.models.request_key import recorded_answer, request_key, to_json
from worldthread.paths import FILE_MODE, make_private_file, make_private_folder
from worldthread.sqlite_errors import cache_errors, damaged_cache

APPLICATION_ID: Final = 0x77746361
"""At byte 68 of every file of ours: "wtca"."""

VERSION: Final = 1
"""Version of the file that is written, and the newest that is read."""

_TABLE: Final = """\
CREATE TABLE answer (key TEXT PRIMARY KEY, content TEXT NOT NULL, created_at REAL NOT NULL)
                        WITHOUT ROWID"""
_BUSY_SECONDS: Final = 30.0
_KIND: Final = "cache of answers"  # in messages


class ChatCache:
    """Answers by the key of the request (:func:`~worldthread.models.request_key.request_key`), in an SQLite file.

    Any number of threads and processes may use the file at once. It holds the texts of answers, but only the keys of
    requests. A file that cannot be used is never replaced or deleted: see the errors.

    Args:
        path: the file; it is made, with its folder, if it does not exist. The files beside it are ``-wal`` and
            ``-shm`` while it is open (SQLite's write-ahead log), and ``-lock``, which is held while it is being opened.

    Raises:
        ForeignFileError: the file is an SQLite file of another program; it was not touched.
        DamagedFileError: the file cannot be read; it was not touched.
        FileVersionError: a newer release wrote the file; it was not touched.
        StoreLockedError: another program held the file for 30 seconds.
        StoreError: the file cannot be opened.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        lock_file = self._path.with_name(self._path.name + "-lock")
        is_new = not lock_file.exists()
        try:
            make_private_folder(self._path.parent)
            # two processes must not create the file, or switch its log on, at the same time
            with FileLock(lock_file, mode=FILE_MODE):
                make_private_file(self._path)  # SQLite gives its mode to the log beside it
                self._open()
        except OSError as error:
            reason = error.strerror or error
            raise StoreError(f"the cache of answers cannot be opened: {reason}", path=self._path) from error
        except BaseException as error:
            self._disconnect()
            if is_new and isinstance(error, StoreError):  # probably not a file of ours: leave nothing beside it
                lock_file.unlink(missing_ok=True)
            raise

    def _open(self) -> None:
        with self._translated():
            connection = sqlite3.connect(
                self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._connection = connection
            ((application,),) = connection.execute("PRAGMA application_id").fetchall()
            ((version,),) = connection.execute("PRAGMA user_version").fetchall()
            schema = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema").fetchall()]
            if application != APPLICATION_ID and (application or version or schema):
                raise ForeignFileError("an SQLite file of another program, not a cache of answers", path=self._path)
            if version > VERSION:
                raise FileVersionError(
                    f"written by a newer release (version {version}, this one reads {VERSION}): upgrade, or use "
                    "another file",
                    path=self._path,
                )
            if version and [" ".join(str(sql).split()) for sql in schema] != [" ".join(_TABLE.split())]:
                # a view or a trigger would run at every question, for as long as it likes
                raise self._damaged("it has other tables than a cache of answers")
            if not version:
                connection.executescript(
                    f"""
                    BEGIN IMMEDIATE;
                    {_TABLE};
                    PRAGMA application_id = {APPLICATION_ID};
                    PRAGMA user_version = {VERSION};
                    COMMIT;
                    """
                )
            connection.execute("SELECT key, content, created_at FROM answer LIMIT 1").fetchall()
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON")

    def get(self, key: str) -> ChatAnswer | None:
        """Look up an answer.

        Args:
            key: key of the request.

        Returns:
            The answer, with no usage, no seconds and 0 attempts; ``None`` if there is none.

        Raises:
            DamagedFileError: the file is damaged.
            StoreLockedError: another program held the file for 30 seconds.
            StoreError: the file cannot be read.
            ClosedError: the cache was closed.
        """
        rows = self._run("SELECT content FROM answer WHERE key = ?", key)
        if not rows:
            return None
        try:
            kept = convert(json.loads(rows[0][0]), _CachedAnswer)
        except (ValueError, TypeError, RecursionError) as error:
            raise self._damaged(f"the entry {key} is not an answer: {error}") from error
        return ChatAnswer(kept.text, model=kept.model, finish_reason=kept.finish_reason, attempts=0)

    def put(self, key: str, answer: ChatAnswer) -> None:
        """Store an answer, unless the key has one already.

        Args:
            key: key of the request.
            answer: its text, model and finish reason are stored.

        Raises:
            DamagedFileError: the file is damaged.
            StoreLockedError: another program held the file for 30 seconds.
            StoreError: the file cannot be written.
            ClosedError: the cache was closed.
        """
        content = {"text": answer.text, "model": answer.model, "finish_reason": answer.finish_reason}
        self._run(
            "INSERT INTO answer VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
            key,
            to_json(content).decode(),
            time.time(),
        )

    def __len__(self) -> int:
        """Return the number of stored answers."""
        count: int = self._run("SELECT COUNT(*) FROM answer")[0][0]
        return count

    def clear(self) -> None:
        """Remove all answers; their texts are overwritten in the file."""
        self._run("DELETE FROM answer")
        # otherwise the log still holds them; a process that is reading delays this until the last one closes the file
        self._run("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file. May be called again."""
        with self._lock:
            self._disconnect()

    def __enter__(self) -> ChatCache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, sql: str, *parameters: object) -> list[Any]:
        with self._lock, self._translated():
            if self._connection is None:
                raise ClosedError("the cache of answers was closed: open it again", path=self._path)
            return self._connection.execute(sql, parameters).fetchall()

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _translated(self) -> AbstractContextManager[None]:
        return cache_errors(self._path, _KIND)

    def _damaged(self, reason: str) -> DamagedFileError:
        return damaged_cache(self._path, _KIND, reason)


class AnswerCache(Protocol):
    """Stores answers by the key of the request. Implementations are thread-safe."""

    def get(self, key: str) -> ChatAnswer | None:
        """Look up an answer; see :meth:`ChatCache.get`."""

    def put(self, key: str, answer: ChatAnswer) -> None:
        """Store an answer, unless the key has one already; see :meth:`ChatCache.put`."""


class CachedChat:
    """Answers requests from a cache, and calls ``model`` for those that are not in it.

    Threads that make the same request at the same time wait for the first of them. Only complete answers
    (``finish_reason`` is ``"stop"``) are stored. An answer from the cache has no usage, no seconds and 0 attempts.

    Args:
        model: answers the requests that are not in the cache; answers are stored under its name.
        cache: stores the answers.
        sampled: whether requests with a temperature above 0 and no seed are cached too. Such a request asks for one
            sample of many, and from a cache every repetition would get the same one. By default these requests always
            go to ``model``, and their answers are not stored.
    """

    def __init__(self, model: ChatModel, cache: AnswerCache, *, sampled: bool = False) -> None:
        self._model = model
        self._cache = cache
        self._sampled = sampled
        self._guard = threading.Lock()
        self._turns: dict[str, _Turn] = {}

    @property
    def name(self) -> str:
        """The name of the wrapped model."""
        return self._model.name

    @property
    def concurrency(self) -> int:
        """The concurrency of the wrapped model."""
        return self._model.concurrency

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Answer a request; see :meth:`worldthread.models.chat.ChatModel.complete`.

        Args:
            request: the request.

        Returns:
            The stored answer, or that of the model.

        Raises:
            InputError: the request cannot be written as JSON.
            StoreError: the cache cannot be read or written.
        """
        if request.temperature > 0 and request.seed is None and not self._sampled:
            return self._model.complete(request)
        key = request_key(self.name, request, with_today=True)
        with self._turn(key):
            known = self._cache.get(key)
            if known is not None:
                return known
            answer = recorded_answer(request, self._model.complete(request))
            if answer.finish_reason == "stop":
                self._cache.put(key, answer)
            return answer

    @contextmanager
    def _turn(self, key: str) -> Iterator[None]:
        with self._guard:
            turn = self._turns.setdefault(key, _Turn())
            turn.threads += 1
        try:
            with turn.lock:
                yield
        finally:
            with self._guard:
                turn.threads -= 1
                if not turn.threads:
                    del self._turns[key]


class _CachedAnswer(msgspec.Struct, forbid_unknown_fields=True):
    text: str
    model: str
    finish_reason: str


class _Turn:
    """The lock of threads that make the same request, and how many of them there are."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.threads = 0
