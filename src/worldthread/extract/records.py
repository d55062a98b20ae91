"""Takes documents and messages from JSON values, in the forms that data sets and the exports of chat tools share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from worldthread.errors import InputError
from worldthread.extract.when import world_time
from worldthread.files.foreign_json import write_json
from worldthread.provenance import MOST_KEYS, NO_METADATA, Metadata, MetadataValue, metadata_value
from worldthread.types import short_repr

OWN_EXPORT: Final = "worldthread-episodes"
"""The field ``format`` in the first line of an export of a memory."""

_TEXT: Final = ("text", "content", "passage", "body")
_MESSAGE_TEXT: Final = ("content", "text", "message", "value", "parts")
_PART_TEXT: Final = ("text", "refusal", "transcript")
_ROLES: Final = {"human": "user", "ai": "assistant"}  # what LangChain calls them
_SPEAKER: Final = ("speaker", "user_profile", "name", "username", "user", "from", "author", "sender", "role")
_TIME: Final = ("at", "time", "timestamp", "date", "created_at", "create_time", "ts")
_SOURCE: Final = ("source", "id")
_MESSAGE_LISTS: Final = ("messages", "chat_messages", "conversation", "conversations")
_LABELS: Final = {
    "user": ("user_id",),
    "agent": ("agent", "agent_id"),
    "session": ("session", "session_id", "run_id", "thread_id"),
}
"""The fields that hold a label, by its name; the field "user" names who speaks."""
_METADATA: Final = "metadata"
_NAMES: Final = ("real_name", "display_name", "name", "username", "first_name", "role")
_KEYS_LEFT: Final = 8  # of metadata, for those that a whole call has

NO_TEXT: Final = "without text"
"""Why a turn of a conversation is skipped."""

_WANTED: Final = (
    'wanted is a text {"text": ..., "title": ..., "at": ..., "source": ...} or a message {"role" or "speaker": ..., '
    '"content": ..., "at": ...}, where all but the text may be absent; "user_id", "agent", "session" and '
    '"metadata" label it'
)


@dataclass(frozen=True)
class Document:
    """A text to remember.

    Args:
        text: the text, verbatim.
        at: world time; ``None`` when it is not known.
        source: where the text comes from: the name of a file, or the source that the file names; may be empty.
        speaker: who says the text, any string; empty if nobody is known to say it.
        user: the person or account whose text it is; empty for none.
        agent: the agent that remembers it, or takes part in it; empty for none.
        session: the session or conversation in which it came up; empty for none.
        metadata: anything else: strings, numbers and truth values by key.
        payload: what a program keeps with the text, see :class:`~worldthread.Episode`.
    """

    text: str
    at: float | None = None
    source: str = ""
    speaker: str = ""
    user: str = ""
    agent: str = ""
    session: str = ""
    metadata: Mapping[str, MetadataValue] = NO_METADATA
    payload: str = ""

    def __repr__(self) -> str:
        speaker = f", speaker={short_repr(self.speaker)}" if self.speaker else ""
        source = f", source={short_repr(self.source)}" if self.source else ""
        return f"Document({short_repr(self.text)}, at={self.at}{source}{speaker})"


def documents_of(
    record: object, source: str, *, keep_fields: bool = False, skipped: Counter[str] | None = None
) -> Iterator[Document]:
    """Yield the documents of one value of a JSON file.

    A mapping with a list of messages gives one document for each message; the title or name of the mapping is added to
    their source. What has no text (a picture, a call of a tool, its result as an item of its own, a thought of a model,
    an empty line) gives no document. :func:`said_in` says what the text of a message is.

    Args:
        record: the value, as parsed from JSON.
        source: the source of documents that name none.
        keep_fields: whether fields that have no meaning here become metadata: lists and mappings as JSON. Otherwise
            they are left out, as in a file, which may have been made for anything. What metadata cannot hold, such
            as a picture, goes into the payload.
        skipped: counts what has no text, under :data:`NO_TEXT`.

    Yields:
        The documents, in order.

    Raises:
        InputError: the value has none of the known forms, or a field cannot be used.
    """
    if not isinstance(record, Mapping):
        raise InputError(f"this is {_kind(record)}; {_WANTED}")
    if isinstance(record.get("data"), Mapping) and _role_by_type(record):  # as LangChain writes messages
        record = {**record["data"], "type": record["type"]}
    if record.get("format") == OWN_EXPORT:
        raise InputError("this is an export of a memory; use `worldthread import` for it")
    for name in _MESSAGE_LISTS:
        messages = record.get(name)
        if isinstance(messages, list):
            title = record.get("title") or record.get("name")
            inner_source = f"{source}: {title}" if isinstance(title, str) else source
            for message in messages:
                yield from documents_of(message, inner_source, keep_fields=keep_fields, skipped=skipped)
            return
    document, used = _document(record, source)
    if "\0" in document.text or "\0" in document.source or "\0" in document.speaker:
        raise InputError("the text holds the character NUL")
    if document.text.strip():
        yield _labelled(document, record, used if keep_fields else None)
    elif skipped is not None:
        skipped[NO_TEXT] += 1


def _labelled(document: Document, record: Mapping[str, Any], used: Collection[str] | None) -> Document:
    """Return a document with the labels of its record.

    Args:
        document: the document.
        record: the value that it was taken from.
        used: the fields that the document was made of, all others becoming metadata; ``None`` to leave the others out.

    Returns:
        The document; the same one when the record has no labels.

    Raises:
        InputError: a label cannot be used.
    """
    keeps_fields, used = used is not None, set(used or ())
    labels = dict.fromkeys(_LABELS, "")
    for label, names in _LABELS.items():
        found = _first(record, tuple(name for name in names if name not in used))
        if found is not None:
            labels[label] = _string(record, found[0])
            used.add(found[0])
    fields: dict[str, Any] = {}
    given = record.get(_METADATA)
    if isinstance(given, Mapping):
        fields = {str(key): value for key, value in given.items() if value is not None}
        used.add(_METADATA)
    if keeps_fields:
        for key in record:
            if key not in used and record[key] is not None and record[key] != [] and record[key] != {}:
                fields.setdefault(str(key), record[key])
    if not any(labels.values()) and not fields:
        return document
    user, agent, session = labels.values()
    metadata, other = metadata_of(fields)
    payload = write_json(other) if other else ""
    return replace(document, user=user, agent=agent, session=session, metadata=metadata, payload=payload)


def metadata_of(fields: Mapping[str, Any]) -> tuple[Metadata, dict[str, Any]]:
    """Return the fields of another program as metadata, and those that metadata cannot hold.

    Args:
        fields: JSON values by key; lists and mappings become JSON.

    Returns:
        The metadata; and the fields whose key or value is too long, or that are too many.
    """
    found: dict[str, MetadataValue] = {}
    other: dict[str, Any] = {}
    for key, value in fields.items():
        try:
            plain = Metadata({key: _plain(value)})
        except InputError:
            other[key] = value
            continue
        if len(found) < MOST_KEYS - _KEYS_LEFT:
            found.update(plain)
        else:
            other[key] = value
    return Metadata(found), other


def _plain(value: Any) -> MetadataValue:
    """Return a value that metadata can hold: lists and mappings as JSON."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str | int | float):
        return metadata_value(value, "a value of metadata")
    return write_json(value)


