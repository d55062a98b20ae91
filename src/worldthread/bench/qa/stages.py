"""The stages of question answering, each a callable that another may take the place of (PersonalAI, section III.C).

========== =============================================== ====================================================
stage      is given                                        gives
========== =============================================== ====================================================
entities   the question                                    names of what it speaks of
match      these names, the index                          names of objects of the graph
retrieve   these objects, the index                        scores of everything
filter     the best of everything, the index               what of it is kept
answer     what was kept, as hits                          an answer with its sources, or that there is none
========== =============================================== ====================================================

``match``, ``retrieve`` and ``filter`` are called while nobody can change the memory, so they should not wait for a
model; the others may.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from worldthread.answer import Answer
from worldthread.answer import answer as answer_from
from worldthread.bench.qa.retrieval_spec import RetrievalSpec
from worldthread.errors import InputError
from worldthread.extract.prose.entities import entities as named_in
from worldthread.models.chat import ChatModel, ChatRequest
from worldthread.models.prompts import load_prompt
from worldthread.models.structured import complete_structured, schema_of
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.published.linking import Embed, link, pending_names
from worldthread.retrieve.published.paths import QuestionSimilarity
from worldthread.retrieve.query import Query, Scores, names_in
from worldthread.types import Kind, Recall

PURPOSE: Final = "entities"
PROMPT_VERSION: Final = 1


@dataclass(frozen=True)
class QuestionInProgress:
    """A question on its way through the stages.

    Args:
        text: in words.
        vector: its embedding, shape (dimensions,).
        embed: gives texts vectors, as those of the index were made.
        model: a chat model for the stages that want one; ``None`` without one.
        at: the moment of world time that is asked about; ``None`` for now.
        only_current: leave out what does not hold at that moment.
    """

    text: str
    vector: NDArray[np.float32]
    embed: Embed
    model: ChatModel | None = None
    at: float | None = None
    only_current: bool = True


@dataclass(frozen=True)
class Candidate:
    """Something that was retrieved.

    Args:
        kind: what it is.
        number: that of the graph, of a statement or an episode.
        score: by the method that found it; higher is better.
    """

    kind: Kind
    number: int
    score: float


EntityStage: TypeAlias = Callable[[QuestionInProgress], tuple[str, ...]]
MatchStage: TypeAlias = Callable[[QuestionInProgress, tuple[str, ...], RetrievalIndex], tuple[str, ...]]
RetrieveStage: TypeAlias = Callable[[QuestionInProgress, tuple[str, ...], RetrievalIndex], Scores]
FilterStage: TypeAlias = Callable[[QuestionInProgress, Sequence[Candidate], RetrievalIndex], Sequence[Candidate]]
AnswerStage: TypeAlias = Callable[[QuestionInProgress, Recall], Answer]


def no_entities(asked: QuestionInProgress) -> tuple[str, ...]:
    """None: the method itself looks for the objects that the question names word for word."""
    return ()


def entities_by_rule(asked: QuestionInProgress) -> tuple[str, ...]:
    """What :func:`worldthread.extract.prose.entities.entities` finds, each name once, in order of mention."""
    return tuple(dict.fromkeys(entity.name for entity in named_in(asked.text)))


class EntitiesReply(msgspec.Struct, forbid_unknown_fields=True):
    """What the model is asked to fill in."""

    entities: list[str]


def entities_by_model(asked: QuestionInProgress) -> tuple[str, ...]:
    """What the model finds, each name once.

    Raises:
        InputError: there is no model.
        AnswerError: the model's answer could not be used.
        ModelError: the model could not be asked.
    """
    if asked.model is None:
        raise InputError("entities by a model need a model; entities_by_rule needs none")
    messages = load_prompt("worldthread.bench.qa", "entities", PROMPT_VERSION).messages(question=asked.text)
    reply = complete_structured(asked.model, ChatRequest(messages, PURPOSE, schema_of(EntitiesReply)), EntitiesReply)
    return tuple(dict.fromkeys(name for found in reply.entities if (name := found.strip())))


@dataclass(frozen=True)
class NameMatcher:
    """Objects of the graph by name: the same name, else another grammatical number of it.

    Args:
        nearest: take the object whose name has the nearest vector for an entity that nothing is called like; the first
            time, all names are embedded. PersonalAI links by vectors alone.
    """

    nearest: bool = False

    def __call__(self, asked: QuestionInProgress, entities: tuple[str, ...], corpus: RetrievalIndex) -> tuple[str, ...]:
        """The names, normalised, in the order of the entities."""
        if not self.nearest or all(link((entity,), corpus) for entity in entities):
            return link(entities, corpus)
        for part in pending_names(corpus):
            corpus.put(part, asked.embed(part.texts))
        return link(entities, corpus, asked.embed)


@dataclass(frozen=True)
class Retriever:
    """A retrieval method, or a union of several, with settings.

    Methods that begin from objects of the graph begin from the matched ones; all others are told them beside those that
    the question names word for word. Where nothing was matched, a method looks for names itself.
    """

    way: RetrievalSpec = field(default_factory=RetrievalSpec)

    @property
    def name(self) -> str:
        """Short, for people."""
        return self.way.name

    def __call__(self, asked: QuestionInProgress, vertices: tuple[str, ...], corpus: RetrievalIndex) -> Scores:
        """Scores of every episode and statement."""
        matched = (corpus.names.find(name) for name in vertices)
        named = (*names_in(asked.text, corpus.names.find), *(number for number in matched if number is not None))
        query = Query(asked.text, asked.vector, tuple(dict.fromkeys(named)), asked.at, asked.only_current)
        return self.way.bound(vertices or None)(query, corpus)


def keep_all(asked: QuestionInProgress, found: Sequence[Candidate], corpus: RetrievalIndex) -> Sequence[Candidate]:
    """No filter."""
    return found


@dataclass(frozen=True)
class SimilarityFilter:
    """Keeps what is most like the question, of all kinds together (PersonalAI's Triples Filter).

    Args:
        count: how much is kept; 1 or more.

    Raises:
        InputError: the count is below 1.
    """

    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InputError(f"a filter keeps at least 1, not {self.count}")

    def __call__(
        self, asked: QuestionInProgress, found: Sequence[Candidate], corpus: RetrievalIndex
    ) -> Sequence[Candidate]:
        """At most :attr:`count`, in the order in which they were found."""
        if len(found) <= self.count:
            return found
        labels = np.array([-1 - c.number if c.kind == "episode" else c.number for c in found])
        order = np.argsort(-QuestionSimilarity(corpus, asked.vector).of(labels), kind="stable")
        return [found[place] for place in np.sort(order[: self.count])]


@dataclass(frozen=True)
class Answerer:
    """Answers with reasoning from as many hits as the prompt may hold: :func:`worldthread.answer.answer`.

    Args:
        max_tokens: what the statements may take of the prompt, estimated.
    """

    max_tokens: int = 3000

    def __call__(self, asked: QuestionInProgress, recall: Recall) -> Answer:
        """By the model, or the best statement without one.

        Raises:
            AnswerError: the model's answer could not be used.
            ModelError: the model could not be asked.
        """
        return answer_from(recall, asked.model, max_tokens=self.max_tokens)
