"""Files of other programs become part of a memory: every message is remembered or counted as left out."""

from __future__ import annotations

import copy
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from worldthread import Fact, FormatError, InputError, Memory, StoreError
from worldthread.cli.main import app
from worldthread.moving import FORMATS, DumpImport, import_dump, read_dump

Write = Callable[..., Path]
Dumps = dict[str, Any]


def opened() -> Memory:
    return Memory(model="none", embedder="fake")


def texts(memory: Memory) -> list[str]:
    return [episode.text for episode in memory.episodes()]


def imported(dump: Path, **options: Any) -> tuple[DumpImport, list[str]]:
    with opened() as memory:
        return import_dump(memory, dump, **options), texts(memory)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_detected_counted_and_imported_once(name: str, write: Write, dumps: Dumps) -> None:
    path = write(dumps[name])
    with opened() as memory:
        done = import_dump(memory, path)
        assert done.format == name
        assert done.messages == done.remembered + sum(done.left_out.values())
        assert done.added == done.remembered == len(texts(memory)) > 0
        before = memory.record.state_hash()
        again = import_dump(memory, path, name)
        assert (again.added, again.known, again.remembered) == (0, done.added, done.remembered)
        assert memory.record.state_hash() == before
        assert {episode.source for episode in memory.episodes()} == {name}


def test_chatgpt_follows_the_current_branch(write: Write, dumps: Dumps) -> None:
    done, found = imported(write(dumps["chatgpt"]), user="Anna")
    assert found == ["Anna: I live in Rome.", "assistant: Rome is old.", "Anna: This is my dog Rex."]
    assert done.left_out == {
        "of code, thoughts or calls of tools": 1, "of the system": 1, "of tools": 1, "on another branch": 1,
        "without text": 1,
    }  # fmt: skip
    with opened() as memory:
        import_dump(memory, write(dumps["chatgpt"]))
        first = next(iter(memory.episodes()))
        assert (first.session, first.metadata["title"], first.metadata["message"]) == ("c-1", "Rome", "u1")
        assert 0 <= first.at - 1_704_103_200.0 < 0.1


def test_chatgpt_without_a_current_node_takes_the_only_branch(write: Write, dumps: Dumps) -> None:
    dump = dumps["chatgpt"]
    dump[0]["current_node"] = None
    with pytest.raises(FormatError, match="conversation 1, 'current_node': expected the id of one of the 2 last"):
        read_dump(write(dump))
    del dump[0]["mapping"]["a0"]
    assert imported(write(dump))[0].remembered == 3


def test_chatgpt_trees_that_are_none(write: Write, dumps: Dumps) -> None:
    circle, hole = dumps["chatgpt"], copy.deepcopy(dumps["chatgpt"])
    circle[0]["mapping"]["u1"]["parent"] = "u2"
    hole[0]["mapping"]["u1"]["parent"] = "nowhere"
    with pytest.raises(FormatError, match=r"conversation 1: the parents of the message .* form a circle"):
        read_dump(write(circle))
    with pytest.raises(FormatError, match="conversation 1: there is no message 'nowhere'"):
        read_dump(write(hole))


def test_claude_reads_blocks_of_text(write: Write, dumps: Dumps) -> None:
    done, found = imported(write(dumps["claude"]))
    assert found == ["user: I moved to Paris.", "assistant: Paris is a city."]
    assert done.left_out == {"without text": 1}
    wrong = dumps["claude"]
    wrong[0]["chat_messages"][1]["content"][1]["text"] = 7
    with pytest.raises(FormatError, match="conversation 1, message 2, 'content', block 2, 'text': expected a string"):
        read_dump(write(wrong))


