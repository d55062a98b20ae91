"""Commands for one game: ``play`` and ``games``."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from worldthread.errors import InputError, MissingExtraError
from worldthread_lab.cli.running import (
    AgentOption,
    AllowCodeOption,
    BudgetDollarsOption,
    BudgetTokensOption,
    DecisionsOption,
    PlayerModelOption,
    PromptsOption,
    SetOption,
    SettingsFileOption,
    prompts_of_run,
    runs_of,
    settings_in,
)

if TYPE_CHECKING:
    from rich.console import Console

    from worldthread.memory.memory import Memory
    from worldthread_lab.play.loop import Play
    from worldthread_lab.play.run import Run
    from worldthread_lab.play.step_record import StepRecord


_SECONDS_PER_MOVE = 0.1  # in a terminal: slow enough to watch, and a game still ends within a minute
_ALLOWED_WITH_RESUME: Final = frozenset({"out", "resume", "model", "as_json", "delay", "memory_file", "allow_code"})
"""The options that ``--resume`` allows; the folder of the play determines everything else.

The folder may come from somebody else: it does not decide which file is emptied and written outside of it, which server
gets the user's key, or which code runs.
"""


def play(
    context: typer.Context,
    game: Annotated[
        str,
        typer.Argument(
            metavar="GAME",
            help="A name that [bold]worldthread games[/bold] lists, or a game file: textworld:PATH, jericho:PATH.",
        ),
    ] = "treasure-hunt",
    agent: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The player: explorer or random (no model needed); ariadne, react or another agent with a model; "
            "human (you type the commands); or module:Class with --allow-code module.",
        ),
    ] = "explorer",
    memory_module: Annotated[
        str, typer.Option(metavar="NAME", help="The memory module of an agent that uses one. Default: the agent's own.")
    ] = "",
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="The seed of the game: the same seed gives the same game.")
    ] = 0,
    attempt: Annotated[
        int, typer.Option(min=0, metavar="N", help="The seed of the agent: repeats its random choices.")
    ] = 0,
    steps: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="The limit of moves. Default: the game's own.")
    ] = None,
    model: PlayerModelOption = None,
    option: AgentOption = None,
    set_: SetOption = None,
    settings_file: SettingsFileOption = None,
    prompts: PromptsOption = None,
    decisions: DecisionsOption = None,
    budget_tokens: BudgetTokensOption = None,
    budget_dollars: BudgetDollarsOption = None,
    goal: Annotated[str | None, typer.Option(help="The task of the player, for games that state none.")] = None,
    memory_file: Annotated[
        Path | None,
        typer.Option(
            "--memory",
            help="The memory file; one file can hold many plays, each in its own namespace. Default: a file in the "
            "folder of the run.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder for the trajectory, the memory and the report. Default: a new folder in runs/."),
    ] = None,
    allow_code: AllowCodeOption = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the unfinished play in the folder --out.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as one JSON object on the last line.")
    ] = False,
    delay: Annotated[
        float | None,
        typer.Option(min=0, help=f"Seconds between moves. Default: {_SECONDS_PER_MOVE} on a terminal, else 0."),
    ] = None,
    audit: Annotated[
        bool, typer.Option(help="Compare the memory with the true state of the game after every move.")
    ] = True,
    valid_actions: Annotated[bool, typer.Option(help="Show the agent the list of valid actions.")] = True,
) -> None:
    """Watch an agent play a text game, or play the game yourself.

    On a terminal you see the map in the agent's memory, its moves and their reasons; elsewhere, one line per move. At
    the end it prints a summary and leaves a folder with the trajectory, the memory and an HTML report.

    An interrupted play continues with [bold]--resume[/bold]. It uses the recorded answers of the model again, so no
    answer is paid for twice. [bold]worldthread replay[/bold] checks that a run can be reproduced.

    [dim]Examples:[/dim]

        worldthread play

        worldthread play treasure-hunt-hardest --seed 7

        worldthread play textworld:games/hunt.z8 --json

        worldthread play treasure-hunt --agent human      type the commands yourself

        worldthread play cooking --agent ariadne --model gpt-4o-mini --out meal

        worldthread play --out meal --resume              continue after an interruption
    """
    from rich.console import Console

    from worldthread.memory.memory import Memory
    from worldthread_lab.play.run_files import play_in, read_summary, typed_in
    from worldthread_lab.play.run_summary import has_all_figures
    from worldthread_lab.play.trajectory import TRAJECTORY_FILE

    console = Console(stderr=as_json, highlight=False)
    allowed = allow_code or []
    if resume:
        _require_no_other(context)
        earlier = _earlier_play(out, allowed)
        folder, run, name, namespace = earlier.folder, earlier.run, earlier.name, earlier.namespace
        _require_same_memory(memory_file, earlier.memory)
        summary = read_summary(folder)
        if summary is not None and has_all_figures(summary):
            typer.echo(f"the play in {folder} is already finished", err=True)
            _finish(summary, folder, memory_file, as_json=as_json)
            return
        model = model or _model_to_resume(earlier.asked_for)
    else:
        (run,) = runs_of(
            [game], [agent], [memory_module] if memory_module else [], [seed], [attempt], model=model,
            settings=settings_in(option, set_, settings_file),
            budget_tokens=budget_tokens, budget_dollars=budget_dollars, steps=steps,
            goal=goal, audit=audit, valid_actions=valid_actions, decisions=decisions,
        prompts=prompts_of_run(prompts), allow_code=allowed,
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
        if resume:  # the play is repeated from the beginning, with an empty memory
            _forget_play(memory, name, file)
        try:
            summary = play_in(
                folder, run, model, name=name, memory=memory.record, graph=memory.record.graph, header=header,
                watch=None if more else lambda game_play: _watched(game_play, console, delay), allow_code=allowed,
                **more,
            )  # fmt: skip
        except KeyboardInterrupt:
            typer.echo(
                f"\nthe steps so far are in {folder}; continue with: worldthread play --out {folder} --resume", err=True
            )
            raise
    _finish(summary, folder, memory_file, as_json=as_json)


def _require_no_other(context: typer.Context) -> None:
    """Raise InputError when an option is given that the folder of the play determines."""
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name not in _ALLOWED_WITH_RESUME and source is not None and source.name != "DEFAULT":
            shown = parameter.opts[0] if parameter.param_type_name == "option" else name.upper()
            raise InputError(f"--resume continues with the recorded settings: leave out {shown}")


@dataclass(frozen=True)
class _EarlierPlay:
    """An unfinished play that a folder holds.

    Args:
        folder: the folder.
        run: the run.
        name: the name of the play.
        memory: the memory file outside of the folder that the header names; ``None`` for the file in the folder.
        namespace: the namespace of the memory.
        asked_for: the name of the model as the user gave it.
    """

    folder: Path
    run: Run
    name: str
    memory: Path | None
    namespace: str
    asked_for: str | None


def _require_same_memory(given: Path | None, recorded: Path | None) -> None:
    """Check that the user named the memory file of a play, which resuming empties, unless it is in the folder.

    Args:
        given: the file that the user named.
        recorded: the file that the header of the play names; ``None`` for the file in the folder.

    Raises:
        InputError: the files differ.
    """
    if recorded is None:
        if given is not None:
            raise InputError("the memory of this play is in its folder: leave out --memory")
    elif given is None:
        raise InputError(
            f"the memory of this play is outside of its folder, and resuming empties it. If {recorded} is the memory "
            f"of this play, add --memory {shlex.quote(str(recorded))}"
        )
    elif given.resolve() != recorded.resolve():
        raise InputError(f"--memory {given} is not the memory of this play, which is {recorded}")


def _model_to_resume(asked_for: str | None) -> str | None:
    """Return the model of a play as its folder names it; the folder does not choose the server.

    Args:
        asked_for: the name of the model as the header of the play gives it.

    Returns:
        The name.

    Raises:
        InputError: the name begins with the name of a server, which would get the user's key and his texts.
    """
    from worldthread.models.config import SERVERS

    if asked_for is not None and asked_for.partition("/")[0] in SERVERS:
        raise InputError(
            f"this play asked the model {asked_for!r}, and the folder of a play does not choose the server that is "
            f"called. To call it, add --model {shlex.quote(asked_for)}"
        )
    return asked_for


def _forget_play(memory: Memory, name: str, file: Path) -> None:
    """Forget what an unfinished play has remembered.

    Args:
        memory: the memory of the play.
        name: the name of the play, which is the source of its episodes.
        file: the file, for the error message.

    Raises:
        InputError: the memory holds something else; nothing was forgotten.
    """
    episodes = list(memory.episodes())
    if any(episode.source != name for episode in episodes):
        raise InputError(f"{file} holds more than this play has remembered, and resuming would forget it")
    for episode in episodes:
        memory.forget(episode.id)


def _earlier_play(out: Path | None, allow_code: Collection[str]) -> _EarlierPlay:
    """Read the play that a folder holds.

    Args:
        out: the folder; ``None`` when the user gave none.
        allow_code: the code that the play may use; see :func:`~worldthread_lab.play.run_files.run_of`.

    Returns:
        The play.

    Raises:
        InputError: there is no folder, it has no play, or the play needs code that is not allowed.
        FormatError: the folder holds a link, or this release cannot resume the play.
    """
    from worldthread.stores import DEFAULT_NAMESPACE
    from worldthread_lab.play.run_files import require_own_files, run_of
    from worldthread_lab.play.trajectory import TRAJECTORY_FILE, TrajectoryComparison

    if out is None:
        raise InputError("--resume needs the folder of the play: --out FOLDER")
    path = out / TRAJECTORY_FILE
    if not path.exists():
        raise InputError(f"{out} has no play to resume")
    require_own_files(out)
    header = TrajectoryComparison(path).header
    run, name = run_of(header, path, allow_code)
    memory = Path(header["memory"]) if "memory" in header else None
    own = memory is None or not memory.is_absolute()
    namespace = header.get("namespace", DEFAULT_NAMESPACE)
    return _EarlierPlay(out, run, name, None if own else memory, namespace, header.get("asked_for"))


def run_folder(out: Path | None, name: str) -> Path:
    """Create the folder of a run.

    Args:
        out: the folder; ``None`` creates ``runs/<name>``, with a number if that exists.
        name: the name of the run.

    Returns:
        The folder.

    Raises:
        InputError: the folder already has a run, or cannot be created.
        FormatError: the folder holds a link.
    """
    from worldthread.files.paths import make_private_folder
    from worldthread_lab.play.run_files import require_own_files
    from worldthread_lab.play.trajectory import TRAJECTORY_FILE

    try:
        if out is not None:
            if (out / TRAJECTORY_FILE).exists():
                raise InputError(f"{out} already has a run: continue it with --resume, or choose another folder")
            require_own_files(out)
            make_private_folder(out)
            return out
        make_private_folder(Path("runs"))
        number = 1
        while True:
            folder = Path("runs") / (name if number == 1 else f"{name}-{number}")
            try:
                make_private_folder(folder, exist_ok=False)
            except FileExistsError:
                number += 1
            else:
                return folder
    except OSError as error:
        raise InputError(f"cannot create the folder {error.filename or out}: {error.strerror}") from error


def _name(run: Run) -> str:
    """Return the name of a run: the game with its version, the player, and the seeds."""
    from worldthread_lab.play.run import file_name

    attempt = f"-attempt{run.attempt}" if run.attempt else ""
    return f"{file_name(run.game)}-{re.sub(':.*', '', file_name(run.player))}-seed{run.seed}{attempt}"


def _namespace(file: Path | None, run: str) -> str:
    """Return the namespace of a play: the default in the run's own file, an unused name in a given file."""
    from worldthread.stores import DEFAULT_NAMESPACE, SQLiteStore

    if file is None:
        return DEFAULT_NAMESPACE
    taken = set(SQLiteStore.namespaces(file)) if file.exists() else set()
    number = 1
    while (name := run if number == 1 else f"{run}-{number}") in taken:
        number += 1
    return name


