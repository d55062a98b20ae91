"""Loads the words and patterns of a language, one TOML file each, and compiles them to one regular expression."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from functools import cache
from importlib.resources import files
from itertools import count
from typing import Any, Final, NamedTuple

from worldthread.errors import InputError

LANGUAGES: Final = {"de": "german", "en": "english", "es": "spanish", "fr": "french"}
GAP: Final = r"\s{1,4}"  # bounded, so that a run of spaces costs no more than its length

_FIELDS: Final = ("unit", "span", "month", "weekday", "season", "feast", "dayword", "part", "which", "that_year")
_OPTIONAL_FIELDS: Final = ("quarter", "ordinal", "decade_word", "beside")
_SPAN_FIELDS: Final = ("weekend", "week", "month")
_RENAMED: Final = {"ordinal": "day", "decade_word": "decade"}
_SHORT_YEARS_BEFORE_2000: Final = 50  # '49 is 2049, '50 is 1950
_LONGEST_CLOCK: Final = 32  # characters

_NUMBERS: Final = {
    "day": r"0?[1-9]|[12]\d|3[01]",
    "year": r"[12]\d{3}(?!\d)|['’]\d\d(?!\d)",
    "decade": r"1\d\d0|20\d0",
    "short_decade": r"[3-9]0",
    "first": r"\d{1,2}",
    "second": r"\d{1,2}",
    "third": r"\d{1,2}",
    "fourth": r"\d{1,2}",
    "short_year": r"\d\d",
}
_BEFORE: Final = r"(?<![\w'’@#/-])(?<!\w\.)(?=['’\w])"
_AFTER: Final = r"(?!['’]s\b|\w|-\w)"
_ISO: Final = r"(?P<{0}>\d{{4}}(?:-\d\d-\d\d|/\d\d/\d\d))(?:[T ](?P<{1}>\d\d:\d\d)(?::\d\d)?Z?)?"
_NUMERIC: Final = r"(?P<{0}>\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{4}})"


class Template(NamedTuple):
    """A pattern of a language.

    Args:
        kind: what the pattern describes; the name of a method of the resolver.
        words: the words before it that make it a time; ``""`` when it needs none.
    """

    kind: str
    words: frozenset[str]


class TimeMatch(NamedTuple):
    """A pattern that was found in a sentence.

    Args:
        kind: what was found, see :class:`Template`.
        start: offset of the first character, of the word before it if there is one.
        end: offset after the last character.
        lead: the word before it ("since", "in"), or ``""``.
        leads: the names of the tables that have the lead; ``"at"`` when the pattern wants it.
        edge: ``"begin"``, ``"middle"``, ``"end"``, ``"last"``, ``"part"`` or ``""``.
        fields: values by field: keys of the tables, or the text of numbers.
        month_text: the name of the month as written.
        needs_word: whether it is a time only after such a word.
        core: offset of the pattern itself.
    """

    kind: str
    start: int
    end: int
    lead: str
    leads: frozenset[str]
    edge: str
    fields: dict[str, str]
    month_text: str
    needs_word: bool
    core: int


class TimeTable:
    """The words and patterns of one language.

    Args:
        data: the content of the language's TOML file.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.day_first: bool = data["day_first"]
        self.next_is_of_the_next_week: bool = data["next_is_of_the_next_week"]
        self.perfect_lasts: bool = data["perfect_lasts"]
        self.rejected: dict[str, frozenset[str]] = {
            key: frozenset(filter(None, value.split("|"))) for key, value in data["rejected"].items()
        }
        self.tense: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
        self.tense.update(
            {
                key: frozenset(value.split())
                for key, value in data["tense"].items()
                if isinstance(value, str) and key not in ("stay", "stay_for")
            }
        )
        self.perfect_window: int = data["tense"]["perfect_window"]
        self.stay_for = re.compile(data["tense"].get("stay_for", r"(?!)"), re.IGNORECASE)
        self.stay = re.compile(data["tense"].get("stay", r"(?!)"), re.IGNORECASE)
        self._words = {field: _values(data[field]) for field in _FIELDS}
        self._words |= {field: _values(data.get(field, {})) for field in _OPTIONAL_FIELDS}
        self._counts = {_flat(text): float(value) for text, value in data["n"].items()}
        self.events: dict[str, frozenset[str]] = {
            name: frozenset(_flat(word) for word in words.split("|")) for name, words in data["event"].items()
        }
        every = sorted((word for words in self.events.values() for word in words), key=len, reverse=True)
        self.event = re.compile(rf"(?<!\w)(?:{'|'.join(map(_source, every))})(?=\s)", re.IGNORECASE)
        self._half = data["half"]
        self._edges = _values(data["edge"])
        self._leads: dict[str, frozenset[str]] = {
            name: frozenset(_flat(word) for word in words.split("|")) for name, words in data["lead"].items()
        }
        self._sources = {
            **{
                field: "|".join(_source(words) for words in data.get(field, {}).values()) or r"(?!)"
                for field in (*_FIELDS, *_OPTIONAL_FIELDS)
            },
            **{f"{span}_span": _source(data["span"][span]) for span in _SPAN_FIELDS},
            **_NUMBERS,
            "n": self._count_source(),
            "weekend": _source(data["span"]["weekend"]),
            "day2": _NUMBERS["day"],
            "year2": _NUMBERS["year"],
            "half": rf"(?:{GAP}{_source(self._half)})",
        }
        self._loose = (
            r"(?=\s{0,4}(?:[.,;:!?)\]\"”—–-]|$)|\s{1,4}(?:(?-i:[^\W\d_a-zà-ÿ])|(?:"
            + "|".join(sorted(self.tense["loose"]))
            + r")(?![\w])))"
        )
        self._numbers = count()
        self._templates: list[Template] = []
        cores = self._cores(data["patterns"]["list"])
        leads = {word for words in self._leads.values() for word in words}
        leads |= {word for template in self._templates for word in template.words if word}
        lead = "|".join(_source(word) for word in sorted(leads, key=len, reverse=True))
        edge = "|".join(_source(words) for words in data["edge"].values())
        core = rf"(?:(?P<edge>{edge})(?:{GAP}|(?<=-)))?(?:{cores}){_AFTER}"
        self._pattern = re.compile(rf"{_BEFORE}(?:(?P<lead>{lead})(?:{GAP}|(?<=['’])))?{core}", re.IGNORECASE)
        self._core = re.compile(core, re.IGNORECASE)
        self._fields_of = {
            expression: {
                name: (template, [(expression.groupindex[group], field) for group, field in self._groups[name]])
                for name, template in self._named.items()
            }
            for expression in (self._pattern, self._core)
        }
        self._to = re.compile(rf"\s{{0,4}}(?:(?:{_source(data['follow']['to'])}){GAP}|[-–]\s{{0,4}})", re.IGNORECASE)
        self._onwards = re.compile(rf"{GAP}(?:{_source(data['follow']['onwards'])})(?!\w)", re.IGNORECASE)
        self._since_then = re.compile(rf"{GAP}(?:{_source(data['follow'].get('that', 'that'))})(?!\w)", re.IGNORECASE)
        self._clock_before = re.compile(rf"(?:{data.get('clock_before', r'(?!)')})\s{{1,4}}$", re.IGNORECASE)
        self._to_the_day = re.compile(rf"(?:{data.get('to_the_day', r'(?!)')})$", re.IGNORECASE)
        self._street = re.compile(rf"\s{{1,4}}(?:{data.get('streets', r'(?!)')})\b", re.IGNORECASE)
        self._clock = re.compile(
            rf",?{GAP}(?:{_source(data['clock'])}){GAP}(\d{{1,2}})(?:[:.h](\d\d))?"
            rf"(?:\s?([ap])(?:m|\.m\.)|\s?(uhr|h|heures?|o['’]clock))?(?![\w:])",
            re.IGNORECASE,
        )

    def _count_source(self) -> str:
        tens = "|".join(word for word, value in self._counts.items() if value >= 20 and value % 10 == 0)
        ones = "|".join(word for word, value in self._counts.items() if 1 <= value < 10 and " " not in word)
        words = "|".join(_source(word) for word in sorted(self._counts, key=len, reverse=True))
        return rf"\d{{1,4}}(?:[.,]5)?|(?:{tens})[\s-](?:{ones})\b|{words}"

    def _cores(self, patterns: list[list[str]]) -> str:
        self._named: dict[str, Template] = {}
        self._groups: dict[str, list[tuple[str, str]]] = {}
        everywhere = frozenset(
            {"", *(_flat(word) for kind, words, _ in patterns if kind == "date" for word in words.split("|"))}
        )
        sources = [
            self._add("iso", everywhere, _ISO.format("iso__a", "time__a"), [("iso__a", "iso"), ("time__a", "time")]),
            self._add("numeric", everywhere, _NUMERIC.format("numeric__a"), [("numeric__a", "numeric")]),
        ]
        for kind, words, pattern in patterns:
            groups: list[tuple[str, str]] = []

            def group(match: re.Match[str], groups: list[tuple[str, str]] = groups) -> str:
                field = match[1]
                if field == "loose":
                    return self._loose
                name = f"{field}__{next(self._numbers)}"
                groups.append((name, "span" if field == "weekend" or field.endswith("_span") else field))
                return f"(?P<{name}>{self._sources[field]})"

            source = re.sub(r"\{([a-z]\w*)\}", group, pattern.replace(" ", GAP))
            sources.append(self._add(kind, frozenset(_flat(word) for word in words.split("|")), source, groups))
        return "|".join(sources)

    def _add(self, kind: str, words: frozenset[str], source: str, groups: list[tuple[str, str]]) -> str:
        name = f"template__{len(self._templates)}"
        template = Template(kind, words)
        self._templates.append(template)
        self._named[name], self._groups[name] = template, groups
        return f"(?P<{name}>{source})"

    def is_event(self, word: str, role: str) -> bool:
        """Return whether a word that :attr:`event` finds is "during", "before" or "after" what happened."""
        return _flat(word) in self.events.get(role, ())

    def search(self, sentence: str, position: int) -> TimeMatch | None:
        """Return the first pattern at or after ``position``, with the word before it; ``None`` if there is none."""
        found = self._pattern.search(sentence, position)
        return self._read(found, found["lead"] or "") if found else None

    def without_lead(self, sentence: str, position: int) -> TimeMatch | None:
        """Return the pattern that begins at ``position``, without a word before it; ``None`` if none does."""
        found = self._core.match(sentence, position)
        return self._read(found, "") if found else None

    def second(self, sentence: str, position: int) -> TimeMatch | None:
        """Return what follows "to" at ``position``, the end of the first time of a range; ``None`` if nothing does."""
        to = self._to.match(sentence, position)
        found = self._core.match(sentence, to.end()) if to else None
        return self._read(found, "") if found else None

    def opens_with_which(self, text: str) -> bool:
        """Return whether a text opens with a word such as "last" or "this"."""
        return any(value.match(text) for value in self._words["which"].values())

    def onwards(self, sentence: str, position: int) -> int:
        """Return the offset after "onwards" at ``position``, or ``position`` if it is not there."""
        found = self._onwards.match(sentence, position)
        return found.end() if found else position

    def that(self, sentence: str, position: int) -> int:
        """Return the offset after a conjunction that makes "two years ago" mean "for two years"; else ``position``."""
        found = self._since_then.match(sentence, position)
        return found.end() if found else position

    def clock(self, sentence: str, position: int) -> tuple[int, int | None]:
        """Return the offset after a time of day at ``position`` and its minute of the day.

        Args:
            sentence: the sentence.
            position: where a day ends.

        Returns:
            ``position`` when there is no time of day; no minute when it may be of the morning or of the evening.
        """
        found = self._clock.match(sentence, position)
        if not found or int(found[1]) > 24 or int(found[2] or 0) > 59:
            return position, None
        hour, minute = int(found[1]), int(found[2] or 0)
        if found[3]:
            if not 1 <= hour <= 12:
                return position, None
            hour = hour % 12 + (12 if found[3].lower() == "p" else 0)
        elif hour <= 12 or (not found[2] and not found[4]):
            return found.end(), None
        return found.end(), hour * 60 + minute if hour < 24 else None

    def before_clock(self, sentence: str, position: int) -> int:
        """Return where a time of day before a day begins ("at noon" of "at noon today"); else ``position``."""
        found = self._clock_before.search(sentence, max(0, position - _LONGEST_CLOCK), position)
        return found.start() if found else position

    def is_to_the_day(self, text: str) -> bool:
        """Return whether "twenty years ago today" says the day, which "twenty years ago" does not."""
        return self._to_the_day.search(text) is not None

    def is_street(self, sentence: str, position: int) -> bool:
        """Return whether what ends at ``position`` names a street: "14th of October Street"."""
        return self._street.match(sentence, position) is not None

    def count(self, text: str) -> float | None:
        """Return the value of a count such as "2", "1.5", "twenty-five", "a couple of" or "half a"."""
        flat = _flat(text).replace("-", " ")
        try:
            return float(flat.replace(",", "."))
        except ValueError:
            pass
        if flat in self._counts:
            return self._counts[flat]
        values = [self._counts.get(word) for word in flat.split()]
        return sum(value for value in values if value is not None) if None not in values else None

    def _read(self, found: re.Match[str], lead: str) -> TimeMatch:
        template, groups = self._fields_of[found.re][str(found.lastgroup)]
        fields: dict[str, str] = {}
        month_text = ""
        for group, field in groups:
            text = found[group]
            if text is None or field in fields:
                continue
            if field == "month":
                month_text = text
            values = self._words.get(field)
            value = next(key for key, value in values.items() if value.fullmatch(text)) if values else text
            fields[_RENAMED.get(field, field)] = _whole_year(value) if field in {"year", "year2"} else value
        edge = found["edge"]
        flat = _flat(lead)
        leads = {name for name, words in self._leads.items() if flat in words}
        if flat and flat in template.words:
            leads.add("at")
        return TimeMatch(
            template.kind,
            found.start(),
            found.end(),
            flat,
            frozenset(leads),
            next((key for key, value in self._edges.items() if value.fullmatch(edge)), "") if edge else "",
            fields,
            month_text,
            "" not in template.words,
            found.start("edge") if edge else found.start(str(found.lastgroup)),
        )


