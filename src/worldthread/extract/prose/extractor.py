"""A reader of prose that needs no model: sentences as theses, what they name, and plain statements as facts."""

from __future__ import annotations

import re
from typing import Final

from worldthread.extract.prose.clauses import ClauseExtractor, Clauses
from worldthread.extract.prose.entities import AnnotatedPassage, Entity, find_entities, passages
from worldthread.extract.prose.patterns import doubtful
from worldthread.extract.prose.phrases import USER, Phrases, Referents
from worldthread.extract.prose.sentences import Sentence
from worldthread.extract.prose.spans import tokens_of
from worldthread.extract.prose.words import WORDS
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Ending, Extraction, Fact, Statement, Thesis

_MOST_PHRASES: Final = 5  # common noun phrases among the objects of one thesis
_MOST_OBJECTS: Final = 40
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_PRONOUN: Final = re.compile(r"\W*(?:(?P<person>He|She|His|Her)|(?P<thing>It|Its))\b")
_FIRST_PERSON: Final = re.compile(r"\b(?:I|My|my|me)\b")
_GENDER: Final = re.compile(r"\b(?:he|she|his|her)\b", re.IGNORECASE)
_VERB: Final = re.compile(r"[a-z]+")
_QUOTES: Final = re.compile(r"[\"“”]|``|''")
_NEGATED: Final = (
    (re.compile(r" no longer(?= )"), ""),
    (re.compile(r" (?:does not|doesn['’]t|do not|don['’]t)(?: (?:really|currently))?(?= [a-z])"), ""),
    (
        re.compile(r"(?<= )(is|are|am) not(?: currently)?(?= )|(?<= )(is|are)n['’]t(?= )|(?<=['’][sm]) not(?= )"),
        r"\1\2",
    ),
    (re.compile(r" (?:has |have )?(?:just )?(?:stopped|quit|ceased)(?= [a-z]+ing )"), " is"),
)
_ANY_MORE: Final = re.compile(r",? (?:any ?more|any longer|now)(?=\W*$)")
_LEFT_WORK: Final = re.compile(
    r" (?:has |have |['’]ve )?(?:just )?(?:quit(?: (?:my|his|her|the) job at)?|resigned from|retired from|"
    r"was fired from|left (?:my|his|her|the) job at|left) (?=\S)"
)
_LEFT_HOME: Final = re.compile(r" (?:has |have |['’]ve )?(?:just )?moved (?:away from|out of) (?=\S)")
_DIVORCED: Final = re.compile(
    r" (?:has |have |['’]ve )?(?:just )?(?:got )?(?:divorced(?: from)?|separated from) (?=\S)"
)
_LEAVING: Final = (
    (_LEFT_WORK, ("works for", "works at")),
    (_LEFT_HOME, ("lives in",)),
    (_DIVORCED, ("married to",)),
)
_CLOSING: Final = "\"'”’»)] "
_DONE: Final = re.compile(r"\W*$")


class ProseExtractor:
    """Reads prose by rule: deterministic, without a model, and with nothing to download.

    * Every sentence is a thesis, with the names, numbers, dates and noun phrases in it as objects; the title in the
      first line, and whom a pronoun at the beginning means, are added where that is clear.
    * Plain statements are facts (:mod:`worldthread.extract.prose.patterns`). A thesis that says nothing else has their
      aspects, so that it ends with them; with several, it is stated once for each.
    * Where one text states an aspect twice, the later sentence counts: the earlier fact, and a thesis that says nothing
      else, are left out. The text of the episode keeps them.
    * "No longer", "stopped", "does not": the fact that is denied ends, and the thesis that says just that.
    """

    name: Final = "prose/1"
    concurrency: Final = 1

    def extract(self, text: str) -> Extraction:
        """What ``text`` states, from the text alone; never raises for the content of a text."""
        if _CONTROL.search(text):
            text = _CONTROL.sub(_plain_space, text)
        groups = [group for passage in passages(text) for group in _PassageExtractor(passage).read()]
        return _settled(groups)

    def outdate(self, text: str, extraction: Extraction, view: GraphView) -> Extraction:
        """``reading`` as it is: its aspects and endings say all."""
        return extraction


def _plain_space(match: re.Match[str]) -> str:
    return match[0] if match[0] in "\n\r\t\x0b\x0c\x85\x1c\x1d\x1e" else " "


