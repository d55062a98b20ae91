"""The audit by NetHack's map: what it expects and what it finds wrong, on a level made here and in the real game."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from worldthread.graph import TemporalGraph
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.cli.bench import bench
from worldthread_lab.envs.nethack.truth import TrueDoor, TrueLevel
from worldthread_lab.game import vocabulary as v
from worldthread_lab.play.audit_nethack import NetHackAuditor, audit_nethack

pytestmark = pytest.mark.nethack
pytest.importorskip("nle")

ROOM, CORRIDOR = "room 1 of level 1", "corridor 1 of level 1"
LEVEL = TrueLevel(
    level="level 1",
    here=100,
    place=ROOM,
    places=frozenset({ROOM, CORRIDOR}),
    carried=("a +1 long sword (weapon in hand)", "2 uncursed food rations"),
    underfoot=(),
    things={103: "orc corpse"},
    creatures=(("tame kitten", frozenset({ROOM})),),
    places_of={100: frozenset({ROOM}), 103: frozenset({ROOM})},
    doors=(
        TrueDoor(
            "door 1 of level 1",
            "closed",
            frozenset({("west", ROOM), ("east", CORRIDOR)}),
            frozenset({("east", ROOM), ("west", CORRIDOR), ("northwest", CORRIDOR)}),
        ),
    ),
    stairs=frozenset({("up", ROOM)}),
    told_things=frozenset({103}),
    told_creatures=("tame kitten",),
    told_doors=frozenset({("door 1 of level 1", "closed")}),
    told_stairs=frozenset({"up"}),
)
RIGHT = (
    Fact(v.PLAYER, v.IS_IN, ROOM),
    Fact("+1 long sword", v.IS_IN, v.INVENTORY),
    Fact("food rations", v.IS_IN, v.INVENTORY),
    Fact("orc corpse", v.IS_IN, ROOM),
    Fact("kitten", v.IS_IN, ROOM),
    Fact("door 1 of level 1", "leads west from", ROOM),
    Fact("door 1 of level 1", v.IS, v.CLOSED),
    Fact("staircase", "leads up from", ROOM),
)


def audited(*moments: tuple[TrueLevel, tuple[Fact, ...]]) -> NetHackAuditor:
    """Audit memories that hold just these facts, one after the other."""
    auditor = NetHackAuditor()
    for turn, (level, facts) in enumerate(moments):
        graph = TemporalGraph()
        graph.add(Episode("text", turn, "test", Extraction("test", facts)))
        auditor.check(level, graph.view())
    return auditor


def mistakes(auditor: NetHackAuditor) -> set[tuple[str, str, str]]:
    return {mistake[1:] for mistake in auditor.report.mistakes}


def test_a_memory_that_holds_what_the_map_shows_is_right() -> None:
    total = audited((LEVEL, RIGHT)).report.total
    assert (total.held, total.true, total.expected, total.found) == (8, 8, 8, 8)
    nothing = audited((LEVEL, ())).report
    assert (nothing.total.held, nothing.total.expected, nothing.total.found) == (0, 8, 0)
    assert {kind for _, kind, _, _ in nothing.mistakes} == {"player", "carried", "thing", "creature", "door", "state"}


@pytest.mark.parametrize(
    ("fact", "kind"),
    [
        (Fact(v.PLAYER, v.IS_IN, CORRIDOR), "player"),
        (Fact("orc corpse", v.IS_IN, v.INVENTORY), "carried"),
        (Fact("orc corpse", v.IS_IN, CORRIDOR), "thing"),
        (Fact("kitten", v.IS_IN, CORRIDOR), "creature"),
        (Fact("door 1 of level 1", "leads north from", ROOM), "door"),
        (Fact("staircase", "leads down from", ROOM), "door"),
        (Fact("door 1 of level 1", v.IS, v.OPEN), "state"),
        (Fact(ROOM, v.HAS_NO_EXIT, "west"), "exit"),
        (Fact(CORRIDOR, "is north of", ROOM), "way"),
    ],
)
def test_each_kind_of_wrong_statement_is_found(fact: Fact, kind: str) -> None:
    auditor = audited((LEVEL, (fact,)))
    assert {key: f.held - f.true for key, f in auditor.report.figures.items() if f.held} == {kind: 1}
    assert (kind, "wrong") in {mistake[:2] for mistake in mistakes(auditor)}


@pytest.mark.parametrize(("direction", "is_right"), [("west", True), ("northwest", True), ("south", False)])
def test_a_way_may_begin_at_the_door(direction: str, is_right: bool) -> None:
    figures = audited((LEVEL, (Fact(CORRIDOR, f"is {direction} of", ROOM),))).report.figures["way"]
    assert (figures.held, figures.true) == (1, int(is_right))


def test_what_was_right_and_is_so_no_more_is_stale() -> None:
    gone = replace(LEVEL, things={}, creatures=(), told_things=frozenset(), told_creatures=())
    auditor = audited((LEVEL, RIGHT), (gone, RIGHT))
    assert mistakes(auditor) == {
        ("thing", "stale", f"orc corpse, is in, {ROOM}"),
        ("creature", "stale", f"kitten, is in, {ROOM}"),
    }
    assert auditor.report.total.stale == 2


def test_what_the_map_cannot_tell_is_not_checked() -> None:
    there = replace(LEVEL, place=CORRIDOR, creatures=(), told_creatures=())
    unsure = (
        Fact("kitten", v.IS_IN, ROOM),
        Fact("dagger", v.IS_IN, ROOM),
        Fact(ROOM, v.HAS_EXIT, "south"),
        Fact("orc corpse", v.IS_IN, "large box"),
    )
    report = audited((LEVEL, ()), (there, unsure)).report
    assert (report.total.held, report.unchecked) == (0, 4)
    hidden = replace(LEVEL, creatures=(("tame kitten", frozenset()),))
    report = audited((hidden, (Fact("kitten", v.IS_IN, CORRIDOR),))).report
    assert (report.total.held, report.unchecked) == (0, 1), "it stands on ground that was not seen"


def test_a_pile_is_known_while_its_uppermost_thing_stays() -> None:
    pile = ("an orc corpse", "a dagger")
    standing = replace(LEVEL, things={}, underfoot=pile)
    beside = replace(LEVEL, here=101, things={100: "orc corpse"}, told_things=frozenset())
    other = replace(beside, things={100: "jackal corpse"})
    fact = (Fact("dagger", v.IS_IN, ROOM),)
    figures = [audited((standing, fact), (level, fact)).report.figures["thing"] for level in (beside, other)]
    assert [(f.held, f.true, f.stale) for f in figures] == [(2, 2, 0), (2, 1, 1)]


def test_a_level_that_was_left_is_judged_by_its_last_map() -> None:
    hall = "room 1 of level 2"
    below = TrueLevel(
        "level 2", 7, hall, frozenset({hall}), LEVEL.carried, (), {}, (), {7: frozenset({hall})}, (),
        frozenset({("up", hall)}), frozenset(), (), frozenset(), frozenset(),
    )  # fmt: skip
    facts = (*RIGHT[3:], Fact(v.PLAYER, v.IS_IN, hall), *RIGHT[1:3])
    report = audited((LEVEL, RIGHT), (below, facts)).report
    assert mistakes(audited((LEVEL, RIGHT), (below, facts))) == set()
    assert report.unchecked == 1, "the kitten, which may have moved"


def test_the_real_game_and_the_command() -> None:
    report = audit_nethack(3, steps=12)
    assert report.steps == 13
    assert report.total.held > 50
    assert report.figures["carried"].precision == report.figures["carried"].recall == 1
    assert report.figures["player"].recall == 1

    def call(*arguments: str) -> Any:
        return CliRunner().invoke(bench, ["audit-nethack", "--steps", "5", "--agent", "random", *arguments])

    (line,) = call("--seeds", "2", "--json").stdout.splitlines()
    told = json.loads(line)
    assert (told["seed"], told["agent"], told["steps"]) == (2, "random", 6)
    assert "together" in call("--seeds", "2-3", "--mistakes", "1").stdout
    assert call("--seeds", "x").exit_code != 0
