"""The folder of a run: play a run into its folder, resume it there, and replay it.

The folder holds ``trajectory.jsonl`` (:mod:`worldthread_lab.play.trajectory`), ``recording.jsonl`` when the agent calls
a model (:mod:`worldthread.models.recording_file`), ``memory_module.worldthread`` when the agent's memory module builds
a graph of its own (a memory like any other), and ``summary.json`` after the end of the play.

The percepts, the arguments of the agent and the answers of its model determine a play. A run that was interrupted
therefore resumes by playing again from the beginning: the recording supplies the answers that it holds, each line that
the trajectory already holds is compared instead of written again, and where the files end the play continues live. A
replay does the same and never continues live.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from worldthread.errors import FormatError, InputError, ReplayError
from worldthread.files.paths import write_private_file
from worldthread.files.regular_files import open_regular, require_no_links
from worldthread.graph import TemporalGraph
from worldthread.models.meter import UsageTotals
from worldthread_lab.agents import AgentMemory, Decision, agent_class, require_agent
from worldthread_lab.envs.registry import require_known_game
from worldthread_lab.play.loop import Play
from worldthread_lab.play.run import PERSON, Run, decode_run, run_prompts, run_settings
from worldthread_lab.play.run_model import recorded_model, replayed_model
from worldthread_lab.play.run_summary import require_figures
from worldthread_lab.play.runs import opened
from worldthread_lab.play.step_record import StepRecord
from worldthread_lab.play.trajectory import TRAJECTORY_FILE, TrajectoryComparison, TrajectoryWriter, read_trajectory

SUMMARY_FILE: Final = "summary.json"
"""The name of the file with the figures of a finished run, in the folder of the run."""

MODULE_MEMORY_FILE: Final = "memory_module.worldthread"
"""The name of the file with the graph that the memory module of an agent built, in the folder of the run."""

_MAX_SUMMARY: Final = 1 << 26  # bytes


def header_of(run: Run, name: str, **more: Any) -> dict[str, Any]:
    """Return the header of a run's trajectory, which holds everything that is needed to play the run again."""
    settings = run_settings(run)
    release = settings.pop("version")
    leading = {"game": run.game, "agent": run.agent, "seed": run.seed}
    if digests := run_prompts(run).digests:
        more = {"prompts": digests, **more}
    return {**leading, "name": name, "settings": settings, "release": release, **more}


def run_of(header: dict[str, Any], path: Path, allow_code: Collection[str] = ()) -> tuple[Run, str]:
    """Return the run that the header of a trajectory describes.

    Args:
        header: the header, which somebody else may have written.
        path: the file, for the error message.
        allow_code: the modules and game files that the header may name beside what is registered; see
            :func:`worldthread_lab.agents.agent_class` and :func:`worldthread_lab.envs.registry.require_known_game`.

    Returns:
        The run, and the name of its play.

    Raises:
        FormatError: the header does not describe a run that can be played again.
        InputError: the agent or the game is not allowed; the message says what to add.
        UnknownGameError: there is no such game.
    """
    try:
        settings = header["settings"]
        name: object = header["name"]
        run = decode_run({**settings, "version": header["release"]} if isinstance(settings, dict) else settings)
    except (KeyError, InputError) as error:
        raise FormatError(f"the header does not describe the run: {error}", path=path, line=1) from error
    if not isinstance(name, str):
        raise FormatError("the header does not describe the run: its name must be a text", path=path, line=1)
    require_agent(run.agent, allow_code)
    require_known_game(run.game, allow_code)
    return run, name


def require_own_files(folder: Path) -> None:
    """Check that no file in the folder of a run leads out of it; what is written there stays there.

    Args:
        folder: the folder; it need not exist.

    Raises:
        FormatError: the folder holds a link, a named pipe, a socket or a device.
        InputError: the folder cannot be read.
    """
    try:
        require_no_links(folder.iterdir() if folder.is_dir() else ())
    except OSError as error:
        raise InputError(f"cannot read the folder {folder}: {error.strerror}") from error


def play_in(
    folder: Path,
    run: Run,
    argument: str | None = None,
    *,
    name: str = "play",
    memory: AgentMemory | None = None,
    graph: TemporalGraph | None = None,
    header: dict[str, Any] | None = None,
    watch: Callable[[Play], AbstractContextManager[Callable[[StepRecord], None]]] | None = None,
    allow_code: Collection[str] = (),
    **more: Any,
) -> dict[str, Any]:
    """Play a run to its end in its folder, or resume the run that the folder holds.

    Args:
        folder: the folder of the run; created when it does not exist.
        run: the run to play.
        argument: the name of the model as given by the caller; see
            :func:`~worldthread_lab.play.run_model.recorded_model`.
        name: the name of the play, which is the source of its episodes.
        memory: see :func:`~worldthread_lab.play.runs.opened`. It must be empty, also when a run is resumed.
        graph: the graph of ``memory``.
        header: additional fields for the header of the trajectory.
        watch: opens a display for the play; the function that it yields is called with every step, including the steps
            that the trajectory already holds.
        allow_code: see :func:`worldthread_lab.agents.agent_class`.
        more: further arguments of the agent.

    Returns:
        The figures of the run, as ``summary.json`` holds them.

    Raises:
        FormatError: the trajectory in the folder belongs to a different run; the message names the first line that
            differs. Or the folder holds a link.
        InputError: the agent is not allowed, or the folder cannot be read.
        StoreLockedError: another process plays in the folder.
        StoreError: the folder cannot be written.
        ModelError: a call of the model failed; play again to resume the run at this point.
    """
    needs_model = agent_class(run.agent, allow_code).asks_model
    require_own_files(folder)
    with ExitStack() as stack:
        fields = header_of(run, name, asked_for=argument, **(header or {}))
        trajectory = stack.enter_context(TrajectoryWriter(folder / TRAJECTORY_FILE, fields, resume=True))
        model = stack.enter_context(recorded_model(run, argument, folder)) if needs_model else None
        play = stack.enter_context(
            opened(run, name=name, memory=memory, graph=graph, model=model, allow_code=allow_code, **more)
        )
        display = stack.enter_context(watch(play)) if watch else None
        try:
            for record in play:
                trajectory.write(record.as_json())
                if display is not None:
                    display(record)
        finally:
            _save_module_memory(play, folder)
        trajectory.finish(play.summary())
        figures = asdict(play.auditor.result()) if play.audit else None
        names = {"memory_module": run.memory, "attempt": run.attempt}
        summary = {**play.summary(), **names, **play.costs(), "audit_figures": figures}
    write_summary(folder, summary)
    return summary


