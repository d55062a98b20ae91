"""What the trained model corrects: in words that no rule knows, recorded like the endings of rules, and without it."""

from __future__ import annotations

import zipfile
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from worldthread import Fact, Memory
from worldthread.extract.parsed import learned_endings
from worldthread.extract.parsed.ending_model import NOTHING, EncodedText, ending_model, shared, stems_of
from worldthread.extract.parsed.statement_texts import statement_text
from worldthread.models.fake import FakeEmbedder

_FIRST = datetime(2024, 4, 10, 10, tzinfo=UTC)
_LATER = _FIRST + timedelta(days=1)
_WEIGHTS = files("worldthread.extract.parsed").joinpath("ending_model.npz")

# a correction that no rule knows
_BEFORE, _AFTER = "I play the viola.", "My autocorrect turned violin into viola."
_FACT = Fact("user", "plays", "viola")


def _remember(memory: Memory, *messages: str) -> None:
    for day, message in enumerate(messages):
        memory.remember([{"role": "user", "content": message}], at=_FIRST + day * (_LATER - _FIRST))


@pytest.mark.parametrize(
    ("fact", "speaker", "text"),
    [
        (Fact("Tom", "is a", "nurse"), "Tom", "I am a nurse."),
        (Fact("Tom", "studies", "law"), "Tom", "I study law."),
        (Fact("Tom", "teaches at", "Eton"), "Tom", "I teach at Eton."),
        (Fact("Tom's sister", "is dating", "Rolf"), "Tom", "My sister is dating Rolf."),
        (Fact("Tom", "lives with", "Tom's aunt"), "Tom", "I live with my aunt."),
        (Fact("gym", "opens at", "7"), "Tom", "Gym opens at 7."),
    ],
)
def test_a_fact_is_written_as_its_speaker_says_it(fact: Fact, speaker: str, text: str) -> None:
    assert statement_text(fact, speaker) == text


def test_word_pieces_know_which_words_the_other_text_has() -> None:
    one = ("i", "sold", "the", "tele", "##scope")
    other = ("telescope", "##s", "the")
    texts = [EncodedText(pieces, stems_of(pieces), np.zeros((len(pieces), 384), np.float32)) for pieces in (one, other)]
    flags = shared(*texts)
    assert flags[:, 1].tolist() == [0, 0, 0, 1, 1, 1, 1, 0]
    assert flags[:, 2].tolist() == [0, 0, 1, 0, 0, 0, 0, 1]


def test_the_weights_are_plain_arrays_and_small() -> None:
    data = _WEIGHTS.read_bytes()
    assert len(data) < 3_000_000
    with _WEIGHTS.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        assert all(np.isfinite(arrays[name]).all() for name in arrays.files)
    with _WEIGHTS.open("rb") as file, zipfile.ZipFile(file) as archive:
        assert all(name.endswith(".npy") for name in archive.namelist())


def test_an_answer_does_not_depend_on_what_else_is_asked() -> None:
    model = ending_model()
    assert model is not None
    statements = ["I play viola.", "I work at Bosch.", "My sister lives in Rome."]
    together = model.probabilities(statements, _AFTER)
    alone = np.concatenate([model.probabilities([statement], _AFTER) for statement in statements])
    assert np.array_equal(together, alone)
    assert together.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert together[:, NOTHING].argmin() == 0


@pytest.mark.language
def test_the_model_corrects_what_no_rule_knows_and_the_record_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, model="none", embedder=FakeEmbedder()) as memory:
        _remember(memory, _BEFORE, "My sister has a cat.")
        held = set(memory.view().facts())
        assert _FACT in held
        _remember(memory, _BEFORE, "My sister has a cat.", _AFTER)
        assert held - set(memory.view().facts()) == {_FACT}
        assert not memory.view(_FIRST.timestamp() + 1).holds(_FACT)  # it was never so
    # the ending is in the episode: it needs no model to be read again
    monkeypatch.setattr(learned_endings, "ending_model", lambda: None)
    with Memory(path, model="none", embedder=FakeEmbedder()) as memory:
        assert not memory.view().holds(_FACT)


@pytest.mark.language
def test_without_the_model_the_rules_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_endings, "ending_model", lambda: None)
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        _remember(memory, _BEFORE, _AFTER)
        assert memory.view().holds(_FACT)
        _remember(memory, _BEFORE, _AFTER, "I gave up the viola.")
        assert not memory.view().holds(_FACT)


@pytest.mark.language
@pytest.mark.parametrize(
    "message",
    [
        "I broke a string of my viola.",
        "My neighbour sold his viola.",
        "I had a long day at work.",
        "What if I gave up the viola?",
        "Sorry for the noise, I played the viola all night.",
    ],
)
def test_what_changes_nothing_ends_nothing(message: str) -> None:
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        _remember(memory, _BEFORE, message)
        assert memory.view().holds(_FACT)


@pytest.mark.language
@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("I'm getting married in June.", Fact("user", "plans to get", "married")),
        ("My flight to Lima leaves at 6 am.", Fact("user's flight to Lima", "leaves at", "6 am")),
    ],
)
def test_what_the_parser_takes_wrongly_is_repaired(message: str, fact: Fact) -> None:
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        memory.remember([{"role": "user", "content": message}], at=_FIRST)
        assert [one.key for one in memory.view().facts(subject=fact.subject)] == [fact.key]
