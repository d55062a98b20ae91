"""What is forgotten leaves nothing behind: no text, no digest, no space; and what is new is private."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from worldthread.errors import FileVersionError
from worldthread.graph import fold, state_hash
from worldthread.stores import SQLiteStore, database, namespace_state, rows, sqlite
from worldthread.stores.codec import encode_episode
from worldthread.types import Episode, Extraction, Fact, Thesis


def noted(number: int, reader: str = "first") -> Episode:
    statements = (Fact(f"thing {number}", "is in", f"{reader} room {number}"), Thesis(f"{reader} says {number}."))
    return Episode(f"Note {number}.", float(number % 40), "test", Extraction(reader, statements))


def texts_of(episode: Episode) -> list[str]:
    return [episode.text, *map(str, episode.extraction.statements)]


def traces_of(episode: Episode) -> dict[str, bytes]:
    """Everything by which somebody with the text could find out that it was there."""
    traces = {f"digest of {text!r}": rows.text_digest(text) for text in texts_of(episode)}
    return {
        **traces,
        "id": bytes.fromhex(episode.id),
        "id in hexadecimal digits": episode.id.encode(),
        "digest of the content": rows.digest_of(encode_episode(episode)),
        "text": episode.text.encode() + b'"',
    }


def everything(path: Path) -> bytes:
    files = (file for file in path.parent.rglob("*") if file.is_file() and not file.name.endswith(("-shm", "-lock")))
    return b"|".join(file.read_bytes() for file in files)


def assert_hash(store: SQLiteStore, episodes: list[Episode]) -> None:
    assert store.graph.state_hash() == state_hash(fold(episodes).rows())


@pytest.mark.slow
@pytest.mark.parametrize("rows", [10, 1000])
def test_no_file_keeps_a_digest_of_what_was_forgotten(rows: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_OVERWRITTEN_ROWS", rows)
    chance = random.Random(rows)
    live: dict[str, Episode] = {}
    gone: dict[str, Episode] = {}
    with SQLiteStore.open(path, clock=lambda: 5.0) as store, store.open_namespace("other") as other:
        for number in range(0, 900, 30):
            batch = [replace(noted(n), recorded_at=5.0) for n in range(number, number + 30)]
            store.append_many(batch)
            live.update({e.id: e for e in batch})
            for model in ("m", "n"):
                texts = [text for e in batch for text in texts_of(e)]
                store.put_vectors(model, texts, np.ones((len(texts), 4), np.float32))
            other.append(noted(10_000 + number))
            for episode_id in chance.sample(sorted(live), 4):
                store.forget(episode_id)
                gone[episode_id] = live.pop(episode_id)
            if number % 300 == 0:
                store.checkpoint()
        assert_hash(store, list(live.values()))
        kept = store.get_vectors("m", [text for e in live.values() for text in texts_of(e)])
        assert len(kept) == len({text for e in live.values() for text in texts_of(e)})
    found = everything(path)
    for episode in live.values():
        assert bytes.fromhex(episode.id) in found, "the search finds what is there"
    left = [(name, e.text) for e in gone.values() for name, trace in traces_of(e).items() if trace in found]
    assert left == []


def test_forgetting_reaches_the_vectors_of_an_older_extraction(path: Path) -> None:
    with SQLiteStore.open(path) as store:
        first, second = noted(1), noted(1, "second")
        store.append(first)
        both = [*texts_of(first), *texts_of(second)]
        store.put_vectors("m", sorted(set(both)), np.ones((len(set(both)), 4), np.float32))
        store.replace(second)
        assert set(store.get_vectors("m", both)) == set(texts_of(second))
        store.forget(second.id)
        assert store.get_vectors("m", both) == {}
        assert store.stats()["vectors"] == 0
    found = everything(path)
    assert not any(trace in found for episode in (first, second) for trace in traces_of(episode).values())


def test_other_processes_see_what_was_forgotten(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_TRIMMED_CHANGES", 10)
    monkeypatch.setattr(sqlite, "_KEPT_CHANGES", 10)
    chance = random.Random(4)
    live: dict[str, Episode] = {}
    with SQLiteStore.open(path) as store, SQLiteStore.open(path, readonly=True) as reader:
        for turn in range(40):
            for _ in range(chance.choice([1, 3, 30])):  # within the kept changes, and beyond
                if live and chance.random() < 0.5:
                    store.forget(chance.choice(sorted(live)))
                    live = {e.id: e for e in store.episodes()}
                else:
                    episode = noted(chance.randrange(60))
                    if episode.id not in live:
                        live[episode.id] = store.append(episode)
            if turn % 9 == 0:
                store.checkpoint()
            assert reader.graph.state_hash() == store.graph.state_hash()
            assert_hash(reader, list(live.values()))
        (changes,) = store._database.fetch_one("SELECT COUNT(*) FROM change")
        assert changes < 80


def older_file(path: Path, episodes: list[Episode], forgotten: list[Episode]) -> None:
    """A memory as the release before wrote it."""
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA application_id = {database.APPLICATION_ID}")
    for migration in database.MIGRATIONS[:2]:
        connection.executescript(migration)
    connection.execute("PRAGMA user_version = 2")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(
        "INSERT INTO namespace VALUES (1, 'default', ?, ?)", (len(episodes) + 2 * len(forgotten), len(episodes))
    )
    changes = []
    for number, episode in enumerate(episodes):
        content = encode_episode(episode)
        key = bytes.fromhex(episode.id)
        connection.execute("INSERT INTO record VALUES (?, ?, ?)", (number + 1, rows.digest_of(content), content))
        connection.execute("INSERT INTO current VALUES (1, ?, ?, ?)", (key, episode.at, number + 1))
        changes.append(key)
        packed = np.ones(4, "<f2").tobytes()
        for text in texts_of(episode):
            row = ("m", rows.text_digest(text), rows.checksum_of(packed) + packed)
            connection.execute("INSERT OR IGNORE INTO vector VALUES (1, ?, ?, ?)", row)
    for episode in forgotten:
        changes += [bytes.fromhex(episode.id)] * 2
    for number, key in enumerate(changes):
        connection.execute("INSERT INTO change VALUES (1, ?, ?, ?)", (number + 1, bytes([number % 256] * 8), key))
    connection.commit()
    connection.close()


def test_a_file_of_an_older_release_is_brought_up_and_loses_its_digests(path: Path) -> None:
    episodes, forgotten = [noted(n) for n in range(60)], [noted(n) for n in range(100, 120)]
    older_file(path, episodes, forgotten)
    assert bytes.fromhex(forgotten[0].id) in everything(path)
    with SQLiteStore.open(path) as store:
        assert_hash(store, episodes)
        assert list(store.episodes()) == sorted(episodes, key=lambda e: (e.at, e.id))
        assert len(store.get_vectors("m", texts_of(episodes[7]))) == 3
        store.forget(episodes[0].id)
        store.append(noted(500))
        assert_hash(store, [*episodes[1:], noted(500)])
    found = everything(path)
    assert not any(bytes.fromhex(e.id) in found for e in (*forgotten, episodes[0]))
    with SQLiteStore.open(path, readonly=True) as store:
        assert len(store.graph) == 60
    # what an older release reads of it
    assert int.from_bytes(path.read_bytes()[60:64], "big") > 2


def test_a_newer_file_is_refused_whatever_its_mark(path: Path) -> None:
    SQLiteStore.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 1193046371")  # 0x471C7163: version 99
    connection.close()
    with pytest.raises(FileVersionError, match="file version 99"):
        SQLiteStore.open(path)


# -- who may read it ------------------------------------------------------------------------------------------------


def modes(path: Path) -> dict[str, int]:
    return {p.name.removeprefix(path.name): stat.S_IMODE(p.stat().st_mode) for p in path.parent.glob(f"{path.name}*")}


@pytest.mark.parametrize("umask", [0, 0o022, 0o277])
def test_a_new_memory_is_private(umask: int, path: Path) -> None:
    before = os.umask(umask)
    try:
        with SQLiteStore.open(path) as store:
            store.append_many([noted(n) for n in range(5)])
            store.checkpoint()
            store.append(noted(9))
            assert modes(path) == {"": 0o600, "-wal": 0o600, "-shm": 0o600, "-lock": 0o600, "-snapshot": 0o700}
    finally:
        os.umask(before)


def test_an_existing_file_keeps_its_mode_and_those_beside_it_follow(path: Path) -> None:
    path.touch()
    path.chmod(0o664)
    with SQLiteStore.open(path) as store:
        store.append_many([noted(n) for n in range(5)])
        store.checkpoint()
        store.append(noted(9))
        found = modes(path)
        assert found.pop("-snapshot") & 0o666 == 0o664
        assert set(found.values()) == {0o664}


# -- growth ---------------------------------------------------------------------------------------------------------


def test_remembering_and_forgetting_does_not_grow(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "_OVERWRITTEN_ROWS": 100,
        "_TRIMMED_CHANGES": 50,
        "_KEPT_CHANGES": 50,
    }.items():
        monkeypatch.setattr(sqlite, name, value)
    monkeypatch.setattr(namespace_state, "_UNUSED_EPISODES", 60)
    monkeypatch.setattr(database, "_VACUUM_PAGES", 10)
    with SQLiteStore.open(path) as store:
        view = store.graph.view()
        sizes, numbers = [], []
        for number in range(260):
            store.append(noted(number))
            if number >= 20:
                store.forget(noted(number - 20).id)
            if number % 40 == 39:
                sizes.append(path.stat().st_size)
                numbers.append(len(store.graph.episode_numbers))
        assert_hash(store, [noted(n) for n in range(240, 260)])
        assert view.timeline("thing 259"), "views follow"
        assert not view.timeline("thing 10")
        assert max(numbers) < 150
        assert max(sizes[3:]) <= 1.5 * max(sizes[:3])
        assert store._database.fetch_one("SELECT COUNT(*) FROM change")[0] <= 110
        for number in range(240, 260):
            store.forget(noted(number).id)
        store.checkpoint()
        assert path.stat().st_size <= max(sizes)


def test_free_pages_are_given_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_OVERWRITTEN_ROWS", 100)
    with SQLiteStore.open(path) as store, SQLiteStore.open(path, readonly=True) as reader:
        kept = noted(1)
        store.append_many([kept, *(Episode(f"{at} " + "x" * 30_000, at) for at in range(400))])
        store.checkpoint()
        large = path.stat().st_size
        assert len(reader.graph) == 401
        for episode in list(store.episodes()):
            if episode.id != kept.id:
                store._database._log_holds_forgotten = False  # one log for all, which takes less time
                with sqlite._Changing(store) as change:
                    store._overwrite(change, episode.id)
                    store._log_change(change, 0)
                store._apply(change, removed=[episode.id])
        store.checkpoint()
        assert path.stat().st_size < large / 20
        assert [e.id for e in reader.episodes()] == [kept.id]
        store.append(noted(2))
        assert len(reader.graph) == 2
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_what_a_reader_keeps_in_the_log_is_erased_when_the_reader_has_finished(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.1)
    monkeypatch.setattr(database, "_ERASE_SECONDS", 0.01)
    log = path.with_name(path.name + "-wal")
    with SQLiteStore.open(path) as store:
        store.append(noted(1))
        reader = sqlite3.connect(path)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM vector").fetchall()
        with pytest.warns(UserWarning, match="as soon as the reader has finished"):
            store.forget(noted(1).id)
        assert noted(1).text.encode() in everything(path)
        reader.close()
        for _ in range(3000):
            if not log.stat().st_size:
                break
            time.sleep(0.01)
        assert noted(1).text.encode() not in everything(path)
        store.append(noted(2))
        store.forget(noted(2).id)  # nobody reads: at once, and without a warning
        assert noted(2).text.encode() not in everything(path)
