"""Finds the facts of a memory that a change ends, and those that a new fact contradicts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from worldthread.extract.parsed.aspects import aspect_for
from worldthread.extract.parsed.change_tables import HAVING, KIN, LISTS, PAST, WORDS, number_of
from worldthread.extract.parsed.events import Change
from worldthread.extract.parsed.mentions import Mention, is_about, is_in, mention_of_text, stem, verb_forms
from worldthread.extract.parsed.unnamed_endings import meant_without_name
from worldthread.extract.prose.words import FAMILIES, third_person
from worldthread.extract.prose.words import WORDS as PROSE_WORDS
from worldthread.graph import GraphView
from worldthread.names import normalise_name
from worldthread.types import Fact

_SHARING: Final = re.compile(r"lives with|has (?:roommate|flatmate|housemate|lodger|tenant|subtenant)")
_LIKING: Final = re.compile(r"(?:eats|drinks|likes|loves|enjoys|adores|prefers|works at|hates|dislikes)")
CALLED: Final = re.compile(r" (?:called|named) (.+)$")
"""The name at the end of an object: "cat called Luna"."""
_WIDE: Final = frozenset(
    [
        "job",
        "home",
        "partner",
        "health",
        "study",
        "school",
        "membership",
        "own",
        "any",
        "going",
        "habit",
        "search",
        "jobless",
    ]
)  # families whose facts may be about very different things
_NAMINGS: Final = ("has name", "is called", "is")


def ended_facts(change: Change, view: GraphView) -> list[Fact]:
    """Return the facts that a change ends.

    Args:
        change: what a sentence says.
        view: what the memory holds.

    Returns:
        Facts that hold, none twice; none where more than one thing could be meant.
    """
    if change.life:
        found = [fact for target in change.targets for fact in _life(target, change, view)]
    elif change.others is not None:
        found = _of_couple(change, view)
    else:
        found = _of_people(change, view)
    return list(dict.fromkeys(found))


def contradicted_facts(fact: Fact, view: GraphView) -> list[Fact]:
    """Return the facts that cannot hold beside a new one: "does not drink" beside "drinks"."""
    subject, relation, value = fact.key
    if relation.startswith("does not "):
        return view.facts(subject=subject, relation=third_person(relation[9:]), object=value)
    words = mention_of_text(fact.object).all | set(value.split())
    diet = (
        [f for f in view.facts(subject=subject) if is_in("diet", f)]
        if relation == "eats" and words & WORDS["meat"]
        else [f for f in view.facts(subject=subject) if is_in("diet", f) and f.key[2] == "vegan"]
        if relation in ("eats", "drinks") and words & LISTS["animal_food"]
        else []
    )
    return (
        diet
        + _renamed(fact, view)
        + _other_numbers(fact, view)
        + [
            other
            for other in view.facts(subject=subject, object=value)
            if other.key[1].startswith("does not ") and third_person(other.key[1][9:]) == relation
        ]
    )


_NUMERAL: Final = re.compile(r"\d+(?:[.,]\d+)*(?:st|nd|rd|th)?")
_NUMBERED: Final = re.compile(
    r"has|is|is in|is on|lives on|lives in|takes|weighs|pays|earns|smokes|drinks|works|runs|walks|owes|costs|sleeps|"
    r"employs|teaches|commutes"
)
_OF_TIME: Final = re.compile(rf"old|am|pm|o'clock|\w+day|weekends?|{'|'.join(sorted(PROSE_WORDS['months']))}")


def _other_numbers(fact: Fact, view: GraphView) -> list[Fact]:
    """Return the facts whose value differs in a number alone: "year 3" from "year 4", "two cats" from "three cats"."""
    if _NUMBERED.fullmatch(fact.key[1]) is None or not _without_number(fact)[0]:
        return []  # of those who are told much of, looking at all would be slow
    return [other for other in view.facts(fact.subject, fact.relation) if _is_other_number(fact, other)]


def _is_other_number(fact: Fact, other: Fact) -> bool:
    relation = fact.key[1]
    (number, words), (old_number, old_words) = _without_number(fact), _without_number(other)
    if not number or not old_number or number == old_number or words != old_words or words == ["#"]:
        return False
    if relation in ("pays", "owes") and len(words) < 3:
        return False  # 50 euros for one thing and 20 for another
    return not (relation in ("has", "takes") and words[0] != "#") and not any(
        _OF_TIME.fullmatch(word) for word in words
    )


def _without_number(fact: Fact) -> tuple[str, list[str]]:
    """Return the only number of a value, empty if it has none or several, and the value's words with "#" for it."""
    words = [stem(word) if number_of(word) is None else word for word in fact.key[2].replace("-", " ").split()]
    places = [n for n, word in enumerate(words) if _NUMERAL.fullmatch(word) or number_of(word) is not None]
    if len(places) != 1:
        return "", words
    number = words[places[0]]
    return str(number_of(number) or number), [*words[: places[0]], "#", *words[places[0] + 1 :]]


