"""What all attacks share: colliding episodes, graphs in a form that can be compared, results, and their options."""

from __future__ import annotations

import argparse
import functools
import hashlib
import io
import itertools
import json
import math
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from worldthread import Memory
from worldthread.graph import TemporalGraph, fold
from worldthread.models.fake import FakeEmbedder
from worldthread.types import Ending, Episode, Extraction, Fact, Thesis, Version


class Violation(Exception):
    """A promise is broken."""


# few names in several spellings, so that episodes collide: equal statements, shared aspects, ties in time
NAMES = ("Key 1", "key 1", "the key 1", "locker", "A Locker", "Straße 5", "STRASSE 5", "room a")
RELATIONS = ("is in", "Is In", "unlocks")
ASPECTS = (None, "place", "state", "place of key 1")
THESES = ("The key fits.", "the key fits", "The locker is shut.", "Room A lies on Straße 5.")


def make_statement(chance: random.Random) -> Fact | Thesis:
    """Return a fact or a thesis with names that others have too."""
    aspect = chance.choice(ASPECTS)
    if chance.random() < 0.7:
        return Fact(chance.choice(NAMES), chance.choice(RELATIONS), chance.choice(NAMES), aspect)
    return Thesis(chance.choice(THESES), tuple(chance.sample(NAMES, chance.randint(0, 2))), aspect)


KNOWN: dict[tuple[str, str], Episode] = {}
"""Every episode that was made here, by its id and the digest of its extraction."""


def know(episode: Episode) -> Episode:
    """Note that an episode exists, and return it."""
    KNOWN[episode.id, episode.extraction.digest] = episode
    return episode


@functools.cache
def make_episode(number: int, reading: int = 0) -> Episode:
    """Return one of endless episodes: the same for the same arguments.

    Args:
        number: which text.
        reading: which extraction of the text.
    """
    chance = random.Random(f"{number} {reading}")
    statements = tuple(make_statement(chance) for _ in range(chance.randint(0, 3)))
    endings = tuple(Ending(make_statement(chance), "gone") for _ in range(chance.choice((0, 0, 1, 2))))
    where = random.Random(number)
    # spaces make it long and cost no time to embed
    text = f"mark{number}mark {where.choice(THESES)}{' ' * where.choice((0, 0, 50, 700, 5000))}."
    return know(Episode(text, where.randint(0, 4), "", Extraction(f"test/{reading}", statements, endings)))


def canonical(versions: Iterable[Iterable[Version]]) -> str:
    """Return a digest of a graph, computed here and not by the library: equal for equal graphs only."""
    rows = []
    for of_one in versions:
        for version in of_one:
            shown = version.statement
            objects = shown.objects if isinstance(shown, Thesis) else (shown.relation, shown.object)
            rows.append(
                repr(
                    (
                        type(shown).__name__, str(shown), objects, version.interval.valid_from,
                        version.interval.valid_to, version.sources, version.ended_by, version.reason,
                    )
                )
            )  # fmt: skip
    return hashlib.blake2b("\n".join(sorted(rows)).encode(), digest_size=12).hexdigest()


def canonical_graph(graph: TemporalGraph) -> str:
    """Return the digest of a graph that the library computed."""
    return canonical(graph.all_versions())


def canonical_fold(episodes: Iterable[Episode]) -> str:
    """Return the digest of the graph that the definition gives."""
    return canonical(fold(episodes).versions.values())


# -- what should be ----------------------------------------------------------------------------------------------------

NAMESPACES = ("default", "b")
MODEL = "simulated/1"
VECTOR_TEXTS = tuple(f"vector text {number}" for number in range(4))
TEXTS = (
    "Anna lives in Rome. Anna works for Acme.",
    "Clara moved to Paris.",
    "# House\n\nThe spoons are in the drawer.\n\nThe shop is closed. Bob is the CEO of Initech.",
    "Dora is married to Emil. Dora loves tea.",
)
"""Texts about other things each: what is read from one does not depend on which of them were told before."""

Content = tuple[frozenset[tuple[str, str]], frozenset[tuple[str, float]]]
State = tuple[Content, ...]
"""What each namespace holds: ids of episodes with digests of their extractions, and texts with their vectors."""

EMPTY: State = tuple((frozenset(), frozenset()) for _ in NAMESPACES)


@functools.cache
def text_episodes(number: int) -> tuple[Episode, ...]:
    """Return the episodes that a text becomes, in order."""
    with Memory(None, clock=lambda: 0.0, model="none", embedder=FakeEmbedder()) as memory:
        memory.remember(TEXTS[number], at=float(number))
        return tuple(map(know, memory.episodes()))


@functools.lru_cache(maxsize=20_000)
def expected_digest(content: frozenset[tuple[str, str]], up_to: float = math.inf) -> str:
    """Return the digest of the graph of some episodes, by the definition."""
    episodes = (KNOWN[key] for key in content)
    return canonical_fold(e for e in episodes if e.at <= up_to)


