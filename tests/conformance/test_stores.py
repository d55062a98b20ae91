"""What every store does, whatever it keeps its record in."""

from __future__ import annotations

import io
import itertools
import math
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worldthread.errors import ClosedError, FormatError, InputError, NotFoundError
from worldthread.graph import fold, state_hash
from worldthread.models import CachedEmbedder, embedder
from worldthread.stores import SQLiteStore, Store, open_store
from worldthread.stores.base import KnownRecord
from worldthread.types import Ending, Episode, Extraction, Fact, Thesis

STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda folder: SQLiteStore.open(None, clock=iter(range(1000, 10**6)).__next__),
    "file": lambda folder: SQLiteStore.open(folder / "record", clock=iter(range(1000, 10**6)).__next__),
}


Opening = Callable[[], Store]
KINDS = [*STORES, pytest.param("postgresql", marks=pytest.mark.servers)]
"""Stores on servers are tested by `make test-servers`, which starts the servers."""


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def new_place(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Opening]:
    """Gives a new place for a store, which can be opened several times."""
    if kind in STORES:
        numbers = itertools.count()

        def new_folder() -> Opening:
            folder = tmp_path / str(next(numbers))
            folder.mkdir()
            return lambda: STORES[kind](folder)

        return new_folder
    new_address = request.getfixturevalue(f"new_{kind}_address")

    def new_database() -> Opening:
        address = new_address()
        return lambda: open_store(address, clock=iter(range(1000, 10**6)).__next__)

    return new_database


@pytest.fixture
def store(new_place: Callable[[], Opening]) -> Iterator[Store]:
    with new_place()() as opened:
        yield opened


def place(thing: str, where: str) -> Fact:
    return Fact(thing, "is in", where, aspect=f"place of {thing}")


def seen(at: float, *statements: Fact | Thesis, text: str = "", ends: tuple[Ending, ...] = ()) -> Episode:
    return Episode(text or f"seen at {at}", at, "test", Extraction("test/1", statements, ends, ("half; a line",)))


def assert_is_fold(store: Store, episodes: list[Episode]) -> None:
    """The store holds exactly ``episodes``, in fold order, and its graph is their fold."""
    ordered = sorted(episodes, key=lambda e: (e.at, e.id))
    found = list(store.episodes())
    assert found == ordered
    assert [e.extraction.digest for e in found] == [e.extraction.digest for e in ordered]
    assert store.graph.state_hash() == state_hash(fold(episodes).rows())


def test_an_episode_comes_back_as_it_was(store: Store) -> None:
    rich = Episode(
        'The "key" fits.\n\tÜber – 鍵 🗝\r\n\u2028 end',
        -0.1 + 0.3,
        source="a/b'c\"",
        extraction=Extraction(
            "game/1",
            (place("Key 1", "Room A"), Thesis("The key fits.", ("key", "Door"), "fit"), Thesis("It rains.")),
            (Ending(Fact("key", "is in", "chest"), "taken"), Ending(Thesis("The door is shut.", ("door",)), "opened")),
            ("a; b", "\0 control \x1f"),
        ),
    )
    recorded = store.append(rich)
    assert recorded.recorded_at == 1000.0
    again = store.episode(rich.id)
    assert again == rich
    assert again.extraction.digest == rich.extraction.digest
    assert (again.text, again.at, again.source, again.recorded_at) == (rich.text, rich.at, rich.source, 1000.0)
    assert store.graph.episode(rich.id).recorded_at == 1000.0


def test_a_recorded_time_that_is_given_stays(store: Store) -> None:
    assert store.append(Episode("old", 1, recorded_at=12.5)).recorded_at == 12.5
    assert [e.recorded_at for e in store.episodes()] == [12.5]


def test_the_same_episode_again_changes_nothing(store: Store) -> None:
    episode = seen(1, place("key", "room"))
    first = store.append(episode)
    assert store.append(episode).recorded_at == first.recorded_at
    assert store.append_many([episode, episode]) == 0
    assert_is_fold(store, [episode])
    with pytest.raises(InputError, match="another extraction"):
        store.append(Episode(episode.text, 1, "test"))
    with pytest.raises(InputError, match="another extraction"):
        store.append_many([seen(2), Episode(episode.text, 1, "test")])
    assert_is_fold(store, [episode])


