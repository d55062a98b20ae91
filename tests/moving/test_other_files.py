"""Files as people have them: archives, folders, encodings, languages, and damage in one place."""

from __future__ import annotations

import codecs
import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from worldthread import Memory
from worldthread.errors import FormatError, InputError
from worldthread.moving import import_dump, read_dump
from worldthread.types import Fact


def conversation(id_: str, text: str, **more: Any) -> dict[str, Any]:
    message = {"author": {"role": "user"}, "create_time": 1.7e9, "content": {"content_type": "text", "parts": [text]}}
    mapping = {"a": {"id": "a", "parent": None, "message": message}}
    return {"conversation_id": id_, "current_node": "a", "mapping": mapping, **more}


TWO = [conversation("c1", "Ines tunes pianos."), conversation("c2", "cut \ud83d")]


def texts(path: Path) -> list[str]:
    return [one.text for one in read_dump(path).contents]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_and_half_a_character(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(json.dumps(TWO).encode(encoding))
    assert texts(path) == ["Ines tunes pianos.", "cut \ufffd"]
    chat = tmp_path / "chat.txt"
    chat.write_bytes("15/03/2024, 21:05 - In\u00e9s: Hello.\n".encode(encoding))
    assert texts(chat) == ["Hello."]


def test_a_damaged_conversation_is_counted_and_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([*TWO, conversation("c3", "Lost.", current_node="gone")]))
    with Memory(model="none", embedder="fake") as memory:
        done = import_dump(memory, path)
        assert (done.remembered, done.left_out) == (2, {"in damaged conversations": 1})
        assert "gone" in done.problems[0]
    path.write_text(json.dumps([conversation("c3", "Lost.", current_node="gone")]))
    with pytest.raises(FormatError, match="gone"):
        read_dump(path)


@pytest.mark.parametrize("damaged", [None, {"title": "empty"}, []], ids=["null", "no messages", "a list"])
def test_a_file_that_begins_with_a_damaged_conversation_is_known(tmp_path: Path, damaged: object) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([damaged, *TWO]))
    with Memory(model="none", embedder="fake") as memory:
        assert import_dump(memory, path).remembered == 2


def test_archives_and_folders_are_read_where_they_are(tmp_path: Path) -> None:
    packed = tmp_path / "export.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("conversations.json", json.dumps(TWO))
        archive.writestr("user.json", "{}")
        archive.writestr("../../picture.png", b"\x89PNG")
    assert texts(packed) == ["Ines tunes pianos.", "cut \ufffd"]
    assert read_dump(packed).left_out == {"in files that are no conversations": 1}
    chat = tmp_path / "WhatsApp Chat with Ines.zip"
    with zipfile.ZipFile(chat, "w") as archive:
        archive.writestr("_chat.txt", "[15/03/2024, 21:05:01] Ines: Hello.\n")
    (hello,) = read_dump(chat).contents
    assert hello.session == "WhatsApp Chat with Ines"
    folder = tmp_path / "many"
    folder.mkdir()
    for number, one in enumerate(TWO):
        (folder / f"conversations-{number}.json").write_text(json.dumps([one]))
    (folder / "notes.txt").write_text("A note.")
    assert texts(folder) == ["Ines tunes pianos.", "cut \ufffd"]


