"""The commands on a memory, as a user and as a script run them."""

from __future__ import annotations

import importlib.util
import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from worldthread import Episode, Extraction, Fact, Memory, Thesis
from worldthread.cli.main import app
from worldthread.cli.options import MemoryPlace
from worldthread.cli.output import harmless, one_line

FILE = "memory.worldthread"
HOSTILE = Episode(
    "Raw \x1b[2Jtext\nsecond\tline [bold]x[/bold]",
    5,
    "src\x1b[31m\nx",
    Extraction(
        "test/1",
        (
            Fact("[red]key[/red]", "is in", "the \u202ekool"),
            Thesis("The \x1b]0;t\x07key is [blink]here\nnow.", ("key",)),
        ),
    ),
)


@pytest.fixture(autouse=True)
def _fresh_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("WORLDTHREAD_", "OPENAI_", "OPENROUTER_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER", "fake")
    monkeypatch.setenv("WORLDTHREAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=text)


def done(*arguments: str, text: str | None = None) -> str:
    result = run(*arguments, text=text)
    assert result.exit_code == 0, result.output
    return result.stdout


def lines(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done(*arguments, "--json").splitlines()]


def process(*arguments: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "worldthread", *arguments], capture_output=True, timeout=600, **more)


def on_a_terminal(*arguments: str, typed: bytes = b"") -> tuple[int, str]:
    """Exit code and everything that is shown by a command whose streams are a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    child = subprocess.Popen(
        [sys.executable, "-m", "worldthread", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    os.write(ours, typed)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return child.wait(timeout=600), shown.decode()


@pytest.fixture
def anna() -> None:
    done("remember", "-t", "Anna lives in Rome.", "--at", "2023-05-01", "--source", "a letter")
    done("remember", "-t", "Anna lives in Paris.", "--at", "2024-03-01")


@pytest.fixture
def hostile() -> None:
    with Memory(FILE) as memory:
        memory.record.add(HOSTILE)
        memory.record.add(
            Episode("Nobody read\x1b[2J this", 6, "[x]", Extraction("m/1", failures=("{bad \x1b[31m [red]json",)))
        )


# -- in and out -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("anna")
def test_what_is_remembered_is_recalled_now_and_as_of_then() -> None:
    assert "- Anna lives in Paris (known since 2024-03-01)\n" in done(
        "recall", "Where does Anna live?", "--kind", "fact"
    )
    then = done("recall", "Where did Anna live?", "--kind", "fact", "--as-of", "2023-12-31")
    assert then == "Facts:\n- Anna lives in Rome (known since 2023-05-01, true until 2024-03-01)\n"
    assert "Rome" not in done("recall", "Anna")
    assert "Rome" in done("recall", "Anna", "--all")


@pytest.mark.usefixtures("anna")
def test_a_recall_ends_where_the_score_falls_and_leaves_out_what_is_beside_the_point() -> None:
    with Memory(FILE, readonly=True) as memory:
        assert (
            done("recall", "Anna", "--adaptive", "--all")
            == memory.recall("Anna", k=None, only_current=False).text + "\n"
        )
    assert "Paris" in done("recall", "Where does Anna live?", "--min-score", "0.1")
    assert run("recall", "Who repairs the bicycle?", "--min-score", "0.5").exit_code == 1


@pytest.mark.usefixtures("anna")
def test_a_recall_is_ordered_by_a_reranker_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "class Longest:\n    def score(self, question, texts):\n        return [len(text) for text in texts]\n"
    (tmp_path / "longest_first.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = lines("recall", "Anna", "--all", "--reranker", "longest_first:Longest", "--allow-code", "longest_first")
    facts = [hit["score"] for hit in found if hit["kind"] == "fact"]
    assert len(facts) > 1
    assert facts == sorted(facts, reverse=True)
    assert all(score == int(score) > 1 for score in facts)


@pytest.mark.usefixtures("anna")
def test_the_text_of_a_recall_is_that_of_the_library() -> None:
    with Memory(FILE, readonly=True) as memory:
        assert done("recall", "Anna", "-k", "2") == memory.recall("Anna", k=2).text + "\n"


@pytest.mark.usefixtures("anna")
def test_hits_as_json() -> None:
    hits = {hit["kind"]: hit for hit in lines("recall", "Anna", "-k", "1", "--as-of", "2023-12-31")}
    fact, thesis, episode = hits["fact"], hits["thesis"], hits["episode"]
    assert [fact[name] for name in ("subject", "relation", "object")] == ["Anna", "lives in", "Rome"]
    assert (fact["since"], fact["until"]) == (1682899200.0, 1709251200.0)
    assert fact["sources"] == thesis["sources"] == episode["sources"] == ["a letter"]
    assert fact["episodes"] == thesis["episodes"] == episode["episodes"]
    assert fact["path"] == ["anna", "lives in", "rome"]
    assert thesis["objects"] == ["Anna", "Rome"]
    assert (episode["text"], episode["at"]) == ("Anna lives in Rome.", 1682899200.0)
    assert all(isinstance(hit["score"], float) for hit in hits.values())


@pytest.mark.usefixtures("anna")
def test_scores_show_paths_and_ids_that_forget_takes() -> None:
    shown = done("recall", "Anna", "--kind", "fact", "--scores")
    found = re.search(
        r"(\d\.\d{3})  fact      Anna lives in Paris .* \[([0-9a-f]{8})\]  anna > lives in > paris", shown
    )
    assert found
    done("forget", found[2], "--yes")
    assert "Rome" in done("recall", "Anna")


def test_turns_without_text_in_files_are_counted() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    turns = [{"role": "user", "content": "The shed is green."}, call, {"role": "user", "content": []}]
    Path("talk.json").write_text(json.dumps({"messages": turns}))
    Path("talk.jsonl").write_text("\n".join(map(json.dumps, turns[:2])))
    assert "; 2 turns without text left out\n" in done("remember", "talk.json")
    assert (lines("remember", "talk.jsonl")[0]["skipped"], lines("remember", "-t", "It rains.")[0]["skipped"]) == (1, 0)
    Path("talk.jsonl").write_text(json.dumps(call))
    assert "nothing to remember: 1 turn without text" in run("remember", "talk.jsonl").stderr


def test_files_and_folders_and_once_more() -> None:
    Path("notes/deep").mkdir(parents=True)
    Path("notes/house.md").write_text("# House\n\nThe key is in the kitchen.\n")
    Path("notes/deep/bob.txt").write_text("Bob lives in Oslo.")
    first = lines("remember", "notes", "-t", "Anna lives in Rome.")[0]
    assert (first["added"], first["known"], first["unread"], first["problems"]) == (3, 0, 0, [])
    assert first["memory"] == FILE
    assert first["facts"] >= 2
    assert first["usage"] is None
    assert "stored 0 new texts; 2 already known\n" in done("remember", "notes")
    assert lines("recall", "Bob", "--kind", "fact")[0]["sources"] == ["notes/deep/bob.txt"]


def test_a_pipe_is_read_without_a_dash_and_with_one() -> None:
    assert "1 new text\n" in done("remember", text="Bob lives in Oslo.")
    assert "1 new text\n" in done("remember", "-", "--source", "radio", text="Mia lives in Bergen.")
    assert lines("about", "Mia")[0]["sources"] == ["radio"]


def test_another_file_and_another_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    done("remember", "-t", "Bob lives in Oslo.", "-m", "other.worldthread", "--namespace", "home")
    assert not Path(FILE).exists()
    monkeypatch.setenv("WORLDTHREAD_MEMORY", "other.worldthread")
    assert "Oslo" in done("about", "bob", "--namespace", "home")
    missed = run("about", "bob")
    assert missed.exit_code == 2
    assert "its namespaces are: 'home'" in missed.stderr


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://anna:secret@host/memories?sslmode=require", "postgresql://anna@host/memories"),
        ("postgresql://host:5433/memories?password=secret", "postgresql://host:5433/memories"),
        ("postgresql://anna:secret?x@host/memories", "postgresql://..."),
        ("postgresql://anna:p@secret#x@host/memories", "postgresql://..."),
        ("postgresql://anna:p/secret@host/memories", "postgresql://anna@host/memories"),
        ("notes.worldthread", "notes.worldthread"),
    ],
)
def test_a_place_is_shown_without_any_part_of_a_password(address: str, shown: str) -> None:
    place = MemoryPlace(address)
    assert (str(place), repr(place)) == (shown, f"MemoryPlace({shown!r})")
    assert str(place.location) == address


@pytest.mark.parametrize(
    "arguments",
    [
        ["web", "ADDRESS", "--edit"],
        ["backup", "ADDRESS", "copy.worldthread"],
        ["backup", "memory.worldthread", "ADDRESS"],
        ["restore", "ADDRESS", "memory.worldthread", "--force"],
        ["restore", "copy.worldthread", "ADDRESS"],
    ],
)
def test_what_needs_a_file_refuses_an_address_and_does_not_print_its_password(arguments: list[str]) -> None:
    address = "postgresql://anna:secret@db.example.org/memories"
    done = run(*(address if one == "ADDRESS" else one for one in arguments))
    assert done.exit_code == 2
    assert "postgresql://anna@db.example.org/memories is on a server" in done.stderr
    assert "secret" not in done.output
    assert not [path for path in Path().rglob("*") if "postgresql" in path.name]


@pytest.mark.usefixtures("anna")
@pytest.mark.slow
def test_export_and_import_through_pipes() -> None:
    export = process("export", "-")
    copied = process("import", "-", "-m", "copy.worldthread", input=export.stdout)
    assert copied.stdout == b"stored 2 new texts\n", copied.stderr
    with Memory(FILE, readonly=True) as one, Memory("copy.worldthread", readonly=True) as two:
        assert one.record.state_hash() == two.record.state_hash()
    assert lines("export", "copy.jsonl") == [{"memory": FILE, "file": "copy.jsonl", "episodes": 2}]
    assert Path("copy.jsonl").read_bytes() == export.stdout
    assert lines("import", "copy.jsonl") == [{"memory": FILE, "added": 0, "known": 2}]
    again = run("export", "copy.jsonl")
    assert (again.exit_code, "--force" in again.stderr) == (2, True)
    done("export", "copy.jsonl", "--force")


# -- questions about things -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("anna")
def test_about_and_timeline_as_lines_with_tabs() -> None:
    about = done("about", "anna").splitlines()
    assert about[0] == "from\tstatement\tsource"
    assert [line.split("\t")[:2] for line in about[1:]] == [["2024-03-01", "Anna lives in Paris"]]
    then = done("about", "ANNA", "--as-of", "2023-12-31").splitlines()
    assert then[1].startswith("2023-05-01\t2024-03-01\tAnna lives in Rome\ta letter [")
    cells = [line.split("\t") for line in done("timeline", "Anna").splitlines()[1:]]
    assert [row[:2] for row in cells] == [["2023-05-01", "2024-03-01"], ["2024-03-01", ""]]
    assert cells[0][4].startswith("replaced by: Anna lives in Paris [")
    facts = [line for line in lines("timeline", "Anna") if line["kind"] == "fact"]
    assert [(fact["object"], fact["until"]) for fact in facts] == [("Rome", 1709251200.0), ("Paris", None)]
    assert facts[0]["ended_by"] == facts[1]["episodes"][0]


@pytest.mark.usefixtures("anna")
@pytest.mark.parametrize("command", ["about", "timeline"])
@pytest.mark.parametrize("name", ["Ann", "Annna"])
def test_an_unknown_name_gets_near_ones(command: str, name: str) -> None:
    missed = run(command, name)
    assert (missed.exit_code, missed.stdout) == (1, "")
    assert "did you mean 'anna'?" in missed.stderr


@pytest.mark.usefixtures("anna")
def test_nothing_holds_yet() -> None:
    early = run("about", "Anna", "--as-of", "2020-01-01", "--json")
    assert (early.exit_code, early.stdout) == (1, "")
    assert "worldthread timeline" in early.stderr


@pytest.mark.usefixtures("anna")
def test_ask_without_a_model() -> None:
    answered = run("ask", "Where does Anna live?")
    assert answered.exit_code == 0
    assert answered.stdout.startswith("Paris\n\nSources:\n- Anna lives in Paris (known since 2024-03-01) [")
    assert run("ask", "Where does Anna live?", "--min-score", "1").exit_code == 1
    refused = run("ask", "What is Anna allergic to?")
    assert refused.exit_code == 1
    assert refused.stdout.startswith("There is not enough information.\n\nNearest:\n- ")
    assert "no chat model" in answered.stderr
    nothing = run("ask", "Where did Anna live?", "--as-of", "1990-01-01")
    assert (nothing.exit_code, nothing.stdout) == (1, "There is not enough information.\n")
    answer = json.loads(run("ask", "Where did Anna live?", "--as-of", "1990-01-01", "--json").stdout)
    assert (answer["answer"], answer["sources"], answer["model"]) == (None, [], None)


# -- a model --------------------------------------------------------------------------------------------------------

spec = importlib.util.spec_from_file_location("chat_server", Path(__file__).parents[1] / "models" / "chat_server.py")
assert spec is not None
assert spec.loader is not None
chat_server = sys.modules["chat_server"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(chat_server)


def _answer(body: dict[str, Any]) -> Any:
    """A model that finds one fact, no ending, and answers from its first source."""
    asked = body["response_format"]["json_schema"]["schema"]["properties"]
    fact = {"subject": "Bob", "relation": "has", "object": "a boat"}
    values = {
        "facts": [fact], "theses": [], "same": [], "changed": [], "ended": [],
        "reasoning": "so", "answer": "A boat.", "support": "inferred", "sources": [1], "compute": None, "look_up": [],
    }  # fmt: skip
    return chat_server.Reply(json.dumps({name: values[name] for name in asked}))


@pytest.mark.model
def test_a_model_reads_and_answers_and_its_use_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server.ChatServer(default=_answer) as server:
        monkeypatch.setenv("WORLDTHREAD_BASE_URL", server.url)
        read = lines("remember", "-t", "Bob bought a boat.", "--model", "tiny")[0]
        assert (read["added"], read["facts"], read["usage"]["model"]) == (1, 1, "tiny")
        assert read["usage"]["calls"] == len(server.requests) >= 1
        answered = run("ask", "What does Bob have?", "--model", "tiny")
        assert answered.stdout.startswith("A boat. (inferred)\n\nSources:\n- ")
        assert lines("ask", "What does Bob have?", "--model", "tiny")[0]["support"] == "inferred"
        refused = run("ask", "What does Bob have?", "--model", "tiny", "--stated-only")
        assert (refused.exit_code, refused.stdout) == (1, "There is not enough information.\n")
        assert "Bob bought a boat." in answered.stdout
        assert re.search(r"tiny: \d+ calls?, [\d,]+ tokens?, ", answered.stderr)
        monkeypatch.setenv("WORLDTHREAD_MODEL", "tiny")
        assert lines("ask", "What does Bob have?", "--model", "none")[0]["model"] is None
        run("ask", "What does Bob own?", "--look-ups", "0")
        assert "nothing more can be looked up" in str(server.requests[-1])


@pytest.mark.model
def test_a_schema_and_an_instruction_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("schema.toml").write_text('[[relations]]\nname = "owns"\nsubject = "person"\n')

    def answer(body: dict[str, Any]) -> Any:
        facts = [{"subject": "Bob", "relation": one, "object": "boat"} for one in ("owns", "likes")]
        kinds = [{"name": "Bob", "kind": "person"}]
        return chat_server.Reply(json.dumps({"facts": facts, "kinds": kinds, "same": [], "changed": []}))

    settings = ("--schema", "schema.toml", "--instruction", "Only boats.", "--language", "German")
    with chat_server.ChatServer(default=answer) as server:
        monkeypatch.setenv("WORLDTHREAD_BASE_URL", server.url)
        assert lines("remember", "-t", "Bob bought a boat.", "--model", "tiny", *settings)[0]["facts"] == 1
    without = run("remember", "-t", "Bob bought a car.", "--model", "none", *settings)
    assert without.exit_code == 2
    assert "need a chat model" in without.stderr


@pytest.mark.model
def test_what_a_model_could_not_read_is_printed_and_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("config.toml").write_text("[model]\nretries = 0\n")
    monkeypatch.setenv("WORLDTHREAD_CONFIG", "config.toml")
    monkeypatch.setenv("WORLDTHREAD_BASE_URL", "http://127.0.0.1:9/v1")
    text = "Anna lives in Rome. " + "She likes it there very much. " * 10
    read = run("remember", "-t", text, "--model", "tiny")
    assert read.exit_code == 1
    assert "1 text could not be read" in read.stderr
    assert "worldthread retry" in read.stderr
    assert "Anna lives in Rome." in done("recall", "Anna")
    brief, whole = done("stats"), done("stats", "--failures")
    assert "unread texts          1, of which 1 failed" in brief
    assert ("Anna lives in Rome." in brief, text.strip() in brief, text.strip() in whole) == (True, False, True)
    counts = lines("stats", "--failures")[0]
    assert (counts["unread"], counts["not_read"][0]["text"].strip()) == (1, text.strip())
    assert run("retry", "--model", "tiny").exit_code == 1
    assert done("retry", "--model", "none") == "read 1 of 1 text\n"
    assert done("retry") == "there are no unread texts\n"
    assert "Anna lives in Rome" in done("about", "Anna")


def test_a_memory_is_read_anew_by_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDTHREAD_EXTRACTOR", "prose")
    done("remember", "-t", "Anna lives in Rome.")
    monkeypatch.delenv("WORLDTHREAD_EXTRACTOR")
    assert done("retry") == "there are no unread texts\n"
    assert done("retry", "--all", "--reader") == "read 1 of 1 text\n"
    with Memory("memory.worldthread", readonly=True) as memory:
        assert [one.extraction.extractor.partition("/")[0] for one in memory.episodes()] == ["reader"]
    assert "not both" in run("retry", "--reader", "--model", "tiny").stderr


# -- correcting -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("anna")
def test_a_correction_is_no_change() -> None:
    assert done("correct", "Anna", "lives in", "Rome", "--object", "Milan", "--reason", "I mixed them up").strip() == (
        "Correction: it was never true that Anna lives in Rome. True is: Anna lives in Milan. I mixed them up"
    )
    assert "never true: I mixed them up; true is: Anna lives in Milan" in done("timeline", "Rome")
    assert "Rome" not in done("about", "Anna", "--as-of", "2023-12-31")
    [id_] = [line["episode"] for line in lines("correct", "Anna", "lives in", "Milan")]
    done("forget", id_, "--yes")
    refused = run("correct", "Anna", "lives in", "Oslo")
    assert (refused.exit_code, "no episode" in refused.stderr) == (2, True)


# -- merging --------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("anna")
def test_two_names_are_merged_and_parted_again() -> None:
    done("remember", "--text", "Anna Rossi works for Acme.")
    assert [line["suggestions"] for line in lines("merge", "--suggest")] == [
        [{"name": "anna", "into": "anna rossi", "evidence": '"anna" begins one name only', "user": ""}]
    ]
    [merged] = lines("merge", "Anna", "Anna Rossi", "--reason", "She says so.")
    assert merged["text"] == '"Anna" means "Anna Rossi". She says so.'
    assert "works for Acme" in done("about", "Anna")
    assert done("merge", "--suggest").split() == ["name", "into", "evidence"]
    done("forget", merged["episode"], "--yes")
    assert "Acme" not in done("about", "Anna")


@pytest.mark.usefixtures("anna")
@pytest.mark.parametrize("arguments", [(), ("Anna",), ("Anna", "Anna Rossi", "--suggest"), ("Anna", "anna")])
def test_a_merge_needs_two_names(arguments: tuple[str, ...]) -> None:
    refused = run("merge", *arguments)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("error: ")


# -- forgetting -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("anna")
def test_forget_asks_first() -> None:
    refused = run("forget", "--entity", "Anna")
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    assert "Anna lives in Rome." in refused.stderr
    code, shown = on_a_terminal("forget", "--entity", "Anna", typed=b"n\n")
    assert (code, "Delete 2 texts" in shown, "nothing was deleted" in shown) == (1, True, True)
    id_ = lines("recall", "Anna", "--kind", "text", "--as-of", "2023-12-31")[0]["episodes"][0]
    code, shown = on_a_terminal("forget", id_[:6], typed=b"y\n")
    assert (code, "deleted 1 text" in shown) == (0, True)
    forgotten = lines("forget", "--entity", "anna", "--yes")[0]["forgotten"]
    assert len(forgotten) == 1
    assert lines("stats")[0]["episodes"] == 0


@pytest.mark.usefixtures("anna")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give ids of texts"),
        (["abcd", "--entity", "Anna"], "give ids of texts"),
        (["abc"], "too short"),
        (["zzzz"], "no text has an id"),
        (["--entity", "Zoe"], "no text mentions 'Zoe'"),
    ],
)
def test_forget_refuses(arguments: list[str], message: str) -> None:
    refused = run("forget", *arguments, "--yes")
    assert (refused.exit_code, message in refused.stderr) == (2, True)
    assert lines("stats")[0]["episodes"] == 2


# -- mistakes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        *(["recall", "x"], ["ask", "x"], ["about", "x"], ["timeline", "x"], ["stats"], ["retry"]),
        *(["export", "-"], ["forget", "abcd", "--yes"]),
    ],
    ids=lambda arguments: arguments[0],
)
def test_without_a_file_nothing_is_made(arguments: list[str]) -> None:
    missing = run(*arguments)
    assert missing.exit_code == 2
    assert f"the memory file {FILE} does not exist; create it with: worldthread remember FILE..." in missing.stderr
    assert not list(Path().glob("*worldthread*"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.txt"], "nowhere.txt: no such file or folder; a text to store is given with --text"),
        (["-t", " "], "--text must not be empty"),
        (["-t", "x", "--at", "soon"], "a time must be"),
        (["empty.txt"], "nothing to remember"),
        (["-"], "nothing to remember"),
        (["binary.txt"], "binary"),
        pytest.param(["-t", "x", "--model", "gpt-4o-mini"], "needs a key", marks=pytest.mark.model),
    ],
)
def test_a_mistake_makes_no_file(arguments: list[str], message: str) -> None:
    Path("empty.txt").touch()
    Path("binary.txt").write_bytes(bytes(range(256)))
    mistaken = run("remember", *arguments)
    assert (mistaken.exit_code, message in mistaken.stderr) == (2, True), mistaken.output
    assert not Path(FILE).exists()


def test_remember_on_a_terminal_wants_something() -> None:
    code, shown = on_a_terminal("remember")
    assert (code, "give files or folders" in shown) == (2, True)


@pytest.mark.usefixtures("anna")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["recall", " "], "must not be empty"),
        (["recall", "x", "--kind", "memory"], "fact, sentence, text"),
        (["recall", "x", "--method", "magic"], "thread, water_circles"),
        (["recall", "x", "--as-of", "soon"], "a time must be"),
        (["recall", "x", "-k", "3", "--adaptive"], "either -k or --adaptive"),
        (["recall", "x", "--reranker", "sorter"], "module:name"),
        (["recall", "x", "--reranker", "sorter:Sorter"], "--allow-code sorter"),
        (["recall", "x", "--reranker", "sorter:Sorter", "--allow-code", "sorter"], "No module named 'sorter'"),
        (["recall", "x", "--reranker", "json:JSONDecoder", "--allow-code", "json"], "score"),
        (["recall", "x", "--reranker", "json:__name__", "--allow-code", "json"], "not a class or a function"),
        (["about", " "], "must not be empty"),
        (["import", "nowhere.jsonl"], "nowhere.jsonl: no such file"),
        (["export", FILE, "--force"], "belongs to the memory itself"),
        (["stats", "-m", "."], "is a folder"),
    ],
)
def test_a_mistake_gets_a_message(arguments: list[str], message: str) -> None:
    mistaken = run(*arguments)
    assert (mistaken.exit_code, mistaken.stdout) == (2, "")
    assert mistaken.stderr.startswith("error: ")
    assert message in mistaken.stderr


@pytest.mark.usefixtures("anna")
def test_another_writer_is_waited_for() -> None:
    with Memory(FILE):
        locked = run("remember", "-t", "x", "--wait", "0.1")
    assert (locked.exit_code, "--wait 0.1" in locked.stderr) == (2, True)


# -- what was stored is only shown ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["recall", "key", "--scores"], "[red]key[/red] is in the \\u202ekool"),
        (["about", "[red]key[/red]"], r"src\x1b[31m x"),
        (["stats", "--failures"], r"Nobody read\x1b[2J this"),
        *(
            pytest.param(arguments, shown, marks=pytest.mark.slow)
            for arguments, shown in (
                (["recall", "key"], r"\x1b[2Jtext"),
                (["ask", "key"], r"src\x1b[31m x"),  # of what comes nearest
                (["timeline", "key"], r"The \x1b]0;t\x07key is [blink]here now."),
                (["stats"], r"{bad \x1b[31m [red]json"),
            )
        ),
    ],
)
def test_stored_text_cannot_steer_a_terminal(arguments: list[str], shown: str) -> None:
    nothing_found = int(arguments[0] == "ask")
    answered = run(*arguments)
    assert answered.exit_code == nothing_found
    plain = answered.stdout
    assert shown in plain
    assert not re.search("[\x1b\x07\u202e]", plain)
    code, seen = on_a_terminal(*arguments)
    assert code == nothing_found
    bare = re.sub(r"\x1b\[[\d;]*m", "", seen)
    assert not re.search("[\x1b\x07\u202e]", bare)
    assert "\x1b[31m" not in seen  # the colour that was stored, which is none of ours here
    words = "".join(bare.split())  # a narrow column may wrap
    assert "".join(shown.split())[:12] in words


@pytest.mark.usefixtures("hostile")
def test_json_holds_stored_text_as_it_is_in_safe_characters() -> None:
    out = done("recall", "key", "--kind", "text", "--json", "-k", "1")
    assert out.isascii()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", out)
    assert json.loads(out)["text"] == HOSTILE.text


def test_harmless() -> None:
    assert harmless("a\r\nb\tc\rd\x9b1m\u2066\U000e0041") == "a\nb\tc\\rd\\x9b1m\\u2066\\U000e0041"
    family = "\U0001f468\u200d\U0001f469 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 e\u0301 \u65e5\u672c"
    assert harmless(family) == family
    assert one_line(" a\n b\u2028c ") == "a b\\u2028c"
    assert one_line("word\n" * 50, 20) == "word word word w ..."


# -- beside the rest ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error() -> None:
    with Memory(FILE) as memory:
        memory.record.add_many(Episode(f"Anna went home by bus {turn}. " * 20, turn) for turn in range(2000))
    for arguments in (["recall", "Anna", "-k", "2000", "--json"], ["export", "-"], ["stats", "--failures"]):
        child = subprocess.Popen(
            [sys.executable, "-m", "worldthread", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        assert child.stderr.read() == b"", arguments
        child.stderr.close()
        assert child.wait(timeout=600) == 1


def test_output_of_another_encoding() -> None:
    done("remember", "-t", "Zoë lives in 東京.")
    shown = process("recall", "Zoë", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert rb"Zo\xeb lives in \u6771\u4eac" in shown.stdout


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, worldthread.cli.main\n"
        "heavy = {'numpy', 'onnxruntime', 'openai', 'mcp', 'orjson', 'textworld', 'sqlite3', 'asyncio'}\n"
        "sys.exit(', '.join(heavy & sys.modules.keys()) or None)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert loaded.returncode == 0, loaded.stderr


@pytest.mark.parametrize(
    "command",
    ["remember", "recall", "ask", "about", "timeline", "forget", "stats", "retry", "reembed", "export", "import"],
)
def test_help_teaches_by_examples(command: str) -> None:
    shown = done(command, "--help")
    assert len(re.findall(rf"worldthread {command} |worldthread {command}\s*$", shown, re.M)) >= 2
    assert "--memory" in shown
    assert "--json" in shown


@pytest.mark.usefixtures("anna")
def test_another_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default one here, since it needs no extra; afterwards no command has to name it."""
    shown = done("reembed", "--embedder", "minilm")
    assert re.fullmatch(r"embedded (\d+) texts with all-minilm-l6-v2-int8/1; \1 vectors in all\n", shown)
    (again,) = lines("reembed", "--embedder", "minilm")
    assert (again["embedded"], again["embedder"], again["embedding"]) == (0, "all-minilm-l6-v2-int8/1", None)
    monkeypatch.delenv("WORLDTHREAD_EMBEDDER")
    assert "Paris" in done("recall", "Where does Anna live?")
    assert "Paris" in done("recall", "Where does Anna live?", "--embedder", "fake")
    (unknown,) = [run("recall", "Anna", "--embedder", "bert")]
    assert unknown.exit_code == 2
    assert "no embedder is called 'bert'" in unknown.stderr
    assert run("reembed", "--memory", "nothing.worldthread").exit_code == 2


