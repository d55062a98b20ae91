"""What the page of runs is told, and what no request can reach."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldthread import Memory
from worldthread_lab.play.run import Run
from worldthread_lab.play.run_files import play_in
from worldthread_lab.play.sweep import SweepResults

pytestmark = pytest.mark.web


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, one cut off, and a sweep of two."""
    root = tmp_path_factory.mktemp("runs")
    for agent in ("explorer", "random"):
        run = Run("tiny-v1", agent, 1)
        (root / agent).mkdir()
        with Memory(root / agent / "memory.worldthread", model="none") as memory:
            header = {"memory": "memory.worldthread"}
            play_in(root / agent, run, name=agent, memory=memory.record, graph=memory.record.graph, header=header)
    lines = (root / "random" / "trajectory.jsonl").read_bytes().split(b"\n")
    (root / "random" / "trajectory.jsonl").write_bytes(b"\n".join(lines[:12]) + b"\n" + lines[12][:20])
    (root / "random" / "summary.json").unlink()
    with SweepResults(root / "sweep" / "results.jsonl") as results:
        for seed in (1, 2):
            run = Run("tiny-v1", "explorer", seed)
            results.add(run, play_in(root / "sweep" / run.folder, run))
    return root


@pytest.fixture
def client(serve: Callable[..., Any], home_memory: Path, played: Path) -> Any:
    return serve(home_memory, runs=played)


def run_named(client: Any, name: str) -> dict[str, Any]:
    return next(run for run in client.get("/api/runs").json()["runs"] if run["name"] == name)


def test_runs_and_sweeps_are_listed(client: Any) -> None:
    told = client.get("/api/runs").json()
    assert sorted(run["name"].split("/")[0] for run in told["runs"]) == ["explorer", "random", "sweep", "sweep"]
    assert [(sweep["name"], sweep["finished"]) for sweep in told["sweeps"]] == [("sweep", 2)]
    explorer, random = run_named(client, "explorer"), run_named(client, "random")
    assert (explorer["is_complete"], explorer["won"], explorer["score"], explorer["max_score"]) == (True, True, 2, 2)
    assert (random["is_complete"], random["moves"]) == (False, 10)


def test_what_the_model_was_asked_for_a_step_is_told(
    serve: Callable[..., Any], home_memory: Path, tmp_path: Path
) -> None:
    play_in(tmp_path / "asked", Run("tiny-v1", "ariadne", 1, steps=4, model="fake"), "fake")
    client = serve(home_memory, runs=tmp_path)
    run = client.get("/api/runs").json()["runs"][0]["id"]
    steps = client.get(f"/api/runs/{run}/steps").json()["steps"]
    told = [client.get(f"/api/runs/{run}/steps/{number}/calls").json()["calls"] for number in range(len(steps))]
    assert [len(calls) for calls in told] == [step["model_calls"] for step in steps]
    assert told[0] == []
    for step, calls in zip(steps[1:], told[1:], strict=True):
        assert calls[-1]["purpose"] == "act"
        assert step["new_decision"] == bool(calls)
        assert calls[-1]["messages"][-1]["role"] == "user"
        assert not calls[-1]["was_cut_off"]
    assert client.get(f"/api/runs/{run}/steps/99999/calls").json()["calls"] == told[-1][:0]
    (tmp_path / "asked" / "recording.jsonl").unlink()
    assert client.get(f"/api/runs/{run}/steps/1/calls").json() == {"calls": []}


def test_a_run_is_told_with_its_curves_and_step_by_step(client: Any) -> None:
    id_ = run_named(client, "explorer")["id"]
    told = client.get(f"/api/runs/{id_}").json()
    steps = client.get(f"/api/runs/{id_}/steps").json()["steps"]
    assert told["steps"] == len(steps) == len(told["curves"]["turn"])
    assert told["curves"]["learned"] == [len(step["learned"]) for step in steps]
    assert steps[0]["label"] == "(start)"
    assert steps[1]["label"] == steps[1]["action"]
    assert told["summary"]["won"]
    assert told["summary"]["seconds"] >= 0  # from the file beside the trajectory
    part = client.get(f"/api/runs/{id_}/steps?offset=2&limit=3").json()["steps"]
    assert part == steps[2:5]


