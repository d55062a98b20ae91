"""How a chat model reads the passages of a data set: PersonalAI's Memorize pipeline (section III.B), and ours.

The paper asks for theses and for triples in two calls. What a passage makes outdated is sought among the neighbours of
the objects that it names: a breadth-first search from these follows all their edges, and the model says which of the
statements found are replaced, again in one call for theses and one for triples. In the experiments of the paper this
search is off.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, get_args

from worldthread.errors import InputError
from worldthread.extract.base import Extractor
from worldthread.extract.model import ModelExtractor
from worldthread.extract.model.answers import names_in
from worldthread.extract.model.extractor import UnsettledExtraction
from worldthread.graph import GraphView
from worldthread.models.chat import ChatModel
from worldthread.names import normalise_name
from worldthread.types import Extraction, Fact, Statement

Calls: TypeAlias = Literal["merged", "separate"]
"""Whether one call asks for theses and triples, or one for each."""
Outdate: TypeAlias = Literal["off", "names", "neighbours"]
"""Where outdated statements are sought: nowhere, among those that share a name and can clash, or among neighbours."""

MAX_CANDIDATES: Final = 40
"""Most statements that one call judges."""


@dataclass(frozen=True)
class Memorize:
    """How passages are read.

    Args:
        calls: whether one call asks for theses and triples, or one for each.
        outdate: where outdated statements are sought; ``None``: by name if the passages have dates, else nowhere.
        depth: how many steps the breadth-first search goes, at least 1; at 1 it finds the edges of what is named.

    Raises:
        InputError: a value is unknown, or the depth is below 1.
    """

    calls: Calls = "merged"
    outdate: Outdate | None = None
    depth: int = 1

    def __post_init__(self) -> None:
        if self.calls not in get_args(Calls):
            raise InputError(f"calls must be one of {', '.join(get_args(Calls))}, not {self.calls!r}")
        if self.outdate is not None and self.outdate not in get_args(Outdate):
            raise InputError(f"outdate must be one of {', '.join(get_args(Outdate))}, not {self.outdate!r}")
        if self.depth < 1:
            raise InputError(f"depth must be at least 1, not {self.depth}")

    @property
    def label(self) -> str:
        """What differs from the defaults, for names of files and configurations; empty when nothing does."""
        parts = ["separate"] if self.calls == "separate" else []
        if self.outdate is not None:
            parts.append("current" if self.outdate == "off" else self.outdate)
        if self.outdate == "neighbours" and self.depth > 1:
            parts.append(str(self.depth))
        return "-".join(parts)

    def outdates(self, *, dated: bool) -> bool:
        """Return whether passages can end statements of earlier ones.

        Args:
            dated: whether the passages have dates.
        """
        return dated if self.outdate is None else self.outdate != "off"

    def extractor(self, model: ChatModel, *, dated: bool) -> Extractor:
        """Return the extractor.

        Args:
            model: reads the passages.
            dated: whether the passages have dates.
        """
        return _MemorizeExtractor(model, self, judges=self.outdates(dated=dated))


class _MemorizeExtractor:
    """Reads as a :class:`Memorize` says. An :class:`~worldthread.extract.base.Extractor`."""

    def __init__(self, model: ChatModel, memorize: Memorize, *, judges: bool) -> None:
        separate = memorize.calls == "separate"
        parts: tuple[dict[str, Any], ...] = ({"theses": False}, {"facts": False}) if separate else ({},)
        kind = _NeighbourExtractor if memorize.outdate == "neighbours" else ModelExtractor
        options: dict[str, Any] = {"depth": memorize.depth} if memorize.outdate == "neighbours" else {}
        self._readers = [kind(model, max_candidates=MAX_CANDIDATES, **part, **options) for part in parts]
        self._judging = self._readers if memorize.outdate == "neighbours" else self._readers[:1]
        self._judges = judges
        self.settles_locally: Final = not judges
        self.name: Final = "+".join(filter(None, (self._readers[0].name, memorize.label)))
        self.concurrency: Final = model.concurrency

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        read = [reader.extract(text, speaker, at) for reader in self._readers]
        return read[0] if len(read) == 1 else _joined(self.name, read)

    def outdate(
        self, text: str, extraction: Extraction, view: GraphView, speaker: str = "", at: float | None = None
    ) -> Extraction:
        if not self._judges:
            return extraction
        unsettled = extraction if isinstance(extraction, UnsettledExtraction) else None
        for reader in self._judging:
            extraction = reader.outdate(text, unsettled or extraction, view, speaker, at)
            if unsettled is not None:  # the next one needs what the model said has changed, too
                unsettled = replace(unsettled, endings=extraction.endings, failures=extraction.failures)
        return extraction


class _NeighbourExtractor(ModelExtractor):
    """A :class:`ModelExtractor` that judges the neighbours of what a passage names.

    Args:
        model: the chat model.
        depth: steps of the breadth-first search.
        options: those of :class:`ModelExtractor`; without facts only theses are judged, and the other way round.
    """

    def __init__(self, model: ChatModel, *, depth: int = 1, **options: Any) -> None:
        super().__init__(model, **options)
        self._depth = depth
        self._judged = (options.get("facts", True), options.get("theses") is not False)

    def candidates(self, extraction: Extraction, changed: Iterable[str], view: GraphView) -> list[Statement]:
        facts, theses = self._judged
        names = [name for statement in extraction.statements for name in names_in(statement)]
        known = {*extraction.statements, *(ending.statement for ending in extraction.endings)}
        return [
            statement
            for statement in neighbours([*names, *changed], view, self._depth)
            if statement not in known and (facts if isinstance(statement, Fact) else theses)
        ]


def neighbours(names: Iterable[str], view: GraphView, depth: int = 1) -> list[Statement]:
    """Find the statements around some objects by breadth-first search over facts and theses.

    Args:
        names: where the search begins; names that the memory does not know are passed over.
        view: what the memory holds.
        depth: how many steps the search goes, at least 1.

    Returns:
        The statements that hold, in the order in which they are found; those of one object in the order of their ids.
    """
    starts = dict.fromkeys(map(normalise_name, names))
    waiting = deque((name, 0) for name in starts)
    seen = set(starts)
    found: dict[Statement, None] = {}
    while waiting:
        name, steps = waiting.popleft()
        held = {version.statement for version in view.timeline(name) if view.covers(version.interval)}
        for statement in sorted(held, key=lambda statement: statement.id):
            found.setdefault(statement)
            for end in map(normalise_name, names_in(statement)):
                if end not in seen and steps + 1 < depth:
                    seen.add(end)
                    waiting.append((end, steps + 1))
    return list(found)


def _joined(name: str, read: list[Extraction]) -> Extraction:
    """Return what several calls extracted from one text: facts before theses, each statement once."""
    joined = (
        name,
        tuple(dict.fromkeys(statement for each in read for statement in each.statements)),
        tuple({ending.statement: ending for each in read for ending in each.endings}.values()),
        tuple(failure for each in read for failure in each.failures),
        tuple(dict.fromkeys(pair for each in read for pair in each.same_names)),
    )
    unsettled = [each for each in read if isinstance(each, UnsettledExtraction)]
    if not unsettled:
        return Extraction(*joined)
    changed = tuple(dict.fromkeys(name for each in unsettled for name in each.changed))
    return UnsettledExtraction(*joined, changed, unsettled[0].read)
