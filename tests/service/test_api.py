"""What the API does with one memory: remember, look up, change, forget, export."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from worldthread import Memory

pytestmark = pytest.mark.serve

ANNA = "/v1/namespaces/anna"
FAMILY = "/v1/namespaces/family"


def ended(client: Any, address: str) -> Any:
    """Wait until a job has ended."""
    while True:
        job = client.get(address).json()
        if job["ended"] is not None:
            return job
        time.sleep(0.05)


def test_what_is_remembered_is_found_with_its_times(serve: Callable[..., Any]) -> None:
    client = serve()("anna")
    for text, at in (("Anna lives in Rome.", "2023-05-01"), ("Anna moved to Paris.", "2024-03-01")):
        stored = client.post(f"{ANNA}/remember", json={"text": text, "at": at, "user": "anna"})
        assert (stored.status_code, stored.json()["added"]) == (200, 1)
    found = client.post(f"{ANNA}/recall", json={"question": "Where does Anna live?", "k": 5.0}).json()
    assert "Anna lives in Paris" in found["text"]
    assert found["statements"][0]["since"] == "2024-03-01"
    question = {"question": "Where did Anna live?", "as_of": "2023-12-31"}
    assert client.post(f"{ANNA}/ask", json=question).json()["answer"] == "Rome"
    assert client.post(f"{ANNA}/ask", json={"question": "What does Zoe eat?"}).json()["answer"] is None
    question = {"question": "Where did Anna live in 2023?"}
    asked = client.post(f"{ANNA}/ask", json=question).json()
    assert (asked["answer"], asked["asked_time"]) == ("Rome", "in 2023")
    then = client.post(f"{ANNA}/recall", json=question).json()
    assert then["asked_time"] == "in 2023"
    assert "Paris" not in then["text"]
    held = client.post(f"{ANNA}/timeline", json={"entity": "Anna"}).json()["statements"]
    assert [(one["text"], one["until"]) for one in held if one["kind"] == "fact"] == [
        ("Anna lives in Rome", "2024-03-01"), ("Anna lives in Paris", None),
    ]  # fmt: skip
    holds = client.post(f"{ANNA}/about", json={"entity": "ANNA", "as_of": 1e9}).json()
    assert holds["statements"] == []
    assert client.get(f"{ANNA}/entities", params={"prefix": "p"}).json() == {"entities": ["paris"], "left_out": 0}
    assert client.get(ANNA).json()["counts"]["episodes"] == 2
    assert client.get(FAMILY).json()["counts"]["episodes"] == 0


def test_conversations_facts_users_and_filters(serve: Callable[..., Any]) -> None:
    client = serve()("anna")
    messages = [{"role": "Anna", "content": "I like tea."}, {"role": "assistant", "content": "Noted."}]
    body = {"messages": messages, "at": "2024-01-01", "user": "anna", "session": "s1", "metadata": {"topic": "drinks"}}
    assert client.post(f"{ANNA}/remember", json=body).json()["added"] == 2
    triples = [{"subject": "Bob", "relation": "works for", "object": "Acme"}]
    of_bob = {"triples": triples, "at": "2024-01-02", "user": "bob"}
    assert client.post(f"{ANNA}/remember", json=of_bob).json()["added"] == 1
    assert client.get(f"{ANNA}/users").json()["users"] == [
        {"user": "anna", "episodes": 2}, {"user": "bob", "episodes": 1},
    ]  # fmt: skip
    where = {"metadata": {"topic": ["drinks", "food"]}, "session": "s1"}
    listed = client.post(f"{ANNA}/episodes", json={"where": where}).json()["episodes"]
    assert [one["text"] for one in listed] == ["Anna: I like tea.", "assistant: Noted."]
    assert listed[0]["metadata"] == {"topic": "drinks"}
    one = client.get(f"{ANNA}/episodes/{listed[0]['id']}").json()
    assert one == listed[0]
    found = client.post(f"{ANNA}/recall", json={"question": "Acme", "where": {"user": "anna"}}).json()
    assert "Acme" not in json.dumps(found)
    body = {"where": {"user": "anna"}, "dry_run": True}
    assert client.post(f"{ANNA}/forget", json=body).json()["would_forget"] == 2
    assert client.post(f"{ANNA}/forget", json=body | {"dry_run": False}).json()["forgotten"] == 2
    assert client.get(f"{ANNA}/users").json()["users"] == [{"user": "bob", "episodes": 1}]
    assert client.post(f"{ANNA}/forget", json=body).status_code == 404


def test_pages_follow_one_another(serve: Callable[..., Any]) -> None:
    client = serve()("anna")
    triples = [{"subject": f"S{n}", "relation": "knows", "object": "Bob"} for n in range(5)]
    client.post(f"{ANNA}/remember", json={"triples": triples, "at": 1})
    seen, cursor = [], None
    while True:
        page = client.post(f"{ANNA}/statements", json={"limit": 2, "cursor": cursor}).json()
        seen += [one["text"] for one in page["statements"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert sorted(seen) == [f"S{n} knows Bob" for n in range(5)]
    for kind in ("statements", "episodes"):
        assert client.post(f"{ANNA}/{kind}", json={"cursor": "1/2"}).status_code == 404


def test_changes_corrections_and_merges(serve: Callable[..., Any]) -> None:
    client = serve()("anna")
    client.post(f"{ANNA}/remember", json={"text": "Anna lives in Rome. Tom works for Acme.", "at": "2020-01-01"})
    listed = client.post(f"{ANNA}/statements", json={"where": {"relation": "lives in"}}).json()["statements"]
    fact = next(one for one in listed if one["kind"] == "fact")
    paris = {"subject": "Anna", "relation": "lives in", "object": "Paris"}
    body = {"statement": fact["id"], "replacement": paris, "at": "2024-01-01", "reason": "she moved"}
    episode = client.post(f"{ANNA}/update", json=body).json()["episode"]
    assert client.get(f"{ANNA}/episodes/{episode}").status_code == 200
    tom = {"subject": "Tom", "relation": "works for", "object": "Acme"}
    assert client.post(f"{ANNA}/correct", json={"statement": tom}).status_code == 200
    texts = [one["text"] for one in client.post(f"{ANNA}/statements", json={}).json()["statements"]]
    assert "Anna lives in Paris" in texts
    assert "Tom works for Acme" not in texts
    same = client.post(f"{ANNA}/correct", json={"statement": paris, "replacement": paris})
    assert (same.status_code, "says the same" in same.json()["detail"]) == (409, True)
    assert client.post(f"{ANNA}/merge", json={"name": "Anna", "into": "Anna Rossi"}).status_code == 200
    assert client.post(f"{ANNA}/about", json={"entity": "Anna Rossi"}).json()["statements"]
    assert client.post(f"{ANNA}/update", json={"statement": "0" * 32}).status_code == 404
    listed = client.post(f"{ANNA}/statements", json={"where": {"relation": "lives in"}}).json()["statements"]
    paris_id = next(one["id"] for one in listed if one["text"] == "Anna Rossi lives in Paris")
    for given in ({"statement": paris_id}, {"entity": "Tom"}, {"where": {}}):
        count = client.post(f"{ANNA}/forget", json=given | {"dry_run": True}).json()["would_forget"]
        assert client.post(f"{ANNA}/forget", json=given).json()["forgotten"] == count >= 1
    assert client.get(f"{ANNA}/episodes/{episode}").status_code == 404
    assert client.get(ANNA).json()["counts"]["episodes"] == 0


def test_an_export_imports_as_the_same_state(serve: Callable[..., Any]) -> None:
    made = serve()
    client = made("anna")
    for number in range(20):
        client.post(f"{ANNA}/remember", json={"text": f"Anna met Bob{number}.", "at": number, "user": f"u{number % 2}"})
    exported = client.post(f"{ANNA}/export", json={})
    assert exported.headers["content-type"] == "application/x-ndjson"
    assert len(exported.content.splitlines()) == 21
    headers = {"content-type": "application/x-ndjson"}
    sent = client.post(f"{FAMILY}/import", content=exported.content, headers=headers)
    assert sent.status_code == 202
    job = ended(client, sent.headers["location"])
    assert (job["state"], job["done"], job["total"], job["result"]) == ("done", 20, 20, {"added": 20, "known": 0})
    with made.service.memories.using("anna") as one, made.service.memories.using("family") as other:
        assert one.record.state_hash() == other.record.state_hash()
    some = client.post(f"{ANNA}/export", json={"where": {"user": "u0"}}).content
    assert len(some.splitlines()) == 11
    damaged = exported.content.replace(b"Bob7", b"Bob8")
    failed = ended(client, client.post(f"{FAMILY}/import", content=damaged, headers=headers).headers["location"])
    assert failed["state"] == "failed"
    assert "line 9" in failed["problem"]
    assert client.post(f"{FAMILY}/import", content=b"x", headers={"content-type": "text/plain"}).status_code == 415
    assert len(client.get(f"{FAMILY}/jobs").json()["jobs"]) == 2


def test_what_cannot_be_used_is_refused_with_its_place(serve: Callable[..., Any]) -> None:
    client = serve()("anna")
    for path, body, place in (
        ("recall", {"question": " "}, "body.question"),
        ("recall", {"question": "x", "k": True}, "body.k"),
        ("recall", {"question": "x", "k": "5"}, "body.k"),
        ("recall", {"question": "x", "colour": "red"}, "body.colour"),
        ("recall", {"question": "x", "as_of": "2024-13-01"}, "body.as_of"),
        ("recall", {"question": "x", "as_of": "soon"}, "body.as_of"),
        ("recall", {"question": "x", "where": {"user": []}}, "body.where.user"),
        ("remember", {}, "body.text"),
        ("remember", {"text": "x", "messages": []}, "body.messages"),
        ("remember", {"text": "Anna", "at": True}, "body.text.at"),
        ("remember", {"text": "Anna", "metadata": {"a": None}}, "body.text.metadata"),
        ("forget", {"where": {}, "dry_run": 0}, "body.where.dry_run"),
        ("forget", {"entity": "a", "episode": "b"}, "body.episode"),
        ("forget", {}, "body.where"),
    ):
        refused = client.post(f"{ANNA}/{path}", content=json.dumps(body), headers={"content-type": "application/json"})
        assert refused.status_code == 422, (path, body)
        assert refused.headers["content-type"] == "application/problem+json"
        assert any(fault["place"].startswith(place) for fault in refused.json()["faults"]), refused.json()
    deep = b"[" * 100_000
    for content in (b"{", b"\xff", deep, b'{"question": NaN}', b""):
        refused = client.post(f"{ANNA}/recall", content=content, headers={"content-type": "application/json"})
        assert refused.status_code in (400, 422)
    assert client.get(ANNA).json()["counts"]["episodes"] == 0
    assert client.get("/v1/nothing").status_code == 404
    assert client.delete(ANNA).status_code == 405


def test_what_other_programs_send(serve: Callable[..., Any]) -> None:
    client = serve()("anna")
    headers = {"content-type": "application/json"}

    def sent(path: str, **body: Any) -> Any:
        answer = client.post(f"{ANNA}/{path}", content=json.dumps(body), headers=headers)
        assert answer.status_code == 200, answer.json()
        return answer.json()

    names = ("at", "source", "user", "agent", "session", "metadata", "messages", "triples")
    assert sent("remember", text="Ines plays the oboe.", **dict.fromkeys(names))["added"] == 1
    turns = [
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "I tune"}, {"type": "text", "text": "pianos \ud83d"}],
        },
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f"}}]},
        {"type": "function_call_output", "call_id": "1", "output": "440"},
    ]
    done = sent("remember", messages=turns, text=None, user="ines")
    assert (done["added"], done["skipped"]) == (1, 2)
    found = sent("recall", question="Who tunes pianos?", **dict.fromkeys(("kinds", "max_tokens", "min_score", "where")))
    assert "ines: I tune\npianos \ufffd" in [one["text"] for one in found["passages"]]
    sent("about", entity="ines", limit=None, as_of=None)
    sent("forget", entity="ines", episode=None, statement=None, where=None, dry_run=True)
    deep: Any = "x"
    for _ in range(800):
        deep = [deep]
    answer = client.post(f"{ANNA}/remember", content=json.dumps({"messages": [{"content": deep}]}), headers=headers)
    assert answer.status_code == 422


def test_a_service_and_other_writers_share_a_file(serve: Callable[..., Any], tmp_path: Any) -> None:
    client = serve(most_open=1)("anna")
    for number in range(3):
        client.post(f"{ANNA}/remember", json={"text": f"Anna met Bob{number}.", "at": number})
        client.post(f"{FAMILY}/remember", json={"text": f"Tom met Zoe{number}.", "at": number})
        with Memory(tmp_path / "m", namespace="anna", wait=30, model="none", embedder="fake") as memory:
            assert f"bob{number}" in memory.entities()
            memory.remember(f"Anna met Carl{number}.", at=number)
        assert f"carl{number}" in client.get(f"{ANNA}/entities").json()["entities"]
    assert client.get("/ready").status_code == 200


def test_nothing_changes_in_a_service_that_only_reads(serve: Callable[..., Any], tmp_path: Any) -> None:
    with Memory(tmp_path / "m", namespace="anna", model="none", embedder="fake") as memory:
        memory.remember("Anna lives in Rome.", at=1)
    client = serve(readonly=True)("anna")
    assert "Rome" in client.post(f"{ANNA}/recall", json={"question": "Anna"}).json()["text"]
    refused = client.post(f"{ANNA}/remember", json={"text": "Anna lives in Paris."})
    assert refused.status_code == 403
    assert "--readonly" in refused.json()["detail"]
