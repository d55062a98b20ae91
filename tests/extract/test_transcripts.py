from __future__ import annotations

from collections.abc import Callable

import pytest

from worldthread.extract.transcripts import Utterance, utterances

TEN = 1714557600.0  # 2024-05-01 10:00 UTC


@pytest.mark.parametrize(
    ("first", "second", "at"),
    [
        ("[2024-05-01 10:00] Anna: hi", "[2024-05-01 10:01] Bob: yo", TEN),
        ("2024-05-01T10:00:00Z <Anna> hi", "2024-05-01T10:01:00Z <Bob> yo", TEN),
        ("2024-05-01 10:00:00+02:00 Anna: hi", "2024-05-01 10:01:00+02:00 Bob: yo", TEN - 7200),
        ("01.05.24, 10:00 - Anna: hi", "01.05.24, 10:01 - Bob: yo", TEN),
        ("[01/05/2024, 10:00:00] Anna: hi", "[01/05/2024, 10:01:00] Bob: yo", TEN),
        ("\u200e[01/05/2024, 10:00:00] Anna: hi", "[01/05/2024, 10:01:00] Bob: yo", TEN),
        ("5/1/24, 10:00\u202fAM - Anna: hi", "5/1/24, 10:01\u202fAM - Bob: yo", TEN),
        ("5/1/24, 12:00 AM - Anna: hi", "5/13/24, 12:01 PM - Bob: yo", TEN - 36000),
        ("[10:02] <Anna> hi\n[10:02] <Bob> a", "[10:03] <Bob> yo\n10:04 <Anna> b", None),
        ("10:02 Anna: hi\n10:02 Bob: a", "10:03 Bob: yo\n10:04 Anna: b", None),
        ("Anna: hi\nBob: a", "Bob: yo\nAnna: b", None),
        ("**Anna:** hi\n**Bob:** a".replace(":**", "**:"), "Bob: yo\nAnna: b", None),
    ],
)
def test_forms_of_lines(first: str, second: str, at: float | None) -> None:
    found = utterances(f"{first}\n{second}\n")
    assert found is not None
    assert found[0] == Utterance("Anna", "hi", at)
    assert Utterance("Bob", "yo", None if at is None else found[-1].at) in found
    assert str(found[0]) == "Anna: hi"


def test_messages_of_several_lines_and_what_nobody_said() -> None:
    text = (
        "01.05.24, 09:00 - Messages are encrypted.\r\n01.05.24, 10:00 - Anna: two things:\r\nNote: milk\r\n\r\nmore\r\n"
        "01.05.24, 10:01 - +47 900 00 000: ok\r\n01.05.24, 10:02 - Anna:\r\n"
    )
    assert utterances(text) == [
        Utterance("", "Messages are encrypted.", TEN - 3600),
        Utterance("Anna", "two things:\nNote: milk\n\nmore", TEN),
        Utterance("+47 900 00 000", "ok", TEN + 60),
    ], "an empty message is none"
    assert str(Utterance("", "Anna left")) == "Anna left"


def test_what_stands_before_the_first_line_is_kept() -> None:
    found = utterances("An interview\n\nAnna: hi\n\nBob: yo\n\nAnna: and?\n\nBob: well\n")
    assert found is not None
    assert [str(utterance) for utterance in found] == ["An interview", "Anna: hi", "Bob: yo", "Anna: and?", "Bob: well"]


def test_day_and_month_are_told_apart_by_the_whole_conversation() -> None:
    def dates(*stamps: str) -> list[float | None]:
        found = utterances("\n".join(f"[{stamp}] Anna: x" for stamp in stamps))
        assert found is not None
        return [None if one.at is None else (one.at - 1704067200) / 86400 for one in found]  # days since 2024-01-01

    assert dates("01/02/2024, 00:00", "13/02/2024, 00:00") == [31, 43]
    assert dates("02/01/2024, 00:00", "02/13/2024, 00:00") == [31, 43]
    assert dates("01/31/2024, 00:00", "02/01/2024, 00:00") == [30, 31]
    assert dates("01/09/2024, 00:00", "02/03/2024, 00:00") == [8, 33], "else time would run backwards"
    assert dates("01/02/2024, 00:00", "01/02/2024, 00:00") == [31, 31]
    assert dates("1/2/2024, 12:00 AM", "1/2/2024, 12:00 AM") == [1, 1]
    assert dates("01.02.2024, 00:00", "01.02.2024, 00:00") == [31, 31]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Note: this is important.\nWarning: so is this.\nNote: and this.\nWarning: that too.",
        "Pancakes\n\nIngredients: milk, eggs\nStep 1: mix\nStep 2: fry\nServes: 4",
        "Anna went to Oslo. She said: it rains.\nBob stayed: he was ill.\nAnna: a short life of a poet",
        "Name: Anna\nAge: 5\n\nName: Bob\nAge: 6\n\nName: Cid\nAge: 7",
        "Height: 5\nWidth: 6\n\nHeight: 6\nWidth: 7\n\nHeight: 1\nWidth: 2",
        "10:00 Opening: the hall\n10:30 Coffee: the garden\n11:00 Talk: the hall",
        "Dear Bob,\nFrom: Anna\nTo: Bob\nSubject: hi\n\nhow are you? http://a.b: see\nAll the best",
        "<p>one</p>\n<p> two</p>\n<li> a\n<li> b\n<td> c",
        "Anna: hi\nBob: yo",
        "It rained.\n" * 20 + "[2024-05-01 10:00] Anna: hi\n[2024-05-01 10:01] Bob: yo",
        "2024-05-01 10:00 went to the shop\n2024-05-02 11:00 came home\n2024-05-03 11:00 Bob: called",
    ],
)
def test_what_is_no_conversation(text: str) -> None:
    assert utterances(text) is None


def test_dates_that_do_not_exist_give_no_time() -> None:
    found = utterances("[2024-02-30 10:00] Anna: hi\n[2024-05-01 25:00] Bob: yo")
    assert found == [Utterance("Anna", "hi"), Utterance("Bob", "yo")]


@pytest.mark.parametrize("unit", ["a ", "Anna: ", "[", "1", "a: b\n"])
def test_hostile_texts_take_linear_time(unit: str, time_growth: Callable[..., float]) -> None:
    assert time_growth(lambda size: utterances(unit * (size // len(unit))), 15_000) < 16
