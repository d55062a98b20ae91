"""Keeps whom the names, descriptions and pronouns of a text mean, while its sentences are read in order."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.prose.naming import NamingContext
from worldthread.extract.prose.words import WORDS as PROSE_WORDS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

LISTS: Final = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(
        files("worldthread.extract.parsed").joinpath("discourse.toml").read_text(encoding="utf-8")
    ).items()
}
"""The word lists of ``discourse.toml`` by name."""
_ORGANISATIONS: Final = LISTS["organisations"]
_ANY_COMPANY: Final = frozenset(["company", "firm", "group", "business"])
_FEMALE: Final = frozenset(["she", "her", "hers", "herself"])
_MALE: Final = frozenset(["he", "him", "his", "himself"])
_TITLES: Final = PROSE_WORDS["honorifics"] | LISTS["titles"]
_WOMEN: Final = LISTS["women"]
_MEN: Final = LISTS["men"]
NATIONS: Final = (
    "an",
    "ese",
    "ish",
    "ch",
    "greek",
    "swiss",
    "thai",
    "czech",
    "dane",
    "pole",
    "swede",
    "turk",
    "finn",
    "iraqi",
    "israeli",
)
_OF_NAMES: Final = LISTS["of_names"]
_NO_NAME: Final = re.compile(r"^\d+(?:\W|[a-z])|\.\w{1,4}$|[=<>{}\[\]|\\]")
_CODE_TITLE: Final = re.compile(
    r"[`()\[\]{}<>=|_#*/,]|\b(?:changes?|new|version|release|issue)\b|\d\.\d|--|^\W", re.IGNORECASE
)
"""What titles of code, of changes and of releases have, which say of nothing what it is about."""
_SHORTEST_AGENT: Final = 5  # letters of a word such as "list"
_TITLE_NAME: Final = re.compile(r"\b[A-Z][a-zà-ÿ'-]+(?: [A-Z][a-zà-ÿ'-]+){1,2}(?= [a-z]|$)")
_AGENTS: Final = ("mmer", "ant", "eer", "ian", "ist", "keeper", "man", "woman", "ter", "yst", "ker")
_NO_NAMES: Final = WORDS["times"] | PROSE_WORDS["months"] | PROSE_WORDS["weekdays"]
_GENERIC: Final = LISTS["generic"]
_LEADING: Final = re.compile(
    rf"^(?:(?:{'|'.join(sorted(_GENERIC))})\b[\s:,-]*|(?:for|to|of|the|with|a|an|and|in)\s+)+", re.IGNORECASE
)
_PLACES: Final = LISTS["places"]
_NUMBERED: Final = LISTS["numbered"]
EDITIONS: Final = LISTS["editions"]
"""Nouns that a name before them does not tell apart: "the Python version" of a module."""
_SITES: Final = LISTS["sites"] | LISTS["organisations"] | LISTS["of_names"]
_FUNCTIONS: Final = LISTS["functions"]
_THING_IN_TITLE: Final = re.compile(
    r"(?:[A-Za-z][a-z]+ ){0,2}(?P<noun>[A-Za-z][a-z]+) (?:at|in|over|near) (?:the )?"
    r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)*(?= [a-z])"
)
_TAKEN_BACK: Final = re.compile(r"\bor (?:rather|so (?:i|we) (?:thought|hoped))\b", re.IGNORECASE)
_TITLE_PARTS: Final = re.compile(r": | [-–—] ")
# "pytz - World Timezone Definitions", "tmux 3.3"
_NAMED_IN_TITLE: Final = re.compile(r"([A-Za-z][\w+-]{2,}) [-–—] \w")
_VERSION_IN_TITLE: Final = re.compile(r"(?<=\w) v?\d+(?:\.\d+)+(?:[ab]\d+|rc\d+)?(?= > |$)")
_MANUAL: Final = re.compile(
    r"^(?:(?:pocket |user |quick |setup )?(?:guide|introduction|manual) (?:to|for) |"
    r"(?:installing|using|mounting|about) )(?:the |your )?(?=[A-Z])",
    re.IGNORECASE,
)
MAIN: Final = "Motorola"
"""What stands in place of the name of what a text is about: the parser knows it for a name."""
CODE: Final = re.compile(rf"Xcode[a-z]+|{MAIN}")
"""What stands in place of code while a sentence is parsed."""


def is_name(token: Token) -> bool:
    """Return whether a word is a part of a proper name."""
    return token.tag_ in ("NNP", "NNPS") and (token.text[:1].isupper() or token.text[:1].isdecimal())


def is_of_nation(token: Token) -> bool:
    """Return whether a word says of which people something is: "Malaysian"."""
    return bool(token.text[:1].isupper() and token.tag_ == "JJ" and token.lower_.endswith(NATIONS))


class Discourse:
    """What the sentences of a text have said so far of who is who.

    Args:
        context: what the text shows about its names.
        topic: the name in its title; ``None`` without one.
        speaker: the meaning of "I"; ``None`` in a text of which nobody is known to be the writer.
        is_note: whether it is a note to oneself, which leaves out articles.
        is_letter: whether it is no turn of a talk, in which "my dreams" are no news.
        about: what a note is about; ``None`` where it does not say so.
    """

    def __init__(
        self,
        context: NamingContext,
        topic: str | None,
        speaker: str | None = None,
        *,
        is_note: bool = False,
        is_letter: bool = True,
        about: str | None = None,
    ) -> None:
        self._context = context
        self.speaker = speaker
        self.is_note = is_note
        self.is_letter = is_letter
        self.about = about
        self.company = speaker if speaker is None or not is_function(speaker) else None
        """Whom "we" and "our" mean: the speaker; nobody known where that is a function, as "Front Desk" is."""
        self.is_personal = True
        """Whether what has no subject is of the speaker, as "Borrowed Lena's bike" of a diary is."""
        self.describes = False
        """Whether the text describes one thing, as documentation does, so that "the filter" is a part of it."""
        self.topic = topic
        self._descriptions: dict[str, set[str]] = {}
        self._introduced: set[str] = set()
        self._persons: set[str] = set()
        self._things: set[str] = set()
        self._genders: dict[str, bool] = {}
        self._surnames: dict[str, set[str]] = {}
        self._first_words: dict[str, set[str]] = {}
        self._subject: str | None = None
        self._others: set[str] = set()
        self._is_told = False
        self._with: set[str] = set()
        self._is_named = False
        self._has_other_thing = False
        self.main: str | None = None if topic is None else main_of(topic)
        """The thing that the text is about, where it says so: "tidemark" of "tidemark is a tool"."""
        self._of_title = _title_thing(topic)
        if self._of_title is not None:
            self._things.add(self._of_title[1])
        for match in _TITLE_NAME.finditer(topic or ""):
            words = match[0].split()
            words = words[1:] if len(words) > 2 and words[0].lower().endswith(_AGENTS) else words
            if len(words) == 2 and not any(w.lower() in _ORGANISATIONS | PROSE_WORDS["impersonal"] for w in words):
                self._surnames.setdefault(words[-1], set()).add(" ".join(words))

    @property
    def is_news(self) -> bool:
        """Whether nobody speaks and nothing is described, so that "the coaster Frieda K" says what that is."""
        return self.speaker is None and not self.describes

    # -- what a sentence shows ----------------------------------------------------------------------------------------

    def observe(self, doc: Doc) -> None:
        """Keep what a sentence shows of who is who, before its facts are read.

        Args:
            doc: the dependency tree of the sentence.
        """
        for token in doc:
            if not is_name(token) or self.last_of_name(token) != token.i:
                continue
            name = self.name_at(token)
            if name is None or any(c.lower_ in ("a", "an") for c in token.lefts if c.dep_ == "det"):
                continue
            for noun in self._descriptions_of(token):
                self._describe(name, noun)
            if (
                self.main is None
                and self.topic is not None
                and _is_main_part(name, self.topic)
                and not self._may_be_person(name)
            ):
                self.main = name if token.dep_ in ("nsubj", "nsubjpass") else None
            of = [c for c in token.rights if c.dep_ == "prep" and c.lower_ == "of"]
            if of and token.lower_ in _ORGANISATIONS:
                self._describe(name, token)
            last = name.rpartition(" ")[2].lower()
            if " " in name and not self.is_person(name):
                self._descriptions.setdefault(last, set()).add(name)
            words = name.split()
            if self._may_be_person(name) and 1 < len(words) < 4 and (self.is_person(name) or not _is_in_place(token)):
                self._surnames.setdefault(words[-1], set()).add(name)
            elif len(words) > 1 and name in self._things:
                self._first_words.setdefault(words[0], set()).add(name)
        for token in doc:
            is_known = token.lower_ not in EDITIONS or self.speaker is not None  # "the Python version": of what?
            if token.tag_ == "NN" and is_known and (name := _compound_name(token)) is not None:
                self._descriptions.setdefault(token.lower_, set()).add(name)
                self._things.add(name)
            elif token.tag_ == "NN" and any(c.lower_ in ("a", "an", "another") for c in token.lefts):
                if not any(is_name(c) for c in token.children if c.dep_ == "appos") and not self._introduce(token):
                    self._introduced.add(token.lower_)
            elif token.tag_ == "NN" and token.dep_ == "dobj" and (owner := self._owner_in(token)) is not None:
                self._descriptions.setdefault(token.lower_, set()).add(f"{owner}'s {token.text}")
            elif (
                token.tag_ == "NN"
                and token.dep_ in ("nsubj", "nsubjpass")
                and any(c.lower_ == "the" for c in token.lefts)
            ):
                self._describe_by_name(token)
            if token.lemma_ == "be" and token.dep_ == "ROOT":
                self._describe_by_predicate(token)

    def _introduce(self, noun: Token) -> bool:
        """Let "the airfield" mean "airfield near Thornaby Cross" after "a disused airfield near Thornaby Cross"."""
        places = [c for c in noun.rights if c.dep_ == "prep" and c.lower_ in ("at", "in", "near", "on", "over")]
        if noun.lower_ not in _SITES or len(places) != 1 or places[0].i != noun.i + 1:
            return False
        first = noun.left_edge.i + (noun.left_edge.dep_ == "det")
        words = noun.doc[first : places[0].right_edge.i + 1]
        if not is_name(words[-1]) or any(t.is_punct for t in words):
            return False
        if len(words) > 7 or words[-1].lower_ in _NO_NAMES:
            return False
        self._descriptions.setdefault(noun.lower_, set()).add(words.text)
        self._things.add(words.text)
        return True

    def _owner_in(self, noun: Token) -> str | None:
        """Return whose thing is told of: the observatory's after "the observatory has tested its new telescope"."""
        owner = next((c for c in noun.lefts if c.dep_ == "poss"), None)
        subject = next((c for c in noun.head.lefts if c.dep_ == "nsubj"), None)
        if owner is None or owner.lower_ != "its" or subject is None or subject.tag_ not in ("NN", "NNP"):
            return None
        return _compound_name(subject) or (self.name_at(subject) if is_name(subject) else None)

    def _descriptions_of(self, token: Token) -> list[Token]:
        """Return the nouns that say what a name is: "maker" of "Kestrel Foods, the maker of ..."."""
        found = [c for c in token.rights if c.dep_ == "appos" and c.tag_ == "NN"]
        first = self._first_of_name(token)
        before = token.doc[first - 1] if first else None
        if before is not None and before.tag_ == "NN" and before.text.islower() and (
            before.head in (token, token.head) or (token.dep_ == "appos" and token.head == before)
        ):  # fmt: skip
            found.append(before)
        if token.dep_ == "appos" and token.head.tag_ == "NN":
            found.append(token.head)
        if token.dep_ in ("nsubj", "nsubjpass") and token.head.lemma_ == "be":
            found += [
                c for c in token.head.rights
                if c.dep_ == "attr" and c.tag_ == "NN" and any(a.lower_ in ("a", "an", "the") for a in c.lefts)
            ]  # fmt: skip
        return found

    def _describe_by_name(self, noun: Token) -> None:
        """Let "the bridge" mean "the road bridge at Hollin Ferry" from now on."""
        place = [c for c in noun.rights if c.dep_ == "prep" and c.lower_ in ("at", "in", "of")]
        if len(place) != 1 or any(c.dep_ in ("relcl", "acl", "appos") for c in noun.rights):
            return
        words = [t for t in noun.doc[noun.left_edge.i : place[0].right_edge.i + 1] if t.dep_ != "det" or t.head != noun]
        if is_name(words[-1]) and len(words) < 8 and words[-1].lower_ not in _NO_NAMES:
            name = " ".join("".join(t.text_with_ws for t in words).split())
            self._descriptions.setdefault(noun.lower_, set()).add(name)
            self._things.add(name)

    def _describe_by_predicate(self, verb: Token) -> None:
        """Let "the oven" mean a Thermex RO-300 after "the oven is a Thermex RO-300"."""
        subject = next((c for c in verb.lefts if c.dep_ == "nsubj" and c.tag_ == "NN"), None)
        name = next((c for c in verb.rights if c.dep_ == "attr" and is_name(c)), None)
        if subject is None or name is None or [c.lower_ for c in subject.children] != ["the"]:
            return
        if [c.lower_ for c in name.lefts if c.dep_ == "det"] in (["a"], ["an"]) and (
            full := self.name_at(name)
        ) is not None:
            self._descriptions.setdefault(subject.lower_, set()).add(full)
            self._things.add(full)
            self.main = self.main or full

    def _describe(self, name: str, noun: Token) -> None:
        low = noun.lower_
        self._descriptions.setdefault(low, set()).add(name)
        if low in _WOMEN or low in _MEN:
            self._genders.setdefault(name, low in _WOMEN)
        if low in _ORGANISATIONS:
            self._things.add(name)
        elif is_role(low):
            self._persons.add(name)

    # -- names --------------------------------------------------------------------------------------------------------

    def last_of_name(self, token: Token) -> int:
        """Return the index of the last word of the proper name that a word belongs to."""
        doc = token.doc
        end: int = token.i
        while end + 1 < len(doc) and _continues(doc, end):
            end += 2 if doc[end + 1].text in ("&", "-") else 1
        return end

    def _first_of_name(self, token: Token) -> int:
        doc = token.doc
        begin: int = token.i
        while begin and _continues(doc, begin - 1) and (is_name(doc[begin - 1])):
            begin -= 1
        if begin > 1 and doc[begin - 1].text in ("&", "-") and is_name(doc[begin - 2]):
            begin -= 2
            while begin and is_name(doc[begin - 1]):
                begin -= 1
        return begin

    def name_at(self, token: Token) -> str | None:
        """Return the full name that ends with a word; ``None`` where it is none, such as a day.

        Args:
            token: the last word of a proper name.
        """
        doc = token.doc
        begin = self._first_of_name(token)
        while begin < token.i and _is_title(doc[begin]) and not self._is_kept_title(doc[begin], token):
            gender = doc[begin].lower_.rstrip(".")
            begin += 1
            name = doc[begin : token.i + 1].text
            full = self._full(name)
            if gender in _WOMEN or gender in _MEN:
                self._genders.setdefault(full, gender in _WOMEN)
            if " " in name or full != name:
                self._persons.add(full)
        if begin + 1 < token.i and begin and doc[begin - 1].lower_ == "the" and doc[begin].lower_.endswith(NATIONS):
            begin += 1  # "the Estonian Kristjan Laur"
        end = token.i + 1
        if (
            end < len(doc)
            and doc[end].tag_ == "CD"
            and doc[end].text[:1].isdecimal()
            and doc[end].head == token
            and len(doc[end]) < 5
        ):
            end += 1  # "Brisa 40"
        if token.lower_ in _OF_NAMES and end + 1 < len(doc) and doc[end].lower_ == "of":
            of = end + 1 + (doc[end + 1].lower_ == "the")
            if of < len(doc) and is_name(doc[of]):
                end = self.last_of_name(doc[of]) + 1  # "University of Trier"
        name = str(doc[begin:end].text)
        if CODE.fullmatch(name):
            return name
        if (
            self.topic is not None
            and f" {name}" in self.topic
            and (longer := _with_topic(doc, begin, end, self.topic)) is not None
        ):
            return longer
        if begin and doc[begin - 1].text in ("(", "/", "+"):
            return None
        if (
            name.lower() in _NO_NAMES
            or (end - begin < 3 and doc[begin].lower_ in _NO_NAMES)
            or len(name) < 2
            or _NO_NAME.search(name)
        ):
            return None
        if begin == _first_word(doc) and begin == token.i and not self._opens(token):
            return None
        return self._full(name)

    def _is_kept_title(self, title: Token, last: Token) -> bool:
        """Return whether a title is needed to know who is meant: "Mr Kovac", "Aunt Vera", of whom no more is known."""
        return title.i + 1 == last.i and len(self._surnames.get(last.text, ())) != 1

    def _opens(self, token: Token) -> bool:
        """Return whether the first word of a sentence is a name."""
        if token.text in self._context.aliases or token.text in (self.topic, self.main, (self.main or "").capitalize()):
            return True
        if token.text in self._surnames or token.text in self._first_words:
            return True
        if self.is_note and not self._context.is_known_name(token.text):
            return False  # "Team is down to five": notes leave out articles
        if self._context.opens_with_name(token.text, token.doc.text, token.idx + len(token.text)):
            return True
        is_subject = token.tag_ == "NNP" and token.dep_ in ("nsubj", "nsubjpass") and token.head.lemma_ != "be"
        return is_subject and self._context.may_open(token.text)

    def _full(self, name: str) -> str:
        full = self._context.aliases.get(name)
        if full is None and " " not in name:
            known = self._surnames.get(name, set()) or self._first_words.get(name, set())
            full = next(iter(known)) if len(known) == 1 else None
        if full is not None and (words := full.split())[0].lower().rstrip(".") in _TITLES and len(words) > 2:
            full = full.partition(" ")[2]
        return full or name

    def is_person(self, name: str) -> bool:
        """Return whether a name is that of a person, as far as the text shows."""
        if name in self._things or is_owned_thing(name):
            return False
        return name in self._persons or name in self._context.persons or self._context.is_person(name)

    # -- descriptions and pronouns ---------------------------------------------------------------------------------

    def described(self, noun: Token) -> str | None:
        """Return the one name that "the company" means; ``None`` where none or several are possible."""
        if any(
            c.dep_ not in ("det", "punct", "appos", "acl", "relcl")
            for c in noun.children
            if c.i < noun.i or c.dep_ == "prep"
        ):
            return None
        low = noun.lower_
        names = set(self._descriptions.get(low, ()))
        if not names and self._of_title is not None and self._of_title[0] == low:
            return self._of_title[1]
        if low in _ANY_COMPANY:
            for other in _ORGANISATIONS:
                names |= self._descriptions.get(other, set())
        elif low in self._introduced:
            return None
        return next(iter(names)) if len(names) == 1 else None

    def pronoun(self, pronoun: str) -> str | None:
        """Return whom "she" or "it" means at the beginning of a sentence: who the sentence before was about."""
        low = pronoun.lower()
        names = {name for name in {self._subject, *self._others} if name is not None}
        if low in ("his", "her", "its") and not self._is_told:
            return None  # "Miss Yip (art): a pleasure. Her form tutor ...": the pupil's
        if low in _FEMALE | _MALE:
            persons = [
                name for name in names - {self.speaker}
                if self.is_possible(name, low) or (name == self._subject and self._is_unknown(name))
            ]  # fmt: skip
            sure = [name for name in persons if self._genders.get(name) is not None]
            if len(persons) > 1 and self._subject in persons and sure == [self._subject]:
                persons = sure
            if not persons and len(self._with) == 1 and self._with == names:
                persons = [name for name in names if self._is_unknown(name)]  # "Call with Marisol. She is leaving."
            elif len(persons) != 1 or self._is_unknown(persons[0]):
                return None
            if not persons:
                return None
            self._persons.add(persons[0])
            self._genders.setdefault(persons[0], low in _FEMALE)
            return persons[0]
        name = self._subject
        if self._has_other_thing and name != self.main:
            return None  # "has taken the first picture. It shows a galaxy": the picture
        if (
            name is None
            or low not in ("it", "its")
            or name == self.speaker
            or self._may_be_person(name)
            or not self._is_named
        ):
            return None
        return name if not any(not self._may_be_person(other) for other in self._others) else None

    def owner(self, pronoun: str) -> str | None:
        """Return whose "her daughter" at the beginning of a sentence is: the subject's of the sentence before."""
        name = self.pronoun(pronoun)
        return name if name == self._subject else None

    def _is_unknown(self, name: str) -> bool:
        """Return whether a name of one word may be a surname, or anything else."""
        return " " not in name and name not in self._things and not self.is_person(name) and not CODE.fullmatch(name)

    def _may_be_person(self, name: str) -> bool:
        """Return whether a name can be that of a person: it looks like one, or nothing speaks against it."""
        if name in self._things or CODE.fullmatch(name) or is_owned_thing(name):
            return False
        if self.is_person(name):
            return True
        words = name.split()
        if not 1 < len(words) < 4 or any(w.lower() in _ORGANISATIONS | PROSE_WORDS["impersonal"] for w in words):
            return False
        return all(w[0].isupper() and not w.isupper() and re.fullmatch(r"[\w'-]+", w) is not None for w in words)

    def is_thing(self, name: str) -> bool:
        """Return whether a name cannot be that of a person."""
        return not self._may_be_person(name)

    def is_possible(self, name: str, pronoun: str) -> bool:
        """Return whether "she" or "it" can mean a name."""
        if pronoun in ("it", "its", "itself"):
            return not self.is_person(name)
        if not self._may_be_person(name):
            return False
        gender = self._genders.get(name)
        return gender is None or gender == (pronoun in _FEMALE)

    def has_other_person(self, name: str) -> bool:
        """Return whether the sentence before named another person."""
        return any(self.is_person(other) for other in self._others - {name})

    def move_on(self, doc: Doc, subject: str | None, *, is_told: bool = True) -> None:
        """Keep the subject of a sentence for the next one.

        Args:
            doc: the sentence.
            subject: whom its first clause is about; ``None`` where that is not clear.
            is_told: whether it has a clause that tells something.
        """
        told = {
            token: name
            for token in doc
            if is_name(token) and self.last_of_name(token) == token.i and (name := self.name_at(token)) is not None
        }
        names = {
            name for token, name in told.items() if token.dep_ not in ("compound", "poss") and not _is_in_place(token)
        }
        self._subject = subject
        self._others = names - {subject}
        self._is_told = is_told
        is_with = {name for t, name in told.items() if t.dep_ == "pobj" and t.head.lower_ == "with"}
        self._with = set() if is_told else is_with
        self._has_other_thing = any(
            token.tag_ == "NN" and token.dep_ == "dobj" and any(c.dep_ in ("det", "poss") for c in token.lefts)
            for token in doc
        )
        self._is_named = subject is not None and (
            subject in names or subject == self.main or any(subject in d for d in self._descriptions.values())
        )
        is_new = self.main is None and self.topic is None  # a title says what a text is about
        if is_new and subject in names and subject is not None and not self._may_be_person(subject):
            root = next((t for t in doc if t.dep_ == "ROOT"), None)
            if root is not None and root.lemma_ == "be" and any(c.dep_ == "attr" for c in root.rights):
                self.main = subject

    def new_paragraph(self) -> None:
        """Forget whom pronouns mean."""
        self._subject, self._others = None, set()


