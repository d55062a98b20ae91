"""How long work shows that it moves on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with how many are done, and of how many (``None`` when nobody knows)."""


@contextmanager
def show_progress(progress: bool | Progress | None, what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show the progress of the block; gives a function that is told how many more are done.

    Args:
        progress: ``True`` shows a bar on standard error, ``False`` nothing; a function is called instead. ``None``
            shows a bar when standard error is a terminal.
        what: is done, in a word.
        total: how many there are; ``None`` when nobody knows.
    """
    done = 0
    if callable(progress):

        def tell(count: int) -> None:
            nonlocal done
            done += count
            progress(done, total)

        yield tell
        return
    if not (sys.stderr.isatty() if progress is None else progress):
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task(what, total=total)
        yield lambda count: bars.advance(task, count)
