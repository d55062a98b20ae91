"""States whole clauses of which the subject has a name: everything that they say, or nothing.

The other rules know what verbs mean; these know only what a clause must not be. It must be told as true, its subject must
be a proper name, something of a named one ("Anna's husband"), or a description that means one name in the text ("the
company"), and everything that follows the verb must be understood without the sentences around it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.aspects import aspect_for
from worldthread.extract.parsed.clauses import WORDS, Clause, clauses, is_run_on, relative_clauses
from worldthread.extract.parsed.discourse import CODE, Discourse, is_name, is_role, place_of
from worldthread.extract.parsed.facts import LocatedFact, is_time
from worldthread.extract.parsed.phrases import is_pronoun
from worldthread.extract.parsed.probable import is_figure
from worldthread.extract.parsed.validity import TURNS, with_times
from worldthread.extract.prose.words import WORDS as PROSE_WORDS
from worldthread.extract.prose.words import third_person
from worldthread.extract.times import TimeExpression, time_expressions
from worldthread.names import normalise_name
from worldthread.types import Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LONGEST: Final = 24  # words of an object
_SUBORDINATE: Final = frozenset(["advcl", "ccomp", "parataxis", "csubj", "intj", "discourse", "dep", "meta"])
_CONDITIONS: Final = frozenset(["if", "unless", "until", "till", "when", "whenever", "where", "wherever", "once", "whether", "as", "while"])
_DROPPED: Final = frozenset([
    "already", "also", "currently", "finally", "however", "just", "meanwhile", "moreover", "now", "nowadays", "recently", "still",
    "therefore", "today", "too",
])  # fmt: skip
_POINTING: Final = WORDS["pointing"] | frozenset([
    "another", "both", "each", "either", "else", "few", "here", "less", "more", "neither", "other", "others", "same", "so", "such", "that",
    "then", "there", "these", "this", "those", "thus", "too", "later", "earlier", "afterwards", "away", "latter", "instead", "likewise",
    "one", "ones", "first", "second", "third", "next", "last", "again", "rest", "remaining",
])  # fmt: skip
_COUNTED: Final = frozenset(["more", "less", "few", "fewer"])
_KNOWN: Final = frozenset([
    "internet", "web", "world", "sun", "moon", "sky", "sea", "north", "south", "east", "west", "left", "right", "morning", "afternoon",
    "evening", "night", "day", "week", "weekend", "month", "year", "summer", "winter", "spring", "autumn", "end", "beginning", "middle",
    "ground", "police", "army", "navy", "public", "past", "future", "piano", "violin", "guitar", "drums", "cello",
    "flute", "organ", "violoncello", "weather", "time",
])  # fmt: skip
_RELATIONAL: Final = WORDS["vague"] | frozenset([
    "address", "amount", "cause", "command", "count", "default", "directory", "example", "exception", "field", "file", "first", "format",
    "function", "interval", "item", "key", "kind", "length", "limit", "line", "list", "maximum", "message", "method", "minimum", "mode",
    "name", "number", "object", "option", "output", "page", "parameter", "path", "position", "process", "property", "range", "rate",
    "reason", "result", "return", "risk", "row", "rule", "section", "setting", "size", "step", "string", "table", "text", "time", "type",
    "unit", "user", "value", "variable", "version", "width", "word", "year", "column", "argument", "class", "change", "fix", "bug", "patch",
    "author", "branch", "code", "entry", "folder", "header", "host", "region", "error", "event", "input", "instance", "flag", "attribute", "element", "module", "node", "token", "status",
])  # fmt: skip
"""Nouns of which only other sentences say which one is meant, whatever a text describes."""
_WHOLE: Final = frozenset(["app", "appliance", "application", "device", "library", "machine", "package", "product", "program", "project", "software",
                           "tool", "unit"])  # fmt: skip
_EMPTY: Final = WORDS["vague"] | frozenset(["it", "so", "them", "him", "her", "me", "us", "you", "exception", "effect", "sense", "choice", "favour", "favor", "charge", "question", "doubt"])
_INNER: Final = WORDS["attitudes"] | frozenset([
    "add", "apologise", "apologize", "appear", "argue", "blame", "call", "caution", "cite", "comment", "criticise", "criticize", "declare",
    "demand", "describe", "estimate", "joke", "look", "note", "praise", "predict", "project", "quote", "recall", "refuse", "reject", "request",
    "rule", "speculate", "mean", "state", "stress", "tend", "vow", "welcome", "seek", "try", "attempt", "aim", "suffice", "depend", "like", "advise",
    "calculate", "conclude", "discover", "show", "reveal", "tip", "allege", "accuse", "dismiss", "fail", "consider", "acknowledge", "invite",
    "urge", "object", "protest", "want", "intend", "please", "thank", "appreciate",
])  # fmt: skip
_TOLD: Final = frozenset(["announce", "reject", "dismiss", "call", "find", "show", "agree", "see", "refuse", "welcome", "fail"])
"""Verbs among those that also tell a deed where a noun is their object: "has announced a loss"."""
_BEFORE_DEED: Final = frozenset(["use", "plan", "need", "have", "want", "intend", "begin", "start", "continue", "agree", "decide", "stop", "fail", "refuse"])
_FOLLOWING: Final = frozenset(["acomp", "advmod", "agent", "attr", "dative", "dobj", "npadvmod", "oprd", "prep", "prt", "xcomp", "pcomp", "neg", "obl", "nsubj"])
_EMPTY_VERBS: Final = WORDS["light"] | WORDS["empty"] | frozenset(["do", "work", "be", "cry", "phone", "ring", "write", "laugh", "vote"])
_BEGINNING: Final = frozenset(["become", "begin", "expire", "join", "leave", "move", "retire", "return", "start", "succeed", "switch", "take"])
_WAYS: Final = frozenset(["up", "down", "back", "out", "over", "away", "off"])
_WH: Final = frozenset(["WDT", "WP", "WP$", "WRB"])
_MARKS: Final = frozenset(["--", ";", ":", "-", "–", "—", "...", "…", "(", ")", "[", "]", "!", "?", "/", "~", "|", ">", "<", "*", "="])
_YEAR: Final = re.compile(r"(?:1[5-9]|20)\d\d")
_CLOCK: Final = re.compile(r"\d{1,2}(?:[:.]\d\d)?(?: ?[ap]\.?m\.?)?")
_RELATIVE_TIME: Final = re.compile(
    r"\b(?:ago|last|next|this|today|tonight|tomorrow|yesterday|(?:mon|tues|wednes|thurs|fri|satur|sun)day|earlier|later|recently|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|christmas|easter|"
    r"\d{1,2}(?:st|nd|rd|th))\b",
    re.IGNORECASE,
)


class WholeClauses:
    """Reads the clauses of a text, sentence after sentence.

    Args:
        discourse: who is who in the text.
        speaker: the meaning of "I"; ``None`` in a text of which nobody is known to be the writer.
        at: time of the text in seconds since 1970-01-01 UTC; ``None`` or a turn where it has no such time.
        describes: whether the text describes one thing, as documentation does: then "the filter" is a part of it, and
            "backups" are its own.
        is_note: whether the text is a note to oneself, which leaves out articles.
        is_letter: whether the text is no turn of a talk, in which "my dreams" are no news.
        about: what the note is about; ``None`` where it does not say so.
    """

    def __init__(
        self,
        discourse: Discourse,
        speaker: str | None,
        at: float | None,
        *,
        describes: bool = False,
        is_note: bool = False,
        is_letter: bool = True,
        about: str | None = None,
    ) -> None:
        self.discourse = discourse
        self.speaker = speaker
        self.at = at if at is not None and abs(at) >= TURNS else None
        self.describes = describes
        self.is_note = is_note
        self.is_letter = is_letter
        self.about = about

    def read(self, doc: Doc, understood: frozenset[Token] = frozenset()) -> tuple[LocatedFact, ...]:
        """Return the facts of the next sentence.

        Args:
            doc: its dependency tree.
            understood: the verbs of which other rules have stated facts.

        Returns:
            Its facts, each certain.
        """
        if not len(doc):
            return ()
        self.discourse.observe(doc)
        found: list[LocatedFact] = []
        first: str | None = None
        is_quoted = any(t.text in ('"', "``", "''", "“", "”", "«", "»") for t in doc)
        stated = [] if is_quoted or _is_doubtful(doc) else list(clauses(doc))
        for number, clause in enumerate(stated):
            subject = self._subject(clause)
            if number == 0:
                first = subject
            elif clause.subject is not None and clause.subject.lower_ in ("he", "she", "it") and clause.subject != stated[0].subject:
                is_first = first is not None and first != self.speaker and self.discourse.is_possible(first, clause.subject.lower_)
                subject = first if is_first else None  # "The nurse is a boy, she's in love": not who was named before
            if subject is None or clause.verb in understood:
                continue
            found += self._facts(doc, clause, subject)
        if not is_quoted and not _is_doubtful(doc):
            for clause, name in self._inner_clauses(doc):
                found += self._facts(doc, clause, name)
            found += self._appositions(doc)
        if not stated and is_quoted:
            root = next((t for t in doc if t.dep_ == "ROOT"), None)
            named = next((c for c in root.lefts if c.dep_ in ("nsubj", "nsubjpass")), None) if root is not None else None
            first = self._named(named) if named is not None and not is_pronoun(named) else None
        self.discourse.move_on(doc, first, is_told=bool(stated) or is_quoted)
        return tuple(found)

    # -- subjects -----------------------------------------------------------------------------------------------------

    def _subject(self, clause: Clause) -> str | None:
        token = clause.subject
        if token is None:
            if self.about is not None:
                return None  # of whom an interview or a call tells
            return self.speaker if clause.verb.tag_ in ("VBD", "VBN") and any(c.dep_ == "dobj" for c in clause.verb.rights) else None
        if token.dep_ in ("expl", "csubj", "csubjpass") or token.i > clause.verb.i:
            return None
        if any(c.dep_ in ("cc", "conj", "preconj") for c in token.children):
            return self._plural(token) if self.describes else None
        if is_pronoun(token):
            low = token.lower_
            if low == "we" and clause.lemma == "be" and not clause.is_passive and any(c.dep_ in ("attr", "acomp") for c in clause.verb.rights):
                return None  # "we are eleven"
            if low in ("i", "we"):
                return self.speaker
            return self.discourse.pronoun(low) if low in ("he", "she", "it") else None
        return self._named(token)

    def _named(self, token: Token) -> str | None:
        """Return the name of a subject that is no pronoun."""
        doc = token.doc
        appositions = [c for c in token.rights if c.dep_ == "appos" and (is_name(c) or c.text.isupper())]
        if is_name(token) and self.discourse.last_of_name(token) == token.i:
            if any(c.lower_ in ("a", "an", "no", "every", "each", "some", "any") for c in token.lefts if c.dep_ == "det"):
                return None
            owner = next((c for c in token.lefts if c.dep_ == "poss"), None)
            if owner is not None:
                return self._owned(token, owner)
            if token.lemma_.lower().removesuffix("s") in WORDS["times"]:
                return None
            of = [c for c in token.rights if c.dep_ == "prep" and c.lower_ in ("of", "in", "at")]
            name = self.discourse.name_at(token)
            if of and name is not None:
                last = of[-1].right_edge
                if of[-1].right_edge.i > token.i + 6 or not is_name(last):
                    return None
                name = doc[doc[token.left_edge.i].i + (doc[token.left_edge.i].dep_ == "det") : last.i + 1].text
            return name
        if len(appositions) == 1 and not any(c.lower_ in ("a", "an") for c in appositions[0].lefts):
            return self.discourse.name_at(doc[self.discourse.last_of_name(appositions[0])])
        owner = next((c for c in token.lefts if c.dep_ == "poss"), None)
        if owner is not None and token.tag_ in ("NN", "NNS"):
            return self._owned(token, owner)
        if token.tag_ not in ("NN", "NNS"):
            return None
        determiner = next((c.lower_ for c in token.lefts if c.dep_ == "det"), "")
        if determiner in ("", "the") and token.i and is_name(token.nbor(-1)) and token.nbor(-1).dep_ == "compound" and token.tag_ == "NN":
            words = [t for t in doc[token.left_edge.i : token.i + 1] if t.dep_ != "det"]
            if not any(c.dep_ in ("prep", "acl") for c in token.rights) and self._is_clean(words):
                named = " ".join(t.text for t in words)  # "the Rio Blanco reservoir"
                return self._anchored(named) if self.describes and determiner == "" and token.lower_ != words[0].lower_ else named
        if determiner == "the" and token.tag_ == "NN":
            name = self.discourse.described(token)
            if name is not None:
                return name
        place = [c for c in token.rights if c.dep_ == "prep" and c.lower_ in ("of", "in", "at", "on", "for")]
        if determiner in ("the", "a", "an") and len(place) == 1 and token.tag_ == "NN" and not any(c.dep_ in ("relcl", "acl", "appos") for c in token.rights):
            words = [t for t in doc[token.left_edge.i : place[0].right_edge.i + 1] if t.head != token or t.dep_ != "det"]
            if is_name(words[-1]) and words[-1].lower_ not in WORDS["times"] and self._is_clean(words) and len(words) < 10:
                return self._text(words, None)  # "the airport of Siro", "a court in Tallinn"
        if self.is_note and determiner == "":
            return self._telegraphic(token)
        if not self.describes:
            return None
        return self._part(token, determiner) if determiner == "the" else self._plural(token)

    def _telegraphic(self, token: Token) -> str | None:
        """Return "garage rent" of a note, which leaves out "my" and "the"."""
        words = self._noun(token)
        if words is None or (self.about is None and " " not in words):
            return None
        if token.lemma_.lower() in WORDS["vague"] or token.head.tag_ == "VBN" and token.dep_ == "nsubj":
            return None
        return words if self.about is None else f"{words} ({self.about})"

    def _owned(self, token: Token, owner: Token) -> str | None:
        """Return the name of something that belongs to a name: "Elena Markovic's husband"."""
        names = [c for c in token.rights if c.dep_ == "appos" and is_name(c)]
        if names:
            return self.discourse.name_at(token.doc[self.discourse.last_of_name(names[0])])
        if any(c.dep_ in ("relcl", "acl", "appos") for c in token.rights) or token.lemma_.lower() in WORDS["vague"]:
            return None
        if is_pronoun(owner):
            low = owner.lower_
            if low in ("my", "our"):
                is_kin = token.lemma_.lower() in WORDS["relations"] | WORDS["pets"]
                name = self.speaker if self.is_letter or is_kin else None
            elif low in ("his", "her", "its"):
                name = self.discourse.pronoun(low)
            else:
                name = None
        else:
            name = self._named(owner) if is_name(owner) or owner.tag_ == "NN" else None
        if name is None:
            return None
        last = token.i
        following = [c for c in token.rights if c.dep_ == "prep"]
        if following:
            last = following[-1].right_edge.i
        words = [t for t in token.doc[owner.i + 1 : last + 1] if t.dep_ != "case" or t.i != owner.i + 1]
        if not words or not self._is_clean(words) or any(t.dep_ == "det" and t.lower_ == "the" for t in words):
            return None
        text = self._text(words, None)
        if text is None or text.startswith("'") or "'s" in name[-3:]:
            return None
        return f"{text} of {name}" if name.endswith(")") else f"{name}'s {text}"

    def _part(self, token: Token, determiner: str) -> str | None:
        """Return "the filter" of a thing that the text describes as a part of it."""
        words = self._noun(token)
        if words is None or token.lemma_.lower() in _RELATIONAL:
            return None
        main = self.discourse.main
        if main is not None and token.lemma_.lower() in _WHOLE and words == token.lower_:
            return main
        return self._anchored(words)

    def _plural(self, token: Token) -> str | None:
        """Return "backups" as those of the thing that the text describes."""
        words = self._noun(token) if token.tag_ == "NNS" else None
        return None if words is None or token.lemma_.lower() in _RELATIONAL else self._anchored(words)

    def _anchored(self, words: str) -> str | None:
        """Return the words for a part with what it is a part of; ``None`` where the text does not say that."""
        topic = self.discourse.topic
        main = self.discourse.main or (place_of(topic) if topic is not None else None)
        return None if main is None else f"{words} ({main})"

    def _noun(self, token: Token) -> str | None:
        """Return the words of a subject without its article, if all of them are clear."""
        if token.lemma_.lower() in WORDS["vague"] or any(c.dep_ in ("relcl", "appos", "poss") for c in token.children):
            return None
        words = [t for t in token.subtree if not (t.head == token and t.dep_ == "det")]
        if CODE.fullmatch(words[0].text) and len(words) > 1:
            return None
        if words[-1].i - words[0].i + 1 != len(words) or not self._is_clean(words) or len(words) > 8:
            return None
        text = self._text(words, None)
        return None if text is None else text[0].lower() + text[1:] if not is_name(words[0]) and not text[1:2].isupper() else text

    # -- what is said -----------------------------------------------------------------------------------------------------

    def _inner_clauses(self, doc: Doc) -> list[tuple[Clause, str]]:
        """Return the relative clauses that tell more of a name: "Hanne Dahl, who led the study"."""
        found = []
        for clause in relative_clauses(doc):
            noun = clause.verb.head
            if noun.dep_ == "pobj" and noun.head.head.pos_ in ("NOUN", "PROPN") and not self.discourse.is_person(noun.text):
                continue  # "the samples from the Azores, which are at customs"
            is_named = is_name(noun) or any(is_name(c) and c.dep_ in ("appos", "compound") for c in noun.children)
            name = self._named(noun) if is_named else None
            is_plural = noun.tag_ not in ("NNS", "NNPS") and any(t.lower_ in ("are", "were", "have") for t in (clause.verb, *clause.verb.lefts))
            if name is not None and not is_plural and doc[clause.verb.left_edge.i - 1].text == ",":
                found.append((clause, name))
        return found

    def _appositions(self, doc: Doc) -> list[LocatedFact]:
        """Return what is said of names beside them: "Kestrel Foods, the maker of biscuits", "Vos, 51,", "the poet Ann Lee"."""
        found: list[Fact] = []
        if not any(t.dep_ == "ROOT" and (t.tag_ in ("VBZ", "VBP", "VBD") or any(c.dep_ in ("aux", "auxpass") for c in t.children)) for t in doc):
            return []
        for token in doc:
            if not is_name(token) or self.discourse.last_of_name(token) != token.i:
                continue
            name = self.discourse.name_at(token)
            if name is None or CODE.fullmatch(name):
                continue
            following = doc[token.i + 1 : token.i + 4]
            if len(following) > 2 and following[0].text == "," and following[1].text.isdigit() and following[2].text in (",", "."):
                if 0 < int(following[1].text) < 110 and self.discourse.is_person(name):
                    found.append(Fact(name, "has age", following[1].text))
                continue
            for noun in token.rights:
                if noun.dep_ == "appos" and noun.tag_ == "NN" and doc[noun.left_edge.i - 1].text == ",":
                    found += self._is_a(name, noun, noun.right_edge.i)
            before = doc[self._begin_of(token) - 1] if self._begin_of(token) else None
            if before is not None and before.tag_ == "NN" and before.text.islower() and before.text.isalpha():
                first = before.i
                while first and (doc[first - 1].dep_ in ("compound", "amod") and doc[first - 1].tag_ in ("NN", "JJ", "NNP")):
                    first -= 1
                article = doc[first - 1].lower_ if first else ""
                words = list(doc[first : before.i + 1])
                noun = before.lower_
                if article == "the" and before.lemma_.lower() not in _RELATIONAL and (is_role(noun) or (self.discourse.described(before) == name and not self.speaker)) and self._is_clean(words):
                    found.append(Fact(name, "is a", self._text(words, name) or ""))
            owned = token.dep_ == "appos" and token.head.tag_ == "NN" and next((c for c in token.head.lefts if c.dep_ == "poss"), None)
            if owned and is_pronoun(owned) and owned.i:
                continue
            if owned and token.head.lemma_.lower() in PERSONAL and not self.discourse.is_thing(name) and owned.lower_ != "my":
                owner = self.discourse.pronoun(owned.lower_) if is_pronoun(owned) else self._named(owned)
                words = list(doc[owned.right_edge.i + 1 : token.head.i + 1])
                if owner is not None and self._is_clean(words):
                    found.append(Fact(owner, f"has {self._text(words, owner)}", name))
        root = next((t for t in doc if t.dep_ == "ROOT"), doc[0])
        nowhere = Clause(root, None, root.lemma_.lower(), (), "", False, False, False, False, "")
        return [LocatedFact(replace(f, aspect=aspect_for(f)), nowhere, is_certain=True) for f in found if f.object]

    def _begin_of(self, token: Token) -> int:
        begin: int = token.i
        while begin and is_name(token.doc[begin - 1]):
            begin -= 1
        return begin

    def _is_a(self, name: str, noun: Token, last: int) -> list[Fact]:
        article = next((c.lower_ for c in noun.lefts if c.dep_ == "det"), "")
        if noun.lemma_.lower() in WORDS["vague"] or any(c.dep_ in ("conj", "cc", "relcl") for c in noun.rights):
            return []
        if last + 1 < len(noun.doc) and noun.doc[last + 1].text not in (",", ".", ")", ";") and noun.doc[last].text not in (",", "."):
            return []
        words = [t for t in noun.doc[noun.left_edge.i : last + 1] if not (t.head == noun and t.dep_ == "det")]
        while words and (words[-1].is_punct or words[-1].dep_ == "punct"):
            words.pop()
        if not words or not self._is_clean(words) or not self._is_known(words) or len(words) > 12:
            return []
        has_of = any(c.dep_ == "prep" for c in noun.rights)
        if article in ("the", "") and not has_of and not any(is_name(w) for w in words):
            return []
        if article == "" and not is_role(noun.lemma_.lower()) and noun.lemma_.lower() not in PERSONAL | {"chair", "leader", "mayor", "author"}:
            return []
        text = self._text(words, name)
        return [] if text is None or name in text else [Fact(name, "is a" if article in ("a", "an") else "is", text)]

    def _facts(self, doc: Doc, clause: Clause, subject: str) -> list[LocatedFact]:
        """Return what a clause says of a named subject; nothing where it is not whole."""
        verb = clause.verb
        is_denied = bool(clause.negation)
        if is_denied and not (self.describes and clause.auxiliaries == ("do",) and not clause.is_past and "not" in clause.negation.replace("n't", "not")):
            return []
        if not _is_plain(clause, is_denied=is_denied) or is_figure(verb):
            return []
        lead = self._lead(clause)
        if lead is None:
            return []
        words, deed = self._words(clause)
        if words is None:
            return []
        if verb.lower_ in WORDS["same_past"] and verb.tag_ in ("VBP", "VB") and not clause.auxiliaries:
            if clause.subject is None or clause.subject.lower_ in ("i", "we") or clause.subject.tag_ in ("NNS", "NNPS"):
                return []  # "I quit smoking": now or then?
            clause = replace(clause, is_past=True)
        relation = self._relation(clause, deed)
        if relation is None:
            return []
        times = self._times(doc, clause)
        spans = {t.i for time in times if (s := doc.char_span(time.start, time.end, alignment_mode="expand")) is not None for t in s}
        is_lasting = not (clause.is_past or clause.is_perfect)
        direct = [c for c in (*verb.children, *(deed.children if deed is not None else ())) if c.dep_ in ("npadvmod", "prep", "advmod")]
        timed = {
            t
            for c in direct
            if c.i > verb.i and (is_time(c) or all(t.i in spans or t.dep_ == "prep" for t in c.subtree))
            and not (is_lasting and (self.at is None or self.describes or not spans & {t.i for t in c.subtree}))
            for t in c.subtree
        }  # fmt: skip
        rest = [t for t in words if t not in timed]
        dated = [t for t in words if t in timed]
        if not rest and dated:
            return self._of_time(doc, clause, subject, relation, dated, times)
        absolute = " ".join(t.text for t in dated)
        found = self._fact(doc, clause, subject, relation, rest)
        if found is None:
            return []
        has_time = any(t.i in spans for t in rest) and not (is_lasting and self.describes)
        if has_time and not dated and not lead and self.at is not None:
            placed = with_times(doc, (found,), self.at, _verbs(doc))[0]
            is_dated = placed.fact.valid_from is not None or placed.fact.valid_to is not None
            if is_dated and placed.fact.object != found.fact.object:
                is_past = clause.is_past or clause.is_perfect
                is_right = (placed.fact.valid_from or 0) <= self.at if is_past else not _is_over(clause, placed.fact, self.at)
                return [placed] if is_right else []
        if dated or lead:
            if self.at is not None:
                placed = with_times(doc, (found,), self.at, _verbs(doc))[0]
                is_dated = placed.fact.valid_from is not None or placed.fact.valid_to is not None
                if clause.lemma == "be" and found.fact.object.replace("-", "").isalnum() and not clause.is_past:
                    placed = placed._replace(fact=replace(placed.fact, valid_to=None))  # "I'm forty-six today"
                if clause.is_perfect and any(t.role == "at" and t.precision not in ("year",) for t in times) and not lead and not clause.is_passive and found.fact.valid_from is None and placed.fact.valid_to is None and clause.lemma not in WORDS["states"] and _follows_noun(dated):
                    return []  # "has qualified for the championships in July"
                is_open = clause.is_past and (placed.fact.valid_to or 0) > self.at  # "had a contract until 2026"
                if clause.lemma.partition(" ")[0] in _BEGINNING and placed.fact.valid_to is not None and not clause.is_past:
                    placed = placed._replace(fact=replace(placed.fact, valid_to=None))
                if is_dated and not is_open and not _is_over(clause, placed.fact, self.at):
                    return [placed]
                if is_dated:
                    return []
            if lead:
                return []
            if _RELATIVE_TIME.search(absolute) and _YEAR.search(absolute) is None and not absolute.lower().startswith(("every", "on")):
                return []
            whole = self._fact(doc, clause, subject, relation, words)
            return [] if whole is None else [whole]
        return [found]

    def _of_time(
        self, doc: Doc, clause: Clause, subject: str, relation: str, dated: list[Token], times: list[TimeExpression]
    ) -> list[LocatedFact]:
        """Return what only a time completes: "died in 2021", "was built in 1934"."""
        text = " ".join("".join(t.text_with_ws for t in dated).split())
        if clause.lemma == "be" and not clause.is_passive:
            return []
        if dated[0].dep_ == "prep":
            relation, text = f"{relation} {dated[0].lower_}", " ".join(text.split()[1:])
        located = LocatedFact(Fact(subject, relation, text or "-"), clause, is_certain=True)
        if text and _YEAR.search(text):
            if self.at is None:
                return [located]
            placed = with_times(doc, (located,), self.at, _verbs(doc))[0]
            return [placed._replace(fact=replace(placed.fact, object=text))]
        roles = ("at",) if not _is_lasting(clause) else ("at", "since", "until")
        known = [t for t in times if t.role in roles and t.precision in ("day", "day part", "minute", "month") and (t.valid_from or t.valid_to) is not None]
        spans = [doc.char_span(t.start, t.end, alignment_mode="expand") for t in known]
        own = [t for t, s in zip(known, spans, strict=True) if s is not None and s.root in dated]
        if self.at is None or len(own) != 1 or clause.lemma.partition(" ")[0] in _EMPTY_VERBS:
            return []
        role, precision, begin, end = own[0].role, own[0].precision, own[0].valid_from, own[0].valid_to
        moment = begin if begin is not None else (end or 1) - 1
        if (moment > self.at) == clause.is_past:
            return []
        shown = f"{datetime.fromtimestamp(moment, UTC):{'%Y-%m' if precision == 'month' else '%Y-%m-%d'}}"
        preposition = ("in" if precision == "month" else "on") if role == "at" else "from" if role == "since" else "until"
        relation = f"{self._relation(clause, None) or relation} {preposition}"
        return [LocatedFact(Fact(subject, relation, shown, None, begin, end if role == "until" else None), clause, is_certain=True)]

    def _fact(self, doc: Doc, clause: Clause, subject: str, relation: str, words: list[Token]) -> LocatedFact | None:
        while words and (words[-1].is_punct or words[-1].dep_ == "punct" or words[-1].lower_ in _DROPPED | {"and", "but", "or"}):
            words = words[:-1]
        particle = clause.lemma.partition(" ")[2]
        while words and (words[0].dep_ == "punct" or words[0].lower_ in _DROPPED or (words[0].lower_ == particle and words[0].head == clause.verb)):
            words = words[1:]
        if not words or len(words) > _LONGEST:
            return None
        if clause.lemma == "be" and not clause.is_passive:
            following = words[0]
            if following.lower_ in ("a", "an") and following.dep_ == "det":
                relation, words = f"{relation} a", words[1:]
            elif following.lower_ == "the" and following.dep_ == "det":
                if not self._is_known(words):
                    return None
            if not words or words[0].lower_ in WORDS["vague"] or (len(words) == 1 and words[0].tag_ in ("RB", "IN")):
                return None
            attribute = next((c for c in clause.verb.rights if c.dep_ in ("attr", "acomp")), None)
            is_bare = not any(t.dep_ in ("prep", "xcomp", "npadvmod") for t in words)
            if attribute is not None and attribute.dep_ == "acomp" and is_bare and attribute.lemma_.lower() not in WORDS["lasting_adjectives"] | _MEASURED:
                return None
        if clause.is_passive and len(words) > 2 and words[0].tag_ in ("IN", "RP", "RB") and words[1].dep_ in ("agent", "prep") and words[1].lower_ == "by":
            relation, words = f"{relation} {words[0].lower_} by", words[2:]  # "is looked after by"
        if words[0].tag_ in ("RP", "RB") and len(words) > 2 and words[1].tag_ in ("IN", "TO") and words[0].lower_ in _WAYS and words[0].head == clause.verb:
            relation, words = f"{relation} {words[0].lower_} {words[1].lower_}", words[2:]  # "go up to"
        if words[0].dep_ in ("prep", "agent") and len(words) > 1 and clause.verb.i < words[0].i and words[0].tag_ in ("IN", "TO"):
            if not relation.split()[-1] in WORDS["prepositions"]:
                relation, words = f"{relation} {words[0].lower_}", words[1:]
            if words[0].tag_ in ("IN", "TO") and words[0].lower_ not in ("about", "around", "over", "under"):
                return None
        is_anchored = (self.describes or self.is_note) and ("(" in subject or subject == self.discourse.main)
        if not self._is_clean(words) or not self._is_known(words, is_anchored=is_anchored):
            return None
        is_cut = words[-1].i + 1 < len(doc) and doc[words[-1].i + 1].text in _MARKS - {".", "!", ";"}
        if is_cut and words[-1].tag_.startswith("VB"):
            return None
        if words[-1].tag_ in ("IN", "TO", "DT", "CC", "PRP$") or (words[-1].dep_ == "prep"):
            return None
        if len(words) == 1 and words[0].tag_ == "CD" and clause.lemma != "be" and words[0].i and words[0].nbor(-1).lower_ in ("at", "from", "by"):
            return None  # "I start at six"
        if any(_is_passing(t) for t in words) or _is_choice(words):
            return None
        if clause.lemma == "be" and relation.split()[-1] in ("above", "below", "ahead") or " back" in relation and clause.lemma.startswith("be"):
            return None
        if clause.lemma == "be" and not self.describes and words[0].lower_ in ("back", "above", "below", "yes", "no", "due", "home"):
            return None
        if all(t.tag_ in ("RB", "IN", "RP", "DT", "CC", "PRP") for t in words):
            return None
        if words[0].lower_ in ("a", "an") and words[0].dep_ == "det" and len(words) > 1:
            words = words[1:]
        if not relation.split()[-1] in WORDS["prepositions"] and all(_YEAR.fullmatch(t.text) for t in words):
            return None  # "bought 1996"
        text = self._text(words, subject)
        text = None if text is None else text.removeprefix("the ")
        if text is None or not any(c.isalnum() for c in text) or text.lower() in _EMPTY or normalise_name(text) == normalise_name(subject):
            return None
        if text.count("(") != text.count(")") or text.startswith(f"{subject} "):
            return None
        fact = Fact(subject, relation, text)
        return LocatedFact(replace(fact, aspect=aspect_for(fact)), clause, is_certain=True)

    def _lead(self, clause: Clause) -> bool | None:
        """Return whether a time stands before the subject; ``None`` where anything else does."""
        subject = clause.subject
        head = clause.verb
        while head.dep_ == "conj":
            head = head.head
        has_time = False
        if clause.verb.dep_ == "relcl" or subject is None:
            return False
        for child in head.lefts:
            if child.i >= subject.i or child.dep_ in ("punct", "cc", "aux", "auxpass"):
                continue
            if child.lower_ in _DROPPED and child.dep_ == "advmod":
                continue
            if is_run_on(child, head):
                continue
            if child.dep_ == "nsubj" and child.i + 1 == subject.left_edge.i:
                continue  # "the option `--quiet`"
            if is_time(child) or (child.dep_ in ("prep", "npadvmod") and any(t.lemma_.lower() in WORDS["times"] or _YEAR.fullmatch(t.text) for t in child.subtree)):
                if head == clause.verb:
                    has_time = True
                continue
            return None
        return has_time

    def _words(self, clause: Clause) -> tuple[list[Token] | None, Token | None]:
        """Return the words after the verb that belong to the clause, and an infinitive that goes with the verb."""
        verb = clause.verb
        deed: Token | None = None
        if clause.lemma.partition(" ")[0] in _BEFORE_DEED:
            deed = next((c for c in verb.rights if c.dep_ == "xcomp" and c.tag_ == "VB" and any(t.lower_ == "to" and t.i in (verb.i + 1, c.i - 1) for t in c.lefts)), None)
        start = verb if deed is None else deed
        end = start.i
        limit = len(verb.doc)
        children = sorted((c for c in (*verb.rights, *(deed.rights if deed is not None else ())) if c.i > start.i), key=lambda t: t.i)
        for child in children:
            if child.i >= limit:
                break
            if child.dep_ in ("conj", "cc") or is_run_on(child, verb):
                limit = min(limit, child.left_edge.i)
                break
            if child.dep_ == "punct":
                if child.text in (";", ":", "-", "–", "—", "("):
                    limit = child.i
                    if child.text in (":", "("):
                        return None, None
                continue
            if child.dep_ == "advcl" or (child.dep_ == "prep" and any(c.dep_ == "pcomp" for c in child.children) and child.lower_ in ("after", "before", "without", "by", "despite", "since")):
                marks = {c.lower_ for c in child.children if c.dep_ in ("mark", "advmod") and c.i < child.i} | {child.lower_ if child.dep_ == "prep" else ""}
                if marks & _CONDITIONS and not (marks & {"as", "while", "when", "where"} and clause.is_past):
                    return None, None
                limit = child.left_edge.i
                break
            if child.dep_ == "xcomp" and child != deed and clause.lemma.partition(" ")[0] not in _BEFORE_DEED | {"help", "let", "make", "get"}:
                return None, None
            if child.dep_ not in _FOLLOWING or child.dep_ == "nsubj":
                return None, None
            end = child.right_edge.i
        words = [t for t in verb.doc[start.i + 1 : min(end + 1, limit)]]
        return self._trimmed(words, start), deed

    def _trimmed(self, words: list[Token], start: Token) -> list[Token] | None:
        """Return words without what follows a comma and only tells more: a relative clause, an apposition, "like ..."."""
        kept: list[Token] = []
        for position, token in enumerate(words):
            if token.text in ("(", "[") :
                closing = next((t.i for t in words[position:] if t.text in (")", "]")), None)
                if closing is None or closing != words[-1].i and words[-1].text != ".":
                    return None
                break
            if token.text == "," and position + 1 < len(words):
                inner = next((t for t in words[position + 1 :] if t.head.i < token.i and t.dep_ not in ("punct", "cc")), None)
                if inner is None:
                    return None
                if inner.dep_ in ("relcl", "acl", "appos", "advcl", "prep", "advmod", "npadvmod", "ccomp") and not _is_numeric_comma(token):
                    if inner.dep_ == "appos" and is_name(inner) and inner.left_edge.i == token.i + 1 and inner.right_edge == words[-1]:
                        kept.append(token)
                        continue
                    if any(t.dep_ == "conj" and t.head in kept for t in words[position:]):
                        return None
                    break
                if inner.dep_ == "conj" and not any(t.dep_ == "cc" for t in words[position:]) :
                    return None
            kept.append(token)
        if any(t.dep_ in _SUBORDINATE and t.head in kept + [start] and t.dep_ != "advcl" for t in kept):
            return None
        if any(t.dep_ == "advcl" for t in kept):
            return None
        return kept

    def _relation(self, clause: Clause, deed: Token | None) -> str | None:
        verb = clause.verb
        chain = [verb]
        while chain[-1].dep_ == "conj" and chain[-1].head.pos_ in ("VERB", "AUX"):
            chain.append(chain[-1].head)
        words: list[str] = []
        own = [c for c in verb.children if c.dep_ in ("aux", "auxpass") and c.i < verb.i]
        for link in chain if not own and verb.tag_ in ("VBN", "VBG") and clause.auxiliaries else [verb]:
            own = [c for c in link.children if c.dep_ in ("aux", "auxpass") and c.i < link.i]
            if own:
                break
        first = chain[-1]
        if not own and verb.tag_ in ("VBN", "VBD") and verb != first and not any(c.dep_ in ("dobj", "nsubj", "nsubjpass") for c in verb.children):
            own = [c for c in first.children if c.dep_ in ("aux", "auxpass") and any(o.dep_ == "auxpass" for o in first.children)]
        for auxiliary in own:
            low = auxiliary.lower_.replace("’", "'")
            words.append({"'s": "has" if clause.is_perfect or "been" in [c.lower_ for c in own] else "is", "'ve": "has", "'re": "is", "'m": "is", "am": "is"}.get(low, low))
        for child in verb.lefts:
            if child.dep_ == "advmod" and child.lower_ not in _DROPPED and (clause.subject is None or child.i > clause.subject.i):
                if child.lower_ in _POINTING or not child.text.isalpha() or any(True for _ in child.children):
                    return None
                words.append(child.lower_)
        is_first = clause.subject is None or clause.subject.lower_ in ("i", "we")
        form = verb.lower_
        if form in ("'s", "’s", "'m", "'re", "am", "’m", "’re") or (is_first and form == "are"):
            form = "is"
        elif is_first and form == "were":
            form = "was"
        elif is_first and verb.tag_ in ("VBP", "VB") and not own:
            form = third_person(form)
        if is_first:
            words = [{"have": "has", "are": "is", "do": "does", "were": "was"}.get(w, w) for w in words]
        if clause.negation:
            words = ["does not" if any(True for w in words if w in ("does", "do")) else "is not"]
        words.append(form)
        particle = clause.lemma.partition(" ")[2]
        if particle:
            words.append(particle)
        if deed is not None:
            words += ["to", deed.lower_]
        return " ".join(words)

    def _times(self, doc: Doc, clause: Clause) -> list[TimeExpression]:
        if self.at is None:
            return []
        return time_expressions(doc.text, self.at, is_past=clause.is_past or clause.is_perfect)

    # -- words ---------------------------------------------------------------------------------------------------------------

    def _is_clean(self, words: list[Token]) -> bool:
        """Return whether words have no marks, questions or pointers in them."""
        for token in words:
            low = token.lower_
            if token.text in ("'", "‘", "’", "`") and token.tag_ != "POS":
                return False
            if token.text in _MARKS and (token.whitespace_ or not token.i or token.nbor(-1).whitespace_):
                return False
            if token.tag_ in _WH and not any(a.dep_ == "relcl" and a in words for a in token.ancestors):
                return False
            if token.dep_ == "relcl" and not (token.tag_ in ("VBZ", "VBP", "VBD", "VBN") and token.right_edge in words):
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
        """Return whether a word counts rather than points: "more than eight million", "one of its plants", "three times"."""
        low = token.lower_
        if low in ("newer", "later", "higher", "older", "above", "below"):
            return token.i > 0 and token.nbor(-1).lower_ == "or"
        if low in ("more", "less", "fewer"):
            return token.i + 1 < len(token.doc) and token.nbor().lower_ == "than" and token.i + 2 < len(token.doc) and token.nbor(2).like_num
        if low in ("first", "second", "third", "last", "next"):
            return token.dep_ == "amod" and (any(c.dep_ == "prep" for c in token.head.rights) or is_time(token.head) or any(c.dep_ == "poss" for c in token.head.lefts))
        if low == "one":
            return token.dep_ == "nummod" or token.nbor().lower_ == "to" or any(c.lower_ == "of" for c in token.rights)
        if low == "that":
            return token.dep_ in ("mark", "nsubj", "dobj", "nsubjpass") and any(a.dep_ == "relcl" for a in token.ancestors)
        if low in ("this", "last", "next", "each"):
            return is_time(token.head)
        if low in ("each",):
            return token.dep_ == "det"
        return low == "same" and False

    def _is_known(self, words: list[Token], *, is_anchored: bool = False) -> bool:
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
            if any(is_name(c) for c in noun.children if c.dep_ in ("compound", "appos", "poss", "nmod")) or noun.tag_ in ("JJS", "CD"):
                continue
            if any(c.dep_ in ("prep", "relcl", "acl", "poss") and c in words for c in noun.children):
                continue
            if any(c.tag_ in ("JJS", "RBS") or c.lower_ in ("only", "first", "last") for c in noun.children):
                continue
            if noun.tag_ == "NN" and self.discourse.described(noun) is not None:
                continue
            if is_anchored and noun.tag_ in ("NN", "NNS"):
                continue
            if (self.is_note or self.speaker) and any(c.dep_ == "compound" for c in noun.lefts):
                continue  # "the harbour pilot", "the platform team": its reader knows
            if any(c.dep_ in ("amod", "compound", "nummod") and c.text[:1].isupper() for c in noun.lefts):
                continue
            return False
        return True

    def _text(self, words: list[Token], subject: str | None) -> str | None:
        """Return words as they are shown, with names in place of pronouns."""
        if not words:
            return None
        parts: list[str] = []
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
            if parts and token.i and token.nbor(-1).lower_ == "the" and token.nbor(-1) in words and token.nbor(-1).head == token:
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
        is_alone = is_name(token) and not (token.i + 1 < len(token.doc) and is_name(token.nbor())) and self.discourse.last_of_name(token) == token.i and self._begin_of(token) == token.i
        name = self.discourse.name_at(token) if is_alone and token.dep_ in ("dobj", "pobj", "attr", "poss", "dative") else None
        is_longer = name is not None and token.text in name.split() and " of " not in name and not any(c.isdigit() for c in name)
        return name if is_longer and name is not None else token.text

    def _meaning(self, token: Token, subject: str | None) -> str | None:
        """Return whom a pronoun after the verb means: its own subject, where nobody else can be meant."""
        low = token.lower_
        if low in ("i", "me", "my", "myself", "us", "our"):
            return self.speaker
        if subject is None:
            return None
        if low in ("its", "his", "her", "himself", "herself", "itself"):
            if subject == self.speaker or not self.discourse.is_possible(subject, low):
                return None
            if token.tag_ == "PRP" and low == "her":
                return None
            return subject if "(" not in subject else low if token.tag_ == "PRP$" else None
        return None


_PASSING: Final = PROSE_WORDS["weekdays"] | frozenset(["today", "tomorrow", "tonight", "yesterday"])
_MEASURED: Final = frozenset(["long", "high", "wide", "deep", "tall", "old", "free", "open", "closed", "optional", "deprecated", "encrypted",
                              "available", "experimental", "compulsory", "mandatory", "vacant", "stable", "read-only"])  # fmt: skip
PERSONAL: Final = WORDS["relations"] | frozenset(["director", "executive", "minister", "manager", "spokesman", "spokeswoman", "chairman", "chairwoman", "editor", "founder",
                                                  "president", "captain", "keeper", "coach", "head", "owner", "widow"])  # fmt: skip


def _is_doubtful(doc: Doc) -> bool:
    text = doc.text
    return text.rstrip("\"'”’»)] ").endswith(("?", ":")) or len(doc) > 60


def _is_plain(clause: Clause, *, is_denied: bool) -> bool:
    """Return whether a clause tells something as true: no modal verb, no attitude, no earlier past."""
    if clause.lemma == "be back" or (clause.is_perfect and clause.is_progressive):
        return False
    if clause.modal or (clause.is_past and (clause.is_perfect or clause.is_progressive)):
        return False
    verb = clause.verb
    lemma = clause.lemma.partition(" ")[0]
    if (verb.tag_ == "VB" and not is_denied) or not verb.text.replace("'", "").replace("’", "").replace("-", "").isalpha():
        return False
    if lemma in _INNER and not (lemma in _TOLD | _BEFORE_DEED and any(c.dep_ in ("dobj", "xcomp") for c in verb.rights)) and not clause.is_passive:
        return False
    if clause.is_passive and lemma in WORDS["attitudes"] | {"intend", "supply", "suppose", "rule", "describe"} - {"announce"} and lemma != "describe":
        return False
    if any(c.dep_ in ("ccomp", "expl", "csubj", "dep") and not is_run_on(c, verb) for c in verb.children):
        return False
    if lemma == "be" and not clause.is_passive and any(c.dep_ == "xcomp" or (c.tag_ == "TO") for c in verb.rights):
        return False
    return True


def _follows_noun(dated: list[Token]) -> bool:
    """Return whether a time stands after a noun that it may belong to."""
    return bool(dated) and dated[0].i > 0 and dated[0].nbor(-1).pos_ in ("NOUN", "PROPN")


def _is_lasting(clause: Clause) -> bool:
    """Return whether a clause tells a state of which a time says since when or until when: "is closed until Monday"."""
    return clause.is_passive and not clause.is_past


def _is_passing(token: Token) -> bool:
    """Return whether a word names a day that is another one tomorrow: "Thursday", "tomorrow"."""
    return token.lower_ in _PASSING and not (token.i and token.nbor(-1).lower_ in ("every", "each"))


def _is_choice(words: list[Token]) -> bool:
    """Return whether an object is one of two things, and it is not said which."""
    return any(t.lower_ in ("or", "nor", "either") and t.dep_ in ("cc", "preconj") and t.i and t.nbor(-1).text == "," for t in words)


def _verbs(doc: Doc) -> frozenset[Token]:
    """Return the heads of all clauses that are joined to the main one."""
    return frozenset(t for t in doc if t.pos_ in ("VERB", "AUX") and t.dep_ in ("ROOT", "conj"))


def _is_over(clause: Clause, fact: Fact, at: float) -> bool:
    """Return whether a fact in the present is over, so that its time was misunderstood."""
    is_present = not (clause.is_past or clause.is_perfect)
    return is_present and fact.valid_to is not None and fact.valid_to <= at


def _is_numeric_comma(token: Token) -> bool:
    return token.i > 0 and token.nbor(-1).like_num and token.i + 1 < len(token.doc) and token.nbor().like_num
