"""The audit by the tree of objects: what it expects and what it finds wrong, on a story made here and on a real one."""

from __future__ import annotations

import json
import struct
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.cli.bench import bench
from worldthread_lab.envs.jericho import open_jericho
from worldthread_lab.envs.zmachine_objects import StoryObjects, TrueTree
from worldthread_lab.game import vocabulary as v
from worldthread_lab.play.audit_story import (
    StoryAuditor,
    StoryReport,
    audit_game,
    open_mark,
    opening_flips,
    own_open_mark,
    play_walkthrough,
)
from worldthread_lab.play.true_step import TrueStep

PLAYER, HALL, ATTIC, LAMP, BOX, COIN = 1, 2, 3, 4, 5, 6
NAMES = {PLAYER: "you", HALL: "hall", ATTIC: "attic", LAMP: "brass lamp", BOX: "box", COIN: "coin"}
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def encoded(text: str) -> bytes:
    """Return a text of small letters and spaces in the encoding of the Z-machine."""
    codes = [0 if letter == " " else _LETTERS.index(letter) + 6 for letter in text]
    codes += [5] * (-len(codes) % 3)
    pairs = [codes[i] << 10 | codes[i + 1] << 5 | codes[i + 2] for i in range(0, len(codes), 3)]
    pairs[-1] |= 0x8000
    return struct.pack(f">{len(pairs)}H", *pairs)


