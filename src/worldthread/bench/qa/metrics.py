"""How good an answer and a ranking are: exact match and F1 as the official scripts count them, and recall.

The scripts differ in small things that move a score, so each is there under its name:

========== ================================================= ==========================================================
script     what is removed before comparing                  F1
========== ================================================= ==========================================================
squad      case, ASCII punctuation, articles, white space     of tokens; when either side has none, whether neither has
                                                              (SQuAD 2.0 and MuSiQue)
hotpotqa   the same (HotpotQA, 2WikiMultiHopQA)               of tokens; 0 for a wrong "yes", "no" or "noanswer"
triviaqa   the same, but punctuation, typographic quotes and  of tokens
           underscores become spaces
personalai case and ASCII punctuation only (PersonalAI,       of tokens
           section V)
========== ================================================= ==========================================================

Several answers that are all right count as the best of them.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final, Literal, TypeAlias, get_args

from worldthread.errors import InputError

Script: TypeAlias = Literal["squad", "hotpotqa", "triviaqa", "personalai"]
"""Whose rules are followed."""

SCRIPTS: Final[tuple[Script, ...]] = get_args(Script)

_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")
_DELETED: Final = str.maketrans("", "", string.punctuation)
_SPACED: Final = str.maketrans(dict.fromkeys(string.punctuation + "‘’´`", " "))
_ALL_OR_NOTHING: Final = frozenset({"yes", "no", "noanswer"})


def normalise_answer(text: str, script: Script = "squad") -> str:
    """An answer as it is compared.

    Raises:
        InputError: no such script.
    """
    if script not in SCRIPTS:
        raise InputError(f"the script must be one of {', '.join(SCRIPTS)}, not {script!r}")
    text = text.lower().translate(_SPACED if script == "triviaqa" else _DELETED)
    return text if script == "personalai" else " ".join(_ARTICLES.sub(" ", text).split())


def exact_match(prediction: str, answers: Collection[str], script: Script = "squad") -> bool:
    """Whether a prediction equals one of the right answers, both normalised.

    Raises:
        InputError: there is no right answer, or no such script.
    """
    _require_answers(answers)
    predicted = normalise_answer(prediction, script)
    return any(predicted == normalise_answer(answer, script) for answer in answers)


def f1(prediction: str, answers: Collection[str], script: Script = "squad") -> float:
    """Harmonic mean of precision and recall of the prediction's tokens, against the right answer that fits best; 0..1.

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
    """Recall@k: the share of the gold ids that are among the first ``k`` of a ranking; 0..1.

    Raises:
        InputError: ``k`` is below 1, or there are no gold ids.
    """
    _require_cutoff(k)
    if not gold:
        raise InputError("recall needs gold passages; leave out questions that have none")
    wanted = set(gold)
    return len(wanted.intersection(ranking[:k])) / len(wanted)


def share_among(k: int, ranking: Sequence[str], unwanted: Collection[str]) -> float:
    """The share of the first ``k`` of a ranking that is unwanted, such as stale; 0 when nothing was returned.

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
