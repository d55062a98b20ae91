"""The map of a memory, drawn with characters."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from worldthread_lab.play.map_layout import Cell, Link, MapLayout

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
