"""States what happens at a time that a clause names, where the other rules make nothing of the clause.

"I went kayaking" says too little about somebody to be kept; "I went kayaking on 3 May" says what happened on a day.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from worldthread.extract.parsed.clauses import WORDS
from worldthread.extract.parsed.facts import LocatedFact, SentenceFacts, going_of, is_hour, is_own_matter, is_stretch
from worldthread.extract.parsed.phrases import last_of, noun_phrase, render
from worldthread.extract.parsed.validity import with_times
from worldthread.extract.prose.phrases import Referents
from worldthread.extract.prose.words import is_program, third_person
from worldthread.extract.times import TimeExpression, time_expressions
from worldthread.types import Fact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spacy.tokens import Doc, Token

    from worldthread.extract.parsed.clauses import Clause
    from worldthread.extract.parsed.phrases import NamedPhrase

_TURNS: Final = 1e8  # world times below it are turns of a game, not seconds
_WILL: Final = frozenset(["will", "'ll", "’ll", "wo"])
_GOING: Final = frozenset(["go", "come", "drive", "fly", "walk", "travel", "head", "hike", "sail", "cycle", "ride"])
_PREPOSITIONS: Final = frozenset(["to", "at", "in", "on", "for", "with", "from", "around", "across", "through", "near"])
_MEALS: Final = frozenset(["breakfast", "brunch", "lunch", "dinner", "supper", "tea", "coffee", "drink"])
_HAPPENING: Final = WORDS["schedules"] | {
    "arrive", "come", "happen", "last", "occur", "run", "run out", "expire", "end", "finish", "return", "land",
    "come back", "get back", "be back", "start", "begin", "take place", "go ahead", "fall", "apply", "renew",
    "run away", "move out", "pass away", "drop out",
}  # fmt: skip
_OF_DEEDS: Final = frozenset(["begin", "finish", "quit", "start", "stop", "try"])
_CLOSING: Final = frozenset(["close", "open", "shut", "cancel", "suspend", "lock", "sell", "break"])
_UNTIL: Final = frozenset(["due", "good", "valid", "open", "closed", "available", "ill", "sick", "absent"])
_ABSENCES: Final = frozenset(["abroad", "absent", "away", "back", "busy", "due", "ill", "off", "over", "sick", "up"])
_DUTIES: Final = frozenset(["have", "need"])
_STATES_WITH: Final = frozenset(["in", "on", "at", "off", "with", "out"])
_LIGHT: Final = WORDS["light"] - {
    "go", "have", "become", "start", "make", "see", "come", "give", "get", "call", "catch", "need", "use",
}  # fmt: skip
_SAID: Final = WORDS["attitudes"] - {"see"}
_SHOWN: Final = {
    "minute": "%Y-%m-%d %H:%M", "day part": "%Y-%m-%d", "day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y",
}  # fmt: skip


_LONG: Final = frozenset(["season", "quarter"])


def with_dated(doc: Doc, read: SentenceFacts, referents: Referents, at: float) -> tuple[LocatedFact, ...]:
    """Return the facts of a sentence with their times, and what else its clauses say of a time.

    Args:
        doc: the dependency tree of the sentence.
        read: what the other rules made of it.
        referents: whom its pronouns mean.
        at: time of the sentence in seconds since 1970-01-01 UTC, or a turn, against which nothing is resolved.

    Returns:
        The facts, in the order of the clauses' rules: first those of ``read``.
    """
    more: tuple[LocatedFact, ...] = ()
    if abs(at) >= _TURNS and not is_program(referents.speaker):
        understood = {stated.clause.verb for stated in read.facts}
        more = tuple(
            LocatedFact(fact, clause)
            for clause, named in read.clauses
            if (subject := named if named is not None else _the_thing(clause, referents)) is not None
            and clause.verb not in understood
            and (fact := _DatedClause(doc, clause, subject, referents, at).fact(is_thing=named is None)) is not None
        )
    stated = with_times(doc, read.facts + more, at)
    first = len(read.facts)
    return stated[:first] + tuple(
        one for one in stated[first:] if one.fact.valid_from is not None or one.fact.valid_to is not None
    )


def _the_thing(clause: Clause, referents: Referents) -> NamedPhrase | None:
    """Return the subject of "the shop has been closed since Monday", which names one thing of those who talk."""
    subject = clause.subject
    if subject is None or subject.tag_ not in ("NN", "NNS") or [c.lower_ for c in subject.lefts][:1] != ["the"]:
        return None
    if any(c.i > subject.i for c in subject.children) or subject.lemma_.lower() in WORDS["vague"]:
        return None
    return noun_phrase(subject, referents, subject.i)


class _DatedClause:
    """Reads one clause that the other rules make nothing of.

    Args:
        doc: the dependency tree of the sentence.
        clause: the clause.
        subject: its subject.
        referents: whom its pronouns mean.
        at: time of the sentence.
    """

    def __init__(self, doc: Doc, clause: Clause, subject: NamedPhrase, referents: Referents, at: float) -> None:
        self._clause = clause
        self._subject = subject
        self._referents = referents
        self._verb = clause.verb
        self._times = _times_of(doc, clause, at)
        spans = [doc.char_span(time.start, time.end, alignment_mode="expand") for time in self._times]
        self._timed = {token for span in spans if span is not None for token in span}

    def fact(self, *, is_thing: bool = False) -> Fact | None:
        """Return what the clause says; ``None`` when that is not clear, or it names no time.

        Args:
            is_thing: whether the subject is a thing such as "the shop", of which only states and schedules are read.
        """
        clause, subject = self._clause, self._subject
        if self._times and clause.is_passive and not clause.negation:
            state = self._of_closing() or self._of_birth()
            return None if state is None else Fact(subject.name, *state)
        if not self._times or clause.negation or clause.is_passive or (clause.modal and clause.modal not in _WILL):
            return None
        if any(token.lemma_.lower() in WORDS["stories"] for token in subject.head.subtree):
            return None
        verb = clause.lemma.partition(" ")[0]
        if (verb in _SAID | _LIGHT and not self._is_acquaintance()) or any(
            c.dep_ in ("ccomp", "dative", "expl", "oprd") for c in self._verb.children
        ):
            return None
        if is_thing:
            found = self._of_being() if verb == "be" else self._of_schedule()
            return None if found is None or clause.is_past else Fact(subject.name, *found)
        found = self._of_being() if verb == "be" else self._of_lasting() or self._of_duty() or self._of_event()
        return None if found is None else Fact(subject.name, *found)

    def _is_acquaintance(self) -> bool:
        """Return whether somebody is known by name: "I have known Carla since 2008"."""
        if self._clause.lemma == "report":  # "I report to Helen"
            return any(c.dep_ == "prep" and c.lower_ == "to" for c in self._verb.rights)
        return self._clause.lemma == "know" and any(c.dep_ == "dobj" and c.pos_ == "PROPN" for c in self._verb.rights)

    def _relation(self, following: str = "") -> str:
        return relation_of(self._clause, following)

    def _of_event(self) -> tuple[str, str] | None:
        # "by Friday" says when something is to be done, not when it happens
        return None if any(time.role == "by" for time in self._times) else self._of_verb() or self._of_schedule()

    def _of_verb(self) -> tuple[str, str] | None:
        """Read an object ("had lunch with Ann"), an activity ("went kayaking") or a place ("went to a festival")."""
        rights = [c for c in self._verb.rights if c not in self._timed]
        thing = next((c for c in rights if c.dep_ in ("dobj", "attr")), None)
        if thing is not None:
            is_given = any(c.dep_ == "det" and c.lower_ in ("a", "an") for c in thing.lefts)
            if self._verb.lemma_.lower() == "get" and not is_given:
                return None
            # "signed the contract on 2 May" tells which one by its day; habits and what lasts do not
            value = self._phrase(thing, takes_known=self._is_done_once())
            return None if value is None else (self._relation(), value)
        activity = next((c for c in rights if c.dep_ in ("xcomp", "advcl") and c.tag_ == "VBG"), None)
        if activity is not None:
            is_next = self._clause.lemma == "go" and activity.i == self._verb.i + 1
            value = render(activity, self._last(activity), self._referents) if is_next else None
            return None if value is None else (self._relation(), value)
        if any(c.dep_ in ("xcomp", "acomp", "advcl", "oprd") for c in rights):
            return None
        for prep in rights:
            if prep.dep_ != "prep":
                continue
            inner = next((c for c in prep.children if c.dep_ == "pobj"), None)
            if inner is None or inner in self._timed or prep.lower_ not in _PREPOSITIONS:
                return None
            value = self._phrase(inner, takes_known=self._clause.lemma in _GOING)
            return None if value is None else (self._relation(prep.lower_), value)
        return None

    def _is_done_once(self) -> bool:
        """Return whether the clause tells one act of a time: "signed", "is seeing", but not "has seen"."""
        clause = self._clause
        is_told = clause.is_past or clause.is_progressive or bool(clause.modal)
        return is_told and not clause.is_perfect and all(time.role == "at" for time in self._times)

    def _phrase(self, noun: Token, *, takes_known: bool = False, takes_abstract: bool = False) -> str | None:
        """Return a noun with what belongs to it; ``None`` for what names nothing by itself: "it", "the project"."""
        if noun.lower_ in ("me", "us"):
            return self._referents.of("me") if noun.tag_ == "PRP" else None
        if noun.tag_ not in ("NN", "NNS", "NNP", "NNPS") or noun in self._timed:
            return None
        is_abstract = noun.lemma_.lower() in WORDS["abstract"] - _MEALS
        if (is_abstract and not takes_abstract) or noun.lower_ in ("%", "percent"):
            return None
        phrase = noun_phrase(noun, self._referents, self._last(noun))
        if phrase is None or phrase.is_vague or is_stretch(phrase) or is_own_matter(phrase):
            return None
        known = WORDS["relations"] | WORDS["illnesses"]
        if phrase.is_unspecific and not takes_known and phrase.lemma not in known:
            return None
        last = phrase.end - 1
        for child in self._verb.rights:  # "lunch with Ann": what follows belongs to it
            if child.i == last + 1 and child.dep_ == "prep" and not self._is_timed(child):
                last = self._last(child)
        whole = noun_phrase(noun, self._referents, last)
        return None if whole is None else whole.name

    def _is_timed(self, token: Token) -> bool:
        return token in self._timed or any(child in self._timed for child in token.children)

    def _last(self, token: Token) -> int:
        return last_of(token, [t for t in token.subtree if t != token and self._is_timed(t)])

    def _of_closing(self) -> tuple[str, str] | None:
        """Read "has been closed since Monday", where the state lasts and the parser takes it for a passive."""
        state = self._verb.lower_
        lasts = any(time.role in ("since", "duration") for time in self._times)
        is_state = state in WORDS["lasting_adjectives"] or self._clause.lemma in _CLOSING
        return ("is", state) if self._clause.is_perfect and not self._clause.is_past and lasts and is_state else None

    def _of_birth(self) -> tuple[str, str] | None:
        """Read "was born last week", "was born in the summer of 2020"."""
        if self._clause.lemma != "bear" or not self._clause.is_past or len(self._times) != 1:
            return None
        shown = self._shown_time()
        return None if shown is None or shown[0] == "from" else (f"born {shown[0]}", shown[1])

    def _of_lasting(self) -> tuple[str, str] | None:
        """Read "I've had this phone since Christmas", "I've been jogging since Thursday"."""
        clause = self._clause
        if (
            not clause.is_perfect
            or clause.is_past
            or not any(time.role in ("since", "duration") for time in self._times)
        ):
            return None
        things = [c for c in self._verb.rights if c.dep_ == "dobj"]
        if clause.lemma == "have" and things and any(c.lower_ in ("this", "these") for c in things[0].lefts):
            words = [c.text for c in things[0].lefts if c.dep_ in ("compound", "amod")]
            return "has", " ".join([*words, things[0].text])
        rights = [c for c in self._verb.rights if not self._is_timed(c) and c.is_alpha and c.dep_ != "advmod"]
        return ("does", self._verb.lemma_.lower()) if clause.is_progressive and not rights else None

    def _of_duty(self) -> tuple[str, str] | None:
        """Read "has to hand in a report by Friday", "used to play hockey until 2016"."""
        lemma = self._clause.lemma
        is_past_habit = lemma == "use" and self._clause.is_past
        deed = next((c for c in self._verb.rights if c.dep_ == "xcomp" and c.tag_ == "VB"), None)
        if deed is None or not any(c.lower_ == "to" and c.i == self._verb.i + 1 for c in deed.lefts):
            return None
        if not is_past_habit and (lemma not in _DUTIES or self._clause.is_past):
            return None
        words = ["used to" if is_past_habit else f"{third_person(lemma)} to", deed.lemma_.lower()]
        words += [c.lower_ for c in deed.rights if c.dep_ == "prt"]
        noun = next((c for c in deed.rights if c.dep_ == "dobj"), None)
        if noun is None:
            prep = next((c for c in deed.rights if c.dep_ == "prep" and not self._is_timed(c)), None)
            noun = next((c for c in prep.children if c.dep_ == "pobj"), None) if prep is not None else None
            words += [prep.lower_] if prep is not None else []
        if noun is None or noun in self._timed or noun.tag_ not in ("NN", "NNS", "NNP", "NNPS"):
            return None
        phrase = noun_phrase(noun, self._referents, self._last(noun))
        return None if phrase is None or phrase.is_vague else (" ".join(words), phrase.name)

    def _of_being(self) -> tuple[str, str] | None:
        """Read "was ill last week", "is due in October", "will be on holiday until Monday"."""
        clause = self._clause
        if clause.is_perfect and clause.is_past:
            return None
        be = "plans to be" if clause.modal else "was" if clause.is_past else "is"
        first = next((c for c in self._verb.rights if c not in self._timed and c.is_alpha), None)
        if first is None:
            shown = self._shown_time()  # "the wedding is this Saturday"
            is_date = not clause.is_perfect and not clause.modal and self._subject.head.tag_ in ("NN", "NNP")
            return (f"{be} on", shown[1]) if shown is not None and shown[0] == "on" and is_date else None
        if first.lower_ in _UNTIL and first.dep_ == "acomp" and (shown := self._shown_time()) is not None:
            preposition, shown_at = shown
            return f"{be} {first.lower_} {preposition}", shown_at
        if first.dep_ == "prep" and first.lower_ in _STATES_WITH:
            inner = next((c for c in first.subtree if c.dep_ == "pobj"), None)
            if inner is None or is_hour(inner):
                return None
            words = [t.lower_ for t in first.doc[first.i : inner.i] if t.dep_ == "prep"]
            is_away = first.lower_ in ("off", "out")  # "off work", "out of work"
            value = self._phrase(inner, takes_known=True, takes_abstract=is_away)
            return None if value is None else (" ".join([be, *words]), value)
        rights = [c for c in self._verb.rights if not self._is_timed(c) and c.is_alpha]
        illness = next((c.lower_ for c in self._verb.rights if c != first and c.lower_ in ("ill", "sick")), None)
        if first.lower_ == "off" and illness is not None:
            return f"{be} off", illness
        is_absent = first.lower_ in _ABSENCES and first.dep_ in ("acomp", "advmod", "prt", "prep")
        is_alone = not any(c != first for c in rights) and all(self._is_timed(c) for c in first.rights if c.is_alpha)
        if first.lower_ == "back" and self._times and self._times[0].role == "at":
            return None  # who is back on a day stays so
        return (be, first.lower_) if is_absent and is_alone else None

    def _of_schedule(self) -> tuple[str, str] | None:
        """Read "my passport expires in May", "my mother retired in 2022", with the time instead of an object."""
        clause = self._clause
        lemma = clause.lemma if clause.lemma in _HAPPENING else clause.lemma.partition(" ")[0]
        if clause.lemma in _OF_DEEDS and self._subject.head.tag_ == "PRP":
            return None  # "I used to smoke, but I stopped in 2019"
        if lemma in ("go", "get", "have", "do", "make", "take"):
            return None  # "went part-time"
        happens = lemma in _HAPPENING and self._subject.head.tag_ != "PRP" and clause.subject is not None
        if (
            not (happens or (clause.is_past and not clause.is_progressive))
            or len(self._times) != 1
            or clause.is_perfect
        ):
            return None
        nested = (
            c for a in self._verb.rights if a.dep_ in ("advmod", "prt") for c in a.rights
        )  # "comes back from Kenya"
        if any(c.dep_ == "prep" and not self._is_timed(c) for c in (*self._verb.rights, *nested)) or any(
            c.dep_ in ("dobj", "attr", "acomp", "xcomp", "prt") and c not in self._timed
            and not (c.dep_ == "prt" and clause.lemma in _HAPPENING) for c in self._verb.rights
        ) or any(c.lower_ in _ABSENCES | {"here", "home", "there"} and clause.lemma.partition(" ")[2] != c.lower_
                 for c in self._verb.rights):  # fmt: skip
            return None
        shown = self._shown_time()
        return None if shown is None else (self._relation(shown[0]), shown[1])

    def _shown_time(self) -> tuple[str, str] | None:
        return shown_when(self._times)


def shown_when(times: Sequence[TimeExpression]) -> tuple[str, str] | None:
    """Return the one time of a clause as a preposition and a date; ``None`` where it has another number of times.

    Args:
        times: the times of the clause.
    """
    if not times:
        return None
    time = times[0]
    if time.role == "until" and time.valid_to is not None and time.precision in _SHOWN and len(times) == 1:
        return "until", datetime.fromtimestamp(time.valid_to - 1, UTC).strftime("%Y-%m-%d")
    pattern = _SHOWN.get(time.precision)
    if time.role == "at" and time.precision in _LONG and time.valid_from is not None and time.valid_to is not None:
        first, last = (datetime.fromtimestamp(t, UTC) for t in (time.valid_from, time.valid_to - 1))
        return "in", f"{first:%Y-%m} to {last:%Y-%m}"
    if pattern is None or time.valid_from is None or time.valid_to is None:
        return None
    begin = datetime.fromtimestamp(time.valid_from, UTC).strftime(pattern)
    end = datetime.fromtimestamp(time.valid_to - 1, UTC).strftime(pattern)
    if time.role == "at" and begin == end:
        return "on" if time.precision == "day" else "in", begin
    if time.role == "at" and time.precision in ("month", "year"):  # "at the end of June", "in mid-May"
        first, last = (datetime.fromtimestamp(t, UTC) for t in (time.valid_from, time.valid_to - 1))
        return (
            ("on", f"{first:%Y-%m-%d}")
            if first.date() == last.date()
            else ("from", f"{first:%Y-%m-%d} to {last:%Y-%m-%d}")
        )
    if time.role == "during" and begin == end:
        return None  # "for most of 2022"
    return ("from", f"{begin} to {end}") if time.role == "during" else None


def relation_of(clause: Clause, following: str = "") -> str:
    """Return the verb of a clause in words: "had", "plans to fly", "is reading", with what belongs to it.

    Args:
        clause: the clause.
        following: the preposition after the verb; empty without one.
    """
    particle = clause.lemma.partition(" ")[2]
    particle = "" if particle == following else particle
    participle = clause.verb.lower_
    going = going_of(clause)
    if going is not None:
        return " ".join(filter(None, (going, participle, particle, following)))
    if clause.modal:
        verb = f"plans to {clause.verb.lemma_.lower()}"
    elif clause.is_progressive:
        verb = f"was {participle}" if clause.is_past else f"is {participle}"
    elif clause.is_perfect:
        verb = "knows" if clause.lemma == "know" else f"has {participle}"
    else:
        verb = participle if clause.is_past else third_person(clause.verb.lemma_.lower())
    return " ".join(filter(None, (verb, particle, following)))


def _times_of(doc: Doc, clause: Clause, at: float) -> list[TimeExpression]:
    """Return the times in a sentence that bound something; those of other clauses are told apart later."""
    found = time_expressions(doc.text, at, is_past=clause.is_past or clause.is_perfect)
    return [time for time in found if time.valid_from is not None or time.valid_to is not None]
