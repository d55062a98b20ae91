from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldthread import Memory
from worldthread.errors import InputError
from worldthread.extract.when import (
    asked_time,
    require_time_of_saying,
    shown_beginning,
    shown_period,
    shown_time,
    time_of_saying,
    world_time,
)
from worldthread.types import Fact

MAY = 1714557600.0  # 2024-05-01 10:00 UTC


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (7, 7.0),
        (-0.5, -0.5),
        ("42", 42.0),
        (" 1714557600.25 ", MAY + 0.25),
        ("1e3", 1000.0),
        ("20240501", 20240501.0),
        (datetime(2024, 5, 1, 10), MAY),
        (datetime(2024, 5, 1, 10, tzinfo=UTC), MAY),
        (datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2))), MAY),
        (date(2024, 5, 1), MAY - 36000),
        ("2024-05-01", MAY - 36000),
        ("2024-05", MAY - 36000),
        ("2024", 1704067200.0),
        ("2024-05-01 10:00", MAY),
        ("2024-05-01T10:00:00.5", MAY + 0.5),
        ("2024-05-01T10:00:00Z", MAY),
        ("2024-05-01T12:00:00+02:00", MAY),
        ("1969-12-31T23:59:59Z", -1.0),
        ("0001-01-01T00:00:00+14:00", -62135647200.0),
    ],
)
def test_forms_that_are_taken(value: Any, expected: float) -> None:
    assert world_time(value, 3.0) == expected


def test_nothing_is_the_default() -> None:
    assert world_time(None, 3.0) == 3.0


@pytest.mark.parametrize("value", [True, False, "", "yesterday", "01/05/2024", "2024-13-01", "1_000", "١٢", [1], b"1"])
def test_other_forms_are_refused_with_those_that_are_taken(value: Any) -> None:
    with pytest.raises(InputError, match="2024-05-01T10:30:00"):
        world_time(value, 0.0)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (1_709_251_200_000, "looks like milliseconds; give 1709251200 "),
        (1_709_251_200_123.0, "looks like milliseconds; give 1709251200.123 "),
        ("1709251200000", "looks like milliseconds; give 1709251200 "),
        (1_709_251_200_000_000, "looks like microseconds; give 1709251200 "),
        (1_709_251_200_000_000_000, "looks like nanoseconds; give 1709251200 "),
        (-62_135_596_800, "before the year 1000"),
        (1e300, "too large"),
    ],
)
def test_a_number_that_cannot_be_meant_is_refused_with_what_is_probably_meant(value: Any, hint: str) -> None:
    with pytest.raises(InputError, match=re.escape(hint)):
        world_time(value, 0.0)
    with pytest.raises(InputError, match=re.escape(hint)):
        asked_time(value)


@pytest.mark.parametrize(
    ("value", "last"),
    [
        ("2023", "2023-12-31T23:59:59Z"),
        ("2024-02", "2024-02-29T23:59:59Z"),
        ("2024-03-01", "2024-03-01T23:59:59Z"),
        (date(2024, 3, 1), "2024-03-01T23:59:59Z"),
        ("2024-03-01T10:00", "2024-03-01T10:00:00Z"),
        (datetime(2024, 3, 1), "2024-03-01"),
        (MAY, "2024-05-01T10:00:00Z"),
    ],
)
def test_a_day_month_or_year_that_is_asked_about_is_asked_about_to_its_end(value: Any, last: str) -> None:
    found = asked_time(value)
    assert found is not None
    assert shown_time(found) == last


def test_four_digits_are_a_year_or_a_turn() -> None:
    assert world_time("2025", 0.0, counts_turns=True) == asked_time("2025", counts_turns=True) == 2025
    assert shown_time(world_time("2025", 0.0)) == "2025-01-01"
    assert world_time(2025, 0.0) == 2025, "a number is taken as it is"
    with pytest.raises(InputError, match='give "2025" for the year'):
        asked_time(2025)


