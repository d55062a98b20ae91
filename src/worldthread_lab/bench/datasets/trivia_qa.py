"""Loader of TriviaQA's reading comprehension over Wikipedia, in the layout of its official archive.

``qa/wikipedia-dev.json`` contains an object whose ``Data`` are the questions: ``QuestionId``, ``Question``, ``Answer``
(``Value``, ``Aliases``, ``NormalizedAliases``) and ``EntityPages``, each with the ``Title`` and ``Filename`` of a text
in ``evidence/wikipedia/``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from worldthread.errors import FormatError, InputError
from worldthread_lab.bench.datasets.base import Dataset, Passage, Question, distinct
from worldthread_lab.bench.datasets.files import open_text, read_array
from worldthread_lab.bench.datasets.preparation import appendix_d_triviaqa, first, split_paragraphs
from worldthread_lab.bench.qa.metrics import normalise_answer

_EXPECTED: Final = (
    "an object whose Data are questions with QuestionId, Question, Answer and EntityPages (a test set, which has no "
    "answers, cannot be used)"
)
EVIDENCE: Final = Path("evidence", "wikipedia")

Cutter: TypeAlias = Callable[[str], list[str]]
"""A function that cuts a page into the texts of its passages."""


class _Answer(msgspec.Struct, rename="pascal"):
    value: str
    aliases: list[str] = []
    normalized_aliases: list[str] = []
    human_answers: list[str] = []


class _Page(msgspec.Struct, rename="pascal"):
    filename: str
    title: str


class _TriviaEntry(msgspec.Struct, rename="pascal"):
    question_id: str
    question: str
    answer: _Answer
    entity_pages: list[_Page] = []


def load(path: Path, *, name: str, limit: int | None) -> Dataset:
    """Load the questions, and their pages as self-contained passages of at most 120 words.

    The files do not annotate which passages contain the answer. As in the official scripts, a passage counts as gold
    when it contains one of the answers, here as whole words after TriviaQA's normalisation; a question can have none.

    Args:
        path: the file with the questions, in the folder ``qa`` beside the folder ``evidence``.
        name: name of the data set.
        limit: read only the first questions; ``None``: read all.

    Returns:
        The data set; ``counts`` has the number of pages that are missing from the evidence.

    Raises:
        InputError: a file cannot be read, or the folder with the evidence is missing.
        FormatError: a file does not have the expected form.
    """
    from worldthread.extract.chunks import chunk

    return _read(path, name, chunk, limit)


def load_appendix_d(path: Path, *, name: str, limit: int | None) -> Dataset:
    """Load TriviaQA as PersonalAI prepares it.

    Args:
        path: the file with the questions, in the folder ``qa`` beside the folder ``evidence``.
        name: name of the data set.
        limit: keep only the first questions; ``None``: keep all.

    Returns:
        The data set, see :func:`~worldthread_lab.bench.datasets.preparation.appendix_d_triviaqa`.

    Raises:
        InputError: a file cannot be read, or the folder with the evidence is missing.
        FormatError: a file does not have the expected form.
    """
    return first(appendix_d_triviaqa(_read(path, name, split_paragraphs, None)), limit)


def _read(path: Path, name: str, cut: Cutter, limit: int | None) -> Dataset:
    counts: dict[str, int] = {}
    pages = _Pages(path.parent.parent / EVIDENCE, cut, counts)
    questions: list[Question] = []
    for entry in read_array(path, _TriviaEntry, _EXPECTED, member="Data"):
        if len(questions) == limit:
            break
        answer = entry.answer
        answers = distinct((answer.value, *answer.aliases, *answer.normalized_aliases, *answer.human_answers))
        ids = tuple(dict.fromkeys(id_ for page in entry.entity_pages for id_ in pages.ids(page.filename, page.title)))
        if not ids:
            counts["questions left out: no page"] = counts.get("questions left out: no page", 0) + 1
            continue
        try:
            gold = pages.containing(answers, ids)
            questions.append(Question(entry.question_id, entry.question, answers, gold, context_ids=ids))
        except InputError as error:
            raise FormatError(f"{error}; expected {_EXPECTED}", path=path) from error
    counts["questions without gold passages"] = sum(not question.gold_ids for question in questions)
    try:
        return Dataset(name, f"{name}/1", pages.passages(), tuple(questions), "triviaqa", counts)
    except InputError as error:
        raise FormatError(str(error), path=path) from error


class _Pages:
    """The pages of the evidence, each read and cut once; passages with the same title and text are kept once."""

    def __init__(self, folder: Path, cut: Cutter, counts: dict[str, int]) -> None:
        if not folder.is_dir():
            raise InputError(f"the pages of TriviaQA are missing: expected the folder {folder}")
        self._folder, self._cut, self._counts = folder, cut, counts
        self._pages: dict[str, tuple[str, ...]] = {}
        self._passages: dict[tuple[str, str], Passage] = {}
        self._normalised: dict[str, str] = {}

    def passages(self) -> tuple[Passage, ...]:
        """Return all passages in the order of the first requests for them."""
        return tuple(self._passages.values())

    def ids(self, filename: str, title: str) -> tuple[str, ...]:
        """Return the ids of the passages of a page; empty when the page is missing."""
        if filename not in self._pages:
            self._pages[filename] = tuple(self._cut_page(filename, title))
        return self._pages[filename]

    def containing(self, answers: Iterable[str], ids: Iterable[str]) -> tuple[str, ...]:
        """Return the ids of the passages that contain one of the answers."""
        wanted = [f" {text} " for text in distinct(normalise_answer(answer, "triviaqa") for answer in answers)]
        return tuple(id_ for id_ in ids if any(text in self._normalised[id_] for text in wanted))

    def _cut_page(self, filename: str, title: str) -> Iterator[str]:
        text = self._text(filename)
        if text is None:
            self._counts["pages missing"] = self._counts.get("pages missing", 0) + 1
            return
        for number, part in enumerate(self._cut(text)):
            passage = self._passages.setdefault((title, part), Passage(f"{filename}#{number}", title, part))
            self._normalised[passage.id] = f" {normalise_answer(part, 'triviaqa')} "
            yield passage.id

    def _text(self, filename: str) -> str | None:
        if Path(filename).is_absolute() or ".." in Path(filename).parts:
            raise FormatError(f"{filename!r} is not the name of a file in the folder", path=self._folder)
        # some systems compose accented letters in file names, others decompose them
        for form in (filename, unicodedata.normalize("NFC", filename), unicodedata.normalize("NFD", filename)):
            for name in (form, f"{form}.gz"):
                if (self._folder / name).is_file():
                    with open_text(self._folder / name) as stream:
                        return stream.read()
        return None
