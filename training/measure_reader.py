"""Measures a reader on labelled messages: which of its surest events are labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import torch
from messages import Labelled
from network import Item, Reader, batch_of, item_of
from spans import ARTICLES, frames_of

from worldthread.extract.reader.events import ENDING_KINDS, EventScores, MessageEvent, events_of
from worldthread.extract.reader.model import Tokens
from worldthread.extract.reader.pieces import Piece
from worldthread.extract.reader.relations import RelationWords

SEEN: Final = 0.1
"""How probable the beginning of an object must be for the event to be looked at."""


class Measured(NamedTuple):
    """An event that was stated, and whether it agrees with a label."""

    event: MessageEvent
    agrees: bool
    message: Labelled


@torch.no_grad()
def events_in(
    reader: Reader, tokens_of: Tokens, pieces: Sequence[Piece], relations: Sequence[str], least: float
) -> list[list[MessageEvent]]:
    """Return the events of each piece whose object begins at least this probably."""
    reader.eval()
    said = RelationWords(relations)
    batch = batch_of([item_of(tokens_of, piece, []) for piece in pieces], {}, said)
    words, _ = reader.words(batch.tokens, batch.mask, batch.types, batch.pool, batch.case, batch.segment)
    begins = torch.sigmoid(reader.begins(words).squeeze(2)) * (batch.segment == 1)
    rows, begin = (begins > least).nonzero(as_tuple=True)
    if not len(rows):
        return [[] for _ in pieces]
    ends, end = reader.ends(words, rows, begin, batch.sentence).exp().max(1)
    found = [part.exp() for part in reader.frames(words, batch.known, batch.matches, rows, begin, end)]
    result = []
    for row, piece in enumerate(pieces):
        chosen = rows == row
        arrays = [part[chosen].numpy() for part in (begin, begins[rows, begin], end, ends, *found)]
        result.append(list(events_of(piece, EventScores(*arrays), relations)))
    return result


def _content(text: str) -> Counter[str]:
    return Counter(word for word in re.findall(r"\w+", text.lower()) if word not in ARTICLES)


def near(one: str, other: str) -> float:
    """Return the share of words that two texts have in common (F1)."""
    first, second = _content(one), _content(other)
    shared = (first & second).total()
    return 2 * shared / (first.total() + second.total()) if shared else 0.0


def agrees(found: MessageEvent, event: str) -> bool:
    """Whether an event agrees with a label.

    Both or neither end something, most words of the subject are alike, and most of the object, or of relation and
    object together.
    """
    kind, subject, relation, thing = [part.strip() for part in event.split("|")][:4]
    if (kind in ENDING_KINDS) != (found.kind in ENDING_KINDS) or near(found.subject, subject) < 0.66:
        return False
    if near(found.object, thing) >= 0.6:
        return True
    return near(f"{found.relation} {found.object}", f"{relation} {thing}") >= 0.7


def measure(
    reader: Reader, tokens_of: Tokens, messages: Sequence[Labelled], relations: Sequence[str], size: int = 32
) -> list[Measured]:
    """Return what the reader states of messages, the surest first."""
    pieces = [(message, piece) for message in messages for piece, _ in frames_of(message)]
    pieces.sort(key=lambda pair: len(pair[1].words) + len(pair[1].before))
    rows: list[Measured] = []
    for start in range(0, len(pieces), size):
        part = pieces[start : start + size]
        stated = events_in(reader, tokens_of, [piece for _, piece in part], relations, SEEN)
        for (message, _), events in zip(part, stated, strict=True):
            rows += [Measured(one, any(agrees(one, event) for event in message.events), message) for one in events]
    return sorted(rows, key=lambda row: -row.event.confidence)


def report(rows: Sequence[Measured], messages: Sequence[Labelled]) -> str:
    """Return the shares of labels among the surest events, for as many events as shares of all labels."""
    events = sum(len(message.events) for message in messages)
    right = np.cumsum([row.agrees for row in rows])
    cuts = [(share, int(events * share)) for share in (0.1, 0.2, 0.3, 0.4, 0.6, 0.8)]
    parts = [f"{share:.0%}: {right[cut - 1] / cut:.3f}" for share, cut in cuts if 0 < cut <= len(right)]
    return f"{' '.join(parts)} of {events} events; {len(rows)} stated, {right[-1] if len(rows) else 0} of them labels"


@torch.no_grad()
def outcomes(reader: Reader, pairs: Sequence[Item], size: int = 48) -> str:
    """Return how well the endings of pairs are told: the area under the curve, and what is found at few false ones."""
    reader.eval()
    ranked = sorted(pairs, key=lambda item: len(item.tokens))
    over: list[float] = []
    for start in range(0, len(ranked), size):
        batch = batch_of(ranked[start : start + size], {}, RelationWords([]))
        _, whole = reader.words(batch.tokens, batch.mask, batch.types, batch.pool, batch.case, batch.segment)
        over += (1 - torch.softmax(reader.ending(whole), 1)[:, 0]).tolist()
    scores, ended = np.array(over), np.array([item.answer > 0 for item in ranked])
    order = np.argsort(scores)
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    positives = int(ended.sum())
    area = (ranks[ended].sum() - positives * (positives + 1) / 2) / (positives * (len(ended) - positives))
    limits = {share: float(np.quantile(scores[~ended], 1 - share)) for share in (0.01, 0.03, 0.1)}
    found = " ".join(f"{(scores[ended] > limit).mean():.3f} at {share:.0%} false" for share, limit in limits.items())
    return f"area {area:.3f}; found {found}; {positives} of {len(ended)} end"
