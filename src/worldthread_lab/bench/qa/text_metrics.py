"""Scores of the wording of answers: BLEU, ROUGE-L, METEOR and BERTScore, each by name.

They say how far an answer shares words, or the meaning of words, with a right answer. They complement exact match, F1
and the judge. BLEU, ROUGE and METEOR are computed by sacrebleu, rouge-score and NLTK, which the extra ``metrics``
installs. BERTScore compares token vectors of the built-in embedder, because larger models would have to be downloaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from worldthread.models.minilm import MiniLMEmbedder

TextMetric: TypeAlias = Callable[[str, Sequence[str]], float]
"""Takes a prediction and the right answers, at least one; returns a score of 0..1, the best over the answers."""

_EXTRA: Final = "metrics"
_WORDS: Final = re.compile(r"\w+|[^\w\s]")


def bleu(prediction: str, answers: Sequence[str]) -> float:
    """Compute sentence BLEU (Papineni et al. 2002) with all right answers as references.

    Orders of n-grams that are longer than the prediction are left out, and counts of zero are smoothed exponentially,
    as sacrebleu advises for single sentences. Letter case does not count.

    Args:
        prediction: the predicted answer.
        answers: the right answers; at least one.

    Returns:
        The score; 0..1.

    Raises:
        InputError: there is no right answer.
        MissingExtraError: sacrebleu is not installed.
    """
    _require(answers)
    try:
        from sacrebleu import BLEU
    except ImportError as error:
        raise MissingExtraError("BLEU", extra=_EXTRA, package="sacrebleu") from error
    scorer = BLEU(effective_order=True, lowercase=True)
    return min(1.0, float(scorer.sentence_score(prediction, list(answers)).score) / 100)


def rouge(prediction: str, answers: Sequence[str]) -> float:
    """Compute the F measure of ROUGE-L (Lin 2004), with stemming.

    Args:
        prediction: the predicted answer.
        answers: the right answers; at least one.

    Returns:
        The score against the best-matching right answer; 0..1.

    Raises:
        InputError: there is no right answer.
        MissingExtraError: rouge-score is not installed.
    """
    _require(answers)
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise MissingExtraError("ROUGE", extra=_EXTRA, package="rouge-score") from error
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    return max(float(scorer.score(answer, prediction)["rougeL"].fmeasure) for answer in answers)


def meteor(prediction: str, answers: Sequence[str]) -> float:
    """Compute METEOR (Banerjee and Lavie 2005).

    Words match when they are equal, have equal stems, or share a synonym in WordNet. NLTK does not come with WordNet:
    without it (``python -m nltk.downloader wordnet``) synonyms do not match.

    Args:
        prediction: the predicted answer.
        answers: the right answers; at least one.

    Returns:
        The score against the best-matching right answer; 0..1.

    Raises:
        InputError: there is no right answer.
        MissingExtraError: NLTK is not installed.
    """
    _require(answers)
    try:
        from nltk.translate.meteor_score import meteor_score
    except ImportError as error:
        raise MissingExtraError("METEOR", extra=_EXTRA, package="nltk") from error
    references = [_WORDS.findall(answer) for answer in answers]
    return float(meteor_score(references, _WORDS.findall(prediction), wordnet=_wordnet()))


class _NoSynonyms:
    """Stands in for WordNet where it is not installed."""

    def synsets(self, word: str) -> list[Any]:
        return []


@cache
def _wordnet() -> Any:
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError:
        return _NoSynonyms()
    return wordnet


def has_synonyms() -> bool:
    """Return whether :func:`meteor` matches synonyms, which needs NLTK's WordNet."""
    try:
        return not isinstance(_wordnet(), _NoSynonyms)
    except ImportError:
        return False


def bertscore(prediction: str, answers: Sequence[str]) -> float:
    """Compute the F measure of BERTScore (Zhang et al. 2020) with the token vectors of the built-in MiniLM.

    Each token is compared with the most similar token of the other text, by the cosine of their last states. There are
    no weights by frequency, and the score is not rescaled. Scores of different models are not comparable, so neither
    are these with published ones.

    Args:
        prediction: the predicted answer.
        answers: the right answers; at least one.

    Returns:
        The score against the best-matching right answer; 0..1.

    Raises:
        InputError: there is no right answer.
        MissingExtraError: the built-in embedder is not installed.
    """
    _require(answers)
    found = _token_vectors(prediction)
    return max(_matched(found, _token_vectors(answer)) for answer in answers)


def _token_vectors(text: str) -> NDArray[np.float32]:
    return _minilm().token_vectors(text)


@cache
def _minilm() -> MiniLMEmbedder:
    from worldthread.models.minilm import MiniLMEmbedder

    return MiniLMEmbedder()


def _matched(found: NDArray[np.float32], wanted: NDArray[np.float32]) -> float:
    """Return the F measure of two texts by their token vectors, shapes (tokens, dimensions)."""
    if not (len(found) and len(wanted)):
        return 0.0
    cosines = found @ wanted.T
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    return max(0.0, min(1.0, 2 * precision * recall / (precision + recall))) if precision + recall > 0 else 0.0


TEXT_METRICS: Final[Mapping[str, TextMetric]] = MappingProxyType(
    {"bleu": bleu, "rouge": rouge, "meteor": meteor, "bertscore": bertscore}
)
"""Metrics of wording by name."""


def text_metric(name: str) -> TextMetric:
    """Return a metric of wording.

    Args:
        name: a key of :data:`TEXT_METRICS`.

    Returns:
        The metric.

    Raises:
        InputError: there is no such metric.
    """
    if name not in TEXT_METRICS:
        raise InputError(f"a metric must be one of {', '.join(TEXT_METRICS)}, not {name!r}")
    return TEXT_METRICS[name]


def _require(answers: Sequence[str]) -> None:
    if isinstance(answers, str) or not answers:
        raise InputError("give the right answers as a list with at least one")
