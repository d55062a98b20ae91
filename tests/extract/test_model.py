"""Reading with a model: what the prompts contain, what the answers become, and when the second call is made.

The answers are written by hand after those that a strong model gave to the first version.
"""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from worldthread import Episode, Extraction, Fact, Memory, Thesis
from worldthread.errors import InputError
from worldthread.extract.base import Extractor
from worldthread.extract.groups import GROUP_EPISODES, EpisodeGroup, GroupExtractor, groups_of
from worldthread.extract.model import ModelExtractor, ReadingSchema, RelationRule
from worldthread.extract.model.forms import AnswerForm
from worldthread.graph import GraphView, TemporalGraph
from worldthread.models.chat import ChatRequest
from worldthread.models.fake_chat import FakeChat
from worldthread.models.request_key import request_key
from worldthread.types import Statement


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def fact(subject: str, relation: str, object: str, **more: Any) -> dict[str, Any]:
    return {"subject": subject, "relation": relation, "object": object, **more}


def told(*facts: dict[str, Any], theses: Any = (), same: Any = (), changed: Any = (), **more: Any) -> dict[str, Any]:
    given = {"facts": list(facts), "theses": list(theses), "changed": list(changed), **more}
    return given if "number" in more else {**given, "same": list(same)}


def ended(*items: dict[str, Any]) -> str:
    return json.dumps({"ended": list(items)})


def view_of(*statements: Statement) -> GraphView:
    return TemporalGraph([Episode("before", 0, extraction=Extraction("t", statements))]).view()


class Scripted:
    """Answers the requests of one purpose in their order."""

    def __init__(self, *extract: dict[str, Any], outdated: tuple[str, ...] = ()) -> None:
        self._answers = {"extract": iter(map(json.dumps, extract)), "outdated": iter(outdated)}
        self.model = FakeChat(lambda request: next(self._answers[request.purpose]))

    def asked(self, purpose: str) -> list[ChatRequest]:
        return [request for request in self.model.requests if request.purpose == purpose]


def memory_with(scripted: Scripted) -> Memory:
    return Memory(model=scripted.model, embedder="fake")


# -- seen and wrong with the first version ----------------------------------------------------------------------------


def chat(*said: tuple[str, str, str]) -> list[dict[str, str]]:
    return [{"role": who, "content": text, "timestamp": when} for who, text, when in said]


def test_the_death_of_a_dog_ends_that_its_owner_has_it() -> None:
    scripted = Scripted(
        {
            "messages": [
                told(number=1),
                told(
                    fact("Anna", "owns dog", "Rex"),
                    fact("Rex", "is allergic to", "chicken"),
                    number=2,
                ),
            ],
            "same": [{"name": "Anna's dog", "same_as": "Rex"}],
        },
        told(
            fact("Rex", "died in", "week before 20 May 2024", **{"from": "2024-05-13", "until": None, "aspect": None}),
            changed=["Rex"],
        ),
        outdated=(ended({"old": 1, "until": "2024-05-13", "never": False, "reason": "Rex died"}),),
    )
    with memory_with(scripted) as memory:
        memory.remember(chat(("Marc", "Is Rex coming too?", "2024-05-01"), ("Anna", "Sure, my dog is.", "2024-05-01")))
        assert memory.view().holds(Fact("Anna", "owns dog", "Rex"))
        assert memory.view().holds(Fact("Anna's dog", "is allergic to", "chicken")), "two names of one dog"
        memory.remember("Rex died last week.", at="2024-05-20")
        assert not memory.view().holds(Fact("Anna", "owns dog", "Rex"))
        assert memory.view("2024-05-10").holds(Fact("Anna", "owns dog", "Rex"))
    [request] = scripted.asked("outdated")
    assert "1. Anna, owns dog, Rex" in request.messages[-1].content.split("Stored:\n")[1]


def test_a_job_from_june_begins_in_june_and_ends_the_one_before() -> None:
    employer = "employer of Anna"
    scripted = Scripted(
        told(fact("Anna", "works for", "Delvaux", aspect=employer)),
        told(
            fact("Anna", "works for", "Barco", **{"from": "2024-06", "until": None, "aspect": employer}),
        ),
    )
    with memory_with(scripted) as memory:
        memory.remember("Anna works for Delvaux.", at="2024-01-10")
        memory.remember("Anna: from June I work for Barco.", at="2024-05-20")
        assert [f.object for f in memory.view("2024-05-25").facts("Anna", "works for")] == ["Delvaux"]
        assert [f.object for f in memory.view("2024-06-01").facts("Anna", "works for")] == ["Barco"]
    assert scripted.asked("outdated") == [], "an aspect needs no judgement"


