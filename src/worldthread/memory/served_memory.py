"""What a server offers to its clients: a memory to read, the same to change, and whose call it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol

from worldthread.errors import InputError
from worldthread.memory.memory import Memory

_CLIENT: ContextVar[tuple[tuple[str, ...], bool] | None] = ContextVar(
    "namespaces of the client, and whether it writes", default=None
)
_CHOSEN: ContextVar[str | None] = ContextVar("namespace of the call", default=None)


class ServedMemory(Protocol):
    """A memory as the tools of a server use it. Thread-safe."""

    readonly: bool
    """Whether nobody can change the memory through this server."""

    @property
    def location(self) -> str:
        """The file or the address, without secrets."""
        ...

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The memories in the file that the present call may use, the one for calls that name none first."""
        ...

    @property
    def namespace(self) -> str:
        """The memory in the file that the present call uses."""
        ...

    @property
    def is_per_client(self) -> bool:
        """Whether every client has memories of its own."""
        ...

    offers_choice: bool
    """Whether calls can name one of several memories."""

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
def serving_client(namespaces: Sequence[str], *, writes: bool = True) -> Iterator[None]:
    """Hold the calls that are made in this context, and in the threads that they start, to some memories of the file.

    Args:
        namespaces: the names of the memories; a call that names none uses the first.
        writes: whether they may change them.

    Yields:
        Nothing.
    """
    token = _CLIENT.set((tuple(namespaces), writes))
    try:
        yield
    finally:
        _CLIENT.reset(token)


def served_namespaces() -> tuple[str, ...]:
    """Return the memories that this call is held to.

    Returns:
        The names of the memories, the one for calls that name none first.

    Raises:
        InputError: the call comes from nobody who is known; it must see nothing.
    """
    return _served()[0]


def client_writes() -> bool:
    """Return whether the client that makes this call may change its memories.

    Returns:
        Whether it may.

    Raises:
        InputError: the call comes from nobody who is known.
    """
    return _served()[1]


def may_write(shared: ServedMemory) -> bool:
    """Return whether this call may change the memory.

    Args:
        shared: the memory.

    Returns:
        Whether the server changes memories, and the client that makes the call, if the server knows clients, may too.
    """
    return not shared.readonly and (not shared.is_per_client or client_writes())


def _served() -> tuple[tuple[str, ...], bool]:
    client = _CLIENT.get()
    if client is None:
        raise InputError("this server serves known clients only, each its own memory")
    return client


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
