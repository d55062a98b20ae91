"""Learn how sure the reader can be of an event from events that people judged.

    python training/fit_confidence.py draw MODEL_FOLDER MESSAGES.jsonl ... > to_judge.jsonl
    python training/fit_confidence.py fit judged.jsonl ... > MODEL_FOLDER/confidence.json

``draw`` writes what the reader would state of messages that it has not learned from, one event a line, with an empty
label. A judge who sees the message, the two before it and the event fills in r (right: a careful reader would note it),
v (vague, partly right, or of no use) or w (wrong). ``fit`` takes r for right.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from messages import read
from numpy.typing import NDArray

from worldthread.extract.reader import events as reader_events
from worldthread.extract.reader.events import Confidence, events_of, features_of
from worldthread.extract.reader.model import ReaderModel
from worldthread.extract.reader.pieces import pieces_of

SEEN: Final = 0.1  # how probable the beginning of an object must be
RIDGE: Final = 1.0


class _Parts(Confidence):
    """Keeps what the confidence is computed from, and returns the product of the parts."""

    def __init__(self) -> None:
        self.kept: list[list[float]] = []

    def __call__(self, parts: Any, kind: str, subject_kind: str, words: int, judged: float) -> float:
        self.kept.append(features_of(parts, kind, subject_kind, words, judged).tolist())
        return float(np.prod(parts))


def draw(folder: Path, paths: list[Path]) -> None:
    model = ReaderModel(folder)
    for path in paths:
        for number, message in enumerate(read(path)):
            for piece in pieces_of(message.speaker, message.before, message.text):
                scores = model.scores(piece, SEEN)
                if scores is None:
                    continue
                parts = _Parts()
                for event in events_of(piece, scores, model.relations, parts, partial(model.judged, piece=piece)):
                    row = {"writer": path.stem, "message": number, "speaker": message.speaker, "before": message.before}
                    row |= {"text": message.text, "event": line_of(event), "confidence": round(event.confidence, 4)}
                    print(
                        json.dumps(
                            row | {"features": [round(one, 4) for one in parts.kept[-1]], "label": ""},
                            ensure_ascii=False,
                        )
                    )


def line_of(event: reader_events.MessageEvent) -> str:
    """Return an event as labels write it."""
    when = f" | {event.time_kind}: {event.when}" if event.when else ""
    return f"{event.kind} | {event.subject} | {event.relation} | {event.object}{when}"


def fitted(features: NDArray[np.float64], right: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return weights and bias of a logistic regression with a quadratic penalty, by Newton's method."""
    means, spread = features.mean(0), features.std(0) + 1e-9
    inputs = np.column_stack([(features - means) / spread, np.ones(len(features))])
    penalty = np.diag([RIDGE] * features.shape[1] + [0.0])
    weights = np.zeros(inputs.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (chance - right) + penalty @ weights
        weights -= np.linalg.solve((inputs.T * (chance * (1 - chance))) @ inputs + penalty, slope)
    scaled = weights[:-1] / spread
    return scaled, float(weights[-1] - scaled @ means)


def fit(paths: list[Path]) -> None:
    rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["features"]]  # what this reader does not state any more has none
    features = np.array([row["features"] for row in rows])
    right = np.array([row["label"] == "r" for row in rows], float)
    folds = np.arange(len(rows)) % 5
    guess = np.zeros(len(rows))
    for fold in range(5):
        weights, bias = fitted(features[folds != fold], right[folds != fold])
        guess[folds == fold] = features[folds == fold] @ weights + bias
    product = np.array([row["confidence"] for row in rows])
    for name, scores in (("product of the parts", product), ("regression, folds apart", guess)):
        order = np.argsort(-scores)
        shares = " ".join(
            f"{share:.0%}: {right[order[: int(share * len(rows))]].mean():.3f}" for share in (0.2, 0.3, 0.4, 0.6, 1.0)
        )
        print(f"{name}: right among the surest {shares}", file=sys.stderr)
    weights, bias = fitted(features, right)
    print(json.dumps({"weights": [round(float(weight), 5) for weight in weights], "bias": round(bias, 5)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("folder", type=Path)
    drawing.add_argument("messages", type=Path, nargs="+")
    fitting = commands.add_parser("fit")
    fitting.add_argument("judged", type=Path, nargs="+")
    options = parser.parse_args()
    if options.command == "draw":
        draw(options.folder, options.messages)
    else:
        fit(options.judged)


if __name__ == "__main__":
    main()
