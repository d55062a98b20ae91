"""Finds the words of a sentence that mean the thing of a fact where only a part of its name is said.

"Cancelled Spotify" names "spotify premium", "the Oban flat" a "flat in Oban". A noun phrase means the thing of a fact
when all its words that carry meaning are words of the fact or mean nothing by themselves ("membership"), and what
stands before and after the phrase ends it, as far as closed classes of words can tell: in "the rental car" and "the car
park" the car is not meant. ``linked_words.toml`` has the classes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from worldthread.extract.parsed.change_tables import KINDS, RELATION_KINDS
from worldthread.extract.parsed.ending_events import event_words
from worldthread.extract.parsed.mentions import stem

_TABLE: Final = tomllib.loads(
    files("worldthread.extract.parsed").joinpath("linked_words.toml").read_text(encoding="utf-8")
)
PHRASE_WORDS: Final = {name: frozenset(words.split()) for name, words in _TABLE["words"].items()}
"""Closed classes of words around and in noun phrases, by name."""
FAMILY_NOUNS: Final = {name: frozenset(words.split()) for name, words in _TABLE["nouns"].items()}
"""Nouns that mean the thing of any fact of a family, by family: "the course"."""

_TOKEN: Final = re.compile(r"[^\W_]+(?:[.'&@-][^\W_]+)*|[,;:!–—.]")
_ARTICLE: Final = re.compile(r"^(?:an?|the|my|our|his|her|their|some|all|one) ")
_RELATIVE: Final = re.compile(r" (?:who|which|that|whose) .*$")
_INNER: Final = re.compile(r" (?:(?:out )?of|to|in|at|with|from|for|on|about|by|near|as|every|each|once|twice) .*$")
_OWNER: Final = re.compile(r"\b[\w-]+(?:'s|s') (?=\w)")
_CALLED: Final = re.compile(r" (?:called|named) .*$")


@lru_cache(maxsize=8192)
def root(word: str) -> str:
    """Return a word without the ending of its form, roughly: "climb" for "climbing", "climbed" and "climbs"."""
    word = stem(word)
    for ending in ("ing", "ed", "er"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    return word.removesuffix("e") if len(word) > 3 else word


@cache
def _content(text: str) -> frozenset[str]:
    words = (word.removesuffix("'s") for word in re.findall(r"[^\W_]+(?:[.'&@-][^\W_]+)*", text))
    return frozenset(w for w in words if w not in PHRASE_WORDS["empty"] and not w[0].isdecimal())


@lru_cache(maxsize=4096)
def _words_of(written: str, relation: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the roots of the words of a fact: what may name it, what may stand beside that, and its main noun."""
    value = _RELATIVE.sub("", _ARTICLE.sub("", written.lower()))
    value = _OWNER.sub("", _CALLED.sub("", value))  # a name is found as a whole, an owner is another matter
    core = _INNER.sub("", value)
    inner = value[len(core) :]
    words = core.split()
    head = words[-1] if words else ""
    heads = {head, *KINDS.get(stem(head), ()), *RELATION_KINDS.get(relation, ())}
    verbs = _content(" ".join(relation.split())) - PHRASE_WORDS["relations"]
    names = {w.lower().removesuffix("'s") for w in re.findall(r"(?<!^)\b[A-Z][\w'&.-]*", f"{written} ")} & set(
        value.split()
    )
    strong = _content(core) - PHRASE_WORDS["qualities"] | (_content(inner) & names)
    if head in PHRASE_WORDS["meetings"]:
        strong |= _content(inner) - PHRASE_WORDS["times"]
    if _content(core) & PHRASE_WORDS["qualities"] and len(words) == 1:
        strong |= {core}
    every = strong | _content(value) | verbs
    return (
        frozenset(root(w) for w in strong | heads - {""}),
        frozenset(root(w) for w in every | heads - {""}),
        frozenset(root(w) for w in heads - {""}),
    )


@lru_cache(maxsize=64)
def _tokens(text: str) -> tuple[tuple[tuple[str, int, int], ...], frozenset[str]]:
    """Return the words and marks of a sentence with their places, and its words with their roots."""
    tokens = tuple((m[0], m.start(), m.end()) for m in _TOKEN.finditer(text))
    words = {word.removesuffix("'s") for word, _, _ in tokens}
    return tokens, frozenset(words | {root(word) for word in words})