def test_with_the_default_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLDTHREAD_EMBEDDER")
    done("remember", "-t", "Anna has a small dog.", "-t", "The kettle stands on the stove.", "-t", "Bob lives in Oslo.")
    best = lines("recall", "Who keeps a pet?", "--kind", "text", "-k", "1")
    assert best[0]["text"] == "Anna has a small dog."


def test_a_backup_is_written_beside_a_writer_and_restored(tmp_path: Path) -> None:
    done("remember", "-", text="Anna lives in Rome.")
    with Memory(FILE, embedder="fake", model="none") as memory:
        assert done("backup", FILE, "copy") == "wrote 1 text to copy\n"
        memory.remember("Anna lives in Oslo.")
        refused = run("restore", "copy", FILE, "--force", "--wait", "0")
        assert refused.exit_code == 2
        assert "open for writing" in refused.output
    assert "copy exists" in run("backup", FILE, "copy").output
    assert "--force" in run("restore", "copy", FILE).output
    fields = json.loads(done("restore", "copy", FILE, "--force", "--json"))
    assert fields["namespaces"] == fields["episodes"] == 1
    assert "Rome" in done("recall", "Where does Anna live?")
    assert "Oslo" not in done("recall", "Where does Anna live?")
    assert done("restore", "copy", "third") == "third holds 1 text\n"
    assert "no memory here" in run("backup", "absent", "copy2").output


