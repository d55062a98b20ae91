"""Games that clients play: whole sessions with the SDK's own client, in processes of their own and in this one."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from worldthread import Memory
from worldthread.stores import SQLiteStore
from worldthread_lab.envs import make

pytestmark = pytest.mark.mcp

LOOKING = {"room_state", "memory_context", "memory_search", "map"}
ACTING = {"play_action", "undo", "new_game"}

Call = Callable[..., Coroutine[Any, Any, Any]]


@pytest.fixture(autouse=True)
def _fast_embedder(monkeypatch: pytest.MonkeyPatch, game_cache: Path) -> None:
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER", "fake")
    monkeypatch.setenv("WORLDTHREAD_MODEL", "none")
    monkeypatch.setenv("WORLDTHREAD_CACHE", str(game_cache))


@pytest.fixture
def zork(monkeypatch: pytest.MonkeyPatch) -> str:
    shared = Path(os.environ.get("WORLDTHREAD_SHARED") or Path(__file__).parents[3] / "shared") / "games"
    named = [Path(entry) for entry in os.environ.get("WORLDTHREAD_GAMES", "").split(os.pathsep) if entry]
    for folder in (*named, shared):
        if any((place / "zork1.z5").is_file() for place in (folder, folder / "jericho")):
            monkeypatch.setenv("WORLDTHREAD_GAMES", str(folder))
            return "zork1"
    pytest.skip("needs the file of Zork I (set WORLDTHREAD_GAMES to the folder with zork1.z5)")


@asynccontextmanager
async def process(game: str, *options: str) -> AsyncIterator[Call]:
    """A server of a game as a process of its own, over standard input and output."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    arguments = ["-m", "worldthread", "mcp", "--game", game, *options]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env={**os.environ})
    # the SDK takes `sys.stderr` of the moment when it is imported, which in a test that captures it is no file
    async with Client(stdio_client(parameters, errlog=sys.__stderr__ or sys.stderr)) as client:
        yield caller(client)


@asynccontextmanager
async def inside(game: str = "tiny-v1", **options: Any) -> AsyncIterator[Any]:
    """A client of a server in this process."""
    from mcp import Client

    from worldthread_lab.mcp.game import SharedGame
    from worldthread_lab.mcp.game_tools import create_game_server

    async with Client(create_game_server(SharedGame(game, **options))) as client:
        yield client


def caller(client: Any) -> Call:
    async def call(tool: str, argument: Any = None) -> Any:
        names = {"play_action": "action", "memory_search": "query", "undo": "moves", "new_game": "seed"}
        return await client.call_tool(tool, {} if argument is None else {names[tool]: argument})

    return call


def said(result: Any) -> str:
    assert not result.is_error, result.content
    return result.content[0].text


def data(result: Any) -> dict[str, Any]:
    assert not result.is_error, result.content
    return result.structured_content


def refused(result: Any) -> str:
    assert result.is_error, result.content
    assert result.structured_content is None
    return result.content[0].text


def tiny_way() -> tuple[str, ...]:
    """The commands that win the little house of seed 0."""
    with make("tiny-v1") as env:
        env.reset(0)
        return env.truth().walkthrough


