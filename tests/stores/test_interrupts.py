"""An interrupt at any moment of any call: what was acknowledged stays, and the same object goes on."""

from __future__ import annotations

import gc
import linecache
import os
import random
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from worldthread.errors import ClosedError
from worldthread.graph import fold, state_hash
from worldthread.stores import SQLiteStore, sqlite
from worldthread.types import Episode, Extraction, Fact

PARTS = (f"{os.sep}worldthread{os.sep}stores{os.sep}", f"{os.sep}worldthread{os.sep}graph{os.sep}", "contextlib.py")


def seen(number: int, reader: str = "first") -> Episode:
    facts = (Fact("key", "is in", f"room {number % 5}", "place of key"), Fact(f"thing {number}", "is a", reader))
    return Episode(f"seen {number}", number % 11, "test", Extraction(reader, facts))


class Interrupt:
    """Raises KeyboardInterrupt at one line in the code of stores and graphs, and counts the lines before it.

    Args:
        at: the number of the line that is run, from 1.
    """

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0
        self.place = ""

    def __enter__(self) -> Interrupt:
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not any(part in frame.f_code.co_filename for part in PARTS):
            return None
        return self._local

    def _local(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.count += 1
            # no real interrupt comes between the end of a block and the release of its lock, which is one instruction
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
            if self.count >= self.at > 0 and ".lock:" not in line:
                sys.settrace(None)
                self.place = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} {frame.f_code.co_name}"
                raise KeyboardInterrupt
        return self._local


Model = dict[str, Episode]


