"""Whom and what a text belongs to: its speaker, user, agent and session, and free metadata."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from worldthread.errors import InputError
from worldthread.support.arguments import require_finite, require_string, whole_characters

MetadataValue: TypeAlias = str | int | float | bool
"""A value of metadata: a string, a whole number of 64 bits, a finite number, or a truth value."""

MOST_KEYS: Final = 64
"""The most keys in the metadata of one text."""
LONGEST_KEY: Final = 200
"""The most characters of a key."""
LONGEST_VALUE: Final = 10_000
"""The most characters of a string in metadata."""
LONGEST_LABEL: Final = 1000
"""The most characters of the name of a user, an agent or a session."""

TIMEZONE: Final = "timezone"
"""The key of metadata that holds the time zone of who wrote a text: an IANA name, or an offset such as "-08:00"."""

REQUEST_LABELS: Final = ("idempotency_key", "idempotency_digest", "idempotency_time")
"""The metadata by which a server recognises a request that is sent again: its key, its digest, its time."""
_LARGEST: Final = 2**63


class Metadata(Mapping[str, MetadataValue]):
    """An immutable mapping of strings to plain values, in the order of its keys.

    Two of them are equal when they have the same keys with values of the same type: ``1``, ``1.0`` and ``True`` differ,
    as they do in the record.

    Args:
        values: the values by key.

    Raises:
        InputError: there are too many keys, or a key or a value cannot be used.

    Examples:
        >>> Metadata({"topic": "travel", "stars": 5})
        Metadata({'stars': 5, 'topic': 'travel'})
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, MetadataValue] = {}) -> None:
        if not isinstance(values, Mapping):
            raise InputError(f"metadata must be a mapping of strings to plain values, not {type(values).__name__}")
        if len(values) > MOST_KEYS:
            raise InputError(f"metadata can have {MOST_KEYS} keys, not {len(values)}")
        checked = {_key(key): metadata_value(value, f"the metadata {key!r}") for key, value in values.items()}
        self._values = {key: checked[key] for key in sorted(checked)}

    def __getitem__(self, key: str) -> MetadataValue:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._values)

    def __repr__(self) -> str:
        return f"Metadata({self._values!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metadata) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def text(self) -> str:
        """The values as JSON with sorted keys: equal for equal metadata only."""
        return json.dumps(self._values, ensure_ascii=False, separators=(",", ":"))


NO_METADATA: Final = Metadata()
"""The metadata of a text that has none."""


def _key(key: object) -> str:
    checked = require_string(key, "a key of metadata")
    if not 1 <= len(checked) <= LONGEST_KEY:
        raise InputError(f"a key of metadata must have 1 to {LONGEST_KEY} characters, not {len(checked)}")
    return str(checked)


def metadata_value(value: object, what: str) -> MetadataValue:
    """Require a value that metadata can hold; -0.0 becomes 0.0."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if len(value) > LONGEST_VALUE:
            raise InputError(f"{what} has {len(value):,} characters; it can have {LONGEST_VALUE:,}")
        return str(whole_characters(value))
    if isinstance(value, int):
        if not -_LARGEST <= value < _LARGEST:
            raise InputError(f"{what} must be a whole number of 64 bits, or a string")
        return int(value)
    if isinstance(value, float):
        return require_finite(value, what)
    raise InputError(f"{what} must be a string, a number or a truth value, not {type(value).__name__}")


def require_metadata(value: object) -> Metadata:
    """Require metadata, or a mapping that can become metadata; ``None`` gives none."""
    if value is None:
        return NO_METADATA
    return (value if isinstance(value, Metadata) else Metadata(value)) or NO_METADATA  # type: ignore[arg-type]


def client_metadata(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the metadata that a client of a server gave with a request.

    Args:
        values: the metadata; ``None`` for none.

    Raises:
        InputError: a name is one of :data:`REQUEST_LABELS`: what is stored must not pass for the key of a request.
    """
    if taken := [name for name in REQUEST_LABELS if name in (values or {})]:
        raise InputError(f"metadata: {taken[0]!r} is for keys of requests, which servers note: take another name")
    return dict(values or {})


def require_label(value: object, what: str) -> str:
    """Require the name of a user, an agent or a session; it may be empty."""
    label = require_string(value, what)
    if len(label) > LONGEST_LABEL:
        raise InputError(f"{what} has {len(label):,} characters; it can have {LONGEST_LABEL:,}")
    if label and not label.strip():
        raise InputError(f"{what} must not be white space")
    return label


@dataclass(frozen=True)
class Labels:
    """Whom and what a text belongs to.

    Args:
        user: the person or account whose text it is; empty for none.
        agent: the agent that remembers it, or takes part in it; empty for none.
        session: the session or conversation in which it came up; empty for none.
        metadata: anything else.

    Raises:
        InputError: an argument cannot be used.
    """

    user: str = ""
    agent: str = ""
    session: str = ""
    metadata: Metadata = NO_METADATA

    def __post_init__(self) -> None:
        for name in ("user", "agent", "session"):
            object.__setattr__(self, name, require_label(getattr(self, name), name))
        object.__setattr__(self, "metadata", require_metadata(self.metadata))

    def __bool__(self) -> bool:
        return bool(self.user or self.agent or self.session or self.metadata)

    def or_else(self, other: Labels) -> Labels:
        """Return these labels, with those of ``other`` where there is none; metadata are merged key by key."""
        return Labels(
            self.user or other.user,
            self.agent or other.agent,
            self.session or other.session,
            Metadata({**other.metadata, **self.metadata}) if other.metadata else self.metadata,
        )


NO_LABELS: Final = Labels()
"""The labels of a text that has none."""


@dataclass(frozen=True)
class Provenance:
    """What filters look at in an episode, besides its times and its source.

    Args:
        speaker: who says the text, as given; empty if nobody is known to say it.
        labels: whom and what it belongs to.
    """

    speaker: str = ""
    labels: Labels = NO_LABELS

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for equal provenance only."""
        labels = self.labels
        if labels is NO_LABELS or not labels:
            return (self.speaker,)
        return self.speaker, labels.user, labels.agent, labels.session, labels.metadata.text

    @property
    def text(self) -> str:
        """The provenance as JSON: equal for equal provenance only."""
        labels = self.labels
        parts: list[Any] = [self.speaker, labels.user, labels.agent, labels.session, dict(labels.metadata)]
        return json.dumps(parts, ensure_ascii=True, separators=(",", ":"))

    @classmethod
    def of_text(cls, text: str) -> Provenance:
        """Return the provenance of what :attr:`text` returned.

        Raises:
            ValueError: it is something else.
        """
        parts = json.loads(text)
        if not isinstance(parts, list) or len(parts) != 5:
            raise ValueError("this is not a provenance")
        speaker, user, agent, session, metadata = parts
        found = cls(require_string(speaker, "speaker"), Labels(user, agent, session, Metadata(metadata)))
        if found.text != text:
            raise ValueError("this is not a provenance as it is written")
        return found


UNKNOWN: Final = Provenance()
"""The provenance of a text without a speaker and without labels."""
