"""Who and whose a question or a sentence is about, as its words say: "I", "my sister's dog", "Jonas's boss".

A text is cut into words; each noun has the owner that stands before it ("my", "Ella's") or behind it ("of Ella"), and
each clause its subject. Persons are *keys*: :data:`ME` for whoever says "I", a normalised name, or a chain such as
``"I's sister"``; :class:`Persons` knows which keys mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from worldthread.answering.tables import LISTS, TABLES
from worldthread.extract.prose.words import WORDS
from worldthread.names import normalise_name, unmarked
from worldthread.retrieve.words import words_of

ME: Final = "I"
"""The key of whoever says "I"."""
SOMEBODY: Final = "?"
"""The key of "he", "she", "it" and "they"; of whom the words alone do not tell."""

_TOKEN: Final = re.compile(r"[^\W_]+(?:[-.&/:,’'+][^\W_]+)*|[.;:!?()…—–,]")
_POSSESSIVE: Final = re.compile(r"^(?P<base>.+?)(?:['’]s|(?<=s)['’])$", re.IGNORECASE)
_CONTRACTION: Final = re.compile(r"^(?P<base>i|you|we|they|he|she|it)['’](?:m|ve|d|ll|re|s)$", re.IGNORECASE)
_FIRST: Final = frozenset(["i", "we", "me", "us", "myself"])
_FIRST_OWNER: Final = frozenset(["my", "our", "mine", "ours"])
_SECOND: Final = frozenset(["you", "your", "yours"])
_THIRD: Final = frozenset(["he", "she", "it", "they", "him", "them"])
_THIRD_OWNER: Final = frozenset(["his", "her", "its", "their", "hers", "theirs"])
_IS_SHORT: Final = LISTS["question_words"] | frozenset(["that", "there", "here", "it", "he", "she", "this", "let"])
_DETERMINERS: Final = WORDS["determiners"] | {"the", "these", "those", "that"}
_FUNCTION: Final = WORDS["function"]
_ENDS_PHRASE: Final = _FUNCTION | WORDS["verbs"]
_JOINING: Final = LISTS["joining_words"]
_STOPS: Final = frozenset(".;:!?()…—–")
_LONGEST_PHRASE: Final = 4
_NEGATIONS: Final = LISTS["negations"]
_WITHIN_PHRASE: Final = LISTS["within_phrases"]
_CALENDAR: Final = WORDS["months"] | WORDS["weekdays"]


def _kin() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, row in TABLES["relatives"].items():
        for word in row["asked"].split():
            found.setdefault(word, name)
            found.setdefault(f"{word}s", name)
    return found


KIN: Final = _kin()
"""Words for relatives, each with the one that stands for all of the same meaning."""


@dataclass(frozen=True)
class Word:
    """A word of a text.

    Args:
        text: as written, without the possessive.
        low: without case.
        stem: its stem.
        is_name: whether it is written or known as a name.
        owner: the key of whose it is; ``None`` where nothing says so.
        clause: the number of its clause.
        owns: whether a possessive follows it.
        short: whether a short form of "is" follows it.
    """

    text: str
    low: str
    stem: str
    is_name: bool
    owner: str | None
    clause: int
    owns: bool
    short: bool = False


@dataclass(frozen=True)
class Wording:
    """What the words of a text say about whose and who.

    Args:
        words: the words in order, without punctuation.
        subjects: for each clause the key of its subject; ``None`` where no subject is said.
        is_negated: for each clause, whether it is negated.
        same: pairs of keys that the text says are the same: "my sister Ella".
    """

    words: tuple[Word, ...]
    subjects: tuple[str | None, ...]
    is_negated: tuple[bool, ...]
    same: tuple[tuple[str, str], ...] = ()

    @property
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return frozenset(word.stem for word in self.words)


@dataclass
class Persons:
    """Which keys mean the same person or thing.

    Args:
        canonical: a key for each key that has another.
        spelled: names of the question that are stated in the same letters.
    """

    canonical: dict[str, str] = field(default_factory=dict)
    spelled: set[str] = field(default_factory=set)

    def add(self, key: str, other: str) -> None:
        """Learn that two keys mean the same."""
        first, second = self.of(key), self.of(other)
        if first != second and ME not in (second,):
            self.canonical[first] = second

    def add_all(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Learn pairs of keys that mean the same."""
        for key, other in pairs:
            self.add(key, other)

    def of(self, key: str) -> str:
        """Return the key that stands for all that mean the same."""
        seen = set()
        while key in self.canonical and key not in seen:
            seen.add(key)
            key = self.canonical[key]
        if "'s " in key and key not in seen:
            base, _, noun = key.rpartition("'s ")
            known = self.of(base)
            if known != base:
                return self.of(f"{known}'s {noun}")
        return key

    def are_spelled_otherwise(self, name: str, words: Iterable[str]) -> bool:
        """Return whether words have a name only with other marks, "zoe" for "Zoë", while it is stated as it is."""
        if name not in self.spelled:
            return False
        known = set(words)
        missing = [part for part in name.split() if part not in known]
        return any(unmarked(part) == unmarked(word) for part in missing for word in known)

    def are_same(self, key: str, other: str) -> bool:
        """Return whether two keys mean the same; a name may be part of the other."""
        first, second = self.of(key), self.of(other)
        if first == second:
            return True
        if ME in (first, second) or "'s " in first + second:
            return False
        one, two = set(first.split()), set(second.split())
        return one <= two or two <= one


