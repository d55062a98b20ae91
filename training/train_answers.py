"""Trains the part of the reader that finds the answer to a question in what was told.

    python training/train_answers.py --start training/answers.npz --checkpoint build/training/answers.npz

The question is read beside each message, as the reader reads a fact beside a message. What the encoder says of each
pair is compared with the others, and one message is chosen, or none; in it, the first and the last word of the answer.
It is learned from small lives with questions (``answers/*.jsonl``). The lower layers stay those of the reader.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import numpy as np
import torch
from asked_events import questions_of_events
from base import WIDTH, encoder_of, fetch
from network import Reader
from numpy.typing import NDArray
from small_lives import Question, questions_of
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertModel
from write_reader import weights_of, with_small_weights

from worldthread.answering.pointing import (
    LOWER_LAYERS,
    MOST_MESSAGES,
    POINTED_KINDS,
    QuestionPair,
    best_words,
    question_pair,
)
from worldthread.extract.reader.extractor import FOLDER
from worldthread.extract.reader.model import Tokens, load_tokens
from worldthread.models import embedder

HERE: Final = Path(__file__).parent
SHOWN: Final = 20
TOGETHER: Final = 16
"""Pairs that pass through a layer at once."""
LEASTS: Final = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class Example(NamedTuple):
    """A question beside messages in order of time, and its answer.

    Args:
        pairs: the question beside each message.
        source: the number of the message that answers; -1 for none.
        kind: which of :data:`POINTED_KINDS`; -1 for none.
        first: the first word of the answer in its message; -1 for none.
        last: the last one.
    """

    pairs: tuple[QuestionPair, ...]
    source: int
    kind: int
    first: int
    last: int


def example_of(tokens: Tokens, question: Question, order: Sequence[int], most: int) -> Example | None:
    """Return a question as numbers, beside some messages.

    Args:
        tokens: gives the numbers of words.
        question: the question.
        order: the numbers of its messages, the likest first.
        most: how many messages are shown; that which answers is one of them.
    """
    chosen = sorted(sorted(order, key=lambda number: number != question.source)[:most])  # that which answers first
    pairs = tuple(question_pair(tokens, question.text, question.now, question.told[n]) for n in chosen)
    if question.source < 0:
        return Example(pairs, -1, -1, -1, -1)
    source = chosen.index(question.source)
    if question.answer in ("yes", "no"):
        return Example(pairs, source, POINTED_KINDS.index(question.answer), -1, -1)
    begin = question.told[question.source].text.find(question.answer)
    end = begin + len(question.answer)
    places = [place for place, word in enumerate(pairs[source].words) if word.end > begin and word.begin < end]
    return Example(pairs, source, 0, places[0], places[-1]) if begin >= 0 and places else None


def _alike(lengths: Sequence[int]) -> list[list[int]]:
    """Return the numbers of pairs in groups of about the same length, the longest last."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    return [order[start : start + TOGETHER] for start in range(0, len(order), TOGETHER)]


def _mask(lengths: Sequence[int], longest: int) -> Tensor:
    mask = torch.full((len(lengths), 1, 1, longest), -1e4)
    for row, length in enumerate(lengths):
        mask[row, 0, 0, :length] = 0
    return mask


def _one(found: Any) -> Tensor:
    return found[0] if isinstance(found, tuple) else found


