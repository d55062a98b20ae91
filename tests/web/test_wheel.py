"""The wheel in ``dist``, as a user gets it: installed into an empty environment, played with and looked at."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.wheel

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a virtual environment that holds the wheel with the extras ``games`` and ``web``."""
    wheels = list((ROOT / "dist").glob("*.whl"))
    assert len(wheels) == 1, "dist must hold one wheel: make dist"
    folder = tmp_path_factory.mktemp("wheel") / "venv"
    subprocess.run([ROOT / "scripts" / "environment", folder, f"{wheels[0]}[games,web]"], check=True)
    return folder / "bin"


def run(program: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program outside the checkout, with nothing of this environment's Python."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WORLDTHREAD_", "PYTHON"))}
    done = subprocess.run(
        [program, *arguments], cwd=folder, env=kept, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def test_a_game_is_played_and_the_pages_show_it(
    environment: Path, open_page: Callable[..., Any], served: Callable[..., Any], tmp_path: Path
) -> None:
    where = run(environment / "python", "-c", "import worldthread; print(worldthread.__file__)", folder=tmp_path)
    assert Path(where.stdout.strip()).is_relative_to(environment.parent)

    played = tmp_path / "runs" / "hunt"
    run(environment / "worldthread", "play", "treasure-hunt", "--seed", "1", "--out", str(played), folder=tmp_path)
    assert '"won":true' in (played / "summary.json").read_text("utf-8").replace(" ", "")

    program = (str(environment / "worldthread"),)
    with served(played / "memory.worldthread", played.parent, program=program, PYTHONPATH="") as url:
        page = open_page(url)
        assert int(page.get_attribute("body", "data-shown-edges")) > 0
        page = open_page(f"{url}runs")
        page.click(".list a")
        page.wait_for_selector(".run[data-step='0']")
        page.wait_for_selector(".map .room")
        page = open_page(f"{url}play")
        page.wait_for_selector("#watch")
        assert page.locator("#game option").count() > 0
