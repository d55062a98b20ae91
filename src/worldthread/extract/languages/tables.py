"""Loads the tables of the languages: closed classes, nouns that decide something, and the commonest statements."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, NamedTuple, TypeAlias

LANGUAGES: Final = {"de": "german", "fr": "french", "es": "spanish"}
"""Languages that have rules, besides English: the file of each by its ISO 639-1 code."""

Holds: TypeAlias = Literal["state", "past", "event", "occasion"]
"""When a statement holds by the times of its clause: a state that is so, one that was so, one that began with what
happened, or only when it happens."""

Kind: TypeAlias = Literal["subject", "speaker", "verb", "object", "words", "end"]

_ELEMENT: Final = re.compile(r"(?P<optional>\?)?(?:\{(?P<verb>\w+)\}|<(?P<object>[\w ]+)>|(?P<words>[^\s]+))")
_MONTH_SLOT: Final = "MONTH"


class Element(NamedTuple):
    """One element of a form.

    Args:
        kind: what it stands for.
        value: the name of the verb, the kind of the object, or the words after a "|".
        pattern: the words, for ``words``.
        is_optional: whether it may be missing.
    """

    kind: Kind
    value: str = ""
    pattern: re.Pattern[str] | None = None
    is_optional: bool = False


class Form(NamedTuple):
    """One way to say a statement.

    Args:
        elements: its elements, in order.
        facts: the facts that it states, each as subject, relation, object and aspect.
        ends: the facts that it ends.
        holds: when the facts hold.
        needs_time: whether it states something only where its clause says when.
    """

    elements: tuple[Element, ...]
    facts: tuple[tuple[str, ...], ...]
    ends: tuple[tuple[str, ...], ...]
    holds: Holds = "state"
    needs_time: bool = False


class Language:
    """The table of one language, ready to be matched.

    Args:
        code: the ISO 639-1 code, one of :data:`LANGUAGES`.

    Attributes:
        code: the ISO 639-1 code.
        verb_second: whether the verb comes before the subject when something else opens the sentence.
        drops_subject: whether a verb of the first person stands without its pronoun.
        capital_nouns: whether every noun has a capital.
        words: the word lists by name, all in lower case.
        relatives: English names of members of a family and the like, by the word of the language.
        roles: English names of roles of which there is one holder at a time.
        attributes: English names of single-valued attributes.
        favourites: English names of what people have favourites of.
        states: families of lasting states, by the adjective.
        verbs: for each verb its forms in the first and in the third person.
        forms: the forms of all statements, in the order in which they are tried.
        months: numbers of months by name.
        negations: patterns of a denial, with what is to stand in their place.
    """

    def __init__(self, code: str) -> None:
        table = _load(LANGUAGES[code])
        self.code = code
        self.verb_second = bool(table.get("verb_second"))
        self.drops_subject = bool(table.get("drops_subject"))
        self.capital_nouns = bool(table.get("capital_nouns"))
        self.words = {key: frozenset(_entries(value.lower())) for key, value in table.items() if isinstance(value, str)}
        self.determiners = {
            name: _alternatives(table[name], re.IGNORECASE)
            for name in (
                "definite", "indefinite", "partitive", "possessive_first", "possessive_male", "possessive_female",
                "possessive_any", "rejected", "numerals",
            )
            if name in table
        }  # fmt: skip
        self.pronouns = {name: _alternatives(table[name], re.IGNORECASE) for name in ("first_person", "male", "female")}
        self.relatives = _inverse(table["relatives"])
        self.roles = _inverse(table["roles"])
        self.attributes = _inverse(table["attributes"])
        favourites = dict(table["favourites"])
        self.favourite_prefix: str = favourites.pop("prefix", "").lower()
        self.favourite_adjectives = frozenset(favourites.pop("after", "").split())
        self.favourites = _inverse(favourites)
        self.states = _inverse(table["states"])
        self.months = {name: number for number, name in enumerate(table["months"].split(), 1)}
        self.months |= {name: number for number, name in enumerate(table["months_too"].split(), 1) if name != "-"}
        self.verbs = {
            name: (_alternatives(first, re.IGNORECASE), _alternatives(third, re.IGNORECASE))
            for name, (first, third) in table["verbs"].items()
        }
        self.any_verb = _alternatives(" ".join(f for p in table["verbs"].values() for f in p if f != "-"))
        month = "|".join(sorted(self.months, key=len, reverse=True))
        self.month_words = month

        def with_months(pattern: str) -> str:
            return pattern.strip().replace(_MONTH_SLOT, rf"(?i:{month})")

        self.date = re.compile(rf"(?<!\w)(?:{with_months(table['date'])})(?!\w)")
        self.clock = re.compile(rf"(?<![\w.,])(?:{table['clock']})(?!\w)")
        self.time = re.compile(rf"(?i:{with_months(table['time'])})(?!\w)")
        self.doubt = re.compile(table["doubt"].strip())
        self.doubt_except = re.compile(table["doubt_except"]) if "doubt_except" in table else None
        self.negations = [(re.compile(pattern), instead) for pattern, instead in table["negations"]]
        self.negation_rest = re.compile(table["negation_rest"])
        self.infinitive = re.compile(rf"(?:{table['infinitive']})(?!\w)") if "infinitive" in table else None
        self.elision = re.compile(table["elision"]) if "elision" in table else None
        self.adverb = _alternatives(table["adverbs"], re.IGNORECASE)
        self.fronted = _alternatives(table["fronted"], re.IGNORECASE)
        self.opening = _alternatives(table["opening"], re.IGNORECASE)
        self.link = _alternatives(table["links"])
        self.of_link = _alternatives(table.get("of_links", "-"))
        self.clause_link = re.compile(rf",? (?:{'|'.join(table['clause_links'].split())}) |, |; ", re.IGNORECASE)
        self.enumeration = re.compile(rf",? (?:{'|'.join(table['conjunctions'].split())}) |, ")
        self.circumstance = _alternatives(table["circumstances"])
        self.preposition = _alternatives(table["prepositions"])
        self.weekday = _alternatives(table["weekdays"], re.IGNORECASE)
        self.stops = self.words["function"] | self.words["prepositions"] | self.words["rejected"]
        self.forms = [form for statement in table["statements"] for form in _forms(statement)]

    def iso_date(self, match: re.Match[str]) -> str:
        """Return the date of a match of :attr:`date` in ISO 8601, ``--06-14`` without a year.

        Args:
            match: the match.

        Returns:
            The date; the text of the match when no month has the day.
        """
        month_text = match["m"].rstrip(".")
        month = int(month_text) if month_text.isdecimal() else self.months[month_text.lower()]
        day = int(re.sub(r"\D", "", match["d"]))
        if not 1 <= month <= 12 or not 1 <= day <= 31:
            return match[0]
        return f"{match['y'] or '-'}-{month:02d}-{day:02d}"


@cache
def language(code: str) -> Language:
    """Return the table of a language, loaded once.

    Args:
        code: the ISO 639-1 code, one of :data:`LANGUAGES`.

    Returns:
        The table.
    """
    return Language(code)


def function_words(code: str) -> frozenset[str]:
    """Return the function words and the commonest other words of a language, without making its patterns."""
    table = _load(LANGUAGES[code])
    verbs = " ".join(forms for persons in table["verbs"].values() for forms in persons if forms != "-")
    words = _entries(f"{table['function']} {table['common']} {verbs} {' '.join(table['relatives'].values())}".lower())
    return frozenset(part for word in words for part in word.split())


@cache
def _load(name: str) -> dict[str, Any]:
    return tomllib.loads(files("worldthread.extract.languages").joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def _entries(text: str) -> list[str]:
    return [entry.replace("_", " ") for entry in text.split()]


def _inverse(table: dict[str, str]) -> dict[str, str]:
    return {word.lower(): meaning for meaning, words in table.items() for word in _entries(words)}


def _alternatives(words: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern of any of the entries as whole words, the longest first; "-" stands for none."""
    entries = sorted((e for e in _entries(words.replace("|", " ")) if e != "-"), key=len, reverse=True)
    if not entries:
        return re.compile(r"(?!)")
    parts = [re.escape(e).replace("'", "['’]") + ("" if e.endswith("'") else r"(?!\w)") for e in entries]
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})", flags)


