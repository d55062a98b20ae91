"""No answer of a model, however damaged, raises anything or loses an episode."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldthread import Episode, Memory
from worldthread.errors import AnswerError
from worldthread.extract.model import ModelExtractor
from worldthread.models.fake_chat import FakeChat
from worldthread.models.structured import parse_answer, read_meant

CASES = 2000


@pytest.fixture(scope="module")
def damaged() -> ModuleType:
    """The benchmark that damages answers; it runs ten times as many."""
    path = Path(__file__).parents[3] / "benchmarks" / "damaged_answers.py"
    spec = importlib.util.spec_from_file_location("damaged_answers", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_damaged_answers_lose_no_episode(damaged: ModuleType, tmp_path: Path) -> None:
    view = damaged.stored()
    outcomes: Counter[str] = Counter()
    written: dict[str, Episode] = {}
    with Memory(tmp_path / "memory.worldthread") as memory:
        for number in range(CASES):
            case = damaged.make_case(2, number)
            episode, _, outcome = damaged.run_case(case, number, view)
            memory.record.add(episode)
            written[episode.id] = episode
            outcomes[outcome] += 1
            if outcome == "failed" and len(episode.extraction.failures) == 2:
                for text in (case.answer, case.repair):
                    with pytest.raises(AnswerError):
                        parse_answer(text, damaged.answer_type(case))
                assert episode.extraction.failures[0].encode() == case.answer.encode("utf-8", "backslashreplace")
    with Memory(tmp_path / "memory.worldthread", readonly=True) as memory:
        found = {episode.id: episode for episode in memory.episodes()}
    assert found == written
    assert all(episode.extraction.digest == written[id_].extraction.digest for id_, episode in found.items())
    assert all(outcomes[kind] > CASES // 10 for kind in ("at first", "repaired", "failed")), outcomes


def test_every_damage_does_harm(damaged: ModuleType) -> None:
    harmful = set()
    for number in range(CASES):
        case = damaged.make_case(3, number)
        if len(case.damages) == 1:
            try:
                parse_answer(case.answer, damaged.answer_type(case))
            except AnswerError:
                harmful.add(case.damages[0])
    assert harmful == set(damaged.DAMAGES) - {"code fence"}, "a fence alone is passed over; all else must hurt"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
nearly = st.fixed_dictionaries(
    {},
    optional={
        "facts": st.lists(
            st.fixed_dictionaries(dict.fromkeys(("subject", "relation", "object"), st.text() | json_values)), max_size=3
        ),
        "theses": st.lists(
            st.fixed_dictionaries({"text": st.text(), "objects": st.lists(st.text()) | json_values}), max_size=3
        ),
        "ended": st.lists(
            st.fixed_dictionaries({"old": st.integers(), "new": st.integers(-1, 3), "reason": st.text()}), max_size=3
        ),
    },
)
answers = st.text() | json_values.map(json.dumps) | nearly.map(json.dumps)


@settings(max_examples=400, deadline=None)
@given(first=answers, second=answers, purpose=st.sampled_from(("extract", "outdated")))
@pytest.mark.slow
def test_any_answer_gives_a_reading(damaged: ModuleType, first: str, second: str, purpose: str) -> None:
    case = damaged.Case(purpose, (), first, second)
    episode, _, outcome = damaged.run_case(case, 1, damaged.stored())
    with Memory() as memory:
        memory.record.add(episode)
        assert memory.episode(episode.id).extraction == episode.extraction
    into = damaged.answer_type(case)
    strict = [_is_read(text, into) for text in (first, second)]
    is_meant = any(read_meant(text, into) is not None for text in (first, second))
    assert any(strict) or is_meant or outcome == "failed"
    assert outcome != "repaired" or not strict[0]
    assert outcome != "at first" or strict[0]


def _is_read(text: str, into: type[object]) -> bool:
    """Return whether an answer is read without being mended."""
    try:
        parse_answer(text, into)
    except AnswerError:
        return False
    return True


@pytest.mark.parametrize("answer", ["", "\ud800", "\x00", '{"facts": [' * 50_000, "9" * 100_000])
def test_an_answer_that_is_no_answer_is_kept_verbatim(answer: str) -> None:
    extraction = ModelExtractor(FakeChat([answer, answer])).extract("A lamp is on the desk.")
    assert extraction.statements == ()
    assert extraction.failures == (answer.replace("\ud800", "\\ud800"),), "the repair was the same, so it is held once"
