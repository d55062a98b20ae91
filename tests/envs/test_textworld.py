from __future__ import annotations

import math
import multiprocessing
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from worldthread.errors import EpisodeOverError, GameFileError, InputError
from worldthread_lab.envs.base import Environment
from worldthread_lab.envs.registry import make
from worldthread_lab.envs.textworld import TextWorldEnvironment, check_game_file, clean_feedback

games = pytest.mark.games


@pytest.fixture
def hunt(game_cache: Path) -> Iterator[Environment]:
    with make("treasure-hunt-hardest", seed=0, max_moves=math.inf, cache_dir=game_cache) as env:
        yield env


@pytest.fixture(scope="module")
def game_file(game_cache: Path) -> Path:
    """The path of a generated game."""
    with make("treasure-hunt", seed=0, cache_dir=game_cache) as env:
        env.reset()
        assert isinstance(env, TextWorldEnvironment)
        assert env._path is not None
        return env._path


def copy_game(game: Path, folder: Path) -> Path:
    for suffix in (".z8", ".json"):
        shutil.copy(game.with_suffix(suffix), folder / f"copy{suffix}")
    return folder / "copy.z8"


STATUS = f"{' ' * 128}-= Hall =-"
LAST = "*** The End ***\n\nYou scored 7.\n\n\nWould you like to RESTART, RESTORE a saved game, QUIT or UNDO?"


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        (f"\nYou are carrying nothing.\n\n\n\n>{STATUS}0/2", "You are carrying nothing."),
        (f"\n\n-= Hall =-\nA hall.\n\n\nA cup.\n>{STATUS}-3/12", "-= Hall =-\nA hall.\n\nA cup."),
        (f"\nAre you sure you want to quit? {STATUS}0/16", "Are you sure you want to quit?"),
        ("\nIngredients:\n  red onion\n\n>", "Ingredients:\n  red onion"),
        ("The score is 3/4", "The score is 3/4"),
        (f"\nDone.\n\n{' ' * 40}{LAST}\n> {STATUS}7/29", "Done.\n\n*** The End ***\n\nYou scored 7."),
        (f">{STATUS}0/2", ""),
    ],
)
def test_banner_prompt_and_status_are_removed_from_feedback(raw: str, clean: str) -> None:
    assert clean_feedback(raw) == clean
    assert clean_feedback(clean) == clean


@games
def test_the_first_observation_is_the_task_and_the_room_without_the_banner(hunt: Environment) -> None:
    observation, info = hunt.reset()
    goal, rest = observation.split("\n\n", 1)
    assert goal == info.goal
    assert rest.startswith("-= ")
    assert "$" not in observation
    assert "\\" not in observation
    assert not re.search(r"\n\n\n|[ ]\n|^\n|\n$|\d+/\d+$", observation)
    assert observation.endswith("on the floor.")


@games
@pytest.mark.parametrize("name", ["hunt", "hunt_hard", "cook", "cook_hardest", "clean", "cook_level4_a"])
def test_published_games_start_without_the_banner(name: str, textworld_games: Path) -> None:
    with make(f"textworld:{textworld_games / name}.z8") as env:
        observation, info = env.reset()
        assert not re.search(r"\$\$|\d+/\d+$|^>|\n\n\n", observation)
        assert "-= " in observation
        assert info.valid_actions
        assert "look" in info.valid_actions
        assert ("at", "P") in {fact[:2] for fact in env.truth().propositions}


@games
@pytest.mark.parametrize("name", ["cook", "cook_hard", "cook_level4_a"])
def test_walkthroughs_of_published_games_win(name: str, textworld_games: Path) -> None:
    with make(f"textworld:{textworld_games / name}.z8") as env:
        _, info = env.reset()
        terminated = False
        for action in env.truth().walkthrough:
            assert not terminated
            _, _, terminated, _, info = env.step(action)
        assert terminated
        assert info.won
        assert info.score == info.max_score


