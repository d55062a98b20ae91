"""What a server offers to its clients: a memory to read, the same to change, and whose call it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol

from worldthread.errors import InputError
from worldthread.memory import Memory

_CLIENT: ContextVar[tuple[str, bool] | None] = ContextVar(
    "namespace of the client, and whether it writes", default=None
)


class ServedMemory(Protocol):
    """A memory as the tools of a server use it. Thread-safe."""

    readonly: bool
    """Whether nobody can change the memory through this server."""

    @property
    def location(self) -> str:
        """The file or the address, without secrets."""
        ...

    @property
    def namespace(self) -> str:
        """The memory in the file that the present call sees."""
        ...

    @property
    def memory(self) -> Memory:
        """That memory, to read."""
        ...

    def writing(self) -> AbstractContextManager[Memory]:
        """Open that memory for a change, which is durable when the block ends."""
        ...

    def close(self) -> None:
        """Release the memory. May be called again."""
        ...


@contextmanager
def serving_client(namespace: str, *, writes: bool = True) -> Iterator[None]:
    """Hold the calls that are made in this context, and in the threads that they start, to one memory of the file.

    Args:
        namespace: the name of the memory.
        writes: whether they may change it.

    Yields:
        Nothing.
    """
    token = _CLIENT.set((namespace, writes))
    try:
        yield
    finally:
        _CLIENT.reset(token)


def served_namespace() -> str:
    """Return the memory that this call is held to.

    Returns:
        The name of the memory.

    Raises:
        InputError: the call comes from nobody who is known; it must see nothing.
    """
    return _served()[0]


def client_writes() -> bool:
    """Return whether the client that makes this call may change its memory.

    Returns:
        Whether it may.

    Raises:
        InputError: the call comes from nobody who is known.
    """
    return _served()[1]


def _served() -> tuple[str, bool]:
    client = _CLIENT.get()
    if client is None:
        raise InputError("this server serves known clients only, each its own memory")
    return client
