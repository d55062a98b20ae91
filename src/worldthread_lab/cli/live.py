"""The display of a running play: a live picture on a terminal, one line per step elsewhere."""

from __future__ import annotations

from collections import deque
from types import TracebackType
from typing import Any, Self, TextIO

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.layout import Layout
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from worldthread.cli.output import number_of
from worldthread.graph import GraphView
from worldthread.text import one_line
from worldthread_lab.agents.worldmap import WorldMap
from worldthread_lab.cli.textmap import draw_map
from worldthread_lab.game import vocabulary as v
from worldthread_lab.play.map_layout import MapLayout, lay_out, room_names
from worldthread_lab.play.step_record import StepRecord

_NARROW = 100  # a terminal with fewer columns gets smaller side panels


class LineDisplay:
    """Prints one line per step, without control codes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, record: StepRecord, view: GraphView) -> None:
        """Print a step, and the player's room according to the memory."""
        why = record.percept.problem or (record.decision.reason if record.decision else "")
        reason = f"  ({why})" if why else ""
        place = view.value(v.PLAYER, v.IS_IN) or "?"
        figures = f"score {record.info.score:g}, +{len(record.learned)} -{len(record.ended)} facts"
        self._stream.write(f"{record.turn:4d}  {printable_line(f'{record.label}  [{place}]  {figures}{reason}')}\n")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class LiveDisplay:
    """Shows a live picture: the map and inventory according to the memory, and the last step with its reason."""

    def __init__(self, console: Console, title: str, max_moves: int | None) -> None:
        self._frame = LiveFrame(title, max_moves)
        self._live = Live(self._frame, console=console, auto_refresh=False, vertical_overflow="crop")

    def show(self, record: StepRecord, view: GraphView) -> None:
        """Draw a step, and the memory after it."""
        self._frame.take(record, view)
        self._live.refresh()

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()