def test_a_batch_is_all_or_nothing(store: Store) -> None:
    kept = seen(1, place("key", "room"))
    store.append(kept)

    def failing() -> Iterator[Episode]:
        yield seen(2, place("key", "hand"))
        raise RuntimeError("the reader broke")

    with pytest.raises(RuntimeError, match="the reader broke"):
        store.append_many(failing())
    with pytest.raises(InputError, match="not str"):
        store.append_many([seen(3), "four"])  # type: ignore[list-item]
    assert_is_fold(store, [kept])
    batch = [seen(at, place("key", f"room {at % 3}")) for at in range(20, 1, -1)]
    assert store.append_many(iter([*batch, kept])) == 19
    assert_is_fold(store, [kept, *batch])


def test_what_is_appended_in_a_batch_is_seen_at_once(store: Store) -> None:
    one, other = seen(2, place("key", "hall")), seen(1, place("key", "chest"))
    with store.batch():
        assert store.append(one).id == one.id
        assert one.id in store.graph
        with store.write_lock() as graph, store.batch():
            store.append(other)
            assert len(graph) == 2
        assert store.episode(one.id).text == one.text
        assert store.append(other).recorded_at == 1001.0
    assert_is_fold(store, [one, other])


def test_the_iterable_of_a_batch_may_read_but_not_write(store: Store) -> None:
    kept = store.append(seen(1))

    def meddling(change: Callable[[], object]) -> Iterator[Episode]:
        assert store.episode(kept.id) == kept
        yield seen(2)
        change()

    for change in (
        lambda: store.append(seen(9)),
        lambda: store.append_many([seen(9)]),
        lambda: store.forget(kept.id),
        lambda: store.clear(),
        lambda: store.clear_vectors(),
    ):
        with pytest.raises(InputError, match="cannot be changed"):
            store.append_many(meddling(change))
    assert_is_fold(store, [kept])
    with store.read_lock() as graph, pytest.raises(InputError, match="cannot be changed"):
        store.append(seen(50 + len(graph)))
    store.append(seen(3))
    assert len(store.graph) == 2


def test_forgetting_gives_the_graph_without_the_episode(store: Store) -> None:
    first, second, third = (
        seen(1, place("key", "room")),
        seen(2, place("key", "hand")),
        seen(3, place("key", "room")),
    )
    store.append_many([third, first, second])
    view = store.graph.view()
    store.forget(second.id)
    assert_is_fold(store, [first, third])
    assert len(view.timeline("key")) == 1, "views are live"
    with pytest.raises(NotFoundError, match="no episode"):
        store.episode(second.id)
    with pytest.raises(NotFoundError, match="no episode"):
        store.forget(second.id)
    store.append(second)
    assert_is_fold(store, [first, second, third])


def test_a_new_reading_takes_the_place_of_the_old(store: Store) -> None:
    before, after = seen(1, place("key", "room")), seen(2)
    recorded = store.append(before)
    store.append(after)
    better = Episode(before.text, 1, "test", Extraction("test/2", (place("key", "chest"), place("lamp", "room"))))
    assert store.replace(better).recorded_at == recorded.recorded_at
    assert_is_fold(store, [better, after])
    assert store.graph.view().value("key", "is in") == "chest"
    with pytest.raises(NotFoundError):
        store.replace(seen(7))


@pytest.mark.parametrize("wrong", ["text", None, 3, Fact("a", "b", "c")])
def test_only_episodes_are_taken(store: Store, wrong: object) -> None:
    for change in (store.append, store.replace):
        with pytest.raises(InputError, match="an Episode is needed"):
            change(wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="list or an iterator" if wrong is None else "an Episode is needed"):
        store.append_many(wrong if wrong is None else [wrong])  # type: ignore[arg-type, list-item]
    with pytest.raises(InputError, match="id of an episode"):
        store.episode(b"00")  # type: ignore[arg-type]
    for unknown in ("", "zz", "0" * 32, "'; DROP TABLE record; --"):
        with pytest.raises(NotFoundError):
            store.episode(unknown)