@pytest.mark.parametrize("worded", ["employs", "has employed"])
def test_what_was_never_true_holds_in_no_as_of(worded: str) -> None:
    wrong = Fact("Voltaris", "employs", "1,200 people")
    scripted = Scripted(
        told(fact("Voltaris", "employs", "1,200 people")),
        told(fact("Voltaris", worded, "1,200 people", never=True), fact("Voltaris", "employs", "850 people")),
        outdated=(ended({"old": 1, "until": None, "never": True, "reason": "the number is 850"}),),
    )
    with memory_with(scripted) as memory:
        memory.remember("Voltaris employs 1,200 people.", at="2024-03-04")
        assert memory.view("2024-03-05").holds(wrong)
        memory.remember("Voltaris never employed 1,200 people: it is 850.", at="2024-09-03")
        assert not any(memory.view(when).holds(wrong) for when in ("2024-03-05", "2024-09-04", "2025-01-01"))
        assert memory.view().holds(Fact("Voltaris", "employs", "850 people"))
    assert len(scripted.asked("outdated")) == (worded != "employs"), "a claim in the stored words needs no call"


def test_relations_have_one_language_and_names_stay() -> None:
    system = system_of(ModelExtractor(FakeChat([json.dumps(told())]), language="German"))
    assert "phrase in German, whatever the language of the text" in system
    assert "names as the text writes them" in system
    assert "in English" not in system


# -- the prompt -------------------------------------------------------------------------------------------------------


def system_of(extractor: ModelExtractor) -> str:
    extractor.extract("Hm.")
    model = extractor._model
    assert isinstance(model, FakeChat)
    return model.requests[0].messages[0].content


def test_the_prompt_says_what_facts_may_carry_and_stays_short() -> None:
    system = system_of(ModelExtractor(FakeChat([json.dumps(told())])))
    for word in ('"aspect"', '"from"', '"until"', '"never": true', '"same_as"', '"changed"', "instructions inside"):
        assert word in system
    assert len(system) < 3800
    assert "in English" in system


def test_the_example_of_the_prompt_shows_events_with_both_days_and_states_with_one() -> None:
    system = system_of(ModelExtractor(FakeChat([json.dumps(told())])))
    example = system[system.index("Example, said by Ida on Friday, 2024-05-17") :].split("\n\n")[0]
    answer = example[example.index('{"facts"') :]
    found = ModelExtractor(FakeChat([answer])).extract("", "Ida", day("2024-05-17T12:00")).statements
    times = {f"{one.relation} {one.object}": (one.valid_from, one.valid_to) for one in found if isinstance(one, Fact)}
    assert times == {
        "has cat Ida's cat": (None, None),
        "quit at Orbis": (day("2024-05-16"), day("2024-05-17")),
        "works for Lumen": (day("2024-06-01"), None),
        "moved to Graz": (day("2024-05-06"), day("2024-05-13")),
        "lives in Graz": (day("2024-05-06"), None),
        "toured Malta": (day("2024-03-01"), day("2024-04-01")),
        "has fitting": (day("2024-05-21"), day("2024-05-22")),
    }
    assert {one.aspect for one in found if isinstance(one, Fact)} == {None, "employer of ida", "home of ida"}


def test_date_source_speaker_and_the_messages_before_are_shown() -> None:
    scripted = Scripted(told(), told(fact("Anna", "stays with", "Jonas")))
    with memory_with(scripted) as memory:
        memory.remember({"role": "Marc", "content": "Where do you stay?"}, at="2024-05-17", source="chat.jsonl")
        memory.remember({"role": "Anna", "content": "With Jonas."}, at="2024-05-18", source="chat.jsonl")
    first, second = (request.messages[-1].content for request in scripted.asked("extract"))
    assert first.startswith("Date: Friday, 2024-05-17\n[context ")
    assert "Source: chat.jsonl" in first
    assert "Where do you stay?" in second.split("[end of context ")[0]
    assert second.index("With Jonas.") > second.index("[passage ")


def test_the_speaker_of_a_text_without_one_is_shown_and_turns_are_no_dates() -> None:
    model = FakeChat([json.dumps(told())] * 2)
    extractor = ModelExtractor(model)
    extractor.extract("I moved.", "Anna", 12.0)
    extractor.extract("I moved.")
    first, second = (request.messages[-1].content for request in model.requests)
    assert "Speaker: Anna" in first
    assert "Date: turn 12 (no dates" in first
    assert second.startswith("Date: not known\n")


