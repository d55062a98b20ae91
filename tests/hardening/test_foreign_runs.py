"""A run that somebody else made: opening it runs none of its code, and leads out of its folder nowhere."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from worldthread import Memory
from worldthread.cli.main import app
from worldthread.errors import DamagedFileError, FormatError, InputError, UnknownGameError
from worldthread.graph import TemporalGraph
from worldthread.models.chat_cache import answers_in_file
from worldthread_lab.agents import AGENTS, agent_class, make_agent
from worldthread_lab.envs.registry import require_known_game
from worldthread_lab.play.run import Run
from worldthread_lab.play.run_files import play_in, replay
from worldthread_lab.play.runs import require_playable
from worldthread_lab.play.sweep import SweepResults, play_run, sweep

pytest.importorskip("matplotlib", reason="reports need the extra: pip install 'worldthread[report]'")

EVIL = """
from pathlib import Path
Path(__file__).with_name("it-ran").touch()
from worldthread_lab.agents.baselines import RandomAgent
class X(RandomAgent):
    pass
"""


def call(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module that Python finds, and the file that it leaves when it is imported."""
    place = tmp_path / "modules"
    place.mkdir()
    (place / "wt_evil.py").write_text(EVIL)
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.delitem(sys.modules, "wt_evil", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.chdir(tmp_path)
    return place / "it-ran"


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished play from the command line."""
    folder = tmp_path_factory.mktemp("honest") / "play"
    done = call("play", "tiny", "--out", folder, "--json")
    assert done.exit_code == 0, done.output
    return folder


def tampered(honest: Path, to: Path, *, keep_summary: bool = False, settings: Any = None, **header: Any) -> Path:
    """A copy of a run, unfinished, whose header says something else."""
    shutil.copytree(honest, to, symlinks=True)
    path = to / "trajectory.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    first = json.loads(lines[0])
    first |= header
    first["settings"] = first["settings"] | settings if isinstance(settings, dict) else settings or first["settings"]
    rest = lines[1:] if keep_summary else lines[1:4]
    path.write_bytes(json.dumps(first, separators=(",", ":")).encode() + b"\n" + b"".join(rest))
    if not keep_summary:
        (to / "summary.json").unlink()
    return to


AGENTS_OF_OTHERS = [
    *("wt_evil:X", "this:s", "os:system", "wt_evil.sub:X", ":X", "wt_evil:", "wt_evil:X.y", "a b:c", "x/../y:z"),
]


@pytest.mark.parametrize("agent", AGENTS_OF_OTHERS)
def test_a_run_file_imports_nothing(agent: str, honest: Path, evil: Path, tmp_path: Path) -> None:
    folder = tampered(honest, tmp_path / "run", settings={"agent": agent})
    with pytest.raises(InputError):
        replay(folder)
    for command in (("replay", folder), ("play", "--out", folder, "--resume"), ("report", folder)):
        done = call(*command)
        assert done.exit_code == (0 if command[0] == "report" else 2), done.output
    assert not evil.exists()
    assert not {"wt_evil", "this"} & set(sys.modules)


def test_the_error_says_exactly_what_to_add(honest: Path, evil: Path, tmp_path: Path) -> None:
    folder = tampered(honest, tmp_path / "run", settings={"agent": "wt_evil:X"})
    refused = call("replay", folder)
    added = shlex.split(re.search(r"add (--allow-code \S+)", refused.stderr)[1])  # type: ignore[index]
    assert added == ["--allow-code", "wt_evil"]
    assert not evil.exists()
    done = call("replay", folder, *added)
    assert done.exit_code == 1, "another agent plays otherwise"
    assert evil.exists()
    for command in (
        ["play", "tiny", "--agent", "wt_evil:X"],
        ["sweep", "tiny", "--agent", "wt_evil:X", "--seeds", "1"],
    ):
        evil.unlink(missing_ok=True)
        sys.modules.pop("wt_evil", None)
        refused = call(*command, "--out", tmp_path / "out")
        assert (refused.exit_code, "add --allow-code wt_evil" in refused.stderr, evil.exists()) == (2, True, False)
    done = call("play", "tiny", "--agent", "wt_evil:X", "--out", tmp_path / "mine", *added)
    assert done.exit_code == 0, done.output
    assert call("replay", tmp_path / "mine", *added).exit_code == 0


def test_from_python_the_module_is_named_too(evil: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run("tiny-v1", "wt_evil:X", 1)
    attempts: list[Callable[..., Any]] = [
        lambda **more: agent_class("wt_evil:X", **more),
        lambda **more: make_agent("wt_evil:X", TemporalGraph(), **more),
        lambda **more: require_playable(run, **more),
        lambda **more: play_in(tmp_path / "in", run, **more),
        lambda **more: play_run(run, tmp_path / "run", **more),
        lambda **more: replay(tmp_path / "in", **more),
    ]
    for attempt in attempts[:-1]:
        for wrong in ((), ["wt"], ["wt_evil:X"], ["wt_evil."]):
            with pytest.raises(InputError, match=r"allow_code=\['wt_evil'\]"):
                attempt(allow_code=wrong)
        with pytest.raises(InputError, match="must be a list"):
            attempt(allow_code="wt_evil")
    assert not evil.exists()
    for attempt in attempts:
        attempt(allow_code=["wt_evil"])
    assert evil.exists()
    monkeypatch.setitem(AGENTS, "mine", "wt_evil:X")
    assert agent_class("mine").__name__ == "X", "a registered agent needs no permission"


def test_the_processes_of_a_sweep_get_the_permission(tmp_path: Path) -> None:
    run = Run("tiny-v1", "worldthread_lab.agents.baselines:RandomAgent", 1, steps=2)
    with SweepResults(tmp_path / "results.jsonl") as results:
        failed = sweep([run], results, jobs=1, on_done=lambda *_: None)
        assert "--allow-code worldthread_lab.agents.baselines" in failed[run]
        assert (
            sweep([run], results, jobs=1, on_done=lambda *_: None, allow_code=["worldthread_lab.agents.baselines"])
            == {}
        )


def test_a_run_file_names_only_games_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    games = tmp_path / "games"
    (games / "textworld").mkdir(parents=True)
    (games / "out").symlink_to(tmp_path)
    monkeypatch.setenv("WORLDTHREAD_GAMES", str(games))
    for known in ("tiny", "tiny-v1", "textworld:hunt", f"textworld:{games}/hunt.z8", f"jericho:{games}/textworld/x.z5"):
        require_known_game(known)
    outside = [
        *(f"{tmp_path}/hunt.z8", f"{games}/../hunt.z8", f"{games}/out/hunt.z8", "./hunt.z8", "~/x.z8", "", "~nobody/x"),
        *("/dev/zero", "x\0.z8", "a" * 5000 + "/x"),
    ]
    for name in outside:
        for kind in ("textworld", "jericho"):
            with pytest.raises(InputError, match="--allow-code"):
                require_known_game(f"{kind}:{name}")
            require_known_game(f"{kind}:{name}", [f"{kind}:{name}"])
    with pytest.raises(UnknownGameError):
        require_known_game("../../etc/passwd")


@pytest.mark.parametrize("command", ["replay", "resume"])
def test_a_game_file_beside_the_run_is_not_opened(
    command: str, honest: Path, tmp_path: Path, evil: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worldthread_lab.envs.make", lambda *_, **__: pytest.fail("the game was opened"))
    folder = tmp_path / "run"
    game = f"textworld:{folder}/evil.z8"
    tampered(honest, folder, settings={"game": game}, game=game)
    (folder / "evil.z8").write_bytes(b"\x08" * 999)
    done = call("replay", folder) if command == "replay" else call("play", "--out", folder, "--resume")
    assert done.exit_code == 2
    assert f"--allow-code {game}" in done.stderr


def notes(path: Path, source: str = "a diary") -> Path:
    with Memory(path, model="none", embedder="fake") as memory:
        memory.remember("Anna lives in Rome.", source=source, at=1)
    return path


def texts(path: Path) -> list[str]:
    with Memory(path, model="none", embedder="fake", readonly=True) as memory:
        return [episode.text for episode in memory.episodes()]


def test_resuming_forgets_nothing_of_another_memory(honest: Path, tmp_path: Path, evil: Path) -> None:
    mine = notes(tmp_path / "notes.worldthread")
    folder = tampered(honest, tmp_path / "run", memory=str(mine), namespace="default")
    refused = call("play", "--out", folder, "--resume")
    assert refused.exit_code == 2
    assert f"--memory {mine}" in refused.stderr
    assert texts(mine) == ["Anna lives in Rome."]
    refused = call("play", "--out", folder, "--resume", "--memory", mine)
    assert (refused.exit_code, "more than this play" in refused.stderr) == (2, True), refused.output
    assert texts(mine) == ["Anna lives in Rome."]
    refused = call("play", "--out", folder, "--resume", "--memory", tmp_path / "other")
    assert (refused.exit_code, "is not the memory of this play" in refused.stderr) == (2, True)
    inside = tampered(honest, tmp_path / "inside")
    assert "leave out --memory" in call("play", "--out", inside, "--resume", "--memory", mine).stderr
    (inside / "memory.worldthread").unlink()
    shutil.copy(mine, inside / "memory.worldthread")
    refused = call("play", "--out", inside, "--resume")
    assert (refused.exit_code, "more than this play" in refused.stderr) == (2, True)
    assert texts(inside / "memory.worldthread") == ["Anna lives in Rome."]


def test_a_new_play_writes_into_no_linked_memory(tmp_path: Path, evil: Path) -> None:
    mine = notes(tmp_path / "notes.worldthread")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "memory.worldthread").symlink_to(mine)
    done = call("play", "tiny", "--out", "out")
    assert (done.exit_code, "a link" in done.stderr) == (2, True)
    assert texts(mine) == ["Anna lives in Rome."]


def test_a_play_with_a_memory_elsewhere_resumes_when_it_is_named(tmp_path: Path, evil: Path) -> None:
    memory = tmp_path / "all.worldthread"
    assert call("play", "tiny", "--out", "one", "--memory", memory).exit_code == 0
    assert "map" in (tmp_path / "one" / "report.html").read_text("utf-8")
    path = tmp_path / "one" / "trajectory.jsonl"
    whole = path.read_bytes()
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:4]))
    (tmp_path / "one" / "summary.json").unlink()
    done = call("play", "--out", "one", "--resume", "--memory", memory)
    assert done.exit_code == 0, done.output
    assert path.read_bytes() == whole
    page = tmp_path / "one" / "report.html"
    assert "viewBox" in page.read_text("utf-8").partition("Growth of the graph")[0]
    assert call("report", "one").exit_code == 0
    assert "viewBox" not in page.read_text("utf-8").partition("Growth of the graph")[0], "it is elsewhere"
    assert call("report", "one", "--memory", memory).exit_code == 0
    assert "viewBox" in page.read_text("utf-8").partition("Growth of the graph")[0]


def test_the_report_opens_no_memory_outside_of_the_folder(
    honest: Path, tmp_path: Path, evil: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = notes(tmp_path / "notes.worldthread")
    for number, name in enumerate((str(mine), "../notes.worldthread", "..", "", "a/../../notes.worldthread")):
        folder = tampered(honest, tmp_path / f"run{number}", memory=name, keep_summary=True)
        monkeypatch.setattr("worldthread_lab.play.run_page.Memory", lambda *_, **__: pytest.fail("it was opened"))
        assert call("report", folder).exit_code == 0


@pytest.mark.parametrize(
    "name",
    ["trajectory.jsonl", "trajectory.jsonl.lock", "recording.jsonl", "recording.jsonl-lock", "summary.json.draft",
     "memory.worldthread", "memory.worldthread-wal", "memory.worldthread-snapshot", "report.html", "summary.json"],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe"])
def test_nothing_in_the_folder_of_a_run_leads_out_of_it(
    name: str, kind: str, honest: Path, tmp_path: Path, evil: Path
) -> None:
    folder = tampered(honest, tmp_path / "run")
    target = folder / name
    mine = tmp_path / "precious"
    target.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(target)
    else:
        if kind == "link":
            mine.write_bytes((honest / name).read_bytes() if (honest / name).exists() else b"")
        target.symlink_to(mine)
    content = mine.read_bytes() if mine.exists() else None
    for command in (("replay", folder), ("play", "--out", folder, "--resume"), ("report", folder)):
        done = call(*command)
        assert done.exit_code == 2, done.output
        assert ("a named pipe" if kind == "pipe" else "a link") in done.stderr or "has no play" in done.stderr
    with pytest.raises(FormatError):
        play_in(folder, Run("tiny-v1", "explorer", 0))
    assert (mine.read_bytes() if mine.exists() else None) == content


def test_the_folders_of_a_sweep_do_not_lead_out_of_it(tmp_path: Path) -> None:
    run = Run("tiny-v1", "explorer", 1)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "tiny-v1").symlink_to(tmp_path / "elsewhere")
    with SweepResults(tmp_path / "out" / "results.jsonl") as results:
        failed = sweep([run], results, jobs=1, on_done=lambda *_: None)
    assert "leads out of the folder" in failed[run]
    assert list((tmp_path / "elsewhere").iterdir()) == []
    for name in ("results.jsonl", "results.jsonl.lock"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).symlink_to(tmp_path / "new")
        with pytest.raises(FormatError, match="a link"):
            SweepResults(folder / "results.jsonl")
    assert not (tmp_path / "new").exists()


def test_the_results_of_a_sweep_lead_nowhere(tmp_path: Path) -> None:
    """A seed that is a path once became part of the folder that a report reads."""
    run = Run("tiny-v1", "explorer", 1)
    summary = play_run(run, tmp_path / run.folder)
    for field, value in (("seed", "/../../x"), ("attempt", "../x"), ("seed", True), ("seed", -1), ("options", "[1]"),
                         ("options", 5), ("galaxy", 1), ("game", None), ("steps", 1e300)):  # fmt: skip
        line = {"version": 2, "run": {**asdict(run), field: value}, "summary": summary}
        (tmp_path / "results.jsonl").write_text(json.dumps(line) + "\n")
        done = call("report", tmp_path)
        assert (done.exit_code, "line 1" in done.stderr) == (2, True), (field, value, done.output)


def test_the_report_of_a_sweep_follows_no_link(tmp_path: Path) -> None:
    run = Run("tiny-v1", "explorer", 1)
    with SweepResults(tmp_path / "out" / "results.jsonl") as results:
        results.add(run, play_run(run, tmp_path / "out" / run.folder))
    for name in ("report.html", "report.md"):
        (tmp_path / "out" / name).symlink_to(tmp_path / "precious")
        done = call("report", tmp_path / "out")
        assert (done.exit_code, "a link" in done.stderr) == (2, True)
        (tmp_path / "out" / name).unlink()
    assert not (tmp_path / "precious").exists()


@pytest.mark.parametrize("asked_for", ["ollama/small", "openrouter/evil/model", "vllm/x", "lmstudio/x", "llamacpp/x"])
def test_a_run_file_does_not_choose_the_server(
    asked_for: str, tmp_path: Path, evil: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key in $WORLDTHREAD_API_KEY was sent to the server whose name began the recorded name of the model."""
    made: list[Any] = []
    monkeypatch.setattr("worldthread.models.openai_chat.OpenAIChat.__init__", lambda *a, **k: made.append(k))
    monkeypatch.setenv("WORLDTHREAD_API_KEY", "secret")
    play_in(tmp_path / "asked", Run("tiny-v1", "react", 1, steps=3, model="fake"), "fake")
    folder = tampered(tmp_path / "asked", tmp_path / "run", asked_for=asked_for, settings={"model": "fake"})
    done = call("play", "--out", folder, "--resume")
    assert (done.exit_code, f"--model {asked_for}" in done.stderr) == (2, True), done.output
    assert made == []
    done = call("play", "--out", folder, "--resume", "--model", "fake")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("agent", "option", "value"),
    [("react", "temperature", "hot"), ("react", "max_tokens", [1]), ("icrl", "window", "x"), ("glow", "use_mar", 1),
     ("ariadne", "recent", None), ("ariadne", "embedder", {"a": 1}), ("ariadne", "embedder", 5)],
)  # fmt: skip
def test_the_options_of_an_agent_have_the_types_that_it_states(agent: str, option: str, value: Any) -> None:
    run = Run("tiny-v1", agent, 1, model="fake", options=json.dumps({option: value}))
    with pytest.raises(InputError, match=f"the setting '{option}' of the agent .* must be of type"):
        require_playable(run, "fake")


