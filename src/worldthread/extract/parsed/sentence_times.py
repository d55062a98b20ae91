"""Takes the times out of a short sentence, and finds those that stand in the sentence beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.validity import TURNS
from worldthread.extract.times import TimeExpression, time_expressions

if TYPE_CHECKING:
    from spacy.tokens import Doc

_OF_THINGS: Final = WORDS["schedules"] | {
    "arrive",
    "come",
    "cost",
    "work",
    "take",
    "last",
    "fit",
    "run",
    "break",
    "fail",
}
_LONGEST: Final = 24  # words and marks
_LONGEST_TEXT: Final = 200  # characters
_TENSED: Final = frozenset(["VBD", "VBP", "VBZ", "MD"])
_CLAUSE_WORDS: Final = _TENSED | {"WDT", "WP", "WRB", "WP$", "EX", "UH"}
_OPENING: Final = re.compile(
    r"(?:(?:so|well|btw|by the way|oh|ok|okay|also|fyi|hey|hi|guess what|good news|big news|news|update|reminder|and|"
    r"but|then|just so you know|i[’']?ve got news)\b[!:,. ]*)+",
    re.IGNORECASE,
)
_CLOSING: Final = re.compile(
    r"(?:[ ,](?:ugh|yay|lol|haha|though|btw|by the way|too|again|actually|finally)\b|[\s.,!…:;)(]|[^\w\s.,'’)\"-])+$",
    re.IGNORECASE,
)
_DOUBTFUL: Final = re.compile(
    r"[?\"“”;()]|:(?!\d)|\b(?:if|unless|whether|would|could|should|might|may have|as if|like a|"
    r"(?:after|before) \w+ing)\b",
    re.IGNORECASE,
)
_UNREAD_TIME: Final = re.compile(
    r"\b(?:ago|since|until|till|yesterday|tomorrow|tonight|today|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|"
    r"february|april|june|july|august|september|october|november|december|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_HOURS: Final = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_BESIDE_HOUR: Final = r"(?:a quarter|quarter|five|ten|twenty|twenty-five|\d\d?)"
_CLOCK: Final = re.compile(
    r",? ?\b(?P<lead>at|from|by|@|since|until|till) (?:about |around )?(?P<clock>"
    rf"(?:(?:half|{_BESIDE_HOUR}) (?:minutes )?"
    rf"(?:past|to) (?:{_HOURS}|\d\d?)|half {_HOURS}|noon|midday|midnight|\d{{1,2}}[:.]\d\d(?: ?[ap]\.?m\b\.?)?|"
    rf"\d{{1,2}}(?: ?[ap]\.?m\b\.?| o['’]clock)?|{_HOURS}(?: o['’]clock| thirty| fifteen)?)"
    r"(?: in the (?:morning|afternoon|evening))?)"
    r"(?= *(?:$|[.,!]|on |in |at |with |sharp|next |this |today|tomorrow|last |yesterday|and ))",
    re.IGNORECASE,
)
_SPOKEN_CLOCK: Final = re.compile(rf"\bat (?:half|{_BESIDE_HOUR}) (?:past |to )?(?:{_HOURS}|\d\d?)\b", re.IGNORECASE)
_OFF_TO: Final = re.compile(r"^(?:off to|away in|back in|back at|back from) (?=\w)", re.IGNORECASE)
_CLEFT: Final = re.compile(
    r"^(?:it|that)(?:['’]s| was| is)(?: only| just| about)?(?: that| when)? (?=(?:i|we)\b)", re.IGNORECASE
)
_WHEN_CLAUSE: Final = re.compile(
    r",? when (?:i|we|he|she|they) (?:was|were|turned) (?:(?:about|around|only) )?[\w-]+(?: years old)?(?=,)",
    re.IGNORECASE,
)
_AGE_CLAUSE: Final = re.compile(r",? (?:at the age of|at age|aged) [\w-]+(?=,)", re.IGNORECASE)
_THIS_HOME: Final = re.compile(rf"\bthis (?=(?:{'|'.join(sorted(WORDS['surroundings']))})\b)", re.IGNORECASE)
_TIME_S: Final = re.compile(
    r"^(tomorrow|today|tonight|(?:mon|tues|wednes|thurs|fri|satur|sun)day)['’]s (?=my |our |the )", re.IGNORECASE
)
_SINCE_AGE: Final = re.compile(r"\bsince (?:i|we|he|she) (?:was|turned|were) [\w ]+?, in (?=\d{4}\b)", re.IGNORECASE)
_NAMED_TIME: Final = (
    r"(?:19|20)\d\d\b|(?:january|february|march|april|may|june|july|august|september|october|november|december)\b|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|the \d"
)
# "since the accident in 2018" is since 2018
_BOUND_BY_EVENT: Final = re.compile(
    rf"\b(since|until|till) (?:(?:the|my|our|his|her|their) [\w'’ -]{{2,30}}?|lockdown|retirement|graduation|"
    rf"\w+ing(?: [\w'’-]+){{0,4}}?) "
    rf"(?:(?:in|on) (?={_NAMED_TIME})|(?=last (?:week|month|year|summer|spring|autumn|winter)\b))",
    re.IGNORECASE,
)
_SINCE_THEN: Final = re.compile(
    r"^it(?:['’]s| has| is)(?: (?:now|already|just|only|about|almost))?(?: been)? "
    r"((?:[\w-]+ ){1,2}(?:days?|weeks?|months?|years?)) since (?=(?:i|we)\b)",
    re.IGNORECASE,
)
_PART_TIME: Final = re.compile(r"(?<=\b(?:part|full)) (?=time\b)", re.IGNORECASE)
_FEASTS: Final = r"(?:christmas|xmas|easter|thanksgiving|new year|eid|hanukkah|diwali|passover)"
_FOR_FEAST: Final = re.compile(
    rf"\b(home|over|away|back|stay|here|coming|staying|visiting) for (?={_FEASTS}\b)", re.IGNORECASE
)
_GIVEN_FOR_FEAST: Final = re.compile(
    rf"\b((?:got|received|was given|were given|bought|gave) [^,.;:]{{2,40}}?) for (?={_FEASTS}\b(?! [a-z]))",
    re.IGNORECASE,
)
# what only adds a remark: "passed my theory test today, so happy"; not ", near Lyon", ", and a dog", ", Texas"
_REMARK: Final = re.compile(
    r",\s+(?!(?:and|or|but|nor|until|till|since|from|in|on|to|for|with|as|not|near|at(?! \d\d\b)|by|then|because|"
    r"so that|when|who|which|where)\b)[a-z0-9][\w:'’]*(?:\s[a-z0-9'’]+){0,2}[!.… ]*$"
)
_SPLICE: Final = re.compile(r",\s+(?:i|we|it|she|he|they)(?:['’]\w+)?\s\w+[^,;]*$", re.IGNORECASE)
_SUBJECT: Final = re.compile(r"(?:i|we|he|she|my|our|the)\b", re.IGNORECASE)
_BARE_KIN: Final = re.compile(r"^(gran|granny|nan|nana|grandma|grandad|granddad|grandpa)(?= [a-z])", re.IGNORECASE)
_THIS_THING: Final = re.compile(r"\b(in|on|with) this (?=\w+ since\b)", re.IGNORECASE)
_PREPOSITION: Final = re.compile(
    r"\b(?:at|for|from|to|since|until|till|about|around|of|during|the|and)$", re.IGNORECASE
)
_MOVED: Final = re.compile(
    r"\b(?:moved|postponed|rescheduled|back|forward|delayed|changed) (?:to|until)$", re.IGNORECASE
)
_SECOND_PART: Final = re.compile(r",? (?:and then|and|then|but) |, ", re.IGNORECASE)


class Rest(NamedTuple):
    """What is left of a sentence without its times.

    Args:
        text: the words.
        sentence: the sentence that the times were found in.
        clock: what it says of the time of day, where it names no day.
    """

    text: str
    sentence: str
    clock: re.Match[str] | None


def parts_of(doc: Doc, at: float) -> tuple[str, ...]:
    """Return a sentence, or where one verb has several times, the verb with what belongs to each of them.

    Args:
        doc: the dependency tree of the sentence.
        at: time of the sentence in seconds since 1970-01-01 UTC, or a turn, against which nothing is resolved.

    Returns:
        The texts; none of a sentence that is long, asks, quotes or supposes.
    """
    if not _is_short(doc) or abs(at) < TURNS:
        return ()
    text = _plain(doc.text)
    opening = doc[0]
    is_left_out = opening.tag_ == "VBG" and opening.dep_ == "ROOT"  # "Moving to Leeds next month"
    if text and (_OFF_TO.match(text) or (is_left_out and not any(c.dep_ == "nsubj" for c in opening.children))):
        text = f"I'm {text[0].lower()}{text[1:]}"
    elif text and _leaves_out_speaker(doc):
        text = f"I {text[0].lower()}{text[1:]}"
    return () if not text or _DOUBTFUL.search(text) else tuple(_parts(text, doc, at))


def _is_short(doc: Doc) -> bool:
    return 0 < len(doc) <= _LONGEST and len(doc.text) <= _LONGEST_TEXT


def _leaves_out_speaker(doc: Doc) -> bool:
    """Return whether a sentence begins with what only a person does: "finished chemo on the 2nd"."""
    verb = doc[0]
    is_past = verb.tag_ in ("VBD", "VBN") and verb.dep_ == "ROOT" and verb.lemma_.lower() not in _OF_THINGS
    if not is_past or any(c.dep_ in ("nsubj", "nsubjpass", "aux", "auxpass") for c in verb.children):
        return False
    following = [c.dep_ for c in verb.rights]
    return "dobj" in following or (verb.tag_ == "VBD" and "prep" in following and "agent" not in following)


def misleads(doc: Doc, at: float) -> bool:
    """Return whether the tree of a sentence misleads about its times.

    In "went to Rome in 2015 and to Oslo in 2018" one verb has several places with a time each, and in "a viewing at
    quarter to five on Tuesday" the time of day is taken for a part of the thing. "Since the accident in 2018" is
    since 2018.

    Args:
        doc: the dependency tree of the sentence.
        at: as for :func:`parts_of`.
    """
    if abs(at) < TURNS or not _is_short(doc):
        return False
    if _BOUND_BY_EVENT.search(doc.text) is not None:
        return True
    return _SPOKEN_CLOCK.search(doc.text) is not None or len(tuple(_parts(_plain(doc.text), doc, at))) > 1


def with_times_beside(docs: Sequence[Doc], at: float) -> dict[int, str]:
    """Return the sentences of which the time stands in the sentence before or after, each with that time.

    >>> with_times_beside(parse(["Big day tomorrow!", "I'm taking my driving test."]), 1715767200.0)  # doctest: +SKIP
    {1: "I'm taking my driving test tomorrow"}

    Args:
        docs: the dependency trees of the sentences of a message.
        at: as for :func:`parts_of`.

    Returns:
        The sentences by the index of their tree; none for a message of more than three sentences.
    """
    if abs(at) < TURNS or not 2 <= len(docs) <= 3 or not all(map(_is_short, docs)):
        return {}
    times = [[time for time in time_expressions(doc.text, at) if time.role != "duration"] for doc in docs]
    found: dict[int, str] = {}
    for index, (before, after) in enumerate(pairwise(docs)):
        if len(times[index]) == 1 and not times[index + 1] and _sets_the_scene(before):
            found[index + 1] = _with_time(after, before, times[index][0])
        elif len(times[index + 1]) == 1 and not times[index] and _only_says_when(after, before):
            found[index] = _with_time(before, after, times[index + 1][0])
    return found


def _with_time(doc: Doc, beside: Doc, time: TimeExpression) -> str:
    when = beside.text[time.start : time.end]
    when = when if beside[0].pos_ == "PROPN" else when[0].lower() + when[1:]
    return f"{_plain(doc.text)} {when}"


def _sets_the_scene(doc: Doc) -> bool:
    """Return whether a sentence names a time for the next one: "Big day tomorrow!", "yesterday was busy"."""
    verbs = [token for token in doc if token.tag_ in _TENSED | {"VB"}]
    if not verbs:
        return len(doc) <= 6 and not any(token.tag_ in ("PRP", "PRP$", "NNP") and token.i for token in doc[:-1])
    be = verbs[0]
    subject = next((c for c in be.lefts if c.dep_ in ("nsubj", "npadvmod", "attr")), None)
    is_time = subject is not None and subject.lemma_.lower() in WORDS["times"]
    return len(verbs) == 1 and be.lemma_ == "be" and is_time and any(c.dep_ in ("acomp", "attr") for c in be.rights)


def _only_says_when(doc: Doc, before: Doc) -> bool:
    """Return whether a sentence gives the time of the one before: "It's on Thursday", "The move is on 1 August"."""
    verb = next((token for token in doc if token.dep_ == "ROOT"), None)
    if verb is None or len(doc) > 10 or verb.lemma_ not in ("be", "start", "begin", "happen"):
        return False
    subject = next((c for c in verb.lefts if c.dep_ == "nsubj"), None)
    told = next((token for token in before if token.dep_ == "ROOT"), None)
    is_plan = told is not None and (told.tag_ == "VBG" or told.lemma_ == "have")
    if subject is None or told is None or not is_plan or any(c.dep_ in ("acomp", "attr", "neg") for c in verb.rights):
        return False
    meant = {told.lemma_.lower()} | {c.lemma_.lower() for c in told.rights if c.dep_ == "dobj"}
    return subject.lower_ in ("it", "that") or subject.lemma_.lower() in meant


def _plain(text: str) -> str:
    opening = _OPENING.match(text)
    text = text[opening.end() :] if opening is not None else text
    text = _THIS_HOME.sub("the ", _CLOSING.sub("", text))
    text = _SINCE_AGE.sub("since ", _TIME_S.sub(r"\1 is ", text))
    text = _BOUND_BY_EVENT.sub(r"\1 ", _SINCE_THEN.sub(r"\1 ago ", text))
    text = _BARE_KIN.sub(r"my \1", text)
    text = _THIS_THING.sub(r"\1 a ", _PART_TIME.sub("-", text))
    text = _GIVEN_FOR_FEAST.sub(r"\1 at ", _FOR_FEAST.sub(r"\1 at ", text))
    for pattern in (_REMARK, _SPLICE):
        remark = pattern.search(text)
        if remark is None or _UNREAD_TIME.search(remark[0]):
            continue
        said = text[: remark.start()]
        if _UNREAD_TIME.search(said) and (pattern is _REMARK or _SUBJECT.match(said)):
            text = said
    return text


def bounding_times(text: str, at: float, is_past: bool | None) -> list[TimeExpression]:
    """Return the times that a text names, without those that recur.

    Args:
        text: the text.
        at: as for :func:`parts_of`.
        is_past: whether its verb tells what is over; ``None`` to guess it.
    """
    return [time for time in time_expressions(text, at, is_past=is_past) if time.role != "recurring"]


def _parts(text: str, doc: Doc, at: float) -> Iterator[str]:
    """Yield the sentence, or for each of its times the verb with what belongs to that time."""
    times = [
        time for time in bounding_times(text, at, None) if time.valid_from is not None or time.valid_to is not None
    ]
    verb = next((t for t in doc if t.tag_ in ("VBD", "VBG", "VBN", "VBP", "VBZ") and t.dep_ == "ROOT"), None)
    offset = text.lower().find(f" {verb.lower_} ") if verb is not None else -1
    if len(times) != 2 or verb is None or offset < 0 or offset > times[0].start or times[1].end < len(text):
        yield text
        return
    joint = _SECOND_PART.match(text, times[0].end)
    second = text[joint.end() : times[1].start].strip() if joint is not None else ""
    words = second.lower().split()
    is_place = bool(words) and words[0] in ("in", "at", "to", "for", "as", "with", "from", "on")
    is_thing = bool(words) and words[0] in ("a", "an", "the", "my", "our")
    token = next((t for t in doc if joint is not None and words and t.lower_ == words[0] and t.idx > verb.idx), None)
    if not (is_place or is_thing) or token is None or any(t.tag_ in _CLAUSE_WORDS for t in doc[verb.i + 1 :]):
        yield text
        return
    first = text[offset + 1 : times[0].start].split()
    if len(words) < 2 or (is_place and words[0] not in [word.lower() for word in first]):
        yield text
        return
    yield text[: times[0].end]
    yield f"{text[: offset + len(verb.text) + 1]} {second} {text[times[1].start :]}"


def without_times(text: str, at: float) -> Rest | None:
    """Return what is left without times; ``None`` where there is none, or one that is not understood."""
    times: list[TimeExpression] = []
    for is_past in (None, True, False):
        found = time_expressions(text, at, is_past=is_past)
        if any(time.role == "recurring" for time in found):
            return None
        if any(time.valid_from is not None or time.valid_to is not None for time in found):
            times = found
            break
    clock = _CLOCK.search(text)
    if not times and clock is None:
        return None
    spans = [(time.start, time.end) for time in times]
    if clock is not None and not any(start < clock.end() and clock.start() < end for start, end in spans):
        spans.append(clock.span())
    left = text
    for start, end in sorted(spans, reverse=True):
        left = f"{left[:start].rstrip()} {left[end:].lstrip()}"
    sentence = text
    for pattern in (_WHEN_CLAUSE, _AGE_CLAUSE):
        left = pattern.sub("", left)
        sentence = pattern.sub("", sentence)
    left = re.sub(r"\s*,(?=\s*(?:,|$))", "", re.sub(r"^[\s,.–—-]+|[\s,.–—-]+$", "", left))
    left = re.sub(r"\s{2,}", " ", _CLEFT.sub("", left)).strip(" ,")
    if not left or (_PREPOSITION.search(left) and not _MOVED.search(left)) or _UNREAD_TIME.search(left):
        return None
    left = left[0].upper() + left[1:] if left[0].isalpha() else left
    return Rest(left, sentence, None if times else clock)