def test_the_memory_of_a_run_can_be_opened_and_shows_its_map_at_a_moment(client: Any) -> None:
    key = client.get(f"/api/runs/{run_named(client, 'explorer')['id']}").json()["memory"]
    assert client.get(f"/api/memories/{key}/graph").json()["whole"]
    first = client.get(f"/api/memories/{key}/map?at=0").json()
    last = client.get(f"/api/memories/{key}/map").json()
    assert len(first["rooms"]) < len(last["rooms"]) == 4
    assert key in [memory["key"] for memory in client.get("/api/memories").json()["memories"]]


def test_a_sweep_tells_its_figures(client: Any) -> None:
    pytest.importorskip("scipy", reason="needs the extra: pip install 'worldthread[report]'")
    (sweep,) = client.get("/api/runs").json()["sweeps"]
    told = client.get(f"/api/sweeps/{sweep['id']}").json()
    (group,) = told["groups"]
    assert (group["game"], group["agent"], group["wins"], group["runs"]) == ("tiny-v1", "explorer", 2, 2)
    assert len(told["runs"]) == 2


def test_the_scores_of_a_sweep_have_curves_with_intervals(client: Any) -> None:
    pytest.importorskip("scipy", reason="needs the extra: pip install 'worldthread[report]'")
    (sweep,) = client.get("/api/runs").json()["sweeps"]
    curve = client.get(f"/api/sweeps/{sweep['id']}").json()["groups"][0]["curve"]
    assert curve["moves"][0] == 0 < curve["moves"][-1]
    assert curve["mean"][-1] == 2  # both won
    assert all(low <= mean <= high for low, mean, high in zip(curve["low"], curve["mean"], curve["high"], strict=True))


def test_plays_of_people_count_beside_a_sweep_of_the_same_game(
    serve: Callable[..., Any], home_memory: Path, played: Path, tmp_path: Path
) -> None:
    pytest.importorskip("scipy", reason="needs the extra: pip install 'worldthread[report]'")
    root = tmp_path / "runs"
    shutil.copytree(played, root)
    typed = iter(["look", "look"])

    def read(_: str) -> str:
        for line in typed:
            return line
        raise EOFError

    play_in(root / "by-hand", Run("tiny-v1", "human", 7), read=read, show=lambda _: None)
    client = serve(home_memory, runs=root)
    (sweep,) = client.get("/api/runs").json()["sweeps"]
    told = client.get(f"/api/sweeps/{sweep['id']}").json()
    assert [(group["game"], group["agent"], group["runs"]) for group in told["groups"]] == [
        ("tiny-v1", "explorer", 2), ("tiny-v1", "human", 1)
    ]  # fmt: skip
    assert told["people"] == 1


def test_the_list_of_runs_has_what_they_cost(client: Any) -> None:
    explorer = run_named(client, "explorer")
    assert explorer["decisions"] > 0
    assert explorer["precision"] == 1.0
    assert explorer["cost_usd"] is None  # nothing was asked
    assert "decisions" not in run_named(client, "random")  # it was cut off


def test_two_runs_part_at_a_step(client: Any) -> None:
    explorer, random = (run_named(client, name)["id"] for name in ("explorer", "random"))
    parting = client.get(f"/api/runs/{explorer}/parting/{random}").json()
    steps = [client.get(f"/api/runs/{one}/steps").json()["steps"] for one in (explorer, random)]
    assert parting["by"] == "action"
    here = parting["step"]
    assert [step["action"] for step in steps[0][:here]] == [step["action"] for step in steps[1][:here]]
    assert steps[0][here]["action"] != steps[1][here]["action"]
    assert client.get(f"/api/runs/{explorer}/parting/{explorer}").json() == {"step": None, "by": None}
    assert client.get(f"/api/runs/{explorer}/parting/0000000000000000").status_code == 404


