"""Progress bars and progress callbacks of long operations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the number of items done and the total, which is ``None`` when it is not known."""


@contextmanager
def show_progress(progress: bool | Progress | None, what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show the progress of the block.

    Args:
        progress: ``True`` shows a bar on standard error, ``False`` shows nothing, and ``None`` shows a bar when
            standard error is a terminal. A function is called instead of showing a bar.
        what: a word for the operation, shown before the bar.
        total: the number of items; ``None`` when it is not known.

    Yields:
        A function; call it with the number of items that were done since the last call.
    """
    done = 0
    if callable(progress):

        def report(count: int) -> None:
            nonlocal done
            done += count
            progress(done, total)

        yield report
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
