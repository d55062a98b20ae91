from __future__ import annotations

import random
from dataclasses import replace

import pytest

from worldthread.errors import EpisodeOverError, InputError
from worldthread_lab.envs.fake import CARRIED, ScriptedHouse, ScriptedWorld, shortest_win, tiny_house
from worldthread_lab.envs.registry import make

HALL = ScriptedHouse(
    exits={"Hall": {"east": "Den"}, "Den": {"west": "Hall"}},
    start="Hall",
    containers={"red box": "Hall", "blue box": "Den"},
    supporters={"shelf": "Hall"},
    things={"pin": "shelf", "nail": "Hall", "cup": "red box", "coin": "blue box"},
    locks={"red box": "closed", "blue box": "locked"},
    keys={"blue box": "pin"},
    texts={"nail": "A bent nail."},
    rewards={"pin": 2, "coin": 1},
    prize="coin",
    goal="Get the coin.",
)


def play(*actions: str) -> list[str]:
    env = ScriptedWorld(lambda _: HALL)
    env.reset()
    return [env.step(action)[0] for action in actions]


@pytest.mark.parametrize("seed", range(12))
def test_the_walkthrough_wins_the_tiny_house_in_the_stated_number_of_moves(seed: int) -> None:
    env = make("tiny", seed=seed)
    _, info = env.reset()
    truth = env.truth()
    assert len(truth.walkthrough) == truth.optimal_moves
    for number, action in enumerate(truth.walkthrough, start=1):
        assert action in (info.valid_actions or ())
        _, _, terminated, _, info = env.step(action)
        assert terminated == (number == truth.optimal_moves)
    assert info.won
    assert info.score == info.max_score == 2


def test_no_play_wins_faster_than_the_optimal_one() -> None:
    """Against every play of a house small enough to try them all, useless actions included."""
    env = ScriptedWorld(lambda _: HALL)
    env.reset()
    optimal = env.truth().optimal_moves
    assert optimal == 5
    plays: list[tuple[str, ...]] = [()]
    seen = set()
    for _ in range(optimal):
        longer = []
        for play_so_far in plays:
            _, info = env.reset()
            for action in play_so_far:
                *_, info = env.step(action)
            assert not info.won
            state = env.truth().propositions
            if state not in seen:
                seen.add(state)
                longer += [(*play_so_far, action) for action in info.valid_actions or ()]
        plays = longer
    assert len(seen) > 50


def test_a_house_that_cannot_be_won_has_no_walkthrough() -> None:
    assert shortest_win(replace(HALL, keys={})) == ()


@pytest.mark.parametrize("seed", range(5))
def test_every_action_that_is_offered_is_understood_and_the_state_follows_the_text(seed: int) -> None:
    rng = random.Random(seed)
    env = ScriptedWorld(tiny_house, seed=seed)
    _, info = env.reset()
    for _ in range(150):
        assert info.valid_actions is not None
        before = env.truth().propositions
        action = rng.choice(info.valid_actions)
        observation, _, terminated, _, info = env.step(action)
        after = env.truth().propositions
        assert "can't" not in observation
        assert "need to" not in observation
        changes = not action.startswith(("look", "inventory", "examine"))
        assert (before != after) == changes, action
        carried = {fact[1] for fact in after if fact[-1] == CARRIED}
        assert info.inventory is not None
        assert all(thing in info.inventory for thing in carried)
        if terminated:
            _, info = env.reset()


def test_texts_of_actions() -> None:
    assert play("look")[0] == (
        "-= Hall =-\nYou are in the Hall.\n\nYou see a closed red box. You see a shelf. On the shelf you see a pin.\n\n"
        "There is an exit to the east.\n\nThere is a nail on the floor."
    )
    assert play("TAKE  the Nail", "i", "read nail", "drop nail") == [
        "You pick up the nail from the ground.",
        "You are carrying: a nail.",
        "A bent nail.",
        "You drop the nail on the ground.",
    ]
    assert play("open red box", "take cup from red box", "get pin", "insert pin in red box", "x red box") == [
        "You open the red box, revealing a cup.",
        "You take the cup from the red box.",
        "You take the pin from the shelf.\n\nYour score has just gone up by 2 points.",
        "You put the pin into the red box.",
        "The red box looks ordinary. It is open.\n\nIn the red box is a pin.",
    ]
    assert play("take nail", "east", "unlock blue box with nail", "open blue box", "west", "go west") == [
        "You pick up the nail from the ground.",
        "-= Den =-\nYou are in the Den.\n\nYou see a locked blue box.\n\nThere is an exit to the west.",
        "That doesn't seem to fit the lock.",
        "The blue box is locked.",
        play("look", "take nail", "look")[2],
        "You can't go that way.",
    ]


@pytest.mark.parametrize(
    ("action", "answer"),
    [
        ("take coin", "You can't see any such thing."),
        ("take cup", "You can't see any such thing."),
        ("take red box", "That's fixed in place."),
        ("take pin from red box", "The pin isn't there now."),
        ("drop pin", "You need to take the pin first."),
        ("put pin on shelf", "You need to take the pin first."),
        ("close red box", "That's already closed."),
        ("open shelf", "You can't open the shelf."),
        ("lock red box with nail", "You need to take the nail first."),
        ("go up", "You can't go that way."),
        ("dance", "That's not a verb I recognise."),
    ],
)
def test_an_impossible_action_is_explained_and_costs_a_move(action: str, answer: str) -> None:
    env = ScriptedWorld(lambda _: HALL)
    env.reset()
    before = env.truth()
    observation, reward, _, _, info = env.step(action)
    assert observation == answer
    assert reward == 0
    assert info.moves == 1
    assert env.truth() == before


def test_points_are_given_once() -> None:
    env = ScriptedWorld(lambda _: HALL)
    env.reset()
    rewards = [env.step(action)[1] for action in ("take pin", "drop pin", "take pin")]
    assert rewards == [2.0, 0.0, 0.0]


def test_a_given_goal_replaces_the_own_goal() -> None:
    observation, info = ScriptedWorld(lambda _: HALL, goal="Sit still.").reset()
    assert observation.endswith("\n\nSit still.")
    assert info.goal == "Sit still."
    assert "coin" not in observation


def test_seeds_of_reset_override_that_of_make_and_do_not_stick() -> None:
    env = make("tiny", seed=1)
    own, other, own_again = env.reset(), env.reset(seed=2), env.reset()
    assert own == own_again == make("tiny", seed=1).reset()
    assert other == make("tiny", seed=2).reset() != own


def test_there_is_no_truth_before_reset() -> None:
    with pytest.raises(EpisodeOverError, match="reset"):
        make("tiny").truth()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"things": {"pin": "Hall", "coin": "cellar"}}, "cellar is missing"),
        ({"things": {"pin": "Hall", "Pin": "Hall", "coin": "Hall"}}, "must be unique: Pin, pin"),
        ({"start": "Loft"}, "Loft is missing"),
        ({"prize": "crown"}, "crown is missing"),
        ({"exits": {"Hall": {"east": "Den"}}}, "Den is missing"),
        ({"keys": {"blue box": "hairpin"}}, "hairpin is missing"),
        ({"rewards": {"gold": 3}}, "gold is missing"),
        ({"locks": {"green box": "open"}}, "green box is missing"),
    ],
)
def test_a_house_with_an_unknown_place_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(HALL, **change)  # type: ignore[arg-type]
