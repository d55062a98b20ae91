"""Reads the passages of documents: news, notes and documentation, in English, with a parser."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.appointments import appointments
from worldthread.extract.parsed.discourse import CODE, MAIN, Discourse, is_name, main_of
from worldthread.extract.parsed.markup import without_asides, without_markup
from worldthread.extract.parsed.parser import parse
from worldthread.extract.parsed.repaired_facts import meant_facts
from worldthread.extract.parsed.validity import TURNS
from worldthread.extract.parsed.whole_clauses import WholeClauses
from worldthread.extract.prose.clauses import Clauses
from worldthread.extract.prose.entities import AnnotatedPassage, NamedEntity
from worldthread.extract.prose.extractor import PassageExtractor
from worldthread.extract.prose.key_values import without_heading
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.sentences import Sentence
from worldthread.extract.prose.words import WORDS as PROSE_WORDS
from worldthread.types import Ending, Fact

if TYPE_CHECKING:
    from spacy.tokens import Doc

_CODE_SPAN: Final = re.compile(
    r"``?([^`\s][^`\n]{0,60}?)``?|(?<![\w/])((?:[~.]?/)[\w.-]*\w(?:/[\w.*-]*[\w*])*/?|--?[a-z][\w-]+(?![\w'’]))"
)
_LOWER_NAME: Final = re.compile(
    r"([a-z][\w+-]*\w) (?:also )?(?:is|was|has|can|will|supports|provides|includes|uses|depends|runs|requires|"
    r"implements|contains|comes|works|offers|allows|reads|writes|makes) (?=.*[.!]$)"
)
# a product with capitals inside, "NumPy", which the parser may take for a noun; no part of a longer name
_PRODUCT: Final = re.compile(
    r"(?<![\w/.'’(-])(?<![A-Z][a-z] )(?!(?:Mc|Mac|O)[A-Z])(?:[A-Z]?[a-z]+[A-Z][A-Za-z]*|[A-Z]{2,}[a-z]{2,}[A-Za-z]*)"
    r"(?= [a-z]| ?[,.;:]|['’]s )"
)
_NAMED_CODE: Final = re.compile(r"^[\w./~@-]{2,}$")
_PLAIN_CODE: Final = re.compile(r"-{0,2}[\w-]+")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_SHORT: Final = 3  # sentences of a text that the rules read if they can
_LATEST_ROLE: Final = 4
_LONGEST: Final = 300  # characters of a sentence that is parsed
_VERB: Final = re.compile(r"[a-z]{2}")
_NO_PROSE: Final = re.compile(r"[{}|=\\\[\]<>]|\w_\w|->|\w\(\)|#\d|::|\bhttps?:|@\w")
# an item of a list, a bug by its number, a version with its day, an urgency of Debian
_CHANGE: Final = re.compile(
    r"^\s*(?:[-*•]|o (?=[A-Z])|\d{4,} )|\bbpo-\d+|:bzbug:|\b(?:[Bb]ug|[Cc]loses:) ?#?\d{3,}|"
    r"\(#?\d{4,}\)|^\d+\.\d+\S* [-(]|\burgency="
)
_NUMBERS_OF_BUGS: Final = re.compile(r"(?:\b\d{5,7}\b.{10,}){2}")
_SAID: Final = re.compile(r"\b(?:said|told)\b|[“\"][^\"”]{25,}[”\"]")
_FIRST_PERSON: Final = re.compile(r"\b(?:I|I['’]m|my|me)\b|\b(?:Dr|Mrs?|Ms|Miss)\b")
_PAST: Final = frozenset(["VBD"])


class DocumentPassageExtractor(PassageExtractor):
    """Extracts the sentences of one passage of a document, with the parses of those that can state a fact.

    Args:
        passage: the passage.
        speaker: the meaning of "I".
        states_facts: whether its plain statements are read; not in a language without rules.
        at: world time of the text; ``None`` where that is not known.
    """

    def __init__(
        self, passage: AnnotatedPassage, speaker: str, states_facts: bool = True, *, at: float | None = None
    ) -> None:
        super().__init__(passage, speaker, states_facts, at=at)
        self._docs: dict[int, Doc] = {}
        self._text = "\n".join(sentence.text for sentence, _ in passage.sentences)
        self._code: dict[str, str] = {}
        if passage.topic is not None and self._about == passage.topic:
            self._about = main_of(passage.topic) or self._about
        self._main: re.Pattern[str] | None = None
        self._products: set[str] = set()
        self._is_list = is_list_of_changes([sentence.text for sentence, _ in passage.sentences])
        if not states_facts or self._is_list:
            return
        sentences = [
            s
            for s, _ in passage.sentences
            if s.speaker is None and is_readable(without_markup(s.text)) and not (passage.topic and _is_command(s.text))
        ]
        is_note = self._is_note and passage.topic is None
        writer = speaker if is_note else None
        discourse = Discourse(passage.context, passage.topic, writer, is_note=is_note, about=self._about)
        if discourse.main is None:
            discourse.main = _lower_name([without_heading(s.text) for s in sentences])
        if discourse.main is not None and discourse.main.isalpha() and not any(MAIN in s.text for s in sentences):
            self._main = re.compile(rf"\b(?:{discourse.main}|{discourse.main.capitalize()})\b")
            self._code[MAIN] = discourse.main
            discourse.main = MAIN
        docs = [_repaired(d) for d in parse(self._masked(_plain(s.text)) for s in sentences)]
        self._docs = {id(sentence): doc for sentence, doc in zip(sentences, docs, strict=True)}
        discourse.is_personal = any(_FIRST_PERSON.search(text) for text in (s.text for s in sentences))
        discourse.describes = (discourse.main is not None or passage.topic is not None) and is_description(docs)
        self._discourse = discourse
        self._clauses = WholeClauses(discourse, at)

    def _masked(self, text: str) -> str:
        """Return a sentence with names that the parser knows in place of code and of what the text is about."""

        def mask(match: re.Match[str]) -> str:
            number = len(self._code)
            name = f"Xcode{_LETTERS[number // 26 % 26]}{_LETTERS[number % 26]}"
            self._code[name] = match[1] or match[2]
            return name

        def mask_product(match: re.Match[str]) -> str:
            self._products.add(match[0])
            known = next((name for name, code in self._code.items() if code == match[0] and name != MAIN), None)
            number = len(self._code)
            name = known or f"Xcode{_LETTERS[number // 26 % 26]}{_LETTERS[number % 26]}"
            self._code[name] = match[0]
            return name

        masked = _CODE_SPAN.sub(mask, text)
        if self._main is not None:
            masked = self._main.sub(MAIN, masked)
        if self._passage.topic is None:
            return masked
        return _PRODUCT.sub(lambda m: m[0] if CODE.fullmatch(m[0]) else mask_product(m), masked)

    def _unmasked(self, text: str) -> str:
        return CODE.sub(lambda match: self._code.get(match[0], match[0]), text)

    def _with_main(self, fact: Fact) -> Fact | None:
        """Return a fact of code with what the code is a part of: an option, a field and a branch are of something."""
        is_named = fact.subject in self._products
        is_code = (
            not is_named and fact.subject in self._code.values() and _PLAIN_CODE.fullmatch(fact.subject) is not None
        )
        main = self._code.get(MAIN) if self._main is not None else self._discourse.main
        if fact.subject in self._code.values() and not _NAMED_CODE.search(fact.subject):
            return None  # a pattern or a mark, of which only the text says what it does
        if not is_code or main is None or fact.subject == self._unmasked(main):
            return fact if not is_code or main is not None else None
        return None if main is None else replace(fact, subject=f"{fact.subject} ({self._unmasked(main)})")

    def _key_values(self, sentence: Sentence) -> tuple[Fact, ...]:
        found = () if self._is_list else super()._key_values(sentence)
        if found or not self._is_note or self._topic is not None or self._at is None or abs(self._at) < TURNS:
            return found
        return tuple(appointments(without_heading(sentence.text), self._about, self._at))

    def _statements(
        self, sentence: Sentence, found: list[NamedEntity], referents: Referents
    ) -> tuple[Clauses, list[Ending]]:
        clauses, endings = super()._statements(sentence, found, referents)
        doc = self._docs.get(id(sentence))
        if doc is None:
            return clauses, endings
        stated = self._clauses.read(doc)
        facts = tuple(
            replace(
                one.fact,
                subject=self._unmasked(one.fact.subject),
                relation=self._unmasked(one.fact.relation),
                object=self._unmasked(one.fact.object),
            )
            for one in stated
        )
        facts = tuple(fact for fact in facts if not any(part.count('"') % 2 for part in fact.key))
        whole_facts = (one for fact in facts if (one := self._with_main(fact)) is not None)
        facts = meant_facts(whole_facts, sentence.text, self._text, "", self._at, "document")
        is_short = len(self._passage.sentences) < _SHORT and self._topic is None
        is_same = clauses.whole and {fact.key for fact in clauses.facts} == {fact.key for fact in facts}
        longer = {fact.key[:2]: fact.object for fact in facts}  # "costs 3.90 a month" where the rules have "costs 3.90"
        kept = tuple(
            _with_period(fact, sentence.text)
            for fact in clauses.facts
            if fact.aspect is not None
            and not longer.get(fact.key[:2], "").startswith(f"{fact.object} ")
            and not _is_known_from_text(fact, sentence.text)
            and f"{fact.object} ago" not in sentence.text
        )
        if clauses.facts and (is_short or is_same):
            return clauses, endings  # with the aspects of its thesis
        if not facts and self._is_note:  # the rules know what "I have a cold" says
            is_asked = sentence.text.rstrip().endswith("?")
            facts = tuple(fact for fact in clauses.facts if fact.subject == referents.speaker and not is_asked)
        if kept:  # "moved to Lyon" of the parser says no more than "lives in Lyon" of the rules
            ends = {(fact.key[0], fact.key[2]) for fact in kept}
            facts = kept + tuple(fact for fact in facts if (fact.key[0], fact.key[2]) not in ends)
            return clauses._replace(facts=tuple(dict.fromkeys(facts))), endings
        return clauses._replace(facts=tuple(dict.fromkeys(facts)), whole=False), endings


def _lower_name(texts: list[str]) -> str | None:
    """Return the name of a thing that is written in lower case: sentences begin with it, as "tmux runs on Linux"."""
    first = [match[1] for text in texts if (match := _LOWER_NAME.match(text)) is not None]
    names = {word for word in first if word not in PROSE_WORDS["function"]}
    if len(names) != 1:
        return None
    [name] = names
    mentions = sum(len(re.findall(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)) for text in texts)
    is_common = any(re.search(rf"\b(?:an?|the|this|your) {re.escape(name)}\b", text, re.IGNORECASE) for text in texts)
    return name if not is_common and (mentions > 1 or not name.isalpha()) else None


def _plain(text: str) -> str:
    """Return the words of a sentence for the parser: without its heading, markup and what brackets only explain."""
    return without_asides(without_heading(without_markup(text)))


def _is_command(text: str) -> bool:
    """Return whether a line is a command of a page, "pipx install larder", which ends like no sentence."""
    return text[:1].islower() and text.rstrip()[-1:] not in ".!;:)"


def _with_period(fact: Fact, sentence: str) -> Fact:
    """Return "costs 3.90 a month" for "costs 3.90", where the sentence says so."""
    period = re.search(rf"{re.escape(fact.object)}( (?:an?|per|each) [a-z]+)\b", sentence)
    is_sum = fact.object[-1:].isdecimal() and fact.relation.startswith("cost")
    return replace(fact, object=f"{fact.object}{period[1]}") if period is not None and is_sum else fact


def _is_known_from_text(fact: Fact, sentence: str) -> bool:
    """Return whether only the text says which thing is meant: "the template" of "the template is in the wiki"."""
    is_word = fact.subject.isalpha() and fact.subject.islower()
    return is_word and re.search(rf"\b[Tt]he {fact.subject}\b", sentence) is not None


def _repaired(doc: Doc) -> Doc:
    """Return a tree without "The cellist" of "The cellist Anna Lee has moved", of which the model makes no sentence."""
    root = next((t for t in doc if t.dep_ == "ROOT"), None)
    if root is None or root.tag_ != "NN" or root.i > _LATEST_ROLE or doc[0].lower_ != "the" or root.i + 2 >= len(doc):
        return doc
    verb = next((t for t in root.rights if t.dep_ == "relcl"), None)
    subject = next((t for t in verb.lefts if t.dep_ in ("nsubj", "nsubjpass")), None) if verb is not None else None
    if subject is None or not is_name(subject) or subject.left_edge.i != root.i + 1:
        return doc
    name, role, rest = doc[subject.left_edge.i : subject.i + 1], doc[: root.i + 1], doc[subject.i + 1 :]
    [repaired] = parse([f"{name.text}, {role.text.lower()}, {rest.text}"])
    return repaired


def is_readable(text: str) -> bool:
    """Return whether a sentence can state a fact and is short enough to be parsed."""
    if _NO_PROSE.search(_CODE_SPAN.sub("", text)):
        return False
    return 12 <= len(text) <= _LONGEST and text.count(" ") > 1 and _VERB.search(text) is not None


def is_list_of_changes(texts: list[str]) -> bool:
    """Return whether a passage lists changes or bugs, as the NEWS of a package do: fragments of sentences.

    Args:
        texts: its sentences.
    """
    changes = sum(_CHANGE.search(text) is not None for text in texts)
    return 2 * changes >= len(texts) and (changes > 1 or any(_NUMBERS_OF_BUGS.search(text) for text in texts))


def is_description(docs: list[Doc]) -> bool:
    """Return whether a passage describes how something is, as documentation does, rather than what happened."""
    past = present = 0
    for doc in docs:
        if _SAID.search(doc.text):
            return False
        for token in doc:
            if token.dep_ in ("ROOT", "auxpass", "aux") and token.tag_ in ("VBD", "VBP", "VBZ", "VB"):
                if token.tag_ == "VB" and any(c.lower_ == "will" for c in (*token.lefts, *token.head.lefts)):
                    continue  # news of what is to come
                past += token.tag_ in _PAST
                present += token.tag_ not in _PAST
    return present > 0 and present >= 3 * past