class _PassageExtractor:
    """Reads the sentences of one passage in order, keeping track of whom pronouns mean."""

    def __init__(self, passage: AnnotatedPassage) -> None:
        self._passage = passage
        topic = passage.topic
        self._topic = topic
        context = passage.context
        self._topic_is_person = topic is not None and (topic in context.persons or context.is_person(topic))
        words = topic.split() if topic is not None else []
        proper = sum(w[0].isupper() or w[0].isdigit() for w in words) * 2 > len(words)
        # a text about something named: it uses the name, or the name is no everyday word ("Notes")
        self._about = len(words) > 3 or (
            proper and any(e.name == topic for _, found in passage.sentences for e in found)
        )
        self._classes: set[str] = set()
        if len(words) > 1 and words[-1].lower() in WORDS["impersonal"]:
            self._classes.add(words[-1].lower())
        self._subject = topic if proper else None
        self._default = self._subject
        self._subject_is_person = self._topic_is_person
        self._rivals = False
        self._quoted = False
        self._paragraph = -1
        self._genders: dict[str, bool] = {}

    def read(self) -> list[tuple[list[Statement], list[Ending]]]:
        """What each sentence of the passage states and ends."""
        return [self._read(sentence, found) for sentence, found in self._passage.sentences]

    def _read(self, sentence: Sentence, found: list[Entity]) -> tuple[list[Statement], list[Ending]]:
        if sentence.paragraph != self._paragraph:
            self._paragraph, self._quoted = sentence.paragraph, False
            self._subject, self._subject_is_person, self._rivals = self._default, self._topic_is_person, False
        quoted = self._quoted
        if len(_QUOTES.findall(sentence.text)) % 2:
            self._quoted = not quoted
            quoted = True
        referents = self._referents(sentence)
        clauses = Clauses()
        endings: list[Ending] = []
        if not quoted and not doubtful(sentence.text):
            clauses = ClauseExtractor(Phrases(sentence.text, found, referents), sentence.body).read()
            if not clauses.facts:
                endings = self._endings(sentence, referents)
        objects = self._objects(sentence, found, referents, clauses)
        aspects = {fact.aspect for fact in clauses.facts if fact.aspect is not None} if clauses.whole else set()
        theses = [Thesis(sentence.text, objects, aspect) for aspect in sorted(aspects)] or [
            Thesis(sentence.text, objects)
        ]
        self._follow(sentence, found, clauses.facts)
        # a question states nothing
        is_question = sentence.text.rstrip(_CLOSING).endswith(("?", "？"))
        stated: list[Statement] = [] if is_question else [*clauses.facts, *theses]
        return stated, endings

    def _referents(self, sentence: Sentence) -> Referents:
        """Whom pronouns of ``sentence`` mean: the subject of the one before, unless it names another person."""
        person = self._subject if self._subject_is_person and not self._rivals else None
        if person is None and self._topic_is_person and self._subject == self._topic:
            person = self._topic
        thing = None if self._subject_is_person else self._subject
        gender = _GENDER.search(sentence.text)
        if person is not None and gender is not None:
            female = gender[0].lower() in ("she", "her")
            if self._genders.setdefault(person, female) != female:
                person = None
        classes = frozenset(self._classes)
        return Referents(sentence.speaker or USER, person, thing, self._topic, classes, not self._about)

    def _objects(
        self, sentence: Sentence, found: list[Entity], referents: Referents, clauses: Clauses
    ) -> tuple[str, ...]:
        """What a thesis speaks of: names first, then common nouns, then who is meant, then the topic."""
        names: dict[str, str] = {}
        phrases = 0
        for entity in found:
            phrases += entity.kind == "phrase"
            if entity.kind != "phrase" or phrases <= _MOST_PHRASES:
                names.setdefault(normalise_name(entity.name), entity.name)
        pronoun = _PRONOUN.match(sentence.text, sentence.body)
        meant = None if pronoun is None else (referents.person if pronoun["person"] else referents.thing)
        speaks = sentence.speaker is not None or _FIRST_PERSON.search(sentence.text) is not None
        told = [n for f in clauses.facts for n in ((f.subject,) if f.relation == "is" else (f.subject, f.object))]
        for name in (meant, *told, referents.speaker if speaks else None):
            if name is not None:
                names.setdefault(normalise_name(name), name)
        found_names = list(names.values())[:_MOST_OBJECTS]
        if self._topic is not None and normalise_name(self._topic) not in names:
            found_names.append(self._topic)
        return tuple(found_names)

    def _follow(self, sentence: Sentence, found: list[Entity], facts: tuple[Fact, ...]) -> None:
        """Take note of the subject of ``sentence``, which pronouns of the next may mean."""
        pronoun = _PRONOUN.match(sentence.text, sentence.body)
        if pronoun is None:
            first = found[0] if found else None
            named = first is not None and first.kind in ("name", "person", "title")
            opening = sentence.text[sentence.body : first.start] if first is not None else "?"
            if named and first is not None and opening.strip(" \"“'`«") in ("", "The", "A"):
                self._subject = first.name
                self._subject_is_person = first.kind == "person" or (
                    first.name == self._topic and self._topic_is_person
                )
                if sentence.text[first.end : first.end + 2] in ("'s", "’s") or sentence.text.startswith(
                    " and ", first.end
                ):
                    self._subject = None
            elif self._topic_is_person or any(f.subject == self._topic for f in facts):
                self._subject, self._subject_is_person = self._topic, self._topic_is_person
            else:
                self._subject, self._subject_is_person = None, False
        for fact in facts:
            if fact.subject == self._topic and fact.relation.endswith(" a"):
                self._classes.add(fact.object.rpartition(" ")[2].lower())
        others = {e.name for e in found if e.kind == "person"} - {self._subject}
        self._rivals = bool(others)

    def _endings(self, sentence: Sentence, referents: Referents) -> list[Ending]:
        """The older statements that a sentence such as "Anna no longer lives in Rome" ends."""
        for pattern, instead in _NEGATED:
            match = pattern.search(sentence.text, sentence.body)
            if match is None:
                continue
            behind = sentence.text[match.end() :]
            if "does" in match[0]:
                behind = _VERB.sub(lambda verb: _third_person(verb[0]), behind, count=1)
            positive = sentence.text[: match.start()] + match.expand(instead) + behind
            positive = _ANY_MORE.sub("", positive)
            found = self._entities(positive, sentence.body)
            clauses = ClauseExtractor(Phrases(positive, found, referents), sentence.body).read()
            if not clauses.whole:
                return []
            thesis = Thesis(positive, self._objects(sentence, found, referents, clauses))
            statements: list[Statement] = [*clauses.facts, thesis]
            return [Ending(one, sentence.text) for one in statements]
        left = self._left(sentence, referents)
        ended: list[Statement] = [*left]
        ended += [
            Thesis(f"{fact.subject} {fact.relation} {fact.object}.", (fact.subject, fact.object)) for fact in left
        ]
        return [Ending(one, sentence.text) for one in ended]

    def _entities(self, text: str, body: int) -> list[Entity]:
        return find_entities(text, tokens_of(text, body), self._passage.context, body)

    def _left(self, sentence: Sentence, referents: Referents) -> list[Fact]:
        """The facts that leaving a job, a home or a spouse ends."""
        text = sentence.text
        if not any(pattern.search(text, sentence.body) for pattern, _ in _LEAVING):
            return []
        phrases = Phrases(text, self._entities(text, sentence.body), referents)
        for subjects, place in phrases.subjects(sentence.body):
            for pattern, relations in _LEAVING:
                match = pattern.match(text, place)
                other = phrases.phrase(match.end()) if match is not None else None
                if other is None or not other.is_proper or _DONE.match(text, other.end) is None:
                    continue
                facts = [Fact(subjects[0].full_name, relation, other.name) for relation in relations]
                if relations == ("married to",):
                    facts.append(Fact(other.name, "married to", subjects[0].full_name))
                return facts
        return []


