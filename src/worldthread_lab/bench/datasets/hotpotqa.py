"""Loaders of HotpotQA's official files, whose form 2WikiMultiHopQA extends.

A file is one JSON array of questions: ``_id``, ``question``, ``answer``, ``type``, ``supporting_facts`` (title and
number of a sentence) and ``context`` (title and sentences). 2WikiMultiHopQA adds ``evidences`` (triples) and
``answer_id``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from worldthread.errors import FormatError, InputError
from worldthread_lab.bench.datasets.base import Dataset, Passage, Question, distinct
from worldthread_lab.bench.datasets.files import facts_of, read_array
from worldthread_lab.bench.datasets.preparation import appendix_d_hotpotqa, first

_EXPECTED: Final = (
    "an array of questions with _id, question, answer, supporting_facts and context (a test set, which has no answers, "
    "cannot be used)"
)


class Entry(msgspec.Struct):
    """One question of a file."""

    question: str
    answer: str
    supporting_facts: list[tuple[str, int]]
    context: list[tuple[str, list[str]]]
    id: str = msgspec.field(name="_id")
    type: str = ""
    evidences: list[list[Any]] = []
    answer_id: str | None = None


class PassageCollection:
    """Passages without duplicates, numbered in the order in which questions bring them."""

    def __init__(self) -> None:
        self._passages: dict[tuple[str, str], Passage] = {}

    def add(self, title: str, text: str) -> str:
        """Add a passage unless it is known; return its id."""
        passage = self._passages.get((title, text))
        if passage is None:
            passage = self._passages[title, text] = Passage(str(len(self._passages)), title, text)
        return passage.id

    def passages(self) -> tuple[Passage, ...]:
        """Return all passages in order."""
        return tuple(self._passages.values())


def load(path: Path, *, name: str, limit: int | None) -> Dataset:
    """Load HotpotQA in the distractor or the full-wiki setting.

    Args:
        path: the file.
        name: name of the data set.
        limit: read only the first questions; ``None``: read all.

    Returns:
        The data set. In the full-wiki setting gold passages can be missing from the file; ``counts`` says how many are.

    Raises:
        InputError: the file cannot be read.
        FormatError: the file does not have the expected form.
    """
    return read(path, name=name, limit=limit)


def load_appendix_d(path: Path, *, name: str, limit: int | None) -> Dataset:
    """Load HotpotQA as PersonalAI prepares it.

    As there, sentences are joined by a space, although most of the file's sentences begin with one.

    Args:
        path: the file of the distractor setting.
        name: name of the data set.
        limit: keep only the first questions; ``None``: keep all.

    Returns:
        The data set, see :func:`~worldthread_lab.bench.datasets.preparation.appendix_d_hotpotqa`.

    Raises:
        InputError: the file cannot be read.
        FormatError: the file does not have the expected form.
    """
    return first(appendix_d_hotpotqa(read(path, name=name, limit=None, joint=" ")), limit)


def read(
    path: Path, *, name: str, limit: int | None, joint: str = "", aliases: dict[str, list[str]] | None = None
) -> Dataset:
    """Read a file of this form.

    Args:
        path: the file.
        name: name of the data set.
        limit: read only the first questions; ``None``: read all.
        joint: separator between the sentences of a passage.
        aliases: further right answers by ``answer_id``.

    Returns:
        The data set.

    Raises:
        InputError: the file cannot be read.
        FormatError: the file does not have the expected form.
    """
    counts: dict[str, int] = {}
    collection = PassageCollection()
    questions: list[Question] = []
    for entry in _entries(path, limit):
        ids: dict[str, str] = {}
        context = []
        for title, sentences in entry.context:
            text = joint.join(sentences).strip()
            if not text:
                counts["empty passages"] = counts.get("empty passages", 0) + 1
                continue
            context.append(collection.add(title, text))
            ids.setdefault(title, context[-1])
        gold = distinct(title for title, _ in entry.supporting_facts)
        missing = sum(title not in ids for title in gold)
        if missing:
            counts["gold passages not in the context"] = counts.get("gold passages not in the context", 0) + missing
        others = (aliases or {}).get(entry.answer_id or "", [])
        questions.append(
            Question(
                entry.id,
                entry.question,
                distinct((entry.answer, *others)),
                tuple(ids[title] for title in gold if title in ids),
                entry.type,
                context_ids=tuple(dict.fromkeys(context)),
                evidence=facts_of(entry.evidences, counts, "evidences that are no facts"),
            )
        )
    try:
        return Dataset(name, f"{name}/1", collection.passages(), tuple(questions), "hotpotqa", counts)
    except InputError as error:
        raise FormatError(str(error), path=path) from error


def _entries(path: Path, limit: int | None) -> Iterator[Entry]:
    for number, entry in enumerate(read_array(path, Entry, _EXPECTED), start=1):
        if not (entry.question.strip() and entry.answer.strip()):
            raise FormatError(f"entry {number} has an empty question or answer; expected {_EXPECTED}", path=path)
        yield entry
        if number == limit:
            return
