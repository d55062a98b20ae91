"""Remembers the files of other programs: conversations as people have them, and dumps of other memories."""

from __future__ import annotations

import importlib
import math
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Final, get_args

from worldthread.errors import FormatError, InputError
from worldthread.extract.documents import Document
from worldthread.extract.when import counts_turns, require_time_of_saying, world_time
from worldthread.memory.filters import Filter
from worldthread.memory.memory import Memory
from worldthread.moving import mem0
from worldthread.moving.base import MAX_DUMP_BYTES, DateOrder, Dump, DumpItem, LeftOut
from worldthread.moving.cogx_archive import is_archive, is_archive_folder, read_folder
from worldthread.moving.files import files_of
from worldthread.provenance import MetadataValue, require_label, require_metadata
from worldthread.support.arguments import require_path
from worldthread.support.progress import Progress
from worldthread.support.text import cut
from worldthread.types import Ending, Episode, Extraction

FORMATS: Final[dict[str, str]] = {
    "chatgpt": "worldthread.moving.chatgpt",
    "claude": "worldthread.moving.claude",
    "whatsapp": "worldthread.moving.whatsapp",
    "mem0": "worldthread.moving.mem0",
    "langgraph": "worldthread.moving.langgraph_items",
    "zep": "worldthread.moving.zep",
    "graphiti": "worldthread.moving.graphiti",
    "letta": "worldthread.moving.letta",
    "cogx": "worldthread.moving.cogx",
}
"""The module of each format: ``detect`` says whether a file has it, ``read`` yields what the file holds."""

AUTO: Final = "auto"
"""Instead of the name of a format: the format is found by looking into the file."""

_TWICE: Final = "twice in the file"
_NO_SUCH_TIME: Final = "with a time that cannot be meant"


@dataclass(frozen=True)
class DumpImport:
    """What :func:`import_dump` did with a file.

    Args:
        format: the format of the file.
        messages: how many messages or facts the file has: ``remembered`` and all of ``left_out``.
        remembered: how many of them the memory has now.
        left_out: how many of them it has not, by reason.
        added: how many passages are new; a long message has several.
        known: how many passages the memory had before.
        unread: how many of the new passages could not be read; :meth:`Memory.retry` reads them again.
        problems: why they could not be read, and what is damaged in the file, each reason once.
    """

    format: str
    messages: int
    remembered: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    added: int = 0
    known: int = 0
    unread: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class DumpContents:
    """A file of another program, checked as a whole.

    Args:
        format: the format of the file.
        messages: how many messages or facts the file has.
        contents: those that can be remembered, each once.
        left_out: how many cannot, by reason.
        problems: what is damaged in the file, each once.
        path: the file.
    """

    format: str
    messages: int
    contents: tuple[Document | Episode, ...]
    left_out: Mapping[str, int]
    problems: tuple[str, ...] = ()
    path: Path = Path()


def read_dump(
    file: str | os.PathLike[str],
    format: str = AUTO,
    *,
    user: str = "",
    session: str = "",
    metadata: Mapping[str, MetadataValue] | None = None,
    date_order: DateOrder | None = None,
) -> DumpContents:
    """Read and check a file of another program, without remembering anything.

    Args:
        file: the file, of at most 512 MiB; or a ZIP archive or a folder with several, of which nothing is unpacked onto
            the disk, and files that are no conversations are counted; for COGX also the folder that cognee writes.
        format: one of :data:`FORMATS`, or ``"auto"``.
        user: the person whose memory it becomes; also the name of who says messages of the role "user". Empty to take
            what the file says.
        session: the session of everything in the file; empty to take what the file says: the conversation, the run,
            the namespace, the group, or for WhatsApp the name of the file.
        metadata: is added to everything in the file.
        date_order: how a WhatsApp export writes dates; ``None`` to decide from all dates of the file.

    Returns:
        What the file holds, for :func:`import_dump`.

    Raises:
        FormatError: the file does not have the format; the message names the place.
        InputError: an argument cannot be used, or nothing tells how the file writes dates.
        StoreError: the file cannot be read.
    """
    dumps = _opened(file, user, session, metadata, date_order)
    contents: dict[Document | str, Document | Episode] = {}
    left_out: Counter[str] = Counter()
    problems: dict[str, None] = {}
    messages = 0
    name, items = _items(dumps, format)
    for item in items:
        messages += 1
        if isinstance(item, LeftOut):
            left_out[item.reason] += 1
            if item.problem:
                problems[item.problem] = None
            continue
        key = item.id if isinstance(item, Episode) else item
        if key in contents:
            left_out[_TWICE] += 1
        else:
            contents[key] = item
    found = DumpContents(
        name, messages, tuple(contents.values()), dict(sorted(left_out.items())), tuple(problems),
        require_path(file, "the file to import"),
    )  # fmt: skip
    is_dated = any(one.at is not None and not counts_turns(one.at) for one in found.contents)
    return _of_one_clock(found, turns=not is_dated)


