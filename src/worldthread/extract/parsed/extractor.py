"""Extracts statements from English with a parser: sentences as theses with entities, statements as facts."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from worldthread.extract.base import USER
from worldthread.extract.parsed.amended_facts import amended_facts
from worldthread.extract.parsed.amendments import Amendment, amendment_of
from worldthread.extract.parsed.aspects import aspect_for
from worldthread.extract.parsed.assertions import asserted_facts, is_distinct, is_unmeant
from worldthread.extract.parsed.changes import changes_of, is_limited
from worldthread.extract.parsed.clauses import WORDS, Clause
from worldthread.extract.parsed.colloquial import with_questions_apart, with_speaker
from worldthread.extract.parsed.completeness import whole_facts
from worldthread.extract.parsed.corrected_statements import corrected_statements
from worldthread.extract.parsed.corrections import OPENING, Correction, corrected_facts, correction_of
from worldthread.extract.parsed.dated import with_dated
from worldthread.extract.parsed.dated_sentences import dated_sentence
from worldthread.extract.parsed.discourse import Discourse
from worldthread.extract.parsed.document_passages import DocumentPassageExtractor
from worldthread.extract.parsed.endings import contradicted_facts, ended_facts, replaced_facts
from worldthread.extract.parsed.events import Change
from worldthread.extract.parsed.fact_features import Reading
from worldthread.extract.parsed.fact_judge import TextKind, fact_judge
from worldthread.extract.parsed.facts import LocatedFact, SentenceFacts, facts_of
from worldthread.extract.parsed.joined_objects import without_joined_clause
from worldthread.extract.parsed.letters import Letter
from worldthread.extract.parsed.parser import normalised, parse
from worldthread.extract.parsed.persons_within import with_person_within
from worldthread.extract.parsed.phrased_endings import is_for_the_moment, phrased_endings
from worldthread.extract.parsed.phrases import NamedPhrase
from worldthread.extract.parsed.plain_sentences import plainly_said
from worldthread.extract.parsed.probable import is_figure, is_likely, probable_facts
from worldthread.extract.parsed.repaired_facts import meant_facts
from worldthread.extract.parsed.segments import clauses_alone, clauses_with_times
from worldthread.extract.parsed.sentence_times import misleads, with_times_beside
from worldthread.extract.parsed.simple_assertions import asserted
from worldthread.extract.parsed.simple_facts import (
    acceptable,
    is_garbled,
    joined_with,
    states_nothing,
    with_name,
)
from worldthread.extract.parsed.simple_sentences import SimpleSentences
from worldthread.extract.parsed.sole_statements import living_alone, says_who, sole_statement
from worldthread.extract.parsed.validity import TURNS, is_kinship
from worldthread.extract.parsed.whole_clauses import WholeClauses
from worldthread.extract.parsed.withheld_endings import withheld
from worldthread.extract.possible_ends import with_possible_ends
from worldthread.extract.prose.clauses import Clauses
from worldthread.extract.prose.entities import AnnotatedPassage, NamedEntity, annotated_passages
from worldthread.extract.prose.extractor import PassageExtractor, is_question, merged, statements_of
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.sentences import Sentence
from worldthread.extract.prose.words import is_program
from worldthread.extract.times import end_stated, time_expressions
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Ending, Extraction, Fact, Statement, Thesis

if TYPE_CHECKING:
    from spacy.tokens import Doc


_IRONY: Final = re.compile(
    r"(?:oh,? (?:yes|yeah|sure|right|great)|yeah,? (?:right|sure)|sure|as if)[,!.] ", re.IGNORECASE
)
_IRONIC_PRAISE: Final = re.compile(
    r"(?:oh |ah |well )?(?:fantastic|brilliant|lovely|wonderful|great|perfect|marvellous|super|terrific|splendid|"
    r"typical|charming|fab|bravo)[,!.] .*\b(?:again|another|just what|love (?:that|it|this)|my favou?rite|thanks a lot|"
    r"what i needed|as usual|of course)\b",
    re.IGNORECASE,
)
_GIVEN_TEXT: Final = re.compile(  # a text that is to be worked on: "translate this: my sister is a doctor"
    r"(?:(?:please|pls|can you|could you|kindly|now|hi|hey|ok|okay)[, ]+)*(?:translate|rewrite|reword|rephrase|"
    r"proofread|paraphrase|summari[sz]e|shorten|correct|improve|edit|polish|fix (?:the )?(?:grammar|spelling|this|my)|"
    r"check (?:the )?(?:grammar|spelling)|make this|turn this|continue this|finish this)\b[^:.!?]{0,60}:\s*\S",
    re.IGNORECASE,
)
_EXAGGERATED: Final = re.compile(
    r"\b(?:literally|dying (?:of|from) (?:laughter|laughing|boredom|hunger|thirst|shame|embarrassment|curiosity|heat|"
    r"cold|envy)|dying (?:for|to)|(?:bored|scared|worried|frightened|frozen|freezing|tickled|sick|loved?|talked|boiled|"
    r"starved|starving|terrified|stressed) (?:\w+ )?to death|(?:frozen|bored|scared|worried) (?:stiff|silly|sick)|"
    r"(?:hundred|thousand|[mbtz]illion)s? (?:of )?(?:times|things|reasons|years ago)|"
    r"(?:i['’]?m|i am) (?:the )?(?:batman|superman|spider-?man|santa|jesus|god|pope|queen|king) ?(?:of|,|\.|!|$)|"
    r"(?:uncle|aunt|dad|mum|mom|cat|dog|brother|sister|gran)(?:['’]s| is) the (?:pope|queen|king)\b)",
    re.IGNORECASE,
)
_CORRECTING: Final = re.compile(
    r"(?:no|nope|wait|wrong|scrap|sorry|correction|hang on|that(?:['’]s| was| is) wrong|not)\b", re.IGNORECASE
)
_FINITE: Final = frozenset(["VBD", "VBP", "VBZ", "MD"])
_THIRD_PERSONS: Final = frozenset(["he", "her", "him", "his", "she"])
_KEPT: Final = 256  # texts whose reading is kept from `extract` to `outdate`
_LONGEST_SENTENCE: Final = 100  # words; what is longer is a list, a log or an attack, and stays text
_LONGEST_MESSAGE: Final = 1000  # words of a message that are read; the rest stays text
_LONGEST_CORRECTION: Final = 400  # characters of a message that is a correction
_CODE: Final = re.compile(r"[{}<>|=\\]|```|\(\)|->")
_FROM_NOW: Final = re.compile(r"(?:from now on|these days|nowadays),? ", re.IGNORECASE)
_ANY_MORE: Final = re.compile(
    r" any more(?=\s*(?:[.,;:!?)]|$)| (?:and|but|so|because|since)\b)"
)  # one word for the parser
_NOW: Final = re.compile(
    r"\b(?:now|again(?!,? and again)|nowadays|these days|from now on|as of (?:this|today)|by now|since then)\b",
    re.IGNORECASE,
)
_PREAMBLE: Final = re.compile(  # "Just so you know, ", "Bear in mind that ", "If it helps with the menu, "
    r"(?:(?:ok(?:ay)?|so|well|and|also|right|oh),? )*(?:(?:just )?so (?:that )?you know|just so (?:we|u) know|fyi|"
    r"(?:just )?for (?:your info(?:rmation)?|the record|(?:some |a bit of )?(?:context|background)|reference)|context|"
    r"background|by the way|btw|(?:a |just a )?(?:bit|little)(?: bit)?(?: of)? (?:about me|background|context)|"
    r"(?:being|to be|if i'm|i'll be) (?:quite |perfectly |totally )?honest(?: with (?:you|ye|u))?|tbh|"
    r"in case (?:it helps|it matters|you (?:need|want|wanted) (?:it|to know)|you're wondering)|if it helps|"
    r"since you ask(?:ed)?|(?:please )?(?:bear|keep) in mind|(?:you|u|ye) (?:should|ought to|need to|must|may) "
    r"(?:probably |also )?know|i (?:should|ought to|must|better|might as well|may as well|forgot to|wanted to) "
    r"(?:probably |also |just )?(?:say|mention|add|explain|tell you|let you know)|(?:please )?(?:note|be aware)|"
    r"(?:one|first|another) thing (?:to know|you should know)(?: is)?|fun fact|full disclosure|heads up)"
    r"(?: (?:about|for|when|while|with|if|as|since|so)\b[^,.;:!?]{2,45}?)?(?:(?:,|:| -| –) ?(?:that )?| that |"
    r" (?=(?:i|i'm|i’m|i've|i’ve|we|we're|we’re|we've|we’ve|my|our|there's|there is)\b))",
    re.IGNORECASE,
)
_RESTRICTED: Final = re.compile(
    r"\b(?:in the|at|after|before|on|during|until|today|tonight|this|yet|while|when|unless|if|alone|without|with)\b",
    re.IGNORECASE,
)
_AHEAD: Final = re.compile(  # a time to come: "we're trying out a surf school" after it is a plan
    r"\b(?:tomorrow|tonight|(?:this|next|on the) weekend|next (?:week|month|year|summer|winter|\w+day)|"
    r"(?:on |this |coming )?(?:satur|sun|mon|tues|wednes|thurs|fri)day(?:,| I['’]m| we['’]re| and))",
    re.IGNORECASE,
)
_NOWADAYS: Final = re.compile(r",? (?:these days|nowadays|by now)(?=\W*$)")
_ONE_SHORT_SENTENCE: Final = re.compile(r"(?:[^\s.!?;…]|\.(?=\w))+(?:\s+(?:[^\s.!?;…]|\.(?=\w))+){0,14}[\s.!]*")
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

    name: Final = "parsed/14"
    concurrency: Final = 1
    settles_locally: Final = True
    """Whether :meth:`outdate` asks neither a model nor a server, so that others may wait for it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, float | None], _Reading] = OrderedDict()
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[ParsedExtractor], tuple[()]]:
        return type(self), ()

    def reading(self, text: str, speaker: str = "", at: float | None = None) -> object:
        """Return what was read in a text; see :class:`~worldthread.extract.base.ReadingExtractor`."""
        return self._read(text, speaker, at)

    def keep_reading(self, reading: object, text: str, speaker: str = "", at: float | None = None) -> None:
        """Keep what was read elsewhere; see :class:`~worldthread.extract.base.ReadingExtractor`."""
        assert isinstance(reading, _Reading)
        with self._lock:
            self._kept[text, speaker, at] = reading
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)

    def _read(self, text: str, speaker: str, at: float | None) -> _Reading:
        with self._lock:
            kept = self._kept.get((text, speaker, at))
            if kept is not None:
                self._kept.move_to_end((text, speaker, at))
                return kept
        reading = _read(text, speaker, at)
        self.keep_reading(reading, text, speaker, at)
        return reading

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
        return self._read(text, speaker, at).extraction

    def outdate(
        self, text: str, extraction: Extraction, view: GraphView, speaker: str = "", at: float | None = None
    ) -> Extraction:
        """Return ``extraction`` with an ending for each older fact that the text ends, and for its theses.

        Args:
            text: the text.
            extraction: what :meth:`extract` returned for it.
            view: what the memory holds.
            speaker: as for :meth:`extract`.
            at: as for :meth:`extract`; what was said in the days before it can be corrected without being named.

        Returns:
            The extraction with further endings. What corrects a fact holds in the interval of that fact.

        Raises:
            MissingExtraError: as for :meth:`extract`.
        """
        reading = self._read(text, speaker, at)
        stated = set(extraction.statements)
        stated_facts = [statement for statement in extraction.statements if isinstance(statement, Fact)]
        reasons: dict[Fact, str] = {}
        begun: dict[str, float | None] = {}  # since when there is what a fact gave way to
        for statement in extraction.statements:
            if isinstance(statement, Fact) and statement not in reading.restricted:
                begun[str(statement)] = statement.valid_from
                for fact in contradicted_facts(statement, view):
                    if fact not in stated:
                        reasons.setdefault(fact, str(statement))
        for fact in reading.replacing:
            begun[str(fact)] = fact.valid_from
            for old in replaced_facts(fact, view):
                if old not in stated:
                    reasons.setdefault(old, str(fact))
        corrected: set[Statement] = set()
        correction = reading.correction
        for change in reading.changes:
            for fact in ended_facts(change, view):
                if fact not in stated:
                    reasons.setdefault(fact, change.sentence)
                    if change.never or correction is not None:
                        corrected.add(fact)
        if correction is not None:
            for fact in corrected_facts(correction, stated_facts, view):
                if fact not in stated:
                    reasons[fact] = correction.text
                    corrected.add(fact)
        said, by = reading.said, speaker or USER
        amendment = reading.amendment
        amended = [] if amendment is None else amended_facts(amendment, by, stated_facts, view, at)
        if amendment is not None and not corrected:
            reasons.update(dict.fromkeys(amended, amendment.text))
            corrected.update(amended)
        if correction is None:
            for fact, sentence in phrased_endings(said, by, stated_facts, view):
                reasons.setdefault(fact, sentence)
        for fact, sentence in tuple(reasons.items()):
            if fact not in corrected and is_for_the_moment(fact, sentence, by):
                del reasons[fact]
        for fact in withheld({one: why for one, why in reasons.items() if one not in corrected}, text, by, view):
            del reasons[fact]
        endings: dict[Statement, Ending] = {}
        for fact, reason in reasons.items():
            end = None if fact in corrected else begun.get(reason, _end_of(fact, reason, by, at))
            endings[fact] = Ending(fact, reason, end, never=fact in corrected)
        for fact in reasons:
            for thesis in self._theses_of(fact, view):
                if thesis not in stated and set(self._facts_of(thesis)) <= reasons.keys():
                    endings.setdefault(thesis, replace(endings[fact], statement=thesis))
        kept = tuple(ending for ending in extraction.endings if ending.statement not in endings)
        facts = [fact for fact in corrected if isinstance(fact, Fact)]
        given = amendment if set(amended) == corrected else None
        statements = corrected_statements(extraction.statements, facts, given, by, view)
        told = replace(extraction, statements=statements, endings=kept + tuple(endings.values()))
        return with_possible_ends(told, view)

    def _theses_of(self, fact: Fact, view: GraphView) -> list[Thesis]:
        """Return the theses that state a fact and nothing else."""
        words = normalise_name(fact.object).split()
        return [
            thesis
            for thesis in view.theses(about=fact.subject)
            if words[-1] in normalise_name(thesis.text) and fact in self._facts_of(thesis)
        ]

    def _facts_of(self, thesis: Thesis) -> tuple[Fact, ...]:
        """Return the facts of a thesis that says nothing else; none of another thesis."""
        speaker = next((name for name in thesis.objects if thesis.text.startswith(f"{name}: ")), "")
        reading = self._read(thesis.text, speaker, None)
        return tuple(s for s in reading.extraction.statements if isinstance(s, Fact)) if reading.whole else ()