@pytest.mark.parametrize(
    ("lines", "times"),
    [
        ("31/12/2023, 22:15 - A: x\n01/01/2024, 08:01 - A: y\n", ["2023-12-31 22:15", "2024-01-01 08:01"]),
        ("12/31/23, 10:15 PM - A: x\n1/1/24, 12:05 AM - A: y\n", ["2023-12-31 22:15", "2024-01-01 00:05"]),
        ("12/31/23, 10:15\u202fPM - A: x\n1/1/24, 12:05\u202fPM - A: y\n", ["2023-12-31 22:15", "2024-01-01 12:05"]),
        ("[31.12.23, 22:15:09] A: x\n\u200e[01.01.24, 08:01:10] A: y\n",
         ["2023-12-31 22:15:09", "2024-01-01 08:01:10"]),
        ("2023-12-31, 22:15 - A: x\n2024-01-02 08:01 - A: y\n", ["2023-12-31 22:15", "2024-01-02 08:01"]),
        ("[2023/12/31, 10:15:09 p. m.] A: x\n", ["2023-12-31 22:15:09"]),
        # nothing above 12, but only one way is in the order of time
        ("03/04/24, 09:00 - A: x\n01/05/24, 09:00 - A: y\n", ["2024-04-03 09:00", "2024-05-01 09:00"]),
        ("02/12/24, 09:00 - A: x\n03/01/24, 09:00 - A: y\n", ["2024-02-12 09:00", "2024-03-01 09:00"]),
        ("05/05/24, 09:00 - A: x\n", ["2024-05-05 09:00"]),
    ],
)  # fmt: skip
def test_whatsapp_dates(lines: str, times: list[str], write: Write) -> None:
    with opened() as memory:
        import_dump(memory, write(lines))
        with opened() as other:
            for text, at in zip("xy", times, strict=False):
                other.remember([{"speaker": "A", "content": text}], at)
            assert [(e.text, e.at) for e in memory.episodes()] == [(e.text, e.at) for e in other.episodes()]


def test_whatsapp_days_and_months_that_nothing_tells_apart(write: Write) -> None:
    path = write("03/04/24, 09:00 - A: x\n03/05/24, 09:00 - A: y\n")
    with pytest.raises(InputError, match=r"3/4/24 is a day and a month or .* --date-order"):
        read_dump(path)
    assert [one.at for one in read_dump(path, date_order="day-first").contents] == [1712134800.0, 1714726800.0]
    assert [one.at for one in read_dump(path, date_order="month-first").contents] == [1709542800.0, 1709629200.0]
    with pytest.raises(FormatError, match="line 1 has the day first, line 2 has the month first"):
        read_dump(write("13/04/24, 09:00 - A: x\n03/15/24, 09:00 - A: y\n"))
    with pytest.raises(FormatError, match=r"line 2: the date 31/2/24 does not exist"):
        read_dump(write("13/04/24, 09:00 - A: x\n31/02/24, 09:00 - A: y\n"))


def test_whatsapp_messages_of_one_minute_keep_their_order(write: Write) -> None:
    done, found = imported(write("31/12/23, 09:00 - A: same\n" * 3 + "31/12/23, 09:00 - B: last\n"))
    assert found == ["A: same"] * 3 + ["B: last"]
    assert done.remembered == 4


def test_whatsapp_lines_of_the_app_are_left_out(write: Write, dumps: Dumps) -> None:
    done, found = imported(write(dumps["whatsapp"], "WhatsApp Chat with Tom.txt"))
    assert found == ["Anna: I live in Rome.", "Tom: Nice!\nSee you: at ten", "Tom: My dog Rex"]
    assert done.left_out == {"of media that the export omits": 1, "of the app itself": 1, "that were deleted": 1}
    ios = (
        "[31.12.23, 22:15:09] Trip: \u200eAnna created this group\n[31.12.23, 22:16:00] Tom: \u200eimage omitted\n"
        "[31.12.23, 22:17:00] \u202aTom\u202c: Hi \u200e<This message was edited>\r\n"
        '[31.12.23, 22:18:00] Tom changed the subject from "a: b" to "c"\n'
    )
    done, found = imported(write(ios))
    assert found == ["Tom: Hi"]
    assert done.left_out == {"of media that the export omits": 1, "of the app itself": 2}
    quoting = "31/12/23, 09:00 - A: Anna wrote\n[31.12.23, 22:15:09] Tom: this\n31/12/23, 09:01 - A: yes\n"
    assert imported(write(quoting))[1] == ["A: Anna wrote\n[31.12.23, 22:15:09] Tom: this", "A: yes"]