class Answerer(nn.Module):
    """The encoder, what compares the messages, and what points at words."""

    def __init__(self, encoder: BertModel, begins: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.rank = nn.Embedding(MOST_MESSAGES + 1, WIDTH)  # 0: no message; else how many follow, and 1
        nn.init.normal_(self.rank.weight, std=0.02)
        layer = nn.TransformerEncoderLayer(WIDTH, 6, 2 * WIDTH, batch_first=True, norm_first=True)
        self.compare = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.chosen = nn.Linear(WIDTH, 1)
        self.kind = nn.Linear(WIDTH, len(POINTED_KINDS))
        self.first = begins  # an answer begins where objects do
        self.last = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, 1))

    @torch.no_grad()
    def lower(self, pairs: Sequence[QuestionPair]) -> list[Tensor]:
        """Return what the lower layers say of each pair, shape (tokens, 384), in sixteen bits; they learn nothing."""
        found: dict[int, Tensor] = {}
        for some in _alike([len(pair.tokens) for pair in pairs]):
            longest = len(pairs[some[-1]].tokens)
            ids, parts = (torch.zeros(len(some), longest, dtype=torch.long) for _ in range(2))
            for row, number in enumerate(some):
                length = len(pairs[number].tokens)
                ids[row, :length] = torch.tensor(pairs[number].tokens)
                parts[row, :length] = torch.tensor(pairs[number].parts)
            mask = _mask([len(pairs[number].tokens) for number in some], longest)
            hidden = self.encoder.embeddings(input_ids=ids, token_type_ids=parts)
            for layer in self.encoder.encoder.layer[:LOWER_LAYERS]:
                hidden = _one(layer(hidden, attention_mask=mask))
            for row, number in enumerate(some):
                found[number] = hidden[row, : len(pairs[number].tokens)].to(torch.bfloat16, copy=True)
        return [found[number] for number in range(len(pairs))]

    def read(self, states: Sequence[Tensor]) -> list[Tensor]:
        """Return what the encoder says of pairs, from what the lower layers say."""
        found: dict[int, Tensor] = {}
        for some in _alike([len(one) for one in states]):
            lengths = [len(states[number]) for number in some]
            hidden = torch.zeros(len(some), lengths[-1], WIDTH)
            for row, number in enumerate(some):
                hidden[row, : len(states[number])] = states[number]
            hidden = self.upper(hidden, _mask(lengths, lengths[-1]))
            found |= {number: hidden[row, : lengths[row]] for row, number in enumerate(some)}
        return [found[number] for number in range(len(states))]

    def upper(self, hidden: Tensor, mask: Tensor) -> Tensor:
        for layer in self.encoder.encoder.layer[LOWER_LAYERS:]:
            hidden = _one(layer(hidden, attention_mask=mask))
        return hidden

    def choose(self, wholes: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Return the score of no message and of each, (questions, 1 + messages), and of each kind of answer."""
        most = max(map(len, wholes))
        rows = torch.zeros(len(wholes), 1 + most, WIDTH)
        ranks = torch.zeros(len(wholes), 1 + most, dtype=torch.long)
        empty = torch.ones(len(wholes), 1 + most, dtype=torch.bool)
        for row, whole in enumerate(wholes):
            rows[row, 1 : 1 + len(whole)] = whole
            ranks[row, 1 : 1 + len(whole)] = torch.arange(len(whole), 0, -1).clamp(max=MOST_MESSAGES)
            empty[row, : 1 + len(whole)] = False
        compared = self.compare(rows + self.rank(ranks), src_key_padding_mask=empty)
        return self.chosen(compared).squeeze(2).masked_fill(empty, -1e4), self.kind(compared)


class Prepared(NamedTuple):
    """An example, and what the lower layers say of its pairs."""

    example: Example
    states: list[Tensor]


def prepared(answerer: Answerer, examples: Sequence[Example]) -> list[Prepared]:
    """Return examples with what the lower layers say of their pairs."""
    answerer.eval()
    pairs = [pair for one in examples for pair in one.pairs]
    with torch.autocast("cpu", torch.bfloat16):
        states = iter(answerer.lower(pairs))
    return [Prepared(one, list(itertools.islice(states, len(one.pairs)))) for one in examples]


def losses(answerer: Answerer, some: Sequence[Prepared]) -> dict[str, Tensor]:
    examples = [one.example for one in some]
    hidden = answerer.read([states for one in some for states in one.states])
    starts = np.cumsum([0, *(len(one.pairs) for one in examples)])
    wholes = [torch.stack([whole[0] for whole in hidden[a:b]]) for a, b in itertools.pairwise(starts)]
    scores, kinds = answerer.choose(wholes)
    parts = {"message": functional.cross_entropy(scores, torch.tensor([1 + one.source for one in examples]))}
    kept = [(row, one) for row, one in enumerate(examples) if one.source >= 0]
    if kept:
        found = torch.stack([kinds[row, 1 + one.source] for row, one in kept])
        parts["kind"] = functional.cross_entropy(found, torch.tensor([one.kind for _, one in kept]))
    pointed = []
    for row, one in kept:
        if one.first >= 0:
            words = hidden[starts[row] + one.source][one.pairs[one.source].firsts]
            for head, place in ((answerer.first, one.first), (answerer.last, one.last)):
                pointed.append(functional.cross_entropy(head(words).squeeze(1), torch.tensor(place)))
    if pointed:
        parts["words"] = torch.stack(pointed).mean()
    return parts


class Found(NamedTuple):
    """The best answer: how probable it is, its message, its kind, and its words."""

    probability: float
    message: int
    kind: str
    first: int
    last: int


@torch.no_grad()
def found_in(answerer: Answerer, some: Prepared) -> Found:
    one, hidden = some.example, answerer.read(some.states)
    scores, kinds = answerer.choose([torch.stack([whole[0] for whole in hidden])])
    chances = torch.softmax(scores[0], 0)
    message = int(chances[1:].argmax())
    kind = int(kinds[0, 1 + message].argmax())
    words = hidden[message][one.pairs[message].firsts]
    first, last = best_words(torch.cat([answerer.first(words), answerer.last(words)], 1).numpy())
    return Found(float(chances[1 + message]), message, POINTED_KINDS[kind], first, last)


def report(answerer: Answerer, examples: Sequence[Prepared]) -> str:
    """Return how many questions are answered rightly and wrongly at some least probabilities."""
    answerer.eval()
    rows = []
    for some in examples:
        one, found = some.example, found_in(answerer, some)
        is_right = one.source >= 0 and found.message == one.source and POINTED_KINDS[one.kind] == found.kind
        if is_right and found.kind == "words":
            is_right = found.first <= one.last and found.last >= one.first
        rows.append((found.probability, is_right))
    told = sum(some.example.source >= 0 for some in examples)
    given = {least: [right for sure, right in rows if sure >= least] for least in LEASTS}
    figures = [f"{least}: {sum(some)}/{len(some) - sum(some)}" for least, some in given.items()]
    return f"of {told} told and {len(rows) - told} not, right/wrong at " + ", ".join(figures)


def _compared(layer: nn.TransformerEncoderLayer, rows: Tensor) -> Tensor:
    """Return what a layer makes of rows, shape (rows, 384), in operations that can be written for any number."""
    own = layer.self_attn
    heads = functional.linear(layer.norm1(rows), own.in_proj_weight, own.in_proj_bias).view(
        -1, 3, own.num_heads, own.head_dim
    )
    query, key, value = heads.permute(1, 2, 0, 3)
    shares = torch.softmax(query @ key.transpose(1, 2) / math.sqrt(own.head_dim), 2)
    rows = rows + own.out_proj((shares @ value).transpose(0, 1).reshape(-1, WIDTH))
    return rows + layer.linear2(functional.relu(layer.linear1(layer.norm2(rows))))


class _Pointing(nn.Module):
    def __init__(self, answerer: Answerer) -> None:
        super().__init__()
        self.answerer = answerer

    def forward(self, hidden: Tensor, mask: Tensor, ranks: Tensor) -> tuple[Tensor, ...]:
        answerer = self.answerer
        hidden = answerer.upper(hidden, mask)
        none = torch.zeros_like(hidden[:1, 0])
        compared = torch.cat([none, hidden[:, 0]]) + answerer.rank(ranks)
        for layer in answerer.compare.layers:
            compared = _compared(cast("nn.TransformerEncoderLayer", layer), compared)
        ends = torch.cat([answerer.first(hidden), answerer.last(hidden)], 2)
        return torch.softmax(answerer.chosen(compared)[:, 0], 0), answerer.kind(compared)[1:], ends


def write(path: Path, answerer: Answerer) -> None:
    """Write what :class:`worldthread.answering.pointing.AnswerModel` reads.

    Args:
        path: the file.
        answerer: the trained network.
    """
    sample = torch.zeros(3, 9, WIDTH), torch.zeros(3, 1, 1, 9), torch.tensor([0, 3, 2, 1])
    axes = {"hidden": {0: "messages", 1: "tokens"}, "mask": {0: "messages", 3: "tokens"}, "ranks": {0: "rows"}}
    axes |= {"chances": {0: "rows"}, "kinds": {0: "messages"}, "ends": {0: "messages", 1: "tokens"}}
    torch.onnx.export(
        _Pointing(answerer).eval(), sample, str(path), input_names=["hidden", "mask", "ranks"],
        output_names=["chances", "kinds", "ends"], dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip
    with_small_weights(path)


def batches(examples: Sequence[Prepared], tokens: int, chance: random.Random) -> Iterator[list[Prepared]]:
    some, size = list[Prepared](), 0
    for one in chance.sample(examples, len(examples)):
        some.append(one)
        size += sum(map(len, one.states))
        if size >= tokens:
            yield some
            some, size = [], 0


def shown_messages(most: int, few: float, chance: random.Random) -> int:
    """Return how many messages are shown; sometimes few, as in a memory that knows little."""
    return chance.randint(1, most) if chance.random() < few else most


def ordered(questions: Sequence[Question]) -> list[list[int]]:
    """Return for each question its messages, the likest first, as a memory would find them."""
    chosen = embedder("minilm")
    texts = list(dict.fromkeys(one.text for question in questions for one in question.told))
    vectors = dict(zip(texts, chosen.embed(texts), strict=True))
    asked = chosen.embed([question.text for question in questions])
    found = []
    for question, vector in zip(questions, asked, strict=True):
        likeness = np.array([vectors[one.text] @ vector for one in question.told])
        found.append(np.argsort(-likeness, kind="stable").tolist())
    return found


def learned_weights(answerer: Answerer) -> dict[str, Tensor]:
    """Return what was learned; the rest is the reader's."""
    lower = tuple(f"encoder.encoder.layer.{number}." for number in range(LOWER_LAYERS))
    state = answerer.state_dict()
    return {key: value for key, value in state.items() if not key.startswith((*lower, "encoder.embeddings."))}


def pack(path: Path, weights: Mapping[str, Tensor]) -> None:
    """Write weights in eight bits, one scale a row, for a later training to go on from."""
    arrays: dict[str, NDArray[Any]] = {}
    for key, value in weights.items():
        rows = value.numpy()
        if rows.ndim == 2:
            scale = np.maximum(np.abs(rows).max(1, keepdims=True), 1e-12) / 127
            arrays |= {f"{key}/int8": np.round(rows / scale).astype(np.int8), f"{key}/scale": scale}
        else:
            arrays[key] = rows
    np.savez_compressed(path, **arrays)


def unpacked(path: Path) -> dict[str, Tensor]:
    """Return the weights that :func:`pack` wrote."""
    with np.load(path) as arrays:
        found = {key: arrays[key] for key in arrays.files if "/" not in key}
        for key in (name.removesuffix("/int8") for name in arrays.files if name.endswith("/int8")):
            found[key] = arrays[f"{key}/int8"].astype(np.float32) * arrays[f"{key}/scale"]
    return {key: torch.tensor(value) for key, value in found.items()}


def parsed_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path("build/training"), help="where the base is kept")
    parser.add_argument("--questions", type=Path, default=HERE / "answers", help="small lives with questions")
    parser.add_argument("--leave-out", default="h", help="writers who are only measured, by their files' names")
    parser.add_argument("--most", type=int, help="learn from so many questions, for a try")
    parser.add_argument("--measured", type=int, default=450, help="questions of those left out to measure")
    parser.add_argument("--messages", type=int, default=5, help="messages that are shown while learning")
    parser.add_argument("--few", type=float, default=0.3, help="share of questions beside fewer messages")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--events", type=Path, help="labelled messages: a first epoch has questions for them, too")
    parser.add_argument("--tokens", type=int, default=2000, help="tokens of a step")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--start", type=Path, help="a checkpoint to begin with, such as answers.npz beside this file")
    parser.add_argument("--checkpoint", type=Path, help="is written after each epoch")
    parser.add_argument("--write", type=Path, help="the model's file, such as that of the package")
    parser.add_argument(
        "--half", action="store_true", help="multiply in sixteen bits: twice as fast where the processor has bfloat16"
    )
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    options = parsed_options()
    torch.manual_seed(options.seed)
    chance = random.Random(options.seed)
    tokens = load_tokens()
    state, relations = weights_of(FOLDER)
    reader = Reader(encoder_of(fetch(options.cache)), torch.zeros(len(relations), WIDTH))
    reader.load_state_dict(state, strict=False)
    reader.encoder.set_attn_implementation("eager")  # short rows: twice as fast as fused attention on a processor
    answerer = Answerer(reader.encoder, reader.begins)
    paths = sorted(options.questions.glob("*.jsonl"))
    left_out = options.leave_out.split(",")
    learned = [one for path in paths if path.stem not in left_out for one in questions_of(path)]
    measured = [one for path in paths if path.stem in left_out for one in questions_of(path)]
    learned = chance.sample(learned, min(options.most or len(learned), len(learned)))
    measured = chance.sample(measured, min(options.measured, len(measured)))
    made = [
        one
        for path in (sorted(options.events.glob("*.jsonl")) if options.events else ())
        for one in questions_of_events(path, chance)
    ]
    examples, left, early = (
        prepared(
            answerer,
            [
                e
                for q, o in zip(some, orders, strict=True)
                if (e := example_of(tokens, q, o, shown_messages(most, few, chance))) is not None
            ],
        )
        for some, orders, most, few in (
            (learned, ordered(learned), options.messages, options.few),
            (measured, ordered(measured), 10, 0.0),
            (made, [list(range(len(one.told))) for one in made], options.messages, 0.0),
        )
    )
    if options.start is not None:
        answerer.load_state_dict(unpacked(options.start), strict=False)
    inner = {id(one) for one in answerer.encoder.parameters()}
    upper = [one for layer in answerer.encoder.encoder.layer[LOWER_LAYERS:] for one in layer.parameters()]
    heads = [one for one in answerer.parameters() if id(one) not in inner]
    optimizer = torch.optim.AdamW(
        [{"params": upper, "lr": options.rate}, {"params": heads, "lr": 3 * options.rate}],
        weight_decay=0.01,
        fused=True,
    )
    steps = [
        list(batches(examples if epoch else [*examples, *early], options.tokens, chance))
        for epoch in range(options.epochs)
    ]
    total = sum(map(len, steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 50, max(0.02, 1 - step / total))
    )
    print(f"{len(examples)} questions and {len(early)} of labels, {len(left)} left out, {total} steps", flush=True)
    begun, done, sums = time.monotonic(), 0, Counter[str]()
    for epoch in steps:
        for some in epoch:
            answerer.train()
            answerer.encoder.eval()  # what was read so far is never learned by heart, so nothing is dropped
            with torch.autocast("cpu", torch.bfloat16, enabled=options.half):
                parts = losses(answerer, some)
            optimizer.zero_grad()
            sum(parts.values(), torch.tensor(0.0)).backward()
            nn.utils.clip_grad_norm_([*upper, *heads], 1.0)
            optimizer.step()
            schedule.step()
            done += 1
            sums.update({name: float(part.detach()) for name, part in parts.items()})
            if done % SHOWN == 0:
                pace = (time.monotonic() - begun) / done
                means = " ".join(f"{name} {value / SHOWN:.3f}" for name, value in sums.items())
                print(f"{done}/{total} {pace:.2f} s a step  {means}", flush=True)
                sums.clear()
        if options.checkpoint:
            pack(options.checkpoint, learned_weights(answerer))
        print("left out:", report(answerer, left), flush=True)
    if options.write:
        write(options.write, answerer)


if __name__ == "__main__":
    main()