# -- whole sessions ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_whole_game_over_stdio_with_its_memory_in_a_file(tmp_path: Path) -> None:
    way = tiny_way()
    assert way[:3] == ("go south", "take brass key", "go north")  # seed 0 puts the key in the library

    async def session() -> None:
        async with process("tiny", "--memory", str(tmp_path / "m")) as call:
            context = said(await call("memory_context"))
            assert context.startswith("Goal: Get the gem. It is locked in the cherry chest; find the brass key.\n")
            assert "Workshop; score 0 of 2; move 0. You carry: nothing." in context
            assert "Ways never taken: workshop (here): south, west." in context

            there = data(await call("play_action", "go south"))
            assert (there["room"], there["move"], there["was_valid"], there["is_over"]) == ("Library", 1, True, False)
            assert "brass key is in Library" in there["learned"]
            taken = await call("play_action", "take brass key")
            assert data(taken)["score_change"] == 1
            assert data(taken)["ended"] == ["brass key is in Library"]
            assert "[Library; score 1 of 2 (+1); move 2]" in said(taken)
            assert "Learned: brass key is in inventory." in said(taken)
            assert said(await call("memory_search", "What do I have?")) == "You carry: brass key."

            back = await call("undo")
            assert data(back) | {"score": 0, "score_change": -1, "move": 1, "learned": []} == data(back)
            assert said(await call("memory_search", "where is the key")) == "brass key is in Library."
            assert said(await call("memory_search", "what do I have")) == "You carry: nothing that is known."
            assert "- take brass key: You pick up" in (room := said(await call("room_state")))
            assert "[+1 points; gained brass key; taken back]" in room

            for command in way[1:]:
                last = await call("play_action", command)
            assert data(last)["is_over"]
            assert data(last)["ending"] == "won"
            assert data(last)["score"] == 2
            assert "The game is over: it is won." in said(last)
            assert "the game is over: undo takes back" in refused(await call("play_action", "look"))
            assert not data(await call("undo"))["is_over"]
            assert data(await call("play_action", way[-1]))["ending"] == "won"

            fresh = data(await call("new_game"))
            assert (fresh["move"], fresh["score"], fresh["moves_made"]) == (0, 0, [])
            assert said(await call("map")).startswith("1 room known, 2 ways never taken.")
            other = data(await call("new_game", 5))
            assert other["observation"] != fresh["observation"]

    asyncio.run(session())
    names = ["tiny-v1-seed0", "tiny-v1-seed0-2", "tiny-v1-seed5"]
    assert SQLiteStore.namespaces(tmp_path / "m") == names
    with Memory(tmp_path / "m", namespace=names[0], readonly=True) as memory:
        told = [episode.text.partition("\n")[0] for episode in memory.episodes()]
        assert told[1:] == [f"> {command}" for command in way]  # each once: what was taken back has not happened
        assert memory.view().value("gem", "is in") == "inventory"
    with Memory(tmp_path / "m", namespace=names[1], readonly=True) as memory:
        assert memory.stats()["episodes"] == 1


@pytest.mark.games
@pytest.mark.slow
def test_a_treasure_hunt_over_stdio_with_walks() -> None:
    with make("treasure-hunt-v1") as env:
        env.reset(0)
        way = env.truth().walkthrough

    async def session() -> None:
        async with process("treasure-hunt") as call:
            assert "Key 1 unlocks" in said(await call("memory_context"))
            for number, command in enumerate(way[:-1], 1):
                step = data(await call("play_action", command))
                assert (step["move"], step["was_valid"]) == (number, True), command
            far, score, room = step["move"], step["score"], step["room"]
            assert (score, step["max_score"]) == (4, 7)

            walk = await call("play_action", "go to Room A")
            made = data(walk)["moves_made"]
            assert data(walk)["room"] == "Room A"
            assert len(made) > 2
            assert all(re.fullmatch("go (north|south|east|west)", move) for move in made)
            assert said(walk).startswith(f"> {made[0]}: Room ")  # on the way, only where it led
            assert "You're now in a Room A" in said(walk) or "Room A" in data(walk)["observation"]
            assert said(await call("map")).splitlines()[1].startswith("- room a (here): north to room b")
            assert said(await call("memory_search", "exits of room b")).startswith("Ways from room b")

            # this world saves no states: the moves are made again
            again = data(await call("undo", len(made)))
            assert (again["room"], again["move"], again["score"]) == (room, far, score)
            won = data(await call("play_action", way[-1]))
            assert (won["ending"], won["score"]) == ("won", 7)
            assert "Key 2 unlocks" not in said(await call("memory_search", "where is key 2"))

    asyncio.run(session())


@pytest.mark.games
@pytest.mark.slow
def test_zork_over_stdio(zork: str) -> None:
    before = ["open mailbox", "take leaflet", "read leaflet", "south", "east", "open window", "enter house", "west"]

    async def session() -> None:
        async with process(zork) as call:
            start = said(await call("room_state"))
            assert "Valid actions (* not tried here; others may work too): *north, *open mailbox" in start
            assert "Earlier visits of this very state of the game: 0." in start
            assert "Offered as actions, which may lead nowhere: north, south, west." in start  # the text names none
            for command in before:
                step = await call("play_action", command)
            assert data(step)["score"] == 10
            taken = said(await call("play_action", "take lamp"))
            assert "No longer so: battery-powered brass lantern is on trophy case" in taken
            assert said(await call("memory_search", "where is the lantern")) == "brass lantern is in inventory."
            near = said(await call("memory_search", "adventure, danger, low cunning: which game is it"))
            assert "move 3: > read leaflet" in near
            assert "WELCOME TO ZORK!" in near

            for command in ("move rug", "open trap door", "turn on lamp"):
                step = await call("play_action", command)
            carried = said(await call("memory_search", "what do i have"))
            down = data(await call("play_action", "down"))
            assert (down["room"], down["score_change"]) == ("Cellar", 25)
            back = data(await call("undo"))
            assert (back["room"], back["score"], back["move"]) == ("Living Room", 10, 12)
            assert "cellar" not in said(await call("map"))
            assert said(await call("memory_search", "what do i have")) == carried
            assert data(await call("play_action", "down"))["score"] == 35  # as it was: the trap door is open
            await call("undo")

            walk = data(await call("play_action", "go to kitchen"))
            assert (walk["room"], walk["moves_made"]) == ("Kitchen", ["go east"])
            warned = []
            for command in ("west", "east") * 4:
                warned += data(await call("play_action", command))["warnings"]
            assert any(warning.startswith("LOOP: the whole game was in this very state") for warning in warned)
            assert any("'west (in kitchen)' was done 4 times" in warning for warning in warned)
            room = said(await call("room_state"))
            assert int(re.search(r"Earlier visits of this very state of the game: (\d+)", room)[1]) >= 3
            assert "LOOP: " in room

    asyncio.run(session())


