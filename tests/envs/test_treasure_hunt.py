from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from worldthread_lab.envs import treasure_hunt
from worldthread_lab.envs.base import Environment
from worldthread_lab.envs.registry import make
from worldthread_lab.envs.treasure_hunt import SIZES, HuntPlan, plan_hunt

EXPECTED = {"treasure-hunt": (12, 4, 7), "treasure-hunt-hard": (16, 5, 8), "treasure-hunt-hardest": (36, 7, 10)}
SEEDS = {"treasure-hunt": (0, 1, 2), "treasure-hunt-hard": (0, 1), "treasure-hunt-hardest": (0, 1)}
PLAYED = [
    pytest.param((name, seed), marks=pytest.mark.slow if seed else (), id=f"{name}-{seed}")
    for name, seeds in SEEDS.items()
    for seed in seeds
]


def names_of(plan: HuntPlan) -> list[str]:
    held = [
        name
        for holders in (plan.supporters, plan.boxes)
        for name, inside in holders.values()
        for name in (name, *inside)
    ]
    floor = [name for things in plan.things.values() for name in things]
    return [*plan.rooms, *plan.lockers, *plan.keys, *held, *floor]


@pytest.mark.parametrize("name", SIZES)
def test_a_plan_is_a_chain_through_the_house(name: str) -> None:
    rooms, keys, _ = EXPECTED[name]
    for seed in range(60):
        plan = plan_hunt(SIZES[name], seed)
        assert len(plan.rooms) == len(plan.lockers) == len(plan.house.exits) == rooms
        assert plan.keys == (*(f"Key {number}" for number in range(1, keys)), "Golden key")
        assert len(plan.chain) == len(set(plan.chain)) == keys
        assert plan.chain[0] != 0
        assert plan.lockers[plan.chain[-1]] == "Golden locker"
        assert plan.lockers.count("Golden locker") == 1


@pytest.mark.parametrize("name", SIZES)
def test_names_are_unique_and_are_understood_by_the_engine(name: str) -> None:
    for seed in range(60):
        names = names_of(plan_hunt(SIZES[name], seed))
        # the parser reads nine letters of a word
        read = [" ".join(word[:9] for word in name.casefold().split()) for name in names]
        assert len(set(read)) == len(read)
        # TextWorld replaces names that look like its own variables: P, I, r_0
        assert not [name for name in names if name[0] in "PI"]


def test_words_of_portable_things_are_used_once() -> None:
    """Two carried things could not be told apart by a word that they share."""
    words = [word[:9] for name in treasure_hunt._THINGS for word in name.casefold().split()]
    others = (*treasure_hunt._FURNITURE, *treasure_hunt._BOXES, *treasure_hunt._COLOURS)
    taken = {word[:9].casefold() for name in others for word in name.split()} | {"key", "locker", "note", "treasure"}
    assert len(set(words)) == len(words)
    assert sorted(set(words) & taken) == []


def test_the_second_key_is_far_away_in_the_hard_hunts() -> None:
    for name, least in (("treasure-hunt-hard", 7), ("treasure-hunt-hardest", 9)):
        for seed in range(60):
            plan = plan_hunt(SIZES[name], seed)
            distances = plan.house.distances(0)
            assert distances[plan.chain[0]] == max(distances) >= least


def test_the_hardest_hunt_has_distracting_things_in_every_room() -> None:
    for seed in range(60):
        plan = plan_hunt(SIZES["treasure-hunt-hardest"], seed)
        for room in range(36):
            distracting = [*plan.things.get(room, ())]
            for holders in (plan.supporters, plan.boxes):
                distracting += [holders[room][0], *holders[room][1]] if room in holders else []
            assert len(distracting) >= 2
        assert len(plan.supporters) == 10
        assert len(plan.boxes) == 6
    assert not plan_hunt(SIZES["treasure-hunt"], 0).things


def test_seeds_differ() -> None:
    assert len({plan_hunt(SIZES["treasure-hunt"], seed).walkthrough for seed in range(50)}) == 50


def fewest_moves(plan: HuntPlan) -> int:
    """By breadth-first search over all plays of one who needs no notes: an independent count."""
    start = (0, 0, False, False)  # room, keys held, whether the next locker is unlocked, whether it is open
    moves = {start: 0}
    queue = deque([start])
    while queue:
        room, held, unlocked, opened = state = queue.popleft()
        after = [(there, held, unlocked, opened) for there in plan.house.exits[room].values()]
        if held == 0 and room == 0:
            after.append((room, 1, False, False))
        if held and room == plan.chain[held - 1]:
            if not unlocked:
                after.append((room, held, True, False))
            elif not opened:
                after.append((room, held, True, True))
            elif held == len(plan.keys):
                return moves[state] + 1
            else:
                after.append((room, held + 1, False, False))
        for new in after:
            if new not in moves:
                moves[new] = moves[state] + 1
                queue.append(new)
    raise AssertionError("the hunt cannot be won")


@pytest.mark.parametrize("name", SIZES)
def test_no_play_is_shorter_than_the_walkthrough(name: str) -> None:
    for seed in range(40):
        plan = plan_hunt(SIZES[name], seed)
        assert len(plan.walkthrough) == fewest_moves(plan)


@pytest.fixture(params=PLAYED)
def played(request: pytest.FixtureRequest, game_cache: Path) -> Iterator[tuple[Environment, HuntPlan]]:
    name, seed = request.param
    with make(name, seed=seed, cache_dir=game_cache) as env:
        yield env, plan_hunt(SIZES[name], seed)


