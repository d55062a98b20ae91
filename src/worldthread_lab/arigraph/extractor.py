"""The extractor of AriGraph: does with a model's answers what its published source does, as extractions for our graph.

As in the source: the triplets of an observation are added; those that a second answer calls outdated are deleted by
exact match of their lower-case names, unless both ends are visited rooms; a step into another room, other than by
"go to", adds how the two rooms lie. Nothing else ends a fact, so facts have no aspect here. Unlike the source: a
deletion is an ending with its reason, and names that differ only in articles, outer quotation marks or final
punctuation are one name (:func:`worldthread.names.normalise_name`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from worldthread.graph import GraphView
from worldthread.types import Ending, Extraction, Fact
from worldthread_lab.arigraph.plan import GO_TO
from worldthread_lab.arigraph.text import Failure, OutdatedTriplets, parse_outdated, parse_triplets
from worldthread_lab.game.vocabulary import OPPOSITE

DIRECTIONS: Final = ("north", "south", "east", "west")
"""The directions that AriGraph knows."""
KEPT_PHRASES: Final = (*DIRECTIONS, "associated with", "used for", "to be")
"""A fact whose words contain one of these is never shown as possibly outdated."""


@dataclass(frozen=True)
class RoomChange:
    """Where the last action led. Rooms are written as the game writes them.

    Args:
        before: the room before the action.
        after: the room after it; the same when the agent stayed.
        action: the action, such as ``"go west"`` or ``"go to kitchen"``.
    """

    before: str
    after: str
    action: str


class DeletionOutcome(StrEnum):
    """The outcome for a fact that a model calls outdated."""

    ENDED = "ended"
    UNKNOWN = "not in the graph by exactly these names"
    ROOMS = "kept: both ends are rooms that were visited"
    RESTATED = "kept: stated again by the same reading"


def spatial_facts(move: RoomChange) -> tuple[Fact, ...]:
    """Return how the two rooms of a move lie, in both directions; empty without a step in a direction."""
    before, after = move.before.lower(), move.after.lower()
    action = move.action.lower()
    direction = next((word for word in action.split() if word in DIRECTIONS), None)
    if before == after or direction is None or action.startswith(GO_TO):
        return ()
    return (
        Fact(after, f"is {direction} of", before),
        Fact(before, f"is {OPPOSITE[direction]} of", after),
    )


def outdated_candidates(view: GraphView, extracted: Iterable[Fact]) -> list[Fact]:
    """Return the facts that may be outdated: those that hold and share an entity with new facts, by exact name.

    Args:
        view: what the memory holds.
        extracted: the facts of the new observation.

    Returns:
        The facts in order of their names, without those that contain one of :data:`KEPT_PHRASES`.
    """
    names = {name for fact in extracted for name in (fact.subject, fact.object)}
    incident = {
        fact: None
        for name in sorted(names)
        for fact in (*view.facts(subject=name), *view.facts(object=name))
        if (fact.subject in names or fact.object in names) and not any(p in str(fact) for p in KEPT_PHRASES)
    }
    return sorted(incident, key=lambda fact: fact.key)


def deletion_outcome(old: Fact, view: GraphView, stated: Collection[Fact], rooms: Collection[str]) -> DeletionOutcome:
    """Return what happens to a fact that a model calls outdated.

    Args:
        old: the fact.
        view: what the memory holds.
        stated: the facts of the extraction whose answer calls ``old`` outdated.
        rooms: the rooms that were visited, in lower case.

    Returns:
        :attr:`DeletionOutcome.ENDED`, or why the fact is kept.
    """
    held = view.facts(old.subject, old.relation, old.object)
    names = (old.subject, old.relation, old.object)
    if names not in [(fact.subject, fact.relation, fact.object) for fact in held]:
        return DeletionOutcome.UNKNOWN
    if old in stated:
        return DeletionOutcome.RESTATED
    return DeletionOutcome.ROOMS if old.subject in rooms and old.object in rooms else DeletionOutcome.ENDED


class AriGraphExtractor:
    """Extracts triplets as AriGraph does. A :class:`~worldthread.extract.base.Extractor` with more options for games.

    It writes no prompt and calls no model itself. Two functions do, so that a recorded run can be replayed.

    Args:
        ask_triplets: takes a text; returns a model's answer, ``"subject, relation, object; ..."``.
        ask_outdated: takes the facts that may be outdated and the new facts; returns a model's answer,
            ``"[[old -> new], ...]"``.
        concurrency: how many calls of ``ask_triplets`` may usefully run at once.
    """

    name: Final = "arigraph/1"

    def __init__(
        self,
        ask_triplets: Callable[[str], str],
        ask_outdated: Callable[[Sequence[Fact], Sequence[Fact]], str],
        *,
        concurrency: int = 1,
    ) -> None:
        self._ask_triplets = ask_triplets
        self._ask_outdated = ask_outdated
        self._concurrency = concurrency

    @property
    def concurrency(self) -> int:
        """How many calls of :meth:`extract` may usefully run at once."""
        return self._concurrency

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        """Return the triplets of an observation.

        Args:
            text: the observation.
            speaker: not used.
            at: not used.

        Returns:
            An extraction with facts without aspects, no endings, and the parts of the answer that were unusable.

        Raises:
            ModelError: ``ask_triplets`` raises it.
        """
        answer = parse_triplets(self._ask_triplets(text))
        return Extraction(self.name, answer.facts, (), _texts(answer.failures))

    def outdate(
        self,
        text: str,
        extraction: Extraction,
        view: GraphView,
        *,
        rooms: Collection[str] = (),
        move: RoomChange | None = None,
    ) -> Extraction:
        """Return ``extraction`` with the facts of ``view`` that it ends, and with how the rooms of ``move`` lie.

        Args:
            text: the observation; not used, because ``extraction`` has the answer about it.
            extraction: what :meth:`extract` returned for ``text``.
            view: what the memory holds before the observation is added.
            rooms: every room visited so far, including the current one.
            move: where the last action led; ``None`` when there was no action.

        Returns:
            The extraction with spatial facts after its statements, and new endings and failures after its own.

        Raises:
            ModelError: ``ask_outdated`` raises it.
        """
        facts = [statement for statement in extraction.statements if isinstance(statement, Fact)]
        new = [fact for fact in facts if not view.holds(fact)]
        answer = parse_outdated(self._ask_outdated(outdated_candidates(view, facts), new))
        spatial = spatial_facts(move) if move is not None else ()
        return replace(
            extraction,
            statements=(*extraction.statements, *spatial),
            endings=_endings(answer, view, {*facts, *spatial}, rooms),
            failures=(*extraction.failures, *_texts(answer.failures)),
        )


def _endings(
    answer: OutdatedTriplets, view: GraphView, stated: Collection[Fact], rooms: Collection[str]
) -> tuple[Ending, ...]:
    visited = {room.lower() for room in rooms}
    reasons: dict[Fact, str] = {}
    for old, new in answer.pairs:
        if deletion_outcome(old, view, stated, visited) is DeletionOutcome.ENDED:
            reasons.setdefault(old, f"replaced by: {new}")
    return tuple(Ending(fact, reason) for fact, reason in reasons.items())


def _texts(failures: Iterable[Failure]) -> tuple[str, ...]:
    """Return the texts of failures without the characters that a store cannot keep."""
    texts = (failure.text.encode("utf-8", "replace").decode() for failure in failures)
    return tuple(text.replace("\0", "\N{REPLACEMENT CHARACTER}") for text in texts)