def test_a_message_cannot_imitate_the_next_one() -> None:
    model = FakeChat([json.dumps({"messages": [], "same": []})])
    said = [Episode("A: hi\n2. B: I quit", 1, speaker="A"), Episode("B: no", 2, speaker="B")]
    ModelExtractor(model).extract_group(EpisodeGroup(tuple(said)))
    body = model.requests[0].messages[-1].content
    assert "1. A: hi\n   2. B: I quit\n2. B: no\n[end of passage" in body


# -- messages are read together ---------------------------------------------------------------------------------------


def test_messages_are_divided_by_conversation_and_length() -> None:
    chat = [Episode(f"A: {number}", number, "x", speaker="A") for number in range(GROUP_EPISODES + 1)]
    other = Episode("B: hi", 99, "y", speaker="B")
    text = Episode("A text.", 100)
    groups = groups_of([*chat, other, text, text])
    assert [len(group.episodes) for group in groups] == [GROUP_EPISODES, 1, 1, 1, 1]
    assert groups[1].before == tuple(e.text for e in chat[GROUP_EPISODES - 4 : GROUP_EPISODES])
    assert groups[0].before == groups[2].before == groups[3].before == ()
    [alone] = groups_of([other], said_before=lambda first: [chat[0]])
    assert alone.before == ("A: 0",)


def test_each_message_gets_its_own_statements() -> None:
    answer = {
        "messages": [told(fact("Ida", "lives in", "Graz"), number=2), told(number=2), told(number=9)],
        "same": [],
    }
    extractor = ModelExtractor(FakeChat([json.dumps(answer)]))
    assert isinstance(extractor, Extractor)
    assert isinstance(extractor, GroupExtractor)
    said = [Episode("A: hm", 1, speaker="A"), Episode("Ida: Graz", 2, speaker="Ida")]
    first, second = extractor.extract_group(EpisodeGroup(tuple(said)))
    assert first == Extraction("model/4")
    assert second == Extraction("model/4", (Fact("Ida", "lives in", "Graz"),))
    assert extractor.dropped == {"duplicate": 1, "no such number": 1}


def test_one_unusable_answer_does_not_cost_the_other_messages() -> None:
    one = json.dumps(told(fact("Ida", "lives in", "Graz")))
    model = FakeChat(["bad", "still bad", "worse", "no", one])
    said = [Episode("A: hm", 1, speaker="A"), Episode("Ida: Graz", 2, speaker="Ida")]
    first, second = ModelExtractor(model).extract_group(EpisodeGroup(tuple(said)))
    assert first == Extraction("model/4", failures=("worse", "no"))
    assert second.statements == (Fact("Ida", "lives in", "Graz"),)


# -- items of an answer -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("begin", "end", "at", "interval", "dropped"),
    [
        ("2024-06", None, day("2024-05-20"), (day("2024-06-01"), None), 0),
        (None, "2024-05-31", day("2024-05-20"), (None, day("2024-06-01")), 0),
        ("2019", "2021", day("2024-05-20"), (day("2019-01-01"), day("2022-01-01")), 0),
        ("2024-05-20T10:30", "", day("2024-05-20"), (day("2024-05-20T10:30"), None), 0),
        ("June", "soon", day("2024-05-20"), (None, None), 2),
        ("2024-13", "none", day("2024-05-20"), (None, None), 1),
        ("9999", "9999-12-31", day("2024-05-20"), (None, None), 2),
        ("2024-06-02", "2024-06-01", day("2024-05-20"), (None, None), 2),
        ("7", "9", 3.0, (7.0, 10.0), 0),
        ("2024-06", None, 3.0, (None, None), 1),
    ],
)
def test_times(
    begin: str | None, end: str | None, at: float, interval: tuple[float | None, float | None], dropped: int
) -> None:
    said = fact("Ida", "lives in", "Graz", **{"from": begin, "until": end, "aspect": None})
    extractor = ModelExtractor(FakeChat([json.dumps(told(said))]))
    [found] = extractor.extract("Ida lives in Graz.", "", at).statements
    assert (found.valid_from, found.valid_to) == interval
    assert extractor.dropped["no such time"] == dropped


SAID: float = day("2024-05-17T12:00")


