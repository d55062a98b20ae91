"""Plays that go on while a browser watches, and what they leave behind."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldthread_lab.play.run_files import replay
from worldthread_lab.play.trajectory import read_trajectory
from worldthread_lab.web.event_stream import EventStream

pytestmark = pytest.mark.web


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
def client(serve: Callable[..., Any], home_memory: Path, runs: Path) -> Any:
    return serve(home_memory, runs=runs)


def begin(client: Any, **wanted: Any) -> dict[str, Any]:
    answer = client.post("/api/plays", json={"game": "tiny", "delay": 0, **wanted})
    assert answer.status_code == 201, answer.text
    return answer.json()


def turn(client: Any, play: dict[str, Any], do: str, **more: Any) -> Any:
    return client.post(f"/api/plays/{play['id']}/turn", json={"do": do, **more})


def until(client: Any, play: dict[str, Any], asked: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    end = time.monotonic() + 600
    while time.monotonic() < end:
        told = client.get(f"/api/plays/{play['id']}").json()
        if asked(told):
            return told
        time.sleep(0.01)
    raise AssertionError(told)


def events(client: Any, play: dict[str, Any], after: int = 0) -> list[tuple[str, dict[str, Any]]]:
    """What a watcher is told, to the end of the play."""
    stream = client.get(f"/api/plays/{play['id']}/events", headers={"last-event-id": str(after)})
    assert stream.headers["content-type"].startswith("text/event-stream")
    found = []
    for block in stream.text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def test_a_play_is_watched_to_its_end_and_kept_as_a_run(client: Any, runs: Path) -> None:
    play = begin(client)
    told = events(client, play)
    kinds = [kind for kind, _ in told]
    assert kinds[-1] == "over"
    steps = [data for kind, data in told if kind == "step"]
    (end,) = [data for kind, data in told if kind == "end"]
    assert end["summary"]["won"]
    assert [step["turn"] for step in steps] == list(range(end["summary"]["moves"] + 1))
    picture = [data for kind, data in told if kind == "picture"][-1]
    assert len(picture["map"]["rooms"]) == 3
    assert "gem" in " ".join(picture["carried"]).lower()
    trajectory = read_trajectory(runs / "tiny-v1-explorer-seed0" / "trajectory.jsonl")
    assert [step["action"] for step in trajectory.steps] == [step["action"] for step in steps]
    assert trajectory.summary["won"]
    (listed,) = client.get("/api/runs").json()["runs"]
    assert (listed["id"], listed["won"], listed["has_memory"]) == (play["run"], True, True)
    assert replay(runs / "tiny-v1-explorer-seed0").difference is None


def test_a_watcher_who_lost_the_line_goes_on_where_it_was(client: Any) -> None:
    play = begin(client)
    everything = [told for told in events(client, play) if told[0] not in ("picture", "over")]
    rest = [told for told in events(client, play, after=4) if told[0] not in ("picture", "over")]
    assert rest == everything[4:]
    # a page that connects again by itself says it in the address; what says more counts
    address = f"/api/plays/{play['id']}/events?after=4"
    ids = [re.findall(r"^id: (\d+)$", client.get(address, headers=sent).text, re.MULTILINE) for sent in ({}, SEEN_SIX)]
    assert (ids[0][0], ids[1][0]) == ("5", "7")
    assert client.get(f"{address}x").text.startswith("id: 1\n"), "what is no number is left alone"


SEEN_SIX = {"last-event-id": "6"}


def test_a_stream_says_that_it_is_there_while_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldthread_lab.web.event_stream._HEARTBEAT", 0.01)
    stream = EventStream()

    async def first_words() -> list[bytes]:
        following = stream.follow()
        words = [await anext(following), await anext(following)]
        await following.aclose()
        return words

    assert asyncio.run(first_words()) == [b"event: alive\ndata: {}\n\n"] * 2


def test_a_play_is_held_stepped_and_let_go(client: Any) -> None:
    play = begin(client, hold=True)
    until(client, play, lambda told: told["state"] == "playing")
    turn(client, play, "step")
    turn(client, play, "step")
    time.sleep(0.2)
    assert client.get(f"/api/plays/{play['id']}").json()["held"]
    turn(client, play, "go_on")
    steps = [data for kind, data in events(client, play) if kind == "step"]
    assert len(steps) > 3


def test_ten_moves_of_a_person_are_stored_and_can_be_replayed(client: Any, runs: Path) -> None:
    play = begin(client, agent="human")
    typed = ["look", "inventory", "examine me", "go north", "go south", "go east", "go west", "look", "wait", "look"]
    for line in typed:
        until(client, play, lambda told: told["asking"])
        assert turn(client, play, "type", text=line).status_code == 200
    until(client, play, lambda told: told["asking"])
    turn(client, play, "finish")
    events(client, play)
    folder = runs / "tiny-v1-human-seed0"
    trajectory = read_trajectory(folder / "trajectory.jsonl")
    assert [step["action"] for step in trajectory.steps[1:]] == typed
    assert (trajectory.summary["moves"], trajectory.summary["ended_by"]) == (10, "agent")
    assert replay(folder).difference is None
    (listed,) = client.get("/api/runs").json()["runs"]
    assert (listed["agent"], listed["moves"], listed["is_complete"]) == ("human", 10, True)


def test_a_person_takes_a_move_back(client: Any, runs: Path) -> None:
    play = begin(client, agent="human")
    for line in ("go north", None):
        until(client, play, lambda told: told["asking"])
        turn(client, play, "type", text=line) if line else turn(client, play, "undo")
    until(client, play, lambda told: told["asking"])
    turn(client, play, "finish")
    steps = [data for kind, data in events(client, play) if kind == "step"]
    assert [step["return_to"] for step in steps] == [None, None, 0]


def test_a_person_takes_over_and_gives_back(client: Any, runs: Path) -> None:
    play = begin(client, hold=True)
    until(client, play, lambda told: told["state"] == "playing")
    turn(client, play, "take")
    until(client, play, lambda told: told["asking"])
    turn(client, play, "type", text="look")
    until(client, play, lambda told: told["asking"])
    turn(client, play, "give_back")
    turn(client, play, "go_on")
    told = events(client, play)
    steps = [data for kind, data in told if kind == "step"]
    assert (steps[1]["action"], steps[1]["reason"]) == ("look", "by hand")
    assert "by hand" not in [step["reason"] for step in steps[2:]]
    (end,) = [data for kind, data in told if kind == "end"]
    assert end["summary"]["won"]


def test_a_play_that_is_stopped_is_kept_as_far_as_it_went(client: Any, runs: Path) -> None:
    play = begin(client, hold=True)
    until(client, play, lambda told: told["state"] == "playing")
    turn(client, play, "stop")
    events(client, play)
    assert client.get(f"/api/plays/{play['id']}").json()["state"] == "stopped"
    (listed,) = client.get("/api/runs").json()["runs"]
    assert not listed["is_complete"]
    assert turn(client, play, "go_on").status_code == 400


def test_what_an_agent_with_a_model_spends_is_shown(client: Any) -> None:
    play = begin(client, agent="react", fake_model=True, steps=3)
    told = events(client, play)
    picture = [data for kind, data in told if kind == "picture"][-1]
    assert picture["tokens"] > 0
    assert picture["cost_usd"] == 0
    assert all(data["model_calls"] for kind, data in told if kind == "step" and data["turn"])


def test_an_agent_without_its_model_says_what_to_set(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDTHREAD_MODEL", "none")
    play = begin(client, agent="react")
    (problem,) = [data for kind, data in events(client, play) if kind == "problem"]
    assert "WORLDTHREAD_MODEL" in problem["message"]
    assert client.get(f"/api/plays/{play['id']}").json()["state"] == "failed"


@pytest.mark.parametrize(
    "wanted",
    [
        {"game": "textworld:/etc/passwd"},
        {"game": "../../x"},
        {"game": "no-such-game"},
        {"agent": "os:system"},
        {"agent": "worldthread_lab.agents.explorer.agent:Explorer"},
        {"agent": "explorer", "module": "worldthread"},
        {"agent": "react", "module": "../x", "fake_model": True},
        {"seed": -1},
        {"seed": "1"},
        {"steps": 0},
        {"delay": -1},
        {"model": "http://evil.example"},
        {"game": 7},
    ],
)
def test_only_what_is_listed_can_be_played(client: Any, runs: Path, wanted: dict[str, Any]) -> None:
    answer = client.post("/api/plays", json={"game": "tiny", **wanted})
    assert answer.status_code == 400
    assert answer.json()["error"]["kind"] == "InputError"
    assert not runs.exists()


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_what_a_foreign_form_could_send_is_refused(client: Any, content_type: str) -> None:
    answer = client.post("/api/plays", content=b'{"game": "tiny"}', headers={"content-type": content_type})
    assert answer.status_code == 400


def test_moves_are_one_line(client: Any) -> None:
    play = begin(client, agent="human")
    until(client, play, lambda told: told["asking"])
    for text in ("", " ", "a\nb", "\x1b[2J", "a" * 1001):
        assert turn(client, play, "type", text=text).status_code == 400
    assert turn(client, play, "take").status_code == 400
    assert turn(client, play, "dance").status_code == 400


def test_no_more_plays_than_a_machine_can_bear(client: Any) -> None:
    for _ in range(6):
        begin(client, agent="human")
    answer = client.post("/api/plays", json={"game": "tiny", "agent": "human"})
    assert answer.status_code == 400
    assert "stop one" in answer.json()["error"]["message"]


def test_choices_name_games_and_players(client: Any) -> None:
    told = client.get("/api/choices").json()
    assert "tiny" in [game["name"] for game in told["games"]]
    (react,) = [agent for agent in told["agents"] if agent["name"] == "react"]
    assert react["asks_model"]


# -- watchers that never leave ----------------------------------------------------------------------------------------


def settings_of(client: Any, **wanted: str) -> dict[str, dict[str, dict[str, Any]]]:
    told = client.get("/api/choices/settings", params={"game": "tiny", "agent": "explorer", **wanted})
    assert told.status_code == 200, told.text
    return {part: {one["name"]: one for one in of} for part, of in told.json().items()}


def test_every_setting_is_named_with_default_and_meaning(client: Any) -> None:
    told = client.get("/api/choices").json()
    players = [(one["name"], module) for one in told["agents"] for module in ("", *told["modules"])]
    takes_module = {one["name"] for one in told["agents"] if one["takes_module"]}
    seen = set()
    for agent, module in players:
        if module and agent not in takes_module:
            continue
        for part, of in settings_of(client, agent=agent, module=module).items():
            for name, one in of.items():
                assert one["meaning"], (agent, module, part, name)
                seen.add((part, name))
    assert {("agent", "take_urgency"), ("agent", "calls"), ("memory", "moments"), ("memory", "width")} <= seen
    assert not [name for _, name in seen if name == "embedder"], "it names files and servers"
    assert settings_of(client, game="cooking")["game"]["rename_cooking"]["default"] is False
    for wrong in ({"game": "none"}, {"agent": "none"}, {"agent": "ariadne", "module": "nothing"}):
        asked = {"game": "tiny", "agent": "explorer", **wrong}
        assert client.get("/api/choices/settings", params=asked).status_code == 400


def test_chosen_settings_are_those_of_the_run(client: Any, runs: Path) -> None:
    wanted = {"agent": {"recent": 3, "calls": "three"}, "memory": {"moments": 0}}
    play = begin(client, agent="ariadne", module="arigraph", fake_model=True, steps=2, settings=wanted)
    events(client, play)
    path = next(runs.glob("tiny-v1-ariadne*")) / "trajectory.jsonl"
    settings = read_trajectory(path).header["settings"]
    assert json.loads(settings["options"]).items() >= wanted["agent"].items()
    assert json.loads(settings["memory_options"]) == wanted["memory"]
    assert replay(path.parent).difference is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"agent": {"take_urgencies": 1}},
        {"agent": {"take_urgency": "much"}},
        {"agent": {"take_urgency": 1e300}},
        {"agent": {"embedder": "/etc/passwd"}},
        {"memory": {"moments": 1}},
        {"system": {"path": "x"}},
        {"agent": {"take_urgency": {"a": 1}}},
    ],
)
def test_settings_that_do_not_exist_are_refused(client: Any, runs: Path, wrong: dict[str, Any]) -> None:
    answer = client.post("/api/plays", json={"game": "tiny", "settings": wrong})
    assert (answer.status_code, runs.exists()) == (400, False)


def test_one_watcher_too_many_ends_the_oldest() -> None:
    from worldthread_lab.web.event_stream import EventStream, Watchers

    async def watch() -> None:
        watchers = Watchers(3)
        streams = [EventStream(watchers) for _ in range(2)]
        for stream in streams:
            stream.add("step", {"number": 1})
        followed = []
        for number in range(5):
            follower = streams[number % 2].follow()
            assert b"id: 1" in await anext(follower)
            followed.append(follower)
        for oldest in followed[:2]:
            with pytest.raises(StopAsyncIteration):
                await anext(oldest)
        streams[0].add("step", {"number": 2})
        streams[1].add("step", {"number": 2})
        for kept in followed[2:]:
            assert b"id: 2" in await anext(kept)
        watchers.close()
        for kept in followed[2:]:
            with pytest.raises(StopAsyncIteration):
                await anext(kept)
        assert not watchers.has_room

    asyncio.run(watch())


def test_watchers_that_do_not_read_are_bounded_and_so_is_what_waits_for_them() -> None:
    from worldthread_lab.web.event_stream import EventStream, Watchers

    async def watch() -> None:
        watchers = Watchers(2)
        stream = EventStream(watchers)
        for number in range(1000):
            stream.add("step", {"number": number})
        stuck = []
        while watchers.has_room:
            follower = stream.follow()
            assert (await anext(follower)).count(b"event: step") == 100
            stuck.append(follower)
        assert len(stuck) == 4
        await stuck[0].aclose()
        assert watchers.has_room
        stream.end()
        parts = [part async for part in stream.follow(250)]
        assert b"".join(parts).count(b"event: step") == 750
        assert max(part.count(b"event: step") for part in parts) == 100
        for follower in stuck[1:]:
            await follower.aclose()

    asyncio.run(watch())


def test_the_choices_say_what_agents_are_and_which_games_lack_their_file(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jericho", reason="needs the extra: pip install 'worldthread[games]'")
    monkeypatch.delenv("WORLDTHREAD_GAMES", raising=False)
    choices = client.get("/api/choices").json()
    assert all(len(agent["about"]) > 20 for agent in choices["agents"])
    games = {game["name"]: game for game in choices["games"]}
    assert games["zork1"]["needs_file"]
    assert not games["tiny"]["needs_file"]


def test_the_address_of_a_play_leads_to_the_kept_run_after_a_restart(
    serve: Callable[..., Any], home_memory: Path, runs: Path
) -> None:
    first = serve(home_memory, runs=runs)
    play = begin(first, agent="explorer")
    until(first, play, lambda told: told["state"] == "ended")
    second = serve(home_memory, runs=runs)  # knows nothing of the plays of the first
    assert second.get(f"/api/plays/{play['id']}").status_code == 404
    assert second.get(f"/api/runs/{play['id']}").json()["summary"]["won"]
