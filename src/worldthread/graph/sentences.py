"""How long a sentence holds: as long as the facts that were read from it.

A thesis is a statement of its own, so what ends a fact does not end the sentence that told it. The record does not keep
from which sentence a fact was read. It follows from the words: a fact of an episode *stands in* a thesis of that
episode when the sentence has both of its names. A thesis in which facts stand lasts until the last of them has ended,
or until it ends itself. Where they were over before the sentence was told, as events are, it holds when they did.

Nothing of this is part of the fold, or of a state hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from worldthread.graph.state import GraphState
from worldthread.graph.strings import ABSENT
from worldthread.names import normalise_text
from worldthread.types import Interval, Version

_WORD: Final = re.compile(r"[^\W_]+")


class FactsInSentences:
    """Which facts stand in which sentences of a graph, found once for each sentence.

    Args:
        state: the graph, whose numbers must stay as they are.
    """

    def __init__(self, state: GraphState) -> None:
        self._state = state
        self._found: dict[tuple[int, int], tuple[int, ...]] = {}

    def standing_in(self, thesis: int, episode: int) -> tuple[int, ...]:
        """Return the facts of an episode that stand in one of its theses.

        Args:
            thesis: number of the thesis.
            episode: number of the episode.

        Returns:
            The numbers of the facts, in the order of the extraction.
        """
        found = self._found.get((thesis, episode))
        if found is None:
            found = self._found[thesis, episode] = tuple(dict.fromkeys(self._standing_in(thesis, episode)))
        return found

    def _standing_in(self, thesis: int, episode: int) -> Iterator[int]:
        state = self._state
        facts = [number for number in self._stated(episode) if state.statements.keys[number][1] != ABSENT]
        if not facts:
            return
        names = set(state.statements.vertices(thesis))
        text = _words(normalise_text(str(state.statement(thesis))))
        for fact in facts:
            if all(name in names or _words(name) in text for name in state.statements.vertices(fact)):
                yield fact

    def facts_of(self, episode: int) -> list[int]:
        """Return the numbers of the facts that an episode asserts."""
        return [number for number in self._stated(episode) if self._state.statements.keys[number][1] != ABSENT]

    def _stated(self, episode: int) -> list[int]:
        forms = self._state.statements.forms
        return [forms[form][0] for (form,) in self._state.episode_assertions.get(episode)]

    def lasting(self, thesis: int, version: Version) -> Version:
        """Return a version of a thesis with the interval that its facts give it.

        Args:
            thesis: number of the thesis.
            version: one of its versions.

        Returns:
            The version, ended where the last of its facts is; as it is where no fact stands in it.
        """
        episodes = (self._state.episodes.numbers.get(source) for source in version.sources)
        told = [
            one
            for episode in episodes
            if episode is not None
            for fact in self.standing_in(thesis, episode)
            for one in self._state.versions_of(fact)
            if not set(version.sources).isdisjoint(one.sources)
        ]
        if not told:
            return version
        last = max(told, key=lambda one: (one.interval.valid_to, one.interval.valid_from))
        begin, end = version.interval.valid_from, last.interval.valid_to
        if end >= version.interval.valid_to:
            return version
        if end <= begin:
            begin = min(min(one.interval.valid_from for one in told), end)
        return replace(version, interval=Interval(begin, end), ended_by=last.ended_by, reason=last.reason)


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text))} "
