"""Ctrl-C: what a command says is kept is there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from worldthread import Memory
from worldthread.errors import WorldthreadError

_TEXTS = 4000
_PATIENCE = 600.0


def _number_of_texts(path: Path) -> int:
    if not path.exists():
        return 0
    try:
        with Memory(path, readonly=True, model="none", embedder="fake") as memory:
            return len(memory.record.graph)
    except WorldthreadError:  # it is being made
        return 0


def test_an_interrupted_remember_says_how_many_texts_are_kept_and_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(_TEXTS):
        (folder / f"{number}.txt").write_text(f"Nota {number} senza fatti.")
    path = tmp_path / "memory.worldthread"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WORLDTHREAD_")}
    environment["WORLDTHREAD_EMBEDDER"] = "fake"
    command = [sys.executable, "-m", "worldthread", "remember", str(folder), "--model", "none", "--memory", str(path)]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + _PATIENCE
    while not _number_of_texts(path):
        assert process.poll() is None
        assert time.monotonic() < end
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=_PATIENCE)
    kept = _number_of_texts(path)
    assert 0 < kept < _TEXTS
    found = re.search(r"stopped: ([\d,]+) new texts? kept in (\S+); the same command stores the rest", told)
    assert found is not None, told
    assert (int(found[1].replace(",", "")), found[2]) == (kept, str(path))
    assert "Traceback" not in told
    assert process.returncode == 130
