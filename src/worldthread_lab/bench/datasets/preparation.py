"""Pure functions that reduce a data set, and the two recipes of PersonalAI, Appendix D."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from worldthread.errors import InputError
from worldthread_lab.bench.datasets.base import Dataset, Question

SHORTEST: Final = 64
LONGEST: Final = 1024
"""Lengths of the passages that Appendix D keeps, in characters, both inclusive."""

HOTPOTQA_QUESTIONS: Final = 2000
TRIVIAQA_QUESTIONS: Final = 500
"""Number of questions that Appendix D keeps."""

CHUNK_OVERLAP: Final = 64


def gold_only(dataset: Dataset) -> Dataset:
    """Remove distracting passages and questions without gold passages.

    Args:
        dataset: the data set.

    Returns:
        The reduced data set, in which the context of every question is its gold passages.
    """
    return _with(dataset, (replace(q, context_ids=q.gold_ids) for q in dataset.questions if q.gold_ids), "no gold")


def within_length(dataset: Dataset, shortest: int = SHORTEST, longest: int = LONGEST) -> Dataset:
    """Remove questions that have a passage outside the given lengths, and passages that no other question uses.

    Args:
        dataset: the data set.
        shortest: least number of characters of a passage's text, inclusive.
        longest: greatest number of characters, inclusive.

    Returns:
        The reduced data set.
    """
    fits = {passage.id: shortest <= len(passage.text) <= longest for passage in dataset.passages}
    kept = (q for q in dataset.questions if all(fits[id_] for id_ in (*q.context_ids, *q.gold_ids)))
    return _with(dataset, kept, f"a passage outside {shortest}..{longest} characters")


def first(dataset: Dataset, limit: int | None) -> Dataset:
    """Keep the first questions and their passages.

    Args:
        dataset: the data set.
        limit: number of questions to keep; ``None``: keep all.

    Returns:
        The reduced data set; it has all passages when the questions have no contexts.

    Raises:
        InputError: ``limit`` is below 1.
    """
    if limit is None:
        return dataset
    if isinstance(limit, bool) or limit < 1:
        raise InputError(f"limit must be at least 1, not {limit!r}")
    return _with(dataset, dataset.questions[:limit], None)


def appendix_d_hotpotqa(dataset: Dataset) -> Dataset:
    """Apply PersonalAI's recipe for HotpotQA: gold passages only, of 64 to 1,024 characters, the first 2,000 questions.

    From the distractor setting this yields 3,933 passages, as in their Tables 1 and 13. Their number of unique
    contexts, 13,781, shows that they left the distracting passages out.

    Args:
        dataset: HotpotQA in the distractor setting.

    Returns:
        The reduced data set.
    """
    return first(within_length(gold_only(dataset)), HOTPOTQA_QUESTIONS)


def appendix_d_triviaqa(dataset: Dataset) -> Dataset:
    """Apply PersonalAI's recipe for TriviaQA: the first 500 questions whose chunks all have 64 to 1,024 characters.

    Args:
        dataset: TriviaQA with pages cut by :func:`split_paragraphs`.

    Returns:
        The reduced data set.
    """
    return first(within_length(dataset), TRIVIAQA_QUESTIONS)


def split_paragraphs(text: str, size: int = LONGEST, overlap: int = CHUNK_OVERLAP) -> list[str]:
    r"""Cut a text at blank lines into chunks of at most ``size`` characters; longer paragraphs stay whole.

    This is LangChain's recursive character splitter with the single separator ``"\n\n"``, which Appendix D uses.

    Args:
        text: the text.
        size: greatest length of a chunk, in characters.
        overlap: a chunk begins with the last paragraphs of the previous one, up to this many characters.

    Returns:
        The chunks, without surrounding white space.
    """
    head, *others = text.split("\n\n")
    pieces = [piece for piece in (head, *(f"\n\n{other}" for other in others)) if piece]
    chunks: list[str] = []
    pending: list[str] = []
    for piece in pieces:
        if len(piece) < size:
            pending.append(piece)
            continue
        chunks += _merged(pending, size, overlap)
        pending = []
        chunks.append(piece)
    return chunks + _merged(pending, size, overlap)


def _merged(pieces: list[str], size: int, overlap: int) -> list[str]:
    chunks = []
    current: list[str] = []
    total = 0
    for piece in pieces:
        if current and total + len(piece) > size:
            chunks.append("".join(current))
            while current and (total > overlap or total + len(piece) > size):
                total -= len(current.pop(0))
        current.append(piece)
        total += len(piece)
    chunks.append("".join(current))
    return [chunk.strip() for chunk in chunks if chunk.strip()]


def _with(dataset: Dataset, questions: Iterable[Question], reason: str | None) -> Dataset:
    """Keep only these questions and their passages; count the removed questions under ``reason``."""
    kept = tuple(questions)
    passages = dataset.passages
    if any(question.context_ids for question in dataset.questions):
        used = {id_ for question in kept for id_ in (*question.context_ids, *question.gold_ids)}
        passages = tuple(passage for passage in passages if passage.id in used)
    counts = dict(dataset.counts)
    if reason is not None:
        counts[f"questions left out: {reason}"] = len(dataset.questions) - len(kept)
    return replace(dataset, passages=passages, questions=kept, counts=counts)
