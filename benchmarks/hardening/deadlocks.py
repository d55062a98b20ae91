"""Search for deadlocks: every pair of public calls at once, from two threads, on one memory.

    python benchmarks/hardening/deadlocks.py [--trials 1] [--only TEXT]

The calls are those of Memory, of its record and of its store, found by introspection: a new method is covered by itself
when it needs no argument, and otherwise reported until it has an entry in CALLS. Each pair runs on one memory, on two
namespaces of one file, with the first call inside ``record.read_lock()`` or ``record.index()``, and from coroutines.
``--trials`` is how often each pair runs in each of these settings.

Every lock that the library makes lets the other thread go on as soon as it is taken, so that locks that are taken in
opposite orders meet. A pair is stuck when no thread of the process was scheduled for some seconds; that does not depend
on how busy the machine is. Each batch of pairs runs in a process of its own.
"""

from __future__ import annotations

import asyncio
import inspect
import io
import itertools
import json
import os
import random
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
from material import Result, export_of, finish, make_episode, options, scratch_folder

from worldthread import AsyncMemory, Memory
from worldthread.errors import NotFoundError, WorldthreadError
from worldthread.memory.record import Record
from worldthread.models.fake import FakeEmbedder
from worldthread.stores import SQLiteStore, Store
from worldthread.types import Episode, Extraction, Fact

IDLE_SECONDS = 4.0
BATCH = 60
MOST = 40
"""Violations after which the search ends: each costs some seconds."""

_numbers = itertools.count(1000)


def _fresh() -> Any:
    return make_episode(next(_numbers))


def _forget(memory: Memory) -> None:
    memory.forget(memory.record.add(_fresh()))


def _correct(memory: Memory) -> None:
    number = next(_numbers)
    fact = Fact(f"key {number}", "is in", "locker")
    memory.record.add(Episode(f"text {number}", number, "", Extraction("test/1", (fact,))))
    memory.correct(fact, at=number + 0.5)


def _update(memory: Memory) -> None:
    number = next(_numbers)
    fact = Fact(f"key {number}", "is in", "locker")
    memory.record.add(Episode(f"text {number}", number, "", Extraction("test/1", (fact,))))
    memory.update(fact, at=number + 0.5)


def _delete_namespace(memory: Memory) -> None:
    name = f"of {next(_numbers)}"
    with memory.open_namespace(name) as other:
        other.remember("Anna lives in Rome.", at=1)
    memory.delete_namespace(name)


def _merge(memory: Memory) -> None:
    number = next(_numbers)
    memory.merge(f"key {number}", f"iron key {number}", at=number)


def _replace(memory: Memory) -> None:
    number = next(_numbers)
    memory.record.add(make_episode(number))
    memory.record.replace(make_episode(number, 1))


def _inside(manager: AbstractContextManager[Any]) -> None:
    with manager:
        pass


def _put_vectors(memory: Memory) -> None:
    memory.record.vectors.put_vectors("m", [f"text {next(_numbers)}"], np.ones((1, 3), np.float32))


def _open(memory: Memory) -> None:
    SQLiteStore.open(memory.path, readonly=True).close()


EXPORT = export_of([(number, 0) for number in range(5)])
QUESTION = "Where is key 1?"
KEPT = make_episode(0)

