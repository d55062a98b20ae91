"""Extracts statements from prose without a model: sentences as theses with entities, plain statements as facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from worldthread.extract.base import USER
from worldthread.extract.language_detection import is_foreign
from worldthread.extract.possible_ends import with_possible_ends
from worldthread.extract.prose.clauses import ClauseExtractor, Clauses
from worldthread.extract.prose.entities import AnnotatedPassage, NamedEntity, annotated_passages, find_entities
from worldthread.extract.prose.key_values import heading_of, key_values
from worldthread.extract.prose.patterns import is_doubtful
from worldthread.extract.prose.phrases import Phrases, Referents
from worldthread.extract.prose.sentences import Sentence
from worldthread.extract.prose.spans import tokens_of
from worldthread.extract.prose.words import WORDS, is_program, third_person
from worldthread.extract.times import begun, end_stated, without_times
from worldthread.extract.whole_values import whole_statements
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Ending, Extraction, Fact, Statement, Thesis

_MOST_PHRASES: Final = 5  # common noun phrases among the objects of one thesis
_MOST_OBJECTS: Final = 40
_SIGNATURE: Final = re.compile(
    r"\n[ \t]*(?:(?:with |all |the |my |very |kind |warm |many ){0,4}"
    r"(?:best|regards|wishes|cheers|thanks|love|greetings|sincerely|yours|hugs|thank you|take care|see you)\b"
    r"(?: (?:a lot|again|all|always|ever|faithfully|for now|from|greetings|in advance|of|regards|sincerely|so much|"
    r"soon|to|truly|very much|wishes|you)){0,3}[,.!]?)[ \t]*\n\s*"
    r"(?P<name>(?-i:[A-Z])[\w'’-]{1,20}(?: (?-i:[A-Z])[\w.'’-]{0,20}){0,2})\s*$",
    re.IGNORECASE,
)
LONGEST_NOTE: Final = 500
"""Characters of a text that may be a note."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_PRONOUN: Final = re.compile(r"\W*(?:(?P<person>He|She|His|Her)|(?P<thing>It|Its))\b")
_FIRST_PERSON: Final = re.compile(r"\b(?:I|My|my|me)\b")
_GENDER: Final = re.compile(r"\b(?:he|she|his|her)\b", re.IGNORECASE)
_VERB: Final = re.compile(r"[a-z]+")
_LOWER_WORD: Final = re.compile(r"(?<![\w'’.-])[a-z][\w-]*+")
_WORDS: Final = re.compile(r"\w+(?:'\w+)*")
_QUOTES: Final = re.compile(r"[\"“”]|``|''")
_NEGATIONS: Final = (
    (re.compile(r" no longer(?= )"), ""),
    (re.compile(r" (?:does not|doesn['’]t|do not|don['’]t)(?: (?:really|currently))?(?= [a-z])"), ""),
    (
        re.compile(r"(?<= )(is|are|am) not(?: currently)?(?= )|(?<= )(is|are)n['’]t(?= )|(?<=['’][sm]) not(?= )"),
        r"\1\2",
    ),
    (re.compile(r" (?:has |have )?(?:just )?(?:stopped|quit|ceased)(?= [a-z]+ing )"), " is"),
)
_ANY_MORE: Final = re.compile(r",? (?:any ?more|any longer|now)(?=\W*$)")
_LEAVES_WORK: Final = re.compile(
    r" (?:has |have |['’]ve )?(?:just )?(?:quit(?: (?:my|his|her|the) job at)?|resigned from|retired from|"
    r"was fired from|left (?:my|his|her|the) job at|left) (?=\S)"
)
_LEAVES_HOME: Final = re.compile(r" (?:has |have |['’]ve )?(?:just )?moved (?:away from|out of) (?=\S)")
_LEAVES_SPOUSE: Final = re.compile(
    r" (?:has |have |['’]ve )?(?:just )?(?:got )?(?:divorced(?: from)?|separated from) (?=\S)"
)
_LEAVING: Final = (
    (_LEAVES_WORK, ("works for", "works at")),
    (_LEAVES_HOME, ("lives in",)),
    (_LEAVES_SPOUSE, ("married to",)),
)
_ENDS: Final = (".", "!", "?", "…", ":", ";", "")
_CLOSING: Final = "\"'”’»)] "
_NAMES: Final = re.compile(r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,2}[.!?]*")
_SENTENCE_END: Final = re.compile(r"\W*$")


