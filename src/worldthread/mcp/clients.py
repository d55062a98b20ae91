"""Which memories of a file a call to a server may use, and which one it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from worldthread.errors import InputError

_SERVED: ContextVar[tuple[str, ...] | None] = ContextVar("namespaces of the client", default=None)
_CHOSEN: ContextVar[str | None] = ContextVar("namespace of the call", default=None)


@contextmanager
def serving_namespaces(namespaces: Sequence[str]) -> Iterator[None]:
    """Hold the calls that are made in this context, and in the threads that they start, to some memories of the file.

    Args:
        namespaces: the names of the memories; a call that names none uses the first.

    Yields:
        Nothing.
    """
    token = _SERVED.set(tuple(namespaces))
    try:
        yield
    finally:
        _SERVED.reset(token)


def served_namespaces() -> tuple[str, ...]:
    """Return the memories that this call is held to.

    Returns:
        The names of the memories, the one for calls that name none first.

    Raises:
        InputError: the call comes from nobody who is known; it must see nothing.
    """
    namespaces = _SERVED.get()
    if namespaces is None:
        raise InputError("this server serves known clients only, each its own memory")
    return namespaces


@contextmanager
def choosing_namespace(namespace: str | None) -> Iterator[None]:
    """Let the calls in this context use one of the memories that they may use.

    Args:
        namespace: its name; ``None`` for the first.

    Yields:
        Nothing.
    """
    token = _CHOSEN.set(namespace)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def chosen_of(namespaces: Sequence[str]) -> str:
    """Return the memory that this call uses.

    Args:
        namespaces: those that it may use.

    Returns:
        The name of the memory.

    Raises:
        InputError: the call names another one.
    """
    chosen = _CHOSEN.get()
    if chosen is None:
        return namespaces[0]
    if chosen not in namespaces:
        raise InputError(f"there is no memory {chosen!r} for you; the namespaces are: {', '.join(namespaces)}")
    return chosen
