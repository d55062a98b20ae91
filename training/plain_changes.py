"""Puts plain facts and plain messages together, each with its outcome, from `pairs/plain_changes.toml`."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

KIN: Final = [
    "sister",
    "brother",
    "mother",
    "father",
    "wife",
    "husband",
    "son",
    "daughter",
    "boss",
    "neighbour",
    "friend",
    "aunt",
    "uncle",
    "cousin",
    "flatmate",
    "colleague",
]
NAMES: Final = [
    "Ana",
    "Tom",
    "Priya",
    "Kofi",
    "Lena",
    "Mei",
    "Omar",
    "Ingrid",
    "Diego",
    "Aisha",
    "Sven",
    "Yuki",
    "Nora",
    "Emeka",
    "Zoltan",
    "Fatima",
    "Pat",
    "Ruth",
    "Ivo",
    "Marlene",
]
_BEFORE: Final = (
    "So, ",
    "Well, ",
    "By the way, ",
    "btw ",
    "Update: ",
    "News: ",
    "Sad news. ",
    "Finally! ",
    "Hi! ",
    "ok ",
)
_AFTER: Final = (
    " Just so you know.",
    " lol",
    " It feels strange.",
    " That's all.",
    " What a week!",
    " :)",
    " Oh well.",
)
_CHOICE: Final = re.compile(r"\[([^|\]]*)\|([^\]]*)\]")


class PlainPair(NamedTuple):
    """A fact beside a message.

    Args:
        fact: the fact, as it is shown to the network.
        speaker: who says the message.
        message: the message.
        outcome: "ended", "never" or "goes on".
    """

    fact: str
    speaker: str
    message: str
    outcome: str


class Person(NamedTuple):
    """Somebody whom a fact is about: how the fact and the message call them."""

    fact: str
    said: str
    is_speaker: bool
    is_woman: bool


def plain_pairs(path: Path, count: int, seed: int) -> Iterator[PlainPair]:
    """Yield pairs of a fact and a message.

    A fact about somebody else, or about another thing than the message names, goes on.

    Args:
        path: the file of topics.
        count: how many pairs.
        seed: of the choice.
    """
    chance = random.Random(seed)
    topics: list[Mapping[str, Sequence[str]]] = list(tomllib.loads(path.read_text(encoding="utf-8")).values())
    weights = [len(topic.get("over", ())) + len(topic["kept"]) for topic in topics]
    for _ in range(count):
        (topic,) = chance.choices(topics, weights)
        kinds = [kind for kind in ("over", "over", "over", "over", "kept", "kept", "kept", "never") if topic.get(kind)]
        kind = chance.choice(kinds)
        speaker = chance.choice(("user", chance.choice(NAMES)))
        person = somebody(speaker, chance)
        fact, message = chance.choice(topic["facts"]), chance.choice(topic[kind])
        things = chance.sample(topic["x"], min(3, len(topic["x"])))
        outcome = {"over": "ended", "kept": "goes on", "never": "never"}[kind]
        about, thing = person, things[0]
        if outcome != "goes on" and chance.random() < 0.3:
            if "{y}" not in message and "{x}" in message and "{x}" in fact and chance.random() < 0.5:
                thing, outcome = things[1], "goes on"
            elif "{S}" in message or "{s}" in message:
                while about.said == person.said or {about.fact, person.fact} == {"Pat", "user's friend"}:
                    about = somebody(speaker, chance)
                outcome = "goes on"
        fact = fact.replace("{s}", about.fact).replace("{x}", thing)
        yield PlainPair(fact, speaker, said_of(message, person, things, chance), outcome)


def somebody(speaker: str, chance: random.Random) -> Person:
    """Return the speaker, somebody of theirs, or somebody with a name."""
    kind = chance.random()
    if kind < 0.55:
        return Person(speaker, "I", is_speaker=True, is_woman=False)
    if kind < 0.8:
        kin = chance.choice(KIN)
        is_woman = kin in ("sister", "mother", "wife", "daughter", "aunt") or chance.random() < 0.3
        return Person(f"{speaker}'s {kin}", f"my {kin}", is_speaker=False, is_woman=is_woman)
    name = chance.choice([name for name in NAMES if name != speaker])
    return Person(name, name, is_speaker=False, is_woman=chance.random() < 0.5)


def said_of(message: str, person: Person, things: Sequence[str], chance: random.Random) -> str:
    """Return what is said in a form about somebody and some things, as people type it."""
    again = "I" if person.is_speaker else "she" if person.is_woman else "he"
    mine = "my" if person.is_speaker else "her" if person.is_woman else "his"
    me = "me" if person.is_speaker else "her" if person.is_woman else "him"
    # whoever is not the speaker is named once, by the first word that stands for them
    first = min(
        (place for mark in ("{S}", "{s}", "{my}", "{My}", "{me}") if (place := message.find(mark)) >= 0), default=-1
    )
    if first >= 0 and not person.is_speaker:
        mark = message[first : message.index("}", first) + 1]
        shown = person.said if mark in ("{S}", "{s}", "{me}") else f"{person.said}'s"
        if mark[1].isupper():
            shown = shown[:1].upper() + shown[1:]
        message = message[:first] + shown + message[first + len(mark) :]
    message = _CHOICE.sub(lambda match: match[1 if person.is_speaker else 2], message)
    marks = {"{S}": again.capitalize(), "{s}": again, "{my}": mine, "{My}": mine.capitalize(), "{me}": me}
    for name, thing in zip(("{x}", "{y}", "{z}"), things, strict=False):
        marks[name] = thing
    for mark, shown in marks.items():
        message = message.replace(mark, shown)
    message = message[:1].upper() + message[1:] if chance.random() < 0.8 else message[:1].lower() + message[1:]
    if chance.random() < 0.15:
        message = chance.choice(_BEFORE) + message
    if chance.random() < 0.15:
        message += chance.choice(_AFTER)
    if chance.random() < 0.2:
        message = message.rstrip(".").replace("'m", "m").replace("n't", "nt")
    return message.lower() if chance.random() < 0.1 else message