def test_namespaces_never_see_each_other(store: Store) -> None:
    names = [
        "default",
        "'; DROP TABLE record; --",
        "../../up",
        "a/b",
        "ünï–鍵",
        "x" * 10_000,
        "a\nb",
        " ",
        "A",
        "a",
        "\0",
    ]
    shared = seen(0, place("key", "everywhere"))
    stores = {name: store.open_namespace(name) for name in names}
    for number, (name, other) in enumerate(stores.items()):
        assert other.namespace == name
        assert len(other.graph) == 0
        other.append_many([shared, seen(number + 1, place("key", f"room {number}"))])
        other.put_vectors("model", ["key"], np.full((1, 2), number, np.float32))
    for number, other in enumerate(stores.values()):
        assert_is_fold(other, [shared, seen(number + 1, place("key", f"room {number}"))])
        assert other.get_vectors("model", ["key"])["key"].tolist() == [number, number]
    stores["a"].forget(shared.id)
    stores["A"].clear()
    assert stores["a"].get_vectors("model", ["key"]) == {}
    assert_is_fold(stores["A"], [])
    assert_is_fold(stores["a/b"], [shared, seen(4, place("key", "room 3"))])
    for other in stores.values():
        other.close()
    assert len(store.graph) == 2, "a namespace is closed on its own"


@pytest.mark.parametrize("wrong", ["", "\ud800", None, 5])
def test_names_of_namespaces_are_checked(store: Store, wrong: object) -> None:
    with pytest.raises(InputError, match="namespace"):
        store.open_namespace(wrong)  # type: ignore[arg-type]


def test_two_openings_of_one_namespace_are_one(store: Store) -> None:
    with store.open_namespace(store.namespace) as other:
        other.append(seen(1))
        assert other.graph is store.graph
        store.append(seen(2))
    assert_is_fold(store, [seen(1), seen(2)])


def test_clear_leaves_nothing(store: Store) -> None:
    store.append_many([seen(at) for at in range(5)])
    store.put_vectors("m", ["a"], np.ones((1, 3), np.float32))
    store.clear()
    assert_is_fold(store, [])
    assert store.get_vectors("m", ["a"]) == {}
    store.clear()
    store.append(seen(1))
    assert_is_fold(store, [seen(1)])


# -- vectors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("removal", ["forget", "replace", "clear", "forget elsewhere"])
def test_vectors_that_come_late_are_not_kept_of_what_was_forgotten(store: Store, removal: str) -> None:
    stated = Extraction("t", (Fact("Anna", "lives in", "Rome"),))
    store.append_many([replace(seen(1), extraction=stated), seen(2)])
    vectors = np.ones((1, 3), np.float32)
    with store.read_lock() as graph:
        known = KnownRecord.of(graph)
    store.put_vectors("m", [seen(1).text], vectors, known=known)
    assert set(store.get_vectors("m", [seen(1).text])) == {seen(1).text}
    match removal:
        case "forget":
            store.forget(seen(1).id)
        case "replace":
            store.replace(replace(seen(1), extraction=Extraction()))
        case "clear":
            store.clear()
        case _:
            with store.open_namespace(store.namespace) as other:
                other.forget(seen(1).id)
    store.put_vectors("m", [f"late {removal}"], vectors, known=known)
    assert store.get_vectors("m", [f"late {removal}"]) == {}
    with store.read_lock() as graph:
        known = KnownRecord.of(graph)
    store.append(seen(3))  # to add something does not matter
    store.put_vectors("m", [seen(2).text], vectors, known=known)
    assert set(store.get_vectors("m", [seen(2).text])) == {seen(2).text}


def test_vectors_are_kept_by_model_and_text(store: Store) -> None:
    texts = [f"text {number}" for number in range(1200)]
    vectors = np.random.default_rng(0).normal(size=(1200, 8)).astype(np.float32)
    assert store.get_vectors("m", texts) == {}
    store.put_vectors("m", texts, vectors)
    store.put_vectors("other", texts[:1], np.zeros((1, 3), np.float32))
    found = store.get_vectors("m", [*texts, "unknown"])
    assert set(found) == set(texts)
    kept = vectors.astype(np.float16).astype(np.float32)
    assert all((found[text] == vector).all() for text, vector in zip(texts, kept, strict=True))
    assert found[texts[0]].dtype == np.float32
    assert store.get_vectors("other", texts)[texts[0]].shape == (3,)
    store.put_vectors("m", texts[:1], np.ones((1, 8), np.float32))
    assert store.get_vectors("m", texts[:1])[texts[0]].tolist() == [1] * 8
    assert store.stats()["vectors"] == 1201
    store.clear_vectors()
    assert store.get_vectors("m", texts) == {}