class Trial:
    """One store, and what it must hold.

    Args:
        path: the file of the store.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = SQLiteStore.open(path)
        self.other = self.store.open_namespace("other")
        self.model: Model = {}
        self.next = 0
        for _ in range(4):
            self.fresh()
        self.store.append_many(self.model.values())
        self.other.append(seen(0))

    def fresh(self) -> Episode:
        self.next += 1
        episode = seen(self.next)
        self.model[episode.id] = episode
        return episode

    def check(self, allowed: list[Model], place: str) -> None:
        """The next use works and shows one of the allowed states, which is that of the file; so does a new write."""
        store = self.store
        found = {e.id: e for e in store.episodes()}
        assert any(_same(found, model) for model in allowed), place
        assert store.graph.state_hash() == state_hash(fold(found.values()).rows()), place
        assert not store._database._connection.in_transaction, place  # type: ignore[union-attr]
        assert store.get_vectors("m", ["unknown"]) == {}
        with SQLiteStore.open(self.path, readonly=True) as reader:
            assert reader.graph.state_hash() == store.graph.state_hash(), place
        self.model = found
        store.append(self.fresh())
        self.other.append(seen(self.next))
        free = threading.Thread(target=lambda: store.graph, daemon=True)
        free.start()
        free.join(60)
        assert not free.is_alive(), f"the lock is held after {place}"
        while len(self.model) > 6:
            episode_id = min(self.model)
            store.forget(episode_id)
            del self.model[episode_id]
        assert {e.id for e in store.episodes()} == set(self.model), place
        assert store.graph.state_hash() == state_hash(fold(self.model.values()).rows()), place


def _same(found: Model, expected: Model) -> bool:
    return {i: e.extraction.digest for i, e in found.items()} == {i: e.extraction.digest for i, e in expected.items()}


def append(trial: Trial) -> tuple[Callable[[], object], Model]:
    episode = seen(trial.next + 1)
    trial.next += 1
    return lambda: trial.store.append(episode), {**trial.model, episode.id: episode}


def append_many(trial: Trial) -> tuple[Callable[[], object], Model]:
    episodes = [seen(trial.next + 1 + part) for part in range(3)]
    trial.next += 3
    return lambda: trial.store.append_many(iter(episodes)), {**trial.model, **{e.id: e for e in episodes}}


def replace(trial: Trial) -> tuple[Callable[[], object], Model]:
    old = trial.model[min(trial.model)]
    new = Episode(old.text, old.at, old.source, Extraction(f"again {trial.next}", old.extraction.statements[:1]))
    trial.next += 1
    return lambda: trial.store.replace(new), {**trial.model, new.id: new}


def forget(trial: Trial) -> tuple[Callable[[], object], Model]:
    episode_id = min(trial.model)
    return lambda: trial.store.forget(episode_id), {i: e for i, e in trial.model.items() if i != episode_id}


def clear(trial: Trial) -> tuple[Callable[[], object], Model]:
    return trial.store.clear, {}


def put_vectors(trial: Trial) -> tuple[Callable[[], object], Model]:
    return lambda: trial.store.put_vectors("m", ["a", "b"], np.ones((2, 3), np.float32)), trial.model


def clear_vectors(trial: Trial) -> tuple[Callable[[], object], Model]:
    return trial.store.clear_vectors, trial.model


def checkpoint(trial: Trial) -> tuple[Callable[[], object], Model]:
    trial.store.forget(trial.store.append(seen(10**6)).id)
    return trial.store.checkpoint, trial.model


def read(trial: Trial) -> tuple[Callable[[], object], Model]:
    def work() -> None:
        with trial.store.read_lock() as graph:
            assert len(graph) == len(list(trial.store.episodes()))
            trial.store.stats()

    return work, trial.model


def follow(trial: Trial) -> tuple[Callable[[], object], Model]:
    trial.store._state.graph = None  # as at the first use
    return trial.store.refresh, trial.model


OPERATIONS = {
    work.__name__: work
    for work in (append, append_many, replace, forget, clear, put_vectors, clear_vectors, checkpoint, read, follow)
}


def interrupted(interrupt: Interrupt, work: Callable[[], object]) -> bool:
    """Whether ``work`` was interrupted; the error is gone when this returns."""
    try:
        with interrupt:
            work()
    except KeyboardInterrupt:
        return True
    return False


def interrupt_everywhere(trial: Trial, name: str, trials: int) -> int:
    """Interrupt an operation at about ``trials`` lines; return how many interrupts there were."""
    work, after = OPERATIONS[name](trial)
    whole = Interrupt(0)
    assert not interrupted(whole, work)
    trial.check([after], f"{name}, uninterrupted")
    step = max(1, whole.count // trials)
    count = 0
    for at in range(1, whole.count + 1, step):
        before = dict(trial.model)
        work, after = OPERATIONS[name](trial)
        interrupt = Interrupt(at)
        if interrupted(interrupt, work):
            count += 1
            trial.check([before, after], f"{name}, line {at}: {interrupt.place}")
        else:
            trial.check([after], f"{name}, uninterrupted")
    return count


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_interrupt_at_any_line_leaves_a_store_that_goes_on(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_OVERWRITTEN_ROWS", 2)  # so that the record is rewritten too
    trial = Trial(tmp_path / "memory")
    assert interrupt_everywhere(trial, name, 8) >= 6
    trial.store.close()
    trial.other.close()


def test_an_interrupted_close_can_be_finished(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    count = 0
    for at in range(1, 2000, 5):
        store = SQLiteStore.open(path)
        episode = store.append(seen(at))
        if not interrupted(Interrupt(at), store.close):
            break
        count += 1
        store.close()
        with pytest.raises(ClosedError):
            store.append(seen(10**6))
        with SQLiteStore.open(path) as again:  # the file and its lock are free
            assert episode.id in again.graph
    assert count > 5


@pytest.mark.slow
def test_an_interrupted_opening_leaves_the_file_free(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    count = 0
    for at in range(1, 900, 45):
        if at % 4 == 1:
            path.unlink(missing_ok=True)
        count += interrupted(Interrupt(at), lambda: SQLiteStore.open(path).close())
        gc.collect()
        with SQLiteStore.open(path) as store:
            store.append(seen(1))
            assert len(store.graph) == 1
    assert count > 5


def test_a_store_of_the_same_connection_goes_on_after_an_interrupt_in_another_thread(tmp_path: Path) -> None:
    with SQLiteStore.open(tmp_path / "memory") as store, store.open_namespace(store.namespace) as other:
        store.append(seen(0))
        failed: list[int] = []

        def write(at: int) -> None:
            try:
                with Interrupt(at):
                    other.append(seen(at))
            except KeyboardInterrupt:
                failed.append(at)

        for at in range(1, 300, 9):
            thread = threading.Thread(target=write, args=(at,))
            thread.start()
            thread.join()
            found = list(store.episodes())
            assert store.graph.state_hash() == state_hash(fold(found).rows())
            store.append(seen(1000 + at))
        assert len(failed) > 5


def test_a_stale_store_writes_right(tmp_path: Path) -> None:
    # another program wrote although the memory is open here: the position is that of the file, not that in RAM
    path = tmp_path / "memory"
    with SQLiteStore.open(path) as store:
        store.append(seen(1))
        stale = store._state.position
        store.append(seen(2))
        store._state.position = stale  # as if the second change had not been applied
        store._state.graph.forget(seen(2).id)  # type: ignore[union-attr]
        store.append(seen(3))
        assert len(store.graph) == 3
        assert store.graph.state_hash() == state_hash(fold([seen(1), seen(2), seen(3)]).rows())
        with SQLiteStore.open(path, readonly=True) as reader:
            assert reader.graph.state_hash() == store.graph.state_hash()


@contextmanager
def alarms(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, handler)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def signalled(work: Callable[[], object], seconds: float) -> bool:
    """Whether a signal after some time interrupted ``work``; the error is gone when this returns."""
    fired = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        fired.append(number)
        raise KeyboardInterrupt

    with alarms(interrupt):
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                work()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except BaseException:
            if not fired:  # numpy makes a TypeError of an interrupt in the midst of writing an array
                raise
            return True
        return False


@pytest.mark.slow
def test_interrupts_by_signals_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_OVERWRITTEN_ROWS", 20)
    chance = random.Random(15)
    trial = Trial(tmp_path / "memory")
    counts: Counter[str] = Counter()
    wanted = int(os.environ.get("WORLDTHREAD_TRIALS", "150"))
    spent = dict.fromkeys(OPERATIONS, 0.003)
    while sum(counts.values()) < wanted:
        name = chance.choice(sorted(OPERATIONS))
        before = dict(trial.model)
        work, after = OPERATIONS[name](trial)
        seconds = chance.uniform(0.00001, spent[name])
        if signalled(work, seconds):
            counts[name] += 1
            spent[name] *= 1.02
            trial.check([before, after], name)
        else:
            spent[name] = max(0.00005, spent[name] * 0.95)
            trial.check([after], name)
    print(dict(counts))
    trial.store.close()
    trial.other.close()


def test_a_store_that_an_interrupted_read_still_holds_can_be_closed(tmp_path: Path) -> None:
    store = SQLiteStore.open(tmp_path / "m")
    store.append(Episode("one", 1.0))
    connection = store._database._connection
    assert connection is not None
    rows = connection.execute("SELECT * FROM sqlite_master")
    next(rows)
    assert not store._database.truncate_log()
    store.close()
    with SQLiteStore.open(tmp_path / "m") as again:
        assert len(list(again.episodes())) == 1
