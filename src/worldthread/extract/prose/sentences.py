"""Splits prose into sentences: paragraphs, lists, headings, chat lines and running text, in one pass over the text.

A sentence ends at ``.``, ``!``, ``?`` or an ellipsis that white space follows, at the full-width marks of Chinese and
Japanese, at ``;`` between clauses long enough to stand alone, and at a line break that is not just the wrapping of a
paragraph. Full stops of abbreviations, initials and numbers do not end a sentence. A sentence that is longer than
:data:`LONGEST_SENTENCE` characters is cut, where possible after a clause, else between words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from worldthread.extract.prose.mail_parts import foreign_lines, quoted_clauses
from worldthread.extract.prose.words import WORDS
from worldthread.support.text import one_line

LONGEST_SENTENCE: Final = 1000
"""Characters. A longer sentence is cut after the last clause that fits, else the last word, else at the limit."""

_WRAPPED_LINE: Final = 60  # characters; a longer line without a final mark continues in the next one
_SHORTEST_CLAUSE: Final = 20  # characters on either side of a semicolon that ends a sentence
_LONGEST_TITLE: Final = 120
_LONGEST_HEAD: Final = 30  # characters of a title that is not mistaken for the first line of a wrapped paragraph

_LINE: Final = re.compile(r"[^\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_SPACE: Final = re.compile(r"\s*")
_PREFIX: Final = re.compile(
    r"\s*(?:(?P<heading>\#{1,6}(?=\s))|(?P<bullet>[-*+•‣◦▪–]|>+|\(?\d{1,3}[.)]|\(?[a-z]\))(?=\s))?"
    r"\s*(?:\[[\d:. T/-]{4,25}\]\s*|\d{1,2}:\d{2}(?::\d{2})?\s+(?:[AaPp][Mm]\s+)?)?"
    r"(?P<label>[^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2}) ?[:：](?=\s)\s*"
    r"|\s*(?:(?P<heading2>\#{1,6}(?=\s))|(?P<bullet2>[-*+•‣◦▪–]|>+|\(?\d{1,3}[.)]|\(?[a-z]\))(?=\s))\s*"
)
_FIRST_SECOND_PERSON: Final = re.compile(r"\b(?:I|I['’](?:m|ve|d|ll)|[Mm]y|me|mine|[Ww]e|[Oo]ur|us|[Yy]ou|[Yy]our)\b")
_END: Final = re.compile(
    r"(?P<mark>[.!?…]++)[\"'”’»)\]]*+(?=\s|$)(?: ?''(?=\s|$))?"
    r"|(?P<wide>[。！？｡]++)[\"'”’」』）)]*+|(?P<semicolon>;)(?=\s)"
)
_LAST_WORD: Final = re.compile(r"[^\s(\[\"'“‘]*$")
_NEXT: Final = re.compile(r"\s*[\"'“‘«(\[]*(\S?)(\S*)")
_CLAUSE: Final = re.compile(r"[,;:)，；：、—]\s*|\s[-–]\s")


class Sentence(NamedTuple):
    """A sentence of a text.

    Args:
        text: the sentence with white space collapsed, without the mark of a list item or a heading, with a speaker's
            label.
        start: offset in the whole text at which it begins.
        end: offset in the whole text at which it ends (exclusive).
        body: offset in ``text`` at which the sentence proper begins, after a speaker's label.
        speaker: who says it in a chat line such as "Anna: I live in Rome."; ``None`` elsewhere.
        paragraph: number of the paragraph (list item, heading, chat line) that it belongs to, from 0.
        is_foreign: whether it is in a message, but not by its sender: quoted, forwarded, a signature.
    """

    text: str
    start: int
    end: int
    body: int = 0
    speaker: str | None = None
    paragraph: int = 0
    is_foreign: bool = False


class _Block(NamedTuple):
    """A paragraph, list item, heading or chat line.

    Args:
        start: offset at which it begins, after the mark of a list item or a heading.
        end: offset at which it ends (exclusive).
        label: the words before a colon at its beginning, which may name a speaker; ``None`` without any.
        label_end: offset at which the text after the label begins; ``start`` without a label.
    """

    start: int
    end: int
    label: str | None
    label_end: int


def title_of(text: str) -> tuple[str | None, int]:
    r"""Return the title in the first line of a text, and where the text after it begins.

    The first line is a title when more text follows and the line is short, does not end like a sentence, and does not
    begin like a list item or a chat line.

    >>> title_of("Mercury (planet)\nMercury is the smallest planet.")
    ('Mercury (planet)', 17)

    Args:
        text: the text.

    Returns:
        The title, without the mark of a Markdown heading, and the offset of the text after it; ``(None, 0)`` without a
        title.
    """
    first = _LINE.search(text)
    if first is None or not first[0].strip():
        return None, 0
    line = first[0]
    rest = _SPACE.match(text, first.end())
    assert rest is not None
    if rest.end() == len(text) or first.end() == len(text) or len(line) > _LONGEST_TITLE:
        return None, 0
    prefix = _PREFIX.match(line)
    heading = prefix is not None and (prefix["heading2"] is not None)
    title = line[prefix.end() if prefix is not None and heading else 0 :].strip().strip("#*_ ")
    second = _LINE.search(text, rest.end())
    assert second is not None
    if not any(c.isalnum() for c in title):
        return None, 0
    if not heading:
        if prefix is not None and (prefix["label"] is None or _is_role(prefix["label"]) or _label_of(second[0])):
            return None, 0
        if title[-1] in ".!?:;,…。！？：；，" and not title.endswith(("Jr.", "Sr.", "Inc.", "U.S.")):
            return None, 0
        if " > " in title or (" " not in title and second[0].startswith(f"{title.partition('(')[0]} ")):
            return title, rest.end()  # the headings of a chunk; "tidemark" before "tidemark is a program"
        words = title.split()
        capitals = sum(not word[0].islower() for word in words) * 2 > len(words)
        if (
            title[0].islower()
            or (not capitals and _FIRST_SECOND_PERSON.search(title))
            or (prefix is not None and prefix["bullet"])
        ):
            return None, 0
        is_wrapped = second[0][:1].islower() and "\n\n" not in text[first.end() : rest.end()]
        is_narrow = len(title) <= _LONGEST_HEAD and len(second[0]) >= _WRAPPED_LINE  # no line of a wrapped text
        if len(title.split()) > 14 or (is_wrapped and not is_narrow):
            return None, 0
    return title, rest.end()


def _label_of(line: str) -> str | None:
    prefix = _PREFIX.match(line)
    return None if prefix is None else prefix["label"]


def _is_role(label: str) -> bool:
    return label.lower() in WORDS["speaker_roles"]


def _blocks(text: str, start: int, foreign: frozenset[int] = frozenset()) -> Iterator[_Block]:
    """Yield the blocks of a text from ``start`` on; the lines of a wrapped paragraph stay together.

    Args:
        text: the text.
        start: where to begin.
        foreign: where the lines begin that somebody else has written, which are never joined to other ones.
    """
    begin = end = label_end = -1
    was_foreign = False
    label: str | None = None
    for line in _LINE.finditer(text, start):
        if not line[0].strip():
            continue
        prefix = _PREFIX.match(line[0])
        joins = False
        is_foreign = line.start() in foreign
        if begin >= 0 and prefix is None and is_foreign == was_foreign:
            gap = text[end : line.start()]
            joins = (gap in ("\n", "\r\n", "\r")) and _continues(text, end, line.start())
        was_foreign = is_foreign
        if joins:
            end = line.end()
            continue
        if begin >= 0:
            yield _Block(begin, end, label, label_end)
        begin = label_end = line.start()
        end = line.end()
        label = None
        if prefix is not None:
            label = prefix["label"]
            if label is None:
                begin = label_end = line.start() + prefix.end()
            else:
                begin, label_end = line.start() + prefix.start("label"), line.start() + prefix.end()
    if begin >= 0:
        yield _Block(begin, end, label, label_end)


def _continues(text: str, end: int, start: int) -> bool:
    """Return whether the line that ends at ``end`` continues in the line that begins at ``start``."""
    last = text[max(end - 3, 0) : end].rstrip()[-1:]
    if last in '.!?:;…。！？：；"”':
        return last in '."”;' and text[start : start + 1].islower()
    begin = max(text.rfind("\n", 0, end), end - 2 * _WRAPPED_LINE)
    return text[start : start + 1].islower() or end - begin > _WRAPPED_LINE


def _speakers(text: str, blocks: list[_Block]) -> frozenset[str]:
    """Return the labels that name speakers: roles, and labels before "I" or "you", before a question, or used twice."""
    counts: dict[str, int] = {}
    found: set[str] = set()
    for block in blocks:
        label = block.label
        if label is None or label.lower() in WORDS["no_speakers"] or (label[0].islower() and not _is_role(label)):
            continue
        counts[label] = counts.get(label, 0) + 1
        content = text[block.label_end : min(block.end, block.label_end + LONGEST_SENTENCE)]
        if _is_role(label) or counts[label] > 1 or "?" in content or _FIRST_SECOND_PERSON.search(content):
            found.add(label)
    return frozenset(found)


def split_sentences(text: str, start: int = 0, speaker: str | None = None) -> list[Sentence]:
    """Return the sentences of a text in order, in time linear in its length.

    >>> [s.text for s in split_sentences("Dr. No met J. R. Smith at 5 p.m. in Rome. It cost 3.50 dollars! Why?")]
    ['Dr. No met J. R. Smith at 5 p.m. in Rome.', 'It cost 3.50 dollars!', 'Why?']

    Args:
        text: the text.
        start: offset at which to begin, such as after a title.
        speaker: who says the whole text, when that is known. Every sentence then begins with the speaker's label, and
            labels in the text are parts of it.

    Returns:
        The sentences, with offsets in ``text``; none of them is empty.
    """
    if speaker is not None:
        return list(_said_by(speaker, text, start))
    blocks = list(_blocks(text, start))
    speakers = _speakers(text, blocks)
    found = []
    for number, block in enumerate(blocks):
        speaker = block.label if block.label in speakers else None
        body = block.label_end if speaker is not None else block.start
        begin = block.start
        for end in _sentence_ends(text, body, block.end):
            for piece_start, piece_end in _pieces(text, begin, end):
                clean = one_line(text[piece_start:piece_end])
                if clean:
                    label = len(one_line(text[piece_start:body])) + 1 if body > piece_start else 0
                    found.append(Sentence(clean, piece_start, piece_end, label, speaker, number))
            begin = end
    return found


def _said_by(speaker: str, text: str, start: int) -> Iterator[Sentence]:
    """Yield the sentences of a text that one speaker says, each with the speaker's label."""
    label = f"{one_line(speaker)}: "
    foreign = frozenset(start + offset for offset in foreign_lines(text[start:]))
    quoted = [(start + begin, start + end) for begin, end in quoted_clauses(text[start:])]
    for number, block in enumerate(_blocks(text, start, foreign)):
        begin = block.start
        line = max(start, *(text.rfind(mark, 0, begin) + 1 for mark in ("\n", "\r")))
        is_foreign = line in foreign
        for end in _sentence_ends(text, block.start, block.end):
            for piece_start, piece_end in _pieces(text, begin, end):
                clean = one_line(text[piece_start:piece_end])
                is_quoted = any(first < piece_end and piece_start < last for first, last in quoted)
                if clean:
                    is_others = is_foreign or is_quoted
                    yield Sentence(label + clean, piece_start, piece_end, len(label), speaker, number, is_others)
            begin = end


