"""Fits the weights of ``worldthread.answering`` on lives with questions, and shows what holds for lives left out.

    python benchmarks/asking/fit.py benchmarks/asking/lives/*.jsonl [--reader prose] [--keep FOLDER] [--write]

For each life, the weights that the other lives give answer its questions; the sum is printed, at the threshold in use
and at the one with the most right answers of which at most ``--wrong`` of all questions are wrong. ``--write`` writes
the weights only: the threshold is chosen by hand, ``THRESHOLD`` in ``worldthread.answering.decision``.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from lives import READERS, LifeQuestion, opened_life, outcome, questions_beside
from numpy.typing import NDArray

import worldthread.answering.answer
from worldthread.answering import weights as written
from worldthread.answering.agreement import MEASURES
from worldthread.answering.decision import DECISION_MEASURES, THRESHOLD, Evidence, best_evidence
from worldthread.answering.finding import Judged, MemoryAccess, judge
from worldthread.answering.replies import reply

Floats = NDArray[np.float64]

PENALTY: Final = 3.0
"""Weight of the squared weights of standardised measures."""
STEPS: Final = 30
_PARTS: Final = 4


@dataclass(frozen=True)
class Asked:
    """A question of a life with its candidates."""

    life: str
    question: LifeQuestion
    kind: str
    table: Floats
    answers: tuple[str | None, ...]
    times: tuple[float, ...]
    facts: tuple[bool, ...]

    @property
    def right(self) -> Floats:
        """For each candidate whether it answers."""
        expected = self.question.expected
        return np.array(
            [a is not None and bool(expected) and outcome(a, expected) == "right" for a in self.answers], np.float64
        )


@dataclass(frozen=True)
class Judgement:
    """What a model makes of a question.

    Args:
        asked: the question.
        probability: how likely its best candidate answers; 0 without one.
        surely: whether that answers whatever the threshold.
        right: whether that is right.
    """

    asked: Asked
    probability: float
    surely: bool
    right: bool

    def confidence(self, threshold: float) -> float:
        """Return the confidence that is shown with the answer."""
        return max(self.probability, threshold) if self.surely else self.probability


@dataclass(frozen=True)
class Model:
    """Both regressions."""

    bias: float
    weights: Floats
    decision_bias: float
    decision_weights: Floats


def fitted(measures: Floats, right: Floats) -> tuple[float, Floats]:
    """Return the bias and the weights of a penalised logistic regression, by Newton's method."""
    mean, deviation = measures.mean(0), measures.std(0) + 1e-9
    rows = np.column_stack((np.ones(len(measures)), (measures - mean) / deviation))
    penalties = PENALTY * np.eye(rows.shape[1])
    penalties[0, 0] = 0
    found = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        probabilities = 1 / (1 + np.exp(-np.clip(rows @ found, -30, 30)))
        gradient = rows.T @ (probabilities - right) + penalties @ found
        curvature = (rows * (probabilities * (1 - probabilities))[:, None]).T @ rows + penalties
        found -= np.linalg.solve(curvature + 1e-9 * np.eye(len(penalties)), gradient)
    scaled = found[1:] / deviation
    return float(found[0] - scaled @ mean), scaled


def fit(asked: Sequence[Asked]) -> Model:
    """Fit both regressions; the second on scores that the first gives to lives it has not seen."""
    bias, weights = _fit_first(asked)
    lives = sorted({one.life for one in asked})
    rows, right = [], []
    for part in range(min(_PARTS, len(lives))):
        seen = [one for one in asked if lives.index(one.life) % _PARTS != part]
        model = _fit_first(seen)
        for one in asked:
            if lives.index(one.life) % _PARTS == part and (best := best_of(one, *model)) is not None:
                rows.append(best[1].measures)
                right.append(one.right[best[0]])
    return Model(bias, weights, *fitted(np.array(rows), np.array(right)))


def _fit_first(asked: Sequence[Asked]) -> tuple[float, Floats]:
    with_any = [one for one in asked if len(one.table)]
    return fitted(np.concatenate([one.table for one in with_any]), np.concatenate([one.right for one in with_any]))


def best_of(one: Asked, bias: float, weights: Floats) -> tuple[int, Evidence] | None:
    """Return the best candidate of a question and its evidence; ``None`` without an answer."""
    if not len(one.table):
        return None
    scores = bias + one.table @ weights
    order = np.argsort(-scores, kind="stable").tolist()
    if one.answers[order[0]] is None:
        return None
    evidence = best_evidence(
        one.kind, [float(scores[i]) for i in order], [one.answers[i] for i in order], [one.times[i] for i in order],
        [one.facts[i] for i in order], one.table[order[0]].tolist(),
    )  # fmt: skip
    return order[0], evidence


def answered(asked: Sequence[Asked], model: Model) -> list[Judgement]:
    """Return for each question what a model makes of its best candidate."""
    found = []
    for one in asked:
        best = best_of(one, model.bias, model.weights)
        if best is None:
            found.append(Judgement(one, 0.0, False, False))
            continue
        place, evidence = best
        total = model.decision_bias + float(np.array(evidence.measures) @ model.decision_weights)
        found.append(Judgement(one, float(1 / (1 + np.exp(-total))), evidence.surely, bool(one.right[place])))
    return found