@games
def test_a_goal_is_appended_unless_it_is_the_games_own(game_file: Path) -> None:
    with make(f"textworld:{game_file}") as env:
        observation, own = env.reset()
    with make(f"textworld:{game_file}", goal="Get rich.") as env:
        told, info = env.reset()
        assert info.goal == "Get rich."
        assert told == f"{observation}\n\nGet rich."
        assert env.step("look")[4].goal == "Get rich."
    with make(f"textworld:{game_file}", goal=own.goal) as env:
        assert env.reset()[0] == observation


@games
@pytest.mark.parametrize(
    "action",
    [
        "save", "restore", "RESTART", " quit", "q", "undo", "script", "transcript", "version", "print_state",
        "print_statement", "look. print_state", "look then restart", "oops print_state", "oops oops restart",
        "restrict commands", "enable print state option", "tw-trace-actions", "tw-extra-infos score", 'say "tw-print"',
    ],
)  # fmt: skip
def test_commands_to_the_engine_are_not_passed_on(
    action: str, hunt: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game_cache: Path
) -> None:
    monkeypatch.chdir(tmp_path)

    def files() -> set[Path]:
        """What lies beside the games; games themselves come and go while other tests run."""
        found = (game_cache / "games" / "treasure-hunt-hardest-v1").glob("[!.]*")
        return {file for file in found if file.suffix not in (".z8", ".json", ".lock", ".ni")}

    before = files()
    _, start = hunt.reset()
    truth = hunt.truth()
    observation, reward, terminated, truncated, info = hunt.step(action)
    assert "not passed on" in observation
    assert (reward, terminated, truncated, info.moves, info.score) == (0, False, False, 1, 0)
    assert info.valid_actions == start.valid_actions
    assert hunt.truth() == truth
    assert hunt.step("wait")[0] == "Time passes."
    assert list(tmp_path.iterdir()) == []
    assert files() == before


@games
@pytest.mark.parametrize("action", ["take Key 1. look", "look.look", "look then inventory", "wait. wait. wait."])
def test_a_line_is_one_action(action: str, hunt: Environment) -> None:
    hunt.reset()
    observation, _, _, _, info = hunt.step(action)
    assert observation.startswith("One action at a time")
    assert info.moves == 1
    assert "nothing" in (info.inventory or "")
    assert hunt.step("take Key 1.")[1] == 1.0


@games
def test_lines_that_are_too_long_are_not_passed_on(hunt: Environment) -> None:
    hunt.reset()
    assert "longer than the 198 bytes" in hunt.step("look " + "\u00e9" * 97)[0]
    assert hunt.step("take cl\u00e9 \u201ckey\u201d \U0001f511")[0] == "You can't see any such thing."
    assert hunt.step(" LOOK  ")[0] == hunt.step("l")[0] == hunt.step("look")[0]


@games
def test_actions_that_are_not_a_line_of_text_are_refused(hunt: Environment) -> None:
    hunt.reset()
    for action in ("", " \t", "look\ninventory", "look\n", "a\x00b", "\ud800", "look\u2028", 7):
        with pytest.raises(InputError, match="an action must"):
            hunt.step(action)  # type: ignore[arg-type]
    assert hunt.step("look")[4].moves == 1


def ask_game(env: Environment) -> dict[str, str]:
    """Place of each thing, told by the game itself: by its debugging command, which players are denied."""
    assert isinstance(env, TextWorldEnvironment)
    text = env._engine.unwrapped._send("print_state")
    text = re.sub(r"\[[^]]+\]\n?", "", text)
    places: dict[str, str] = {}
    room = holder = ""
    for line in text.split("World:")[1].split("Score:")[0].splitlines():
        name = re.sub(r" \(.*| ?[{\[].*", "", line.strip())
        if re.fullmatch(r"[^ ].*:", line):
            room = line[:-1]
        elif line.startswith("    ") and room:
            places[re.sub(r"^(an?|some) ", "", name)] = holder
        elif line.startswith("  ") and room:
            holder = re.sub(r"^(an?|some) ", "", name)
            places[holder] = room
    return places