CALLS: dict[str, Callable[[Memory], Any]] = {
    "Memory.about": lambda m: m.about("key 1"),
    "Memory.ask": lambda m: m.ask(QUESTION),
    "Memory.correct": _correct,
    "Memory.close": lambda m: m.close(),
    "Memory.delete_namespace": _delete_namespace,
    "Memory.episode": lambda m: m.episode(KEPT.id),
    "Memory.export": lambda m: m.export(io.BytesIO()),
    "Memory.forget": _forget,
    "Memory.import_": lambda m: m.import_(io.BytesIO(EXPORT)),
    "Memory.merge": _merge,
    "Memory.watch_indexing": lambda m: m.watch_indexing(None),
    "Memory.suggest_merges": lambda m: m.suggest_merges(),
    "Memory.open_namespace": lambda m: m.open_namespace("c").close(),
    "Memory.recall": lambda m: m.recall(QUESTION),
    "Memory.remember": lambda m: m.remember("Anna lives in Rome.", at=next(_numbers)),
    "Memory.remember_many": lambda m: m.remember_many(["Bob loves tea."], at=next(_numbers), progress=False),
    "Memory.retry": lambda m: m.retry(progress=False),
    "Memory.timeline": lambda m: m.timeline("locker"),
    "Memory.update": _update,
    "Record.add": lambda m: m.record.add(_fresh()),
    "Record.add_many": lambda m: m.record.add_many([_fresh(), _fresh()]),
    "Record.episode": lambda m: m.record.episode(KEPT.id),
    "Record.episodes_about": lambda m: m.record.episodes_about("key 1"),
    "Record.forget": lambda m: m.record.forget(m.record.add(_fresh()).id),
    "Record.forget_many": lambda m: m.record.forget_many([m.record.add(_fresh()).id]),
    "Record.index": lambda m: _inside(m.record.index()),
    "Record.read_lock": lambda m: _inside(m.record.read_lock()),
    "Record.replace": _replace,
    "Record.wait_for_change": lambda m: m.record.wait_for_change(0),
    "Store.append": lambda m: m._store.append(_fresh()),
    "Store.append_many": lambda m: m._store.append_many([_fresh(), _fresh()]),
    "Store.episode": lambda m: m._store.episode(KEPT.id),
    "Store.export": lambda m: m._store.export(io.BytesIO()),
    "Store.forget_many": lambda m: m._store.forget_many([m._store.append(_fresh()).id]),
    "Store.forget": lambda m: m._store.forget(m._store.append(_fresh()).id),
    "Store.get_vectors": lambda m: m._store.get_vectors("m", ["text"]),
    "Store.import_": lambda m: m._store.import_(io.BytesIO(EXPORT)),
    "Store.load_index": lambda m: m._store.load_index("i"),
    "Store.texts": lambda m: m._store.texts([KEPT.id]),
    "Store.namespaces": lambda m: SQLiteStore.namespaces(m.path or ""),
    "Store.open": _open,
    "Store.open_namespace": lambda m: m._store.open_namespace("c").close(),
    "Store.put_vectors": _put_vectors,
    "Store.read_lock": lambda m: _inside(m._store.read_lock()),
    "Store.replace": _replace,
    "Store.wait_for_change": lambda m: m._store.wait_for_change(0),
    "Store.vector_models": lambda m: m._store.vector_models(["text"]),
    "Store.save_index": lambda m: m._store.save_index("i", {"a": np.ones(2)}, m._store.graph, 0),
}
"""Calls that need arguments, or that do not end by themselves."""


def all_calls() -> tuple[dict[str, Callable[[Memory], Any]], list[str]]:
    """Return every public call by its name, and the names of those that cannot be made without an entry in CALLS."""
    parts: list[tuple[str, type, Callable[[Memory], Any]]] = [
        ("Memory", Memory, lambda m: m),
        ("Record", Record, lambda m: m.record),
        ("Store", SQLiteStore, lambda m: m._store),
    ]
    found, unknown = dict[str, Callable[[Memory], Any]](), []
    for title, kind, part in parts:
        for name in sorted({n for n in dir(kind) if not n.startswith("_")}):
            key = f"{title}.{name}"
            if key in CALLS:
                found[key] = CALLS[key]
            elif _needs_arguments(kind, name):
                unknown.append(key)
            else:
                found[key] = lambda m, part=part, name=name: _consume(getattr(part(m), name))
    return found, [*unknown, *(key for key in CALLS if key not in found)]


