"""Snapshots of a graph: arrays beside the memory, so that opening does not have to fold the whole record.

``<memory>-snapshot/<namespace key>-<token>/`` holds one ``.npy`` file for each array of
:meth:`TemporalGraph.to_arrays`, and ``manifest.json``, which has a digest of every array, and the number and random
token of the last change that the snapshot shows. The token rules out the history of another file, or one that was
rolled back.

A snapshot that does not fit, or that cannot be read for whatever reason, is ignored: it can always be made again.
Arrays are read into memory and not mapped: a mapped file that is cut short ends the process that reads it, and what was
checked could change later.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from worldthread.graph import TemporalGraph
from worldthread.stores.base import PIECE_MARK

FORMAT: Final = 1
"""Version of the manifest. The arrays have their own (:data:`worldthread.graph.arrays.ARRAYS_FORMAT`)."""

_MANIFEST: Final = "manifest.json"
_LAST_CHANGE: Final = 2**63 - 1

_NPY_HEADER: Final = re.compile(
    rb"\x93NUMPY\x01\x00(..)"
    rb"\{'descr': '([<|][a-z][0-9])', 'fortran_order': False, 'shape': \(([0-9, ]{0,80})\), \} *\n",
    re.DOTALL,
)
"""The beginning of a file that :func:`numpy.save` writes. :func:`numpy.load` would parse it as a Python expression."""
_NPY_PREFIX_BYTES: Final = 10
_NPY_HEADER_BYTES: Final = 1024
_DTYPES: Final = {
    dtype.str.encode(): dtype for dtype in map(np.dtype, ("?", "i1", "u1", "<i4", "<i8", "<u8", "<f2", "<f4", "<f8"))
}
"""The types of numbers in snapshots and indexes."""


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
        try:
            folders = self._folders()
        except OSError:
            return None
        found = [pair for folder in folders if (pair := _manifest(folder)) is not None]
        for folder, manifest in sorted(found, key=lambda pair: -pair[1].position.number):
            if manifest.namespace == self._key and is_on_record(manifest.position):
                graph = _load_graph(folder, manifest)
                if graph is not None:
                    return graph, manifest.position
        return None

    def write(
        self, arrays: Mapping[str, NDArray[Any]], position: ChangePosition, base: ChangePosition | None = None
    ) -> None:
        """Write a snapshot and remove the older ones.

        Args:
            arrays: the graph, from :meth:`TemporalGraph.to_arrays`.
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
            for name, array in arrays.items():
                _save_array(part / f"{name}.npy", array)
                digests[name] = array_digest(array)
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
                if index.suffix != ".part" and index.is_dir():
                    shutil.copytree(index, part / index.name, copy_function=os.link)
            if final.exists():
                _remove(final)
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
                _save_array(part / f"{array_name}.npy", array)
                digests[array_name] = array_digest(array)
            (part / _MANIFEST).write_bytes(orjson.dumps({"name": name, "arrays": digests}))
            for file in part.iterdir():
                file.chmod(mode)
            # a whole index replaces its pieces too
            for older in [folder / key] if PIECE_MARK in name else [*folder.glob(f"{key}.[0-9]*"), folder / key]:
                if older != part and older.exists():
                    shutil.rmtree(older)
            part.rename(folder / key)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise

    def load_index(self, position: ChangePosition, name: str) -> Mapping[str, NDArray[Any]] | None:
        """Return the arrays of an index beside the snapshot of a position, or ``None`` if it cannot be used."""
        folder = self._folder_of(position) / _index_key(name)
        try:
            document = orjson.loads(_read(folder / _MANIFEST).data)
            return _load_arrays(folder, document["arrays"]) if document["name"] == name else None
        except Exception:
            return None

    def remove_indexes(self, keep: str | None) -> None:
        """Remove the indexes of the namespace but one.

        Args:
            keep: name of the index that stays; ``None`` to remove all.

        Raises:
            OSError: a file cannot be removed.
        """
        kept = None if keep is None else _index_key(keep)
        for folder in self._folders():
            for index in folder.glob("index-*"):
                if kept is None or index.suffix == ".part" or index.name.partition(".")[0] != kept:
                    _remove(index)

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
                _remove(folder)
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


