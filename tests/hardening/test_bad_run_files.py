"""Run files that are damaged or no files at all: the page of runs shows the others, and nothing waits or fails."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import pytest

from worldthread import Memory
from worldthread.errors import FormatError, InputError, NotFoundError, StoreError, WorldthreadError
from worldthread.files.regular_files import open_regular, require_no_links
from worldthread.models.chat import ChatAnswer, ChatRequest, Message, Usage
from worldthread.models.recording_file import RecordingFile, read_recording
from worldthread_lab.play.run import Run
from worldthread_lab.play.run_files import play_in, read_summary, replay
from worldthread_lab.play.run_page import write_report
from worldthread_lab.play.sweep import SweepResults, play_run, read_progress, read_results
from worldthread_lab.play.trajectory import TrajectoryWriter, read_trajectory

RUN = Run("tiny-v1", "explorer", 1)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a memory, a run with a model, and a sweep of one."""
    root = tmp_path_factory.mktemp("runs")
    (root / "honest").mkdir()
    with Memory(root / "honest" / "memory.worldthread", model="none") as memory:
        header = {"memory": "memory.worldthread"}
        play_in(root / "honest", RUN, memory=memory.record, graph=memory.record.graph, header=header)
    play_in(root / "asked", Run("tiny-v1", "react", 1, steps=4, model="fake"), "fake")
    with SweepResults(root / "sweep" / "results.jsonl") as results:
        results.add(RUN, play_run(RUN, root / "sweep" / RUN.folder))
    return root


@pytest.fixture
def root(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "runs"))


@pytest.fixture
def client(root: Path, tmp_path: Path) -> Iterator[Callable[[], Any]]:
    """Makes a client of a server for the runs; an error that is not ours is an answer 500."""
    pytest.importorskip("starlette", reason="needs the extra: pip install 'worldthread[web]'")
    from starlette.testclient import TestClient

    from worldthread.support.server_access import Access
    from worldthread.web.app import create_app
    from worldthread.web.app_state import AppState

    with AppState(tmp_path / "none.worldthread", runs=root, embedder="fake") as app_state:
        app = create_app(app_state, {}, Access.for_web("127.0.0.1", 8766))
        yield lambda: TestClient(app, base_url="http://127.0.0.1:8766", raise_server_exceptions=False)


