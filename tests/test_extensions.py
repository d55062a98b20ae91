"""What other packages add: found by entry points, late, and with a clear error when it is broken."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from worldthread import ExtensionError, InputError
from worldthread.models import prompts
from worldthread.retrieve import METHODS, method, methods
from worldthread.support import extensions


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The entry points of an installed package, which a test writes."""
    monkeypatch.syspath_prepend(tmp_path)
    info = tmp_path / "stranger-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1\n")
    extensions._group.cache_clear()
    prompts.areas.cache_clear()
    yield info / "entry_points.txt"
    extensions._group.cache_clear()
    prompts.areas.cache_clear()


def test_the_laboratory_adds_the_methods_of_papers() -> None:
    assert methods()[: len(METHODS)] == tuple(METHODS)
    assert {"arigraph", "astar", "beam", "mixture", "pagerank", "water_circles"} <= set(methods())
    assert method("beam").__module__ == "worldthread_lab.published.beam"


def test_a_method_of_another_package_is_used_by_name(package: Path, tmp_path: Path) -> None:
    (tmp_path / "stranger_methods.py").write_text("def nothing(query, index, *, width: int = 1):\n    return width\n")
    package.write_text("[worldthread.methods]\nnothing = stranger_methods:nothing\n")
    assert "nothing" in methods()
    assert method("nothing:width=7")(None, None) == 7  # type: ignore[arg-type]


def test_a_broken_package_is_named(package: Path, tmp_path: Path) -> None:
    (tmp_path / "stranger_broken.py").write_text("raise RuntimeError('no such luck')\n")
    package.write_text(
        "[worldthread.methods]\ngone = stranger_gone:gone\nbroken = stranger_broken:any\nempty = stranger:\n"
        "[worldthread.prompts]\nlost = stranger_lost\n"
    )
    for name, why in (("gone", "No module named"), ("broken", "no such luck"), ("empty", "cannot be imported")):
        with pytest.raises(ExtensionError, match=rf"the package stranger \(.*\) adds '{name}'.*{why}"):
            method(name)
    with pytest.raises(InputError, match=r"no retrieval method is called 'other'; there are: .*broken"):
        method("other")
    with pytest.raises(ExtensionError, match=r"the package stranger .* adds 'lost'"):
        prompts.shipped_prompts()
    assert prompts.PromptSet().texts == {}, "who replaces no prompt needs no package"
    assert method("dense").__name__ == "dense", "the memory's own methods need no other package"


def test_a_name_is_added_once(package: Path) -> None:
    package.write_text("[worldthread.methods]\nthread = stranger:thread\n")
    with pytest.raises(ExtensionError, match=r"the package stranger .* adds 'thread' .* worldthread has one itself"):
        methods()
    extensions._group.cache_clear()
    package.write_text("[worldthread.methods]\nbeam = stranger:beam\n")
    with pytest.raises(ExtensionError, match="two packages add 'beam'"):
        methods()


def test_an_area_of_prompts_is_a_package(package: Path, tmp_path: Path) -> None:
    (tmp_path / "stranger_prompts" / "prompts").mkdir(parents=True)
    (tmp_path / "stranger_prompts" / "__init__.py").touch()
    (tmp_path / "stranger_prompts" / "prompts" / "greeting-2.md").write_text("# user\nGood morning, $name.\n")
    package.write_text("[worldthread.prompts]\nstrangers = stranger_prompts\n")
    assert prompts.shipped_prompts()["strangers/greeting"].version == 2
    with prompts.use_prompts(prompts.PromptSet({"strangers/greeting": "# user\nHello $name"})):
        (message,) = prompts.load_prompt("stranger_prompts", "greeting", 2).messages(name="Anna")
    assert message.content == "Hello Anna"
    extensions._group.cache_clear()
    prompts.areas.cache_clear()
    package.write_text("[worldthread.prompts]\nstrangers = json.decoder:JSONDecoder\n")
    with pytest.raises(ExtensionError, match="must name a package"):
        prompts.shipped_prompts()


def test_a_question_reads_no_metadata_of_packages() -> None:
    code = (
        "from worldthread import Memory\nfrom worldthread.support import extensions\n"
        "with Memory(embedder='fake') as memory:\n"
        "    memory.remember('Anna lives in Bern.')\n"
        "    print(len(memory.recall('Where does Anna live?').hits) > 0, extensions._group.cache_info().misses)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True 0\n"


def program(*arguments: str, more: Path) -> subprocess.CompletedProcess[str]:
    """Run ``worldthread`` where one more package is installed."""
    places = os.pathsep.join(filter(None, (str(more), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": places, "NO_COLOR": "1", "COLUMNS": "120"}
    command = [sys.executable, "-m", "worldthread", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=more)


def test_a_package_adds_commands(package: Path, tmp_path: Path) -> None:
    (tmp_path / "stranger_commands.py").write_text(
        "def add(app):\n"
        "    @app.command(rich_help_panel='Strangers')\n"
        "    def greet(name: str) -> None:\n"
        "        'Greet somebody.'\n"
        "        print('Good morning,', name)\n"
    )
    package.write_text("[worldthread.commands]\nstranger = stranger_commands:add\n")
    assert program("greet", "Anna", more=tmp_path).stdout == "Good morning, Anna\n"
    shown = program("--help", more=tmp_path).stdout
    for words in ("remember", "Text worlds", "sweep", "Benchmarks", "Strangers", "Greet somebody."):
        assert words in shown


def test_a_broken_package_leaves_the_commands_of_the_memory(package: Path, tmp_path: Path) -> None:
    package.write_text("[worldthread.commands]\nstranger = stranger_gone:add\n")
    shown = program("--help", more=tmp_path)
    assert "remember" in shown.stdout
    assert "the package stranger (stranger_gone:add)" in shown.stderr
    asked = program("greet", more=tmp_path)
    assert (asked.returncode, asked.stdout) == (2, "")
    assert asked.stderr.startswith("error: the package stranger (stranger_gone:add) adds 'stranger'")
    assert program("namespaces", more=tmp_path).stderr.count("stranger") == 0


@pytest.mark.web
def test_a_broken_package_leaves_the_pages_of_the_memory(
    package: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from worldthread.support.server_access import Access
    from worldthread.web.app import create_app
    from worldthread.web.app_state import AppState

    package.write_text("[worldthread.pages]\nstranger = stranger_gone:Pages\n")
    with AppState(tmp_path / "memory.worldthread") as app_state:
        create_app(app_state, {}, Access.for_web("127.0.0.1", 8766))
        (own,) = [one for one in app_state.memory_list() if one["key"] == "file"]
    assert own["label"] == "memory.worldthread"
    assert "the package stranger (stranger_gone:Pages) adds 'stranger'" in caplog.text