def linked(
    text: str, written: str, relation: str, families: Collection[str] = (), *, own: bool, needs_head: bool
) -> tuple[str, str] | None:
    """Return a sentence with the phrase for a thing marked ``THING``, and the phrase; ``None`` where none means it.

    Args:
        text: the sentence in lower case.
        written: the object of a fact as written.
        relation: the relation of the fact in lower case.
        families: its families of relations.
        own: whether "my" is whose the thing is.
        needs_head: whether the phrase must have the main noun, or a name: of "a red bike" it is not "the red".
    """
    strong, every, heads = _words_of(written, relation)
    if not strong:
        return None
    tokens, roots = _tokens(text)
    nouns = frozenset(noun for family in families for noun in FAMILY_NOUNS[family])
    if strong.isdisjoint(roots) and nouns.isdisjoint(roots):
        return None
    words = [token for token, _, _ in tokens]
    for number, word in enumerate(words):
        plain = word.removesuffix("'s")
        if root(plain) not in strong or (needs_head and not ({root(plain)} & heads or _is_name(plain, written))):
            continue
        first = last = number
        while first and (
            root(words[first - 1].removesuffix("'s")) in every or words[first - 1] in PHRASE_WORDS["neutral"]
        ):
            first -= 1
        while last + 1 < len(words) and (
            root(words[last + 1].removesuffix("'s")) in every or words[last + 1] in PHRASE_WORDS["containers"]
        ):
            last += 1
        last = _with_place(words, last, every)
        determiners = PHRASE_WORDS["own"] if own else PHRASE_WORDS["others"]
        begin = first
        if first and words[first - 1] in determiners | PHRASE_WORDS["definite"]:
            begin = first - 1
        elif not _may_begin(words, first) and (needs_head or words[first - 1] != "new"):
            continue
        if not _may_end(words, last, every):
            continue
        end = tokens[last][2] - (2 if words[last].endswith("'s") else 0)
        return f"{text[: tokens[begin][1]]}THING{text[end:]}", text[tokens[first][1] : end]
    determiners = PHRASE_WORDS["own" if own else "others"] | {"the"}
    for number, word in enumerate(words[1:], 1):
        if word in nouns and words[number - 1] in determiners and _may_end(words, number, every):
            return f"{text[: tokens[number - 1][1]]}THING{text[tokens[number][2] :]}", word
    return None


def _with_place(words: list[str], last: int, every: frozenset[str]) -> int:
    """Return where a phrase ends with what of the fact follows it: "head of geography"."""
    while last + 2 < len(words) and words[last + 1] in ("of", "in", "at", "for", "to", "from", "on", "with"):
        end = last + 2 + (words[last + 2] in PHRASE_WORDS["definite"] | PHRASE_WORDS["own"])
        if end >= len(words) or root(words[end].removesuffix("'s")) not in every:
            break
        last = end
        while last + 1 < len(words) and root(words[last + 1].removesuffix("'s")) in every:
            last += 1
    return last


def _is_name(word: str, written: str) -> bool:
    return re.search(rf"(?<!^)\b{re.escape(word.capitalize())}\b", written) is not None or (
        any(c.isdecimal() for c in word)
    )


def _may_begin(words: list[str], first: int) -> bool:
    """Return whether a noun phrase without an article can begin at a word."""
    if not first:
        return True
    before = words[first - 1]
    return (
        before in PHRASE_WORDS["before"]
        or not before[0].isalnum()
        or before in event_words()
        or (len(before) > 4 and before.endswith(("ed", "ing", "ly")))
    )


def _may_end(words: list[str], last: int, every: frozenset[str]) -> bool:
    """Return whether a noun phrase can end at a word."""
    if last + 1 >= len(words):
        return True
    after = words[last + 1]
    if words[last].endswith("'s"):  # "spotify's dead" but not "spotify's offices"
        return (
            after in PHRASE_WORDS["after"] | PHRASE_WORDS["before"]
            or after in event_words()
            or after.endswith(("ed", "ing"))
        )
    if after in ("of", "in", "at", "from", "for") and last + 2 < len(words):
        within = [w for w in words[last + 2 : last + 4] if w not in PHRASE_WORDS["definite"] | PHRASE_WORDS["own"]]
        if within and within[0] not in PHRASE_WORDS["after"] and root(within[0]) not in every:
            return after == "for" or within[0] in PHRASE_WORDS["times"] or within[0][0].isdecimal()
    return (
        not after[0].isalnum()
        or after in PHRASE_WORDS["after"] | PHRASE_WORDS["times"]
        or after in event_words()
        or (len(after) > 3 and after.endswith(("ed", "ly")))
    )


def is_common(word: str) -> bool:
    """Return whether a word belongs to a closed class or is a time, and so names no other thing."""
    return any(word in PHRASE_WORDS[name] for name in ("empty", "after", "times", "before", "own", "definite"))
