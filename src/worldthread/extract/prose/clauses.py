"""Reads the plain statements of a sentence: who does or is what, as :mod:`worldthread.extract.prose.patterns` tells."""

from __future__ import annotations

import re
from typing import NamedTuple

from worldthread.extract.prose.copula import CopulaExtractor
from worldthread.extract.prose.patterns import (
    BE,
    CHANGED,
    CREATED,
    DIED,
    END,
    EVENT,
    FEELINGS,
    JOINED,
    LEAD,
    LINK,
    LIVES,
    MADE,
    MARRIED,
    MOVED,
    NUMBER_WORD,
    OTHER,
    PAST_YEAR,
    PERFECT,
    PRESENT,
    SINGLE,
    WAS,
    WORKS,
)
from worldthread.extract.prose.phrases import Phrase
from worldthread.extract.prose.words import WORDS
from worldthread.types import Fact


class Clauses(NamedTuple):
    """What a sentence states plainly.

    Args:
        facts: in order.
        whole: whether the sentence states nothing else.
        subject: its subject; ``None`` if none was understood.
        is_person: whether the subject is known to be a person.
    """

    facts: tuple[Fact, ...] = ()
    whole: bool = False
    subject: str | None = None
    is_person: bool = False


class ClauseExtractor(CopulaExtractor):
    """Reads the plain statements of one sentence; used once."""

    def read(self) -> Clauses:
        """The plain statements of the sentence; none if its beginning is not understood."""
        lead = LEAD.match(self._text, self._begin)
        assert lead is not None
        place = lead.end()
        if lead[0].endswith(("In ", "On ", "By ", "Since ")):
            when = self._phrases.phrase(place)
            if when is None or not when.is_date:
                return Clauses()
            place = when.end + 1 + self._text.startswith(",", when.end)
        for subjects, start in self._phrases.subjects(place):
            end = self._predicates(subjects, start)
            if end is None:
                continue
            end = self._further(end)
            self._born_in_brackets(subjects)
            role = subjects[0].role
            if role is not None:
                self._tell(subjects[0], f"is {role[0]} of", role[1])
            person = subjects[0].entity is not None and subjects[0].entity.kind == "person"
            whole = END.match(self._text, end) is not None and start == subjects[-1].end
            return Clauses(
                tuple(dict.fromkeys(self._facts)), whole and bool(self._facts), subjects[0].full_name, person
            )
        return Clauses()

    def _further(self, end: int) -> int:
        """Clauses with subjects of their own that are joined by "and" or "but"; where the last one ends."""
        for _ in range(4):
            link = JOINED.match(self._text, end)
            ends = (self._predicates(s, start) for s, start in self._phrases.subjects(link.end())) if link else ()
            further = next((e for e in ends if e is not None), None)
            if further is None:
                return end
            end = further
        return end

    def _predicates(self, subjects: list[Phrase], place: int) -> int | None:
        """Read one predicate after the other; where the last one understood ends, or ``None``."""
        end = None
        while True:
            next_end = None
            mark = len(self._facts)
            for subject in subjects:
                next_end = self._predicate(subject, place)
            if next_end is None or (self._text.startswith((" or ", ", or ", " than "), next_end)):
                del self._facts[mark:]
                return end
            end = next_end
            link = LINK.match(self._text, end)
            if link is None:
                return end
            place = link.end() - self._text[: link.end()].endswith(" ")

    def _predicate(self, subject: Phrase, place: int) -> int | None:
        progressive = (BE, self._living_or_working)
        others = ((WAS, self._been), (OTHER, self._doing), (PERFECT, self._doing))
        for pattern, read in (progressive, (BE, self._being), *others):
            verb = pattern.match(self._text, place)
            if verb is not None:
                end = read(subject, verb.end())
                if end is not None:
                    return end
        return None

    def _living_or_working(self, subject: Phrase, place: int) -> int | None:
        text = self._text
        if lives := LIVES.match(text, place):
            relation = f"lives {lives['word']}"
            return self._told(subject, lives.end(), relation, SINGLE.get(relation))
        if works := WORKS.match(text, place):
            relation = f"works {works['word']}"
            end = self._told(subject, works.end(), relation, SINGLE.get(relation))
            more = re.compile(r" (?=(?:for|at|as) )").match(text, end) if end is not None else None
            if more is not None and end is not None:
                word = text[more.end() :].split(" ", 1)[0]
                relation = f"works {word}"
                return self._told(subject, more.end() + len(word) + 1, relation, SINGLE[relation]) or end
            return end
        return None

    def _doing(self, subject: Phrase, place: int) -> int | None:
        text = self._text
        end = self._living_or_working(subject, place)
        if end is not None:
            return end
        if moved := MOVED.match(text, place):
            value = self._phrases.phrase(moved.end())
            if value is None or not value.is_proper:
                return None
            # a year makes it history: where one moved then is not where one must live now
            history = PAST_YEAR.search(text) is not None or subject.entity is None
            self._tell(subject, "moved to" if history else "lives in", value.name, None if history else "residence")
            return value.end
        if born := re.compile(r"was born").match(text, place):
            return self._told_when_and_where(subject, born.end(), "born")
        if died := DIED.match(text, place):
            return self._told_when_and_where(subject, died.end(), "died")
        for pattern, proper in ((MARRIED, True), (MADE, True), (EVENT, True)):
            match = pattern.match(text, place)
            value = self._phrases.phrase(match.end()) if match is not None else None
            if match is None or value is None:
                continue
            if proper and not value.is_proper:
                return None
            if pattern is MADE:
                self._tell(value.name, f"{CREATED[match['verb']]} by", subject.full_name)
            else:
                self._tell(subject, "married to" if pattern is MARRIED else match["verb"], value.name)
            return value.end
        changed = CHANGED.match(text, place)
        if changed is not None and PAST_YEAR.search(text) is None:
            value = self._phrases.phrase(changed.end())
            if value is None:
                return None
            self._attribute(subject.full_name, changed["noun"], value.full_name)
            return value.end
        present = PRESENT.match(text, place)
        return None if present is None else self._present(subject, present)

    def _present(self, subject: Phrase, match: re.Match[str]) -> int | None:
        verb, _, particle = match["verb"].partition(" ")
        verb = {"have": "has", "teach": "teaches", "study": "studies"}.get(
            verb, verb if verb.endswith("s") else verb + "s"
        )
        relation = f"{verb} {particle}".strip()
        value = self._phrases.phrase(match.end())
        if value is None:
            return None
        counted = NUMBER_WORD.match(value.name) is not None
        if (
            relation == "has"
            and not counted
            and (
                value.head in WORDS["vague"]
                or (value.entity is None and not value.determiner and value.name[0].islower())
            )
        ):
            return None
        if relation in FEELINGS:
            found = self._phrases.listed(self._phrases.extended(value))
            for one in found:
                self._tell(subject, relation, one.full_name, "feeling", f"{subject.full_name} about {one.full_name}")
            return found[-1].end
        return self._told(subject, match.end(), relation, SINGLE.get(relation))

    def _born_in_brackets(self, subjects: list[Phrase]) -> None:
        """ "Jo Lee (born 5 May 1990)"."""
        match = re.compile(r" \((?:[^()]{0,40}[ ;])?born (?:on )?(?=\S)").match(self._text, subjects[0].end)
        value = self._phrases.phrase(match.end()) if match is not None and len(subjects) == 1 else None
        if value is not None and value.is_date:
            self._tell(subjects[0], "born on" if "-" in value.name[5:] else "born in", value.name)
