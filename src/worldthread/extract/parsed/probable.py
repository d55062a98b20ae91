"""Leaves out facts that are probably not right, by a logistic regression of which the weights are shipped."""

from __future__ import annotations

import json
import math
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.fact_features import Reading, features_of
from worldthread.extract.parsed.facts import LocatedFact

if TYPE_CHECKING:
    from spacy.tokens import Token

WEIGHTS: Final = "fact_weights.json"
"""The file of the weights; ``training/train_facts.py`` writes it."""
_FEW: Final = 2  # finite verbs of a sentence that can be all that a text says


class FactWeights(NamedTuple):
    """A logistic regression.

    Args:
        weights: weights of the features by name; a feature without one counts for nothing.
        bias: what is added to their sum.
        threshold: least probability of a fact that is stated.
        threshold_with_aspect: the same for a fact about what changes in a life, such as a home, an employer or an age,
            for which the rules ask more than a form; a feeling is none.
        threshold_alone: the same for a text that is one short sentence. Who says only "I own a hamster" means that it
            be known, and nothing before it explains it.
    """

    weights: dict[str, float]
    bias: float
    threshold: float
    threshold_with_aspect: float
    threshold_alone: float


@cache
def shipped_weights() -> FactWeights:
    """Return the weights that are shipped."""
    text = files("worldthread.extract.parsed").joinpath(WEIGHTS).read_text(encoding="utf-8")
    return FactWeights(**json.loads(text))


def probability(features: dict[str, float], model: FactWeights) -> float:
    """Return the probability that a fact is right, in [0, 1].

    Args:
        features: its features.
        model: the weights.
    """
    total = model.bias + sum(model.weights.get(name, 0.0) * value for name, value in features.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def is_short_and_alone(reading: Reading) -> bool:
    """Return whether a text is one sentence with few verbs."""
    finite = sum(token.tag_ in ("VBD", "VBP", "VBZ", "MD") for token in reading.doc)
    return reading.is_alone and finite <= _FEW


def is_baseless(reading: Reading) -> bool:
    """Return whether the clause does not say what the fact does, whatever its probability.

    It is a comparison ("I swim like a wardrobe"), a shout ("FLIGHTS ARE BOOKED"), or has no subject and tells only when
    something happened ("Came five days late, on the 19th"), or aims at a number of which only the talk says of what, or
    is of an exercise ("the probability of two sixes is 1/36").
    """
    clause = reading.stated.clause
    is_compared = any(c.dep_ == "prep" and c.lower_ == "like" and c.nbor(-1).text != "," for c in clause.verb.rights)
    is_shouted = clause.verb.is_upper and len(clause.verb) > 2
    is_bare_aim = clause.lemma == "aim" and clause.is_progressive and reading.stated.fact.object[:1].isdecimal()
    is_baseless_date = clause.subject is None and reading.is_by_date
    is_sum = clause.subject is not None and clause.subject.lemma_.lower() in WORDS["sums"]
    return is_compared or is_shouted or is_bare_aim or is_baseless_date or is_sum or is_figure(clause.verb)


_OWNERS: Final = frozenset(["my", "your", "his", "her", "our", "their", "its"])


_FIGURES: Final[dict[str, list[str]]] = {}
"""The figures of speech by their first word, between hyphens."""
for _figure in sorted(WORDS["figures"]):
    _FIGURES.setdefault(_figure.partition("-")[0], []).append(f"-{_figure}-")


def is_figure(verb: Token) -> bool:
    """Return whether a clause is a figure of speech: "I have butterflies in my stomach"."""
    if verb.lemma_ == "kill" and any(c.dep_ == "dobj" and c.tag_ == "PRP" for c in verb.rights):
        return True  # "my head is killing me"
    words = [t for t in verb.subtree if not t.is_punct and t.dep_ not in ("advmod", "case")]
    lemmas = ["one's" if t.lower_ in _OWNERS else t.lemma_.lower() for t in words]
    shown = [f"-{'-'.join(lemmas)}-", f"-{'-'.join(lemma for lemma in lemmas if lemma != 'be')}-"]
    begun = [figure for part in set(shown[0].split("-")) for figure in _FIGURES.get(part, ())]
    return any(figure in one for figure in begun for one in shown)


def has_unknown_subject(reading: Reading) -> bool:
    """Return whether only the talk explains the subject: "the repo is 14 GB", but not "the end of the film"."""
    subject = reading.stated.clause.subject
    if subject is None or subject.tag_ not in ("NN", "NNS"):
        return False
    if subject.lemma_.lower() in WORDS["sums"] | WORDS["goals"]:
        return True  # of an exercise: "the probability of a second ace is 3/51"
    is_definite = any(c.dep_ == "det" and c.lower_ in ("the", "this", "that", "these", "those") for c in subject.lefts)
    return is_definite and not any(c.dep_ in ("prep", "relcl", "acl", "appos") for c in subject.rights)


def is_likely(reading: Reading, *, is_judged: bool = False) -> bool:
    """Return whether the fact of a whole clause, of which nothing is cut, is likely to be right.

    Args:
        reading: the fact with what is known of its sentence.
        is_judged: whether facts are judged beside their message afterwards, so that none is left out here.
    """
    if is_baseless(reading) or has_unknown_subject(reading):
        return False
    model = shipped_weights()
    return is_judged or probability(features_of(reading), model) >= model.threshold_with_aspect


def probable_facts(readings: list[Reading], *, is_judged: bool = False) -> tuple[LocatedFact, ...]:
    """Return the facts of a sentence that are probably right.

    Args:
        readings: the facts with what is known of their sentence.
        is_judged: whether facts are judged beside their message afterwards, so that none is left out here.

    Returns:
        Those at or above the threshold, in order.
    """
    model = shipped_weights()
    kept = []
    for one in readings:
        is_alone = is_short_and_alone(one)
        if one.stated.is_certain or one.stated.is_plain:
            if is_judged or is_alone or not one.stated.is_plain:
                kept.append(one.stated)
            continue
        if is_baseless(one) or (not is_alone and has_unknown_subject(one)):
            continue
        if is_judged:
            kept.append(one.stated)
            continue
        aspect = one.stated.fact.aspect
        if is_alone:
            least = model.threshold_alone
        elif aspect is not None and not aspect.startswith("feeling "):
            least = model.threshold_with_aspect
        else:
            least = model.threshold
        if probability(features_of(one), model) >= least:
            kept.append(one.stated)
    return tuple(kept)
