"""Equal state hashes give equal recall: the same hits in the same order, with the same bits, paths and words."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from histories import NAMES, QUESTIONS, World, anew, every_bit, in_fold_order, random_history

from worldthread import Memory
from worldthread.memory import index as memory_index
from worldthread.models import Embedder, embedder
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import index as index_module
from worldthread.retrieve import methods
from worldthread.types import Episode, Extraction, Fact, Thesis
from worldthread.vectors.exact import VectorTable
from worldthread.vectors.quantised import QuantisedTable
from worldthread_lab.published.paths import exact_sum

THOROUGH = bool(os.environ.get("WORLDTHREAD_THOROUGH"))
TRIALS = int(os.environ.get("WORLDTHREAD_TRIALS", 0)) or (30 if THOROUGH else 4)


def differences(seed: int, embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, object, object]]:
    """Yield each method whose answers in a memory with a history differ from those in a memory made anew."""
    chance = random.Random(seed)
    monkeypatch.setattr(index_module, "EXACT_ROWS", chance.choice((3, 8, 20, 10_000)))
    asked = chance.choice(list(methods())), chance.choice(QUESTIONS)
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
    for method in methods():
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


def said(name: str, at: float) -> Episode:
    return Episode(f"Told {at}.", at, extraction=Extraction("test/1", (Thesis(f"{name} is steep.", (name,)),)))


def test_vectors_words_and_names_are_those_of_the_form_that_is_shown() -> None:
    late, early = said("straße five", 2.0), said("Straße five", 1.0)
    world = World(FakeEmbedder(), [late])
    assert world.index.find("strasse five") is None, "a common noun leads nowhere"
    world.add([early])
    world.follow()
    fresh = World(FakeEmbedder(), [early])
    for other in (fresh, anew(world, [early, late])):
        np.testing.assert_array_equal(world.index.statements.rows[:1], other.index.statements.rows[:1])
        assert other.index.find("strasse five") is not None
    assert world.index.find("strasse five") is not None
    world.forget([early])
    world.follow()
    assert world.index.find("strasse five") is None


def test_a_forgotten_name_hides_no_other() -> None:
    anna = Episode("One.", 1, extraction=Extraction("test/1", (Fact("Anna", "knows", "Bob"),)))
    rossi = Episode("Two.", 2, extraction=Extraction("test/1", (Fact("Anna Rossi", "knows", "Carla"),)))
    world = World(FakeEmbedder(), [anna, rossi])
    world.forget([rossi])
    world.follow()
    question = "Whom does Anna Rossi know?"
    options = {"k": 5, "at": None, "only_current": True}
    found = world.answers("thread", question, **options)
    assert found == anew(world, [anna]).answers("thread", question, **options)
    assert any(hit[5][:1] == ("anna",) for hit in found[1:])


def test_what_is_quantised_depends_on_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "EXACT_ROWS", 4)
    episodes = [said(f"Hill {number}", float(number)) for number in range(6)]
    world = World(FakeEmbedder(), episodes)
    assert isinstance(world.index.episodes, QuantisedTable)
    world.forget(episodes[:3])
    world.follow()
    assert isinstance(world.index.episodes, VectorTable)
    assert world.index.episodes.filled.tolist() == [False] * 3 + [True] * 3


def test_sums_have_the_same_bits_in_any_order() -> None:
    chance = np.random.default_rng(0)
    rows = chance.normal(size=(500, 3)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[::2] *= np.float32(1e-4)
    total = exact_sum(rows)
    np.testing.assert_allclose(total, rows.sum(0, np.float64), atol=1e-7)
    for _ in range(50):
        np.testing.assert_array_equal(exact_sum(chance.permutation(rows)), total)


def shown(memory: Memory, chance: random.Random) -> list[Any]:
    """What a memory answers, in a form that differs whenever one bit or letter does."""
    found: list[Any] = []
    for method in methods():
        question, at = chance.choice(QUESTIONS), chance.choice((None, None, 2.0))
        recall = memory.recall(question, k=chance.choice((2, 50)), method=method, as_of=at)
        answer = memory.ask(question, k=5, method=method, as_of=at)
        found.append((method, recall.text, [every_bit(hit) for hit in recall.hits]))
        found.append((method, answer.text, [every_bit(hit) for hit in answer.sources]))
    for forms in chance.sample(NAMES, 3):
        name = chance.choice(forms)
        for versions in (memory.about(name), memory.about(name, as_of=2.0), memory.timeline(name)):
            found.append([(str(v.statement), v.interval, v.sources, v.ended_by, v.reason) for v in versions])
    return [*found, memory.entities(), [str(fact) for fact in memory.view().facts()]]


def differing(seed: int, model: Embedder, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield which memory answers otherwise than one made anew: one that lived through a history, or one that follows.

    The memory is closed and opened again on the way, and its index is saved and loaded.
    """
    chance = random.Random(seed)
    monkeypatch.setattr(index_module, "EXACT_ROWS", chance.choice((5, 15, 10_000)))
    monkeypatch.setattr(memory_index, "_WORTH_SAVING", chance.choice((1, 10, 2000)))
    path = folder / f"{seed}"
    memory = Memory(path, model="none", embedder=model)
    with Memory(path, model="none", embedder=model, readonly=True) as follower:
        for step in random_history(chance):
            if step.what == "add":
                for episode in step.episodes:
                    memory.record.add(episode)
            elif step.what == "forget":
                (episode,) = step.episodes
                memory.record.forget(episode.id)
            else:
                memory.recall(chance.choice(QUESTIONS))
                follower.recall(chance.choice(QUESTIONS))
            what = chance.random()
            if what < 0.15:
                memory.checkpoint()
            elif what < 0.3:
                memory.close()
                memory = Memory(path, model="none", embedder=model)
        episodes = list(memory.episodes())
        question = chance.randrange(2**32)
        with memory, Memory(model="none", embedder=model) as fresh:
            fresh.record.add_many(chance.sample(episodes, len(episodes)))
            expected = shown(fresh, random.Random(question))
            for name, other in (("lived", memory), ("follows", follower)):
                assert other.record.state_hash() == fresh.record.state_hash()
                if shown(other, random.Random(question)) != expected:
                    yield name


@pytest.mark.thorough
def test_memories_of_one_state_answer_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = FakeEmbedder()
    for seed in range(max(TRIALS // 4, 1)):
        assert list(differing(seed, model, tmp_path, monkeypatch)) == [], f"history {seed}"


@pytest.mark.slow
def test_memories_with_a_real_embedder_answer_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = embedder("minilm")
    for seed in range(max(TRIALS // 8, 5)):
        assert list(differing(seed, model, tmp_path, monkeypatch)) == [], f"history {seed}"