def _of_one_clock(found: DumpContents, *, turns: bool) -> DumpContents:
    """Return the contents without those whose times cannot be meant, which are counted.

    Args:
        found: the contents of a file.
        turns: whether times are turns rather than dates.

    Raises:
        FormatError: no content has a time that can be meant.
    """
    kept: list[Document | Episode] = []
    problems: dict[str, None] = {}
    for one in found.contents:
        try:
            _require_times(one, turns=turns)
        except InputError as error:
            problems[f"{cut(one.text, 60, '...')!r}: {error}"] = None
        else:
            kept.append(one)
    if len(kept) == len(found.contents):
        return found
    if not kept:
        raise FormatError(f"no message has a time that can be meant: {next(iter(problems))}", path=found.path)
    left_out = {**found.left_out, _NO_SUCH_TIME: len(found.contents) - len(kept)}
    return replace(
        found, contents=tuple(kept), left_out=dict(sorted(left_out.items())),
        problems=(*found.problems, *(f"{found.path}: {problem}" for problem in problems)),
    )  # fmt: skip


def _require_times(content: Document | Episode, *, turns: bool) -> None:
    """Check the times of a content of a file.

    Raises:
        InputError: one of them cannot be meant.
    """
    if content.at is not None:
        world_time(content.at, 0.0)
        require_time_of_saying(content.at, time.time(), turns)
    if isinstance(content, Episode):
        for one in content.extraction.statements:
            world_time(one.valid_from, 0.0)
            world_time(one.valid_to, 0.0)
        for ending in content.extraction.endings:
            world_time(ending.at, 0.0)


def _items(dumps: Sequence[Dump], format: str) -> tuple[str, Iterable[DumpItem]]:
    """Return the name of the format of one or several files, and what they hold."""
    if len(dumps) == 1:
        name = _format_of(dumps[0], format)
        return name, _reader(name).read(dumps[0])
    named: dict[str, list[Dump]] = {}
    others: list[DumpItem] = []
    for dump in dumps:
        try:
            named.setdefault(_format_of(dump, AUTO), []).append(dump)
        except FormatError as error:
            others.append(LeftOut("in files that are no conversations", str(error) if _is_chat(dump) else ""))
    names = [name for name in FORMATS if name in named and format in (AUTO, name)]
    if not names:
        raise FormatError(
            f"none of its files is a conversation or a memory; formats are: {', '.join(FORMATS)}",
            path=dumps[0].path.parent,
        )
    found = others
    failures: list[FormatError] = []
    for name in names:
        for dump in named[name]:
            try:
                found += _reader(name).read(dump)
            except FormatError as error:
                failures.append(error)
                found.append(LeftOut("in damaged files", str(error)))
    if len(failures) == sum(len(named[name]) for name in names):
        raise failures[0]
    return names[0] if len(names) == 1 else AUTO, found


def _is_chat(dump: Dump) -> bool:
    return dump.path.name in ("conversations.json", "_chat.txt")