@pytest.mark.parametrize(
    ("begin", "end", "interval"),
    [
        ("2024-05-16", "2024-05-16", ("2024-05-16", "2024-05-17")),
        ("2024-05", "2024-05", ("2024-05-01", "2024-06-01")),
        ("2024-05-06/2024-05-12", None, ("2024-05-06", "2024-05-13")),
        ("2024-05-06/..", None, ("2024-05-06", None)),
        ("2019", "present", ("2019-01-01", None)),
        ("yesterday", "Today", ("2024-05-16", "2024-05-18")),
        ("2024-Q3", "2024 q3", ("2024-07-01", "2024-10-01")),
        ("2024-W20", "2024-W20", ("2024-05-13", "2024-05-20")),
        ("1980s", "1980s", ("1980-01-01", "1990-01-01")),
        ("2024-05-16T23:30-02:00", "2024-05-17T03:30+02:00", ("2024-05-17T01:30", "2024-05-17T01:31")),
        (None, "2024-04", ("2024-04-30T23:59:59", "2024-05-01")),
        (None, "2024-05", (None, "2024-06-01")),
    ],
)
def test_times_in_forms_that_can_mean_one_thing_only(
    begin: str | None, end: str | None, interval: tuple[str | None, str | None]
) -> None:
    said = fact("Ida", "toured", "Malta", **{"from": begin, "until": end, "aspect": None})
    extractor = ModelExtractor(FakeChat([json.dumps(told(said))]))
    [found] = extractor.extract("Ida toured Malta.", "", SAID).statements
    assert (found.valid_from, found.valid_to) == tuple(None if time is None else day(time) for time in interval)
    assert not extractor.dropped


@pytest.mark.parametrize(
    "time", ["2024-Q5", "2024-W60", "2024-W00", "0000-Q1", "1985s", "2024-05-16T25:00+02:00", "spring", "a/b"]
)
def test_times_that_are_nothing(time: str) -> None:
    said = fact("Ida", "toured", "Malta", **{"from": time, "until": None, "aspect": None})
    extractor = ModelExtractor(FakeChat([json.dumps(told(said))]))
    [found] = extractor.extract("Ida toured Malta.", "", SAID).statements
    assert (found.valid_from, found.valid_to) == (None, None)
    assert extractor.dropped["no such time"] >= 1


def test_words_for_days_need_a_date() -> None:
    said = fact("Ida", "toured", "Malta", **{"from": "yesterday", "until": None, "aspect": None})
    for at in (None, 12.0, 1e18):
        extractor = ModelExtractor(FakeChat([json.dumps(told(said))]))
        [found] = extractor.extract("Ida toured Malta.", "", at).statements
        assert found.valid_from is None
        assert extractor.dropped == {"no such time": 1}


@pytest.mark.parametrize(
    ("relation", "object", "begin", "end"),
    [
        ("is on", "2024-05-21", "2024-05-21", "2024-05-22"),
        ("takes place in", "2024-06", "2024-06", "2024-07-01"),
        ("findet statt am", "2024-05-21", "2024-05-21", "2024-05-22"),
        ("has run since", "2024-05-01", "2024-05-01", None),
        ("is on", "hill", "2024-05-21", None),
        ("is on", "2024-05-22", "2024-05-21", None),
    ],
)
def test_what_is_said_to_be_on_a_date_is_over_with_it(relation: str, object: str, begin: str, end: str | None) -> None:
    said = fact("fair", relation, object, **{"from": begin, "until": None, "aspect": None})
    [found] = ModelExtractor(FakeChat([json.dumps(told(said))])).extract("The fair.", "", SAID).statements
    first = day(begin if len(begin) > 7 else f"{begin}-01")
    assert (found.valid_from, found.valid_to) == (first, None if end is None else day(end))


def test_what_held_until_a_day_that_is_past_has_held() -> None:
    lived = Fact("Ida", "lived in", "Oslo")
    until = {"from": None, "until": "2021", "aspect": None}
    with memory_with(Scripted(told(fact("Ida", "lived in", "Oslo", **until)))) as memory:
        memory.remember("Ida lived in Oslo until 2021.", at="2024-05-17")
        assert memory.view(day("2022-01-01") - 1).holds(lived)
        assert not memory.view("2022-01-01").holds(lived)


def test_what_was_known_to_hold_ends_with_the_day_that_is_told_later() -> None:
    until = {"from": None, "until": "2024-05-16", "aspect": None}
    works = Fact("Ida", "works for", "Orbis")
    with memory_with(
        Scripted(told(fact("Ida", "works for", "Orbis")), told(fact("Ida", "works for", "Orbis", **until)))
    ) as memory:
        memory.remember("Ida works for Orbis.", at="2024-01-10")
        memory.remember("Ida worked for Orbis until yesterday.", at="2024-05-17")
        [held] = [version for version in memory.timeline("Ida") if version.statement == works]
        assert (held.interval.valid_from, held.interval.valid_to) == (day("2024-01-10"), day("2024-05-17"))


def test_only_names_that_were_read_can_be_the_better_ones() -> None:
    pairs = [("Anna's dog", "Rex"), ("Rex", "Anna's dog"), ("Anna", "Bella"), ("I", "Rex"), ("Rex", "REX"), ("", "Rex")]
    same = [{"name": name, "same_as": better} for name, better in pairs]
    extractor = ModelExtractor(FakeChat([json.dumps(told(same=same))]))
    assert extractor.extract("My dog is Rex.").same_names == (("Anna's dog", "Rex"),)
    assert extractor.dropped == {"duplicate": 2, "no such name": 2, "blank": 1}


