"""Ten tasks of somebody who sees the pages for the first time, each done in at most four actions.

An action is a click, a text that is typed, or a key that is pressed. Everything begins at the page of the memory, as it
is when the server was just started, and nothing is known of addresses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from worldthread import Memory
from worldthread.extract.documents import load
from worldthread.web.edits import SAMPLE
from worldthread_lab.play.run import Run
from worldthread_lab.play.run_files import play_in

pytestmark = [pytest.mark.web, pytest.mark.browser, pytest.mark.firefox, pytest.mark.usefixtures("built_pages")]

MOST = 4


class Newcomer:
    """Uses a page, and counts what that takes."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.actions = 0

    def click(self, what: str) -> None:
        self._count()
        self.page.locator(what).first.click()

    def type(self, where: str, text: str) -> None:
        self._count()
        self.page.fill(where, "")
        self.page.locator(where).press_sequentially(text)  # as a person does: Firefox hears of no other change

    def press(self, key: str) -> None:
        self._count()
        self.page.keyboard.press(key)

    def sees(self, what: str) -> Any:
        self.page.wait_for_selector(what, timeout=120_000)
        return self.page.locator(what).first

    def _count(self) -> None:
        self.actions += 1
        assert self.actions <= MOST


@pytest.fixture(scope="module")
def home(served: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with the letters of the sample, and three runs of a game."""
    folder = tmp_path_factory.mktemp("first")
    with Memory(folder / "family.worldthread", model="none", embedder="minilm") as memory:
        memory.remember_many(load(SAMPLE), progress=False)
    for name, agent, seed in (("explorer", "explorer", 1), ("random", "random", 1), ("other", "random", 2)):
        run = folder / "runs" / name
        run.mkdir(parents=True)
        with Memory(run / "memory.worldthread", model="none") as memory:
            header = {"memory": "memory.worldthread"}
            tiny = Run("tiny-v1", agent, seed)
            play_in(run, tiny, name=name, memory=memory.record, graph=memory.record.graph, header=header)
    with served(folder / "family.worldthread", folder / "runs", WORLDTHREAD_EMBEDDER="minilm") as url:
        yield url


@pytest.fixture
def newcomer(open_page: Any, home: str) -> Newcomer:
    page = open_page(home)
    page.wait_for_selector("#panel h2:has-text('This memory')")
    return Newcomer(page)


def test_where_did_anna_live_in_2017_and_why_did_that_end(newcomer: Newcomer) -> None:
    newcomer.type("#search", "Where did Anna live in 2017?")
    newcomer.press("Enter")
    assert newcomer.sees("#answer").text_content() == "Rome"
    newcomer.click(".evidence .over summary")
    assert "Ended:" in newcomer.sees(".evidence .why").text_content()


def test_what_was_known_of_somebody_at_an_earlier_time(newcomer: Newcomer) -> None:
    newcomer.click("#panel .chips a:has-text('Anna')")
    newcomer.sees("#chosen")
    newcomer.type("#as-of", "2017-01-01")
    newcomer.press("Tab")
    newcomer.sees("h3:has-text('Held at 2017-01-01')")
    assert "Rome" in newcomer.sees(".statements").text_content()


def test_which_text_a_statement_comes_from(newcomer: Newcomer) -> None:
    newcomer.click("#panel .chips a:has-text('Anna')")
    newcomer.click(".statements summary")
    newcomer.click(".statements .source")
    assert newcomer.sees("blockquote .told").text_content()


def test_to_remember_a_text(newcomer: Newcomer) -> None:
    newcomer.click("#remember")
    newcomer.type("#new-text", "Ulla lives in Turin.")
    newcomer.click("#editor-do")
    newcomer.sees("#done:has-text('Remembered 1 text')")


def test_to_correct_a_fact(newcomer: Newcomer) -> None:
    newcomer.click("#panel .chips a:has-text('Anna')")
    newcomer.click("[aria-label='Correct “Anna lives in Marseille”']")
    newcomer.type("#right-object", "Arles")
    newcomer.press("Enter")
    newcomer.sees(".statements:has-text('Anna lives in Arles')")
    newcomer.page.click("#undo")  # so that the other tasks find what they look for
    newcomer.sees("#done:has-text('Undone')")


def test_to_forget_somebody_and_to_take_that_back(newcomer: Newcomer) -> None:
    newcomer.click("#panel .chips a:has-text('Chiara')")
    newcomer.click("#panel > .buttons button:has-text('Forget …')")
    newcomer.sees("#editor .lost li")  # what would go is shown first
    newcomer.click("#editor-do")
    newcomer.sees("#done:has-text('Forgot')")
    newcomer.click("#undo")
    newcomer.sees("#done:has-text('Undone')")


def test_to_watch_an_agent_play(newcomer: Newcomer) -> None:
    newcomer.click("nav a:has-text('Play')")
    newcomer.sees("#watch")
    newcomer.page.select_option("#game", "tiny")  # a third: the quickest of all games
    newcomer.actions += 1
    newcomer.click("#watch")
    newcomer.sees(".map .room.here")


def test_to_find_the_best_run(newcomer: Newcomer) -> None:
    newcomer.click("nav a:has-text('Runs')")
    newcomer.sees(".list a")
    newcomer.click("th button:has-text('score')")
    newcomer.sees("th[aria-sort=descending]:has-text('score')")
    assert "won" in newcomer.page.locator(".list tbody tr").first.text_content()


def test_to_compare_two_runs(newcomer: Newcomer) -> None:
    newcomer.click("nav a:has-text('Runs')")
    newcomer.click("[aria-label='Compare explorer']")
    newcomer.click("[aria-label='Compare random']")
    newcomer.click("#compare")
    newcomer.sees(".parting:has-text('part at')")
    newcomer.sees(".compared .run[data-step] >> nth=1")
    actions = newcomer.page.locator(".compared .action")
    assert actions.nth(0).text_content() != actions.nth(1).text_content()  # it begins where they part


def test_to_send_a_colleague_the_link_to_a_step(newcomer: Newcomer, open_page: Any) -> None:
    newcomer.click("nav a:has-text('Runs')")
    newcomer.click("tr:has-text('explorer') td a")
    newcomer.sees(".run[data-step='0']")
    newcomer.press("ArrowRight")
    newcomer.sees(".run[data-step='1']")
    done = newcomer.page.text_content(".action")
    newcomer.click(".step-link")
    deadline = time.monotonic() + 60
    while "step=1" not in newcomer.page.url:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    colleague = open_page(newcomer.page.url)
    colleague.wait_for_selector(".run[data-step='1']")
    assert colleague.text_content(".action") == done