class ProseExtractor:
    """Extracts statements from prose by rule: deterministic, without a model, and with nothing to download.

    A :class:`~worldthread.extract.base.Extractor`. Thread-safe.

    * A passage in another language than English has theses and no facts.
    * Every sentence but a question is a thesis. Its objects are the names, numbers, dates and noun phrases in it, the
      title of the passage, and the person or thing that a pronoun at its beginning means, where that is clear.
    * Plain statements are facts (:mod:`worldthread.extract.prose.patterns`). A thesis that says nothing else has their
      aspects, so that it ends with them; with several aspects, the thesis is stated once for each.
    * When a text states an aspect twice, the later sentence counts. The earlier fact, and a thesis that says nothing
      else, are left out; the text of the episode keeps them.
    * "No longer", "stopped" and "does not" end the fact that is denied, and the thesis that says nothing else.
    """

    name: Final = "prose/8"
    concurrency: Final = 1
    settles_locally: Final = True
    """Whether :meth:`outdate` asks neither a model nor a server, so that others may wait for it."""

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        """Return what a text states and which statements it denies; never raises for the content of a text.

        Args:
            text: the text; its first line may be a title. In a message, which begins with the speaker's label, every
                thesis begins with the label.
            speaker: the meaning of "I" where the text does not show who speaks; empty for :data:`USER
                <worldthread.extract.base.USER>`.
            at: world time of the text, against which "in March" is understood.

        Returns:
            An extraction in the order of the sentences, the facts of a sentence before its theses, without failures.
        """

        def reader(passage: AnnotatedPassage, name: str, states_facts: bool) -> PassageExtractor:
            return PassageExtractor(passage, name, states_facts, at=at)

        return merged(ProseExtractor.name, statements_of(text, speaker, reader, reader))

    def outdate(
        self, text: str, extraction: Extraction, view: GraphView, speaker: str = "", at: float | None = None
    ) -> Extraction:
        """Return ``extraction``: its aspects and endings end all older statements.

        Args:
            text: not used.
            extraction: what :meth:`extract` returned.
            view: what the memory holds: what began after its end is said to end with the text.
            speaker: not used.
            at: not used.

        Returns:
            ``extraction`` with times of endings that are possible.
        """
        return with_possible_ends(extraction, view)


def statements_of(
    text: str,
    speaker: str,
    read_message: Callable[[AnnotatedPassage, str, bool], PassageExtractor],
    read_document: Callable[[AnnotatedPassage, str, bool], PassageExtractor],
) -> list[tuple[list[Statement], list[Ending]]]:
    """Return what the sentences of a text state and end.

    Args:
        text: the text.
        speaker: who says it; empty when nobody is known to say it.
        read_message: makes what reads a message; in another language than English its third argument is ``False``, and
            it states no facts.
        read_document: makes what reads other texts, likewise.

    Returns:
        The statements and endings of each sentence, in order.
    """
    text = without_controls(text)
    groups: list[tuple[list[Statement], list[Ending]]] = []
    for passage in annotated_passages(text, speaker):
        is_message = bool(passage.sentences) and passage.sentences[0][0].speaker == speaker != ""
        read = read_message if is_message else read_document
        said_by = speaker or signature_of(text) or USER
        reader = read(passage, said_by, not is_foreign(_running_text(passage)))
        groups += _whole(reader.extract(), passage, reader.persons, said_by)
    return groups


