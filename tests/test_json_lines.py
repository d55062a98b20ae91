"""Append-only files of JSON Lines: reading, appending, torn lines, and one writer at a time."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path

import orjson
import pytest

from worldthread.errors import ClosedError, FormatError, InputError, StoreError, StoreLockedError
from worldthread.files.json_lines import JsonLinesReader, JsonLinesWriter

BUSY = "somebody else is writing"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "lines.jsonl"


def values(path: Path) -> list[object]:
    with path.open("rb") as stream:
        return [line.value for line in JsonLinesReader(stream, path, skip_torn=True)]


def append(path: Path, *lines: bytes) -> None:
    with JsonLinesWriter(path, busy=BUSY) as writer:
        for line in lines:
            writer.append(line)


# -- reading -----------------------------------------------------------------------------------------------------------


def test_lines_have_numbers_and_content() -> None:
    reader = JsonLinesReader(io.BytesIO(b'{"a":1}\n[2]\n"x"'))
    assert [(line.number, line.content, line.value) for line in reader] == [
        (1, b'{"a":1}', {"a": 1}),
        (2, b"[2]", [2]),
        (3, b'"x"', "x"),
    ]
    assert (reader.end, reader.is_terminated, reader.torn) == (15, False, b"")


def test_a_text_stream_is_read_too() -> None:
    reader = JsonLinesReader(io.StringIO('{"a":1}\n{"b":'), skip_torn=True)
    assert [line.value for line in reader] == [{"a": 1}]
    assert (reader.end, reader.torn) == (8, '{"b":')
    latin = io.TextIOWrapper(io.BytesIO(b'{"a":1}\n"\xff"\n'), encoding="utf-8")
    with pytest.raises(FormatError, match="input, line 1: not UTF-8"):
        list(JsonLinesReader(latin))


@pytest.mark.parametrize("line", [b"", b"{", b"hello", b"\xff", b"[" * 100_000])
def test_a_damaged_line_is_named(line: bytes, path: Path) -> None:
    for skip_torn in (False, True):
        reader = JsonLinesReader(io.BytesIO(b"{}\n" + line + b"\n{}\n"), path, skip_torn=skip_torn)
        with pytest.raises(FormatError, match="not JSON") as caught:
            list(reader)
        assert (caught.value.path, caught.value.line) == (path, 2)


def test_a_torn_line_is_an_error_unless_it_may_be_skipped(path: Path) -> None:
    with pytest.raises(FormatError, match="line 2: not JSON"):
        list(JsonLinesReader(io.BytesIO(b'{}\n{"a"'), path))
    reader = JsonLinesReader(io.BytesIO(b'{}\n{"a"'), path, skip_torn=True)
    assert [line.value for line in reader] == [{}]
    assert (reader.end, reader.torn) == (3, b'{"a"')


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty: it is not a diary"),
        (b'{"format":"di', "cut short in its first line: it is not a diary"),
        (b"dear diary", 'not the header of a diary, which begins {"format":"diary"'),
        (b'{"format":"other","version":1}\n', "not the header of a diary"),
        (b"[]\n", "not the header of a diary"),
        (b'{"format":"diary"}\n', "a whole number from 1, not None"),
        (b'{"format":"diary","version":true}\n', "a whole number from 1, not True"),
        (b'{"format":"diary","version":0}\n', "a whole number from 1, not 0"),
        (b'{"format":"diary","version":4}\n', r"a newer release (version 4, this one reads 3): upgrade"),
    ],
)
def test_what_is_not_a_header_is_named(content: bytes, words: str, path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        JsonLinesReader(io.BytesIO(content), path, skip_torn=True).header("diary", 3, "a diary")
    assert words in str(caught.value)
    assert (caught.value.path, caught.value.line) == (path, 1)


def test_a_header_is_returned_with_its_other_fields() -> None:
    content = b'{"format": "diary", "version": 2, "of": "Ann"}\n{"day": 1}\n'
    reader = JsonLinesReader(io.BytesIO(content))
    assert reader.header("diary", 3, "a diary")["of"] == "Ann"
    assert [(line.number, line.value) for line in reader] == [(2, {"day": 1})]
    for begun in (b"", b'{"for', b'{"format":"diary","ver'):
        assert JsonLinesReader(io.BytesIO(begun), skip_torn=True).header_line("diary", 3, "a diary") is None


# -- writing -----------------------------------------------------------------------------------------------------------


def test_lines_are_appended(path: Path) -> None:
    append(path, b'{"a":1}', b"[2]")
    append(path, b"3")
    assert path.read_bytes() == b'{"a":1}\n[2]\n3\n'


def test_what_was_cut_anywhere_is_continued(path: Path) -> None:
    append(path, b'{"a":1}', b'{"b":22}')
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        append(path, b'{"c":3}')
        known = [{"a": 1}] * (length >= 7) + [{"b": 22}] * (length >= 16)
        assert values(path) == [*known, {"c": 3}]
        assert path.read_bytes().count(b"\n") == len(known) + 1


def test_a_file_is_repaired_at_once_or_with_the_next_line(path: Path) -> None:
    append(path, b"1")
    for content, repaired in ((b'1\n{"a"', b"1\n"), (b"1\n{}", b"1\n{}\n"), (b"1\n", b"1\n")):
        path.write_bytes(content)
        with JsonLinesWriter(path, busy=BUSY) as writer:
            with writer.opening() as reader:
                assert next(iter(reader)).value == 1
            writer.open()
            assert path.read_bytes() == content
            writer.repair()
            assert path.read_bytes() == repaired
            writer.append(b"2")
        assert path.read_bytes() == repaired + b"2\n"


def test_a_file_is_cleared(path: Path) -> None:
    append(path, b"1", b"2")
    with JsonLinesWriter(path, busy=BUSY) as writer:
        writer.clear()
        assert path.read_bytes() == b""
        writer.append(b"3")
        writer.sync()
    assert path.read_bytes() == b"3\n"


def test_a_damaged_file_is_left_alone_and_not_locked(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"dear diary\n")
    for _ in range(2):
        with pytest.raises(FormatError, match="line 1"), JsonLinesWriter(path, busy=BUSY).opening():
            pass
    assert path.read_bytes() == b"dear diary\n"
    assert [each.name for each in path.parent.iterdir()] == [path.name], "no lock is left beside a foreign file"


def test_an_error_of_the_caller_closes_the_file(path: Path) -> None:
    writer = JsonLinesWriter(path, busy=BUSY)
    with pytest.raises(InputError, match="not mine"), writer.opening():
        raise InputError("not mine")
    append(path, b"1")
    with pytest.raises(ClosedError):
        writer.append(b"2")


@pytest.mark.parametrize("suffix", [".lock", "-lock"])
def test_contention_is_always_a_locked_file(suffix: str, path: Path) -> None:
    with JsonLinesWriter(path, busy=BUSY, lock_suffix=suffix) as writer:
        assert path.with_name(path.name + suffix).exists()
        with pytest.raises(StoreLockedError, match=BUSY) as caught:
            JsonLinesWriter(path, busy=BUSY, lock_suffix=suffix)
        assert caught.value.path == path
        thread_errors: list[BaseException] = []

        def other() -> None:
            try:
                JsonLinesWriter(path, busy=BUSY, lock_suffix=suffix)
            except StoreLockedError as error:
                thread_errors.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert len(thread_errors) == 1
        writer.append(b"1")
    append(path, b"2")
    assert values(path) == [1, 2]


def test_threads_write_whole_lines(path: Path) -> None:
    with JsonLinesWriter(path, busy=BUSY) as writer:

        def work(number: int) -> None:
            for i in range(50):
                writer.append(orjson.dumps([number, i, "x" * (number * 100)]))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    written = [tuple(value[:2]) for value in values(path) if isinstance(value, list)]
    assert sorted(written) == [(number, i) for number in range(6) for i in range(50)]
    assert all([i for n, i in written if n == number] == list(range(50)) for number in range(6))


def test_a_line_that_cannot_be_written_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with JsonLinesWriter(path, busy=BUSY) as writer:
        writer.append(b"1", fsync=True)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(StoreError, match="a result is lost: No space left"):
                writer.append(b"2", fsync=True, failure="a result is lost")
            with pytest.raises(StoreError, match="No space left"):
                writer.sync()
        assert path.read_bytes() == b"1\n"
        writer.append(b"3", fsync=True)
    assert path.read_bytes() == b"1\n3\n"


def test_a_closed_file_takes_no_line(path: Path) -> None:
    writer = JsonLinesWriter(path, busy=BUSY)
    writer.require_open()
    writer.append(b"1")
    writer.close()
    writer.close()
    for act in (lambda: writer.append(b"2"), writer.require_open, writer.sync, writer.clear, writer.open):
        with pytest.raises(ClosedError, match="open it again"):
            act()
    assert path.read_bytes() == b"1\n"


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Is a directory"):
        JsonLinesWriter(tmp_path, busy=BUSY)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        JsonLinesWriter(tmp_path / "file" / "lines.jsonl", busy=BUSY)
