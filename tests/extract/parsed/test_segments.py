"""What the clauses of one long sentence say, each read by itself, and what is typed in other spellings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from worldthread.extract.parsed.colloquial import standard, with_speaker
from worldthread.extract.parsed.segments import clauses_alone, clauses_with_times

pytestmark = pytest.mark.language

Stated: TypeAlias = Callable[..., list[tuple[str, str, str]]]
AT = 1715767200.0  # 2024-05-15, a Wednesday


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("I wear a brace on my left knee, so no long walks for me", "Ana | wears | brace on Ana's left knee"),
        ("our firm is eight people, all part time, nobody in on a Friday", "Ana's firm | is | eight people"),
        ("My parrot is older than my kids, she's 34.", "Ana's parrot | is | older than Ana's kids"),
        ("my french is rusty, did two terms in Lyon", "Ana's french | is | rusty"),
        ("I get hay fever when the grass is cut", "Ana | gets | hay fever when the grass is cut"),
        ("Neither of my brothers can speak Welsh", "Ana's brothers | cannot speak | Welsh"),
        ("me mam was a dinner lady and her sister too", "Ana's mam | was a | dinner lady"),
        ("Dad was a signalman and mum cleaned trains", "Ana's dad | was a | signalman"),
        ("Left-handed, so normal scissors are no good to me.", "Ana | is | left-handed"),
        ("I was named after my great aunt Winifred", "Ana | was named after | Ana's great aunt Winifred"),
    ],
)
def test_a_clause_is_read_by_itself(stated: Stated, message: str, fact: str) -> None:
    assert fact in [found for found, *_ in stated(message)]


@pytest.mark.parametrize(
    "message",
    [
        "Say I'm a nurse, and I work nights, what tax code am I on?",
        "In this story I'm an orphan, and my uncle is a wizard",
        "She says I'm lazy, but my hours are long",
        "Please write it as though I were a pirate captain with a parrot",
        "translate this: my sister is a doctor, and I live in Rome",
        "I love being outdoors - going for hikes, picnics.",
        "Work from home tips please",
        "Live in the moment, they say",
        "No cats allowed in the building, I know",
    ],
)
def test_what_a_clause_only_supposes_is_no_fact(stated: Stated, message: str) -> None:
    assert stated(message) == []


@pytest.mark.parametrize(
    ("message", "fact", "begin", "end"),
    [
        ("completion is in ten days and we have no van", "completion | is on | 2024-05-25", "2024-05-25", "2024-05-26"),
        ("I fly to Accra on the 20th and come back on 3 June", "Ana | flies to | Accra", "2024-05-20", "2024-05-21"),
        ("I broke up with Jo a week ago last Saturday", "Ana | broke up with | Jo", "2024-05-04", "2024-05-05"),
        ("I have been sober for exactly one year today.", "Ana | is | sober", "2023-05-15", ""),
        ("As of 1 May my rent is £900.", "Ana's rent | is | £900", "2024-05-01", ""),
        ("our birthday meal is on the 25th", "Ana's birthday meal | is on | 2024-05-25", "2024-05-25", "2024-05-26"),
        ("I signed the lease on 2024/05/10", "Ana | signed | lease", "2024-05-10", "2024-05-11"),
    ],
)  # fmt: skip
def test_a_clause_has_its_own_time(stated: Stated, message: str, fact: str, begin: str, end: str) -> None:
    assert (fact, begin, end) in stated(message)


def test_a_time_beside_a_clause_is_not_cut_off() -> None:
    assert clauses_alone("On Tuesday, I fly to Rome", AT) == ()
    assert clauses_with_times("The plumber came yesterday and left without a word", AT) == (
        "The plumber came yesterday",
    )


def test_names_in_a_row_are_not_divided() -> None:
    assert clauses_alone("I work for Smith, Jones & Co", AT) == ()


def test_spellings() -> None:
    assert standard("my anniversarys on the 9th") == "my anniversary is on the 9th"
    assert standard("We got wed in Skegness") == "We got married in Skegness"
    assert standard("my wifes allergic to nuts") == "my wife is allergic to nuts"
    assert with_speaker("Allergic to wasps") == "I'm allergic to wasps"
    assert with_speaker("work from home tips please") == "work from home tips please"
