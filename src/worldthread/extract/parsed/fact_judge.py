"""A trained model that reads a fact beside its message and says how probable it is that the fact is right.

The rules that take facts know grammar. Whether a fact is whole, meant as it is said and to be understood alone is a
matter of what the words mean. So the fact and the text around it are read together by all-MiniLM-L6-v2, which comes
with the installation: its first layers as they are, and then the last ones again, trained for this question. Their
weights are in ``fact_judge.npz``, and ``training/train_judge.py`` makes them. How sure it must be depends on what
kind of text it is. Nothing is loaded before the first fact.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.resources import files
from io import BytesIO
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import MissingExtraError
from worldthread.extract.base import USER
from worldthread.extract.parsed.one_thread import one_thread
from worldthread.models.minilm import MiniLMEmbedder
from worldthread.names import normalise_text
from worldthread.types import Fact

TextKind = Literal["talk", "sentence", "letter", "document"]
"""What a fact was taken from: a message of a talk, a short sentence that is all that a message states, a message of
several paragraphs, or a text that nobody is known to say."""

WEIGHTS: Final = "fact_judge.npz"
"""The file of the weights."""
FACT_TOKENS: Final = 40
TEXT_TOKENS: Final = 80
"""Tokens of a fact and of its text that are read; the rest is left out."""

_MOST_WORDS: Final = 50  # of a text that is read whole
_NEAR_DAYS: Final = 60  # days that are counted; before and after them months are
_MONTH_DAYS: Final = 30.4
_DAY: Final = 86_400.0
_KEPT: Final = 4096  # answers
_LONGEST_NAME: Final = 30  # characters of a speaker's name that the model reads
_HEADS: Final = 12
_EPSILON: Final = 1e-12
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s+|\n+")
_WORD: Final = re.compile(r"[\w'-]+")

Array = NDArray[np.float32]


def evidence_of(fact: Fact, text: str) -> str:
    """Return the part of a text beside which a fact is judged.

    Args:
        fact: the fact.
        text: the text that it was taken from, without the label of its speaker.

    Returns:
        A text of at most 50 words as it is; of a longer one the sentence with the most words of the fact and, where
        both together have no more words than that, the one before it.
    """
    if len(text.split()) <= _MOST_WORDS:
        return " ".join(text.split())
    sentences = [" ".join(part.split()) for part in _SENTENCE_END.split(text) if part.strip()]
    words = set(_WORD.findall(normalise_text(f"{fact.subject} {fact.relation} {fact.object}")))
    shared = [len(words & set(_WORD.findall(normalise_text(sentence)))) for sentence in sentences]
    place = int(np.argmax(shared))
    both = " ".join(sentences[max(0, place - 1) : place + 1])
    return both if len(both.split()) <= _MOST_WORDS else sentences[place]


def described(fact: Fact, at: float | None) -> str:
    """Return a fact in words, with its interval as seen from a time.

    Args:
        fact: the fact.
        at: the time of its text; ``None`` where that is not known.
    """
    words = f"{fact.subject}, {fact.relation}, {fact.object}"
    if fact.valid_from is not None:
        words += f", from {_distance(fact.valid_from, at)}"
    if fact.valid_to is not None:
        words += f", until {_distance(fact.valid_to, at)}"
    return words


def _distance(time: float, at: float | None) -> str:
    if at is None:
        return str(datetime.fromtimestamp(time, UTC).year)
    days = round((time - at + _DAY / 2) // _DAY)
    is_near = abs(days) <= _NEAR_DAYS
    shown = f"{abs(days)} days" if is_near else f"{round(abs(days) / _MONTH_DAYS)} months"
    return "now" if days == 0 else f"{shown} ago" if days < 0 else f"in {shown}"


class _Layer(NamedTuple):
    """The weights of a transformer layer with normalisation behind its parts, each of shape (outputs, inputs)."""

    attention: tuple[Array, Array]
    attended: tuple[Array, Array]
    inner: tuple[Array, Array]
    outer: tuple[Array, Array]
    first_norm: tuple[Array, Array]
    second_norm: tuple[Array, Array]

    def run(self, x: Array) -> Array:
        """Return the next states of tokens, shape (tokens, dimensions)."""
        length, width = x.shape
        q, k, v = _linear(x, self.attention).reshape(length, 3, _HEADS, width // _HEADS).transpose(1, 2, 0, 3)
        weights = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(width // _HEADS))
        weights = np.exp(weights - weights.max(-1, keepdims=True))
        seen = (weights / weights.sum(-1, keepdims=True)) @ v
        x = _normal(x + _linear(seen.transpose(1, 0, 2).reshape(length, width), self.attended), self.first_norm)
        inner = _linear(x, self.inner)
        cubed = inner * inner * inner  # eight times faster than a power
        inner *= 0.5 * (1 + np.tanh(0.7978846 * (inner + 0.044715 * cubed)))  # GELU, as it was trained
        return _normal(x + _linear(inner, self.outer), self.second_norm)


def _linear(x: Array, weights: tuple[Array, Array]) -> Array:
    return np.asarray(x @ weights[0].T + weights[1], np.float32)


def _normal(x: Array, weights: tuple[Array, Array]) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    return np.asarray(
        centred / np.sqrt((centred**2).mean(-1, keepdims=True) + _EPSILON) * weights[0] + weights[1], np.float32
    )


class FactJudge:
    """Says how probable it is that a fact is right, whole and understood without its text. Thread-safe.

    Args:
        data: the weights, as ``training/train_judge.py`` writes them.
    """

    def __init__(self, data: bytes) -> None:
        with np.load(BytesIO(data), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}

        def pair(name: str) -> tuple[Array, Array]:
            weight = arrays[f"{name}.weight"]
            if weight.dtype == np.int8:
                weight = weight.astype(np.float32) * arrays[f"{name}.scale"][:, None]
            return weight, arrays[f"{name}.bias"]

        count = sum(name.endswith(".attention.weight") for name in arrays)
        self._layers = [_Layer(*(pair(f"{number}.{part}") for part in _Layer._fields)) for number in range(count)]
        self._hidden, self._answer = pair("hidden"), pair("answer")
        self.thresholds: dict[TextKind, float] = {
            kind: float(arrays[f"threshold.{kind}"]) for kind in get_args(TextKind)
        }
        self._encoder = MiniLMEmbedder()
        self._kept = lru_cache(_KEPT)(self._judged)

    def probability(self, fact: str, text: str) -> float:
        """Return the probability that a fact is right, in [0, 1].

        Args:
            fact: the fact in words (:func:`described`).
            text: the text around it (:func:`evidence_of`), with the label of its speaker.

        Raises:
            MissingExtraError: the package of the encoder is not installed.
        """
        return self._kept(fact, text)

    @one_thread()
    def _judged(self, fact: str, text: str) -> float:
        x = self._encoder.pair_states(fact, text, most=(FACT_TOKENS, TEXT_TOKENS))
        for layer in self._layers:
            x = layer.run(x)
        hidden = np.tanh(_linear(np.concatenate([x[0], x.mean(0)]), self._hidden))
        answers = _linear(hidden, self._answer)
        return float(np.exp(answers[0] - np.logaddexp.reduce(answers)))


@cache
def fact_judge() -> FactJudge | None:
    """Return the model that is shipped, loaded at the first call; ``None`` without its encoder or its weights."""
    weights = files("worldthread.extract.parsed").joinpath(WEIGHTS)
    if not weights.is_file():
        return None
    judge = FactJudge(weights.read_bytes())
    try:
        judge.probability("", "")
    except MissingExtraError:
        return None
    return judge


def is_judged_right(fact: Fact, text: str, speaker: str, at: float | None, kind: TextKind) -> bool:
    """Return whether a fact of a text is probably right; ``True`` where the model is not installed.

    Args:
        fact: the fact.
        text: the text, without the label of its speaker.
        speaker: who says it; empty if nobody is known to say it.
        at: the time of the text; ``None`` where that is not known.
        kind: what kind of text it is, which decides how sure the model must be.
    """
    judge = fact_judge()
    if judge is None:
        return True
    evidence = evidence_of(fact, text)
    if speaker and (len(speaker) > _LONGEST_NAME or not any(letter.isalpha() for letter in speaker)):
        # "42" as a name tells nothing of the fact, but misleads the model
        fact, speaker = _as_user(fact, speaker), USER
    return judge.probability(described(fact, at), f"{speaker}: {evidence}") >= judge.thresholds[kind]


def _as_user(fact: Fact, speaker: str) -> Fact:
    """Return a fact in which the speaker, and what is the speaker's, bears the name of the user."""
    owner = re.compile(rf"(?<!\w){re.escape(speaker)}(?='s\b)")
    subject = USER if fact.subject == speaker else owner.sub(USER, fact.subject)
    return replace(fact, subject=subject, object=owner.sub(USER, fact.object))
