"""A schema of one's own: the kinds of things and the relations that a model may extract."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from worldthread.errors import InputError
from worldthread.names import normalise_name
from worldthread.support.arguments import require_name

_VALUES: Final = {"string": "text", "integer": "number", "number": "number", "boolean": "yes or no"}
_DATES: Final = {"date": "date", "date-time": "date", "time": "time"}
_FORM: Final = (
    'a schema is a TOML file with [kinds] (name = "description") and [[relations]] (name, subject, object, and if you '
    "like single, description, example)"
)


@dataclass(frozen=True)
class RelationRule:
    """A relation that may be extracted.

    Args:
        name: the relation, such as ``"works for"``.
        subject: the kind of its subject; empty for any.
        object: the kind of its object; empty for any.
        single: whether a subject has one object at a time, so that a new one ends the older.
        description: what it means, in words.
        example: a sentence that states it.
    """

    name: str
    subject: str = ""
    object: str = ""
    single: bool = False
    description: str = ""
    example: str = ""


@dataclass(frozen=True)
class ReadingSchema:
    """The kinds of things and the relations that a model may extract; everything else is left out.

    Args:
        relations: the relations, at least one.
        kinds: descriptions by the names of kinds. A kind that only a relation names needs no description.

    Raises:
        InputError: there is no relation, two of one name have the same kinds, or a name is empty or unusable.

    Examples:
        >>> schema = ReadingSchema((RelationRule("works for", "person", "company", single=True),))
        >>> schema.kind_names
        ('company', 'person')
    """

    relations: tuple[RelationRule, ...]
    kinds: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "relations", tuple(self.relations))
        object.__setattr__(self, "kinds", dict(self.kinds))
        if not self.relations:
            raise InputError(f"the schema has no relation; {_FORM}")
        known = set()
        for rule in self.relations:
            if not isinstance(rule, RelationRule):
                raise InputError(f"a relation of a schema is a RelationRule, not {type(rule).__name__}")
            require_name(rule.name, "name of a relation")
            key = tuple(map(normalise_name, (rule.name, rule.subject, rule.object)))
            if key in known:
                raise InputError(f"the schema has the relation {rule.name!r} twice for the same kinds")
            known.add(key)
        for name in self.kind_names:
            require_name(name, "name of a kind")

    @classmethod
    def from_file(cls, path: str | Path) -> ReadingSchema:
        """Read a schema from a TOML file.

        Args:
            path: the file.

        Returns:
            The schema.

        Raises:
            InputError: there is no such file, or it is no schema.
        """
        try:
            data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"cannot read the schema {path}: {error}; {_FORM}") from None
        try:
            return cls.from_table(data)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    @classmethod
    def from_table(cls, data: Mapping[str, Any]) -> ReadingSchema:
        """Return the schema in a table of ``kinds`` and ``relations``.

        Args:
            data: as in a file.

        Returns:
            The schema.

        Raises:
            InputError: it is no schema.
        """
        kinds, rows = data.get("kinds", {}), data.get("relations", ())
        if unknown := sorted(data.keys() - {"kinds", "relations"}):
            raise InputError(f"unknown: {', '.join(unknown)}; {_FORM}")
        if not isinstance(kinds, Mapping) or not all(isinstance(text, str) for text in kinds.values()):
            raise InputError(f"[kinds] must hold a description for each name; {_FORM}")
        if not isinstance(rows, list | tuple) or not all(isinstance(row, Mapping) for row in rows):
            raise InputError(f"[[relations]] must be tables; {_FORM}")
        rules = []
        for row in rows:
            words = {key: value for key, value in row.items() if key != "single"}
            if not words.keys() <= {"name", "subject", "object", "description", "example"} or "name" not in words:
                raise InputError(f"a relation has name, subject, object, single, description, example; not {dict(row)}")
            if not all(isinstance(value, str) for value in words.values()) or row.get("single", False) not in (0, 1):
                raise InputError(f"in the relation {row['name']!r} single is true or false, and all else is text")
            rules.append(RelationRule(**words, single=bool(row.get("single", False))))
        return cls(tuple(rules), kinds)

    @classmethod
    def from_classes(cls, *classes: Any) -> ReadingSchema:
        """Return the schema of pydantic models: a class is a kind, and each of its fields a relation.

        The relation has the name of the field, with spaces for underscores. A field of another class leads to things of
        that kind, any other to a text, number, date or truth value. A list can have several values; every other field
        has one at a time. Docstrings, descriptions and examples of fields are shown to the model.

        Args:
            classes: classes with ``model_json_schema()``, such as subclasses of ``pydantic.BaseModel``.

        Returns:
            The schema.

        Raises:
            InputError: something else was given.
        """
        kinds: dict[str, str] = {}
        rules: dict[tuple[str, str], RelationRule] = {}
        for given in classes:
            if not callable(getattr(given, "model_json_schema", None)):
                raise InputError(f"a class of a schema must be a pydantic model, not {given!r}")
            schema = given.model_json_schema()
            definitions = {name: node for name, node in schema.get("$defs", {}).items() if "properties" in node}
            own = {schema.get("title", given.__name__): schema} if "properties" in schema else {}
            for name, node in {**definitions, **own}.items():
                kinds[_words(name)] = str(node.get("description", ""))
                for rule in _rules_of(_words(name), node, definitions.keys()):
                    rules[rule.subject, rule.name] = rule
        return cls(tuple(rules.values()), kinds)

    @property
    def kind_names(self) -> tuple[str, ...]:
        """The names of all kinds, sorted."""
        named = (kind for rule in self.relations for kind in (rule.subject, rule.object) if kind)
        return tuple(sorted({*self.kinds, *named}))

    @property
    def relation_names(self) -> tuple[str, ...]:
        """The names of all relations, sorted."""
        return tuple(sorted({rule.name for rule in self.relations}))

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits, computed from the whole schema."""
        return hashlib.blake2b(self.as_text().encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()

    def as_text(self) -> str:
        """Return the schema in words, as the model sees it."""
        lines = ["Use only these kinds of things and these relations; leave out everything else."]
        for name in self.kind_names:
            text = self.kinds.get(name, "")
            lines.append(f"- {name}: {text}" if text else f"- {name}")
        for rule in self.relations:
            ends = f"{rule.subject or 'any'} > {rule.name} > {rule.object or 'any'}"
            notes = [
                *(["one at a time"] if rule.single else []),
                *([rule.description] if rule.description else []),
                *([f"as in: {rule.example}"] if rule.example else []),
            ]
            lines.append(f"- {ends}" + (f" ({'; '.join(notes)})" if notes else ""))
        lines.append('Name the kind of each subject and object in "kinds": {"name", "kind"}. Leave "aspect" out.')
        return "\n".join(lines)

    def rule_for(self, relation: str, subject_kind: str, object_kind: str) -> RelationRule | None:
        """Return the rule that allows a relation between two kinds; ``None`` when none does.

        Args:
            relation: name of the relation.
            subject_kind: the kind of the subject; empty when it is not known.
            object_kind: the kind of the object; empty when it is not known.

        Returns:
            The first fitting rule.
        """
        asked = normalise_name(relation), normalise_name(subject_kind), normalise_name(object_kind)
        for rule in self.relations:
            wanted = normalise_name(rule.name), normalise_name(rule.subject), normalise_name(rule.object)
            if wanted[0] == asked[0] and wanted[1] in ("", asked[1]) and wanted[2] in ("", asked[2]):
                return rule
        return None


def _words(name: str) -> str:
    return name.replace("_", " ").strip()


def _rules_of(kind: str, node: Mapping[str, Any], classes: Iterable[str]) -> Iterator[RelationRule]:
    known = set(classes)
    for name, value in node.get("properties", {}).items():
        inner = [value, *value.get("anyOf", ())]
        single = not any(part.get("type") == "array" for part in inner)
        inner += [part["items"] for part in inner if isinstance(part.get("items"), Mapping)]
        reached = (str(part["$ref"]).rpartition("/")[2] for part in inner if "$ref" in part)
        target = next((_words(name) for name in reached if name in known), "")
        plain = (_DATES.get(str(part.get("format"))) or _VALUES.get(str(part.get("type"))) for part in inner)
        examples = value.get("examples") or [""]
        yield RelationRule(
            _words(name),
            kind,
            target or next(filter(None, plain), ""),
            single,
            str(value.get("description", "")),
            str(examples[0]),
        )