def _renamed(fact: Fact, view: GraphView) -> list[Fact]:
    """Return the older full names of somebody who keeps the given name: "Anna Berg" before "Anna Holm"."""
    names = fact.object.split()
    if fact.key[1] not in ("is called", "has name") or len(names) < 2:
        return []
    older = [f for relation in ("is called", "has name") for f in view.facts(fact.subject, relation)]
    return [
        f
        for f in older
        if len(f.object.split()) == len(names) and f.object.split()[0] == names[0] and f.key[2] != fact.key[2]
    ]


_EXCLUSIVE: Final = ("home", "school", "studied", "driven", "title", "diet")


def replaced_facts(fact: Fact, view: GraphView) -> list[Fact]:
    """Return the facts in place of which a new one holds "now": "I drive a Tesla now", "I'm a teacher these days".

    Args:
        fact: what holds now.
        view: what the memory holds.
    """
    found: list[Fact] = []
    relation, value = fact.key[1:]
    is_favourite = re.search(r"favou?rite", relation) is not None
    for other in view.facts(subject=fact.subject):
        if other.key[2] == value or _is_part(fact, other):
            continue
        if (
            (is_favourite and other.key[1] == relation)
            or _is_opposite(fact, other)
            or (other.key[1] == relation and _is_same_measure(value, other.key[2]))
            or any(is_in(family, fact) and is_in(family, other) for family in _EXCLUSIVE)
        ):
            found.append(other)
    return found


_MEASURE: Final = re.compile(
    r"(?:about |around )?(?:\d[\d.,:]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"twenty|thirty) ?(\S+)(.*)"
)


def _is_same_measure(one: str, other: str) -> bool:
    """Return whether two objects are numbers of the same unit: "5 km every day" and "10 km every day"."""
    first, second = _MEASURE.fullmatch(one), _MEASURE.fullmatch(other)
    return first is not None and second is not None and stem(first[1]) == stem(second[1])


def _is_opposite(one: Fact, other: Fact) -> bool:
    """Return whether two facts say states that exclude each other: "is open" and "is closed"."""
    if one.key[1] == "is closed":
        return False  # "on Mondays" only
    states = []
    for fact in (one, other):
        _, relation, value = fact.key
        if relation.startswith("opens "):
            relation = "is open"
        states.append(value if relation == "is" else relation.removeprefix("is ").partition(" ")[0])
    first, second = states
    return first != second and first in FAMILIES and FAMILIES[first] == FAMILIES.get(second)


def _is_part(one: Fact, other: Fact) -> bool:
    """Return whether one object says the same as another one, or more."""
    first, second = mention_of_text(one.object), mention_of_text(other.object)
    return first.all <= second.all or second.all <= first.all


def _names(named: Mention, view: GraphView) -> list[str]:
    """Return the names of somebody: "Ravi" is "Tom's husband", where the memory knows it."""
    names = [named.name]
    if named.owner is not None:
        names += [f"{named.owner}'s {word}" for word in sorted(KIN.get(named.head, ())) if not named.words]
        called = {
            match[1]
            for fact in view.facts(subject=named.owner)
            if is_in("own", fact) and is_about(named, fact) and (match := CALLED.search(fact.object)) is not None
        }
        names += sorted(called) if len(called) == 1 else []
        names += [f.object for f in view.facts(subject=named.owner, relation=f"has {named.head}")]
        names += [f.object for relation in _NAMINGS for f in view.facts(subject=named.name, relation=relation)]
    elif not named.person:
        title, _, given = named.name.partition(" ")
        if given and title.lower() in LISTS["relations"]:
            names.append(given)  # "Uncle Frank"
        for fact in view.facts(object=names[-1]):
            if fact.key[1] in _NAMINGS and "'s " in fact.subject:
                names.append(fact.subject)
            elif fact.key[1].startswith("has "):
                names.append(f"{fact.subject}'s {fact.relation[4:]}")
    return list(dict.fromkeys(names))


