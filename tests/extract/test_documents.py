from __future__ import annotations

import codecs
import gzip
import io
import json
import random
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worldthread import Memory
from worldthread.errors import FormatError, InputError
from worldthread.extract.documents import SUFFIXES, Document, load, load_all
from worldthread.extract.records import OWN_EXPORT
from worldthread.stores.exchange import FORMAT
from worldthread.types import Episode

MAY = 1714557600.0  # 2024-05-01 10:00 UTC


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_lines(path: Path, *records: Any) -> Path:
    return write(path, "".join(json.dumps(record) + "\n" for record in records))


def test_plain_text_and_markdown_are_one_document(tmp_path: Path) -> None:
    for name in ("a.txt", "b.md", "c.markdown", "d", "e.log"):
        path = write(tmp_path / name, "Héron\n\nNote: a bird.\n\n[1] see above")
        assert list(load(path)) == [Document("Héron\n\nNote: a bird.\n\n[1] see above", None, str(path))]


def test_markdown_is_never_a_conversation(tmp_path: Path) -> None:
    text = "Anna: hi\nBob: yo\nAnna: and?\nBob: well"
    assert [f"{one.speaker}: {one.text}" for one in load(write(tmp_path / "a.txt", text))] == text.split("\n")
    assert [one.text for one in load(write(tmp_path / "a.md", text))] == [text]


def test_json_lines(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "a.jsonl",
        {"text": "A bird.", "title": "Heron", "at": 3, "source": "book"},
        {"passage": "Heron is a bird.", "title": "Heron", "date": "2024-05-01T10:00:00Z", "id": 7},
        {"body": "Alone.", "time": None, "other": [1]},
        {"text": ""},
    )
    assert list(load(path)) == [
        Document("Heron\n\nA bird.", 3.0, "book"),
        Document("Heron is a bird.", MAY, "7"),
        Document("Alone.", None, str(path)),
    ]


def test_messages(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "a.ndjson",
        {"role": "user", "content": "I live in Oslo."},
        {"role": "assistant", "content": None, "tool_calls": []},
        {
            "role": "assistant",
            "name": "Helper",
            "content": [{"type": "text", "text": "Nice"}, {"type": "image_url"}, "!"],
        },
        {"from": "Anna", "message": "hi", "timestamp": MAY, "source": "forum"},
        {"author": {"name": "Bob"}, "content": "yo", "timestamp": "2024-05-01T10:00:00.5+00:00", "id": "9"},
    )
    assert list(load(path)) == [
        Document("I live in Oslo.", None, str(path), "user"),
        Document("Nice!", None, str(path), "Helper"),
        Document("hi", MAY, "forum", "Anna"),
        Document("yo", MAY + 0.5, str(path), "Bob"),
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([{"text": "One."}, {"text": "Two.", "at": 2}], [("", "One.", None), ("", "Two.", 2.0)]),
        ({"text": "One."}, [("", "One.", None)]),
        ({"messages": [{"role": "user", "content": "hi"}]}, [("user", "hi", None)]),
        ([{"type": "message", "user": "U1", "text": "hi", "ts": "1714557600.25"}], [("U1", "hi", MAY + 0.25)]),
        ([{"user": "U1", "user_profile": {"real_name": "Anna"}, "text": "hi"}], [("Anna", "hi", None)]),
        ({"conversations": [{"from": "human", "value": "hi"}]}, [("human", "hi", None)]),
        ([], []),
    ],
)
def test_json(tmp_path: Path, value: Any, expected: list[tuple[str, str, float | None]]) -> None:
    for name in ("a.json", "a.txt"):
        path = write(tmp_path / name, json.dumps(value, indent=1))
        assert list(load(path)) == [Document(text, at, str(path), speaker) for speaker, text, at in expected]


def test_a_conversation_with_a_name_says_so_in_the_source(tmp_path: Path) -> None:
    export = {"name": "Family", "messages": [{"from": "Anna", "text": ["see ", {"type": "link", "text": "this"}]}]}
    path = write(tmp_path / "a.json", json.dumps(export))
    assert list(load(path)) == [Document("see this", None, f"{path}: Family", "Anna")]


def test_json_lines_under_other_names(tmp_path: Path) -> None:
    for name in ("a.json", "a.txt", "a"):
        path = write(tmp_path / name, '\n{"text": "One."}\n\n{"text": "Two."}\n')
        assert [one.text for one in load(path)] == ["One.", "Two."]


