"""Extracts what goals, notes and recipes say: which key unlocks what, where things are hidden, what a dish needs.

=================================================================  ==========================================
text                                                               facts
=================================================================  ==========================================
The key 2 unlocks Red locker.                                      (key 2, unlocks, Red locker)
The chest can be opened with the silver key.                       (silver key, unlocks, chest)
It is hidden in the iron safe. You need a small key to unlock it.  (small key, unlocks, iron safe)
Ingredients: leek                                                  (recipe, needs, leek)
Directions: dice the leek                                          (leek, must be, diced)
Directions: mix                                                    (recipe, asks to, mix)
=================================================================  ==========================================

A sentence that gives a fact about keys or hiding places is also a thesis about the things in it.
"""

from __future__ import annotations

import re
from typing import Final

from worldthread.types import Fact, Thesis
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.english import PARTICIPLE, VAGUE, sentences
from worldthread_lab.game.statement_collector import StatementCollector

_NAME: Final = r"[\w' -]+"
_KEY_WORKS: Final = re.compile(
    rf"(?P<key>\b{_NAME}?)"
    rf"(?: (?:that|which)?\s*you (?:found|have|hold|carry|took|picked up)[\w' -]*?| (?:found|lying) {_NAME}?)?"
    r" (?:unlocks?|opens?|fits?|will (?:unlock|open|fit)|can (?:unlock|open))(?: only)? "
    rf"(?:the |an? )?(?P<lock>{_NAME})",
    re.I,
)
_NEED_KEY: Final = re.compile(
    r"\bneed (?:the |an? )?(?P<key>[\w' -]*?\bkey\b[\w' -]*?) to (?:unlock|open) "
    rf"(?:the )?(?P<lock>{_NAME})",
    re.I,
)
_IS_UNLOCKED_BY: Final = re.compile(
    rf"(?P<lock>\b{_NAME}?) (?:is|can be|may be) (?:unlocked|opened) (?:only )?(?:by|with|using) "
    rf"(?:the |an? )?(?P<key>{_NAME})",
    re.I,
)
_HIDDEN: Final = re.compile(
    rf"(?P<thing>{_NAME}?) (?:is|lies|waits) (?:hidden |locked |kept |stored |somewhere )?(?P<preposition>in|inside) "
    rf"the (?P<where>{_NAME})",
    re.I,
)
_CLAUSE: Final = re.compile(
    r"\s*[,;:]\s*(?:and |but |so |while )?|\s+(?:and|but|while)\s+(?=(?:only )?(?:the|it|you)\b)",
    re.I,
)
_PRONOUN: Final = re.compile(r"it|that|this|that one|this one", re.I)
_PERSON: Final = re.compile(r"(?:he|she|they|you|i|we)(?: also| still| now)?", re.I)
_NAMES_KEY: Final = re.compile(
    r"\b(?P<key>(?:(?!(?:take|find|get|use|with|the|an?|your)\b)[\w'-]+ )?key(?: \w+)?)"
    r"(?= (?:that|which|you|lies|is)\b|$)",
    re.I,
)
_KEY: Final = re.compile(r"\bkeys?\b", re.I)
_RECIPE_LINE: Final = re.compile(r"^(?P<how>slice|dice|chop|fry|roast|grill) (?:the )?(?P<thing>.+)$", re.I)
_DIRECTIONS: Final = re.compile(r"^[ \t]*directions[ \t]*:[ \t]*$(?P<body>.*)", re.I | re.M | re.S)


def extract_written_text(text: str, source: str, collector: StatementCollector) -> None:
    """Add what a written text says of keys, locks and hiding places, or what it says as a recipe.

    Args:
        text: the text.
        source: what bears the text: a thing, or :data:`~worldthread_lab.game.vocabulary.GOAL`.
        collector: takes the statements.
    """
    if is_recipe(text):
        extract_recipe(text, collector)
        return
    key: str | None = None  # what "it" means where something unlocks
    lock: str | None = None  # what "it" means where something is unlocked
    for sentence in sentences(text):
        objects: list[str] = []
        for hidden in _HIDDEN.finditer(sentence):
            if not VAGUE.search(hidden["where"]):
                lock = _bare_name(hidden["where"])
                if not VAGUE.search(hidden["thing"]) and not _PERSON.fullmatch(hidden["thing"].strip()):
                    objects += [_bare_name(hidden["thing"]), lock]
                    collector.add(v.place(objects[0], v.IS_IN, lock))
        for clause in _CLAUSE.split(sentence):
            match = _NEED_KEY.search(clause) or _IS_UNLOCKED_BY.search(clause) or _KEY_WORKS.search(clause)
            named = _NAMES_KEY.search(clause)
            if match is None:
                key = _bare_name(named["key"]) if named else key
                continue
            key = key if _PRONOUN.fullmatch(match["key"].strip()) else _bare_name(match["key"])
            lock = lock if _PRONOUN.fullmatch(match["lock"].strip()) else _bare_name(match["lock"])
            is_key = match.re is not _KEY_WORKS or "unlock" in match[0].casefold() or (key and _KEY.search(key))
            if is_key and key and lock and not VAGUE.search(key) and not VAGUE.search(lock):
                collector.add(Fact(key, v.UNLOCKS, lock))
                objects += [key, lock]
        if objects:
            collector.add(Thesis(sentence, tuple(dict.fromkeys([*objects, source]))))


def is_recipe(text: str) -> bool:
    """Return whether a text has the heading "Ingredients:"."""
    return _ingredients(text) is not None


def extract_recipe(text: str, collector: StatementCollector) -> None:
    """Add the ingredients and the directions of a recipe.

    Args:
        text: the recipe, with the headings "Ingredients:" and, optionally, "Directions:".
        collector: takes the statements.
    """
    for ingredient in _ingredients(text) or ():
        collector.add(Fact(v.RECIPE, v.NEEDS, ingredient))
    directions = _DIRECTIONS.search(text)
    for line in (directions["body"] if directions else "").splitlines():
        line = line.strip(" -*.")
        match = _RECIPE_LINE.match(line)
        if match is None and line:
            collector.add(Fact(v.RECIPE, v.ASKS_TO, line))
        elif match is not None:
            how = match["how"].lower()
            collector.add(Fact(match["thing"].strip(" ."), v.MUST_BE, PARTICIPLE.get(how, how)))


def _bare_name(phrase: str) -> str:
    """Return a noun phrase from the middle of a sentence without its article and leading conjunctions."""
    phrase = re.sub(r"^(?:and|but|so|then|because|while|only|in|on)\s+", "", phrase.strip(), flags=re.I)
    return re.sub(r"^(?:the|an?|your)\s+", "", phrase, flags=re.I).strip(" -'")


def _ingredients(text: str) -> list[str] | None:
    """Return the lines below "Ingredients:" up to the next heading; ``None`` without that heading."""
    match = re.search(r"^\s*ingredients\s*:\s*$(?P<body>.*?)(?=^\s*\w+\s*:\s*$|\Z)", text, re.I | re.M | re.S)
    if match is None:
        return None
    return [line.strip(" -*") for line in match["body"].splitlines() if line.strip(" -*")]
