"""The live view of a play: map, inventory, what was learned, why."""

from __future__ import annotations

from collections import deque
from typing import Any

from rich.console import Group, RenderableType
from rich.layout import Layout
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from worldthread.agents.worldmap import WorldMap
from worldthread.bench.games import StepRecord
from worldthread.extract import vocabulary as v
from worldthread.graph import GraphView

_CELL = 10  # characters of a room on the map, brackets included
_STEP_X, _STEP_Y = _CELL + 3, 2
_MARKS = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}


def draw_map(world: WorldMap, width: int, height: int) -> Text:
    """The rooms of the player's level on a grid of characters, cropped to ``width`` x ``height`` around the player.

    The current room is highlighted; ``?`` marks an unexplored exit.
    """
    cells: dict[tuple[int, int], tuple[str, str]] = {}  # (column, row) -> character, style

    def write(x: int, y: int, text: str, style: str) -> None:
        for offset, character in enumerate(text):
            cells[x + offset, y] = (character, style)

    level = {room: (x, y) for room, (x, y, z) in world.positions.items() if z == 0}
    loose = {(exit_.room, exit_.direction) for exit_ in world.unexplored}
    for room, (x, y) in level.items():
        left, top = x * _STEP_X, -y * _STEP_Y
        for direction, (dx, dy) in _MARKS.items():
            if direction in world.ways.get(room, {}):
                style, line = "dim", "───" if dx else "│"
            elif (room, direction) in loose:
                style, line = "bold yellow", "?"
            else:
                continue
            at = (left + (_CELL if dx > 0 else -len(line)), top) if dx else (left + _CELL // 2, top + dy)
            if cells.get(at, ("", ""))[1] != "dim":  # a way that was taken hides nothing and is hidden by nothing
                write(*at, line, style)
        name = room[: _CELL - 2].center(_CELL - 2)
        style = "bold reverse green" if room == world.here else "cyan"
        write(left, top, f"[{name}]", style)
    columns = [x for x, _ in cells] or [0]
    rows = [y for _, y in cells] or [0]
    # centre on what there is, but never lose the player
    left = _window(min(columns), max(columns), _CELL // 2, width)
    top = _window(min(rows), max(rows), 0, height)
    text = Text(no_wrap=True)
    for row in range(top, top + height):
        for column in range(left, left + width):
            character, style = cells.get((column, row), (" ", ""))
            text.append(character, style)
        text.append("\n")
    return text


def _window(first: int, last: int, player: int, size: int) -> int:
    if last - first < size:
        return (first + last) // 2 - size // 2 + (size + 1) % 2
    return min(max(player - size // 2, first), last - size + 1)


class LiveView:
    """Renders the latest step of a play.

    Args:
        game: name of the game.
        agent: name of the agent.
    """

    def __init__(self, game: str, agent: str) -> None:
        self._title = f"{game} - {agent}"
        self._actions: deque[str] = deque(maxlen=12)
        self._goal = ""

    def render(self, record: StepRecord, view: GraphView, width: int, height: int) -> RenderableType:
        """The screen after ``record``, for a terminal of ``width`` x ``height`` characters."""
        if record.decision is not None:
            self._actions.append(record.decision.action)
        self._goal = record.info.goal or self._goal
        world = WorldMap(view)
        layout = Layout()
        layout.split_column(Layout(name="top"), Layout(name="step", size=8 if height < 32 else 12))
        side = max(28, min(44, width // 3))
        layout["top"].split_row(Layout(name="map"), Layout(name="side", size=side))
        map_height = height - layout["step"].size - 2 if layout["step"].size else height - 2
        drawn = draw_map(world, width - side - 4, max(3, map_height))
        legend = f"{len(world.rooms)} rooms, {len(world.unexplored)} unexplored exits (?)"
        layout["map"].update(Panel(drawn, title=Text(self._title), subtitle=legend, border_style="blue"))
        layout["side"].update(Panel(self._side(record, view), title="state", border_style="blue"))
        layout["step"].update(Panel(self._step(record), title=f"move {record.turn}", border_style="blue"))
        return layout

    def _side(self, record: StepRecord, view: GraphView) -> RenderableType:
        info = record.info
        score = f"score {info.score:g}" + (f" of {info.max_score:g}" if info.max_score else "")
        carried = [fact.subject for fact in view.facts(relation=v.IS_IN, object=v.INVENTORY)]
        parts: list[RenderableType] = [Text(score, style="bold")]
        if info.max_score:
            parts.append(ProgressBar(total=info.max_score, completed=max(0.0, info.score), width=24))
        parts.append(Text("carrying " + (", ".join(carried) or "nothing")))
        parts.append(Text(f"memory {record.facts} facts, {record.vertices} names"))
        if record.audit is not None:
            audit = record.audit
            parts.append(
                Text(
                    f"audit precision {audit.precision:.3f} recall {audit.recall:.3f} stale {audit.stale_steps}",
                    style="magenta",
                )
            )
        if self._goal:
            parts.append(Text(f"goal: {self._goal}", style="dim"))
        parts.append(Text("lately: " + ", ".join(self._actions), style="dim"))
        return Group(*parts)

    def _step(self, record: StepRecord) -> RenderableType:
        table = Table.grid(padding=(0, 1))
        table.add_column(style="bold", no_wrap=True)
        table.add_column(ratio=1)
        if record.decision is not None:
            table.add_row(">", Text(record.decision.action, style="bold green"))
            table.add_row("why", Text(record.decision.reason))
        table.add_row("saw", Text(_one_line(record.observation), overflow="ellipsis", no_wrap=True))
        learned = "; ".join(str(statement) for statement in record.learned) or "-"
        ended = "; ".join(f"{statement} ({reason})" for statement, reason in record.ended) or "-"
        table.add_row("new", Text(learned, style="green"))
        table.add_row("end", Text(ended, style="red"))
        return table


def plain_line(record: StepRecord) -> str:
    """One step as one line, for output that is no terminal."""
    action = record.decision.action if record.decision else "(start)"
    reason = f"  [{record.decision.reason}]" if record.decision else ""
    return (
        f"{record.turn:4d}  {action}{reason}  score {record.info.score:g}, "
        f"+{len(record.learned)} -{len(record.ended)} facts"
    )


def summary_table(summary: dict[str, Any]) -> Table:
    """The figures of a play for people."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    score = f"{summary['score']:g}" + (f" of {summary['max_score']:g}" if summary["max_score"] else "")
    table.add_row("result", Text("won" if summary["won"] else "not won", style="green" if summary["won"] else "yellow"))
    table.add_row("score", score)
    moves = f"{summary['moves']} in {summary['decisions']} decisions"
    if summary["optimal_moves"]:
        moves += f" (shortest possible, knowing the world: {summary['optimal_moves']})"
    table.add_row("moves", moves)
    memory = summary["memory"]
    table.add_row("memory", f"{memory['episodes']} episodes, {memory['facts']} facts hold, {memory['ended']} ended")
    if summary["audit"]:
        audit = summary["audit"]
        figures = (
            f"precision {audit['precision']:.4f}, recall {audit['recall']:.4f}, stale steps {audit['stale_steps']}"
        )
        table.add_row("audit", figures)
    table.add_row("models", f"{summary['model_calls']} calls, ${summary['cost_usd']:.2f}")
    table.add_row("seconds", f"{summary['seconds']:g}")
    return table


def _one_line(text: str) -> str:
    return " ".join(text.split())
