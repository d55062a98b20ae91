"""The published logs are replayed to the letter, and every difference and every unread text is named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from worldthread.errors import FormatError, InputError
from worldthread_lab.bench.arigraph.graph_replay import Cause
from worldthread_lab.bench.arigraph.logs import ReplayReport, format_report, replay


@pytest.fixture(scope="module")
def report(shared: Path) -> ReplayReport:
    folder = shared / "data" / "ariadne_logs"
    if not folder.is_dir():
        pytest.skip(f"needs the published logs in {folder}")
    questions = shared / "data" / "musique_logs"
    return replay(folder, questions if questions.is_dir() else None)


@pytest.mark.slow
def test_the_logged_graph_is_reproduced_from_the_one_before(report: ReplayReport) -> None:
    steps = sum(one.steps for one in report.from_previous)
    reproduced = sum(one.reproduced for one in report.from_previous)
    assert (reproduced, steps) == (702, 718)
    assert reproduced / steps >= 0.976


@pytest.mark.slow
def test_every_difference_has_a_cause_and_restoring_it_mends_all(report: ReplayReport) -> None:
    previous = [difference for one in report.from_previous for difference in one.differences]
    assert {difference.cause for difference in previous} == {Cause.EXTRACTED_AGAIN}
    assert len(previous) == 22
    start = [difference for one in report.from_start for difference in one.differences]
    assert {difference.cause for difference in start} == {Cause.EXTRACTED_AGAIN, Cause.CARRIED}
    assert [one.reproduced for one in report.restored] == [one.steps for one in report.restored]
    assert not any(one.written_otherwise for one in report.from_start)


@pytest.mark.slow
def test_a_finished_graph_still_shows_every_step(report: ReplayReport) -> None:
    for replays in (report.from_previous, report.from_start, report.restored):
        assert [one.remembered for one in replays] == [one.steps for one in replays]


@pytest.mark.slow
def test_every_logged_text_is_read_or_reported(report: ReplayReport) -> None:
    counted = {t.kind: (t.total, t.clean, t.mended, t.partly, t.failed, t.absent) for t in report.texts}
    assert counted == {
        "outdated triplets": (1975, 1293, 679, 2, 1, 0),
        "plans": (1974, 1973, 0, 1, 0, 1),
        "actions": (1974, 1972, 0, 0, 2, 1),
    }
    for text in report.texts:
        assert text.total == text.clean + text.mended + text.partly + text.failed
        assert len(text.unread) == sum(text.reasons.values())
        unread = {(one.run, one.attempt, one.step) for one in text.unread}
        assert len(unread) == text.partly + text.failed
    assert report.actions.taken_as_read == report.actions.taken == 1774
    actions = report.actions
    assert actions.actions == actions.offered + actions.go_to + actions.not_offered


@pytest.mark.slow
def test_every_logged_triplet_is_a_fact(report: ReplayReport) -> None:
    for count, triplets in zip(report.facts, (4907, 43963), strict=False):
        assert (count.triplets, count.valid, dict(count.refused)) == (triplets, triplets, {})
        assert count.same + len(count.changed) + sum(count.unread.values()) == count.triplets


@pytest.mark.slow
def test_the_report_is_text_and_json(report: ReplayReport) -> None:
    assert "all: 702/718 reproduced (97.77%)" in format_report(report)
    assert json.loads(json.dumps(report.to_dict()))["texts"][0]["mends"]["text before the answer"] == 653


# -- small logs of our own --------------------------------------------------------------------------------------------


def logged(tmp_path: Path, *steps: dict[str, Any]) -> Path:
    with gzip.open(tmp_path / "own.jsonl.gz", "wt") as file:
        for number, step in enumerate(steps, 1):
            base = {"run": "own", "attempt": 1, "step": number, "observation": f"step {number}", "outdated_raw": "[]"}
            file.write(json.dumps(base | step) + "\n")
    return tmp_path


CUP = ["cup", "is in", "sink"]
LID = ["lid", "is", "shut"]
BAG = ["cup", "is in", "bag"]


def test_moves_of_a_log_place_the_rooms(tmp_path: Path) -> None:
    links = [["yard", "is west of", "hall"], ["hall", "is east of", "yard"]]
    folder = logged(
        tmp_path,
        {"observation": "-= Hall =-\nA hall.", "graph": [], "action_taken": "go west"},
        {"observation": "-= Yard =-\nA yard.", "graph": links, "action_taken": "go to hall"},
        {"observation": "-= Hall =-\nA hall.", "graph": links, "outdated_raw": "[[yard, is west of, hall -> a, b, c]]"},
    )
    result = replay(folder)
    assert [(one.reproduced, one.steps) for one in result.from_start] == [(3, 3)]
    assert result.from_start[0].fates["kept: both ends are rooms that were visited"] == 1


def test_a_deletion_that_the_log_reverts_differs_from_one_that_it_never_made(tmp_path: Path) -> None:
    ended = "[[cup, is in, sink -> cup, is in, bag]]"
    folder = logged(
        tmp_path,
        {"new_triplets": [CUP, LID], "graph": [CUP, LID]},
        {"new_triplets": [BAG], "outdated_raw": ended, "graph": [LID, CUP, BAG]},
        {"new_triplets": [], "outdated_raw": ended, "graph": [CUP, LID, BAG]},
    )
    result = replay(folder)
    causes = [(d.step, d.lacking, d.cause) for d in result.from_previous[0].differences]
    assert causes == [(2, "ours", Cause.EXTRACTED_AGAIN), (3, "ours", Cause.UNEXPLAINED)]
    assert [d.cause for d in result.from_start[0].differences] == [Cause.EXTRACTED_AGAIN, Cause.CARRIED]


def test_names_that_are_one_to_us_and_two_to_them(tmp_path: Path) -> None:
    dotted = ["lid", "is", "shut."]
    folder = logged(
        tmp_path,
        {"new_triplets": [LID, dotted], "graph": [LID, dotted]},
        {"outdated_raw": "[[lid, is, shut -> lid, is, open]]", "graph": [dotted]},
    )
    result = replay(folder)
    assert result.from_previous[0].written_otherwise == {("lid, is, shut.", "lid, is, shut")}
    assert [(d.step, d.cause) for d in result.from_previous[0].differences] == [(2, Cause.MERGED)]
    assert result.facts[0].merged == [["lid, is, shut", "lid, is, shut."]]


def test_texts_that_cannot_be_read_are_named_with_their_place(tmp_path: Path) -> None:
    folder = logged(tmp_path, {"outdated_raw": "none", "plan": "no plan", "action": '{"action_to_take": "dance"}'})
    result = replay(folder)
    assert result.without_graph == ["own 1"]
    assert [(t.total, t.failed, t.clean) for t in result.texts] == [(1, 1, 0), (1, 1, 0), (1, 0, 1)]
    text = format_report(result)
    assert "own 1, step 1: there is no list: 'none'" in text
    assert "own 1, step 1: there is no JSON object: 'no plan'" in text


def test_a_missing_or_damaged_log_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no logs in"):
        replay(tmp_path)
    logged(tmp_path, {"graph": []}, {"graph": "all of it"})
    with pytest.raises(FormatError, match=r"own\.jsonl\.gz, line 2: cannot be read"):
        replay(tmp_path)
    (tmp_path / "own.jsonl.gz").write_bytes(b"not gzip")
    with pytest.raises(FormatError, match="cannot be read"):
        replay(tmp_path)
