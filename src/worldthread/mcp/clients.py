"""Which memory of a file a call to a server is held to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from worldthread.errors import InputError

_NAMESPACE: ContextVar[str | None] = ContextVar("namespace of the client", default=None)


@contextmanager
def serving_namespace(namespace: str) -> Iterator[None]:
    """Hold the calls that are made in this context, and in the threads that they start, to one memory of the file.

    Args:
        namespace: the name of the memory.

    Yields:
        Nothing.
    """
    token = _NAMESPACE.set(namespace)
    try:
        yield
    finally:
        _NAMESPACE.reset(token)


def served_namespace() -> str:
    """Return the memory that this call is held to.

    Returns:
        The name of the memory.

    Raises:
        InputError: the call comes from nobody who is known; it must see nothing.
    """
    namespace = _NAMESPACE.get()
    if namespace is None:
        raise InputError("this server serves known clients only, each its own memory")
    return namespace