def _whole(
    groups: list[tuple[list[Statement], list[Ending]]],
    passage: AnnotatedPassage,
    persons: frozenset[str],
    speaker: str,
) -> list[tuple[list[Statement], list[Ending]]]:
    """Return what the sentences of a passage state and end, with whole values."""
    said = [sentence.text[sentence.body :] for sentence, _ in passage.sentences]
    for number, (sentence, found) in enumerate(passage.sentences[1:], 1):
        is_named = _NAMES.fullmatch(said[number]) is not None and not _is_small_talk(sentence, found)
        if is_named and said[number - 1].endswith(("!", "?")):
            said[number - 1] += f" {said[number]}"  # "My favourite site is Yahoo! Japan."
    texts = said if len(said) == len(groups) else [" ".join(said)] * len(groups)
    if passage.sentences:
        speaker = passage.sentences[0][0].speaker or speaker
    return [whole_statements(*group, text, persons, speaker) for group, text in zip(groups, texts, strict=True)]


def signature_of(text: str) -> str | None:
    r"""Return who signed a letter: "Anna Rossi" after "Best wishes," in its last lines.

    >>> signature_of("I live in Rome now.\n\nBest wishes,\nAnna Rossi\n")
    'Anna Rossi'

    Args:
        text: a text, which may be a letter.

    Returns:
        The name; ``None`` when the text ends like no letter.
    """
    match = _SIGNATURE.search(text)
    return None if match is None else match["name"]


def _running_text(passage: AnnotatedPassage) -> str:
    """Return the text of a passage without labels and without its title, which may be in another language."""
    text = " ".join(sentence.text[sentence.body :] for sentence, _ in passage.sentences)
    return text if passage.topic is None else text.replace(passage.topic, " ")


def without_controls(text: str) -> str:
    """Return a text with a space for each control character but those that end lines."""
    return _CONTROL.sub(_space_for_control, text)


def _space_for_control(match: re.Match[str]) -> str:
    return match[0] if match[0] in "\n\r\t\x0b\x0c\x85\x1c\x1d\x1e" else " "


def is_question(sentence: Sentence) -> bool:
    """Return whether a sentence ends with a question mark, closing quotes and brackets aside.

    Args:
        sentence: the sentence.
    """
    return sentence.text.rstrip(_CLOSING).endswith(("?", "？"))


