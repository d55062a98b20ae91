from __future__ import annotations

from pathlib import Path

import pytest

from worldthread_lab.envs.base import Environment, Info, Truth
from worldthread_lab.envs.check import check_env
from worldthread_lab.envs.registry import make
from worldthread_lab.envs.renamed import RenamedCooking


class Kitchen(Environment):
    """Offers the same actions always, and tells what it was given."""

    id = "kitchen-v1"

    def __init__(self, *actions: str) -> None:
        self.actions = actions
        self.closed = False

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        return "A kitchen.", Info(valid_actions=self.actions or None)

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        return action, 0.0, False, False, Info(valid_actions=self.actions or None, moves=1)

    def truth(self) -> Truth:
        return Truth(frozenset(), ("cook egg with stove",))

    def close(self) -> None:
        self.closed = True


def test_cooking_actions_have_verbs_of_their_own() -> None:
    kitchen = Kitchen("cook egg with stove", "cook pork chop with BBQ", "cook red onion with oven", "cook", "go north")
    with RenamedCooking(kitchen) as env:
        offered = env.reset()[1].valid_actions
        assert offered == ("cook", "fry egg", "go north", "grill pork chop", "roast red onion")
        for action, given in {
            "fry egg": "cook egg with stove",
            " Roast red onion": "cook red onion with oven",
            "grill pork chop": "cook pork chop with BBQ",
            "cook egg with stove": "cook egg with stove",
            "fry": "fry",
            "take fry pan": "take fry pan",
        }.items():
            text, _, _, _, info = env.step(action)
            assert text == given
            assert info.valid_actions == offered
        assert env.truth().walkthrough == ("cook egg with stove",)
        assert env.id == "kitchen-v1"
    assert kitchen.closed


def test_a_world_without_a_list_of_actions_still_has_none() -> None:
    env = RenamedCooking(Kitchen())
    assert env.reset()[1].valid_actions is None
    assert env.step("look")[4].valid_actions is None


@pytest.mark.games
def test_generated_games_and_game_files_take_the_option(
    game_cache: Path, textworld_games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make("cooking-level2", seed=1, cache_dir=game_cache, rename_cooking=True) as env:
        check_env(env, steps=10)
    with (
        make(f"textworld:{textworld_games / 'cook_level2_a.z8'}", rename_cooking=True) as renamed,
        make(f"textworld:{textworld_games / 'cook_level2_a.z8'}") as plain,
    ):
        renamed.reset()
        plain.reset()
        new_words = set()
        for command in plain.truth().walkthrough:
            (text, _, _, _, info), (other, _, _, _, known) = renamed.step(command), plain.step(command)
            assert text == other
            assert info.valid_actions is not None
            assert known.valid_actions is not None
            new_words |= set(info.valid_actions) - set(known.valid_actions)
            assert not any(action.startswith("cook ") for action in info.valid_actions if " with " in action)
        assert {word.split()[0] for word in new_words} == {"fry", "grill", "roast"} & {w.split()[0] for w in new_words}
        assert new_words
        assert info.won
