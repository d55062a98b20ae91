"""Finds what a message ends of the facts that a memory holds: each is read beside the message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from worldthread.extract.reader.model import ReaderModel
from worldthread.extract.reader.pieces import OUTCOMES, paired
from worldthread.graph import GraphView
from worldthread.models.minilm import MiniLMEmbedder
from worldthread.names import normalise_name
from worldthread.types import Fact

MOST_ASKED: Final = 12
"""Facts that are read beside a message."""
_MOST_COMPARED: Final = 64
_WORD: Final = re.compile(r"\w{3,}")


def facts_in_question(
    message: str, speaker: str, names: Iterable[str], new: Iterable[Fact], view: GraphView
) -> list[Fact]:
    """Return the facts that a message may end: of its speaker and of whom it names.

    Args:
        message: the message.
        speaker: who says it.
        names: what it names.
        new: the facts that it states.
        view: what the memory holds.

    Returns:
        At most :data:`MOST_ASKED` facts: all, or those that are nearest to the message by their words and meaning.
    """
    stated = {fact.key for fact in new}
    found: dict[tuple[str, str, str], Fact] = {}
    for name in dict.fromkeys((speaker, *(fact.subject for fact in new), *names)):
        for fact in (*view.facts(subject=name), *view.facts(object=name)):
            if fact.key not in stated:
                found.setdefault(fact.key, fact)
    facts = list(found.values())
    if len(facts) <= MOST_ASKED:
        return facts
    said = set(_WORD.findall(normalise_name(message)))
    shared = {fact.key: len(said & set(_WORD.findall(f"{fact.key[0]} {fact.key[2]}"))) for fact in facts}
    if len(facts) > _MOST_COMPARED:
        facts.sort(key=lambda fact: (-shared[fact.key], -_began(fact, view)))
        facts = facts[:_MOST_COMPARED]
    near = _vectors([f"{fact.relation} {fact.object}" for fact in facts]) @ _vectors([message])[0]
    scores = near + 0.2 * np.minimum([shared[fact.key] for fact in facts], 2)
    return [facts[number] for number in np.argsort(-scores, kind="stable")[:MOST_ASKED]]


class Outcome(NamedTuple):
    """What a message says of a fact.

    Args:
        over: how probably it is over or has never been so, in [0, 1].
        never: whether it rather has never been so.
    """

    over: float
    never: bool


def outcome_of(fact: Fact, message: str, speaker: str, model: ReaderModel) -> Outcome:
    """Return what a message says of a fact.

    Args:
        fact: the fact.
        message: the message, without a label.
        speaker: who says it.
        model: reads the fact beside the message.
    """
    pair = paired(shown(fact), speaker, message)
    if pair is None:
        return Outcome(0.0, never=False)
    outcome = model.outcome(pair)
    never = bool(outcome[OUTCOMES.index("never")] > outcome[OUTCOMES.index("ended")])
    return Outcome(1 - float(outcome[OUTCOMES.index("goes on")]), never)


def shown(fact: Fact) -> str:
    """Return a fact as it is read beside a message."""
    return f"{fact.subject} {fact.relation} {fact.object}"


def _began(fact: Fact, view: GraphView) -> float:
    versions = view.versions(fact)
    return versions[-1].interval.valid_from if versions else 0.0


@cache
def _embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


@lru_cache(4096)
def _vector(text: str) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = _embedder().embed([text])[0]
    return vector


def _vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.stack([_vector(text) for text in texts])
