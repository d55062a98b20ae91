"""The measurement of retrieval, on data whose figures are plain."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from worldthread.errors import InputError
from worldthread.models.fake import FakeEmbedder
from worldthread.types import Fact
from worldthread_lab.bench.datasets import Dataset, Passage, Question, load
from worldthread_lab.bench.retrieval import measure

pytest.importorskip("scipy", reason="intervals need the extra: pip install 'worldthread[report]'")

TOWNS = ("Velten", "Marwitz", "Kremmen", "Oranienburg")


def towns() -> Dataset:
    passages = tuple(
        Passage(
            str(n), town, f"{town} has a kiln that number{n} people visit.", facts=(Fact(town, "has", f"kiln {n}"),)
        )
        for n, town in enumerate(TOWNS)
    )
    questions = tuple(
        Question(str(n), f"How many people visit {town}?", (f"number{n}",), gold_ids=(str(n),))
        for n, town in enumerate(TOWNS)
    )
    return Dataset("towns", "1", passages, questions)


def test_everything_is_found_where_one_passage_names_what_is_asked() -> None:
    seen: list[tuple[str, int, int]] = []
    report = measure(towns(), ["thread", "dense"], FakeEmbedder(), on_progress=lambda *progress: seen.append(progress))
    assert [m.method for m in report.methods] == ["thread", "dense"]
    for method in report.methods:
        assert method.recall == {2: 1, 5: 1, 10: 1}
        assert method.intervals[2] == (1, 1)
        assert method.halves == ({2: 1, 5: 1, 10: 1}, {2: 1, 5: 1, 10: 1})
        assert method.stale is None
        assert 0 < method.milliseconds_p50 <= method.milliseconds_p95
    assert (report.passages, report.statements >= 4, report.disk_megabytes > 0) == (4, True, True)
    assert ("reading", 4, 4) in seen
    assert ("dense", 4, 4) in seen


def test_given_facts_take_the_place_of_those_read_by_rule() -> None:
    given, none = (measure(towns(), ["dense"], FakeEmbedder(), triples=t) for t in ("given", "none"))
    assert given.names > none.names, "kiln 0 and so on are ends of the given facts only"


def test_triples_that_a_data_set_does_not_have_are_not_measured() -> None:
    dataset = towns()
    bare = replace(dataset, passages=tuple(replace(passage, facts=()) for passage in dataset.passages))
    with pytest.raises(InputError, match="has no triples of its own"):
        measure(bare, ["dense"], FakeEmbedder(), triples="given")


def test_an_unknown_method_is_reported_before_the_work() -> None:
    with pytest.raises(InputError, match="magic"):
        measure(towns(), ["thread", "magic"], FakeEmbedder(), on_progress=lambda *progress: pytest.fail("began"))


@pytest.mark.slow
def test_nothing_stale_is_found_unless_asked_for(shared: Path) -> None:
    dataset = load("diaasq", shared / "data", limit=60)
    (report,) = measure(dataset, ["thread"], FakeEmbedder(), triples="given").methods
    assert report.stale == 0
    assert report.stale_unrestricted is not None
    assert report.stale_unrestricted > 0.05


@pytest.mark.slow
def test_the_command_prints_json(shared: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "worldthread", "bench", "retrieval", "--dataset", "diaasq", "--embedder", "fake"]
    command += ["--method", "dense", "--limit", "5", "--json", "--data", str(shared / "data")]
    environment = {**os.environ, "WORLDTHREAD_CACHE": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["methods"][0]["questions"] == 5
