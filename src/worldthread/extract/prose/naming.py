"""What a passage shows about the names in it: which capitals are names, who is a person, who is meant by a part."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from worldthread.extract.prose.spans import Token
from worldthread.extract.prose.words import WORDS

_FUNCTION: Final = WORDS["function"]
_NO_OPENER: Final = _FUNCTION | WORDS["openers"]
_SINGULAR_VERB: Final = re.compile(
    r"(?:['’]s)? (?:is|was|has|had|does|did|can|will|says|said|lives?|lived|works?|worked|likes?|loves?|hates?|wants?|"
    r"married|moved|became|wrote|died|went|got|plays?|played|called|sold|bought|costs?|prefers?|owns?|no longer|also)\b"
    r"|['’]s "
)
_PERSON_BEHIND: Final = re.compile(
    r",? (?:who|whose|himself|herself|was born|is survived)\b"
    r"| \((?:[^()]{0,80}[ ;,])?(?:born|b\.|née?|c\. \d{3,4}|\d{3,4})"
    r" ?(?:[^()]{0,40}(?:–|-| to )|[^()]{3,40}\))"
    r"|(?: \([^()]{0,120}\))?,? (?:is|was) (?:an?|the) (?:[\w-]+ ){0,5}(?:"
    + "|".join(sorted(WORDS["persons"]))
    + r")\b"
)


class NamingContext:
    """What a passage shows about its names: what :func:`find_entities` must know beyond one sentence.

    Args:
        sentences: the texts of the sentences, each with its tokens and the place where it begins behind a label.
        topic: the name in the passage's title.
    """

    def __init__(self, sentences: Iterable[tuple[str, list[Token], int]], topic: str | None = None) -> None:
        self.topic = topic
        self._bare = ""
        if topic is not None and len(topic) <= 80:
            self._bare = re.sub(r"^(?:The|A|An) (?=\S)", "", topic).lower()
        self._capitals: set[str] = set(topic.split()) if topic is not None else set()
        self._lower: set[str] = set()
        self.persons: set[str] = set()
        full: dict[str, None] = {}
        if topic is not None:
            full[topic] = None
        for text, tokens, body in sentences:
            for kind, start, end, span in tokens:
                if kind == "word":
                    self._lower.add(span)
                elif kind == "name":
                    words = span.split()
                    if opens_sentence(text, start, body):
                        words = words[1:] if len(words) > 1 and words[0].lower() in _NO_OPENER else words
                        span = " ".join(words)
                        if len(words) == 1 and start + len(span) == end:
                            words = []
                    self._capitals.update(words)
                    if len(span) < 60 and span.lower() not in _FUNCTION:
                        if 1 < len(words) <= 4:
                            full[span] = None
                        if _PERSON_BEHIND.match(text, end) and not _impersonal(span):
                            self.persons.add(span)
        self.aliases = self._find_aliases(full)

    def _find_aliases(self, full: Iterable[str]) -> dict[str, str]:
        """First and last words of persons' full names, if only one full name has them."""
        owners: dict[str, set[str]] = {}
        for name in full:
            words = name.split()
            if not 1 < len(words) <= 4 or not all(
                w[0].isupper() or w in ("van", "von", "de", "der", "la") for w in words
            ):
                continue
            if self.is_person(name) or (name == self.topic and any(_same_ends(name, p) for p in self.persons)):
                self.persons.add(name)
                if words[0].lower().rstrip(".") in WORDS["honorifics"]:
                    words = words[1:]
                for word in {words[0], words[-1]}:
                    owners.setdefault(word, set()).add(name)
            else:
                for word in words:  # no part of "Jackson County" may be taken for Michael Jackson
                    owners.setdefault(word, set())
        aliases: dict[str, str] = {}
        for word, names in owners.items():
            best = min(names, key=lambda n: (n != self.topic, len(n), n), default="")
            if len({(n.split()[0], n.split()[-1]) for n in names}) == 1 and len(word) > 2:
                aliases[word] = best
                aliases.update((n, best) for n in names if n != best)  # with a middle name
        for name in full:
            words = name.split()
            whole = aliases.get(words[0])
            if 2 < len(words) < 5 and whole is not None and whole != name and whole == aliases.get(words[-1]):
                aliases[name] = whole
        if self.topic is not None and ", " in self.topic:
            aliases[self.topic.partition(",")[0]] = self.topic  # "Springfield, Ohio"
        return aliases

    def topic_in(self, text: str, start: int) -> tuple[int, int] | None:
        """Where ``text`` mentions the topic, in whatever case, from ``start`` on."""
        low = text.lower()
        if not self._bare or len(low) != len(text):
            return None
        place = low.find(self._bare, start)
        while place >= 0:
            end = place + len(self._bare)
            if not low[max(place - 1, 0) : place].isalnum() and not low[end : end + 1].isalnum():
                return place, end
            place = low.find(self._bare, end)
        return None

    def is_person(self, name: str) -> bool:
        """Whether ``name`` looks like the name of a person."""
        if name in self.persons:
            return True
        words = name.split()
        first = words[0].lower().rstrip(".")
        if first in WORDS["honorifics"] and len(words) > 1 and " of " not in name:
            return True
        return first in WORDS["given_names"] and len(words) < 5 and not _impersonal(name)

    def opens_with_name(self, word: str, text: str, end: int) -> bool:
        """Whether a single ``word`` at the beginning of a sentence is a name."""
        low = word.lower()
        if low in _NO_OPENER or len(word) == 1:
            return False
        if word in self._capitals or low in WORDS["given_names"]:
            return True
        if low in self._lower or low in WORDS["verbs"] or low.endswith(tuple(WORDS["noun_endings"])):
            return False
        if any(c.isupper() for c in word[1:]) or any(c.isdigit() for c in word):
            return True
        return not low.endswith(("ing", "ly")) and _SINGULAR_VERB.match(text, end) is not None


def _same_ends(one: str, other: str) -> bool:
    """Whether two names have the same first and last word."""
    return one.split()[0] == other.split()[0] and one.split()[-1] == other.split()[-1]


def _impersonal(name: str) -> bool:
    return any(w in WORDS["impersonal"] for w in name.lower().split()) or any(c.isdigit() for c in name)


def opens_sentence(text: str, start: int, body: int) -> bool:
    """Whether a sentence, or a quotation in it, begins at ``start``."""
    return start <= body or not any(c.isalnum() for c in text[body:start]) or text[start - 1] in '"“‘«'
