"""What a terminal shows of a play while it runs: the state, the map and the last steps."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TextIO

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.layout import Layout
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.style import Style
from rich.table import Table
from rich.text import Text

from worldthread.cli.output import number_of
from worldthread.graph import GraphView
from worldthread.support.text import one_line
from worldthread_lab.agents.worldmap import WorldMap
from worldthread_lab.game import vocabulary as v
from worldthread_lab.play.map_layout import Cell, Link, MapLayout, lay_out, room_names
from worldthread_lab.play.step_record import StepRecord

_ROOM = Style(color="white", bgcolor="blue")
_HERE = Style(color="black", bgcolor="green", bold=True)
_WAY = Style(color="cyan")
_PRESUMED = Style(dim=True)
_LOOSE = Style(color="yellow", bold=True)

_GAPS = (3, 1)  # columns between two rooms, wide and narrow; there is one line between them
_NARROWEST, _READABLE, _WIDEST = 8, 10, 18  # columns of a room

_STEP = {
    "north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0),
    "northeast": (1, -1), "northwest": (-1, -1), "southeast": (1, 1), "southwest": (-1, 1),
}  # fmt: skip
_SIGN = {(1, 0): "─", (-1, 0): "─", (0, 1): "│", (0, -1): "│", (1, 1): "╲", (-1, -1): "╲", (1, -1): "╱", (-1, 1): "╱"}
_PRESUMED_SIGN = {"─": "╌", "│": "┊"}
_BADGE = {"up": "↑", "down": "↓", "in": "◦", "out": "◦"}


class _Canvas:
    """A grid of characters with styles; characters outside the window are dropped."""

    def __init__(self, left: int, top: int, width: int, height: int) -> None:
        self.left, self.top = left, top
        self._signs = [[" "] * width for _ in range(height)]
        self._styles: list[list[Style | None]] = [[None] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str, style: Style) -> None:
        row = y - self.top
        if not 0 <= row < len(self._signs):
            return
        column = x - self.left
        for sign in text:
            cells = cell_len(sign)
            if cells and column >= 0 and column + cells <= len(self._signs[row]):
                # a wide character also covers the next column
                for place, part in enumerate([sign, *[""] * (cells - 1)]):
                    self._signs[row][column + place] = part
                    self._styles[row][column + place] = style
            column += cells

    def is_empty(self, x: int, y: int) -> bool:
        row, column = y - self.top, x - self.left
        inside = 0 <= row < len(self._signs) and 0 <= column < len(self._signs[row])
        return inside and self._signs[row][column] == " " and self._styles[row][column] is None

    def text(self) -> Text:
        lines = []
        for signs, styles in zip(self._signs, self._styles, strict=True):
            line = Text(no_wrap=True, end="")
            for sign, style in zip(signs, styles, strict=True):
                line.append(sign, style)
            lines.append(line)
        return Text("\n", no_wrap=True).join(lines)


def draw_map(layout: MapLayout, width: int, height: int) -> Text:
    """Draw the player's storey, cropped around the player when it exceeds ``width`` x ``height`` characters."""
    if layout.here is None or layout.here not in layout.cells or width < 1 or height < 1:
        return Text("no room is known yet", style="dim")
    storey = layout.cells[layout.here][2]
    rooms = {room: cell for room, cell in layout.cells.items() if cell[2] == storey}
    badges = {room: "".join(f" {badge}" for badge in found) for room, found in _badges(layout).items()}
    longest = max(cell_len(layout.names[room] + badges.get(room, "")) for room in rooms) + 2
    columns = max(cell[0] for cell in rooms.values()) + 1
    grid = _grid(columns, longest, width)
    canvas = _window(rooms, layout.cells[layout.here], grid, width, height)
    for room, cell in rooms.items():
        name = _fitted(layout.names[room], badges.get(room, ""), grid.room - 2)
        canvas.put(*grid.corner(cell), f" {name} ", _HERE if room == layout.here else _ROOM)
    for link in layout.links:
        if link.start in rooms and link.end in rooms:
            _draw_link(canvas, link, rooms, grid)
    for exit_ in layout.loose:
        if exit_.room in rooms and exit_.direction in _STEP:
            _draw_stub(canvas, grid, rooms[exit_.room], _STEP[exit_.direction], "?", _LOOSE)
    return canvas.text()