class PassageExtractor:
    """Extracts the sentences of one passage in order, keeping track of whom pronouns mean.

    Args:
        passage: the passage.
        speaker: the meaning of "I" in sentences that name no speaker.
        states_facts: whether its plain statements are read; not in a language without rules.
        at: world time of the text; ``None`` where that is not known.
    """

    persons: frozenset[str] = WORDS["roles"] | WORDS["persons"]
    """Nouns for persons, whose names hold no place."""

    def __init__(
        self, passage: AnnotatedPassage, speaker: str, states_facts: bool = True, *, at: float | None = None
    ) -> None:
        self._passage = passage
        self._at = at
        self._states_facts = states_facts
        self._speaker = speaker
        topic = passage.topic
        self._topic = topic
        context = passage.context
        self._topic_is_person = topic is not None and (topic in context.persons or context.is_person(topic))
        words = topic.split() if topic is not None else []
        proper = sum(w[0].isupper() or w[0].isdecimal() for w in words) * 2 > len(words)
        # a passage is about its title when it uses the name, or the title is long; "Notes" is no topic
        self._is_about_topic = len(words) > 3 or (
            proper and any(e.name == topic for _, found in passage.sentences for e in found)
        )
        # in a note "the gym" is one that its reader knows; in a longer text it is one that was spoken of before
        texts = [sentence.text for sentence, _ in passage.sentences]
        self._is_note = sum(map(len, texts)) <= LONGEST_NOTE or (
            sum(_FIRST_PERSON.search(text) is not None for text in texts) * 5 >= len(texts)
        )
        self._common_words = set(_LOWER_WORD.findall(" ".join(texts)))  # "Default" at a beginning is no name
        self._about = topic or (heading_of(texts[0]) if len(texts) > 1 and self._is_note else None)
        self._classes: set[str] = set()
        if len(words) > 1 and words[-1].lower() in WORDS["impersonal"]:
            self._classes.add(words[-1].lower())
        self._subject = topic if proper else None
        self._default_subject = self._subject
        self._subject_is_person = self._topic_is_person
        self._is_told_as_thing = False  # of a subject that is not the topic
        self._other_person_named = False
        self._quoted = False
        self._paragraph = -1
        self._genders: dict[str, bool] = {}

    def extract(self) -> list[tuple[list[Statement], list[Ending]]]:
        """Return what each sentence of the passage states and ends."""
        return [self._extract_sentence(sentence, found) for sentence, found in self._passage.sentences]

    def _extract_sentence(self, sentence: Sentence, found: list[NamedEntity]) -> tuple[list[Statement], list[Ending]]:
        if sentence.paragraph != self._paragraph:
            self._paragraph, self._quoted = sentence.paragraph, False
            self._subject, self._subject_is_person = self._default_subject, self._topic_is_person
            self._other_person_named = False
        quoted = self._quoted
        if len(_QUOTES.findall(sentence.text)) % 2:
            self._quoted = not quoted
            quoted = True
        referents = self._referents(sentence)
        clauses, endings = Clauses(), list[Ending]()
        if self._states_facts and not (quoted or sentence.is_foreign or self._is_torn_off(sentence)):
            clauses, endings = self._statements(sentence, found, referents)
            if not clauses.facts and not endings:
                clauses = clauses._replace(facts=self._key_values(sentence), whole=False)
        objects = self._objects(sentence, found, referents, clauses)
        aspects = {fact.aspect for fact in clauses.facts if fact.aspect is not None} if clauses.whole else set()
        theses = [Thesis(sentence.text, objects, aspect) for aspect in sorted(aspects)] or [
            Thesis(sentence.text, objects)
        ]
        self._update_subject(sentence, found, clauses.facts)
        # a question states nothing, and neither does a greeting
        is_small_talk = sentence.speaker is not None and not clauses.facts and _is_small_talk(sentence, found)
        is_empty = is_question(sentence) or is_small_talk
        stated: list[Statement] = [] if is_empty else [*clauses.facts, *theses]
        return stated, endings

    def _key_values(self, sentence: Sentence) -> tuple[Fact, ...]:
        """Return what a line of a document such as "Wifi password: tulip-77" says; messages have no such lines."""
        if sentence.speaker is not None:
            return ()
        is_note = self._is_note and self._topic is None
        return tuple(key_values(sentence.text, self._about, is_note=is_note))

    def _is_torn_off(self, sentence: Sentence) -> bool:
        """Return whether a sentence is the last of a longer text and has no end: the text was cut to a length."""
        is_last = sentence is self._passage.sentences[-1][0]
        has_end = sentence.text.rstrip(_CLOSING)[-1:] in _ENDS
        return is_last and not has_end and not self._is_note and sentence.speaker is None

    def _statements(
        self, sentence: Sentence, found: list[NamedEntity], referents: Referents
    ) -> tuple[Clauses, list[Ending]]:
        """Return the plain statements of a sentence outside quotation marks, and what it ends."""
        if is_doubtful(sentence.text):
            return Clauses(), []
        clauses = ClauseExtractor(Phrases(sentence.text, found, referents), sentence.body).extract()
        if is_program(referents.speaker) or referents.is_in_long_text:  # nobody knows who "I" is there
            others = tuple(fact for fact in clauses.facts if fact.subject != referents.speaker)
            if referents.is_in_long_text:
                others = tuple(fact for fact in others if fact.subject.lower() not in self._common_words)
            clauses = clauses._replace(facts=others, whole=clauses.whole and others == clauses.facts)
        clauses = clauses._replace(facts=tuple(begun(clauses.facts, sentence.text[sentence.body :], self._at)))
        return clauses, [] if clauses.facts else self._endings(sentence, referents)

    def _referents(self, sentence: Sentence) -> Referents:
        """Return whom the pronouns of a sentence mean: the subject of the one before, if it names no other person."""
        person = self._subject if self._subject_is_person and not self._other_person_named else None
        if person is None and self._topic_is_person and self._subject == self._topic:
            person = self._topic
        is_thing = not self._subject_is_person and (self._subject == self._topic or self._is_told_as_thing)
        thing = self._subject if is_thing else None
        gender = _GENDER.search(sentence.text)
        if person is not None and gender is not None:
            female = gender[0].lower() in ("she", "her")
            if self._genders.setdefault(person, female) != female:
                person = None
        classes = frozenset(self._classes)
        return Referents(
            sentence.speaker or self._speaker,
            person,
            thing,
            self._topic,
            classes,
            not self._is_about_topic and (self._is_note or sentence.speaker is not None),
            sentence.speaker is not None,
        )

    def _objects(
        self, sentence: Sentence, found: list[NamedEntity], referents: Referents, clauses: Clauses
    ) -> tuple[str, ...]:
        """Return the objects of the thesis of a sentence.

        Args:
            sentence: the sentence.
            found: its entities.
            referents: whom its pronouns mean.
            clauses: its plain statements.

        Returns:
            The entities in order, then the meaning of a pronoun at the beginning, the names in the facts, the speaker
            and the topic; each once, with at most five common noun phrases, and at most 40 before the topic.
        """
        names: dict[str, str] = {}
        phrases = 0
        for entity in found:
            phrases += entity.kind == "phrase"
            if entity.kind != "phrase" or phrases <= _MOST_PHRASES:
                names.setdefault(normalise_name(entity.name), entity.name)
        pronoun = _PRONOUN.match(sentence.text, sentence.body)
        referent = None if pronoun is None else (referents.person if pronoun["person"] else referents.thing)
        is_about_speaker = sentence.speaker is not None or _FIRST_PERSON.search(sentence.text) is not None
        fact_names = [n for f in clauses.facts for n in ((f.subject,) if f.relation == "is" else (f.subject, f.object))]
        for name in (referent, *fact_names, referents.speaker if is_about_speaker else None):
            if name is not None:
                names.setdefault(normalise_name(name), name)
        found_names = list(names.values())[:_MOST_OBJECTS]
        if self._topic is not None and normalise_name(self._topic) not in names:
            found_names.append(self._topic)
        return tuple(found_names)

    def _update_subject(self, sentence: Sentence, found: list[NamedEntity], facts: tuple[Fact, ...]) -> None:
        """Keep the subject of a sentence, which pronouns of the next one may mean."""
        pronoun = _PRONOUN.match(sentence.text, sentence.body)
        if pronoun is None:
            first = found[0] if found else None
            named = first is not None and first.kind in ("name", "person", "title")
            opening = sentence.text[sentence.body : first.start] if first is not None else "?"
            if named and first is not None and opening.strip(" \"“'`«") in ("", "The", "A"):
                self._subject = first.name
                # nothing but its article or what is said of it tells a thing from a person: "Anna moved. It was late."
                is_described = any(f.subject == first.name and f.relation.endswith(" a") for f in facts)
                self._is_told_as_thing = is_described or bool(opening.strip())
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
        self._other_person_named = bool(others)

    def _endings(self, sentence: Sentence, referents: Referents) -> list[Ending]:
        """Return the endings of a sentence such as "Anna no longer lives in Rome", with the time that it states."""
        text = sentence.text[: sentence.body] + without_times(sentence.text[sentence.body :], self._at)
        for pattern, instead in _NEGATIONS:
            match = pattern.search(text, sentence.body)
            if match is None:
                continue
            rest = text[match.end() :]
            if "does" in match[0]:
                rest = _VERB.sub(lambda verb: third_person(verb[0]), rest, count=1)
            positive = text[: match.start()] + match.expand(instead) + rest
            positive = _ANY_MORE.sub("", positive)
            found = self._entities(positive, sentence.body)
            clauses = ClauseExtractor(Phrases(positive, found, referents), sentence.body).extract()
            if not clauses.whole:
                return []
            thesis = Thesis(positive, self._objects(sentence, found, referents, clauses))
            return self._ended(sentence, clauses.facts, [*clauses.facts, thesis], referents.speaker)
        left = self._facts_left_behind(sentence._replace(text=text), referents)
        theses = [
            Thesis(f"{fact.subject} {fact.relation} {fact.object}.", (fact.subject, fact.object)) for fact in left
        ]
        return self._ended(sentence, left, [*left, *theses], referents.speaker)

    def _ended(self, sentence: Sentence, facts: Iterable[Fact], ended: list[Statement], speaker: str) -> list[Ending]:
        """Return the endings of what a sentence ends, at the time that it states."""
        names = {name for fact in facts for name in (fact.subject, fact.object)} - {speaker}
        end = end_stated(sentence.text[sentence.body :], self._at, names)
        return [Ending(statement, sentence.text, end) for statement in ended]

    def _entities(self, text: str, body: int) -> list[NamedEntity]:
        return find_entities(text, tokens_of(text, body), self._passage.context, body)

    def _facts_left_behind(self, sentence: Sentence, referents: Referents) -> list[Fact]:
        """Return the facts that end when a sentence says that somebody leaves a job, a home or a spouse."""
        text = sentence.text
        if not any(pattern.search(text, sentence.body) for pattern, _ in _LEAVING):
            return []
        phrases = Phrases(text, self._entities(text, sentence.body), referents)
        for subjects, offset in phrases.subjects_at(sentence.body):
            for pattern, relations in _LEAVING:
                match = pattern.match(text, offset)
                other = phrases.phrase_at(match.end()) if match is not None else None
                if other is None or not other.is_proper or _SENTENCE_END.match(text, other.end) is None:
                    continue
                facts = [Fact(subjects[0].full_name, relation, other.name) for relation in relations]
                if relations == ("married to",):
                    facts.append(Fact(other.name, "married to", subjects[0].full_name))
                return facts
        return []


