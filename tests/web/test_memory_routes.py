"""What the page of a memory is told."""

from __future__ import annotations

import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldthread import Episode, Extraction, Fact, Memory, Thesis
from worldthread.models import FakeChat

pytestmark = pytest.mark.web


def test_a_small_memory_is_drawn_whole_with_the_intervals_in_which_everything_held(home: Any) -> None:
    told = home.get("/api/memories/file/graph").json()
    assert told["whole"]
    labels = {vertex["id"]: vertex["label"] for vertex in told["vertices"]}
    drawn = {(labels[e["from"]], e["relation"], labels[e["to"]], str(e["held"])) for e in told["edges"]}
    assert drawn == {
        ("Anna", "lives in", "Rome", "[[1.0, 2.0]]"),
        ("Anna", "lives in", "Paris", "[[2.0, None]]"),
        ("Anna", "has dog", "Rex", "[[2.0, 3.0]]"),
        ("Anna loves tea.", "speaks of", "Anna", "[[1.0, None]]"),
        ("Anna loves tea.", "speaks of", "tea", "[[1.0, None]]"),
    }
    kinds = {vertex["label"]: vertex["kind"] for vertex in told["vertices"]}
    assert kinds["Anna loves tea."] == "thesis"
    assert "episode" not in kinds.values()


def test_episodes_are_drawn_when_they_are_asked_for(home: Any) -> None:
    told = home.get("/api/memories/file/graph?episodes=1").json()
    episodes = {v["id"]: v for v in told["vertices"] if v["kind"] == "episode"}
    assert sorted((v["label"], v["at"]) for v in episodes.values()) == [("a call", 2.0), ("a letter", 1.0)]
    ends = {e["to"] for e in told["edges"] if e["from"] in episodes}
    assert {"e:anna", "e:rome", "e:paris", "e:rex"} < ends


def test_the_summary_counts_and_tells_where_to_begin(home: Any, home_memory: Path) -> None:
    told = home.get("/api/memories/file").json()
    assert told["file"] == str(home_memory)
    assert told["strongest"][0] == {"name": "anna", "label": "Anna", "weight": 4}
    assert told["counts"] == {"names": 5, "statements": 4, "current": 2, "ended": 2, "texts": 3}
    assert (told["first"], told["last"], told["now"]) == (1.0, 3.0, 3.0)


@pytest.mark.parametrize(
    ("query", "counts", "latest"),
    [
        ("at=0", (0, 0, 0, 0, 0), []),
        ("at=1", (3, 2, 2, 0, 1), ["Anna lives in Rome"]),
        ("at=2.5", (5, 4, 3, 1, 2), ["Anna lives in Paris", "Anna loves tea."]),
        ("at=3", (5, 4, 2, 2, 3), ["Anna lives in Paris", "Anna loves tea."]),
        ("from=2.5&to=2.7", (4, 3, 3, 0, 0), []),
    ],
)
def test_the_summary_is_that_of_the_time_asked_for(
    home: Any, query: str, counts: tuple[int, ...], latest: list[str]
) -> None:
    told = home.get(f"/api/memories/file?{query}").json()
    assert tuple(told["counts"].values()) == counts
    assert [one["text"] for one in told["latest"]] == latest
    assert len(told["strongest"]) == counts[0]


def test_the_summary_of_now_is_that_of_the_last_moment(home: Any) -> None:
    now, then = (home.get(f"/api/memories/file{query}").json() for query in ("", "?at=3"))
    assert now == then


