"""Extracts the plain statements of a sentence, as :mod:`worldthread.extract.prose.patterns` lists them."""

from __future__ import annotations

import re
from typing import NamedTuple

from worldthread.extract.prose.copula import CopulaExtractor
from worldthread.extract.prose.patterns import (
    BE,
    CHANGED_ATTRIBUTE,
    CLAUSE_LINK,
    CREATION_PARTICIPLES,
    CREATION_VERB,
    DIED,
    EVENT_VERB,
    FEELING_VERBS,
    HAVE,
    LIVING,
    MARRIED,
    MOVED,
    NO_AUXILIARY,
    NUMERAL,
    OPENING,
    PAST_BE,
    PAST_YEAR,
    PREDICATE_LINK,
    PRESENT_VERB,
    SENTENCE_END,
    SINGLE_VALUED,
    WORKING,
)
from worldthread.extract.prose.phrases import Phrase
from worldthread.extract.prose.words import WORDS
from worldthread.types import Fact


class Clauses(NamedTuple):
    """The plain statements of a sentence.

    Args:
        facts: the statements, in order.
        whole: whether the sentence states nothing else.
        subject: the subject of the sentence; ``None`` when no subject was understood.
        is_person: whether the subject is known to be a person.
    """

    facts: tuple[Fact, ...] = ()
    whole: bool = False
    subject: str | None = None
    is_person: bool = False


