"""Items by path whose versions are episodes: what stores, vector stores and folders of files are built on."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from worldthread.errors import InputError, NotFoundError
from worldthread.memory.filters import Filter
from worldthread.memory.memory import Memory
from worldthread.provenance import MetadataValue
from worldthread.types import Ending, Episode, Extraction, Fact, TimeLike, Version

_EXTRACTOR: Final = "keyed/1"
_VERSION: Final = "has version"
_EXPIRY: Final = "expires at"
_GAP: Final = 1e-6  # seconds between two versions of one item, where the clock did not move on
_PAGE: Final = 1000
_BY_SIMILARITY: Final = "dense"  # scores every episode


@dataclass(frozen=True)
class KeyedItem:
    """One version of an item.

    Args:
        path: where the item is, outermost folder first.
        text: what is searched.
        value: what the item carries beside its text; JSON values by key.
        searchable: whether :meth:`KeyedEpisodes.search` finds it.
        ttl: seconds from the last use to the expiry; ``None`` for an item that does not expire.
        created: when the first version of the item was written, in seconds since 1970-01-01 UTC.
        updated: when this version was written.
        expires: when the item expires, if it is not used before; ``None`` for never.
        score: how well it fits the question of a search.
        episode: the id of the episode of this version.
    """

    path: tuple[str, ...]
    text: str
    value: dict[str, Any] = field(default_factory=dict)
    searchable: bool = True
    ttl: float | None = None
    created: float = 0.0
    updated: float = 0.0
    expires: float | None = None
    score: float | None = None
    episode: str = ""


class KeyedEpisodes:
    """The items of one source in a memory. Every version of an item is an episode, and the latest one holds.

    An episode states that its item has this version, so the fold ends the version before: a search finds what holds,
    a search ``as_of`` a time what held then, and forgetting an episode brings back the version before it. Thread-safe.

    Args:
        memory: holds the episodes; it can hold others beside them.
        source: the source of the episodes; items of different sources do not see each other.
        keep_versions: keep the earlier versions of an item, for questions about the past; else they are forgotten.
        clock: returns the time in seconds since 1970-01-01 UTC.
    """

    def __init__(
        self, memory: Memory, source: str, *, keep_versions: bool = True, clock: Callable[[], float] = time.time
    ) -> None:
        self.memory = memory
        self.source = source
        self.clock = clock
        self._keep_versions = keep_versions
        self._lock = threading.RLock()

    # -- reading ----------------------------------------------------------------------------------------------------

    def get(self, path: Sequence[str], *, as_of: TimeLike | None = None) -> KeyedItem | None:
        """Return the item of a path.

        Args:
            path: where the item is.
            as_of: a world time; ``None`` for now.

        Returns:
            The item; ``None`` if there is none, or if it has expired.
        """
        stated = self.memory.about(_name(self.source, path), as_of=as_of)
        held = [version for version in stated if _relation(version) == _VERSION]
        if not held:
            return None
        item = self._item(max(held, key=lambda version: version.interval.valid_from))
        return None if item is None or (as_of is None and self._has_expired(item)) else item

    def list_items(self, prefix: Sequence[str] = (), *, as_of: TimeLike | None = None) -> list[KeyedItem]:
        """List the items below a path.

        Args:
            prefix: the path; the item at the path itself is listed too.
            as_of: a world time; ``None`` for now.

        Returns:
            The items, the one written last first.
        """
        found = [item for version in self._versions(prefix, _VERSION, as_of) if (item := self._item(version))]
        held = [item for item in found if as_of is not None or not self._has_expired(item)]
        return sorted(held, key=lambda item: (-item.updated, item.path))

    def search(
        self,
        query: str,
        prefix: Sequence[str] = (),
        *,
        k: int,
        method: str | None = None,
        as_of: TimeLike | None = None,
        fits: Callable[[KeyedItem], bool] = lambda item: True,
    ) -> list[KeyedItem]:
        """Find the items below a path that fit a question best.

        Args:
            query: the question.
            prefix: the path.
            k: how many at most.
            method: see :meth:`Memory.recall`.
            as_of: a world time; ``None`` for now.
            fits: which items may be found.

        Returns:
            The items with their scores, best first. Items that the method leaves out, since nothing in them has to do
            with the question, come after all others, in the order of the similarity of their vectors and without score.
        """
        found = self._recalled(query, prefix, k, method, as_of, fits)
        if len(found) < k and method != _BY_SIMILARITY:
            known = {item.path for item in found}
            others = self._recalled(query, prefix, k, _BY_SIMILARITY, as_of, fits)
            found += [replace(item, score=None) for item in others if item.path not in known]
        return found[:k]

    def _recalled(
        self,
        query: str,
        prefix: Sequence[str],
        k: int,
        method: str | None,
        as_of: TimeLike | None,
        fits: Callable[[KeyedItem], bool],
    ) -> list[KeyedItem]:
        where = self._filter(prefix) & Filter(metadata={"searchable": True})
        wanted = k
        while True:
            hits = self.memory.recall(
                query, kinds=["episode"], k=wanted, where=where, method=method, as_of=as_of, max_tokens=1
            ).episodes
            items = [replace(_item_of(hit.item), score=hit.score) for hit in hits if isinstance(hit.item, Episode)]
            found = [item for item in items if (as_of is not None or not self._has_expired(item)) and fits(item)]
            if len(found) >= k or len(hits) < wanted:
                return found[:k]
            wanted *= 4

    # -- writing ----------------------------------------------------------------------------------------------------

    def put(
        self, items: Iterable[KeyedItem], *, ended: Iterable[Sequence[str]] = (), reason: str = ""
    ) -> list[KeyedItem]:
        """Write items, and end others, in one transaction.

        Args:
            items: each is the new version of the item at its path. Their times are set here; ``created`` counts for a
                path without an item, if it is given.
            ended: paths of items that are no longer there. What was there before stays in the record; without
                ``keep_versions`` it is forgotten.
            reason: why they are no longer there, in words.

        Returns:
            The items as written.

        Raises:
            InputError: an item has no path, or carries something that is not JSON; then nothing is written.
        """
        with self._lock:
            written = [self._dated(item) for item in items]
            gone = [item for path in ended if (item := self.get(path))]
            episodes = [_episode(item, self.source) for item in written]
            endings = [self._ending(item, reason) for item in gone] if self._keep_versions else []
            self.memory.record.add_many([*episodes, *endings])
            if not self._keep_versions:
                for item in written:
                    self._forget(self._filter_of_item(item.path) & Filter(until=item.updated))
                for item in gone:
                    self.forget(item.path)
        return [replace(item, episode=episode.id) for item, episode in zip(written, episodes, strict=True)]

    def _ending(self, item: KeyedItem, reason: str) -> Episode:
        after = self._dated(replace(item, text=reason, value={}, searchable=False, ttl=None))
        endings = tuple(Ending(statement, reason) for statement in _statements(item, self.source))
        return replace(_episode(after, self.source), extraction=Extraction(_EXTRACTOR, (), endings))

    def forget(self, path: Sequence[str], *, below: bool = False) -> bool:
        """Remove an item with all its versions, as if it had never been written.

        Args:
            path: where the item is.
            below: remove all items below the path too.

        Returns:
            Whether there was anything.
        """
        with self._lock:
            return self._forget(self._filter(path) if below else self._filter_of_item(path))

    def touch(self, item: KeyedItem) -> None:
        """Let an item that expires last its full time from now on.

        Args:
            item: the item.
        """
        if item.ttl is None or self.memory.readonly:
            return
        with self._lock:
            try:
                episode = self.memory.episode(item.episode)
            except NotFoundError:  # forgotten in the meantime
                return
            expires = self.clock() + item.ttl
            if _item_of(episode).expires != expires:
                statements = _statements(replace(_item_of(episode), expires=expires), self.source)
                self.memory.record.replace(replace(episode, extraction=Extraction(_EXTRACTOR, statements)))

    def sweep(self) -> int:
        """Forget the items that have expired.

        Returns:
            How many there were.
        """
        with self._lock:
            found = {item.path: item for v in self._versions((), _EXPIRY, None) if (item := self._item(v))}
            return sum(self.forget(path) for path, item in found.items() if self._has_expired(item))

    # -- within -----------------------------------------------------------------------------------------------------

    def _versions(self, prefix: Sequence[str], relation: str, as_of: TimeLike | None) -> Iterable[Version]:
        where = self._filter(prefix) & Filter(relation=relation)
        cursor = None
        while True:
            page = self.memory.list_statements(where, as_of=as_of, limit=_PAGE, cursor=cursor)
            yield from (version for version in page.items if _relation(version) == relation)
            cursor = page.cursor
            if cursor is None:
                return

    def _item(self, version: Version) -> KeyedItem | None:
        for source in reversed(version.sources):
            try:
                return _item_of(self.memory.episode(source))
            except NotFoundError:  # another process forgot it
                continue
        return None

    def _has_expired(self, item: KeyedItem) -> bool:
        return item.expires is not None and item.expires <= self.clock()

    def _dated(self, item: KeyedItem) -> KeyedItem:
        now = self.clock()
        history = [v for v in self.memory.timeline(_name(self.source, item.path)) if _relation(v) == _VERSION]
        ends = (v.interval.valid_from if v.interval.is_open else v.interval.valid_to for v in history)
        at = max([now, *(end + _GAP for end in ends)])  # later than all before, also when the clock was set back
        present = self.get(item.path)
        created = present.created if present else item.created or at
        return replace(item, created=created, updated=at, expires=None if item.ttl is None else now + item.ttl)

    def _filter(self, prefix: Sequence[str]) -> Filter:
        levels = Filter(metadata={f"level {number}": part for number, part in enumerate(prefix)})
        return Filter(source=self.source) & levels if prefix else Filter(source=self.source)

    def _filter_of_item(self, path: Sequence[str]) -> Filter:
        return Filter(source=self.source, metadata={"path": json.dumps(list(path))})

    def _forget(self, where: Filter) -> bool:
        try:
            return self.memory.forget(where=where) > 0
        except NotFoundError:
            return False


def require_json(value: Any) -> None:
    """Raise InputError unless a value consists of JSON values, with keys that have an order."""
    try:
        json.dumps(value, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"what an item carries must be JSON values, with texts as keys: {error}") from None


def _name(source: str, path: Sequence[str]) -> str:
    """Return the name of an item in the graph: readable, and another one for every path, whatever its letters."""
    digest = hashlib.blake2b(json.dumps([source, *path]).encode(), digest_size=8).hexdigest()
    readable = "".join(letter if letter.isprintable() else "?" for letter in "/".join(path))[:80].strip()
    return f"{readable} #{digest}"


def _relation(version: Version) -> str:
    statement = version.statement
    return statement.relation if isinstance(statement, Fact) else ""


def _statements(item: KeyedItem, source: str) -> tuple[Fact, ...]:
    name = _name(source, item.path)
    content = json.dumps([item.text, item.value, item.updated], sort_keys=True)
    digest = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
    version = Fact(name, _VERSION, digest, aspect=f"version of {name}")
    if item.expires is None:
        return (version,)
    # in words, not as the end of an interval: "now" is the time of the latest episode, and expiry goes by the clock
    return (version, Fact(name, _EXPIRY, repr(item.expires), aspect=f"expiry of {name}"))


def _episode(item: KeyedItem, source: str) -> Episode:
    """Return the episode of a version; what its text cannot hold goes into its payload."""
    if not item.path:
        raise InputError("an item needs a path")
    require_json(item.value)
    text = item.text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    carried: dict[str, Any] = {"value": item.value} if item.value else {}
    if text != item.text or not text.strip():
        carried["text"] = item.text
        text = text if text.strip() else "(empty)"
    payload = json.dumps(carried)  # ASCII: half a character and NUL survive
    metadata: dict[str, MetadataValue] = {
        **{f"level {number}": part for number, part in enumerate(item.path)},
        "path": json.dumps(list(item.path)),
        "created": item.created,
        "searchable": item.searchable,
    }
    if item.ttl is not None:
        metadata["ttl"] = item.ttl
    extraction = Extraction(_EXTRACTOR, _statements(item, source))
    return Episode(text, at=item.updated, source=source, extraction=extraction, metadata=metadata, payload=payload)


def _item_of(episode: Episode) -> KeyedItem:
    """Return the version that an episode of :func:`_episode` holds."""
    text, metadata = episode.text, episode.metadata
    carried = json.loads(episode.payload)
    expiry = [s.object for s in episode.extraction.statements if isinstance(s, Fact) and s.relation == _EXPIRY]
    return KeyedItem(
        path=tuple(json.loads(str(metadata["path"]))),
        text=carried.get("text", text),
        value=carried.get("value", {}),
        searchable=bool(metadata["searchable"]),
        ttl=float(metadata["ttl"]) if "ttl" in metadata else None,
        created=float(metadata["created"]),
        updated=episode.at,
        expires=float(expiry[0]) if expiry else None,
        episode=episode.id,
    )