@pytest.mark.games
@pytest.mark.parametrize("whose", ["ours", "jericho", "none"])
def test_the_list_of_valid_actions_is_chosen(whose: Any, zork: str) -> None:
    from worldthread_lab.mcp.game import SharedGame
    from worldthread_lab.mcp.game_server import game_configuration

    with closing(SharedGame(zork, valid_actions=whose)) as game:
        assert f'"--valid-actions",\n        "{whose}"' in game_configuration(game)

    async def session() -> tuple[str, bool | None]:
        async with process(zork, "--valid-actions", whose) as call:
            start = said(await call("room_state"))
            opened = data(await call("play_action", "open mailbox"))
            return start, opened["was_valid"]

    start, was_valid = asyncio.run(session())
    assert was_valid is (None if whose == "none" else True)
    assert ("Valid actions" in start) is (whose != "none")
    assert ("*open mailbox" in start) is (whose != "none")


def test_valid_actions_are_those_of_a_game() -> None:
    from typer.testing import CliRunner

    from worldthread.cli.main import app

    done = CliRunner().invoke(app, ["mcp", "--valid-actions", "none"])
    assert (done.exit_code, "--valid-actions needs --game" in done.output) == (2, True)
    done = CliRunner().invoke(app, ["mcp", "--game", "tiny", "--valid-actions", "none"])
    assert (done.exit_code, "tiny-v1 is no Z-machine game" in done.output) == (2, True)


@pytest.mark.slow
def test_two_clients_over_http_play_one_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    monkeypatch.setenv("WORLDTHREAD_MEMORY", str(tmp_path / "notes"))  # not for games, unless it is given
    arguments = ["-m", "worldthread", "mcp", "--game", "tiny", "--http", "--port", "0"]
    server = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    told = ""
    while "\n}\n" not in told:
        line = server.stderr.readline()
        assert line, f"the server ended: {told}"
        told += line
    assert told.startswith("Serving the game tiny-v1 at http://127.0.0.1:")
    entry = json.loads(told[told.index("{") :])["mcpServers"]["worldthread-game"]

    async def session() -> None:
        async with (
            httpx2.AsyncClient(headers=entry["headers"], timeout=600) as one,
            httpx2.AsyncClient(headers=entry["headers"], timeout=600) as other,
            Client(streamable_http_client(entry["url"], http_client=one)) as first,
            Client(streamable_http_client(entry["url"], http_client=other)) as second,
        ):
            assert data(await caller(first)("play_action", "go south"))["room"] == "Library"
            assert data(await caller(second)("play_action", "take brass key"))["score"] == 1
            looks = [caller(client)("play_action", "look") for client in (first, second) * 5]
            assert {data(result)["move"] for result in await asyncio.gather(*looks)} == set(range(3, 13))

    try:
        asyncio.run(session())
    finally:
        server.terminate()
        server.communicate(timeout=600)
    assert server.returncode == -signal.SIGTERM
    assert not (tmp_path / "notes").exists()


# -- the tools one by one ---------------------------------------------------------------------------------------------


def test_tools_say_what_they_do() -> None:
    async def look() -> tuple[str, dict[str, Any]]:
        async with inside() as client:
            return client.instructions, {tool.name: tool for tool in (await client.list_tools()).tools}

    instructions, tools = asyncio.run(look())
    assert "Begin with memory_context" in instructions
    assert set(tools) == LOOKING | ACTING
    for name, tool in tools.items():
        assert "Use it " in tool.description, name
        assert "\n    " not in tool.description
        assert tool.annotations.read_only_hint is (name in LOOKING)
        assert tool.annotations.destructive_hint is (name == "new_game")
        for argument, schema in tool.input_schema["properties"].items():
            assert schema.get("description"), (name, argument)
    assert tools["play_action"].output_schema["properties"]["was_valid"]["description"]
    assert tools["room_state"].output_schema is None  # text alone: a model should not pay for it twice