def _save_module_memory(play: Play, folder: Path) -> None:
    """Write the graph that the memory module built to a memory file of its own, in place of an earlier one."""
    from worldthread.memory.memory import Memory

    if play.agent.module_graph is None:
        return
    file = folder / MODULE_MEMORY_FILE
    for earlier in folder.glob(f"{MODULE_MEMORY_FILE}*"):
        earlier.unlink()
    with Memory(file, model="none") as memory:
        for episode in play.agent.module_episodes():
            memory.record.add(episode)


def write_summary(folder: Path, summary: dict[str, Any]) -> None:
    """Write ``summary.json`` atomically; the file is on the disk when this returns."""
    content = orjson.dumps(summary, option=orjson.OPT_INDENT_2) + b"\n"
    write_private_file(folder / SUMMARY_FILE, content, fsync=True)


def read_summary(folder: Path) -> dict[str, Any] | None:
    """Read ``summary.json``.

    Args:
        folder: the folder of a run.

    Returns:
        The figures of a finished run; ``None`` when the run has not finished.

    Raises:
        FormatError: the file is damaged, or is not a regular file.
        InputError: the file cannot be read.
    """
    path = folder / SUMMARY_FILE
    try:
        require_no_links([path])
        with open_regular(path, max_bytes=_MAX_SUMMARY) as file:
            content = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    try:
        return require_figures(orjson.loads(content))
    except (orjson.JSONDecodeError, InputError) as error:
        raise FormatError(f"this is not the summary of a run: {error}", path=path) from error


@dataclass(frozen=True)
class ReplayResult:
    """The result of a replay.

    Args:
        lines: the number of lines of the trajectory that the replay reproduced byte for byte, including the header.
        moves: the number of moves that were played.
        is_complete: whether the trajectory is that of a finished play; otherwise the replay goes as far as the file.
        model_requests: the number of requests that the recording answered; no call was made.
        difference: the first difference from the trajectory, or the reason why the replay stopped; ``None`` when
            everything is the same.
    """

    lines: int
    moves: int
    is_complete: bool
    model_requests: int
    difference: str | None = None


def replay(folder: Path, *, allow_code: Collection[str] = ()) -> ReplayResult:
    """Play a run again with the answers of its recording, and compare every line with its trajectory.

    Args:
        folder: the folder of the run.
        allow_code: the modules and game files that the run may use beside what is registered; see :func:`run_of`.

    Returns:
        What was compared, and the first difference.

    Raises:
        InputError: the folder holds no run, or the run needs code that is not allowed.
        FormatError, StoreError: a file is damaged, or was written by another version.
    """
    path = folder / TRAJECTORY_FILE
    require_own_files(folder)
    comparison = TrajectoryComparison(path)
    run, name = run_of(comparison.header, path, allow_code)
    is_typed = run.agent == PERSON
    more: dict[str, Any] = {"typed": typed_in(path), "show": _show_nothing, "read": _end_of_input} if is_typed else {}
    model = replayed_model(run, folder) if agent_class(run.agent, allow_code).asks_model else None
    comparison.take(orjson.dumps(comparison.header))
    difference = None
    with opened(run, name=name, model=model, allow_code=allow_code, **more) as play:
        try:
            _compare(play, comparison)
        except (FormatError, ReplayError) as error:
            difference = str(error)
        used = model.meter.overall() if model else UsageTotals()
        return ReplayResult(
            comparison.compared, play.moves, comparison.is_complete, used.calls + used.reused, difference
        )


def _compare(play: Play, comparison: TrajectoryComparison) -> None:
    """Play, and compare every step; raise FormatError at the first difference."""
    if not comparison.left:
        return
    for record in play:
        comparison.take(orjson.dumps(record.as_json()))
        if not comparison.left and not comparison.is_complete:
            return
    comparison.take(orjson.dumps({"summary": play.summary()}))
    comparison.require_end()


def typed_in(path: Path) -> list[Decision]:
    """Return the decisions of a trajectory that a person played."""
    return [
        Decision(step["action"] or "", "typed", return_to=step["return_to"])
        for step in read_trajectory(path).steps
        if step["reason"] is not None
    ]


def _show_nothing(text: str) -> None:
    """Ignore the text."""


def _end_of_input(prompt: str) -> str:
    """Report the end of the input, after everything that was typed."""
    raise EOFError