def _of_people(change: Change, view: GraphView) -> list[Fact]:
    found: list[Fact] = []
    if change.relation == "lives with":
        return [
            f
            for t in change.targets
            for name in _names(t, view)
            for f in view.facts(object=name)
            if _SHARING.fullmatch(f.key[1])
        ]
    for who in change.who:
        for name in _names(who, view):
            found += [f for f in view.facts(subject=name) if _ends(change, f)]
    found = _unambiguous(found, change)
    is_wide = _WIDE & set(change.families) and not (change.targets or change.relation or change.never)
    if is_wide and not (change.kept and len(found) == 1):  # "I switched to Lenovo" has one employer to mean
        found = meant_without_name(found, change.sentence)
    if change.things:
        for target in change.targets:
            for name in _thing_names(target, change):
                found += [
                    f for f in view.facts(subject=name)
                    if any(is_in(family, f) for family in change.families if family in ("schedule", "price", "hours"))
                ]  # fmt: skip
    return found


def _thing_names(target: Mention, change: Change) -> list[str]:
    """Return the names under which a thing may be known: "the meeting" is "meeting" or "Tom's meeting"."""
    plain = target.name.removeprefix(f"{target.owner}'s ") if target.owner is not None else target.name
    names = (
        [target.name, plain]
        if target.owner is not None and any(w.name == target.owner for w in change.who)
        else [target.name]
    )
    if target.owner is None and target.determiner == "the":
        names += [f"{who.name}'s {plain}" for who in change.who]
    return list(dict.fromkeys(names))


def _ends(change: Change, fact: Fact) -> bool:
    """Return whether a fact of the right subject ends."""
    _, relation, _ = fact.key
    if any(is_about(new, fact) for new in change.kept):
        return False
    if change.never:
        is_same = change.verb == "be" or any(word[:3] == change.verb[:3] for word in relation.split()) or (
            change.verb in HAVING and relation.split()[0] in ("has", "had", "owns", "owned")
        )  # fmt: skip
        return (
            is_same
            and not relation.startswith("does not")
            and all(is_about(t, fact, loosely=True) for t in change.targets)
        )
    if change.relation:
        is_age = change.relation == "has age" and relation == "is" and fact.key[2].isdecimal()  # "my cat is 2"
        if re.fullmatch(change.relation, relation) is None and not is_age:
            return False
        if relation.startswith("does not"):
            return not change.targets or any(is_about(t, fact) for t in change.targets)
        return not change.targets or any(t.person or is_about(t, fact, loosely=change.loosely) for t in change.targets)
    if change.families == ("health",) and (CALLED.search(fact.object) is not None or _is_kin(fact)):
        return False  # who has a dog called Rex, or a girlfriend, is not ill
    if change.families == ("any",) and (_is_kin(fact) or _is_liked(fact, change)):
        return False  # a sister is not over, and who likes cake still does when "the cake is gone"
    if change.families and not any(is_in(family, fact) for family in change.families):
        is_price = "price" in change.families and (
            (aspect_for(fact) or "").startswith("price of ")
            or (relation in ("is", "costs") and re.match(r"[$€£]?\d+(?:[.,]\d+)?(?: |$)", fact.key[2]) is not None)
        )
        if not is_price:
            return False
    if not change.families and (
        PAST.match(relation) or relation.startswith("does not") or not set(relation.split()) & verb_forms(change.verb)
    ):
        return False
    if change.verb == "be" and not relation.startswith("is"):
        return False
    if not change.targets:  # who is thrown out has still what they had
        return "membership" not in change.families or relation.split()[0] not in ("has", "have", "uses", "pays", "goes")
    head = mention_of_text(fact.object).head
    if relation in ("is a", "is an") and all(
        t.determiner == "the" and not t.proper and t.head == head for t in change.targets
    ):
        return False  # "the nurse" is somebody else than who is a nurse
    if change.exact:
        return any(
            t.name == fact.key[2] or normalise_name(t.name) == fact.key[2] or (t.head == fact.key[2] and not t.words)
            for t in change.targets
        )
    return any(is_about(t, fact, loosely=change.loosely) for t in change.targets)


def _is_kin(fact: Fact) -> bool:
    """Return whether a fact says who somebody's relatives and friends are, or what somebody's pet is."""
    lasting = LISTS["relations"] | LISTS["pets"] | LISTS["partners"]
    relation = fact.key[1]
    nouns = {
        relation.rpartition(" ")[2],
        *(([mention_of_text(fact.object).head]) if relation in ("has", "is a") else []),
    }
    return bool(nouns & lasting) and relation.startswith(("has", "is a"))


