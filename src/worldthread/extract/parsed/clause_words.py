"""Says which words of a clause are understood without the sentences around it, and writes them with names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.discourse import LISTS, Discourse, is_name
from worldthread.extract.parsed.facts import is_time
from worldthread.extract.parsed.phrases import is_pronoun

if TYPE_CHECKING:
    from spacy.tokens import Token

_POINTING: Final = WORDS["pointing"] | LISTS["pointing"]
_KNOWN: Final = LISTS["known"]
_PUBLIC: Final = frozenset(["hall", "exam", "office", "union", "choir", "test", "tests", "market", "squad", "team"])
_WH: Final = frozenset(["WDT", "WP", "WP$", "WRB"])
MARKS: Final = frozenset(
    ["--", ";", ":", "-", "–", "—", "...", "…", "(", ")", "[", "]", "!", "?", "/", "~", "|", ">", "<", "*", "="]
)
"""Marks that end what a clause says."""


class ClauseWords:
    """Judges and writes the words of clauses.

    Args:
        discourse: who is who in the text.
    """

    def __init__(self, discourse: Discourse) -> None:
        self.discourse = discourse

    def is_clean(self, words: list[Token]) -> bool:
        """Return whether words have no marks, questions or pointers in them."""
        for token in words:
            low = token.lower_
            if token.text in ("'", "‘", "’", "`") and token.tag_ != "POS":
                return False
            if token.like_url and "/" in token.text:
                return False  # a headline with its address
            if token.text in MARKS and (token.whitespace_ or not token.i or token.nbor(-1).whitespace_):
                return False
            if token.tag_ in _WH and not any(a.dep_ == "relcl" and a in words for a in token.ancestors):
                return False
            is_infinitive = token.tag_ == "VB" and token.i > words[0].i and token.nbor(-1).tag_ == "TO"
            is_told = token.tag_ in ("VBZ", "VBP", "VBD", "VBN") or is_infinitive  # "a library to render fonts"
            if token.dep_ == "relcl" and not (is_told and token.right_edge in words):
                return False
            if token.tag_ in ("MD", "EX") or token.dep_ == "neg" or low == "but":
                return False
            if token.tag_ in ("VBZ", "VBP", "VBD") and not any(a.dep_ == "relcl" for a in (token, *token.ancestors)):
                return False
            if token.tag_ in ("JJR", "RBR") and not self._is_count(token):
                return False
            if low in _POINTING and not self._is_count(token) and not is_name(token):
                return False
        return True

    @staticmethod
    def _is_count(token: Token) -> bool:
        """Return whether a word counts rather than points: "more than eight million", "one of its plants"."""
        low = token.lower_
        following = token.doc[token.i + 1 : token.i + 3]
        if low in ("newer", "later", "higher", "older", "above", "below"):
            return bool(token.i) and token.nbor(-1).lower_ == "or"
        if low in ("more", "less", "fewer"):
            return len(following) > 1 and following[0].lower_ == "than" and bool(following[1].like_num)
        if low == "either":
            return any(t.lower_ == "or" for t in token.head.children) or any(t.lower_ == "or" for t in following)
        if low == "one":
            is_range = len(following) > 0 and following[0].lower_ == "to"
            return token.dep_ == "nummod" or is_range or any(c.lower_ == "of" for c in token.rights)
        if low == "that":
            is_linking = token.dep_ in ("mark", "nsubj", "dobj", "nsubjpass")
            return is_linking and any(a.dep_ == "relcl" for a in token.ancestors)
        if low in ("this", "last", "next", "each") and is_time(token.head):
            return True
        if low in ("first", "second", "third", "last", "next"):
            is_identified = any(c.dep_ == "prep" for c in token.head.rights)
            return token.dep_ == "amod" and (is_identified or any(c.dep_ == "poss" for c in token.head.lefts))
        return False

    def is_known(self, words: list[Token], *, is_anchored: bool = False) -> bool:
        """Return whether every noun with "the" among words is one that they say which one it is."""
        for token in words:
            if token.lower_ != "the" or token.dep_ != "det":
                continue
            noun = token.head
            if noun not in words:
                continue
            if token.i and token.nbor(-1).lower_ == "as":
                continue  # "acts as the external examiner"
            if is_name(noun) or noun.lower_ in _KNOWN or is_time(noun) or noun.lemma_.lower() in WORDS["times"]:
                continue
            if any(
                is_name(c) for c in noun.children if c.dep_ in ("compound", "appos", "poss", "nmod")
            ) or noun.tag_ in ("JJS", "CD"):
                continue
            if any(c.dep_ in ("prep", "relcl", "acl", "poss") and c in words for c in noun.children):
                continue
            if any(c.tag_ in ("JJS", "RBS") or c.lower_ in ("only", "first", "last") for c in noun.children):
                continue
            if noun.tag_ == "NN" and self.discourse.described(noun) is not None:
                continue
            if is_anchored and noun.tag_ in ("NN", "NNS"):
                continue
            if noun.lower_ in _PUBLIC and any(c.dep_ == "compound" for c in noun.lefts):
                continue  # "the village hall", "the bar exam"
            if any(c.dep_ in ("amod", "compound", "nummod") and c.text[:1].isupper() for c in noun.lefts):
                continue
            return False
        return True

    def text(self, words: list[Token], subject: str | None) -> str | None:
        """Return words as they are shown, with names in place of pronouns."""
        if not words:
            return None
        parts: list[str] = []
        last = words[0].i - 1
        for token in words:
            if parts and token.i != last + 1 and not parts[-1].endswith(" "):
                parts.append(" ")
            last = token.i
            if is_pronoun(token):
                name = self._meaning(token, subject)
                if name is None:
                    return None
                shown = f"{name}'s" if token.tag_ == "PRP$" and name != token.lower_ else name
                if token.i + 1 < len(token.doc) and token.nbor().lower_ == "own":
                    if token.lower_ in ("my", "our"):
                        return None
                    shown = token.lower_
                parts.append(shown + token.whitespace_)
                continue
            if token.lower_ == "the" and token.dep_ == "det" and token.head.tag_ == "NN" and not is_name(token.head):
                has_name = any(is_name(c) for c in token.head.rights if c.dep_ == "appos")
                name = None if has_name else self.discourse.described(token.head)
                if name is not None and token.head in words and token.head.i == token.i + 1 and name != subject:
                    parts.append(name + token.head.whitespace_)
                    continue
            if (
                parts
                and token.i
                and token.nbor(-1).lower_ == "the"
                and token.nbor(-1) in words
                and token.nbor(-1).head == token
            ):
                has_name = any(is_name(c) for c in token.rights if c.dep_ == "appos")
                name = self.discourse.described(token) if token.tag_ == "NN" and not has_name else None
                if name is not None and name != subject:
                    continue
            parts.append(self._shown(token) + token.whitespace_)
        text = " ".join("".join(parts).split()).rstrip(" ,;:")
        if words[-1].i + 1 == len(words[-1].doc) and text.count(".") == 1:
            text = text.rstrip(".")  # the end of the sentence, which the model takes for a part of "3D."
        return text or None

    def _shown(self, token: Token) -> str:
        """Return a word, or the full name that a surname stands for."""
        is_alone = (
            is_name(token)
            and not (token.i + 1 < len(token.doc) and is_name(token.nbor()))
            and self.discourse.last_of_name(token) == token.i
            and self.begin_of(token) == token.i
        )
        name = (
            self.discourse.name_at(token)
            if is_alone and token.dep_ in ("dobj", "pobj", "attr", "poss", "dative")
            else None
        )
        is_longer = (
            name is not None
            and token.text in name.split()
            and " of " not in name
            and not any(c.isdecimal() for c in name)
        )
        return name if is_longer and name is not None else token.text

    def _meaning(self, token: Token, subject: str | None) -> str | None:
        """Return whom a pronoun after the verb means: its own subject, where nobody else can be meant."""
        low = token.lower_
        if low == "us":
            return None  # the team, the family: "joined us"
        if low == "our":
            return self.discourse.company
        if low in ("i", "me", "my", "myself"):
            return self.discourse.speaker
        if subject is None:
            return None
        if low in ("its", "his", "her", "himself", "herself", "itself"):
            if subject == self.discourse.speaker or not self.discourse.is_possible(subject, low):
                return None
            if (token.tag_ == "PRP" and low == "her") or "'s " in subject:
                return None  # "Anna's results ... her": hers, not the results'
            return subject if "(" not in subject else low if token.tag_ == "PRP$" else None
        return None

    def begin_of(self, token: Token) -> int:
        begin: int = token.i
        while begin and is_name(token.doc[begin - 1]):
            begin -= 1
        return begin
