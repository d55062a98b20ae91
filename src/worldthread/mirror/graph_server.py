"""The contract of graph databases: they run Cypher whose text is fixed, with values as parameters."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, LiteralString
from urllib.parse import SplitResult, urlsplit

from worldthread.caches.base import shown_address
from worldthread.errors import InputError, StoreError
from worldthread.support.closeable import Closeable


class GraphServer(Closeable):
    """A connection to a graph database.

    Args:
        address: where it is.
    """

    _INDEX_EXISTS: ClassVar[str]
    """In the error of the server when an index is there already."""

    def __init__(self, address: str) -> None:
        self._shown = shown_address(address)

    @property
    def address(self) -> str:
        """The address without its password."""
        return self._shown

    @abstractmethod
    def run(self, query: LiteralString, **parameters: Any) -> list[list[Any]]:
        """Run one statement of Cypher in a transaction of its own.

        Args:
            query: the statement, as written in the program: values are never part of it.
            parameters: values by name: strings, numbers, truth values, ``None``, lists and mappings of these.

        Returns:
            The rows, with values of the same kinds.

        Raises:
            StoreUnavailableError: the server cannot be reached.
            StoreError: the server refuses the statement.
        """

    def create_index(self, query: LiteralString) -> None:
        """Create an index unless it is there.

        Args:
            query: the statement.

        Raises:
            StoreUnavailableError: the server cannot be reached.
            StoreError: the server refuses the statement.
        """
        try:
            self.run(query)
        except StoreError as error:
            if self._INDEX_EXISTS not in str(error):
                raise

    @abstractmethod
    def rounded(self, value: float) -> float:
        """Return a number as a result shows it: some servers write fewer digits than they hold."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection. May be called again."""


def parts_of(address: str, form: str) -> SplitResult:
    """Return the parts of the address of a graph database.

    Args:
        address: the address.
        form: the form that it must have, for the message.

    Returns:
        Its parts, with a host and a port that can be used.

    Raises:
        InputError: it has another form.
    """
    try:
        parts = urlsplit(address)
        is_usable = bool(parts.hostname) and parts.port != 0
    except ValueError:  # of the port, or of an IPv6 address; its message could quote a password
        is_usable = False
    if not is_usable:
        raise InputError(f"the address of a graph is {form}, not {shown_address(address)!r}")
    return parts