class LiveFrame:
    """One picture of a play, in the size of the terminal."""

    def __init__(self, title: str, max_moves: int | None) -> None:
        self._title = printable_line(title)
        self._max_moves = max_moves
        self._record: StepRecord | None = None
        self._actions: deque[tuple[int, str]] = deque(maxlen=20)
        self._layout: MapLayout | None = None
        self._carried: list[str] = []
        self._goal = ""

    def take(self, record: StepRecord, view: GraphView) -> None:
        """Set the step to draw."""
        if record.decision is not None:
            self._actions.append((record.turn, record.label))
        self._record = record
        self._layout = lay_out(WorldMap(view), room_names(view))
        self._carried = [fact.subject for fact in view.facts(relation=v.IS_IN, object=v.INVENTORY)]
        self._goal = " ".join(thesis.text for thesis in view.theses(about=v.GOAL)) or record.info.goal

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the picture."""
        if self._record is None or self._layout is None:
            # the first move may take seconds
            yield Text(f"Starting {self._title} ...", style="dim", overflow="ellipsis", no_wrap=True)
            return
        # the last line of the terminal is for the cursor
        width, height = options.max_width, max(console.height - 1, 12)
        step_height = 8 if height < 30 else 12
        side_width = 26 if width < _NARROW else 38
        goal_height = 1 if height < 30 else 2
        frame = Layout()
        frame.split_column(
            Layout(self._head(self._record, 20 if width >= _NARROW else 10), size=1),
            Layout(Text(f"goal: {printable_line(self._goal) or 'none'}", style="italic", overflow="ellipsis",
                        no_wrap=goal_height == 1), size=goal_height),
            Layout(name="middle"),
            Layout(self._step(self._record, step_height - 2, width - 4), size=step_height),
        )  # fmt: skip
        map_width, map_height = width - side_width - 4, height - step_height - goal_height - 3
        frame["middle"].split_row(
            Layout(
                Panel(
                    draw_map(self._layout, map_width, map_height),
                    title=self._map_title(),
                    subtitle=self._place(),
                    border_style="blue",
                )
            ),
            Layout(self._side(self._record, map_height), size=side_width),
        )
        yield from console.render(frame, options.update(width=width, height=height))

    def _map_title(self) -> Text:
        assert self._layout is not None
        loose = len(self._layout.loose)
        exits = "unexplored exit" if loose == 1 else "unexplored exits"
        return Text.assemble(f"map: {len(self._layout.cells)} rooms, ", (f"{loose} {exits}", "yellow"))

    def _place(self) -> Text:
        assert self._layout is not None
        here = self._layout.here
        return _clipped("" if here is None else self._layout.names.get(here, here), "bold green")

    def _head(self, record: StepRecord, bar_width: int) -> RenderableType:
        score, best = record.info.score, record.info.max_score
        moves = f"move {record.turn}" + (f"/{self._max_moves}" if self._max_moves else "")
        row = Table.grid(expand=True, padding=(0, 1))
        for justify in ("left", "left", "right"):
            row.add_column(justify=justify, no_wrap=True)
        bar: RenderableType = ProgressBar(total=best, completed=max(score, 0), width=bar_width) if best else ""
        total = f"/{best:g}" if best is not None else ""
        state = ("  WON", "bold green") if record.info.won else ("  LOST", "bold red") if record.info.lost else ("", "")
        score_row = Table.grid(padding=(0, 1))
        score_row.add_row(bar, Text.assemble((f"{score:g}{total}", "bold"), " points", state))
        row.add_row(Text(self._title, style="bold", overflow="ellipsis"), score_row, moves)
        return row

    def _side(self, record: StepRecord, height: int) -> RenderableType:
        memory = [f"{record.facts} facts, {record.vertices} names"]
        if (audit := record.audit) is not None:
            memory += [f"precision {audit.precision:.3f}", f"recall {audit.recall:.3f}, stale {audit.stale_steps}"]
        # the two lists share the lines that the headings and the memory leave
        free = max(height - len(memory) - 3, 2)
        recent = min(8, max(free - len(self._carried), (free + 1) // 2), len(self._actions))
        carried = self._carried or ["nothing"]
        if len(carried) > max(free - recent, 1):
            kept = max(free - recent - 1, 0)
            carried = [
                *carried[:kept],
                f"{'and ' if kept else ''}{len(carried) - kept}{' more' if kept else ' things'}",
            ]
        actions = [f"{turn:3d} {action}" for turn, action in list(self._actions)[-recent:]] if recent else []
        lines: list[Text] = []
        for heading, content in (("carried", carried), ("memory, audited", memory), ("last actions", actions)):
            lines.append(Text(heading if audit or heading != "memory, audited" else "memory", style="bold cyan"))
            lines += [_clipped(f" {line}") for line in content]
        return Panel(Group(*lines), border_style="blue")

    def _step(self, record: StepRecord, lines: int, width: int) -> RenderableType:
        decision = record.decision
        parts: list[Text] = []
        if decision is None:
            parts.append(Text("the game begins", style="bold"))
        else:
            why, style = f"why: {decision.reason}", "yellow" if decision.stuck else "default"
            if record.percept.problem:
                why, style = f"no action: {record.percept.problem}", "red"
            parts.append(_clipped(why, style))
        parts.append(_clipped(printable_line(record.observation), "dim"))
        room = lines - len(parts)
        ended = [_clipped(f"- {statement}", "red") for statement, _ in record.ended]
        learned = [_clipped(f"+ {statement}", "green") for statement in record.learned]
        kept_ended = ended[: max(room - min(len(learned), (room + 1) // 2), 0)]
        kept = [*learned[: room - len(kept_ended)], *kept_ended]
        left_out = len(learned) + len(ended) - len(kept)
        title = f"> {record.label}" if decision else "opening"
        subtitle = f"and {left_out} more" if left_out else None
        return Panel(
            Group(*parts, *kept), title=_clipped(printable_line(title), "bold"), title_align="left", subtitle=subtitle,
            subtitle_align="right", border_style="blue",
        )  # fmt: skip


def _clipped(text: str, style: str = "") -> Text:
    return Text(printable_line(text), style=style, no_wrap=True, overflow="ellipsis")


def printable_line(text: str) -> str:
    """Return ``text`` without line breaks and control characters, which could disturb a terminal."""
    return one_line("".join(sign if sign.isprintable() else " " for sign in text))


def summary_table(summary: dict[str, Any]) -> Table:
    """Return the figures of a play as a table."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    score = f"{summary['score']:g}" + (f" of {summary['max_score']:g}" if summary["max_score"] else "")
    table.add_row("result", Text("won" if summary["won"] else "not won", style="green" if summary["won"] else "yellow"))
    if summary["returns"]:
        score += f" at the end, {summary['best_score']:g} at best"
    table.add_row("score", score)
    moves = f"{summary['moves']} in {summary['decisions']} decisions"
    if summary["returns"]:
        moves += f", {number_of(summary['returns'], 'return')} to earlier states"
    if summary["optimal_moves"]:
        moves += f" (the shortest solution has {summary['optimal_moves']})"
    table.add_row("moves", moves)
    memory = summary["memory"]
    table.add_row("memory", f"{memory['episodes']} texts, {memory['facts']} current facts, {memory['ended']} ended")
    if summary["audit"]:
        table.add_row("audit", _audit_text(summary["audit"]))
    if own := summary.get("module_memory"):
        table.add_row("module's graph", f"{own['episodes']} texts, {own['facts']} current facts, {own['ended']} ended")
        if summary.get("module_audit"):
            table.add_row("its audit", _audit_text(summary["module_audit"]))
    failures = [f"{summary['unparsable']} decisions without an action"] if summary["unparsable"] else []
    failures += (
        [f"{summary['invalid']} actions without effect outside the list of valid actions"] if summary["invalid"] else []
    )
    if failures:
        table.add_row("failures", ", ".join(failures))
    if summary["model"]:
        tokens = summary["prompt_tokens"] + summary["completion_tokens"]
        cost = "price unknown" if summary["cost_usd"] is None else f"${summary['cost_usd']:.4f}"
        name = printable_line(summary["model"])
        table.add_row("model", Text(f"{name}: {summary['model_calls']} calls, {tokens:,} tokens, {cost}"))
    if summary["ended_by"] == "budget":
        table.add_row("stopped", "the budget for the model is spent")
    table.add_row("seconds", f"{summary['seconds']:g}")
    return table


def _audit_text(audit: dict[str, Any]) -> str:
    stale = number_of(audit["stale_steps"], "stale step")
    return f"precision {audit['precision']:.4f}, recall {audit['recall']:.4f}, {stale}"