def _conversation(*, as_json: bool) -> dict[str, Callable[[str], Any]]:
    """Return the functions that show texts to a person and read commands; with ``--json`` on standard error."""
    from worldthread.cli.output import harmless

    stream = sys.stderr if as_json else sys.stdout

    def show(text: str) -> None:
        print(harmless(text), file=stream, flush=True)

    def read(prompt: str) -> str:
        if sys.stdin.isatty():
            return input(prompt)  # with line editing
        stream.write(prompt)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        print(harmless(line.rstrip("\n")), file=stream, flush=True)
        return line

    return {"show": show, "read": read}


@contextmanager
def _watched(game_play: Play, console: Console, delay: float | None) -> Iterator[Callable[[StepRecord], None]]:
    """Yield a function that shows a step: as a live picture on a terminal, as one line elsewhere."""
    from worldthread_lab.cli.showing import LineDisplay, LiveDisplay

    screen: LineDisplay | LiveDisplay
    if console.is_terminal:
        screen = LiveDisplay(
            console, f"{game_play.env.id}  {game_play.agent.name}  seed {game_play.seed}", game_play.max_moves
        )
    else:
        screen = LineDisplay(sys.stderr if console.stderr else sys.stdout)
    wait = delay if delay is not None else _SECONDS_PER_MOVE if console.is_terminal else 0

    def show(record: StepRecord) -> None:
        screen.show(record, game_play.graph.view())
        time.sleep(wait)

    with screen:
        yield show