def test_turns_and_dates_are_not_mixed() -> None:
    assert require_time_of_saying(12, MAY, None) is require_time_of_saying(12, MAY, True) is True
    assert require_time_of_saying(MAY, MAY, None) is require_time_of_saying(MAY, MAY, False) is False
    with pytest.raises(InputError, match="12 is the number of a turn, and this memory holds dates"):
        require_time_of_saying(12, MAY, False)
    with pytest.raises(InputError, match=r'"2025" for the year'):
        require_time_of_saying(2025, MAY, False)
    with pytest.raises(InputError, match="this memory counts turns"):
        require_time_of_saying(MAY, MAY, True)


@pytest.mark.parametrize("at", ["0900-01-01", "2224-05-01", "9999-12-31"])
def test_what_is_told_is_told_in_our_time(at: str) -> None:
    with pytest.raises(InputError, match="the time is when this was told"):
        require_time_of_saying(world_time(at, 0.0), MAY, False)


def test_a_memory_refuses_what_it_cannot_compare() -> None:
    with Memory(model="none", embedder="fake", clock=lambda: MAY) as memory:
        for at in ("2025", "2224-03-01", 1_709_251_200_000, "0001-01-01"):
            if at == "2025":
                memory.remember("Anna lives in Rome.", at="2024")
                continue
            with pytest.raises(InputError):
                memory.remember("Anna lives in Oslo.", at=at)
            with pytest.raises(InputError):
                memory.remember([{"role": "user", "content": "Anna lives in Oslo.", "at": at}])
        with pytest.raises(InputError, match="holds dates"):
            memory.remember("Anna lives in Oslo.", at=3)
        with pytest.raises(InputError, match="looks like milliseconds"):
            memory.remember(Fact("Anna", "lives in", "Oslo", valid_from=1_709_251_200_000))
        memory.remember("Anna moved to Paris.", at="2024-12-20")
        for as_of, home in (("2023", None), ("2024", "Paris"), ("2024-11", "Rome"), ("2024-12-20", "Paris")):
            assert memory.view(as_of).value("Anna", "lives in") == home, as_of
            assert [v.statement for v in memory.about("Anna", as_of=as_of) if isinstance(v.statement, Fact)] == (
                [] if home is None else [Fact("Anna", "lives in", home)]
            )
        with pytest.raises(InputError, match="milliseconds"):
            memory.recall("Anna", as_of=1_709_251_200_000)


def test_a_memory_of_turns_counts_turns() -> None:
    with Memory(model="none", embedder="fake", extractor="prose", clock=lambda: MAY) as memory:
        memory.remember("The key is in the hall.", at=1999)
        memory.remember("The key is in the cellar.", at="2001")
        assert [v.interval.valid_from for v in memory.timeline("key") if isinstance(v.statement, Fact)] == [1999, 2001]
        assert memory.view("2000").value("key", "is in") == "hall"
        with pytest.raises(InputError, match="counts turns"):
            memory.remember("The key is in the sea.", at="2024-05-01")
        note = memory.episode(memory.remember("The key is in the sea.").episodes[0])
        merged = memory.merge("key", "brass key")
        assert 2001 < note.at < merged.at < 2001.001, "what names no turn comes after the latest"
        assert memory.view().value("key", "is in") == "sea"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, "1e999", "9" * 400])
def test_only_finite_numbers(value: Any) -> None:
    with pytest.raises(InputError, match="finite"):
        world_time(value, 0.0)


def test_the_message_shortens_what_it_quotes() -> None:
    with pytest.raises(InputError) as caught:
        world_time("x" * 10**6, 0.0)
    assert len(str(caught.value)) < 500


def test_turns_are_shown_as_numbers_and_moments_as_dates() -> None:
    assert shown_time(3.0) == "3"
    assert shown_time(-2.5) == "-2.5"
    assert shown_time(99_999_999) == "99999999"
    assert shown_time(1e8) == "1973-03-03T09:46:40Z"
    assert shown_time(MAY) == "2024-05-01T10:00:00Z"
    assert shown_time(-1e9) == "1938-04-24T22:13:20Z"
    assert shown_time(1e300) == "1e+300"
    assert shown_time(math.inf) == "inf"