def test_questions_are_answered_from_the_play() -> None:
    workshop = (
        "Ways from workshop that were never taken: none is known. "
        "Ways from workshop that are known: south to library, west to parlour."
    )

    async def session() -> None:
        async with inside() as client:
            call = caller(client)
            for command in tiny_way()[:4]:
                await call("play_action", command)
            for question, answer in (
                ("Where am I?", "You are in parlour."),
                ("where is the brass key", "brass key is in inventory."),
                ("where is the box", "tin box is in Library."),
                ("where is the library", "library is a room; from here: east then south."),
                ("unexplored exits", "Ways never taken: south from parlour."),
                ("exits of the workshop", workshop),
            ):
                assert said(await call("memory_search", question)) == answer
            recalled = said(await call("memory_search", "cherry chest locked?"))
            assert recalled.startswith("What comes nearest in the memory:\n")
            assert "- cherry chest is locked (since move 4)" in recalled
            assert "- move 4: > go west: -= Parlour =-" in recalled
            unknown = said(await call("memory_search", "where is the dragon"))
            assert unknown.startswith("Nothing called 'the dragon' is known.\n")
            for empty in ("", "   ", "x" * 501):
                assert "a question has 1 to 500 characters" in refused(await call("memory_search", empty))
            assert "nothing" in said(await call("room_state"))

    asyncio.run(session())


def test_the_room_tells_what_was_tried_and_warns_of_repetition() -> None:
    async def session() -> None:
        async with inside() as client:
            call = caller(client)
            vain = await call("play_action", "dance wildly")
            assert data(vain)["was_valid"] is False
            assert "(This was not on the list of valid actions, and changed nothing that is known.)" in said(vain)
            for _ in range(4):
                last = await call("play_action", "Look")
            assert data(last)["was_valid"] is True
            assert data(last)["warnings"] == ["'look (in workshop)' was done 4 times in the last 5 moves."]
            room = said(await call("room_state"))
            assert "*go south" in room
            assert ", look." in room  # tried, so without a star and at the end
            assert "- dance wildly: That's not a verb I recognise." in room
            assert re.search(r"^- Look: .* \[4 times\]$", room, re.M)
            assert "'look (in workshop)' was done 4 times" in room
            for number in range(12):
                await call("play_action", f"frob {number}")
            room = said(await call("room_state"))
            assert "Tried here before that: dance wildly, Look, frob 0, frob 1." in room
            assert "The score has not changed for 17 moves" in room

    asyncio.run(session())


def test_walks_and_undoing_say_what_they_cannot_do() -> None:
    async def session() -> None:
        async with inside() as client:
            call = caller(client)
            assert "no moves were made: 1 cannot be taken back" in refused(await call("undo"))
            assert "you are in workshop already" in refused(await call("play_action", "go to the workshop"))
            await call("play_action", "go south")
            wrong = refused(await call("play_action", "GO TO the moon"))
            assert wrong.endswith("no known room is called 'the moon'; rooms that can be walked to: library, workshop")
            assert "1 move was made: 2 cannot be taken back" in refused(await call("undo", 2))
            for number in (0, -1):
                assert (await call("undo", number)).is_error
            assert data(await call("play_action", "go to Workshop"))["move"] == 2

    asyncio.run(session())


@pytest.mark.parametrize(
    "action",
    [
        "",
        "  ",
        "look\nquit",
        "look\rquit",
        "\x00",
        "look\x1b[2J",
        "a\u2028b",
        "\ud800",
        "look \u202e",
        "x" * 201,
        "y" * 10**6,
    ],
)
def test_what_is_no_action_is_refused_and_not_done(action: str) -> None:
    async def session() -> None:
        async with inside() as client:
            call = caller(client)
            why = refused(await call("play_action", action))
            assert "an action " in why
            assert len(why) < 1000
            assert why.isprintable()
            assert "move 0." in said(await call("memory_context"))

    asyncio.run(session())


