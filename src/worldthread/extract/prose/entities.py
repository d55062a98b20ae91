"""Finds the entities of a text: proper names, quoted titles, numbers, dates and common noun phrases, by rule.

One regular expression cuts a sentence into spans; the whole passage decides which of them are names. A capital at the
beginning of a sentence says little. Such a word is a name only if it is no common word and the passage has it with a
capital elsewhere, or more words of a name follow, or a verb in the singular follows (before which a common noun would
need an article).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from worldthread.extract.prose.dates import MONTH, iso_date
from worldthread.extract.prose.naming import AUXILIARIES, NamingContext, opens_sentence
from worldthread.extract.prose.sentences import Sentence, split_sentences, title_of
from worldthread.extract.prose.spans import Token, tokens_of
from worldthread.extract.prose.words import WORDS

Kind: TypeAlias = Literal["person", "name", "title", "number", "date", "phrase"]

_LONGEST_NAME: Final = 8  # words; longer spans of capitals are headlines
_LONGEST_PHRASE: Final = 3
_WINDOW: Final = 400  # sentences of one annotated passage


class NamedEntity(NamedTuple):
    """Something that a text names.

    Args:
        name: the name: the full name for a short form, ISO 8601 for a date, else as written, without article.
        kind: ``person`` (a name that looks like a person's), ``name`` (any other proper name), ``title`` (quoted),
            ``number`` (with its unit), ``date``, or ``phrase`` (a common noun phrase, in lower case).
        start: offset at which the mention begins.
        end: offset at which it ends (exclusive).
    """

    name: str
    kind: Kind
    start: int
    end: int


_FUNCTION: Final = WORDS["function"]
_PHRASE_END: Final = _FUNCTION | WORDS["verbs"]
_DETERMINERS: Final = WORDS["determiners"]
_NAMED_TIMES: Final = WORDS["months"] | WORDS["weekdays"]
_ORDINAL: Final = re.compile(r"\d+(?:st|nd|rd|th)")
_YEAR: Final = re.compile(r"(?:1\d|20)\d\ds?")
_BRACKET: Final = re.compile(r"\s*\([^()]*\)\s*$")
_VERB_FORM: Final = re.compile(
    r"(?!(?:family|assembly|supply|monopoly|ally|rally|reply)$)(?:[^\W\d]+ed|[^\W\d]+ly|[^\W\d]+(?:ates|izes|ises|ifies|ing))$"
)


def topic_of(title: str) -> str:
    """Return the name in a title, without a bracket at its end: "Mercury" for "Mercury (planet)"."""
    return _BRACKET.sub("", title).strip(' \t*_#"“”') or title


def find_entities(text: str, tokens: list[Token], context: NamingContext, body: int = 0) -> list[NamedEntity]:
    """Return the entities of one sentence.

    Args:
        text: the sentence.
        tokens: its spans (:func:`~worldthread.extract.prose.spans.tokens_of`).
        context: what the passage shows about its names.
        body: offset at which the sentence proper begins, after a speaker's label.

    Returns:
        The entities, in order of their offsets in ``text``.
    """
    found: list[NamedEntity] = []
    phrase: list[Token] = []
    determined = False
    last = ("", 0, 0, "")
    for token in tokens:
        kind, start, end, span = token
        if phrase and text[last[2] : start] != " ":
            _add_phrase(phrase, determined, "", found)
            phrase = []
        if last[2] and text[last[2] : start] not in (" ", "'s ", "’s "):
            determined = False
        elif text[last[2] : start] in ("'s ", "’s "):
            determined = True
        last = token
        if kind == "word":
            low = span.lower()
            if low in _PHRASE_END:
                _add_phrase(phrase, determined, low, found)
                phrase, determined = [], low in _DETERMINERS
            elif low.endswith(("'s", "’s")):
                _add_phrase([*phrase, (kind, start, end - 2, span[:-2])], determined, "", found)
                phrase, determined = [], True
            else:
                phrase.append(token)
            continue
        if kind == "name" and span.lower() in _DETERMINERS:
            _add_phrase(phrase, determined, "", found)
            phrase, determined = [], True
            continue
        if kind == "name":
            _add_phrase([], determined, "", found)
            if phrase and (len(phrase) > 1 or determined):
                _add_phrase(phrase, determined, "", found)
            _add_name(token, text, body, context, found)
        else:
            _add_phrase(phrase, determined, "", found)
            _add_value(token, found)
        phrase = []
        determined = determined or (kind == "number" and _YEAR.fullmatch(span) is None)  # "an American company"
    _add_phrase(phrase, determined, "", found)
    if context.topic is not None and not any(e.name == context.topic for e in found):
        mention = context.topic_in(text, body)
        if mention is not None:
            begin, stop = mention
            if not any(e.start <= begin and e.end >= stop and e.end - e.start > stop - begin for e in found):
                found = [e for e in found if e.end <= begin or e.start >= stop]
                found.append(NamedEntity(context.topic, _kind_of_name(context, context.topic), begin, stop))
                found.sort(key=lambda e: e.start)
    return found


def _kind_of_name(context: NamingContext, name: str) -> Kind:
    return "person" if context.is_person(name) else "name"


def _add_value(token: Token, found: list[NamedEntity]) -> None:
    """Add the entity of a date, number, address or quoted title."""
    kind, start, end, span = token
    if kind == "date":
        found.append(NamedEntity(iso_date(span), "date", start, end))
    elif kind == "time":
        found.append(NamedEntity(span.strip("."), "date", start, end))
    elif kind == "title":
        words = span.split()
        capitals = sum(w[0].isupper() for w in words)
        if span[-1] not in ",.!?;" and len(words) <= 10 and (capitals * 2 >= len(words) or len(words) < 3):
            found.append(NamedEntity(span, "title", start, end))
    elif kind == "address":
        found.append(NamedEntity(span.rstrip(".,;:!?)'"), "name", start, end))
    elif _YEAR.fullmatch(span):
        found.append(NamedEntity(span, "date", start, end))
    elif not _ORDINAL.match(span):
        code = kind == "code" or (span[-1].isalpha() and " " not in span and "-" not in span)
        found.append(NamedEntity(span, "name" if code else "number", start, end))


def _add_name(token: Token, text: str, body: int, context: NamingContext, found: list[NamedEntity]) -> None:
    """Add the entities of a span that begins with a capital."""
    _, start, end, span = token
    words = span.split()
    opens = opens_sentence(text, start, body)
    while words and (
        words[0] in ("I", "The", "A", "An")
        or (
            opens
            and words[0].lower() in _FUNCTION
            and len(words[0]) > 1
            and not (len(words) == 1 and context.opens_with_name(words[0], text, end))
        )
    ):
        start += len(words[0]) + 1
        words = words[1:]
        if words and (words[0].islower() or (words[0].isdecimal() and len(words[0]) < 4)):
            return
        opens = opens and words == []
    span = text[start:end]
    if not words:
        return
    head, of, tail = span.partition(" of ")
    apart = (" " in head and context.is_person(head)) or head.lower() in WORDS["offices"]
    if of and (apart or len(words) > _LONGEST_NAME):  # "Anna Smith of the Royal Society" names two
        if head.lower() in WORDS["offices"]:
            found.append(NamedEntity(head.lower(), "phrase", start, start + len(head)))
        else:
            _add_name(("name", start, start + len(head), head), text, body, context, found)
        following = end - len(tail.removeprefix("the "))
        _add_name(("name", following, end, text[following:end]), text, body, context, found)
        return
    if len(words) > _LONGEST_NAME:
        return
    if len(words) == 1:
        word = words[0]
        if re.fullmatch(rf"{MONTH}|[A-Z][a-z]+day", word) and word.lower().rstrip(".") in _NAMED_TIMES:
            if word not in ("May", "March") or not opens:
                found.append(NamedEntity(word, "date", start, end))
            return
        if opens_sentence(text, start, body) and not context.opens_with_name(word, text, end):
            return
        is_name = opens or word.lower() in AUXILIARIES or (word.isupper() and len(word) > 1)  # "I met Will"
        if word.lower() in _FUNCTION and not is_name:
            return
    full = context.aliases.get(span)
    if full is not None and not re.search(r"\b[Tt]he $", text[max(0, start - 4) : start]):
        found.append(NamedEntity(full, _kind_of_name(context, full), start, end))
        return
    found.append(NamedEntity(span, _kind_of_name(context, span), start, end))


def _add_phrase(tokens: list[Token], determined: bool, following: str, found: list[NamedEntity]) -> None:
    """Add the common noun phrase among a run of lower-case words, if there is one.

    Args:
        tokens: the words.
        determined: whether an article or another determiner comes before them.
        following: the function word or verb that ends the run; empty when something else does.
        found: takes the entity.
    """
    words: list[Token] = []
    for token in tokens:
        word = token[3]
        before = words[-1][3] if words else "ly"
        if not before.endswith("ly") and _VERB_FORM.match(word) and not (word.endswith("ing") and before[-1] != "s"):
            break
        words.append(token)
    if (
        len(words) > 1
        and len(words) == len(tokens)
        and following in _DETERMINERS
        and re.search(r"[^sui]s$", words[-1][3])
    ):
        words.pop()  # "the bank issues the": a verb
    while words and words[0][3].endswith("ly"):
        words = words[1:]
    if len(words) > _LONGEST_PHRASE:
        words = words[:_LONGEST_PHRASE] if determined else words[-_LONGEST_PHRASE:]
    if not words:
        return
    last = words[-1][3]
    noun = last.endswith(tuple(WORDS["noun_endings"])) and len(last) > 5
    if not determined and not noun:
        if len(words) < 2 or not words[-2][3].endswith(tuple(WORDS["adjective_endings"])):
            return
        words = words[-2:]
    if len(last) < 3 or last == "old" or (not last.isascii() and not last.isalpha()):
        return
    if last.endswith(tuple(WORDS["adjective_endings"])) and len(words) == 1 and not determined:
        return
    name = " ".join(t[3].lower() for t in words)
    found.append(NamedEntity(name, "phrase", words[0][1], words[-1][2]))


class AnnotatedPassage(NamedTuple):
    """Sentences of a text with their entities.

    Args:
        topic: the name in the title of the text; ``None`` without a title.
        context: what the sentences show about their names.
        sentences: each sentence with its entities, whose offsets count in the text of the sentence.
    """

    topic: str | None
    context: NamingContext
    sentences: list[tuple[Sentence, list[NamedEntity]]]


def annotated_passages(text: str, speaker: str = "") -> Iterator[AnnotatedPassage]:
    """Return an iterator of passages of at most 400 sentences, which share the title and nothing else.

    Args:
        text: the text.
        speaker: who says it. A text that begins with the speaker's label is a message, which has no title.

    Returns:
        The passages, in order.
    """
    label = f"{speaker}: "
    if speaker and text.startswith(label):
        return _annotated(text, None, len(label), speaker)
    title, begin = title_of(text)
    return _annotated(text, None if title is None else topic_of(title), begin)


def _annotated(text: str, topic: str | None, begin: int, speaker: str | None = None) -> Iterator[AnnotatedPassage]:
    """Yield the passages of a text with this topic, whose sentences start at ``begin``."""
    sentences = split_sentences(text, begin, speaker)
    for first in range(0, len(sentences), _WINDOW):
        part = sentences[first : first + _WINDOW]
        tokens = [tokens_of(s.text, s.body) for s in part]
        context = NamingContext([(s.text, t, s.body) for s, t in zip(part, tokens, strict=True)], topic)
        found = [(s, find_entities(s.text, t, context, s.body)) for s, t in zip(part, tokens, strict=True)]
        yield AnnotatedPassage(topic, context, found)


def entities(text: str) -> list[NamedEntity]:
    """Return the entities of a text, in order; a title line and the speakers of chat lines are entities too.

    >>> [e.name for e in entities("Who is the wife of the director of Titanic?")]
    ['wife', 'director', 'Titanic']

    Args:
        text: a passage or a question.

    Returns:
        The entities, with offsets in ``text``; a name that is mentioned twice is in the list twice.
    """
    found: list[NamedEntity] = []
    title, begin = title_of(text)
    topic = None if title is None else topic_of(title)
    if topic is not None:
        start = text.index(topic)
        found.append(NamedEntity(topic, "name", start, start + len(topic)))
    for passage in _annotated(text, topic, begin):
        for sentence, named in passage.sentences:
            if sentence.speaker is not None and sentence.body:
                found.append(
                    NamedEntity(sentence.speaker, "person", sentence.start, sentence.start + len(sentence.speaker))
                )
            found.extend(_in_whole_text(entity, sentence, text) for entity in named)
    return found


def _in_whole_text(entity: NamedEntity, sentence: Sentence, text: str) -> NamedEntity:
    """Return ``entity`` with its offsets in the whole text; it is searched for where white space was collapsed."""
    if sentence.end - sentence.start == len(sentence.text):
        return entity._replace(start=sentence.start + entity.start, end=sentence.start + entity.end)
    mention = r"\s+".join(map(re.escape, sentence.text[entity.start : entity.end].split()))
    match = re.compile(mention).search(text, sentence.start + entity.start, sentence.end)
    assert match is not None
    return entity._replace(start=match.start(), end=match.end())
