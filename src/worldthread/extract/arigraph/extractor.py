"""The faithful AriGraph reader: what its published source makes of a model's answers, as readings for our graph.

What is theirs: triplets of one observation are added; those that a second answer calls outdated are deleted by exact
match of their (lower-case) names, unless both ends are rooms that were visited; a step into another room that was not
a "go to" adds how the two rooms lie. Nothing else ends a fact, so facts bear no aspect here. What is ours: a deletion
is an ending with its reason, and names that differ only in articles, outer quotation marks or final punctuation are
one (:func:`worldthread.names.normalise_name`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from worldthread.extract.arigraph.plan import GO_TO
from worldthread.extract.arigraph.text import Failure, OutdatedTriplets, parse_outdated, parse_triplets
from worldthread.extract.game.vocabulary import OPPOSITE
from worldthread.graph import GraphView
from worldthread.types import Ending, Extraction, Fact

DIRECTIONS: Final = ("north", "south", "east", "west")
KEPT_PHRASES: Final = (*DIRECTIONS, "associated with", "used for", "to be")
"""A fact whose words contain one of these is never shown as possibly outdated."""


@dataclass(frozen=True)
class RoomChange:
    """What the last action did to the agent's place. Rooms as the game writes them.

    Args:
        before: the room before the action.
        after: the room now; the same when the agent stayed.
        action: the action, such as ``"go west"`` or ``"go to kitchen"``.
    """

    before: str
    after: str
    action: str


class DeletionOutcome(StrEnum):
    """What becomes of a fact that a model calls outdated."""

    ENDED = "ended"
    UNKNOWN = "not in the graph by exactly these names"
    ROOMS = "kept: both ends are rooms that were visited"
    RESTATED = "kept: stated again by the same reading"


def spatial_facts(move: RoomChange) -> tuple[Fact, ...]:
    """How the two rooms of a move lie, both ways round; empty when the agent stayed, used "go to" or no direction."""
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
    """Facts that hold and share an entity with ``extracted``, by exact name; without those of :data:`KEPT_PHRASES`.

    In order of their names.
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
    """What becomes of ``old``, called outdated by a reading that states ``stated``.

    Args:
        rooms: the rooms that were visited, in lower case.
    """
    held = view.facts(old.subject, old.relation, old.object)
    names = (old.subject, old.relation, old.object)
    if names not in [(fact.subject, fact.relation, fact.object) for fact in held]:
        return DeletionOutcome.UNKNOWN
    if old in stated:
        return DeletionOutcome.RESTATED
    return DeletionOutcome.ROOMS if old.subject in rooms and old.object in rooms else DeletionOutcome.ENDED


class AriGraphExtractor:
    """Reads observations as AriGraph does. It is a :class:`~worldthread.extract.base.Extractor`; a game gives more.

    It writes no prompt and calls no model itself: two functions do, so that a recorded run can be replayed.

    Args:
        ask_triplets: from a text to a model's answer, ``"subject, relation, object; ..."``.
        ask_outdated: from the facts that may be outdated and the facts that are new to a model's answer,
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

    def extract(self, text: str) -> Extraction:
        """The triplets of ``text``, without aspects.

        Raises:
            ModelError: as ``ask_triplets`` does.
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
        """``reading`` with the facts of ``view`` that it ends, and with how the rooms of ``move`` lie.

        Args:
            text: what was read; not looked at, since the answer about it is in ``reading``.
            rooms: every room visited so far, the present one among them.
            move: what the last action did; ``None`` when there was none.

        Raises:
            ModelError: as ``ask_outdated`` does.
        """
        facts = [statement for statement in extraction.statements if isinstance(statement, Fact)]
        new = [fact for fact in facts if not view.holds(fact)]
        answer = parse_outdated(self._ask_outdated(outdated_candidates(view, facts), new))
        placed = spatial_facts(move) if move is not None else ()
        return replace(
            extraction,
            statements=(*extraction.statements, *placed),
            endings=_endings(answer, view, {*facts, *placed}, rooms),
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
    """The texts of failures, in a form that every store can keep."""
    texts = (failure.text.encode("utf-8", "replace").decode() for failure in failures)
    return tuple(text.replace("\0", "\N{REPLACEMENT CHARACTER}") for text in texts)