class _Reading(NamedTuple):
    """What was read in a text.

    Args:
        extraction: its statements.
        changes: what it says has ended.
        replacing: facts that hold "now", in place of others.
        restricted: facts that hold only at some times: "I don't drink coffee after lunch".
        correction: that it corrects something; ``None`` when it does not.
        amendment: what it calls wrong and right in freer words; ``None`` when it calls nothing so.
        whole: whether its facts say all of it.
        said: its sentences in English that are no questions, jokes or stories, without label and greeting.
    """

    extraction: Extraction
    changes: tuple[Change, ...]
    replacing: tuple[Fact, ...]
    restricted: frozenset[Fact]
    correction: Correction | None
    amendment: Amendment | None
    whole: bool
    said: tuple[str, ...]


def _read(text: str, speaker: str, at: float | None) -> _Reading:
    """Read a text, with a speaker or without."""
    readers: list[_ParsedPassageExtractor] = []
    if speaker and not is_program(speaker):
        text = with_questions_apart(text)

    def reader(passage: AnnotatedPassage, name: str, states_facts: bool) -> PassageExtractor:
        left = _LONGEST_MESSAGE - sum(one.word_count for one in readers)
        readers.append(_ParsedPassageExtractor(passage, name, states_facts, at=at, most_words=left))
        return readers[-1]

    def document_reader(passage: AnnotatedPassage, name: str, states_facts: bool) -> PassageExtractor:
        return DocumentPassageExtractor(passage, name, states_facts, at=at)

    extraction = merged(ParsedExtractor.name, statements_of(text, speaker, reader, document_reader))
    body = text.removeprefix(f"{speaker}: ") if speaker else text
    is_short = len(body) <= _LONGEST_CORRECTION
    correction = correction_of(body, speaker or USER) if is_short else None
    amendment = amendment_of(body) if is_short else None
    changes = tuple(change for one in readers for change in one.changes)
    replacing = tuple(fact for one in readers for fact in one.replacing)
    restricted = frozenset(fact for one in readers for fact in one.restricted)
    whole = bool(readers) and all(one.whole for one in readers)
    said = tuple(sentence for one in readers for sentence in one.said)
    return _Reading(extraction, changes, replacing, restricted, correction, amendment, whole, said)


