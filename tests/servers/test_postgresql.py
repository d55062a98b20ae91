"""What a store on PostgreSQL does beyond the contract: many processes, lost connections, roles, secrets, forgetting."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldthread import Memory
from worldthread.errors import (
    ClosedError,
    DamagedFileError,
    FileVersionError,
    ForeignFileError,
    InputError,
    ReadOnlyError,
    StoreError,
    StoreLockedError,
    StoreUnavailableError,
)
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.graph import fold, state_hash
from worldthread.stores import Store, connected_store, open_store, postgresql, postgresql_connection
from worldthread.stores.postgresql_access import grant, revoke
from worldthread.stores.postgresql_tables import MIGRATIONS
from worldthread.types import Episode, Extraction, Fact

pytestmark = pytest.mark.servers


def noted(number: int, text: str = "") -> Episode:
    fact = Fact(f"thing {number % 7}", "is in", f"room {number}", aspect=f"place of thing {number % 7}")
    return Episode(text or f"note {number}", number, "test", Extraction("test/1", (fact,)))


def assert_is_fold(store: Store, episodes: list[Episode]) -> None:
    assert {e.id for e in store.episodes()} == {e.id for e in episodes}
    assert store.graph.state_hash() == state_hash(fold(episodes).rows())


def rows(server: Any, address: str, sql: str) -> list[str]:
    return str(server.sql(sql, database_of(address))).split()


def database_of(address: str) -> str:
    found = re.search(r"/(empty_\d+)", address)
    assert found is not None
    return found[1]


# -- several at once ------------------------------------------------------------------------------------------------


def test_two_connections_see_each_others_changes_at_once(address: str) -> None:
    with open_store(address) as one, open_store(address) as other, open_store(address, readonly=True) as reader:
        one.append(noted(1))
        other.append_many([noted(2), noted(3)])
        assert_is_fold(reader, [noted(1), noted(2), noted(3)])
        one.forget(noted(2).id)
        better = Episode("note 3", 3, "test", Extraction("test/2", (Fact("thing 3", "is in", "hall"),)))
        other.replace(better)
        for store in (one, other, reader):
            assert_is_fold(store, [noted(1), better])
        other.clear()
        assert_is_fold(reader, [])
        one.append(noted(4))
        assert_is_fold(reader, [noted(4)])
        with pytest.raises(ReadOnlyError):
            reader.append(noted(5))


WRITER = """
import sys
from worldthread.stores import open_store
from worldthread.types import Episode
address, worker, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open_store(address) as store:
    print("open", flush=True)
    for number in range(count):
        store.append(Episode(f"{worker} says {number}", number))
        print(number, flush=True)
