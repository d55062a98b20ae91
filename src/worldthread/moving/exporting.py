"""Writes the statements of a memory for other tools: CSV, JSON-LD, GraphML, COGX, networkx and pandas.

Every statement is written once for each interval in which it held, with its sources and why it ended.
"""

from __future__ import annotations

import codecs
import csv
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any, Final
from urllib.parse import quote
from xml.etree import ElementTree

from worldthread.errors import InputError, MissingExtraError, StoreError
from worldthread.files.paths import make_private_folder, replaced_file
from worldthread.memory.filters import Filter
from worldthread.memory.memory import Memory
from worldthread.moving.cogx_export import write_cogx
from worldthread.moving.statements_table import COLUMNS, StatementRow, statement_rows
from worldthread.support.arguments import require_methods, require_path
from worldthread.types import Fact, TimeLike

_VOCABULARY: Final = "urn:worldthread:vocabulary:"
_ENTITY: Final = "urn:worldthread:entity:"
_STATEMENT: Final = "urn:worldthread:statement:"
_EPISODE: Final = "urn:worldthread:episode:"
_RELATION: Final = "urn:worldthread:relation:"
_RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XSD: Final = "http://www.w3.org/2001/XMLSchema#"
_CONTEXT: Final[dict[str, Any]] = {
    "@vocab": _VOCABULARY,
    "Statement": _RDF + "Statement",
    "subject": {"@id": _RDF + "subject", "@type": "@id"},
    "predicate": {"@id": _RDF + "predicate", "@type": "@id"},
    "object": {"@id": _RDF + "object", "@type": "@id"},
    "label": "http://www.w3.org/2000/01/rdf-schema#label",
    "about": {"@type": "@id"},
    "validFrom": {"@type": _XSD + "double"},
    "validTo": {"@type": _XSD + "double"},
    "statedIn": {"@type": "@id"},
    "endedBy": {"@type": "@id"},
}
_GRAPHML: Final = "http://graphml.graphdrawing.org/xmlns"
_NOT_IN_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT: Final = "\ufffd"
_THESIS_FIELDS: Final = (
    "id", "text", "valid_from", "valid_to", "since", "until", "sources", "episodes", "reason", "user",
)  # fmt: skip
_FACT_FIELDS: Final = (
    "id", "relation", "valid_from", "valid_to", "since", "until", "sources", "episodes", "reason", "user",
)  # fmt: skip
_NUMBERS: Final = ("valid_from", "valid_to")


def export_statements(
    memory: Memory,
    target: str | os.PathLike[str] | IO[bytes],
    format: str,
    *,
    where: Filter | None = None,
    as_of: TimeLike | None = None,
    only_current: bool = True,
) -> int:
    """Write the statements of a memory.

    Args:
        memory: the memory.
        target: a file, which is written completely or not at all, or a stream of bytes.
        format: one of :data:`EXPORT_FORMATS`.
        where: only statements that meet this filter.
        as_of: a world time; ``None`` for now.
        only_current: leave out what does not hold at that time.

    Returns:
        How many rows were written: statements, each once for each of its intervals.

    Raises:
        InputError: an argument cannot be used, or ``target`` is the file of this memory.
        StoreError: the file cannot be written.
    """
    if format not in EXPORT_FORMATS:
        raise InputError(f"{format!r} is not a format of exports; formats are: {', '.join(EXPORT_FORMATS)}")
    rows = statement_rows(memory, where=where, as_of=as_of, only_current=only_current)
    write = EXPORT_FORMATS[format]
    if not isinstance(target, str | os.PathLike):
        require_methods(target, ("write",), "the target of an export", "the name of a file or a stream")
        return write(rows, target)
    path = require_path(target, "the target of an export")
    own = str(memory.path) if memory.path else None
    if own and str(path.resolve()) in (own, *(own + ending for ending in ("-wal", "-shm", "-lock"))):
        raise InputError(f"{path} belongs to the memory itself: export to another file")
    try:
        make_private_folder(path.parent)
        with replaced_file(path) as stream:
            return write(rows, stream)
    except OSError as error:
        raise StoreError(f"the file cannot be written: {error.strerror or error}", path=path) from error


