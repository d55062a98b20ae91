"""The adapter for text worlds made like Gymnasium's, with small engines made up here."""

from __future__ import annotations

from typing import Any

import pytest

from worldthread.errors import EpisodeOverError, GameError
from worldthread_lab.envs import gymnasium_text, textworld_express
from worldthread_lab.envs.check import check_env
from worldthread_lab.envs.gymnasium_text import EngineWording, GymnasiumText, InfoNames
from worldthread_lab.envs.scienceworld import _usual_text as science_words
from worldthread_lab.envs.textworld_express import _usual_text as express_words


class Corridor:
    """Five places in a row; the prize is at the end."""

    closed = False

    def reset(self, *, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.at = 0
        return "You are at 0.", {"objective": "Walk to the end.", "admissible_commands": ["wait", "go east", "wait"]}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.at += action == "go east"
        done = self.at == 4
        return f"You are at {self.at}.", float(done), done, False, {"admissible_commands": ["go east", "wait"]}

    def close(self) -> None:
        self.closed = True


class OldCorridor(Corridor):
    """The same with four values, a score and no list of actions."""

    def reset(self, *, seed: int | None = None) -> Any:
        super().reset(seed=seed)
        return "You are at 0."

    def step(self, action: str) -> Any:
        text, _, done, _, _ = super().step(action)
        return (
            text,
            0,
            done or action == "jump",
            {"score": -1 if action == "jump" else self.at, "inventory": " a map\n"},
        )


def world(engine: type[Corridor] = Corridor, **options: Any) -> GymnasiumText:
    return GymnasiumText(engine, id="corridor-v1", max_score=4 if engine is OldCorridor else 1, **options)


@pytest.mark.parametrize("engine", [Corridor, OldCorridor])
@pytest.mark.parametrize("options", [{}, {"valid_actions": False}, {"max_moves": 3, "goal": "Go."}])
def test_an_adapted_engine_follows_the_interface(engine: type[Corridor], options: dict[str, Any]) -> None:
    check_env(world(engine, **options))


def test_the_task_comes_first_and_the_end_is_a_win() -> None:
    env = world()
    text, info = env.reset()
    assert text == "Walk to the end.\n\nYou are at 0."
    assert info.valid_actions == ("go east", "wait")
    steps = [env.step("go east") for _ in range(4)]
    assert [step[1] for step in steps] == [0.0, 0.0, 0.0, 1.0]
    assert steps[-1][2]
    assert steps[-1][4].won
    env.close()
    env.close()
    with pytest.raises(EpisodeOverError):
        env.step("wait")


def test_an_engine_with_four_values_and_a_score_may_be_lost() -> None:
    env = world(OldCorridor)
    assert env.reset()[1].valid_actions is None
    info = env.step("go east")[4]
    assert (info.score, info.inventory) == (1, "a map")
    _, reward, terminated, _, info = env.step("jump")
    assert (reward, terminated, info.lost, info.won) == (-2.0, True, True, False)


def test_other_words_for_texts_and_commands() -> None:
    wording = EngineWording(lambda text: text.replace("You are at", "Place"), {r"walk (\w+)": r"go \1"})
    env = world(wording=wording, names=InfoNames(goal="nothing"))
    assert env.reset()[0] == "Place 0."
    assert env.step("Walk east")[0] == "Place 1."


class Broken(Corridor):
    def step(self, action: str) -> Any:
        if action == "crash":
            raise RuntimeError("out of memory\n\tat Engine.java:7")
        return ("You are.", 0.0) if action == "two" else (3, 0.0, False, {})


@pytest.mark.parametrize(
    ("action", "says"),
    [
        ("two", "of corridor-v1 must answer a step with 4 or 5 values"),
        ("other", "of corridor-v1 must observe text, not int"),
        ("crash", "of corridor-v1 failed: out of memory$"),
    ],
)
def test_what_an_engine_answers_is_checked(action: str, says: str) -> None:
    env = world(Broken)
    env.reset()
    with pytest.raises(GameError, match=says):
        env.step(action)


def test_a_missing_or_broken_java_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gymnasium_text.shutil, "which", lambda name: None)
    with pytest.raises(GameError, match=r"no command 'java' was found.*apt-get install default-jre-headless"):
        gymnasium_text.start_with_java("Express", dict)
    monkeypatch.setattr(gymnasium_text.shutil, "which", lambda name: "/bin/java")
    with pytest.raises(GameError, match=r"Java could not start Express: ValueError\('no port'\)"):
        gymnasium_text.start_with_java("Express", lambda: (_ for _ in ()).throw(ValueError("no port")))


def test_places_and_ways_out_of_textworldexpress_are_told_as_in_textworld() -> None:
    printed = (
        "You are in the attic. In one part of the room you see a shelf that has a nail, and some tape on it. There is "
        "also an open trunk, that contains a quilt. You also see a crate that is closed. \n"
        "Through an open oak door, to the East you see the loft. To the West you see a closed glass door. To the North "
        "you see the stairs. "
    )
    assert express_words(printed) == (
        "-= attic =-\nIn one part of the room you see a shelf. On the shelf you see a nail, and some tape. There is an "
        "open trunk. The trunk contains a quilt. You also see a crate that is closed. \n"
        "There is an open oak door leading East, to the loft. There is a closed glass door leading West. There is an "
        "exit to the North, to the stairs. "
    )
    assert express_words("Inventory (maximum capacity is 2 items): \n  a nail\n") == "You are carrying:\n  a nail"
    assert express_words("Inventory: \n  Your inventory is currently empty.\n") == "You are carrying nothing."
    assert (
        express_words("You open the oak door, revealing the loft. ") == "You open the oak door. The loft is behind it. "
    )
    assert express_words("Simon says, 'wait'.") == "Simon says, 'wait'."


def test_the_lists_of_scienceworld_become_sentences() -> None:
    printed = (
        "This room is called the larder. In it, you see: \n\tthe agent\n\ta substance called air\n"
        "\ta bench. On the bench is: a pan (containing a pear, a fig), a lid.\n"
        "\ta basin, which is turned off. In the basin is: nothing.\n\ta tin (containing nothing)\n"
        "You also see:\n\tA door to the yard (that is open)"
    )
    assert science_words(printed) == (
        "-= larder =-\n\tthe agent\nYou see some air.\n"
        "You see a bench. On the bench is a pan, a lid. The pan contains a pear, a fig.\n"
        "You see a basin, which is turned off.\nYou see a tin.\n"
        "You also see:\n\tA door to the yard (that is open)"
    )
    assert science_words("You move to the yard.") == "You move to the yard."


def test_a_recipe_is_what_the_true_state_asks_for() -> None:
    text = "Gather.\n\nIngredients:\n  leek\n  rice\n\nDirections:\n  dice the leek\n  fry the leek\n  prepare meal\n\n"
    assert set(textworld_express._recipe(text)) == {
        ("base", "leek", "slot of leek"),
        ("base", "rice", "slot of rice"),
        ("diced", "slot of leek"),
        ("fried", "slot of leek"),
    }
    assert not list(textworld_express._recipe("A map of the house."))
