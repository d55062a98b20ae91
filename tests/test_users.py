"""Users of one memory are apart: what one of them says neither shows nor changes anything of another."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from worldthread import Ending, Episode, Extraction, Fact, Filter, Memory, Version
from worldthread.errors import InputError
from worldthread.extract.prose.extractor import ProseExtractor
from worldthread.graph import GraphView

DAY = 86_400.0
NEW_YEAR = 1_704_067_200.0  # 2024
NAMES = ("Anna", "Max", "Alexandra", "Maximilian", "Eva", "Tom")
CITIES = ("Rome", "Paris", "Oslo", "Bern", "Lisbon", "Vienna")
FIRMS = ("Acme", "Globex", "Initech")
SENTENCES = (
    "I live in {city}.", "I moved to {city}.", "I work for {firm}.", "I left {firm}.", "I no longer live in {city}.",
    "{name} lives in {city}.", "{name} moved to {city}.", "{name} works for {firm}.", "{name} left {firm}.",
    "My neighbour {name} moved to {city}.", "My sister {name} lives in {city}.", "{name} is married to {other}.",
    "{name} likes {city}.", "My sister is {name}.", "{name} no longer works for {firm}.", "I like {city}.",
)  # fmt: skip
ASKED = 10
"""One in so many users asks for answers."""
QUESTIONS = ("Where do I live?", "Where does Anna live?", "Who works for Acme?")


def memory_of(path: Path | None = None) -> Memory:
    return Memory(path, model="none", embedder="fake", extractor=ProseExtractor())


@dataclass(frozen=True)
class Turn:
    """What a user says once."""

    user: str
    at: float
    text: str
    is_message: bool


def random_turns(chance: Random, count: int) -> list[Turn]:
    """What users say whose ids are two names in different letters, about people and places with the same names."""
    users = dict.fromkeys(("", "anna", "Anna"))
    while len(users) < count:
        name = chance.choice(("alexandra", "maximilian"))
        users["".join(chance.choice((letter, letter.upper())) for letter in name)] = None
    turns = []
    for user in users:
        for day in chance.sample(range(1, 200), chance.randint(3, 8)):
            name, other = chance.sample(NAMES, 2)
            words = {"name": name, "other": other, "city": chance.choice(CITIES), "firm": chance.choice(FIRMS)}
            turns.append(
                Turn(user, NEW_YEAR + day * DAY, chance.choice(SENTENCES).format(**words), chance.random() < 0.5)
            )
    return sorted(turns, key=lambda turn: turn.at + chance.choice((0, 0, 0, 50 * DAY)))  # some comes late


def say(memory: Memory, turn: Turn) -> None:
    content = [{"role": "user", "content": turn.text}] if turn.is_message else turn.text
    memory.remember(content, at=turn.at, source="chat", user=turn.user)


def every_version(memory: Memory, where: Filter | None, *, only_current: bool) -> list[Version]:
    found: list[Version] = []
    cursor = None
    while True:
        page = memory.list_statements(where, only_current=only_current, limit=7, cursor=cursor)
        found += page.items
        cursor = page.cursor
        if cursor is None:
            return found


def told(versions: Sequence[Version]) -> list[tuple[object, ...]]:
    return [(str(v.statement), v.interval, v.sources, v.ended_by, v.reason) for v in versions]


@dataclass
class Differences:
    """How much the users of one memory are told otherwise than each by a memory of their own."""

    users: int = 0
    versions: int = 0
    foreign_endings: int = 0
    leaks: int = 0

    def expect(self, theirs: Sequence[Version], alone: Sequence[Version]) -> None:
        """Count what is not the same: statements, intervals, sources and the reasons of endings."""
        self.versions += len(alone)
        self.foreign_endings += told(theirs) != told(alone)


def compare(shared: Memory, user: str, said: Sequence[Turn], found: Differences) -> None:
    """Compare what a memory tells one user with what a memory of their own tells."""
    where = Filter(user=user)
    found.users += 1
    with memory_of() as own:
        for turn in said:
            say(own, turn)
        for only_current in (False, True):
            alone = every_version(own, where, only_current=only_current)
            found.expect(every_version(shared, where, only_current=only_current), alone)
        for name in (*NAMES, user or "user"):
            for as_of in (None, NEW_YEAR + 100 * DAY):
                found.expect(shared.about(name, as_of=as_of, where=where), own.about(name, as_of=as_of))
            found.expect(shared.timeline(name, where=where), own.timeline(name))
        texts = {episode.id: episode.text for episode in own.episodes()}
        found.leaks += {episode.id: episode.text for episode in shared.episodes(where)} != texts
        versions = set(told(every_version(own, None, only_current=False)))
        for question in QUESTIONS:
            recalled = shared.recall(question, k=20, where=where, only_current=False)
            # an answer takes a tenth of a second
            answer = shared.ask(question, where=where).sources if found.users % ASKED == 0 else ()
            for hits in (recalled.hits, answer):
                for hit in hits:
                    is_own = hit.item.id in texts if hit.version is None else set(told([hit.version])) <= versions
                    found.leaks += not is_own


def compare_all(count: int, seed: int, path: Path) -> Differences:
    """Let users talk to one memory in turns, and compare each with a memory of their own."""
    chance = Random(seed)
    turns = random_turns(chance, count)
    with memory_of(path) as shared:
        for turn in turns:
            say(shared, turn)
    found = Differences()
    with memory_of(path) as shared:  # from a snapshot, where there is one
        for user in dict.fromkeys(turn.user for turn in turns):
            compare(shared, user, [turn for turn in turns if turn.user == user], found)
    return found


def test_each_user_is_told_what_a_memory_of_their_own_tells(tmp_path: Path) -> None:
    found = compare_all(25, 1, tmp_path / "m")
    assert found == Differences(found.users, found.versions, 0, 0)
    assert found.versions > 1000


@pytest.mark.slow
def test_each_of_a_thousand_users_is_told_what_a_memory_of_their_own_tells(tmp_path: Path) -> None:
    count = int(os.environ.get("WORLDTHREAD_USERS") or 1000)
    found = compare_all(count, 2, tmp_path / "m")
    print(found)
    assert found == Differences(count, found.versions, 0, 0)


def home(place: str, name: str = "Anna") -> Fact:
    return Fact(name, "lives in", place, aspect=f"home of {name.lower()}")


def says(text: str, at: float, *facts: Fact, user: str, **more: Any) -> Episode:
    return Episode(text, at, extraction=Extraction("test", facts, **more), user=user)


def shown(versions: Sequence[Version]) -> list[str]:
    return [f"{v.statement}: {v.interval.valid_from:g} {v.interval.valid_to:g}" for v in versions]


def test_the_same_statement_of_two_users_is_two() -> None:
    with memory_of() as memory:
        memory.record.add_many(
            [
                says("a", 1, home("Rome"), user="anna"),
                says("b", 2, home("Rome"), user="bob"),
                says("c", 3, home("Oslo"), user="bob"),
            ]
        )
        assert shown(memory.about("Anna", where=Filter(user="anna"))) == ["Anna, lives in, Rome: 1 inf"]
        assert shown(memory.about("Anna")) == ["Anna, lives in, Oslo: 3 inf", "Anna, lives in, Rome: 1 inf"]
        assert shown(memory.timeline("Rome")) == ["Anna, lives in, Rome: 1 inf", "Anna, lives in, Rome: 2 3"]
        assert memory.stats()["current_facts"] == 2
        assert memory.stats()["facts"] == 3
        with memory_of() as copied:
            stream = io.BytesIO()
            memory.export(stream)
            copied.import_(io.BytesIO(stream.getvalue()))
            assert copied.record.state_hash() == memory.record.state_hash()


def test_a_page_ends_between_the_same_statement_of_two_users() -> None:
    users = ("", "a/b", "anna", "Anna")
    with memory_of() as memory:
        memory.record.add_many([says("it", 1, home("Rome"), user=user) for user in users])
        found: list[Version] = []
        cursor = None
        for _ in users:
            page = memory.list_statements(limit=1, cursor=cursor)
            found += page.items
            cursor = page.cursor
        assert cursor is None
        assert {memory.episode(version.sources[0]).user for version in found} == set(users)


def test_changes_by_hand_concern_one_user_or_are_refused() -> None:
    rome = home("Rome")
    with memory_of() as memory:
        memory.record.add_many(
            [says("a", 1, rome, user="anna"), says("b", 2, rome, user="bob"), says("c", 3, home("Oslo"), user="eva")]
        )
        for change in (memory.correct, memory.update):
            with pytest.raises(InputError, match="2 users state"):
                change(rome, at=5)
            with pytest.raises(InputError, match="2 users state"):
                change(rome.id, at=5)
        with pytest.raises(InputError, match="2 users state"):
            memory.forget(statement=rome.id)
        assert memory.correct(home("Oslo"), at=5).user == "eva"
        assert memory.update(rome, ("Anna", "lives in", "Bern"), at=5, where=Filter(user="bob")).user == "bob"
        assert shown(memory.about("Anna", where=Filter(user="bob"))) == ["Anna, lives in, Bern: 5 inf"]
        assert memory.correct(rome.id, at=6, where=Filter(user="bob")).user == "bob"
        assert shown(memory.timeline("Rome", where=Filter(user="bob"))) == ["Anna, lives in, Rome: 2 2"]
        assert shown(memory.about("Anna", where=Filter(user="anna"))) == ["Anna, lives in, Rome: 1 inf"]
        assert memory.forget(statement=rome.id, where=Filter(user="bob")) == 1
        assert shown(memory.about("Anna", where=Filter(user="anna"))) == ["Anna, lives in, Rome: 1 inf"]
        assert memory.forget(entity="Rome", where=Filter(user="anna")) == 1


def test_names_are_merged_for_one_user() -> None:
    with memory_of() as memory:
        for user in ("anna", "bob"):
            memory.record.add(
                says(
                    "a", 1, home("Rome", "Eva"), home("Oslo", "Eva Rossi"), Fact("Eva Rossi", "likes", "tea"), user=user
                )
            )
        memory.record.add(says("b", 2, Fact("Eva Bianchi", "likes", "tea"), user=""))
        assert {(s.name, s.into, s.user) for s in memory.suggest_merges()} == {
            ("eva", "eva rossi", "anna"),
            ("eva", "eva rossi", "bob"),
        }
        with pytest.raises(InputError, match="2 users speak of 'Eva'"):
            memory.merge("Eva", "Eva Rossi")
        assert memory.merge("Eva Bianchi", "Eva", at=3).user == ""
        memory.merge("Eva", "Eva Rossi", at=3, user="anna")
        assert {str(v.statement) for v in memory.about("Eva", where=Filter(user="anna"))} == {
            "Eva Rossi, lives in, Oslo", "Eva Rossi, lives in, Rome", "Eva Rossi, likes, tea",
        }  # fmt: skip
        assert {str(v.statement) for v in memory.about("Eva", where=Filter(user="bob"))} == {"Eva, lives in, Rome"}
        assert {str(v.statement) for v in memory.about("Eva", where=Filter(user=""))} == {"Eva, likes, tea"}
        assert len(memory.about("Eva Rossi")) == 5, "what each user says of her counts once"


def test_a_reader_is_shown_what_its_user_said() -> None:
    seen: list[tuple[str, list[str], list[str], list[str]]] = []

    class Watching(ProseExtractor):
        def outdate(
            self, text: str, extraction: Extraction, view: GraphView, speaker: str = "", at: float | None = None
        ) -> Extraction:
            facts = [str(fact) for fact in view.facts()]
            seen.append((text, facts, view.longer_and_shorter("Rossi"), [str(f) for _, f in view.said_by("", -1e9)]))
            every = [Fact("Anna Rossi", "lives in", place) for place in ("Rome", "Oslo", "Bern")]
            endings = tuple(Ending(fact, "she is gone") for fact in every if fact not in extraction.statements)
            return replace(extraction, endings=endings)

    with Memory(model="none", embedder="fake", extractor=Watching()) as memory:
        for at, (user, place) in enumerate((("a", "Rome"), ("b", "Oslo"), ("", "Bern"), ("a", "Paris"))):
            memory.remember(f"Anna Rossi lives in {place}.", at=at, user=user)
        assert [(facts, names, said) for _, facts, names, said in seen] == [
            ([], [], []), ([], [], []), ([], [], []),
            (["Anna Rossi, lives in, Rome"], ["anna rossi"], ["Anna Rossi, lives in, Rome"]),
        ]  # fmt: skip
        holding = {str(version.statement) for version in memory.about("Anna Rossi", where=Filter(kind="fact"))}
        assert holding == {f"Anna Rossi, lives in, {place}" for place in ("Oslo", "Bern", "Paris")}


def test_what_was_said_before_is_that_of_the_same_user() -> None:
    with memory_of() as memory:
        for number in range(300):
            turn = [{"role": "user", "content": f"I am number {number}."}]
            memory.remember(turn, at=number, source="chat", user="a" if number % 150 == 0 else f"b{number}")
        next_one = Episode("a: And now?", 400, "chat", speaker="a", user="a")
        before = memory._ingestion._latest_before(next_one, [replace(next_one, at=350, user="b1")])
        assert [episode.text for episode in before] == ["a: I am number 0.", "a: I am number 150."]


def test_ids_of_users_are_compared_exactly(tmp_path: Path) -> None:
    for _ in range(2):
        with memory_of(tmp_path / "m") as memory:
            memory.remember([{"role": "user", "content": "I live in Rome."}], at=1, user="Tm9kZQ")
            memory.remember([{"role": "user", "content": "I live in Oslo."}], at=2, user="tm9kzq")
            assert memory.ask("Where do I live?", where=Filter(user="Tm9kZQ")).text == "Rome"
            assert memory.ask("Where do I live?", where=Filter(user="tm9kzq")).text == "Oslo"
            memory.checkpoint()
