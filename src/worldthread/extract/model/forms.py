"""The forms of the answers of a model: their types, their JSON schemas, and the statements that they are made into."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from worldthread.extract.model.answers import TEXT_LIMIT, most_items, one_space, problem_of, usable_names
from worldthread.extract.model.schema import ReadingSchema
from worldthread.extract.model.stated_times import stated_time, worded_time
from worldthread.names import normalise_name
from worldthread.types import Ending, Fact, Statement, Thesis

# In bytes, because a character of a script without spaces says more than a letter.
_BYTES_PER_FACT: Final = 12
_BYTES_PER_THESIS: Final = 24
_NAMES: Final = 16  # the most pairs of equal names, and of names of what has changed

_TEXT: Final[dict[str, Any]] = {"type": "string"}
_TIME: Final[dict[str, Any]] = {"anyOf": [{"type": "string"}, {"type": "null"}]}


class StatedFact(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A fact as a model writes it; a claim that was never true, where ``never`` says so."""

    subject: str
    relation: str
    object: str
    aspect: str | None = None
    from_: str | None = msgspec.field(name="from", default=None)
    until: str | None = None
    never: bool = False


class StatedThesis(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A thesis as a model writes it."""

    text: str
    objects: list[str]


class SameName(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Two names of one thing; ``same_as`` is the better one."""

    name: str
    same_as: str


class KindOfThing(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The kind of a thing, by the schema of the user."""

    name: str
    kind: str


class EndedStatement(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Stored statement number ``old``, counted from 1, has ended, or was never true."""

    old: int
    until: str | None = None
    never: bool = False
    reason: str = ""


class EndingsAnswer(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a model answers when it is asked which stored statements have ended."""

    ended: list[EndedStatement]


@dataclass(frozen=True)
class AnswerForm:
    """The form of answers to requests for statements.

    Args:
        facts: whether facts are asked for.
        theses: whether theses are asked for.
        schema: narrows the facts; ``None`` without one.
    """

    facts: bool
    theses: bool
    schema: ReadingSchema | None = None

    @property
    def one(self) -> type[Any]:
        """The type of the answer about one text."""
        return msgspec.defstruct("StatementsOfText", [*self._lists(), *self._names()], **_STRICT)

    @property
    def many(self) -> type[Any]:
        """The type of the answer about several messages."""
        of_message: Any = msgspec.defstruct(
            "StatementsOfMessage", [("number", int), *self._lists(), ("changed", list[str] | None, None)], **_STRICT
        )
        fields: list[Any] = [("messages", list[of_message]), ("same", list[SameName], [])]
        return msgspec.defstruct("StatementsOfMessages", fields, **_STRICT)

    @property
    def in_words(self) -> str:
        """The lists of an answer, as the prompt names them."""
        names = [name for name, wanted in (("facts", self.facts), ("theses", self.theses)) if wanted]
        return ", ".join(f'"{name}"' for name in (*names, *(["kinds"] if self.schema else [])))

    def json_schema(self, texts: Sequence[str], *, is_one: bool) -> dict[str, Any]:
        """Return the JSON schema of an answer, with bounded lists.

        A fact has one of several forms, so that a model writes only what it needs. They differ in their first key, and
        every key of a form is required, as strict servers demand.

        Args:
            texts: what is read.
            is_one: whether the answer is about one text rather than several messages.

        Returns:
            The schema.
        """
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        lists: dict[str, Any] = {}
        if self.facts:
            lists["facts"] = _list({"anyOf": self._fact_forms()}, size // _BYTES_PER_FACT)
        if self.theses:
            lists["theses"] = _list(_object(text=_TEXT, objects=_list(_TEXT, _NAMES)), size // _BYTES_PER_THESIS)
        if self.schema is not None:
            kind = {"type": "string", "enum": list(self.schema.kind_names)}
            lists["kinds"] = _list(_object(name=_TEXT, kind=kind), size // _BYTES_PER_FACT)
        same = _list(_object(name=_TEXT, same_as=_TEXT), _NAMES)
        changed = _list(_TEXT, _NAMES)
        if is_one:
            return _object(**lists, same=same, changed=changed)
        message = _object(number={"type": "integer"}, **lists, changed=changed)
        return _object(messages=_list(message, len(texts)), same=same)

    def _fact_forms(self) -> list[dict[str, Any]]:
        relation = {"type": "string", "enum": list(self.schema.relation_names)} if self.schema else _TEXT
        names = {"subject": _TEXT, "relation": relation, "object": _TEXT}
        times = {"from": _TIME, "until": _TIME}
        never = _object(never={"type": "boolean", "enum": [True]}, **names)
        if self.schema is not None:
            return [_object(**names), _object(**times, **names), never]
        return [
            _object(**names),
            _object(aspect=_TEXT, **names),
            _object(**times, aspect=_TIME, **names),
            never,
        ]

    def _lists(self) -> list[Any]:
        fields: list[Any] = []
        if self.facts:
            fields.append(("facts", list[StatedFact]))
        if self.theses:
            fields.append(("theses", list[StatedThesis]))
        if self.schema is not None:
            fields.append(("kinds", list[KindOfThing]))
        return fields

    def _names(self) -> list[Any]:
        return [("same", list[SameName], []), ("changed", list[str] | None, None)]


_STRICT: Final[dict[str, Any]] = {"forbid_unknown_fields": True, "frozen": True, "kw_only": True}

ENDINGS_SCHEMA: Final[dict[str, Any]] = {
    "old": {"type": "integer"},
    "until": _TIME,
    "never": {"type": "boolean"},
    "reason": _TEXT,
}


def endings_schema(stored: int) -> dict[str, Any]:
    """Return the JSON schema of the answer about so many stored statements."""
    return _object(ended=_list(_object(**ENDINGS_SCHEMA), stored))


class FormReader:
    """Makes statements and corrections from the items of one answer, and counts what it leaves out.

    Args:
        at: world time of the text; ``None`` where it is not known.
        schema: narrows the facts; ``None`` without one.
        dropped: counts what is left out, by reason.
        worded: whether times are also understood in forms that the prompt does not ask for.
    """

    def __init__(self, at: float | None, schema: ReadingSchema | None, dropped: Counter[str], *, worded: bool) -> None:
        self._at = at
        self._schema = schema
        self._dropped = dropped
        self._worded = worded
        self.never: list[Ending] = []

    def statements(self, answer: Any) -> Iterator[Statement]:
        """Yield the statements of an answer in its order; corrections go into :attr:`never`."""
        kinds = self._kinds(getattr(answer, "kinds", ()))
        for item in getattr(answer, "facts", ()):
            fact = self._fact(item, kinds)
            if fact is not None and item.never:
                self.never.append(Ending(fact, "never true", never=True))
            elif fact is not None:
                yield fact
        for thesis in getattr(answer, "theses", ()):
            text = one_space(thesis.text)
            problem = problem_of(text, TEXT_LIMIT)
            if problem is None:
                yield Thesis(text, tuple(usable_names(thesis.objects, self._dropped)))
            else:
                self._dropped[problem] += 1

    def _kinds(self, items: Sequence[KindOfThing]) -> dict[str, str]:
        allowed = {} if self._schema is None else {normalise_name(kind): kind for kind in self._schema.kind_names}
        kinds = {}
        for item in items:
            kind = allowed.get(normalise_name(item.kind))
            if kind is None:
                self._dropped["not in the schema"] += 1
            else:
                kinds[normalise_name(item.name)] = kind
        return kinds

    def _fact(self, item: StatedFact, kinds: Mapping[str, str]) -> Fact | None:
        names = [one_space(name) for name in (item.subject, item.relation, item.object)]
        problem = next(filter(None, map(problem_of, names)), None)
        if problem is not None:
            self._dropped[problem] += 1
            return None
        aspect = normalise_name(item.aspect or "") or None
        if aspect is not None and (problem := problem_of(aspect)) is not None:
            self._dropped[problem] += 1
            aspect = None
        if self._schema is not None:
            ends = (kinds.get(normalise_name(names[0]), ""), kinds.get(normalise_name(names[2]), ""))
            rule = self._schema.rule_for(names[1], *ends)
            if rule is None:
                self._dropped["not in the schema"] += 1
                return None
            names[1] = rule.name
            aspect = f"{normalise_name(rule.name)} of {normalise_name(names[0])}" if rule.single else None
        begin, end = self._interval(item)
        return Fact(names[0], names[1], names[2], aspect=aspect, valid_from=begin, valid_to=end)

    def _interval(self, item: StatedFact) -> tuple[float | None, float | None]:
        texts = self._bounds(item)
        read = worded_time if self._worded else stated_time
        first, last = (None if text is None else read(text, self._at) for text in texts)
        unusable = sum(text is not None for text in texts) - sum(time is not None for time in (first, last))
        if first is not None and last is not None and last.end <= first.begin:
            first, last, unusable = None, None, 2
        if unusable:
            self._dropped["no such time"] += unusable
        begin, end = (None if first is None else first.begin), (None if last is None else last.end)
        if not self._worded:
            return begin, end
        if first is not None and texts[1] is None and _is_dated(item) and read(item.object, self._at) == first:
            end = first.end
        if texts[0] is None and end is not None and self._at is not None and end <= self._at:
            begin = end - 1  # it held just before; nothing says since when
        return begin, end

    def _bounds(self, item: StatedFact) -> tuple[str | None, str | None]:
        """Return the texts of the first and the last time of a fact; ``None`` for one that is not given."""
        begin, end = (
            None if text is None or problem_of(text) == "blank" else text for text in (item.from_, item.until)
        )
        if not self._worded:
            return begin, end
        if begin is not None and end is None and begin.count("/") == 1:  # an interval as ISO 8601 writes it
            begin, end = (part.strip() or None for part in begin.split("/"))
        return begin, None if end is not None and end.strip().lower() in _OPEN else end


def _is_dated(item: StatedFact) -> bool:
    """Return whether a fact says on which day or in which month something is, as in "fair, is on, 2024-05-31"."""
    return item.relation.strip().lower().rpartition(" ")[2] in _ON


def kinds_in(answers: Iterable[Any]) -> frozenset[tuple[str, str]]:
    """Return which things answers call things of a kind ("Rex, is a, dog"): pairs of a thing and a kind, normalised."""
    facts = (fact for answer in answers for fact in getattr(answer, "facts", ()))
    return frozenset(
        (normalise_name(fact.subject), normalise_name(fact.object))
        for fact in facts
        if normalise_name(fact.relation) in _KIND_RELATIONS and not _POSSESSIVE.search(fact.object)
    )


def usable_pairs(
    items: Sequence[SameName], known: str, kinds: Collection[tuple[str, str]], dropped: Counter[str]
) -> tuple[tuple[str, str], ...]:
    """Return the pairs of names that can be kept as names of one thing.

    A wrong pair would join two things for all times, so the better name must stand in what was read, and the other one
    must not be what it is a kind of: "the cat" is Pepper here, and another cat elsewhere.

    Args:
        items: the pairs.
        known: the texts that were read, with what was said before.
        kinds: things with what kind of thing they are, see :func:`kinds_in`.
        dropped: counts what is left out.

    Returns:
        The pairs, each once, in order.
    """
    pairs: list[tuple[str, str]] = []
    joined: set[frozenset[str]] = set()
    text = normalise_name(known)
    for item in items:
        names = one_space(item.name), one_space(item.same_as)
        keys = normalise_name(names[0]), normalise_name(names[1])
        problem = problem_of(names[0]) or problem_of(names[1])
        if problem is None and (keys[0] == keys[1] or frozenset(keys) in joined):
            problem = "duplicate"
        is_kind = (keys[1], keys[0]) in kinds or (keys[0], keys[1]) in kinds
        if problem is None and (is_kind or keys[1] not in text or not _NO_NAMES.isdisjoint(keys)):
            problem = "no such name"
        if problem is None:
            joined.add(frozenset(keys))
            pairs.append(names)
        else:
            dropped[problem] += 1
    return tuple(pairs)


_KIND_RELATIONS: Final = frozenset({
    "is a", "is an", "is", "was a", "was an", "ist", "ist ein", "ist eine", "est un", "est une", "es un", "es una",
})  # fmt: skip
_OPEN: Final = frozenset({"..", "open", "ongoing", "present"})
_ON: Final = frozenset({"on", "in", "am", "im", "le", "en", "el"})
_POSSESSIVE: Final = re.compile(r"['’]s?(?=\s|$)|\b(?:of|von|de|du|der|des)\b")
_NO_NAMES: Final = frozenset({
    "i", "me", "you", "he", "him", "she", "her", "it", "we", "us", "they", "them", "this", "that", "user", "assistant",
    "somebody", "someone",
})  # fmt: skip


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Mapping[str, Any], limit: int) -> dict[str, Any]:
    return {"type": "array", "items": dict(items), "maxItems": most_items(limit)}
