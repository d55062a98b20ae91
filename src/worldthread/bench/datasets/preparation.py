"""Steps that make a data set smaller, each a pure function, and the two recipes of PersonalAI, Appendix D."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from worldthread.bench.datasets.base import Dataset, Question
from worldthread.errors import InputError

SHORTEST: Final = 64
LONGEST: Final = 1024
"""Characters of a passage that Appendix D keeps, both inclusive."""

HOTPOTQA_QUESTIONS: Final = 2000
TRIVIAQA_QUESTIONS: Final = 500
"""Questions that Appendix D keeps."""

CHUNK_OVERLAP: Final = 64


def gold_only(dataset: Dataset) -> Dataset:
    """Without distracting passages: every question's context becomes its gold passages.

    Questions without gold passages go.
    """
    return _with(dataset, (replace(q, context_ids=q.gold_ids) for q in dataset.questions if q.gold_ids), "no gold")


def within_length(dataset: Dataset, shortest: int = SHORTEST, longest: int = LONGEST) -> Dataset:
    """Without the questions of which a passage's text has fewer than ``shortest`` or more than ``longest`` characters.

    Passages that belong to no other question go with them.
    """
    fits = {passage.id: shortest <= len(passage.text) <= longest for passage in dataset.passages}
    kept = (q for q in dataset.questions if all(fits[id_] for id_ in (*q.context_ids, *q.gold_ids)))
    return _with(dataset, kept, f"a passage outside {shortest}..{longest} characters")


def first(dataset: Dataset, limit: int | None) -> Dataset:
    """The first ``limit`` questions with their passages; all passages where questions have none of their own.

    ``None`` keeps all.

    Raises:
        InputError: ``limit`` is below 1.
    """
    if limit is None:
        return dataset
    if isinstance(limit, bool) or limit < 1:
        raise InputError(f"limit must be at least 1, not {limit!r}")
    return _with(dataset, dataset.questions[:limit], None)


def appendix_d_hotpotqa(dataset: Dataset) -> Dataset:
    """PersonalAI's HotpotQA: gold passages only, all of 64 to 1,024 characters, the first 2,000 questions.

    Made from the distractor setting this has 3,933 passages (their Tables 1 and 13); that they left the distracting
    ones out follows from their number of unique contexts, 13,781.
    """
    return first(within_length(gold_only(dataset)), HOTPOTQA_QUESTIONS)


def appendix_d_triviaqa(dataset: Dataset) -> Dataset:
    """PersonalAI's TriviaQA: questions all of whose chunks have 64 to 1,024 characters, the first 500 of them.

    To be applied to pages cut by :func:`split_paragraphs`.
    """
    return first(within_length(dataset), TRIVIAQA_QUESTIONS)


def split_paragraphs(text: str, size: int = LONGEST, overlap: int = CHUNK_OVERLAP) -> list[str]:
    r"""Cut a text at blank lines into chunks of at most ``size`` characters; longer paragraphs stay whole.

    The recursive character splitter of LangChain with the one separator ``"\n\n"``, which Appendix D uses: a chunk
    begins with the last paragraphs of the one before as long as these have at most ``overlap`` characters.
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
    """The data set with only these questions and their passages; how many went for a ``reason`` is counted."""
    kept = tuple(questions)
    passages = dataset.passages
    if any(question.context_ids for question in dataset.questions):
        used = {id_ for question in kept for id_ in (*question.context_ids, *question.gold_ids)}
        passages = tuple(passage for passage in passages if passage.id in used)
    counts = dict(dataset.counts)
    if reason is not None:
        counts[f"questions left out: {reason}"] = len(dataset.questions) - len(kept)
    return replace(dataset, passages=passages, questions=kept, counts=counts)