def to_networkx(
    memory: Memory, *, where: Filter | None = None, as_of: TimeLike | None = None, only_current: bool = True
) -> Any:
    """Return the statements of a memory as a graph.

    Args:
        memory: the memory.
        where: only statements that meet this filter.
        as_of: a world time; ``None`` for now.
        only_current: leave out what does not hold at that time.

    Returns:
        A ``networkx.MultiDiGraph``. Its nodes are entities, by their normalised names, and theses; the attribute
        ``kind`` tells which. Its edges are facts, each with its relation, interval and sources, and ``about`` from a
        thesis to an entity.

    Raises:
        MissingExtraError: networkx is not installed.
        InputError: an argument cannot be used.
    """
    try:
        import networkx
    except ImportError as error:
        raise MissingExtraError("a graph of networkx", extra=None, package="networkx") from error
    graph = networkx.MultiDiGraph()
    for kind, key, ends, attributes in _graph_parts(
        statement_rows(memory, where=where, as_of=as_of, only_current=only_current)
    ):
        if kind == "node":
            graph.add_node(key, **attributes)
        else:
            graph.add_edge(*ends, key=key, **attributes)
    return graph


def to_pandas(
    memory: Memory, *, where: Filter | None = None, as_of: TimeLike | None = None, only_current: bool = True
) -> Any:
    """Return the statements of a memory as a table.

    Args:
        memory: the memory.
        where: only statements that meet this filter.
        as_of: a world time; ``None`` for now.
        only_current: leave out what does not hold at that time.

    Returns:
        A ``pandas.DataFrame`` with a row for each interval of a statement, and the columns of the CSV export.

    Raises:
        MissingExtraError: pandas is not installed.
        InputError: an argument cannot be used.
    """
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("a table of pandas", extra=None, package="pandas") from error
    rows = statement_rows(memory, where=where, as_of=as_of, only_current=only_current)
    return pandas.DataFrame([row.values() for row in rows], columns=list(COLUMNS))


def _write_csv(rows: Iterable[StatementRow], stream: IO[bytes]) -> int:
    """Write a table with a line for each row; lists are JSON, numbers are exact."""
    text = codecs.getwriter("utf-8")(stream)
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    count = 0
    for row in rows:
        writer.writerow([_cell(value) for value in row.values().values()])
        count += 1
    return count


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else repr(value) if isinstance(value, float) else value


def _write_jsonld(rows: Iterable[StatementRow], stream: IO[bytes]) -> int:
    """Write a document of JSON-LD: each fact as a node of the type ``rdf:Statement``, with what is said about it."""
    text = codecs.getwriter("utf-8")(stream)
    text.write('{"@context": ' + json.dumps(_CONTEXT) + ',\n"@graph": [')
    named: set[str] = set()
    count, separator = 0, "\n"
    for row in rows:
        for node in _jsonld_nodes(row):
            if not node["@id"].startswith(_STATEMENT):
                if node["@id"] in named:
                    continue
                named.add(node["@id"])
            text.write(separator + json.dumps(node, ensure_ascii=False))
            separator = ",\n"
        count += 1
    text.write("\n]}\n")
    return count


def _jsonld_nodes(row: StatementRow) -> Iterator[dict[str, Any]]:
    """Yield the names that a statement uses, then the statement."""
    statement, version, times = row.version.statement, row.version, row.times()
    said: dict[str, Any] = {"@id": _STATEMENT + quote(row.key, safe="")}
    for name in row.subjects:
        yield {"@id": _ENTITY + quote(name, safe=""), "label": name}
    if isinstance(statement, Fact):
        subject, relation, object_ = (quote(part, safe="") for part in statement.key)
        yield {"@id": _RELATION + relation, "label": statement.key[1]}
        said |= {"@type": "Statement", "subject": _ENTITY + subject, "predicate": _RELATION + relation}
        said |= {"object": _ENTITY + object_}
    else:
        said |= {"@type": "Thesis", "about": [_ENTITY + quote(name, safe="") for name in row.subjects]}
    said |= {"text": str(statement), "validFrom": times["valid_from"], "since": times["since"]}
    if times["valid_to"] is not None:
        said |= {"validTo": times["valid_to"], "until": times["until"]}
    said |= {"source": list(row.sources), "statedIn": [_EPISODE + id_ for id_ in version.sources]}
    if version.ended_by is not None:
        said |= {"endedBy": _EPISODE + version.ended_by, "reason": version.reason or ""}
    yield said


