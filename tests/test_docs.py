"""The documentation tells the truth: its Python runs, its links lead somewhere, its commands exist."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "skills" / "worldthread" / "SKILL.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(
        block, id=f"{page.name}-{number}", marks=[pytest.mark.games] if re.search("treasure-hunt|zork", block) else []
    )
    for page in PAGES
    if page.name != "adapters.md"  # tests/adapters/test_programs.py runs it, with the packages that it needs
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_python_in_the_documentation_runs(block: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if "to_networkx" in block:
        pytest.importorskip("networkx")
    preamble = ""
    environment = dict(os.environ)
    if "zork" in block:
        environment["WORLDTHREAD_GAMES"] = str(request.getfixturevalue("jericho_games"))
    if "memory.export(" in block:  # this page goes on from the block before it
        preamble = (
            "from worldthread import Episode, Memory\n"
            "memory = Memory('home.worldthread')\nmemory.record.add(Episode('The lamp broke.', at=3))\n"
        )
    done = subprocess.run(
        [sys.executable, "-c", preamble + block],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    for line in block.splitlines():  # what a comment beside print() promises is what is printed
        promised = re.search(r"print\(.*\)\s+# (.+)$", line)
        if promised:
            assert promised[1] in done.stdout.splitlines()


SERVERS = (ROOT / "docs" / "run-on-servers.md").read_text("utf-8")
SHELL = re.findall(r"^```bash\n(.*?)^```\n+```\n(.*?)^```", SERVERS, re.M | re.S)


@pytest.mark.serve
@pytest.mark.parametrize(("program", "printed"), SHELL)
def test_the_service_answers_as_documented(program: str, printed: str, tmp_path: Path) -> None:
    if shutil.which("bash") is None or shutil.which("curl") is None:
        pytest.skip("needs bash and curl")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = tmp_path / "bin" / "worldthread"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m worldthread "$@"\n')
    command.chmod(0o700)
    program = program.replace("8767", port).replace("worldthread serve", f"worldthread serve --port {port}")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("WORLDTHREAD_")}
    environment |= {"PATH": f"{command.parent}:{os.environ['PATH']}", "no_proxy": "127.0.0.1"}
    done = subprocess.run(
        ["bash", "-eu", "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().splitlines() == printed.strip().splitlines()


def test_there_is_a_shell_program_to_run() -> None:
    assert len(SHELL) == 1


def test_there_is_python_to_run() -> None:
    assert len(BLOCKS) >= 4


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("folder", ["benchmarks", "training"])
def test_the_scripts_that_a_page_names_exist(folder: str) -> None:
    page = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:[a-z]+/)?([a-z_]+\.py)[`\s]", page))
    assert named - {path.name for part in ("benchmarks", "training") for path in (ROOT / part).rglob("*.py")} == set()


def test_the_table_of_prompts_is_that_of_the_package() -> None:
    """To renew the rows, print ``row`` for every prompt."""
    from worldthread.models.prompts import shipped_prompts

    page = (ROOT / "docs" / "play-games.md").read_text("utf-8")
    rows = [
        f"| `{name}` | {', '.join(f'`${variable}`' for variable in sorted(prompt.placeholders)) or 'none'} |"
        for name, prompt in shipped_prompts().items()
    ]
    table = page.partition("| prompt | variables |\n|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == rows
