"""How much the weights of what was said owe to the conversations that they were chosen on.

    python benchmarks/fit_conversations.py --dataset locomo [--dataset beam] [--settings 60] [--keep FOLDER]

Every setting is the default with weights changed by chance: each is multiplied by 1/2, 1 or 2. The parts of the score
(:mod:`worldthread.retrieve.spoken`) are computed once for each question, and every setting adds them up. For each
conversation the setting is taken that is best on all others (mean of recall @5, @10 and @20 over their questions), and
measured on that conversation: *left out*. Beside it: the default; the setting that is best on all of them, measured on
the same (*fitted*); and for each category of questions of the data set the setting that is best on it, measured on the
same (*by kind*): in the mean, no choice among these settings by the kind of question gives more. Turns are ranked by
the score alone, so that the figures of the default can differ a little from those of ``worldthread bench
conversations``, which leaves out what holds no longer and lists near duplicates once.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worldthread import Memory
from worldthread.models import embedder
from worldthread.retrieve.query import Query, names_in
from worldthread.retrieve.question import kind_of, subject_of
from worldthread.retrieve.spoken import WEIGHTS, Weights, combined, spoken_parts
from worldthread.support.progress import show_progress
from worldthread_lab.bench.conversations import CUTOFFS, LOADERS, load, remember_turns
from worldthread_lab.bench.datasets.conversations import Conversation
from worldthread_lab.bench.qa.metrics import recall_at
from worldthread_lab.play.statistics import bootstrap_interval

FACTORS = (0.5, 1.0, 2.0)


def settings(count: int) -> list[Weights]:
    """Return the default and ``count - 1`` others."""
    chance = np.random.default_rng(0)
    fields = [field.name for field in dataclasses.fields(Weights)]
    found = [WEIGHTS]
    while len(found) < count:
        factors = chance.choice(FACTORS, len(fields))
        changed = {name: getattr(WEIGHTS, name) * float(f) for name, f in zip(fields, factors, strict=True)}
        found.append(Weights(**changed))
    return found


def recalls(
    memory: Memory, conversation: Conversation, turn_of: dict[str, str], tried: Sequence[Weights]
) -> NDArray[np.float64]:
    """Return the recall of every setting for every question with evidence, shape (settings, questions, cutoffs)."""
    asked = [question for question in conversation.questions if question.evidence]
    vectors = memory.embedder.embed([subject_of(question.text) for question in asked])
    found = np.zeros((len(tried), len(asked), len(CUTOFFS)))
    with memory.record.index() as index:
        said, graph = index.conversation, index.graph
        assert said is not None
        records = [graph.numbered_episode(number) for number in said.episodes.tolist()]
        turns = [turn_of[record.id] for record in records if record is not None]
        for number, (question, vector) in enumerate(zip(asked, vectors, strict=True)):
            text = subject_of(question.text)
            query = Query(text, vector, names_in(text, index.find))
            of_statements = index.statements.similarities(vector)
            of_sentences = index.links.statements_of.maxima(of_statements, float(of_statements.min()))
            parts = spoken_parts(query, index, said, index.episodes.similarities(vector), of_sentences)
            for place, weights in enumerate(tried):
                total = combined(parts, kind_of(question.text), index, said, weights)
                ranking = list(dict.fromkeys(turns[at] for at in np.argsort(-total, kind="stable")))
                found[place, number] = [recall_at(k, ranking, tuple(question.evidence)) for k in CUTOFFS]
    return found


def best_by_kind(table: NDArray[np.float64], kinds: Sequence[str]) -> NDArray[np.float64]:
    """Return the recall of every question with the setting that is best on all questions of its kind.

    Args:
        table: shape (settings, questions, cutoffs).
        kinds: the kind of each question.

    Returns:
        Shape (questions, cutoffs).
    """
    found = np.zeros(table.shape[1:])
    for kind in set(kinds):
        own = np.flatnonzero(np.array(kinds) == kind)
        found[own] = table[int(table[:, own].mean(axis=(1, 2)).argmax()), own]
    return found


def print_figures(name: str, values: NDArray[np.float64]) -> None:
    intervals = [bootstrap_interval(column.tolist()) for column in values.T]
    cells = [
        f"@{k} {m:.3f} [{a:.2f}, {b:.2f}]" for k, m, (a, b) in zip(CUTOFFS, values.mean(0), intervals, strict=True)
    ]
    print(f"{name:10} {'  '.join(cells)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", action="append", choices=LOADERS, required=True)
    parser.add_argument("--data", type=Path, help="the file or folder of the data; default: $WORLDTHREAD_DATA")
    parser.add_argument("--settings", type=int, default=60, help="how many settings are tried")
    parser.add_argument("--keep", type=Path, help="keep the memories in this folder, and use those that are there")
    given = parser.parse_args()
    model, tried = embedder("minilm"), settings(given.settings)
    conversations = [(name, one) for name in given.dataset for one in load(name, given.data)]
    tables = []
    if given.keep is not None:
        given.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, show_progress(None, "conversations", len(conversations)) as advance:
        for name, conversation in conversations:
            path = (given.keep or Path(folder)) / f"{name}-{conversation.id}"
            turns = path.with_name(path.name + ".json")
            with Memory(path, model="none", embedder=model) as memory:
                if not turns.exists():
                    turns.write_text(json.dumps(remember_turns(memory, conversation)))
                tables.append(recalls(memory, conversation, json.loads(turns.read_text()), tried))
            advance(1)
    quality = np.array([table.mean(axis=2).sum(axis=1) for table in tables])  # by conversation and setting
    left_out = [table[int((quality.sum(0) - own).argmax())] for table, own in zip(tables, quality, strict=True)]
    for dataset in given.dataset:
        own = [number for number, (name, _) in enumerate(conversations) if name == dataset]
        print(f"{dataset}: {len(own)} conversations, {sum(tables[n].shape[1] for n in own)} questions")
        print_figures("default", np.concatenate([tables[number][0] for number in own]))
        print_figures("left out", np.concatenate([left_out[number] for number in own]))
        asked = [question.category for n in own for question in conversations[n][1].questions if question.evidence]
        print_figures("by kind", best_by_kind(np.concatenate([tables[n] for n in own], axis=1), asked))
        print_figures("fitted", np.concatenate([tables[number][int(quality.sum(0).argmax())] for number in own]))


if __name__ == "__main__":
    main()
