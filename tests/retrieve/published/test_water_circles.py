"""Water circles: circles against networkx, and what they choose on graphs whose answers are plain to see."""

from __future__ import annotations

from typing import Any

import pytest

from worldthread.errors import InputError
from worldthread.types import Fact, Thesis
from worldthread_lab.published.traversal import KINDS, OBJECT
from worldthread_lab.published.water_circles import WaterCirclesSettings, circle_around, water_circles

networkx = pytest.importorskip("networkx")
pytest.importorskip("scipy")  # networkx ranks with it


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("depth", [1, 2, 3, 9])
def test_circles_reach_what_networkx_reaches_in_as_many_steps(random_graph: Any, seed: int, depth: int) -> None:
    graph = random_graph(seed, count=20, objects=40)
    filtered = graph.full.filtered()
    objects = networkx.MultiDiGraph(
        (near, far, edge)
        for near, far, edge in graph.networkx(filtered).edges(keys=True)
        if near % KINDS == far % KINDS == OBJECT
    )
    for start in range(0, KINDS * len(graph.full.names), 5 * KINDS):
        circle = circle_around(start, filtered, depth)
        expected = (
            networkx.single_source_shortest_path_length(objects, start, depth) if start in objects else {start: 0}
        )
        assert dict(zip(circle.vertices.tolist(), circle.steps.tolist(), strict=True)) == dict(expected)
        inner = [vertex for vertex, steps in expected.items() if steps < depth]
        passed = {edge for _, _, edge in objects.edges(inner, keys=True)}
        assert set(circle.passed.tolist()) == passed
        texts = {int(v) for vertex in inner for v in filtered.steps_from(vertex)[0] if v % KINDS != OBJECT}
        assert set(circle.texts.tolist()) == texts
        for vertex, steps in expected.items():
            path = circle.path_to(vertex, filtered)
            assert len(path.edges) == steps
            assert networkx.is_path(objects, path.vertices) or steps == 0


BRIDGE = (Fact("Anna", "works for", "Acme"), Fact("Acme", "is based in", "Oslo"))
ASIDE = (Fact("Anna", "likes", "tea"), Fact("Acme", "makes", "bolts"), Fact("Oslo", "is in", "Norway"))


def bridge(small: Any) -> Any:
    graph = small()
    for at, fact in enumerate((*BRIDGE, *ASIDE)):
        graph.state(fact, at=at)
    return graph


@pytest.mark.parametrize("depth", [1, 2])
def test_facts_where_circles_meet_come_before_all_others(small: Any, depth: int) -> None:
    graph = bridge(small)
    given = WaterCirclesSettings(depth=depth)
    scores = water_circles(graph.query("What joins Anna and Oslo?"), graph.index, given)
    facts = {name: score for name, score in graph.found(scores).items() if "Told" not in name}
    primary = {name for name, score in facts.items() if score >= 1}
    assert primary == {str(fact) for fact in BRIDGE}
    assert facts.keys() - primary == {str(fact) for fact in ASIDE if depth > 1 or "Acme" not in str(fact)}
    way = ("anna", "works for", "acme", "is based in", "oslo")
    assert graph.paths(scores)[str(BRIDGE[0])] == way[:3]
    assert graph.paths(scores)[str(BRIDGE[1])] in (way[2:][::-1], way)


def test_no_more_are_returned_than_asked_for(small: Any) -> None:
    graph = bridge(small)
    query = graph.query("What joins Anna and Oslo?")
    given = WaterCirclesSettings(chain_triplets_num=1, other_triplets_num=2, hyper_num=0, episodic_num=3)
    found = graph.found(water_circles(query, graph.index, given))
    assert sum("Told" in name for name in found) == 3
    assert sum(score >= 1 for name, score in found.items() if "Told" not in name) == 1
    assert len(found) == 6
    none = WaterCirclesSettings(chain_triplets_num=0, other_triplets_num=0, episodic_num=0)
    assert graph.found(water_circles(query, graph.index, none)) == {}