def is_owned_thing(name: str) -> bool:
    """Return whether a name is that of a thing by its owner: "Tom's friend Ana's wedding", but not "Tom's sister".

    Args:
        name: the name.
    """
    _, owned, thing = name.rpartition("'s ")
    word = thing.rpartition(" ")[2]
    return bool(owned) and word.islower() and word not in WORDS["relations"] | WORDS["pets"] | PROSE_WORDS["persons"]


def is_taken_back(text: str) -> bool:
    """Return whether a sentence takes back what it says: "my door is open, or rather my calendar is"."""
    return _TAKEN_BACK.search(text) is not None


def is_function(speaker: str) -> bool:
    """Return whether a sender is no person and no company, but an address or an office: "noreply@x.org"."""
    words = re.findall(r"[\w-]+", speaker.lower())
    return "@" in speaker or any(word in _FUNCTIONS for word in words)


def main_of(title: str) -> str | None:
    """Return the name of what a title says that a text is about: "quillbase" of "CHANGELOG for quillbase"."""
    title = _VERSION_IN_TITLE.sub("", title)
    if _CODE_TITLE.search(re.sub(r"\(\w+\)$", "", title.replace(" > ", " "))):
        return None
    named = _NAMED_IN_TITLE.match(title)
    if named is not None and named[1].lower() not in _GENERIC | PROSE_WORDS["function"] | _NO_NAMES:
        return named[1]
    before, colon, after = title.partition(": ")
    if colon and after[:1].islower() and before[:1].isupper() and " " not in before:
        return before  # "Sluice: operating notes"
    if (model := _model_of(title)) is not None:
        return model
    name = _LEADING.sub("", re.sub(r"\(\d\)$", "", title.partition(" > ")[0].strip(" `*"))).strip()
    words = name.split()
    if not words or len(words) > 3 or words[0].lower() in _GENERIC or not name[0].isalnum():
        return None
    if len(words) == 1:
        return name if len(name) > 2 and name.lower() not in PROSE_WORDS["function"] else None
    is_proper = all(w[0].isupper() or w[0].isdecimal() for w in words)
    return name if is_proper and any(c.isdecimal() or w.lower() == title.lower() for w in words for c in w) else None


