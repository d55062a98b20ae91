"""DiaASQ as a test of memory over time: dated dialogues, opinions that are taken back later, and questions about both.

DiaASQ annotates dialogues about phones with quadruples of target, aspect, opinion and polarity. PersonalAI (section
IV.A) gives its dialogues dates, adds contradicting statements and asks questions made from the quadruples; neither
their files nor their generator come with the paper. This is our own construction of the same kind:

* Every dialogue is a passage with a date; every speaker has a name, and the same people return in other dialogues.
* Every complete quadruple of a clear polarity is a fact, said by the speaker of the utterance with the opinion. What
  someone thinks of an aspect of a target is single-valued: what is said of it in a later dialogue ends what was said.
* A share of the opinions is taken back in a later dialogue of our own words.
* Questions ask about now, or as of the last moment of a month.

What comes out depends on the file and the seed alone.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final

from worldthread.bench.datasets.base import Dataset, Passage
from worldthread.bench.datasets.diaasq_files import read_dialogues
from worldthread.bench.datasets.diaasq_opinions import Opinion, Timeline
from worldthread.bench.datasets.diaasq_passages import contradict, date_dialogues
from worldthread.bench.datasets.diaasq_questions import ask
from worldthread.bench.datasets.preparation import first
from worldthread.errors import FormatError, InputError

VERSION: Final = "diaasq-temporal/1"
"""Of the dates, names, templates and questions: another version makes other data of the same file and seed."""

CONTRADICTED: Final = 0.3
"""The share of what people have an opinion on about which they change their minds."""


def load(path: Path, *, name: str, limit: int | None, seed: int) -> Dataset:
    """The data set; ``limit`` keeps the first questions, which are a fair mix, and all passages.

    Raises:
        InputError: the file cannot be read.
        FormatError: it is not what it should be, or holds no complete quadruple.
    """
    counts: dict[str, int] = {}
    dialogues = read_dialogues(path, counts)
    random = Random(f"{VERSION} {seed}")
    said, texts = date_dialogues(dialogues, random)
    if not said:
        raise FormatError("no dialogue has a complete quadruple; expected the annotated files", path=path)
    later, later_texts = contradict(Timeline(said), random, CONTRADICTED)
    timeline = Timeline([*said, *later])
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
    questions = tuple(ask(timeline, random))
    try:
        dataset = Dataset(name, VERSION, passages, questions, "squad", counts)
    except InputError as error:
        raise FormatError(str(error), path=path) from error
    return first(dataset, limit)
