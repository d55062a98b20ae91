"""Where the vectors of many texts are in the table of a file, found without a look at the table for each of them.

The index of the table holds two bytes of the digest of a text, because more would be left in the file when the text is
forgotten. So a look-up reads one row in 65,536, which is nothing for a few texts, and too many for a million. Whoever
asks for many texts reads all digests once instead, and from then on those that are new.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

_MERGED_SHARE: Final = 8  # rows are sorted again when one in so many came later


class VectorRows:
    """The rows of the vectors of one model in one namespace, by the first 64 bits of the digests of their texts.

    What is found may have been overwritten since: whoever reads a row compares the whole digest.
    """

    def __init__(self) -> None:
        self.last = 0
        """The number of the last row that was entered."""
        self._heads = np.zeros(0, np.uint64)
        self._rows = np.zeros(0, np.int64)
        self._late: dict[int, list[int]] = {}
        self._late_count = 0

    def enter(self, rows: Sequence[tuple[int, bytes]], last: int) -> None:
        """Enter rows.

        Args:
            rows: number and first 8 bytes of the digest of each.
            last: the number of the last row of the table.
        """
        self.last = last
        self._late_count += len(rows)
        if self._late_count * _MERGED_SHARE <= len(self._heads):
            for number, head in rows:
                self._late.setdefault(int.from_bytes(head, "big"), []).append(number)
            return
        late = [(head, number) for head, numbers in self._late.items() for number in numbers]
        self._late, self._late_count = {}, 0
        heads = np.concatenate(
            (
                self._heads,
                np.array([head for head, _ in late], np.uint64),
                np.frombuffer(b"".join(head for _, head in rows), ">u8").astype(np.uint64),
            )
        )
        numbers = np.concatenate((self._rows, np.array([n for _, n in late] + [n for n, _ in rows], np.int64)))
        order = np.argsort(heads, kind="stable")
        self._heads, self._rows = heads[order], numbers[order]

    def find(self, keys: Sequence[bytes]) -> list[int]:
        """Return the numbers of the rows that may be those of some digests, in any order."""
        heads: NDArray[np.uint64] = np.frombuffer(b"".join(key[:8] for key in keys), ">u8").astype(np.uint64)
        first, end = (np.searchsorted(self._heads, heads, side) for side in ("left", "right"))
        found: list[int] = []
        for place in np.flatnonzero(end > first).tolist():
            found += self._rows[first[place] : end[place]].tolist()
        for head in heads.tolist() if self._late else ():
            found += self._late.get(head, ())
        return found
