from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from worldthread.errors import EpisodeOverError, InputError
from worldthread_lab.envs.base import Info
from worldthread_lab.envs.check import check_env
from worldthread_lab.envs.jericho import JerichoEnvironment, clean_text, listed, open_jericho

pytestmark = pytest.mark.games

GAMES = (
    *("balances.z5", "deephome.z5", "detective.z5", "enchanter.z3", "lostpig.z8", "ludicorp.z5"),
    *("pentari.z5", "temple.z5", "zork1.z5", "zork3.z5", "ztuu.z5"),
)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fresh, so that what is found is found by the code under test; shared, since it takes time."""
    return tmp_path_factory.mktemp("jericho-cache")


def opened(folder: Path, file: str, cache: Path, **options: object) -> JerichoEnvironment:
    return open_jericho(str(folder / file), id=f"jericho:{file}", cache_dir=cache, **options)  # type: ignore[arg-type]


def play(env: JerichoEnvironment, actions: list[str]) -> list[tuple[str, float, Info]]:
    return [(text, reward, info) for text, reward, _, _, info in map(env.step, actions)]


@pytest.mark.parametrize(
    "file", ["zork1.z5", "zork3.z5", "detective.z5", pytest.param("enchanter.z3", marks=pytest.mark.slow)]
)
def test_worlds_with_valid_actions_follow_the_interface(jericho_games: Path, cache: Path, file: str) -> None:
    with opened(jericho_games, file, cache) as env:
        check_env(env, steps=6, seed=3)
        _, info = env.reset(3)
        assert info.valid_actions


@pytest.mark.parametrize("file", GAMES)
@pytest.mark.slow
def test_the_walkthrough_wins_with_seed_0(jericho_games: Path, cache: Path, file: str) -> None:
    with opened(jericho_games, file, cache, valid_actions=False) as env:
        _, info = env.reset()
        assert info.valid_actions is None
        assert env.truth().optimal_moves is None
        sizes = []
        for action in env.truth().walkthrough:
            _, _, terminated, _, info = env.step(action)
            sizes.append(len(env.save()))
            if terminated:
                break
        assert (info.won, info.lost) == (True, False)
        assert info.max_score is not None
        assert info.score >= info.max_score - 1
        assert sum(sizes) / len(sizes) < 2000
        env.reset(1)
        assert env.truth().walkthrough == ()


def test_only_the_seed_decides_random_events(jericho_games: Path, cache: Path) -> None:
    actions = ["wait", "jump", "hello", "wait", "wait", "wait"]
    with opened(jericho_games, "zork1.z5", cache, valid_actions=False, seed=1) as env:
        texts = {}
        for seed in (1, 2, 0, 1):
            opening, _ = env.reset(seed)
            texts.setdefault(seed, []).append([opening, *(text for text, _, _ in play(env, actions))])
        assert texts[1][0] == texts[1][1]
        assert texts[1][0] != texts[2][0] != texts[0][0]
        opening, _ = env.reset()
        assert [opening, *(text for text, _, _ in play(env, actions))] == texts[1][0]
    with opened(jericho_games, "zork1.z5", cache, valid_actions=False, seed=2) as env:
        opening, _ = env.reset()
        assert [opening, *(text for text, _, _ in play(env, actions))] == texts[2][0]


def test_finding_actions_and_inventory_does_not_change_the_state(
    jericho_games: Path, cache: Path, tmp_path: Path
) -> None:
    """Texts, scores and the chance to come are those of a world that is not asked for valid actions."""
    for file, seed in (("zork1.z5", 4), ("temple.z5", 4)):
        with (
            opened(jericho_games, file, cache, seed=seed) as asked,
            opened(jericho_games, file, tmp_path, seed=seed, valid_actions=False) as left,
        ):
            assert asked.reset()[0] == left.reset()[0]
            for action in ("wait", "east", "look", "wait", "examine me"):
                (text, reward, _, _, info), (other, points, _, _, known) = asked.step(action), left.step(action)
                assert (text, reward, info.state, info.inventory) == (other, points, known.state, known.inventory)
            assert asked._engine.save() == left._engine.save()


def test_valid_actions_change_the_world(jericho_games: Path, cache: Path) -> None:
    with opened(jericho_games, "zork1.z5", cache) as env:
        _, info = env.reset()
        assert info.valid_actions is not None
        assert {"north", "south", "west"} <= set(info.valid_actions)
        assert any(action.startswith("open") and "mailbox" in action for action in info.valid_actions)
        start = env.save()
        for action in info.valid_actions:
            _, _, _, _, after = env.step(action)
            assert after.state != info.state
            assert env.restore(start) == env.restore(start)


def test_states_are_the_same_when_only_time_has_passed(jericho_games: Path, cache: Path) -> None:
    with opened(jericho_games, "zork1.z5", cache, valid_actions=False) as env:
        env.reset()
        env.step("examine house")  # the first thing that is named makes the game note something for good
        after = {action: env.step(action)[4] for action in ("look", "examine door", "wait", "put sand in zq")}
        assert len({told.state for told in after.values()}) == 1
        closed = after["wait"].state
        opened_box, taken, back = (env.step(f"{do} mailbox")[4].state for do in ("open", "take leaflet from", "open"))
        assert len({closed, opened_box, taken}) == 3
        assert taken == back
        put_back, shut = env.step("put leaflet in mailbox")[4].state, env.step("close mailbox")[4].state
        assert put_back == opened_box
        assert shut not in {opened_box, taken}


def test_a_flag_outside_the_tree_of_objects_makes_another_state(jericho_games: Path, cache: Path) -> None:
    with opened(jericho_games, "zork1.z5", cache, valid_actions=False) as env:
        _, info = env.reset()
        for action in env.truth().walkthrough:
            world, before = env._engine.world_bytes(), info.state
            _, _, _, _, info = env.step(action)
            if action == "Press yellow button":
                # jericho's own digest does not see that the dam can be opened now
                assert env._engine.world_bytes() == world
                assert info.state != before
                return
    pytest.fail("the walkthrough presses no button")


@pytest.mark.slow
def test_the_inventory_costs_no_move(jericho_games: Path, cache: Path) -> None:
    with opened(jericho_games, "temple.z5", cache, valid_actions=False) as env:
        _, info = env.reset()
        assert info.inventory == "You are carrying nothing."
        seen = {env.step("inventory")[0] for _ in range(8)}
        assert any("shadow" in text for text in seen), "the command itself lets something happen"
        assert env._info.inventory == "You are carrying nothing."
    with opened(jericho_games, "lostpig.z8", cache, valid_actions=False) as env:
        _, info = env.reset()
        assert info.inventory == "Grunk have:\n  torch (on fire)\n  pants (Grunk wearing them)"


def test_the_truth_contains_the_place_of_everything(jericho_games: Path, cache: Path) -> None:
    with opened(jericho_games, "zork1.z5", cache, valid_actions=False) as env:
        with pytest.raises(EpisodeOverError, match="reset"):
            env.truth()
        env.reset()
        facts = env.truth().propositions
        assert {("at", "P", "West House"), ("in", "leaflet", "mailbox"), ("in", "mailbox", "West House")} <= facts
        play(env, ["open mailbox", "take leaflet", "north"])
        facts = env.truth().propositions
        assert {("at", "P", "North House"), ("in", "leaflet", "I")} <= facts
        assert ("in", "leaflet", "mailbox") not in facts


def test_an_end_is_reported_and_an_earlier_state_can_be_restored(jericho_games: Path, cache: Path) -> None:
    with opened(jericho_games, "zork3.z5", cache) as env:
        env.reset()
        saved = [env.save()]
        rng = random.Random(0)
        _, _, terminated, _, info = env.step("south")
        while not terminated:
            saved.append(env.save())
            text, _, terminated, _, info = env.step(rng.choice(info.valid_actions or ("wait",)))
        assert info.lost
        assert not info.won
        assert info.valid_actions == ()
        ended = env.save()
        assert env.restore(saved[1])[1].valid_actions
        env.step("wait")
        assert env.restore(ended) == (text, info)
        with pytest.raises(EpisodeOverError, match="over"):
            env.step("wait")
        env.restore(saved[0])
        env.step("wait")


def test_states_are_accepted_by_another_environment_of_the_same_game_only(jericho_games: Path, cache: Path) -> None:
    with (
        opened(jericho_games, "zork1.z5", cache, valid_actions=False) as one,
        opened(jericho_games, "zork1.z5", cache, valid_actions=False, seed=7) as two,
        opened(jericho_games, "detective.z5", cache, valid_actions=False) as other,
    ):
        with pytest.raises(EpisodeOverError, match="reset"):
            one.save()
        one.reset()
        play(one, ["open mailbox", "take leaflet"])
        saved = one.save()
        after = one.step("read leaflet")
        assert two.restore(saved)[1].inventory == "You are carrying:\n  A leaflet"
        assert two.step("read leaflet") == after
        for nonsense in (b"", saved[:-3], saved[:20], b"x" * len(saved), saved + b"more"):
            with pytest.raises(InputError, match="saved"):
                one.restore(nonsense)
        with pytest.raises(InputError, match="another game"):
            other.restore(saved)


def test_commands_to_the_engine_are_refused(
    jericho_games: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with opened(jericho_games, "zork1.z5", cache, valid_actions=False) as env:
        env.reset()
        before = env._engine.save()
        for action in (
            "save",
            "RESTORE",
            "restar",
            "quit",
            "q",
            "$verify",
            "#record",
            "script",
            "oops save",
            "look\\s",
            "north and save",
            "take lamp, quit",
            'say "restore"',
        ):
            text, reward, _, _, _ = env.step(action)
            assert "engine" in text, action
            assert reward == 0
        assert "One action at a time" in env.step("north. south")[0]
        assert "One action at a time" in env.step("open mailbox then take leaflet")[0]
        assert "longer" in env.step("look " * 40)[0]
        assert env._engine.save() == before
        assert env.step("say it to the troll, hello")[4].moves == 17
    assert list(tmp_path.iterdir()) == []
    with opened(jericho_games, "detective.z5", cache, valid_actions=False) as env:
        env.reset()
        for action in (
            "tree",
            "purloin gun",
            "gonear mayor",
            "undo",
            "walkthrough",
            "recording on",
            "take paper. undo",
        ):
            assert "engine" in env.step(action)[0], action


def test_menus_are_left_at_once(jericho_games: Path, cache: Path) -> None:
    for file, action in (("lostpig.z8", "help"), ("temple.z5", "help"), ("detective.z5", "about")):
        with opened(jericho_games, file, cache, valid_actions=False) as env:
            _, info = env.reset()
            text, _, _, _, after = env.step(action)
            assert "subject" in text or "Hints" in text
            assert not env._engine.awaits_key
            assert after.inventory == info.inventory
            assert after.moves == 1


def test_letters_that_the_game_cannot_read_do_no_harm(jericho_games: Path, cache: Path) -> None:
    with opened(jericho_games, "detective.z5", cache, valid_actions=False) as env:
        env.reset()
        for action in ("take þorn", "prendre le café", "ÿ", "look \t at 纸"):
            assert env.step(action)[0]
        assert "paper" in env.step("look")[0]


def test_valid_actions_are_the_same_in_every_process(jericho_games: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from worldthread_lab.envs import make\n"
        "env = make('jericho:' + sys.argv[1], cache_dir=sys.argv[2], seed=int(sys.argv[3]))\n"
        "print(env.reset()[1].valid_actions)\n"
        "for action in ('west', 'take sheet', 'north'): print(env.step(action)[4].valid_actions)\n"
        "print('spacy' in sys.modules)"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", program, str(jericho_games / "detective.z5"), str(tmp_path / hashing), "5"],
            env={**os.environ, "PYTHONHASHSEED": hashing},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hashing in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert printed[0].count("(") == 4
    assert printed[0].endswith("False\n")


def test_prompts_and_questions_are_removed_from_texts() -> None:
    assert clean_text("\n\n\nHall  \nYou are here.\n\n\n\nA key.\n\n>") == "Hall\nYou are here.\n\nA key."
    ending = "You fall.\n\n    *** You have died ***\n\n\nWould you like to RESTART, RESTORE a saved game or QUIT?"
    assert clean_text(ending) == "You fall.\n\n    *** You have died ***"
    assert (
        listed("You are carrying:\n  a lamp\n    a wick\n\nA bat flies in.\n")
        == "You are carrying:\n  a lamp\n    a wick"
    )
    assert listed("You are empty-handed.\nThe troll laughs.") == "You are empty-handed."
