"""Reads a passage in a language that has a table: theses with the noun phrases in them, facts, and what ended."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

from worldthread.extract.languages.clauses import ClauseSubject, StatementReader, Statements
from worldthread.extract.languages.objects import objects_of
from worldthread.extract.languages.phrases import NounPhrases, People
from worldthread.extract.languages.tables import Language, language
from worldthread.extract.prose.entities import AnnotatedPassage
from worldthread.extract.prose.sentences import LONGEST_SENTENCE, Sentence
from worldthread.extract.times import end_stated, time_expressions
from worldthread.names import normalise_name
from worldthread.types import Ending, Fact, Statement, Thesis

Group: TypeAlias = tuple[list[Statement], list[Ending]]
"""What a sentence states and what it ends."""

_CLOSING: Final = "\"'”’»)] "
_WORDS: Final = re.compile(r"\w+")
_QUOTES: Final = re.compile(r"[\"“”„«»]|``|''")
_ORDINAL: Final = re.compile(r"(?:^|[^\w.])\d{1,2}\.$")
_LAST_WORD: Final = re.compile(r"([^\s(\"'„«]+)\.$")
_FEMALE: Final = frozenset(
    {"wife", "sister", "mother", "daughter", "girlfriend", "grandmother", "aunt", "niece", "granddaughter"}
)
_MALE: Final = frozenset(
    {"husband", "brother", "father", "son", "boyfriend", "grandfather", "uncle", "nephew", "grandson"}
)
_MOST_OBJECTS: Final = 40


def read_passage(passage: AnnotatedPassage, speaker: str, code: str, at: float | None = None) -> list[Group]:
    """Return what the sentences of a passage state and end.

    Args:
        passage: the passage; its entities, which follow the rules of English, are not used.
        speaker: the meaning of "ich", "je" and "yo" in sentences that name no speaker.
        code: the language of the passage, one of :data:`~worldthread.extract.languages.tables.LANGUAGES`.
        at: world time of the passage, against which times are resolved; ``None`` to resolve none.

    Returns:
        For each sentence its statements, facts before theses, and its endings.
    """
    reader = _PassageReader(passage, speaker, language(code), at)
    return [reader.read(sentence) for sentence in join_sentences((s for s, _ in passage.sentences), language(code))]


def join_sentences(sentences: Iterable[Sentence], table: Language) -> list[Sentence]:
    """Return the sentences, joined again where a full stop ends a date or an abbreviation of the language.

    Args:
        sentences: the sentences as English full stops divide them.
        table: the table of the language.

    Returns:
        The sentences.
    """
    joined: list[Sentence] = []
    for sentence in sentences:
        last = joined[-1] if joined else None
        if (
            last is None
            or last.paragraph != sentence.paragraph
            or len(last.text) > LONGEST_SENTENCE
            or not _continues(last.text, sentence, table)
        ):
            joined.append(sentence)
        else:
            joined[-1] = last._replace(text=f"{last.text} {sentence.text[sentence.body :]}", end=sentence.end)
    return joined


def _continues(text: str, sentence: Sentence, table: Language) -> bool:
    following = _WORDS.match(sentence.text, sentence.body)
    if following is not None and _ORDINAL.search(text) is not None:
        return following[0].lower() in table.months
    word = _LAST_WORD.search(text)
    return word is not None and word[1].lower() in table.words["abbreviations"]


class _PassageReader:
    """Reads the sentences of one passage in order, keeping track of whom pronouns mean.

    Args:
        passage: the passage.
        speaker: the meaning of the first person in sentences that name no speaker.
        table: the table of the language.
        at: world time of the passage; ``None`` to resolve no times.
    """

    def __init__(self, passage: AnnotatedPassage, speaker: str, table: Language, at: float | None) -> None:
        self._at = at
        self._topic = passage.topic
        self._speaker = speaker
        self._language = table
        self._person: str | None = None
        self._genders: dict[str, str] = {}
        self._quoted = False
        self._paragraph = -1

    def read(self, sentence: Sentence) -> Group:
        """Return what a sentence states and what it ends."""
        if sentence.paragraph != self._paragraph:
            self._paragraph, self._quoted, self._person = sentence.paragraph, False, None
        quoted = self._quoted
        if len(_QUOTES.findall(sentence.text)) % 2:
            self._quoted = not quoted
            quoted = True
        read = Statements()
        endings: list[Ending] = []
        times = self._times(sentence.text)
        if not quoted and not self._is_doubtful(_without(sentence.text, times)[sentence.body :]):
            read = self._statements(sentence.text, sentence)
            if not read.facts and not read.ended:
                endings = self._denied(sentence)
            endings += self._endings(sentence, read.ended, [s for fact in read.ended for s in (fact, _thesis_of(fact))])
        self._keep_person(read)
        objects = self._objects(sentence.text, sentence, read.facts)
        aspects = {fact.aspect for fact in read.facts if fact.aspect is not None} if read.whole else set()
        theses = [Thesis(sentence.text, objects, aspect) for aspect in sorted(aspects)] or [
            Thesis(sentence.text, objects)
        ]
        is_question = sentence.text.rstrip(_CLOSING).endswith("?")
        if is_question or (sentence.speaker is not None and not read.facts and self._is_small_talk(sentence)):
            return [], []
        return [*read.facts, *theses], endings

    def _times(self, text: str) -> dict[int, int]:
        """Return where each time that a sentence names begins and ends."""
        if self._at is None:
            return {}
        found = time_expressions(text, self._at, language=self._language.code)
        return {time.start: time.end for time in found if time.role != "recurring"}

    def _is_doubtful(self, text: str) -> bool:
        if self._language.doubt_except is not None:
            text = self._language.doubt_except.sub("", text)
        return self._language.doubt.search(text) is not None

    def _statements(self, text: str, sentence: Sentence, is_denied: bool = False) -> Statements:
        # one person of whom nothing shows the gender may be meant by either pronoun
        gender = self._genders.get(self._person or "")
        male = None if gender == "female" else self._person
        female = None if gender == "male" else self._person
        people = People(sentence.speaker or self._speaker, male, female)
        times = {} if is_denied else self._times(text)
        phrases = NounPhrases(self._language, text, sentence.body, people, is_denied, times)
        read = StatementReader(phrases, None if is_denied else self._at).read()
        if read.subject is not None and (shown := self._gender_shown(read.subject, text, sentence.body)):
            self._genders.setdefault(read.subject.name, shown)
        return read

    def _gender_shown(self, subject: ClauseSubject, text: str, body: int) -> str | None:
        """Return the gender that "my sister" or a pronoun at the beginning shows."""
        role = subject.relation[0] if subject.relation is not None else None
        if role is None and subject.name == self._person:
            return next((g for g in ("male", "female") if self._language.pronouns[g].match(text, body)), None)
        return "female" if role in _FEMALE else "male" if role in _MALE else None

    def _keep_person(self, read: Statements) -> None:
        subject = read.subject
        if subject is not None and subject.person == 1:
            is_person = subject.is_named or subject.relation is not None
            self._person = subject.name if is_person and not subject.is_thing else None
        elif subject is None:
            self._person = None

    def _denied(self, sentence: Sentence) -> list[Ending]:
        """Return the endings of a sentence such as "Ich wohne nicht mehr in Bonn"."""
        head, text = sentence.text[: sentence.body], sentence.text[sentence.body :]
        found = False
        for pattern, instead in self._language.negations:
            text, count = pattern.subn(instead, text)
            found = found or count > 0
        if not found:
            return []
        text = self._language.negation_rest.sub("", text)
        if self._language.elision is not None:
            text = self._language.elision.sub(r"\1'", text)
        if text and text[0].islower() and sentence.text[sentence.body].isupper():
            text = text[0].upper() + text[1:]
        read = self._statements(head + text, sentence, is_denied=True)
        if not read.facts or not read.whole:
            return []
        facts = [
            Fact(fact.subject, relation, fact.object)
            for fact in read.facts
            for relation in ("works at", "works for", "works in")
            if fact.relation in ("works at", "works for", "works in")
        ] or list(read.facts)
        thesis = Thesis(head + text, self._objects(head + text, sentence, read.facts))
        ended: list[Statement] = [*facts, thesis]
        return self._endings(sentence, facts, ended)

    def _endings(self, sentence: Sentence, facts: Iterable[Fact], ended: Iterable[Statement]) -> list[Ending]:
        """Return the endings of what a sentence ends, at the time that it states."""
        names = [fact.object for fact in facts]
        end = end_stated(sentence.text[sentence.body :], self._at, names, language=self._language.code)
        return [Ending(statement, sentence.text, end) for statement in ended]

    def _objects(self, text: str, sentence: Sentence, facts: tuple[Fact, ...]) -> tuple[str, ...]:
        """Return the objects of the thesis of a sentence: its noun phrases, the names in its facts, the speaker."""
        names: dict[str, str] = {}
        about_speaker = sentence.speaker is not None or any(
            word.lower() in self._language.words["first_person"] | self._language.words["possessive_first"]
            for word in re.findall(r"\w+'?", text[sentence.body :])
        )
        in_facts = [n for f in facts for n in ((f.subject,) if f.relation == "is" else (f.subject, f.object))]
        speaker = [sentence.speaker or self._speaker] if about_speaker else []
        for name in (*objects_of(self._language, text, sentence.body), *in_facts, *speaker):
            names.setdefault(normalise_name(name), name)
        found = list(names.values())[:_MOST_OBJECTS]
        if self._topic is not None and normalise_name(self._topic) not in names:
            found.append(self._topic)
        return tuple(found)

    def _is_small_talk(self, sentence: Sentence) -> bool:
        words = _WORDS.findall(sentence.text.lower(), sentence.body)
        return all(word in self._language.words["small_talk"] for word in words)


def _without(text: str, times: dict[int, int]) -> str:
    """Return a text with spaces in the place of its times, so that "bis Freitag" does not look like a doubt."""
    for start, end in times.items():
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _thesis_of(fact: Fact) -> Thesis:
    return Thesis(f"{fact.subject} {fact.relation} {fact.object}.", (fact.subject, fact.object))
