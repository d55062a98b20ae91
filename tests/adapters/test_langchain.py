"""The adapters for LangChain pass LangChain's own standard tests, and do what only a memory does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from worldthread import Filter, InputError, Memory

pytest.importorskip("langchain_core")
pytest.importorskip("langchain_tests")

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import RetrieversIntegrationTests, VectorStoreIntegrationTests

from worldthread.adapters.langchain import (
    LangChainEmbedder,
    LangChainHistory,
    LangChainRetriever,
    LangChainVectorStore,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # message histories are deprecated in LangChain, and still used

ADAPTER, PACKAGES = "LangChain: history, and what only a memory does", ("langchain-core", "langchain-tests")

LETTERS = [
    ("Anna lives in Rome.", "2023-05-01"),
    ("Anna moved to Paris.", "2024-03-01"),
    ("Bob works for Acme in Oslo.", "2024-04-01"),
    ("Anna met Bob in Paris and they talked about Rome.", "2024-05-01"),
]


@pytest.mark.asyncio
class TestStandardOfVectorStores(VectorStoreIntegrationTests):  # type: ignore[misc]
    ADAPTER, SUITE = (
        "`LangChainVectorStore`, embeddings of LangChain",
        "`langchain-tests`, `VectorStoreIntegrationTests`",
    )

    @pytest.fixture
    def vectorstore(self) -> Iterator[VectorStore]:
        with Memory(model="none", embedder=LangChainEmbedder(self.get_embeddings())) as memory:
            yield LangChainVectorStore(memory)


@pytest.mark.asyncio
class TestStandardOfVectorStoresWithTheEmbedderOfTheMemory(VectorStoreIntegrationTests):  # type: ignore[misc]
    ADAPTER, SUITE = (
        "`LangChainVectorStore`, embedder of the memory",
        "`langchain-tests`, `VectorStoreIntegrationTests`",
    )

    @pytest.fixture
    def vectorstore(self) -> Iterator[VectorStore]:
        with Memory(model="none", embedder="fake") as memory:
            yield LangChainVectorStore(memory, keep_versions=False)


def letters() -> Memory:
    memory = Memory(model="none", embedder="fake")
    for text, day in LETTERS:
        memory.remember(text, at=day, user="anna")
    return memory


@pytest.mark.asyncio
class TestStandardOfRetrievers(RetrieversIntegrationTests):  # type: ignore[misc]
    ADAPTER, SUITE = "`LangChainRetriever`", "`langchain-tests`, `RetrieversIntegrationTests`"

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return LangChainRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": letters()}

    @property
    def retriever_query_example(self) -> str:
        return "Who met Anna in Paris or Rome?"


def test_a_retriever_looks_into_the_past_and_through_a_filter() -> None:
    memory = letters()
    retriever = LangChainRetriever(memory=memory, k=1, kinds=["fact"])
    (now,) = retriever.invoke("Where does Anna live?")
    assert now.page_content == "Anna, lives in, Paris"
    assert now.metadata["kind"] == "fact"
    assert "valid_to" not in now.metadata
    (then,) = retriever.invoke("Where does Anna live?", as_of="2023-12-01")
    assert then.page_content == "Anna, lives in, Rome"
    assert then.metadata["valid_to"] > then.metadata["valid_from"]
    assert retriever.invoke("Where does Anna live?", where=Filter(user="bob")) == []
    (passage,) = LangChainRetriever(memory=memory, k=1).invoke("Who works for Acme?")
    assert passage.page_content == "Bob works for Acme in Oslo."
    assert passage.metadata["user"] == "anna"


# -- the vector store


@pytest.fixture
def store(memory: Memory) -> LangChainVectorStore:
    return LangChainVectorStore(memory)


def test_documents_are_filtered_by_metadata(store: LangChainVectorStore) -> None:
    store.add_texts(
        ["red apple", "green apple", "red car"], [{"n": 1}, {"n": 2}, {"n": [1, {"a": None}]}], ids=["a", "b", "c"]
    )
    assert store.similarity_search("red apple", k=2)[0].id == "a"
    assert [d.id for d in store.similarity_search("red apple", filter={"n": 2})] == ["b"]
    assert [d.id for d in store.similarity_search("apple", filter=lambda d: "car" in d.page_content)] == ["c"]
    assert store.get_by_ids(["c"])[0].metadata == {"n": [1, {"a": None}]}
    scored = store.similarity_search_with_relevance_scores("red apple", k=3)
    assert [score for _, score in scored] == sorted((score for _, score in scored), reverse=True)
    assert all(0 <= score <= 1 for _, score in scored)
    assert store.as_retriever(search_kwargs={"k": 1}).invoke("red apple")[0].id == "a"
    assert store.embeddings is None


def test_collections_are_apart_and_deleting_all_empties_one(memory: Memory) -> None:
    one, other = LangChainVectorStore(memory, collection="one"), LangChainVectorStore(memory, collection="other")
    one.add_texts(["apple"], ids=["a"])
    other.add_texts(["pear"], ids=["a"])
    one.delete()
    assert one.similarity_search("apple") == []
    assert other.get_by_ids(["a"])[0].page_content == "pear"
    with pytest.raises(InputError, match="2 texts"):
        one.add_texts(["a", "b"], ids=["a"])


@pytest.mark.parametrize("metadata", [{"day": date(2024, 5, 1)}, {"a": {1, 2}}, {1: "a", "b": "c"}])
def test_metadata_that_are_not_json_are_refused(store: LangChainVectorStore, metadata: dict[Any, Any]) -> None:
    with pytest.raises(InputError, match="JSON"):
        store.add_texts(["apple", "pear"], [{}, metadata], ids=["a", "b"])
    assert store.get_by_ids(["a", "b"]) == []


def test_a_store_made_of_texts_uses_the_embeddings_given() -> None:
    embeddings = DeterministicFakeEmbedding(size=8)
    store = LangChainVectorStore.from_texts(["one", "two", ""], embeddings, ids=["1", "2", "3"])
    assert store.embeddings is embeddings
    assert store.similarity_search("two", k=1) == [Document(page_content="two", id="2")]
    assert store.get_by_ids(["3"])[0].page_content == ""
    store.memory.close()


# -- the history


def test_messages_come_back_as_they_were_and_are_remembered(memory: Memory) -> None:
    said = [
        SystemMessage("Be brief."),
        HumanMessage("I live in Rome.", additional_kwargs={"x": [1]}),
        AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Rome"}, "id": "1"}]),
        ToolMessage("Sunny", tool_call_id="1"),
        AIMessage([{"type": "text", "text": "It is sunny."}]),
        HumanMessage("word " * 4000),
    ]
    history = LangChainHistory(memory, "monday", user="Anna")
    history.add_messages(said[:2])
    history.add_messages(said[2:])
    assert history.messages == said
    other = LangChainHistory(memory, "tuesday", user="Anna")
    assert other.messages == []
    other.add_user_message("I have a cat.")
    assert asyncio.run(other.aget_messages()) == [HumanMessage("I have a cat.")]
    assert "Rome" in other.log.recall("Where does Anna live?").text
    assert "Rome" not in LangChainHistory(memory, "wednesday", user="Bob").log.recall("Where does Anna live?").text
    history.clear()
    assert history.messages == []
    assert len(other.messages) == 1
    assert "Rome" not in other.log.recall("Where does Anna live?").text