Seen = tuple[State, tuple[str, ...]]
"""A state, and the digest of the graph of each namespace."""


def look(memories: Mapping[str, Memory]) -> Seen:
    """Return what open memories hold, by their records, and the digests of their graphs."""
    found, digests = [], []
    for name in NAMESPACES:
        memory = memories[name]
        episodes = frozenset((e.id, e.extraction.digest) for e in memory.episodes())
        vectors = memory.record.vectors.get_vectors(MODEL, VECTOR_TEXTS)
        with memory.record.read_lock() as graph:
            digests.append(canonical_graph(graph))
        found.append((episodes, frozenset((text, float(vector[0])) for text, vector in vectors.items())))
    return tuple(found), tuple(digests)


def ids_of(state: State) -> set[str]:
    """Return the ids of all episodes of a state."""
    return {id_ for content, _ in state for id_, _ in content}


def require_folds(seen: Seen, who: str) -> None:
    """Raise Violation unless every graph is the fold of its episodes, all of which were made here.

    Args:
        seen: see :func:`look`.
        who: has seen it, in words.
    """
    for (episodes, _), digest, where in zip(*seen, NAMESPACES, strict=True):
        unknown = [key for key in episodes if key not in KNOWN]
        if unknown:
            raise Violation(f"{who} sees episodes that nobody recorded: {unknown}")
        if digest != expected_digest(episodes):
            raise Violation(f"{who} sees a graph of {where} that is not the fold of its episodes")


def outcome(state: State, name: str, arguments: Mapping[str, Any]) -> tuple[list[State], str | None]:
    """Return the states after each transaction of an operation, and the error that it raises."""
    if "where" not in arguments:
        return [], None
    index = NAMESPACES.index(arguments["where"])
    content, vectors = dict(state[index][0]), dict(state[index][1])

    def now() -> State:
        changed = (frozenset(content.items()), frozenset(vectors.items()))
        return (*state[:index], changed, *state[index + 1 :])

    if name == "add":
        episode = make_episode(arguments["number"], arguments["reading"])
        if content.setdefault(episode.id, episode.extraction.digest) != episode.extraction.digest:
            return [], "InputError"
    elif name in ("add_many", "import"):
        for item in arguments["plan"]:
            episode = make_episode(*item)
            if content.setdefault(episode.id, episode.extraction.digest) != episode.extraction.digest:
                return [], "InputError" if name == "add_many" else "FormatError"
    elif name == "replace":
        episode = make_episode(arguments["number"], arguments["reading"])
        if episode.id not in content:
            return [], "NotFoundError"
        content[episode.id] = episode.extraction.digest
    elif name == "forget":
        if content.pop(make_episode(arguments["number"]).id, None) is None:
            return [], "NotFoundError"
    elif name == "forget_about":
        states = []
        for id_ in arguments["ids"]:
            del content[id_]
            states.append(now())
        return states, None if states else "NotFoundError"
    elif name == "clear":
        content, vectors = {}, {}
    elif name == "put_vectors":
        vectors.update(dict.fromkeys(arguments["texts"], arguments["value"]))
    elif name == "remember":
        states = []
        for episode in text_episodes(arguments["text"]):
            content.setdefault(episode.id, episode.extraction.digest)
            states.append(now())
        return states, None
    else:
        return [], None
    return [now()], None


def perform(memory: Memory, name: str, arguments: Mapping[str, Any]) -> Any:
    """Carry out an operation on the namespace that it is about. Those that only read return what was read."""
    record = memory.record
    number, reading = arguments.get("number", 0), arguments.get("reading", 0)
    if name == "add":
        record.add(make_episode(number, reading))
    elif name == "add_many":
        record.add_many(make_episode(*item) for item in arguments["plan"])
    elif name == "import":
        memory.import_(io.BytesIO(arguments["export"]))
    elif name == "replace":
        record.replace(make_episode(number, reading))
    elif name == "forget":
        record.forget(make_episode(number).id)
    elif name == "forget_about":
        memory.forget(entity=arguments["entity"])
    elif name == "clear":
        memory._store.clear()
    elif name == "put_vectors":
        texts = arguments["texts"]
        record.vectors.put_vectors(MODEL, texts, np.full((len(texts), 3), arguments["value"], np.float32))
    elif name == "remember":
        memory.remember(TEXTS[arguments["text"]], at=float(arguments["text"]), wait=arguments.get("wait", True))
    elif name == "checkpoint":
        memory.checkpoint()
    elif name == "recall":
        found = memory.recall(arguments["question"], k=50, method=arguments["method"], only_current=False)
        return [hit.item.id for hit in found.hits if isinstance(hit.item, Episode)]
    elif name == "as_of":
        with record.read_lock() as graph:
            return canonical_graph(graph.as_of(world_time=arguments["at"]))
    elif name == "state_hash":
        return record.state_hash()
    elif name == "find_about":
        return record.episodes_about(arguments["entity"])
    else:
        raise AssertionError(name)
    return None