def _finish(summary: dict[str, Any], folder: Path, memory: Path | None, *, as_json: bool) -> None:
    """Write the report, with the map of a memory outside of the folder if one is given, and print the summary."""
    from rich.console import Console
    from rich.text import Text

    from worldthread_lab.cli.showing import summary_table
    from worldthread_lab.play.run_page import write_report
    from worldthread_lab.play.trajectory import TRAJECTORY_FILE

    summary = {**summary, "trajectory": str(folder / TRAJECTORY_FILE)}
    advice = ""
    try:
        summary["report"] = str(write_report(folder, memory=memory))
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
    console.print(Text(f"run      {folder}"), soft_wrap=True)
    console.print(Text(f"report   {summary['report'] or 'not written: ' + advice}"), soft_wrap=True)


def games(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line instead of a table.")] = False,
) -> None:
    """List the games that can be played.

    Prints the name, the task and the limit of moves of each game. Generated games differ by their seed. Game files are
    named [bold]textworld:PATH[/bold] or [bold]jericho:PATH[/bold]; TextWorld files in the folders of $WORLDTHREAD_GAMES
    are listed too and need no path.

    [dim]Examples:[/dim]

        worldthread games

        worldthread games --json | jq -r .id
    """
    from worldthread_lab.envs import games as registered
    from worldthread_lab.envs.registry import GAMES_VARIABLE

    specs = registered()
    files: list[tuple[str, Path]] = []
    for folder in filter(None, os.environ.get(GAMES_VARIABLE, "").split(os.pathsep)):
        for place in (Path(folder), Path(folder) / "textworld"):
            files += [(f"textworld:{file.stem}", file) for file in sorted(place.glob("*.z8"))]
    if as_json:
        for spec in specs:
            line: dict[str, object] = {"id": spec.id, "title": spec.title, "description": spec.description}
            line |= {"max_moves": spec.default_max_moves, "installed": spec.installed, "extra": spec.extra}
            typer.echo(json.dumps(line))
        for name, file in files:
            typer.echo(json.dumps({"id": name, "path": str(file)}))
        return

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from worldthread.installation import install_command

    table = Table(box=None, pad_edge=False)
    table.add_column("game", style="bold")
    table.add_column("task", ratio=1)
    table.add_column("max moves", justify="right")
    for spec in specs:
        task = Text(f"{spec.title}. {spec.description}")
        if not spec.installed:
            task.append(" (not installed)", style="yellow")
        table.add_row(spec.name, task, str(spec.default_max_moves or "500"))
    for name, file in files:
        table.add_row(Text(name), Text(str(file)), "500")
    console = Console()
    console.print(table)
    for extra in sorted({spec.extra or "" for spec in specs if not spec.installed}):
        missing = [spec.name for spec in specs if not spec.installed and spec.extra == extra]
        names = missing[0] if len(missing) == 1 else f"{missing[0]} to {missing[-1]} ({len(missing)} games)"
        console.print(Text(f"\nTo play {names}: {install_command(extra)}", style="yellow"))
    console.print(
        Text(
            "\nPlay a game with: worldthread play GAME --seed N; a game file with: worldthread play textworld:PATH",
            style="dim",
        )
    )
