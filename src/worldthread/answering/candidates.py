"""What may answer a question: the facts and sentences that were recalled, each with whom it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from worldthread.answering.wording import KIN, ME, SOMEBODY, Persons, Wording, name_at, phrase_key, subject_key, wording
from worldthread.extract.prose.extractor import is_question
from worldthread.extract.prose.sentences import split_sentences
from worldthread.extract.prose.words import WORDS, first_person, is_program
from worldthread.extract.zones import local_time
from worldthread.names import normalise_name, unmarked
from worldthread.retrieve.words import words_of
from worldthread.types import Episode, Fact, Hit, Thesis

_NAME: Final = re.compile(r"(?<![.!?:;…—–\n]\s)(?<!^)(?<![\w'’.])[A-ZÀ-ÖØ-ÞŁŚŻŽŠČĐ][^\W\d_][\w’-]*")
_WORD: Final = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class EvidenceCandidate:
    """A fact or a sentence that may answer a question.

    Args:
        hit: what was recalled.
        text: its words, without the label of a speaker; with the sentence before it if it refers to that.
        sentence: the sentence alone.
        at: its world time.
        me: the key of whoever says "I" in it.
        wording: what its words say about whose and who.
        stems: the stems of ``text``.
        subject_said: of a fact its subject, with "I" for the person who asks; empty of a sentence.
        object_said: the same of its object.
    """

    hit: Hit
    text: str
    sentence: str
    at: float
    me: str
    wording: Wording
    stems: frozenset[str]
    subject_said: str = ""
    object_said: str = ""

    @property
    def fact(self) -> Fact | None:
        """The fact, if it is one."""
        return self.hit.item if isinstance(self.hit.item, Fact) else None


def names_in(hits: Iterable[Hit]) -> frozenset[str]:
    """Return the words of names in what was recalled, without case: those with a capital within a sentence."""
    found: set[str] = set()
    lower: set[str] = set()
    for hit in hits:
        item = hit.item
        if isinstance(item, Fact):
            words = [word for end in (item.subject, item.object) for word in _WORD.findall(end)]
            found |= {word.casefold() for word in words if word[:1].isupper()}
            continue
        text = item.text.partition(": ")[2] or item.text
        found |= {match.casefold() for match in _NAME.findall(text)}
        lower |= {word for word in _WORD.findall(text) if word.islower()}
        if isinstance(item, Thesis):
            found |= {word.casefold() for name in item.objects for word in _WORD.findall(name) if word[:1].isupper()}
    common = WORDS["function"] | WORDS["months"] | WORDS["weekdays"] | WORDS["openers"] | WORDS["verbs"]
    return frozenset(found - lower - common)


def candidates(
    hits: Sequence[Hit],
    own_names: Collection[str],
    names: Collection[str],
    episode_of: Callable[[str], Episode],
) -> list[EvidenceCandidate]:
    """Return facts and sentences among hits as candidates.

    Args:
        hits: what was recalled.
        own_names: normalised names of the person who asks.
        names: words of names that the memory knows.
        episode_of: returns an episode by its id.

    Returns:
        A candidate for each fact and each sentence. A passage of which nothing was read counts as one sentence.
    """
    passages = {hit.item.id: hit.item for hit in hits if isinstance(hit.item, Episode)}
    speakers = {normalise_name(one.speaker) for one in passages.values() if one.speaker}
    found, seen = [], set()
    for hit in hits:
        item = hit.item
        if isinstance(item, Episode):
            text = _told(item)
            if text and not item.extraction.statements:
                found.append(
                    _candidate(
                        hit,
                        text,
                        text,
                        local_time(item.at, item.metadata),
                        _me(item.speaker, own_names),
                        item.speaker,
                        names,
                    )
                )
            continue
        at = _at(hit, passages, episode_of)
        if isinstance(item, Fact):
            ends = _as_said(item.subject, own_names), _as_said(item.object, own_names)
            relation = first_person(item.relation) if ends[0] == "I" else item.relation
            sentence = f"{ends[0]} {relation} {ends[1]}"
            one = _candidate(hit, sentence, sentence, at, ME, "", names)
            subject = one.wording.subjects[0] or phrase_key(one.wording.words, 0)
            said = replace(one.wording, subjects=(subject, *one.wording.subjects[1:]))
            found.append(replace(one, wording=said, subject_said=ends[0], object_said=ends[1]))
            continue
        speaker, sentence = _said(item, {*own_names, *speakers})
        key = (sentence, hit.version.sources if hit.version else ())
        if key in seen:  # one sentence with several aspects
            continue
        seen.add(key)
        me = _me(speaker, own_names)
        one = _candidate(hit, sentence, sentence, at, me, speaker, names)
        if SOMEBODY in one.wording.subjects[:1] or any(word.owner == SOMEBODY for word in one.wording.words):
            one = _with_context(one, _before(hit, sentence, passages, episode_of), speaker, names)
        found.append(one)
    return found


def _told(episode: Episode) -> str:
    """Return what a passage tells, without the label of its speaker; empty where it only asks."""
    text = episode.said
    return "" if all(is_question(sentence) for sentence in split_sentences(text)) else text


def learned_persons(
    question_names: Iterable[str], found: Sequence[EvidenceCandidate], own_names: Collection[str]
) -> Persons:
    """Return which keys mean the same, as candidates say: "my sister Ella", "user, has sister, Ella", "I'm Marta".

    Args:
        question_names: keys of the names of the question.
        found: the candidates.
        own_names: normalised names of the person who asks.
    """
    persons = Persons()
    for name in question_names:
        spellings = _spellings(name, found)
        if name in spellings:
            persons.spelled.add(name)
        elif len(spellings) == 1:
            persons.add(name, spellings.pop())
    for name in own_names:
        persons.canonical |= dict.fromkeys((name, *name.split()), ME)
    for one in sorted(found, key=lambda one: one.at):
        fact = one.fact
        if fact is None:
            persons.add_all(pair for pair in one.wording.same if not pair[0].endswith("'s name"))
        else:
            _add_fact(persons, fact, own_names)
    return persons


def _spellings(name: str, found: Iterable[EvidenceCandidate]) -> set[str]:
    """Return a name as candidates write it, with the marks of its letters or without: "łukasz" for "lukasz"."""
    parts = [unmarked(part) for part in name.split()]
    stated = [{unmarked(word.low): word.low for word in one.wording.words if word.is_name} for one in found]
    return {" ".join(words[part] for part in parts) for words in stated if words.keys() >= set(parts)}


def own_names_in(found: Sequence[EvidenceCandidate]) -> set[str]:
    """Return the normalised names that the person who asks has said to have: "I'm Marta Lindqvist"."""
    names = set()
    for one in found:
        words = one.wording.words
        if one.fact is not None:
            relation = normalise_name(one.fact.relation)
            if words and words[0].low == "i" and relation in ("has name", "is named", "is called"):
                names.add(normalise_name(one.fact.object))
            continue
        if one.me != ME:
            continue
        for key, name in one.wording.same:
            if key == f"{ME}'s name":
                names.add(name)
        for number, word in enumerate(words[:-1]):
            following = words[number + 1 :]
            while following and following[0].low in ("am", "m", "called"):
                following = following[1:]
            if word.low == "i" and following and following[0].is_name and following is not words[number + 1 :]:
                said = [other.low for other in following]
                length = next((i for i, other in enumerate(following) if not other.is_name), len(said))
                names.add(normalise_name(" ".join(said[:length])))
    return names


def _add_fact(persons: Persons, fact: Fact, own_names: Collection[str]) -> None:
    relation = normalise_name(fact.relation)
    subject = _key(fact.subject, own_names)
    if not fact.object[:1].isupper():
        return
    noun = re.fullmatch(r"has (?:an? )?(.+)", relation)
    if noun is not None and noun[1] != "name":
        stem = words_of(noun[1])
        persons.add(f"{subject}'s {_noun(noun[1].split()[-1], stem)}", normalise_name(fact.object))
    elif relation in ("has name", "is named", "is called") and subject != ME:
        persons.add(subject, normalise_name(fact.object))
    of = re.fullmatch(r"is (?:an? |the )?(.+) of", relation)
    if of is not None and fact.subject[:1].isupper():
        owner = _key(fact.object, own_names)
        persons.add(f"{owner}'s {_noun(of[1].split()[-1], words_of(of[1]))}", normalise_name(fact.subject))


def _noun(word: str, stems: list[str]) -> str:
    return KIN.get(word, stems[-1] if stems else word)


def _key(name: str, own_names: Collection[str]) -> str:
    said = wording(_as_said(name, own_names) + " is", ME, ())
    return subject_key(said.words, ME) or normalise_name(name)


def _as_said(end: str, own_names: Collection[str]) -> str:
    """Return the end of a fact with "I" and "my" for the person who asks."""
    key = normalise_name(end)
    for name in own_names:
        if key == name:
            return "I"
        if key.startswith((f"{name}'s ", f"{name}’s ")):
            return f"my {end[len(name) + 3 :]}"
    return end


def _me(speaker: str, own_names: Collection[str]) -> str:
    if not speaker or normalise_name(speaker) in own_names:
        return ME
    return normalise_name(speaker)


def _candidate(
    hit: Hit, text: str, sentence: str, at: float, me: str, speaker: str, names: Collection[str]
) -> EvidenceCandidate:
    you = ME if speaker and is_program(speaker) else "you"
    return EvidenceCandidate(hit, text, sentence, at, me, wording(sentence, me, names, you), frozenset(words_of(text)))


def _with_context(one: EvidenceCandidate, before: str, speaker: str, names: Collection[str]) -> EvidenceCandidate:
    """Return a sentence that begins with "he" or "his" together with the one before it."""
    if not before:
        return one
    said = wording(before, one.me, names)
    subject = next((key for key in said.subjects if key not in (None, one.me, SOMEBODY)), None)
    names_before = _distinct_names(said)
    meant = (
        names_before[0]
        if len(names_before) == 1
        else (subject if not names_before or subject in names_before else None)
    )
    resolved = one.wording
    if meant is not None:
        resolved = _resolved(resolved, meant)
    text = f"{before} {one.sentence}"
    is_same_matter = one.wording.subjects[0] in (SOMEBODY, f"{SOMEBODY}'s name")  # else it begins with something else
    stems = frozenset(words_of(text if is_same_matter else f"{meant or ''} {one.sentence}"))
    return EvidenceCandidate(one.hit, text, one.sentence, one.at, one.me, resolved, stems)


def _resolved(said: Wording, meant: str) -> Wording:
    """Return the words of a sentence with whom "he" and "his" mean."""
    words = tuple(replace(word, owner=meant) if word.owner == SOMEBODY else word for word in said.words)
    begins = f"{SOMEBODY}'s"
    subjects = [meant if key == SOMEBODY else key and key.replace(begins, f"{meant}'s") for key in said.subjects]
    same = [(key.replace(begins, f"{meant}'s"), name) for key, name in said.same]
    return replace(said, words=words, subjects=tuple(subjects), same=tuple(same))


def _distinct_names(said: Wording) -> list[str]:
    found: dict[str, None] = {}
    for number, word in enumerate(said.words):
        if word.is_name and not word.owns and not (number and said.words[number - 1].is_name):
            before = said.words[number - 1].low if number else ""
            if before not in ("in", "at", "from", "to", "near", "on"):
                found[name_at(said.words, number)] = None
    return list(found)


def _before(hit: Hit, sentence: str, passages: dict[str, Episode], episode_of: Callable[[str], Episode]) -> str:
    """Return the sentence before one in its passage."""
    if hit.version is None or not hit.version.sources:
        return ""
    source = hit.version.sources[-1]
    episode = passages.get(source) or episode_of(source)
    text = episode.said
    place = text.find(sentence)
    if place <= 0:
        return ""
    parts = split_sentences(text[:place], 0, None)
    return parts[-1].text.strip() if parts else ""


def _at(hit: Hit, passages: dict[str, Episode], episode_of: Callable[[str], Episode]) -> float:
    if hit.version is None:
        return 0.0
    if hit.version.sources:
        source = hit.version.sources[-1]
        episode = passages.get(source)
        if episode is None:
            episode = episode_of(source)
        return local_time(episode.at, episode.metadata)
    return hit.version.interval.valid_from


def _said(item: Thesis, speakers: Collection[str]) -> tuple[str, str]:
    """Return who says a sentence, and its words without the label."""
    label, colon, rest = item.text.partition(": ")
    if colon and (normalise_name(label or "-") in speakers or label in item.objects):
        return label, rest
    return "", item.text