def _whole_year(text: str) -> str:
    """Return a year with four digits: "1998" for "'98"."""
    if len(text) == len("1998"):
        return text
    short = int(text[1:])
    return str(short + (1900 if short >= _SHORT_YEARS_BEFORE_2000 else 2000))


def _flat(text: str) -> str:
    return " ".join(text.lower().replace("’", "'").split())


def _source(words: str) -> str:
    return re.sub(r"(?<!\[)'(?!’)", "['’]", words.replace(" ", GAP))


def _values(table: dict[str, str]) -> dict[str, re.Pattern[str]]:
    return {key: re.compile(_source(words), re.IGNORECASE) for key, words in table.items()}


@cache
def table(language: str) -> TimeTable:
    """Return the words and patterns of a language, loaded once.

    Args:
        language: ``"en"``, ``"de"``, ``"fr"`` or ``"es"``.

    Returns:
        The table.

    Raises:
        InputError: there is no table for this language.
    """
    if language not in LANGUAGES:
        raise InputError(f"language must be one of {', '.join(sorted(LANGUAGES))}, not {language!r}")
    source = files("worldthread.extract.times").joinpath(f"{LANGUAGES[language]}.toml")
    return TimeTable(tomllib.loads(source.read_text(encoding="utf-8")))


@cache
def time_words(language: str) -> frozenset[str]:
    """Return the single words of a language that name times, in lower case: months, weekdays, "tomorrow", "week".

    Args:
        language: as for :func:`table`.

    Returns:
        The words; none of the abbreviations that need their full stop.
    """
    data = tomllib.loads(
        files("worldthread.extract.times").joinpath(f"{LANGUAGES[language]}.toml").read_text(encoding="utf-8")
    )
    named = ("unit", "span", "month", "weekday", "season", "feast", "dayword", "part")
    words = {word for field in named for source in data[field].values() for word in source.split("|")}
    return frozenset(word for word in words if word.isalpha())
