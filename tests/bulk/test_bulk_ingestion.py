"""What readers in other processes read is recorded as if it had been read here."""

from __future__ import annotations

import functools
import pickle
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from worldthread import Episode, Extraction, Fact, Memory
from worldthread.errors import ClusterError, InputError, ModelError, WorldthreadError
from worldthread.extract.base import Extractor
from worldthread.extract.groups import EpisodeGroup
from worldthread.extract.model import ModelExtractor
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.memory.bulk import BatchReading
from worldthread.memory.bulk.worker import packed, read_batch, unpacked
from worldthread.models import chat_model
from worldthread.models.base import Embedder, limit_processors, processors
from worldthread.models.configured import ConfiguredChat
from worldthread.models.fake import FakeEmbedder
from worldthread.models.fake_chat import FakeChat
from worldthread.models.minilm import MiniLMEmbedder


class LateReaders:
    """Readers as in other processes: everything is pickled on its way, and batches finish in random order."""

    def __init__(self, batch: int, in_flight: int, seed: int) -> None:
        self.batch, self.in_flight, self.description = batch, in_flight, "test readers"
        self._random = random.Random(seed)
        self._waiting: dict[int, bytes] = {}
        self._done: dict[int, bytes] = {}
        self._models = b""
        self.sizes: list[int] = []
        self.most_under_way = 0

    def start(self, extractor: Extractor, embedder: Embedder) -> None:
        self._models = packed(extractor, embedder)

    def submit(self, groups: Sequence[EpisodeGroup]) -> object:
        ticket = len(self.sizes)
        self.sizes.append(sum(len(group.episodes) for group in groups))
        self._waiting[ticket] = pickle.dumps(list(groups))
        self.most_under_way = max(self.most_under_way, len(self._waiting) + len(self._done))
        return ticket

    def result(self, ticket: Any) -> BatchReading:
        while ticket not in self._done:
            one = self._random.choice(list(self._waiting))
            groups = pickle.loads(self._waiting.pop(one))
            self._done[one] = pickle.dumps(self.read(groups))
        return pickle.loads(self._done.pop(ticket))

    def read(self, groups: Sequence[EpisodeGroup]) -> BatchReading:
        return read_batch(unpacked(self._models), groups)


class NamedExtractor(ProseExtractor):
    """Fails at texts with a number in them that ends in 7."""

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        if "7 " in text:
            raise ModelError("no answer")
        return super().extract(text, speaker, at)


class LastSaid:
    """Reads messages together, and writes down which were before them."""

    name = "last-said/1"
    concurrency = 1

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        return Extraction(self.name)

    def extract_group(self, group: EpisodeGroup) -> list[Extraction]:
        said = Fact("the group", "comes after", " / ".join(group.before) or "nothing")
        return [
            Extraction(self.name, (said, Fact(e.text, "is read with", str(len(group.episodes)))))
            for e in group.episodes
        ]

    def outdate(
        self, text: str, extraction: Extraction, view: Any, speaker: str = "", at: float | None = None
    ) -> Extraction:
        return Extraction(self.name, (*extraction.statements, Fact(text, "finds", str(len(list(view.facts()))))))


def contents() -> Iterator[Any]:
    names = ["Anna", "Bert", "Carla", "Dan"]
    cities = ["Rome", "Paris", "Oslo"]
    for number in range(150):
        name, city = names[number % 4], cities[number % 3]
        if number % 10 == 3:
            yield Episode(f"given {number}", number, "test", Extraction("test/1", (Fact(name, "was in", city),)))
        elif number % 10 == 5:
            yield [
                {"role": name, "content": f"I live in {city}.", "at": number},
                {"role": "user", "content": f"Hello {number} {name}.", "at": number},
            ]
        else:
            yield f"{name} lives in {city}. Number {number} was here."
    yield "Anna lives in Rome. Number 0 was here."  # again
    yield "One more."


def remembered(readers: LateReaders | None, extractor: Extractor | None, path: Path | None = None) -> tuple[Any, ...]:
    clock = iter(range(10**6, 10**7))
    with Memory(
        path, model="none", extractor=extractor, embedder=FakeEmbedder(), clock=lambda: float(next(clock))
    ) as memory:
        result = memory.remember_many(contents(), at=500, progress=False, readers=readers)
        counts = memory.stats()
        return memory.record.state_hash(), result, counts, memory.recall("Where does Anna live?").text


@functools.cache
def remembered_here(kind: type[Any]) -> tuple[Any, ...]:
    return remembered(None, kind())


