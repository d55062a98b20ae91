"""Answers of chat models by request, so that none is paid for twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from worldthread.caches import Cache, open_cache
from worldthread.errors import DamagedFileError
from worldthread.files.decoding import convert
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest, WrappedChat
from worldthread.models.request_key import recorded_answer, request_key, to_json
from worldthread.support.closeable import Closeable


class KeptAnswers(Closeable):
    """Answers by the key of the request (:func:`~worldthread.models.request_key.request_key`), in a cache.

    The cache holds the texts of answers, but only the keys of requests. Thread-safe.

    Args:
        cache: holds them; it is closed with this.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def get(self, key: str) -> ChatAnswer | None:
        """Look up an answer.

        Args:
            key: key of the request.

        Returns:
            The answer, with no usage, no seconds and 0 attempts; ``None`` if there is none.

        Raises:
            DamagedFileError: the entry is not an answer, or the file is damaged.
            StoreError: the cache cannot be read.
            ClosedError: the cache was closed.
        """
        value = self._cache.get([key]).get(key)
        if value is None:
            return None
        try:
            kept = convert(json.loads(value), _KeptAnswer)
        except (ValueError, TypeError, RecursionError) as error:
            raise DamagedFileError(
                f"the entry {key} is not an answer ({error}): empty the cache", path=self._cache.address
            ) from error
        return ChatAnswer(kept.text, model=kept.model, finish_reason=kept.finish_reason, attempts=0)

    def put(self, key: str, answer: ChatAnswer) -> None:
        """Store an answer, unless the key has one already.

        Args:
            key: key of the request.
            answer: its text, model and finish reason are stored.

        Raises:
            StoreError: the cache cannot be written.
            ClosedError: the cache was closed.
        """
        content = {"text": answer.text, "model": answer.model, "finish_reason": answer.finish_reason}
        self._cache.put({key: to_json(content)})

    def __len__(self) -> int:
        """Return the number of stored answers."""
        return len(self._cache)

    def clear(self) -> None:
        """Remove all answers; their texts are overwritten in a file."""
        self._cache.clear()

    def close(self) -> None:
        """Close the cache. May be called again."""
        self._cache.close()


def answers_in_file(path: str | Path) -> KeptAnswers:
    """Open answers in an SQLite file, which is made, with its folder, if it does not exist.

    Args:
        path: the file.

    Returns:
        The answers; close them, or use them as a context manager.

    Raises:
        StoreError: the file cannot be used; it was not touched.
    """
    return KeptAnswers(open_cache(f"sqlite:{path}", "answers"))


class CachedChat(WrappedChat):
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

    def __init__(self, model: ChatModel, cache: KeptAnswers, *, sampled: bool = False) -> None:
        super().__init__(model)
        self._cache = cache
        self._sampled = sampled
        self._guard = threading.Lock()
        self._turns: dict[str, _Turn] = {}

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


class _KeptAnswer(msgspec.Struct, forbid_unknown_fields=True):
    text: str
    model: str
    finish_reason: str


class _Turn:
    """The lock of threads that make the same request, and how many of them there are."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.threads = 0
