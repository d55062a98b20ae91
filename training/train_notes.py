"""Train the stage that notes events: message in, events out, as low-rank adapters of the base.

    python training/train_notes.py --leave-out c --epochs 4                 # measures on the writer c
    python training/train_notes.py --epochs 4 --write notes.gguf            # learns from all, for llama.cpp

Writes a checkpoint after every fifty steps and goes on from it, so that hours on a CPU are not lost. The loss is that
of the answer alone. Needs PyTorch, transformers, gguf and tokenizers (training/requirements.txt); uses a GPU where
there is one.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import base
import gguf
import numpy as np
import torch
from messages import Labelled, answer, prompt, read
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional
from transformers import LlamaForCausalLM

FOLDER: Final = Path(__file__).parent
DEVICE: Final = "cuda" if torch.cuda.is_available() else "cpu"
END: Final = 2
RANK, SCALE, RATE, WEIGHT_DECAY, WARM_UP = 32, 2.0, 5e-4, 0.01, 50
SORTED: Final = 2048  # examples sorted by length together, so that batches hold little padding
SAVED_EVERY: Final = 50
LONGEST: Final = 512
LONGEST_ANSWER: Final = 160


class Example(NamedTuple):
    """Tokens of a prompt and of its answer."""

    prompt: list[int]
    answer: list[int]


class LowRank(nn.Module):
    """A linear layer with a trained change of low rank.

    Args:
        layer: the layer, which stays as it is.
    """

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.layer = layer
        self.a = nn.Parameter(torch.randn(RANK, layer.in_features) / math.sqrt(layer.in_features))
        self.b = nn.Parameter(torch.zeros(layer.out_features, RANK))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) + functional.linear(functional.linear(x, self.a), self.b) * SCALE


def examples(messages: Sequence[Labelled], tokens: Tokenizer) -> list[Example]:
    found = []
    for message in messages:
        begin = tokens.encode(prompt(message), add_special_tokens=False).ids
        end = [*tokens.encode(answer(message.events), add_special_tokens=False).ids, END]
        if len(begin) + len(end) <= LONGEST:
            found.append(Example(begin, end))
    return found


def with_low_rank(model: LlamaForCausalLM, frozen: int) -> LlamaForCausalLM:
    """Put a trained change beside every matrix of the layers that are not frozen; return the model on the device.

    Args:
        model: the base.
        frozen: how many of the lowest layers stay as they are; nothing is computed backwards through them.
    """
    model.requires_grad_(False)
    for layer in model.model.layers[frozen:]:
        for parent in (layer.self_attn, layer.mlp):
            for name, child in list(parent.named_children()):
                if isinstance(child, nn.Linear):
                    setattr(parent, name, LowRank(child))
    return model.to(DEVICE)


def trained(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value for name, value in model.named_parameters() if value.requires_grad}


def batches(data: Sequence[Example], epochs: int, size: int, seed: int) -> list[list[Example]]:
    rng, found = random.Random(seed), []
    for _ in range(epochs):
        mixed = rng.sample(list(data), len(data))
        parts = []
        for start in range(0, len(mixed), SORTED):
            near = sorted(mixed[start : start + SORTED], key=lambda one: len(one.prompt) + len(one.answer))
            parts += [near[place : place + size] for place in range(0, len(near), size)]
        found += rng.sample(parts, len(parts))
    return found


def padded(rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    width = max(map(len, rows))
    ids, mask = torch.full((len(rows), width), END), torch.zeros((len(rows), width), dtype=torch.long)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row)
        mask[number, : len(row)] = 1
    return ids.to(DEVICE), mask.to(DEVICE)


def loss_of(model: LlamaForCausalLM, batch: Sequence[Example]) -> torch.Tensor:
    """Return the mean loss of the answers' tokens; logits are computed for these alone."""
    ids, mask = padded([[*one.prompt, *one.answer] for one in batch])
    states = model.model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
    rows = [row for row, one in enumerate(batch) for _ in one.answer]
    places = [len(one.prompt) + place - 1 for one in batch for place in range(len(one.answer))]
    wanted = torch.tensor([token for one in batch for token in one.answer], device=DEVICE)
    return functional.cross_entropy(model.lm_head(states[rows, places]).float(), wanted)