def _save_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array as ``np.save`` does, which turns an interrupt into an error of its own."""
    with path.open("wb") as file:
        write_array(file, array)


def write_array(file: IO[bytes], array: NDArray[Any]) -> None:
    """Write an array to a binary stream, in the form that :func:`array_of_file` reads.

    Args:
        file: the stream.
        array: any shape, of one of the types of numbers in snapshots.
    """
    array = np.ascontiguousarray(array)
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
    file.write(array.reshape(-1).view(np.uint8).data)


def _manifest(folder: Path) -> tuple[Path, _Manifest] | None:
    try:
        document = orjson.loads(_read(folder / _MANIFEST).data)
        if document["format"] != FORMAT:
            return None
        position = ChangePosition(int(document["number"]), bytes.fromhex(document["token"]))
        if not 0 <= position.number <= _LAST_CHANGE:
            return None
        return folder, _Manifest(str(document["namespace"]), position, dict(document["arrays"]))
    except Exception:  # whatever is wrong with a snapshot, the record is still there
        return None


def _load_graph(folder: Path, manifest: _Manifest) -> TemporalGraph | None:
    try:
        arrays = _load_arrays(folder, manifest.arrays)
        return None if arrays is None else TemporalGraph.from_arrays(arrays)
    except Exception:
        return None


def _load_arrays(folder: Path, digests: Mapping[str, str]) -> dict[str, NDArray[Any]] | None:
    """Return arrays by name; ``None`` when one of them has changed since it was written."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, digest in digests.items():
        array = array_of_file(_read(folder / f"{name}.npy"))
        if array is None or array_digest(array) != digest:
            return None
        arrays[name] = array
    return arrays


def array_of_file(content: NDArray[np.uint8]) -> NDArray[Any] | None:
    """Return the array of an ``.npy`` file, a read-only view of its content; ``None`` if we did not write the file."""
    found = _NPY_HEADER.match(content[:_NPY_HEADER_BYTES].tobytes())
    if found is None or _NPY_PREFIX_BYTES + int.from_bytes(found[1], "little") != found.end():
        return None
    dtype = _DTYPES.get(found[2])
    shape = tuple(int(size) for size in found[3].split(b",") if size.strip())
    if dtype is None or math.prod(shape) * dtype.itemsize != len(content) - found.end():
        return None
    return np.frombuffer(content, dtype, offset=found.end()).reshape(shape)


def _read(path: Path) -> NDArray[np.uint8]:
    """Return the bytes of a file, read-only.

    Args:
        path: the file.

    Returns:
        Shape (size of the file,).

    Raises:
        OSError: it cannot be read, is not a regular file, or is being cut short.
    """
    # opening a pipe would wait for somebody to write into it
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path} is not a regular file")
        content = np.empty(status.st_size, np.uint8)
        done = 0
        while done < len(content):
            count = file.readinto(content[done:].data)
            if not count:
                raise OSError(f"{path} is being cut short")
            done += count
    content.flags.writeable = False
    return content


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _index_key(name: str) -> str:
    name, _, piece = name.partition(PIECE_MARK)
    return f"index-{hashlib.blake2b(name.encode(), digest_size=8).hexdigest()}" + (f".{piece}" if piece else "")


def array_digest(array: NDArray[Any]) -> str:
    """Return the digest of the type, the shape and the numbers of an array: 32 hexadecimal digits."""
    state = hashlib.blake2b(f"{array.dtype.str} {array.shape} ".encode(), digest_size=16)
    state.update(np.ascontiguousarray(array).data)
    return state.hexdigest()
