"""Finds what a message takes back in the same breath: an ending that was a joke, a while of long ago, or is to come.

The rules read a sentence for what has ended. Here is what makes such a reading wrong whatever was read: the sentence
goes on behind an ellipsis and turns out to be about something else, it calls itself figurative, it tells of a while
that is over, or of a day that has not come yet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from worldthread.extract.parsed.change_tables import KINDS, LISTS
from worldthread.extract.parsed.mentions import is_in, mention_of_text, stem
from worldthread.extract.prose.words import WORDS as PROSE_WORDS
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_MONTHS: Final = "|".join(sorted(PROSE_WORDS["months"]))
_SEASON: Final = (
    rf"(?:spring|summer|autumn|winter|{_MONTHS}|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|week|month|year|"
    r"term|a \w+|\w+ (?:days|weeks|months))"
)
_COUNTS: Final = r"an?|a few|a couple of|several|some|two|three|four|five|six|seven|eight|nine|ten|\d+"
_COUNTED: Final = rf"(?:{_COUNTS}|many)"
_FIGURATIVE: Final = re.compile(
    r"\b(?:figuratively|metaphorically|so to speak|not literally|in a manner of speaking|not really though)\b"
)
_A_WHILE_ONCE: Final = re.compile(
    rf"\bfor (?:{_COUNTED} )?(?:hours?|days?|weeks?|months?|years?|while)\b[^.;!]*"
    r"\bonce\b(?! and for all| again| more)|"
    rf"\bonce\b(?! and for all| again| more),? for (?:{_COUNTED} )?(?:hours?|days?|weeks?|months?|years?|while)\b"
)
_TO_COME: Final = re.compile(
    r"\b(?:comes? (?:off|out|down)|ends?|finish(?:es)?|stops?|expires?|runs? out|(?:is|are) up)"
    rf" (?:(?:in|on|by|next|this|at the end of|the end of|early|late|mid)[ -])+(?:the )?{_SEASON}\b"
)
_GOES_ON: Final = re.compile(
    r"\bso (?:the|my|our|his|her) (?!(?:life|world|time|show|list|search)\b)\w+ (?:still )?"
    r"(?:goes on|go on|carry on|carries on|continues?)\b(?! (?:without|hold))"
)
_BY_ANOTHER: Final = re.compile(
    r"^(?:(?:but|and|so|oh|well),? )?(?:the other|another|some other|a different) "
    r"(?!day|week|night|morning|evening|one)\w+(?!.*\b(?:i|we|me|us|my|our|i'm|i've|we've)\b)"
)
_HELD_UP: Final = re.compile(
    r"\b(?:train|bus|tram|ferry|coach|tube|metro|plane|traffic)(?:'s| is| has| was| just| got)* "
    r"(?:stopped|stuck|delayed|late|diverted|held up|stationary)\b"
)
_BACK_SOON: Final = re.compile(
    r"\bback (?:by|before|after|within|at) (?:lunch|noon|dinner|tea|supper|breakfast|"
    r"bedtime|midnight|(?:an|the) hour|\d)"
)
_ABSENT: Final = re.compile(
    r"\b(?:is|'s|are|was) (?:out|off|away|ill|sick)\b[^.;,]*\b(?:this (?:week|morning|afternoon)|today|tonight)\b"
)
_TOO: Final = re.compile(
    r"\b(?!(?:i|we|my|our)\b)[a-z]+(?:'s got| has got| has| caught| got) (?:the|a|it|that)\b[^.,;]*? (?:too|as well)\b"
)
_FOR_A_DAY: Final = re.compile(
    r"\b(?:gave|lent|swapped|passed) (?:up |on )?(?:my|our) (?:seat|place|turn|shift|slot|spot)\b[^.;]*"
    r"\b(?:tonight|today|this (?:morning|afternoon|arvo|evening|weekend|week|time))\b"
)
_DISMISSED: Final = re.compile(
    r"\b(?:let (?:me|us) go|laid (?:me|us) off|laid off|fired|sacked|redundant|redundancy)\b"
)
_OUTSIDE_WORK: Final = re.compile(r"\b(?:union|guild|church|party|choir|club)\b")
_BACK_THEN: Final = re.compile(r"^(?:but |and |well,? )?back in [\w ]{2,20}?,? (?:i|we) ")
_SAME_TIME: Final = re.compile(r"\bsame (?:time|day|date|week|weekend|month|hour)\b")
_DATED: Final = re.compile(rf"\d{{4}}-\d\d|\d[:.]\d\d|\w+days?\b|weekends?\b|(?:{_MONTHS})\b|(?:\d+ ?[ap]m)\b")
_FRIEND: Final = re.compile(
    r"^(?:(?:a|some|one|my|our) )?(?:mate|friend|colleague|coworker|neighbou?r|flatmate|bloke|guy|someone|somebody)"
    r"(?: of (?:mine|ours)| at work)?(?: has| had| just)* (?!(?:and|with|who|of|from)\b)"
    r"[a-z]+(?:ed|old|it|ost|eft|ave)\b"
    r"(?![^,;.]*\b(?:me|us|my|our|mine|i|we)\b)"
)
_NOT_TODAY: Final = re.compile(
    r"\b(?:cancelled|canceled|delayed|late|full|broke down|broken down|missed|not running|stuck)\b.*"
    r"\b(?:today|tonight|this (?:morning|afternoon|evening|week|time)|yesterday|last night|again|(?:got|took|caught|"
    r"cadged|had) an? (?:lift|taxi|cab|ride))\b(?! on(?:wards)?\b)"
)
_TRANSPORT: Final = re.compile(r"\b(?:train|bus|tram|ferry|metro|tube|coach|subway|underground)\b")
_LIMITED: Final = re.compile(
    r"(?:[\s.…–—-]|well,)*\b(?:at least )?(?:till|until) (?:the )?(?!further|death)(?P<till>\w+)"
)
_PAUSE: Final = re.compile(r"(?:\.\.+|…)\s*")
_COMPLETED: Final = re.compile(
    r"(?:from|about|of) (?!(?:now|today|here|tomorrow|course)\b)(?P<rest>(?:(?!(?:i|we|i'm|i’m)\b)[^\s.!?,]+ ?){1,6})"
)
_LAST_BAD: Final = re.compile(
    r"\blast (?:shift|day|week|class|lesson) was (?!on\b|yesterday|today|\w+day\b|last|the|my|over|done)\w|"
    r"\bgot lost (?:in|on|at|for|again)\b"
)
_FOUND_AGAIN: Final = re.compile(
    r"\b(?:lost|left|forgot|misplaced)\b[^.;!?]*\b(?:found|got) (?:it|them|him|her)\b(?! (?:a|another|his|her|the)\b)"
)
_NEXT_DOOR: Final = re.compile(
    r"^(?:(?:but|and|so|oh|well),? )?the \w+ (?:next door|upstairs|downstairs|opposite|across the \w+|"
    r"down the \w+)\b(?!.*\b(?:i|we|me|us|my|our)\b)"
)
_CONTACTS: Final = frozenset(["number", "phone", "mobile", "email", "e-mail", "mail", "address", "extension", "handle"])
_ONES_OWN: Final = frozenset(["mobile", "phone", "cell", "personal", "own", "private", "old", "new", "current"])
_AT_WORK: Final = r"(?:work|office|business|school|landline|emergency)"
_NOTICE_OF_HOME: Final = re.compile(
    r"\bnotice (?:on|to|for) (?:the|my|our) (?:\w+ )?"
    r"(?:flat|apartment|house|room|place|landlord|landlady|lease|rental)\b"
)
_MOVING: Final = re.compile(r"\b(?:mov\w+|flat|apartment|house|room|place|landlord|landlady|tenan\w+|rent\w*|lease)\b")

_DAY_OF_TIME: Final = (
    rf"(?:the )?(?:\d+(?:st|nd|rd|th)\b|\d{{1,2}}[:.]\d\d|\d+ ?[ap]m\b|(?:{_MONTHS})\b|(?:next |this )?"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|tomorrow\b|noon\b|next (?:week|month|year)\b|"
    r"(?:an? )?(?:\w+ )?(?:date|slot|shift)\b)"
)
_OTHER_MOVE: Final = re.compile(
    r"\b(?:moved|shifted|pushed|put|bumped|switched|changed|bounced) (?:(?:it|me|us|him|her|them|(?:the|my|our) \w+) )?"
    r"(?:in |back |up |forward )?(?:to|for|until|till) "
    rf"{_DAY_OF_TIME}|"
    r"\bmoved (?:\w+ )?to (?:tears|laughter|action)\b|"
    r"\b(?:i'm|i am|i was|we were|we're) (?:(?:so|very|really|deeply|quite|truly) )*moved\b(?! (?:to|in|into|out|from|"
    r"back|away|house|over|there|here)\b)|"
    rf"\bmoved (?:out|in|back|away|there|over)? ?(?:\w+ )?for (?:{_COUNTS}|one) (?:days?|nights?|weeks?)\b|"
    rf"\b(?:moved|promoted|bumped) (?:\w+ )?(?:up|down|on|over|across) to (?:(?:the|an?|my|our) )?"
    rf"(?!(?:(?:the|an?|my|our) )?(?:\w+ ){{0,2}}(?:{'|'.join(sorted(LISTS['places']))}|north|south|east|west|coast)\b)"
    r"(?:(?:the|an?|my|our) )?(?:\w+ ){0,2}(?:team|board|class|group|band|grade|league|division|squad|level|desk|floor|"
    r"list|shift|project|role|stage|round|topic|question|chapter|step|phase)\b"
)
_LESS_WORK: Final = re.compile(r"\bcut (?:me|us|him|her|them) (?:back |down )?to\b")
_RANKED: Final = re.compile(
    r"\b(?:finished|came|placed|ranked|ended up) (?:in )?(?:the )?(?:joint |dead )?(?:first|second|third|fourth|fifth|"
    r"last|\d+(?:st|nd|rd|th)|top)\b"
)
_PASSED_TOO: Final = re.compile(
    r"\b(?P<who>\w+) passed "
    r"(?:as well|too|also|with|first time|(?:his|her|their|my|our|the|an?|all) (?!night|day|week)\w+)(?! away)\b"
)
_OFF_FEET: Final = re.compile(r"\brun off (?:his|her|their|my|our|its) feet\b")
_AT_AN_END: Final = re.compile(
    r"\b(?:di(?:ed|es)|dead|death|pass(?:ed|es)|funeral|buri(?:ed|al)|bury|cremat\w+|killed|lost|late|gone|heaven|rest(?:ing|s)?|"
    r"peace\w*|grave|ashes|wake|slipped away|hospice|murdered|drowned|suicide|stillborn|miscarr\w+|disown\w*|estranged|"
    r"adopted|not (?:really|actually)|stepp?\w*|isn't|is not|wasn't|aren't)\b"
)
_LEAVING_WORK: Final = re.compile(
    r"\b(?:fired|sacked|laid off|let (?:me|us|him|her|them) go|redundan\w+|dismissed|axed|quit|resign\w+|notice|p45|"
    r"walked out|stepped down|last (?:day|shift)|contract|new job|retired?|promoted|hired|dropped me|"
    r"out of (?:work|a job)|made me|"
    r"(?:they|management|the (?:boss|company))(?: have| has|'ve)? \w+(?: \w+)? (?:me|us))\b"
)
_BLOOD: Final = LISTS["blood"]
_TRAITS: Final = (
    _BLOOD
    | frozenset(word for name in ("fans", "diets", "bachelors", "drinkers") for word in LISTS[name])
    | LISTS["traits"]
)
_FINE: Final = re.compile(
    r"\b(?:is|are|'s|'re) (?:all |perfectly |totally |absolutely |just |completely |doing )*(?:fine|ok|okay|alright|"
    r"all right|good|great|well|perfect)\b"
)


def withheld(reasons: Mapping[Fact, str], message: str, speaker: str, view: GraphView) -> list[Fact]:
    """Return the facts that a message does not end, though a sentence of it seems to.

    Args:
        reasons: the facts, each with the sentence that was read as its end.
        message: the whole message.
        speaker: who says it.
        view: what the memory holds.
    """
    return [fact for fact in reasons if _is_withheld(fact, reasons, message, speaker, view)]


def _is_withheld(fact: Fact, reasons: Mapping[Fact, str], message: str, speaker: str, view: GraphView) -> bool:
    reason = reasons[fact]
    said = _said(reason, speaker)
    return (
        _is_no_ending(said)
        or _is_taken_back(fact, reason.removeprefix(f"{speaker}: "), message)
        or _is_kept_time(fact, said)
        or _is_done_by_friend(fact, said, speaker)
        or (_OUTSIDE_WORK.search(fact.key[2]) is not None and _is_dismissal(fact, said))
        or _is_one_journey(fact, said)
        or _is_other_notice(fact, reason, reasons)
        or _is_other_contact(fact, said, view)
        or _is_other_move(fact, said)
        or _is_lasting(fact, said, speaker)
        or _has_passed_test(fact, said)
        or _is_less_work(fact, said)
    )


def _said(sentence: str, speaker: str) -> str:
    return re.sub(r"\s+", " ", sentence.removeprefix(f"{speaker}: ").replace("’", "'")).lower()


_NO_ENDINGS: Final = (
    _FIGURATIVE, _A_WHILE_ONCE, _TO_COME, _GOES_ON, _BY_ANOTHER, _HELD_UP, _BACK_SOON, _BACK_THEN, _ABSENT,
    _TOO, _FOR_A_DAY, _LAST_BAD, _FOUND_AGAIN, _NEXT_DOOR, _RANKED, _OFF_FEET,
)  # fmt: skip


def _is_no_ending(text: str) -> bool:
    return any(one.search(text) is not None for one in _NO_ENDINGS)


def _is_taken_back(fact: Fact, sentence: str, message: str) -> bool:
    """Return whether what follows a sentence completes it: "I've quit... till Monday", "... from the office quiz"."""
    place = message.find(sentence)
    if place < 0:
        return False
    rest = message[place:]
    if _LIMITED.match(rest, len(sentence)) is not None:
        return True
    known = {stem(word) for part in fact.key[1:] for word in _WORD.findall(part)}
    for pause in _PAUSE.finditer(rest):
        if pause.start() > len(sentence):
            return False
        if _LIMITED.match(rest, pause.end()) is not None:
            return True
        completed = _COMPLETED.match(rest, pause.end())
        if completed is not None:
            said = {stem(word) for word in _WORD.findall(completed["rest"].lower()) if len(word) > 2}
            return not known & said
    return False


def _is_kept_time(fact: Fact, text: str) -> bool:
    """Return whether something else than the time of a thing has changed: "it's in Hull now, same day"."""
    return _SAME_TIME.search(text) is not None and _DATED.search(fact.key[2]) is not None


def _is_done_by_friend(fact: Fact, text: str, speaker: str) -> bool:
    """Return whether a friend did something, and the speaker's own fact goes on: "a mate finished it in two days"."""
    return fact.key[0] == normalise_name(speaker) and _FRIEND.search(text) is not None


