"""The statements that a graph knows, by number: their normalised keys and the forms in which they were written.

A *statement* is identified by its normalised names or text, and by the user whose episodes assert or end it: the same
words of two users are two statements. A *form* is a statement as one episode wrote it, with its aspect and the times
that the text states; several forms can belong to one statement. Names, texts and users are numbers of a
:class:`~worldthread.graph.strings.StringTable`; ``ABSENT`` stands for no user. The aspects of a user are strings of
their own (:func:`aspect_of_user`), so that nobody else's statements are found under them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from worldthread.graph.columns import PackedRows, Row, RowIndex, RowList, RowTable
from worldthread.graph.strings import ABSENT, StringTable, integer_to_time, time_to_integer
from worldthread.names import normalise_name
from worldthread.types import Fact, Statement, Thesis, digest_part, fact_id, thesis_id

KEY_COLUMNS: Final = 4
FORM_COLUMNS: Final = 6
FORM_TIMES: Final = 3
_NO_TIMES: Final = (ABSENT,) * FORM_TIMES

_SEPARATOR: Final = "\x1f"  # joins the objects of a thesis, an aspect and a user; names and aspects cannot hold it
_FACT: Final = digest_part("fact")
_MOST_MADE: Final = 1 << 16  # facts and theses that are kept as objects


@dataclass(frozen=True)
class ShownStatements:
    """Statements as they are written.

    Args:
        numbers: of the statements, shape (n,).
        texts: the statements in words.
        objects: the names of the objects of theses as written, by place in ``numbers``; facts are not in it.
    """

    numbers: NDArray[np.int64]
    texts: list[str]
    objects: dict[int, tuple[str, ...]]


def aspect_of_user(aspect: str, user: str) -> str:
    """Return the string under which the statements of a user with an aspect are found."""
    return f"{aspect}{_SEPARATOR}{user}" if user else aspect


class StatementTable:
    """Statements and their forms, numbered from 0 in order of arrival.

    Args:
        strings: holds the names and texts.
    """

    __slots__ = (
        "_form_index",
        "_id_heads",
        "_key_index",
        "_made",
        "_number_by_form",
        "_number_by_key",
        "_with_aspects",
        "forms",
        "incident",
        "keys",
        "strings",
        "timed_forms",
    )

    def __init__(self, strings: StringTable) -> None:
        self.strings = strings
        self.keys = RowList(PackedRows(np.zeros((0, KEY_COLUMNS), np.int32)))
        """Normalised (subject, relation, object, user) of a fact; (text, ``ABSENT``, joined objects, user) of a thesis.
        """
        self.forms = RowList(PackedRows(np.zeros((0, FORM_COLUMNS), np.int32), FORM_TIMES))
        """(statement, subject, relation, object, aspect, user, valid from, valid to, begins by) of a fact; (statement,
        text, ``ABSENT``, joined objects, aspect, user, valid from, valid to, begins by) of a thesis."""
        self._index()
        self.timed_forms: set[int] = set()
        """The forms that state when they begin or end."""
        self._id_heads = array("Q")  # the first 64 bits of the ids, of as many statements as were ever asked about
        # how many forms were looked at, and statement -> its forms that have an aspect
        self._with_aspects: tuple[int, dict[int, list[int]]] = 0, {}
        self._made: dict[int, Statement] = {}  # form -> the object that was made of it
        self.incident = RowTable(1)
        """Number of a normalised name -> (statement,) for each statement with it as vertex or relation."""

    @classmethod
    def restored(cls, strings: StringTable, keys: PackedRows, forms: PackedRows, incident: RowTable) -> StatementTable:
        """Return the table with these columns, which become its own."""
        table = cls(strings)
        table.keys, table.forms = RowList(keys), RowList(forms)
        table.timed_forms = set(forms.timed.tolist())
        table.incident = incident
        table._index()
        return table

    def _index(self) -> None:
        """Index what is in arrays."""
        self._key_index, self._form_index = RowIndex(self.keys.packed()), RowIndex(self.forms.packed(), 1)
        # of what is not in arrays yet
        self._number_by_key: dict[Row, int] = {}
        self._number_by_form: dict[Row, int] = {}
        """Keyed by ``form[1:]``."""

    def settle(self) -> None:
        """Move keys and forms into arrays, which take a fraction of the RAM."""
        if self.keys.late or self.forms.late:
            self.keys.settle()
            self.forms.settle()
            self._index()
        self.incident.settle(len(self.strings))

    def _number_of_key(self, key: Row) -> int | None:
        number = self._number_by_key.get(key)
        return self._key_index.find(key) if number is None else number

    def _number_of_form(self, written: Row) -> int | None:
        number = self._number_by_form.get(written)
        return self._form_index.find(written) if number is None else number

    def intern_form(self, statement: Statement, user: str = "") -> int:
        """Return the number of a statement as a user's episode writes it, with aspect and times; a new one is added."""
        intern = self.strings.intern
        aspect = ABSENT if statement.aspect is None else intern(aspect_of_user(statement.aspect, user))
        whose = intern(user) if user else ABSENT
        times = tuple(map(time_to_integer, (statement.valid_from, statement.valid_to, statement.begins_by)))
        if isinstance(statement, Fact):
            names = intern(statement.subject), intern(statement.relation), intern(statement.object)
        else:
            names = intern(statement.text), ABSENT, intern(_SEPARATOR.join(statement.objects))
        written = (*names, aspect, whose, *times)
        form = self._number_of_form(written)
        if form is None:
            form = self._number_by_form[written] = len(self.forms)
            self.forms.append((self._intern_key(statement, whose), *written))
            if times != _NO_TIMES:
                self.timed_forms.add(form)
        return form

    def _intern_key(self, statement: Statement, user: int) -> int:
        intern = self.strings.intern
        if isinstance(statement, Fact):
            subject, relation, object_ = statement.key
            key = (intern(subject), intern(relation), intern(object_), user)
            names = set(key[:3])
        else:
            text, objects = statement.key
            key = (intern(text), ABSENT, intern(_SEPARATOR.join(objects)), user)
            names = {intern(name) for name in objects}
        number = self._number_of_key(key)
        if number is None:
            number = self._number_by_key[key] = len(self.keys)
            self.keys.append(key)
            for name in sorted(names):
                self.incident.append(name, (number,))
        return number

    def forms_with_aspects(self, statements: Iterable[int]) -> Iterator[int]:
        """Yield the forms of some statements that have an aspect. The first call takes time linear in all forms."""
        count, found = self._with_aspects
        if count < len(self.forms):
            rows = self.forms if not count else map(self.forms.__getitem__, range(count, len(self.forms)))
            for form, row in enumerate(rows, count):
                if row[4] != ABSENT:
                    found.setdefault(row[0], []).append(form)
            self._with_aspects = len(self.forms), found
        for statement in statements:
            yield from found.get(statement, ())

    def with_id(self, statement_id: str) -> list[int]:
        """Return the numbers of the statements with an id, one for each user. The first call looks at every statement.

        Args:
            statement_id: 32 hexadecimal digits.
        """
        self._id_heads.extend(self.id_heads(np.arange(len(self._id_heads), len(self.keys))).tolist())
        try:
            head = int(statement_id[:16], 16)
        except ValueError:
            return []
        if not 0 <= head < 2**64:
            return []
        likely = np.flatnonzero(np.array(self._id_heads, np.uint64) == np.uint64(head)).tolist()
        return [number for number in likely if self.id(number) == statement_id]

    def id(self, number: int) -> str:
        """Return the id of a statement."""
        strings = self.strings.items
        subject, relation, object_, _ = self.keys[number]
        if relation != ABSENT:
            return fact_id(strings[subject], strings[relation], strings[object_])
        return thesis_id(strings[subject], self.vertices(number))

    def id_heads(self, numbers: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
        """Return the first 64 bits of the ids of some statements.

        Args:
            numbers: of statements, shape (n,).

        Returns:
            Shape (n,).
        """
        strings = self.strings.items
        keys = self.keys.narrow_of(numbers)
        hashed: dict[int, bytes] = {}  # names come again and again
        heads = bytearray()
        for number, (a, b, c) in zip(numbers.tolist(), keys[:, :3].tolist(), strict=True):
            if b == ABSENT:
                heads += bytes.fromhex(self.id(number)[:16])
                continue
            for name in (a, b, c):
                if name not in hashed:
                    hashed[name] = digest_part(strings[name])
            heads += blake2b(_FACT + hashed[a] + hashed[b] + hashed[c], digest_size=16).digest()[:8]
        return np.frombuffer(heads, ">u8").astype(np.uint64)

    def shown(self, statements: NDArray[np.integer[Any]], forms: NDArray[np.integer[Any]]) -> ShownStatements:
        """Return statements in some of their forms.

        Args:
            statements: numbers of statements, shape (n,).
            forms: for each the number of a form, or ``ABSENT``.

        Returns:
            The statements of which there is a form.
        """
        there = np.flatnonzero(forms != ABSENT)
        numbers, rows = statements[there].astype(np.int64), self.forms.narrow_of(forms[there])[:, 1:4]
        strings = self.strings.items
        texts: list[str] = []
        objects: dict[int, tuple[str, ...]] = {}
        for place, (a, b, c) in enumerate(rows.tolist()):
            if b != ABSENT:
                texts.append(f"{strings[a]}, {strings[b]}, {strings[c]}")
            else:
                texts.append(strings[a])
                objects[place] = tuple(joined.split(_SEPARATOR)) if (joined := strings[c]) else ()
        return ShownStatements(numbers, texts, objects)

    def ends_of_facts(self, facts: NDArray[np.integer[Any]]) -> tuple[list[str], NDArray[np.int64]]:
        """Return the normalised names of subjects and objects.

        Args:
            facts: numbers of facts, shape (n,).

        Returns:
            Distinct names, and the places among them of the subject and the object of each fact, shape (n, 2).
        """
        ends, places = np.unique(self.keys.narrow_of(facts)[:, (0, 2)], return_inverse=True)
        strings = self.strings.items
        return [strings[end] for end in ends.tolist()], places.reshape(-1, 2)

    def find(self, statement: Statement, user: str = "") -> int | None:
        """Return the number of a statement of a user, or ``None`` when it was never added."""
        find = self.strings.find
        whose = find(user) if user else ABSENT
        if isinstance(statement, Fact):
            parts = tuple(find(name) for name in statement.key)
        else:
            text, objects = statement.key
            parts = (find(text), ABSENT, find(_SEPARATOR.join(objects)))
        key = (*parts, whose)
        return None if None in key else self._number_of_key(key)  # type: ignore[arg-type]

    def of_all_users(self, statement: Statement) -> list[int]:
        """Return the numbers of a statement, those that only end it included, in order of arrival."""
        find = self.strings.find
        if isinstance(statement, Fact):
            names = tuple(map(find, statement.key))
            key: tuple[int | None, ...] = names
        else:
            text, objects = statement.key
            names = tuple(map(find, objects or (text,)))
            key = find(text), ABSENT, find(_SEPARATOR.join(objects))
        known = [name for name in names if name is not None]
        if len(known) < len(names):
            return []
        # a thesis about nothing is incident to no name
        numbers = self.incident_to_numbers(known) if isinstance(statement, Fact) or objects else range(len(self.keys))
        return [number for number in numbers if self.keys[number][:3] == key]

    def written(self, form: int) -> Statement:
        """Return a form as a fact or thesis."""
        statement = self._made.get(form)
        if statement is None:
            _, a, b, c, aspect_number, _, *stated = self.forms[form]
            strings = self.strings.items
            aspect = None if aspect_number == ABSENT else self.aspect(aspect_number)
            times = tuple(map(integer_to_time, stated))
            if b != ABSENT:
                statement = Fact(strings[a], strings[b], strings[c], aspect, *times)
            else:
                objects = tuple(strings[c].split(_SEPARATOR)) if strings[c] else ()
                statement = Thesis(strings[a], objects, aspect, *times)
            if len(self._made) >= _MOST_MADE:
                self._made.clear()
            self._made[form] = statement
        return statement

    def aspect(self, number: int) -> str:
        """Return an aspect as written, whosever it is."""
        return self.strings.items[number].partition(_SEPARATOR)[0]

    def user(self, number: int) -> str:
        """Return the user whose statement it is; empty for none."""
        whose = self.keys[number][3]
        return "" if whose == ABSENT else self.strings.items[whose]

    def user_number(self, user: str) -> int | None:
        """Return the number that stands for a user in :attr:`keys`; ``None`` if no statement can be theirs."""
        return self.strings.find(user) if user else ABSENT

    def vertices(self, number: int) -> tuple[str, ...]:
        """Return the normalised subject and object of a fact, or the objects of a thesis."""
        strings = self.strings.items
        subject, relation, object_, _ = self.keys[number]
        if relation != ABSENT:
            return strings[subject], strings[object_]
        return tuple(strings[object_].split(_SEPARATOR)) if strings[object_] else ()

    def vertex_counts(self, counted: NDArray[np.bool_]) -> dict[str, int]:
        """Return of how many statements each name is a vertex; ``counted``: by number, whether a statement counts."""
        keys = self.keys.packed().narrow
        is_fact = counted & (keys[:, 1] != ABSENT)
        subjects, objects = keys[is_fact, 0], keys[is_fact, 2]
        ends = np.concatenate((subjects, objects[objects != subjects]))
        counts = np.bincount(ends, minlength=len(self.strings)).tolist()
        found = {name: count for name, count in zip(self.strings.items, counts, strict=True) if count}
        for number in np.flatnonzero(counted & (keys[:, 1] == ABSENT)).tolist():
            for name in self.vertices(number):
                found[name] = found.get(name, 0) + 1
        return found

    def has_vertex(self, number: int, name: int | None) -> bool:
        """Return whether a statement that is incident to the name of a number has it not only as its relation."""
        subject, relation, object_, _ = self.keys[number]
        return relation == ABSENT or name in (subject, object_)

    def incident_to(self, *names: str) -> list[int]:
        """Return the statements that are incident to the one of ``names`` with the fewest of them.

        Args:
            *names: at least one name, in any spelling.

        Returns:
            Numbers of statements that have that name as vertex or relation; none when one of the names is unknown.
        """
        numbers = [self.strings.find(normalise_name(name)) for name in names]
        known = [number for number in numbers if number is not None]
        return self.incident_to_numbers(known) if len(known) == len(numbers) else []

    def incident_to_numbers(self, known: Iterable[int]) -> list[int]:
        """Return the statements that are incident to the name with the fewest of them.

        Args:
            known: the numbers of at least one name.

        Returns:
            Their numbers, as :meth:`incident_to` returns them.
        """
        return [row[0] for row in self.incident.get(min(known, key=self.incident.count))]
