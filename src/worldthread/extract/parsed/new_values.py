"""Finds facts of which a message gives another value of the same kind: another time, sum, number, address or age.

"My train leaves at 7:05 now" ends that it leaves at 7:12, however the sentence is built: it names the same thing, has
another time of day, and says that something has changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from worldthread.extract.parsed.change_tables import KIN, KINDS, LISTS, number_of
from worldthread.extract.parsed.mentions import stem
from worldthread.names import normalise_name
from worldthread.types import Fact

_WORDS_FOR_NUMBERS: Final = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    "eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|a dozen|a tenner|a fiver"
)
_HOUR: Final = (
    r"(?:half past |half |(?:a )?quarter (?:past|to) |(?:five|ten|twenty|\d+) (?:past|to) )?"
    r"(?:\d{1,2}(?:[:.]\d\d)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|midday)"
    r"(?:(?:[- ](?:thirty|fifteen|forty-five))|(?: o'?clock))?(?: ?[ap]\.?m\b\.?)?"
)
_MONTHS: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
_KINDS_OF_VALUES: Final = (
    ("email", re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")),
    ("handle", re.compile(r"(?<![\w.])@\w[\w.]*\w")),
    ("site", re.compile(r"\b[\w-]+\.(?:com|org|net|io|co|bike|uk|de|fr|es|"
        r"eu|me|info|blog|app|dev|ch|at|us)\b(?:\.\w+)?")),
    ("money", re.compile(
        r"[$€£] ?\d[\d.,]*\d|[$€£] ?\d|\d[\d.,]* ?(?:euros?|dollars?|pounds?|francs?|eur|usd|"
        r"gbp|chf|quid|bucks|cents|pence|"
        rf"p\b|k\b|grand\b|[$€£])|(?:{_WORDS_FOR_NUMBERS}) (?:euros?|dollars?|pounds?|francs?|"
        rf"quid|bucks|grand|pence|cents)|"
        r"\b(?:a tenner|a fiver)\b"
    )),
    ("phone", re.compile(r"(?<![\w:.])\+?\d[\d ()/-]{2,}\d{2}(?![\w:.])")),
    ("day", re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\bweekends?\b|\bweekdays\b")),
    ("date", re.compile(rf"\b(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTHS})\b|\b(?:{_MONTHS})(?: the)? "
        rf"\d{{1,2}}"
                        rf"(?:st|nd|rd|th)?\b|\b\d{{4}}-\d\d-\d\d\b|\bthe \d{{1,2}}(?:st|nd|rd|th)\b|"
                        rf"\b(?:in|to|until|till|for|is|now) (?:{_MONTHS})\b|^(?:{_MONTHS})$")),
    ("time", re.compile(rf"\b(?:at |from |until |till |by |to )?{_HOUR}(?![\w%]|[.,:]\d| (?:euros?|dollars?|people|"
        rf"kids|km|miles))")),
)  # fmt: skip
_QUANTITY: Final = re.compile(rf"\b(?P<number>\d[\d.,]*|{_WORDS_FOR_NUMBERS})(?:[ -](?P<unit>[^\W\d_]+))?")
_ORDINAL: Final = re.compile(
    r"\b(?:(?P<word>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|\d+(?:st|nd|rd|th)|"
    r"ground|top) (?P<unit>floor|grade|year|form|class|league|division|semester|term|trimester|team)|"
    rf"(?P<unit_first>{'|'.join(sorted(LISTS['numbered']))}) "
    r"(?P<number>[a-z]?\d+[a-z]?))\b"
)
_CHANGED: Final = re.compile(
    r"\b(?:now|nowadays|these days|from now on|from \w+(?: \w+)? on|any ?more|no longer|instead|"
    r"new|not .* but|only .* now|"
    r"as of|since|from (?:today|next \w+|this \w+|tomorrow|monday|january|the \w+)|after the \w+|starting|"
    r"(?:has|have|'s|'ve|was|were|got|been|is) (?:been )?(?:moved|changed|rescheduled|shifted|"
    r"pushed|put|raised|upped|cut|"
    r"reduced|lowered|increased|extended|delayed|brought|switched|updated|replaced|reset|bumped|postponed|hiked|slashed|"
    r"shortened|dropped|doubled)|moved|changed|renamed|rescheduled|shifted|pushed|raised|upped|cut|reduced|lowered|increased|"
    r"extended|delayed|brought (?:forward|up|down)|switched|updated|bumped|postponed|hiked|"
    r"slashed|went (?:up|down|from)|"
    r"gone (?:up|down|from)|(?:has |'s |have |'ve )?put (?:\w+ ){1,4}?(?:up|down|back|forward)|"
    r"put (?:up|down|back)|jumped|"
    r"rose|risen|climbed|shot up|crept up|dropped|fell|fallen|"
    r"(?:down|up|back|left with)(?: to)?|lost|gained|raise|rise|promotion|wants?|charges?|abolished|scrapped|"
    r"(?:ring|call|text|reach|email|e-mail|mail|message|find|use|write to|get) (?:me |us )?(?:on|at|this)|"
    r"ditched|binned|(?:stuck|whacked|jacked|hiked|bumped|shoved|pushed|put|knocked|cranked|nudged|took|taken|brought) "
    r"(?:it|me|us|that|ours|mine) "
    r"(?:up|down|back)|upped|"
    r"(?:doesn't|don't|won't) (?:\w+ ){1,3}?(?:until|till|before)|turned)\b"
)
_PASSING: Final = re.compile(
    r"\b(?:tomorrow|today|tonight|yesterday|this once|for once|once|this (?:week|morning|evening|afternoon|time|monday|"
    r"tuesday|wednesday|thursday|friday|saturday|sunday)|last \w+|next time|on average|usually|sometimes|ago|"
    r"for (?:the|a) (?:day|week|weekend))\b"
)
_FROM_THEN: Final = re.compile(
    r"\b(?:from (?:today|tomorrow|this \w+|next \w+)(?: on(?:wards)?)?|as of|since|from now "
    r"on|these days|now|any ?more|"
    r"(?:has|have|'s|'ve|was|were|got|been) (?:been )?(?:moved|changed|rescheduled|postponed|"
    r"pushed|put|brought|shifted)|"
    r"(?:raised|moved|changed|rescheduled|postponed|pushed|shifted|increased|lowered|put up))\b"
)
_OPENING: Final = frozenset(["open", "start", "begin", "leave", "depart", "arrive", "kick"])
_CLOSING: Final = frozenset(["close", "shut", "end", "finish", "stop"])
_VERBS: Final = {
    "earn": "earn make salary wage raise rise income paid upped promotion on",
    "make": "earn make salary wage raise rise income paid upped promotion on",
    "pay": "pay rent cost charge price bill fee",
    "cost": "cost price charge fee want pay",
    "charge": "charge cost price fee want gone went up",
    "weigh": "weigh weight lost gained down scale scales kilo kg lbs lb stone pound",
    "get": "get up wake",
    "live": "live floor",
    "eat": "eat dinner lunch breakfast",
    "have": "eat have",
    "work": "work hours week job shift",
    "commute": "commute",
}
_FREE: Final = re.compile(r"\b(?:free|free of charge|for nothing|abolished|scrapped)\b")
_STOP: Final = frozenset([
    "a", "an", "the", "my", "our", "his", "her", "their", "its", "at", "in", "on", "of", "for", "to", "from", "by",
    "with", "is", "are", "was", "has", "have", "had", "i", "we", "it", "and", "per", "each", "every", "month",
    "week", "day", "year", "hour", "night", "evening", "morning", "about", "around", "only", "now", "still", "old",
    "new", "euro", "euros", "dollar", "dollars", "pound", "pounds", "franc", "francs", "quid", "buck", "bucks", "$",
    "€", "£", "am", "pm",
])  # fmt: skip
_WORD: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_CONTACTS: Final = re.compile(
    r"has (?:.* )?(?:email|e-mail|mail|phone|number|mobile|landline|handle|address|extension|"
    r"website|site|insta\w*|code|"
    r"twitter|username|pin|password)(?: .*)?|is on"
)


def new_valued(facts: Iterable[Fact], text: str, speaker: str) -> list[Fact]:
    """Return the facts of which a sentence gives another value.

    Args:
        facts: what may end.
        text: the sentence in lower case.
        speaker: who says it.

    Returns:
        Those of the facts that hold no longer.
    """
    changed = _CHANGED.search(text) is not None
    has_number = re.search(
        rf"[\d@]|\.\w|day|week|\b(?:{_WORDS_FOR_NUMBERS}|noon|mid\w+|free|first|second|third|\w+th)\b", text
    )
    if has_number is None:
        return []
    passing = _PASSING.search(text) is not None and _FROM_THEN.search(text) is None
    own = normalise_name(speaker)
    found = []
    for fact in facts:
        if fact.key[1].startswith(("does not", "was ", "had ", "did ")):
            continue
        if (
            _is_renamed(fact, text, own)
            or _is_older(fact, text, own)
            or (changed and not passing and _has_new_value(fact, text, own))
        ):
            found.append(fact)
    return found


def _is_renamed(fact: Fact, text: str, own: str) -> bool:
    """Return whether the speaker has another surname: "I'm Susan Hart now"."""
    subject, relation, value = fact.key
    first, _, last = value.partition(" ")
    if subject != own or relation not in ("has name", "is called") or not last:
        return False
    new = re.search(
        rf"\b(?:i'm|i am|it's|it is|call me|i go by|known as|be|now|be called|to) "
        rf"(?:now |plain |just )?{re.escape(first)} (?P<last>\w+)"
        r"(?: now|,? not| these days| nowadays| from (?:here|now|today)(?: on)?| since| after|,| once more| again|"
        r"[.!]|$)",
        text,
    )
    return new is not None and new["last"] not in last


def _values(kind: re.Pattern[str], text: str) -> list[str]:
    return [re.sub(r"^(?:at|from|until|till|by|to|in|for|is|now) ", "", one[0]).strip() for one in kind.finditer(text)]


def _has_new_value(fact: Fact, text: str, own: str) -> bool:
    subject, relation, value = fact.key
    value = value.replace(f"{own}'s ", "my ")
    if relation.startswith(("born", "is from", "has birthday", "has age", "likes", "loves", "died")):
        return False
    if value == "at" or not value or (relation == "is" and value.isdecimal() and _SUMS.fullmatch(subject) is None):
        return False  # a bare number is an age, which has rules of its own
    is_contact = _CONTACTS.fullmatch(relation) is not None or _CONTACTS.fullmatch(f"has {subject}") is not None
    for name, pattern in _KINDS_OF_VALUES:
        if name == "phone" and not is_contact:
            continue
        old = _values(pattern, f"at {value}" if name == "time" else value)
        if not old:
            if name in ("email", "handle", "site", "phone") or not (name == "money" and _is_sum(fact)):
                continue
            old = [value]
        new = [one for one in _values(pattern, text) if not _are_equal(one, old[0])]
        if name == "money" and not new and (_FREE.search(text) is not None):
            new = ["free"]
        if name == "money" and not new and _is_sum(fact):
            new = [m["number"] for m in _QUANTITY.finditer(text) if m["number"] not in value]
        if name == "time":
            new = [
                one
                for one in new
                if re.search(rf"\b(?:at|from|until|till|by|to|for|now|is|before) {re.escape(one)}", text)
            ]
        if not new:
            continue
        if name in ("phone", "email") and subject == own and _REACHED.search(text) and not _BESIDE.search(text):
            return True
        if name in ("email", "handle", "site"):
            if _is_whose(subject, text, own):
                return _concerns(fact, text, own, name) or name == "email"
            continue
        return _concerns(fact, text, own, name)
    ordinal = _ORDINAL.search(value)
    if ordinal is not None:
        unit = ordinal["unit"] or ordinal["unit_first"]
        others = [
            one
            for one in _ORDINAL.finditer(text)
            if (one["unit"] or one["unit_first"]) == unit and one[0] != ordinal[0]
        ]
        return bool(others) and _concerns(fact, text, own, "place")
    quantity = _QUANTITY.search(value)
    if quantity is None:
        return False
    unit = stem(quantity["unit"] or "")
    for one in _QUANTITY.finditer(text):
        if _are_equal(one["number"], quantity["number"]):
            continue
        if unit and stem(one["unit"] or "") == unit and _concerns(fact, text, own, "quantity"):
            return True
        if (not unit or is_contact) and (quantity.end() == len(value)) and _concerns(fact, text, own, "number"):
            return True
    return False


_REACHED: Final = re.compile(
    r"\b(?:ring|call|text|reach|email|e-mail|mail|message|find|write to|get|contact) (?:me |us )?(?:now )?(?:on|at)\b|"
    r"\buse \S*\d"
)
_BESIDE: Final = re.compile(
    r"\b(?:work|office|second|other|also|too|as well|another|tonight|today|tomorrow|this week|until|till|"
    r"his|her|their|home|holiday|hotel|or|if)\b"
)
_SUMS: Final = re.compile(r".*\b(?:rent|salary|wage|fee|price|income|bill|premium|mortgage|tariff|fare)s?")


def _is_sum(fact: Fact) -> bool:
    """Return whether a fact gives a bare number that can only be a sum: "earns", "40,000 a year"."""
    if fact.key[1] in ("is", "costs") and _SUMS.fullmatch(fact.key[0]) and re.match(r"\d", fact.object):
        return True
    return re.fullmatch(
        r"earns|makes|costs|pays|charges|has (?:salary|rent|wage|income|fee|price)", fact.key[1]
    ) is not None and (re.search(r"\d", fact.object) is not None)


def _are_equal(one: str, other: str) -> bool:
    if one == other:
        return True
    first, second = (re.sub(r"^at |[ ,.]", "", word) for word in (one, other))
    if stem(first) == stem(second):
        return True
    numbers = number_of(first), number_of(second)
    return numbers[0] is not None and numbers[0] == numbers[1]


def _is_whose(subject: str, text: str, own: str) -> bool:
    """Return whether a sentence can be about somebody: the speaker, or a relative whom it names."""
    if subject == own or (subject.startswith(f"{own}'s ") and not _is_relative(subject, own)):
        return _OTHERS.search(text) is None
    name = subject.removeprefix(f"{own}'s ")
    forms = {name, *KIN.get(name, ())}
    return any(re.search(rf"(?<!'s )\b{re.escape(form)}\b", text) is not None for form in forms)  # not "Eva's dog"


_INVOLVED: Final = frozenset(["landlord", "landlady", "boss", "manager", "company", "employer", "team"])
_OTHERS: Final = re.compile(
    r"\b(?:(?:my|our) (?:\w+ ){0,2}?(?:"
    + "|".join(sorted(map(re.escape, (LISTS["relations"] | LISTS["partners"]) - _INVOLVED)))
    + r")|his|her|their)\b"
)


def _is_relative(subject: str, own: str) -> bool:
    noun = stem(subject.removeprefix(f"{own}'s ").split(" ")[-1])
    return noun in LISTS["relations"] | LISTS["partners"] | LISTS["pets"] or noun in KIN


def _named_as(words: str, text: str, known: set[str]) -> bool:
    """Return whether a sentence names a thing by its main word, and not another one of that kind."""
    core = words.split(" of ")[0]
    head = re.split(r" (?:at|in|on|with|to|for|from|around|near) ", core)[0].split(" ")[-1]
    if re.search(rf"\b(?!landlord|landlady)\w+(?:'s|s') {re.escape(head)}\b", text) is not None and "'s" not in words:
        return False  # "my neighbour's rent"
    forms = {head, stem(head), f"{stem(head)}s", *KINDS.get(stem(head), ()), *SETTERS.get(stem(head), "").split()}
    for match in re.finditer(
        rf"(?<![\w'-])(?:{'|'.join(sorted(map(re.escape, forms), key=len, reverse=True))})(?![\w-])", text
    ):
        before = text[: match.start()].split()
        last = before[-1].strip(",;:.!") if before else ""
        after = _PLACE_AFTER.match(text[match.end() :])
        if after is not None and not {stem(w) for w in _WORD.findall(after[0])} <= known | _SMALL:
            continue
        if last in _OWNERS and not _may_own(text, known | forms):
            continue
        if not last or last in _LINKING or stem(last) in known or last.endswith("ly"):
            return True
    return False


_OWNERS: Final = frozenset(["his", "her", "their", "its"])
_FIRST_NAMED: Final = re.compile(r"(?:i |(?:and|so|but|oh|well|now),? )*(?:the|a|our|my) (?P<noun>[a-z][\w-]+)")


def _may_own(text: str, known: Iterable[str]) -> bool:
    """Return whether "their" can mean what is known: not in "the other bakery put their bread up"."""
    first = _FIRST_NAMED.match(text)
    if first is None:
        return True
    setters = {word for words in SETTERS.values() for word in words.split()} | _INVOLVED
    return first["noun"] in setters or stem(first["noun"]) in known


SETTERS: Final = {"rent": "landlord landlady", "salary": "boss company", "wage": "boss company", "fee": "club school"}
"""Sums with those who set them."""
_PLACE_AFTER: Final = re.compile(
    r" (?:next to|next door|opposite|beside|near|across|down the|at (?:my|his|her|our)|of "
    r"(?:the|my)|around the|for (?:the|a|an) [a-z]|to (?:the|a) [a-z]) ?[\w' ]{0,12}"
)
_SMALL: Final = frozenset(["the", "my", "our", "at", "of", "on"])
_LINKING: Final = frozenset([
    "the", "my", "our", "a", "an", "this", "that", "his", "of", "for", "in", "on", "to", "and", "i", "we", "put",
    "moved", "changed", "raised", "our's", "new", "daily", "weekly", "monthly", "so", "pushed", "shifted",
    "rescheduled", "postponed", "extended", "their", "all", "from", "as", "since", "then", "now", "but", "up",
    "down", "at", "after",
])  # fmt: skip


def _concerns(fact: Fact, text: str, own: str, kind: str) -> bool:
    """Return whether a sentence is about what a fact gives the value of."""
    subject, relation, value = fact.key
    verb = _verb(relation)
    known = {stem(word) for word in _WORD.findall(f"{subject} {value} {relation}")}
    said = {stem(word) for word in _WORD.findall(text)}
    bases = {_base(word) for word in said}
    if kind == "time" and verb in _OPENING | _CLOSING:
        other = _CLOSING if verb in _OPENING else _OPENING
        if bases & other and not bases & (_OPENING if verb in _OPENING else _CLOSING):
            return False
        if (
            verb in _OPENING
            and re.search(r"\b(?:until|till) ", text) is not None
            and "n't" not in text
            and "not" not in text
        ):
            return False
    is_mine = subject == own
    if is_mine or _is_relative(subject, own):
        if not is_mine and not _is_whose(subject, text, own):
            return False
        if is_mine and _OTHERS.search(text) is not None:
            return False
        if is_mine and re.search(r"\b(?:i|we|my|our|me|us)\b|^(?:new|down|up|now)\b", text) is None and kind != "money":
            return False
        nouns = {
            stem(w)
            for w in _WORD.findall(f"{value} {relation.removeprefix('has ') if relation.startswith('has ') else ''}")
        }
        nouns = {
            w for w in nouns if w not in _STOP and number_of(w) is None and not w[0].isdecimal() and not _is_value(w)
        }
        verbs = set(_VERBS.get(verb, verb).split())
        if "on" in verbs and re.search(r"\b(?:on|to) (?:about |around |only )?[$€£]?\d", text) is None:
            verbs.discard("on")
        if verb in ("have", "is") and kind not in ("quantity", "time"):
            verbs = set()
        if kind == "quantity" and verb in ("is", "have"):
            return bool(nouns & said)
        if verb == "weigh" and not {"weigh", "weight", "lost", "gained", "down", "scale", "up"} & (said | bases):
            return False
        if nouns & said and (verb in ("is", "have") or len(nouns & said) == len(nouns) or verbs & bases):
            return True
        implied = {noun for verb, ones in _IMPLIED.items() if verb in said | bases for noun in ones.split()}
        nouns -= implied
        return bool(verbs & (bases | said)) and (
            not nouns or (kind in ("quantity", "money", "time") and not nouns - said - _UNITS)
        )
    name = subject.removeprefix(f"{own}'s ")
    if kind == "money" and relation in ("is", "costs"):
        places = {stem(word) for word in _WORD.findall(value)} - _STOP
        if any(
            w in said for w in places if not w[0].isdecimal() and number_of(w) is None and not _is_value(w) and w != own
        ):
            return True
    return _named_as(name, text, known)


_IMPLIED: Final = {"rent": "flat apartment house room place studio", "eat": "dinner lunch breakfast supper tea"}
_UNITS: Final = frozenset([
    "minute", "hour", "km", "kilometre", "mile", "kilo", "pound", "stone", "time", "people", "home", "work",
    "office", "coffee", "cigarette",
])  # fmt: skip


def _is_value(word: str) -> bool:
    return any(pattern.fullmatch(word) is not None for _, pattern in _KINDS_OF_VALUES)


@cache
def _base(word: str) -> str:
    """Return the plain form of a regular verb, roughly."""
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)] + instead
    return {"began": "begin", "left": "leave", "paid": "pay", "made": "make", "went": "go", "got": "get"}.get(
        word, word
    )


def _verb(relation: str) -> str:
    first = relation.split(" ")[0]
    return {"has": "have", "is": "is", "costs": "cost", "goes": "go", "does": "do"}.get(first, _base(first))


_AGE_NEXT: Final = (
    rf"(?:now |just |turned |gone |\d|{_WORDS_FOR_NUMBERS}|"
    r"\w+(?:ieth|eenth|lfth|fth|xth|nth|hth|rth)\b)"
)


def _is_older(fact: Fact, text: str, own: str) -> bool:
    """Return whether a sentence says that somebody of a known age is older now."""
    subject, relation, value = fact.key
    if relation != "has age" and not (relation == "is" and value.isdecimal()):
        return False
    number = re.match(r"[\w-]+", value)
    old = number_of(number[0]) if number is not None else None
    if old is None:
        return False
    name = subject.removeprefix(f"{own}'s ")
    if subject == own:
        who = r"(?:i|my)"
        if _OTHERS.search(text) is not None:
            return False
    else:
        forms = sorted({name, *KIN.get(name, ())}, key=len, reverse=True)
        joined = "|".join(map(re.escape, forms))
        who = rf"(?:(?:my |our |the |little |young )*(?:{joined})|(?:{joined}))"
        if re.search(rf"(?<![\w'-]){who}(?:'s (?={_AGE_NEXT})|(?!\w|'|-))", text) is None:
            return False
    for one in _AGES.finditer(text):
        word = one["birthday"] or one["number"]
        new = number_of(re.sub(r"(\d)(?:st|nd|rd|th)$", r"\1", word)) if word else None
        if (
            new is not None
            and old < new <= old + 6
            and (one["birthday"] or one["turned"] or re.search(r"\bnow\b|birthday|these days|already", text))
        ):
            unit = number is not None and value[number.end() :].strip()
            return not unit or not unit.startswith("month") or "month" in text
    return False


_AGES: Final = re.compile(
    r"(?P<birthday>[\w-]+) birthday|(?P<turned>\b(?:turned|turning|turns|hit|reached|became|"
    r"made it to) )?(?:the big )?\b"
    r"(?P<number>\d{1,3}(?:st|nd|rd|th)?|[a-z]+(?:-[a-z]+)?)\b(?= birthday|\W*$|[,.!;:)]| "
    r"(?:now|today|yesterday|years?|months?|on|this|"
    r"last|at|and|old|in|already|but|so|since|these|the|over)\b)"
)
