"""Facts that are probably not right are left out, and those that are cut are completed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worldthread.extract.parsed.extractor import ParsedExtractor
from worldthread.extract.parsed.fact_features import with_combinations
from worldthread.extract.parsed.probable import FactWeights, probability, shipped_weights
from worldthread.types import Fact

AT = datetime(2024, 6, 5, 10, tzinfo=UTC).timestamp()  # a Wednesday


def facts(text: str, at: float | None = AT) -> list[str]:
    extraction = ParsedExtractor().extract(f"Tom: {text}", "Tom", at=at)
    return [str(statement) for statement in extraction.statements if isinstance(statement, Fact)]


@pytest.mark.language
@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I cook a big pot of lentils every Sunday.", "Tom, cooks, big pot of lentils every Sunday"),
        ("I booked a cottage on Skye in October.", "Tom, booked, cottage on Skye in 2024-10"),
        ("I met my new supervisor, Karen Lee.", "Tom, met, Tom's new supervisor, Karen Lee"),
    ],
)
def test_what_a_fact_would_lack_is_completed(text: str, fact: str) -> None:
    assert fact in facts(text)


@pytest.mark.language
def test_the_time_after_a_name_is_that_of_the_verb() -> None:
    [met] = [
        statement
        for statement in ParsedExtractor()
        .extract("Tom: I met with a lawyer named Paula Chen on March 4.", "Tom", at=AT)
        .statements
        if isinstance(statement, Fact)
    ]
    assert met.object == "lawyer named Paula Chen"
    assert met.valid_from == datetime(2024, 3, 4, tzinfo=UTC).timestamp()


@pytest.mark.language
@pytest.mark.parametrize(
    "text",
    [
        "I swim like a wardrobe.",
        "FLIGHTS ARE BOOKED.",
        "Came five days late, on the 19th.",
        "I work there Monday and Saturday, so I'm tired. The repo is 14 GB because someone committed images.",
    ],
)
def test_what_says_nothing_of_the_kind_is_no_fact(text: str) -> None:
    assert facts(text) == []


@pytest.mark.language
def test_a_subject_that_only_the_talk_explains_counts_where_nothing_else_is_said() -> None:
    assert facts("The shop opens at 8.") == ["shop, opens at, 8"]
    assert facts("I went to town. The shop opens at 8, so we waited and then we left.") == []


@pytest.mark.language
def test_a_fact_that_is_left_out_stays_findable() -> None:
    extraction = ParsedExtractor().extract("Tom: We talked. I swim like a wardrobe.", "Tom", at=AT)
    assert any("swim like a wardrobe" in str(statement) for statement in extraction.statements)


def test_the_probability_is_that_of_the_logistic_function() -> None:
    model = FactWeights({"whole": 2.0, "bare": -1.0}, -1.0, 0.5, 0.4, 0.2)
    assert probability({"whole": 1.0}, model) == pytest.approx(0.7310585786300049)
    assert probability({"bare": 2.0, "unknown": 5.0}, model) == pytest.approx(0.04742587317756678)
    assert probability({"whole": 1e9}, model) == pytest.approx(1.0)


def test_the_shipped_weights_are_a_model() -> None:
    model = shipped_weights()
    assert 0 < model.threshold_alone < model.threshold < 1
    assert len(model.weights) > 100


def test_features_are_combined() -> None:
    whole = {"nothing cut": 1.0, "0 words to the next mark": 1.0, "clauses 1": 1.0, "subject i": 1.0}
    assert with_combinations(whole).keys() - whole.keys() == {
        "whole",
        "whole and anchored",
        "whole, anchored and alone",
    }
    assert "whole" not in with_combinations({**whole, "left out prep": 1.0})


@pytest.mark.language
def test_what_people_say_of_themselves_plainly_is_stated_among_other_sentences() -> None:
    text = "Tom: Hi, I'm Tom. I'm 34 and I work at Acme. I live in Rome. It is lovely there in spring."
    extraction = ParsedExtractor().extract(text, "Tom", 1.7e9)
    facts = {str(one) for one in extraction.statements if isinstance(one, Fact)}
    assert {"Tom, has age, 34", "Tom, works at, Acme", "Tom, lives in, Rome"} <= facts
