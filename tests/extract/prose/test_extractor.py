from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldthread.extract.base import Extractor
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.graph.fold import fold
from worldthread.types import Episode, Fact, Thesis

EXTRACTOR = ProseExtractor()


def current(*texts: str) -> set[str]:
    """What holds after texts that were read one after the other."""
    episodes = [Episode(text, at, extraction=EXTRACTOR.extract(text)) for at, text in enumerate(texts)]
    return {str(statement) for statement in fold(episodes).current()}


def theses(text: str) -> dict[str, tuple[str, ...]]:
    return {s.text: s.objects for s in EXTRACTOR.extract(text).statements if isinstance(s, Thesis)}


def test_it_is_a_reader_of_prose() -> None:
    assert isinstance(EXTRACTOR, Extractor)
    assert EXTRACTOR.extract("Anna lives in Rome.").extractor == EXTRACTOR.name == "prose/8"
    assert EXTRACTOR.concurrency == 1


def test_a_plain_statement_ends_the_older_one_with_its_thesis() -> None:
    assert current("Anna lives in Rome.", "Anna lives in Paris.") == {"Anna, lives in, Paris", "Anna lives in Paris."}
    assert current("Anna lives in Rome. She likes tea.", "Anna: I moved to Paris!") == {
        "Anna, lives in, Paris",
        "Anna: I moved to Paris!",
        "Anna, likes, tea",
        "She likes tea.",
    }


def test_a_sentence_of_two_statements_ends_with_either() -> None:
    found = current("Anna lives in Rome and works for Acme.", "Anna lives in Oslo.")
    assert found == {"Anna, lives in, Oslo", "Anna, works for, Acme", "Anna lives in Oslo."}


def test_past_and_doubt_end_nothing() -> None:
    kept = {"Anna, lives in, Rome", "Anna lives in Rome."}
    for text in (
        "Anna lived in Oslo.",
        "Anna may live in Oslo.",
        "Does Anna live in Oslo?",
        "In 1990 Anna moved to Oslo.",
    ):
        assert kept <= current("Anna lives in Rome.", text)


@pytest.mark.parametrize(
    ("text", "denial"),
    [
        ("Anna lives in Rome.", "Anna no longer lives in Rome."),
        ("Anna lives in Rome.", "Anna doesn't live in Rome any more."),
        ("Anna lives in Rome.", "Anna moved out of Rome."),
        ("I work at Acme.", "I don't work at Acme anymore."),
        ("Anna works for Acme.", "Anna quit her job at Acme."),
        ("Anna likes tea.", "Anna does not like tea."),
        ("Anna is married to Bob.", "Bob divorced Anna."),
        ("The shop is open.", "The shop is not open."),
    ],
)
def test_denials_end_the_fact_and_say_why(text: str, denial: str) -> None:
    first, second = (
        Episode(text, 1, extraction=EXTRACTOR.extract(text)),
        Episode(denial, 2, extraction=EXTRACTOR.extract(denial)),
    )
    (fact,) = (s for s in first.extraction.statements if isinstance(s, Fact))
    version = fold([first, second]).versions[fact][-1]
    assert version.ended_by == second.id
    assert version.reason == denial
    assert fact not in second.extraction.statements


def test_a_denial_ends_nothing_else() -> None:
    assert "Anna, lives in, Paris" in current("Anna lives in Paris.", "Anna no longer lives in Rome.")


def test_a_denial_ends_the_thesis_that_says_just_that() -> None:
    assert current("Anna lives in Rome.", "Anna no longer lives in Rome.") == {"Anna no longer lives in Rome."}


def test_within_one_text_the_last_statement_counts() -> None:
    text = "Anna lives in Rome. She likes tea. Anna lives in Paris. The end."
    assert current(text) == {
        "Anna, lives in, Paris",
        "Anna lives in Paris.",
        "Anna, likes, tea",
        "She likes tea.",
        "The end.",
    }
    assert "Anna, lives in, Rome" not in current("Anna lives in Rome. Anna no longer lives in Rome.")
    assert "Anna, lives in, Rome" in current("Anna no longer lives in Rome. Anna lives in Rome.")