@given(st.floats(-6.2e10, 2.5e11))
def test_what_is_shown_is_taken(at: float) -> None:
    near = 5.1e-4 if abs(at) < 1e8 else 0.51
    assert world_time(shown_time(at), 0.0, counts_turns=abs(at) < 1e8) == pytest.approx(at, abs=near)


def test_midnight_is_shown_as_its_date_and_microseconds_are_not_shown() -> None:
    midnight = world_time("2024-05-01", 0.0)
    assert shown_time(midnight) == shown_time(midnight - 3e-6) == "2024-05-01"
    assert shown_time(7 - 3e-6) == "7"


def test_the_time_of_saying_is_that_of_the_list_to_the_second() -> None:
    day = datetime(2024, 5, 1, tzinfo=UTC).timestamp()
    assert [time_of_saying(day - gap) for gap in (0, 0.001, 0.3)] == [day, day, day]
    assert time_of_saying(7.25) == 7.25, "turns are no seconds"


def test_last_month_is_before_the_month_that_was_given() -> None:
    messages = [{"role": "user", "content": "I moved to Oslo last month."}, {"role": "assistant", "content": "Noted!"}]
    with Memory(embedder="fake", model="none", extractor="prose") as memory:
        memory.remember(messages, at="2024-05-01")
        [fact] = [v for v in memory.about("user") if isinstance(v.statement, Fact)]
    assert fact.interval.valid_from == datetime(2024, 4, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("begin", "end", "shown"),
    [
        ("2024-03-01", "2024-03-02", "on 2024-03-01"),
        ("2024-03-01", "2024-04-01", "in 2024-03"),
        ("2024-12-01", "2025-01-01", "in 2024-12"),
        ("2024-01-01", "2025-01-01", "in 2024"),
        ("2024-01-01", "2026-01-01", "from 2024-01-01 to 2025-12-31"),
        ("2024-03-04", "2024-03-11", "from 2024-03-04 to 2024-03-10"),
        ("2024-02-29T23:59:59", "2024-03-01", "until 2024-02-29"),
        ("2024-02-29T12:00", "2024-03-01", "on 2024-02-29"),
        ("2024-03-01", "2024-03-01T12:00", "on 2024-03-01"),
        ("2024-03-01T15:00", "2024-03-01T15:01", None),
        ("2024-02-29T12:00", "2024-03-02", "from 2024-02-29T12:00:00Z to 2024-03-01"),
        ("2024-02-29T12:00", "2024-03-02T12:00", None),
    ],
)
def test_a_period_is_shown_with_its_last_day(begin: str, end: str, shown: str | None) -> None:
    assert shown_period(world_time(begin, 0.0), world_time(end, 0.0)) == shown


def test_turns_are_no_days() -> None:
    assert shown_period(0, 86_400) is None
    assert shown_beginning(3, 86_400, is_event=True) == "from 3"


@pytest.mark.parametrize(
    ("begin", "begins_by", "event", "state"),
    [
        ("2024-03-01", "2024-03-02", "on 2024-03-01", "from 2024-03-01"),
        ("2024-03-01T18:00", "2024-03-02", "on 2024-03-01", "from 2024-03-01"),
        ("2024-03-01", "2024-04-01", "in 2024-03", "from 2024-03"),
        ("2024-12-01", "2025-01-01", "in 2024-12", "from 2024-12"),
        ("2021-05-15", "2022-01-01", "in 2021", "from 2021"),
        (
            "2024-03-04",
            "2024-03-11",
            "between 2024-03-04 and 2024-03-10",
            "from a day between 2024-03-04 and 2024-03-10",
        ),
        ("2024-03-04", "2024-03-11T12:00", "from 2024-03-04", "from 2024-03-04"),
    ],
)
def test_a_beginning_is_shown_as_it_was_told(begin: str, begins_by: str, event: str, state: str) -> None:
    times = world_time(begin, 0.0), world_time(begins_by, 0.0)
    assert shown_beginning(*times, is_event=True) == event
    assert shown_beginning(*times, is_event=False) == state
