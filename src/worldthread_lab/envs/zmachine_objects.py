"""The objects of a Z-machine story as its file describes them: their names, and the words that its parser knows.

jericho reads the tree of objects, but its names lack what the file abbreviates ("West House" for "West of House") and
it does not read the words of the parser. Audits need both, to tell which object a name in a memory means. Addresses
follow the Z-Machine Standard 1.1: sections 3 (text), 12 (objects) and 13 (dictionary).
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

_ALPHABETS: Final = (
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    " \n0123456789.,!?_#'\"/\\-:()",
)
_WORD: Final = re.compile(r"[a-z0-9']+")
_LINKING: Final = frozenset({"of", "the", "a", "an", "some", "and", "with", "to", "in", "on", "from", "at", "your"})
_MOST_IN_A_ROOM: Final = 25
"""An object with more children than this, at the top of the tree, holds the rooms."""
_LAST_OF_TEXT: Final = 0x8000
_ADJECTIVE_FLAG: Final = 0x20
_ADJECTIVE_FIRST: Final = 2


class StoryObject(NamedTuple):
    """An object as the story file describes it.

    Args:
        number: its number in the tree.
        name: its short name, as the story prints it unless a routine prints another.
        words: the words of the short name and those that the parser knows for it, as long as the dictionary keeps them.
    """

    number: int
    name: str
    words: frozenset[str]


class TrueTree(NamedTuple):
    """The tree of a game's objects at one moment.

    Args:
        player: the number of the player's object.
        parents: for each number, from 0 on, the object in which the object is; 0 for none.
        attributes: for each number the attributes that are set.
    """

    player: int
    parents: tuple[int, ...]
    attributes: tuple[frozenset[int], ...]

    def holders(self, number: int) -> tuple[int, ...]:
        """Return what holds an object, from the inside out."""
        found: list[int] = []
        parent = self.parents[number]
        while 0 < parent < len(self.parents) and parent not in found:  # a damaged tree may be a ring
            found.append(parent)
            parent = self.parents[parent]
        return tuple(found)

    def room_holder(self) -> int:
        """Return the object that holds the rooms; 0 where rooms are at the top of the tree themselves."""
        top = (self.player, *self.holders(self.player))[-1]
        return top if self.parents.count(top) > _MOST_IN_A_ROOM else 0


def read_tree(story: bytes, memory: bytes, player: int) -> TrueTree:
    """Read the tree of objects from the dynamic memory of a game.

    Args:
        story: the story file.
        memory: the dynamic memory.
        player: the number of the player's object.

    Returns:
        The tree.
    """
    early = story[0] <= 3
    size, flags, width = (9, 4, 1) if early else (14, 6, 2)
    first = _first_entry(story)
    parents = [0]
    attributes = [frozenset[int]()]
    for number in range(1, _object_count(story) + 1):
        at = first + size * (number - 1)
        parents.append(int.from_bytes(memory[at + flags : at + flags + width], "big"))
        attributes.append(_set_bits(memory[at : at + flags]))
    return TrueTree(player, tuple(parents), tuple(attributes))


@lru_cache(maxsize=100_000)
def _set_bits(flags: bytes) -> frozenset[int]:
    """Return the numbers of the bits that are set, the first being the highest."""
    bits, count = int.from_bytes(flags, "big"), 8 * len(flags)
    return frozenset(n for n in range(count) if bits >> (count - 1 - n) & 1)


def _first_entry(story: bytes) -> int:
    return int.from_bytes(story[0x0A:0x0C], "big") + 2 * (31 if story[0] <= 3 else 63)


@lru_cache(maxsize=8)
def _object_count(story: bytes) -> int:
    """Return the number of objects: the tree ends where the first table of properties begins."""
    size = 9 if story[0] <= 3 else 14
    first = _first_entry(story)
    end, number = len(story), 0
    while (entry := first + number * size) + size <= end:
        table = int.from_bytes(story[entry + size - 2 : entry + size], "big")
        if not first < table < len(story):
            break
        end = min(end, table)
        number += 1
    return number


class StoryObjects:
    """Reads the objects of a story file of the versions 3 to 8.

    Args:
        story: the whole file.

    Attributes:
        word_length: how many characters of a word the dictionary keeps.
        is_inform: whether the compiler Inform 6 made the file, which settles the meaning of properties and attributes.
    """

    def __init__(self, story: bytes) -> None:
        self._story = story
        self._early = story[0] <= 3
        self.word_length = 6 if self._early else 9
        self.is_inform = re.fullmatch(rb"\d\.\d\d", story[0x3C:0x40]) is not None

    def objects(self) -> dict[int, StoryObject]:
        """Return the objects by their number."""
        naming = self._naming_property()
        adjectives = {} if self.is_inform else self._adjectives()
        adjective_property = self._adjective_property(adjectives)
        found = {}
        for number, (name, properties) in self._properties.items():
            words = set(self.words_of(name))
            words.update(self._dictionary_words(properties.get(naming, b"")))
            for code in properties.get(adjective_property, b""):
                words.update(adjectives.get(code, ()))
            found[number] = StoryObject(number, name, frozenset(words))
        return found

    def words_of(self, name: str) -> list[str]:
        """Return the words of a name that can tell objects apart, as long as the dictionary keeps them."""
        return [word[: self.word_length] for word in _WORD.findall(name.casefold()) if word not in _LINKING]

    @cached_property
    def _properties(self) -> dict[int, tuple[str, dict[int, bytes]]]:
        """The short name and the properties of each object."""
        first, size = _first_entry(self._story), 9 if self._early else 14
        found: dict[int, tuple[str, dict[int, bytes]]] = {}
        for number in range(1, _object_count(self._story) + 1):
            table = self._word(first + number * size - 2)
            length = self._story[table]
            name = self._text(table + 1) if length else ""
            found[number] = name, self._read_properties(table + 1 + 2 * length)
        return found

    def _read_properties(self, at: int) -> dict[int, bytes]:
        found = {}
        while size := self._story[at]:
            if self._early:
                number, length, at = size & 31, (size >> 5) + 1, at + 1
            elif size & 0x80:
                number, length, at = size & 63, (self._story[at + 1] & 63) or 64, at + 2
            else:
                number, length, at = size & 63, 2 if size & 0x40 else 1, at + 1
            found[number] = self._story[at : at + length]
            at += length
        return found

    @cached_property
    def _dictionary(self) -> dict[int, tuple[str, bytes]]:
        """The word and the data of each entry of the dictionary, by address."""
        at = self._word(0x08)
        at += 1 + self._story[at]
        length, count = self._story[at], self._word(at + 1)
        text = 4 if self._early else 6
        at += 3
        entries = range(at, at + count * length, length)
        return {entry: (self._text(entry), self._story[entry + text : entry + length]) for entry in entries}

    def _dictionary_words(self, data: bytes) -> list[str]:
        addresses = (int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data) - 1, 2))
        return [self._dictionary[address][0] for address in addresses if address in self._dictionary]

    def _naming_property(self) -> int:
        """Return the property that lists an object's words: the first of Inform, else the one with most words."""
        if self.is_inform:
            return 1
        counts: Counter[int] = Counter()
        for _, properties in self._properties.values():
            for number, data in properties.items():
                words = self._dictionary_words(data)
                if words and 2 * len(words) == len(data):
                    counts[number] += 1
        return counts.most_common(1)[0][0] if counts else 0

    def _adjectives(self) -> dict[int, list[str]]:
        """Return the words of each number with which early stories name adjectives."""
        found: dict[int, list[str]] = {}
        for word, data in self._dictionary.values():
            if len(data) >= 3 and data[0] & _ADJECTIVE_FLAG:
                found.setdefault(data[1] if data[0] & 3 == _ADJECTIVE_FIRST else data[2], []).append(word)
        return found

    def _adjective_property(self, adjectives: dict[int, list[str]]) -> int:
        """Return the property that lists an object's adjectives: it shares most words with the short names."""
        counts: Counter[int] = Counter()
        for name, properties in self._properties.values():
            words = set(self.words_of(name))
            for number, data in properties.items():
                if any(words.intersection(adjectives.get(code, ())) for code in data):
                    counts[number] += 1
        return counts.most_common(1)[0][0] if counts else 0

    def _word(self, at: int) -> int:
        return int.from_bytes(self._story[at : at + 2], "big")

    def _text(self, at: int) -> str:
        return decode_text(self._story, at)


