"""docs/papers.toml leaves nothing of the papers out, and its commands run: each at a tiny size, with a random model."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from typer.testing import CliRunner

from worldthread.cli.main import app
from worldthread_lab.play.fake_player import FakePlayer

ROOT: Final = Path(__file__).parents[1]
ROWS: Final[dict[str, list[dict[str, str]]]] = {}
"""The rows of each paper, by the first word of its name."""
SETTINGS: Final[dict[str, dict[str, Any]]] = {}
"""What each paper sets."""
for _paper in tomllib.loads((ROOT / "docs" / "papers.toml").read_text("utf-8"))["papers"]:
    ROWS[_paper["name"].split()[0]] = _paper["rows"]
    SETTINGS[_paper["name"].split()[0]] = _paper.get("settings", {})
WORDS: Final = ("faithful", "partly", "ours", "cited", "shown", "missing")
PAPERS: Final = {
    "AriGraph": ({"Figure": range(1, 14), "Table": range(1, 3), "Algorithm": range(1, 4)}, "ABCDEF"),
    "PersonalAI": ({"Figure": range(1, 4), "Table": (*range(1, 7), 13, *range(15, 21))}, "ABCDEFGH"),
    "GLoW": ({"Figure": range(1, 3), "Table": range(1, 9), "Algorithm": range(1, 5)}, "ABCDEFGHI"),
}
"""The numbered things and the appendices of each paper; Tables 7 to 12 and 14 of PersonalAI are prompts."""


def numbers(text: str, what: str, letters: bool = False) -> Iterator[str]:
    """The numbers (or letters) that a cell names, such as "Tables 2 to 6, 19, 20"."""
    one = "[A-Z]" if letters else r"\d+"
    for match in re.finditer(rf"{what[:-1] if what.endswith('x') else what}\w* ((?:{one}(?: to |, | and )?)+)", text):
        for first, last in re.findall(rf"({one})(?: to ({one}))?", match[1]):
            if not last:
                yield first
            elif letters:
                yield from map(chr, range(ord(first), ord(last) + 1))
            else:
                yield from map(str, range(int(first), int(last) + 1))


@pytest.mark.parametrize("paper", PAPERS)
def test_no_table_figure_algorithm_or_appendix_is_silent(paper: str) -> None:
    numbered, appendices = PAPERS[paper]
    items = [row["item"] for row in ROWS[paper]]
    for what, expected in numbered.items():
        named = {int(number) for item in items for number in numbers(item, what)}
        assert set(expected) <= named, f"{what}: {sorted(set(expected) - named)}"
    named = {letter for item in items for letter in numbers(item, "Appendix", letters=True)}
    assert set(appendices) - {"G"} <= named | ({"G"} if paper == "PersonalAI" else set())


def test_every_row_says_how_true_it_is() -> None:
    for row in (row for rows in ROWS.values() for row in rows):
        assert row.keys() <= {"item", "what", "command", "word", "note"}
        word = row["word"]
        assert word in WORDS, row
        assert "note" in row or word in ("faithful", "shown"), f"{row}: a difference needs its reason"
        assert "command" in row or word != "partly", row
        assert "command" in row or word != "faithful" or "prompts" in row["what"], f"{row}: what is faithful can be run"
        assert word != "faithful" or "in place of" not in row.get("note", ""), f"{row}: another part is a difference"


def test_the_page_is_made_of_the_table() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "papers_page.py"))["page"]()
    assert (ROOT / "docs" / "papers.md").read_text("utf-8") == made, "run python scripts/papers_page.py"


def settings_in(command: str) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """The options of a command, what its ``--set`` and ``--option`` say, and its games."""
    words = shlex.split(command)[1:]
    options: dict[str, str] = {}
    settings: dict[str, str] = {}
    games: list[str] = []
    at = 1
    while at < len(words):
        if not words[at].startswith("-"):
            games.append(words[at])
            at += 1
            continue
        name, value = words[at].removeprefix("--"), words[at + 1]
        if name in ("set", "option"):
            key, _, said = value.partition("=")
            settings[key if name == "set" else f"agent.{key}"] = said
        else:
            options[name] = value
        at += 2
    return options, settings, games


def as_in_the_paper(paper: str, command: str) -> list[str]:
    """What a command of plays sets in another way than its paper."""
    wanted = SETTINGS[paper]
    options, settings, games = settings_in(command)
    wrong = [f"{key}={value}" for key, value in wanted["set"].items() if settings.get(key) != value]
    if options.get("model") not in wanted["model"]:
        wrong.append(f"model {options.get('model')}")
    for game in games:
        limit = next(moves for kind, moves in wanted["steps"].items() if game.startswith(kind))
        if options.get("steps") != limit:
            wrong.append(f"{game}: {limit} moves")
    if command.split()[1] == "sweep":
        wrong += [f"--{key} {value}" for key, value in wanted["sweep"].items() if options.get(key) != value]
    return wrong


@pytest.mark.parametrize("paper", [paper for paper in SETTINGS if SETTINGS[paper]])
def test_what_is_faithful_has_the_settings_of_the_paper(paper: str) -> None:
    plays = [row for row in ROWS[paper] if row.get("command", "").split()[1:2] in (["play"], ["sweep"])]
    faithful = [row for row in plays if row["word"] == "faithful"]
    assert faithful
    assert [(row["item"], wrong) for row in faithful if (wrong := as_in_the_paper(paper, row["command"]))] == []


def test_settings_of_commands_are_compared() -> None:
    command = "worldthread sweep zork1 --agent glow --option use_mar=false --steps 50 --model gpt-4o --out runs/x"
    assert as_in_the_paper("GLoW", command) == [
        "game.valid_actions=jericho", "agent.offers_all=true", "model gpt-4o", "zork1: 1000 moves", "--seeds 1-3",
    ]  # fmt: skip


COMMANDS: Final = sorted({row["command"] for rows in ROWS.values() for row in rows if "command" in row})


def tiny(command: str, folder: Path) -> list[str]:
    """The command with the smallest work that it can do, a random model, and results in a folder of its own."""
    words = shlex.split(command)[1:]
    kept: list[str] = []
    replaced = {"--model": "fake", "--judge": "fake", "--seeds": "1", "--attempts": "1", "--steps": "4", "--limit": "2"}
    replaced |= {"--questions": "1", "--out": str(folder / "out"), "--best": "1"}
    at = 0
    while at < len(words):
        word = words[at]
        kept.append(word)
        if word in replaced:
            kept.append("none" if words[at + 1] == "none" else replaced[word])
            at += 1
        at += 1
    given = set(kept)
    if kept[0] == "sweep":
        games = kept[1 : next(i for i, w in enumerate(kept) if w.startswith("-"))]
        kept = [word for word in kept if word not in games[1:]]
        kept += [part for name in ("--seeds", "--steps") if name not in given for part in (name, replaced[name])]
        kept += ["--jobs", "1", "--no-audit"]
    elif kept[0] == "play":
        kept += ["--steps", "4", "--out", str(folder / "play"), "--no-audit"]
        kept += ["--no-valid-actions"] if "reflact" in given else []  # some searches take many seconds a state
    elif kept[:2] == ["bench", "contamination"]:
        kept = [*kept[:3], *kept[kept.index("--model") :], "--limit", "1", "--steps", "20"]
        kept += ["--record", str(folder / "answers.jsonl")]
    elif kept[:2] == ["bench", "world-memories"]:
        kept = [*kept[:2], str(folder / "glow"), "--model", "fake"]
    elif kept[:2] == ["bench", "retrieval"]:
        kept += ["--no-cache"] if "--limit" in given else ["--no-cache", "--limit", "2"]
    elif kept[:2] == ["bench", "arigraph-qa"]:
        kept += ["--no-cache", "--limit", "1"]
    elif kept[:2] == ["bench", "qa"] and "--report" not in given:
        kept += ["--no-cache", "--out", str(folder / "qa"), "--limit", "2"]
    return kept


def test_commands_are_made_tiny(tmp_path: Path) -> None:
    made = tiny("worldthread sweep zork1 zork3 --agent glow --seeds 1-3 --model gpt-4.1 --out runs/x", tmp_path)
    expected = ["sweep", "zork1", "--agent", "glow", "--seeds", "1", "--model", "fake", "--out", f"{tmp_path}/out"]
    assert made == [*expected, "--steps", "4", "--jobs", "1", "--no-audit"]


HOTPOT: Final = {
    "_id": "q1",
    "question": "In which country does the river Arn rise?",
    "answer": "Norland",
    "type": "bridge",
    "level": "easy",
    "supporting_facts": [["Arn", 0], ["Mount Tarn", 0]],
    "context": [
        ["Arn", ["The Arn is a river that rises on Mount Tarn and flows past many towns to the sea."]],
        ["Mount Tarn", ["Mount Tarn is a mountain in the south of Norland with snow on it all year."]],
    ],
}


MUSIQUE: Final = {
    "id": "2hop__1_2",
    "question": "Where does the river of Port Lind rise?",
    "answer": "Tarn hills",
    "answer_aliases": ["the hills of Tarn"],
    "answerable": True,
    "question_decomposition": [],
    "paragraphs": [
        {"idx": 0, "title": "Arn", "paragraph_text": "The Arn rises in the Tarn hills.", "is_supporting": True},
        {"idx": 1, "title": "Port Lind", "paragraph_text": "Port Lind lies on the Arn.", "is_supporting": True},
    ],
}
TRIVIA: Final = {
    "QuestionId": "t1",
    "Question": "Where does the Arn rise?",
    "QuestionSource": "our own",
    "Answer": {
        "Value": "Norland",
        "Aliases": ["Norland"],
        "NormalizedAliases": ["norland"],
        "NormalizedValue": "norland",
        "Type": "WikipediaEntity",
    },
    "EntityPages": [{"DocSource": "TagMe", "Filename": "Arn.txt", "Title": "Arn"}],
    "SearchResults": [],
}


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Path:
    """A folder with every file that the commands need: small ones written here, and the shared ones."""
    folder = tmp_path_factory.mktemp("data")
    for file in (shared / "data" / "multihop").iterdir():
        (folder / file.name).symlink_to(file)
    (folder / "ariadne_logs").symlink_to(shared / "data" / "ariadne_logs")
    (folder / "diaasq").symlink_to(shared / "data" / "diaasq")
    (folder / "hotpot_dev_distractor_v1.json").write_text(json.dumps([HOTPOT, {**HOTPOT, "_id": "q2"}]), "utf-8")
    (folder / "musique_ans_v1.0_dev.jsonl").write_text(json.dumps(MUSIQUE) + "\n", "utf-8")
    (folder / "evidence" / "wikipedia").mkdir(parents=True)
    (folder / "evidence" / "wikipedia" / "Arn.txt").write_text(
        "The Arn is a river.\n\nIt rises in Norland. " * 9, "utf-8"
    )
    (folder / "qa").mkdir()
    (folder / "qa" / "wikipedia-dev.json").write_text(
        json.dumps({"Data": [TRIVIA], "Domain": "Wikipedia", "Split": "dev", "VerifiedEval": False, "Version": 1.0}),
        "utf-8",
    )
    return folder


class RandomModel(FakePlayer):
    """A model that answers at random, and can be closed as a configured one."""

    def close(self) -> None:
        pass


def run(words: list[str], **options: str) -> str:
    """What a command prints; it must succeed."""
    result = CliRunner().invoke(app, words, catch_exceptions=False, **options)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.slow
@pytest.mark.games
@pytest.mark.model
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs(
    command: str, data: Path, jericho_games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLDTHREAD_DATA", str(data))
    monkeypatch.setenv("WORLDTHREAD_GAMES", f"{jericho_games}:{jericho_games.parent / 'textworld'}")
    monkeypatch.chdir(data)
    monkeypatch.setattr("worldthread.models.chat_model", lambda name, **_: RandomModel() if name == "fake" else None)
    words = tiny(command, tmp_path)
    if words[0] == "report":
        run(tiny("worldthread sweep treasure-hunt --agent react --model fake --out x", tmp_path))
        words[1] = str(tmp_path / "out")
    elif words[0] == "replay":
        run(tiny("worldthread play treasure-hunt --agent react --model fake", tmp_path))
        words[1] = str(tmp_path / "play")
    elif "--report" in words:
        sweep = "worldthread bench qa --dataset hotpotqa_personalai --method beam --sweep personalai"
        run(tiny(sweep.replace("--method beam ", "") + " --triples none --model none --judge none", tmp_path))
        words[words.index("--out") + 1] = str(tmp_path / "qa")
    elif words[1:2] == ["world-memories"]:
        options = "--steps 12 --set agent.attempt_moves=3 --set agent.explorations=1 --no-audit"
        out = ["--out", str(tmp_path / "glow")]
        run(shlex.split(f"play treasure-hunt --agent glow --model fake {options}") + out)
    elif words[0] == "mcp":
        words.append("--help")  # a server of this kind is started in tests/mcp
    elif "human" in words:
        run(words, input="look\nquit\n")
        return
    assert run(words)