@dataclass(frozen=True)
class _Grid:
    """The columns of a room and between two rooms; each room has one line, with one line between rooms."""

    room: int
    gap: int

    def corner(self, cell: Cell) -> tuple[int, int]:
        return cell[0] * (self.room + self.gap), cell[1] * 2


def _grid(columns: int, longest: int, width: int) -> _Grid:
    """Make rooms as wide as the longest name, or narrower (but readable) when the whole map fits then."""
    room, gap = _NARROWEST, _GAPS[-1]
    for gap in _GAPS:
        room = min(longest, _WIDEST, max((width - gap) // columns - gap, _NARROWEST))
        if room >= min(longest, _READABLE):
            break
    return _Grid(room, gap)


def _badges(layout: MapLayout) -> dict[str, list[str]]:
    """Return the signs beside the names of rooms for exits up, down, in and out."""
    found: dict[str, list[str]] = {}
    for link in layout.links:
        if link.direction in _BADGE:
            found.setdefault(link.start, []).append(_BADGE[link.direction])
            back = {"↑": "↓", "↓": "↑"}.get(_BADGE[link.direction], _BADGE[link.direction])
            found.setdefault(link.end, []).append(back)
    for exit_ in layout.loose:
        if exit_.direction in _BADGE:
            found.setdefault(exit_.room, []).append(f"{_BADGE[exit_.direction]}?")
    return found


def _fitted(name: str, badge: str, width: int) -> str:
    """Return ``name`` and ``badge`` in exactly ``width`` columns; a long name is cut."""
    free = width - cell_len(badge)
    if cell_len(name) > free:
        name = set_cell_size(name, max(free - 1, 0)) + "…"
    return set_cell_size(name + badge, width)


def _window(rooms: dict[str, Cell], here: Cell, grid: _Grid, width: int, height: int) -> _Canvas:
    """Return a canvas of the given size, around the whole map if it fits, else around the player."""
    x, y = grid.corner(here)
    lefts, tops = zip(*(grid.corner(cell) for cell in rooms.values()), strict=True)
    # with a margin for the signs of unexplored exits
    left = _start(min(lefts) - 1, max(lefts) + grid.room + 1, x + grid.room // 2, width)
    top = _start(min(tops) - 1, max(tops) + 2, y, height)
    return _Canvas(left, top, width, height)


def _start(low: int, high: int, centre: int, size: int) -> int:
    """Return the start of a window of ``size`` around ``centre`` that shows as much as possible of ``[low, high)``."""
    if high - low <= size:
        return low - (size - (high - low)) // 2
    return max(low, min(centre - size // 2, high - size))


def _draw_link(canvas: _Canvas, link: Link, rooms: dict[str, Cell], grid: _Grid) -> None:
    start, end = rooms[link.start], rooms[link.end]
    across, down = end[0] - start[0], end[1] - start[1]
    style = _PRESUMED if link.is_presumed else _WAY
    length = max(abs(across), abs(down))
    is_straight = across == 0 or down == 0 or length == 1
    step = (across // length, down // length) if is_straight else (0, 0)
    passed = {(start[0] + step[0] * i, start[1] + step[1] * i) for i in range(1, length)}
    if not is_straight or passed & {cell[:2] for cell in rooms.values()}:
        # the line would cross other rooms: draw only its two ends
        if link.direction in _STEP:
            x, y = _STEP[link.direction]
            _draw_stub(canvas, grid, start, (x, y), _SIGN[x, y], style)
            _draw_stub(canvas, grid, end, (-x, -y), _SIGN[x, y], style)
        return
    sign = _SIGN[step]
    if link.is_presumed:
        sign = _PRESUMED_SIGN.get(sign, sign)
    (x1, y1), (x2, y2) = sorted((grid.corner(start), grid.corner(end)))
    if down == 0:
        canvas.put(x1 + grid.room, y1, sign * (x2 - x1 - grid.room), style)
    elif across == 0:
        for y in range(y1 + 1, y2):
            canvas.put(x1 + grid.room // 2, y, sign, style)
    else:
        _draw_stub(canvas, grid, start, step, sign, style)


def _draw_stub(canvas: _Canvas, grid: _Grid, cell: Cell, step: tuple[int, int], sign: str, style: Style) -> None:
    """Draw a sign beside a room in the direction ``step``, if the place is empty."""
    left, top = grid.corner(cell)
    x = left + {1: grid.room, 0: grid.room // 2, -1: -1}[step[0]]
    y = top + step[1]
    if canvas.is_empty(x, y):
        canvas.put(x, y, sign, style)


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
