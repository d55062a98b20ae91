"""An episode as one JSON document, and back. Rows of a store and lines of an export have this form.

::

    {"text": "Tom: I see a key.", "at": 3.0, "source": "run 1", "recorded_at": 1750000000.5, "speaker": "Tom",
     "reading": {"reader": "game/1",
                 "statements": [{"fact": ["key", "is in", "room"], "aspect": "place of key"},
                                {"thesis": "The key fits the door.", "objects": ["key", "door"]}],
                 "endings": [{"statement": {"fact": ["key", "is in", "chest"]}, "reason": "it was taken"}],
                 "failures": ["key; ;"]}}

``text`` and ``at`` are required; empty parts are left out. ``user``, ``agent`` and ``session`` are strings, and
``metadata`` is an object of strings, numbers and truth values; ``payload`` is a string. A statement whose text states
times has ``valid_from`` and ``valid_to`` too, and ``begins_by`` where its beginning is not exact; an ending has
``at``; a correction has ``"never": true``. An episode whose extraction was replaced has ``extracted_at``. Numbers
survive exactly (shortest decimal form).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import orjson

from worldthread.provenance import NO_METADATA
from worldthread.types import Ending, Episode, Extraction, Fact, Statement, Thesis


def encode_episode(episode: Episode) -> bytes:
    """Return the document of ``episode``: UTF-8 on one line, without a newline at the end."""
    document: dict[str, Any] = {"text": episode.text, "at": episode.at}
    if episode.source:
        document["source"] = episode.source
    if episode.recorded_at is not None:
        document["recorded_at"] = episode.recorded_at
    if episode.extracted_at is not None:
        document["extracted_at"] = episode.extracted_at
    if episode.speaker:
        document["speaker"] = episode.speaker
    if episode.user:
        document["user"] = episode.user
    if episode.agent:
        document["agent"] = episode.agent
    if episode.session:
        document["session"] = episode.session
    if episode.metadata:
        document["metadata"] = dict(episode.metadata)
    if episode.payload:
        document["payload"] = episode.payload
    extraction = _extraction_document(episode.extraction)
    if extraction:
        document["reading"] = extraction
    return orjson.dumps(document)


def decode_episode(data: bytes | str, *, with_extraction: bool = True) -> Episode:
    """Return the episode of a document.

    Args:
        data: a document as :func:`encode_episode` returns it.
        with_extraction: whether its extraction is wanted too; without, the episode has an empty one.

    Returns:
        The episode.

    Raises:
        ValueError: ``data`` is not such a document; the message says what is wrong.
    """
    document = _object(orjson.loads(data), "an episode", required={"text", "at"}, optional=_EPISODE_OPTIONAL)
    return Episode(
        document["text"],
        document["at"],
        document.get("source", ""),
        _decode_extraction(document.get("reading", {}) if with_extraction else {}),
        document.get("recorded_at"),
        document.get("extracted_at"),
        document.get("speaker", ""),
        document.get("user", ""),
        document.get("agent", ""),
        document.get("session", ""),
        document.get("metadata", NO_METADATA),
        document.get("payload", ""),
    )


_EPISODE_OPTIONAL = frozenset(
    {"source", "recorded_at", "extracted_at", "speaker", "user", "agent", "session", "metadata", "payload", "reading"}
)
_STATEMENT_OPTIONAL = frozenset({"aspect", "valid_from", "valid_to", "begins_by"})
_EXTRACTION_KEYS = frozenset({"reader", "statements", "endings", "failures", "same_names"})


def _extraction_document(extraction: Extraction) -> dict[str, Any]:
    document: dict[str, Any] = {}
    if extraction.extractor:
        document["reader"] = extraction.extractor
    if extraction.statements:
        document["statements"] = [_statement_document(statement) for statement in extraction.statements]
    if extraction.endings:
        document["endings"] = [
            {"statement": _statement_document(ending.statement), "reason": ending.reason}
            | ({} if ending.at is None else {"at": ending.at})
            | ({"never": True} if ending.never else {})
            for ending in extraction.endings
        ]
    if extraction.failures:
        document["failures"] = list(extraction.failures)
    if extraction.same_names:
        document["same_names"] = [list(pair) for pair in extraction.same_names]
    return document


def _statement_document(statement: Statement) -> dict[str, Any]:
    document: dict[str, Any]
    if isinstance(statement, Fact):
        document = {"fact": [statement.subject, statement.relation, statement.object]}
    else:
        document = {"thesis": statement.text}
        if statement.objects:
            document["objects"] = list(statement.objects)
    if statement.aspect is not None:
        document["aspect"] = statement.aspect
    if statement.valid_from is not None:
        document["valid_from"] = statement.valid_from
    if statement.valid_to is not None:
        document["valid_to"] = statement.valid_to
    if statement.begins_by is not None:
        document["begins_by"] = statement.begins_by
    return document


def _decode_extraction(value: object) -> Extraction:
    document = _object(value, "the reading", optional=_EXTRACTION_KEYS)
    return Extraction(
        document.get("reader", ""),
        tuple(_decode_statement(item) for item in _list(document.get("statements", []), "statements")),
        tuple(_decode_ending(item) for item in _list(document.get("endings", []), "endings")),
        tuple(_list(document.get("failures", []), "failures")),
        tuple(tuple(_list(pair, "same names")) for pair in _list(document.get("same_names", []), "same_names")),
    )


def _decode_ending(value: object) -> Ending:
    document = _object(value, "an ending", required={"statement", "reason"}, optional={"at", "never"})
    statement = _decode_statement(document["statement"])
    return Ending(statement, document["reason"], document.get("at"), document.get("never", False))


def _decode_statement(value: object) -> Statement:
    if isinstance(value, dict) and "fact" in value:
        document = _object(value, "a fact", required={"fact"}, optional=_STATEMENT_OPTIONAL)
        names = _list(document["fact"], "fact")
        if len(names) != 3:
            raise ValueError(f"a fact has three names, not {len(names)}")
        return Fact(names[0], names[1], names[2], *_optional_parts(document))
    document = _object(value, "a statement", required={"thesis"}, optional={"objects", *_STATEMENT_OPTIONAL})
    return Thesis(document["thesis"], tuple(_list(document.get("objects", []), "objects")), *_optional_parts(document))


def _optional_parts(document: dict[str, Any]) -> tuple[str | None, float | None, float | None, float | None]:
    """Return aspect and stated times of a statement; what is wrong with them, the statement says."""
    return document.get("aspect"), document.get("valid_from"), document.get("valid_to"), document.get("begins_by")


def _object(
    value: object, what: str, *, required: Collection[str] = (), optional: Collection[str] = ()
) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be an object, not {type(value).__name__}")
    missing = sorted(key for key in required if key not in value)
    if missing:
        raise ValueError(f"{what} lacks {', '.join(map(repr, missing))}")
    unknown = sorted(key for key in value if key not in required and key not in optional)
    if unknown:
        raise ValueError(f"{what} has unknown {', '.join(map(repr, unknown))}")
    return value


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{what} must be a list, not {type(value).__name__}")
    return value
