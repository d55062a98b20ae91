"""Tests of the words that say relations."""

from __future__ import annotations

import numpy as np

from worldthread.extract.reader.relations import RelationWords, stem_of


def test_words_of_relations_are_found_by_their_stems_and_function_words_as_they_are() -> None:
    said = RelationWords(("", "lives in", "has sister", "is at"))
    content, function = said.matches(["My", "Sisters", "living", "IN", "at"])
    assert np.argwhere(content).tolist() == [[1, 2], [2, 1]]
    assert np.argwhere(function).tolist() == [[3, 1], [4, 3]]


def test_short_words_keep_their_letters() -> None:
    assert [stem_of(word) for word in ("bed", "his", "see", "ring", "pass", "falling")] == [
        "bed", "his", "see", "ring", "pas", "fall",
    ]  # fmt: skip


def test_no_words_match_nothing() -> None:
    assert RelationWords(()).matches([]).shape == (2, 0, 0)
    assert not RelationWords(("lives in",)).matches(["", "?"]).any()
