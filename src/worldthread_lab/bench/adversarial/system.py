"""What the checks ask of every memory that is attacked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import ClassVar

from worldthread.errors import InputError


class System(ABC):
    """A memory of texts for several users, in files of one folder. Its methods may be called from several threads.

    Args:
        folder: where its files lie; they may be there already.
    """

    packages: ClassVar[tuple[str, ...]]
    not_claimed: ClassVar[Mapping[str, str]] = {}
    """Checks whose promise the system does not give, with what it says instead."""
    known: ClassVar[Mapping[str, str]] = {}
    """Checks that are known to fail, with where users complain."""

    @abstractmethod
    def __init__(self, folder: Path) -> None: ...

    @abstractmethod
    def write(self, user: str, text: str, at: float) -> str:
        """Write a text, durably, and return its id."""

    @abstractmethod
    def delete(self, user: str, id: str) -> None:
        """Delete a text."""

    @abstractmethod
    def texts(self, user: str) -> list[str]:
        """Return all texts that a user has."""

    @abstractmethod
    def found(self, user: str, question: str) -> list[str]:
        """Return what is found for a question, of what holds now, best first."""

    def found_at(self, user: str, question: str, at: float) -> list[str]:
        """Return what is found for a question, of what held at a time."""
        raise NotImplementedError

    @abstractmethod
    def close(self) -> None:
        """Write what is not yet on the disk, and release the files."""

    @classmethod
    def versions(cls) -> str:
        """Return the packages with their versions.

        Raises:
            InputError: one of them is not installed.
        """
        try:
            return ", ".join(f"{package} {version(package)}" for package in cls.packages)
        except PackageNotFoundError as error:
            needed = " ".join(cls.packages)
            raise InputError(f"{error.name} is not installed here. Install it with: pip install {needed}") from None