def _needs_arguments(kind: type, name: str) -> bool:
    member = inspect.getattr_static(kind, name)
    if not callable(getattr(kind, name)) or isinstance(member, property):
        return False
    parameters = list(inspect.signature(getattr(kind, name)).parameters.values())[1:]
    return any(p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def _consume(value: Any) -> None:
    """Call a method, and use what it returns."""
    result = value() if callable(value) else value
    if isinstance(result, AbstractContextManager) and not isinstance(result, Memory | Store):
        _inside(result)
    elif isinstance(result, Iterator):
        list(result)


# -- locks that let others go on ---------------------------------------------------------------------------------------


class SwitchingLock:
    """A lock that lets other threads go on as soon as it is taken."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def acquire(self, *arguments: Any, **options: Any) -> bool:
        """Take the lock; see :meth:`threading.Lock.acquire`."""
        taken = bool(self._lock.acquire(*arguments, **options))
        time.sleep(0.0002 if random.random() < 0.1 else 0)
        return taken

    def release(self) -> None:
        """Release the lock."""
        self._lock.release()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lock, name)

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


def switch_in_locks() -> None:
    """Let the library make locks that let others go on."""
    for name in ("Lock", "RLock"):
        real = getattr(threading, name)

        def make(real: Any = real) -> Any:
            caller = sys._getframe(1).f_globals.get("__name__", "")
            return SwitchingLock(real()) if caller.startswith("worldthread") else real()

        setattr(threading, name, make)


# -- pairs -------------------------------------------------------------------------------------------------------------

SETTINGS = ("one memory", "two namespaces", "inside read_lock", "inside index", "coroutines")
Pair = tuple[str, str, str]


def all_pairs() -> list[Pair]:
    """Return every pair of calls in every setting in which it differs."""
    names = list(all_calls()[0])
    pairs = []
    for setting in SETTINGS:
        if setting == "coroutines":
            methods = [name for name in names if name.startswith("Memory.") and _is_coroutine(name.split(".")[1])]
            pairs += [(setting, *pair) for pair in itertools.combinations_with_replacement(methods, 2)]
        elif setting == "one memory":
            pairs += [(setting, *pair) for pair in itertools.combinations_with_replacement(names, 2)]
        else:
            pairs += [(setting, *pair) for pair in itertools.product(names, names)]
    return pairs


def _is_coroutine(name: str) -> bool:
    return inspect.iscoroutinefunction(getattr(AsyncMemory, name, None))


class _Coroutines:
    """Makes the calls of a memory through its asynchronous face: every method returns the result that it awaits."""

    def __init__(self, memory: Memory, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._memory = memory
        self._async = AsyncMemory()
        self._async._memory = memory

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._async, name)
        if not inspect.iscoroutinefunction(method):
            return getattr(self._memory, name)
        return lambda *a, **o: asyncio.run_coroutine_threadsafe(method(*a, **o), self._loop).result()


class Runner:
    """Runs pairs in a process of its own.

    Args:
        folder: where memories are put.
        rounds: how often each pair runs.
        tell: sends one report.
    """

    def __init__(self, folder: Path, rounds: int, tell: Callable[[dict[str, Any]], None]) -> None:
        self._folder = folder
        self._rounds = rounds
        self._tell = tell
        self._calls = all_calls()[0]
        self._memory: Memory | None = None
        self._other: Memory | None = None
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def _opened(self) -> tuple[Memory, Memory]:
        """Return two memories of one file; a pair that closes one gets others next time."""
        memory, other = self._memory, self._other
        is_open = memory is not None and other is not None
        if memory is not None and other is not None:
            try:
                is_open = len(memory.record.graph) < 60 and len(other.record.graph) < 60
            except WorldthreadError:
                is_open = False
            if not is_open:
                for each in (memory, other):
                    with suppress(WorldthreadError):  # the store beneath may be closed
                        each.close()
        if memory is None or other is None or not is_open:
            path = self._folder / f"m{os.getpid()}-{next(_numbers)}"
            memory = Memory(path, model="none", embedder=FakeEmbedder())
            other = memory.open_namespace("other")
            for each in (memory, other):
                each.record.add_many(make_episode(number) for number in range(6))
                each.recall(QUESTION)
            self._memory, self._other = memory, other
        return memory, other

    def run(self, pair: Pair) -> None:
        """Run one pair some times, and report what goes wrong."""
        setting, *names = pair
        for _ in range(self._rounds):
            memory, other = self._opened()
            barrier = threading.Barrier(2)
            errors: list[str] = []

            def work(place: int, memory: Memory = memory, other: Memory = other) -> None:
                used: Any = other if setting == "two namespaces" and place else memory
                if setting == "coroutines":
                    used = _Coroutines(memory, self._loop)
                around: Callable[[], AbstractContextManager[Any]] = nullcontext
                if not place and setting == "inside read_lock":
                    around = used.record.read_lock
                elif not place and setting == "inside index":
                    around = used.record.index
                barrier.wait()  # noqa: B023
                try:
                    with around():
                        self._calls[names[place]](used)
                except WorldthreadError:
                    pass  # closed by the other, or changed inside a block that reads
                except BaseException:
                    errors.append(f"{names[place]}: {traceback.format_exc()}")  # noqa: B023

            threads = [threading.Thread(target=work, args=(place,), daemon=True) for place in range(2)]
            for thread in threads:
                thread.start()
            if not self._ended(threads):
                self._tell({"pair": pair, "stuck": [_where(thread) for thread in threads]})
                os._exit(3)
            if errors:
                last = errors[0].strip().splitlines()
                self._tell({"pair": pair, "error": f"{last[0].split(':')[0]}: {last[-1]}", "trace": errors[0]})
                self._memory = None
        self._tell({"pair": pair})

    def _ended(self, threads: list[threading.Thread]) -> bool:
        """Wait for threads; return whether they ended before no thread was scheduled for a long time."""
        threads[0].join(0.5)
        before, since = None, time.monotonic()
        while any(thread.is_alive() for thread in threads):
            for thread in threads:
                thread.join(0.25)
            now = _activity()
            if now is None or now != before:
                before, since = now, time.monotonic()
            elif time.monotonic() - since > IDLE_SECONDS:
                return False
        return True


def _activity() -> dict[str, str] | None:
    """Return how often each other thread was scheduled; ``None`` when one of them is not asleep."""
    found = {}
    for task in Path("/proc/self/task").iterdir():
        if int(task.name) == threading.get_native_id():
            continue
        try:
            lines = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
        except OSError:
            return None
        if lines["State"].split()[0] != "S":
            return None
        found[task.name] = lines["voluntary_ctxt_switches"] + lines["nonvoluntary_ctxt_switches"]
    return found


def _where(thread: threading.Thread) -> str:
    frame = sys._current_frames().get(thread.ident or 0)
    if frame is None:
        return "ended"
    own = [f"{Path(entry.filename).name}:{entry.lineno} {entry.name}" for entry in traceback.extract_stack(frame)
           if "worldthread" in entry.filename and "hardening" not in entry.filename]  # fmt: skip
    return " < ".join(own[::-1][:4])


def run_batch(pairs: list[Pair], folder: Path, rounds: int) -> Iterator[dict[str, Any]]:
    """Run pairs in a process of its own, and yield what it reports."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(ours)
        warnings.simplefilter("ignore")
        sys.setswitchinterval(1e-6)
        runner = Runner(folder, rounds, lambda report: _write(theirs, report))
        try:
            for pair in pairs:
                runner.run(pair)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as stream:
        for line in stream:
            yield json.loads(line)
    os.waitpid(pid, 0)


def _write(file: int, report: dict[str, Any]) -> None:
    os.write(file, json.dumps(report).encode() + b"\n")


def search(rounds: int, only: str, shown: bool) -> Result:
    """Run every pair.

    Args:
        rounds: how often each pair runs in each setting.
        only: runs the pairs whose description holds this.
        shown: whether to print the traces of errors.
    """
    result = Result("all pairs of public calls")
    before = sum(os.times()[:4])
    calls, unknown = all_calls()
    for name in unknown:
        result.violations.append((name, "the search does not know how to call it: add it to CALLS"))
    result.notes["calls"] = len(calls)
    switch_in_locks()
    pairs = [pair for pair in all_pairs() if only in " ".join(pair)]
    at, last = 0, time.monotonic()
    with scratch_folder() as folder:
        while at < len(pairs) and len(result.violations) < MOST:
            done = 0
            for report in run_batch(pairs[at : at + BATCH], folder, rounds):
                setting, first, second = report["pair"]
                place = f"{first} || {second}, {setting}"
                if "stuck" in report:
                    result.violations.append((place, "deadlock: " + " | ".join(report["stuck"])))
                    result.notes["deadlocks"] += 1
                elif "error" in report:
                    result.violations.append((place, report["error"]))
                    if shown:
                        print(report["trace"])
                    continue
                done += 1
                result.trials += 1
                result.notes[f"pairs, {setting}"] += 1
            if not done:
                result.violations.append((" ".join(pairs[at]), "the process ended"))
                done = 1
            at += done
            for file in folder.iterdir():
                if file.is_file():
                    file.unlink()
            if time.monotonic() - last > 20:
                last = time.monotonic()
                print(f"... {at:,} of {len(pairs):,} pairs, {len(result.violations)} violations", file=sys.stderr)
    if at < len(pairs):
        result.notes["pairs left out after so many violations"] = len(pairs) - at
    result.seconds = sum(os.times()[:4]) - before
    return result


def main() -> int:
    """Run the search."""
    parser = options(__doc__ or "", 1)
    parser.add_argument("--only", default="", help="only pairs whose description holds this")
    arguments = parser.parse_args()
    assert issubclass(NotFoundError, WorldthreadError)
    return finish(search(arguments.trials, arguments.only, arguments.only != ""), arguments)


if __name__ == "__main__":
    sys.exit(main())
