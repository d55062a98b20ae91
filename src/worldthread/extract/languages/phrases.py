"""Finds noun phrases, values and subjects in a sentence of a language that has a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from worldthread.extract.languages.tables import Language

Determiner: TypeAlias = Literal["", "definite", "indefinite", "possessive", "numeral", "partitive"]

_WORD: Final = re.compile(
    r"(?:St|Dr|Sta|Sto|Ste|Prof|Sr|Sra|Mme|Mlle|M)\.(?= \w)|[^\W_]++(?:[-.&][^\W_]++|['’](?![sS]\b)[^\W_]{3,}+)*+"
)
_ELIDED: Final = re.compile(r"(?:[cdjlmnst]|qu)['’](?=\w)", re.IGNORECASE)
_ADJECTIVE_ENDINGS: Final = ("e", "en", "er", "es", "em", "n")
_MOST_WORDS: Final = 7
_LISTED: Final = {
    "instrument": "instruments", "school": "schools", "illness": "illnesses", "exam": "exams", "venue": "venues",
    "appointment": "appointments", "grade": "grades",
}  # fmt: skip
"""Kinds of objects that are words of a list, with the name of the list."""
_PROPER_LINK: Final = re.compile(r" (?:de la|de los|de las|de|del|du|des|d['’]|la|van|von|der) ?(?=[^\W\d_])")
_AGE: Final = re.compile(r"\d{1,3}(?![\w.,]*\d)(?!\w)")
_YEAR: Final = re.compile(r"(?:1[89]|20)\d\d(?!\w)")
_PHONE: Final = re.compile(r"\+?\d[\d /()-]{4,20}\d(?!\w)")
_ADDRESS: Final = re.compile(r"[\w.+-]{1,64}@\w[\w-]{0,62}(?:\.[\w-]{1,63}){1,4}")
_AMOUNT: Final = re.compile(r"[€$£]? ?\d[\d.,]*(?: ?(?:€|\$|£|[^\W\d_]{1,12}))?")
_PHRASE_END: Final = re.compile(r"[.,;:!]|$")


class Noun(NamedTuple):
    """A noun phrase or a value in a sentence.

    Args:
        name: the phrase as written, without its determiner; a date in ISO 8601.
        end: where it ends in the sentence (exclusive).
        determiner: the kind of its determiner.
        owner: the owner that its possessive determiner means.
        is_proper: whether it begins with a capital and, where every noun does, has neither determiner nor adjective.
        noun: its words without adjectives before and complements after them, in lower case.
    """

    name: str
    end: int
    determiner: Determiner = ""
    owner: str | None = None
    is_proper: bool = False
    noun: str = ""


class People(NamedTuple):
    """Whom pronouns mean.

    Args:
        speaker: the meaning of "ich", "je" and "yo".
        male: the meaning of "er", "il" and "él", where it is clear.
        female: the meaning of "sie", "elle" and "ella", where it is clear.
    """

    speaker: str
    male: str | None = None
    female: str | None = None


class NounPhrases:
    """The noun phrases of one sentence.

    Args:
        language: the table of its language.
        text: the sentence.
        body: offset at which the sentence proper begins, after a speaker's label.
        people: whom pronouns mean.
        is_denied: whether the sentence was a denial, in which a noun needs no article: "ya no tengo gato".
        times: where each time that the sentence names begins and ends.
    """

    def __init__(
        self,
        language: Language,
        text: str,
        body: int,
        people: People,
        is_denied: bool = False,
        times: Mapping[int, int] = MappingProxyType({}),
    ) -> None:
        self.language = language
        self.text = text
        self.body = body
        self.people = people
        self._is_denied = is_denied
        self._is_lower = text[body:].islower()
        self._found: dict[int, Noun | None] = {}
        self._times = times

    def time_end(self, offset: int) -> int | None:
        """Return where the time that begins at ``offset`` ends; ``None`` when none does."""
        match = self.language.time.match(self.text, offset)
        ends = [self._times.get(offset), None if match is None else match.end()]
        return max((end for end in ends if end is not None), default=None)

    def phrases(self, offset: int, complements: bool = True) -> Iterator[Noun]:
        """Yield the noun phrases that begin at ``offset``, the longest first.

        Args:
            offset: where to look.
            complements: whether phrases with a complement such as "in Bonn" are yielded too.

        Yields:
            Phrases that name something: none after "kein", "each" and the like.
        """
        bare = self._bare(offset)
        if bare is None:
            return
        start = bare.end - len(bare.name)
        of_phrase = self._with_complement(bare, start, self.language.of_link)
        if complements and not (bare.is_proper and not bare.determiner):
            longer = self._with_complement(of_phrase or bare, start, self.language.link)
            if longer is not None:
                yield longer
        if of_phrase is not None:
            yield of_phrase
            return
        yield bare

    def _with_complement(self, head: Noun, start: int, pattern: re.Pattern[str]) -> Noun | None:
        if not self.text.startswith(" ", head.end):
            return None
        link = pattern.match(self.text, head.end + 1)
        if link is None or self.time_end(head.end + 1) is not None:
            return None
        offset = self.skip_space(link.end())
        if self.value("day", offset) is not None or self.value("clock", offset) is not None:
            return None
        inner = self._bare(offset)
        if inner is None or inner.owner is not None:
            return None
        return head._replace(name=self.text[start : inner.end], end=inner.end)

    def _determiner(self, offset: int) -> tuple[Determiner, str | None, int] | None:
        """Return the kind, the owner and the end of the determiner at ``offset``; ``None`` when nothing is named."""
        patterns = self.language.determiners
        if patterns["rejected"].match(self.text, offset):
            return None
        owners = {
            "possessive_first": self.people.speaker,
            "possessive_male": self.people.male,
            "possessive_female": self.people.female,
            "possessive_any": self.people.male if self.people.female is None else self.people.female,
        }
        for name, owner in owners.items():
            match = patterns[name].match(self.text, offset) if name in patterns else None
            if match is not None:
                both = name == "possessive_any" and self.people.male is not None and self.people.female is not None
                return None if owner is None or both else ("possessive", owner, match.end())
        kinds: tuple[Determiner, ...] = ("partitive", "definite", "indefinite")
        for kind in kinds:
            match = patterns[kind].match(self.text, offset) if kind in patterns else None
            if match is not None:
                return kind, None, match.end()
        return "", None, offset

    def _bare(self, offset: int) -> Noun | None:
        if offset not in self._found:
            self._found[offset] = self._bare_phrase(offset)
        return self._found[offset]

    def _bare_phrase(self, offset: int) -> Noun | None:
        """Return the noun phrase at ``offset`` without complements."""
        found = self._determiner(offset)
        if found is None:
            return None
        determiner, owner, end = found
        start = offset = self.skip_space(end) if determiner else offset
        numeral = self.language.determiners["numerals"].match(self.text, offset) or _AGE.match(self.text, offset)
        if numeral is not None:
            if determiner == "" or determiner == "possessive":
                determiner = "numeral" if determiner == "" else determiner
            offset = self.skip_space(numeral.end())
        words = self._words(offset, bool(determiner))
        if not words:
            return None
        first = next((i for i, w in enumerate(words) if not w[0].islower()), 0) if self.language.capital_nouns else 0
        noun = " ".join(w[0] for w in words[first:]).lower()
        end = words[-1].end()
        capital = words[0][0][0].isupper()
        is_proper = capital and (first == 0) and not (self.language.capital_nouns and determiner)
        return Noun(self.text[start:end], end, determiner, owner, is_proper, noun)

    def _words(self, offset: int, determined: bool) -> list[re.Match[str]]:
        """Return the adjectives and nouns that begin at ``offset``."""
        language = self.language
        words: list[re.Match[str]] = []
        while len(words) < _MOST_WORDS:
            word = _WORD.match(self.text, offset)
            if word is None:
                break
            low = word[0].lower()
            if words and offset in self._times:
                break
            if _ELIDED.match(self.text, offset) or (
                (words or not determined) and language.any_verb.match(self.text, offset)
            ):
                break
            if low in language.stops or low in language.months or language.weekday.match(self.text, offset):
                if low not in language.words["intensifiers"] or not (words or determined):
                    break
            elif language.capital_nouns:
                if not self._continues_german(words, word):
                    break
            elif not self._continues_romance(words, word, determined):
                break
            words.append(word)
            offset = word.end()
            if not language.capital_nouns and word[0][0].isupper():
                link = _PROPER_LINK.match(self.text, offset)
                if link is not None and self.text[link.end()].isupper():
                    offset = link.end()
                    continue
            if self.text[offset : offset + 1] != " ":
                break
            offset += 1
        while words and words[-1][0].lower() in language.words["intensifiers"]:
            words.pop()
        if language.capital_nouns and words and words[-1][0][0].islower() and not self._is_lower:
            return []
        if words and words[0][0].isdecimal():
            return []
        return words

    def _continues_german(self, words: list[re.Match[str]], word: re.Match[str]) -> bool:
        if not word[0][0].islower():
            return True
        if self._is_lower:
            before = words[-1][0] if words else ""
            return not words or before.endswith(_ADJECTIVE_ENDINGS[:-1])
        has_noun = any(not w[0][0].islower() for w in words)
        return not has_noun and word[0].endswith(_ADJECTIVE_ENDINGS)

    def _continues_romance(self, words: list[re.Match[str]], word: re.Match[str], determined: bool) -> bool:
        if not words:
            return True
        if word[0][0].islower() or word[0][0].isdecimal():
            if word[0][0].isdecimal():
                return words[-1][0][0].isupper()
            named = words[0][0][0].isupper()
            lower = sum(w[0][0].islower() for w in words)
            if named and (not determined or lower):
                return False
            return lower < 4 and (named or not words[-1][0][0].isupper())
        return True

    def skip_space(self, offset: int) -> int:
        """Return ``offset``, or the offset after the space there."""
        return offset + 1 if self.text.startswith(" ", offset) else offset

    def value(self, kind: str, offset: int) -> Noun | None:
        """Return the value of a kind at ``offset``.

        Args:
            kind: ``age``, ``date``, ``day``, ``clock``, ``amount``, ``phone`` or ``address``.
            offset: where to look.

        Returns:
            The value; ``None`` when there is none.
        """
        text, language = self.text, self.language
        if kind in ("date", "day"):
            date = language.date.match(text, offset)
            if date is not None:
                return Noun(language.iso_date(date), date.end())
            other = (_YEAR if kind == "date" else language.weekday).match(text, offset)
            return None if other is None else Noun(other[0], other.end())
        pattern = {
            "age": _AGE, "clock": language.clock, "amount": _AMOUNT, "phone": _PHONE, "address": _ADDRESS,
        }[kind]  # fmt: skip
        match = pattern.match(text, offset)
        return None if match is None else Noun(match[0].strip(), match.end())

    def objects(self, kind: str, offset: int) -> Iterator[list[Noun]]:
        """Yield the objects of a kind that begin at ``offset``, each a list of what is enumerated, the longest first.

        Args:
            kind: a kind of object of the forms.
            offset: where to look.

        Yields:
            One noun, or several for the kinds that may be enumerated.
        """
        if kind in ("age", "date", "day", "clock", "amount"):
            value = self.value(kind, offset)
            if value is not None:
                yield [value]
            return
        if kind == "mass" and (infinitive := self._infinitive(offset)) is not None:
            yield [infinitive]
            return
        if kind == "person":
            yield from ([noun] for noun in self._relatives(offset))
        for noun in self.phrases(
            offset, kind in ("place", "origin", "organisation", "things", "article thing", "appointment")
        ):
            if not self._is_of_kind(noun, kind):
                continue
            if kind in ("mass", "field", "things"):
                yield self._enumeration(noun, kind)
            yield [noun]

    def _relatives(self, offset: int) -> Iterator[Noun]:
        """Yield a relative such as "mi hermana" under the name that it has as a subject."""
        for noun in self.phrases(offset, False):
            role = self.language.relatives.get(noun.name.lower()) if noun.owner is not None else None
            if role is not None:
                yield noun._replace(name=f"{noun.owner}'s {role}")

    def _infinitive(self, offset: int) -> Noun | None:
        """Return an activity such as "prendre l'avion", which goes on to the end of its clause."""
        if self.language.infinitive is None or self.language.infinitive.match(self.text, offset) is None:
            return None
        end = _PHRASE_END.search(self.text, offset)
        link = self.language.clause_link.search(self.text, offset)
        stop = min(end.start() if end is not None else len(self.text), link.start() if link is not None else 10**9)
        name = self.text[offset:stop].rstrip()
        return Noun(name, offset + len(name)) if len(name) < 60 else None

    def _is_of_kind(self, noun: Noun, kind: str) -> bool:
        words = self.language.words
        head = noun.noun.split()
        is_name_only = noun.is_proper and not self.language.capital_nouns
        is_vague = not is_name_only and not words["vague"].isdisjoint((noun.noun, head[0], head[-1]))
        if kind in ("name", "person"):
            is_name = noun.is_proper or (self._is_lower and " " not in noun.name and kind == "name")
            return is_name and not noun.determiner and len(head) < 5
        if kind in ("place", "organisation"):
            named = noun.is_proper or noun.determiner != "" or self._is_lower
            return (
                named and noun.determiner != "numeral" and not words["not_places"].intersection(head) and not is_vague
            )
        if kind in _LISTED:
            listed = words[_LISTED[kind]]
            return noun.noun in listed or (kind != "instrument" and not listed.isdisjoint((head[0], head[-1])))
        if kind == "origin":
            named = noun.determiner == "indefinite" or (not noun.determiner and (noun.is_proper or self._is_lower))
            if noun.determiner == "definite":
                named = noun.noun in words.get("article_places", ()) if self.language.capital_nouns else noun.is_proper
            return (
                named and not is_vague and not (self.language.infinitive and self.language.infinitive.match(noun.name))
            )
        if kind == "field":
            return self._is_of_kind(noun, "mass") and not (self.language.capital_nouns and noun.determiner)
        if kind == "job":
            return noun.determiner in ("", "indefinite") and not is_vague
        if kind in ("thing", "things", "article thing"):
            determined = noun.determiner in ("indefinite", "numeral", "partitive", "definite", "possessive")
            if kind == "article thing" and noun.determiner != "indefinite":
                return False
            return (determined or self._is_denied) and not is_vague and noun.owner is None
        if kind == "need":
            infinitive = self.language.infinitive
            if not words["requests"].isdisjoint((head[0], head[-1])) or (infinitive and infinitive.match(noun.name)):
                return False
        return noun.owner is None and noun.determiner != "numeral"

    def _enumeration(self, first: Noun, kind: str) -> list[Noun]:
        found = [first]
        while len(found) < 12:
            link = self.language.enumeration.match(self.text, found[-1].end)
            more = next(self.phrases(link.end(), False), None) if link is not None else None
            if more is None or not self._is_of_kind(more, kind) or self._opens_clause(more):
                break
            found.append(more)
        return found

    def _opens_clause(self, noun: Noun) -> bool:
        """Return whether a verb or anything else follows that makes the noun the subject of a clause of its own."""
        following = _WORD.match(self.text, noun.end + 1) if self.text.startswith(" ", noun.end) else None
        if following is None:
            return False
        return self.language.enumeration.match(self.text, noun.end) is None and not self.language.preposition.match(
            self.text, noun.end + 1
        )