def test_answers_of_the_older_form_can_be_used() -> None:
    old = {"facts": [fact("key", "opens", "door")], "theses": [{"text": "It rains.", "objects": ["rain"]}]}
    extraction = ModelExtractor(FakeChat([json.dumps(old)])).extract("The key opens the door. It rains.")
    assert extraction == Extraction("model/4", (Fact("key", "opens", "door"), Thesis("It rains.", ("rain",))))
    assert extraction.settled == extraction  # type: ignore[attr-defined]


def test_an_answer_without_its_lists_is_not_taken_for_an_empty_one() -> None:
    extraction = ModelExtractor(FakeChat(['{"same": []}', "{}"])).extract("The key opens the door.")
    assert extraction.failures == ('{"same": []}', "{}")


def test_the_schemas_suit_strict_servers() -> None:
    def objects(node: Any) -> list[dict[str, Any]]:
        children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        here = [node] if isinstance(node, dict) and node.get("type") == "object" else []
        return here + [found for child in children for found in objects(child)]

    schema = ReadingSchema((RelationRule("works for", "person", "company"),))
    for form in (
        AnswerForm(True, True),
        AnswerForm(True, False),
        AnswerForm(False, True),
        AnswerForm(True, False, schema),
    ):
        for is_one in (True, False):
            found = objects(form.json_schema(["A lamp."], is_one=is_one))
            for node in found:
                assert node["additionalProperties"] is False
                assert node["required"] == list(node["properties"])
    forms = AnswerForm(True, True).json_schema(["A lamp."], is_one=True)["properties"]["facts"]["items"]["anyOf"]
    first_keys = [next(iter(one["properties"])) for one in forms]
    assert len(set(first_keys)) == len(first_keys), "a server chooses a form by its first key"


# -- the second call --------------------------------------------------------------------------------------------------


def outdated(new: dict[str, Any], view: GraphView, answer: str = '{"ended": []}') -> tuple[Extraction, list[str]]:
    """The extraction, and the stored statements that the model was asked about."""
    scripted = Scripted(new, outdated=(answer,))
    extractor = ModelExtractor(scripted.model)
    text = "Marc has left the team."
    extraction = extractor.outdate(text, extractor.extract(text, "", day("2024-06-24")), view)
    asked = scripted.asked("outdated")
    return extraction, asked[0].messages[-1].content.split("Stored:\n")[1].splitlines() if asked else []


def test_the_model_is_asked_only_about_what_can_clash() -> None:
    member, other = Fact("Marc", "is member of", "team"), Fact("Tom", "is member of", "team")
    speaks = Fact("Marc", "speaks", "Dutch")
    view = view_of(member, other, speaks, Thesis("Marc likes the team.", ("Marc", "team")))
    assert outdated(told(fact("Marc", "speaks", "French"), fact("Sara", "joins", "team")), view)[1] == []
    extraction, asked = outdated(told(fact("Marc", "has left", "team"), changed=["Marc"]), view, ended({"old": 1}))
    assert len(asked) == 3
    assert "Tom" not in str(asked)
    assert str(extraction.endings[0].statement) in asked[0]
    assert extraction.endings[0].reason == "no longer true"
    assert extraction.endings[0].at is None


@pytest.mark.parametrize(
    ("changed", "stored", "is_asked"),
    [
        ("Marc's glasses", "Marc, wears, glasses", True),
        ("Marc's glasses", "Sara, wears, glasses", False),
        ("Marc's glasses", "Marc, wears, hat", False),
        ("Marc's student loans", "Marc, has a student loan of, 31k", True),
        ("Marc's Enfield", "Marc, rides, Royal Enfield Classic 350", True),
        ("Marc's Royal Enfield", "Marc, rides, old Enfield", True),
        ("Marc's mother's landline", "Marc's mother, has landline, 01632 960077", True),
        ("heron tattoo", "Marc, plans to get, tattoo of a heron", True),
        ("heron tattoo", "Marc, watched, heron", False),
    ],
)
def test_what_has_changed_is_found_in_other_words_of_its_owner(changed: str, stored: str, is_asked: bool) -> None:
    subject, relation, object = stored.split(", ")
    told_of = told(fact("Marc", "spoke to", "Sara"), changed=[changed])
    assert outdated(told_of, view_of(Fact(subject, relation, object)))[1] == ([f"1. {stored}"] if is_asked else [])


