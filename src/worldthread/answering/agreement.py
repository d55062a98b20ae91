"""How well a candidate agrees with a question: in whom and whose, in negation, numbers, words, and kind of answer."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from worldthread.answering.candidates import EvidenceCandidate
from worldthread.answering.parts import answering_time, has_number, lacks_kind
from worldthread.answering.question import ParsedQuestion
from worldthread.answering.tables import LISTS, TABLES
from worldthread.answering.wording import KIN, ME, SOMEBODY, Persons
from worldthread.extract.prose.words import WORDS
from worldthread.extract.when import is_date, shown_time
from worldthread.names import normalise_name
from worldthread.retrieve.words import STOP_STEMS, words_of
from worldthread.types import Fact

Vectors = Mapping[str, NDArray[np.float32]]

MEASURES: Final = (
    "similarity", "lead", "covered", "soft", "weakest", "same_subject", "owner_subject", "other_subject",
    "same_owner", "fact", "stated", "kind", "noun", "noun_new", "attribute", "hedged", "phase", "phase_now",
    "rival", "rival_past", "newer_topic", "planned", "exact", "exact_fact", "later", "later_end", "length", "new",
    "new_names", "whole", "missing", "no_words", "score", "is_yes_no", "yes_share", "yes_same", "yes_hedged",
    "is_time", "is_place", "is_person", "is_number", "is_thing", "asks_name", "past",
)  # fmt: skip
"""The measures of a candidate, in order."""

_TIME_WORD: Final = re.compile(
    r"\b(?:\d{1,2}(?:st|nd|rd|th)?\b|\d{4}\b|\d{1,2}:\d\d|[ap]m\b|yesterday|today|tonight|tomorrow|ago|weekend|morning|evening"
    r"|week|month|year|noon|midnight|spring|summer|autumn|winter|christmas|easter)",
    re.IGNORECASE,
)
_SAME: Final = 0.9  # how well words of the same meaning fit
_NEAR: Final = 0.4  # a difference of worth from which on a newer statement says something else
_CALENDAR: Final = WORDS["months"] | WORDS["weekdays"]
_PLACE: Final = re.compile(
    rf"\b(?:{'|'.join(sorted(LISTS['place_words']))})\s+(?:the\s+|my\s+|a\s+)?(?P<cap>[A-Z])?[\w\d]"
)
_AFTER_PLACE: Final = re.compile(r"\b(?:in|at|on|near)\s+([A-ZÀ-Þ]\w*)")
_ASKS_AGE: Final = re.compile(r"\bhow old\b|\bage\b", re.IGNORECASE)
_MAY: Final = re.compile(r"\bMay\b")  # the month
_HEDGES: Final = frozenset(words_of(" ".join(LISTS["hedges"])))
_LIKES: Final = frozenset(words_of(" ".join(LISTS["likes"])))
_DISLIKES: Final = frozenset(words_of(" ".join(LISTS["dislikes"])))
_PHASES: Final = frozenset(words_of(" ".join(LISTS["phase_verbs"])))
_NUMBER: Final = (
    rf"(?:\d{{1,3}}|{'|'.join(sorted(LISTS['number_words'] - {'once', 'twice', 'half'}, key=len, reverse=True))})"
)
_AGE: Final = re.compile(
    rf"\b{_NUMBER}[- ](?:year|month|week)s?\b(?! (?:ago|later|in|at|as|of)\b)"
    r"|(?:\b(?:am|is|was|are|were|be|turn(?:s|ed|ing)?|aged?|have|has|had|now)|['’](?:m|s|re))\s+"
    rf"(?:age |only |just |now |already )?{_NUMBER}\b"
    r"(?!\s*(?:[%:€$£]|[A-Za-z]*(?:euro|percent|kilo|km|hour|minute|metre|meter|day|of|st|nd|rd|th)\b)|[.,:]\d|\s+[A-Z])"
    r"|[,(]\s*\d{1,2}\s*[,)]|\b\d{1,3}[, ]+years|^\W*\d{1,2}\b(?! [A-Z])",
    re.IGNORECASE,
)


class _Relation(NamedTuple):
    """A relation of the table: the words that ask for it with their stems, its names, and how a sentence says it."""

    words: frozenset[str]
    stems: frozenset[str]
    names: frozenset[str]
    phrases: tuple[str, ...]


_RELATIONS: Final = [
    _Relation(
        frozenset(part.strip() for part in row["asked"].split(",")),
        frozenset(words_of(row["asked"])),
        frozenset(normalise_name(part) for part in row["stated"].split(",")),
        tuple(f" {' '.join(words_of(part))} " for part in row["stated"].split(",")),
    )
    for row in TABLES["relations"].values()
]


def _asked_by(stem: str, question: ParsedQuestion) -> list[_Relation]:
    """Return the relations that a word of a question asks for: those that list it, else those that list its stem.

    "Live" asks for a home alone, though a job is asked for by "living", which has the same stem.
    """
    said = {word.low for word in question.wording.words if word.stem == stem}
    return [one for one in _RELATIONS if said & one.words] or [one for one in _RELATIONS if stem in one.stems]


def _is_asked(relation: str, question: ParsedQuestion) -> bool:
    """Return whether a word of a question asks for the relation of a fact."""
    name = normalise_name(relation)
    return any(name in one.names for stem in set(words_of(question.text)) for one in _asked_by(stem, question))


def disagreement(question: ParsedQuestion, one: EvidenceCandidate, persons: Persons) -> str | None:
    """Return in what a candidate certainly differs from what is asked.

    Args:
        question: the question.
        one: the candidate.
        persons: which keys mean the same.

    Returns:
        ``"name"``, ``"number"``, ``"month"``, ``"owner"`` or ``"subject"`` where that of the question is another one;
        ``"negation"``, ``"over"`` or ``"unsure"`` where it says the contrary, that something goes on no longer, or what
        is not said to be so; ``"kind"`` where it has nothing of the kind that is asked for, and ``"nothing new"`` where
        it has nothing beside the words of the question; ``None`` where it may answer.
    """
    clause = best_clause(question, one)
    asked = set(words_of(question.text))
    is_state = question.kind in ("thing", "person", "place", "number") and not question.is_past
    checks: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("name", lambda: not _has_names(question, one, persons)),
        ("number", lambda: not all(_has_identifier(one.text, found) for found in question.identifiers)),
        ("month", lambda: _is_of_another_month(question, one)),
        ("owner", lambda: _owner_agreement(question, one, persons) < 0),
        ("subject", lambda: _is_of_another(question, one, persons, clause)),
        (
            "negation",
            lambda: (
                question.kind != "yes-no" and one.wording.is_negated[clause] and not any(question.wording.is_negated)
            ),
        ),
        (
            "over",
            lambda: (
                (is_state and bool(_PHASES & one.stems - asked) and not asks_for_subject(question, one))
                or _is_outdated(question, one)
            ),
        ),
        ("unsure", lambda: question.kind == "yes-no" and _is_unsure(question, one, persons, clause)),
        ("kind", lambda: _lacks_kind(question, one)),
        (
            "nothing new",
            lambda: (
                question.kind not in ("yes-no", "time")
                and not one.stems - asked - STOP_STEMS
                and not asks_for_subject(question, one)
            ),
        ),
    )
    return next((name for name, differs in checks if differs()), None)


def _has_identifier(text: str, identifier: str) -> bool:
    """Return whether a text has an identifier, and not only a longer one that begins or ends alike."""
    more = r"\w" if any(character.isalpha() for character in identifier) else r"\d"
    whole = rf"(?<!{more})(?<!\d[-.:,/_]){re.escape(identifier)}(?!{more}|[-.:,/_]\d)"
    return re.search(whole, text, re.IGNORECASE) is not None


def _hedges(one: EvidenceCandidate) -> frozenset[str]:
    return _HEDGES & set(words_of(_MAY.sub(" ", one.text)))


def _is_outdated(question: ParsedQuestion, one: EvidenceCandidate) -> bool:
    """Return whether what a sentence says of what is asked does not hold at the time asked for."""
    for version in one.hit.outdated:
        words = set(words_of(str(version.statement)))
        if any(word in words for word in question.words):
            return True
        if isinstance(version.statement, Fact) and _is_asked(version.statement.relation, question):
            return True
    return False


def _is_unsure(question: ParsedQuestion, one: EvidenceCandidate, persons: Persons, clause: int) -> bool:
    """Return whether a candidate does not say all of what is asked to be so or not, of the same subject."""
    if _hedges(one) - set(words_of(question.text)) or not all(_is_meant(w, question, one) for w in question.words):
        return True
    return _subject_agreement(question, one, persons, clause)[2] > 0 or _is_planned(question, one) > 0


def _lacks_kind(question: ParsedQuestion, one: EvidenceCandidate) -> bool:
    """Return whether a candidate certainly has nothing of the kind that is asked for."""
    inside = set(re.findall(r"\w+", one.text.casefold()))
    if question.kind == "reason" and not LISTS["reason_words"] & inside:
        return True
    if question.kind == "time" and not question.is_past and not _has_time(one.text):
        return True
    needs_kind = (question.kind == "person" and question.words) or question.kind == "place" or question.asks_name
    if question.kind != "yes-no" and (needs_kind or _ASKS_AGE.search(question.text)) and not _fits_kind(question, one):
        return True
    asked = [word.low for word in question.wording.words]
    if "with" in (asked[:1] + asked[-1:]) and "with" not in inside:
        return True
    return lacks_kind(question, one.text)


def _is_of_another(question: ParsedQuestion, one: EvidenceCandidate, persons: Persons, clause: int) -> bool:
    """Return whether a clause says what is asked of somebody else: "My sister lives in Rome" of "Where do I live?"."""
    if _subject_agreement(question, one, persons, clause)[2] == 0:
        return False
    inside = [word for word in one.wording.words if word.clause == clause]
    subject = question.subject or ""
    if subject == ME:
        if not any(word.low in ("i", "me", "we", "us", "my", "our", "myself") for word in inside):
            return True
        if any(word.low in ("i", "me", "we", "us", "myself") for word in inside):
            return False
    else:
        return not set(words_of(subject.split("'s ")[0])) & one.stems
    if _ASKS_AGE.search(question.text):
        return True
    shared = [word for word in inside if word.owner is None and not word.is_name]
    return any(_is_meant(word.stem, question, one, {other.stem for other in shared}) for word in question.wording.words
               if word.stem in question.words)  # fmt: skip


def _is_meant(
    word: str, question: ParsedQuestion, one: EvidenceCandidate, shared: Collection[str] | None = None
) -> bool:
    """Return whether a candidate has a word, or says the same by a relation of the table: "live" and "moved to".

    Args:
        word: the stem of a word of the question.
        question: the question.
        one: the candidate.
        shared: the stems that count; ``None`` for all of the candidate.
    """
    stems = one.stems if shared is None else shared
    if word in stems or (word in _LIKES and any(stem in stems for stem in _LIKES | _DISLIKES)):
        return True
    said = f" {' '.join(other.stem for other in one.wording.words if other.stem in stems or other.stem in STOP_STEMS)} "
    return any(phrase in said for relation in _asked_by(word, question) for phrase in relation.phrases)


def _is_of_another_month(question: ParsedQuestion, one: EvidenceCandidate) -> bool:
    asked = WORDS["months"] & {word.low for word in question.wording.words} - {"may"}
    stated = WORDS["months"] & set(re.findall(r"\w+", one.text.casefold())) - {"may"}
    return bool(asked and stated and not asked & stated)


def best_clause(question: ParsedQuestion, one: EvidenceCandidate) -> int:
    """Return the number of the clause of a candidate that has most words of a question."""
    wanted = set(question.words) | {word for name in question.names for word in words_of(name)}
    counts = [0] * max(1, len(one.wording.subjects))
    for word in one.wording.words:
        if word.stem in wanted and word.clause < len(counts):
            counts[word.clause] += 1
    return max(range(len(counts)), key=lambda number: (counts[number], -number))


def measures(
    question: ParsedQuestion,
    found: Sequence[EvidenceCandidate],
    similarities: Sequence[float],
    vectors: Vectors,
    rarity: Callable[[str], float],
    persons: Persons,
    set_aside: Sequence[EvidenceCandidate] = (),
) -> NDArray[np.float64]:
    """Return the measures of candidates.

    Args:
        question: the question.
        found: the candidates, none of which disagrees.
        similarities: their cosine similarities with the question.
        vectors: a unit vector for each word of the question and the candidates, by its form without case.
        rarity: returns how rare a stem is in the memory.
        persons: which keys mean the same.
        set_aside: what does not answer, but may tell that something has changed.

    Returns:
        Shape (candidates, measures).
    """
    rows = [
        _row(question, one, similarity, vectors, rarity, persons)
        for one, similarity in zip(found, similarities, strict=True)
    ]
    table = np.array(rows, np.float64).reshape(len(rows), len(MEASURES))
    column = {name: number for number, name in enumerate(MEASURES)}
    wanted = list(question.words)
    changing = [
        one
        for one in set_aside
        if wanted
        and all(_is_meant(word, question, one) for word in wanted)
        and not _subject_agreement(question, one, persons, best_clause(question, one))[2]
    ]
    worth = table[:, column["soft"]] + 0.5 * table[:, column["similarity"]]
    for number, one in enumerate(found):
        others = [i for i, other in enumerate(found) if other.at != one.at]
        best = max((table[i, column["similarity"]] for i in others), default=0.0)
        table[number, column["lead"]] = table[number, column["similarity"]] - best
        newer = [i for i in others if found[i].at > one.at and table[i, column["other_subject"]] == 0]
        nearest = max((worth[i] - worth[number] for i in newer), default=-1.0)
        table[number, column["rival_past" if question.is_past else "rival"]] = min(max(1 + nearest / _NEAR, 0.0), 1.0)
        table[number, column["newer_topic"]] = float(any(other.at > one.at for other in changing))
        own = {w.stem for w in one.wording.words if w.is_name} - set(words_of(question.text))
        later = [other for other in found if other.at > one.at and own & other.stems]
        table[number, column["later"]] = float(bool(later))
        ends = any(_PHASES & other.stems for other in later)
        table[number, column["later_end"]] = float(ends and not question.is_past)
    return table


def _row(
    question: ParsedQuestion,
    one: EvidenceCandidate,
    similarity: float,
    vectors: Vectors,
    rarity: Callable[[str], float],
    persons: Persons,
) -> list[float]:
    words = question.words
    low = {word.stem: word.low for word in question.wording.words}
    inside = set(_lows(one.text))
    covered, soft = [], []
    weights = [rarity(word) for word in words]
    for word in words:
        if word in one.stems:
            covered.append(1.0)
            soft.append(1.0)
            continue
        covered.append(0.0)
        if _is_meant(word, question, one):
            soft.append(0.9)
            continue
        vector = vectors.get(low.get(word, word))
        known = [vectors[other] for other in inside if other in vectors]
        soft.append(0.0 if vector is None or not known else float(np.max(np.stack(known) @ vector)))
    total = sum(weights) or 1.0
    share = sum(w * c for w, c in zip(weights, covered, strict=True)) / total if words else 1.0
    meant = sum(w * c for w, c in zip(weights, soft, strict=True)) / total if words else 1.0
    clause = best_clause(question, one)
    same, owning, other = _subject_agreement(question, one, persons, clause)
    new = {w for w in one.stems if w not in STOP_STEMS} - set(words_of(question.text))
    hedged = bool(_hedges(one) - set(words_of(question.text)))
    phase = bool(_PHASES & one.stems - set(words_of(question.text)))
    kind = question.kind
    attribute = _attribute(question, words, soft)
    is_theirs = same == 1 or (owning == 1 and attribute >= _SAME) or (question.subject is None and bool(question.names))
    is_theirs = is_theirs or asks_for_subject(question, one)
    if kind == "thing" and same != 1 and one.fact is None and _mentions_attribute(question, one):
        is_theirs = False  # "I lost my job" does not say what it is
    is_said = _stated(question, one) or min(soft, default=1.0) >= _SAME
    exact = float(bool(is_theirs and is_said and not hedged and not phase and _fits_kind(question, one) > 0))
    yes = float(kind == "yes-no")
    new_names = {w.stem for w in one.wording.words if w.is_name or w.low[:1].isdigit()} - set(words_of(question.text))
    return [
        similarity, 0.0, share, meant, min(soft, default=1.0), same, owning, other,
        float(_owner_agreement(question, one, persons) > 0), float(one.fact is not None), _stated(question, one),
        _fits_kind(question, one), *_noun_fits(question, one, vectors), attribute, float(hedged),
        float(phase), float(phase and not question.is_past), 0.0, 0.0, 0.0, _is_planned(question, one),
        exact, exact * float(one.fact is not None), 0.0, 0.0, math.log(1 + len(one.wording.words)),
        float(min(len(new), 8)), float(min(len(new_names), 2)), float(not words or share == 1.0),
        float(sum(1 for c in covered if not c)), float(not words), float(one.hit.score), yes, yes * share, yes * same,
        yes * hedged, float(kind == "time"), float(kind == "place"), float(kind == "person"),
        float(kind == "number"), float(kind == "thing"), float(question.asks_name), float(question.is_past),
    ]  # fmt: skip


def asks_for_subject(question: ParsedQuestion, one: EvidenceCandidate) -> bool:
    """Return whether a question says the relation and the object of a fact and nothing else, and asks for its subject.

    Args:
        question: the question.
        one: a candidate.
    """
    if question.subject is not None or one.fact is None:
        return False
    said = set(words_of(f"{one.fact.relation} {one.fact.object}")) - STOP_STEMS
    return len(said) > 1 and said == set(question.words) and not set(words_of(one.fact.subject)) & said


def _attribute(question: ParsedQuestion, words: Sequence[str], soft: Sequence[float]) -> float:
    """Return how well a candidate has what is asked of somebody: the birthday in "When is Elene's birthday?"."""
    owned = {word.stem for word in question.wording.words if word.owner is not None and not word.is_name}
    return min((value for word, value in zip(words, soft, strict=True) if word in owned), default=1.0)


def _mentions_attribute(question: ParsedQuestion, one: EvidenceCandidate) -> bool:
    """Return whether a candidate has the word for what is asked of somebody, which it then need not say."""
    return any(word.stem in one.stems for word in question.wording.words if word.owner is not None and not word.is_name)


def _is_planned(question: ParsedQuestion, one: EvidenceCandidate) -> float:
    """Return whether a question about what was meets a sentence that tells of a day to come."""
    if not question.is_past or question.kind not in ("time", "yes-no", "thing", "manner", "number"):
        return 0.0
    day = answering_time(one.sentence, one.at)
    return float(day is not None and is_date(one.at) and day[:10] > shown_time(one.at)[:10])


def words_to_embed(question: ParsedQuestion, found: Sequence[EvidenceCandidate]) -> list[str]:
    """Return the words whose vectors :func:`measures` wants, without case."""
    asked = {word.low for word in question.wording.words if word.stem in {*question.words, *question.asked_noun}}
    inside = {low for one in found for low in _lows(one.text)}
    return sorted(asked | inside)


def _lows(text: str) -> list[str]:
    return [low for low in re.findall(r"[^\W_]{2,}", text.casefold()) if low not in WORDS["function"]]


def _has_names(question: ParsedQuestion, one: EvidenceCandidate, persons: Persons) -> bool:
    """Return whether a candidate names all whom a question names, by a name or by who they are."""
    subject_keys = [key for key in one.wording.subjects if key]
    for name in question.names:
        if set(words_of(name)) & one.stems:
            if persons.are_spelled_otherwise(name, (word.low for word in one.wording.words)):
                return False
            continue
        if persons.of(name) == ME and _says_me(one):
            continue
        if one.me == name or (set(one.me.split()) >= set(name.split()) and _says_me(one)):
            continue
        keys = [*subject_keys, *(word.owner for word in one.wording.words if word.owner)]
        keys += [f"{w.owner}'s {KIN.get(w.low, w.stem)}" for w in one.wording.words if w.owner and not w.is_name]
        if any(persons.are_same(key, name) for key in keys):
            continue
        return False
    return True


def _says_me(one: EvidenceCandidate) -> bool:
    return (
        any(w.low in ("i", "me", "my", "we", "us", "our", "mine") for w in one.wording.words)
        or None in one.wording.subjects
    )


def _owner_agreement(question: ParsedQuestion, one: EvidenceCandidate, persons: Persons) -> int:
    """Return 1 where the owner of a shared noun is the same, -1 where it is another, 0 where nothing is known."""
    found = 0
    for word in question.wording.words:
        if word.owner is None or word.is_name:
            continue
        noun = KIN.get(word.low)
        inside = [
            other
            for other in one.wording.words
            if not other.is_name and (other.stem == word.stem or (noun is not None and KIN.get(other.low) == noun))
        ]
        owners = [other.owner for other in inside if other.owner is not None and other.owner != SOMEBODY]
        if not owners:
            continue
        asked = persons.of(word.owner)
        if any(persons.are_same(owner, asked) for owner in owners):
            found = max(found, 1)
        elif not any(other.owner in (None, SOMEBODY) for other in inside):
            return -1
    return found


def _subject_agreement(
    question: ParsedQuestion, one: EvidenceCandidate, persons: Persons, clause: int
) -> tuple[float, float, float]:
    """Return whether the subject of a clause is that of the question, its owner, or another person."""
    named = question.subject
    stated = one.wording.subjects[clause] if clause < len(one.wording.subjects) else None
    if named is None or named == SOMEBODY:
        return 0.0, 0.0, 0.0
    asked = persons.of(named)
    if stated is None:
        implied = one.me if clause == 0 or one.wording.subjects[0] is None else None
        return (0.5, 0.0, 0.0) if implied == asked else (0.0, 0.0, 0.0)
    if stated == SOMEBODY:
        return 0.0, 0.0, 0.0
    stated = persons.of(stated)
    if persons.are_same(stated, asked):
        return 1.0, 0.0, 0.0
    # "my favourite language is C#" gives what is mine a name, and it stays mine
    owner = named.rpartition("'s ")[0] or asked.rpartition("'s ")[0]
    stated_owner, _, noun = stated.rpartition("'s ")
    if owner and stated_owner and persons.are_same(owner, stated_owner) and noun in question.wording.stems:
        return 1.0, 0.0, 0.0  # a verb may follow the noun of the question: "was my bike stolen"
    if owner and persons.are_same(stated, owner):
        return 0.0, 1.0, 0.0
    if stated.startswith(f"{asked}'s "):
        return 0.0, 0.0, 0.0 if noun in question.words else 1.0
    if "'s " not in stated and not _is_person(stated, one):
        return 0.0, 0.0, 0.0
    return 0.0, 0.0, 1.0


def _is_person(key: str, one: EvidenceCandidate) -> bool:
    first = key.split()[0] if key else ""
    inside = [word for word in one.wording.words if word.low == first]
    return key == ME or not inside or any(word.is_name for word in inside)  # one that is not inside is meant by "he"


def _stated(question: ParsedQuestion, one: EvidenceCandidate) -> float:
    """Return whether the relation of a fact says what is asked."""
    fact = one.fact
    if fact is None:
        return 0.0
    relation = normalise_name(fact.relation)
    stems = set(words_of(relation)) | set(words_of(fact.subject))
    needed = set(question.words) - question.asked_noun or set(question.words)
    if needed and needed <= stems:
        return 1.0
    return float(_is_asked(fact.relation, question))


def _has_time(text: str) -> bool:
    return bool(_TIME_WORD.search(text)) or bool(
        _CALENDAR & {low.rstrip("s") for low in re.findall(r"\w+", text.casefold())}
    )


def _fits_kind(question: ParsedQuestion, one: EvidenceCandidate) -> float:
    """Return how surely a candidate has something of the kind that is asked for; 0..1."""
    asked = set(words_of(question.text))
    names = [word for word in one.wording.words if word.is_name and word.stem not in asked]
    if question.asks_name:
        return float(bool(names))
    if question.kind == "person":
        place = set(_AFTER_PLACE.findall(one.text))
        names = [word for word in names if word.text not in place]
        kin = any(word.low in KIN and word.stem not in asked for word in one.wording.words)
        return 1.0 if names else (0.5 if kin else 0.0)
    if question.kind == "place":
        match = [m["cap"] for m in _PLACE.finditer(one.text)]
        return 1.0 if any(match) else (0.5 if match else 0.0)
    if question.kind == "time":
        return float(_has_time(one.text))
    if question.kind == "number":
        if re.search(r"\bhow old\b|\bage\b", question.text, re.IGNORECASE):
            return float(
                bool(_AGE.search(one.text)) or (has_number(one.text) and bool(re.search("year|old|turn", one.text)))
            )
        return float(bool(re.search(r"\d", one.text)))
    return 1.0


def _noun_fits(question: ParsedQuestion, one: EvidenceCandidate, vectors: Vectors) -> tuple[float, float]:
    """Return whether a candidate has the noun that is asked for, and how near something new in it is to that."""
    low = {word.stem: word.low for word in question.wording.words}
    asked = [vectors[low[stem]] for stem in question.asked_noun if low.get(stem) in vectors]
    if not asked:
        return 0.5, 0.5
    has = float(question.asked_noun <= one.stems)
    in_question = set(words_of(question.text))
    new = [vectors[word] for word in set(_lows(one.text)) if word in vectors and not set(words_of(word)) & in_question]
    return has, float(np.max(np.stack(new) @ np.stack(asked).T)) if new else 0.0
