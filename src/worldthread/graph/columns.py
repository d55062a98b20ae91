"""Compact containers of the graph: rows of integers by number or by key, and strings, most of them in arrays.

A graph that was opened from a snapshot reads from the arrays of the snapshot and makes Python's objects only of what is
used. What comes later lives in ordinary lists and dictionaries, until :meth:`settle` moves it into arrays too: a row of
three numbers takes 12 bytes there, and some 150 as a tuple.
"""

from __future__ import annotations

import hashlib
import secrets
import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Row: TypeAlias = tuple[int, ...]

ABSENT: Final = -1
"""Stands for a string, an episode, a time or a row that is not there. As a time, its bits are no number."""

_DECODED_BYTES: Final = 1 << 20  # of packed strings at a time
_ROWS_AT_ONCE: Final = 1 << 14
_LONG_STRING: Final = 64  # bytes from which on a digest is hashed instead
_MANY_STRINGS: Final = 64  # from which on they are hashed together
_WORD: Final = 8
_BITS: Final = 2**64 - 1
_HIGH: Final = 0xFFFF_FFFF_0000_0000
_LOW: Final = 0xFFFF_FFFF
_ROW_SEED: Final = secrets.randbits(64) | 1  # so that nobody can prepare rows that hash alike


class PackedRows:
    """Rows of integers, shape (n, narrow + times); they never change.

    The first columns have 32 bits. The last ones are times, which have 64, and are kept only of the rows that have one.

    Args:
        narrow: the first columns, shape (n, columns), int32.
        times: how many columns of times follow.
        timed: the rows that have a time, ascending, shape (k,), int64; ``None`` if none has.
        values: their times, shape (k, times), int64.
    """

    __slots__ = ("_cells", "_nothing", "_numbers", "narrow", "timed", "times", "values")

    def __init__(
        self,
        narrow: NDArray[np.int32],
        times: int = 0,
        timed: NDArray[np.int64] | None = None,
        values: NDArray[np.int64] | None = None,
    ) -> None:
        self.narrow = np.ascontiguousarray(narrow)
        self.times = times
        self.timed = np.zeros(0, np.int64) if timed is None else np.ascontiguousarray(timed)
        self.values = np.zeros((0, times), np.int64) if values is None else values
        self._cells = self.narrow.reshape(-1).data
        self._numbers = self.timed.data
        self._nothing = (ABSENT,) * times

    @classmethod
    def of(cls, rows: NDArray[np.int64], times: int = 0) -> PackedRows:
        """Return rows of any integers, shape (n, width); the last ``times`` columns are times.

        Raises:
            ValueError: another number than a time needs more than 32 bits.
        """
        narrow, values = rows[:, : rows.shape[1] - times], rows[:, rows.shape[1] - times :]
        limits = np.iinfo(np.int32)
        if narrow.size and not (limits.min <= narrow.min() and narrow.max() <= limits.max):
            raise ValueError("a number needs more than 32 bits")
        timed = np.flatnonzero((values != ABSENT).any(axis=1))
        return cls(narrow.astype(np.int32), times, timed, values[timed])

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.narrow)

    @property
    def width(self) -> int:
        """Integers per row."""
        return int(self.narrow.shape[1]) + self.times

    def rows(self, start: int, stop: int) -> list[Row]:
        """Return the rows from number ``start`` to before ``stop``."""
        columns = self.narrow.shape[1]
        cells = iter(self._cells[start * columns : stop * columns].tolist())
        found: list[Row] = list(zip(*[cells] * columns, strict=True))
        if not self.times:
            return found
        if not len(self._numbers):
            return [(*row, *self._nothing) for row in found]
        return [(*row, *self._times_of(number)) for number, row in enumerate(found, start)]

    def row(self, number: int) -> Row:
        """Return one row, in a third of the time that :meth:`rows` takes for it."""
        columns = self.narrow.shape[1]
        cells = tuple(self._cells[number * columns : (number + 1) * columns])
        return (*cells, *self._times_of(number)) if self.times else cells

    def _times_of(self, number: int) -> Row:
        place = bisect_left(self._numbers, number)
        if place < len(self._numbers) and self._numbers[place] == number:
            return tuple(self.values[place].tolist())
        return self._nothing

    def columns(self) -> list[NDArray[Any]]:
        """Return all columns, each of shape (n,); times are dense."""
        found = list(self.narrow.T)
        for column in self.values.T:
            dense = np.full(len(self), ABSENT, np.int64)
            dense[self.timed] = column
            found.append(dense)
        return found


