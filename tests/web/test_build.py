"""The build of the pages, on a copy of their sources. Run by ``make test-web``."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("built_pages")]

FRONTEND = Path(__file__).parents[2] / "frontend"


def build(checkout: Path) -> int:
    return subprocess.run(["node", "build.mjs"], cwd=checkout / "frontend", capture_output=True, check=False).returncode


def test_a_failed_build_leaves_the_pages_in_place(tmp_path: Path) -> None:
    shutil.copytree(FRONTEND, tmp_path / "frontend", ignore=shutil.ignore_patterns("node_modules"))
    (tmp_path / "frontend" / "node_modules").symlink_to(FRONTEND / "node_modules")
    pages = tmp_path / "src" / "worldthread" / "web" / "static"
    pages.mkdir(parents=True)
    (pages / "memory.html").write_text("the old page")

    source = tmp_path / "frontend" / "src" / "runs" / "list.ts"
    text = source.read_text("utf-8")
    source.unlink()
    assert build(tmp_path) != 0
    assert [path.name for path in pages.iterdir()] == ["memory.html"]
    assert (pages / "memory.html").read_text() == "the old page"

    source.write_text(text, encoding="utf-8")
    assert build(tmp_path) == 0
    assert (pages / "memory.html").read_text("utf-8").startswith("<!doctype html>")
    assert (pages / "runs.js").is_file()
    assert list((tmp_path / "build").iterdir()) == []
