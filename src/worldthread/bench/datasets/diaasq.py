"""DiaASQ as a test of memory over time: dated dialogues, opinions that change later, and questions about both.

DiaASQ annotates dialogues about phones with quadruples of target, aspect, opinion and polarity. PersonalAI (section
IV.A) gives its dialogues dates, adds contradicting statements and asks questions made from the quadruples; neither
their files nor their generator are published. This module builds a data set of the same kind:

* Every dialogue is a passage with a date; every speaker has a name, and the same names return in other dialogues.
* Every complete quadruple with a clear polarity is a fact about the speaker of the utterance with the opinion. A
  speaker's opinion of an aspect of a target is single-valued: an opinion in a later dialogue ends the earlier one.
* A share of the opinions changes in a later dialogue, generated from templates.
* Questions ask about now, or as of the last second of a month.

The data set depends only on the file and the seed.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final

from worldthread.bench.datasets.base import Dataset, Passage
from worldthread.bench.datasets.diaasq_files import read_dialogues
from worldthread.bench.datasets.diaasq_opinions import Opinion, Timeline
from worldthread.bench.datasets.diaasq_passages import contradict, date_dialogues
from worldthread.bench.datasets.diaasq_questions import generate_questions
from worldthread.bench.datasets.preparation import first
from worldthread.errors import FormatError, InputError

VERSION: Final = "diaasq-temporal/1"
"""Version of the dates, names, templates and questions: another version generates other data from the same file."""

CONTRADICTED: Final = 0.3
"""The share of (speaker, subject) pairs whose opinion changes later."""


def load(path: Path, *, name: str, limit: int | None, seed: int) -> Dataset:
    """Load the data set.

    Args:
        path: file of annotated dialogues.
        name: name of the data set.
        limit: keep only the first questions, which are a mix of all types, and all passages; ``None``: keep all.
        seed: seeds the random generator of dates, names, changes of opinion and questions.

    Returns:
        The data set.

    Raises:
        InputError: the file cannot be read.
        FormatError: the file does not have the expected form, or has no complete quadruple.
    """
    counts: dict[str, int] = {}
    dialogues = read_dialogues(path, counts)
    random = Random(f"{VERSION} {seed}")
    stated, texts = date_dialogues(dialogues, random)
    if not stated:
        raise FormatError("no dialogue has a complete quadruple; expected the annotated files", path=path)
    later, later_texts = contradict(Timeline(stated), random, CONTRADICTED)
    timeline = Timeline([*stated, *later])
    opinions: dict[str, list[Opinion]] = {}
    for opinion in timeline.opinions:
        opinions.setdefault(opinion.passage_id, []).append(opinion)
    passages = tuple(
        Passage(
            text.id,
            text.title,
            text.text,
            text.at,
            tuple(dict.fromkeys(opinion.fact for opinion in opinions.get(text.id, ()))),
            tuple(dict.fromkeys(opinion.thesis for opinion in opinions.get(text.id, ()))),
        )
        for text in sorted((*texts, *later_texts), key=lambda text: text.at)
    )
    questions = tuple(generate_questions(timeline, random))
    try:
        dataset = Dataset(name, VERSION, passages, questions, "squad", counts)
    except InputError as error:
        raise FormatError(str(error), path=path) from error
    return first(dataset, limit)