_GraphPart = tuple[str, str, tuple[str, ...], dict[str, Any]]


def _graph_parts(rows: Iterable[StatementRow]) -> Iterator[_GraphPart]:
    """Yield the nodes and edges of a graph: what it is, its key, the nodes that it joins, and its attributes."""
    named: set[str] = set()
    for row in rows:
        for name in row.subjects:
            if name not in named:
                named.add(name)
                yield "node", _entity(name), (), {"kind": "entity", "label": name}
        statement = row.version.statement
        if isinstance(statement, Fact):
            ends = (_entity(statement.key[0]), _entity(statement.key[2]))
            yield "edge", row.key, ends, {"kind": "fact", **_attributes(row, _FACT_FIELDS)}
            continue
        yield "node", row.key, (), {"kind": "thesis", **_attributes(row, _THESIS_FIELDS)}
        for name in row.subjects:
            yield "edge", f"{row.key}: {name}", (row.key, _entity(name)), {"kind": "about"}


def _entity(name: str) -> str:
    """Return the key of the node of an entity, which no thesis has."""
    return f"entity: {name}"


def _attributes(row: StatementRow, names: Iterable[str]) -> dict[str, Any]:
    """Return the values of a row that are known; lists as JSON, because attributes in files of graphs are plain."""
    values = row.values()
    return {
        name: json.dumps(values[name], ensure_ascii=False) if isinstance(values[name], list) else values[name]
        for name in names
        if values[name] is not None
    }


def _write_graphml(rows: Iterable[StatementRow], stream: IO[bytes]) -> int:
    """Write a graph of GraphML: entities and theses are nodes, facts are edges."""
    ElementTree.register_namespace("", _GRAPHML)
    root = ElementTree.Element(_tag("graphml"))
    for name in dict.fromkeys(("kind", "label", *_FACT_FIELDS, *_THESIS_FIELDS)):
        kind = "double" if name in _NUMBERS else "string"
        ElementTree.SubElement(root, _tag("key"), {"id": name, "for": "all", "attr.name": name, "attr.type": kind})
    graph = ElementTree.SubElement(root, _tag("graph"), {"id": "memory", "edgedefault": "directed"})
    count = 0
    for part, key, ends, attributes in _graph_parts(rows):
        where = {"source": _in_xml(ends[0]), "target": _in_xml(ends[1])} if part == "edge" else {}
        element = ElementTree.SubElement(graph, _tag(part), {"id": _in_xml(key), **where})
        _add_data(element, attributes)
        count += attributes["kind"] in ("fact", "thesis")
    ElementTree.ElementTree(root).write(stream, encoding="utf-8", xml_declaration=True)
    return count


def _add_data(element: ElementTree.Element, attributes: Mapping[str, Any]) -> None:
    for name, value in attributes.items():
        data = ElementTree.SubElement(element, _tag("data"), {"key": name})
        data.text = repr(value) if isinstance(value, float) else _in_xml(value)


def _tag(name: str) -> str:
    return f"{{{_GRAPHML}}}{name}"


def _in_xml(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return _NOT_IN_XML.sub(_REPLACEMENT, text)


EXPORT_FORMATS: Final[dict[str, Callable[[Iterable[StatementRow], IO[bytes]], int]]] = {
    "csv": _write_csv,
    "graphml": _write_graphml,
    "jsonld": _write_jsonld,
    "cogx": write_cogx,
}
"""What writes each format: a function that takes the rows and a stream, and returns the number of rows."""
