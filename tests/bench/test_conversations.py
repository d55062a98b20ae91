"""The measurement of recall in conversations, on talks whose figures are plain."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from worldthread.errors import FormatError, InputError
from worldthread.models.fake import FakeEmbedder
from worldthread_lab.bench.conversations import load, measure

pytest.importorskip("scipy", reason="intervals need the extra: pip install 'worldthread[report]'")

LOCOMO = {
    "id": "talk",
    "sessions": [
        {
            "session": 1,
            "date_time": "4:04 pm on 20 January, 2023",
            "turns": [
                {"id": "D1:1", "speaker": "Gina", "text": "My cello came today!", "photo": "a cello in a box"},
                {"id": "D1:2", "speaker": "Jon", "text": "Lovely, I have bought a canoe."},
            ],
        },
        {
            "session": 2,
            "date_time": "12:30 am on 2 February, 2023",
            "turns": [{"id": "D2:1", "speaker": "Jon", "text": "It snows here."}],
        },
    ],
    "questions": [
        {"question": "Who bought a canoe?", "category": 4, "evidence": ["D1:2"]},
        {"question": "What snows?", "category": 5, "evidence": ["D2:1", "D9:9"]},
        {"question": "Who knows?", "category": 3, "evidence": []},
    ],
}
BEAM = {
    "id": "chat",
    "turns": [
        {"id": 0, "role": "user", "day": "2024-03-15", "text": "My deadline is in May."},
        {"id": 1, "role": "assistant", "day": "2024-03-15", "text": "Good to know."},
        {"id": 2, "role": "user", "day": "2024-03-16", "text": "I painted the fence."},
    ],
    "questions": [{"question": "When is my deadline?", "category": "information_extraction", "evidence": [0]}],
}


def written(folder: Path, name: str, row: object) -> Path:
    path = folder / name / "dev.jsonl.gz"
    path.parent.mkdir()
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.write(json.dumps(row) + "\n")
    return path


def test_locomo_is_read_with_its_times_photos_and_kinds_of_question(tmp_path: Path) -> None:
    written(tmp_path, "locomo", LOCOMO)
    (conversation,) = load("locomo", tmp_path)
    assert conversation.sessions[0].at == datetime(2023, 1, 20, 16, 4, tzinfo=UTC).timestamp()
    assert conversation.sessions[0].turns[0].text == "My cello came today! [photo: a cello in a box]"
    assert conversation.questions[0].category == "single-hop"
    assert conversation.questions[1].evidence == {"D2:1"}, "evidence that names no turn is left out"


def test_beam_has_a_session_for_each_day(tmp_path: Path) -> None:
    written(tmp_path, "beam", BEAM)
    (conversation,) = load("beam", tmp_path)
    assert [(session.name, len(session.turns)) for session in conversation.sessions] == [
        ("2024-03-15", 2),
        ("2024-03-16", 1),
    ]


def test_every_turn_is_found_where_there_are_few(tmp_path: Path) -> None:
    written(tmp_path, "locomo", LOCOMO)
    report = measure("locomo", load("locomo", tmp_path), ["thread", "dense"], FakeEmbedder())
    assert (report.conversations, report.turns, report.passages) == (1, 3, 3)
    assert [found.method for found in report.methods] == ["thread", "dense"]
    for found in report.methods:
        assert found.all.questions == 2, "a question without evidence is not asked"
        assert found.all.recall == {5: 1, 10: 1, 20: 1}
        assert found.all.intervals[5] == (1, 1)
        assert set(found.by_category) == {"single-hop", "adversarial"}
        assert set(found.by_conversation) == {"talk"}
        assert 0 < found.milliseconds_p50 <= found.milliseconds_p95


def test_unknown_names_and_damaged_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no conversations are called 'magic'; there are: locomo, beam"):
        load("magic")
    with pytest.raises(InputError, match="no file of beam in"):
        load("beam", tmp_path)
    path = written(tmp_path, "beam", {**BEAM, "turns": [{**BEAM["turns"][0], "day": "today"}]})  # type: ignore[index, dict-item]
    with pytest.raises(FormatError, match="'today' is no time of the form"):
        load("beam", path)
    with pytest.raises(InputError, match="magic"):
        measure("beam", [], ["magic"], FakeEmbedder())
