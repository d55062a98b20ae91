"""Reads a message as an amendment: what it calls wrong of what was said before, and what it puts in its place.

The words of a correction are free, its parts are not: a *cue* ("sorry", "I misread it", "hang on"), a value that is
*denied* ("not a nurse", "isn't from Hungary") and a value that is *given* ("it's 5 May", "I meant Lancaster").
:mod:`~worldthread.extract.parsed.amended_facts` looks for the fact that they fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import Final, NamedTuple


class Cue(IntEnum):
    """How clearly a message says that something said before was wrong."""

    NONE = 0
    REPORT = 1
    """Something was found out: "turns out", "the vet says"."""
    BREAK = 2
    """The speaker breaks off: "wait", "no", "sorry"."""
    ERROR = 3
    """The speaker owns to an error: "I misspoke", "that was wrong"."""


class Value(NamedTuple):
    """A value that a clause denies or gives.

    Args:
        words: the value as written, without articles and prepositions before it.
        about: what it is said of, in lower case: "it", "her name", "my neighbour"; empty where that is not said.
        verb: the verb in front of it, unless that is a form of "be": "have" in "I don't have two sisters".
        is_plain: whether the clause is made for the value alone: "it's 5 May", "I meant Lancaster".
    """

    words: str
    about: str = ""
    verb: str = ""
    is_plain: bool = True


class Amendment(NamedTuple):
    """What a message calls wrong and right.

    Args:
        text: the message.
        cue: how clearly it says that something was wrong.
        object: what was got wrong, in lower case: "the bakery" in "I was wrong about the bakery"; empty where that is
            not said.
        denied: the values that it denies.
        given: the values that it gives.
        is_short: whether it says little else.
    """

    text: str
    cue: Cue
    object: str
    denied: tuple[Value, ...]
    given: tuple[Value, ...]
    is_short: bool


_GENERIC: Final = (  # what somebody gets wrong without saying what: "that", "the digits", "it all"
    r"(?:that|this|it|them|those|these|things|everything|myself|(?:the|my|a|an|some|two|those) (?:last |wrong |two )?"
    r"(?:\w+ )?(?:digits?|numbers?|dates?|days?|months?|names?|figures?|letters?|words?|lines?|rows?|columns?|pages?|"
    r"years?|keys?|buttons?|ones?|way|info|information|details?|facts?|tickets?|sheets?|timetables?|calendars?|plans?|"
    r"cards?|emails?|messages?|labels?|screens?|papers?|spelling)|"
    r"the two|(?:her|his|its|their|your|my|our|the) (?:name|age|birthday|number|address|job|date|size|spelling|title))"
)
_WRONG: Final = r"(?:wrong|wrongly|incorrectly|backwards|back to front|mixed up|muddled(?: up)?|upside down|confused|twisted)"
_ERROR: Final = re.compile(
    r"\b(?:"
    rf"(?:i|we)(?: have|'ve|'d| had)?(?: just| totally| completely| clearly| always| must have| really)* "
    r"(?:(?:misspoke|misstated|mislabell?ed|misnamed|misquoted|miswrote|mispoke)|"
    rf"(?:misread|misheard|mistyped|misspelt|misspelled|miscounted|miscalculated|misremembered|misjudged|mistook|"
    rf"muddled(?: up)?|confused|confuse|mixed up|mixed|swapped|switched|transposed|jumbled|scrambled|reversed|"
    rf"flipped|mix|muddle)(?: (?P<what>{_GENERIC}))?(?: (?:up|around|round|over))?(?=\W|$| (?:yesterday|earlier|before|there|and|but))|"
    rf"(?:got|get|had|have|said|told you|gave you|wrote|typed|put|read|heard|entered|counted|remembered|copied|did|"
    rf"spelt|spelled|looked at|pressed|hit|picked|chose|sent(?: you)?|was looking at|was reading|was thinking of|"
    rf"quoted|mentioned)(?: you)? (?P<what2>{_GENERIC}|the wrong [\w ]{{1,25}}?|my [\w ]{{1,25}}?|the \w+)?(?: all)? ?"
    rf"{_WRONG}|"
    rf"(?:got|get|had|have|said|told you|gave you|wrote|typed|put|read|heard|entered|counted|copied|spelt|spelled|"
    r"looked at|pressed|hit|picked|chose|sent(?: you)?|was looking at|was reading|was thinking of|quoted|mentioned)"
    r"(?: you)? (?:the|a|an|my) (?:wrong|old|false|incorrect) (?P<what3>\w+)|"
    r"(?:(?:was|am|stand) )?(?:just |only |so |quite |a bit |completely )*(?:wrong|mistaken|corrected|confused|mixed up)"
    r"(?: about (?P<what4>[^,;:.!?]+))?(?=\W|$)|"
    r"(?:lied|fibbed|exaggerated|was (?:joking|kidding|lying|fibbing|exaggerating|bluffing)|made (?:that|it) up)"
    r"(?: about (?P<what5>[^,;:.!?]+))?(?=\W|$)|"
    r"(?:take|took|must take|have to take|need to take) (?:that|it|this) back|"
    r"made an? (?:\w+ )?(?:mistake|typo|slip|error|mix-?up)|"
    r"(?:should|must) (?:correct|rephrase|revise|amend)|"
    r"should have (?:said|written|put|typed))"
    r"|(?:it|that|this|which|what i (?:said|wrote|told you)|my (?:last|previous) message|the (?:last|first) (?:one|bit|part))"
    r"(?:'s| is| was| came out| sounded| were)(?: all| just| completely| totally| plain| not)*? ?"
    r"(?:wrong|incorrect|false|untrue|not (?:right|true|correct)|(?:a|the|my|an) (?:\w+ )?(?:typo|mistake|slip|error|lie|joke|"
    r"guess|mix-?up|fib)|nonsense|rubbish|my (?:phone|son|daughter|kid|brother|sister|cat|mistake|bad))(?!\w)(?! of)|"
    r"(?:that|it|this) (?:isn't|wasn't|ain't|is not|was not) (?:right|true|correct|what i meant)|"
    r"(?:no,? )?(?:scratch|strike|forget|ignore|disregard|delete|scrap|erase) (?:that|this|(?:what|everything|the part) "
    r"(?:i|we) (?:just )?(?:said|wrote|told you|mentioned)|my last(?: message| one)?)(?: (?:about|on) (?P<what6>[^,;:.!?]+))?|"
    r"(?:my (?:mistake|bad|error|fault)|typo|autocorrect\w*|auto-correct|slip of the (?:tongue|pen|finger)|brain fart|"
    r"fat fingers?|senior moment|(?:small|quick|slight|minor)? ?correction)(?=\W|$)(?! (?:fluid|tape|was|is|pen))|"
    r"(?:(?:i|we)(?: actually| really)? (?:meant|mean) to (?:say|write|type|put|tell you)|"
    r"i (?:actually |really )?meant(?= [A-Z0-9\"'*]| an? | the | it's)|did i (?:say|write|type|tell you))|"
    r"let me (?:correct|rephrase|fix|revise)|corrected me|make that|"
    r"(?:(?:he|she|they|someone|somebody|the \w+|my \w+)(?: have|'ve| has| had)? "
    r"(?:got|had|told|read|wrote|mixed|messed) (?:me |it |that |them |things |the \w+ )?(?:all )?(?:wrong|up))|"
    r"having you on|pulling your leg|don't know why i (?:said|wrote|typed|put)|no idea why i (?:said|wrote|typed|put)|"
    r"(?:my )?(?:voice input|dictation|spell-?check\w*|keyboard|predictive text) \w+"
    r")",
    re.IGNORECASE,
)
_BREAK: Final = re.compile(
    r"^(?:oh,? |ah,? |er,? |um,? |well,? |so,? )*(?:no(?:,| no| wait| hang| hold| sorry|\b(?=[^\w\s]))|wait|hang on|hold on|"
    r"sorry|apologies|pardon|excuse me|actually|oops|whoops|oopsie|argh|d'oh|doh|damn|oh dear|edit|\*)\W|"
    r"\b(?:sorry|oops|whoops|apologies)\W*$|\bactually\b",
    re.IGNORECASE,
)
_REPORT: Final = re.compile(
    r"\b(?:turns out|it seems|it appears|apparently|in fact|after all|checked|looked it up|just (?:saw|looked|read|asked)|"
    r"always (?:was|were|has been|have been)|to be (?:precise|exact|honest)|strictly speaking|"
    r"(?:\w+ |\w+'s |i)?(?:says|reckons|told me|tells me|reminded me|pointed out|confirmed))\b",
    re.IGNORECASE,
)
_CHANGED: Final = re.compile(
    r"\b(?:now|nowadays|any ?more|any longer|no longer|these days|currently|at the moment|for now|yet|so far|still|"
    r"this (?:week|month|morning|afternoon|evening|weekend|year|time|summer|winter|spring|autumn|term|season)|today|tonight|"
    r"(?:since|until|from) (?:\w+ )?(?:now|then|\w+day|last|this|january|february|march|april|may|june|july|august|"
    r"september|october|november|december)|"
    r"moved|changed|switched|swapped to|became|become|turned|left|quit|stopped|started|got|went|sold|used to|"
    r"instead of (?:\w+ )?\w+ing|for a (?:while|bit|week|month|year)|temporarily|last (?:week|month|year|night))\b",
    re.IGNORECASE,
)
_UNREAL: Final = re.compile(
    r"\b(?:if|unless|would|wouldn't|could|might|may not|maybe|perhaps|probably|wish|wishes|hope|hopes|rather|wonder|"
    r"imagine|suppose|pretend|whether|think|guess so)\b|\w'd\b",
    re.IGNORECASE,
)
_ADDED: Final = re.compile(r"\b(?:too|also|as well|another|both|either|neither|besides)\b", re.IGNORECASE)

_SENTENCE: Final = re.compile(r"(?<=[.!?])(?<!\b[A-Z][.])(?<!Mr[.])(?<!Dr[.])(?<!Mrs[.])(?<!St[.])\s+|\n+")
_CLAUSE: Final = re.compile(
    r"\s*(?:[,;!…]|:(?=\s|$)|\.\.+|\s[–—-]+\s|—|\.(?=\s|$)|\bbut\b|\band (?=(?:never|not|(?:he|she|it|i|they)\b)))\s*",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(  # words before a clause that say nothing of its value
    r"^(?:(?:and|so|well|oh|ah|no|nope|yes|yeah|actually|really|sorry|oops|whoops|apologies|pardon|excuse me|wait|hang on|"
    r"hold on|er|um|okay|ok|right|in fact|apparently|hey|just|because|correction|edit|typo|my bad|my mistake|of course|dear|"
    r"to be (?:precise|exact|honest|fair|clear)|strictly speaking|(?:it |that )?turns out(?: that)?|it (?:seems|appears)(?: that)?|"
    r"i (?:just |now )?(?:checked|realised|realized|noticed|saw|see|found out)(?: that)?|scratch that|strike that|"
    r"(?:my|the|our|his|her) [\w-]+ (?:just )?(?:says|said|reckons|tells me|told me|reminded me|confirmed)(?: that)?|"
    r"[a-z]+ (?:says|reckons|tells me)(?: that)?|"
    r"i (?:keep saying|said|wrote|typed|told you)(?: that)?(?= (?:it|he|she|they|the|my|i|we)\b))[\s,]+)+",
    re.IGNORECASE,
)
_BE: Final = r"(?:'s|'re|'m| is| are| was| were| am| has been)"
_ABOUT: Final = (
    r"(?P<about>(?:it|that|this|he|she|they|i|we|its|his|hers|theirs|mine|ours)|"
    r"(?:my|our|the|her|his|its|their|that|this)(?: [\w'-]+){1,4}?|"
    r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)*|[\w'-]+)"
)
_FILL: Final = (
    r"(?: (?:actually|really|in fact|of course|only|all|called|named|spelled|spelt|written|supposed to be|meant to be))*"
)
_GIVEN: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:i|we)(?: actually| really| of course)? meant(?: to (?:say|write|type|put|tell you))?(?: that)? (?P<value>.+)$",
        r"^(?:i|we)(?: actually| really)? mean to say (?P<value>.+)$",
        r"^(?:i )?should have (?:said|written|put|typed|been) (?P<value>.+)$",
        rf"^{_ABOUT} (?:should|ought to|was supposed to|was meant to) (?:be|say|read|have been|have said) (?P<value>.+)$",
        r"^(?:please )?make (?:that|it) (?P<value>.+)$",
        r"^(?:i )?(?:was|am) thinking of (?P<value>.+)$",
        r"^(?:autocorrect\w*|typo|correction|edit) (?P<value>.+)$",
        rf"^(?P<about>its|it s)(?= [A-Z0-9]) (?P<value>.+)$",
        rf"^{_ABOUT}{_BE}{_FILL} (?P<value>.+)$",
    )
)
_PLACED: Final = re.compile(  # "it opens at seven", "he plays for Leeds"
    r"^(?P<about>it|he|she|they|i|we|(?:my|our|the|her|his|its|their)(?: [\w'-]+){1,2}?) "
    r"(?P<verb>(?!is\b|was\b|has\b|does\b|isn|wasn|don|had\b|can\b|will\b|get|got)[a-z]+s?(?: (?:at|in|on|for|from|to|with|as))?) "
    r"(?P<value>.+)$",
    re.IGNORECASE,
)
_NEGATED: Final = re.compile(r"^(?:not|never|no|nothing|n't|wrong|right|true|false|correct|incorrect)\b", re.IGNORECASE)
_VAGUE: Final = re.compile(  # what is no value: "it's fine", "that's where I was born"
    r"^(?:where|what|how|why|because|when|who|which|that|this|it|there|so|very|too|just|going|gonna|about to|fine|ok|okay|"
    r"great|good|bad|nice|lovely|all|always|something|someone|somebody|anything|everything|thinking|looking|saying|"
    r"joking|kidding|sure|glad|happy|sad|late|back|here|over|done|still|to|well|my (?:mistake|bad|fault)|in case|of)\b",
    re.IGNORECASE,
)
_DENIED: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:and |but )?not (?P<value>.+)$",
        r"^(?:and )?never (?P<value>.+)$",
        rf"^{_ABOUT}(?:{_BE} (?:not|never)|(?: is| are| was| were)n't| ain't) (?:actually |in fact |been )?(?P<value>.+)$",
        rf"^{_ABOUT}(?: has| have| had|'s|'ve)? never (?:actually |really )?(?P<verb>(?!said|wrote|meant|told)\w+)(?: (?P<value>.+))?$",
        rf"^{_ABOUT} (?:don't|doesn't|didn't|do not|does not|did not|haven't|hasn't) (?:actually )?(?P<verb>\w+) (?P<value>.+)$",
    )
)
_SAID: Final = re.compile(
    r"^(?:(?:i|we)(?: \w+)? (?:said|wrote|typed|put|told you|gave you|keep saying|confused|called)|"
    r"(?:i )?(?:don't know|no idea) why i (?:said|wrote|typed|put)|did i (?:say|write|type))"
    r"(?: (?:that|it was|it's|he was|she was|i was|i am|i'm))? (?P<value>.+?)(?: (?:earlier|before|yesterday|there))?$",
    re.IGNORECASE,
)
_CALLED_WRONG: Final = re.compile(
    r"^(?P<value>.+?) (?:was|is)(?: just| only)? (?:wrong|a guess|a typo|a mistake|a slip|not right|incorrect)$", re.IGNORECASE
)
_INSIDE: Final = re.compile(  # "raven not robin", "Hill not Mill Road", "a pilot rather than a nurse"
    r"^(?P<before>.*?)(?P<given>[\w'’@.:-]+(?: [\w'’@.:-]+)?) (?:not|instead of|rather than) (?P<denied>[\w'’@.:-]+(?: [\w'’@.:-]+){0,3})$",
    re.IGNORECASE,
)
_HEDGE: Final = re.compile(
    r"^(?:just|only|even|always|really|quite|too|very|so|that|sure|allowed|going|able|like|a fan|one of|the only|"
    r"much|many|enough|exactly|necessarily|all|every|everyone|happy|sorry|here|there|home|back|well|in the)\b",
    re.IGNORECASE,
)
_LIGHT: Final = re.compile(
    r"^(?:(?:in|at|on|from|to|with|for|by|as|an?|the|my|our|of|been|called|named|actually|really|spelled|spelt|"
    r"only|like)\s+)+(?=\S)",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r"\s+(?:with(?! \w+$)|because|where|that|which|who|we|i|he|she|they|sorry|actually|instead|lol|haha|though|after all|dear|"
    r"in fact|either|at all|by the way|btw|my mum|earlier|of course|you know|if|not|and not|mate|man|love|if anything)\b.*$",
    re.IGNORECASE,
)
_BARE: Final = re.compile(r"^\*?[\w'’@.:&/+-]+(?: [\w'’@.:&/+-]+){0,3}$")


def amendment_of(text: str) -> Amendment | None:
    """Return what a message denies and gives; ``None`` when it amends nothing.

    Args:
        text: the message without its label.
    """
    plain = text.replace("’", "'").strip()
    error = _ERROR.search(plain)
    cue = Cue.ERROR if error is not None else Cue.BREAK if _BREAK.search(plain) is not None else Cue.NONE
    if cue is Cue.NONE and _REPORT.search(plain) is not None:
        cue = Cue.REPORT
    if cue is Cue.NONE and re.search(r"\bnot\b|n't\b|\bnever\b", plain) is None:
        return None
    if cue < Cue.ERROR and _CHANGED.search(plain) is not None:
        return None
    denied: list[Value] = []
    given: list[Value] = []
    for sentence in _SENTENCE.split(plain):
        is_question = sentence.rstrip().endswith("?")
        for clause in _clauses(sentence.rstrip("?")):
            if _UNREAL.search(clause) is not None:
                continue
            if is_question:
                if (said := _SAID.match(clause)) is not None and clause.lower().startswith("did i"):
                    denied.append(Value(_bare_value(said["value"])))
                continue
            _read_clause(clause, cue, denied, given)
    if not denied and cue is Cue.NONE:
        return None
    what = "" if error is None else next((part for part in error.groups() if part), "")
    is_short = len(plain.split()) <= 25
    return Amendment(text, cue, what.lower(), tuple(denied), tuple(given), is_short)


def adds(text: str) -> bool:
    """Return whether a message adds to what was said: "I play the oboe too"."""
    return _ADDED.search(text) is not None


def _clauses(sentence: str) -> Iterator[str]:
    for part in _CLAUSE.split(sentence):
        clause = part.strip(" .\"“”'()")
        if clause:
            yield clause


def _read_clause(clause: str, cue: Cue, denied: list[Value], given: list[Value]) -> None:
    """Add the values that a clause denies and gives."""
    clause = _LEAD.sub("", f"{clause} ").strip() or clause
    inside = _INSIDE.match(clause)
    if inside is not None:
        denied.append(Value(_bare_value(inside["denied"])))
        clause = f"{inside['before']}{inside['given']}"
    for pattern in _DENIED:
        match = pattern.match(clause)
        if match is None:
            continue
        parts = match.groupdict(default="")
        value = parts["value"]
        if not value or _HEDGE.match(value) is not None:
            return
        denied.append(Value(_bare_value(value), parts.get("about", "").lower(), parts.get("verb", "").lower()))
        return
    said = _SAID.match(clause)
    if said is not None:
        denied.append(Value(_bare_value(said["value"]), is_plain=False))
        return
    wrong = _CALLED_WRONG.match(clause)
    if wrong is not None:
        denied.append(Value(_bare_value(wrong["value"])))
        return
    for pattern in _GIVEN:
        match = pattern.match(clause)
        if match is None:
            continue
        value = match["value"]
        if _NEGATED.match(value) is not None or (_VAGUE.match(value) is not None):
            return
        about = match.groupdict(default="").get("about", "").lower()
        given.append(Value(_bare_value(value), about))
        return
    if _BARE.match(clause) is not None and (inside is not None or len(clause.split()) <= 3):
        if _VAGUE.match(clause) is None and (inside is not None or re.search(r"\d|[A-Z]", clause[1:] if clause[:1].isalpha() and False else clause)):
            given.append(Value(_bare_value(clause.lstrip("*"))))
            return
    placed = _PLACED.match(clause)
    if placed is not None and _VAGUE.match(placed["value"]) is None:
        given.append(Value(_bare_value(placed["value"]), placed["about"].lower(), placed["verb"].lower(), is_plain=False))


def _bare_value(value: str) -> str:
    """Return a value without articles and prepositions before it and remarks after it."""
    return _LIGHT.sub("", _TAIL.sub("", value.strip())).strip(" .\"'") or value
