"""Divides the sentences of a message into simple ones, each with its own subject and one predicate.

"Meg's twelve now and stiff, so the vet's put her on Librela" becomes "Meg is twelve now", "Meg is stiff" and "the vet
has put her on Librela". Rules for plain sentences then see one sentence at a time. What asks, what is only
supposed, wished or reported, and what holds only under a condition is left out.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.letters_of_names import LOWER, UPPER
from worldthread.extract.prose.words import WORDS as PROSE_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spacy.tokens import Doc, Token

LISTS: Final = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(
        files("worldthread.extract.parsed").joinpath("simple_sentences.toml").read_text(encoding="utf-8")
    ).items()
}
_IS: Final = ("'s", "’s")
_FINITE: Final = frozenset(["MD", "VBD", "VBP", "VBZ"])
_NOUN_PHRASE: Final = frozenset(
    ["CD", "DT", "HYPH", "JJ", "JJR", "JJS", "NN", "NNP", "NNPS", "NNS", "POS", "PRP$", "VBG", "VBN"]
)
_SUBJECTS: Final = frozenset(["i", "we", "he", "she", "they", "it", "there", "this", "that"])
_INVERTED: Final = ("were", "had", "should")
_TIMES: Final = PROSE_WORDS["weekdays"] | PROSE_WORDS["months"]
_MARKS: Final = frozenset([",", ";", "–", "—", "-", "--", "...", "…", "(", ")"])
_LONGEST_SUBJECT: Final = 6
_LONGEST: Final = 26  # words of a simple sentence


class Simple(NamedTuple):
    """A simple sentence.

    Args:
        text: the sentence, without a mark at its end.
        subject: the words that it begins with, of which the rest is said.
    """

    text: str
    subject: str


class Span(NamedTuple):
    """Tokens of a sentence.

    Args:
        begin: index of the first.
        end: index after the last.
    """

    begin: int
    end: int


class SimpleSentences:
    """Divides the sentences of one message, in order, and remembers who was spoken of."""

    def __init__(self) -> None:
        self._people = PeopleSpokenOf()

    @property
    def people(self) -> frozenset[str]:
        """The names of the persons and animals that were spoken of."""
        return frozenset(one.rpartition(" ")[2] for one in self._people.known if one.rpartition(" ")[2][:1].isupper())

    def of(self, doc: Doc, persons: frozenset[str]) -> list[Simple]:
        """Return the simple sentences of the next sentence.

        Args:
            doc: the dependency tree of the sentence.
            persons: the names of persons in it.

        Returns:
            The simple sentences that state something, in order, with the persons that pronouns at their beginnings
            mean.
        """
        if not len(doc) or any(t.text in ('"', "“", "”", "``", "''") for t in doc):
            return []
        if doc[0].lower_ in LISTS["doubtful"] or (len(doc) > 1 and doc[0].lower_ in _INVERTED and doc[1].tag_ == "PRP"):
            return []
        found: list[Simple] = []
        subject = ""
        is_reported = False
        for span in _clauses(doc):
            span = _trimmed(doc, span)
            if span.end - span.begin < 2 or span.end - span.begin > _LONGEST:
                continue
            tokens = [doc[i] for i in range(*span)]
            first = tokens[0].lower_
            if first in LISTS["conditions"]:
                is_beside = first in ("after", "before", "since", "while") or (
                    first == "when" and _is_dated(doc[: span.begin])
                )
                return found if is_beside else []
            if is_reported:
                continue
            if _asks(tokens, doc):
                is_reported = True  # what follows is a part of the question: "how do I do it so I'm not late"
                continue
            is_reported = any(
                t.lemma_.lower() in LISTS["reports"] and t.tag_ in _FINITE | {"VBN", "VBG"} for t in tokens
            )
            if is_reported:
                continue
            for text, own in _predicates(doc, span, subject):
                stated = self._people.resolved(text)
                subject = own or subject
                if stated is not None:
                    begin = stated[: len(stated) - len(text) + len(own)] if stated != text else _capital(own)
                    found.append(Simple(stated, begin.strip()))
            self._people.observe(tokens, persons)
        return found


class PeopleSpokenOf:
    """Who was spoken of in a message, to know whom "he" means at the beginning of a simple sentence."""

    def __init__(self) -> None:
        self.known: dict[str, bool | None] = {}
        """Whether each is a woman; ``None`` where that is not known."""

    def observe(self, tokens: list[Token], persons: frozenset[str]) -> None:
        """Note the persons and animals of a simple sentence."""
        text = "".join(t.text_with_ws for t in tokens)
        found: dict[str, bool | None] = {}
        for match in _OWN.finditer(text):
            kin, name = match["kin"].lower(), match["name"]
            shown = f"my {match['before'] or ''}{kin}" + (f" {name}" if name else "")
            if kin in WORDS["pets"]:
                found[name or shown] = None
            elif kin in WORDS["relations"] and not kin.endswith("s"):
                found[shown] = kin in WORDS["women"] if kin in WORDS["women"] | WORDS["men"] else None
        for match in _NAMED_PET.finditer(text):
            if match["kin"].lower() in WORDS["pets"] | WORDS["relations"]:
                found[match["name"]] = None
        named = {one.split()[-1].lower() for one in found}
        if _PARTNER.search(text) is not None:
            found["my partner"] = None
        is_introduced = _I_AM.match(text) is not None
        first = tokens[0]
        is_subject = len(tokens) < 2 or tokens[1].tag_ not in ("NNP", "NNPS")
        if is_subject and first.tag_ == "NNP" and first.text.istitle() and first.text.lower() not in named | _TIMES:
            found[first.text] = None
            named.add(first.text.lower())
            # "Tom met Sam": "he" may be either; a name that is the object alone may be a place
            found |= {t.text: None for t in tokens[1:] if t.dep_ == "dobj" and t.tag_ == "NNP"}
        others = {p for p in persons if p in text and not any(p in one for one in found)}
        if others and not is_introduced:
            found |= dict.fromkeys(others)
        for one, is_woman in found.items():
            same = next((k for k in self.known if k == one or k.endswith(f" {one}")), None)
            self.known.setdefault(same or one, is_woman)

    def _meant(self, pronoun: str) -> str | None:
        """Return the only one whom a pronoun can mean."""
        is_woman = pronoun in ("she", "her")
        fitting = [one for one, known in self.known.items() if known is None or known == is_woman]
        if len(fitting) != 1:
            return None
        self.known[fitting[0]] = is_woman
        return fitting[0]

    def resolved(self, text: str) -> str | None:
        """Return a simple sentence with whom its first word means; ``None`` where that is not clear."""
        match = _PRONOUN.match(text)
        if match is None:
            return _TREATED.sub(lambda m: f"{m[1]}{self._meant(m[2]) or m[2]}", text)
        word = match["word"].lower()
        if word in ("it", "they", "there", "this", "that", "its", "their"):
            return text if word in ("it", "there") else None
        one = self._meant(word)
        if one is None:
            return None
        rest = text[match.end() :]
        shown = one[0].upper() + one[1:]
        if word in ("his", "her"):
            return f"{shown}'s{rest}"
        if rest[:2] in ("'s", "’s"):
            rest = (" has" if re.match(r".s (?:\w+ )?(?:been|got|had)\b", rest) else " is") + rest[2:]
        elif rest[:2] in ("'d", "’d"):
            return None
        elif rest[:3] in ("'ll", "’ll"):
            rest = " will" + rest[3:]
        return shown + rest


_TREATED: Final = re.compile(r"( (?:started|put) )(her|him)(?= on )")
KIN: Final = "|".join(sorted((re.escape(w) for w in WORDS["relations"] | WORDS["pets"]), key=len, reverse=True))
_OWN: Final = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur) (?P<before>(?:[a-z-]+ ){{0,2}}?)(?P<kin>{KIN})\b(?! in law)"
    rf"(?:,? (?:called |named )?(?P<name>[{UPPER}][{LOWER}]++))?(?!['’]s [a-z]+ (?:is|has))"
)
_GAPPED: Final = re.compile(
    rf"(?P<first>(?:is|'s) (?:called|named) [\w -]+?),? and (?:his|her) (?P<kin>{KIN})(?:'s| is)? "
    rf"(?P<name>[{UPPER}]\w+)"
)
_NAMED_PET: Final = re.compile(
    rf"\b(?:an?|one) (?:[a-z0-9-]+ ){{0,4}}?(?P<kin>{KIN})(?:,| called| named) (?P<name>[{UPPER}][{LOWER}]+)"
)
_PARTNER: Final = re.compile(
    r"\b(?:seeing|dating|going out with) "
    r"(?:someone|somebody|an? (?:\w+ )?(?:guy|man|girl|woman|lad|bloke|fella|lady))\b",
    re.IGNORECASE,
)
_I_AM: Final = re.compile(rf"(?:I'm|I am|My name is|my name's|This is) [{UPPER}]|.*, [A-Z]\w+$")
_PRONOUN: Final = re.compile(r"(?P<word>he|she|his|her|they|their|it|its|there|this|that)\b", re.IGNORECASE)


def _clauses(doc: Doc) -> list[Span]:
    """Return the clauses of a sentence that have their own subject, or ask, or begin after a conjunction."""
    cuts = [0]
    i = 1
    while i < len(doc):
        token = doc[i]
        is_mark = token.text in _MARKS and not (
            token.text == "-" and not (doc[i - 1].whitespace_ and token.whitespace_)
        )
        is_conjunction = token.lower_ in LISTS["conjunctions"] or (
            token.lower_ in LISTS["asides"] and token.dep_ in ("mark", "advmod", "cc", "prep")
        )
        is_conjunction = is_conjunction or (token.lower_ == "when" and _is_dated(doc[:i]))
        if is_mark or is_conjunction:
            j = i + 1
            while j < len(doc) and (doc[j].lower_ in LISTS["conjunctions"] | LISTS["openers"] or doc[j].text in _MARKS):
                j += 1
            is_aside = is_conjunction and token.lower_ not in LISTS["conjunctions"]
            if j < len(doc) and (is_aside or _begins_clause(doc, j) or _begins_question(doc, j)):
                if _has_verb(doc, cuts[-1], i):
                    cuts.append(i)
                i = j
                continue
        i += 1
    return [Span(a, b) for a, b in zip(cuts, [*cuts[1:], len(doc)], strict=True)]


def _is_dated(before: Sequence[Token]) -> bool:
    """Return whether what stands before "when" tells of the past with a time of its own: "fell on Monday when ..."."""
    return any(t.tag_ == "VBD" for t in before) and any(t.lower_ in WORDS["times"] for t in before)


def _has_verb(doc: Doc, begin: int, end: int) -> bool:
    """Return whether words say something by themselves: no part before the subject."""
    while begin < end and (doc[begin].lower_ in LISTS["conjunctions"] | LISTS["openers"] or doc[begin].text in _MARKS):
        begin += 1
    if begin == end:
        return False
    if doc[begin].lower_ in LISTS["conditions"]:
        return sum(t.tag_ in _FINITE for t in doc[begin:end]) > 1
    return any(t.tag_ in _FINITE or t.lower_ in ("'s", "'m", "'re", "'ve") for t in doc[begin:end]) or (
        doc[begin].tag_ in ("VBG", "VBN", "VBD", "VB")
    )


def _subject_end(doc: Doc, begin: int) -> int | None:
    """Return where the subject that begins at a word ends, if a verb with a tense follows it."""
    if begin >= len(doc):
        return None
    end = begin
    if doc[begin].lower_ in _SUBJECTS and doc[begin].tag_ in ("PRP", "EX", "DT", "NNP", "NN", "WDT", "CD", "NNS"):
        end = begin + 1
    else:
        if doc[begin].tag_ not in _NOUN_PHRASE or doc[begin].tag_ in ("VBG", "VBN", "POS"):
            return None
        while end < len(doc) and end - begin < _LONGEST_SUBJECT and doc[end].tag_ in _NOUN_PHRASE:
            if _is_contraction(doc, end):
                break
            end += 1
        if not any(t.tag_.startswith("NN") for t in doc[begin:end]):
            return None
    after = end
    while (
        after < len(doc) and after - end < 3 and doc[after].tag_ in ("RB",) and doc[after].lower_ not in ("not", "n't")
    ):
        after += 1
    if after >= len(doc):
        return None
    verb = doc[after]
    if doc[end - 1].tag_ in ("NN", "NNP") and end - begin < 3 and verb.lower_ in ("are", "were", "have", "'re", "do"):
        return None  # "herself and Paul are sick of it"
    if _is_contraction(doc, after) or verb.tag_ in _FINITE or verb.lower_ in ("'m", "'re", "'ve", "'ll", "'d", "'s"):
        return end
    return None


def _is_contraction(doc: Doc, i: int) -> bool:
    """Return whether "'s" is a verb: "Meg's twelve", "Grace's been", but not "Meg's vet"."""
    token = doc[i]
    if token.lower_ not in ("'s", "’s") or i + 1 >= len(doc):
        return False
    if token.tag_ in ("VBZ", "VBP"):
        return True
    j = i + 1
    while j < len(doc) and doc[j].tag_ == "RB" and doc[j].lower_ not in ("back", "home", "now", "here", "away"):
        j += 1
    if j >= len(doc):
        return False
    following = doc[j]
    if following.lower_ in (
        "been",
        "got",
        "had",
        "a",
        "an",
        "the",
        "not",
        "now",
        "back",
        "home",
        "my",
        "at",
        "in",
        "on",
        "with",
    ):
        return True
    if following.tag_ in ("VBD", "VBN") and _has_object(doc, j):
        return True  # "the vet's started her on ..."
    if following.tag_ in ("VBG", "VBN", "JJ", "CD") and not re.match(r"\d+(?:st|nd|rd|th)$", following.lower_):
        after = doc[j + 1] if j + 1 < len(doc) else None
        return after is None or not (after.tag_.startswith(("NN", "JJ", "VB", "MD", "CD")) or after.lower_ == "'s")
    return False


def _has_object(doc: Doc, verb: int) -> bool:
    """Return whether a pronoun, a name or an article follows a participle: who has done something to somebody."""
    following = doc[verb + 1] if verb + 1 < len(doc) else None
    return following is not None and following.tag_ in ("PRP", "NNP", "DT", "PRP$")


def _begins_clause(doc: Doc, begin: int) -> bool:
    return _subject_end(doc, begin) is not None


def _begins_question(doc: Doc, begin: int) -> bool:
    """Return whether words ask or ask for something: "what should I cook", "can you", "please keep that in mind"."""
    low = doc[begin].lower_
    after = doc[begin + 1].lower_ if begin + 1 < len(doc) else ""
    if low in LISTS["asking"] and (low not in LISTS["relative"]):
        return low not in LISTS["auxiliaries"] or after in _SUBJECTS | {"you", "n't", "my", "the", "any"}
    if low in LISTS["relative"]:
        return doc.text.rstrip().endswith("?") and doc[begin].dep_ not in ("nsubj", "nsubjpass")
    return low in LISTS["requests"]


def _asks(tokens: list[Token], doc: Doc) -> bool:
    """Return whether a clause asks, orders or only greets."""
    first = tokens[0]
    is_last = tokens[-1].i >= len(doc) - 2
    if is_last and doc.text.rstrip().endswith("?"):
        return True
    return _begins_question(doc, first.i) or first.lower_ in LISTS["requests"]


def _trimmed(doc: Doc, span: Span) -> Span:
    begin, end = span
    while begin < end and (
        doc[begin].lower_ in LISTS["conjunctions"] | LISTS["openers"] or doc[begin].is_punct or doc[begin].tag_ == "UH"
    ):
        begin += 1
    while end > begin and (
        doc[end - 1].is_punct
        or doc[end - 1].text == "."
        or doc[end - 1].lower_ in LISTS["trailing"] | LISTS["conjunctions"]
    ):
        end -= 1
    return Span(begin, end)


def _predicates(doc: Doc, span: Span, before: str) -> list[tuple[str, str]]:
    """Return simple sentences of one clause, each with its subject as it was written."""
    begin, end = span
    tokens = [doc[i] for i in range(begin, end)]
    close = _subject_end(doc, begin)
    if close is None or close >= end:
        return _without_subject(doc, span, before)
    subject = doc[begin:close].text
    subject = re.sub(
        r"^(?i:wife|husband|son|daughter|mum|mom|dad|brother|sister|partner|boss)$",
        lambda m: f"my {m[0].lower()}",
        subject,
    )
    verb = next(
        (t for t in tokens[close - begin :] if t.tag_ in _FINITE or t.lower_ in ("'s", "'m", "'re", "'ve")), None
    )
    if verb is None:
        return []
    parts = _joined_predicates(doc, close, end, verb)
    if verb.lemma_ == "be" or verb.lower_ in ("'s", "'m", "'re"):
        parts = [part for a, b in parts for part in _joined_states(doc, a, b, verb)]
    found: list[tuple[str, str]] = []
    for number, (a, b) in enumerate(parts):
        words = doc[a:b].text
        if not words:
            continue
        if number == 0 and doc[a].lower_ in ("'s", "’s") and subject.lower() not in _SUBJECTS:
            follow = next((t for t in doc[a + 1 : b] if t.tag_ != "RB"), None)
            is_done = follow is not None and follow.tag_ in ("VBD", "VBN") and _has_object(doc, follow.i)
            has = follow is not None and (is_done or follow.lower_ in ("been", "got", "had"))
            words = f"{'has' if has else 'is'}{doc[a:b].text[2:]}"
        elif number and doc[a].tag_ in ("JJ", "VBN") and not any(t.tag_ in _FINITE for t in doc[a:b]):
            words = f"{'is' if verb.lower_ in _IS else verb.text} {words}"
        space = "" if words[:1] in "'’" else " "
        gapped = _GAPPED.fullmatch(words)
        if gapped is not None and subject.lower() not in _SUBJECTS:
            named = f"{_capital(subject)}'s {gapped['kin']}"
            found.append((f"{_capital(subject)} {gapped['first']}", subject))
            found.append((f"{named} is called {gapped['name']}", named))
            continue
        found.append((_capital(f"{subject}{space}{words}"), subject))
    return found


def _joined_predicates(doc: Doc, begin: int, end: int, verb: Token) -> list[tuple[int, int]]:
    """Return the parts of a predicate that "and" joins: "moved to Bonn and work for Bosch"."""
    cuts: list[int] = []
    for i in range(verb.i + 1, end - 1):
        token = doc[i]
        if token.lower_ not in ("and", "but") and token.text != ",":
            continue
        j = i + 1
        while j < end and doc[j].lower_ in LISTS["conjunctions"] | LISTS["openers"]:
            j += 1
        if j >= end:
            break
        following = doc[j]
        is_verb = following.tag_ in ("VBZ", "VBP", "VBD", "MD") and following.dep_ in (
            "conj",
            "ROOT",
            "aux",
            "auxpass",
            "ccomp",
            "parataxis",
            "advcl",
            "dep",
        )
        is_of_another = following.tag_ == "VBZ" and verb.tag_ != "VBZ"  # "I hate it, tastes like soap"
        if is_verb and not is_of_another and not following.lower_.startswith("'"):
            cuts.append(i)
    if not cuts:
        return [(begin, end)]
    parts = [(begin, cuts[0])]
    for a, b in zip(cuts, [*cuts[1:], end], strict=True):
        first = a
        while first < b and (doc[first].is_punct or doc[first].lower_ in LISTS["conjunctions"] | LISTS["openers"]):
            first += 1
        parts.append((first, b))
    return [(a, _without_mark(doc, a, b)) for a, b in parts]


def _joined_states(doc: Doc, begin: int, end: int, verb: Token) -> list[tuple[int, int]]:
    """Return the parts of "is twelve now and stiff in the mornings", the second without its verb."""
    if not begin <= verb.i < end:
        return [(begin, end)]
    for i in range(verb.i + 2, end - 1):
        if (
            doc[i].lower_ == "and"
            and doc[i + 1].tag_ in ("JJ", "VBN")
            and (
                doc[i - 1].tag_ in ("JJ", "CD", "VBN")
                or doc[i - 1].lower_ in WORDS["lasting_adjectives"]
                or doc[i - 1].lower_ == "now"
            )
        ):
            following = doc[i + 2] if i + 2 < end else None
            if following is None or following.tag_ in ("IN", "TO", "RB") or following.is_punct:
                return [(begin, i), (i + 1, end)]
    return [(begin, end)]


def _without_mark(doc: Doc, begin: int, end: int) -> int:
    while end > begin and (
        doc[end - 1].is_punct or doc[end - 1].text == "." or doc[end - 1].lower_ in LISTS["conjunctions"]
    ):
        end -= 1
    return end


def _without_subject(doc: Doc, span: Span, before: str) -> list[tuple[str, str]]:
    """Return a clause whose subject is left out: "turned 76 in May", "got a two bedder in Kirwan"."""
    begin, end = span
    first = doc[begin]
    words = doc[begin:end].text
    subject = before or "I"
    if subject.lower() not in ("i", "we"):
        return []  # "the insurance renews in June, got stung last year"
    if first.tag_ in ("VBD", "VBN") or (first.tag_ == "VBP" and subject == "I" and first.lower_ in LISTS["own_verbs"]):
        return [(f"{_capital(subject)} {words[0].lower()}{words[1:]}", subject)]
    if (
        first.tag_ == "VBG"
        and not any(t.tag_ in _FINITE for t in doc[begin:end])
        and first.lower_ in LISTS["own_gerunds"]
    ):
        be = "'m" if subject == "I" else "'re" if subject.lower() == "we" else " is"
        return [(f"{_capital(subject)}{be} {words[0].lower()}{words[1:]}", subject)]
    return []


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
