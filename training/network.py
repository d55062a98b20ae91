"""The network of the reader: an encoder finds where objects begin, and says of each what event it belongs to.

Two more heads read a statement beside a message: whether it goes on, and whether it is right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import torch
from base import WIDTH
from spans import Frame
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertModel

from worldthread.extract.reader.events import KINDS, LONGEST_OBJECT, POINTERS, SUBJECTS, TIME_KINDS
from worldthread.extract.reader.model import Tokens
from worldthread.extract.reader.pieces import OUTCOMES, Piece, sentences_of
from worldthread.extract.reader.relations import RelationWords

JUDGEMENTS: Final = ("r", "v", "w")
"""What a judge calls a fact: right, vague, wrong."""


class Item(NamedTuple):
    """A piece as numbers: tokens, the word of each token (-1: a sign of the model), the form of each word, and its
    frames; or, for a task of pairs, the answer."""

    tokens: list[int]
    places: list[int]
    types: list[int]
    case: list[int]
    words: tuple[str, ...]
    sentence: list[int]
    first: int
    frames: list[Frame]
    task: str = "notes"
    answer: int = -1


def item_of(tokens_of: Tokens, piece: Piece, frames: list[Frame], task: str = "notes", answer: int = -1) -> Item:
    tokens, places, types, case = tokens_of.of(piece)
    words = (*piece.before, *(word.text for word in piece.words))
    return Item(tokens, places, types, case, words, sentences_of(piece), len(piece.before), frames, task, answer)


class Batch(NamedTuple):
    """Arrays of one step; B messages, T tokens, W words, F frames."""

    tokens: Tensor
    mask: Tensor
    types: Tensor
    pool: Tensor
    case: Tensor
    segment: Tensor
    sentence: Tensor
    known: Tensor
    begins: Tensor
    rows: Tensor
    begin: Tensor
    end: Tensor
    kind: Tensor
    relation: Tensor
    subject: Tensor
    time_kind: Tensor
    pointers: Tensor
    matches: Tensor
    task: str
    answers: Tensor


def batch_of(items: Sequence[Item], relations: dict[str, int], said: RelationWords) -> Batch:
    longest = max(len(item.tokens) for item in items)
    wide = max(max(len(item.case), 1) for item in items)
    size = len(items)
    tokens, mask, types = (torch.zeros(size, longest, dtype=torch.long) for _ in range(3))
    pool = torch.zeros(size, wide, longest)
    case, segment = torch.zeros(size, wide, dtype=torch.long), torch.zeros(size, wide, dtype=torch.long)
    sentence = torch.full((size, wide), -1, dtype=torch.long)
    known, begins = torch.zeros(size, wide, dtype=torch.bool), torch.zeros(size, wide)
    frames: list[tuple[int, Frame]] = []
    for row, item in enumerate(items):
        length = len(item.tokens)
        tokens[row, :length] = torch.tensor(item.tokens)
        mask[row, :length] = 1
        types[row, :length] = torch.tensor(item.types)
        places = torch.tensor(item.places)
        inside = (places >= 0).nonzero().squeeze(1)
        pool[row, places[inside], inside] = 1
        words = len(item.case)
        case[row, :words] = torch.tensor(item.case, dtype=torch.long)
        segment[row, item.first : words] = 1
        sentence[row, :words] = torch.tensor(item.sentence)
        known[row, :words] = True
        for frame in item.frames:
            begins[row, frame.begin] = 1
            frames.append((row, frame))
    pool = pool / pool.sum(2, keepdim=True).clamp(min=1)
    matches = torch.zeros(size, 2, wide, said.count)
    if items[0].task == "notes":
        for row, item in enumerate(items):
            matches[row, :, : len(item.words)] = torch.from_numpy(said.matches(item.words))
    pointers = torch.zeros(len(frames), len(POINTERS), wide, dtype=torch.bool)
    for number, (_, frame) in enumerate(frames):
        for place, spans in enumerate((frame.heads, frame.owners, frame.times)):
            for start, stop in spans:
                pointers[number, 2 * place, start] = True
                pointers[number, 2 * place + 1, stop] = True

    def numbers(values: Sequence[int]) -> Tensor:
        return torch.tensor(values, dtype=torch.long)

    return Batch(
        tokens,
        mask,
        types,
        pool,
        case,
        segment,
        sentence,
        known,
        begins,
        numbers([row for row, _ in frames]),
        numbers([frame.begin for _, frame in frames]),
        numbers([frame.end for _, frame in frames]),
        numbers([frame.kind for _, frame in frames]),
        numbers([relations.get(frame.relation, 0) for _, frame in frames]),
        numbers([frame.subject for _, frame in frames]),
        numbers([frame.time_kind for _, frame in frames]),
        pointers,
        matches,
        items[0].task,
        numbers([item.answer for item in items]),
    )


class Reader(nn.Module):
    """The encoder with what decides on its words."""

    def __init__(self, encoder: BertModel, relations: Tensor) -> None:
        super().__init__()
        self.encoder = encoder
        self.case = nn.Embedding(3, WIDTH)
        self.segment = nn.Embedding(2, WIDTH)
        nn.init.zeros_(self.case.weight)
        nn.init.zeros_(self.segment.weight)
        self.begins = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, 1))
        nn.init.constant_(self.begins[2].bias, -3.0)
        self.end_query, self.end_key = nn.Linear(WIDTH, 128), nn.Linear(WIDTH, 128)
        self.distance = nn.Embedding(LONGEST_OBJECT, 1)
        nn.init.zeros_(self.distance.weight)
        self.span = nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.GELU(), nn.LayerNorm(WIDTH))
        self.attend = nn.MultiheadAttention(WIDTH, 6, batch_first=True)
        self.after = nn.LayerNorm(WIDTH)
        self.mix = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))
        self.last = nn.LayerNorm(WIDTH)
        self.kind, self.subject = nn.Linear(WIDTH, len(KINDS)), nn.Linear(WIDTH, len(SUBJECTS))
        self.time_kind = nn.Linear(WIDTH, len(TIME_KINDS))
        self.pointer_query = nn.Linear(WIDTH, len(POINTERS) * 96)
        self.pointer_key = nn.Linear(WIDTH, len(POINTERS) * 96)
        self.relation_in = nn.Linear(WIDTH, WIDTH)
        self.relations = nn.Parameter(relations)
        self.relation_bias = nn.Parameter(torch.zeros(len(relations)))
        self.match_query, self.match_key = nn.Linear(WIDTH, 2 * 96), nn.Linear(WIDTH, 2 * 96)
        self.match_scale = nn.Parameter(torch.tensor([4.0, 1.0]))
        self.ending = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, len(OUTCOMES)))
        self.judge = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, len(JUDGEMENTS)))

    def words(
        self, tokens: Tensor, mask: Tensor, types: Tensor, pool: Tensor, case: Tensor, segment: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the words, shape (B, W, 384), and the whole of each text, shape (B, 384)."""
        hidden = self.encoder(input_ids=tokens, attention_mask=mask, token_type_ids=types).last_hidden_state
        return torch.bmm(pool, hidden) + self.case(case) + self.segment(segment), hidden[:, 0]

    def ends(self, words: Tensor, rows: Tensor, begin: Tensor, sentence: Tensor) -> Tensor:
        """Return log-probabilities of the last word of the object that begins at a word; shape (F, W)."""
        query = self.end_query(words[rows, begin])
        scores = torch.einsum("fd,fwd->fw", query, self.end_key(words)[rows]) / math.sqrt(128)
        distance = torch.arange(words.shape[1])[None] - begin[:, None]
        scores = scores + self.distance(distance.clamp(0, LONGEST_OBJECT - 1)).squeeze(2)
        allowed = (distance >= 0) & (distance < LONGEST_OBJECT) & (sentence[rows] == sentence[rows, begin][:, None])
        return functional.log_softmax(scores.masked_fill(~allowed, -1e4), 1)

    def frames(
        self, words: Tensor, known: Tensor, matches: Tensor, rows: Tensor, begin: Tensor, end: Tensor
    ) -> tuple[Tensor, ...]:
        """Return log-probabilities of kind, relation, subject, kind of time, and pointers (F, 6, W).

        A relation scores more where a word is pointed at that is one of its own; ``matches`` (B, 2, W, R) says which.
        """
        span = self.span(torch.cat([words[rows, begin], words[rows, end]], 1))
        seen, _ = self.attend(
            span[:, None], words[rows], words[rows], key_padding_mask=~known[rows], need_weights=False
        )
        span = self.after(span + seen[:, 0])
        span = self.last(span + self.mix(span))
        relation = functional.linear(self.relation_in(span), self.relations, self.relation_bias)
        said_query = self.match_query(span).view(-1, 2, 96)
        said_key = self.match_key(words).view(*words.shape[:2], 2, 96)[rows]
        said = torch.einsum("fhd,fwhd->fhw", said_query, said_key) / math.sqrt(96)
        said = torch.softmax(said.masked_fill(~known[rows][:, None], -1e4), 2) * self.match_scale[:, None]
        relation = relation + torch.einsum("fhw,fhwr->fr", said, matches[rows])
        query = self.pointer_query(span).view(-1, len(POINTERS), 96)
        key = self.pointer_key(words).view(*words.shape[:2], len(POINTERS), 96)[rows]
        pointers = torch.einsum("fpd,fwpd->fpw", query, key) / math.sqrt(96)
        pointers = pointers.masked_fill(~known[rows][:, None], -1e4)
        return tuple(
            functional.log_softmax(scores, -1)
            for scores in (self.kind(span), relation, self.subject(span), self.time_kind(span), pointers)
        )


