"""A small trained model: given a statement that holds and a new message, does the message end it, or was it never so?

The statement and the message are encoded by all-MiniLM-L6-v2, which comes with the installation and is not changed. A
head of one transformer layer reads both together: the vectors of their tokens, and which words they share. Its
weights are in ``ending_model.npz``; ``benchmarks/train_changes.py`` makes them from the texts in
``benchmarks/language/training``. Nothing is loaded before the first message that may change something.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import MissingExtraError
from worldthread.extract.parsed.one_thread import one_thread

NOTHING, ENDS, NEVER = 0, 1, 2
"""The columns of the answer of a model."""

STATEMENT_TOKENS: Final = 24
MESSAGE_TOKENS: Final = 70
"""Tokens of a statement and of a message that are read; the rest is left out."""

FLAGS: Final = 4
_SCALE: Final = 8.0  # the vectors of tokens have unit length
_KEPT: Final = 4096  # encoded texts
_WEIGHTS: Final = "ending_model.npz"
_FREQUENT_WORDS: Final = """
a an the i my me we our us you your he she it they his her their is am are was were be been have has had do does did to
of in on at for with from by and or but not no so as this that these those there . , ! ? ' " ; : ( ) - ’ s t m ve re
"""
FREQUENT: Final = frozenset(_FREQUENT_WORDS.split())
"""Words that two texts share by chance."""
_SUFFIXES: Final = ("ing", "ied", "ies", "ed", "es", "s", "e", "er", "y")

Array = NDArray[np.float32]


class EncodedText(NamedTuple):
    """The tokens of a text.

    Args:
        pieces: its word pieces.
        stems: for each word piece the stem of its word; empty for frequent words.
        vectors: a vector for each word piece, shape (tokens, 384).
    """

    pieces: tuple[str, ...]
    stems: tuple[str, ...]
    vectors: Array


def stem(word: str) -> str:
    """Return a word without its ending, roughly: "worked" and "works" are equal.

    Args:
        word: a word in lower case.
    """
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)].rstrip("i")
    return word


def stems_of(pieces: Sequence[str]) -> tuple[str, ...]:
    """Return for each word piece the stem of its word; empty for frequent words.

    Args:
        pieces: word pieces; "##" begins those that go on with a word.
    """
    words: list[str] = []
    places: list[int] = []
    for piece in pieces:
        if piece.startswith("##") and words:
            words[-1] += piece[2:]
        else:
            words.append(piece)
        places.append(len(words) - 1)
    stems = ["" if word in FREQUENT else stem(word) for word in words]
    return tuple(stems[place] for place in places)


def shared(statement: EncodedText, message: EncodedText) -> Array:
    """Return what each token of a statement and of a message has in common with the other text.

    Args:
        statement: the statement.
        message: the message.

    Returns:
        Zeros and ones, shape (tokens of both, 4): the same word piece; the same stem; the same frequent word; unused.
    """
    flags = np.zeros((len(statement.pieces) + len(message.pieces), FLAGS), np.float32)
    row = 0
    for one, other in ((statement, message), (message, statement)):
        pieces, stems = set(other.pieces), set(other.stems) - {""}
        for piece, word in zip(one.pieces, one.stems, strict=True):
            if piece in FREQUENT:
                flags[row, 2] = piece in pieces
            else:
                flags[row, 0] = piece in pieces
                flags[row, 1] = word in stems
            row += 1
    return flags


class TokenEncoder:
    """Encodes the tokens of texts with all-MiniLM-L6-v2. Thread-safe.

    Raises:
        MissingExtraError: the package of the encoder is not installed.
    """

    def __init__(self) -> None:
        from worldthread.models.base import read_verified
        from worldthread.models.minilm import MAX_TOKENS, TOKENIZER_PATH, TOKENIZER_SHA256, MiniLMEmbedder

        self._embedder = MiniLMEmbedder()
        self._embedder.token_vectors("ready")  # it is loaded now, or not installed
        from tokenizers import Tokenizer

        self._tokenizer: Any = Tokenizer.from_str(read_verified(TOKENIZER_PATH, TOKENIZER_SHA256).decode("utf-8"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()

    def encode(self, text: str) -> EncodedText:
        """Return the tokens of a text with their vectors, of length 8.

        Args:
            text: the text.
        """
        vectors = self._embedder.token_vectors(text) * np.float32(_SCALE)
        pieces = tuple(self._tokenizer.encode(text).tokens[1:-1])[: len(vectors)]
        return EncodedText(pieces, stems_of(pieces), vectors)


class _ProjectedText(NamedTuple):
    """A text as the heads read it.

    Args:
        text: its tokens; the vectors are those of the first head.
        mean: the mean of the vectors of the encoder, shape (384,).
        heads: for each head the projected vectors, shape (tokens, width).
    """

    text: EncodedText
    mean: Array
    heads: tuple[Array, ...]


class EndingModel:
    """Says whether a message ends a statement. Deterministic on one machine; thread-safe.

    Args:
        weights: the arrays of ``ending_model.npz`` by name.
        encoder: encodes statements and messages.
    """

    def __init__(self, weights: dict[str, Array], encoder: TokenEncoder) -> None:
        self._weights = weights
        self._encoder = encoder
        self._heads = tuple(
            {name.removeprefix(prefix): array for name, array in weights.items() if name.startswith(prefix)}
            for prefix in (f"h{number}." for number in range(int(weights["heads"])))
        )
        self._layers = tuple({name: head[f"L0.{name}"] for name in _LAYER} for head in self._heads)
        self._kept: OrderedDict[str, _ProjectedText] = OrderedDict()
        self._lock = threading.Lock()
        self.thresholds = (float(weights["thresholds"][0]), float(weights["thresholds"][1]))
        """How sure the model must be that a statement has ended (above 1 it never is), and that it was never so."""

    @one_thread()
    def _read(self, text: str) -> _ProjectedText:
        with self._lock:
            kept = self._kept.get(text)
            if kept is not None:
                self._kept.move_to_end(text)
                return kept
        encoded = self._encoder.encode(text)
        if len(encoded.pieces):
            mean = encoded.vectors.mean(axis=0) / np.float32(_SCALE)
        else:
            mean = np.zeros(encoded.vectors.shape[1], np.float32)
        heads = tuple(encoded.vectors @ head["wp"] + head["bp"] for head in self._heads)
        read = _ProjectedText(encoded._replace(vectors=heads[0]), mean, heads)
        with self._lock:
            self._kept[text] = read
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return read

    @one_thread()
    def may_change(self, message: str) -> bool:
        """Return whether a message may end something, from the message alone: cheaper than to ask for each statement.

        Args:
            message: the message, without its label.
        """
        w = self._weights
        return float(self._read(message).mean @ w["gate.w"] + w["gate.b"]) >= float(w["gate.threshold"])

    @one_thread()
    def probabilities(self, statements: Sequence[str], message: str) -> Array:
        """Return what a message says of each statement.

        Args:
            statements: sentences, as :func:`~worldthread.extract.parsed.statement_texts.statement_text` writes them.
            message: the message, without its label.

        Returns:
            The probabilities of :data:`NOTHING`, :data:`ENDS` and :data:`NEVER`, shape (statements, 3). That of
            :data:`NOTHING` is the one of the head that doubts most.
        """
        found = np.zeros((len(statements), 3), np.float32)
        found[:, NOTHING] = 1
        said = self._read(message)
        if not len(said.text.pieces):
            return found
        for row, statement in enumerate(statements):  # one by one: nothing depends on what else is asked
            held = self._read(statement)
            if not len(held.text.pieces):
                continue
            flags = shared(cut(held.text, STATEMENT_TOKENS), cut(said.text, MESSAGE_TOKENS))
            heads = np.array([self._probability(number, held, said, flags) for number in range(len(self._heads))])
            mean, doubt = heads.mean(axis=0), heads[:, NOTHING].max()
            found[row] = mean * (1 - doubt) / max(1 - mean[NOTHING], 1e-9)
            found[row, NOTHING] = doubt
        return found

    def _probability(self, number: int, statement: _ProjectedText, message: _ProjectedText, flags: Array) -> Array:
        """Return the answer of one head for one pair."""
        head = self._heads[number]
        held, said = statement.heads[number][:STATEMENT_TOKENS], message.heads[number][:MESSAGE_TOKENS]
        x = np.concatenate([held + head["seg"][0], said + head["seg"][1]]) + flags @ head["fl"]
        x = _layer(np.concatenate([head["cls"], x]), self._layers[number])
        end = 1 + len(held)
        features = np.concatenate([x[0], x[1:end].mean(axis=0), x[end:].mean(axis=0)])
        hidden = np.maximum(features @ head["out.w1"] + head["out.b1"], 0)
        scores = hidden @ head["out.w2"] + head["out.b2"]
        powers = np.exp(scores - scores.max())
        return np.asarray(powers / powers.sum(), np.float32)


_LAYER: Final = ("qkv", "bqkv", "o", "bo", "w1", "b1", "w2", "b2", "g1", "h1", "g2", "h2")
_ATTENTION_HEADS: Final = 4


def cut(text: EncodedText, length: int) -> EncodedText:
    """Return the first tokens of a text.

    Args:
        text: the text.
        length: how many tokens are kept.
    """
    return EncodedText(text.pieces[:length], text.stems[:length], text.vectors[:length])


def _layer(x: Array, w: dict[str, Array]) -> Array:
    """Return the output of a transformer layer with normalisation before its parts."""
    tokens, width = x.shape
    size = width // _ATTENTION_HEADS
    q, k, v = np.split(_normalised(x, w["g1"], w["h1"]) @ w["qkv"] + w["bqkv"], 3, axis=1)
    q, k, v = (part.reshape(tokens, _ATTENTION_HEADS, size).transpose(1, 0, 2) for part in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(size))
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    seen = (powers / powers.sum(axis=-1, keepdims=True)) @ v
    x = x + seen.transpose(1, 0, 2).reshape(tokens, width) @ w["o"] + w["bo"]
    inner = np.maximum(_normalised(x, w["g2"], w["h2"]) @ w["w1"] + w["b1"], 0)
    return np.asarray(x + inner @ w["w2"] + w["b2"], np.float32)


def _normalised(x: Array, gain: Array, shift: Array) -> Array:
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return np.asarray((x - mean) / np.sqrt(variance + np.float32(1e-5)) * gain + shift, np.float32)


@cache
def ending_model() -> EndingModel | None:
    """Return the model, loaded once for each process; ``None`` where its weights or the encoder are not installed."""
    resource = files("worldthread.extract.parsed").joinpath(_WEIGHTS)
    if not resource.is_file():
        return None
    try:
        encoder = TokenEncoder()
    except (MissingExtraError, ImportError):
        return None
    with np.load(BytesIO(resource.read_bytes()), allow_pickle=False) as arrays:
        weights = {name: np.asarray(arrays[name], np.float32) for name in arrays.files}
    return EndingModel(weights, encoder)