def _sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where the sentences of ``text[start:end]`` end; the last one ends at ``end``."""
    begin = start
    for match in _END.finditer(text, start, end):
        offset = match.end()
        if offset >= end:
            break
        if match["semicolon"] is not None:
            after = text.find(";", offset, min(end, offset + _SHORTEST_CLAUSE))
            is_end = match.start() - begin >= _SHORTEST_CLAUSE and end - offset >= _SHORTEST_CLAUSE and after < 0
        elif match["wide"] is not None:
            is_end = True
        else:
            is_end = _ends_sentence(text, begin, match, end)
        if is_end:
            yield offset
            begin = offset
    yield end


def _ends_sentence(text: str, begin: int, match: re.Match[str], end: int) -> bool:
    """Return whether the mark of ``match`` ends a sentence that began at ``begin``."""
    following = _NEXT.match(text, match.end(), min(end, match.end() + 60))
    assert following is not None
    first, rest = following[1], following[2]
    mark = match["mark"]
    if not first or mark != ".":
        # "Wait... what?", "Yahoo! is a company": lower case after the mark continues the sentence
        return not first.islower()
    if first.islower():
        return first + rest in ("iPhone", "iPad", "eBay", "iOS")
    word = _LAST_WORD.search(text, max(begin, match.start() - 20), match.start())
    last = word[0] if word is not None else ""
    lower = last.lower()
    closed = match.end() > match.end("mark")
    if closed:
        return True
    if lower in WORDS["abbreviations"]:
        # "No." and "Mar." may also end a sentence as words: then no number and no name follows
        return (
            lower in ("no", "art", "sat", "sun", "mar", "dec", "p", "c") and (first + rest).lower() in WORDS["starters"]
        )
    if lower in WORDS["final_abbreviations"] or (len(last) > 1 and last[-2:-1] == "." and last[-1:].isalpha()):
        return (first + rest).lower().rstrip(",.") in WORDS["starters"]
    if len(last) == 1 and last.isupper() and last != "I":
        return (first + rest).lower() in WORDS["starters"] and not first.isdecimal()
    # a number of a list inside a line ("1. First 2. Second") belongs to what follows
    return not (last.isdecimal() and len(last) < 3 and text[begin : match.start()].strip() == last)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield ``text[start:end]`` as spans of at most :data:`LONGEST_SENTENCE` characters."""
    while end - start > LONGEST_SENTENCE:
        limit = start + LONGEST_SENTENCE
        cut = limit
        clauses = [m.end() for m in _CLAUSE.finditer(text, start + LONGEST_SENTENCE // 2, limit)]
        if clauses:
            cut = clauses[-1]
        elif (space := text.rfind(" ", start + LONGEST_SENTENCE // 2, limit)) > 0:
            cut = space + 1
        yield start, cut
        start = cut
    yield start, end
