"""Adding and removing single episodes without folding all of them again.

An episode that is later than all others (the usual case) is applied by looking at what it touches. Where one arrives
late, or is forgotten, the events of the touched statements are folded again from its place on, until they hold as they
did. Where a text states times, all events of these statements are folded again. The result is that of
:func:`worldthread.graph.fold.fold`, which tests check over random histories.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from worldthread.graph.columns import Row
from worldthread.graph.episodes import EpisodeRecord
from worldthread.graph.fold import PUT_OFF, SAID_TO_END, Replacement, moment_of, replacements, stated_interval
from worldthread.graph.state import GraphState
from worldthread.graph.strings import ABSENT, NEVER, integer_to_time, time_to_integer
from worldthread.types import FOREVER, Extraction

_NOTHING: Final[Mapping[int, Sequence[Row]]] = {}


class IncrementalFold:
    """Keeps the versions of a graph up to date while episodes come and go.

    Args:
        state: the tables to change; nothing else changes them.
    """

    __slots__ = ("_ending", "_held_aspects", "_holders", "_last", "_state", "_stating", "_timed", "_timed_aspects")

    def __init__(self, state: GraphState) -> None:
        self._state = state
        self._set_last(state.episodes.last())
        self._timed: set[int] = set()
        """Statements whose versions may depend on times that a text states, or on corrections."""
        self._timed_aspects: set[int] = set()
        """The aspects of these statements. All that is stated under them is timed; forgetting takes none away."""
        for statement in state.timed_endings.union(state.statements.forms[f][0] for f in state.statements.timed_forms):
            self._mark_timed(statement)
        # caches of what the tables say, filled on first use
        self._holders: dict[int, set[int]] = {}  # aspect -> statements that hold now with it
        self._held_aspects: dict[int, set[int]] = {}  # statement -> aspects of its open version
        self._stating: dict[int, list[_Stating]] = {}  # aspect -> the episodes that state it, in fold order
        self._ending: dict[int, list[_End]] = {}  # statement -> the episodes that end it, in fold order

    def add(self, record: EpisodeRecord, extraction: Extraction, digest: str) -> None:
        """Add an episode that the graph does not have; ``digest`` is that of its extraction as recorded."""
        number = self._state.episodes.add(record, digest)
        self._record_events(number, record, extraction)
        order = (record.at, record.id)
        is_last = self._last is None or order > self._last
        if is_last:
            self._set_last(order)
        self._fold_in(number, is_last)

    def fill(self, number: int, record: EpisodeRecord, extraction: Extraction, digest: str) -> None:
        """Give an episode from which nothing was read another extraction, with this digest as recorded."""
        self._state.episodes.reread(number, record, digest)
        self._record_events(number, record, extraction)
        self._fold_in(number, (record.at, record.id) == self._last)

    def _fold_in(self, number: int, is_last: bool) -> None:
        if is_last and not self._is_timed(number):
            self._apply(number)
        else:
            self._recompute(number, self._touched_by(number) | self._disturbed_by(number))

    def remove(self, number: int) -> None:
        """Remove an episode, as if it had never been added."""
        state = self._state
        episodes = state.episodes
        touched = self._touched_by(number)
        disturbed = self._disturbed_by(number)
        place = episodes.order(number)
        gone: dict[int, list[Row]] = {}
        for statement in touched:
            gone[statement] = [row for row in state.assertions.get(statement) if row[0] == number]
            for table in (state.assertions, state.endings):
                table.replace(statement, [row for row in table.get(statement) if row[0] != number])
            _take_out(self._ending.get(statement, []), place)
        for aspect in state.aspects_stated(number):
            rows = state.aspect_assertions.get(aspect)
            state.aspect_assertions.replace(aspect, [row for row in rows if row[0] != number])
            _take_out(self._stating.get(aspect, []), place)
        size = _size(state.episode_assertions.get(number), state.episode_endings.get(number))
        state.size -= size
        state.unused += size
        state.episode_assertions.replace(number, [])
        state.episode_endings.replace(number, [])
        state.same_names.pop(number, None)
        state.written.pop(number, None)
        episodes.remove(number)
        if self._last == place:
            self._set_last(episodes.last())
        self._recompute(number, touched | disturbed, gone)

    @property
    def last(self) -> tuple[float, str] | None:
        """World time and id of the latest episode; ``None`` without one."""
        return self._last

    def _set_last(self, order: tuple[float, str] | None) -> None:
        self._last = order
        self._state.now = -FOREVER if order is None else order[0]

    def _record_events(self, number: int, record: EpisodeRecord, extraction: Extraction) -> None:
        """Record the events of an episode, with canonical names."""
        state = self._state
        user = record.provenance.labels.user
        written, extraction = extraction, state.merged.of(user).extraction(extraction)
        state.size += _size(extraction.statements, extraction.endings)
        intern_form, forms = state.statements.intern_form, state.statements.forms
        for statement in extraction.statements:
            form = intern_form(statement, user)
            owner, aspect = forms[form][0], forms[form][4]
            state.episode_assertions.append(number, (form,))
            state.assertions.append(owner, (number, form))
            if aspect != ABSENT:
                state.aspect_assertions.append(aspect, (number, owner))
                if aspect in self._stating:
                    _enter(self._stating[aspect], (*state.episodes.order(number), number))
            if owner in self._timed or aspect in self._timed_aspects or form in state.statements.timed_forms:
                self._mark_timed(owner, aspect)
        for ending in extraction.endings:
            form = intern_form(ending.statement, user)
            reason, at = state.strings.intern(ending.reason), NEVER if ending.never else time_to_integer(ending.at)
            state.episode_endings.append(number, (form, reason, at))
            state.endings.append(forms[form][0], (number, reason, at))
            if forms[form][0] in self._ending:
                _enter(self._ending[forms[form][0]], (*state.episodes.order(number), number, reason))
            if at != ABSENT:
                state.timed_endings.add(forms[form][0])
                self._mark_timed(forms[form][0])
        if written.same_names:
            state.same_names[number] = written.same_names
            for name in (name for pair in written.same_names for name in pair):
                state.strings.intern(name)
        if written is not extraction:
            endings = state.episode_endings.get(number)
            state.written[number] = (
                tuple((intern_form(statement, user),) for statement in written.statements),
                tuple(
                    (intern_form(e.statement, user), *row[1:]) for e, row in zip(written.endings, endings, strict=True)
                ),
            )

    def _mark_timed(self, statement: int, aspect: int = ABSENT) -> None:
        """Note that a statement has to do with times, and so has all that shares an aspect with it.

        Args:
            statement: the statement.
            aspect: one with which it is asserted now; of a statement that is noted already, only this one is new.
        """
        aspects = {aspect} - {ABSENT} if statement in self._timed else self._aspects_ever(statement)
        self._timed.add(statement)
        while new := aspects - self._timed_aspects:
            self._timed_aspects |= new
            table = self._state.aspect_assertions
            others = {other for aspect in new for _, other in table.get(aspect)} - self._timed
            self._timed |= others
            aspects = {aspect for other in others for aspect in self._aspects_ever(other)}

    def _is_timed(self, number: int) -> bool:
        """Return whether what an episode does depends on times that it or another one states."""
        if not self._timed:
            return False
        touched, aspects = self._touched_by(number), self._state.aspects_stated(number)
        return not (self._timed.isdisjoint(touched) and self._timed_aspects.isdisjoint(aspects))

    def _touched_by(self, number: int) -> set[int]:
        """Return the statements that an episode asserts or ends."""
        state = self._state
        rows = (*state.episode_assertions.get(number), *state.episode_endings.get(number))
        return {state.statements.forms[row[0]][0] for row in rows}

    def _disturbed_by(self, number: int) -> set[int]:
        """Return the other statements that an episode can end: at its time they hold with an aspect that it states.

        These are statements of the episode that stated the aspect last, since it ended all others. Where times are
        stated, they are all statements under its aspects, and under the aspects of the announcements that it may take
        back.
        """
        state = self._state
        forms = state.statements.forms
        own = state.episodes.order(number)
        disturbed: set[int] = set()
        stated_last: set[int] = set()  # episodes
        for aspect in state.aspects_stated(number):
            if aspect in self._timed_aspects:
                disturbed.update(statement for _, statement in state.aspect_assertions.get(aspect))
                continue
            stating = self._episodes_stating(aspect)
            place = bisect_left(stating, own)
            if place:
                stated_last.add(stating[place - 1][2])
        said = {forms[form][0] for episode in stated_last for (form,) in state.episode_assertions.get(episode)}
        disturbed.update(statement for statement in said - self._timed if self._held_before(statement, own))
        for statement in self._touched_by(number) & self._timed:
            for aspect in self._aspects_ever(statement):
                disturbed.update(other for _, other in state.aspect_assertions.get(aspect))
        return disturbed

    def _held_before(self, statement: int, place: tuple[float, str]) -> bool:
        """Return whether a statement that has nothing to do with times held right before a place in fold order."""
        state = self._state
        order, assertions, versions = (
            state.episodes.order,
            state.assertions.get(statement),
            state.versions.get(statement),
        )
        count = bisect_left(versions, place, key=lambda version: order(assertions[version[0]][0]))
        if not count:
            return False
        ended_by = versions[count - 1][2]
        return ended_by == ABSENT or place <= order(ended_by)

    def _episodes_stating(self, aspect: int) -> list[_Stating]:
        """Return the episodes that state an aspect, in fold order. The caller must not change the list."""
        found = self._stating.get(aspect)
        if found is None:
            order = self._state.episodes.order
            numbers = {number for number, _ in self._state.aspect_assertions.get(aspect)}
            found = self._stating[aspect] = sorted((*order(number), number) for number in numbers)
        return found

    def _episodes_ending(self, statement: int) -> list[_End]:
        """Return the episodes that end a statement, in fold order. The caller must not change the list."""
        found = self._ending.get(statement)
        if found is None:
            order = self._state.episodes.order
            reasons: dict[int, int] = {}  # episode -> its first reason
            for episode, reason, _ in self._state.endings.get(statement):
                reasons.setdefault(episode, reason)
            found = self._ending[statement] = sorted((*order(e), e, reason) for e, reason in reasons.items())
        return found

    def _next_end(self, statement: int, held: Iterable[int], start: tuple[float, str] | tuple[float, str, int]) -> _End:
        """Return which episode is the first to end a statement.

        Args:
            statement: one that has nothing to do with times.
            held: the aspects with which it holds.
            start: from where on in fold order.

        Returns:
            An episode that names the statement, with its reason; or, with no reason, one that states one of the
            aspects, which may assert the statement.
        """
        endings = self._episodes_ending(statement)
        found = endings[place] if (place := bisect_left(endings, start)) < len(endings) else _ENDLESS
        for aspect in held:
            stating = self._episodes_stating(aspect)
            place = bisect_left(stating, start)
            if place < len(stating) and stating[place] < found[:3]:
                found = (*stating[place], ABSENT)
        return found

    # -- the latest episode -----------------------------------------------------------------------------------------

    def _apply(self, number: int) -> None:
        """Fold the latest episode: only what it asserts or ends, and holders of its aspects, can change."""
        state = self._state
        forms, versions = state.statements.forms, state.versions
        asserted: dict[int, list[int]] = {}  # statement -> aspects stated with it, one for each assertion
        for (form,) in state.episode_assertions.get(number):
            owner, aspect = forms[form][0], forms[form][4]
            asserted.setdefault(owner, []).append(aspect)
        for form, reason, _ in state.episode_endings.get(number):
            statement = forms[form][0]
            if statement not in asserted and state.is_open(statement):
                self._close(statement, number, reason)
        stated = {aspect for aspects in asserted.values() for aspect in aspects} - {ABSENT}
        outdated = {holder for aspect in stated for holder in self._holders_of(aspect)} - asserted.keys()
        if outdated:
            held_by_them = {aspect for statement in outdated for aspect in self._aspects_held(statement)}
            said = [form for (form,) in state.episode_assertions.get(number) if forms[form][4] in held_by_them]
            replaced = replacements(state.episodes.at[number], map(state.statements.written, said))
            for statement in outdated:
                self._close(statement, number, self._reason(replaced, self._aspects_held(statement)))
        for statement, aspects in asserted.items():
            count = len(state.assertions.get(statement))
            if state.is_open(statement):
                held = self._aspects_held(statement)
                first, *_ = versions.get(statement)[-1]
                versions.set_last(statement, (first, count, *_NO_END))
            else:
                held = self._held_aspects[statement] = set()
                versions.append(statement, (count - len(aspects), count, *_NO_END))
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
        versions.set_last(statement, (first, after, ended_by, reason, ABSENT, ABSENT))

    def _reason(self, replaced: Mapping[str, Replacement], aspects: Iterable[int]) -> int:
        """Return the number of the reason for which a statement that holds with ``aspects`` is replaced."""
        state = self._state
        aspect = min(name for number in aspects if (name := state.statements.aspect(number)) in replaced)
        return state.strings.intern(replaced[aspect].reason)

    def _aspects_held(self, statement: int) -> set[int]:
        """Return the aspects of the open version of a statement."""
        held = self._held_aspects.get(statement)
        if held is None:
            state = self._state
            first, after, *_ = state.versions.get(statement)[-1]
            held = self._aspects_of(state.assertions.get(statement)[first:after])
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

    def _recompute(self, changed: int, affected: set[int], gone: Mapping[int, Sequence[Row]] = _NOTHING) -> None:
        """Bring the versions of each affected statement up to date.

        Args:
            changed: the episode that was added or removed.
            affected: statements.
            gone: of an episode that was removed: its assertions of each of these statements, if any.
        """
        known = _Known(self._state)
        for statement in affected:
            self._held_aspects.pop(statement, None)
            lost = gone.get(statement, ())
            if statement in self._timed:
                self._refold_timed(statement, known)
            else:
                self._refold(statement, changed, lost, known)
            for aspect in self._aspects_ever(statement) | self._aspects_of(lost):
                if (holders := self._holders.get(aspect)) is not None:
                    if self._state.is_open(statement) and aspect in self._aspects_held(statement):
                        holders.add(statement)
                    else:
                        holders.discard(statement)

    def _aspects_ever(self, statement: int) -> set[int]:
        """Return the aspects with which a statement was ever asserted."""
        return self._aspects_of(self._state.assertions.get(statement))

    def _aspects_of(self, assertions: Iterable[Row]) -> set[int]:
        """Return the aspects of some assertions of statements."""
        forms = self._state.statements.forms
        return {forms[form][4] for form in {form for _, form in assertions}} - {ABSENT}

    def _refold(self, statement: int, changed: int, gone: Sequence[Row], known: _Known) -> None:
        """Bring assertions (in fold order) and versions of a statement up to date, whose events state no times.

        What precedes the changed episode stays. From there on the events are folded again, until the statement holds
        with the aspects with which it held before the change: all that follows is as it was.

        Args:
            statement: the statement.
            changed: the episode that was added, whose assertions stand last, or removed.
            gone: the assertions of the episode that was removed.
            known: what episodes say.
        """
        state = self._state
        order = state.episodes.order
        changed_at = order(changed)
        assertions = state.assertions.get(statement)
        count = len(assertions)
        while count and assertions[count - 1][0] == changed:
            count -= 1
        new = assertions[count:]
        place = bisect_left(assertions, changed_at, 0, count, key=lambda row: order(row[0]))
        if place < count and new:
            assertions = [*assertions[:place], *new, *assertions[place:count]]
            state.assertions.replace(statement, assertions)
        moved = len(new) - len(gone)  # by how much the numbers of later assertions change

        before = state.versions.get(statement)
        number = bisect_left(before, place, key=_first_of)  # of the version that held before the change, or the next
        versions = list(before[:number])
        first, held, end = ABSENT, set[int](), _ENDLESS  # of the open version
        held_before: set[int] | None = None  # aspects with which version `number` held
        if versions and ((ended_by := versions[-1][2]) == ABSENT or order(ended_by) >= changed_at):
            number -= 1
            first, *_ = versions.pop()
            held = self._aspects_of(assertions[first:place])
            held_before = held | self._aspects_of(gone)
            end = self._next_end(statement, held, changed_at)
        is_as_before = bool(gone) and held == held_before
        following = place
        while not is_as_before:
            episode = assertions[following][0] if following < len(assertions) else ABSENT
            if first != ABSENT and end[2] != ABSENT and (episode == ABSENT or end[:2] < order(episode)):
                versions.append((first, following, *self._ended(end, held, known), ABSENT, ABSENT))
                first, held = ABSENT, set()
            if episode == ABSENT:
                break
            is_new, start = first == ABSENT, following
            first = start if is_new else first
            while following < len(assertions) and assertions[following][0] == episode:
                following += 1
            stated = self._aspects_of(assertions[start:following])
            if episode != changed:
                while before[number][1] < following - moved:
                    number, held_before = number + 1, None
                if held_before is None:
                    begun = before[number][0]
                    held_before = self._aspects_of(assertions[max(begun + moved, place + len(new)) : following])
                    held_before |= self._aspects_of(gone if begun == place else ())
                held_before |= stated
            if is_new or not stated <= held or end[:2] <= order(episode):
                held |= stated
                end = self._next_end(statement, held, (*order(episode), sys.maxsize))
            is_as_before = held == held_before
        if is_as_before:
            versions.append((first, before[number][1] + moved, *before[number][2:]))
            later = before[number + 1 :]
            versions += [(row[0] + moved, row[1] + moved, *row[2:]) for row in later] if moved else later
        elif first != ABSENT:
            versions.append((first, len(assertions), *_NO_END))
        state.versions.replace(statement, versions)

    def _ended(self, end: _End, held: Iterable[int], known: _Known) -> tuple[int, int]:
        """Return which episode ends a statement that holds with some aspects, and the number of the reason."""
        at, _, episode, reason = end
        return episode, reason if reason != ABSENT else self._reason(known.replacements(at, episode), held)

    def _refold_timed(self, statement: int, known: _Known) -> None:
        """Do the same with times: assertions that count come first, in fold order, then those taken back."""
        state = self._state
        forms, strings, times = state.statements.forms, state.strings, state.episodes.at
        name_of = state.statements.aspect
        said: dict[_Place, _Said] = {}
        versions: list[_Version] = []
        taken_back: list[tuple[Row, float, int, int]] = []  # assertion, beginning, the episode that does it, reason
        asserting = dict.fromkeys(row[0] for row in state.assertions.get(statement))
        for episode, form in [(e, form) for e in asserting for form in known.forms(e, statement)]:
            begin, end = known.interval(episode, form)
            withdrawn = known.taken_back(episode, form)
            if withdrawn is not None:
                taken_back.append(((episode, form), begin, *withdrawn))
            else:
                said.setdefault((moment_of(times[episode], begin, end), episode), _Said()).forms.append(form)
        for episode, reason, time in state.endings.get(statement):
            if episode not in asserting and time != NEVER:
                at = times[episode] if time == ABSENT else integer_to_time(time) or 0.0
                said.setdefault((moment_of(times[episode], at), episode), _Said()).endings.append((at, reason))
        for aspect in sorted(self._aspects_ever(statement), key=name_of):
            for place, begin in known.stated(aspect, aspect in self._timed_aspects):
                found = said.setdefault(place, _Said())
                if not found.forms:
                    found.replaced.append((begin, aspect))
        assertions: list[Row] = []
        order = state.episodes.order
        for moment, episode in sorted(said, key=lambda place: (place[0], order(place[1]))):
            what = said[moment, episode]
            for at, reason in what.endings:
                for version in _lasting_beyond(versions, at):
                    version.stop(at, episode, reason)
            for begin, aspect in what.replaced:
                for version in _lasting_beyond(versions, begin):
                    if any(forms[form][4] == aspect for _, form in assertions[version.first : version.after]):
                        replacement = known.replacements(moment, episode)[name_of(aspect)]
                        version.stop(begin, episode, strings.intern(replacement.reason))
            for form in what.forms:
                assertions.append((episode, form))
                self._extend(versions, episode, known.interval(episode, form), len(assertions))
        rows = [version.row(times[assertions[version.first][0]], times) for version in versions]
        starts = [(version.start, version.end) for version in versions]
        taken_back.sort(key=lambda one: (one[1], order(one[0][0])))
        for assertion, begin, ended_by, reason in taken_back:
            assertions.append(assertion)
            count, time = len(assertions), time_to_integer(begin)
            rows.append((count - 1, count, ended_by, reason, time, time))
            starts.append((begin, begin))
        if taken_back:
            rows = [rows[number] for number in sorted(range(len(rows)), key=starts.__getitem__)]
        state.assertions.replace(statement, assertions)
        state.versions.replace(statement, rows)

    def _extend(self, versions: list[_Version], episode: int, interval: tuple[float, float], after: int) -> None:
        """Let the assertion before number ``after`` open a version, or go on with those that it overlaps."""
        state = self._state
        begin, end = interval
        moment = moment_of(state.episodes.at[episode], begin, end)
        grown = _Version(begin, after - 1, after)
        while versions and versions[-1].end > begin:
            last = versions.pop()
            grown.start, grown.first = min(grown.start, last.start), last.first
            if moment < last.end < FOREVER:
                grown.end, grown.ended_by, grown.reason = last.end, last.ended_by, last.reason
        said, order = grown.ended_by, state.episodes.order
        if end < FOREVER and (said == ABSENT or order(episode) >= order(said)):
            grown.stop(end, episode, state.strings.intern(SAID_TO_END))
            grown.end, grown.ended_by = end, episode
        versions.append(grown)


_NO_END = (ABSENT, ABSENT, ABSENT, ABSENT)  # ended by, reason, start, end: as the episodes have it

_Stating: TypeAlias = tuple[float, str, int]
"""World time, id and number of an episode."""

_End: TypeAlias = tuple[float, str, int, int]
"""World time, id and number of an episode that ends a statement, and the reason that it gives; ``ABSENT`` for none."""

_ENDLESS: Final[_End] = (FOREVER, "", ABSENT, ABSENT)

_Place: TypeAlias = tuple[float, int]
"""A moment, and an episode that says something which counts from then."""


_Placed = TypeVar("_Placed", _Stating, _End)


def _enter(episodes: list[_Placed], entry: _Placed) -> None:
    """Enter an episode into a list in fold order; of one that is there already, the first entry stays."""
    place = bisect_left(episodes, entry[:3])
    if place == len(episodes) or episodes[place][:3] != entry[:3]:
        episodes.insert(place, entry)


def _take_out(episodes: list[_Placed], order: tuple[float, str]) -> None:
    """Take the episode at a place in fold order out of a list, if it is there."""
    place = bisect_left(episodes, order)
    if place < len(episodes) and episodes[place][:2] == order:
        del episodes[place]


def _first_of(version: Row) -> int:
    return version[0]


class _Said:
    """What an episode says at one moment that concerns one statement."""

    __slots__ = ("endings", "forms", "replaced")

    def __init__(self) -> None:
        self.forms: list[int] = []
        self.endings: list[tuple[float, int]] = []  # (time, reason)
        self.replaced: list[tuple[float, int]] = []  # (beginning of other statements, their aspect)


class _Version:
    """A version of a statement while its events are folded; ``first`` and ``after`` are numbers of assertions."""

    __slots__ = ("after", "end", "ended_by", "first", "reason", "start")

    def __init__(self, start: float, first: int, after: int) -> None:
        self.start = start
        self.end = FOREVER
        self.first = first
        self.after = after
        self.ended_by = self.reason = ABSENT

    def stop(self, at: float, ended_by: int, reason: int) -> None:
        self.end, self.ended_by, self.reason = max(self.start, at), ended_by, reason

    def row(self, started: float, times: Sequence[float]) -> Row:
        """Return the row of :attr:`GraphState.versions`; ``started`` is the world time of the first assertion."""
        start = ABSENT if self.start == started else time_to_integer(self.start)
        is_plain = self.ended_by == ABSENT or self.end == times[self.ended_by]
        end = ABSENT if is_plain else time_to_integer(self.end)
        return self.first, self.after, self.ended_by, self.reason, start, end


def _lasting_beyond(versions: list[_Version], time: float) -> list[_Version]:
    """Return the versions that end later than a time. Versions are in order of time."""
    count = len(versions)
    while count and versions[count - 1].end > time:
        count -= 1
    return versions[count:]


class _Known:
    """What episodes say, read once for all statements that are folded again."""

    def __init__(self, state: GraphState) -> None:
        self._state = state
        self._episodes: dict[int, list[int]] = {}
        self._stated: dict[int, list[tuple[_Place, float]]] = {}
        self._forms: dict[int, dict[int, list[int]]] = {}  # episode -> statement -> forms
        self._forms_by_aspect: dict[int, dict[int, list[int]]] = {}
        self._replacements: dict[_Place, dict[str, Replacement]] = {}

    def interval(self, episode: int, form: int) -> tuple[float, float]:
        """Return from when to when a statement holds, as an episode says."""
        at = self._state.episodes.at[episode]
        statements = self._state.statements
        if form not in statements.timed_forms:
            return at, FOREVER
        return stated_interval(at, statements.written(form))

    def episodes(self, aspect: int) -> list[int]:
        """Return the episodes that state an aspect, each once."""
        found = self._episodes.get(aspect)
        if found is None:
            found = list(dict.fromkeys(episode for episode, _ in self._state.aspect_assertions.get(aspect)))
            self._episodes[aspect] = found
        return found

    def stated(self, aspect: int, timed: bool) -> list[tuple[_Place, float]]:
        """Return where an aspect is stated, each with the beginning of the first statement that replaces others.

        Args:
            aspect: the aspect.
            timed: whether a statement under it has to do with times.
        """
        found = self._stated.get(aspect)
        if found is None:
            times = self._state.episodes.at
            if timed:
                begins: dict[_Place, float] = {}
                for episode in self.episodes(aspect):
                    for form in self._grouped(self._forms_by_aspect, episode, 4).get(aspect, ()):
                        begin, end = self.interval(episode, form)
                        if end > times[episode] and self.taken_back(episode, form) is None:
                            place = moment_of(times[episode], begin, end), episode
                            begins[place] = min(begin, begins.get(place, FOREVER))
                found = list(begins.items())
            else:
                found = [((times[episode], episode), times[episode]) for episode in self.episodes(aspect)]
            self._stated[aspect] = found
        return found

    def forms(self, episode: int, statement: int) -> list[int]:
        """Return the forms in which an episode asserts a statement, in the order of the extraction."""
        return self._grouped(self._forms, episode, 0)[statement]

    def _grouped(self, cache: dict[int, dict[int, list[int]]], episode: int, column: int) -> dict[int, list[int]]:
        """Return the forms that an episode asserts, by a column of :attr:`StatementTable.forms`."""
        found = cache.get(episode)
        if found is None:
            found = cache[episode] = {}
            for (form,) in self._state.episode_assertions.get(episode):
                found.setdefault(self._state.statements.forms[form][column], []).append(form)
        return found

    def replacements(self, moment: float, episode: int) -> dict[str, Replacement]:
        """Return the :func:`~worldthread.graph.fold.replacements` of what an episode says at a moment."""
        found = self._replacements.get((moment, episode))
        if found is None:
            at, written = self._state.episodes.at[episode], self._state.statements.written
            said = [
                written(form)
                for (form,) in self._state.episode_assertions.get(episode)
                if moment_of(at, *self.interval(episode, form)) == moment and self.taken_back(episode, form) is None
            ]
            found = self._replacements[moment, episode] = replacements(at, said)
        return found

    def taken_back(self, episode: int, form: int) -> tuple[int, int] | None:
        """Return which episode takes an assertion back, and the reason; ``None`` for what counts."""
        state = self._state
        begin, end = self.interval(episode, form)
        order, times = state.episodes.order, state.episodes.at
        statement = state.statements.forms[form][0]
        is_announced = begin > times[episode]
        if not is_announced and statement not in state.timed_endings:
            return None
        asserting = set()
        found: list[tuple[tuple[float, str], int, int]] = []  # the first counts, and of one episode its first reason
        for other, again in state.assertions.get(statement):
            asserting.add(other)
            begins = self.interval(other, again)[0]
            if is_announced and order(other) > order(episode) and times[other] < begin < begins < end:
                found.append((order(other), other, state.strings.intern(PUT_OFF)))
        for other, reason, time in state.endings.get(statement):
            at = times[other] if time == ABSENT else integer_to_time(time) or 0.0
            takes_back = time == NEVER or (is_announced and at <= begin)
            if takes_back and order(other) > order(episode) and other not in asserting:
                found.append((order(other), other, reason))
        return min(found, key=lambda one: one[0])[1:] if found else None


def _size(asserted: Sequence[object], ended: Sequence[object]) -> int:
    """Return how much an episode adds to :attr:`GraphState.size`."""
    return 1 + len(asserted) + len(ended)
