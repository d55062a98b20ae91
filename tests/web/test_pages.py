"""The pages in a real browser, against a server in a process of its own. Run by ``make test-web``."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from worldthread import Episode, Extraction, Fact, Memory, Thesis
from worldthread.extract.documents import load
from worldthread.web.edits import SAMPLE
from worldthread_lab.game import vocabulary as v
from worldthread_lab.play.run import Run
from worldthread_lab.play.run_files import play_in
from worldthread_lab.play.trajectory import TrajectoryWriter

pytestmark = [pytest.mark.web, pytest.mark.browser, pytest.mark.usefixtures("built_pages")]

_spec = importlib.util.spec_from_file_location("chat_server", Path(__file__).parents[1] / "models" / "chat_server.py")
chat_server = sys.modules.setdefault("chat_server", importlib.util.module_from_spec(_spec))
if not hasattr(chat_server, "ChatServer"):
    _spec.loader.exec_module(chat_server)

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
ASKED = "Where did Anna live in 2017?"
TOKEN = "a-token-of-the-tests-0123456789"
STATIC = Path(__file__).parents[2] / "src" / "worldthread" / "web" / "static"

ATTACKS = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<svg onload=window.hacked=1><circle r=9 /></svg>",
    "\"><iframe srcdoc='<script>parent.hacked=1</script>'>",
    "' onmouseover='window.hacked=1",
    "javascript:window.hacked=1",
    "{{constructor.constructor('window.hacked=1')()}}",
    "${window.hacked=1}",
    "<%= window.hacked = 1 %>",
    "</textarea></title></style><script>window.hacked=1</script>",
    "&lt;script&gt;window.hacked=1&lt;/script&gt;",
    "\u202egnp.drawkcab\u202c",
    "\u2066isolated\u2069 \u200b\u200d\ufeff zero width",
    "<math><mtext><style><img src onerror=window.hacked=1></style></mtext></math>",
    "<a href='javascript:window.hacked=1'>click</a>",
    "__proto__",
    "constructor",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "Z̸̡̢̛͎̈a̷̧͉̾l̵͎̽g̶̱̈́o̴͎͐",
]
HOSTILE = [f"{attack} {number}" for number, attack in enumerate(islice(cycle(ATTACKS), 200))]


def until(asked: Callable[[], Any], seconds: float = 600) -> Any:
    """What is asked for, once it is so. The pages allow no evaluated script, so that playwright cannot wait there."""
    end = time.monotonic() + seconds
    while True:
        found = asked()
        if found:
            return found
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def homes(
    served: Callable[..., Any], home_memory: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """The address of a server with the memory of Anna, and its folder of runs, with two runs in it."""
    runs = tmp_path_factory.mktemp("runs")
    for agent in ("explorer", "random"):
        run = Run("tiny-v1", agent, 1)
        (runs / agent).mkdir()
        with Memory(runs / agent / "memory.worldthread", model="none") as memory:
            header = {"memory": "memory.worldthread"}
            play_in(runs / agent, run, name=agent, memory=memory.record, graph=memory.record.graph, header=header)
    with served(home_memory, runs) as url:
        yield url, runs


def shown_edges(page: Any) -> int:
    return int(page.get_attribute("body", "data-shown-edges"))


def graph_pixels(page: Any) -> int:
    """How many bytes a picture of the graph takes: an empty one takes few."""
    return len(page.locator("#graph").screenshot())


@pytest.mark.firefox
def test_the_graph_appears_and_the_slider_changes_it(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(homes[0])
    assert shown_edges(page) == 3  # what has ended is shown when asked for
    until(lambda: page.get_attribute("body", "data-layout") == "done")
    page.click(".filters summary")
    page.check("#show-ended")
    until(lambda: shown_edges(page) == 5)
    assert "ended=1" in page.url
    until(lambda: page.get_attribute("body", "data-layout") == "done")
    drawn = graph_pixels(page)
    page.uncheck("#show-ended")
    until(lambda: shown_edges(page) == 3)
    page.focus("#moment")
    page.keyboard.press("Home")
    assert page.input_value("#as-of") == "1"
    assert shown_edges(page) == 3  # Rome, and the two ends of a thesis
    page.keyboard.press("ArrowRight")
    assert (page.input_value("#as-of"), shown_edges(page)) == ("2", 4)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert shown_edges(page) == 0
    assert page.text_content("#moment-about") == "before anything is known"
    page.click("#moment-now")
    page.uncheck("#kind-fact")
    page.uncheck("#kind-thesis")
    assert shown_edges(page) == 0
    until(lambda: graph_pixels(page) < drawn)


def test_what_is_known_about_a_name_is_told_with_sources_and_reasons(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(homes[0])
    page.keyboard.press("/")
    page.keyboard.type("ann")
    page.wait_for_selector("#found-0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel h2:has-text('Anna')")
    past = page.locator(".past > li", has_text="has dog")
    past.locator("summary").click()
    page.wait_for_selector(".past li:has-text('he ran away')")
    past.locator("button:has-text('show the text')").click()
    page.wait_for_selector(".past blockquote:has-text('Rex ran away.')")
    page.locator(".past .sources .source").first.click()
    page.wait_for_selector(".sources + blockquote:has-text('a call')")
    assert "name=anna" in page.url
    page.keyboard.press("Escape")
    page.wait_for_selector("#panel h2:has-text('This memory')")


def test_a_question_is_recalled(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(homes[0])
    page.fill("#search", "Where does Anna live?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".found li:has-text('Anna lives in Paris')")


def test_the_first_page_says_what_was_learned_last_and_a_wrong_address_what_to_do(
    open_page: Any, homes: tuple[str, Path]
) -> None:
    page = open_page(homes[0])
    page.wait_for_selector(".latest")
    assert page.text_content(".latest li") == "Anna lives in Paris known since turn 2"
    page.click(".latest a")
    page.wait_for_selector("#panel:has-text('lives in')")
    open_page.complaints_allowed.append("404")
    page.goto(f"{homes[0]}#name=nobody+at+all")
    page.wait_for_selector("#panel h2:has-text('nobody at all')")
    assert "Type a part of a name above" in page.text_content("#panel")
    assert page.locator("#notice").is_hidden()
    page.click("#panel a")
    page.wait_for_selector(".latest")


def test_an_address_leads_to_a_name_at_a_moment(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(f"{homes[0]}#name=anna&at=1")
    page.wait_for_selector("#panel h3:has-text('Held at turn 1')")
    assert "lives in Rome" in page.text_content(".statements")


@pytest.mark.games
def test_a_treasure_hunt_is_watched_to_its_end(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(f"{homes[0]}play")
    page.select_option("#game", "treasure-hunt")
    page.fill("#seed", "1")
    page.click("#watch")
    page.wait_for_selector(".map .room.here", timeout=600_000)
    page.select_option("#speed", "0")
    page.wait_for_selector("#outcome", timeout=600_000)
    assert "Won" in page.text_content("#outcome")
    until(lambda: "7/7" in page.text_content(".tiles"))
    assert page.locator(".map .room").count() == 12
    page.click("#outcome a:has-text('Step through it')")
    page.wait_for_selector(".run h2:has-text('treasure-hunt')")


@pytest.mark.firefox
def test_a_play_is_held_and_taken_over(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(f"{homes[0]}play")
    page.select_option("#game", "tiny")
    page.click("#watch")
    page.wait_for_selector(".watch[data-state=playing]")
    page.click("#take")
    page.wait_for_selector(".watch[data-asking=true]")
    page.fill("#typed", "look")
    page.keyboard.press("Enter")
    page.wait_for_selector(".moves li:has-text('by hand')")
    page.click("#take")
    page.select_option("#speed", "0")
    page.wait_for_selector("#outcome:has-text('Won')")


def test_ten_moves_of_a_person_are_stored_and_stepped_through(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(f"{homes[0]}play")
    page.select_option("#game", "tiny")
    page.click("#play-self")
    for number in range(1, 11):
        page.wait_for_selector(".watch[data-asking=true]")
        if number % 2:
            page.locator(".offered button").first.click()
        else:
            page.fill("#typed", "look")
            page.keyboard.press("Enter")
        until(lambda number=number: page.get_attribute(".watch", "data-moves") == str(number))
    page.wait_for_selector(".watch[data-asking=true]")
    page.click("#finish")
    page.wait_for_selector("#outcome:has-text('10 moves')")
    page.goto(f"{homes[0]}runs")
    page.click(".list a >> nth=0")
    page.wait_for_selector(".run[data-step='0']")
    for step in range(1, 11):
        page.keyboard.press("ArrowRight")
        page.wait_for_selector(f".run[data-step='{step}']")
    assert page.text_content(".action") == "look"
    page.keyboard.press("Home")
    page.wait_for_selector(".run[data-step='0']")
    page.keyboard.press("End")
    page.wait_for_selector(".run[data-step='10']")


def test_prompts_and_answers_are_shown_step_by_step(open_page: Any, homes: tuple[str, Path]) -> None:
    run = Run("tiny-v1", "ariadne", 1, steps=6, model="fake", options='{"calls":"three"}')  # recalls for each decision
    play_in(homes[1] / "asked", run, "fake")
    page = open_page(f"{homes[0]}runs")
    page.locator("tr", has_text="asked").first.locator("a").first.click()
    page.wait_for_selector(".run[data-step='0']")
    assert page.locator(".call").count() == 0
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".call")
    page.locator(".call summary", has_text="prompt: user").last.click()
    assert "Valid actions" in page.locator(".call").last.locator(".told").all_inner_texts()[1]
    answer = page.locator(".call details", has_text="answer").last.inner_text()
    assert page.text_content(".step .action") in answer
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".run[data-step='2']")
    until(lambda: page.locator(".call details[open]").count() >= 2)
    page.keyboard.press("End")
    page.locator(".recalled summary").click()
    assert page.locator(".recalled li").count() >= 1
    told = page.locator(".recalled li .told").first.text_content()
    assert told.splitlines()[0] in page.locator(".call").last.locator(".told").nth(1).text_content()
    shutil.rmtree(homes[1] / "asked")


def test_two_runs_are_compared_move_by_move(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(f"{homes[0]}runs")
    for name in ("explorer", "random"):
        page.locator("tr", has_text=re.compile(rf"tiny-v1{name}$|{name}.*{name}")).first.locator("input").check()
    page.click("#compare")
    page.wait_for_selector(".compared .run >> nth=1")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    until(lambda: [r.get_attribute("data-step") for r in page.query_selector_all(".run")] == ["2", "2"])
    assert page.locator(".run .chart").count() >= 6


@pytest.fixture(scope="module")
def hostile(served: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose memory and whose run consist of attacks."""
    folder = tmp_path_factory.mktemp("hostile")
    with Memory(folder / "<img src=x onerror=hacked=1>.worldthread", model="none", embedder="fake") as memory:
        for number, text in enumerate(HOSTILE):
            said = (Fact("hub", text, text), Thesis(text, (text, "hub")))
            memory.record.add(Episode(text, float(number // 20), text, Extraction(text, said)))
    run = folder / "runs" / "run"
    header = {"game": HOSTILE[0], "agent": HOSTILE[1], "seed": 0, "name": HOSTILE[2], "memory": "m.worldthread"}
    with TrajectoryWriter(run / "trajectory.jsonl", {**header, "settings": {"memory": HOSTILE[3]}}) as writer:
        for turn, text in enumerate(HOSTILE):
            writer.write(
                {
                    "turn": turn, "action": text, "reason": text, "observation": text, "inventory": text, "score": 0,
                    "reward": 0, "valid_actions": [text], "learned": [text], "ended": [[text, text]], "facts": 1,
                    "recalled": [{"text": text, "path": [text, text]}], "vertices": 1,
                    "problem": text if turn % 2 else "", "return_to": None,
                }
            )  # fmt: skip
    with Memory(run / "m.worldthread", model="none") as memory:
        rooms = [Fact(text, v.IS_A, "room") for text in HOSTILE[:20]]
        things = [Fact(text, v.IS_IN, HOSTILE[0]) for text in HOSTILE[20:25]]
        here = Fact(v.PLAYER, v.IS_IN, HOSTILE[0])
        memory.record.add(Episode("rooms", 0.0, "", Extraction("t", (*rooms, *things, here))))
    with served(folder / "<img src=x onerror=hacked=1>.worldthread", folder / "runs") as url:
        yield url


def foreign_elements(page: Any) -> list[str]:
    """Elements of kinds that the pages have none of, but attacks bring."""
    kinds = "iframe, object, embed, math, base, style, meta[http-equiv], img:not(.brand img)"
    kinds += ", [onerror], [onload], [onmouseover]"
    found = [element.evaluate("e => e.outerHTML") for element in page.query_selector_all(kinds)]
    found += [e.evaluate("e => e.outerHTML") for e in page.query_selector_all("script:not([src^='/static/'])")]
    return found + [e.evaluate("e => e.outerHTML") for e in page.query_selector_all("a[href^='javascript']")]


def is_hacked(page: Any) -> bool:
    return bool(page.evaluate("() => 'hacked' in window")) or bool(foreign_elements(page))


def test_two_hundred_hostile_names_are_text(open_page: Any, hostile: str) -> None:
    page = open_page(f"{hostile}#restated=1")
    assert page.text_content(".path").endswith("<img src=x onerror=hacked=1>.worldthread")
    page.fill("#search", "hub")
    page.click("#found-0")
    page.wait_for_selector("#panel h2:has-text('hub')")
    page.click("button:has-text('Show more')")
    until(lambda: page.locator(".statements > li").count() >= 380)
    texts = {element.text_content() for element in page.query_selector_all(".statements .text")}
    # statements whose names are the same to the memory are one
    assert sum(f"hub {text} {text}" in texts for text in HOSTILE) >= 190
    assert sum(text in texts for text in HOSTILE) >= 190
    for number in (0, 2, 10, 11, 16):
        page.fill("#search", HOSTILE[number])
        page.wait_for_selector("#found-0")
        page.locator("#found li").first.click()
        until(lambda: "hub" not in (page.text_content("#chosen") or "hub"))
        page.locator("#panel summary").first.click()
        page.locator("#panel .source").first.click()
        page.wait_for_selector("#panel blockquote")
    page.click(".filters summary")
    relations = page.text_content("#relations")
    assert "<script>window.hacked = 1</script> 0" in relations
    page.check("#kind-episode")
    page.wait_for_url(re.compile("episode"))
    assert not is_hacked(page)


def test_two_hundred_hostile_observations_are_text(open_page: Any, hostile: str) -> None:
    page = open_page(f"{hostile}runs")
    assert HOSTILE[0] in page.text_content(".list")
    page.click(".list a >> nth=0")
    for step, text in enumerate(HOSTILE):
        page.wait_for_selector(f".run[data-step='{step}']")
        assert page.text_content(".step .told") == text
        assert text in page.text_content(".changes.learned")
        page.keyboard.press("ArrowRight")
    assert page.locator(".map .room").count() == 20
    assert HOSTILE[0][:19] in page.text_content(".map .room.here")
    assert not is_hacked(page)


def test_a_person_shows_the_token_once(
    browser: Callable[..., Any], served: Callable[..., Any], home_memory: Path, tmp_path: Path
) -> None:
    with served(home_memory, tmp_path, WORLDTHREAD_WEB_TOKEN=TOKEN) as url:
        page = browser().new_page()
        assert page.goto(url).status == 401
        assert TOKEN not in page.content()
        page.fill("#token", "wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=This is not the token.")
        page.fill("#token", TOKEN)
        page.keyboard.press("Enter")
        page.wait_for_selector("body[data-ready]")
        page.goto(f"{url}play")
        page.wait_for_selector("#watch")
        other = browser().new_context().new_page()
        other.goto(f"{url}?token={TOKEN}")
        other.wait_for_selector("body[data-ready]")
        assert TOKEN not in other.url
        assert browser().new_context().new_page().goto(f"{url}api/memories").status == 401


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_is_wider_than_its_window(open_page: Any, homes: tuple[str, Path], width: int, scheme: str) -> None:
    for path in ("", "#name=anna", "runs", "play"):
        page = open_page(f"{homes[0]}{path}", width=width, scheme=scheme)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        back = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        brightness = sum(map(int, re.findall(r"\d+", back)[:3])) / 3
        assert (brightness < 60) == (scheme == "dark")


def test_everything_can_be_reached_by_the_keyboard_and_says_what_it_is(open_page: Any, homes: tuple[str, Path]) -> None:
    for path in ("", "runs", "play"):
        page = open_page(f"{homes[0]}{path}")
        unnamed = page.evaluate(
            """() => [...document.querySelectorAll('button, input, select, a')]
            .filter(e => e.offsetParent && !(e.textContent.trim() || e.ariaLabel || e.labels?.length))
            .map(e => e.outerHTML)"""
        )
        assert unnamed == []
        page.keyboard.press("Tab")
        ring = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
        assert ring != "none"


def test_the_address_of_the_page_tells_nothing_of_the_machine(homes: tuple[str, Path]) -> None:
    assert json.dumps(str(homes[1])) not in (STATIC / "memory.js").read_text("utf-8")
    assert "sourceMappingURL" not in (STATIC / "memory.js").read_text("utf-8")


# -- the page of a memory ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def family(served: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with 116 remembered sentences."""
    folder = tmp_path_factory.mktemp("family")
    with Memory(folder / "family.worldthread", model="none", embedder="fake") as memory:
        memory.remember_many(load(SAMPLE), progress=False)
    with served(folder / "family.worldthread", folder / "runs") as url:
        yield url


@pytest.fixture
def empty(served: Callable[..., Any], tmp_path: Path) -> Iterator[str]:
    """The address of a server without a memory yet."""
    with served(tmp_path / "new.worldthread", tmp_path / "runs", "--edit") as url:
        yield url


def laid_out(page: Any) -> None:
    until(lambda: page.get_attribute("body", "data-layout") == "done")


@pytest.mark.firefox
def test_a_graph_of_a_hundred_sentences_is_legible(open_page: Any, family: str) -> None:
    page = open_page(family)
    laid_out(page)
    key = json.loads(page.request.get(f"{family}api/memories").text())["memories"][0]["key"]
    edges = json.loads(page.request.get(f"{family}api/memories/{key}/graph").text())["edges"]
    tied = [edge for edge in edges if not edge.get("alone")]
    holding = [edge for edge in tied if not edge.get("restates") and edge["held"][-1][1] is None]
    assert shown_edges(page) == len(holding) < len(tied)
    assert page.get_attribute("body", "data-overprinted") == "0"
    until(lambda: int(page.get_attribute("body", "data-labels")) > 40)
    assert page.locator("#legend").is_visible()
    assert [li.text_content() for li in page.query_selector_all("#legend li")] == [
        "person", "place", "thing", "time", "sentence", "text", "ended"
    ]  # fmt: skip
    page.click(".filters summary")
    page.check("#show-restated")
    page.check("#show-ended")
    until(lambda: shown_edges(page) == len(tied))  # what says the same again, and what has ended, was hidden
    page.goto(f"{family}#name=anna")
    page.wait_for_selector("#panel h2:has-text('Anna')")
    assert page.text_content(".kicker") == "person"
    texts = [element.text_content() for element in page.query_selector_all(".statements .text")]
    assert "Anna lives in Marseille" in texts
    assert not any("moved to Marseille" in text for text in texts)  # one line a fact
    assert page.locator(".timeline text", has_text="lives in Rome").count() == 1


@pytest.mark.firefox
def test_a_conversation_is_drawn_by_what_connects_its_names(
    open_page: Any, served: Callable[..., Any], tmp_path: Path
) -> None:
    with Memory(tmp_path / "chat.worldthread", model="none", embedder="fake") as memory:
        for minute, (speaker, text, names) in enumerate(
            [("Ann", "Come join us!", ("Ann",)), ("Bo", "I saw Ann at the mill.", ("Bo", "Ann", "mill"))]
        ):
            at = 1_680_529_800.0 + 60 * minute
            said = Extraction("given/1", (Thesis(text, names),))
            memory.record.add(Episode(f"{speaker}: {text}", at, "chat", said, speaker=speaker))
    with served(tmp_path / "chat.worldthread", tmp_path / "runs") as url:
        page = open_page(url)
        assert shown_edges(page) == 3  # a sentence about one name connects it with nothing
        page.click(".filters summary")
        page.check("#show-alone")
        until(lambda: shown_edges(page) == 4)
        assert "alone=1" in page.url
        page.uncheck("#show-alone")
        until(lambda: shown_edges(page) == 3)
        page.goto(f"{url}#name=ann")
        page.wait_for_selector("#panel h2:has-text('Ann')")
        assert page.text_content(".kicker") == "person"
        assert "Come join us!" in page.text_content("#panel .statements")  # the panel has every sentence
        assert "known since 2023-04-03 13:50" in page.text_content("#panel .statements")
        page.fill("#as-of", "")
        page.locator("#as-of").press_sequentially("2023-04-03 13:50")
        page.keyboard.press("Tab")
        page.wait_for_selector("h3:has-text('Held at 2023-04-03 13:50')")
        assert "mill" not in page.text_content("#panel .statements")
        assert "at=1680529800" in page.url


@pytest.mark.firefox
def test_depth_and_selection_light_the_neighbourhood(open_page: Any, family: str) -> None:
    page = open_page(f"{family}#name=tomas")
    page.wait_for_selector("#panel h2:has-text('Tomas')")
    near = int(page.get_attribute("body", "data-lit"))
    page.click(".depth:has-text('2 steps')")
    until(lambda: int(page.get_attribute("body", "data-lit")) > near)
    assert "depth=2" in page.url
    laid_out(page)
    until(lambda: page.get_attribute("body", "data-fitted") == page.get_attribute("body", "data-lit"))
    assert page.get_attribute("body", "data-overprinted") == "0"


@pytest.mark.firefox
def test_a_question_about_the_past_is_answered_from_then(open_page: Any, homes_dated: str) -> None:
    page = open_page(homes_dated)
    page.keyboard.press("/")
    page.keyboard.type(ASKED)
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer:has-text('Rome')")
    assert page.text_content(".kicker") == "question · in 2017"
    assert page.locator(".evidence .over", has_text="Anna lives in Rome").count() == 1
    assert int(page.get_attribute("body", "data-lit")) >= 3  # the statement and both its names
    first = page.locator(".found > li").first
    assert first.locator(".text").text_content() == "Anna lives in Rome"
    assert re.fullmatch(r"\d\.\d\d", first.locator(".score").text_content())
    page.wait_for_timeout(400)
    assert page.locator("#found").is_hidden()
    page.fill("#as-of", "")
    page.locator("#as-of").press_sequentially("2019")
    page.keyboard.press("Tab")
    page.fill("#search", "Where does Anna live?")
    page.click(".search button")
    page.wait_for_selector("#answer:has-text('Lyon')")


@pytest.fixture(scope="module")
def homes_dated(served: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with the homes of Anna over the years, as theses and facts, with a fake embedder."""
    folder = tmp_path_factory.mktemp("dated")
    with Memory(folder / "dated.worldthread", model="none", embedder="fake") as memory:
        for day, home in (("2015-01-05", "Bergen"), ("2016-09-04", "Rome"), ("2018-04-11", "Lyon")):
            memory.remember(f"Anna lives in {home}.", at=day)
            memory.remember(f"Jonas likes {home}.", at=day)
    with served(folder / "dated.worldthread", folder / "runs") as url:
        yield url


@pytest.mark.firefox
def test_enter_opens_the_only_name_and_never_the_list_again(open_page: Any, family: str) -> None:
    page = open_page(family)
    page.fill("#search", "chia")
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel h2:has-text('Chiara')")
    page.wait_for_timeout(400)
    assert page.locator("#found").is_hidden()


def go_back(page: Any) -> None:
    """Goes back within a page. Playwright waits in vain in Firefox, which reports no step to an address without `#`."""
    page.evaluate("() => history.back()")


def address_of(page: Any) -> str:
    """The address as the page itself knows it: what is not reported does not reach `page.url` either."""
    return page.evaluate("() => location.href")


@pytest.mark.firefox
def test_everything_has_an_address_and_back_leads_there(open_page: Any, homes_dated: str) -> None:
    page = open_page(homes_dated)
    page.goto(f"{homes_dated}#name=anna")  # pasted into the open tab
    page.wait_for_selector("#panel h2:has-text('Anna')")
    page.locator(".statements summary").first.click()
    page.click("a:has-text('Open on its own')")
    page.wait_for_selector("#panel h2:has-text('Anna lives in Lyon')")
    statement = address_of(page)
    page.fill("#search", ASKED)
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer")
    question = address_of(page)
    page.click(".filters summary")
    page.uncheck("#relations li:has-text('likes') input")
    until(lambda: "without=likes" in address_of(page))
    until(lambda: shown_edges(page) == 2)  # where Anna lives, and the evidence, which has ended
    filtered = address_of(page)
    go_back(page)
    until(lambda: address_of(page) == question)
    assert page.is_checked("#relations li:has-text('likes') input")
    go_back(page)
    page.wait_for_selector("#panel h2:has-text('Anna lives in Lyon')")
    assert address_of(page) == statement
    go_back(page)
    page.wait_for_selector("#panel h2:text-is('Anna')")
    go_back(page)
    page.wait_for_selector("#panel h2:has-text('This memory')")
    other = open_page(filtered)
    other.wait_for_selector("#answer")
    until(lambda: shown_edges(other) == 2)
    moment = open_page(f"{homes_dated}#name=anna&at=1483228800")
    moment.wait_for_selector("h3:has-text('Held at 2017-01-01')")
    assert "Rome" in moment.text_content(".statements")


@pytest.mark.firefox
def test_time_has_an_axis_with_dates_and_a_range(open_page: Any, homes_dated: str) -> None:
    page = open_page(f"{homes_dated}#name=anna")
    page.wait_for_selector("#panel h2:has-text('Anna')")
    ticks = [tick.text_content() for tick in page.query_selector_all("#changes .tick text")]
    assert "2016" in ticks
    assert page.locator("#changes .begun").count() >= 3
    assert page.locator("#changes .ended").count() == 2
    box = page.locator("#changes").bounding_box()
    page.mouse.move(box["x"] + 0.55 * box["width"], box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 20, steps=4)
    page.mouse.up()
    page.wait_for_selector("h3:has-text('Held in this time')")
    assert "from=" in page.url
    assert page.locator(".statements .text").all_text_contents() == ["Anna lives in Rome"]
    page.click("#range-all")
    page.wait_for_selector("h3:has-text('Holds now')")
    page.focus("#moment")
    page.keyboard.press("Home")
    page.wait_for_selector("h3:has-text('Held at 2015-01-05')")
    page.keyboard.press("ArrowLeft")
    assert page.text_content("#moment-about") == "before anything is known"
    assert page.locator(".statements .text").count() == 0
    page.keyboard.press("End")
    page.wait_for_selector("h3:has-text('Holds now')")


def test_a_memory_is_shown_as_it_was_recorded(open_page: Any, served: Callable[..., Any], tmp_path: Path) -> None:
    times = iter([1.7e9, 1.8e9, 1.9e9, 2e9])
    with Memory(tmp_path / "r.worldthread", model="none", embedder="fake", clock=lambda: next(times, 2e9)) as memory:
        memory.record.add(Episode("a", 5.0, "", Extraction("t", (Fact("Ann", "knows", "Bo"),))))
        memory.record.add(Episode("b", 1.0, "", Extraction("t", (Fact("Cy", "knows", "Bo"),))))
    with served(tmp_path / "r.worldthread", tmp_path / "runs") as url:
        page = open_page(url)
        assert shown_edges(page) == 2
        page.click(".filters summary")
        until(lambda: page.locator("#recorded option").count() == 3)
        page.select_option("#recorded", index=2)
        until(lambda: shown_edges(page) == 1)
        assert "recorded=" in page.url
        open_page(page.url).wait_for_selector("#shown:has-text('2 names, 1 line')")


@pytest.mark.firefox
def test_a_game_is_drawn_as_its_map(open_page: Any, served: Callable[..., Any], tmp_path: Path) -> None:
    with Memory(tmp_path / "g.worldthread", model="none", embedder="fake") as memory:
        rooms = [Fact(name, v.IS_A, "room") for name in ("Hall", "Attic")]
        ways = [Fact("Hall", v.HAS_EXIT, "north")]
        ways.append(Fact("Attic", "is north of", "Hall", "north of hall"))
        memory.record.add(Episode("x", 0.0, "", Extraction("t", (*rooms, *ways, Fact("player", v.IS_IN, "Hall", "p")))))
        memory.record.add(Episode("y", 1.0, "", Extraction("t", (Fact("player", v.IS_IN, "Attic", "p"),))))
    with served(tmp_path / "g.worldthread", tmp_path / "runs") as url:
        page = open_page(url)
        page.wait_for_selector("#map .room.here:has-text('Attic')")
        page.focus("#moment")
        page.keyboard.press("Home")
        page.wait_for_selector("#map .room.here:has-text('Hall')")
        page.locator("[data-room='Attic']").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#panel h2:has-text('Attic')")
        page.click("#view-graph")
        assert page.locator("#map").is_hidden()
        assert "view=graph" in page.url


@pytest.mark.firefox
def test_the_first_minutes_of_an_empty_memory(open_page: Any, empty: str, tmp_path: Path) -> None:
    page = open_page(empty)
    page.wait_for_selector("#sample")
    assert page.locator("#nothing a:has-text('Choose a game')").get_attribute("href") == "/play"
    page.click("#sample")
    page.wait_for_selector("#done:has-text('Remembered 40 texts')", timeout=120_000)
    until(lambda: shown_edges(page) > 60)
    assert page.locator("#nothing").is_hidden()
    page.click("#undo")
    page.wait_for_selector("#sample")
    (tmp_path / "note.md").write_text("# Homes\n\nZoe lives in Paris.\n")
    page.set_input_files("#first-file", tmp_path / "note.md")
    page.wait_for_selector("#done:has-text('Remembered 1 text')", timeout=120_000)
    page.goto(f"{empty}#name=zoe")
    page.wait_for_selector(".statements:has-text('Zoe lives in Paris')")
    page.locator(".statements summary").first.click()
    page.locator(".sources .source").first.click()
    page.wait_for_selector("blockquote:has-text('note.md')")


@pytest.mark.firefox
def test_a_memory_is_changed_by_hand_and_changes_are_taken_back(open_page: Any, empty: str) -> None:
    page = open_page(empty)
    for text in ("Anna lives in Rome. Anna loves tea.", "Jonas lives in Oslo."):
        page.click("#remember")
        page.fill("#new-text", text)
        page.fill("#new-at", "2020-01-01")
        page.fill("#new-source", "a letter")
        page.click("#editor-do")
        page.wait_for_selector("#done:has-text('Remembered 1 text')", timeout=120_000)
    page.goto(f"{empty}#name=anna")
    page.wait_for_selector("#panel h2:has-text('Anna')")
    page.locator(".statements summary", has_text="lives in").click()
    page.locator(".statements button:has-text('Correct …')").first.click()
    page.fill("#right-object", "Lyon")
    page.fill("#right-subject", "")
    page.click("#editor-do")
    page.wait_for_selector("#editor [role=alert]:has-text('fill in the subject')")
    page.fill("#right-subject", "Anna")
    page.fill("#why", "a slip of the pen")
    page.click("#editor-do")
    page.wait_for_selector(".statements:has-text('Anna lives in Lyon')")
    assert "Rome" not in page.locator(".statements").first.text_content()
    page.click("#undo")
    page.wait_for_selector("#done:has-text('Undone')")
    page.goto(f"{empty}#name=jonas")
    page.wait_for_selector("#panel h2:has-text('Jonas')")
    page.click("button:has-text('Merge with …')")
    page.fill("#merge-into", "Anna")
    page.click("#editor-do")
    page.wait_for_selector("#panel h2:has-text('Anna')")
    page.click("#undo")
    page.wait_for_selector("#done:has-text('Undone')")
    page.goto(f"{empty}#name=anna")
    page.wait_for_selector(".statements:has-text('Anna lives in Rome')")
    page.click("#panel > .buttons button:has-text('Forget …')")
    page.wait_for_selector("#editor .lost:has-text('Anna lives in Rome. Anna loves tea.')")
    assert "Anna lives in Rome" in page.text_content("#editor .struck")
    page.click("#editor-do")
    page.wait_for_selector("#done:has-text('Forgot 1 text')")
    until(lambda: shown_edges(page) == 1)
    page.click("#undo")
    until(lambda: shown_edges(page) >= 3)


def figures(page: Any) -> dict[str, str]:
    """The counts in the panel of the whole memory."""
    return dict(zip(*(page.locator(f".figures {tag}").all_text_contents() for tag in ("dt", "dd")), strict=True))


def words(page: Any) -> str:
    """All that the page shows."""
    return page.inner_text("body")


@pytest.mark.firefox
def test_after_a_change_everything_on_the_page_is_that_of_the_new_memory(
    open_page: Any, served: Callable[..., Any], home_memory: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(home_memory, tmp_path / "home.worldthread"))
    with served(path, tmp_path / "runs") as url:
        page = open_page(url)
        page.wait_for_selector(".figures")
        assert figures(page) == {"names": "5", "facts and sentences": "4", "true now": "2", "ended": "2", "texts": "3"}
        assert page.locator(".chip").all_text_contents()[0] == "Anna 4"
        page.click(".chip:has-text('Rex')")
        page.wait_for_selector("#panel h2:has-text('Rex')")
        page.click("#panel button:has-text('Forget …')")
        page.click("dialog #editor-do")
        page.wait_for_selector("#done:has-text('Forgot 2 texts')")
        until(lambda: page.locator(".figures").count() and figures(page)["texts"] == "1")
        assert figures(page) == {"names": "3", "facts and sentences": "2", "true now": "2", "ended": "0", "texts": "1"}
        assert sorted(page.locator(".chip").all_text_contents()) == ["Anna 2", "Rome 1", "tea 1"]
        assert not any(gone in words(page) for gone in ("Rex", "Paris", "ran away"))
        until(lambda: page.text_content("#shown") == "3 names, 3 lines")
        page.fill("#search", "rex")
        page.wait_for_selector("#found .ask")
        assert page.locator("#found li").count() == 1
        page.fill("#search", "")
        page.click("#undo")
        until(lambda: figures(page)["texts"] == "3")
        page.goto(f"{url}#name=rex")
        page.wait_for_selector("#panel h2:has-text('Rex')")
        page.click("#panel button:has-text('Merge with …')")
        page.fill("#merge-into", "Anna")
        page.click("dialog #editor-do")
        page.wait_for_selector("#done:has-text('Merged Rex with Anna')")
        page.wait_for_selector("#panel h2:has-text('Anna')")
        page.keyboard.press("Escape")
        until(lambda: page.locator(".figures").count() and figures(page)["names"] == "4")
        assert sorted(page.locator(".chip").all_text_contents()) == ["Anna 4", "Paris 1", "Rome 1", "tea 1"]


@pytest.mark.firefox
def test_what_another_process_changes_is_shown_without_a_touch(
    open_page: Any, served: Callable[..., Any], home_memory: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(home_memory, tmp_path / "home.worldthread"))
    with served(path, tmp_path / "runs") as url, Memory(path, model="none", embedder="fake") as memory:
        memory.share_file()
        welcome, name, text = open_page(url), open_page(f"{url}#name=anna"), open_page(url)
        welcome.wait_for_selector(".figures")
        name.wait_for_selector("#panel h2:has-text('Anna')")
        said = Extraction("given/1", (Fact("Anna", "plays", "chess"),))
        episode = memory.record.add(Episode("Anna plays chess.", 4.0, "a call", said))
        until(lambda: figures(welcome)["facts and sentences"] == "5")
        assert welcome.text_content(".latest li").startswith("Anna plays chess")
        name.wait_for_selector(".statements:has-text('plays chess')")
        text.goto(f"{url}#source={episode.id}")
        text.wait_for_selector("#panel:has-text('Anna plays chess.')")
        open_page.complaints_allowed.append("404")
        memory.forget(episode.id)
        text.wait_for_selector("#panel:has-text('It may have been forgotten')")
        until(lambda: figures(welcome)["facts and sentences"] == "4")
        until(lambda: "plays chess" not in words(name))
        assert not any("chess" in words(page) for page in (welcome, text))


@pytest.mark.firefox
def test_moving_in_time_changes_every_panel(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(homes[0])
    page.wait_for_selector(".figures")
    page.focus("#moment")
    page.keyboard.press("Home")
    until(lambda: figures(page).get("true then") == "2")
    assert figures(page) == {"names": "3", "facts and sentences": "2", "true then": "2", "ended": "0", "texts": "1"}
    assert page.locator(".latest li a").all_text_contents() == ["Anna lives in Rome"]
    assert "Paris" not in page.inner_text("#panel")
    page.click(".filters summary")
    until(lambda: page.locator("#relations li").all_text_contents() == ["lives in1"])
    page.click("#moment-now")
    until(lambda: figures(page).get("true now") == "2")
    page.click(".latest li a:has-text('Paris')")
    until(lambda: page.locator("#standing").count() and page.text_content("#standing") == "holds now")
    page.focus("#moment")
    page.keyboard.press("Home")
    until(lambda: page.text_content("#standing") == "did not hold yet at turn 1")


def test_a_server_for_reading_only_offers_no_changes(
    open_page: Any, served: Callable[..., Any], home_memory: Path, tmp_path: Path
) -> None:
    with served(home_memory, tmp_path / "runs", "--read-only") as url:
        page = open_page(f"{url}#name=anna")
        page.wait_for_selector("#panel h2:has-text('Anna')")
        assert page.locator("#remember").is_hidden()
        assert page.locator("button:has-text('Forget …')").count() == 0
        page.close()  # or what it still asks for is refused when the server stops


def test_a_memory_that_cannot_be_opened_says_why_and_what_to_do(
    open_page: Any, served: Callable[..., Any], home_memory: Path, tmp_path: Path
) -> None:
    file = tmp_path / "notes.worldthread"
    file.write_text("not a memory")
    with served(file, tmp_path / "runs") as url:
        open_page.complaints_allowed.append("Failed to load resource")
        page = open_page(url)
        page.wait_for_selector("#panel h2:has-text('This memory cannot be shown')")
        assert "notes.worldthread" in page.text_content("#notice")
        shutil.copy(home_memory, file)
        page.click("#panel .again")
        page.wait_for_selector("#panel h2:has-text('This memory') >> nth=0")
        page.wait_for_selector("#panel .chips a:has-text('Anna')")
        assert page.locator("#notice").is_hidden()


def test_hostile_names_are_text_in_answers_timelines_and_dialogs(
    open_page: Any, served: Callable[..., Any], tmp_path: Path
) -> None:
    names = HOSTILE[:20]
    with Memory(tmp_path / "h.worldthread", model="none", embedder="fake") as memory:
        for number, name in enumerate(names):
            said = (Fact(name, name, names[0], "a"), Thesis(f"{name} speaks", (name,)))
            memory.record.add(Episode(name, 1.7e9 + number * 1e6, name, Extraction("t", said)))
    with served(tmp_path / "h.worldthread", tmp_path / "runs", "--edit") as url:
        page = open_page(url)
        for name in names[:6]:
            page.fill("#search", f"Who is {name}?")
            page.keyboard.press("Enter")
            page.wait_for_selector("#answer")
            assert not is_hacked(page)
        page.fill("#search", names[0])
        page.wait_for_selector("#found-0")
        page.locator("#found li").first.click()
        page.wait_for_selector(".timeline")
        page.click("#panel > .buttons button:has-text('Forget …')")
        page.wait_for_selector("#editor .lost li")
        assert names[1] in page.text_content("#editor")
        assert not is_hacked(page)
        page.keyboard.press("Escape")
        page.click("#panel > .buttons button:has-text('Merge with …')")
        page.fill("#merge-into", names[2])
        page.click("#editor-do")
        page.wait_for_selector("#done:has-text('Merged')")
        assert not is_hacked(page)


def listed_runs(url: str) -> list[dict[str, Any]]:
    """The runs that a server lists."""
    with urllib.request.urlopen(f"{url}api/runs") as answer:
        return list(json.load(answer)["runs"])


@pytest.fixture
def axe() -> str:
    if not AXE.is_file():
        pytest.skip("needs axe-core: npm ci in frontend")
    return AXE.read_text("utf-8")


@pytest.mark.firefox
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_serious(
    open_page: Any, family: str, homes: tuple[str, Path], axe: str, width: int, scheme: str
) -> None:
    first, second = (run["id"] for run in listed_runs(homes[0])[:2])
    views = {
        "": "#panel h2",
        "#name=anna&ended=1": "#chosen",
        f"#q={ASKED.replace(' ', '+')}": "#answer",
        "#name=nobody": "#panel .error",
        "runs": ".list",
        "runs#find=tiny": ".list",
        "runs#group=player": ".list",
        f"runs#run={first}&step=1": ".run[data-step='1'] .action",
        f"runs#compare={first},{second}": ".compared .run >> nth=1",
        "runs#read=file": ".reading[data-step='0']",
        "play": "#watch",
    }
    open_page.complaints_allowed.append("404 (Not Found)")  # of the name that nobody knows
    for path, shown in views.items():
        page = open_page(f"{family if 'runs' not in path else homes[0]}{path}", width=width, scheme=scheme)
        page.wait_for_selector(shown)
        page.evaluate(axe)
        found = page.evaluate("async () => (await axe.run(document)).violations")
        serious = [
            (one["id"], [node["html"][:120] for node in one["nodes"]][:3], one["nodes"][0].get("failureSummary"))
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == [], f"{path}: {json.dumps(serious, indent=1)}"


@pytest.mark.firefox
def test_the_keyboard_alone_asks_opens_and_closes(open_page: Any, family: str) -> None:
    page = open_page(family)
    page.keyboard.press("/")
    page.keyboard.type("Where does Anna live?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.matches('a.chip')"):
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel .depth")
    page.focus("#remember")
    page.keyboard.press("Enter")
    page.wait_for_selector("#editor[open]")
    page.keyboard.press("Escape")
    assert page.locator("#editor").is_hidden()
    page.keyboard.press("Escape")
    page.wait_for_selector("#panel h2:has-text('This memory')")


def tab_to(page: Any, selector: str, key: str = "Tab") -> None:
    """Presses a key until the element has the focus.

    After the last element of a page, Tab leads a person through the toolbar of the browser. WebDriver goes on to send
    keys to the page of Firefox then, which is without the focus: Tab and Enter still work, and no space bar clicks.
    """
    for _ in range(80):
        page.keyboard.press(key)
        assert page.evaluate("() => document.hasFocus()"), f"{key} left the page: take the other way to {selector}"
        if page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
            return
    raise AssertionError(f"no {key} leads to {selector}")


@pytest.mark.firefox
def test_the_keyboard_alone_watches_a_play_and_steps_through_its_run(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(f"{homes[0]}play")
    tab_to(page, "#game")
    page.keyboard.type("tiny")
    assert page.input_value("#game") == "tiny"
    tab_to(page, "#watch")
    page.keyboard.press("Enter")
    page.wait_for_selector("#outcome", timeout=120_000)
    tab_to(page, "#outcome a")
    page.keyboard.press("Enter")
    page.wait_for_selector(".run[data-step='0'] .action")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".run[data-step='1'] .action")
    page.keyboard.press("End")
    until(lambda: int(page.get_attribute(".run", "data-step")) > 1)
    tab_to(page, ".held summary")
    page.keyboard.press("Enter")
    page.wait_for_selector(".held li")
    page.keyboard.press(" ")
    until(lambda: page.locator(".held li").first.is_hidden())
    tab_to(page, "nav a[href='/runs']", "Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".list a")
    tab_to(page, "th button.sort")
    page.keyboard.press("Enter")
    page.wait_for_selector("th[aria-sort]")
    for number in range(2):
        tab_to(page, "input[data-run]:not(:checked)")
        page.keyboard.press(" ")
        page.wait_for_function(
            "wanted => document.querySelectorAll('input[data-run]:checked').length === wanted", arg=number + 1
        )
    tab_to(page, "#compare", "Shift+Tab")  # stands before the table
    page.keyboard.press("Enter")
    page.wait_for_selector(".compared .run >> nth=1")


def test_a_model_is_asked_in_the_page_only_when_a_person_wants_it(
    open_page: Any, served: Callable[..., Any], home_memory: Path, tmp_path: Path
) -> None:
    answer = {"reasoning": "A letter says so.", "answer": "In Paris, says the model", "sources": [1], "look_up": []}
    with chat_server.ChatServer(default=chat_server.Reply(json.dumps(answer))) as model:
        environment = {"WORLDTHREAD_MODEL": "some-model", "OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none"}
        with served(home_memory, tmp_path / "runs", **environment) as url:
            page = open_page(f"{url}#q=Where+does+Anna+live%3F")
            page.wait_for_selector("#answer:has-text('Paris')")
            assert model.requests == []
            page.click("#ask-model:has-text('Ask some-model too')")
            page.wait_for_selector("#model-answer:has-text('In Paris, says the model')")
            assert "Where does Anna live?" in json.dumps(model.requests[0])
            page.click(".by-model summary")
            page.wait_for_selector(".by-model .told:has-text('A letter says so.')")
            assert page.text_content("#answer") == "Paris"


def test_hostile_runs_are_text_in_the_table_and_side_by_side(open_page: Any, hostile: str) -> None:
    page = open_page(f"{hostile}runs")
    for group in ("game", "player", "model", "end"):
        page.select_option("#group", group)
        page.wait_for_selector("tr.summary")
        assert not is_hacked(page)
    assert HOSTILE[1] in page.text_content(".list")
    (run,) = listed_runs(hostile)
    page.goto(f"{hostile}runs#compare={run['id']},{run['id']}")
    page.wait_for_selector(".compared .run[data-step] >> nth=1")
    page.wait_for_selector(".compared .map .room >> nth=20")
    page.locator(".held summary").first.click()
    page.wait_for_selector(".held li")
    page.locator(".step details summary").first.click()
    assert not is_hacked(page)
    page.goto(f"{hostile}#memory=run-{run['id']}")
    page.wait_for_selector("#panel .chips a")
    page.fill("#search", "img")
    page.wait_for_selector("#found-0")
    page.locator("#found li").first.click()
    page.wait_for_selector("#chosen:has-text('img')")
    assert not is_hacked(page)


def test_a_file_that_is_dropped_is_remembered(open_page: Any, empty: str) -> None:
    page = open_page(empty)
    page.wait_for_selector("#sample")
    page.evaluate(
        """() => {
            const files = new DataTransfer();
            files.items.add(new File(["Mira lives in Turin."], "note.txt", {type: "text/plain"}));
            document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true, cancelable: true}));
        }"""
    )
    page.wait_for_selector("#done:has-text('Remembered 1 text')", timeout=120_000)
    page.goto(f"{empty}#name=mira")
    page.wait_for_selector(".statements:has-text('Mira lives in Turin')")


def test_a_text_has_an_author_who_says_i(open_page: Any, empty: str) -> None:
    page = open_page(empty)
    page.click("#remember")
    page.fill("#new-text", "I live in Ghent.")
    page.fill("#new-user", "Wim")
    page.click("#editor-do")
    page.wait_for_selector("#done:has-text('Remembered 1 text')", timeout=120_000)
    page.goto(f"{empty}#name=wim")
    page.wait_for_selector(".statements:has-text('Ghent')")


@pytest.mark.parametrize(("end", "code"), [(signal.SIGINT, {0, 130}), (signal.SIGTERM, {0, -15})])
def test_a_signal_ends_the_server_and_its_plays_without_a_traceback(
    tmp_path: Path, end: signal.Signals, code: set[int]
) -> None:
    command = [sys.executable, "-m", "worldthread", "web", "--port", "0"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    told = process.stderr.readline()
    url = re.search(r"http://\S+", told)[0]
    wanted = {"game": "tiny", "agent": "human", "module": "", "seed": 1, "steps": None, "settings": {}}
    body = json.dumps({**wanted, "fake_model": False, "budget_dollars": None}).encode()
    request = urllib.request.Request(f"{url}api/plays", body, {"content-type": "application/json"}, method="POST")
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer)["game"] == "tiny-v1"
    process.send_signal(end)
    _, more = process.communicate(timeout=600)
    assert process.returncode in code
    assert "Traceback" not in more


def test_the_search_for_runs_has_an_address(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(f"{homes[0]}runs")
    rows = page.locator(".list tbody tr").count()
    page.fill(".tools input", "random")
    page.wait_for_url(re.compile("find=random"))
    assert 0 < page.locator(".list tbody tr").count() < rows
    again = open_page(page.url)
    assert again.locator(".list tbody tr").count() == page.locator(".list tbody tr").count()
    again.click(".list a >> nth=0")
    again.wait_for_selector(".run[data-step='0']")
    again.keyboard.press("ArrowRight")
    again.wait_for_url(re.compile("step=1"))
    again.go_back()
    again.wait_for_selector(".list")
    assert again.input_value(".tools input") == "random"


@pytest.mark.firefox
def test_on_a_phone_the_statements_come_first(open_page: Any, family: str) -> None:
    page = open_page(f"{family}#name=anna", width=390)
    page.wait_for_selector("#panel h2:has-text('Anna')")
    assert page.locator("#panel").bounding_box()["y"] < page.locator(".stage").bounding_box()["y"]


# -- runs, texts that were read, and plays ----------------------------------------------------------------------------


@pytest.mark.firefox
def test_runs_are_sorted_grouped_and_shown_with_chosen_columns(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(f"{homes[0]}runs")
    page.click("th button:has-text('moves')")
    page.wait_for_url(re.compile("sort=-moves"))
    moves = [int(cell.text_content()) for cell in page.query_selector_all(".list tbody td:nth-child(6)")]
    assert moves == sorted(moves, reverse=True)
    page.click("th button:has-text('moves')")
    page.wait_for_url(re.compile("sort=moves"))
    page.click(".columns summary")
    page.check("[data-column=precision]")
    page.uncheck("[data-column=seed]")
    page.wait_for_url(re.compile("columns="))
    page.select_option("#group", "player")
    groups = page.locator("tr.summary")
    assert groups.count() >= 2
    assert "won" in groups.first.text_content()
    page.locator("tr.summary button").first.click()
    assert page.locator(".group a").count() >= 1
    again = open_page(page.url)
    heads = [head.text_content() for head in again.query_selector_all("th")]
    assert "precision" in heads
    assert "seed" not in heads
    assert again.locator("tr.summary").count() == groups.count()


def test_the_memory_before_and_after_a_step_is_shown(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(f"{homes[0]}runs")
    page.locator("tr", has_text="explorer").first.locator("a").first.click()
    page.wait_for_selector(".run[data-step='0']")
    page.click(".held summary")
    page.wait_for_selector(".held:has-text('0 statements before')")
    page.click("[aria-label='Next step']")
    page.wait_for_selector(".run[data-step='1']")
    until(lambda: "0 statements before" not in page.text_content(".held"))


@pytest.mark.firefox
def test_two_runs_are_shown_from_the_step_where_they_part(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(f"{homes[0]}runs")
    runs = {
        box.get_attribute("aria-label"): box.get_attribute("data-run") for box in page.query_selector_all("[data-run]")
    }
    both = f"{runs['Compare explorer']},{runs['Compare random']}"
    page.goto(f"{homes[0]}runs#compare={both}")
    page.wait_for_selector(".compared .run[data-step] >> nth=1")
    steps = [run.get_attribute("data-step") for run in page.query_selector_all(".run")]
    assert steps[0] == steps[1]
    page.goto(f"{homes[0]}runs#compare={both}&step=5")
    page.wait_for_selector(".run[data-step='5']")
    page.click("#to-parting")
    until(lambda: [run.get_attribute("data-step") for run in page.query_selector_all(".run")] == steps)
    same = runs["Compare explorer"]
    page.goto(f"{homes[0]}runs#compare={same},{same}")
    page.wait_for_selector(".parting:has-text('the same, step by step')")


def test_texts_that_were_read_show_what_was_taken_from_which_sentence(open_page: Any, family: str) -> None:
    page = open_page(f"{family}runs")
    page.click("#readings a")
    page.wait_for_selector(".reading[data-step='0']")
    assert page.locator(".reading .told").count() == 3
    assert "Anna Berg lives in Bergen" in page.locator(".taken").first.text_content()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".reading[data-step='1']")
    page.wait_for_url(re.compile("step=1"))
    page.locator(".taken a").first.click()
    page.wait_for_selector("#chosen:has-text('Ingrid lives in Bergen')")


def test_hostile_texts_are_text_where_they_were_read_and_held(open_page: Any, hostile: str) -> None:
    page = open_page(f"{hostile}runs#read=file&step=0")
    for step in range(20):
        page.wait_for_selector(f".reading[data-step='{step}']")
        page.keyboard.press("ArrowRight")
    assert not is_hacked(page)
    page.goto(f"{hostile}runs")
    page.select_option("#group", "game")
    page.wait_for_selector(f"tr.summary:has-text({json.dumps(HOSTILE[0])})")
    page.locator(".list a").first.click()  # a group alone is open
    page.wait_for_selector(".run[data-step='0']")
    page.click(".held summary")
    page.wait_for_selector(".held li")
    assert HOSTILE[0] in page.text_content(".held")
    assert not is_hacked(page)


def test_the_choices_say_what_an_agent_is_and_mark_the_fake_model(open_page: Any, homes: tuple[str, Path]) -> None:
    page = open_page(f"{homes[0]}play")
    page.select_option("#agent", "ariadne")
    assert "Recalls from its memory" in page.text_content("#about-agent")
    assert "answers at random" in page.text_content("#about-model")
    page.select_option("#agent", "explorer")
    assert "needs no model" in page.text_content("#about-agent")
    assert page.locator("#about-model").is_hidden()
    assert page.locator("#game option[disabled]").count() == 0


def test_the_settings_of_a_play_are_chosen_with_their_meaning(open_page: Any, homes: tuple[str, Path]) -> None:
    url, _ = homes
    page = open_page(f"{url}play")
    page.select_option("#game", "tiny")
    page.click("#settings > summary")
    page.wait_for_selector("#set-agent-take_urgency")
    assert "of taking what is wanted" in page.text_content("#set-agent-take_urgency-about")
    assert "Default: 5" in page.text_content("#set-agent-take_urgency-about")
    page.fill("#set-agent-take_urgency", "much")
    page.keyboard.press("Tab")
    assert page.text_content("#settings > summary") == "Settings", "what is no number is not chosen"
    page.fill("#set-agent-take_urgency", "7")
    page.keyboard.press("Tab")
    assert page.text_content("#settings > summary") == "Settings (1 changed)"
    page.select_option("#agent", "ariadne")
    page.wait_for_selector("#set-agent-recent")
    assert page.locator("#set-memory-rooms").count() == 1
    assert page.text_content("#settings > summary") == "Settings", "another agent has settings of its own"
    page.fill("#find-setting", "rooms")
    assert page.locator("#set-agent-recent").is_hidden()
    page.select_option("#agent", "explorer")
    page.wait_for_selector("#set-agent-open_urgency")
    page.fill("#set-agent-open_urgency", "3")
    page.click("#watch")
    page.wait_for_selector(".watch")
    until(lambda: int(page.get_attribute(".watch", "data-moves") or 0) > 0)
    run = re.search(r"play=(\w+)", page.url)[1]
    header = json.loads(page.request.get(f"{url}api/runs/{run}").text())["header"]
    assert json.loads(header["settings"]["options"]) == {"open_urgency": 3}
    page.click("#stop")
    page.close()


def test_a_play_leads_to_its_kept_run_after_the_server_was_started_again(
    open_page: Any, served: Callable[..., Any], home_memory: Path, tmp_path: Path
) -> None:
    with served(home_memory, tmp_path / "runs") as url:
        page = open_page(f"{url}play")
        page.select_option("#game", "tiny")
        page.click("#watch")
        until(lambda: int(page.get_attribute(".watch", "data-moves") or 0) > 1)
        page.click("#stop")
        page.wait_for_selector(".watch[data-state=stopped]")
        address = page.url.removeprefix(url)
        page.close()
    with served(home_memory, tmp_path / "runs") as url:
        again = browser_page(open_page, f"{url}{address}")
        again.wait_for_selector("#kept")
        again.wait_for_selector(".run[data-step='0']")


def test_a_line_that_went_silent_is_noticed_and_joined_again(
    open_page: Any, served: Callable[..., Any], home_memory: Path, tmp_path: Path
) -> None:
    """A laptop that slept: the connection looks open, and nothing comes."""
    with served(home_memory, tmp_path / "runs") as url:
        page = open_page(f"{url}play")
        page.clock.install()
        page.select_option("#game", "tiny")
        page.click("#watch")
        until(lambda: int(page.get_attribute(".watch", "data-moves") or 0) > 1)
        page.click("#hold")
        page.wait_for_selector("#hold:has-text('Resume')")
        moves = page.locator(".moves li").count()
        url.process.send_signal(signal.SIGSTOP)
        page.clock.fast_forward(40_000)
        page.wait_for_selector(".watch[data-line=lost]")
        assert "connection to the server was lost" in page.text_content("#notice")
        url.process.send_signal(signal.SIGCONT)

        def joined() -> bool:
            page.clock.fast_forward(3_000)
            return page.get_attribute(".watch", "data-line") == "there"

        until(joined)
        assert page.locator("#notice").is_hidden()
        assert page.locator(".moves li").count() == moves, "no move is shown twice"
        page.click("#hold")
        until(lambda: page.locator(".moves li").count() > moves)
        page.select_option("#speed", "full speed")
        page.wait_for_selector(".watch[data-over=yes]", timeout=120_000)
        turns = page.locator(".moves .number").all_text_contents()
        assert turns == [str(turn) for turn in range(len(turns), 0, -1)]
        page.close()


def test_a_play_whose_server_was_started_again_leads_to_its_run_in_the_open_page(
    open_page: Any, served: Callable[..., Any], home_memory: Path, tmp_path: Path
) -> None:
    with served(home_memory, tmp_path / "runs") as url:
        page = open_page(f"{url}play")
        page.select_option("#game", "tiny")
        page.click("#watch")
        until(lambda: int(page.get_attribute(".watch", "data-moves") or 0) > 1)
        page.click("#hold")
        open_page.complaints_allowed += ["404", "ERR_", "Failed to load", "can’t establish a connection", "interrupted"]
    page.wait_for_selector(".watch[data-line=lost]")
    with served(home_memory, tmp_path / "runs", port=int(url.rstrip("/").rpartition(":")[2])):
        page.wait_for_selector("#kept", timeout=120_000)
        page.close()


def test_a_question_whose_server_fell_silent_says_so_and_is_asked_again(
    open_page: Any, served: Callable[..., Any], home_memory: Path, tmp_path: Path
) -> None:
    with served(home_memory, tmp_path / "runs") as url:
        page = open_page(url)
        page.wait_for_selector("#panel h2")
        page.clock.install()
        url.process.send_signal(signal.SIGSTOP)
        page.fill("#search", "Where does Anna live?")
        page.keyboard.press("Enter")
        open_page.complaints_allowed.append("ERR_")
        until(lambda: [page.clock.fast_forward(11_000), page.locator(".waiting .again:visible").count()][1] > 0)
        assert "has not answered for" in page.text_content(".waiting")
        url.process.send_signal(signal.SIGCONT)
        until(lambda: [page.clock.fast_forward(1_000), page.locator("#panel:has-text('Paris')").count()][1] > 0)
        page.close()


def browser_page(open_page: Any, url: str) -> Any:
    """A page whose first request may fail, as that for a play of another server does."""
    page = open_page(url.partition("play")[0])
    open_page.complaints_allowed.append("404")
    page.goto(url)
    return page


@pytest.mark.firefox
def test_long_work_says_how_far_it_is_and_can_be_cancelled(open_page: Any, empty: str, tmp_path: Path) -> None:
    many = tmp_path / "many.jsonl"
    many.write_text("".join(f'{{"content": "Zoe met Person{n}. Person{n} lives in Town{n}."}}\n' for n in range(8000)))
    page = open_page(empty)
    page.set_input_files("#first-file", many)
    page.wait_for_selector("#done .waiting progress", timeout=120_000)
    assert "of 8,000 texts" in page.text_content("#done")
    other = open_page(f"{empty}play")  # nothing else waits for it
    other.wait_for_selector("#watch")
    page.hover("#done .cancel")
    page.mouse.down()  # and up when the words have changed: the button stays the same
    words = page.text_content("#done")
    until(lambda: page.text_content("#done") != words)
    page.mouse.up()
    page.wait_for_selector("#done:has-text('the rest was cancelled')", timeout=120_000)
    page.click("#undo")
    page.wait_for_selector("#sample", timeout=120_000)
    for one in (page, other):  # they would still ask the server when it has ended
        one.close()


def test_other_memories_of_the_file_are_changed_apart(
    open_page: Any, served: Callable[..., Any], tmp_path: Path
) -> None:
    for namespace, text in (("default", "Anna lives in Rome."), ("zoe", "Zoe lives in Paris.")):
        with Memory(tmp_path / "two.worldthread", namespace=namespace, model="none", embedder="fake") as memory:
            memory.remember(text, at=1)
    with served(tmp_path / "two.worldthread", tmp_path / "runs") as url:
        page = open_page(url)
        page.select_option("#memories", label="two.worldthread: zoe")
        page.wait_for_selector("#panel a:has-text('Paris')")
        page.click("#remember")
        page.fill("#new-text", "I love tea.")
        page.fill("#new-user", "Zoe")
        page.click("#editor-do")
        page.wait_for_selector("#done:has-text('Remembered 1 text')")
        page.goto(f"{page.url.partition('#')[0]}{page.evaluate('() => location.hash')}&name=zoe")
        page.wait_for_selector(".statements:has-text('tea')")
        page.select_option("#memories", label="two.worldthread")
        page.wait_for_selector("#panel a:has-text('Rome')")
        assert "tea" not in page.text_content("#panel")
