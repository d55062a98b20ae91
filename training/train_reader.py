"""Train the reader that points: where objects begin, and what event each belongs to; and what messages end.

    python training/train_reader.py --checkpoint reader.pt --write FOLDER

An epoch takes half an hour on two cores. A stopped training goes on from its checkpoint. ``--start`` begins with the
weights of an earlier one.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch
from base import encoder_of, fetch
from joined_notes import joined_notes
from measure_reader import measure, outcomes, report
from messages import Labelled, read
from network import JUDGEMENTS, Item, Reader, batch_of, item_of, losses
from plain_changes import KIN, plain_pairs
from plain_statements import plain_statements, value_pairs
from spans import frames_of
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional
from write_reader import weights_of, write

from worldthread.extract.reader.extractor import ReaderExtractor
from worldthread.extract.reader.model import Tokens
from worldthread.extract.reader.pieces import OUTCOMES, paired
from worldthread.extract.reader.relations import RelationWords
from worldthread.models.minilm import TOKENIZER_PATH

HERE: Final = Path(__file__).parent
SHOWN: Final = 50  # steps between two lines of the log
SAVED: Final = 200
MEASURED: Final = 600
KNOWN: Final = 0.35  # how sure the reader must be of a fact that was known before
JUDGED: Final = ("judged_facts.jsonl", "compared_events.jsonl")


def messages(folder: Path, left_out: Sequence[str]) -> tuple[list[Labelled], list[Labelled]]:
    """Return the labelled messages, and those of the writers left out."""
    told: list[Labelled] = []
    left: list[Labelled] = []
    for path in sorted(folder.glob("*.jsonl")):
        (left if path.stem in left_out else told).extend(read(path))
    return told, left


def facts_before(folder: Path, cache: Path) -> dict[str, tuple[str, ...]]:
    """Return the facts that the reader of the package takes from what was said before in the scenes of changes.

    They are kept in the cache: reading all takes some minutes.
    """
    path = cache / "facts_before.json"
    found: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known, reads = len(found), ReaderExtractor(least=KNOWN)
    for scenes in sorted(folder.glob("changes_*.jsonl")):
        for line in scenes.read_text(encoding="utf-8").splitlines():
            scene = json.loads(line)
            for said in scene["before"]:
                key = f"{scene['speaker']}: {said}"
                if key not in found:
                    found[key] = [
                        f"{event.subject} {event.relation} {event.object}"
                        for event in reads.events(said, scene["speaker"])
                        if event.confidence >= KNOWN and event.kind in ("state", "begins", "planned")
                    ]
    if len(found) > known:
        path.write_text(json.dumps(found), encoding="utf-8")
    return {said: tuple(facts) for said, facts in found.items()}


def ending_of(fact: str, speaker: str, message: str, outcome: str, tokens_of: Tokens) -> Iterator[Item]:
    """Yield a fact beside a message with its outcome; nothing where they are too long."""
    piece = paired(fact, speaker, message)
    if piece is not None:
        yield item_of(tokens_of, piece, [], "ending", OUTCOMES.index(outcome))


def endings(
    folder: Path,
    left_out: str,
    tokens_of: Tokens,
    order: random.Random,
    known: Mapping[str, Sequence[str]],
    *,
    only_left: bool = False,
) -> Iterator[Item]:
    """Yield what was known before beside what is said now, each with its outcome, from the scenes of changes.

    What was known are the facts that were read of what was said before; that itself, where none was.
    """
    for path in sorted(folder.glob("changes_*.jsonl")):
        if (path.stem == f"changes_{left_out}") != only_left:
            continue
        scenes = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        said = [statement for scene in scenes for statement in scene["before"]]
        for scene in scenes:
            strange = [] if only_left else [(-1, order.choice(said))] * order.choice((0, 1))
            for number, statement in [*enumerate(scene["before"]), *strange]:
                ended, never = number in scene["ended"], number in scene["corrected"]
                facts = known.get(f"{scene['speaker']}: {statement}") or (statement,)
                if len(facts) > 1 and (ended or never):
                    continue  # which of them is over is not told
                for fact in facts:
                    outcome = "ended" if ended else "never" if never else "goes on"
                    yield from ending_of(fact, scene["speaker"], scene["now"], outcome, tokens_of)


def unconcerned(told: Sequence[Labelled], count: int, tokens_of: Tokens, order: random.Random) -> Iterator[Item]:
    """Yield states that people told beside messages with a word in common that say of nothing that it is over.

    In real talk nearly every message leaves what was told before as it is.
    """
    facts: dict[str, list[tuple[str, str]]] = {}
    for message in told:
        for kind, subject, *rest in (event.split(" | ") for event in message.events):
            if kind == "state":
                whose = "" if subject == message.speaker else subject.removeprefix(message.speaker)
                for word in set(re.findall(r"\w{4,}", f"{whose} {rest[1]}".lower())):
                    facts.setdefault(word, []).append((whose, f"{rest[0]} {rest[1]}"))
    quiet = [one for one in told if not any(event.startswith(("ends", "never", "begins")) for event in one.events)]
    for message in order.sample(quiet, min(count, len(quiet))):
        known = [fact for word in set(re.findall(r"\w{4,}", message.text.lower())) for fact in facts.get(word, ())]
        if known:
            whose, fact = order.choice(known)
            subject = whose if whose and not whose.startswith("'s ") else f"{message.speaker}{whose}"
            yield from ending_of(f"{subject} {fact}", message.speaker, message.text, "goes on", tokens_of)


def plain_endings(folder: Path, count: int, seed: int, tokens_of: Tokens) -> Iterator[Item]:
    """Yield plain facts beside plain messages, each with its outcome."""
    changes = plain_pairs(folder / "plain_changes.toml", count, seed)
    values = value_pairs(folder / "plain_statements.toml", count // 2, seed)
    for pair in (*changes, *values):
        yield from ending_of(*pair, tokens_of)


def stated_endings(told: Sequence[Labelled], tokens_of: Tokens, order: random.Random) -> Iterator[Item]:
    """Yield what labelled messages say is over, beside the message; and the same of somebody else, which goes on."""
    for message in told:
        for kind, subject, *rest in (event.split(" | ") for event in message.events):
            if kind not in ("ends", "never"):
                continue
            me = message.speaker
            other = f"{me}'s {order.choice(KIN)}" if subject == me else me
            for whose, outcome in ((subject, "ended" if kind == "ends" else "never"), (other, "goes on")):
                yield from ending_of(f"{whose} {rest[0]} {rest[1]}", me, message.text, outcome, tokens_of)


def judgement_of(fact: str, speaker: str, text: str, label: str, tokens_of: Tokens) -> Iterator[Item]:
    """Yield a fact beside its text with what a reader called it; nothing where they are too long."""
    piece = paired(fact, speaker, text)
    if piece is not None:
        yield item_of(tokens_of, piece, [], "judge", JUDGEMENTS.index(label))


def plain_notes(path: Path, count: int, seed: int, tokens_of: Tokens) -> Iterator[Item]:
    """Yield plain sentences with their frames, and beside each what it states or seems to state."""
    for message, fact, is_right in plain_statements(path, count, seed):
        for piece, frames in frames_of(message):
            yield item_of(tokens_of, piece, frames)
        yield from judgement_of(fact, message.speaker, message.text, "r" if is_right else "w", tokens_of)


def notes_of_several(path: Path, told: Sequence[Labelled], count: int, seed: int, tokens_of: Tokens) -> Iterator[Item]:
    """Yield notes of several sentences with their frames, and facts of theirs with the right or a wrong subject."""
    for piece, frames, pairs in joined_notes(path, told, count, seed):
        yield item_of(tokens_of, piece, frames)
        for fact, is_right in pairs:
            yield from judgement_of(fact, piece.speaker, piece.text, "r" if is_right else "w", tokens_of)


def judgements(path: Path, tokens_of: Tokens) -> Iterator[Item]:
    """Yield facts beside their texts, each with what a reader called it."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["label"] in JUDGEMENTS:
            yield from judgement_of(row["fact"], row["speaker"] or "user", row["text"], row["label"], tokens_of)