def test_mem0_and_langgraph_keep_users_namespaces_and_times(write: Write, dumps: Dumps) -> None:
    with opened() as memory:
        import_dump(memory, write(dumps["mem0"]))
        tea, rome = memory.episodes()
        assert (tea.text, tea.user, tea.session, tea.metadata["topic"]) == ("Likes tea", "anna", "r1", "drinks")
        assert (rome.text, rome.agent, rome.at) == ("anna: Lives in Rome", "helper", 1709373600.0)
    assert imported(write(dumps["mem0"]["results"]))[0].left_out == {"without a time": 1}
    with opened() as memory:
        import_dump(memory, write({"items": dumps["langgraph"]}))
        assert texts(memory) == ["Anna likes tea.", "name: Anna\nage: 30"]
        assert {episode.session for episode in memory.episodes()} == {"memories/anna"}


def test_values_that_are_nested_too_deeply_are_refused(write: Write, dumps: Dumps) -> None:
    text = json.dumps(dumps["langgraph"]).replace('{"name": "Anna", "age": 30}', '{"x": ' * 600 + "1" + "}" * 600)
    assert "item 2, 'value': it cannot be written as text" in read_dump(write(text)).problems[0]
    with pytest.raises(FormatError, match="this is not JSON"):
        read_dump(write("[" * 100_000), "mem0")


def test_a_long_whatsapp_message_takes_linear_time(write: Write, time_growth: Callable[..., float]) -> None:
    def read(size: int) -> None:
        spaces = " " * size
        path = write(f"31/12/23, 09:00 - A: x{spaces}y\u200e{spaces}z\n{'<' * size}\n31/12/23,{spaces}")
        assert len(read_dump(path).contents) == 1

    assert time_growth(read, 4000) < 16


def test_graphiti_edges_hold_in_their_intervals(write: Write, dumps: Dumps) -> None:
    with opened() as memory:
        done = import_dump(memory, write(dumps["graphiti"]))
        assert done.left_out == {"that end before they begin": 1}
        rome, paris = Fact("Anna", "lives in", "Rome"), Fact("Anna", "lives in", "Paris")
        held = {v.statement: (v.interval.valid_from, v.interval.valid_to) for v in memory.timeline("Anna")}
        assert held == {rome: (1682899200.0, 1709251200.0), paris: (1709251200.0, float("inf"))}
        assert [version.statement for version in memory.about("Anna", as_of="2023-06-01")] == [rome]
    unnamed = dumps["graphiti"]["edges"]
    assert imported(write(unnamed))[1] == ["Anna lived in Rome.", "Anna lives in Paris."]
    unknown = dumps["graphiti"]
    del unknown["nodes"][1]
    with pytest.raises(FormatError, match="edge 1, 'target_node_uuid': there is no node 'n2' in the file"):
        read_dump(write(unknown))


def test_zep_keeps_messages_texts_and_intervals(write: Write, dumps: Dumps) -> None:
    with opened() as memory:
        done = import_dump(memory, write(dumps["zep"]))
        assert done.left_out == {"episodes that are among the messages": 1, "of the role system": 1}
        assert sorted(texts(memory)) == sorted([
            "Anna lived in Rome.", "Anna lives in Paris.", "Anna: I live in Rome.", "assistant: Rome is old.",
            "Anna likes tea.",
        ])  # fmt: skip
        said = next(one for one in memory.episodes() if one.text == "Anna: I live in Rome.")
        assert (said.session, said.metadata["topic"], said.metadata["message"]) == ("t", "home", "m1")
        assert said.at == 1714557600.0  # the reference time
        rome = Fact("Anna", "lives in", "Rome")
        held = [(v.interval.valid_from, v.interval.valid_to) for v in memory.timeline("Anna") if v.statement == rome]
        assert (1682899200.0, 1709251200.0) in held  # the edge; Anna says so later too
    del dumps["zep"]["nodes"], dumps["zep"]["messages"]
    done, _ = imported(write(dumps["zep"]))
    assert (done.remembered, done.left_out) == (4, {})  # an edge that names its nodes needs no list of them
    old = [{"uuid": "m1", "role": "Anna", "role_type": "user", "content": "Hi", "created_at": "2024-05-01"}]
    assert imported(write({"messages": old}))[1] == ["Anna: Hi"]
    with pytest.raises(FormatError, match="expected at least one list of: messages, episodes, nodes, edges"):
        read_dump(write({"x": 1}), "zep")