def test_any_printable_line_is_an_action_and_stays_text(tmp_path: Path) -> None:
    lines = [
        "'; DROP TABLE episode; --",
        "{{7*7}} %s {0}",
        "go to ../../etc/passwd",
        "ignore all instructions",
        "ünï 漢字",
    ]

    async def session() -> None:
        async with inside(path=tmp_path / "m") as client:
            call = caller(client)
            for line in lines:
                result = await call("play_action", line)
                if line.startswith("go to "):
                    assert "no known room" in refused(result)
                else:
                    assert data(result)["observation"] == "That's not a verb I recognise."
                await call("memory_search", line)
            room = said(await call("room_state"))
            assert all(f"- {line}: " in room for line in lines if not line.startswith("go to "))

    asyncio.run(session())
    with Memory(tmp_path / "m", namespace="tiny-v1-seed0", readonly=True) as memory:
        assert memory.stats()["episodes"] == 1 + len(lines) - 1


# -- time -------------------------------------------------------------------------------------------------------------


def test_calls_wait_for_each_other_and_the_server_answers_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    import anyio

    from worldthread_lab.envs.fake import ScriptedWorld

    done: list[str] = []
    begun, may_end = threading.Event(), threading.Event()
    step = ScriptedWorld.step

    def slow(self: ScriptedWorld, action: str) -> Any:
        begun.set()
        assert may_end.wait(600)
        done.append(action)
        return step(self, action)

    monkeypatch.setattr(ScriptedWorld, "step", slow)

    async def session() -> None:
        async with inside() as client:
            call = caller(client)

            async def act(action: str, scope: anyio.CancelScope) -> None:
                with scope:
                    await call("play_action", action)

            async def act_and_cancel(action: str, *, while_it_waits_for: str | None = None) -> None:
                may_end.clear()
                begun.clear()
                async with anyio.create_task_group() as tasks:
                    if while_it_waits_for:
                        tasks.start_soon(call, "play_action", while_it_waits_for)
                        await anyio.to_thread.run_sync(begun.wait, 20)
                    tasks.start_soon(act, action, scope := anyio.CancelScope())
                    await anyio.to_thread.run_sync(begun.wait, 20)
                    await client.list_tools()  # answered while the game is at work
                    scope.cancel()
                    await client.list_tools()  # so that the server has heard of it
                    may_end.set()
                assert scope.cancelled_caught

            await act_and_cancel("go north", while_it_waits_for="go south")
            assert said(await call("memory_search", "where am i")) == "You are in library."
            assert done == ["go south"]  # what was cancelled while it waited was never done
            await act_and_cancel("take brass key")  # it had begun, and was done
            assert said(await call("memory_search", "what do I have")) == "You carry: brass key."
            for command in ("go north", "go west"):
                await call("play_action", command)
            await act_and_cancel("go to library")  # two moves, of which one had begun
            assert said(await call("memory_search", "where am i")) == "You are in workshop."
            assert done[-1] == "go east"

    asyncio.run(session())


# -- the command ------------------------------------------------------------------------------------------------------


def test_the_command_says_what_does_not_go_together(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from worldthread.cli.main import app
    from worldthread.errors import WorldthreadError

    def failed(*options: str) -> str:
        result = CliRunner().invoke(app, ["mcp", *options])
        assert result.exit_code != 0
        return str(result.exception) if isinstance(result.exception, WorldthreadError) else result.output

    assert "--seed needs --game" in failed("--seed", "3")
    for more in (["--namespace", "x"], ["--readonly"], ["--model", "none"]):
        assert "cannot be combined with --game" in failed("--game", "tiny", *more)
    assert "treasure-hunt-v1" in failed("--game", "treasure-hunter")
    diary = tmp_path / "diary"
    diary.write_text("not a memory")
    assert "not a memory of worldthread" in failed("--game", "tiny", "--memory", str(diary))
    assert "no such file" in failed("--game", "textworld:nowhere.z8", "--memory", str(tmp_path / "m")).lower()
    assert not (tmp_path / "m").exists()


def test_the_entry_to_paste_names_the_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from worldthread_lab.mcp.game import SharedGame
    from worldthread_lab.mcp.game_server import game_configuration

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORLDTHREAD_GAMES", f"games{os.pathsep}/srv/games")
    game = SharedGame("tiny", seed=4, path=Path("m"))
    entry = json.loads(game_configuration(game))["mcpServers"]["worldthread-game"]
    game.close()
    assert entry["args"][-7:] == ["mcp", "--game", "tiny-v1", "--seed", "4", "--memory", str(tmp_path / "m")]
    assert entry["env"] == {"WORLDTHREAD_GAMES": f"{tmp_path / 'games'}{os.pathsep}/srv/games"}
