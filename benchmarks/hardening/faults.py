"""Let a chosen system call fail, or end the process there; compute what a disk may hold after a loss of power.

``faults.c`` is built with gcc when it is first needed, and preloaded by running the program again. A process that was
forked from such a program arms it for itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import random
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).with_name("faults.c")

MODES = (
    "none", "kill before", "kill after", "kill halfway", "fail once", "fail from here", "short write", "pause",
    "interrupt",
)  # fmt: skip
"""What happens at the chosen call, in the order of the enumeration in faults.c."""

CHANGES, READS = 1, 2
ERRORS = {"no space": errno.ENOSPC, "input/output": errno.EIO, "quota": errno.EDQUOT}

_WRITE, _SYNC, _TRUNCATE, _RENAME, _UNLINK = range(1, 6)
_HEAD = struct.Struct("=IIIIQ")
_SECTOR = 512


def library() -> Path:
    """Build the library, once for each version of its source, and return its path."""
    source = SOURCE.read_bytes()
    folder = Path(tempfile.gettempdir()) / f"worldthread-faults-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user")
    built = folder / f"{hashlib.blake2b(source, digest_size=8).hexdigest()}.so"
    if not built.exists():
        part = built.with_suffix(f".{os.getpid()}")
        subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", part, SOURCE, "-ldl"], check=True)
        part.replace(built)
    return built


def restart_with_library() -> None:
    """Run this program again with the library, with fixed hashes and with one thread in numpy. Returns in that run."""
    path = str(library())
    if path in os.environ.get("LD_PRELOAD", "").split(":"):
        return
    rest = os.environ.get("LD_PRELOAD")
    fixed = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment = {**os.environ, **fixed, "LD_PRELOAD": f"{path}:{rest}" if rest else path}
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)


@dataclass(frozen=True)
class Fault:
    """What goes wrong during one operation.

    Args:
        mode: one of :data:`MODES`, or "line": the process ends at a line of our source.
        number: the number of the call, or of the line, from 1.
        kinds: which calls are counted.
        error: the error that a failing call returns.
    """

    mode: str
    number: int
    kinds: int = CHANGES
    error: str = "no space"

    def __str__(self) -> str:
        what = f" ({self.error})" if self.mode.startswith("fail") else ""
        place = "line" if self.mode == "line" else ("call", "change", "read", "call")[self.kinds]
        return f"{self.mode}{what} at {place} {self.number}"


class Faults:
    """The preloaded library in this process."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._library.fault_disarm.restype = ctypes.c_long
        self._library.fault_last_call.restype = ctypes.c_char_p
        self._library.fault_arm.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_int, ctypes.c_int]

    def folder(self, path: Path) -> None:
        """Count the calls on files below a folder."""
        self._library.fault_folder(os.fsencode(f"{path}/"))

    def log(self, file: int) -> None:
        """Write every change of a file to an open file."""
        self._library.fault_log(file)

    def no_sleep(self) -> None:
        """Let SQLite not wait for other processes, which stand still anyway."""
        self._library.fault_no_sleep()

    def arm(self, fault: Fault, control: int = -1) -> None:
        """Let a later call of this process fail."""
        mode = MODES.index(fault.mode)
        self._library.fault_arm(mode, fault.kinds, fault.number, ERRORS[fault.error], control)

    def disarm(self) -> int:
        """Let no call fail, and return how many were counted."""
        return int(self._library.fault_disarm())

    def last_call(self) -> str:
        """Return the call that failed last, with its file."""
        return bytes(self._library.fault_last_call()).decode(errors="replace")


# -- loss of power -----------------------------------------------------------------------------------------------------


@dataclass
class _DiskFile:
    """What is certainly on the disk, and the changes since, which may or may not be."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def sync(self) -> None:
        for offset, data in self.pending:
            _apply(self.durable, offset, data)
        self.pending.clear()


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:  # a new length
        del content[offset:]
        content.extend(bytes(offset - len(content)))
        return
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


class Disk:
    """The files of a memory on a disk that may lose what was not synchronised.

    Names are durable at once, as on a file system with a journal of its metadata. Of the changes since the last
    synchronisation of a file any may be lost, in whole sectors.

    Args:
        path: the memory, which is complete now and is not open.
        log: where the processes write their changes down.
    """

    def __init__(self, path: Path, log: Path) -> None:
        self._log = log
        self._paths = tuple(f"{path}{ending}" for ending in ("", "-wal", "-journal"))
        self._files = {str(path): _DiskFile(bytearray(path.read_bytes()))}
        self._folder = path.parent

    def lose_power(self, chance: random.Random) -> str:
        """Make the files what they may be after a loss of power now. No process may have them open.

        Args:
            chance: decides what is lost.

        Returns:
            What was done, in words.
        """
        for kind, path, other, data, offset in self._changes():
            if path not in self._paths:
                continue
            if kind == _UNLINK:
                self._files.pop(path, None)
            elif kind == _RENAME:
                self._files[other] = self._files.pop(path)
            else:
                file = self._files.setdefault(path, _DiskFile())
                if kind == _SYNC:
                    file.sync()
                else:
                    file.pending.append((offset, data if kind == _WRITE else None))
        # how much of what was not synchronised arrived: nothing, all, a beginning, or any part
        manner = chance.choice(("nothing", "all", "a beginning", "any part"))
        lost = 0
        for path in self._paths:
            if path not in self._files:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
                continue
            kept = self._kept(self._files[path], manner, chance)
            lost += len(self._files[path].pending)
            Path(path).write_bytes(kept)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{self._paths[0]}-shm")
        damaged = self._damage_snapshots(chance) if manner != "all" else 0
        return f"of {lost} changes that were not synchronised {manner} arrived; {damaged} files of snapshots are cut"

    @staticmethod
    def _kept(file: _DiskFile, manner: str, chance: random.Random) -> bytes:
        content = bytearray(file.durable)
        pending = file.pending
        if manner == "nothing":
            pending = []
        elif manner == "a beginning":
            pending = pending[: chance.randint(0, len(pending))]
        for index, (offset, data) in enumerate(pending):
            if manner == "any part" and chance.random() < 0.5:
                continue
            is_torn = manner == "any part" or (manner == "a beginning" and index == len(pending) - 1)
            if data is not None and is_torn and chance.random() < 0.5:
                # a write is torn where a sector of the disk ends
                ends = range(_SECTOR - offset % _SECTOR, len(data), _SECTOR)
                data = data[: chance.choice(ends)] if ends else data
            _apply(content, offset, data)
        return bytes(content)

    def _damage_snapshots(self, chance: random.Random) -> int:
        """Cut files of snapshots, which are never synchronised, or fill their ends with zeros."""
        damaged = 0
        for file in sorted(self._folder.glob("*-snapshot/*/*"), key=lambda path: path.name):
            if file.is_file() and chance.random() < 0.1:
                content = file.read_bytes()
                kept = content[: chance.randint(0, len(content))]
                file.write_bytes(kept + bytes(chance.choice((0, len(content) - len(kept)))))
                damaged += 1
        return damaged

    def _changes(self) -> list[tuple[int, str, str, bytes, int]]:
        data = self._log.read_bytes()
        found, at = [], 0
        while at + _HEAD.size <= len(data):
            kind, *lengths, offset = _HEAD.unpack_from(data, at)
            at += _HEAD.size
            parts = []
            for length in lengths:
                parts.append(data[at : at + length])
                at += length
            found.append((kind, os.fsdecode(parts[0]), os.fsdecode(parts[1]), parts[2], offset))
        return found
