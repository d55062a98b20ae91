"""``worldthread play``: watch an agent play a game, or play it yourself."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from worldthread.cli.running import (
    AgentOption,
    BudgetDollarsOption,
    BudgetTokensOption,
    PlayerModelOption,
    runs_of,
    settings_in,
)
from worldthread.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from rich.console import Console

    from worldthread.play.loop import Play
    from worldthread.play.runs import Run
    from worldthread.play.step_record import StepRecord

_SECONDS_A_MOVE = 0.1  # in a terminal: slow enough to watch, and a game still ends within a minute
_ALSO_RESUMING: Final = frozenset({"out", "resume", "model", "as_json", "delay"})
"""Options that a play that goes on takes; everything else is told by its folder."""


def play(
    context: typer.Context,
    game: Annotated[
        str, typer.Argument(help="A name that [bold]worldthread games[/bold] lists, or textworld:PATH, jericho:PATH.")
    ] = "treasure-hunt",
    agent: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Who plays: explorer, random, human, one with a model (ariadne, react, ...), or module:Class.",
        ),
    ] = "explorer",
    memory_module: Annotated[
        str, typer.Option(metavar="NAME", help="The memory module of an agent that asks one. Default: its own.")
    ] = "",
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Makes the game; the same seed gives the same game.")
    ] = 0,
    attempt: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the agent.")] = 0,
    steps: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Stop after so many moves. Default: the game's limit.")
    ] = None,
    model: PlayerModelOption = None,
    option: AgentOption = None,
    budget_tokens: BudgetTokensOption = None,
    budget_dollars: BudgetDollarsOption = None,
    goal: Annotated[str | None, typer.Option(help="Tell the player this task, for games that state none.")] = None,
    memory_file: Annotated[
        Path | None,
        typer.Option(
            "--memory",
            help="File for the memory; may hold other plays too, each a namespace. Default: in the run's folder.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for trajectory, memory and report. Default: in runs/.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the play in the folder --out.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as one JSON object, as last line.")
    ] = False,
    delay: Annotated[
        float | None, typer.Option(min=0, help=f"Seconds between moves. Default: {_SECONDS_A_MOVE} in a terminal.")
    ] = None,
    audit: Annotated[bool, typer.Option(help="Compare the memory with the truth after every move.")] = True,
    valid_actions: Annotated[bool, typer.Option(help="Let the agent see the list of valid actions.")] = True,
) -> None:
    """Watch an agent explore a text world and remember it, or play yourself.

    A play that was stopped or killed goes on with --resume: it is played again up to where it was, its model's answers
    come from its recording, and nothing is paid for twice. [bold]worldthread replay[/bold] proves a play.

    [dim]Examples:[/dim]

        worldthread play

        worldthread play treasure-hunt-hardest --seed 7

        worldthread play textworld:games/hunt.z8 --json

        worldthread play treasure-hunt --agent human      type the moves yourself

        worldthread play cooking --agent ariadne --model gpt-4o-mini --out meal

        worldthread play --out meal --resume              go on with it
    """
    from rich.console import Console

    from worldthread.memory import Memory
    from worldthread.play.run_files import play_in, read_summary, typed_in
    from worldthread.play.trajectory import TRAJECTORY_FILE

    console = Console(stderr=as_json, highlight=False)
    if resume:
        _require_no_other(context)
        begun = _begun(out)
        folder, run, name, memory_file, namespace = begun.folder, begun.run, begun.name, begun.memory, begun.namespace
        model = model or begun.asked_for
        summary = read_summary(folder)
        if summary is not None:
            typer.echo(f"the play in {folder} came to its end before", err=True)
            _finish(summary, folder, as_json=as_json)
            return
    else:
        (run,) = runs_of(
            [game], [agent], [memory_module] if memory_module else [], [seed], [attempt], model=model,
            settings=settings_in(option), budget_tokens=budget_tokens, budget_dollars=budget_dollars, steps=steps,
            goal=goal, audit=audit, valid_actions=valid_actions,
        )  # fmt: skip
        folder = run_folder(out, _name(run))
        name = folder.name
        namespace = _namespace(memory_file, name)
    file = memory_file or folder / "memory.worldthread"
    header = {"memory": str(memory_file.resolve()) if memory_file else file.name, "namespace": namespace}
    more: dict[str, Any] = {}
    if run.agent == "human":
        more = {"typed": typed_in(folder / TRAJECTORY_FILE) if resume else (), **_conversation(as_json=as_json)}
    with Memory(file, namespace=namespace, model="none") as memory:
        if resume:  # it is played again from the beginning, when nothing was known
            for episode in [episode.id for episode in memory.episodes()]:
                memory.forget(episode)
        try:
            summary = play_in(
                folder, run, model, name=name, memory=memory, graph=memory.graph, header=header,
                watch=None if more else lambda session: _watched(session, console, delay), **more,
            )  # fmt: skip
        except KeyboardInterrupt:
            typer.echo(f"\nthe run up to here is in {folder}: worldthread play --out {folder} --resume", err=True)
            raise
    _finish(summary, folder, as_json=as_json)


def _require_no_other(context: typer.Context) -> None:
    """Raise InputError when an option was given that the folder of a play decides."""
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name not in _ALSO_RESUMING and source is not None and source.name != "DEFAULT":
            shown = parameter.opts[0] if parameter.param_type_name == "option" else name.upper()
            raise InputError(f"--resume goes on as the play began: leave {shown} out")


@dataclass(frozen=True)
class _EarlierPlay:
    """A play that began before.

    Args:
        folder: where it lies.
        run: what is played.
        name: of the play.
        memory: the file of its memory; ``None`` for the one in the folder.
        namespace: of the memory.
        asked_for: how its model was named.
    """

    folder: Path
    run: Run
    name: str
    memory: Path | None
    namespace: str
    asked_for: str | None


def _begun(out: Path | None) -> _EarlierPlay:
    """The play in a folder.

    Raises:
        InputError: no folder was named, or it holds no play.
        FormatError: the play cannot go on with this release.
    """
    from worldthread.play.run_files import run_of
    from worldthread.play.trajectory import TRAJECTORY_FILE, TrajectoryComparison
    from worldthread.stores import DEFAULT_NAMESPACE

    if out is None:
        raise InputError("--resume wants the folder of the play: --out FOLDER")
    path = out / TRAJECTORY_FILE
    if not path.exists():
        raise InputError(f"{out} holds no play that could go on")
    header = TrajectoryComparison(path).header
    run, name = run_of(header, path)
    memory = Path(header["memory"]) if "memory" in header else None
    own = memory is None or not memory.is_absolute()
    namespace = header.get("namespace", DEFAULT_NAMESPACE)
    return _EarlierPlay(out, run, name, None if own else memory, namespace, header.get("asked_for"))


def run_folder(out: Path | None, name: str) -> Path:
    """The folder of a run, made anew: ``out``, or ``runs/<name>`` with a number when that is taken.

    Raises:
        InputError: the folder holds a run already, or cannot be made.
    """
    from worldthread.play.trajectory import TRAJECTORY_FILE

    try:
        if out is not None:
            if (out / TRAJECTORY_FILE).exists():
                raise InputError(f"{out} holds a run already: go on with it (--resume), or name another folder")
            out.mkdir(parents=True, exist_ok=True)
            return out
        Path("runs").mkdir(exist_ok=True)
        number = 1
        while True:
            folder = Path("runs") / (name if number == 1 else f"{name}-{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                number += 1
            else:
                return folder
    except OSError as error:
        raise InputError(f"cannot make the folder {error.filename or out}: {error.strerror}") from error


def _name(run: Run) -> str:
    """The name of a run's folder: the game with its version, who plays, and the seeds."""
    from worldthread.play.runs import file_name

    attempt = f"-attempt{run.attempt}" if run.attempt else ""
    return f"{file_name(run.game)}-{re.sub(':.*', '', file_name(run.player))}-seed{run.seed}{attempt}"