class _ParsedPassageExtractor(PassageExtractor):
    """Extracts the sentences of one passage, with the parses of all of them.

    Args:
        passage: the passage.
        speaker: the meaning of "I" in sentences that name no speaker.
        states_facts: whether its plain statements are read; not in a language without rules.
        at: world time of the text; ``None`` where that is not known.
        is_simple: whether it is one simple sentence that was taken out of a message.
        most_words: how many words are read; the rest of the passage states nothing, so that reading takes a bounded
            time.
    """

    persons = PassageExtractor.persons | WORDS["relations"]

    def __init__(
        self,
        passage: AnnotatedPassage,
        speaker: str,
        states_facts: bool = True,
        *,
        at: float | None = None,
        is_simple: bool = False,
        most_words: int = _LONGEST_MESSAGE,
    ) -> None:
        super().__init__(passage, speaker, states_facts, at=at)
        self.word_count = 0
        """How many words were read; as many as could be where some were not."""
        self._is_simple = is_simple
        self._simple_sentences = None if is_simple or is_program(speaker) else SimpleSentences()
        self._only: Doc | None = None
        first = passage.sentences[0][0] if passage.sentences else None
        self._is_correction = first is not None and _CORRECTING.match(first.text, first.body) is not None
        self._docs: dict[int, Doc] = {}
        self._message = ""
        self.changes: list[Change] = []
        self.replacing: list[Fact] = []
        self.restricted: list[Fact] = []
        self.said: list[str] = []
        self._known: set[str] = set()
        self._is_letter = is_letter(passage.sentences)
        discourse = Discourse(passage.context, passage.topic, speaker, is_letter=self._is_letter)
        self._whole_clauses = WholeClauses(discourse, at)
        self._letter = Letter(discourse, at)
        self._relative: str | None = None
        self._is_plan_before = False
        self._is_given_text = False
        self._is_all_that_is_said = False
        self._beside: dict[int, str] = {}
        self.whole = states_facts and not any(sentence.is_foreign for sentence, _ in passage.sentences)
        if states_facts:
            sentences = []
            for sentence, _ in passage.sentences:
                length = len(sentence.text.split())
                if self.word_count + length > most_words:
                    self.word_count = most_words  # so that no shorter one behind it is read
                    break
                if length <= _LONGEST_SENTENCE:
                    sentences.append(sentence)
                    self.word_count += length
            self.whole = self.whole and len(sentences) == len(passage.sentences)
            said_texts = [sentence.text[_begin(sentence) :] for sentence in sentences]
            self._message = " ".join(said_texts)
            if len(said_texts) == 1 and not is_program(speaker):
                said_texts = [with_speaker(said_texts[0])]
            texts = map(normalised, said_texts)
            docs = parse(_ANY_MORE.sub(" anymore", _NOWADAYS.sub("", text)) for text in texts)
            self._docs = {id(sentence): doc for sentence, doc in zip(sentences, docs, strict=True)}
            said = [doc for doc in docs if any(token.tag_ in _FINITE for token in doc)]
            stating = [doc for doc in docs if not states_nothing(doc)]
            if len(docs) == len(passage.sentences):
                self._only = stating[0] if len(stating) == 1 else docs[0] if len(docs) == 1 else None
                self._is_all_that_is_said = len(said) == 1 or self._only is not None
            if at is not None:
                self._beside = {id(docs[i]): text for i, text in with_times_beside(docs, at).items()}

    def _statements(
        self, sentence: Sentence, found: list[NamedEntity], referents: Referents
    ) -> tuple[Clauses, list[Ending]]:
        if id(sentence) not in self._docs:
            self._relative = None
            return Clauses(), []
        clauses, endings = self._statements_before_judgement(sentence, found, referents)
        if self._is_simple or not clauses.facts or not self._speaker:
            return clauses, endings
        kind = self._kind_of(self._docs[id(sentence)])
        by = "" if is_program(self._speaker) else self._speaker
        facts = meant_facts(clauses.facts, sentence.text, self._message, by, self._at, kind)
        dropped = set(clauses.facts) - set(facts)
        self.replacing = [fact for fact in self.replacing if fact not in dropped]
        return clauses._replace(facts=facts, whole=clauses.whole and facts == clauses.facts), endings

    def _statements_before_judgement(
        self, sentence: Sentence, found: list[NamedEntity], referents: Referents
    ) -> tuple[Clauses, list[Ending]]:
        clauses, endings = self._statements_of_whole(sentence, found, referents)
        is_left_out = self._is_letter or self._is_given_text or is_question(sentence) or _is_figurative(sentence)
        if self._simple_sentences is None or is_left_out:
            return clauses, endings
        doc = self._docs[id(sentence)]
        persons = frozenset(e.name for e in found if e.kind == "person")
        facts = self._of_simple_sentences(doc, self._simple_sentences, persons, clauses.facts)
        return clauses._replace(facts=facts, whole=clauses.whole and facts == clauses.facts), endings

    def _is_judged(self, doc: Doc) -> bool:
        """Return whether only the judge decides on the facts of a sentence, and none is left out before."""
        return bool(self._speaker) and self._kind_of(doc) == "talk" and fact_judge() is not None

    def _kind_of(self, doc: Doc) -> TextKind:
        if is_program(self._speaker):
            return "document"
        if self._is_letter:
            return "letter"
        is_plain = self._is_only(doc) and _ONE_SHORT_SENTENCE.fullmatch(doc.text) is not None
        return "sentence" if is_plain else "talk"

    def _is_only(self, doc: Doc) -> bool:
        """Return whether a sentence is all that the message states: the others greet, thank, react or ask."""
        return doc is self._only

    def _of_simple_sentences(
        self, doc: Doc, simple: SimpleSentences, persons: frozenset[str], stated: tuple[Fact, ...]
    ) -> tuple[Fact, ...]:
        """Return the facts of a sentence with those of the simple sentences in it, each read by itself."""
        stated = tuple(one for one in stated if not is_garbled(one))
        parts = simple.of(doc, persons)
        if (stated and len(self._docs) == 1 and len(parts) < 2) or self._is_correction:
            return stated
        is_only = self._is_only(doc) and len(parts) == 1
        has_time = self._at is not None and bool(time_expressions(doc.text, self._at))
        for one in parts:
            if (len(self._docs) == 1 and len(parts) == 1) or (is_only and one.text == doc.text.rstrip(" !.")):
                stated = joined_with(stated, asserted(one, doc, self._speaker, simple.people | persons, self._at))
                continue
            for passage in annotated_passages(f"{self._speaker}: {one.text}.", self._speaker):
                reader = _ParsedPassageExtractor(passage, self._speaker, at=self._at, is_simple=True)
                if not self._is_only(doc):  # others stand beside it: only what is probably right whatever they say
                    reader._only, reader._is_all_that_is_said = None, False
                part = next(iter(reader._docs.values()))
                facts = [s for statements, _ in reader.extract() for s in statements if isinstance(s, Fact)]
                named = [with_name(fact, one, part) for fact in facts]
                found = [
                    f for f in named if (is_only and not is_garbled(f)) or acceptable(f, one, part, has_time=has_time)
                ]
                found += asserted(one, part, self._speaker, simple.people | persons, self._at)
                stated = joined_with(stated, found)
        return stated

    def _statements_of_whole(
        self, sentence: Sentence, found: list[NamedEntity], referents: Referents
    ) -> tuple[Clauses, list[Ending]]:
        self._relative = None
        self._is_given_text = self._is_given_text or _GIVEN_TEXT.match(sentence.text, sentence.body) is not None
        if self._is_given_text:
            self.whole = False
            return Clauses(), []
        if _is_figurative(sentence):
            self.whole = False
            return Clauses(), []
        if is_question(sentence):
            self.whole = False
            return Clauses(), []
        if not is_limited(sentence.text):
            self.said.append(sentence.text[_begin(sentence) :])
        doc = self._docs[id(sentence)]
        names = frozenset(word for e in found if e.kind in ("person", "name") for word in e.name.split())
        read = facts_of(doc, referents, names)
        within = with_person_within(doc, read, found, referents)
        if within is not referents:
            referents = within
            read = facts_of(doc, referents, names)
        if not self._is_simple:  # what a part of a sentence ends, the whole sentence has ended
            clauses = [clause for clause, _ in read.clauses]
            self.changes += changes_of(doc, sentence.text, clauses, referents, self._at)
        self.whole = self.whole and read.whole
        if _NOW.search(sentence.text) is not None:
            self.replacing += [one.fact for one in read.facts if not one.clause.is_past]
        if _RESTRICTED.search(sentence.text) is not None:
            self.restricted += [one.fact for one in read.facts if one.fact.relation.startswith("does not")]
        subject = next((subject for _, subject in read.clauses if subject is not None), None)
        self._relative = _only_relative(doc, subject, found)
        stated = read.facts if self._at is None else with_dated(doc, read, referents, self._at)
        found_facts = whole_facts(doc, read, stated, referents, self._at)
        readings = self._readings(doc, read, found_facts, referents) if found_facts else []
        stated = probable_facts(readings, is_judged=self._is_judged(doc))
        if not stated and self._is_only(doc) and not is_program(referents.speaker) and doc.text[:1] not in "\"'“":
            found_facts = stated = _plainly(doc, read, referents)
        stated = self._with_dated_sentence(doc, stated, referents, names)
        if self._is_plan_before:
            stated = tuple(one for one in stated if not one.clause.is_progressive or one.fact.valid_from is not None)
        self._is_plan_before = _AHEAD.search(sentence.text) is not None or (self._is_plan_before and not stated)
        stated = tuple(one for one in stated if not self._is_now_or_then(one))
        if timed := self._of_clauses_with_times(doc, stated, referents, names):
            known = {(one.fact.subject, one.fact.relation) for one in timed}
            stated = timed + tuple(one for one in stated if (one.fact.subject, one.fact.relation) not in known)
        stated += self._asserted(doc, read, stated, referents)
        if self._is_only(doc) and not is_program(referents.speaker):
            stated = stated or self._of_clauses_alone(doc, referents, names)
            if all(says_who(one) for one in stated):
                keys = {one.fact.key for one in stated}
                stated += tuple(one for one in sole_statement(doc, read, referents) if one.fact.key not in keys)
            stated = tuple(one for one in stated if not one.fact.object.endswith("'s own"))
            stated += living_alone(doc, read, referents)
        if self._is_letter:
            stated = self._letter.understood(doc, stated)
        told = self._of_whole_clauses(doc, stated, referents)
        keys = {one.fact.key for one in stated}
        stated += tuple(
            one
            for one in told
            if one.fact.key not in keys and (self._is_letter or one.fact.subject != referents.speaker)
        )
        whole_ones = (without_joined_clause(doc, one) for one in stated)
        stated = tuple(one for one in whole_ones if one is not None)
        self._known |= {t.lemma_.lower() for t in doc if t.pos_ in ("NOUN", "PROPN")}
        is_whole = read.whole and len(stated) == len(found_facts) and not told
        self.whole = self.whole and is_whole
        facts = tuple(dict.fromkeys(one.fact for one in stated))
        return Clauses(facts, is_whole, None if subject is None else subject.name, _is_person(subject)), []

    def _of_clauses_with_times(
        self, doc: Doc, stated: tuple[LocatedFact, ...], referents: Referents, names: frozenset[str]
    ) -> tuple[LocatedFact, ...]:
        """Return what the clauses of a sentence say at their times, where nothing with a time is stated."""
        if self._at is None or abs(self._at) < TURNS or not self._is_only(doc) or is_program(referents.speaker):
            return ()
        if any(one.fact.valid_from is not None or one.fact.valid_to is not None for one in stated) or is_unmeant(doc):
            return ()
        parts = parse(map(normalised, clauses_with_times(doc.text, self._at)))
        return tuple(one for part in parts for one in dated_sentence(part, referents, names, self._at))

    def _of_clauses_alone(self, doc: Doc, referents: Referents, names: frozenset[str]) -> tuple[LocatedFact, ...]:
        """Return what the clauses of a sentence state, each read by itself."""
        parts = clauses_alone(doc.text, self._at) if not is_unmeant(doc) else ()
        found: dict[tuple[str, str, str], LocatedFact] = {}
        for part in parse(map(normalised, parts)):
            read = facts_of(part, referents, names)
            stated = read.facts if self._at is None else with_dated(part, read, referents, self._at)
            whole = whole_facts(part, read, stated, referents, self._at)
            readings = self._readings(part, read, whole, referents) if whole else []
            stated = probable_facts(readings, is_judged=self._is_judged(doc))
            stated = stated or _plainly(part, read, referents)
            dated = () if self._at is None else dated_sentence(part, referents, names, self._at)
            stated = dated or stated
            said = [one for one in stated if not self._is_now_or_then(one)]
            for one in (*said, *asserted_facts(part, read, stated, referents)):
                if (cut := without_joined_clause(part, one)) is not None:
                    found[cut.fact.key] = cut
        return tuple(found.values())

    def _asserted(
        self, doc: Doc, read: SentenceFacts, stated: tuple[LocatedFact, ...], referents: Referents
    ) -> tuple[LocatedFact, ...]:
        """Return what a person asserts beside other facts; among other sentences only what is probably right."""
        if is_program(referents.speaker):
            return ()
        found = asserted_facts(doc, read, stated, referents)
        if self._is_only(doc) or self._is_letter or not found:
            return found
        sure = tuple(one for one in found if is_distinct(one.clause))
        readings = self._readings(doc, read, sure, referents)
        return tuple(one.stated for one in readings if is_likely(one, is_judged=self._is_judged(doc)))

    def _of_whole_clauses(
        self, doc: Doc, stated: tuple[LocatedFact, ...], referents: Referents
    ) -> tuple[LocatedFact, ...]:
        """Return what whole clauses state beside other facts; nothing of a program, which writes drafts and advice."""
        if is_program(referents.speaker):
            return ()
        return self._whole_clauses.read(doc, frozenset(one.clause.verb for one in stated if not is_kinship(one)))

    def _with_dated_sentence(
        self, doc: Doc, stated: tuple[LocatedFact, ...], referents: Referents, names: frozenset[str]
    ) -> tuple[LocatedFact, ...]:
        """Return the facts of a sentence; what it says at its time, where that is all that the message says."""
        if self._at is None:
            return stated
        is_dated = any(one.fact.valid_from is not None or one.fact.valid_to is not None for one in stated)
        if id(doc) in self._beside and not is_dated:
            doc = parse([self._beside[id(doc)]])[0]
        elif not self._is_all_that_is_said or (is_dated and not misleads(doc, self._at)):
            return stated
        dated = dated_sentence(doc, referents, names, self._at)
        if not dated:
            return stated
        keys = {one.fact.key for one in dated}
        return dated + tuple(one for one in stated if is_kinship(one) and one.fact.key not in keys)

    def _is_now_or_then(self, one: LocatedFact) -> bool:
        """Return whether "quit in May", which may be of the past, was dated as one to come."""
        verb, begin = one.clause.verb, one.fact.valid_from
        is_bare = verb.lower_ in WORDS["same_past"] and verb.tag_ != "VBZ" and not one.clause.auxiliaries
        return is_bare and begin is not None and self._at is not None and begin > self._at

    def _update_subject(self, sentence: Sentence, found: list[NamedEntity], facts: tuple[Fact, ...]) -> None:
        super()._update_subject(sentence, found, facts)
        if self._relative is not None:  # "My mother is a nurse. She lives in Porto."
            self._subject, self._subject_is_person = self._relative, True
            role = self._relative.rpartition(" ")[2].lower()
            if role in WORDS["women"] | WORDS["men"]:
                self._genders[self._relative] = role in WORDS["women"]
            self._other_person_named = False

    def _readings(
        self, doc: Doc, read: SentenceFacts, found: tuple[LocatedFact, ...], referents: Referents
    ) -> list[Reading]:
        """Return the facts of a sentence with what their probability is estimated from."""
        is_dated = self._at is not None and abs(self._at) >= TURNS
        times = tuple(time_expressions(doc.text, self._at)) if self._at is not None and is_dated else ()
        understood = {one.clause.verb for one in read.facts}
        known = frozenset(self._known)
        is_alone = self._is_only(doc)
        return [
            Reading(doc, one, referents, times, known, one.clause.verb not in understood, is_alone) for one in found
        ]


