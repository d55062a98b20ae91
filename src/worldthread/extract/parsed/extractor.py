"""Extracts statements from English with a parser: sentences as theses with entities, statements as facts."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.facts import facts_of
from worldthread.extract.parsed.parser import normalised, parse
from worldthread.extract.parsed.phrases import NamedPhrase
from worldthread.extract.parsed.validity import with_times
from worldthread.extract.prose.clauses import Clauses
from worldthread.extract.prose.entities import AnnotatedPassage, Entity
from worldthread.extract.prose.extractor import PassageExtractor, merged, statements_of
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.sentences import Sentence
from worldthread.graph import GraphView
from worldthread.types import Ending, Extraction

if TYPE_CHECKING:
    from spacy.tokens import Doc


_IRONY: Final = re.compile(
    r"(?:oh,? (?:yes|yeah|sure|right|great)|yeah,? (?:right|sure)|sure|as if)[,!.] ", re.IGNORECASE
)
_GREETING: Final = re.compile(
    r"(?:(?:hi|hey|hello|thanks|thank you|congrats|congratulations|wow|yeah|yes|yep|yup|no|nope|oh|well|sure|cool|nice|"
    r"great|awesome|ok|okay|aww?|haha|lol|definitely|absolutely|totally|right|sorry|good (?:morning|evening))\b"
    r"[\s,]*+)++"
    r"(?:[A-Z]\w*+\s*+)?[,!.:–—-]++\s*+",
    re.IGNORECASE,
)


class ParsedExtractor:
    """Extracts statements from English with a dependency parser, without a language model.

    An :class:`~worldthread.extract.base.Extractor`. Thread-safe. Theses and their objects are those of
    :class:`~worldthread.extract.prose.extractor.ProseExtractor`; facts and endings come from the parse.
    """

    name: Final = "parsed/1"
    concurrency: Final = 1

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        """Return what a text states and which statements it denies; never raises for the content of a text.

        Args:
            text: the text; its first line may be a title. In a message, which begins with the speaker's label, every
                thesis begins with the label.
            speaker: the meaning of "I"; empty for :data:`USER <worldthread.extract.base.USER>`.
            at: world time of the text, against which "yesterday" is understood.

        Returns:
            An extraction in the order of the sentences, the facts of a sentence before its theses, without failures.

        Raises:
            MissingExtraError: the parser or its model is not installed.
        """
        return merged(ParsedExtractor.name, statements_of(text, speaker, partial(_ParsedPassageExtractor, at=at)))

    def outdate(
        self, text: str, extraction: Extraction, view: GraphView, speaker: str = "", at: float | None = None
    ) -> Extraction:
        """Return ``extraction`` unchanged: its aspects and endings end all older statements.

        Args:
            text: not used.
            extraction: what :meth:`extract` returned.
            view: not used.
            speaker: not used.
            at: not used.

        Returns:
            ``extraction`` itself.
        """
        return extraction


class _ParsedPassageExtractor(PassageExtractor):
    """Extracts the sentences of one passage, with the parses of all of them.

    Args:
        passage: the passage.
        speaker: the meaning of "I" in sentences that name no speaker.
        states_facts: whether its plain statements are read; not in a language without rules.
        at: world time of the text; ``None`` where that is not known.
    """

    def __init__(
        self, passage: AnnotatedPassage, speaker: str, states_facts: bool = True, *, at: float | None = None
    ) -> None:
        super().__init__(passage, speaker, states_facts)
        self._at = at
        self._docs: dict[int, Doc] = {}
        if states_facts:
            sentences = [sentence for sentence, _ in passage.sentences]
            docs = parse(normalised(sentence.text[_begin(sentence) :]) for sentence in sentences)
            self._docs = {id(sentence): doc for sentence, doc in zip(sentences, docs, strict=True)}

    def _statements(
        self, sentence: Sentence, found: list[Entity], referents: Referents
    ) -> tuple[Clauses, list[Ending]]:
        if _IRONY.match(sentence.text, sentence.body):
            return Clauses(), []
        if sentence.text.rstrip("\"'”’»)] ").endswith(("?", "？")):
            return Clauses(), []
        doc = self._docs[id(sentence)]
        names = frozenset(word for e in found if e.kind in ("person", "name") for word in e.name.split())
        read = facts_of(doc, referents, names)
        subject = next((subject for _, subject in read.clauses if subject is not None), None)
        stated = read.facts if self._at is None else with_times(doc, read.facts, self._at)
        facts = tuple(dict.fromkeys(one.fact for one in stated))
        return Clauses(facts, read.whole, None if subject is None else subject.name, _is_person(subject)), []


def _begin(sentence: Sentence) -> int:
    """Return where a sentence begins after a greeting: "Hey Maria, last week was ..." begins at "last"."""
    if sentence.speaker is None:
        return sentence.body
    greeting = _GREETING.match(sentence.text, sentence.body)
    return sentence.body if greeting is None or greeting.end() == len(sentence.text) else greeting.end()


def _is_person(subject: NamedPhrase | None) -> bool:
    return subject is not None and (subject.head.tag_ == "PRP" or subject.given_name is not None)
