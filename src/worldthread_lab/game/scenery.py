"""Reads what the description of a room speaks of: scenery that nothing places, and that may be seen from other rooms.

=====================================================  ==============================================================
description                                            facts
=====================================================  ==============================================================
You are west of a white house, with a boarded door.    (white house, is seen in, <room>), (boarded door, is seen in, ..)
A path winds through the trees to the old mill.        (trees, is seen in, <room>)
=====================================================  ==============================================================

A noun phrase begins with a determiner and ends before punctuation, a word of a closed class or a verb. What a way leads
to is elsewhere, and what the sentence calls the room itself is no thing in it. A thing that is carried away, and what a
later description leaves out, is seen there no more.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact
from worldthread_lab.game import vocabulary as v
from worldthread_lab.game.english import mentioned_thing, sentences
from worldthread_lab.game.events import without_speech
from worldthread_lab.game.listing import is_abstract, is_part_of_title
from worldthread_lab.game.phrases import DETERMINER, closed_words, is_verb, verbs_of_scenes
from worldthread_lab.game.reconciliation import are_alike
from worldthread_lab.game.statement_collector import StatementCollector
from worldthread_lab.game.words import words

_TOKEN: Final = re.compile(r"[\w'\u2019-]+|[^\w\s]")
_MOST_WORDS: Final = 5
_COMPASS: Final = v.OPPOSITE.keys() - {"up", "down", "in", "out"}
_BEFORE_SEVERAL: Final = frozenset(
    (
        "with",
        "by",
        "through",
        "among",
        "amid",
        "amidst",
        "between",
        "are",
        "behind",
        "under",
        "beneath",
        "against",
        "of",
    )
)
_MOST_BEFORE_SEVERAL: Final = 3
_NO_PLURAL: Final = ("ss", "us", "is", "as", "'s", "ys")
_DETERMINER_OR_ING: Final = re.compile(rf"^(?:{DETERMINER.pattern})$|ing$", re.I)
_NOT_WHAT: Final = frozenset({"this", "that", "it", "here", "you"})
_IS: Final = frozenset({"is", "are", "was", "'s"})
_FAR: Final = re.compile(r"\b(?:far (?:below|away|off)|in the distance|on the horizon)\b", re.I)


def extract_scenery(room: str, description: str, view: GraphView, collector: StatementCollector) -> None:
    """Add what a description speaks of and nothing places; end what it speaks of no more.

    What holds things here, and has no place of its own, is here.

    Args:
        room: the room that is described.
        description: the text below its title.
        view: what the memory holds before the step.
        collector: has the statements of the step, and takes the new ones.
    """
    said = [s for s in collector.statements if isinstance(s, Fact)]
    placed = {fact.key[0] for fact in said if fact.key[1] in (v.IS_IN, v.IS_ON)}
    for fact in said:
        holder = fact.key[2]
        if fact.key[1] in (v.IS_IN, v.IS_ON) and fact.key[0] != v.PLAYER and not _is_placed(holder, room, placed, view):
            collector.add(v.seen(fact.object, room))
    if not any(fact.key[:2] == (normalise_name(room), v.IS_DESCRIBED_BY) for fact in said):
        return
    text = description.lstrip("\n").split("\n\n")[0]
    here = {fact.key[0] for place in (room, v.INVENTORY) for fact in view.facts(relation=v.IS_IN, object=place)}
    here |= {fact.key[2] for name in here for fact in view.facts(name, v.IS_CALLED)}
    for name in spoken_of(text, room):
        if not any(are_alike(name, other) for other in (*placed, *here)):
            collector.add(v.seen(name, room))
    spoken = set(re.findall(r"[\w'-]+", description.casefold()))
    gone = [fact for fact in view.facts(relation=v.IS_SEEN_IN, object=room) if not set(fact.key[0].split()) <= spoken]
    collector.end(gone, "the room is described without it")


def _is_placed(holder: str, room: str, placed: set[str], view: GraphView) -> bool:
    if holder in (v.INVENTORY, normalise_name(room)) or holder in placed or view.facts(holder, v.IS_A, "room"):
        return True
    return bool(view.facts(holder, v.IS_IN) or view.facts(holder, v.IS_ON))


def end_what_was_moved(view: GraphView, collector: StatementCollector) -> None:
    """End that something is seen in a room that is carried now, or that went away."""
    said = [s for s in collector.statements if isinstance(s, Fact)]
    taken = [fact for fact in said if fact.key[1:] == (v.IS_IN, v.INVENTORY) and not view.holds(fact)]
    for thing in taken:
        names = [thing.key[0], *(fact.key[2] for fact in said if fact.key[:2] == (thing.key[0], v.IS_CALLED))]
        seen = view.facts(relation=v.IS_SEEN_IN)
        collector.rename([fact for fact in seen if any(are_alike(fact.key[0], name) for name in names)], thing.subject)


@lru_cache(maxsize=2048)  # games print the same descriptions again and again
def spoken_of(description: str, room: str) -> tuple[str, ...]:
    """Return the names of what a description of a room speaks of, in order.

    >>> spoken_of("You are west of a white house. A path winds through the trees to the old mill.", "Field")
    ('white house', 'trees')

    Args:
        description: the text.
        room: the name of the room, which the text may call by the noun of its title.
    """
    found: dict[str, None] = {}
    for sentence in sentences(without_speech(description)):
        if _FAR.search(sentence):
            continue
        tokens = _TOKEN.findall(sentence)
        for at, token in enumerate(tokens):
            several = _several(tokens, at)
            is_told = several is not None and any(name.endswith(f" of {several}") for name in found)
            if several is not None and not is_told and not is_part_of_title(several, room):
                found[several] = None
            if DETERMINER.fullmatch(token) and not _is_elsewhere(tokens, at) and not _is_the_room(tokens, at):
                name = _named(tokens, at)
                is_new = tokens[at].lower() in ("a", "an")  # the room is called so by a definite article
                if name is not None and (is_new or not is_part_of_title(name, room)):
                    found[name] = None
    return tuple(found)


def _several(tokens: list[str], at: int) -> str | None:
    """Return the name of things that no determiner presents: at the beginning, or after a preposition."""
    if at and tokens[at - 1].lower() not in _BEFORE_SEVERAL:
        return None
    for number, token in enumerate(tokens[at : at + _MOST_BEFORE_SEVERAL], at):
        word = token.lower()
        is_no_noun = number == at and (word in words("no_names") or _DETERMINER_OR_ING.search(word))
        if not word[0].isalpha() or word in closed_words() or is_no_noun:
            return None
        if word.endswith("s") and len(word) > 3 and not word.endswith(_NO_PLURAL):
            if number > at and word in verbs_of_scenes():
                return None
            name = normalise_name(" ".join(tokens[at : number + 1]))
            is_thing = word not in words("no_things") and word not in words("relational") and not is_abstract(word)
            return name if is_thing else None
    return None


def _named(tokens: list[str], at: int) -> str | None:
    """Return the name of the thing whose determiner is at a place; ``None`` for what is no thing."""
    phrase: list[str] = []
    is_one = tokens[at].lower() in ("a", "an", "another")
    for number in range(at + 1, len(tokens)):
        token, after = tokens[number], tokens[number + 1].lower() if number + 1 < len(tokens) else "."
        word = token.lower()
        if (
            word == "of"
            and phrase
            and after.isalpha()
            and not DETERMINER.fullmatch(after)
            and after not in closed_words()
        ):
            phrase.append(word)
            continue
        is_side = (
            word in _COMPASS and after.isalpha() and after not in closed_words() and after not in verbs_of_scenes()
        )
        is_closed = word in closed_words() and not is_side  # "the old north gate"
        ends = not token[0].isalnum() or is_closed or (phrase and is_verb(word, after, is_one))
        if ends or len(phrase) == _MOST_WORDS:
            break
        phrase.append(token)
    named = mentioned_thing(" ".join(phrase)) if phrase and phrase[-1] != "of" else None
    if named is None:
        return None
    name = normalise_name(named.name)
    head = name.split(" of ")[0].split()[-1]
    if head in words("no_things") or head in words("relational") or is_abstract(head) or not head[0].isalpha():
        return None
    return name


def _is_elsewhere(tokens: list[str], at: int) -> bool:
    """Return whether what follows is where a way leads to, or what something is only like."""
    return at > 0 and tokens[at - 1].lower() in ("to", "into", "toward", "towards", "onto", "like", "from", "for", "no")


def _is_the_room(tokens: list[str], at: int) -> bool:
    """Return whether the sentence calls the room what follows: "This is a cave", "You are in a cave"."""
    before = [token.lower() for token in tokens[max(0, at - 4) : at]]
    if len(before) >= 2 and before[-1] in _IS and before[-2] in _NOT_WHAT:
        return True
    return before[-1:] in (["in"], ["inside"]) and "you" in before