def _is_dismissal(fact: Fact, text: str) -> bool:
    """Return whether a sentence tells of the end of a job and not of a membership: "they've let me go"."""
    known = {stem(word) for word in _WORD.findall(fact.key[2]) if len(word) > 2}
    return _DISMISSED.search(text) is not None and not known & _stems(text)


def _is_one_journey(fact: Fact, text: str) -> bool:
    """Return whether only one journey did not take place: "the train was cancelled today"."""
    return _NOT_TODAY.search(text) is not None and _TRANSPORT.search(f"{fact.key[0]} {fact.key[2]}") is not None


def _is_other_notice(fact: Fact, reason: str, reasons: Mapping[Fact, str]) -> bool:
    """Return whether a home was read out of a notice that was given at work, or work out of one to a landlord."""
    text = reason.lower()
    if re.search(r"\bnotice\b", text) is None or set(_WORD.findall(fact.key[2])) & set(_WORD.findall(text)):
        return False
    if is_in("job", fact):
        return _NOTICE_OF_HOME.search(text) is not None
    if not is_in("home", fact) or _MOVING.search(text) is not None:
        return False
    return any(other.key[0] == fact.key[0] and is_in("job", other) and reasons[other] == reason for other in reasons)


def _is_other_contact(fact: Fact, text: str, view: GraphView) -> bool:
    """Return whether a new number is that of another of somebody's numbers: "a new number" is not the office number."""
    qualities, noun = _qualities(fact)
    if noun not in _CONTACTS:
        return False
    if not qualities - _ONES_OWN and re.search(rf"\b{_AT_WORK} {re.escape(noun)}\b", text) is not None:
        return True
    others = [one for one in view.facts(subject=fact.subject) if one != fact and _qualities(one)[1] == noun]
    said = set(_WORD.findall(text))
    if not others or (qualities and qualities <= said):
        return False
    if any((own := _qualities(one)[0]) and own <= said for one in others):
        return True
    return bool(qualities - _ONES_OWN) and any(not _qualities(one)[0] - _ONES_OWN for one in others)


