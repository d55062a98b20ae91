"""The time that a question asks about: "in 2023", "last spring", "before she moved", "when I was at Acme".

Times are read by the tables of :mod:`worldthread.extract.times`, against the time at which the question is asked. What
happened at another time ("before she moved") is looked up among the statements: one must have all words of the clause
and be about the one whom the clause is about. What is not found, or found at several times, is not known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.extract.base import USER
from worldthread.extract.language_detection import LANGUAGES, detect_language
from worldthread.extract.times import TimeExpression, named_period, time_expressions
from worldthread.extract.times.tables import table
from worldthread.extract.times.tenses import Tenses
from worldthread.extract.when import DAY, is_date
from worldthread.graph import TemporalGraph
from worldthread.names import normalise_name
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import is_first_person, names_in
from worldthread.retrieve.text import tells_event
from worldthread.retrieve.words import STOP_STEMS, words_of
from worldthread.types import AskedTime, Fact, Interval
from worldthread.vectors.exact import best

_YEAR: Final = re.compile(r"(?<![\w.,/-])(?:1[5-9]|20)\d\d(?![\w/-]|[.,]\d)")
_CLAUSE_END: Final = re.compile(r"[,;:.?!]")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_DISTANCE: Final = re.compile(r"^\W*how (?:long|many)\b", re.IGNORECASE)
_THIRD_PERSON: Final = frozenset({"he", "she", "it", "they", "his", "her", "its", "their"})
_YEARS: Final = 1100 * DAY
_LIKELY: Final = 64  # statements that may be what a clause speaks of

EventRole: TypeAlias = Literal["during", "before", "after"]


@dataclass(frozen=True)
class EventClause:
    """What a question names in the place of a time.

    Args:
        words: the clause with the word before it, as written.
        clause: the clause alone.
        rest: the question without it.
        role: which side of it is asked about.
    """

    words: str
    clause: str
    rest: str
    role: EventRole


def language_of(text: str) -> str:
    """Return the language by whose table the times of a text are read."""
    found = detect_language(text)
    return found if found in LANGUAGES else "en"


def tells_past(sentence: str) -> bool:
    """Return whether the verb of a sentence is in a tense of the past."""
    return Tenses(sentence, table(language_of(sentence))).direction(0) == "past"


def named_years(text: str) -> tuple[str, ...]:
    """Return the numbers in a text that are written like years."""
    return tuple(dict.fromkeys(_YEAR.findall(text)))


def year_interval(year: str) -> Interval:
    """Return the time of a year."""
    first, after = (datetime(int(year) + more, 1, 1, tzinfo=UTC).timestamp() for more in (0, 1))
    return Interval(first, after)


@dataclass(frozen=True)
class NamedTimes:
    """The times that a question names, before what happened is looked up.

    Args:
        words: the words of each.
        intervals: the time of each.
        years: the years that nouns of the question have.
        event: what it names in the place of a time; ``None`` for nothing.
        is_past: whether its verb is in the past.
    """

    words: tuple[str, ...] = ()
    intervals: tuple[Interval, ...] = ()
    years: tuple[str, ...] = ()
    event: EventClause | None = None
    is_past: bool = False

    def asked_time(self, event: Interval | None, *, may_be_tense: bool = True) -> AskedTime | None:
        """Return the time that the question asks about.

        Args:
            event: the time that :attr:`event` stands for; ``None`` if it is not known.
            may_be_tense: whether the past tense alone counts.

        Returns:
            The time; ``None`` for the present.
        """
        words, intervals = list(self.words), list(self.intervals)
        clause = ""
        if self.event is not None and event is None and not intervals:
            return AskedTime(self.event.words, None, self.years)
        if self.event is not None and event is not None:
            clause = self.event.words
            intervals.append(event)
            words.append(clause)
        if self.years:
            intervals.append(_hull(map(year_interval, self.years)))
            words += self.years
        if intervals:
            return AskedTime(", ".join(words), _common(intervals), self.years, clause)
        return AskedTime("", Interval(-math.inf), is_tense=True) if self.is_past and may_be_tense else None


def depends_on_now(question: str, now: float) -> bool:
    """Return whether the times that a question names are others when it is asked years later."""
    return named_times(question, now).intervals != named_times(question, now + _YEARS).intervals


def named_times(question: str, now: float, offset: float = 0.0) -> NamedTimes:
    """Return the times that a question names.

    Args:
        question: the question as asked.
        now: the world time at which it is asked.
        offset: the seconds by which the clock of who asks is ahead of UTC.

    Returns:
        The times; nothing where world times are turns.
    """
    if not is_date(now):
        return NamedTimes()
    language = language_of(question)
    found = time_expressions(question, now + offset, language=language)
    named = [one for one in found if period_asked(one) is not None]
    is_past = Tenses(question, table(language)).is_certainly_past(0)
    event = _event_clause(question, named, language) if is_past else None
    outside = _without(question, named)
    if event is not None:
        outside = outside.replace(event.words, " ")
    return NamedTimes(
        tuple(question[one.start : one.end] for one in named),
        tuple(_earlier(interval, offset) for one in named if (interval := period_asked(one)) is not None),
        named_years(outside),
        event,
        is_past,
    )


def period_asked(expression: TimeExpression) -> Interval | None:
    """Return the time that an expression asks about; ``None`` for lengths and for what recurs."""
    if expression.role in ("duration", "recurring"):
        return None
    low, high = named_period(expression)
    if low is None and high is None:
        return None
    return Interval(-math.inf if low is None else low, math.inf if high is None else high)


def _earlier(interval: Interval, seconds: float) -> Interval:
    return Interval(interval.valid_from - seconds, interval.valid_to - seconds)


def _common(intervals: list[Interval]) -> Interval:
    """Return what some times have in common; what lies between them where that is nothing."""
    begin, end = max(one.valid_from for one in intervals), min(one.valid_to for one in intervals)
    return Interval(begin, end) if begin < end else _hull(intervals)


def _hull(intervals: Iterable[Interval]) -> Interval:
    found = list(intervals)
    return Interval(min(one.valid_from for one in found), max(one.valid_to for one in found))


def _without(question: str, named: Iterable[TimeExpression]) -> str:
    """Return a question with blanks in the place of the times that it names."""
    for one in named:
        question = question[: one.start] + " " * (one.end - one.start) + question[one.end :]
    return question


def _event_clause(question: str, named: list[TimeExpression], language: str) -> EventClause | None:
    words = table(language)
    for match in words.event.finditer(question):
        if any(one.start <= match.start() < one.end for one in named) or _DISTANCE.match(question):
            continue
        end = _CLAUSE_END.search(question, match.end())
        clause = question[match.end() : end.start() if end else len(question)].strip()
        first = _WORD.match(clause)
        if first is None or _opens_question(first[0].lower(), words.tense):
            continue  # "When did ...?", "Since when ...?"
        role = next(role for role in ("during", "before", "after") if words.is_event(match[0], role))
        whole = question[match.start() : end.start() if end else len(question)]
        return EventClause(whole.strip(), clause, question.replace(whole, " ", 1), role)  # type: ignore[arg-type]
    return None


def _opens_question(word: str, lists: dict[str, frozenset[str]]) -> bool:
    """Return whether a word after "when" is a verb, which makes that ask and not tell."""
    verbs = lists["past"] | lists["coming"] | lists["unclear"] | lists["perfect"]
    return word == "when" or ("'" not in word and "’" not in word and word in verbs)


def event_interval(
    event: EventClause, index: RetrievalIndex, vector: NDArray[np.float32], user: str = USER
) -> Interval | None:
    """Look up when something was among the statements of an index.

    Args:
        event: the clause that speaks of it.
        index: the index, with its graph.
        vector: the embedding of the clause.
        user: the name of the person who asks.

    Returns:
        For "when" and "while" the time in which it was so; for "before" the time until its beginning; for "after" that
        from its end, or from the beginning of what happened; ``None`` where that is not known.
    """
    wanted = set(words_of(event.clause)) - STOP_STEMS
    likely = _likely(event, index, vector, user) if wanted else []
    words = {number: set(words_of(str(index.graph.numbered_statement(number)))) - STOP_STEMS for number in likely}
    found = [number for number in likely if wanted <= words[number]]
    found = [number for number in found if index.graph.is_fact(number)] or found
    least = min((len(words[number]) for number in found), default=0)
    spans = [_span(number, index.graph) for number in found if len(words[number]) == least]
    known = [span for span in spans if span is not None]
    return _side(known, event.role) if known and len(known) == len(spans) else None


def _likely(event: EventClause, index: RetrievalIndex, vector: NDArray[np.float32], user: str) -> list[int]:
    """Return the statements nearest to a clause that are about the one whom it is about."""
    is_there = index.links.episodes_of.filled
    scores = np.where(is_there, index.statements.similarities(vector), np.float32(-np.inf))
    about: set[str] = set()
    first = _WORD.match(event.clause)
    if is_first_person(event.clause):
        about = {normalise_name(user), USER}
    elif first is not None and first[0].lower() in _THIRD_PERSON:
        about = {index.names.names[number] for number in names_in(event.rest, index.find)}
    numbers = best(scores, _LIKELY, index.statement_ties).tolist()
    return [number for number in numbers if not about or not about.isdisjoint(index.graph.names_of(number))]


def _span(number: int, graph: TemporalGraph) -> tuple[Interval, bool] | None:
    """Return when a statement held, and whether it tells an event; ``None`` where that was never, or several times."""
    versions = [one for one in graph.lasting_versions(number) if one.interval.valid_from < one.interval.valid_to]
    if len(versions) != 1:
        return None
    statement, interval = versions[0].statement, versions[0].interval
    if isinstance(statement, Fact):
        return interval, tells_event(statement)
    if not tells_past(statement.text):
        return interval, False
    told = graph.episode(versions[0].sources[0]).at
    stated = [period_asked(one) for one in time_expressions(statement.text, told, language=language_of(statement.text))]
    times = [one for one in stated if one is not None]
    return (times[0] if len(times) == 1 else interval), True


def _side(spans: list[tuple[Interval, bool]], role: str) -> Interval | None:
    """Return the time of, before or after what held in these intervals; ``None`` where they tell different times."""
    whole = _hull(interval for interval, _ in spans)
    begins = [interval.valid_from for interval, _ in spans]
    if max(begins) - min(begins) > DAY:
        return None
    if role == "before":
        return Interval(-math.inf, whole.valid_from)
    if role == "during":  # what happened was at a moment, and what was said of it was not said then
        return None if any(is_event for _, is_event in spans) else whole
    if not whole.is_open:
        return Interval(whole.valid_to)
    return Interval(whole.valid_from) if all(is_event for _, is_event in spans) else None