def test_a_chat_in_plain_text(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.txt", "[2024-05-01 10:00] Anna: hi\nall\n[2024-05-01 10:01] Bob: yo\n")
    assert list(load(path)) == [
        Document("hi\nall", MAY, str(path), "Anna"),
        Document("yo", MAY + 60, str(path), "Bob"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "this is a list; wanted is a text"),
        ("null", "this is null"),
        ('{"a": 1, "b": 2}', "no text found.*the fields here are 'a', 'b'"),
        ('{"text": 5}', "'text' must be a string, not a number"),
        ('{"role": "user", "content": [5]}', "parts of the field 'content'"),
        ('{"role": [], "content": "x", "user": [1]}', "'user' must be a string"),
        ('{"text": "x", "at": "soon"}', "the field 'at': a time must be a number"),
        ('{"text": "x", "at": true}', "the field 'at'"),
        ('{"text": "x", "at": NaN}', "not JSON"),
        ('{"text": "x", "at": 1e999}', "(finite|not JSON)"),
        ('{"text": "a\\u0000b"}', "NUL"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "a.jsonl", f'{{"text": "One."}}\n\n{line}\n')
    documents = load(path)
    assert next(documents).text == "One."
    with pytest.raises(FormatError, match=f"line 3: .*{message}") as caught:
        next(documents)
    assert (caught.value.path, caught.value.line) == (path, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "not JSON"), ('"a"', "a string"), ('[{"text": "x"}, 3]', "entry 2: this is a number")],
)
def test_json_that_cannot_be_used(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        list(load(write(tmp_path / "a.json", content)))


def test_an_export_of_a_memory_is_refused_with_what_to_do(tmp_path: Path) -> None:
    assert OWN_EXPORT == FORMAT
    with Memory() as memory:
        memory.record.add(Episode("The key is in the chest.", at=1))
        for name in ("a.jsonl", "a.json", "a.txt"):
            with (tmp_path / name).open("wb") as stream:
                memory.export(stream)
            with pytest.raises(FormatError, match="worldthread import"):
                list(load(tmp_path / name))


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.json", "a.jsonl"])
@pytest.mark.parametrize(
    "content", [b"", b"\n\n \n", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, gzip.compress(b"", mtime=0)]
)
def test_an_empty_file_gives_nothing(tmp_path: Path, name: str, content: bytes) -> None:
    assert list(load(write(tmp_path / name, content))) == []


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.jsonl", "a.json"])
def test_encodings(tmp_path: Path, name: str) -> None:
    text = "Zoë and 漢字 🐦" if name in ("a.txt", "a.md") else '{"text": "Zoë and 漢字 🐦"}'
    coded = [
        text.encode(),
        codecs.BOM_UTF8 + text.encode(),
        codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    ]
    for content in (*coded, *map(gzip.compress, coded)):
        path = write(tmp_path / name, content)
        assert list(load(path)) == [Document("Zoë and 漢字 🐦", None, str(path))]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Zoë".encode("latin-1"), "byte 2 is not UTF-8"),
        (codecs.BOM_UTF8 + b"ab\xff", "byte 5 is not UTF-8"),
        (b"a" * 3_000_000 + "ë".encode()[:1], "byte 3000000 is not UTF-8"),
        (b"a" * (2**20 - 1) + b"\xc3\xa9\xff", f"byte {2**20 + 1} is not UTF-8"),
        (b"a" * (2**20 - 1) + b"\xc3\xa9\x00", f"byte {2**20 + 1} is the character NUL"),
        ("é\0".encode(), "byte 2 is the character NUL"),
        (codecs.BOM_UTF16_LE + b"a\0\0\0", "byte 4 is the character NUL"),
        (codecs.BOM_UTF16_LE + b"a", "byte 2 is not UTF-16-LE"),
        ("ab".encode("utf-16-le"), "byte 1 is the character NUL"),
        (random.Random(1).randbytes(10_000), "byte"),
        (b"\x1f\x8bnot gzip", "damaged gzip"),
        (gzip.compress(b"a" * 1000)[:-9], "damaged gzip"),
    ],
    ids=range(12),
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    for name in ("a.txt", "a.jsonl"):
        with pytest.raises(FormatError, match=message) as caught:
            list(load(write(tmp_path / name, content)))
        assert caught.value.path == tmp_path / name


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.txt cannot be read"):
        list(load(tmp_path / "missing.txt"))
    with pytest.raises(InputError, match="is a folder"):
        list(load(tmp_path))