def losses(reader: Reader, batch: Batch) -> dict[str, Tensor]:
    words, whole = reader.words(batch.tokens, batch.mask, batch.types, batch.pool, batch.case, batch.segment)
    if batch.task != "notes":
        head = reader.ending if batch.task == "ending" else reader.judge
        return {batch.task: functional.cross_entropy(head(whole), batch.answers)}
    begins = reader.begins(words).squeeze(2)
    found = functional.binary_cross_entropy_with_logits(begins, batch.begins, reduction="none")
    parts = {"begin": (found * (batch.segment == 1)).sum() / len(batch.tokens)}
    if not len(batch.rows):
        return parts
    count = len(batch.rows)
    ends = reader.ends(words, batch.rows, batch.begin, batch.sentence)
    parts["end"] = functional.nll_loss(ends, batch.end)
    kind, relation, subject, time_kind, pointers = reader.frames(
        words, batch.known, batch.matches, batch.rows, batch.begin, batch.end
    )
    parts["kind"] = functional.nll_loss(kind, batch.kind)
    common = batch.relation > 0
    parts["relation"] = functional.nll_loss(relation[common], batch.relation[common], reduction="sum") / count
    parts["subject"] = functional.nll_loss(subject, batch.subject)
    timed = batch.time_kind >= 0
    parts["time"] = functional.nll_loss(time_kind[timed], batch.time_kind[timed], reduction="sum") / count
    pointed = batch.pointers.any(2)
    chosen = torch.logsumexp(pointers.masked_fill(~batch.pointers, -1e4), 2)
    parts["pointers"] = -(chosen * pointed).sum() / count
    return parts
