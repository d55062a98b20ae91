"""What every embedder must do, run over all that are registered and over the one that asks a cache first."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from worldthread.errors import InputError, MissingExtraError
from worldthread.models import EMBEDDERS, CachedEmbedder, Embedder, VectorCache, embedder
from worldthread.models.base import embed_queries

TEXTS = [
    "The key is in the white locker.",
    "north",
    "You can't open the oak door because it is locked.",
    "Café Straße naïve, “quoted” — ½",
    "北京 は 首都 です",
    "🗝️ 🔒 🚪",
    "!!! ??? ...",
    "key 12 in locker 3; key 13 in locker 4",
    "word " * 40,
    "The recipe needs a diced potato and a roasted carrot. " * 12,
]


@pytest.fixture(scope="module", params=[*EMBEDDERS, "cached"])
def model(request: pytest.FixtureRequest, dict_cache: Callable[[], VectorCache]) -> Embedder:
    if request.param == "cached":
        return CachedEmbedder(embedder("fake"), dict_cache())
    made = embedder(request.param)
    try:
        made.embed(["is the model there?"])
    except MissingExtraError as error:
        if error.extra is None:
            raise
        pytest.skip(str(error))
    return made


def test_it_meets_the_protocol(model: Embedder) -> None:
    assert isinstance(model, Embedder)
    assert "/" in model.name, "the name ends in a version"


def test_rows_are_unit_vectors_of_the_promised_shape(model: Embedder) -> None:
    vectors = model.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), model.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(model: Embedder) -> None:
    vectors = model.embed([])
    assert vectors.shape == (0, model.dimensions)
    assert vectors.dtype == np.float32


@pytest.mark.parametrize("blank", ["", " ", "\n\t  \r\n", "\u00a0\u2003"])
def test_a_text_without_tokens_is_a_row_of_zeros(model: Embedder, blank: str) -> None:
    vectors = model.embed(["key", blank, "door"])
    assert not vectors[1].any()
    assert vectors[0].any()
    assert vectors[2].any()


def test_a_vector_depends_on_its_text_only(model: Embedder) -> None:
    together = model.embed(TEXTS)
    alone = np.vstack([model.embed([text]) for text in TEXTS])
    backwards = model.embed(TEXTS[::-1])[::-1]
    among_others = model.embed([*TEXTS, *(f"{text} again" for text in TEXTS), ""])[: len(TEXTS)]
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together, backwards)
    np.testing.assert_array_equal(together, among_others)


def test_any_sequence_of_texts_will_do(model: Embedder) -> None:
    np.testing.assert_array_equal(model.embed(tuple(TEXTS[:2])), model.embed(TEXTS[:2]))


def test_equal_texts_in_one_call_have_equal_rows(model: Embedder) -> None:
    vectors = model.embed(["oak door", "key", "oak door"])
    np.testing.assert_array_equal(vectors[0], vectors[2])
    assert not np.array_equal(vectors[0], vectors[1])


def test_a_result_belongs_to_the_caller(model: Embedder) -> None:
    first = model.embed(["oak door"])
    kept = first.copy()
    first[:] = 7
    np.testing.assert_array_equal(model.embed(["oak door"]), kept)


def test_a_very_long_text_is_no_problem(model: Embedder) -> None:
    vectors = model.embed(["The corridor goes on. " * 5000])
    assert np.linalg.norm(vectors[0]) == pytest.approx(1, abs=1e-5)


def test_likeness_shows(model: Embedder) -> None:
    key, same, other = model.embed(["a rusty key", "the rusty keys", "paint on yesterday's canvas"])
    assert key @ same > 0.3
    if "-e5-" in model.name:  # trained at a low temperature: all its cosines are between 0.7 and 1
        assert 1 - key @ same < 0.7 * (1 - key @ other)
    else:
        assert key @ same > key @ other + 0.2


def test_a_question_finds_the_text_that_answers_it(model: Embedder) -> None:
    texts = ["The rusty key hangs on the wall.", "She paints a canvas.", "Snow fell all night on the mountain pass."]
    (question,) = embed_queries(model, ["Where is the rusty key?"])
    assert question.shape == (model.dimensions,)
    assert (model.embed(texts) @ question).argmax() == 0


def test_unusable_questions_are_refused(model: Embedder) -> None:
    with pytest.raises(InputError, match="wrap it in a list"):
        embed_queries(model, "one string")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("one string", "wrap it in a list"),
        (["fine", 3], "text 1 must be a string, not int"),
        ([None], "text 0 must be a string, not NoneType"),
        (["fine", "fine", "half a pair: \ud83d"], "text 2 is not valid Unicode"),
    ],
)
def test_unusable_input_is_refused(model: Embedder, wrong: list[str], told: str) -> None:
    with pytest.raises(InputError, match=told):
        model.embed(wrong)


@pytest.mark.parametrize("name", EMBEDDERS)
def test_other_processes_get_the_same_bits(name: str) -> None:
    """Another hash seed, one processor and another first call must not show."""
    program = (
        "import hashlib, os, sys\n"
        "if hasattr(os, 'sched_setaffinity'):\n"
        "    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from worldthread.models import embedder\n"
        "made = embedder(sys.argv[1])\n"
        "made.embed(['something else first'])\n"
        "print(hashlib.sha256(made.embed(sys.argv[2:]).tobytes()).hexdigest())\n"
    )
    try:
        here = embedder(name).embed(TEXTS)
    except MissingExtraError as error:
        if error.extra is None:
            raise
        pytest.skip(str(error))
    there = subprocess.run(
        [sys.executable, "-c", program, name, *TEXTS],
        env={**os.environ, "PYTHONHASHSEED": "1234"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.strip() == hashlib.sha256(here.tobytes()).hexdigest()