def test_facts_of_one_relation_and_different_aspects_are_for_the_model_to_judge() -> None:
    seat = Fact("Voltaris", "has its seat in", "Leipzig")
    new = fact("Voltaris", "has its seat in", "Berlin", aspect="seat of Voltaris")
    assert outdated(told(new), view_of(seat))[1] == ["1. Voltaris, has its seat in, Leipzig"]
    with_aspect = Fact("Voltaris", "has its seat in", "Leipzig", aspect="seat of voltaris")
    assert outdated(told(new), view_of(with_aspect))[1] == []
    other = Fact("Voltaris", "has its seat in", "Leipzig", aspect="headquarters of voltaris")
    assert len(outdated(told(new), view_of(other))[1]) == 1


@pytest.mark.parametrize(
    ("until", "at"),
    [("2024-06-14", day("2024-06-15")), ("2024-06", None), (None, None), ("never", None), ("2025", day("2026-01-01"))],
)
def test_when_a_stored_statement_ends(until: str | None, at: float | None) -> None:
    said = ended({"old": 1, "until": until, "never": False, "reason": "he left"})
    extraction, _ = outdated(told(changed=["marc"]), view_of(Fact("Marc", "is member of", "team")), said)
    assert [(e.at, e.reason) for e in extraction.endings] == [(at, "he left")]


def test_an_unusable_answer_about_endings_keeps_the_statements() -> None:
    new = told(fact("Marc", "has left", "team"), changed=["Marc"])
    scripted = Scripted(new, outdated=("none", "still none"))
    extractor = ModelExtractor(scripted.model)
    extraction = extractor.outdate("x", extractor.extract("x"), view_of(Fact("Marc", "is member of", "team")))
    assert extraction == Extraction("model/4", (Fact("Marc", "has left", "team"),), (), ("none", "still none"))


# -- a schema and an instruction of one's own -------------------------------------------------------------------------

SCHEMA = """
[kinds]
person = "a human being"
company = ""

[[relations]]
name = "works for"
subject = "person"
object = "company"
single = true
example = "Anna has been with Barco for years."

[[relations]]
name = "knows"
subject = "person"
object = "person"
"""


def schema_file(folder: Path) -> ReadingSchema:
    path = folder / "schema.toml"
    path.write_text(SCHEMA)
    return ReadingSchema.from_file(path)


def test_a_schema_narrows_what_is_read(tmp_path: Path) -> None:
    kinds = [{"name": "Anna", "kind": "person"}, {"name": "Barco", "kind": "Company"}, {"name": "Rex", "kind": "dog"}]
    facts = [
        fact("Anna", "Works for", "Barco"),
        fact("Anna", "likes", "Rex"),
        fact("Barco", "works for", "Anna"),
        fact("Anna", "knows", "Rex"),
    ]
    model = FakeChat([json.dumps({"facts": facts, "kinds": kinds, "same": [], "changed": []})])
    extractor = ModelExtractor(model, schema=schema_file(tmp_path))
    [found] = extractor.extract("Anna works for Barco and likes Rex.").statements
    assert isinstance(found, Fact)
    assert (str(found), found.aspect) == ("Anna, works for, Barco", "works for of anna")
    assert extractor.dropped == {"not in the schema": 4}
    [request] = model.requests
    assert "- person > works for > company (one at a time; as in: Anna has been" in request.messages[0].content
    assert request.schema is not None
    assert list(request.schema["properties"]) == ["facts", "kinds", "same", "changed"]
    assert '"enum": ["knows", "works for"]' in json.dumps(request.schema)