def export_of(plan: Iterable[tuple[int, int]]) -> bytes:
    """Return an export of some episodes."""
    target = io.BytesIO()
    with Memory(None, clock=lambda: 7.0, model="none", embedder=FakeEmbedder()) as memory:
        memory.record.add_many(make_episode(*item) for item in plan)
        memory.export(target)
    return target.getvalue()


def open_memories(path: Path, **settings: Any) -> dict[str, Memory]:
    """Open all namespaces of a file."""
    memory = Memory(path, model="none", embedder=FakeEmbedder(), **settings)
    try:
        return {"default": memory, "b": memory.open_namespace("b")}
    except BaseException:
        memory.close()
        raise


def close_all(memories: Mapping[str, Memory]) -> None:
    """Close the memories that :func:`open_memories` opened."""
    for memory in memories.values():
        memory.close()


def faults_found_by_sqlite(path: Path) -> list[Any]:
    """Check the file of a memory with SQLite alone; return an empty list when it is whole."""
    connection = sqlite3.connect(path)
    try:
        found = [
            *connection.execute("PRAGMA integrity_check").fetchall(),
            *connection.execute("PRAGMA foreign_key_check").fetchall(),
        ]
    finally:
        connection.close()
    return [] if found == [("ok",)] else found


def marks_left(folder: Path, forgotten: Iterable[str]) -> list[str]:
    """Return the marks of forgotten episodes that a file below a folder still holds."""
    marks = {episode.id: episode.text.split()[0] for episode in KNOWN.values()}
    left = b"|".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())
    return sorted({marks[id_] for id_ in forgotten if marks[id_].startswith("mark") and marks[id_].encode() in left})


# -- attacks -----------------------------------------------------------------------------------------------------------


@dataclass
class Result:
    """What an attack found.

    Args:
        promise: what was attacked, in words.
        trials: how many trials were made.
        violations: the seed of each violation, and what happened.
        notes: how often something happened that the attack is about.
        seconds: processor time.
    """

    promise: str
    trials: int = 0
    violations: list[tuple[str, str]] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def as_json(self) -> str:
        """Return the result as one line."""
        return json.dumps({**vars(self), "notes": dict(self.notes)})


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a new folder, in RAM where there is one, and remove it at the end."""
    ram = Path("/dev/shm")
    place = ram if ram.is_dir() and os.access(ram, os.W_OK) and shutil.disk_usage(ram).free > 1 << 30 else None
    with tempfile.TemporaryDirectory(prefix="worldthread-hardening-", dir=place, ignore_cleanup_errors=True) as name:
        yield Path(name)


def options(description: str, trials: int) -> argparse.ArgumentParser:
    """Return the options that every attack has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=trials)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="replay one trial and say what happens")
    parser.add_argument("--json", action="store_true", help="print the result as one line of JSON")
    return parser


def attack(promise: str, run: Callable[[int, Path, Result, bool], None], arguments: argparse.Namespace) -> int:
    """Run the trials of an attack, each with its own seed and its own folder, and print what they found.

    Args:
        promise: what is attacked.
        run: makes one trial: seed, folder, where to put what was found, whether to say what happens.
        arguments: see :func:`options`.

    Returns:
        The exit code.
    """
    with scratch_folder() as folder:
        result = _run_trials(promise, run, arguments, folder)
    return finish(result, arguments)


def _run_trials(
    promise: str, run: Callable[[int, Path, Result, bool], None], arguments: argparse.Namespace, folder: Path
) -> Result:
    result = Result(promise)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a run that is ended early prints what it found
    first, count = (arguments.first, arguments.trials) if arguments.seed is None else (arguments.seed, 1)
    before = sum(os.times()[:4])
    shown = time.monotonic()
    for seed in itertools.islice(itertools.count(first), count):
        place = folder / str(seed)
        place.mkdir()
        before_it = len(result.violations)
        try:
            run(seed, place, result, arguments.seed is not None)
        except KeyboardInterrupt:  # what was found so far counts
            print(f"interrupted at {seed}", file=sys.stderr)
            break
        for violation in result.violations[before_it:]:
            print(*violation, sep=": ", file=sys.stderr, flush=True)
        shutil.rmtree(place, ignore_errors=True)
        if time.monotonic() - shown > 20:
            shown = time.monotonic()
            done = seed - first + 1
            print(f"... {done:,} of {count:,} seeds, {len(result.violations)} violations", file=sys.stderr, flush=True)
    result.seconds = sum(os.times()[:4]) - before
    return result


def finish(result: Result, arguments: argparse.Namespace) -> int:
    """Print a result, and return the exit code."""
    if arguments.json:
        print(result.as_json())
        return bool(result.violations)
    print(f"{result.promise}: {result.trials:,} trials, {len(result.violations)} violations", end="")
    print(f" ({result.seconds:.0f} s of processor time)")
    for name, count in sorted(result.notes.items()):
        print(f"  {name}: {count:,}")
    for seed, what in result.violations[:20]:
        print(f"  {seed}: {what}")
    return bool(result.violations)
