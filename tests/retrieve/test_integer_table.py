"""Arrays that grow at the end."""

from __future__ import annotations

import numpy as np

from worldthread.retrieve.integer_table import GrowingArray, IntegerTable


def test_rows_that_come_late_are_rows_like_others() -> None:
    first = np.arange(2000, dtype=np.int32).reshape(1000, 2)
    first.flags.writeable = False
    table, rows = IntegerTable.of(first), first.tolist()
    for size in (1, 3, 0, 40, 200, 5, 700, 2):
        more = [(len(rows) + number, -number) for number in range(size)]
        table.extend(more)
        rows += [list(row) for row in more]
        assert len(table) == len(rows)
        for start in (len(rows) - size, len(rows)):
            assert table.after(start).tolist() == rows[start:]
        numbers = np.array([0, 999, len(rows) - 1, 5])
        assert table.at(numbers, 1).tolist() == [rows[number][1] for number in numbers]
        if size == 5:
            assert table.rows.tolist() == rows
            assert table.column(0).tolist() == [row[0] for row in rows]
    assert table.after(0).tolist() == rows
    assert first[-1].tolist() == [1998, 1999]


def test_an_array_grows_by_zeros_and_keeps_what_it_has() -> None:
    array = GrowingArray(np.array([3, 4]))
    array.grow(5)[4] = 7
    assert array.grow(3).tolist() == [3, 4, 0, 0, 7] == array.values.tolist()
    assert array.grow(6).tolist() == [3, 4, 0, 0, 7, 0]
