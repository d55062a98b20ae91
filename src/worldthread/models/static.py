"""WordLlama, a static embedder: the mean of one vector per token. About 80 times faster than MiniLM, and coarser.

Weights and tokenizer are read from the files of the package ``wordllama``. The package itself is never imported: its
import configures the root logger, and its loader downloads files that it does not find.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import MissingExtraError
from worldthread.models.base import read_verified, require_texts, unit

WEIGHTS_FILE: Final = "weights/l2_supercat_256.safetensors"
WEIGHTS_SHA256: Final = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
TOKENIZER_FILE: Final = "tokenizers/l2_supercat_tokenizer_config.json"
TOKENIZER_SHA256: Final = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"


class _WordLlamaModel(NamedTuple):
    vectors: NDArray[np.float32]  # one row for each token
    tokenizer: Any  # tokenizers.Tokenizer


class WordLlamaEmbedder:
    """Static embeddings of 256 dimensions; word order does not count, and texts of any length are read as a whole.

    Needs the extra ``static``. The model is loaded by the first call of :meth:`embed` that needs it. Thread-safe.
    """

    name: Final = "wordllama-l2-supercat-256/1"
    dimensions: Final = 256

    def __init__(self) -> None:
        self._model: _WordLlamaModel | None = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[WordLlamaEmbedder], tuple[()]]:
        return type(self), ()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts; see :meth:`worldthread.models.Embedder.embed`."""
        checked = require_texts(texts)
        vectors = np.zeros((len(checked), self.dimensions), dtype=np.float32)
        if not checked:
            return vectors
        model = self._loaded()
        for row, text in enumerate(checked):
            if text.strip():  # the tokenizer makes tokens of white space too
                ids = model.tokenizer.encode(text, add_special_tokens=False).ids
                vectors[row] = unit(model.vectors[ids].mean(axis=0))
        return vectors

    def _loaded(self) -> _WordLlamaModel:
        with self._lock:
            if self._model is None:
                self._model = _load(_package_folder())
            return self._model


def _package_folder() -> Path:
    found = importlib.util.find_spec("wordllama")
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError("The static embedder", extra="static", package="wordllama")
    return Path(found.submodule_search_locations[0])


def _load(folder: Path) -> _WordLlamaModel:
    try:
        from safetensors.numpy import load
        from tokenizers import Tokenizer
    except ImportError as error:
        package = (error.name or "safetensors").partition(".")[0]
        raise MissingExtraError("The static embedder", extra="static", package=package) from error
    weights = load(read_verified(folder / WEIGHTS_FILE, WEIGHTS_SHA256))
    vocabulary = read_verified(folder / TOKENIZER_FILE, TOKENIZER_SHA256)
    tokenizer = Tokenizer.from_str(vocabulary.decode("utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return _WordLlamaModel(weights["embedding.weight"].astype(np.float32), tokenizer)
