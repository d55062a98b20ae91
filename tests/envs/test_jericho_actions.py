from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from worldthread_lab.agents.go_explore.commands import PREPOSITIONS
from worldthread_lab.envs import jericho_actions
from worldthread_lab.envs.jericho_actions import ActionFinder
from worldthread_lab.envs.jericho_engine import CommandTrial, CommandTrials, EngineState, JerichoEngine

pytestmark = pytest.mark.games


def states_of(engine: JerichoEngine, every: int) -> list[EngineState]:
    """States along the game's walkthrough."""
    engine.reset(engine.own_seed)
    states = []
    for number, command in enumerate(engine.walkthrough):
        if number % every == 0:
            states.append(engine.save())
        engine.step(command)
        if engine.over or engine.won:
            break
    return states


def jericho_groups(engine: JerichoEngine) -> list[set[str]]:
    """Valid actions that jericho itself finds, those together that change the world alike."""
    import spacy
    from jericho import util

    util.spacy_nlp = spacy.blank("en")  # the model that jericho asks for is not needed for the names of objects
    frotz: Any = engine._frotz
    state = frotz.get_state()
    nouns = frotz._score_object_names(frotz._identify_interactive_objects(use_object_tree=True))
    changes = frotz._filter_candidate_actions(frotz.act_gen.generate_actions(nouns), use_ctypes=True)
    frotz.set_state(state)
    return [set(actions) for actions in changes.values()]


@pytest.mark.parametrize(("file", "every"), [("zork1.z5", 70), ("zork3.z5", 50), ("detective.z5", 16), ("ztuu.z5", 45)])
@pytest.mark.slow
def test_everything_that_jericho_finds_is_found(jericho_games: Path, file: str, every: int) -> None:
    engine = JerichoEngine(jericho_games / file)
    finder = ActionFinder(engine)
    for state in states_of(engine, every):
        engine.restore(state)
        found = finder.find()
        assert engine.save() == state
        assert found == tuple(sorted(set(found)))
        groups = jericho_groups(engine)
        with engine.trials() as trials:
            changes = {trials.attempt(action.encode()).change for action in found}
            for alike in groups:
                action = sorted(alike)[0]
                if b"(first taking" in trials.attempt(action.encode()).reply:
                    continue  # it is taken first, which is an action of its own
                assert trials.attempt(action.encode()).change in changes, f"nothing like {action} in {found}"


def test_mentioned_things_are_found_by_the_games_own_dictionary(jericho_games: Path) -> None:
    """The lake is no object of the room: its text alone tells of it."""
    engine = JerichoEngine(jericho_games / "zork3.z5")
    engine.reset(engine.own_seed)
    for command in engine.walkthrough:
        if command == "JUMP LAKE":
            break
        engine.step(command)
    assert not any("lake" in action for alike in jericho_groups(engine) for action in alike)
    assert "enter lake" in ActionFinder(engine).find()


@pytest.mark.slow
def test_things_in_descriptions_are_tried_alone(jericho_games: Path) -> None:
    """The button is no object of the room, and the room's text has none: only a description tells of it."""
    engine = JerichoEngine(jericho_games / "ludicorp.z5")
    finder = ActionFinder(engine)
    tried = 0
    for state in states_of(engine, 1)[58:60]:
        engine.restore(state)
        assert not any("button" in action for alike in jericho_groups(engine) for action in alike)
        with engine.trials() as trials:
            assert b"button" not in trials.attempt(b"look").reply
            change = trials.attempt(b"push button").change
        if change is not None:
            assert "push button" in finder.find()
            tried += 1
    assert tried


@pytest.mark.parametrize(
    ("file", "at", "most", "missed"),
    [("zork1.z5", 20, 1_500, 5), pytest.param("enchanter.z3", 60, 4_000, 3, marks=pytest.mark.slow)],
)
def test_a_crowded_place_has_a_limit(
    jericho_games: Path, file: str, at: int, most: int, missed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly half of the commands are not tried, and hardly any that changes the world is missed."""
    engine = JerichoEngine(jericho_games / file)
    finder = ActionFinder(engine)
    engine.restore(states_of(engine, 1)[at])
    tried = 0
    attempt = CommandTrials.attempt

    def counted(trials: CommandTrials, line: bytes, chance: int | None = None) -> CommandTrial:
        nonlocal tried
        tried += 1
        return attempt(trials, line, chance)

    monkeypatch.setattr(CommandTrials, "attempt", counted)
    monkeypatch.setattr(jericho_actions, "_MAX_PAIRS", 100_000)
    everything = finder.find()
    all_tried, tried = tried, 0
    monkeypatch.setattr(jericho_actions, "_MAX_PAIRS", most)
    some = finder.find()
    assert tried < 0.6 * all_tried
    with engine.trials() as trials:
        changes = [{trials.attempt(action.encode()).change for action in found} for found in (everything, some)]
    assert len(changes[0]) > 30
    assert len(changes[0] - changes[1]) <= missed
    assert {action for action in everything if not PREPOSITIONS & set(action.split())} <= set(some)


@pytest.mark.slow
def test_commands_with_a_random_outcome_are_found(jericho_games: Path) -> None:
    engine = JerichoEngine(jericho_games / "zork1.z5")
    engine.reset(engine.own_seed)
    finder = ActionFinder(engine)
    for command in engine.walkthrough:
        if command.startswith("Kill thief"):
            break
        engine.step(command)
    rng = random.Random(0)
    unlucky = 0
    for _ in range(4):
        chance = rng.randrange(2**31)
        found = finder.find(chance)
        with engine.trials(chance) as trials:
            lost = [action.encode() for action in found if trials.attempt(action.encode()).change is None]
            for action in lost:
                assert any(trials.attempt(action, rng.randrange(2**31)).change for _ in range(64))
        unlucky += len(lost)
    assert unlucky


def test_trials_leave_the_state_as_it_is(jericho_games: Path) -> None:
    engine = JerichoEngine(jericho_games / "zork1.z5")
    engine.reset(3)
    before = engine.save()
    with engine.trials() as trials:
        north, nothing = trials.attempt(b"north"), trials.attempt(b"put zq on zq")
        assert trials.attempt(b"north") == north
        assert north.change is not None
        assert north.took_time
        assert (nothing.change, nothing.took_time) == (None, False)
    assert engine.save() == before
    for action in ("open mailbox", "north", "wait"):
        engine.step(action)
    after = engine.save()
    engine.restore(before)
    for action in ("open mailbox", "north", "wait"):
        engine.step(action)
    assert engine.save() == after


def test_a_game_that_loops_without_end_is_halted(jericho_games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldthread_lab.envs.jericho_engine._COMMAND_SECONDS", 0.2)
    engine = JerichoEngine(jericho_games / "zork1.z5")
    engine.reset(3)
    before = engine.save()
    # an instruction that jumps to itself (Z-Machine Standard 1.1, section 15: jump), as the next to be done
    jump, at = 0x8C, 0x1000
    ram = bytearray(before.ram)
    ram[at : at + 3] = bytes([jump, 0xFF, 0xFF])
    loop = before._replace(ram=bytes(ram), registers=(at + 1, *before.registers[1:4], jump))
    engine.restore(loop)
    with engine.trials() as trials:
        assert trials.attempt(b"look").change is None
    engine.restore(loop)
    engine.step("look")
    assert engine.over
    engine.restore(before)
    assert not engine.over
    assert "mailbox" in engine.step("look")