def test_missing_folders_of_backups_restored_memories_and_exports_are_made(tmp_path: Path) -> None:
    done("remember", "-t", "Anna lives in Rome.")
    done("backup", FILE, "backups/of may/monday.worldthread")
    done("restore", "backups/of may/monday.worldthread", "again/restored.worldthread")
    done("export", "exports/all.jsonl", "--memory", "again/restored.worldthread")
    done("export", "exports/csv/all.csv", "--format", "csv")
    assert (tmp_path / "exports" / "csv" / "all.csv").stat().st_size
    assert (tmp_path / "backups" / "of may").stat().st_mode & 0o077 == 0
    (tmp_path / "file").touch()
    assert "its folder cannot be made" in run("backup", FILE, "file/copy.worldthread").output


def test_what_is_exported_to_a_terminal_cannot_steer_it(tmp_path: Path) -> None:
    path = tmp_path / "memory.worldthread"
    with Memory(path, model="none", embedder="fake") as memory:
        memory.remember("Anna lives in Rome \x9b2J\x7f\u202e.", at="2024-01-01", source="s\x9b31m")
    for format_ in ("jsonl", "csv"):
        command = [sys.executable, "-m", "worldthread", "export", "-", "--format", format_, "--all"]
        command = command if format_ == "csv" else command[:-1]
        process, terminal = pty.fork()
        if process == 0:  # pragma: no cover
            os.execv(command[0], [*command, "--memory", str(path)])
        shown = b""
        with suppress(OSError):  # the other side is closed
            while part := os.read(terminal, 65536):
                shown += part
        os.waitpid(process, 0)
        os.close(terminal)
        assert "Rome" in shown.decode()
        assert re.search("[\x7f-\x9f\u202e]", shown.decode()) is None