def test_the_strict_filter_keeps_the_facts_that_touch_most(small: Any) -> None:
    graph = small()
    between = Fact("Ben", "married", "Carla")
    others = (Fact("Anna", "knows", "Ben"), Fact("Anna", "met", "Dora"), Fact("Dora", "taught", "Carla"))
    graph.state(between, *others)
    query = graph.query("Anna, Ben and Carla")
    strict = graph.found(water_circles(query, graph.index))
    primary = {name for name, score in strict.items() if score >= 1 and "Told" not in name}
    assert primary == {str(between), str(others[0])}, "seen from Anna, and from Carla, these touch two"
    loose = graph.found(water_circles(query, graph.index, WaterCirclesSettings(strict_filter=False)))
    assert {str(fact) for fact in (between, *others)} <= loose.keys()
    assert min(loose[str(between)], loose[str(others[0])]) > max(loose[str(others[1])], loose[str(others[2])])


def test_texts_rank_by_the_other_entities_that_they_name_common_nouns_count_half(small: Any) -> None:
    graph = small()
    both = Thesis("Anna met Ben", ("Anna", "Ben"))
    noun = Thesis("Anna bought a boat", ("Anna", "boat"))
    more = Thesis("Anna and Ben sank the boat", ("Anna", "Ben", "boat"))
    alone = Thesis("Anna sang", ("Anna",))
    for at, thesis in enumerate((alone, noun, both, more)):
        graph.state(thesis, at=at)
    found = graph.found(water_circles(graph.query("Did Anna and Ben have a boat?"), graph.index))
    scores = [found[str(thesis)] for thesis in (more, both, noun, alone)]
    assert [int(2 * score) / 2 for score in scores] == [1.5, 1.0, 0.5, 0.0]
    texts = sorted((name for name in found if "Told" in name), key=found.__getitem__, reverse=True)
    assert texts[0].endswith(str(more))
    assert texts[-1].endswith(str(alone))


@pytest.mark.parametrize(
    ("vertices", "left"), [("O", "f"), ("OT", "ft"), ("OE", "fe"), ("T", "t"), ("TE", "te"), ("", "")]
)
def test_restrictions_are_respected(small: Any, vertices: str, left: str) -> None:
    graph = small()
    fact, thesis = Fact("Anna", "knows", "Ben"), Thesis("Anna sang", ("Anna",))
    episode = graph.state(fact, thesis)
    expected = {name for letter, name in (("f", str(fact)), ("t", str(thesis)), ("e", episode.text)) if letter in left}
    found = water_circles(graph.query("Anna?"), graph.index, WaterCirclesSettings(vertices=vertices))
    assert graph.found(found).keys() == expected
    graph.paths(found)


def test_what_has_ended_is_not_returned(small: Any) -> None:
    graph = small()
    first = graph.state(Fact("Anna", "lives in", "Oslo", aspect="home of anna"), at=1)
    graph.state(Fact("Anna", "lives in", "Rome", aspect="home of anna"), at=2)
    now = graph.found(water_circles(graph.query("Anna?"), graph.index))
    assert "Anna, lives in, Oslo" not in now
    assert first.text not in now
    then = graph.found(water_circles(graph.query("Anna?", at=1.0), graph.index))
    assert then.keys() == {"Anna, lives in, Oslo", first.text}


def test_a_search_that_begins_at_a_thesis_returns_it_and_goes_on_from_its_objects(small: Any) -> None:
    graph = small()
    thesis = Thesis("somebody was singing loudly", ("singer",))
    episode = graph.state(thesis, Fact("singer", "is", "Anna"))
    given = WaterCirclesSettings(nearest=1)
    scores = water_circles(graph.query("who was singing loudly, somebody?"), graph.index, given)
    assert graph.found(scores).keys() == {str(thesis), "singer, is, Anna", episode.text}
    assert graph.paths(scores)["singer, is, Anna"] == ("singer", "is", "anna")
    assert graph.found(water_circles(graph.query("nothing"), graph.index)) == {}


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="depth must be at least 1, not 0"):
        WaterCirclesSettings(depth=0)
    with pytest.raises(InputError, match="selection must be 'paper' or 'code', not 'both'"):
        WaterCirclesSettings(selection="both")  # type: ignore[arg-type]


