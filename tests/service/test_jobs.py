"""Requests that are sent twice, and long work."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from worldthread import Memory

pytestmark = pytest.mark.serve

MESSAGES = [{"role": "Anna", "content": f"I met Person{number}."} for number in range(100)]
REMEMBER = "/v1/namespaces/anna/remember"


def test_a_request_that_is_sent_twice_is_stored_once(serve: Callable[..., Any], tmp_path: Any) -> None:
    made = serve()
    client = made("anna")
    body = {"text": "Anna lives in Rome.\n\nShe works for Acme."}
    headers = {"idempotency-key": "k-1"}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: client.post(REMEMBER, json=body, headers=headers), range(8)))
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert sum(answer.json()["added"] > 0 for answer in answers if answer.status_code == 200) == 1
    again = client.post(REMEMBER, json=body, headers=headers)
    assert (again.json()["added"], again.headers["idempotency-replayed"]) == (0, "true")
    other = client.post(REMEMBER, json={"text": "Anna lives in Paris."}, headers=headers)
    assert other.status_code == 409
    assert "new key" in other.json()["detail"]
    assert client.post(REMEMBER, json=body, headers={"idempotency-key": "k-2"}).json()["added"] > 0
    # another service, or the same one after a restart, knows the key from the record
    made = serve()
    client = made("anna")
    again = client.post(REMEMBER, json=body, headers=headers)
    assert (again.json()["added"], again.headers["idempotency-replayed"]) == (0, "true")
    assert client.post(REMEMBER, json={"text": "Other."}, headers=headers).status_code == 409
    # keys are of one memory
    family = client.post(REMEMBER.replace("anna", "family"), json={"text": "Other."}, headers=headers)
    assert family.json()["added"] == 1
    for key in ("", "x" * 201, "a b"):
        assert client.post(REMEMBER, json=body, headers={"idempotency-key": key}).status_code == 422


def test_what_is_stored_cannot_pass_for_the_key_of_a_request(serve: Callable[..., Any]) -> None:
    client = serve()("anna")
    forged = {"text": "Anna lives in Oslo.", "metadata": {"idempotency_key": "k-9"}}
    for query in ("", "?background=true"):
        answer = client.post(f"{REMEMBER}{query}", json=forged)
        assert answer.status_code == 422
        assert "another name" in answer.json()["detail"]
    honest = client.post(REMEMBER, json={"text": "Anna lives in Rome."}, headers={"idempotency-key": "k-9"})
    assert (honest.status_code, honest.json()["added"]) == (200, 1)


def test_a_job_that_could_not_be_read_is_refused_at_once(serve: Callable[..., Any]) -> None:
    client = serve()("anna")
    for body in ({"messages": [{"content": None}]}, {"text": "Anna lives in Rome.", "at": "0381-01-30"}):
        assert client.post(f"{REMEMBER}?background=true", json=body).status_code == 422


def test_a_request_with_a_key_may_hold_numbers_of_any_size(serve: Callable[..., Any]) -> None:
    body = {"messages": [{"role": "Anna", "content": "I live in Rome.", "id": 10**30}]}
    answers = [serve()("anna").post(REMEMBER, json=body, headers={"idempotency-key": "k-3"}) for _ in range(2)]
    assert [(answer.status_code, answer.json()["added"]) for answer in answers] == [(200, 1), (200, 0)]


def test_a_request_that_was_cut_short_is_completed(tmp_path: Any) -> None:
    """Half of its passages are recorded when the process dies; sent again, the rest gets the same times."""
    from worldthread.service.remembering import remember
    from worldthread.service.requests import RememberMessages

    body = RememberMessages.model_validate({"messages": MESSAGES})
    with Memory(tmp_path / "m", model="none", embedder="fake") as memory:

        def die(done: int, total: int | None) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            remember(memory, body, "k", die)
        first = len(list(memory.episodes()))
        assert first > 0
        result, is_repeated = remember(memory, body, "k")
        assert is_repeated
        assert (result.known, result.added) == (first, len(result.episodes) - first)
        assert result.added > 0
        assert len(set(result.episodes)) == len(list(memory.episodes()))


def test_long_work_shows_its_progress_and_can_be_cancelled(serve: Callable[..., Any], monkeypatch: Any) -> None:
    made = serve(jobs=2, running_jobs=1)
    client = made("anna")
    may_go_on = threading.Event()
    original = Memory.remember_many

    def slow(self: Memory, contents: Any, *args: Any, progress: Any, **more: Any) -> Any:
        def told(done: int, total: int | None) -> None:
            may_go_on.wait(60)
            progress(done, total)

        return original(self, contents, *args, progress=told, **more)

    monkeypatch.setattr(Memory, "remember_many", slow)
    first = client.post(f"{REMEMBER}?background=true", json={"messages": MESSAGES, "at": 1})
    second = client.post(f"{REMEMBER}?background=true", json={"text": "Anna lives in Rome.", "at": 1})
    assert (first.status_code, second.json()["state"]) == (202, "waiting")
    third = client.post(f"{REMEMBER}?background=true", json={"text": "x"})
    assert (third.status_code, third.headers["retry-after"]) == (429, "10")
    with monkeypatch.context() as patch:
        patch.setattr("worldthread.service.routes.tempfile.TemporaryFile", None)  # nothing of an upload is kept
        refused = client.post(
            "/v1/namespaces/anna/import", content=b"{}\n", headers={"content-type": "application/x-ndjson"}
        )
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
    assert client.post(f"{second.headers['location']}/cancel").json()["state"] == "cancelled"
    client.post(f"{first.headers['location']}/cancel")
    may_go_on.set()
    while (job := client.get(first.headers["location"]).json())["ended"] is None:
        time.sleep(0.05)
    assert job["state"] == "cancelled"
    assert 0 < job["done"] < job["total"]
    assert "send the same again" in job["problem"]
    assert client.get("/v1/namespaces/anna").json()["counts"]["episodes"] == job["done"]
    again = client.post(f"{REMEMBER}?background=true", json={"messages": MESSAGES, "at": 1})
    while (job := client.get(again.headers["location"]).json())["ended"] is None:
        time.sleep(0.05)
    assert job["result"]["known"] > 0
    assert client.get("/v1/namespaces/anna").json()["counts"]["episodes"] == job["total"]
    assert [one["state"] for one in client.get("/v1/namespaces/anna/jobs").json()["jobs"]] == [
        "done", "cancelled", "cancelled",
    ]  # fmt: skip
    assert client.get("/v1/namespaces/anna/jobs/nothing").status_code == 404


@pytest.mark.parametrize("value", ["1", "0", "yes", "t", "on", "True", ""])
def test_whether_a_job_does_it_is_not_guessed(value: str, serve: Callable[..., Any]) -> None:
    client = serve()("anna")
    answer = client.post(REMEMBER, params={"background": value}, json={"text": "Anna lives in Rome."})
    assert answer.status_code == 422
    answer = client.post(REMEMBER, params={"background": "false"}, json={"text": "Anna lives in Rome."})
    assert answer.json()["added"] == 1
    for limit, status in (("5", 200), (" 5", 422), ("1_0", 422), ("5.0", 422), ("0", 422), ("-1", 422)):
        assert client.get("/v1/namespaces/anna/entities", params={"limit": limit}).status_code == status


def test_jobs_end_with_the_service(serve: Callable[..., Any]) -> None:
    made = serve()
    client = made("anna")
    made.service.begin_to_end()
    assert client.get("/health").json()["status"] == "ending"
    assert client.get("/ready").status_code == 503
    refused = client.post(f"{REMEMBER}?background=true", json={"text": "Anna lives in Rome."})
    assert refused.status_code == 503
    # what is short is still done
    assert client.post(REMEMBER, json={"text": "Anna lives in Rome."}).json()["added"] == 1


def test_the_rate_of_each_client_is_its_own() -> None:
    from worldthread.service.limits import RateLimiter

    now = [0.0]
    limiter = RateLimiter(2.0, 4.0, lambda: now[0])
    assert [limiter.seconds_to_wait("a") for _ in range(5)] == [0, 0, 0, 0, 0.5]
    assert limiter.seconds_to_wait("b") == 0
    now[0] = 0.5
    assert [limiter.seconds_to_wait("a") for _ in range(2)] == [0, 0.5]
    now[0] = 100.0
    assert [limiter.seconds_to_wait("a") for _ in range(5)] == [0, 0, 0, 0, 0.5]
    assert RateLimiter(float("inf"), 1).seconds_to_wait("a") == 0


def test_a_job_says_what_is_wrong_and_not_where_the_memory_is(
    serve: Callable[..., Any], tmp_path: Any, monkeypatch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    from worldthread.errors import StoreUnavailableError

    client = serve()("anna")

    def ended(body: dict[str, Any], **headers: str) -> Any:
        place = client.post(f"{REMEMBER}?background=true", json=body, headers=headers).headers["location"]
        while (job := client.get(place).json())["ended"] is None:
            time.sleep(0.02)
        return job

    assert ended({"text": "Anna lives in Rome."}, **{"idempotency-key": "k"})["state"] == "done"
    job = ended({"text": "Anna lives in Paris."}, **{"idempotency-key": "k"})
    assert (job["state"], "new key" in job["problem"]) == ("failed", True)
    assert not caplog.records  # it is a mistake of the client

    def lost(*_: Any, **__: Any) -> None:
        raise StoreUnavailableError("the server is gone", path=tmp_path / "m")

    monkeypatch.setattr(Memory, "remember_many", lost)
    job = ended({"text": "Anna lives in Oslo."})
    assert (job["state"], "try again" in job["problem"]) == ("failed", True)
    assert str(tmp_path) not in job["problem"]
    assert str(tmp_path) in caplog.text
