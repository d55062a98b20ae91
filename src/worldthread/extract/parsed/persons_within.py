"""Finds whom "she" means after the only relative of the speaker in a sentence: "my nan lives in Hull, she's 91"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.facts import SentenceFacts
from worldthread.extract.prose.entities import NamedEntity
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.words import WORDS as PROSE_WORDS

if TYPE_CHECKING:
    from spacy.tokens import Doc

_SHE: Final = frozenset(["she", "her", "hers"])
_HE: Final = frozenset(["he", "him", "his"])


def with_person_within(doc: Doc, read: SentenceFacts, found: list[NamedEntity], referents: Referents) -> Referents:
    """Return the referents of a sentence with the only person in it, who is its first subject, for "he" and "she".

    Args:
        doc: the dependency tree of the sentence.
        read: its clauses.
        found: the names in it.
        referents: whom its pronouns mean as far as the sentences before it show.

    Returns:
        The referents; unchanged where somebody else may be meant.
    """
    first = next((subject for _, subject in read.clauses), None)
    if referents.person is not None or first is None or first.owner != referents.speaker or first.head.tag_ == "NNS":
        return referents
    lemma = first.head.lemma_.lower()
    pronouns = [t for t in doc if t.lower_ in _SHE | _HE]
    people = WORDS["relations"] | PROSE_WORDS["persons"]
    persons = [t for t in doc if t.lemma_.lower() in people and t.tag_ != "VB" and pronouns and t.i < pronouns[-1].i]
    if not pronouns or lemma not in WORDS["relations"] or persons != [first.head] or pronouns[0].i < first.head.i:
        return referents
    if any(entity.kind == "person" and entity.name != first.given_name for entity in found):
        return referents
    is_she = {t.lower_ in _SHE for t in pronouns}
    known = lemma in WORDS["women"] if lemma in WORDS["women"] | WORDS["men"] else None
    if len(is_she) > 1 or (known is not None and is_she != {known}):
        return referents
    return referents._replace(person=first.name)
