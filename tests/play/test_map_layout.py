"""Every room gets a cell of its own, wherever the ways say that it is."""

from __future__ import annotations

from worldthread.graph import TemporalGraph
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.agents.worldmap import WorldMap
from worldthread_lab.game import vocabulary as v
from worldthread_lab.play.map_layout import MapLayout, lay_out, room_names


def laid_out(*facts: Fact, rooms: str = "abcdef", here: str = "a") -> MapLayout:
    known = [v.kind(f"Room {name}", "room") for name in rooms]
    extraction = Extraction("by hand", (*known, v.place(v.PLAYER, v.IS_IN, f"Room {here}"), *facts))
    view = TemporalGraph([Episode("a map", 0, extraction=extraction)]).view()
    return lay_out(WorldMap(view), room_names(view))


def way(start: str, direction: str, end: str) -> list[Fact]:
    start, end = f"Room {start}", f"Room {end}"
    return [
        v.link(end, direction, start), v.link(start, v.OPPOSITE[direction], end),
        v.exit_of(start, direction), v.exit_of(end, v.OPPOSITE[direction]),
    ]  # fmt: skip


def test_directions_decide_and_each_way_is_drawn_once() -> None:
    layout = laid_out(*way("a", "east", "b"), *way("b", "south", "c"), *way("a", "up", "d"), rooms="abcd")
    assert layout.cells == {"room a": (0, 0, 0), "room b": (1, 0, 0), "room c": (1, 1, 0), "room d": (0, 0, 1)}
    assert {frozenset((link.start, link.end)) for link in layout.links} == {
        frozenset(("room a", "room b")),
        frozenset(("room b", "room c")),
        frozenset(("room a", "room d")),
    }
    assert len(layout.links) == 3
    assert (layout.columns, layout.rows, layout.here) == (2, 2, "room a")
    assert layout.names["room a"] == "Room a"


def test_contradictory_ways_and_unreachable_rooms_share_no_cell() -> None:
    # a maze: north and then south leads elsewhere, east from d comes out where c should be; e and f hang in the air
    maze = [*way("a", "north", "b"), v.link("Room c", "south", "Room b"), v.link("Room d", "east", "Room c")]
    layout = laid_out(*maze, *way("a", "in", "e"))
    assert set(layout.cells) == {f"room {name}" for name in "abcdef"}
    assert len(set(layout.cells.values())) == 6
    assert min(cell[0] for cell in layout.cells.values()) == min(cell[1] for cell in layout.cells.values()) == 0
    a, e = layout.cells["room a"], layout.cells["room e"]
    assert max(abs(a[0] - e[0]), abs(a[1] - e[1])) <= 2, "near the room from which one enters it"


def test_loose_ends_and_presumed_ways() -> None:
    loose = [v.exit_of("Room d", "east"), v.exit_of("Room c", "west"), v.exit_of("Room a", "north")]
    layout = laid_out(*way("a", "east", "b"), *way("b", "south", "c"), *way("a", "south", "d"), *loose, rooms="abcd")
    assert [(exit_.room, exit_.direction) for exit_ in layout.loose] == [("room a", "north")]
    presumed = [link for link in layout.links if link.is_presumed]
    assert [{link.start, link.end} for link in presumed] == [{"room c", "room d"}]


def test_nothing_is_known() -> None:
    layout = lay_out(WorldMap(TemporalGraph().view()))
    assert (layout.here, layout.cells, layout.links, layout.columns, layout.rows) == (None, {}, (), 0, 0)
