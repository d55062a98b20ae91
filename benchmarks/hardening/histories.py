"""Random histories of one file against the definition, and against a memory made anew from what is left.

    python benchmarks/hardening/histories.py [--trials 10000] [--first 0] [--seed N]

A history records, replaces and forgets, writes snapshots, uses the index, and opens the file again at random points.
Then the graph is the fold of the episodes that are left, at every world time; the digest of the state is that of a
memory made anew; and so are, in every fourth history, all hits of a recall, with scores and paths, by a method that the
seed chooses.
"""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from material import (
    KNOWN,
    TEXTS,
    Content,
    Result,
    State,
    Violation,
    attack,
    canonical_fold,
    canonical_graph,
    expected_digest,
    export_of,
    make_episode,
    options,
    outcome,
    perform,
)  # fmt: skip

from worldthread import Memory
from worldthread.graph import TemporalGraph
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import methods
from worldthread.types import Episode

POOL = 30
COMPARED = 4  # histories for each that compares a recall, which takes as long as all the rest
QUESTIONS = ("Where is key 1?", "What is in the locker?", "STRASSE 5", "Which key fits in room a?", "Where lives Anna?")


class History:
    """One random history of one file."""

    def __init__(self, seed: int, path: Path, say: Callable[[str], None], notes: Any) -> None:
        self._seed = seed
        self._chance = random.Random(f"history {seed}")
        self._path = path
        self._say = say
        self._notes = notes
        self._content: Content = (frozenset(), frozenset())
        self._has_replaced = False
        self._now = 0.0
        self._memory = self._opened()

    def run(self) -> None:
        """Run the history, and compare.

        Raises:
            Violation: a promise is broken.
        """
        try:
            for _ in range(self._chance.randint(4, 16) * (1 if self._seed % COMPARED else 2)):
                self._step()
                if self._chance.random() < 0.1:
                    self._compare_state()
            self._compare_state()
            self._compare_times()
            if self._seed % COMPARED == 0:
                self._compare_recall()
        finally:
            self._memory.close()

    def _opened(self, *, readonly: bool = False) -> Memory:
        return Memory(
            self._path, readonly=readonly, clock=self._clock, model="none", embedder=FakeEmbedder()
        )  # fmt: skip

    def _clock(self) -> float:
        # a clock that sometimes stands still, and sometimes steps back
        self._now += self._chance.choice((1.0, 1.0, 0.0, -1.0))
        return self._now

    def _step(self) -> None:
        chance = self._chance
        number = chance.randrange(POOL)
        plan = [(n, 0) for n in chance.sample(range(POOL), chance.randint(1, 6))]
        known = [n for n in range(POOL) if make_episode(n).id in dict(self._content[0])]
        one = chance.choice(known or [0])
        choices: list[tuple[str, dict[str, Any]]] = [
            ("add", {"number": number, "reading": 0}),
            ("add_many", {"plan": plan}),
            ("import", {"plan": plan}),
            ("replace", {"number": one, "reading": chance.randrange(3)}),
            ("forget", {"number": one}),
            ("remember", {"text": chance.randrange(len(TEXTS)), "wait": chance.random() < 0.5}),
            ("clear", {}),
            ("checkpoint", {}),
            ("recall", {"question": chance.choice(QUESTIONS), "method": chance.choice((None, "lexical"))}),
            ("reopen", {}),
            ("read", {}),
        ]
        weights = [8, 4, 1, 4, 8, 1, 0.3, 2 if self._content[0] else 0, 1, 3, 1]
        name, arguments = chance.choices(choices, weights)[0]
        self._say(f"{name} {arguments}")
        if name == "reopen":
            self._memory.close()
            self._memory = self._opened()
            return
        if name == "read":
            expected = self._memory.record.state_hash()  # this waits until everything is read, which a reader does not
            with self._opened(readonly=True) as reader:
                if reader.record.state_hash() != expected:
                    raise Violation("a reader sees another state than the writer")
            return
        state: State = (self._content, (frozenset(), frozenset()))
        states, error = outcome(state, name, {**arguments, "where": "default"})
        if error is not None:
            return
        if name == "import":
            arguments["export"] = export_of(arguments["plan"])
        perform(self._memory, name, arguments)
        self._has_replaced |= name == "replace"
        self._content = states[-1][0] if states else self._content

    def _compare_state(self) -> None:
        content = frozenset((e.id, e.extraction.digest) for e in self._memory.episodes())
        if content != self._content[0]:
            raise Violation("the record does not hold the episodes that were recorded")
        with self._memory.record.read_lock() as graph:
            if canonical_graph(graph) != expected_digest(content):
                raise Violation("the graph is not the fold of its episodes")
            episodes = [KNOWN[key] for key in content]
            self._chance.shuffle(episodes)
            if graph.state_hash() != TemporalGraph(episodes).state_hash():
                raise Violation("the digest of the state is not that of a graph made anew")

    def _compare_times(self) -> None:
        episodes = list(self._memory.episodes())
        at, recorded = self._chance.randint(-1, 5), self._chance.choice([0.0, 1.0, self._now / 2])
        with self._memory.record.read_lock() as graph:
            if canonical_graph(graph.as_of(world_time=at)) != canonical_fold(e for e in episodes if e.at <= at):
                raise Violation(f"as_of(world_time={at}) is not the fold of the episodes up to then")
            if not self._has_replaced:
                known = [e for e in episodes if e.recorded_at is not None and e.recorded_at <= recorded]
                if canonical_graph(graph.as_of(recorded_time=recorded)) != canonical_fold(known):
                    raise Violation(f"as_of(recorded_time={recorded}) is not the fold of what was recorded by then")

    def _compare_recall(self) -> None:
        chance = self._chance
        method = chance.choice(["thread", "thread", *sorted(methods())])
        question, only_current = chance.choice(QUESTIONS), chance.random() < 0.5
        target = io.BytesIO()
        self._memory.export(target)
        target.seek(0)
        with Memory(None, model="none", embedder=FakeEmbedder()) as anew:
            anew.import_(target)
            found, expected = (
                [_shown(hit) for hit in m.recall(question, k=9, method=method, only_current=only_current).hits]
                for m in (self._memory, anew)
            )
        self._notes[f"recalls by {method}"] += 1
        if found != expected:
            self._say(f"{found}\n{expected}")
            what = "scores or paths" if [h[:2] for h in found] == [h[:2] for h in expected] else "hits"
            raise Violation(f"recall({question!r}, method={method!r}) gives other {what} than in a memory made anew")


def _shown(hit: Any) -> tuple[Any, ...]:
    text = hit.item.text[:40] if isinstance(hit.item, Episode) else str(hit.item)
    return hit.kind, hit.item.id, round(hit.score, 6), tuple(hit.path), text


def run_trial(seed: int, folder: Path, result: Result, is_shown: bool) -> None:
    """Run one history, and put what it finds into the result."""
    try:
        History(seed, folder / "m", print if is_shown else lambda _: None, result.notes).run()
    except Violation as violation:
        result.violations.append((f"--seed {seed}", str(violation)))
        result.notes["violations in recall"] += str(violation).startswith("recall")
    result.trials += 1


def main() -> int:
    """Run the histories."""
    arguments = options(__doc__ or "", 10_000).parse_args()
    return attack("histories of one file against the fold", run_trial, arguments)


if __name__ == "__main__":
    sys.exit(main())