def wording(text: str, me: str = ME, names: Collection[str] = (), you: str = "you") -> Wording:
    """Return what the words of a text say.

    Args:
        text: a question, or a sentence without the label of a speaker.
        me: the key of whoever says it.
        names: known words of names, without case; a capital at the beginning of a sentence alone makes no name.
        you: the key of whom it is said to.

    Returns:
        The words with their owners, and the subjects of the clauses.
    """
    tokens = _TOKEN.findall(text)
    words: list[Word] = []
    starts: list[int] = [0]
    owner: str | None = None
    phrase = 0
    begins, clause = True, 0
    before = ""
    for number, token in enumerate(tokens):
        if token in _STOPS or token == ",":
            owner, phrase = None, 0
            if token in _STOPS:
                begins = True
                if starts[-1] != len(words):
                    clause += 1
                    starts.append(len(words))
            before = token
            continue
        raw, owns, is_short = token, False, False
        short = _CONTRACTION.match(raw)
        if short is not None:
            raw = short["base"]
        else:
            found = _POSSESSIVE.match(raw)
            if found is not None:
                raw, owns = found["base"], found["base"].casefold() not in _IS_SHORT
                is_short = not owns
        low = raw.casefold().replace("’", "'")
        following = next((one for one in tokens[number + 1 : number + 2]), "")
        if low in _JOINING and words and starts[-1] != len(words) and _starts_subject(following, names):
            is_pair = low == "and" and all(word.is_name or word.owner for word in words[starts[-1] :])
            clause += 0 if is_pair else 1
            starts += [] if is_pair else [len(words)]
        is_name = _is_name(raw, low, begins, names) and not (_is_owned(before) and raw.isupper() and len(raw) > 1)
        stem = (words_of(low) or [low])[-1] if low.isalpha() else low
        key: str | None = None
        mine: str | None = None
        if low in _FIRST_OWNER:
            owner, phrase = me, 0
        elif low in _SECOND and low != "you":
            owner, phrase = you, 0
        elif low in _THIRD_OWNER:
            owner, phrase = SOMEBODY, 0
        elif low in _DETERMINERS:
            owner, phrase = None, 0
        elif owner and phrase == 0 and low in _WITHIN_PHRASE:
            mine = owner
        elif low in _ENDS_PHRASE and not is_name and not (owner and phrase == 0 and low not in _FUNCTION):
            owner, phrase = None, 0
        else:
            mine = owner if phrase < _LONGEST_PHRASE else None
            kin = KIN.get(low)
            if mine is None and kin is not None and before.casefold() not in _DETERMINERS and not is_name:
                mine = me
            phrase += 1
            noun = kin or stem
            key = normalise_name(raw) if is_name else (f"{mine}'s {noun}" if mine else noun)
            if owns:
                owner, phrase = key, 0
        words.append(Word(raw, low, stem, is_name, mine, clause, owns, is_short))
        begins, before = False, token
    words = _owners_behind(words)
    clauses = [
        [word for word in words if word.clause == number] for number in range(max(1, len(set(starts) - {len(words)})))
    ]
    subjects = tuple(subject_key(part, me, you) for part in clauses)
    negated = tuple(any(_negates(word) for word in part) for part in clauses)
    return Wording(tuple(words), subjects, negated, tuple(_same(words)))