def _forms(statement: dict[str, Any]) -> list[Form]:
    facts = tuple(_parts(fact) for fact in statement.get("facts", ()))
    ends = tuple(_parts(fact) for fact in statement.get("ends", ()))
    holds, needs_time = statement.get("holds", "state"), bool(statement.get("needs_time"))
    return [Form(_elements(form), facts, ends, holds, needs_time) for form in statement["forms"]]


def _parts(fact: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in fact.split("|"))


def _elements(form: str) -> tuple[Element, ...]:
    found = []
    for match in _ELEMENT.finditer(form):
        optional = match["optional"] is not None
        if match["verb"] is not None:
            found.append(Element("verb", match["verb"]))
        elif match["object"] is not None:
            found.append(Element("object", match["object"], is_optional=optional))
        elif match["words"] in ("S", "I", "END"):
            kinds: dict[str, Kind] = {"S": "subject", "I": "speaker", "END": "end"}
            found.append(Element(kinds[match["words"]]))
        else:
            words = match["words"].replace("?", "")
            found.append(Element("words", f"|{words}", _words_pattern(words), optional))
    return tuple(found)


def _words_pattern(words: str) -> re.Pattern[str]:
    """Return a pattern of words in a form: alternatives between "|", "_" for a space, a comma as it is."""
    parts = []
    for word in words.split("|"):
        text = re.escape(word.replace("_", " ")).replace("'", "['’]").replace(r"\ ", " ")
        parts.append(text + (r"(?!\w)" if word[-1].isalnum() else ""))
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})", re.IGNORECASE)