@pytest.mark.parametrize("options", ["5", "[1]", '"x"', "null", "{", "\\"])
def test_options_that_are_no_object(options: str, honest: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="JSON object"):
        require_playable(Run("tiny-v1", "explorer", 1, options=options))
    with pytest.raises(FormatError, match="JSON object"):
        replay(tampered(honest, tmp_path / "run", settings={"options": options}))


def test_a_cache_of_answers_runs_no_view_and_no_trigger(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "cache"
    answers_in_file(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM entry; END")
    connection.close()
    with pytest.raises(DamagedFileError, match="other tables"):
        answers_in_file(path)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER t")
    connection.close()
    answers_in_file(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE entry")
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS key FROM n"
        connection.execute(f"CREATE VIEW entry AS SELECT key, key AS kind, key AS value FROM ({endless})")
    connection.close()
    with pytest.raises(DamagedFileError, match="other tables"):
        answers_in_file(path)


def test_the_summary_of_a_finished_play_controls_no_terminal(honest: Path, tmp_path: Path, evil: Path) -> None:
    folder = tampered(honest, tmp_path / "run", keep_summary=True)
    path = folder / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"model": "\x1b]0;pwned\x07\x1b[2J"}))
    done = call("play", "--out", folder, "--resume")
    assert done.exit_code == 0, done.output
    assert "pwned" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize("missing", ["memory", "audit", "curve", "seconds", "overhead_ms"])
def test_a_summary_that_lacks_figures_is_made_again(missing: str, honest: Path, tmp_path: Path, evil: Path) -> None:
    folder = tampered(honest, tmp_path / "run", keep_summary=True)
    path = folder / "summary.json"
    figures = json.loads(path.read_bytes())
    del figures[missing]
    path.write_text(json.dumps(figures))
    lines = (folder / "trajectory.jsonl").read_bytes()
    memory = folder / "memory.worldthread"
    for file in (memory, *folder.glob("memory.worldthread-*")):
        file.unlink()
    done = call("play", "--out", folder, "--resume", "--json")
    assert done.exit_code == 0, done.output
    assert missing in json.loads(path.read_bytes())
    assert (folder / "trajectory.jsonl").read_bytes() == lines