def test_the_vectors_of_one_model_can_be_kept(store: Store) -> None:
    other = store.open_namespace("another")
    for model in ("old", "new", "newest"):
        store.put_vectors(model, ["a", "b"], np.ones((2, 3), np.float32))
        other.put_vectors(model, ["a"], np.ones((1, 3), np.float32))
    store.clear_vectors(keep="new")
    assert [len(store.get_vectors(model, ["a", "b"])) for model in ("old", "new", "newest")] == [0, 2, 0]
    assert other.stats()["vectors"] == 3
    store.clear_vectors(keep="unknown")
    assert store.stats()["vectors"] == 0
    other.close()


def test_which_models_have_vectors_of_all_texts(store: Store) -> None:
    texts = [f"text {number}" for number in range(700)]
    store.put_vectors("whole", texts, np.ones((700, 3), np.float32))
    store.put_vectors("part", texts[:-1], np.ones((699, 3), np.float32))
    assert store.vector_models(texts) == {"whole"}
    assert store.vector_models(texts[:5] * 2) == {"whole", "part"}
    assert store.vector_models(["unknown"]) == set()
    assert store.vector_models([]) == set()
    with pytest.raises(InputError, match="must be a string"):
        store.vector_models([3])  # type: ignore[list-item]


def test_vectors_are_checked(store: Store) -> None:
    for texts, vectors in (
        (["a"], np.ones((2, 3))),
        (["a"], np.ones(3)),
        (["a"], np.ones((1, 0))),
        (["a"], np.array([[np.nan, 1.0]])),
        ([5], np.ones((1, 3))),
    ):
        with pytest.raises(InputError):
            store.put_vectors("m", texts, vectors)  # type: ignore[arg-type]
    for model in ("", None):
        with pytest.raises(InputError, match="model"):
            store.put_vectors(model, ["a"], np.ones((1, 3), np.float32))  # type: ignore[arg-type]
        with pytest.raises(InputError, match="model"):
            store.get_vectors(model, ["a"])  # type: ignore[arg-type]
    assert store.stats()["vectors"] == 0


def test_forgetting_takes_the_vectors_along(store: Store) -> None:
    gone = seen(
        1, place("diary", "drawer"), Thesis("A secret.", ("Anna",)), ends=(Ending(place("pen", "desk"), "ink"),)
    )
    store.append_many([gone, seen(2)])
    texts = [gone.text, "diary, is in, drawer", "diary", "A secret.", "Anna", "pen", "ink", "seen at 2"]
    for model in ("m", "n"):
        store.put_vectors(model, texts, np.ones((len(texts), 2), np.float32))
    store.forget(gone.id)
    assert set(store.get_vectors("m", texts)) == set(store.get_vectors("n", texts)) == {"seen at 2"}


def test_an_embedder_can_be_cached_in_a_store(store: Store) -> None:
    plain = embedder("fake")
    cached = CachedEmbedder(plain, store)
    texts = ["a rusty key", "a door", "a rusty key"]
    computed = cached.embed(texts)
    np.testing.assert_allclose(computed, plain.embed(texts), atol=1e-3)
    assert (cached.embed(texts) == computed).all(), "the same whether kept or computed"
    assert set(store.get_vectors(plain.name, texts)) == set(texts)


# -- export and import ----------------------------------------------------------------------------------------------


def test_an_export_brings_the_same_state(store: Store, tmp_path: Path) -> None:
    chance = random.Random(4)
    episodes = [
        seen(chance.randrange(300), place("key", f"room {number % 7}"), text=f"{number} ü\n") for number in range(700)
    ]
    store.append_many(episodes)
    before = store.graph.state_hash()
    assert store.export(tmp_path / "out.jsonl") == 700
    text = io.StringIO()
    store.export(text)
    assert text.getvalue().encode() == (tmp_path / "out.jsonl").read_bytes()
    with store.open_namespace("copy") as copy:
        assert copy.import_(tmp_path / "out.jsonl") == (700, 0)
        assert copy.graph.state_hash() == before
        assert [e.recorded_at for e in copy.episodes()] == [e.recorded_at for e in store.episodes()]
        assert copy.import_(str(tmp_path / "out.jsonl")) == (0, 700)
        assert copy.import_(io.BytesIO(text.getvalue().encode())) == (0, 700)
        again = io.BytesIO()
        copy.export(again)
        assert again.getvalue() == text.getvalue().encode()