@pytest.mark.parametrize("batch", [7, 64, 200])
@pytest.mark.parametrize("kind", [ProseExtractor, NamedExtractor, LastSaid])
def test_the_result_is_that_of_one_process(kind: type[Any], batch: int) -> None:
    readers = LateReaders(batch, 4, seed=batch)
    there = remembered(readers, kind())
    assert there == remembered_here(kind)
    assert readers.most_under_way <= 4
    assert sum(readers.sizes) == there[1].added - 15
    assert bool(there[1].unread) == (kind is NamedExtractor)


def test_what_is_recorded_is_not_sent_again(tmp_path: Path) -> None:
    path = tmp_path / "m"
    first = remembered(LateReaders(32, 2, 1), None, path)
    again = LateReaders(32, 2, 1)
    second = remembered(again, None, path)
    assert again.sizes == []
    assert (first[0], first[2]) == (second[0], second[2])
    assert (second[1].added, second[1].known) == (0, first[1].added + first[1].known)


class FailingReaders(LateReaders):
    """Fails at the third batch."""

    def result(self, ticket: Any) -> BatchReading:
        if ticket == 2:
            raise ClusterError("lost")
        return super().result(ticket)


def test_what_came_before_a_failure_is_recorded_and_the_rest_follows(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with pytest.raises(ClusterError, match="lost"):
        remembered(FailingReaders(64, 2, 1), None, path)
    with Memory(path, readonly=True, model="none") as memory:
        assert 64 <= len(memory.record.graph) < 160
    assert remembered(LateReaders(64, 2, 1), None, path)[0] == remembered(None, None)[0]


class OtherReaders(LateReaders):
    """Readers of another release."""

    def read(self, groups: Sequence[EpisodeGroup]) -> BatchReading:
        read = super().read(groups)
        return BatchReading(read.episodes, read.texts, read.vectors, ("0.0.1", *read.reader[1:]))


def test_workers_of_another_release_are_refused() -> None:
    with pytest.raises(ClusterError, match=r"worldthread 0\.0\.1 .* install the same release"):
        remembered(OtherReaders(64, 2, 1), None)


class NotInstalled(ProseExtractor):
    """Fails as where a package is missing."""

    def extract(self, text: str, speaker: str = "", at: float | None = None) -> Extraction:
        raise WorldthreadError("needs a package")


def test_a_failure_there_is_an_error_here() -> None:
    with pytest.raises(ClusterError, match="needs a package"):
        remembered(LateReaders(64, 2, 1), NotInstalled())


class Unsendable(ProseExtractor):
    """Holds what cannot be sent."""

    def __init__(self) -> None:
        self.function = lambda: None


def test_an_extractor_that_cannot_be_sent_is_refused() -> None:
    with pytest.raises(InputError, match=r"'prose/\d+' cannot be sent to other processes"):
        packed(Unsendable(), FakeEmbedder())


def test_an_embedder_that_cannot_be_sent_embeds_here() -> None:
    class Local(FakeEmbedder):
        pass

    models = unpacked(packed(ProseExtractor(), Local()))
    assert models.embedder is None
    assert read_batch(models, [EpisodeGroup((Episode("Anna lives in Rome.", 1),))]).texts == ()


def test_a_chat_model_takes_its_key_from_the_environment_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("WORLDTHREAD_API_KEY", "key-of-here")
    made = chat_model("some-model", base_url="https://model.example.org/v1", cache=False)
    assert made is not None
    data = packed(ModelExtractor(made, language="German", instruction="Be brief."), MiniLMEmbedder())
    assert b"key-of-here" not in data
    monkeypatch.setenv("WORLDTHREAD_API_KEY", "key-of-there")
    there = unpacked(data).extractor
    assert isinstance(there, ModelExtractor)
    assert isinstance(there.model, ConfiguredChat)
    assert there.model.config.api_key == "key-of-there"
    assert there.name == ModelExtractor(made, language="German", instruction="Be brief.").name
    limited = chat_model("some-model", base_url="https://model.example.org/v1", cache=False, budget_tokens=5)
    with pytest.raises(InputError, match="a budget is counted in one process"):
        packed(ModelExtractor(limited), MiniLMEmbedder())


def test_prompts_go_with_the_extractor() -> None:
    extractor = ModelExtractor(FakeChat(["{}"]), theses=False, max_candidates=7)
    state = extractor.__getstate__()
    copy = ModelExtractor.__new__(ModelExtractor)
    copy.__setstate__(state)
    assert copy.__getstate__() == state


def test_a_worker_computes_on_its_own_processors() -> None:
    everything = processors()
    limit_processors(1)
    assert processors() == 1
    limit_processors(None)
    assert processors() == everything