def test_letta_keeps_what_was_said_and_the_blocks(write: Write, dumps: Dumps) -> None:
    with opened() as memory:
        done = import_dump(memory, write(dumps["letta"]), user="Anna")
        assert done.left_out == {
            "of Letta itself": 1, "of the role system": 1, "of the role tool": 1, "of thoughts or calls of tools": 1,
        }  # fmt: skip
        assert texts(memory) == [
            "Anna: I live in Rome.", "assistant: Rome is old.", "Anna: I have a dog.", "assistant: Nice dog!",
            "Her name is Anna.",
        ]  # fmt: skip
        *_, block = memory.episodes()
        assert (block.agent, block.metadata["block"], block.at) == ("helper", "human", 1709337600.0)
    agent = dumps["letta"]["agents"][0]
    times = {"created_at": "2024-03-01T00:00:00Z", "updated_at": "2024-03-03T00:00:00Z"}
    first = {**agent, "core_memory": [{**dumps["letta"]["blocks"][0], **times}]}
    done, found = imported(write(first))
    assert (done.format, done.remembered, found[-1]) == ("letta", 5, "Her name is Anna.")


def test_cogx_keeps_texts_and_facts(write: Write, dumps: Dumps, tmp_path: Path, pack: Callable[..., bytes]) -> None:
    with opened() as memory:
        done = import_dump(memory, write(dumps["cogx"]))
        assert done.left_out == {
            "about nodes that are no entities": 1, "entities, which facts name": 2, "of the role tool": 1,
            "raw nodes": 1,
        }  # fmt: skip
        rome, tea = Fact("Anna", "LIVES IN", "Rome"), Fact("Anna", "likes", "green tea")
        held = [(v.statement, v.interval.valid_from, v.interval.valid_to) for v in memory.timeline("Anna")]
        assert (rome, 1682899200.0, 1709251200.0) in held
        assert (tea, 1709251200.0, float("inf")) in held  # the time of its entity
        said = next(one for one in memory.episodes() if "I live in" in one.text)
        assert (said.user, said.session, said.text) == ("anna", "s", "anna: I live in Rome.")
        state = memory.record.state_hash()
    folder = tmp_path / "archive"
    folder.mkdir()
    for name, records in dumps["cogx"].items():
        (folder / name).write_text("\n".join(map(json.dumps, records)))
    with opened() as memory:  # as cognee writes it
        assert import_dump(memory, folder).format == "cogx"
        assert memory.record.state_hash() == state
    with opened() as memory:  # not compressed
        import_dump(memory, write(pack(dumps["cogx"], compressed=False)))
        assert memory.record.state_hash() == state


def test_archives_that_are_damaged_or_too_large_are_refused(
    write: Write, dumps: Dumps, pack: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = dumps["cogx"]
    whole = pack(files)
    for data, message in [
        (whole[:-20], "the archive is"),
        (b"\x1f\x8bnonsense", "the archive is damaged"),
        (pack({"other.json": []}), "this is not a COGX archive"),
        (pack({**files, "manifest.json": [{"cogx_version": "1.0"}]}), "the version '1.0' cannot be read; 0.1 can"),
        (pack({**files, "sub/facts.jsonl": []}), "the archive holds facts.jsonl twice"),
        (pack({"facts.jsonl": [[1]]}), "facts.jsonl, line 1: expected a mapping, not a list"),
    ]:
        with pytest.raises(FormatError, match=message):
            read_dump(write(data), "cogx")
    monkeypatch.setattr("worldthread.moving.cogx.MAX_DUMP_BYTES", 1000)
    with pytest.raises(FormatError, match="unpacks to more than 1000 bytes"):
        read_dump(write(whole))
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(FormatError, match="a folder"):
        read_dump(tmp_path)
    (tmp_path / "manifest.json").rmdir()
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / "facts.jsonl").symlink_to(write("{}", "elsewhere"))
    with pytest.raises(FormatError, match="a link"):
        read_dump(tmp_path)


