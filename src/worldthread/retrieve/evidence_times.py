"""What of a memory is evidence for the time that a question asks about.

* A fact counts when it held in a part of that time.
* A sentence counts when a fact that stands in it counts, or when a time that it states lies in that time. Without
  either, one in the present counts while it held, and one in the past when it was told in that time: what "we went to
  the sea" tells was over by then.
* A passage counts when something that it states counts, or a sentence of it, when it was told in that time or states
  one in it. A document that was remembered as of the day on which it was recorded is not told at a time: where no fact
  was read from it, it counts unless it states another time.
* Where "last year" is read against the end of a memory of another time, every passage counts.
* Where a noun of the question has a year ("my 2023 marathon"), a text that has other years does not count.

A question that is only in the past tense ("Where did I work?") asks for what was, and for what still is: beside what
holds, facts that have ended count when their relation is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Final

from worldthread.extract.prose.sentences import split_sentences
from worldthread.extract.times import time_expressions
from worldthread.extract.when import DAY
from worldthread.graph import TemporalGraph
from worldthread.graph.episodes import EpisodeRecord
from worldthread.graph.selection import StatementSelection
from worldthread.retrieve.asked_time import language_of, named_years, period_asked, tells_past, year_interval
from worldthread.retrieve.words import STOP_STEMS, words_of
from worldthread.types import AskedTime, Fact, Interval, Thesis, Version

_MOST_READ: Final = 400  # texts in which times are looked for; beyond the best so many nothing is found


class EvidenceTimes:
    """Decides what counts for the time that a question asks about.

    Args:
        graph: the graph.
        asked: the time; its interval is known.
        question: the question.
        until: what was told later does not count; ``None`` for no limit.
        selection: what counts of the versions of a statement; ``None`` for all of them.
        text_of: returns the text of an episode by its id.
    """

    def __init__(
        self,
        graph: TemporalGraph,
        asked: AskedTime,
        question: str,
        until: float | None,
        selection: StatementSelection | None,
        text_of: Callable[[str], str],
    ) -> None:
        assert asked.interval is not None
        self._graph = graph
        self._asked = asked
        self._interval = asked.interval
        self._words = set(words_of(question))
        self._until = math.inf if until is None else until
        self._selection = selection
        self._text_of = text_of
        self._left = _MOST_READ
        self.counts = cache(self._counts)
        """Whether a statement counts, by its number."""

    def _counts(self, number: int) -> bool:
        graph = self._graph
        versions = [version for version in self.versions(number) if self._is_known(version)]
        if not versions:
            return False
        if self._asked.is_tense:
            return self._was(number)
        statement = versions[0].statement
        if self._asked.years and (years := named_years(str(statement))):
            return not set(years).isdisjoint(self._asked.years)
        if isinstance(statement, Fact):
            return any(map(self._overlaps, versions)) and not self._is_of_another_time(number, versions[0])
        told = [(source, graph.episode(source).at) for source in versions[0].sources]
        facts = graph.facts_in_sentence(number, versions[0].sources)
        if any(map(self.counts, facts)):
            return True
        stated = self._stated(statement.text, told[0][1])
        if stated:
            return any(map(self._meets, stated))
        if facts or not tells_past(statement.text):
            return any(map(self._overlaps, versions))
        return any(self._interval.valid_from <= at < self._interval.valid_to for _, at in told)

    @property
    def begin(self) -> float | None:
        """The time by which what is outdated was over; ``None`` for now."""
        begin = self._interval.valid_from
        return None if math.isinf(begin) else begin

    def counts_episode(self, number: int) -> bool:
        """Return whether an episode counts.

        Args:
            number: of the episode.

        Returns:
            Whether it does.
        """
        graph = self._graph
        record = graph.numbered_episode(number)
        if record is None or record.at > self._until:
            return False
        statements = graph.statements_of(number)
        if any(map(self.counts, statements)):
            return True
        if self._asked.is_tense or self._asked.is_guess:
            return self._asked.is_guess or not statements
        sentences = self._sentences(record)
        times = [self._stated(sentence, record.at) for sentence in sentences]
        if self._asked.years and (years := {year for sentence in sentences for year in named_years(sentence)}):
            return not years.isdisjoint(self._asked.years)
        if any(self._meets(interval) for stated in times for interval in stated):
            return True
        if self._interval.valid_from <= record.at < self._interval.valid_to:
            return not all(times)
        return _is_undated(record) and not any(times) and not any(map(graph.is_fact, statements))

    def versions(self, number: int) -> tuple[Version, ...]:
        """Return the versions of a statement, without those that never were."""
        found = self._graph.lasting_versions(number, self._selection)
        return tuple(version for version in found if version.interval.valid_from < version.interval.valid_to)

    def version_of(self, number: int) -> Version | None:
        """Return the version of a statement that counts, else its last."""
        versions = self.versions(number) or self._graph.lasting_versions(number, self._selection)
        return next(filter(self._overlaps, versions), versions[-1] if versions else None)

    def _is_known(self, version: Version) -> bool:
        return math.isinf(self._until) or self._graph.episode(version.sources[0]).at <= self._until

    def _overlaps(self, version: Version) -> bool:
        return self._meets(version.interval)

    def _meets(self, other: Interval) -> bool:
        return other.valid_from < self._interval.valid_to and self._interval.valid_from < other.valid_to

    def _was(self, number: int) -> bool:
        """Return whether a statement is what a question in the past tense asks about: what holds counts too."""
        graph = self._graph
        if graph.lasts(number, None, self._selection):
            return True
        if any(version.ended_by in version.sources for version in self.versions(number)):
            return True  # its own text says when it was over
        statement = graph.numbered_statement(number)
        if isinstance(statement, Thesis):
            versions = self.versions(number)
            return any(map(self.counts, graph.facts_in_sentence(number, versions[0].sources)))
        if statement is None:
            return False
        relation = set(words_of(statement.relation)) - STOP_STEMS
        asked = relation or set(words_of(statement.object)) - STOP_STEMS
        return bool(asked) and asked <= self._words

    def _is_of_another_time(self, fact: int, version: Version) -> bool:
        """Return whether a fact that states no time was read from a sentence that states another one."""
        graph = self._graph
        if version.statement.valid_from is not None or version.statement.valid_to is not None:
            return False
        for source in version.sources:
            for sentence in graph.sentences_with_fact(fact, source):
                stated = self._stated(str(graph.numbered_statement(sentence)), graph.episode(source).at)
                if stated and not any(map(self._meets, stated)):
                    return True
        return False

    def _sentences(self, record: EpisodeRecord) -> list[str]:
        if self._left <= 0:
            return []
        text = self._text_of(record.id)
        return [one.text for one in split_sentences(text)] or [text]

    def _stated(self, text: str, at: float) -> tuple[Interval, ...]:
        """Return the times that a sentence states, told at a time."""
        if self._left <= 0:
            return (Interval(math.inf),)  # meets nothing
        self._left -= 1
        read = map(period_asked, time_expressions(text, at, language=language_of(text)))
        return tuple(one for one in read if one is not None) or tuple(map(year_interval, named_years(text)))


def _is_undated(record: EpisodeRecord) -> bool:
    """Return whether nobody says an episode, and its time is that of its recording."""
    is_said = bool(record.provenance.speaker)
    return not is_said and record.recorded_at is not None and abs(record.at - record.recorded_at) < DAY
