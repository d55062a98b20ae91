"""The grammar of a story that was made with Inform: which sentences its parser accepts, and the action of each.

Most templates of such a game are other words for one action ("take it", "pick it up", "get it"), and the parser takes
some things only in some places: what is *held*, a *creature*. Jericho's list of templates tells neither.

The tables are laid out as Inform 6 writes them (Inform Technical Manual, sections 8.5 and 8.6): a table of verbs at the
start of static memory, lines of tokens for each verb, and three bytes of data for each word of the dictionary.
Version 1 of the format, of old compilers, has eight bytes a line; version 2 has lines of any length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from worldthread_lab.envs.zmachine_objects import decode_text

HOLE: Final = "OBJ"
"""Stands for a thing in a template."""
TOPIC: Final = "topic"
"""Kind of a hole that takes any words; ``HELD``, ``CREATURE`` and others say which things fit."""
HELD: Final = "held"
CREATURE: Final = "creature"
NUMBER: Final = "number"
SEVERAL: Final = frozenset({"multi", "multiheld", "multiexcept", "multiinside"})
"""Kinds of holes that take several things, such as ``all``."""

ELEMENTARY: Final = (
    "noun", HELD, "multi", "multiheld", "multiexcept", "multiinside", CREATURE, "special", NUMBER, TOPIC,
)  # fmt: skip
"""The kinds of holes that the parser itself knows, by their number."""
_END_OF_LINE: Final = 15
_PREPOSITION, _FILTER, _ATTRIBUTE, _SCOPE, _ROUTINE = 2, 3, 4, 5, 6
_TEXT_BYTES: Final = 6
_OLD_LINE: Final = 8
_OLD_PREPOSITION: Final = 180
_LONGEST_LINE: Final = 32
_MOST_HOLES: Final = 2
_WORDS: Final = re.compile(r"[A-Za-z0-9' -]+")
_IS_VERB: Final = 1
_IS_META: Final = 2


class GrammarHole(NamedTuple):
    """A place for a thing in a line of the grammar.

    Args:
        kind: a kind that the parser knows, such as ``"noun"``, or one that the game decides, such as ``"filter"``.
        test: the routine or the attribute; 0 for elementary kinds.
    """

    kind: str
    test: int = 0


class GrammarLine(NamedTuple):
    """A sentence that the parser accepts after a verb.

    Args:
        action: the number of the action.
        is_reversed: whether the action takes the two things in the opposite order.
        tokens: the words that may stand in each place, or the hole there.
    """

    action: int
    is_reversed: bool
    tokens: tuple[frozenset[str] | GrammarHole, ...]


class TemplateMeaning(NamedTuple):
    """What a template makes the game do.

    Args:
        action: the number of the action.
        holes: the holes in the order in which the action takes them.
        is_reversed: whether the template has them in the opposite order.
    """

    action: int
    holes: tuple[GrammarHole, ...]
    is_reversed: bool = False


class StoryGrammar:
    """Reads the grammar of a story file of the versions 5 to 8.

    Args:
        story: the whole file.

    Raises:
        ValueError: the file has no grammar in a format of Inform.
    """

    def __init__(self, story: bytes) -> None:
        if story[0] < 5 or re.fullmatch(rb"\d\.\d\d", story[0x3C:0x40]) is None:
            raise ValueError("the story was not made with Inform 6")
        self._story = story
        self._dictionary = dict(self._words())
        self.word_length = 9
        try:
            self._lines = self._read()
        except IndexError:
            raise ValueError("the grammar ends beyond the story") from None

    def meaning(self, template: str) -> TemplateMeaning | None:
        """Return what a template does.

        Args:
            template: a command in which :data:`HOLE` stands for each thing.

        Returns:
            The meaning; ``None`` for what is no line of the grammar, such as a direction.
        """
        verb, *rest = template.lower().replace(HOLE.lower(), HOLE).split()
        flags, number, _ = self._dictionary.get(verb[: self.word_length], (0, 0, 0))
        if not flags & _IS_VERB:
            return None
        for line in self._lines.get(number, ()):
            if len(line.tokens) == len(rest) and all(map(self._fits, line.tokens, rest)):
                holes = tuple(token for token in line.tokens if isinstance(token, GrammarHole))
                return TemplateMeaning(line.action, holes[::-1] if line.is_reversed else holes, line.is_reversed)
        return None

    def templates(self) -> list[str]:
        """Return a template for each line of the grammar that acts on the world, with its shortest words, sorted.

        Lines that take any words or a number are left out, and those with more than two things.
        """
        found: set[str] = set()
        for verb, (flags, number, _) in self._dictionary.items():
            if not flags & _IS_VERB or flags & _IS_META:
                continue
            for line in self._lines.get(number, ()):
                holes = [token for token in line.tokens if isinstance(token, GrammarHole)]
                if 0 < len(holes) <= _MOST_HOLES and not any(hole.kind in (TOPIC, NUMBER, "special") for hole in holes):
                    words = (
                        HOLE if isinstance(token, GrammarHole) else min(token, key=lambda word: (len(word), word))
                        for token in line.tokens
                    )
                    found.add(" ".join((verb, *words)))
        return sorted(template for template in found if _WORDS.fullmatch(template))  # not what no keyboard has

    def is_meta(self, verb: str) -> bool:
        """Return whether a verb speaks to the game itself and not to its world ("score", "pronouns")."""
        return bool(self._dictionary.get(verb.lower()[: self.word_length], (0, 0, 0))[0] & _IS_META)

    def _fits(self, token: frozenset[str] | GrammarHole, word: str) -> bool:
        if isinstance(token, GrammarHole):
            return word == HOLE
        return word[: self.word_length] in token

    def _read(self) -> dict[int, list[GrammarLine]]:
        """Return the lines by the number of the verb, in the version of the format in which they make sense."""
        verbs = {number for flags, number, _ in self._dictionary.values() if flags & _IS_VERB}
        table = self._word(0x0E)
        addresses = {number: self._word(table + 2 * (255 - number)) for number in verbs}
        for read in (self._read_lines, self._read_old_lines):
            found = {}
            for number, address in addresses.items():
                lines = list(read(address))
                if len(lines) != self._story[address]:
                    break
                found[number] = lines
            else:
                return found
        raise ValueError("the grammar of the story is in no known format")

    def _read_lines(self, at: int) -> Iterator[GrammarLine]:
        """Yield the lines of a verb in version 2 of the format; fewer than the first byte says where it is another."""
        words = {address: word for word, (_, _, address) in self._dictionary.items()}
        count, at = self._story[at], at + 1
        for _ in range(count):
            action, at = self._word(at), at + 2
            tokens: list[frozenset[str] | GrammarHole] = []
            while (kind := self._story[at]) != _END_OF_LINE:
                data = self._word(at + 1)
                at += 3
                if len(tokens) > _LONGEST_LINE:
                    return
                if kind & 15 == _PREPOSITION:
                    if data not in words:
                        return
                    word = frozenset({words[data]})
                    last = tokens[-1] if tokens else None
                    if kind & 16 and isinstance(last, frozenset):  # another word for the one before it
                        tokens[-1] = last | word
                    else:
                        tokens.append(word)
                elif kind & 15 == 1 and data < len(ELEMENTARY):
                    tokens.append(GrammarHole(ELEMENTARY[data]))
                elif kind & 15 in _TESTS:
                    tokens.append(GrammarHole(_TESTS[kind & 15], data))
                else:
                    return
            at += 1
            yield GrammarLine(action & 0x3FF, bool(action & 0x400), tuple(tokens))

    def _read_old_lines(self, at: int) -> Iterator[GrammarLine]:
        """Yield the lines of a verb in version 1 of the format; fewer than the first byte says where it is another."""
        prepositions: dict[int, set[str]] = {}
        for word, (flags, _, address) in self._dictionary.items():
            if flags & 8:
                prepositions.setdefault(self._story[address + _TEXT_BYTES + 2], set()).add(word)
        count, at = self._story[at], at + 1
        for _ in range(count):
            line = self._story[at : at + _OLD_LINE]
            at += _OLD_LINE
            tokens: list[frozenset[str] | GrammarHole] = []
            holes = 0
            for code in line[1:7]:
                if code >= _OLD_PREPOSITION:
                    if code not in prepositions:
                        return
                    tokens.append(frozenset(prepositions[code]))
                elif holes < line[0]:
                    holes += 1
                    tokens.append(_old_hole(code))
            if holes != line[0]:
                return
            yield GrammarLine(line[7], False, tuple(tokens))

    def _words(self) -> Iterator[tuple[str, tuple[int, int, int]]]:
        """Yield each word of the dictionary with its flags, the number of its verb and its address."""
        table = self._word(0x08)
        entries = table + 1 + self._story[table]
        size, count = self._story[entries], self._word(entries + 1)
        for number in range(count):
            at = entries + 3 + number * size
            yield (
                decode_text(self._story, at),
                (
                    self._story[at + _TEXT_BYTES],
                    self._story[at + _TEXT_BYTES + 1],
                    at,
                ),
            )

    def _word(self, at: int) -> int:
        if at + 2 > len(self._story):
            raise IndexError(at)
        return int.from_bytes(self._story[at : at + 2], "big")


_TESTS: Final = {_FILTER: "filter", _ATTRIBUTE: "attribute", _SCOPE: "scope", _ROUTINE: "routine"}


def _old_hole(code: int) -> GrammarHole:
    """Return the hole that a byte of version 1 stands for."""
    if code <= 6:
        return GrammarHole(ELEMENTARY[code])
    if code < 16:
        return GrammarHole({7: "special", 8: "number"}.get(code, TOPIC))
    for kind, first, last in (("filter", 16, 47), ("routine", 48, 79), ("scope", 80, 111)):
        if code <= last:
            return GrammarHole(kind, code - first)
    return GrammarHole("attribute", code - 128)