def _is_liked(fact: Fact, change: Change) -> bool:
    """Return whether a fact says what somebody likes, eats or drinks, and only one such thing or a name is over."""
    return _LIKING.fullmatch(fact.key[1]) is not None and all(
        t.proper or t.determiner in WORDS["definite"] for t in change.targets
    )


def _unambiguous(facts: list[Fact], change: Change) -> list[Fact]:
    """Return the facts; none where a bare noun ("the car") fits several things."""
    if not change.targets or any(t.proper or t.words or t.tail for t in change.targets):
        return facts
    heads = [mention_of_text(f.object) for f in facts if is_in("own", f) and not is_in("job", f)]
    distinct = [one for one in heads if not any(one.all < other.all for other in heads)]
    if len({one.all for one in distinct}) > 1 and not any(t.name[-1:] == "s" for t in change.targets):
        return [f for f in facts if not is_in("own", f)]
    return facts


def _of_couple(change: Change, view: GraphView) -> list[Fact]:
    """Return the facts between people."""
    family = change.families[0]
    people = [(who, _names(who, view)) for who in change.who]
    found: list[Fact] = []
    for number, (who, names) in enumerate(people):
        others = [other for n, (other, _) in enumerate(people) if n != number]
        known = {normalise_name(n) for other, names_ in people if other is not who for n in names_}
        for name in names:
            for fact in view.facts(subject=name):
                if is_in(family, fact) and _is_between(fact, others, known, change):
                    found.append(fact)
            if family == "partner":
                roles = [f"{name}'s {role}" for role in sorted(LISTS["partners"])]
                found += [
                    f for role in roles for relation in _NAMINGS for f in view.facts(subject=role, relation=relation)
                    if not others or f.key[2] in known
                ]  # fmt: skip
            if not others:
                found += [f for f in view.facts(object=name) if is_in(family, f) and f.key[1] != "has"]
    return found


def _is_between(fact: Fact, others: list[Mention], known: set[str], change: Change) -> bool:
    _, relation, value = fact.key
    if not others:
        return not (change.families == ("partner",) and value in ("single",))
    if value in known or any(is_about(o, fact) for o in others):
        return True
    noun = relation.rpartition(" ")[2]
    roles = {o.head for o in others}
    if noun in roles or mention_of_text(fact.object).head in roles:
        return True
    return (
        relation == "is" or relation == "is a"
        if change.families != ("partner",)
        else (
            relation in ("is", "married", "is in")
            and bool(roles & (LISTS["partners"]) or known)
            and any(
                o.head in LISTS["partners"] or any(k.endswith(tuple(LISTS["partners"])) for k in known) for o in others
            )
        )
    )


def is_kind(fact: Fact) -> bool:
    """Return whether a fact says what somebody with a name is: "Nibbles is a hamster"."""
    return fact.key[1] in ("is a", "is an") and fact.key[2] in LISTS["pets"] | LISTS["relations"]


def _life(target: Mention, change: Change, view: GraphView) -> list[Fact]:
    """Return what was so of somebody who died, and that somebody had them."""
    found: list[Fact] = []
    names = _names(target, view)
    is_known = target.determiner == "" and any(is_kind(f) for name in names for f in view.facts(subject=name))
    if is_known:
        target = replace(target, proper=True)  # a name that the parser takes for a noun: "Nibbles"
    if not target.proper and not is_known and target.owner is None and (target.determiner != "the" or target.tail):
        names = []
    if target.owner is None and target.determiner == "the" and not target.words | target.tail:
        names = [*names, *(f"{who.name}'s {target.head}" for who in change.who)]  # "the cat"
    for name in names:
        found += [f for f in view.facts(subject=name) if not PAST.match(f.key[1])]
        found += [
            f
            for f in view.facts(object=name)
            if is_in("own", f)
            or is_in("partner", f)
            or f.key[1] in ("lives with", "works with", "works for")
            or f.key[1].startswith("has ")
        ]
    owners = (
        {target.owner}
        if target.owner is not None
        else {f.subject for name in names for f in found}
        if target.proper or is_known
        else set()
    )
    if target.owner is None:
        owners |= {who.name for who in change.who}
    for owner in sorted(o for o in owners if o is not None):
        about = [
            f for f in view.facts(subject=owner) if (is_in("own", f) or is_in("partner", f)) and is_about(target, f)
        ]
        found += _unambiguous(about, Change("", targets=(target,)))
    return found
