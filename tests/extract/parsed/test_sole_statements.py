"""A message that is one short statement is stated as it was said; moods, moments, figures and stories are not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.language


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("The kitchen has two ovens.", "kitchen | has | two ovens"),
        ("Our van is electric.", "Ana's van | is | electric"),
        ("I'm on a gluten-free trial", "Ana | is on | gluten-free trial"),
        ("Zsofi is a plumber.", "Zsofi | is a | plumber"),
        ("Gerd's a locksmith", "Gerd | is a | locksmith"),
        ("Piotr runs the night shift", "Piotr | runs | night shift"),
        ("My flight is booked.", "Ana's flight | is | booked"),
        ("daycare costs us 40 euros a day", "daycare | costs | 40 euros a day"),
        ("I'm secretary of the rowing club", "Ana | is | secretary of the rowing club"),
        ("My uncle Bence keeps a pub in Pest", "Ana's uncle Bence | keeps | pub in Pest"),
        ("1:42:10 is my half marathon best", "Ana's half marathon best | is | 1:42:10"),
        ("there are five of us in the flat", "flat | has | five people"),
        ("We named the dog Pixel", "dog | is called | Pixel"),
        ("me and my aunt don't speak", "Ana | does not speak to | Ana's aunt"),
        ("I live alone in a loft in Graz.", "Ana | lives | alone"),
        ("learning the accordion at the moment", "Ana | is learning | accordion"),
        ("Just so you know, my sister is a vet.", "Ana's sister | is a | vet"),
        ("Bear in mind when you cook that I hate beetroot.", "Ana | hates | beetroot"),
        ("Our museum opens at ten and shuts at five.", "Ana's museum | closes at | five"),
    ],
)
def test_a_sole_statement_is_stated(
    message: str, expected: str, stated: Callable[..., list[tuple[str, str, str]]]
) -> None:
    assert expected in [fact for fact, *_ in stated(message, None)]


@pytest.mark.parametrize(
    "message",
    [
        "I'm in the bath.",
        "I'm on the bus.",
        "I'm stuck in traffic.",
        "I'm all thumbs today.",
        "The garden is a jungle.",
        "The food is awful.",
        "I think the roof leaks.",
        "I have a question.",
        "Leo: I'm the treasurer.",
        "If the shop is open, I go in.",
        "I hope the bus is on time.",
        "My mind is a sieve.",
    ],
)
def test_what_passes_or_is_not_meant_is_not_stated(
    message: str, stated: Callable[..., list[tuple[str, str, str]]]
) -> None:
    assert stated(message, None) == []


def test_among_other_sentences_nothing_is_added(stated: Callable[..., list[tuple[str, str, str]]]) -> None:
    assert stated("They came late and laughed. The kitchen has two ovens. We left.", None) == []


@pytest.mark.parametrize("message", ["🔔😇", "👍", "😂😂 🎉", "❤️", "!!!", "…", "?!", "(😉)", "🇵🇹", "\u200b", "- 🎂"])
def test_a_message_without_words_states_nothing(
    message: str, stated: Callable[..., list[tuple[str, str, str]]]
) -> None:
    assert stated(message) == []