def test_objects_of_theses() -> None:
    found = theses("Heat (film)\nHeat stars Jo Lee. It was made in May 1995. The music is by Eva Hill.")
    assert list(found) == ["Heat stars Jo Lee.", "It was made in May 1995.", "The music is by Eva Hill."]
    assert found["Heat stars Jo Lee."] == ("Heat", "Jo Lee")
    assert found["It was made in May 1995."] == ("1995-05", "Heat")
    assert found["The music is by Eva Hill."][-1] == "Heat", "the title is what everything under it is about"


def test_speakers_and_the_user_are_objects() -> None:
    found = theses("Anna: I saw the bridge.\nBob: You did.")
    assert "Anna" in found["Anna: I saw the bridge."]
    assert "Bob" in found["Bob: You did."]
    assert "user" in theses("I saw the bridge.")["I saw the bridge."]


def test_outdate_changes_nothing() -> None:
    extraction = EXTRACTOR.extract("Anna lives in Rome.")
    assert EXTRACTOR.outdate("Anna lives in Rome.", extraction, None) is extraction  # type: ignore[arg-type]


FRAGMENTS = [
    "Anna", " lives in ", "Rome", ". ", "\n", "She ", "I ", "'s ", "is ", "not ", "no longer ", "the ", "(", ")",
    '"', "``", ", ",    " and ", "born ", "5 May 1990", "of ", "A: ", "- ", "# ", "!", "?", "。", "İ", "ß", "\u2028",
    "\x00", "\x07", "\x85", "12", "'",
]  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)))
def test_any_text_is_read_the_same_each_time(text: str) -> None:
    extraction = EXTRACTOR.extract(text)
    assert extraction.digest == ProseExtractor().extract(text).digest
    for ending in extraction.endings:
        assert ending.reason


@pytest.mark.parametrize(
    "piece",
    [
        "A. ",
        "(",
        "of the ",
        "Anna and ",
        "Anna is ",
        '" ',
        "Anna's ",
        "(born ",
        "a@",
        "A ",
        "1,111",
        "His dog and ",
        "``",
        ", ",
    ],
)
def test_time_is_linear_for_hostile_repetitions(piece: str, time_growth: Callable[..., float]) -> None:
    def extract(size: int) -> None:
        assert EXTRACTOR.extract(piece * (size // len(piece))).statements

    assert time_growth(extract, 3_000) < 16


@pytest.mark.slow
def test_a_megabyte_in_one_sentence() -> None:
    text = "Anna saw the old bridge and " * 36_000
    extraction = EXTRACTOR.extract(text)
    assert max(len(s.text) for s in extraction.statements if isinstance(s, Thesis)) <= 1000


def test_other_scripts_give_theses() -> None:
    assert list(theses("东京是日本的首都。人口很多！")) == ["东京是日本的首都。", "人口很多！"]
    assert "Лев Толстой" in theses("Это написал Лев Толстой.")["Это написал Лев Толстой."]


def test_a_question_states_nothing() -> None:
    extraction = ProseExtractor().extract('Where does Anna live? "Who is it?" Anna lives in Rome.')
    assert {str(s) for s in extraction.statements} == {"Anna, lives in, Rome", "Anna lives in Rome."}


def test_leaving_ends_the_fact_and_the_plain_sentence() -> None:
    ended = {str(e.statement) for e in ProseExtractor().extract("Anna quit her job at Acme.").endings}
    assert {"Anna, works for, Acme", "Anna works for Acme."} <= ended


def test_whoever_signs_a_letter_is_i_in_it() -> None:
    letter = "Dear Tom,\n\nI live in Rome now.\n\nBest wishes,\nAnna Rossi\n"
    assert "Anna Rossi, lives in, Rome" in {str(s) for s in ProseExtractor().extract(letter).statements}
    note = "I live in Rome now.\nBest pizza in town\nLuigi"
    assert "user, lives in, Rome" in {str(s) for s in ProseExtractor().extract(note).statements}
