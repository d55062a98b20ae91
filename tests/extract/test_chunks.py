from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldthread.errors import InputError
from worldthread.extract.chunks import chunk

SENTENCE = "The grey heron stands in the shallow water all morning."


def nothing_is_lost(text: str, passages: list[str]) -> bool:
    """Whether what is no white space and no mark of a heading stands in the passages, in order."""
    kept = iter("".join("".join(passage.split()) for passage in passages))
    return all(character in kept for character in "".join(text.split()) if character not in "#=-")


def test_what_fits_is_one_passage() -> None:
    text = "Anna lives in Oslo.\n\nShe works for Acme.\n\n- milk\n- eggs"
    assert chunk(text) == [text]
    assert chunk("  \n\n ") == []


def test_each_passage_says_under_which_headings_it_stands() -> None:
    text = (
        "# House\nIntro.\n## Kitchen ##\nA stove.\n\nA sink.\n### Fridge\nMilk.\n## Hall\nA coat.\nGarden\n===\nA tree."
    )
    assert chunk(text) == [
        "House\nIntro.",
        "House > Kitchen\nA stove.\n\nA sink.",
        "House > Kitchen > Fridge\nMilk.",
        "House > Hall\nA coat.\nGarden\n===\nA tree.",
    ], "a line of a paragraph is no heading"
    assert chunk("House\n=====\nIntro.\n\nKitchen\n---\nA stove.") == ["House\nIntro.", "House > Kitchen\nA stove."]


def test_sections_of_one_name_stay_apart() -> None:
    assert chunk("# Day\nRain.\n# Day\nSun.") == ["Day\nRain.", "Day\nSun."]


def test_headings_without_text_are_kept_as_text() -> None:
    assert chunk("# Plan\n## One\n## Two\n## Three\nDo it.") == ["Plan\n## One\n## Two", "Plan > Three\nDo it."]
    assert chunk("# Plan\n## One") == ["Plan\n## One"]
    assert chunk("# Plan") == ["# Plan"]


@pytest.mark.parametrize("line", ["#hashtag today", "####### seven", "# " + "long " * 20, "    # code"])
def test_lines_that_are_no_headings(line: str) -> None:
    assert chunk(f"It rained.\n\n{line}\nMore.") == [f"It rained.\n\n{line}\nMore."]


def test_the_title_of_a_plain_text_stands_before_every_passage() -> None:
    text = "The Grey Heron\n" + " ".join([SENTENCE] * 30)
    passages = chunk(text, max_words=50)
    assert len(passages) == 6
    assert all(passage.startswith("The Grey Heron\nThe grey heron stands") for passage in passages)
    untitled = chunk("It rained.\n" + " ".join([SENTENCE] * 30), max_words=50)
    assert not untitled[1].startswith("It rained")


def test_paragraphs_are_merged_up_to_the_limit_and_cut_between_sentences() -> None:
    passages = chunk("\n\n".join([SENTENCE] * 9), max_words=25)
    assert passages == [f"{SENTENCE}\n\n{SENTENCE}"] * 4 + [SENTENCE]
    assert chunk(" ".join([SENTENCE] * 5), max_words=25) == [f"{SENTENCE} {SENTENCE}"] * 2 + [SENTENCE]


def test_a_sentence_is_cut_only_when_it_must_be_and_then_behind_a_clause() -> None:
    long = "When the rain came in the night, all of the roads to the village were closed until late"
    assert chunk(long, max_words=10) == [
        "When the rain came in the night,",
        "all of the roads to the village were closed until",
        "late",
    ]
    assert chunk(long, max_words=20) == [long]
    assert chunk("a" * 250, max_words=10) == ["a" * 120, "a" * 120, "a" * 10]


def test_scripts_without_spaces_are_cut_too() -> None:
    text = "猫は毎朝、庭の古い木の下で静かに眠っています。" * 20
    passages = chunk(text, max_words=30)
    assert "".join(passages) == text
    assert all(len(passage) <= 60 and passage.endswith("。") for passage in passages)


def test_code_and_tables_stay_whole_when_they_fit() -> None:
    code = "```python\n# no heading\nx = 1\n\ny = 2\n```"
    table = "| who | where |\n|---|---|\n| Anna | Oslo |\n| Bob | Rome |"
    passages = chunk(f"{SENTENCE}\n\n{code}\n\n{SENTENCE}\n\n{table}\n\n{SENTENCE}", max_words=22)
    assert [code in passage for passage in passages].count(True) == 1
    assert [table in passage for passage in passages].count(True) == 1


