"""A retriever, a vector store and a message history for LangChain."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from worldthread.adapters.conversation_log import ConversationLog, PastMessage
from worldthread.adapters.keyed import KeyedEpisodes, KeyedItem
from worldthread.errors import InputError, MissingExtraError
from worldthread.extract.records import said_in
from worldthread.memory.filters import Filter
from worldthread.memory.memory import Memory
from worldthread.types import Episode, Hit, Kind

try:
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document as LangChainDocument
    from langchain_core.embeddings import Embeddings
    from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.vectorstores import VectorStore
except ImportError as error:
    raise MissingExtraError("the adapters for LangChain", extra="langchain", package="langchain-core") from error


PASSAGES: Final[tuple[Kind, ...]] = ("episode",)
"""What a retriever finds unless it is told otherwise."""


class LangChainRetriever(BaseRetriever):  # type: ignore[misc]
    """A LangChain retriever over everything in a memory.

    Each document is a passage or a statement; its metadata say what kind it is, when it was so and where it comes from.

    Attributes:
        memory: the :class:`~worldthread.Memory`.
        k: the maximum number of documents of each kind; an argument of ``invoke`` too.
        kinds: which of ``"fact"``, ``"thesis"`` and ``"episode"`` to find.
        as_of: a world time; ``None`` for now; an argument of ``invoke`` too.
        where: only what meets this :class:`~worldthread.Filter`; an argument of ``invoke`` too.
        method: see :meth:`Memory.recall`.
        min_score: see :meth:`Memory.recall`.
    """

    memory: Any
    k: int = 5
    kinds: Collection[Kind] = PASSAGES
    as_of: Any = None
    where: Any = None
    method: str | None = None
    min_score: float = 0.0

    def _get_relevant_documents(
        self, query: str, *, run_manager: Any, k: int | None = None, as_of: Any = None, where: Filter | None = None
    ) -> list[LangChainDocument]:
        hits = self.memory.recall(
            query,
            k=self.k if k is None else k,
            kinds=self.kinds,
            as_of=self.as_of if as_of is None else as_of,
            where=self.where if where is None else where,
            method=self.method,
            min_score=self.min_score,
        ).hits
        return [_document(hit) for hit in hits]


class LangChainVectorStore(VectorStore):  # type: ignore[misc]
    """A LangChain vector store whose documents are episodes.

    A document that is added again under its id is a new version; ``delete`` forgets a document with all its versions.
    The embedder is that of the memory; :class:`LangChainEmbedder` makes one of LangChain's embeddings.

    Args:
        memory: holds the documents; it stays open.
        collection: documents of different collections do not see each other.
        keep_versions: keep the earlier versions of a document, for searches with ``as_of``.
    """

    def __init__(self, memory: Memory, *, collection: str = "langchain", keep_versions: bool = True) -> None:
        self.memory = memory
        self._items = KeyedEpisodes(memory, collection, keep_versions=keep_versions)

    @property
    def embeddings(self) -> Embeddings | None:
        """The embeddings of LangChain that the memory uses, if it uses such."""
        embedder = self.memory.embedder
        return embedder.embeddings if isinstance(embedder, LangChainEmbedder) else None

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Add texts, all or none.

        Args:
            texts: the texts.
            metadatas: JSON values by key, for each text.
            ids: an id for each text; new ones where none is given.
            kwargs: taken from other stores, and not used.

        Returns:
            The ids.

        Raises:
            InputError: there are not as many metadata or ids as texts.
        """
        listed = list(texts)
        given = metadatas or [{} for _ in listed]
        keys = [key or str(uuid.uuid4()) for key in (ids or [None] * len(listed))]
        if not len(given) == len(listed) == len(keys):
            raise InputError(f"{len(listed)} texts need as many metadata and ids, not {len(given)} and {len(keys)}")
        items = (KeyedItem((k,), t, {"metadata": m}) for k, t, m in zip(keys, listed, given, strict=True))
        last = {item.path: item for item in items}  # of one id that is given twice, the last one
        self._items.put(last.values())
        return keys

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool | None:
        """Forget documents, with all their versions.

        Args:
            ids: the ids; ``None`` for all documents. Unknown ids are passed over.
            kwargs: taken from other stores, and not used.

        Returns:
            ``True``.
        """
        if ids is None:
            self._items.forget((), below=True)
        for key in ids or ():
            self._items.forget((key,))
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[LangChainDocument]:
        return [_stored(item) for key in ids if (item := self._items.get((key,)))]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[LangChainDocument]:
        """Find the documents that are most similar to a text.

        Args:
            query: the text.
            k: how many at most.
            kwargs: ``filter``, a mapping of metadata that must be equal or a function from documents to truth values;
                and ``as_of``, a time.

        Returns:
            The documents, the most similar one first.
        """
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[LangChainDocument, float]]:
        """Find the documents that are most similar to a text, with the cosine of the angle between their vectors.

        Args:
            query: the text.
            k: how many at most.
            kwargs: as for :meth:`similarity_search`.

        Returns:
            Pairs of document and score, the most similar one first.
        """
        wanted: Mapping[str, Any] | Callable[[LangChainDocument], bool] = kwargs.get("filter") or {}

        def fits(item: KeyedItem) -> bool:
            document = _stored(item)
            if callable(wanted):
                return bool(wanted(document))
            return all(key in document.metadata and document.metadata[key] == wanted[key] for key in wanted)

        found = self._items.search(query, k=k, method="dense", as_of=kwargs.get("as_of"), fits=fits)
        return [(_stored(item), float(item.score or 0.0)) for item in found]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda score: min(1.0, max(0.0, score))

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        memory: Memory | None = None,
        **kwargs: Any,
    ) -> Self:
        """Make a store of texts.

        Args:
            texts: the texts.
            embedding: the embeddings, for a memory that is made here.
            metadatas: see :meth:`add_texts`.
            ids: see :meth:`add_texts`.
            memory: holds the documents; ``None`` for a new one in RAM.
            kwargs: arguments of the store.

        Returns:
            The store.
        """
        store = cls(memory or Memory(model="none", embedder=LangChainEmbedder(embedding)), **kwargs)
        store.add_texts(texts, metadatas, ids=ids)
        return store


