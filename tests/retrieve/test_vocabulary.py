"""The numbers of words."""

from __future__ import annotations

import pytest

from worldthread.retrieve import vocabulary as vocabulary_module
from worldthread.retrieve.vocabulary import Vocabulary
from worldthread.retrieve.words import tokens_of, words_of

TEXTS = (
    "The Cafés of São Paulo, where he lives; she lived there too.",
    "He LIVES in a café, and the cafes live on. 42 lives.",
    "",
    "Straße 5, STRASSE 5: ﬁve x̌y",
    "He LIVES in a café, and the cafes live on. 42 lives.",
)


@pytest.mark.parametrize("most", [0, 3, 1 << 16])
def test_the_numbers_of_a_text_are_those_of_its_stems(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary_module, "_MOST_TOKENS", most)
    vocabulary, one_by_one = Vocabulary(), Vocabulary()
    for text in TEXTS:
        numbers = vocabulary.numbers_of(tokens_of(text))
        assert numbers == [one_by_one.intern(stem) for stem in words_of(text)]
        assert [vocabulary.items[number] for number in numbers] == words_of(text)
    vocabulary.forget_tokens()
    assert vocabulary.numbers_of(tokens_of(TEXTS[0])) == [one_by_one.intern(stem) for stem in words_of(TEXTS[0])]
    assert len(vocabulary) == len(one_by_one)
