"""Train the small model that says whether a message ends a statement, and measure it across writers.

    python benchmarks/train_changes.py --train a c --test b --seed 0 --head first.npz
    python benchmarks/train_changes.py --train b c --test a --seed 1 --head second.npz
    python benchmarks/train_changes.py --join first.npz second.npz --thresholds ENDS NEVER

Needs the extra ``language`` and JAX (``pip install jax``), which nothing else of this project uses. The first two
commands train one head each, on the scenes of one writer, the scenes of the author of this script (c) and the pairs
that the patterns give, and print how well it does on the scenes of the other writer. The third one writes both heads,
of which the one that doubts more decides, into ``src/worldthread/extract/parsed/ending_model.npz``. Half an hour on a
busy machine.

In ``benchmarks/language/training``, every line of ``changes_*.jsonl`` is a scene: what a speaker said before, what the
speaker says now, which of the former has ended and which was never so. Everything there was written for this project.
``benchmarks/language/*_development.toml`` and ``*_unseen.toml`` are not trained on.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from worldthread import Memory
from worldthread.extract.parsed.ending_model import (
    FLAGS,
    MESSAGE_TOKENS,
    STATEMENT_TOKENS,
    EncodedText,
    TokenEncoder,
    cut,
    shared,
)
from worldthread.extract.parsed.statement_texts import statement_text
from worldthread.models.fake import FakeEmbedder

FOLDER: Final = Path(__file__).parent / "language" / "training"
WEIGHTS: Final = Path(__file__).parents[1] / "src/worldthread/extract/parsed/ending_model.npz"
VERSION: Final = 1
WIDTH, ATTENTION_HEADS, INNER = 128, 4, 256
BATCH, EPOCHS, RATE, DROPOUT, DECAY, SMOOTHING = 64, 5, 2e-3, 0.15, 0.02, 0.06
LENGTHS: Final = (40, 96)  # tokens of a pair, padded to one of them
GROUPS: Final = 3000  # messages made from patterns


class Row(NamedTuple):
    """A statement, a later message, and what it says of the statement: 0 nothing, 1 it ends, 2 it was never so."""

    scene: str
    statement: str
    message: str
    label: int
    weight: float
    kind: str


# -- scenes -----------------------------------------------------------------------------------------------------------


def scene_facts(scene: dict[str, Any]) -> list[tuple[int, str]]:
    """Return the facts that the messages before state, as sentences, with the number of the message."""
    found: dict[Any, int] = {}
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        for number, text in enumerate(scene["before"]):
            at = datetime(2024, 4, 10, 10, tzinfo=UTC)
            memory.remember([{"role": scene["speaker"], "content": text}], at=at)
            for fact in memory.view().facts():
                found.setdefault(fact, number)
        held = set(memory.view().facts())
    return [(number, statement_text(fact, scene["speaker"])) for fact, number in found.items() if fact in held]


def scene_rows(writer: str, cross: int = 2) -> list[Row]:
    """Return the rows of a writer's scenes: every statement as said and as facts, and some of other scenes."""
    lines = (FOLDER / f"changes_{writer}.jsonl").read_text(encoding="utf-8").splitlines()
    scenes = [json.loads(line) for line in lines]
    rng = random.Random(0)
    everything = [(number, text) for number, scene in enumerate(scenes) for text in scene["before"]]
    rows = []
    for number, scene in enumerate(scenes):
        name, message = f"{writer}{number}", scene["now"]
        facts = scene_facts(scene)
        for place, text in enumerate(scene["before"]):
            label = 1 if place in scene["ended"] else 2 if place in scene["corrected"] else 0
            own = [fact for n, fact in facts if n == place]
            weight = 1 / (1 + len(own))
            rows += [Row(name, fact, message, label, weight, "fact") for fact in own]
            rows.append(Row(name, capital(text.rstrip(".")), message, label, weight, "said"))
        if scene["ended"] or scene["corrected"]:
            for other, text in rng.sample(everything, cross):
                if other != number:
                    rows.append(Row(name, capital(text.rstrip(".")), message, 0, 0.5, "other scene"))
    return rows


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# -- patterns ---------------------------------------------------------------------------------------------------------


