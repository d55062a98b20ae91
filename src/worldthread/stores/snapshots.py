"""Snapshots of a graph: arrays beside the memory, so that opening does not have to fold the whole record.

``<memory>-snapshot/<namespace key>-<token>/`` holds one ``.npy`` file for each array of
:meth:`TemporalGraph.to_arrays`, and ``manifest.json``, which has a digest of every array, and the number and random
token of the last change that the snapshot shows. The token rules out the history of another file, or one that was
rolled back. A snapshot that does not fit is ignored: it can always be made again.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from worldthread.errors import InputError
from worldthread.graph import TemporalGraph

FORMAT: Final = 1
"""Version of the manifest. The arrays have their own (:data:`worldthread.graph.arrays.ARRAYS_FORMAT`)."""

_MANIFEST: Final = "manifest.json"


@dataclass(frozen=True)
class ChangePosition:
    """A position in the history of changes of one namespace.

    Args:
        number: number of the last change, from 1; 0 at the beginning.
        token: random token of that change; empty at the beginning.
    """

    number: int = 0
    token: bytes = b""


class Snapshots:
    """The snapshots of one namespace of one memory.

    Args:
        memory: the file of the memory.
        namespace: name of the namespace; only its digest becomes part of a path.
    """

    def __init__(self, memory: Path, namespace: str) -> None:
        self._memory = memory
        self._folder = memory.with_name(memory.name + "-snapshot")
        self._key = hashlib.blake2b(namespace.encode(), digest_size=16).hexdigest()

    def load(self, is_on_record: Callable[[ChangePosition], bool]) -> tuple[TemporalGraph, ChangePosition] | None:
        """Return the newest usable snapshot.

        Args:
            is_on_record: says whether a position belongs to the history of the memory.

        Returns:
            The graph and its position; ``None`` when there is no usable snapshot.
        """
        found = [pair for folder in self._folders() if (pair := _manifest(folder)) is not None]
        for folder, manifest in sorted(found, key=lambda pair: -pair[1].position.number):
            if manifest.namespace == self._key and is_on_record(manifest.position):
                graph = _load_graph(folder, manifest)
                if graph is not None:
                    return graph, manifest.position
        return None

    def write(self, graph: TemporalGraph, position: ChangePosition, base: ChangePosition | None = None) -> None:
        """Write a snapshot and remove the older ones.

        Args:
            graph: the graph to write.
            position: the position of the graph in the history.
            base: the position of an older snapshot with the same numbers of episodes and statements, whose indexes are
                kept; ``None`` to drop all indexes.

        Raises:
            OSError: the snapshot cannot be written; the older ones were not changed.
        """
        # the same people can read the memory and its snapshots
        mode = self._memory.stat().st_mode & 0o666
        folder_mode = mode | (mode & 0o444) >> 2
        self._folder.mkdir(exist_ok=True)
        self._folder.chmod(folder_mode)
        final = self._folder_of(position)
        # a random name, so that nobody reads or writes a half-written folder
        part = self._folder / f"{self._key}.{secrets.token_hex(8)}.part"
        try:
            part.mkdir(mode=folder_mode)
            digests = {}
            for name, array in graph.to_arrays().items():
                np.save(part / f"{name}.npy", array, allow_pickle=False)
                digests[name] = _array_digest(array)
            manifest = {
                "format": FORMAT,
                "namespace": self._key,
                "number": position.number,
                "token": position.token.hex(),
                "arrays": digests,
            }
            (part / _MANIFEST).write_bytes(orjson.dumps(manifest))
            for file in part.iterdir():
                file.chmod(mode)
            for index in () if base is None else self._folder_of(base).glob("index-*"):
                if index.suffix != ".part":
                    shutil.copytree(index, part / index.name, copy_function=os.link)
            if final.exists():
                shutil.rmtree(final)
            part.rename(final)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        self._remove_all_but(final)

    def write_index(self, position: ChangePosition, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write an index beside the snapshot of a position. It replaces an older index of that name.

        Args:
            position: the position of the snapshot.
            name: name of the index.
            arrays: arrays by name; the names are used as file names.

        Raises:
            OSError: the index cannot be written; the older one may be gone.
        """
        folder = self._folder_of(position)
        mode = self._memory.stat().st_mode & 0o666
        key = _index_key(name)
        part = folder / f"{key}.{secrets.token_hex(8)}.part"
        try:
            part.mkdir(mode=folder.stat().st_mode & 0o777)
            digests = {}
            for array_name, array in arrays.items():
                np.save(part / f"{array_name}.npy", array, allow_pickle=False)
                digests[array_name] = _array_digest(array)
            (part / _MANIFEST).write_bytes(orjson.dumps({"name": name, "arrays": digests}))
            for file in part.iterdir():
                file.chmod(mode)
            if (folder / key).exists():
                shutil.rmtree(folder / key)
            part.rename(folder / key)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise

    def load_index(self, position: ChangePosition, name: str) -> Mapping[str, NDArray[Any]] | None:
        """Return the memory-mapped arrays of an index beside the snapshot of a position, or ``None`` if unusable."""
        folder = self._folder_of(position) / _index_key(name)
        try:
            document = orjson.loads((folder / _MANIFEST).read_bytes())
            return _load_arrays(folder, document["arrays"]) if document["name"] == name else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _folder_of(self, position: ChangePosition) -> Path:
        return self._folder / f"{self._key}-{position.token.hex()}"

    def remove(self) -> None:
        """Remove every snapshot of the namespace, finished or not.

        Raises:
            OSError: a file cannot be removed.
        """
        self._remove_all_but(None)

    def _remove_all_but(self, kept: Path | None) -> None:
        for folder in self._folders():
            if folder != kept:
                shutil.rmtree(folder)
        if kept is None and self._folder.is_dir() and not any(self._folder.iterdir()):
            self._folder.rmdir()

    def _folders(self) -> list[Path]:
        if not self._folder.is_dir():
            return []
        return [self._folder / name for name in sorted(os.listdir(self._folder)) if name.startswith(self._key)]


@dataclass(frozen=True)
class _Manifest:
    namespace: str
    position: ChangePosition
    arrays: dict[str, str]


def _manifest(folder: Path) -> tuple[Path, _Manifest] | None:
    try:
        document = orjson.loads((folder / _MANIFEST).read_bytes())
        if document["format"] != FORMAT:
            return None
        position = ChangePosition(int(document["number"]), bytes.fromhex(document["token"]))
        return folder, _Manifest(str(document["namespace"]), position, dict(document["arrays"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _load_graph(folder: Path, manifest: _Manifest) -> TemporalGraph | None:
    try:
        arrays = _load_arrays(folder, manifest.arrays)
        return None if arrays is None else TemporalGraph.from_arrays(arrays)
    except (OSError, ValueError, EOFError, InputError):
        return None


def _load_arrays(folder: Path, digests: Mapping[str, str]) -> dict[str, NDArray[Any]] | None:
    """Return memory-mapped arrays by name; ``None`` when one of them has changed since it was written."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, digest in digests.items():
        array = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        if not isinstance(array, np.ndarray) or _array_digest(array) != digest:
            return None
        arrays[name] = array
    return arrays


def _index_key(name: str) -> str:
    return "index-" + hashlib.blake2b(name.encode(), digest_size=8).hexdigest()


def _array_digest(array: NDArray[Any]) -> str:
    state = hashlib.blake2b(f"{array.dtype.str} {array.shape} ".encode(), digest_size=16)
    state.update(np.ascontiguousarray(array).data)
    return state.hexdigest()
