"""States what a simple sentence asserts of a person, an animal or a thing that it names.

The sentence has one subject and one predicate (:mod:`worldthread.extract.parsed.simple_sentences`), so that a form that
begins at the verb and ends at the end of the sentence covers all that is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from worldthread.extract.parsed.aspects import aspect_for
from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.letters_of_names import LOWER, UPPER
from worldthread.extract.parsed.simple_sentences import KIN, LISTS, Simple
from worldthread.extract.parsed.validity import TURNS
from worldthread.extract.prose.words import WORDS as PROSE_WORDS
from worldthread.extract.prose.words import third_person
from worldthread.extract.times import latest_beginning, time_expressions
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc

_NUMBERS: Final = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty", "fifty",
    "sixty", "seventy", "eighty", "ninety",
]  # fmt: skip
_NUMBER: Final = (
    rf"(?:\d{{1,2}}|10\d|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-\w+|{'|'.join(_NUMBERS)})"
)
_NAME: Final = rf"[{UPPER}][\w’'-]+(?: [{UPPER}][\w’'-]+){{0,3}}"
_END: Final = r"(?:,? (?:now|at the moment|these days|currently|already|this year|too|as well))?"
_ADVERBS: Final = r"(?: (?:now|still|also|currently|already|just|only|always|usually|actually))*"


def _words(name: str) -> str:
    return "|".join(sorted(map(re.escape, LISTS[name]), key=len, reverse=True))


_AGE: Final = re.compile(rf"(?:is|am){_ADVERBS} (?P<age>{_NUMBER})(?: years? old| years? of age)?{_END}", re.IGNORECASE)
_OF_NAME: Final = re.compile(rf"(?:is|am) (?P<object>[{UPPER}][\w-]+['’]s [a-z][\w-]+(?: and [a-z][\w-]+)?)")
_ROLE_IS: Final = re.compile(rf"is (?P<object>(?:(?:Mr|Mrs|Ms|Dr|Chief|Sir|Prof)\.? )?{_NAME})")
_HAS: Final = re.compile(rf"(?:has|have)(?: got)?{_ADVERBS} (?P<object>[\w’'/%.-]+.*)", re.IGNORECASE)
_REFUSES: Final = re.compile(
    r"(?P<how>doesn['’]t|does not|don['’]t|do not|won['’]t|will not|can['’]t|cannot) "
    rf"(?P<verb>{_words('refused')}) (?P<object>.+)",
    re.IGNORECASE,
)
_UNDERGOES: Final = re.compile(
    r"(?:has been|have been|has just been|have just been|was|were|got) "
    rf"(?P<verb>{_words('undergone')}) (?P<object>.+)",
    re.IGNORECASE,
)
_PUT_ON: Final = re.compile(
    r"(?:has |have )?(?:just )?(?:started|put) "
    rf"(?P<whom>me|(?:my )?[\w-]+(?: [{UPPER}]\w+)?) on(?:to)? (?P<object>.+)",
    re.IGNORECASE,
)
_DUE: Final = re.compile(
    r"(?:is|are) (?:now )?(?P<verb>due|booked|scheduled|set|on) "
    r"(?P<object>(?:(?:in|on|at|for|from) )?(?:the )?[\w/ :.,'’-]+)",
    re.IGNORECASE,
)
_THERE_IS: Final = re.compile(
    rf"(?:is|['’]s) (?:an? |the )?(?P<thing>(?:[\w-]+ ){{0,3}}(?:{_words('events')})"
    r"(?: (?:with|for|of|about) [\w’' -]+?)?) (?P<object>(?:on|in|at|from|tomorrow|this|next) .+)",
    re.IGNORECASE,
)
_PLANNED: Final = re.compile(
    rf"(?:am|is|are|['’]m|['’]re) (?P<verb>{_words('planned_progressive')}) (?P<object>.+)", re.IGNORECASE
)
_PERFECT: Final = re.compile(
    r"(?:has|have)(?: just| finally| now| also| already)* "
    r"(?P<verb>\w+)(?P<particle> (?:up|off|out|in))? (?P<object>.+)",
    re.IGNORECASE,
)
_PAST: Final = re.compile(r"(?P<verb>\w+)(?P<particle> (?:up|off|out|in))? (?P<object>.+)", re.IGNORECASE)
_TURNED: Final = re.compile(
    rf"(?:turned|turn|am turning|is turning|turns) (?P<age>{_NUMBER})\b(?P<rest>.*)", re.IGNORECASE
)
_RELATIVE_TIME: Final = re.compile(
    r"\b(?:ago|last|next|this (?:morning|week|month|year|evening|weekend|time)|today|tonight|tomorrow|yesterday|"
    r"(?<!on )(?<!every )(?<!and )(?<!, )(?:mon|tues|wednes|thurs|fri|satur|sun)day|recently)\b",
    re.IGNORECASE,
)
_ARTICLE: Final = re.compile(r"^(?:an?|the|some) ", re.IGNORECASE)
_BAD_BACK: Final = re.compile(r"an? (?:\w+ )?back\b")
_NEW_JOB: Final = re.compile(
    rf".* for (?:an? |my )?(?:new )?job (?:at|with) (?:the )?(?P<object>[{UPPER}][\w’'&-]*(?: [{UPPER}&][\w’'&-]*)*)"
)
_DAY: Final = re.compile(
    r"\b(?:\d{1,2}(?:st|nd|rd|th)|jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|tomorrow|"
    r"next (?:week|month|year|summer|spring|autumn|winter))\b",
    re.IGNORECASE,
)
_PREPOSITION: Final = re.compile(r"(?:out of|in|on|at|for|from|to|into|with|as|by|off) ", re.IGNORECASE)
_REASON: Final = re.compile(r",? (?:since|because|due to|so|which) ")
_LONG_NAME: Final = 5  # words of a thing
_FORMATS: Final = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
_LONGEST: Final = 14  # words of an object


_NO_NAMES: Final = PROSE_WORDS["weekdays"] | PROSE_WORDS["months"]


class _Subject(NamedTuple):
    """Of whom or what a sentence says something."""

    name: str
    kind: str
    """``speaker``, ``person``, ``own`` (a thing of the speaker), ``thing`` or ``there``."""


def asserted(simple: Simple, doc: Doc, speaker: str, persons: frozenset[str], at: float | None) -> tuple[Fact, ...]:
    """Return what a simple sentence asserts.

    Args:
        simple: the sentence.
        doc: its dependency tree.
        speaker: who says it.
        persons: the names of the persons and animals of the message.
        at: time of the message in seconds since 1970-01-01 UTC; ``None`` or a turn where it has no such time.

    Returns:
        Its facts with their times; none where it is not plain.
    """
    subject = _subject(simple.subject, speaker, persons, doc)
    if subject is None:
        return ()
    predicate = simple.text[len(simple.subject) :].strip()
    for short, full in (("'m", "am"), ("'re", "are"), ("'ve", "have"), ("'s", "is")):
        if predicate.startswith(short):
            predicate = full + predicate[len(short) :]
    found = []
    for fact in _facts(subject, predicate, doc, speaker):
        value = fact.object.strip(" ,.;")
        words = value.split()
        seen = {w.lower().strip(",.") for w in value.replace("first thing", "first").split()}
        if not words or len(words) > _LONGEST or seen & LISTS["pointing"]:
            continue
        value = re.sub(r"\b(?:my|our) ", lambda _: f"{speaker}'s ", value)
        if re.search(r"\b(?:I|he|she|his|her|their|its|we|me|us|mine)\b", value):
            continue
        dated = _dated(replace(fact, object=value), at)
        if dated is not None:
            dated = replace(dated, object=_ARTICLE.sub("", dated.object))
            found.append(replace(dated, aspect=aspect_for(dated)))
    return tuple(found)


def _subject(text: str, speaker: str, persons: frozenset[str], doc: Doc) -> _Subject | None:
    low = text.lower()
    if low in ("i", "we"):
        return _Subject(speaker, "speaker")
    if low == "there":
        return _Subject("", "there")
    own = re.fullmatch(
        rf"(?:my|our) (?P<kin>(?:[a-z-]+ ){{0,2}}(?:{KIN}))(?:,? (?P<name>[{UPPER}]\w+))?", text, re.IGNORECASE
    )
    if own is not None and not own["kin"].endswith(("kids", "children", "parents")):
        return _Subject(own["name"] or f"{speaker}'s {own['kin'].lower()}", "person")
    if re.fullmatch(r"(?:my|our) [\w’' -]+", text, re.IGNORECASE):
        return _Subject(f"{speaker}'s {text.split(' ', 1)[1]}", "own")
    if text in persons or (
        re.fullmatch(rf"[{UPPER}][{LOWER}]+", text) and doc[0].tag_ == "NNP" and text.lower() not in _NO_NAMES
    ):
        return _Subject(text, "person")
    if low in LISTS["healers"] or (low.startswith(("the ", "my ")) and low.split()[-1] in LISTS["healers"]):
        return _Subject(text[4:] if low.startswith("the ") else text, "thing")
    if low.startswith("the ") and len(text.split()) < 5:
        return _Subject(text[4:], "thing")
    if re.fullmatch(rf"[{UPPER}][\w-]+(?: [\w-]+){{0,3}}", text) and low.split()[0] not in LISTS["pointing"] | {
        "you",
        "he",
        "she",
        "everyone",
        "everything",
        "people",
    }:
        return _Subject(text if text.split()[-1][0].isupper() else text[0].lower() + text[1:], "bare")
    return None


def _facts(subject: _Subject, predicate: str, doc: Doc, speaker: str) -> Iterator[Fact]:
    """Yield what the forms of predicates state, which of them are tried depends on the kind of the subject."""
    name, kind = subject
    last = name.lower().split()[-1] if name else ""
    if kind in ("speaker", "person") and (fact := _of_person(name, predicate)) is not None:
        yield fact
        return
    if kind == "person" and (m := _HAS.fullmatch(predicate)) is not None and _is_thing(m["object"], doc):
        yield Fact(name, "has", _REASON.split(m["object"])[0])
        return
    if kind == "person":
        yield from _habit(name, predicate, doc)
    if kind in ("speaker", "person") and (m := _NEW_JOB.fullmatch(predicate)) is not None:
        yield Fact(name, "has new job at", m["object"])
    if kind in ("speaker", "person", "own"):
        yield from _event(name, predicate, doc)
    role = _ROLE_IS.fullmatch(predicate) if kind in ("thing", "own") and last in LISTS["roles"] else None
    if role is not None and len(role["object"].split()) > 1:
        yield Fact(name, "is", role["object"])
    due = _DUE.fullmatch(predicate) if kind in ("thing", "own", "bare") and len(name.split()) < _LONG_NAME else None
    if due is not None and _DAY.search(due["object"]) is not None:
        yield _with_preposition(name, f"is {due['verb'].lower()}", due["object"])
    is_healer = (kind == "thing" and last in LISTS["healers"]) or (kind == "bare" and last == "they")
    if is_healer and (m := _PUT_ON.fullmatch(predicate)) is not None:
        person = speaker if m["whom"].lower() == "me" else re.sub(r"^my ", f"{speaker}'s ", m["whom"])
        if person[0].isupper() or person.startswith(speaker):
            yield Fact(person, "is on", m["object"])
    event = _THERE_IS.fullmatch(predicate) if kind == "there" else None
    if event is not None and _DAY.search(event["object"]) is not None:
        yield _with_preposition(event["thing"], "is", event["object"])


def _of_person(name: str, predicate: str) -> Fact | None:
    """Return an age, a tie to somebody, a refusal, an event that befell, or a dated plan."""
    turned = _TURNED.fullmatch(predicate)
    age = _AGE.fullmatch(predicate) or turned
    if age is not None and (turned is None or not re.match(r" (?:miles|km|down|up|into)", turned["rest"])):
        return Fact(name, "has age", age["age"])
    if (m := _OF_NAME.fullmatch(predicate)) is not None:
        return Fact(name, "is", m["object"])
    if (m := _REFUSES.fullmatch(predicate)) is not None:
        how = {"d": "does not", "w": "will not", "c": "cannot"}[m["how"][0].lower()]
        return Fact(name, f"{how} {m['verb'].lower()}", m["object"])
    if (m := _UNDERGOES.fullmatch(predicate)) is not None:
        is_event = m["verb"].lower() != "made" or m["object"].startswith("redundant")
        return _with_preposition(name, f"was {m['verb'].lower()}", m["object"]) if is_event else None
    if (m := _PLANNED.fullmatch(predicate)) is not None and _DAY.search(m["object"]) is not None:
        return _with_preposition(name, f"is {m['verb'].lower()}", m["object"])
    return None


def _with_preposition(name: str, relation: str, value: str) -> Fact:
    """Return a fact with the preposition at the beginning of its object in its relation."""
    match = _PREPOSITION.match(value)
    if match is None:
        return Fact(name, relation, value)
    return Fact(name, f"{relation} {match[0].strip().lower()}", value[match.end() :])


def _habit(name: str, predicate: str, doc: Doc) -> Iterator[Fact]:
    """Yield what somebody does again and again: "takes levothyroxine 75 micrograms first thing"."""
    first, _, rest = predicate.partition(" ")
    token = next((t for t in doc if t.text == first), None)
    if token is None or token.tag_ not in ("VBZ", "NNS") or not rest:
        return
    lemma = first.removesuffix("es") if first.removesuffix("es") in LISTS["habits"] else first.removesuffix("s")
    if lemma not in LISTS["habits"] or third_person(lemma) != first:
        return
    if lemma == "look":
        if not rest.startswith("after "):
            return
        first, rest = "looks after", rest.removeprefix("after ")
    if lemma == "do" and not re.search(r"\b(?:shifts?|nights|days|work|course|degree|classes|yoga|pilates)\b", rest):
        return
    yield _with_preposition(name, first, rest)


def _event(name: str, predicate: str, doc: Doc) -> Iterator[Fact]:
    """Yield an event after which something in a life is otherwise: "gave up driving after my cataract operation"."""
    match = _PERFECT.fullmatch(predicate) or _PAST.fullmatch(predicate)
    if match is None:
        return
    verb = match["verb"].lower()
    token = next((t for t in doc if t.lower_ == verb), None)
    if token is None or token.tag_ not in ("VBD", "VBN") or token.lemma_.lower() not in LISTS["life_events"]:
        return
    if token.lemma_.lower() in ("give", "break", "turn") and match["particle"] is None:
        return
    thing = next((t for t in doc if t.i > token.i and t.tag_.startswith("NN")), None)
    if thing is None or thing.lemma_.lower() in LISTS["vacant"] | {"head", "mind", "temper", "track", "heart"}:
        return
    is_perfect = predicate.lower().startswith(("has ", "have ", "'ve "))
    shown = f"{verb}{(match['particle'] or '').lower()}"
    yield _with_preposition(name, f"has {shown}" if is_perfect else shown, match["object"])


def _is_thing(value: str, doc: Doc) -> bool:
    """Return whether what somebody has is a thing, an illness or a being, which can be told from its main word."""
    if _BAD_BACK.match(value) is not None:
        return True
    first = value.split()[0]
    token = next((t for t in doc if t.text == first and t.i > 1), None)
    if token is None or token.tag_ in ("VBN", "TO", "IN", "VB", "RB", "PRP", "WDT", "WP"):
        return False
    head = next(
        (
            t
            for t in doc[token.i :]
            if t.tag_.startswith("NN") and not (t.i + 1 < len(doc) and doc[t.i + 1].tag_.startswith("NN"))
        ),
        None,
    )
    if head is None or head.lemma_.lower() in LISTS["vacant"] | WORDS["vague"] | WORDS["abstract"] | WORDS["requests"]:
        return False
    if any(t.dep_ == "relcl" or t.tag_ in ("VBG", "TO") for t in head.subtree):
        return False
    return token.lower_ not in ("the", "some", "any", "many", "more", "lots", "loads", "two-thirds", "enough")


def _dated(fact: Fact, at: float | None) -> Fact | None:
    """Return a fact with its one time as a date; ``None`` where it has a time that is not understood."""
    value = fact.object
    if at is None or abs(at) < TURNS:
        return fact
    sentence = f"{fact.subject} {fact.relation} {value}"
    shift = len(sentence) - len(value)
    is_past = fact.relation.split()[0] not in ("is", "has") and not fact.relation.split()[0].endswith("s")
    times = [t for t in time_expressions(sentence, at, is_past=is_past) if t.end > shift]
    dates = [t for t in times if t.role not in ("recurring", "duration") and (t.valid_from or t.valid_to)]
    if not dates:
        return None if _RELATIVE_TIME.search(value) else fact
    if len(dates) > 1:
        return fact if not _RELATIVE_TIME.search(value) else None
    time = dates[0]
    pattern = _FORMATS.get(time.precision)
    if pattern is None or time.valid_from is None:
        return None if _RELATIVE_TIME.search(value) else fact
    begin = datetime.fromtimestamp(time.valid_from, UTC).strftime(pattern)
    start = max(time.start - shift, 0)
    before, named, after = value[:start], value[start : time.end - shift], value[time.end - shift :]
    if time.role == "since" or is_past or fact.relation.startswith("has "):
        rest = f"{before.rstrip(' ,')}{after}".strip(" ,")
        if not rest:
            return None
        begins_by = latest_beginning(time, at, is_event=is_past)
        return replace(fact, object=rest, valid_from=time.valid_from, begins_by=begins_by)
    if time.role != "at":
        return None if _RELATIVE_TIME.search(value) else fact
    lead = re.match(r"(?:on|in|at|for|from) ", named, re.IGNORECASE)
    opening = lead[0] if lead else f"{'on' if time.precision == 'day' else 'in'} "
    shown = f"{before}{opening if before else ''}{begin}{after}"
    return replace(fact, object=shown.strip(), valid_from=time.valid_from, valid_to=time.valid_to)