def test_an_import_that_fails_changes_nothing(store: Store) -> None:
    kept = seen(1, place("key", "room"))
    store.append(kept)
    good = b'{"text":"x","at":1}\n'
    header = b'{"format":"worldthread-episodes","version":1,"episodes":2}\n'
    for lines, line in (
        (b"", 1),
        (b"text\n", 1),
        (b"[]\n", 1),
        (b'{"format":"other"}\n', 1),
        (b'{"format":"worldthread-episodes","version":99,"episodes":1}\n', 1),
        (b'{"format":"worldthread-episodes","version":true,"episodes":1}\n', 1),
        (b'{"format":"worldthread-episodes","version":1}\n', 1),
        (header + good, 3),
        (header + good * 3, 4),
        (header + good + b'{"text":"y","at":', 3),
        (header + good + b"\n", 3),
        (header + good + b"\xff\n", 3),
        (header + b'{"text":"","at":1}\n' + good, 2),
        (header + b'{"text":"y"}\n' + good, 2),
        (header + b'{"text":"y","at":NaN}\n' + good, 2),
        (header + b'{"text":"y","at":1e999}\n' + good, 2),
        (header + b'{"text":"y","at":"1"}\n' + good, 2),
        (header + b'{"text":"y","at":true}\n' + good, 2),
        (header + b'{"text":"y","at":1,"extra":0}\n' + good, 2),
        (header + b'{"text":"y","at":1,"recorded_at":"now"}\n' + good, 2),
        (header + b'{"text":"y","at":1,"reading":{"statements":[{"fact":["a","b"]}]}}\n' + good, 2),
        (header + b'{"text":"y","at":1,"reading":{"statements":["a, b, c"]}}\n' + good, 2),
        (header + b'{"text":"y","at":1,"reading":{"statements":[{"fact":["a","b",3]}]}}\n' + good, 2),
        (header + b'{"text":"y","at":1,"reading":{"endings":[{"reason":"r"}]}}\n' + good, 2),
        (header + b'{"text":"y","at":1,"reading":{"reader":7}}\n' + good, 2),
        (header + b'{"text":"y","at":1,"reading":[]}\n' + good, 2),
        (header + good + b'{"text":"seen at 1","at":1,"source":"test"}\n', 3),
    ):
        with pytest.raises(FormatError) as caught:
            store.import_(io.BytesIO(lines))
        assert caught.value.line == line, (lines, str(caught.value))
        assert f"line {line}" in str(caught.value)
    assert_is_fold(store, [kept])


