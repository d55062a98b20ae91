"""Names the subjects of clauses: proper names, what belongs to one, and descriptions that mean one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.clause_words import ClauseWords
from worldthread.extract.parsed.clauses import WORDS, Clause
from worldthread.extract.parsed.discourse import CODE, EDITIONS, LISTS, is_name, is_of_nation
from worldthread.extract.parsed.phrases import is_pronoun

if TYPE_CHECKING:
    from spacy.tokens import Token

RELATIONAL: Final = WORDS["vague"] | LISTS["relational"]
"""Nouns of which only other sentences say which one is meant, whatever a text describes."""
_WHOLE: Final = LISTS["whole"]
_PROGRAMS: Final = LISTS["programs"]
_NUMBERED: Final = LISTS["numbered"]
_INSTITUTIONS: Final = LISTS["of_names"] | LISTS["organisations"] | frozenset(["airport", "bridge", "castle", "mill"])
_GROUPS: Final = LISTS["groups"]
_RELATIVE: Final = frozenset(
    ["next", "last", "new", "old", "previous", "coming", "current", "first", "second", "other"]
)


class ClauseSubjects:
    """Names the subjects of clauses.

    Args:
        words: judges and writes their words.
    """

    def __init__(self, words: ClauseWords) -> None:
        self._words = words

    def subject(self, clause: Clause) -> str | None:
        token = clause.subject
        if token is None:
            if self._words.discourse.about is not None or not self._words.discourse.is_personal:
                return None  # of whom an interview tells, or a list of changes
            return (
                self._words.discourse.speaker
                if clause.verb.tag_ in ("VBD", "VBN") and any(c.dep_ == "dobj" for c in clause.verb.rights)
                else None
            )
        if token.dep_ in ("expl", "csubj", "csubjpass") or token.i > clause.verb.i:
            return None
        if any(c.dep_ in ("cc", "conj", "preconj") for c in token.children):
            return self._plural(token) if self._words.discourse.describes else None
        if is_pronoun(token):
            low = token.lower_
            if (
                low == "we"
                and clause.lemma == "be"
                and not clause.is_passive
                and any(c.dep_ in ("attr", "acomp") for c in clause.verb.rights)
            ):
                return None  # "we are eleven"
            if low == "we":
                return None if self._words.discourse.is_note else self._words.discourse.company
            if low == "i":
                return self._words.discourse.speaker
            return self._words.discourse.pronoun(low) if low in ("he", "she", "it") else None
        return self.named(token)

    def _telegraphic(self, token: Token) -> str | None:
        """Return "garage rent" of a note, which leaves out "my" and "the"."""
        if token.pos_ == "PROPN" and token.left_edge == token and token.text[:1].isupper():
            return str(token.text)
        words = self._noun(token)
        if words is None or (self._words.discourse.about is None and " " not in words):
            return None
        if token.lemma_.lower() in WORDS["vague"] or (token.head.tag_ == "VBN" and token.dep_ == "nsubj"):
            return None
        return words if self._words.discourse.about is None else f"{words} ({self._words.discourse.about})"

    def named(self, token: Token) -> str | None:
        """Return the name of a subject that is no pronoun."""
        doc = token.doc
        if (number := self._numbered(token)) is not None:
            return self._anchored(number)
        appositions = [c for c in token.rights if c.dep_ == "appos" and (is_name(c) or c.text.isupper())]
        if is_name(token) and self._words.discourse.last_of_name(token) == token.i:
            if any(
                c.lower_ in ("a", "an", "no", "every", "each", "some", "any") for c in token.lefts if c.dep_ == "det"
            ):
                return None
            owner = next((c for c in token.lefts if c.dep_ == "poss"), None)
            if owner is not None:
                return self._owned(token, owner)
            if token.lemma_.lower().removesuffix("s") in WORDS["times"]:
                return None
            of = [c for c in token.rights if c.dep_ == "prep" and c.lower_ in ("of", "in", "at")]
            name = self._words.discourse.name_at(token)
            if of and name is not None and not self._words.discourse.is_person(name):
                last = of[-1].right_edge
                if of[-1].right_edge.i > token.i + 6 or not is_name(last):
                    return None
                name = doc[doc[token.left_edge.i].i + (doc[token.left_edge.i].dep_ == "det") : last.i + 1].text
            return name
        if len(appositions) == 1 and not any(c.lower_ in ("a", "an") for c in appositions[0].lefts):
            return self._words.discourse.name_at(doc[self._words.discourse.last_of_name(appositions[0])])
        owner = next((c for c in token.lefts if c.dep_ == "poss"), None)
        if owner is not None and token.tag_ in ("NN", "NNS"):
            return self._owned(token, owner)
        if token.tag_ not in ("NN", "NNS"):
            return None
        determiner = next((c.lower_ for c in token.lefts if c.dep_ == "det"), "")
        if (
            determiner in ("", "the")
            and token.i
            and is_name(token.nbor(-1))
            and token.nbor(-1).dep_ == "compound"
            and token.tag_ == "NN"
        ):
            words = [t for t in doc[token.left_edge.i : token.i + 1] if t.dep_ != "det"]
            # "the Python version": of what? But "the `fetch` command"
            is_code = CODE.fullmatch(token.nbor(-1).text) is not None
            is_known = token.lemma_.lower() not in EDITIONS or is_code or self._words.discourse.speaker is not None
            if is_known and not any(c.dep_ in ("prep", "acl") for c in token.rights) and self._words.is_clean(words):
                named = " ".join(t.text for t in words)  # "the Rio Blanco reservoir"
                is_part = self._words.discourse.describes and token.lower_ != words[0].lower_
                return self._anchored(named) if is_part else named
        if determiner == "the" and token.tag_ == "NN":
            name = self._words.discourse.described(token)
            if name is not None:
                return name
        place = [c for c in token.rights if c.dep_ == "prep" and c.lower_ in ("of", "in", "at", "on", "for")]
        if (
            determiner in ("the", "a", "an")
            and len(place) == 1
            and token.tag_ == "NN"
            and not any(c.dep_ in ("relcl", "acl", "appos") for c in token.rights)
        ):
            words = [
                t for t in doc[token.left_edge.i : place[0].right_edge.i + 1] if t.head != token or t.dep_ != "det"
            ]
            if (
                is_name(words[-1])
                and words[-1].lower_ not in WORDS["times"]
                and self._words.is_clean(words)
                and len(words) < 10
                and not any(t.lower_ in _RELATIVE for t in words)
                and (self._words.discourse.speaker is None or token.lower_ in _INSTITUTIONS)
            ):
                return self._words.text(words, None)  # "the airport of Siro", "a court in Tallinn"
        if self._words.discourse.is_note and determiner == "":
            return self._telegraphic(token)
        if self._words.discourse.is_news and (described := self._identified(token, determiner)) is not None:
            return described
        if not self._words.discourse.describes:
            return None
        if determiner == "this":  # "this library" is what the text describes
            return self._words.discourse.main if token.lower_ in _WHOLE and token.left_edge.i + 1 == token.i else None
        return self._part(token, determiner) if determiner == "the" else self._plural(token)

    def _identified(self, token: Token, determiner: str) -> str | None:
        """Return a description of news that a name makes one: "Malaysian police", "talks between India and China"."""
        if determiner not in ("", "the") or any(t.lower_ in _RELATIVE or t.lower_ == "such" for t in token.lefts):
            return None
        beside = [c for c in token.lefts if c.dep_ in ("amod", "compound", "nmod")]
        places = [c for c in token.rights if c.dep_ == "prep"]
        if len(places) > 2 or any(c.dep_ not in ("prep", "punct") for c in token.rights):
            return None
        has_name = any(is_name(c) or is_of_nation(c) for c in beside)
        is_group = token.tag_ == "NNS" or token.lemma_.lower() in _GROUPS
        is_told = bool(places) and is_name(places[-1].right_edge) and places[-1].right_edge.lower_ not in WORDS["times"]
        if not (is_told or (has_name and is_group and (determiner == "" or not places))):
            return None
        if token.tag_ == "NN" and not is_group and determiner == "" and not is_told:
            return None
        text = self._noun(token)
        return None if text is None or not self._words.is_known(list(token.subtree)) else text

    def _numbered(self, token: Token) -> str | None:
        """Return "program 4", of which only the text says what it is a program of; ``None`` for another subject."""
        words = [t for t in token.doc[token.left_edge.i : token.right_edge.i + 1] if t.dep_ != "det"]
        if len(words) != 2 or not any(c.isdecimal() for c in words[1].text):
            return None
        discourse = self._words.discourse
        is_first = (
            words[0].i < 2 and words[0].text not in (discourse.topic or "").split()
        )  # "Thermocouple 2 was replaced"
        if words[0].lower_ not in _NUMBERED and not (discourse.describes and is_first and words[1].text.isdecimal()):
            return None
        return f"{words[0].lower_} {words[1].text}"

    def _owned(self, token: Token, owner: Token) -> str | None:
        """Return the name of something that belongs to a name: "Elena Markovic's husband"."""
        names = [c for c in token.rights if c.dep_ == "appos" and is_name(c)]
        if names:
            return self._words.discourse.name_at(token.doc[self._words.discourse.last_of_name(names[0])])
        if any(c.dep_ in ("relcl", "acl", "appos") for c in token.rights) or token.lemma_.lower() in WORDS["vague"]:
            return None
        if owner.lower_ in ("today", "tomorrow", "yesterday", "tonight") or owner.lemma_.lower() in WORDS["times"]:
            return None
        if is_pronoun(owner):
            low = owner.lower_
            if low == "our" and self._words.discourse.is_note:
                name = None
            elif low in ("my", "our"):
                is_kin = token.lemma_.lower() in WORDS["relations"] | WORDS["pets"]
                owner_name = self._words.discourse.company if low == "our" else self._words.discourse.speaker
                name = owner_name if self._words.discourse.is_letter or is_kin else None
            elif low in ("his", "her", "its"):
                name = self._words.discourse.owner(low)
            else:
                name = None
        else:
            name = self.named(owner) if is_name(owner) or owner.tag_ == "NN" else None
        if name is None:
            return None
        last = token.i
        following = [c for c in token.rights if c.dep_ == "prep"]
        if following:
            last = following[-1].right_edge.i
        words = [t for t in token.doc[owner.i + 1 : last + 1] if t.dep_ != "case" or t.i != owner.i + 1]
        if not words or not self._words.is_clean(words) or any(t.dep_ == "det" and t.lower_ == "the" for t in words):
            return None
        text = self._words.text(words, None)
        if text is None or text.startswith("'") or "'s" in name[-3:]:
            return None
        return f"{text} of {name}" if name.endswith(")") else f"{name}'s {text}"

    def _part(self, token: Token, determiner: str) -> str | None:
        """Return "the filter" of a thing that the text describes as a part of it."""
        words = self._noun(token)
        if words is None or token.lemma_.lower() in RELATIONAL:
            return None
        main = self._words.discourse.main
        # "the charger", "the L2" of "L2 wall charger"
        is_last = main is not None and words.lower() in [w for w in main.lower().split() if w.isalpha()][-1:]
        is_model = main is not None and any(c.isdecimal() for c in words) and words.lower() in main.lower().split()
        if (
            main is not None
            and words.lower() == token.lower_
            and (token.lemma_.lower() in _WHOLE or is_last or is_model)
        ):
            return main
        return self._anchored(words)

    def _plural(self, token: Token) -> str | None:
        """Return "backups" as those of the thing that the text describes."""
        words = self._noun(token) if token.tag_ == "NNS" else None
        return None if words is None or token.lemma_.lower() in RELATIONAL else self._anchored(words)

    def _anchored(self, words: str) -> str | None:
        """Return the words for a part with what it is a part of; ``None`` where the text does not say that."""
        main = self._words.discourse.main
        return None if main is None else f"{words} ({main})"

    def _noun(self, token: Token) -> str | None:
        """Return the words of a subject without its article, if all of them are clear."""
        if token.lemma_.lower() in WORDS["vague"] or any(c.dep_ in ("relcl", "appos", "poss") for c in token.children):
            return None
        words = [t for t in token.subtree if not (t.head == token and t.dep_ == "det")]
        if (CODE.fullmatch(words[0].text) and len(words) > 1) or words[0].text[:4].isdecimal():
            return None
        if words[-1].i - words[0].i + 1 != len(words) or not self._words.is_clean(words) or len(words) > 8:
            return None
        text = self._words.text(words, None)
        return (
            None
            if text is None
            else text[0].lower() + text[1:]
            if not is_name(words[0]) and not is_of_nation(words[0]) and not text[1:2].isupper()
            else text
        )
