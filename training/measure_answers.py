"""Measures what a model that points at answers finds in lives with questions, alone and where rules give no answer.

    python training/measure_answers.py build/training/answers LIFE.jsonl [LIFE.jsonl ...]

The lives are those of ``benchmarks/asking/lives.py``. A question for a time is answered by the one that its sentence
names.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from pointing import AnswerModel, Pointed
from small_lives import Told

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks" / "asking"))
from lives import LifeQuestion, Outcome, opened_life, outcome, questions_beside

from worldthread import Memory
from worldthread.answering.parts import answering_time
from worldthread.answering.question import parsed
from worldthread.extract.prose.sentences import split_sentences
from worldthread.types import Episode

LEASTS: Final = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
SHOWN: Final = 8
"""Messages that are read for a question."""


class Row(NamedTuple):
    """What came of a question: by rules, by the model, and by a refusal; and how sure the model was."""

    question: LifeQuestion
    answered: bool
    by_rules: Outcome
    by_model: Outcome
    refused: Outcome
    probability: float
    said: str


def said_of(question: str, told: Told, found: Pointed) -> str | None:
    """Return what is answered; ``None`` where a time is asked for and the sentence names none."""
    if found.kind != "words":
        return f"{found.kind}: {told.text}"
    words = told.text[found.begin : found.end]
    if parsed(question).kind != "time":
        return words
    sentence = next((one.text for one in split_sentences(told.text) if found.begin < one.end), told.text)
    return answering_time(words, told.at) or answering_time(sentence, told.at)


def row_of(memory: Memory, model: AnswerModel, question: LifeQuestion) -> Row:
    answer = memory.ask(question.text, as_of=question.as_of)
    recall = memory.recall(question.text, k=SHOWN, as_of=question.as_of, kinds=["episode"], only_current=False)
    now = max((one.at for one in memory.episodes()), default=0.0) if recall.as_of is None else recall.as_of
    episodes = [hit.item for hit in recall.hits if isinstance(hit.item, Episode) and hit.item.at <= now]
    told = [Told(one.speaker or "user", one.text.removeprefix(f"{one.speaker}: "), one.at) for one in episodes]
    found = model.pointed(question.text, now, told)
    said = None if found is None else said_of(question.text, told[found.message], found)
    refused = outcome(None, question.expected)
    by_model = refused if said is None else outcome(said, question.expected)
    probability = 0.0 if found is None or said is None else found.probability
    by_rules = outcome(answer.text, question.expected)
    return Row(question, answer.text is not None, by_rules, by_model, refused, probability, said or "")


def shown(counts: Counter[Outcome]) -> str:
    return f"{counts['right']}/{counts['refused']}/{counts['wrong']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the folder that train_answers.py wrote")
    parser.add_argument("lives", type=Path, nargs="+")
    parser.add_argument("--keep", type=Path, help="folder that keeps the memories for later runs")
    parser.add_argument("--show-wrong", type=float, help="print wrong answers that are at least so probable")
    options = parser.parse_args()
    model, rows = AnswerModel(options.model), list[Row]()
    with TemporaryDirectory() as folder:
        for life in options.lives:
            with opened_life(life, "reader", options.keep or Path(folder)) as memory:
                rows += [row_of(memory, model, question) for question in questions_beside(life)]
            print(f"{life.stem}: {len(rows)} questions so far", file=sys.stderr)
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
