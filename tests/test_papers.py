"""docs/papers.md leaves nothing of the papers out, and its commands run: each at a tiny size, with a random model."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

from worldthread.cli.main import app
from worldthread.models.fake_player import FakePlayer

PAGE = (Path(__file__).parents[1] / "docs" / "papers.md").read_text("utf-8")
WORDS: Final = ("faithful", "partly", "ours", "cited", "shown", "missing")
PAPERS: Final = {
    "AriGraph": ({"Figure": range(1, 14), "Table": range(1, 3), "Algorithm": range(1, 4)}, "ABCDEF"),
    "PersonalAI": ({"Figure": range(1, 4), "Table": (*range(1, 7), 13, *range(15, 21))}, "ABCDEFGH"),
    "GLoW": ({"Figure": range(1, 3), "Table": range(1, 9), "Algorithm": range(1, 5)}, "ABCDEFGHI"),
}
"""The numbered things and the appendices of each paper; Tables 7 to 12 and 14 of PersonalAI are prompts."""


def sections() -> dict[str, list[list[str]]]:
    """The rows of each section's table, by the first word of its heading."""
    found = {}
    for part in PAGE.split("\n## ")[1:]:
        rows = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in part.splitlines() if line.startswith("| ")]
        lines = [line for line in part.splitlines() if line.startswith("| ")][1:]
        rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
        found[part.split()[0]] = rows
    return found


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
    items = [row[0] for row in sections()[paper]]
    for what, expected in numbered.items():
        named = {int(number) for item in items for number in numbers(item, what)}
        assert set(expected) <= named, f"{what}: {sorted(set(expected) - named)}"
    named = {letter for item in items for letter in numbers(item, "Appendix", letters=True)}
    assert set(appendices) - {"G"} <= named | ({"G"} if paper == "PersonalAI" else set())


def test_every_row_says_how_true_it_is() -> None:
    for rows in sections().values():
        for row in rows:
            assert len(row) == 5, row
            _, _, command, word, reason = row
            assert word in WORDS, row
            assert reason or word in ("faithful", "shown"), f"{row}: a difference needs its reason"
            assert command or word != "partly", row
            assert command or word != "faithful" or "prompts" in row[1], f"{row}: what is faithful can be run"


COMMANDS: Final = sorted({command.strip("`") for rows in sections().values() for _, _, command, *_ in rows if command})


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
        run(tiny(sweep.replace("--method beam ", "") + " --triples given --model none --judge none", tmp_path))
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
