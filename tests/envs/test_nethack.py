"""NetHack as a text world, with the real game."""

from __future__ import annotations

import _ctypes
import ctypes
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from worldthread.errors import EpisodeOverError, InputError, MissingExtraError
from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.types import Fact
from worldthread_lab.envs import make
from worldthread_lab.envs.base import Environment, Info
from worldthread_lab.envs.nethack import NetHackEnvironment
from worldthread_lab.envs.nethack.engine import NetHackEngine
from worldthread_lab.game.extractor import GameExtractor

pytestmark = pytest.mark.nethack

_STATUS = re.compile(
    r"^Status: (?P<hp>-?\d+) of (?P<most>\d+) hit points, .* Turn (?P<turn>\d+), dungeon level (?P<depth>\d+) in "
    r"(?P<dungeon>[^,]+), column (?P<column>\d+), row (?P<row>\d+), score -?\d+\.$",
    re.M,
)
_DOOR = re.compile(
    r"^There is an? (?:open |closed )?(?P<name>door(?:way)? \d+ of level \d+)(?: leading \w+)?, (?P<at>.+) of you",
    re.M,
)
_CLOSE = re.compile(r"^An? (?P<name>.+) is (?:close by|(?:nearby|in sight), [12] (?:east|west|north|south)\b)", re.M)
_LEAVE_ALONE = re.compile(r"^peaceful |^tame |floating eye|mold|jelly|gas spore|unseen")


@pytest.fixture
def world() -> Iterator[Environment]:
    with make("nethack", seed=1) as env:
        yield env


def status(text: str) -> dict[str, str]:
    match = _STATUS.search(text)
    assert match is not None, text
    return match.groupdict()


def careful(text: str, info: Info, prayed: list[int]) -> str:
    """A player without a model: eats, prays, fights what is near, rests, and goes down as soon as a way is told."""
    offered = info.valid_actions or ()
    if "no" in offered:
        return "no"
    now = status(text)
    if "eat food ration" in offered and re.search(r", (?:hungry|weak from hunger|fainting),", text):
        return "eat food ration"
    if "pray" in offered and (not prayed or int(now["turn"]) - prayed[-1] > 1000):
        prayed.append(int(now["turn"]))
        return "pray"
    near = [name for name in _CLOSE.findall(text) if not _LEAVE_ALONE.search(name)]
    for name in near:
        if f"fight {name}" in offered:
            return f"fight {name}"
    if int(now["hp"]) * 2 < int(now["most"]) and int(now["turn"]) % 10:  # not for ever
        return "rest"
    return "descend" if "descend" in offered else "explore"


def play(env: Environment, actions: list[str]) -> list[tuple[str, Info]]:
    told = [env.reset()]
    for action in actions:
        text, _, terminated, _, info = env.step(action)
        told.append((text, info))
        if terminated:
            break
    return told


ACTIONS = [
    "explore",
    "go north",
    "search",
    "explore",
    "kick east",
    "explore",
    "move to staircase up",
    "rest",
    "explore",
]


def test_the_same_seed_and_actions_give_the_same_texts_whatever_plays_beside_it() -> None:
    with make("nethack", seed=5, character="random") as one, make("nethack", seed=5, character="random") as two:
        with make("nethack", seed=6, character="random") as other:
            first, second, third = one.reset(), two.reset(), other.reset()
            assert first == second != third
            for action in ACTIONS * 3:
                one_step, two_step = one.step(action), two.step(action)
                other.step(action)
                assert one_step == two_step
        assert play(one, ACTIONS) == play(two, ACTIONS)  # and after a reset in the middle of a game


def test_another_process_gives_the_same_texts() -> None:
    program = (
        "import sys, hashlib; from worldthread_lab.envs import make;"
        "env = make('nethack', seed=9, observation='level');"
        "told = [env.reset()] + [env.step(a) for a in sys.argv[1:]];"
        "print(hashlib.sha256(repr(told).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program, *ACTIONS],
            capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": str(number), "TZ": zone},
        ).stdout
        for number, zone in enumerate(("UTC", "Asia/Tokyo"))
    }  # fmt: skip
    assert len(digests) == 1


