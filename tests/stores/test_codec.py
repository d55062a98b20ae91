"""Episodes as JSON documents."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from worldthread.errors import InputError
from worldthread.stores import SQLiteStore
from worldthread.stores.codec import decode_episode, encode_episode
from worldthread.types import Ending, Episode, Extraction, Fact, Thesis


def test_stated_times_are_recorded_exactly_and_only_when_there_are_any(tmp_path: Path) -> None:
    begin, end = 0.1 + 0.2, 1e15 + 0.25
    facts = (
        Fact("Tom", "works for", "Acme", "employer of tom", begin, end, 2.5),
        Thesis("It rains.", (), None, None, end),
    )
    timed = Episode("x", 1, extraction=Extraction("test/1", facts, (Ending(facts[1], "dry", begin),)))
    plain = Episode("y", 2, extraction=Extraction("test/1", (Thesis("It rains."),), (Ending(facts[0], "fired"),)))
    for episode in (timed, plain):
        assert decode_episode(encode_episode(episode)).extraction == episode.extraction
        assert decode_episode(encode_episode(episode)).extraction.digest == episode.extraction.digest
    assert orjson.loads(encode_episode(plain))["reading"] == {
        "reader": "test/1",
        "statements": [{"thesis": "It rains."}],
        "endings": [{"statement": {"fact": ["Tom", "works for", "Acme"], "aspect": "employer of tom",
                                   "valid_from": begin, "valid_to": end, "begins_by": 2.5}, "reason": "fired"}],
    }  # fmt: skip
    with pytest.raises(InputError, match="before valid_from"):
        decode_episode(encode_episode(timed).replace(b"0.30000000000000004", b"2e15"))
    file = tmp_path / "memory"
    with SQLiteStore.open(file) as store:
        store.append_many([timed, plain])
        expected = store.graph.state_hash()
        versions = store.graph.versions(facts[0])
        store.checkpoint()
    assert [(v.interval.valid_from, v.interval.valid_to) for v in versions] == [(begin, 2)]
    with SQLiteStore.open(file, readonly=True) as store:
        assert store.graph.state_hash() == expected
        assert store.graph.versions(facts[0]) == versions


def test_a_correction_is_recorded() -> None:
    extraction = Extraction("test/1", (), (Ending(Thesis("It rains."), "a joke", never=True),))
    decoded = decode_episode(encode_episode(Episode("x", 1, extraction=extraction)))
    assert decoded.extraction.endings[0].never
    assert decoded.extraction.digest == extraction.digest
    with pytest.raises(InputError, match="true or false"):
        decode_episode(encode_episode(decoded).replace(b'"never":true', b'"never":1'))
