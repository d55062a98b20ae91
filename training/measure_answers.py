"""Measures what the model that points at answers finds in lives with questions, and fits how sure it can be.

    python training/measure_answers.py build/training/answers.onnx LIFE.jsonl [LIFE.jsonl ...]

The lives are those of ``benchmarks/asking/lives.py``; with ``--little``, small lives are told to memories of their own.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple
from unittest.mock import patch

import numpy as np
from fit_confidence import fitted
from numpy.typing import NDArray
from small_lives import seconds

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks" / "asking"))
from lives import LifeQuestion, Outcome, opened_life, outcome, questions_beside

from worldthread import Memory
from worldthread.answering.pointing import AnswerModel
from worldthread.answering.reading import ReadAnswer, answering_time, read_answer
from worldthread.extract.reader.extractor import FOLDER
from worldthread.extract.reader.model import reader_model

LEASTS: Final = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)


class Row(NamedTuple):
    """What came of a question: the outcome of what the model says and of a refusal, and how sure the model was."""

    life: str
    question: LifeQuestion
    answered: Outcome
    refused: Outcome
    said: str | None
    measures: tuple[float, ...]
    probability: float


def row_of(life: str, memory: Memory, model: AnswerModel, question: LifeQuestion) -> Row:
    read: list[ReadAnswer | None] = []

    def kept(*arguments: Any) -> ReadAnswer | None:
        read.append(read_answer(*arguments))
        return read[-1]

    answers = patch("worldthread.answering.pointing.answer_model", lambda: model)
    with answers, patch("worldthread.answering.finding.read_answer", kept):
        memory.ask(question.text, as_of=question.as_of)
    refused = outcome(None, question.expected)
    found = read[0] if read else None
    if found is None:
        return Row(life, question, refused, refused, None, (), 0.0)
    said = found.text
    return Row(life, question, outcome(said, question.expected), refused, said, found.measures, found.probability)


def little_rows(path: Path, model: AnswerModel) -> Iterator[Row]:
    """Yield what comes of the questions of small lives, each told to a memory of its own."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        life = json.loads(line)
        with Memory(model="none") as memory:
            for told in life["messages"]:
                speaker = {"speaker": told["by"]} if "by" in told else {"role": "user"}
                memory.remember([{**speaker, "content": told["text"]}], at=told["at"])
            for row in life["questions"]:
                expected = accepted(row["answer"], life["messages"][row["in"]]["at"]) if row.get("answer") else ()
                question = LifeQuestion(row["question"], row.get("asked"), expected)
                yield row_of(f"{path.stem} {number // 10}", memory, model, question)


def accepted(answer: str, at: str) -> tuple[str, ...]:
    """Return what is right: words of the message, or the date that they name."""
    date = answering_time(answer, seconds(at))
    return (answer,) if date is None else (answer, date)


def weights_from(rows: Sequence[Row]) -> tuple[NDArray[np.float64], float]:
    """Return the weights and the constant of a logistic regression: when is what the model says right?"""
    said = [row for row in rows if row.said is not None]
    return fitted(np.array([row.measures for row in said]), np.array([row.answered == "right" for row in said], float))


def with_others_weights(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield rows with the probabilities that weights from the other lives give."""
    for life in dict.fromkeys(row.life for row in rows):
        weights, bias = weights_from([row for row in rows if row.life != life])
        for row in rows:
            if row.life == life and row.measures:
                yield row._replace(probability=float(1 / (1 + np.exp(-bias - weights @ row.measures))))
            elif row.life == life:
                yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the file that train_answers.py wrote")
    parser.add_argument("lives", type=Path, nargs="*")
    parser.add_argument("--little", type=Path, help="a file of small lives, as in answers/")
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
    if options.little:
        rows += little_rows(options.little, model)
    if options.fit:
        weights, bias = weights_from(rows)
        print(f"_WEIGHTS: Final = ({', '.join(f'{one:.3f}' for one in weights)})\n_BIAS: Final = {bias:.3f}")
        rows = list(with_others_weights(rows))
    names = {life.stem for life in options.lives}
    for title, some in (
        ("lives", [row for row in rows if row.life in names]),
        ("small lives", [row for row in rows if row.life not in names]),
    ):
        if some:
            print(f"{len(some)} questions of {title}, right/refused/wrong")
            for least in LEASTS:
                counts = Counter(row.answered if row.probability >= least else row.refused for row in some)
                print(f"  sure at {least:.2f}: {counts['right']}/{counts['refused']}/{counts['wrong']}")
            for low, high in itertools.pairwise((*LEASTS[::2], 1.01)):
                given = [row.answered for row in some if row.said is not None and low <= row.probability < high]
                print(f"  from {low:.1f} to {min(high, 1):.1f}: {given.count('right')} of {len(given)} are right")
    for row in rows:
        if options.show_wrong is not None and row.answered == "wrong" and row.probability >= options.show_wrong:
            expected = "; ".join(row.question.expected) or "-"
            print(f"{row.probability:.2f} {row.question.text} -> {row.said!r}, right: {expected}")


if __name__ == "__main__":
    main()
