"""Every error that worldthread raises on purpose. All of them can be imported from :mod:`worldthread`.

::

    WorldthreadError
     +-- InputError (ValueError)        an argument cannot be used
     |    +-- FormatError               a line of a file does not have the expected form
     +-- MissingExtraError (ImportError)   an optional package is not installed
     +-- StoreError                     the file of a memory cannot be used
     |    +-- ForeignFileError          the file belongs to another program
     |    +-- DamagedFileError          the file is a memory that cannot be read
     |    +-- FileVersionError          a newer release wrote the file
     |    +-- StoreLockedError          another process is writing to the file
     |    +-- ReadOnlyError             a write to a memory that was opened for reading only
     |    +-- ClosedError               the memory is closed
     |    +-- StoreUnavailableError     the server of a memory cannot be reached
     +-- NotFoundError (KeyError)       there is no such episode, statement or object
     +-- ModelError                     an embedder or a chat model failed
     |    +-- DamagedModelError         the model's file is not the expected one
     |    +-- ModelConfigError          the configured model cannot be reached
     |    +-- ModelCallError            the server refused the call, failed, or did not answer
     |    +-- AnswerError               the model's answer could not be used
     |    +-- BudgetError               the budget of tokens or dollars is spent
     |    +-- ReplayError               a replay made a request that was not recorded
     +-- GameError                      a game cannot be played
     |    +-- UnknownGameError          there is no game of that name
     |    +-- GameFileError             the file is not a game that the engine can run
     |    +-- GenerationError           a game could not be generated
     |    +-- EpisodeOverError          a step after the end of the game, or before ``reset``
     |    +-- ContractError (AssertionError)   an environment breaks a rule of the environment contract
     +-- AgentError                     an agent cannot go on
     +-- ClusterError                   processes that read for this one cannot be reached, or fail
     +-- ExtensionError                 what another package adds to worldthread cannot be used

Each message says what is wrong and what to do about it: it names the path, the ``pip install`` command, or the text
that could not be used.
"""

from __future__ import annotations

from pathlib import Path


class WorldthreadError(Exception):
    """The base class: ``except WorldthreadError`` catches every error that worldthread raises on purpose."""


class InputError(WorldthreadError, ValueError):
    """An argument cannot be used; the message says which one and why."""


class ConflictError(InputError):
    """What was given does not go with what the memory holds, or with its clock; elsewhere or later it may."""


class FormatError(InputError):
    """A line of a file does not have the expected form.

    Args:
        message: what is wrong; the constructor puts the file and the line before it.
        path: the file; ``None`` for a stream.
        line: the number of the line, counted from 1; ``None`` when the whole file is meant.

    Attributes:
        path: the file; ``None`` for a stream.
        line: the number of the line, counted from 1; ``None`` when the whole file is meant.
    """

    def __init__(self, message: str, *, path: Path | None = None, line: int | None = None) -> None:
        self.path = path
        self.line = line
        where = f"{path or 'input'}, line {line}: " if line is not None else (f"{path}: " if path else "")
        super().__init__(where + message)


class MissingExtraError(WorldthreadError, ImportError):
    """A package is not installed; the message says which ``pip install`` command fixes it.

    Args:
        purpose: what needs the package.
        extra: the extra of worldthread that installs the package; ``None`` when worldthread itself requires it.
        package: the name of the package.

    Attributes:
        extra: the extra of worldthread that installs the package; ``None`` when worldthread itself requires it.
        package: the name of the package.
    """

    def __init__(self, purpose: str, *, extra: str | None, package: str) -> None:
        self.extra = extra
        self.package = package
        from worldthread.installation import install_command  # late: few programs ever need it

        command = f"pip install {package}" if extra is None else install_command(extra)
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed. Install it with:\n    {command}"
        )


class StoreError(WorldthreadError):
    """The file of a memory cannot be used.

    Args:
        message: what is wrong; the constructor puts the file before it.
        path: the file.

    Attributes:
        path: the file.
    """

    def __init__(self, message: str, *, path: str | Path) -> None:
        self.path = Path(path)
        super().__init__(f"{path}: {message}")


class ForeignFileError(StoreError):
    """The file is not a worldthread memory; it was not changed."""


class DamagedFileError(StoreError):
    """The file is a worldthread memory that cannot be read; it was not changed."""


class FileVersionError(StoreError):
    """A newer release of worldthread wrote the file; it was not changed."""


class StoreLockedError(StoreError):
    """Another process has the memory open for writing; ``wait=SECONDS`` waits for it."""


class ReadOnlyError(StoreError):
    """A write to a memory that was opened for reading only."""


class ClosedError(StoreError):
    """The memory is closed."""


class StoreUnavailableError(StoreError):
    """The server of a memory cannot be reached, or ended the connection. The next use tries to connect again."""


class NotFoundError(WorldthreadError, KeyError):
    """There is no such episode, statement or object."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0]) if self.args else ""


class ModelError(WorldthreadError):
    """An embedder or a chat model failed."""


class DamagedModelError(ModelError):
    """The model's file is not the expected one: its checksum differs."""


class ModelConfigError(ModelError):
    """The configured model cannot be reached; the message says what to set."""


class ModelCallError(ModelError):
    """The server of a chat model refused the call, failed, or did not answer, after all retries.

    Args:
        message: what happened.
        status: the HTTP status; ``None`` when the server did not answer.
        attempts: how many times the call was tried.

    Attributes:
        status: the HTTP status; ``None`` when the server did not answer.
        attempts: how many times the call was tried.
    """

    def __init__(self, message: str, *, status: int | None = None, attempts: int = 1) -> None:
        self.status = status
        self.attempts = attempts
        super().__init__(message)


class AnswerError(ModelError):
    """The answer of a chat model could not be used, and neither could its repair.

    Args:
        message: what is wrong with the answer.
        text: the answer, verbatim.
        repair: the model's answer to the request to repair it, verbatim; ``None`` when there was no such request.

    Attributes:
        text: the answer, verbatim.
        repair: the model's answer to the request to repair it, verbatim; ``None`` when there was no such request.
    """

    def __init__(self, message: str, *, text: str, repair: str | None = None) -> None:
        self.text = text
        self.repair = repair
        super().__init__(message)


class BudgetError(ModelError):
    """The budget of tokens or dollars is spent; the call was not made."""


class ReplayError(ModelError):
    """A replay made a request that is not in the recording."""


class GameError(WorldthreadError):
    """A game cannot be played."""


class UnknownGameError(GameError):
    """There is no game of that name; the message lists similar names."""


class GameFileError(GameError):
    """The file does not exist, or is not a game that the engine can run."""


class GenerationError(GameError):
    """A game could not be generated."""


class EpisodeOverError(GameError):
    """``step`` was called before ``reset``, or after the end of the game."""


class ContractError(GameError, AssertionError):
    """An environment breaks a rule of the environment contract; the message says which rule and how."""


class AgentError(WorldthreadError):
    """An agent cannot go on."""


class ClusterError(WorldthreadError):
    """The processes that read texts for this one cannot be reached, have another release, or fail again and again."""


class ExtensionError(WorldthreadError):
    """What another package adds to worldthread cannot be used; the message names the package and what to do."""
