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

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

from worldthread.errors import FormatError, InputError
from worldthread_lab.bench.datasets.base import Dataset, Passage
from worldthread_lab.bench.datasets.diaasq_files import Dialogue, read_dialogues
from worldthread_lab.bench.datasets.diaasq_opinions import Opinion, Timeline
from worldthread_lab.bench.datasets.diaasq_passages import contradict, date_dialogues
from worldthread_lab.bench.datasets.diaasq_questions import generate_questions
from worldthread_lab.bench.datasets.preparation import first

VERSION: Final = "diaasq-temporal/1"
"""Version of the dates, names, templates and questions: another version generates other data from the same file."""

PERSONALAI_VERSION: Final = "diaasq-personalai/1"
"""The same of :func:`load_personalai`."""

PERSONALAI_QUESTIONS: Final = 4800
"""Questions of :func:`load_personalai`, at most."""

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
    return first(_made(read_dialogues(path, counts), path, name, VERSION, seed, counts), limit)


def load_personalai(path: Path, *, name: str, limit: int | None, seed: int) -> Dataset:
    """Load the data set at the size of PersonalAI's, with its kinds of question.

    To those of :func:`load` it adds who of two people is most similar to a third; questions about the past name a day;
    and beside the file of the development set, those for training and tests are read when they are in its folder.

    Args:
        path: file of the development set; ``train`` and ``test`` in the place of ``valid`` name the others.
        name: name of the data set.
        limit: keep only the first questions, which are a mix of all types, and all passages; ``None``: the first
            :data:`PERSONALAI_QUESTIONS`.
        seed: seeds the random generator of dates, names, changes of opinion and questions.

    Returns:
        The data set.

    Raises:
        InputError: a file cannot be read.
        FormatError: a file does not have the expected form, or none has a complete quadruple.
    """
    counts: dict[str, int] = {}
    dialogues: list[Dialogue] = []
    for part in ("train", "valid", "test"):
        file = path.with_name(path.name.replace("valid", part))
        if file == path or (part != "valid" and file.is_file()):
            read = read_dialogues(file, counts)
            dialogues += [replace(dialogue, id=f"{part}-{dialogue.id}") for dialogue in read]
            counts[f"dialogues of {part}"] = len(read)
    dataset = _made(dialogues, path, name, PERSONALAI_VERSION, seed, counts, similar=True, by_day=True)
    return first(dataset, min(limit or PERSONALAI_QUESTIONS, PERSONALAI_QUESTIONS))


def _made(
    dialogues: Sequence[Dialogue],
    path: Path,
    name: str,
    version: str,
    seed: int,
    counts: dict[str, int],
    **kinds: bool,
) -> Dataset:
    """Return the data set of some dialogues."""
    random = Random(f"{version} {seed}")
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
    questions = tuple(generate_questions(timeline, random, **kinds))
    try:
        return Dataset(name, version, passages, questions, "squad", counts)
    except InputError as error:
        raise FormatError(str(error), path=path) from error
