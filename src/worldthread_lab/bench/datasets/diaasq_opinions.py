"""Opinions of speakers on aspects of targets over time."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from worldthread.names import normalise_name
from worldthread.types import Fact, Thesis
from worldthread_lab.bench.datasets.diaasq_files import Polarity

NOW = math.inf
"""The time of a question about now: after every opinion."""


@dataclass(frozen=True)
class Subject:
    """A subject of opinions: an aspect of a target, both in their display form."""

    aspect: str
    target: str

    def __str__(self) -> str:
        return f"{self.aspect} of {self.target}"


@dataclass(frozen=True)
class Opinion:
    """An opinion that a speaker states about a subject in a passage.

    Args:
        speaker: name of the speaker.
        subject: subject of the opinion.
        polarity: polarity of the opinion.
        words: words of the opinion.
        at: world time of the passage, in seconds since 1970-01-01 UTC.
        passage_id: id of the passage.
    """

    speaker: str
    subject: Subject
    polarity: Polarity
    words: str
    at: float
    passage_id: str

    @property
    def key(self) -> tuple[str, Subject]:
        """Speaker and subject; at any time a key has a single value."""
        return self.speaker, self.subject

    @property
    def aspect(self) -> str:
        """The key as text, used as the aspect of statements."""
        return normalise_name(f"opinion of {self.speaker} on {self.subject}")

    @cached_property
    def fact(self) -> Fact:
        """The opinion as a triple."""
        relation = f'has a {self.polarity} opinion ("{self.words}") of'
        return Fact(self.speaker, relation, str(self.subject), self.aspect)

    @cached_property
    def thesis(self) -> Thesis:
        """The opinion as a sentence whose objects are its speaker, aspect and target."""
        text = f'{self.speaker} has a {self.polarity} opinion of the {self.subject}: "{self.words}".'
        return Thesis(text, (self.speaker, self.subject.aspect, self.subject.target), self.aspect)

    @property
    def ids(self) -> tuple[str, str]:
        """The ids of the fact and of the thesis."""
        return self.fact.id, self.thesis.id


class Timeline:
    """All opinions by key and time; opinions of one key in one passage hold together until the next passage on the key.

    Args:
        opinions: the opinions, in any order.

    Attributes:
        opinions: all opinions, by time.
        keys: all keys, in the order of their first opinions.
    """

    def __init__(self, opinions: Iterable[Opinion]) -> None:
        self.opinions = sorted(opinions, key=lambda o: (o.at, o.passage_id, o.key[0], str(o.subject), o.words))
        self._by_passage: dict[tuple[str, Subject], list[tuple[Opinion, ...]]] = {}
        by_key: dict[tuple[str, Subject], list[Opinion]] = {}
        for opinion in self.opinions:
            by_key.setdefault(opinion.key, []).append(opinion)
        for key, all_of_key in by_key.items():
            self._by_passage[key] = [tuple(group) for _, group in groupby(all_of_key, key=lambda o: o.at)]
        self.keys = tuple(self._by_passage)
        self._outdated: dict[float, tuple[frozenset[str], frozenset[str]]] = {}

    def by_passage(self, key: tuple[str, Subject]) -> list[tuple[Opinion, ...]]:
        """Return the opinions of a key, grouped by passage, earliest first."""
        return self._by_passage[key]

    @cached_property
    def speakers(self) -> dict[Subject, list[str]]:
        """The speakers who state an opinion on each subject at any time."""
        speakers: dict[Subject, list[str]] = {}
        for speaker, subject in self._by_passage:
            speakers.setdefault(subject, []).append(speaker)
        return speakers

    def held(self, key: tuple[str, Subject], time: float) -> tuple[Opinion, ...]:
        """Return the opinions of a key that hold at a time, the last stated until then; empty before the first."""
        groups = self._by_passage[key]
        place = bisect_right(groups, time, key=lambda opinions: opinions[0].at)
        return groups[place - 1] if place else ()

    def polarity(self, key: tuple[str, Subject], time: float) -> Polarity | None:
        """Return the polarity that holds for a key; ``None`` before the first opinion, or when several hold."""
        found = {opinion.polarity for opinion in self.held(key, time)}
        return found.pop() if len(found) == 1 else None

    def outdated(self, time: float) -> tuple[frozenset[str], frozenset[str]]:
        """Return the ids of facts and theses that hold only before ``time``, and those that hold only after it."""
        if time not in self._outdated:
            past, present, future = set[str](), set[str](), set[str]()
            for key, groups in self._by_passage.items():
                held = self.held(key, time)
                for opinions in groups:
                    place = present if opinions is held else past if opinions[0].at <= time else future
                    place.update(id_ for opinion in opinions for id_ in opinion.ids)
            self._outdated[time] = frozenset(past - present), frozenset(future - present - past)
        return self._outdated[time]
