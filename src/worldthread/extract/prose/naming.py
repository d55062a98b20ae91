"""Decides about the names of a passage: which capitalised words are names, who is a person, whom a short form means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from worldthread.extract.prose.spans import Token
from worldthread.extract.prose.words import WORDS

_FUNCTION: Final = WORDS["function"]
_NOT_OPENERS: Final = _FUNCTION | WORDS["openers"]
AUXILIARIES: Final = frozenset(
    [
        "is",
        "was",
        "has",
        "had",
        "does",
        "did",
        "can",
        "could",
        "may",
        "might",
        "must",
        "shall",
        "should",
        "will",
        "would",
        "isn't",
        "wasn't",
        "hasn't",
        "hadn't",
        "doesn't",
        "didn't",
        "can't",
        "couldn't",
        "mustn't",
        "shouldn't",
        "won't",
        "wouldn't",
    ]
)
"""Auxiliary verbs that go with one subject; some are names too."""
# what comes between a subject and its verb
_BETWEEN: Final = frozenset(
    ["also", "always", "almost", "already", "just", "never", "no", "now", "often", "only", "really", "still", "usually"]
)
_POSSESSED: Final = re.compile(r"['’]s ")
_ENUMERATED: Final = re.compile(r",? (?:and|or) (?:I|me|[^\W\d_a-zß-öø-ÿ][^\W\d_A-Z])")
_APPOSED: Final = re.compile(r", (?:my|our|his|her|their|your|the|an?|who|whose)\b")
_NEXT_WORD: Final = re.compile(r"(?:['’]s)? (?P<word>[^\W\d_]+(?:['’]t)?)\b(?P<of_many> (?:are|were|have|do)\b)?")
_PRESENT: Final = re.compile(r"[a-z]{2,}[^sui\W]s$")
_PAST: Final = re.compile(  # before "ed" stands a stem, which has a vowel
    r"(?!(?:need|seed|speed|feed|deed|weed|breed|greed|hundred|sacred)$)(?=\w*[aeiouy]\w*ed$)\w{2,}ed$"
)
_PLURAL: Final = re.compile(r"[^aious]s$")
_RELATED: Final = re.compile(
    r"(?:\b(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Yy]our)|['’]s) (?:[a-z][a-z'-]* ){1,3}$|\b(?:I|me|[Mm]yself) and $"
)
_WITH_ME: Final = re.compile(r",? and (?:I|me)\b")
_PREPOSITION: Final = re.compile(r"\b(?:as|at|by|for|from|in|into|near|of|on|to|via) (?:the )?$")
_HE_OR_SHE: Final = re.compile(r"\b(?:he|she|his|her|him|himself|herself)\b", re.IGNORECASE)
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
        subject: str | None = None  # the name with which the sentence before begins
        self._lowercase_words: set[str] = set()
        self.persons: set[str] = set()
        full_names: dict[str, None] = {}
        alone: set[str] = set()  # names of one word
        tells_of_person = False
        if topic is not None:
            full_names[topic] = None
        for text, tokens, body in sentences:
            tells_of_person = tells_of_person or _HE_OR_SHE.search(text, body) is not None
            if subject is not None and _HE_OR_SHE.match(text, body):
                self.persons.add(subject)  # "Anna lives in Rome. She likes tea."
            subject = None
            for kind, start, end, span in tokens:
                if kind == "word":
                    self._lowercase_words.add(span)
                elif kind == "name":
                    words = span.split()
                    if len(words) == 1:
                        alone.add(span)
                    if start <= body and len(words) < 4 and self._may_be_person(span, text, end):
                        subject = None if _names_another(text, tokens, start) else span
                        if subject is not None and _HE_OR_SHE.search(text, end):
                            self.persons.add(span)
                    is_related = _RELATED.search(text, body, start) or _WITH_ME.match(text, end)
                    if is_related and self._may_be_person(span, text, end):
                        self.persons.add(span)
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
        if tells_of_person:  # "Peter Aitken is a footballer. Aitken began his career ..."
            self.persons.update(
                name
                for name in full_names
                if 1 < len(words := name.split()) <= 4 and words[-1] in alone and not _is_impersonal(name)
            )
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
        return first in WORDS["honorifics"] and len(words) > 1 and " of " not in name

    def _may_be_person(self, name: str, text: str, end: int) -> bool:
        """Return whether nothing speaks against a name at ``text[:end]`` being that of a person."""
        words = name.split()
        if name == self.topic or len(words) > 4 or _is_impersonal(name) or name.isupper():
            return False
        if len(words) > 1:
            return words[0].lower() not in _NOT_OPENERS
        return self.opens_with_name(name, text, end)

    def opens_with_name(self, word: str, text: str, end: int) -> bool:
        """Return whether a single word at the beginning of a sentence is a name.

        Args:
            word: the word, with a capital.
            text: the sentence.
            end: where the word ends in it.

        Returns:
            Whether it is a name: the passage has it as a name elsewhere, or it is no common word and what follows can
            only follow a name, or a noun without an article: a verb of one subject, "'s", an apposition, "and I".
        """
        low = word.lower()
        if len(word) == 1:
            return False
        precedes = any(pattern.match(text, end) for pattern in (_POSSESSED, _ENUMERATED, _APPOSED))
        if low in AUXILIARIES:  # "Will moved to Leeds", which is no question
            return precedes or _precedes_verb(word, text, end)
        if low in _NOT_OPENERS:
            return False
        if word in self._capitalised_words:
            return True
        if low in self._lowercase_words or low in WORDS["verbs"] or low.endswith(tuple(WORDS["noun_endings"])):
            return False
        if any(c.isupper() for c in word[1:]) or any(c.isdecimal() for c in word):
            return True
        if low.endswith(("ing", "ly")):
            return False
        return precedes or _precedes_verb(word, text, end)


def _precedes_verb(name: str, text: str, end: int) -> bool:
    """Return whether a verb of one subject, or what stands before one, follows a bare noun that ends at ``end``."""
    following = _NEXT_WORD.match(text, end)
    if following is None:
        return False
    word = following["word"].lower().replace("’", "'")
    if word in AUXILIARIES or word in _BETWEEN:
        return True
    if _PRESENT.match(word) is not None and word not in _FUNCTION:  # "Garden chairs are ...": a noun of many
        return following["of_many"] is None
    if _PLURAL.search(name):  # "Students called": a verb in the past says nothing of number
        return False
    return word in WORDS["verbs"] or _PAST.match(word) is not None


def _names_another(text: str, tokens: list[Token], start: int) -> bool:
    """Return whether a sentence may name a person beside the name at ``start``: one after no preposition."""
    return any(
        kind == "name" and begin > start and _PREPOSITION.search(text, max(begin - 12, 0), begin) is None
        for kind, begin, _, _ in tokens
    )


def _have_same_ends(one: str, other: str) -> bool:
    """Return whether two names have the same first and last word."""
    return one.split()[0] == other.split()[0] and one.split()[-1] == other.split()[-1]


def _is_impersonal(name: str) -> bool:
    return any(w in WORDS["impersonal"] for w in name.lower().split()) or any(c.isdecimal() for c in name)


def opens_sentence(text: str, start: int, body: int) -> bool:
    """Return whether a sentence, or a quotation in it, begins at ``start``; the sentence proper begins at ``body``."""
    return start <= body or not any(c.isalnum() for c in text[body:start]) or text[start - 1] in '"“‘«'
