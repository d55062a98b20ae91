"""The map over all branches: rooms of one name, ways, and what was tried."""

from __future__ import annotations

from collections.abc import Callable

from worldthread_lab.agents.go_explore.state_graph import Route, StateAction, StateGraph, StateVisit, dark_title

NORTH_END = "Corridor\nA long corridor of grey stone ends here below a barred window, far above the floor."
SOUTH_END = "Corridor\nTorches smoke along this corridor, whose south wall bears the arms of some forgotten king."


def test_rooms_of_one_title_are_told_apart_by_their_descriptions(visit: Callable[..., StateVisit]) -> None:
    graph = StateGraph()
    north = visit("corridor", text=NORTH_END, actions=("go south",))
    cave = visit("cave", north, "go south", actions=("go north", "go south"))
    south = visit("corridor", cave, "go south", text=SOUTH_END, actions=("go north",))
    for each in (north, cave, south):
        assert graph.locate(each)
        graph.record(each)
    assert [north.room, cave.room, south.room] == ["corridor", "cave", "corridor#1"]
    again = visit("corridor", cave, "go north", actions=("go south",), text="Corridor\nA rat looks at you.")
    assert graph.locate(again)
    assert again.room == "corridor", "south of it is the cave: by the way back"


def test_a_move_into_the_same_room_with_other_exits_tells_of_a_maze(visit: Callable[..., StateVisit]) -> None:
    first = visit("maze", actions=("go north", "go east"))
    second = visit("maze", first, "go north", actions=("go west",))
    graph = StateGraph()
    assert graph.locate(first)
    graph.record(first)
    assert not graph.locate(second)
    rebuilt = StateGraph(frozenset({"maze"}))
    assert rebuilt.locate(first)
    rebuilt.record(first)
    assert rebuilt.locate(second)
    rebuilt.record(second)
    assert first.room != second.room
    assert rebuilt.destination(first.room, "go north") == second.room


def test_one_state_is_one_room(visit: Callable[..., StateVisit]) -> None:
    graph = StateGraph()
    first = visit("hall", state="s")
    same = visit("?", first, "wait", state="s")
    assert graph.locate(first)
    graph.record(first)
    assert graph.locate(same)
    assert same.room == "hall"


def test_a_room_whose_title_was_told_later_keeps_its_name(visit: Callable[..., StateVisit]) -> None:
    graph = StateGraph()
    hall = visit("hall", state="s")
    cellar = visit("cellar", hall, "go down")
    called_so = visit("cellar", cellar, "wait", state="s")  # the memory has it wrong
    for each in (hall, cellar, called_so):
        assert graph.locate(each)
        graph.record(each)
    assert called_so.room == "hall"
    after = visit("cellar", called_so, "wait")
    assert graph.locate(after)
    assert after.room == "cellar"


def test_routes_go_back_along_ways_that_were_not_tried(visit: Callable[..., StateVisit]) -> None:
    graph = StateGraph()
    hall = visit("hall", actions=("go east",))
    cave = visit("cave", hall, "go east", actions=("go west", "go down"))
    shaft = visit("shaft", cave, "go down", actions=("go south",))
    for each in (hall, cave, shaft):
        graph.locate(each)
        graph.record(each)
    assert graph.routes("hall") == {"hall": Route(0, None), "cave": Route(1, "go east"), "shaft": Route(2, "go east")}
    assert graph.routes("cave")["hall"] == Route(1, "go west"), "west is opposite to the way in, and on offer"
    assert set(graph.routes("shaft")) == {"shaft"}, "up is not on offer"
    assert set(graph.routes("hall", frozenset({StateAction("hall", "go east")}))) == {"hall"}
    assert graph.leads_back("cave", "west")
    assert not graph.leads_back("cave", "down")
    stays = visit("cave", cave, "go west", actions=("go west", "go down"))
    graph.locate(stays)
    graph.record(stays)
    assert "hall" not in graph.routes("cave"), "it was tried, and does not lead there"


def test_an_action_is_untested_until_it_was_tried_in_the_best_state(visit: Callable[..., StateVisit]) -> None:
    graph = StateGraph()
    poor = visit("hall", actions=("open box", "wait"))
    rich = visit("hall", poor, "wait", actions=("open box", "wait"), score=5)
    for each in (poor, rich):
        graph.locate(each)
        graph.record(each)
    box = StateAction("hall", "open box")
    assert graph.untried[box] is rich
    opened = visit("hall", rich, "open box", ended=True, score=5)
    graph.locate(opened)
    graph.record(opened)
    assert box not in graph.untried
    assert (graph.trials[box], graph.deaths[box]) == (1, 1)
    assert graph.tried[rich.state]["open box"] is opened
    assert opened.state not in graph.states, "nothing can be done there"


def test_places_in_the_dark_are_named_by_the_way_there(visit: Callable[..., StateVisit]) -> None:
    hall = visit("hall")
    cellar = visit(dark_title(hall, "go down"), hall, "go down")
    assert cellar.is_dark
    assert not hall.is_dark
    assert dark_title(cellar, "take rope") == cellar.title
    assert dark_title(cellar, "go east") != cellar.title


def test_alike_descriptions_with_other_exits_are_of_other_rooms(visit: Callable[..., StateVisit]) -> None:
    text = "Closet\nYou are in a small closet where nobody ever comes, and there is no reason to be here: go {}."
    graph = StateGraph()
    first = visit("closet", text=text.format("south"), actions=("go south",))
    hall = visit("hall", first, "go south", actions=("go north", "go east"))
    second = visit("closet", hall, "go east", text=text.format("west"), actions=("go west",))
    same = visit("closet", second, "wait", text=text.format("west"), actions=("go west", "go up"))
    for each in (first, hall, second, same):
        assert graph.locate(each)
        graph.record(each)
    assert [first.room, second.room, same.room] == ["closet", "closet#1", "closet#1"]


def test_a_room_from_which_a_way_leads_to_two_rooms_is_two(visit: Callable[..., StateVisit]) -> None:
    visits = [visit("street", text="Street\nYour feet hurt.", actions=("go east",))]
    visits.append(visit("shop", visits[-1], "go east", actions=("go up",)))
    visits.append(visit("street", visits[-1], "go up", text="Street\nYour back hurts.", actions=("go east",)))
    visits.append(visit("house", visits[-1], "go east", actions=("go west",)))
    graph = StateGraph()
    for each in visits[:3]:
        assert graph.locate(each)
        graph.record(each)
    assert visits[2].room == "street"
    assert not graph.locate(visits[3])
    rebuilt = StateGraph(graph.mazes, graph.doubted)
    for each in visits:
        assert rebuilt.locate(each)
        rebuilt.record(each)
    assert [each.room for each in visits] == ["street", "shop", "street#1", "house"]


def test_where_ways_seldom_lead_back_none_is_expected_to(visit: Callable[..., StateVisit]) -> None:
    graph = StateGraph()
    at = visit("room 0", actions=("go east", "go west"))
    graph.locate(at)
    graph.record(at)
    for number in range(1, 6):
        there = visit(f"room {number}", at, "go east", actions=("go east", "go west"))
        graph.locate(there)
        graph.record(there)
        if number == 1:
            assert graph.routes("room 1")["room 0"] == Route(1, "go west")
        stays = visit(f"room {number}", there, "go west", actions=("go east", "go west"))
        graph.locate(stays)
        graph.record(stays)
        at = there
    last = visit("room 6", at, "go east", actions=("go east", "go west"))
    graph.locate(last)
    graph.record(last)
    assert "room 5" not in graph.routes("room 6")
