"""IRCoT: sentences of a chain of thought are the next queries, and the reader sees all that they found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from worldthread import Memory
from worldthread.errors import InputError
from worldthread.models.chat import ChatRequest
from worldthread.models.fake import FakeEmbedder
from worldthread.models.fake_chat import FakeChat
from worldthread.types import Episode, Extraction, Thesis
from worldthread_lab.bench.qa.interleaved import MOST_HITS, InterleavedAnswerer
from worldthread_lab.bench.qa.pipeline import AnsweredQuestion, Pipeline
from worldthread_lab.bench.qa.retrieval_spec import RetrievalSpec
from worldthread_lab.bench.qa.run import QASetup
from worldthread_lab.bench.qa.stages import Answerer, Retriever

EMBEDDER = FakeEmbedder()
PASSAGES = (
    "Anna is married to Ben.",
    "Ben works at the Harbour Museum.",
    "The Harbour Museum stands in Oslo.",
    *(f"Locker {number} is red." for number in range(40)),
)
QUESTION = "To whom is Anna married, and which town is his?"


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(model="none", embedder=EMBEDDER) as memory:
        for turn, text in enumerate(PASSAGES):
            memory.record.add(Episode(text, turn, extraction=Extraction("by hand", (Thesis(text, ()),))))
        yield memory


def ask(memory: Memory, thoughts: Sequence[object], sentences: int = 8) -> tuple[AnsweredQuestion, FakeChat]:
    """Ask with a model that has these thoughts, as values of the schema or as texts that are none."""
    left = iter(thoughts)

    def reply(request: ChatRequest) -> str:
        if request.purpose == "thought":
            thought = next(left)
            return thought if isinstance(thought, str) else json.dumps(thought)
        return json.dumps({"reasoning": "They work there.", "answer": "Oslo", "sources": [1]})

    chat = FakeChat(reply)
    stage = InterleavedAnswerer(sentences, Answerer(look_ups=0))
    pipeline = Pipeline(EMBEDDER, chat, retrieve=Retriever(RetrievalSpec("lexical")), answer=stage, k=1)
    return pipeline.run(memory.record, QUESTION), chat


def thought(sentence: str, *, finished: bool = False) -> dict[str, object]:
    return {"sentence": sentence, "finished": finished}


def texts(answered: AnsweredQuestion) -> set[str]:
    return {hit.item.text for hit in answered.hits if isinstance(hit.item, Episode)}


def test_each_sentence_is_the_next_query_and_the_reader_sees_all_that_was_found(memory: Memory) -> None:
    said = [
        thought("Ben works at the museum."),
        thought("The Harbour Museum stands where?"),
        thought("Oslo", finished=True),
    ]
    answered, chat = ask(memory, said)
    assert answered.answer.text == "Oslo"
    assert set(PASSAGES[:3]) <= texts(answered)
    thoughts = [request.messages[1].content for request in chat.requests if request.purpose == "thought"]
    assert "Thoughts so far: (none yet)" in thoughts[0]
    assert PASSAGES[2] not in thoughts[0], "it is found by the second sentence only"
    assert "Thoughts so far: Ben works at the museum. The Harbour Museum stands where?" in thoughts[2]
    assert PASSAGES[2] in thoughts[2]
    assert [request.purpose for request in chat.requests] == ["thought"] * 3 + ["answer"]
    assert all(QUESTION in request.messages[1].content for request in chat.requests)


def test_the_chain_ends_with_its_limit_with_the_answer_and_with_what_cannot_be_used(memory: Memory) -> None:
    calls = []
    for said, sentences in (
        ([thought("Red lockers.")] * 5, 3),
        ([thought("Oslo.", finished=True)], 8),
        (["no JSON", "still none"], 8),
        ([thought("  ")], 8),
    ):
        answered, chat = ask(memory, list(said), sentences)
        assert answered.answer.text == "Oslo"
        calls.append(sum(request.purpose == "thought" for request in chat.requests))
    assert calls == [3, 1, 2, 1], "a bad answer is sent back once"


def test_no_more_is_collected_than_the_paper_collects(memory: Memory) -> None:
    said = [thought(f"Locker {number} and locker {number + 1}?") for number in range(0, 40, 2)]
    answered, _ = ask(memory, list(said), sentences=20)
    kinds = [hit.kind for hit in answered.hits]
    assert max(kinds.count(kind) for kind in set(kinds)) == MOST_HITS
    assert len({(hit.kind, hit.item.id) for hit in answered.hits}) == len(kinds), "each once"


def test_it_needs_a_model_and_a_sentence(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs a model"):
        Pipeline(EMBEDDER, answer=InterleavedAnswerer()).run(memory.record, QUESTION)
    with pytest.raises(InputError, match="at least 1 sentence"):
        InterleavedAnswerer(0)
    for count, model, message in ((2, None, "needs a model"), (-1, FakeChat(lambda _: ""), "0 or more")):
        with pytest.raises(InputError, match=message):
            QASetup(None, memory, EMBEDDER, model=model, interleave=count)  # type: ignore[arg-type]
