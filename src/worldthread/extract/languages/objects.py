"""Finds the objects of a thesis in a language that has a table: names, noun phrases, numbers, dates and addresses."""

from __future__ import annotations

import re
from typing import Final

from worldthread.extract.languages.phrases import NounPhrases, People
from worldthread.extract.languages.tables import Language

_TOKEN: Final = re.compile(
    r"(?P<address>(?:https?://|www\.)[^\s<>\"]{2,200}|[\w.+-]{1,64}@\w[\w-]{0,62}(?:\.[\w-]{1,63}){1,4})"
    r"|(?P<title>[\"“„«] ?(?P<inner>[^\"“”„«»\n]{2,80}?) ?[\"”“»])"
    r"|(?P<number>[$€£]?\d[\d.,:]*(?<![.,:])(?: ?(?:%|€|km|kg|g|m|cm|Euro|euros?|Uhr|h)(?!\w))?)"
    r"|(?P<word>[^\W\d_][^\W_]*+)"
)
_MOST_PHRASES: Final = 20


def objects_of(table: Language, text: str, body: int) -> list[str]:
    """Return the objects of a sentence in order.

    A noun phrase is an object when a determiner comes before it or when it has a capital that is not only that of the
    beginning of the sentence.

    Args:
        table: the table of its language.
        text: the sentence.
        body: offset at which the sentence proper begins, after a speaker's label.

    Returns:
        Names without their determiners; dates in ISO 8601.
    """
    phrases = NounPhrases(table, text, body, People("", None, None))
    found: list[str] = []
    offset = body
    while len(found) < _MOST_PHRASES:
        token = _TOKEN.search(text, offset)
        if token is None:
            break
        start, offset = token.start(), token.end()
        date = table.date.match(text, start) if token.lastgroup != "address" else None
        if date is not None:
            found.append(table.iso_date(date))
            offset = date.end()
        elif token["address"] is not None:
            found.append(token[0].rstrip(".,;:!?)'"))
        elif token["title"] is not None:
            found.append(token["inner"])
        elif token["number"] is not None:
            found.append(token[0])
        else:
            end = _phrase(phrases, start, body, found)
            offset = max(end, offset)
    return found


def _phrase(phrases: NounPhrases, start: int, body: int, found: list[str]) -> int:
    """Add the noun phrase at ``start``, if one is there that names something; return where to go on."""
    noun = next(iter([*phrases.phrases(start, False)][-1:]), None)
    if noun is None:
        return start
    begin = noun.end - len(noun.name)
    determined = bool(noun.determiner)
    opens = not any(c.isalnum() for c in phrases.text[body:start])
    words = noun.name.split()
    capital = any(w[0].isupper() for w in words)
    if phrases.language.capital_nouns:
        named = any(w[0].isupper() for w in words[1:]) or (words[0][0].isupper() and not (opens and not determined))
        is_verb = opens and not determined and words[0].lower() in phrases.language.words["common"]
        is_object = (named or opens) and not is_verb and capital
    else:
        is_object = determined or (
            words[0][0].isupper() and (not opens or words[0].lower() not in phrases.language.words["common"])
        )
    if not is_object or (len(noun.name) < 3 and not capital):
        return begin if determined else start
    found.append(noun.name)
    return noun.end
