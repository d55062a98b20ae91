"""The model that points at the words of a piece."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.extract.reader.events import Confidence, EventScores
from worldthread.extract.reader.pieces import TURN_END, Piece, paired, sentences_of
from worldthread.extract.reader.relations import RelationWords
from worldthread.models.minilm import TOKENIZER_PATH

_BEGIN: Final = 101
_SEPARATE: Final = 102
_MOST_TOKENS: Final = 508
_MOST_OF_WORD: Final = 12
_MOST_OF_SPEAKER: Final = 4


class Tokens:
    """The numbers of a piece that the model reads.

    Args:
        tokenizer: a ``tokenizers.Tokenizer``.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def _of(self, word: str) -> list[int]:
        whole = word.encode(errors="replace").decode()  # half of a pair of surrogates is no character
        return list(self._tokenizer.encode(whole, add_special_tokens=False).ids[:_MOST_OF_WORD])

    def of(self, piece: Piece) -> tuple[list[int], list[int], list[int], list[int]]:
        """Return tokens, the word of each (-1: of none), the part of each (1: the message), and the case of words."""
        tokens, places, parts = [_BEGIN], [-1], [0]

        def add(ids: Sequence[int], place: int, part: int) -> None:
            tokens.extend(ids)
            places.extend([place] * len(ids))
            parts.extend([part] * len(ids))

        for place, word in enumerate(piece.before):
            add([_SEPARATE] if word == TURN_END else self._of(word), place, 0)
        add([_SEPARATE], -1, 0)
        add([*self._of(piece.speaker)[:_MOST_OF_SPEAKER], *self._of(":")], -1, 1)
        own = [word.text for word in piece.words]
        for place, word in enumerate(own, len(piece.before)):
            add(self._of(word), place, 1)
        add([_SEPARATE], -1, 1)
        case = [_case_of(word) for word in (*piece.before, *own)]
        return tokens[:_MOST_TOKENS], places[:_MOST_TOKENS], parts[:_MOST_TOKENS], case


def _case_of(word: str) -> int:
    if word.islower() or not word.isalpha():
        return 0
    return 2 if word.isupper() and len(word) > 1 else 1


class ReaderModel:
    """The model, loaded when it is first asked. Thread-safe.

    Args:
        folder: has ``words.onnx``, ``events.onnx``, ``relations.json`` and ``confidence.json``; its tokens are those of
            the default embedder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any, Tokens] | None = None
        self.relations: tuple[str, ...] = tuple(json.loads((folder / "relations.json").read_text(encoding="utf-8")))
        self._said = RelationWords(self.relations)
        learned = json.loads((folder / "confidence.json").read_text(encoding="utf-8"))
        self.confidence = Confidence(learned["weights"], learned["bias"])

    def scores(self, piece: Piece, least: float) -> EventScores | None:
        """Return what the model says of a piece.

        Args:
            piece: the piece.
            least: how probable the beginning of an object must be to be looked at.

        Returns:
            The scores; ``None`` where nothing is probable enough.
        """
        _, events_session, _ = self._sessions()
        words, begins, _, _ = self._read(piece)
        (begin,) = np.nonzero(begins > least)
        if not len(begin):
            return None
        said = self._said.matches([*piece.before, *(word.text for word in piece.words)])
        found = events_session.run(
            None, {"words": words, "begin": begin, "sentence": np.array(sentences_of(piece)), "matches": said}
        )
        return EventScores(begin, begins[begin], *found)

    def outcome(self, pair: Piece) -> NDArray[np.float32]:
        """Return how probably a message says of a statement each of :data:`OUTCOMES`, shape (3,).

        Args:
            pair: what :func:`~worldthread.extract.reader.pieces.paired` made of them.
        """
        outcome: NDArray[np.float32] = self._read(pair)[2]
        return outcome

    def judged(self, fact: str, piece: Piece) -> float:
        """Return how probably a fact, "subject | relation | object", is right, in [0, 1].

        Args:
            fact: the fact.
            piece: what it was read in.
        """
        pair = paired(fact, piece.speaker, piece.text[piece.words[0].begin : piece.words[-1].end])
        return 1.0 if pair is None else float(self._read(pair)[3][0])

    @property
    def tokens(self) -> Tokens:
        """The numbers of words."""
        return self._sessions()[2]

    def lower_states(self, tokens: Sequence[int], parts: Sequence[int]) -> NDArray[np.float32]:
        """Return what the lower layers of the encoder say of tokens, shape (tokens, 384).

        Args:
            tokens: the tokens.
            parts: the part of each; see :meth:`Tokens.of`.
        """
        import onnxruntime

        options = onnxruntime.RunOptions()
        options.only_execute_path_to_fetches = True
        one, pool = np.zeros(1, np.int64), np.zeros((1, len(tokens)), np.float32)
        feeds = {"tokens": _row(tokens), "types": _row(parts), "pool": pool, "case": one, "segment": one}
        states: NDArray[np.float32] = self._sessions()[0].run(["lower"], feeds, options)[0][0]
        return states

    def _read(self, piece: Piece) -> list[NDArray[np.float32]]:
        """Return the words, how probably an object begins at each, and outcome and judgement of a pair."""
        words_session, _, tokens_of = self._sessions()
        tokens, places, parts, case = tokens_of.of(piece)
        pool = np.zeros((len(case), len(tokens)), np.float32)
        inside = [(place, token) for token, place in enumerate(places) if place >= 0]
        pool[tuple(zip(*inside, strict=True))] = 1
        pool /= np.maximum(pool.sum(1, keepdims=True), 1)
        segment = (np.arange(len(case)) >= len(piece.before)).astype(np.int64)
        feeds = {"tokens": _row(tokens), "types": _row(parts), "pool": pool, "case": np.array(case), "segment": segment}
        words, begins, outcome, judgement, _ = words_session.run(None, feeds)
        return [words, begins * segment, outcome, judgement]

    def _sessions(self) -> tuple[Any, Any, Tokens]:
        with self._lock:
            if self._loaded is None:
                first, second = (onnx_session(self._folder / name) for name in ("words.onnx", "events.onnx"))
                self._loaded = first, second, load_tokens()
            return self._loaded


def onnx_session(path: Path) -> Any:
    """Return an ``onnxruntime.InferenceSession`` that works in one thread.

    Args:
        path: the file of the model.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def load_tokens() -> Tokens:
    """Return the numbers of words, as the model was trained with them."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(TOKENIZER_PATH))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return Tokens(tokenizer)


@cache
def reader_model(folder: Path) -> ReaderModel:
    """Return the model of a folder, which all memories of the process share.

    Args:
        folder: see :class:`ReaderModel`.
    """
    return ReaderModel(folder)


def _row(numbers: Sequence[int]) -> NDArray[np.int64]:
    return np.array([numbers], np.int64)
