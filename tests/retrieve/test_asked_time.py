"""The time that a question asks about, and what is evidence for it, through the public methods of a memory."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from worldthread import Filter, Memory
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.extract.when import world_time
from worldthread.models.fake import FakeEmbedder
from worldthread.retrieve.asked_time import named_times
from worldthread.retrieve.text import shown_asked_time
from worldthread.types import AskedTime

NOW = world_time("2025-11-20", 0.0)


def memory(**given: Any) -> Memory:
    return Memory(model="none", extractor=ProseExtractor(), embedder=FakeEmbedder(), **given)


@pytest.fixture
def lena() -> Iterator[Memory]:
    with memory() as opened:
        for day, text in (
            ("2019-04-02", "Lena works for Barco."),
            ("2021-02-10", "Lena lives in Bruges."),
            ("2022-09-05", "Lena works for Umicore."),
            ("2023-07-15", "Lena moved to Namur."),
            ("2024-05-01", "Lena lives in Liège."),
        ):
            opened.remember(text, at=day)
        yield opened


def homes(opened: Memory, question: str, **given: Any) -> set[str]:
    found = opened.recall(question, k=20, kinds=["fact"], **given)
    return {hit.item.object for hit in found.facts if hit.item.relation == "lives in"}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("Where did Lena live in 2022?", "in 2022"),
        ("Where was she in March 2018?", "in 2018-03"),
        ("Where was she on 5 May 2020?", "on 2020-05-05"),
        ("Where was she on 2020-02-29?", "on 2020-02-29"),
        ("Where did I live last spring?", "from 2025-03-01 to 2025-05-31"),
        ("Where was I in May?", "in 2025-05"),
        ("What did I buy yesterday?", "on 2025-11-19"),
        ("Where did I work two years ago?", "in 2023"),
        ("Who was my boss until 2022?", "before 2022-01-01"),
        ("Who was my boss before 2020?", "before 2020-01-01"),
        ("Who has been my boss since June 2024?", "from 2024-06-01 on"),
        ("How was my 2023 marathon?", "in 2023"),
        ("Wo wohnte Lena im Mai 2023?", "in 2023-05"),
        ("Où habitait Lena en 2022 ?", "in 2022"),
        ("Where does Lena live?", ""),
        ("How long did it take?", ""),
        ("Who has 20170 stamps?", ""),
        ("Where do I go every Saturday?", ""),
    ],
)
def test_the_time_of_a_question_is_read_against_the_time_at_which_it_is_asked(question: str, shown: str) -> None:
    assert shown_asked_time(named_times(question, NOW).asked_time(None)) == shown


def test_the_past_tense_alone_asks_for_what_was() -> None:
    asked = named_times("Where did I work?", NOW).asked_time(None)
    assert asked is not None
    assert (asked.is_tense, asked.words) == (True, "")
    assert named_times("Where do I work?", NOW).asked_time(None) is None
    assert named_times("Where did I work in 2022?", 17.0).asked_time(None) is None  # the memory counts turns


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does Lena live?", {"Liège"}),
        ("Where did Lena live in 2022?", {"Bruges"}),
        ("Where did Lena live in 2023?", {"Bruges", "Namur"}),
        ("Where did Lena live in August 2023?", {"Namur"}),
        ("Where did Lena live in 2020?", set()),
        ("Where did Lena live before 2023?", {"Bruges"}),
        ("Where did Lena live when she worked for Umicore?", {"Bruges", "Namur", "Liège"}),
        ("Where did Lena live before she worked for Umicore?", {"Bruges"}),
        ("Where did Lena live while she worked for Barco?", {"Bruges"}),
        ("Where did Lena live?", {"Bruges", "Namur", "Liège"}),
    ],
)
def test_what_did_not_hold_then_is_not_found(lena: Memory, question: str, expected: set[str]) -> None:
    assert homes(lena, question) == expected


def test_a_time_that_the_memory_does_not_know_is_not_answered_for_now(lena: Memory) -> None:
    question = "Where did Lena live after the wedding?"
    asked = lena.recall(question).asked_time
    assert asked is not None
    assert asked.interval is None
    assert asked.words == "after the wedding"
    assert shown_asked_time(asked) == "at an unknown time (after the wedding)"
    answer = lena.ask(question)
    assert answer.text is None
    assert answer.asked_time == asked


def test_two_moves_leave_open_which_one_is_meant() -> None:
    with memory() as opened:
        opened.remember("Uwe moved to Kiel. He bought a boat.", at="2021-02-10")
        opened.remember("Uwe moved to Jena. He sold a boat.", at="2023-02-10")
        asked = opened.recall("Where did Uwe live before he moved?").asked_time
        assert asked is not None
        assert asked.interval is None


def test_a_time_that_is_given_limits_what_was_told_and_is_the_time_of_asking(lena: Memory) -> None:
    assert homes(lena, "Where does Lena live?", as_of="2023-12-31") == {"Namur"}
    assert homes(lena, "Where did Lena live?", as_of="2022-12-31") == {"Bruges"}
    assert homes(lena, "Where did Lena live last year?", as_of="2024-12-31") == {"Bruges", "Namur"}
    assert homes(lena, "Where did Lena live in 2023?", as_of="2023-02-01") == {"Bruges"}


def test_everything_is_found_on_request(lena: Memory) -> None:
    assert homes(lena, "Where did Lena live in 2022?", only_current=False) == {"Bruges", "Namur", "Liège"}


def test_yesterday_is_that_of_the_clock_where_things_are_told_as_they_happen() -> None:
    today = datetime(2024, 6, 10, 12, tzinfo=UTC).timestamp()
    clock = [today - 86_400.0]
    with memory(clock=lambda: clock[0]) as opened:
        opened.remember([{"role": "user", "content": "I planted two fig trees."}])
        clock[0] = today
        found = opened.recall("What did I plant yesterday?")
        assert found.asked_time is not None
        assert found.asked_time.interval is not None
        assert found.asked_time.interval.valid_from == world_time("2024-06-09", 0.0)
        assert found.episodes
        clock[0] = today + 5 * 86_400.0
        assert not opened.recall("What did I plant yesterday?").episodes


def test_a_memory_of_another_time_is_asked_as_of_its_end() -> None:
    with memory() as opened:
        opened.remember("Mira lives in Turin.", at="2011-05-02")
        opened.remember("Mira lives in Genoa.", at="2013-05-02")
        assert homes(opened, "Where did Mira live two years ago?") == {"Turin"}


RENT = (("2024-03-01", "In 2022 my rent was 900 euros."), ("2024-03-02", "In 2023 my rent was 1000 euros."))


def told(opened: Memory, lines: tuple[tuple[str, str], ...]) -> None:
    for day, text in lines:
        opened.remember([{"role": "user", "content": text}], at=day)


def texts(opened: Memory, question: str) -> set[str]:
    found = opened.recall(question, k=20)
    return {str(hit.item.text) for hit in (*found.episodes, *found.theses)}  # type: ignore[union-attr]


@pytest.mark.parametrize(("year", "value"), [("2022", "900"), ("2023", "1000")])
def test_a_text_that_states_another_time_is_no_evidence(year: str, value: str) -> None:
    with memory() as opened:
        told(opened, RENT)
        found = texts(opened, f"What was my rent in {year}?")
        assert found
        assert all(value in text for text in found)
        answer = opened.ask(f"What was my rent in {year}?").text
        assert answer is None or value in answer
        assert not texts(opened, "What was my rent in 2024?")  # both tell of earlier years


def test_the_year_of_a_noun_agrees_with_the_evidence() -> None:
    lines = (
        ("2022-11-20", "I swam the harbour race in 41 minutes."),
        ("2024-01-02", "I swam the 2023 harbour race in 39 minutes."),
    )
    with memory() as opened:
        told(opened, lines)
        assert all("39" in text for text in texts(opened, "How fast was my 2023 harbour race?"))
        assert all("41" in text for text in texts(opened, "How fast was my 2022 harbour race?"))
        assert not texts(opened, "How fast was my 2021 harbour race?")


def test_what_is_told_in_the_past_tense_is_no_evidence_for_later() -> None:
    with memory() as opened:
        told(opened, (("2023-05-01", "We sailed around Gotland."), ("2024-05-01", "We never sleep.")))
        assert any("Gotland" in text for text in texts(opened, "Where did we sail in 2023?"))
        assert not any("Gotland" in text for text in texts(opened, "Where did we sail in 2024?"))


def test_a_filter_and_a_time_go_together() -> None:
    with memory() as opened:
        for user, home in (("ida", "Oslo"), ("bo", "Umeå")):
            opened.remember(f"{user.title()} lives in {home}.", at="2022-03-01", user=user)
            opened.remember(f"{user.title()} lives in Rome.", at="2024-03-01", user=user)
        assert homes(opened, "Who lived where in 2022?", where=Filter(user="ida")) == {"Oslo"}


def test_an_asked_time_keeps_what_else_is_asked() -> None:
    asked = AskedTime("when I was ill", None, clause="when I was ill")
    assert asked.without_clause("Who cooked when I was ill?") == "Who cooked  ?"
    assert asked.without_clause("when I was ill") == "when I was ill"
    assert math.inf > 0


def test_the_days_of_a_question_are_those_of_the_person() -> None:
    evening = datetime(2024, 6, 10, 5, tzinfo=UTC).timestamp()  # 22:00 of 9 June in Los Angeles
    with memory(clock=lambda: evening, timezone="America/Los_Angeles") as opened:
        opened.remember([{"role": "user", "content": "I planted a quince."}], at="2024-06-08T21:00:00-07:00")
        found = opened.recall("What did I plant yesterday?")
        assert shown_asked_time(found.asked_time) == "on 2024-06-08"
        assert found.episodes


# -- every front door -------------------------------------------------------------------------------------------------

QUESTION = "Where did Lena live in 2022?"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lena.worldthread"
    with Memory(path, model="none", embedder="fake") as opened:
        opened.remember("Lena lives in Bruges.", at="2021-02-10")
        opened.remember("Lena lives in Namur.", at="2024-02-10")
    return path


def test_the_command_understands_the_time(file: Path) -> None:
    from typer.testing import CliRunner

    from worldthread.cli.main import app

    found = CliRunner().invoke(app, ["recall", QUESTION, "--memory", str(file), "--embedder", "fake"])
    assert "Bruges" in found.stdout
    assert "Namur" not in found.stdout
    assert "asked for: in 2022" in found.output
    asked = CliRunner().invoke(app, ["ask", QUESTION, "--memory", str(file), "--embedder", "fake", "--json"])
    told = json.loads(asked.stdout)
    assert told["asked_time"] == "in 2022"
    assert told["answer"] == "Bruges"


@pytest.mark.mcp
def test_the_tools_understand_the_time(file: Path) -> None:
    pytest.importorskip("mcp")
    from mcp import Client

    from worldthread.mcp import SharedMemory, create_server

    async def ask() -> None:
        async with Client(create_server(SharedMemory(file))) as client:
            found = await client.call_tool("recall", {"question": QUESTION})
            assert found.structured_content["asked_time"] == "in 2022"
            assert "Namur" not in found.content[0].text
            told = await client.call_tool("ask", {"question": QUESTION})
            assert (told.structured_content["answer"], told.structured_content["asked_time"]) == ("Bruges", "in 2022")

    asyncio.run(ask())
