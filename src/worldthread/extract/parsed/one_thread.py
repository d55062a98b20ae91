"""Keeps NumPy's matrix library to one thread while the small trained models of this package are computed.

Their matrices have some fifty rows. Several threads wait for each other longer than they compute, and spin while they
wait: with two threads a message takes three times the processor time that it takes with one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

_LOCK: Final = threading.RLock()  # the limit is one of the process: who lifts it must be who set it


@cache
def _controller() -> ThreadpoolController | None:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:  # the same results, more slowly
        return None
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the matrix library to one thread until the block ends. Thread-safe: one block runs at a time.

    Yields:
        Nothing.
    """
    controller = _controller()
    if controller is None:
        yield
        return
    with _LOCK, controller.limit(limits=1):
        yield