def test_the_clock_does_not_change_a_game() -> None:
    birthdays = set()
    for _ in range(2):
        engine = NetHackEngine("valkyrie")
        engine.start(77)
        library = ctypes.CDLL(engine._game.dlpath, mode=os.RTLD_NOW | os.RTLD_NOLOAD)
        birthdays.add(ctypes.c_long.in_dll(library, "ubirthday").value)
        _ctypes.dlclose(library._handle)  # NLE ends the process when a game's library stays loaded
        engine.close()
    assert birthdays == {77}


def test_the_next_level_does_not_depend_on_earlier_actions() -> None:
    told = []
    for waits in (0, 7):
        with make("nethack", seed=4, observation="level") as env:
            text, info = env.reset()
            for _ in range(waits):
                text, _, _, _, info = env.step("wait")
            for _ in range(40):
                text, _, _, _, info = env.step("descend" if "descend" in (info.valid_actions or ()) else "explore")
                if "of level 2 =-" in text:
                    break
            told.append([line for line in text.splitlines() if line.startswith("There is ")])
    assert told[0] == told[1]
    assert len(told[0]) > 2


def test_characters_and_modes() -> None:
    with make("nethack", character="wiz-elf-cha-mal") as env:
        assert "You are a chaotic male elven Wizard." in env.reset()[0]
    with make("nethack") as env:
        text, info = env.reset(3)
        assert "Valkyrie" in text
        assert info.inventory is not None
        assert info.inventory.startswith("You are carrying:\n  a")
    with pytest.raises(InputError, match="'plumber' cannot be used"):
        make("nethack", character="plumber")
    with pytest.raises(InputError, match="'room' or 'level'"):
        make("nethack", observation="everything")
    with make("nethack", character="val-elf") as env, pytest.raises(InputError, match="no such character: 'val-elf'"):
        env.reset()


def test_without_the_engine_the_error_names_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[nethack\]'?"):
        NetHackEnvironment()


def test_an_observation_describes_place_things_exits_and_state(world: Environment) -> None:
    text, info = world.reset()
    assert info.goal in text
    assert "-= Room 1 of level 1 =-\nThere is a staircase leading up, right under you.\n" in text
    now = status(text)
    assert (now["turn"], now["depth"], now["dungeon"]) == ("1", "1", "the Dungeons of Doom")
    assert {"explore", "search", "wield dagger", "eat food ration", "take off small shield"} <= set(
        info.valid_actions or ()
    )
    assert "pray" not in (info.valid_actions or ())
    assert "go up" not in (info.valid_actions or ())


def test_the_game_reader_understands_it() -> None:
    with make("nethack", seed=4) as env:
        text, info = env.reset()
    extraction = GameExtractor().extract(GameStep(text, None, info.inventory, info.goal), TemporalGraph().view())
    facts = {statement.key for statement in extraction.statements if isinstance(statement, Fact)}
    room = "room 1 of level 1"
    assert {
        ("player", "is in", room),
        ("staircase", "leads up from", room),
        (room, "has exit", "up"),
        (room, "has exit", "west"),
        ("uncursed food ration", "is in", "inventory"),
    } <= facts
    assert any(relation.startswith("leads ") and subject.startswith("doorway ") for subject, relation, _ in facts)


def test_only_the_level_mode_describes_the_remembered_level() -> None:
    walk = ["explore"] * 12
    with make("nethack", seed=4, observation="level") as whole, make("nethack", seed=4) as near:
        told, narrow = play(whole, walk), play(near, walk)
    assert [status(a[0]) for a in told] == [status(b[0]) for b in narrow]  # what is told changes nothing else
    last, last_near = told[-1][0], narrow[-1][0]
    assert "The map of level 1 shows also:\n" in last
    assert "shows also" not in last_near
    assert len(re.findall(r"^(?:Room|Corridor) \d+ of level 1 \(\d+ steps? away\): ", last, re.M)) >= 2
    title = re.search(r"-= (.*) =-", last_near)
    assert title is not None
    scene = last_near[title.start() :]
    assert set(re.findall(r"(?:room|corridor) \d+ of level \d+", scene, re.I)) == {title[1]}
    places = {one for one in told[-1][1].valid_actions or () if re.match(r"move to (?:room|corridor)", one)}
    assert places
    assert not places & set(narrow[-1][1].valid_actions or ())