def _third_person(verb: str) -> str:
    """ "lives" for "live"."""
    if verb == "have":
        return "has"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "o")) else "s")


def _settled(groups: list[tuple[list[Statement], list[Ending]]]) -> Extraction:
    """One reading of what the sentences of a text state and end: of the same aspect, the last sentence counts."""
    last: dict[str, int] = {}
    ended: dict[Statement, int] = {}
    for number, (statements, endings) in enumerate(groups):
        last.update((s.aspect, number) for s in statements if s.aspect is not None)
        ended.update((ending.statement, number) for ending in endings)
    final = {
        aspect: {s for s in groups[number][0] if s.aspect == aspect} for aspect, number in last.items()
    }  # a repetition of what counts is no older statement
    kept: dict[tuple[Statement, str | None], Statement] = {}
    for number, (statements, _) in enumerate(groups):
        stale = {
            s
            for s in statements
            if (s.aspect is not None and last[s.aspect] != number and s not in final[s.aspect])
            or ended.get(s, -1) > number
        }
        for statement in statements:
            if statement not in stale:
                kept.setdefault((statement, statement.aspect), statement)
    all_endings = dict.fromkeys(ending for _, given in groups for ending in given)
    return Extraction(ProseExtractor.name, tuple(kept.values()), tuple(all_endings))
