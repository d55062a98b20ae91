"""Clusters of names: what they are, what counts in them, and how the page asks for them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldthread import Ending, Episode, Extraction, Fact, Memory, Thesis
from worldthread.graph import TemporalGraph

pytest.importorskip("starlette")

from worldthread.web import memories, memory_routes
from worldthread.web.clusters import MOST_NAMES, MOST_SHOWN, NameClusters

pytestmark = pytest.mark.web

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
BROWSER = os.environ.get("WORLDTHREAD_TEST_BROWSER", "chromium")

TOWNS, STREETS, HOUSES = 12, 5, 90


def house(town: int, street: int, number: int) -> str:
    return f"House {town} {street} {number}"


def town_facts(town: int) -> list[Fact]:
    """A town with streets; its houses lie on them, beside each other."""
    facts = [Fact(f"Town {town}", "is beside", f"Town {(town + 1) % TOWNS}")]
    for street in range(STREETS):
        name = f"Street {town} {street}"
        facts.append(Fact(name, "is in", f"Town {town}"))
        for number in range(HOUSES):
            facts.append(Fact(house(town, street, number), "is on", name))
            if number % 3 == 0:
                facts.append(Fact(house(town, street, number), "is in", f"Town {town}"))
            facts.append(Fact(house(town, street, number), "is beside", house(town, street, (number + 1) % HOUSES)))
    return facts


def names_of(clusters: NameClusters, cluster: Any) -> set[str]:
    return {clusters.links.names[name] for name in cluster.members}


@pytest.fixture(scope="module")
def towns() -> NameClusters:
    graph = TemporalGraph()
    for town in range(TOWNS):
        graph.add(Episode(f"town {town}", float(town), "", Extraction("t", tuple(town_facts(town)))))
    return NameClusters(graph.name_links())


@pytest.fixture(scope="module")
def towns_memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve towns, each told of at a time of its own; a street of the first is pulled down at 20."""
    path = tmp_path_factory.mktemp("towns") / "towns.worldthread"
    with Memory(path, model="none", embedder="fake") as memory:
        for town in range(TOWNS):
            memory.record.add(Episode(f"town {town}", float(town), "", Extraction("t", tuple(town_facts(town)))))
        gone = [Ending(one, "pulled down") for one in town_facts(0) if one.subject.startswith("House 0 0 ")]
        memory.record.add(Episode("end", 20.0, "", Extraction("t", (), tuple(gone))))
    return path


def test_names_that_statements_connect_are_one_cluster_and_large_ones_are_divided_again(towns: NameClusters) -> None:
    first = towns.inside(towns.whole)
    assert len(first) == TOWNS
    for cluster in first:
        towns_in_it = {name.split()[1] for name in names_of(towns, cluster)}
        assert len(towns_in_it) == 1
        assert towns.caption(cluster)[0].startswith("town")
        assert len(cluster.members) == STREETS * (HOUSES + 1) + 1
        streets = towns.inside(cluster)
        assert len(streets) == STREETS
        members = np.concatenate([one.members for one in streets])
        assert sorted(members.tolist()) == cluster.members.tolist()
        assert all(towns.inside(street) == [] for street in streets)


def test_an_address_leads_to_the_clusters_in_which_a_name_lies(towns: NameClusters) -> None:
    names = list(towns.links.names)
    number = names.index("house 7 3 5")
    town, street = towns.path_to(number, 2)
    assert {name.split()[1] for name in names_of(towns, town)} == {"7"}
    assert "street 7 3" in names_of(towns, street)
    assert (town.level, street.level) == (1, 2)
    assert towns.path_to(number, 9) == [town, street]
    assert towns.path_to(-1, 2) == []