def import_dump(
    memory: Memory,
    dump: DumpContents | str | os.PathLike[str],
    format: str = AUTO,
    *,
    user: str = "",
    session: str = "",
    metadata: Mapping[str, MetadataValue] | None = None,
    date_order: DateOrder | None = None,
    progress: bool | Progress | None = None,
) -> DumpImport:
    """Remember a file of another program.

    The whole file is read and checked first: what is damaged in it is left out and counted, and if nothing else is in
    it, nothing is remembered. Then everything is recorded in batches. After a kill, import the same file again: what
    is recorded already is skipped.

    Args:
        memory: remembers the file.
        dump: the file; or what :func:`read_dump` returned, without further arguments.
        format: see :func:`read_dump`, like the following.
        user: see :func:`read_dump`.
        session: see :func:`read_dump`.
        metadata: see :func:`read_dump`.
        date_order: see :func:`read_dump`.
        progress: see :meth:`Memory.remember_many`.

    Returns:
        What was remembered and what was left out.

    Raises:
        FormatError: the file does not have the format, or no time in it can be one of this memory; the message names
            the place. Nothing was remembered.
        InputError: an argument cannot be used, or nothing tells how the file writes dates.
        StoreError: the file cannot be read.
        ReadOnlyError: the memory was opened for reading only.
    """
    if isinstance(dump, DumpContents):
        found = dump
    else:
        found = read_dump(dump, format, user=user, session=session, metadata=metadata, date_order=date_order)
    turns = counts_turns(memory.record.graph.latest_time)
    if turns is not None:
        found = _of_one_clock(found, turns=turns)
    try:
        done = memory.remember_many(found.contents, progress=progress)
    except InputError as error:  # what only the memory knows, such as another present
        raise FormatError(str(error), path=found.path) from error
    for content in found.contents:
        if isinstance(content, Document) and content.source == mem0.SOURCE and mem0.EXPIRY in content.metadata:
            _end_expired(memory, content)
    return DumpImport(
        found.format, found.messages, len(found.contents), found.left_out,
        done.added, done.known, done.unread, tuple(dict.fromkeys(found.problems + done.problems)),
    )  # fmt: skip


def _end_expired(memory: Memory, content: Document) -> None:
    """Let what a memory of mem0 states end when it expired, if it has."""
    try:
        ended = world_time(str(content.metadata[mem0.EXPIRY]), math.inf)
    except InputError:  # no time that we know: it stays in the metadata
        return
    if content.at is None or not content.at < ended <= time.time():
        return
    read = memory.episodes(
        Filter(source=mem0.SOURCE, user=content.user, metadata={"memory": content.metadata["memory"]})
    )
    stated = dict.fromkeys(statement for episode in read for statement in episode.extraction.statements)
    if stated:
        endings = tuple(Ending(statement, "it expired") for statement in stated)
        memory.record.add(
            Episode(
                f"The memory {content.metadata['memory']} has expired.", ended, mem0.SOURCE,
                Extraction("given/1", (), endings), user=content.user, agent=content.agent, session=content.session,
            )
        )  # fmt: skip


def _opened(
    file: str | os.PathLike[str],
    user: str,
    session: str,
    metadata: Mapping[str, MetadataValue] | None,
    date_order: DateOrder | None,
) -> list[Dump]:
    """Read a file, or the files of an archive or a folder, after all arguments are checked."""
    path = require_path(file, "the file to import")
    require_label(user, "the user")
    require_label(session, "the session")
    checked = require_metadata(metadata)
    if date_order is not None and date_order not in get_args(DateOrder):
        raise InputError(f"date_order must be {' or '.join(get_args(DateOrder))}, not {date_order!r}")
    if is_archive_folder(path):
        return [Dump(read_folder(path, MAX_DUMP_BYTES), path, user, session, checked, date_order)]
    found = list(files_of(path))
    return [Dump(data, place, user, session, checked, date_order) for place, data in found]


def _reader(name: str) -> ModuleType:
    return importlib.import_module(FORMATS[name])


def _format_of(dump: Dump, format: str) -> str:
    """Return the name of the format of a file."""
    if format in FORMATS:
        return format
    if format != AUTO:
        raise InputError(f"{format!r} is not a format; formats are: {', '.join((AUTO, *FORMATS))}")
    name = next(_detected(dump), None)
    if name is None:
        raise FormatError(
            f"the format is not recognised; name it, or convert the file; formats are: {', '.join(FORMATS)}",
            path=dump.path,
        )
    return name


def _detected(dump: Dump) -> Iterator[str]:
    """Yield the names of the formats that the file seems to have."""
    if is_archive(dump.data):
        yield "cogx"
        return
    is_json = dump.data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    if _reader("whatsapp").detect(dump):
        yield "whatsapp"
    elif is_json:
        yield from (name for name in FORMATS if name not in ("whatsapp", "cogx") and _reader(name).detect(dump))