def train(model: LlamaForCausalLM, data: Sequence[Example], options: argparse.Namespace) -> None:
    parameters = trained(model)
    optimizer = torch.optim.AdamW(parameters.values(), lr=RATE, betas=(0.9, 0.98), weight_decay=WEIGHT_DECAY)
    steps = batches(data, options.epochs, options.batch, options.seed)
    first = restored(options.checkpoint, parameters, optimizer)
    model.train()
    began, losses = time.monotonic(), []
    for step in range(first, len(steps)):
        for group in optimizer.param_groups:
            group["lr"] = (
                RATE * min(1.0, (step + 1) / WARM_UP) * (0.05 + 0.475 * (1 + math.cos(math.pi * step / len(steps))))
            )
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
            loss = loss_of(model, steps[step])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters.values(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.item())
        if (step + 1) % SAVED_EVERY == 0 or step + 1 == len(steps):
            mean = sum(losses[-SAVED_EVERY:]) / len(losses[-SAVED_EVERY:])
            print(f"step {step + 1} of {len(steps)}, loss {mean:.4f}, {time.monotonic() - began:.0f} s", flush=True)
            torch.save(
                {"step": step + 1, "weights": parameters, "optimizer": optimizer.state_dict()}, options.checkpoint
            )
    model.eval()


def restored(path: Path, parameters: dict[str, torch.Tensor], optimizer: torch.optim.Optimizer) -> int:
    """Load a checkpoint, if there is one, and return how many steps it has."""
    if not path.exists():
        return 0
    saved: dict[str, Any] = torch.load(path, map_location=DEVICE)
    with torch.no_grad():
        for name, value in saved["weights"].items():
            parameters[name].copy_(value)
    optimizer.load_state_dict(saved["optimizer"])
    print(f"goes on after step {saved['step']} of {path}")
    return int(saved["step"])


@torch.no_grad()
def noted(model: LlamaForCausalLM, messages: Sequence[Labelled], tokens: Tokenizer) -> Iterator[list[str]]:
    """Yield what the model notes of each message, without sampling."""
    for message in messages:
        ids = torch.tensor([tokens.encode(prompt(message), add_special_tokens=False).ids], device=DEVICE)
        written = model.generate(
            ids, max_new_tokens=LONGEST_ANSWER, do_sample=False, eos_token_id=END, pad_token_id=END
        )
        text = tokens.decode(written[0, ids.shape[1] :].tolist())
        yield [line.strip() for line in text.splitlines() if line.count("|") in (3, 4)]


def report(model: LlamaForCausalLM, held_back: Sequence[Labelled], tokens: Tokenizer) -> None:
    """Print how many events were noted exactly, but for the kind and the case; readers judge the rest."""
    wanted = stated = same = 0
    for message, events in zip(held_back, noted(model, held_back, tokens), strict=True):
        right = {tuple(part.strip().casefold() for part in event.split("|")[1:4]) for event in message.events}
        given = {tuple(part.strip().casefold() for part in event.split("|")[1:4]) for event in events}
        wanted, stated, same = wanted + len(right), stated + len(given), same + len(right & given)
    print(f"of {wanted} events of writers left out: {stated} stated, {same} of them word for word")


def write_adapter(model: LlamaForCausalLM, path: Path, base_path: Path) -> None:
    """Write the trained changes as an adapter of llama.cpp."""
    counts = base.heads(gguf.GGUFReader(base_path))
    names = {long: short for short, long in base.PARTS.items()}
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", SCALE * RANK)
    for name, value in trained(model).items():
        _, _, layer, *part, factor = name.split(".")
        short = names[".".join(part)]
        weight = value.detach().float().cpu().numpy()
        if factor == "b" and short in counts:
            weight = base.rows_as_llama(weight, counts[short])
        writer.add_tensor(f"blk.{layer}.{short}.weight.lora_{factor}", np.ascontiguousarray(weight.astype(np.float16)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--leave-out", nargs="*", default=[], help="writers that are measured and not learned from")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32, help="messages in a step")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--frozen", type=int, default=0, help="lowest layers that are not changed: a third less work at 10"
    )
    parser.add_argument("--limit", type=int, help="learn from so many messages only")
    parser.add_argument("--cache", type=Path, default=FOLDER / ".cache", help="folder of the base and of checkpoints")
    parser.add_argument("--checkpoint", type=Path, help="file of the checkpoint; by default in the cache")
    parser.add_argument("--write", type=Path, help="write the adapter into this file")
    options = parser.parse_args()
    base_path = base.fetch(options.cache)
    options.checkpoint = (
        options.checkpoint or options.cache / f"notes-without-{'-'.join(options.leave_out) or 'none'}.pt"
    )
    messages = [message for path in sorted((FOLDER / "messages").glob("*.jsonl")) for message in read(path)]
    held_back = [message for message in messages if message.writer in options.leave_out]
    learned = [message for message in messages if message.writer not in options.leave_out][: options.limit]
    torch.manual_seed(options.seed)
    tokens = base.tokenizer(base_path)
    model = with_low_rank(base.load(base_path), options.frozen)
    train(model, examples(learned, tokens), options)
    if options.write is not None:
        write_adapter(model, options.write, base_path)
    if held_back:
        report(model, held_back[: options.limit], tokens)


if __name__ == "__main__":
    main()
