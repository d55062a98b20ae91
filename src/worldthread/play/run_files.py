"""The folder of a run: play a run into its folder, resume it there, and replay it.

The folder holds ``trajectory.jsonl`` (:mod:`worldthread.play.trajectory`), ``recording.jsonl`` when the agent calls a
model (:mod:`worldthread.models.recording_file`), and ``summary.json`` after the end of the play.

The percepts, the arguments of the agent and the answers of its model determine a play. A run that was interrupted
therefore resumes by playing again from the beginning: the recording supplies the answers that it holds, each line that
the trajectory already holds is compared instead of written again, and where the files end the play continues live. A
replay does the same and never continues live.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from worldthread.agents import AgentMemory, Decision, agent_class
from worldthread.errors import FormatError, ReplayError
from worldthread.graph import TemporalGraph
from worldthread.models.meter import UsageTotals
from worldthread.paths import write_private_file
from worldthread.play.loop import Play
from worldthread.play.run import Run
from worldthread.play.run_model import recorded_model, replayed_model
from worldthread.play.runs import opened
from worldthread.play.step_record import StepRecord
from worldthread.play.trajectory import TRAJECTORY_FILE, TrajectoryComparison, TrajectoryWriter, read_trajectory

SUMMARY_FILE: Final = "summary.json"
"""The name of the file with the figures of a finished run, in the folder of the run."""


def header_of(run: Run, name: str, **more: Any) -> dict[str, Any]:
    """Return the header of a run's trajectory, which holds everything that is needed to play the run again."""
    settings = asdict(run)
    release = settings.pop("version")
    leading = {"game": run.game, "agent": run.agent, "seed": run.seed}
    return {**leading, "name": name, "settings": settings, "release": release, **more}


def run_of(header: dict[str, Any], path: Path) -> tuple[Run, str]:
    """Return the run that the header of a trajectory describes.

    Args:
        header: the header.
        path: the file, for the error message.

    Returns:
        The run, and the name of its play.

    Raises:
        FormatError: the header does not describe a run that can be played again.
    """
    try:
        return Run(**header["settings"], version=header["release"]), header["name"]
    except (KeyError, TypeError) as error:
        raise FormatError(f"the header does not describe the run: {error}", path=path, line=1) from error


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
    **more: Any,
) -> dict[str, Any]:
    """Play a run to its end in its folder, or resume the run that the folder holds.

    Args:
        folder: the folder of the run; created when it does not exist.
        run: the run to play.
        argument: the name of the model as given by the caller; see :func:`~worldthread.play.run_model.recorded_model`.
        name: the name of the play, which is the source of its episodes.
        memory: see :func:`~worldthread.play.runs.opened`. It must be empty, also when a run is resumed.
        graph: the graph of ``memory``.
        header: additional fields for the header of the trajectory.
        watch: opens a display for the play; the function that it yields is called with every step, including the steps
            that the trajectory already holds.
        more: further arguments of the agent.

    Returns:
        The figures of the run, as ``summary.json`` holds them.

    Raises:
        FormatError: the trajectory in the folder belongs to a different run; the message names the first line that
            differs.
        StoreLockedError: another process plays in the folder.
        StoreError: the folder cannot be written.
        ModelError: a call of the model failed; play again to resume the run at this point.
    """
    needs_model = agent_class(run.agent).asks_model
    with ExitStack() as stack:
        fields = header_of(run, name, asked_for=argument, **(header or {}))
        trajectory = stack.enter_context(TrajectoryWriter(folder / TRAJECTORY_FILE, fields, resume=True))
        model = stack.enter_context(recorded_model(run, argument, folder)) if needs_model else None
        play = stack.enter_context(opened(run, name=name, memory=memory, graph=graph, model=model, **more))
        display = stack.enter_context(watch(play)) if watch else None
        for record in play:
            trajectory.write(record.as_json())
            if display is not None:
                display(record)
        trajectory.finish(play.summary())
        figures = asdict(play.auditor.result()) if play.audit else None
        names = {"memory_module": run.memory, "attempt": run.attempt}
        summary = {**play.summary(), **names, **play.costs(), "audit_figures": figures}
    write_summary(folder, summary)
    return summary


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
        FormatError: the file is damaged.
    """
    path = folder / SUMMARY_FILE
    try:
        summary: dict[str, Any] = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except orjson.JSONDecodeError as error:
        raise FormatError(f"this is not the summary of a run: {error}", path=path) from error
    return summary


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


def replay(folder: Path) -> ReplayResult:
    """Play a run again with the answers of its recording, and compare every line with its trajectory.

    Args:
        folder: the folder of the run.

    Returns:
        What was compared, and the first difference.

    Raises:
        InputError: the folder holds no run.
        FormatError, StoreError: a file is damaged, or was written by another version.
    """
    path = folder / TRAJECTORY_FILE
    comparison = TrajectoryComparison(path)
    run, name = run_of(comparison.header, path)
    is_typed = run.agent == "human"
    more: dict[str, Any] = {"typed": typed_in(path), "show": _show_nothing, "read": _end_of_input} if is_typed else {}
    model = replayed_model(run, folder) if agent_class(run.agent).asks_model else None
    comparison.take(orjson.dumps(comparison.header))
    difference = None
    with opened(run, name=name, model=model, **more) as play:
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