def _is_other_move(fact: Fact, text: str) -> bool:
    """Return whether a sentence moves something else than somebody's home: a date, a desk, a heart."""
    is_home = (
        is_in("home", fact)
        or fact.key[1].split()[0] in ("lives", "stays", "rents")
        or fact.key[1] in ("is in", "is at")
    )
    return is_home and _OTHER_MOVE.search(text) is not None


def _is_lasting(fact: Fact, text: str, speaker: str) -> bool:
    """Return whether a fact goes on whatever a sentence tells that does not name it: kin, or what somebody is."""
    _, relation, value = fact.key
    if re.match(r"has\b|have\b|is an?\b", relation) is None:
        return False
    thing = mention_of_text(fact.object)
    if relation.startswith("has"):
        kind = value.partition(",")[0] if relation == "has" else relation
        called = re.fullmatch(r"(?:\w+ )?(\w+) (?:called|named) .+", value)
        if kind.rpartition(" ")[2] in _BLOOD or (called is not None and called[1] in _BLOOD):
            return _AT_AN_END.search(text) is None  # a brother who fell into a canal is a brother
        return thing.head in KINDS and _FINE.search(text) is not None
    if thing.head in _BLOOD and fact.key[0] != normalise_name(speaker):
        return _AT_AN_END.search(text) is None
    is_named = stem(thing.head) in _stems(text)
    return thing.head in _TRAITS and not is_named and _LEAVING_WORK.search(text) is not None


def _has_passed_test(fact: Fact, text: str) -> bool:
    """Return whether whom a fact names, or says what they are, has passed something and has not passed away."""
    match = _PASSED_TOO.search(text)
    if match is None or re.match(r"has\b|is an?\b", fact.key[1]) is None:
        return False
    named = fact.key[2] if fact.key[1].startswith("has") else fact.key[0]
    return stem(match["who"]) in _stems(named)


def _is_less_work(fact: Fact, text: str) -> bool:
    """Return whether somebody has less to do in the same job: "they've cut us to four tours"."""
    match = _LESS_WORK.search(text)
    if match is None or fact.key[1].startswith("is a"):
        return match is not None
    return not _stems(fact.key[2]) & _stems(text[match.end() :])


def _stems(text: str) -> set[str]:
    return {stem(word) for word in _WORD.findall(text)}


def _qualities(fact: Fact) -> tuple[set[str], str]:
    """Return what a contact is called beside its noun, and the noun: "work" and "number" of "has work number"."""
    first, *words = fact.key[1].split()
    return (set(words[:-1]), words[-1]) if first == "has" and words else (set(), "")
