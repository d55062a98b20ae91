"""Who speaks: any name is passed through as given, and what is stated belongs to the one who said it."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest

from worldthread import Memory
from worldthread.errors import InputError
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.models.fake import FakeEmbedder
from worldthread.names import normalise_name
from worldthread.types import Episode, Fact, Thesis

AWKWARD = (
    "alice", "bob", "alice_92", "@tom", "anna@example.org", "42", "Bob (support)", "Dr. No", "A: B", "用户", "it",
    "I", "Anna Maria de la Cruz y Ortega", "-1", "user2", "User 7", "O'Brien", "🙂", "x" * 90, "и́ван",
)  # fmt: skip


def conversation(speakers: tuple[str, ...]) -> Memory:
    memory = Memory(embedder=FakeEmbedder(), clock=lambda: 1e9)
    memory.remember(
        [
            {"speaker": name, "content": f"I live in Town{n}. After a while I liked it."}
            for n, name in enumerate(speakers)
        ]
    )
    return memory


def assert_everybody_has_their_own(memory: Memory, speakers: tuple[str, ...]) -> None:
    for number, name in enumerate(speakers):
        homes = [v.statement.object for v in memory.timeline(name) if isinstance(v.statement, Fact)]
        assert homes == [f"Town{number}"], name
        assert f"{name}: After a while I liked it." in {str(v.statement) for v in memory.about(name)}
    assert [episode.speaker for episode in memory.episodes()] == list(speakers)


def test_awkward_names_are_neither_merged_nor_lost() -> None:
    with conversation(AWKWARD) as memory:
        assert_everybody_has_their_own(memory, AWKWARD)


def test_random_names_are_neither_merged_nor_lost() -> None:
    chance = random.Random(16)
    letters = string.ascii_letters + string.digits + " _-.@:()'éßж字🙂"
    names: dict[str, str] = {}
    while len(names) < 200:
        name = " ".join("".join(chance.choices(letters, k=chance.randint(1, 12))).split())
        if any(c.isalnum() for c in name) and name.lower() != "user":
            names.setdefault(normalise_name(name), name)
    speakers = tuple(names.values())
    with conversation(speakers) as memory:
        assert_everybody_has_their_own(memory, speakers)


def test_a_program_states_nothing_of_itself_and_its_turns_are_kept() -> None:
    with Memory(embedder=FakeEmbedder()) as memory:
        memory.remember([{"role": "assistant", "content": "I live in Rome. Anna works at Bayer."}])
        stated = {str(v.statement) for v in memory.about("assistant")}
        assert stated == {"assistant: I live in Rome.", "assistant: Anna works at Bayer."}
        assert [str(v.statement) for v in memory.about("Anna") if isinstance(v.statement, Fact)]


def test_what_the_system_says_is_left_out() -> None:
    with Memory(embedder=FakeEmbedder()) as memory:
        told = [("system", "I live in Rome. Anna works at Bayer."), ("user", "Ben works at Siemens.")]
        memory.remember([{"role": role, "content": content} for role, content in told])
        assert memory.about("system") == memory.about("Anna") == []
        assert [str(v.statement) for v in memory.about("Ben") if isinstance(v.statement, Fact)]


def test_the_content_of_a_message_names_no_speaker() -> None:
    extraction = ProseExtractor().extract("tom: Bob: I live in Rome.\nBob: I live in Oslo.", "tom")
    facts = [statement for statement in extraction.statements if isinstance(statement, Fact)]
    assert all(fact.subject != "Bob" for fact in facts)
    assert all(str(s).startswith("tom: ") for s in extraction.statements if isinstance(s, Thesis))


@pytest.mark.parametrize(
    "content",
    ["Hi!", "Hi Anna!", "Thanks a lot!", "Ok, sounds good.", "Good morning, Anna. How are you?", "Wow, great!!"],
)
def test_turns_without_content_state_nothing(content: str) -> None:
    with Memory(embedder=FakeEmbedder()) as memory:
        memory.remember([{"speaker": "tom", "content": content}])
        assert [e.extraction.statements for e in memory.episodes()] == [()]
        assert memory.recall(content).hits, "the turn itself is still found"


@pytest.mark.parametrize(
    "content", ["No, Rome.", "Yes, in May.", "I'm fine in Oslo.", "Thanks to Bob I have a job.", "At 5."]
)
def test_short_turns_with_content_are_kept(content: str) -> None:
    with Memory(embedder=FakeEmbedder()) as memory:
        memory.remember([{"speaker": "tom", "content": content}])
        assert [str(s) for e in memory.episodes() for s in e.extraction.statements if isinstance(s, Thesis)]


def test_the_user_has_a_name(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", embedder=FakeEmbedder(), user="Tom") as memory:
        memory.remember([{"role": "user", "content": "I live in Lisbon."}, {"role": "assistant", "content": "I see."}])
        memory.remember("I work for Acme.")
        memory.remember([{"speaker": "Anna", "content": "I live in Rome."}])
        assert {str(v.statement) for v in memory.about("Tom") if isinstance(v.statement, Fact)} == {
            "Tom, lives in, Lisbon", "Tom, works for, Acme",
        }  # fmt: skip
        assert str(memory.recall("Where do I live?", kinds=["fact"]).hits[0].item) == "Tom, lives in, Lisbon"
        assert memory.recall("Where do I live?").query == "Where do I live?"
        assert [e.speaker for e in memory.episodes()].count("Tom") == 1
        with memory.open_namespace("other") as other:
            other.remember([{"role": "User", "content": "I live in Porto."}])
            assert [e.speaker for e in other.episodes()] == ["Tom"]
    with pytest.raises(InputError, match="the name of the user"):
        Memory(user=" ")


def test_every_passage_of_a_long_message_shows_its_speaker() -> None:
    long = "\n\n".join(f"In week {n} I saw the river rise by {n} inches, and I wrote it down again." for n in range(40))
    with Memory(embedder=FakeEmbedder()) as memory:
        memory.remember([{"speaker": "ole", "content": long}])
        episodes = list(memory.episodes())
        assert len(episodes) > 3
        assert all(e.speaker == "ole" and e.text.startswith("ole: ") for e in episodes)
        assert all(str(s).startswith("ole") for e in episodes for s in e.extraction.statements)


def test_an_episode_is_of_one_speaker() -> None:
    assert Episode("A: B: hi", 1, speaker="A").id != Episode("A: B: hi", 1, speaker="A: B").id
    assert Episode("Anna: hi", 1, speaker="Anna").id == Episode("Anna: hi", 1).id, "as older releases recorded it"
    with pytest.raises(InputError, match="must begin with 'Anna: '"):
        Episode("hi", 1, speaker="Anna")


def test_speakers_survive_export_and_import(tmp_path: Path) -> None:
    with conversation(AWKWARD) as memory, Memory(embedder=FakeEmbedder()) as other:
        memory.export(tmp_path / "export.jsonl")
        other.import_(tmp_path / "export.jsonl")
        assert [e.speaker for e in other.episodes()] == list(AWKWARD)
        assert other.record.state_hash() == memory.record.state_hash()
