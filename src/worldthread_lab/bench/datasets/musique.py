"""Loader of MuSiQue's official files, such as ``musique_ans_v1.0_dev.jsonl``.

A line is a question: ``id``, ``question``, ``answer``, ``answer_aliases``, ``answerable`` and ``paragraphs`` with
``title``, ``paragraph_text`` and ``is_supporting``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from worldthread.errors import FormatError, InputError
from worldthread_lab.bench.datasets.base import Dataset, Question, distinct
from worldthread_lab.bench.datasets.files import read_lines
from worldthread_lab.bench.datasets.hotpotqa import PassageCollection

_EXPECTED: Final = (
    "a question with id, question, answer, answer_aliases and paragraphs that say whether they are supporting (a test "
    "set, which has no answers, cannot be used)"
)


class _Paragraph(msgspec.Struct):
    title: str
    paragraph_text: str
    is_supporting: bool


class _MuSiQueEntry(msgspec.Struct):
    id: str
    question: str
    answer: str
    paragraphs: list[_Paragraph]
    answer_aliases: list[str] = []
    answerable: bool = True


def load(path: Path, *, name: str, limit: int | None) -> Dataset:
    """Load the answerable questions.

    The type of a question is the shape of its reasoning chain, the prefix of its id: ``2hop``, ``3hop1``, ...

    Args:
        path: the file.
        name: name of the data set.
        limit: read only the first questions; ``None``: read all.

    Returns:
        The data set; ``counts`` has the number of unanswerable questions, which occur in the "full" files.

    Raises:
        InputError: the file cannot be read.
        FormatError: a line does not have the expected form.
    """
    counts: dict[str, int] = {}
    collection = PassageCollection()
    questions: list[Question] = []
    for entry in read_lines(path, _MuSiQueEntry, _EXPECTED):
        if len(questions) == limit:
            break
        if not entry.answerable:
            counts["questions left out: not answerable"] = counts.get("questions left out: not answerable", 0) + 1
            continue
        ids = [collection.add(p.title, p.paragraph_text) for p in entry.paragraphs]
        gold = [id_ for id_, paragraph in zip(ids, entry.paragraphs, strict=True) if paragraph.is_supporting]
        try:
            question = Question(
                entry.id,
                entry.question,
                distinct((entry.answer, *entry.answer_aliases)),
                tuple(dict.fromkeys(gold)),
                entry.id.partition("__")[0],
                context_ids=tuple(dict.fromkeys(ids)),
            )
        except InputError as error:
            raise FormatError(f"{error}; expected {_EXPECTED}", path=path) from error
        questions.append(question)
    try:
        return Dataset(name, f"{name}/1", collection.passages(), tuple(questions), "squad", counts)
    except InputError as error:
        raise FormatError(str(error), path=path) from error
