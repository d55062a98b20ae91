"""What is left of a question without the phrases around its subject."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from worldthread.retrieve.question import QuestionKind, asks_what_was_answered, kind_of, subject_of


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("Could you remind me where I parked the bicycle?", "where I parked the bicycle?"),
        ("Do you remember the name of my dentist?", "the name of my dentist?"),
        ("Give me a brief overview of my garden plans in our chats so far.", "my garden plans."),
        ("Can you list the order in which I talked about planting roses? Name only two.", "planting roses?"),
        ("What did I mention about the broken boiler?", "What about the broken boiler?"),
        ("Where does  Anna live ? ", "Where does  Anna live ? "),
        ("Who wrote the summary of the trial?", "Who wrote the summary of the trial?"),
    ],
)  # fmt: skip
def test_phrases_around_the_subject_are_left_out(question: str, subject: str) -> None:
    assert subject_of(question) == subject


@pytest.mark.parametrize("question", ["Can you give me a summary?", "What did I say?", "Tell me about Rome.", "", "  "])
def test_a_question_of_which_too_little_would_be_left_stays_as_it_is(question: str) -> None:
    assert subject_of(question) == question


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did you suggest against the moths?", True),
        ("Which route was in your last recommendation?", True),
        ("Where is the hotel you told me about?", True),
        ("What did Anna suggest against the moths?", False),
        ("What would you do?", False),
        ("Can you give me the address?", False),
    ],
)
def test_what_the_assistant_said_is_asked_for(question: str, expected: bool) -> None:
    assert asks_what_was_answered(question) is expected


KINDS = {
    QuestionKind.PROCEDURE: [
        "How did you suggest I should split the training over the weeks?",
        "What steps did you lay out for sealing the bath?",
        "How did I plan the meals for the first week?",
        "What method did we settle on for labelling the samples?",
        "How had I arranged the files so that both teams could find them?",
        "Which approach did I take to prove that the two sums are equal?",
        "How have we dealt with the late payments?",
        "What strategy did I follow to pay back the loan early?",
    ],
    QuestionKind.HELP: [
        "How do I stop the tap from dripping?",
        "What should I cook for eight guests?",
        "Could you help me with a letter to the council?",
        "Which insurance would you recommend for a van?",
        "Can you explain how vaccines work?",
        "Any tips for sleeping on a plane?",
        "I'm going to paint the fence next week. How should I prepare the wood?",
        "What are some good names for a bakery?",
        "In what order should I add the eggs and the flour?",
    ],
    QuestionKind.OVERVIEW: [
        "Could you sum up my plans for the balcony?",
        "Give me an overview of how we rebuilt the engine.",
    ],
    QuestionKind.PLAIN: [
        "In which order did I raise the parts of the garden plan?",
        "Could you go through the things I asked about Kubernetes?",
        "How did Anna get to Paris?",
        "How many chats did we have?",
        "Which way is the station?",
        "What plan does Bob have?",
        "What can I eat with an allergy, did I tell you?",
        "Have I ever used a lathe?",
        "When did I move to Rome?",
        "Can dogs eat grapes?",
    ],
}


@pytest.mark.parametrize(("question", "kind"), [(text, kind) for kind, texts in KINDS.items() for text in texts])
def test_the_words_of_a_question_say_what_kind_of_answer_it_wants(question: str, kind: QuestionKind) -> None:
    assert kind_of(question) is kind


@pytest.mark.parametrize("phrase", ["how did I what are the ", "can you I'd what ", "I have you ", "what which "])
def test_the_work_for_the_kind_is_linear(phrase: str, time_growth: Callable[..., float]) -> None:
    assert time_growth(lambda size: kind_of(phrase * size), 300) < 16


@pytest.mark.parametrize("phrase", ["can you ", "can you give me ", "a brief ", "in our ", " ", "Answer. Mention "])
def test_the_work_is_linear(phrase: str, time_growth: Callable[..., float]) -> None:
    assert time_growth(lambda size: subject_of(phrase * size), 300) < 16