def _document(record: Mapping[str, Any], source: str) -> tuple[Document, set[str]]:
    """Return the document of a record, and the fields that it was made of."""
    message = _first(record, _MESSAGE_TEXT)
    time = _first(record, _TIME)
    used = {"title", *([] if time is None else [time[0]])}
    speaker = None if "title" in record else _first(record, _SPEAKER)
    if speaker is None and _role_by_type(record):
        speaker = "type", _role_by_type(record)
    if speaker is not None and message is not None:
        own_source = _string(record, "source") if "source" in record else ""
        name = _speaker(*speaker)
        used |= {message[0], speaker[0], "source", "role"}
        text = "" if _is_thought(record) else said_in(message[1], f"the field {message[0]!r}").strip()
        return Document(text, _time(record), own_source or source, name), used
    found = _first(record, _TEXT)
    if _is_thought(record) or (found is None and ("role" in record or isinstance(record.get("type"), str))):
        return Document(""), used  # a call of a tool, or another item that nobody says
    if found is None:
        fields = ", ".join(map(repr, list(record)[:8])) or "none"
        raise InputError(f"no text found; {_WANTED}; the fields here are {fields}")
    text, title = said_in(found[1], f"the field {found[0]!r}"), _string(record, "title")
    if title and not text.startswith(title) and text.strip():
        text = f"{title}\n\n{text}"
    named = next(((name, value) for name in _SOURCE if (value := _string(record, name))), ("source", ""))
    return Document(text, _time(record), named[1] or source), used | {found[0], named[0]}


