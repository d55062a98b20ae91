"""Filters, labels, ids, pages and namespaces on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer.testing

from worldthread import Filter, InputError
from worldthread.cli.main import app
from worldthread.cli.options import filter_of, metadata_of, plain_value


def run(*args: object, expect: int = 0) -> str:
    result = typer.testing.CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == expect, result.output
    return result.stdout


def lines(*args: object) -> list[Any]:
    return [json.loads(line) for line in run(*args, "--json").splitlines()]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("WORLDTHREAD_EMBEDDER", "fake")
    monkeypatch.setenv("WORLDTHREAD_MODEL", "none")
    monkeypatch.setenv("WORLDTHREAD_MEMORY", str(tmp_path / "m"))
    return tmp_path


def test_options_become_a_filter() -> None:
    assert filter_of(None) is None
    given = ["user=anna", "user=bob", "since=2024-01-01", "metadata.stars=5", "source=a=b"]
    assert filter_of(given) == Filter(
        user=["anna", "bob"], since="2024-01-01", metadata={"stars": ["5", 5]}, source="a=b"
    )
    assert metadata_of(["a=1", "b=1.5", "c=true", "d=007", "e=x=y", "f="]) == {
        "a": 1, "b": 1.5, "c": True, "d": "007", "e": "x=y", "f": "",
    }  # fmt: skip
    assert [plain_value(text) for text in ("nan", "inf", "-5", "1e3")] == ["nan", "inf", -5, "1e3"]
    for wrong in ("user", "=x", "colour=red", "metadata.=x"):
        with pytest.raises(InputError):
            filter_of([wrong]) if wrong != "metadata.=x" else filter_of([wrong, "since=1", "since=2"])
    with pytest.raises(InputError, match="twice"):
        metadata_of(["a=1", "a=2"])


def test_commands_look_at_a_part(environment: Path) -> None:
    run("remember", "-t", "I live in Rome.", "--at", 1, "--user", "anna", "--session", "s1", "--metadata", "stars=5")
    run("remember", "-t", "I live in Oslo.", "--at", 2, "--user", "bob")
    (rome,) = lines("list", "--where", "user=anna", "--where", "kind=fact")
    assert [len(lines("list", "--episodes", "--where", f)) for f in ("metadata.stars=5", "session=s1", "since=2")] == [
        1, 1, 1,
    ]  # fmt: skip
    assert "Oslo" not in run("recall", "Where do I live?", "--where", "user=anna", "--all")
    assert "Rome" in run("recall", "Where do I live?", "--where", "user=anna", "--all")
    assert "Oslo" in run("ask", "Where do I live?", "--where", "user=bob")
    assert lines("timeline", "bob", "--where", "user=anna") == []
    assert lines("about", "bob", "--where", "user=bob")
    assert run("export", "-", "--where", "user=bob").count("\n") == 2
    run("list", "--where", "user=nobody", expect=1)
    assert "true is now: anna lives in paris" in run("update", rome["id"], "--object", "Paris", "--at", 3).lower()
    assert "never true" in run("correct", "bob", "lives in", "Oslo")
    run("update", "bob", "lives in", expect=2)
    run("forget", "--statement", rome["id"], "--yes")
    run("forget", "--where", "user=bob", "--yes")
    run("forget", "--where", "user=bob", "--yes", expect=2)
    assert all("Rome" not in line["text"] or "anna" in line["text"] for line in lines("list", "--episodes"))


def test_pages_and_namespaces(environment: Path) -> None:
    for number in range(3):
        run("remember", "-t", f"Note {number} is here.", "--at", number)
    run("remember", "-t", "Another note.", "--at", 1, "--namespace", "other")
    result = typer.testing.CliRunner().invoke(app, ["list", "--episodes", "--limit", "2"])
    cursor = result.stderr.split("--cursor ")[1].strip()
    (last,) = lines("list", "--episodes", "--limit", 2, "--cursor", cursor)
    assert last["text"] == "Note 2 is here."
    assert [(n["namespace"], n["episodes"]) for n in lines("namespaces")] == [("default", 3), ("other", 1)]
    run("namespaces", "--delete", "other", expect=2)
    run("namespaces", "--delete", "other", "--yes")
    assert "other" not in run("namespaces")
    run("namespaces", "--delete", "other", "--yes", expect=2)