def test_a_long_table_repeats_its_head() -> None:
    rows = "\n".join(f"| Anna{number} | Oslo |" for number in range(20))
    passages = chunk(f"# People\n| who | where |\n|---|---|\n{rows}", max_words=40)
    assert len(passages) > 2
    assert all(passage.startswith("People\n| who | where |\n|---|---|\n| Anna") for passage in passages)
    assert sum(passage.count("Anna3 ") for passage in passages) == 1


def test_a_long_list_is_cut_between_its_outer_items() -> None:
    items = [f"- item {number}\n  goes on here\n  - inner one\n\n    far inside" for number in range(8)]
    passages = chunk("\n".join(items), max_words=24)
    assert passages == ["\n".join(items[place : place + 2]) for place in range(0, 8, 2)]
    fenced = "- see\n  ```\n  - no item\n  # no heading\n  ```\n- next"
    assert chunk(fenced, max_words=11) == [fenced.removesuffix("\n- next"), "- next"]


def test_an_unclosed_fence_loses_nothing() -> None:
    text = "```\n" + "\n".join(f"line {number}" for number in range(100)) + "\n# inside\n"
    passages = chunk(text, max_words=20)
    assert len(passages) > 9
    assert "\n".join(passages) == text.rstrip()


def test_front_matter_and_rulers_are_no_headings() -> None:
    assert chunk("---\ntitle: Birds\ntags: a\n---\n# Heron\nGrey.") == [
        "---\ntitle: Birds\ntags: a\n---",
        "Heron\nGrey.",
    ]
    assert chunk(f"{SENTENCE}\n\n---\n\n{SENTENCE}", max_words=10) == [f"{SENTENCE}\n\n---", SENTENCE]


def test_line_breaks_of_all_systems() -> None:
    assert chunk("# A\r\nx\r\n\r\ny\r# B\rz") == ["A\nx\n\ny", "B\nz"]


def test_a_passage_of_no_words_is_refused() -> None:
    with pytest.raises(InputError, match="max_words"):
        chunk("x", max_words=0)


words = st.text(st.sampled_from("abAB.,;é漢"), min_size=1, max_size=9)
markdown = st.lists(
    st.sampled_from(["\n", "\n\n", " ", "# ", "## ", "- ", "1. ", "  - ", "```", "| ", "|-|", "===", "---", "> ", "\t"])
    | words,
    max_size=60,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(markdown | st.text(), st.integers(1, 12))
def test_nothing_is_lost_from_any_text(text: str, limit: int) -> None:
    assert nothing_is_lost(text, chunk(text, max_words=limit))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([" ", "\n", "\n\n", ". ", "\n- ", "\n\n# "]), st.text("abc", min_size=1))))
def test_nothing_is_repeated_and_no_passage_is_too_long(pieces: list[tuple[str, str]]) -> None:
    text = "It begins.\n\n" + "".join(f"{between}{word}{number}" for number, (between, word) in enumerate(pieces))
    limit = 10
    bodies = []
    for passage in chunk(text, max_words=limit):
        first, _, rest = passage.partition("\n")
        headed = re.search(rf"^# {re.escape(first)}$", text, re.M) is not None
        bodies.append(rest if headed else passage)
        assert len(bodies[-1].split()) <= limit
    for number, (_, word) in enumerate(pieces):
        seen = sum(len(re.findall(rf"\b{word}{number}\b", body)) for body in bodies)
        assert seen <= 1


@pytest.mark.parametrize(
    "make",
    [
        lambda size: "a" * size,
        lambda size: "# a\n" * (size // 10),
        lambda size: "# a\nb\n" * (size // 16),
        lambda size: "".join("  " * depth + "- x\n" for depth in range(math.isqrt(size))),
        lambda size: ("- " * 500 + "a\n") * (size // 1000),
        lambda size: "```\n" * (size // 10),
        lambda size: "".join("`" * (3 + number % 50) + "\n" for number in range(size // 32)),
        lambda size: "> " * (size // 2),
        lambda size: "|" * size,
        lambda size: "|-|\n" * (size // 4),
        lambda size: " " * size + "a",
        lambda size: "# " + "#" * size,
        lambda size: "- a\n" + "\n" * size + "- b",
        lambda size: "," * size,
    ],
    ids=lambda make: repr(make(1_000)[:12]),
)
def test_hostile_texts_take_linear_time(make: Callable[[int], str], time_growth: Callable[..., float]) -> None:
    def look(size: int) -> None:
        assert max(map(len, chunk(make(size)))) < 60_000, "long runs of white space are shortened"

    assert time_growth(look, 15_000) < 16
