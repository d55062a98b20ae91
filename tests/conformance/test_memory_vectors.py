"""A memory whose vectors are searched in a store of vectors: in RAM here, on servers under `make test-servers`."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from worldthread import Filter, Memory
from worldthread.errors import InputError, StoreUnavailableError
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import methods, stored_table
from worldthread.vectors import VectorItem, VectorStore
from worldthread.vectors.embedded import EmbeddedVectorStore

SERVERS = [pytest.param(kind, marks=pytest.mark.servers) for kind in ("pgvector", "qdrant", "milvus")]
NAMES = ("Anna", "Bert", "Clara", "Dora", "Emil")
PLACES = ("Rome", "Paris", "Lima", "Oslo", "Cairo", "Quito")
QUESTIONS = ("Where does Anna live?", "Who lives in Lima?", "What does Emil like in Oslo?", "bread")


class CountingEmbedder:
    """Counts the texts that it embeds.

    Args:
        name: of the embedder.
        dimensions: of its vectors.
    """

    def __init__(self, name: str = "counting", dimensions: int = 256) -> None:
        self.name, self.dimensions, self.count = name, dimensions, 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.count += len(texts)
        rows = FakeEmbedder().embed(texts)[:, : self.dimensions]
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32)


def fill(memory: Memory, count: int = 60, seed: int = 0) -> None:
    chance = random.Random(seed)
    for number in range(count):
        name, place = chance.choice(NAMES), chance.choice(PLACES)
        memory.remember(
            f"{name} lives in {place}. {chance.choice(NAMES)} likes the bread of {place}.", at=number,
            user=chance.choice(("u1", "u2", "u3")), session=f"s{number % 4}",
        )  # fmt: skip
    memory.reading_done(progress=False)


def lists(memory: Memory, method: str = "thread", **options: Any) -> list[list[tuple[str, float]]]:
    found = [memory.recall(question, method=method, k=8, **options).hits for question in QUESTIONS]
    return [[(str(hit.kind) + hit.item.id, round(hit.score, 4)) for hit in hits] for hits in found]


@pytest.fixture(params=SERVERS)
def kept(request: pytest.FixtureRequest, vector_address: Callable[[str], str]) -> str:
    """The address of a store that outlives a memory."""
    return vector_address(request.param)


@pytest.fixture(params=["exact", "quantised", *SERVERS])
def anywhere(request: pytest.FixtureRequest, vector_address: Callable[[str], str]) -> str:
    return vector_address(request.param)


def tables(memory: Memory) -> tuple[VectorStore, VectorStore]:
    return memory._vectors.open(memory._index.embedder, memory._index.embedder.name)


def held(memory: Memory) -> tuple[set[str], set[str]]:
    episodes, statements = tables(memory)
    return set(episodes.ids()), set(statements.ids())


def wanted(memory: Memory) -> tuple[set[str], int]:
    with memory.record.read_lock() as graph:
        live = sum(bool(graph.asserting(number)) for number in range(len(graph.statement_numbers)))
        return set(graph.episodes()), live


def require_equal(memory: Memory) -> None:
    (episodes, statements), (live, count) = held(memory), wanted(memory)
    assert episodes == live
    assert len(statements) == count


@pytest.mark.parametrize(
    "method",
    [name if name in ("thread", "dense") else pytest.param(name, marks=pytest.mark.slow) for name in sorted(methods())],
)
def test_an_exact_store_gives_the_recall_lists_of_the_default(tmp_path: Path, method: str) -> None:
    with Memory(tmp_path / "memory", embedder="fake") as memory:
        fill(memory)
        ids = [episode.id for episode in memory.episodes()]
        for id_ in ids[::7]:
            memory.forget(id_)
    filters = (None, Filter(user="u1"), Filter(user=["u2", "u3"], session="s1"), ~Filter(user="u1"))
    options = [{"where": where, "as_of": at} for where, at in itertools.product(filters, (None, 20, 1000))]
    with Memory(tmp_path / "memory", embedder="fake", readonly=True) as memory:
        usual = [lists(memory, method, **one) for one in options]
    assert any(any(one) for one in usual)
    with Memory(tmp_path / "memory", embedder="fake", vectors="exact:") as memory:
        assert [lists(memory, method, **one) for one in options] == usual


def test_the_store_follows_the_record(anywhere: str, tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder="fake", vectors=anywhere) as memory:
        fill(memory, 30)
        require_equal(memory)
        first = lists(memory)
        ids = [episode.id for episode in memory.episodes()]
        memory.forget(ids[3])
        assert ids[3] not in held(memory)[0]
        require_equal(memory)
        memory.forget(where=Filter(user="u1"))
        memory.record.forget_many([episode.id for episode in list(memory.episodes())[:2]])
        require_equal(memory)
        memory.remember("Bert moved to Oslo.", at=400, wait=True)
        memory.remember("Bert lives in Oslo.", at=401, user="u1", wait=True)
        require_equal(memory)
        assert lists(memory) != first
        for table in tables(memory):
            table.drop()


def test_a_statement_of_several_users_is_found_for_each(anywhere: str, tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder="fake", vectors=anywhere) as memory:
        memory.remember([("Anna", "lives in", "Rome")], at=1, user="u1", wait=True)
        (before,) = held(memory)[1]
        assert not memory.recall("Anna", where=Filter(user="u2")).hits
        memory.remember([("Anna", "lives in", "Rome")], at=2, user="u2", wait=True)
        after = held(memory)[1]
        assert before in after
        assert len(after) == 2, "each user's version with its own label"
        for user in ("u1", "u2"):
            hits = memory.recall("Where does Anna live?", where=Filter(user=user)).hits
            assert [str(hit.item) for hit in hits if hit.kind == "fact"] == ["Anna, lives in, Rome"]
        memory.forget(where=Filter(user="u2"))
        assert held(memory)[1] == {before}
        for table in tables(memory):
            table.drop()


def test_a_store_that_lags_or_was_lost_is_completed_from_the_record(kept: str, tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    with Memory(tmp_path / "memory", embedder=embedder) as memory:  # without the store
        fill(memory, 20)
        usual = lists(memory, "dense")
    count = embedder.count
    with Memory(tmp_path / "memory", embedder=embedder, vectors=kept, readonly=True) as reader:
        assert lists(reader, "dense") == usual, "which the reader keeps in RAM"
        assert held(reader) == (set(), set()), "a reader does not write"
    with Memory(tmp_path / "memory", embedder=embedder, vectors=kept) as memory:
        assert lists(memory, "dense") == usual
        require_equal(memory)
        episodes, _ = tables(memory)
        id_ = next(iter(episodes.ids()))
        episodes.delete([id_])
        episodes.add([VectorItem("left behind", np.ones(embedder.dimensions))])
    with Memory(tmp_path / "memory", embedder=embedder, vectors=kept) as memory:
        assert lists(memory, "dense") == usual
        require_equal(memory)
        for table in tables(memory):
            table.drop()
    with Memory(tmp_path / "memory", embedder=embedder, vectors=kept) as memory:
        assert lists(memory, "dense") == usual
        require_equal(memory)
        for table in tables(memory):
            table.drop()
    questions = dict.fromkeys(QUESTIONS)
    assert embedder.count - count <= 5 * len(questions), "texts were embedded again, although the record has them"


def test_a_reader_sees_what_a_writer_adds_and_forgets(kept: str, tmp_path: Path) -> None:
    if kept.startswith(("qdrant:", "milvus:")):
        pytest.skip("one process at a time")
    with Memory(tmp_path / "memory", embedder="fake", vectors=kept) as memory:
        fill(memory, 10)
        with Memory(tmp_path / "memory", embedder="fake", vectors=kept, readonly=True) as reader:
            assert lists(reader) == lists(memory)
            added = memory.remember("Dora lives in Quito with Emil.", at=100, wait=True).episodes[0]
            assert lists(reader) == lists(memory)
            memory.forget(added)
            assert lists(reader) == lists(memory)
            assert added not in held(reader)[0]
        for table in tables(memory):
            table.drop()


def test_reembed_drops_the_tables_of_other_embedders(kept: str, tmp_path: Path) -> None:
    old, new = CountingEmbedder("old", 32), CountingEmbedder("new", 48)
    with Memory(tmp_path / "memory", embedder=old, vectors=kept) as memory:
        fill(memory, 12)
        require_equal(memory)
    with Memory(tmp_path / "memory", embedder=new, vectors=kept) as memory:
        assert memory.reembed() > 12
        require_equal(memory)
        episodes, statements = memory._vectors._tables("old", 32)
        assert (len(episodes), len(statements)) == (0, 0)
        for table in (episodes, statements, *tables(memory)):
            table.drop()


def test_namespaces_have_tables_of_their_own(kept: str, tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder="fake", vectors=kept) as memory, memory.open_namespace("b") as other:
        memory.remember("Anna lives in Rome.", at=1, wait=True)
        other.remember("Bert lives in Lima.", at=1, wait=True)
        require_equal(memory)
        require_equal(other)
        assert not held(memory)[0] & held(other)[0]
        for table in (*tables(memory), *tables(other)):
            table.drop()


@pytest.fixture
def few_hits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every store returns few hits, as a server does for a large table."""
    monkeypatch.setattr(stored_table, "HITS", 6)
    monkeypatch.setattr(stored_table, "MOST_HITS", 6)