def test_remembered_places_can_be_gone_to_by_name_in_either_mode() -> None:
    with make("nethack", seed=4) as env:
        start = env.reset()[0]
        assert "-= Room 1 of level 1 =-" in start
        text = start
        for _ in range(12):
            text = env.step("explore")[0]
            if "-= Room 1 " not in text:
                break
        assert "-= Room 1 of level 1 =-" not in text
        for _ in range(10):
            text = env.step("move to room 1 of level 1")[0]
            if "-= Room 1 of level 1 =-" in text:
                break
        assert "-= Room 1 of level 1 =-" in text
        assert re.search(r"^You walk from .+ to .+ of level 1\.$", text, re.M)
        assert "You know of no room 77" in env.step("move to room 77")[0]


def test_doors_keep_their_names() -> None:
    with make("nethack", seed=4, observation="level") as env:
        places: dict[str, tuple[int, int]] = {}
        env.reset()
        for _ in range(25):
            text, _, terminated, _, _ = env.step("explore")
            if terminated:
                break
            now = status(text)
            for match in _DOOR.finditer(text):
                square = {"east": 0, "south": 0}
                for steps, direction in re.findall(r"(\d+) (east|west|north|south)", match["at"]):
                    axis = "east" if direction in ("east", "west") else "south"
                    square[axis] += int(steps) * (1 if direction in ("east", "south") else -1)
                where = (int(now["column"]) + square["east"], int(now["row"]) + square["south"])
                assert places.setdefault(match["name"], where) == where
    assert len(places) > 3
    assert len(set(places.values())) == len(places)


def test_carried_things_can_be_dropped_taken_worn_wielded_and_eaten(world: Environment) -> None:
    world.reset()
    text, _, _, _, info = world.step("drop dagger")
    assert "You drop a" in text
    assert "dagger" not in (info.inventory or "")
    assert "dagger is right here." in text
    assert "pick up dagger" in (info.valid_actions or ())
    assert "dagger (weapon in hand)" not in (world.step("pick up dagger")[4].inventory or "")
    assert "dagger (weapon in hand)" in (world.step("wield dagger")[4].inventory or "")
    assert "small shield (being worn)" not in (world.step("take off small shield")[4].inventory or "")
    assert "small shield (being worn)" in (world.step("wear small shield")[4].inventory or "")
    text, _, _, _, info = world.step("eat food ration")
    assert "food ration" not in (info.inventory or "")
    assert "You have no food ration to eat." in world.step("eat food ration")[0]
    turn = status(world.step("look")[0])["turn"]
    assert status(world.step("throw dagger at east")[0])["turn"] > turn


def test_of_several_things_one_or_all_are_picked_up(world: Environment) -> None:
    world.reset()
    for thing in ("dagger", "food ration", "long sword"):
        world.step(f"drop {thing}")
    text = world.step("look")[0]
    assert len(re.findall(r"^An? .*(?:dagger|ration|sword).* is right here\.$", text, re.M)) == 3
    text, _, _, _, info = world.step("pick up food ration")
    assert "food ration" in (info.inventory or "")
    assert "dagger" not in (info.inventory or "")
    assert "Pick up what?" not in text
    _, _, _, _, info = world.step("pick up")
    assert "dagger" in (info.inventory or "")
    assert "long sword" in (info.inventory or "")
    assert "pick up" not in (info.valid_actions or ())


def test_an_unknown_action_costs_a_move_and_no_turn(world: Environment) -> None:
    turn = status(world.reset()[0])["turn"]
    for moves, action in enumerate(
        ("dance", "save", "#quit", "fight dragon", "eat", "explore upwards", "pick up moon"), 1
    ):
        text, reward, terminated, _, info = world.step(action)
        assert (status(text)["turn"], reward, terminated, info.moves) == (turn, 0.0, False, moves)
    assert "That is not understood. Actions are: go DIRECTION" in world.step("sing a song")[0]


