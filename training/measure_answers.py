"""Measures what a model that points at answers finds in lives with questions, alone and where rules give no answer.

    python training/measure_answers.py build/training/answers.onnx LIFE.jsonl [LIFE.jsonl ...]

The lives are those of ``benchmarks/asking/lives.py``. A question for a time is answered by the one that its sentence
names.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple
from unittest.mock import patch

import numpy as np
from fit_confidence import fitted
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks" / "asking"))
from lives import LifeQuestion, Outcome, opened_life, outcome, questions_beside

from worldthread import Memory
from worldthread.answering.pointing import AnswerModel
from worldthread.answering.question import parsed
from worldthread.answering.reading import MESSAGES, Messages, read_answer
from worldthread.extract.reader.extractor import FOLDER
from worldthread.extract.reader.model import reader_model
from worldthread.types import Episode

LEASTS: Final = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)


class Row(NamedTuple):
    """What came of a question: by rules, by the model, and by a refusal; what the model said, and how sure it was."""

    life: str
    question: LifeQuestion
    answered: bool
    by_rules: Outcome
    by_model: Outcome
    refused: Outcome
    said: str
    measures: tuple[float, ...]
    probability: float


def row_of(life: str, memory: Memory, model: AnswerModel, question: LifeQuestion) -> Row:
    with patch("worldthread.answering.answer.find_in_messages", lambda text, access, found: found):
        answer = memory.ask(question.text, as_of=question.as_of)
    recall = memory.recall(question.text, k=MESSAGES, as_of=question.as_of, kinds=["episode"], only_current=False)
    now = max((one.at for one in memory.episodes()), default=0.0) if recall.as_of is None else recall.as_of
    hits = [hit for hit in recall.hits if isinstance(hit.item, Episode) and hit.item.at <= now]
    found = read_answer(parsed(question.text), Messages(hits, now, lambda message: (), model), least=0.0)
    refused = outcome(None, question.expected)
    by_model = refused if found is None else outcome(found.text, question.expected)
    by_rules = outcome(answer.text, question.expected)
    said, measures, probability = ("", (), 0.0) if found is None else (found.text, found.measures, found.probability)
    return Row(life, question, answer.text is not None, by_rules, by_model, refused, said, measures, probability)


def weights_from(rows: Sequence[Row]) -> tuple[NDArray[np.float64], float]:
    """Return the weights and the constant of a logistic regression: when is what the model says right?"""
    said = [row for row in rows if row.measures]
    return fitted(np.array([row.measures for row in said]), np.array([row.by_model == "right" for row in said], float))


def with_others_weights(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield rows with the probabilities that weights from the other lives give."""
    for life in dict.fromkeys(row.life for row in rows):
        weights, bias = weights_from([row for row in rows if row.life != life])
        for row in rows:
            if row.life == life and row.measures:
                yield row._replace(probability=float(1 / (1 + np.exp(-bias - weights @ row.measures))))
            elif row.life == life:
                yield row


def shown(counts: Counter[Outcome]) -> str:
    return f"{counts['right']}/{counts['refused']}/{counts['wrong']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the file that train_answers.py wrote")
    parser.add_argument("lives", type=Path, nargs="+")
    parser.add_argument("--keep", type=Path, help="folder that keeps the memories for later runs")
    parser.add_argument("--show-wrong", type=float, help="print wrong answers that are at least so probable")
    parser.add_argument("--fit", action="store_true", help="print new weights; each life is measured by the others'")
    options = parser.parse_args()
    model, rows = AnswerModel(options.model, reader_model(FOLDER)), list[Row]()
    with TemporaryDirectory() as folder:
        for life in options.lives:
            with opened_life(life, "reader", options.keep or Path(folder)) as memory:
                rows += [row_of(life.stem, memory, model, question) for question in questions_beside(life)]
            print(f"{life.stem}: {len(rows)} questions so far", file=sys.stderr)
    if options.fit:
        weights, bias = weights_from(rows)
        print(f"_WEIGHTS: Final = ({', '.join(f'{one:.3f}' for one in weights)})\n_BIAS: Final = {bias:.3f}")
        rows = list(with_others_weights(rows))
    print(f"{len(rows)} questions, right/refused/wrong; by rules alone {shown(Counter(row.by_rules for row in rows))}")
    for least in LEASTS:
        alone = [row.by_model if row.probability >= least else row.refused for row in rows]
        after = [row.by_rules if row.answered else one for row, one in zip(rows, alone, strict=True)]
        print(f"  {least:.2f}: the model alone {shown(Counter(alone))}, where rules refuse {shown(Counter(after))}")
    for row in rows:
        if options.show_wrong is not None and row.by_model == "wrong" and row.probability >= options.show_wrong:
            expected = "; ".join(row.question.expected) or "-"
            print(f"{row.probability:.2f} {row.question.text} -> {row.said!r}, right: {expected}")


if __name__ == "__main__":
    main()