def batches(items: Sequence[Item], tokens: int, order: random.Random) -> Iterator[list[Item]]:
    """Yield batches of items of one task and of like length, in random order."""
    made: list[list[Item]] = []
    for task in sorted({item.task for item in items}):
        made.append([])
        of_task = (item for item in items if item.task == task)
        for item in sorted(of_task, key=lambda one: len(one.tokens) + order.random() * 8):
            if made[-1] and (len(made[-1]) + 1) * len(item.tokens) > tokens:
                made.append([])
            made[-1].append(item)
    order.shuffle(made)
    yield from made


def mean_states(encoder: nn.Module, tokenizer: Tokenizer, texts: Sequence[str]) -> Tensor:
    """Return a vector of each text, of length 1 and with the mean of all taken away: relations begin with these."""
    ids = [tokenizer.encode(text or "none").ids for text in texts]
    wide = max(map(len, ids))
    padded = torch.tensor([[*row, *[0] * (wide - len(row))] for row in ids])
    mask = (padded > 0).long()
    with torch.no_grad():
        hidden = encoder(input_ids=padded, attention_mask=mask).last_hidden_state
    means = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    return functional.normalize(means - means.mean(0), dim=1)


class Training:
    """A training with its plan, which is the same whenever it goes on."""

    def __init__(self, reader: Reader, items: Sequence[Item], options: argparse.Namespace) -> None:
        self.reader, self._items, self._options = reader, items, options
        encoder = reader.encoder
        for part in (encoder.embeddings, *encoder.encoder.layer[: options.frozen]):
            part.requires_grad_(False)
        inner = {id(parameter) for parameter in encoder.parameters()}
        groups = [
            {"params": [one for one in encoder.parameters() if one.requires_grad], "lr": options.rate},
            {"params": [one for one in reader.parameters() if id(one) not in inner], "lr": 5 * options.rate},
        ]
        self._optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
        self._plan = [len(self._epoch(number)) for number in range(options.epochs)]
        self.total = min(sum(self._plan), options.steps or sum(self._plan))
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._optimizer, lambda step: min((step + 1) / 200, max(0.02, 1 - step / self.total))
        )
        self.step = 0

    def _epoch(self, number: int) -> list[list[Item]]:
        chance = random.Random(self._options.seed * 1000 + number)
        shares = {"notes": self._options.quiet, "ending": self._options.pairs, "judge": self._options.pairs}
        taken = [item for item in self._items if item.frames or chance.random() < shares[item.task]]
        return list(batches(taken, self._options.tokens, chance))

    def state(self) -> dict[str, Any]:
        return {
            "reader": self.reader.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
            "step": self.step,
        }

    def load(self, state: dict[str, Any]) -> None:
        self.reader.load_state_dict(state["reader"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._schedule.load_state_dict(state["schedule"])
        self.step = state["step"]

    def run(self, relations: Sequence[str]) -> Iterator[dict[str, float]]:
        """Take the steps that are left, and yield the losses of each."""
        indices = {relation: number for number, relation in enumerate(relations) if number}
        said = RelationWords(relations)
        first = 0
        for number, size in enumerate(self._plan):
            if self.step < first + size:
                for items in self._epoch(number)[self.step - first :]:
                    if self.step >= self.total:
                        return
                    self.reader.train()
                    with torch.autocast("cpu", torch.bfloat16, enabled=self._options.half):
                        parts = losses(self.reader, batch_of(items, indices, said))
                    self._optimizer.zero_grad()
                    sum(parts.values(), torch.tensor(0.0)).backward()
                    nn.utils.clip_grad_norm_(self.reader.parameters(), 1.0)
                    self._optimizer.step()
                    self._schedule.step()
                    self.step += 1
                    yield {name: float(part.detach()) for name, part in parts.items()}
            first += size


def parsed_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path("build/training"), help="where the base is kept")
    parser.add_argument("--messages", type=Path, default=HERE / "messages")
    parser.add_argument("--folder", type=Path, default=HERE / "pairs", help="where changes and judged facts are")
    parser.add_argument("--leave-out", default="c", help="writers who are only measured, by their files' names")
    parser.add_argument("--changes-left-out", default="l", help="the writer of changes who is only measured")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=1600, help="tokens of a step, padding counted")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--frozen", type=int, default=4, help="lowest layers that are left as they are")
    parser.add_argument("--quiet", type=float, default=0.7, help="share of the messages without events in an epoch")
    parser.add_argument("--pairs", type=float, default=0.0, help="share of the pairs in an epoch")
    parser.add_argument(
        "--plain",
        type=int,
        default=8000,
        help="how many plain sentences, and pairs of a plain fact and a message, to make",
    )
    parser.add_argument("--steps", type=int, help="stop after so many steps, for a try")
    parser.add_argument(
        "--start",
        type=Path,
        help="a checkpoint, or the folder of a written reader, whose weights are taken to begin with",
    )
    parser.add_argument("--checkpoint", type=Path, help="is written, and gone on from")
    parser.add_argument("--write", type=Path, help="a folder for the model that the package reads")
    parser.add_argument(
        "--half", action="store_true", help="multiply in sixteen bits: twice as fast where the processor has bfloat16"
    )
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    options = parsed_options()
    torch.manual_seed(options.seed)
    order = random.Random(options.seed)
    tokenizer = Tokenizer.from_file(str(TOKENIZER_PATH))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokens_of = Tokens(tokenizer)
    told, left = messages(options.messages, options.leave_out.split(","))
    items = [item_of(tokens_of, piece, frames) for message in told for piece, frames in frames_of(message)]
    known = facts_before(options.folder, options.cache) if options.pairs else {}
    pairs = list(endings(options.folder, options.changes_left_out, tokens_of, order, known)) if options.pairs else []
    if options.pairs:
        pairs += plain_endings(options.folder, options.plain, options.seed, tokens_of)
        items += plain_notes(options.folder / "plain_statements.toml", options.plain, options.seed, tokens_of)
        items += notes_of_several(
            options.folder / "plain_statements.toml", told, options.plain // 2, options.seed, tokens_of
        )
        pairs += unconcerned(told, options.plain, tokens_of, order)
        pairs += stated_endings(told, tokens_of, order)
    judged = [item for path in JUDGED if options.pairs for item in judgements(options.folder / path, tokens_of)]
    counts = Counter(frame.relation for item in items for frame in item.frames)
    relations = ["", *sorted(relation for relation, count in counts.items() if count > 1)]
    start = None
    if options.start is not None and options.start.is_dir():
        state, relations_before = weights_of(options.start)
        start = {"reader": state, "relations": relations_before}
    elif options.start is not None:
        start = torch.load(options.start)
    if start is not None:
        relations = list(dict.fromkeys([*start["relations"], *relations]))
    encoder = encoder_of(fetch(options.cache))
    reader = Reader(encoder, mean_states(encoder, tokenizer, relations))
    if start is not None:
        state, count = start["reader"], len(start["relations"])
        for name in ("relations", "relation_bias"):  # relations that are new begin as they would without a start
            state[name] = torch.cat([state[name], reader.get_parameter(name).detach()[count:]])
        reader.load_state_dict(state, strict=False)
    training = Training(reader, [*items, *pairs, *judged], options)
    if options.checkpoint and options.checkpoint.exists():
        training.load(torch.load(options.checkpoint))
    frames = sum(len(item.frames) for item in items)
    print(f"{len(items)} pieces, {frames} frames, {len(relations)} relations, {len(pairs)} pairs, {len(judged)} judged")
    measured = order.sample(left, min(500, len(left)))

    def log_measures(messages: Sequence[Labelled]) -> None:
        print("left out:", report(measure(reader, tokens_of, messages, relations), messages), flush=True)
        if options.pairs:
            of_left = list(endings(options.folder, options.changes_left_out, tokens_of, order, known, only_left=True))
            print("endings left out:", outcomes(reader, of_left), flush=True)

    begun, sums = time.monotonic(), Counter[str]()
    tasks, first = Counter[str](), training.step
    for parts in training.run(relations):
        sums.update(parts)
        tasks.update(parts.keys())
        if training.step % SHOWN == 0:
            means = " ".join(f"{name} {value / tasks[name]:.3f}" for name, value in sums.items())
            pace = (time.monotonic() - begun) / (training.step - first)
            print(f"{training.step}/{training.total} {pace:.2f} s a step  {means}", flush=True)
            sums.clear()
            tasks.clear()
        if options.checkpoint and (training.step % SAVED == 0 or training.step == training.total):
            part = options.checkpoint.with_suffix(".part")
            torch.save(training.state() | {"relations": relations}, part)
            part.replace(options.checkpoint)
        if training.step % MEASURED == 0:
            log_measures(measured)
    log_measures(left)
    if options.write:
        write(options.write, reader, relations)


if __name__ == "__main__":
    main()