@games
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_the_truth_follows_the_game_whatever_words_the_player_uses(hunt: Environment, seed: int) -> None:
    """Against the state that the game prints of itself, after random actions in many wordings."""
    rng = random.Random(seed)
    _, info = hunt.reset()
    things = {fact[1] for fact in hunt.truth().propositions if fact[0] in ("in", "on", "at")} - {"P"}
    for number in range(80):
        assert info.valid_actions is not None
        action = rng.choice([action for action in info.valid_actions if not action.startswith(("examine", "look"))])
        near = [action.removeprefix("examine ") for action in info.valid_actions if action.startswith("examine")]
        wordings = [
            action,
            action.replace("take ", "get ").split(" from ")[0],
            action.replace("take ", "pick up ").split(" from ")[0],
            action.replace("drop ", "throw ").replace("insert ", "put ").replace(" into ", " in "),
            action.replace("go ", "").replace("close ", "shut "),
            f"take {' and '.join(rng.sample(near, 2))}" if len(near) > 1 else "wait",
            rng.choice(["drop all", f"put all in {near[0]}" if near else "drop all", "jump", "take all"]),
        ]
        _, _, _, _, info = hunt.step(rng.choice(wordings))
        if number % 8 == 7:
            told = ask_game(hunt)
            truth = {fact[1]: fact[2] for fact in hunt.truth().propositions if fact[0] in ("in", "on", "at")}
            told = {"P" if thing == "yourself" else thing: place for thing, place in told.items()}
            compared = {thing for thing in things | {"P"} if truth[thing] != "I"}
            assert len(compared) > 100
            for thing in compared:
                assert told[thing].casefold() == truth[thing].casefold(), thing
            for thing in things - compared:
                assert thing in (info.inventory or "")


@games
def test_the_episode_ends_at_the_limit_and_at_a_win(game_file: Path) -> None:
    with make(f"textworld:{game_file}", max_moves=3) as env:
        with pytest.raises(EpisodeOverError, match="has not begun"):
            env.step("look")
        with pytest.raises(EpisodeOverError, match="reset"):
            env.truth()
        env.reset()
        assert [env.step(action)[3] for action in ("look", "save", "wait")] == [False, False, True]
        with pytest.raises(EpisodeOverError, match="is over"):
            env.step("look")
        _, info = env.reset()
        assert info.moves == 0
        assert not env.step("look")[3]


@games
def test_winning_on_the_last_move_is_a_win(game_file: Path) -> None:
    with make(f"textworld:{game_file}") as env:
        env.reset()
        walkthrough = env.truth().walkthrough
    with make(f"textworld:{game_file}", max_moves=len(walkthrough)) as env:
        env.reset()
        *_, (observation, reward, terminated, truncated, info) = [env.step(action) for action in walkthrough]
        assert (terminated, truncated, info.won, reward) == (True, False, True, 3.0)
        assert "*** The End ***" in observation
        assert "RESTART" not in observation
        assert env.truth().propositions


@games
def test_two_games_at_once_do_not_disturb_each_other(game_cache: Path) -> None:
    with (
        make("treasure-hunt", seed=0, cache_dir=game_cache) as one,
        make("treasure-hunt", seed=0, cache_dir=game_cache) as same,
        make("treasure-hunt", seed=1, cache_dir=game_cache) as other,
    ):
        start = one.reset()
        assert same.reset() == start
        assert other.reset() != start
        one.step("take Key 1")
        assert same.step("inventory")[0] == other.step("inventory")[0] == "You are carrying nothing."
        same.close()
        assert one.step("inventory")[0] == "You are carrying: a Key 1."


def play_in_child(env: Environment, other: Environment, answers: multiprocessing.SimpleQueue[str]) -> None:
    other.reset()
    other.step("take Key 1")
    answers.put(env.step("inventory")[0] + other.step("inventory")[0])


