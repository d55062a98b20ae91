"""Changes by hand: what they do, that they are taken back, and who may make them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from worldthread import Episode, Memory
from worldthread.errors import NotFoundError

pytest.importorskip("starlette")

from worldthread.web import app_state
from worldthread.web.memories import OpenMemory
from worldthread.web.work import Cancelled

pytestmark = pytest.mark.web

FILE = "/api/memories/file"
WRITES = {
    "remember": {"text": "Zoe lives in Paris."},
    "sample": {},
    "correct": {"statement": "0" * 32},
    "merge": {"name": "anna", "into": "rex"},
    "forget": {"ids": ["0" * 32]},
    "undo": {"key": "nothing"},
}


@pytest.fixture
def copied(home_memory: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(home_memory, tmp_path / "copied.worldthread"))


@pytest.fixture
def editor(serve: Callable[..., Any], copied: Path) -> Any:
    client = serve(copied)
    client.app_state.editable = True
    return client


def statements_of(client: Any, name: str) -> dict[str, Any]:
    return {s["text"]: s for s in client.get(f"{FILE}/entity?name={name}").json()["statements"]}


def state(path: Path) -> str:
    with Memory(path, readonly=True, model="none", embedder="fake") as memory:
        return memory.record.graph.state_hash()


@pytest.fixture
def unchanged(copied: Path) -> Iterator[None]:
    before = state(copied)
    yield
    assert state(copied) == before


@pytest.mark.parametrize("path", WRITES)
@pytest.mark.usefixtures("unchanged")
def test_without_the_right_to_change_nothing_is_changed(serve: Callable[..., Any], copied: Path, path: str) -> None:
    answer = serve(copied).post(f"{FILE}/{path}", json=WRITES[path])
    assert (answer.status_code, answer.json()["error"]["kind"]) == (403, "ReadOnlyError")


@pytest.mark.parametrize("path", WRITES)
@pytest.mark.usefixtures("unchanged")
def test_other_pages_and_clients_without_the_token_change_nothing(
    serve: Callable[..., Any], editor: Any, copied: Path, path: str
) -> None:
    for headers in (
        {"sec-fetch-site": "cross-site"},
        {"origin": "http://evil.example"},
        {"host": "evil.example"},
        {"content-type": "text/plain"},
    ):
        answer = editor.post(f"{FILE}/{path}", content=b"{}", headers=headers)
        assert answer.status_code in (400, 403, 421)
    guarded = serve(copied, token="a-token-of-the-tests-0123456789")
    guarded.app_state.editable = True
    assert guarded.post(f"{FILE}/{path}", json=WRITES[path]).status_code == 401
    assert editor.get(f"{FILE}/{path}").status_code == 405


@pytest.mark.parametrize("path", WRITES)
@pytest.mark.usefixtures("unchanged")
def test_memories_of_runs_are_only_read(editor: Any, path: str) -> None:
    assert editor.post(f"/api/memories/run-x/{path}", json=WRITES[path]).status_code in (404, 405)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("remember", {"text": " "}),
        ("remember", {"text": "x", "at": "soon"}),
        ("remember", {"text": "x", "owner": "me"}),
        ("remember", {"text": '{"a": ', "source": "x.json", "is_file": True}),
        ("correct", {"statement": "nothing"}),
        ("correct", {"statement": "0" * 32, "replacement": ["Anna", "lives in"]}),
        ("merge", {"name": "anna", "into": "nobody"}),
        ("merge", {"name": "anna", "into": "anna"}),
        ("forget", {"ids": []}),
        ("forget", {"ids": ["../../etc/passwd"]}),
        ("undo", {"key": "nothing"}),
    ],
)
@pytest.mark.usefixtures("unchanged")
def test_what_cannot_be_changed_is_told(editor: Any, path: str, body: dict[str, Any]) -> None:
    answer = editor.post(f"{FILE}/{path}", json=body)
    assert answer.status_code in (400, 404)
    assert answer.json()["error"]["kind"] != "InternalError"
    assert answer.json()["error"]["message"]


@pytest.mark.usefixtures("unchanged")
def test_a_file_that_cannot_be_read_is_called_by_its_own_name(editor: Any) -> None:
    for name, text, told in (("notes.jsonl", "{", "notes.jsonl, line 1: "), ("", "a\0", "the file: ")):
        answer = editor.post(f"{FILE}/remember", json={"text": text, "source": name, "is_file": True})
        message = answer.json()["error"]["message"]
        assert message.startswith(told)
        assert "upload" not in message


def test_long_texts_are_taken_and_longer_ones_refused(editor: Any) -> None:
    assert editor.post(f"{FILE}/remember", json={"text": "Tea. " * 20_000, "at": "9"}).json()["added"] > 0
    assert editor.post(f"{FILE}/remember", json={"text": "x" * 5_000_000}).status_code == 413


def test_what_is_remembered_is_taken_back(editor: Any, copied: Path) -> None:
    before = state(copied)
    body = {"text": "Zoe lives in Paris.", "at": "5", "source": "a call"}
    told = editor.post(f"{FILE}/remember", json=body).json()
    assert (told["added"], told["known"], told["unread"]) == (1, 0, 0)
    assert "Zoe lives in Paris" in statements_of(editor, "zoe")
    again = editor.post(f"{FILE}/remember", json=body).json()
    assert (again["added"], again["undo"]) == (0, None)
    assert editor.post(f"{FILE}/undo", json={"key": told["undo"]}).status_code == 200
    assert state(copied) == before
    assert editor.post(f"{FILE}/undo", json={"key": told["undo"]}).status_code == 404


def test_a_file_is_read_by_the_form_that_its_name_tells(editor: Any) -> None:
    lines = '{"at": 7, "content": "Zoe lives in Paris."}\n{"at": 8, "content": "Zoe loves tea."}\n'
    name = "../../notes.jsonl"
    told = editor.post(f"{FILE}/remember", json={"text": lines, "source": name, "is_file": True}).json()
    assert told["added"] == 2
    (version,) = statements_of(editor, "zoe")["Zoe lives in Paris"]["versions"]
    source = editor.get(f"{FILE}/episode?id={version['sources'][0]}").json()
    assert (source["source"], source["at"]) == (name, 7.0)


def test_a_correction_and_a_change_are_taken_back(editor: Any, copied: Path) -> None:
    before = state(copied)
    paris = statements_of(editor, "anna")["Anna lives in Paris"]["id"]
    right = ["Anna", "lives in", "Lyon"]
    for has_changed in (False, True):
        body = {"statement": paris, "replacement": right, "reason": "she said so", "has_changed": has_changed}
        told = editor.post(f"{FILE}/correct", json=body).json()
        (version,) = statements_of(editor, "anna")["Anna lives in Paris"]["versions"]
        assert (version["since"] == version["until"]) == (not has_changed)
        assert "Anna lives in Lyon" in statements_of(editor, "anna")
        editor.post(f"{FILE}/undo", json={"key": told["undo"]})
        assert state(copied) == before


def test_names_are_merged_and_parted_again(editor: Any, copied: Path) -> None:
    before = state(copied)
    told = editor.post(f"{FILE}/merge", json={"name": "Rex", "into": "Anna"}).json()
    assert "tea" in str(statements_of(editor, "rex"))
    editor.post(f"{FILE}/undo", json={"key": told["undo"]})
    assert state(copied) == before


def test_what_would_go_is_told_and_then_goes_and_comes_back(editor: Any, copied: Path) -> None:
    before = state(copied)
    ran = editor.get(f"{FILE}/entity?name=rex").json()["statements"][0]["versions"][0]["ended_by"]
    told = editor.get(f"{FILE}/forgetting?episode={ran}").json()
    assert (told["gone"], told["back"]) == ([], ["Anna has dog Rex"])
    told = editor.get(f"{FILE}/forgetting?entity=rex").json()
    assert told["episodes"] == 2
    assert sorted(told["gone"]) == ["Anna has dog Rex", "Anna lives in Paris"]
    assert told["back"] == ["Anna lives in Rome"]
    assert "Rex ran away." in [text["text"] for text in told["texts"]]
    assert state(copied) == before
    gone = editor.post(f"{FILE}/forget", json={"ids": told["ids"]}).json()
    assert gone["forgotten"] == 2
    assert editor.get(f"{FILE}/entity?name=rex").status_code == 404
    (version,) = statements_of(editor, "anna")["Anna lives in Rome"]["versions"]
    assert version["until"] is None
    editor.post(f"{FILE}/undo", json={"key": gone["undo"]})
    assert state(copied) == before


def test_a_change_that_cannot_be_taken_back_now_is_taken_back_later(
    editor: Any, copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_state, "_WAIT", 0.0)
    before = state(copied)
    told = editor.get(f"{FILE}/forgetting?entity=rex").json()
    gone = editor.post(f"{FILE}/forget", json={"ids": told["ids"]}).json()
    with Memory(copied, model="none", embedder="fake"):  # nobody else can write
        answer = editor.post(f"{FILE}/undo", json={"key": gone["undo"]})
        assert (answer.status_code, answer.json()["error"]["kind"]) == (409, "StoreLockedError")
    assert editor.post(f"{FILE}/undo", json={"key": gone["undo"]}).status_code == 200
    assert state(copied) == before


def test_of_several_texts_all_or_none_are_forgotten(copied: Path) -> None:
    before = state(copied)
    with Memory(copied, model="none", embedder="fake") as memory:
        present = list(memory.episodes())
        with pytest.raises(NotFoundError):
            memory.record.forget_many([present[0].id, "0" * 32])
        assert list(memory.episodes()) == present
        assert memory.record.forget_many([]) == []
        assert memory.record.forget_many([one.id for one in present[:2]]) == present[:2]
        assert list(memory.episodes()) == present[2:]
        memory.record.add_many(present[:2])
    assert state(copied) == before


def test_a_memory_that_is_to_be_made_is_empty_and_then_there(serve: Callable[..., Any], tmp_path: Path) -> None:
    client = serve(tmp_path / "new.worldthread")
    client.app_state.editable = True
    assert client.get(f"{FILE}/graph").json()["vertices"] == []
    assert client.get(FILE).json()["counts"]["names"] == 0
    assert client.get("/api/about").json()["editable"]
    assert list(tmp_path.glob("*.worldthread")) == []
    assert client.post(f"{FILE}/remember", json={"text": "Zoe lives in Paris."}).json()["added"] == 1
    assert {v["label"] for v in client.get(f"{FILE}/graph").json()["vertices"]} >= {"Zoe", "Paris"}


def test_an_earlier_record_is_computed_again_from_a_graph_that_was_made_anew(tmp_path: Path) -> None:
    memories = []
    for name in ("Anna", "Zoe"):
        memories.append(Memory(tmp_path / name, model="none", embedder="fake"))
        memories[-1].remember(f"{name} lives in Paris.", at="9")
    opened = OpenMemory(tmp_path, memories[0])
    for name, memory in zip(("anna", "zoe"), memories, strict=True):
        opened.memory = memory
        past, names = opened.graph_recorded(1e12)
        assert past.numbers_about(name)
        assert opened.graph_recorded(1e12) == (past, names)
        memory.close()


def test_sentences_that_restate_a_fact_are_marked_and_names_have_kinds(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    client = serve(tmp_path / "new.worldthread")
    client.app_state.editable = True
    for day, text in (
        ("2016-01-01", "Zoe lives in Paris."),
        ("2018-01-01", "Zoe lives in Rome."),
        ("2018-02-01", "Zoe was glad."),
    ):
        client.post(f"{FILE}/remember", json={"text": text, "at": day})
    told = client.get(f"{FILE}/graph").json()
    assert {v["label"]: v["type"] for v in told["vertices"] if v["kind"] == "entity"} == {
        "Zoe": "person", "Paris": "place", "Rome": "place"
    }  # fmt: skip
    labels = {vertex["id"]: vertex["label"] for vertex in told["vertices"]}
    theses = {labels[e["from"]]: e["restates"] for e in told["edges"] if e["kind"] == "thesis"}
    assert theses == {"Zoe lives in Paris.": True, "Zoe was glad.": False, "Zoe lives in Rome.": True}


def test_a_question_is_answered_as_of_the_time_that_it_names(serve: Callable[..., Any], tmp_path: Path) -> None:
    client = serve(tmp_path / "new.worldthread")
    client.app_state.editable = True
    for day, home in (("2015-01-05", "Bergen"), ("2016-09-04", "Rome"), ("2018-04-11", "Lyon")):
        for text in (f"Anna lives in {home}.", f"Jonas likes {home}."):
            client.post(f"{FILE}/remember", json={"text": text, "at": day})
    asked = client.get(f"{FILE}/ask?q=Where+did+Anna+live+in+2017%3F").json()
    assert (asked["answer"], asked["asked_time"]) == ("Rome", "in 2017")
    assert [s["text"] for s in asked["evidence"]] == ["Anna lives in Rome"]
    assert asked["hits"][0]["text"] == "Anna lives in Rome"
    assert client.get(f"{FILE}/ask?q=Where+does+Anna+live%3F").json()["answer"] == "Lyon"
    assert client.get(f"{FILE}/ask?q=Where+does+Anna+live%3F&at=2015-05-05").json()["answer"] == "Bergen"


@pytest.fixture
def shared(copied: Path) -> Path:
    """A file with the memory of Anna, and one of Zoe in a namespace of its own."""
    with Memory(copied, namespace="zoe", model="none", embedder="fake") as memory:
        memory.remember("Zoe lives in Paris.", at=1)
    return copied


def test_the_other_memories_of_the_file_are_shown_and_changed_apart(serve: Callable[..., Any], shared: Path) -> None:
    client = serve(shared)
    client.app_state.editable = True
    listed = client.get("/api/memories").json()["memories"]
    assert [one["label"] for one in listed] == ["copied.worldthread", "copied.worldthread: zoe"]
    other = f"/api/memories/{listed[1]['key']}"
    before = client.get(FILE).json()["counts"]["texts"]
    done = client.post(f"{other}/remember", json={"text": "I live in Oslo.", "at": "2", "user": "Zoe"}).json()
    assert done["added"] == 1
    assert client.get(f"{FILE}").json()["counts"]["texts"] == before
    held = client.get(f"{other}/entity?name=zoe").json()["statements"]
    assert {one["text"] for one in held if one["held"][0][1] is None} >= {"Zoe lives in Oslo"}  # "I" is Zoe
    assert client.post(f"{FILE}/undo", json={"key": done["undo"]}).status_code == 404
    assert client.post(f"{other}/undo", json={"key": done["undo"]}).status_code == 200
    client.app_state.editable = False
    assert client.post(f"{other}/remember", json={"text": "x"}).status_code == 403


@pytest.mark.parametrize("key", ["namespace-0000000000000000", "namespace-zoe", "namespace-", "run-0000000000000000"])
def test_a_memory_that_is_none_is_not_changed(serve: Callable[..., Any], shared: Path, key: str) -> None:
    client = serve(shared)
    client.app_state.editable = True
    assert client.post(f"/api/memories/{key}/remember", json={"text": "Zoe is tall."}).status_code == 404


def test_long_work_is_shown_and_can_be_cancelled(editor: Any, copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[dict[str, Any]]] = []
    work = editor.app_state.work("file")
    report = work.report

    def reported(done: int, total: int | None) -> None:
        report(done, total)
        seen.append(editor.get(f"{FILE}/work").json()["work"])
        if done:
            assert editor.post(f"{FILE}/work", json={}).status_code == 200

    monkeypatch.setattr(work, "report", reported)
    text = "".join(f'{{"content": "Zoe met Person{n}."}}\n' for n in range(300))
    told = editor.post(f"{FILE}/remember", json={"text": text, "source": "a.jsonl", "is_file": True}).json()
    assert told["was_cancelled"]
    assert 0 < told["added"] < 300
    assert seen[0][0]["what"] == "remembering"
    assert editor.get(f"{FILE}/work").json() == {"work": []}
    assert editor.post(f"{FILE}/undo", json={"key": told["undo"]}).status_code == 200
    foreign = {"origin": "http://evil.example"}
    assert editor.post(f"{FILE}/work", json={}, headers=foreign).status_code == 403


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_undo_leaves_what_others_recorded_meanwhile(
    editor: Any, copied: Path, monkeypatch: pytest.MonkeyPatch, is_cancelled: bool
) -> None:
    work = editor.app_state.work("file")
    report = work.report

    def reported(done: int, total: int | None) -> None:
        if done == 64:
            assert editor.post(f"{FILE}/remember", json={"text": "Zoe is a pilot."}).json()["added"] == 1
            if is_cancelled:
                work.cancel()
        report(done, total)

    monkeypatch.setattr(work, "report", reported)
    text = "".join(f'{{"content": "Zoe met Person{n}.", "speaker": "Ann"}}\n' for n in range(100))
    told = editor.post(f"{FILE}/remember", json={"text": text, "source": "a.jsonl", "is_file": True}).json()
    assert told["was_cancelled"] is is_cancelled
    assert told["added"] == (64 if is_cancelled else 100)
    assert editor.post(f"{FILE}/undo", json={"key": told["undo"]}).status_code == 200
    assert "zoe is pilot" in {one.lower() for one in statements_of(editor, "zoe")}


def test_a_question_that_waits_for_vectors_can_be_cancelled_and_goes_on_later(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "many.worldthread"
    with Memory(path, model="none", embedder="fake") as memory:
        memory.record.add_many([Episode(f"Zoe met Person{number}.", float(number)) for number in range(1200)])
    client = serve(path)
    done = []

    def cancel(count: int, total: int | None) -> None:
        done.append((count, total))
        if count:
            raise Cancelled("cancelled")

    with client.app_state.memory("file") as opened:
        opened.memory.watch_indexing(cancel)
    answer = client.get(f"{FILE}/recall?q=Who+met+Person7%3F")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (409, "Cancelled")
    assert done == [(0, 1200), (512, 1200)]
    with client.app_state.memory("file") as opened:
        opened.memory.watch_indexing(lambda count, total: done.append((count, total)))
    assert client.get(f"{FILE}/recall?q=Who+met+Person7%3F").status_code == 200
    assert done[2] == (0, 688)  # what was embedded is kept