"""


def test_writers_in_many_processes_lose_and_double_nothing(server: Any, address: str) -> None:
    # the tables do not exist yet: all of them make them at once
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, address, str(worker), "40"], stdout=subprocess.PIPE, text=True)
        for worker in range(4)
    ]
    assert writers[0].stdout is not None
    for line in writers[0].stdout:
        if line.strip() == "10":
            writers[0].kill()
            break
    acknowledged = 10 + len([line for line in writers[0].stdout if line.strip() != "10"]) + 1
    assert [writer.wait() for writer in writers[1:]] == [0, 0, 0]
    expected = [Episode(f"{worker} says {number}", number) for worker in range(1, 4) for number in range(40)]
    with open_store(address) as store:
        own = [e for e in store.episodes() if e.text.startswith("0 says")]
        assert acknowledged <= len(own) <= acknowledged + 1, "the last may be done and not acknowledged"
        assert_is_fold(store, [*expected, *own])
        total = len(store.graph)
    numbers = rows(server, address, "SELECT number FROM worldthread.change ORDER BY number")
    assert numbers == [str(number) for number in range(1, total + 1)], "without gaps"


def test_a_writer_that_locks_keeps_others_out(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql_connection, "_LEAST_WAIT", 0.05)
    with open_store(address) as one, open_store(address) as other:
        one.append(noted(1))
        with one.write_lock() as graph:
            assert len(graph) == 1
            assert len(other.graph) == 1, "others may read"
            with pytest.raises(StoreLockedError, match="another writer"):
                other.append(noted(2))
            one.append(noted(3))
            with one.write_lock():
                one.append(noted(4))
        other.append(noted(2))
        assert_is_fold(one, [noted(1), noted(2), noted(3), noted(4)])
        with one.read_lock(), pytest.raises(InputError, match="cannot be"), one.write_lock():
            raise AssertionError


def append_in_batch(store: Store, episodes: list[Episode], error: type[BaseException] | None = None) -> None:
    with store.batch():
        for episode in episodes:
            store.append(episode)
        if error is not None:
            raise error("in between")


def test_a_batch_is_one_change_and_all_or_nothing(server: Any, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql_connection, "_LEAST_WAIT", 0.05)
    first, notes = noted(0), [noted(number) for number in range(1, 12)]
    with open_store(address) as one, open_store(address) as other, open_store(address, readonly=True) as reader:
        one.append(first)
        assert reader.wait_for_change(5) or len(reader.graph) == 1
        with one.batch():
            for number, episode in enumerate(notes):
                with one.write_lock() as graph:
                    assert len(graph) == number + 1
                    one.append(episode)
                assert one.append(episode).recorded_at is not None, "known by now"
                assert one.episode(episode.id).text == episode.text
                assert one.graph.state_hash() == state_hash(fold([first, *notes[: number + 1]]).rows())
            with one.batch(), one.read_lock() as graph:
                assert len(list(one.episodes())) == len(graph) == 12
            assert len(reader.graph) == 1, "nobody else sees a part of it"
            with pytest.raises(StoreLockedError, match="another writer"):
                other.append(noted(20))
            with pytest.raises(InputError):
                one.forget(first.id)
        assert reader.wait_for_change(5)
        assert not reader.wait_for_change(0.2), "followers are told once"
        for store in (one, other, reader):
            assert_is_fold(store, [first, *notes])
        assert rows(server, address, "SELECT count(*), max(number) FROM worldthread.change") == ["2|2"]

        for problem in (KeyboardInterrupt, InputError):
            with pytest.raises(problem):
                append_in_batch(one, [noted(30), noted(31)], problem)
            assert_is_fold(one, [first, *notes])
        with one.batch():
            pass
        one.append(noted(40))
        for store in (one, other, reader):
            assert_is_fold(store, [first, *notes, noted(40)])
        assert rows(server, address, "SELECT count(*), max(number) FROM worldthread.change") == ["3|3"]


def test_a_batch_may_begin_a_memory_or_fail_to(address: str) -> None:
    with open_store(address, namespace="new") as store:
        with pytest.raises(InputError):
            append_in_batch(store, [noted(1)], InputError)
        assert len(store.graph) == 0
        append_in_batch(store, [noted(2), noted(1)])
        assert_is_fold(store, [noted(1), noted(2)])


def test_texts_are_recorded_in_batches_as_one_by_one(server: Any, address: str, tmp_path: Path) -> None:
    places = ["Rome", "Paris", "Oslo"]
    texts = [f"Anna lives in {places[number % 3]} since day {number}." for number in range(150)]
    given = [Episode(f"given {number}", number, "test", noted(number).extraction) for number in range(70)]
    digests = []
    for place in (address, tmp_path / "m.worldthread"):
        with Memory(place, model="none", embedder="fake", clock=iter(range(10**6)).__next__) as memory:
            done = memory.remember_many([*texts, *given], at=1000, progress=False)
            assert (done.added, done.known) == (150 + 70, 0)
            again = memory.remember_many([*given[:3], texts[0]], at=1000, progress=False)
            assert (again.added, again.known) == (0, 4)
            digests.append((memory.record.state_hash(), done.episodes))
    assert digests[0] == digests[1]
    assert rows(server, address, "SELECT count(*) FROM worldthread.change") == ["5"], "150 in 3 batches, 70 in 2"


def test_a_model_is_not_asked_in_a_batch(address: str) -> None:
    class Asking(ProseExtractor):
        settles_locally = False

        def outdate(self, *given: Any) -> Extraction:
            with open_store(address) as other:
                other.append(noted(len(other.graph)))
            return super().outdate(*given)

    with Memory(address, model="none", embedder="fake", extractor=Asking()) as memory:
        memory.remember_many(["Anna lives in Rome.", "Bert lives in Oslo."], at=1000, progress=False)
        assert len(memory.record.graph) == 4


def test_a_read_lock_shows_one_moment(address: str) -> None:
    with open_store(address) as one, open_store(address) as other:
        one.append(noted(1))
        with one.read_lock() as graph:
            other.append(noted(2))
            assert len(graph) == len(list(one.episodes())) == 1
            assert len(one.graph) == 1
        assert len(one.graph) == 2


# -- followers ------------------------------------------------------------------------------------------------------


def test_a_follower_is_told_of_changes(address: str) -> None:
    with open_store(address) as writer, open_store(address, readonly=True) as follower:
        assert len(follower.graph) == 0
        assert not follower.wait_for_change(0)
        timer = threading.Timer(0.2, lambda: writer.append(noted(1)))
        timer.start()
        assert follower.wait_for_change(30)
        timer.join()
        assert_is_fold(follower, [noted(1)])
        writer.append(noted(2))
        assert follower.wait_for_change(0), "what happened before is not missed"


def test_a_follower_catches_up_after_a_broken_connection(server: Any, address: str) -> None:
    with open_store(address) as writer, open_store(address, readonly=True) as follower:
        assert len(follower.graph) == 0
        assert not follower.wait_for_change(0)
        ends = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            f" AND datname = '{database_of(address)}'"
        )

        def break_and_write() -> None:
            server.sql(ends)
            writer.append(noted(1))

        timer = threading.Timer(0.2, break_and_write)
        timer.start()
        assert follower.wait_for_change(30)
        timer.join()
        assert_is_fold(follower, [noted(1)])


def test_a_closed_store_waits_for_nothing_and_leaves_no_connection(server: Any, address: str) -> None:
    store = open_store(address)
    assert len(store.graph) == 0
    assert not store.wait_for_change(0)
    store.close()
    with pytest.raises(ClosedError):
        store.wait_for_change(0)
    assert store._listener is None  # type: ignore[attr-defined]


def test_a_file_can_be_waited_for_too(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as writer, Memory(tmp_path / "m", readonly=True) as reader:
        assert len(reader.record.graph) == 0
        assert not reader.record.wait_for_change(0)
        writer.record.add(noted(1))
        assert reader.record.wait_for_change(30)
        assert len(reader.record.graph) == 1


# -- a lost server --------------------------------------------------------------------------------------------------


@contextmanager
def proxy(port: int, breaks: Callable[[bytes], str]) -> Iterator[int]:
    """Stands between a client and a server, and breaks a connection where a message asks for it.

    Args:
        port: of the server.
        breaks: says for what the client sends: "" to pass it on, "before" to break the connection instead, "after" to
            pass it on and break the connection when the server has answered.
    """
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(client: socket.socket) -> None:
        with closing(client), closing(socket.create_connection(("127.0.0.1", port))) as server:
            lost = threading.Event()

            def answer() -> None:
                with suppress(OSError):
                    while content := server.recv(65536):
                        if lost.is_set():  # the server has done it, and nobody is told
                            client.shutdown(socket.SHUT_RDWR)
                            return
                        client.sendall(content)

            threading.Thread(target=answer, daemon=True).start()
            try:
                while content := client.recv(65536):
                    where = breaks(content)
                    if where == "before":
                        return
                    if where == "after":
                        lost.set()
                    server.sendall(content)
            except OSError:
                return
            finally:
                for end in (client, server):  # the other thread still reads from one
                    with suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    with closing(listener):
        yield listener.getsockname()[1]


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_connection_that_breaks_at_the_end_of_a_change(where: str, server: Any, address: str) -> None:
    armed = [False]

    def breaks(content: bytes) -> str:
        if armed[0] and b"COMMIT" in content:
            armed[0] = False
            return where
        return ""

    with open_store(address) as direct:
        direct.append(noted(0))
    with proxy(server.port, breaks) as port:
        own = f"postgresql://owner:{server.password}@127.0.0.1:{port}/{database_of(address)}"
        with open_store(own) as store:
            for operation, kept in (
                (lambda: store.append(noted(1)), [noted(0), noted(1)]),
                (lambda: store.append_many([noted(2), noted(3)]), [noted(number) for number in range(4)]),
                (lambda: store.forget(noted(0).id), [noted(1), noted(2), noted(3)]),
                (lambda: append_in_batch(store, [noted(5), noted(4)]), [noted(number) for number in range(1, 6)]),
            ):
                before = list(store.episodes())
                armed[0] = True
                if where == "after":
                    operation()  # it was done, and that is found out
                else:
                    with pytest.raises(StoreUnavailableError, match="Nothing of this change was kept"):
                        operation()
                    assert list(store.episodes()) == before
                    operation()
                assert not armed[0]
                assert_is_fold(store, kept)
            count = rows(server, address, "SELECT count(*), max(number) FROM worldthread.change")
            assert count == ["5|5"], "each change is recorded once"


def test_a_clearing_whose_answer_is_lost_is_not_said_to_have_failed(server: Any, address: str) -> None:
    armed = [False]

    def breaks(content: bytes) -> str:
        if armed[0] and b"COMMIT" in content:
            armed[0] = False
            return "after"
        return ""

    with proxy(server.port, breaks) as port:
        own = f"postgresql://owner:{server.password}@127.0.0.1:{port}/{database_of(address)}"
        with open_store(own) as store:
            store.append(noted(0))
            armed[0] = True
            with pytest.raises(StoreUnavailableError, match="not known whether"):
                store.clear()
            assert len(store.graph) == 0


def test_a_server_that_is_lost_after_a_batch_does_not_make_it_fail(server: Any, address: str) -> None:
    state = "up"

    def breaks(content: bytes) -> str:
        nonlocal state
        if state == "goes" and b"COMMIT" in content:
            state = "down"
            return ""
        begins = b"SELECT" in content or b"BEGIN" in content or b"user" in content
        return "before" if state == "down" and begins else ""

    with proxy(server.port, breaks) as port:
        own = f"postgresql://owner:{server.password}@127.0.0.1:{port}/{database_of(address)}"
        with open_store(own) as store:
            state = "goes"
            assert store.append_many([noted(0), noted(1)]) == 2
            with pytest.raises(StoreUnavailableError):
                store.append(noted(2))
            state = "up"
            assert_is_fold(store, [noted(0), noted(1)])
            state = "goes"
            store.clear()
            state = "up"
            assert len(store.graph) == 0


def test_a_killed_server_loses_nothing_and_work_goes_on(own_server: Any) -> None:
    address = own_server.new_address()
    with open_store(address) as store, open_store(address, readonly=True) as reader:
        for number in range(20):
            store.append(noted(number))
        assert len(reader.graph) == 20
        own_server.kill()
        for use in (lambda: store.append(noted(20)), lambda: reader.graph, lambda: reader.wait_for_change(0.3)):
            for _ in range(2):
                with pytest.raises(StoreUnavailableError, match="server"):
                    use()
        with pytest.raises(StoreUnavailableError, match="Check that it runs"):
            open_store(address)
        own_server.start()
        assert_is_fold(reader, [noted(number) for number in range(20)])
        store.append(noted(20))
        assert_is_fold(reader, [noted(number) for number in range(21)])


def test_a_restart_between_two_uses_is_not_noticed(server: Any, address: str) -> None:
    with open_store(address) as store:
        store.append(noted(1))
        for number in range(2, 5):
            server.sql(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                f" AND datname = '{database_of(address)}'"
            )
            store.append(noted(number))
        assert_is_fold(store, [noted(number) for number in range(1, 5)])


@pytest.mark.parametrize("is_read_first", [True, False])
def test_a_lock_that_was_lost_with_the_connection_is_noticed(server: Any, address: str, is_read_first: bool) -> None:
    with open_store(address) as store:
        with store.write_lock():
            server.sql(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                f" AND datname = '{database_of(address)}'"
            )
            if is_read_first:
                assert len(store.graph) == 0
            for _ in range(2):
                with pytest.raises(StoreUnavailableError, match="others may have written"):
                    store.append(noted(1))
        assert len(store.graph) == 0
        store.append(noted(1))
        assert len(store.graph) == 1


def test_an_interrupt_in_a_change_leaves_all_or_nothing(address: str) -> None:
    with open_store(address) as store:
        for number in range(12):

            def interrupted(number: int = number) -> Iterator[Episode]:
                yield noted(number)
                raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                store.append_many(interrupted())
            store.append(noted(100 + number))
        assert_is_fold(store, [noted(100 + number) for number in range(12)])


# -- roles ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def roles(server: Any) -> Iterator[None]:
    server.sql("CREATE ROLE anna LOGIN PASSWORD 'a-secret'; CREATE ROLE bert LOGIN; CREATE ROLE nobody_yet LOGIN")
    yield
    for name in rows_of_databases(server):
        server.sql("DROP OWNED BY anna, bert, nobody_yet", name)
    server.sql("DROP ROLE anna, bert, nobody_yet")


def rows_of_databases(server: Any) -> list[str]:
    return str(server.sql("SELECT datname FROM pg_database WHERE datallowconn AND datname LIKE 'empty%'")).split()


@pytest.mark.usefixtures("roles")
def test_the_server_keeps_roles_to_their_namespaces(server: Any, address: str) -> None:
    name = database_of(address)
    with open_store(address, namespace="anna") as store, store.open_namespace("others") as others:
        store.append(noted(1))
        store.put_vectors("m", ["a"], np.ones((1, 2), np.float32))
        others.append_many([noted(number) for number in range(300)])
        others.put_vectors("m", ["a", "b"], np.ones((2, 2), np.float32))
        others.checkpoint()
    grant(address, "anna", namespace="anna", writes=True)
    grant(address, "bert", namespace="anna")
    with open_store(server.address(name, "anna"), namespace="anna") as own:
        own.append(noted(2))
        own.put_vectors("m", ["c"], np.ones((1, 2), np.float32))
        own.forget(noted(1).id)
        own.checkpoint()
        assert [one.name for one in own.list_namespaces()] == ["anna"]
        assert own.open_namespace("others").stats()["episodes"] == 0
        with pytest.raises(StoreError, match=r"may not do this.*worldthread database grant"):
            own.open_namespace("others").append(noted(5))
        with pytest.raises(StoreError, match="may not do this"):
            own.open_namespace("fresh").append(noted(5))
        with pytest.raises(StoreError, match="may not do this"):
            own.open_namespace("others").put_vectors("m", ["x"], np.ones((1, 2), np.float32))
    with open_store(server.address(name, "bert"), namespace="anna", readonly=True) as own:
        assert_is_fold(own, [noted(2)])
        assert own.get_vectors("m", ["c"])
        assert [one.name for one in own.list_namespaces()] == ["anna"]
    with open_store(server.address(name, "bert"), namespace="anna") as own:
        for change in (
            lambda: own.append(noted(7)),
            lambda: own.forget(noted(2).id),
            own.clear,
            lambda: own.put_vectors("m", ["x"], np.ones((1, 2), np.float32)),
        ):
            with pytest.raises(StoreError, match="may not do this"):
                change()
    # by whatever program, and whatever SQL
    for table in ("namespace", "episode", "vector", "change", "snapshot", "snapshot_part"):
        for role in ("anna", "bert"):
            seen = server.sql(f"SET ROLE {role}; SELECT count(*) FROM worldthread.{table}", name).split()[-1]
            own_rows = {"namespace": "1", "episode": "1", "vector": "2"}
            assert seen == own_rows.get(table, seen)
        everything = int(server.sql(f"SELECT count(*) FROM worldthread.{table}", name))
        assert int(seen) < everything, table
    # an update or a deletion without a condition reaches the own rows only
    server.sql("SET ROLE anna; DELETE FROM worldthread.episode", name)
    assert rows(server, address, "SELECT count(*) FROM worldthread.episode") == ["300"]
    with pytest.raises(AssertionError, match="denied"):
        server.sql("SET ROLE bert; DELETE FROM worldthread.episode", name)
    with pytest.raises(AssertionError, match="denied"):
        server.sql("SET ROLE anna; INSERT INTO worldthread.permission VALUES ('anna', NULL, true)", name)
    with pytest.raises(StoreError, match="may not do this"):
        open_store(server.address(name, "nobody_yet"), readonly=True)
    assert revoke(address, "bert", namespace="anna")
    assert not revoke(address, "bert", namespace="anna")
    with pytest.raises(StoreError, match="may not do this"):
        open_store(server.address(name, "bert"), namespace="anna", readonly=True)


@pytest.mark.usefixtures("roles")
def test_what_a_role_may_do_can_be_changed(server: Any, address: str) -> None:
    name = database_of(address)
    open_store(address).close()
    with pytest.raises(StoreError, match='"unknown" does not exist'):
        grant(address, "unknown", namespace=None)
    with pytest.raises(InputError, match="roles are of PostgreSQL"):
        grant("memory.worldthread", "anna", namespace=None)
    grant(address, "anna", namespace=None, writes=True)
    with open_store(server.address(name, "anna"), namespace="new") as store:
        store.append(noted(1))
    grant(address, "anna", namespace=None)
    with (
        open_store(server.address(name, "anna"), namespace="new") as store,
        pytest.raises(StoreError, match="may not do this"),
    ):
        store.append(noted(2))
    with pytest.raises(StoreError, match=r"cannot be given this|may not do this"):
        grant(server.address(name, "anna"), "bert", namespace=None)
    assert rows(server, address, "SELECT role FROM worldthread.permission") == ["anna"]


# -- secrets and TLS ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("roles")
def test_no_message_and_no_repr_shows_a_password(
    server: Any, address: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(0)
    name, secret = database_of(address), "s3cr3t-p4ssw0rd"
    shown = []
    for wrong in (
        server.tcp_address(name, "anna", secret),
        server.tcp_address("no_such_database", "owner", secret),
        f"postgresql://anna:{secret}@127.0.0.1:1/{name}",
        f"postgresql://anna:{secret}@no-such-host.invalid/{name}",
        f"postgresql://anna:{secret}@x@127.0.0.1/{name}",
        f"postgresql://anna:{secret}/x@127.0.0.1/{name}",
        f"postgresql://anna:{secret}%zz@127.0.0.1/{name}",
        f"postgresql://127.0.0.1/{name}?pasword={secret}",
        f"postgresql://127.0.0.1:1/{name}?password={secret}&sslpassword={secret}",
        f"postgresql://anna:{secret}:x@127.0.0.1:1/{name}",
    ):
        with pytest.raises((StoreError, InputError)) as caught:
            open_store(wrong)
        shown += [str(caught.value), repr(caught.value), "".join(traceback.format_exception(caught.value))]
        assert "postgresql://" in str(caught.value)
    with Memory(server.tcp_address(name, "owner"), model="none", embedder="fake") as memory:
        shown += [repr(memory), repr(memory.record), repr(memory._store), str(memory._store.location)]
        shown += [repr(memory._store._database), repr(memory._store._database.address)]  # type: ignore[attr-defined]
    output = capfd.readouterr()
    text = "\n".join([*shown, caplog.text, output.out, output.err])
    assert secret not in text
    assert server.password not in text
    assert f"postgresql://owner@127.0.0.1:{server.port}/{name}" in text


def test_commands_never_show_the_password(server: Any, address: str) -> None:
    own = server.tcp_address(database_of(address), "owner")
    environment = os.environ | {"WORLDTHREAD_MEMORY": own, "WORLDTHREAD_EMBEDDER": "fake"}
    texts = []
    for arguments in (
        ["remember", "--text", "Anna lives in Rome.", "--json"],
        ["stats"],
        ["stats", "--json"],
        ["namespaces"],
        ["about", "Anna"],
        ["recall", "Where does Anna live?"],
        ["recall", "Where?", "--namespace", "none"],
        ["remember", "--help"],
        ["database", "purge", own],
        ["mcp"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "worldthread", *arguments], env=environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode in (0, 1, 2), done.stderr
        texts.append(done.stdout + done.stderr)
    assert "Rome" in texts[5]
    assert server.password not in "".join(texts)


def test_tls_is_asked_for_in_the_address(server: Any, address: str, own_server: Any, tmp_path: Path) -> None:
    name = database_of(address)
    with pytest.raises(StoreUnavailableError, match="does not support SSL"):
        open_store(server.tcp_address(name) + "?sslmode=require")
    secure = own_server.new_address()
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", tmp_path / "key", "-out", tmp_path / "crt"],
        capture_output=True,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    if not own_server.has_tls(tmp_path / "key", tmp_path / "crt"):
        pytest.skip("this server was built without TLS")
    here = own_server.tcp_address(database_of(secure))
    with open_store(f"{here}?sslmode=verify-full&sslrootcert={tmp_path / 'crt'}") as store:
        store.append(noted(1))
        assert own_server.sql("SELECT count(*) FROM pg_stat_ssl WHERE ssl").strip() == "1"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-keyout", tmp_path / "key2", "-out", tmp_path / "crt2"], capture_output=True, check=True,
    )  # fmt: skip
    with pytest.raises(StoreUnavailableError, match="certificate"):
        open_store(f"{here}?sslmode=verify-full&sslrootcert={tmp_path / 'crt2'}")


# -- opening --------------------------------------------------------------------------------------------------------


def test_what_is_no_memory_is_left_alone(server: Any, address: str) -> None:
    name = database_of(address)
    with pytest.raises(StoreError, match="no memory here to read"):
        open_store(address, readonly=True)
    server.sql("CREATE SCHEMA worldthread", name)
    with pytest.raises(ForeignFileError, match="another database"):
        open_store(address)
    server.sql("DROP SCHEMA worldthread", name)
    open_store(address).close()
    server.sql(f"INSERT INTO worldthread.migration VALUES ({len(MIGRATIONS) + 1})", name)
    for readonly in (False, True):
        with pytest.raises(FileVersionError, match="upgrade worldthread"):
            open_store(address, readonly=readonly)


def test_older_tables_are_upgraded(server: Any, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(postgresql_connection, "MIGRATIONS", MIGRATIONS[:1])
        with open_store(address) as store:
            store.append(noted(1))
    with pytest.raises(StoreError, match="open it once for writing"):
        open_store(address, readonly=True)
    with open_store(address) as store:
        assert_is_fold(store, [noted(1)])
    assert rows(server, address, "SELECT number FROM worldthread.migration") == ["1", "2"]


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ImportError, match=r"pip install .*\[postgres\]'?"):
        Memory("postgresql://anna@localhost/memories")


@pytest.mark.parametrize("options", [{"durability": "some"}, {"wait": -1}, {"wait": "long"}, {"namespace": ""}])
def test_options_are_checked(address: str, options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        open_store(address, **options)


def test_full_durability_asks_the_server_for_it(server: Any, address: str) -> None:
    server.sql(f"ALTER DATABASE {database_of(address)} SET synchronous_commit = off")
    with open_store(address) as normal, open_store(address, durability="full") as full:
        for store, expected in ((normal, "off"), (full, "on")):
            assert store._database.fetch_one("SHOW synchronous_commit") == (expected,)  # type: ignore[attr-defined]


def test_a_snapshot_saves_reading_the_texts(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    episodes = [noted(number) for number in range(500)]
    with open_store(address) as store:
        store.append_many(episodes)
        store.save_index("own", {"a": np.arange(5)}, store.graph, store.graph.numbering)

    def forbidden(*_: object, **__: object) -> Episode:
        raise AssertionError("a text was read")

    expected = state_hash(fold(episodes).rows())
    with monkeypatch.context() as patch:
        patch.setattr(connected_store, "decoded_episode", forbidden)
        with open_store(address, readonly=True) as store:
            assert store.graph.state_hash() == expected
            index = store.load_index("own")
            assert index is not None
            assert index["a"].tolist() == list(range(5))
    with open_store(address) as store:
        store.append(noted(500))
        store.checkpoint()
        assert store.load_index("own") is not None, "the numbers are the same"
        store.forget(noted(3).id)
        assert store.load_index("own") is None
    with open_store(address) as store:
        assert_is_fold(store, [noted(number) for number in range(501) if number != 3])


def test_a_damaged_snapshot_is_ignored_and_a_damaged_record_is_not(server: Any, address: str) -> None:
    episodes = [noted(number) for number in range(300)]
    with open_store(address) as store:
        store.append_many(episodes)
        store.checkpoint()
    name = database_of(address)
    for damage in (
        "UPDATE worldthread.snapshot_part SET content = set_byte(content, length(content) - 1, 77)",
        "UPDATE worldthread.snapshot SET manifest = '[]'",
        "UPDATE worldthread.snapshot SET token = '\\x00'",
        "DELETE FROM worldthread.snapshot_part",
    ):
        server.sql(damage, name)
        with open_store(address, readonly=True) as store:
            assert_is_fold(store, episodes)
    server.sql("UPDATE worldthread.episode SET content = set_byte(content, 12, 65) WHERE at = 7", name)
    with open_store(address, readonly=True) as store, pytest.raises(DamagedFileError, match="its bytes have changed"):
        assert len(store.graph) == 300
    server.sql("DELETE FROM worldthread.episode WHERE at = 7", name)
    with open_store(address, readonly=True) as store, pytest.raises(DamagedFileError, match="299 of 300"):
        assert len(store.graph) == 300


def test_a_server_that_was_set_back_is_followed(server: Any, address: str) -> None:
    """Such as a replica that lacks the last changes, or a backup: numbers repeat, and tokens tell them apart."""
    name = database_of(address)
    with open_store(address) as store, open_store(address, readonly=True) as reader:
        for number in range(5):
            store.append(noted(number))
        assert len(reader.graph) == 5
        server.sql(
            "DELETE FROM worldthread.episode WHERE change > 3; DELETE FROM worldthread.change WHERE number > 3;"
            " UPDATE worldthread.namespace SET changes = 3, episodes = 3,"
            " token = (SELECT token FROM worldthread.change WHERE number = 3)",
            name,
        )
        assert_is_fold(store, [noted(0), noted(1), noted(2)])
        store.append(noted(8))
        store.append(noted(9))
        assert_is_fold(reader, [noted(0), noted(1), noted(2), noted(8), noted(9)])


def test_old_changes_are_trimmed(server: Any, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "_TRIMMED_CHANGES", 10)
    monkeypatch.setattr(postgresql, "_KEPT_CHANGES", 10)
    with open_store(address) as store, open_store(address, readonly=True) as late:
        store.append(noted(0))
        assert len(late.graph) == 1
        for number in range(1, 45):
            store.append(noted(number))
        assert int(rows(server, address, "SELECT count(*) FROM worldthread.change")[0]) < 25
        assert_is_fold(late, [noted(number) for number in range(45)])


# -- forgetting -----------------------------------------------------------------------------------------------------


def test_forgotten_text_is_deleted_and_a_checkpoint_takes_it_from_the_files(own_server: Any) -> None:
    address = own_server.new_address()
    secret = "a-very-private-sentence-" * 300  # long enough to be stored outside of its row
    short = "another-private-sentence"
    with open_store(address) as store:
        store.append_many([noted(number) for number in range(300)])
        for number, text in enumerate((secret, short)):
            store.append(Episode(text, 500 + number, "", Extraction("t", (Fact(f"who {text[:40]}", "is", "here"),))))
        store.checkpoint()
        own_server.sql("CHECKPOINT")
        assert files_with(own_server, b"private-sentence")
        for episode in [e for e in store.episodes() if e.at >= 500]:
            store.forget(episode.id)
        for table in ("episode", "snapshot_part"):
            found = rows(
                own_server, address,
                f"SELECT count(*) FROM worldthread.{table} WHERE position('private-sentence'::bytea in content) > 0",
            )  # fmt: skip
            assert found == ["0"]
        store.checkpoint()
        assert_is_fold(store, [noted(number) for number in range(300)])
    own_server.sql("CHECKPOINT")
    assert files_with(own_server, b"private-sentence") == []


def files_with(server: Any, mark: bytes) -> list[str]:
    """The files of the tables that hold a text. PostgreSQL's log of changes is apart: it is recycled."""
    return [
        path.name
        for path in sorted((server.data / "base").rglob("*"))
        if path.is_file() and not path.name.startswith("pg_") and mark in path.read_bytes()
    ]


