"""A summary of what was discussed needs every exchange about its subject: the turns that open it, with the replies."""

from __future__ import annotations

import pytest

from worldthread import Memory
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve.question import QuestionKind, kind_of

TALK = [
    ("user", "I want to plant tomatoes on the balcony, which pots, soil and trellis do tomatoes need?"),
    ("assistant", "Deep pots with holes, loose soil and a trellis."),
    ("user", "And tomatoes in autumn?"),
    ("assistant", "Cut them back."),
    ("user", "What is a good film for tonight?"),
    ("assistant", "A comedy."),
    ("user", "The trellis broke and the soil in the pots is dry, how often should I water the tomatoes?"),
    ("assistant", "Every morning."),
]


def _remembered(talk: list[tuple[str, str]]) -> Memory:
    memory = Memory(model="none", embedder=FakeEmbedder())
    memory.remember([{"speaker": a, "content": b} for a, b in talk], at="2024-05-02", source="talk")
    return memory


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Can you give me a summary of how my tomatoes developed?", True),
        ("Please summarise what we did in the garden.", True),
        ("Could you sum up my plans for the balcony?", True),
        ("Give me a quick recap of our trip.", True),
        ("Who wrote the summary?", False),
        ("Which pots do tomatoes need?", False),
    ],
)
def test_a_question_asks_for_an_overview(question: str, expected: bool) -> None:
    assert (kind_of(question) is QuestionKind.OVERVIEW) is expected


def test_an_overview_lists_each_turn_with_its_reply_and_first_what_opens_the_subject() -> None:
    with _remembered(TALK) as memory:
        hits = memory.recall("Give me a summary of my tomatoes on the balcony", k=8, kinds=["episode"]).hits
    said = [hit.item.text.partition(": ")[2] for hit in hits]
    assert said[0] == TALK[0][1]
    position = {text: place for place, text in enumerate(said)}
    for asked, reply in zip(TALK[::2], TALK[1::2], strict=True):
        assert position[reply[1]] == position[asked[1]] + 1
    assert position["And tomatoes in autumn?"] > 0
    assert all(0 <= hit.score <= 1 for hit in hits)


def test_without_an_assistant_an_overview_is_ranked_as_any_question() -> None:
    talk = [("Anna" if speaker == "user" else "Bela", text) for speaker, text in TALK]
    with _remembered(talk) as memory:
        asked = "my tomatoes on the balcony"
        plain = memory.recall(asked, k=8, kinds=["episode"]).hits
        overview = memory.recall(f"Give me a summary of {asked}", k=8, kinds=["episode"]).hits
    assert [(hit.item.id, hit.score) for hit in overview] == [(hit.item.id, hit.score) for hit in plain]


def test_an_overview_does_not_depend_on_the_order_of_arrival() -> None:
    def ranked(sessions: list[int]) -> list[tuple[str, float]]:
        with Memory(model="none", embedder=FakeEmbedder()) as memory:
            for number in sessions:
                talk = [{"speaker": a, "content": b} for a, b in TALK[number * 4 : number * 4 + 4]]
                memory.remember(talk, at="2024-05-02", source=f"talk {number}")
            memory.recall("tomatoes")
            memory.remember([{"speaker": "user", "content": "Thanks!"}], at="2024-05-09", source="talk 9")
            hits = memory.recall("Give me a summary of my tomatoes", k=9, kinds=["episode"]).hits
            return [(hit.item.id, hit.score) for hit in hits]

    assert ranked([0, 1]) == ranked([1, 0])
