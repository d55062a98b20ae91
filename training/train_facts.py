"""Train the model that says how probable it is that a fact taken from a message is right.

    python training/train_facts.py [--candidates FILE] [--write]

Reads the texts and labels in training/rules (facts_*; who wrote them says the README there) and
the development half of the everyday sentences and changes, which are right unless the labels say otherwise. The
extractor runs over all of them without the model, every fact that has a label gives a row of features, and a logistic
regression with a penalty on the squares of the weights is fitted with numpy. Prints, by conversation left out, how
many facts are right at each threshold; --write puts the weights into the package. --candidates keeps the rows in a
file, and reads them from it when it exists: running the parser is what takes time.

Labels: r right, v vague or cut, w wrong, as docs/results.md defines them. Each fact was read with its sentence.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from worldthread.extract.parsed import extractor as reading_module
from worldthread.extract.parsed import probable
from worldthread.extract.parsed.fact_features import Reading, features_of, with_combinations
from worldthread.extract.parsed.facts import LocatedFact

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
import bench_language

FOLDER = Path(__file__).parent / "rules"
WEIGHTS = Path(probable.__file__).parent / probable.WEIGHTS
AT = datetime(2024, 6, 5, 10, tzinfo=UTC)  # of conversations that bring no time
PENALTY = 10.0  # on the squares of the weights
FOLDS = 6
EVERYDAY = 0.3  # weight of an everyday sentence: they are many, and nearly all are right
LEAST = 4  # rows that a feature must have
THRESHOLD = 0.7
THRESHOLD_WITH_ASPECT = 0.5
THRESHOLD_ALONE = 0.1


@dataclass(frozen=True)
class Message:
    """A message with its conversation."""

    conversation: str
    speaker: str
    text: str
    at: float


@dataclass(frozen=True)
class Row:
    """A fact as it is shown to who labels it, and its features."""

    conv: str
    sentence: str
    fact: str
    interval: str
    features: dict[str, float]


def chats() -> Iterator[Message]:
    """Yield the messages that were written for training."""
    for path in sorted(FOLDER.glob("facts_chat_*.txt")):
        conversation = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            speaker, _, text = line.partition(": ")
            if line.startswith("# "):
                conversation = line[2:]
            elif text:
                yield Message(conversation, speaker, text, AT.timestamp())
    for path in sorted(FOLDER.glob("facts_chat_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            at = datetime.fromisoformat(row["time"]).replace(tzinfo=UTC).timestamp()
            conversation = f"{path.stem.removeprefix('facts_')}-{row['conversation']}"
            yield Message(conversation, row["speaker"], row["text"], at)


def everyday() -> Iterator[Message]:
    """Yield the development half of the everyday sentences and of what is said before and after changes."""
    at = bench_language.FIRST.timestamp()
    for name in ("everyday", "everyday_second", "everyday_third"):
        for number, (sentence, *_) in enumerate(bench_language.read(name, "development")["sentences"]):
            yield Message(f"{name}-{number % 7}", "user", sentence, at)
    for name in ("changes", "changes_own"):
        data = bench_language.read(name, "development")
        for kind in ("changes", "look_alikes", "corrections"):
            for number, (before, later, *_) in enumerate(data[kind]):
                for sentence in [before] if isinstance(before, str) else before:
                    yield Message(f"{name}-{number % 7}", "user", sentence, at)
                yield Message(f"{name}-{number % 7}", "user", later, at + 86400)
    data = bench_language.read("changes_third", "development")
    for number, (_, speaker, before, later, *_) in enumerate(data["changes"]):
        for sentence in [*([before] if isinstance(before, str) else before), later]:
            yield Message(f"third-{number % 7}", speaker, sentence, at)
    for name, dates in (("dates-0", bench_language.read("dates", "development")["dates"]), ("dates-1", data["dates"])):
        for time, sentence, *_ in dates:
            yield Message(name, "user", sentence, datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp())


def day(time: float | None) -> str:
    return "" if time is None else f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d}"


def rows_of(messages: Iterator[Message]) -> list[Row]:
    """Return the facts that the rules take from messages, before any is left out for its probability."""
    rows: list[Row] = []
    conversation = ""

    def keep(readings: list[Reading]) -> tuple[LocatedFact, ...]:
        for one in readings:
            fact = one.stated.fact
            shown = f"{fact.subject} | {fact.relation} | {fact.object}"
            interval = f"{day(fact.valid_from)}..{day(fact.valid_to)}"
            rows.append(Row(conversation, one.doc.text, shown, interval, features_of(one)))
        return tuple(one.stated for one in readings)

    before = reading_module.probable_facts
    reading_module.probable_facts = keep  # type: ignore[assignment]
    try:
        reader = reading_module.ParsedExtractor()
        for message in messages:
            conversation = message.conversation
            reader.extract(f"{message.speaker}: {message.text}", message.speaker, message.at)
    finally:
        reading_module.probable_facts = before  # type: ignore[assignment]
    return rows


def fitted(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weights of a logistic regression, the bias last, by Newton's method."""
    x = np.hstack([x, np.ones((len(x), 1))])
    penalty = np.full(x.shape[1], PENALTY)
    penalty[-1] = PENALTY  # the bias too: most rows are right in some of the texts only
    theta = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(x @ theta, -30, 30)))
        gradient = x.T @ (weight * (p - y)) + penalty * theta
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        theta -= step
        if np.abs(step).max() < 1e-7:
            break
    return theta


