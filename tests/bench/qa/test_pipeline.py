"""The stages of question answering, one by one and together, on worlds whose right answers are plain to see."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from worldthread import Memory
from worldthread.caches import open_cache
from worldthread.errors import AnswerError, InputError
from worldthread.models.chat import ChatRequest
from worldthread.models.fake import FakeEmbedder
from worldthread.models.fake_chat import FakeChat
from worldthread.retrieve import Query, RetrievalIndex, Scores, methods
from worldthread.types import Episode, Extraction, Fact, Thesis
from worldthread_lab.bench.qa.fact_filter import FactFilter
from worldthread_lab.bench.qa.pipeline import AnsweredQuestion, Pipeline
from worldthread_lab.bench.qa.retrieval_spec import RetrievalSpec
from worldthread_lab.bench.qa.stage_cache import KIND, StageCache
from worldthread_lab.bench.qa.stages import (
    NameMatcher,
    QuestionInProgress,
    Retriever,
    SimilarityFilter,
    entities_by_model,
    entities_by_rule,
    no_entities,
)

EMBEDDER = FakeEmbedder()

FACTS = (
    ("Anna", "is married to", "Ben"),
    ("Ben", "works at", "Harbour Museum"),
    ("Harbour Museum", "stands in", "Oslo"),
    ("Clara", "owns", "red lockers"),
)


@pytest.fixture
def memory() -> Memory:
    memory = Memory(model="none", embedder=EMBEDDER)
    for turn, fact in enumerate(FACTS):
        text = " ".join(fact) + "."
        extraction = Extraction("by hand", (Fact(*fact), Thesis(text, (fact[0], fact[2]))))
        memory.record.add(Episode(text, turn, extraction=extraction))
    return memory


def asked(text: str, model: FakeChat | None = None) -> QuestionInProgress:
    return QuestionInProgress(text, EMBEDDER.embed([text])[0], EMBEDDER.embed, model)


def model(entities: list[str], answer: str | None = "Oslo") -> FakeChat:
    """Finds these entities, and gives this answer, citing the first statement."""

    def reply(request: ChatRequest) -> str:
        if request.purpose == "entities":
            return json.dumps({"entities": entities})
        return json.dumps({"reasoning": "It stands there.", "answer": answer, "sources": [1]})

    return FakeChat(reply)


def test_everything_that_led_to_an_answer_is_in_the_result(memory: Memory) -> None:
    chat = model(["Anna", "Oslo"])
    pipeline = Pipeline(EMBEDDER, chat, entities=entities_by_model, retrieve=Retriever(RetrievalSpec("astar")), k=20)
    result = pipeline.run(memory.record, "How does Anna hang together with Oslo?")
    assert (result.entities, result.vertices) == (("Anna", "Oslo"), ("anna", "oslo"))
    facts = {hit.item: hit.path for hit in result.hits if hit.kind == "fact"}
    assert set(facts) == {Fact(*fact) for fact in FACTS[:3]}, "what lies on the way, and nothing else"
    assert all(path[0] == "anna" and path[-1] == "oslo" for path in facts.values())
    assert (result.answer.text, result.answer.reasoning) == ("Oslo", "It stands there.")
    assert result.answer.sources == result.hits[:1]
    assert result.found == len(result.hits)
    assert result.answer.recall.method == "astar"
    assert result.totals.calls == 2
    assert result.totals.usage.prompt_tokens > 50
    assert result.seconds >= result.retrieve_seconds > 0
    assert [request.purpose for request in chat.requests] == ["entities", "answer"]


def test_that_there_is_no_answer_is_an_outcome(memory: Memory) -> None:
    result = Pipeline(EMBEDDER, model([], answer=None)).run(memory.record, "Who is Clara's aunt?")
    assert (result.answer.text, result.answer.sources) == (None, ())
    assert result.hits, "something was found, but it did not settle the question"


def test_without_a_model_the_best_statement_answers(memory: Memory) -> None:
    result = Pipeline(EMBEDDER).run(memory.record, "Who owns red lockers?")
    assert "Clara owns red lockers" in str(result.answer)
    assert result.totals.calls == 0


@pytest.mark.parametrize("method", methods())
def test_every_method_takes_part(memory: Memory, method: str) -> None:
    pipeline = Pipeline(EMBEDDER, retrieve=Retriever(RetrievalSpec(method)))
    result = pipeline.run(memory.record, "Who is married, Ben and Anna?")
    assert Fact(*FACTS[0]) in [hit.item for hit in result.hits]


def test_any_stage_may_be_replaced(memory: Memory) -> None:
    seen: list[int] = []

    def only_theses(asked: QuestionInProgress, found: object, corpus: object) -> list[object]:
        kept = [candidate for candidate in found if candidate.kind == "thesis"]  # type: ignore[attr-defined]
        seen.append(len(kept))
        return kept

    stages: dict[str, Callable[..., object]] = {"entities": lambda asked: ("ben",), "filter": only_theses}
    result = replace(Pipeline(EMBEDDER), **stages).run(memory.record, "Where does he work?")  # type: ignore[arg-type]
    assert result.vertices == ("ben",)
    assert {hit.kind for hit in result.hits} == {"thesis"}
    assert seen == [len(result.hits)]


def test_entities_are_found_by_rule_or_by_the_model_or_left_to_the_method(memory: Memory) -> None:
    question = "Does Ben work at the Harbour Museum in Oslo?"
    assert {"Ben", "Harbour Museum", "Oslo"} <= set(entities_by_rule(asked(question)))
    assert entities_by_model(asked(question, model([" Ben ", "Oslo", "Ben", ""]))) == ("Ben", "Oslo")
    assert no_entities(asked(question)) == ()
    with pytest.raises(InputError, match="needs a model"):
        entities_by_model(asked(question))
    with pytest.raises(AnswerError):
        entities_by_model(asked(question, FakeChat(["Ben and Oslo", "I said so: Ben"])))


def test_names_are_matched_by_themselves_then_by_number_then_by_their_vectors(memory: Memory) -> None:
    entities = ("ANNA", "red locker", "Harbor Museum")
    with memory.record.index() as corpus:
        assert NameMatcher()(asked("?"), entities, corpus) == ("anna", "red lockers")
        assert NameMatcher(nearest=True)(asked("?"), entities, corpus) == ("anna", "red lockers", "harbour museum")
        assert NameMatcher(nearest=True)(asked("?"), (), corpus) == ()


def test_the_filter_keeps_what_is_most_like_the_question_in_its_order(memory: Memory) -> None:
    question = "Who works at Harbour Museum?"
    everything = Pipeline(EMBEDDER, retrieve=Retriever(RetrievalSpec("dense")), k=20).run(memory.record, question)
    few = Pipeline(EMBEDDER, retrieve=Retriever(RetrievalSpec("dense")), k=20, filter=SimilarityFilter(3)).run(
        memory.record, question
    )
    assert (everything.found, few.found, len(few.hits)) == (12, 12, 3)
    vector = EMBEDDER.embed([question])[0]

    def likeness(text: str) -> float:
        return float(EMBEDDER.embed([text])[0] @ vector)

    def text(hit: object) -> str:
        item = hit.item  # type: ignore[attr-defined]
        return item.text if isinstance(item, Episode) else str(item)

    best = sorted(everything.hits, key=lambda hit: -likeness(text(hit)))[:3]
    assert set(map(text, few.hits)) == set(map(text, best))
    kinds = [hit.kind for hit in few.hits]
    assert kinds == sorted(kinds, key=("fact", "thesis", "episode").index)
    with pytest.raises(InputError, match="at least 1"):
        SimilarityFilter(0)


def test_settings_reach_a_method_by_name(memory: Memory) -> None:
    question = "What of Anna?"
    results = {
        kinds: Pipeline(EMBEDDER, retrieve=Retriever(RetrievalSpec("beam", {"vertices": kinds, "max_depth": 2})), k=50)
        for kinds in ("OTE", "OT", "OE")
    }
    found = {kinds: {hit.kind for hit in p.run(memory.record, question).hits} for kinds, p in results.items()}
    assert found["OTE"] == {"fact", "thesis", "episode"}
    assert "episode" not in found["OT"]
    assert "thesis" not in found["OE"]


def test_a_union_finds_what_any_part_finds(memory: Memory) -> None:
    def found(spec: RetrievalSpec) -> set[str]:
        pipeline = Pipeline(EMBEDDER, retrieve=Retriever(spec), k=50)
        return {hit.item.id for hit in pipeline.run(memory.record, "Anna, Oslo").hits}

    settings = {"vertices": "OT"}
    parts = [found(RetrievalSpec.parse(name, settings)) for name in ("beam", "astar")]
    union = RetrievalSpec.parse("beam + astar", settings)
    assert found(union) == parts[0] | parts[1]
    assert union.name == 'beam{"vertices": "OT"}+astar{"vertices": "OT"}'
    assert [part["settings"] for part in union.to_dict()["parts"]] == [settings, settings]


ANSWER = json.dumps({"reasoning": "It stands there.", "answer": "Oslo", "sources": [1]})
FILTERED = RetrievalSpec("pagerank", {"fact_filter": True})


@pytest.mark.parametrize("reply", [[1], [2, 1]])
def test_pagerank_walks_from_the_facts_that_a_model_keeps(memory: Memory, reply: list[int]) -> None:
    def reply_to(request: ChatRequest) -> str:
        if request.purpose == "fact filter":
            return json.dumps({"facts": reply})
        return ANSWER

    chat = FakeChat(reply_to)
    result = Pipeline(EMBEDDER, retrieve=Retriever(FILTERED), model=chat, k=50).run(memory.record, "Who is Anna?")
    request = next(each for each in chat.requests if each.purpose == "fact filter")
    assert "Who is Anna?" in request.messages[-1].content
    listed = [line.split(". ")[1] for line in request.messages[-1].content.splitlines() if " | " in line]
    assert sorted(listed) == sorted(" | ".join(fact) for fact in FACTS)
    kept = {listed[number - 1].replace(" | ", " ") for number in reply}
    assert {str(hit.item).replace(", ", " ") for hit in result.hits if hit.kind == "fact" and hit.path} == kept


def test_when_the_filter_keeps_no_fact_everything_is_ranked_by_similarity(memory: Memory) -> None:
    def found(spec: RetrievalSpec) -> list[tuple[str, float]]:
        chat = FakeChat(lambda request: json.dumps({"facts": []}) if request.purpose == "fact filter" else ANSWER)
        result = Pipeline(EMBEDDER, retrieve=Retriever(spec), model=chat, k=50).run(memory.record, "Who is Anna?")
        return [(hit.item.id, hit.score) for hit in result.hits]

    assert found(FILTERED) == found(RetrievalSpec("dense"))


def test_an_answer_of_the_filter_that_cannot_be_used_costs_no_facts() -> None:
    facts = [Fact(*each) for each in FACTS]
    query = Query("Who is Anna?", EMBEDDER.embed(["Who is Anna?"])[0])
    assert FactFilter(FakeChat(["no idea", "none at all"]))(query, facts) == facts
    assert FactFilter(FakeChat(['{"facts": [3, 99, -1]}']))(query, facts) == [facts[2]]
    assert FactFilter(FakeChat([]))(query, []) == []


def test_a_setting_that_needs_a_function_says_so() -> None:
    with pytest.raises(InputError, match="'fact_filter' needs a chat model: give one with --model"):
        FILTERED.bound(functions={"embed": EMBEDDER.embed})
    with pytest.raises(InputError, match="must be true or false, not 'yes'"):
        RetrievalSpec("pagerank", {"synonym_edges": "yes"}).bound()


def test_similar_names_are_joined_when_asked() -> None:
    memory = Memory(model="none", embedder=EMBEDDER)
    for turn, fact in enumerate((("Anna Maria Rossi", "lives in", "Oslo"), ("Anna Maria Rossi jr", "paints", "boats"))):
        memory.record.add(Episode(" ".join(fact), turn, extraction=Extraction("by hand", (Fact(*fact),))))
    scores = {}
    for wanted in (False, True):
        spec = RetrievalSpec("pagerank", {"synonym_edges": wanted, "synonyms": 0.5, "facts": 1, "episode_weight": 1e-9})
        result = Pipeline(EMBEDDER, retrieve=Retriever(spec), k=50).run(memory.record, "Who lives in Oslo?")
        scores[wanted] = {hit.item.text: hit.score for hit in result.hits if hit.kind == "episode"}
    other = "Anna Maria Rossi jr paints boats"
    assert scores[True][other] > scores[False].get(other, 0.0)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (RetrievalSpec("magic"), "no retrieval method"),
        (RetrievalSpec("beam", {"deepness": 3}), "deepness.*max_depth"),
        (RetrievalSpec("dense", {"depth": 3}), "it has: none"),
        (RetrievalSpec("beam", {"max_depth": 0}), "at least 1"),
    ],
)
def test_a_name_or_setting_that_is_unknown_is_reported(spec: RetrievalSpec, words: str) -> None:
    with pytest.raises(InputError, match=words):
        spec.bound()


def test_arguments_that_cannot_be_used_are_reported(memory: Memory) -> None:
    with pytest.raises(InputError, match="parts"):
        RetrievalSpec("beam", parts=(RetrievalSpec("astar"),))
    with pytest.raises(InputError, match="such as beam or"):
        RetrievalSpec.parse("beam+")
    with pytest.raises(InputError, match="must not be empty"):
        Pipeline(EMBEDDER).run(memory.record, "  ")
    with pytest.raises(InputError, match="k must"):
        Pipeline(EMBEDDER, k=0)
    with pytest.raises(InputError, match="kinds"):
        Pipeline(EMBEDDER, kinds=("rumour",))  # type: ignore[arg-type]


def test_a_moment_of_the_past_is_answered_as_it_was() -> None:
    with Memory(model="none", embedder=EMBEDDER) as memory:
        for turn, town in enumerate(("Rome", "Paris")):
            fact = Fact("Anna", "lives in", town, aspect="home of anna")
            memory.record.add(Episode(f"Anna lives in {town}.", turn, extraction=Extraction("by hand", (fact,))))
        pipeline = Pipeline(EMBEDDER, kinds=("fact",))
        question = "Where does Anna live?"
        now, then = (pipeline.run(memory.record, question, at=at).hits for at in (None, 0.5))
        assert [[str(hit.item) for hit in hits] for hits in (now, then)] == [
            ["Anna, lives in, Paris"],
            ["Anna, lives in, Rome"],
        ]
        assert len(pipeline.run(memory.record, question, only_current=False).hits) == 2


def test_stages_are_kept_for_one_state_of_a_memory(memory: Memory, tmp_path: Path) -> None:
    asked_stages: list[str] = []

    @dataclass(frozen=True)
    class Watched(Retriever):
        def __call__(self, question: QuestionInProgress, vertices: tuple[str, ...], index: RetrievalIndex) -> Scores:
            asked_stages.append(question.text)
            return super().__call__(question, vertices, index)

    with open_cache(f"sqlite:{tmp_path / 'stages'}", KIND) as cache:

        def run(question: str, k: int = 10) -> AnsweredQuestion:
            stages = StageCache(cache)  # as in another process
            return Pipeline(EMBEDDER, retrieve=Watched(RetrievalSpec("astar")), k=k, cache=stages).run(
                memory.record, question
            )

        first = run("How does Anna hang together with Oslo?")
        again = run("How does Anna hang together with Oslo?")
        assert asked_stages == ["How does Anna hang together with Oslo?"]
        assert first.hits
        assert (again.hits, again.vertices, again.found) == (first.hits, first.vertices, first.found)
        assert again.answer.recall == first.answer.recall
        run("How does Anna hang together with Oslo?", k=1)
        assert len(asked_stages) == 2
        memory.remember("Clara stands in Oslo.", at=9)
        changed = run("How does Anna hang together with Oslo?")
        assert len(asked_stages) == 3
        assert changed.found >= first.found
        for key in [key for (key,) in cache._connection.execute("SELECT key FROM entry")]:
            cache._connection.execute("UPDATE entry SET value = x'00' WHERE key = ?", (key,))
        run("How does Anna hang together with Oslo?")  # a damaged entry is none
        assert len(asked_stages) == 4
