"""The logger tree ``worldthread``, which is silent until a program configures it, and timings at the level DEBUG."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_LOG: Final = logging.getLogger("worldthread.memory")
logging.getLogger("worldthread").addHandler(logging.NullHandler())


@contextmanager
def timed(operation: str) -> Iterator[None]:
    """Log at the level DEBUG how long the block, or the decorated function, took and whether it failed.

    Nothing that is remembered or asked is logged, and of an error only its class.

    Args:
        operation: the name of the operation, such as ``"recall"``.

    Yields:
        Nothing.
    """
    if not _LOG.isEnabledFor(logging.DEBUG):
        yield
        return
    start = time.perf_counter()
    try:
        yield
    except BaseException as error:
        _LOG.debug("%s failed after %.1f ms: %s", operation, _milliseconds(start), type(error).__name__)
        raise
    _LOG.debug("%s took %.1f ms", operation, _milliseconds(start))


def _milliseconds(start: float) -> float:
    return (time.perf_counter() - start) * 1000