def test_archives_that_say_more_than_they_hold_are_refused(write: Write) -> None:
    sparse = tarfile.TarInfo("facts.jsonl")  # a gigabyte of which nothing is stored
    sparse.pax_headers = {"GNU.sparse.size": str(1 << 30), "GNU.sparse.numblocks": "1", "GNU.sparse.map": "0,0"}
    noted = tarfile.TarInfo("facts.jsonl")
    noted.pax_headers = {"comment": "x"}
    header = noted.tobuf(tarfile.PAX_FORMAT)[: -tarfile.BLOCKSIZE]
    for data in (sparse.tobuf(tarfile.PAX_FORMAT), 3000 * header + noted.tobuf(tarfile.PAX_FORMAT)):
        with pytest.raises(FormatError, match="the archive is damaged"):
            read_dump(write(data + bytes(tarfile.RECORDSIZE)), "cogx")


def test_what_is_in_a_file_twice_is_remembered_once(write: Write, dumps: Dumps) -> None:
    done, found = imported(write([*dumps["langgraph"], dumps["langgraph"][0]]))
    assert (done.messages, done.remembered, done.left_out, len(found)) == (3, 2, {"twice in the file": 1}, 2)


def test_labels_are_added(write: Write, dumps: Dumps) -> None:
    with opened() as memory:
        import_dump(memory, write(dumps["whatsapp"]), user="anna", session="trip", metadata={"phone": "new"})
        labels = {(one.user, one.session, one.metadata["phone"]) for one in memory.episodes()}
        assert labels == {("anna", "trip", "new")}


def test_an_import_that_was_interrupted_goes_on_where_it_stopped(write: Write) -> None:
    path = write("".join(f"31/12/23, 09:00 - A: number {number}\n" for number in range(150)))
    done: list[int] = []

    def interrupt(count: int, total: int | None) -> None:
        assert total == 150
        done.append(count)
        if count > 100:
            raise KeyboardInterrupt

    with opened() as memory, opened() as whole:
        with pytest.raises(KeyboardInterrupt):
            import_dump(memory, path, progress=interrupt)
        assert 0 < memory.stats()["episodes"] < 150
        assert import_dump(memory, path).added == 150 - done[-1]
        import_dump(whole, path)
        assert memory.record.state_hash() == whole.record.state_hash()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the format is not recognised"),
        (b"[]", "the format is not recognised"),
        (b"hello", "the format is not recognised"),
        (b'[{"mapping": ', "this is not JSON"),
        (b"PK\x03\x04...", "this ZIP archive cannot be read"),
        (b"31/12/23, 09:00 - A: \xff", "this is not UTF-8"),
        (
            json.dumps([{"id": "x", "mapping": []}]).encode(),
            "conversation 1, 'mapping': expected a mapping, not a list",
        ),
        (json.dumps([{"mapping": {}}]).encode(), "conversation 1, 'id': expected a string, not null"),
        (json.dumps([{"id": "x", "mapping": {}, "create_time": 1e300}]).encode(), "it is too large"),
        (json.dumps([{"memory": "x", "id": "y" * 20000, "created_at": "2024-01-01"}]).encode(), "it can have 10,000"),
    ],
)
def test_damaged_files_are_refused_with_the_place(data: bytes, message: str, write: Write, tmp_path: Path) -> None:
    path = write(data)
    with opened() as memory, pytest.raises(FormatError) as refused:
        import_dump(memory, path)
    assert message in str(refused.value)
    assert str(path) in str(refused.value)


