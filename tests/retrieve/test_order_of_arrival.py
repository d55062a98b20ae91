"""Equal state hashes give equal recall: the same hits in the same order, with the same bits, paths and words."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest
from histories import QUESTIONS, World, anew, in_fold_order, random_history

from worldthread.models import Embedder
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import METHODS
from worldthread.retrieve import index as index_module

THOROUGH = bool(os.environ.get("WORLDTHREAD_THOROUGH"))
TRIALS = int(os.environ.get("WORLDTHREAD_TRIALS", 0)) or (100 if THOROUGH else 8)


def differences(seed: int, embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, object, object]]:
    """Yield each method whose answers in a memory with a history differ from those in a memory made anew."""
    chance = random.Random(seed)
    monkeypatch.setattr(index_module, "EXACT_ROWS", chance.choice((3, 8, 20, 10_000)))
    asked = chance.choice(list(METHODS)), chance.choice(QUESTIONS)
    steps = random_history(chance)
    restores = chance.random() < 0.3
    world = World(embedder)

    def ask(world: World) -> None:
        world.answers(*asked, k=5, at=None, only_current=True)
        if restores:
            world.saved_and_restored()

    world.live(steps, ask)
    ordered = in_fold_order(world)
    shuffled = chance.sample(ordered, len(ordered))
    others = [anew(world, ordered), anew(world, shuffled)]
    for method in METHODS:
        for question in chance.sample(QUESTIONS, 2):
            options = {
                "k": chance.choice((2, 1000)),
                "at": chance.choice((None, None, 2.0)),
                "only_current": chance.random() < 0.7,
            }
            found = world.answers(method, question, **options)
            for other in others:
                expected = other.answers(method, question, **options)
                if found != expected:
                    yield method, expected, found


@pytest.mark.thorough
def test_recall_depends_on_the_state_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = FakeEmbedder()
    for seed in range(TRIALS):
        for method, expected, found in differences(seed, embedder, monkeypatch):
            assert found == expected, f"{method} in history {seed}"
