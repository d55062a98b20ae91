"""The stages of question answering, each a replaceable callable (PersonalAI, section III.C).

========== =============================================== ====================================================
stage      input                                           output
========== =============================================== ====================================================
entities   the question                                    names of its entities
match      these names, the index                          names of objects of the graph
retrieve   these objects, the index                        scores of all statements and episodes
filter     the best candidates, the index                  the candidates to keep
answer     the kept candidates, as hits                    an answer with its sources, or none
========== =============================================== ====================================================

``match``, ``retrieve`` and ``filter`` run while the memory is locked against changes, so they should not wait for a
model; the other stages may.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from worldthread.answering.answer import Answer, AnswerContext
from worldthread.answering.answer import answer as answer_from
from worldthread.errors import InputError
from worldthread.extract.prose.entities import entities as prose_entities
from worldthread.models.chat import ChatModel, ChatRequest
from worldthread.models.prompts import load_prompt
from worldthread.models.structured import complete_structured, schema_of
from worldthread.retrieve.index import RetrievalIndex
from worldthread.retrieve.query import Query, Scores, names_in
from worldthread.retrieve.text import shown_hit
from worldthread.retrieve.words import content_words
from worldthread.types import Kind, Recall
from worldthread_lab.bench.qa.fact_filter import FactFilter
from worldthread_lab.bench.qa.retrieval_spec import RetrievalSpec
from worldthread_lab.published.linking import Embed, link, pending_names
from worldthread_lab.published.paths import QuestionSimilarity

PURPOSE: Final = "entities"
PROMPT_VERSION: Final = 1


@dataclass(frozen=True)
class QuestionInProgress:
    """A question on its way through the stages.

    Args:
        text: text of the question.
        vector: its embedding, shape (dimensions,).
        embed: embeds texts with the embedder of the index.
        model: chat model for the stages that need one; ``None`` without one.
        at: world time that the question asks about; ``None`` for now.
        only_current: whether to leave out what does not hold at that time.
        look_up: retrieves for another query, through the same stages; ``None`` where nothing can be looked up.
    """

    text: str
    vector: NDArray[np.float32]
    embed: Embed
    model: ChatModel | None = None
    at: float | None = None
    only_current: bool = True
    look_up: Callable[[str], Recall] | None = None


@dataclass(frozen=True)
class Candidate:
    """A retrieved statement or episode.

    Args:
        kind: fact, thesis or episode.
        number: number of the statement or episode in the graph.
        score: score by the method that found it; higher is better.
    """

    kind: Kind
    number: int
    score: float


EntityStage: TypeAlias = Callable[[QuestionInProgress], tuple[str, ...]]
MatchStage: TypeAlias = Callable[[QuestionInProgress, tuple[str, ...], RetrievalIndex], tuple[str, ...]]
RetrieveStage: TypeAlias = Callable[[QuestionInProgress, tuple[str, ...], RetrievalIndex], Scores]
FilterStage: TypeAlias = Callable[[QuestionInProgress, Sequence[Candidate], RetrievalIndex], Sequence[Candidate]]
AnswerStage: TypeAlias = Callable[[QuestionInProgress, Recall], Answer]


def no_entities(question: QuestionInProgress) -> tuple[str, ...]:
    """Return no entities: the retrieval method itself finds the objects that the question names verbatim."""
    return ()


def entities_by_rule(question: QuestionInProgress) -> tuple[str, ...]:
    """Return the names that :func:`~worldthread.extract.prose.entities.entities` finds, each once, in order."""
    return tuple(dict.fromkeys(entity.name for entity in prose_entities(question.text)))


class EntitiesReply(msgspec.Struct, forbid_unknown_fields=True):
    """What the model is asked to fill in."""

    entities: Annotated[list[str], msgspec.Meta(max_length=16)]


def entities_by_model(question: QuestionInProgress) -> tuple[str, ...]:
    """Ask the model for the entities of the question.

    Args:
        question: the question, with a model.

    Returns:
        Names of the entities, without duplicates.

    Raises:
        InputError: there is no model.
        AnswerError: the model's answer could not be used.
        ModelError: the call to the model failed.
    """
    if question.model is None:
        raise InputError("entities_by_model needs a model: give one, or use entities_by_rule")
    messages = load_prompt("worldthread_lab.bench.qa", "entities", PROMPT_VERSION).messages(question=question.text)
    reply = complete_structured(question.model, ChatRequest(messages, PURPOSE, schema_of(EntitiesReply)), EntitiesReply)
    return tuple(dict.fromkeys(name for found in reply.entities if (name := found.strip())))


@dataclass(frozen=True)
class NameMatcher:
    """Matches entities to objects of the graph with the same name, else with the singular or plural of the name.

    Args:
        nearest: whether an entity without such an object is matched to the object whose name has the nearest vector;
            the first call then embeds all names. PersonalAI matches by vectors only.
    """

    nearest: bool = False

    def __call__(
        self, question: QuestionInProgress, entities: tuple[str, ...], index: RetrievalIndex
    ) -> tuple[str, ...]:
        """Return the normalised names of the matched objects, in the order of the entities."""
        if not self.nearest or all(link((entity,), index) for entity in entities):
            return link(entities, index)
        for part in pending_names(index):
            index.put(part, question.embed(part.texts))
        return link(entities, index, question.embed)


@dataclass(frozen=True)
class Retriever:
    """Retrieves with a method, or a union of several, with settings.

    Methods that start at objects of the graph start at the matched objects; other methods receive them together with
    the objects that the question names verbatim. If nothing is matched, a method finds names itself.

    Args:
        spec: the method.
    """

    spec: RetrievalSpec = field(default_factory=RetrievalSpec)

    @property
    def name(self) -> str:
        """Short display name of the method."""
        return self.spec.name

    def __call__(self, question: QuestionInProgress, vertices: tuple[str, ...], index: RetrievalIndex) -> Scores:
        """Return the scores of all episodes and statements."""
        matched = (index.find(name) for name in vertices)
        named = (*names_in(question.text, index.find), *(number for number in matched if number is not None))
        query = Query(question.text, question.vector, tuple(dict.fromkeys(named)), question.at, question.only_current)
        functions: dict[str, Callable[..., Any]] = {"embed": question.embed}
        if question.model is not None:
            functions["keep"] = FactFilter(question.model)
        return self.spec.bound(vertices or None, functions)(query, index)


def keep_all(question: QuestionInProgress, found: Sequence[Candidate], index: RetrievalIndex) -> Sequence[Candidate]:
    """Return all candidates."""
    return found


@dataclass(frozen=True)
class SimilarityFilter:
    """Keeps the candidates most similar to the question, over all kinds (PersonalAI's Triples Filter).

    Args:
        count: number of candidates to keep; 1 or more.

    Raises:
        InputError: the count is below 1.
    """

    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InputError(f"a filter must keep at least 1 candidate, not {self.count}")

    def __call__(
        self, question: QuestionInProgress, found: Sequence[Candidate], index: RetrievalIndex
    ) -> Sequence[Candidate]:
        """Return at most :attr:`count` candidates, in their original order."""
        if len(found) <= self.count:
            return found
        labels = np.array([-1 - c.number if c.kind == "episode" else c.number for c in found])
        order = np.argsort(-QuestionSimilarity(index, question.vector).of(labels), kind="stable")
        return [found[place] for place in np.sort(order[: self.count])]


@dataclass(frozen=True)
class Answerer:
    """Answers with reasoning from as many hits as fit into the prompt, see :func:`worldthread.answering.answer.answer`.

    Args:
        max_tokens: the most tokens that the statements take in the prompt, as an estimate.
        look_ups: how often the model may name what to look up, instead of an answer.
    """

    max_tokens: int = 3000
    look_ups: int = 2

    def __call__(self, question: QuestionInProgress, recall: Recall) -> Answer:
        """Answer a question.

        Args:
            question: the question.
            recall: what the memory recalls for it.

        Returns:
            The model's answer, or the best statement without a model.

        Raises:
            AnswerError: the model's answer could not be used.
            ModelError: the call to the model failed.
        """
        if question.model is None:
            return _best_match(recall)
        context = AnswerContext(question.look_up, self.look_ups, question.at)
        return answer_from(recall, question.model, max_tokens=self.max_tokens, context=context)


def _best_match(recall: Recall) -> Answer:
    """Return the best statement, else the best passage, of those that share an object or a word with the question."""
    asked = content_words(recall.query)
    fitting = [hit for hit in recall.hits if hit.path or asked & content_words(shown_hit(hit))]
    if not fitting:
        return Answer(recall.query, None, (), "", recall)
    found = max(fitting, key=lambda hit: (hit.kind != "episode", hit.score))
    return Answer(recall.query, shown_hit(found), (found,), "", recall)