class LangChainEmbedder:
    """Embeddings of LangChain as the embedder of a memory.

    Args:
        embeddings: the embeddings.
        name: under which the memory keeps the vectors; another one for each model.
    """

    def __init__(self, embeddings: Embeddings, name: str = "") -> None:
        self.embeddings = embeddings
        self.name = name or f"langchain/{type(embeddings).__name__}"
        self.dimensions = len(embeddings.embed_query("length"))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts.

        Args:
            texts: the texts.

        Returns:
            Their vectors of length 1, shape (len(texts), dimensions).
        """
        return _of_length_one(self.embeddings.embed_documents(list(texts)), self.dimensions)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions.

        Args:
            texts: the questions.

        Returns:
            Their vectors of length 1, shape (len(texts), dimensions).
        """
        return _of_length_one([self.embeddings.embed_query(text) for text in texts], self.dimensions)


class LangChainHistory(BaseChatMessageHistory):  # type: ignore[misc]
    """A LangChain message history that is remembered: what was said here is found in other conversations.

    Args:
        memory: holds the messages; it stays open.
        session_id: the name of the conversation.
        user: the person who talks; also the name of who says human messages.
    """

    def __init__(self, memory: Memory, session_id: str, *, user: str = "") -> None:
        self.log = ConversationLog(memory, session_id, source="langchain history", user=user)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override,unused-ignore]
        """The messages, in order."""
        return list(messages_from_dict(self.log.payloads()))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages to the end, and remember what people and models say in them.

        Args:
            messages: the messages.
        """
        self.log.add([_past_message(message) for message in messages])

    def clear(self) -> None:
        """Forget all messages of this conversation."""
        self.log.clear()


def _past_message(message: BaseMessage) -> PastMessage:
    role = {"human": "user", "ai": "assistant"}.get(message.type)
    payload = json.loads(json.dumps(message_to_dict(message)))
    return PastMessage(payload, role, said_in(message.content))  # type: ignore[arg-type]


def _document(hit: Hit) -> LangChainDocument:
    item = hit.item
    metadata: dict[str, Any] = {"kind": hit.kind, "score": hit.score, "path": list(hit.path)}
    if isinstance(item, Episode):
        metadata |= dict(item.metadata) | {"at": item.at, "source": item.source}
        metadata |= {name: value for name in ("user", "agent", "session") if (value := getattr(item, name))}
        return LangChainDocument(page_content=item.text, metadata=metadata, id=item.id)
    if hit.version is not None:
        version = hit.version
        metadata |= {"valid_from": version.interval.valid_from, "sources": list(version.sources)}
        metadata |= (
            {} if version.interval.is_open else {"valid_to": version.interval.valid_to, "reason": version.reason}
        )
    return LangChainDocument(page_content=str(item), metadata=metadata, id=item.id)


def _stored(item: KeyedItem) -> LangChainDocument:
    return LangChainDocument(page_content=item.text, metadata=item.value["metadata"], id=item.path[0])


def _of_length_one(vectors: Sequence[Sequence[float]], dimensions: int) -> NDArray[np.float32]:
    found = np.asarray(vectors, np.float32).reshape(-1, dimensions)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return (found / np.where(lengths == 0, 1, lengths)).astype(np.float32)
