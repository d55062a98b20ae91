"""What a reader does with a batch; without Ray, so that any kind of process can do it."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from worldthread.errors import BudgetError, InputError, ReplayError, WorldthreadError
from worldthread.extract.base import Extractor
from worldthread.extract.groups import EpisodeGroup
from worldthread.extract.pipeline import ExtractionOutcome, extract_groups
from worldthread.memory.bulk.readers import BatchReading, ReadEpisode, ReadFailure

if TYPE_CHECKING:
    from worldthread.models.base import Embedder
    from worldthread.models.meter import UsageTotals


class Models(NamedTuple):
    """What a reader needs: an extractor, and an embedder or ``None`` when nothing is to be embedded there."""

    extractor: Extractor
    embedder: Embedder | None


def packed(extractor: Extractor, embedder: Embedder) -> bytes:
    """Return an extractor and an embedder as bytes for other processes.

    Args:
        extractor: the extractor; one with a chat model is made again there, with the key of the environment there.
        embedder: the embedder; one that cannot be sent stays here, and embeds what is recorded.

    Returns:
        The pickled models. Prompts of one's own go with the extractor.

    Raises:
        InputError: the extractor cannot be sent.
    """
    try:
        first = pickle.dumps(extractor)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"the extractor {extractor.name!r} cannot be sent to other processes ({error}): read without them, or "
            "give it __reduce__"
        ) from error
    try:
        second = pickle.dumps(embedder)
    except Exception:
        second = pickle.dumps(None)
    return pickle.dumps((first, second))


@functools.lru_cache(maxsize=4)
def unpacked(data: bytes) -> Models:
    """Return what :func:`packed` packed; the same objects for the same bytes, so that a model is loaded once."""
    first, second = pickle.loads(data)
    return Models(pickle.loads(first), pickle.loads(second))


def read_batch(models: Models, groups: Sequence[EpisodeGroup]) -> BatchReading:
    """Read and embed a batch.

    Args:
        models: reads and embeds.
        groups: what is read together.

    Returns:
        What was read; or why nothing could be.
    """
    extractor, embedder = models
    before = _usage(extractor)
    try:
        outcomes = list(extract_groups(extractor, groups))
        episodes = tuple(map(_read_episode, outcomes))
        texts: tuple[str, ...] = ()
        vectors = np.zeros((0, 0), np.float16)
        if embedder is not None:
            stated = (t for o in outcomes for t in (o.episode.text, *map(str, o.extraction.statements)))
            texts = tuple(dict.fromkeys(stated))
            vectors = embedder.embed(texts).astype(np.float16)
        reader = (version("worldthread"), extractor.name, "" if embedder is None else embedder.name)
    except WorldthreadError as error:
        return BatchReading(failure=ReadFailure(str(error), isinstance(error, ReplayError)))
    return BatchReading(episodes, texts, vectors, reader, _since(before, _usage(extractor)))


def _read_episode(outcome: ExtractionOutcome) -> ReadEpisode:
    problem = outcome.problem
    return ReadEpisode(outcome.extraction, None if problem is None else str(problem), isinstance(problem, BudgetError))


def _usage(extractor: Any) -> Mapping[str, UsageTotals]:
    """Return what the chat model of an extractor has used so far; nothing without one that counts."""
    meter = getattr(getattr(extractor, "model", None), "meter", None)
    return {} if meter is None else meter.totals()


def _since(before: Mapping[str, UsageTotals], after: Mapping[str, UsageTotals]) -> dict[str, UsageTotals]:
    """Return what was used between two moments."""
    return {purpose: _minus(used, before[purpose]) if purpose in before else used for purpose, used in after.items()}


def _minus(after: UsageTotals, before: UsageTotals) -> UsageTotals:
    """Return a difference; the price is computed where it is counted."""
    from worldthread.models.chat import Usage

    now, then = after.usage, before.usage
    return replace(
        after,
        calls=after.calls - before.calls,
        failures=after.failures - before.failures,
        reused=after.reused - before.reused,
        seconds=after.seconds - before.seconds,
        usage=Usage(
            now.prompt_tokens - then.prompt_tokens,
            now.completion_tokens - then.completion_tokens,
            now.cached_tokens - then.cached_tokens,
        ),
    )
