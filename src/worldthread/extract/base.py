"""The contract of extractors, and the step of a game that a game extractor is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from worldthread.graph import GraphView
from worldthread.types import Extraction

USER: Final = "user"
"""The speaker of a text with "I" of whom no name is known."""


@dataclass(frozen=True)
class GameStep:
    """One step of a game as the player sees it. A game extractor sees nothing else of the game.

    Args:
        text: the observation.
        action: the command that led to it; ``None`` for the opening text.
        inventory: the text of the inventory; ``None`` when the game does not show it.
        goal: the task in words; empty when there is none.
        turn: world time; 0 for the opening text.
    """

    text: str
    action: str | None = None
    inventory: str | None = None
    goal: str = ""
    turn: int = 0


_TEXT_READERS: Final = ("model", "reader", "prose", "parsed")  # the last one read the memories of earlier releases


@runtime_checkable
class Extractor(Protocol):
    """Extracts the statements of a passage of prose, in two steps.

    :meth:`extract` sees the passage alone, so it can run for many passages at once. :meth:`outdate` sees what the
    memory holds as well, so it runs for one passage after the other, in order of world time.

    Neither step raises for what a text, or a model's answer about it, contains: what could not be understood is in
    ``failures`` of the extraction, verbatim.
    """

    @property
    def name(self) -> str:
        """Name and version, such as ``"prose/1"``; recorded as ``extractor`` of every extraction."""

    @property
    def concurrency(self) -> int:
        """How many calls of :meth:`extract` may usefully run at once; at least 1."""

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        """Return what ``text`` states, from the text alone. Thread-safe.

        Args:
            text: one passage, usually of at most 120 words (see :func:`~worldthread.extract.chunks.chunk`), but any
                string is accepted.
            speaker: who says it, as given: the meaning of "I". When the text is a message, it begins with the speaker,
                a colon and a space. Empty when nobody is known to say it.
            at: world time of the text, against which "yesterday" is understood; ``None`` where that is not known.

        Returns:
            An extraction with :attr:`name` as its extractor; ``statements`` in a fixed order; ``endings`` that the
            text states outright, if any; ``failures`` empty unless something could not be understood.

        Raises:
            ModelError: a model is needed and cannot be called, or its budget is spent.
        """

    def outdate(
        self, text: str, extraction: Extraction, view: GraphView, speaker: str = "", at: float | None = None
    ) -> Extraction:
        """Return ``extraction`` with an ending for each older statement of ``view`` that it ends.

        Called after everything older has been added to the graph. An extractor whose aspects end all older statements
        returns ``extraction`` unchanged.

        Args:
            text: the passage.
            extraction: what :meth:`extract` returned for ``text``.
            view: what the memory holds before the passage is added.
            speaker: as for :meth:`extract`.
            at: as for :meth:`extract`.

        Returns:
            An extraction that keeps the statements, endings and failures of ``extraction``, in their order; new ones
            follow them. A statement that corrects an older one may get the times of that.

        Raises:
            ModelError: as for :meth:`extract`.
        """


@runtime_checkable
class LocalExtractor(Protocol):
    """An :class:`Extractor` of which it is known whether others may wait for it."""

    @property
    def settles_locally(self) -> bool:
        """Whether :meth:`Extractor.outdate` asks neither a model nor a server, so that other writers may wait."""


def settles_locally(extractor: Extractor) -> bool:
    """Return whether other writers may wait while an extractor finds what a text ends.

    Args:
        extractor: the extractor; one that does not say may ask a server.
    """
    return isinstance(extractor, LocalExtractor) and extractor.settles_locally


def reads_in_background(extractor: Extractor) -> bool:
    """Return whether what was recorded may wait while an extractor reads: one that takes time, and no model or server.

    Args:
        extractor: the extractor.
    """
    return settles_locally(extractor) and bool(getattr(extractor, "takes_time", False))


def is_of_text_reader(name: str) -> bool:
    """Return whether an extraction was read in a text, rather than given with it.

    Args:
        name: the name of the extractor in the record.
    """
    return name.partition("/")[0] in _TEXT_READERS