def test_a_restriction_is_passed_on_when_a_store_does_not_return_everything(few_hits: None, tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder="fake", vectors="exact:") as memory:
        fill(memory, 80)
        rare = memory.remember("Gustav sails to Malta.", at=30, user="rare", wait=True).episodes[0]
        for at in (None, 30, 90):
            found = memory.recall("Where does Anna live?", where=Filter(user="rare"), method="dense", as_of=at).hits
            best = next(hit for hit in found if hit.kind == "episode")
            assert best.item.id == rare
            cosine = FakeEmbedder().embed(["Where does Anna live?", "Gustav sails to Malta."])
            assert best.score == pytest.approx(float(cosine[0] @ cosine[1]), abs=1e-3), "not an estimate"
        late = memory.recall("Where does Anna live?", method="dense", as_of=5, kinds=["episode"], k=20).hits
        assert len(late) == 5, "of those that are not after it, with their scores; the same words twice take one place"


def test_what_could_not_be_deleted_is_deleted_at_the_next_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(tmp_path / "memory", embedder="fake", vectors="exact:") as memory:
        fill(memory, 10)
        id_ = next(memory.episodes()).id

        def fail(*_: object) -> None:
            raise StoreUnavailableError("gone", path="exact:")

        with monkeypatch.context() as patch:
            patch.setattr(EmbeddedVectorStore, "delete", fail)
            with pytest.raises(StoreUnavailableError):
                memory.forget(id_)
            assert id_ not in {episode.id for episode in memory.episodes()}
        assert id_ in held(memory)[0]
        memory.recall("Anna")
        assert id_ not in held(memory)[0]
        require_equal(memory)
        with monkeypatch.context() as patch:
            patch.setattr(EmbeddedVectorStore, "add", fail)
            remembered = memory.remember("Anna sold the boat.", at=77, wait=True)
            assert remembered.added == 1
            assert "the texts are kept" in remembered.problems[0]
        assert "Anna sold the boat." in {episode.text for episode in memory.episodes()}
        assert any("boat" in str(hit.item) for hit in memory.recall("Who sold the boat?").hits)
        require_equal(memory)


