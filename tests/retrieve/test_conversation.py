"""What was said: its order, its turns and sessions, and how it is found with what was said around it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("hypothesis")
from hypothesis import given, settings
from hypothesis import strategies as st

from worldthread import Memory
from worldthread.extract.episode_builder import MESSAGE_GAP, PART_GAP
from worldthread.extract.when import shown_time
from worldthread.graph import TemporalGraph
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve import spoken
from worldthread.retrieve.conversation import LONGEST_PAUSE, ConversationIndex, ConversationOrder
from worldthread.types import Episode

HOUR = 3600.0


def memory() -> Memory:
    return Memory(model="none", embedder=FakeEmbedder())


def said(*messages: tuple[str, str]) -> list[dict[str, str]]:
    return [{"speaker": speaker, "content": text} for speaker, text in messages]


def conversation_of(opened: Memory) -> tuple[ConversationIndex, list[str]]:
    """The conversation, and the texts of its places in order."""
    with opened.record.index() as index:
        conversation = index.conversation
        assert conversation is not None
        records = map(index.graph.numbered_episode, conversation.episodes.tolist())
        texts = {episode.id: episode.text for episode in opened.episodes()}
        return conversation, [texts[record.id] for record in records if record is not None]


def texts_found(opened: Memory, question: str, k: int = 3) -> list[str]:
    return [
        hit.item.text for hit in opened.recall(question, k=k, kinds=["episode"]).hits if isinstance(hit.item, Episode)
    ]


def long_answer(topic: str) -> str:
    return "\n\n".join(f"## Part {n}\n\n{' '.join([f'{topic} is explained at length here.'] * 16)}" for n in range(4))


def test_what_nobody_says_is_no_conversation() -> None:
    with memory() as opened:
        opened.remember("Rome is the capital of Italy.", at=1)
        with opened.record.index() as index:
            assert index.conversation is None


def test_messages_of_one_time_keep_their_order() -> None:
    texts = ["Is it raining?", "It is.", "Then I stay at home.", "A good idea."]
    with memory() as opened:
        for number, text in enumerate(texts):
            opened.remember(said(("Anna" if number % 2 else "Ben", text)), at=100, source="chat")
        _, found = conversation_of(opened)
        assert [text.partition(": ")[2] for text in found] == texts


def test_what_one_user_says_is_no_part_of_what_another_one_says() -> None:
    with memory() as opened:
        for number in range(12):
            user = ("", "anna", "Anna")[number % 3]
            opened.remember(said(("Ben", f"number {number}")), at=100 + number, source="chat", user=user)
            if number % 5 == 0:
                conversation_of(opened)  # it is kept up to date
        conversation, found = conversation_of(opened)
        sessions: dict[int, list[int]] = {}
        for session, text in zip(conversation.sessions.tolist(), found, strict=True):
            sessions.setdefault(session, []).append(int(text.split()[-1]))
        assert sorted(sessions.values()) == [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]


def test_the_passages_of_messages_of_one_time_stay_together() -> None:
    messages = [
        {"role": role, "content": long_answer(topic), "at": 100.0}
        for role, topic in (("user", "Tea"), ("assistant", "Coffee"), ("user", "Milk"))
    ]
    with memory() as opened:
        opened.remember(messages, source="chat")
        conversation, found = conversation_of(opened)
        topics = [next(topic for topic in ("Tea", "Coffee", "Milk") if topic in text) for text in found]
        assert list(dict.fromkeys(topics)) == ["Tea", "Coffee", "Milk"]
        assert topics == sorted(topics, key=["Tea", "Coffee", "Milk"].index)
        assert len(found) > 3
        assert len(set(conversation.turns.tolist())) == 3
        assert conversation.sessions.max() == 0


def test_a_pause_or_another_source_begins_a_session() -> None:
    with memory() as opened:
        for at, source in ((0.0, "a"), (HOUR, "a"), (HOUR + LONGEST_PAUSE + 1, "a"), (HOUR, "b")):
            opened.remember(said(("Anna", f"It is {at} in {source}.")), at=at, source=source)
        conversation, _ = conversation_of(opened)
        sessions = np.bincount(conversation.sessions)
        assert sorted(sessions.tolist()) == [1, 1, 2]


def test_an_answer_is_found_by_the_words_of_its_question() -> None:
    with memory() as opened:
        for n in range(20):
            talk = said(("Ben", f"Today was day {n} of the fair."), ("Anna", f"I sold {n} apples."))
            opened.remember(talk, at=100 * n, source=f"day {n}")
        opened.remember(
            said(("Ben", "Which instrument did you learn as a child?"), ("Anna", "The cello, for six years.")),
            at=5000, source="day 50",
        )  # fmt: skip
        found = texts_found(opened, "Which instrument did Anna learn as a child?", k=2)
        assert "Anna: The cello, for six years." in found


def test_what_was_said_is_not_found_through_the_next_session() -> None:
    with memory() as opened:
        opened.remember(said(("Anna", "We saw a heron at the pond.")), at=0, source="first")
        opened.remember(said(("Ben", "My bicycle is broken.")), at=1, source="second")
        opened.remember(said(("Ben", "The soup was cold.")), at=2, source="first")
        conversation, texts = conversation_of(opened)
        sessions = dict(zip((text.partition(": ")[2] for text in texts), conversation.sessions.tolist(), strict=True))
        assert sessions["We saw a heron at the pond."] == sessions["The soup was cold."]
        assert sessions["My bicycle is broken."] != sessions["The soup was cold."]


def test_a_turn_is_listed_once() -> None:
    with memory() as opened:
        opened.remember(said(("user", "How is coffee made?"), ("assistant", long_answer("Coffee"))), at=100, source="c")
        found = texts_found(opened, "How is coffee made?", k=10)
        assert len(found) == 2
        assert sum(text.startswith("assistant: ") for text in found) == 1


def test_what_a_person_said_comes_before_what_an_assistant_made_of_it() -> None:
    with memory() as opened:
        opened.remember(said(("user", "My budget is 300 euros.")), at=100, source="a")
        opened.remember(said(("assistant", "My budget is 300 euros.")), at=200, source="b")
        for n in range(6):
            opened.remember(said(("user", f"I saw {n} herons.")), at=300 + n, source=f"walk {n}")
        assert texts_found(opened, "What is my budget?", k=1) == ["user: My budget is 300 euros."]


def test_the_only_speaker_whom_a_question_names_is_preferred() -> None:
    with memory() as opened:
        opened.remember(said(("Anna", "I like plums.")), at=100, source="a")
        opened.remember(said(("Ben", "I like plums.")), at=200, source="b")
        for name in ("Anna", "Ben"):
            assert texts_found(opened, f"What are {name}'s favourites?", k=1) == [f"{name}: I like plums."]


def test_a_heading_of_an_answer_is_no_title() -> None:
    with memory() as opened:
        opened.remember(said(("assistant", "## Venice Guide\n\nIt has many canals and bridges.")), at=1)
        with opened.record.index() as index:
            assert not index.links.names_of.entries(np.arange(len(index.episodes))).titles.any()


@pytest.mark.parametrize("method", ["thread", "fusion"])
def test_documents_and_messages_are_found_beside_each_other(method: str) -> None:
    with memory() as opened:
        opened.remember("Pisa\nPisa is known for its leaning tower.", at=1, source="book")
        opened.remember(said(("Anna", "Last week we went up the leaning tower of Pisa.")), at=2, source="chat")
        for n in range(12):
            opened.remember(f"Town {n}\nTown {n} has a mill and a river.", at=3 + n, source=f"book {n}")
            opened.remember(said(("Ben", f"I counted {n} sheep.")), at=30 + n, source="night")
        found = texts_found(opened, "Who went up the leaning tower of Pisa?", k=2)
        assert {text.partition(" ")[0].strip() for text in found} == {"Anna:", "Pisa\nPisa"}


def test_what_was_said_about_a_time_that_the_question_names_comes_first() -> None:
    pytest.importorskip("dateutil")
    with memory() as opened:
        for month in range(1, 13):
            opened.remember(said(("Anna", "We went to the lake again.")), at=f"2023-{month:02}-10", source=f"{month}")
            opened.remember(said(("Ben", f"I read {month} books.")), at=f"2023-{month:02}-10T00:01", source=f"{month}")
        hits = opened.recall("What did we do at the lake in May 2023?", k=1, kinds=["episode"]).hits
        assert isinstance(hits[0].item, Episode)
        assert shown_time(hits[0].item.at).startswith("2023-05")


def test_a_relative_time_is_that_before_the_last_message_or_the_time_asked_about() -> None:
    pytest.importorskip("dateutil")
    with memory() as opened:
        for day in range(1, 29):
            opened.remember(said(("Anna", f"I baked cake number {day}.")), at=f"2024-02-{day:02}", source=f"{day}")
        for as_of, expected in ((None, "2024-02-27"), ("2024-02-15", "2024-02-14")):
            hits = opened.recall("What cake did Anna bake yesterday?", k=1, kinds=["episode"], as_of=as_of).hits
            assert isinstance(hits[0].item, Episode)
            assert shown_time(hits[0].item.at).startswith(expected)


def test_what_is_always_to_be_heeded_is_found_before_what_is_not() -> None:
    with memory() as opened:
        opened.remember(said(("user", "Show me prices in euros for flights, always.")), at=1, source="a")
        opened.remember(said(("user", "Show me prices in euros for flights, today.")), at=2, source="b")
        assert texts_found(opened, "prices for flights", k=1) == ["user: Show me prices in euros for flights, always."]


def test_a_question_for_what_the_assistant_said_finds_it() -> None:
    with memory() as opened:
        opened.remember(said(("user", "Which soup suits winter?"), ("assistant", "Lentil soup suits winter.")), at=1)
        for n in range(8):
            opened.remember(said(("user", f"I saw {n} herons.")), at=300 + n, source=f"walk {n}")
        asked = "Which lentil soup for winter did {} recommend?"
        first, second = (texts_found(opened, asked.format(who), k=2) for who in ("you", "Ben"))
        assert first[0] == "assistant: Lentil soup suits winter."
        assert second[0] == "user: Which soup suits winter?"


def test_messages_with_the_same_words_are_listed_once() -> None:
    with memory() as opened:
        texts = ["I lost the key.", "I lost a key!", "I LOST THE KEY", "I lost no key."]
        for n, text in enumerate(texts):
            opened.remember(said(("Anna", text)), at=n, source=f"{n}")
        opened.remember(said(("Ben", "I lost the key.")), at=9, source="ben")
        found = texts_found(opened, "Who lost the key?", k=10)
        assert len(found) == 3
        assert {"Anna: I lost no key.", "Ben: I lost the key."} < set(found)


@given(
    steps=st.lists(
        st.tuples(st.booleans(), st.integers(0, 2), st.integers(0, 40), st.integers(0, 2)), min_size=1, max_size=60
    ),
    batch=st.integers(1, 30),
)
@settings(max_examples=60, deadline=None)
def test_the_order_that_is_kept_is_the_one_made_at_once(steps: list[tuple[bool, int, int, int]], batch: int) -> None:
    graph, kept = TemporalGraph(), ConversationOrder()
    speakers: list[int] = []
    ids: list[str] = []
    for number, (forgets, source, at, speaker) in enumerate(steps):
        time = at // 4 * MESSAGE_GAP + at % 4 * PART_GAP
        episode = Episode(f"Text {number}", time, f"source {source}")
        graph.add(episode)
        ids.append(episode.id)
        speakers.append(speaker)
        if forgets and ids[number // 2] in graph:
            graph.forget(ids[number // 2])
        if number % batch == 0 or number == len(steps) - 1:
            present = np.array([id_ in graph for id_ in ids])
            ties = np.arange(len(ids), dtype=np.uint64)
            rest = (graph, present, np.array(speakers, np.int32), ["", "anna", "ben"], ties)
            found, expected = kept.update(*rest), ConversationOrder().update(*rest)
            if expected is None or found is None:
                assert found is expected
                continue
            for name in ("episodes", "places", "sessions", "turns", "speakers", "times"):
                assert getattr(found, name).tolist() == getattr(expected, name).tolist()


@given(
    turns=st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=30),
)
@settings(max_examples=100, deadline=None)
def test_windows_of_common_and_of_rare_words_are_those_of_the_formula(turns: list[tuple[int, bool]]) -> None:
    begins = np.array([begins for _, begins in turns])
    sessions, count = np.cumsum(begins), len(turns)
    numbers = np.arange(count)
    conversation = ConversationIndex(
        episodes=numbers, places=numbers, sessions=sessions, turns=numbers, speakers=np.ones(count, np.int32),
        times=numbers.astype(np.float64), names=["", "anna"],
    )  # fmt: skip
    times = np.array([times for times, _ in turns], np.float64)
    places = np.flatnonzero(times)
    weights = {0: 1.0} | dict(spoken._STEPS)
    expected = [
        sum(
            weight * times[place - step]
            for step, weight in weights.items()
            if 0 <= place - step < count and sessions[place - step] == sessions[place]
        )
        for place in range(count)
    ]
    assert spoken._windows(conversation, places, times[places]).tolist() == expected
    rare = np.zeros(count)
    reached = spoken._spread(conversation, places, times[places], rare) if len(places) else places
    assert rare.tolist() == expected
    assert reached.tolist() == np.flatnonzero(rare).tolist()


@pytest.mark.parametrize(("listener", "is_nearer"), [("assistant", True), ("Bela", False)])
def test_what_is_to_be_heeded_counts_more_where_an_assistant_is_asked_for_help(
    listener: str, is_nearer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule, question = "Always weigh the flour when I ask about bread.", "How do I bake bread without yeast?"

    def lead() -> float:
        with memory() as opened:
            opened.remember(said(("user", "I bake bread without yeast."), (listener, "Good."), ("user", rule)), at=1)
            hits = opened.recall(question, k=3, kinds=["episode"]).hits
        scores = {hit.item.text.partition(": ")[2]: hit.score for hit in hits if isinstance(hit.item, Episode)}
        return scores["I bake bread without yeast."] - scores[rule]

    now = lead()
    monkeypatch.setattr(spoken, "FACTORS_OF", {})
    assert (now < lead()) is is_nearer
