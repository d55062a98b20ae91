"""Fits the table of ``worldthread.answering.decision`` on conversations with questions that have no answer.

    python benchmarks/fit_answering.py --data FOLDER

prints the weights fitted on all conversations, and for each conversation the figures of weights and a threshold that
were fitted on the others. The threshold refuses a given share of the answerable questions (--refused).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from worldthread.answering.decision import WEIGHTS
from worldthread.bench.asking import UNANSWERABLE
from worldthread.bench.conversations import load, remember_turns
from worldthread.bench.datasets.conversations import Conversation
from worldthread.memory import Memory

Floats = NDArray[np.float64]

PENALTY: Final = 10.0
"""Weight of the squared weights of standardised measures."""

STEPS: Final = 30


def fitted(measures: Floats, answerable: NDArray[np.bool_]) -> tuple[float, Floats]:
    """Return the bias and the weights of a penalised logistic regression, by Newton's method.

    Args:
        measures: shape (questions, measures).
        answerable: shape (questions,).

    Returns:
        The bias, and the weight of each measure as it is, not standardised.
    """
    mean, deviation = measures.mean(0), measures.std(0) + 1e-9
    rows = np.column_stack((np.ones(len(measures)), (measures - mean) / deviation))
    penalties = PENALTY * np.eye(rows.shape[1])
    penalties[0, 0] = 0
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        probabilities = 1 / (1 + np.exp(-rows @ weights))
        gradient = rows.T @ (probabilities - answerable) + penalties @ weights
        curvature = (rows * (probabilities * (1 - probabilities))[:, None]).T @ rows + penalties
        weights -= np.linalg.solve(curvature, gradient)
    scaled = weights[1:] / deviation
    return float(weights[0] - scaled @ mean), scaled


def threshold(probabilities: Floats, answerable: NDArray[np.bool_], refused: float) -> float:
    """Return the probability below which this share of the answerable questions lies."""
    return float(np.quantile(probabilities[answerable], refused))


def measures_of(conversation: Conversation, folder: Path | None) -> list[tuple[list[float], bool]]:
    """Return the measures of each question of a conversation, and whether it can be answered.

    Args:
        conversation: the conversation.
        folder: where its memory is kept for later runs; ``None`` for nowhere.
    """
    path = None if folder is None else folder / f"{conversation.id}.worldthread"
    is_there = path is not None and path.exists()
    found = []
    with Memory(path, model="none") if path is not None else Memory(model="none") as memory:
        if not is_there:
            remember_turns(memory, conversation)
        for question in conversation.questions:
            if question.category not in UNANSWERABLE and not question.evidence:
                continue
            evidence = memory.ask(question.text).evidence
            if evidence is not None:
                found.append((list(evidence.values()), question.category not in UNANSWERABLE))
    return found


def main() -> None:
    """Fit on all conversations of the data, and show what holds for those left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=None, help="folder of the data")
    parser.add_argument("--dataset", default="locomo", help="locomo or beam")
    parser.add_argument("--memories", type=Path, default=None, help="folder that keeps the memories for later runs")
    parser.add_argument("--refused", type=float, default=0.12, help="share of answerable questions that are refused")
    parser.add_argument("--measures", type=Path, default=None, help="file of measures, written once and read later")
    options = parser.parse_args()
    if options.measures is not None and options.measures.exists():
        rows = json.loads(options.measures.read_text(encoding="utf-8"))
    else:
        rows = [
            [conversation.id, values, answerable]
            for conversation in load(options.dataset, options.data)
            for values, answerable in measures_of(conversation, options.memories)
        ]
        if options.measures is not None:
            options.measures.write_text(json.dumps(rows), encoding="utf-8")
    of = np.array([row[0] for row in rows])
    measures = np.array([row[1] for row in rows], np.float64)
    answerable = np.array([row[2] for row in rows], bool)
    bias, weights = fitted(measures, answerable)
    everywhere = 1 / (1 + np.exp(-(bias + measures @ weights)))
    print(f"BIAS = {bias:.3f}")
    for name, weight in zip(WEIGHTS, weights, strict=True):
        print(f'    "{name}": {weight:.3f},')
    print(f"THRESHOLD = {threshold(everywhere, answerable, options.refused):.3f}")
    for left_out in dict.fromkeys(of.tolist()):
        inside, outside = of != left_out, of == left_out
        bias, weights = fitted(measures[inside], answerable[inside])
        probabilities = 1 / (1 + np.exp(-(bias + measures @ weights)))
        least = threshold(probabilities[inside], answerable[inside], options.refused)
        refused, can = probabilities[outside] < least, answerable[outside]
        print(
            f"{left_out} left out: refused {refused[~can].mean():.3f} of {(~can).sum()} unanswerable, "
            f"{refused[can].mean():.3f} of {can.sum()} answerable questions"
        )


if __name__ == "__main__":
    main()
