"""The map of a memory in characters."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from worldthread.bench.layout import Cell, Link, MapLayout

_ROOM = Style(color="white", bgcolor="blue")
_HERE = Style(color="black", bgcolor="green", bold=True)
_WAY = Style(color="cyan")
_PRESUMED = Style(dim=True)
_LOOSE = Style(color="yellow", bold=True)

_GAP = 3  # columns between two rooms; there is one line between them
_NARROWEST, _WIDEST = 6, 16

_STEP = {
    "north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0),
    "northeast": (1, -1), "northwest": (-1, -1), "southeast": (1, 1), "southwest": (-1, 1),
}  # fmt: skip
_SIGN = {(1, 0): "─", (-1, 0): "─", (0, 1): "│", (0, -1): "│", (1, 1): "╲", (-1, -1): "╲", (1, -1): "╱", (-1, 1): "╱"}
_PRESUMED_SIGN = {"─": "╌", "│": "┊"}
_BADGE = {"up": "↑", "down": "↓", "in": "◦", "out": "◦"}


class _Canvas:
    """Characters with their styles, on a grid without bounds; what lies outside the window is dropped."""

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
                # a wide character covers the place after it too
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
    """The storey of the player, cropped around the player when it is larger than ``width`` x ``height`` characters."""
    if layout.here is None or layout.here not in layout.cells or width < 1 or height < 1:
        return Text("no room is known yet", style="dim")
    storey = layout.cells[layout.here][2]
    rooms = {room: cell for room, cell in layout.cells.items() if cell[2] == storey}
    badges = _badges(layout)
    labels = {room: " ".join([layout.names[room], *badges.get(room, [])]) for room in rooms}
    longest = max(cell_len(label) for label in labels.values()) + 2
    columns = max(cell[0] for cell in rooms.values()) + 1
    # rooms as wide as their names, narrower when that lets the whole map fit
    fitting = (width - _GAP) // columns - _GAP
    room_width = min(longest, _WIDEST, max(fitting, _NARROWEST))
    canvas = _window(rooms, layout.cells[layout.here], room_width, width, height)
    for room, cell in rooms.items():
        x, y = _corner(cell, room_width)
        name = set_cell_size(_shortened(labels[room], room_width - 2), room_width - 2)
        canvas.put(x, y, f" {name} ", _HERE if room == layout.here else _ROOM)
    for link in layout.links:
        if link.start in rooms and link.end in rooms:
            _draw_link(canvas, link, rooms, room_width)
    for exit_ in layout.loose:
        if exit_.room in rooms and exit_.direction in _STEP:
            _draw_stub(canvas, rooms[exit_.room], _STEP[exit_.direction], room_width, "?", _LOOSE)
    return canvas.text()


def _badges(layout: MapLayout) -> dict[str, list[str]]:
    """Signs beside the names of rooms, for ways that lead off the plane."""
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


def _shortened(name: str, width: int) -> str:
    return name if cell_len(name) <= width else set_cell_size(name, width - 1) + "…"


def _corner(cell: Cell, room_width: int) -> tuple[int, int]:
    return cell[0] * (room_width + _GAP), cell[1] * 2


def _window(rooms: dict[str, Cell], here: Cell, room_width: int, width: int, height: int) -> _Canvas:
    """A window of the given size: around the whole map if it fits, else with the player near the middle."""
    x, y = _corner(here, room_width)
    corners = [_corner(cell, room_width) for cell in rooms.values()]
    left = _start(
        min(c[0] for c in corners) - 2, max(c[0] for c in corners) + room_width + 2, x + room_width // 2, width
    )
    top = _start(min(c[1] for c in corners) - 1, max(c[1] for c in corners) + 2, y, height)
    return _Canvas(left, top, width, height)


def _start(low: int, high: int, centre: int, size: int) -> int:
    """Where a window of ``size`` begins that shows as much as it can of ``[low, high)``, around ``centre``."""
    if high - low <= size:
        return low - (size - (high - low)) // 2
    return max(low, min(centre - size // 2, high - size))


def _draw_link(canvas: _Canvas, link: Link, rooms: dict[str, Cell], room_width: int) -> None:
    start, end = rooms[link.start], rooms[link.end]
    across, down = end[0] - start[0], end[1] - start[1]
    style = _PRESUMED if link.is_presumed else _WAY
    between = {cell[:2] for cell in rooms.values()} - {start[:2], end[:2]}
    length = max(abs(across), abs(down))
    step = (across // length, down // length) if across == 0 or down == 0 or abs(across) == abs(down) else None
    passed = [(start[0] + step[0] * i, start[1] + step[1] * i) for i in range(1, length)] if step else []
    if step is None or between.intersection(passed) or (length > 1 and all(step)):
        # cannot be drawn straight: show at both ends that there is a way
        if link.direction in _STEP:
            x, y = _STEP[link.direction]
            _draw_stub(canvas, start, (x, y), room_width, _SIGN[x, y], style)
            _draw_stub(canvas, end, (-x, -y), room_width, _SIGN[x, y], style)
        return
    sign = _SIGN[step]
    if link.is_presumed:
        sign = _PRESUMED_SIGN.get(sign, sign)
    (x1, y1), (x2, y2) = sorted((_corner(start, room_width), _corner(end, room_width)))
    if down == 0:
        canvas.put(x1 + room_width, y1, sign * (x2 - x1 - room_width), style)
    elif across == 0:
        for y in range(min(y1, y2) + 1, max(y1, y2)):
            canvas.put(x1 + room_width // 2, y, sign, style)
    else:
        _draw_stub(canvas, start, step, room_width, sign, style)


def _draw_stub(canvas: _Canvas, cell: Cell, step: tuple[int, int], room_width: int, sign: str, style: Style) -> None:
    """A sign in the gap beside a room, in the direction of ``step``, if nothing is there."""
    left, top = _corner(cell, room_width)
    x = {1: left + room_width + _GAP // 2, 0: left + room_width // 2, -1: left - _GAP // 2 - 1}[step[0]]
    if step[0] == 1 and step[1] == 0:
        x = left + room_width
    elif step[0] == -1 and step[1] == 0:
        x = left - 1
    y = top + step[1]
    if canvas.is_empty(x, y):
        canvas.put(x, y, sign, style)
