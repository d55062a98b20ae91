"""Finds the times that a sentence names and resolves them against the time of its message.

The rules are tables, one file a language: words, and patterns of words that mean a time. A pattern that has a second
meaning ("may", "the 20th", "a second") counts only where that cannot be meant. What cannot be known is left out:
nothing is found in "recently" or "since I was twelve", and "on Monday" is nothing without a verb.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from worldthread.extract.times.periods import Calendar, Period, Precision
from worldthread.extract.times.tables import TimeMatch, TimeTable, table
from worldthread.extract.times.tenses import Direction, Tenses

Role: TypeAlias = Literal["at", "during", "since", "until", "by", "before", "after", "duration", "recurring"]

_EPOCH: Final = datetime(1970, 1, 1)
_TURNS: Final = 1e8
_KEPT: Final = 256  # sentences whose times are kept
_WORD_BEFORE: Final = re.compile(r"([^\W\d_]+)[\s'’-]{0,4}$")
_CLAUSE_END: Final = re.compile(r"\s{0,4}(?:[.,;:!?)\]\"”—–]|$)")
_NAME_FOLLOWS: Final = re.compile(r"\s{1,4}(?!I\b)[^\W\d_a-zà-ÿ]\w")
_CLAUSE_BEGIN: Final = re.compile(r"(?:^|[,;:.!?(—–])\s{0,3}$")
_ROLES: Final[tuple[Role, ...]] = ("at", "since", "until", "by", "before", "after", "during")
_NO_END_OF_A_RANGE: Final = {
    "recurring", "stretch", "length", "window", "window_ahead", "ahead", "edge_span", "years", "so_far", "rest",
}  # fmt: skip
_UNKNOWN_BOUND: Final[dict[str, tuple[str, ...]]] = {
    "since": ("middle", "end", "last", "part"), "until": ("begin", "middle", "part"), "by": ("begin", "middle", "part"),
    "before": ("middle", "end", "last", "part"), "after": ("begin", "middle", "part"),
}  # fmt: skip
_DAYS: Final = frozenset(("dayword", "date", "weekday", "day_of_month"))
_THROUGH: Final = re.compile(r"\s{1,4}(?:through|thru|until|till)\s", re.IGNORECASE)
_FOR: Final = re.compile(r",? {0,3}for (?:about |around |exactly |just )?", re.IGNORECASE)
_DASH: Final = re.compile(r"\s?[-–]")
_DATES: Final = {"date", "month", "iso", "numeric"}
_MOMENTS: Final = {"dayword", "part", "ago", "ahead", "iso", "numeric"}
_WITH_EDGE: Final = {"month", "year", "season", "quarter", "span", "edge_span", "decade"}
_EDGE_IS_ENOUGH: Final = {"year", "month", "decade"}
_WITHOUT_NAMES: Final = {"dayword", "ago", "ahead", "so_far", "rest"}
_SHORT: Final = {"second", "minute", "hour"}
_AFTER_CLOCK: Final = {"dayword", "part", "weekday"}
_DAY: Final = 86400.0
_COARSE: Final = {"month", "year", "decade"}


class TimeExpression(NamedTuple):
    """A time that a sentence names.

    What the roles mean, and what :func:`validity` makes of them:

    ========= ============================== ======================================================================
    role      examples                       a state holds ..., an event is ...
    ========= ============================== ======================================================================
    at        yesterday, in 2008, on Monday  in the period; an event that is past opens a state: from its beginning
    during    from 2010 to 2014, all summer  in the whole of the period
    since     since March, from June         from the beginning of the period, without an end
    until     until last month               to the end of the period (to its beginning after a negation)
    by        by Friday, within two weeks    from now to the end of the period, if it is to come
    before    before 2010                    to the beginning of the period; an event that is past is not dated
    after     after Easter                   from the end of the period, if it is to come; what is past is not dated
    duration  for two years                  from that long ago, with a verb in the present perfect; else not dated
    recurring every Saturday, on Mondays     at no time that could be given
    ========= ============================== ======================================================================

    Args:
        start: offset of its first character in the sentence, that of its preposition if it has one.
        end: offset after its last character.
        valid_from: seconds since 1970-01-01 UTC; ``None`` when it is open or unknown.
        valid_to: the first second after it; ``None`` when it is open or unknown.
        role: what the time is to what is said.
        precision: the unit in which the sentence gives it. "Three years ago" is a day, precise to a year.
    """

    start: int
    end: int
    valid_from: float | None
    valid_to: float | None
    role: Role
    precision: Precision


class Validity(NamedTuple):
    """When a statement holds, in seconds since 1970-01-01 UTC.

    Args:
        valid_from: the beginning, inclusive; ``None`` where no time is given.
        valid_to: the end, exclusive; ``None`` where no time is given.
        begins_by: the first second at which it has begun for certain, where there is a beginning and no end, and the
            beginning is given to a day, week, month or year only; else ``None``.
    """

    valid_from: float | None
    valid_to: float | None
    begins_by: float | None = None


def time_expressions(
    sentence: str, at: float, *, language: str = "en", is_past: bool | None = None
) -> list[TimeExpression]:
    """Return the times that a sentence names, resolved against the time of its message.

    All times are UTC. Weeks begin on Monday; seasons are the northern ones; a morning ends at 12:00, an evening begins
    at 17:00. "Early", "mid" and "late" are thirds of a month, a season, a quarter or a year; the end of a month is its
    last day, that of a year its last month. A weekday is never today: "on Monday" is the last one or the next. "Next
    Friday" is of the next week. "Last Friday" with the capital of a name is a name.
    A date such as 3/4/2024 is only its year, because the day may come first or second; in German, French and
    Spanish it comes first. The work is linear in the length of the sentence.

    >>> [(e.role, e.precision) for e in time_expressions("I've lived in Ghent since March.", 1715767200.0)]
    [('since', 'month')]

    Args:
        sentence: one sentence.
        at: time of the message in seconds since 1970-01-01 UTC. Nearer to zero than 10**8 it is a turn.
        language: ``"en"``, ``"de"``, ``"fr"`` or ``"es"``.
        is_past: the tense, if a parser has told it: past (also present perfect) or not; ``None`` guesses it for each
            time from the verbs around it.

    Returns:
        The expressions in the order of the sentence, without overlap; none when ``at`` is a turn.

    Raises:
        InputError: there is no table for ``language``.
    """
    return list(_time_expressions(sentence, at, language, is_past))


@lru_cache(_KEPT)
def _time_expressions(sentence: str, at: float, language: str, is_past: bool | None) -> tuple[TimeExpression, ...]:
    """Return what :func:`time_expressions` does: each fact of a sentence asks for its times again."""
    words = table(language)
    if not math.isfinite(at) or abs(at) < _TURNS:
        return ()
    try:
        now = _EPOCH + timedelta(seconds=at)
    except OverflowError:
        return ()
    first = words.search(sentence, 0)
    return tuple(_Reader(sentence, now, words, is_past).read(first)) if first else ()


def validity(expressions: Sequence[TimeExpression], at: float, *, is_past: bool, is_event: bool) -> Validity:
    """Return when a statement holds by the times that its clause names: where all of them hold.

    :class:`TimeExpression` says what each role gives. A state ("lived", "was at") holds in the period. An event that is
    past ("moved", "married", "quit") opens a state, or ends one, so it has a beginning and no end. An occasion
    ("visited", "watched") is over when it has happened, and holds in its period like a state. What is to come
    ("the concert is tomorrow", "we are moving in June") is in the period. The present perfect of a state ("has lived")
    is not past, that of an event ("has moved") is.

    Args:
        expressions: the times of the statement's clause; with those of another clause the result would be wrong.
        at: time of the message in seconds since 1970-01-01 UTC.
        is_past: whether the verb is in a tense of the past.
        is_event: whether the verb tells a change, not a state or an occasion.

    Returns:
        The bounds; none of them when the expressions exclude each other, or when the past is told by a time to come.
    """
    begin, end = -math.inf, math.inf
    latest: float | None = None
    for expression in expressions:
        low, high = _bounds(expression, at, is_past, is_event)
        if is_past and low is not None and low > at:
            continue
        if low is not None and low > begin:
            begin, latest = low, latest_beginning(expression, at, is_event=is_past and is_event)
        end = end if high is None else min(end, high)
    if begin >= end:
        return Validity(None, None)
    begins_by = latest if end == math.inf and latest is not None and latest > begin else None
    return Validity(begin if math.isfinite(begin) else None, end if math.isfinite(end) else None, begins_by)


def as_told(bounds: Validity, at: float) -> Validity:
    """Return bounds without a beginning that nothing says.

    Args:
        bounds: the bounds, of which the time of the message is the beginning of what is to end.
        at: time of the message in seconds since 1970-01-01 UTC.

    Returns:
        The bounds: of "I'm in Lyon until Friday" only the end; of what is over by then and has no beginning, the second
        before its end, since it held just before. ``begins_by`` only where there is a beginning and no end.
    """
    begin, end, begins_by = bounds
    if end is None:
        return Validity(begin, None, None if begin is None else begins_by)
    if begin is None and end <= at:
        return Validity(end - 1, end)
    return Validity(None if begin == at else begin, end)


def latest_beginning(expression: TimeExpression, at: float, *, is_event: bool) -> float | None:
    """Return the time before which what an expression dates begins: the end of the day, week, month or year given.

    Args:
        expression: the time.
        at: time of the message in seconds since 1970-01-01 UTC.
        is_event: whether it dates something that happened at a moment of its day: "joined on Monday"; what "is open
            from Monday" begins with the day.

    Returns:
        Seconds since 1970-01-01 UTC; not after the day of the message for a period that holds it, since "we moved this
        month" was before now. ``None`` where the beginning is exact.
    """
    low = expression.valid_from
    if is_event and expression.role == "since":
        return None  # "I've lost three kilos since March"
    latest = None if low is None else _end_of_unit(expression, low)
    if low is None or latest is None:
        return None
    if low <= at < latest:
        latest = at + _DAY - at % _DAY
    return latest if is_event or latest - low > _DAY else None


def _end_of_unit(expression: TimeExpression, low: float) -> float | None:
    if expression.role in ("at", "duration"):
        return in_unit(expression._replace(valid_to=expression.valid_to or low + _DAY))[1]
    if expression.role != "since" or low % _DAY:
        return None
    if expression.precision == "week":
        return low + 7 * _DAY
    if expression.precision not in ("month", "year"):
        return None
    begin, end = _calendar_unit(low, expression.precision)
    return end if begin == low else None


def _bounds(expression: TimeExpression, at: float, is_past: bool, is_event: bool) -> tuple[float | None, float | None]:
    low, high, role = expression.valid_from, expression.valid_to, expression.role
    if role == "at" and is_past:
        return (low, None) if is_event else in_unit(expression)
    if role == "duration" and is_past:
        return None, None
    if role == "until" and not is_past:
        return at, high
    if role == "by":
        return (None, None) if is_past else (at, high)
    if role == "before" and is_past and is_event:
        return None, None
    if role == "before" and not is_past:
        return at, high
    if role == "after" and is_past:
        return None, None
    return low, high


def named_period(expression: TimeExpression) -> tuple[float | None, float | None]:
    """Return the period that an expression asks about, when it stands in a question.

    Args:
        expression: the time.

    Returns:
        Its first second and the first after it; ``None`` where it is open. "Two years ago" is that calendar year.
        "Until 2022" ends with the beginning of 2022: what began in that year was not so until then.
    """
    low, high = in_unit(expression)
    if expression.role == "until" and high is not None:
        unit = expression.precision
        begin = _calendar_unit(high - 1, unit)[0] if unit in ("month", "year") else high - 1 - (high - 1) % _DAY
        return low, begin
    return low, high


def in_unit(expression: TimeExpression) -> tuple[float | None, float | None]:
    """Return the period of a time; the calendar month or year of a day that is precise to one: "three years ago".

    Args:
        expression: the time.

    Returns:
        Its beginning and its end in seconds since 1970-01-01 UTC, ``None`` where it has none.
    """
    low, high = expression.valid_from, expression.valid_to
    if low is None or high is None or high - low != _DAY or expression.precision not in _COARSE:
        return low, high
    return _calendar_unit(low, expression.precision)


def _calendar_unit(time: float, precision: Precision) -> tuple[float, float]:
    """Return the calendar month that holds a time, or for any other precision the year."""
    day = _EPOCH + timedelta(seconds=time)
    if precision == "month":
        following = (day.year + day.month // 12, day.month % 12 + 1)
        return _seconds(datetime(day.year, day.month, 1)), _seconds(datetime(*following, 1))
    return _seconds(datetime(day.year, 1, 1)), _seconds(datetime(day.year + 1, 1, 1))


class _Reader:
    def __init__(self, sentence: str, now: datetime, words: TimeTable, is_past: bool | None) -> None:
        self._sentence = sentence
        self._words = words
        self._now = now
        self._calendar = Calendar(now, words)
        self._tenses = Tenses(sentence, words, is_past)

    def read(self, match: TimeMatch | None) -> Iterator[TimeExpression]:
        position = 0
        while match:
            meant = self._meant(match)
            expression = self._expression(meant) if meant else None
            if expression:
                yield expression
                position = expression.end
            else:
                position = meant.end if meant else match.start + (len(match.lead) or 1)
            match = self._words.search(self._sentence, position)

    def _meant(self, match: TimeMatch) -> TimeMatch | None:
        """The match itself, or that of its first word as a part of the pattern ("vor" in "vor drei Jahren")."""
        whole = self._words.without_lead(self._sentence, match.start) if match.lead else None
        readings = (match, whole) if match.leads else (whole, match)
        return next((reading for reading in readings if reading and not self._means_something_else(reading)), None)

    def _word_before(self, match: TimeMatch) -> str:
        """The word before a match in lower case; none if it is the object of a verb, "her" in "I saw her last week"."""
        first, word = self._words_before(match.start)
        rejected = self._words.rejected
        if word in rejected["possessive_or_object"] and first and first not in rejected["before_possessive"]:
            return ""
        return word

    def _words_before(self, offset: int) -> tuple[str, str]:
        words: list[str] = []
        for _ in range(2):
            found = _WORD_BEFORE.search(self._sentence[max(0, offset - 24) : offset])
            words.insert(0, found[1].lower() if found else "")
            offset -= len(found[0]) if found else 0
        return words[0], words[1]

    def _means_something_else(self, match: TimeMatch) -> bool:
        rejected, kind, before = self._words.rejected, match.kind, self._word_before(match)
        if not match.leads and match.needs_word and not (match.edge and kind in _EDGE_IS_ENOUGH):
            return True
        if match.lead in rejected["only_first"] and not self._opens_clause(match.start):
            return True
        if self._is_title(match) or self._words.is_street(self._sentence, match.end):
            return True
        if not match.leads and "which" in match.fields and before in rejected["before_which"]:
            return True
        if match.leads & {"before", "after"} and before in rejected["before_lead"]:
            return True
        if kind == "weekday" and not match.leads and "which" not in match.fields:
            if before in rejected["before_weekday"]:
                return True
            has_clock = self._words.clock(self._sentence, match.end)[0] > match.end
            if self._week_of_second(match):
                return False
            is_bare = before in rejected["before_bare_weekday"] or not _CLAUSE_END.match(self._sentence, match.end)
            return is_bare and not has_clock
        if kind in {"ago", "length"} and before in rejected[f"before_{kind}"]:
            return True
        if kind in _MOMENTS and match.leads & {"during", "whole"} and "at" not in match.leads:
            return True
        if kind == "recurring":
            return bool(match.leads) and "at" not in match.leads
        if kind == "length":
            return not match.leads & {"at", "within", "since"}
        if kind == "now_itself":
            return not match.leads & {"from", "range", "until"}
        if kind == "edge_span":
            return not match.edge and "whole" not in match.leads
        if match.edge and kind not in _WITH_EDGE:
            return True
        if kind == "feast" and match.lead == "for" and not self._words.stay_for.search(self._sentence[: match.start]):
            return True
        if kind == "feast" and "year" not in match.fields and _NAME_FOLLOWS.match(self._sentence, match.end):
            return True
        if match.month_text in rejected["lower_case"] and "year" not in match.fields and kind != "date":
            return not match.leads and match.fields.get("which") not in {"last", "next"}
        return False

    def _week_of_second(self, match: TimeMatch) -> bool:
        """Whether a weekday begins a range that names its week: "Monday to Wednesday next week"."""
        second = self._words.second(self._sentence, match.end)
        return second is not None and second.kind == "weekday_of_week"

    def _opens_clause(self, offset: int) -> bool:
        return _CLAUSE_BEGIN.search(self._sentence[max(0, offset - 4) : offset]) is not None

    def _is_title(self, match: TimeMatch) -> bool:
        """Whether "Yesterday" or "Last Friday" has the capital of a name."""
        text, before = self._sentence[match.core :], self._sentence[: match.core].rstrip()
        if not text[0].isupper() or not before[-1:].isalnum() or self._sentence.isupper():
            return False
        return match.kind in _WITHOUT_NAMES or ("which" in match.fields and self._words.opens_with_which(text))

    def _expression(self, match: TimeMatch) -> TimeExpression | None:
        if match.kind == "recurring":
            return self._recurring(match, match.end)
        if match.kind in {"stretch", "long_stretch"}:
            return self._stretch(match)
        if match.kind == "length":
            return self._length(match)
        dashed = match.kind in _DATES and _DASH.match(self._sentence, match.end) and match.leads <= {"at"}
        through = match.kind in _DAYS and _THROUGH.match(self._sentence, match.end)  # "tomorrow through the 22nd"
        if (
            dashed
            or through
            or (match.kind == "weekday" and self._week_of_second(match))
            or (match.leads & {"from", "range"} and "at" not in match.leads)
        ):
            second = self._words.second(self._sentence, match.end)
            if second and second.kind not in _NO_END_OF_A_RANGE:
                if self._word_before(match) in self._words.rejected["moved"]:
                    return self._moved(match, second)
                return self._range(match, second)
        return self._single(match)

    def _recurring(self, match: TimeMatch, end: int) -> TimeExpression:
        return TimeExpression(match.start, end, None, None, "recurring", _precision_of(match.fields))

    def _stretch(self, match: TimeMatch) -> TimeExpression | None:
        """Read "for two years": with a present perfect it began that long ago; "for over two years" earlier."""
        # "for two weeks from Monday" ends with the two weeks
        begin_of = self._words.search(self._sentence, match.end) if match.kind == "stretch" else None
        if begin_of and "from" in begin_of.leads and not self._sentence[match.end : begin_of.start].strip():
            first = self._calendar.resolve(begin_of, "coming")
            period = self._lasting(first, match) if first else None
            if period:
                return self._made(match, begin_of.end, period, "during")
        begin = self._calendar.shifted(match.fields, -1)
        if begin is None:
            return None
        is_known = match.kind == "stretch" and self._words.perfect_lasts and self._tenses.is_perfect(match.start)
        since = _seconds(begin.start) if is_known else None
        return TimeExpression(match.start, match.end, since, None, "duration", begin.precision)

    def _length(self, match: TimeMatch) -> TimeExpression | None:
        """Read "in two weeks", "within two weeks" and "since two weeks"."""
        if "since" in match.leads:
            return self._made(match, match.end, self._calendar.resolve(match._replace(kind="ago"), None), "since")
        if self._tenses.is_perfect(match.start) and self._tenses.has("negation", match.start, before=True):
            # "I haven't smoked in two months"
            return self._made(match, match.end, self._calendar.resolve(match._replace(kind="ago"), None), "since")
        if not self._is_ahead(match):
            return None
        period = self._calendar.resolve(match._replace(kind="ahead"), None)
        return self._made(match, match.end, period, "at" if "at" in match.leads else "by")

    def _range(self, first: TimeMatch, second: TimeMatch) -> TimeExpression | None:
        direction = self._tenses.direction(first.start)
        calendar = self._calendar
        first_open, second_open = calendar.needs_tense(first), calendar.needs_tense(second)
        is_stay = self._words.stay.search(self._sentence) is not None
        is_planned = direction != "coming" or is_stay or self._tenses.has("planned", first.start)
        if first_open and second_open and first.kind == "weekday" and not is_planned:
            return self._recurring(first, second.end)
        if first_open and (not second_open or direction == "past"):
            until = calendar.resolve(second, direction)
            since = calendar.resolve(first, "past", until) if until else None
        else:
            since = calendar.resolve(first, direction)
            until = calendar.resolve(second, "coming" if second_open else direction, since if second_open else None)
        if since is None or until is None or since.start >= until.end:
            return None
        period = Period(since.start, until.end, until.precision)
        return self._made(first, second.end, period, "during")

    def _moved(self, old: TimeMatch, new: TimeMatch) -> TimeExpression | None:
        """Read "from Monday to Wednesday" of a meeting that is moved: it is on Wednesday."""
        period = self._calendar.resolve(new, self._direction_of_plan(new))
        return self._made(old, new.end, period, "at")

    def _direction_of_plan(self, match: TimeMatch) -> Direction | None:
        """That of what was moved "to Friday": a plan that was moved in the past may be past or to come."""
        is_open = self._tenses.is_perfect(match.start) or self._tenses.direction(match.start) == "coming"
        return "coming" if is_open else None

    def _single(self, match: TimeMatch) -> TimeExpression | None:
        direction = self._tenses.direction(match.start)
        if self._word_before(match) in self._words.rejected["before_new_date"] and not match.leads:
            direction = self._direction_of_plan(match)
        if match.leads & {"since"}:
            direction = "past"
        elif direction == "coming" and self._calendar.needs_tense(match) and self._tenses.has("habit", match.start):
            return self._recurring(match, match.end)
        period = self._calendar.resolve(match, direction)
        if period is None and match.lead in self._words.rejected["either_side"]:
            period = self._calendar.resolve(match, "past")  # "as of 1 March my rent is higher", said on 10 March
        if period is None:
            return None
        end, period = self._with_clock(match, period)
        if match.kind == "ago" and self._words.is_to_the_day(self._sentence[match.start : end]):
            period = period._replace(precision="day")
        if match.kind == "ago" and (after := self._words.that(self._sentence, match.end)) > match.end:
            return self._made(match, after, period, "since")
        if match.leads & {"from", "range"} and not match.leads & {"at", "since"}:
            if match.kind in {"month_days", "years"}:
                return self._made(match, end, period, "during")
            return self._from(match, end, period) if "from" in match.leads else None
        role: Role = "during" if "whole" in match.leads else "at"
        role = next((named for named in _ROLES if named in match.leads), role)
        if role == "at" and match.kind in {"month_days", "years", "window_ahead"}:
            role = "during"
        if role == "until" and self._tenses.has("negation", match.start, before=True):
            period = period._replace(end=period.start)
        return None if match.leads == {"within"} else self._made(match, end, period, role)

    def _from(self, match: TimeMatch, end: int, period: Period) -> TimeExpression | None:
        after = self._words.onwards(self._sentence, end)
        if after == end and self._is_attribute(match, period):
            return None
        length = self._words.search(self._sentence, after)
        if length and length.kind in {"length", "stretch"} and _FOR.fullmatch(self._sentence, after, length.core):
            whole = self._lasting(period, length)
            if whole:  # "from 6 January for 15 weeks"
                return self._made(match, length.end, whole, "during")
        return self._made(match, after, period, "since")

    def _lasting(self, first: Period, length: TimeMatch) -> Period | None:
        """The period of a length from the beginning of one that is to come."""
        last = Calendar(first.start, self._words).shifted(length.fields, 1)
        return Period(first.start, last.start, last.precision) if last and first.start >= self._now else None

    def _is_ahead(self, match: TimeMatch) -> bool:
        """Whether "in two weeks" says when, and not how long something takes."""
        if self._tenses.direction(match.start) == "past":
            return False
        return (
            match.fields["unit"] not in _SHORT
            or self._opens_clause(match.start)
            or self._tenses.has("gradual", match.start)
        )

    def _is_attribute(self, match: TimeMatch, period: Period) -> bool:
        """Whether "from 2010" may belong to a thing, as in "a car from 2010"."""
        if match.lead not in self._words.rejected["attributive"] or period.start > self._now:
            return False
        return not self._opens_clause(match.start)

    def _with_clock(self, match: TimeMatch, period: Period) -> tuple[int, Period]:
        if (
            period.precision != "day"
            or period.end - period.start != timedelta(days=1)
            or match.kind in {"ago", "ahead"}
        ):
            return match.end, period
        end, minutes = self._words.clock(self._sentence, match.end)
        if minutes is None:
            return end, period
        start = period.start + timedelta(minutes=minutes)
        return end, Period(start, start + timedelta(minutes=1), "minute")

    def _made(self, match: TimeMatch, end: int, period: Period | None, role: Role) -> TimeExpression | None:
        """An expression; ``None`` when only a part of the period is meant and the bound is within it."""
        if period is None:
            return None
        if match.edge in _UNKNOWN_BOUND.get(role, ()) and not self._calendar.is_part_known(period, match.edge):
            return None
        low, high = _seconds(period.start), _seconds(period.end)
        bounds: dict[Role, tuple[float | None, float | None]] = {
            "since": (low, None),
            "until": (None, high),
            "by": (None, high),
            "before": (None, low),
            "after": (high, None),
        }
        start = match.start if match.leads else match.core
        if match.kind in _AFTER_CLOCK and not match.leads:
            start = self._words.before_clock(self._sentence, start)
        if end == len(self._sentence) and self._sentence[end - 1] == ".":
            end -= 1  # the end of the sentence, not of an abbreviation
        return TimeExpression(start, end, *bounds.get(role, (low, high)), role, period.precision)


def _seconds(moment: datetime) -> float:
    return (moment - _EPOCH).total_seconds()


def _precision_of(fields: dict[str, str]) -> Precision:
    if {"weekday", "feast", "part", "day"} & fields.keys():
        return "day"
    if "month" in fields:
        return "month"
    if "season" in fields:
        return "season"
    unit = fields.get("unit") or fields["span"]
    if unit in {"fortnight", "decade"}:
        return "week" if unit == "fortnight" else "decade"
    return "day" if unit == "weekend" else unit  # type: ignore[return-value]  # the keys of `unit` are precisions
