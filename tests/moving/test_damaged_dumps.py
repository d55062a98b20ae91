"""Mutated files: an error of ours before anything is remembered, or an import that accounts for every message."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from worldthread import Memory, WorldthreadError
from worldthread.moving import FORMATS, import_dump

VALUES = (None, True, 0, -1, 1e300, 10**30, "", "x", "a\0b", "2024-13-45", [], {}, [None], {"x": 1}, "y" * 20_000)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a JSON value with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def mutated_value(dump: Any, chance: random.Random) -> bytes:
    """The JSON of a dump in which some values are others, absent or doubled."""
    dump = copy.deepcopy(dump)
    for _ in range(chance.randint(1, 3)):
        container, key = chance.choice(list(places(dump)) or [({"": None}, "")])
        action = chance.randrange(4)
        if action == 0:
            del container[key]
        elif action == 1 and isinstance(container, list):
            container.insert(chance.randint(0, len(container)), copy.deepcopy(container[key]))
        else:
            container[key] = copy.deepcopy(chance.choice(VALUES))
    return json.dumps(dump).encode()


def mutated_bytes(data: bytes, chance: random.Random) -> bytes:
    """A file that was cut, or of which some bytes are others, absent or doubled."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(changed) + 1)
        end = min(len(changed), start + chance.randint(1, 12))
        action = chance.randrange(4)
        if action == 0:
            changed[start:end] = bytes(chance.randrange(256) for _ in range(end - start))
        elif action == 1:
            del changed[start:end]
        elif action == 2:
            changed[start:start] = changed[start:end]
        else:
            del changed[chance.randrange(start, len(changed) + 1) :]
    return bytes(changed)


def mutated_archive(files: dict[str, Any], chance: random.Random, pack: Callable[..., bytes]) -> bytes:
    """An archive of which some values are others, or of which some bytes are, before or after it is compressed."""
    if chance.random() < 0.7:
        return pack(json.loads(mutated_value(files, chance)))
    compressed = chance.random() < 0.3
    return mutated_bytes(pack(files, compressed=compressed), chance)


def mutated(dump: Any, chance: random.Random, pack: Callable[..., bytes]) -> bytes:
    if isinstance(dump, str):
        return mutated_bytes(dump.encode(), chance)
    if "manifest.json" in dump:
        return mutated_archive(dump, chance, pack)
    return mutated_value(dump, chance) if chance.random() < 0.7 else mutated_bytes(json.dumps(dump).encode(), chance)


def check(name: str, data: bytes, path: Path, memory: Memory) -> bool:
    """Import a file that may be damaged, and return whether it was imported; the memory is empty then."""
    path.write_bytes(data)
    done = refusal = None
    try:
        done = import_dump(memory, path, name)
    except WorldthreadError as error:
        refusal = str(error)
    if done is None:
        assert str(path) in str(refusal)
        assert memory.stats()["episodes"] == 0
        return False
    assert done.messages == done.remembered + sum(done.left_out.values())
    assert memory.stats()["episodes"] == done.added >= done.remembered
    assert (done.known, done.unread) == (0, 0)
    if name in ("chatgpt", "claude"):  # what is remembered is what was written
        written = json.dumps(json.loads(data.decode("utf-8-sig")), ensure_ascii=False)
        lines = [line for one in memory.episodes() for line in one.text.split(": ", 1)[1].splitlines()]
        assert [line for line in lines if line not in written] == []
    assert import_dump(memory, path, name).added == 0
    for id_ in [episode.id for episode in memory.episodes()]:
        memory.forget(id_)
    return True


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("count", [35, pytest.param(1000, marks=pytest.mark.slow)])
def test_mutated_dumps_are_refused_or_imported(
    count: int,
    name: str,
    dumps: dict[str, Any],
    write: Callable[..., Path],
    pack: Callable[..., bytes],
    capsys: pytest.CaptureFixture[str],
) -> None:
    chance = random.Random(f"{name} {count}")
    path = write("")
    with Memory(model="none", embedder="fake") as memory:
        imported = sum(check(name, mutated(dumps[name], chance, pack), path, memory) for _ in range(count))
    with capsys.disabled():
        print(f" {name}: {imported} of {count} imported, {count - imported} refused", end="")
    assert 0 < imported < count  # both happen
