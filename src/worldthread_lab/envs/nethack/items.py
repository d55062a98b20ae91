"""Names of carried things, and the commands that apply to them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_ADORNMENT: Final = re.compile(
    r"^(?:(?:an?|the|some|\d+)\s+)?(?:(?:empty|blessed|uncursed|cursed|(?:very |thoroughly )?"
    r"(?:rusty|corroded|burnt|rotted)|rustproof|fireproof|corrodeproof|rotproof|poisoned|greased|partly eaten|"
    r"partly used|diluted|[+-]\d+)\s+)*",
    re.I,
)
_REMARK: Final = re.compile(r"\s*\(.*$")
_NAMED: Final = re.compile(r"\s+(?:named|called)\s+.*$")
_WORD: Final = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*")
_NO_WORDS: Final = frozenset({"a", "an", "the", "some", "of", "my"})

WEAPON, ARMOR, RING, AMULET, TOOL, FOOD, POTION, SCROLL, SPELLBOOK, WAND = range(2, 12)
"""NetHack's classes of things."""

_VERBS: Final = {
    WEAPON: ("wield",), ARMOR: ("wear",), RING: ("put on",), AMULET: ("put on",), TOOL: ("apply",), FOOD: ("eat",),
    POTION: ("quaff",), SCROLL: ("read",), SPELLBOOK: ("read",), WAND: ("zap",),
}  # fmt: skip


@dataclass(frozen=True)
class InventoryItem:
    """A carried thing.

    Args:
        letter: NetHack's letter for it.
        text: its line in the inventory, without the letter.
        kind: NetHack's class of things.
    """

    letter: str
    text: str
    kind: int

    @property
    def name(self) -> str:
        """The name without number, state and remarks: ``"long sword"`` for ``"a +1 long sword (weapon in hand)"``."""
        return plain_name(self.text)

    @property
    def is_worn(self) -> bool:
        return bool(re.search(r"\((?:being worn|on (?:left|right) hand)", self.text))

    @property
    def is_wielded(self) -> bool:
        return bool(re.search(r"\((?:weapon in hands?|wielded)", self.text))

    def verbs(self) -> tuple[str, ...]:
        """Return the commands that apply to the thing in its current use."""
        if self.is_worn:
            return ("take off",) if self.kind == ARMOR else ("remove",)
        if self.is_wielded:
            return ()
        return _VERBS.get(self.kind, ())


def plain_name(text: str) -> str:
    """Return the name of a thing without number, state, given name and remarks."""
    return _NAMED.sub("", _REMARK.sub("", _ADORNMENT.sub("", text))).strip()


def words_of(text: str) -> list[str]:
    """Return the distinctive words of a name, roughly in the singular."""
    return [_singular(word) for word in _WORD.findall(text.lower()) if word not in _NO_WORDS]


def fits(wanted: str, text: str) -> bool:
    """Whether every word of ``wanted`` is in ``text``, in the singular or the plural."""
    wanted_words = words_of(wanted)
    return bool(wanted_words) and set(wanted_words) <= set(words_of(text))


def find_item(wanted: str, items: list[InventoryItem], verb: str = "") -> InventoryItem | None:
    """Return the carried thing with this letter or name, preferring one to which the verb applies."""
    wanted = wanted.strip()
    if len(wanted) == 1:
        return next((item for item in items if item.letter == wanted), None)
    found = [item for item in items if fits(wanted, item.text)]
    found.sort(key=lambda item: (verb not in item.verbs(), len(words_of(item.name))))
    return found[0] if found else None


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ves"):
        return f"{word[:-3]}fe"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