def _model_of(title: str) -> str | None:
    """Return a thing with the number of a model in a title: "Meridian 5 wall charger" of how to install it."""
    for part in _TITLE_PARTS.split(title):
        name = _MANUAL.sub("", part.strip())
        words = name.split()
        if not 1 < len(words) < 6 or not words[0][:1].isupper() or words[-1].lower() in _GENERIC:
            continue
        is_model = any(c.isdecimal() for w in words[1:] for c in w) and not any(w.lower() in _NUMBERED for w in words)
        if is_model and not re.search(r"(?:19|20)\d\d", name):
            return name
    return None


def _is_main_part(name: str, topic: str) -> bool:
    """Return whether a name is what a title is about: "Brisa 40" of "User manual: Brisa 40 dehumidifier"."""
    return name in topic and (2 * len(name) > len(topic) or any(c.isdecimal() for c in name))


def _is_in_place(token: Token) -> bool:
    while token.dep_ == "conj":
        token = token.head
    return token.dep_ == "pobj" and token.head.lower_ in _PLACES


def is_role(noun: str) -> bool:
    """Return whether a noun says what a person is: "poet", "chief executive"."""
    is_known = noun in PROSE_WORDS["persons"] or noun in _TITLES or noun in WORDS["relations"]
    return is_known or (len(noun) > _SHORTEST_AGENT and noun.endswith(("ist", "ician", "keeper", "master")))


