"""Imports the dumps of a folder and exports what came of them; prints both tables of counts.

    python benchmarks/dumps/counts.py FOLDER

FOLDER   what the other programs here wrote. Needs networkx, pandas and rdflib.

Import: how many memories the package says it holds, how many records its dump has (counted here, not by the reader),
how many the reader met, how many of these are remembered and left out, how many episodes a memory of this dump alone
has, and how many more after a second import. Export: one memory of all dumps; the statements that it lists, that the
export says it wrote, and that another library finds in each format.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx
import rdflib

from worldthread import Memory
from worldthread.moving import EXPORT_FORMATS, export_statements, import_dump, to_networkx, to_pandas

CHOICES: tuple[dict[str, Any], ...] = ({"only_current": False}, {"only_current": True}, {"as_of": "2024-02-10"})


def records(path: Path) -> int:
    """Return how many memories, messages and facts a dump has."""
    if path.is_dir():
        lines = [line for file in path.glob("*.jsonl") for line in file.read_text("utf-8").splitlines()]
        return sum(1 for line in lines if line.strip())
    if path.suffix == ".txt":  # a line of the chats that whatstk makes is a message
        return len(path.read_text("utf-8").splitlines())
    dump = json.loads(path.read_text("utf-8"))
    if isinstance(dump, list):
        return len(dump)
    if "agents" in dump:
        return sum(len(agent["messages"]) for agent in dump["agents"]) + len(dump["blocks"])
    return sum(len(dump.get(name, ())) for name in ("results", "relations", "messages", "episodes", "edges"))


def dumps(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for told in sorted(folder.glob("*.made.json")):
        name = told.name.removesuffix(".made.json")
        [path] = [
            one for one in (folder / name, *(folder / f"{name}{end}" for end in (".json", ".txt"))) if one.exists()
        ]
        yield path, json.loads(told.read_text("utf-8"))


def opened() -> Memory:
    return Memory(model="none", embedder="fake")


def imports(folder: Path, together: Memory) -> bool:
    print("| format | made by | held | records | met | remembered | left out | episodes | again | equal |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    equal = True
    for path, made in dumps(folder):
        form = path.stem.partition("-")[0]
        options: dict[str, Any] = {"date_order": "day-first"} if form == "whatsapp" and _is_ambiguous(path) else {}
        with opened() as memory:
            done = import_dump(memory, path, **options)
            again = import_dump(memory, path, **options)
            episodes = memory.stats()["episodes"]
        import_dump(together, path, **options)
        left = sum(done.left_out.values())
        same = (
            done.format == form and records(path) == done.messages == done.remembered + left
            and done.remembered == done.added == episodes and again.added == 0
        )  # fmt: skip
        equal &= same
        reasons = "; ".join(f"{count} {reason}" for reason, count in done.left_out.items())
        print(
            f"| {form} | {made['by']} | {made['held']} | {records(path)} | {done.messages} | {done.remembered} | "
            f"{left}{f' ({reasons})' if reasons else ''} | {episodes} | {again.added} | {'yes' if same else 'NO'} |"
        )
    return equal


def _is_ambiguous(path: Path) -> bool:
    from worldthread.errors import InputError
    from worldthread.moving import read_dump

    try:
        read_dump(path)
    except InputError:
        return True
    return False


def of_csv(data: bytes) -> int:
    return len(list(csv.DictReader(io.StringIO(data.decode(), newline=""))))


def of_graphml(data: bytes) -> int:
    return of_networkx(networkx.parse_graphml(data.decode(), force_multigraph=True))


def of_networkx(graph: Any) -> int:
    kinds = [data["kind"] for _, data in graph.nodes(data=True)] + [data["kind"] for *_, data in graph.edges(data=True)]
    return sum(kind in ("fact", "thesis") for kind in kinds)


def of_jsonld(data: bytes) -> int:
    graph = rdflib.Graph().parse(data=data.decode(), format="json-ld")
    theses = {one for one, _, kind in graph.triples((None, rdflib.RDF.type, None)) if str(kind).endswith(":Thesis")}
    return len(set(graph.subjects(rdflib.RDF.type, rdflib.RDF.Statement)) | theses)


def of_cogx(data: bytes) -> int:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    return sum(len(files.get(name, b"").splitlines()) for name in ("facts.jsonl", "memories.jsonl"))


READ: dict[str, tuple[str, Callable[[bytes], int]]] = {
    "csv": ("Python's csv", of_csv),
    "graphml": (f"networkx {networkx.__version__}", of_graphml),
    "jsonld": (f"rdflib {rdflib.__version__}", of_jsonld),
    "cogx": ("lines of the archive", of_cogx),
}


def exports(memory: Memory) -> bool:
    print("| format | read by | all statements, listed / written / read | now | as of 2024-02-10 | equal |")
    print("|---|---|---|---|---|---|")
    listed = [len(_listed(memory, choice)) for choice in CHOICES]
    equal = True

    def show(name: str, reader: str, found: list[tuple[int, int]]) -> None:
        nonlocal equal
        same = all(one == (count, count) for one, count in zip(found, listed, strict=True))
        equal &= same
        cells = " | ".join(
            f"{count:,} / {written:,} / {read:,}" for count, (written, read) in zip(listed, found, strict=True)
        )
        print(f"| {name} | {reader} | {cells} | {'yes' if same else 'NO'} |")

    for name in EXPORT_FORMATS:
        reader, count = READ[name]
        found = []
        for choice in CHOICES:
            stream = io.BytesIO()
            written = export_statements(memory, stream, name, **choice)
            found.append((written, count(stream.getvalue())))
        show(name, reader, found)
    back = []
    for choice in CHOICES:
        with tempfile.TemporaryDirectory() as own, opened() as other:
            written = export_statements(memory, Path(own) / "statements.cogx.tar.gz", "cogx", **choice)
            import_dump(other, Path(own) / "statements.cogx.tar.gz")
            back.append((written, len(_listed(other, {"only_current": False}))))
    show("cogx", "`--from cogx`, into another memory", back)
    graphs = [of_networkx(to_networkx(memory, **choice)) for choice in CHOICES]
    show("networkx", f"networkx {networkx.__version__}", [(one, one) for one in graphs])
    import pandas

    tables = [len(to_pandas(memory, **choice)) for choice in CHOICES]
    show("pandas", f"pandas {pandas.__version__}", [(one, one) for one in tables])
    return equal


def _listed(memory: Memory, choice: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    cursor = None
    while True:
        page = memory.list_statements(limit=1000, cursor=cursor, **choice)
        found += page.items
        cursor = page.cursor
        if cursor is None:
            return found


def main(folder: str) -> int:
    with opened() as memory:
        equal = imports(Path(folder), memory)
        print()
        equal &= exports(memory)
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
