"""Measure the house: files, lines, complexity, and the rooms that one message and one question pass.

    python benchmarks/house.py

A room is a module of the package. Calls are traced: how many modules are entered, and how often a call goes from one
module to another. Lines are those of tracked files, blank ones and comments included.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
WINGS: Final = ("src/worldthread", "src/worldthread_lab", "tests", "benchmarks")
LIMIT: Final = 15  # complexity by McCabe from which on a function counts


def tracked(folder: str, ending: str = "") -> list[Path]:
    """Return the files of a folder that git tracks."""
    listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in listed.splitlines() if line.endswith(ending) and (ROOT / line).is_file()]


def lines_of(path: Path) -> int:
    """Return the lines of a file; 0 if it is not text."""
    try:
        return len(path.read_text("utf-8").splitlines())
    except UnicodeDecodeError:
        return 0


def complex_functions() -> list[int]:
    """Return the complexities above the limit, the highest first."""
    command = ["ruff", "check", "--isolated", "--select", "C901", "--config", f"lint.mccabe.max-complexity={LIMIT}"]
    command += ["--output-format", "concise", "--exit-zero", "src"]
    found = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=True)
    rows = (line for line in found.stdout.splitlines() if "complex-structure" in line or "C901" in line)
    return sorted((int(row.rpartition("(")[2].partition(" ")[0]) for row in rows), reverse=True)


class Rooms:
    """Counts which modules of the package are entered, and how often a call goes to another module, in all threads."""

    def __init__(self) -> None:
        self._entered: set[str] = set()
        self._changes = 0
        threading.setprofile(self._trace)  # before any thread is made
        sys.setprofile(self._trace)

    def _trace(self, frame: Any, event: str, _: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("worldthread"):
            self._entered.add(name)
            caller = frame.f_back
            self._changes += caller is not None and caller.f_globals.get("__name__", "") != name

    def report(self, what: str) -> None:
        """Print the counts since the last report."""
        print(f"{what}: {len(self._entered)} rooms, {self._changes:,} changes of room")
        self.forget()

    def forget(self) -> None:
        """Count from here on."""
        self._entered, self._changes = set(), 0


def main() -> None:
    for wing in WINGS:
        paths = tracked(wing, ".py")
        counts = {path: lines_of(path) for path in paths}
        largest = max(counts, key=counts.__getitem__)
        print(
            f"{wing}: {len(paths)} files, {sum(counts.values()):,} lines of Python; "
            f"the largest is {largest.relative_to(ROOT)} with {counts[largest]:,}"
        )
    tables = sum(lines_of(path) for path in tracked("src") if path.suffix == ".toml")
    print(f"tables beside the code: {tables:,} lines")
    print(f"modules at the top of worldthread: {len(list((ROOT / 'src/worldthread').glob('*.py')))}")
    high = complex_functions()
    print(f"functions of a complexity above {LIMIT}: {len(high)}, the highest {high[0] if high else LIMIT}")

    from worldthread import Memory
    from worldthread.extract.prose.extractor import ProseExtractor

    counted = Rooms()
    for name, extractor in (("with the plain rules", ProseExtractor()), ("as installed", None)):
        with (
            tempfile.TemporaryDirectory() as folder,
            Memory(f"{folder}/m", model="none", extractor=extractor) as memory,
        ):
            memory.remember("My sister Ana lives in Lyon.", at="2024-03-01")
            memory.recall("Where does Ana live?")
            counted.forget()
            memory.remember("I moved to Porto last week, and my brother Tom works at Orbis now.", at="2024-05-01")
            counted.report(f"one message, {name}")
            memory.recall("Where does Tom work?")
            counted.report(f"one recall, {name}")
    sys.setprofile(None)


if __name__ == "__main__":
    main()