def _first(record: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, Any] | None:
    """Return the first of these fields that has a value, else the first that is present, else ``None``."""
    present = [(name, record[name]) for name in names if name in record]
    return next((field for field in present if field[1]), present[0] if present else None)


def _string(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise InputError(f"the field {name!r} must be a string, not {_kind(value)}")
    return value.strip()


def _speaker(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        value = next((value[key] for key in _NAMES if value.get(key)), "")
    return " ".join(_string({name: value}, name).split())


def said_in(content: Any, what: str = "the content") -> str:
    """Return what is said in the content of a message, in any of the forms in which programs send it.

    Args:
        content: a text; a list of parts: texts, or mappings with a text (``{"type": "text", "text": ...}``, also with
            the text as ``{"value": ...}``), a refusal or a transcript; a mapping with a text or with parts; or
            ``None``. Parts without a text (pictures, files, calls of tools and their results) and a model's thoughts
            are left out.
        what: names it in an error.

    Returns:
        The text, empty for none. Parts begin on lines of their own, unless texts and mappings alternate as the pieces
        of one line, as in the exports of chats.

    Raises:
        InputError: it is something else.
    """
    if isinstance(content, Mapping):
        content = content.get("parts", [content])
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        raise InputError(f"{what} must be a string, not {_kind(content)}")
    given = [part for part in content if part is not None]
    parts = [_said_in_part(part, what) for part in given]
    in_one_line = len({isinstance(part, str) for part in given}) == 2
    return "".join(parts) if in_one_line else "\n".join(filter(None, parts))


def _said_in_part(part: Any, what: str) -> str:
    if isinstance(part, Mapping):
        if _is_thought(part):
            return ""
        found = next((part[name] for name in _PART_TEXT if part.get(name)), None)
        part = found.get("value") if isinstance(found, Mapping) else found
        return part if isinstance(part, str) else ""
    if not isinstance(part, str):
        raise InputError(f"the parts of {what} must be strings, not {_kind(part)}")
    return part


def _role_by_type(record: Mapping[str, Any]) -> str:
    return _ROLES.get(str(record.get("type")), "")


def _is_thought(item: Mapping[str, Any]) -> bool:
    """Return whether an item is what a model thinks, and does not say."""
    return item.get("thought") is True or str(item.get("type")).startswith(("reasoning", "thinking"))


def time_given(record: Mapping[str, Any]) -> Any:
    """Return the time of a message as it was given; ``None`` where it has none of its own."""
    found = _first(record, _TIME)
    return None if found is None else found[1]


def _time(record: Mapping[str, Any]) -> float | None:
    found = _first(record, _TIME)
    if found is None or found[1] is None:
        return None
    try:
        return world_time(found[1], 0.0)
    except InputError as error:
        raise InputError(f"the field {found[0]!r}: {error}") from None


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "a truth value"
    names = {str: "a string", list: "a list", dict: "a mapping", int: "a number", float: "a number"}
    return names.get(type(value), type(value).__name__)