def test_questions_are_left_to_the_player(world: Environment) -> None:
    world.reset()
    text, _, _, _, info = world.step("go up")
    assert text.endswith("The game asks: Beware, there will be no return!  Still climb? Answer yes or no.")
    assert info.valid_actions == ("no", "yes")
    text, _, _, _, info = world.step("no")
    assert "The game asks" not in text
    world.step("go up")
    assert "The game asks" not in world.step("look")[0]  # anything else declines
    world.step("go up")
    text, _, terminated, _, info = world.step("yes")
    assert terminated
    assert (info.won, info.lost, info.valid_actions) == (False, True, ())
    assert re.search(r"^You .*escaped from the dungeon with \d+ points", text, re.M)
    with pytest.raises(EpisodeOverError, match="over"):
        world.step("look")


def test_death_is_reported_with_its_cause() -> None:
    with make("nethack", seed=2, character="tourist") as env:
        env.reset()
        for _ in range(60):
            text, _, terminated, _, info = env.step("pray")  # the gods lose patience
            if terminated:
                break
        assert terminated
        assert info.lost
        assert re.search(r"^Killed by .+\.$", text, re.M)
        assert re.search(r"^You died in .+ on dungeon level 1 with \d+ points", text, re.M)
        assert text.endswith("The game is over.")
        assert "202" not in text  # no date
        assert env.reset()[1].moves == 0


def test_skills_alone_find_the_second_level() -> None:
    with make("nethack", seed=4, observation="level") as env:
        text, info = env.reset()
        actions = []
        while status(text)["depth"] == "1":
            actions.append("descend" if "descend" in (info.valid_actions or ()) else "explore")
            text, reward, terminated, _, info = env.step(actions[-1])
            assert not terminated
            assert len(actions) < 60
        assert "-= Room 1 of level 2 =-" in text
        assert reward >= 50  # NetHack's points for a new depth
        assert set(actions) == {"explore", "descend"}


@pytest.mark.parametrize("mode", ["room", "level"])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_random_actions_give_well_formed_texts(mode: str, seed: int) -> None:
    rng = random.Random(seed)
    with make("nethack", seed=seed, character="random", observation=mode) as env:
        text, info = env.reset()
        for _ in range(150):
            action = rng.choice(info.valid_actions or ("look",))
            before = info
            text, reward, terminated, _, info = env.step(action)
            assert info.moves == before.moves + 1
            assert reward == info.score - before.score
            assert "--More--" not in text
            assert "(end)" not in text
            assert not re.search(r"[^\n\x20-\x7e]|\bNone\b|  +$", text), repr(text)
            assert "a a " not in text
            if terminated:
                assert text.endswith("The game is over.")
                break
            status(text)
            assert len(text) < 8000
            offered = info.valid_actions or ()
            assert offered == tuple(sorted(set(offered)))
            for one in offered:
                assert not re.search(r"\s{2}|\(|move to $|fight $", one), one


@pytest.mark.slow
def test_a_scripted_player_gets_deep() -> None:
    deepest = []
    for seed in range(5):
        with make("nethack", seed=seed, observation="level", max_moves=300) as env:
            text, info = env.reset()
            prayed: list[int] = []
            depth = 1
            over = False
            while not over:
                text, _, terminated, truncated, info = env.step(careful(text, info, prayed))
                over = terminated or truncated
                if not terminated:
                    depth = max(depth, int(status(text)["depth"]))
        deepest.append(depth)
    assert sum(deepest) / len(deepest) >= 3, deepest


def test_no_files_are_left_behind(tmp_path: Path) -> None:
    program = (
        "from worldthread_lab.envs import make\n"
        "env = make('nethack', seed=1); env.reset(); [env.step('explore') for _ in range(5)]; env.reset(2)\n"
        "env.close(); env.close(); make('nethack').reset()\n"  # the second is never closed
    )
    (tmp_path / "work").mkdir()
    (tmp_path / "temporary").mkdir()
    surroundings = {**os.environ, "TMPDIR": str(tmp_path / "temporary"), "HOME": str(tmp_path / "work")}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path / "work",
        env=surroundings,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (ran.stdout, [line for line in ran.stderr.splitlines() if "ResourceWarning" not in line]) == ("", [])
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert [path.name for path in (tmp_path / "temporary").iterdir()] == []


def test_the_truth_is_empty(world: Environment) -> None:
    with pytest.raises(EpisodeOverError):
        world.truth()
    world.reset()
    assert world.truth().propositions == frozenset()
    assert world.truth().walkthrough == ()
