"""The times of passages and messages: a later one is later, whatever the size of the time."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest

from worldthread import Memory
from worldthread.errors import InputError
from worldthread.extract.documents import Document
from worldthread.extract.episode_builder import MESSAGE_GAP, PART_GAP, EpisodeBuilder
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.types import Episode

TEXT = "\n\n".join(f"# Part {number}\n\nAnna lives in town {number}." for number in range(60))
MESSAGES = [{"role": "Anna", "content": f"I live in town {number}."} for number in range(60)]
LONG_MESSAGES = [{"role": "Anna", "content": TEXT}, *MESSAGES[:2], {"role": "Ben", "content": TEXT}]
TIMES = [0.0, 5.0, 1.7e9, 8.5e9, 1e10, -1e10, 3e12, 1.7e18, 1e300]


def built(content: Any, at: float, **options: bool) -> list[Episode]:
    episodes = EpisodeBuilder(at, **options).build(content)
    assert isinstance(episodes, list)
    return episodes


@pytest.mark.parametrize("content", [TEXT, Document(TEXT), MESSAGES, LONG_MESSAGES, Document(TEXT, 9e9)])
@pytest.mark.parametrize("at", TIMES)
def test_later_passages_have_later_times(content: Any, at: float) -> None:
    episodes = built(content, at)
    times = [episode.at for episode in episodes]
    assert all(earlier < later for earlier, later in pairwise(times))
    assert times[-1] == (content.at if isinstance(content, Document) and content.at else at)
    assert [episode.id for episode in built(content, at)] == [episode.id for episode in episodes]


def test_times_stay_as_they_were_where_a_microsecond_counts() -> None:
    for at in (0.0, 5.0, 1.7e9, 8.5e9):
        assert [e.at for e in built(TEXT, at)] == [at - until * PART_GAP for until in range(59, -1, -1)]
        assert [e.at for e in built(MESSAGES, at)] == [at - until * MESSAGE_GAP for until in range(59, -1, -1)]
        builder = EpisodeBuilder(at)
        documents = [builder.build(Document(f"Town {number}.", source="towns")) for number in range(9)]
        assert [one.at for (one,) in documents] == [at + number * PART_GAP for number in range(9)]  # type: ignore[misc]
    nested = built([{"messages": MESSAGES[:2]}, MESSAGES[2]], 8.0)
    assert [e.at for e in nested] == [8 - MESSAGE_GAP, 8 - MESSAGE_GAP, 8], "messages of one item share its time"


def test_documents_of_one_source_rise_at_any_size() -> None:
    builder = EpisodeBuilder(1e12)
    times = [builder.build(Document(f"Town {number}.", source="towns"))[0].at for number in range(50)]  # type: ignore[index]
    assert times[0] == 1e12
    assert all(earlier < later for earlier, later in pairwise(times))


def test_messages_with_their_own_times_keep_them() -> None:
    messages = [MESSAGES[0] | {"at": 9e10}, MESSAGES[1], MESSAGES[2] | {"at": 3}, MESSAGES[3]]
    first, second, third, last = (episode.at for episode in built(messages, 9e10))
    assert (first, third, last) == (9e10, 3, 9e10)
    assert second < last


def test_one_by_one_nothing_comes_before_the_given_time() -> None:
    builder = EpisodeBuilder(1000.0, one_by_one=True)
    contents: list[Any] = [TEXT, ("a", "b", "c"), MESSAGES, Document(TEXT, source="s"), Document("At five.", 5)]
    episodes: list[Episode] = []
    for content in contents:
        found = builder.build(content)
        episodes += [found] if isinstance(found, Episode) else found
    *times, given = [episode.at for episode in episodes]
    assert given == 5
    assert times[0] == 1000
    assert all(earlier < later for earlier, later in pairwise(times))
    assert times[-1] < 1001


@pytest.mark.parametrize("at", [1.7e9, 1e10, 3e10])
def test_the_last_sentence_of_a_text_holds(at: float) -> None:
    with Memory(model="none", embedder="fake", extractor=ProseExtractor(), clock=lambda: at) as memory:
        for number in range(20):
            text = "\n\n".join(f"# {part}\n\nBob {number} lives in town {part}." for part in range(7))
            memory.remember(text, at=at)
            assert memory.view().value(f"Bob {number}", "lives in") == "town 6"


def test_nothing_in_it_is_still_an_error() -> None:
    for content in ("  ", []):
        with pytest.raises(InputError):
            built(content, 1.0)
    with pytest.raises(InputError, match="finite"):
        built(TEXT, -1.7976931348623157e308)
    assert math.isfinite(built("One.", -1.7976931348623157e308)[0].at)
