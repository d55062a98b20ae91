"""A play that a client leads, in worlds that do not always do as the map says; and the file that it is kept in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from worldthread import Episode, Memory
from worldthread.errors import AgentError, ContractError, InputError, NotFoundError
from worldthread.stores import SQLiteStore
from worldthread_lab.envs.base import Environment, Info, Truth

pytestmark = pytest.mark.mcp

HALL = "-= Hall =-\nThere is an exit to the east."
CAVE = "-= Cave =-\nThere is an exit to the west. There is an exit to the south."
PIT = "-= Pit =-\nThere is an exit to the north."
ATTIC = "-= Attic =-\nNo way leads out of here."


class Told(Environment):
    """Tells a list of texts in turn, whatever is done: with points, and with the end, where a text is a triple."""

    id = "told-v1"

    def __init__(self, texts: Iterable[str | tuple[str, float, bool]], *, forgetful: bool = False) -> None:
        self._texts = [text if isinstance(text, tuple) else (text, 0.0, False) for text in texts]
        self._forgetful = forgetful
        self._resets = 0
        self.actions: list[str] = []

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        self.actions = []
        self._resets += 1
        text, score, _ = self._texts[0]
        return text + (" It has changed." if self._forgetful and self._resets > 1 else ""), Info(score)

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        self.actions.append(action)
        before = self._texts[len(self.actions) - 1][1]
        text, score, ended = self._texts[len(self.actions)]
        return text, score - before, ended, False, Info(score, lost=ended)

    def truth(self) -> Truth:
        return Truth(frozenset())


def play(env: Environment) -> Any:
    from worldthread_lab.mcp.game_play import GamePlay

    return GamePlay(env, seed=0, run="told")


def walked(*texts: str | tuple[str, float, bool]) -> Any:
    """A walk from the pit to the hall, which is two moves away, through these texts."""
    here = play(Told([HALL, CAVE, PIT, *texts]))
    here.act("go east")
    here.act("go south")
    return here.act("go to hall")


def test_a_walk_ends_where_it_shall() -> None:
    outcome = walked(CAVE, HALL)
    assert [step.label for step in outcome.steps] == ["go north", "go west"]
    assert outcome.note == ""


@pytest.mark.parametrize(
    ("texts", "moves", "note"),
    [
        (["You can't go that way."], 1, "stopped in pit: the way north is blocked"),
        ([ATTIC], 1, "stopped in attic: the way led elsewhere than before"),
        ([(CAVE, 5.0, False)], 1, "stopped on the way: the score changed"),
        ([(CAVE, 0.0, True)], 1, "the game ended on the way"),
        ([CAVE, "You can't go that way."], 2, "stopped in cave: the way west is blocked"),
    ],
)
def test_a_walk_stops_when_something_unexpected_happens(texts: list[Any], moves: int, note: str) -> None:
    outcome = walked(*texts)
    assert (len(outcome.steps), outcome.note) == (moves, note)


def test_a_walk_opens_doors_and_stops_at_those_that_do_not_open() -> None:
    door = "-= Hall =-\nThere is a closed oak door leading east."
    for answer, label, note in (
        ("You open the oak door.", "go east", ""),
        ("It seems to be stuck.", "open oak door", "stopped in hall: oak door did not open"),
    ):
        here = play(Told([door, CAVE, door, answer, CAVE]))
        here.act("go east")
        here.act("go west")
        outcome = here.act("go to cave")
        assert [outcome.steps[0].label, outcome.last.label] == ["open oak door", label]
        assert outcome.note == note


def test_where_no_way_leads_is_said() -> None:
    here = play(Told([HALL, ATTIC, "-= East wing =-\nNothing.", "-= West wing =-\nNothing.", HALL]))
    here.act("pull lever")
    here.act("go up")
    here.act("pull lever")
    assert here.room == "West wing"
    with pytest.raises(NotFoundError, match="no open way from here to hall is known"):
        here.act("go to hall")
    with pytest.raises(NotFoundError, match="'wing' may be any of east wing, west wing: say which"):
        here.act("go to wing")
    assert here.moves == 3


def test_a_pause_ends_a_walk_between_moves() -> None:
    here = play(Told([HALL, CAVE, PIT, CAVE, HALL]))
    here.act("go east")
    here.act("go south")

    def pause() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        here.act("go to hall", pause)
    assert (here.room, here.moves) == ("Cave", 3)
    assert here.act("go to hall").last.label == "go west"


def test_a_world_that_does_not_come_back_ends_the_play() -> None:
    here = play(Told([HALL, CAVE, PIT], forgetful=True))
    here.act("go east")
    with pytest.raises(ContractError, match="does not return to state 0"):
        here.undo()
    with pytest.raises(AgentError, match="new_game begins anew"):
        here.act("go west")


def test_undo_takes_back_what_was_learned_and_keeps_what_was_tried() -> None:
    env = Told([HALL, CAVE, PIT, CAVE, HALL])
    here = play(env)
    start = here.memory.record.state_hash()
    for command in ("go east", "go south"):
        here.act(command)
    here.undo(2)
    assert here.memory.record.state_hash() == start
    assert env.actions == []
    ((tried, is_gone),) = here.tried_here()
    assert (tried.outcome.action, tried.led_to, is_gone) == ("go east", "Cave", True)
    here.act("go east")
    ((tried, is_gone),) = here.tried_here()
    assert (tried.outcome.action, tried.led_to, is_gone) == ("go south", "Pit", True)
    assert here.loop_detector.moves == 1
    with pytest.raises(InputError, match="1 move was made: 2 cannot be taken back"):
        here.undo(2)


def test_valid_directions_are_ways_out() -> None:
    class Listed(Told):
        def reset(self, seed: int | None = None) -> tuple[str, Info]:
            text, info = super().reset(seed)
            return text, Info(info.score, valid_actions=("go east", "look", "ne", "up", "wait"))

    here = play(Listed([HALL, CAVE]))
    assert [fact.object for fact in here.memory.view().facts("hall", "has exit")] == ["east", "northeast", "up"]
    assert here.now.learned.count(here.memory.view().facts("hall", "has exit", "east")[0]) == 1


def test_a_record_holds_exactly_what_happened(tmp_path: Path) -> None:
    from worldthread_lab.mcp.game import PlayRecord

    path = tmp_path / "m"
    episodes = [Episode(f"text {number}", number, "game") for number in range(4)]
    one, other = PlayRecord(path, "game"), PlayRecord(path, "game")
    assert SQLiteStore.namespaces(path) == []
    one.store(episodes[:1])
    other.store(episodes[:1])  # begun at the same time by another server: it must not mix with the first
    one.store(episodes)
    one.store([*episodes[:2], episodes[3]])
    assert SQLiteStore.namespaces(path) == ["game", "game-2"]
    with Memory(path, namespace="game", readonly=True) as memory:
        assert [episode.text for episode in memory.episodes()] == ["text 0", "text 1", "text 3"]
    with Memory(path, namespace="game-2") as memory:  # nobody holds the file
        assert [episode.text for episode in memory.episodes()] == ["text 0"]


FIELD = "Open Field\nYou are standing in an open field west of a white house, with a boarded front door."
CELLAR = "Cellar\nYou are in a damp cellar with a passage to the north, and a broken ladder. It smells of mould."


class Offering(Told):
    """The same, with a list of valid actions that offers a direction which no text speaks of."""

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        text, info = super().reset(seed)
        return text, Info(info.score, valid_actions=("east", "wait"))

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        text, reward, ended, cut, info = super().step(action)
        return text, reward, ended, cut, Info(info.score, valid_actions=("east", "wait"))


def test_a_direction_that_is_only_offered_is_no_exit() -> None:
    from worldthread_lab.mcp.game_text import map_text, room_text

    here = play(Offering([FIELD, "You can't go that way."]))
    assert "Offered as actions, which may lead nowhere: east." in room_text(here)
    assert "east" not in map_text(here)
    here.act("east")
    assert "Blocked: east." in room_text(here)
    assert "Offered" not in room_text(here)


def test_directions_are_exits_where_the_text_speaks_of_all() -> None:
    from worldthread_lab.mcp.game_text import room_text

    here = play(Offering([f"{FIELD} Paths lead off in all directions."]))
    assert "Never taken: east." in room_text(here)


def test_a_success_is_found_before_its_failures() -> None:
    from worldthread_lab.mcp.game_text import found_text

    miss, hit = "Your sword misses the goblin by an inch.", ("The goblin dies.", 10.0, False)
    here = play(Told([f"{FIELD}\nA small goblin blocks the way.", miss, miss, hit, ("Time passes.", 10.0, False)]))
    for command in ("kill goblin with sword",) * 3 + ("wait",):
        here.act(command)
    passages = [line for line in found_text(here, "kill goblin with sword").splitlines() if "- move " in line]
    assert passages[0] == "- move 3: > kill goblin with sword: The goblin dies."


def test_what_only_a_text_speaks_of_is_quoted_with_its_room() -> None:
    from worldthread_lab.mcp.game_text import found_text

    here = play(Told([FIELD, CELLAR]))
    here.act("down")
    found = found_text(here, "where is the mould")
    assert found.splitlines()[1:] == ["The texts speak of it:", '- named in Cellar: "It smells of mould."']


def test_scenery_is_shown_and_no_digest_reaches_a_client() -> None:
    import re

    from worldthread_lab.mcp.game_text import changes, found_text, room_text

    here = play(Told([FIELD, CELLAR]))
    assert "Scenery: boarded front door, white house." in room_text(here)
    outcome = here.act("down")
    texts = [room_text(here), found_text(here, "what is described"), *changes(outcome.steps)[0]]
    assert not re.search(r"[0-9a-f]{8}", " ".join(texts))
