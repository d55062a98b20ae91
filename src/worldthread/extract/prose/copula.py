"""Extracts what a sentence says somebody or something is or was."""

from __future__ import annotations

import re

from worldthread.extract.prose.patterns import (
    ADJECTIVE,
    AGE,
    BORN,
    CALLED,
    LOCATION,
    NOT_PLACES,
    PARTICIPLE,
    PREPOSITION,
    SENTENCE_END,
    is_attribute,
)
from worldthread.extract.prose.phrases import Phrase, Phrases
from worldthread.extract.prose.words import FAMILIES, WORDS
from worldthread.extract.whole_values import value_at
from worldthread.names import normalise_name
from worldthread.types import Fact


class CopulaExtractor:
    """The part of :class:`~worldthread.extract.prose.clauses.ClauseExtractor` that understands forms of "to be".

    Args:
        phrases: the noun phrases of the sentence.
        begin: offset at which the sentence begins, after a speaker's label.
    """

    def __init__(self, phrases: Phrases, begin: int = 0) -> None:
        self._phrases = phrases
        self._text = phrases.text
        self._begin = begin
        self._facts: list[Fact] = []
        self._has_several = False  # subjects of the clause that is read

    def _add_fact(
        self, subject: Phrase | str, relation: str, value: str, single: str | None = None, of: str = ""
    ) -> None:
        """Add a fact, unless it says of a thing that it is itself.

        Args:
            subject: the subject, as a phrase or as a name.
            relation: the relation.
            value: the object.
            single: the single-valued property that the fact states; it names the aspect. ``None`` for no aspect.
            of: whose property it is; the subject's when empty.
        """
        name = subject if isinstance(subject, str) else subject.full_name
        if normalise_name(name) == normalise_name(value):
            return
        aspect = None if single is None else f"{single.lower()} of {normalise_name(of or name)}"
        self._facts.append(Fact(name, relation, value, aspect))

    def _add_objects(
        self, subject: Phrase, offset: int, relation: str, single: str | None = None, several: bool = True
    ) -> int | None:
        """Add a fact for the object at an offset, or for each object that is enumerated there.

        Args:
            subject: the subject.
            offset: where the object begins.
            relation: the relation.
            single: the single-valued property; only a single object gets this aspect.
            several: whether an enumeration is accepted; otherwise the first object counts.

        Returns:
            Where the last object ends; ``None`` when there is no object.
        """
        first = self._phrases.phrase_at(offset)
        if first is None:
            return None
        values = self._phrases.enumeration(self._phrases.with_complement(first)) if several else [first]
        last = values[-1]
        if self._phrases.is_partial(last) or self._is_cut(last):
            return None
        for value in values:
            self._add_fact(subject, relation, value.full_name, single if len(values) == 1 else None)
        return values[-1].end

    def _is_cut(self, value: Phrase) -> bool:
        """Return whether the sentence says more of an object than its phrase has."""
        return self._phrases.is_broken_off(value) or self._phrases.lacks_complement(value)

    def _add_attribute(self, owner: str, noun: str, value: str) -> None:
        """Add that ``owner`` has an attribute such as an age or a phone number; a price is what it costs."""
        if noun in ("price", "cost"):
            self._add_fact(owner, "costs", value, "price")
        else:
            self._add_fact(owner, f"has {noun}", value, noun)

    def _present_copula(self, subject: Phrase, offset: int) -> int | None:
        """Add what the subject is now; ``offset`` is after "is"."""
        text = self._text
        if age := AGE.match(text, offset):
            if subject.determiner and subject.owner is None and "old" not in age[0]:
                return None
            if subject.owner is not None and subject.name in WORDS["attributes"]:
                self._add_attribute(subject.owner, subject.name, age["age"])
            else:
                self._add_fact(subject, "has age", age["age"], "age")
            return age.end()
        if text.startswith("married to ", offset):
            return self._add_objects(subject, offset + 11, "married to", "spouse", several=False)
        if called := CALLED.match(text, offset):
            is_alias = called["word"] == "known as"
            value = self._phrases.phrase_at(called.end())
            if value is None or not value.is_proper or self._is_cut(value):
                return None
            self._add_fact(subject, "known as" if is_alias else "has name", value.name, None if is_alias else "name")
            return value.end
        if text.startswith(("part of ", "from ", "home to "), offset):
            relation = next(words for words in ("part of", "from", "home to") if text.startswith(words, offset))
            return self._add_objects(subject, offset + len(relation) + 1, f"is {relation}")
        if passive := PARTICIPLE.match(text, offset):
            return self._passive(subject, passive)
        if where := LOCATION.match(text, offset):
            return self._location(subject, where)
        return self._identity(subject, offset, "is")

    def _past_copula(self, subject: Phrase, offset: int) -> int | None:
        """Add what was so of the subject and stays true ("was born in", "was a"); ``offset`` is after "was"."""
        if born := (BORN.match(self._text, offset)):
            return self._add_circumstances(subject, born.end(), "born")
        if passive := PARTICIPLE.match(self._text, offset):
            return None if passive["word"] in WORDS["states"] else self._passive(subject, passive)
        if re.match(r"(?:an?|the) ", self._text[offset : offset + 4]):
            return self._identity(subject, offset, "was")
        return None

    def _location(self, subject: Phrase, where: re.Match[str]) -> int | None:
        """Add a place or a day: "The keys are in the drawer", "the meeting is on Friday"."""
        value = self._phrases.phrase_at(where.end())
        if (
            value is None
            or self._phrases.is_broken_off(value)
            or value.head in NOT_PLACES
            or (value.entity is not None and value.entity.kind == "number")
        ):
            return None
        if value.is_date:
            clock = ":" in value.name or value.name.endswith("m")
            self._add_fact(subject, f"is {where['word']}", value.name, "time" if clock else "day")
            end = value.end
            more = re.compile(r" (at|on) ").match(self._text, end)
            if more is not None:
                return self._location(subject, re.compile(r" (?P<word>at|on) ").match(self._text, end) or where)
            return end
        if not value.is_proper and not value.determiner:
            return None
        value = self._phrases.with_complement(value)
        # a city is in a country and in a continent: only what can move is in one place
        movable = not subject.is_proper or (subject.entity is not None and subject.entity.kind == "person")
        self._add_fact(subject, f"is {where['word']}", value.full_name, "place" if movable else None)
        return value.end

    def _passive(self, subject: Phrase, passive: re.Match[str]) -> int | None:
        """Add a fact for each preposition after a participle: "founded in 1990 by Jo Lee", "located in Rome"."""
        if passive["word"] in WORDS["opinions"] and passive["word"] not in WORDS["states"]:
            return None
        if passive["word"] in ("moved", "rescheduled", "postponed") and not subject.is_proper:
            value = self._phrases.phrase_at(passive.end() + 4) if self._text.startswith(" to ", passive.end()) else None
            if value is not None and value.is_date:
                self._add_fact(subject, "is on", value.name, "day")
                return value.end
        return self._add_circumstances(subject, passive.end(), passive["word"])

    def _add_circumstances(self, subject: Phrase, offset: int, relation: str) -> int | None:
        """Add a fact for each "in 1990", "by Jo Lee" and so on; return where the last ends, or ``None``."""
        end = None
        while link := PREPOSITION.match(self._text, offset):
            if link["word"] == "to" and re.match(r"(?!the |an? )[a-z]", self._text[link.end() : link.end() + 4]):
                break  # "formed to improve"
            value = self._phrases.phrase_at(link.end())
            if (
                value is None
                or value.determiner == "some"
                or (
                    value.entity is None
                    and not (
                        not self._phrases.referents.is_in_long_text
                        and value.determiner
                        and link["word"] in ("by", "in", "near", "on", "as")
                    )
                )
            ):
                break
            if link["word"] == "as" and value.entity is not None and value.entity.kind in ("date", "number"):
                break
            value = self._phrases.with_complement(value)
            values = self._phrases.enumeration(value)
            if self._phrases.is_partial(values[-1]) or self._is_cut(values[-1]) or values[-1].head in NOT_PLACES:
                break
            word = "on" if value.is_date and "-" in value.name[5:] else link["word"]
            for value in values:
                self._add_fact(subject, f"{relation} {word}", value.full_name)
            end = offset = values[-1].end
            if relation in WORDS["states"] or link["word"] == "as":
                break
        return end

    def _identity(self, subject: Phrase, offset: int, be: str) -> int | None:
        """Add what the subject is: "is a doctor", "is the capital of France", "is closed", "is Anna"."""
        text = self._text
        value = self._phrases.phrase_at(offset)
        if be == "is" and subject.owner is not None:
            end = value_at(text, offset)
            is_cut = value is None or self._phrases.is_broken_off(value) or (end is not None and value.end < end)
            if end is not None and is_cut and SENTENCE_END.match(text, end):
                self._add_attribute(subject.owner, subject.name, text[offset:end])
                return end
        if be == "is" and value is not None and not value.determiner and not self._phrases.is_broken_off(value):
            end = self._attribute_value(subject, value)
            if end is not None:
                return end
        if (
            be == "is"
            and (adjective := ADJECTIVE.match(text, offset))
            and (value is None or value.end <= adjective.end())
        ):
            return self._adjective(subject, adjective)
        if value is None or self._phrases.is_broken_off(value):
            return None
        if value.is_date and be == "is" and not subject.is_proper and value.name[:1].isupper():
            self._add_fact(subject, "is on", value.name, "day")
            return value.end
        if value.determiner in ("a", "an", "the", "") and value.entity is None and value.owner is None:
            return self._description(subject, value, be)
        if value.owner is not None and be == "is" and value.name[0].islower() and value.owner != subject.owner:
            self._add_fact(subject, f"is {value.name} of", value.owner)
            return value.end
        if value.is_proper and be == "is" and not value.determiner and SENTENCE_END.match(text, value.end):
            self._add_fact(subject, "is", value.name)
            return value.end
        return None

    def _attribute_value(self, subject: Phrase, value: Phrase) -> int | None:
        """Add the value of something owned: "Anna's age is 30", "the capital of France is Paris"."""
        owner, noun = subject.owner, subject.name.lower()
        if owner is None:
            owned = re.fullmatch(r"([a-z][a-z ]*?) of (.+)", subject.name) if subject.determiner == "the" else None
            if owned is None:
                if noun.rpartition(" ")[2] in WORDS["attributes"] and subject.determiner:
                    self._add_fact(subject, "is", value.full_name, "value")
                    return value.end
                return None
            noun, owner = owned[1], owned[2]
        if is_attribute(noun) or any(c.isdigit() for c in value.name):  # what has digits is no name of a thing
            self._add_attribute(owner, noun, value.full_name)
            return value.end
        if value.is_proper and not re.search(r"[^s]s$", noun) and not self._phrases.is_partial(value):
            self._add_fact(value.name, f"is {noun} of", owner, noun if noun in WORDS["roles"] else None, owner)
            return value.end
        return None

    def _adjective(self, subject: Phrase, adjective: re.Match[str]) -> int | None:
        """Add a state: "The shop is closed"."""
        word = adjective["word"]
        family = FAMILIES.get(word)
        if family is None and (word in WORDS["function"] or word in WORDS["vague"] or word.endswith(("ing", "ed"))):
            return None
        self._add_fact(subject, "is", word, None if family is None else f"{family} state")
        return adjective.end()

    def _description(self, subject: Phrase, value: Phrase, be: str) -> int | None:
        """Add a description: "a city in Italy", "the capital of France", "a film directed by Jo Lee"."""
        text = self._text
        vague = value.head in WORDS["vague"] or self._lacks_noun(value)
        link = re.compile(r" (?P<word>of|in|by|from|at|for) ").match(text, value.end)
        other = self._phrases.phrase_at(link.end()) if link is not None else None
        if link is not None and other is not None and (other.entity is not None or link["word"] == "of") and not vague:
            other = self._phrases.with_complement(other)
            if self._phrases.is_partial(other) or self._is_cut(other):
                return None
            role = value.head if link["word"] != "of" and value.determiner != "the" else value.name
            single = None
            if (
                be == "is"
                and value.determiner in ("the", "")
                and link["word"] == "of"
                and role.lower() in WORDS["roles"]
            ):
                single = role
            if other.entity is None or other.entity.kind not in ("date", "number"):
                if value.determiner in ("a", "an") and link["word"] != "of" and self._is_kind(value):
                    self._add_fact(subject, f"{be} a", value.name)
                self._add_fact(subject, f"{be} {role} {link['word']}", other.full_name, single, other.full_name)
                return self._participle_phrase(subject, value, other.end)
        if not self._is_kind(value) and self._phrases.lacks_complement(value):
            return None  # "a key to the performance"
        if value.determiner not in ("a", "an") or vague or (link is not None and link["word"] == "of"):
            return None
        self._add_fact(subject, f"{be} a", value.name)
        return self._participle_phrase(subject, value, value.end)

    def _is_kind(self, value: Phrase) -> bool:
        """Return whether a description says enough without what follows: "an actor who ...", "a city in ..."."""
        if value.head in WORDS["persons"] | WORDS["places"]:
            return True
        return " " in value.name and not self._text.startswith(" to ", value.end)

    def _lacks_noun(self, value: Phrase) -> bool:
        """Return whether the phrase lacks its noun: "a film and television actor", "a large, private school"."""
        text = self._text
        if text.startswith("/", value.end):
            return True
        if text.startswith(" and ", value.end) and " " not in value.name and not self._is_kind(value):
            return True  # "a complete and free implementation"
        if text.startswith(" and ", value.end):
            other = self._phrases.phrase_at(value.end + 5)
            return other is not None and other.head in WORDS["persons"] and value.head not in WORDS["persons"]
        is_single_word = " " not in value.name and value.head not in WORDS["persons"] | WORDS["places"]
        may_be_adjective = is_single_word or value.head.endswith(tuple(WORDS["adjective_endings"]))
        return may_be_adjective and re.match(r", (?:[a-z]|[A-Z]{2})", text[value.end : value.end + 4]) is not None

    def _participle_phrase(self, subject: Phrase, value: Phrase, end: int) -> int:
        """Add what a participle after the noun says ("... directed by Jo Lee"); return where it ends, else ``end``."""
        space = re.compile(r",? ").match(self._text, end)
        passive = PARTICIPLE.match(self._text, space.end()) if space is not None else None
        if passive is None or value.head.endswith("s"):
            return end
        return self._passive(subject, passive) or end
