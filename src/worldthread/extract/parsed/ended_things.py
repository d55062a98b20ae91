"""Finds things that a sentence says are over, whatever they are: "the tour is off", "no more beer", "that's it for me".

What the thing is to somebody (a plan, a club, an illness) is not known from the sentence; the memory knows it. So a
change found here ends facts of any family, as long as they are about the thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.change_tables import KIN, WORDS
from worldthread.extract.parsed.clauses import Clause
from worldthread.extract.parsed.events import Change, antecedent, speaker_of
from worldthread.extract.parsed.mentions import Mention, conjuncts, is_coarse_time, mention_of, stem
from worldthread.extract.prose.phrases import Referents

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_NOUN: Final = r"(?P<noun>(?:(?:my|our|the|this|that|those|these) )?[\w'&+-]{1,40}(?: [\w'&+-]{1,40}){0,3}?)"
_ENDED: Final = r"(?:over|done|gone|cancelled|canceled|finished|history|off|scrapped|sold|no more)"
_BEGIN: Final = r"(?:^|[,;:!–—] )"
_BREAK: Final = (
    r"(?= for (?:me|us|now|good)\b| (?:after all|any ?more|this|now|from|since|then|and|but|until|till)\b|"
    r"\W*$|[,.;:!–—])"
)
_SINCE: Final = r"(?=\W*$|[,;:!–—]| (?:at last|finally|yesterday|today|this|last|now|because|due))"
_FAREWELL: Final = r"(?:so much for|rip|r\.i\.p\.|farewell|goodbye|good-bye|bye-bye|bye bye|adios|adieu|ciao)"
_END_OF: Final = r"(?:the end of|it for|the last of|goodbye to|bye-bye to|curtains for)"
_FRAGMENTS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:^|[,;:!–—-] |\bso |\band |\bso it's |\bit's )no more {_NOUN}{_BREAK}",
        rf"{_BEGIN}(?:so )?no {_NOUN} (?:\w+ \w+ )?after all\b",
        rf"{_BEGIN}(?:i'm |we're |i am |we are )?(?:all )?(?:done|finished|through) with {_NOUN}{_BREAK}",
        rf"(?:{_BEGIN}|\bso )(?:that's|that is|that was|it's|it is) {_END_OF} {_NOUN}{_BREAK}",
        rf"(?:{_BEGIN}|\bso )(?:that's|that is) {_NOUN} (?:done|over|finished|gone|history|sorted)\b(?! with)",
        rf"{_BEGIN}{_FAREWELL},? (?:to )?{_NOUN}{_BREAK}",
        rf"{_BEGIN}{_NOUN}(?:'s| is| are|'re| has been| got|) {_ENDED}{_SINCE}",
    )
)
_BEFORE: Final = frozenset(["nsubj", "nsubjpass", "aux", "auxpass", "expl"])
_COMPLEMENTS: Final = frozenset(["acomp", "advmod", "attr", "prep", "prt", "oprd"])
_VALUE: Final = re.compile(
    r"\b(?:delete|forget|ignore|scrap|bin|remove|instead of|rather than|stop using|no longer use|"
    r"do(?:n't| not) (?:use|call|write|text|e-?mail))"
    r"(?: to| me)?(?: at| on| under)?(?: (?:my|the) (?:old )?(?:e-?mail|number|address|phone|handle))?:? "
    r"(?P<value>\S{0,64}[@\d][\w@. -]{0,64}\w)",
    re.IGNORECASE,
)
_NOT_FIRST: Final = frozenset(["first", "second", "third", "next"])
_SPEAKERS: Final = frozenset(["me", "us", "myself", "ourselves", "it", "that"])
_ELSEWHERE: Final = re.compile(r"\b(?:next door|upstairs|downstairs|across the|opposite)\b", re.IGNORECASE)
_LIMIT: Final = re.compile(r"(?: for (?:me|us))? (?:today|tonight|yet|in\b|left|at the)", re.IGNORECASE)


class EndedThings:
    """Finds the things that a sentence says are over.

    Args:
        doc: the dependency tree of the sentence.
        sentence: the sentence as written.
        clauses: its clauses.
        referents: whom its pronouns mean.
    """

    def __init__(self, doc: Doc, sentence: str, clauses: Iterable[Clause], referents: Referents) -> None:
        self._doc, self._sentence, self._clauses, self._referents = doc, sentence, tuple(clauses), referents

    def changes(self) -> list[Change]:
        """Return a change for each thing that is over."""
        found = [change for clause in self._clauses for change in self._of_clause(clause)]
        return found + list(self._of_fragments())

    # -- whole clauses ------------------------------------------------------------------------------------------------

    def _of_clause(self, clause: Clause) -> Iterator[Change]:
        subject = clause.subject
        let_go = next((c for c in clause.verb.rights if c.dep_ in ("ccomp", "xcomp") and c.tag_ == "VB"), None)
        done = (clause.is_past or clause.is_perfect) and not clause.negation
        if clause.lemma == "let" and let_go is not None and done and let_go.lemma_ in WORDS["ending_verbs"]:
            for thing in (c for c in let_go.lefts if c.dep_ == "nsubj"):  # "I let the card expire"
                yield from self._ended(thing)
        for thing in clause.verb.rights:  # "I had my last piano lesson"
            if thing.dep_ == "dobj" and (clause.is_past or clause.is_perfect) and not clause.negation:
                words = {c.lower_ for c in thing.children}
                if words & {"last", "final"} and any(c.dep_ == "poss" for c in thing.children):
                    yield from self._ended(thing)
        if subject is not None and subject.lower_ in ("it", "they"):
            subject = antecedent(subject)
        if subject is None or subject.tag_ == "PRP" or clause.negation or clause.modal:
            return
        if self._is_over(clause) or self._has_ended(clause):
            for thing in conjuncts(subject):
                yield from self._ended(thing)

    @staticmethod
    def _is_over(clause: Clause) -> bool:
        """Return whether a clause says that its subject is over: "is off", "is a thing of the past", "is behind me"."""
        verb = clause.verb
        if verb.lemma_.lower() not in ("be", "'s") or clause.is_past:
            return False
        for child in verb.rights:
            is_over = child.lower_ in WORDS["over_words"] and child.dep_ in _COMPLEMENTS
            if is_over and not any(
                c.dep_ in ("pobj", "pcomp", "prep") and not is_coarse_time(c) for c in child.children
            ):
                return True
            inner = [g for p in child.children if p.dep_ == "prep" for g in p.children] + list(child.children)
            words = {child.lower_, *(t.lower_ for t in inner)}
            if child.dep_ in ("attr", "prep") and any(set(text.split("_")) <= words for text in WORDS["over_phrases"]):
                return True
        return False

    @staticmethod
    def _has_ended(clause: Clause) -> bool:
        """Return whether a clause says that its subject came to an end by itself: "expired", "fell through"."""
        verb = clause.verb
        if not (clause.is_past or clause.is_perfect) or any(
            c.dep_ == "dobj" and not is_coarse_time(c) for c in verb.children
        ):
            objects = {c.lemma_.lower() for c in verb.children if c.dep_ == "dobj"}
            return (clause.is_past or clause.is_perfect) and verb.lemma_.lower() == "run" and "course" in objects
        words = {f"{verb.lemma_.lower()}_{c.lower_}" for c in verb.children} | {
            f"{verb.lemma_.lower()}_{c.lower_}_{g.lower_}"
            for c in verb.children
            if c.dep_ == "prep"
            for g in c.children
        }
        return verb.lemma_.lower() in WORDS["ending_verbs"] or bool(words & WORDS["ending_verbs"])

    # -- fragments ----------------------------------------------------------------------------------------------------

    def _of_fragments(self) -> Iterator[Change]:
        """Yield what fragments say is over: "no more beer for me", "that's Lisbon done", "no longer going to yoga"."""
        if any(t.lower_ in WORDS["doubtful_endings"] for t in self._doc):
            return
        for verb in (t for t in self._doc if t.tag_ == "VBG" and not any(c.dep_ in _BEFORE for c in t.children)):
            words = [t.lower_ for t in self._doc[max(0, verb.i - 3) : verb.i]]
            ended = words[-2:] == ["no", "longer"] or (
                words[-1:] == ["not"] and verb.i < 3 and "anymore" in _words(verb)
            )
            if ended and verb.i < 6:
                things = [c for c in verb.rights if c.dep_ == "dobj"]
                things += [c for p in verb.rights if p.dep_ == "prep" for c in p.children if c.dep_ == "pobj"]
                for thing in things:
                    yield from self._ended(thing)
                if not things:
                    yield Change(self._sentence, (), (speaker_of(self._referents),), verb=verb.lemma_.lower())
        if (old := _VALUE.search(self._doc.text)) is not None:
            words = old["value"].split()
            value = Mention(words[-1].lower(), frozenset(), frozenset(), old["value"])
            yield Change(self._sentence, (), (speaker_of(self._referents),), (value,), relation="has .*|is")
        for pattern in _FRAGMENTS:
            for match in pattern.finditer(self._doc.text):
                if _LIMIT.match(self._doc.text, match.end()) is not None:
                    continue
                if _ELSEWHERE.search(match["noun"]) is not None or self._is_for_others(match.start("noun")):
                    continue
                span = self._doc.char_span(*match.span("noun"), alignment_mode="contract")
                if span is not None and match[0].lower().lstrip(",;:!–— ").startswith(("rip", "r.i.p")):
                    named = mention_of(_head(span), self._referents)
                    if named is not None and not named.person:
                        who = (speaker_of(self._referents),)
                        yield Change(self._sentence, who=who, targets=(replace(named, proper=True),), life=True)
                elif span is not None and not any(t.pos_ in ("VERB", "AUX") and t.tag_ != "VBG" for t in span):
                    yield from self._ended(_head(span), span)

    def _is_for_others(self, begin: int) -> bool:
        """Return whether a phrase says for whom something is over, and it is not the speaker: "no more tea for him"."""
        for token in self._doc:
            if token.idx > begin and token.lower_ == "for":
                for whom in (c for c in token.children if c.dep_ == "pobj"):
                    is_other = whom.tag_ in ("PRP", "NNP") or whom.lower_ in KIN
                    if is_other and whom.lower_ not in _SPEAKERS:
                        return True
        return False

    def _ended(self, thing: Token, span: Span | None = None) -> Iterator[Change]:
        named = mention_of(thing, self._referents)
        if named is not None and span is not None and any(t.i < span.start for t in thing.subtree):  # "goodbye Tucson"
            words = [stem(t.lower_) for t in span if t.i < thing.i and t.pos_ in ("NOUN", "PROPN", "ADJ")]
            named = Mention(stem(thing.lower_), frozenset(words), frozenset(), span.text, proper=thing.pos_ == "PROPN")
        if named is None or named.person or named.determiner in ("a", "an", "any", "every", "each", "some", "another"):
            return
        if thing.tag_ == "VBG":
            named = Mention(thing.lower_, frozenset(), frozenset(), thing.lower_)
        named = replace(named, words=named.words - {"more", "no"})
        if any(c.lower_ in _NOT_FIRST for c in thing.children):
            return  # "my first day is over"
        owner = named.owner
        who = speaker_of(self._referents)
        if owner is not None and owner != self._referents.speaker:
            who = Mention(owner.lower(), frozenset(), frozenset(), owner, proper=True)
        yield Change(self._sentence, ("any",), (who,), (named,), things=True)
        if named.head in (WORDS["spans"] | WORDS["containers"]) - {
            "lesson"
        }:  # "the lease on the flat", "my term on the board"
            inner = [c for p in thing.children if p.dep_ == "prep" for c in p.children if c.dep_ in ("pobj", "pcomp")]
            inner += [c for c in thing.children if c.dep_ in ("compound", "nmod")]
            targets = [one for token in inner if (one := mention_of(token, self._referents)) is not None]
            if targets:
                families = ("any",) if named.head in WORDS["ties"] else ("going",)
                yield Change(self._sentence, families, (who,), tuple(targets), loosely=True)


def _words(verb: Token) -> set[str]:
    return {t.lower_ for t in verb.subtree}


def _head(span: Span) -> Token:
    """Return the main noun of a phrase, also where the parser joins its words otherwise."""
    nouns = [t for t in span if t.pos_ in ("NOUN", "PROPN") or t.tag_ == "VBG"]
    return span.root if span.root.pos_ in ("NOUN", "PROPN") or not nouns else nouns[-1]