def counts(found: Sequence[Judgement], threshold: float) -> tuple[int, int, int]:
    """Return how many are right (refusals of what a life does not tell among them), refused and wrong."""
    are_given = [one.confidence(threshold) >= threshold for one in found]
    right = sum(
        one.right if is_given else not one.asked.question.expected
        for one, is_given in zip(found, are_given, strict=True)
    )
    wrong = sum(is_given and not one.right for one, is_given in zip(found, are_given, strict=True))
    return right, len(found) - right - wrong, wrong


def threshold_of(found: Sequence[Judgement], most: float) -> float:
    """Return the threshold with the most right answers of which at most a share of all questions is wrong."""
    steps = [step / 100 for step in range(20, 99)]
    allowed = [step for step in steps if counts(found, step)[2] <= most * len(found)]
    return max(allowed, key=lambda step: counts(found, step)[0], default=0.99)


def asked_of(life: Path, reader: str, folder: Path) -> list[Asked]:
    """Return the questions of a life with their candidates."""
    kept: list[Judged] = []

    def keep(question: str, asked: str, memory: MemoryAccess, **_: Any) -> None:
        kept.append(judge(asked, memory))

    original = worldthread.answering.answer.answer_without_model
    worldthread.answering.answer.answer_without_model = keep  # type: ignore[assignment]
    try:
        with opened_life(life, reader, folder) as memory:
            questions = questions_beside(life)
            for question in questions:
                memory.ask(question.text, as_of=question.as_of)
    finally:
        worldthread.answering.answer.answer_without_model = original
    return [asked_question(life.stem, question, one) for question, one in zip(questions, kept, strict=True)]


def asked_question(life: str, question: LifeQuestion, one: Judged) -> Asked:
    """Return a question with its candidates as numbers."""
    return Asked(
        life, question, one.question.kind, one.table, tuple(reply(one.question, c) for c in one.found),
        tuple(c.at for c in one.found), tuple(c.fact is not None for c in one.found),
    )  # fmt: skip


def report(asked: Sequence[Asked], most: float) -> None:
    """Print what holds for each life with the weights of the others, at the threshold of all and at that in use."""
    everything: list[Judgement] = []
    for life in sorted({one.life for one in asked}):
        model = fit([one for one in asked if one.life != life])
        found = answered([one for one in asked if one.life == life], model)
        everything += found
    chosen = threshold_of(everything, most)
    for life in sorted({one.life for one in asked}):
        print(
            f"{life} left out: right, refused, wrong",
            *counts([one for one in everything if one.asked.life == life], chosen),
        )
    for threshold in sorted({chosen, THRESHOLD}):
        print(f"all, at {threshold:.2f}:", *counts(everything, threshold), "of", len(everything))
    for low in (0.5, 0.6, 0.7, 0.8, 0.9):
        band = [one.right for one in everything if low <= one.confidence(chosen) < low + 0.1]
        print(f"confidence {low:.1f} to {low + 0.1:.1f}: {sum(band)} of {len(band)} right")


def write(model: Model) -> None:
    """Write the weights into the package; the threshold is set by hand, in ``worldthread.answering.decision``."""

    def table(names: Sequence[str], values: Floats) -> str:
        return "\n".join(f'    "{name}": {value:.3f},' for name, value in zip(names, values, strict=True))

    assert written.__file__ is not None
    Path(written.__file__).write_text(
        '"""The weights of :mod:`worldthread.answering.decision`, from ``benchmarks/asking/fit.py --write``."""\n\n'
        f"from typing import Final\n\nBIAS: Final = {model.bias:.3f}\n"
        f"WEIGHTS: Final[dict[str, float]] = {{\n{table(MEASURES, model.weights)}\n}}\n"
        f'"""The weight of each measure of a candidate."""\n\nDECISION_BIAS: Final = {model.decision_bias:.3f}\n'
        f"DECISION_WEIGHTS: Final[dict[str, float]] = {{\n{table(DECISION_MEASURES, model.decision_weights)}\n}}\n"
        '"""The weight of each measure of the best candidate."""\n',
        encoding="utf-8",
    )


def main() -> None:
    """Fit, print what holds for lives left out, and write the weights on request."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lives", type=Path, nargs="+")
    parser.add_argument("--reader", choices=READERS, action="append", help="may be repeated; default: all")
    parser.add_argument("--wrong", type=float, default=0.05, help="the most wrong answers, as a share of all questions")
    parser.add_argument("--keep", type=Path, default=None, help="folder that keeps the memories for later runs")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asked = [
            one
            for life in options.lives
            for reader in options.reader or READERS
            for one in asked_of(life, reader, options.keep or Path(folder))
        ]
    report(asked, options.wrong)
    if options.write:
        write(fit(asked))


if __name__ == "__main__":
    main()
