"""The loggers are silent until they are configured, and then say how long what took, never about what."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

from worldthread import InputError, Memory


def test_timings_name_the_operation_and_nothing_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "worldthread")
    with Memory(tmp_path / "secret.worldthread", model="none", embedder="fake") as memory:
        memory.remember("Anna lives in Rome.")
        memory.recall("Where does Anna live?")
        memory.ask("Where does Anna live?")
        with pytest.raises(InputError):
            memory.recall("Anna", min_score=7)
    found = [record for record in caplog.records if record.name == "worldthread.memory"]
    assert {record.levelno for record in found} == {logging.DEBUG}
    lines = [re.sub(r"\d+\.\d ms", "N ms", record.getMessage()) for record in found]
    assert lines[:3] == ["open took N ms", "remember took N ms", "recall took N ms"]
    assert lines[-2:] == ["ask took N ms", "recall failed after N ms: InputError"]
    assert set(lines) == {*lines[:3], *lines[-2:]}


@pytest.mark.parametrize("level", ["DEBUG", "WARNING"])
def test_timings_are_printed_only_where_asked_for(level: str) -> None:
    program = (
        f"import logging, worldthread\nlogging.basicConfig(level=logging.{level})\n"
        "with worldthread.Memory(model='none', embedder='fake') as memory: memory.remember('Anna lives in Rome.')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ("DEBUG:worldthread.memory:remember took" in done.stderr) == (level == "DEBUG")


def test_an_unconfigured_program_prints_nothing() -> None:
    program = (
        "import logging, worldthread\nworldthread.Memory\n"
        "logging.getLogger('worldthread.anything').error('nobody configured this')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