def _end_of(fact: Fact, reason: str, speaker: str, at: float | None) -> float | None:
    """Return the time at which a fact ends, as the sentence that ends it says."""
    return end_stated(reason.removeprefix(f"{speaker}: "), at, {fact.subject, fact.object} - {speaker})


def _is_figurative(sentence: Sentence) -> bool:
    """Return whether a sentence is ironic or exaggerates."""
    is_ironic = any(pattern.match(sentence.text, sentence.body) for pattern in (_IRONY, _IRONIC_PRAISE))
    return is_ironic or _EXAGGERATED.search(sentence.text, sentence.body) is not None


def _plainly(doc: Doc, read: SentenceFacts, referents: Referents) -> tuple[LocatedFact, ...]:
    """Return what the only sentence of a message says plainly, where the rules that need its parse are not sure."""
    facts = plainly_said(doc.text, referents, last=True)
    verb = read.clauses[0][0].verb if read.clauses else next((t for t in doc if t.dep_ == "ROOT"), doc[0])
    if not facts or is_figure(verb):
        return ()
    without = Clause(doc[0], None, doc[0].lemma_.lower(), (), "", False, False, False, False, "")
    said = read.clauses[0][0] if read.clauses else without
    return tuple(LocatedFact(replace(one, aspect=aspect_for(one)), said, is_plain=True) for one in facts)


