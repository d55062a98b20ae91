"""Reads the lines of notes that give a value for a key: "Wifi password: tulip-77", "Bike lock code 4482"."""

from __future__ import annotations

import re
from typing import Final

from worldthread.extract.prose.words import WORDS
from worldthread.types import Fact

_KEY_VALUE: Final = re.compile(
    r"(?P<key>[^\W\d_][\w'’./&-]*(?: [\w'’./&()-]+){0,4}) ?: (?P<value>\S.{0,120}?)[.!]*(?: *[-–—] *)?$"
)
_CODE_NOUN: Final = (
    r"(?:code|combination|extension|iban|login|mileage|mobile|no\.?|number|passcode|password|phone|pin|plate|reading|"
    r"reference|username)"
)
_CODE: Final = re.compile(
    rf"(?P<key>(?:(?P<owner>[A-Z][\w-]+)['’]s )?(?:new )?(?:[A-Za-z][\w-]* ){{0,3}}{_CODE_NOUN}) "
    r"(?P<value>(?=[\w+ ./()-]*\d)[A-Z0-9+(][\w,+()./-]*(?: [\d/-]+)*)(?<![.,-])(?:[,.;]|$)"
)
_HOUR: Final = re.compile(
    r"(?P<key>[A-Za-z][\w'’-]*(?: [\w'’-]+){0,3}) (?P<value>\d{1,2}[:.]\d\d(?: ?[ap]m)?|\d{1,2} ?[ap]m)[.!]?"
)
_MARKUP: Final = re.compile(r"[\"{}<>|=\\`*\[\]#_]|\(\)|::|--|;$|\d{5,}:")
_QUANTITY: Final = re.compile(r"(?:about |up to )?(?:[$€£]\d|\d[\d.,]*(?: ?[a-zA-Z%°µ²³/]+){1,4}(?:,|$| ))")
"""What a line of documentation gives for a key: "17.2 kg", but no version or name."""
_DETERMINER: Final = re.compile(r"\b(?:the|a|an|my|our|this|that)\b", re.IGNORECASE)
_SEVERAL_KINDS: Final = re.compile(r"^(?:mon|tues|wednes|thurs|fri|satur|sun)days\b.+\b(?:in|at)\b", re.IGNORECASE)
_CLAUSE: Final = re.compile(
    r"[A-Z]\w+ (?:wants?|needs?|says?|likes?|thinks?|hopes?|knows?|gets?|takes?|brings?|comes?|goes|runs?|makes?|"
    r"pays?|leaves?|plays?|sings?|helps?|owns?|works?|lives?|finished|suggested|offered|asked|said|picks?|drives?) ",
)
_PHONE: Final = re.compile(r"\+?\(?\d[\d /()-]{5,}\d")
_NAMED: Final = re.compile(
    r"(?:(?:Mr|Mrs|Ms|Dr|Prof|Miss)\.? )?[A-Z][\w'’-]+(?: (?:van|de|der|von|da|del|[A-Z][\w'’-]+)){0,3}"
)
NO_KEYS: Final = frozenset([
    "attention", "btw", "caution", "check", "danger", "e.g", "edit", "example", "examples", "fyi", "hint", "idea",
    "ideas", "important", "info", "note", "notes", "ps", "question", "questions", "quote", "remember", "reminder",
    "result", "rule", "see", "security", "spoiler", "summary", "thought", "tip", "todo", "update", "warning", "i",
    "he", "she", "it", "we", "you", "they", "this", "that", "usage", "fixed", "added", "changed", "removed", "author",
    "from", "subject", "date", "re", "cc", "http", "https", "next time", "ask", "buy", "call", "bring", "get",
])  # fmt: skip
IS_TOLD: Final = re.compile(
    r"\b(?:am|is|are|was|were|has|have|had|do|does|did|can|could|should|would|will|must|may|might|shall|i|you|he|"
    r"she|they|we|it|if|whether|not|\w+n['’]t|because|which|who|what|how|why|maybe|perhaps|probably|about|see|ask|check)"
    r"\b|\?|['’](?:s|m|re|ve|ll|d|t)\b(?= [a-z])",
    re.IGNORECASE,
)
_PERSONAL: Final = frozenset([
    "agent", "accountant", "architect", "babysitter", "builder", "caretaker", "carpenter", "chair", "cleaner",
    "contact", "dentist", "doctor", "electrician", "emergency contact", "gardener", "gp", "handyman", "insurer",
    "landlady", "landlord", "lawyer", "maintainer", "manager", "mechanic", "midwife", "neighbour", "neighbor",
    "notary", "nurse", "owner", "painter", "physio", "plumber", "roofer", "solicitor", "supplier", "teacher",
    "technician", "tenant", "therapist", "trainer", "vet",
])  # fmt: skip
_TRANSPORT: Final = re.compile(r"(?:re|fwd?|aw|wg|cc)$", re.IGNORECASE)
_HEADING: Final = re.compile(r"[A-Za-z][\w'’-]*(?: [\w'’&/-]+){0,5}")


def heading_of(first: str) -> str | None:
    """Return what a note is about if its first sentence is a heading: "Viewing 14 Albert Tce."; else ``None``.

    Args:
        first: the first sentence.
    """
    text = first.strip().rstrip(".!")
    head, colon, rest = text.partition(": ")
    if not colon:
        head, colon, rest = text.partition(" - ")
    if not head.strip() or _CODE.match(text) is not None:
        return None
    is_key = head.lower() in NO_KEYS or head.lower().split()[-1] in _PERSONAL
    if (
        colon
        and rest
        and len(head.split()) < 4
        and _HEADING.fullmatch(head)
        and not is_key
        and len(rest.split()) > 2
        and not rest[0].isdecimal()
    ):
        return head  # "Server: db2 is down"
    words = text.split()
    if (
        not 1 < len(words) < 7
        or _HEADING.fullmatch(text) is None
        or IS_TOLD.search(text)
        or text.endswith(("now", "today"))
    ):
        return None
    return text if any(w[0].isupper() or w[0].isdecimal() for w in words[1:]) else None


