"""What the sources refer to is kept in git: a file that lies here and nowhere else is missing in every clone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

SOURCE_FOLDERS = ("src", "frontend", "tests", "scripts", "docs", "examples", "benchmarks")
SOURCE_SUFFIXES = {
    "", ".css", ".html", ".j2", ".jinja", ".js", ".json", ".md", ".mjs", ".png", ".py", ".pyi", ".sh", ".sql", ".svg",
    ".toml", ".ts", ".tsx", ".txt", ".typed", ".yaml", ".yml",
}  # fmt: skip
MADE = {"node_modules", "__pycache__", ".cache", "src/worldthread/web/static"}
"""Folders that are ignored on purpose: names of folders anywhere, and one path."""


def git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments, "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name]


@pytest.fixture(scope="module", autouse=True)
def checkout() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")


@pytest.fixture(scope="module")
def tracked() -> set[str]:
    """The files that git knows, by path from the root."""
    return set(git("ls-files"))


def is_kept(path: Path, tracked: set[str]) -> bool:
    """Whether a path is a file that git knows, or a folder with one."""
    resolved = path.resolve()
    if not resolved.is_relative_to(ROOT.resolve()):
        return False
    name = resolved.relative_to(ROOT.resolve()).as_posix()
    return name in tracked or any(other.startswith(f"{name}/") for other in tracked)


def test_no_source_is_ignored() -> None:
    ignored = git("ls-files", "--others", "--ignored", "--exclude-standard", "--", *SOURCE_FOLDERS)
    sources = [
        name
        for name in ignored
        if Path(name).suffix in SOURCE_SUFFIXES
        and not MADE & {*Path(name).parts, *(folder.as_posix() for folder in Path(name).parents)}
    ]
    assert sources == []


def test_every_ignored_pattern_is_anchored() -> None:
    """A pattern without a slash at its beginning ignores folders of that name everywhere, also those with sources."""
    lines = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    assert [pattern for pattern in patterns if not pattern.startswith("/")] == ["__pycache__/"]
    assert len(set(patterns)) == len(patterns)


def test_entry_points_of_the_pages_are_kept(tracked: set[str]) -> None:
    block = re.search(r"entryPoints: \{(.*?)\}", (ROOT / "frontend" / "build.mjs").read_text("utf-8"), re.S)
    assert block is not None
    entries = re.findall(r'"(src/[^"]+)"', block[1])
    assert len(entries) >= 4
    assert [entry for entry in entries if f"frontend/{entry}" not in tracked] == []


def test_relative_imports_of_the_pages_are_kept(tracked: set[str]) -> None:
    shape = re.compile(r"""(?:from|import\()\s*["'](\.[^"']+)["']|^import ["'](\.[^"']+)["']""", re.M)
    missing, checked = [], 0
    for name in sorted(tracked):
        if not name.endswith(".ts") or not (ROOT / name).is_file():
            continue
        for found in shape.finditer((ROOT / name).read_text("utf-8")):
            target = (ROOT / name).parent / (found[1] or found[2])
            checked += 1
            candidates = [target, target.with_name(f"{target.name}.ts"), target / "index.ts"]
            if not any(is_kept(one, tracked) for one in candidates):
                missing.append(f"{name}: {found[1] or found[2]}")
    assert missing == []
    assert checked > 20


def test_local_links_of_the_documentation_are_kept(tracked: set[str]) -> None:
    missing, checked = [], 0
    for name in sorted(tracked):
        path = ROOT / name
        if path.suffix not in {".md", ".html"} or not path.is_file() or "templates" in path.parts:
            continue
        text = path.read_text("utf-8")
        if path.suffix == ".md":
            text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)  # examples may name files of the reader
            targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"""(?:src|href)=["']([^"']+)["']""", text)
        else:
            targets = re.findall(r"""(?:src|href)=["']([^"']+)["']""", text)
        for target in targets:
            local = re.sub(r"[#?].*$", "", target)
            # a link that begins with a slash is an address of the server
            if not local or re.match(r"[a-z][a-z0-9+.-]*:|/", local):
                continue
            checked += 1
            if not is_kept(path.parent / local, tracked):
                missing.append(f"{name}: {target}")
    assert missing == []
    assert checked > 10


def test_files_that_the_build_names_are_kept(tracked: set[str]) -> None:
    """Paths in the Makefile, .ci/run, pyproject.toml and the scripts that lie below a folder of sources."""
    folders = "|".join((*SOURCE_FOLDERS, r"\.ci"))
    shape = re.compile(rf"(?<![\w./-])(?:{folders})/[\w./-]*[\w-]")
    builders = ["Makefile", ".ci/run", "pyproject.toml", *sorted(n for n in tracked if n.startswith("scripts/"))]
    missing, checked = [], 0
    for name in builders:
        for target in shape.findall((ROOT / name).read_text("utf-8")):
            checked += 1
            is_made = bool(MADE & {*Path(target).parts, target, *(p.as_posix() for p in Path(target).parents)})
            if not is_made and not is_kept(ROOT / target, tracked):
                missing.append(f"{name}: {target}")
    assert missing == []
    assert checked > 10


def test_front_end_packages_are_pinned_by_hash_and_name_no_registry() -> None:
    about = json.loads((ROOT / "frontend" / "package.json").read_text("utf-8"))
    pins = {**about["dependencies"], **about["devDependencies"]}
    assert [name for name, version in pins.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []
    locked = json.loads((ROOT / "frontend" / "package-lock.json").read_text("utf-8"))["packages"]
    del locked[""]  # the pages themselves
    assert [name for name, package in locked.items() if not package.get("integrity", "").startswith("sha512-")] == []
    assert [name for name, package in locked.items() if "resolved" in package] == []
    assert pins == {name: locked[f"node_modules/{name}"]["version"] for name in pins}
