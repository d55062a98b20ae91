"""Changes that people make to a memory by hand, each of which can be undone as long as the server runs."""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from worldthread.errors import InputError, NotFoundError
from worldthread.extract.documents import SUFFIXES, load
from worldthread.extract.records import Document
from worldthread.files.paths import write_private_file
from worldthread.graph import TemporalGraph
from worldthread.memory.memory import Memory
from worldthread.retrieve.text import shown_statement
from worldthread.types import Episode, Fact, Statement
from worldthread.web.work import Cancelled, Work

_KEPT: Final = 20  # changes that can be undone
_SHOWN: Final = 50  # texts and statements listed before something is forgotten
_TEXT: Final = 300  # characters of a listed text
SAMPLE: Final = Path(__file__).with_name("sample.jsonl")
"""Letters of an invented family over ten years, to try the page with."""


@dataclass(frozen=True)
class Upload:
    """A text or a file that a person gives.

    Args:
        text: the text, or what is in the file.
        at: its world time, as people write it; empty for now.
        source: where it comes from, or the name of the file.
        is_file: whether it is read as a file of this name, in the formats of `worldthread remember`.
        user: whose text it is, and who says "I" in it; empty for nobody's.
    """

    text: str
    at: str = ""
    source: str = ""
    is_file: bool = False
    user: str = ""

    def documents(self) -> list[Document]:
        """Return what is to be remembered.

        Raises:
            InputError: there is no text, or the file cannot be read in the format that its name tells.
        """
        if not self.text.strip():
            raise InputError("there is no text to remember")
        if not self.is_file:
            return [Document(self.text, None, self.source)]
        suffix = Path(self.source).suffix.lower()
        with tempfile.TemporaryDirectory() as folder:  # the name of the file decides nothing but the format
            path = Path(folder, "upload" + (suffix if suffix in SUFFIXES else ".txt"))
            write_private_file(path, self.text)
            try:
                found = list(load(path))
            except InputError as error:  # the person knows the file by its own name
                raise InputError(str(error).replace(str(path), self.source or "the file")) from None
        if not found:
            raise InputError("there is no text in this file")
        return [replace(one, source=self.source) if one.source == str(path) else one for one in found]