# -- as in the published code -----------------------------------------------------------------------------------------


def as_in_the_code(graph: Any, question: str, **settings: Any) -> dict[str, float]:
    """What is found at depth 1, without the episodes."""
    scores = water_circles(
        graph.query(question), graph.index, WaterCirclesSettings(depth=1, selection="code", **settings)
    )
    return {name: score for name, score in graph.found(scores).items() if "Told" not in name}


def test_the_code_returns_secondary_facts_only_where_there_is_no_primary_one(small: Any) -> None:
    graph = bridge(small)
    joined = as_in_the_code(graph, "What joins Anna and Oslo?", episodic_num=0)
    assert joined.keys() == {str(fact) for fact in BRIDGE}
    alone = as_in_the_code(graph, "Who is Anna?", episodic_num=0)
    assert alone.keys() == {"Anna, works for, Acme", "Anna, likes, tea"}
    assert max(alone.values()) < 1
    assert as_in_the_code(graph, "Who is Anna?") == {}, "two episodes are enough"


def test_the_limit_of_secondary_facts_is_for_each_start_and_direction(small: Any) -> None:
    graph = small()
    for at in range(4):
        graph.state(Fact("Anna", "likes", f"tea {at}"), Fact(f"aunt {at}", "knows", "Anna"), at=at)
    found = as_in_the_code(graph, "Who is Anna?", episodic_num=0, other_triplets_num=2)
    assert sorted(name.split(", ")[1] for name in found) == ["knows", "knows", "likes", "likes"]
    loose = as_in_the_code(graph, "Who is Anna?", episodic_num=0, other_triplets_num=2, strict_filter=False)
    assert len(loose) == 6


def test_without_the_strict_filter_secondary_facts_are_returned_unless_much_was_found(small: Any) -> None:
    graph = bridge(small)
    loose = {"strict_filter": False, "episodic_num": 0}
    found = as_in_the_code(graph, "What joins Anna and Oslo?", **loose)
    assert {name for name, score in found.items() if score >= 1} == {str(fact) for fact in BRIDGE}
    assert {name for name, score in found.items() if score < 1} == {"Anna, likes, tea", "Oslo, is in, Norway"}
    for at in range(40):
        graph.state(Fact("Anna", f"visited in year {at}", "Oslo"), at=10 + at)
    found = as_in_the_code(graph, "What joins Anna and Oslo?", **loose)
    assert len(found) == 12, "half of the limit of primary facts, and both starts have the same"
    assert min(found.values()) >= 1


@pytest.mark.parametrize(("names", "each"), [(("Anna", "Ben"), 5), (("Anna", "Ben", "Carla"), 3)])
def test_the_limits_of_the_code_are_shares_for_each_start(small: Any, names: tuple[str, ...], each: int) -> None:
    graph = small()
    for at, name in enumerate(names):
        for number in range(9):
            graph.state(Fact(name, f"wrote letter {number} to", names[at - 1]), at=10 * at + number)
    found = as_in_the_code(graph, " and ".join(names), chain_triplets_num=10, episodic_num=0)
    assert each <= len(found) <= each * len(names)


def test_texts_of_the_code_belong_to_the_first_start_and_name_another_unless_none_does(small: Any) -> None:
    graph = small()
    alone = [Thesis(f"Anna sang song {number}", ("Anna",)) for number in range(4)]
    both = [Thesis(f"Anna met Ben on day {number}", ("Anna", "Ben")) for number in range(4)]
    for at, thesis in enumerate(alone):
        graph.state(thesis, at=at)
    graph.state(Thesis("Ben slept", ("Ben",)), at=8)
    found = as_in_the_code(graph, "Did Anna ever see Ben?", hyper_num=3)
    assert len(found) == 3, "none names both: two of Anna, and the one of Ben"
    assert "Ben slept" in found
    for at, thesis in enumerate(both):
        graph.state(thesis, at=10 + at)
    found = as_in_the_code(graph, "Did Anna ever see Ben?", hyper_num=3)
    assert len(found) == 2
    assert found.keys() <= {str(thesis) for thesis in both}
