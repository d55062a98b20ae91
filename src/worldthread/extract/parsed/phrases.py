"""Writes the phrases of a dependency tree as names: whole, without articles, with owners in place of "my" and "her"."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import TYPE_CHECKING, Final, NamedTuple

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.words import third_person

if TYPE_CHECKING:
    from spacy.tokens import Token

_VERSION: Final = re.compile(r"v\d+(?:\.\d+)*|\d+(?:\.\d+)+")
_OPENING_QUOTE: Final = re.compile(r"(?<!\w)'(?!s\b)(?=\w)")  # no "'s" of "Bob (support)'s"
_CUT: Final = frozenset(["relcl", "advcl", "ccomp", "parataxis", "intj", "discourse"])
_ARTICLES: Final = frozenset(["a", "an", "the", "some"])
_AFTER_A: Final = frozenset(["few", "little"])  # "a few" is not "few"
_ROUGHLY: Final = frozenset(["about", "almost", "approximately", "around", "nearly", "over", "roughly", "under"])
_UNNAMED: Final = frozenset([
    "no", "any", "each", "every", "either", "neither", "which", "what", "such", "all", "both", "another", "these",
    "those", "this", "that",
])  # fmt: skip
_BREAKS: Final = frozenset([";", ":", "-", "–", "—", "...", "…", "(", ")", "[", "]", "!", "?", ".", "/", "~"])
_LONGEST: Final = 18  # words of a phrase
_LONGEST_CLAUSE: Final = 12  # words of a relative clause that is part of a phrase
_RELATIVE: Final = frozenset(["WDT", "WP", "WP$", "WRB"])
_OF_SPEAKER: Final = frozenset(["i", "me", "my", "we", "us", "our"])
_EXAMPLES: Final = frozenset(["as", "including", "like"])
_SURE_MODALS: Final = frozenset(["can", "ca", "will", "'ll", "must"])
_DEICTIC: Final = frozenset(["here", "there"])
_CODE: Final = re.compile(r"[`{}<>|=*\\\\]|\(\)|::|->")
_EMOTICON: Final = re.compile(r"[:;=xX]-?[()DPp3]+|<3|[^\w\s'’&%$€£@+#./:,-]+")


def is_pronoun(token: Token) -> bool:
    """Return whether a word is a pronoun; the tagger alone takes odd names for pronouns."""
    return token.tag_ in ("PRP", "PRP$") and token.lower_ in WORDS["pronouns"]


class NamedPhrase(NamedTuple):
    """A phrase written as a name.

    Args:
        name: the phrase, without its article, with owners in place of possessive pronouns.
        head: its main word.
        end: index of the token after it.
        determiner: its article or determiner, in lower case; empty without one.
        owner: whose it is ("my sister": the speaker); ``None`` without an owner.
        given_name: the name that follows ("my sister Maria": "Maria"); ``None`` without one.
    """

    name: str
    head: Token
    end: int
    determiner: str = ""
    owner: str | None = None
    given_name: str | None = None

    @property
    def lemma(self) -> str:
        """The lemma of the main word, in lower case."""
        return str(self.head.lemma_).lower()

    @property
    def is_proper(self) -> bool:
        """Whether the main word is a proper name."""
        return str(self.head.pos_) == "PROPN"

    @property
    def is_vague(self) -> bool:
        """Whether the phrase names nothing by itself: "a lot", "something", "the best part"."""
        is_kind = self.lemma in ("person", "place") and any(
            c.dep_ == "compound" and c.tag_ in ("NN", "NNS") for c in self.head.lefts
        )
        if self.lemma in WORDS["vague"] and (self.owner is None or self.lemma == "way") and not is_kind:
            return True
        words = self.name.lower()
        if words.startswith(("kind of ", "sort of ", "bit of ")):
            return True
        return any(
            (c.dep_ == "amod" and c.lower_ in WORDS["pointing"])
            or (self.is_proper and c.dep_ == "compound" and c.tag_ == "NN" and c.lower_ in WORDS["vague"])
            for c in self.head.lefts
        )

    @property
    def is_unspecific(self) -> bool:
        """Whether "the" points at something that the sentence does not name."""
        return self.determiner == "the" and not self.is_proper and not self.is_modified

    @property
    def is_identified(self) -> bool:
        """Whether the words of the phrase say which one is meant: a name in it, an owner, or "of" something."""
        return self.has_clause or any(
            child.dep_ in ("poss", "prep", "acl", "nummod") or child.pos_ == "PROPN" or child.tag_ in ("JJS", "RBS")
            for child in self.head.children
            if child.i < self.end and (child.dep_ != "nummod" or child.i > self.head.i)
        )

    @property
    def has_clause(self) -> bool:
        """Whether a relative clause is part of the phrase: "a shelter that helps families"."""
        return any(child.dep_ == "relcl" and child.i < self.end for child in self.head.rights)

    @property
    def is_modified(self) -> bool:
        """Whether other words than an article say which one is meant."""
        return self.has_clause or any(
            child.dep_ not in ("det", "punct", "cc", "conj", "relcl") and child.i < self.end
            for child in self.head.children
        )


def is_closed_clause(clause: Token) -> bool:
    """Return whether a relative clause can be part of a phrase: short, after no comma, of none but the speaker."""
    words = list(clause.subtree)
    if clause.dep_ != "relcl" or len(words) > _LONGEST_CLAUSE or words[-1].i - words[0].i >= len(words):
        return False
    if not clause.tag_.startswith("VB") or clause.doc[words[0].i - 1].text in (",", "-", "–", "—", "(", ":"):
        return False
    head = clause.head
    if any(t.i > head.right_edge.i for t in words) or words[-1].tag_ in ("TO", "DT", "CC"):
        return False
    for token in words:
        low = token.lower_
        is_second = token.dep_ == "conj" and token.pos_ in ("VERB", "AUX")
        is_modal = token.tag_ == "MD" and low not in _SURE_MODALS
        is_inner = token.dep_ == "ccomp" and token.tag_ == "VB"  # "allows users to track"
        if token != clause and not is_inner and (token.dep_ in _CUT or token.dep_ == "expl" or is_modal or is_second):
            return False
        if is_pronoun(token) and low not in _OF_SPEAKER and not is_of_clause(token, clause):
            return False
        if low in _DEICTIC or (token.text[0] in "'’" and token.dep_ != "case") or low in ("this", "these", "those"):
            return False
        is_time = token.lemma_.lower() in WORDS["times"] and token.tag_ != "NNPS"  # but "on Thursdays"
        if token.dep_ == "neg" or is_time or token.lemma_.lower() in WORDS["vague"] or token.text in _BREAKS:
            return False
        if low == "the" and not any(c.dep_ in ("prep", "poss", "compound", "amod") for c in token.head.children):
            return False  # "sponsors that made the event a hit": which event?
    return True


def is_of_clause(pronoun: Token, clause: Token) -> bool:
    """Return whether "their" means a noun in or before a relative clause: "folks who lost their jobs"."""
    if pronoun.lower_ not in ("they", "them", "their", "theirs", "themselves"):
        return False
    return any(t.tag_ in ("NNS", "NNPS") and t.i < pronoun.i for t in (clause.head, *clause.subtree))


def last_of(token: Token, excluded: Container[Token] = ()) -> int:
    """Return the index of the last token of a phrase, before any clause, aside or break in it.

    Args:
        token: the main word of the phrase.
        excluded: dependents, at any depth, that are not part of the phrase.
    """
    limit: int = token.right_edge.i
    pending = list(token.children)
    while pending:
        child = pending.pop()
        if child.i > token.i and child not in excluded and is_closed_clause(child):
            continue
        if child.i > token.i and (child.dep_ in _CUT or child in excluded or _is_aside(child) or _is_contrast(child)):
            whole = child
            while child.dep_ in _CUT and whole.head != token and whole.head.tag_ == "VBG" and whole.head.dep_ == "conj":
                whole = (
                    whole.head
                )  # without its complement, the last item of "helping and making it better" says nothing
            limit = min(limit, whole.left_edge.i - 1)
            said = child.head
            if child.dep_ == "relcl" and said.dep_ == "pobj" and said.lemma_.lower() in WORDS["anybody"]:
                limit = min(limit, said.head.i - 1)  # "folks who lost their jobs" are nobody without the clause
        elif child.text in _BREAKS and child.i > token.i and not _is_inside_word(child):
            limit = min(limit, child.i - 1)
        else:
            pending.extend(child.children)
    doc = token.doc
    breaks = (t.i for t in doc[token.i + 1 : limit] if t.text in _BREAKS and not _is_inside_word(t))
    limit = min(limit, next(breaks, limit + 1) - 1)
    commas = [t.i for t in doc[token.i : limit] if t.text == "," and not _opens_examples(t)]
    if commas and not any(t.lower_ in ("and", "or", "&") for t in doc[commas[-1] : limit]):
        limit = commas[0] - 1  # no enumeration, or one that goes on with a clause
    if doc[limit].dep_ == "conj" and doc[limit].lower_ == "one" and doc[limit - 1].dep_ == "cc":
        limit -= 2  # "emailed some firms and one replied"
    while limit > token.i and (
        doc[limit].dep_ in ("cc", "punct", "mark")
        or (
            doc[limit].dep_ == "acl" and doc[limit].tag_ == "VBN" and doc[limit].right_edge.i > limit
        )  # "found on 6 May"
        or doc[limit].is_punct
        or doc[limit].lower_ in WORDS["trailing"]
        or _EMOTICON.fullmatch(doc[limit].text)
    ):
        limit -= 1
    if limit + 1 < len(doc) and doc[limit].pos_ in ("PROPN", "NOUN") and _VERSION.fullmatch(doc[limit + 1].text):
        limit += 1  # "Postgres 15.2 as my database"
    return limit


def _opens_examples(comma: Token) -> bool:
    """Return whether examples follow: ", such as chess", ", like chess and golf"."""
    following = comma.doc[comma.i + 1 : comma.i + 3]
    return any(t.lower_ in _EXAMPLES and t.dep_ == "prep" for t in following)


def _is_contrast(child: Token) -> bool:
    return child.dep_ == "cc" and child.lower_ in ("but", "yet", "so")


def _is_aside(child: Token) -> bool:
    """Return whether a dependent is no part of its phrase: a second clause, or an apposition after a comma."""
    if child.tag_ in ("VB", "VBD", "VBP", "VBZ", "MD") and child.dep_ not in ("compound", "amod"):
        return True
    before = child.doc[child.left_edge.i - 1] if child.left_edge.i else None
    if child.dep_ == "appos" and any(c.dep_ == "cc" and c.i > child.i for c in (*child.children, *child.head.children)):
        return False  # an enumeration
    is_several = child.head.tag_ in ("NNS", "NNPS")
    if (
        is_several
        and child.dep_ == "prep"
        and child.lower_ in _EXAMPLES
        and any(c.dep_ == "pobj" for c in child.rights)
    ):
        return False  # "some hobbies, like chess and golf"
    return (
        child.dep_ in ("appos", "acl", "prep", "npadvmod", "advmod")
        and before is not None
        and before.text in (",", "-", "–")
    )


def is_break(token: Token) -> bool:
    """Return whether a mark ends a phrase: a dash, a colon, a bracket."""
    return token.text in _BREAKS and not _is_inside_word(token)


def _is_inside_word(token: Token) -> bool:
    """Return whether a mark is part of a word, as a hyphen is: no space on either side."""
    return token.i > 0 and not token.whitespace_ and not token.doc[token.i - 1].whitespace_


def is_code(text: str) -> bool:
    """Return whether a text is code or markup rather than words."""
    return _CODE.search(text) is not None


def is_cut_short(token: Token, last: int) -> bool:
    """Return whether a phrase ends within a list, a name or code, or with a word that something must follow."""
    doc = token.doc
    if doc[last].pos_ == "VERB" and any(c.dep_ in ("dobj", "ccomp", "xcomp") for c in doc[last].rights if c.i > last):
        return True
    if doc[last].dep_ == "amod" and doc[last].head.i > last:
        return True  # "a safe, inclusive world"
    is_stranded = any(a.dep_ == "relcl" and token.i < a.i <= last for a in doc[last].ancestors)  # "one I work at"
    if (
        not is_stranded
        and doc[last].pos_ in ("ADP", "DET", "PART", "SCONJ", "CCONJ")
        and doc[last].dep_ not in ("prt", "case")
    ):
        return True
    if last + 1 >= len(doc):
        return False
    following = doc[last + 1]
    is_told_later = any(c.dep_ == "relcl" and c.left_edge == following for c in token.children)
    is_known = token.pos_ != "NOUN" or token.lemma_.lower() in WORDS["relations"] | WORDS["pets"]
    if token.i == last and is_told_later and not is_known:
        return True  # "an organisation that helps people": which one is not said without the clause
    is_infinitive = following.tag_ == "TO" and last + 2 < len(doc) and doc[last + 2].tag_ == "VB"
    if (
        is_infinitive
        or following.lower_ in ("%", "of", "than", "like")
        or (following.text == "-" and not following.whitespace_)
    ):
        return True
    if following.text == ":" and last + 2 < len(doc):
        return True  # the list is what is said
    if following.lower_ in _DEICTIC and following.dep_ == "advmod":
        return True  # "a flat here"
    if following.tag_ in ("VBZ", "VBP") and following.dep_ in _CUT and following not in token.ancestors and not any(
        c.dep_ in ("nsubj", "nsubjpass") for c in following.children
    ):  # fmt: skip
        return True  # a noun that was taken for a verb: "my database queries for ..."
    is_glued = (
        not doc[last].whitespace_ and not following.is_sent_end and following.text in ("(", "[", "/", "`", "_", "=")
    )
    is_quoted = following.text == ":" and '"' in doc[max(0, token.left_edge.i - 1) : last + 1].text
    is_number = doc[last].like_num or doc[last - 1].like_num  # "15 m, 20 m and 25 m"
    in_numbers = following.text == "," and is_number and last + 2 < len(doc) and doc[last + 2].like_num
    if following.text == "," and any(c.dep_ == "conj" and c.i > last and c.tag_ != "VBP" for c in token.children):
        return True  # the rest of an enumeration
    return is_glued or in_numbers or is_quoted


def render(first: Token, last: int, referents: Referents) -> str | None:
    """Return the words from a token to an index, inclusive, with names in place of pronouns.

    Args:
        first: the first token.
        last: the index of the last token.
        referents: whom the pronouns mean.

    Returns:
        The words; ``None`` when it is not clear whom a pronoun means, or there are too many words.
    """
    doc = first.doc
    if last - first.i >= _LONGEST or is_cut_short(first, last) or is_code(doc[first.i : last + 1].text):
        return None
    parts: list[str] = []
    clauses = {
        t for t in doc[first.i : last + 1] if t.dep_ == "relcl" and t.left_edge.i > first.i and t.right_edge.i <= last
    }
    openings = {t.left_edge: t for t in clauses if not any(_is_relative(c) for c in t.subtree)}
    for token in doc[first.i : last + 1]:
        low = token.lower_
        if token in openings and openings[token].tag_ not in ("VB", "VBG"):
            parts.append("that ")
        if _agrees_with_speaker(token, clauses):
            parts.append(third_person("be" if low in ("am", "are") else low) + token.whitespace_)
            continue
        if _is_relative(token) and any(ancestor in clauses for ancestor in token.ancestors):
            parts.append(token.text_with_ws)
            continue
        if is_pronoun(token) and any(is_of_clause(token, clause) for clause in clauses if token in clause.subtree):
            parts.append(token.text_with_ws)
        elif is_pronoun(token):
            if token.text_with_ws == token.text and token.i < last and doc[token.i + 1].text == "-":
                return None  # "me-time"
            name = referents.of(low)
            if name is None:
                return None
            parts.append(name + ("'s" if token.tag_ == "PRP$" else "") + token.whitespace_)
        elif token.tag_ in ("WP", "WDT", "WP$", "WRB", "EX") or (
            low in ("this", "that", "these", "those", "both", "mine", "yours", "ours", "theirs", "myself", "yourself")
            and token.dep_ != "mark"
        ):
            return None
        else:
            parts.append(token.text_with_ws)
    words = " ".join("".join(parts).split())
    if len(_OPENING_QUOTE.findall(words)) > len(re.findall(r"(?<=\w)'(?!\w)", words)):
        words = _OPENING_QUOTE.sub("", words)
    if last + 1 == len(doc) and re.search(r"(?<=\b\w)\.$", words):
        words = words[:-1]  # the end of the sentence, which the model takes for a part of "vitamin D."
    return (words if words.count('"') % 2 == 0 else words.replace('"', "")) or None


def _is_relative(token: Token) -> bool:
    return token.tag_ in _RELATIVE or (token.lower_ == "that" and token.dep_ in ("dobj", "nsubj", "mark", "pobj"))


def _agrees_with_speaker(token: Token, clauses: set[Token]) -> bool:
    """Return whether a verb in one of the clauses has the form of "I" or "we", in place of which a name will stand."""
    verb = token.head if token.dep_ in ("aux", "auxpass") else token
    is_first = verb in clauses and any(c.dep_ in ("nsubj", "nsubjpass") and c.lower_ in ("i", "we") for c in verb.lefts)
    return is_first and token.tag_ == "VBP"


def noun_phrase(token: Token, referents: Referents, last: int | None = None) -> NamedPhrase | None:
    """Return a noun phrase as a name.

    Args:
        token: its main word.
        referents: whom its pronouns mean.
        last: index of its last token; by default, where the phrase ends.

    Returns:
        The name; ``None`` for pronouns without a clear meaning and for phrases such as "no dog" and "which one".
    """
    if is_pronoun(token):
        low = token.lower_
        name = referents.of(low)
        return None if name is None else NamedPhrase(name, token, token.i + 1)
    if token.tag_ in ("WP", "WDT", "EX", "DT", "PDT", "WRB", "RB") or token.tag_.startswith(("VB", "JJ")):
        is_noun = token.pos_ in ("NOUN", "PROPN") or token.tag_ in ("VBG", "JJ", "JJS") or _has_article(token)
        if not is_noun or token.lower_ in WORDS["vague"]:
            return None
    doc = token.doc
    first = token.left_edge
    determiner, owner = "", None
    for child in token.lefts:
        if child.dep_ == "predet" or child.lower_ in _UNNAMED:
            return None
        if child.dep_ == "det":
            determiner = child.lower_
        if child.dep_ == "poss":
            last_of_owner = max(c.i for c in (child, *child.children))
            owner = render(child.left_edge, last_of_owner, referents)
            if owner is None:
                return None
            owner = re.sub(r"['’]s?$", "", owner)
    if not determiner and first.dep_ == "det":
        determiner = first.lower_  # the model hangs "a" of "a team lead" on "team"
    while first.i < token.i and (
        first.lower_ in _ARTICLES or first.dep_ in ("punct", "intj", "cc", "advmod") or first.is_punct
    ) and first.dep_ not in ("amod", "compound"):  # fmt: skip
        if first.dep_ == "advmod" and (first.head != token or first.lower_ in _ROUGHLY):
            break
        first = doc[first.i + 1]
    if first.i and first.lower_ in _AFTER_A and doc[first.i - 1].lower_ == "a":
        first = doc[first.i - 1]
    end = last_of(token) if last is None else last
    given = None
    if owner is not None and token.lemma_.lower() in WORDS["relations"] | WORDS["pets"]:
        given = _given_name(token)
    if given is not None:
        name = render(given.left_edge, given.i, referents)
        return None if name is None else NamedPhrase(name, token, end + 1, determiner, owner, name)
    name = render(first, end, referents)
    if name is None or not any(c.isalnum() for c in name):
        return None
    if any(t.text in _BREAKS and not _is_inside_word(t) for t in doc[first.i : token.i]):
        return None
    return NamedPhrase(name, token, end + 1, determiner, owner)


def _has_article(token: Token) -> bool:
    return any(child.lower_ in ("a", "an", "the") for child in token.lefts)


def _given_name(token: Token) -> Token | None:
    """Return the name that directly follows a noun: "Maria" in "my sister Maria"."""
    for child in token.children:
        between = token.doc[token.i + 1 : child.i]
        if child.dep_ == "appos" and child.pos_ == "PROPN" and all(t.head == child for t in between):
            return child
    return None