class ClauseExtractor(CopulaExtractor):
    """Extracts the plain statements of one sentence. Make a new one for each sentence.

    The methods that take an offset look for one construction there, add its facts, and return where it ends; they
    return ``None`` when the construction is not there.
    """

    def extract(self) -> Clauses:
        """Return the plain statements of the sentence; none when its beginning is not understood."""
        lead = OPENING.match(self._text, self._begin)
        assert lead is not None
        offset = lead.end()
        if lead[0].endswith(("In ", "On ", "By ", "Since ")):
            when = self._phrases.phrase_at(offset)
            if when is None or not when.is_date:
                return Clauses()
            offset = when.end + 1 + self._text.startswith(",", when.end)
        for subjects, start in self._phrases.subjects_at(offset):
            end = self._predicates(subjects, start)
            if end is None:
                continue
            end = self._joined_clauses(end)
            self._born_in_parentheses(subjects)
            role = subjects[0].role
            if role is not None:
                self._add_fact(subjects[0], f"is {role[0]} of", role[1])
            person = subjects[0].entity is not None and subjects[0].entity.kind == "person"
            whole = SENTENCE_END.match(self._text, end) is not None and start == subjects[-1].end
            return Clauses(
                tuple(dict.fromkeys(self._facts)), whole and bool(self._facts), subjects[0].full_name, person
            )
        return Clauses()

    def _joined_clauses(self, end: int) -> int:
        """Add the facts of clauses joined by "and" or "but" with subjects of their own; return where the last ends."""
        for _ in range(4):
            link = CLAUSE_LINK.match(self._text, end)
            ends = (self._predicates(s, start) for s, start in self._phrases.subjects_at(link.end())) if link else ()
            further = next((e for e in ends if e is not None), None)
            if further is None:
                return end
            end = further
        return end

    def _predicates(self, subjects: list[Phrase], offset: int) -> int | None:
        """Add the facts of one predicate after the other; return where the last understood one ends, or ``None``."""
        end = None
        self._has_several = len(subjects) > 1
        while True:
            next_end = None
            count = len(self._facts)
            for subject in subjects:
                next_end = self._predicate(subject, offset)
            if next_end is None or (self._text.startswith((" or ", ", or ", " than "), next_end)):
                del self._facts[count:]
                return end
            end = next_end
            link = PREDICATE_LINK.match(self._text, end)
            if link is None:
                return end
            offset = link.end() - self._text[: link.end()].endswith(" ")

    def _predicate(self, subject: Phrase, offset: int) -> int | None:
        """Add the facts of the predicate at ``offset``; the first construction that matches counts."""
        for pattern, extract in (
            (BE, self._living_or_working),
            (BE, self._present_copula),
            (PAST_BE, self._past_copula),
            (NO_AUXILIARY, self._active_verb),
            (HAVE, self._active_verb),
        ):
            verb = pattern.match(self._text, offset)
            if verb is not None:
                end = extract(subject, verb.end())
                if end is not None:
                    return end
        return None

    def _living_or_working(self, subject: Phrase, offset: int) -> int | None:
        """Add a home, an employer or a job: "lives in Rome", "working for Acme as a clerk"."""
        text = self._text
        if lives := LIVING.match(text, offset):
            relation = f"lives {lives['word']}"
            return self._add_objects(subject, lives.end(), relation, SINGLE_VALUED.get(relation))
        if works := WORKING.match(text, offset):
            if works[0].startswith("work ") and not self._agrees(subject, "work"):
                return None
            relation = f"works {works['word']}"
            end = self._add_objects(subject, works.end(), relation, SINGLE_VALUED.get(relation))
            more = re.compile(r" (?=(?:for|at|as) )").match(text, end) if end is not None else None
            if more is not None and end is not None:
                word = text[more.end() :].split(" ", 1)[0]
                relation = f"works {word}"
                return self._add_objects(subject, more.end() + len(word) + 1, relation, SINGLE_VALUED[relation]) or end
            return end
        return None

    def _active_verb(self, subject: Phrase, offset: int) -> int | None:
        """Add the fact of a verb in the active voice: "moved to Rome", "wrote Emma", "loves tea"."""
        text = self._text
        end = self._living_or_working(subject, offset)
        if end is not None:
            return end
        if moved := MOVED.match(text, offset):
            value = self._phrases.phrase_at(moved.end())
            if value is None or not value.is_proper:
                return None
            # with a year, the move is history: the subject may live elsewhere now
            is_history = PAST_YEAR.search(text) is not None or subject.entity is None
            self._add_fact(
                subject, "moved to" if is_history else "lives in", value.name, None if is_history else "residence"
            )
            return value.end
        if born := re.compile(r"was born").match(text, offset):
            return self._add_circumstances(subject, born.end(), "born")
        if died := DIED.match(text, offset):
            return self._add_circumstances(subject, died.end(), "died")
        for pattern, proper in ((MARRIED, True), (CREATION_VERB, True), (EVENT_VERB, True)):
            match = pattern.match(text, offset)
            value = self._phrases.phrase_at(match.end()) if match is not None else None
            if match is None or value is None:
                continue
            if (proper and not value.is_proper) or self._phrases.is_broken_off(value):
                return None
            if pattern is CREATION_VERB:
                self._add_fact(value.name, f"{CREATION_PARTICIPLES[match['verb']]} by", subject.full_name)
            else:
                self._add_fact(subject, "married to" if pattern is MARRIED else match["verb"], value.name)
            return value.end
        changed = CHANGED_ATTRIBUTE.match(text, offset)
        if changed is not None and PAST_YEAR.search(text) is None:
            value = self._phrases.phrase_at(changed.end())
            if value is None:
                return None
            self._add_attribute(subject.full_name, changed["noun"], value.full_name)
            return value.end
        present = PRESENT_VERB.match(text, offset)
        return None if present is None else self._present_verb(subject, present)

    def _present_verb(self, subject: Phrase, match: re.Match[str]) -> int | None:
        """Add the fact of a verb in the present tense: "loves tea and cake", "costs 5 euros"."""
        verb, _, particle = match["verb"].partition(" ")
        if not self._agrees(subject, verb):
            return None
        verb = {"have": "has", "teach": "teaches", "study": "studies"}.get(
            verb, verb if verb.endswith("s") else verb + "s"
        )
        relation = f"{verb} {particle}".strip()
        value = self._phrases.phrase_at(match.end())
        if value is None:
            return None
        if relation == "has" and value.entity is not None and value.name.isupper() and value.determiner == "":
            return None  # "new API", of which only the name is known
        if relation == "has" and (value.determiner == "some" or self._phrases.begins_with_participle(match.end())):
            return None  # "has ported Make"
        counted = NUMERAL.match(value.name) is not None
        if (
            relation == "has"
            and not counted
            and (
                value.head in WORDS["vague"]
                or (value.entity is None and not value.determiner and value.name[0].islower())
            )
        ):
            return None
        if relation in FEELING_VERBS:
            values = self._phrases.enumeration(self._phrases.with_complement(value))
            for value in values:
                aspect_owner = f"{subject.full_name} about {value.full_name}"
                self._add_fact(subject, relation, value.full_name, "feeling", aspect_owner)
            return values[-1].end
        return self._add_objects(subject, match.end(), relation, SINGLE_VALUED.get(relation))

    def _agrees(self, subject: Phrase, verb: str) -> bool:
        """Return whether a verb in the present agrees with its subject: not in "SVG feature names were wrong"."""
        if verb.endswith("s") or self._has_several or subject.name == self._phrases.referents.speaker:
            return True
        return subject.entity is None and subject.head.endswith("s")

    def _born_in_parentheses(self, subjects: list[Phrase]) -> None:
        """Add the date of birth in parentheses after a name: "Jo Lee (born 5 May 1990)"."""
        match = re.compile(r" \((?:[^()]{0,40}[ ;])?born (?:on )?(?=\S)").match(self._text, subjects[0].end)
        value = self._phrases.phrase_at(match.end()) if match is not None and len(subjects) == 1 else None
        if value is not None and value.is_date:
            self._add_fact(subjects[0], "born on" if "-" in value.name[5:] else "born in", value.name)