def test_what_is_announced_counts_as_true_now(serve: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "announced.worldthread"
    with Memory(path, model="none", embedder="fake") as memory:
        until = Fact("Anna", "lives in", "Ghent", valid_to=9.0)
        memory.record.add(Episode("Anna lives in Ghent until 9.", 1.0, extraction=Extraction("given/1", (until,))))
    counts = serve(path).get("/api/memories/file").json()["counts"]
    assert (counts["current"], counts["ended"]) == (1, 0)


def test_names_are_found_by_any_part_of_them_the_likeliest_first(home: Any) -> None:
    assert [n["name"] for n in home.get("/api/memories/file/names?q=R").json()["names"]] == ["rex", "rome", "paris"]
    assert home.get("/api/memories/file/names?q=zzz").json()["names"] == []
    assert home.get("/api/memories/file/names?q=%20").json()["names"] == []


def test_an_entity_is_told_with_sources_and_with_why_it_ended(home: Any) -> None:
    told = home.get("/api/memories/file/entity?name=ANNA").json()
    assert (told["name"], told["label"], told["current"], told["total"]) == ("anna", "Anna", 2, 4)
    (dog,) = [s for s in told["statements"] if s.get("relation") == "has dog"]
    (version,) = dog["versions"]
    assert (version["since"], version["until"], version["reason"]) == (2.0, 3.0, "he ran away")
    assert version["days"] is None  # turns are no days
    ender = home.get(f"/api/memories/file/episode?id={version['ended_by']}").json()
    assert ender["text"] == "Rex ran away."
    assert [(e["text"], e["reason"]) for e in ender["ended"]] == [("Anna has dog Rex", "he ran away")]
    source = home.get(f"/api/memories/file/episode?id={version['sources'][0]}").json()
    assert source["source"] == "a call"
    assert {s["text"] for s in source["statements"]} == {"Anna lives in Paris", "Anna has dog Rex"}


def test_the_plural_of_a_name_is_the_name(home: Any) -> None:
    assert home.get("/api/memories/file/entity?name=annas").json()["name"] == "anna"


def test_a_question_recalls_at_a_moment(home: Any) -> None:
    hits = home.get("/api/memories/file/recall?q=Where+does+Anna+live&at=1").json()["hits"]
    assert "Anna lives in Rome" in [hit["text"] for hit in hits]
    assert "Anna lives in Paris" not in [hit["text"] for hit in hits]
    (episode,) = [hit for hit in hits if hit["kind"] == "episode"]
    assert episode["text"] == "Anna lives in Rome. She loves tea."


def test_a_statement_is_told_by_its_number(home: Any) -> None:
    edges = home.get("/api/memories/file/graph").json()["edges"]
    (rome,) = [edge for edge in edges if edge["to"] == "e:rome"]
    told = home.get(f"/api/memories/file/statement?number={rome['number']}").json()
    assert told["text"] == "Anna lives in Rome"
    assert told["versions"][0]["reason"].startswith("replaced by")


def test_what_others_write_meanwhile_is_seen(serve: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "growing.worldthread"
    with Memory(path, model="none", embedder="fake") as memory:
        memory.record.add(Episode("A.", 1.0, "", Extraction("t", (Fact("Ann", "knows", "Bo"),))))
        home = serve(path)
        assert home.get("/api/memories/file").json()["counts"]["names"] == 2
        memory.record.add(Episode("B.", 2.0, "", Extraction("t", (Fact("Cy", "knows", "Bo"),))))
        assert home.get("/api/memories/file").json()["counts"]["names"] == 3
        found = home.get("/api/memories/file/names?q=cy").json()["names"]
        assert found == [{"name": "cy", "label": "Cy", "weight": 1}]
        (episode,) = [e.id for e in memory.episodes() if e.text == "B."]
        memory.forget(episode)
        assert home.get("/api/memories/file/names?q=cy").json()["names"] == []
        assert home.get("/api/memories/file").json()["counts"]["names"] == 2


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hub with 9,000 spokes, and a rim."""
    path = tmp_path_factory.mktemp("large") / "large.worldthread"
    with Memory(path, model="none", embedder="fake") as memory:
        for part in range(30):
            facts = []
            for number in range(part * 300, (part + 1) * 300):
                facts.append(Fact("hub", "has spoke", f"spoke {number}"))
                facts.append(Fact(f"spoke {number}", "is beside", f"spoke {number + 1}"))
            memory.record.add(Episode(f"part {part}", float(part), "", Extraction("t", tuple(facts))))
    return path


def test_a_large_memory_is_never_drawn_whole(serve: Callable[..., Any], large: Path) -> None:
    home = serve(large)
    told = home.get("/api/memories/file/graph").json()
    assert not told["whole"]
    assert len(told["vertices"]) <= 250
    assert told["clusters"]["names"] == 9002
    assert not home.get("/api/memories/file").json()["small"]


def test_a_neighbourhood_comes_in_parts_that_do_not_overlap(serve: Callable[..., Any], large: Path) -> None:
    home = serve(large)
    seen: set[str] = set()
    for offset in (0, 50, 100):
        told = home.get(f"/api/memories/file/neighbours?name=hub&offset={offset}&limit=50").json()
        spokes = {e["id"] for e in told["edges"] if e["relation"] == "has spoke"}
        assert len(spokes) == 50
        assert not spokes & seen
        seen |= spokes
    assert {e["relation"] for e in told["edges"]} == {"has spoke", "is beside"}  # between neighbours


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/memories/other", 404),
        ("/api/memories/..%2F..%2Fetc%2Fpasswd", 404),
        ("/api/memories/file/entity?name=nobody", 404),
        ("/api/memories/file/entity?name=%20", 400),
        ("/api/memories/file/entity", 400),
        ("/api/memories/file/episode?id=../../etc/passwd", 404),
        ("/api/memories/file/statement?number=99999", 404),
        ("/api/memories/file/statement?number=-1", 400),
        ("/api/memories/file/statement?number=١", 400),
        ("/api/memories/file/neighbours?name=anna&limit=100000", 400),
        ("/api/memories/file/recall?q=" + "a" * 3000, 400),
        ("/api/memories/file/recall?q=x&at=yesterday", 400),
        ("/api/nothing", 404),
        ("/static/nothing.js", 404),
        ("/static/..%2F..%2Fpyproject.toml", 404),
    ],
)
def test_what_cannot_be_answered_is_an_error_of_ours(home: Any, path: str, status: int) -> None:
    answer = home.get(path)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


def test_a_memory_that_is_not_there_yet_is_told_plainly(serve: Callable[..., Any], tmp_path: Path) -> None:
    answer = serve(tmp_path / "absent.worldthread").get("/api/memories/file/graph")
    assert answer.status_code == 404
    assert "does not exist yet" in answer.json()["error"]["message"]
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_something_else_is_told_plainly(serve: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "x").write_text("not a memory")
    answer = serve(tmp_path / "x").get("/api/memories/file")
    assert answer.status_code == 500
    assert answer.json()["error"]["kind"] == "ForeignFileError"


def test_the_server_needs_nothing_heavy_before_it_is_asked() -> None:
    import subprocess

    code = (
        "import sys, worldthread.cli.serving; print(any(m in sys.modules for m in ('starlette', 'uvicorn', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_a_question_is_answered_by_the_model_of_the_server_when_asked_to(
    home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = "Where does Anna live?"
    assert home.post("/api/memories/file/ask", json={"question": asked}).status_code == 400  # no model
    answer = '{"reasoning": "It says so.", "answer": "In Paris", "support": "inferred", "sources": [1], "look_up": []}'
    monkeypatch.setattr("worldthread.models.config.model_name", lambda _: "a-model")
    monkeypatch.setattr(home.app_state, "_model", FakeChat(lambda _: answer, name="a-model"))
    assert home.get("/api/about").json()["model"] == "a-model"
    told = home.post("/api/memories/file/ask", json={"question": asked}).json()
    assert (told["answer"], told["support"], told["model"]) == ("In Paris", "inferred", "a-model")
    assert told["hits"]
    by_rule = home.get("/api/memories/file/ask", params={"q": asked}).json()
    assert (by_rule["answer"], by_rule["support"], by_rule["model"]) == ("Paris", "stated", "")
    foreign = {"origin": "http://evil.example"}
    assert home.post("/api/memories/file/ask", json={"question": asked}, headers=foreign).status_code == 403


def test_texts_are_read_in_their_order_with_what_was_taken_from_them(home: Any) -> None:
    told = home.get("/api/memories/file/texts?limit=50").json()
    assert (told["total"], len(told["texts"])) == (3, 3)
    first, _, last = told["texts"]
    assert [one["text"] for one in first["sentences"]] == ["Anna lives in Rome.", "She loves tea."]
    assert [[each["text"] for each in one["statements"]] for one in first["sentences"]] == [
        ["Anna lives in Rome"], ["Anna loves tea."]
    ]  # fmt: skip
    assert [one["text"] for one in last["ended"]] == ["Anna has dog Rex"]
    assert home.get("/api/memories/file/texts?offset=2").json()["texts"] == [last]
    assert home.get("/api/memories/file/texts?limit=51").status_code == 400


def test_after_a_change_by_anybody_every_answer_says_so_and_is_of_the_new_memory(
    serve: Callable[..., Any], home_memory: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(home_memory, tmp_path / "changed.worldthread"))
    client = serve(path)
    routes = ["", "/change", "/graph", "/names?q=rex", "/entity?name=anna"]

    def changes() -> set[str]:
        return {client.get(f"/api/memories/file{route}").json()["change"] for route in routes}

    (first,) = changes()
    assert changes() == {first}
    with Memory(path, model="none", embedder="fake") as memory:  # as another process would
        ids = memory.record.episodes_about("Rex")
        memory.record.forget_many(ids)
        (second,) = changes()
        assert second.split("-")[0] == first.split("-")[0]
        assert int(second.split("-")[1]) > int(first.split("-")[1])
        told = client.get("/api/memories/file").json()
        assert told["counts"] == {"names": 3, "statements": 2, "current": 2, "ended": 0, "texts": 1}
        assert "rex" not in {one["name"] for one in told["strongest"]}
        assert client.get("/api/memories/file/names?q=rex").json()["names"] == []
        memory.record.add(
            Episode(
                "Ann loves tea.", 4.0, extraction=Extraction("given/1", (Thesis("Ann loves tea.", ("Ann", "tea")),))
            )
        )
        memory.merge("Ann", "Anna")
    told = client.get("/api/memories/file").json()
    assert {one["label"]: one["weight"] for one in told["strongest"]} == {"Anna": 3, "tea": 2, "Rome": 1}
    assert told["counts"]["names"] == 3
    entity = client.get("/api/memories/file/entity?name=ann").json()
    assert (entity["name"], entity["label"], entity["total"]) == ("anna", "Anna", 3)


def test_names_are_counted_alike_all_at_once_and_as_they_come(tmp_path: Path) -> None:
    from worldthread.web.names import STRONGEST, NameIndex

    numbers = random.Random(0)
    with Memory(tmp_path / "names.worldthread", model="none", embedder="fake") as memory:
        followed = NameIndex()
        for at in range(60):
            said: list[Fact | Thesis] = [
                Fact(f"n{numbers.randrange(40)}", "meets", f"n{numbers.randrange(40)}")
                for _ in range(numbers.randrange(3))
            ]
            said.append(Thesis(f"It is {at}.", tuple(f"n{numbers.randrange(40)}" for _ in range(numbers.randrange(3)))))
            episode = memory.record.add(Episode(f"text {at}", float(at), extraction=Extraction("given/1", tuple(said))))
            if at % 7 == 0:
                memory.record.forget(episode.id)
                if at % 14 == 0:
                    with memory.record.read_lock() as graph:
                        followed.update(graph)
                    memory.record.add(episode)
            if at == 30:
                merge = memory.record.add(
                    Episode("One.", 30.5, extraction=Extraction("given/1", same_names=(("n1", "n2"),)))
                )
            if at == 40:
                memory.record.forget(merge.id)
            with memory.record.read_lock() as graph:
                followed.update(graph)
        with memory.record.read_lock() as graph:
            at_once = NameIndex()
            at_once.update(graph)
            asserted = [number for number in graph.statement_numbers if graph.numbered_versions(number)]
            assert 0 < len(asserted) < len(graph.statement_numbers)
            one_by_one = Counter(name for number in asserted for name in set(graph.names_of(number)))
            assert graph.name_counts() == dict(one_by_one)
    strongest = sorted(one_by_one, key=lambda name: (-one_by_one[name], name))[:STRONGEST]
    for index in (followed, at_once):
        assert len(index) == len(one_by_one)
        assert {name: index.weight(name) for name in one_by_one} == dict(one_by_one)
        assert index.strongest == strongest