def _namespace(file: Path | None, run: str) -> str:
    """Where in a memory a play goes: the default one of its own file; one that is free in a file that was given."""
    from worldthread.stores import DEFAULT_NAMESPACE, SQLiteStore

    if file is None:
        return DEFAULT_NAMESPACE
    taken = set(SQLiteStore.namespaces(file)) if file.exists() else set()
    number = 1
    while (name := run if number == 1 else f"{run}-{number}") in taken:
        number += 1
    return name


def _conversation(*, as_json: bool) -> dict[str, Callable[[str], Any]]:
    """How a person is shown the world and asked: on standard output, or standard error beside ``--json``."""
    from worldthread.cli.output import harmless

    stream = sys.stderr if as_json else sys.stdout

    def show(text: str) -> None:
        print(harmless(text), file=stream, flush=True)

    def read(prompt: str) -> str:
        if sys.stdin.isatty():
            return input(prompt)  # with the keys for editing
        stream.write(prompt)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        print(harmless(line.rstrip("\n")), file=stream, flush=True)
        return line

    return {"show": show, "read": read}


@contextmanager
def _watched(session: Play, console: Console, delay: float | None) -> Iterator[Callable[[StepRecord], None]]:
    """What shows every step: a live picture in a terminal, a line per move elsewhere."""
    from worldthread.cli.live import LineDisplay, LiveDisplay

    screen: LineDisplay | LiveDisplay
    if console.is_terminal:
        screen = LiveDisplay(console, f"{session.env.id}  {session.agent.name}  seed {session.seed}", session.max_moves)
    else:
        screen = LineDisplay(sys.stderr if console.stderr else sys.stdout)
    wait = delay if delay is not None else _SECONDS_A_MOVE if console.is_terminal else 0

    def show(record: StepRecord) -> None:
        screen.show(record, session.graph.view())
        time.sleep(wait)

    with screen:
        yield show


def _finish(summary: dict[str, Any], folder: Path, *, as_json: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    from worldthread.cli.live import summary_table
    from worldthread.play.run_page import write_report
    from worldthread.play.trajectory import TRAJECTORY_FILE

    summary = {**summary, "trajectory": str(folder / TRAJECTORY_FILE)}
    advice = ""
    try:
        summary["report"] = str(write_report(folder))
    except MissingExtraError as error:
        summary["report"] = None
        advice = str(error)
    if as_json:
        if advice:
            typer.echo(advice, err=True)
        typer.echo(json.dumps(summary))
        return
    console = Console(highlight=False)
    console.print()
    console.print(summary_table(summary))
    console.print(Text(f"run     {folder}"), soft_wrap=True)
    console.print(Text(f"report  {summary['report'] or 'not written: ' + advice}"), soft_wrap=True)
