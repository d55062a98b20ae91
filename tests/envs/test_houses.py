from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from worldthread_lab.envs.houses import STEPS, HouseMap, grow_house, opposite

houses = st.builds(
    lambda rooms, loops, seed: (rooms, loops, grow_house(rooms, loops=loops, rng=random.Random(seed))),
    st.integers(1, 40),
    st.integers(0, 5),
    st.integers(0, 2**32),
)


@given(houses)
def test_a_house_is_a_connected_map_whose_exits_lead_back_and_fit_a_grid(drawn: tuple[int, int, HouseMap]) -> None:
    rooms, loops, house = drawn
    assert len(house.exits) == rooms
    places = {0: (0, 0)}
    todo = [0]
    while todo:
        here = todo.pop()
        for direction, there in house.exits[here].items():
            assert house.exits[there][opposite(direction)] == here
            place = (places[here][0] + STEPS[direction][0], places[here][1] + STEPS[direction][1])
            if there not in places:
                todo.append(there)
            assert places.setdefault(there, place) == place
    assert len(places) == len(set(places.values())) == rooms
    passages = sum(map(len, house.exits)) // 2
    assert rooms - 1 <= passages <= rooms - 1 + loops


@given(houses, st.integers(0, 10**6), st.integers(0, 10**6))
def test_paths_are_walkable_and_as_long_as_the_distance(drawn: tuple[int, int, HouseMap], a: int, b: int) -> None:
    rooms, _, house = drawn
    start, end = a % rooms, b % rooms
    room = start
    path = house.path(start, end)
    for direction in path:
        room = house.exits[room][direction]
    assert room == end
    assert len(path) == house.distances(start)[end] == house.distances(end)[start]


def test_distances_by_hand() -> None:
    # 0 - 1
    # |   |
    # 3 - 2 - 4
    exits = (
        {"east": 1, "south": 3},
        {"west": 0, "south": 2},
        {"north": 1, "west": 3, "east": 4},
        {"north": 0, "east": 2},
        {"west": 2},
    )
    house = HouseMap(exits)
    assert house.distances(0) == (0, 1, 2, 1, 3)
    assert house.path(0, 4) == ("east", "south", "east")
    assert house.path(4, 4) == ()
