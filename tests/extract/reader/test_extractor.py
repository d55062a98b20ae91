"""Tests of the trained reader with its model."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from worldthread import Memory
from worldthread.extract.groups import EpisodeGroup
from worldthread.extract.reader.extractor import ReaderExtractor
from worldthread.extract.reader.pieces import words_of
from worldthread.models.fake import FakeEmbedder
from worldthread.types import Episode, Fact

MESSAGES = Path(__file__).parents[3] / "training" / "messages" / "m.jsonl"
AT = datetime(2024, 5, 15, 10, tzinfo=UTC).timestamp()


@pytest.fixture(scope="module")
def reads() -> ReaderExtractor:
    return ReaderExtractor()


def facts_of(reads: ReaderExtractor, text: str, speaker: str = "Ida") -> list[Fact]:
    extraction = reads.extract(f"{speaker}: {text}", speaker, AT)
    return [one for one in extraction.statements if isinstance(one, Fact)]


def test_whatever_is_told_of_is_in_words_of_the_message(reads: ReaderExtractor) -> None:
    count = 0
    for line in MESSAGES.read_text(encoding="utf-8").splitlines()[:150]:
        row = json.loads(line)
        said = {word.text.lower() for word in words_of(f"{row['speaker']} {row['speaker']}'s {row['text']}")}
        for event in reads.events(row["text"], row["speaker"]):
            assert {word.text.lower() for word in words_of(f"{event.subject} {event.object} {event.when}")} <= said
            count += 1
    assert count > 100


def test_a_surer_reader_states_less(reads: ReaderExtractor) -> None:
    texts = [json.loads(line)["text"] for line in MESSAGES.read_text(encoding="utf-8").splitlines()[:60]]
    stated = [
        len([fact for text in texts for fact in facts_of(one, text)]) for one in (reads, ReaderExtractor(least=1.0))
    ]
    assert stated[0] > 2 * stated[1]


def test_times_are_those_of_the_words(reads: ReaderExtractor) -> None:
    [fact] = [fact for fact in facts_of(reads, "I have lived in Lyon since 2019.") if fact.object == "Lyon"]
    assert fact.valid_from == datetime(2019, 1, 1, tzinfo=UTC).timestamp()


def test_what_is_over_ends_with_its_own_time_and_its_sentence() -> None:
    with Memory(extractor="reader", embedder=FakeEmbedder(), user="Ida") as memory:
        memory.remember([{"role": "user", "content": "I work at Orbis."}], at="2024-05-01")
        memory.remember([{"role": "user", "content": "I quit my job at Orbis yesterday."}], at="2024-05-15")
        held = [version for version in memory.timeline("Orbis") if str(version.statement) == "Ida, works at, Orbis"]
        assert [version.interval.valid_to for version in held] == [datetime(2024, 5, 15, tzinfo=UTC).timestamp()]
        assert not [one for one in memory.about("Ida") if "work at Orbis" in str(one.statement)]


def test_messages_of_a_group_are_read_with_what_was_said_before(reads: ReaderExtractor) -> None:
    episodes = (
        Episode("Tom: where does your sister Ana live?", AT, speaker="Tom"),
        Episode("Ida: in Rome", AT + 60, speaker="Ida"),
    )
    first, _ = reads.extract_group(EpisodeGroup(episodes))
    assert first == reads.extract(episodes[0].text, "Tom", AT)
    [event] = reads.events("in Rome", "Ida", ["Tom: where does your sister Ana live?"])
    assert (event.subject, event.relation, event.object) == ("Ana", "lives in", "Rome")
    reads_all = ReaderExtractor(least=0.2).extract_group(EpisodeGroup(episodes))
    assert any(str(one) == "Ana, lives in, Rome" for one in reads_all[1].statements)


def test_names_are_never_misspelt(reads: ReaderExtractor) -> None:
    for name in ("Miloa", "Xqwrtz", "Zoë-Anne", "Nguyễn"):
        text = f"My sister {name} lives in Rome."
        assert all(name in part or not re.search(r"[A-Z]\w{3,}", part.replace("Ida", "").replace("Rome", ""))
                   for fact in facts_of(reads, text) for part in (fact.subject, fact.object))  # fmt: skip


def test_of_an_endless_message_only_the_beginning_is_read(reads: ReaderExtractor) -> None:
    text = "I have a dog named Rex. " + "My day was long, and I went home late. " * 400 + "I have a cat named Mia."
    objects = {event.object for event in reads.events(text, "Ida")}
    assert any("Rex" in name for name in objects)
    assert not any("Mia" in name for name in objects)


def test_rules_state_what_is_all_that_a_sentence_says() -> None:
    unsure = ReaderExtractor(least=1.0)
    assert [str(fact) for fact in facts_of(unsure, "I live in Lyon.")] == ["Ida, lives in, Lyon"]
    assert facts_of(unsure, "I live in Lyon, where my sister has a bakery.") == []
    assert [fact.object for fact in facts_of(ReaderExtractor(), "I live in Lyon.")] == ["Lyon"], "and not twice"


def test_a_control_character_is_no_part_of_a_name(reads: ReaderExtractor) -> None:
    assert all("\x9b" not in str(fact) for fact in facts_of(reads, "I live in Rome \x9b2J now."))


@pytest.mark.parametrize("said", ["The lamp is in the kitchen.", "Anna lives in Rome."])
def test_a_note_that_does_not_speak_of_its_writer_states_nothing_of_them(reads: ReaderExtractor, said: str) -> None:
    facts = [one for one in reads.extract(said).statements if isinstance(one, Fact)]
    assert facts
    assert not any("user" in str(fact) for fact in facts)