def test_the_memory_before_and_after_a_step(client: Any) -> None:
    explorer = run_named(client, "explorer")["id"]
    steps = client.get(f"/api/runs/{explorer}/steps").json()["steps"]
    first = client.get(f"/api/runs/{explorer}/steps/0/memory").json()
    assert (first["before"], first["after"]) == (0, len(first["statements"]))
    number = next(number for number, step in enumerate(steps) if number and step["ended"])
    told = client.get(f"/api/runs/{explorer}/steps/{number}/memory").json()
    began = {one["text"] for one in told["statements"] if one["change"] == "began"}
    ended = {one["text"] for one in told["statements"] if one["change"] == "ended"}
    assert {text for text, _ in steps[number]["ended"]} <= ended
    assert began <= set(steps[number]["learned"])
    assert told["after"] - told["before"] == len(began) - len(ended)
    assert client.get(f"/api/runs/{explorer}/steps/9999/memory").status_code == 404


@pytest.mark.parametrize(
    "id_",
    [
        "..",
        "../../etc",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e%2fexplorer",
        "explorer",
        "0000000000000000",
        "%00",
        "a" * 500,
    ],
)
@pytest.mark.parametrize("form", ["/api/runs/{}", "/api/runs/{}/steps", "/api/sweeps/{}", "/api/memories/run-{}"])
def test_no_path_can_be_smuggled_in(client: Any, form: str, id_: str) -> None:
    answer = client.get(form.format(id_))
    assert answer.status_code in (403, 404)
    assert "root:" not in answer.text


def test_links_and_headers_that_lead_elsewhere_are_not_followed(
    serve: Callable[..., Any], home_memory: Path, played: Path, tmp_path: Path
) -> None:
    root = tmp_path / "runs"
    shutil.copytree(played / "explorer", root / "honest")
    outside = tmp_path / "outside"
    shutil.copytree(played / "explorer", outside)
    (root / "linked").symlink_to(outside)
    (root / "file").mkdir()
    (root / "file" / "trajectory.jsonl").symlink_to(outside / "trajectory.jsonl")
    lines = (outside / "trajectory.jsonl").read_bytes().split(b"\n")
    for number, memory in enumerate(("../honest/memory.worldthread", str(home_memory), "..", "", "linked")):
        folder = root / f"liar{number}"
        folder.mkdir()
        header = {**json.loads(lines[0]), "memory": memory}
        (folder / "trajectory.jsonl").write_bytes(b"\n".join([json.dumps(header).encode(), *lines[1:]]))
        os.symlink(home_memory, folder / "linked")
    client = serve(home_memory, runs=root)
    runs = {run["name"]: run for run in client.get("/api/runs").json()["runs"]}
    assert sorted(runs) == ["honest", *(f"liar{number}" for number in range(5))]
    assert [name for name, run in runs.items() if run["has_memory"]] == ["honest"]
    for number in range(5):
        key = f"run-{runs[f'liar{number}']['id']}"
        assert client.get(f"/api/memories/{key}").status_code == 404


def test_damaged_runs_are_listed_with_what_is_wrong(
    serve: Callable[..., Any], home_memory: Path, tmp_path: Path
) -> None:
    for name, data in (
        ("empty", b""),
        ("other", b'{"a": 1}\n'),
        ("noise", bytes(range(256)) * 9),
        ("deep", b"[" * 9999),
    ):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "trajectory.jsonl").write_bytes(data)
    (tmp_path / "runs" / "results.jsonl").write_bytes(b'{"version": 2, "run": {"x": 1}}\nnoise\n[]\n')
    client = serve(home_memory, runs=tmp_path / "runs")
    told = client.get("/api/runs").json()
    assert all("a trajectory" in run["error"] for run in told["runs"])
    assert len(told["runs"]) == 4
    assert [sweep["finished"] for sweep in told["sweeps"]] == [0]
    assert client.get(f"/api/runs/{told['runs'][0]['id']}").status_code == 400


def test_a_folder_that_is_not_there_has_no_runs(serve: Callable[..., Any], home_memory: Path, tmp_path: Path) -> None:
    told = serve(home_memory, runs=tmp_path / "absent").get("/api/runs").json()
    assert (told["runs"], told["sweeps"]) == ([], [])