# -- memories -------------------------------------------------------------------------------------------------------


def test_a_memory_on_a_server_is_a_memory(address: str, tmp_path: Path) -> None:
    memories = [
        Memory(place, namespace="anna", model="none", embedder="fake", clock=iter(range(1000, 10**6)).__next__)
        for place in (address, tmp_path / "m")
    ]
    for memory in memories:
        memory.remember("Anna lives in Rome. She works as a nurse.", at="2023-05-01", wait=True)
        memory.remember("Anna lives in Paris.", at="2024-03-01", source="letter", wait=True)
        memory.remember([{"role": "user", "content": "I like tea."}], at="2024-03-02", user="u1", wait=True)
    here, there = memories
    assert here.record.state_hash() == there.record.state_hash()
    for question in ("Where does Anna live?", "What does Anna do?", "tea"):
        assert here.recall(question).text == there.recall(question).text
        assert here.recall(question, as_of="2023-06-01").text == there.recall(question, as_of="2023-06-01").text
    assert [one.name for one in here.namespaces()] == ["anna"]
    assert here.path is None
    assert "namespace='anna'" in repr(here)
    assert here.forget(entity="Anna") == there.forget(entity="Anna") > 0
    assert here.record.state_hash() == there.record.state_hash()
    assert here.delete_namespace("anna") == 1
    assert here.namespaces() == []
    for memory in memories:
        memory.close()


def test_the_program_of_the_documentation_runs(address: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "run-on-servers.md").read_text("utf-8")
    program = re.findall(r"^```py\n(.*?)^```", page, re.M | re.S)[0]
    program, count = re.subn(r'"postgresql://[^"]*"', repr(address), program)
    assert count == 1
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"WORLDTHREAD_EMBEDDER": "fake"},
        capture_output=True,
        text=True,
    )
    assert "Anna lives in Paris (known since 2024-03-01)" in done.stdout, done.stderr


def test_ctrl_c_ends_a_command_that_waits(address: str) -> None:
    with open_store(address) as store, store.write_lock():
        command = [sys.executable, "-m", "worldthread", "remember", "--text", "x", "-m", address, "--wait", "60"]
        waiting = subprocess.Popen(
            command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | {"WORLDTHREAD_EMBEDDER": "fake"}
        )
        while not any(lock == ("advisory", False) for lock in _locks(store)):
            time.sleep(0.05)
            assert waiting.poll() is None
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(timeout=30) == 130
        assert len(store.graph) == 0


def _locks(store: Store) -> list[tuple[str, bool]]:
    return list(store._database.fetch_all("SELECT locktype, granted FROM pg_locks"))  # type: ignore[attr-defined]
