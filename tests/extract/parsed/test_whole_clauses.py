"""Whole clauses with named subjects, in documents and in mails; 2024-05-15 is a Wednesday."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from worldthread.extract.parsed.extractor import ParsedExtractor
from worldthread.types import Fact

pytestmark = pytest.mark.language

AT = datetime(2024, 5, 15, 10, tzinfo=UTC).timestamp()


def facts(text: str, speaker: str = "", at: float | None = AT) -> dict[str, str]:
    """Return the facts of a text as words, each with the days on which it begins and ends."""

    def day(time: float | None) -> str:
        return "" if time is None else datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d")

    found = ParsedExtractor().extract(f"{speaker}: {text}" if speaker else text, speaker, at).statements
    return {
        f"{f.subject} | {f.relation} | {f.object}": f"{day(f.valid_from)}..{day(f.valid_to)}"
        for f in found
        if isinstance(f, Fact)
    }


@pytest.mark.parametrize(
    ("text", "fact", "interval"),
    [
        (
            "Brewery sold\n\nThe brewery Hopwell has bought its rival Maltby for 3 million euros.",
            "Hopwell | has bought | Hopwell's rival Maltby for 3 million euros",
            "..",
        ),
        (
            "Brewery sold\n\nThe brewery Hopwell is old. The company employs 90 people at two plants.",
            "Hopwell | employs | 90 people at two plants",
            "..",
        ),
        (
            "Rector\n\nThe University of Turku has elected Maria Saari as rector. She succeeds Heikki Aho.",
            "Maria Saari | succeeds | Heikki Aho",
            "..",
        ),
        ("News\n\nMaria Saari, 58, was born in Oulu in 1966.", "Maria Saari | was born in | Oulu", "1966-01-01.."),
        ("News\n\nMaria Saari, 58, was born in Oulu in 1966.", "Maria Saari | has age | 58", ".."),
        (
            "News\n\nMaria Saari, who leads the cathedral choir of Turku, has two sons.",
            "Maria Saari | leads | cathedral choir of Turku",
            "..",
        ),
        (
            "Mill\n\nThe water mill at Orton was built in 1802.",
            "water mill at Orton | was built in | 1802",
            "1802-01-01..",
        ),
        (
            "Mill\n\nThe water mill at Orton was closed on Monday.",
            "water mill at Orton | was closed on | 2024-05-13",
            "2024-05-13..",
        ),
        ("Opera\n\nThe cellist Anna Weiss has moved to Linz.", "Anna Weiss | is a | cellist", ".."),
    ],
)
def test_news_state_whole_clauses_of_named_subjects(text: str, fact: str, interval: str) -> None:
    assert facts(text).get(fact) == interval


@pytest.mark.parametrize(
    "text",
    [
        "News\n\nMaria Saari said that the plant would close.",
        "News\n\nMaria Saari may leave the company in June.",
        "News\n\nMaria Saari had worked for the railway.",
        "News\n\nIf Maria Saari resigns, Heikki Aho leads the choir.",
        'News\n\n"Maria Saari owns the house," her neighbour told the court.',
        "News\n\nMaria Saari has not sold the house.",
        "News\n\nMaria Saari reportedly owns a yacht.",
        "News\n\nMaria Saari praised the plan.",
        "News\n\nThe company rose by three per cent.",
        "News\n\nMaria Saari thanked him. They own a yacht.",
        "News\n\nMaria Saari has bought the same boat.",
        "News\n\nMaria Saari has closed the shop.",
    ],
)
def test_reports_doubts_and_what_other_sentences_explain_state_nothing(text: str) -> None:
    assert facts(text) == {}


def test_documentation_states_what_its_parts_do() -> None:
    text = (
        "# pollard\n\npollard is a job queue for small servers. It is written in Zig and licensed under the MIT "
        "licence. Jobs are kept for 30 days. The daemon listens on port 7071. The option `--quiet` suppresses all "
        "messages. The `fetch` command was removed in 3.0. pollard does not support Windows. You can change the port."
    )
    assert set(facts(text)) == {
        "pollard | is a | job queue for small servers",
        "pollard | is written in | Zig",
        "pollard | is licensed under | MIT licence",
        "jobs (pollard) | are kept for | 30 days",
        "daemon (pollard) | listens on | port 7071",
        "--quiet (pollard) | suppresses | all messages",
        "fetch command (pollard) | was removed in | 3.0",
        "pollard | does not support | Windows",
    }


def test_a_note_gives_values_for_keys_and_days() -> None:
    text = "Dentist Tue 14:30, Dr Pohl. Wifi password: tulip-77. Bike lock code 4482. Plumber: Jan Kok, 06-5550188."
    assert facts(text) == {
        "dentist | is on | 2024-05-21 14:30, Dr Pohl": "2024-05-21..2024-05-22",
        "wifi password | is | tulip-77": "..",
        "bike lock code | is | 4482": "..",
        "plumber | is | Jan Kok": "..",
        "Jan Kok | has phone number | 06-5550188": "..",
    }


def test_the_heading_of_a_note_says_whose_boiler_it_is() -> None:
    text = "Viewing 9 Mill Lane. Two beds and a box room. Boiler is from 2011. Sellers want a quick sale."
    assert "boiler (Viewing 9 Mill Lane) | is from | 2011" in facts(text)
    assert not any(fact.startswith("boiler") for fact in facts("Two beds and a box room. Boiler is from 2011."))


def test_she_means_only_one_person() -> None:
    text = "News\n\nMaria Saari met Anna Weiss in Turku. She owns a yacht."
    assert not any("yacht" in fact for fact in facts(text))


def test_a_mail_tells_of_its_sender_and_of_others() -> None:
    text = "Hi Tom,\n\nI have borrowed eight chairs from the village hall. Ricardo was promoted to manager.\n\nIda"
    found = facts(text, "Ida")
    assert "Ida | has borrowed | eight chairs from the village hall" in found
    assert "Ricardo | was promoted to | manager" in found


@pytest.mark.parametrize(
    "sentence",
    [
        "My wife Ada is at the house every Saturday.",
        "Ada has the deploy keys.",
        "Ada has a key.",
        "Ada joined us in March.",
        "The next meeting is in the music room.",
        "I'm off on Friday, hiking in the Sierra, no signal.",
        "My door is open, or rather my calendar is.",
        "Mr Albers, the new headmaster, smiled.",
        "Ada sends greetings.",
        "My battery is at 12 percent.",
        "He was seventy-six.",
    ],
)
def test_a_mail_leaves_out_what_only_its_reader_knows(sentence: str) -> None:
    found = facts(f"Hi Tom,\n\nI live in Graz. {sentence}\n\nBest wishes\nIda", "Ida")
    assert set(found) - {"Ida | has wife | Ada"} <= {"Ida | lives in | Graz"}


def test_we_are_nobody_known_where_the_sender_is_a_function() -> None:
    text = "Dear customer,\n\nOur shops in Ghent are closed on Mondays. We have twelve rooms.\n\nBest wishes"
    assert facts(text, "noreply@example.org") == {}
    assert "Fern Hotel | has | twelve rooms" in facts(text, "Fern Hotel")


def test_what_will_be_at_a_time_is_to_come() -> None:
    text = "News\n\nOsler Foods will move to Leeds in July. Ida Berg will be missed. Ida Berg will move to Turku."
    assert facts(text) == {"Osler Foods | will move to | Leeds": "2024-07-01.."}


def test_numbered_parts_carry_the_name_of_the_thing() -> None:
    text = "Rowan 2 kettle: quick start\n\nThe kettle holds two litres. Program 3 is for green tea. Its lid is heavy."
    found = facts(text)
    assert "program 3 (Rowan 2 kettle) | is for | green tea" in found
    assert "Rowan 2 kettle | holds | two litres" in found
    assert facts("Program 3 is for green tea. Program 4 makes jam. Program 5 makes soup.") == {}


def test_a_list_of_changes_states_nothing() -> None:
    text = "NEWS\n\n- bpo-42129: spamlib now honours namespace packages.\n\n- bpo-42130: spamlib supports Windows.\n"
    assert facts(text) == {}


def test_the_airfield_is_the_one_that_was_named() -> None:
    text = "Orchid found\n\nA botanist found it on an airfield near Thornaby. The airfield was built in 1942."
    assert facts(text) == {"airfield near Thornaby | was built in | 1942": "1942-01-01.."}


def test_a_turn_of_a_talk_tells_less_of_its_speaker() -> None:
    assert facts("We played games, ate good food, and just hung out together.", "Ida") == {}
    assert facts("My dreams are coming true!", "Ida") == {}


@pytest.mark.parametrize(
    "text", ["", ".", "...", "Xcodeaa", "# \n\n.", "a: b", "The", "`", "Motorola is a firm. It is in Chicago."]
)
def test_any_text_is_read(text: str) -> None:
    extraction = ParsedExtractor().extract(text)
    assert not extraction.failures
    assert not any("Xcode" in str(s) and "Xcode" not in text for s in extraction.statements)
