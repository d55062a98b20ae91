"""Files of data sets are found where they may lie, and what is wrong with one is said with its place."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from worldthread.errors import FormatError, InputError
from worldthread_lab.bench.datasets import datasets, load
from worldthread_lab.bench.datasets.files import read_array

HOTPOT: dict[str, Any] = {
    "_id": "q1",
    "question": "Where does the Arn rise?",
    "answer": "in the Tarn hills",
    "supporting_facts": [["Arn", 0]],
    "context": [["Arn", ["The Arn rises in the Tarn hills."]]],
}
MUSIQUE: dict[str, Any] = {
    "id": "2hop__1_2",
    "question": "Where does the Arn rise?",
    "answer": "Tarn hills",
    "paragraphs": [{"idx": 0, "title": "Arn", "paragraph_text": "It rises in the Tarn hills.", "is_supporting": True}],
}


def write_json(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_files_are_found_by_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("WORLDTHREAD_DATA", "WORLDTHREAD_SHARED"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(InputError, match="WORLDTHREAD_DATA"):
        load("musique")
    write_json(tmp_path / "musique_ans_v1.0_dev.jsonl", MUSIQUE)
    monkeypatch.setenv("WORLDTHREAD_DATA", f"{tmp_path / 'nowhere'}{os.pathsep}{tmp_path}")
    assert len(load("musique").questions) == 1
    monkeypatch.delenv("WORLDTHREAD_DATA")
    packed = tmp_path / "shared" / "data" / "musique" / "musique_ans_v1.0_dev.jsonl.gz"
    packed.parent.mkdir(parents=True)
    packed.write_bytes(gzip.compress((tmp_path / "musique_ans_v1.0_dev.jsonl").read_bytes()))
    monkeypatch.setenv("WORLDTHREAD_SHARED", str(tmp_path / "shared"))
    assert len(load("musique").questions) == 1
    with pytest.raises(InputError, match=r"hotpot_dev_distractor_v1\.json"):
        load("hotpotqa")


def test_unknown_names_and_bad_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="musique_train"):
        load("musique-train")
    with pytest.raises(InputError, match="neither a file nor a folder"):
        load("musique", tmp_path / "absent.jsonl")
    for limit in (0, -1, True):
        with pytest.raises(InputError, match="limit"):
            load("musique", write_json(tmp_path / "m.jsonl", MUSIQUE), limit=limit)
    names = [spec.name for spec in datasets()]
    assert names == sorted(names)
    assert {"2wikimultihopqa", "diaasq", "hotpotqa", "hotpotqa_personalai", "triviaqa"} <= set(names)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("musique", '{"id": "x", "question": "?"}\n', r"line 1: .*answer.*expected a question"),
        ("musique", "\n[1]\n", r"line 2: .*expected a question"),
        ("hotpotqa", '{"Data": []}', r"found '\{' instead of \[; expected an array"),
        ("hotpotqa", '[{"_id": "x"}]', r"entry 1: .*question.*cannot be used"),
        ("hotpotqa", json.dumps([HOTPOT | {"context": [["Arn", "text"]]}]), r"entry 1: .*context"),
        ("hotpotqa", json.dumps([HOTPOT | {"answer": " "}]), r"entry 1 has an empty question or answer"),
        ("hotpotqa", json.dumps([HOTPOT, HOTPOT]), r"two questions have the id 'q1'"),
        ("triviaqa", '{"Domain": "Web", "Version": 1.0}', r"no member 'Data'"),
        ("hotpotqa_train", '{"id": "x"}\n', r"_corpus\.json"),
    ],
)
def test_files_of_another_form_are_refused_with_their_place(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    path = tmp_path / "qa" / "file.json"
    path.parent.mkdir()
    (tmp_path / "evidence" / "wikipedia").mkdir(parents=True)
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        load(name, path)
    assert str(path) in str(caught.value)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    packed = gzip.compress(json.dumps([HOTPOT]).encode())
    for number, data in enumerate((packed[:-9], packed[:20] + b"\0\0\0" + packed[23:], b"\xff\xfe[]")):
        path = tmp_path / f"{number}.json"
        path.write_bytes(data)
        with pytest.raises(FormatError, match=path.name):
            load("hotpotqa", path)


def test_long_arrays_are_read_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldthread_lab.bench.datasets.files._BLOCK", 7)
    values = [{"a": "x" * n, "b": [n, {"c": None}]} for n in range(30)]
    path = write_json(tmp_path / "array.json", {"Version": 12345678.25, "x": values, "Data": values, "after": 1})
    assert list(read_array(path, dict, "an array", member="Data")) == values
    path.write_text(json.dumps(list(range(0, 10**9, 12345678)), indent=3), encoding="utf-8")
    assert list(read_array(path, int, "an array")) == list(range(0, 10**9, 12345678))
    path.write_text(" [ ] ", encoding="utf-8")
    assert list(read_array(path, int, "an array")) == []