def special(path: Path, kind: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as one:
            here = os.getcwd()
            os.chdir(path.parent)  # the address of a socket is short
            try:
                one.bind(path.name)
            finally:
                os.chdir(here)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")


KINDS = ["pipe", "socket", "folder", "device"]
NAMES = ["trajectory.jsonl", "recording.jsonl", "summary.json", "results.jsonl"]


@pytest.mark.web
@pytest.mark.parametrize("name", [*NAMES, "memory.worldthread"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_server_opens_only_regular_files(kind: str, name: str, root: Path, client: Callable[[], Any]) -> None:
    folder = root / "bad"
    shutil.copytree(root / "asked", folder)
    (folder / name).unlink(missing_ok=True)
    special(folder / name, kind)
    asking = client()
    listed = asking.get("/api/runs")
    assert listed.status_code == 200
    runs = {run["name"]: run for run in listed.json()["runs"]}
    assert {"honest", "asked"} <= set(runs)
    assert runs["honest"]["error"] is None
    if name == "trajectory.jsonl" and kind in ("pipe", "socket"):
        assert "expected a regular file" in runs["bad"]["error"]
    if name == "results.jsonl" and kind in ("pipe", "socket"):
        assert "expected a regular file" in {s["name"]: s for s in listed.json()["sweeps"]}["bad"]["error"]
    for run in runs.values():
        for path in ("", "/steps", "/steps/1/calls"):
            answer = asking.get(f"/api/runs/{run['id']}{path}")
            assert answer.status_code == 200 or (run["name"] == "bad" and answer.status_code in (400, 404)), answer.text
        assert asking.get(f"/api/memories/run-{run['id']}").status_code in (200, 400, 404)
    for sweep in listed.json()["sweeps"]:
        assert asking.get(f"/api/sweeps/{sweep['id']}").status_code in (200, 400)


@pytest.mark.parametrize("kind", KINDS)
def test_every_reader_refuses_what_is_no_file(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="reports need the extra: pip install 'worldthread[report]'")
    readers: dict[str, Callable[[Path], Any]] = {
        "trajectory": read_trajectory,
        "writer": lambda path: TrajectoryWriter(path, {}, resume=True),
        "results": read_results,
        "sweep": SweepResults,
        "recording": read_recording,
        "recorder": lambda path: RecordingFile(path, "fake"),
        "replay": lambda path: replay(path.parent),
        "report": lambda path: write_report(path.parent),
        "summary": lambda path: read_summary(path.parent),
    }
    names = {"replay": "trajectory.jsonl", "report": "trajectory.jsonl", "summary": "summary.json"}
    for reader, read in readers.items():
        path = tmp_path / reader / names.get(reader, "file.jsonl")
        special(path, kind)
        with pytest.raises((FormatError, InputError, StoreError)):
            read(path)
    assert read_progress(RUN, tmp_path / "replay") is None


def test_a_file_has_a_bounded_size(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.jsonl"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # takes no place on the disk
    for read in (read_trajectory, read_recording, read_results):
        with pytest.raises(FormatError, match="1099511627776 bytes"):
            read(path)
    with pytest.raises(FormatError, match="at most 5 are read"):
        open_regular(path, max_bytes=5)
    path.rename(tmp_path / "summary.json")
    with pytest.raises(FormatError, match="bytes"):
        read_summary(tmp_path)


def test_what_may_lie_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    require_no_links([tmp_path / "folder", tmp_path / "file", tmp_path / "nothing"])
    for kind in ("pipe", "socket", "device"):
        special(tmp_path / kind, kind)
        with pytest.raises(FormatError, match="it was not opened"):
            require_no_links([tmp_path / kind])


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


IS_THOROUGH = bool(os.environ.get("WORLDTHREAD_THOROUGH"))
HOSTILE: dict[str, Any] = {
    "a list": [], "a text": "x", "a number": 5, "a huge number": 2**63, "a huge fraction": 1.7e308, "true": True,
    "an object": {"a": {}}, "deep": deep(300), "negative": -1, "objects in a list": [{}], "null": None,
    "html": "<script>alert(1)</script>",
}  # fmt: skip


def hostile(place: int) -> list[tuple[str, Any]]:
    """The values to put into the field at a place in a list: all, or a few, so that each comes in many fields."""
    values = list(HOSTILE.items())
    return values if IS_THOROUGH else [values[(3 * place + n) % len(values)] for n in range(3)]


def altered(path: Path, line: int, *keys: str, value: Any) -> None:
    """Change one field of one line."""
    lines = path.read_bytes().splitlines()
    whole = json.loads(lines[line])
    inner = whole
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    lines[line] = json.dumps(whole).encode()
    path.write_bytes(b"\n".join(lines) + b"\n")


HEADER = ("game", "agent", "seed", "name", "settings", "release", "memory", "namespace", "extra")
SETTINGS = ("memory", "model", "attempt", "game", "options", "seed")
STEP = (
    *("turn", "action", "learned", "ended", "observation", "score", "facts", "model_calls", "prompt_tokens"),
    *("return_to", "problem", "reason", "recalled", "vertices", "extra"),
)
SUMMARY = ("won", "score", "moves", "memory", "audit", "max_score", "curve", "ended_by")
FIELDS: list[tuple[int, tuple[str, ...]]] = [
    *((0, (name,)) for name in HEADER),
    *((0, ("settings", name)) for name in SETTINGS),
    *((2, (name,)) for name in STEP),
    *((-1, ("summary", name)) for name in SUMMARY),
    (-1, ("summary",)),
]


@pytest.mark.thorough
@pytest.mark.web
@pytest.mark.parametrize(("line", "keys"), FIELDS, ids=lambda value: str(value).replace(" ", ""))
def test_one_bad_run_spoils_no_list(line: int, keys: tuple[str, ...], root: Path, client: Callable[[], Any]) -> None:
    """One list in the place of an object turned the whole list of runs into an error 500."""
    original = (root / "honest" / "trajectory.jsonl").read_bytes()
    asking = client()
    for name, value in hostile(FIELDS.index((line, keys))):
        path = root / "honest" / "trajectory.jsonl"
        path.write_bytes(original)
        altered(path, line, *keys, value=value)
        os.utime(path, ns=(1, hash(name) % 10**15))  # the server looks at time and size
        listed = asking.get("/api/runs")
        assert listed.status_code == 200, name
        runs = {run["name"]: run for run in listed.json()["runs"]}
        assert runs["asked"]["error"] is None
        id_ = runs["honest"]["id"]
        for part in ("", "/steps", "/steps/1/calls"):
            answer = asking.get(f"/api/runs/{id_}{part}")
            assert answer.status_code in (200, 400), (name, part, answer.text)
        assert asking.get("/api/memories").status_code == 200
        assert asking.get(f"/api/memories/run-{id_}").status_code in (200, 400, 404)


@pytest.mark.thorough
@pytest.mark.parametrize(("line", "keys"), FIELDS, ids=lambda value: str(value).replace(" ", ""))
def test_replays_and_reports_of_bad_runs_end_with_our_errors(
    line: int, keys: tuple[str, ...], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worldthread_lab.play.run_page.growth_plot", lambda steps: [step["turn"] + 1 for step in steps])
    path = root / "honest" / "trajectory.jsonl"
    original = path.read_bytes()
    for _, value in hostile(FIELDS.index((line, keys))):
        path.write_bytes(original)
        altered(path, line, *keys, value=value)
        for work in (replay, write_report):
            with suppress(WorldthreadError):
                work(root / "honest")


@pytest.mark.thorough
@pytest.mark.web
def test_bad_results_of_a_sweep(root: Path, client: Callable[[], Any]) -> None:
    path = root / "sweep" / "results.jsonl"
    good = path.read_bytes()
    line = json.loads(good)
    asking = client()
    for place, field in enumerate(line["summary"]):
        for name, value in hostile(place):
            bad = {**line, "run": {**line["run"], "seed": 2}, "summary": {**line["summary"], field: value}}
            path.write_bytes(good + json.dumps(bad).encode() + b"\n")
            os.utime(path, ns=(1, hash((name, field)) % 10**15))
            (sweep,) = asking.get("/api/runs").json()["sweeps"]
            answer = asking.get(f"/api/sweeps/{sweep['id']}")
            assert answer.status_code == 200, (field, name)
            assert sweep["finished"] in (1, 2)
    for place, field in enumerate(line["run"]):
        for name, value in hostile(place):
            bad = {**line, "run": {**line["run"], field: value}}
            path.write_bytes(good + json.dumps(bad).encode() + b"\n")
            os.utime(path, ns=(1, hash((name, field)) % 10**15))
            (sweep,) = asking.get("/api/runs").json()["sweeps"]
            assert asking.get(f"/api/sweeps/{sweep['id']}").status_code == 200, (field, name)


@pytest.mark.web
def test_calls_with_half_a_character_are_shown(root: Path, client: Callable[[], Any]) -> None:
    path = root / "asked" / "recording.jsonl"
    lines = path.read_bytes().splitlines()
    for number in range(1, len(lines)):
        call = json.loads(lines[number])
        call["answer"]["text"] = call["request"]["messages"][0]["content"] = "\ud800"
        lines[number] = json.dumps(call).encode()
    path.write_bytes(b"\n".join(lines) + b"\n")
    asking = client()
    id_ = next(run["id"] for run in asking.get("/api/runs").json()["runs"] if run["name"] == "asked")
    answer = asking.get(f"/api/runs/{id_}/steps/1/calls")
    assert answer.status_code == 200
    assert answer.json()["calls"][0]["answer"] == "\\ud800"


@pytest.mark.parametrize("number", [2**70, -(2**70), 1e400, 10**400])
@pytest.mark.parametrize("field", ["prompt_tokens", "seconds", "attempts", "max_tokens", "seed"])
def test_calls_with_numbers_that_no_call_has_are_refused(field: str, number: Any, tmp_path: Path) -> None:
    request = ChatRequest((Message("user", "hello"),), "act")
    answer: dict[str, Any] = asdict(ChatAnswer("hi", "m", Usage(1, 1, 0), "stop", 0.1, 1))
    asked = asdict(request)
    where = asked if field in asked else answer["usage"] if field in answer["usage"] else answer
    where[field] = number
    path = tmp_path / "recording.jsonl"
    header = {"format": "worldthread-recording", "version": 1, "model": "m"}
    text = json.dumps({"request": asked, "answer": answer}).replace("Infinity", "1e999")
    path.write_text(f"{json.dumps(header)}\n{text}\n")
    with pytest.raises(FormatError, match="not a call"):
        read_recording(path)


def test_a_model_whose_name_is_half_a_character_is_refused(root: Path) -> None:
    """Its name became part of the summary, which could not be written."""
    path = root / "asked" / "recording.jsonl"
    altered(path, 0, "model", value="\udfff")
    with pytest.raises(FormatError, match="must be a name"):
        read_recording(path)


def test_trajectories_keep_the_files_in_ram_bounded(root: Path) -> None:
    from worldthread_lab.web import run_folder

    cache: Any = run_folder._FileCache(10, max_bytes=100)
    for number in range(8):
        (root / str(number)).write_bytes(b"x" * 40)
        assert cache.get(root / str(number), lambda path: path.name) == str(number)
    assert [path.name for path in cache._items] == ["6", "7"]
    (root / "large").write_bytes(b"x" * 1000)
    cache.get(root / "large", lambda path: path.name)
    assert [path.name for path in cache._items] == ["large"]


def test_a_run_that_went_is_not_found(root: Path) -> None:
    from worldthread_lab.web.run_folder import RunFolder

    runs = RunFolder(root)
    (honest,) = (run for run in runs.runs() if run["name"] == "honest")
    (root / "honest" / "trajectory.jsonl").write_bytes(orjson.dumps({"format": "x"}) + b"\n")
    with pytest.raises(FormatError):
        runs.run(honest["id"])
    (root / "honest" / "trajectory.jsonl").unlink()
    with pytest.raises(NotFoundError):
        runs.run(honest["id"])
