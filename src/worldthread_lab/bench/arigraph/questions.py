"""Question answering as AriGraph does it (its Table 1): a graph for each question, searched for crucial items.

The passages that come with a question are read one after the other into a graph of its own, as the agent of the paper
reads its observations. A model names the *crucial items* of the question, each with a depth; the semantic search finds
triplets for each item to its depth (Algorithm 1), and the episodic search the passages that assert most of them
(equation 1). From both, the model answers. The prompts are ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from worldthread.errors import AnswerError, InputError
from worldthread.graph import TemporalGraph
from worldthread.models import Embedder
from worldthread.models.chat import ChatModel, ChatRequest, Message
from worldthread.models.meter import Meter
from worldthread.models.prompts import load_prompt
from worldthread.models.structured import complete_structured, schema_of
from worldthread.types import Episode, Extraction, Fact
from worldthread_lab.agents.memory_modules.index import EpisodeIndex
from worldthread_lab.arigraph.extractor import AriGraphExtractor
from worldthread_lab.bench.arigraph.log_texts import LoggedQuestion, read_lines
from worldthread_lab.bench.datasets import Dataset, Question
from worldthread_lab.bench.qa.dataset_memory import digest_of
from worldthread_lab.bench.qa.metrics import exact_match, f1
from worldthread_lab.bench.qa.results import Configuration, QuestionResults
from worldthread_lab.bench.qa.retrieval_spec import RetrievalSpec
from worldthread_lab.bench.qa.run import ask_each, price_of
from worldthread_lab.published.arigraph import episodic_relevance, search_for_items

WIDTH: Final = 6
"""Triplets that a query finds, as in the published code."""
PASSAGES: Final = 2
"""Passages that are recalled, as in the published logs."""
DEEPEST: Final = 3
"""Largest depth of an item; the published logs have none above."""
READING_TEMPERATURE: Final = 0.001
"""Temperature of extraction and of outdating; no source is recorded."""
PROMPTS: Final = ("question-items", "passage-triplets", "passage-replaced", "question-answer")
PROMPT_VERSION: Final = 1
PUBLISHED: Final[Mapping[str, Mapping[str, tuple[float, float]]]] = {
    "musique": {
        "BM25 (top 3)": (25.0, 31.1),
        "Ada-002 (top 3)": (24.5, 32.1),
        "GPT-4 full context": (33.5, 42.7),
        "ReadAgent (GPT-4)": (35.0, 45.1),
        "GraphReader (GPT-4)": (38.0, 47.4),
        "GraphRAG (GPT-4o-mini)": (40.0, 53.5),
        "HOLMES (GPT-4)": (48.0, 58.0),
        "AriGraph (GPT-4o-mini)": (23.0, 35.1),
        "AriGraph (LLaMA-3-70B)": (27.0, 36.7),
        "AriGraph (LLaMA-3-70B) + GPT-4": (28.5, 36.4),
        "AriGraph (GPT-4)": (37.0, 47.4),
        "GPT-4 + supporting facts": (45.0, 56.0),
    },
    "hotpotqa": {
        "BM25 (top 3)": (45.7, 58.5),
        "Ada-002 (top 3)": (45.0, 58.1),
        "GPT-4 full context": (53.0, 68.4),
        "ReadAgent (GPT-4)": (48.0, 62.0),
        "GraphReader (GPT-4)": (55.0, 70.0),
        "GraphRAG (GPT-4o-mini)": (58.7, 63.3),
        "HOLMES (GPT-4)": (66.0, 78.0),
        "AriGraph (GPT-4o-mini)": (50.9, 60.3),
        "AriGraph (LLaMA-3-70B)": (43.0, 51.8),
        "AriGraph (GPT-4)": (59.5, 69.9),
        "GPT-4 + supporting facts": (57.0, 73.8),
    },
}
"""Table 1 of the paper: exact match and F1 in percent, by data set and method; 200 questions each."""
_PACKAGE: Final = "worldthread_lab.bench.arigraph"


class CrucialItem(msgspec.Struct, forbid_unknown_fields=True):
    """A query for the graph, and to what depth it is searched."""

    name: str
    depth: Annotated[int, Meta(ge=1, le=DEEPEST)]


class CrucialItems(msgspec.Struct, forbid_unknown_fields=True):
    """What the model is asked to name."""

    items: Annotated[list[CrucialItem], Meta(max_length=12)]


class ReasonedAnswer(msgspec.Struct, forbid_unknown_fields=True):
    """What the model is asked to answer."""

    reasoning: str
    answer: str


@dataclass(frozen=True)
class FoundForQuestion:
    """What a graph holds for the items of a question.

    Args:
        triplets: the triplets found, in the order of items and levels.
        passages: the texts of the most relevant passages, in the order in which they were read.
    """

    triplets: tuple[Fact, ...]
    passages: tuple[str, ...]


class PassageGraph:
    """The graph of the passages of one question, with the two searches of the paper.

    Args:
        embedder: embeds triplets and queries.
        extractor: reads passages; ``None`` when all triplets are given.
        width: triplets that a query finds, at least 1.
        passages: passages that are recalled, at least 0.
        outdates: whether the extractor is asked which triplets a passage replaces.
    """

    def __init__(
        self,
        embedder: Embedder,
        extractor: AriGraphExtractor | None = None,
        *,
        width: int = WIDTH,
        passages: int = PASSAGES,
        outdates: bool = True,
    ) -> None:
        self.graph = TemporalGraph()
        self.problems = 0
        """Answers about passages that could be read only in part."""
        self._extractor = extractor
        self._width = width
        self._passages = passages
        self._outdates = outdates
        self._index = EpisodeIndex(self.graph, embedder)
        self._read: list[tuple[str, frozenset[Fact]]] = []

    def read(self, text: str) -> None:
        """Let the model extract the triplets of a passage, and say which known ones they replace."""
        assert self._extractor is not None
        extraction = self._extractor.extract(text)
        if self._outdates:
            extraction = self._extractor.outdate(text, extraction, self.graph.view())
        self.problems += bool(extraction.failures)
        self.add(text, extraction)

    def add(self, text: str, extraction: Extraction) -> None:
        """Add a passage with its triplets."""
        episode = Episode(text.strip() or "(nothing)", float(len(self._read)), f"passage {len(self._read)}", extraction)
        self._index.keep(episode)
        self.graph.add(episode)
        stated = frozenset(fact for fact in extraction.statements if isinstance(fact, Fact))
        self._read.append((episode.text, stated))

    def search(self, items: Mapping[str, int]) -> FoundForQuestion:
        """Search for items, each to a depth of its own."""
        queries: dict[str, int] = {}
        for name, depth in items.items():  # of one name in two writings, the deeper search
            query = name.strip().lower()
            if query:
                queries[query] = max(depth, queries.get(query, 0))
        numbers = search_for_items(queries, self._index.retrieval_index(), self._index.embedder.embed, self._width)
        found = [self.graph.numbered_statement(number) for number in numbers]
        triplets = tuple(fact for fact in found if isinstance(fact, Fact))
        scored = [
            (episodic_relevance(n, len(stated)), -number)
            for number, (_, stated) in enumerate(self._read)
            if (n := len(stated.intersection(triplets)))
        ]
        best = sorted(-number for _, number in sorted(scored, reverse=True)[: self._passages])
        return FoundForQuestion(triplets, tuple(self._read[number][0] for number in best))


class QuestionReader:
    """Answers questions with a chat model, each from a graph of its own.

    Args:
        model: reads the passages, names the items, and answers.
        embedder: embeds triplets and queries.
        width: triplets that a query finds, at least 1.
        passages: passages that are recalled; 0 leaves out the episodic memory.
        outdates: whether the model is asked which triplets a passage replaces, as in the games of the paper; its public
            code for questions leaves that out.

    Raises:
        InputError: a number is too small.
    """

    def __init__(
        self,
        model: ChatModel,
        embedder: Embedder,
        *,
        width: int = WIDTH,
        passages: int = PASSAGES,
        outdates: bool = True,
    ) -> None:
        if width < 1 or passages < 0:
            raise InputError(f"width must be at least 1 and passages at least 0, not {width} and {passages}")
        self.model = model
        self.embedder = embedder
        self.width = width
        self.passages = passages
        self.outdates = outdates

    def configuration(self, dataset: Dataset, release: str) -> Configuration:
        """Return the configuration of a measurement on a data set."""
        return Configuration(
            dataset=dataset.name,
            version=dataset.version,
            passages=digest_of(dataset),
            triples="model" if self.outdates else "model, nothing replaced",
            reader=self.model.name,
            embedder=self.embedder.name,
            way=RetrievalSpec("arigraph", {"width": self.width}),
            entities="items",
            nearest=True,
            k=self.width,
            top=self.passages,
            only_current=True,
            max_tokens=0,
            model=self.model.name,
            judge="",
            prompts=tuple(load_prompt(_PACKAGE, name, PROMPT_VERSION).id for name in PROMPTS),
            release=release,
        )

    def record(self, dataset: Dataset, question: Question) -> dict[str, Any]:
        """Answer one question and return its record, ready for JSON.

        Args:
            dataset: holds the passages of the question.
            question: the question.

        Returns:
            The answer, its scores, the items, the triplets and what it cost.

        Raises:
            ModelError: a call to the model failed.
        """
        meter = Meter(self.model)
        start = time.perf_counter()
        graph = PassageGraph(
            self.embedder, _extractor(meter), width=self.width, passages=self.passages, outdates=self.outdates
        )
        for passage in passages_of(dataset, question):
            graph.read(passage)
        items: dict[str, int] = {}
        found = FoundForQuestion((), ())
        text: str | None = None
        problem: str | None = None
        reasoning = ""
        retrieving = 0.0
        try:
            items = crucial_items(meter, question.text)
            before = time.perf_counter()
            found = graph.search(items)
            retrieving = time.perf_counter() - before
            reply = _answered(meter, question.text, found)
            text, reasoning = reply.answer.strip() or None, reply.reasoning
        except AnswerError as error:
            problem = str(error)
        totals = meter.overall()
        price = price_of(self.model)
        return {
            "answer": text,
            "problem": problem,
            "exact": exact_match(text or "", question.answers, dataset.script),
            "f1": round(f1(text or "", question.answers, dataset.script), 5),
            "exact_personalai": exact_match(text or "", question.answers, "personalai"),
            "reasoning": reasoning,
            "items": items,
            "triplets": [str(fact) for fact in found.triplets],
            "passages": list(found.passages),
            "facts": len(graph.graph.view().facts()),
            "unread": graph.problems,
            "seconds": round(time.perf_counter() - start, 4),
            "retrieve_seconds": round(retrieving, 5),
            "calls": totals.calls,
            "reused": totals.reused,
            "prompt_tokens": totals.usage.prompt_tokens,
            "completion_tokens": totals.usage.completion_tokens,
            "dollars": None if price is None else price.dollars(totals.usage),
        }

    def measure(
        self,
        dataset: Dataset,
        questions: Sequence[Question],
        results: QuestionResults,
        release: str,
        on_done: Callable[[Question, str | None], None],
    ) -> dict[str, str]:
        """Answer the questions that have no record yet.

        Args:
            dataset: holds the passages.
            questions: the questions.
            results: receives the records.
            release: version of worldthread.
            on_done: called with every finished question and the reason why it is not recorded, else ``None``.

        Returns:
            Reasons why questions were asked and not recorded, by id of the question.

        Raises:
            InputError: a question comes without passages of its own.
        """
        configuration = self.configuration(dataset, release)
        known = results.records(configuration)
        waiting = [question for question in questions if question.id not in known]
        for question in waiting:
            passages_of(dataset, question)
        return ask_each(
            partial(self.record, dataset),
            waiting,
            self.model.concurrency,
            lambda question, record: results.add(configuration, question.id, record),
            on_done,
        )


def passages_of(dataset: Dataset, question: Question) -> list[str]:
    """Return the texts of the passages that come with a question, in the order of the data set.

    Args:
        dataset: the data set.
        question: one of its questions.

    Returns:
        The texts with their titles.

    Raises:
        InputError: the question comes without passages of its own.
    """
    own = set(question.context_ids)
    if not own:
        raise InputError(
            f"the questions of {dataset.name} have no passages of their own; musique, hotpotqa and 2wikimultihopqa have"
        )
    return [passage.full_text for passage in dataset.passages if passage.id in own]


def crucial_items(model: ChatModel, question: str) -> dict[str, int]:
    """Ask the model for what the graph is searched for.

    Args:
        model: the chat model.
        question: the question in words.

    Returns:
        The depth of the search by item.

    Raises:
        AnswerError: the answer could not be used.
        ModelError: the call to the model failed.
    """
    messages = _prompt("question-items", question=question)
    reply = complete_structured(model, ChatRequest(messages, "items", schema_of(CrucialItems)), CrucialItems)
    return {item.name: item.depth for item in reply.items if item.name.strip()}


def _answered(model: ChatModel, question: str, found: FoundForQuestion) -> ReasonedAnswer:
    messages = _prompt(
        "question-answer",
        triplets="\n".join(map(str, found.triplets)) or "(none)",
        passages="\n\n".join(found.passages) or "(none)",
        question=question,
    )
    return complete_structured(model, ChatRequest(messages, "answer", schema_of(ReasonedAnswer)), ReasonedAnswer)


def _extractor(model: ChatModel) -> AriGraphExtractor:
    """Return an extractor that asks the model; the triplets of one passage are the example for the next."""
    example = "(none so far)"

    def ask(purpose: str, messages: tuple[Message, ...]) -> str:
        return model.complete(ChatRequest(messages, purpose, temperature=READING_TEMPERATURE)).text

    def ask_triplets(text: str) -> str:
        nonlocal example
        answer = ask("extract", _prompt("passage-triplets", example=example, passage=text))
        example = answer.strip()[:_EXAMPLE] or example
        return answer

    def ask_outdated(known: Sequence[Fact], new: Sequence[Fact]) -> str:
        if not known or not new:
            return "[]"
        return ask("outdated", _prompt("passage-replaced", known=_quoted(known), new=_quoted(new)))

    return AriGraphExtractor(ask_triplets, ask_outdated)


_EXAMPLE: Final = 600
"""Characters of the example of triplets in a prompt, at most; chosen by hand."""


def _quoted(facts: Iterable[Fact]) -> str:
    return "; ".join(f'"{fact}"' for fact in facts)


def _prompt(name: str, **values: str) -> tuple[Message, ...]:
    return load_prompt(_PACKAGE, name, PROMPT_VERSION).messages(**values)


@dataclass(frozen=True)
class LogFigures:
    """What the published logs hold, scored here, and what our search finds in the logged graphs.

    Args:
        questions: questions that were answered; aborted ones are left out.
        exact: share of exact matches, by the script of MuSiQue.
        f1: mean F1, by the same.
        same: questions whose text is one of those asked here.
        same_exact: share of exact matches among them; ``None`` without any.
        same_f1: mean F1 among them.
        searched: questions whose logged triplets were searched for the logged items.
        published: mean number of triplets that the published search found.
        ours: mean number of triplets that our search finds.
        shared: mean share of the published triplets that ours finds too.
    """

    questions: int
    exact: float
    f1: float
    same: int
    same_exact: float | None
    same_f1: float | None
    searched: int
    published: float
    ours: float
    shared: float


def log_figures(folder: Path, asked: Iterable[Question], embedder: Embedder, limit: int | None = None) -> LogFigures:
    """Score the published answers again, and search the logged graphs for the logged items.

    The published code searches with Contriever and leaves out triplets of a similarity below .75; ours searches with
    ``embedder`` and has no threshold, as the paper.

    Args:
        folder: the folder of the logs.
        asked: the questions that are asked here.
        embedder: embeds triplets and items.
        limit: search the graphs of the first so many questions only; ``None``: of all.

    Returns:
        The figures.

    Raises:
        InputError: the folder holds no logs of answered questions.
        FormatError: a line cannot be decoded.
    """
    rows = [row for row in read_lines(folder, LoggedQuestion) if row.predicted is not None and not row.aborted]
    if not rows:
        raise InputError(f"the logs in {folder} hold no answered question")
    pairs = [(row.predicted or "", [row.answer or ""]) for row in rows]
    scores = [(exact_match(*pair), f1(*pair)) for pair in pairs]
    texts = {question.text for question in asked}
    same = [score for row, score in zip(rows, scores, strict=True) if row.question in texts]
    found = []
    for row in rows[:limit]:
        if not row.crucial_items or not row.retrieved_triplets:
            continue
        graph = PassageGraph(embedder)
        for number, triplets in enumerate(row.passages_triplets):
            graph.add(f"passage {number}", Extraction("log", tuple(_facts(triplets))))
        ours = {fact.key for fact in graph.search(row.crucial_items).triplets}
        theirs = {fact.key for fact in _facts(text.split(", ", 2) for text in row.retrieved_triplets)}
        found.append((len(theirs), len(ours), len(ours & theirs) / max(len(theirs), 1)))
    return LogFigures(
        len(rows),
        _mean(float(exact) for exact, _ in scores),
        _mean(value for _, value in scores),
        len(same),
        _mean(float(exact) for exact, _ in same) if same else None,
        _mean(value for _, value in same) if same else None,
        len(found),
        _mean(float(theirs) for theirs, _, _ in found),
        _mean(float(ours) for _, ours, _ in found),
        _mean(shared for _, _, shared in found),
    )


def _facts(triplets: Iterable[Sequence[str]]) -> Iterable[Fact]:
    """Yield logged triplets that are facts; a few have an empty name or too few parts."""
    for triplet in triplets:
        try:
            subject, relation, object_ = triplet
            yield Fact(subject, relation, object_)
        except (InputError, ValueError):
            continue


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
