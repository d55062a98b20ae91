"""Answers of a model: what it is shown, what it may look up, and what is computed from its dates.

The answers are written by hand after those that a strong model gave.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from worldthread import Ending, Episode, Extraction, Fact, Filter, Memory, Thesis
from worldthread.answering.answer import AnswerContext, answer
from worldthread.answering.computed import DatedEvidence, Operation, compute
from worldthread.answering.quotations import Spot, listed_quotations, quotations, stands_alone
from worldthread.errors import ReplayError
from worldthread.models.chat import ChatModel, ChatRequest
from worldthread.models.chat_cache import CachedChat, answers_in_file
from worldthread.models.fake_chat import FakeChat
from worldthread.models.recording import RecordingChat, ReplayChat
from worldthread.types import FOREVER, Hit, Interval, Recall, Version


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def reply(text: str | None, *sources: int, look_up: tuple[str, ...] = (), support: str = "stated") -> str:
    given = {"reasoning": "so", "answer": text, "support": support, "sources": list(sources), "look_up": list(look_up)}
    return json.dumps(given)


def passage(text: str, at: float = 0.0, source: str = "") -> Hit:
    return Hit(Episode(text, at, source), 1.0, "episode")


def statement(item: Fact | Thesis, *sources: str, begin: float = 0.0, end: float = FOREVER) -> Hit:
    version = Version(item, Interval(begin, end), sources, "e" if end < FOREVER else None)
    return Hit(item, 1.0, "fact" if isinstance(item, Fact) else "thesis", (), version)


def shown(request: ChatRequest) -> str:
    return request.messages[-1].content


SISTER = passage("Lana Wood is the younger sister of Natalie Wood.", source="2")
FILM = passage("Susan Walker was played by Natalie Wood.", source="1")
FLAT = passage("Natalie Wood lived in Beverly Hills.", source="3")


def test_a_missing_link_is_looked_up_before_the_answer() -> None:
    asked: list[str] = []

    def look_up(query: str) -> Recall:
        asked.append(query)
        return Recall(query, (FILM, SISTER))

    model = FakeChat([reply(None, 1, look_up=("sibling of Natalie Wood",)), reply("Lana Wood", 1, 2)])
    question = "Who is the sibling of the actress who played Susan Walker?"
    found = answer(Recall(question, (FILM,)), model, max_tokens=1000, context=AnswerContext(look_up))
    assert asked == ["sibling of Natalie Wood"]
    assert (found.text, found.sources) == ("Lana Wood", (FILM, SISTER))
    assert found.recall.hits == (FILM, SISTER)
    first, second = model.requests
    assert "up to two short searches" in first.messages[0].content
    assert "1. Susan Walker was" in shown(first)
    assert "1. Susan Walker was" in shown(second)
    assert "2. Lana Wood is" in shown(second)
    assert "Searched" not in shown(first)
    assert "Searched: sibling of Natalie Wood. New: 2.\n" in shown(second)


@pytest.mark.parametrize(
    ("look_ups", "results", "calls"),
    [
        (2, ((SISTER,), (FLAT,), ()), 3),
        (2, ((FILM,),), 1),  # nothing new is found
        (1, ((SISTER,),), 2),
        (0, (), 1),
    ],
)
def test_look_ups_are_limited_and_the_model_can_refuse(
    look_ups: int, results: tuple[tuple[Hit, ...], ...], calls: int
) -> None:
    found = iter(results)
    model = FakeChat(lambda request: reply(None, look_up=("Natalie Wood",)))
    context = AnswerContext(lambda query: Recall(query, next(found)), look_ups)
    refused = answer(Recall("Who is it?", (FILM,)), model, max_tokens=1000, context=context)
    assert (refused.text, refused.sources) == (None, ())
    assert len(model.requests) == calls
    assert ("nothing more can be looked up" in model.requests[-1].messages[0].content) == (calls > look_ups)


def test_without_a_look_up_there_is_one_call_and_odd_queries_are_left_out() -> None:
    model = FakeChat(lambda request: reply(None, look_up=("x",)))
    assert answer(Recall("Who?", (FILM,)), model, max_tokens=1000).text is None
    assert len(model.requests) == 1
    asked: list[str] = []
    queries = ("", "Who?", "a\x00b", "first", "second", "third")

    def look_up(query: str) -> Recall:
        asked.append(query)
        return Recall(query)

    model = FakeChat(lambda request: reply(None, look_up=queries))
    answer(Recall("Who?", (FILM,)), model, max_tokens=1000, context=AnswerContext(look_up))
    assert asked == ["first", "second"]


def lines(question: str, *hits: Hit, **more: Any) -> list[str]:
    return listed_quotations(quotations(question, hits, max_tokens=1000, **more))[1].splitlines()


def test_passages_come_first_and_repetitions_dependent_sentences_and_unfitting_facts_are_left_out() -> None:
    told = passage("Mountrail County\nIts seat is Stanley. It was founded in 1909.", source="8")
    hits = (
        statement(Fact("Delaware Bridge", "is", "bridge")),
        statement(Fact("Minot", "is seat of", "Ward County")),
        statement(Thesis("Its seat is Stanley.")),
        statement(Thesis("It lies on a river.")),
        statement(Thesis("Gale Benson (nee Plugge;")),
        statement(Thesis("Ward County lies in North Dakota.")),
        told,
    )
    assert lines("What is the seat of the county?", *hits) == [
        "1. Mountrail County",
        "    Its seat is Stanley. It was founded in 1909.",
        "2. Ward County lies in North Dakota.",
        "3. Minot is seat of Ward County",
    ]


def test_facts_of_a_shown_passage_are_left_out_unless_they_have_times_of_their_own() -> None:
    told = passage("Anna works for Barco from June.", day("2024-05-20"))
    assert isinstance(told.item, Episode)
    lasting = statement(Fact("Anna", "works for", "Barco"), told.item.id, begin=day("2024-05-20"))
    stated = Fact("Anna", "works for", "Barco", valid_from=day("2024-06-01"))
    dated = statement(stated, told.item.id, begin=day("2024-06-01"))
    over = statement(Fact("Anna", "worked for", "Delvaux"), "x", begin=day("2020-01-01"), end=day("2024-06-01"))
    assert lines("Who does Anna work for?", lasting, told) == ["1. (2024-05-20) Anna works for Barco from June."]
    assert lines("Who does Anna work for?", dated, over, told)[1:] == [
        "2. Anna works for Barco (from 2024-06-01)",
        "3. Anna worked for Delvaux (known since 2020-01-01, true until 2024-06-01)",
    ]


def test_facts_alone_are_shown_even_if_none_fits() -> None:
    assert lines("Is it far?", statement(Fact("Ida", "likes", "tea"))) == ["1. Ida likes tea"]


def test_a_long_passage_leaves_room_and_the_limit_holds() -> None:
    long, fact = passage("word " * 1000), statement(Fact("Ida", "lives in", "Graz"))
    found = quotations("Where does Ida live?", [fact, long, passage("Ida. " * 100)], max_tokens=300)
    assert [one.hit for one in found] == [long], "the first is shown whatever its length"
    short = passage("Ida is in Graz.")
    found = quotations("Where does Ida live?", [fact, short, long], max_tokens=300)
    assert [one.hit for one in found] == [short, fact]


def said(number: int, text: str, at: str = "2024-05-15", speaker: str = "Ida") -> Episode:
    return Episode(f"{speaker}: {text}", day(at) + number / 1000, speaker=speaker)


def test_talk_is_shown_by_its_days_in_order_a_question_with_its_answer() -> None:
    turns = [
        said(0, "Good morning everybody, the sun is up."),
        said(1, "Which town did you move to?"),
        said(2, "Ghent.", speaker="Tom"),
        said(3, "The weather has been cold all week there."),
        said(4, "I have bought a wooden boat from an old sailor.", speaker="Tom"),
        said(5, "Where is the boat moored now?", at="2024-06-02"),
        said(6, "In the harbour of Ostend, beside the lighthouse.", at="2024-06-02", speaker="Tom"),
    ]

    def around(message: Episode) -> Spot:
        place = turns.index(message)
        first = 0 if place < 5 else 5
        before = turns[place - 1] if place > first else None
        after = turns[place + 1] if place + 1 < len(turns) and place != 4 else None
        return Spot(first, place, before, after)

    hits = [Hit(turns[place], 1.0, "episode") for place in (5, 2, 4)]
    thesis, dull = (
        statement(Thesis("Tom: I have bought a wooden boat from an old sailor.")),
        statement(Fact("Tom", "likes", "tea")),
    )
    fitting = statement(Fact("Tom", "has boat", "Gull"))
    assert lines("What boat does Tom have?", *hits, thesis, dull, fitting, around=around) == [
        "1. Tom has boat Gull (known since 0)",
        "-- Wednesday, 2024-05-15 --",
        "2. Ida: Which town did you move to?",
        "3. Tom: Ghent.",
        "...",
        "4. Tom: I have bought a wooden boat from an old sailor.",
        "-- Sunday, 2024-06-02 --",
        "5. Ida: Where is the boat moored now?",
        "6. Tom: In the harbour of Ostend, beside the lighthouse.",
    ]


def test_of_a_long_turn_what_has_words_of_the_question_is_shown() -> None:
    text = " ".join(f"Step {number} is to stir the pot well and wait." for number in range(40))
    turn = said(0, f"Here is how. {text} Add saffron at the end. {text}")
    (line,) = lines("When do I add the saffron?", Hit(turn, 1.0, "episode"))[1:]
    assert line.startswith("1. Ida: Here is how.")
    assert "[...] Add saffron at the end." in line
    assert len(line) < 900


def test_a_memory_shows_a_turn_with_what_it_answers_but_nothing_that_was_not_asked_for() -> None:
    talk = [{"speaker": "Ida", "content": "Which town?"}, {"speaker": "Tom", "content": "Ghent."}]
    with memory_with([reply("Ghent", 1)] * 2, day("2025-02-03")) as memory:
        for message in talk:
            memory.record.add(said(talk.index(message), message["content"], speaker=message["speaker"]))
        memory.ask("Ghent?")
        memory.ask("Ghent?", where=Filter(speaker="Tom"))
        model = memory._models.model
    assert isinstance(model, FakeChat)
    whole, alone = map(shown, model.requests)
    assert "1. Ida: Which town?\n2. Tom: Ghent." in whole
    assert "Ida" not in alone


@pytest.mark.parametrize(
    ("sentence", "whole"),
    [
        ("Anna lives in Rome.", True),
        ("1984 is a novel.", True),
        ("It lies in Rome.", False),
        ("His brother is Tom.", False),
        ("located near Hibbing.", False),
        ("Gale Ann Benson (nee Plugge;", False),
        ("Er wohnt in Rom.", False),
        ("...", False),
    ],
)
def test_sentences_that_can_be_understood_alone(sentence: str, whole: bool) -> None:
    assert stands_alone(sentence) == whole


def memory_with(answers: list[str] | Callable[[ChatRequest], str], now: float) -> Memory:
    return Memory(model=FakeChat(answers), embedder="fake", clock=lambda: now)


def test_what_is_no_longer_true_is_marked_and_today_is_known() -> None:
    wrong, sold = Fact("Voltaris", "employs", "1,200 people"), Fact("Voltaris", "is owned by", "Nordvik")
    old = Episode("Voltaris employs 1,200 people and is owned by Nordvik.", day("2024-03-04"), extraction=Extraction(
        "t", (wrong, sold, Fact("Voltaris", "has its seat in", "Leipzig"))
    ))  # fmt: skip
    new = Episode("Voltaris was sold.", day("2024-09-02"), extraction=Extraction(
        "t", (Fact("Voltaris", "employs", "850 people"),),
        (Ending(wrong, "it is 850", never=True), Ending(sold, "sold", day("2024-09-01"))),
    ))  # fmt: skip
    with memory_with([reply("850", 1)] * 2, day("2025-02-03")) as memory:
        memory.record.add(old)
        memory.record.add(new)
        memory.ask("How big is Voltaris now?")
        memory.ask("How big is Voltaris now?", as_of="2024-03-05")
        model = memory._models.model
    assert isinstance(model, FakeChat)
    text, past = map(shown, model.requests)
    assert text.startswith("Today: Monday, 2025-02-03\n")
    assert past.startswith("Today: Tuesday, 2024-03-05\n")
    marked = (
        "[no longer true: Voltaris, employs, 1,200 people (never); Voltaris, is owned by, Nordvik (until 2024-09-01)]"
    )
    assert marked in text
    assert "Nordvik (until" not in past


def test_a_recorded_answer_replays_on_another_day_and_a_cached_one_does_not_stay(tmp_path: Path) -> None:
    def ask(model: ChatModel, today: str, as_of: str | None = None) -> str | None:
        with Memory(model=model, embedder="fake", clock=lambda: day(today)) as memory:
            memory.record.add(Episode("Anna moved to Ghent.", day("2024-05-15")))
            return memory.ask("Where did Anna move?", as_of=as_of).text

    path = tmp_path / "calls.jsonl"
    with RecordingChat(FakeChat([reply("Ghent", 1)] * 2), path) as recording:
        assert ask(recording, "2025-02-03") == ask(recording, "2025-02-03", "2024-06-01") == "Ghent"
    assert "2025-02-03" not in path.read_text("utf-8")
    assert ask(ReplayChat(path), "2026-07-14") == ask(ReplayChat(path), "2026-07-14", "2024-06-01") == "Ghent"
    with pytest.raises(ReplayError, match="2024-06-02"):  # a day that was asked for is part of the question
        ask(ReplayChat(path), "2025-02-03", "2024-06-02")
    fresh = FakeChat([reply("Ghent", 1)] * 2)
    with answers_in_file(tmp_path / "cache") as cache:
        for today in ("2025-02-03", "2025-02-03", "2025-02-04"):
            ask(CachedChat(fresh, cache), today)
    assert len(fresh.requests) == 2


# -- computed answers -------------------------------------------------------------------------------------------------

MOVED = passage("Anna: I moved to Ghent today.", day("2024-05-15"))
QUIT = passage("Anna: I quit at Delvaux yesterday.", day("2024-04-04"))


def computed(operation: str, unit: str = "", *items: tuple[int, str, str], support: str = "stated") -> str:
    events = [{"number": n, "date": date, "what": what} for n, date, what in items]
    asked = {"operation": operation, "unit": unit, "items": events}
    given = {"reasoning": "so", "answer": None, "support": support, "sources": [], "compute": asked, "look_up": []}
    return json.dumps(given)


@pytest.mark.parametrize(
    ("question", "said", "text", "sources"),
    [
        (
            "How many weeks passed between quitting and moving?",
            computed("between", "weeks", (2, "2024-04-03", "quit"), (1, "2024-05-15", "moved")),
            "6 weeks",
            (QUIT, MOVED),
        ),
        (
            "Which came first, the move or the quitting?",
            computed("first", "", (1, "2024-05-15", "the move"), (2, "2024-04-03", "the quitting")),
            "the quitting",
            (QUIT, MOVED),
        ),
        ("How many times did Anna change something?", computed("count", "", (2, "2024-04-03", "quit")), "1", (QUIT,)),
        ("How long did it take?", reply("a day", 1), "a day", (MOVED,)),
        ("How long did it take?", computed("between", "days", (1, "2024-04-03", "quit")), None, ()),
        ("How often did it rain?", computed("count", "", (9, "2024-04-03", "rain")), None, ()),
    ],
)
def test_dates_and_counts_are_computed(question: str, said: str, text: str | None, sources: tuple[Hit, ...]) -> None:
    model = FakeChat([said])
    found = answer(Recall(question, (MOVED, QUIT)), model, max_tokens=1000)
    assert (found.text, found.sources) == (text, sources)


@pytest.mark.parametrize(
    ("operation", "unit", "dates", "text"),
    [
        ("between", "days", ("2024-02-28", "2024-03-01"), "2 days"),
        ("between", "days", ("2024-03-01", "2024-02-28"), "2 days"),
        ("between", "weeks", ("2024-01-01", "2024-01-10"), "1 week and 2 days"),
        ("between", "weeks", ("2024-01-01", "2024-01-04"), "3 days"),
        ("between", "months", ("2024-01-31", "2024-02-29"), "1 month"),
        ("between", "months", ("2024-01-15", "2024-03-14"), "1 month"),
        ("between", "years", ("1990-05-03", "2024-05-02"), "33 years and 11 months"),
        ("between", "", ("2024-01-01", "2024-01-01"), "0 days"),
        ("between", "days", ("2024-05", "2024-08-20"), "3 months"),
        ("between", "years", ("2022-11-30", "2024-02"), "1 year and 3 months"),
        ("between", "months", ("2019", "2024-02-01"), "5 years"),
        ("last", "", ("2024-01", "2023"), "a"),
        ("first", "", ("2024", "2024-05-31"), None),
        ("last", "", ("2024-05", "2024-05-31"), None),
        ("first", "", ("2024-01-01", "2024-01-02", "soon"), None),
        ("first", "", ("2024-01-01", "2024-01-01"), None),
        ("first", "", ("2024-01-01", "soon"), None),
        ("count", "", ("soon", "later"), "2"),
        ("between", "weeks", ("2024-01-01/2024-01-07", "2024-01-15/2024-01-21"), "2 weeks"),
        ("first", "", ("2024-01-08/2024-01-14", "2024-01-01/2024-01-07"), "b"),
        ("first", "", ("2024-01-01/2024-01-07", "2024-01-07"), None),
        ("none", "", ("2024-01-01", "2024-01-02"), None),
    ],
)
def test_computing(operation: Operation, unit: str, dates: tuple[str, ...], text: str | None) -> None:
    items = [
        DatedEvidence(number, date, what) for number, (date, what) in enumerate(zip(dates, "abc", strict=False), 1)
    ]
    found = compute(operation, unit, items)
    assert (None if found is None else found.text) == text


# -- how an answer is supported ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("support", "allowed", "text", "shown_as"),
    [
        ("stated", True, "Lana Wood", "Lana Wood"),
        ("stated", False, "Lana Wood", "Lana Wood"),
        ("inferred", True, "Lana Wood", "Lana Wood (inferred)"),
        ("inferred", False, None, "There is not enough information."),
        ("none", True, None, "There is not enough information."),
    ],
)
def test_an_inferred_answer_says_so_and_can_be_refused(
    support: str, allowed: bool, text: str | None, shown_as: str
) -> None:
    model = FakeChat([reply("Lana Wood", 1, support=support)])
    context = AnswerContext(allow_inferred=allowed)
    found = answer(Recall("Who?", (SISTER,)), model, max_tokens=1000, context=context)
    assert (found.text, str(found), found.support) == (text, shown_as, support if text else None)
    assert found.sources == ((SISTER,) if text else ())
    assert ("support='inferred'" in repr(found)) == (support == "inferred" and allowed)
    assert model.requests[0].schema is not None
    assert model.requests[0].schema["properties"]["support"] == {"enum": ["stated", "inferred", "none"]}


def test_every_list_of_a_reply_is_bounded_in_the_schema_alone() -> None:
    """A small model that a grammar holds repeats an item until it is cut off; what another one wrote is not refused."""
    model = FakeChat([reply("Ghent", *[1] * 20)])
    found = answer(Recall("Who?", (MOVED, QUIT)), model, max_tokens=1000)
    assert (found.text, len(found.sources)) == ("Ghent", 1)
    schema = model.requests[0].schema
    assert schema is not None
    sizes = re.findall(r'"maxItems": (\d+)', json.dumps(schema))
    assert sorted(map(int, sizes)) == [2, 16, 32]


def test_a_memory_refuses_inferred_answers_when_told_to() -> None:
    with memory_with([reply("Ghent", 1, support="inferred")] * 2, day("2025-02-03")) as memory:
        memory.record.add(Episode("Anna moved to Ghent.", day("2024-05-15")))
        assert memory.ask("Where does Anna live?").support == "inferred"
        assert memory.ask("Where does Anna live?", allow_inferred=False).text is None


def test_without_a_model_what_is_answered_is_stated() -> None:
    with Memory(model="none", embedder="fake", clock=lambda: day("2025-02-03")) as memory:
        stated = Extraction("t", (Fact("Anna", "lives in", "Ghent"),))
        memory.record.add(Episode("Anna lives in Ghent.", day("2024-05-15"), extraction=stated))
        found = memory.ask("Where does Anna live?", allow_inferred=False)
        assert (found.text, found.support) == ("Ghent", "stated")


def test_a_computed_answer_can_be_inferred() -> None:
    items = ((2, "2024-04-03", "quit"), (1, "2024-05-15", "moved"))
    model = FakeChat([computed("between", "weeks", *items, support="inferred")] * 2)
    recall = Recall("How many weeks passed between quitting and moving?", (MOVED, QUIT))
    assert str(answer(recall, model, max_tokens=1000)) == "6 weeks (inferred)"
    refusing = AnswerContext(allow_inferred=False)
    assert answer(recall, model, max_tokens=1000, context=refusing).text is None


@pytest.mark.parametrize(
    ("sentence", "whole"),
    [
        ("The area of the district is .", False),
        ("It drains approximately .", False),
        ("The Yellow River drains an area of approximately .", False),
        ("The river is long.", False),
        ("The Danube is long.", True),
        ("The river is 40 km long.", True),
        ("Sam: the river is long.", True),
        ("I love it .", True),
        ("黄河很长。", True),
    ],
)
def test_a_sentence_with_a_gap_or_without_a_name_does_not_stand_alone(sentence: str, whole: bool) -> None:
    assert stands_alone(sentence) is whole


LONG = " ".join(f"word{number}" for number in range(30))


@pytest.mark.parametrize(("at", "count"), [(0.0, 1), (86400.0 * 20000, 2)])
def test_a_passage_that_says_nearly_the_same_is_shown_once_but_not_on_another_day(at: float, count: int) -> None:
    hits = (passage(f"{LONG} alpha", source="1"), passage(f"{LONG} beta", at, source="2"))
    assert len(quotations("alpha?", hits, max_tokens=2000)) == count


def test_short_messages_are_all_shown() -> None:
    hits = (passage("Sam: I went running today.", source="1"), passage("Sam: I went running again today.", source="2"))
    assert len(quotations("How often did Sam run?", hits, max_tokens=2000)) == 2


def test_facts_about_nothing_that_is_named_are_left_out_and_sentences_come_once() -> None:
    hits = (
        statement(Fact("Connie Pillich", "born on", "1960-09-07"), "x"),
        statement(Fact("Blankaart", "born in", "Middelburg"), "x"),
        statement(Thesis("Middelburg lies in Zeeland."), "x"),
        statement(Thesis("Middelburg lies in Zeeland", ("Zeeland",)), "y"),
    )
    assert lines("In which country was Blankaart born?", *hits) == [
        "1. Middelburg lies in Zeeland.",
        "2. Blankaart born in Middelburg",
    ]


def test_a_repeated_sentence_keeps_the_place_of_its_best_hit() -> None:
    hits = (
        statement(Thesis("Middelburg lies in Zeeland."), "x"),
        statement(Thesis("Vlissingen lies in Zeeland."), "y"),
        statement(Thesis("Middelburg lies in Zeeland", ("Zeeland",)), "z"),
    )
    assert lines("Which town lies in Zeeland?", *hits, statements=1) == ["1. Middelburg lies in Zeeland."]


def test_a_look_up_adds_little_and_a_passage_replaces_its_sentence() -> None:
    town = passage("Minot\nMinot is the seat of Ward County.", source="7")
    queries = {
        "seat of Ward County": (statement(Thesis("Minot is the seat of Ward County."), "elsewhere"),),
        "Minot": (town, *(passage(f"Passage {number} about Minot.", source=str(number)) for number in range(8))),
    }
    model = FakeChat([reply(None, look_up=tuple(queries)), reply("Minot", 2)])
    context = AnswerContext(lambda query: Recall(query, queries[query]))
    found = answer(Recall("What is the seat of the county?", (FLAT,)), model, max_tokens=2000, context=context)
    assert found.sources == (town,)
    listed = shown(model.requests[1])
    assert listed.count("Minot is the seat of Ward County") == 1
    assert listed.count("about Minot.") == 3  # four passages with that of the town


@pytest.mark.parametrize(("kept", "numbers"), [((2,), (1,)), ((), (0, 1)), ((9,), (0, 1))])
def test_after_a_look_up_only_what_bears_on_the_question_is_shown_again(
    kept: tuple[int, ...], numbers: tuple[int, ...]
) -> None:
    hits = (FLAT, FILM)
    model = FakeChat([reply(None, *kept, look_up=("sibling of Natalie Wood",)), reply("Lana Wood", 2)])
    context = AnswerContext(lambda query: Recall(query, (SISTER,)))
    answer(Recall("Who is the sibling of the actress?", hits), model, max_tokens=1000, context=context)
    again = shown(model.requests[1])
    for number, hit in enumerate(hits):
        assert isinstance(hit.item, Episode)
        assert (hit.item.text in again) == (number in numbers)
    assert "Lana Wood is the younger sister" in again
