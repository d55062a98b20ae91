"""Reads what a sentence says that somebody or something is."""

from __future__ import annotations

import re

from worldthread.extract.prose.patterns import (
    ADJECTIVE,
    AGE,
    BORN,
    CALLED,
    END,
    NOWHERE,
    PARTICIPLE,
    PREPOSITION,
    WHERE,
    is_attribute,
)
from worldthread.extract.prose.phrases import Phrase, Phrases
from worldthread.extract.prose.words import FAMILIES, WORDS
from worldthread.names import normalise_name
from worldthread.types import Fact


class CopulaExtractor:
    """The part of a :class:`~worldthread.extract.prose.clauses.ClauseExtractor` that reads forms of "to be".

    Args:
        phrases: the noun phrases of the sentence.
        begin: where it begins, behind a speaker's label.
    """

    def __init__(self, phrases: Phrases, begin: int = 0) -> None:
        self._phrases = phrases
        self._text = phrases.text
        self._begin = begin
        self._facts: list[Fact] = []

    def _tell(self, subject: Phrase | str, relation: str, value: str, single: str | None = None, of: str = "") -> None:
        """State a fact; ``single`` names the aspect, of the subject unless ``of`` names another."""
        name = subject if isinstance(subject, str) else subject.full_name
        if normalise_name(name) == normalise_name(value):
            return
        aspect = None if single is None else f"{single.lower()} of {normalise_name(of or name)}"
        self._facts.append(Fact(name, relation, value, aspect))

    def _told(
        self, subject: Phrase, place: int, relation: str, single: str | None = None, several: bool = True
    ) -> int | None:
        """The object at ``place``, or all that are enumerated there; only a lone one has the aspect."""
        first = self._phrases.phrase(place)
        if first is None:
            return None
        found = self._phrases.listed(self._phrases.extended(first)) if several else [first]
        if self._phrases.cut_short(found[-1]):
            return None
        for one in found:
            self._tell(subject, relation, one.full_name, single if len(found) == 1 else None)
        return found[-1].end

    def _attribute(self, owner: str, noun: str, value: str) -> None:
        if noun in ("price", "cost"):
            self._tell(owner, "costs", value, "price")
        else:
            self._tell(owner, f"has {noun}", value, noun)

    def _being(self, subject: Phrase, place: int) -> int | None:
        text = self._text
        if age := AGE.match(text, place):
            if subject.determiner and subject.owner is None and "old" not in age[0]:
                return None
            if subject.owner is not None and subject.name in WORDS["attributes"]:
                self._attribute(subject.owner, subject.name, age["age"])
            else:
                self._tell(subject, "has age", age["age"], "age")
            return age.end()
        if text.startswith("married to ", place):
            return self._told(subject, place + 11, "married to", "spouse", several=False)
        if called := CALLED.match(text, place):
            known = called["word"] == "known as"
            value = self._phrases.phrase(called.end())
            if value is None or not value.is_proper:
                return None
            self._tell(subject, "known as" if known else "has name", value.name, None if known else "name")
            return value.end
        if text.startswith(("part of ", "from ", "home to "), place):
            words = "home to" if text.startswith("home", place) else text[place:].split(" ", 2)
            relation = "home to" if isinstance(words, str) else ("part of" if words[0] == "part" else "from")
            return self._told(subject, place + len(relation) + 1, f"is {relation}")
        if passive := PARTICIPLE.match(text, place):
            return self._passive(subject, passive)
        if where := WHERE.match(text, place):
            return self._placed(subject, where)
        return self._identity(subject, place, "is")

    def _been(self, subject: Phrase, place: int) -> int | None:
        if born := (BORN.match(self._text, place)):
            return self._told_when_and_where(subject, born.end(), "born")
        if passive := PARTICIPLE.match(self._text, place):
            return None if passive["word"] in WORDS["states"] else self._passive(subject, passive)
        if re.match(r"(?:an?|the) ", self._text[place : place + 4]):
            return self._identity(subject, place, "was")
        return None

    def _placed(self, subject: Phrase, where: re.Match[str]) -> int | None:
        """ "The keys are in the drawer", "the meeting is on Friday"."""
        value = self._phrases.phrase(where.end())
        if value is None or value.head in NOWHERE or (value.entity is not None and value.entity.kind == "number"):
            return None
        if value.is_date:
            clock = ":" in value.name or value.name.endswith("m")
            self._tell(subject, f"is {where['word']}", value.name, "time" if clock else "day")
            end = value.end
            more = re.compile(r" (at|on) ").match(self._text, end)
            if more is not None:
                return self._placed(subject, re.compile(r" (?P<word>at|on) ").match(self._text, end) or where)
            return end
        if not value.is_proper and not value.determiner:
            return None
        value = self._phrases.extended(value)
        # a city is in a country and in a continent: only what can move is in one place
        movable = not subject.is_proper or (subject.entity is not None and subject.entity.kind == "person")
        self._tell(subject, f"is {where['word']}", value.full_name, "place" if movable else None)
        return value.end

    def _passive(self, subject: Phrase, passive: re.Match[str]) -> int | None:
        """ "founded in 1990 by Jo Lee", "located in Rome": each preposition gives a fact."""
        if passive["word"] in WORDS["opinions"] and passive["word"] not in WORDS["states"]:
            return None
        if passive["word"] in ("moved", "rescheduled", "postponed") and not subject.is_proper:
            value = self._phrases.phrase(passive.end() + 4) if self._text.startswith(" to ", passive.end()) else None
            if value is not None and value.is_date:
                self._tell(subject, "is on", value.name, "day")
                return value.end
        return self._told_when_and_where(subject, passive.end(), passive["word"])

    def _told_when_and_where(self, subject: Phrase, place: int, relation: str) -> int | None:
        end = None
        while link := PREPOSITION.match(self._text, place):
            if link["word"] == "to" and re.match(r"(?!the |an? )[a-z]", self._text[link.end() : link.end() + 4]):
                break  # "formed to improve"
            value = self._phrases.phrase(link.end())
            if value is None or (
                value.entity is None and not (value.determiner and link["word"] in ("by", "in", "near", "on", "as"))
            ):
                break
            if link["word"] == "as" and value.entity is not None and value.entity.kind in ("date", "number"):
                break
            value = self._phrases.extended(value)
            values = self._phrases.listed(value)
            if self._phrases.cut_short(values[-1]):
                break
            word = "on" if value.is_date and "-" in value.name[5:] else link["word"]
            for one in values:
                self._tell(subject, f"{relation} {word}", one.full_name)
            end = place = values[-1].end
            if relation in WORDS["states"] or link["word"] == "as":
                break
        return end

    def _identity(self, subject: Phrase, place: int, be: str) -> int | None:
        """ "is a doctor", "is the capital of France", "is closed", "is Anna"."""
        text = self._text
        value = self._phrases.phrase(place)
        end = self._attributed(subject, value) if be == "is" and value is not None and not value.determiner else None
        if end is not None:
            return end
        if (
            be == "is"
            and (adjective := ADJECTIVE.match(text, place))
            and (value is None or value.end <= adjective.end())
        ):
            return self._state(subject, adjective)
        if value is None:
            return None
        if value.is_date and be == "is" and not subject.is_proper and value.name[:1].isupper():
            self._tell(subject, "is on", value.name, "day")
            return value.end
        if value.determiner in ("a", "an", "the", "") and value.entity is None and value.owner is None:
            return self._class(subject, value, be)
        if value.owner is not None and be == "is" and value.name[0].islower() and value.owner != subject.owner:
            self._tell(subject, f"is {value.name} of", value.owner)
            return value.end
        if value.is_proper and be == "is" and not value.determiner and END.match(text, value.end):
            self._tell(subject, "is", value.name)
            return value.end
        return None

    def _attributed(self, subject: Phrase, value: Phrase) -> int | None:
        """ "Anna's age is 30", "the capital of France is Paris"."""
        owner, noun = subject.owner, subject.name.lower()
        if owner is None:
            owned = re.fullmatch(r"([a-z][a-z ]*?) of (.+)", subject.name) if subject.determiner == "the" else None
            if owned is None:
                if noun.rpartition(" ")[2] in WORDS["attributes"] and subject.determiner:
                    self._tell(subject, "is", value.full_name, "value")
                    return value.end
                return None
            noun, owner = owned[1], owned[2]
        if is_attribute(noun):
            self._attribute(owner, noun, value.full_name)
            return value.end
        if value.is_proper and not re.search(r"[^s]s$", noun) and not self._phrases.cut_short(value):
            self._tell(value.name, f"is {noun} of", owner, noun if noun in WORDS["roles"] else None, owner)
            return value.end
        return None

    def _state(self, subject: Phrase, adjective: re.Match[str]) -> int | None:
        word = adjective["word"]
        family = FAMILIES.get(word)
        if family is None and (word in WORDS["function"] or word in WORDS["vague"] or word.endswith(("ing", "ed"))):
            return None
        self._tell(subject, "is", word, None if family is None else f"{family} state")
        return adjective.end()

    def _class(self, subject: Phrase, value: Phrase, be: str) -> int | None:
        """ "a city in Italy", "the capital of France", "a film directed by Jo Lee"."""
        text = self._text
        vague = value.head in WORDS["vague"] or self._goes_on(value)
        link = re.compile(r" (?P<word>of|in|by|from|at|for) ").match(text, value.end)
        other = self._phrases.phrase(link.end()) if link is not None else None
        if link is not None and other is not None and (other.entity is not None or link["word"] == "of") and not vague:
            other = self._phrases.extended(other)
            if self._phrases.cut_short(other):
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
                if value.determiner in ("a", "an") and link["word"] != "of":
                    self._tell(subject, f"{be} a", value.name)
                self._tell(subject, f"{be} {role} {link['word']}", other.full_name, single, other.full_name)
                return self._more(subject, value, other.end)
        if value.determiner not in ("a", "an") or vague or (link is not None and link["word"] == "of"):
            return None
        self._tell(subject, f"{be} a", value.name)
        return self._more(subject, value, value.end)

    def _goes_on(self, value: Phrase) -> bool:
        """Whether the phrase lacks its noun: "a film and television actor", "a large, private school"."""
        text = self._text
        if text.startswith("/", value.end):
            return True
        if text.startswith(" and ", value.end):
            other = self._phrases.phrase(value.end + 5)
            return other is not None and other.head in WORDS["persons"] and value.head not in WORDS["persons"]
        bare = " " not in value.name and value.head not in WORDS["persons"] | WORDS["places"]
        adjective = bare or value.head.endswith(tuple(WORDS["adjective_endings"]))
        return adjective and re.match(r", [a-z]", text[value.end : value.end + 3]) is not None

    def _more(self, subject: Phrase, value: Phrase, end: int) -> int:
        """ "... directed by Jo Lee", "... located in Rome" behind the noun."""
        space = re.compile(r",? ").match(self._text, end)
        passive = PARTICIPLE.match(self._text, space.end()) if space is not None else None
        if passive is None or value.head.endswith("s"):
            return end
        return self._passive(subject, passive) or end
