"""Puts plain statements together, and sentences of the same words that state something else or nothing.

The words are in ``pairs/plain_statements.toml``.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from messages import Labelled
from plain_changes import NAMES, Person, PlainPair, said_of, somebody

from worldthread.extract.prose.words import first_person

Words: TypeAlias = Mapping[str, Any]
"""What the file has: words and forms by their names."""

_TIME: Final = "2024-05-14T12:00"
_TIMES: Final = {"p": "past", "f": "future", "b": "begun", "d": "lasting", "e": "ending", "k": "deadline"}
_PREPOSITION: Final = re.compile(r"^(?:on|in|at|since|for|until) ")
_SPAN_AHEAD: Final = re.compile(r"in (?:two|three|a) ")
_LAST_TIME: Final = re.compile(r" (\{[pfbde]\})\.$")
_ARTICLE: Final = re.compile(r"^(?:an?|the) ")


class PlainStatement(NamedTuple):
    """A sentence with what it tells.

    Args:
        message: the sentence as a message, with its events.
        fact: what is stated, or looks as if it were, as it is shown to the network.
        is_right: whether the sentence says so.
    """

    message: Labelled
    fact: str
    is_right: bool


def plain_statements(path: Path, count: int, seed: int) -> Iterator[PlainStatement]:
    """Yield sentences, about half of which state the fact that they look like.

    Args:
        path: the file of words and forms.
        count: how many.
        seed: of the choice.
    """
    chance = random.Random(seed)
    kinds = (_with_verb, _of_thing, _dated, _nothing)
    for words, speaker in _speakers(path, count, chance):
        (make,) = chance.choices(kinds, (50, 20, 22, 8))
        yield make(words, speaker, somebody(speaker, chance), chance)


def value_pairs(path: Path, count: int, seed: int) -> Iterator[PlainPair]:
    """Yield facts beside messages that correct them, renew them, or leave them.

    Args:
        path: the file of words and forms.
        count: how many.
        seed: of the choice.
    """
    chance = random.Random(seed)
    for words, speaker in _speakers(path, count, chance):
        person, other = somebody(speaker, chance), somebody(speaker, chance)
        while other.said == person.said:
            other = somebody(speaker, chance)
        kind = chance.choice(("corrected", "corrected", "renewed", "untouched", "untouched"))
        if kind != "renewed" and chance.random() < 0.4:
            _, third, _, _, *objects = chance.choice([row for row in words["verbs"] if row[0] != "have"])
            now, before, third_one = (*chance.sample(objects, 2), chance.choice(objects))
            fact = f"{person.fact} {third} {before}"
            told = [f"{one.said} {first_person(third) if one.is_speaker else third} {now}" for one in (person, other)]
        else:
            noun, relation, *objects = chance.choice(words["things"])
            now, before, third_one = (*chance.sample(objects, 2), chance.choice(objects))
            place = relation.removeprefix("is").strip()
            fact = (
                f"{person.fact} has {noun} {before}" if not relation else f"{person.fact}'s {noun} {relation} {before}"
            )
            told = [f"{_possessive(one)} {noun} {relation or 'is'} {now}" for one in (person, other)]
            now, before = f"{place} {now}".strip(), f"{place} {before}".strip()
        form = chance.choice(words[kind])
        is_sentence = form.startswith("{st")
        for mark, shown in (("{st2}", told[1]), ("{st}", told[0]), ("{x}", now), ("{o}", before), ("{y}", third_one)):
            form = form.replace(mark, shown)
        text = said_of(form[:1].upper() + form[1:] if is_sentence else form, person, (), chance)
        yield PlainPair(fact, speaker, text, {"corrected": "never", "renewed": "ended", "untouched": "goes on"}[kind])


def _speakers(path: Path, count: int, chance: random.Random) -> Iterator[tuple[Words, str]]:
    """Yield the words of a file with somebody who speaks."""
    words = tomllib.loads(path.read_text(encoding="utf-8"))
    for _ in range(count):
        yield words, chance.choice(("user", chance.choice(NAMES)))


def _with_verb(words: Words, speaker: str, person: Person, chance: random.Random) -> PlainStatement:
    base, third, past, ing, *objects = chance.choice(words["verbs"])
    is_right = chance.random() < 0.4
    form, event = chance.choice(words["said" if is_right else "unsaid"])
    thing = chance.choice(objects)
    verb, _, rest = base.partition(" ")
    relations = {
        "third": third,
        "past": past,
        "does not base": f"is not {rest}".strip() if verb == "be" else f"does not {base}",
        "used to base": f"used to {base}",
        "wants to base": f"wants to {base}",
        "never past": f"never {past}",
    }
    participle = {"be": "been", "have": "had", "eat": "eaten"}.get(verb, past.partition(" ")[0])
    forms = {
        "{v}": first_person(third) if person.is_speaker else third,
        "{base}": base,
        "{past}": past,
        "{been}": f"{participle} {rest}".strip(),
        "{ing}": ing,
        "{dont}": "don't" if person.is_speaker else "doesn't",
        "{do}": "Do" if person.is_speaker else "Does",
        "{have}": "have" if person.is_speaker else "has",
    }
    if verb == "be":
        forms["{dont} {base}"] = f"{'am' if person.is_speaker else 'is'} not {rest}".strip()
        form = form.replace("{do} {s} {base} {x}?", f"[Am|Is] {{s}} {rest} {{x}}?".replace("  ", " "))
    for mark in sorted(forms, key=len, reverse=True):
        form = form.replace(mark, forms[mark])
    parts = event.split(" | ")
    event = " | ".join([parts[0], person.fact, relations[parts[2]], bare(thing), *parts[4:]]) if event else ""
    return _statement(form, event, f"{person.fact} {third} {thing}", speaker, person, thing, chance, is_right)


def _of_thing(words: Words, speaker: str, person: Person, chance: random.Random) -> PlainStatement:
    noun, relation, *objects = chance.choice(words["things"])
    thing = chance.choice(objects)
    is_right = chance.random() < 0.6
    forms = (
        "thing_unsaid" if not is_right else "thing_said" if relation else chance.choice(("thing_said", "named_said"))
    )
    form, _ = chance.choice(words[forms])
    place = relation.removeprefix("is").strip()
    form = form.replace("{n}", noun).replace("{x}", f"{place} {{x}}".strip())
    parts = [f"{person.fact}'s {noun}", relation, thing] if relation else [person.fact, f"has {noun}", thing]
    event = " | ".join(["state", *parts[:2], bare(thing)]) if is_right else ""
    return _statement(form, event, " ".join(parts), speaker, person, thing, chance, is_right)


def _dated(words: Words, speaker: str, person: Person, chance: random.Random) -> PlainStatement:
    form, event, *objects = chance.choice(words["dated"])
    thing = chance.choice(objects)
    last = _LAST_TIME.search(form)
    if last is not None and form.startswith("{S} ") and chance.random() < 0.35:
        form = f"{last[1]}{chance.choice((' ', ', '))}{{s}}{form[len('{S}') : last.start()]}."
    for mark, name in _TIMES.items():
        if f"{{{mark}}}" in form:
            time = chance.choice(words[name])
            form = form.replace(
                f"{{{mark}}}", time[:1].upper() + time[1:] if form.startswith("{") and form[1] == mark else time
            )
            said = time if _SPAN_AHEAD.match(time) else _PREPOSITION.sub("", time)
            event = event.removesuffix(mark) + said if event.endswith(mark) else event
    parts = event.split(" | ")
    subject = parts[1].replace("'s x", f"'s {thing}")
    parts[1:2] = [subject.replace("S", person.fact, 1)]
    if parts[3] == "x":
        parts[3] = bare(thing)
    elif len(parts) == 4:
        parts[3] = said
    fact = f"{parts[1]} {parts[2]} {parts[3]}"
    return _statement(form, " | ".join(parts), fact, speaker, person, thing, chance, is_right=True)


def _nothing(words: Words, speaker: str, person: Person, chance: random.Random) -> PlainStatement:
    text = chance.choice(words["nothing"])
    subject, _, rest = text.rstrip(".!?").partition(" ")
    shown = {"I'm": f"{speaker} is", "I": speaker, "My": f"{speaker}'s", "I've": f"{speaker} has"}.get(subject, subject)
    return _statement(text, "", f"{shown} {rest}", speaker, person, "", chance, is_right=False)


def _statement(
    form: str, event: str, fact: str, speaker: str, person: Person, thing: str, chance: random.Random, is_right: bool
) -> PlainStatement:
    other = chance.choice([name for name in NAMES if name not in (person.fact, speaker)])
    text = said_of(form, person, (thing, thing, other), chance)
    message = Labelled("plain", _TIME, speaker, (), text, (event,) if event else ())
    return PlainStatement(message, " ".join(fact.split()), is_right)


def _possessive(person: Person) -> str:
    return "my" if person.is_speaker else f"{person.said}'s"


def bare(thing: str) -> str:
    """Return a thing without its article, as events have it.

    Args:
        thing: the thing.
    """
    return _ARTICLE.sub("", thing)
