"""How contents get into a memory: what is kept after an error, and what a writer looks at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from worldthread import Memory
from worldthread.adapters.conversation_log import ConversationLog, PastMessage
from worldthread.errors import ModelError
from worldthread.extract.groups import EpisodeGroup
from worldthread.memory import ingestion
from worldthread.models.fake import FakeEmbedder
from worldthread.types import Extraction, Thesis


class Reader:
    """An extractor that notes what it is shown."""

    name = "reader/1"
    concurrency = 1

    def __init__(self) -> None:
        self.before: list[tuple[str, ...]] = []

    def extract(self, text: str, speaker: str, time: float) -> Extraction:
        return Extraction(self.name, (Thesis(f"It says {text}", ()),))

    def extract_group(self, group: EpisodeGroup) -> list[Extraction]:
        self.before.append(group.before)
        return [self.extract(episode.text, "", 0.0) for episode in group.episodes]

    def outdate(self, text: str, extraction: Extraction, view: object, speaker: str, time: float) -> Extraction:
        return extraction


class Embedder(FakeEmbedder):
    """Fails at a certain text."""

    def __init__(self, fails_at: str) -> None:
        super().__init__()
        self.fails_at = fails_at

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.fails_at in texts:
            raise ModelError("the embedder is broken")
        return super().embed(texts)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingestion, "BATCH", 4)


TEXTS = [f"Text {number}." for number in range(10)]


@pytest.mark.parametrize("failing", ["Text 1.", "Text 9."])
def test_a_failing_embedder_loses_no_text_and_nothing_is_stored_twice(failing: str) -> None:
    embedder = Embedder(failing)
    with Memory(model="none", extractor=Reader(), embedder=embedder) as memory:
        done = memory.remember_many(TEXTS, progress=False)
        assert (done.added, len(list(memory.episodes()))) == (10, 10)
        assert "embedder is broken" in done.problems[0]
        with pytest.raises(ModelError, match="broken"):
            memory.recall("Text?")
        embedder.fails_at = ""
        assert len(memory.recall("Text 1", k=20, kinds=["episode"]).episodes) == 10


def test_an_embedder_that_cannot_be_made_is_refused_before_anything_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Memory(model="none", extractor=Reader()) as memory:
        monkeypatch.setattr(memory._models, "embedder", lambda *_: (_ for _ in ()).throw(ModelError("no such model")))
        for content in ("a text", [("a", "is", "b")]):
            with pytest.raises(ModelError, match="no such model"):
                memory.remember(content)
        assert memory.stats()["episodes"] == 0


def test_messages_are_shown_with_those_of_their_conversation_before_them() -> None:
    reader = Reader()
    with Memory(model="none", extractor=reader, embedder=FakeEmbedder()) as memory:
        for number in range(6):
            memory.remember([{"role": "user", "content": f"Said {number}."}], at=number, session="one")
            memory.remember([{"role": "user", "content": f"Other {number}."}], at=number + 0.5, session="two")
        memory.remember([{"role": "user", "content": "In between."}], at=2.2, session="one")
    assert reader.before[-2] == ("user: Other 1.", "user: Other 2.", "user: Other 3.", "user: Other 4.")
    assert reader.before[-1] == ("user: Said 0.", "user: Said 1.", "user: Said 2.")


def test_an_answer_comes_only_from_what_is_relevant_enough() -> None:
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        memory.remember("Anna lives in Rome.", at=1)
        assert memory.ask("Where does Anna live?").recall.hits
        answer = memory.ask("Where does Anna live?", min_score=1.0)
        assert answer.text is None
        assert not answer.recall.hits


def test_a_message_is_added_after_the_last_one_without_reading_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def message(text: str) -> PastMessage:
        return PastMessage({"text": text}, "user", text)

    with Memory(model="none", extractor=Reader(), embedder=FakeEmbedder()) as memory:
        logs = [ConversationLog(memory, "chat", source="app", user="Tom", clock=lambda: 5.0) for _ in range(2)]
        other = ConversationLog(memory, "other chat", source="app", user="Tom", clock=lambda: 900.0)
        expected = []
        with monkeypatch.context() as patch:
            patch.setattr(memory._store, "episodes", lambda condition=None: pytest.fail("it read all messages"))
            for number in range(12):
                logs[number % 2].add([message(f"Number {number}."), message(f"And {number}.")])
                expected += [f"Number {number}.", f"And {number}."]
                other.add([message(f"Elsewhere {number}.")])
        for log in logs:
            assert [payload["text"] for payload in log.payloads()] == expected
        assert max(episode.at for episode in memory.episodes(logs[0]._filter())) < 6
        logs[0].clear()
        logs[1].add([message("Anew.")])
        logs[0].add([message("And more.")])
        assert [payload["text"] for payload in logs[0].payloads()] == ["Anew.", "And more."]
