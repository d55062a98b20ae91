"""Remembers what was sent, once, even if it was sent twice."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from worldthread.memory.filters import Filter
from worldthread.memory.memory import Memory
from worldthread.provenance import REQUEST_LABELS, client_metadata
from worldthread.schemas.results import RememberResult
from worldthread.service.problems import ProblemError
from worldthread.service.requests import RememberMessages, RememberText, RememberTriples
from worldthread.types import TimeLike

KEY, _DIGEST, _TIME = REQUEST_LABELS
_REUSED: Final = "this Idempotency-Key was used for another request: take a new key for each thing to remember"
_BUSY: Final = "a request with this Idempotency-Key is being worked on: send it again when that has ended"
_KEPT: Final = 10_000

Remember = RememberText | RememberMessages | RememberTriples


class IdempotencyKeys:
    """Knows which keys are being worked on, and which were used for what. Thread-safe.

    The record itself keeps the key with the episodes, so a request is recognised after a restart too, and by another
    service on the same server. This object answers sooner, and keeps two requests apart that come at the same time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[tuple[str, str]] = set()
        self._used: OrderedDict[tuple[str, str], str] = OrderedDict()

    @contextmanager
    def holding(self, namespace: str, key: str, digest: str) -> Iterator[None]:
        """Work on a key alone.

        Args:
            namespace: the memory.
            key: the key.
            digest: what is asked with it.

        Yields:
            Nothing.

        Raises:
            ProblemError: somebody else works on it, or it was used for something else.
        """
        place = namespace, key
        with self._lock:
            if self._used.get(place, digest) != digest:
                raise ProblemError(409, _REUSED)
            if place in self._running:
                raise ProblemError(409, _BUSY, Retry_After="1")
            self._running.add(place)
        try:
            yield
            with self._lock:
                self._used[place] = digest
                self._used.move_to_end(place)
                if len(self._used) > _KEPT:
                    self._used.popitem(last=False)
        finally:
            with self._lock:
                self._running.discard(place)


def digest_of(body: Remember) -> str:
    """Return a digest of what is asked."""
    document = json.dumps(body.model_dump(), sort_keys=True)  # numbers of any size may stand in further fields
    return hashlib.blake2b(document.encode(), digest_size=16).hexdigest()


def remember(
    memory: Memory,
    body: Remember,
    key: str | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> tuple[RememberResult, bool]:
    """Remember what a request brings.

    Args:
        memory: the memory, open for writing.
        body: the request.
        key: its idempotency key, which the caller holds; ``None`` for none.
        progress: see :meth:`~worldthread.Memory.remember_many`.

    Returns:
        What was recorded, and whether the same had been recorded before with this key.

    Raises:
        ProblemError: the key was used for another request.
        InputError: the content cannot be remembered, or its metadata would pass for the key of a request.
    """
    at: TimeLike | None = body.at
    metadata = client_metadata(body.metadata)
    is_repeated = False
    if key is not None:
        digest = digest_of(body)
        before = next(iter(memory.episodes(Filter(metadata={KEY: key}))), None)
        if before is not None:
            labels = before.metadata
            if labels.get(_DIGEST) != digest:
                raise ProblemError(409, _REUSED)
            is_repeated = True
            at = labels.get(_TIME, at)  # of the first request, so that its passages are recognised
        elif at is None:
            at = memory.record.graph.recorded_time(time.time())
        metadata |= {KEY: key, _DIGEST: digest}
        if body.at is None and isinstance(at, int | float):
            metadata[_TIME] = float(at)
    remembered = memory.remember_many(
        [body.content()], at, body.source or None, user=body.user, agent=body.agent, session=body.session,
        metadata=metadata, progress=progress or False,
    )  # fmt: skip
    return RememberResult.model_validate(remembered, from_attributes=True), is_repeated