def test_folders_are_read_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("b.txt", "a.md", "sub/c.jsonl.gz", "sub/deep/d.TXT", ".hidden/e.txt", ".f.txt", "g.py", "h.png"):
        content = '{"text": "c"}' if "jsonl" in name else Path(name).stem
        write(tmp_path / name, gzip.compress(content.encode()) if name.endswith(".gz") else content)
    last = write(tmp_path / "g.py", "print()")
    found = list(load_all([tmp_path, str(last)]))
    assert [one.text for one in found] == ["a", "b", "c", "d", "print()"]
    assert found[2].source == str(tmp_path / "sub" / "c.jsonl.gz")
    write(tmp_path / "none" / "x.py", "")
    with pytest.raises(InputError, match=r"holds no file that ends in \.txt"):
        list(load_all([tmp_path / "none"]))
    assert ".jsonl" in SUFFIXES


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    def given(content: str) -> list[Document]:
        data = gzip.compress(content.encode()) if packed else content.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return list(load_all(["-"]))

    assert given("It rains.") == [Document("It rains.", None, "standard input")]
    assert given('{"text": "It rains.", "at": 1}\n') == [Document("It rains.", 1.0, "standard input")]
    with pytest.raises(FormatError, match="input, line 2"):
        given('{"text": "It rains."}\n{}')


def test_json_lines_are_streamed(tmp_path: Path) -> None:
    line = orjson.dumps({"text": "word " * 2000}) + b"\n"
    path = tmp_path / "a.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(5000):
            stream.write(line)
    tracemalloc.start()
    count = sum(1 for _ in load(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 5000
    assert peak < 12_000_000, "50 MB in all"


def test_a_long_line_takes_linear_time(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", orjson.dumps({"text": "x" * 30_000_000}))
    assert [len(one.text) for one in load(path)] == [30_000_000]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "content", "role", "user", "messages", "at", "title", "id"]), inside)
    ),
)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.binary() | st.text().map(str.encode) | json_values.map(json.dumps).map(str.encode))
def test_any_content_gives_documents_or_our_own_error(tmp_path: Path, content: bytes) -> None:
    for name in ("a.txt", "a.md", "a.json", "a.jsonl"):
        try:
            documents = list(load(write(tmp_path / name, content)))
        except InputError:
            continue
        assert all(Episode(one.text, one.at or 0.0, one.source) for one in documents), "each can be remembered"


# -- what unpacks to far more than it is ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.gz", "a.json.gz", "a.md.gz"])
@pytest.mark.parametrize("line", [b"a" * 100, b"\n" * 100, b'{"text": "Anna lives in Rome."}\n', b" " * 100])
def test_gzip_data_that_unpack_to_far_more_than_text_does_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, line: bytes
) -> None:
    from worldthread.extract import documents

    monkeypatch.setattr(documents, "_UNPACKED_FREELY", 1 << 16)
    monkeypatch.setattr(documents, "_BLOCK", 1 << 16)
    (tmp_path / name).write_bytes(gzip.compress(line * 60_000))
    with pytest.raises(FormatError, match=r"more than 200 times their size.*gunzip|empty lines"):
        for _ in load(tmp_path / name):
            pass


def test_compressed_text_of_any_length_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from worldthread.extract import documents

    monkeypatch.setattr(documents, "_UNPACKED_FREELY", 1 << 16)
    monkeypatch.setattr(documents, "_BLOCK", 1 << 16)
    lines = [b'{"text": "Person %d lives in town %d."}\n' % (n, n * n) for n in range(20_000)]
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b"".join(lines)))
    assert sum(1 for _ in load(tmp_path / "a.jsonl.gz")) == 20_000


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.json", "a.md", "a.txt.gz"])
def test_a_text_that_is_too_long_to_be_kept_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from worldthread.extract import documents

    monkeypatch.setattr(documents, "_LONGEST_TEXT", 1000)
    monkeypatch.setattr(documents, "_BLOCK", 100)
    for size, is_long in ((900, False), (1100, True)):
        content = b'{"text": "' + b"x" * (size - 12) + b'"}'
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        if is_long:
            with pytest.raises(FormatError, match="more than 1,000 characters: split it"):
                list(load(tmp_path / name))
        else:
            assert len(list(load(tmp_path / name))) == 1
