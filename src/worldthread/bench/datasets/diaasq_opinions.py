"""Who thought what of which aspect of which target, and when."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from worldthread.bench.datasets.diaasq_files import Polarity
from worldthread.names import normalise_name
from worldthread.types import Fact, Thesis

NOW = math.inf
"""The time of a question about now: after everything that was said."""


@dataclass(frozen=True)
class Subject:
    """What one can have an opinion on: an aspect of a target, both as they are shown."""

    aspect: str
    target: str

    def __str__(self) -> str:
        return f"{self.aspect} of {self.target}"


@dataclass(frozen=True)
class Opinion:
    """What somebody said about a subject in a passage.

    Args:
        speaker: the name.
        subject: what it is about.
        polarity: of the opinion.
        words: of the opinion.
        at: when it was said, in seconds since 1970-01-01 UTC.
        passage_id: where it was said.
    """

    speaker: str
    subject: Subject
    polarity: Polarity
    words: str
    at: float
    passage_id: str

    @property
    def key(self) -> tuple[str, Subject]:
        """What is single-valued at any time: what this speaker thinks of this subject."""
        return self.speaker, self.subject

    @property
    def aspect(self) -> str:
        """The key in words, as the aspect of statements."""
        return normalise_name(f"opinion of {self.speaker} on {self.subject}")

    @cached_property
    def fact(self) -> Fact:
        """The opinion as a triple."""
        relation = f'has a {self.polarity} opinion ("{self.words}") of'
        return Fact(self.speaker, relation, str(self.subject), self.aspect)

    @cached_property
    def thesis(self) -> Thesis:
        """The opinion as a sentence, tied to its speaker, its aspect and its target."""
        text = f'{self.speaker} has a {self.polarity} opinion of the {self.subject}: "{self.words}".'
        return Thesis(text, (self.speaker, self.subject.aspect, self.subject.target), self.aspect)

    @property
    def ids(self) -> tuple[str, str]:
        """The ids of the fact and of the thesis."""
        return self.fact.id, self.thesis.id


class Timeline:
    """All opinions, by key and time. What is said of one key in one passage holds together until the next passage.

    Attributes:
        opinions: all, by time.
        keys: every key, in the order of its first opinion.
    """

    def __init__(self, opinions: Iterable[Opinion]) -> None:
        self.opinions = sorted(opinions, key=lambda o: (o.at, o.passage_id, o.key[0], str(o.subject), o.words))
        self._said: dict[tuple[str, Subject], list[tuple[Opinion, ...]]] = {}
        by_key: dict[tuple[str, Subject], list[Opinion]] = {}
        for opinion in self.opinions:
            by_key.setdefault(opinion.key, []).append(opinion)
        for key, all_of_key in by_key.items():
            self._said[key] = [tuple(group) for _, group in groupby(all_of_key, key=lambda o: o.at)]
        self.keys = tuple(self._said)
        self._outdated: dict[float, tuple[frozenset[str], frozenset[str]]] = {}

    def said(self, key: tuple[str, Subject]) -> list[tuple[Opinion, ...]]:
        """What was said of a key, passage by passage, the earliest first."""
        return self._said[key]

    @cached_property
    def speakers(self) -> dict[Subject, list[str]]:
        """Who ever spoke about a subject."""
        speakers: dict[Subject, list[str]] = {}
        for speaker, subject in self._said:
            speakers.setdefault(subject, []).append(speaker)
        return speakers

    def held(self, key: tuple[str, Subject], time: float) -> tuple[Opinion, ...]:
        """What holds of a key at a time: what was said last until then; empty before anything was."""
        said = self._said[key]
        place = bisect_right(said, time, key=lambda opinions: opinions[0].at)
        return said[place - 1] if place else ()

    def polarity(self, key: tuple[str, Subject], time: float) -> Polarity | None:
        """The polarity that holds of a key; ``None`` when nothing was said yet, or good and bad in one passage."""
        found = {opinion.polarity for opinion in self.held(key, time)}
        return found.pop() if len(found) == 1 else None

    def outdated(self, time: float) -> tuple[frozenset[str], frozenset[str]]:
        """Ids of the facts and theses that held before ``time`` but not then, and of those that only held later."""
        if time not in self._outdated:
            past, present, future = set[str](), set[str](), set[str]()
            for key, said in self._said.items():
                held = self.held(key, time)
                for opinions in said:
                    place = present if opinions is held else past if opinions[0].at <= time else future
                    place.update(id_ for opinion in opinions for id_ in opinion.ids)
            self._outdated[time] = frozenset(past - present), frozenset(future - present - past)
        return self._outdated[time]
