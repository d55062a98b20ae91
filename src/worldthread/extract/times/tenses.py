"""Guesses from the verbs of a sentence whether "on Monday" is the last one or the next."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final, Literal, NamedTuple, TypeAlias

from worldthread.extract.times.tables import TimeTable

Direction: TypeAlias = Literal["past", "coming"]

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[,;:.!?()—–]")


class _Cue(NamedTuple):
    position: int
    clause: int
    direction: Direction | None
    is_perfect: bool
    is_by_ending: bool = False


class Tenses:
    """The tenses of the clauses of a sentence.

    Args:
        sentence: the sentence.
        table: the words of its language.
        is_past: what a parser says of the tense; ``None`` to guess it.
    """

    def __init__(self, sentence: str, table: TimeTable, is_past: bool | None = None) -> None:
        self._lists = table.tense
        self._window = table.perfect_window
        self._is_past = is_past
        tokens = [(found[0].lower().replace("’", "'"), found.start()) for found in _WORD.finditer(sentence)]
        self._words = [word for word, _ in tokens]
        self._positions = [position for _, position in tokens]
        self._capital = [sentence[position].isupper() for position in self._positions]
        self._clauses: list[int] = []
        clause = 0
        for word in self._words:
            clause += not word[0].isalpha() or word in self._lists["clause"]
            self._clauses.append(clause)
        self._cues = [cue for index in range(len(tokens)) if (cue := self._cue(index))]
        self._cue_positions = [cue.position for cue in self._cues]
        self._has_subject = any(word in self._lists["subjects"] for word in self._words)
        self._marks = {
            name: [
                index
                for index, word in enumerate(self._words)
                if word in self._lists[name] and not (name == "habit" and self._is_of_party(index))
            ]
            for name in ("habit", "negation", "gradual", "planned")
        }

    def _is_of_party(self, index: int) -> bool:
        """Return whether a word only says what is celebrated, as in "our anniversary dinner", which is once."""
        return index + 1 < len(self._words) and self._words[index + 1] in self._lists["parties"]

    def direction(self, position: int) -> Direction | None:
        """Return whether what is said at an offset has been or is to come; ``None`` when the verbs do not say."""
        if self._is_past is not None:
            return "past" if self._is_past else "coming"
        cue, clause = self._cue_of(position), self.clause_at(position)
        if cue and (cue.clause == clause or not self._begins_with_subject(clause, position)):
            return cue.direction
        return "coming" if self._has_subject else None

    def _begins_with_subject(self, clause: int, position: int) -> bool:
        """Return whether a clause begins, before an offset, with a subject: "he postponed, she comes on 4 May"."""
        first, last = bisect_left(self._clauses, clause), bisect_left(self._positions, position)
        first += bool(first) and first < last  # what parts it from the clause before
        return first < last and self._words[first] in self._lists["subjects"]

    def is_certainly_past(self, position: int) -> bool:
        """Return whether a verb in the past says so that is known as one, not only by its ending."""
        cue = self._cue_of(position)
        return bool(cue and cue.direction == "past" and not cue.is_by_ending)

    def is_perfect(self, position: int) -> bool:
        """Return whether the verb at an offset is in the present perfect."""
        cue = self._cue_of(position)
        return bool(cue and cue.is_perfect)

    def clause_at(self, position: int) -> int:
        """Return the number of the clause at an offset; punctuation and conjunctions part clauses."""
        index = bisect_left(self._positions, position)
        return self._clauses[index] if index < len(self._clauses) else self._clauses[-1] if self._clauses else 0

    def whole_clause(self, clause: int) -> int:
        """Return the number of the clause that a part of a subject belongs to: "Jonas" of "Jonas and I broke up"."""
        told = {cue.clause for cue in self._cues}
        while clause not in told and self._begins_with_word(clause + 1):
            clause += 1
        return clause

    def _begins_with_word(self, clause: int) -> bool:
        first = bisect_left(self._clauses, clause)
        return first < len(self._clauses) and self._clauses[first] == clause and self._words[first][0].isalpha()

    def shares_subject(self, clause: int) -> bool:
        """Return whether a clause goes on with the subject of the one before: "and joined Globex"."""
        second = bisect_left(self._clauses, clause) + 1
        if not self._begins_with_word(clause) or second >= len(self._words) or self._clauses[second] != clause:
            return False
        return self._words[second] not in self._lists["subjects"] and not self._capital[second]

    def has(self, mark: str, position: int, *, before: bool = False) -> bool:
        """Return whether the clause at an offset has a word of a list.

        Args:
            mark: ``"habit"``, ``"negation"``, ``"gradual"`` or ``"planned"``.
            position: the offset.
            before: whether the word must come before the offset.

        Returns:
            Whether there is such a word.
        """
        index = bisect_left(self._positions, position)
        clause = self._clauses[index] if index < len(self._clauses) else self._clauses[-1]
        marks = self._marks[mark]
        nearest = bisect_left(marks, index)
        if nearest and self._clauses[marks[nearest - 1]] == clause:
            return True
        return not before and nearest < len(marks) and self._clauses[marks[nearest]] == clause

    def _cue_of(self, position: int) -> _Cue | None:
        """The last verb before an offset in its clause, else the first after it; else that of the nearest clause."""
        if not self._cues:
            return None
        index = bisect_left(self._positions, position)
        clause = self._clauses[index] if index < len(self._clauses) else self._clauses[-1]
        place = bisect_left(self._cue_positions, position)
        before = self._cues[place - 1] if place else None
        after = self._cues[place] if place < len(self._cues) else None
        for cue in (before, after):
            if cue and cue.clause == clause:
                return cue
        opens = index == 0 or self._clauses[index - 1] != clause
        return (after or before) if opens else (before or after)

    def _cue(self, index: int) -> _Cue | None:
        word, lists = self._words[index], self._lists
        position, clause = self._positions[index], self._clauses[index]
        opens = index == 0 or self._words[index - 1] in {":", ".", "!", "?"}
        if not opens and self._capital[index] and not word.startswith("i'"):
            return None  # a name, or the month of May
        following = self._words[index + 1 : index + 1 + self._window]
        perfect = self._perfect(word, following)
        if perfect is not None:
            return _Cue(position, clause, "past" if perfect else "coming", perfect)
        if word in lists["unclear"]:
            return _Cue(position, clause, None, False)
        if word in lists["past"]:
            if any(other in lists["perfect"] for other in self._words[max(0, index - 2) : index]):
                return None  # "have got"
            intended = bool(following) and following[0] in lists["intended"]
            return _Cue(position, clause, None if intended else "past", False)
        if word in lists["coming"] or self._ends(word, "coming_endings", "not_coming"):
            return _Cue(position, clause, "coming", False)
        if self._ends(word, "past_endings", "not_past") and self._is_verb(index):
            return _Cue(position, clause, "past", False, is_by_ending=True)
        return None

    def _perfect(self, word: str, following: list[str]) -> bool | None:
        lists = self._lists
        if word in lists["perfect"]:
            return any(self._is_participle(other) for other in self._before_stop(following))
        if word in lists["perfect_short"] and following and following[0] in lists["participles"] | {"lived", "worked"}:
            return True
        if word.endswith("'s") and following[:1] == ["been"]:  # "my brother's been clean"
            return True
        if word in lists["perfect_be"] and any(other in lists["be_participles"] for other in following):
            return True
        return None

    def _before_stop(self, following: list[str]) -> list[str]:
        stop = next((i for i, word in enumerate(following) if word in self._lists["perfect_stop"]), len(following))
        return following[:stop]

    def _is_participle(self, word: str) -> bool:
        if word in self._lists["participles"]:
            return True
        starts = tuple(self._lists["participle_starts"])
        return (not starts or word.startswith(starts)) and self._ends(word, "participle_endings", "not_participles")

    def _ends(self, word: str, endings: str, exceptions: str) -> bool:
        return len(word) > 3 and word.endswith(tuple(self._lists[endings])) and word not in self._lists[exceptions]

    def _is_verb(self, index: int) -> bool:
        """Whether a word that ends like a past tense may be one: no name, no participle after "is" or "the"."""
        if index and self._capital[index]:
            return False
        before = self._words[max(0, index - 3) : index]
        if any(word in self._lists["be"] or word in self._lists["perfect"] for word in before):
            return False
        return not before or before[-1] not in self._lists["perfect_stop"]
