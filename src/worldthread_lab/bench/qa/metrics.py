"""Scores of answers and rankings: exact match and F1 as the official scripts compute them, and recall.

The scripts differ in details that change a score, so each is available by name:

========== ================================================= ==========================================================
script     what is removed before comparing                  F1
========== ================================================= ==========================================================
squad      case, ASCII punctuation, articles, white space     of tokens; when a side is empty, 1 if both are, else 0
                                                              (SQuAD 2.0 and MuSiQue)
hotpotqa   the same (HotpotQA, 2WikiMultiHopQA)               of tokens; 0 for a wrong "yes", "no" or "noanswer"
triviaqa   the same, but punctuation, typographic quotes and  of tokens
           underscores become spaces
personalai case and ASCII punctuation only (PersonalAI,       of tokens
           section V)
========== ================================================= ==========================================================

With several right answers, the score is the best over them.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final, Literal, TypeAlias, get_args

from worldthread.errors import InputError

Script: TypeAlias = Literal["squad", "hotpotqa", "triviaqa", "personalai"]
"""Name of the script whose rules apply."""

SCRIPTS: Final[tuple[Script, ...]] = get_args(Script)

_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")
_DELETED: Final = str.maketrans("", "", string.punctuation)
_SPACED: Final = str.maketrans(dict.fromkeys(string.punctuation + "‘’´`", " "))
_ALL_OR_NOTHING: Final = frozenset({"yes", "no", "noanswer"})


def normalise_answer(text: str, script: Script = "squad") -> str:
    """Normalise an answer for comparison.

    Args:
        text: the answer.
        script: rules to apply.

    Returns:
        The normalised answer.

    Raises:
        InputError: there is no such script.
    """
    if script not in SCRIPTS:
        raise InputError(f"the script must be one of {', '.join(SCRIPTS)}, not {script!r}")
    text = text.lower().translate(_SPACED if script == "triviaqa" else _DELETED)
    return text if script == "personalai" else " ".join(_ARTICLES.sub(" ", text).split())


def exact_match(prediction: str, answers: Collection[str], script: Script = "squad") -> bool:
    """Compare a prediction with the right answers after normalisation.

    Args:
        prediction: the predicted answer.
        answers: right answers; at least one.
        script: rules to apply.

    Returns:
        Whether the prediction equals one of the answers.

    Raises:
        InputError: there is no right answer, or no such script.
    """
    _require_answers(answers)
    predicted = normalise_answer(prediction, script)
    return any(predicted == normalise_answer(answer, script) for answer in answers)


def f1(prediction: str, answers: Collection[str], script: Script = "squad") -> float:
    """Compute the token F1 of a prediction: the harmonic mean of the precision and recall of its tokens.

    Args:
        prediction: the predicted answer.
        answers: right answers; at least one.
        script: rules to apply.

    Returns:
        The F1 against the best-matching right answer; 0..1.

    Raises:
        InputError: there is no right answer, or no such script.
    """
    _require_answers(answers)
    predicted = normalise_answer(prediction, script)
    return max(_token_f1(predicted, normalise_answer(answer, script), script) for answer in answers)


def _token_f1(predicted: str, answer: str, script: Script) -> float:
    if script == "hotpotqa" and predicted != answer and _ALL_OR_NOTHING & {predicted, answer}:
        return 0.0
    found, wanted = Counter(predicted.split()), Counter(answer.split())
    if script == "squad" and not (found and wanted):
        return float(found == wanted)
    common = (found & wanted).total()
    return 2 * common / (found.total() + wanted.total()) if common else 0.0


def recall_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """Compute recall@k of a ranking.

    Args:
        k: cutoff; 1 or more.
        ranking: ids, best first.
        gold: relevant ids; at least one.

    Returns:
        The share of the gold ids that are among the first ``k`` ids of the ranking; 0..1.

    Raises:
        InputError: ``k`` is below 1, or there are no gold ids.
    """
    _require_cutoff(k)
    if not gold:
        raise InputError("recall needs gold passages; leave out questions without them")
    wanted = set(gold)
    return len(wanted.intersection(ranking[:k])) / len(wanted)


def share_among(k: int, ranking: Sequence[str], unwanted: Collection[str]) -> float:
    """Compute the share of unwanted ids, such as stale ones, among the first ``k`` ids of a ranking.

    Args:
        k: cutoff; 1 or more.
        ranking: ids, best first.
        unwanted: ids that should not be retrieved.

    Returns:
        The share; 0..1, and 0 for an empty ranking.

    Raises:
        InputError: ``k`` is below 1.
    """
    _require_cutoff(k)
    top = ranking[:k]
    refused = frozenset(unwanted)
    return sum(id_ in refused for id_ in top) / len(top) if top else 0.0


def _require_answers(answers: Collection[str]) -> None:
    if isinstance(answers, str) or not answers:
        raise InputError(f"answers must be a collection of at least one text, not {answers!r}")


def _require_cutoff(k: int) -> None:
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InputError(f"k must be a whole number of at least 1, not {k!r}")
