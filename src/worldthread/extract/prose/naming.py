"""Decides about the names of a passage: which capitalised words are names, who is a person, whom a short form means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from worldthread.extract.prose.spans import Token
from worldthread.extract.prose.words import WORDS

_FUNCTION: Final = WORDS["function"]
_NOT_OPENERS: Final = _FUNCTION | WORDS["openers"]
_SINGULAR_VERB: Final = re.compile(
    r"(?:['’]s)? (?:is|was|has|had|does|did|can|will|says|said|lives?|lived|works?|worked|likes?|loves?|hates?|wants?|"
    r"married|moved|became|wrote|died|went|got|plays?|played|called|sold|bought|costs?|prefers?|owns?|no longer|also)\b"
    r"|['’]s "
)
_PERSON_FOLLOWS: Final = re.compile(
    r",? (?:who|whose|himself|herself|was born|is survived)\b"
    r"| \((?:[^()]{0,80}[ ;,])?(?:born|b\.|née?|c\. \d{3,4}|\d{3,4})"
    r" ?(?:[^()]{0,40}(?:–|-| to )|[^()]{3,40}\))"
    r"|(?: \([^()]{0,120}\))?,? (?:is|was) (?:an?|the) (?:[\w-]+ ){0,5}(?:"
    + "|".join(sorted(WORDS["persons"]))
    + r")\b"
)


class NamingContext:
    """What the sentences of a passage show about its names, for use in each of them.

    Args:
        sentences: the texts of the sentences, each with its tokens and the offset at which it begins after a label.
        topic: the name in the passage's title; ``None`` without a title.

    Attributes:
        topic: the name in the passage's title; ``None`` without a title.
        persons: the full names that are known to be names of persons.
        aliases: parts and variants of names, with the full name that each means.
    """

    def __init__(self, sentences: Iterable[tuple[str, list[Token], int]], topic: str | None = None) -> None:
        self.topic = topic
        self._bare_topic = ""
        if topic is not None and len(topic) <= 80:
            self._bare_topic = re.sub(r"^(?:The|A|An) (?=\S)", "", topic).lower()
        self._capitalised_words: set[str] = set(topic.split()) if topic is not None else set()
        self._lowercase_words: set[str] = set()
        self.persons: set[str] = set()
        full_names: dict[str, None] = {}
        if topic is not None:
            full_names[topic] = None
        for text, tokens, body in sentences:
            for kind, start, end, span in tokens:
                if kind == "word":
                    self._lowercase_words.add(span)
                elif kind == "name":
                    words = span.split()
                    if opens_sentence(text, start, body):
                        words = words[1:] if len(words) > 1 and words[0].lower() in _NOT_OPENERS else words
                        span = " ".join(words)
                        if len(words) == 1 and start + len(span) == end:
                            words = []
                    self._capitalised_words.update(words)
                    if len(span) < 60 and span.lower() not in _FUNCTION:
                        if 1 < len(words) <= 4:
                            full_names[span] = None
                        if _PERSON_FOLLOWS.match(text, end) and not _is_impersonal(span):
                            self.persons.add(span)
        self.aliases = self._find_aliases(full_names)

    def _find_aliases(self, full_names: Iterable[str]) -> dict[str, str]:
        """Return the short forms of names, with the full name of each.

        Short forms are the first and the last word of a person's full name when only one full name has them, the name
        with a middle name, and the topic before its comma ("Springfield" for "Springfield, Ohio").

        Args:
            full_names: the names of two to four words in the passage, and the topic.

        Returns:
            Full names by short form.
        """
        owners: dict[str, set[str]] = {}
        for name in full_names:
            words = name.split()
            if not 1 < len(words) <= 4 or not all(
                w[0].isupper() or w in ("van", "von", "de", "der", "la") for w in words
            ):
                continue
            if self.is_person(name) or (name == self.topic and any(_have_same_ends(name, p) for p in self.persons)):
                self.persons.add(name)
                if words[0].lower().rstrip(".") in WORDS["honorifics"]:
                    words = words[1:]
                for word in {words[0], words[-1]}:
                    owners.setdefault(word, set()).add(name)
            else:
                for word in words:  # no part of "Jackson County" may mean Michael Jackson
                    owners.setdefault(word, set())
        aliases: dict[str, str] = {}
        for word, names in owners.items():
            best = min(names, key=lambda n: (n != self.topic, len(n), n), default="")
            if len({(n.split()[0], n.split()[-1]) for n in names}) == 1 and len(word) > 2:
                aliases[word] = best
                aliases.update((n, best) for n in names if n != best)  # with a middle name
        for name in full_names:
            words = name.split()
            whole = aliases.get(words[0])
            if 2 < len(words) < 5 and whole is not None and whole != name and whole == aliases.get(words[-1]):
                aliases[name] = whole
        if self.topic is not None and ", " in self.topic:
            aliases[self.topic.partition(",")[0]] = self.topic  # "Springfield, Ohio"
        return aliases

    def topic_in(self, text: str, start: int) -> tuple[int, int] | None:
        """Return where ``text`` mentions the topic, in any case, from ``start`` on; ``None`` when it does not."""
        low = text.lower()
        if not self._bare_topic or len(low) != len(text):
            return None
        offset = low.find(self._bare_topic, start)
        while offset >= 0:
            end = offset + len(self._bare_topic)
            if not low[max(offset - 1, 0) : offset].isalnum() and not low[end : end + 1].isalnum():
                return offset, end
            offset = low.find(self._bare_topic, end)
        return None

    def is_person(self, name: str) -> bool:
        """Return whether ``name`` looks like the name of a person."""
        if name in self.persons:
            return True
        words = name.split()
        first = words[0].lower().rstrip(".")
        if first in WORDS["honorifics"] and len(words) > 1 and " of " not in name:
            return True
        return first in WORDS["given_names"] and len(words) < 5 and not _is_impersonal(name)

    def opens_with_name(self, word: str, text: str, end: int) -> bool:
        """Return whether a single word at the beginning of a sentence is a name.

        Args:
            word: the word, with a capital.
            text: the sentence.
            end: where the word ends in it.

        Returns:
            Whether it is a name: the passage has it as a name elsewhere, or it is a given name, or it is no common word
            and a verb in the singular follows.
        """
        low = word.lower()
        if low in _NOT_OPENERS or len(word) == 1:
            return False
        if word in self._capitalised_words or low in WORDS["given_names"]:
            return True
        if low in self._lowercase_words or low in WORDS["verbs"] or low.endswith(tuple(WORDS["noun_endings"])):
            return False
        if any(c.isupper() for c in word[1:]) or any(c.isdecimal() for c in word):
            return True
        return not low.endswith(("ing", "ly")) and _SINGULAR_VERB.match(text, end) is not None

    def is_known_name(self, word: str) -> bool:
        """Return whether a word is a name wherever it stands: one elsewhere in the passage, or a given name."""
        return word in self._capitalised_words or word.lower() in WORDS["given_names"]

    def may_open(self, word: str) -> bool:
        """Return whether nothing in the text speaks against a word at the beginning of a sentence being a name."""
        low = word.lower()
        if low in _NOT_OPENERS or low in self._lowercase_words or low in WORDS["verbs"] or len(word) < 3:
            return False
        return not low.endswith((*WORDS["noun_endings"], "ing", "ly")) and word.isalpha()


def _have_same_ends(one: str, other: str) -> bool:
    """Return whether two names have the same first and last word."""
    return one.split()[0] == other.split()[0] and one.split()[-1] == other.split()[-1]


def _is_impersonal(name: str) -> bool:
    return any(w in WORDS["impersonal"] for w in name.lower().split()) or any(c.isdecimal() for c in name)


def opens_sentence(text: str, start: int, body: int) -> bool:
    """Return whether a sentence, or a quotation in it, begins at ``start``; the sentence proper begins at ``body``."""
    return start <= body or not any(c.isalnum() for c in text[body:start]) or text[start - 1] in '"“‘«'