def decode_text(story: bytes, at: int, *, abbreviations: bool = True) -> str:
    """Decode a text.

    Args:
        story: the story file.
        at: the address of the text.
        abbreviations: whether the text may have abbreviations; these have none themselves.

    Returns:
        The text.
    """
    codes: list[int] = []
    while at + 1 < len(story):
        pair = _word(story, at)
        codes += (pair >> 10 & 31, pair >> 5 & 31, pair & 31)
        at += 2
        if pair & _LAST_OF_TEXT:
            break
    written: list[str] = []
    alphabet, position = 0, 0
    while position < len(codes):
        code = codes[position]
        position += 1
        if code == 0:
            written.append(" ")
        elif code <= 3:
            if abbreviations and position < len(codes):
                entry = _word(story, 0x18) + 2 * (32 * (code - 1) + codes[position])
                written.append(decode_text(story, 2 * _word(story, entry), abbreviations=False))
            position += 1
        elif code <= 5:
            alphabet = code - 3
            continue
        elif alphabet == 2 and code == 6:
            if position + 1 < len(codes):
                written.append(chr(codes[position] << 5 | codes[position + 1]))
            position += 2
        else:
            written.append(_ALPHABETS[alphabet][code - 6])
        alphabet = 0
    return "".join(written)


def _word(story: bytes, at: int) -> int:
    return int.from_bytes(story[at : at + 2], "big")
