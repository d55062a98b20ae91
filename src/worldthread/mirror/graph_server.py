"""The contract of graph databases: they run Cypher whose text is fixed, with values as parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, LiteralString, Self


class GraphServer(ABC):
    """A connection to a graph database."""

    @property
    @abstractmethod
    def address(self) -> str:
        """The address without its password."""

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

    @abstractmethod
    def create_index(self, query: LiteralString) -> None:
        """Create an index unless it is there.

        Args:
            query: the statement.
        """

    @abstractmethod
    def rounded(self, value: float) -> float:
        """Return a number as a result shows it: some servers write fewer digits than they hold."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection. May be called again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
