"""The map in characters: what it shows, and that it stays within its window."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from worldthread_lab.agents.worldmap import Exit
from worldthread_lab.cli.showing import draw_map
from worldthread_lab.play.map_layout import Cell, Link, MapLayout


def layout(cells: dict[str, Cell], *links: Link, here: str = "a", loose: tuple[Exit, ...] = ()) -> MapLayout:
    return MapLayout(here, cells, links, loose, {room: room.title() for room in cells})


def lines(drawn: MapLayout, width: int = 40, height: int = 9) -> list[str]:
    found = draw_map(drawn, width, height).plain.split("\n")
    assert len(found) == height
    assert {cell_len(line) for line in found} == {width}
    return [line.strip() for line in found if line.strip()]


def test_rooms_ways_and_loose_ends() -> None:
    cells = {"a": (0, 0, 0), "b": (1, 0, 0), "c": (1, 1, 0), "d": (0, 1, 0)}
    links = [Link("a", "b", "east"), Link("b", "c", "south"), Link("a", "d", "south", is_presumed=True)]
    drawn = lines(layout(cells, *links, loose=(Exit("c", "east"), Exit("a", "up"))))
    assert drawn == ["A ↑? ─── B", "┊        │", "D        C    ?"]


def test_the_current_room_is_marked() -> None:
    cells = {"a": (0, 0, 0), "b": (1, 0, 0)}
    first, second = (draw_map(layout(cells, here=here), 30, 3) for here in ("a", "b"))
    assert first.plain == second.plain
    assert first.spans != second.spans


def test_other_storeys_are_not_drawn() -> None:
    cells = {"a": (0, 0, 0), "attic": (0, 0, 1)}
    assert lines(layout(cells, Link("a", "attic", "up"))) == ["A ↑"]
    assert lines(layout(cells, Link("a", "attic", "up"), here="attic")) == ["Attic ↓"]


def test_a_way_that_is_not_straight_shows_at_both_ends() -> None:
    cells = {"a": (0, 0, 0), "b": (2, 1, 0), "c": (1, 0, 0), "d": (2, 0, 0)}
    text = "\n".join(lines(layout(cells, Link("a", "b", "south"))))
    assert text.count("│") == 2
    behind = "\n".join(lines(layout(cells, Link("a", "d", "east"))))
    assert behind.count("─") == 2, "not through the room between"


@pytest.mark.parametrize(("width", "height"), [(50, 11), (1, 1), (7, 2), (200, 60)])
@pytest.mark.parametrize("here", ["r 0 0", "r 9 4", "r 19 9"])
def test_a_large_map_is_cropped_around_the_player(width: int, height: int, here: str) -> None:
    cells = {f"r {x} {y}": (x, y, 0) for x in range(20) for y in range(10)}
    drawn = lines(layout(cells, here=here), width, height)
    if width >= 20:
        assert any(here.title() in line for line in drawn)


def test_long_and_wide_names() -> None:
    cells = {"a": (0, 0, 0), "the very long corridor of the eastern wing": (1, 0, 0), "台所台所台所台所台所": (2, 0, 0)}
    drawn = lines(layout(cells, Link("a", "台所台所台所台所台所", "up")), 30, 3)
    assert "…" in drawn[0]
    assert "↓" in drawn[0], "a name that is too long does not push out the sign of a stair"


def test_nothing_is_known() -> None:
    assert draw_map(MapLayout(None, {}, (), (), {}), 10, 3).plain == "no room is known yet"
