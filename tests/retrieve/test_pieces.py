"""An index that is kept in pieces is the index that is made at once, and an interrupt costs at most a piece of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from histories import QUESTIONS, World, anew, in_fold_order, random_history
from test_kept_index import anew as made_anew
from test_kept_index import answers, kept_index, opened, texts

import worldthread
from worldthread import Memory
from worldthread.memory import index as memory_index
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import RetrievalIndex
from worldthread.retrieve import index as index_module


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_index, "_WORTH_SAVING", 20)
    monkeypatch.setattr(memory_index, "PIECE", 20)
    monkeypatch.setattr(index_module, "EXACT_ROWS", 3)


def test_pieces_hold_what_an_index_made_at_once_holds() -> None:
    assert max(map(most_pieces, range(10))) > 5


def most_pieces(seed: int) -> int:
    """Compare pieces of a random history with an index made at once, and return how many there were at most."""
    chance = random.Random(seed)
    world, most = World(FakeEmbedder()), 0
    for step in random_history(chance):
        if step.what == "add":
            for episode in step.episodes:
                world.add([episode])
                if chance.random() < 0.5:
                    world.follow(chance.choice((None, 1, 2)))
                    world.saved_and_restored()
                    most = max(most, len(world.pieces))
        else:
            world.live([step], lambda _: None)
            if step.what == "forget":  # a store removes all pieces, and its graph is compact when it is opened again
                world.graph.compact()
                world.pieces = []
    world.follow()
    made = anew(world, in_fold_order(world))
    for method in ("thread", "lexical", "dense"):
        for question in QUESTIONS[:4]:
            for current in (True, False):
                found, expected = (
                    one.answers(method, question, k=1000, at=None, only_current=current) for one in (world, made)
                )
                assert found == expected, f"{method} in history {seed}"
    return most


class Interrupted(FakeEmbedder):
    """Embeds so many texts, and then stops as a process that is killed."""

    def __init__(self, texts: int) -> None:
        self.left = texts

    def embed(self, texts):  # type: ignore[no-untyped-def]
        self.left -= len(texts)
        if self.left < 0:
            raise KeyboardInterrupt
        return super().embed(texts)


def recorded(path: Path, *more: str) -> None:
    """Make a memory of 100 episodes and some more without an index."""
    with opened(path) as memory:
        memory.remember_many([*texts(50, 1), *more, *texts(50, 2)], at=1)
    with Memory(path, model="none", embedder=FakeEmbedder()) as memory:
        memory._store.clear_vectors()
    assert not kept_index(path)


def interrupted(path: Path, embedded: int) -> int:
    """Ask a memory until it is interrupted, and return how many pieces of the index are kept."""
    memory = Memory(path, model="none", embedder=Interrupted(embedded))
    with pytest.raises(KeyboardInterrupt):
        memory.recall(QUESTIONS[0])
    memory._store.close()  # a killed process saves nothing more
    return len(kept_index(path))


def test_an_interrupt_while_an_index_is_made_loses_a_piece_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory"
    recorded(path)
    pieces = interrupted(path, 170)
    assert pieces > 1
    with opened(path) as memory:
        read: list[str] = []
        texts_of = memory._store.texts
        monkeypatch.setattr(memory._store, "texts", lambda ids: read.extend(ids) or texts_of(ids))
        found = answers(memory)
        assert len(set(read)) <= 100 - 20 * pieces + 20
    assert found == made_anew(path, monkeypatch)
    with opened(path) as memory:
        monkeypatch.setattr(memory._store, "texts", lambda ids: pytest.fail("no text is needed") if ids else [])
        memory._index.warm_up()
        assert answers(memory) == found


def test_another_release_takes_the_same_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory"
    recorded(path)
    pieces = interrupted(path, 170)
    monkeypatch.setattr(worldthread, "__version__", "99.0", raising=False)
    restored: list[int] = []
    restore = RetrievalIndex.restore

    def counted(self: RetrievalIndex, graph: object, *found: object) -> bool:
        restored.append(len(found))
        return restore(self, graph, *found)  # type: ignore[arg-type]

    monkeypatch.setattr(RetrievalIndex, "restore", counted)
    with opened(path) as memory:
        answers(memory)
    assert restored == [pieces]


def test_nothing_of_a_forgotten_text_is_left_in_a_piece(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    recorded(path, "Zachary owns a quokka in Xanadu.")
    assert interrupted(path, 170) > 1
    with opened(path) as memory:
        (episode,) = [one for one in memory.episodes() if "quokka" in one.text]
        memory.forget(episode.id)
        for word in (b"quokka", b"zachary", b"xanadu"):
            files = [file for file in tmp_path.rglob("*") if file.is_file()]
            assert not [file for file in files if word in file.read_bytes().lower()]