def _is_small_talk(sentence: Sentence, found: list[NamedEntity]) -> bool:
    """Return whether a sentence only greets, thanks, agrees or the like: "Hi Anna!", "Sounds great, thanks!"."""
    words = _WORDS.findall(sentence.text.lower().replace("’", "'"), sentence.body)
    if any(word in WORDS["greetings"] for word in words):
        names = {part for e in found if e.kind in ("person", "name") for part in _WORDS.findall(e.name.lower())}
        words = [word for word in words if word not in names]
    return all(word in WORDS["small_talk"] for word in words)


def merged(name: str, groups: list[tuple[list[Statement], list[Ending]]]) -> Extraction:
    """Return what the sentences of a text state and end as one extraction.

    Args:
        name: the name of the extractor.
        groups: the statements and endings of each sentence, in order.

    Returns:
        The extraction. Of different statements with one aspect, those of the last sentence count.
    """
    last: dict[str, int] = {}
    ended: dict[Statement, int] = {}
    for number, (statements, endings) in enumerate(groups):
        last.update((s.aspect, number) for s in statements if s.aspect is not None)
        ended.update((ending.statement, number) for ending in endings)
    final = {
        aspect: {s for s in groups[number][0] if s.aspect == aspect} for aspect, number in last.items()
    }  # a repetition of the last value is not stale
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
    return Extraction(name, tuple(kept.values()), tuple(all_endings))