def name_at(words: Sequence[Word], start: int) -> str:
    """Return the key of the name that begins at a word: all words of names that follow each other."""
    parts = []
    for word in words[start:]:
        if not word.is_name:
            break
        parts.append(word.low)
        if word.owns:
            break
    return normalise_name(" ".join(parts)) if parts else ""


def _is_name(raw: str, low: str, begins: bool, names: Collection[str]) -> bool:
    if not raw[:1].isalpha() or raw == "I" or low.rstrip("s") in _CALENDAR or low in KIN:
        return False
    if low in names:
        return raw[:1].isupper() or low not in _FUNCTION
    return raw[:1].isupper() and not begins and low not in _FUNCTION


def _is_owned(before: str) -> bool:
    """Return whether the word after a word is owned, so that one in capitals is what it is: "my IBAN"."""
    return before.casefold() in _FIRST_OWNER | _THIRD_OWNER | _SECOND - {"you"}


def _starts_subject(token: str, names: Collection[str]) -> bool:
    low = token.casefold()
    base = re.split("['’]", low)[0]
    return base in _FIRST | _FIRST_OWNER | _THIRD | _THIRD_OWNER | {"the", "you"} or base in names


def _negates(word: Word) -> bool:
    return word.low in _NEGATIONS or word.low.endswith("n't")


def _owners_behind(words: list[Word]) -> list[Word]:
    """Return the words with owners that stand behind: "the name of Ella"."""
    found = list(words)
    for number, word in enumerate(words[1:-1], 1):
        before, after = words[number - 1], words[number + 1]
        if word.low not in ("of", "from") or before.owner is not None or before.low in _ENDS_PHRASE:
            continue
        key = after.owner if after.low in _FIRST_OWNER else (name_at(words, number + 1) if after.is_name else None)
        if after.low in _FIRST_OWNER and number + 2 < len(words):
            target = words[number + 2]
            key = f"{target.owner}'s {KIN.get(target.low, target.stem)}" if target.owner else None
        if key:
            found[number - 1] = Word(
                before.text, before.low, before.stem, before.is_name, key, before.clause, before.owns
            )
    return found


def subject_key(words: Sequence[Word], me: str, you: str = "you") -> str | None:
    """Return the key of the subject of a clause; ``None`` where it begins with something else."""
    skipped = 0
    for number, word in enumerate(words):
        if word.low in _FIRST:
            return me
        if word.low == "you":
            return you
        if word.low in _THIRD:
            return SOMEBODY
        if word.low in _FIRST_OWNER | _THIRD_OWNER:
            return phrase_key(words, number + 1)
        if word.is_name:
            key = name_at(words, number)
            return phrase_key(words, number) if word.owns else _joined(words, number, key, me)
        if word.owner is not None:
            return phrase_key(words, number)
        if word.low in _FUNCTION:
            if word.low in _DETERMINERS and number + 1 < len(words):
                return words[number + 1].stem if not words[number + 1].is_name else name_at(words, number + 1)
            continue
        skipped += 1
        if skipped:
            return None
    return None


def _joined(words: Sequence[Word], number: int, key: str, me: str) -> str:
    """Return the subject "Jonas and I" as "I": what is said of both is said of the speaker too."""
    after = [word.low for word in words[number + len(key.split()) :][:2]]
    return me if after[:1] in (["and"], ["&"]) and after[1:] in (["i"], ["me"]) else key


def phrase_key(words: Sequence[Word], number: int) -> str | None:
    """Return the key of an owned noun phrase: the longest chain of owners in it."""
    key = None
    for word in words[number : number + _LONGEST_PHRASE + 2]:
        if word.low in _ENDS_PHRASE and not word.is_name:
            break
        if word.is_name and not word.owns:
            return key or normalise_name(word.low)
        noun = normalise_name(word.low) if word.is_name else KIN.get(word.low, word.stem)
        key = f"{word.owner}'s {noun}" if word.owner else noun
        if not word.owns and noun in TABLES["relatives"]:
            break
    return key


def _same(words: list[Word]) -> list[tuple[str, str]]:
    """Return what a text says is the same: "my sister Ella", "my boss is called Ivo"."""
    found = []
    for number, word in enumerate(words[:-1]):
        if word.owner is None or word.is_name or word.owns:
            continue
        following = number + 1
        while following < len(words) and words[following].low in ("is", "was", "are", "called", "named"):
            following += 1
        if following < len(words) and words[following].is_name and words[following].clause == word.clause:
            key = f"{word.owner}'s {KIN.get(word.low, word.stem)}"
            found.append((key, name_at(words, following)))
    return found
