"""Days are those of the person: texts are read on the clock of who wrote them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from worldthread import InputError, Memory
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.extract.when import shown_time, world_time
from worldthread.extract.zones import in_world_time, local_time, zone_of
from worldthread.types import Ending, Episode, Extraction, Fact

LATE = "2024-03-01T23:30:00-08:00"
AT = world_time(LATE, 0.0)


def opened(path: Path | None = None, zone: str | None = None) -> Memory:
    return Memory(path, model="none", embedder="fake", extractor=ProseExtractor(), timezone=zone, user="Tom")


@pytest.mark.parametrize(
    ("value", "setting", "zone"),
    [
        (LATE, "", "-08:00"),
        (LATE, "America/Los_Angeles", "America/Los_Angeles"),
        (LATE, "Europe/Rome", "-08:00"),
        ("2024-03-02T07:30:00Z", "", ""),
        ("2024-03-02T07:30:00Z", "Europe/Rome", "Europe/Rome"),
        ("2024-03-02", "Europe/Rome", "Europe/Rome"),
        (AT, "Europe/Rome", "Europe/Rome"),
        (datetime(2024, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-8))), "", "-08:00"),
        (datetime(2024, 3, 1, 23, 30, tzinfo=ZoneInfo("America/Los_Angeles")), "", "America/Los_Angeles"),
        (None, "", ""),
    ],
)
def test_the_offset_of_a_time_or_the_zone_of_the_memory(value: object, setting: str, zone: str) -> None:
    assert zone_of(value, AT, setting) == zone
    assert zone_of(value, 12.0, setting) == "", "turns have no zone"


def test_yesterday_is_the_day_before_on_the_clock_of_the_person() -> None:
    with opened() as memory:
        memory.remember([{"role": "user", "content": "I live in Rome."}], at="2024-01-05")
        memory.remember([{"role": "user", "content": "I moved to Oslo yesterday."}], at=LATE)
        home = next(v for v in memory.about("Tom") if isinstance(v.statement, Fact))
        assert home.statement == Fact("Tom", "lives in", "Oslo")
        assert shown_time(home.interval.valid_from) == "2024-02-29T08:00:00Z", "midnight in California"
        text = memory.recall("Where does Tom live?").text
        assert "Tom lives in Oslo (on 2024-02-29" in text or "Tom lives in Oslo (from 2024-02-29)" in text
        assert "(2024-03-01T23:30:00-08:00) Tom: I moved to Oslo yesterday." in text


def test_what_names_no_zone_is_in_that_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDTHREAD_TIMEZONE", "Asia/Tokyo")
    with opened() as memory:
        first = memory.episode(memory.remember("Anna lives in Rome.", at="2024-07-01").episodes[0])
        [second] = memory.remember([{"role": "user", "content": "Hi Anna.", "at": "2024-07-01T09:00"}]).episodes
        assert shown_time(first.at) == "2024-06-30T15:00:00Z"
        assert shown_time(memory.episode(second).at) == "2024-07-01"
        assert first.metadata["timezone"] == "Asia/Tokyo"
        assert memory.view("2024-06-30").value("Anna", "lives in") is None, "the day before, in Tokyo"
        assert memory.view("2024-07-01").value("Anna", "lives in") == "Rome"


def test_the_zone_is_part_of_the_record(tmp_path: Path) -> None:
    with opened(tmp_path / "m") as memory, opened() as copy:
        memory.remember("Anna lives in Rome.", at=LATE)
        memory.remember("Bob lives in Rome.", at="2024-03-02T07:30:00Z")
        memory.export(tmp_path / "export")
        copy.import_(tmp_path / "export")
        assert copy.record.state_hash() == memory.record.state_hash()
        assert [e.metadata.get("timezone") for e in copy.episodes()].count("-08:00") == 1
    with opened(tmp_path / "m") as memory:
        assert "2024-03-01T23:30:00-08:00" in memory.recall("Anna").text


def test_times_without_an_offset_change_no_id() -> None:
    with opened() as memory:
        told = memory.episode(memory.remember("Anna lives in Rome.", at="2024-03-01").episodes[0])
    assert told.id == Episode("Anna lives in Rome.", world_time("2024-03-01", 0.0)).id


def test_times_of_older_statements_stay_world_times() -> None:
    zone = {"timezone": "+13:00"}
    read = Extraction("x", (Fact("a", "is", "b", valid_from=AT), Fact("a", "is", "c")))
    settled = Extraction(
        "x", (read.statements[0], Fact("a", "is", "c", valid_from=AT)), (Ending(Fact("a", "is", "d"), "so", AT),)
    )
    moved = in_world_time(settled, read, zone)
    assert [one.valid_from for one in moved.statements] == [AT - 13 * 3600, AT]
    assert moved.endings[0].at == AT - 13 * 3600
    assert local_time(AT, zone) == AT + 13 * 3600
    assert in_world_time(settled, read, {}) is settled


@pytest.mark.parametrize("name", ["Mars/Olympus", "+25:00", "8", "../../etc/passwd"])
def test_what_is_no_zone_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="time zone"):
        opened(zone=name)