def key_values(sentence: str, about: str | None, *, is_note: bool = True) -> list[Fact]:
    """Return the facts of a sentence that gives values for keys.

    Args:
        sentence: the sentence.
        about: what the text is about; ``None`` where it does not say so.
        is_note: whether the text is a note, whose writer knows which password is meant.

    Returns:
        The facts, in order; none for a sentence of another form.
    """
    return _of_key(sentence, about, is_note) or (
        (_of_code(sentence, about) or _of_hour(sentence, about)) if is_note else []
    )


def _of_key(sentence: str, about: str | None, is_note: bool) -> list[Fact]:
    match = _KEY_VALUE.match(sentence.strip())
    if match is None or (not is_note and _QUANTITY.match(match["value"]) is None) or _MARKUP.search(sentence):
        return []
    key, value = match["key"].strip(), match["value"].strip().rstrip(".;,")
    low = key.lower()
    last = low.split()[-1]
    if (
        low in NO_KEYS
        or low.split()[0] in NO_KEYS
        or _TRANSPORT.fullmatch(low)
        or last in WORDS["function"]
        or IS_TOLD.search(key.replace("'s ", " "))
    ):
        return []
    if _DETERMINER.search(key) or _SEVERAL_KINDS.search(value) or _CLAUSE.match(value):
        return []  # "Swap the pushchair: Hattie wants ours", "Club: Tuesdays 10-11 in the hall"
    if (
        not value
        or IS_TOLD.search(value)
        or len(value.split()) > 14
        or value[0] in "/\\"
        or "//" in value[:10]
        or value.endswith(":")
    ):
        return []
    first = low.split()[0].rstrip(".")
    if first in WORDS["honorifics"] or "(" in key:
        return []
    if (
        " " not in key
        and last not in _PERSONAL
        and (not any(c.isdecimal() for c in value) or any(w.endswith("ed") for w in value.split()))
    ):
        return []
    if not is_note and not key.replace(" ", "").isalpha():
        return []
    if low.split()[0].endswith("ed") or (len(value.split()) > 6 and not any(c.isdecimal() for c in value)):
        return []
    if last in WORDS["verbs"] or last.endswith("ing") or (value[0].islower() and len(value.split()) > 8):
        return []
    owner = re.match(r"(?P<owner>[A-Z][\w-]+)['’]s? (?P<what>\w+(?: \w+){0,2})$", key)
    if last in _PERSONAL:
        return _of_person(key, value, about, is_note)
    if owner is not None:
        return [Fact(owner["owner"], f"has {owner['what']}", value)]
    is_clear = len(key.split()) > 1 or last in _CLEAR
    if about is not None and key.lower() not in about.lower():
        return [Fact(f"{lower_key(key)} ({about})", "is", value)]
    return [Fact(lower_key(key), "is", value)] if is_note and is_clear and len(key.split()) > 1 else []


def _of_person(key: str, value: str, about: str | None, is_note: bool) -> list[Fact]:
    """Read "Plumber: Mr Kovac, 0151 555 0199"."""
    name = _NAMED.match(value)
    if name is None:
        return []
    phone = _PHONE.search(value, name.end())
    rest = value[name.end() : phone.start() if phone is not None else None].strip(" ,;-–")
    subject = lower_key(key) if about is None else f"{lower_key(key)} ({about})"
    if about is None and not is_note:
        return []
    found = [Fact(subject, "is", name[0] if phone is not None or not rest else value)]
    if phone is not None:
        found.append(Fact(name[0], "has phone number", phone[0].strip()))
    return found


def _of_hour(sentence: str, about: str | None) -> list[Fact]:
    """Read "Bedtime 7:30", "Pub quiz 8 pm"."""
    match = _HOUR.fullmatch(sentence.strip())
    if (
        match is None
        or IS_TOLD.search(match["key"])
        or set(match["key"].lower().split()) & (WORDS["function"] | WORDS["verbs"] | NO_KEYS)
    ):
        return []
    if about is None and " " not in match["key"]:
        return []
    return [
        Fact(
            lower_key(match["key"]) if about is None else f"{lower_key(match['key'])} ({about})",
            "is at",
            match["value"],
        )
    ]


def _of_code(sentence: str, about: str | None) -> list[Fact]:
    """Read "Bike lock code 4482", "Karin's new number 0171 5550123"."""
    match = _CODE.match(sentence)
    if match is None or IS_TOLD.search(match["key"].replace("'s ", " ").replace("’s ", " ")):
        return []
    if match["owner"] is not None:
        what = match["key"].partition("s ")[2].removeprefix("new ").strip()
        return [Fact(match["owner"], f"has {'phone number' if what == 'number' else what}", match["value"])]
    key = lower_key(match["key"].rstrip("."))
    if about is not None:
        return [Fact(f"{key} ({about})", "is", match["value"])]
    return [Fact(key, "is", match["value"])] if " " in key else []


_CLEAR: Final = frozenset(["passport", "iban", "wifi"])


def lower_key(key: str) -> str:
    """Return a key in lower case, unless it begins with a name or an abbreviation."""
    first = key.split()[0]
    return key if any(c.isupper() for c in first[1:]) or (len(first) > 1 and "'" in first) else key[0].lower() + key[1:]
