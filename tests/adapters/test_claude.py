"""The memory tool of Claude: the documented results and errors, and a plain folder as oracle."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldthread import InputError, Memory
from worldthread.adapters.memory_files import MemoryFiles

ADAPTER, PACKAGES = "`MemoryFiles`, `ClaudeMemoryTool`", ("anthropic",)


@pytest.fixture
def files(memory: Memory) -> MemoryFiles:
    return MemoryFiles(memory)


def run(files: MemoryFiles, command: str, **arguments: Any) -> str:
    return files.run({"command": command, **arguments})


def failure(files: MemoryFiles, command: str, **arguments: Any) -> str:
    with pytest.raises(InputError) as caught:
        run(files, command, **arguments)
    return str(caught.value)


def create(files: MemoryFiles, path: str, text: str = "text\n") -> str:
    return run(files, "create", path=path, file_text=text)


# -- the documented results and errors


def test_view_shows_a_folder_two_levels_deep(files: MemoryFiles) -> None:
    head = "Here're the files and directories up to 2 levels deep in {}, excluding hidden items and node_modules:\n"
    assert run(files, "view", path="/memories") == head.format("/memories") + "0B\t/memories"
    create(files, "/memories/guidelines.xml", "x" * 1536)
    create(files, "/memories/a/b/c.txt", "x" * 2048)
    create(files, "/memories/a/note.txt", "")
    create(files, "/memories/.hidden/secret.txt")
    create(files, "/memories/node_modules/left.js")
    shown = head.format("/memories") + (
        "3.5K\t/memories\n2K\t/memories/a/\n2K\t/memories/a/b/\n0B\t/memories/a/note.txt\n1.5K\t/memories/guidelines.xml"
    )
    assert run(files, "view", path="/memories") == shown
    assert run(files, "view", path="/memories/a").splitlines()[1:] == [
        "2K\t/memories/a", "2K\t/memories/a/b/", "2K\t/memories/a/b/c.txt", "0B\t/memories/a/note.txt",
    ]  # fmt: skip


def test_view_shows_a_file_with_line_numbers(files: MemoryFiles) -> None:
    create(files, "/memories/n.txt", "Hello World\nThis is line two\nthree")
    head = "Here's the content of /memories/n.txt with line numbers:\n"
    whole = "     1\tHello World\n     2\tThis is line two\n     3\tthree"
    assert run(files, "view", path="/memories/n.txt") == head + whole
    assert run(files, "view", path="/memories/n.txt", view_range=[2, 2]) == head + "     2\tThis is line two"
    assert run(files, "view", path="/memories/n.txt", view_range=[2, -1]) == head + "\n".join(whole.splitlines()[1:])
    assert run(files, "view", path="/memories/n.txt", view_range=None) == head + whole
    assert "view_range" in failure(files, "view", path="/memories/n.txt", view_range=[1])
    missing = "The path /memories/x.txt does not exist. Please provide a valid path."
    assert failure(files, "view", path="/memories/x.txt") == missing
    create(files, "/memories/long.txt", "\n" * 999_999)
    assert failure(files, "view", path="/memories/long.txt") == (
        "File /memories/long.txt exceeds maximum line limit of 999,999 lines."
    )


def test_create_never_overwrites(files: MemoryFiles) -> None:
    assert create(files, "/memories/a/n.txt", "one") == "File created successfully at: /memories/a/n.txt"
    assert failure(files, "create", path="/memories/a/n.txt", file_text="two") == (
        "Error: File /memories/a/n.txt already exists"
    )
    assert failure(files, "create", path="/memories/a", file_text="two") == "Error: File /memories/a already exists"
    assert failure(files, "create", path="/memories", file_text="two") == "Error: File /memories already exists"
    assert "is a file" in failure(files, "create", path="/memories/a/n.txt/b", file_text="two")
    assert files.read("/memories/a/n.txt") == "one"


def test_str_replace_changes_what_occurs_once(files: MemoryFiles) -> None:
    create(files, "/memories/p.txt", "a\nFavorite color: blue\nb\nc\nd\nb")
    changed = run(files, "str_replace", path="/memories/p.txt", old_str="blue", new_str="green")
    assert changed.startswith("The memory file has been edited.")
    assert changed.splitlines()[1:] == ["     1\ta", "     2\tFavorite color: green", "     3\tb", "     4\tc"]
    assert failure(files, "str_replace", path="/memories/p.txt", old_str="blue", new_str="") == (
        "No replacement was performed, old_str `blue` did not appear verbatim in /memories/p.txt."
    )
    assert failure(files, "str_replace", path="/memories/p.txt", old_str="b", new_str="") == (
        "No replacement was performed. Multiple occurrences of old_str `b` in lines: 3, 6. Please ensure it is unique"
    )
    for path in ("/memories/x.txt", "/memories"):
        assert failure(files, "str_replace", path=path, old_str="a", new_str="") == (
            f"Error: The path {path} does not exist. Please provide a valid path."
        )


def test_insert_goes_behind_a_line(files: MemoryFiles) -> None:
    create(files, "/memories/todo.txt", "one\ntwo\n")
    said = run(files, "insert", path="/memories/todo.txt", insert_line=1, insert_text="middle\n")
    assert said == "The file /memories/todo.txt has been edited."
    run(files, "insert", path="/memories/todo.txt", insert_line=0, insert_text="first")
    run(files, "insert", path="/memories/todo.txt", insert_line=4, insert_text="last\n")
    assert files.read("/memories/todo.txt") == "first\none\nmiddle\ntwo\nlast\n"
    for line in (6, -1, None, "1", True):
        assert failure(files, "insert", path="/memories/todo.txt", insert_line=line, insert_text="x") == (
            f"Error: Invalid `insert_line` parameter: {line}. "
            "It should be within the range of lines of the file: [0, 5]"
        )
    for path in ("/memories/x.txt", "/memories"):
        assert failure(files, "insert", path=path, insert_line=0, insert_text="x") == (
            f"Error: The path {path} does not exist"
        )


def test_delete_takes_a_folder_with_all_in_it(files: MemoryFiles) -> None:
    create(files, "/memories/a/b/c.txt")
    create(files, "/memories/a/d.txt")
    create(files, "/memories/ab.txt")
    assert run(files, "delete", path="/memories/a") == "Successfully deleted /memories/a"
    assert files.paths() == ["/memories/ab.txt"]
    assert failure(files, "delete", path="/memories/a") == "Error: The path /memories/a does not exist"
    assert "Cannot delete" in failure(files, "delete", path="/memories")
    assert create(files, "/memories/a", "now a file") == "File created successfully at: /memories/a"


def test_rename_moves_files_and_folders(files: MemoryFiles) -> None:
    create(files, "/memories/a/b.txt", "b")
    create(files, "/memories/c.txt", "c")
    renamed = run(files, "rename", old_path="/memories/a", new_path="/memories/x/y")
    assert renamed == "Successfully renamed /memories/a to /memories/x/y"
    assert files.paths() == ["/memories/c.txt", "/memories/x/y/b.txt"]
    assert files.read("/memories/x/y/b.txt") == "b"
    assert failure(files, "rename", old_path="/memories/a", new_path="/memories/z") == (
        "Error: The path /memories/a does not exist"
    )
    for taken in ("/memories/x", "/memories/c.txt", "/memories"):
        assert failure(files, "rename", old_path="/memories/c.txt", new_path=taken) == (
            f"Error: The destination {taken} already exists"
        )
    assert "into itself" in failure(files, "rename", old_path="/memories/x", new_path="/memories/x/z")
    assert "Cannot rename" in failure(files, "rename", old_path="/memories", new_path="/memories/z")


@pytest.mark.parametrize(
    "command",
    [
        None, "view", {}, {"command": "erase"}, {"command": ["view"]}, {"command": "view"},
        {"command": "view", "path": 1}, {"command": "create", "path": "/memories/a"},
        {"command": "rename", "old_path": "/memories/a"}, {"command": "insert", "path": "/memories/a"},
    ],
)  # fmt: skip
def test_a_command_that_is_none_is_an_error(files: MemoryFiles, command: Any) -> None:
    with pytest.raises(InputError, match="Error: "):
        files.run(command)


# -- paths


@pytest.mark.parametrize(
    "outside",
    [
        "", "/", "memories/a", "/etc/passwd", "/memoriesx", "/memories/../etc/passwd",
        "/memories/a/../b", "/memories/..",
        "/memories/%2e%2e/etc/passwd", "/memories/%2E%2e%2fetc", "/memories/..%2f..%2fetc", "/memories/%252e%252e/x",
        "/memories\\..\\etc", "/memories/..\\x", "/memories/%5c..", "/memories/a\0.txt", "/memories/a%00.txt",
        "/memories/a\n.txt", "/memories/\u202etxt", "//etc/memories", "/memories/" + "a/" * 60,
        "/memories/" + "a" * 2000,
    ],
)  # fmt: skip
def test_no_path_leads_out(files: MemoryFiles, outside: str) -> None:
    before = files.memory.record.state_hash()
    for command, extra in [
        ("view", {}), ("create", {"file_text": "x"}), ("str_replace", {"old_str": "a", "new_str": "b"}),
        ("insert", {"insert_line": 0, "insert_text": "x"}), ("delete", {}),
    ]:  # fmt: skip
        assert failure(files, command, path=outside, **extra)
    create(files, "/memories/real.txt")
    assert failure(files, "rename", old_path="/memories/real.txt", new_path=outside)
    assert failure(files, "rename", old_path=outside, new_path="/memories/new.txt")
    assert files.paths() == ["/memories/real.txt"]
    files.forget()
    assert files.memory.record.state_hash() == before


def test_the_same_place_is_found_by_each_spelling(files: MemoryFiles) -> None:
    create(files, "/memories//a/./b.txt", "b")
    assert files.paths() == ["/memories/a/b.txt"]
    assert run(files, "view", path="/memories/a//b.txt").endswith("\tb")
    create(files, "/memories/A/b.txt", "other")
    create(files, "/memories/the a.txt", "third")
    create(files, "/memories/100%.txt", "fourth")
    assert files.read("/memories/a/b.txt") == "b"
    assert files.read("/memories/A/b.txt") == "other"
    assert len(files.paths()) == 4


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "\0", "a\0b", "\r\n\r\n", "\ud83d", "é\u0301\U0001f426", "x" * 9**5, " a\n"]
)
def test_any_content_comes_back(files: MemoryFiles, text: str) -> None:
    create(files, "/memories/f", text)
    assert files.read("/memories/f") == text


# -- what only a memory does


def test_files_are_shown_as_they_were_and_are_found(memory: Memory, clock: Any) -> None:
    files = MemoryFiles(memory, clock=clock)
    start = clock.time
    create(files, "/memories/anna.txt", "Anna likes green tea.")
    create(files, "/memories/bob.txt", "Bob drives a truck.")
    clock.pass_minutes(1)
    run(files, "str_replace", path="/memories/anna.txt", old_str="green tea", new_str="coffee")
    clock.pass_minutes(1)
    run(files, "rename", old_path="/memories/anna.txt", new_path="/memories/a.txt")
    clock.pass_minutes(1)
    run(files, "delete", path="/memories/a.txt")
    assert files.paths() == ["/memories/bob.txt"]
    assert files.paths(as_of=start) == ["/memories/anna.txt", "/memories/bob.txt"]
    assert files.read("/memories/anna.txt", as_of=start + 30) == "Anna likes green tea."
    assert files.read("/memories/anna.txt", as_of=start + 90) == "Anna likes coffee."
    assert files.read("/memories/a.txt", as_of=start + 150) == "Anna likes coffee."
    with pytest.raises(InputError, match="no file"):
        files.read("/memories/a.txt", as_of=start + 200)
    assert files.search("What does Anna like?", k=1, as_of=start)[0] == ("/memories/anna.txt", "Anna likes green tea.")
    assert [path for path, _ in files.search("What does Anna like?")] == ["/memories/bob.txt"]


def test_forgetting_leaves_nothing_behind(memory: Memory, path: Path) -> None:
    files = MemoryFiles(memory)
    create(files, "/memories/a/secret.txt", "topsecret")
    run(files, "str_replace", path="/memories/a/secret.txt", old_str="top", new_str="very")
    run(files, "delete", path="/memories/a")
    create(files, "/memories/kept.txt", "kept")
    assert files.forget("/memories/a")
    assert not files.forget("/memories/a")
    assert files.paths() == ["/memories/kept.txt"]
    memory.close()
    assert b"secret" not in path.read_bytes()


def test_without_versions_each_command_forgets(memory: Memory) -> None:
    files = MemoryFiles(memory, keep_versions=False)
    create(files, "/memories/a.txt", "topsecret")
    run(files, "str_replace", path="/memories/a.txt", old_str="top", new_str="")
    run(files, "rename", old_path="/memories/a.txt", new_path="/memories/b.txt")
    assert [episode.text for episode in memory.episodes()] == ["secret"]
    run(files, "delete", path="/memories/b.txt")
    assert memory.stats()["episodes"] == 0


# -- the package of Anthropic, whose own tool is the plain folder


PARTS = ["a", "b", "a.txt", "B.txt", ".h", "a b"]
TEXTS = ["", "one", "one\n", "one\ntwo\nthree\n", "two\n\ntwo", "x\n" * 5, "\n", "a" * 1500]
PIECES = ["", "one", "two", "t", "\n", "missing", "x"]


def random_command(chance: random.Random) -> dict[str, Any]:
    def path() -> str:
        return "/memories" + "".join(f"/{chance.choice(PARTS)}" for _ in range(chance.choice([0, 1, 1, 1, 2, 2, 3])))

    command = chance.choice(["view", "create", "create", "create", "str_replace", "insert", "delete", "rename"])
    given: dict[str, Any] = {"command": command}
    if command == "rename":
        return given | {"old_path": path(), "new_path": path()}
    given["path"] = path()
    if command == "view" and chance.random() < 0.3:
        given["view_range"] = [chance.randint(-1, 4), chance.randint(-1, 6)]
    elif command == "create":
        given["file_text"] = chance.choice(TEXTS)
    elif command == "str_replace":
        given |= {"old_str": chance.choice(PIECES), "new_str": chance.choice(PIECES)}
    elif command == "insert":
        given |= {"insert_line": chance.randint(-1, 5), "insert_text": chance.choice(TEXTS)}
    return given


def in_folder(tool: Any, folder: Path, given: dict[str, Any]) -> str | None:
    """What the tool on a plain folder says; ``None`` for an error, which leaves the folder as it was."""
    before = {one for one in folder.rglob("*") if one.is_dir()}
    try:
        return str(tool.call(given))
    except Exception:  # its own errors, and those of the operating system
        for made in sorted((one for one in folder.rglob("*") if one.is_dir()), reverse=True):
            if made not in before:  # it makes the folders of the destination before it looks at the source
                made.rmdir()
        return None


def comparable(text: str | None) -> str | None:
    """Without the sizes of folders, which are those of the file system, and the words in which the two differ."""
    if text is None:
        return None
    text = text.replace(" and node_modules:", ":")
    return re.sub(r"^\S+\t(/memories(?:|.*/|(?:/[^/\n]+)*))$", r"\1", text, flags=re.M)


def compare_sequences(tmp_path: Path, seeds: range, record: Callable[[str, object], None]) -> None:
    record("suite", "own: random sequences of commands beside the package's tool on a plain folder")
    lib = pytest.importorskip("anthropic.lib.tools._beta_builtin_memory_tool")
    for seed in seeds:
        chance = random.Random(seed)
        tool = lib.BetaLocalFilesystemMemoryTool(str(tmp_path / str(seed)))
        folder = tmp_path / str(seed) / "memories"
        with Memory(model="none", embedder="fake") as memory:
            files = MemoryFiles(memory)
            done: list[dict[str, Any]] = []
            for _ in range(chance.randint(1, 12)):
                given = random_command(chance)
                done.append(given)
                expected = in_folder(tool, folder, given)
                try:
                    said: str | None = files.run(given)
                except InputError:
                    said = None
                assert comparable(said) == comparable(expected), (seed, done)
            there = sorted(f"/memories/{one.relative_to(folder)}" for one in folder.rglob("*") if one.is_file())
            assert files.paths() == there, (seed, done)
            for path in there:
                content = (tmp_path / str(seed) / path[1:]).read_bytes().decode()
                assert files.read(path) == content, (seed, done)
    record("passed", len(seeds))


def test_random_commands_do_what_they_do_in_a_plain_folder(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    compare_sequences(tmp_path, range(200), record_property)


@pytest.mark.slow
def test_ten_thousand_random_sequences_do_what_they_do_in_a_plain_folder(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    compare_sequences(tmp_path, range(10_000), record_property)


def test_the_tool_runner_of_anthropic_calls_it(memory: Memory) -> None:
    pytest.importorskip("anthropic")
    import anthropic
    import httpx2 as httpx
    from anthropic.lib.tools import ToolError

    from worldthread.adapters.claude import ClaudeAsyncMemoryTool, ClaudeMemoryTool

    files = MemoryFiles(memory)
    tool = ClaudeMemoryTool(files)
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    commands = [
        {"command": "create", "path": "/memories/tea.txt", "file_text": "Anna likes tea."},
        {"command": "view", "path": "/memories/coffee.txt"},
    ]
    sent: list[dict[str, Any]] = []

    def answer(request: Any) -> Any:
        import json

        sent.append(json.loads(request.content))
        block: dict[str, Any] = {"type": "text", "text": "Done."}
        if commands:
            block = {"type": "tool_use", "id": f"t{len(commands)}", "name": "memory", "input": commands.pop(0)}
        return httpx.Response(
            200,
            json={
                "id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [block],
                "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn", "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        )  # fmt: skip

    client = anthropic.Anthropic(api_key="none", http_client=httpx.Client(transport=httpx.MockTransport(answer)))
    runner = client.beta.messages.tool_runner(
        model="claude-sonnet-5-5", max_tokens=100, tools=[tool], messages=[{"role": "user", "content": "I like tea"}]
    )
    assert runner.until_done().content[0].text == "Done."
    blocks = [message["content"][0] for body in sent for message in body["messages"]]
    results = [block for block in blocks if isinstance(block, dict) and block["type"] == "tool_result"]
    assert "File created successfully at: /memories/tea.txt" in str(results[0]["content"])
    assert "does not exist" in str(results[1]["content"])
    assert results[1]["is_error"] is True
    assert files.read("/memories/tea.txt") == "Anna likes tea."

    async def play() -> None:
        other = ClaudeAsyncMemoryTool(files)
        assert "Anna" in await other.call({"command": "view", "path": "/memories/tea.txt"})
        with pytest.raises(ToolError, match="does not exist"):
            await other.call({"command": "delete", "path": "/memories/x"})
        assert await other.clear_all_memory() == "All memory cleared"

    asyncio.run(play())
    assert files.paths() == []
    create(files, "/memories/a.txt")
    assert tool.clear_all_memory() == "All memory cleared"
    assert files.paths() == []
