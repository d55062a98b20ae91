"""Whom and what a text belongs to: labels in memories, records and exports."""

from __future__ import annotations

import copy
import io
import math
import pickle
from pathlib import Path
from typing import Any

import pytest

from worldthread import Document, Episode, InputError, Memory
from worldthread.provenance import LONGEST_VALUE, MOST_KEYS, Labels, Metadata, Provenance
from worldthread.stores.codec import decode_episode, encode_episode
from worldthread.types import Fact


def memory_of(path: Path | None = None) -> Memory:
    return Memory(path, model="none", embedder="fake", clock=lambda: 1000.0)


def test_an_episode_without_labels_keeps_its_id_and_its_bytes() -> None:
    plain = Episode("Anna: I am here.", 1, "chat", speaker="Anna")
    assert plain.id == "e06c511a7a7be6c6147620d98410e9b7"  # as before there were labels
    assert encode_episode(plain) == b'{"text":"Anna: I am here.","at":1.0,"source":"chat","speaker":"Anna"}'
    assert decode_episode(encode_episode(plain)) == plain
    assert plain.labels == Labels()


def test_labels_are_part_of_the_identity_and_of_the_record() -> None:
    labels: list[dict[str, Any]] = [
        {}, {"user": "a"}, {"agent": "a"}, {"session": "a"}, {"metadata": {"a": 1}}, {"metadata": {"a": 1.0}},
        {"metadata": {"a": True}}, {"metadata": {"a": "1"}}, {"metadata": {"b": 1}}, {"user": "b"},
    ]  # fmt: skip
    episodes = [Episode("x", 1, **given) for given in labels]
    assert len({episode.id for episode in episodes}) == len(labels)
    for episode in episodes:
        back = decode_episode(encode_episode(episode))
        assert (back, back.id, back.labels) == (episode, episode.id, episode.labels)
        assert Provenance.of_text(episode.provenance.text) == episode.provenance
        assert pickle.loads(pickle.dumps(episode)).id == copy.deepcopy(episode).id == episode.id
    assert Episode("x", 1, metadata={"a": 1, "b": 2}).id == Episode("x", 1, metadata={"b": 2, "a": 1}).id
    with pytest.raises(TypeError):
        episodes[4].metadata["a"] = 2  # type: ignore[index]


@pytest.mark.parametrize(
    "wrong",
    [
        {"user": None}, {"user": " "}, {"agent": 3}, {"session": "x" * 1001}, {"session": "\0"}, {"metadata": [1]},
        {"metadata": {"": 1}}, {"metadata": {1: 1}}, {"metadata": {"a": None}}, {"metadata": {"a": [1]}},
        {"metadata": {"a": {}}}, {"metadata": {"a": math.nan}}, {"metadata": {"a": 2**63}},
        {"metadata": {"a" * 201: 1}}, {"metadata": {"a": "x" * (LONGEST_VALUE + 1)}},
        {"metadata": {str(n): n for n in range(MOST_KEYS + 1)}},
    ],
)  # fmt: skip
def test_labels_that_cannot_be_recorded_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Episode("x", 1, **wrong)
    with memory_of() as memory, pytest.raises(InputError):
        memory.remember("It rains.", **({"user": 1} if wrong == {"user": None} else wrong))


def test_metadata_compare_values_by_type() -> None:
    assert Metadata({"a": 1}) != Metadata({"a": 1.0}) != Metadata({"a": True})
    assert Metadata({"a": 1, "b": "x"}) == Metadata({"b": "x", "a": 1})
    assert hash(Metadata({"a": -0.0})) == hash(Metadata({"a": 0.0}))
    assert Metadata({"a": 1}) != {"a": 1}


def test_what_is_remembered_is_labelled(tmp_path: Path) -> None:
    with memory_of(tmp_path / "m") as memory:
        memory.remember("I live in Rome.", user="u-1", agent="helper", session="s-1", metadata={"stars": 5})
        memory.remember(("Anna", "likes", "tea"), user="u-2")
        memory.remember([{"role": "user", "content": "I live in Paris."}], user="u-2", session="s-2")
        memory.remember(Document("Tea is nice.", user="u-3", metadata={"x": "y"}), metadata={"x": "z", "w": 1})
        with pytest.raises(InputError, match="brings its own user"):
            memory.remember(Episode("It rains.", 1), user="u-1")
        before = {e.id: (e.text, e.user, e.agent, e.session, dict(e.metadata)) for e in memory.episodes()}
        stream = io.BytesIO()
        memory.export(stream)
        digest = memory.record.state_hash()
        memory.checkpoint()
    assert sorted(before.values(), key=str) == [
        ("Anna likes tea.", "u-2", "", "", {}),
        ("I live in Rome.", "u-1", "helper", "s-1", {"stars": 5}),
        ("Tea is nice.", "u-3", "", "", {"w": 1, "x": "y"}),
        ("u-2: I live in Paris.", "u-2", "", "s-2", {}),
    ]
    with memory_of(tmp_path / "m") as memory:
        assert {e.id: (e.text, e.user, e.agent, e.session, dict(e.metadata)) for e in memory.episodes()} == before
        records = [memory.record.graph.episode(id_) for id_ in before]
        assert [record.provenance.labels.user for record in records] == [labels[1] for labels in before.values()]
    with memory_of() as copied:
        copied.import_(io.BytesIO(stream.getvalue()))
        assert copied.record.state_hash() == digest


def test_two_users_who_say_the_same_are_kept_apart() -> None:
    with memory_of() as memory:
        for user in ("u-1", "u-2"):
            memory.remember([{"role": "user", "content": "I live in Rome.", "at": 1}], user=user)
            memory.remember([{"role": "user", "content": f"I live in {user}-town.", "at": 2}], user=user)
        assert memory.view().facts(relation="lives in") == [
            Fact("u-1", "lives in", "u-1-town"), Fact("u-2", "lives in", "u-2-town"),
        ]  # fmt: skip


def test_the_name_of_who_tells_a_text_is_no_part_of_a_longer_word() -> None:
    with memory_of() as memory:
        memory.remember("I live in u-1-town.", at=1, user="u-1")
        assert memory.view().facts() == [Fact("u-1", "lives in", "u-1-town", "residence of u-1")]


def test_no_field_of_a_message_is_dropped() -> None:
    message = {
        "role": "user", "content": "I like tea.", "session_id": 7, "agent": "helper", "user_id": "u-9", "score": 0.5,
        "id": "m1", "tool_calls": [{"name": "f"}], "refusal": None, "annotations": [], "metadata": {"topic": "drinks"},
    }  # fmt: skip
    with memory_of() as memory:
        memory.remember([message], at=1, metadata={"topic": "all", "app": "x"})
        (episode,) = memory.episodes()
        assert (episode.user, episode.agent, episode.session, episode.speaker) == ("u-9", "helper", "7", "u-9")
        assert dict(episode.metadata) == {
            "app": "x", "id": "m1", "score": 0.5, "tool_calls": '[{"name":"f"}]', "topic": "drinks",
        }  # fmt: skip
        done = memory.remember([{"role": "user", "content": "x", "extra": "y" * 20_000}], at=2)
        assert memory.episode(done.episodes[0]).payload == f'{{"extra":"{"y" * 20_000}"}}'
