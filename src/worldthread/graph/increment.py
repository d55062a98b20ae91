"""Adding and removing single episodes without folding all of them again.

An episode that is later than all others (the usual case) is applied by looking at what it touches. An episode that
arrives late, or is forgotten, recomputes the touched statements from their events. The result is that of
:func:`worldthread.graph.fold.fold`, which tests check over random histories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from worldthread.graph.columns import Row
from worldthread.graph.episodes import EpisodeRecord
from worldthread.graph.fold import replacement_reason, replacements
from worldthread.graph.state import GraphState
from worldthread.graph.strings import ABSENT
from worldthread.types import Extraction, Statement


class IncrementalFold:
    """Keeps the versions of a graph up to date while episodes come and go.

    Args:
        state: the tables to change; nothing else changes them.
    """

    __slots__ = ("_held_aspects", "_holders", "_last", "_state")

    def __init__(self, state: GraphState) -> None:
        self._state = state
        self._last = state.episodes.last()
        # caches of what the tables say, filled on first use
        self._holders: dict[int, set[int]] = {}  # aspect -> statements that hold now with it
        self._held_aspects: dict[int, set[int]] = {}  # statement -> aspects of its open version

    def add(self, record: EpisodeRecord, extraction: Extraction, digest: str) -> None:
        """Add an episode that the graph does not have; ``digest`` is that of its extraction as recorded."""
        number = self._record_events(record, extraction, digest)
        order = (record.at, record.id)
        if self._last is None or order > self._last:
            self._apply(number)
            self._last = order
        else:
            self._recompute(self._touched_by(number) | self._disturbed_by(number))

    def remove(self, number: int) -> None:
        """Remove an episode, as if it had never been added."""
        state = self._state
        episodes = state.episodes
        touched = self._touched_by(number)
        disturbed = self._disturbed_by(number)
        aspects = state.aspects_stated(number)
        for statement in touched:
            for table in (state.assertions, state.endings):
                table.replace(statement, [row for row in table.get(statement) if row[0] != number])
        for aspect in aspects:
            rows = state.aspect_assertions.get(aspect)
            state.aspect_assertions.replace(aspect, [row for row in rows if row[0] != number])
        size = _size(state.episode_assertions.get(number), state.episode_endings.get(number))
        state.size -= size
        state.unused += size
        state.episode_assertions.replace(number, [])
        state.episode_endings.replace(number, [])
        episodes.remove(number)
        if self._last == episodes.order(number):
            self._last = episodes.last()
        self._recompute(touched | disturbed, aspects)

    def _record_events(self, record: EpisodeRecord, extraction: Extraction, digest: str) -> int:
        """Record an episode and its events, and return its number."""
        state = self._state
        number = state.episodes.add(record, digest)
        state.size += _size(extraction.statements, extraction.endings)
        intern_form, forms = state.statements.intern_form, state.statements.forms
        for statement in extraction.statements:
            form = intern_form(statement)
            owner, *_, aspect = forms[form]
            state.episode_assertions.append(number, (form,))
            state.assertions.append(owner, (number, form))
            if aspect != ABSENT:
                state.aspect_assertions.append(aspect, (number, owner))
        for ending in extraction.endings:
            form = intern_form(ending.statement)
            reason = state.strings.intern(ending.reason)
            state.episode_endings.append(number, (form, reason))
            state.endings.append(forms[form][0], (number, reason))
        return number

    def _touched_by(self, number: int) -> set[int]:
        """Return the statements that an episode asserts or ends."""
        state = self._state
        rows = (*state.episode_assertions.get(number), *state.episode_endings.get(number))
        return {state.statements.forms[row[0]][0] for row in rows}

    def _disturbed_by(self, number: int) -> set[int]:
        """Return the other statements that an episode can end: at its time they hold with an aspect that it states."""
        state = self._state
        order = state.episodes.order
        own = order(number)
        candidates = {
            statement for aspect in state.aspects_stated(number) for _, statement in state.aspect_assertions.get(aspect)
        }
        return {
            statement
            for statement in candidates
            if any(
                order(state.assertions.get(statement)[first][0]) < own
                and (ended_by == ABSENT or own <= order(ended_by))
                for first, _, ended_by, _ in state.versions.get(statement)
            )
        }

    # -- the latest episode -----------------------------------------------------------------------------------------

    def _apply(self, number: int) -> None:
        """Fold the latest episode: only what it asserts or ends, and holders of its aspects, can change."""
        state = self._state
        forms, versions = state.statements.forms, state.versions
        asserted: dict[int, list[int]] = {}  # statement -> aspects stated with it, one for each assertion
        for (form,) in state.episode_assertions.get(number):
            owner, *_, aspect = forms[form]
            asserted.setdefault(owner, []).append(aspect)
        for form, reason in state.episode_endings.get(number):
            statement = forms[form][0]
            if statement not in asserted and state.is_open(statement):
                self._close(statement, number, reason)
        stated = {aspect for aspects in asserted.values() for aspect in aspects} - {ABSENT}
        outdated = {holder for aspect in stated for holder in self._holders_of(aspect)} - asserted.keys()
        if outdated:
            replaced = replacements(state.extraction(number))
            for statement in outdated:
                self._close(statement, number, self._replacement(replaced, self._aspects_held(statement)))
        for statement, aspects in asserted.items():
            count = len(state.assertions.get(statement))
            if state.is_open(statement):
                held = self._aspects_held(statement)
                first, *_ = versions.get(statement)[-1]
                versions.set_last(statement, (first, count, ABSENT, ABSENT))
            else:
                held = self._held_aspects[statement] = set()
                versions.append(statement, (count - len(aspects), count, ABSENT, ABSENT))
            for aspect in {*aspects} - {ABSENT}:
                held.add(aspect)
                if aspect in self._holders:
                    self._holders[aspect].add(statement)

    def _close(self, statement: int, ended_by: int, reason: int) -> None:
        """End the open version of a statement."""
        for aspect in self._aspects_held(statement):
            if aspect in self._holders:
                self._holders[aspect].discard(statement)
        del self._held_aspects[statement]
        versions = self._state.versions
        first, after, *_ = versions.get(statement)[-1]
        versions.set_last(statement, (first, after, ended_by, reason))

    def _replacement(self, replaced: Mapping[str, Statement], aspects: Iterable[int]) -> int:
        """Return the number of the reason for which a statement that holds with ``aspects`` ends."""
        strings = self._state.strings
        reason = replacement_reason(replaced, [strings.items[aspect] for aspect in aspects])
        assert reason is not None
        return strings.intern(reason)

    def _aspects_held(self, statement: int) -> set[int]:
        """Return the aspects of the open version of a statement."""
        held = self._held_aspects.get(statement)
        if held is None:
            state = self._state
            first, after, *_ = state.versions.get(statement)[-1]
            assertions = state.assertions.get(statement)[first:after]
            held = {state.statements.forms[form][4] for _, form in assertions} - {ABSENT}
            self._held_aspects[statement] = held
        return held

    def _holders_of(self, aspect: int) -> set[int]:
        """Return the statements that hold now with an aspect."""
        holders = self._holders.get(aspect)
        if holders is None:
            candidates = {statement for _, statement in self._state.aspect_assertions.get(aspect)}
            holders = {s for s in candidates if self._state.is_open(s) and aspect in self._aspects_held(s)}
            self._holders[aspect] = holders
        return holders

    # -- any other episode ------------------------------------------------------------------------------------------

    def _recompute(self, affected: set[int], dropped: Iterable[int] = ()) -> None:
        """Fold the events of each affected statement again; ``dropped`` are aspects that one of them may have lost."""
        known = _Stated(self._state)
        for statement in affected:
            self._held_aspects.pop(statement, None)
            self._refold(statement, known)
        for aspect in {aspect for statement in affected for aspect in self._aspects_ever(statement)}.union(dropped):
            self._holders.pop(aspect, None)

    def _aspects_ever(self, statement: int) -> set[int]:
        """Return the aspects with which a statement was ever asserted."""
        forms = self._state.statements.forms
        return {forms[form][4] for _, form in self._state.assertions.get(statement)} - {ABSENT}

    def _refold(self, statement: int, known: _Stated) -> None:
        """Set the assertions (in fold order) and the versions of a statement from its events."""
        state = self._state
        forms = state.statements.forms
        asserted: dict[int, list[Row]] = {}  # episode -> its assertions of the statement
        for assertion in state.assertions.get(statement):
            asserted.setdefault(assertion[0], []).append(assertion)
        reasons: dict[int, int] = {}  # episode -> the first reason for which it ends the statement
        for episode, reason in state.endings.get(statement):
            reasons.setdefault(episode, reason)
        stated: dict[int, set[int]] = {}  # episode -> aspects of the statement that it states
        for aspect in self._aspects_ever(statement):
            for episode in known.episodes(aspect):
                stated.setdefault(episode, set()).add(aspect)
        assertions: list[Row] = []
        versions: list[Row] = []
        held: set[int] = set()
        first = ABSENT  # the first assertion of the open version
        for episode in sorted({*asserted, *reasons, *stated}, key=state.episodes.order):
            if episode in asserted:
                if first == ABSENT:
                    first = len(assertions)
                assertions += asserted[episode]
                held.update(forms[form][4] for _, form in asserted[episode])
            elif first != ABSENT and (episode in reasons or held & stated.get(episode, set())):
                reason = (
                    reasons[episode]
                    if episode in reasons
                    else self._replacement(known.replacements(episode), held - {ABSENT})
                )
                versions.append((first, len(assertions), episode, reason))
                first, held = ABSENT, set()
        if first != ABSENT:
            versions.append((first, len(assertions), ABSENT, ABSENT))
        state.assertions.replace(statement, assertions)
        state.versions.replace(statement, versions)


class _Stated:
    """What episodes state under aspects, read once for all statements that are folded again."""

    def __init__(self, state: GraphState) -> None:
        self._state = state
        self._episodes: dict[int, list[int]] = {}
        self._replacements: dict[int, dict[str, Statement]] = {}

    def episodes(self, aspect: int) -> list[int]:
        """Return the episodes that state an aspect, each once."""
        found = self._episodes.get(aspect)
        if found is None:
            found = list(dict.fromkeys(episode for episode, _ in self._state.aspect_assertions.get(aspect)))
            self._episodes[aspect] = found
        return found

    def replacements(self, episode: int) -> dict[str, Statement]:
        """Return the :func:`~worldthread.graph.fold.replacements` of an episode."""
        found = self._replacements.get(episode)
        if found is None:
            found = self._replacements[episode] = replacements(self._state.extraction(episode))
        return found


def _size(asserted: Sequence[object], ended: Sequence[object]) -> int:
    """Return how much an episode adds to :attr:`GraphState.size`."""
    return 1 + len(asserted) + len(ended)
