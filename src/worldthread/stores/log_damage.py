"""Whether SQLite's write-ahead log was damaged before its end.

SQLite reads a log as far as its checksums hold, and takes the rest for what a killed process left behind: a log that
was damaged in its middle gives an earlier state, and no error. A process that is killed leaves its last transaction
without an end. So where a transaction has an end behind the first frame that does not hold, something acknowledged may
be lost.

Not even that can be seen of a log that lost its end: it is like one that was never longer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

_HEADER: Final = 32  # bytes of a log, and
_FRAME: Final = 24  # of each of its frames, before the page
_LITTLE_ENDIAN: Final = 0x377F0682  # in which order bytes are summed up
_BIG_ENDIAN: Final = 0x377F0683
_SUMMED: Final = slice(0, 2), slice(_FRAME // 4, None)  # which words of a frame its checksums cover
_BITS: Final = 2**32 - 1
_PAGES: Final = range(512, 65536 + 1)


def is_damaged_inside(log: Path) -> bool:
    """Return whether a log holds the end of a transaction behind a place that cannot be read.

    Args:
        log: the log, which nobody writes just now; it is not changed.

    Returns:
        Whether something that was acknowledged may be lost. In rare cases nothing is: when a process was killed after
        it had written a change and before others could see it, another one wrote over its beginning, and the machine
        failed then.

    Raises:
        OSError: the log cannot be read.
    """
    content = log.read_bytes()
    if len(content) <= _HEADER:
        return False
    magic, page = int.from_bytes(content[:4], "big"), int.from_bytes(content[8:12], "big")
    if magic not in (_LITTLE_ENDIAN, _BIG_ENDIAN) or page not in _PAGES or page & (page - 1):
        return True
    order = "<u4" if magic == _LITTLE_ENDIAN else ">u4"
    start = _sums(np.frombuffer(content, order, (_HEADER - 8) // 4)[None], np.zeros((1, 2), np.uint32))
    stored = np.frombuffer(content, ">u4", 2, _HEADER - 8).astype(np.uint32)
    if (start[0] != stored).any():
        return True
    count = (len(content) - _HEADER) // (_FRAME + page)
    if not count:
        return False
    words = np.frombuffer(content, order, count * (_FRAME + page) // 4, _HEADER).reshape(count, -1)
    # page, pages of the file at the end of a transaction, two salts, two sums
    heads = np.ascontiguousarray(words[:, : _FRAME // 4]).view(">u4")
    sums = heads[:, 4:].astype(np.uint32)
    is_whole = (_sums(words, np.concatenate((start, sums[:-1])), _SUMMED) == sums).all(axis=1)
    is_of_log = (heads[:, 2:4] == np.frombuffer(content, ">u4", 2, 16)).all(axis=1)
    holds = is_of_log & is_whole & (heads[:, 0] != 0)
    broken = int(np.argmin(holds)) if not holds.all() else count
    return bool((is_of_log & (heads[:, 1] != 0))[broken + 1 :].any())


def _sums(
    words: NDArray[np.uint32], start: NDArray[np.uint32], parts: tuple[slice, ...] = (slice(None),)
) -> NDArray[np.uint32]:
    """Return SQLite's checksums.

    Of each pair of words (x, y), the two sums become s + x + t and t + y + (s + x + t), modulo 2^32. So the sums at the
    end are linear in the words and in the sums at the start.

    Args:
        words: what is summed up, shape (rows, words).
        start: the sums before, shape (rows, 2).
        parts: which words of a row are summed up, each time an even number of them.

    Returns:
        The sums after, shape (rows, 2).
    """
    weights = np.zeros((words.shape[1], 2), np.uint32)
    # what the steps that follow a pair make of s and of t
    of_s, of_t = (1, 0), (0, 1)
    summed = np.concatenate([np.arange(words.shape[1])[part] for part in parts]).tolist()
    for x, y in zip(summed[-2::-2], summed[::-2], strict=True):
        both = (of_s[0] + of_t[0]) & _BITS, (of_s[1] + of_t[1]) & _BITS
        weights[x], weights[y] = both, of_t
        of_s, of_t = both, ((both[0] + of_t[0]) & _BITS, (both[1] + of_t[1]) & _BITS)
    step = np.array([of_s, of_t], np.uint32)
    columns = [np.dot(words, np.ascontiguousarray(weights[:, column])) for column in range(2)]
    result: NDArray[np.uint32] = np.stack(columns, axis=1).astype(np.uint32) + start @ step
    return result