def is_letter(sentences: list[tuple[Sentence, list[NamedEntity]]]) -> bool:
    """Return whether a message is one of several paragraphs, as a mail is: what it tells of its sender is news.

    In a talk "we played games" says little; in a mail "I have sold the car" is there because somebody should know it.

    Args:
        sentences: the sentences of the message.
    """
    paragraphs = {sentence.paragraph for sentence, _ in sentences}
    is_code = any(_CODE.search(sentence.text) for sentence, _ in sentences)
    last = sentences[-1][0].text.strip() if sentences else ""
    is_signed = len(last.split()) < 5 and last[-1:].isalpha()  # the end of a long letter, read by itself
    return len(paragraphs) > 1 and (len(sentences) > 2 or is_signed) and not is_code


def _begin(sentence: Sentence) -> int:
    """Return where a sentence begins after a greeting: "Hey Maria, last week was ..." begins at "last"."""
    if sentence.speaker is None:
        return sentence.body
    begin = sentence.body
    for opening in (OPENING, _GREETING, _FROM_NOW, _PREAMBLE):
        match = opening.match(sentence.text, begin)
        if match is not None and match.end() < len(sentence.text):
            begin = match.end()
    return begin


def _only_relative(doc: Doc, subject: NamedPhrase | None, found: list[NamedEntity]) -> str | None:
    """Return the relative of the speaker who is the subject of a sentence, if it speaks of no other person."""
    if subject is None or subject.owner is None or subject.given_name is not None or subject.head.tag_ != "NN":
        return None
    if subject.lemma not in WORDS["relations"] or any(e.kind == "person" for e in found):
        return None
    persons = [t for t in doc if t.lemma_.lower() in WORDS["relations"] and t.tag_ in ("NN", "NNS")]
    is_only = len(persons) == 1 and not any(t.lower_ in _THIRD_PERSONS for t in doc[: subject.head.i])
    return subject.name if is_only else None


def _is_person(subject: NamedPhrase | None) -> bool:
    return subject is not None and (subject.head.tag_ == "PRP" or subject.given_name is not None)