def test_a_text_stream_of_another_encoding_is_named(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "latin"
    path.write_bytes(b'{"format":"worldthread-episodes","version":1,"episodes":1}\n{"text":"\xe4","at":1}\n')
    with path.open(encoding="utf-8") as stream, pytest.raises(FormatError, match="UTF-8"):
        store.import_(stream)
    with pytest.raises(FormatError, match="latin, line 2"):
        store.import_(path)


# -- life -----------------------------------------------------------------------------------------------------------


def test_after_close_everything_says_so(store: Store) -> None:
    store.append(seen(1))
    episodes = store.episodes()
    store.close()
    store.close()
    for use in (
        lambda: store.append(seen(2)),
        lambda: store.append_many([]),
        lambda: store.replace(seen(1)),
        lambda: store.forget("0" * 32),
        lambda: store.clear(),
        lambda: store.episode("0" * 32),
        lambda: next(episodes),
        lambda: store.graph,
        lambda: store.refresh(),
        lambda: store.stats(),
        lambda: store.get_vectors("m", []),
        lambda: store.put_vectors("m", ["a"], np.ones((1, 1), np.float32)),
        lambda: store.checkpoint(),
        lambda: store.export(io.BytesIO()),
        lambda: store.open_namespace("other"),
    ):
        with pytest.raises(ClosedError, match="closed"):
            use()


def test_threads_may_share_a_store(store: Store) -> None:
    errors: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            for step in range(40):
                episode = seen(step, place("key", f"room {worker}"), text=f"{worker} at {step}")
                store.append(episode)
                assert store.episode(episode.id) == episode
                with store.read_lock() as graph:
                    assert len(graph.view().facts("key")) <= 8
                if step % 4 == 0:
                    store.forget(episode.id)
                if step % 13 == 1:  # this episode stays, so there is one
                    assert len(list(store.episodes())) > 0
                    store.checkpoint()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    expected = [
        seen(step, place("key", f"room {worker}"), text=f"{worker} at {step}")
        for worker in range(8)
        for step in range(40)
        if step % 4
    ]
    assert_is_fold(store, expected)


def test_an_episode_forgotten_while_iterating_is_left_out(store: Store) -> None:
    store.append_many([seen(at) for at in range(1200)])
    iterator = store.episodes()
    first = next(iterator)
    store.forget(seen(1100).id)
    store.append(seen(5000))
    rest = [first, *iterator]
    assert [e.at for e in rest] == [at for at in range(1200) if at != 1100]


def test_as_of_answers_from_recorded_time(store: Store) -> None:
    store.append(seen(5, place("key", "hand")))  # recorded at 1000
    store.append(seen(1, place("key", "room")))  # recorded at 1001, about an earlier moment
    assert store.graph.as_of(recorded_time=1000).view().value("key", "is in") == "hand"
    assert store.graph.as_of(recorded_time=999).view().value("key", "is in") is None
    assert store.graph.view(at=1).value("key", "is in") == "room"


# -- any history ----------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["Key 1", "the key 1", "locker", "room a"])
FACTS = st.builds(Fact, NAMES, st.sampled_from(["is in", "Is In"]), NAMES, st.sampled_from([None, "place", "state"]))
THESES = st.builds(Thesis, st.sampled_from(["The key fits.", "the key fits"]), st.lists(NAMES, max_size=2).map(tuple))
READINGS = st.builds(
    Extraction,
    st.sampled_from(["", "test/1"]),
    st.lists(FACTS | THESES, max_size=3).map(tuple),
    st.lists(st.builds(Ending, FACTS | THESES, st.just("gone")), max_size=2).map(tuple),
)
EPISODES = st.builds(
    Episode,
    st.sampled_from("abcdef"),
    st.integers(0, 3),
    st.sampled_from(["", "run"]),
    READINGS,
    st.none() | st.just(3.0),
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["append", "many", "forget", "replace", "checkpoint", "move"]), st.lists(EPISODES, max_size=4)
    ),
    max_size=14,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, chance=st.randoms(use_true_random=False))
def test_any_history_gives_the_fold_of_what_is_left(
    kind: str, new_place: Callable[[], Opening], steps: list[tuple[str, list[Episode]]], chance: random.Random
) -> None:
    opened = new_place()
    store = opened()
    model: dict[str, Episode] = {}
    try:
        for operation, episodes in steps:
            fresh = list({e.id: e for e in episodes if e.id not in model}.values())
            if operation == "append":
                for episode in fresh:
                    store.append(episode)
                model.update({e.id: e for e in fresh})
            elif operation == "many":
                assert store.append_many(fresh) == len(fresh)
                model.update({e.id: e for e in fresh})
            elif operation == "forget" and model:
                store.forget(model.pop(chance.choice(sorted(model))).id)
            elif operation == "replace":
                for episode in episodes:
                    if episode.id in model:
                        store.replace(episode)
                        model[episode.id] = episode
            elif operation == "checkpoint":
                store.checkpoint()
            elif operation == "move" and kind != "memory":  # to a new process, as it were
                store.close()
                store = opened()
            assert store.graph.state_hash() == state_hash(fold(model.values()).rows())
        assert_is_fold(store, list(model.values()))
        assert not math.isnan(sum(e.recorded_at or math.nan for e in store.episodes()))
    finally:
        store.close()


def test_a_store_is_opened_by_its_address(tmp_path: Path) -> None:
    file = tmp_path / "record"
    with open_store(f"sqlite://{file}") as store:
        store.append(seen(1, place("key", "room")))
    with open_store(file, readonly=True) as store:
        assert len(store.graph) == 1
    with open_store(None) as store:
        assert store.path is None
    with pytest.raises(InputError, match="stores are: postgres, postgresql, sqlite"):
        open_store("oracle://somewhere")
