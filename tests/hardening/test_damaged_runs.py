"""Run files damaged at random: what opens them gives what the file says, or one of our errors, and runs nothing.

The audit events of Python (PEP 578) say what really happened: imports, processes, and files that were opened to write.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from worldthread import Memory
from worldthread.cli.main import app
from worldthread.errors import WorldthreadError
from worldthread.models.chat import ChatAnswer, ChatRequest, Message
from worldthread.models.chat_cache import CachedChat, answers_in_file
from worldthread.models.recording import RecordingChat, ReplayChat
from worldthread.models.recording_file import read_recording
from worldthread.models.request_key import request_key
from worldthread_lab.agents import AGENTS, agent_class
from worldthread_lab.agents.memory_modules import MEMORY_MODULES, ModuleContext, make_memory_module
from worldthread_lab.play.fake_player import FakePlayer
from worldthread_lab.play.run import Run
from worldthread_lab.play.run_files import play_in, read_summary, replay, run_of
from worldthread_lab.play.run_page import write_report
from worldthread_lab.play.sweep import SweepResults, play_run, read_progress, read_results
from worldthread_lab.play.trajectory import read_trajectory
from worldthread_lab.web.run_folder import RunFolder

pytestmark = [pytest.mark.thorough, pytest.mark.web]

TRIALS = int(os.environ.get("WORLDTHREAD_DAMAGED_RUNS", "100" if os.environ.get("WORLDTHREAD_THOROUGH") else "20"))
"""Damaged files of each kind."""

RUN = Run("tiny-v1", "explorer", 1)
ASKING = Run("tiny-v1", "react", 1, steps=6, model="fake")
REQUEST = ChatRequest((Message("user", "Where is the key?"),), "act")


# -- what happens ------------------------------------------------------------------------------------------------------


def is_ours(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether an annotation of ours is evaluated, for schemas and options, or a page is made from our template."""
    file = arguments[0].co_filename if event == "exec" else str(arguments[1])
    callers = {os.path.basename(frame.filename) for frame in traceback.extract_stack(limit=8)}
    return file.endswith(("run.html", "sweep.html")) or bool(callers & {"typing.py", "inspect.py"})


