"""Every error that worldthread raises on purpose.

::

    WorldthreadError
     +-- InputError (ValueError)        an argument or a line of input cannot be used
     |    +-- FormatError               a line of a file is not what it should be
     +-- MissingExtraError (ImportError)   an optional package is absent
     +-- StoreError                     the file that holds a memory
     |    +-- ForeignFileError          the file belongs to something else
     |    +-- DamagedFileError          the file is ours and cannot be read
     |    +-- FileVersionError          the file was written by a newer release
     |    +-- StoreLockedError          another process is writing
     |    +-- ReadOnlyError             a write to a memory that was opened for reading
     |    +-- ClosedError               the memory was closed
     +-- NotFoundError (KeyError)       no such episode, statement or object
     +-- ModelError                     an embedder or a chat model
     |    +-- DamagedModelError         the model's file is not the one expected
     |    +-- ModelConfigError          no such model can be reached as configured
     |    +-- ModelCallError            the server refused, failed or did not answer
     |    +-- AnswerError               the answer could not be used
     |    +-- BudgetError               the budget of tokens or dollars is spent
     |    +-- ReplayError               a replayed run asked what was not recorded
     +-- GameError                      a world to play in
     |    +-- UnknownGameError          no game of that name
     |    +-- GameFileError             the file is not a game that the engine can run
     |    +-- GenerationError           a game could not be made
     |    +-- EpisodeOverError          a step after the end, or before ``reset``
     |    +-- ContractError (AssertionError)   an environment does not do what every world promises
     +-- AgentError                     an agent that cannot go on

Each carries what a person needs to mend it: the path, the pip line, the offending text.
"""

from __future__ import annotations

from pathlib import Path


class WorldthreadError(Exception):
    """The root: ``except WorldthreadError`` catches everything raised on purpose."""


class InputError(WorldthreadError, ValueError):
    """An argument cannot be used; the message says which and why."""


class FormatError(InputError):
    """A line of a file is not what it should be.

    Attributes:
        path: the file, or ``None`` for a stream.
        line: line number, counted from 1.
    """

    def __init__(self, message: str, *, path: Path | None = None, line: int | None = None) -> None:
        self.path = path
        self.line = line
        where = f"{path or 'input'}, line {line}: " if line is not None else (f"{path}: " if path else "")
        super().__init__(where + message)


class MissingExtraError(WorldthreadError, ImportError):
    """A package is absent; the message holds the pip line that mends it.

    Attributes:
        extra: the extra of worldthread that brings the package; ``None`` when worldthread itself requires it.
        package: name of the package.
    """

    def __init__(self, purpose: str, *, extra: str | None, package: str) -> None:
        self.extra = extra
        self.package = package
        wanted = package if extra is None else f"'worldthread[{extra}]'"
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed. Mend it with:\n    pip install {wanted}"
        )


class StoreError(WorldthreadError):
    """Something about the file that holds a memory.

    Attributes:
        path: the file.
    """

    def __init__(self, message: str, *, path: str | Path) -> None:
        self.path = Path(path)
        super().__init__(f"{path}: {message}")


class ForeignFileError(StoreError):
    """The file exists and is not a worldthread memory; it was not touched."""


class DamagedFileError(StoreError):
    """The file is a worldthread memory and cannot be read; it was not touched."""


class FileVersionError(StoreError):
    """The file was written by a newer release of worldthread; it was not touched."""


class StoreLockedError(StoreError):
    """Another process has the memory open for writing."""


class ReadOnlyError(StoreError):
    """A write to a memory that was opened for reading only."""


class ClosedError(StoreError):
    """The memory was closed before this call."""


class NotFoundError(WorldthreadError, KeyError):
    """No such episode, statement or object."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0]) if self.args else ""


class ModelError(WorldthreadError):
    """An embedder or a chat model failed."""


class DamagedModelError(ModelError):
    """The model's file is not the one expected (its checksum differs)."""


class ModelConfigError(ModelError):
    """The configuration names no model that can be reached; the message says what to set."""


class ModelCallError(ModelError):
    """The server of a chat model refused the call, failed, or did not answer, after all retries.

    Attributes:
        status: HTTP status; ``None`` when there was no answer at all.
        attempts: how often it was tried.
    """

    def __init__(self, message: str, *, status: int | None = None, attempts: int = 1) -> None:
        self.status = status
        self.attempts = attempts
        super().__init__(message)


class AnswerError(ModelError):
    """An answer of a chat model could not be used, and nor could its repair.

    Attributes:
        text: the answer, verbatim.
        repair: the answer to the attempt to repair it, verbatim; ``None`` when there was no attempt.
    """

    def __init__(self, message: str, *, text: str, repair: str | None = None) -> None:
        self.text = text
        self.repair = repair
        super().__init__(message)


class BudgetError(ModelError):
    """The budget is spent: the call was not made."""


class ReplayError(ModelError):
    """A replayed run made a request that is not in the recording."""


class GameError(WorldthreadError):
    """Something about a world to play in."""


class UnknownGameError(GameError):
    """No game of that name; the message lists near names."""


class GameFileError(GameError):
    """The file is absent, or is not a game that the engine can run."""


class GenerationError(GameError):
    """A game could not be made."""


class EpisodeOverError(GameError):
    """``step`` was called before ``reset`` or after the game ended."""


class ContractError(GameError, AssertionError):
    """An environment does not do what every world promises; the message says where and how."""


class AgentError(WorldthreadError):
    """An agent cannot go on."""
