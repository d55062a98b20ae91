"""Facts of misread sentences are repaired, or left out where that cannot be done."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from worldthread import Fact
from worldthread.extract.parsed.extractor import ParsedExtractor
from worldthread.extract.parsed.repaired_facts import repaired

pytestmark = pytest.mark.language

AT = datetime(2025, 6, 4, 10, tzinfo=UTC).timestamp()
YEAR = 366 * 86_400.0


def mended(fact: Fact, sentence: str, message: str = "") -> str | None:
    found = repaired(fact, sentence, message or sentence, AT)
    return None if found is None else f"{found.subject} | {found.relation} | {found.object}"


@pytest.mark.parametrize(
    ("sentence", "fact", "expected"),
    [
        ("She's lost 4 kilos.", ("Ida", "is lost", "4 kilos"), "Ida | has lost | 4 kilos"),
        ("She’s just bought a boat.", ("Ida", "is bought", "boat"), "Ida | has bought | boat"),
        ("He's got 600 pianos.", ("Mr. Aune", "is got", "600 pianos"), "Mr. Aune | has | 600 pianos"),
        ("She's got to stay in Utrecht.", ("Ida", "is got", "to stay in Utrecht"), "Ida | needs to | stay in Utrecht"),
        ("He's had a hearing aid for years.", ("Piet", "is had", "hearing aid"), "Piet | has | hearing aid"),
        ("Since 2015 she's been dean.", ("Ida", "is been", "dean"), "Ida | has been | dean"),
        ("Balatbat-Serrano studied.", ("Serrano", "studied in", "Turku"), "Balatbat-Serrano | studied in | Turku"),
        ("Serrano and Balatbat-Serrano met.", ("Serrano", "met", "Ida"), "Serrano | met | Ida"),
        ("I'm 14 weeks pregnant.", ("user", "has age", "14"), None),
        ("Playing the harp helps me unwind.", ("user", "is playing", "harp"), None),
        ("Ida: Having a desk of your own should help.", ("Ida", "has", "desk"), None),
        ("Playing the harp again, which helps.", ("user", "is playing", "harp"), "user | is playing | harp"),
        ("I live my dream by running a studio.", ("user", "lives by", "running a studio"), None),
        ("I'm sure that I can learn the harp.", ("user", "can learn", "harp"), None),
        ("I can play the harp, I'm sure.", ("user", "can play", "harp"), "user | can play | harp"),
        ("Nan's turning 80 soon.", ("user's nan", "has age", "80"), None),
        ("Nan turned 80.", ("user's nan", "has age", "80"), "user's nan | has age | 80"),
        ("I'm in for the show.", ("user", "is in", "for the show"), None),
        ("It takes 5 percent.", ("Asa", "has age", "5"), None),
        ("I'm 14, in year 9.", ("user", "has age", "14"), "user | has age | 14"),
        ("I run a farm.", ("user", "runs", "farm on 2025-03-12"), "user | runs | farm"),
        ("The exam is on Monday.", ("exam", "is on", "Monday on 2025-06-09"), "exam | is on | Monday on 2025-06-09"),
        ("I'm no longer the treasurer.", ("Ida", "is", "longer the treasurer"), None),
        ("The final deadline of 3 May for my paper.", ("user", "has", "deadline of for user's paper"), None),
        ("She's got the costs in.", ("Ida", "is got in", "costs"), None),
        ("He's called Rex.", ("dog", "is called", "Rex"), "dog | is called | Rex"),
        ("She's paid 12 euros an hour.", ("Ida", "is paid", "12 euros an hour"), "Ida | is paid | 12 euros an hour"),
        ("The house is painted green.", ("house", "is painted", "green"), "house | is painted | green"),
        ("My son Fabian's phone costs 45.", ("user", "has son", "Fabian's"), "user | has son | Fabian"),
        ("My assistant Blathnaid's out.", ("Blathnaid", "'s out with", "flu"), None),
        ("The conductor, two porters.", ("Zbyszek", "is a", "pianist, two husbands"), None),
        ("My friend Ana's wedding was lovely, she likes tea.", ("user's friend Ana's wedding", "likes", "tea"), None),
        ("She hated it, Ana's car.", ("Ana's car", "broke", "down"), "Ana's car | broke | down"),
        ("I have three, Ed 14 and Al 5.", ("user", "has", "three, Ed 14 and Al 5"), None),
        ("I live alone, my son comes on Sundays.", ("user", "lives with", "user's son"), None),
        ("I live alone in Bath.", ("user", "lives in", "Bath"), "user | lives in | Bath"),
        ("I lost 3 kilos, now I'm 84.", ("user", "has age", "84"), None),
        ("He is a doctor, as is she.", ("Piet", "is a", "doctor"), "Piet | is a | doctor"),
    ],
)
def test_a_fact_says_what_its_sentence_means(sentence: str, fact: tuple[str, str, str], expected: str | None) -> None:
    assert mended(Fact(*fact), sentence) == expected


def test_an_age_has_no_interval_of_another_clause() -> None:
    licence = Fact("user", "has age", "40", valid_from=AT - 20 * YEAR)
    lease = Fact("user", "has age", "28", valid_from=AT, valid_to=AT + YEAR / 2)
    birthday = Fact("user", "has age", "30", valid_from=AT - YEAR / 2)
    found = [repaired(one, "", "", AT) for one in (licence, lease, birthday)]
    assert [(one.valid_from, one.valid_to) for one in found if one is not None] == [
        (None, None),
        (None, None),
        (AT - YEAR / 2, None),
    ]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("He came home in April. My cousin Petar drives. He works in the sawmill.", None),
        ("My cousin Petar came. He works in the sawmill.", "Petar | works in | sawmill"),
        ("She left. My cousin Petar came. He works in the sawmill.", "Petar | works in | sawmill"),
    ],
)
def test_a_pronoun_used_before_the_name_means_somebody_else(message: str, expected: str | None) -> None:
    assert mended(Fact("Petar", "works in", "sawmill"), "He works in the sawmill.", message) == expected


def test_have_is_a_verb_of_its_own_where_an_object_follows(stated: Callable[..., list[tuple[str, str, str]]]) -> None:
    assert "Ana | has | two brothers and a sister" in [fact for fact, *_ in stated("I've two brothers and a sister.")]


@pytest.mark.parametrize("name", ["Matouš", "Zdzisław", "Łukasz", "Gergő", "Şebnem"])
def test_names_have_all_letters_of_the_latin_script(
    name: str, stated: Callable[..., list[tuple[str, str, str]]]
) -> None:
    facts = [fact for fact, *_ in stated(f"We have one child, {name}, and {name} has a rabbit.")]
    assert f"{name} | has | rabbit" in facts
    assert not any(fact.startswith(f"{name[:-1]} |") for fact in facts)


@pytest.mark.parametrize("speaker", ["Bob (support)", "Nkechi O.", "@lena", "tom-42", "ဇော်"])
def test_what_belongs_to_a_speaker_bears_the_whole_name(speaker: str) -> None:
    found = ParsedExtractor().extract(f"{speaker}: My wife teaches piano.", speaker, AT).statements
    assert f"{speaker}'s wife" in {fact.subject for fact in found if isinstance(fact, Fact)}


@pytest.mark.parametrize(
    ("message", "fact", "days"),
    [
        ("My visa is until 14 January 2026, so we have time.", "Ana's visa | lasts until | 2026-01-14", "..2026-01-15"),
        ("my contract runs until 6th september, then nothing", "Ana's contract | runs until | 2024-09-06", None),
        ("My school goes to Rome in October, 27 pupils.", "Ana's school | goes to | Rome", "2024-10-01..2024-11-01"),
        ("The loft is sold, I've to be out by 1 December.", "Ana | needs to | be out", None),
    ],
)
def test_times_of_things(
    message: str, fact: str, days: str | None, stated: Callable[..., list[tuple[str, str, str]]]
) -> None:
    found = {one: f"{begin}..{end}" for one, begin, end in stated(message)}
    assert fact in found
    assert days in (None, found[fact])


@pytest.mark.parametrize(
    "message",
    ["The girlfriend's moved in.", "I'm wrung out", "Our dog was run over on Saturday.", "My sugar is acting up"],
)
def test_a_verb_without_its_particle_states_nothing(
    message: str, stated: Callable[..., list[tuple[str, str, str]]]
) -> None:
    assert stated(message) == []


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("I have a brother, Siem.", "Ana | has | brother called Siem"),
        ("I've got an old dog, Rex.", "Ana | has | old dog called Rex"),
    ],
)
def test_a_name_behind_a_comma_is_a_name(
    message: str, fact: str, stated: Callable[..., list[tuple[str, str, str]]]
) -> None:
    assert fact in {one for one, _, _ in stated(message)}
