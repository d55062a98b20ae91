"""Questions with their own corpus, as in HippoRAG: ``<set>.jsonl.gz`` beside ``<set>_corpus.jsonl.gz``.

A line of the first is a question with ``id``, ``question``, ``answer``, ``aliases``, ``type``, ``gold_ids`` and
``context_ids``; a line of the second a passage with ``id``, ``title``, ``text`` and perhaps ``entities`` and
``triples``, which a model extracted, and ``malformed_triples``, which are not valid facts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from worldthread.errors import FormatError, InputError
from worldthread_lab.bench.datasets.base import Dataset, Passage, Question, distinct
from worldthread_lab.bench.datasets.files import facts_of, read_lines
from worldthread_lab.bench.datasets.preparation import first
from worldthread_lab.bench.qa.metrics import Script

_ENDINGS: Final = (".jsonl.gz", ".jsonl")
_MALFORMED: Final = "triples that are no facts"


class _Question(msgspec.Struct):
    id: str
    question: str
    answer: str
    gold_ids: list[int]
    context_ids: list[int]
    aliases: list[str] = []
    type: str = ""


class _Passage(msgspec.Struct):
    id: int
    title: str
    text: str
    entities: list[str] = []
    triples: list[list[Any]] = []
    malformed_triples: list[Any] = []


def load(path: Path, *, name: str, script: Script, limit: int | None) -> Dataset:
    """Load the questions of a file and the corpus beside it.

    Args:
        path: the file of questions.
        name: name of the data set.
        script: rules that score the answers.
        limit: keep only the first questions; ``None``: keep all.

    Returns:
        The data set.

    Raises:
        InputError: a file is missing.
        FormatError: a line does not have the expected form.
    """
    counts: dict[str, int] = {}
    passages = []
    corpus = corpus_of(path)
    for row in read_lines(corpus, _Passage, "a passage with id, title and text"):
        facts = facts_of(row.triples, counts, _MALFORMED)
        counts[_MALFORMED] = counts.get(_MALFORMED, 0) + len(row.malformed_triples)
        passages.append(Passage(str(row.id), row.title, row.text, facts=facts, entities=distinct(row.entities)))
    questions = tuple(
        Question(
            row.id,
            row.question,
            distinct((row.answer, *row.aliases)),
            tuple(map(str, row.gold_ids)),
            row.type,
            context_ids=tuple(map(str, row.context_ids)),
        )
        for row in read_lines(path, _Question, "a question with id, question, answer, gold_ids and context_ids")
    )
    try:
        dataset = Dataset(name, f"{name}/1", tuple(passages), questions, script, counts)
    except InputError as error:
        raise FormatError(f"{error}; expected the questions about the corpus {corpus.name}", path=path) from error
    return first(dataset, limit)


def corpus_of(path: Path) -> Path:
    """Return the path of the corpus that belongs to a file of questions.

    Args:
        path: the file of questions.

    Returns:
        The path of the corpus.

    Raises:
        InputError: there is no corpus beside the file.
    """
    ending = next((ending for ending in _ENDINGS if path.name.endswith(ending)), path.suffix)
    stem = path.name.removesuffix(ending)
    candidates = [path.with_name(f"{stem}_corpus{other}") for other in dict.fromkeys((ending, *_ENDINGS))]
    found = next((candidate for candidate in candidates if candidate.is_file()), None)
    if found is None:
        raise InputError(f"{path} needs a file with its passages beside it: {' or '.join(c.name for c in candidates)}")
    return found
