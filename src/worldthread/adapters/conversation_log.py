"""The messages of one conversation, as a framework gives them and gets them back, in a memory that reads them."""

from __future__ import annotations

import json
import math
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from worldthread.errors import InputError, NotFoundError
from worldthread.extract.documents import Document
from worldthread.memory.filters import Filter
from worldthread.memory.memory import Memory
from worldthread.provenance import NO_LABELS
from worldthread.types import Episode, Extraction, Recall, TimeLike

_GAP: Final = 0.01  # seconds between two messages; the passages of a long one lie between them
_READ: Final = "read"
_KEPT: Final = "kept"


@dataclass(frozen=True)
class PastMessage:
    """A message for :meth:`ConversationLog.add`.

    Args:
        payload: what the framework gets back; JSON values by key.
        role: who said it; ``None`` for what nobody said, such as a call of a tool: it is kept, and not read.
        text: what was said.
    """

    payload: Mapping[str, Any]
    role: Literal["user", "assistant"] | None = None
    text: str = ""


@dataclass(frozen=True)
class _Seen:
    """How much of a memory was looked at.

    Args:
        graph: the graph.
        numbering: see :class:`~worldthread.graph.TemporalGraph`.
        episodes: how many episodes it had.
        latest: the time of the last one of the conversation.
    """

    graph: object
    numbering: int
    episodes: int
    latest: float


class ConversationLog:
    """One conversation in a memory. What users and assistants say is remembered; everything comes back as it was.

    Thread-safe.

    Args:
        memory: holds the messages, and those of other conversations.
        session: the name of the conversation.
        source: the source of the episodes.
        user: the person who talks; also the name of who says messages of the role "user".
        agent: the agent that takes part.
        clock: returns the time in seconds since 1970-01-01 UTC.
    """

    def __init__(
        self,
        memory: Memory,
        session: str,
        *,
        source: str,
        user: str = "",
        agent: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not isinstance(session, str) or not session:
            raise InputError("a conversation needs a name for its session")
        self.memory = memory
        self.session = session
        self.source = source
        self.user = user
        self.agent = agent
        self.clock = clock
        self._lock = threading.RLock()
        self._seen: _Seen | None = None

    def add(self, messages: Iterable[PastMessage]) -> None:
        """Add messages to the end.

        Args:
            messages: the messages, in order.
        """
        with self._lock:
            prepared = [
                (message, json.dumps(message.payload)) for message in messages
            ]  # ASCII: all comes back as it is
            at = max(self.clock(), self._latest() + _GAP)
            for number, (message, payload) in enumerate(prepared):
                self._add(message, payload, at + number * _GAP)

    def _latest(self) -> float:
        """Return the time of the last episode of this conversation; negative infinity when there is none.

        Only what was recorded since the last call is looked at.
        """
        own = self.source, self.session, self.user
        with self.memory.record.read_lock() as graph:
            seen, count = self._seen, len(graph.episode_numbers)
            numbers: Iterable[int]
            if seen is None or seen.graph is not graph or seen.numbering != graph.numbering:
                numbers, latest = np.flatnonzero(graph.select(self._filter().condition).episodes).tolist(), -math.inf
            else:
                numbers, latest = range(seen.episodes, count), seen.latest
            for number in numbers:
                record = graph.numbered_episode(number)
                labels = NO_LABELS if record is None else record.provenance.labels
                if record is not None and (record.source, labels.session, labels.user) == own:
                    latest = max(latest, record.at)
            self._seen = _Seen(graph, graph.numbering, count, latest)
        return latest

    def _add(self, message: PastMessage, payload: str, at: float) -> None:
        key = uuid.uuid4().hex
        if message.role is not None and message.text.replace("\0", "").strip():
            self.memory.remember(
                Document(_recordable(message.text), at, speaker=message.role, payload=payload),
                source=self.source, user=self.user, agent=self.agent, session=self.session,
                metadata={"message": key, "part": _READ},
            )  # fmt: skip
            return
        kind = _recordable(str(message.payload.get("type", "message")))
        self.memory.record.add(
            Episode(
                f"({kind}) {_recordable(message.text)}".strip(),
                at=at, source=self.source, user=self.user, agent=self.agent, session=self.session,
                extraction=Extraction("conversation_log/1"), metadata={"message": key, "part": _KEPT},
                payload=payload,
            )
        )  # fmt: skip

    def payloads(self, limit: int | None = None) -> list[dict[str, Any]]:
        """Return the messages.

        Args:
            limit: the latest so many; ``None`` for all.

        Returns:
            Their payloads, in order.
        """
        found = list(self._messages().values())
        return [_payload(episode) for episode in (found if limit is None else found[max(0, len(found) - limit) :])]

    def pop(self) -> dict[str, Any] | None:
        """Forget the last message.

        Returns:
            Its payload; ``None`` if there is no message.
        """
        with self._lock:
            found = self._messages()
            if not found:
                return None
            key, episode = list(found.items())[-1]
            self._forget(self._filter() & Filter(metadata={"message": key}))
            return _payload(episode)

    def clear(self) -> None:
        """Forget all messages of this conversation."""
        with self._lock:
            self._forget(self._filter())

    def recall(self, query: str, *, k: int = 5, as_of: TimeLike | None = None, max_tokens: int = 1000) -> Recall:
        """Find what this user, in any conversation, and everything else in the memory says to a question.

        Args:
            query: the question.
            k: the maximum number of hits of each kind.
            as_of: a world time; ``None`` for now.
            max_tokens: the limit of the text.

        Returns:
            What was found. With a user, what other users said is left out.
        """
        where = ~Filter(metadata={"part": _KEPT})
        if self.user:
            where &= Filter(user=[self.user, ""])
        return self.memory.recall(query, k=k, as_of=as_of, max_tokens=max_tokens, where=where)

    def _filter(self) -> Filter:
        return Filter(source=self.source, session=self.session, user=self.user)

    def _episodes(self) -> Iterable[Episode]:
        return (episode for episode in self.memory.episodes(self._filter()) if "message" in episode.metadata)

    def _messages(self) -> dict[str, Episode]:
        found: dict[str, Episode] = {}
        for episode in self._episodes():  # a long message has several episodes, the first of which has the payload
            found.setdefault(str(episode.metadata["message"]), episode)
        return found

    def _forget(self, where: Filter) -> None:
        try:
            self.memory.forget(where=where)
        except NotFoundError:
            return


def _payload(episode: Episode) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(episode.payload)
    return payload


def _recordable(text: str) -> str:
    return text.replace("\0", "\ufffd")