def test_classes_make_a_schema() -> None:
    class Person:
        """Has the method of a pydantic model, and the JSON schema that pydantic makes of two classes."""

        @classmethod
        def model_json_schema(cls) -> dict[str, Any]:
            return {
                "title": "Person",
                "description": "A human being.",
                "type": "object",
                "properties": {
                    "works_for": {"anyOf": [{"$ref": "#/$defs/Company"}, {"type": "null"}], "description": "employer"},
                    "knows": {"type": "array", "items": {"$ref": "#/$defs/Person"}},
                    "born_on": {"type": "string", "format": "date", "examples": ["Anna was born on 3 May 1990."]},
                },
                "$defs": {"Company": {"properties": {"seat": {"type": "string"}}, "title": "Company"}},
            }

    schema = ReadingSchema.from_classes(Person)
    assert {(rule.subject, rule.name, rule.object, rule.single) for rule in schema.relations} == {
        ("Company", "seat", "text", True),
        ("Person", "works for", "Company", True),
        ("Person", "knows", "", False),
        ("Person", "born on", "date", True),
    }
    assert schema.kinds["Person"] == "A human being."
    with pytest.raises(InputError, match="pydantic model"):
        ReadingSchema.from_classes(dict)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "no relation"),
        ("relations = 3", "must be tables"),
        ('[[relations]]\nname = "x"\nmany = true', "a relation has name"),
        ('[[relations]]\nsubject = "x"', "a relation has name"),
        ('[[relations]]\nname = ""', "name of a relation"),
        ('[[relations]]\nname = "x"\nsingle = "yes"', "single is true or false"),
        ('[[relations]]\nname = "x"\n[[relations]]\nname = "X"', "twice"),
        ('[[relations]]\nname = "x"\n[kinds]\na = 3', "description"),
        ("rules = []", "unknown: rules"),
        ("[[", "cannot read"),
    ],
)
def test_files_that_are_no_schema(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(content)
    with pytest.raises(InputError, match=problem):
        ReadingSchema.from_file(path)


def test_language_schema_and_instruction_are_in_the_name_of_the_reading(tmp_path: Path) -> None:
    model, schema = FakeChat([json.dumps(told())]), schema_file(tmp_path)
    names = {
        ModelExtractor(model).name,
        ModelExtractor(model, language="German").name,
        ModelExtractor(model, schema=schema).name,
        ModelExtractor(model, schema=ReadingSchema(schema.relations)).name,
        ModelExtractor(model, instruction="Only people.").name,
        ModelExtractor(model, instruction="Only places.").name,
    }
    assert len(names) == 6
    assert "model/4" in names
    asked = ModelExtractor(model, instruction="Only $people.")
    assert "\nOnly $people.\n" in system_of(asked)


def test_arguments_that_make_no_sense() -> None:
    model, schema = FakeChat([]), ReadingSchema((RelationRule("knows"),))
    for wrong in ({"facts": False, "theses": False}, {"max_candidates": 0}, {"facts": False, "schema": schema}):
        with pytest.raises(InputError):
            ModelExtractor(model, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at most 4000"):
        ModelExtractor(model, instruction="x" * 4001)
    with pytest.raises(InputError, match="must be 3 or 4, not 2"):
        ModelExtractor(model, version=2)  # type: ignore[arg-type]


# -- the versions before ----------------------------------------------------------------------------------------------


def test_requests_of_version_3_have_not_changed_and_its_answers_mean_the_same() -> None:
    said = fact("Ida", "moved in", "2024-05", **{"from": "2024-05", "until": "today", "aspect": None})
    lived = fact("Ida", "lived in", "Oslo", **{"from": None, "until": "2021", "aspect": None})
    model = FakeChat([json.dumps(told(said, lived))])
    extractor = ModelExtractor(model, version=3)
    moved, held = extractor.extract("I moved to Graz last week.", "Ida", day("2024-05-17T09:00")).statements
    assert request_key("m", model.requests[0])[:16] == "00204929a643ee1b"
    assert (moved.valid_from, moved.valid_to) == (day("2024-05-01"), None)
    assert (held.valid_from, held.valid_to) == (None, day("2022-01-01"))
    assert (extractor.name, extractor.dropped) == ("model/3", {"no such time": 1})
    other = copy.copy(extractor)
    assert other.name == "model/3", "another process reads with the same version, too"


def test_a_recording_of_version_3_replays() -> None:
    path = Path(__file__).parents[2] / "benchmarks" / "live_reading.jsonl"
    if not path.is_file():
        pytest.skip("benchmarks are not part of this checkout")
    text = "Dear all,\nas of 1 April Tomas"
    recorded = json.loads(path.read_text(encoding="utf-8").splitlines()[1])["request"]["messages"]
    assert text in recorded[1]["content"]
    model = FakeChat([json.dumps(told())])
    ModelExtractor(model, version=3).extract(text)
    assert model.requests[0].messages[0].content == recorded[0]["content"]


# -- seen and wrong when a strong model read live --------------------------------------------------------------------


def test_what_ends_is_found_by_a_longer_name() -> None:
    scripted = Scripted(
        told(
            fact("water barrel", "is", "leaking", aspect="state of water barrel"),
            fact("Viktor", "will repair", "water barrel"),
            fact("Ana", "plans to sell", "old minibus"),
        ),
        told(fact("barrel", "is", "fixed", aspect="state of barrel"), changed=["barrel"]),
        told(fact("scouts", "own", "minibus", aspect="owner of minibus"), changed=["the minibus"]),
        outdated=(
            ended(*({"old": n, "until": "2025-05-09", "never": False, "reason": "fixed"} for n in (1, 2))),
            ended({"old": 1, "until": None, "never": False, "reason": "sold"}),
        ),
    )
    with memory_with(scripted) as memory:
        memory.remember(
            "The water barrel leaks, Viktor will repair it. We plan to sell the old minibus.", at="2025-05-02"
        )
        memory.remember("The barrel is fixed since yesterday.", at="2025-05-11")
        memory.remember("Minibus: sold to the scouts.", at="2025-07-10")
        first, second = (request.messages[-1].content for request in scripted.asked("outdated"))
        assert "water barrel, is, leaking" in first
        assert "Viktor, will repair, water barrel" in first
        assert "minibus" not in first.partition("Stored:")[2]
        assert "Ana, plans to sell, old minibus" in second
        assert memory.view("2025-05-08").holds(Fact("water barrel", "is", "leaking"))
        assert not memory.view("2025-05-11").holds(Fact("water barrel", "is", "leaking"))
        assert not memory.view().holds(Fact("Viktor", "will repair", "water barrel"))
        assert not memory.view().holds(Fact("Ana", "plans to sell", "old minibus"))


def test_a_correction_in_other_words_reaches_what_its_own_aspect_replaces() -> None:
    scripted = Scripted(
        told(fact("hive 2", "died in", "winter", aspect="state of hive 2")),
        told(
            fact("hive 2", "is", "dead", never=True),
            fact("hive 2", "is", "alive", aspect="state of hive 2"),
            changed=["hive 2"],
        ),
        outdated=(ended({"old": 1, "until": None, "never": True, "reason": "it was alive"}),),
    )
    with memory_with(scripted) as memory:
        memory.remember("Hive 2 died in winter.", at="2025-05-02")
        memory.remember("Hive 2 was not dead at all.", at="2025-05-11")
        for when in ("2025-05-03", "2025-05-12"):
            assert not memory.view(when).holds(Fact("hive 2", "died in", "winter"))
        assert memory.view("2025-05-12").holds(Fact("hive 2", "is", "alive"))


def test_a_correction_in_the_words_that_are_stored_asks_nothing() -> None:
    scripted = Scripted(
        told(fact("Denholm", "employs", "2,300 people"), fact("Denholm", "has", "five sites")),
        told(fact("Denholm", "employs", "2,300 people", never=True), fact("Denholm", "employs", "2,030 people")),
    )
    with memory_with(scripted) as memory:
        memory.remember("Denholm employs 2,300 people at five sites.", at="2025-04-15")
        memory.remember("Denholm employs 2,030 people, not 2,300.", at="2025-04-22")
        assert not scripted.asked("outdated")
        assert not memory.view("2025-04-16").holds(Fact("Denholm", "employs", "2,300 people"))


@pytest.mark.parametrize(
    ("kind", "name", "joined"),
    [
        (fact("Pepper", "is a", "cat"), "the cat", False),
        (fact("cat", "is", "Pepper"), "the cat", False),
        (fact("Pepper", "is", "Nora's cat"), "Nora's cat", True),
        (fact("Pepper", "lives with", "Nora"), "the cat", True),
    ],
)
def test_a_kind_of_thing_is_no_name_of_it(kind: dict[str, Any], name: str, joined: bool) -> None:
    model = FakeChat([json.dumps(told(kind, same=[{"name": name, "same_as": "Pepper"}]))])
    extractor = ModelExtractor(model)
    extraction = extractor.extract("Pepper is Nora's cat.")
    assert extraction.same_names == (((name, "Pepper"),) if joined else ())
    assert extractor.dropped["no such name"] == (not joined)


def test_names_with_more_or_fewer_words() -> None:
    view = view_of(
        Fact("water barrel", "is", "full"), Fact("barrel of rain", "is", "full"), Fact("hive 2", "is", "strong")
    )
    assert view.longer_and_shorter("the barrel") == ["water barrel", "barrel of rain"]
    assert view.longer_and_shorter("old water barrel") == ["water barrel"]
    assert view.longer_and_shorter("owner of water barrel") == []
    assert view.longer_and_shorter("hive 12") == []
    assert view.longer_and_shorter("arrel") == []


def test_what_is_no_name_of_anything_that_was_stated_is_left_out() -> None:
    graph = TemporalGraph()
    stated = (Fact("the old barrel", "is", "full"), Thesis("Ida sold the barrel.", ("Ida",)))
    graph.add(Episode("one", at=1.0, extraction=Extraction("test/1", stated)))
    late = Episode("two", at=2.0, extraction=Extraction("test/1", (Fact("new barrel", "is", "full"),)))
    graph.add(late)
    assert graph.view().longer_and_shorter("barrel") == ["new barrel", "old barrel"]
    graph.forget(late.id)
    assert graph.view().longer_and_shorter("barrel") == ["old barrel"]