def predicted(x: np.ndarray, theta: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(x @ theta[:-1] + theta[-1], -30, 30)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=Path, help="file to keep the rows in")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    if options.candidates is not None and options.candidates.exists():
        kept = [json.loads(line) for line in options.candidates.read_text(encoding="utf-8").splitlines()]
        rows = [Row(**{**row, "features": with_combinations(row["features"])}) for row in kept]
    else:
        rows = rows_of(iter([*chats(), *everyday()]))
        if options.candidates is not None:
            text = "".join(json.dumps(asdict(row)) + "\n" for row in rows)
            options.candidates.write_text(text, encoding="utf-8")
    labels: dict[tuple[str, str, str, str], str] = {}
    for line in (FOLDER / "facts_labels.jsonl").read_text(encoding="utf-8").splitlines():
        entry: dict[str, Any] = json.loads(line)
        labels[entry["conversation"], entry["sentence"], entry["fact"], entry["interval"]] = entry["label"]
    ours = [message.conversation for message in chats()]
    is_chat = [row.conv in ours for row in rows]
    marks = [
        labels.get((row.conv, row.sentence, row.fact, row.interval), "" if chat else "r")
        for row, chat in zip(rows, is_chat, strict=True)
    ]
    print(f"{len(rows)} facts, {marks.count('')} of them without a label")
    pairs = [(row, mark, chat) for row, mark, chat in zip(rows, marks, is_chat, strict=True) if mark]
    counts = Counter(name for row, _, _ in pairs for name in row.features)
    names = sorted(name for name, count in counts.items() if count >= LEAST)
    x = np.array([[row.features.get(name, 0.0) for name in names] for row, _, _ in pairs])
    y = np.array([mark == "r" for _, mark, _ in pairs], dtype=float)
    wrong = np.array([mark == "w" for _, mark, _ in pairs])
    chat = np.array([is_ours for _, _, is_ours in pairs])
    weight = np.where(chat, 1.0, EVERYDAY)
    conversations = sorted({row.conv for row, _, _ in pairs})
    fold = np.array([conversations.index(row.conv) % FOLDS for row, _, _ in pairs])
    p = np.zeros(len(y))
    for number in range(FOLDS):
        p[fold == number] = predicted(
            x[fold == number], fitted(x[fold != number], y[fold != number], weight[fold != number])
        )
    dense = np.array([not row.conv.startswith(("chat_a-", "chat_b-")) for row, _, _ in pairs])
    for title, chosen in (("everyday", ~chat), ("plain chat", chat & dense), ("chat in rich language", chat & ~dense)):
        print(f"{title}: {chosen.sum()} facts, {y[chosen].mean():.0%} right, {wrong[chosen].mean():.0%} wrong")
        for threshold in (0.4, 0.5, 0.6, 0.65, THRESHOLD, 0.75, 0.8, 0.85):
            kept_rows = chosen & (p >= threshold)
            if kept_rows.any():
                print(
                    f"  from {threshold}: {kept_rows.sum()} kept, {y[kept_rows].mean():.0%} right, "
                    f"{wrong[kept_rows].mean():.0%} wrong, {y[kept_rows].sum() / y[chosen].sum():.0%} of those right"
                )
    theta = fitted(x, y, weight)
    if options.write:
        model = {
            "weights": {name: round(float(value), 4) for name, value in zip(names, theta[:-1], strict=True)},
            "bias": round(float(theta[-1]), 4),
            "threshold": THRESHOLD,
            "threshold_with_aspect": THRESHOLD_WITH_ASPECT,
            "threshold_alone": THRESHOLD_ALONE,
        }
        WEIGHTS.write_text(json.dumps(model, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
