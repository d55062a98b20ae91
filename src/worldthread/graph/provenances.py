"""The distinct provenances of the episodes of a graph, by number, and which of them have a value."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Literal, TypeAlias

from worldthread.names import normalise_name
from worldthread.provenance import MetadataValue, Provenance

LabelField: TypeAlias = Literal["speaker", "user", "agent", "session"]
"""What can be looked up in a provenance besides metadata."""

_METADATA: Final = "metadata"


class ProvenanceTable:
    """Provenances numbered from 0 in order of arrival, each once, with an index of their values."""

    __slots__ = ("_holding", "_numbers", "items", "users")

    def __init__(self) -> None:
        self.items: list[Provenance] = []
        """The provenance of each number."""
        self.users: dict[str, None] = {}
        """The users of these, each once; the empty string for none."""
        self._numbers: dict[tuple[str, ...], int] = {}
        self._holding: dict[Hashable, list[int]] = {}

    def intern(self, provenance: Provenance) -> int:
        """Return the number of a provenance; a new one is added."""
        number = self._numbers.get(provenance.key)
        if number is None:
            number = self._numbers[provenance.key] = len(self.items)
            self.items.append(provenance)
            labels = provenance.labels
            self.users[labels.user] = None
            keys: list[Hashable] = [
                ("speaker", speaker_key(provenance.speaker)),
                ("user", labels.user),
                ("agent", labels.agent),
                ("session", labels.session),
                *((_METADATA, key, compared_value(value)) for key, value in labels.metadata.items()),
            ]
            for key in keys:
                self._holding.setdefault(key, []).append(number)
        return number

    def with_label(self, field: LabelField, value: str) -> list[int]:
        """Return the numbers of the provenances with a value; speakers are compared as names are."""
        return self._holding.get((field, speaker_key(value) if field == "speaker" else value), [])

    def with_metadata(self, key: str, value: tuple[bool, MetadataValue]) -> list[int]:
        """Return the numbers of the provenances with a value in their metadata, from :func:`compared_value`."""
        return self._holding.get((_METADATA, key, value), [])


def speaker_key(speaker: str) -> str:
    """Return the form in which speakers are compared."""
    return normalise_name(speaker) if speaker else ""


def compared_value(value: MetadataValue) -> tuple[bool, MetadataValue]:
    """Return the form in which values are compared: 1 and 1.0 are one number, and ``True`` is none."""
    return isinstance(value, bool), value
