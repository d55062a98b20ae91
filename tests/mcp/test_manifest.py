"""The manifest for the registry of the protocol agrees with the package and its command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer.main

import worldthread
from worldthread.cli.main import app

ROOT = Path(__file__).parents[2]
MANIFEST = json.loads((ROOT / "server.json").read_text("utf-8"))


def test_the_manifest_names_this_release() -> None:
    [package] = MANIFEST["packages"]
    assert MANIFEST["version"] == package["version"] == worldthread.__version__
    assert package["identifier"] == "worldthread"
    assert len(MANIFEST["description"]) <= 100
    # the registry looks for this line in the description of the package, to see who may publish it
    assert f"<!-- mcp-name: {MANIFEST['name']} -->" in (ROOT / "README.md").read_text("utf-8")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", MANIFEST["name"])


def test_its_arguments_are_those_of_the_command() -> None:
    [package] = MANIFEST["packages"]
    command, *options = package["packageArguments"]
    group = typer.main.get_command(app)
    known = {name for option in group.commands[command["value"]].params for name in option.opts}
    assert {option["name"] for option in options} <= known


@pytest.mark.parametrize("variable", [one["name"] for one in MANIFEST["packages"][0]["environmentVariables"]])
def test_its_variables_are_documented(variable: str) -> None:
    assert f"| `{variable}` |" in (ROOT / "docs/reference.md").read_text("utf-8")