@games
def test_a_forked_process_continues_the_game_and_starts_others(game_cache: Path) -> None:
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    with make("treasure-hunt", seed=0, cache_dir=game_cache) as env:
        env.reset()
        other = make("treasure-hunt", seed=1, cache_dir=game_cache)
        child = context.Process(target=play_in_child, args=(env, other, answers))
        child.start()
        child.join(600)
        assert child.exitcode == 0
        assert answers.get() == "You are carrying nothing.You are carrying: a Key 1."
        assert env.step("take Key 1")[1] == 1.0


@games
def test_close_frees_what_the_engine_holds(game_cache: Path) -> None:
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("needs /proc")

    def mapped() -> int:
        return maps.read_text(encoding="utf-8").count("libfrotz")

    before = mapped()
    env = make("treasure-hunt", seed=0, cache_dir=game_cache)
    env.reset()
    one = mapped() - before
    for seed in (1, 0, 1):
        env.reset(seed)
        env.step("look")
    assert mapped() == before + one > before
    env.close()
    env.close()
    assert mapped() == before
    with pytest.raises(EpisodeOverError):
        env.step("look")
    assert env.reset()[1].moves == 0
    env.close()


@games
def test_results_do_not_reveal_the_true_state(hunt: Environment) -> None:
    observation, info = hunt.reset()
    for _ in range(2):
        told = f"{observation} {info}"
        hidden = {fact[1] for fact in hunt.truth().propositions if fact[0] == "in" and fact[2].endswith("locker")}
        assert hidden >= {"Key 2", "Note 2", "Golden key", "treasure"}
        assert not {name for name in hidden if name.startswith(("Key", "Note"))} & set(
            re.findall(r"(?:Key|Note) \d", told)
        )
        observation, _, _, _, info = hunt.step("examine Key 1")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("game.ulx", b"Glul", "older than 1.7"),
        ("game.json", b"{}", r"ends in \.z8"),
        ("game.z5", b"", r"ends in \.z8"),
        ("game.z8", b"", "not a Z-machine story"),
        ("game.z8", b"MZ" + bytes(100), "not a Z-machine story"),
        ("game.z8", b"\x08" + bytes(25) + b"\xff\xff\x12\x34" + bytes(100), "damaged"),
    ],
)
def test_files_that_are_not_games_are_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(GameFileError, match=message):
        check_game_file(path)
    with pytest.raises(GameFileError, match=message):
        make(f"textworld:{path}")


@games
def test_damaged_games_are_refused_before_the_engine_sees_them(game_file: Path, tmp_path: Path) -> None:
    game = copy_game(game_file, tmp_path)
    story = game.read_bytes()
    check_game_file(game)
    game.write_bytes(story[:-1000])
    with pytest.raises(GameFileError, match="damaged"):
        make(f"textworld:{game}")
    game.write_bytes(story[:5000] + bytes([story[5000] ^ 1]) + story[5001:])
    with pytest.raises(GameFileError, match="damaged"):
        make(f"textworld:{game}")
    game.write_bytes(story)
    for metadata in ("", "{}", "[1]", '{"version": 1}', "nonsense"):
        game.with_suffix(".json").write_text(metadata, encoding="utf-8")
        with pytest.raises(GameFileError, match=r"copy\.json: not the metadata"), make(f"textworld:{game}") as env:
            env.reset()
    game.with_suffix(".json").unlink()
    with pytest.raises(GameFileError, match=r"copy\.json, which TextWorld writes beside the game, is missing"):
        make(f"textworld:{game}")
    with pytest.raises(GameFileError, match="no such file"):
        make(f"textworld:{tmp_path / 'absent.z8'}")


@games
def test_games_are_found_by_name(game_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "textworld").mkdir()
    copy_game(game_file, tmp_path / "textworld")
    monkeypatch.setenv("WORLDTHREAD_GAMES", str(tmp_path))
    with make("textworld:copy") as env, make(f"textworld:{game_file}") as same:
        assert env.id == "textworld:copy"
        assert env.reset() == same.reset()