class Watch:
    """Collects what happens that must not, while it is on."""

    def __init__(self) -> None:
        self.place: str | None = None
        self.seen: list[str] = []
        sys.addaudithook(self._hook)

    @contextmanager
    def on(self, place: Path) -> Iterator[None]:
        """Watch; only files below ``place`` may be written."""
        self.place = str(place)
        try:
            yield
        finally:
            self.place = None

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.place is not None and self._is_wrong(event, arguments):
            callers = " < ".join(f"{frame.name}:{frame.lineno}" for frame in traceback.extract_stack(limit=12)[-2::-1])
            self.seen.append(f"{event} {arguments!r:.300} by {callers}")

    def _is_wrong(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event == "import":
            return not arguments[0].startswith("worldthread.")
        if event in ("exec", "compile") and is_ours(event, arguments):
            return False
        if event in ("exec", "compile", "ctypes.dlopen", "marshal.loads", "pickle.find_class", "socket.connect"):
            return True
        if event.startswith(("subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn")):
            return True
        if event == "open":
            path, mode, flags = arguments
            writes = any(letter in (mode or "") for letter in "wax+") or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            return bool(writes) and not self._is_inside(path)
        if event in ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "os.truncate", "sqlite3.connect"):
            return not all(self._is_inside(path) for path in arguments if isinstance(path, (str, bytes)))
        return False

    def _is_inside(self, path: object) -> bool:
        assert self.place is not None
        if isinstance(path, int):
            return True  # a file that is open already
        name = os.fspath(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
        text = os.fsdecode(name).removeprefix("file:").partition("?")[0]
        return text == ":memory:" or os.path.realpath(text).startswith(self.place)


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()  # a hook cannot be removed: it stays, and does nothing


def test_the_watch_sees_what_it_must(watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "this", raising=False)
    with watch.on(tmp_path):
        (tmp_path / "inside").write_text("x")
        Path(os.devnull).open("w").close()
        exec("1")
        import this  # noqa: F401
    del sys.modules["this"]  # other tests look whether it was imported
    assert sorted({line.split()[0] for line in watch.seen} & {"open", "exec", "import"}) == ["exec", "import", "open"]
    assert not any("inside" in line for line in watch.seen)
    watch.seen.clear()


# -- damage ------------------------------------------------------------------------------------------------------------


def deep(chance: random.Random) -> str:
    levels = chance.choice((100, 260, 900, 5000, 100_000))
    return "[" * levels + "]" * levels if chance.random() < 0.5 else '{"a":' * levels + "1" + "}" * levels


NAMES = [
    *("this:s", "os:system", "wt_evil:X", "worldthread.cli.main:app", "explorer:", "zork1", "nethack"),
    *("textworld:/etc/passwd", "jericho:../x.z5", "textworld:", "/etc/passwd", "../../x", "~/.ssh/id_rsa"),
    *("openrouter/evil", "random", "human", "glow", "ollama/x"),
]
TEXTS: list[Callable[[random.Random], str]] = [
    deep,
    lambda chance: chance.choice(("NaN", "Infinity", "-Infinity", "1e999", "-0", "1e-999", "true", "null", "[]", "{}")),
    lambda chance: str(chance.choice((2**31, 2**53 + 1, 2**63, 2**64, 10**30, "1" * 5000, -(2**63) - 1, -1, 0))),
    lambda chance: chance.choice(('"\\ud800"', '"\\udfff\\ud800"', '"\\u0000"', '"\x00"', '"\\x"', '"', "'a'")),
    lambda chance: json.dumps(chance.choice(NAMES)),
    lambda chance: json.dumps("a" * 100_000),
    lambda chance: f'{{"a":1,"a":{chance.randrange(9)},"a":[]}}',
    lambda chance: json.dumps("".join(chr(chance.randrange(1, 0xD7FF)) for _ in range(20))),
]  # fmt: skip


def alter_json(line: bytes, chance: random.Random) -> bytes:
    """Put something hostile in the place of one value of a line of JSON."""
    try:
        whole = json.loads(line)
    except (ValueError, RecursionError):
        return line + b"}"
    mark = "MARK-OF-THE-TEST"
    root = [whole]
    place, key = root, 0
    while True:
        inner: Any = place[key]
        keys: Any = (
            list(inner) if isinstance(inner, dict) else list(range(len(inner))) if isinstance(inner, list) else []
        )
        if not keys or (place is not root and chance.random() < 0.5):
            break
        place, key = inner, chance.choice(keys)
    if isinstance(place, dict) and chance.random() < 0.2:
        moved = place.pop(key)
        place[chance.choice(("extra", "seed", "version", "summary", "format", "__class__", ""))] = moved
    elif isinstance(place, dict) and chance.random() < 0.2:
        del place[key]
    else:
        place[key] = mark
    text = json.dumps(whole, separators=(",", ":"))
    return text.replace(f'"{mark}"', chance.choice(TEXTS)(chance)).encode("utf-8", "surrogatepass")


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return data with one to three damages."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        data = damaged_once(data, chance)
    return data


def damaged_once(data: bytes, chance: random.Random) -> bytes:
    kind = chance.randrange(9)
    at = chance.randrange(len(data) + 1)
    some = chance.randrange(1, 200)
    lines = data.split(b"\n")
    if kind == 0 and data:
        changed = bytearray(data)
        for _ in range(chance.choice((1, 1, 5, 50))):
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        return bytes(changed)
    if kind == 1:
        return data[:at]
    if kind == 2:
        return data[:at] + data[at + some :]
    if kind == 3:
        return data[:at] + chance.randbytes(some) + data[at:]
    if kind == 4:
        return (
            data[:at]
            + chance.choice((b"\x00" * some, b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\n\n", b"}"))
            + data[at:]
        )
    if kind == 5:
        one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        lines[one], lines[other] = lines[other], lines[one]
        return b"\n".join(lines)
    if kind == 6:
        lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
        return b"\n".join(lines)
    number = chance.randrange(len(lines))
    lines[number] = alter_json(lines[number], chance)
    return b"\n".join(lines)


# -- what opens the files ----------------------------------------------------------------------------------------------


class Always(random.Random):
    """Chance that decides for everything that is done now and then."""

    def random(self) -> float:
        return 0.0


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Undamaged files of every kind; every agent and reader was used once, so that nothing need be imported later."""
    root = tmp_path_factory.mktemp("whole")
    (root / "run").mkdir()
    with Memory(root / "run" / "memory.worldthread", model="none") as memory:
        header = {"memory": "memory.worldthread", "namespace": "default"}
        play_in(root / "run", RUN, memory=memory.record, graph=memory.record.graph, header=header)
    play_in(root / "asked", ASKING, "fake")
    with SweepResults(root / "sweep" / "results.jsonl") as results:
        for seed in (1, 2, 3):
            run = Run("tiny-v1", "explorer", seed, steps=4)
            results.add(run, play_run(run, root / "sweep" / run.folder))
    with answers_in_file(root / "answers.sqlite") as cache:
        for number in range(40):
            cache.put(f"{number:064x}", ChatAnswer(f"answer {number} " * 40, "m"))
        cache.put(request_key("m", REQUEST), ChatAnswer("in the chest", "m"))
    for name in AGENTS:
        agent_class(name)
    for name in MEMORY_MODULES:
        with suppress(WorldthreadError, TypeError, AttributeError):
            make_memory_module(name, ModuleContext())  # type: ignore[call-arg]
    for kind, open_all in OPENERS.items():
        shutil.copytree(root, root / "warm" / kind, ignore=shutil.ignore_patterns("warm"))
        open_all(root / "warm" / kind, Always(), (root / kind).read_bytes())
    shutil.rmtree(root / "warm")
    return root


def trying(work: Callable[[], Any]) -> Any:
    """What work gives; ``None`` after one of our errors. Any other error ends the test."""
    try:
        return work()
    except WorldthreadError as error:
        str(error).encode("utf-8", "backslashreplace")
        return None


def plain(line: bytes) -> Any:
    """A line as another reader of JSON understands it."""
    return json.loads(line, parse_int=lambda digits: int(digits) if -(2**63) <= int(digits) < 2**64 else float(digits))


def open_trajectory(root: Path, chance: random.Random, original: bytes) -> None:
    folder = root / "run"
    path = folder / "trajectory.jsonl"
    lines = [line for line in path.read_bytes().split(b"\n") if line]
    found = trying(lambda: read_trajectory(path))
    if found is not None:
        told = [found.header, *found.steps]
        said = []
        with suppress(ValueError, RecursionError):  # a torn line ends the file
            said.extend(map(plain, lines))
        assert told == [line for number, line in enumerate(said) if not number or "summary" not in line]
        assert len(told) >= len(lines) - 2, "of whole lines only summaries are no steps, and the last may be torn"
    again = trying(lambda: replay(folder))
    if again is not None and again.difference is None:
        assert again.lines >= len(lines) - 1
        ours = original.split(b"\n")
        for mine, theirs in zip(ours[1:], lines[1 : again.lines], strict=False):
            assert plain(mine) == plain(theirs), "a line that differs was called the same"
    look_at_page(root)
    if chance.random() < 0.1:
        trying(lambda: write_report(folder))
        resumed = CliRunner().invoke(app, ["play", "--out", str(folder), "--resume", "--json"])
        assert resumed.exit_code in (0, 2), resumed.output


def look_at_page(root: Path) -> None:
    """Everything that the page of runs reads; the list never fails."""
    runs = RunFolder(root)
    listed = runs.runs()
    json.dumps([listed, runs.sweeps()])
    for run in listed:
        trying(lambda id_=run["id"]: runs.run(id_))
        for step in (0, 1, 5):
            trying(lambda id_=run["id"], number=step: runs.calls(id_, number))
        trying(lambda id_=run["id"]: runs.memory_of(id_))


def open_recording(root: Path, chance: random.Random, original: bytes) -> None:
    path = root / "asked" / "recording.jsonl"
    lines = path.read_bytes().split(b"\n")
    found = trying(lambda: read_recording(path))
    if found is not None:
        for call in found.calls:
            said = plain(lines[call.line - 1])
            assert call.request.messages[-1].content == said["request"]["messages"][-1]["content"]
            if isinstance(call.outcome, ChatAnswer):
                assert call.outcome.text == said["answer"]["text"]
        replaying = ReplayChat(path, with_costs=True)
        for call in found.calls:
            assert trying(lambda asked=call.request: replaying.complete(asked)) in (
                None,
                *(other.outcome for other in found.calls if other.key == call.key),
            )
    result = trying(lambda: replay(root / "asked"))
    assert result is None or result.model_requests >= 0
    look_at_page(root)
    if chance.random() < 0.3:
        (root / "asked" / "summary.json").unlink(missing_ok=True)
        trying(lambda: play_in(root / "asked", ASKING, "fake"))
        trying(lambda: RecordingChat(FakePlayer(0), path, resume=True).close())


def open_trajectory_and_recording(root: Path, chance: random.Random, original: bytes) -> None:
    path = root / "asked" / "trajectory.jsonl"
    found = trying(lambda: read_trajectory(path))
    if found is not None:
        trying(lambda: run_of(found.header, path))
    open_recording(root, chance, original)


def open_results(root: Path, chance: random.Random, original: bytes) -> None:
    from worldthread_lab.bench.sweep_report.plays import read_sweep
    from worldthread_lab.bench.sweep_report.report import tables_of
    from worldthread_lab.play.sweep_figures import aggregate, groups_of

    path = root / "sweep" / "results.jsonl"
    said = {line for line in path.read_bytes().split(b"\n") if line}
    found = trying(lambda: read_results(path))
    if found is not None:
        assert len(found) <= len(said)
        json.dumps([aggregate(group) for group in groups_of(found.items())])
    sweep = trying(lambda: read_sweep(root / "sweep"))
    if sweep is not None:
        for play in (play for group in sweep.groups.values() for play in group.plays):
            assert play.folder.resolve().is_relative_to(root.resolve())
        if chance.random() < 0.3:
            trying(lambda: tables_of(sweep))
    trying(lambda: SweepResults(path).close())
    runs = RunFolder(root)
    for one in runs.sweeps():
        json.dumps([aggregate(group) for group in groups_of(trying(lambda id_=one["id"]: runs.sweep(id_))[1])])


def open_summary(root: Path, chance: random.Random, original: bytes) -> None:
    folder = root / "run"
    trying(lambda: read_summary(folder))
    look_at_page(root)
    trying(lambda: play_run(RUN, folder))
    read_progress(RUN, folder)
    if chance.random() < 0.1:
        trying(lambda: write_report(folder))


def open_cache(root: Path, chance: random.Random, original: bytes) -> None:
    cache = trying(lambda: answers_in_file(root / "answers.sqlite"))
    if cache is None:
        return
    with cache:
        for number in range(0, 40, 3):
            answer = trying(lambda key=f"{number:064x}": cache.get(key))
            assert answer is None or isinstance(answer.text, str)
        trying(lambda: len(cache))
        answer = trying(lambda: CachedChat(FakePlayer(0), cache).complete(REQUEST))
        assert answer is None or isinstance(answer.text, str)
        trying(lambda: cache.put("new", ChatAnswer("new", "m")))
        if chance.random() < 0.3:
            trying(cache.clear)


OPENERS: dict[str, Callable[[Path, random.Random, bytes], None]] = {
    "run/trajectory.jsonl": open_trajectory,
    "asked/trajectory.jsonl": open_trajectory_and_recording,
    "asked/recording.jsonl": open_recording,
    "run/summary.json": open_summary,
    "sweep/results.jsonl": open_results,
    "answers.sqlite": open_cache,
}


@pytest.mark.parametrize("file", OPENERS)
def test_damaged_files_give_what_they_say_or_our_errors(
    file: str, whole: Path, watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "worldthread_lab.play.run_page.growth_plot", lambda steps: str(sum(step["facts"] for step in steps))
    )
    data = (whole / file).read_bytes()
    root = tmp_path / "root"
    for number in range(TRIALS):
        chance = random.Random(f"{file} {number}")
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(whole, root)
        (root / file).write_bytes(damaged(data, chance))
        watch.seen.clear()
        with watch.on(root):
            try:
                OPENERS[file](root, chance, data)
            except BaseException as error:
                raise AssertionError(f"damage {number} of {file}") from error
        assert watch.seen == [], f"damage {number} of {file}"
    print(f"{TRIALS} damaged files: {file}")
