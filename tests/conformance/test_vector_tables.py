"""What every store of vectors promises: in RAM here, and pgvector, Qdrant and Milvus Lite under `make test-servers`.

``$WORLDTHREAD_TEST_QDRANT`` and ``$WORLDTHREAD_TEST_MILVUS`` name servers to use in place of a folder, such as
``qdrant+http://localhost:6333``.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from worldthread.errors import ClosedError, InputError, MissingExtraError, StoreError, StoreUnavailableError
from worldthread.installation import install_command
from worldthread.vectors import VECTOR_STORES, VectorItem, VectorStore, open_vector_store

DIMENSIONS = 16
IN_RAM = ("exact", "quantised")
KEPT = [pytest.param(kind, marks=pytest.mark.servers) for kind in ("pgvector", "qdrant", "milvus")]


@pytest.fixture(params=[*IN_RAM, *KEPT])
def store(request: pytest.FixtureRequest, vector_address: Callable[[str], str]) -> Iterator[VectorStore]:
    """An empty table that no other test has."""
    opened = open_vector_store(vector_address(request.param), table_name(request), DIMENSIONS)
    yield opened
    if opened._is_open:
        opened.drop()


@pytest.fixture(params=KEPT)
def kept_address(request: pytest.FixtureRequest, vector_address: Callable[[str], str]) -> str:
    """The address of a store that has files."""
    return vector_address(request.param)


def table_name(request: pytest.FixtureRequest) -> str:
    return f"t{abs(hash(request.node.nodeid)):x}"


def rows(count: int, seed: int = 0) -> NDArray[np.float32]:
    made = np.random.default_rng(seed).normal(size=(count, DIMENSIONS))
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def ids(store: VectorStore, query: NDArray[np.float32], k: int = 10, **limits: Any) -> list[str]:
    return [hit.id for hit in store.search(query, k, **limits)]


def test_the_most_similar_come_first(store: VectorStore) -> None:
    assert (len(store), store.search(rows(1)[0])) == (0, [])
    items = rows(300)
    store.add(VectorItem(f"item {number}", row * 7) for number, row in enumerate(items))
    assert len(store) == 300
    for query in rows(5, seed=1):
        cosines = items @ query
        hits = store.search(query, 5)
        wanted = [f"item {number}" for number in np.argsort(-cosines)[:5]]
        by_id = {f"item {number}": cosine for number, cosine in enumerate(cosines.tolist())}
        off = 0.01 if store.address == "quantised:" else 1e-5
        assert [hit.score for hit in hits] == pytest.approx([by_id[hit.id] for hit in hits], abs=off)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert [hit.id for hit in hits] == wanted or store.address == "quantised:"
        assert len({hit.id for hit in hits} & set(wanted)) >= 4
    assert len(store.search(rows(1)[0], 1000)) == 300


def test_equal_scores_are_in_the_order_of_ids(store: VectorStore) -> None:
    row = np.eye(DIMENSIONS)[3]  # nobody rounds its cosines
    store.add([VectorItem(id_, row) for id_ in ("c", "a", "b")])
    assert ids(store, row) == ["a", "b", "c"]


def test_an_item_with_the_same_id_takes_the_place_of_the_old_one(store: VectorStore) -> None:
    first, second = rows(2)
    store.add([VectorItem("a", first, {"user": "anna"}, 0, 1)])
    store.add([VectorItem("a", first, {"user": "no"}), VectorItem("a", second, {"user": "bert"}, 5)])
    assert len(store) == 1
    assert store.search(second)[0].score == pytest.approx(1, abs=0.01)
    assert ids(store, second, labels={"user": "anna"}) == ids(store, second, labels={"user": "no"}) == []
    assert ids(store, second, labels={"user": "bert"}, as_of=10) == ["a"]
    assert ids(store, second, as_of=0) == []


def test_filters_are_exact_however_few_they_let_through(store: VectorStore) -> None:
    items = rows(400)
    store.add(
        VectorItem(str(n), row, {"user": f"user {n % 40}", "kind": "fact" if n % 3 else "text"})
        for n, row in enumerate(items)
    )
    for query in rows(3, seed=2):
        assert set(ids(store, query, 50, labels={"user": "user 7"})) == {str(n) for n in range(7, 400, 40)}
        both = {str(n) for n in range(400) if n % 40 in (7, 8) and n % 3 == 0}
        assert set(ids(store, query, 50, labels={"user": ["user 7", "user 8"], "kind": "text"})) == both
        assert len(ids(store, query, 5, labels={"kind": "fact"})) == 5
        for nothing in ({"user": "user 41"}, {"user": []}, {"USER": "user 7"}, {"user": "fact"}, {"kind": "user 7"}):
            assert ids(store, query, 5, labels=nothing) == []


def test_as_of_restricts_to_what_holds_then(store: VectorStore) -> None:
    row = rows(1)[0]
    times = {"always": (-math.inf, math.inf), "early": (-math.inf, 10), "late": (10, math.inf), "short": (9.5, 10.5),
             "large": (1.7e9, 1.7e9 + 0.125), "never": (10, 10)}  # fmt: skip
    store.add([VectorItem(id_, row, {"user": "anna"}, *interval) for id_, interval in times.items()])
    for time in (-1e300, 9.4, 9.5, 9.999999, 10, 10.4999999, 10.5, 1.7e9, 1.7e9 + 0.124, 1.7e9 + 0.125, 1e300):
        wanted = {id_ for id_, (begin, end) in times.items() if begin <= time < end}
        assert set(ids(store, row, as_of=time)) == wanted, time
    assert set(ids(store, row)) == set(times)
    assert set(ids(store, row, labels={"user": "anna"}, as_of=10)) == {"always", "late", "short"}
    assert ids(store, row, labels={"user": "bert"}, as_of=10) == []


def test_what_is_deleted_is_not_found(store: VectorStore) -> None:
    items = rows(60)
    store.add(VectorItem(str(n), row, {"user": "anna"}) for n, row in enumerate(items))
    store.delete([str(n) for n in range(0, 60, 2)])
    store.delete(["0", "no such item"])
    store.delete([])
    odd = {str(n) for n in range(1, 60, 2)}
    assert len(store) == 30
    assert set(ids(store, items[0], 60)) == set(ids(store, items[0], 60, labels={"user": "anna"}, as_of=0)) == odd
    store.purge()
    assert len(store) == 30
    assert set(ids(store, items[0], 60)) == set(ids(store, items[0], 60, labels={"user": "anna"}, as_of=0)) == odd
    store.add([VectorItem("0", items[0])])
    assert ids(store, items[0], 1) == ["0"]
    assert ids(store, items[0], 60, labels={"user": "anna"}).count("0") == 0
    store.delete([str(n) for n in range(60)])
    assert (len(store), ids(store, items[0])) == (0, [])
    store.purge()
    assert len(store) == 0


def test_what_a_store_holds_can_be_listed_and_read(store: VectorStore) -> None:
    assert (list(store.ids()), store.get(["a"]), store.get([])) == ([], {}, {})
    items = rows(70)
    store.add(VectorItem(f"item {number}", row * 3, {"user": "anna"}, 1, 2) for number, row in enumerate(items))
    store.delete(["item 3"])
    left = [number for number in range(70) if number != 3]
    listed = list(store.ids())
    assert (len(listed), set(listed)) == (69, {f"item {number}" for number in left})
    found = store.get([f"item {number}" for number in (*range(70), 0, 99)])
    assert set(found) == set(listed)
    off = 0.01 if store.address == "quantised:" else 1e-6
    for number in left:
        assert found[f"item {number}"].dtype == np.float32
        np.testing.assert_allclose(found[f"item {number}"], items[number], atol=off)
    with pytest.raises(InputError, match="not one string"):
        store.get("item 1")


def test_no_text_is_taken_for_a_part_of_a_query(store: VectorStore) -> None:
    row = rows(1)[0]
    texts = [
        "'",
        '"',
        "\\",
        "'; DROP TABLE t; --",
        '" or 1 == 1 or id == "',
        "%s",
        "{table}",
        "a.b[0]",
        "ä\n\t€🎲",
        "]",
        " ",
    ]
    store.add([VectorItem(text, row, {text: text}) for text in texts])
    for text in texts:
        assert ids(store, row, 50, labels={text: text}) == [text]
        assert ids(store, row, 50, labels={text: "other"}) == []
    for left, text in enumerate(texts):
        assert len(store) == len(texts) - left
        store.delete([text])
    assert len(store) == 0


def test_arguments_that_cannot_be_used_change_nothing(store: VectorStore) -> None:
    row = rows(1)[0]
    store.add([VectorItem("a", row)])
    for wrong in (np.zeros(DIMENSIONS), np.ones(DIMENSIONS + 1), np.full(DIMENSIONS, np.nan), row[None]):
        with pytest.raises(InputError, match="16 finite numbers"):
            store.add([VectorItem("b", row), VectorItem("c", wrong)])
        with pytest.raises(InputError, match="the question must be 16 finite numbers"):
            store.search(wrong)
    for make in (
        lambda: VectorItem("", row), lambda: VectorItem("a\0", row), lambda: VectorItem("ä" * 501, row),
        lambda: VectorItem("\ud800", row), lambda: VectorItem("a", row, {"x": "\0"}),
        lambda: VectorItem("a", row, {}, math.nan),
        lambda: VectorItem("a", row, {str(n): "" for n in range(65)}), lambda: store.search(row, 0),
        lambda: store.search(row, 10_001), lambda: store.search(row, as_of=math.inf), lambda: store.delete("abc"),
    ):  # fmt: skip
        with pytest.raises(InputError):
            make()
    assert ids(store, row) == ["a"]


def test_the_largest_arguments_are_taken(store: VectorStore) -> None:
    row, id_ = rows(1)[0], "ä" * 500
    store.add([VectorItem(id_, row, {f"{n:03}{'x' * 997}": "y" * 1000 for n in range(64)})])
    assert ids(store, row, 10_000, labels={f"063{'x' * 997}": ["z", "y" * 1000]}) == [id_]


def test_threads_share_a_store(store: VectorStore) -> None:
    items, errors = rows(80), []

    def work(part: int) -> None:
        try:
            for number in range(part, 80, 4):
                store.add([VectorItem(str(number), items[number])])
                assert ids(store, items[number], 1) == [str(number)]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(store) == 80


def test_a_closed_store_says_so(store: VectorStore) -> None:
    store.add([VectorItem("a", rows(1)[0])])
    store.drop()
    store.close()
    for use in (
        lambda: len(store),
        lambda: store.search(rows(1)[0]),
        lambda: store.delete(["a"]),
        lambda: store.get(["a"]),
        lambda: list(store.ids()),
        store.purge,
        store.drop,
    ):
        with pytest.raises(ClosedError):
            use()


# -- stores with files -------------------------------------------------------------------------------------------------


def test_what_was_added_is_there_for_the_next_one(kept_address: str, request: pytest.FixtureRequest) -> None:
    name, (row, other) = table_name(request), rows(2)
    with open_vector_store(kept_address, name, DIMENSIONS) as store:
        store.add([VectorItem("a", row, {"user": "anna"}, 3, 5), VectorItem("b", other)])
        store.delete(["b"])
    with open_vector_store(kept_address, name, DIMENSIONS) as store:
        assert ids(store, row) == ids(store, row, labels={"user": "anna"}, as_of=3) == ["a"]
    with pytest.raises(StoreError, match=r"another|16 numbers"):
        open_vector_store(kept_address, name, DIMENSIONS + 1)
    with open_vector_store(kept_address, name + "_2", DIMENSIONS) as empty:
        assert len(empty) == 0
        empty.drop()
    with open_vector_store(kept_address, name, DIMENSIONS) as store:
        assert len(store) == 1, "another table was dropped"
        store.drop()
    with open_vector_store(kept_address, name, DIMENSIONS) as store:
        assert len(store) == 0
        store.drop()


PROGRAM = """
import os, sys, numpy as np
from worldthread.vectors import VectorItem, open_vector_store
store = open_vector_store(sys.argv[1], "killed", 16)
store.add([VectorItem(str(number), row) for number, row in enumerate(np.eye(16))])
store.delete(["3"])
os._exit(0)  # without closing anything
"""


def test_what_was_acknowledged_survives_the_process(
    request: pytest.FixtureRequest, kept_address: str, tmp_path: Path
) -> None:
    address = f"milvus:{tmp_path / 'own.db'}" if kept_address.startswith("milvus:") else kept_address
    subprocess.run([sys.executable, "-c", PROGRAM, address], check=True)
    with open_vector_store(address, "killed", 16) as store:
        assert len(store) == 15
        assert {hit.id for hit in store.search(np.eye(16)[3], 16)} == {str(number) for number in range(16)} - {"3"}
        store.drop()


def test_no_file_holds_what_was_deleted_and_purged(
    kept_address: str, request: pytest.FixtureRequest, postgresql_server: Any, tmp_path: Path
) -> None:
    """Looks into the store with its own tools, and into its files."""
    name, items = table_name(request), rows(30)
    with open_vector_store(kept_address, name, DIMENSIONS) as store:
        store.add(VectorItem(f"item-{number:03}-of-anna", row) for number, row in enumerate(items))
        gone, kept = "item-007-of-anna", "item-008-of-anna"
        if kept_address.startswith("postgresql"):
            postgresql_server.sql("CHECKPOINT")
            database = kept_address.partition("@/")[2].partition("?")[0]

            def listed() -> set[str]:
                statement = f"SELECT id FROM worldthread_vectors.{name}"
                return set(postgresql_server.sql(statement, database).split())

            def content() -> bytes:
                return b"".join(
                    path.read_bytes() for path in (postgresql_server.data / "base").rglob("*") if path.is_file()
                )
        else:
            if "+http" in kept_address:
                pytest.skip("the files of this server are out of reach")
            folder = Path(kept_address.partition(":")[2])

            def listed() -> set[str]:
                return names_in(store)

            def content() -> bytes:
                return b"".join(plain_bytes(path) for path in folder.rglob("*") if path.is_file())

        assert {gone, kept} <= listed()
        assert gone.encode() in content()
        assert items[7].tobytes() in content() or kept_address.startswith("qdrant"), "which writes them as text"
        store.delete([gone])
        assert gone not in listed()
        assert kept in listed()
        store.purge()
        assert gone not in listed()
        assert gone.encode() not in content()
        assert items[7].tobytes() not in content()
        assert kept.encode() in content(), "it could have been found"
        assert items[8].tobytes() in content() or kept_address.startswith("qdrant")
        store.drop()


def names_in(store: Any) -> set[str]:
    """The ids in the collection of a store, by the requests of its client."""
    if store.address.startswith("qdrant"):
        return {point.payload["id"] for point in store._client.scroll(store.name, limit=100)[0]}
    return {row["id"] for row in store._client.query(store.name, filter="", limit=100, output_fields=["id"])}


def plain_bytes(path: Path) -> bytes:
    """The bytes of a file; those of its values where it is compressed."""
    if path.suffix != ".parquet":
        return path.read_bytes()
    from pyarrow import parquet

    table = parquet.read_table(path)
    texts = "\n".join(str(value) for column in table.columns for value in column.to_pylist() if isinstance(value, str))
    numbers = [value for column in table.columns for value in column.to_pylist() if isinstance(value, list)]
    return texts.encode() + b"".join(
        np.asarray(value, np.float32).tobytes() for value in numbers if value and isinstance(value[0], float)
    )


@pytest.mark.servers
def test_a_lost_postgresql_server_is_found_again(request: pytest.FixtureRequest) -> None:
    pytest.importorskip("psycopg")
    from sys import modules

    with modules["postgres_server"].temporary_server(fsync="off") as server:
        row = rows(1)[0]
        with open_vector_store(server.new_address(), "notes", DIMENSIONS) as store:
            store.add([VectorItem("a", row)])
            server.stop()
            for _ in range(2):
                with pytest.raises(StoreUnavailableError):
                    store.search(row)
            server.start()
            assert ids(store, row) == ["a"]


@pytest.mark.servers
def test_a_server_of_milvus_can_be_away() -> None:
    pytest.importorskip("pymilvus")
    with pytest.raises(StoreUnavailableError, match="cannot be reached"):
        open_vector_store("milvus+http://127.0.0.1:9", "notes", 4)


@pytest.mark.servers
def test_a_folder_of_qdrant_is_used_by_one_process_and_a_server_can_be_away(tmp_path: Path) -> None:
    pytest.importorskip("qdrant_client")
    other = (
        "import sys; from worldthread.errors import StoreError; from worldthread.vectors import open_vector_store\n"
        "try: open_vector_store(sys.argv[1], 'notes', 4)\n"
        "except StoreError as error: print(error)"
    )
    address = f"qdrant:{tmp_path}"
    with open_vector_store(address, "notes", 4), open_vector_store(address, "letters", 4):
        done = subprocess.run([sys.executable, "-c", other, address], capture_output=True, text=True, timeout=600)
        assert "another process" in done.stdout
    with pytest.raises(StoreUnavailableError, match="cannot be reached"):
        open_vector_store("qdrant+http://127.0.0.1:9", "notes", 4)


# -- addresses ---------------------------------------------------------------------------------------------------------


def test_addresses_and_names_that_cannot_be_used() -> None:
    with pytest.raises(InputError, match=r"no store of vectors for the scheme 'pinecone'; schemes are: exact, milvus"):
        open_vector_store("pinecone:x", "notes", 4)
    for address in ("exact", "", "exact:x"):
        with pytest.raises(InputError):
            open_vector_store(address, "notes", 4)
    for name in ("", "a b", "1a", "a" * 41, "a;", "ä", "a\n"):
        with pytest.raises(InputError, match="has a name of a letter"):
            open_vector_store("exact:", name, 4)
    for dimensions in (0, -1, 1.5, True):
        with pytest.raises(InputError):
            open_vector_store("exact:", "notes", dimensions)  # type: ignore[arg-type]


@pytest.mark.parametrize(("scheme", "package"), [("qdrant", "qdrant_client"), ("milvus", "pymilvus")])
def test_secrets_do_not_belong_into_an_address(scheme: str, package: str) -> None:
    pytest.importorskip(package)
    for address in (f"{scheme}+http://me:hidden@host:1", f"{scheme}+http://host?key=hidden", f"{scheme}:"):
        with pytest.raises(InputError, match=f"the address of a store in {scheme.title()}") as caught:
            open_vector_store(address, "notes", 4)
        assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(("scheme", "package"), [("qdrant", "qdrant_client"), ("milvus", "pymilvus")])
def test_a_missing_package_is_named(scheme: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=re.escape(install_command(scheme)) + "$"):
        open_vector_store(f"{scheme}:x.db", "notes", 4)


def test_every_scheme_has_its_class() -> None:
    from importlib import import_module

    for place in VECTOR_STORES.values():
        module, _, kind = place.partition(":")
        assert issubclass(getattr(import_module(module), kind), VectorStore)