@dataclass
class Kind:
    """The patterns of one kind of statement; see changes_patterns.txt."""

    name: str
    slots: dict[str, str]
    lines: dict[str, list[str]] = field(default_factory=dict)


NAMED: Final = frozenset(["flatmate", "partner", "marriage", "friend", "pet", "office"])
_RELATED_KINDS: Final = """
job role office|partner marriage single engaged friend flatmate|own car pet petkind search look instrument
study language|like hate consume hobby favourite smoke diet instrument medicine|hours closed price
event trip plan project|illness injury medicine state pregnant|home trip flatmate|pet petkind person
club hobby subscription instrument|smoke plan|own plan|name number email groupname|job study
reading subscription like|age number|person marriage
closed hobby|closed job|club job
"""
RELATED: Final = [set(names.split()) for names in _RELATED_KINDS.strip().replace("\n", "|").split("|")]
ONE_VALUE: Final = frozenset(["statepair", "pregnantword", "engagedword", "statusword", "vice", "diet"])
PARTICIPLES: Final = (
    "been|not|left|got|quit|moved|given|changed|come|had|gone|lost|grown|taken|swapped|replaced|stopped|cut|kicked|sworn|"
    "banned|found|retired|settled|relocated|turned|reached|dropped|retrained|rehomed|finished|recovered|become|abandoned|"
    "switched|fallen"
)


def related(one: str, other: str) -> bool:
    """Return whether a message about one kind may end a statement of another one."""
    return one == other or any(one in group and other in group for group in RELATED)


