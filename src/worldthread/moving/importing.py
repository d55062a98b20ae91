"""Remembers the files of other programs: conversations as people have them, and dumps of other memories."""

from __future__ import annotations

import importlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Final, get_args

from worldthread.arguments import require_path
from worldthread.errors import FormatError, InputError, StoreError
from worldthread.extract.documents import Document
from worldthread.memory import Memory
from worldthread.moving.base import MAX_DUMP_BYTES, DateOrder, Dump, LeftOut
from worldthread.moving.cogx_archive import is_archive, is_archive_folder, read_folder
from worldthread.progress import Progress
from worldthread.provenance import MetadataValue, require_label, require_metadata
from worldthread.regular_files import open_regular
from worldthread.types import Episode

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
        problems: why they could not be read, each reason once.
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
    """

    format: str
    messages: int
    contents: tuple[Document | Episode, ...]
    left_out: Mapping[str, int]


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
        file: the file, of at most 512 MiB; for COGX also the folder that cognee writes.
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
    dump = _opened(file, user, session, metadata, date_order)
    name = _format_of(dump, format)
    contents: dict[Document | str, Document | Episode] = {}
    left_out: Counter[str] = Counter()
    messages = 0
    for item in _reader(name).read(dump):
        messages += 1
        if isinstance(item, LeftOut):
            left_out[item.reason] += 1
            continue
        key = item.id if isinstance(item, Episode) else item
        if key in contents:
            left_out[_TWICE] += 1
        else:
            contents[key] = item
    return DumpContents(name, messages, tuple(contents.values()), dict(sorted(left_out.items())))


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

    The whole file is read and checked first: if it is damaged, nothing is remembered. Then everything is recorded in
    batches. After a kill, import the same file again: what is recorded already is skipped.

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
        FormatError: the file does not have the format; the message names the place. Nothing was remembered.
        InputError: an argument cannot be used, or nothing tells how the file writes dates.
        StoreError: the file cannot be read.
        ReadOnlyError: the memory was opened for reading only.
    """
    if isinstance(dump, DumpContents):
        found = dump
    else:
        found = read_dump(dump, format, user=user, session=session, metadata=metadata, date_order=date_order)
    done = memory.remember_many(found.contents, progress=progress)
    return DumpImport(
        found.format, found.messages, len(found.contents), found.left_out,
        done.added, done.known, done.unread, done.problems,
    )  # fmt: skip


def _opened(
    file: str | os.PathLike[str],
    user: str,
    session: str,
    metadata: Mapping[str, MetadataValue] | None,
    date_order: DateOrder | None,
) -> Dump:
    """Read a file, after all arguments are checked."""
    path = require_path(file, "the file to import")
    require_label(user, "the user")
    require_label(session, "the session")
    checked = require_metadata(metadata)
    if date_order is not None and date_order not in get_args(DateOrder):
        raise InputError(f"date_order must be {' or '.join(get_args(DateOrder))}, not {date_order!r}")
    if is_archive_folder(path):
        return Dump(read_folder(path, MAX_DUMP_BYTES), path, user, session, checked, date_order)
    try:
        with open_regular(path, max_bytes=MAX_DUMP_BYTES) as stream:
            data = stream.read(MAX_DUMP_BYTES + 1)
    except OSError as error:
        raise StoreError(f"the file cannot be read: {error.strerror or error}", path=path) from error
    if data.startswith(b"PK\x03\x04"):
        raise FormatError("this is a ZIP archive: unpack it, and import the file of conversations in it", path=path)
    return Dump(data, path, user, session, checked, date_order)


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
