"""HotpotQA's official files, and 2WikiMultiHopQA's, which have the same form and more.

One JSON array of questions: ``_id``, ``question``, ``answer``, ``type``, ``supporting_facts`` (title and number of a
sentence) and ``context`` (title and sentences). 2WikiMultiHopQA adds ``evidences`` (triples) and ``answer_id``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from worldthread.bench.datasets.base import Dataset, Passage, Question, distinct
from worldthread.bench.datasets.files import facts_of, read_array
from worldthread.bench.datasets.preparation import appendix_d_hotpotqa, first
from worldthread.errors import FormatError, InputError

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
    """Passages, each kept once however many questions bring it; numbered as they come."""

    def __init__(self) -> None:
        self._passages: dict[tuple[str, str], Passage] = {}

    def add(self, title: str, text: str) -> str:
        """The id of a passage."""
        passage = self._passages.get((title, text))
        if passage is None:
            passage = self._passages[title, text] = Passage(str(len(self._passages)), title, text)
        return passage.id

    def passages(self) -> tuple[Passage, ...]:
        """All, in order."""
        return tuple(self._passages.values())


def load(path: Path, *, name: str, limit: int | None) -> Dataset:
    """HotpotQA in the distractor or the full-wiki setting.

    In the full-wiki setting gold passages can be missing from the file; ``counts`` says how many are.

    Raises:
        InputError: the file cannot be read.
        FormatError: it is not what it should be.
    """
    return read(path, name=name, limit=limit)


def load_appendix_d(path: Path, *, name: str, limit: int | None) -> Dataset:
    """HotpotQA as PersonalAI prepared it, see :func:`~worldthread.bench.datasets.preparation.appendix_d_hotpotqa`.

    As there, sentences are joined by a space, although most of the file's sentences begin with one.

    Raises:
        InputError, FormatError: see :func:`load`.
    """
    return first(appendix_d_hotpotqa(read(path, name=name, limit=None, joint=" ")), limit)


def read(
    path: Path, *, name: str, limit: int | None, joint: str = "", aliases: dict[str, list[str]] | None = None
) -> Dataset:
    """A file of this form.

    Args:
        joint: stands between the sentences of a passage.
        aliases: further right answers by ``answer_id``.

    Raises:
        InputError, FormatError: see :func:`load`.
    """
    counts: dict[str, int] = {}
    corpus = PassageCollection()
    questions: list[Question] = []
    for entry in _entries(path, limit):
        ids: dict[str, str] = {}
        context = []
        for title, sentences in entry.context:
            text = joint.join(sentences).strip()
            if not text:
                counts["empty passages"] = counts.get("empty passages", 0) + 1
                continue
            context.append(corpus.add(title, text))
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
        return Dataset(name, f"{name}/1", corpus.passages(), tuple(questions), "hotpotqa", counts)
    except InputError as error:
        raise FormatError(str(error), path=path) from error


def _entries(path: Path, limit: int | None) -> Iterator[Entry]:
    for number, entry in enumerate(read_array(path, Entry, _EXPECTED), start=1):
        if not (entry.question.strip() and entry.answer.strip()):
            raise FormatError(f"entry {number} has an empty question or answer; expected {_EXPECTED}", path=path)
        yield entry
        if number == limit:
            return