def test_what_is_counted_follows_the_time_and_the_clusters_stay(towns: NameClusters) -> None:
    first = towns.inside(towns.whole)
    names, statements, lines = towns.counts(first, towns.links.holding())
    assert names == [STREETS * (HOUSES + 1) + 1] * TOWNS
    assert statements == [STREETS * (2 * HOUSES + HOUSES // 3 + 1)] * TOWNS
    assert len(lines) == TOWNS  # a ring
    assert all(line.count == 1 for line in lines)
    then, _, lines_then = towns.counts(first, towns.links.holding(2.0))
    assert sum(1 for count in then if count > 1) == 3  # the next town is named by its neighbour
    assert sum(line.count for line in lines_then) == 3
    assert [(line.first, line.second) for line in lines_then] == [(line.first, line.second) for line in lines]


def test_a_thesis_about_several_names_is_counted_once() -> None:
    graph = TemporalGraph()
    said = Thesis("A, B and C met.", ("A", "B", "C"))
    graph.add(Episode("x", 0.0, "", Extraction("t", (said, Thesis("A sings.", ("A",)), Fact("A", "knows", "Z")))))
    clusters = NameClusters(graph.name_links())
    names, statements, _ = clusters.counts([clusters.whole], clusters.links.holding())
    assert (names, statements) == ([4], [3])
    of_three = np.array([list(clusters.links.names).index(name) for name in ("a", "b", "c")])
    assert len(clusters.statements_in(of_three)) == 2
    assert len(clusters.statements_in(of_three[:2])) == 1  # "A sings."


def test_many_moments_become_as_many_as_are_asked_for() -> None:
    graph = TemporalGraph()
    for number in range(50):
        graph.add(Episode(f"x{number}", float(number), "", Extraction("t", (Fact("A", "saw", f"B{number}", "saw"),))))
    clusters = NameClusters(graph.name_links())
    exact = clusters.changes(60)
    assert exact[:2] == [(0.0, 1, 0), (1.0, 1, 1)]
    few = clusters.changes(7)
    assert len(few) == 7
    assert few[0][0] == 0.0
    assert (sum(one[1] for one in few), sum(one[2] for one in few)) == (50, 49)


def test_an_empty_graph_has_no_clusters() -> None:
    clusters = NameClusters(TemporalGraph().name_links())
    assert clusters.inside(clusters.whole) == []
    assert clusters.changes(10) == []


def test_the_page_of_a_large_memory_begins_with_its_clusters(serve: Callable[..., Any], towns_memory: Path) -> None:
    home = serve(towns_memory)
    told = home.get("/api/memories/file/clusters").json()
    assert (told["whole"], told["clusters"]["total"], told["clusters"]["left"]) == (False, TOWNS, 0)
    assert len(told["vertices"]) == TOWNS <= MOST_SHOWN
    vertex = next(one for one in told["vertices"] if one["label"].startswith("Town 3,"))
    assert vertex["kind"] == "cluster"
    assert vertex["type"] == "thing"  # most of its best-known names are houses
    assert vertex["weight"] == STREETS * (HOUSES + 1) + 1
    opened = home.get("/api/memories/file/clusters", params={"cluster": vertex["cluster"]["name"], "level": 1}).json()
    assert opened["clusters"]["total"] == STREETS
    assert [one["label"] for one in opened["clusters"]["path"]] == [vertex["label"]]
    inner = opened["vertices"][0]["cluster"]
    names = home.get("/api/memories/file/clusters", params={"cluster": inner["name"], "level": 2}).json()
    assert {one["kind"] for one in names["vertices"]} == {"entity"}
    assert len(names["vertices"]) <= MOST_NAMES
    assert len(names["clusters"]["path"]) == 2
    assert home.get("/api/memories/file/graph").json()["vertices"] == told["vertices"]


def test_clusters_are_counted_at_a_time_in_a_range_and_with_what_has_ended(
    serve: Callable[..., Any], towns_memory: Path
) -> None:
    home = serve(towns_memory)

    def counted(**parameters: Any) -> int:
        told = home.get("/api/memories/file/clusters", params=parameters).json()
        return next(one["weight"] for one in told["vertices"] if one["label"].startswith("Town 0,"))

    everything = STREETS * (HOUSES + 1) + 1
    assert counted() == everything - HOUSES
    assert counted(at="19") == everything
    assert counted(ended="1") == everything
    assert counted(**{"from": "0", "to": "1"}) == everything
    assert counted(**{"from": "20", "to": "30"}) == everything - HOUSES


def test_the_largest_clusters_come_first_and_the_smaller_ones_after_them(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    with Memory(tmp_path / "pairs.worldthread", model="none", embedder="fake") as memory:
        pairs = [Fact(f"Left {number}", "is beside", f"Right {number}") for number in range(3000)]
        memory.record.add(Episode("pairs", 0.0, "", Extraction("t", tuple(pairs))))
    home = serve(tmp_path / "pairs.worldthread")
    first = home.get("/api/memories/file/clusters").json()
    assert (len(first["vertices"]), first["clusters"]["left"], first["clusters"]["left_names"]) == (40, 2960, 5920)
    second = home.get("/api/memories/file/clusters?skip=40").json()
    assert not {one["id"] for one in first["vertices"]} & {one["id"] for one in second["vertices"]}
    last = home.get("/api/memories/file/clusters?skip=2960").json()
    assert (len(last["vertices"]), last["clusters"]["left"]) == (40, 0)


def test_a_change_gives_other_clusters_and_what_was_forgotten_is_in_none(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "changing.worldthread"
    with Memory(path, model="none", embedder="fake") as memory:
        for town in range(TOWNS):
            memory.record.add(Episode(f"town {town}", float(town), "", Extraction("t", tuple(town_facts(town)))))
        home = serve(path)
        assert home.get("/api/memories/file/clusters").json()["clusters"]["total"] == TOWNS
        memory.forget(next(one.id for one in memory.episodes() if one.text == "town 4"))
    told = home.get("/api/memories/file/clusters").json()
    assert not any(one["label"].startswith("Town 4,") for one in told["vertices"])
    assert told["clusters"]["names"] == (TOWNS - 1) * (STREETS * (HOUSES + 1) + 1) + 1  # its neighbour names it


def test_clusters_that_take_a_while_come_later(
    serve: Callable[..., Any], towns_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    find = memories._find_clusters
    monkeypatch.setattr(memories, "_find_clusters", lambda *given: (go_on.wait(60), find(*given)))
    monkeypatch.setattr(memory_routes, "_PATIENCE", 0.01)
    home = serve(towns_memory)
    told = home.get("/api/memories/file/graph").json()
    assert (told["grouping"], told["whole"]) == (True, False)
    assert told["centre"]
    threading.Timer(0.1, go_on.set).start()
    begin = time.monotonic()
    assert home.get("/api/memories/file/clusters").json()["clusters"]["total"] == TOWNS
    assert time.monotonic() - begin < 60
    assert "grouping" not in home.get("/api/memories/file/graph").json()


def test_an_error_while_clusters_are_found_is_told(
    serve: Callable[..., Any], towns_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from worldthread.errors import InputError

    def fail(_: Any) -> None:
        raise InputError("no clusters today")

    monkeypatch.setattr(memories, "NameClusters", fail)
    answer = serve(towns_memory).get("/api/memories/file/clusters")
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, "no clusters today")


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("level=1&cluster=nobody", 404),
        ("level=1", 400),
        ("level=99&cluster=x", 400),
        ("skip=-1", 400),
        ("at=soon", 400),
    ],
)
def test_what_is_no_cluster_is_an_error_of_ours(
    serve: Callable[..., Any], towns_memory: Path, query: str, status: int
) -> None:
    answer = serve(towns_memory).get(f"/api/memories/file/clusters?{query}")
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


# -- in a real browser ------------------------------------------------------------------------------------------------

in_browser = [pytest.mark.browser, pytest.mark.firefox, pytest.mark.usefixtures("built_pages")]


def until(asked: Callable[[], Any], seconds: float = 600) -> Any:
    """What is asked for, once it is so."""
    end = time.monotonic() + seconds
    while True:
        found = asked()
        if found:
            return found
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


def marked(test: Any) -> Any:
    """Mark a test as one of the browser, which Firefox runs too."""
    for mark in in_browser:
        test = mark(test)
    return test


def shown_clusters(page: Any) -> int:
    return int(page.get_attribute("body", "data-shown-clusters") or -1)


@pytest.fixture(scope="module")
def towns_url(
    served: Callable[..., Any], towns_memory: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    with served(towns_memory, tmp_path_factory.mktemp("runs") / "runs") as url:
        yield url


@marked
def test_a_large_memory_is_legible_and_opens_by_clicks(open_page: Any, towns_url: str) -> None:
    page = open_page(towns_url)
    page.wait_for_selector(".clusters")
    until(lambda: page.get_attribute("body", "data-labels") == str(TOWNS))
    assert page.get_attribute("body", "data-overprinted") == "0"
    assert page.text_content("#shown") == f"{TOWNS} clusters"
    assert page.locator(".clusters li").count() == TOWNS
    # a click on a disc: the largest one lies somewhere, and is found by going over the picture
    box = page.locator("#graph").bounding_box()
    discs = ((x, y) for y in range(40, int(box["height"]) - 40, 14) for x in range(40, int(box["width"]) - 40, 14))

    def pointed() -> bool:
        x, y = next(discs)
        page.mouse.move(box["x"] + x, box["y"] + y)
        return "pointing" in (page.get_attribute("#graph", "class") or "")

    until(pointed)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_selector("#cluster:has-text('Town')")
    assert "cluster=town" in page.url
    until(lambda: shown_clusters(page) == STREETS)
    page.locator(".clusters a").first.click()
    page.wait_for_selector(".crumbs a >> nth=1")
    until(lambda: "level=2" in page.url and shown_clusters(page) == -1)
    assert "names" in page.text_content("#shown")
    page.click("#panel .chips a >> nth=1")
    page.wait_for_selector("#chosen")
    page.keyboard.press("Escape")
    page.wait_for_selector("#cluster")
    page.click("#all")
    until(lambda: shown_clusters(page) == TOWNS)
    assert "cluster" not in page.url


@marked
def test_an_opened_cluster_has_an_address_and_the_keyboard_leads_in_and_out(open_page: Any, towns_url: str) -> None:
    page = open_page(f"{towns_url}#cluster=house+7+3+5&level=2")
    page.wait_for_selector("#cluster:has-text('Street 7 3')")
    crumbs = page.locator(".crumbs a").all_text_contents()
    assert crumbs[0] == "All clusters"
    assert crumbs[1].startswith("Town 7")
    page.keyboard.press("Escape")
    page.wait_for_selector("#cluster:has-text('Town 7')")
    until(lambda: shown_clusters(page) == STREETS)
    page.keyboard.press("Escape")
    until(lambda: shown_clusters(page) == TOWNS)
    page.focus(".clusters a >> nth=2")
    caption = page.evaluate("() => document.activeElement.textContent")
    page.keyboard.press("Enter")
    page.wait_for_selector("#cluster")
    assert page.text_content("#cluster") == caption
    page.evaluate("() => history.back()")
    until(lambda: shown_clusters(page) == TOWNS)
    # a name that is looked for shows its neighbourhood, and leads back to where one was
    page.fill("#search", "house 5 1 7")
    page.keyboard.press("Enter")
    page.wait_for_selector("#chosen:has-text('House 5 1 7')")
    assert shown_clusters(page) == -1
    page.keyboard.press("Escape")
    until(lambda: shown_clusters(page) == TOWNS)


@marked
def test_clusters_follow_the_moment_and_stay_where_they_are(open_page: Any, towns_url: str) -> None:
    page = open_page(towns_url)
    page.wait_for_selector(".clusters")
    assert page.locator("#changes .begun").count() >= TOWNS - 1
    assert page.locator("#changes .ended").count() == 1
    page.focus("#moment")
    page.keyboard.press("Home")
    until(lambda: shown_clusters(page) == 2)  # a town, and its neighbour that it names
    assert page.locator(".clusters li").count() == 2
    page.keyboard.press("ArrowRight")
    until(lambda: shown_clusters(page) == 3)
    assert "at=1" in page.url
    other = open_page(page.url)
    until(lambda: shown_clusters(other) == 3)
    page.keyboard.press("End")
    until(lambda: shown_clusters(page) == TOWNS)
    first = page.locator(".clusters li", has_text="Town 0").first
    before = first.text_content()
    page.click(".filters summary")
    page.check("#show-ended")
    until(lambda: first.text_content() != before)
    assert "456 names" in first.text_content()


@marked
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark"), (390, "light"), (1280, "dark")])
def test_clusters_fit_the_window_and_are_accessible(open_page: Any, towns_url: str, width: int, scheme: str) -> None:
    if BROWSER == "firefox" and (width, scheme) not in ((1280, "light"), (390, "dark")):
        pytest.skip("as the other views: each width and scheme once")
    axe = AXE.read_text("utf-8")
    for path, shown in (
        ("", ".clusters"),
        ("#cluster=house+7+3+5&level=1", "#cluster"),
        ("#cluster=house+7+3+5&level=2", "#cluster"),
    ):
        page = open_page(f"{towns_url}{path}", width=width, scheme=scheme)
        page.wait_for_selector(shown)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        page.evaluate(axe)
        found = page.evaluate("async () => (await axe.run(document)).violations")
        serious = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]
        assert serious == [], path
        if scheme == "light":
            until(lambda page=page: int(page.get_attribute("body", "data-labels") or 0) > 2)
            assert page.get_attribute("body", "data-overprinted") == "0"


@pytest.mark.browser
@pytest.mark.usefixtures("built_pages")
def test_hostile_captions_are_text(open_page: Any, served: Callable[..., Any], tmp_path: Path) -> None:
    attack = "<img src=x onerror=window.hacked=1>"
    with Memory(tmp_path / "h.worldthread", model="none", embedder="fake") as memory:
        facts = [Fact(f"{attack} {n // 300}", "has", f"<script>window.hacked=1</script> {n}") for n in range(6000)]
        memory.record.add(Episode("x", 0.0, "", Extraction("t", tuple(facts))))
    with served(tmp_path / "h.worldthread", tmp_path / "runs") as url:
        page = open_page(url)
        page.wait_for_selector(".clusters")
        assert attack in page.text_content(".clusters")
        page.locator(".clusters a").first.click()
        page.wait_for_selector("#cluster")
        assert attack in page.text_content("#cluster")
        assert not page.evaluate("() => 'hacked' in window")
        assert page.locator("#panel img, #panel script").count() == 0
        page.close()
