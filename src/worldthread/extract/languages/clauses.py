"""Reads the plain statements of a sentence by the forms of its language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from worldthread.extract.languages.phrases import Noun, NounPhrases
from worldthread.extract.languages.tables import Element, Holds
from worldthread.extract.prose.patterns import aspect_of
from worldthread.extract.times import TimeExpression, as_told, time_expressions, validity
from worldthread.names import normalise_name
from worldthread.types import Fact

_SENTENCE_END: Final = re.compile(r"[^\w]*$")
_COMMA: Final = re.compile(r" ?[,!:.]+ ?| ")
_MOST_ADVERBIALS: Final = 4
_MOST_CLAUSES: Final = 5
_OF_THINGS: Final = frozenset({"is on", "is at", "costs", "weighs", "has name"})
"""Relations that may be stated of a thing with an article: "the concert", "la entrada"."""

_UNDATED: Final = frozenset({"has birthday", "born on", "born in", "has name", "has age"})
"""Relations whose facts hold whenever they are told: the time is a part of what they say, or none is meant."""

_STATE: Final = {words: re.compile(rf"[^\W\d_]++(?:[ -][^\W\d_]++){{{words - 1}}}(?!\w)") for words in (1, 2)}
_FIRST, _THIRD = 0, 1
_TODAY: Final = frozenset({"day", "day part"})


class ClauseSubject(NamedTuple):
    """The subject of a clause.

    Args:
        name: its name.
        person: 0 for the first person, 1 for the third.
        end: where it ends in the sentence.
        relation: what it is to whom, as in "my sister": ("sister", the speaker).
        is_named: whether a name is given: "Lena", "my sister Lena".
        is_thing: whether it is a common noun with an article.
        noun: its noun in lower case and its owner, in "my favourite colour".
        owner: the owner of that noun.
    """

    name: str
    person: int
    end: int
    relation: tuple[str, str] | None = None
    is_named: bool = False
    is_thing: bool = False
    noun: str = ""
    owner: str | None = None


class ClauseMatch(NamedTuple):
    """A form that matches, as far as it has been matched.

    Args:
        end: where the matched part ends.
        subject: the subject; ``None`` before it is known.
        objects: the objects with their kinds.
        person: the person of the verb; ``None`` before it is known.
    """

    end: int
    subject: ClauseSubject | None = None
    objects: tuple[tuple[str, list[Noun]], ...] = ()
    person: int | None = None


class Statements(NamedTuple):
    """What a sentence states.

    Args:
        facts: its facts.
        ended: the facts that it ends.
        whole: whether it states nothing else.
        subject: the subject of its first clause; ``None`` when nothing was understood.
    """

    facts: tuple[Fact, ...] = ()
    ended: tuple[Fact, ...] = ()
    whole: bool = False
    subject: ClauseSubject | None = None


class StatementReader:
    """Reads the statements of one sentence.

    Args:
        phrases: the noun phrases of the sentence.
        at: time of the sentence in seconds since 1970-01-01 UTC, or a turn; ``None`` where times are not resolved.
    """

    def __init__(self, phrases: NounPhrases, at: float | None = None) -> None:
        self._phrases = phrases
        self._at = at
        self._language = phrases.language
        self._text = phrases.text
        self._facts: list[Fact] = []
        self._ended: list[Fact] = []
        self._found: dict[str, bool] = {}
        self._noun_subjects_at: dict[int, list[ClauseSubject]] = {}

    def read(self) -> Statements:
        """Return what the sentence states, clause after clause until one is not understood."""
        begin = self._phrases.body
        offset, fronted = self._lead(begin)
        first: ClauseSubject | None = None
        carried: ClauseSubject | None = None
        whole = False
        for _ in range(_MOST_CLAUSES):
            clause = self._clause(offset, fronted, carried, begin)
            if clause is None:
                whole = False
                break
            end, carried, facts, ended, plain = clause
            first = first or carried
            link = self._language.clause_link.match(self._text, end)
            if link is not None and self._is_enumerated(link.end()):
                whole = False
                break
            self._facts += facts
            self._ended += ended
            whole = plain and _SENTENCE_END.match(self._text, end) is not None
            if link is None:
                break
            begin = link.end()
            offset, fronted = self._lead(begin)
        return Statements(tuple(dict.fromkeys(self._facts)), tuple(dict.fromkeys(self._ended)), whole, first)

    def _is_enumerated(self, offset: int) -> bool:
        """Return whether a noun stands at ``offset`` that was enumerated with the object before it."""
        noun = next(self._phrases.phrases(offset, False), None)
        return (
            noun is not None
            and (
                _SENTENCE_END.match(self._text, noun.end) is not None
                or self._language.enumeration.match(self._text, noun.end) is not None
            )
            and noun.owner is None
            and noun.noun not in self._language.states
        )

    def _lead(self, offset: int) -> tuple[int, bool]:
        """Return where a clause begins after greetings, adverbs and times, and whether one of these opens it."""
        fronted = False
        for _ in range(_MOST_ADVERBIALS):
            opening = self._language.opening.match(self._text, offset)
            front = self._language.fronted.match(self._text, offset)
            ends = [self._phrases.time_end(offset), *(match.end() for match in (front, opening) if match is not None)]
            end = next((end for end in ends if end is not None), None)
            comma = _COMMA.match(self._text, end) if end is not None else None
            if comma is None:
                break
            fronted = fronted or front is not None or ends[0] is not None
            offset = comma.end()
        return offset, fronted

    def _clause(
        self, offset: int, fronted: bool, carried: ClauseSubject | None, begin: int
    ) -> tuple[int, ClauseSubject, list[Fact], list[Fact], bool] | None:
        """Return where the clause ends, its subject, its facts, the facts that it ends, and whether nothing follows.

        Args:
            offset: where it begins after what opens it.
            fronted: whether an adverb or a time opens it.
            carried: the subject of the clause before it.
            begin: where it begins with what opens it.
        """
        is_copula = self._occurs(Element("verb", "be"))
        for match in self._attribute(offset, carried) if is_copula else ():
            rest = self._rest(match[0])
            if rest is not None:
                return rest[0], match[1], match[2], [], rest[1]
        for form in self._language.forms:
            if not all(map(self._occurs, form.elements)):
                continue
            elements = form.elements
            if fronted and self._language.verb_second and len(elements) > 1 and elements[0].kind == "subject":
                elements = (elements[1], elements[0], *elements[2:])
            for found in self._matches(elements, ClauseMatch(offset), carried):
                rest = self._rest(found.end)
                if rest is None:
                    continue
                subject = found.subject or ClauseSubject(found.objects[0][1][0].name, _THIRD, found.end, is_named=True)
                facts = [f for parts in form.facts for f in self._facts_of(parts, found, subject)]
                ended = [f for parts in form.ends for f in self._facts_of(parts, found, subject)]
                times = self._times(begin, rest[0], form.holds)
                if form.needs_time and not any(time.valid_from or time.valid_to for time in times):
                    continue
                facts = self._dated(facts, times, form.holds)
                if subject.is_thing and not all(f.relation in _OF_THINGS for f in facts):
                    continue
                if facts or ended:
                    return rest[0], subject, self._with_role(subject, facts), ended, rest[1]
        verb: tuple[Element, ...] = (Element("subject"), Element("verb", "be"))
        if fronted and self._language.verb_second:
            verb = (verb[1], verb[0])
        for found in self._matches(verb, ClauseMatch(offset), carried) if is_copula else ():
            if found.subject is None:
                continue
            for end, facts in self._predicate(found.subject, found.end):
                rest = self._rest(end)
                if rest is not None:
                    facts = self._dated(facts, self._times(begin, rest[0], "state"), "state")
                    return rest[0], found.subject, self._with_role(found.subject, facts), [], rest[1]
        return None

    def _times(self, begin: int, end: int, holds: Holds) -> list[TimeExpression]:
        """Return the times that a clause names."""
        if self._at is None:
            return []
        is_past = holds in ("past", "event")
        found = time_expressions(self._text, self._at, language=self._language.code, is_past=is_past)
        inside = [time for time in found if begin <= time.start and time.end <= end]
        if holds != "state":
            return inside
        # "heute wohne ich in Bonn" speaks of these days
        return [t for t in inside if t.role != "at" or t.precision not in _TODAY or not _is_now(t, self._at)]

    def _dated(self, facts: list[Fact], times: list[TimeExpression], holds: Holds) -> list[Fact]:
        """Return the facts with the times at which they begin and end."""
        if self._at is None or not times:
            return facts
        is_past = holds in ("past", "event")
        bounds = validity(times, self._at, is_past=is_past, is_event=holds == "event")
        if bounds.valid_from is None and bounds.valid_to is None:
            return facts
        valid_from, valid_to, begins_by = as_told(bounds, self._at)
        return [
            f if f.relation in _UNDATED else replace(f, valid_from=valid_from, valid_to=valid_to, begins_by=begins_by)
            for f in facts
        ]

    def _occurs(self, element: Element) -> bool:
        """Return whether the words of an element, or a form of its verb, occur in the sentence at all."""
        if element.is_optional or element.kind not in ("verb", "words"):
            return True
        if element.value not in self._found:
            patterns = self._language.verbs[element.value] if element.kind == "verb" else (element.pattern,)
            self._found[element.value] = any(
                p is not None and p.search(self._text, self._phrases.body) is not None for p in patterns
            )
        return self._found[element.value]

    def _with_role(self, subject: ClauseSubject, facts: list[Fact]) -> list[Fact]:
        """Return the facts, after the one that "my sister Lena" states by itself."""
        if subject.relation is None or not subject.is_named:
            return facts
        role, owner = subject.relation
        return [_fact(subject.name, f"is {role} of", owner), *facts]

    def _rest(self, offset: int) -> tuple[int, bool] | None:
        """Return where the clause ends when only adverbials follow, and whether nothing follows; else ``None``."""
        begin = offset
        for _ in range(_MOST_ADVERBIALS + 1):
            if _SENTENCE_END.match(self._text, offset) or self._language.clause_link.match(self._text, offset):
                return offset, offset == begin
            if self._text.startswith((" (", " –", " -", "...", " :"), offset):
                return None
            following = next(self._adverbials_at(offset, self._language.preposition), None)
            if following is None:
                return None
            offset = following
        return None

    def _adverbials_at(self, offset: int, prepositions: re.Pattern[str]) -> Iterator[int]:
        """Yield where an adverb, a time or a phrase with one of the prepositions at ``offset`` ends."""
        if not self._text.startswith(" ", offset):
            return
        start = offset + 1
        time_end = self._phrases.time_end(start)
        if time_end is not None:
            yield time_end
        adverb = self._language.adverb.match(self._text, start)
        if adverb is not None:
            yield adverb.end()
        preposition = prepositions.match(self._text, start)
        if preposition is None:
            return
        inner = self._phrases.skip_space(preposition.end())
        for kind in ("day", "date", "clock"):
            value = self._phrases.value(kind, inner)
            if value is not None:
                yield value.end
        for noun in self._phrases.phrases(inner, False):
            yield noun.end

    def _gaps(self, offset: int) -> Iterator[int]:
        """Yield ``offset`` and where up to three adverbials after it end, each after the space that follows."""
        yield self._phrases.skip_space(offset)
        ends = [offset]
        for _ in range(3):
            following = next(self._adverbials_at(ends[-1], self._language.circumstance), None)
            if following is None:
                return
            ends.append(following)
            yield self._phrases.skip_space(following)

    def _matches(
        self, elements: tuple[Element, ...], match: ClauseMatch, carried: ClauseSubject | None
    ) -> Iterator[ClauseMatch]:
        """Yield the ways in which the elements match after ``match``."""
        if not elements:
            yield match
            return
        element, rest = elements[0], elements[1:]
        is_first = match.subject is None and match.person is None and self._text[match.end - 1 : match.end] in ("", " ")
        starts = [match.end] if is_first else list(self._gaps(match.end))
        for start in starts:
            for found in self._element(element, match, start, carried):
                yield from self._matches(rest, found, carried)
        if element.is_optional:
            yield from self._matches(rest, match, carried)

    def _element(
        self, element: Element, match: ClauseMatch, start: int, carried: ClauseSubject | None
    ) -> Iterator[ClauseMatch]:
        """Yield the ways in which one element matches at ``start``."""
        if element.kind == "words":
            assert element.pattern is not None
            words = element.pattern.match(self._text, start)
            if words is not None:
                yield match._replace(end=words.end())
        elif element.kind == "speaker":
            if match.end == start:
                yield match._replace(subject=ClauseSubject(self._phrases.people.speaker, _FIRST, start), end=start)
        elif element.kind == "end":
            if _SENTENCE_END.match(self._text, start) or self._language.clause_link.match(self._text, start):
                yield match
        elif element.kind == "verb":
            for person, pattern in enumerate(self._language.verbs[element.value]):
                verb = pattern.match(self._text, start)
                if verb is not None and match.person in (None, person):
                    yield match._replace(end=verb.end(), person=person)
        elif element.kind == "subject":
            for subject in self._subjects(start, carried):
                # the person of the subject is checked when the verb comes, unless the verb came first
                if match.person in (None, subject.person):
                    yield match._replace(end=subject.end, subject=subject, person=subject.person)
        else:
            for nouns in self._phrases.objects(element.value, start):
                yield match._replace(end=nouns[-1].end, objects=(*match.objects, (element.value, nouns)))

    def _subjects(self, offset: int, carried: ClauseSubject | None) -> Iterator[ClauseSubject]:
        """Yield the subjects that may stand at ``offset``."""
        language, people, text = self._language, self._phrases.people, self._text
        if pronoun := language.pronouns["first_person"].match(text, offset):
            yield ClauseSubject(people.speaker, _FIRST, pronoun.end())
            return
        for gender, name in (("male", people.male), ("female", people.female)):
            pronoun = language.pronouns[gender].match(text, offset)
            if pronoun is not None:
                if name is not None:
                    yield ClauseSubject(name, _THIRD, pronoun.end(), is_named=True)
                return
        if offset not in self._noun_subjects_at:
            self._noun_subjects_at[offset] = list(self._noun_subjects(offset))
        yield from self._noun_subjects_at[offset]
        if carried is not None:
            yield carried._replace(end=offset, relation=None)
        if language.drops_subject:
            yield ClauseSubject(people.speaker, _FIRST, offset)

    def _noun_subjects(self, offset: int) -> Iterator[ClauseSubject]:
        language = self._language
        for noun in self._phrases.phrases(offset):
            if owned := self._owned(noun):
                yield owned
            elif noun.owner is not None:
                yield self._relative(noun) or ClauseSubject(
                    f"{noun.owner}'s {noun.name}", _THIRD, noun.end, noun=noun.name.lower(), owner=noun.owner
                )
            elif noun.determiner == "definite":
                is_named = not language.capital_nouns and noun.name[0].isupper()  # "la France"
                yield ClauseSubject(noun.name, _THIRD, noun.end, is_thing=not is_named, is_named=is_named)
            elif noun.is_proper and noun.noun not in language.words["function"]:
                yield ClauseSubject(noun.name, _THIRD, noun.end, is_named=True)

    def _relative(self, noun: Noun) -> ClauseSubject | None:
        """Return the subject that "my sister" or "my sister Lena" is."""
        assert noun.owner is not None
        words = noun.name.split()
        for count in range(len(words), 0, -1):
            role = self._role_of(" ".join(words[:count]))
            if role is None:
                continue
            name = " ".join(words[count:])
            if not name:
                return ClauseSubject(f"{noun.owner}'s {role}", _THIRD, noun.end, (role, noun.owner))
            if name[0].isupper():
                return ClauseSubject(name, _THIRD, noun.end, (role, noun.owner), is_named=True)
        return None

    def _role_of(self, words: str) -> str | None:
        """Return the English name of a relative, whose adjectives ("little") say nothing new."""
        low = words.lower()
        return self._language.relatives.get(low) or self._language.relatives.get(low.rpartition(" ")[2])

    def _owned(self, noun: Noun) -> ClauseSubject | None:
        """Return the subject that "Annas Schwester" or "la sœur de Paul" is."""
        owner = ""
        role: str | None = None
        words = noun.name.split()
        if self._language.capital_nouns and len(words) == 2 and not noun.determiner and words[0][-1] in "s'’":
            owner, role = words[0].rstrip("'’s"), self._role_of(words[1])
        elif noun.determiner == "definite":
            parts = re.split(r" (?:von|de|d['’]) ?", noun.name, maxsplit=1)
            if len(parts) == 2 and parts[1][:1].isupper():
                owner, role = parts[1], self._role_of(parts[0])
        return ClauseSubject(f"{owner}'s {role}", _THIRD, noun.end, (role, owner)) if role and owner else None

    def _attribute(self, offset: int, carried: ClauseSubject | None) -> Iterator[tuple[int, ClauseSubject, list[Fact]]]:
        """Yield the values of attributes: "Meine Lieblingsfarbe ist Grün", "mon numéro est le 06 12 34 56 78"."""
        verb = (Element("subject"), Element("verb", "be"))
        for found in self._matches(verb, ClauseMatch(offset), carried):
            subject = found.subject
            attribute = self._attribute_of(subject.noun) if subject is not None else None
            if subject is None or subject.owner is None or attribute is None:
                continue
            for start in self._gaps(found.end):
                value = self._attribute_value(attribute, start)
                if value is not None:
                    yield value.end, subject, [_fact(subject.owner, f"has {attribute}", value.name)]

    def _attribute_of(self, noun: str) -> str | None:
        """Return the English name of an attribute, "favourite colour" too."""
        language = self._language
        words = noun.split()
        for count in range(len(words)):
            # adjectives before ("neue Nummer") or after the noun
            for part in (" ".join(words[count:]), " ".join(words[: len(words) - count])):
                if part in language.attributes:
                    return language.attributes[part]
        prefix = language.favourite_prefix
        if prefix and words and words[-1].startswith(prefix):
            kind = words[-1].removeprefix(prefix)
            return f"favourite {language.favourites.get(kind, kind)}" if kind else None
        if len(words) > 1 and words[-1] in language.favourite_adjectives:
            kind = " ".join(words[:-1])
            return f"favourite {language.favourites.get(kind, kind)}"
        return None

    def _attribute_value(self, attribute: str, offset: int) -> Noun | None:
        kinds = {"phone number": "phone", "email": "address", "birthday": "day", "age": "age"}
        kind = kinds.get(attribute)
        starts = [offset]
        article = re.compile(r"(?:am|le|el) ").match(self._text, offset)
        if article is not None:
            starts.append(article.end())
        if kind is not None:
            return next((v for s in starts if (v := self._phrases.value(kind, s)) is not None), None)
        if attribute in ("height", "weight", "budget"):
            return self._phrases.value("amount", offset)
        noun = next(self._phrases.phrases(offset, False), None)
        if noun is None or noun.owner is not None or noun.determiner in ("indefinite", "numeral"):
            return None
        return noun if attribute != "name" or noun.is_proper or not noun.determiner else None

    def _predicate(self, subject: ClauseSubject, offset: int) -> Iterator[tuple[int, list[Fact]]]:
        """Yield what the subject is: a lasting state, an occupation, somebody's sister, the capital of a country."""
        for start in self._gaps(offset):
            yield from self._state(subject, start)
            if subject.is_thing:
                continue
            for noun in self._phrases.phrases(start):
                yield from self._identity(subject, noun)

    def _state(self, subject: ClauseSubject, start: int) -> Iterator[tuple[int, list[Fact]]]:
        for words in (2, 1):
            match = _STATE[words].match(self._text, start)
            family = self._language.states.get(match[0].lower()) if match is not None else None
            if match is None or family is None:
                continue
            if (family == "shop") != (subject.is_thing or (subject.relation is None and subject.owner is not None)):
                continue
            name = {"marital": "marital", "employment": "employment", "shop": "open or closed"}.get(family)
            aspect = f"{name} state of {normalise_name(subject.name)}" if name is not None else None
            yield match.end(), [Fact(subject.name, "is", match[0], aspect)]

    def _identity(self, subject: ClauseSubject, noun: Noun) -> Iterator[tuple[int, list[Fact]]]:
        words = self._language.words
        heads = noun.noun.split()
        name = subject.name
        if normalise_name(name) == normalise_name(noun.name):
            return
        if noun.determiner == "definite":
            match = re.match(r"(\S+) (?:von|der|des|de la|de l['’]|de los|du|de|del|d['’]) ?(.+)", noun.name)
            role = self._language.roles.get(match[1].lower()) if match is not None else None
            if match is not None and role is not None and subject.is_named:
                other = re.sub(r"^(?:la|le|les|l['’]|el|los|las) ?(?=[^\W\d_a-z])", "", match[2])
                yield noun.end, [_fact(name, f"is {role} of", other)]
        elif noun.determiner == "possessive":
            role = self._role_of(noun.name)
            if role is not None and noun.owner is not None and subject.is_named and noun.owner != name:
                yield noun.end, [_fact(name, f"is {role} of", noun.owner)]
        elif noun.determiner == "indefinite":
            if heads[0] not in words["vague"] and heads[-1] not in words["vague"]:
                yield noun.end, [Fact(name, "is a", noun.name)]
        elif noun.determiner == "":
            if heads[-1] in words["persons"] or heads[0] in words["persons"] or self._ends_like_person(heads[-1]):
                yield noun.end, [Fact(name, "is a", noun.name)]
            elif subject.relation is not None and not subject.is_named and noun.is_proper:
                role, owner = subject.relation
                yield noun.end, [_fact(noun.name, f"is {role} of", owner)]
            elif subject.person == _FIRST and noun.is_proper:
                yield noun.end, [_fact(name, "has name", noun.name)]

    def _ends_like_person(self, word: str) -> bool:
        endings = self._language.words["person_endings"] - {"-"}
        return bool(endings) and word.endswith(tuple(endings))

    def _facts_of(self, parts: tuple[str, ...], found: ClauseMatch, subject: ClauseSubject) -> Iterator[Fact]:
        """Yield the facts that a form states with the objects that were found."""
        by_name = {kind.upper(): nouns for kind, nouns in found.objects}
        by_name |= {letter: nouns for letter, (_, nouns) in zip("OPQ", found.objects, strict=False)}
        if found.objects:
            by_name["LAST"] = found.objects[-1][1]
        if parts == ("NAMED",):
            yield from self._naming(subject, by_name["O"][0])
            return
        if parts[2].startswith('"'):
            aspect = f"{parts[3]} of {normalise_name(subject.name)}" if len(parts) > 3 else None
            yield Fact(subject.name, parts[1], parts[2].strip('"'), aspect)
            return
        heads = [subject.name] if parts[0] == "S" else [noun.name for noun in by_name[parts[0]]]
        for head in heads:
            for noun in by_name[parts[2]]:
                yield from self._fact_about(head, parts, noun, subject, len(by_name[parts[2]]) == 1)

    def _fact_about(
        self, head: str, parts: tuple[str, ...], noun: Noun, subject: ClauseSubject, is_single: bool
    ) -> Iterator[Fact]:
        relation = parts[1]
        if relation == "NAMED AS":
            role = self._role_of(noun.name)
            yield Fact(head, "is a", noun.name) if role is None else _fact(head, f"is {role} of", subject.name)
            return
        if relation == "born DATE_ON":
            relation = "born on" if "-" in noun.name else "born in"
        elif relation == "WORKS_IN":
            is_place = noun.noun in self._language.words["places"] or not noun.is_proper
            relation = "works in" if is_place and noun.noun[:1] != "" and not self._is_firm(noun) else "works at"
        if normalise_name(head) == normalise_name(noun.name):
            return
        if len(parts) > 3:
            yield Fact(head, relation, noun.name, f"{parts[3]} of {normalise_name(head)}")
        else:
            fact = _fact(head, relation, noun.name)
            yield fact if is_single or relation in ("likes", "loves", "hates") else Fact(head, relation, noun.name)

    def _is_firm(self, noun: Noun) -> bool:
        """Return whether a common noun without an article stands for a firm or an office: "trabajo en correos"."""
        return not noun.determiner and noun.noun not in self._language.words["places"]

    def _naming(self, subject: ClauseSubject, noun: Noun) -> Iterator[Fact]:
        if subject.relation is not None and not subject.is_named:
            role, owner = subject.relation
            yield _fact(noun.name, f"is {role} of", owner)
        elif normalise_name(subject.name) != normalise_name(noun.name):
            yield _fact(subject.name, "has name", noun.name)


def _is_now(time: TimeExpression, at: float) -> bool:
    return time.valid_from is not None and time.valid_to is not None and time.valid_from <= at < time.valid_to


def _fact(subject: str, relation: str, value: str) -> Fact:
    """Return a fact with the aspect that the rules for English give it."""
    return Fact(subject, relation, value, aspect_of(Fact(subject, relation, value)))