def _compound_name(noun: Token) -> str | None:
    """Return "Rio Blanco reservoir", "Wendale hospital trust": a noun after a name; ``None`` for another noun."""
    if noun.tag_ != "NN" or noun.i == 0 or noun.nbor(-1).head != noun or noun.nbor(-1).dep_ != "compound":
        return None
    parts = [t for t in noun.doc[noun.left_edge.i : noun.i + 1] if is_name(t) or t == noun or t.dep_ == "compound"]
    if not is_name(parts[0]) or any(b.i != a.i + 1 for a, b in pairwise(parts)):
        return None
    return " ".join(t.text for t in parts)


def _title_thing(topic: str | None) -> tuple[str, str] | None:
    """Return "plant" and "cement plant at Ogbara" of "Cement plant at Ogbara shuts down"; ``None`` of other titles."""
    match = _THING_IN_TITLE.match(topic or "")
    if match is None:
        return None
    name = match[0]
    return match["noun"].lower(), name[0].lower() + name[1:]


def _with_topic(doc: Doc, begin: int, end: int, topic: str) -> str | None:
    """Return the title of the text if a name is its end and the words before it are there: "Double Agent 73"."""
    for first in range(max(0, begin - 4), begin):
        text: str = doc[first:end].text
        if topic == text or topic.startswith(f"{text} ("):
            return text
    return None


def _is_title(token: Token) -> bool:
    """Return whether a word before a name says what the person does: "Assistant Paula Renn"."""
    low = token.lower_.rstrip(".")
    if is_role(low):
        return True
    is_first = token.i == _first_word(token.doc) and token.i + 2 < len(token.doc)
    return is_first and low.endswith(_AGENTS) and is_name(token.nbor()) and is_name(token.nbor(2))


def _first_word(doc: Doc) -> int:
    return next((t.i for t in doc if not t.is_punct and t.dep_ != "det"), 0)


def _continues(doc: Doc, index: int) -> bool:
    """Return whether the name to which a word belongs goes on after it."""
    this, following = doc[index], doc[index + 1]
    if not is_name(this):
        return False
    if is_name(following):
        return bool(this.whitespace_) and (
            following.head == this or this.head == following or this.head == following.head
        )
    is_joint = following.text in ("&",) and index + 2 < len(doc)
    return is_joint and is_name(doc[index + 2])
