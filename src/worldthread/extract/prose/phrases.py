"""Finds subjects and objects of plain statements: the noun phrases around a verb, and whom a pronoun means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from worldthread.extract.base import USER
from worldthread.extract.prose.entities import NamedEntity
from worldthread.extract.prose.words import WORDS

_LONGEST_PHRASE: Final = 6  # words
_DETERMINER: Final = re.compile(r"(?:an?|the|some|this|another|his|her|its|my|our|your|their) (?=\S)", re.IGNORECASE)
_ARTICLE: Final = re.compile(r"[Tt]he (?=\S)")
_OWNER: Final = re.compile(r"(?:my|his|her|its)$", re.IGNORECASE)
_NO_PHRASE: Final = re.compile(
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
_PHRASE_STOPS: Final = WORDS["function"] | WORDS["verbs"]
_PARTIAL_NAME: Final = re.compile(r" (?:and|or|&) [^\Wa-z\d]|[/+–—-]\w| - |['’]s\b|, [^\s,]+-(?:based|born)\b")
_BROKEN_OFF: Final = re.compile(
    r" [<=>|]| -\w|[^\s\w.,;:!?()\"“”'’»…*]|\w|\.(?=[\w/])|[(*:](?=\S)(?<! .)|['’](?!s?\b)\w|-\w"
)
_NO_WORD_NEXT: Final = re.compile(r":\s| (?![(&–—]|- )(?:[^\sa-z]|[a-z]\w*[_(/\d])")
_WORD_NEXT: Final = re.compile(r" [a-z]")
_NO_NOUN_YET: Final = re.compile(
    r" \w+(?:ed|ly) (?!(?:after|and|as|at|between|but|by|during|for|from|in|into|near|on|or|over|since|through|to|"
    r"under|until|when|while|with|within)\b)[a-z]"
)
_MORE_TO_COME: Final = re.compile(
    r" (?:about|against|among|around|between|for|from|into|like|of|on|per|than|that|to|under|using|via|"
    r"where|which|who|whose|with|within|without)\b"
)
_ENUMERATION_LINK: Final = re.compile(r", and |, | and | & ")
_NOUNS: Final = WORDS["nouns_too"]
_VERBISH: Final = re.compile(
    r"(?!(?:family|assembly|supply|monopoly|ally|rally|reply)$)(?:\w{2,}ed|\w+ly|\w{2,}(?:ates|izes|ises|ifies))$"
)


class Referents(NamedTuple):
    """Whom or what pronouns and "the film" mean in a sentence; ``None`` where that is not clear.

    Args:
        speaker: the meaning of "I".
        person: the meaning of "he" and "she".
        thing: the meaning of "it".
        topic: what the passage is about.
        classes: nouns for the topic in the passage, in lower case: after "Heat is a film", "the film" means the topic.
        definite: whether "the ..." is a name by itself. Not in a passage about a named topic, where "the roof" means
            the roof of the topic.
        includes_speaker: whether "we" includes the speaker, as it does in messages.
    """

    speaker: str = USER
    person: str | None = None
    thing: str | None = None
    topic: str | None = None
    classes: frozenset[str] = frozenset()
    definite: bool = True
    includes_speaker: bool = True

    @property
    def is_in_long_text(self) -> bool:
        """Whether the text is neither a note nor about one named thing, so that "the value" is one spoken of before."""
        return not self.definite and self.topic is None

    def of(self, pronoun: str) -> str | None:
        """Return the name that a pronoun means; for a possessive pronoun, the name of the owner."""
        low = pronoun.lower()
        if low in ("i", "my", "me") or (self.includes_speaker and low in ("we", "our", "us")):
            return self.speaker
        if low in ("he", "she", "his", "her", "him"):
            return self.person
        return self.thing if low in ("it", "its") else None


class Phrase(NamedTuple):
    """A noun phrase inside a sentence.

    Args:
        name: the phrase as a name, without its article and its owner.
        end: where it ends in the sentence (exclusive).
        entity: the entity, when the phrase consists of nothing else.
        head: its last word, or the entity with which it ends.
        determiner: its article or possessive pronoun, in lower case; empty without one.
        owner: the owner: in "Anna's dog", Anna is the owner and "dog" the name.
        role: the role and to whom: in "Anna's sister Maria", ("sister", "Anna"), and Maria is the name.
    """

    name: str
    end: int
    entity: NamedEntity | None = None
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
        """The name with the owner: "Anna's dog"."""
        return self.name if self.owner is None else f"{self.owner}'s {self.name}"


class Phrases:
    """The noun phrases of one sentence.

    Args:
        text: the sentence.
        entities: its entities, in any order.
        referents: whom its pronouns mean.
    """

    def __init__(self, text: str, entities: list[NamedEntity], referents: Referents) -> None:
        self.text = text
        self.referents = referents
        self._entities_by_start = {e.start: e for e in entities if e.kind != "phrase"}

    def entity_at(self, offset: int) -> tuple[NamedEntity, int] | None:
        """Return the name, title, number or date at ``offset`` and where it ends, including quotation marks."""
        entity = self._entities_by_start.get(offset)
        if entity is None and self.text[offset : offset + 1] and self.text[offset] in _OPENING:
            inner = offset
            while inner < offset + 3 and self.text[inner : inner + 1] and self.text[inner] in _OPENING + " ":
                inner += 1
            entity = self._entities_by_start.get(inner)
            if entity is not None:
                closing = _CLOSING.match(self.text, entity.end)
                return (entity, closing.end()) if closing is not None else None
        return None if entity is None else (entity, entity.end)

    def phrase_at(self, offset: int) -> Phrase | None:
        """Return the noun phrase that begins at ``offset``.

        Args:
            offset: where to look.

        Returns:
            The phrase; ``None`` without one, for a phrase that names nothing particular ("no dog", "each dog", "what"),
            and when its owner is not known.
        """
        if _NO_PHRASE.match(self.text, offset):
            return None
        determiner = _DETERMINER.match(self.text, offset)
        owner = None
        article = ""
        if determiner is not None:
            article = determiner[0].strip().lower()
            offset = determiner.end()
            if _OWNER.match(article):
                owner = self.referents.of(article)
                if owner is None:
                    return None
            elif article in ("our", "your", "their"):
                return None
        start = end = offset
        entity: NamedEntity | None = None
        head = ""
        for _ in range(_LONGEST_PHRASE):
            named = self.entity_at(offset)
            if named is not None and entity is None and offset > start and self._ends_phrase(*named):
                if head in WORDS["words_for_words"]:
                    return None  # "the name Anna": the sentence is about the name
                # "her sister Maria", "the carpenter Jo Lee"
                role = (self.text[start : offset - 1], owner) if owner is not None else None
                return Phrase(named[0].name, named[1], named[0], named[0].name, role=role)
            if named is not None:
                entity = named[0] if offset == start else None
                head, end = named[0].name, named[1]
            else:
                word = _WORD.match(self.text, offset)
                if word is None or (
                    word[0].lower() in _PHRASE_STOPS and not (article and head[-1:] != "s" and word[0] in _NOUNS)
                ):
                    break
                if not word[0][0].islower() and word[0].lower() not in WORDS["offices"]:
                    break
                if offset > start and _VERBISH.match(word[0]):
                    break
                entity, head, end = None, word[0], word.end()
            possessive = _POSSESSIVE.match(self.text, end)
            if possessive is not None and entity is not None and owner is None and named is not None:
                owner, start, offset, entity = entity.name, possessive.end(), possessive.end(), None
                head, end = "", end
                continue
            elif possessive is not None and named is None:
                return None  # "the album's lead single": it is not clear which album
            if self.text[end : end + 1] != " " or (entity is not None and entity.kind in ("date", "title")):
                break
            offset = end + 1
        if not head or end <= start:
            return None
        if entity is None and head.endswith("ing") and " " in self.text[start:end] and self.text[end : end + 1] == " ":
            end = self.text.rindex(" ", start, end)  # "a station broadcasting at"
            head = self.text[start:end].rpartition(" ")[2]
        name = entity.name if entity is not None else self.text[start:end]
        return Phrase(name, end, entity if owner is None else None, head, article, owner)

    def _ends_phrase(self, entity: NamedEntity, end: int) -> bool:
        """Return whether a name ends its phrase, so that the words before describe it: "the carpenter Jo Lee"."""
        following = _WORD.match(self.text, end + 1) if self.text[end : end + 1] == " " else None
        word = following[0] if following is not None else ""
        ends = not word.islower() or word in _PHRASE_STOPS or _VERBISH.match(word) is not None
        return ends and entity.kind in ("name", "person")

    def with_complement(self, phrase: Phrase) -> Phrase:
        """Return ``phrase`` with the "of ..." that follows it; an entity, or a phrase without one, is unchanged."""
        if phrase.entity is not None or not self.text.startswith(" of ", phrase.end):
            return phrase
        inner = self.phrase_at(phrase.end + 4)
        if inner is None or self.is_partial(inner):
            return phrase
        return Phrase(f"{phrase.full_name} of {inner.full_name}", inner.end, None, phrase.head, phrase.determiner)

    def enumeration(self, first: Phrase) -> list[Phrase]:
        """Return ``first`` and the phrases that commas and "and" enumerate with it."""
        found = [first]
        while len(found) < 20:
            link = _ENUMERATION_LINK.match(self.text, found[-1].end)
            if link is None:
                break
            more = self.phrase_at(link.end())
            if more is None or (more.is_proper != first.is_proper):
                break
            following = self.text[more.end : more.end + 1]
            if following == " " and _ENUMERATION_LINK.match(self.text, more.end) is None:
                break
            found.append(more)
        # without "and" it is no enumeration, but a name with its region or an aside
        is_closed = len(found) == 1 or " and " in self.text[found[-2].end : found[-1].end]
        return found if is_closed else [first]

    def is_partial(self, phrase: Phrase) -> bool:
        """Return whether a proper name may be only a part of one: "Anna and Bob Lee", "Adams and Brown counties"."""
        return phrase.is_proper and _PARTIAL_NAME.match(self.text, phrase.end) is not None

    def _is_of_name(self, phrase: Phrase) -> bool:
        """Return whether "of" and a name follow: "the author of Emma", but not "the name of this extension"."""
        inner = self.phrase_at(phrase.end + 4)
        return inner is not None and inner.entity is not None and inner.determiner != "this"

    def is_broken_off(self, phrase: Phrase) -> bool:
        """Return whether a phrase ends inside a word, a name or code, or with a word that describes the next one."""
        if phrase.entity is None and (
            _NO_NOUN_YET.match(self.text, phrase.end) is not None
            or (_VERBISH.match(phrase.head) is not None and _WORD_NEXT.match(self.text, phrase.end) is not None)
        ):
            return True  # "a powerful interpreted language", "a fully featured system"
        if _BROKEN_OFF.match(self.text, phrase.end) is not None:
            return True  # "libnettle.so"
        return phrase.entity is None and _NO_WORD_NEXT.match(self.text, phrase.end) is not None

    def begins_with_participle(self, offset: int) -> bool:
        """Return whether the word at an offset looks like a participle or an adverb."""
        word = _WORD.match(self.text, offset)
        return word is not None and _VERBISH.match(word[0]) is not None

    def lacks_complement(self, phrase: Phrase) -> bool:
        """Return whether what follows a common noun says which one is meant: "support for hosts", "a key to it"."""
        return phrase.entity is None and _MORE_TO_COME.match(self.text, phrase.end) is not None

    def subjects_at(self, offset: int) -> Iterator[tuple[list[Phrase], int]]:
        """Yield the possible subjects that begin at ``offset``, the likeliest first.

        Args:
            offset: where to look.

        Yields:
            The phrases of the subject (two in "Anna and Bob"), and where its verb should begin.
        """
        pronoun = _PRONOUN.match(self.text, offset)
        if pronoun is not None:
            name = self.referents.of(pronoun[0])
            if name is not None:
                entity: NamedEntity | None = None
                if pronoun[0] not in ("It", "it"):
                    entity = NamedEntity(name, "person", offset, pronoun.end())
                yield [Phrase(name, pronoun.end(), entity, name)], pronoun.end()
            return
        article = _ARTICLE.match(self.text, offset)
        named = self.entity_at(offset if article is None else article.end())
        first = None
        if named is not None and named[0].kind != "number" and _POSSESSIVE.match(self.text, named[1]) is None:
            first = Phrase(named[0].name, named[1], named[0], named[0].name)
        elif named is not None and named[0].kind == "number":
            return
        first = first or self.phrase_at(offset)
        if first is None:
            return
        if first.entity is not None and first.determiner == "this":
            return
        if first.entity is not None:
            if self.text.startswith(" and ", first.end):
                second = self.phrase_at(first.end + 5)
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
        if self.is_broken_off(first):
            return
        topic = self.referents.topic
        if first.determiner in ("the", "this") and first.owner is None and topic is not None:
            for words in (first.name, first.name.partition(" ")[0]):
                if words.lower() in self.referents.classes and not self.text.startswith(" of ", first.end):
                    end = first.end - len(first.name) + len(words)
                    yield [Phrase(topic, end, NamedEntity(topic, "name", offset, end), topic)], end
                    return
        longer = self.with_complement(first)
        if longer is not first and (self.referents.definite or self._is_of_name(first)):
            yield [longer], longer.end
        if first.owner is None and (not self.referents.definite or first.determiner == "this"):
            return
        yield [first], first.end
        shorter = self.text[offset : first.end]  # the phrase may include a verb: "the lamp shines"
        while " " in shorter:
            shorter = shorter.rpartition(" ")[0]
            drop = len(self.text[offset : first.end]) - len(shorter)
            name = first.name[: len(first.name) - drop]
            if not name:
                return
            end = offset + len(shorter)
            yield [Phrase(name, end, None, name.rpartition(" ")[2], first.determiner, first.owner)], end
