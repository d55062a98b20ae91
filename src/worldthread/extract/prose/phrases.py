"""Subjects and objects of plain statements: the noun phrases around a verb, and who is meant by a pronoun."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from worldthread.extract.prose.entities import Entity
from worldthread.extract.prose.words import WORDS

USER: Final = "user"
"""The subject of "I" and "my" where nobody is named as the speaker."""

_LONGEST: Final = 6  # words of a noun phrase
_DETERMINER: Final = re.compile(r"(?:an?|the|some|this|another|his|her|its|my|our|your|their) (?=\S)", re.IGNORECASE)
_ARTICLE: Final = re.compile(r"[Tt]he (?=\S)")
_OWNER: Final = re.compile(r"(?:my|his|her|its)$", re.IGNORECASE)
_REFUSED: Final = re.compile(
    r"(?:no|any|each|every|either|neither|all|both|one of|none|not|never|what|which|who|how|whether|if|more|"
    r"less|like)\b",
    re.IGNORECASE,
)
_PRONOUN: Final = re.compile(r"(?:I|He|he|She|she|It|it)(?=[ '’])")
_WORD: Final = re.compile(r"[^\W\d_][^\W_]*+(?:['’](?!s\b)[^\W_]++|-[^\W_]++)*+")
_POSSESSIVE: Final = re.compile(r" ?['’]s? ")
_ASIDE: Final = re.compile(r" \([^()]{1,200}\)|, (?!and |or |but )[^,;:()]{2,120},(?= )")
_OPENING: Final = "\"“«`'‘"
_CLOSING: Final = re.compile(r" ?(?:''|[\"”»’'])")
_STOPS: Final = WORDS["function"] | WORDS["verbs"]
_NOUNS: Final = WORDS["nouns_too"]
_VERBISH: Final = re.compile(
    r"(?!(?:family|assembly|supply|monopoly|ally|rally|reply)$)(?:\w{2,}ed|\w+ly|\w{2,}(?:ates|izes|ises|ifies))$"
)


class Referents(NamedTuple):
    """Who is meant by pronouns and by "the film" in a sentence; ``None`` where that is not clear.

    Args:
        speaker: by "I".
        person: by "he" and "she".
        thing: by "it".
        topic: what the passage is about.
        classes: what the passage calls its topic, in lower case ("film"): "the film" is the topic.
        definite: whether "the ..." may be named as it is; not so in a text about something, where it would have to be
            said of what.
    """

    speaker: str = USER
    person: str | None = None
    thing: str | None = None
    topic: str | None = None
    classes: frozenset[str] = frozenset()
    definite: bool = True

    def of(self, pronoun: str) -> str | None:
        """The name for a pronoun, or for the owner that a possessive one names."""
        low = pronoun.lower()
        if low in ("i", "my", "me"):
            return self.speaker
        if low in ("he", "she", "his", "her"):
            return self.person
        return self.thing if low in ("it", "its") else None


class Phrase(NamedTuple):
    """A noun phrase inside a sentence.

    Args:
        name: as a name: without article, with "Anna's" for "her".
        end: where it ends in the sentence (exclusive).
        entity: the entity, if the phrase is nothing else.
        head: its last word.
        determiner: its article or possessive, in lower case, or empty.
        owner: of "Anna's dog" Anna, for whom ``name`` has only what she owns.
        role: of "Anna's sister Maria" sister and Anna; Maria is the name.
    """

    name: str
    end: int
    entity: Entity | None = None
    head: str = ""
    determiner: str = ""
    owner: str | None = None
    role: tuple[str, str] | None = None

    @property
    def is_proper(self) -> bool:
        """Whether it is a proper name or a quoted title."""
        return self.entity is not None and self.entity.kind in ("name", "person", "title")

    @property
    def is_date(self) -> bool:
        """Whether it is a date, a day of the week or a time of day."""
        return self.entity is not None and self.entity.kind == "date"

    @property
    def full_name(self) -> str:
        """With the owner: "Anna's dog"."""
        return self.name if self.owner is None else f"{self.owner}'s {self.name}"


class Phrases:
    """The noun phrases of one sentence.

    Args:
        text: the sentence.
        found: what it names.
        referents: who its pronouns mean.
    """

    def __init__(self, text: str, found: list[Entity], referents: Referents) -> None:
        self.text = text
        self.referents = referents
        self._places = {e.start: e for e in found if e.kind != "phrase"}

    def entity_at(self, place: int) -> tuple[Entity, int] | None:
        """The name, title, number or date that begins at ``place``, and where it ends, with its quotation marks."""
        entity = self._places.get(place)
        if entity is None and self.text[place : place + 1] and self.text[place] in _OPENING:
            inner = place
            while inner < place + 3 and self.text[inner : inner + 1] and self.text[inner] in _OPENING + " ":
                inner += 1
            entity = self._places.get(inner)
            if entity is not None:
                closing = _CLOSING.match(self.text, entity.end)
                return (entity, closing.end()) if closing is not None else None
        return None if entity is None else (entity, entity.end)

    def phrase(self, place: int) -> Phrase | None:
        """The noun phrase that begins at ``place``; ``None`` for none, and for one that denies or leaves open."""
        if _REFUSED.match(self.text, place):
            return None
        determiner = _DETERMINER.match(self.text, place)
        owner = None
        kind = ""
        if determiner is not None:
            kind = determiner[0].strip().lower()
            place = determiner.end()
            if _OWNER.match(kind):
                owner = self.referents.of(kind)
                if owner is None:
                    return None
            elif kind in ("our", "your", "their"):
                return None
        start = end = place
        only: Entity | None = None
        head = ""
        for _ in range(_LONGEST):
            taken = self.entity_at(place)
            if taken is not None and only is None and place > start and self._apposed(*taken):
                if head in WORDS["words_for_words"]:
                    return None  # "the name Anna": what is said is said of the name
                # "her sister Maria", "the carpenter Jo Lee"
                role = (self.text[start : place - 1], owner) if owner is not None else None
                return Phrase(taken[0].name, taken[1], taken[0], taken[0].name, role=role)
            if taken is not None:
                only = taken[0] if place == start else None
                head, end = taken[0].name, taken[1]
            else:
                word = _WORD.match(self.text, place)
                if word is None or (
                    word[0].lower() in _STOPS and not (kind and head[-1:] != "s" and word[0] in _NOUNS)
                ):
                    break
                if not word[0][0].islower() and word[0].lower() not in WORDS["offices"]:
                    break
                if place > start and _VERBISH.match(word[0]):
                    break
                only, head, end = None, word[0], word.end()
            possessive = _POSSESSIVE.match(self.text, end)
            if possessive is not None and only is not None and owner is None and taken is not None:
                owner, start, place, only = only.name, possessive.end(), possessive.end(), None
                head, end = "", end
                continue
            elif possessive is not None and taken is None:
                return None  # "the album's lead single": of which one would have to be said
            if self.text[end : end + 1] != " " or (only is not None and only.kind in ("date", "title")):
                break
            place = end + 1
        if not head or end <= start:
            return None
        if only is None and head.endswith("ing") and " " in self.text[start:end] and self.text[end : end + 1] == " ":
            end = self.text.rindex(" ", start, end)  # "a station broadcasting at"
            head = self.text[start:end].rpartition(" ")[2]
        name = only.name if only is not None else self.text[start:end]
        return Phrase(name, end, only if owner is None else None, head, kind, owner)

    def _apposed(self, entity: Entity, end: int) -> bool:
        """Whether a name ends its phrase, so that the words before it tell what it is: "the carpenter Jo Lee"."""
        following = _WORD.match(self.text, end + 1) if self.text[end : end + 1] == " " else None
        word = following[0] if following is not None else ""
        ends = not word.islower() or word in _STOPS or _VERBISH.match(word) is not None
        return ends and entity.kind in ("name", "person")

    def extended(self, phrase: Phrase) -> Phrase:
        """``phrase`` with the "of ..." that follows it, which belongs to what it names."""
        if phrase.entity is not None or not self.text.startswith(" of ", phrase.end):
            return phrase
        inner = self.phrase(phrase.end + 4)
        if inner is None or self.cut_short(inner):
            return phrase
        return Phrase(f"{phrase.full_name} of {inner.full_name}", inner.end, None, phrase.head, phrase.determiner)

    def listed(self, first: Phrase) -> list[Phrase]:
        """``first`` and what is enumerated with it by commas and "and" up to the end of the enumeration."""
        found = [first]
        while len(found) < 20:
            link = _AND.match(self.text, found[-1].end)
            if link is None:
                break
            more = self.phrase(link.end())
            if more is None or (more.is_proper != first.is_proper):
                break
            behind = self.text[more.end : more.end + 1]
            if behind == " " and _AND.match(self.text, more.end) is None:
                break
            found.append(more)
        # a list without its "and" is not a list, but a name with its region or an aside
        closed = len(found) == 1 or " and " in self.text[found[-2].end : found[-1].end]
        return found if closed else [first]

    def cut_short(self, phrase: Phrase) -> bool:
        """Whether a proper name may be but a part: "Anna and Bob Lee", "Adams and Brown counties"."""
        return phrase.is_proper and _CUT.match(self.text, phrase.end) is not None

    def subjects(self, place: int) -> Iterator[tuple[list[Phrase], int]]:
        """Readings of the subject that begins at ``place``: phrases, and where the verb should begin."""
        pronoun = _PRONOUN.match(self.text, place)
        if pronoun is not None:
            name = self.referents.of(pronoun[0])
            if name is not None:
                kind: Entity | None = None
                if pronoun[0] not in ("It", "it"):
                    kind = Entity(name, "person", place, pronoun.end())
                yield [Phrase(name, pronoun.end(), kind, name)], pronoun.end()
            return
        article = _ARTICLE.match(self.text, place)
        taken = self.entity_at(place if article is None else article.end())
        first = None
        if taken is not None and taken[0].kind != "number" and _POSSESSIVE.match(self.text, taken[1]) is None:
            first = Phrase(taken[0].name, taken[1], taken[0], taken[0].name)
        elif taken is not None and taken[0].kind == "number":
            return
        first = first or self.phrase(place)
        if first is None:
            return
        if first.entity is not None:
            if self.text.startswith(" and ", first.end):
                second = self.phrase(first.end + 5)
                if second is not None and second.is_proper and first.is_proper:
                    yield [first, second], second.end
                return
            yield [first], first.end
            aside = _ASIDE.match(self.text, first.end)
            if aside is not None:
                yield [first], aside.end()
                further = _ASIDE.match(self.text, aside.end())
                if further is not None:
                    yield [first], further.end()
            return
        if first.determiner in ("a", "an", "some", "another") or (not first.determiner and first.owner is None):
            return
        topic = self.referents.topic
        if first.determiner in ("the", "this") and first.owner is None and topic is not None:
            for words in (first.name, first.name.partition(" ")[0]):
                if words.lower() in self.referents.classes and not self.text.startswith(" of ", first.end):
                    end = first.end - len(first.name) + len(words)
                    yield [Phrase(topic, end, Entity(topic, "name", place, end), topic)], end
                    return
        longer = self.extended(first)
        if longer is not first:
            yield [longer], longer.end
        if not self.referents.definite and first.owner is None:
            return
        yield [first], first.end
        shorter = self.text[place : first.end]  # the phrase may have taken in a verb: "the lamp shines"
        while " " in shorter:
            shorter = shorter.rpartition(" ")[0]
            drop = len(self.text[place : first.end]) - len(shorter)
            name = first.name[: len(first.name) - drop]
            if not name:
                return
            end = place + len(shorter)
            yield [Phrase(name, end, None, name.rpartition(" ")[2], first.determiner, first.owner)], end


_CUT: Final = re.compile(r" (?:and|or|&) [^\Wa-z\d]|[/+–—-]\w| - |['’]s\b|, [^\s,]+-(?:based|born)\b")
_AND: Final = re.compile(r", and |, | and | & ")