def read_patterns() -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    kind = None
    for line in (FOLDER / "changes_patterns.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("@"):
            _, name, *slots = line.split()
            kind = kinds[name] = Kind(name, dict(slot.split("=") for slot in slots))
        elif line and not line.startswith("#"):
            assert kind is not None
            kind.lines.setdefault(line[0], []).append(line[2:])
    return kinds


def person_forms(entry: str) -> dict[str, str]:
    """Return the words that agree with a person: "My sister:she"."""
    name, _, pronoun = entry.partition(":")
    if name in ("I", "We"):
        my, me, am, was, self = (
            ("my", "me", "am", "was", "myself") if name == "I" else ("our", "us", "are", "were", "ourselves")
        )
        he = "I" if name == "I" else "we"
        forms = {"have": "have", "do": "do", "s": "", "es": "", "my": my, "me": me, "he": he, "am": am, "was": was}
        forms |= {"self": self, "his": my}
    else:
        his, him = ("his", "him") if pronoun == "he" else ("her", "her")
        forms = {"have": "has", "do": "does", "s": "s", "es": "es", "my": his, "me": him, "he": pronoun, "am": "is"}
        forms |= {"was": "was", "his": his, "self": f"{him}self"}
    return {"I": name, **forms}


class Patterns:
    """Makes pairs from patterns and fillers."""

    def __init__(self) -> None:
        self.fillers: dict[str, list[str]] = tomllib.loads(
            (FOLDER / "changes_fillers.toml").read_text(encoding="utf-8")
        )
        self.kinds = read_patterns()
        self.persons = [person_forms(entry) for entry in self.fillers["persons"]]
        self.corrections = self.kinds["correction"]
        self.stating = [kind for name, kind in self.kinds.items() if name != "correction"]

    def rows(self, groups: int, seed: int) -> Iterator[Row]:
        """Yield the rows of a number of messages."""
        rng = random.Random(seed)
        pool: list[tuple[str, str]] = []
        for number in range(groups):
            message, statements = self._group(rng, pool)
            for statement, label in statements:
                yield Row(f"t{number}", statement, message, label, 1.0, "pattern")

    def _group(self, rng: random.Random, pool: list[tuple[str, str]]) -> tuple[str, list[tuple[str, int]]]:
        """Return a message with statements: one that it is about, and some that it must not touch."""
        kind, person = rng.choice(self.stating), rng.choice(self.persons)
        values = self._values(kind, rng)
        draw = rng.random()
        ends = [(code, line) for code in "EBR" for line in kind.lines.get(code, [])]
        if draw < 0.58:
            code, line = rng.choice(ends)
        elif draw < 0.9 or kind.slots.get("x") == "statepair":
            code, line = "N", rng.choice(kind.lines["N"])
        else:
            code = rng.choice("CCCM")
            line = rng.choice(self.corrections.lines[code])
            if "y" not in values or kind.name in ("pet", "office", "single", "engaged"):
                name = kind.slots["x"]
                many = len(self.fillers.get(name, [])) > 2
                values["y"] = rng.choice(self.fillers[name]) if many else "something else"
                if values["y"] == values["x"]:
                    values["y"] = "something else"
        message = self._dressed(self._filled(line, person, values, rng), rng)
        if rng.random() < 0.12:
            beside = f"{self._beside(kind, rng)}."
            end = "" if message[-1] in ".!" else "."
            message = f"{beside} {message}" if rng.random() < 0.5 else f"{message.rstrip()}{end} {beside}"
        label = {"E": 1, "B": 1, "R": 1, "N": 0, "C": 2, "M": 0}[code]
        statement = self._statement(kind, person, values, rng)
        if code == "C":
            for _ in range(8):
                if values["x"] in statement:
                    break
                statement = self._statement(kind, person, values, rng)
            else:
                label = 0 if "{x}" in line else 2
        found = [(statement, label)]
        if code in "EBR" and depends(line) and kind.name not in NAMED and rng.random() < 0.7:
            found += self._of_others(kind, person, values, message, rng)
        if code == "E" and "{x}" in line and rng.random() < 0.7 and kind.slots.get("x") not in ONE_VALUE:
            found += self._of_other_values(kind, person, values, rng)
        elif code in "BR" and rng.random() < 0.3 and kind.name not in (
            "pet", "hours", "price", "event", "closed", "favourite"
        ):  # fmt: skip
            others = self._values(kind, rng)
            if others.get("x") != values.get("y"):
                found.append((self._statement(kind, person, others, rng), 1))
        if pool and code in "EBRC":
            for _ in range(1 if rng.random() < 0.6 else 2):
                for _ in range(9):
                    name, text = rng.choice(pool)
                    if not related(name, kind.name):
                        found.append((text, 0))
                        break
        pool.append((kind.name, statement))
        return message, found

    def _of_others(
        self, kind: Kind, person: dict[str, str], values: dict[str, str], message: str, rng: random.Random
    ) -> list[tuple[str, int]]:
        """Return a statement of somebody else, which does not end."""
        all_depend = all(depends(line) for line in kind.lines["S"])
        for _ in range(6):
            text = self._statement(kind, self._somebody_else(person, rng), values, rng)
            if any(depends(line) for line in kind.lines["S"]):
                break
        is_clear = person["s"] != "s" or person["I"].lower() in message.lower()
        return [(text, 0)] if all_depend and is_clear else []

    def _of_other_values(
        self, kind: Kind, person: dict[str, str], values: dict[str, str], rng: random.Random
    ) -> list[tuple[str, int]]:
        """Return a statement of the same kind about something else, which does not end."""
        others = self._values(kind, rng)
        for _ in range(20):
            if (
                others["x"] != values["x"]
                and others["x"].split()[-1] != values["x"].split()[-1]
                and others["e"] != values["e"]
                and (kind.name != "office" or others["y"] != values["y"])
            ):
                if kind.name in ("flatmate", "event"):
                    return []
                return [(self._statement(kind, person, others, rng), 0)]
            others = self._values(kind, rng)
        return []

    def _somebody_else(self, person: dict[str, str], rng: random.Random) -> dict[str, str]:
        while True:
            other = rng.choice(self.persons)
            if other["I"] != person["I"] and {other["I"], person["I"]} != {"I", "We"}:
                return other

    def _values(self, kind: Kind, rng: random.Random) -> dict[str, str]:
        values: dict[str, str] = {}
        for slot in ("x", "y"):
            name = kind.slots.get(slot)
            if name == "nextage":
                values["y"] = str(int(values["x"]) + 1)
            elif name == "age":
                values["x"] = str(rng.randrange(3, 80))
            elif name:
                values[slot] = rng.choice(self.fillers[name])
        while values.get("y") is not None and values["y"] == values.get("x"):
            values["y"] = rng.choice(self.fillers[kind.slots["y"]])
        values["t"], values["e"] = rng.choice(self.fillers["t"]), rng.choice(self.fillers["e"])
        return values

    def _statement(self, kind: Kind, person: dict[str, str], values: dict[str, str], rng: random.Random) -> str:
        forms = {**person, "my": f"{person['I']}'s"} if person["s"] == "s" else person
        return capital(self._filled(rng.choice(kind.lines["S"]), forms, values, rng)) + "."

    def _beside(self, kind: Kind, rng: random.Random) -> str:
        while True:
            other = rng.choice(self.stating)
            if not related(kind.name, other.name) and other.lines.get("N"):
                break
        line = rng.choice(other.lines["N"])
        return capital(self._filled(line, self.persons[0], self._values(other, rng), rng))

    @staticmethod
    def _filled(line: str, person: dict[str, str], values: dict[str, str], rng: random.Random) -> str:
        """Return a pattern with its slots filled, in agreement with the person."""
        text = re.sub(r"\{I\} don't", "{I} {do}n't", line)
        text = re.sub(r"\{I\} haven't", "{I} {have}n't", text)
        text = re.sub(r"\{I\} no longer have\b(?!\{)", "{I} no longer {have}", text)
        text = text.replace("have{s0}", "{have}").replace("{have3}", "has").replace("do{es}", "{do}")
        if person["s"] == "s":
            text = re.sub(r"(\w+[^aeiou])y\{s\}", r"\1ies", text)
        words = {**person, **values}
        text = re.sub(r"\{(\w+)\}", lambda match: words[match[1]], text)
        text = re.sub(r"\ba(?= [aeiouAEIO]\w)", "an", text)
        text = re.sub(r"\b(?:an?|the|my|his|her|our) (?=(?:a|an|the) )", "", text)
        text = re.sub(r"\b(the|my|his|her|our|an?) (the|my) ", r"\1 ", text)
        text = re.sub(r"(?<=[a-z,;:] )(My|We)\b", lambda match: match[0].lower(), text)
        if rng.random() < 0.7:
            text = re.sub(r"\bWe are\b", "We're", re.sub(r"\bI am\b", "I'm", text))
        if rng.random() < 0.6:
            text = re.sub(rf"\bI have (?=(?:{PARTICIPLES})\b)", "I've ", text)
        if rng.random() < 0.3:
            text = re.sub(r"\b(it|that|he|she|who) is\b", r"\1's", text)
        return text

    def _dressed(self, text: str, rng: random.Random) -> str:
        """Return a message with an opening, a time and an end, as people write."""
        if rng.random() < 0.45:
            is_name = re.match(r"I\b|I'|[A-Z]\w+ ", text) and not re.match(r"(My|We|Our|The)\b", text)
            text = rng.choice(self.fillers["openings"]) + (text if is_name else text[:1].lower() + text[1:])
        if rng.random() < 0.3 and not re.search(r"today|yesterday|last|Monday|now|this|week|month|years|,", text):
            text += rng.choice(self.fillers["closings"])
        text = capital(text) + rng.choice([".", ".", ".", "!", ""])
        return text.lower() if rng.random() < 0.2 else text


def depends(line: str) -> bool:
    """Return whether a pattern says whom it is about."""
    return re.search(r"\{(I|my|me|he)\}", line) is not None


# -- the head ---------------------------------------------------------------------------------------------------------


class Example(NamedTuple):
    """A row as the head reads it."""

    statement: EncodedText
    message: EncodedText
    flags: Any
    label: int
    weight: float


def examples_of(rows: list[Row], encoder: TokenEncoder, kept: dict[str, EncodedText]) -> list[Example]:
    found = []
    for row in rows:
        for text in (row.statement, row.message):
            if text not in kept:
                encoded = encoder.encode(text)
                kept[text] = encoded._replace(vectors=encoded.vectors.astype(np.float16))
        held, said = cut(kept[row.statement], STATEMENT_TOKENS), cut(kept[row.message], MESSAGE_TOKENS)
        found.append(Example(held, said, shared(held, said), row.label, row.weight))
    return found


def length_of(example: Example) -> int:
    tokens = 1 + len(example.statement.pieces) + len(example.message.pieces)
    return next(length for length in LENGTHS if tokens <= length)


def padded(examples: list[Example], length: int) -> tuple[Any, ...]:
    """Return vectors, parts, flags, mask, labels and weights of some examples."""
    count = len(examples)
    vectors, flags = np.zeros((count, length, 384), np.float32), np.zeros((count, length, FLAGS), np.float32)
    parts, mask = np.zeros((count, length), np.int32), np.zeros((count, length), np.float32)
    for row, example in enumerate(examples):
        held, end = 1 + len(example.statement.pieces), 1 + len(example.flags)
        vectors[row, 1:held], vectors[row, held:end] = example.statement.vectors, example.message.vectors
        parts[row, held:], flags[row, 1:end], mask[row, :end] = 1, example.flags, 1
    labels = np.array([example.label for example in examples])
    return vectors, parts, flags, mask, labels, np.array([example.weight for example in examples], np.float32)


def new_head(seed: int) -> dict[str, Any]:
    """Return random weights, by the names of ``ending_model``."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> Any:
        return rng.normal(0, 1 / np.sqrt(shape[0]), shape).astype(np.float32)

    def zeros(size: int) -> Any:
        return np.zeros(size, np.float32)

    def ones(size: int) -> Any:
        return np.ones(size, np.float32)

    head = {"wp": normal(384, WIDTH), "bp": zeros(WIDTH), "seg": normal(2, WIDTH) * 0.3}
    head |= {"fl": normal(FLAGS, WIDTH) * 0.5, "cls": normal(1, WIDTH) * 0.3}
    layer = {"qkv": normal(WIDTH, 3 * WIDTH), "bqkv": zeros(3 * WIDTH), "o": normal(WIDTH, WIDTH) * 0.5}
    layer |= {"bo": zeros(WIDTH), "w1": normal(WIDTH, INNER), "b1": zeros(INNER), "w2": normal(INNER, WIDTH) * 0.5}
    layer |= {"b2": zeros(WIDTH), "g1": ones(WIDTH), "h1": zeros(WIDTH), "g2": ones(WIDTH), "h2": zeros(WIDTH)}
    head |= {f"L0.{name}": array for name, array in layer.items()}
    out = {"w1": normal(3 * WIDTH, WIDTH), "b1": zeros(WIDTH), "w2": normal(WIDTH, 3) * 0.5, "b2": zeros(3)}
    return head | {f"out.{name}": array for name, array in out.items()}


def scores(p: dict[str, Any], vectors: Any, parts: Any, flags: Any, mask: Any, key: Any = None) -> Any:
    """Return the scores of the three answers; with a key, some values are dropped at random."""
    import jax
    import jax.numpy as jnp

    def dropped(x: Any, number: int) -> Any:
        if key is None:
            return x
        kept = jax.random.bernoulli(jax.random.fold_in(key, number), 1 - DROPOUT, x.shape)
        return jnp.where(kept, x / (1 - DROPOUT), 0)

    def normalised(x: Any, gain: Any, shift: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * gain + shift

    x = vectors @ p["wp"] + p["bp"] + p["seg"][parts] + flags @ p["fl"]
    x = dropped(x.at[:, 0].set(p["cls"][0]), 0)
    count, length, _ = x.shape
    size = WIDTH // ATTENTION_HEADS
    q, k, v = (
        part.reshape(count, length, ATTENTION_HEADS, size).transpose(0, 2, 1, 3)
        for part in jnp.split(normalised(x, p["L0.g1"], p["L0.h1"]) @ p["L0.qkv"] + p["L0.bqkv"], 3, -1)
    )
    seen = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) / np.sqrt(size) + (1 - mask)[:, None, None, :] * -1e9, -1) @ v
    x = x + dropped(seen.transpose(0, 2, 1, 3).reshape(count, length, WIDTH) @ p["L0.o"] + p["L0.bo"], 1)
    inner = jax.nn.relu(normalised(x, p["L0.g2"], p["L0.h2"]) @ p["L0.w1"] + p["L0.b1"])
    x = x + dropped(inner @ p["L0.w2"] + p["L0.b2"], 2)
    held, said = (mask * (parts == 0)).at[:, 0].set(0), mask * (parts == 1)
    means = [(x * part[..., None]).sum(1) / part.sum(1, keepdims=True) for part in (held, said)]
    features = dropped(jnp.concatenate([x[:, 0], *means], -1), 50)
    return jax.nn.relu(features @ p["out.w1"] + p["out.b1"]) @ p["out.w2"] + p["out.b2"]


def train(examples: list[Example], seed: int) -> dict[str, Any]:
    """Return the weights of a head, trained with AdamW."""
    import jax
    import jax.numpy as jnp

    def loss(p: Any, vectors: Any, parts: Any, flags: Any, mask: Any, labels: Any, weights: Any, key: Any) -> Any:
        logs = jax.nn.log_softmax(scores(p, vectors, parts, flags, mask, key))
        wanted = jax.nn.one_hot(labels, 3) * (1 - SMOOTHING) + SMOOTHING / 3
        return -((logs * wanted).sum(-1) * weights).sum() / weights.sum()

    @jax.jit  # type: ignore[untyped-decorator]
    def step(p: Any, first: Any, second: Any, number: Any, rate: Any, *batch: Any) -> Any:
        value, slope = jax.value_and_grad(loss)(p, *batch)
        norm = jnp.sqrt(sum((one**2).sum() for one in jax.tree.leaves(slope)))
        slope = jax.tree.map(lambda one: one * jnp.minimum(1, 1 / norm), slope)
        first = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, first, slope)
        second = jax.tree.map(lambda a, b: 0.98 * a + 0.02 * b * b, second, slope)

        def moved(weight: Any, a: Any, b: Any) -> Any:
            towards = (a / (1 - 0.9**number)) / (jnp.sqrt(b / (1 - 0.98**number)) + 1e-8)
            return weight - rate * (towards + DECAY * weight * (weight.ndim > 1))

        return jax.tree.map(moved, p, first, second), first, second, value

    rng = np.random.default_rng(seed)
    p = jax.tree.map(jnp.asarray, new_head(seed))
    first, second = (jax.tree.map(jnp.zeros_like, p) for _ in range(2))
    by_length: dict[int, list[Example]] = {}
    for example in examples:
        by_length.setdefault(length_of(example), []).append(example)
    steps = EPOCHS * sum(-(-len(some) // BATCH) for some in by_length.values())
    key, number = jax.random.PRNGKey(seed), 0
    for epoch in range(EPOCHS):
        batches = []
        for length, some in by_length.items():
            order = rng.permutation(len(some))
            order = np.concatenate([order, order[: -len(order) % BATCH]])
            batches += [(length, order[start : start + BATCH]) for start in range(0, len(order), BATCH)]
        losses = []
        for place in rng.permutation(len(batches)):
            length, order = batches[place]
            number += 1
            rate = RATE * min(1, number / 60) * max(0.02, 1 - number / steps)
            batch = padded([by_length[length][i] for i in order], length)
            p, first, second, value = step(
                p, first, second, float(number), rate, *batch, jax.random.fold_in(key, number)
            )
            losses.append(float(value))
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {np.mean(losses):.3f}", flush=True)
    return {name: np.asarray(array) for name, array in p.items()}


def answers(p: dict[str, Any], examples: list[Example]) -> Any:
    """Return the probabilities of the three answers for each example."""
    import jax

    read = jax.jit(lambda p, *batch: jax.nn.softmax(scores(p, *batch)))
    found = np.zeros((len(examples), 3))
    for length in LENGTHS:
        places = [i for i, example in enumerate(examples) if length_of(example) == length]
        for start in range(0, len(places), BATCH):
            some = places[start : start + BATCH]
            filled = some + some[:1] * (BATCH - len(some))
            batch = padded([examples[i] for i in filled], length)
            found[some] = np.asarray(read(p, *batch[:4]))[: len(some)]
    return found


def gate(rows: list[Row], encoder: TokenEncoder) -> dict[str, Any]:
    """Return a linear test of a message alone: does it change anything? Ridge regression on its mean vector."""
    messages: dict[str, bool] = {}
    for row in rows:
        messages[row.message] = messages.get(row.message, False) or row.label > 0
    x = np.array([encoder.encode(message).vectors.mean(axis=0) / 8 for message in messages])
    y = np.array([1.0 if changes else -1.0 for changes in messages.values()])
    inputs = np.hstack([x, np.ones((len(x), 1))])
    solved = np.linalg.solve(inputs.T @ inputs + 1.0 * np.eye(inputs.shape[1]), inputs.T @ y)
    found = inputs @ solved
    threshold = np.quantile(found[y > 0], 0.1)
    print(f"gate: keeps 90 % of the messages that change something, {(found[y < 0] >= threshold).mean():.0%} of others")
    return {"gate.w": solved[:-1], "gate.b": solved[-1], "gate.threshold": threshold}


def report(p: dict[str, Any], writer: str, encoder: TokenEncoder, kept: dict[str, EncodedText]) -> None:
    """Print how many statements of a writer are found to end at thresholds that end few others wrongly."""
    for kind in ("fact", "said"):
        rows = [row for row in scene_rows(writer) if row.kind == kind]
        found = answers(p, examples_of(rows, encoder, kept))
        labels = np.array([row.label for row in rows])
        sure = 1 - found[:, 0]
        others = np.sort(sure[labels == 0])[::-1]
        area = (sure[labels > 0][:, None] > others[None]).mean()
        print(f"writer {writer}, {kind}: {len(others)} hold on, {(labels > 0).sum()} end; AUC {area:.3f}")
        for share in (0.0, 0.01, 0.02, 0.05):
            limit = others[int(len(others) * share)]
            print(
                f"  {share:.0%} of the others ended: {(sure[labels > 0] > limit).mean():.0%} found, above {limit:.3f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", nargs="+", choices="abcdef", default=[], help="whose scenes are learned from")
    parser.add_argument("--test", nargs="*", choices="abcdef", default=[], help="whose scenes are judged")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--head", type=Path, help="where the head is written")
    parser.add_argument("--join", nargs="+", type=Path, help="heads to write into the package")
    parser.add_argument("--thresholds", nargs=2, type=float, metavar=("ENDS", "NEVER"), help="with --join")
    options = parser.parse_args()
    if bool(options.join) == bool(options.train) or (options.join and not options.thresholds):
        sys.exit("give --train WRITER ... or --join HEAD ... --thresholds ENDS NEVER")
    encoder, kept = TokenEncoder(), dict[str, EncodedText]()
    if options.train:
        rows = [row for writer in options.train for row in scene_rows(writer)]
        rows += Patterns().rows(GROUPS, 1)
        print(f"{len(rows)} pairs")
        head = train(examples_of(rows, encoder, kept), options.seed)
        if options.head:
            np.savez(options.head, **head)
        for writer in options.test:
            report(head, writer, encoder, kept)
        return
    rows = [row for writer in "abc" for row in scene_rows(writer)] + list(Patterns().rows(GROUPS, 1))
    arrays = {name: np.asarray(array, np.float32) for name, array in gate(rows, encoder).items()}
    arrays |= {"version": np.array(VERSION), "heads": np.array(len(options.join))}
    arrays["thresholds"] = np.array(options.thresholds, np.float32)
    for number, path in enumerate(options.join):
        with np.load(path, allow_pickle=False) as head_arrays:
            arrays |= {f"h{number}.{name}": head_arrays[name].astype(np.float16) for name in head_arrays.files}
    np.savez_compressed(WEIGHTS, allow_pickle=False, **arrays)
    print(f"{WEIGHTS}: {WEIGHTS.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
