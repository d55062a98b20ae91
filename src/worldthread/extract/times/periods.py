"""Resolves what a pattern names ("last Friday", "in May", "three years ago") to a period of the calendar, in UTC.

Weeks begin on Monday, weekends on Saturday. Seasons are the northern, meteorological ones: spring is March to May.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from worldthread.extract.times.tables import TimeMatch, TimeTable
from worldthread.extract.times.tenses import Direction

if TYPE_CHECKING:
    from dateutil.relativedelta import relativedelta

Precision: TypeAlias = Literal[
    "second", "minute", "hour", "day part", "day", "week", "month", "season", "quarter", "year", "decade"
]

_DAY: Final = timedelta(days=1)
_NEAR: Final = timedelta(days=60)
_FAR: Final = timedelta(days=270)
_LENGTHS: Final = {"second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_HALVES: Final[dict[str, tuple[int, Precision]]] = {
    "year": (6, "month"), "month": (15, "day"), "day": (12, "hour"), "hour": (30, "minute"),
}  # fmt: skip
_MULTIPLES: Final[dict[str, tuple[str, int, Precision]]] = {
    "fortnight": ("week", 2, "week"), "quarter": ("month", 3, "quarter"), "decade": ("year", 10, "decade"),
}  # fmt: skip
_MONTHS_OF_EDGES: Final[dict[str, dict[str, tuple[int, int]]]] = {
    "season": {"begin": (0, 1), "middle": (1, 2), "end": (2, 3), "last": (2, 3)},
    "quarter": {"begin": (0, 1), "middle": (1, 2), "end": (2, 3), "last": (2, 3)},
    "year": {"begin": (0, 4), "middle": (4, 8), "end": (8, 12), "last": (11, 12)},
    "decade": {"begin": (0, 48), "middle": (36, 84), "end": (72, 120), "last": (108, 120)},
}
_THIRDS: Final = (timedelta(days=10), timedelta(days=20))  # of a month, after its first day
_SMALLER: Final = {"year": "months", "month": "days", "day": "hours", "hour": "minutes"}


class Period(NamedTuple):
    """A half-open interval.

    Args:
        start: its first moment.
        end: the first moment after it.
        precision: the unit in which the text gives it: "three years ago" is a day, precise to a year.
    """

    start: datetime
    end: datetime
    precision: Precision


_Build: TypeAlias = Callable[[int], Period | None]
"""The period of a year: February 29 has none in most years."""


class Calendar:
    """The calendar as seen at the time of a message.

    Args:
        now: the time of the message, in UTC and without a time zone.
        table: the words of the language.
    """

    def __init__(self, now: datetime, table: TimeTable) -> None:
        from dateutil.easter import easter
        from dateutil.relativedelta import relativedelta

        self._easter = easter
        self._delta: type[relativedelta] = relativedelta
        self._table = table
        self._now = now
        self._is_of_range = False  # "from 1 September to 31 August": the second day is most of a year away
        self._today = datetime(now.year, now.month, now.day)

    def needs_tense(self, match: TimeMatch) -> bool:
        """Return whether the period depends on whether it has been or is to come.

        Args:
            match: what was found.

        Returns:
            Whether it does: "on Monday" and "in May" do, "last Monday" and "in May 2020" do not.
        """
        if {"which", "year", "that_year"} & match.fields.keys():
            return False
        return match.kind in {
            "weekday", "month", "season", "quarter", "feast", "date", "month_days", "day_of_month", "beside_feast",
            "nth_weekday",
        }  # fmt: skip

    def resolve(self, match: TimeMatch, direction: Direction | None, anchor: Period | None = None) -> Period | None:
        """Return the period that a match names.

        Args:
            match: what was found.
            direction: whether it has been or is to come; ``None`` if unknown.
            anchor: the other end of a range, before or after which the period lies, by the direction.

        Returns:
            The period; ``None`` when it cannot be known, is not a date, or lies beyond the years 1 to 9999.
        """
        if anchor and direction:
            calendar = Calendar(anchor.start, self._table)
            calendar._is_of_range = True
            return calendar.resolve(match, direction)
        try:
            method: Any = getattr(self, f"_{match.kind}")
            period: Period | None = method(match.fields, direction)
            return self._part_of(period, match.edge) if period and match.edge else period
        except (OverflowError, ValueError):
            return None

    def is_part_known(self, period: Period, edge: str) -> bool:
        """Return whether "early", "mid" or "late" of a period is a period by itself.

        Args:
            period: what the whole is.
            edge: the part, as in a match.

        Returns:
            Whether it is: the early part of a month is, that of a week is not.
        """
        return edge != "part" and (period.precision == "month" or period.precision in _MONTHS_OF_EDGES)

    def _part_of(self, period: Period, edge: str) -> Period:
        """A third of the period; its last day or month for "the end of". Parts of weeks and halves are the whole."""
        if not self.is_part_known(period, edge):
            return period
        start, end, precision = period
        if precision == "month":
            second, third = start + _THIRDS[0], start + _THIRDS[1]
            parts = {
                "begin": (start, second),
                "middle": (second, third),
                "end": (third, end),
                "last": (end - _DAY, end),
            }
            return Period(*parts[edge], precision)
        first, last = _MONTHS_OF_EDGES[precision][edge]
        return Period(start + self._delta(months=first), start + self._delta(months=last), precision)

    def shifted(self, fields: dict[str, str], sign: int) -> Period | None:
        """Return the day, hour, minute or second that lies a length of time from now.

        Args:
            fields: "n", "unit" and "half" of a match; a missing "n" counts 1.
            sign: -1 for the past, 1 for the future.

        Returns:
            The period; ``None`` for a length that has no halves, such as half a week.
        """
        unit, count = fields["unit"], self._table.count(fields["n"]) if "n" in fields else 1.0
        if count is None:
            return None
        precision: Precision = unit  # type: ignore[assignment]  # the other keys of the table `unit` are precisions
        if unit in _MULTIPLES:
            unit, factor, precision = _MULTIPLES[unit]
            count *= factor
        whole, half = divmod(count + (0.5 if "half" in fields else 0), 1)
        arguments: dict[str, int] = {f"{unit}s": sign * int(whole)}
        if half:
            if unit not in _HALVES:
                return None
            amount, precision = _HALVES[unit]
            arguments[_SMALLER[unit]] = sign * amount
        days = int(fields["dayword"].partition(" ")[0]) if "dayword" in fields else 0
        moment = self._now + timedelta(days=days) + self._delta(**arguments)  # its keywords are the units
        if precision in _LENGTHS:
            return Period(moment, moment + _LENGTHS[precision], precision)
        return self._day(moment)._replace(precision=precision)

    def _day(self, moment: datetime) -> Period:
        start = datetime(moment.year, moment.month, moment.day)
        return Period(start, start + _DAY, "day")

    def _months(self, year: int, month: int, length: int, precision: Precision) -> Period:
        start = datetime(year, month, 1)
        return Period(start, start + self._delta(months=length), precision)

    def _in_part(self, period: Period, fields: dict[str, str]) -> Period:
        if "part" not in fields:
            return period
        begin, end = fields["part"].split("-")
        start = period.start
        return Period(start + timedelta(hours=int(begin)), start + timedelta(hours=int(end)), "day part")

    def _nearest(self, candidates: list[Period], direction: Direction | None) -> Period | None:
        """The last of the candidates that has begun, or the first that has not ended, by the direction."""
        if direction == "past":
            return next((period for period in reversed(candidates) if period.start <= self._now), None)
        if direction == "coming":
            return next((period for period in candidates if period.end > self._now), None)
        return None

    def _of_years(self, build: _Build, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """One of the periods that recur yearly: of the year that is named, by "last" or "next", or the nearest."""
        if "year" in fields:
            return build(int(fields["year"]))
        if "that_year" in fields:
            return build(self._now.year + int(fields["that_year"]))
        year, which = self._now.year, fields.get("which")
        reach = 8 if direction else 2  # leap days are up to eight years apart
        candidates = [
            found for other in range(max(1, year - reach), min(9999, year + reach + 1)) if (found := build(other))
        ]
        if which is None or which in {"past", "coming"}:
            return self._nearest(candidates, "past" if which == "past" else "coming" if which else direction)
        if which == "last":
            return next((period for period in reversed(candidates) if period.end <= self._now), None)
        if which == "this":
            current = next((period for period in candidates if period.start <= self._now < period.end), None)
            near = self._nearest(candidates, direction)
            return current or near or next((period for period in candidates if period.start.year == year), None)
        following = next((period for period in candidates if period.start > self._now), None)
        # "next June" said in May may be of this year or of the next
        return following if following and following.start.year > year else None

    def _iso(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        day = datetime.fromisoformat(fields["iso"].replace("/", "-"))
        if "time" not in fields:
            return self._day(day)
        hour, minute = fields["time"].split(":")
        start = day.replace(hour=int(hour), minute=int(minute))
        return Period(start, start + _LENGTHS["minute"], "minute")

    def _numeric(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        first, second, year = (int(part) for part in fields["numeric"].replace("/", "-").replace(".", "-").split("-"))
        is_day_first = self._table.day_first or "." in fields["numeric"]  # nobody writes "6.11.2026" for 11 June
        readings = {(first, second)} if is_day_first else {(first, second), (second, first)}
        days = [datetime(year, month, day) for day, month in readings if month <= 12 and day <= 31]
        if not days:
            return None
        if len(days) == 1:
            return self._day(days[0])
        return self._months(year, 1, 12, "year")

    def _slashed(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "8/17", "17/8/26", "4/27-5/8"; no day where months and days may be told the other way."""
        if "short_year" in fields:
            with_century = f"{fields['first']}/{fields['second']}/20{fields['short_year']}"
            return self._numeric({"numeric": with_century}, direction)
        pairs = [(int(fields["first"]), int(fields["second"]))]
        if "third" in fields:
            pairs.append((int(fields["third"]), int(fields["fourth"])))
        month_first = all(1 <= month <= 12 and 1 <= day <= 31 for month, day in pairs)
        day_first = all(1 <= month <= 12 and 1 <= day <= 31 for day, month in pairs)
        if month_first == day_first and not (month_first and all(one == other for one, other in pairs)):
            return None
        days = [pair if month_first else pair[::-1] for pair in pairs]
        periods = [self._date({"month": str(month), "day": str(day)}, direction) for month, day in days]
        first, last = periods[0], periods[-1]
        return Period(first.start, last.end, "day") if first and last and first.start < last.end else None

    def _week_of(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "the week of 27 October": Monday to Sunday."""
        day = self._date(fields, direction) if "month" in fields else self._day_of_month(fields, direction)
        if day is None:
            return None
        monday = day.start - timedelta(days=day.start.weekday())
        return Period(monday, monday + 7 * _DAY, "week")

    def _date(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        return self._unless_other_is_near(self._dates(fields, "day"), fields, direction)

    def _month_days(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        return self._unless_other_is_near(self._dates(fields, "day2"), fields, direction)

    def _unless_other_is_near(
        self, build: _Build, fields: dict[str, str], direction: Direction | None
    ) -> Period | None:
        """The day by the tense; none if that is most of a year away, and that day of another year is near."""
        # people leave out the year of near days, and the verb may belong to something else: "choosing the talk on
        # April 18 was right", said on April 12
        period = self._of_years(build, fields, direction)
        is_sure = self._is_of_range or bool({"year", "that_year"} & fields.keys())
        if period is None or is_sure or abs(period.start - self._now) <= _FAR:
            return period
        other = self._of_years(build, fields, "coming" if direction == "past" else "past")
        return None if other and abs(other.start - self._now) <= _NEAR else period

    def _dates(self, fields: dict[str, str], last: str) -> _Build:
        month, first, final = int(fields["month"]), int(fields["day"]), int(fields[last])

        def build(year: int) -> Period | None:
            try:
                start, end = datetime(year, month, first), datetime(year, month, final) + _DAY
            except ValueError:  # February 29
                return None
            return Period(start, end, "day") if start < end else None

        return build

    def _day_of_month(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        is_today = int(fields["day"]) == self._today.day and "weekday" not in fields and direction == "coming"
        first = self._today.replace(day=1)
        candidates = []
        for month in range(-3, 4):
            if is_today and month == 0:
                continue  # whoever means today says so
            start = first + self._delta(months=month)
            try:
                candidates.append(self._day(start.replace(day=int(fields["day"]))))
            except ValueError:  # a month of 30 days
                continue
        return self._nearest(candidates, direction)

    def _month(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        month = int(fields["month"])
        return self._of_years(lambda year: self._months(year, month, 1, "month"), fields, direction)

    def _season(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        month = int(fields["season"])
        return self._of_years(lambda year: self._months(year, month, 3, "season"), fields, direction)

    def _feast(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        rule = fields["feast"]

        def build(year: int) -> Period:
            if rule.startswith("easter"):
                date = self._easter(year) + timedelta(days=int(rule.removeprefix("easter")))
                return self._day(datetime(date.year, date.month, date.day))
            if "/" in rule:
                rule_of_weekday, _, more = rule.partition("+")
                month, weekday, nth = (int(part) for part in rule_of_weekday.split("/"))
                return self._day(self._nth_weekday_of(year, month, weekday, nth) + timedelta(days=int(more or 0)))
            month, day = (int(part) for part in rule.split("-"))
            return self._day(datetime(year, month, day))

        return self._of_years(build, fields, direction)

    def _nth_weekday_of(self, year: int, month: int, weekday: int, nth: int) -> datetime:
        """The nth weekday of a month, the last one for -1."""
        first = datetime(year, month, 1)
        if nth < 0:
            final: datetime = first + self._delta(months=1) - _DAY
            return final - timedelta(days=(final.weekday() - weekday) % 7)
        day = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))
        if day.month != month:
            raise ValueError(f"{year}-{month} has no such weekday")
        return day

    def _nth_weekday(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "the first Monday of June", "the last Friday of next month"."""
        weekday, nth = int(fields["weekday"]), int(fields.get("day", -1))
        if "span" in fields:
            month = self._span(fields, direction).start
            return self._day(self._nth_weekday_of(month.year, month.month, weekday, nth))
        number = int(fields["month"])
        return self._of_years(
            lambda year: self._day(self._nth_weekday_of(year, number, weekday, nth)), fields, direction
        )

    def _day_of_span(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "the 1st of next month"."""
        return self._day(self._span(fields, direction).start.replace(day=int(fields["day"])))

    def _beside_feast(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "the day after Christmas", "two days before Easter"."""
        if fields["unit"] != "day":
            return None
        count = self._table.count(fields["n"]) if "n" in fields else 1.0
        feast = self._feast(fields, direction)
        if feast is None or count is None or count % 1:
            return None
        return self._day(feast.start + timedelta(days=int(fields["beside"]) * int(count)))

    def _quarter(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        month = 3 * int(fields["quarter"]) - 2
        return self._of_years(lambda year: self._months(year, month, 3, "quarter"), fields, direction)

    def _nth_ago(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "two summers ago": counted are those that are over, the last one too if it is clear that it counts."""
        count = self._table.count(fields["n"])
        if count is None or count % 1 or count < 1:
            return None
        steps = int(count)
        if "span" in fields:
            return self._nth_span("weekend", -steps)
        if "weekday" in fields:
            last = self._weekday({**fields, "which": "last"}, direction)
            return (
                Period(last.start - 7 * (steps - 1) * _DAY, last.end - 7 * (steps - 1) * _DAY, "day") if last else None
            )
        kind = next(field for field in ("season", "feast", "month") if field in fields)
        build: Any = getattr(self, f"_{kind}")
        last = build({kind: fields[kind], "which": "last"}, direction)
        if last is None or last.start.year == self._now.year:
            return None  # of this year: "two summers ago" said in October may be of the last year or of that before
        return build({kind: fields[kind], "year": str(last.start.year - steps + 1)}, direction)  # type: ignore[no-any-return]

    def _nth_back(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "the summer before last", "the Friday before last"."""
        if "season" not in fields:
            return self._nth_ago({**fields, "n": "2"}, direction)
        last = self._season({**fields, "which": "last"}, direction)
        return self._season({"season": fields["season"], "year": str(last.start.year - 1)}, direction) if last else None

    def _same_time(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "this time last year": the day that lies as far from today."""
        sign = {"last": -1, "past": -1, "next": 1, "coming": 1}.get(fields["which"])
        unit = fields["span"]
        if sign is None or unit not in ("week", "month", "year"):
            return None
        return self.shifted({"unit": unit}, sign)

    def _weekday_of_week(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "Tuesday of next week", "last week on Tuesday"."""
        start = self._span({"span": "week", "which": fields["which"]}, direction).start
        return self._in_part(self._day(start + timedelta(days=int(fields["weekday"]))), fields)

    def _weeks_from_weekday(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "a week from Friday", "two weeks on Monday", "Friday week"."""
        count = self._table.count(fields["n"]) if "n" in fields else 1.0
        first = self._weekday({"weekday": fields["weekday"]}, "coming")
        if count is None or count % 1 or first is None or fields["unit"] not in {"week", "fortnight"}:
            return None
        days = timedelta(days=7 * int(count) * (2 if fields["unit"] == "fortnight" else 1))
        return Period(first.start + days, first.end + days, "day")

    def _weeks_before_weekday(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "a week ago last Saturday": as long before the last Saturday."""
        count = self._table.count(fields["n"])
        last = self._weekday({"weekday": fields["weekday"], "which": "last"}, direction)
        if count is None or count % 1 or last is None:
            return None
        days = timedelta(days=7 * int(count) * (2 if fields["unit"] == "fortnight" else 1))
        return Period(last.start - days, last.end - days, "day")

    def _unclear(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read nothing in "a week ago Tuesday", which has two meanings."""
        return None

    def _so_far(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "earlier this year"."""
        whole = self._span(fields, direction) if "span" in fields else self._day(self._today)
        return whole._replace(end=self._now) if whole.start < self._now else None

    def _rest(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "later this year"."""
        whole = self._span(fields, direction) if "span" in fields else self._day(self._today)
        return whole._replace(start=self._now) if self._now < whole.end else None

    def _window_ahead(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "for the next three weeks"."""
        last = self.shifted(fields, 1)
        if last is None or last.end <= self._now:
            return None
        return Period(self._now, last.end, last.precision)

    def _year(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        return self._months(int(fields["year"]), 1, 12, "year")

    def _years(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        start, end = int(fields["year"]), int(fields["year2"])
        return Period(datetime(start, 1, 1), datetime(end + 1, 1, 1), "year") if start <= end else None

    def _decade(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        if "decade" not in fields and direction != "past":  # "in the 90s" may be a temperature
            return None
        start = int(fields["decade"]) if "decade" in fields else 1900 + int(fields["short_decade"])
        return self._months(start, 1, 120, "decade")

    def _dayword(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        days, _, part = fields["dayword"].partition(" ")
        day = self._day(self._today + timedelta(days=int(days)))
        return self._in_part(day, {"part": part} if part else fields)

    def _part(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        days = {"last": -1, "this": 0}.get(fields["which"])
        return None if days is None else self._in_part(self._day(self._today + timedelta(days=days)), fields)

    def _weekday(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        weekday, which = int(fields["weekday"]), fields.get("which")
        monday = self._today - timedelta(days=self._today.weekday())
        if which == "this":
            day = monday + timedelta(days=weekday)
        elif which == "next" and self._table.next_is_of_the_next_week:
            day = monday + timedelta(days=7 + weekday)
        elif which in {"last", "past"} or (which is None and direction == "past"):
            day = self._today - timedelta(days=(self._today.weekday() - weekday - 1) % 7 + 1)
        elif which in {"next", "coming"} or direction == "coming":
            day = self._today + timedelta(days=(weekday - self._today.weekday() - 1) % 7 + 1)
        else:
            return None
        return self._in_part(self._day(day), fields)

    def _span(self, fields: dict[str, str], direction: Direction | None) -> Period:
        which = fields.get("which", "this")
        steps = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1}[which]
        period = self._nth_span(fields["span"], steps)
        if fields["span"] == "weekend" and which == "this" and direction == "past" and period.start > self._now:
            return self._nth_span("weekend", -1)
        return period

    _edge_span = _span

    def _span_before_last(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        return self._nth_span(fields["span"], -2)

    def _span_after_next(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        return self._nth_span(fields["span"], 2)

    def _weekday_after_next(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "the Sunday after next"."""
        first = self._weekday(fields, "coming")
        return None if first is None else Period(first.start + 7 * _DAY, first.end + 7 * _DAY, "day")

    def _nth_span(self, span: str, steps: int) -> Period:
        first = self._today.replace(day=1)
        if span == "month":
            start = first + self._delta(months=steps)
            return self._months(start.year, start.month, 1, "month")
        if span == "quarter":
            start = first + self._delta(months=3 * steps - (first.month - 1) % 3)
            return self._months(start.year, start.month, 3, "quarter")
        if span == "year":
            return self._months(first.year + steps, 1, 12, "year")
        monday = self._today + timedelta(days=7 * steps - self._today.weekday())
        if span == "week":
            return Period(monday, monday + 7 * _DAY, "week")
        return Period(monday + 5 * _DAY, monday + 7 * _DAY, "day")

    def _ago(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        return None if self._is_figure_of_speech(fields, {"second"}) else self.shifted(fields, -1)

    def _some_ago(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        """Read "a few weeks ago": some time from six to two of them before."""
        if fields["unit"] in {"second", "minute", "hour"}:
            return None
        first = self.shifted({**fields, "n": "6"}, -1)
        last = self.shifted({**fields, "n": "2"}, -1)
        return None if first is None or last is None else Period(first.start, last.end, first.precision)

    def _ahead(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        return None if self._is_figure_of_speech(fields, {"second", "minute"}) else self.shifted(fields, 1)

    def _is_figure_of_speech(self, fields: dict[str, str], units: set[str]) -> bool:
        """Whether it is "a second ago" or "in a minute"."""
        return fields["unit"] in units and not fields["n"][:1].isdecimal() and self._table.count(fields["n"]) == 1

    def _window(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        begin = self.shifted(fields, -1)
        return Period(begin.start, self._now, begin.precision) if begin and begin.start < self._now else None

    def _now_itself(self, fields: dict[str, str], direction: Direction | None) -> Period | None:
        return Period(self._now, self._now, "second")
