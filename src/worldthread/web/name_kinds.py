"""What a name stands for, judged by the facts about it: a person, a place, a time, or a thing.

It is a guess for the colours of drawings, and nothing else depends on it. Who speaks is a person. Otherwise every fact
about a name votes; a name without a vote is a thing.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from worldthread.graph import TemporalGraph
from worldthread.names import normalise_name
from worldthread.types import Fact

NameKind = Literal["person", "place", "thing", "time"]

_MOST_VOTES: Final = 60  # statements about one name that vote; a common name has thousands
_MOST_HEARD: Final = 12  # statements about one name that are asked who said them
_KIN: Final = frozenset(
    {"brother", "sister", "mother", "father", "son", "daughter", "wife", "husband", "parent", "child", "uncle",
     "aunt", "cousin", "nephew", "niece", "friend", "partner", "colleague", "student", "teacher", "neighbour",
     "neighbor", "boss", "grandmother", "grandfather"}
)  # fmt: skip
_PERSON_DOES: Final = frozenset(
    {"lives", "works", "studies", "married", "teaches", "speaks", "loves", "likes", "hates", "dislikes", "prefers",
     "knows", "met", "wants", "plays", "enjoys", "majors", "retired", "dates", "attends", "owns", "adopted", "wrote",
     "graduated", "moved", "visited", "born"}
)  # fmt: skip
_PERSON_TO: Final = frozenset({"married to", "lives with", "works with", "dates", "met", "knows", "meets"})
_PLACE_TO: Final = frozenset(
    {"lives in", "lives at", "is in", "born in", "moved to", "located in", "is located in", "works in", "died in",
     "visited", "travelled to", "from", "is from", "comes from"}
)  # fmt: skip
_PLACE_WORDS: Final = frozenset(
    {"room", "city", "town", "village", "country", "island", "street", "river", "mountain", "station", "park",
     "square", "state", "region", "harbour", "port"}
)  # fmt: skip
_SIDES: Final = re.compile(r"is (north|south|east|west|northeast|northwest|southeast|southwest|up|down|in|out) of")
_MONTHS: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
_TIME: Final = re.compile(
    rf"\d{{4}}(-\d\d){{0,2}}|(?:\d{{1,2}} )?(?:{_MONTHS})(?: \d{{1,2}},?)?(?: \d{{4}})?|\d{{1,2}}:\d\d(?: ?[ap]m)?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|yesterday|(?:spring|summer|autumn|winter) \d{4}"
)


def name_kind(graph: TemporalGraph, name: str) -> NameKind:
    """Guess what a name stands for.

    Args:
        graph: the graph.
        name: the name, normalised.

    Returns:
        The kind that most facts about the name speak for; ``"thing"`` if none does.
    """
    if _TIME.fullmatch(name):
        return "time"
    if _speaks(graph, name):
        return "person"
    votes = {"place": 0, "person": 0}
    for number in graph.numbers_about(name, _MOST_VOTES):
        statement = graph.numbered_statement(number)
        if isinstance(statement, Fact):
            subject, relation, object_ = statement.key
            vote = _subject_kind(relation, object_) if subject == name else _object_kind(relation)
            if vote is not None:
                votes[vote] += 1
    if not any(votes.values()):
        return "thing"
    return "person" if votes["person"] > votes["place"] else "place"


def _speaks(graph: TemporalGraph, name: str) -> bool:
    """Return whether somebody of this name said one of the first statements about the name."""
    if not graph.has_speaker(name):
        return False
    for number in graph.numbers_about(name, _MOST_HEARD):
        for id_ in graph.asserting(number)[:1]:
            speaker = graph.episode(id_).provenance.speaker
            if speaker and normalise_name(speaker) == name:
                return True
    return False


def _subject_kind(relation: str, object_: str) -> Literal["person", "place"] | None:
    """Return what a fact says about its subject."""
    words = relation.split()
    if relation in ("is a", "is an", "is"):
        return "place" if object_.rpartition(" ")[2] in _PLACE_WORDS else None
    if relation in ("has exit", "has no exit") or _SIDES.fullmatch(relation):
        return "place"
    if words and (words[0] in _PERSON_DOES or not _KIN.isdisjoint(words[1:])):
        return "person"
    return None


def _object_kind(relation: str) -> Literal["person", "place"] | None:
    """Return what a fact says about its object."""
    if relation in _PLACE_TO or _SIDES.fullmatch(relation) or relation.startswith("leads "):
        return "place"
    words = relation.split()
    if relation in _PERSON_TO or (words[-1:] == ["of"] and not _KIN.isdisjoint(words)):
        return "person"
    return None