def test_an_archive_that_is_too_large_damaged_or_empty_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b" " * 100_000)
    monkeypatch.setattr("worldthread.moving.files.MAX_DUMP_BYTES", 50_000)
    with pytest.raises(FormatError, match="more than 50000 bytes"):
        read_dump(path)
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(FormatError, match="cannot be read"):
        read_dump(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.png", b"x")
    with pytest.raises(FormatError, match="no file in it"):
        read_dump(path)


EVENING = datetime(2024, 3, 15, 21, 5, tzinfo=UTC).timestamp()
LINES = {
    "French": "15/03/2024 \u00e0 21:05 - Ines: Salut.",
    "German": "15.03.24, 21:05 - Ines: Hallo.",
    "Spanish": "15/3/24, 9:05\u202fp.\u00a0m. - Ines: Hola.",
    "Portuguese": "15/03/2024 21:05 - Ines: Ol\u00e1.",
    "Dutch": "15-03-2024 21:05 - Ines: Hoi.",
    "Finnish": "15.3.2024 klo 21.05 - Ines: Moi.",
    "Swedish": "2024-03-15 21:05 - Ines: Hej.",
    "Hungarian": "2024. 03. 15. 21:05 - Ines: Szia.",
    "Chinese": "2024/3/15 \u4e0b\u53489:05 - Ines: \u4f60\u597d",
    "Japanese": "[2024/03/15 \u5348\u5f8c9:05:00] Ines: \u3084\u3042",
    "Korean": "2024\ub144 3\uc6d4 15\uc77c \uc624\ud6c4 9:05, Ines : \uc548\ub155",
    "Korean, iOS": "24. 3. 15. \uc624\ud6c4 9:05 - Ines: \uc548\ub155",
    "Arabic": "\u200f[\u0661\u0665\u200f/\u0663\u200f/\u0662\u0660\u0662\u0664"
    "\u060c \u0669:\u0660\u0665:\u0660\u0660 \u0645] Ines: \u0645\u0631\u062d\u0628\u0627",
    "English, 12 hours": "3/15/24, 9:05 PM - Ines: Hello.",
}


@pytest.mark.parametrize("language", LINES)
def test_chats_of_many_languages(tmp_path: Path, language: str) -> None:
    path = tmp_path / "chat.txt"
    path.write_text(LINES[language] + "\n", encoding="utf-8")
    (message,) = read_dump(path, "whatsapp").contents
    assert (message.at, getattr(message, "speaker", "")) == (EVENING, "Ines")


def test_what_a_chat_does_not_tell_is_said(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("02/05/18, 18:00 - Ines: Hello.\n")
    with pytest.raises(InputError, match="date-order"):
        read_dump(path)
    path.write_text("15/03/24, 9:05 qx - Ines: Hello.\n")
    with pytest.raises(FormatError, match="before or after noon"):
        read_dump(path)


def test_metadata_of_mem0_and_memories_that_expired(tmp_path: Path) -> None:
    row = {
        "id": "1", "memory": "Ines lives in Lima.", "user_id": "ines", "created_at": "2024-01-01",
        "categories": ["home"],
        "expiration_date": "2024-08-01",
        "metadata": {"tags": ["x"], "src": {"app": "web"}, "long": "x" * 20_000},
    }  # fmt: skip
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"results": [row, {"id": "2", "memory": 5, "created_at": "2024-01-01"}]}))
    with Memory(model="none", embedder="fake") as memory:
        done = import_dump(memory, path, "mem0")
        assert done.left_out == {"in damaged memories": 1}
        first = next(memory.episodes())
        assert (first.metadata["tags"], first.metadata["categories"]) == ('["x"]', '["home"]')
        assert json.loads(first.payload) == {"long": "x" * 20_000}
        assert memory.view("2024-07-31").facts(relation="lives in") == [Fact("Ines", "lives in", "Lima")]
        assert memory.view("2024-08-02").facts(relation="lives in") == []
        assert import_dump(memory, path, "mem0").added == 0


def test_what_was_attached_for_claude_is_read(tmp_path: Path) -> None:
    attachments = [{"file_name": "a.txt", "extracted_content": "Ines plays the oboe."}, {"file_name": "b.png"}]
    message = {
        "uuid": "m", "sender": "human", "created_at": "2024-03-01", "text": "See.", "content": [],
        "attachments": attachments,
    }  # fmt: skip
    path = tmp_path / "conversations.json"
    path.write_bytes(codecs.BOM_UTF8 + json.dumps([{"uuid": "c", "name": "n", "chat_messages": [message]}]).encode())
    found = read_dump(path)
    assert [one.text for one in found.contents] == ["See.", "Ines plays the oboe."]
    assert found.contents[1].metadata["attachment"] == "a.txt"
    assert found.left_out == {"of attachments without text": 1}


BODY = json.dumps([{"id": "1", "memory": "Anna lives in Rome.", "user_id": "a", "created_at": "2024-01-01T00:00:00Z"}])


def archive(method: int) -> bytearray:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as file:
        file.writestr("a.json", BODY)
    return bytearray(stream.getvalue())


def damaged(kind: str) -> bytes:
    match kind:
        case "bzip2" | "lzma":
            data, first = archive(zipfile.ZIP_BZIP2 if kind == "bzip2" else zipfile.ZIP_LZMA), 36
            data[first + (10 if kind == "bzip2" else 14)] ^= 255
        case "offset of the directory":
            data = archive(zipfile.ZIP_DEFLATED)
            data[data.rindex(b"PK\x05\x06") + 18] = 0x7F
        case "name that is not UTF-8":
            data = archive(zipfile.ZIP_DEFLATED)
            entry = data.rindex(b"PK\x01\x02")
            data[entry + 9] |= 8
            data[entry + 46] = 0xFF
        case "half a character":
            return codecs.BOM_UTF16_LE + BODY.encode("utf-16-le") + b"x"
        case _:
            return BODY.replace('"id"', f'"metadata": {{"x": {"[" * 990}{"]" * 990}}}, "id"').encode()
    return bytes(data)


@pytest.mark.parametrize(
    "kind", ["bzip2", "lzma", "offset of the directory", "name that is not UTF-8", "half a character", "depth"]
)
def test_a_damaged_file_gives_an_error_of_ours(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "memories"
    path.write_bytes(damaged(kind))
    with Memory(model="none", embedder="fake") as memory, pytest.raises(InputError):
        import_dump(memory, path, "mem0")
