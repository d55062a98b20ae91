"""The public names: few, complete, and cheap to import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import worldthread


def test_every_public_name_is_there_and_no_other() -> None:
    assert sorted(worldthread.__all__) == worldthread.__all__
    assert worldthread.__all__ == [
        "Ending",
        "Episode",
        "Fact",
        "Interval",
        "Memory",
        "Reading",
        "Thesis",
        "Version",
        "WorldthreadError",
        "__version__",
    ]
    assert set(worldthread._HOMES) == {*worldthread.__all__} - {"__version__"}
    for name in worldthread._HOMES:
        value = getattr(worldthread, name)
        assert value.__name__ == name
        assert value.__module__ == worldthread._HOMES[name]
        assert value.__doc__
    assert set(worldthread.__all__) <= set(dir(worldthread))
    star: dict[str, object] = {}
    exec("from worldthread import *", star)
    assert set(worldthread.__all__) <= star.keys()


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Memroy'"):
        worldthread.Memroy  # noqa: B018
    assert not hasattr(worldthread, "sqlite3")


def test_importing_loads_nothing_heavy() -> None:
    code = "import sys, worldthread; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "worldthread" in loaded
    assert not loaded & {
        "numpy",
        "sqlite3",
        "orjson",
        "onnxruntime",
        "textworld",
        "jericho",
        "typer",
        "worldthread.memory",
    }