@pytest.mark.parametrize(
    ("path", "vectors", "message"),
    [
        (None, "qdrant:folder", "a memory in RAM has its vectors in RAM"),
        ("file", "pgvector", "this memory is on none"),
        ("file", "chroma:folder", "there is no store of vectors for the scheme 'chroma'"),
        ("file", "exact", "there is no store of vectors for the scheme 'exact'"),
        ("file", "", "the address of a store of vectors"),
    ],
)
def test_addresses_that_cannot_be_used(tmp_path: Path, path: str | None, vectors: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Memory(None if path is None else tmp_path / path, vectors=vectors)


def test_the_address_comes_from_the_environment_or_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLDTHREAD_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text('[vectors]\naddress = "quantised:"\n')
    addresses: list[Callable[[], Memory]] = [
        lambda: Memory(tmp_path / "memory", embedder="fake"), lambda: Memory(embedder="fake"),
        lambda: Memory(tmp_path / "memory", embedder="fake", vectors="exact:"),
    ]  # fmt: skip
    found = []
    for opened in addresses:
        with opened() as memory:
            memory.remember("Anna lives in Rome.", at=1, wait=True)
            found.append(memory._vectors.address)
    assert found == ["quantised:", None, "exact:"]
    monkeypatch.setenv("WORLDTHREAD_VECTORS", "exact:")
    with Memory(tmp_path / "memory", embedder="fake") as memory:
        assert memory._vectors.address == "exact:"


@pytest.mark.parametrize("address", ["nonsense:", "pgvector", "no scheme"])
def test_a_wrong_address_in_the_environment_is_refused_before_anything_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    with Memory(tmp_path / "memory", embedder="fake", model="none") as memory:
        memory.remember("Anna lives in Rome.", at=1, wait=True)
    monkeypatch.setenv("WORLDTHREAD_VECTORS", address)
    for readonly in (False, True):
        with pytest.raises(InputError, match=r"store of vectors|pgvector stands for"):
            Memory(tmp_path / "memory", embedder="fake", model="none", readonly=readonly)
    monkeypatch.delenv("WORLDTHREAD_VECTORS")
    with Memory(tmp_path / "memory", embedder="fake", model="none") as memory:
        assert len(list(memory.episodes())) == 1
