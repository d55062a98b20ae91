"""The adversarial suite: worldthread keeps its promises, and a system that does not is caught."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from typer.testing import CliRunner

from worldthread import InputError
from worldthread.cli.main import app
from worldthread_lab.bench.adversarial import CHECKS, SYSTEMS, System, run
from worldthread_lab.bench.adversarial.graphiti import answer
from worldthread_lab.bench.adversarial.scripted import statements_of

SLOW = {"what was acknowledged survives a kill", "threads write at one time"}


@pytest.mark.parametrize("check", [pytest.param(c, marks=[pytest.mark.slow] if c in SLOW else []) for c in CHECKS])
def test_worldthread_keeps_every_promise(check: str) -> None:
    [result] = run("worldthread", [check])
    assert result.verdict == "kept", result.found


class Careless(System):
    """Deletes nothing, keeps everybody's texts together, loses every seventh, and finds what it likes."""

    packages = ("worldthread",)
    not_claimed: ClassVar[dict[str, str]] = {"a question about the past gets what held then": "it says so"}

    def __init__(self, folder: Path) -> None:
        self._file = folder / "texts"
        self._count = 0

    def write(self, user: str, text: str, at: float) -> str:
        self._count += 1
        if self._count % 7:
            with self._file.open("a") as file:
                file.write(text + "\n")
        return str(self._count)

    def delete(self, user: str, id: str) -> None:
        """Nothing is deleted."""

    def texts(self, user: str) -> list[str]:
        return self._file.read_text().splitlines()

    def found(self, user: str, question: str) -> list[str]:
        return self.texts(user)[:9]

    def close(self) -> None:
        """There is nothing to close."""


def test_a_careless_system_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldthread_lab.bench.adversarial.checks.SYSTEMS", {"careless": Careless})
    found = {result.check: result.verdict for result in run("careless", [c for c in CHECKS if c not in SLOW])}
    assert found == {check: "broken" for check in CHECKS if check not in SLOW} | {
        "a question about the past gets what held then": "not claimed",
        "the order of arrival does not matter": "kept",
    }


def test_what_a_system_prints_does_not_count_as_acknowledged(tmp_path: Path) -> None:
    program = """
import sys
from worldthread_lab.bench.adversarial import writer

class Loud:
    def __init__(self, folder):
        print("tables are made", flush=True)

    def write(self, user, text, at):
        print("written", flush=True)
        if at == 2.0:
            sys.exit()

writer.SYSTEMS = {"loud": Loud}
writer.main("loud", sys.argv[1], "7")
"""
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["Writer 7 wrote text 0.", "Writer 7 wrote text 1."]


def test_the_command_prints_json_and_names_the_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    def three(name: str) -> Any:
        yield from run(name, ["what is true stays"])

    monkeypatch.setattr("worldthread_lab.bench.adversarial.run", three)
    done = CliRunner().invoke(app, ["bench", "adversarial", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["results"][0]["verdict"] == "kept"
    assert set(SYSTEMS) == {"worldthread", "cognee", "graphiti", "langgraph", "mem0"}
    refused = CliRunner().invoke(app, ["bench", "adversarial", "--system", "nobody"])
    assert isinstance(refused.exception, InputError) or refused.exit_code != 0


def test_a_system_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SYSTEMS["mem0"], "packages", ("no-such-package-of-memories",))
    with pytest.raises(InputError, match="pip install no-such-package-of-memories"):
        SYSTEMS["mem0"].versions()


def test_the_scripted_model_reads_every_sentence_of_the_checks() -> None:
    sentences = {
        "Anna's sister lives in Paris.": ("Anna's sister", "lives in", "Paris"),
        "My secret is zq000000xv.": ("My secret", "is", "zq000000xv"),
        "The code of locker 3 is zq023757xv.": ("The code of locker 3", "is", "zq023757xv"),
        "Thread 1 wrote note 2.": ("Thread 1", "wrote", "note 2"),
        "Carl knows Anna.": ("Carl", "knows", "Anna"),
    }
    for text, statement in sentences.items():
        [said] = statements_of(text)
        assert (said.subject, said.relation, said.object, said.sentence) == (*statement, text)
    rome, paris = statements_of("Anna lives in Rome. Anna lives in Paris.")
    assert rome.contradicts(paris)
    assert not rome.contradicts(rome)
    tea, coffee = statements_of("Anna likes tea. Anna likes coffee.")
    assert not tea.contradicts(coffee)


def test_the_scripted_model_answers_the_prompts_of_graphiti() -> None:
    prompt = "<CURRENT MESSAGE>\nAnna lives in Rome.\n</CURRENT MESSAGE>"
    names = [one["name"] for one in answer("ExtractedEntities", prompt)["extracted_entities"]]
    assert names == ["Anna", "Rome"]
    prompt = (
        "<CURRENT_MESSAGE>\nAnna lives in Rome.\n</CURRENT_MESSAGE>\n"
        "<REFERENCE_TIME>\n1970-01-01 00:00:10+00:00  # ISO 8601\n</REFERENCE_TIME>"
    )
    [edge] = answer("ExtractedEdges", prompt)["edges"]
    assert (edge["relation_type"], edge["fact"]) == ("LIVES_IN", "Anna lives in Rome.")
    assert edge["valid_at"] == "1970-01-01T00:00:10+00:00"
    facts = [{"idx": 0, "fact": "Anna lives in Rome."}, {"idx": 1, "fact": "Anna's sister lives in Oslo."}]
    prompt = (
        f"<EXISTING FACTS>\n{facts[:1]}\n</EXISTING FACTS>\n<FACT INVALIDATION CANDIDATES>\n{facts[1:]}\n"
        "</FACT INVALIDATION CANDIDATES>\n<NEW FACT>\nAnna lives in {}.\n</NEW FACT>"
    )
    assert answer("EdgeDuplicate", prompt.replace("{}", "Paris")) == {"duplicate_facts": [], "contradicted_facts": [0]}
    assert answer("EdgeDuplicate", prompt.replace("{}", "Rome")) == {"duplicate_facts": [0], "contradicted_facts": []}
    old, new = [{"name": "Anna", "candidate_id": 4}], [{"id": 0, "name": "Anna"}, {"id": 1, "name": "Tom"}]
    prompt = f"<ENTITIES>\n{json.dumps(new)}\n</ENTITIES>\n<EXISTING ENTITIES>\n{json.dumps(old)}\n</EXISTING ENTITIES>"
    found = answer("NodeResolutions", prompt)["entity_resolutions"]
    assert [one["duplicate_candidate_id"] for one in found] == [4, -1]
