"""Reads a message of one short sentence without its time, and gives what it says that time.

Most sentences that give no fact with their times ("On 3 March I start as head of sales", "Last spring I hiked the West
Highland Way") are plain without them. What is left of a sentence is read by all other rules; where these make nothing
of it, its verb and what follows it are the fact, because somebody who says nothing else means that it be known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.aspects import aspect_for
from worldthread.extract.parsed.clauses import WORDS, Clause
from worldthread.extract.parsed.dated import relation_of, shown_when
from worldthread.extract.parsed.facts import IS_ON, LocatedFact, facts_of
from worldthread.extract.parsed.parser import normalised, parse
from worldthread.extract.parsed.phrases import render
from worldthread.extract.parsed.probable import is_figure
from worldthread.extract.parsed.sentence_times import Rest, bounding_times, parts_of, without_times
from worldthread.extract.parsed.validity import is_kinship, is_planning, is_told_as_past, with_validity
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.words import is_program
from worldthread.extract.times import TimeExpression
from worldthread.extract.when import shown_time
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LONGEST_REST: Final = 12  # words after the verb
_IT_IS: Final = re.compile(r"^(?:it|that)(?:['’]s| is| will be|['’]ll be| was) (?P<what>.+)$", re.IGNORECASE)
_THERE_IS: Final = re.compile(r"^there(?:['’]s| is| will be|['’]ll be| was) (?P<what>an? .+)$", re.IGNORECASE)
_TIME_IS: Final = re.compile(r"^(?:is|was|will be|['’]s) (?P<what>(?:my|our|the) .+)$", re.IGNORECASE)
_SCHEDULE: Final = re.compile(
    r"^(?P<what>.+?)(?:['’]s| is| are| was| were| will be|['’]ll be| takes place| is happening| is scheduled|"
    r" is planned|"
    r" is due| is set| (?:has been|was|got|is being) "
    r"(?:moved|postponed|rescheduled|pushed back|brought forward|put back|delayed|changed)(?: to| until)?)$",
    re.IGNORECASE,
)
_APPOINTMENT: Final = re.compile(
    rf"(?:the )?(?P<what>(?:{'|'.join(map(re.escape, sorted(WORDS['appointments'])))})(?: appointment)?)", re.IGNORECASE
)
_WAS: Final = re.compile(
    r"\b(?:was|were)\b(?! moved| postponed| rescheduled| pushed| brought| put| delayed| changed)", re.IGNORECASE
)
_ARTICLE: Final = re.compile(r"^(?:an?|the|some) ", re.IGNORECASE)
_FILLERS: Final = frozenset(["just", "finally", "also", "only", "really", "actually", "already", "still", "even"])
_SAID: Final = WORDS["attitudes"] - {"see", "propose", "announce", "find", "report"}
_EMPTY: Final = frozenset([
    "appear", "dream", "feel", "happen", "joke", "keep", "kid", "let", "look", "mean", "seem", "sound", "try", "turn",
    "want",
])  # fmt: skip
_THEIR: Final = re.compile(r"^((?:my|our) (?:\w+ )?\w+s \w+ (?:\w+ )?)their (?=\w)", re.IGNORECASE)
_OF_THINGS: Final = WORDS["schedules"] | {"come", "cost", "work", "take", "last", "fit", "run"}
_WILL: Final = frozenset(["will", "'ll", "’ll"])
_NAMES: Final = frozenset(
    ["NN", "NNS", "NNP", "NNPS", "CD", "JJ", "POS", "PRP$", "DT", "IN", "VBG", "HYPH", "CC", "VBN", "FW", "JJS"]
)
_TENSED: Final = frozenset(["VBD", "VBP", "VBZ", "MD"])
_FINITE: Final = frozenset(["VBD", "VBP", "VBZ", "MD", "WDT", "WP", "WRB", "WP$", "EX", "UH"])
_POINTING: Final = frozenset([
    "anything", "everybody", "everyone", "everything", "he", "him", "how", "it", "never", "no", "nobody", "not",
    "nothing",
    "one", "she", "so", "somebody", "someone", "something", "stuff", "that", "theirs", "them", "there", "these", "they",
    "this", "those", "what", "who", "you", "your", "yours",
])  # fmt: skip
_PLACES: Final = frozenset(
    ["here", "home", "abroad", "away", "off", "out", "back", "up", "over", "down", "in", "together"]
)


def dated_sentence(doc: Doc, referents: Referents, names: frozenset[str], at: float) -> tuple[LocatedFact, ...]:
    """Return what a message of one short sentence says at the times that it names.

    Args:
        doc: the dependency tree of the sentence, which is all that the message says.
        referents: whom its pronouns mean.
        names: the words of the proper names in it.
        at: time of the sentence in seconds since 1970-01-01 UTC, or a turn, against which nothing is resolved.

    Returns:
        Its facts with their times; none where that is not clear.
    """
    if is_program(referents.speaker):
        return ()
    found = [_read_part(part, referents, names, at) for part in parts_of(doc, at)]
    return tuple(fact for facts in found for fact in facts) if found and all(found) else ()


def _read_part(text: str, referents: Referents, names: frozenset[str], at: float) -> tuple[LocatedFact, ...]:
    rest = without_times(text, at)
    if rest is None:
        return ()
    if (day := _day_of(rest, referents, at)) is not None:
        return (day,)
    words = _THEIR.sub(r"\1the ", rest.text)
    doc = parse([normalised(f"{words}.")])[0]
    if not len(doc):
        return ()
    read = facts_of(doc, referents, names)
    if len(read.clauses) != 1 or sum(t.tag_ in _TENSED and t.dep_ not in ("aux", "auxpass") for t in doc) > 1:
        return ()
    clause, named = read.clauses[0]
    if is_figure(clause.verb):
        return ()
    if is_planning(clause) and any((time.valid_from or 0.0) > at for time in bounding_times(rest.sentence, at, False)):
        return ()  # "I signed up for a race in September"
    facts = tuple(one for one in read.facts if not is_kinship(one))  # who Tom is holds whenever he comes
    subject = named.name if named is not None else _thing(clause, referents)
    if named is not None and referents.person is None and named.head.tag_ != "PRP":
        referents = referents._replace(person=subject)  # "my sister got her citizenship"
    elif named is None and referents.thing is None:
        referents = referents._replace(thing=subject)  # "the car goes in for its service"
    is_past = is_told_as_past(clause)
    times = bounding_times(rest.sentence, at, is_past)
    if rest.clock is not None:
        times = _today(rest.clock, clause, at, is_past=is_past)
    if not facts:
        told = _told(clause, referents, times) if subject is not None else None
        if subject is None or told is None:
            return ()
        fact = Fact(subject, *told)
        facts = (LocatedFact(replace(fact, aspect=aspect_for(fact)), clause),)
    if clause.is_perfect and not clause.is_past and any(time.role in ("since", "duration") for time in times):
        facts = tuple(  # without its time "we've had a lodger" is over
            one._replace(fact=replace(one.fact, relation="has")) if one.fact.relation == "had" else one for one in facts
        )
    dated = (_planned(with_validity(one, times, at, is_past=is_past), at) for one in facts)
    return tuple(
        one._replace(is_plain=True, is_certain=False)
        for one in dated
        if _is_dated(one.fact) and not _is_mistimed(one, at)
    )


def _planned(stated: LocatedFact, at: float) -> LocatedFact:
    """Return "plans to", "retire" for "is", "retiring", where that is to come."""
    fact, verb = stated.fact, stated.clause.verb
    is_to_come = fact.valid_from is not None and fact.valid_from > at
    if fact.relation != "is" or not is_to_come or fact.object.split()[0] != verb.lower_ or verb.tag_ != "VBG":
        return stated
    words = f"{verb.lemma_.lower()}{fact.object[len(verb.text) :]}"
    return stated._replace(fact=replace(fact, relation="plans to", object=words))


def _is_dated(fact: Fact) -> bool:
    return fact.valid_from is not None or fact.valid_to is not None


def _is_mistimed(stated: LocatedFact, at: float) -> bool:
    """Return whether a verb in the present tells what is over: then its tense was not seen."""
    clause, fact = stated.clause, stated.fact
    is_present = not (clause.is_past or clause.is_perfect or clause.modal)
    return is_present and fact.valid_to is not None and fact.valid_to <= at


def _today(clock: re.Match[str], clause: Clause, at: float, *, is_past: bool) -> list[TimeExpression]:
    """Return today, where a time of day without a day can only be of today: "I have a call at 4 pm"."""
    happens = clause.is_progressive or clause.modal in _WILL or is_past
    if clause.lemma == "have" and not clause.is_past:
        happens = any(c.dep_ == "dobj" and any(a.lower_ in ("a", "an") for a in c.lefts) for c in clause.verb.rights)
    now = datetime.fromtimestamp(at, UTC)
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    text, lead = clock["clock"].lower(), clock["lead"].lower()
    hour = re.match(r"(\d{1,2})(?:[:.](\d\d))? ?([ap])?", text)
    known = {"noon": 12, "midday": 12}.get(text)
    minute = 0
    if hour is not None:
        value, minute = int(hour[1]), int(hour[2] or 0)
        if hour[3]:
            known = value % 12 + (12 if hour[3] == "p" else 0)
        elif value > 12:
            known = value
        elif is_past or lead != "at" or value <= now.hour:
            return []  # of the morning or of the evening
        else:
            known = value
    if known is None or known > 23:
        return []
    moment = day + timedelta(hours=known, minutes=minute)
    is_over = moment <= now
    if lead == "since":
        begin = moment if is_over else moment - timedelta(days=1)
        return [TimeExpression(0, 0, begin.timestamp(), None, "since", "hour")]
    if lead in ("until", "till"):
        is_open = clause.lemma == "be" or clause.is_progressive
        return [] if is_over or not is_open else [TimeExpression(0, 0, None, moment.timestamp(), "until", "hour")]
    if lead == "from" or is_over != is_past or not happens or clause.is_perfect:
        return []
    return [TimeExpression(0, 0, day.timestamp(), (day + timedelta(days=1)).timestamp(), "at", "day")]


# -- what happens on a day --------------------------------------------------------------------------------------------


def _day_of(rest: Rest, referents: Referents, at: float) -> LocatedFact | None:
    """Read "it's parents' evening this Thursday", "tomorrow is my first day", "the fair is on Friday"."""
    match = (
        _IT_IS.match(rest.text)
        or _THERE_IS.match(rest.text)
        or _TIME_IS.match(rest.text)
        or _SCHEDULE.match(rest.text)
        or _APPOINTMENT.fullmatch(rest.text)
    )
    if match is None or rest.clock is not None or set(rest.text.lower().split()) & WORDS["doubt"]:
        return None
    is_past = _WAS.search(rest.text[: match.start("what")] + rest.text[match.end("what") :]) is not None
    times = [time for time in bounding_times(rest.sentence, at, is_past) if time.valid_from is not None]
    if len(times) != 1 or times[0].valid_to is None or times[0].role not in ("at", "during"):
        return None
    if (times[0].valid_to <= at) != is_past:
        return None
    doc = parse([normalised(match["what"])])[0]
    words = [token for token in doc if not token.is_punct or token.text in "'’-"]
    if not words:
        return None
    head = doc[:].root
    is_do = len(words) > 1 and words[-1].lower_ == "do" and words[-2].lower_ in ("hen", "stag", "leaving", "work")
    is_noun = (is_do or head.tag_ in ("NN", "NNS", "NNP", "NNPS", "CD", "JJ")) and all(
        t.tag_ in _NAMES for t in words[: len(words) - is_do]
    )
    first = words[0].lower_
    is_known = first in ("my", "our", "the") or words[0].tag_ in ("NN", "NNS", "NNP", "NNPS", "VBG")
    is_known = is_known or (len(words) == 2 and first in ("annual", "final", "half", "open") and words[1].tag_ == "NN")
    if match.re is _THERE_IS:
        is_known = head.tag_ in ("NN", "NNP")
    if match.re is _IT_IS:
        is_known = is_known and (first != "the" or len(words) > 2) and head.tag_ != "NNP"
    is_thing = head.lemma_.lower() not in WORDS["vague"] | WORDS["relations"] | WORDS["judging"] | WORDS["stories"] - {
        "play",
        "show",
    }
    is_appointment = match.re is _APPOINTMENT
    if not is_appointment and (not is_noun or not is_known or not is_thing):
        return None
    if len(words) > 8 or head.ent_type_ == "PERSON":
        return None
    if first in _POINTING or any(token.lower_ in _POINTING for token in words):
        return None
    name = render(doc[0], words[-1].i, referents)
    if name is None:
        return None
    name = _ARTICLE.sub("", name)
    name = name if words[0].tag_ == "NNP" or first in ("my", "our") else name[0].lower() + name[1:]
    begin, end = times[0].valid_from, times[0].valid_to
    assert begin is not None
    relation, aspect = ("was on", None) if is_past else (IS_ON, f"day of {name}".lower())
    fact = Fact(name, relation, _shown_days(begin, end), aspect, valid_from=begin, valid_to=end)
    clause = Clause(head, None, "be", (), "", False, False, False, False, "")
    return LocatedFact(fact, clause, is_plain=True)


def _shown_days(begin: float, end: float) -> str:
    """Return a day, or the first and the last of several."""
    if end - begin <= timedelta(days=1).total_seconds():
        return shown_time(begin)
    return f"{datetime.fromtimestamp(begin, UTC):%Y-%m-%d} to {datetime.fromtimestamp(end - 1, UTC):%Y-%m-%d}"


# -- what a verb tells ------------------------------------------------------------------------------------------------


def _thing(clause: Clause, referents: Referents) -> str | None:
    """Return a subject that is a thing or an event: "the plumber", "term", "dinner with Ana"."""
    subject = clause.subject
    if subject is None or subject.tag_ not in ("NN", "NNS", "NNP") or subject.i > clause.verb.i:
        return None
    words = [token for token in subject.subtree if token.i < clause.verb.i]
    if words[-1].i - words[0].i >= len(words) or words[0].i > 0:
        return None
    if any(token.lower_ in _POINTING or token.tag_ not in _NAMES for token in words) or words[0].lower_ in ("a", "an"):
        return None
    if subject.lemma_.lower() in WORDS["vague"] | WORDS["stories"] | WORDS["anybody"] - WORDS["relations"]:
        return None
    name = render(words[0], words[-1].i, referents)
    if name is None:
        return None
    name = _ARTICLE.sub("", name)
    return name if words[0].tag_ in ("NNP", "PRP$") else name[0].lower() + name[1:]


def _told(clause: Clause, referents: Referents, times: Sequence[TimeExpression]) -> tuple[str, str] | None:
    """Return the verb of a clause, and what follows it."""
    verb = clause.lemma.partition(" ")[0]
    if verb == "turn" and clause.verb.i + 1 < len(clause.verb.doc) and clause.verb.nbor().like_num:
        return "has age", clause.verb.nbor().text
    if verb in _SAID | _EMPTY or (clause.modal and clause.modal not in _WILL):
        return None
    is_pause = verb == "be" or (clause.is_progressive and verb != "go")  # "I'm not drinking until Easter"
    if clause.negation and (clause.is_past or not (clause.is_perfect or is_pause) or clause.modal):
        return None
    if verb == "go" and clause.is_progressive and any(c.dep_ == "xcomp" for c in clause.verb.rights):
        return None  # "we were going to move"
    tokens = list(clause.verb.doc[clause.verb.i + 1 :])
    while tokens and (tokens[-1].is_punct or tokens[-1].is_space):
        tokens.pop()
    while tokens and tokens[0].lower_ in _FILLERS:
        tokens.pop(0)
    particle = clause.lemma.partition(" ")[2]
    if particle and tokens and tokens[0].lower_ == particle:
        tokens.pop(0)
    elif particle:
        clause = replace(clause, lemma=verb)
    causes = verb in ("get", "have")  # "are getting a new boiler put in"
    if len(tokens) > _LONGEST_REST or any(_is_unclear(t) and not (causes and t.tag_ == "VBD") for t in tokens):
        return None
    if any(t.lemma_.lower() in WORDS["stories"] and t.head.lower_ == "in" for t in tokens):
        return None  # "died in the game"
    if not tokens:
        return _of_verb_alone(clause, times)
    if clause.subject is None and (verb in _OF_THINGS or tokens[0].tag_ in ("CD", "RB", "JJ", "VBN")):
        return None  # "Came five days late": the subject that is left out may be a thing
    if len(tokens) == 1 and tokens[0].tag_ in ("IN", "RP") and clause.is_passive:  # "was broken into"
        return _relation(clause, "").rpartition(" ")[0], f"{clause.verb.lower_} {tokens[0].lower_}"
    if verb == "be" and not _is_told_state(clause, tokens):
        return None
    following = ""
    if tokens[0].tag_ in ("IN", "TO", "RP") and len(tokens) > 1 and tokens[1].tag_ not in ("VB", "RB"):
        following = tokens.pop(0).lower_
        if tokens[0].tag_ in ("IN", "TO") and len(tokens) > 1:  # "out of the office", "up to Leeds"
            following = f"{following} {tokens.pop(0).lower_}"
    head = next((t for t in tokens if t.head not in tokens), tokens[0])
    if _says_nothing(head, tokens):
        return None
    value = render(tokens[0], tokens[-1].i, referents)
    if value is None:
        return None
    return _relation(clause, following), _ARTICLE.sub("", value)


def _relation(clause: Clause, following: str) -> str:
    words = relation_of(clause, following)
    if clause.lemma == "be":
        be = "plans to be" if clause.modal else "was" if clause.is_past else "is"
        words = " ".join(filter(None, (be, following)))
    elif clause.is_passive and clause.is_past:
        words = " ".join(filter(None, ("was", clause.verb.lower_, following)))
    elif clause.is_passive:
        words = " ".join(filter(None, ("has been" if clause.is_perfect else "is", clause.verb.lower_, following)))
    if clause.negation and not clause.is_perfect:
        return words.replace("is ", "is not ", 1)
    if clause.negation:
        words = (
            words.replace("has ", "has not ", 1) if words.startswith("has ") else f"has not been {following}".strip()
        )
    return words


def _of_verb_alone(clause: Clause, times: Sequence[TimeExpression]) -> tuple[str, str] | None:
    """Read "I'm fasting", "the plumber left", "I haven't smoked", with nothing after the verb."""
    if clause.lemma in (WORDS["light"] | WORDS["empty"] | {"be"}) - WORDS["schedules"] - {"come"}:
        return None
    if clause.lemma == "come" and (clause.subject is None or clause.subject.tag_ == "PRP"):
        return None
    words = _relation(clause, "").rpartition(" ")
    if words[0]:
        return words[0], words[2]
    shown = shown_when(times)
    return None if shown is None else (f"{words[2]} {shown[0]}", shown[1])


def _is_unclear(token: Token) -> bool:
    """Return whether a word after the verb belongs to another clause, or only the talk explains it."""
    is_inner = token.tag_ in _FINITE and not (token.tag_ in ("VBP", "VBZ", "VBD") and token.pos_ not in ("VERB", "AUX"))
    return (
        is_inner or token.lower_ in _POINTING or (token.is_punct and token.text not in ("-", "'", "’", ",", "&", "."))
    )


def _is_told_state(clause: Clause, tokens: Sequence[Token]) -> bool:
    """Return whether a complement of "be" tells a place, a kind or a state, and judges nothing."""
    first = tokens[0]
    if first.lower_ in WORDS["judging"] | WORDS["vague"]:
        return False
    head = next((t for t in tokens if t.head not in tokens), first)
    if head.lemma_.lower() in WORDS["vague"] | WORDS["judging"] | {"waste", "disaster", "nightmare", "toast"}:
        return False
    if head.tag_ == "NN" and first == head and not any(c.lower_ == "of" for c in head.rights):
        return False  # "we're toast", but "I was chair of the board"
    is_thing = clause.subject is not None and clause.subject.tag_ in ("NN", "NNS")
    is_owned = clause.subject is not None and any(c.dep_ == "poss" for c in clause.subject.lefts)
    return (
        not is_thing
        or is_owned
        or first.tag_ == "IN"
        or first.lower_ in _PLACES
        or first.lower_ in WORDS["lasting_adjectives"]
    )


def _says_nothing(head: Token, tokens: Sequence[Token]) -> bool:
    """Return whether an object only names a stretch of time, a matter of the talk, or praise."""
    lemma = head.lemma_.lower()
    words = [t for t in tokens if t.tag_ not in ("DT", "PRP$") and not t.is_punct]
    if head.pos_ == "PROPN" or any(t.text == "-" for t in tokens):
        return False  # "part-time"
    if (
        lemma in WORDS["vague"]
        and len(words) < 3
        and not any(c.dep_ == "poss" and c.pos_ == "NOUN" for c in head.children)
    ):
        return True
    if head.head.lemma_ == "work" and head.tag_ in ("NNS", "RB"):
        return False  # "works nights", "is working late"
    if lemma in WORDS["times"] and all(t == head or t.lower_ in WORDS["judging"] for t in words):
        return True
    return all(
        t.lower_ in WORDS["judging"] | WORDS["vague"] | WORDS["abstract"] or t.tag_ == "RB" for t in words
    ) and not all(t.lower_ in _PLACES for t in words)