def made_story(called: dict[int, str] = NAMES) -> bytes:
    """Return the header and the objects of a story of version 5, without properties and with an empty dictionary."""
    story = bytearray(64)
    story[0], story[0x3C:0x40] = 5, b"6.21"
    struct.pack_into(">H", story, 0x0A, 64)
    story += bytes(2 * 63)
    tables = len(story) + 14 * len(called)
    objects, names = b"", b""
    for name in called.values():
        objects += bytes(12) + struct.pack(">H", tables + len(names))
        text = encoded(name)
        names += bytes([len(text) // 2]) + text + b"\0"
    story += objects + names
    struct.pack_into(">H", story, 0x08, len(story))
    return bytes(story + bytes([0, 9, 0, 0]))


def true_step(text: str, parents: dict[int, int], action: str | None = None, turn: int = 0) -> TrueStep:
    tree = TrueTree(PLAYER, tuple(parents.get(n, 0) for n in range(len(NAMES) + 1)), (frozenset(),) * (len(NAMES) + 1))
    here = parents[PLAYER]
    refusal = "You can't go that way."
    ways: dict[str, tuple[tuple[int, ...], str]] = {
        "up": ((ATTIC,), refusal),
        "down": ((HALL,), refusal),
        "north": ((here,), refusal),
    }
    return TrueStep(GameStep(text, action, turn=turn), tree, ways)


def audited(played: list[TrueStep], *held: list[Fact]) -> StoryReport:
    views = [TemporalGraph([Episode("told", 0, extraction=Extraction("test", tuple(facts)))]).view() for facts in held]
    return StoryAuditor(made_story(), played).audit(lambda step: views[step.turn])


IN_HALL = v.place(v.PLAYER, v.IS_IN, "Hall")
START = {PLAYER: HALL, LAMP: HALL, BOX: HALL, COIN: BOX}


def test_the_names_of_objects_are_read_from_the_story() -> None:
    assert {n: thing.name for n, thing in StoryObjects(made_story()).objects().items()} == NAMES


def test_what_was_named_in_view_is_expected() -> None:
    report = audited([true_step("Hall\nThere is a brass lamp and a box here.", START)], [])
    assert {m[3] for m in report.mistakes if m[2] == "missed"} == {
        "player, is in, hall (2)",
        "brass lamp (4), is in, hall (2)",
        "box (5), is in, hall (2)",
    }, "nothing named the coin"
    assert report.total.recall == 0


def test_right_wrong_and_stale_statements_are_told_apart() -> None:
    played = [
        true_step("Hall\nThere is a brass lamp and a box with a coin here.", START),
        true_step("Taken.", {**START, LAMP: PLAYER}, "take lamp", 1),
    ]
    held = [IN_HALL, v.place("lamp", v.IS_IN, "Hall"), v.place("coin", v.IS_IN, "box"), v.place("box", v.IS_IN, "coin")]
    report = audited(played, held, held)
    things = report.figures["thing"]
    assert (things.held, things.true, things.stale) == (6, 3, 1)
    assert ("lamp, is in, hall") in {m[3] for m in report.mistakes if m[2] == "stale"}
    assert ("box, is in, coin") in {m[3] for m in report.mistakes if m[2] == "wrong"}
    assert report.figures["carried"].expected == 1, "the command named the lamp"


def test_ways_are_tried_and_presumed_ways_are_counted_apart() -> None:
    played = [
        true_step("Hall\nA hall.", {PLAYER: HALL}),
        true_step("Attic\nAn attic.", {PLAYER: ATTIC}, "up", 1),
    ]
    facts = [
        v.place(v.PLAYER, v.IS_IN, "Attic"),
        v.link("Attic", "up", "Hall"),
        v.link("Hall", "north", "Attic"),
        Fact("Hall", "may be down of", "Attic"),
        v.exit_of("Attic", "north"),
    ]
    report = audited(played, [IN_HALL], facts)
    assert (report.figures["way"].held, report.figures["way"].true, report.wrong_ways) == (2, 1, 1)
    assert (report.figures["way"].expected, report.figures["way"].found) == (1, 1)
    assert (report.presumed, report.presumed_wrong) == (1, 0)
    assert (report.figures["exit"].held, report.figures["exit"].true) == (1, 0)


def test_a_way_that_is_barred_for_now_is_no_wrong_way() -> None:
    """A refusal in other words than the usual ones bars the way; the usual one says that there is none."""
    played = [
        true_step("Hall\nA hall.", {PLAYER: HALL}),
        true_step("Attic\nAn attic.", {PLAYER: ATTIC}, "up", 1),
        true_step("Hall\nA hall.", {PLAYER: HALL}, "down", 2),
    ]
    barred = played[2]._replace(ways={**played[2].ways, "up": ((HALL,), "You are carrying too much.")})
    closed = played[2]._replace(ways={**played[2].ways, "up": ((HALL,), "You can't go that way.")})
    attic = [v.place(v.PLAYER, v.IS_IN, "Attic"), v.link("Attic", "up", "Hall")]
    hall = [v.place(v.PLAYER, v.IS_IN, "Hall"), v.link("Attic", "up", "Hall")]
    assert audited([*played[:2], barred], [IN_HALL], attic, hall).wrong_ways == 0
    assert audited([*played[:2], closed], [IN_HALL], attic, hall).wrong_ways == 1


def test_merged_and_split_rooms_are_counted() -> None:
    played = [true_step("Hall", {PLAYER: HALL}), true_step("Hall", {PLAYER: ATTIC}, "up", 1)]
    report = audited(played, [IN_HALL], [IN_HALL])
    assert (report.merged, report.split, report.figures["player"].true) == (1, 0, 1)
    played = [true_step("Hall", {PLAYER: HALL}), true_step("Hall", {PLAYER: HALL}, "wait", 1)]
    report = audited(played, [IN_HALL], [v.place(v.PLAYER, v.IS_IN, "Hall (2)")])
    assert (report.merged, report.split, report.figures["player"].true) == (0, 1, 2)


OPEN_MARK = 14


def with_open(step: TrueStep, *numbers: int) -> TrueStep:
    """Return the step with some objects open."""
    attributes = tuple(frozenset({OPEN_MARK} if n in numbers else ()) for n in range(len(NAMES) + 1))
    return step._replace(tree=step.tree._replace(attributes=attributes))


def opened_and_closed() -> list[TrueStep]:
    return [
        true_step("Hall\nA box is here.", START),
        with_open(true_step("You open the box.", START, "open box", 1), BOX),
        true_step("The box is closed by the wind.", START, "wait", 2),
    ]


def test_what_is_open_is_checked_by_the_attribute() -> None:
    states = [[v.place("box", v.IS_IN, "Hall"), Fact("box", v.IS, state)] for state in (v.CLOSED, v.OPEN, v.OPEN)]
    graphs = [TemporalGraph([Episode("told", 0, extraction=Extraction("test", tuple(facts)))]) for facts in states]
    auditor = StoryAuditor(made_story(), opened_and_closed(), open_mark=OPEN_MARK)
    report = auditor.audit(lambda step: graphs[step.turn].view())
    figures = report.figures["state"]
    assert (figures.held, figures.true, figures.stale) == (3, 2, 1)
    assert (figures.expected, figures.found) == (2, 1), "what was opened or closed, and named"
    unknown = StoryAuditor(made_story(), opened_and_closed()).audit(lambda step: graphs[step.turn].view())
    assert unknown.figures["state"].held == unknown.figures["state"].expected == 0


def test_the_attribute_is_learned_from_other_games_only() -> None:
    flips = opening_flips(made_story(), opened_and_closed())
    assert flips == {OPEN_MARK: 1}, "the wind's closing is no command"
    assert open_mark(Counter(), [flips, flips]) is None, "the game does not confirm it"
    assert open_mark(Counter({OPEN_MARK: 2, 3: 1}), [flips, flips]) == OPEN_MARK
    assert open_mark(flips, []) is None, "the game itself does not decide"
    assert open_mark(flips, [flips]) is None
    assert open_mark(Counter({3: 1}), [flips, Counter({3: 4}), Counter({3: 1})]) == 3, "more games agree"
    assert open_mark(Counter({OPEN_MARK: 1, 3: 1}), [flips, flips]) is None, "the game does not tell them apart"
    assert open_mark(Counter({3: 2}), [flips, flips]) is None, "the game contradicts the others"
    assert own_open_mark(Counter({3: 3, 4: 1})) == 3
    assert own_open_mark(Counter({3: 2})) is own_open_mark(Counter({3: 3, 4: 2})) is own_open_mark(Counter()) is None


@pytest.mark.games
def test_a_real_story_is_read_and_audited(jericho_games: Path) -> None:
    file = str(jericho_games / "zork1.z5")
    env = open_jericho(file, id="zork1", valid_actions=False)
    try:
        played = play_walkthrough(env, 15)
        objects = StoryObjects(env.story).objects()
    finally:
        env.close()
    names = {thing.name: thing for thing in objects.values()}
    assert {"West of House", "Living Room", "brass lantern"} <= names.keys(), "abbreviations are resolved"
    assert "lamp" in names["brass lantern"].words
    last = played[-1].tree
    assert last.parents[names["brass lantern"].number] == last.player
    assert objects[played[0].ways["north"][0][0]].name == "North of House"
    report = audit_game(file, 15)
    assert report.steps == 16
    assert report.figures["carried"].recall == 1
    assert report.figures["player"].precision == 1


@pytest.mark.games
def test_the_command_reports_each_game(jericho_games: Path) -> None:
    file = str(jericho_games / "pentari.z5")
    result = CliRunner().invoke(bench, ["audit-stories", file, "--json"])
    report = json.loads(result.output)
    assert (report["game"], report["steps"]) == ("pentari", 49)
    assert report["all"]["precision"] > 0.8
    shown = CliRunner().invoke(bench, ["audit-stories", file, "--mistakes", "1"])
    assert shown.exit_code == 0
    assert "pentari: mistakes, by the number of steps that they lasted" in shown.output


@pytest.mark.games
def test_the_play_of_an_agent_is_audited(jericho_games: Path) -> None:
    file = str(jericho_games / "detective.z5")
    result = CliRunner().invoke(bench, ["audit-stories", file, "--agent", "random", "--steps", "8", "--json"])
    report = json.loads(result.output)
    assert 2 <= report["steps"] <= 9
    assert report["player"]["precision"] == 1
    refused = CliRunner().invoke(bench, ["audit-stories", file, "--agent", "go_explore", "--steps", "2"])
    assert "returns to earlier states" in str(refused.exception)


def test_in_the_dark_the_room_of_an_early_game_is_not_checked() -> None:
    names = {**NAMES, ATTIC: "darkness"}
    played = [true_step("Hall\nA hall.", {PLAYER: HALL}), true_step("It is dark.", {PLAYER: ATTIC}, "up", 1)]
    story = made_story(names)
    view = TemporalGraph([Episode("told", 0, extraction=Extraction("test", (IN_HALL,)))]).view()
    report = StoryAuditor(story, played).audit(lambda step: view)
    assert (report.figures["player"].held, report.figures["player"].expected) == (1, 1)
