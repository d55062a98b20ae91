from __future__ import annotations

import hashlib
import itertools

import numpy as np

from worldthread.models.fake import FakeEmbedder


def cosine(left: str, right: str) -> float:
    a, b = FakeEmbedder().embed([left, right])
    return float(a @ b)


def test_the_same_bits_on_every_machine() -> None:
    """When this digest changes, the name of the embedder must change with it: vectors are stored under it."""
    vectors = FakeEmbedder().embed(["The key is in the white locker.", "Straße 北京 🗝️", "", "a a a b"])
    digest = hashlib.sha256(vectors.astype("<f4").tobytes()).hexdigest()
    assert (FakeEmbedder.name, digest) == (
        "fake-256/1",
        "035589d7763bd176bd1c84589b71ce16d5327176cadf65351641810933a98275",
    )


def test_shared_words_and_pieces_show() -> None:
    assert cosine("key 1 is in the locker", "key 1 is on the floor") > 0.5
    assert cosine("unlock", "unlocked") > 0.3
    assert cosine("the oak door", "door oak THE") > 0.999


def test_unrelated_words_are_nearly_orthogonal() -> None:
    words = ["potato", "lighthouse", "quick", "zinc", "umbrella", "fjord", "Monday", "gravel", "sapphire", "knee"]
    vectors = FakeEmbedder().embed(words)
    cosines = np.array([vectors[i] @ vectors[j] for i, j in itertools.combinations(range(len(words)), 2)])
    assert abs(cosines).max() < 0.3
    assert abs(cosines.mean()) < 0.05


def test_compatibility_characters_are_folded() -> None:
    assert cosine("ＫＥＹ ﬁre", "key fire") > 0.999