class RowList:
    """Rows of integers, numbered from 0, to which others are added at the end.

    Args:
        first: the first rows.
    """

    __slots__ = ("_parts",)

    def __init__(self, first: PackedRows) -> None:
        # in one attribute, so that an interrupt finds them together
        self._parts: tuple[int, PackedRows, list[Row]] = len(first), first, []

    def __len__(self) -> int:
        """Return the number of rows."""
        count, _, late = self._parts
        return count + len(late)

    def __getitem__(self, number: int) -> Row:
        count, first, late = self._parts
        return late[number - count] if number >= count else first.row(number)

    def __iter__(self) -> Iterator[Row]:
        count, first, late = self._parts
        for start in range(0, count, _ROWS_AT_ONCE):
            yield from first.rows(start, min(start + _ROWS_AT_ONCE, count))
        yield from late

    def narrow_of(self, numbers: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        """Return the first columns of some rows, those with 32 bits.

        Args:
            numbers: of rows, shape (n,).

        Returns:
            Shape (n, columns).
        """
        count, first, late = self._parts
        columns = first.narrow.shape[1]
        if not late:
            return np.asarray(first.narrow[numbers])
        found = np.empty((len(numbers), columns), np.int32)
        is_late = numbers >= count
        found[~is_late] = first.narrow[numbers[~is_late]]
        rows = [late[number][:columns] for number in (numbers[is_late] - count).tolist()]
        found[is_late] = np.array(rows, np.int32).reshape(-1, columns)
        return found

    @property
    def late(self) -> int:
        """How many rows are not in arrays."""
        return len(self._parts[2])

    def append(self, row: Row) -> None:
        """Add a row at the end."""
        self._parts[2].append(row)

    def packed(self) -> PackedRows:
        """Return all rows in arrays."""
        count, first, rows = self._parts
        if not rows:
            return first
        late = PackedRows.of(np.array(rows, np.int64).reshape(-1, first.width), first.times)
        if not count:
            return late
        return PackedRows(
            np.concatenate((first.narrow, late.narrow)),
            late.times,
            np.concatenate((first.timed, late.timed + count)),
            np.concatenate((first.values, late.values)),
        )

    def settle(self) -> PackedRows:
        """Move all rows into arrays, and return them."""
        packed = self.packed()
        self._parts = len(packed), packed, []
        return packed


class RowIndex:
    """Finds rows by what is in them. The rows are hashed when the first one is looked for.

    Args:
        rows: the rows.
        first: how many of their first columns do not count.
    """

    __slots__ = ("_entries", "_first", "_rows")

    def __init__(self, rows: PackedRows, first: int = 0) -> None:
        self._rows = rows
        self._first = first
        self._entries: memoryview | None = None

    def find(self, row: Row) -> int | None:
        """Return the number of the first row that has these columns; ``None`` if there is none."""
        if not len(self._rows):
            return None
        if self._entries is None:
            self._entries = _sorted_entries(self._hashes()).data
        found = _ROW_SEED
        for part in row:
            found = ((found ^ (part & _BITS)) * _ROW_SEED) & _BITS
            found ^= found >> 32
        for number in _entries_of(self._entries, found):
            if self._rows.rows(number, number + 1)[0][self._first :] == row:
                return number
        return None

    def _hashes(self) -> NDArray[np.uint64]:
        multiplier, shift = np.uint64(_ROW_SEED), np.uint64(32)
        hashes = np.full(len(self._rows), _ROW_SEED, np.uint64)
        for column in self._rows.columns()[self._first :]:
            hashes ^= column.astype(np.uint64)
            hashes *= multiplier
            hashes ^= hashes >> shift
        return hashes


class RowTable:
    """A list of rows, each a tuple of integers, for every key 0, 1, 2, ...

    The base is in compressed sparse row form and never changes; an edited key moves to a dictionary of lists. This is
    not :class:`~worldthread.retrieve.integer_table.IntegerTable`, one flat array that grows at the end and is read by
    whole columns: it has no keys and cannot replace rows, and this table has no contiguous columns.

    Args:
        width: integers per row.
        times: how many of them, the last ones, are times.
        pointers: shape (keys + 1,), int32: the rows of key *k* are ``rows[pointers[k]:pointers[k + 1]]``. ``None`` for
            an empty table.
        rows: of that width. ``None`` for an empty table.
    """

    __slots__ = ("_base", "_edited", "times", "width")

    def __init__(
        self,
        width: int,
        times: int = 0,
        pointers: NDArray[np.int32] | None = None,
        rows: PackedRows | None = None,
    ) -> None:
        self.width = width
        self.times = times
        pointers = pointers if pointers is not None else np.zeros(1, np.int32)
        rows = rows if rows is not None else PackedRows(np.zeros((0, width - times), np.int32), times)
        # in one attribute, so that an interrupt finds all of it or nothing
        self._base = len(pointers) - 1, pointers.data, rows, pointers
        self._edited: dict[int, list[Row]] = {}

    def get(self, key: int) -> Sequence[Row]:
        """Return the rows of ``key``; empty when it has none. The caller must not change them."""
        edited = self._edited.get(key)
        return edited if edited is not None else self._from_base(key)

    def count(self, key: int) -> int:
        """Return the number of rows of ``key``."""
        edited = self._edited.get(key)
        if edited is not None:
            return len(edited)
        keys, starts, *_ = self._base
        return starts[key + 1] - starts[key] if key < keys else 0

    def narrow_of(
        self, keys: NDArray[np.integer[Any]], most: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the rows of many keys, without times.

        Args:
            keys: shape (n,).
            most: only so many of the first rows of each key; ``None`` for all.

        Returns:
            How many rows each key has, shape (n,), and the rows, key after key, shape (rows, width - times).
        """
        known, _, rows, pointers = self._base
        inside = np.minimum(keys, known)
        starts = pointers[inside].astype(np.int64)
        counts = pointers[np.minimum(inside + 1, known)] - starts
        edited: list[tuple[int, list[Row]]] = []
        if self._edited:
            edited = [(place, self._edited[key]) for place, key in enumerate(keys.tolist()) if key in self._edited]
            counts[[place for place, _ in edited]] = [len(found) for _, found in edited]
        if most is not None:
            counts = np.minimum(counts, most)
        ends = np.cumsum(counts)
        total, columns = int(ends[-1]) if len(ends) else 0, self.width - self.times
        places = np.arange(total) + np.repeat(starts - (ends - counts), counts)
        if not edited:
            return counts, rows.narrow[places]
        is_base = np.ones(len(keys), bool)
        is_base[[place for place, _ in edited]] = False
        is_base_row = np.repeat(is_base, counts)
        found = np.empty((total, columns), np.int32)
        found[is_base_row] = rows.narrow[places[is_base_row]]
        late = [row[:columns] for place, all_rows in edited for row in all_rows[: int(counts[place])]]
        found[~is_base_row] = np.array(late, np.int32).reshape(-1, columns)
        return counts, found

    @property
    def late(self) -> int:
        """How many keys have rows that are not in arrays."""
        return len(self._edited)

    def append(self, key: int, row: Row) -> None:
        """Add a row at the end of the rows of ``key``."""
        self._editable(key).append(row)

    def replace(self, key: int, rows: list[Row]) -> None:
        """Set all rows of ``key``. The list becomes the table's own."""
        self._edited[key] = rows

    def set_last(self, key: int, row: Row) -> None:
        """Overwrite the last row of ``key``."""
        self._editable(key)[-1] = row

    def packed(self, keys: int) -> tuple[NDArray[np.int32], PackedRows]:
        """Return the pointers and the rows of a table that holds the same; ``keys``: how many keys it has."""
        known, _, base, old_pointers = self._base
        if not self._edited and keys == known:
            return old_pointers, base
        before = np.zeros(keys, np.int64)
        before[:known] = np.diff(old_pointers)
        edited = sorted(self._edited)
        counts = before.copy()
        counts[edited] = [len(self._edited[key]) for key in edited]
        pointers = np.zeros(keys + 1, np.int64)
        np.cumsum(counts, out=pointers[1:])
        is_kept = np.ones(keys, bool)
        is_kept[edited] = False
        moved = pointers[:-1] - (np.cumsum(before) - before)
        kept = np.flatnonzero(np.repeat(is_kept, before))
        places = kept + np.repeat(moved[is_kept], before[is_kept])
        fresh = PackedRows.of(
            np.array([row for key in edited for row in self._edited[key]], np.int64).reshape(-1, self.width), self.times
        )
        fresh_places = np.flatnonzero(np.repeat(~is_kept, counts))
        narrow = np.empty((int(pointers[-1]), self.width - self.times), np.int32)
        narrow[places], narrow[fresh_places] = base.narrow[kept], fresh.narrow
        if not self.times:
            return pointers.astype(np.int32), PackedRows(narrow)
        # the rows with times that are kept, by their place among all kept rows
        old = np.searchsorted(kept, base.timed)
        stays = np.zeros(len(old), bool)
        inside = old < len(kept)
        stays[inside] = kept[old[inside]] == base.timed[inside]
        timed = np.concatenate((places[old[stays]], fresh_places[fresh.timed]))
        order = np.argsort(timed)
        values = np.concatenate((base.values[stays], fresh.values))
        return pointers.astype(np.int32), PackedRows(narrow, self.times, timed[order], values[order])

    def settle(self, keys: int) -> None:
        """Move all rows into arrays; ``keys``: how many keys there are."""
        pointers, rows = self.packed(keys)
        self._base = len(pointers) - 1, pointers.data, rows, pointers
        self._edited = {}

    def _editable(self, key: int) -> list[Row]:
        edited = self._edited.get(key)
        if edited is None:
            edited = self._edited[key] = self._from_base(key)
        return edited

    def _from_base(self, key: int) -> list[Row]:
        keys, starts, rows, _ = self._base
        if key >= keys:
            return []
        start, stop = starts[key], starts[key + 1]
        return rows.rows(start, stop) if start < stop else []


class StringList:
    """Strings, numbered from 0, to which others are added at the end. No string may contain a NUL.

    Args:
        packed: the first ones, as :func:`pack_strings` packs them; they are decoded when they are asked for.

    Raises:
        ValueError: the bytes are not UTF-8, or the last string has no end.
    """

    __slots__ = ("_parts",)

    def __init__(self, packed: NDArray[np.uint8] | None = None) -> None:
        packed = np.zeros(0, np.uint8) if packed is None else packed
        if len(packed) and packed[-1]:
            raise ValueError("the last string has no end")
        # in one attribute, so that an interrupt finds them together
        self._parts = (*_starts_of(packed), packed.data, packed, list[str]())
        if packed.max(initial=0) > 127:
            for start, stop in self._decoded_parts():
                str(self._parts[2][start:stop], "utf-8")

    def __len__(self) -> int:
        """Return the number of strings."""
        return self._parts[0] + len(self._parts[-1])

    def __getitem__(self, number: int) -> str:
        count, starts, content, _, late = self._parts
        if number >= count:
            return late[number - count]
        return str(content[starts[number] : starts[number + 1] - 1], "utf-8")

    def __iter__(self) -> Iterator[str]:
        _, _, content, _, late = self._parts
        for start, stop in self._decoded_parts():
            yield from str(content[start : stop - 1], "utf-8").split("\0")
        yield from late

    def _decoded_parts(self) -> Iterator[tuple[int, int]]:
        """Yield where each part of the packed strings that is decoded at once begins and ends."""
        count, starts, *_ = self._parts
        start = 0
        while start < count:
            stop = min(max(bisect_left(starts, starts[start] + _DECODED_BYTES), start + 1), count)
            yield starts[start], starts[stop]
            start = stop

    @property
    def late(self) -> int:
        """How many strings are not packed."""
        return len(self._parts[-1])

    def append(self, text: str) -> None:
        """Add a string at the end."""
        self._parts[-1].append(text)

    def is_packed(self, number: int, text: bytes) -> bool:
        """Return whether a packed string has these bytes."""
        _, starts, content, *_ = self._parts
        return content[starts[number] : starts[number + 1] - 1] == text

    def packed(self) -> NDArray[np.uint8]:
        """Return all strings packed."""
        *_, packed, late = self._parts
        return np.concatenate((packed, pack_strings(late))) if late else packed

    def settle(self) -> None:
        """Pack all strings."""
        if self.late:
            packed = self.packed()
            self._parts = (*_starts_of(packed), packed.data, packed, [])

    def hashes(self, start: int, seed: int) -> NDArray[np.uint64]:
        """Return :func:`string_hash` of the packed strings from number ``start`` on."""
        _, all_starts, content, packed, _ = self._parts
        starts = np.asarray(all_starts)[start:].astype(np.int64)
        left = np.diff(starts) - 1
        hashes = left.astype(np.uint64) ^ np.uint64(seed)
        short = np.flatnonzero(left <= _LONG_STRING)
        # 64 bits from any byte on
        padded = np.zeros(int(starts[-1] - starts[0]) + _WORD, np.uint8)
        padded[:-_WORD] = packed[starts[0] :]
        words = np.ndarray((len(padded) - _WORD + 1,), "<u8", buffer=padded, strides=(1,))
        at, rest = (starts[:-1] - starts[0])[short], left[short]
        masks = np.array([(1 << 8 * size) - 1 for size in range(_WORD + 1)], np.uint64)
        while len(short):
            mixed = (hashes[short] ^ (words[at] & masks[np.minimum(rest, _WORD)])) * np.uint64(seed | 1)
            hashes[short] = mixed ^ (mixed >> np.uint64(32))
            goes_on = rest > _WORD
            short, at, rest = short[goes_on], at[goes_on] + _WORD, rest[goes_on] - _WORD
        for number in np.flatnonzero(left > _LONG_STRING).tolist():
            hashes[number] = string_hash(bytes(content[starts[number] : starts[number + 1] - 1]), seed)
        return hashes


class StringIndex:
    """Finds packed strings.

    Args:
        strings: they may grow, and are found as far as they are packed.
        entries: of :attr:`entries`; ``None`` to hash all strings now.
        seed: with which the strings are hashed; ``None`` for a random one, so that nobody can prepare strings that hash
            alike.

    Raises:
        ValueError: the entries are not those of so many strings.
    """

    __slots__ = ("_entries", "_seed", "_strings")

    def __init__(self, strings: StringList, entries: NDArray[np.uint64] | None = None, seed: int | None = None) -> None:
        self._strings = strings
        self._seed = secrets.randbits(64) if seed is None else seed
        self._entries = np.zeros(0, np.uint64).data
        if entries is None:
            self.extend()
        else:
            count = len(strings) - strings.late
            seen = np.zeros(count, bool)
            if len(entries) == count and count and int((numbers := entries & np.uint64(_LOW)).max()) < count:
                seen[numbers] = True
            if len(entries) != count or not seen.all() or (entries[1:] < entries[:-1]).any():
                raise ValueError("the index is not that of these strings")
            self._entries = entries.data

    @property
    def entries(self) -> NDArray[np.uint64]:
        """The upper half of each hash and the number of the string, ascending."""
        return np.asarray(self._entries)

    @property
    def seed(self) -> int:
        """With which the strings are hashed: 64 bits."""
        return self._seed

    def alike(self) -> list[int]:
        """Return the numbers of the strings that begin to hash as the one before them in the index."""
        upper = self.entries >> np.uint64(32)
        found: list[int] = (self.entries[1:][upper[1:] == upper[:-1]] & np.uint64(_LOW)).tolist()
        return found

    def extend(self) -> None:
        """Enter the strings that were packed since the last time."""
        first = len(self._entries)
        if len(self._strings) - self._strings.late > first:
            new = _sorted_entries(self._strings.hashes(first, self._seed), first)
            entries = np.concatenate((self.entries, new))
            entries.sort()
            self._entries = entries.data

    def find(self, text: str) -> int | None:
        """Return the number of a string; ``None`` when it is not there."""
        if not len(self._entries):
            return None
        data = text.encode("utf-8", "surrogatepass")
        for number in _entries_of(self._entries, string_hash(data, self._seed)):
            if self._strings.is_packed(number, data):
                return number
        return None

    def find_all(self, texts: Sequence[str]) -> list[int | None]:
        """Return :meth:`find` of many strings, a tenth of the time for each."""
        if not len(self._entries) or len(texts) < _MANY_STRINGS:
            return list(map(self.find, texts))
        entries = self.entries
        wanted = StringList(pack_strings(texts)).hashes(0, self._seed) & np.uint64(_HIGH)
        places = np.searchsorted(entries, wanted)
        likely = entries[np.minimum(places, len(entries) - 1)] & np.uint64(_HIGH) == wanted
        found: list[int | None] = [None] * len(texts)
        for place in np.flatnonzero(likely).tolist():
            found[place] = self.find(texts[place])
        return found


def string_hash(data: bytes, seed: int) -> int:
    """Return the hash of the bytes of a string: 64 bits, that of :meth:`StringList.hashes`."""
    found = (len(data) ^ seed) & _BITS
    if len(data) > _LONG_STRING:
        data = hashlib.blake2b(data, digest_size=2 * _WORD).digest()
    count = max(1, -(-len(data) // _WORD))  # of an empty string too
    for word in struct.unpack(f"<{count}Q", data.ljust(count * _WORD, b"\0")):
        found = ((found ^ word) * (seed | 1)) & _BITS
        found ^= found >> 32
    return found


def _sorted_entries(hashes: NDArray[np.uint64], first: int = 0) -> NDArray[np.uint64]:
    """Return the upper half of each hash with the number of what was hashed, from ``first`` on, ascending."""
    entries = (hashes & np.uint64(_HIGH)) | np.arange(first, first + len(hashes), dtype=np.uint64)
    entries.sort()
    return entries


def _entries_of(entries: memoryview, hashed: int) -> Iterator[int]:
    """Yield the numbers, ascending, of what has the upper half of this hash."""
    wanted = hashed & _HIGH
    for place in range(bisect_left(entries, wanted), len(entries)):
        entry = entries[place]
        if entry & _HIGH != wanted:
            return
        yield entry & _LOW


def _starts_of(packed: NDArray[np.uint8]) -> tuple[int, memoryview]:
    """Return how many strings are packed, and where each begins and the last one ends."""
    ends = np.flatnonzero(packed == 0)
    starts = np.zeros(len(ends) + 1, np.uint32 if len(packed) <= _LOW else np.int64)
    starts[1:] = ends + 1
    return len(ends), starts.data


def pack_strings(strings: Sequence[str]) -> NDArray[np.uint8]:
    """Return strings as one array of bytes, shape (n,): UTF-8 with a NUL after each. No string may contain one."""
    return np.frombuffer(("\0".join(strings) + "\0" if strings else "").encode(), np.uint8)


def unpack_strings(packed: NDArray[np.uint8]) -> list[str]:
    """Return the strings that :func:`pack_strings` packed.

    Args:
        packed: shape (n,).

    Returns:
        The strings.

    Raises:
        ValueError: the bytes are not UTF-8, or the last string has no end.
    """
    if not len(packed):
        return []
    if packed[-1]:
        raise ValueError("the last string has no end")
    return str(packed[:-1].data, "utf-8").split("\0")