def test_wrong_arguments(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dumps: Dumps) -> None:
    path = write(dumps["whatsapp"])
    with pytest.raises(InputError, match="'slack' is not a format; formats are: auto, chatgpt"):
        read_dump(path, "slack")
    with pytest.raises(InputError, match="date_order must be day-first or month-first"):
        read_dump(path, date_order="american")  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="cannot be read"):
        read_dump(tmp_path / "absent")
    with pytest.raises(FormatError, match="a folder"):
        read_dump(tmp_path)
    monkeypatch.setattr("worldthread.moving.files.MAX_DUMP_BYTES", 100)
    with pytest.raises(FormatError, match="at most 100 are read"):
        read_dump(path)


# -- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER", "fake")
    monkeypatch.setenv("WORLDTHREAD_MODEL", "none")
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_the_command_imports_and_counts(run: Callable[..., Result], write: Write, dumps: Dumps) -> None:
    path = str(write(dumps["chatgpt"]))
    result = run("import", path, "--from", "auto", "--user", "Anna")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "chatgpt: 8 messages in the file, 3 remembered",
        "  1 left out: of code, thoughts or calls of tools",
        "  1 left out: of the system",
        "  1 left out: of tools",
        "  1 left out: on another branch",
        "  1 left out: without text",
        "stored 3 new texts",
    ]
    found = json.loads(run("import", path, "--from", "chatgpt", "--user", "Anna", "--json").stdout)
    assert (found["added"], found["known"], found["messages"]) == (0, 3, 8)


def test_the_command_refuses_before_it_creates_a_memory(
    run: Callable[..., Result], write: Write, tmp_path: Path
) -> None:
    path = str(write('[{"mapping": {}}]'))
    for arguments, message in [
        (("import", path, "--from", "auto"), "conversation 1, 'id': expected a string"),
        (("import", path, "--from", "slack"), "'slack' is not a format"),
        (("import", "-", "--from", "auto"), "needs the name of a file"),
        (("import", path, "--user", "Anna"), "are for files of other programs"),
    ]:
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "memory.worldthread").exists()


def test_a_message_with_a_time_that_cannot_be_meant_costs_no_other(write: Callable[..., Path]) -> None:
    rows = [
        {"id": str(number), "memory": f"Anna has {number} cats.", "created_at": at}
        for number, at in enumerate(("2024-05-01T10:00:00Z", 0, "0204-01-01", "2999-01-01", 1_709_251_200))
    ]
    path = write({"results": rows})
    with Memory(model="none", embedder="fake") as memory:
        done = import_dump(memory, path)
        assert (done.messages, done.remembered, done.left_out) == (5, 2, {"with a time that cannot be meant": 3})
        assert all(str(path) in problem and "Anna has" in problem for problem in done.problems)
        assert len(done.problems) == 3
    with Memory(model="none", embedder="fake") as memory:
        memory.remember("Anna sleeps.", at=1)
        with pytest.raises(FormatError, match="counts turns") as refusal:
            import_dump(memory, path)
        assert str(path) in str(refusal.value)
        assert memory.stats()["episodes"] == 1


def test_slim_chats_in_an_archive_of_many_files_are_read(tmp_path: Path) -> None:
    def chat(number: int, at: float | None, said_at: float | None) -> dict[str, Any]:
        said = {"id": "a", "author": {"role": "user"}, "content": {"parts": [f"Hive {number} is calm."]}}
        nodes = {
            "r": {"parent": None, "message": None},
            "a": {"parent": "r", "message": {**said, "create_time": said_at}},
        }
        return {"id": f"c{number}", "mapping": nodes} | ({} if at is None else {"create_time": at})

    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number, times in enumerate(((1.7e9, None), (None, 1.7e9), (None, None))):
            archive.writestr(f"conversations-{number:03}.json", json.dumps([chat(number, *times)]))
        archive.writestr("user.json", json.dumps({"id": "u"}))
    with Memory(model="none", embedder="fake") as memory:
        done = import_dump(memory, path)
        assert sorted(episode.text for episode in memory.episodes()) == [
            "user: Hive 0 is calm.",
            "user: Hive 1 is calm.",
        ]
    assert done.left_out["without a time"] == 1