class Edits:
    """Changes one memory, and takes changes back. Thread-safe.

    Args:
        open_memory: opens the memory for writing, and closes it again.
        work: counts what is remembered.
    """

    def __init__(self, open_memory: Callable[[], AbstractContextManager[Memory]], work: Work) -> None:
        self._open_memory = open_memory
        self._work = work
        self._lock = threading.Lock()
        self._undo: OrderedDict[str, Callable[[Memory], None]] = OrderedDict()

    def remember(self, upload: Upload) -> dict[str, Any]:
        """Remember a text or a file.

        Returns:
            ``added``, ``known`` and ``unread`` episodes, how many ``statements`` they make, ``undo``, and whether it
            ``was_cancelled``: then the first texts are remembered.

        Raises:
            InputError: the text, the time or the source cannot be used.
        """
        options = {"at": upload.at or None, "source": upload.source or None, "user": upload.user}
        return self._remembered(upload.documents(), **options)

    def remember_sample(self) -> dict[str, Any]:
        """Remember the sample, as :meth:`remember` does."""
        documents = [replace(one, source="letters") for one in load(SAMPLE)]
        return self._remembered(documents)

    def _remembered(self, documents: Sequence[Document], **options: Any) -> dict[str, Any]:
        with self._open_memory() as memory, self._work.doing("remembering"):
            before = set(memory.record.graph.episodes())
            result = None
            with suppress(Cancelled):
                result = memory.remember_many(documents, **options, progress=self._work.report)
            # others may have recorded something meanwhile, which undo must leave alone
            recorded = memory.record.graph.episodes() if result is None else dict.fromkeys(result.episodes)
            fresh = [id_ for id_ in recorded if id_ not in before]
            if result is None:
                fresh = _passages_of(documents, map(memory.episode, fresh))
            with memory.record.read_lock() as graph:
                statements = {statement.id for id_ in fresh for statement in graph.extracted(id_)}
        return {
            "added": len(fresh),
            "known": result.known if result else 0,
            "unread": result.unread if result else 0,
            "statements": len(statements),
            "was_cancelled": result is None,
            "undo": self._undo_by_forgetting(fresh) if fresh else None,
        }

    def correct(
        self, statement: str, replacement: tuple[str, str, str] | None, reason: str, *, has_changed: bool
    ) -> dict[str, Any]:
        """Record that a statement was never true, or is true no longer.

        Args:
            statement: the id of the statement.
            replacement: subject, relation and object of what was, or is, true instead.
            reason: why, in words.
            has_changed: whether it was true until now; otherwise it never was.

        Returns:
            ``episode``, which records it, and ``undo``.

        Raises:
            InputError: the replacement cannot be used.
            NotFoundError: there is no such statement.
        """
        given = None if replacement is None else Fact(*replacement)
        with self._open_memory() as memory:
            change = memory.update if has_changed else memory.correct
            episode = change(statement, given, reason, source="by hand")
        return {"episode": episode.id, "undo": self._undo_by_forgetting([episode.id])}

    def merge(self, name: str, into: str, reason: str) -> dict[str, Any]:
        """Record that two names mean the same; see :meth:`worldthread.Memory.merge`."""
        with self._open_memory() as memory:
            if not memory.about(into) and not memory.timeline(into):
                raise NotFoundError(f"nothing is known about {into!r}")
            episode = memory.merge(name, into, reason, source="by hand")
        return {"episode": episode.id, "undo": self._undo_by_forgetting([episode.id])}

    def forget(self, episodes: Sequence[str]) -> dict[str, Any]:
        """Forget episodes. Their texts stay in this process until so many other changes followed, for undo.

        Returns:
            ``forgotten``, how many, and ``undo``.

        Raises:
            NotFoundError: one of them is not there; none is forgotten then.
        """
        with self._open_memory() as memory:
            kept = memory.record.forget_many(episodes)
        return {"forgotten": len(kept), "undo": self._keep(lambda memory: _record_again(memory, kept))}

    def undo(self, key: str) -> None:
        """Take a change back.

        Raises:
            NotFoundError: it was taken back before, is too long ago, or the server was started since.
            StoreError: the memory cannot be written now; the change can still be taken back later.
        """
        with self._lock:
            work = self._undo.pop(key, None)
        if work is None:
            raise NotFoundError("this change can no longer be taken back")
        try:
            with self._open_memory() as memory:
                work(memory)
        except BaseException:  # another process is writing, say: what was forgotten must not be lost
            with self._lock:
                self._undo[key] = work
            raise

    def _undo_by_forgetting(self, episodes: Sequence[str]) -> str:
        def forget(memory: Memory) -> None:
            known = set(memory.record.graph.episodes())
            memory.record.forget_many([id_ for id_ in episodes if id_ in known])

        return self._keep(forget)

    def _keep(self, work: Callable[[Memory], None]) -> str:
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._undo[key] = work
            while len(self._undo) > _KEPT:
                self._undo.popitem(last=False)
        return key


def _passages_of(documents: Sequence[Document], episodes: Iterable[Episode]) -> list[str]:
    """Return the ids of the episodes that are passages of some documents."""
    texts: dict[str, str] = {}
    for one in documents:
        texts[one.source] = f"{texts.get(one.source, '')}\n{' '.join(one.text.split())}"
    return [episode.id for episode in episodes if " ".join(episode.said.split()) in texts.get(episode.source, "")]


def _record_again(memory: Memory, episodes: Sequence[Episode]) -> None:
    memory.record.add_many(episodes)


def loss(graph: TemporalGraph, episodes: Sequence[str]) -> dict[str, Any]:
    """Return what would go if episodes were forgotten.

    Args:
        graph: the graph, locked for reading.
        episodes: ids of episodes.

    Returns:
        ``episodes``, all ``ids``, and the first of the ``texts``; ``gone``, the statements that no other episode
        states, and ``back``, those that hold again because what ended them is gone; ``gone_count`` and ``back_count``.
    """
    wanted = set(episodes)
    gone: dict[str, Statement] = {}
    back: dict[str, Statement] = {}
    for id_ in episodes:
        for statement in graph.extracted(id_):
            number = graph.number_of(statement, id_)
            if number is not None and wanted.issuperset(graph.asserting(number)):
                gone[statement.id] = statement
        for statement, _ in graph.ended_by(id_):
            back[statement.id] = statement
    back = {key: statement for key, statement in back.items() if key not in gone}
    return {
        "ids": list(episodes),
        "episodes": len(episodes),
        "gone": [_words(statement) for statement in list(gone.values())[:_SHOWN]],
        "gone_count": len(gone),
        "back": [_words(statement) for statement in list(back.values())[:_SHOWN]],
        "back_count": len(back),
    }


def shown_texts(episodes: Sequence[Episode]) -> list[dict[str, Any]]:
    """Return the beginnings of some episodes for people, with their times."""
    return [{"text": one.text[:_TEXT], "at": one.at, "source": one.source} for one in episodes[:_SHOWN]]


def _words(statement: Statement) -> str:
    return shown_statement(statement)
