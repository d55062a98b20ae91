"""Answers of chat models in a file, so that no request needs to be paid for twice."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import msgspec
from filelock import FileLock

from worldthread.errors import (
    ClosedError,
    DamagedFileError,
    FileVersionError,
    ForeignFileError,
    StoreError,
    StoreLockedError,
)
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest
from worldthread.models.request_key import request_key, to_json
from worldthread.sqlite_errors import SQLiteFault, fault_of

APPLICATION_ID: Final = 0x77746361
"""At byte 68 of every file of ours: "wtca"."""

VERSION: Final = 1
"""Version of the file that is written, and the newest that is read."""

_BUSY_SECONDS: Final = 30.0


class ChatCache:
    """Answers by the key of the request (:func:`~worldthread.models.request_key.request_key`), in an SQLite file.

    Any number of threads and processes may use the file at once. It holds the texts of answers, and of requests the
    keys alone. Nothing that is wrong with the file makes it disappear: see the errors.

    Args:
        path: made when it does not exist, its folder too. Beside it stand ``-wal`` and ``-shm`` while it is open
            (SQLite's write-ahead log), and ``-lock``, which is held while it is being opened.

    Raises:
        ForeignFileError: an SQLite file of something else; it was not touched.
        DamagedFileError: the file cannot be read; it was not touched.
        FileVersionError: written by a newer release; it was not touched.
        StoreLockedError: another program holds the file for too long.
        StoreError: the file cannot be opened.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        lock_file = self._path.with_name(self._path.name + "-lock")
        is_new = not lock_file.exists()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # two processes that make the same file, or turn its log on, at the same time would stumble over each other
            with FileLock(lock_file):
                self._open()
        except OSError as error:
            reason = error.strerror or error
            raise StoreError(f"the cache of answers cannot be opened: {reason}", path=self._path) from error
        except BaseException as error:
            self._disconnect()
            if is_new and isinstance(error, StoreError):  # not a file of ours, as a rule: nothing is left beside it
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
            ((tables,),) = connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchall()
            if application != APPLICATION_ID and (application or version or tables):
                raise ForeignFileError("an SQLite file of another program, not a cache of answers", path=self._path)
            if version > VERSION:
                raise FileVersionError(
                    f"written by a newer release (version {version}, this one reads {VERSION}): upgrade, or use "
                    "another file",
                    path=self._path,
                )
            if not version:
                connection.executescript(
                    f"""
                    BEGIN IMMEDIATE;
                    CREATE TABLE answer (key TEXT PRIMARY KEY, content TEXT NOT NULL, created_at REAL NOT NULL)
                        WITHOUT ROWID;
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
        """The answer that is kept under ``key``, as it is given when no call was made for it.

        Raises:
            DamagedFileError, StoreLockedError, StoreError, ClosedError
        """
        rows = self._run("SELECT content FROM answer WHERE key = ?", key)
        if not rows:
            return None
        try:
            kept = msgspec.convert(json.loads(rows[0][0]), _CachedAnswer)
        except (ValueError, TypeError, RecursionError) as error:
            raise self._damaged(f"the answer {key} is not one: {error}") from error
        return ChatAnswer(kept.text, model=kept.model, finish_reason=kept.finish_reason, attempts=0)

    def put(self, key: str, answer: ChatAnswer) -> None:
        """Keep ``answer`` under ``key``; an answer that is there already stays.

        Raises:
            DamagedFileError, StoreLockedError, StoreError, ClosedError
        """
        content = {"text": answer.text, "model": answer.model, "finish_reason": answer.finish_reason}
        self._run(
            "INSERT INTO answer VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
            key,
            to_json(content).decode(),
            time.time(),
        )

    def __len__(self) -> int:
        """How many answers are kept."""
        count: int = self._run("SELECT COUNT(*) FROM answer")[0][0]
        return count

    def clear(self) -> None:
        """Forget all answers; what they said is overwritten in the file."""
        self._run("DELETE FROM answer")
        # else the log still holds them; another process that is reading puts it off until the last one closes the file
        self._run("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Release the file. May be called again."""
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

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn SQLite's errors into ours."""
        try:
            yield
        except sqlite3.Error as error:
            fault = fault_of(error)
            if fault is SQLiteFault.DAMAGED:
                raise self._damaged(str(error)) from error
            if fault is SQLiteFault.LOCKED:
                raise StoreLockedError(
                    f"another program holds the cache of answers: {error}", path=self._path
                ) from error
            raise StoreError(f"SQLite cannot read or write the cache of answers: {error}", path=self._path) from error

    def _damaged(self, reason: str) -> DamagedFileError:
        return DamagedFileError(
            f"not a cache of answers, or a damaged one ({reason}). Move it away to start with an empty one",
            path=self._path,
        )


class CachedChat:
    """Gives the answer that ``cache`` has to a request, and asks ``model`` once when it has none.

    Threads that ask the same at the same time wait for the first of them to be answered. Only answers that came to
    their end (``finish_reason`` is ``"stop"``) are kept. An answer from the cache has neither usage nor seconds, and 0
    attempts.

    Args:
        model: answers what the cache does not know; requests are kept under its name.
        cache: keeps the answers.
        sampled: whether also requests with a temperature above 0 and no seed are answered from the cache. Such a
            request asks for one answer of many: from a cache every repetition would get the same. Without it, they are
            handed on to ``model`` each time and are not kept.
    """

    def __init__(self, model: ChatModel, cache: ChatCache, *, sampled: bool = False) -> None:
        self._model = model
        self._cache = cache
        self._sampled = sampled
        self._guard = threading.Lock()
        self._turns: dict[str, _Turn] = {}

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self._model.name

    @property
    def concurrency(self) -> int:
        """That of the model behind."""
        return self._model.concurrency

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """See :meth:`worldthread.models.chat.ChatModel.complete`.

        Raises:
            InputError: the request cannot be written as JSON.
            StoreError: the cache cannot be read or written.
        """
        if request.temperature > 0 and request.seed is None and not self._sampled:
            return self._model.complete(request)
        key = request_key(self.name, request)
        with self._turn(key):
            known = self._cache.get(key)
            if known is not None:
                return known
            answer = self._model.complete(request)
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
    """Taken by one after another of the threads that ask the same."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.threads = 0
