from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldthread.errors import InputError, MissingExtraError, ModelConfigError
from worldthread.models import Embedder, QueryEmbedder, embedder
from worldthread.models.sentence_transformers import SentenceTransformerEmbedder

TEXTS = ["the rusty key", "a green door", "key and door", "the key"]

needs_library = pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None, reason="needs the extra `sentence-transformers`"
)


def test_a_missing_library_is_an_error_with_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[sentence-transformers\]'?"):
        SentenceTransformerEmbedder("all-mpnet-base-v2").embed(["key"])


@pytest.mark.parametrize(("name", "batch"), [("", 1), (" ", 1), ("all-mpnet-base-v2", 0)])
def test_settings_out_of_range_are_refused(name: str, batch: int) -> None:
    with pytest.raises(InputError):
        SentenceTransformerEmbedder(name, batch=batch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the real library with random vectors for a few words, saved as every model is."""
    library: Any = pytest.importorskip("sentence_transformers")
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    words = ["[UNK]", "the", "a", "rusty", "green", "key", "door", "and", "query", ":", "passage"]
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    weights = np.random.default_rng(1).standard_normal((len(words), 16)).astype(np.float32)
    place = tmp_path_factory.mktemp("model")
    model = library.SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=weights)], device="cpu")
    model.save(str(place / "plain"))
    model.prompts = {"query": "query: ", "document": "passage: "}
    model.save(str(place / "prompted"))
    return place


@pytest.mark.sentence_transformers
@needs_library
def test_a_model_of_the_library(folder: Path) -> None:
    model = embedder(f"sentence-transformers/{folder / 'plain'}")
    assert isinstance(model, Embedder)
    assert isinstance(model, QueryEmbedder)
    assert model.dimensions == 16
    assert model.name == f"sentence-transformers/{folder / 'plain'}-16/1"
    vectors = model.embed([*TEXTS, "", " \n"])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 1, 1, 1, 0, 0], atol=1e-5)
    np.testing.assert_allclose(model.embed_queries(TEXTS), vectors[:4], atol=1e-6)
    assert model.embed([]).shape == (0, 16)
    with pytest.raises(InputError, match="wrap it in a list"):
        model.embed("key")


@pytest.mark.sentence_transformers
@needs_library
def test_the_prompts_of_a_model_are_used(folder: Path) -> None:
    plain = SentenceTransformerEmbedder(str(folder / "plain"))
    prompted = SentenceTransformerEmbedder(str(folder / "prompted"))
    assert prompted.name.partition("+")[2]
    texts, questions = (plain.embed([f"{prompt}: key"]) for prompt in ("passage", "query"))
    np.testing.assert_allclose(prompted.embed(["key"]), texts, atol=1e-6)
    np.testing.assert_allclose(prompted.embed_queries(["key"]), questions, atol=1e-6)


@pytest.mark.sentence_transformers
@needs_library
def test_a_model_that_cannot_be_loaded_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelConfigError, match=r"cannot load the model .*\n.*or a folder that holds one"):
        SentenceTransformerEmbedder(str(tmp_path)).embed(["key"])