@pytest.mark.games
def test_the_walkthrough_wins_with_all_points(played: tuple[Environment, HuntPlan]) -> None:
    env, plan = played
    _, info = env.reset()
    _, keys, max_score = EXPECTED[env.id.removesuffix("-v1")]
    assert info.max_score == max_score
    truth = env.truth()
    assert truth.walkthrough == plan.walkthrough
    assert truth.optimal_moves == len(plan.walkthrough)
    rewards = []
    for number, action in enumerate(truth.walkthrough, start=1):
        assert action in (info.valid_actions or ()), action
        _, reward, terminated, truncated, info = env.step(action)
        rewards.append(reward)
        assert (terminated, truncated) == (number == len(truth.walkthrough), False)
    assert info.won
    assert info.score == max_score
    assert [reward for reward in rewards if reward] == [1.0] * keys + [3.0]
    assert ("in", "treasure", "I") in env.truth().propositions


@pytest.mark.games
def test_the_game_is_the_plan(played: tuple[Environment, HuntPlan]) -> None:
    env, plan = played
    env.reset()
    facts = env.truth().propositions
    assert {fact[1:] for fact in facts if fact[0] == "match"} == {
        (key, plan.lockers[target]) for key, target in zip(plan.keys, plan.chain, strict=True)
    }
    assert {fact[1] for fact in facts if fact[0] == "locked"} == set(plan.lockers)
    assert {(fact[1], fact[2]) for fact in facts if fact[0] == "at" and fact[1].endswith("locker")} == set(
        zip(plan.lockers, plan.rooms, strict=True)
    )
    assert ("at", plan.keys[0], plan.rooms[0]) in facts
    for key, holder in zip((*plan.keys[1:], "treasure"), plan.chain, strict=True):
        assert ("in", key, plan.lockers[holder]) in facts
    ways = {(fact[0].removesuffix("_of"), fact[2], fact[1]) for fact in facts if fact[0].endswith("_of")}
    assert ways == {
        (direction, plan.rooms[here], plan.rooms[there])
        for here, exits in enumerate(plan.house.exits)
        for direction, there in exits.items()
    }
    assert set(names_of(plan)) <= {name for fact in facts for name in fact[1:]}


@pytest.mark.games
@pytest.mark.slow
def test_everything_can_be_learned_from_text(played: tuple[Environment, HuntPlan]) -> None:
    """One who follows the task and the notes learns where every key fits; every room and way can be read."""
    env, plan = played
    observation, info = env.reset()
    assert f"{plan.keys[0]}, which lies where you start: it opens the {plan.lockers[plan.chain[0]]}." in info.goal
    assert info.goal in observation
    said = []
    for action in plan.walkthrough[:-1]:
        observation = env.step(action)[0]
        if action.startswith("go "):
            room = env.step("look")[0].split(" =-")[0].removeprefix("-= ")
            number = plan.rooms.index(room)
            assert plan.lockers[number] in observation
            assert all(direction in observation for direction in plan.house.exits[number])
            assert all(thing in observation for thing in plan.things.get(number, ()))
            for holders in (plan.supporters, plan.boxes):
                if number in holders:
                    assert all(name in observation for name in (holders[number][0], *holders[number][1]))
        if action.startswith("open ") and "Note" in observation:
            note = observation[observation.index("Note") :].rstrip(".")
            said.append(env.step(f"read {note}")[0])
    expected = zip(plan.keys[1:], plan.chain[1:], strict=True)
    assert said == [f"The note says: {key} opens the {plan.lockers[target]}." for key, target in expected]


PROGRAM = """
import hashlib, json, sys
from pathlib import Path
from worldthread_lab.envs.treasure_hunt import SIZES, build_hunt, plan_hunt
plan = plan_hunt(SIZES["treasure-hunt-hardest"], 5)
path = Path(sys.argv[1]) / "game.z8"
build_hunt(plan, 5, path)
from worldthread_lab.envs.registry import make
texts = []
with make(f"textworld:{path}") as env:
    texts.append(str(env.reset()))
    for action in plan.walkthrough:
        texts.append(str(env.step(action)))
print(hashlib.sha256("\\n".join(texts).encode()).hexdigest())
print(hashlib.sha256(path.with_suffix(".json").read_bytes()).hexdigest())
"""


@pytest.mark.games
@pytest.mark.slow
def test_the_same_seed_gives_the_same_texts_in_every_process(tmp_path: Path) -> None:
    folders = [tmp_path / hash_seed for hash_seed in ("1", "2")]
    runs = []
    for folder in folders:
        folder.mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": folder.name}
        command = [sys.executable, "-c", PROGRAM, str(folder)]
        runs.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
    one, two = (run.communicate(timeout=600)[0] for run in runs)
    assert [run.returncode for run in runs] == [0, 0]
    assert one == two
    assert len(one.split()) == 2
    for folder in folders:
        assert sorted(path.name for path in folder.iterdir()) == ["game.json", "game.z8"]


def test_the_plan_of_a_seed_never_changes() -> None:
    """A changed plan needs the next GENERATOR_VERSION, or old caches would hold other games than new ones."""
    drawn = [plan_hunt(size, seed) for size in SIZES.values() for seed in range(3)]
    plans = "\n".join(f"{plan} {plan.goal}" for plan in drawn)
    assert treasure_hunt.GENERATOR_VERSION == "2"
    assert (
        hashlib.sha256(plans.encode()).hexdigest() == "74bbe67dfa6c32a220bdf5b0a855352386b6c63617f73de913fc6b3fa14584ec"
    )
